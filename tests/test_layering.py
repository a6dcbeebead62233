"""The directions of import: derivations know nothing, numerics use definitions, verify sees both, reports all."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.shared.source import PACKAGES, ROOT, files, read

OURS = ("derivations", "numerics", "verify", "reports", "benchmarks", "tests", "giantsteps")

# What a package may import from the other packages of this suite.
ALLOWED_OURS = {
    "derivations": ("derivations",),
    "numerics": ("numerics", "derivations.expressions", "derivations.activations"),
    "verify": ("derivations", "numerics", "verify"),
    "reports": ("derivations", "numerics", "verify", "reports"),
}
# Room, then the floors that each of its floors may import, as CONTRIBUTING.md draws them: height, floor, floors.
HOUSE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
FLOORS: dict[str, dict[str, tuple[int, set[str]]]] = {}
for line in HOUSE.splitlines():
    if line.endswith("/"):
        FLOORS[line[:-1]] = room = {}
    else:
        height, floor, *others = line.split()
        room[floor] = int(height), set(others) - {"-"}
# What it may import from elsewhere, beside the standard library; None: anything declared.
ALLOWED_ELSEWHERE = {
    # mpmath is what SymPy evaluates numbers with: a special function defined here lends it its value.
    "derivations": {"sympy", "mpmath", "flint"},
    "numerics": {"numpy", "scipy", "mpmath", "flint"},
}
# One file of derivations computes with numbers: it looks for values, thousands at a time, and concludes nothing.
ALLOWED_IN_ONE = {"derivations/kernel/vacuity/values.py": {"numpy"}}


def in_the_house(module: str) -> str:
    """A module of ours without the one name that is installed. It is never imported by another."""
    assert module.partition(".")[0] not in PACKAGES, f"{module} is imported as giantsteps.{module} in this suite"
    return module.removeprefix("giantsteps.")


@cache
def imports(path: Path, types: bool = True) -> tuple[tuple[str, bool, int], ...]:
    """(module, whether at module level, line) of every import of a file; without `types` of what is loaded."""
    found: list[tuple[str, bool, int]] = []
    for node, loaded, top in read(path).imports:
        if not (types or loaded):
            continue
        if isinstance(node, ast.Import):
            found += [(in_the_house(alias.name), top, node.lineno) for alias in node.names]
        else:
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute in this suite"
            assert node.module is not None
            found.append((in_the_house(node.module), top, node.lineno))
    return tuple(found)


def allowed(module: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a module is one of these or lies inside one."""
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_run_one_way(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files(package)
        for module, _, line in imports(path)
        if module.split(".")[0] in OURS and not allowed(module, ALLOWED_OURS[package])
    ]
    assert wrong == []


def test_the_second_route_knows_no_solver() -> None:
    solvers = tuple(f"numerics.{floor}" for floor in ("saddle_point", "bulk", "bounds", "spectrum"))
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files("verify")
        for module, _, line in imports(path)
        if "second_route" in path.parts and (allowed(module, solvers) or allowed(module, ("verify.solver",)))
    ]
    assert wrong == []


@pytest.mark.parametrize("package", sorted(ALLOWED_ELSEWHERE))
def test_each_layer_uses_its_own_libraries(package: str) -> None:
    known = set(sys.stdlib_module_names) | ALLOWED_ELSEWHERE[package] | set(OURS)
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in files(package)
        for module, _, line in imports(path)
        if module.split(".")[0] not in known | ALLOWED_IN_ONE.get(path.relative_to(ROOT).as_posix(), set())
    ]
    assert wrong == []


def test_the_expression_and_activation_families_are_standard_library_only() -> None:
    family = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path
        for path in files("derivations")
        if path.parent.name in ("expressions", "activations")
    }
    wrong = [
        f"{name}:{line} imports {module}"
        for name, path in family.items()
        for module, top, line in imports(path)
        if top and module.split(".")[0] in {"sympy", "numpy", "scipy", "mpmath", "flint"}
    ]
    assert family
    assert wrong == []


def test_numerics_never_reaches_the_derivations_through_the_shared_families() -> None:
    # A solve must not be able to see a derived formula, not even through what the shared modules import.
    seen: set[str] = set()
    pending = [m for path in files("numerics") for m, _, _ in imports(path) if m.startswith("derivations")]
    while pending:
        module = pending.pop()
        path = ROOT / (module.replace(".", "/") + ".py")
        if module in seen or not path.is_file():
            continue
        seen.add(module)
        pending += [m for m, top, _ in imports(path) if top and m.startswith("derivations")]
    texts = {module: (ROOT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8") for module in seen}
    # Whatever is reachable is data about an expression: none of it states a formula of the theory.
    assert [
        module for module, text in texts.items() if "Derivation(" in text or "import sympy" in text.split("def ")[0]
    ] == []


# What serves any paper, and what states one; the glossary of the built-in paper lies beside the language.
CORE = (
    "derivations.kernel",
    "derivations.language",
    "verify.protocol",
    "verify.checks",
    "verify.ledger",
    "verify.export",
)
THEORY = ("language.symbols", *(floor for floor in FLOORS["derivations"] if floor not in ("kernel", "language")))
OF_A_PAPER = (
    *(f"derivations.{floor}" for floor in THEORY if floor != "expressions"),
    *("numerics", "verify.claims", "verify.second_route", "verify.solver", "verify.compiled"),
    *("reports.built_in", "reports.studies"),
)


def test_the_core_and_the_pages_know_no_paper() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in (
            path for room in PACKAGES for path in files(room) if allowed(name_of(path), (*CORE, "reports.page"))
        )
        for module, _, line in imports(path)
        if name_of(path) != "derivations.language.symbols" and allowed(module, OF_A_PAPER)
    ]
    assert wrong == []


def floor_of(module: str) -> tuple[str, str] | None:
    """Room and floor of a module of this suite; None for what is on no floor."""
    room, _, rest = module.partition(".")
    floor = rest.split(".")[0]
    return (room, floor) if room in FLOORS and (ROOT / room / floor).is_dir() else None


def name_of(path: Path) -> str:
    """The module that a file is."""
    return path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_floor_imports_the_floors_that_contributing_draws_beneath_it(package: str) -> None:
    # Both ways: an arrow that nothing needs any more leaves the drawing too.
    found: dict[str, set[str]] = {path.parent.name: set() for path in (ROOT / package).glob("*/__init__.py")}
    for path in files(package):
        here = floor_of(name_of(path))
        for there in (floor_of(module) for module, _, _ in imports(path, types=False)):
            if here and there and there[0] == package and there != here:
                found[here[1]].add(there[1])
    drawn = FLOORS[package]
    assert found == {floor: others for floor, (_, others) in drawn.items()}
    # The ground is 1; a floor stands above all that it imports.
    for at, others in drawn.values():
        assert at == 1 + max((drawn[other][0] for other in others), default=0)


MOST_LINES = 450


def test_no_file_is_longer_than_a_person_reads_at_once() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for room in (*PACKAGES, "tests", "benchmarks")
        for path in files(room)
    }
    assert {name for name, lines in lengths.items() if lines > MOST_LINES} == set()


def graph(sources: Mapping[str, Path]) -> dict[str, set[str]]:
    """Which of these modules import which, for types alone and inside functions too; a module loads its packages."""
    found = {}
    for name, path in sources.items():
        wanted = [name]
        for node, _, _ in read(path).imports:
            # `from a import b` is an import of the module a.b where there is one.
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            wanted += [in_the_house(start + alias.name) for alias in node.names]
        known = {".".join(parts[:k]) for parts in (one.split(".") for one in wanted) for k in range(1, len(parts) + 1)}
        found[name] = (known & set(sources)) - {name}
    return found


def circle(sources: Mapping[str, Path]) -> list[str]:
    """Modules each of which the next one imports, the first one again at the end; none where there is no circle."""
    try:
        TopologicalSorter(graph(sources)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other() -> None:
    sources = {name_of(path): path for room in (*PACKAGES, "tests", "benchmarks") for path in files(room)}
    assert circle(sources) == []


@pytest.mark.parametrize("place", ["", "if TYPE_CHECKING:\n    ", "def late():\n    "])
@pytest.mark.parametrize(
    "planted",
    [
        {"room.one": "from giantsteps.room.two import x", "room.two": "import giantsteps.room.one"},
        {"room.one": "from giantsteps.room import two", "room.two": "from giantsteps.room.one import x"},
        {"room": "from giantsteps.room import one", "room.one": ""},
    ],
)
def test_a_planted_circle_is_found(planted: dict[str, str], place: str, tmp_path: Path) -> None:
    sources = {name: tmp_path / f"{name}.py" for name in ("room", "room.one", "room.two", "room.above")}
    for name, path in sources.items():
        line = planted.get(name, "from giantsteps.room.one import x" if name == "room.above" else "")
        path.write_text(place + line if line else "", encoding="utf-8")
    assert set(circle(sources)) == set(planted)
    assert circle({name: path for name, path in sources.items() if name != "room.one"}) == []


def test_nothing_evaluates_text_and_libraries_do_not_print() -> None:
    forbidden = {"eval", "exec", "sympify", "parse_expr", "literal_eval", "compile"}
    wrong = []
    for package in PACKAGES:
        for path in files(package):
            for called, attribute, text, line in read(path).calls:
                # re.compile compiles a pattern, sp.sympify(number) converts a number: neither reads code.
                harmless = (called == "compile" and attribute) or (called == "sympify" and not text)
                prints = called == "print" and not attribute and package != "reports"
                if prints or (called in forbidden and not harmless):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} calls {called}")
    assert wrong == []


def test_no_handler_catches_everything() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in (*PACKAGES, "tests")
        for path in files(package)
        for line in read(path).catch_alls
    ]
    # The code of a user may raise anything.
    assert [place.partition(":")[0] for place in wrong] == ["numerics/gaussian/tracing.py"]


def modules_after(code: str) -> set[str]:
    """The modules loaded by a fresh interpreter after ``code``."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
    )
    return set(json.loads(done.stderr.strip().splitlines()[-1]))


RUN = "from giantsteps.reports.command_line.cli import COMMANDS, run\n"
SOLVE = (
    "solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8 --json"
)
CLAIMS = (
    "import gc\nfrom giantsteps.verify.claims.index import all_claims\nassert all_claims()\n"
    "from giantsteps.derivations.language.derivation import Derivation\n"
    "assert [o.title for o in gc.get_objects() if type(o) is Derivation] == []"
)


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            f"{RUN}assert run({SOLVE!r}.split()) == 0",
            "sympy scipy.optimize scipy.special scipy.linalg matplotlib hypothesis jinja2 flint",
        ),
        (
            f"{RUN}for command in COMMANDS:\n    assert run([command, '--help']) == 0\nassert run(['--help']) == 0",
            "numpy scipy sympy matplotlib rich jinja2 mpmath",
        ),
        # Whoever asks what is claimed waits for no derivation and no search.
        (CLAIMS, "hypothesis scipy matplotlib jinja2 rich distributed"),
        ("import giantsteps\ndir(giantsteps)", "numpy sympy scipy"),
    ],
    ids=["solve", "help", "claims", "import"],
)
def test_nothing_waits_for_what_it_does_not_need(code: str, heavy: str) -> None:
    assert modules_after(code) & set(heavy.split()) == set()


def test_the_public_face_offers_what_it_names() -> None:
    import giantsteps

    # What a user learns once, and the types that it takes and returns.
    learned = {"Model", "Network", "activation", "bounds", "certify", "certify_branch", "claims", "compare", "best"}
    learned |= {"measure", "simulate", "solve", "solve_batch", "solve_equations", "spectrum", "Expectation", "Law"}
    learned |= {"sweep_results"}
    types = {"Activation", "BatchSolution", "Bounds", "Branch", "Certificate", "Inputs", "ReadoutGroup", "ReadoutLaw"}
    types |= {"Measured", "Simulation", "Solution", "Spectrum", "ExpressionError", "ModelError", "PrecisionError"}
    types |= {"Best", "BallError", "InputsError", "LossError", "SimulationError", "SpectrumError"}
    types |= {"CompileError", "EquationsSolution", "SolveError"}
    assert set(dir(giantsteps)) == set(giantsteps.__all__) == learned | types
    for name in giantsteps.__all__:
        assert getattr(giantsteps, name) is not None
    with pytest.raises(AttributeError, match="it offers"):
        getattr(giantsteps, "unknown_name")  # noqa: B009


def test_a_type_checker_finds_each_public_name_where_it_is_imported_from() -> None:
    import giantsteps

    told = {
        alias.asname: (node.module, alias.name)
        for node, loaded, _ in read(ROOT / "giantsteps" / "__init__.py").imports
        if not loaded and isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == {name: (home, name) for name, home in giantsteps._HOMES.items()}

"""The directions of import: derivations know nothing, numerics use definitions, verify sees both, reports all."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
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
# Which floor of a room may import which; CONTRIBUTING.md draws it.
FLOORS: dict[str, dict[str, tuple[str, ...]]] = {
    "reports": {
        "activation": ("command_line", "figures"),
        "answers": ("command_line", "figures", "measurements"),
        "command_line": (),
        "commands": ("activation", "answers", "command_line", "figures", "measurements", "page", "text"),
        "figures": ("command_line",),
        "measurements": ("command_line", "figures"),
        "page": ("activation", "command_line", "figures", "measurements", "text"),
        "studies": ("command_line", "figures", "measurements"),
        "text": ("command_line",),
    },
    "verify": {
        "checks": ("protocol",),
        "claims": ("checks", "closed_forms", "compiled", "ledger", "protocol", "second_route", "solver"),
        "closed_forms": ("checks", "protocol"),
        "compiled": (),
        "digits": ("compiled",),
        "export": ("checks", "protocol"),
        "ledger": ("checks", "protocol"),
        "properties": ("digits", "ledger", "protocol", "second_route"),
        "protocol": (),
        "second_route": ("checks", "compiled", "protocol"),
        "solver": ("checks", "compiled", "protocol", "second_route"),
    },
    "numerics": {
        "balls": ("gaussian",),
        "bounds": ("bulk", "gaussian", "models", "saddle_point"),
        "bulk": ("gaussian", "models"),
        "certificates": ("balls", "bulk", "models", "saddle_point"),
        "experiments": ("bounds", "gaussian", "models", "saddle_point"),
        "gaussian": (),
        "models": ("gaussian",),
        "saddle_point": ("bulk", "gaussian", "models"),
        "spectrum": ("bulk", "gaussian", "models", "saddle_point"),
        "sweeps": ("experiments", "models", "saddle_point"),
    },
    "derivations": {
        "activations": ("expressions",),
        "bounds": (
            "bulk",
            "closed_forms",
            "equivalence",
            "free_energy",
            "gradient_step",
            "kernel",
            "language",
            "saddle_point",
        ),
        "bulk": ("free_energy", "gradient_step", "kernel", "language"),
        "closed_forms": ("activations", "equivalence", "expressions", "gradient_step", "kernel", "language"),
        "equivalence": ("free_energy", "gradient_step", "kernel", "language"),
        "expressions": (),
        "free_energy": ("gradient_step", "kernel", "language"),
        "gradient_step": ("kernel", "language"),
        "kernel": ("language",),
        "language": ("expressions",),
        "saddle_point": ("bulk", "closed_forms", "equivalence", "free_energy", "gradient_step", "kernel", "language"),
        "spectrum": ("bulk", "free_energy", "gradient_step", "kernel", "language", "saddle_point"),
    },
}
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


def floors_of(room: str) -> list[str]:
    """The sub-packages of a room."""
    return sorted(path.parent.name for path in (ROOT / room).glob("*/__init__.py"))


def floor_of(module: str) -> tuple[str, str] | None:
    """Room and floor of a module of this suite; None for what is on no floor."""
    room, _, rest = module.partition(".")
    floor = rest.split(".")[0]
    return (room, floor) if room in FLOORS and (ROOT / room / floor).is_dir() else None


def arrows(room: str) -> dict[str, set[str]]:
    """Which floors of a room import which other floors of it."""
    found: dict[str, set[str]] = {floor: set() for floor in floors_of(room)}
    for path in files(room):
        here = floor_of(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
        for module, _, _ in imports(path, types=False):
            there = floor_of(module)
            if here and there and there[0] == room and there[1] != here[1]:
                found[here[1]].add(there[1])
    return found


def height(floor: str, below: dict[str, tuple[str, ...]]) -> int:
    """The ground is 1; a floor stands above all that it imports."""
    return 1 + max((height(other, below) for other in below[floor]), default=0)


def drawn() -> str:
    """The house as CONTRIBUTING.md draws it: rooms from the roof to the ground, in each the floors by height."""
    width = max(len(floor) for below in FLOORS.values() for floor in below)
    lines = []
    for room, below in FLOORS.items():
        lines.append(f"{room}/")
        for floor in sorted(below, key=lambda floor: (-height(floor, below), floor)):
            lines.append(f"  {height(floor, below)}  {floor:<{width}}  {' '.join(below[floor]) or '-'}")
    return "\n".join(lines)


@pytest.mark.parametrize("room", PACKAGES)
def test_each_floor_imports_the_floors_that_it_may(room: str) -> None:
    # Both ways: an arrow that nothing needs any more leaves the table too.
    assert {floor: tuple(sorted(others)) for floor, others in arrows(room).items()} == FLOORS[room]


def test_the_floors_stand_on_each_other() -> None:
    for room, below in FLOORS.items():
        left = dict(below)
        while left:
            free = [floor for floor, others in left.items() if not set(others) & set(left)]
            assert free, f"floors of {room} that import each other: {', '.join(left)}"
            left = {floor: others for floor, others in left.items() if floor not in free}


def test_contributing_draws_the_floors() -> None:
    assert drawn() in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


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
    sources = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
        for room in (*PACKAGES, "tests", "benchmarks")
        for path in files(room)
    }
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


def calls(package: str) -> Iterator[tuple[str, str, bool, bool]]:
    """(place, name called, whether of an attribute, whether text is among the arguments) of every call."""
    for path in files(package):
        for called, attribute, text, line in read(path).calls:
            yield f"{path.relative_to(ROOT)}:{line}", called, attribute, text


def test_nothing_evaluates_text() -> None:
    forbidden = {"eval", "exec", "sympify", "parse_expr", "literal_eval", "compile"}
    wrong = []
    for package in PACKAGES:
        for place, called, attribute, text in calls(package):
            # re.compile compiles a pattern, sp.sympify(number) converts a number: neither reads code.
            harmless = (called == "compile" and attribute) or (called == "sympify" and not text)
            if called in forbidden and not harmless:
                wrong.append(f"{place} calls {called}")
    assert wrong == []


def test_no_handler_catches_everything() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in (*PACKAGES, "tests")
        for path in files(package)
        for line in read(path).catch_alls
    ]
    assert wrong == []


def test_libraries_do_not_print() -> None:
    wrong = [
        place
        for package in ("derivations", "numerics", "verify")
        for place, called, attribute, _ in calls(package)
        if called == "print" and not attribute
    ]
    assert wrong == []


def modules_after(code: str) -> set[str]:
    """The modules loaded by a fresh interpreter after ``code``."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600, check=True
    )
    return set(json.loads(done.stderr.strip().splitlines()[-1]))


SOLVE = (
    "from giantsteps.reports.command_line.cli import run\n"
    "assert run(['solve', '--activation', 'tanh', '--target', 'sin', '--alpha', '1.5', '--beta', '1', '--ridge', '0.1',"
    " '--spike', '1', '--bulk', '1', '--alignment', '0.8', '--json']) == 0"
)


def test_a_solve_waits_for_neither_sympy_nor_scipy_optimize() -> None:
    loaded = modules_after(SOLVE)
    assert "giantsteps.numerics.saddle_point.ridge" in loaded
    heavy = {"sympy", "scipy.optimize", "scipy.special", "scipy.linalg", "matplotlib", "hypothesis", "jinja2", "flint"}
    assert loaded & heavy == set()


def test_help_waits_for_nothing_heavy() -> None:
    loaded = modules_after(
        "from giantsteps.reports.command_line.cli import run\n"
        "assert run(['--help']) == 0\nassert run(['solve', '--help']) == 0"
    )
    assert loaded & {"numpy", "scipy", "sympy", "matplotlib", "rich", "jinja2", "mpmath"} == set()


def test_whoever_asks_what_is_claimed_waits_for_no_derivation_and_no_search() -> None:
    loaded = modules_after(
        "import gc\nfrom giantsteps.verify.claims.index import all_claims\nassert all_claims()\n"
        "from giantsteps.derivations.language.derivation import Derivation\n"
        "assert [o.title for o in gc.get_objects() if type(o) is Derivation] == []"
    )
    assert loaded & {"hypothesis", "scipy", "matplotlib", "jinja2", "rich", "distributed"} == set()


def test_the_public_face_imports_nothing_until_asked() -> None:
    loaded = modules_after("import giantsteps\ndir(giantsteps)")
    assert loaded & {"numpy", "sympy", "scipy"} == set()


def test_the_public_face_offers_what_it_names() -> None:
    import giantsteps

    # What a user learns once, and the types that it takes and returns.
    learned = {"Model", "Network", "activation", "bounds", "certify", "certify_branch", "claims", "compare"}
    learned |= {"simulate", "solve", "solve_batch", "solve_equations", "spectrum", "Expectation", "Law"}
    types = {"Activation", "BatchSolution", "Bounds", "Branch", "Certificate", "Inputs", "ReadoutGroup", "ReadoutLaw"}
    types |= {"Simulation", "Solution", "Spectrum", "ExpressionError", "ModelError", "PrecisionError"}
    types |= {"BallError", "InputsError", "LossError", "SimulationError", "SpectrumError"}
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

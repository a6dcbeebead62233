"""What of the kernel has to be trusted: the modules that make theorems, and those that a verdict asks whether one says
something. What looks for proofs is no part of either.
"""

from __future__ import annotations

import ast
import importlib
import io
import tokenize
from functools import cache
from pathlib import Path

import pytest

from giantsteps.derivations.kernel.search import averages
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import MODULES, RULES, rule

ROOT = Path(__file__).resolve().parents[3]
KERNEL = ROOT / "derivations" / "kernel"
# The language of terms: what averages are, which functions have named slopes, two functions of probabilities; and terms
# at a few points, by which rules may refuse, and conclude nothing.
LANGUAGE = ("expectation", "named_functions", "normal_probabilities", "points")
TERMS = {f"giantsteps.derivations.language.{name}" for name in LANGUAGE}
# Lines of code that are read by who wants to trust the kernel: docstrings, comments and imports apart.
TRUSTED_LINES = 1472
# And by who wants to trust, beyond that no theorem is false, that what is called proved speaks of something.
ASKED_LINES = 1096


@cache
def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def trusted() -> list[Path]:
    return sorted(KERNEL.glob("*.py"))


def asked() -> list[Path]:
    return sorted((KERNEL / "vacuity").rglob("*.py"))


def imported(tree: ast.Module) -> set[str]:
    """The modules of ours that a file imports."""
    found = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {module for module in found if module.startswith("giantsteps")}


def code_lines(path: Path) -> int:
    """Lines with code on them, but for docstrings, comments and imports."""
    text, tree = path.read_text(encoding="utf-8"), read(path)
    apart: set[int] = set()
    for node in ast.walk(tree):
        first = getattr(node, "body", [None])[0] if not isinstance(node, ast.Lambda | ast.IfExp) else None
        told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        for part in (first if told else None, node if isinstance(node, ast.Import | ast.ImportFrom) else None):
            if part is not None:
                apart |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    blank = (
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    )  # fmt: skip
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    used = {line for t in tokens if t.type not in blank for line in range(t.start[0], t.end[0] + 1)}
    return len(used - apart)


def test_the_trusted_part_is_as_long_as_it_says() -> None:
    assert sum(map(code_lines, trusted())) == TRUSTED_LINES
    assert sum(map(code_lines, asked())) == ASKED_LINES


def test_the_trusted_part_imports_itself_and_the_language_of_terms() -> None:
    own = set(map(module, trusted()))
    for path in trusted():
        assert imported(read(path)) <= own | TERMS, path.name
    for path in asked():  # and what a verdict asks rests on no search
        assert imported(read(path)) <= own | set(map(module, asked())) | TERMS, path.name


def module(path: Path) -> str:
    return ".".join(("giantsteps", *path.relative_to(ROOT).with_suffix("").parts))


def test_theorems_are_made_in_one_place() -> None:
    """No file of the house calls the class of theorems but the one that has them, where every rule passes."""
    calling = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("derivations", "numerics", "verify", "reports")
        for path in sorted((ROOT / room).rglob("*.py"))
        if "Theorem" in path.read_text(encoding="utf-8")
        for node in ast.walk(read(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Theorem"
    ]
    assert len(calling) == 1, calling
    assert calling[0].startswith("derivations/kernel/theorem.py")


def test_rules_stand_in_the_modules_that_are_listed() -> None:
    for name in MODULES:
        importlib.import_module(f"giantsteps.derivations.kernel.{name}")
    at = {conclude.__module__.rpartition(".")[2] for conclude in RULES.values()}
    assert at == set(MODULES)
    assert {f"{name}.py" for name in MODULES} <= {path.name for path in trusted()}


@pytest.mark.parametrize(
    "module", [averages.__name__, "giantsteps.derivations.kernel.tricks", "giantsteps.verify.checks"]
)
def test_what_looks_for_proofs_makes_no_rule(module: str) -> None:
    def anything(premises: object, goal: Equation) -> Equation:
        return goal

    anything.__module__ = module
    with pytest.raises(TypeError, match="makes no rule"):
        rule(anything)  # type: ignore[arg-type]
    assert "anything" not in RULES

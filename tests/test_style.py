"""Names and text: letters are symbols, a name means one thing in a file, sentences are filled, functions are short."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.shared.source import PACKAGES, ROOT, RULES, files, long_functions, read

ROOMS = (*PACKAGES, "benchmarks", "tests", "giantsteps")
# Not held to these rules yet.
ELSEWHERE = ("verify/second_route/",)
# Functions that are one list: of claims, or of the steps of a derivation.
ONE_LIST = {
    ("verify/claims/bounds/ridge.py", "_bound_claims"),
    ("verify/claims/spectrum/covariance.py", "_setup_claims"),
    ("verify/claims/spectrum/covariance.py", "_stationary_claims"),
}
# What of a function a list has to be for the function to be one list.
LIST_SHARE = 0.7


def held(room: str) -> dict[str, Path]:
    """The files of a room that the rules hold for, by name."""
    names = {path.relative_to(ROOT).as_posix(): path for path in files(room)}
    return {name: path for name, path in names.items() if not name.startswith(ELSEWHERE)}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("room", ROOMS)
def test_names_and_text_keep_the_rules(room: str, rule: str) -> None:
    assert [f"{name}:{place}" for name, path in held(room).items() for place in read(path).broken[rule]] == []


def test_functions_are_short_unless_they_are_one_list() -> None:
    found = {
        (name, function): share
        for room in ROOMS
        for name, path in held(room).items()
        for function, share in read(path).long_functions.items()
    }
    assert set(found) == ONE_LIST
    assert min(found.values()) >= LIST_SHARE


@pytest.mark.parametrize(
    ("rule", "text", "count"),
    [
        ("single_letters", "k = 3", 1),
        ("single_letters", "import sympy as sp\nk = sp.Symbol('k')", 0),
        ("single_letters", "import sympy as sp\ndef _k(x): ...\ndef E(x): ...", 1),
        ("single_letters", "for i in range(3): ...", 1),
        ("single_letters", "def outer():\n    k = 3", 0),
        ("shadowed_imports", "from a import b\ndef c(b): ...", 1),
        ("shadowed_imports", "from a import b\ndef c():\n    b = 1", 1),
        ("shadowed_imports", "from a import b\nc = [b for b in ()]", 1),
        ("shadowed_imports", "import b.c\ntry: ...\nexcept E as b: ...", 1),
        ("shadowed_imports", "from a import b\nclass C:\n    b: int\n    def b(self): ...", 0),
        ("shadowed_imports", "from a import b\nclass C:\n    def c(self, b): ...", 1),
        ("idle_marks", "@pytest.mark.slow\ndef helper(): ...\ndef test_it(): ...", 1),
        ("idle_marks", "@cache\ndef helper(): ...\n@pytest.mark.slow\ndef test_it(): ...", 0),
        ("orphans", '(\n    "some "\n    "text"\n)', 1),
        ("orphans", '(\n    "some\\n"\n    "text"\n)', 0),
        ("orphans", f'(\n    "{"word " * 22}"\n    "text"\n)', 0),
        ("orphans", '(\n    "a name",\n    "another",\n)', 0),
    ],
)
def test_each_rule_sees_what_breaks_it(rule: str, text: str, count: int) -> None:
    assert len(RULES[rule](text, ast.parse(text))) == count


def test_a_list_is_told_from_a_long_function() -> None:
    lines = "".join(f"        {k},\n" for k in range(90))
    assert long_functions(ast.parse(f"def listed():\n    return [\n{lines}    ]\n"))["listed"] > LIST_SHARE
    assert long_functions(ast.parse("def worked():\n" + "    x = [1]\n" * 90))["worked"] < LIST_SHARE

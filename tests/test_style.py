"""Names and text: letters are symbols, a name means one thing in a file, sentences are filled, functions are short."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from tests.shared.source import (
    PACKAGES,
    ROOT,
    files,
    idle_marks,
    long_functions,
    orphans,
    read,
    shadowed_imports,
    single_letters,
)  # fmt: skip

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


@dataclass
class Findings:
    """What breaks the rules in a room, rule by rule, and its long functions with the share of their longest list."""

    single_letters: list[str] = field(default_factory=list)
    shadowed_imports: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    idle_marks: list[str] = field(default_factory=list)
    long: dict[tuple[str, str], float] = field(default_factory=dict)


@cache
def findings(room: str) -> Findings:
    """All files of a room."""
    found = Findings()
    for path in files(room):
        name, file = path.relative_to(ROOT).as_posix(), read(path)
        if name.startswith(ELSEWHERE):
            continue
        found.single_letters += [f"{name}:{place}" for place in file.single_letters]
        found.shadowed_imports += [f"{name}:{place}" for place in file.shadowed_imports]
        found.orphans += [f"{name}:{place}" for place in file.orphans]
        found.idle_marks += [f"{name}:{place}" for place in file.idle_marks]
        found.long |= {(name, function): share for function, _, share in file.long_functions}
    return found


@pytest.mark.parametrize("rule", ["single_letters", "shadowed_imports", "orphans", "idle_marks"])
@pytest.mark.parametrize("room", ROOMS)
def test_names_and_text_keep_the_rules(room: str, rule: str) -> None:
    assert getattr(findings(room), rule) == []


def test_functions_are_short_unless_they_are_one_list() -> None:
    found = {place: share for room in ROOMS for place, share in findings(room).long.items()}
    assert set(found) == ONE_LIST
    assert {place for place, share in found.items() if share < LIST_SHARE} == set()


@pytest.mark.parametrize(
    ("rule", "text", "count"),
    [
        (single_letters, "k = 3", 1),
        (single_letters, "import sympy as sp\nk = sp.Symbol('k')", 0),
        (single_letters, "import sympy as sp\ndef _k(x): ...\ndef E(x): ...", 1),
        (single_letters, "for i in range(3): ...", 1),
        (single_letters, "def outer():\n    k = 3", 0),
        (shadowed_imports, "from a import b\ndef c(b): ...", 1),
        (shadowed_imports, "from a import b\ndef c():\n    b = 1", 1),
        (shadowed_imports, "from a import b\nc = [b for b in ()]", 1),
        (shadowed_imports, "import b.c\ntry: ...\nexcept E as b: ...", 1),
        (shadowed_imports, "from a import b\nclass C:\n    b: int\n    def b(self): ...", 0),
        (shadowed_imports, "from a import b\nclass C:\n    def c(self, b): ...", 1),
        (idle_marks, "@pytest.mark.slow\ndef helper(): ...\ndef test_it(): ...", 1),
        (idle_marks, "@cache\ndef helper(): ...\n@pytest.mark.slow\ndef test_it(): ...", 0),
        (orphans, '(\n    "some "\n    "text"\n)', 1),
        (orphans, '(\n    "some\\n"\n    "text"\n)', 0),
        (orphans, f'(\n    "{"word " * 22}"\n    "text"\n)', 0),
        (orphans, '(\n    "a name",\n    "another",\n)', 0),
    ],
)
def test_each_rule_sees_what_breaks_it(rule: Callable[[Any], list[str]], text: str, count: int) -> None:
    given: Any = text if rule is orphans else ast.parse(text)
    assert len(rule(given)) == count


def test_a_list_is_told_from_a_long_function() -> None:
    lines = "".join(f"        {k},\n" for k in range(90))
    ((_, count, share),) = long_functions(ast.parse(f"def listed():\n    return [\n{lines}    ]\n"))
    assert (count, share > LIST_SHARE) == (93, True)
    ((_, count, share),) = long_functions(ast.parse("def worked():\n" + "    x = [1]\n" * 90))
    assert (count, share > LIST_SHARE) == (91, False)

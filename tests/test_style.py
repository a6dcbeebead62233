"""Names and text: letters are symbols, a name means one thing in a file, sentences are filled, functions are short."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from tests.test_layering import PACKAGES, ROOT, files

ROOMS = (*PACKAGES, "benchmarks", "tests", "onestep")
# Not held to these rules yet.
ELSEWHERE = ("numerics/saddle_point/", "numerics/gaussian/", "verify/second_route/", "verify/checks/")

# The average, as the paper writes it.
OPERATORS = {"E"}
# Functions that are one list: of claims, or of the steps of a derivation.
ONE_LIST = {
    ("derivations/bulk/letters.py", "traces"),
    ("verify/claims/bounds/ridge.py", "_bound_claims"),
    ("verify/claims/spectrum/covariance.py", "_setup_claims"),
    ("verify/claims/spectrum/covariance.py", "_stationary_claims"),
}
MOST_LINES = 80
# What of a function a list has to be for the function to be one list.
LIST_SHARE = 0.7
# A line of text ends where the next word would not fit, give or take a word.
WIDTH, A_WORD = 120, 20


def stored(node: ast.AST) -> Iterator[str]:
    """The name that a statement, parameter or handler binds itself, without what stands in its body."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.ClassDef) or (isinstance(node, ast.ExceptHandler) and node.name):
        yield node.name


def imported(tree: ast.Module) -> set[str]:
    """The names that a file imports at its top."""
    statements = [*tree.body, *(inner for node in tree.body if isinstance(node, ast.If) for inner in node.body)]
    aliases = [a for node in statements if isinstance(node, ast.Import | ast.ImportFrom) for a in node.names]
    return {alias.asname or alias.name.partition(".")[0] for alias in aliases}


def single_letters(tree: ast.Module) -> list[str]:
    """Names of one letter at the top of a file that are no symbols: those are made with SymPy, or are `Variable()`."""
    formulas = bool(imported(tree) & {"sp", "Glossary"})
    found: list[str] = []
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets, value=value):
                made = formulas or ast.unparse(value) == "Variable()"
                letters = (
                    [] if made else [name for target in targets for one in ast.walk(target) for name in stored(one)]
                )
            case ast.AnnAssign(target=target) | ast.For(target=target):
                letters = [name for one in ast.walk(target) for name in stored(one)]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                letters = [name] if name not in OPERATORS else []
            case _:
                letters = []
        found += [f"{node.lineno} {name}" for name in letters if len(name.strip("_")) == 1]
    return found


def shadowed_imports(tree: ast.Module) -> list[str]:
    """What is imported at the top of a file and means something else inside a function of it."""
    names = imported(tree)
    found: list[str] = []
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, in_class = pending.pop()
        # What a class body names is an attribute: its methods do not see it.
        own = [] if in_class and not isinstance(node, ast.arg) else [name for name in stored(node) if name in names]
        found += [f"{node.lineno} {name}" for name in own]  # type: ignore[attr-defined]
        here = isinstance(node, ast.ClassDef)
        inside = in_class and not isinstance(node, ast.FunctionDef | ast.Lambda)
        pending += [(child, here or inside) for child in ast.iter_child_nodes(node)]
    return sorted(found)


PIECE = re.compile(r"""^( *)([rf]*)(["'])(.*)\3$""")


def orphans(text: str) -> list[str]:
    """Lines of a sentence that end long before the next word would have needed another line."""
    lines = text.splitlines()
    found = []
    for number, (line, following) in enumerate(pairwise(lines), 1):
        piece = PIECE.match(line)
        if piece is None or not piece[4].endswith(" ") or not re.match(rf"""{piece[1]}[rf]*["']""", following):
            continue
        more = re.sub(r"""^ *[rf]*["']""", "", following)
        word = re.split(r"(?<=\S)[ \"']", more, maxsplit=1)[0]
        # A field of an f-string stays whole, and its length is not what it looks like.
        if "{" not in word and len(line) + len(word) + A_WORD <= WIDTH:
            found.append(f"{number} {line.strip()[-30:]}")
    return found


def long_functions(tree: ast.AST) -> Iterator[tuple[str, int, float]]:
    """Each long function with its lines and the share of them that its longest list takes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (lines := span(node)) >= MOST_LINES:
            lists = [span(inner) for inner in ast.walk(node) if isinstance(inner, ast.Tuple | ast.List | ast.Dict)]
            yield node.name, lines, max(lists, default=0) / lines


def span(node: ast.stmt | ast.expr) -> int:
    """How many lines a node takes."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def idle_marks(tree: ast.Module) -> list[str]:
    """Functions with a mark of pytest that are no tests: the mark was meant for the test below."""
    helpers = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and not n.name.startswith("test_")]
    marked = [n for n in helpers if any("pytest.mark." in ast.unparse(mark) for mark in n.decorator_list)]
    return [f"{node.lineno} {node.name}" for node in marked]


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
    """Each file is read once for all rules."""
    found = Findings()
    for path in files(room):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if name.startswith(ELSEWHERE):
            continue
        tree = ast.parse(text)
        found.single_letters += [f"{name}:{place}" for place in single_letters(tree)]
        found.shadowed_imports += [f"{name}:{place}" for place in shadowed_imports(tree)]
        found.orphans += [f"{name}:{place}" for place in orphans(text)]
        found.idle_marks += [f"{name}:{place}" for place in idle_marks(tree)]
        found.long |= {(name, function): share for function, _, share in long_functions(tree)}
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
    read: Any = text if rule is orphans else ast.parse(text)
    assert len(rule(read)) == count


def test_a_list_is_told_from_a_long_function() -> None:
    lines = "".join(f"        {k},\n" for k in range(90))
    ((_, count, share),) = long_functions(ast.parse(f"def listed():\n    return [\n{lines}    ]\n"))
    assert (count, share > LIST_SHARE) == (93, True)
    ((_, count, share),) = long_functions(ast.parse("def worked():\n" + "    x = [1]\n" * 90))
    assert (count, share > LIST_SHARE) == (91, False)

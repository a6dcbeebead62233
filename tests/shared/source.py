"""The source files of this suite, each read once in a process, and what the tests of its rules ask of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("derivations", "numerics", "verify", "reports")

# The average, as the paper writes it.
OPERATORS = {"E"}
MOST_LINES = 80
# A line of text ends where the next word would not fit, give or take a word.
WIDTH, A_WORD = 120, 20


@cache
def files(package: str) -> list[Path]:
    """The Python files of one package."""
    return sorted((ROOT / package).rglob("*.py"))


@dataclass(frozen=True)
class Read:
    """What the tests ask of one file: its imports as (statement, whether it loads anything, whether at module level),
    its calls as (name called, whether of an attribute, whether text is among the arguments, line), the lines of
    handlers that catch everything, and what each rule of names and text finds.
    """

    imports: tuple[tuple[ast.Import | ast.ImportFrom, bool, bool], ...]
    calls: tuple[tuple[str, bool, bool, int], ...]
    catch_alls: tuple[int, ...]
    single_letters: tuple[str, ...]
    shadowed_imports: tuple[str, ...]
    orphans: tuple[str, ...]
    idle_marks: tuple[str, ...]
    long_functions: tuple[tuple[str, int, float], ...]


# What has no parts of its own that a rule asks for: most of what a tree consists of.
_WHOLE = frozenset({str, int, bool, type(None), ast.Load, ast.Store, ast.Del, ast.Constant, ast.alias, ast.Pass})


def parts(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node holds itself, as `ast.iter_child_nodes` but for constants and marks, in half the time."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if value.__class__ is list:
            found += [part for part in value if part.__class__ not in _WHOLE]
        elif value.__class__ not in _WHOLE:
            found.append(value)
    return found


def walk(tree: ast.AST) -> Iterator[tuple[ast.AST, bool, bool]]:
    """The nodes of a file, whether each is loaded (not under `if TYPE_CHECKING:`), and whether outside of functions."""
    pending = [(tree, True, True)]
    while pending:
        node, loaded, top = pending.pop()
        yield node, loaded, top
        top = top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            loaded = False
        pending += [(child, loaded, top) for child in parts(node)]


@cache
def read(path: Path) -> Read:
    """Each file is read once for all tests, and its syntax tree is not kept."""
    imports, calls, catch_alls = [], [], []
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node, loaded, top in walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append((node, loaded, top))
        elif isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            letters = any(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in node.args)
            calls.append((called, isinstance(node.func, ast.Attribute), letters, node.lineno))
        elif isinstance(node, ast.ExceptHandler) and (
            node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"})
        ):
            catch_alls.append(node.lineno)
    return Read(
        tuple(imports), tuple(calls), tuple(catch_alls), tuple(single_letters(tree)), tuple(shadowed_imports(tree)),
        tuple(orphans(text)), tuple(idle_marks(tree)), tuple(long_functions(tree)),
    )  # fmt: skip


# Names and text


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
        pending += [(child, here or inside) for child in parts(node)]
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


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """The functions of a file, those inside others too: only statements hold them, no expression is looked into."""
    found, pending = [], [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        pending += [part for part in parts(node) if not isinstance(part, ast.expr)]
    return found


def long_functions(tree: ast.AST) -> Iterator[tuple[str, int, float]]:
    """Each long function with its lines and the share of them that its longest list takes."""
    for node in functions(tree):
        if (lines := span(node)) >= MOST_LINES:
            lists = [span(inner) for inner in ast.walk(node) if isinstance(inner, ast.Tuple | ast.List | ast.Dict)]
            yield node.name, lines, max(lists, default=0) / lines


def span(node: ast.stmt | ast.expr) -> int:
    """How many lines a node takes."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def idle_marks(tree: ast.Module) -> list[str]:
    """Functions with a mark of pytest that are no tests: the mark was meant for the test below."""
    helpers = [node for node in functions(tree) if not node.name.startswith("test_")]
    marked = [n for n in helpers if any("pytest.mark." in ast.unparse(mark) for mark in n.decorator_list)]
    return [f"{node.lineno} {node.name}" for node in marked]

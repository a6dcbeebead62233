"""The source files of this suite, each read once in a process, and what the tests of its rules ask of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
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
    handlers that catch everything, what each rule of names and text finds, and its long functions with the share of
    them that their longest list takes.
    """

    imports: tuple[tuple[ast.Import | ast.ImportFrom, bool, bool], ...]
    calls: tuple[tuple[str, bool, bool, int], ...]
    catch_alls: tuple[int, ...]
    broken: dict[str, list[str]]
    long_functions: dict[str, float]


_ALL = ("Exception", "BaseException")


@lru_cache(maxsize=1)
def walk(tree: ast.AST) -> tuple[tuple[ast.AST, bool, bool, bool], ...]:
    """The nodes of a file; whether each is loaded (not under `if TYPE_CHECKING:`), whether outside of functions, and
    whether in a class and in no function of it.
    """
    found, waiting = list[tuple[ast.AST, bool, bool, bool]](), [(tree, True, True, False)]
    while waiting:
        node, loaded, top, in_class = waiting.pop()
        found.append((node, loaded, top, in_class))
        top = top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        loaded = loaded and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        in_class = isinstance(node, ast.ClassDef) or (in_class and not isinstance(node, ast.FunctionDef | ast.Lambda))
        waiting += [(child, loaded, top, in_class) for child in ast.iter_child_nodes(node)]
    return tuple(found)


def functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions of a file, which stand among its statements: no expression is looked into."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            if isinstance(child, ast.FunctionDef):
                yield child
            yield from functions(child)


@cache
def read(path: Path) -> Read:
    """Each file is read once for all tests, and its syntax tree is not kept."""
    imports, calls, catch_alls = [], [], []
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node, loaded, top, _ in walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                imports.append((node, loaded, top))
            case ast.Call(func, args):
                called = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
                letters = any(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in args)
                calls.append((called, isinstance(func, ast.Attribute), letters, node.lineno))
            case ast.ExceptHandler(None | ast.Name("Exception" | "BaseException")):
                catch_alls.append(node.lineno)
            case ast.Tuple(elts) if any(isinstance(one, ast.Name) and one.id in _ALL for one in elts):
                catch_alls.append(node.lineno)
    broken = {name: rule(text, tree) for name, rule in RULES.items()}
    return Read(tuple(imports), tuple(calls), tuple(catch_alls), broken, long_functions(tree))


# Names and text


def bound(node: ast.AST) -> list[str]:
    """The name that a statement, parameter or handler binds itself, without what stands in its body."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
            return [name]
    return []


def imported(tree: ast.Module) -> set[str]:
    """The names that a file imports at its top."""
    statements = [*tree.body, *(inner for node in tree.body if isinstance(node, ast.If) for inner in node.body)]
    aliases = [a for node in statements if isinstance(node, ast.Import | ast.ImportFrom) for a in node.names]
    return {alias.asname or alias.name.partition(".")[0] for alias in aliases}


def single_letters(_: str, tree: ast.Module) -> list[str]:
    """Names of one letter at the top of a file that are no symbols: those are made with SymPy, or are `Variable()`."""
    formulas = bool(imported(tree) & {"sp", "Glossary"})
    found: list[str] = []
    for node in tree.body:
        letters: list[str] = []
        match node:
            case ast.Assign(targets, value) if not formulas and ast.unparse(value) != "Variable()":
                letters = [name for target in targets for one in ast.walk(target) for name in bound(one)]
            case ast.AnnAssign(target=target) | ast.For(target=target):
                letters = [name for one in ast.walk(target) for name in bound(one)]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name not in OPERATORS:
                letters = [name]
        found += [f"{node.lineno} {name}" for name in letters if len(name.strip("_")) == 1]
    return found


def shadowed_imports(_: str, tree: ast.Module) -> list[str]:
    """What is imported at the top of a file and means something else inside a function of it."""
    names = imported(tree)

    # What a class body names is an attribute: its methods do not see it.
    seen = (node for node, _, _, in_class in walk(tree) if not in_class or isinstance(node, ast.arg))
    return [f"{node.lineno} {name}" for node in seen for name in bound(node) if name in names]  # type: ignore[attr-defined]


PIECE = re.compile(r"""^( *)([rf]*)(["'])(.*)\3$""")


def orphans(text: str, _: ast.Module) -> list[str]:
    """Lines of a sentence that end long before the next word would have needed another line."""
    found = []
    for number, (line, following) in enumerate(pairwise(text.splitlines()), 1):
        piece = PIECE.match(line)
        if piece is None or not piece[4].endswith(" ") or not re.match(rf"""{piece[1]}[rf]*["']""", following):
            continue
        word = re.split(r"(?<=\S)[ \"']", re.sub(r"""^ *[rf]*["']""", "", following), maxsplit=1)[0]
        # A field of an f-string stays whole, and its length is not what it looks like.
        if "{" not in word and len(line) + len(word) + A_WORD <= WIDTH:
            found.append(f"{number} {line.strip()[-30:]}")
    return found


def idle_marks(_: str, tree: ast.Module) -> list[str]:
    """Functions with a mark of pytest that are no tests: the mark was meant for the test below."""
    helpers = [node for node in functions(tree) if node.name[:5] != "test_"]
    marked = [one for one in helpers if any("pytest.mark." in ast.unparse(mark) for mark in one.decorator_list)]
    return [f"{node.lineno} {node.name}" for node in marked]


RULES: dict[str, Callable[[str, ast.Module], list[str]]] = {
    rule.__name__: rule for rule in (single_letters, shadowed_imports, orphans, idle_marks)
}


def span(node: ast.stmt | ast.expr) -> int:
    """How many lines a node takes."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(tree: ast.AST) -> dict[str, float]:
    """Each long function with the share of its lines that its longest list takes."""
    found = {}
    for node in functions(tree):
        if (lines := span(node)) >= MOST_LINES:
            lists = [span(inner) for inner in ast.walk(node) if isinstance(inner, ast.Tuple | ast.List | ast.Dict)]
            found[node.name] = max(lists, default=0) / lines
    return found

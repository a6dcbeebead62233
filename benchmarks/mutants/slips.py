"""All small slips of a source file: another operator, comparison, constant or condition, a statement left out, two
arguments swapped."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

_OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
_CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}
# Their arguments may stand in any order; `strict` only watches over lengths.
_SYMMETRIC = {"max", "min", "gcd", "isclose", "union", "hypot"}
_WATCHERS = {"strict"}


@dataclass(frozen=True)
class Slip:
    """``after`` in place of ``before`` at the bytes ``start`` to ``end`` of a file, on a line that says ``text``."""

    file: str
    line: int
    text: str
    start: int
    end: int
    before: str
    after: str
    # How many slips of the same words on lines of the same words come before it in the file.
    place: int = 0

    @property
    def name(self) -> str:
        """What tells it from all others, wherever its line moves to."""
        return f"{self.file} | {self.text} | {self.before} -> {self.after} | {self.place}"

    @property
    def rank(self) -> str:
        """Its place in a random order that does not change with the rest of the code."""
        return sha256(self.name.encode()).hexdigest()

    def made(self, source: bytes) -> bytes:
        """The file with this slip."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def slips(file: str, source: bytes) -> list[Slip]:
    """Every slip of a file, in its order."""
    found, seen = [], Counter[tuple[str, str, str]]()
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for start, end, after in sorted(set(_Finder(source, starts).found(ast.parse(source)))):
        number = bisect_right(starts, start) - 1
        text, before = lines[number].decode().strip(), source[start:end].decode()
        place = seen[text, before, after]
        seen[text, before, after] += 1
        found.append(Slip(file, number + 1, text, start, end, before, after, place))
    return found


@dataclass(frozen=True)
class _Finder:
    """Finds (start, end, text instead) in bytes of a source whose lines begin at ``starts``."""

    source: bytes
    starts: list[int]

    def found(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """The slips of a node and of all below it."""
        yield from self._own(node)
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _quiet(node, field, child):
                    yield from self.found(child)

    def _own(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.BinOp(left=left, op=op, right=right):
                yield from self._between(left, right, op)
            case ast.BoolOp(op=op, values=values):
                for left, right in pairwise(values):
                    yield from self._between(left, right, op)
            case ast.Compare(left=first, ops=ops, comparators=others):
                for (left, right), comparison in zip(pairwise([first, *others]), ops, strict=True):
                    yield from self._between(left, right, comparison)
            case ast.UnaryOp(op=ast.USub()):
                start, _ = self._span(node)
                yield start, start + 1, "+"
            case ast.UnaryOp(op=ast.Not()):
                start, _ = self._span(node)
                yield start, start + len("not "), ""
            case ast.Constant(value=bool(value)):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int(value) | float(value)):
                yield *self._span(node), repr(value + 1)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield from self._negated(test)
            case ast.comprehension(ifs=tests):
                for test in tests:
                    yield from self._negated(test)
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield *self._span(node), "pass"
            case ast.Call(func=func, args=args):
                yield from self._call(func, args)

    def _call(self, func: ast.expr, args: list[ast.expr]) -> Iterator[tuple[int, int, str]]:
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name in _CALLS:
            _, end = self._span(func)
            yield end - len(name), end, _CALLS[name]
        if len(args) > 1 and name not in _SYMMETRIC and not any(isinstance(arg, ast.Starred) for arg in args[:2]):
            (a, b), (c, d) = self._span(args[0]), self._span(args[1])
            if self.source[a:b] != self.source[c:d]:
                yield a, d, (self.source[c:d] + self.source[b:c] + self.source[a:b]).decode()

    def _negated(self, test: ast.expr) -> Iterator[tuple[int, int, str]]:
        start, end = self._span(test)
        if not isinstance(test, ast.UnaryOp | ast.Compare) or len(getattr(test, "ops", ())) > 1:
            yield start, end, f"not ({self.source[start:end].decode()})"

    def _between(self, left: ast.expr, right: ast.expr, op: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Another operator between two expressions; None where a comment or a bracket may hide it."""
        before, after = _OPERATORS.get(type(op), ("", ""))
        start, end = self._span(left)[1], self._span(right)[0]
        gap = self.source[start:end].decode()
        found = re.search(re.escape(before).replace(r"\ ", r"\s+"), gap)
        if before and found and "#" not in gap:
            begin = start + len(gap[: found.start()].encode())
            yield begin, begin + len(found[0].encode()), after

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset


def _quiet(node: ast.AST, field: str, child: ast.AST) -> bool:
    """What says nothing when the program runs: types, decorators, sentences of messages, watchers over lengths."""
    types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return (
        types
        or field in ("annotation", "returns", "decorator_list")
        or isinstance(node, ast.Raise)
        or isinstance(child, ast.JoinedStr)
        or (isinstance(child, ast.keyword) and child.arg in _WATCHERS)
    )

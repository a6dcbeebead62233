"""All small slips of a source file: another operator, comparison, constant or condition, a statement left out, two
arguments swapped."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

_PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitOr, ast.BitAnd), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or),
)  # fmt: skip
_OTHER: dict[type[ast.AST], type[Any]] = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_OTHER |= {ast.Pow: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.MatMult: ast.Mult}
_CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}
# Their arguments may stand in any order.
_SYMMETRIC = {"max", "min", "gcd", "isclose", "union", "hypot"}
# What says nothing when the program runs: types, decorators, sentences of messages.
_QUIET = ("annotation", "returns", "decorator_list", "exc")


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
    starts = [sum(map(len, lines[:k])) for k in range(len(lines))]
    for node, other in _found(ast.parse(source)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        text, before = lines[node.lineno - 1].decode().strip(), ast.unparse(node)
        after = "pass" if isinstance(other, ast.Pass) else f"({ast.unparse(other)})"
        ends = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        found.append(Slip(file, node.lineno, text, *ends, before, after, seen[text, before, after]))
        seen[text, before, after] += 1
    return found


def _found(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST]]:
    """Each expression or statement below a node that a slip would change, and what would stand there."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or field in _QUIET or _silent(child):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield from ((child, other) for other in _others(child))
                if field in ("test", "ifs") and not isinstance(child, ast.UnaryOp | ast.Compare | ast.stmt):
                    yield child, ast.UnaryOp(ast.Not(), child)
            yield from _found(child)


def _silent(node: ast.AST) -> bool:
    """Imports for types, messages with numbers in them, and what only watches over lengths."""
    types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return types or isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict")


def _others(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, op, right) if type(op) in _OTHER:
            yield ast.BinOp(left, _OTHER[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(_OTHER[type(op)](), values)
        case ast.Compare(left, ops, comparators):
            for k, one in enumerate(ops):
                yield ast.Compare(left, [*ops[:k], _OTHER[type(one)](), *ops[k + 1 :]], comparators)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.Call(func, args, keywords):
            name = ast.unparse(func).rpartition(".")[2]
            if isinstance(func, ast.Name) and name in _CALLS:
                yield ast.Call(ast.Name(_CALLS[name]), args, keywords)
            pair = next(pairwise(args), None)
            if pair and name not in _SYMMETRIC and not any(isinstance(one, ast.Starred) for one in pair):
                yield ast.Call(func, [pair[1], pair[0], *args[2:]], keywords)

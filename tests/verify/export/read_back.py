"""The way back: terms and lemmas of an exported file as terms and statements of the kernel.

It shares no code with the way there: what it reads is compared with the node that was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from giantsteps.derivations.kernel.statements import AtLeast, Equation, Statement, Tends
from giantsteps.derivations.language.expectation import Expectation

_TOKEN = re.compile(r"\s*(=>|>=|<>|<=|->|[A-Za-z_][A-Za-z_0-9]*|\d+|[-()+*/^=<:,])")
_FUNCTIONS = {
    "exp": sp.exp, "ln": sp.log, "Rabs": sp.Abs, "sqrt": sp.sqrt, "tanh": sp.tanh, "sin": sp.sin, "cos": sp.cos,
    "erf": sp.erf, "Rpower": sp.Pow, "Rmax": sp.Max, "asin": sp.asin, "atan": sp.atan,
}  # fmt: skip


class Unread(ValueError):
    """The text is none that an export writes."""


class _Reader:
    """A parser by descent: sums of products of powers of atoms, where an atom is a number, a name or in brackets."""

    def __init__(self, text: str, names: Mapping[str, Any], moving: Mapping[str, int]) -> None:
        self.names = names
        self.moving = moving
        self.tokens = _tokens(text)
        self.next: str = next(self.tokens, "")

    def take(self, expected: str = "") -> str:
        """The next token, which has to be the expected one."""
        taken = self.next
        if not taken or expected not in ("", taken):
            raise Unread(f"{expected or 'a term'} was expected, not {taken or 'the end'}")
        self.next = next(self.tokens, "")
        return taken

    def sum(self) -> sp.Expr:
        parts = [self.product()]
        while self.next == "+":
            self.take()
            parts.append(self.product())
        return sp.Add(*parts)

    def product(self) -> sp.Expr:
        parts = [self.factor()]
        while self.next in ("*", "/"):
            parts.append(self.factor() if self.take() == "*" else 1 / self.factor())
        return sp.Mul(*parts)

    def factor(self) -> sp.Expr:
        if self.next in ("/", "-"):
            return 1 / self.factor() if self.take() == "/" else -self.factor()
        base = self.atom()
        if self.next == "^":
            self.take()
            return base ** int(self.take())
        return base

    def atom(self) -> sp.Expr:
        token = self.take()
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if token.isdigit():
            return sp.Integer(int(token))
        if token == "E":
            return self.average()
        if token == "PI":
            return sp.pi
        head = _FUNCTIONS.get(token) or self.names.get(token)
        if head is None:
            raise Unread(f"{token} is no name")
        for _ in range(self.moving.get(token, 0)):  # the variables that it depends on
            self.atom()
        if isinstance(head, sp.Symbol):
            return head
        if isinstance(head, tuple):
            head, _ = head
        arguments = []
        while self.next not in ("", ")", "+", "*", "^", "="):
            arguments.append(self.atom())
        return head(*arguments)

    def average(self) -> sp.Expr:
        for token in ("(", "fun"):
            self.take(token)
        variable = self.names[self.take().rstrip("_")]
        self.take("=>")
        body = self.sum()
        self.take(")")
        if isinstance(body, Expectation):  # one average over several variables, the outer one first
            return Expectation(body.integrand, variable, *body.variables)
        return Expectation(body, variable)


def _tokens(text: str) -> Iterator[str]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Unread(f"no term begins with {text[at : at + 20]}")
        yield found.group(1)
        at = found.end()


def read_statement(text: str, names: Mapping[str, Any], moving: Mapping[str, int] | None = None) -> Statement:
    """What a lemma says, of the symbols and functions that ``names`` has; ``moving`` has on how many variables a name
    depends, which it is applied to. Raises Unread if it is no such text.
    """
    reader = _Reader(text, names, moving or {})
    if reader.next == "Tends":
        for token in ("Tends", "(", "fun"):
            reader.take(token)
        variable = names[reader.take()]
        reader.take("=>")
        expression = reader.sum()
        reader.take(")")
        return _ended(reader, Tends(expression, reader.atom(), variable))
    left = reader.sum()
    relation = reader.take()
    if relation not in ("=", ">="):
        raise Unread(f"{relation} is no relation of a theorem")
    right = reader.sum()
    return _ended(reader, (Equation if relation == "=" else AtLeast)(left, right))


def _ended(reader: _Reader, statement: Statement) -> Statement:
    if reader.next:
        raise Unread(f"{reader.next} stands behind the statement")
    return statement


def conclusions(text: str) -> dict[str, str]:
    """What each lemma n1, n2, ... of a file concludes."""
    lemmas = re.findall(r"^Lemma (n\d+) : (.*?)\.\nProof\.", text, re.MULTILINE | re.DOTALL)
    found = {}
    for name, stated in lemmas:
        last = stated.rpartition(" -> ")[2]
        found[name] = last.partition(" : R, ")[2] if last.startswith("forall") else last
    return found

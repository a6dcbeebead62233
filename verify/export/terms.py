"""Terms of the kernel as terms of Rocq over the reals; `E (fun z => ...)` averages over one Gaussian variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import sympy as sp

from giantsteps.derivations.kernel.statements import AtLeast, Condition, Demand, Equation, Statement
from giantsteps.derivations.language.expectation import Expectation

# What Rocq's library, the preamble of a file or the proofs of its lemmas call by a name that a symbol may have.
RESERVED = frozenset({
    "E", "Exists", "I", "INR", "IZR", "PI", "Prop", "Props", "R", "Rabs", "Rinv", "Rle", "Rlt", "Rmax", "S", "O", "Set",
    "Slope", "Tends", "True", "Type", "as", "asin", "at", "atan", "cofix", "constant", "cos", "else", "end", "erf",
    "exists", "exp", "far", "fix", "for", "forall", "from", "fun", "if", "in", "let", "ln", "match", "mod", "nat",
    "near", "put", "return", "sin", "soon", "sqrt", "tan", "tanh", "then", "unequal", "unproved", "using", "where",
    "eventually", "with",
})  # fmt: skip
# Functions that Rocq's library has, and erf, whose meaning it is not told.
KNOWN = {
    sp.exp: "exp",
    sp.log: "ln",
    sp.Abs: "Rabs",
    sp.tanh: "tanh",
    sp.sin: "sin",
    sp.cos: "cos",
    sp.erf: "erf",
    sp.asin: "asin",
    sp.atan: "atan",
}

# A symbol, or the head of a function with the number of its arguments.
Named = Any
# What each name depends on: it is written as a function of these variables.
Moving = Mapping[Named, tuple[sp.Symbol, ...]]


class Table:
    """Identifiers, given out as they are asked for: one for each symbol or head and what it depends on."""

    def __init__(self) -> None:
        self.names: dict[tuple[Named, tuple[sp.Symbol, ...]], str] = {}
        self._taken = set(RESERVED)

    def name(self, what: Named, moving: tuple[sp.Symbol, ...]) -> str:
        """The identifier of this."""
        key = (what, moving)
        if key not in self.names:
            self.names[key] = _fresh(slug(str(what[0] if isinstance(what, tuple) else what)), self._taken)
        return self.names[key]


@dataclass(frozen=True)
class Names:
    """An identifier for each symbol and head of a function, other ones for other objects.

    ``moving`` has the names that are defined by way of a variable which a limit is taken in: they are functions of it.
    """

    table: Table
    moving: Moving
    memo: dict[sp.Expr, str] = field(default_factory=dict, compare=False, repr=False)

    def of(self, what: Named) -> str:
        """The identifier."""
        return self.table.name(what, self.moving.get(what, ()))

    def spoken(self, term: sp.Basic) -> frozenset[sp.Symbol]:
        """The symbols that the text of a term speaks of, as names or as what these depend on."""
        return frozenset(term.free_symbols).union(*(self.moving[w] for w in named_in(term) if w in self.moving))


def in_order(term: sp.Basic) -> tuple[Any, str]:
    """The key by which terms are sorted: SymPy's, and what is declared of symbols, which may share a name."""
    return sp.default_sort_key(term), sp.srepr(term)


@lru_cache(maxsize=65536)
def named_in(term: sp.Basic) -> tuple[Named, ...]:
    """All that a term has names for, in one order."""
    parts = [p for p in term.atoms(sp.Symbol, sp.Function) if p.func not in (*KNOWN, Expectation)]
    found = [p if isinstance(p, sp.Symbol) else (p.func, len(p.args)) for p in sorted(parts, key=in_order)]
    return tuple(dict.fromkeys(found))


def slug(name: str) -> str:
    """A name with letters, digits and single underscores, as an identifier has."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("'", "_prime").replace("*", "_star")).strip("_")
    return plain if plain[:1].isalpha() else f"s_{plain}".rstrip("_")


def _fresh(name: str, taken: set[str]) -> str:
    """``name`` or the first numbered one that is not taken, which it is from now on."""
    # n1, n2, ... are the lemmas of a file; what a proof names has two underscores, which no symbol has.
    count, free = 1, name
    while free in taken or re.fullmatch(r"n\d+", free):
        count += 1
        free = f"{name}_{count}"
    taken.add(free)
    return free


Scope = Mapping[sp.Basic, str]


def text(term: sp.Expr, names: Names, scope: Scope | None = None) -> str:
    """A term; ``scope`` has the text of terms that stand for something else in it. Everything compound has brackets."""
    scope = scope or {}
    if term in scope:
        return scope[term]
    if isinstance(term, sp.Symbol):
        return _applied(term, (), names, scope)
    if isinstance(term, sp.Integer):
        return str(term) if term >= 0 else f"({term})"
    if isinstance(term, sp.Rational):
        return f"({term.p} / {term.q})"
    if term is sp.pi:
        return "PI"
    if isinstance(term, sp.Add):
        return "(" + " + ".join(text(part, names, scope) for part in term.args) + ")"
    if isinstance(term, sp.Mul):
        return "(" + " * ".join(text(part, names, scope) for part in term.args) + ")"
    if isinstance(term, sp.Pow):
        return _power(term, names, scope)
    if isinstance(term, Expectation):
        if not scope and term not in names.memo:
            names.memo[term] = nested(term.integrand, term.variables, names)
        return nested(term.integrand, term.variables, names, scope) if scope else names.memo[term]
    arguments = tuple(text(part, names, scope) for part in term.args)
    if isinstance(term, sp.Max):
        *others, said = arguments
        for other in reversed(others):
            said = f"(Rmax {other} {said})"
        return said
    if term.func in KNOWN:
        return f"({' '.join((KNOWN[term.func], *arguments))})"
    return _applied((term.func, len(term.args)), arguments, names, scope)


def _applied(what: Named, arguments: tuple[str, ...], names: Names, scope: Scope) -> str:
    """A name with the variables that it depends on, and its arguments."""
    moved = tuple(text(variable, names, scope) for variable in names.moving.get(what, ()))
    words = (names.of(what), *moved, *arguments)
    return f"({' '.join(words)})" if len(words) > 1 else words[0]


def _power(term: sp.Pow, names: Names, scope: Scope) -> str:
    base = text(term.base, names, scope)
    if not term.exp.is_Rational or term.exp.q > 2:
        return f"(Rpower {base} {text(term.exp, names, scope)})"
    return half_power(term.exp, base, "(sqrt {0})", "({0} ^ {1})", "(/ {0})")


def half_power(exponent: sp.Rational, base: str, root: str, power: str, inverse: str) -> str:
    """base^exponent for a multiple of 1/2, put together of a square root, a natural power and an inverse: patterns with
    {0} for what they are taken of, and {1} for the natural number.
    """
    base = root.format(base) if exponent.q == 2 else base
    size = abs(int(exponent.p))
    base = base if size == 1 else power.format(base, size)
    return base if exponent > 0 else inverse.format(base)


def nested(integrand: sp.Expr, variables: Iterable[sp.Symbol], names: Names, scope: Scope | None = None) -> str:
    """The average over each of the variables in turn; one is renamed where its name stands for something outside."""
    variables = tuple(variables)
    inner = {k: v for k, v in (scope or {}).items() if not k.free_symbols & set(variables)}
    said = set(re.findall(r"\w+", " ".join(inner.values())))
    for variable in variables:
        name = names.of(variable)
        while name in said:
            name += "_"
        inner[variable] = name
    heads = "".join(f"(E (fun {inner[variable]} => " for variable in variables)
    return heads + text(integrand, names, inner) + "))" * len(variables)


def statement_text(statement: Statement, names: Names, scope: Scope | None = None) -> str:
    """What a theorem says."""
    if isinstance(statement, Equation | AtLeast):
        relation = "=" if isinstance(statement, Equation) else ">="
        return f"{text(statement.left, names, scope)} {relation} {text(statement.right, names, scope)}"
    variable = statement.variable
    inner = {k: v for k, v in (scope or {}).items() if variable not in k.free_symbols}
    expression = text(statement.expression, names, inner)
    return f"Tends (fun {names.of(variable)} => {expression}) {text(statement.value, names, scope)}"


def condition_text(condition: Condition, names: Names) -> str:
    """Where a theorem holds; what is held constant in a limit has no text, see `stated`."""
    term = text(condition.term, names)
    return f"{term} <> 0" if condition.demand is Demand.NONZERO else f"0 <= {term}"


def stated(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions that are said in Rocq, in one order: averages exist there."""
    said = [c for c in conditions if not c.of_variable and c.demand is not Demand.EXISTS]
    return sorted(said, key=lambda c: (c.demand.value, in_order(c.term)))


def sign_text(symbol: sp.Symbol, name: str) -> str | None:
    """The sign that a symbol is declared to have."""
    if symbol.is_positive:
        return f"0 < {name}"
    if symbol.is_negative:
        return f"{name} < 0"
    if symbol.is_nonnegative:
        return f"0 <= {name}"
    return f"{name} <> 0" if symbol.is_nonzero else None

"""Terms of the kernel as terms of Rocq over the reals; `E (fun z => ...)` averages over one Gaussian variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from onestep.derivations.kernel.statements import AtLeast, Condition, Demand, Equation, Statement
from onestep.derivations.language.expectation import Expectation

# What Rocq's library, the preamble of a file or the lemmas of a file call by a name that a symbol may have.
RESERVED = frozenset({
    "E", "PI", "R", "Rabs", "Rinv", "Rle", "Rlt", "Tends", "as", "at", "cos", "else", "end", "erf", "exists",
    "exp", "fix", "for", "forall", "fun", "if", "in", "let", "ln", "match", "mod", "nat", "plus_zero", "power",
    "return", "root_square", "same", "sides", "sign", "sin", "sqrt", "tanh", "then", "using", "where", "with",
    "zero_term",
})  # fmt: skip
# Functions that Rocq's library has, and those whose meaning it is not told.
KNOWN = {sp.exp: "exp", sp.log: "ln", sp.Abs: "Rabs", sp.tanh: "tanh", sp.sin: "sin", sp.cos: "cos", sp.erf: "erf"}


@dataclass(frozen=True)
class Names:
    """An identifier for each symbol and for the head of each applied function; different ones for different objects."""

    symbols: Mapping[sp.Symbol, str]
    functions: Mapping[Any, str]


def slug(name: str) -> str:
    """A name with letters, digits and single underscores, as an identifier has."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name.replace("'", "_prime").replace("*", "_star")).strip("_")
    return plain if plain[:1].isalpha() else f"s_{plain}".rstrip("_")


def named(terms: Iterable[sp.Basic]) -> Names:
    """Names for all that stands in these terms, in their order."""
    taken: set[str] = set(RESERVED)
    symbols: dict[sp.Symbol, str] = {}
    functions: dict[Any, str] = {}
    for term in terms:
        for part in sorted(term.atoms(sp.Symbol, sp.core.function.AppliedUndef), key=sp.default_sort_key):
            where: dict[Any, str] = symbols if isinstance(part, sp.Symbol) else functions
            what = part if isinstance(part, sp.Symbol) else part.func
            if what not in where and not isinstance(part, Expectation):
                where[what] = _fresh(slug(str(what)), taken)
    return Names(symbols, functions)


def _fresh(name: str, taken: set[str]) -> str:
    """``name`` or the first numbered one that is not taken, which it is from now on."""
    # n1, n2, ... are the lemmas of a file.
    count, free = 1, name
    while free in taken or re.fullmatch(r"[nPQHz]\d+", free):
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
        return names.symbols[term]
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
        return _average(term, names, scope)
    head = KNOWN.get(term.func) or names.functions[term.func]
    return f"({head} " + " ".join(text(part, names, scope) for part in term.args) + ")"


def _power(term: sp.Pow, names: Names, scope: Scope) -> str:
    base = text(term.base, names, scope)
    if not term.exp.is_Rational or term.exp.q > 2:
        return f"(power {base} {text(term.exp, names, scope)})"
    root = f"(sqrt {base})" if term.exp.q == 2 else base
    size = abs(int(term.exp.p))
    power = root if size == 1 else f"({root} ^ {size})"
    return power if term.exp > 0 else f"(/ {power})"


def _average(term: Expectation, names: Names, scope: Scope) -> str:
    return nested(term.integrand, term.variables, names, scope)


def nested(integrand: sp.Expr, variables: Iterable[sp.Symbol], names: Names, scope: Scope | None = None) -> str:
    """The average over each of the variables in turn; one is renamed where its name stands for something outside."""
    variables = tuple(variables)
    inner = {k: v for k, v in (scope or {}).items() if not k.free_symbols & set(variables)}
    said = set(re.findall(r"\w+", " ".join(inner.values())))
    for variable in variables:
        name = names.symbols[variable]
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
    parts = (statement.expression, statement.value, statement.variable)
    return "Tends " + " ".join(text(part, names, scope) for part in parts)


def condition_text(condition: Condition, names: Names) -> str:
    """Where a theorem holds; what is held constant in a limit has no text, see `stated`."""
    term = text(condition.term, names)
    return f"{term} <> 0" if condition.demand is Demand.NONZERO else f"0 <= {term}"


def stated(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions that are said in Rocq, in one order."""
    said = [c for c in conditions if c.demand is not Demand.CONSTANT]
    return sorted(said, key=lambda c: (c.demand.value, sp.default_sort_key(c.term)))


def sign_text(symbol: sp.Symbol, name: str) -> str | None:
    """The sign that a symbol is declared to have."""
    if symbol.is_positive:
        return f"0 < {name}"
    if symbol.is_nonnegative:
        return f"0 <= {name}"
    return f"{name} <> 0" if symbol.is_nonzero else None

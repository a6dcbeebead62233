"""The digest of a proof: it changes with its assumptions, rules, arguments and conclusions, and with nothing else.

What a second kernel said of a proof is kept under its digest (`verify.ledger.second_kernel`): a changed proof has not
been replayed. Terms are read by structure, each part once; sums, products and sets in no order, bound and made-up
variables by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from hashlib import sha256
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

import sympy as sp
from sympy.core.function import UndefinedFunction

from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Equation, Tends
from giantsteps.derivations.kernel.theorem import Theorem, nodes
from giantsteps.derivations.kernel.vacuity.conditions import beside_existence


def digest(theorem: Theorem) -> str:
    """Sixteen hexadecimal digits for a theorem with its whole proof."""
    return digests(theorem)[id(theorem)]


# What was read of a theorem, and its digest: proofs have most of their theorems in common.
_KNOWN: WeakKeyDictionary[Theorem, tuple[tuple[Any, ...], str]] = WeakKeyDictionary()


def digests(theorem: Theorem) -> dict[int, str]:
    """The digest of each theorem of a proof, by its identity."""
    found: dict[int, str] = {}
    for node in nodes(theorem):
        said = (node.statement, node.conditions, node.arguments)
        beneath = [found[id(premise)] for premise in node.premises]
        read: tuple[Any, ...] = (node.rule, *said, *beneath)
        known, word = _KNOWN.get(node, ((), ""))
        if len(known) != len(read) or not all(map(is_, known, read)):
            stated = (node.statement, beside_existence(node.conditions), node.arguments)
            word = _hash(node.rule, *map(_of, stated), *beneath)[:16]
            _KNOWN[node] = read, word
        found[id(node)] = word
    return found


def _of(part: Any) -> str:
    """The same for what theorems and the arguments of rules are made of."""
    if isinstance(part, sp.Basic):
        return _term(part)
    if isinstance(part, type):
        return _hash("function", _declared(part))
    if isinstance(part, tuple | list):
        return _hash("list", *map(_of, part))
    if isinstance(part, frozenset | set):
        return _set(frozenset(part))
    if isinstance(part, Mapping):
        return _hash("map", *sorted(_hash(_of(key), _of(value)) for key, value in part.items()))
    if isinstance(part, Equation | AtLeast | Tends | Condition | Assumption):
        fields = (getattr(part, name) for name in part.__dataclass_fields__)
        return _hash(type(part).__name__, *map(_of, fields))
    if part is None or isinstance(part, str | int | Enum):
        return _hash(type(part).__name__, str(part))
    raise TypeError(f"no digest of {type(part).__name__}")


@lru_cache(maxsize=16384)
def _set(parts: frozenset[Any]) -> str:
    return _hash("set", *sorted(map(_of, parts)))


@lru_cache(maxsize=262144)
def _term(term: sp.Basic) -> str:
    if isinstance(term, sp.Symbol):
        signs = (term.is_positive, term.is_nonnegative, term.is_nonzero)
        return _hash("symbol", term.name, str(signs))
    if not term.args:
        return _hash("atom", str(term))
    parts = [_term(part) for part in term.args]
    if isinstance(term, sp.Add | sp.Mul):
        parts.sort()
    return _hash(_declared(term.func), *parts)


def _declared(head: type) -> str:
    """A class of terms by its name; a function without a formula also by its declared sign."""
    if isinstance(head, UndefinedFunction):
        return f"{head.__name__} {sorted(map(str, head._kwargs.items()))}"
    return head.__name__


def _hash(*words: str) -> str:
    return sha256("\0".join(words).encode()).hexdigest()

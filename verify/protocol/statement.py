"""How to write a claim: its statement, and its mutants.

Relations (`eq`, `ge`, `le`) are left as they are typed.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.language.derivation import eq as eq
from giantsteps.derivations.language.derivation import ge as ge
from giantsteps.derivations.language.derivation import le as le
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Mutant, Role, Source

# Within ten per cent of the truth: what a numerical check has to be able to see.
MORE = sp.Rational(27, 25)

# What a slip of the pen writes: another right-hand side of the same left one, or another statement.
Wrong = Mapping[str, sp.Basic | int]


def claim(
    id: str,
    title: str,
    source: Source,
    statement: sp.Basic,
    domain: Domain,
    *checks: Check,
    kind: Kind | None = None,
    wrong: Wrong | None = None,
    uses: tuple[str, ...] = (),
    role: Role = Role.OURS,
    note: str = "",
    correction: Claim | None = None,
) -> Claim:
    """A claim; ``wrong`` names its own mutants: right-hand sides, or whole statements where the left one changes too.

    Without a ``kind`` an inequality is an INEQUALITY and everything else an IDENTITY. Raises TypeError for a wrong
    right-hand side of a statement that has no sides, ValueError for one that is the right one.
    """
    if kind is None:
        exact = not isinstance(statement, Relational) or isinstance(statement, sp.Equality | sp.Unequality)
        kind = Kind.IDENTITY if exact else Kind.INEQUALITY
    mutants = slips(statement, wrong or {})
    return Claim(id, title, source, kind, statement, domain, checks, uses, mutants, role, note, correction)


def without(formula: sp.Expr, *parts: sp.Expr) -> sp.Expr:
    """``formula`` with nought for symbols or functions, and nothing else worked out: quicker by far than `subs`."""
    return formula.xreplace(dict.fromkeys(parts, sp.S.Zero))


def slips(statement: sp.Basic, wrong: Wrong) -> tuple[Mutant, ...]:
    """The mutants of ``statement`` that ``wrong`` names."""
    mutants = tuple(Mutant(name, _restated(statement, sp.sympify(other))) for name, other in wrong.items())
    for mutant in mutants:
        if mutant.statement == statement:
            raise ValueError(f"the mutant {mutant.name!r} is the claim itself: {statement}")
    return mutants


def _restated(statement: sp.Basic, other: sp.Basic) -> sp.Basic:
    """``other``, or where it is a term, ``statement`` with it on the right."""
    if not isinstance(other, sp.Expr):
        return other
    if not isinstance(statement, Relational):
        raise TypeError(f"{statement} has no right-hand side; give the whole wrong statement in place of {other}")
    return statement.func(statement.lhs, other, evaluate=False)

"""Several equations under one number: each is proved from its own derivation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from onestep.derivations.language.derivation import Derivation, Obligation, Vanishing
from onestep.verify.checks.kinds import ByObligations
from onestep.verify.protocol.claim import Claim
from onestep.verify.protocol.statement import MORE, Wrong, eq


def together(claims: tuple[Claim, ...]) -> sp.Basic:
    """The statements of several claims as one."""
    return sp.And(*(c.statement for c in claims), evaluate=False)


def by_derivations(title: str, derivations: Mapping[sp.Symbol, Callable[[], Derivation]]) -> ByObligations:
    """Each equation of a conjunction by the derivation of its left-hand side, with the derivation's obligations."""

    def obligations(statement: sp.Basic) -> tuple[Obligation, ...]:
        found: list[Obligation] = []
        for part in sorted(statement.args, key=lambda e: str(e.lhs)):
            derivation = derivations[part.lhs]()
            found += derivation.obligations
            residual = (part.lhs - part.rhs).xreplace(dict(derivation.results))
            found.append(Vanishing(f"the equation for {part.lhs} is what was derived", residual))
        return tuple(dict.fromkeys(found))

    return ByObligations(title, obligations)


def one_wrong(claims: tuple[Claim, ...]) -> Wrong:
    """One wrong equation among right ones: eight per cent more in one, the sign of another."""
    parts = [c.statement for c in claims]
    first, last = parts[0], parts[-1]
    more = eq(first.lhs, MORE * first.rhs)
    sign = eq(last.lhs, -last.rhs)
    return {
        f"eight per cent more in {first.lhs}": sp.And(more, *parts[1:], evaluate=False),
        f"the sign of {last.lhs}": sp.And(*parts[:-1], sign, evaluate=False),
    }

"""What a verdict asks of a theorem before it calls it proved: that its rules make it, and that it says something."""

from __future__ import annotations

from functools import cache

import sympy as sp

from onestep.derivations.kernel.statements import Condition, variables
from onestep.derivations.kernel.theorem import Theorem, nodes, replay
from onestep.derivations.kernel.vacuity.along import hold_all_along
from onestep.derivations.kernel.vacuity.conditions import can_hold, grows, stays
from onestep.derivations.kernel.vacuity.existence import all_exist


def established(theorem: Theorem) -> Theorem:
    """The theorem, made again from its leaves by its rules, of which a family of values is found at which it speaks.

    Rules ask none of what follows, and what they conclude is true of nothing where it fails: along a family for the
    whole, all that it was made of holds too. Raises Refused where a rule does not make the theorem, where an average
    in its proof may not exist, where its conditions hold nowhere, or where no family is found.
    """
    again = replay(theorem)
    all_exist(again)
    conditions = asked_by(again)
    can_hold(conditions, again.assumptions)
    hold_all_along(conditions, again.assumptions)
    return again


def asked_by(theorem: Theorem) -> frozenset[Condition]:
    """The conditions of a theorem, and far out what they ask of what leads in averages.

    Raises Refused where the variable of a limit cannot grow, or a condition fails as it does.
    """
    asked = [theorem.conditions]
    for variable in _variables(theorem):
        grows(variable, theorem.assumptions)
        asked += [stays(condition, variable, theorem.assumptions) for condition in theorem.conditions]
    return frozenset().union(*asked)


def _variables(theorem: Theorem) -> frozenset[sp.Symbol]:
    """The variables in which a proof takes limits."""
    for node in nodes(theorem):  # premises first, so that no proof is too deep
        found = _variables_to(node)
    return found


@cache
def _variables_to(node: Theorem) -> frozenset[sp.Symbol]:
    return variables(node.statement).union(*map(_variables_to, node.premises))

"""What a verdict asks of a theorem before it calls it proved: that its rules make it, and that it says something."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations

import sympy as sp

from giantsteps.derivations.kernel.conditions import far_out
from giantsteps.derivations.kernel.statements import Assumption, Condition, variables
from giantsteps.derivations.kernel.terms import ANY, free
from giantsteps.derivations.kernel.theorem import Theorem, nodes, replay
from giantsteps.derivations.kernel.vacuity.along import hold_all_along
from giantsteps.derivations.kernel.vacuity.conditions import beside_existence, can_hold, grows, stays
from giantsteps.derivations.kernel.vacuity.existence import exist_where


def established(theorem: Theorem) -> Theorem:
    """The theorem, replayed from its assumptions, if it applies along some family of values.

    Rules ask none of what follows, and what they conclude is true of nothing where it fails: along a family for the
    whole, all that it was made of holds too. Raises Refused where a rule does not make the theorem, where an average
    in its proof may not exist, where its conditions hold nowhere, or where no family is found.
    """
    again = replay(theorem)
    conditions = asked_by(again)
    growing, functions = _variables(again), _of_functions(exist_where(again))
    for variable in sorted(growing, key=str):
        functions = functions.union(*(_by_what_leads(c, variable, again.assumptions) for c in functions))
    can_hold(conditions | functions, again.assumptions, growing)
    hold_all_along(conditions, again.assumptions)
    return again


def asked_by(theorem: Theorem) -> frozenset[Condition]:
    """The conditions of a theorem, those under which the averages in its proof exist, and far out what they ask of what
    leads in averages.

    Raises Refused where an average may not exist, the variable of a limit cannot grow, or a condition fails as it does.
    """
    assumptions = theorem.assumptions
    given = beside_existence(theorem.conditions)
    asked, growing = set(given), _variables(theorem)
    exist = exist_where(theorem)
    exist -= _of_functions(exist)
    for variable in growing:
        grows(variable, assumptions)
        asked = asked.union(*(stays(condition, variable, assumptions) for condition in given))
    # One variable may grow before the other.
    for order in permutations(sorted(growing, key=str)) if exist else ():
        found = exist
        for variable in order:
            found = frozenset().union(*(far_out(c, variable, assumptions) for c in found))
            found = found.union(*(stays(c, variable, assumptions) for c in found))
        asked |= found
    return frozenset(asked)


def _of_functions(conditions: frozenset[Condition]) -> frozenset[Condition]:
    """Conditions that ask something of functions without a formula, for all their arguments."""
    return frozenset(condition for condition in conditions if free(condition.term) & ANY)


def _by_what_leads(
    condition: Condition, variable: sp.Symbol, assumptions: frozenset[Assumption]
) -> frozenset[Condition]:
    """What a condition asks of functions far out, by what leads in it, if that is known."""
    plain = {name: sp.Dummy(name.name, **name.assumptions0) for name in free(condition.term) & ANY}
    back = {value: name for name, value in plain.items()}
    found = far_out(replace(condition, term=condition.term.xreplace(plain)), variable, assumptions)
    return _of_functions(frozenset(replace(c, term=c.term.xreplace(back)) for c in found if not c.of_variable))


def _variables(theorem: Theorem) -> frozenset[sp.Symbol]:
    """The variables in which a proof takes limits."""
    for node in nodes(theorem):  # premises first, so that no proof is too deep
        found = _variables_to(node)
    return found


@cache
def _variables_to(node: Theorem) -> frozenset[sp.Symbol]:
    return variables(node.statement).union(*map(_variables_to, node.premises))

"""What depends on the variable of a limit by way of definitions: it is a function of that variable in Rocq."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.statements import Assumption, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem, nodes
from giantsteps.derivations.language.named_functions import DERIVATIVES
from giantsteps.verify.export.terms import Moving, Named, named_in


def limit_variables(theorem: Theorem) -> frozenset[sp.Symbol]:
    """The variables in which a proof takes limits."""
    return frozenset(n.statement.variable for n in nodes(theorem) if isinstance(n.statement, Tends))


def moving(theorem: Theorem) -> Moving:
    """The variables of limits that each name rests on, if any.

    A name that is defined rests on what its meaning names, and what the model or a hypothesis equates moves together. A
    limit has one value: what is named by it does not rest on its variable.
    """
    variables = limit_variables(theorem)
    rests: dict[Named, set[Named]] = {}
    taken: dict[Named, set[Named]] = {}
    for assumed in theorem.assumptions if variables else ():
        limit = isinstance(assumed.statement, Tends)  # which is a definition, or says nothing of what moves
        if assumed.is_lemma or (limit and not assumed.defines):
            continue
        first, second = (_named(side, assumed) for side in sides(assumed.statement))
        left, right = (second, first) if limit else (first, second)
        moved = left if assumed.defines else left | right
        for name in moved - variables:
            rests.setdefault(name, set()).update((left | right) - {name})
            if isinstance(assumed.statement, Tends):
                taken.setdefault(name, set()).add(assumed.statement.variable)
    for function, slope in DERIVATIVES.items():
        rests.setdefault((slope, 1), set()).add((function, 1))
    reached = {name: others & variables for name, others in rests.items()}
    grown: dict[Named, set[Named]] = {}
    while grown != reached:
        grown = reached
        reached = {
            name: (others & variables).union(*(grown.get(other, set()) for other in others)) - taken.get(name, set())
            for name, others in rests.items()
        }
    return {name: tuple(sorted(of, key=str)) for name, of in reached.items() if of}


def _named(term: sp.Expr, assumed: Assumption) -> set[Named]:
    free = term.free_symbols - assumed.universal
    return {what for what in named_in(term) if isinstance(what, tuple) or what in free}

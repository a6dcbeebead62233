"""What assumptions together fix at one value of a limit's variable, while it was held constant: refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.kernel.algebra import assume, order, rewrite, ring
from onestep.derivations.kernel.calculus import slope
from onestep.derivations.kernel.limits import limit_rational, limit_unique, name_limit
from onestep.derivations.kernel.orders import limit_order
from onestep.derivations.kernel.search import define
from onestep.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused, Tends
from onestep.derivations.kernel.theorem import Theorem
from tests.derivations.kernel.test_falsehoods import ONE, ZERO, Q, a, b, d, m, p, rate, t, taken, tends, x, y

HALF = sp.Rational(1, 2)
CHAINS: dict[str, Callable[[], tuple[tuple[Theorem, ...], tuple[sp.Expr, ...]]]] = {
    "two names, neither solved for": lambda: (
        (define(y, a - d + b, ""), taken(y - x, ZERO), taken(x - b, ZERO)), (-ONE, ONE, ONE)
    ),
    "the same by the model": lambda: (
        (define(y, a - d + b, ""), taken(y - x, ZERO, Ground.MODEL), taken(x - b, ZERO, Ground.MODEL)), (-ONE, ONE, ONE)
    ),
    "twice a name is zero": lambda: (
        (define(y, a - d + b, ""), taken(y, b + t), taken(2 * t, ZERO)), (-ONE, ONE, HALF)
    ),
    "two values of one name": lambda: ((define(y, a - d, ""), taken(y, t), taken(y, -t)), (-ONE, HALF, HALF)),
    "a slope": lambda: (
        (slope((define(Q, (a - d) ** 2 / 2, ""),), a, rate, "dQ/da"), taken(rate - x, ZERO), taken(2 * x, ZERO)),
        (-ONE, ONE, HALF),
    ),
    "a limit in something else": lambda: (
        (
            name_limit((limit_rational((), a - d + 1 / m, a - d, m),), Q, "a limit"),
            taken(Q - x, ZERO), taken(2 * x, ZERO),
        ),
        (-ONE, ONE, HALF),
    ),
    "beside a factor that is not zero": lambda: ((define(y, p * (a - d), ""), taken(y, ZERO)), (-1 / p, 1 / p)),
}  # fmt: skip


def one_is_zero(premises: tuple[Theorem, ...], factors: tuple[sp.Expr, ...]) -> Theorem:
    """a/d -> 0 for a constant a, that is d."""
    moving = ring(premises, Equation(a, d), factors)
    return limit_unique((rewrite((tends(a / d + 1 / d, ZERO), moving)), tends(1 + 1 / d, ONE)))


def nothing_is_above_one() -> Theorem:
    """b - d >= 0 for a constant b, by y := b - d + x, y >= t and t >= x."""
    more, less = (
        assume((), Assumption(Ground.HYPOTHESIS, f"{left} above {right}", AtLeast(left, right), ""))
        for left, right in ((y, t), (t, x))
    )
    bound = rewrite((more, define(y, b - d + x, "")))
    lower = order((bound, less), AtLeast(b / d, ONE), (1 / d, 1 / d))
    return limit_order((lower, tends(b / d, ZERO)), d)


def share_is_one(named: bool) -> Theorem:
    """a/d -> 1 for a constant a."""
    told = assume((), Assumption(Ground.HYPOTHESIS, "a share", Tends(y if named else a / d, ONE, d), ""))
    limit = rewrite((told, define(y, a / d, ""))) if named else told
    return limit_unique((limit, tends(a / d, ZERO)))


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_what_is_fixed_at_one_value_is_not_held_constant(
    chain: Callable[[], tuple[tuple[Theorem, ...], tuple[sp.Expr, ...]]],
) -> None:
    premises, factors = chain()
    with pytest.raises(Refused, match="constant"):
        one_is_zero(premises, factors)


def test_a_bound_by_way_of_another_name_is_not_held_constant() -> None:
    with pytest.raises(Refused, match="constant"):
        nothing_is_above_one()


@pytest.mark.parametrize("named", [False, True])
def test_a_limit_of_what_is_held_constant_is_not_assumed(named: bool) -> None:
    with pytest.raises(Refused, match="tends"):
        share_is_one(named)

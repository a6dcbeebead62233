r"""sigma' given kappa: a constant mu1, a line mu11 sqrt(c) w in what a bulk row sees, and a rest s orthogonal to both.

w is written z in averages.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.equivalence.conditional_coefficients import REGULAR
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, by_stein, slope_at
from giantsteps.derivations.kernel.search.steps import equal, isolated, named, named_slope, rewritten, value
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma_prime, with_slopes
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import HERE, SOURCE

_slope = HERE.received(s.z)
_in_kappa, _in_kappa_slope, _ = with_slopes("mu1_kappa")

MEAN = define(s.mu1, Expectation(sigma_prime(_slope), s.z), "the mean of sigma' given kappa")
BEND = define(s.bend, Expectation(s.z * sigma_prime(_slope), s.z) / sp.sqrt(s.c), "its linear coefficient")
SECOND = define(s.slope_square, Expectation(sigma_prime(_slope) ** 2, s.z), "its second moment")
VARIANCE = define(s.slope_variance, s.slope_square - s.mu1**2, "its variance")


def _of_rest(name: sp.Symbol, weight: sp.Expr, power: int = 1) -> Theorem:
    """``name`` for E[weight s^power], s = sigma' - mu1 - mu11 sqrt(c) w, in the coefficients of sigma'."""
    rest = sigma_prime(_slope) - s.mu1 - s.bend * sp.sqrt(s.c) * s.z
    opened = averages_expanded(define(name, Expectation(weight * rest**power, s.z), "of what is left of sigma'"))
    return rewritten(named(opened, SECOND, MEAN), isolated(Expectation(s.z * sigma_prime(_slope), s.z), BEND))


@functools.cache
def decomposition() -> Derivation:
    """mu11 = E sigma'', mu1' = r mu11, and E[s] = E[w s] = 0, E[s^2] = Var(sigma'|kappa) - c mu11^2."""
    curve = define(_in_kappa(s.kappa), value(MEAN), "mu1 as a function of kappa", s.kappa)
    bend = by_stein(BEND)
    slope = named_slope(s.mu1_slope, "the derivative of mu1 in kappa", slope_at(curve, s.kappa, s.kappa))
    slope = rewrite((slope, bend), True)
    mean, line = _of_rest(s.rest_mean, sp.S.One), _of_rest(s.rest_line, s.z)
    opened = rewritten(_of_rest(s.rest_square, sp.S.One, 2), isolated(s.slope_square, VARIANCE))
    square = equal(opened, s.slope_variance - s.c * s.bend**2)
    return Derivation(
        "sigma' given kappa",
        SOURCE,
        proved("The linear coefficient is an average of sigma'', by Stein's lemma.", bend),
        proved("It is what mu1 changes by.", slope),
        *each_proved("The rest has no constant and no linear part,", (mean, line)),
        proved("so its square is what mu1 and the line leave of that of sigma'.", square),
        results=(slope, mean, line, square, bend),
        hypotheses=(REGULAR,),
    )

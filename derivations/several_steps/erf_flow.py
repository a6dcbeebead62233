"""An erf student by gradient flow, batches without noise and small rates: what is conserved, and where it ends.

Its mean slope is a bell, mu1(kappa) = (2/sqrt(pi)) (1 + 2c)^(-1/2) exp(-r^2 kappa^2/(1 + 2c)), so that the stretch of a
row and the pull along the spike are multiples of each other, whatever the target.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.closed_forms.gaussian_means import mean_of_erf
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, over
from giantsteps.derivations.kernel.search.steps import equal, isolated, named, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma_prime
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import HERE, SAMPLE, SOURCE, mu1, mu11, w
from giantsteps.derivations.several_steps.fresh_batch import AVERAGES, HYPOTHESES

_ONE = sp.Integer(1)
_x = sp.Symbol("x", real=True)
_SQUARE = 2 / sp.sqrt(sp.pi) * sp.exp(-(_x**2))
ERF_SLOPE = in_model(
    "erf student", Equation(sigma_prime(_x), _SQUARE), "sigma = erf, of slope 2 exp(-x^2)/sqrt(pi)", _x
)

FLOW = "small rates and batches without noise: r, gamma and sqrt(c) move down the slope of the loss"
LEARNS = "the flow ends at the perfect fit, from no spike and rows of length one"


def _mean_of_bell(order: int) -> Theorem:
    """The derivative of E erf(x + sqrt(c) w) in x of an order, at x = r kappa."""
    theorem = over(w, mean_of_erf())
    for _ in range(order):
        theorem = differentiate((theorem,), s.x)
    return instantiate((theorem,), {s.x: s.r * s.kappa})


@functools.cache
def _bell() -> tuple[Theorem, Theorem]:
    """mu1(kappa) in closed form, and mu11(kappa) as a multiple of it."""
    slope = instantiate((ERF_SLOPE,), {_x: HERE.received()})
    mean, line = rewrite((HERE.mean_slope, slope)), rewrite((HERE.bend, slope))
    closed, tilted = rewrite((mean, _mean_of_bell(1))), _mean_of_bell(2)
    bell = value(slope)
    parts = ((-2 * sp.sqrt(s.c), w * bell), (-2 * s.r * s.kappa, bell))
    opened = rewrite((tilted, linear((), sides(tilted.statement)[0], parts)))
    opened = rewrite((opened, mean), True)
    tied = rewrite((line, isolated(Expectation(w * bell, w), opened)))
    goal = Equation(mu11(s.kappa), -2 * s.r * s.kappa * mu1(s.kappa) / (1 + 2 * s.c))
    return closed, ring((tied, closed), goal, (_ONE, -s.r * s.kappa / (s.c * (1 + 2 * s.c))))


@functools.cache
def tie() -> Derivation:
    """E[mu11 Y] = -2 r E[kappa mu1 Y]/(1 + 2c) for an erf student and any target; r^2 + c + (1/2) ln c stands still."""
    closed, tied = _bell()
    along, *_, stretch, _ = AVERAGES
    found = named(averages_expanded(rewrite((stretch, tied)), *SAMPLE), along)
    drift = define(
        s.flow_drift,
        2 * s.r * s.along + (1 + 1 / (2 * s.c)) * 2 * s.c * s.stretch,
        "by the flow d(r^2)/dt = 2 r E[kappa mu1 Y] and dc/dt = 2 c E[mu11 Y]",
    )
    still = equal(rewrite((drift, found)), sp.Integer(0))
    return Derivation(
        "what the flow of an erf student conserves",
        SOURCE,
        proved("The mean slope is a bell,", closed),
        proved("whose derivative is a multiple of kappa times it.", tied),
        proved("So a row is stretched as the spike is pulled.", found),
        proved("r^2 + c + (1/2) ln c stands still.", still),
        results=(found, still),
        hypotheses=(*HYPOTHESES, FLOW),
    )


@functools.cache
def end() -> Derivation:
    """ln c = -6 c at the end, c = W(6)/6: the perfect fit r^2 = 1 + 2c meets r^2 + c + (1/2) ln c = 1."""
    strength = sp.Symbol(r"r_{\infty}", positive=True)
    kept = hypothesis(
        "conserved", Equation(strength**2 + s.bulk_end + sp.log(s.bulk_end) / 2, _ONE), "several-steps.erf-conserved"
    )
    fit = hypothesis("perfect fit", Equation(strength**2, 1 + 2 * s.bulk_end), LEARNS)
    logarithm = ring((kept, fit), Equation(sp.log(s.bulk_end), -6 * s.bulk_end), (sp.Integer(2), -sp.Integer(2)))
    return Derivation(
        "where the flow of an erf student of an erf target ends",
        SOURCE,
        proved("What is conserved is one at the start, where r = 0 and c = 1.", kept),
        proved("mu0 = erf(r kappa/(1 + 2c)^(1/2)) is the target where r^2 = 1 + 2c.", fit),
        proved("Both together: 6 c exp(6 c) = 6, so that c = W(6)/6.", logarithm),
        hypotheses=(*HYPOTHESES, FLOW, LEARNS),
    )

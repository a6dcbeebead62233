"""The first of several steps: no spike and rows of length one give Section 12's step with any activation, and, for an
odd one, Result 3.1.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.bulk.any_activation import CURVATURE
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.gradient_step.assumptions import H1_STAR, H2_STAR, odd_at
from giantsteps.derivations.gradient_step.bulk import ODD_ACTIVATION, zero_means
from giantsteps.derivations.kernel.algebra import rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, by_stein, reflected
from giantsteps.derivations.kernel.search.steps import equal, named, rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import SAMPLE, SOURCE, START, STEP, residual, w
from giantsteps.derivations.several_steps.fresh_batch import AVERAGES, HYPOTHESES, bulk, spike

MEAN_OUTPUT = define(s_bulk.mean_output, Expectation(sigma(s.z), s.z), "the output of the network before the step")
SPREAD = define(s.h1_check, Expectation((sigma_prime(w) - s.h1) ** 2, w), "the variance of sigma'")
_Y = residual(*SAMPLE)
MOMENTS = (
    define(s_bulk.label_slope[1], Expectation(s.kappa * _Y, *SAMPLE), "E[u Y]"),
    define(s_bulk.label_moment[1], Expectation(_Y, *SAMPLE), "E[Y]"),
    define(s_bulk.label_moment[2], Expectation(_Y**2, *SAMPLE), "E[Y^2]"),
)


@functools.cache
def constants() -> tuple[Theorem, ...]:
    """mu0 = h0, mu1 = h1, mu11 = E[sigma''] and Var(sigma'|kappa) = E[(sigma' - h1)^2]: nothing depends on kappa."""
    (first,) = first_coefficient().theorems
    mean = rewrite((averages_expanded(START.mean), MEAN_OUTPUT), True)
    slope = rewrite((averages_expanded(START.mean_slope), first), True)
    bend = rewrite((by_stein(START.bend), CURVATURE), True)
    spread = rewrite((rewrite((START.slope_variance, slope)), SPREAD), True)
    return mean, slope, bend, spread


def _averages() -> tuple[Theorem, ...]:
    """What the step averages over a sample, in moments of Y; there is nothing along theta_perp, which no label sees."""
    mean, *others = constants()
    along, across, *rest = (averages_expanded(rewritten(t, *others)) for t in AVERAGES)
    nothing = averages_expanded(rewritten(across, START.residual, mean))
    return tuple(named(t, *MOMENTS) for t in (along, nothing, *rest))


def _names() -> tuple[sp.Expr, sp.Expr]:
    """|w_Y|^2 = E[Y u]^2 + E[Y^2]/alpha0, and c with the variance of sigma'."""
    square = s_bulk.label_slope[1] ** 2 + s_bulk.label_moment[2] / s.alpha0
    kept = (1 + STEP * s_bulk.curvature * s_bulk.label_moment[1]) ** 2
    return square, kept + STEP**2 * s.h1_check * s_bulk.label_moment[2] / s.alpha0


@functools.cache
def any_activation() -> Derivation:
    """r', gamma' and c' of the first step, with any activation."""
    known = _averages()
    square, length = _names()
    strength, overlap, row = (
        rewritten(build(START).theorem_of(x), *known)
        for build, x in ((spike, s.square_next), (spike, s.overlap_next), (bulk, s.c_next))
    )
    strength = equal(strength, STEP**2 * s.h1**2 * square)
    return Derivation(
        "the first step, with any activation",
        SOURCE,
        *spike(START).steps,
        *bulk(START).steps,
        *each_proved("Without a spike nothing depends on kappa.", constants()),
        *each_proved("So the averages over a sample are moments of its label.", known),
        proved("The squared spike is e^2 h1^2 |w_Y|^2,", strength),
        proved("its overlap with the target e h1 E[Y u],", overlap),
        proved("and the bulk that of Section 12.", equal(row, length)),
        results=(strength, overlap, equal(row, length)),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def odd() -> Derivation:
    """r', gamma' and c' of the first step, for an odd activation: Result 3.1."""
    average = Expectation(sigma(s.z), s.z)
    turned = averages_expanded(rewrite((reflected(average, s.z), odd_at(s.z))))
    centred = rewrite((MEAN_OUTPUT, ring((turned,), Equation(average, sp.Integer(0)), (sp.Rational(1, 2),))))
    flat = rewrite((CURVATURE, zero_means().theorems[2]))
    label = rewrite((rewrite((START.residual, constants()[0])), centred))
    slope, _, moment = (named(averages_expanded(rewrite((t, label))), H1_STAR, H2_STAR) for t in MOMENTS)
    general = any_activation()
    strength, overlap, row = (
        rewritten(general.theorem_of(x), slope, moment, flat) for x in (s.square_next, s.overlap_next, s.c_next)
    )
    return Derivation(
        "the first step, for an odd activation",
        SOURCE,
        *general.steps,
        proved("sigma is odd, so its mean is zero,", centred),
        *each_proved("and so is that of sigma''.", (*zero_means().theorems[1:3], flat)),
        proved("The step sees the label itself: E[Y u] is its first Hermite coefficient,", slope),
        proved("and E[Y^2] its second moment.", moment),
        *each_proved("Result 3.1.", (strength, overlap, row)),
        results=(strength, overlap, row),
        hypotheses=(*HYPOTHESES, ODD_ACTIVATION),
    )

r"""What several steps do together: gradient descent on the error of the best approximation, and the noise of batches.

The loss is l(rho, q) = (1/2) E (y - (P_{q^2} sigma)(rho.x))^2, rho in the plane of spike and target, q = sqrt(c). A
step is one of rate e on it, with the batch's noise added to the squares; a perfect fit switches both off.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step.assumptions import H1_STAR
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import equal, isolated, named, named_slope, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, sigma_prime, with_slopes
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import HERE, SAMPLE, SOURCE, STEP, Before, mu0, mu1, residual, w
from giantsteps.derivations.several_steps.fresh_batch import AVERAGES, HYPOTHESES, bulk, spike

_place, _hole = sp.symbols("a hole", real=True)
_along, _across, _width = (with_slopes(f"ell_{name}", 1)[0] for name in ("a", "b", "q"))

MEAN_SLOPE = define(s.slope_mean, Expectation(mu1(s.z), s.z), "the mean of sigma' over inputs and rows")

SMOOTH_LOSS = "the loss may be differentiated under its averages"


def _slope_of_loss(curve: sp.FunctionClass, name: sp.Symbol, received: sp.Expr, at: sp.Expr, seen: Theorem) -> Theorem:
    """``name`` for the slope of the loss at a place, in averages over a sample; ``received`` is what a neuron receives
    there, ``seen`` what the mean of its slope over the rows is.
    """
    squared = (HERE.label - Expectation(sigma(received), w)) ** 2
    loss = define(curve(_place), Expectation(squared, *SAMPLE) / 2, "half the mean squared error", _place)
    slope = instantiate((differentiate((loss,), _place),), {_place: at})
    label = isolated(g(HERE.target), HERE.residual)
    opened = averages_expanded(rewrite((rewrite((named(slope, HERE.mean), label)), seen)))
    return named_slope(name, "the slope of the loss", named(opened, *AVERAGES))


@functools.cache
def slopes() -> tuple[Theorem, Theorem, Theorem]:
    """The slopes of the loss in the spike along v, across it, and in the width of the bulk."""
    own, width, there = sp.sqrt(s.c) * w, sp.sqrt(s.c), s.r * s.kappa
    slope = sigma_prime(HERE.received())

    def times(weight: sp.Symbol) -> Theorem:
        pulled = linear((), Expectation(weight * slope, w), ((weight, slope),))
        return rewrite((pulled, HERE.mean_slope), True)

    line = isolated(Expectation(w * slope, w), HERE.bend)
    return (
        _slope_of_loss(_along, s.loss_along, _place * s.kappa + own, s.r, times(s.kappa)),
        _slope_of_loss(_across, s.loss_across, there + _place * s.z + own, sp.S.Zero, times(s.z)),
        _slope_of_loss(_width, s.loss_width, there + _place * w, width, line),
    )


@functools.cache
def descent() -> Derivation:
    """r'^2 = (r - e dl/da)^2 + (e dl/db)^2 + noise, r' gamma' likewise, c' = (sqrt(c) - e dl/dq)^2 + noise."""
    found = slopes()
    known = [isolated(x, t) for x, t in zip((s.along, s.across, s.stretch), found, strict=True)]
    square, overlap, row = (
        rewritten(build().theorem_of(x), *known)
        for build, x in ((spike, s.square_next), (spike, s.overlap_next), (bulk, s.c_next))
    )
    row = equal(row, (sp.sqrt(s.c) - STEP * s.loss_width) ** 2 + STEP**2 * s.row_noise / s.alpha0)
    return Derivation(
        "a step is one of gradient descent",
        SOURCE,
        *spike().steps,
        *bulk().steps,
        *each_proved("The slopes of the loss are the averages that the step takes.", found),
        *each_proved("So the step descends on it, and its batch adds noise to squares.", (square, overlap, row)),
        results=(square, overlap, row, *found),
        hypotheses=(*HYPOTHESES, SMOOTH_LOSS),
    )


@functools.cache
def perfect_fit() -> Derivation:
    """Where the target is mu0 along the spike and labels have no noise, a step moves nothing, whatever its batch."""
    fit = Before(alignment=sp.S.One, noise=sp.S.Zero)
    said = in_model("perfect fit", Equation(g(s.kappa), mu0(s.kappa)), "the network says the target", s.kappa)
    nothing = rewrite((fit.residual, said))
    zero = [averages_expanded(rewrite((t, nothing))) if value(t).has(residual) else t for t in AVERAGES]
    square, row = (
        rewritten(build(fit).theorem_of(x), *zero) for build, x in ((spike, s.square_next), (bulk, s.c_next))
    )
    return Derivation(
        "a perfect fit",
        SOURCE,
        *spike(fit).steps,
        *bulk(fit).steps,
        proved("The residual is zero for every sample,", nothing),
        *each_proved("and so is whatever is averaged with it, the noise of the batch too.", zero),
        *each_proved("Nothing moves.", (square, row)),
        results=(square, row),
        hypotheses=HYPOTHESES,
    )


_batches = sp.Symbol("N_d", positive=True)  # 1/alpha0, batches for each dimension
FEW = define(s.alpha0, 1 / _batches, "alpha0 -> 0: one sample for N dimensions")
RATE = define(s.eta, s.small_rate * s.beta * s.alpha0, "eta/beta = epsilon alpha0")


@functools.cache
def one_pass() -> Derivation:
    """As alpha0 -> 0 at a rate epsilon alpha0: the equations of one-pass stochastic gradient descent."""
    drifts = []
    for name, build, x, before in (
        (s.spike_drift, spike, s.square_next, s.r**2),
        (s.overlap_drift, spike, s.overlap_next, s.r * s.gamma),
        (s.bulk_drift, bulk, s.c_next, s.c),
    ):
        after = rewritten(build().theorem_of(x), RATE, FEW)
        moved = congruence((after,), (_hole - before) * _batches, _hole)
        drifts.append(name_limit((rewrite((limit_of(value(moved), _batches), moved), True),), name, "per sample"))
    return Derivation(
        "many small batches",
        SOURCE,
        *spike().steps,
        *bulk().steps,
        *each_proved("At a rate epsilon alpha0 the change over alpha0 has a limit for small batches.", drifts),
        results=drifts,
        hypotheses=HYPOTHESES,
    )


@functools.cache
def start_of_the_alignment() -> Derivation:
    """From gamma = 0 the overlap with the target after the step is e h1* E[mu1]: none, without a first coefficient."""
    blind = Before(alignment=sp.S.Zero)
    across = AVERAGES[1]
    opened = named(averages_expanded(rewrite((across, blind.residual))), H1_STAR, MEAN_SLOPE)
    overlap = rewritten(spike(blind).theorem_of(s.overlap_next), opened)
    return Derivation(
        "how the alignment starts",
        SOURCE,
        *spike(blind).steps,
        proved("kappa is independent of the target, so its first coefficient alone is met.", opened),
        proved("The overlap with the target.", overlap),
        hypotheses=HYPOTHESES,
    )

r"""One more step on a fresh batch: spike, alignment and bulk after it. Beyond the paper.

The step adds (e/n0) sum_mu Y_mu sigma'(r kappa + b.x) x to a row r v + b, e = eta/beta and Y = y - mu0(kappa). Its mean
over the rows, with mu1(kappa) in place of sigma', moves the spike; the rest, Y (sigma' - mu1), moves the bulk. Both are
sums over independent samples: their mean squares are exact at finite n0 and d, and have limits at n0 = alpha0 d.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step.assumptions import concentrates
from giantsteps.derivations.gradient_step.overlapping_rows import over_own_view
from giantsteps.derivations.gradient_step.spike import SELF_AVERAGING, evaluated, squared_length, tends_to
from giantsteps.derivations.kernel.algebra import congruence, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, named, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import (
    HERE,
    SAMPLE,
    SEEN,
    SOURCE,
    STEP,
    Before,
    force,
    mu1,
    mu11,
    residual,
    variance,
    w,
)

_t = sp.Symbol("t", real=True)  # a coordinate of a sample across all others
_hole = sp.Symbol("hole", real=True)

FRESH = "the batch is fresh: its samples are independent of the rows"
OUTPUT = (
    "the output of the network on a fresh sample is mu0(kappa) up to O(d^(-1/2)), which moves the step by a relative "
    "O(d^(-1/2))"
)
ACROSS = "a bulk row is across the spike and the target up to overlaps O(d^(-1/2)), and its squared norm is c"
MANY_ROWS = "averages over the rows are averages over w = b.x/sqrt(c), a standard normal variable"
HYPOTHESES = (FRESH, OUTPUT, ACROSS, MANY_ROWS, SELF_AVERAGING)

_Y, _pull = residual(*SAMPLE), residual(*SAMPLE) * mu1(s.kappa)
AVERAGES = (
    define(s.along, Expectation(s.kappa * _pull, *SAMPLE), "E[kappa mu1 Y]"),
    define(s.across, Expectation(s.z * _pull, *SAMPLE), "E[z mu1 Y]"),
    define(s.spike_noise, Expectation(_pull**2, *SAMPLE), "E[mu1^2 Y^2]"),
    define(s.stretch, Expectation(mu11(s.kappa) * _Y, *SAMPLE), "E[mu11 Y]"),
    define(s.row_noise, Expectation(variance(s.kappa) * _Y**2, *SAMPLE), "E[Y^2 Var(sigma'|kappa)]"),
)


def _planar(name: sp.Symbol, pull: sp.Expr, draws: tuple[sp.Symbol, ...], *tied: sp.Symbol) -> Theorem:
    """``name`` for E[pull^2 |x|^2] in the plane of the tied coordinates, its average expanded."""
    return averages_expanded(define(name, Expectation(pull**2 * sum(x**2 for x in tied), *draws), "of one sample"))


def _collected(exact: Theorem, planar: Theorem, result: sp.Expr) -> Theorem:
    """``exact`` with a name for the average in the plane, written as ``result``."""
    name, _ = sides(exact.statement)
    return ring((exact, planar), Equation(name, result), (sp.Integer(1), -(STEP**2) / s.n0))


@functools.cache
def spike(before: Before = HERE) -> Derivation:
    """E|rho'|^2 at finite n0 and d, r' and gamma'; rho' = r v + (e/n0) sum Y mu1 x."""
    pull, tied = value(before.mean_slope) * _Y, (s.kappa, s.z)
    meaning = define(
        s.spike_square,
        before.spike**2
        + 2 * before.spike * STEP * Expectation(s.kappa * pull, *SAMPLE)
        + STEP**2 * squared_length(pull, tied, (*SAMPLE, _t), _t),
        "E|r v + (e/n0) sum Y E[sigma'] x|^2, the square of a sum, sigma' averaged over the rows",
    )
    planar = _planar(s.spike_planar, _pull, SAMPLE, *tied)
    opened = evaluated(rewrite((meaning, before.mean_slope), True), *AVERAGES)
    forward, kept = before.spike + STEP * s.along, 1 - 1 / s.n0
    once = ((s.d - 2) * s.spike_noise + s.spike_planar) / s.n0
    mean = before.spike**2 + 2 * before.spike * STEP * s.along
    exact = _collected(opened, planar, mean + STEP**2 * (kept * (s.along**2 + s.across**2) + once))
    limit = name_limit((tends_to(exact),), s.square_next, "the limit of E|rho'|^2")
    square = equal(limit, forward**2 + STEP**2 * (s.across**2 + s.spike_noise / s.alpha0))
    norm = concentrates("|rho'|", Equation(s.r_next**2, s.square_next), SELF_AVERAGING)
    root = congruence((norm,), sp.sqrt(_hole), _hole)
    strength = rewrite((root, square))
    beside = sp.sqrt(1 - before.alignment**2)
    target = define(
        s.overlap_next,
        before.alignment * (before.spike + STEP * Expectation(s.kappa * _pull, *SAMPLE))
        + beside * STEP * Expectation(s.z * _pull, *SAMPLE),
        "theta.rho', theta = gamma v + sqrt(1 - gamma^2) theta_perp, a mean over samples",
    )
    overlap = named(averages_expanded(target), *AVERAGES)
    overlap = equal(overlap, before.alignment * forward + beside * STEP * s.across)
    cosine = define(s.gamma_next, s.overlap_next / s.r_next, "theta.rho' over the length of rho'")
    alignment = rewritten(cosine, overlap, strength)
    return Derivation(
        "the spike after one more step",
        SOURCE,
        proved("The mean row moves by (e/n0) sum Y mu1 x: sigma' is averaged over the rows.", before.mean_slope),
        proved("Equal samples give E[Y^2 mu1^2 |x|^2], different ones the square of E[Y mu1 x],", meaning),
        proved("which lies in the plane of the spike and the target; the spike itself meets every sample once.", exact),
        proved("In the limit: the mean force in that plane, and the noise of the batch across it.", square),
        proved("The length of the mean row concentrates.", strength),
        proved("Along the target the batch has no noise,", overlap),
        proved("over the length.", alignment),
        results=(exact, square, strength, overlap, alignment),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def bulk(before: Before = HERE) -> Derivation:
    """E|b'|^2 at finite n0 and d, and c'; b' = b + (e/n0) sum Y (sigma' - mu1) x, b across spike and target."""
    tied, pull = (s.kappa, s.z, w), force(*SEEN)
    root = sp.sqrt(before.bulk)
    meaning = define(
        s.row_square,
        before.bulk
        + 2 * root * STEP * Expectation(w * pull, *SEEN)
        + STEP**2 * squared_length(pull, tied, (*SEEN, _t), _t),
        "E|b + (e/n0) sum Y (sigma' - mu1) x|^2, the square of a sum",
    )
    planar = _planar(s.row_planar, pull, SEEN, *tied)
    moved = (before.moved(s.kappa), before.moved(s.z), before.moved(w), before.moved(sp.S.One, 2))
    opened = named(rewritten(evaluated(meaning), *moved), *AVERAGES)
    once = ((s.d - 3) * s.row_noise + s.row_planar) / s.n0
    mean = before.bulk * (1 + 2 * STEP * s.stretch)
    kept = before.bulk * (1 - 1 / s.n0) * s.stretch**2
    exact = _collected(opened, planar, mean + STEP**2 * (kept + once))
    limit = name_limit((tends_to(exact),), s.c_next, "the limit of E|b'|^2")
    form = equal(limit, before.bulk * (1 + STEP * s.stretch) ** 2 + STEP**2 * s.row_noise / s.alpha0)
    return Derivation(
        "the bulk after one more step",
        SOURCE,
        proved("What moves a bulk row: the residual times sigma' less its mean over the rows.", before.force),
        *each_proved("Given kappa, what sigma' has beyond its mean.", before.views),
        *each_proved("So of the averages over a sample only those along the row and the square are left.", moved[2:]),
        proved("Equal samples give E[f^2 |x|^2], different ones the square of E[f x], along the row,", exact),
        proved("In the limit: the row is stretched, and gets the noise of the batch.", form),
        results=(exact, form),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def both() -> Derivation:
    """r'^2 + c': the batch adds (e^2/alpha0) E[Y^2 sigma'^2] to the squared length of a row of the first layer."""
    square, length = spike().theorem_of(s.square_next), bulk().theorem_of(s.c_next)
    slope, row = HERE.slope, s.kappa
    mean, variance_ = HERE.mean_slope, HERE.slope_variance
    parts = ((sp.Integer(1), slope**2), (-2 * mu1(row), slope), (mu1(row) ** 2, sp.Integer(1)))
    opened = rewrite((rewrite((variance_, linear((), value(variance_), parts))), mean), True)
    second = Expectation(slope**2, w)
    known = ring((opened,), Equation(second, variance(row) + mu1(row) ** 2), (-sp.Integer(1),))
    meaning = define(s.whole_noise, Expectation(_Y**2 * slope**2, *SEEN), "E[Y^2 sigma'^2] over samples and rows")
    whole = named(averages_expanded(rewrite((meaning, over_own_view(_Y**2, slope**2, known, SAMPLE, w)))), *AVERAGES)
    total = define(s.layer_next, s.square_next + s.c_next, "the squared length of a row")
    noiseless = (s.r + STEP * s.along) ** 2 + STEP**2 * s.across**2 + s.c * (1 + STEP * s.stretch) ** 2
    result = noiseless + STEP**2 * s.whole_noise / s.alpha0
    split = ring((whole,), Equation(s.row_noise, s.whole_noise - s.spike_noise), (-sp.Integer(1),))
    return Derivation(
        "the noise of a batch in a row of the first layer",
        SOURCE,
        *spike().steps,
        *bulk().steps,
        proved("The second moment of sigma' given kappa is its variance and the square of its mean.", known),
        proved("So the noise of the whole row is that of the spike and that of the bulk.", whole),
        proved("The sum.", equal(rewritten(total, square, length, split), result)),
        hypotheses=HYPOTHESES,
    )

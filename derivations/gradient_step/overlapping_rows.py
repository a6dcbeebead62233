r"""One gradient step from initial rows with a mutual overlap. Beyond the paper, whose rows are nearly orthogonal.

The rows are w_k = sqrt(o) e + sqrt(1 - o) u_k with |e| = |u_k| = 1, u_k.e = 0 and e.theta = 0. A sample is seen by a
neuron as h = sqrt(o) t + sqrt(1 - o) z, t = e.x common to all of them and z = u_k.x its own. Averages over the neurons
are averages over z at given t,

    F(t) = E_z sigma(h),   G(t) = E_z sigma'(h),   K(t) = E_z sigma''(h),   H(t) = E_z (sigma'(h) - G)^2,

and the step of rate eps = eta/beta adds eps (1/n0) sum (y - F(t)) sigma'(h) x to a row: its mean over the neurons makes
the spike, what is left of it the bulk. Every limit below is one of a rational function of d at n0 = alpha0 d.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.gradient_step.assumptions import H1_STAR, H2_STAR, concentrates
from giantsteps.derivations.gradient_step.spike import (
    SELF_AVERAGING,
    counted,
    evaluated,
    label,
    squared_length,
    tends_to,
)
from giantsteps.derivations.kernel.algebra import congruence, rewrite, ring
from giantsteps.derivations.kernel.averages import average, independent, iterated, linear, moment, rotate, stein
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expansion
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma_prime, sigma_second

SOURCE = "beyond the paper: initial rows that overlap"

STEP = s.eta / s.beta

output = sp.Function("F_0", real=True)
slope = sp.Function("G_0", real=True)
curvature = sp.Function("K_0", real=True)
scatter = sp.Function("H_0", real=True)

_u, _t, _e = sp.symbols("u t e", real=True)  # theta.x, e.x, label noise of unit variance
_w = sp.Symbol("w", real=True)  # a coordinate of a sample across theta, e and u_k
_hole = sp.Symbol("hole", real=True)
_length = sp.Symbol(r"|\bar{w}|", positive=True)
# Averages and limits on the way.
_opened, _square, _common, _target = sp.symbols(
    r"|\bar{w}|^{2} \mathbb{E}[(y-F)^{2}G^{2}] \mathbb{E}[(y-F)tG] \theta\cdot{V}", real=True
)
_moved, _turning, _spread = sp.symbols(r"|\delta|^{2} \mathbb{E}[(y-F)K] \mathbb{E}[(y-F)^{2}H]", real=True)


def at_ratio(expression: sp.Expr) -> sp.Expr:
    """n0 = alpha0 d."""
    return sp.expand(expression.subs(s.n0, s.alpha0 * s.d))


OTHER_ROWS = (
    "averages over the neurons are averages over z = u_k.x at given t = e.x: the rows u_k are many and nearly "
    "orthogonal"
)
GIVEN_A_ROW = "a row's own view z of a sample is independent of theta.x and e.x, up to correlations O(d^(-1/2))"


def residual() -> sp.Expr:
    """y - F(t), y = g(u) + sqrt(Delta) e."""
    return label(s.noise, _u, _e) - output(_t)


def overlap_of_views() -> sp.Expr:
    """h = sqrt(o) t + sqrt(1 - o) z."""
    return sp.sqrt(s.row_overlap) * _t + sp.sqrt(1 - s.row_overlap) * s.z


SLOPE = define(slope(_t), Expectation(sigma_prime(overlap_of_views()), s.z), "the mean of sigma' over the neurons", _t)
CURVATURE = define(
    curvature(_t), Expectation(sigma_second(overlap_of_views()), s.z), "the mean of sigma'' over the neurons", _t
)
SCATTER = define(
    scatter(_t),
    Expectation((sigma_prime(overlap_of_views()) - slope(_t)) ** 2, s.z),
    "the variance of sigma' over the neurons",
    _t,
)


@functools.cache
def mean_slope() -> Theorem:
    """h1 = E G: a neuron sees a standard normal variable, so the mean of G over t is that of sigma'."""
    along, across = sp.sqrt(s.row_overlap), sp.sqrt(1 - s.row_overlap)
    over_both = Expectation(sigma_prime(overlap_of_views()), s.z, _t)
    nested = rewrite((average((SLOPE,), (_t,)), iterated((), over_both, (s.z,))), True)
    turned = rotate((), over_both, (_u, _w), ((across, -along), (along, across)))
    (seen,) = value(turned).integrand.args
    one = rewritten(nested, turned, ring((), Equation(seen, _u), ()))
    named = rewrite((averages_expanded(one), *first_coefficient().theorems), True)
    mean = Expectation(slope(_t), _t)
    return averages_expanded(ring((named,), Equation(s.h1, mean), (sp.Integer(-1),)))


def length_square(force: sp.Expr, *tied: sp.Symbol) -> sp.Expr:
    """E|(1/n0) sum f x|^2 over pairs of samples, for coordinates ``tied`` to f."""
    return squared_length(force, tied, (_u, _t, _e, s.z, _w), _w)


@functools.cache
def spike_of_step() -> Derivation:
    """r and gamma: the mean row sqrt(o) e + eps (1/n0) sum (y - F) G x, along e, along theta and across both."""
    draws = (_u, _t, _e)
    force, root = residual() * slope(_t), sp.sqrt(s.row_overlap)
    named = (mean_slope(), H1_STAR, H2_STAR)
    along_common, along_target = Expectation(force * _t, *draws), Expectation(force * _u, *draws)
    square = averages_expanded(define(_square, Expectation(force**2, *draws), "E[(y - F)^2 G^2]"))
    square = rewrite((square, H2_STAR), True)
    length = evaluated(
        define(
            sp.Symbol(r"\langle|\tilde{V}|^{2}\rangle", real=True),
            length_square(force, _u, _t),
            "E|V|^2 of the step of the mean row over pairs of samples, V = (1/n0) sum (y - F) G x",
        ),
        *named,
    )
    limit = name_limit((tends_to(length),), s.mean_step_square, "the limit of E|V|^2")
    opened = evaluated(
        define(
            _opened,
            s.row_overlap + 2 * root * STEP * along_common + STEP**2 * s.mean_step_square,
            "|sqrt(o) e + eps V|^2 in the limit, a square of a sum",
        ),
        *named,
    )
    common = evaluated(define(_common, along_common, "E[(y - F) t G]"), *named)
    collected = (root + STEP * value(common)) ** 2 + STEP**2 * (s.h1**2 * s.h1_star**2 + value(square) / s.alpha0)
    whole = equal(rewritten(opened, limit), collected)
    known = concentrates("the mean row", Equation(_length**2, _opened), SELF_AVERAGING)
    norm = rewrite((congruence((known,), sp.sqrt(_hole), _hole), whole))
    strength = rewrite((define(s.r, _length, "the length of the mean row"), norm))
    target = evaluated(define(_target, along_target, "theta.V in the limit"), *named)
    alignment = define(s.gamma, STEP * _target / _length, "the overlap of theta with the normalised mean row")
    overlap = rewritten(alignment, target, norm)
    return Derivation(
        "spike and alignment from overlapping rows",
        SOURCE,
        *first_coefficient().steps,
        proved(
            "A neuron sees a standard normal variable: the mean of G over t is that of sigma', which is h1.",
            mean_slope(),
        ),
        proved(
            "The mean row is moved by eps V, V = (1/n0) sum (y - F) G x: equal samples give E[(y - F)^2 G^2] per "
            "coordinate, different ones the squares of E[(y - F) t G] along e and of E[y u] E[G] along theta.",
            limit,
        ),
        proved("With sqrt(o) e before the step, which only the part of V along e meets.", whole),
        proved("The spike is as long as the mean row.", strength),
        proved("Along theta, only the label's linear part is met,", target),
        proved("over the length.", overlap),
        results=(strength, overlap),
        hypotheses=(OTHER_ROWS, SELF_AVERAGING, *first_coefficient().hypotheses),
    )


def over_own_view(
    weight: sp.Expr, of_view: sp.Expr, named: Theorem, draws: tuple[sp.Symbol, ...] = (_u, _t, _e), own: sp.Symbol = s.z
) -> Theorem:
    """E[weight f(z, t)] = E[weight name(t)], where ``named`` says what the average of f over z, a row's ``own`` view of
    a sample, is; ``draws`` are what else the sample is made of.
    """
    whole = Expectation(weight * of_view, *draws, own)
    nested = iterated((), whole, (own,))
    pulled = linear((), Expectation(weight * of_view, own), ((weight, of_view),))
    return rewritten(nested, pulled, named)


@functools.cache
def views() -> tuple[Theorem, Theorem, Theorem]:
    """Over a neuron's own view z at given t: sigma' - G averages to zero, its square to H, z times it to
    sqrt(1 - o) K.
    """
    centred, share = sigma_prime(overlap_of_views()) - slope(_t), sp.sqrt(1 - s.row_overlap)
    opened = expansion(Expectation(centred, s.z))
    mean = rewrite((opened, SLOPE), True)
    square = ring((SCATTER,), Equation(value(SCATTER), scatter(_t)), (sp.Integer(-1),))
    weighted = averages_expanded(stein((), Expectation(s.z * centred, s.z), s.z, centred))
    turned = rewrite((weighted, CURVATURE), True)
    return mean, square, equal(turned, share * curvature(_t))


@functools.cache
def bulk_of_step() -> Derivation:
    """c: what is left of a row, sqrt(1 - o) u_k + eps (1/n0) sum (y - F) (sigma'(h) - G) x."""
    share = 1 - s.row_overlap
    mean, square, weighted = views()
    centred = sigma_prime(overlap_of_views()) - slope(_t)
    force, draws = residual() * centred, (_u, _t, _e, s.z)
    along_row = over_own_view(residual(), s.z * centred, weighted)
    scattered = over_own_view(residual() ** 2, centred**2, square)
    across = (
        alone(Expectation(force**2 * _w**2, *draws, _w), force**2, 2),
        alone(Expectation(force * _w, *draws, _w), force, 1),
    )
    meaning = define(
        sp.Symbol(r"\langle|\delta|^{2}\rangle", real=True),
        length_square(force, _u, _t, s.z),
        "E|(1/n0) sum (y - F) (sigma' - G) x|^2 over pairs of samples",
    )
    nothing = [over_own_view(residual() * x, centred, mean) for x in (_u, _t)]
    exact = rewritten(counted(meaning), *across, *nothing, along_row, scattered)
    noise, kept = value(scattered), value(along_row)
    limit = name_limit((tends_to(exact, noise / s.alpha0 + kept**2),), _moved, "the limit of its squared length")
    opened = define(
        s.c,
        share + 2 * sp.sqrt(share) * STEP * Expectation(force * s.z, *draws) + STEP**2 * _moved,
        "the limit of |sqrt(1 - o) u_k + eps (1/n0) sum (y - F) (sigma' - G) x|^2, the square of a sum",
    )
    row = evaluated(rewritten(opened, limit, along_row), H2_STAR)
    turning = evaluated(define(_turning, Expectation(residual() * curvature(_t), _u, _t, _e), "E[(y - F) K]"))
    spread = evaluated(
        define(_spread, Expectation(residual() ** 2 * scatter(_t), _u, _t, _e), "E[(y - F)^2 H]"), H2_STAR
    )
    result = equal(row, share * (1 + STEP * value(turning)) ** 2 + STEP**2 * value(spread) / s.alpha0)
    return Derivation(
        "the bulk from overlapping rows",
        SOURCE,
        proved("Over the neurons sigma' - G has mean zero,", mean),
        proved("and along u_k, by Stein's lemma, E_z[z sigma'(h)] = sqrt(1 - o) K(t), as G does not see z.", weighted),
        proved("Equal samples give E[(y - F)^2 H] per coordinate,", scattered),
        proved("different ones the square of sqrt(1 - o) E[(y - F) K] along u_k.", along_row),
        proved("Along e and theta sigma' - G averages to zero over z: the limit of the correction's length.", limit),
        proved("The row itself is met by its part along u_k.", result),
        hypotheses=(OTHER_ROWS, GIVEN_A_ROW, SELF_AVERAGING),
    )


def alone(average_: sp.Expr, rest: sp.Expr, power: int) -> Theorem:
    """E[f w^k] = E[f] E[w^k] for a coordinate w of which f does not speak."""
    return rewritten(independent((), average_, rest, _w**power), moment((), _w, power))

"""Spike, alignment and bulk after two gradient steps on the same batch.

Leave one sample out: with u = theta.x, w along the rest of v_1 = w_Y/|w_Y| and X, t of a row, independent standard
normal variables, the preactivation of a row at that sample after the first step, of rate e, is

    h = r_1 kappa + (1 + e E[sigma''] E[Y]) X + n_b t + (e/alpha0) Y sigma'(X),
    kappa = gamma_1 u + sqrt(1 - gamma_1^2) w,
    Y = y - E[sigma],  s = sigma'(X) - h1,  n_Y^2 = E[Y^2]/alpha0,  n_b^2 = e^2 E[Y^2] E[s^2]/alpha0,

since the sample itself was in the batch. Over rows (X, t) it has Phi = E sigma(h) and m = E sigma'(h). With e' the rate
of the second step and

    S = e h1 Y + e' (y - Phi) m,    S_k = e Y s + e' (y - Phi) (sigma'(h) - m),    A_k = e Y s,

    r_2^2 = E[S u]^2 + E[S w]^2 + 2 E[S w] E[S Y]/(alpha0 n_Y) + E[S^2]/alpha0,    r_2 gamma_2 = E[S u],
    c_2   = (1 + E[S_k X])^2 + E[S_k t]^2 + 2 E[S_k t] E[S_k A_k]/(alpha0 n_b) + E[S_k^2]/alpha0.

The rows are not free of the batch: what they are like beside (r, gamma, c) is not known.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.line_moments import on_line
from giantsteps.numerics.gaussian.nodes import even_steps
from giantsteps.numerics.gaussian.quadrature import (
    FINER,
    ROUNDING,
    WIDEST_STEP,
    Integrand,
    integrand,
    mean_and_slope_moments,
    settled_level,
    slope_integrand,
)
from giantsteps.numerics.gaussian.spike_rule import Rule, layers, spacing, spike_rule
from giantsteps.numerics.gradient_steps.batches import State
from giantsteps.numerics.gradient_steps.recursion import Reached, Step, apart, relative

Array = NDArray[np.float64]

# Rules reach this far, exp(-40) = 4e-18 of the density; functions of the sample have this step, of the row that one.
_REACH, _OUTER_STEP, _ROW_STEP = 9.0, 0.5, 0.4
# Joint nodes of less weight are dropped: together they weigh less than rounding.
_NO_WEIGHT = 1e-18
# Values of a function of the preactivation that are computed together, and all of them at most.
_AT_ONCE, _MOST = 1 << 17, 1 << 25
# Two rules that agree to this leave little but rounding in the finer one: of a rule nearly twice as fine the error is
# nearly the square of the coarser one's, and its power 3/2 is claimed. The last rules may differ by that much.
_AGREEMENT, _MOST_LEFT = 1e-7, 1e-6
_MOST_REFINED = 4
# How far an error of the first step moves the second, at most, by the settings that were tried: twice.
_PASSED_ON = 10.0


class _Samples(NamedTuple):
    """A rule for a sample: u, w, y with its noise, and the weight, (N,) each."""

    u: Array
    w: Array
    y: Array
    weights: Array


class _Rows(NamedTuple):
    """Averages over the rows at each sample, (N,): sigma(h), sigma'(h), and of sigma'(h) times itself, s, X and t."""

    output: Array
    slope: Array
    square: Array
    own: Array
    along: Array
    noise: Array


@lru_cache(maxsize=64)
def same_batch(
    activation: Activation,
    target: Activation,
    steps: tuple[Step, Step],
    beta: float,
    noise: float,
    first: tuple[State, State],
) -> tuple[Reached, Reached]:
    """The states after both steps, with errors; `first` are state and errors after the first.

    Raises ExpressionError where the averages do not settle.
    """
    coarse = _second(activation, target, steps, beta, noise, first[0], 0)
    for refine in range(1, _MOST_REFINED + 1):
        fine = _second(activation, target, steps, beta, noise, first[0], refine)
        left = apart(coarse, fine)
        if left <= _AGREEMENT:
            break
        coarse = fine
    if not left <= _MOST_LEFT:
        raise ExpressionError(
            f"the averages of a second step on the same batch do not settle ({left:.1g} of their size is left); use a "
            "larger eta, or a smoother activation such as tanh(z)"
        )
    share = left**1.5 + _PASSED_ON * (relative(first[1], first[0]) + ROUNDING)
    before = first[0].spike
    errors = State(share * fine.spike, share, share * fine.bulk)
    return Reached(*first, math.inf), Reached(fine, errors, fine.spike / abs(before) if before else math.inf)


def _second(
    activation: Activation, target: Activation, steps: tuple[Step, Step], beta: float, noise: float, first: State,
    refine: int,
) -> State:  # fmt: skip
    """The state after the second step, by rules refined so many times."""
    student, teacher = hermite_constants(activation), hermite_constants(target)
    (alpha0, before), (_, after) = steps
    e, f = before / beta, after / beta
    mean = teacher.mean - student.mean
    square = max(teacher.h2 - teacher.mean**2, 0.0) + mean**2 + noise
    scatter = e * math.sqrt(square * student.h1_check / alpha0)
    sample = _samples(integrand(target), noise, refine)
    residual = sample.y - student.mean
    kappa = first.alignment * sample.u + math.sqrt(first.remainder) * sample.w
    rows = _rows(
        activation, first.spike * kappa, 1.0 + e * student.curvature * mean, e / alpha0 * residual, scatter, student.h1,
        refine,
    )  # fmt: skip
    left = f * (sample.y - rows.output)
    pulled = e * student.h1 * residual + left * rows.slope

    def average(values: Array) -> float:
        return float(sample.weights @ values)

    along, across = average(pulled * sample.u), average(pulled * sample.w)
    spike = along**2 + across**2 + average(pulled**2) / alpha0
    spike += 2.0 * across * average(pulled * residual) / math.sqrt(alpha0 * square) if square > 0.0 else 0.0
    turned = e * student.curvature * mean + average(left * rows.along)
    noisy = average(left * rows.noise)
    cross = e * average(left * residual * rows.own)
    own = e**2 * square * student.h1_check
    bulk = (1.0 + turned) ** 2 + noisy**2
    bulk += 2.0 * noisy * (own + cross) / (alpha0 * scatter) if scatter > 0.0 else 0.0
    bulk += (own + 2.0 * cross + average(left**2 * (rows.square - rows.slope**2))) / alpha0
    size = math.sqrt(max(spike, 0.0))
    return State(size, min(max(along / size, -1.0), 1.0) if size else 0.0, bulk)


def _samples(teacher: Integrand, noise: float, refine: int) -> _Samples:
    """Products of a rule for u, right at the target's kinks and jumps, for w and for the noise of the label."""
    u, at_u = _along(teacher, _OUTER_STEP, refine)
    step = _OUTER_STEP / FINER**refine
    w, at_w = even_steps(step, math.ceil(_REACH / step))
    e, at_e = even_steps(step, math.ceil(_REACH / step)) if noise > 0.0 else (np.zeros(1), np.ones(1))
    weights = (at_u[:, None, None] * at_w[:, None] * at_e).ravel()
    kept = np.flatnonzero(weights > _NO_WEIGHT)
    i, j, k = np.unravel_index(kept, (len(u), len(w), len(e)))
    return _Samples(u[i], w[j], teacher.values(u)[i] + math.sqrt(noise) * e[k], weights[kept])


def _along(function: Integrand, step: float, refine: int) -> Rule:
    """A rule for a function of one standard normal variable, with its kinks as ends of panels."""
    # Poles of products are of higher order than those of a factor.
    widest = min(step, spacing(function, 1.0, 0.0) / 1.3)
    return spike_rule(layers(function, 1.0, 0.0), widest, _REACH, refine)


def _rows(
    activation: Activation, shift: Array, turn: float, pull: Array, scatter: float, mean_slope: float, refine: int
) -> _Rows:
    """Averages over X and t at h = shift + turn X + scatter t + pull sigma'(X), one for each sample."""
    student, slope = integrand(activation), slope_integrand(activation)
    step = _ROW_STEP
    if student.splits is not None:
        # After the average over t a kink of sigma is as wide as t moves it.
        step = min(step, WIDEST_STEP * scatter / math.hypot(scatter, turn) if scatter > 0.0 else step)
    x, weights = _along(slope, step, refine)
    if len(shift) * len(x) > _MOST:
        raise ExpressionError(
            "a second step on the same batch needs too many values: use a larger eta, a smoother "
            "activation or target such as tanh(z), or less noise of the labels"
        )
    at_x = slope.values(x)

    def smoothed(places: Array) -> tuple[Array, ...]:
        """sigma, and sigma' times 1, t and itself, averaged over t."""
        levels = tuple(refine + settled_level(one, places, scatter, math.inf) for one in (student, slope))
        output, moments = mean_and_slope_moments(student, slope, places, scatter, (levels[0], levels[1]))
        return output, moments.mean, moments.slope, moments.square

    found = np.empty((6, len(shift)))
    size = max(1, _AT_ONCE // len(x))
    for start in range(0, len(shift), size):
        here = slice(start, start + size)
        h = (shift[here, None] + turn * x + pull[here, None] * at_x).ravel()
        output, mean, across, square = (part.reshape(-1, len(x)) for part in on_line(smoothed, h, scatter**2))
        found[:, here] = (
            output @ weights, mean @ weights, square @ weights, mean @ (weights * (at_x - mean_slope)),
            mean @ (weights * x), across @ weights,
        )  # fmt: skip
    return _Rows(*found)

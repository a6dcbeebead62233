"""What one more step averages over a fresh sample, by sums over grids, and what the state is after it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.grids import Array, erf, half_line, interpretation, normal_line, normal_rule
from giantsteps.verify.second_route.networks.step import Step, step_at
from giantsteps.verify.second_route.values import by_glyph

# For functions analytic within 0.7 of the line: an error of exp(-2 pi 0.7/0.125) = 5e-16 and a tail below it.
_LINE, _WEIGHT = normal_line(0.125)
_COMPLEX = 1e-30


@dataclass(frozen=True)
class State:
    """Spike strength, alignment and bulk variance."""

    r: float = 0.0
    gamma: float = 1.0
    c: float = 1.0


def state_at(point: Point) -> State:
    """The state of a point of the domain."""
    return State(*(float(point[x.name]) for x in (s.r, s.gamma, s.c)))


def _label(step: Step, state: State, kappa: Any, z: Any) -> Any:
    return CURVES[step.target].value(state.gamma * kappa + math.sqrt(1.0 - state.gamma**2) * z)


@lru_cache(maxsize=1024)
def averages(step: Step, state: State) -> dict[str, float]:
    """The averages over a fresh sample, with the state and the ratios beside them; keys are glyphs."""
    student, k, weight = CURVES[step.student], _LINE, _WEIGHT
    seen = state.r * k[:, None] + math.sqrt(state.c) * _LINE
    sigma, slope = np.asarray(student.value(seen)), np.asarray(student.prime(seen))
    mu0, mu1, second = sigma @ weight, slope @ weight, slope**2 @ weight
    mu11 = slope @ (weight * _LINE) / math.sqrt(state.c)
    residual = np.asarray(_label(step, state, k[:, None], _LINE)) - mu0[:, None]
    square = residual**2 + step.noise
    y0, y1, y2 = residual @ weight, residual @ (weight * _LINE), square @ weight
    centred = (slope - mu1[:, None]) ** 2
    scattered, own = centred @ weight, centred @ (weight * _LINE**2)
    planar = (square * (k[:, None] ** 2 + _LINE**2)) @ weight
    found = {
        s.along: weight @ (k * mu1 * y0),
        s.across: weight @ (mu1 * y1),
        s.spike_noise: weight @ (mu1**2 * y2),
        s.stretch: weight @ (mu11 * y0),
        s.row_noise: weight @ (scattered * y2),
        s.whole_noise: weight @ (second * y2),
        s.spike_planar: weight @ (mu1**2 * planar),
        s.row_planar: weight @ (scattered * planar + own * y2),
        s.slope_mean: weight @ mu1,
        s.h1_star: weight @ (_LINE * CURVES[step.target].value(_LINE)),
    }
    return by_glyph({
        **{x: float(value) for x, value in found.items()},
        s.r: state.r, s.gamma: state.gamma, s.c: state.c, s.noise: step.noise,
        s.alpha0: step.alpha0, s.beta: step.beta, s.eta: step.rate * step.beta,
    })  # fmt: skip


def after(step: Step, state: State) -> State:
    """The state after the step: force in the plane of spike and target, stretch of the rows, noise of the batch."""
    at, e = averages(step, state), step.rate
    along, across = state.r + e * at[s.along.name], e * at[s.across.name]
    r = math.sqrt(along**2 + across**2 + e**2 * at[s.spike_noise.name] / step.alpha0)
    overlap = state.gamma * along + math.sqrt(1.0 - state.gamma**2) * across
    c = state.c * (1.0 + e * at[s.stretch.name]) ** 2 + e**2 * at[s.row_noise.name] / step.alpha0
    return State(r, overlap / r, c)


def by_state(after_: State) -> dict[str, float]:
    """The numbers of a state after a step, by their glyphs."""
    r, overlap, c = after_.r, after_.r * after_.gamma, after_.c
    return by_glyph({
        s.r_next: r, s.square_next: r**2, s.overlap_next: overlap, s.gamma_next: after_.gamma, s.c_next: c,
        s.layer_next: r**2 + c,
    })  # fmt: skip


def before_last(step: Step, steps: int) -> State:
    """The state before the last of several equal steps."""
    state = State()
    for _ in range(steps - 1):
        state = after(step, state)
    return state


def at_point(point: Point) -> dict[str, float]:
    """The averages at a point of the domain."""
    return averages(step_at(point), state_at(point))


def functions_at(point: Point) -> Functions:
    """Implementations of sigma, its slopes and g at a point, for smooth ones."""
    return interpretation(str(point["activation"]), str(point["target"]))


def slopes_at(point: Point) -> dict[str, float]:
    """sigma' given kappa at a point: its mean, line and variance, the rest's moments, and the slope of its mean."""
    student, kappa, state = CURVES[str(point["activation"])], float(point[s.kappa.name]), state_at(point)
    z, weight, root = _LINE, _WEIGHT, math.sqrt(state.c)

    def mean(place: Any) -> Any:
        return (CURVES[str(point["activation"])].value(place + root * z) * z) @ weight / root

    slope = np.asarray(student.prime(state.r * kappa + root * z))
    mu1, bend, second = slope @ weight, slope @ (weight * z) / root, slope**2 @ weight
    rest = slope - mu1 - bend * root * z
    moved = mean(state.r * (kappa + 1j * _COMPLEX)).imag / _COMPLEX
    return by_glyph({
        s.mu1: mu1, s.bend: bend, s.mu1_slope: moved, s.slope_variance: second - mu1**2,
        s.rest_square: rest**2 @ weight,
    })  # fmt: skip


def blind_at(point: Point) -> dict[str, float]:
    """The averages without an alignment, and the overlap with the target after the step."""
    step, state = step_at(point), State(float(point[s.r.name]), 0.0, float(point[s.c.name]))
    return averages(step, state) | first_step(step) | by_state(after(step, state))


def fit_at(point: Point) -> dict[str, float]:
    """The state before and after a step of an erf student whose output is the target: r^2 = 1 + 2c, erf along v."""
    step = replace(step_at({**point, "activation": "erf", "target": "erf"}), noise=0.0)
    state = State(math.sqrt(1.0 + 2.0 * float(point[s.c.name])), 1.0, float(point[s.c.name]))
    return averages(step, state) | by_state(after(step, state))


def first_step(step: Step) -> dict[str, float]:
    """What the first step sees: moments of its label and of the slope, no spike yet and rows of length one."""
    student, z, weight = CURVES[step.student], _LINE, _WEIGHT
    slope, target = np.asarray(student.prime(z)), np.asarray(CURVES[step.target].value(z))
    label, h1 = target - np.asarray(student.value(z)) @ weight, float(slope @ weight)
    return by_glyph({
        s.h1: h1, s_bulk.curvature: slope @ (weight * z), s.h1_check: (slope - h1) ** 2 @ weight,
        s_bulk.label_moment[1]: label @ weight, s_bulk.label_moment[2]: label**2 @ weight + step.noise,
        s_bulk.label_slope[1]: label @ (weight * z), s.h1_star: target @ (weight * z), s.h2_star: target**2 @ weight,
        s.alpha0: step.alpha0, s.beta: step.beta, s.eta: step.rate * step.beta, s.noise: step.noise,
    })  # fmt: skip


# --- small batches ---------------------------------------------------------------------------------------------------

# Samples and inputs; the spike lies along the first axis, theta in the plane of the first two, a row along the third.
BATCHES = {"one sample in three dimensions": (1, 3), "one in four": (1, 4), "two samples in three": (2, 3)}
# For polynomials of degree three: squares of Y sigma' x have degree 12, and nine nodes are exact up to 17.
_NODES, _SHARES = normal_rule(9)


def small_batch(point: Point) -> dict[str, float]:
    """E|rho'|^2 and E|b'|^2 over all inputs of a small batch by a product rule, rho' and b' formed for each."""
    n0, d = BATCHES[str(point["batch"])]
    step, state = step_at(point), state_at(point)
    student = CURVES[step.student]
    at = np.stack([x.ravel() for x in np.meshgrid(*[np.arange(len(_NODES))] * (n0 * d), indexing="ij")], axis=1)
    x, shares = _NODES[at].reshape(-1, n0, d), np.prod(_SHARES[at], axis=1)
    kappa, z, w = np.moveaxis(x[:, :, :3], 2, 0)
    along = state.r * _NODES[:, None] + math.sqrt(state.c) * _NODES
    mu0, mu1 = (np.asarray(f(along) @ _SHARES)[at.reshape(-1, n0, d)[:, :, 0]] for f in (student.value, student.prime))
    residual = _label(step, state, kappa, z) - mu0
    spike = step.rate / n0 * np.einsum("am,ami->ai", residual * mu1, x)
    slope = np.asarray(student.prime(state.r * kappa + math.sqrt(state.c) * w))
    row = step.rate / n0 * np.einsum("am,ami->ai", residual * (slope - mu1), x)
    spike[:, 0] += state.r
    row[:, 2] += math.sqrt(state.c)
    return averages(step, state) | {
        s.n0.name: n0,
        s.d.name: d,
        s.spike_square.name: float(shares @ np.sum(spike**2, axis=1)),
        s.row_square.name: float(shares @ np.sum(row**2, axis=1)),
    }


# --- the loss, its flow, long spikes ---------------------------------------------------------------------------------


def _loss(step: Step, state: State, along: complex, across: complex, width: complex) -> complex:
    """Half the mean squared error of E sigma(along kappa + across z + width w) without label noise."""
    line, weight = normal_line(0.25, 8.0)
    k, z = line[:, None], line
    seen = along * k[..., None] + across * z[:, None] + width * line
    output = np.asarray(CURVES[step.student].value(seen)) @ weight
    return complex(weight @ ((np.asarray(_label(step, state, k, z)) - output) ** 2 @ weight)) / 2


def loss_slopes(step: Step, state: State) -> tuple[float, float, float]:
    """The slopes of the loss along and across the spike, and in the width of the bulk, by complex steps."""
    place = (state.r, 0.0, math.sqrt(state.c))
    moved = (tuple(x + 1j * _COMPLEX * (k == j) for k, x in enumerate(place)) for j in range(3))
    along, across, width = (_loss(step, state, *at).imag / _COMPLEX for at in moved)
    return along, across, width


def descent_at(point: Point) -> dict[str, float]:
    """Slopes of the loss at a point, the averages of the step, and the state after it."""
    step, state = step_at(point), state_at(point)
    along, across, width = loss_slopes(step, state)
    q = math.sqrt(state.c)
    drift = -2.0 * state.r * along - (2.0 * q + 1.0 / q) * width
    slopes = {s.loss_along: along, s.loss_across: across, s.loss_width: width, s.flow_drift: drift}
    return averages(step, state) | by_state(after(step, state)) | by_glyph(slopes)


_SMALL = 1e-5


def drift_at(point: Point) -> dict[str, float]:
    """(after - before)/alpha0 for a batch of few samples, at a rate per sample."""
    state, whole, rate = state_at(point), step_at(point), float(point[s.small_rate.name])
    next_ = after(replace(whole, alpha0=_SMALL, rate=rate * _SMALL), state)
    return averages(whole, state) | by_glyph({
        s.spike_drift: (next_.r**2 - state.r**2) / _SMALL,
        s.overlap_drift: (next_.r * next_.gamma - state.r * state.gamma) / _SMALL,
        s.bulk_drift: (next_.c - state.c) / _SMALL,
    })  # fmt: skip


_LONG = 1e5


def growth_at(point: Point) -> dict[str, float]:
    """(r'/r)^2 at a long spike of a piecewise linear student, whose means over a row's view are error functions."""
    right, left, gamma, c = (float(point[x.name]) for x in (s.slope_right, s.slope_left, s.gamma, s.c))
    step, even, odd = step_at({**point, "activation": "relu"}), (right + left) / 2, (right - left) / 2
    k, half = half_line()
    k, half = np.concatenate([-k[::-1], k]), np.concatenate([half[::-1], half])
    x, root = _LONG * k, math.sqrt(2.0 * c)
    sign, bell = np.asarray(erf(x / root)), root / math.sqrt(math.pi) * np.exp(-((x / root) ** 2))
    mu0, mu1 = even * x + odd * (x * sign + bell), even + odd * sign
    label = np.asarray(_label(step, State(_LONG, gamma, c), k[:, None], _LINE))
    y0, y1, y2 = label @ _WEIGHT, label @ (_WEIGHT * _LINE), label**2 @ _WEIGHT + step.noise
    along, across = half @ (k * mu1 * (y0 - mu0)), half @ (mu1 * y1)
    noise = half @ (mu1**2 * (y2 - 2.0 * y0 * mu0 + mu0**2))
    square = (_LONG + step.rate * along) ** 2 + step.rate**2 * (across**2 + noise / step.alpha0)
    return {s.growth_square.name: float(square) / _LONG**2, s.eta.name: step.rate * step.beta}


def critical_at(point: Point) -> dict[str, float]:
    """The rate beyond zero at which a long spike neither grows nor shrinks, of what `growth_at` finds."""
    from scipy.optimize import brentq  # slow to import, and most readers of the claims run none

    def excess(rate: float) -> float:
        return growth_at({**point, "rate": rate})[s.growth_square.name] - 1.0

    return {s.critical_rate.name: float(brentq(excess, 1e-2, 1e3, xtol=1e-10))}


@lru_cache(maxsize=1)
def end_of_flow() -> dict[str, float]:
    """c where the flow of an erf student of an erf target ends, from no spike and rows of length one."""
    from scipy.integrate import solve_ivp  # slow to import, and most readers of the claims run none

    step = Step("erf", "erf", 1.0, 1.0, 1.0)

    def slope(_: float, at: Array) -> list[float]:
        found = averages(step, State(float(at[0]), 1.0, float(at[1]) ** 2))
        return [found[s.along.name], float(at[1]) * found[s.stretch.name]]

    path = solve_ivp(slope, (0.0, 200.0), [0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-14)
    return {s.bulk_end.name: float(path.y[1, -1]) ** 2}


def flow_end_at(point: Point) -> dict[str, float]:
    """The same, of the one setting that there is."""
    return end_of_flow()

"""Spike, alignment and bulk after each of several gradient steps on fresh batches.

Step t moves the rows w_k = r v + b_k with rate e = eta/beta on alpha0 d fresh samples. Given kappa = v.x the derivative
is sigma'(r kappa + b.x) = mu1 + mu11 b.x + s: the mean slope moves all rows alike, the linear part turns them, s is
noise. With Y = y - mu0(kappa) and z along theta_perp,

    r'^2     = (r + e E[kappa mu1 Y])^2 + e^2 E[z mu1 Y]^2 + (e^2/alpha0) E[mu1^2 Y^2],
    r' gamma' = gamma (r + e E[kappa mu1 Y]) + sqrt(1 - gamma^2) e E[z mu1 Y],
    c'       = c (1 + e E[mu11 Y])^2 + (e^2/alpha0) E[Y^2 Var(sigma' | kappa)].

The first step, from r = 0 and c = 1, is the map of `numerics.models.gradient_step`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.quadrature import MOST_UNSETTLED, ROUNDING, integrand, slope_integrand
from giantsteps.numerics.gradient_steps.batches import INITIAL, Batch, Levels, State, batch

# A state of more than this, or a bulk of less than its inverse, is out of the range of a model.
_LARGEST = 1e50
# What every state of a second, coarser recursion is moved by, to see what becomes of an error: more than the coarser
# rule is off by, and in the range where what becomes of it is proportional to it.
_KICK = 1e-4
# A step that a finer rule changes by no more than this share has settled.
_SETTLED = 1e-12
_MOST_REFINED = 3
# By how much a bulk may grow before its rules are tried again: a sixteenth of an octave of its root, as in `doublings`.
_LARGER = 2.0 ** (1.0 / 8.0)
# Errors of many steps and of three numbers, of any sign, and the kick of one sign each.
_SAFETY = 4.0
# How far out the slope of an activation is its limit.
_FAR_OUT = 1e4


class Reached(NamedTuple):
    """A state after a step, how far each of its numbers may be off (an estimate), and the growth r'/r in that step.

    The growth of a step from r = 0 is infinite.
    """

    state: State
    errors: State
    growth: float


class Step(NamedTuple):
    """One gradient step: alpha0 = n0/d samples, eta the learning rate over d."""

    alpha0: float
    eta: float

    @property
    def taken(self) -> bool:
        """Whether the step changes anything."""
        return self.alpha0 > 0.0 and self.eta > 0.0


class Terms(NamedTuple):
    """What a step adds: e E[kappa mu1 Y], e E[z mu1 Y] and (e^2/alpha0) E[mu1^2 Y^2] to the spike, and to the bulk
    e E[mu11 Y] and (e^2/alpha0) E[Y^2 Var(sigma' | kappa)].
    """

    along: float
    across: float
    scatter: float
    turned: float
    spread: float


def terms_of(seen: Batch, rate: float, alpha0: float) -> Terms:
    """The terms of a step of this rate e = eta/beta on a batch."""
    state, weights, square = seen.state, seen.weights, seen.residual_square
    across = rate * float(weights @ (seen.mu1 * seen.teacher.slope))
    # A mean that vanishes in exact arithmetic must not start an alignment, which may grow from step to step.
    slope_square = float(weights @ seen.slope.square)
    if abs(across) <= ROUNDING * rate * math.sqrt(slope_square * float(weights @ square)):
        across = 0.0
    along = rate * float(weights @ (seen.kappa * seen.mu1 * seen.residual))
    scatter = rate**2 / alpha0 * float(weights @ (seen.mu1**2 * square))
    if state.spike == 0.0 and float(weights @ seen.mu1**2) <= ROUNDING**2 * slope_square:
        along = across = scatter = 0.0
    # Far out sigma' is constant, and what is left of its slope and variance there is rounding, which a large spike
    # multiplies.
    linear, whole = seen.slope.slope, seen.slope.square
    linear = np.where(np.abs(linear) > ROUNDING * np.sqrt(whole), linear, 0.0)
    left = np.where(seen.slope_variance > ROUNDING**2 * whole, seen.slope_variance, 0.0)
    turned = rate * float(weights @ (linear * seen.residual)) / math.sqrt(state.bulk)
    return Terms(along, across, scatter, turned, rate**2 / alpha0 * float(weights @ (square * left)))


def state_after(state: State, by: Terms) -> State:
    """The state after a step with these terms."""
    along = state.spike + by.along
    spike = math.sqrt(along**2 + by.across**2 + by.scatter)
    alignment = (state.alignment * along + math.sqrt(state.remainder) * by.across) / spike if spike else 0.0
    return State(spike, min(max(alignment, -1.0), 1.0), state.bulk * (1.0 + by.turned) ** 2 + by.spread)


def advanced(seen: Batch, rate: float, alpha0: float) -> State:
    """The state after a step of this rate e = eta/beta on a batch."""
    return state_after(seen.state, terms_of(seen, rate, alpha0))


@lru_cache(maxsize=256)
def states(
    activation: Activation,
    target: Activation,
    steps: tuple[Step, ...],
    beta: float,
    noise: float = 0.0,
    first: tuple[State, State] | None = None,
) -> tuple[Reached, ...]:
    """The state after each step, with errors; a step of alpha0 = 0 or eta = 0 changes nothing.

    first: state and errors after the first step, where they are known. noise: the variance of the labels' noise.

    Raises ExpressionError where an average does not settle or is infinite, and where a state leaves double precision.
    """
    start, given = [] if first is None else [first[0]], _Given(activation, target, steps, beta, noise)
    for refine in range(_MOST_REFINED + 1):
        found = _trajectory(given, start, refine)
        if found.error <= _SETTLED:
            break
    if not found.error <= MOST_UNSETTLED:
        raise ExpressionError(
            f"the averages over a batch do not settle in double precision ({found.error:.1g} of their size is left); "
            "take a smoother activation or target, for example tanh(z)"
        )
    moved = _moved(given, found, refine)
    lost = max(one.rounding for one in (integrand(activation), slope_integrand(activation), integrand(target)))
    share = _SAFETY * (found.error + ROUNDING + lost + (relative(first[1], first[0]) if first else 0.0))
    reached = []
    for k, (state, grown) in enumerate(zip(found.states, moved, strict=True)):
        error = share * max(grown, 1.0)
        errors = State(error * state.spike, error, error * state.bulk)
        if k == 0 and first is not None:
            errors = first[1]
        before = found.states[k - 1].spike if k else 0.0
        reached.append(Reached(state, errors, state.spike / before if before else math.inf))
    return tuple(reached)


def critical_rate(activation: Activation, alpha0: float) -> float | None:
    """e_c = 4 alpha0 S2/(alpha0 S2^2 + 2 S4), S2 = s_+^2 + s_-^2, S4 = s_+^4 + s_-^4 with sigma' -> s_+- far out.

    With a rate e above it a step multiplies a large spike by G > 1, G^2 = (1 - e S2/2)^2 + e^2 S4/(2 alpha0), whatever
    the target. Infinite for bounded activations; None where sigma' has no limit.
    """
    slope = slope_integrand(activation)
    near, far = (slope.values(np.array([-place, place])) for place in (0.5 * _FAR_OUT, _FAR_OUT))
    if slope.quadratic > 0.0 or slope.rate > 0.0 or np.max(np.abs(far - near)) > 1.0 / math.sqrt(_FAR_OUT):
        return None
    second, fourth = float(np.sum(far**2)), float(np.sum(far**4))
    return 4.0 * alpha0 * second / (alpha0 * second**2 + 2.0 * fourth) if second > 0.0 else math.inf


class _Given(NamedTuple):
    """What `states` is given."""

    activation: Activation
    target: Activation
    steps: tuple[Step, ...]
    beta: float
    noise: float

    def met(self, state: State, refine: int, levels: Levels | None) -> Batch:
        """The batch of a step from a state."""
        return batch(self.activation, self.target, state, self.noise, refine, levels)


class _Trajectory(NamedTuple):
    """States after each step, the rules across the spike in it, and the largest relative error of a step."""

    states: list[State]
    levels: list[Levels]
    error: float


def _trajectory(given: _Given, start: list[State], refine: int) -> _Trajectory:
    """By a rule refined so many times; a finer one is tried at steps 1, 2, 4, ..., the last, and where a schedule
    changes."""
    (_, _, steps, beta, _), found, error, at = given, list(start), 0.0, INITIAL
    levels = [Levels(0, 0, 0)] * len(start)
    for k in range(len(start), len(steps)):
        state, step = found[-1] if found else INITIAL, steps[k]
        if not step.taken:
            found.append(state)
            levels.append(levels[-1] if levels else Levels(0, 0, 0))
            continue
        tried = k == len(start) or k & (k + 1) == 0 or k == len(steps) - 1 or step != steps[k - 1]
        # Rules across the spike that have settled for a bulk may be too coarse for a larger one.
        tried = tried or state.bulk > _LARGER * at.bulk or abs(state.spike) > 2.0 * abs(at.spike)
        at = state if tried else at
        seen = given.met(state, refine, None if tried else levels[-1])
        after = advanced(seen, step.eta / beta, step.alpha0)
        if not (after.spike <= _LARGEST and 1.0 / _LARGEST <= after.bulk <= _LARGEST):
            raise ExpressionError(
                f"gradient step {k + 1} leads to a spike of {after.spike:.3g} and a bulk of {after.bulk:.3g}, out of "
                "range: use a smaller eta or fewer steps"
            )
        if tried:
            finer = advanced(seen.refined(), step.eta / beta, step.alpha0)
            error = max(error, apart(after, finer))
            if error > _SETTLED and refine < _MOST_REFINED:
                break
        found.append(after)
        levels.append(seen.levels)
    return _Trajectory(found, levels, error)


def _moved(given: _Given, found: _Trajectory, refine: int) -> list[float]:
    """How far the states after each step move where every one before is moved by a unit, relative to it."""
    state, moved = INITIAL, []
    for k, (step, levels) in enumerate(zip(given.steps, found.levels, strict=True)):
        if step.taken and k:
            seen = given.met(state, refine - 1, levels.coarser)
            state = advanced(seen, step.eta / given.beta, step.alpha0)
        elif step.taken:
            state = found.states[0]
        moved.append(apart(state, found.states[k]) / _KICK)
        alignment = state.alignment - math.copysign(_KICK, state.alignment)
        state = State(state.spike * (1.0 + _KICK), max(alignment, -1.0), state.bulk * (1.0 - _KICK))
    return moved


def relative(errors: State, state: State) -> float:
    """The largest error, of spike and bulk relative to their sizes."""
    spike = errors.spike / abs(state.spike) if state.spike else errors.spike
    return max(spike, errors.alignment, errors.bulk / state.bulk)


def apart(one: State, other: State) -> float:
    """How far two states are apart, as `relative`."""
    return relative(State(*(abs(x - y) for x, y in zip(one, other, strict=True))), other)

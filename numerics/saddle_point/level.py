"""The ridge readout on one rule along the spike: the saddle point and both errors there, and its scale at ridge 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, IsotropicUniform
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.equations import (
    LinearPart,
    NonlinearPart,
    State,
    linear_part,
    nonlinear_part,
    residual,
)
from giantsteps.numerics.saddle_point.one_group.point import OneGroupState, Problem, one_group_residual, solve_one_group
from giantsteps.numerics.saddle_point.profile import Profile, profile

Array = NDArray[np.float64]
Bulk = Callable[[float], DeterministicEquivalent]
# The quadrature is refined until a finer one moves the test error by less than this share of 1 + test error, or as far
# as there are rules; what then is more than the goal is said.
_SETTLED = 1e-13
QUADRATURE_GOAL = 1e-11
# Moving more than this share is not convergence, whatever moves it: a finer rule, rounding, or what Newton's method has
# left (`LinearPart.rounding` has both). Nor is an equation that holds to no more than that.
QUADRATURE_LIMIT = 1e-7
MOST_REFINEMENTS = 6
UNDECIDED = (
    "the mean of the features along the spike is lost in rounding, and in the limit of infinite width a readout may "
    "take any multiple of it; a larger spike or a smaller bulk brings it back"
)


def settled(
    moved: Array | float, before: Array | float, scale: Array | float, rounding: Array | float
) -> NDArray[np.bool_]:
    """Whether a finer rule is not needed: it `moved` the test error by no more than rounding, or both it and the rule
    before it (`before`, infinite where there was none) by less than _SETTLED of its scale.

    A pole of 1/(1+V) near the line leaves errors that fall slowly and change sign: one small move is often luck.
    """
    return np.asarray((moved <= rounding) | (np.maximum(moved, before) <= _SETTLED * scale))


@dataclass(frozen=True)
class Regime:
    """The scale on which the saddle point is solved: 1 + V becomes unit + V and ridge becomes `ridge`.

    At positive ridge that is (1, ridge). At ridge = 0 it is (1, 0) with more samples than features can fit, and with
    fewer (0, 1), for ridge V, of which V itself is 1/ridge times.
    """

    unit: float
    ridge: float


@dataclass(frozen=True)
class Level:
    """The saddle point on one rule along the spike, on the scale of its regime; `left` computes its residual.

    rounding: about how far the rounding of double precision moves the test error.
    """

    state: State
    regime: Regime
    test_error: float
    training_error: float
    left: Callable[[], float]
    iterations: int
    converged: bool
    rounding: float


@dataclass(frozen=True)
class Refined:
    """The level on the finest rule along the spike, the `refine`-th, its table, how far the test error moved, and
    Newton's steps."""

    level: Level
    table: Profile
    moved: float
    iterations: int
    refine: int


def refined(model: Model, refine: int = 0, bulk: Bulk | None = None, width: float = math.inf) -> Refined:
    """The rules of quadrature refined until the test error stays put, from the one that is `refine` times finer on.

    `bulk` gives the equivalent at a ridge, by default that of the model; `width` as in `solve_on`.
    """
    extra = extra_reach(model.ridge)
    # One equivalent for all rules: it begins where it ended.
    known = cache(partial(equivalent_of, model) if bulk is None else bulk)
    coarse = solve_on(profile(model, refine, refine, extra), model, bulk=known, rough=True, width=width)
    scale, iterations, moved = abs(coarse.test_error) + 1.0, coarse.iterations, math.inf
    for level in range(refine + 1, refine + 1 + MOST_REFINEMENTS):
        # The inner integrals are checked where they are made, and bring what is left of their error along.
        table = profile(model, level, refine, extra)
        fine = solve_on(table, model, coarse.state.values, known, width=width)
        iterations += fine.iterations
        before, moved = moved, abs(fine.test_error - coarse.test_error)
        done = settled(moved, before, scale, fine.rounding) and table.unresolved <= QUADRATURE_GOAL
        if done or table.unresolved == 1.0 or not fine.converged or table.exhausted:
            break
        coarse = fine
    return Refined(fine, table, moved + table.unresolved * scale, iterations, level)


def solve_on(
    table: Profile,
    model: Model,
    start: Array | None = None,
    bulk: Bulk | None = None,
    rough: bool = False,
    width: float = math.inf,
) -> Level:
    """The saddle point of a model on a given profile; `start` is (T, tau) packed, where a search may begin.

    `bulk` gives the equivalent at a ridge, by default that of the model. `rough`: what rounding moves is not asked for.
    At a finite `width` the means have their cost (`numerics.saddle_point.finite_width`); the residual is of the limit.

    Raises ModelError for ridge = 0 at the interpolation threshold.
    """
    ratio = model.alpha / model.beta
    regime = regime_of(table, model)
    equivalent = equivalent_of(model, regime.ridge) if bulk is None else bulk(regime.ridge)
    check, limit = partial(residual, table, equivalent, ratio, model.noise), math.isinf(width)
    if limit and isinstance(equivalent, IsotropicUniform) and table.groups == len(table.along) == 1:
        return _solve_one_group(table, Problem(equivalent, ratio, model.noise, regime.unit), regime, start)
    if limit and table.groups == table.rank == 1 and len(table.along) == 2:
        # Imported here: the isotropic bulk needs no averages over labels.
        from giantsteps.numerics.bulk.network import NetworkBulk
        from giantsteps.numerics.saddle_point.one_group import network_point as network

        if isinstance(equivalent, NetworkBulk):
            part = network.solve_nonlinear(table.one_group, equivalent, ratio, start, regime.unit)
            if regime.unit:
                rest = network.solve_linear(table.one_group, part, ratio, model.noise, regime.unit, rough)
            else:  # Close to the threshold reflections leave a third of the residual.
                rest = linear_part(table, part, ratio, model.noise, regime.unit, rough=rough)
            return _level(part, rest, regime, check)
    solved = nonlinear_part(table, equivalent, ratio, start, regime.unit)
    linear = linear_part(table, solved, ratio, model.noise, regime.unit, width, rough)
    return _level(solved, linear, regime, check)


def _level(solved: NonlinearPart, linear: LinearPart, regime: Regime, check: Callable[[State, float], float]) -> Level:
    state = State(solved.values, solved.conjugates, linear.m, linear.overlaps, linear.forces, linear.q, linear.hats)
    return Level(
        state, regime, linear.test_error, linear.training_error, partial(check, state, regime.unit), solved.iterations,
        solved.converged, rounding=ROUNDING * linear.rounding,
    )  # fmt: skip


def _solve_one_group(table: Profile, problem: Problem, regime: Regime, start: Array | None) -> Level:
    """The same in scalars, in half the time."""
    found = solve_one_group(table.one_group, problem, None if start is None else (float(start[0]), float(start[1])))
    left = partial(one_group_residual, table.one_group, problem, found)
    return Level(
        state_of(found), regime, found.test_error, found.training_error, left, found.iterations, found.converged,
        rounding=ROUNDING * found.rounding,
    )  # fmt: skip


def state_of(found: OneGroupState) -> State:
    """The numbers of one group in the arrays of the general solution."""
    return State(
        values=np.array(found.values),
        conjugates=np.array(found.conjugates),
        m=np.array([found.m]),
        overlaps=np.array([found.zeta, found.psi]),
        forces=np.array([found.zeta_force, found.psi_force]),
        q=np.array(found.q),
        hats=np.array(found.hats),
    )


def regime_of(table: Profile, model: Model) -> Regime:
    """The scale for a model; raises ModelError for ridge = 0 at the interpolation threshold."""
    return Regime(1.0, model.ridge) if model.ridge > 0.0 else _ridgeless(table, model)


def _ridgeless(table: Profile, model: Model) -> Regime:
    """Which side of the interpolation threshold a model without ridge is on."""
    # Linear features have rank d, so that no more than d samples are fitted, whatever the width.
    linear = _is_linear(table)
    threshold = min(model.beta, 1.0) if linear else model.beta
    if abs(model.alpha - threshold) <= 1e-9 * threshold:
        raise ModelError(
            f"at ridge = 0 and alpha = {model.alpha:.6g}, the interpolation threshold, the test error diverges like "
            "ridge^(-1/2): give a positive ridge, for example ridge = 1e-6"
        )
    if linear and model.alpha > threshold and model.beta >= 1.0:
        raise ModelError(
            "ridge = 0 is not built for linear features of more than d neurons and samples: (1/p) tr S^-1 is infinite "
            "there; give a small ridge, for example ridge = 1e-4"
        )
    variance = (table.mu1**2 + table.mu2_squared).sum(axis=0)
    if float(variance.max()) == 0.0:
        raise ModelError(
            f"ridge = 0 is not built for the activation {model.activation}, whose features are one constant: nothing "
            "decides between their weights; give a positive ridge, for example ridge = 0.1"
        )
    if model.alpha > threshold:
        return Regime(1.0, 0.0)
    # V is all there is in place of 1 + V, and its square has to be a number.
    if float(variance.min()) <= 1e-150 * float(variance.max()):
        raise ModelError(_OUT_OF_REACH)
    return Regime(0.0, 1.0)


_OUT_OF_REACH = (
    "ridge = 0 is out of reach here: the limit is decided far along the spike, where the features saturate "
    "beyond double precision, and may be infinite; give a small ridge, for example ridge = 1e-4"
)


def _is_linear(table: Profile) -> bool:
    """Whether the activation is linear, so that mu2 = 0 up to rounding."""
    return float(np.max(table.mu2_squared @ table.weights)) < 1e-24 * float(np.max(table.features @ table.weights))


def extra_reach(ridge: float) -> float:
    """How much more than its Gaussian weight the tail along the spike may count: 1/(1+V) grows there at small ridge."""
    if ridge == 0.0:
        return 100.0
    # Two figures of reserve are in the rules themselves; steps of ten keep the rules shared between ridges.
    return 10.0 * math.ceil(max(0.0, -math.log(ridge) - 10.0) / 10.0)


def check_tails(table: Profile, level: Level) -> None:
    """At ridge = 0 the features' variance divides: refuse where it decays to rounding before the Gaussian weight does.

    The integrands of the saddle point are of order (mu0^2 + y^2)/V and at most that over V again.
    """
    variance = level.state.values @ table.multiplied_features
    resolved = table.mu2_squared.min(axis=0) > 1e-24 * (table.mu0**2).max(axis=0)
    if _is_linear(table):
        resolved = np.full(len(table.weights), True)
    share = table.weights * (table.y0**2 + table.y1**2 + table.spread) / variance
    share = share / float(np.sum(share))
    outermost = table.radius >= 0.99 * np.max(table.radius)
    if np.any(share[~resolved | outermost] > 1e-13):
        raise ModelError(_OUT_OF_REACH)

"""The ridge readout on one rule along the spike: the saddle point, its order parameters and both errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, IsotropicUniform, unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Conjugates, OrderParameters
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
from giantsteps.numerics.saddle_point.ridgeless import Regime, extra_reach, regime_of

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


def by_direction(overlaps: Array, rank: int) -> Array:
    """Overlaps with the spike of k groups, packed group by group: (k,), or (k, s) for a spike of s > 1 directions."""
    return overlaps if rank == 1 else overlaps.reshape(-1, rank)


def unpacked(
    model: Model,
    values: Array,
    m: Array,
    overlaps: Array,
    q: Array,
    conjugates: Array,
    hats: Array,
    forces: Array,
    width: float = math.inf,
) -> OrderParameters:
    """The order parameters of (T, tau), m, (zeta, chi, psi), (Q, q2), (C, D), their hats and the overlaps' forces.

    At a finite width p q1 and q2 are without m_a^2 c_a/(pi_a p) and m_a^2/(pi_a p), as a simulation reports them.
    """
    groups, rank = len(m), model.rank
    spiked, functions = groups * rank, len(overlaps) - groups

    def split(packed: Array) -> tuple[Array, Array, Array]:
        """What belongs to zeta, psi and chi."""
        return by_direction(packed[:spiked], rank), packed[functions:], packed[spiked:functions]

    zeta, psi, chi = split(overlaps)
    (V1, V2), (q1, q2) = unpack(values), unpack(q)
    if math.isfinite(width):
        uniform = m**2 / (width * np.array(model.fractions))
        q1, q2 = q1 - np.diag(np.array(model.bulks) * uniform), q2 - uniform
    return OrderParameters(
        m=m,
        zeta=zeta,
        psi=psi,
        q1=q1,
        q2=q2,
        V1=V1,
        V2=V2,
        conjugates=Conjugates(*unpack(conjugates), *unpack(hats), *split(forces)),
        chi=chi,
    )

"""Derivatives of the test error in the numbers of a model, by implicit differentiation of the saddle point.

The unknowns x = (T, tau; m; zeta, chi, psi; Q, q2) solve G(x, p) = 0, the equations of
`numerics.saddle_point.any_loss.system` for any convex loss, and the test error is E(x, p). For a number p of the model

    dG/dp + J dx/dp = 0,   J = dG/dx,   dE/dp = E_p + E_x dx/dp = E_p - l G_p,   J^T l = E_x,

with E_p, G_p at fixed x: the derivative is that of the one function E - l G of p, for l of one linear system that all
numbers share. J is the matrix of Newton's method. A number enters G and E explicitly: alpha and beta by alpha/beta,
beta and the ridge by Gamma(C, D), the noise by the label, spike, bulk and alignment by the functions along the spike
and by Gamma. eta and alpha0 (and beta and the noise after a step) enter by spike, bulk and alignment of the gradient
steps and by the law of a network's bulk: `Model.changed` maps through all steps again.

Nothing is solved again. E_p and G_p are Richardson's extrapolation of central differences at p + k h, k = -2, ..., 2,
D = (4 D_h - D_2h)/3 with an error of order h^4, or where p - 2 h is no number of a model the one-sided formula of that
order. So are the second derivatives of Gamma in J, and E_x for other losses than the square one. h is 0.001 times the
size of p, the distance over which the functions of p vary: p itself, for the spike, eta, alpha0 and beta over
sqrt(1 + r^2/c), since functions of r kappa vary over sqrt(c); 1 - gamma^2 for the alignment; ridge + D for the ridge;
noise + E[y^2] for the noise.

The error estimate has two parts. The derivative by D_h in all places differs from the one by D by its error of order
h^2. That of D is smaller by some (h/size)^2, and is taken to be 0.0005 of it. Errors of values count over h: the error
estimate of the solution, rounding, and |l| |G| at the solution, where G is what rounding leaves of the equations. For
several groups, whose C may be nearly singular, three times the change by shorter steps in the second derivatives of
Gamma is added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import pack, unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import Derivative, Solution
from giantsteps.numerics.saddle_point.any_loss.convex import mirrored
from giantsteps.numerics.saddle_point.any_loss.envelope import Envelope, Output, Sampler
from giantsteps.numerics.saddle_point.any_loss.sample_averages import labelled_model
from giantsteps.numerics.saddle_point.any_loss.system import Linearised, System
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.saddle_point.ridgeless import extra_reach

Array = NDArray[np.float64]

GIVEN = ("alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment")
OF_STEP = ("alpha", "beta", "ridge", "noise", "alpha0", "eta")
_STEP = 1e-3
# The error of order h^4 beside that of order h^2: 12 (h/R)^2 for a singularity at distance R in the worst of both
# formulas, R a sixth of the size.
_SMALLER = 5e-4
# Of the size of C: steps below that are rounding.
_LEAST_SHARE = 1e-2
# Rounding of a value beside 1 + its size.
_ROUNDING = 1e-15
# Places of the differences, and weights of the orders four and two.
_BOTH_SIDES = ((-2, -1, 1, 2), (1 / 12, -2 / 3, 2 / 3, -1 / 12), (0.0, -0.5, 0.5, 0.0))
_ONE_SIDE = ((0, 1, 2, 3, 4), (-25 / 12, 4.0, -3.0, 4 / 3, -0.25), (-1.5, 2.0, -0.5, 0.0, 0.0))


def gradient(solution: Solution, names: Sequence[str]) -> dict[str, Derivative]:
    """d test_error/dp for the numbers of these names, with error estimates; of all that have one without names.

    Numbers are alpha, beta, ridge and noise, with spike, bulk and alignment or, after gradient steps, alpha0 and eta.
    A rate for all steps counts as one number. At noise 0 the derivative is that from above. Raises ModelError for other
    names, for a solution that has not converged, at ridge = 0, for a density of readout weights, out of reach of double
    precision, and where the test error has no derivative: at spike 0, alpha0 = 0 or eta = 0, where the limit of a small
    spike is another one, and at alignment +-1.
    """
    model = solution.model
    if solution.width is not None or solution.digits is not None:
        raise ModelError("a gradient is supported for the limit in double precision: use solve(model).gradient()")
    if model.law is not None:
        raise ModelError("a gradient requires groups of readout weights, not a density: use ReadoutGroup(1.0, 1.0)")
    if model.ridge == 0.0:
        raise ModelError("a gradient requires ridge > 0: use a small ridge, for example ridge = 1e-6")
    if not solution.converged:
        raise ModelError(f"a gradient requires a solution that has converged, and this one is {solution.status}")
    known = GIVEN if model.step is None else OF_STEP
    for name in names:
        if reason := obstacle(model, name):
            raise ModelError(reason)
    wanted = names or [name for name in known if not obstacle(model, name)]
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and the estimate with it
        point = _Point.of(solution)
        return {name: point.derivative(name) for name in dict.fromkeys(wanted)}


def obstacle(model: Model, name: str) -> str | None:
    """Why the test error has no derivative in a number of the model; None where it has one."""
    known = GIVEN if model.step is None else OF_STEP
    if name not in known:
        return f"a gradient in {name} is not supported for this model: one of {', '.join(known)} is"
    value = _number(model, name)
    if isinstance(value, tuple):
        return f"a gradient in {name} requires one {name} for all steps, and here it has {len(value)}: use one number"
    if name in ("spike", "alpha0", "eta") and value == 0.0:
        return f"the test error has no derivative in {name} at 0, where the limit of a small {name} differs"
    if name == "alignment" and model.remainder == 0.0:
        return "the test error has no derivative in alignment at the end of its range: use an alignment inside (-1, 1)"
    return None


def _number(model: Model, name: str) -> float | tuple[float, ...]:
    value: float | tuple[float, ...] = getattr(model.step if name in ("alpha0", "eta") else model, name)
    return value


@dataclass(frozen=True)
class _Square:
    """The averages of the square loss in closed form, on the functions of a table: a `Sampler`."""

    table: Profile
    noise: float

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.table.weights)

    def _squared(self, at: Output) -> Array:
        """E(g - omega)^2 given kappa."""
        table = self.table
        across = table.y1 * (table.y1 - 2.0 * at.across)
        return np.asarray((table.y0 - at.yhat) ** 2 + table.spread + across + at.variance)

    def loss(self, at: Output, new: bool) -> Array:
        """The squared error on a new input, without the noise of the label."""
        assert new
        return self._squared(at)

    def envelope(self, at: Output) -> Envelope:
        """Of e = E(y - omega)^2/(2 (1 + V))."""
        inverse = 1.0 / (1.0 + at.V)
        square, whole = inverse * inverse, inverse * (self._squared(at) + self.noise)
        left, y1, zero, one = self.table.y0 - at.yhat, self.table.y1, np.zeros_like(inverse), inverse
        slope = np.array([-left * one, -y1 * one, 0.5 * one, -0.5 * whole * one])
        by_V = np.array([left * square, y1 * square, -0.5 * square, whole * square])
        curvature = np.array([[one, zero, zero, zero], [zero] * 4, [zero] * 4, [zero] * 4])
        curvature[3] = curvature[:, 3] = by_V
        return Envelope(slope, curvature)


@dataclass(frozen=True)
class _Place:
    """The equations and the test error of one model on one rule, at any x."""

    system: System

    @classmethod
    def of(cls, model: Model, refine: int) -> _Place:
        """The place of a model."""
        labelled = labelled_model(model)
        whole = model.loss.name != "square" and not mirrored(labelled)
        table = profile(labelled, refine, 0, extra_reach(model.ridge), whole=whole)
        return cls(System(table, labelled, equivalent_of(labelled, model.ridge), model.loss, refine))

    def averages(self, x: Array) -> Sampler:
        """Those of the loss."""
        system = self.system
        return _Square(system.table, system.model.noise) if system.loss.name == "square" else system.sampler(x)

    def at(self, x: Array) -> Linearised:
        """The equations at x."""
        return self.system.at(x, self.averages(x))

    def gap(self, x: Array) -> Array:
        """G at x."""
        return self.system.at(x, self.averages(x), curved=False).gap

    def error(self, x: Array) -> float:
        """The test error at x, as `Solution.test_error`."""
        return float(self.system.table.weights @ self.averages(x).loss(self.system.output(x), new=True))

    def error_slope(self, x: Array) -> Array:
        """E_x for the square loss."""
        table, at = self.system.table, self.system.output(x)
        by_output = -2.0 * (table.y0 - at.yhat), -2.0 * table.y1, np.ones_like(at.V), np.zeros_like(at.V)
        return self.system.pulled([table.weights * slope for slope in by_output])


@dataclass(frozen=True)
class _Point:
    """A solution x on the rule that it was found on."""

    solution: Solution
    x: Array
    place: _Place

    @classmethod
    def of(cls, solution: Solution) -> _Point:
        """The point of a solution."""
        order = solution.order_parameters
        overlaps = (order.zeta.ravel(), order.chi, order.psi)
        x = np.concatenate([pack(order.V1, order.V2), order.m, *overlaps, pack(order.q1, order.q2)])
        place = _Place.of(solution.model, solution.refine)
        return cls(solution, x, place)

    @cached_property
    def here(self) -> Linearised:
        """The equations there."""
        return self.place.at(self.x)

    @cached_property
    def _output_sizes(self) -> Array:
        """The distances over which E(x) varies: the test loss varies over the deviation of the output, its square stays
        positive where each Q_aa and q2_a does.
        """
        system, output = self.place.system, self.here.output
        sizes, k = system.scales(replace(output, yhat=np.zeros_like(output.yhat))), system.table.groups
        own = np.where(pack(np.eye(k), np.ones(k)) > 0.0, self.x[system.cuts[2] :], math.inf)
        sizes[-len(own) :] = np.minimum(sizes[-len(own) :], np.where(own > 0.0, own, math.inf))
        return sizes

    @cached_property
    def _multipliers(self) -> list[Array]:
        """l by differences of order four, and of order two; for several groups again by steps a third as long in J."""
        system, here = self.place.system, self.here
        scales = system.scales(here.output)
        places, *weights = _BOTH_SIDES
        C, _ = unpack(here.conjugates)
        size = np.sqrt(np.where(np.diagonal(C) > 0.0, np.diagonal(C), 1.0))
        # Gamma varies over the distance of C from a singular matrix.
        share = _STEP * max(float(np.linalg.eigvalsh(C / np.outer(size, size))[0]), _LEAST_SHARE)
        if system.loss.name == "square":
            by_x = [self.place.error_slope(self.x)] * 2
        else:
            sizes = self._output_sizes
            shifts = [system.widened(shift) for shift in np.diag(_STEP * sizes)]
            errors = np.array([[self.place.error(self.x + k * shift) for shift in shifts] for k in places])
            by_x = [weight @ errors / (_STEP * sizes) for weight in np.array(weights)]
        kinds = [(weights[0], by_x[0], share), (weights[1], by_x[1], share)]
        kinds += [(weights[0], by_x[0], share / 3.0)] if system.table.groups > 1 else []
        found = []
        for weight, slope, length in kinds:
            # Rows and columns are brought to the size of one.
            jacobian = here.jacobian_by(list(zip(places, weight, strict=True)), length) * scales
            rows = np.abs(jacobian).max(axis=1)
            try:
                found.append(np.linalg.solve((jacobian / rows[:, None]).T, slope * scales) / rows)
            except np.linalg.LinAlgError:
                found.append(np.full_like(slope, math.nan))
        return found

    def _size(self, name: str, value: float) -> float:
        """The distance over which the test error varies with a number."""
        model, table = self.place.system.model, self.place.system.table
        if name == "ridge":
            return value + float(np.min(self.here.conjugates[-table.groups :]))
        if name == "noise":
            return value + float(table.weights @ (table.y0**2 + table.y1**2 + table.spread))
        if name == "alignment":
            return model.remainder
        if name in ("alpha", "bulk"):
            return value
        steepest = max(math.hypot(*spike) ** 2 / c for spike, c in zip(model.spikes, model.bulks, strict=True))
        return abs(value) / math.sqrt(1.0 + steepest)

    def derivative(self, name: str) -> Derivative:
        """d test_error/d(a number of the model)."""
        model, refine = self.solution.model, self.place.system.refine
        value = _number(model, name)
        assert isinstance(value, float)
        step = _STEP * self._size(name, value)
        one_side = name in ("ridge", "noise") and value <= 2.0 * step
        places, *weights = _ONE_SIDE if one_side else _BOTH_SIDES
        moved = [self._moved(model.changed(**{name: value + k * step}), refine) for k in places]
        gaps = np.array([there.gap(self.x) for there in moved])
        errors = np.array([there.error(self.x) for there in moved])
        found, rough, *shorter = (
            float(weight @ (errors - gaps @ multiplier)) / step
            for weight, multiplier in zip(np.array([*weights, weights[0]]), self._multipliers, strict=False)
        )
        lost = self.solution.error_estimate + _ROUNDING * (1.0 + abs(self.solution.test_error))
        lost += float(np.abs(self._multipliers[0]) @ np.abs(self.here.gap))
        estimate = _SMALLER * abs(found - rough) + lost / step + 3.0 * sum(abs(found - other) for other in shorter)
        if not math.isfinite(estimate):
            raise ModelError(f"the derivative in {name} is out of reach of double precision: {model.described()}")
        return Derivative(found, estimate)

    def _moved(self, model: Model, refine: int) -> _Place:
        place = _Place.of(model, refine)
        # In the coordinates of this point: which of the m_a count does not change.
        vars(place.system).update(means=self.place.system.means)
        return place

"""The saddle point for a convex loss: argmin_a sum_mu l(y_mu, a.phi_mu/sqrt p) + (ridge/2) |a|^2.

Equations (19)-(24) of arXiv 2402.04980 in their general form (Appendix C): with the averages E[. | kappa] of the force
f of `numerics.saddle_point.any_loss.sample_averages` and (T, tau) = Gamma(C, D),

    C_ab = (alpha/beta) E[mu1_a mu1_b (-df/domega)],  D_a = (alpha/beta) E[mu2_a^2 (-df/domega)]
    0 = E[mu0_a f],  zeta force = E[kappa mu1_a f],  psi force = E[mu1_a (z f + P (-df/domega))]
    C_hat_ab = (alpha/beta) E[mu1_a mu1_b f^2],  D_hat_a = (alpha/beta) E[mu2_a^2 f^2]

and overlaps and (Q, q2) follow from Gamma as for the ridge readout, for any number of groups. The square loss means
(y - h)^2/2 here, so that its ridge is that of the ridge readout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.gaussian.spike_rule import Layer
from giantsteps.numerics.models.losses import ClippedLoss, Loss, ProximalLoss
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import OrderParameters, Solution
from giantsteps.numerics.saddle_point.any_loss.classification import classification_error, sign_changes
from giantsteps.numerics.saddle_point.any_loss.envelope import known_by_its_map_alone
from giantsteps.numerics.saddle_point.any_loss.newton import ROUNDING, Found, along_path, newton, polished
from giantsteps.numerics.saddle_point.any_loss.sample_averages import has_signs, labelled_model
from giantsteps.numerics.saddle_point.any_loss.system import System
from giantsteps.numerics.saddle_point.equations import undecided
from giantsteps.numerics.saddle_point.finite_width import checked_width
from giantsteps.numerics.saddle_point.level import UNDECIDED, solve_on, unpacked
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridgeless import extra_reach

Array = NDArray[np.float64]

RESIDUAL_GOAL = 1e-9
# The rules are refined until nothing moves by more than this share of 1 + its size; more than the limit is not
# convergence. One small move is enough here, where `level.settled` asks for two: it is that of all order parameters at
# once, of which hardly all turn at one rule, and it is told as their error although the finer rule has less. A second
# would double the time.
QUADRATURE_GOAL, QUADRATURE_LIMIT = 1e-10, 1e-6
# Where every refinement costs eight times the one before: a minute for the next digit, which few have a use for.
_GOAL_BY_THE_MAP = 1e-8
_MOST_REFINEMENTS = 5
# A variance of the outputs beside which the kinks of a loss count as steps.
_QUIET = 1e-2
# Of every term of the equations: a sum of some hundred terms of either sign is off by a few.
_ROUNDINGS = 8
# A finer rule for the wrong signs has no more nodes than this: a tenth of a second.
_MOST_NODES_OF_SIGNS = 20_000
# The rules are not refined beyond so many nodes.
_MOST_NODES = 3_000_000


@dataclass(frozen=True)
class _Level:
    """The saddle point on one rule, with the test loss and the squared error there."""

    found: Found
    system: System
    test: float
    squared: float

    @property
    def error(self) -> float:
        """The test error: the test loss, of the square loss the squared error."""
        return self.squared if self.system.loss.name == "square" else self.test

    @property
    def numbers(self) -> Array:
        """What has to stay when the rule is refined."""
        return np.concatenate([self.system.least_means(self.found.x), [self.test, self.squared]])


def solve(model: Model, *, refine: int = 0, width: float | None = None) -> Solution:
    """The saddle point for the model's loss, the square one among them.

    The rules are refined until nothing moves, or `refine` times more. Margin losses take the sign of the target as
    label. With a `width` p the one known term of order 1/p is kept (`numerics.saddle_point.finite_width`), and q1, q2
    are without the uniform readout's own c_a m_a^2/(pi_a p) and m_a^2/(pi_a p), as a simulation reports them; residual
    and status are those of the equations with that term.

    Raises ModelError at ridge = 0, and for what is not supported: label noise beside margin losses and targets that are
    not +-1, a network's own bulk beside a margin loss and a target that is not +-1. Never raises for lack of
    convergence: `converged` and `status` say so.
    """
    if model.ridge == 0.0:
        raise ModelError(
            "ridge = 0 is only supported for the square loss: give a small ridge, for example ridge = 1e-3"
        )
    if model.rank > 2:
        raise ModelError(
            f"convex losses are only supported for spikes of at most two directions, not {model.rank}: use the "
            "square loss, or for example alignment=0.6, further_alignments=(0.5,)"
        )
    labelled = labelled_model(model)
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and the residual with it
        return _solve(model, labelled, refine, width)


def _at_width(solution: Solution, width: float) -> Solution:
    return solve(solution.model, width=checked_width(width))


def _solve(model: Model, labelled: Model, refine: int, width: float | None) -> Solution:
    loss, system = model.loss, _system(labelled, refine, width)
    ridge = solve_on(system.table, labelled)
    square = ridge.state
    start = np.concatenate([square.values, square.m, square.overlaps, square.q])
    found = newton(system, start)
    if not found.ended:
        found = _by_the_path(system, start, found)
    evaluations = found.evaluations
    coarse = _level(model, system, found)
    costly = known_by_its_map_alone(loss)
    goal, moved = _GOAL_BY_THE_MAP if costly else QUADRATURE_GOAL, math.inf
    for level in range(refine + 1, refine + 1 + _MOST_REFINEMENTS):
        finer = _system(labelled, level, width)
        fine = _level(model, finer, polished(finer, coarse.found.x))
        evaluations += fine.found.evaluations
        before, now, unresolved = coarse.numbers, fine.numbers, finer.table.unresolved
        # A correction that is not worth taking is a difference between the rules as well.
        last, moved = moved, float(np.max(np.abs(now - before) / (1.0 + np.abs(now)))) + unresolved
        moved += min(fine.found.correction, ROUNDING)
        test_moved = abs(fine.error - coarse.error) + unresolved * (1.0 + abs(fine.error))
        coarse = fine
        if not moved > goal or not fine.found.ended or unresolved == 1.0:
            break
        if costly and moved > 0.5 * last:  # rounding, which no finer rule takes away
            break
        if 4 * fine.found.at.averages.count > _MOST_NODES or finer.table.exhausted:
            break
    mapped, test_mapped = _moved_by_the_map(model, coarse)
    # What doubles round away of features that are large or nearly cancel, as the ridge readout on them knows it.
    test_moved += ridge.rounding if math.isfinite(ridge.rounding) else 0.0
    return _solution(model, coarse, moved + mapped, test_moved + test_mapped, evaluations)


def _moved_by_the_map(model: Model, level: _Level) -> tuple[float, float]:
    """How far numbers (shares of 1 + size) and the test error move with the errors of a gradient step."""
    # From the model as it was given: signs of the target as labels keep no step.
    uncertain = relative_uncertainty(model)
    if uncertain == 0.0:
        return 0.0, 0.0
    if uncertain <= SMALL or model.network_step is not None:
        moved = uncertain * level.found.at.condition
        return moved, moved * (1.0 + abs(level.error))
    system, moved, test_moved = level.system, 0.0, 0.0
    for other in neighbours(model):
        there = _system(labelled_model(other), system.refine, system.width)
        found = _level(other, there, polished(there, level.found.x))
        gap = np.abs(found.numbers - level.numbers)
        moved += float(np.max(gap / (1.0 + np.abs(level.numbers))))
        test_moved += abs(found.error - level.error)
    return moved, test_moved


def _by_the_path(system: System, start: Array, tried: Found) -> Found:
    """The same by the path from a smoothed problem, from the square loss's readout and from none."""
    table = system.table
    labels = float(table.weights @ (table.y0**2 + table.y1**2 + table.spread)) + system.model.noise
    pair = len(table.features)
    flat = start.copy()
    flat[pair:-pair] = 0.0
    evaluations = tried.evaluations
    for first, noise in ((start, labels), (flat, 4.0 * labels)):
        found = along_path(system, first, noise, partial(equivalent_of, system.model))
        evaluations += found.evaluations
        if found.ended:
            return replace(found, evaluations=evaluations)
    return replace(tried, evaluations=evaluations)


def _system(model: Model, refine: int, width: float | None, steps: tuple[Layer, ...] = ()) -> System:
    table = profile(model, refine, 0, extra_reach(model.ridge), whole=not mirrored(model), steps=steps)
    return System(table, model, equivalent_of(model, model.ridge), model.loss, refine, width)


def mirrored(model: Model) -> bool:
    """Whether (kappa, z, y, omega) and its mirror image are as good, so that kappa >= 0 is enough.

    At -x an odd student and an odd target change sign; every supported loss is invariant. Even ones do not change.
    """
    symmetric = isinstance(model.loss, ClippedLoss) or model.loss.margin
    parity = model.activation.parity
    return symmetric and parity in ("odd", "even") and model.target.parity == parity and not any(model.biases)


def _level(model: Model, system: System, found: Found) -> _Level:
    test = system.table.weights @ found.at.averages.loss(system.output(found.x), new=True)
    return _Level(found, system, float(test), _mean_squared_error(model, system, found.x))


def _mean_squared_error(model: Model, system: System, x: Array) -> float:
    """E(g - omega)^2 for the target itself, whose rule may differ from that of its sign."""
    table, whole = system.table, system
    if model is not system.model:
        table = profile(model, system.refine, 0, extra_reach(model.ridge), whole=True)
        whole = System(table, model, system.equivalent, system.loss, system.refine, system.width)
    at = whole.output(x)
    error = (table.y0 - at.yhat) ** 2 + table.spread + table.y1 * (table.y1 - 2.0 * at.across) + at.variance
    return float(table.weights @ error)


def _solution(model: Model, level: _Level, moved: float, test_moved: float, evaluations: int) -> Solution:
    system, at, x = level.system, level.found.at, level.found.x
    residual = at.residual
    q2 = unpack(system.split(x)[-1])[1]
    training = float(system.table.weights @ at.averages.loss(system.output(x), new=False))
    wrong, wrong_moved = None, 0.0
    if has_signs(model.target):
        wrong, wrong_moved = _classification_error(system, x)
    # Two rules agree in what is left of the equations, from which they begin, and in part in what doubles round away.
    rounded = _ROUNDINGS * float(np.finfo(float).eps) * at.condition
    moved, test_moved = moved + residual, test_moved + (residual + rounded) * (1.0 + abs(level.error))
    converged, status = _judged(level, residual, moved, model.loss)
    if converged and wrong_moved > max(moved, QUADRATURE_GOAL):
        status = f"converged, but the quadrature limits the classification error to about {wrong_moved:.1e}"
    return Solution(
        model=model,
        test_error=level.error,
        # The square loss is (y - h)^2/2 here, and its errors are squares.
        training_error=2.0 * training if model.loss.name == "square" else training,
        mean_squared_error=level.squared,
        classification_error=wrong,
        energy=model.alpha / model.beta * training + 0.5 * model.ridge * float(np.sum(q2)),
        order_parameters=_order_parameters(level),
        residual=residual,
        error_estimate=test_moved,
        parameter_error=max(moved, wrong_moved),
        converged=converged,
        status=status,
        iterations=evaluations,
        refine=system.refine,
        width=system.width,
        widened=_at_width,
    )


def _judged(level: _Level, residual: float, moved: float, loss: Loss) -> tuple[bool, str]:
    """Whether a solution is one, and the sentence that says what it is worth."""
    system, x = level.system, level.found.x
    if not (residual <= RESIDUAL_GOAL and level.found.ended):
        if _separated(system, x, loss):
            return False, (
                "not converged: the means of the features alone separate the labels, so that m grows without bound "
                "and the limit of infinite dimension does not exist; a larger ridge does not help: use a smaller "
                "alignment, or label noise"
            )
        at, weights = system.output(x), system.table.weights
        advice = ""
        if float(weights @ at.V) > 1e3:
            advice = "; a larger ridge makes the problem better conditioned"
        elif loss.line is not None and float(weights @ (at.variance - at.across**2)) < _QUIET:
            advice = (
                "; the ridge leaves the outputs so little noise that the kinks of the loss are steps along the spike: "
                "take a smaller ridge, or infinite ridge by `giantsteps bounds`"
            )
        return False, (
            f"not converged: Newton's method and a path of smoothed problems end at a residual of {residual:.1e}, "
            f"which has to be under {RESIDUAL_GOAL:.0e}{advice}"
        )
    if system.width is None and undecided(system.table, system.table.weights):
        return False, f"not converged in double precision: {UNDECIDED}"
    if not moved <= QUADRATURE_LIMIT:
        return False, (
            f"not converged in the quadrature: finer rules still move the order parameters by {moved:.1e}; the "
            "activation or the target varies too fast for rules in double precision"
        )
    if moved > QUADRATURE_GOAL:
        return True, f"converged, but the quadrature limits the order parameters to about {moved:.1e}"
    return True, "converged"


def _separated(system: System, x: Array, loss: Loss) -> bool:
    """Whether a function of the span of mu0_a has the sign of every label, with the m_a that were found."""
    if not (isinstance(loss, ProximalLoss) and loss.margin) or system.model.noise > 0.0:
        return False
    means = system.split(x)[1] @ system.table.mu0
    return _wrong(system, means, np.zeros_like(means), np.full_like(means, 1e-300)) <= 1e-12


def _classification_error(system: System, x: Array) -> tuple[float, float]:
    """P(sign omega != g) by a rule that sees where the mean output changes sign, and how far it moved by that rule."""
    steps, found = sign_changes(system, x), []
    # Along several directions there are no such places, and a finer rule costs four times the one that was solved on.
    first = system.refine - (system.table.rank > 1 and 4 * len(system.table.weights) > _MOST_NODES_OF_SIGNS)
    for refine in (first, first + 1):
        on = _system(system.model, refine, system.width, steps)
        at = on.output(x)
        found.append(_wrong(on, at.yhat, at.across, at.variance))
    return found[1], abs(found[1] - found[0])


def _wrong(system: System, yhat: Array, across: Array, variance: Array) -> float:
    return classification_error(system.model, system.place, system.table.weights, yhat, across, variance)


def _order_parameters(level: _Level) -> OrderParameters:
    system, at = level.system, level.found.at
    values, m, overlaps, q = system.split(system.least_means(level.found.x))
    width = math.inf if system.width is None else system.width
    return unpacked(system.model, values, m, overlaps, q, at.conjugates, at.hats, at.forces, width)

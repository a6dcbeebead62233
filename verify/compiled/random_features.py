"""Plain random features by the theorems that derive their saddle points: ridge without a spike, the plain map after a
step, and the slides' system for any convex loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.kernel.search.steps import rewritten
from giantsteps.derivations.saddle_point import equations
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import convex, one_system, plain_equivalence, square_loss
from giantsteps.derivations.saddle_point.random_features import no_spike as derived
from giantsteps.verify.compiled.along import averages, kappa_rule
from giantsteps.verify.compiled.doubles import Rule, normal_rule
from giantsteps.verify.compiled.laws import Law
from giantsteps.verify.compiled.losses import Loss, forces, labels
from giantsteps.verify.compiled.pairs import concluded
from giantsteps.verify.compiled.saddle_points import Model
from giantsteps.verify.compiled.system import values_of
from giantsteps.verify.compiled.tape import Tape, written
from giantsteps.verify.compiled.theorems import isotropic_bulk

# Of the rules for theta.x and for what the output adds to its part along it.
_FIELD, _REACH = 1 / 6, 9.0


@lru_cache(maxsize=1)
def no_spike() -> tuple[Tape, ...]:
    """Section 3.3 at r = 0: the overlap M with the target and the size Q1, whatever the direction."""
    zeta, psi, overlap, _ = derived.overlaps(*derived.forces())
    *_, size = derived.directions(zeta, psi, overlap)
    theorems = (*square_loss.ours(), *isotropic_bulk(), overlap, *derived.sizes(), zeta, psi, size, derived.RESPONSE)
    return written(map(concluded, (*theorems, derived.error())))


@lru_cache(maxsize=1)
def after_step() -> tuple[Tape, ...]:
    """The plain map mu1 (w + r v).x + mu* xi: its saddle point, and what it learns along the spike."""
    m, force, zeta = plain_equivalence.at_solution()
    pulls = (plain_equivalence.on_plain_map(equations.at_saddle(x)) for x in (s.psi, s.q1, s.q2, s.V1, s.V2))
    overlaps = {s.psi_hat: s.psi, s.V1_hat: s.q1, s.V2_hat: s.q2}
    sizes = (equations.isotropic(variable).theorem_of(found) for variable, found in overlaps.items())
    errors = (plain_equivalence.after_step().theorem_of(x) for x in (s.gaussian_error, s.gaussian_mean))
    return written(map(concluded, (m, force, zeta, *pulls, *isotropic_bulk(), *sizes, *errors)))


@lru_cache(maxsize=2)
def slides(square: bool) -> tuple[Tape, ...]:
    """The slides' system: of the square loss with noise on the labels, or of any loss by its force and its slope.

    The average over modes of F^T F/p is one over the mode u, whose eigenvalue is varrho_F(u).
    """
    if square:
        conjugates = square_loss.conjugates()
    else:
        slopes = [convex.at_target(slope) for slope in convex.slopes_target_first()]
        conjugates = tuple(rewritten(convex.conjugate_by_energy(hat), *slopes) for hat in convex.PARTNERS)
    overlaps = (convex.stationary(hat, name)[1] for hat, name in convex.PARTNERS.items())
    return written(map(concluded, (*one_system.ratios(), *conjugates, *overlaps, *convex.NAMES.values())))


def marchenko_pastur(ratio: float, c: float) -> Rule:
    """Eigenvalues of the law of Marchenko and Pastur whose mean is c."""
    eigenvalue, weight = Law.marchenko_pastur(ratio).rule(1.0)
    return Rule(c * eigenvalue, weight)


def target_constants(target: Activation) -> tuple[float, float]:
    """h1* = E[z g] and h2* = E g^2."""
    at = averages(target, np.zeros(1), 1.0)
    return float(at.slope[0]), float(at.square[0])


def plain(model: Model, first: float, second: float) -> Mapping[str, float]:
    """Ridge without a spike for a target with h1* = ``first`` and h2* = ``second``: all that it is given, and finds."""
    return _solved(no_spike(), _given(model, model.bulks[0], first, second))


def plain_after_step(model: Model) -> Mapping[str, float]:
    """The plain map after a step: each neuron receives a normal variable of variance c + r^2."""
    variance = model.bulks[0] + model.slopes[0] ** 2
    return _solved(after_step(), _given(model, variance, *target_constants(model.target)))


def slides_of(model: Model, loss: Loss | None = None, signs: bool = False) -> Mapping[str, float]:
    """The slides' system, of a ridge readout or of a smooth convex loss; ``signs``: the labels are those of the target.

    Labels jump at zero only: the target is odd and has no other zero.
    """
    given = _given(model, model.bulks[0], *target_constants(model.target))
    rules = {s.mode.name: marchenko_pastur(1.0 / model.beta, model.bulks[0])}
    functions: dict[str, Callable[..., Any]] = {"varrho_F": lambda mode: mode}
    if loss is not None:
        smooth = normal_rule(_FIELD, _REACH)
        rules |= {s.z.name: kappa_rule((0.0,), 0.5) if signs else smooth, s.xi.name: smooth}
        functions |= {**forces(loss), "g": partial(labels, model.target, signs)}
    return _solved(slides(loss is None), given, rules, functions)


def _given(model: Model, variance: float, first: float, second: float) -> dict[str, float]:
    at = averages(model.activation, np.zeros(1), math.sqrt(variance))
    values = {
        s.alpha: model.alpha, s.beta: model.beta, s.ridge: model.ridge, s.noise: model.noise, s.c: model.bulks[0],
        s.r: model.slopes[0], s.gamma: model.alignment, s.rho: (1.0 - model.alignment) * (1.0 + model.alignment),
        s.mu1_constant: float(at.slope[0]) / math.sqrt(variance),
        s.mu2_constant: math.sqrt(at.square[0] - at.mean[0] ** 2 - at.slope[0] ** 2),
        s.h1_star: first, s.h2_star: second,
    }  # fmt: skip
    return {symbol.name: value for symbol, value in values.items()}


def _solved(
    tapes: tuple[Tape, ...], given: Mapping[str, float],
    rules: Mapping[str, Rule] | None = None, functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Mapping[str, float]:  # fmt: skip
    return values_of(tapes, rules or {}, given, functions or {})

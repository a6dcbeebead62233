"""A network's own bulk by the theorems that derive it: one group, any activation.

Two systems, one after the other: the law of the rows after the step, and the readout that meets them. The step sees
Y = g(u) + noise - E[sigma] of a sample, u = theta.x; an average over u is one over the noise, too. No theorem concludes
the forms of v, theta_perp and h in the resolvent: they are written here from leaving one sample out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.bulk import any_activation, network, network_rows
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk import two_batch_matrices as batch
from giantsteps.derivations.bulk.any_activation import U, Y
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.free_energy.along_spike import over_kappa
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, sigma_prime
from giantsteps.verify.compiled import saddle_points
from giantsteps.verify.compiled.along import Array, cuts_of, evaluated, kappa_rule
from giantsteps.verify.compiled.doubles import Rule, normal_rule
from giantsteps.verify.compiled.pairs import Pair, concluded, slope_through, slopes
from giantsteps.verify.compiled.saddle_points import looked_up, on, refined
from giantsteps.verify.compiled.system import Solved, System, values_of
from giantsteps.verify.compiled.tape import Tape, written

Function = Callable[[Array], Array]
OVERLAP = (
    (s.overlap_vv, s.overlap_vp, s.overlap_vd),
    (s.overlap_vp, s.overlap_pp, s.overlap_pd),
    (s.overlap_vd, s.overlap_pd, s.overlap_dd),
)
chi_hat = sp.Symbol(r"\hat{\chi}", real=True)
FORCES = (s.zeta_hat, s.psi_hat, chi_hat)
_LABEL = g(U) - s.mean_output


def _concluded(derivation: Derivation, *symbols: sp.Symbol) -> list[Pair]:
    return [concluded(derivation.theorem_of(symbol)) for symbol in symbols]


def over_samples(integrand: sp.Expr) -> sp.Expr:
    """E of a function of Y and u."""
    return Expectation(integrand.subs(Y, _LABEL), U)


@lru_cache(maxsize=1)
def law() -> tuple[Tape, ...]:
    """The averages over label and activation, the spike, c, and the law of the rows."""
    return written(law_pairs())


def law_pairs() -> list[Pair]:
    """The same as pairs."""
    beyond_line = sigma_prime(s.z) - s.h1 - s.curvature * s.z
    pairs = [
        (s.mean_output, Expectation(sigma(s.z), s.z)),
        (s.h1, Expectation(s.z * sigma(s.z), s.z)),
        (s.h2, Expectation(sigma(s.z) ** 2, s.z)),
        (s.h1_check, Expectation((sigma_prime(s.z) - s.h1) ** 2, s.z)),
        # E[sigma''] by Stein's lemma, which kinks have, too.
        (s.curvature, Expectation(s.z * sigma_prime(s.z), s.z)),
        *((symbol, Expectation(s.z**j * beyond_line**k, s.z)) for (j, k), symbol in s.slope_moment.items()),
    ]
    for power, symbols in enumerate((s.label_moment, s.label_slope, s.label_curve)):
        pairs += [(symbol, over_samples(U**power * Y**k)) for k, symbol in enumerate(symbols) if k]
    noise = network_rows.covariance().results[s.row_weight].subs(s.h1_check, s.slope_moment[0, 2])
    pairs += [(s.turn, any_activation.TURN), (s.row_weight, noise)]
    pairs += _concluded(any_activation.spike(), s.v_square, s.r, s.gamma) + _concluded(any_activation.bulk(), s.c)
    return [*pairs, *any_activation.row_law().results.items(), *any_activation.norm_variance().results.items()]


class Averages:
    """Averages E[u^j Y^k/D] over samples, D what a sample's forms shrink by, each with an equation of its own."""

    def __init__(self, over: Callable[[sp.Expr], sp.Expr]) -> None:
        self.pairs: dict[sp.Symbol, sp.Expr] = {}
        self._over = over

    def name(self, tilt: int, power: int) -> sp.Symbol:
        """E[u^j Y^k/D]."""
        found = sp.Symbol(rf"S_{{{tilt}{power}}}", real=True)
        self.pairs[found] = self._over(U**tilt * Y**power)
        return found

    def mean(self, polynomial: sp.Expr) -> sp.Expr:
        """E[polynomial in Y and u/D]."""
        return sp.Add(*(c * self.name(j, k) for (k, j), c in sp.Poly(sp.expand(polynomial), Y, U).terms()))


def _over(numerator: sp.Expr) -> sp.Expr:
    return batch.over(numerator).xreplace({s.z: U})


def _blocks(over: Averages) -> list[Pair]:
    """The blocks of the resolvent, where averages over samples are taken, and the forms along the target."""
    found = _concluded(batch.trace(), s.row_trace) + _concluded(batch.blocks(), s.bridge_trace, s.rest_trace)
    found += _concluded(batch.places(), s.place_linear, s.place_square)
    found += _concluded(batch.target_forms(), s.target_form, s.target_bridge)
    names = {batch.over(U**j * Y**k): over.name(j, k) for j in (0, 2) for k in (1, 2)}
    return [(symbol, formula.xreplace(names)) for symbol, formula in found]


@lru_cache(maxsize=1)
def blocks() -> tuple[Tape, ...]:
    """The blocks of the resolvent at a given gain, and its forms along the target."""
    over = Averages(_over)
    found = _blocks(over)
    return written([*over.pairs.items(), *found])


def _forms(over: Averages) -> list[Pair]:
    """H = (1 + g B)^-1 on v, theta_perp and h, as R on vectors x = theta A + (1/n0) sum x f(Y) of two blocks.

    A sample left out has the weight W in R^-1: on it R x is (1 + G W/alpha0)^-1 (u R_theta x + G f/alpha0), where
    x R_theta is A + E[u f (1 + G W/alpha0)^-1] times theta.R theta. R_12 is sqrt(g) H P, R_22 is g P H P - 1.
    """
    G, weight = batch.blocks_and_weight(Y)
    acts = weight * (sp.eye(2) + G * weight / s.alpha0).adjugate()
    left = (sp.eye(2) + weight * G / s.alpha0).adjugate()
    entries = ((0, 0), (0, 1), (1, 1))
    means = dict(zip(batch.means(U**2), (over.mean(U**2 * acts[place]) for place in entries), strict=True))
    below, root = sp.Symbol("R_{22}", real=True), sp.sqrt(s.gain)
    along = sp.Matrix([[s.target_form, root * s.target_bridge], [root * s.target_bridge, below]])
    found: list[Pair] = [(below, batch.linear_matrix(U**2).xreplace(means).inv(method="ADJ")[1, 1])]
    pulled, added = any_activation.pulled_and_added()
    across, spike = sp.sqrt(1 - s.gamma**2), sp.Matrix([Y / sp.sqrt(s.v_square), 0])
    vectors = {
        "v": (sp.zeros(2, 1), spike),
        "p": (sp.Matrix([1 / across, 0]), -s.gamma / across * spike),
        "h": (sp.zeros(2, 1), sp.Matrix([added, pulled / root])),
    }
    seen = {x: sp.Matrix(sp.symbols(f"x_{x}1 x_{x}2", real=True)) for x in vectors}
    for x, (target, f) in vectors.items():
        found += zip(seen[x], target + (U * left * f).applyfunc(over.mean), strict=True)

    def form(x: str, y: str) -> sp.Expr:
        own = over.mean((vectors[x][1].T * G * left * vectors[y][1])[0])
        return (seen[x].T * along * seen[y])[0] + own / s.alpha0

    rest = any_activation.product(pulled, pulled) / s.gain
    return [
        *found,
        (s.row_vv, form("v", "v")), (s.row_vp, form("v", "p")), (s.row_pp, form("p", "p")), (s.row_vh, form("v", "h")),
        (s.row_ph, form("p", "h")), (s.row_hh, form("h", "h") + rest),
    ]  # fmt: skip


@lru_cache(maxsize=1)
def _bulk() -> tuple[Pair, ...]:
    over, bulk = Averages(_over), {**network.rows().results, **network.width().results}
    gain = (s.gain, s.beta * s.V1_hat * s.V2)
    found = [gain, *_blocks(over), *bulk.items(), *_forms(over), *network.overlaps().results.items()]
    return (*over.pairs.items(), *found)


@lru_cache(maxsize=1)
def bulk() -> tuple[Tape, ...]:
    """T, tau and K at given conjugates."""
    return written(_bulk())


@lru_cache(maxsize=1)
def readout() -> tuple[Tape, ...]:
    """The saddle point of the readout, and both errors."""
    return written(readout_pairs())


def readout_pairs() -> list[Pair]:
    """The same as pairs."""
    features = network.NETWORK
    cost = s.alpha / s.beta * over_kappa(features.e2 * features.weight) / 2
    conjugates = {s.V1_hat: (2, s.q1), s.V2_hat: (2, s.q2), s.q1_hat: (-2, s.V1), s.q2_hat: (-2, s.V2),
                  s.zeta_hat: (-1, s.zeta), s.psi_hat: (-1, s.psi), chi_hat: (-1, s.chi)}  # fmt: skip
    pairs: list[Pair] = [(hat, factor * sp.diff(cost, x)) for hat, (factor, x) in conjugates.items()]
    pairs += network.readout_mean().results.items()
    rows = _bulk()
    K, forces = sp.Matrix(OVERLAP), sp.Matrix(FORCES)
    pairs += rows
    pairs += zip((s.zeta, s.psi, s.chi), K * forces, strict=True)
    twice = s.q1_hat * s.V1 + s.q2_hat * s.V2 + (forces.T * K * forces)[0]
    pairs += slopes(rows, s.V1_hat, s.V2_hat)
    for size, variable in ((s.q1, s.V1_hat), (s.q2, s.V2_hat)):
        pairs.append((size, -slope_through(twice, rows, variable)))
    return [*pairs, *_concluded(network.errors(), s.test_error, s.training_error)]


@lru_cache(maxsize=1)
def batch_alone() -> tuple[Tape, ...]:
    """Q = (A + t)^-1 of the batch of a step whose labels have no mean, at a given t, and its forms."""
    found = {**network.batch_vectors().results, **network.batch().results, s.leverage: s.batch_trace / s.alpha0}
    return written((symbol, formula.xreplace({s.z: U})) for symbol, formula in found.items())


class GradientStep(Protocol):
    """Samples per dimension and learning rate of the one step."""

    @property
    def only(self) -> tuple[float, float]: ...


class Model(saddle_points.Model, Protocol):
    """What a model has to say of itself, its step among it."""

    @property
    def step(self) -> GradientStep | None: ...


@dataclass(frozen=True)
class Step:
    """A gradient step of a network: student and target, alpha0, eta, beta and the variance of the label noise."""

    activation: Activation
    target: Activation
    alpha0: float
    eta: float
    beta: float
    noise: float = 0.0

    @property
    def given(self) -> dict[str, float]:
        """The ratios by name."""
        return {s.alpha0.name: self.alpha0, s.eta.name: self.eta, s.beta.name: self.beta}


@dataclass(frozen=True)
class _Seen:
    """A model after its step, as its functions along the spike see it."""

    activation: Activation
    target: Activation
    noise: float
    slopes: tuple[float]
    bulks: tuple[float]
    alignment: float
    biases: tuple[float] = (0.0,)


@lru_cache(maxsize=32)
def samples(target: Activation, noise: float, finer: float) -> tuple[Rule, Function]:
    """A rule for u, each node with a rule for the label noise, and g with the noise on it."""
    u, weights = kappa_rule(cuts_of(target), finer)
    labels = evaluated(target.expression, u)
    if noise:
        e, share = normal_rule(1.0 / (6.0 * finer), 9.0)
        labels = (labels[:, None] + math.sqrt(noise) * e).ravel()
        u, weights = np.repeat(u, len(e)), np.outer(weights, share).ravel()
    return Rule(u, weights), partial(looked_up, labels)


@lru_cache(maxsize=256)
def rows_of(step: Step, finer: float = 1.0) -> Mapping[str, float]:
    """The averages over label and activation, spike, bulk, alignment and the law of the rows, by name."""
    rule, labels = samples(step.target, step.noise, finer)
    student = step.activation.expression
    functions: dict[str, Function] = {
        "g": labels,
        "sigma": partial(evaluated, student),
        "sigma_prime": partial(evaluated, derivative(student)),
    }
    rules = {U.name: rule, s.z.name: kappa_rule(cuts_of(step.activation), finer)}
    return values_of(law(), rules, step.given, functions)


def _solved(tapes: Sequence[Tape], step: Step, given: Mapping[str, float]) -> Mapping[str, float]:
    rule, labels = samples(step.target, step.noise, 1.0)
    return values_of(tapes, {U.name: rule}, {**rows_of(step), **given}, {"g": labels})


def blocks_of(step: Step, gain: float) -> Mapping[str, float]:
    """The blocks of the resolvent at a gain, its forms along the target among them, and all that they depend on."""
    return _solved(blocks(), step, {s.gain.name: gain})


def batch_of(target: Activation, alpha0: float, shift: float) -> Mapping[str, float]:
    """The resolvent of a batch at t = ``shift``, and its forms, by name."""
    rule, labels = samples(target, 0.0, 1.0)
    given = {s.alpha0.name: alpha0, s.batch_shift.name: shift}
    return values_of(batch_alone(), {U.name: rule}, given, {"g": labels})


@lru_cache(maxsize=256)
def bulk_of(step: Step, conjugate: float, shift: float) -> Mapping[str, float]:
    """T, tau and K where a readout has C and lambda + D, three fifths of it the ridge, and all that they depend on."""
    return _solved(bulk(), step, {s.V1_hat.name: conjugate, s.V2_hat.name: 0.4 * shift, s.ridge.name: 0.6 * shift})


def step_of(model: Model) -> Step:
    """The step that a model made."""
    assert model.step is not None
    return Step(model.activation, model.target, *model.step.only, model.beta, model.noise)


def functions_of(model: Model, finer: float = 1.0) -> Mapping[str, Function]:
    """mu0, mu1, mu2, k2, y0, y1 and y2 (with label noise) of a network, by the law of its rows."""
    r, c, gamma = (rows_of(step_of(model), finer)[x.name] for x in (s.r, s.c, s.gamma))
    return saddle_points.functions_of(_Seen(model.activation, model.target, model.noise, (r,), (c,), gamma))


def solved(model: Model) -> tuple[Solved, float]:
    """The saddle point of a network of one letter with its own bulk, and an estimate of the error: see
    `saddle_points.solved`. Raises SolveError.
    """
    return refined(partial(_on, model))


def _on(model: Model, finer: float) -> Solved:
    step, kappa = step_of(model), kappa_rule((), finer)
    rule, labels = samples(model.target, model.noise, finer)
    given = {**rows_of(step, finer), s.alpha.name: model.alpha, s.ridge.name: model.ridge, s.noise.name: model.noise}
    functions = {**on(kappa, functions_of(model, finer)), "g": labels}
    return System(readout(), {U.name: rule, s.kappa.name: kappa}, given, functions).solve()

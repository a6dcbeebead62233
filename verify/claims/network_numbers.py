"""Measurements for the claims on a network's own bulk: real steps at finite d, and the formulas without the solver.

The left-hand sides are measured on rows of real networks (full residual, |w| = 1 or w ~ N(0, I/d), a = 1/sqrt(p)), on
batches, or taken from the solver. What the right-hand sides need is iterated here from the formulas as they stand, on
the verifier's own grid: it shares nothing with the solver's parametrisation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derivations import symbols as s
from derivations.activation import activation
from numerics.coefficients import conditional_moments_of
from numerics.ensembles import Network
from numerics.model import Model
from numerics.network_bulk import NetworkBulk, network_law
from numerics.ridge import solve
from numerics.simulate import simulate
from numerics.solution import Solution
from verify.checks import Point
from verify.claim import Profile
from verify.claims.brute_force import LINE, SMOOTH, WEIGHT, Array, hermite_numbers, interpretation
from verify.claims.models import functions_of, numbers, solved
from verify.evaluate import Functions
from verify.simulation_check import Measured


@dataclass(frozen=True)
class Step:
    """A network's step: rate e = eta/beta."""

    student: str
    target: str
    alpha0: float
    rate: float
    beta: float


# Rows are drawn at p = 4 d; the rates are large enough for every term of v_c to count.
ROW_MODELS = {
    "tanh student, tanh target": Step("tanh", "tanh", 2.0, 4.0, 4.0),
    "erf student, sine target": Step("erf", "sin", 3.0, 3.0, 4.0),
}
# Small ones, so that many seeds are cheap; in the first target and spike overlap most (by 14 % of their geometric mean).
BULK_MODELS = {
    "sine student, tanh target": Step("sin", "tanh", 1.0, 8.0, 0.5),
    "tanh student, tanh target": Step("tanh", "tanh", 2.0, 4.0, 0.8),
}
CONJUGATES = {"sine student, tanh target": (0.3, 2.0), "tanh student, tanh target": (0.8, 0.5)}
SHIFT = 0.7


@dataclass(frozen=True)
class Drawn:
    """Bulk rows (p, d) of one network, minus their mean, the mean itself, and v~ of its batch; theta is axis 0."""

    rows: Array
    mean: Array
    batch: Array

    @property
    def norms(self) -> Array:
        """|b|^2 minus its mean over rows."""
        squares = np.einsum("ij,ij->i", self.rows, self.rows)
        return np.asarray(squares - squares.mean())


def draw(step: Step, d: int, seed: int, gaussian: bool = False) -> Drawn:
    """One real gradient step; the rows start on the unit sphere, or as N(0, I/d)."""
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(31, spawn_key=(d, seed, int(gaussian))))
    rows = rng.standard_normal((p, d))
    rows /= math.sqrt(d) if gaussian else np.linalg.norm(rows, axis=1)[:, None]
    x = rng.standard_normal((n0, d))
    labels = SMOOTH[step.target].value(x[:, 0])
    received = x @ rows.T
    student = SMOOTH[step.student]
    residual = labels - student.value(received).mean(axis=1)
    rows += step.rate / n0 * (student.prime(received) * residual[:, None]).T @ x
    mean = rows.mean(axis=0)
    return Drawn(rows - mean, mean, labels @ x / n0)


ROW_STATISTICS = ("covariance", "target", "spike", "variance", "spike gaussian", "variance gaussian")


@lru_cache(maxsize=512)
def row_statistics(step: Step, d: int, seed: int, gaussian: bool) -> tuple[float, float, float, float]:
    """d times Var b.theta, Cov(b.theta, |b|^2), Cov(b.v~, |b|^2), Var |b|^2 over the rows of one network."""
    drawn = draw(step, d, seed, gaussian)
    p = len(drawn.rows)
    norms, along = drawn.norms, drawn.rows[:, 0]
    per_row = d / (p - 1)
    return (
        per_row * float(along @ along),
        per_row * float(along @ norms),
        per_row * float((drawn.rows @ drawn.batch) @ norms),
        per_row * float(norms @ norms),
    )


def ratios(step: Step, d: int) -> dict[str, float]:
    """Hermite numbers and the ratios realised at dimension d; eta is the one that keeps the rate."""
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    return {
        **hermite_numbers(step.student, step.target),
        s.alpha0.name: n0 / d,
        s.beta.name: p / d,
        s.eta.name: step.rate * p / d,
    }


def functions_for(step: Step) -> Functions:
    """Implementations of sigma, g and their derivatives."""
    return interpretation(step.student, step.target)


def row_experiment(statistic: str, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One statistic of the rows, at half the profile's dimensions (the rows are many), for both models."""
    gaussian = statistic.endswith("gaussian")
    column = ("covariance", "target", "spike", "variance").index(statistic.split()[0])
    found = {}
    for name, step in ROW_MODELS.items():
        measured = []
        for d in (dimension // 2 for dimension in profile.dimensions):
            samples = tuple(row_statistics(step, d, k, gaussian)[column] for k in range(2 * profile.seeds))
            values = ratios(step, d)
            if gaussian:
                law = own_law(step, alpha0=values[s.alpha0.name])
                values |= {s.norm_variance.name: law.variance, s.norm_spike_overlap.name: law.spike}
            measured.append(Measured(d, samples, values, functions_for(step)))
        found[name] = tuple(measured)
    return found


# --- the formulas, iterated ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnLaw:
    """omega, weights of v~ and w3 in h, v_c, h.v~ and |v~|, from averages on a fixed grid."""

    weight: float
    linear: float
    cubic: float
    variance: float
    spike: float
    size: float


def average(values: Array) -> float:
    """E over z on the grid."""
    return float(WEIGHT @ values)


def own_law(step: Step, alpha0: float) -> OwnLaw:
    """The law of the rows as the theory states it."""
    numbers_ = hermite_numbers(step.student, step.target)
    centred = SMOOTH[step.student].prime(LINE) - numbers_[s.h1.name]
    y, e = SMOOTH[step.target].value(LINE), step.rate
    second, check = average(LINE**2 * centred), average(centred**2)
    square, fourth = average(y**2), average(y**4)
    first, cube = average(LINE * y), average(LINE * y**3)
    linear, cubic = 2 * e * second, e**3 * average(centred**3) / alpha0**2
    size2 = first**2 + square / alpha0
    variance = (
        4 * e**2 * (square / alpha0 * (average(LINE**2 * centred**2) - second**2) + second**2 * size2)
        + e**4 * (fourth * (average(centred**4) - check**2) / alpha0**3 + 2 * square**2 * check**2 / alpha0**2)
    )  # fmt: skip
    spike = linear * size2 + cubic * (first * cube + fourth / alpha0)
    return OwnLaw(e**2 * check / alpha0, linear, cubic, variance, spike, math.sqrt(size2))


def batch_forms(target: str, alpha0: float, t: float) -> dict[str, float]:
    """q by bisection (its equation has one root) and the forms of Q at shift t; keys are glyphs."""
    y = SMOOTH[target].value(LINE)

    def gap(q: float) -> float:
        return q * (t + average(y**2 / (1 + y**2 * q / alpha0))) - 1.0

    low, high = 0.0, 1.0 / t
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    q = 0.5 * (low + high)
    shrunk = 1 / (1 + y**2 * q / alpha0)
    along = 1 / (t + average(y**2 * LINE**2 * shrunk))
    first, cube = average(LINE * y * shrunk), average(LINE * y**3 * shrunk)
    own = q / alpha0
    return {
        s.batch_trace.name: q,
        s.leverage.name: own,
        s.batch_shift.name: t,
        s.batch_target.name: along,
        s.batch_mixed.name: along * first,
        s.batch_cube.name: along * cube,
        s.batch_pair.name: along * first * cube + own * average(y**4 * shrunk),
        "vv": along * first**2 + own * average(y**2 * shrunk),
        "33": along * cube**2 + own * average(y**6 * shrunk),
    }


def equivalent(step: Step, alpha0: float, beta: float, conjugate: float, shift: float) -> dict[str, float]:
    """tau by bisection of its equation as it stands, and all that the claims on V2, V1 and K need; keys are glyphs."""
    law = own_law(step, alpha0)

    def traces(V2: float) -> tuple[float, float]:
        gain = conjugate * beta * V2
        q = batch_forms(step.target, alpha0, (1 + gain) / (gain * law.weight))[s.batch_trace.name]
        return gain, q / (gain * law.weight)

    low, high = 0.0, 1.0 / shift
    for _ in range(60):
        middle = 0.5 * (low + high)
        gain, trace = traces(middle)
        above = middle * (shift + conjugate * (1 - trace) / gain) > 1.0
        low, high = (low, middle) if above else (middle, high)
    V2 = 0.5 * (low + high)
    gain, trace = traces(V2)
    forms = batch_forms(step.target, alpha0, (1 + gain) / (gain * law.weight))
    scale = gain * law.weight
    tt, tv, t3 = (forms[x.name] / scale for x in (s.batch_target, s.batch_mixed, s.batch_cube))
    vv, v3, w33 = forms["vv"] / scale, forms[s.batch_pair.name] / scale, forms["33"] / scale
    first = average(LINE * SMOOTH[step.target].value(LINE))
    gamma = first / law.size
    root = math.sqrt(1 - gamma**2)
    hv = (law.linear * vv + law.cubic * v3) / law.size
    ht = law.linear * tv + law.cubic * t3
    Hvv, Htv = vv / law.size**2, tv / law.size
    return {
        s.V2.name: V2,
        s.V1.name: (1 - shift * V2) / conjugate,
        s.gain.name: gain,
        s.row_trace.name: trace,
        s.norm_variance.name: law.variance,
        s.row_vv.name: Hvv,
        s.row_vp.name: (Htv - gamma * Hvv) / root,
        s.row_pp.name: (tt - 2 * gamma * Htv + gamma**2 * Hvv) / root**2,
        s.row_vh.name: hv,
        s.row_ph.name: (ht - gamma * hv) / root,
        s.row_hh.name: law.linear**2 * vv + 2 * law.linear * law.cubic * v3 + law.cubic**2 * w33,
        s.V1_hat.name: conjugate,
        s.V2_hat.name: 0.4 * shift,
        s.ridge.name: 0.6 * shift,
        s.alpha0.name: alpha0,
        s.beta.name: beta,
    }


# --- resolvents measured ---------------------------------------------------------------------------------------------

BATCH_MODELS = {"tanh target": ("tanh", 2.0), "sine target": ("sin", 0.7)}


@lru_cache(maxsize=256)
def batch_resolvent(target: str, d: int, n0: int, seed: int) -> tuple[float, float, float, float, float]:
    """(1/d) tr Q, theta.Q theta, theta.Q v~, theta.Q w3, v~.Q w3 of one batch at t = SHIFT."""
    x = np.random.default_rng(np.random.SeedSequence(37, spawn_key=(d, seed))).standard_normal((n0, d))
    y = SMOOTH[target].value(x[:, 0])
    weighted = x * y[:, None]
    resolvent = np.linalg.inv(weighted.T @ weighted / n0 + SHIFT * np.eye(d))
    v, w3 = y @ x / n0, y**3 @ x / n0
    along = resolvent[0]
    return (
        float(np.trace(resolvent)) / d,
        float(along[0]),
        float(along @ v),
        float(along @ w3),
        float(v @ resolvent @ w3),
    )


def batch_experiment(column: int, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One form of Q at the profile's dimensions."""
    found = {}
    for name, (target, alpha0) in BATCH_MODELS.items():
        measured = []
        for d in profile.dimensions:
            n0 = round(alpha0 * d)
            samples = tuple(batch_resolvent(target, d, n0, k)[column] for k in range(2 * profile.seeds))
            values = batch_forms(target, n0 / d, SHIFT)
            measured.append(Measured(d, samples, values, interpretation("tanh", target)))
        found[name] = tuple(measured)
    return found


BULK_COLUMNS = (s.V2, s.V1, s.overlap_vv, s.overlap_vp, s.overlap_pp, s.overlap_vd, s.overlap_pd, s.overlap_dd)


@lru_cache(maxsize=2048)
def bulk_resolvent(step: Step, d: int, conjugate: float, shift: float, seed: int) -> dict[str, float]:
    """V2, V1 and K on the rows of one real network, at given conjugates; keys are glyphs."""
    drawn = draw(step, d, seed)
    W, p = drawn.rows, len(drawn.rows)
    v = drawn.mean / np.linalg.norm(drawn.mean)
    perp = -v[0] * v
    perp[0] += 1.0
    perp /= np.linalg.norm(perp)
    columns = np.stack([W @ v, W @ perp, drawn.norms], axis=1)
    planar = W - np.outer(columns[:, 0], v)
    gram = planar @ planar.T
    solved_ = np.linalg.solve(conjugate * gram + shift * np.eye(p), np.concatenate([np.eye(p), columns], axis=1))
    inverse, K = solved_[:, :p], columns.T @ solved_[:, p:]
    entries = (
        float(np.trace(inverse)) / p,
        float(np.sum(gram * inverse)) / p,
        *(float(K[i, j]) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
    )
    return {symbol.name: value for symbol, value in zip(BULK_COLUMNS, entries, strict=True)}


@lru_cache(maxsize=256)
def _equivalent_at(step: Step, d: int, conjugate: float, shift: float) -> dict[str, float]:
    return equivalent(step, round(step.alpha0 * d) / d, round(step.beta * d) / d, conjugate, shift)


def bulk_experiment(name: str, models: tuple[str, ...], profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One quantity of a network's bulk at half the profile's dimensions, for the models named."""
    found = {}
    for model in models:
        step = BULK_MODELS[model]
        conjugate, shift = CONJUGATES[model]
        measured = []
        for d in (dimension // 2 for dimension in profile.dimensions):
            samples = tuple(bulk_resolvent(step, d, conjugate, shift, k)[name] for k in range(8 * profile.seeds))
            measured.append(Measured(d, samples, _equivalent_at(step, d, conjugate, shift)))
        found[model] = tuple(measured)
    return found


# --- the solver ------------------------------------------------------------------------------------------------------


def step_at(point: Point) -> Step:
    """The step of a point of the domain."""
    return Step(
        str(point["activation"]),
        str(point["target"]),
        float(point[s.alpha0.name]),
        float(point["rate"]),
        float(point[s.beta.name]),
    )


def solver_bulk(point: Point) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent, the right-hand sides by the formulas as they stand."""
    step = step_at(point)
    conjugate, shift = float(point[s.V1_hat.name]), float(point["shift"])
    law = network_law(
        activation(step.student), activation(step.target), step.alpha0, step.rate * step.beta, step.beta, 0.0
    )
    at = NetworkBulk(shift, step.beta, law).at(np.array([conjugate, 0.0]))
    (V1, V2), K = at.values, at.overlap
    entries = (V2, V1, *(K[i, j] for i, j in ((0, 0), (0, 2), (2, 2), (0, 1), (1, 2), (1, 1))))
    right = equivalent(step, step.alpha0, step.beta, conjugate, shift)
    return right | {symbol.name: float(value) for symbol, value in zip(BULK_COLUMNS, entries, strict=True)}


def solver_law(point: Point) -> dict[str, float]:
    """The law of the rows by the solver's averages, for statements in Hermite numbers and expectations."""
    step = step_at(point)
    law = network_law(
        activation(step.student), activation(step.target), step.alpha0, step.rate * step.beta, step.beta, 0.0
    )
    gaussian = network_law(
        activation(step.student), activation(step.target), step.alpha0, step.rate * step.beta, step.beta, 0.0, True
    )
    along, norm = gaussian.independent[0], gaussian.independent[2]
    pair, first = law.labels.pair, np.asarray(law.labels.first)  # type: ignore[union-attr]
    h = np.array(law.correlation)
    v = np.array([first[0], 1.0, 0.0])
    metric = np.zeros((3, 3))
    metric[0, 0] = 1.0
    metric[1:, 1:] = pair / step.alpha0
    spike = float(v @ metric @ h)
    size = math.sqrt(float(v @ metric @ v))
    return {
        **hermite_numbers(step.student, step.target),
        s.eta.name: step.rate * step.beta,
        s.row_weight.name: law.omega,
        s.row_form.name: 1.0 + law.omega * float(law.labels.averages(0.0).tilted),
        s.c.name: law.bulk,
        s.norm_overlap.name: float(h[0]),
        s.norm_spike_overlap.name: spike,
        s.norm_variance.name: law.norm_variance,
        s.norm_variance_gaussian.name: law.norm_variance + norm**2,
        s.spike_overlap_gaussian.name: spike + size * along * norm,
    }


def solver_functions(point: Point) -> Functions:
    """Implementations of sigma, g and their derivatives at a point."""
    return functions_for(step_at(point))


# --- the readout -----------------------------------------------------------------------------------------------------

NETWORKS = {
    "tanh student, tanh target": Network(
        activation("tanh"), activation("tanh"), alpha=1.5, beta=1.0, ridge=0.01, alpha0=10.0, eta=10.0
    ),
    "erf student, sign target": Network(
        activation("erf"), activation("sign"), alpha=2.0, beta=1.0, ridge=0.05, alpha0=4.0, eta=4.0, noise=0.1
    ),
}


def own_model(network: Network, bulk_model: str = "network") -> Model:
    """The theory's model of a network."""
    return Model.from_gradient_step(
        network.activation, network.target, alpha=network.alpha, beta=network.beta, ridge=network.ridge,
        alpha0=network.alpha0, eta=network.eta, noise=network.noise, bulk_model=bulk_model,
    )  # fmt: skip


def network_values(solution: Solution) -> dict[str, float]:
    """A network's solution as values of the symbols of the theory, with the isotropic predictions beside it."""
    model = solution.model
    plain = solved(Model(model.activation, model.target, alpha=model.alpha, beta=model.beta, ridge=model.ridge,
                         noise=model.noise, spike=model.spike, bulk=model.bulk, alignment=model.alignment))  # fmt: skip
    return numbers(solution) | {
        s.chi.name: float(solution.order_parameters.chi[0]),
        s.error_isotropic.name: plain.test_error,
        s.training_isotropic.name: plain.training_error,
        s.m_isotropic.name: float(plain.order_parameters.m[0]),
    }


def functions_with_third(model: Model) -> Functions:
    """The functions along the spike, k2 = d mu0/dc among them."""

    def third(kappa: Array) -> Array:
        flat = np.asarray(kappa, dtype=float).ravel()
        moments = conditional_moments_of(model.activation, model.spike, model.bulk, 0.0, flat)
        return np.asarray((moments.curvature / (2.0 * model.bulk)).reshape(np.shape(kappa)))

    return {**functions_of(model), "k2": third}


def readout_experiment(observable: str, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """An observable of the readout of real networks at half the profile's dimensions, with many seeds."""
    found = {}
    for name, network in NETWORKS.items():
        measured = []
        for d in (dimension // 2 for dimension in profile.dimensions):
            run = simulate(network, dimension=d, seeds=5 * profile.seeds, kind="network")
            at = run.model
            assert isinstance(at, Network)
            solution = solved(own_model(at))
            values = network_values(solution)
            measured.append(Measured(d, run.values(observable), values, functions_with_third(solution.model)))
        found[name] = tuple(measured)
    return found


def model_at(point: Point) -> Model:
    """The network of a point, as a model."""
    return Model.from_gradient_step(
        activation(str(point["activation"])), activation(str(point["target"])),
        alpha=float(point[s.alpha.name]), beta=float(point[s.beta.name]), ridge=float(point[s.ridge.name]),
        alpha0=float(point[s.alpha0.name]), eta=float(point["rate"]) * float(point[s.beta.name]),
        noise=float(point[s.noise.name]), bulk_model="network",
    )  # fmt: skip


def solved_network(point: Point) -> dict[str, float] | None:
    """Order parameters and errors of the network of a point; None where the solver did not converge."""
    solution = solved(model_at(point))
    return network_values(solution) if solution.converged else None


def solved_functions(point: Point) -> Functions:
    """The functions along the spike of the network of a point."""
    return functions_with_third(model_at(point))


def floor_numbers(point: Point) -> dict[str, float] | None:
    """The test error of a network with many samples and neurons, and the distance of y0 from the three functions."""
    solution = solve(model_at(point))
    if not solution.converged:
        return None
    model = solution.model
    functions = functions_with_third(model)
    root = np.sqrt(WEIGHT)
    span = np.stack([functions["mu0"](LINE), LINE * functions["mu1"](LINE), functions["k2"](LINE)], axis=1)
    y0 = functions["y0"](LINE)
    span, right = span * root[:, None], y0 * root
    basis = np.linalg.qr(span)[0]
    left = right - basis @ (basis.T @ right)
    return {s.test_error.name: solution.test_error, s.distance_third.name: float(left @ left)}


def third_at(point: Point) -> dict[str, float]:
    """d mu0/dc at a point, by central differences of the solver's mu0."""
    student, kappa = activation(str(point["activation"])), np.array([float(point[s.kappa.name])])
    r, c, h = float(point[s.r.name]), float(point[s.c.name]), 1e-5
    up, down = (conditional_moments_of(student, r, c + sign * h, 0.0, kappa).mean[0] for sign in (1.0, -1.0))
    return {s.third.name: float(up - down) / (2 * h)}


def third_functions(point: Point) -> Functions:
    """Implementations of sigma at a point."""
    return interpretation(str(point["activation"]), str(point["target"]))

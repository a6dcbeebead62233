"""Networks with a vocabulary and biases: real ones, and the saddle point of `network_groups_readout` beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.compiled import network_letters, saddle_points, theorems
from giantsteps.verify.protocol.claim import PROFILES, Profile
from giantsteps.verify.second_route.gradient_step.readouts import fitted, on_others, on_own
from giantsteps.verify.second_route.gradient_step.real import after_step, batch_shapes, even_rows
from giantsteps.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array, distance_from_span
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.values import LETTERS, by_glyph


@dataclass(frozen=True)
class Vocabulary:
    """A network: one step, groups with letters u_a and biases b_a added to the features, a ridge readout.

    ``noise`` is the variance of what is added to the labels of the readout's samples.
    """

    step: Step
    fractions: tuple[float, ...]
    letters: tuple[float, ...]
    biases: tuple[float, ...]
    alpha: float
    ridge: float
    noise: float = 0.0

    @property
    def compiled(self) -> network_letters.Network:
        """The network that the theorems are computed for."""
        return network_letters.network(
            self.step.compiled, self.fractions, self.letters, self.biases, self.alpha, self.ridge, self.noise
        )


@lru_cache(maxsize=32)
def solve(network: Vocabulary, isotropic: bool = False) -> Mapping[str, float]:
    """The saddle point of a network by the theorems, or with the isotropic bulk of Appendix D; keys are glyphs."""
    if isotropic:
        return saddle_points.solved(network.compiled, theorems.two_letters())[0].values
    return network_letters.solved(network.compiled)[0].values


@dataclass(frozen=True)
class Drawn:
    """The ridge readouts of a network, on average over training sets, each tested on the others: test and training
    error, the first letter's mean, and its overlap with the norms of rows.
    """

    test_error: float
    training_error: float
    m: float
    chi: float


@dataclass(frozen=True)
class _Draw:
    """A network after its step: rows (p, d), before it and after it, and the group of each, the batch, and the samples
    of its readouts, with their labels and these without noise.
    """

    start: Array
    rows: Array
    group: NDArray[np.int_]
    batch: tuple[Array, Array]
    samples: Array
    labels: Array
    clean: Array


@lru_cache(maxsize=1)
def _draw(network: Vocabulary, d: int, seed: int) -> _Draw:
    """A step from unit rows with the full residual; theta is axis 0."""
    step = network.step
    p, n0, n = (round(x * d) for x in (step.beta, step.alpha0, network.alpha))
    rng = np.random.default_rng(np.random.SeedSequence(71, spawn_key=(d, seed)))
    edges = np.round(np.cumsum((0.0, *network.fractions)) * p).astype(int)
    group = np.repeat(np.arange(len(network.letters)), np.diff(edges))
    target = SMOOTH[step.target].value
    start, x = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    given = np.asarray(target(x[:, 0]))
    rows = after_step(start, SMOOTH[step.student], x, given, step.rate, np.array(network.letters)[group])
    samples = rng.standard_normal((_sets(network) * n, d))
    clean = np.asarray(target(samples[:, 0]))
    labels = clean + math.sqrt(network.noise) * rng.standard_normal(len(clean))
    return _Draw(start, rows, group, (x, given), samples, labels, clean)


def _readout(network: Vocabulary, drawn: _Draw, rows: Array) -> Drawn:
    """Ridge readouts of features with biases."""
    root, first = math.sqrt(len(rows)), drawn.group == 0
    features = SMOOTH[network.step.student].value(drawn.samples @ rows.T + np.array(network.biases)[drawn.group]) / root
    a = fitted(features, drawn.labels, _sets(network), network.ridge)
    f, mean = features @ a, a[first].mean(axis=1) / root
    errors = on_others((drawn.clean[:, None] - f) ** 2), on_own((drawn.labels[:, None] - f) ** 2)
    return Drawn(*errors, float(mean.sum()), float(norms_of(rows[first]) @ mean))


@lru_cache(maxsize=4096)
def drawn(network: Vocabulary, d: int, seed: int) -> Drawn:
    """The readouts of one network."""
    found = _draw(network, d, seed)
    return _readout(network, found, found.rows)


@lru_cache(maxsize=4096)
def twin(network: Vocabulary, d: int, seed: int) -> Drawn:
    """The readouts of its twin on the same inputs and labels: the same mean rows, each letter's bulk rows made even.

    That is the isotropic bulk of Appendix D.
    """
    found = _draw(network, d, seed)
    even, shapes = np.empty_like(found.rows), batch_shapes(*found.batch)
    for own in (found.group == a for a in range(len(network.letters))):
        mean = found.rows[own].mean(axis=0)
        even[own] = even_rows(found.rows[own] - mean, found.start[own], *found.batch, shapes) + mean
    return _readout(network, found, even)


def norms_of(rows: Array) -> Array:
    """|b|^2 less its mean over the rows of one letter, whose mean is the spike's part."""
    squares = np.square(rows - rows.mean(axis=0)).sum(axis=1)
    return np.asarray(squares - squares.mean())


# At the first the network's own bulk moves m by a fifth, but networks of some hundred neurons are far from their limit;
# at the third its bulk moves m by 3 %, every term of m moves it by a hundredth, and its own 1/d^2 is small.
NETWORKS = {
    "erf student, tanh target": Vocabulary(
        Step("erf", "tanh", 10.0, 8.0, 0.8), (0.5, 0.5), (1.0, 0.5), (0.0, 0.3), 2.0, 0.05
    ),
    "tanh student, sine target": Vocabulary(
        Step("tanh", "sin", 4.0, 4.0, 0.8), (0.4, 0.6), (1.0, -0.5), (0.8, 0.4), 2.0, 0.1
    ),
    "tanh student, tanh target": Vocabulary(
        Step("tanh", "tanh", 4.0, 8.0, 1.2), (0.5, 0.5), (1.0, -1.0), (0.3, 1.0), 2.0, 0.2, 0.02
    ),
    "tanh student, tanh target, large batch": Vocabulary(
        Step("tanh", "tanh", 8.0, 8.0, 1.2), (0.5, 0.5), (1.0, -1.0), (0.0, 0.8), 3.0, 0.05, 0.02
    ),
}
# Many samples and neurons, a batch whose alignment is near one.
WELL_FED = {
    "erf student, sine target": Vocabulary(
        Step("erf", "sin", 1000.0, 4.0, 100.0), (0.5, 0.5), (1.0, -0.4), (0.2, 0.8), 1e5, 1e-4
    ),
    "tanh student, sine target": Vocabulary(
        Step("tanh", "sin", 2000.0, 3.0, 100.0), (0.3, 0.7), (1.0, 0.6), (0.0, 0.5), 1e5, 1e-4
    ),
}


def values_of(network: Vocabulary) -> dict[str, float]:
    """The saddle point of a network with two letters as values of the symbols, beside it the isotropic predictions."""
    found, plain, K = solve(network), solve(network, isotropic=True), network_letters.OVERLAP
    values: dict[Any, float] = {
        s.alpha: network.alpha,
        s.beta: network.step.beta,
        s.ridge: network.ridge,
        s.noise: network.noise,
        s.error_isotropic: plain[s.test_error.name],
        s.training_isotropic: plain[s.training_error.name],
        s.m_isotropic: plain[s_saddle.m_of[0].name],
    }
    rows = (s_saddle.norm_row_spike, s_saddle.norm_row_target, s_saddle.norm_row_norm)
    values |= {row[a]: found[K[4, 2 * i + a].name] for i, row in enumerate(rows) for a in LETTERS}
    return {**found, **by_glyph(values)}


@lru_cache(maxsize=16)
def _table(network: Vocabulary, raw: bytes) -> dict[str, Array]:
    kappa, found = np.frombuffer(raw), solve(network)
    table = {name: f(kappa) for name, f in saddle_points.functions_of(network.compiled).items()}

    def by_letter(name: str) -> Array:
        return np.stack([table[f"{name}_{a + 1}"] for a in LETTERS])

    m, zeta, chi, tau = (
        np.array([found[of[a].name] for a in LETTERS])
        for of in (s_saddle.m_of, s_saddle.zeta_of, s_saddle.chi_of, s.V2_of)
    )
    T = np.array([[found[s.V1_of[a][b].name] for b in LETTERS] for a in LETTERS])
    mu1 = by_letter("mu1")
    fit = m @ by_letter("mu0") + kappa * (zeta @ mu1) + chi @ by_letter("k2")
    return table | {"yhat": fit, "Vk": np.einsum("an,ab,bn->n", mu1, T, mu1) + tau @ by_letter("mu2") ** 2}


def functions_of(network: Vocabulary) -> Mapping[str, Callable[[Array], Array]]:
    """The functions along the spike, of either letter, and yhat at the solution."""

    def at(name: str) -> Callable[[Array], Array]:
        def evaluated(kappa: Array) -> Array:
            values = np.asarray(kappa, dtype=float)
            return _table(network, values.tobytes())[name].reshape(values.shape)

        return evaluated

    pairs = [f"{name}_{a + 1}" for name in ("mu0", "mu1", "mu2", "k2") for a in LETTERS]
    return {name: at(name) for name in (*pairs, "y0", "y1", "y2", "yhat", "Vk")}


def solved_at(point: Point) -> dict[str, float]:
    """The network of a point."""
    return values_of(NETWORKS[str(point["network"])])


def functions_at(point: Point) -> Mapping[str, Callable[[Array], Array]]:
    """Its functions along the spike."""
    return functions_of(NETWORKS[str(point["network"])])


# Networks on which a quantity is measured, how many per seed of the profile at each dimension, and whether twins are
# taken off. The rows of a twin have equal norms, and no chi, which varies most. Of m and of the errors each wrong
# neighbour that has to be refuted is five standard errors off or more, while what the line in 1/d leaves of 1/d^2 is a
# quarter of one for m, a tenth for the test error and half of one for the training error; chi is known to a fifth,
# which is the protocol's limit.
_BY_NORMS, _, _FOR_MEAN, _FOR_ERRORS = NETWORKS
_ERRORS = {_FOR_ERRORS: (12, 6, 3)}
_READOUTS = {
    s.test_error: ("test_error", _ERRORS, True),
    s.training_error: ("training_error", _ERRORS, True),
    s_saddle.m_of[0]: ("m", {_FOR_MEAN: (24, 12, 6)}, True),
    s_saddle.chi_of[0]: ("chi", {_BY_NORMS: (26, 26, 26)}, False),
}
# m of the first network differs from its limit by -3.7/d + 41/d^2 (errors 0.5 and 20) and nothing else (-0.0001, error
# 0.003), as measured on 800, 400, 130 and 24 draws at d = 50 to 400. At a quarter of the dimensions a line in 1/d
# leaves -0.005 of this, the standard error of some eighty networks; at half of them, where it leaves a third of one, it
# costs too much for the quick profile.
_AT_LARGE = {_BY_NORMS: (2, 1, 1)}


def _sets(network: Vocabulary) -> int:
    """Training sets of a network: chi varies as much by its rows as by one of these, m and the errors by these most."""
    return 3 if network == NETWORKS[_BY_NORMS] else 6


def readouts(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """Test error, training error, m or chi of the first letter, at a quarter of the profile's dimensions, many seeds.

    Of each draw its twin's number is taken off and the limit of the twins put back: what separates them, the law of the
    bulk rows alone, has a tenth of the noise. The ratios are those of the network at each of these dimensions: they are
    multiples of 50. But for the quick profile m is measured on one more network, at half of the dimensions.
    """
    name, networks, paired = tuple(_READOUTS.values())[column(quantity, *_READOUTS)]

    def one(model: tuple[Vocabulary, Sequence[int], int], d: int) -> Measured:
        network, counts, share = model
        seeds = profile.draws(counts[profile.dimensions.index(share * d)])
        # One after the other, so that a network is there when its twin is made of it.
        samples = np.array([
            getattr(drawn(network, d, k), name) - (getattr(twin(network, d, k), name) if paired else 0.0) for k in seeds
        ])  # fmt: skip
        if paired:
            samples += solve(network, isotropic=True)[quantity.name]
        return Measured(d, tuple(samples), values_of(network), functions_of(network))

    found: dict[str, tuple[Measured, ...]] = {}
    large = _AT_LARGE if name == "m" and profile.seeds > PROFILES["quick"].seeds else {}
    for share, chosen in ((4, networks), (2, large)):
        models = {model: (NETWORKS[model], counts, share) for model, counts in chosen.items()}
        found |= at_sizes(models, profile, one, share)
    return found


def floor_numbers(point: Point) -> dict[str, float]:
    """The test error of a well-fed network, and the distance of y0 from the six functions of its letters."""
    network = WELL_FED[str(point["network"])]
    table = {name: f(LINE) for name, f in saddle_points.functions_of(network.compiled).items()}
    parts = [(table[f"mu0_{a + 1}"], LINE * table[f"mu1_{a + 1}"], table[f"k2_{a + 1}"]) for a in LETTERS]
    distance = distance_from_span([column for part in parts for column in part], table["y0"])
    return {s.test_error.name: solve(network)[s.test_error.name], s.distance_groups.name: distance}


def third_at(point: Point, c: sp.Symbol, third: sp.Symbol) -> dict[str, float]:
    """d mu0/dc of a letter, by central differences of an average on a fixed grid; letter 1 and no bias by default."""
    student, r, kappa = SMOOTH[str(point["activation"])], float(point[s.r.name]), float(point[s.kappa.name])
    u, b = float(point.get(s.letter[0].name, 1.0)), float(point.get(s_saddle.bias_of[0].name, 0.0))

    def mean(bulk: float) -> float:
        return float(WEIGHT @ student.value(r * u * kappa + b + math.sqrt(bulk) * LINE))

    bulk = float(point[c.name])
    return {third.name: (mean(bulk + 1e-5) - mean(bulk - 1e-5)) / 2e-5}

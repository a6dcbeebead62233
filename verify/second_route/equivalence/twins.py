"""A trained network beside its twin with an isotropic bulk: ridge readouts of both on the same inputs and labels.

The network takes a real gradient step (full residual). Its twin has the same mean row, so the same spike, and the
network's own bulk rows made even: what they have of their batch's covariance, in the shapes (1/n0) sum Y^k x x^T for Y
= y - h0, is taken out of them with weights read off the rows, not those that claims give, and all get one norm. They
share all draws, so that what separates them, the law of the rows alone, has a tenth of the noise. The twin's limit is
Result 3.3, which has claims of its own: a network's number, less its twin's, plus that limit, tends to the network's.

What is measured of a network is the mean over several readouts a, each on a training set of its own and tested on those
of the others (`gradient_step.readouts`), of features F (n x p), f = F a/sqrt(p), u = theta.x:

    test error, training error, m = 1.a/sqrt(p), and the function learned along theta: E[f u], E[f (u^3 - 3 u)]/6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.numerics.models.network import Network
from giantsteps.verify.checks.simulation import Measured, column
from giantsteps.verify.protocol.claim import PROFILES, Profile
from giantsteps.verify.second_route.any_activation.curves import CURVES, Z
from giantsteps.verify.second_route.any_activation.curves import mean as average
from giantsteps.verify.second_route.gradient_step.readouts import fitted, on_others, on_own
from giantsteps.verify.second_route.gradient_step.real import BULK_COLUMNS, Drawn, after_step, batch_shapes, even_rows
from giantsteps.verify.second_route.grids import Array, Curve, Function
from giantsteps.verify.second_route.networks.draws import first_step
from giantsteps.verify.second_route.networks.one_letter_rows import DRAWN_ROWS
from giantsteps.verify.second_route.networks.step import Step, equivalent, named

# With a target that is not smooth: no gradient is taken of it.
_CURVES = {**CURVES, "sign": Curve(np.sign, np.zeros_like)}


@dataclass(frozen=True)
class Setting:
    """A network: student, target, alpha, beta, ridge of the readout, alpha0, eta and the variance of the label noise;
    and how many are drawn, with how many training sets each, two or more. Neurons have letters u_a of a vocabulary, by
    fractions, during the step, and biases after it; the labels of the step have noise, too, or not.

    So many that each mutant that has to be refuted is six standard errors off, or nearly: what it predicts
    less what the statement does, both extrapolated, over the error measured. The protocol refutes from 3.3 to 3.6 on,
    so that one in a hundred is missed. A network whose step costs much has more training sets, one whose own share of
    the noise is large has more draws; none has less than two draws, with which the error is known to a tenth even where
    the protocol takes it from the smallest dimension alone. More would say no more: what a line in 1/d leaves of 1/d^2
    is half a standard error of most of what is measured, and one of a few.
    """

    student: str
    target: str
    alpha: float
    beta: float
    ridge: float
    alpha0: float
    eta: float
    draws: int = 2
    noise: float = 0.0
    sets: int = 6
    letters: tuple[float, ...] = (1.0,)
    fractions: tuple[float, ...] = (1.0,)
    biases: tuple[float, ...] = (0.0,)
    noisy_step: bool = True

    @property
    def step(self) -> Step:
        """Its step, of a readout of ones, and without the noise of labels."""
        return Step(self.student, self.target, self.alpha0, self.eta / self.beta, self.beta)

    def at(self, d: int) -> Network:
        """The network with the ratios that sizes, which are integers, have at dimension d, and the same eta/beta."""
        beta = round(self.beta * d) / d
        student, target = named(self.student), named(self.target)
        return Network(
            student, target, alpha=round(self.alpha * d) / d, beta=beta, ridge=self.ridge,
            alpha0=round(self.alpha0 * d) / d, eta=self.eta * beta / self.beta, noise=self.noise,
        )  # fmt: skip


# What the sources print: the paper's example (alpha0 = 20, eta = 3, ridge 0.1) and the slides' figures over batch sizes
# (eta = 1, ridge 0.01; eta = 3, ridge 0.1). Where they give a range or nothing alpha0 is chosen, alpha = 1.5, beta = 1.
SETTINGS = {
    "tanh learns sin": Setting("tanh", "sin", 1.5, 1.0, 0.1, 20.0, 3.0, sets=8),
    "tanh learns tanh, small batch": Setting("tanh", "tanh", 1.5, 1.0, 0.01, 0.5, 1.0, draws=4, sets=5),
    "tanh learns tanh": Setting("tanh", "tanh", 1.5, 1.0, 0.01, 1.0, 1.0, draws=3, sets=12),
    "tanh learns sign": Setting("tanh", "sign", 1.5, 1.0, 0.1, 1.0, 3.0, sets=7),
    "tanh learns sign, large batch": Setting("tanh", "sign", 1.5, 1.0, 0.1, 6.0, 3.0, sets=7),
}
# At the batch size of the first the error is flat in the third function's share, chi; not at that of the second.
BESIDE = {"tanh learns sign": "tanh learns sign, large batch"}
# Networks beside those of the sources: one whose labels have noise, and two whose activations are not odd. In the last
# one, of few neurons, the third function and what of it is no constant are shares of either error that are measured.
NETWORKS = {
    "tanh student, tanh target": Setting("tanh", "tanh", 1.5, 1.0, 0.01, 10.0, 10.0, draws=4),
    "erf student, sign target": Setting("erf", "sign", 2.0, 1.0, 0.05, 4.0, 4.0, noise=0.1),
}
ANY_NETWORKS = {
    "relu student, sine target": Setting("relu", "sin", 1.5, 1.0, 0.1, 2.0, 3.0, noise=0.1, sets=5),
    "softplus student, shifted sine target, few neurons": Setting(
        "softplus", "shifted sin", 5.0, 0.5, 0.2, 2.0, 12.0, draws=3, sets=3
    ),
}
# After a step on half a sample per dimension isotropy misses 7 % of the training error.
SMALL_BATCH = {"relu student, sine target, small batch": Setting("relu", "sin", 1.5, 1.0, 0.05, 0.5, 4.0, draws=3)}
# With a large mean: of the readout's mean the first is known to a per cent, and to the second the third function is a
# seventh.
OFF_CENTRE = {
    "shifted tanh student, tanh target": Setting("shifted tanh", "tanh", 1.5, 0.5, 0.01, 4.0, 8.0, draws=4, sets=12),
    "leaning tanh student, shifted sine target": Setting(
        "leaning tanh", "shifted sin", 3.0, 1.5, 0.05, 2.0, 8.0, draws=3, sets=4
    ),
}
# Draws of a setting per seed of a profile, at each dimension: a draw costs d^3.
_SHARES = (4, 2, 1)


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
    exact: Array


@lru_cache(maxsize=1)
def _draw(setting: Setting, d: int, seed: int) -> _Draw:
    """A step from unit rows with the full residual; theta is axis 0."""
    n, p, n0 = (round(x * d) for x in (setting.alpha, setting.beta, setting.alpha0))
    target, letters = _CURVES[setting.target], np.array(setting.letters)
    rng = np.random.default_rng(np.random.SeedSequence(71 if len(letters) > 1 else 97, spawn_key=(d, seed)))
    edges = np.round(np.cumsum((0.0, *setting.fractions)) * p).astype(int)
    group = np.repeat(np.arange(len(letters)), np.diff(edges))
    start, batch = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    x = rng.standard_normal((setting.sets * n, d))
    given, exact = (np.asarray(target.value(inputs[:, 0])) for inputs in (batch, x))
    labels = exact
    if setting.noise:
        if setting.noisy_step:
            given = given + math.sqrt(setting.noise) * rng.standard_normal(n0)
        labels = exact + math.sqrt(setting.noise) * rng.standard_normal(len(x))
    rows = after_step(start, _CURVES[setting.student], batch, given, setting.eta / setting.beta, letters[group])
    return _Draw(start, rows, group, (batch, given), x, labels, exact)


def _readouts(setting: Setting, found: _Draw, rows: Array) -> tuple[float, ...]:
    """What is measured of the readouts of features, on average; the labels that are tested are exact."""
    first, u = found.group == 0, found.samples[:, 0]
    received = found.samples @ rows.T
    received += np.array(setting.biases)[found.group]
    features = np.asarray(_CURVES[setting.student].value(received))
    # The readouts over sqrt(p).
    a = fitted(features, found.labels, setting.sets, features.shape[1] * setting.ridge)
    f, mean = features @ a, a[first].mean(axis=1)
    norms = np.square(rows[first] - rows[first].mean(axis=0)).sum(axis=1)
    return (
        on_others((found.exact[:, None] - f) ** 2),
        on_own((found.labels[:, None] - f) ** 2),
        float(mean.sum()),
        on_others(f * u[:, None]),
        on_others(f * (u**3 - 3 * u)[:, None]) / 6,
        float((norms - norms.mean()) @ mean),
    )


@lru_cache(maxsize=4096)
def network(setting: Setting, d: int, seed: int) -> tuple[float, ...]:
    """What is measured of one network: both errors, m, what is learned along theta, and the overlap with norms."""
    found = _draw(setting, d, seed)
    return _readouts(setting, found, found.rows)


@lru_cache(maxsize=4096)
def twin(setting: Setting, d: int, seed: int) -> tuple[float, ...]:
    """The same of its twin, each letter's bulk rows made even."""
    found, student = _draw(setting, d, seed), _CURVES[setting.student]
    batch, labels = found.batch[0], found.batch[1] - average(student.value(Z))
    even, shapes = np.empty_like(found.rows), batch_shapes(batch, labels)
    for own in (found.group == a for a in range(len(setting.letters))):
        mean = found.rows[own].mean(axis=0)
        even[own] = even_rows(found.rows[own] - mean, found.start[own], batch, labels, shapes) + mean
    return _readouts(setting, found, even)


def pair(setting: Setting, d: int, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both, one after the other, so that a network is there when its twin is made of it."""
    return network(setting, d, seed), twin(setting, d, seed)


# The m and the overlap chi with the norms of rows are those of the first letter.
COLUMNS = {
    s.test_error: 0, s.training_error: 1, s.m: 2, s_saddle.m_of[0]: 2, s.slope_learned: 3, s.cubic_learned: 4,
    s_saddle.chi_of[0]: 5,
}  # fmt: skip


# The twin's limits, and the numbers and functions that statements on a network are evaluated with.
Limits = tuple[Array, Mapping[str, float], Mapping[str, Function]]
LimitsOf = Callable[[Setting, int], Limits]


def beside_twins(
    settings: Mapping[str, Setting], limits: LimitsOf, quantity: sp.Basic, profile: Profile,
    counts: tuple[int, ...] = (), paired: bool = True, share: int = 4,
) -> Mapping[str, tuple[Measured, ...]]:  # fmt: skip
    """A quantity of networks at the profile's dimensions over ``share``, each draw's with its twin's taken off and the
    twin's limit put back; or without it, where they are not ``paired``.

    ``counts`` are draws per seed of the profile at each dimension, by default the setting's own.
    """
    at = tuple(COLUMNS.values())[column(quantity, *COLUMNS)]

    def sizes(setting: Setting) -> Iterator[Measured]:
        chosen = counts or [setting.draws * each for each in _SHARES]
        # A profile of fewer dimensions measures at those only.
        for dimension, count in zip(profile.dimensions, chosen[: len(profile.dimensions)], strict=True):
            d, draws = dimension // share, profile.draws(count)
            even, values, functions = limits(setting, d)
            if paired:
                both = np.array([pair(setting, d, seed) for seed in draws])[:, :, at]
                samples = both[:, 0] - both[:, 1] + even[at]
            else:
                samples = np.array([network(setting, d, seed)[at] for seed in draws])
            yield Measured(d, tuple(samples), values, functions)

    return {name: tuple(sizes(setting)) for name, setting in settings.items()}


# ---- the overlap of spike direction and target in the bulk of a real network ----

# A step with the conjugates, C and the ridge beside D, that its rows meet: this overlap is a sixth of the geometric
# mean of its diagonal entries, as large as it gets. An even bulk has none, whatever its size.
_TURNED = (Step("tanh", "sin", 2.0, 16.0, 0.6), 0.5, 0.3)
_TURNED_DRAWS = 18


@lru_cache(maxsize=4096)
def _turned(d: int, seed: int) -> float:
    """K_v,perp of a real network less that of its twin."""
    step, *conjugates = _TURNED
    start, move, x, labels = first_step(step, d, seed)
    rows = start + step.rate * move
    mean = rows.mean(axis=0)
    own, even = (
        Drawn(W, mean, labels @ x / len(x)).resolvent(*conjugates)[BULK_COLUMNS.index(s.overlap_vp)]
        for W in (rows - mean, even_rows(rows - mean, start, x, labels))
    )
    return own - even


def spike_and_target(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """K_v,perp on rows drawn by a law, and but for the quick profile on those of real networks less their twins'.

    On real networks it costs too many draws to be measured quickly.
    """
    found = dict(DRAWN_ROWS(quantity, profile))
    if profile.seeds <= PROFILES["quick"].seeds:
        return found
    step, *conjugates = _TURNED
    sizes = []
    for dimension, share in zip(profile.dimensions, _SHARES[: len(profile.dimensions)], strict=True):
        d = dimension // 4
        samples = tuple(_turned(d, seed) for seed in profile.draws(share * _TURNED_DRAWS))
        sizes.append(Measured(d, samples, equivalent(step.at(d), *conjugates)))
    return found | {"real networks, tanh student, sine target": tuple(sizes)}

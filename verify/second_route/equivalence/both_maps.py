"""Result 3.2 at finite size: ridge readouts of two feature maps on one draw of rows, inputs and labels.

The spiked map is sigma(W x + r kappa); the equivalent one mu0 + mu1 W x + mu2 xi, with mu0, mu1 and mu2 along kappa.
They share all of a draw but xi, so that what is compared is the difference, which has little noise. Beside them stand
maps that are wrong by little, on the same draw and the same xi: what a wrong statement predicts.

Of a readout a = R F^T y/sqrt(p), with features F (n x p) and R = (F^T F/p + ridge)^-1, these are measured:

    test error, m = 1.a/sqrt(p), zeta = a.Wv/sqrt(p), V2 = tr R/p, V1 = tr[W W^T R]/p,
    E[(kappa^2 - 1)/(1 + V(kappa))]: the mean of (kappa^2 - 1)(1 - h_i) over samples, h_i = F_i.R F_i/p,

the first three linear in what a map says along kappa, the traces in the variances that it gives to features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from onestep.derivations.equivalence import symbols as s
from onestep.verify.checks.simulation import Measured, column
from onestep.verify.protocol.claim import Profile
from onestep.verify.second_route.gradient_step.real import unit_rows
from onestep.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array


@dataclass(frozen=True)
class Pair:
    """A student, a target and the ratios at which the two maps are compared."""

    student: str
    target: str
    alpha: float
    beta: float
    ridge: float
    spike: float
    bulk: float
    alignment: float
    tests: int = 1  # test samples per training sample


TWO = {
    "tanh student, sine target": Pair("tanh", "sin", 1.5, 1.0, 0.1, 1.0, 1.0, 0.8, tests=4),
    "erf student, tanh target": Pair("erf", "tanh", 2.0, 0.8, 0.05, 1.5, 1.2, 0.9, tests=4),
}
# All of the target along the spike: nothing that the readout cannot fit adds noise to m.
ALONG = {"tanh student, sine target along the spike": Pair("tanh", "sin", 1.5, 0.8, 0.1, 1.0, 1.5, 1.0)}
# mu0 turns twice as fast as the target: the readout makes up for it by the rows' overlaps with the spike.
TURNING = {"sine student of twice the pace of its target": Pair("sin", "sin", 4.0, 1.0, 0.1, 2.0, 0.6, 1.0)}
PAIRS = {**TWO, **ALONG, **TURNING}

# |kappa| of a simulation; linear interpolation between 4000 places is exact to 1e-6, far below sampling errors.
_KAPPAS = np.linspace(-8.0, 8.0, 4001)


def along_spike(activation: str, argument: Array, c: float) -> tuple[Array, Array, Array]:
    """mu0, mu1, mu2 at r kappa = ``argument``, from their definitions."""
    values = SMOOTH[activation].value(argument[:, None] + np.sqrt(c) * LINE)
    mu0 = values @ WEIGHT
    slope = values @ (WEIGHT * LINE)
    residual = values - mu0[:, None] - slope[:, None] * LINE
    return mu0, slope / np.sqrt(c), np.sqrt(residual**2 @ WEIGHT)


@lru_cache(maxsize=8)
def _tables(activation: str, r: float, c: float) -> tuple[Array, Array, Array]:
    return along_spike(activation, r * _KAPPAS, c)


@dataclass(frozen=True)
class Draw:
    """Bulk rows (p x d), inputs along the spike (first the n training samples), what the rows receive, labels, xi."""

    pair: Pair
    rows: Array
    kappa: Array
    received: Array
    labels: Array
    xi: Array

    @property
    def training(self) -> int:
        """How many of the samples train the readout."""
        return len(self.kappa) // (1 + self.pair.tests)


def draw(name: str, d: int, seed: int) -> Draw:
    """One draw of everything: v and theta span the first two directions of the inputs."""
    pair = PAIRS[name]
    n, p = round(pair.alpha * d), round(pair.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(22, spawn_key=(d, seed)))
    rows = np.sqrt(pair.bulk) * unit_rows(p, d, rng)
    x = rng.standard_normal(((1 + pair.tests) * n, d))
    kappa = x[:, 0]
    along = pair.alignment * kappa + np.sqrt(1 - pair.alignment**2) * x[:, 1]
    labels = np.asarray(SMOOTH[pair.target].value(along))
    return Draw(pair, rows, kappa, x @ rows.T, labels, rng.standard_normal((len(x), p)))


def spiked(drawn: Draw) -> Array:
    """sigma(W x + r kappa)."""
    return np.asarray(SMOOTH[drawn.pair.student].value(drawn.received + drawn.pair.spike * drawn.kappa[:, None]))


def equivalent(
    drawn: Draw,
    scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
    constant: int | None = None,
    across: bool = False,
) -> Array:
    """mu0 + mu1 W x + mu2 xi; or the map with its coefficients times ``scales``, one of them (its number) constant
    (at its root mean square), or the overlap of rows and spike left out of W x.
    """
    tables = _tables(drawn.pair.student, drawn.pair.spike, drawn.pair.bulk)
    mu = [scale * np.interp(drawn.kappa, _KAPPAS, table) for scale, table in zip(scales, tables, strict=True)]
    if constant is not None:
        mu[constant] = np.full_like(mu[constant], np.sqrt(np.mean(mu[constant] ** 2)))
    received = drawn.received - np.outer(drawn.kappa, drawn.rows[:, 0]) if across else drawn.received
    return np.asarray(mu[0][:, None] + mu[1][:, None] * received + mu[2][:, None] * drawn.xi)


# What a statement on the equivalent map may get wrong; the last was taken for the map itself on slides.
Map = Callable[[Draw], Array]
MAPS: Mapping[str, Map] = {
    "": equivalent,
    "mu0 2 % larger": partial(equivalent, scales=(1.02, 1.0, 1.0)),
    "mu1 2 % larger": partial(equivalent, scales=(1.0, 1.02, 1.0)),
    "mu2 2 % larger": partial(equivalent, scales=(1.0, 1.0, 1.02)),
    "mu1 constant along kappa": partial(equivalent, constant=1),
    "mu2 constant along kappa": partial(equivalent, constant=2),
    "W x_perp for W x": partial(equivalent, across=True),
}

# Of either map.
_SYMBOLS = {
    s.test_error: s.equivalent_error,
    s.m: s.equivalent_mean,
    s.zeta: s.equivalent_overlap,
    s.V1: s.equivalent_bulk_trace,
    s.V2: s.equivalent_trace,
    s.fit_along_spike: s.equivalent_fit_along_spike,
}
QUANTITIES = tuple(_SYMBOLS)


def of_map(quantity: sp.Symbol, wrong: str = "") -> sp.Symbol:
    """The symbol of a quantity of the readout on the equivalent map, or on a wrong one of MAPS."""
    right = _SYMBOLS[quantity]
    return sp.Symbol(rf"{right.name}[\text{{{wrong}}}]", real=True) if wrong else right


def readout(drawn: Draw, features: Array) -> tuple[float, ...]:
    """QUANTITIES of the ridge readout of features."""
    n, p = drawn.training, len(drawn.rows)
    scaled = features / np.sqrt(p)
    fitted, kappa, y = scaled[:n], drawn.kappa[:n], drawn.labels
    inverse = np.linalg.inv(fitted.T @ fitted + drawn.pair.ridge * np.eye(p))
    weights = inverse @ (fitted.T @ y[:n])
    unfitted = 1.0 - np.sum((fitted @ inverse) * fitted, axis=1)
    return (
        float(np.mean((y[n:] - scaled[n:] @ weights) ** 2)),
        float(weights.sum() / np.sqrt(p)),
        float(weights @ drawn.rows[:, 0] / np.sqrt(p)),
        float(np.sum((inverse @ drawn.rows) * drawn.rows) / p),
        float(np.trace(inverse) / p),
        float(np.mean((kappa**2 - 1) * unfitted)),
    )


@lru_cache(maxsize=4096)
def measured(name: str, d: int, seed: int, wrong: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    """QUANTITIES of the spiked map, of the equivalent one and of the named wrong ones, on one draw."""
    drawn = draw(name, d, seed)
    return tuple(readout(drawn, features(drawn)) for features in (spiked, *(MAPS[key] for key in ("", *wrong))))


# Draws per seed of the profile at each dimension: a draw costs d^3, and varies less at larger d.
DRAWS = (10, 8, 4)
FEW = (5, 4, 2)


def both_maps(
    names: tuple[str, ...],
    wrong: tuple[str, ...],
    draws: tuple[int, ...],
    fluctuation: int,
    quantity: sp.Basic,
    profile: Profile,
) -> Mapping[str, tuple[Measured, ...]]:
    """A quantity of the spiked map, each draw's with the equivalent map's taken off and the mean of those put back.

    The two of a draw share all but xi, so that their difference has little noise, and the standard error is that of
    the difference. ``wrong`` maps predict their own mean over the same draws.
    """
    at = column(quantity, *QUANTITIES)
    symbols = [of_map(QUANTITIES[at], key) for key in ("", *wrong)]
    found: dict[str, tuple[Measured, ...]] = {}
    for name in names:
        sizes = []
        # A profile of fewer dimensions measures at those only, one of none nowhere; of more there are no draws.
        for dimension, count in zip(profile.dimensions, draws[: len(profile.dimensions)], strict=True):
            d = dimension // 2
            rows = np.array([measured(name, d, seed, wrong) for seed in profile.draws(count)])[:, :, at]
            means = rows.mean(axis=0)
            values = {symbol.name: float(mean) for symbol, mean in zip(symbols, means[1:], strict=True)}
            samples = tuple(rows[:, 0] - rows[:, 1] + means[1])
            sizes.append(Measured(d, samples, values, fluctuation=fluctuation))
        found[name] = tuple(sizes)
    return found

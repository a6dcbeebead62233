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
from functools import cached_property, lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.simulation import Measured, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.gradient_step.real import positive_inverse, positive_solution
from giantsteps.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array


@dataclass(frozen=True)
class Pair:
    """A student, a target and the ratios at which the two maps are compared.

    ``linear``: of the readout only what is linear in it is measured, m and zeta, for half of the cost of a draw.
    """

    student: str
    target: str
    alpha: float
    beta: float
    ridge: float
    spike: float
    bulk: float
    alignment: float
    tests: int = 1  # test samples per training sample
    linear: bool = False


TWO = {
    "tanh student, sine target": Pair("tanh", "sin", 1.5, 1.0, 0.1, 1.0, 1.0, 0.8, tests=4),
    "erf student, tanh target": Pair("erf", "tanh", 2.0, 0.8, 0.05, 1.5, 1.2, 0.9, tests=4),
}
# All of the target along the spike: nothing that the readout cannot fit adds noise to m.
ALONG = {"tanh student, sine target along the spike": Pair("tanh", "sin", 1.5, 0.8, 0.1, 1.0, 1.5, 1.0, linear=True)}
# mu0 turns twice as fast as the target: the readout makes up for it by the rows' overlaps with the spike.
TURNING = {
    "sine student of twice the pace of its target": Pair("sin", "sin", 4.0, 1.0, 0.1, 2.0, 0.6, 1.0, linear=True)
}
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
    """Bulk rows (p x d), inputs (first the n training samples, then the test samples), labels, and xi (n x p)."""

    pair: Pair
    rows: Array
    inputs: Array
    labels: Array
    xi: Array

    @property
    def training(self) -> int:
        """How many of the samples train the readout."""
        return len(self.xi)

    @property
    def kappa(self) -> Array:
        """The inputs along the spike."""
        return np.asarray(self.inputs[:, 0])

    @cached_property
    def received(self) -> Array:
        """W x of the training samples."""
        return np.asarray(self.inputs[: self.training] @ self.rows.T)

    @cached_property
    def coefficients(self) -> Array:
        """mu0, mu1, mu2 of every sample."""
        tables = _tables(self.pair.student, self.pair.spike, self.pair.bulk)
        return np.array([np.interp(self.kappa, _KAPPAS, table) for table in tables])

    @cached_property
    def gram(self) -> Array:
        """W W^T."""
        return np.asarray(self.rows @ self.rows.T)


@dataclass(frozen=True)
class Features:
    """What a map makes of a draw: features F (n x p) of the training samples, and of a readout a (p,) the mean of F a
    over xi on each test sample, with its variance over xi: no xi of a test sample has to be drawn.
    """

    training: Array
    tested: Callable[[Array], tuple[Array, Array | float]]


def draw(name: str, d: int, seed: int) -> Draw:
    """One draw of everything: v and theta span the first two directions of the inputs."""
    pair = PAIRS[name]
    n, p = round(pair.alpha * d), round(pair.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(22, spawn_key=(d, seed)))
    rows = np.sqrt(pair.bulk) * unit_rows(rng, p, d)
    x = rng.standard_normal(((1 + pair.tests) * n, d))
    kappa = x[:, 0]
    along = pair.alignment * kappa + np.sqrt(1 - pair.alignment**2) * x[:, 1]
    labels = np.asarray(SMOOTH[pair.target].value(along))
    return Draw(pair, rows, x, labels, rng.standard_normal((n, p)))


def spiked(drawn: Draw) -> Features:
    """sigma(W x + r kappa)."""
    n, student, spike = drawn.training, SMOOTH[drawn.pair.student].value, drawn.pair.spike * drawn.kappa[:, None]

    def tested(a: Array) -> tuple[Array, float]:
        return student(drawn.inputs[n:] @ drawn.rows.T + spike[n:]) @ a, 0.0

    return Features(np.asarray(student(drawn.received + spike[:n])), tested)


def equivalent(
    drawn: Draw,
    scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
    constant: tuple[int, float] | None = None,
    across: bool = False,
) -> Features:
    """mu0 + mu1 W x + mu2 xi; or the map with its coefficients times ``scales``, one of them (its number) so far on the
    way to a constant (its root mean square; 1 is all of it), or the overlap of rows and spike left out of W x.
    """
    mu, n = drawn.coefficients * np.reshape(scales, (3, 1)), drawn.training
    if constant is not None:
        which, share = constant
        mu[which] += share * (np.sqrt(np.mean(mu[which] ** 2)) - mu[which])
    overlap = drawn.rows[:, 0] if across else np.zeros(len(drawn.rows))
    features = drawn.received - np.outer(drawn.kappa[:n], overlap)
    features *= mu[1, :n, None]
    features += mu[0, :n, None]
    features += mu[2, :n, None] * drawn.xi

    def tested(a: Array) -> tuple[Array, Array]:
        kappa, (mu0, mu1, mu2) = drawn.kappa[n:], mu[:, n:]
        linear = drawn.inputs[n:] @ (a @ drawn.rows) - kappa * (a @ overlap)
        return mu0 * a.sum() + mu1 * linear, mu2**2 * (a @ a)

    return Features(features, tested)


# What a statement on the equivalent map may get wrong; the last was taken for the map itself on slides.
Map = Callable[[Draw], Features]
MAPS: Mapping[str, Map] = {
    "": equivalent,
    "mu0 2 % larger": partial(equivalent, scales=(1.02, 1.0, 1.0)),
    "mu1 2 % larger": partial(equivalent, scales=(1.0, 1.02, 1.0)),
    "mu2 2 % larger": partial(equivalent, scales=(1.0, 1.0, 1.02)),
    # A constant mu1 is so far off that no line in 1/d fits what separates the maps.
    "mu1 a quarter of the way to a constant": partial(equivalent, constant=(1, 0.25)),
    "mu2 constant along kappa": partial(equivalent, constant=(2, 1.0)),
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
# Where m and zeta stand, and the traces of the resolvent.
_LINEAR, _TRACES = (1, 2), (3, 4, 5)


def of_map(quantity: sp.Symbol, wrong: str = "") -> sp.Symbol:
    """The symbol of a quantity of the readout on the equivalent map, or on a wrong one of MAPS."""
    right = _SYMBOLS[quantity]
    return sp.Symbol(rf"{right.name}[\text{{{wrong}}}]", real=True) if wrong else right


def readout(drawn: Draw, features: Features, traces: bool) -> tuple[float, ...]:
    """QUANTITIES of the ridge readout of features; the test error is averaged over the xi of test samples.

    Without ``traces`` those of the resolvent are left out, of a linear pair the test error, too: they are no numbers.
    """
    n, p = drawn.training, len(drawn.rows)
    fitted, y = features.training, drawn.labels
    normal, right = fitted.T @ fitted / p + drawn.pair.ridge * np.eye(p), fitted.T @ y[:n] / p
    of_resolvent = (np.nan, np.nan, np.nan)
    if traces:
        inverse, tilt = positive_inverse(normal), drawn.kappa[:n] ** 2 - 1
        a = inverse @ right
        # sum_i tilt_i h_i = tr[R sum_i tilt_i F_i F_i^T]/p, the samples of either sign apart: a matrix by its own
        # transpose costs half of what the rows F_i R do.
        above, below = (np.sqrt(np.abs(tilt[part]))[:, None] * fitted[part] for part in (tilt > 0.0, tilt <= 0.0))
        leverage = np.vdot(inverse, above.T @ above - below.T @ below) / p
        of_resolvent = (
            float(np.vdot(inverse, drawn.gram) / p),
            float(np.trace(inverse) / p),
            float(np.mean(tilt) - leverage / n),
        )
    else:
        a = positive_solution(normal, right)
    error = np.nan
    if not drawn.pair.linear:
        mean, variance = features.tested(a)
        error = float(np.mean((y[n:] - mean) ** 2 + variance))
    return error, float(a.sum()), float(a @ drawn.rows[:, 0]), *of_resolvent


@lru_cache(maxsize=4096)
def measured(
    name: str, d: int, seed: int, wrong: tuple[str, ...], traces: bool = True
) -> tuple[tuple[float, ...], ...]:
    """QUANTITIES of the spiked map, of the equivalent one and of the named wrong ones, on one draw."""
    drawn = draw(name, d, seed)
    return tuple(readout(drawn, features(drawn), traces) for features in (spiked, *(MAPS[key] for key in ("", *wrong))))


# Draws per seed of the profile at each dimension: a draw costs d^3, and varies less at larger d.
DRAWS = (10, 8, 4)
FEW = (5, 4, 2)
# The wrong maps of the models, tried together on the first FEW draws: the draw and the right maps cost more than these.
TRIED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        TWO, ("mu1 2 % larger", "mu2 2 % larger", "mu1 a quarter of the way to a constant", "mu2 constant along kappa")
    ),
    **dict.fromkeys(ALONG, ("mu0 2 % larger",)),
    **dict.fromkeys(TURNING, ("W x_perp for W x",)),
}


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
    the difference. ``wrong`` maps, of those that are TRIED, predict their own mean over the same draws. The traces are
    measured on the first FEW draws, of which all quantities are asked. Raises ValueError for what is not measured.
    """
    at = column(quantity, *QUANTITIES)
    if at not in _LINEAR and any(PAIRS[name].linear for name in names):
        raise ValueError(f"asked for {quantity}, but of these models only what is linear in the readout is measured")
    if at in _TRACES and draws != FEW:
        raise ValueError(f"asked for {quantity}, which is measured on few draws, in {draws} of them")
    symbols = [of_map(QUANTITIES[at], key) for key in ("", *wrong)]
    found: dict[str, tuple[Measured, ...]] = {}
    for name in names:
        sizes, kept = [], (0, 1, *(2 + TRIED[name].index(key) for key in wrong))
        # A profile of fewer dimensions measures at those only, one of none nowhere; of more there are no draws.
        shares = tuple(zip(draws, FEW, strict=True))[: len(profile.dimensions)]
        for dimension, (count, few) in zip(profile.dimensions, shares, strict=True):
            d, first = dimension // 2, profile.draws(few)
            asked = [
                (seed, TRIED[name] if wrong or seed in first else (), seed in first and not PAIRS[name].linear)
                for seed in profile.draws(count)
            ]
            rows = np.array([[maps[i][at] for i in kept] for maps in (measured(name, d, *each) for each in asked)])
            means = rows.mean(axis=0)
            values = {symbol.name: float(mean) for symbol, mean in zip(symbols, means[1:], strict=True)}
            samples = tuple(rows[:, 0] - rows[:, 1] + means[1])
            sizes.append(Measured(d, samples, values, fluctuation=fluctuation))
        found[name] = tuple(sizes)
    return found

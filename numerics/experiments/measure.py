"""Observables of one readout at finite size: test error and order parameters.

Order parameters, for groups a, b of neurons, with W the bulk (weights minus spike) and Pi = 1 - v v^T,

    m_a = 1_a.a/sqrt(p),  zeta_a = a_a.W v/sqrt(p),  psi_a = a_a.W theta_perp/sqrt(p)  with |theta_perp| = 1,
    q1_ab = (Pi W^T a_a).(Pi W^T a_b)/p,  q2_a = |a_a|^2/p.

The theory's q1 and q2 are those of the readout without its uniform part: at finite p, |a_a|^2/p carries m_a^2/(pi_a p)
and q1_aa carries c_a m_a^2/(pi_a p) on top, both O(1/d) and both known. `order_parameters` subtracts them, so that the
extrapolation in 1/d has less to do; what remains is O(1/d). (The bulk of a trained network is measured with rows
b_i - u_i sum_j u_j b_j/|u|^2, so that its q1 carries less, for u = 1_p nothing: `_group_sums`.)

The test error of a feature map is sampled on fresh inputs (`sampled_test_error`); that of the equivalent map is
integrated exactly given the readout (`exact_test_error`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantsteps.numerics.experiments.ensembles import Array, FeatureMap, Sizes, block_rows
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.gaussian.quadrature import MOST_UNSETTLED
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.level import by_direction
from giantsteps.numerics.saddle_point.profile import Profile, profile

Row = tuple[tuple[str, float], ...]


def sampled_test_error(
    drawn: FeatureMap,
    target: Callable[[Array], Array],
    a: Array,
    samples: int,
    rng: np.random.Generator,
    inputs: Inputs = GAUSSIAN,
) -> Array:
    """Mean of (g(theta.x) - a.phi(x)/sqrt(p))^2 over the test set of `fresh_outputs`, one value per column of a."""
    total = np.zeros(a.shape[1])
    for place, outputs in fresh_outputs(drawn, a, samples, rng, inputs):
        errors = np.asarray(target(place))[:, None] - outputs
        total += np.einsum("il,il->l", errors, errors)
    return total / samples


def fresh_outputs(
    drawn: FeatureMap, a: Array, samples: int, rng: np.random.Generator, inputs: Inputs = GAUSSIAN
) -> Iterator[tuple[Array, Array]]:
    """theta.x (rows,) and a.phi(x)/sqrt(p) (rows, L) for the columns of a (p, L), over blocks of a fresh test set.

    Means over it are unbiased. In the directions v, theta_perp and W^T a the inputs are a randomly shifted
    low-discrepancy set (each point alone is uniform, hence N(0, I_3) by the quantile function); the other d - 3
    directions are independent. Inputs that are not Gaussian are drawn independently.
    """
    (p, d), put, get = drawn.weights.shape, drawn.arrays.put, drawn.arrays.get
    axes = _explained_directions(drawn, a) if inputs.gaussian else np.zeros((0, d))
    coordinates = shifted_normal_points(samples, len(axes), rng) if inputs.gaussian else np.zeros((samples, 0))
    scaled = put(a / np.sqrt(p))
    rows = block_rows(max(p, d))
    for start in range(0, samples, rows):
        wanted = coordinates[start : start + rows]
        x = inputs.draw(rng, len(wanted), d)
        x += (wanted - x @ axes.T) @ axes
        yield x @ drawn.theta, get(drawn.features(x) @ scaled)


def shifted_normal_points(samples: int, dimensions: int, rng: np.random.Generator) -> Array:
    """`samples` points of R^s, each N(0, I_s) by itself, together evenly spread. Shape (samples, s).

    A lattice rule j (1, a, a^2, ...)/N mod 1 with one uniform shift, through the normal quantile function.
    """
    from scipy.special import ndtri

    points = (lattice(samples, dimensions) + rng.random(dimensions)) % 1.0
    # The quantile function is infinite at 0, which a shift hits with probability 2^-53 per point.
    return np.asarray(ndtri(np.maximum(points, 2.0**-54)))


@lru_cache(maxsize=32)
def lattice(samples: int, dimensions: int) -> Array:
    """The best of 32 Korobov lattices j (1, a, a^2, ...)/N mod 1 by the figure of merit P_2. Shape (samples, s).

    P_2 = (1/N) sum_j prod_s (1 + 2 pi^2 B_2(x_js)) - 1, B_2(x) = x^2 - x + 1/6: the worst-case squared error over
    periodic functions with square-integrable mixed derivatives. An unlucky generator leaves an error that stays.
    """
    index = np.arange(samples)
    best, merit = np.zeros((samples, dimensions)), np.inf
    for generator in np.random.default_rng(samples).integers(1, max(2, samples), 32):
        powers = [pow(int(generator), power, samples) for power in range(dimensions)]
        points = np.stack([index * power % samples for power in powers], axis=1) / samples
        value = float(np.mean(np.prod(1.0 + 2.0 * np.pi**2 * (points * (points - 1.0) + 1.0 / 6.0), axis=1)))
        if value < merit:
            best, merit = points, value
    best.setflags(write=False)
    return best


def _explained_directions(drawn: FeatureMap, a: Array) -> Array:
    """Orthonormal rows, at most (s + 2, d): v_j, theta_perp, and what is left of W^T a (averaged over columns)."""
    plane = np.vstack([drawn.directions, drawn.theta_perp])
    linear = a.mean(axis=1) @ drawn.weights
    for _ in range(2):  # twice, so that what is left is orthogonal to rounding error
        linear = linear - (linear @ plane.T) @ plane
    size = float(np.linalg.norm(linear))
    return np.vstack([plane, linear / size]) if size > 0.0 else plane


def exact_test_error(drawn: FeatureMap, model: Model, a: Array) -> float:
    """The equivalent map's test error given a (p,), exact but for the integral over kappa (adaptive rule, about 1e-11).

    Given kappa the readout is yhat + sum_a mu1_a (z psi_a + ...) + mu2 noise, all Gaussian: this is e2 of the ridge
    readout's saddle point with this sample's own m, zeta, psi, Q, q2 in it, finite-p terms included. Raises ModelError
    where finer rules along the spike do not settle.
    """
    sample = overlaps(drawn, a)
    coarse = _error_on(profile(model), sample)
    for refine in range(1, _MOST_REFINEMENTS + 1):
        table = profile(model, refine)
        fine = _error_on(table, sample)
        moved = abs(fine - coarse) / (1.0 + abs(fine)) + table.unresolved
        if moved <= _SETTLED or table.exhausted:
            break
        coarse = fine
    if not moved <= MOST_UNSETTLED:
        raise ModelError(
            f"the test error of a sample has a quadrature error of {moved:.1g} in double precision: use smoother "
            "functions, for example tanh(z)"
        )
    return fine


# Where finer rules move the test error by no more than this share they have settled.
_SETTLED, _MOST_REFINEMENTS = 1e-11, 6


def _error_on(table: Profile, sample: Overlaps) -> float:
    yhat = sample.m @ table.mu0 + np.ravel(sample.zeta) @ table.along
    rest = sample.q1 - np.outer(sample.psi, sample.psi)
    if table.rank > 1:
        # Directions of the spike that neither activation nor target have a part in are averaged out: they get no nodes.
        covered = (table.nodes * table.weights) @ table.nodes.T
        rest += sample.zeta @ (np.eye(table.rank) - covered) @ sample.zeta.T
    e2 = (
        (table.y0 - yhat) ** 2
        + (table.y1 - sample.psi @ table.mu1) ** 2
        + table.spread
        + np.einsum("ai,ab,bi->i", table.mu1, rest, table.mu1)
        + sample.q2 @ table.mu2_squared
    )
    return float(e2 @ table.weights)


@dataclass(frozen=True, eq=False)
class Overlaps:
    """m, zeta, psi, q2 of shape (k,) and q1 of shape (k, k), as they are at finite p, nothing subtracted.

    zeta is (k, s) for a spike of s > 1 directions.
    """

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array


def overlaps(drawn: FeatureMap, a: Array) -> Overlaps:
    """The overlaps of one readout a (p,) with its feature map; see the module's first lines for the formulas."""
    p, groups, v = len(a), drawn.groups, drawn.directions
    # Rows W^T a_a: the weights' part minus the spike's.
    back = np.stack([a[where] @ drawn.weights[where] - (a[where] @ drawn.spikes[where]) @ v for where in groups])
    along = back @ v.T
    plane = back - along @ v
    root = np.sqrt(p)
    return Overlaps(
        m=np.array([a[where].sum() for where in groups]) / root,
        zeta=by_direction(along.ravel(), len(v)) / root,
        psi=back @ drawn.theta_perp / root,
        q1=plane @ plane.T / p,
        q2=np.array([a[where] @ a[where] for where in groups]) / p,
    )


def order_parameters(drawn: FeatureMap, a: Array, sizes: Sizes) -> Row:
    """m, zeta, psi, q1, q2 of one readout (p,), after the known m^2/p terms of the module's first lines."""
    sample = overlaps(drawn, a)
    bulk = np.array([_bulk_norm(drawn, where) for where in drawn.groups])
    uniform = sample.m**2 / np.array(sizes.groups)
    per_neuron = sample.m / np.array(sizes.groups)
    q1 = sample.q1 - np.outer(per_neuron, per_neuron) * _group_sums(drawn, bulk)
    values: dict[str, float] = {}
    for name, value in (
        ("m", sample.m),
        ("zeta", sample.zeta),
        ("psi", sample.psi),
        ("q1", q1),
        ("q2", sample.q2 - uniform),
    ):
        values |= named(name, value)
    if drawn.centring is not None:
        spikes = np.array([drawn.spikes[where][0, 0] for where in drawn.groups])
        values |= named("spike", spikes) | {"alignment": drawn.alignment} | named("bulk", bulk)
    norms = _squared_norms(drawn)
    apart = [_fluctuations(norms[where]) for where in drawn.groups]
    if any(map(np.any, apart)):
        # Rows of unequal norm: chi_a = sum_i a_i (|w_i|^2 - c_a)/sqrt(p) over group a.
        chi = np.array([a[where] @ rest for where, rest in zip(drawn.groups, apart, strict=True)])
        values |= named("chi", chi / np.sqrt(len(a)))
    return tuple(values.items())


def _group_sums(drawn: FeatureMap, bulk: Array) -> Array:
    """E[s_a.s_b] for the sums s_a of a group's bulk rows, independent of mean squared norms `bulk`; (k, k).

    diag(p_a c_a), and of the rows less u_i sum_j u_j b_j/|u|^2 what that projection leaves.
    """
    counts = np.array([where.stop - where.start for where in drawn.groups])
    free = np.diag(counts * bulk)
    if drawn.centring is None:
        return free
    u = np.array([drawn.centring[where.start] for where in drawn.groups])
    shares = np.outer(counts * u, u) / float(counts @ u**2)
    left = np.eye(len(u)) - shares
    return np.asarray(left @ free @ left.T)


def _fluctuations(norms: Array) -> Array:
    """The norms less their mean; zero where they differ by rounding alone."""
    return norms - norms.mean() if np.ptp(norms) > 1e-9 * float(norms.mean()) else np.zeros_like(norms)


def _squared_norms(drawn: FeatureMap) -> Array:
    """|w_i|^2 of the bulk rows, shape (p,)."""
    norms = np.einsum("ij,ij->i", drawn.weights, drawn.weights)
    norms += np.sum(drawn.spikes * (drawn.spikes - 2.0 * (drawn.weights @ drawn.directions.T)), axis=1)
    return np.asarray(norms)


def _bulk_norm(drawn: FeatureMap, where: slice) -> float:
    """Mean squared norm of a group's bulk rows, |w|^2 + sum_j s_j (s_j - 2 w.v_j) from the weights' rows w.

    Over p_a (1 - u_a^2/|u|^2) where sum_i u_i b_i = 0, which is p - 1 for one group.
    """
    weights, spikes = drawn.weights[where], drawn.spikes[where]
    squares = np.einsum("ij,ij->", weights, weights) + np.sum(spikes * (spikes - 2.0 * weights @ drawn.directions.T))
    u = drawn.centring
    share = 0.0 if u is None else float(u[where.start] ** 2 / (u @ u))
    return float(squares) / (len(spikes) * (1.0 - share))


def named(name: str, value: Array) -> dict[str, float]:
    """{"m": x} for one group; {"m[0]": x, "m[1]": y}, {"q1[0,0]": ..., "q1[0,1]": ...} for several.

    Of the symmetric q1 only a <= b; zeta of a spike of several directions has all groups a and directions j.
    """
    if value.size == 1:
        return {name: float(value.reshape(-1)[0])}
    wanted = (index for index in np.ndindex(value.shape) if name != "q1" or tuple(sorted(index)) == index)
    entries = ((index, value[index]) for index in wanted)
    return {f"{name}[{','.join(map(str, index))}]": float(entry) for index, entry in entries}

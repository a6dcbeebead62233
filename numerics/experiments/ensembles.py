"""Feature maps at finite dimension: the network after its step, spiked random features, the Gaussian equivalent.

A map is drawn once per seed and then turns inputs x (rows of an array, x ~ N(0, I_d)) into features phi(x), one column
per neuron. All three share one shape, weights = bulk + spikes v^T, so that the order parameters of a readout are read
off one matrix, whichever map it is.

Coordinates: spiked random features and the equivalent map put the spike direction v on the first axis and theta_perp on
the second. The law of x and of the bulk rows is invariant under rotations, so this loses nothing; v.theta = gamma then
holds exactly, not on average. For inputs that are not Gaussian (`numerics.experiments.inputs`) they may be other
directions.

Gradient steps on the first layer at finite size, each on a batch of its own.

    W <- W + (eta~ d) (1/n0) sum_mu (y_mu - f(x_mu; a0, W)) (a0/sqrt(p)) o sigma'(W x_mu) x_mu^T,   a0 = u/sqrt(p),

the gradient of (1/(2 n0)) sum (y - f)^2, equation (3), with the full residual and no expansion; u is 1_p, or takes
the value of its readout group at each neuron. Biases are no part of f yet: they are added after the steps. Or both of
two steps are taken on the same batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from giantsteps.numerics.experiments.arrays import NUMPY, Arrays
from giantsteps.numerics.experiments.arrays import Array as Array
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.gaussian.evaluate import Activation, compile_numpy
from giantsteps.numerics.gradient_steps.recursion import Step
from giantsteps.numerics.models.gradient_step import PerStep
from giantsteps.numerics.models.network import Network, SimulationError

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

# Numbers per block of features: 2^21 doubles are 16 MB, small beside the weights at any dimension of interest and large
# enough that the matrix products run at full speed.
BLOCK = 2**21

# Samples or neurons of one experiment: more than this take days, and a gigabyte for the label noise alone.
MOST_ROWS = 10**8
# Rows longer than this after the step: polynomials of degree seven still have finite squares of features.
_LONGEST_ROW = 1e20


@dataclass(frozen=True)
class Sizes:
    """Integer sizes of one experiment: d inputs, n samples, p neurons in groups, n0 samples of every gradient step.

    n0 is one number, or one per step.
    """

    d: int
    n: int
    p: int
    n0: int | tuple[int, ...]
    groups: tuple[int, ...]

    @property
    def alpha(self) -> float:
        """The realised ratio n/d."""
        return self.n / self.d

    @property
    def beta(self) -> float:
        """The realised ratio p/d."""
        return self.p / self.d

    @property
    def alpha0(self) -> PerStep:
        """The realised ratio n0/d, or one per step."""
        return tuple(n0 / self.d for n0 in self.n0) if isinstance(self.n0, tuple) else self.n0 / self.d

    @property
    def fractions(self) -> tuple[float, ...]:
        """The realised fractions p_a/p of the groups."""
        return tuple(count / self.p for count in self.groups)

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where each group's neurons stand."""
        ends = np.cumsum(self.groups)
        return tuple(slice(int(end) - count, int(end)) for end, count in zip(ends, self.groups, strict=True))

    @classmethod
    def of(cls, subject: Model | Network, d: int) -> Sizes:
        """Those of an experiment with a model or network at dimension d, as `rounded` has them. A law is one group."""
        alpha0, one = (subject.alpha0, False) if isinstance(subject, Network) else (0.0, subject.law is not None)
        fractions = (1.0,) if one else subject.fractions
        return cls.rounded(d, alpha=subject.alpha, beta=subject.beta, alpha0=alpha0, fractions=fractions)

    @classmethod
    def rounded(
        cls, d: int, *, alpha: float, beta: float, alpha0: PerStep = 0.0, fractions: tuple[float, ...]
    ) -> Sizes:
        """n = round(alpha d), p = round(beta d), n0 = round(alpha0 d); groups by largest remainder, none empty.

        Raises SimulationError where d < 2, n or p would be zero, one of n, p, n0 is above MOST_ROWS, or a group would
        have no neuron.
        """
        if d < 2:
            raise SimulationError(f"dimension {d} is too small: at least 2 is needed, for example 400")
        batches = alpha0 if isinstance(alpha0, tuple) else (alpha0,)
        counted = [("alpha", alpha, "samples"), ("beta", beta, "neurons")]
        for name, ratio, things in [*counted, *(("alpha0", one, "samples of the step") for one in batches)]:
            if not ratio * d <= MOST_ROWS:
                raise SimulationError(
                    f"{name} = {ratio:g} at dimension {d} makes {ratio * d:.3g} {things}, and an experiment has at "
                    f"most {MOST_ROWS:.0e}: use a smaller {name}, for example {name} = 2"
                )
        n, p, n0s = round(alpha * d), round(beta * d), tuple(round(one * d) for one in batches)
        if n < 1 or p < 1:
            raise SimulationError(
                f"dimension {d} gives n = {n} samples and p = {p} neurons; both have to be positive, for example at 400"
            )
        exact = np.array(fractions) * p
        counts = np.floor(exact).astype(int)
        order = np.argsort(counts - exact, kind="stable")
        counts[order[: p - int(counts.sum())]] += 1
        if counts.min() < 1:
            raise SimulationError(
                f"p = {p} neurons leave a group of fraction {min(fractions):g} empty: use a larger dimension"
            )
        n0 = n0s if isinstance(alpha0, tuple) else n0s[0]
        return cls(d, n, p, n0, tuple(int(count) for count in counts))


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """One draw of a feature map: weights (p, d) = bulk + spikes directions, theta and theta_perp (d,).

    spikes (p, s) and directions (s, d), orthonormal rows v_j; s = 1 but for a spike of several directions. theta_perp
    is the unit vector along theta - sum_j gamma_j v_j. `groups` are the slices of the readout groups, `features`
    turns inputs (rows, d) into features (rows, p) of the library `arrays`. Where the spike was measured on the weights
    themselves `centring` holds the u (p,) with which the bulk rows sum to zero by construction, sum_i u_i b_i = 0.
    """

    weights: Array
    spikes: Array
    directions: Array
    theta: Array
    theta_perp: Array
    groups: tuple[slice, ...]
    features: Callable[[Any], Any]
    centring: Array | None = None
    arrays: Arrays = NUMPY

    @property
    def direction(self) -> Array:
        """v, the first of the spike's directions, (d,)."""
        first: Array = self.directions[0]
        return first

    @property
    def alignment(self) -> float:
        """gamma = v.theta, for the first direction."""
        return float(self.direction @ self.theta)


def unit_rows(rng: np.random.Generator, rows: int, d: int) -> Array:
    """Rows uniform on the unit sphere of R^d: normalised Gaussian vectors. Shape (rows, d)."""
    w = rng.standard_normal((rows, d))
    w /= np.sqrt(np.einsum("ij,ij->i", w, w))[:, None]
    return w


def gaussian_rows(rng: np.random.Generator, rows: int, d: int) -> Array:
    """Rows N(0, I/d), whose squared norms are 1 + O(d^-1/2). Shape (rows, d)."""
    w = rng.standard_normal((rows, d))
    w /= np.sqrt(d)
    return w


def overlapping_rows(rng: np.random.Generator, rows: int, d: int, overlap: float) -> Array:
    """Unit rows sqrt(overlap) e + sqrt(1 - overlap) u_i with one direction e and u_i uniform on the sphere orthogonal
    to it. Shape (rows, d).

    |w_i| = 1 and w_i.e = sqrt(overlap) hold exactly; w_i.w_j is `overlap` on average and scatters by
    (1 - overlap)/sqrt(d), as it does without overlap. (More than d rows of exactly equal overlaps do not exist.)
    overlap = 0 gives the rows of `unit_rows`.
    """
    if overlap == 0.0:
        return unit_rows(rng, rows, d)
    e = unit_rows(rng, 1, d)[0]
    w = rng.standard_normal((rows, d))
    w -= np.outer(w @ e, e)
    w *= np.sqrt((1.0 - overlap) / np.einsum("ij,ij->i", w, w))[:, None]
    w += np.sqrt(overlap) * e
    return w


def block_rows(width: int) -> int:
    """Rows per block so that a block of `width` columns stays within BLOCK numbers; at least 64."""
    return max(64, BLOCK // max(width, 1))


def _directions(model: Model, frame: Array) -> tuple[Array, Array, Array]:
    """v_j (s, d), theta and theta_perp from a frame of s + 1: theta_perp is the last, v_j.theta = gamma_j exactly."""
    v, perp = frame[:-1], frame[-1]
    return v, np.asarray(model.alignments) @ v + np.sqrt(model.remainder) * perp, perp


def _per_neuron(values: tuple[float, ...], sizes: Sizes) -> Array:
    """A group's value, repeated for each of its neurons. Shape (p,)."""
    return np.repeat(np.array(values, dtype=float), sizes.groups)


def _bulk(model: Model, sizes: Sizes, rng: np.random.Generator) -> Array:
    """W (p, d): rows uniform on the spheres of radius sqrt(c_a), or N(0, c_a I/d) where the model asks for it."""
    weights = gaussian_rows(rng, sizes.p, sizes.d) if model.gaussian_rows else unit_rows(rng, sizes.p, sizes.d)
    weights *= np.sqrt(_per_neuron(model.bulks, sizes))[:, None]
    return weights


def spiked_random_features(
    model: Model, sizes: Sizes, rng: np.random.Generator, inputs: Inputs = GAUSSIAN, arrays: Arrays = NUMPY
) -> FeatureMap:
    """phi(x) = sigma(F x + b) with F = W + r u v^T (equation (12)), rows of W uniform on spheres of radius sqrt(c_a).

    |w_i|^2 = c_a and v.theta = gamma hold exactly. r, u, c, gamma are O(1), v has unit norm. v and theta_perp are axes,
    or random orthogonal directions where `inputs` make a difference between them.
    """
    spikes = np.repeat(np.array(model.spikes), sizes.groups, axis=0)
    biases = _per_neuron(model.biases, sizes)
    weights = _bulk(model, sizes, rng)
    v, theta, perp = _directions(model, inputs.frame(rng, sizes.d, model.rank + 1))
    for row, spike in zip(weights, spikes, strict=True):  # a whole outer product would be a second matrix
        row += spike @ v
    features = _features(model.activation, weights, biases, arrays)
    return FeatureMap(weights, spikes, v, theta, perp, sizes.slices, features, arrays=arrays)


def _features(activation: Activation, weights: Array, biases: Array | float, arrays: Arrays) -> Callable[[Any], Any]:
    """sigma(W x + b), row by row."""
    sigma, placed = arrays.function(activation.expression), arrays.put(weights)
    added = arrays.put(biases) if np.any(biases) else None

    def features(x: Any) -> Any:
        h = arrays.put(x) @ placed.T
        if added is not None:
            h += added
        return sigma(h)

    return features


def along_axes(
    model: Model,
    rows: Array,
    spikes: Array,
    groups: tuple[slice, ...],
    biases: Array | float = 0.0,
    arrays: Arrays = NUMPY,
) -> FeatureMap:
    """phi(x) = sigma(F x + b) with F = rows + spikes v^T, v and theta_perp the first axes; the bulk rows become F."""
    v, perp = np.eye(2, rows.shape[1])
    rows[:, 0] += spikes[:, 0]
    theta = model.alignment * v + np.sqrt(model.remainder) * perp
    features = _features(model.activation, rows, biases, arrays)
    return FeatureMap(rows, spikes, v[None, :], theta, perp, groups, features, arrays=arrays)


def equivalent_map(
    model: Model, sizes: Sizes, rng: np.random.Generator, noise: np.random.Generator, arrays: Arrays = NUMPY
) -> FeatureMap:
    """phi_i(x) = mu0_a(kappa) + mu1_a(kappa) w_i.x + mu2_a(kappa) xi_i, kappa = v.x (Result 3.2), i in group a.

    W as in `spiked_random_features`; xi ~ N(0, I_p) is fresh for every sample, from the stream `noise`. The spike
    lives in the functions mu, so `spikes` of the returned map is zero and `weights` is the bulk.
    """
    from giantsteps.numerics.gaussian.coefficients import conditional_coefficients

    weights = _bulk(model, sizes, rng)
    groups = tuple(zip(model.spikes, model.bulks, model.biases, sizes.slices, strict=True))
    v, theta, perp = _directions(model, GAUSSIAN.frame(rng, sizes.d, model.rank + 1))

    placed = arrays.put(weights)

    def features(x: Array) -> Any:
        kappa = np.ascontiguousarray(x[:, : len(v)])
        h = arrays.get(arrays.put(x) @ placed.T)
        xi = noise.standard_normal(h.shape)
        for spike, bulk, bias, where in groups:
            mu0, mu1, mu2 = conditional_coefficients(model.activation, 1.0, bulk, bias, kappa @ np.array(spike))
            h[:, where] *= mu1[:, None]
            xi[:, where] *= mu2[:, None]
            h[:, where] += mu0[:, None]
        h += xi
        return arrays.put(h)

    spikes = np.zeros((sizes.p, model.rank))
    return FeatureMap(weights, spikes, v, theta, perp, sizes.slices, features, arrays=arrays)


def trained_network(
    network: Network,
    sizes: Sizes,
    rng: np.random.Generator,
    batch: np.random.Generator,
    inputs: Inputs = GAUSSIAN,
    arrays: Arrays = NUMPY,
) -> FeatureMap:
    """phi(x) = sigma(W1 x) after one real gradient step of the loss (1/(2 n0)) sum (y - f(x))^2 on W (equation (6)).

        W1 = W0 + (eta~ d) (1/n0) sum_mu (y_mu - f(x_mu; a0, W0)) (a0/sqrt(p)) o sigma'(W0 x_mu) x_mu^T

    with a0 = u/sqrt(p) (`numerics.experiments.ensembles`), or after `network.steps` of them; then phi(x) = sigma(W1 x +
    b) with the biases of the groups. theta is the first axis, or a random direction where `inputs` make a difference
    between them.

    The spike is measured on W1 alone: with w = W1^T u/|u|^2 (u = 1_p: the mean row), v = +-w/|w| and r = w.v, the sign
    chosen so that v points along the batch's (1/n0) sum y x (W1^T u cannot know it: r may be negative where
    E[z sigma] < 0); after several steps r >= 0. The bulk is W1 - u w^T; sum_i u_i b_i = 0. For u = 1_p E|w|^2 = r^2 +
    c/p, so these estimates of r and gamma carry O(1/d).

    Raises SimulationError where sigma jumps: its derivative is not a function and the step is not defined. And where
    the steps make rows of more than 1e20 in length, as several long ones do, or one neuron alone makes them.
    """
    activation = network.activation
    if any(point.jump for point in activation.breakpoints):
        raise SimulationError(
            f"a gradient step needs the derivative of the activation, and {activation.expression} jumps; "
            "take a continuous one, or the spiked random features with spike, bulk and alignment given"
        )
    d, p, steps = sizes.d, sizes.p, replace(network.step, alpha0=sizes.alpha0).schedule
    weights = gaussian_rows(rng, p, d) if network.gaussian_rows else overlapping_rows(rng, p, d, network.overlap)
    theta = inputs.frame(rng, d, 1)[0]
    batch_direction = np.zeros(d)
    u = _per_neuron(tuple(group.weight for group in network.groups), sizes)
    if np.count_nonzero(u) < 2:
        raise SimulationError(
            f"of p = {p} neurons {np.count_nonzero(u)} take a step, and a spike is told from bulk by two or more: "
            "take a larger dimension, for example 400"
        )
    before = batch.bit_generator.state
    for step in steps:
        if network.same_batch:
            batch.bit_generator.state = before
        change, direction = gradient_step(
            network, weights, theta, step, inputs, batch, block_rows(max(p, d)), u, arrays
        )
        weights += change
        batch_direction += direction
        if not np.max(np.abs(weights)) <= _LONGEST_ROW:
            raise SimulationError(
                f"the gradient step makes weights of more than {_LONGEST_ROW:g}, where features lose their meaning: "
                "take a smaller eta or smaller readout weights, for example eta = 3"
            )
    mean_row = np.asarray(u @ weights / (u @ u))
    size = float(np.linalg.norm(mean_row))
    v = mean_row / size
    # After several steps the theory's v is the direction of the mean row, whatever it has learned of theta.
    if sum(step.taken for step in steps) == 1 and v @ batch_direction < 0:
        v, size = -v, -size
    gamma = float(v @ theta)
    perp = theta - gamma * v
    perp /= np.linalg.norm(perp)

    features = _features(activation, weights, _per_neuron(network.biases, sizes), arrays)
    spikes = size * u[:, None]
    return FeatureMap(weights, spikes, v[None, :], theta, perp, sizes.slices, features, centring=u, arrays=arrays)


def gradient_step(
    network: Network,
    weights: Array,
    theta: Array,
    step: Step,
    inputs: Inputs,
    batch: np.random.Generator,
    rows: int,
    readout: Array | None = None,
    arrays: Arrays = NUMPY,
) -> tuple[Array, Array]:
    """(change of the weights (p, d), the batch's sum of y x (d,)) for one step from `weights` on alpha0 d samples.

    `readout` is u (p,), by default 1_p. `rows` samples are in memory at a time. The draws are, in order, the label
    noise and the inputs.
    """
    from giantsteps.derivations.expressions.calculus import derivative

    activation = network.activation
    sigma, slope = arrays.function(activation.expression), arrays.function(derivative(activation.expression))
    target = compile_numpy(network.target.expression)
    p, d = weights.shape
    n0 = round(step.alpha0 * d)
    placed, moved, direction = arrays.put(weights), arrays.put(np.zeros((p, d))), np.zeros(d)
    u = arrays.put(np.ones(p) if readout is None else readout)
    labels_noise = np.sqrt(network.noise) * batch.standard_normal(n0)
    for start in range(0, n0, rows):
        x = inputs.draw(batch, min(rows, n0 - start), d)
        y = np.asarray(target(x @ theta)) + labels_noise[start : start + len(x)]
        moved += pull(placed, arrays.put(x), arrays.put(y), sigma, slope, u)
        direction += y @ x
    change = arrays.get(moved)
    if n0:
        change *= step.eta * d / (p * n0)
    return change, direction


def pull(
    weights: Any, x: Any, labels: Any, sigma: Callable[[Any], Any], slope: Callable[[Any], Any], letters: Any
) -> Any:
    """sum_mu (y_mu - f(x_mu)) u o sigma'(W x_mu) x_mu^T with f(x) = u.sigma(W x)/p: by what the batch moves the rows.

    `letters` are u (p,). Arrays are of any one library, as sigma and its slope take them.
    """
    h = x @ weights.T
    residual = labels - sigma(h) @ letters / weights.shape[0]
    turned = slope(h)
    turned *= residual[:, None]
    moved = turned.T @ x
    moved *= letters[:, None]
    return moved

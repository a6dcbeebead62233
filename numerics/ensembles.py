"""Feature maps at finite dimension: the network after its step, spiked random features, the Gaussian equivalent.

A map is drawn once per seed and then turns inputs x (rows of an array, x ~ N(0, I_d)) into features phi(x), one column
per neuron. All three share one shape, weights = bulk + spikes v^T, so that the order parameters of a readout are read
off one matrix, whichever map it is.

Coordinates: spiked random features and the equivalent map put the spike direction v on the first axis and theta_perp on
the second. The law of x and of the bulk rows is invariant under rotations, so this loses nothing; v.theta = gamma then
holds exactly, not on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.evaluate import compile_numpy

if TYPE_CHECKING:
    from derivations.activation import Activation
    from numerics.model import Model

Array = NDArray[np.float64]

# Numbers per block of features: 2^21 doubles are 16 MB, small beside the weights at any dimension of interest and large
# enough that the matrix products run at full speed.
BLOCK = 2**21


class SimulationError(ValueError):
    """A finite-size experiment that cannot be run as asked; the message says what to change."""


@dataclass(frozen=True)
class Sizes:
    """Integer sizes of one experiment: d inputs, n samples, p neurons in groups, n0 samples of the gradient step."""

    d: int
    n: int
    p: int
    n0: int
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
    def alpha0(self) -> float:
        """The realised ratio n0/d."""
        return self.n0 / self.d

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
    def rounded(cls, d: int, *, alpha: float, beta: float, alpha0: float = 0.0, fractions: tuple[float, ...]) -> Sizes:
        """n = round(alpha d), p = round(beta d), n0 = round(alpha0 d); groups by largest remainder, none empty.

        Raises SimulationError where d < 2, n or p would be zero, or a group would have no neuron.
        """
        if d < 2:
            raise SimulationError(f"dimension {d} is too small: at least 2 is needed, for example 400")
        n, p, n0 = round(alpha * d), round(beta * d), round(alpha0 * d)
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
                f"p = {p} neurons leave a group of fraction {min(fractions):g} empty: take a larger dimension"
            )
        return cls(d, n, p, n0, tuple(int(count) for count in counts))


@dataclass(frozen=True)
class Network:
    """A two-layer network that takes one gradient step of rate eta = eta~ d on n0 = alpha0 d samples (Section 2.2).

    `eta` is eta~. The readout starts at a0 = 1_p/sqrt(p), the rows at |w| = 1, or with `gaussian_rows` at
    w ~ N(0, I/d); `noise` is the variance of the label noise in both steps. The activation need not be odd here: the
    step is taken, not modelled. Raises SimulationError for a parameter out of range.
    """

    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    alpha0: float
    eta: float
    noise: float = 0.0
    gaussian_rows: bool = False

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "ridge", "alpha0", "eta", "noise"):
            value, positive = getattr(self, name), name in ("alpha", "beta")
            if not np.isfinite(value) or value < 0.0 or (positive and value == 0.0):
                range_ = "> 0" if positive else ">= 0"
                raise SimulationError(f"{name} = {value} is not accepted: it has to be a number {range_}, like 1.5")

    def model(self, bulk_model: str = "isotropic") -> Model:
        """The spiked random features of Result 3.1; raises ModelError where that map does not exist.

        bulk_model "network" takes the network's own bulk, beyond the paper (`numerics.network_bulk`).
        """
        from numerics.model import Model

        return Model.from_gradient_step(
            self.activation,
            self.target,
            alpha=self.alpha,
            beta=self.beta,
            ridge=self.ridge,
            alpha0=self.alpha0,
            eta=self.eta,
            noise=self.noise,
            bulk_model=bulk_model,
            gaussian_rows=self.gaussian_rows,
        )


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """One draw of a feature map. weights (p, d) = bulk + spikes v^T, spikes (p,), direction v, theta, theta_perp (d,).

    theta_perp is the unit vector along theta - gamma v. `groups` are the slices of the readout groups, `features`
    turns inputs (rows, d) into features (rows, p), and `centred_bulk` says that the bulk rows sum to zero by
    construction.
    """

    weights: Array
    spikes: Array
    direction: Array
    theta: Array
    theta_perp: Array
    groups: tuple[slice, ...]
    features: Callable[[Array], Array]
    centred_bulk: bool = False

    @property
    def alignment(self) -> float:
        """gamma = v.theta."""
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


def block_rows(width: int) -> int:
    """Rows per block so that a block of `width` columns stays within BLOCK numbers; at least 64."""
    return max(64, BLOCK // max(width, 1))


def _axes(d: int, gamma: float) -> tuple[Array, Array, Array]:
    """v, theta and theta_perp with v on the first axis, theta_perp on the second and v.theta = gamma exactly."""
    v, perp = np.zeros(d), np.zeros(d)
    v[0] = perp[1] = 1.0
    return v, gamma * v + np.sqrt((1.0 - gamma) * (1.0 + gamma)) * perp, perp


def _per_neuron(values: tuple[float, ...], sizes: Sizes) -> Array:
    """A group's value, repeated for each of its neurons. Shape (p,)."""
    return np.repeat(np.array(values, dtype=float), sizes.groups)


def _bulk(model: Model, sizes: Sizes, rng: np.random.Generator) -> Array:
    """W (p, d): rows uniform on the spheres of radius sqrt(c_a), or N(0, c_a I/d) where the model asks for it."""
    weights = gaussian_rows(rng, sizes.p, sizes.d) if model.gaussian_rows else unit_rows(rng, sizes.p, sizes.d)
    weights *= np.sqrt(_per_neuron(model.bulks, sizes))[:, None]
    return weights


def spiked_random_features(model: Model, sizes: Sizes, rng: np.random.Generator) -> FeatureMap:
    """phi(x) = sigma(F x + b) with F = W + r u v^T (equation (12)), rows of W uniform on spheres of radius sqrt(c_a).

    |w_i|^2 = c_a and v.theta = gamma hold exactly. r, u, c, gamma are O(1), v has unit norm.
    """
    spikes, biases = _per_neuron(model.slopes, sizes), _per_neuron(model.biases, sizes)
    weights = _bulk(model, sizes, rng)
    v, theta, perp = _axes(sizes.d, model.alignment)
    weights[:, 0] += spikes
    sigma = compile_numpy(model.activation.expression)
    has_bias = bool(np.any(biases))

    def features(x: Array) -> Array:
        h = x @ weights.T
        if has_bias:
            h += biases
        return np.asarray(sigma(h))

    return FeatureMap(weights, spikes, v, theta, perp, sizes.slices, features)


def equivalent_map(model: Model, sizes: Sizes, rng: np.random.Generator, noise: np.random.Generator) -> FeatureMap:
    """phi_i(x) = mu0_a(kappa) + mu1_a(kappa) w_i.x + mu2_a(kappa) xi_i, kappa = v.x (Result 3.2), i in group a.

    W as in `spiked_random_features`; xi ~ N(0, I_p) is fresh for every sample, from the stream `noise`. The spike
    lives in the functions mu, so `spikes` of the returned map is zero and `weights` is the bulk.
    """
    from numerics.coefficients import conditional_coefficients

    weights = _bulk(model, sizes, rng)
    groups = tuple(zip(model.slopes, model.bulks, model.biases, sizes.slices, strict=True))
    v, theta, perp = _axes(sizes.d, model.alignment)

    def features(x: Array) -> Array:
        kappa = np.ascontiguousarray(x[:, 0])
        h = x @ weights.T
        xi = noise.standard_normal(h.shape)
        for slope, bulk, bias, where in groups:
            mu0, mu1, mu2 = conditional_coefficients(model.activation, slope, bulk, bias, kappa)
            h[:, where] *= mu1[:, None]
            xi[:, where] *= mu2[:, None]
            h[:, where] += mu0[:, None]
        h += xi
        return h

    return FeatureMap(weights, np.zeros(sizes.p), v, theta, perp, sizes.slices, features)


def trained_network(network: Network, sizes: Sizes, rng: np.random.Generator, batch: np.random.Generator) -> FeatureMap:
    """phi(x) = sigma(W1 x) after one real gradient step of the loss (1/(2 n0)) sum (y - f(x))^2 on W (equation (6)).

        W1 = W0 + (eta~ d) (1/n0) sum_mu (y_mu - f(x_mu; a0, W0)) (a0/sqrt(p)) o sigma'(W0 x_mu) x_mu^T

    with a0 = 1_p/sqrt(p): the full residual, at finite d, with no expansion. theta is the first axis.

    The spike is measured on W1 alone: with w the mean row W1^T 1_p/p, v = +-w/|w| and r = w.v, the sign chosen so that
    v points along the batch's (1/n0) sum y x (W1^T 1_p cannot know it: r may be negative where E[z sigma] < 0). The
    bulk is W1 - 1_p w^T; its rows sum to zero. E|w|^2 = r^2 + c/p, so these estimates of r and gamma carry O(1/d).

    Raises SimulationError where sigma jumps: its derivative is not a function and the step is not defined.
    """
    activation = network.activation
    if any(point.jump for point in activation.breakpoints):
        raise SimulationError(
            f"a gradient step needs the derivative of the activation, and {activation.expression} jumps; "
            "take a continuous one, or the spiked random features with spike, bulk and alignment given"
        )
    from derivations.expression import derivative

    sigma, slope = compile_numpy(activation.expression), compile_numpy(derivative(activation.expression))
    target = compile_numpy(network.target.expression)
    d, p, n0 = sizes.d, sizes.p, sizes.n0
    weights = gaussian_rows(rng, p, d) if network.gaussian_rows else unit_rows(rng, p, d)
    theta = np.zeros(d)
    theta[0] = 1.0
    step, batch_direction = np.zeros((p, d)), np.zeros(d)
    labels_noise = np.sqrt(network.noise) * batch.standard_normal(n0)
    rows = block_rows(max(p, d))
    for start in range(0, n0, rows):
        x = batch.standard_normal((min(rows, n0 - start), d))
        y = np.asarray(target(x[:, 0].copy())) + labels_noise[start : start + len(x)]
        h = x @ weights.T
        residual = y - np.asarray(sigma(h)).mean(axis=1)
        gradient = np.asarray(slope(h)) * residual[:, None]
        step += gradient.T @ x
        batch_direction += y @ x
    if n0:
        step *= network.eta * d / (p * n0)
        weights += step
    mean_row = weights.mean(axis=0)
    size = float(np.linalg.norm(mean_row))
    v = mean_row / size
    if n0 and v @ batch_direction < 0:
        v, size = -v, -size
    gamma = float(v @ theta)
    perp = theta - gamma * v
    perp /= np.linalg.norm(perp)

    def features(x: Array) -> Array:
        return np.asarray(sigma(x @ weights.T))

    return FeatureMap(weights, np.full(p, size), v, theta, perp, sizes.slices, features, centred_bulk=True)

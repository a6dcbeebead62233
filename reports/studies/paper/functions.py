"""The function of one direction that a network is, its mean over all that lies across: of a simulated one without
sampling, and by the theory.

For Gaussian inputs w.x given e.x = t is normal of mean t w.e and variance |w|^2 - (w.e)^2: the mean of a neuron is an
average over one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, trained_network
from giantsteps.numerics.experiments.readout import fit
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.figures.results import learned_along
from giantsteps.reports.measurements.experiments import Experiment

Array = NDArray[np.float64]

# A smooth activation of a normal number of variance near one: 60 nodes leave less than 1e-7 of a tanh.
NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = _WEIGHTS / np.sum(_WEIGHTS)


def neurons_along(network: Network, weights: Array, direction: Array, places: Sequence[float]) -> tuple[Array, Array]:
    """E[sigma(w_i.x) | e.x = t] and E[sigma(w_i.x) b_i.x | e.x = t]/|b_i|^2 for unit e, b_i = w_i - (w_i.e) e.

    Shapes (p, len(places)).
    """
    along = weights @ direction
    across = np.sqrt(np.sum(weights**2, axis=1) - along**2)
    sigma = compile_numpy(network.activation.expression)
    mean, slope = (np.empty((len(weights), len(places))) for _ in range(2))
    for k, place in enumerate(places):
        values = np.asarray(sigma(place * along[:, None] + across[:, None] * NODES))
        mean[:, k], slope[:, k] = values @ WEIGHTS, values @ (WEIGHTS * NODES) / across
    return mean, slope


@dataclass(frozen=True)
class AtPlaces(Experiment):
    """What is read off networks after their step at places along a direction."""

    places: tuple[float, ...] = ()

    def drawn(self, seed: int) -> Iterator[tuple[Network, FeatureMap, Sizes, np.random.Generator]]:
        """The network, each of its draws, its sizes, and the generator of what follows."""
        assert isinstance(self.subject, Network)
        sizes = Sizes.of(self.subject, self.dimension)
        for index in range(self.seeds):
            sequence = np.random.SeedSequence(seed + self.stream, spawn_key=(self.dimension, index))
            rows, batch, rest = map(np.random.default_rng, sequence.spawn(3))
            yield self.subject, trained_network(self.subject, sizes, rows, batch), sizes, rest


@dataclass(frozen=True)
class AlongDirection(AtPlaces):
    """The mean output of the trained network at every place along the target or along its spike.

    Its observables are the places, one value per seed each.
    """

    target: bool = True

    def run(self, seed: int) -> dict[str, list[float]]:
        """The samples, to seven digits."""
        found = []
        for network, drawn, sizes, rng in self.drawn(seed):
            x = rng.standard_normal((sizes.n, sizes.d))
            labels = np.asarray(compile_numpy(network.target.expression)(x @ drawn.theta))
            readout = fit(iter([(drawn.features(x), labels)]), sizes.n, sizes.p, (network.ridge,)).a[:, 0]
            direction = drawn.theta if self.target else drawn.direction
            mean, _ = neurons_along(network, drawn.weights, direction, self.places)
            found.append(readout @ mean / np.sqrt(sizes.p))
        return {f"{place:g}": [float(f"{value[k]:.7g}") for value in found] for k, place in enumerate(self.places)}


@dataclass(frozen=True)
class MeanNeuron(AtPlaces):
    """The mean over neurons of what `neurons_along` gives along the spike: mu0 and kappa mu1 of one real network.

    Its observables are "mu0 at kappa" and "kappa mu1 at kappa" for every place.
    """

    def run(self, seed: int) -> dict[str, list[float]]:
        """The samples, to seven digits."""
        found: dict[str, list[float]] = {name: [] for name in self.observables}
        for network, drawn, _, _ in self.drawn(seed):
            mean, slope = neurons_along(network, drawn.weights, drawn.direction, self.places)
            for k, place in enumerate(self.places):
                for name, value in (("mu0", mean[:, k].mean()), ("kappa mu1", place * slope[:, k].mean())):
                    found[f"{name} at {place:g}"].append(float(f"{value:.7g}"))
        return found


def along_spike(model: Model, kappa: Array) -> Array:
    """E[output | v.x = kappa]."""
    return learned_along(solve(model), kappa)


def along_target(model: Model, x: Array) -> Array:
    """E[output | theta.x = x]: the mean over kappa = gamma x + sqrt(1 - gamma^2) w, w ~ N(0, 1).

    Across the spike theta_perp.x = u = sqrt(1 - gamma^2) x - gamma w, which adds psi mu1(kappa) u.
    """
    gamma = model.alignment
    across = float(np.sqrt(1.0 - gamma**2))
    kappa, u = gamma * x[:, None] + across * NODES, across * x[:, None] - gamma * NODES
    output: Array = learned_along(solve(model), kappa, u) @ WEIGHTS
    return output

"""Ridge readouts of one network on several training sets, each tested on the sets of the others.

Most of what an error varies by is its training set's, and the rows of a network cost as much as several readouts: the
mean over a network's readouts says nearly as much as so many networks would, and no sample is drawn to test alone.
"""

from __future__ import annotations

import numpy as np

from giantsteps.verify.second_route.gradient_step.real import positive_solution
from giantsteps.verify.second_route.grids import Array


def fitted(features: Array, labels: Array, sets: int, ridge: float) -> Array:
    """a = (F^T F + ridge)^-1 F^T y for the features F and labels y of each of so many sets of samples, (p, sets)."""
    n, identity = len(labels) // sets, ridge * np.eye(features.shape[1])
    parts = [slice(k * n, (k + 1) * n) for k in range(sets)]
    return np.stack(
        [positive_solution(features[k].T @ features[k] + identity, features[k].T @ labels[k]) for k in parts], axis=1
    )


def on_others(values: Array) -> float:
    """The mean of values (samples, readouts) over the samples of the other sets; there are two sets or more."""
    of_sets = _of_sets(values)
    sets = len(of_sets)
    return (float(of_sets.sum()) - float(np.trace(of_sets))) / (sets * (sets - 1))


def on_own(values: Array) -> float:
    """The mean of values (samples, readouts) over the samples to which each was fitted."""
    return float(np.mean(np.diagonal(_of_sets(values))))


def _of_sets(values: Array) -> Array:
    """Means over the samples of each set."""
    sets = values.shape[1]
    return np.asarray(values.reshape(sets, -1, sets).mean(axis=1))

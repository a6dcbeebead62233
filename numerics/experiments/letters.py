"""Networks whose initial readout weights are drawn from a law: every neuron has a letter of its own.

The features are those of `numerics.experiments.ensembles.spiked_random_features`, sigma(u_i r kappa + w_i.x) with
|w_i|^2 = c_u. The letters are independent draws: their empirical law is part of what scatters between seeds. Compare
with `Solution.at_width` at the width of the sample: networks are far from the limit.
"""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.experiments.arrays import NUMPY, Arrays
from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, along_axes, unit_rows
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.letters.density import bulk_of, law_of


def letters_map(model: Model, sizes: Sizes, rng: np.random.Generator, arrays: Arrays = NUMPY) -> FeatureMap:
    """One feature map: v the first axis, theta_perp the second."""
    letters = law_of(model).draw(rng, sizes.p)
    bulks = np.array([bulk_of(model, float(u)) for u in letters])
    rows = unit_rows(rng, sizes.p, sizes.d) * np.sqrt(bulks)[:, None]
    return along_axes(model, rows, (model.spike * letters)[:, None], (slice(0, sizes.p),), arrays=arrays)

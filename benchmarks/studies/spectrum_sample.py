"""Eigenvalues of a sample of spiked features at d = 2000 beside the theory: page `reports.studies.spectrum_sample`.

python -m benchmarks.studies.spectrum_sample simulate    draw the features, store the eigenvalues in
spectrum_sample.json python -m benchmarks.studies.spectrum_sample             print the page from them
"""

from __future__ import annotations

import json
import sys

import numpy as np

from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features, trained_network
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.experiments import FOLDER, as_text
from giantsteps.reports.studies.spectrum_sample import (
    CASES,
    DIMENSION,
    ENDS,
    LARGEST,
    NETWORK,
    NETWORKS,
    SEED,
    SLUG,
    counts_name,
    study,
)  # fmt: skip


def eigenvalues(subject: Model | Network, *stream: int) -> list[float]:
    """The positive eigenvalues of Phi^T Phi/p, increasing: those of the smaller of the two Gram matrices.

    A stream is a draw of its own.
    """
    alpha0 = subject.alpha0 if isinstance(subject, Network) else 0.0
    sizes = Sizes.rounded(DIMENSION, alpha=subject.alpha, beta=subject.beta, alpha0=alpha0, fractions=subject.fractions)
    weights, inputs, batch = map(np.random.default_rng, np.random.SeedSequence((SEED, *stream)).spawn(3))
    if isinstance(subject, Network):
        features = trained_network(subject, sizes, weights, batch).features
    else:
        features = spiked_random_features(subject, sizes, weights).features
    phi = features(inputs.standard_normal((sizes.n, sizes.d)))
    gram = phi @ phi.T if sizes.n < sizes.p else phi.T @ phi
    return [float(f"{x:.6g}") for x in np.linalg.eigvalsh(gram / sizes.p)]


def several() -> dict[str, list[float]]:
    """Counts and outliers of further networks."""
    found: dict[str, list[float]] = {LARGEST: []}
    for k in range(1, NETWORKS + 1):
        *bulk, largest = eigenvalues(NETWORK, k)
        found[LARGEST].append(largest)
        found[counts_name(k)] = [int(count) for count in np.histogram(bulk, bins=(*ENDS, np.inf))[0]]
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["simulate"]:
        samples = {name: eigenvalues(subject) for name, subject in CASES} | several()
        lines = (f" {json.dumps(name)}: {json.dumps(values)}" for name, values in samples.items())
        (FOLDER / f"{SLUG}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    found = study()
    print(as_text(found) if found else "nothing is measured yet: add `simulate`")

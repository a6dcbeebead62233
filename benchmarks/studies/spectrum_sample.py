"""Eigenvalues of a sample of spiked features at d = 2000, for the page `reports.studies.spectrum_sample`."""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features, trained_network
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.experiments import FOLDER, text_of
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


def store() -> None:
    """Draw everything anew."""
    samples = {name: eigenvalues(subject) for name, subject in CASES.items()} | several()
    (FOLDER / f"{SLUG}.json").write_text(text_of(samples), encoding="utf-8")

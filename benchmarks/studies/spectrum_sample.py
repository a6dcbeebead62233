"""Eigenvalues of a sample of spiked features at d = 2000, for the page `reports.studies.spectrum_sample`."""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.commands.spectrum import sample
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
    values = sample(subject, DIMENSION, map(np.random.default_rng, np.random.SeedSequence((SEED, *stream)).spawn(3)))
    zeros = round(subject.beta * DIMENSION) - round(subject.alpha * DIMENSION)  # p - n
    return [float(f"{x:.6g}") for x in values[max(0, zeros) :]]


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

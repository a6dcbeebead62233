"""The further networks of the spectrum's page: what is stored of them, and what is said of both theories."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.reports.measurements.experiments import FOLDER, Measured
from giantsteps.reports.studies import spectrum_sample
from giantsteps.reports.studies.spectrum_sample import ENDS, NETWORKS, Networks, networks_of


def test_what_is_stored_counts_every_eigenvalue_once() -> None:
    sample = json.loads((FOLDER / "spectrum_sample.json").read_text(encoding="utf-8"))
    found = networks_of(sample)
    # p = 1600 positive eigenvalues, n = 3000, one of them the outlier; a bin for each tenth, one for what is above.
    assert found.counts.shape == (NETWORKS, 41)
    assert set(found.counts.sum(axis=1)) == {1599.0}
    first, _ = np.histogram(sample["tanh network"][:-1], bins=ENDS)
    # Another draw of the same law: eigenvalues repel each other, and a batch moves c by some per cent.
    assert np.max(np.abs(np.mean(found.counts, axis=0)[:-1] - first)) < 0.02 * 1599.0
    assert found.outliers.mean == pytest.approx(np.mean(sample["tanh networks, largest"]))


def test_bins_become_a_density_and_a_distance() -> None:
    rising = np.arange(1.0, 42.0)
    several = Networks(np.stack([rising, rising[::-1]]), Measured.of([1.0, 3.0]))
    total = rising.sum()
    # The mean of both in the first bin of width 0.1, with the standard error of two.
    assert several.shares[0].mean == pytest.approx(42.0 / 2.0 / total / 0.1)
    assert several.shares[0].error == pytest.approx(40.0 / 2.0 / total / 0.1)
    uniform: Any = SimpleNamespace(x=[0.0, 4.1], cumulative=[0.0, 1.0])
    first, second = several.distances_from(uniform)
    # sum (1 .. k)/total beside k/41: furthest at k = 20 and 21, and mirrored.
    assert (first, second) == pytest.approx((20.0 / 41.0 - 210.0 / total,) * 2)


def test_the_sentence_follows_the_networks() -> None:
    counts = np.ones((NETWORKS, 41))
    near: Any = SimpleNamespace(x=[0.0, 4.1], cumulative=[0.0, 1.0])
    far: Any = SimpleNamespace(x=[0.0, 2.0, 4.1], cumulative=[0.0, 1.0, 1.0])
    several = Networks(counts, Measured(10.0, 0.5, 1.0))
    row: Any = SimpleNamespace(found=near, paper=far, predicted=9.0)
    text = spectrum_sample._several(row, several)
    assert "+2.0 standard errors" in text
    assert f"for {NETWORKS} of {NETWORKS}" in text
    row = SimpleNamespace(found=far, paper=near, predicted=9.0)
    assert f"for 0 of {NETWORKS}" in spectrum_sample._several(row, several)

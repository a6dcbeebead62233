"""Time and memory of one finite-size experiment, beside the bare matrix products and factorisation that it needs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.speed.solver_speed import worked
from benchmarks.speed.timing import best, peak_bytes
from giantsteps.numerics.experiments.ensembles import Array, block_rows
from giantsteps.numerics.experiments.ridge import TEST_FACTOR, simulate_ridges
from giantsteps.numerics.experiments.simulate import simulate

DIMENSIONS = (500, 1000, 2000, 4000)
RIDGES = 24


def bare(d: int, n: int, p: int) -> None:
    """X W^T for training and test set, the Gram matrix of the features, its Cholesky factor: nothing is drawn anew."""
    from scipy.linalg import cho_factor
    from scipy.linalg.blas import dsyrk

    rows = block_rows(max(p, d))
    weights, x, features, readout = _operands(d, p, rows)
    gram = np.zeros((p, p), order="F")
    for start in range(0, n, rows):
        count = min(rows, n - start)
        x[:count] @ weights.T
        gram = dsyrk(1.0 / p, features[:count].T, beta=1.0, c=gram, lower=1, overwrite_c=1)
    tests = TEST_FACTOR * max(n, d)
    for start in range(0, tests, rows):
        count = min(rows, tests - start)
        x[:count] @ weights.T
        features[:count] @ readout
    gram[np.diag_indices(p)] += 1.0
    cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)


_HELD: dict[tuple[int, int, int], tuple[Array, ...]] = {}


def _operands(d: int, p: int, rows: int) -> tuple[Array, ...]:
    """Weights, inputs, features and a readout, drawn once: their drawing is not part of the bare time."""
    if (d, p, rows) not in _HELD:
        rng = np.random.default_rng(0)
        _HELD.clear()
        _HELD[d, p, rows] = tuple(rng.standard_normal(shape) for shape in ((p, d), (rows, d), (rows, p), (p, 1)))
    return _HELD[d, p, rows]


def by_dimension() -> list[dict[str, Any]]:
    """One experiment at each dimension; every run draws new samples, nothing is taken from a cache."""
    model = worked()
    simulate(model, dimension=50, seeds=1)  # imports
    rows = []
    for d in DIMENSIONS:
        n, p = round(model.alpha * d), round(model.beta * d)
        _operands(d, p, block_rows(max(p, d)))
        runs = range(5 if d < 2000 else 2)
        least = best([partial(bare, d, n, p) for _ in runs])
        whole = best([partial(simulate, model, dimension=d, seeds=1, seed=seed) for seed in runs])
        peak = peak_bytes(partial(simulate, model, dimension=d, seeds=1, seed=99))
        rows.append(
            {"dimension": d, "seconds": whole, "bare_seconds": least, "ratio": whole / least, "peak_bytes": peak}
        )
    _HELD.clear()
    return rows


def many_ridges() -> dict[str, Any]:
    """The time of many ridges on one draw, in experiments with one ridge."""
    model, d = worked(), 1000
    ridges = tuple(np.geomspace(1e-3, 10.0, RIDGES).tolist())
    seeds = range(100, 103)
    one = best([partial(simulate, model, dimension=d, seeds=1, seed=seed) for seed in seeds])
    all_ = best([partial(simulate_ridges, model, ridges, dimension=d, seeds=1, seed=seed) for seed in seeds])
    return {"dimension": d, "ridges": RIDGES, "seconds": all_, "one_ridge_seconds": one}

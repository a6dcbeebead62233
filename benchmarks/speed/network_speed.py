"""How long a network's own bulk takes: points, batches, certificates.

    python -m benchmarks.speed.network_speed

prints processor seconds, the best of several runs: a point at another alpha and one at another eta, a point of a batch
and of a curve, a certificate, and intervals of certified branches, for an odd activation and another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.speed.solver_speed import grid, worked  # one thread first: it speaks to NumPy
from benchmarks.speed.timing import best, best_per_call
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.certificates.ranges.branch import certify_branch
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve

PAIRS = (("tanh", "tanh"), ("relu", "sin"))
POINTS, CURVE, CALLS = 20_000, 200, 40


def network(student: str, target: str) -> Model:
    """The worked networks of the theory."""
    return Model.from_gradient_step(
        activation(student), activation(target), alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0,
        bulk_model="network",
    )  # fmt: skip


def fresh(model: Model, **ranges: tuple[float, float]) -> list[Model]:
    """The model with CALLS values of each parameter between two ends."""
    values = {name: np.linspace(*ends, CALLS) for name, ends in ranges.items()}
    return [model.changed(**{name: float(row[k]) for name, row in values.items()}) for k in range(CALLS)]


def rows() -> Iterator[tuple[str, float, str]]:
    """What, how long, and the unit."""
    for student, target in PAIRS:
        model, name = network(student, target), f"{student} learns {target}"
        solve(model)
        along = fresh(model, alpha=(1.5, 1.6))
        yield f"{name}: a point at another alpha", 1e3 * best_per_call([partial(solve, one) for one in along], 5), "ms"
        # No two runs have an eta in common: nothing of a step is known before but what it shares with others, the
        # target along a rule and where the rules across the spike were compared.
        runs = [fresh(model, eta=(3.0 + k / 7.0, 3.1 + k / 7.0)) for k in range(3)]
        seconds = min(best_per_call([partial(solve, one) for one in run], 1) for run in runs)
        yield f"{name}: a point at another eta", 1e3 * seconds, "ms"
        alpha, ridge = grid(POINTS)
        seconds = best([partial(solve_batch, model, alpha=alpha, ridge=ridge)] * 3)
        yield f"{name}: a point of a batch of {POINTS:,}", 1e6 * seconds / POINTS, "microseconds"
        curve = np.geomspace(0.1, 10.0, CURVE)
        yield f"{name}: a curve of {CURVE} points", 1e3 * best([partial(solve_batch, model, alpha=curve)] * 5), "ms"
        yield f"{name}: a certificate", 1e3 * best([partial(certify, model)] * 5), "ms"
        for parameter, low in (("alpha", 1.5), ("eta", 3.0)):
            branch = partial(certify_branch, model, parameter, low, low + 0.001)
            yield f"{name}: a certified branch, {parameter} {low:g} to {low + 0.001:g}", best([branch] * 2), "s"
    yield "isotropic bulk: the certificate of the worked value", 1e3 * best([partial(certify, worked())] * 10), "ms"


if __name__ == "__main__":
    for what, value, unit in rows():
        print(f"{what:62s} {value:8.3g} {unit}", flush=True)

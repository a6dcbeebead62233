"""Time and accuracy of the ridge saddle point: one point, a batch, any precision; beside the plain baseline."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.speed import baseline
from benchmarks.speed.timing import best, best_per_call, peak_bytes
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_any
from giantsteps.numerics.saddle_point.one_group.batch import BatchSolution, solve_batch
from giantsteps.numerics.saddle_point.one_group.batch_equations import Array
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to

Entry = dict[str, Any]

POINTS = 100_000
REFERENCE_DIGITS = 30
GROUPS = (1, 2, 4, 8)
DIGITS = (20, 35, 50, 100)
COUNTS = (100, 1_000, 10_000, 100_000, 1_000_000)


def worked(student: str = "tanh", target: str = "sin", **changes: Any) -> Model:
    """The worked example of the README, or its like."""
    values = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8} | changes
    return Model(activation(student), activation(target), **values)


def reference(model: Model) -> float:
    """The test error by the equations in their spectral form, in 30 digits."""
    return float(solve_to(model, digits=REFERENCE_DIGITS).test_error)


def relative(found: float, expected: float) -> float:
    """The relative error of a number."""
    return abs(found - expected) / abs(expected)


def plain() -> Entry:
    """The baseline: seconds without the eigenvalues, accuracy, number of updates."""
    model = worked()
    eigenvalues = baseline.bulk_eigenvalues(model.beta, model.bulk)
    found: list[baseline.Baseline] = []
    with warnings.catch_warnings():
        # quad at its defaults complains at times, and goes on.
        warnings.simplefilter("ignore")
        seconds = best([lambda: found.append(baseline.solve(model, eigenvalues))] * 3)
    error = relative(found[-1].test_error, reference(model))
    return {"seconds": seconds, "error": error, "updates": found[-1].updates, "stop": baseline.STOP}


def single(model: Model, calls: int = 40) -> Entry:
    """One point, cold: no call starts from another's solution, the coefficients are there."""
    solution = solve(model)
    models = [model.changed(alpha=model.alpha * (1.0 + 1e-3 * k)) for k in range(1, calls + 1)]
    seconds = best_per_call([partial(solve, one) for one in models], 5)
    entry = {"seconds": seconds, "residual": max(solve(one).residual for one in models)}
    if len(model.groups) == 1:
        entry["error"] = relative(solution.test_error, reference(model))
    return entry


CONVEX = ("logistic", "hinge", "huber:1")


def convex(calls: int = 5) -> dict[str, Entry]:
    """One point for each convex loss with its error estimate at converged digits, tanh and sign, functions known."""
    model, found = worked("tanh", "sign"), {}
    models = [model.changed(alpha=model.alpha * (1.0 + 1e-3 * k)) for k in range(calls)]
    for name in CONVEX:
        with_loss = [one.changed(loss=name) for one in models]
        solutions = [solve_any(one) for one in with_loss]
        found[name] = {
            "seconds": best_per_call([partial(solve_any, one) for one in with_loss], 5),
            "residual": max(solution.residual for solution in solutions),
            # A solution of the square loss has none.
            "parameter_error": max(solution.parameter_error or 0.0 for solution in solutions),
            "converged": sum(solution.converged for solution in solutions),
            "points": calls,
        }
    return found


def grid(points: int) -> tuple[Array, Array]:
    """alpha from 0.1 to 10 and ridge from 1e-3 to 10 at so many points, spread logarithmically, in no order."""
    rng = np.random.default_rng(0)
    return 10.0 ** rng.uniform(-1.0, 1.0, points), 10.0 ** rng.uniform(-3.0, 1.0, points)


def batch(model: Model, points: int = POINTS, checked: int = 20, runs: int = 3, refine: int = 0) -> Entry:
    """Many points with the same functions of kappa; the worst error over `checked` of them."""
    alpha, ridge = grid(points)
    found: list[BatchSolution] = []

    def work() -> None:
        found[:] = [solve_batch(model, beta=model.beta, alpha=alpha, ridge=ridge, refine=refine)]

    # The table of the functions of kappa is made in the first call, as in every later one it is found.
    work()
    seconds = best([work] * runs) / points
    solved = found[0]
    errors = []
    for k in range(0, points, max(1, points // checked)) if checked else ():
        one = model.changed(alpha=float(alpha[k]), ridge=float(ridge[k]))
        errors.append(relative(float(solved.test_error[k]), reference(one)))
    entry: Entry = {"error": max(errors), "compared": len(errors)} if errors else {}
    return entry | {
        "points": points,
        "seconds_per_point": seconds,
        "residual": float(solved.residual.max()),
        "converged": int(solved.converged.sum()),
        "error_estimate": float(solved.error_estimate.max()),
        "nodes": len(profile(model, refine, refine).weights),
    }


def by_points() -> list[Entry]:
    """A batch's time per point and memory beside its results, against the number of points."""
    model = worked()
    rows = []
    for count in COUNTS:
        found = batch(model, count, checked=0, runs=3 if count < COUNTS[-1] else 1)
        arrays = 11 * 8 + 1 + 8  # numbers, converged, status of a point
        alpha, ridge = grid(count)
        held = peak_bytes(partial(solve_batch, model, alpha=alpha, beta=model.beta, ridge=ridge))
        rows.append(found | {"peak_bytes_per_point": held / count, "result_bytes_per_point": arrays})
    return rows


def by_nodes() -> list[Entry]:
    """A batch's time per point against the number of nodes along the spike."""
    return [batch(worked(), 10_000, checked=0, refine=level) for level in range(4)]


def by_groups() -> list[Entry]:
    """One point's time against the number of readout groups."""
    rows = []
    for count in GROUPS:
        groups = tuple(ReadoutGroup(1.0 - 1.5 * k / count, 1.0 / count) for k in range(count))
        rows.append({"groups": count} | single(worked(readout=groups), calls=5))
    return rows


def by_digits() -> list[Entry]:
    """The time of the saddle point in multiple precision."""
    rows = []
    for digits in DIGITS:
        seconds = best([partial(solve_to, worked(), digits=digits)] * 2)
        check = float(solve_to(worked(), digits=digits).error_estimate)
        rows.append({"digits": digits, "seconds": seconds, "check": f"{check:.1e}"})
    return rows

"""One chunk of a sweep: the points from `start` to `stop`, solved, simulated or both; a row of numbers for each.

A point that fails has its reason in `status`, and spoils no neighbour. What runs here is all that a worker process is
sent: a sweep as plain data and two numbers.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.measure import named
from giantsteps.numerics.experiments.ridge import Simulation, at_sizes, simulate_ridges
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.one_group.batch import AT_WIDTH, NUMBERS, solve_together
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.numerics.sweeps.sweep import DIRECT, Experiment, Sweep

# What may go wrong at one point, and is said there. Anything else is a defect of the suite and ends the sweep.
FAILURES = (ModelError, SimulationError, ArithmeticError, np.linalg.LinAlgError)

# Beside test_error and training_error, which then are the loss itself.
ERRORS_OF_A_LOSS = ("mean_squared_error", "classification_error")

# A scheduler may run several tasks in the threads of one process, and the precision of some libraries is global state.
_ONE_AT_A_TIME = threading.Lock()

Row = tuple[float | int | str | None, ...]


@dataclass
class _Entry:
    """One point at work."""

    index: int
    point: dict[str, float]
    subject: Model | Network | None = None
    model: Model | None = None
    values: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def columns(sweep: Sweep) -> tuple[str, ...]:
    """The names of the numbers in a row, in order.

    point, the swept parameters, spike, bulk and alignment where they follow from a step, converged (0 or 1), status;
    of the theory the errors, order parameters (m, or m_0, m_1, ... for several groups), residual and error estimate,
    and both errors and their estimate at the sweep's width (x_at_width, empty where there is none);
    of a simulation n, p, n0 and for every observable x a mean simulated_x and simulated_x_standard_error.
    """
    first = ("point", *(axis.name for axis in sweep.swept), *(DIRECT if sweep.has_step else ()), "converged", "status")
    theory = (*_theory_names(sweep), "residual", "error_estimate", *AT_WIDTH) if sweep.kind != "simulation" else ()
    measured = _simulated_names(sweep) if sweep.simulated else ()
    pairs = tuple(name for x in measured for name in (f"simulated_{x}", f"simulated_{x}_standard_error"))
    return (*first, *theory, *(("n", "p", "n0") if sweep.simulated else ()), *pairs)


def solve_chunk(sweep: Sweep, start: int, stop: int) -> list[Row]:
    """The rows of points start <= index < stop, in the order of `columns`. Deterministic, failures included."""
    with _ONE_AT_A_TIME:
        entries = [_prepared(sweep, index) for index in range(start, stop)]
        if sweep.kind != "simulation":
            _solve(sweep, entries)
        if sweep.experiment is not None:
            _simulate(sweep.experiment, entries)
    names = columns(sweep)
    return [_row(names, entry) for entry in entries]


def _prepared(sweep: Sweep, index: int) -> _Entry:
    entry = _Entry(index, sweep.point(index))
    try:
        entry.subject = sweep.subject(entry.point)
        if sweep.kind != "simulation":
            entry.model = _theory_model(sweep, entry.subject)
        elif isinstance(entry.subject, Model):
            entry.model = entry.subject
    except FAILURES as error:
        entry.failures.append(str(error))
    return entry


def _theory_model(sweep: Sweep, subject: Model | Network) -> Model:
    """The model that the theory is asked for: beside a simulation, at the ratios realised there."""
    if sweep.experiment is not None:
        subject = at_sizes(subject, Sizes.of(subject, sweep.experiment.dimension))
    return subject.model(sweep.bulk_model) if isinstance(subject, Network) else subject


def _solve(sweep: Sweep, entries: Sequence[_Entry]) -> None:
    """The theory at every point: together where points share their functions of kappa, else one by one."""
    modelled = [(entry, entry.model) for entry in entries if entry.model is not None]
    together = solve_together([model for _, model in modelled], sweep.width)
    names = _theory_names(sweep)
    for place, (entry, _) in enumerate(modelled):
        if place in together:
            # Rows of one norm have no chi.
            pairs = zip((*NUMBERS, *AT_WIDTH, "chi"), together[place], strict=False)
            entry.values.update(pairs, status="converged")
        else:
            # What the batch gives up on, the solver of single models tries again: it knows better reasons.
            _solve_one(entry, names, sweep)


def _solve_one(entry: _Entry, names: tuple[str, ...], sweep: Sweep) -> None:
    assert entry.model is not None
    try:
        solution = solve(entry.model)
    except FAILURES as error:
        entry.failures.append(str(error))
        return
    if not solution.converged:
        entry.failures.append(solution.status)
    entry.values.update(_numbers(solution, names), status=solution.status)
    if solution.converged:
        entry.values.update(_at_width(solution, sweep.width))


def _at_width(solution: Solution, width: int) -> dict[str, float]:
    """AT_WIDTH of a point solved alone; nothing where that does not converge."""
    try:
        there = solution.at_width(width)
    except FAILURES:
        return {}
    numbers = (there.test_error, there.training_error, there.error_estimate)
    return dict(zip(AT_WIDTH, numbers, strict=True)) if there.converged else {}


def _numbers(solution: Solution, names: tuple[str, ...]) -> dict[str, float]:
    order = solution.order_parameters
    found = {"test_error": solution.test_error, "training_error": solution.training_error}
    for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2", *(["chi"] if order.chi.size else [])):
        found |= named(name, getattr(order, name))
    found = {column_name(name): value for name, value in found.items()}
    found |= {name: getattr(solution, name) for name in ERRORS_OF_A_LOSS if name in names}
    # A network without a step has rows of equal norms, and no chi.
    return {name: found[name] for name in names if name in found or not name.startswith("chi")} | {
        "residual": solution.residual,
        "error_estimate": solution.error_estimate,
    }


def _simulate(experiment: Experiment, entries: Sequence[_Entry]) -> None:
    """The experiments at every point; neighbours that differ in the ridge alone share their draws."""
    drawable = [entry for entry in entries if entry.subject is not None]
    for _, group in groupby(drawable, key=_without_ridge):
        together = list(group)
        try:
            _record(experiment, together)
        except FAILURES as error:
            if len(together) == 1:
                together[0].failures.append(str(error))
                continue
            for entry in together:
                _simulate(experiment, [entry])


def _without_ridge(entry: _Entry) -> tuple[tuple[str, float], ...]:
    return tuple((name, value) for name, value in entry.point.items() if name != "ridge")


def _record(experiment: Experiment, entries: list[_Entry]) -> None:
    subject = entries[0].subject
    assert subject is not None
    runs = simulate_ridges(
        subject,
        [entry.point["ridge"] for entry in entries],
        dimension=experiment.dimension,
        seeds=experiment.seeds,
        seed=experiment.seed,
        kind=experiment.kind,
    )
    for entry, run in zip(entries, runs, strict=True):
        entry.values.update(_measured(run))
        entry.values.setdefault("status", "simulated")


def _measured(run: Simulation) -> Iterator[tuple[str, float | None]]:
    n0 = run.sizes.n0  # of batches of different size there is not one
    yield from (("n", run.sizes.n), ("p", run.sizes.p), ("n0", None if isinstance(n0, tuple) else n0))
    for observable, found in run.estimates.items():
        name = f"simulated_{column_name(observable)}"
        yield name, found.mean
        # One seed shows no spread.
        yield f"{name}_standard_error", found.standard_error if math.isfinite(found.standard_error) else None


def _row(names: tuple[str, ...], entry: _Entry) -> Row:
    values: dict[str, Any] = {"point": entry.index} | entry.point | entry.values
    if entry.model is not None:
        values |= {name: getattr(entry.model, name) for name in DIRECT}
    values["converged"] = int(not entry.failures)
    if entry.failures:
        values["status"] = "; ".join(entry.failures)
    return tuple(_plain(values.get(name)) for name in names)


def _plain(value: Any) -> float | int | str | None:
    """A number as a database holds it: NaN is no number."""
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    return value  # type: ignore[no-any-return]


def column_name(observable: str) -> str:
    """q1[0,1] as q1_0_1, which needs no quotes in a query."""
    return observable.replace("[", "_").replace(",", "_").replace("]", "")


def _order_names(sweep: Sweep, *more: str) -> tuple[str, ...]:
    wanted = ("m", "zeta", "psi", "q1", "q2", *more)
    return ("test_error", "training_error", *(column for name in wanted for column in _by_group(sweep, name)))


def _by_group(sweep: Sweep, name: str) -> tuple[str, ...]:
    """The columns of an order parameter, one per group or pair of groups."""
    count = len(sweep.groups)
    return tuple(map(column_name, named(name, np.zeros((count, count) if name in ("q1", "V1") else count))))


def _theory_names(sweep: Sweep) -> tuple[str, ...]:
    more = ERRORS_OF_A_LOSS if sweep.loss != "square" else ()
    return (*_order_names(sweep, "V1", "V2", *(["chi"] if sweep.unequal_norms else [])), *more)


def _simulated_names(sweep: Sweep) -> tuple[str, ...]:
    network = sweep.experiment is not None and sweep.experiment.kind == "network"
    if network:
        more = ("alignment", *_by_group(sweep, "bulk"), *_by_group(sweep, "chi"))
        return (*_order_names(sweep, "spike"), *more)
    return _order_names(sweep, *(("chi",) if sweep.rows == "gaussian" else ()))

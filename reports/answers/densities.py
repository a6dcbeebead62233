"""A density of initial readout weights on the command line: --readout normal or uniform, with :SCALE."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Any

from onestep.numerics.experiments.simulate_density import Lettered, limits, predicted, simulate_density
from onestep.numerics.models.model import Model, ModelError
from onestep.numerics.models.width_documents import apart_sentence, at_width_json, with_warnings
from onestep.numerics.saddle_point.letters.density import DensitySolution, ReadoutLaw, check, solve_density
from onestep.reports.answers.comparison import Compared
from onestep.reports.answers.widths import apart_line, shown, width_rows
from onestep.reports.command_line.problems import InputProblem
from onestep.verify.checks.finite_size import Observation, compare_all

if TYPE_CHECKING:
    from onestep.reports.command_line.request import Request


def subjects(asked: Request) -> Iterator[tuple[dict[str, float], Lettered]]:
    """The model at every point of a request that has a law. Raises InputProblem."""
    assert asked.law is not None
    for point in asked.points():
        model = asked.model(point)
        try:
            check(model)
        except ModelError as error:
            raise InputProblem(str(error)) from None
        yield point, Lettered(model, asked.law)


def solved(subject: Lettered) -> DensitySolution:
    """The limit of many letters. Raises InputProblem where it is not built."""
    try:
        return solve_density(subject.model, subject.law)
    except ModelError as error:
        raise InputProblem(str(error)) from None


def solution_json(found: DensitySolution | str, width: int) -> dict[str, Any]:
    """One solution as the command line promises it: zeta and psi are totals over all neurons.

    Beside it stand the errors at a finite width.

    A sentence stands for a point without a solution: its errors are null and its status is that sentence.
    """
    from onestep.reports.command_line.console import finite

    if isinstance(found, str):
        return {"test_error": None, "training_error": None, "converged": False, "status": found}
    model = found.model
    document: dict[str, Any] = {
        "test_error": found.test_error,
        "training_error": found.training_error,
        "spike": model.spike,
        "bulk": model.bulk,
        "alignment": model.alignment,
        "readout": law_json(found.law),
        "bulk_of_letter": bulk_text(model),
        "order_parameters": {"zeta": found.zeta, "psi": found.psi},
        "residual": found.residual,
        "error_estimate": found.error_estimate,
        "converged": found.converged,
        "status": found.status,
    }
    cleaned: dict[str, Any] = finite(document, found.status)
    at_width = at_width_json(width, found.converged, partial(found.width_solution, width))
    return with_warnings(cleaned | at_width, model)


def bulk_text(model: Model) -> str:
    """The bulk variance of a letter u in words: `numerics.saddle_point.letters.density.bulk_of`."""
    return "1 + u^2 (bulk - 1)" if model.bulk > 1.0 else "bulk"


def converged(found: DensitySolution | str) -> bool:
    """Whether there is a solution, and it converged."""
    return not isinstance(found, str) and found.converged


def law_json(law: ReadoutLaw) -> dict[str, Any]:
    """The law for a document."""
    return {"law": law.name, "scale": law.scale}


def solution_text(found: DensitySolution | str, document: dict[str, Any]) -> str:
    """One solution and its document for people; a sentence for what has none."""
    from onestep.reports.command_line.console import number, table

    if isinstance(found, str):
        return found
    model, law = found.model, found.law
    spread = "standard deviation" if law.name == "normal" else "half width"
    rows = [
        ("test error", number(found.test_error)),
        ("training error", number(found.training_error)),
        *width_rows(document),
        ("spike, bulk, alignment", ", ".join(number(x) for x in (model.spike, model.bulk, model.alignment))),
        ("readout", f"{law.name}, {spread} {number(law.scale)}; limit of many letters"),
        ("bulk of a letter u", bulk_text(model)),
        ("psi", number(found.psi)),
        ("residual", number(found.residual, 2)),
        ("error estimate", number(found.error_estimate, 2)),
        ("status", found.status),
    ]
    return "\n".join(line for line in (table(rows), apart_sentence(document)) if line)


def solve_points(asked: Request, step: Callable[[], None]) -> list[tuple[dict[str, float], DensitySolution | str]]:
    """The limit at every point of a request; every point has to exist before anything is run.

    In a sweep a point without a solution has a sentence in its place. Raises InputProblem for one outside of a sweep.
    """
    found: list[tuple[dict[str, float], DensitySolution | str]] = []
    for point, subject in list(subjects(asked)):
        try:
            found.append((point, solved(subject)))
        except InputProblem as problem:
            # One point without a solution does not keep the others from being printed.
            if not asked.swept:
                raise
            found.append((point, str(problem)))
        step()
    return found


def sweep_table(
    swept: Sequence[str],
    results: Sequence[tuple[Mapping[str, float], DensitySolution | str]],
    documents: Sequence[dict[str, Any]],
    width: int,
) -> str:
    """One line per point, and a sentence where the limit is far from its value at the finite width."""
    from onestep.reports.command_line.console import number, table

    rows = []
    for (point, found), document in zip(results, documents, strict=True):
        errors = ("-", "-") if isinstance(found, str) else (number(found.test_error), number(found.training_error))
        status = found if isinstance(found, str) else found.status
        rows.append([*(number(point[name], 6) for name in swept), *errors, shown(document), status])
    header = [*swept, "test error", "training error", f"at width {width}", "status"]
    lines = (table(rows, header, right=frozenset(range(len(swept) + 3))), apart_line(documents, width))
    return "\n".join(line for line in lines if line)


def compared(
    subject: Lettered,
    *,
    dimensions: Sequence[int],
    seeds: int,
    seed: int,
    executor: Executor | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Compared:
    """Simulations against the theory at their widths, the cost of the means kept.

    Raises SimulationError and ModelError.
    """
    law = subject.law
    # Before anything is simulated: what the theory is not built for is refused here.
    found = solve_density(subject.model, law)
    runs = []
    for k, dimension in enumerate(sorted(dimensions)):

        def step(count: int, _total: int, done: int = k * seeds) -> None:
            progress(done + count)

        runs.append(
            simulate_density(
                subject.model, law, dimension=dimension, seeds=seeds, seed=seed, executor=executor, progress=step
            )
        )
    theories, settled = [], []
    for run in runs:
        assert isinstance(run.model, Model)
        realised = solve_density(run.model, law)
        theories.append(predicted(realised, run.sizes.p))
        # A theory that did not converge has no value: not a number makes the comparison inconclusive.
        settled.append(found.converged and realised.converged)
    limit, scales = limits(found), found.scales
    observables = {
        name: [
            Observation(run.dimension, run.values(name), theory[name] if known else math.nan)
            for run, theory, known in zip(runs, theories, settled, strict=True)
        ]
        for name in limit
    }
    report = compare_all(observables, limits=limit, scales=scales, required=("test_error",))
    return Compared(tuple(runs), tuple(theories), limit, report)

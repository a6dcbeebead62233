"""onestep solve: what the theory predicts for a model, or for a sweep of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reports.cli_options import EXPRESSIONS, common_options, model_options, request
from reports.problems import DONE, UNDECIDED

if TYPE_CHECKING:
    from numerics.model import Model
    from numerics.solution import Solution

HELP = f"""\b
Examples:
  onestep solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8
  onestep solve --activation tanh --target sign --alpha 0.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 --json
  onestep solve --activation "erf(z)" --target "sin(2*z)" --alpha log:0.1:10:20 --beta 0.5,1,2 --ridge 0.1
      --spike 1 --bulk 1 --alignment 0.8

Order parameters, training error and test error of the ridge readout, by the theory.

{EXPRESSIONS}
Exit code 3 if a point did not converge; all points are printed all the same.
"""


@click.command(help=HELP)
@model_options
@common_options
def solve(as_json: bool, quiet: bool, debug: bool, **options: Any) -> int:
    """Solve every point asked for; the exit code."""
    from reports.console import Progress, print_json, provenance

    asked = request(options)
    models = asked.models()

    from numerics.ridge import solve as solve_ridge

    results = []
    with Progress("solving", len(models), quiet=quiet) as progress:
        for point, model in models:
            results.append((point, solve_ridge(model)))
            progress.step()
    origin = provenance("solve", asked.parameters)
    if as_json and asked.swept:
        listed = [{"parameters": point, **solution_json(solution)} for point, solution in results]
        print_json({"sweep": sweep_json(asked.values), "results": listed, "provenance": origin})
    elif as_json:
        print_json(solution_json(results[0][1]) | {"provenance": origin})
    elif asked.swept:
        print(sweep_table(asked.swept, results))
    else:
        print(solution_text(results[0][1]))
    return DONE if all(solution.converged for _, solution in results) else UNDECIDED


def sweep_json(values: Any) -> dict[str, list[float]]:
    """The swept parameters and their values, in command-line order."""
    return {name: list(value.values) for name, value in values.items() if value.swept}


def solution_json(solution: Solution) -> dict[str, Any]:
    """One solution as the command line promises it; what is infinite carries the solution's own reason."""
    from reports.console import finite

    model, order = solution.model, solution.order_parameters
    document = {
        "test_error": float(solution.test_error),
        "training_error": float(solution.training_error),
        "spike": model.spike,
        "bulk": bulk_json(model),
        "alignment": model.alignment,
        "order_parameters": {
            name: nested(getattr(order, name)) for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2")
        },
        "residual": float(solution.residual),
        "error_estimate": float(solution.error_estimate),
        "converged": bool(solution.converged),
        "status": solution.status,
    }
    cleaned: dict[str, Any] = finite(document, solution.status)
    return cleaned


def bulk_json(model: Model) -> float | list[float]:
    """The bulk variance: one number, or one per readout group where the groups differ."""
    bulks = model.bulks
    return bulks[0] if len(set(bulks)) == 1 else list(bulks)


def nested(value: Any) -> Any:
    """An array (or nested tuples) as nested lists of floats."""
    import numpy as np

    return np.asarray(value, dtype=float).tolist()


def solution_text(solution: Solution) -> str:
    """One solution for people."""
    from reports.console import number, table

    model, order = solution.model, solution.order_parameters
    rows = [
        ("test error", number(solution.test_error)),
        ("training error", number(solution.training_error)),
        ("spike, bulk, alignment", ", ".join(_compact(x) for x in (model.spike, bulk_json(model), model.alignment))),
    ]
    for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2"):
        rows.append((name, _compact(nested(getattr(order, name)))))
    rows += [
        ("residual", number(solution.residual, 2)),
        ("error estimate", number(solution.error_estimate, 2)),
        ("status", solution.status),
    ]
    return table(rows)


def _compact(value: Any) -> str:
    """A number alone, or the brackets of a vector or matrix with more than one entry."""
    from reports.console import number

    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        return "[" + ", ".join(_compact(item) for item in value) + "]"
    return number(value)


def sweep_table(swept: tuple[str, ...], results: list[tuple[dict[str, float], Solution]]) -> str:
    """One line per point."""
    from reports.console import number, table

    header = [*swept, "test error", "training error", "status"]
    rows = [
        [
            *(number(point[name], 6) for name in swept),
            number(solution.test_error),
            number(solution.training_error),
            solution.status,
        ]
        for point, solution in results
    ]
    return table(rows, header, right=frozenset(range(len(swept) + 2)))

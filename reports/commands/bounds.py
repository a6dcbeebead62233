"""onestep bounds: what no ridge can beat, what the best ridge does, and the best learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reports.cli_options import EXPRESSIONS, common_options, model_options, request
from reports.problems import DONE, UNDECIDED, InputProblem, not_built

if TYPE_CHECKING:
    from numerics.bounds import BestRidge

HELP = f"""\b
Examples:
  onestep bounds --activation erf --target erf --alpha 2 --beta 1 --ridge 0.1 --spike 1.7 --bulk 1 --alignment 1
  onestep bounds --activation tanh --target sin --alpha 2 --beta 1 --ridge 0.1 --alpha0 2 --eta 1 --optimise-eta --json

The least test error over the ridge lies between the lower bound (no features of this kind do better) and the upper
bound (the error at infinite ridge); the best ridge is found by a scan and a refinement of every dip.

--optimise-eta finds two learning rates by such scans, that of least test error at the given ridge and that of least
upper bound, and certifies them in ball arithmetic where activation and target allow it (analytic in a strip, bounded
by a power there): a bracket with a local minimum inside, and for the bound the interval on which it falls before the
bracket and rises after it, so that the minimum is the least there. What is not certified is said to be estimated.

{EXPRESSIONS}
Exit code 3 if a point did not converge; all points are printed all the same.
"""


@click.command(help=HELP)
@model_options
@click.option(
    "--optimise-eta", is_flag=True, help="Find the learning rate of least test error too (needs --alpha0 and --eta)."
)
@common_options
def bounds(optimise_eta: bool, as_json: bool, quiet: bool, debug: bool, **options: Any) -> int:
    """Bounds at every point asked for; the exit code."""
    asked = request(options)
    if optimise_eta and not asked.has_step:
        raise InputProblem(
            "--optimise-eta was given with --spike, --bulk, --alignment; it needs the gradient step, for example "
            "--alpha0 2 --eta 1"
        )
    if optimise_eta and (asked.groups or asked.learned_bias):
        given = "--bias" if options.get("bias") else "--readout"
        raise not_built(
            f"--optimise-eta with {given}",
            "it takes the uniform readout without biases, for example --alpha0 2 --eta 1",
        )
    models = asked.models()

    from numerics import bounds as numeric
    from numerics.model import ModelError
    from reports.console import Progress, finite, note, print_json, provenance
    from reports.optima import best_eta_json, optimum_lines

    results = []
    with Progress("optimising", len(models) * (2 if optimise_eta else 1), quiet=quiet) as progress:
        for point, model in models:
            try:
                found, best = numeric.bounds(model), numeric.best_ridge(model)
                converged = found.converged and best.converged
                document: dict[str, Any] = {
                    "lower": found.lower,
                    "upper": found.upper,
                    "best_ridge": ridge_json(best),
                    "best_eta": None,
                }
                progress.step()
                if optimise_eta:
                    rate, document["best_eta"] = best_eta_json(asked, point)
                    converged = converged and rate.converged
                    progress.step()
                document |= {"error_estimate": found.error_estimate, "converged": converged}
            except ModelError as error:
                raise InputProblem(str(error)) from None
            results.append((point, finite(document, "out of reach of double precision")))
    origin = provenance("bounds", asked.parameters)
    if as_json and asked.swept:
        from reports.commands.solve import sweep_json

        listed = [{"parameters": point, **document} for point, document in results]
        print_json({"sweep": sweep_json(asked.values), "results": listed, "provenance": origin})
    elif as_json:
        print_json(results[0][1] | {"provenance": origin})
    else:
        print(bounds_table(asked.swept, results))
        for _, document in results:
            for line in optimum_lines(document["best_eta"]):
                print(line)
    failed = [document for _, document in results if not document["converged"]]
    if not failed:
        return DONE
    note(
        f"{len(failed)} of {len(results)} points did not converge in the quadrature, and their digits are not to be "
        "trusted: the activation or the target varies too fast for rules in double precision",
        quiet,
    )
    return UNDECIDED


def ridge_json(best: BestRidge) -> dict[str, Any]:
    """The best ridge as a document."""
    from reports.console import finite

    document: dict[str, Any] = {
        "ridge": finite(
            best.ridge, "the test error falls towards the upper bound as the ridge grows, and no ridge does better"
        ),
        "test_error": best.test_error,
        "at_smallest_ridge_tried": best.at_zero,
        "minima": [{"ridge": minimum.at, "test_error": minimum.error} for minimum in best.minima],
    }
    return document


def bounds_table(swept: tuple[str, ...], results: list[tuple[dict[str, float], dict[str, Any]]]) -> str:
    """One line per point."""
    from reports.console import number, table

    header = [*swept, "lower bound", "least error", "at ridge", "upper bound"]
    with_eta = any(document["best_eta"] for _, document in results)
    header += ["least error over eta", "at eta"] if with_eta else []
    rows = []
    for point, document in results:
        best, ridge = document["best_ridge"], document["best_ridge"]["ridge"]
        row = [
            *(number(point[name], 6) for name in swept),
            number(document["lower"], 8),
            number(best["test_error"], 8),
            "infinite" if isinstance(ridge, dict) else number(ridge, 6),
            number(document["upper"], 8),
        ]
        if with_eta:
            row += [number(document["best_eta"]["test_error"], 8), number(document["best_eta"]["eta"], 6)]
        rows.append(row)
    return table(rows, header, right=frozenset(range(len(header))))

"""giantsteps bounds: bounds on the test error over the ridge, the best ridge, and the best learning rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from giantsteps.numerics.models.documents import finite, is_apart
from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.answers.widths import apart_line, shown
from giantsteps.reports.command_line.console import Output, number, table
from giantsteps.reports.command_line.options import EXPRESSIONS, common_options, model_options, width_option
from giantsteps.reports.command_line.problems import DONE, UNDECIDED, InputProblem, not_built
from giantsteps.reports.command_line.request import NO_BEST_BIAS, Request, request

if TYPE_CHECKING:
    from collections.abc import Mapping

    Points = list[tuple[dict[str, float], dict[str, Any]]]

HELP = f"""\b
Examples:
  giantsteps bounds --activation erf --target erf --alpha 2 --beta 1 --ridge 0.1 --spike 1.7 --bulk 1 --alignment 1
  giantsteps bounds --activation tanh --target sin --alpha 2 --beta 1 --ridge 0.1 --alpha0 2 --eta 1 \\
      --optimise-eta --json
  giantsteps bounds --activation tanh --target sign --alpha 2 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 1 \\
      --loss absolute --noise 0.3

Bounds on the least test error over the ridge. No features of this kind do better than the lower bound; the upper bound
is the error at infinite ridge. The best ridge is found by a scan and a refinement of each local minimum. With another
--loss all three are averages of that loss per test sample, label noise included. The output then also has the lower
bound on the mean squared error, which holds for any loss, and for targets in {{-1, 1}} the classification error at
infinite ridge, an upper bound on its minimum over the ridge. All bounds are limits of infinite width.

--optimise-eta finds three learning rates by such scans: those of least test error at the given ridge, of least upper
bound and of least lower bound. --optimise-spike minimises both bounds over the spike at the given bulk and alignment.
Each result is a local minimum in double precision, not certified, or the end of the scan.

The least error is also given at a width of 1000 neurons (--width P for another), as in giantsteps solve.

{EXPRESSIONS}
Exit code 3 if a point did not converge; all points are printed.
"""


@click.command(help=HELP)
@model_options
@click.option("--optimise-eta", is_flag=True, help="Also find the best learning rates (requires --alpha0 and --eta).")
@click.option("--optimise-spike", is_flag=True, help="Also find the spikes of least bounds (requires --spike).")
@width_option
@common_options
def bounds(out: Output, optimise_eta: bool, optimise_spike: bool, width: int, **options: Any) -> int:
    """Bounds at every point asked for; the exit code."""
    asked = request(options)
    if (optimise_eta or optimise_spike) and asked.loss != "square":
        given = "--optimise-eta" if optimise_eta else "--optimise-spike"
        raise not_built(f"{given} with --loss {asked.loss}", "it requires --loss square")
    if optimise_spike and asked.has_step:
        raise InputProblem(
            "--optimise-spike was given with --alpha0 and --eta, which fix the spike; it needs --spike, --bulk and "
            "--alignment, for example --spike 1 --bulk 1 --alignment 0.8, or take --optimise-eta"
        )
    if optimise_eta and not asked.has_step:
        raise InputProblem(
            "--optimise-eta was given with --spike, --bulk, --alignment; it needs the gradient step, for example "
            "--alpha0 2 --eta 1"
        )
    if (optimise_eta or optimise_spike) and asked.learned_bias:
        given = "--optimise-eta" if optimise_eta else "--optimise-spike"
        raise not_built(
            f"{given} with --bias learned", 'it requires quenched biases, for example --bias "0.3:0.5,-0.3:0.5"'
        )
    if asked.learned_bias and asked.loss != "square":
        raise not_built(
            f"--bias learned with --loss {asked.loss} for bounds", 'quenched biases are, for example --bias "0.3:1"'
        )
    models = asked.models()

    from giantsteps.reports.answers.loss_bounds import bounds_json
    from giantsteps.reports.answers.optima import best_bounds_json, best_eta_json

    results = []
    second = optimise_eta or optimise_spike or asked.loss != "square"
    reason = "out of reach of double precision" if asked.loss == "square" else "it diverges"
    with out.progress("optimising", len(models) * (1 + second)) as progress:
        for point, model in models:
            try:
                document = bounds_json(model, progress.step, width) | _without_end(asked, point)
                if optimise_eta:
                    rate, document["best_eta"] = best_eta_json(model)
                    document["converged"] = document["converged"] and rate.converged
                    progress.step()
                if optimise_spike:
                    document["best_spike"] = best_bounds_json(model, "spike")
                    progress.step()
            except ModelError as error:
                raise InputProblem(str(error)) from None
            results.append((point, finite(document, reason)))
    out.warn([model for _, model in models])
    out.tell_groups(options, asked.groups)
    documents = [document for _, document in results]
    out.tell_points("bounds", asked, documents, lambda: _text(results, asked, width))
    failed = [document for document in documents if not document["converged"]]
    if not failed:
        return DONE
    out.note(f"{len(failed)} of {len(results)} points did not converge: {why_not(failed)}")
    return UNDECIDED


def why_not(failed: list[dict[str, Any]]) -> str:
    """What of the points that did not converge is not to be trusted, in words."""
    reasons = [NO_BEST_BIAS] if any(document.get("learned_bias_at_edge") for document in failed) else []
    failed = [document for document in failed if not document.get("learned_bias_at_edge")]
    loose = [document["error_estimate"] for document in failed if not document["bounds_converged"]]
    if loose and "loss" in failed[0]:
        size = max((x for x in loose if isinstance(x, float)), default=math.inf)
        known = f"known to {size:.1g} only" if size < math.inf else "not known"
        reasons.append(f"the bounds of the {failed[0]['loss']} loss are {known}")
    elif loose:
        reasons.append(
            "their digits are not to be trusted, because the activation or the target varies too fast for rules in "
            "double precision"
        )
    if len(loose) < len(failed):
        reasons.append(
            "the least error was not confirmed at its ridge: a better ridge may lie beyond the scan, or where the "
            "solver does not converge"
        )
    return "; ".join(reasons)


def _without_end(asked: Request, point: Mapping[str, float]) -> dict[str, Any]:
    """What is said of bounds whose bias is only the last one that was tried."""
    return {"converged": False, "learned_bias_at_edge": True} if asked.without_best_bias(point) else {}


def _text(results: Points, asked: Request, width: int) -> str:
    """All points for people: a table, what is far from its value at the width, and the best learning rate and spike."""
    from giantsteps.reports.answers.loss_bounds import loss_bounds_text
    from giantsteps.reports.answers.optima import bound_lines, optimum_lines

    lines = [
        (bounds_table if asked.loss == "square" else loss_bounds_text)(asked.swept, results, width),
        apart_line([document["best_ridge"] for _, document in results], width),
    ]
    for _, document in results:
        lines += [*optimum_lines(document["best_eta"]), *bound_lines(document.get("best_spike"), "spike")]
    return "\n".join(line for line in lines if line)


def bounds_table(swept: tuple[str, ...], results: Points, width: int) -> str:
    """One line per point; the least error at the finite width beside its limit."""
    first = any(is_apart(document["best_ridge"]) for _, document in results)
    least = [f"least error at width {width}", "limit"] if first else ["least error", f"at width {width}"]
    header = [*swept, "lower bound", *least, "at ridge", "upper bound"]
    with_eta = any(document["best_eta"] for _, document in results)
    header += ["least error at the ridge given", "at eta"] if with_eta else []
    rows = []
    for point, document in results:
        best, ridge = document["best_ridge"], document["best_ridge"]["ridge"]
        limit = number(best["test_error"], 8)
        row = [
            *(number(point[name], 6) for name in swept),
            number(document["lower"], 8),
            *((shown(best, 8), limit) if first else (limit, shown(best, 8))),
            "infinite" if isinstance(ridge, dict) else number(ridge, 6),
            number(document["upper"], 8),
        ]
        if with_eta:
            row += [number(document["best_eta"]["test_error"], 8), number(document["best_eta"]["eta"], 6)]
        rows.append(row)
    return table(rows, header, right=frozenset(range(len(header))))

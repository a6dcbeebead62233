"""giantsteps solve: the predictions of the theory for a model, or for a sweep of models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import click

from giantsteps.numerics.models.documents import WIDTH, apart_sentence, finite, is_apart
from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.answers.gradients import check_gradient, gradient_json, gradient_rows, names_of
from giantsteps.reports.answers.widths import apart_line, error_rows, shown
from giantsteps.reports.command_line.console import Output, number, provenance, table
from giantsteps.reports.command_line.options import (
    EXPRESSIONS,
    common_options,
    model_options,
    option,
    seconds,
    width_option,
)
from giantsteps.reports.command_line.problems import DONE, UNDECIDED, InputProblem
from giantsteps.reports.command_line.request import NO_BEST_BIAS, Request, request
from giantsteps.reports.command_line.values import parse_whole

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.models.solution import Solution
    from giantsteps.reports.answers.solved_together import SolvedPoint

    # A sentence stands for a point without a solution.
    Answer = Solution | SolvedPoint | str

HELP = f"""\b
Examples:
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8
  giantsteps solve --activation tanh --target sign --alpha 0.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 --json
  giantsteps solve --activation "erf(z)" --target "sin(2*z)" --alpha log:0.1:10:20 --beta 0.5,1,2 --ridge 0.1 \\
      --spike 1 --bulk 1 --alignment 0.8

\b
  giantsteps solve --activation tanh --target sign --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --loss logistic
  giantsteps solve --activation relu --target relu --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --bias learned
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8 \\
      --certify --digits 50
  giantsteps solve --activation tanh --target sin --alpha 1.5:1.6 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --certify
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 4 --eta 6 \\
      --readout "1:0.5::0.5,-0.5:0.5::-0.5"
  giantsteps solve --activation tanh --target "sin(2*z)" --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 \\
      --bulk-model isotropic --readout normal:0.8
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3/1 --steps 2
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 \\
      --gradient eta,ridge

Solve the saddle-point equations: order parameters, training error and test error. With --alpha0 and --eta the bulk is
the network's own after its gradient step, which goes beyond the paper. The value for the paper's isotropic bulk is
printed as "isotropic (paper)" (JSON "isotropic"; null with --bulk-model isotropic). At large --eta the two test errors
differ by up to a half. The step starts from the readout a0 = u/sqrt(p) of --readout; biases are added after it.
--steps T makes T steps on fresh batches, with one --alpha0 and --eta or one per step. The output has spike, bulk and
alignment after each step (JSON "steps"). --same-batch makes two steps on one batch, with the isotropic bulk.
--readout with --bias makes the product of the two lists; to pair weights with biases, use u:fraction::bias.

--certify proves in ball arithmetic that a box of (V1, V2) contains a solution, and encloses the test error. With the
isotropic bulk a claim of the ledger says that the solution is unique. With a network's own bulk the box is one of
(V1, V2, b1, b2) and the resolvent. JSON: "certificate" {{"status", "box", "only_solution_by", "contraction",
"test_error": "[mid +/- rad]", "digits", "enclosures"}}. Requires a single parameter point, one readout group, ridge > 0
and functions that are analytic up to their breakpoints and bounded by a power of z; inputs are read as the nearest
double. One parameter may be a range LOW:HIGH: this certifies a branch, that is, intervals with an enclosure of the test
error for all values in each. JSON: "branch" [{{"interval", "status", "test_error", "training_error", "box"}}, ...],
"certified_fraction", "only_solution_by".
--digits N computes N digits from the theorems, checked but not proved. Requires one readout group, or two with
isotropic rows. JSON: "any_precision".

--gradient NAMES prints derivatives of the test error, for example --gradient eta,ridge, by implicit differentiation of
the saddle point and of the gradient steps. JSON: "gradient" {{"eta": {{"value", "error_estimate"}}, ...}}.

The value at a finite width of 1000 neurons (--width P for another) includes corrections of order 1/p. A sentence says
if it differs from the limit by more than 5 %. JSON: "at_width" and "warnings".

{EXPRESSIONS}
Exit code 3 if a point did not converge or was not certified; all points are printed.
"""


@click.command(help=HELP)
@model_options
@click.option("--certify", is_flag=True, help="Prove the solution in ball arithmetic, and enclose the test error.")
@option("--digits", "N", "The solution to N digits as well, for example 50.")
@option("--time-limit", "S", "Of a range: S seconds of processor time (default 300).", seconds, "300")
@option("--gradient", "NAMES", "Derivatives of the test error in these numbers, for example eta,ridge.", names_of)
@width_option
@common_options
def solve(
    out: Output,
    certify: bool,
    digits: str | None,
    time_limit: float,
    gradient: tuple[str, ...] | None,
    width: int,
    **options: Any,
) -> int:
    """Solve every point asked for; the exit code."""
    from giantsteps.reports.answers.certificates import extras

    many = None if digits is None else _whole_digits(digits)
    if certify:
        from giantsteps.reports.answers.branches import branch, branch_text, range_of

        along = range_of(options)
        if along is not None:
            asked = request(options | {along.name: repr(along.low)}, any_law=True)
            _check_extras(asked, True, False)
            found = branch(asked, along, many, out, time_limit)
            given = asked.parameters | {along.name: [along.low, along.high]}
            out.tell(lambda: found.to_dict() | {"provenance": provenance("solve", given)}, lambda: branch_text(found))
            return DONE if found.certified else UNDECIDED
    asked = request(options, any_law=True)
    _check_extras(asked, certify, many is not None)
    if gradient:
        check_gradient(asked)
    models = asked.models()
    plain = [model for _, model in models]
    more, rows, reached = extras(plain[0], certify, many)
    with out.progress("solving", len(models)) as progress:
        together = None if gradient else width
        solved = _solve_all(plain, progress.step, together) if asked.swept else [solve_single(plain[0])]
        results = [_marked(asked, point, one) for (point, _), one in zip(models, solved, strict=True)]
    out.warn(plain)
    out.tell_groups(options, asked.groups)
    paper = _isotropic(asked, plain)
    slopes = [gradient_json(one, gradient, bool(asked.swept)) if gradient else {} for one in results]
    documents = (
        {**solution_json(solution, width), **learned_json(asked, point), **beside, **slope, **more}
        for (point, _), solution, beside, slope in zip(models, results, paper, slopes, strict=True)
    )

    def text() -> str:
        if asked.swept:
            return sweep_table(asked, list(documents), width)
        return solution_text(cast("Solution", results[0]), next(documents), rows)

    out.tell_points("solve", asked, documents, text, lines=True)
    return DONE if reached and all(not isinstance(one, str) and one.converged for one in results) else UNDECIDED


def _check_extras(asked: Request, certify: bool, digits: bool) -> None:
    """--certify and --digits are for one point of the square loss, and for some functions. Raises InputProblem."""
    for flag, given in (("--certify", certify), ("--digits", digits)):
        if not given:
            continue
        if asked.law is not None:
            raise InputProblem(
                "--certify and --digits require one readout group, and --readout was given a density; omit --readout, "
                "or --certify and --digits"
            )
        if asked.swept:
            raise InputProblem(
                f"{flag} was given with a sweep over {', '.join(asked.swept)}; it accepts one point, for example "
                "--alpha 1.5"
            )
        if asked.loss != "square" or asked.learned_bias:
            what = "--bias learned" if asked.learned_bias else f"--loss {asked.loss}"
            raise InputProblem(
                f"{flag} was given with {what}; it requires the square loss and a given bias, for example --loss square"
            )
    if certify:
        from giantsteps.numerics.balls.growth_bounds import uncertified

        for name in ("activation", "target"):
            function = getattr(asked, name)
            why = uncertified(function)
            if why:
                raise InputProblem(
                    f"--certify was given with {function}, which {why}; it accepts functions that are analytic up to "
                    f"their breakpoints and bounded by a power, for example --{name} elu"
                )


def _whole_digits(text: str) -> int:
    from giantsteps.verify.digits.solve import FEWEST_DIGITS, MOST_DIGITS

    return parse_whole("digits", text, FEWEST_DIGITS, MOST_DIGITS, "50")


def solve_single(model: Model) -> Solution:
    """The one solution of a command without a sweep. Raises InputProblem where there is none."""
    from giantsteps.numerics.saddle_point.solve import solve as solution_of

    try:
        return solution_of(model)
    except ModelError as error:
        raise InputProblem(str(error)) from None


def _solve_all(models: Sequence[Model], step: Callable[[], None], width: int | None = WIDTH) -> list[Answer]:
    """Every point of a sweep, together where that can be, without a width one by one; a point without a solution has a
    sentence in its place.
    """
    from giantsteps.numerics.saddle_point.solve import solve as solution_of
    from giantsteps.reports.answers.solved_together import solved_together

    together = solved_together(models, width) if len(models) > 1 and width else {}
    results: list[Answer] = []
    for place, model in enumerate(models):
        try:
            results.append(together[place] if place in together else solution_of(model))
        except ModelError as error:
            # One point without a solution does not keep the others from being printed.
            results.append(str(error))
        step()
    return results


def _marked(asked: Request, point: Mapping[str, float], found: Answer) -> Answer:
    """If the bias scan ends at its boundary: the solution there, marked not converged."""
    if isinstance(found, str) or not asked.without_best_bias(point):
        return found
    return replace(solve_single(asked.model(point)), converged=False, status=f"not converged: {NO_BEST_BIAS}")


def _isotropic(asked: Request, models: list[Model]) -> list[dict[str, Any]]:
    """The entry "isotropic" of each point after a gradient step: test and training error with the bulk of Result 3.1.

    Null where the model has that bulk already, where its equations are not solved, and beside a bias that was learned
    on the network's own bulk, which is not the paper's.
    """
    if not asked.has_step:
        return [{} for _ in models]
    found: list[dict[str, Any]] = [{"isotropic": None} for _ in models]
    places = [k for k, one in enumerate(models) if one.network_step is not None and not asked.learned_bias]
    plain = [models[k].changed(bulk_model="isotropic") for k in places]
    for k, solution in zip(places, _solve_all(plain, lambda: None), strict=True):
        if not isinstance(solution, str) and solution.converged:
            errors = {"test_error": solution.test_error, "training_error": solution.training_error}
            found[k]["isotropic"] = finite(errors)
    return found


def learned_json(asked: Request, point: Mapping[str, float]) -> dict[str, Any]:
    """The learned bias with all local minima of the training free energy; nothing where it is not learned."""
    if not asked.learned_bias:
        return {}
    from giantsteps.numerics.bounds.learned_bias import learned_bias

    found = learned_bias(asked.model_without_bias(point))
    return {
        "learned_bias": {
            "bias": found.bias,
            "energy": found.energy,
            "minima": [{"bias": minimum.bias, "energy": minimum.energy} for minimum in found.minima],
            "tied": found.tied,
            "at_edge": found.at_edge,
        }
    }


def solution_json(solution: Answer, width: int) -> dict[str, Any]:
    """One solution as the command line promises it; what is infinite carries the solution's own reason.

    Beside it stand the errors at a finite width. A sentence stands for a point without a solution: its errors are null
    and its status is that sentence.
    """
    if isinstance(solution, str):
        return {"test_error": None, "training_error": None, "converged": False, "status": solution}
    return solution.to_dict(width)


def solution_text(solution: Solution, document: dict[str, Any], more: Sequence[tuple[str, str]]) -> str:
    """The one solution of a command without a sweep, with the rows that --certify and --digits add to it."""
    lines = [table([*solution_rows(solution, document), *more]), apart_sentence(document)]
    if "learned_bias" in document:
        lines.append(learned_text(document["learned_bias"]))
    return "\n".join(line for line in lines if line)


def solution_rows(solution: Solution, document: dict[str, Any]) -> list[tuple[str, str]]:
    """One solution and its document for people, as names and values."""
    model, order = solution.model, solution.order_parameters
    spiked = model.spiked()
    isotropic, states = document.get("isotropic"), model.states if len(model.states) > 1 else ()
    paper = "isotropic" if states else "isotropic (paper)"
    rows = [
        *error_rows(document),
        *([(paper, number(isotropic["test_error"]))] if isotropic else []),
        ("spike, bulk, alignment", ", ".join(_compact(spiked[name]) for name in ("spike", "bulk", "alignment"))),
    ]
    for k, (spike, alignment, bulk) in enumerate(states, 1):
        rows.append((f"after step {k}", ", ".join(number(x) for x in (spike, bulk, alignment))))
    if model.gaussian_rows:
        rows.append(("rows", "gaussian"))
    names = ["m", "zeta", *(["chi"] if order.chi.size else []), "psi", "q1", "q2", "V1", "V2"]
    if (law := model.law) is not None:
        spread = "standard deviation" if law.name == "normal" else "half width"
        rows.append(("readout", f"{law.name}, {spread} {number(law.scale)}; limit of many letters"))
        rows.append(("bulk of a letter u", spiked["bulk_of_letter"]))
        names = ["psi"]
    for name in names:
        rows.append((name, _compact(getattr(order, name).tolist())))
    # Of the document the names alone: an infinite number is words there.
    if "loss" in document:
        rows.append(("loss", document["loss"]))
    if "energy" in document:
        rows.append(("energy", number(solution.energy)))
    rows += [
        ("residual", number(solution.residual, 2)),
        ("error estimate", number(solution.error_estimate, 2)),
        *gradient_rows(document),
        *([("parameter error", number(solution.parameter_error, 2))] if "parameter_error" in document else []),
        ("status", solution.status),
    ]
    return rows


def learned_text(found: dict[str, Any]) -> str:
    """The learned bias for people."""
    minima = ", ".join(f"{number(m['bias'], 6)} (energy {number(m['energy'], 8)})" for m in found["minima"])
    lines = [f"learned bias {number(found['bias'])}; local minima at {minima or 'none'}"]
    if found["tied"]:
        lines.append("another bias is as good: its mirror image, if the minima are symmetric")
    return "\n".join(lines)


def _compact(value: Any) -> str:
    """A number alone, or the brackets of a vector or matrix with more than one entry."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        return "[" + ", ".join(_compact(item) for item in value) + "]"
    return number(value)


def sweep_table(asked: Request, documents: Sequence[dict[str, Any]], width: int) -> str:
    """One line per point. The value at the finite width comes first, and a sentence below the table says so, where it
    is far from the limit.
    """
    first = any(map(is_apart, documents))
    named = ["test error", "training error", f"at width {width}"]
    header = [f"test error at width {width}", "limit", "training error"] if first else named
    slopes = next((list(one["gradient"]) for one in documents if one.get("gradient")), [])
    more = [*(["isotropic"] if asked.has_step else []), *(f"d/d {x}" for x in slopes), "status"]
    header = [*asked.swept, *header, *more]
    rows = []
    for point, document in zip(asked.points(), documents, strict=True):
        limit, training = (_error(document[name]) for name in ("test_error", "training_error"))
        errors = [shown(document), limit, training] if first else [limit, training, shown(document)]
        isotropic = [_error((document["isotropic"] or {}).get("test_error"))] if asked.has_step else []
        along = [number(document["gradient"][x]["value"]) if document.get("gradient") else "-" for x in slopes]
        given = [number(point[name], 6) for name in asked.swept]
        rows.append([*given, *errors, *isotropic, *along, document["status"]])
    lines = [table(rows, header, right=frozenset(range(len(header) - 1))), apart_line(documents, width)]
    return "\n".join(line for line in lines if line)


def _error(found: Any) -> str:
    """An error as documents have it, for a cell: infinite, missing, or a number."""
    return number(math.inf if isinstance(found, dict) else found)

"""giantsteps compare: theory beside simulation, extrapolated to infinite dimension, with a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.console import Output, estimate_text, number, table, verdict_text
from giantsteps.reports.command_line.options import EXPRESSIONS, common_options, model_options, option
from giantsteps.reports.command_line.problems import DONE, FAILED, UNDECIDED, InputProblem
from giantsteps.reports.command_line.request import Request, request
from giantsteps.reports.command_line.values import LARGEST_DIMENSION, parse_wholes
from giantsteps.reports.commands.simulate import at_every_point, draws_options, subjects_of, usual_kind

if TYPE_CHECKING:
    from giantsteps.reports.answers.comparison import Compared

HELP = f"""\b
Examples:
  giantsteps compare --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8
  giantsteps compare --activation tanh --target tanh --alpha 1 --beta 2 --ridge 0.1 --alpha0 1 --eta 3 \\
      --dimensions 400,800 --seeds 24
  giantsteps compare --activation tanh --target sign --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --loss logistic --dimensions 200,400,800

Simulate at several dimensions, evaluate the theory at the realised ratios, extrapolate the difference linearly in 1/d,
and test whether it is zero. A correct theory is REFUTED with probability at most 1e-3, all observables together. The
output has the smallest detectable relative error; for m, zeta, psi and chi, which may be zero, it is relative to the
size of the vector of which they are components (see docs/model.md). CONFIRMED requires that an error of 20 % in the
test error would have been detected; any observable may refute.
With --alpha0 and --eta trained networks (--kind network) are compared with their own theory. The isotropic theory of
the paper (--kind srf) differs from it by 1-2 % at small --eta and by a half at large --eta. Both accept --readout,
--bias and --loss. If the step sees few samples (alpha0 times the dimension below some hundreds; more for relu than for
tanh), the corrections are not linear in 1/d, and REFUTED may only mean that the dimensions are too small.
If the training energy of a learned bias has several minima, the comparison is made in the basin of the lowest one. At
finite dimension some experiments end in another basin; their share is printed with the prediction of the theory.

{EXPRESSIONS}
Exit code 1 if the verdict is REFUTED, 3 if it is INCONCLUSIVE.
"""

# More experiments than these are no advice: dimensions that lie further apart cost less.
SENSIBLE_SEEDS = 1000

_EXIT = {"CONFIRMED": DONE, "REFUTED": FAILED, "INCONCLUSIVE": UNDECIDED}


@click.command(help=HELP)
@model_options
@option("--dimensions", "D,D,...", "Dimensions (default 400,800,1600).", default="400,800,1600")
@draws_options(" per dimension")
@common_options
def compare(out: Output, dimensions: str, seeds: int, kind: str | None, seed: int, **options: Any) -> int:
    """Compare at every point asked for; the exit code."""
    sizes = parse_wholes("dimensions", dimensions, 2, LARGEST_DIMENSION, "400,800,1600")
    if len(set(sizes)) < len(sizes):
        raise InputProblem(
            f"--dimensions was given {dimensions}, where one repeats; different ones are accepted, for example "
            f"400,800,1600"
        )
    asked = request(options, any_law=True, kind=kind)
    kind = kind or usual_kind(asked)
    for point in asked.points():  # every point has to exist before anything is run
        asked.model_without_bias(point)
    subjects = subjects_of(asked, kind)

    from giantsteps.reports.answers.comparison import compare as comparison_of

    run = partial(comparison_of, dimensions=sizes, seeds=seeds, seed=seed, kind=kind, learned=asked.learned_bias)
    results = at_every_point(asked, out, subjects, run, "dimensions", sizes, seeds)
    out.tell_groups(options, asked.groups)
    given = {"dimensions": list(sizes), "seeds": seeds, "seed": seed, "kind": kind}
    out.tell_points("compare", asked, (r.to_dict() for r in results), lambda: _text(asked, results), given=given)
    codes = [_EXIT[found.report.verdict] for found in results]
    return FAILED if FAILED in codes else max(codes)


def _text(asked: Request, results: Sequence[Compared]) -> str:
    """Every comparison for people, below the point of a sweep."""
    lines = []
    for point, found in zip(asked.points(), results, strict=True):
        lines += [", ".join(f"{name} = {point[name]:g}" for name in asked.swept)] if asked.swept else []
        lines.append(comparison_text(found))
    return "\n".join(lines)


def comparison_text(found: Compared) -> str:
    """One comparison for people."""
    rows = []
    for c in found.report.comparisons:
        limit = found.extrapolated(c)
        measured = estimate_text(limit, c.fit.standard_error) if c.fit is not None and limit is not None else "-"
        caught = "-" if c.smallest_detectable is None else f"{c.smallest_detectable:.1%}"
        theory, z = number(found.limit[c.observable], 6), number(c.z, 2)
        rows.append([c.observable.replace("_", " "), theory, measured, z, caught, verdict_text(c.verdict)])
    header = ["observable", "theory", "simulation, d -> infinity", "z", "would have caught", "verdict"]
    listed = table(rows, header, right=frozenset({1, 2, 3, 4}))
    verdict = found.report.verdict
    deciding = [c.observable.replace("_", " ") for c in found.report.comparisons if c.verdict == verdict]
    ending = {
        "CONFIRMED": "",
        "REFUTED": f" by {', '.join(deciding)}",
        "INCONCLUSIVE": f": {advice(found)}" if verdict == "INCONCLUSIVE" else "",
    }
    basins = f"{fill(found.shares.sentence, 100)}\n" if found.shares is not None else ""
    return f"{listed}\n{basins}{verdict_text(verdict)}{ending[verdict]}"


def advice(found: Compared) -> str:
    """Why the test error, which decides, was not confirmed, and what would help."""
    from giantsteps.verify.checks.finite_size import DETECTABLE_LIMIT

    if found.shares is not None and found.shares.objection is not None:
        return found.shares.objection
    decides = found.report.comparison("test_error")
    caught = decides.smallest_detectable
    if decides.fit is None or caught is None:
        dimensions = decides.dimensions
        if len(dimensions) == 1:
            dimensions = tuple(min(dimensions[0], LARGEST_DIMENSION // 4) * 2**k for k in range(3))
        example = f"--dimensions {','.join(map(str, dimensions))} --seeds {max(8, found.simulations[0].seeds)}"
        return f"{decides.sentence.replace('_', ' ')}, for example {example}"
    if caught <= DETECTABLE_LIMIT:
        return "no line in 1/d fits the test error; larger dimensions may, for example --dimensions 800,1600,3200"
    # What is detectable falls at least like one over the root of the number of seeds.
    seeds = math.ceil(found.simulations[0].seeds * (caught / DETECTABLE_LIMIT) ** 2 * 1.1)
    if seeds > SENSIBLE_SEEDS:
        return (
            f"in the test error only what exceeds {caught:.1%} would have been caught; the dimensions are too small, "
            "too close together or the seeds too few, and --dimensions 400,800,1600 --seeds 8 is what is usual"
        )
    return (
        f"in the test error only what exceeds {caught:.1%} would have been caught; about --seeds {seeds}, or larger "
        f"dimensions, bring that to {DETECTABLE_LIMIT:.0%}"
    )

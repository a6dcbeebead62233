"""giantsteps activation: examine one activation through the safe parser."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from giantsteps.derivations.expressions.named import function_names
from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.command_line.console import Output, provenance
from giantsteps.reports.command_line.misuse import taking_values
from giantsteps.reports.command_line.options import common_options, option, seconds, single, whole
from giantsteps.reports.command_line.problems import DONE, UNDECIDED, InputProblem
from giantsteps.reports.command_line.request import expression_of

if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.reports.activation.curves import Curves
    from giantsteps.reports.activation.study import ActivationStudy


HELP = f"""\b
Examples:
  giantsteps activation tanh
  giantsteps activation "-tanh(z)" --target sin --spike 1.5 --bulk 1.2
  giantsteps activation "z*exp(-z**2/2)" --digits 50 --orders 20 --json
  giantsteps activation relu --target sin --plot relu.svg
  giantsteps activation sin --latex

Examine an activation: parity, breakpoints, growth, Hermite coefficients as certified balls, closed forms with their
proofs (or the reason why there is none), bounds on the test error, and whether a gradient step makes a spike.

EXPR is a formula in z; a name alone (tanh, relu, sign, erf, sin, gelu, he3 ...) means that function of z. Defaults: the
target is the activation itself, spike 1, bulk 1. The work is limited by a count of operations (about ten seconds), so
that the answer does not depend on the load of the machine. Results that are undecided at this limit are listed, with
exit code 3.

Functions: {function_names()}. docs/model.md defines each and lists their names in PyTorch, JAX and Keras.
"""

# The operations that the curves may take: about a second.
_FOR_CURVES = 1_000_000

_OPTION = re.compile(r"--[a-z][a-z0-9-]*(=.*)?", re.DOTALL)


class LeadingMinus(click.Command):
    """A command whose positional argument may begin with "-": what is no option is the expression."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put positional arguments behind "--", so that click does not take "-tanh(z)" for an option."""
        valued = taking_values(self)
        options: list[str] = []
        positional: list[str] = []
        rest = iter(args)
        for word in rest:
            if word == "--":
                positional += rest
            elif word in ("-h", "--help") or _OPTION.fullmatch(word):
                options.append(word)
                if word in valued:
                    options += [value for value in [next(rest, None)] if value is not None]
            else:
                positional.append(word)
        return super().parse_args(ctx, [*options, "--", *positional] if positional else options)


@click.command(cls=LeadingMinus, help=HELP)
@click.argument("expression", metavar="EXPR")
@option("--target", "EXPR", "Target function (default: the activation itself).")
@option("--digits", "N", "Digits of the certified coefficients (default 30).", whole(1, 1000, "30"), 30)
@option("--orders", "N", "Hermite coefficients up to this order (default 8).", whole(0, 200, "12"), 8)
@option("--spike", "NUMBER", "Spike strength r (default 1).", single, "1")
@option("--bulk", "NUMBER", "Bulk variance c (default 1).", single, "1")
@option("--plot", "FILE", "Write the figure to a .svg, .png or .pdf file.")
@click.option("--latex", is_flag=True, help="Print the formulas and coefficients as LaTeX.")
@option("--time-limit", "S", "Stop after S seconds of processor time (default 60).", seconds, "60")
@common_options
def activation(
    out: Output,
    expression: str,
    target: str | None,
    digits: int,
    orders: int,
    spike: float,
    bulk: float,
    plot: str | None,
    latex: bool,
    time_limit: float,
) -> int:
    """Examine one activation; the exit code."""
    file = None if plot is None else figure_file(plot)
    # Counted from here: the process may have done other work before, as one that runs several commands has.
    end = time.process_time() + time_limit
    if latex and out.as_json:
        raise InputProblem("--latex and --json were both given; one of them is accepted, for example --latex")
    student, teacher = _read(expression, target, end)

    from giantsteps.reports.activation.curves import block_plot, draw
    from giantsteps.reports.activation.latex import study_latex
    from giantsteps.reports.activation.page import study_text
    from giantsteps.reports.activation.study import examine
    from giantsteps.reports.figures.files import save

    try:
        with out.progress("examining", 1):
            left = end - time.process_time()
            found = examine(student, teacher, digits=digits, spike=spike, bulk=bulk, orders=orders, seconds=left)
            drawn = _curves(found, end) if file is not None or not out.as_json else None
    except ModelError as error:
        raise InputProblem(str(error)) from None
    document = found.as_dict()
    # Before anything is printed: a pipe that closes early, as that to `head`, ends the command there.
    problem = save(partial(draw, drawn, document["expression"]), file) if file and drawn else None
    given: dict[str, Any] = {"expression": document["expression"], "digits": digits, "spike": spike, "bulk": bulk}
    given |= {"orders": orders} | ({} if target is None else {"target": target})

    def text() -> str:
        if latex:
            return study_latex(student, document)
        return study_text(document, "" if drawn is None else block_plot(drawn))

    out.tell(lambda: document | {"provenance": provenance("activation", given)}, text)
    if problem is not None:
        raise problem
    if file is not None and drawn is None:
        out.note(f"no figure was written: {found.learning.missing}")
    return DONE if found.complete and (file is None or drawn is not None) else UNDECIDED


def _read(expression: str, target: str | None, end: float) -> tuple[Activation, Activation]:
    """The activation and its target, read before the process has used ``end`` seconds. Raises InputProblem."""
    from giantsteps.reports.command_line.machine.allowance import OutOfTimeError, allowance

    try:
        with allowance(end - time.process_time()):
            student = expression_of("", expression)
            return student, student if target is None else expression_of("target", target)
    except OutOfTimeError:
        raise InputProblem(
            f"the analysis of {expression[:60]!a} takes too long; a shorter one is accepted, for example tanh(z)",
            UNDECIDED,
        ) from None


def _curves(found: ActivationStudy, end: float) -> Curves | None:
    """The curves along the spike, where the bounds could be computed before ``end`` (see `_read`)."""
    from giantsteps.derivations.expressions.budget import at_most
    from giantsteps.derivations.expressions.tree import ExpressionError
    from giantsteps.reports.activation.curves import curves
    from giantsteps.reports.command_line.machine.allowance import OutOfTimeError, allowance

    if found.learning.upper is None:
        return None
    try:
        with allowance(end - time.process_time()), at_most(_FOR_CURVES):
            return curves(found.activation, found.target, found.spike, found.bulk, found.learning.doublings)
    except (ModelError, ExpressionError, OutOfTimeError):
        return None


def figure_file(name: str) -> Path:
    """The file of --plot. Raises InputProblem for another suffix or a folder that does not exist."""
    from giantsteps.reports.figures.files import SUFFIXES, matplotlib

    matplotlib()  # where it is missing, better before the work than after it
    file = Path(name)
    if file.suffix not in SUFFIXES:
        raise InputProblem(
            f"--plot was given {name[:60]!a}; a name ending in {', '.join(SUFFIXES)} is accepted, for example "
            "--plot activation.svg"
        )
    if not file.parent.is_dir():
        raise InputProblem(f"--plot was given {name[:60]!a}, but there is no folder {str(file.parent)[:60]!a}")
    return file

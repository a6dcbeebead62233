"""onestep activation: examine one activation through the safe parser."""

from __future__ import annotations

import re
from typing import Any

import click

from reports.cli_options import common_options, expression_of
from reports.problems import DONE, InputProblem, not_built
from reports.sweeps import parse_values, parse_whole

HELP = """\b
Examples:
  onestep activation tanh
  onestep activation "-tanh(z)" --target sin --spike 1.5 --bulk 1.2
  onestep activation "z*exp(-z**2/2)" --digits 50 --json

Examine an activation: parity, breakpoints, growth, Hermite coefficients as certified balls, closed forms with their
proof (or why there is none), bounds on the test error, and whether a gradient step gives it a spike.

An EXPR is a formula in z; a name alone (tanh, relu, sign, erf, sin, gelu, he3 ...) means that function of z. By
default the target is the activation itself, spike 1, bulk 1.
"""

_OPTION = re.compile(r"--[a-z][a-z0-9-]*(=.*)?", re.DOTALL)


class LeadingMinus(click.Command):
    """A command whose positional argument may begin with "-": what is no option is the expression."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put positional arguments behind "--", so that click does not take "-tanh(z)" for an option."""
        valued = {name for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
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
@click.option("--target", metavar="EXPR", help="Target function (default: the activation itself).")
@click.option("--digits", default="30", metavar="N", help="Digits of the certified coefficients (default 30).")
@click.option("--spike", default="1", metavar="NUMBER", help="Spike strength r (default 1).")
@click.option("--bulk", default="1", metavar="NUMBER", help="Bulk variance c (default 1).")
@click.option("--plot", metavar="FILE", help="Write a figure (not built yet).")
@common_options
def activation(
    expression: str,
    target: str | None,
    digits: str,
    spike: str,
    bulk: str,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Examine one activation; the exit code."""
    wanted = parse_whole("digits", digits, 1, 1000, "30")
    r, c = single("spike", spike), single("bulk", bulk)
    if plot is not None:
        raise not_built("--plot", "leave it out; the coefficients are printed")
    student = expression_of("", expression)
    teacher = student if target is None else expression_of("target", target)

    from numerics.model import ModelError
    from reports.activation_study import study, study_text
    from reports.console import Progress, finite, print_json, provenance

    try:
        with Progress("examining", 1, quiet=quiet):
            found = study(student, teacher, digits=wanted, spike=r, bulk=c)
    except ModelError as error:
        raise InputProblem(str(error)) from None
    if as_json:
        parameters: dict[str, Any] = {"expression": found["expression"], "digits": wanted, "spike": r, "bulk": c}
        if target is not None:
            parameters["target"] = target
        print_json(finite(found) | {"provenance": provenance("activation", parameters)})
    else:
        print(study_text(found))
    return DONE


def single(name: str, text: str) -> float:
    """One number of an option that takes no sweep. Raises InputProblem."""
    found = parse_values(name, text)
    if found.swept:
        raise InputProblem(f"--{name} was given {text[:60]!a}; one number is accepted here, for example --{name} 1")
    return found.values[0]

"""The options: what makes one, and those that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.command_line.values import parse_number, parse_values, parse_whole

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., object])
# What is made of the name of an option, "--seed", and its text.
Reader = Callable[[str, str], Any]

# The widths that may be asked for, and an example.
WIDTHS = 1, 10**11, "1000"

_HELP: Mapping[str, str] = {
    "alpha": "samples per dimension, n/d",
    "beta": "width per dimension, p/d",
    "ridge": "ridge penalty of the readout (0: the limit from above)",
    "noise": "variance of the label noise (default 0)",
    "spike": "spike strength r",
    "bulk": "bulk variance c",
    "alignment": "alignment gamma of spike and target",
    "alpha0": "samples per dimension of the gradient step, n0/d; of several steps one number, or one each: 2/4",
    "eta": "rescaled learning rate of the gradient step; of several steps one number, or one each: 2/1/0.5",
    "steps": "gradient steps on fresh batches (default 1)",
}


def option(
    flags: str, metavar: str, text: str, reader: Reader | None = None, default: Any = None, shell: tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """An option that takes a value; ``flags`` may have the name of its argument after a blank.

    ``reader`` makes something else of its text, or raises InputProblem; a shell suggests what is in ``shell``.
    """

    def read(_: click.Context, param: click.Parameter, value: Any) -> Any:
        return reader(param.opts[0], value) if reader is not None and isinstance(value, str) else value

    return click.option(
        *flags.split(), type=str, metavar=metavar, help=text, default=default, callback=read,
        shell_complete=suggested(*shell),
    )  # fmt: skip


def suggested(*names: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What a shell suggests: the names that begin so."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    return complete


def name_option(
    flag: str, text: str, *names: str, default: str | None = None, example: str = "", joined: str = ", "
) -> Callable[[Command], Command]:
    """An option that takes one of these names; the ``example`` is the first unless given."""

    def read(name: str, given: str) -> str:
        if given not in names:
            raise InputProblem(
                f"{name} was given {given[:60]!a}; accepted are {joined.join(names)}, for example {name} "
                f"{example or names[0]}"
            )
        return given

    return option(flag, "NAME", text, read, default, names)


def whole(least: int, most: int, example: str) -> Reader:
    """A whole number in a range."""
    return lambda name, given: parse_whole(name[2:], given, least, most, example)


def single(name: str, given: str) -> float:
    """One number of a parameter, in its range."""
    found = parse_values(name[2:], given)
    if found.swept:
        raise InputProblem(f"{name} was given {given[:60]!a}; one number is accepted here, for example {name} 1")
    return found.values[0]


def seconds(name: str, given: str) -> float:
    """Processor time."""
    found = parse_number(given)
    if found is None or found <= 0.0:
        raise InputProblem(
            f"{name} was given {given[:60]!a}; a number of seconds > 0 is accepted, for example {name} 60"
        )
    return found


def common_options(command: Callable[..., int]) -> Callable[..., int]:
    """--json, --quiet, --debug; the command gets an `Output`."""

    @wraps(command)
    def answering(as_json: bool, quiet: bool, debug: bool, **given: Any) -> int:
        from giantsteps.reports.command_line.console import Output

        return command(Output(as_json, quiet), **given)

    for flags, text in (
        (("--debug",), "Show the traceback of an internal error."),
        (("--quiet",), "No progress and no remarks on stderr."),
        (("--json", "as_json"), "One JSON document on stdout and nothing else."),
    ):
        answering = click.option(*flags, is_flag=True, help=text)(answering)
    return answering


SEED = whole(0, 2**31, "0")
profile_option = name_option(
    "--profile", "quick (default), ci or thorough.", "quick", "ci", "thorough", default="quick"
)

_MODEL_OPTIONS = (
    option("--activation", "EXPR", "Student activation, an expression in z."),
    option("--target", "EXPR", "Target function, an expression in z."),
    *(option(f"--{name}", "NUMBER", f"{text}.") for name, text in _HELP.items()),
    click.option("--same-batch", is_flag=True, help="With --steps 2: both steps on the same batch, isotropic bulk."),
    option(
        "--readout",
        "TEXT",
        'Initial readout: groups u:fraction[:bulk[:bias]], for example "1:0.5,-1:0.5" or, with biases and the '
        'bulk left empty, "1:0.5::0.3,-1:0.5::-0.3"; or a density, normal:SCALE or uniform:SCALE; '
        "there a letter u has the bulk 1 + u^2 (c - 1) where the bulk c of the model is above 1, else c.",
    ),
    option(
        "--bulk-model",
        "NAME",
        "With --alpha0 and --eta: network (default), the bulk that networks have, or isotropic, the paper's.",
        shell=("network", "isotropic"),
    ),
    name_option(
        "--rows",
        "Rows before the step, or of the bulk: unit (default, equal norms) or gaussian.",
        *("unit", "gaussian"),
        default="unit",
        example="gaussian",
        joined=" and ",
    ),
    option(
        "--bias",
        "TEXT",
        'Quenched biases, for example "0.3:0.5,-0.3:0.5", or learned. With --readout: the product of the two '
        "lists; to pair them, use u:fraction::bias in --readout.",
        shell=("learned",),
    ),
    option(
        "--loss",
        "NAME",
        "square (default), logistic, hinge, huber:DELTA or absolute.",
        default="square",
        shell=("square", "logistic", "hinge", "huber:", "absolute"),
    ),
)


def model_options(command: Command) -> Command:
    """The model options of the command line, in the order in which --help lists them."""
    for one in reversed(_MODEL_OPTIONS):
        command = one(command)
    return command


def not_offered(command: click.Command, *names: str) -> None:
    """Options that a command takes, so that those of `giantsteps solve` can be used again, and does not list."""
    for one in command.params:
        if isinstance(one, click.Option) and one.name in names:
            one.hidden = True


# For the commands whose numbers are limits.
width_option = option(
    "--width", "P", "Also give the value at a width of P neurons (default 1000).", whole(*WIDTHS), 1000
)


FORMULAS = """\b
An EXPR is a formula in z: "tanh(z)", "Max(z, 0)", "Piecewise((z, z > 0), (0, True))"; a name alone (tanh, relu, sign,
erf, sin, hardtanh, softplus, gelu, he3 ...) means that function of z.
"""
EXPRESSIONS = f"""{FORMULAS}Give either --spike --bulk --alignment, or --alpha0 --eta.
A number may be a sweep: START:STOP:COUNT, log:START:STOP:COUNT or a,b,c; several make the product, the last fastest.
Components of a spike of two or three directions are joined by "/": --alignment 0.6/0.5 --readout "1.5/1:.5,1.5/-1:.5".
"""

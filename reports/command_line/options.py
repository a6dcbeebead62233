"""The options that every command with a model shares, and the problem they describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.parameters import Command, name_option, option, whole
from giantsteps.reports.command_line.problems import InputProblem, not_built, shown
from giantsteps.reports.command_line.request import Request
from giantsteps.reports.command_line.values import RULES, Values, check_size, parse_number, parse_schedule, parse_values

if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.numerics.models.model import ReadoutGroup

# The widths that may be asked for, and an example.
WIDTHS = 1, 10**11, "1000"
# A vocabulary is finite and small: the cost of a solve grows like the sixth power of its size.
MOST_GROUPS = 12
# Directions of the spike: a rule in three dimensions has a hundred thousand nodes.
MOST_COMPONENTS = 3

DIRECT = ("spike", "bulk", "alignment")
STEP = ("alpha0", "eta")
# Further options of a gradient step that a sweep may vary.
OF_STEP = (*STEP, "steps")
REQUIRED = ("alpha", "beta", "ridge")

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


def request(options: Mapping[str, Any], *, any_law: bool = False, kind: str | None = None) -> Request:
    """Check the model options as click delivers them (in command-line order). Raises InputProblem.

    any_law: the command takes a density in place of --readout. kind: what is simulated; where no bulk model is given,
    a gradient step has the network's own bulk unless spiked random features or their equivalent map are simulated.
    """
    _check_names(options)
    if (options.get("readout") or "").lstrip().startswith(("normal", "uniform")):
        return _with_law(options, any_law, kind)
    options, further_alignments, spike = without_components(options)
    schedule = {name: parse_schedule(name, options[name]) for name in STEP if "/" in (options.get(name) or "")}
    options |= {name: repr(numbers[0]) for name, numbers in schedule.items()}
    values = {
        name: parse_values(name, options[name]) for name in options if name in RULES and options[name] is not None
    }
    learned = (options.get("bias") or "").strip() == "learned"
    groups = groups_of(options.get("readout"), None if learned else options.get("bias"), spike)
    _check_presence(options, values, own_bulk=bool(groups) and all(group.bulk is not None for group in groups))
    check_size(values)
    same_batch = bool(options.get("same_batch"))
    stepped = "alpha0" in values and kind in (None, "network") and not same_batch
    bulk_model = options.get("bulk_model") or ("network" if stepped else "isotropic")
    if bulk_model == "network" and "alpha0" not in values:
        raise InputProblem(
            "--bulk-model network was given with --spike, --bulk, --alignment; the network's own bulk follows from its "
            "gradient step, for example --alpha0 2 --eta 3"
        )
    return Request(
        expression_of("activation", options["activation"]),
        expression_of("target", options["target"]),
        values,
        groups,
        bulk_model,
        options.get("loss", "square"),
        learned,
        further_alignments,
        options.get("rows", "unit") == "gaussian",
        schedule=schedule,
        same_batch=same_batch,
    )


def _with_law(options: Mapping[str, Any], any_law: bool, kind: str | None) -> Request:
    """The request of a density: that of the uniform readout, with the law beside it."""
    from giantsteps.reports.command_line.request import check_request, law_of

    if not any_law:
        raise not_built(
            "--readout with a density for this command",
            "giantsteps solve, simulate and compare take one; groups are accepted, for example --readout "
            '"1:0.5,-1:0.5"',
        )
    law = law_of(options["readout"])
    asked = replace(request({**options, "readout": None}, kind=kind), law=law)
    check_request(asked)
    return asked


def expression_of(name: str, text: str) -> Activation:
    """The activation or target that an option names. Raises InputProblem."""
    from giantsteps.derivations.activations.activation import activation
    from giantsteps.derivations.expressions.tree import ExpressionError

    try:
        return activation(text)
    except ExpressionError as error:
        raise InputProblem(f"--{name}: {error}" if name else str(error)) from None


def _check_presence(options: Mapping[str, Any], values: Mapping[str, Values], own_bulk: bool) -> None:
    missing = [name for name in ("activation", "target") if options.get(name) is None]
    missing += [name for name in REQUIRED if name not in values]
    if missing:
        raise InputProblem(
            f"missing: {', '.join('--' + name for name in missing)}; a model needs --activation, --target, --alpha, "
            "--beta and --ridge, for example --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 "
            "--spike 1 --bulk 1 --alignment 0.8"
        )
    direct = [name for name in DIRECT if name in values]
    step = [name for name in OF_STEP if name in values] + (["same-batch"] if options.get("same_batch") else [])
    if direct and step:
        raise InputProblem(
            f"--{direct[0]} and --{step[0]} were both given; accepted are either --spike, --bulk and --alignment or "
            "--alpha0 and --eta, for example --spike 1 --bulk 1 --alignment 0.8"
        )
    if not direct and not step:
        raise InputProblem(
            "neither the spike nor the gradient step was given; accepted are --spike, --bulk and --alignment, for "
            "example --spike 1 --bulk 1 --alignment 0.8, or --alpha0 and --eta, for example --alpha0 2 --eta 3"
        )
    wanted: Sequence[str] = DIRECT if direct else STEP
    if own_bulk:  # every group brings its own
        wanted = [name for name in wanted if name != "bulk"]
    absent = [name for name in wanted if name not in values]
    if absent:
        raise InputProblem(
            f"missing: {', '.join('--' + name for name in absent)} together with --{(direct or step)[0]}, for example "
            f"{'--spike 1 --bulk 1 --alignment 0.8' if direct else '--alpha0 2 --eta 3'}"
        )


def _check_names(options: Mapping[str, Any]) -> None:
    bulk_model, loss = options.get("bulk_model"), options.get("loss", "square")
    if bulk_model not in (None, "isotropic", "network"):
        raise InputProblem(
            f"--bulk-model was given {shown(str(bulk_model))}; accepted are isotropic and network, for example "
            "--bulk-model isotropic"
        )
    if loss == "square":
        return
    from giantsteps.numerics.models.losses import LossError, loss_named

    try:
        loss_named(loss)
    except LossError:
        raise InputProblem(
            f"--loss was given {loss[:60]!a}; accepted are square, logistic, hinge, absolute and huber:DELTA with a "
            "number DELTA > 0, for example --loss huber:1"
        ) from None


def groups_of(text: str | None, bias: str | None, spike: tuple[float, ...] = ()) -> tuple[ReadoutGroup, ...]:
    """The groups of --readout times those of --bias; empty where the readout is uniform and has no bias.

    A spike of several components multiplies the one weight of each group, and is in the groups' weights then.
    """
    groups = () if text is None else parse_readout(text)
    if spike:
        groups = _times_spike(groups, spike)
    if bias is None:
        return groups
    if any(group.bias for group in groups):
        raise InputProblem(
            "--bias was given, but --readout already has biases; give one of the two, for example "
            '--readout "1:0.5,-1:0.5" --bias "0.3:0.5,-0.3:0.5"'
        )
    from giantsteps.numerics.models.model import UNIFORM

    product = tuple(
        replace(group, fraction=group.fraction * fraction, bias=value)
        for group in (groups or UNIFORM)
        for value, fraction in parse_bias(bias)
    )
    if len(product) > MOST_GROUPS:
        raise InputProblem(
            f"--readout and --bias make {len(product)} groups together; accepted are at most {MOST_GROUPS}, for "
            'example --bias "0.3:0.5,-0.3:0.5"'
        )
    return product


def without_components(
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[float, ...], tuple[float, ...]]:
    """The options with one number for a spike of several directions, the further alignments, and the spike's vector.

    Components are joined by "/": --alignment 0.6/0.5 leaves 0.6 and gives (0.5,); --spike 1.5/1 leaves 1 and gives
    (1.5, 1). Both are empty for a spike of one direction. Raises InputProblem.
    """
    alignment, spike = (_components(name, options.get(name)) for name in ("alignment", "spike"))
    left = dict(options)
    if alignment:
        left["alignment"] = repr(alignment[0])
    if spike:
        left["spike"] = "1"
    return left, alignment[1:], spike


def _components(name: str, text: str | None) -> tuple[float, ...]:
    """The numbers joined by "/"; none where there is no "/"."""
    if text is None or "/" not in text:
        return ()
    numbers = [parse_number(part.strip()) for part in text.split("/")]
    found = tuple(number for number in numbers if number is not None)
    if len(found) < len(numbers) or len(found) > MOST_COMPONENTS:
        raise InputProblem(
            f"--{name} was given {shown(text)}; the components of a spike of several directions are at most "
            f"{MOST_COMPONENTS} numbers joined by /, and are no sweep, for example --{name} 0.6/0.5"
        )
    return found


def _times_spike(groups: tuple[ReadoutGroup, ...], spike: tuple[float, ...]) -> tuple[ReadoutGroup, ...]:
    from giantsteps.numerics.models.model import UNIFORM

    if any(group.further_weights for group in groups):
        raise InputProblem(
            "--spike and --readout were both given components; accepted are components in one of the two, for example "
            '--spike 1 --readout "1.5/1:0.5,1.5/-1:0.5"'
        )
    return tuple(
        replace(group, weight=group.weight * spike[0], further_weights=tuple(group.weight * r for r in spike[1:]))
        for group in groups or UNIFORM
    )


def parse_bias(text: str) -> tuple[tuple[float, float], ...]:
    """The pairs of "bias:fraction,...", fractions normalised to add up to 1. Raises InputProblem."""
    accepted = (
        "learned, or bias:fraction separated by commas, fractions that add up to 1, for example "
        '--bias "0.3:0.5,-0.3:0.5"'
    )
    given, pairs = f"--bias was given {shown(text)}", []
    for part in text.split(",")[: MOST_GROUPS + 1]:
        numbers = [parse_number(field.strip()) for field in part.split(":")]
        found = [number for number in numbers if number is not None]
        if len(numbers) != 2 or len(found) != 2 or not 0.0 < found[1] <= 1.0:
            raise InputProblem(f"{given}; accepted is {accepted}")
        pairs.append((found[0], found[1]))
    total = _whole([fraction for _, fraction in pairs], given, accepted)
    return tuple((value, fraction / total) for value, fraction in pairs)


def parse_readout(text: str) -> tuple[ReadoutGroup, ...]:
    """The groups of "u:fraction[:bulk[:bias]],...", an empty bulk being not given. Raises InputProblem."""
    from giantsteps.numerics.models.model import ReadoutGroup

    accepted = (
        "u:fraction[:bulk[:bias]] for each group, separated by commas, fractions that add up to 1, the bulk may be "
        'empty before a bias, u one number or components joined by /, for example --readout "1:0.5,-1:0.5"'
    )
    given, groups = f"--readout was given {shown(text)}", []
    for part in text.split(",")[: MOST_GROUPS + 1]:
        fields = [field.strip() for field in part.split(":")]
        further = _components("readout", fields[0])[1:]
        fields[0] = fields[0].split("/")[0].strip()
        left_empty = len(fields) == 4 and not fields[2]
        if left_empty:
            fields[2] = "1"
        numbers = [parse_number(field) for field in fields]
        if not 2 <= len(fields) <= 4 or any(number is None for number in numbers):
            raise InputProblem(f"{given}; accepted is {accepted}")
        found = [number for number in numbers if number is not None]
        weight, fraction = found[:2]
        bulk = found[2] if len(found) > 2 and not left_empty else None
        bias = found[3] if len(found) > 3 else 0.0
        if not 0.0 < fraction <= 1.0 or (bulk is not None and bulk <= 0.0):
            raise InputProblem(
                f"{given}, where a fraction is not in (0, 1] or a bulk is not positive; accepted is {accepted}"
            )
        groups.append(ReadoutGroup(weight, fraction, bulk, bias, further))
    if len(groups) > MOST_GROUPS:
        raise InputProblem(f"--readout was given more than {MOST_GROUPS} groups; accepted is {accepted}")
    _whole([group.fraction for group in groups], given, accepted)
    return tuple(groups)


def _whole(fractions: Sequence[float], given: str, accepted: str) -> float:
    """The sum of the fractions, one up to rounding. Raises InputProblem where it is not."""
    total = sum(fractions)
    if abs(total - 1.0) > 1e-9:
        raise InputProblem(f"{given}, whose fractions add up to {total:g}; accepted is {accepted}")
    return total

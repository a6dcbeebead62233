"""giantsteps simulate: a finite-size experiment, mean and standard error of every observable."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.answers.groups import tell_groups
from giantsteps.reports.command_line.completion import Command, named_option, values
from giantsteps.reports.command_line.options import EXPRESSIONS, common_options, model_options, request
from giantsteps.reports.command_line.problems import DONE, InputProblem
from giantsteps.reports.command_line.request import Request
from giantsteps.reports.command_line.values import parse_number, parse_whole

if TYPE_CHECKING:
    from giantsteps.numerics.experiments.inputs import Inputs
    from giantsteps.numerics.experiments.ridge import Simulation
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.models.network import Network
    from giantsteps.reports.measurements.basin_shares import Ended

KINDS = ("srf", "network", "equivalent")
LARGEST_DIMENSION, MOST_SEEDS = 100_000, 100_000
MOST_STEPS = 100
MOST_WORKERS = 8

HELP = f"""\b
Examples:
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --dimension 400 --seeds 8
  giantsteps simulate --activation tanh --target tanh --alpha 1 --beta 2 --ridge 0.1 --alpha0 1 --eta 3 \\
      --kind network --dimension 400 --seeds 8 --json
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 2 \\
      --kind network --inputs student-t --directions sparse --initial-overlap 0.1 --gradient-steps 2
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 \\
      --kind network --readout "1:0.5,-0.5:0.5" --bias "0.5:0.5,-0.5:0.5" --dimension 200

Draw the features at finite dimension, fit the readout, measure errors and order parameters; mean and standard error
over independent seeds. Kinds: network, the network after a real gradient step from the readout a0 = u/sqrt(p) of
--readout, with biases after it (default with --alpha0 and --eta); srf, spiked random features (default with --spike);
equivalent, the conditionally Gaussian map. With
another --loss the readout is SciPy's minimum, certified by a duality gap; with --bias learned every experiment learns
its own bias, and for the square loss and kind srf it is said in which minimum of the limiting training energy, where
there are several. --inputs, --directions, --initial-overlap and --gradient-steps leave what the theory assumes.

{EXPRESSIONS}"""


kind_option = click.option(
    "--kind",
    metavar="NAME",
    help="network (default with --alpha0 and --eta), srf (default with --spike) or equivalent.",
    shell_complete=values("network", "srf", "equivalent"),
)
seed_option = click.option("--seed", default="0", metavar="S", help="Seed of the whole experiment (default 0).")


def draws_options(each: str) -> Callable[[Command], Command]:
    """--seeds, --kind and --seed; `each` says what there are so many seeds of."""
    text = f"Independent experiments{each} (default 8)."
    seeds_option = click.option("--seeds", default="8", metavar="K", help=text)
    return lambda command: seeds_option(kind_option(seed_option(command)))


@click.command(help=HELP)
@model_options
@click.option("--dimension", default="400", metavar="D", help="Input dimension d (default 400).")
@draws_options("")
@named_option(
    "--inputs",
    "Law of the coordinates, variance 1: gaussian (default), uniform, rademacher or student-t (5 degrees of freedom); "
    "kinds srf and network.",
    "gaussian",
    "uniform",
    "rademacher",
    "student-t",
)
@named_option(
    "--directions",
    "Target and spike: dense (default), random directions, or sparse, axes; the same for Gaussian inputs.",
    "dense",
    "sparse",
)
@click.option(
    "--initial-overlap",
    default="0",
    metavar="RHO",
    help="Mean overlap w_i.w_j of the rows before the step, 0 <= RHO < 1 (default 0); kind network.",
)
@click.option(
    "--gradient-steps",
    default="1",
    metavar="N",
    help="Gradient steps, each on alpha0 d fresh samples (default 1); kind network.",
)
@common_options
def simulate(
    dimension: str,
    seeds: str,
    kind: str | None,
    seed: str,
    inputs: str,
    directions: str,
    initial_overlap: str,
    gradient_steps: str,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **options: Any,
) -> int:
    """Simulate every point asked for; the exit code."""
    size = parse_whole("dimension", dimension, 2, LARGEST_DIMENSION, "400")
    count = parse_whole("seeds", seeds, 1, MOST_SEEDS, "8")
    start = parse_whole("seed", seed, 0, 2**31, "0")
    asked = request(options, any_law=True, kind=check_kind(kind))
    kind = kind or usual_kind(asked)
    tell_groups(options, asked.groups, quiet)
    law = inputs_of(inputs, directions, kind)
    if not law.gaussian and (options.get("readout") or "").lstrip().startswith(("normal", "uniform")):
        raise InputProblem(
            f"--inputs {law.law} was given beside a density of --readout; accepted is gaussian, --inputs gaussian"
        )
    overlap, steps = departures_of(initial_overlap, gradient_steps, kind)
    subjects = [(point, _departed(subject, overlap, steps)) for point, subject in subjects_of(asked, kind)]

    from giantsteps.reports.command_line.console import Progress, print_json, provenance
    from giantsteps.reports.command_line.machine.memory import fitting

    results = []
    at_once = fitting((subject for _, subject in subjects), size, "dimension", square=plain_ridge(asked))
    with (
        Progress("simulating", len(subjects) * count, quiet=quiet) as progress,
        seeds_pool(size, count, at_once) as executor,
    ):
        for k, (point, subject) in enumerate(subjects):
            step = partial(progress.advance, k * count)
            run = experiment(asked, subject, size, count, start, kind, executor, step, law)
            results.append((point, run))
    parameters = asked.parameters | {"dimension": size, "seeds": count, "seed": start, "kind": kind}
    parameters |= {"inputs": law.law, "directions": law.directions}
    parameters |= {"initial_overlap": overlap, "gradient_steps": steps} if kind == "network" else {}
    origin = provenance("simulate", parameters)
    if as_json and asked.swept:
        from giantsteps.reports.commands.solve import sweep_json

        listed = [{"parameters": point, **run.to_dict(), **basins_json(asked, run)} for point, run in results]
        print_json({"sweep": sweep_json(asked.values), "results": listed, "provenance": origin})
    elif as_json:
        run = results[0][1]
        print_json(run.to_dict() | basins_json(asked, run) | {"provenance": origin})
    elif asked.swept:
        print(_sweep_table(asked.swept, results))
    else:
        print(simulation_text(results[0][1]))
        basins = basins_of(asked, results[0][1])
        if basins is not None:
            print(fill(basins.sentence, 100))
    return DONE


def usual_kind(asked: Request) -> str:
    """The kind of simulation where none is given: what has the bulk of the theory."""
    return "network" if asked.bulk_model == "network" else "srf"


def check_kind(kind: str | None) -> str | None:
    """The kind of simulation again. Raises InputProblem for an unknown one."""
    if kind is not None and kind not in KINDS:
        raise InputProblem(f"--kind was given {kind[:60]!a}; accepted are {', '.join(KINDS)}, for example --kind srf")
    return kind


def inputs_of(law: str, directions: str, kind: str) -> Inputs:
    """The law of the inputs asked for. Raises InputProblem for an unknown one, and for the equivalent map."""
    from giantsteps.numerics.experiments.inputs import DIRECTIONS, LAWS, Inputs

    for option, given, accepted in (("inputs", law, LAWS), ("directions", directions, DIRECTIONS)):
        if given not in accepted:
            raise InputProblem(
                f"--{option} was given {given[:60]!a}; accepted are {', '.join(accepted)}, for example "
                f"--{option} {accepted[1]}"
            )
    if kind == "equivalent" and law != "gaussian":
        raise InputProblem(
            f"--inputs {law} was given with --kind equivalent, which is Gaussian by construction; --kind srf and "
            "--kind network take other inputs, for example --kind srf"
        )
    return Inputs(law, directions)


def departures_of(overlap: str, steps: str, kind: str) -> tuple[float, int]:
    """Initial overlap and number of gradient steps. Raises InputProblem for bad values, and for another kind."""
    value, count = parse_number(overlap), parse_whole("gradient-steps", steps, 1, MOST_STEPS, "2")
    if value is None or not 0.0 <= value < 1.0:
        raise InputProblem(
            f"--initial-overlap was given {overlap[:60]!a}; accepted is a number >= 0 and < 1, for example "
            "--initial-overlap 0.1"
        )
    if kind != "network" and (value or count != 1):
        option = "--initial-overlap" if value else "--gradient-steps"
        raise InputProblem(
            f"{option} was given with --kind {kind}, which takes no gradient step; --kind network does, for example "
            "--kind network --alpha0 2 --eta 3"
        )
    return value, count


def _departed(subject: Model | Network, overlap: float, steps: int) -> Model | Network:
    from giantsteps.numerics.models.network import Network, SimulationError

    if not isinstance(subject, Network):
        return subject
    try:
        return replace(subject, overlap=overlap, steps=steps)
    except SimulationError as error:
        raise InputProblem(str(error)) from None


def subjects_of(asked: Request, kind: str) -> list[tuple[dict[str, float], Model | Network]]:
    """What is simulated at each point: the network itself for kind network, its spiked random features otherwise."""
    if asked.law is not None and kind != "srf":
        raise InputProblem(
            f"--kind {kind} was given with a density of --readout; --kind srf takes one, for example --kind srf"
        )
    if kind == "network":
        return [(point, asked.network(point)) for point in asked.points()]
    if asked.learned_bias:
        # Every experiment learns its own.
        return [(point, asked.model_without_bias(point)) for point in asked.points()]
    return [(point, model) for point, model in asked.models()]


def plain_ridge(asked: Request) -> bool:
    """Whether the readout is a ridge readout with a given bias, which takes the sample in blocks."""
    return asked.loss == "square" and not asked.learned_bias


def seeds_pool(dimension: int, seeds: int, at_once: int | None) -> AbstractContextManager[Executor | None]:
    """Worker processes where the experiments are large enough to pay for starting them, no more than fit in memory."""
    if seeds < 2 or dimension < 600 or at_once == 1:
        return nullcontext(None)
    from giantsteps.reports.command_line.machine.workers import pool

    return pool(min(MOST_WORKERS, at_once or MOST_WORKERS))


def experiment(
    asked: Request,
    subject: Model | Network,
    dimension: int,
    seeds: int,
    seed: int,
    kind: str,
    executor: Executor | None,
    progress: Callable[[int], None],
    inputs: Inputs | None = None,
) -> Simulation:
    """One finite-size experiment. Raises InputProblem where it cannot be run as asked."""
    from giantsteps.numerics.experiments.inputs import GAUSSIAN
    from giantsteps.numerics.experiments.simulate import simulate as simulated
    from giantsteps.numerics.models.model import ModelError
    from giantsteps.numerics.models.network import SimulationError

    def step(done: int, _total: int) -> None:
        progress(done)

    try:
        return simulated(
            subject, dimension=dimension, seeds=seeds, seed=seed, kind=kind, learned=asked.learned_bias,
            inputs=inputs or GAUSSIAN, progress=step, executor=executor,
        )  # fmt: skip
    except (SimulationError, ModelError) as error:
        raise InputProblem(str(error)) from None


def basins_of(asked: Request, run: Simulation) -> Ended | None:
    """In which minima of the limiting training energy learned biases ended; None where it has one.

    For the square loss: with another one the limit takes longer to solve than the experiments.
    """
    from giantsteps.numerics.bounds.learned_bias import learned_bias
    from giantsteps.numerics.models.model import Model
    from giantsteps.reports.measurements.basin_shares import ended

    if not asked.learned_bias or asked.loss != "square" or not isinstance(run.model, Model):
        return None
    found = learned_bias(run.model)
    return ended(found, run.values("bias")) if len(found.ranked) > 1 else None


def basins_json(asked: Request, run: Simulation) -> dict[str, Any]:
    """The same for --json: empty where there is one basin."""
    found = basins_of(asked, run)
    if found is None:
        return {}
    pairs = zip(found.found.minima, found.shares, strict=True)
    return {"basins": [{"bias": m.bias, "energy": m.energy, "share": share} for m, share in pairs]}


def simulation_text(run: Simulation) -> str:
    """One experiment for people."""
    from giantsteps.reports.command_line.console import estimate_text, table

    rows = [(name.replace("_", " "), estimate_text(e.mean, e.standard_error)) for name, e in run.estimates.items()]
    first = f"{run.kind}, d = {run.dimension}, n = {run.sizes.n}, p = {run.sizes.p}, {run.seeds} seeds"
    return f"{first}\n{table(rows)}"


def _sweep_table(swept: tuple[str, ...], results: list[tuple[dict[str, float], Simulation]]) -> str:
    from giantsteps.reports.command_line.console import estimate_text, number, table

    rows = [
        [
            *(number(point[name], 6) for name in swept),
            estimate_text(run.test_error.mean, run.test_error.standard_error),
            estimate_text(run.training_error.mean, run.training_error.standard_error),
        ]
        for point, run in results
    ]
    return table(rows, [*swept, "test error", "training error"], right=frozenset(range(len(swept))))

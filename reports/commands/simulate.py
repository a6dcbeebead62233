"""giantsteps simulate: a finite-size experiment, mean and standard error of every observable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar

import click

from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.command_line.console import Output, estimate_text, number, table
from giantsteps.reports.command_line.options import (
    EXPRESSIONS,
    SEED,
    Command,
    common_options,
    model_options,
    name_option,
    option,
    whole,
)
from giantsteps.reports.command_line.problems import DONE, InputProblem
from giantsteps.reports.command_line.request import Request, request
from giantsteps.reports.command_line.values import LARGEST_DIMENSION, MOST_SEEDS, parse_number

if TYPE_CHECKING:
    from giantsteps.numerics.bounds.learned_bias import LearnedBias
    from giantsteps.numerics.experiments.ridge import Simulation
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.models.network import Network

Found = TypeVar("Found")

MOST_WORKERS = 8

HELP = f"""\b
Examples:
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 \\
      --alignment 0.8 --dimension 400 --seeds 8
  giantsteps simulate --activation tanh --target tanh --alpha 1 --beta 2 --ridge 0.1 --alpha0 1 --eta 3 \\
      --kind network --dimension 400 --seeds 8 --json
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 2 \\
      --kind network --inputs student-t --directions sparse --initial-overlap 0.1 --steps 2
  giantsteps simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --alpha0 2 --eta 3 \\
      --kind network --readout "1:0.5,-0.5:0.5" --bias "0.5:0.5,-0.5:0.5" --dimension 200

Draw features at finite dimension, fit the readout, and measure errors and order parameters: mean and standard error
over independent seeds. Kinds: network, after an actual gradient step from the readout a0 = u/sqrt(p) of --readout, with
biases added after it (default with --alpha0 and --eta); srf, spiked random features (default with --spike);
equivalent, the conditionally Gaussian map. With another --loss SciPy minimises over the readout, and a duality gap
certifies the minimum. With --bias learned each experiment learns its own bias. For the square loss and kind srf the
output says in which minimum of the limiting training energy it ended, if there are several. --inputs, --directions and
--initial-overlap violate assumptions of the theory.

{EXPRESSIONS}"""


kind_option = name_option(
    "--kind",
    "network (default with --alpha0 and --eta), srf (default with --spike) or equivalent.",
    *("srf", "network", "equivalent"),
)
seed_option = option("--seed", "S", "Seed of the whole experiment (default 0).", SEED, 0)


def draws_options(each: str) -> Callable[[Command], Command]:
    """--seeds, --kind and --seed; `each` says what there are so many seeds of."""
    seeds = option("--seeds", "K", f"Independent experiments{each} (default 8).", whole(1, MOST_SEEDS, "8"), 8)
    return lambda command: seeds(kind_option(seed_option(command)))


@click.command(help=HELP)
@model_options
@option("--dimension", "D", "Input dimension d (default 400).", whole(2, LARGEST_DIMENSION, "400"), 400)
@draws_options("")
@name_option(
    "--inputs",
    "Law of the coordinates, variance 1: gaussian (default), uniform, rademacher or student-t (5 degrees of freedom); "
    "kinds srf and network.",
    *("gaussian", "uniform", "rademacher", "student-t"),
    default="gaussian",
    example="uniform",
)
@name_option(
    "--directions",
    "Target and spike: dense (default; random directions) or sparse (axes). No effect for Gaussian inputs.",
    *("dense", "sparse"),
    default="dense",
    example="sparse",
)
@option(
    "--initial-overlap",
    "RHO",
    "Mean overlap w_i.w_j of the rows before the step, 0 <= RHO < 1 (default 0); kind network.",
    default="0",
)
@name_option(
    "--array",
    "Library of the matrix products: numpy (default); torch, cupy or array_api_strict (extra arrays) with the square "
    "loss and given biases. Same draws, same results to 1e-9 on the processor; torch uses CUDA where it is available.",
    *("numpy", "torch", "cupy", "array_api_strict"),
    default="numpy",
    example="torch",
)
@common_options
def simulate(
    out: Output,
    dimension: int,
    seeds: int,
    kind: str | None,
    seed: int,
    inputs: str,
    directions: str,
    initial_overlap: str,
    array: str,
    **options: Any,
) -> int:
    """Simulate every point asked for; the exit code."""
    asked = request(options, any_law=True, kind=kind)
    kind = kind or usual_kind(asked)
    if inputs != "gaussian" and kind == "equivalent":
        raise InputProblem(
            f"--inputs {inputs} was given with --kind equivalent, whose inputs are Gaussian; --kind srf and --kind "
            "network accept other inputs, for example --kind srf"
        )
    if inputs != "gaussian" and asked.law is not None:
        raise InputProblem(f"--inputs {inputs} was given with a density of --readout, which requires --inputs gaussian")
    overlap = overlap_of(initial_overlap, kind)
    subjects = [_departed(subject, overlap) for subject in subjects_of(asked, kind)]

    from giantsteps.numerics.experiments.inputs import Inputs
    from giantsteps.numerics.experiments.simulate import simulate as simulated

    run = partial(
        simulated, dimension=dimension, seeds=seeds, seed=seed, kind=kind, learned=asked.learned_bias,
        inputs=Inputs(inputs, directions), array=array,
    )  # fmt: skip
    runs = at_every_point(asked, out, subjects, run, "dimension", (dimension,), seeds, one=array != "numpy")
    out.tell_groups(options, asked.groups)
    given: dict[str, Any] = {"dimension": dimension, "seeds": seeds, "seed": seed, "kind": kind}
    given |= {"inputs": inputs, "directions": directions, "array": array}
    given |= {"initial_overlap": overlap} if kind == "network" else {}
    documents = (run.to_dict() | basins_json(asked, run) for run in runs)
    out.tell_points("simulate", asked, documents, lambda: _text(asked, runs), given=given)
    return DONE


def usual_kind(asked: Request) -> str:
    """The kind of simulation where none is given: what has the bulk of the theory."""
    return "network" if asked.bulk_model == "network" else "srf"


def overlap_of(text: str, kind: str) -> float:
    """The initial overlap. Raises InputProblem for a bad value, and for one above 0 with another kind."""
    value = parse_number(text)
    if value is None or not 0.0 <= value < 1.0:
        raise InputProblem(
            f"--initial-overlap was given {text[:60]!a}; accepted is a number >= 0 and < 1, for example "
            "--initial-overlap 0.1"
        )
    if kind != "network" and value:
        raise InputProblem(
            f"--initial-overlap was given with --kind {kind}, which makes no gradient step; --kind network does, for "
            "example --kind network --alpha0 2 --eta 3"
        )
    return value


def _departed(subject: Model | Network, overlap: float) -> Model | Network:
    from giantsteps.numerics.models.network import Network, SimulationError

    if not isinstance(subject, Network):
        return subject
    try:
        return replace(subject, overlap=overlap)
    except SimulationError as error:
        raise InputProblem(str(error)) from None


def subjects_of(asked: Request, kind: str) -> list[Model | Network]:
    """What is simulated at each point: the network itself for kind network, its spiked random features otherwise."""
    if asked.law is not None and kind != "srf":
        raise InputProblem(f"--kind {kind} was given with a density of --readout, which requires --kind srf")
    if kind == "network":
        return [asked.network(point) for point in asked.points()]
    if asked.learned_bias:
        # Every experiment learns its own.
        return [asked.model_without_bias(point) for point in asked.points()]
    return [model for _, model in asked.models()]


def at_every_point(
    asked: Request, out: Output, subjects: Sequence[Model | Network], run: Callable[..., Found], size: str,
    dimensions: Sequence[int], seeds: int, one: bool = False,
) -> list[Found]:  # fmt: skip
    """What ``run`` makes of each subject, by so many experiments at each of the dimensions of the option ``size``.

    Worker processes where the experiments are large enough to pay for starting them, no more than fit in memory, and
    no workers with ``one``, since a graphics card has memory for one experiment. Raises InputProblem where not one
    fits, or where it cannot be run as asked.
    """
    from giantsteps.numerics.models.network import SimulationError
    from giantsteps.reports.command_line.machine.memory import fitting
    from giantsteps.reports.command_line.machine.workers import pool

    # A ridge readout with a given bias takes the sample in blocks.
    square = asked.loss == "square" and not asked.learned_bias
    at_once = fitting(subjects, max(dimensions), size, square=square) or MOST_WORKERS
    alone = seeds < 2 or max(dimensions) < 600 or at_once == 1 or one
    workers = nullcontext(None) if alone else pool(min(MOST_WORKERS, at_once))
    each, found = len(dimensions) * seeds, []
    with out.progress("simulating", len(subjects) * each) as progress, workers as executor:
        for k, subject in enumerate(subjects):

            def step(done: int, *_: int, before: int = k * each) -> None:
                progress.step(done=before + done)

            try:
                found.append(run(subject, executor=executor, progress=step))
            except (SimulationError, ModelError) as error:
                raise InputProblem(str(error)) from None
    return found


def basins_of(asked: Request, run: Simulation) -> tuple[LearnedBias, tuple[float, ...]] | None:
    """The minima of the limiting training energy, and the share of the learned biases that ended at each; None where it
    has one minimum.

    For the square loss: with another one the limit takes longer to solve than the experiments.
    """
    from giantsteps.numerics.bounds.learned_bias import learned_bias
    from giantsteps.numerics.models.model import Model
    from giantsteps.reports.measurements.basin_shares import ended

    if not asked.learned_bias or asked.loss != "square" or not isinstance(run.model, Model):
        return None
    found = learned_bias(run.model)
    return (found, ended(found, run.values("bias"))) if len(found.ranked) > 1 else None


def basins_json(asked: Request, run: Simulation) -> dict[str, Any]:
    """The same for --json: empty where there is one basin."""
    basins = basins_of(asked, run)
    if basins is None:
        return {}
    found, shares = basins
    pairs = zip(found.minima, shares, strict=True)
    return {"basins": [{"bias": m.bias, "energy": m.energy, "share": share} for m, share in pairs]}


def _text(asked: Request, runs: Sequence[Simulation]) -> str:
    """One experiment for people, or a line for each."""
    if asked.swept:
        errors = ([estimate_text(e.mean, e.standard_error) for e in (r.test_error, r.training_error)] for r in runs)
        rows = [
            [*(number(p[name], 6) for name in asked.swept), *e] for p, e in zip(asked.points(), errors, strict=True)
        ]
        header = [*asked.swept, "test error", "training error"]
        return table(rows, header, right=frozenset(range(len(asked.swept))))
    run = runs[0]
    rows = [[name.replace("_", " "), estimate_text(e.mean, e.standard_error)] for name, e in run.estimates.items()]
    first = f"{run.kind}, d = {run.dimension}, n = {run.sizes.n}, p = {run.sizes.p}, {run.seeds} seeds"
    basins = basins_of(asked, run)
    from giantsteps.reports.measurements.basin_shares import ended_sentence

    return "\n".join([first, table(rows), *([fill(ended_sentence(*basins), 100)] if basins else [])])

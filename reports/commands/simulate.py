"""onestep simulate: a finite-size experiment, mean and standard error of every observable."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reports.cli_options import EXPRESSIONS, Request, common_options, model_options, request
from reports.problems import DONE, InputProblem
from reports.sweeps import parse_whole

if TYPE_CHECKING:
    from numerics.ensembles import Network
    from numerics.model import Model
    from numerics.simulate import Simulation

KINDS = ("srf", "network", "equivalent")
LARGEST_DIMENSION, MOST_SEEDS = 100_000, 100_000

HELP = f"""\b
Examples:
  onestep simulate --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8
      --dimension 400 --seeds 8
  onestep simulate --activation tanh --target tanh --alpha 1 --beta 2 --ridge 0.1 --alpha0 1 --eta 3 --kind network
      --dimension 400 --seeds 8 --json

Draw the features at finite dimension, fit the readout, measure errors and order parameters; mean and standard error
over independent seeds. Kinds: srf (default) spiked random features, network the network after a real gradient step,
equivalent the conditionally Gaussian map.

{EXPRESSIONS}"""


@click.command(help=HELP)
@model_options
@click.option("--dimension", default="400", metavar="D", help="Input dimension d (default 400).")
@click.option("--seeds", default="8", metavar="K", help="Independent experiments (default 8).")
@click.option("--kind", default="srf", metavar="NAME", help="srf (default), network or equivalent.")
@click.option("--seed", default="0", metavar="S", help="Seed of the whole experiment (default 0).")
@common_options
def simulate(
    dimension: str, seeds: str, kind: str, seed: str, as_json: bool, quiet: bool, debug: bool, **options: Any
) -> int:
    """Simulate every point asked for; the exit code."""
    size = parse_whole("dimension", dimension, 2, LARGEST_DIMENSION, "400")
    count = parse_whole("seeds", seeds, 1, MOST_SEEDS, "8")
    start = parse_whole("seed", seed, 0, 2**31, "0")
    check_kind(kind)
    asked = request(options)
    subjects = subjects_of(asked, kind)

    from reports.console import Progress, print_json, provenance

    results = []
    with Progress("simulating", len(subjects) * count, quiet=quiet) as progress, seeds_pool(size, count) as executor:
        for k, (point, subject) in enumerate(subjects):
            run = experiment(subject, size, count, start, kind, executor, partial(progress.advance, k * count))
            results.append((point, run))
    parameters = asked.parameters | {"dimension": size, "seeds": count, "seed": start, "kind": kind}
    origin = provenance("simulate", parameters)
    if as_json and asked.swept:
        from reports.commands.solve import sweep_json

        listed = [{"parameters": point, **simulation_json(run)} for point, run in results]
        print_json({"sweep": sweep_json(asked.values), "results": listed, "provenance": origin})
    elif as_json:
        print_json(simulation_json(results[0][1]) | {"provenance": origin})
    elif asked.swept:
        print(_sweep_table(asked.swept, results))
    else:
        print(simulation_text(results[0][1]))
    return DONE


def check_kind(kind: str) -> str:
    """The kind of simulation again. Raises InputProblem for an unknown one."""
    if kind not in KINDS:
        raise InputProblem(f"--kind was given {kind[:60]!a}; accepted are {', '.join(KINDS)}, for example --kind srf")
    return kind


def subjects_of(asked: Request, kind: str) -> list[tuple[dict[str, float], Model | Network]]:
    """What is simulated at each point: the network itself for kind network, its spiked random features otherwise."""
    if kind == "network":
        return [(point, asked.network(point)) for point in asked.points()]
    return [(point, model) for point, model in asked.models()]


def seeds_pool(dimension: int, seeds: int) -> AbstractContextManager[Executor | None]:
    """Worker processes where the experiments are large enough to pay for starting them."""
    if seeds < 2 or dimension < 600:
        return nullcontext(None)
    from reports.workers import pool

    return pool()


def experiment(
    subject: Model | Network,
    dimension: int,
    seeds: int,
    seed: int,
    kind: str,
    executor: Executor | None,
    progress: Callable[[int], None],
) -> Simulation:
    """One finite-size experiment. Raises InputProblem where it cannot be run as asked."""
    from numerics.ensembles import SimulationError
    from numerics.model import ModelError
    from numerics.simulate import simulate as run

    try:
        return run(
            subject,
            dimension=dimension,
            seeds=seeds,
            seed=seed,
            kind=kind,
            progress=lambda done, _total: progress(done),
            executor=executor,
        )
    except (SimulationError, ModelError) as error:
        raise InputProblem(str(error)) from None


def simulation_json(run: Simulation) -> dict[str, Any]:
    """One experiment as the command line promises it."""
    from reports.console import finite

    estimates = {name: {"mean": e.mean, "standard_error": e.standard_error} for name, e in run.estimates.items()}
    document: dict[str, Any] = {"dimension": run.dimension, "seeds": run.seeds, "kind": run.kind}
    document["sizes"] = {"n": run.sizes.n, "p": run.sizes.p, "n0": run.sizes.n0}
    cleaned: dict[str, Any] = finite(
        document | estimates, "one seed shows no spread; two or more give a standard error"
    )
    return cleaned


def simulation_text(run: Simulation) -> str:
    """One experiment for people."""
    from reports.console import estimate_text, table

    rows = [(name.replace("_", " "), estimate_text(e.mean, e.standard_error)) for name, e in run.estimates.items()]
    first = f"{run.kind}, d = {run.dimension}, n = {run.sizes.n}, p = {run.sizes.p}, {run.seeds} seeds"
    return f"{first}\n{table(rows)}"


def _sweep_table(swept: tuple[str, ...], results: list[tuple[dict[str, float], Simulation]]) -> str:
    from reports.console import estimate_text, number, table

    rows = [
        [
            *(number(point[name], 6) for name in swept),
            estimate_text(run.test_error.mean, run.test_error.standard_error),
            estimate_text(run.training_error.mean, run.training_error.standard_error),
        ]
        for point, run in results
    ]
    return table(rows, [*swept, "test error", "training error"], right=frozenset(range(len(swept))))

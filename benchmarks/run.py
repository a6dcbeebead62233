"""Speed and accuracy together, in one run: `make bench`, or

    python -m benchmarks.run            measure, write speed.json, print
    python -m benchmarks.run show       print what is stored

One point and a batch of the ridge saddle point against a plain solver (`benchmarks.speed.baseline`), the command line,
the simulation against the matrix products it cannot do without, and how all of it grows. Times are processor seconds,
the best of several runs; every comparison is a ratio of two times of this run. The exit code is 1 where a bar is
missed.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from benchmarks.speed import simulation_speed, solver_speed
from benchmarks.studies.__main__ import as_text
from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.reports.activation.gallery import rounded
from giantsteps.reports.measurements.experiments import text_of
from giantsteps.reports.studies.speed import DATA, bars, page
from giantsteps.verify.claims.index import all_claims, examine

WORKED = ["--activation", "tanh", "--target", "sin", "--beta", "1", "--spike", "1", "--bulk", "1", "--alignment", "0.8"]
COMMANDS: dict[str, list[str]] = {
    "help": ["--help"],
    "solve one point": ["solve", *WORKED, "--alpha", "1.5", "--ridge", "0.1"],
    "solve 400 x 250 points": ["solve", *WORKED, "--alpha", "log:0.1:10:400", "--ridge", "log:0.001:10:250", "--json"],
}


def command(arguments: list[str], runs: int) -> dict[str, float]:
    """The least processor and wall seconds of a command, start of the interpreter included."""
    found = []
    for _ in range(runs):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, "-m", "giantsteps", *arguments], check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall))
    return {"seconds": min(cpu for cpu, _ in found), "wall_seconds": min(wall for _, wall in found)}


def by_claim(every: int = 12) -> dict[str, float]:
    """Processor seconds of building all claims, and per claim of a sample with all checks and mutants: the derivations
    that it needs are built in it, and shared among fewer claims than in the whole ledger.
    """
    start = time.process_time()
    claims = all_claims()
    built = time.process_time()
    sample = claims[5::every]
    mutants = sum(len(examine(claim, "quick")[2]) for claim in sample)
    each = (time.process_time() - built) / len(sample)
    return {
        "claims": len(sample), "mutants": mutants, "seconds_to_build_all": built - start, "seconds_per_claim": each,
    }  # fmt: skip


def four_groups() -> dict[str, Any]:
    """One point of four readout groups."""
    groups = tuple(ReadoutGroup(weight, 0.25) for weight in (1.0, -0.5, 0.3, 2.0))
    return solver_speed.single(solver_speed.worked(readout=groups), calls=10)


PARTS: dict[str, Callable[[], Any]] = {
    "baseline": solver_speed.plain,
    "single": lambda: solver_speed.single(solver_speed.worked()),
    "batch": lambda: solver_speed.batch(solver_speed.worked()),
    "batch with breakpoints": lambda: solver_speed.batch(solver_speed.worked("relu", "sign"), checked=0),
    "four groups": four_groups,
    "convex": solver_speed.convex,
    "commands": lambda: {name: command(arguments, 5 if name == "help" else 3) for name, arguments in COMMANDS.items()},
    "by points": solver_speed.by_points,
    "by nodes": solver_speed.by_nodes,
    "by groups": solver_speed.by_groups,
    "by digits": solver_speed.by_digits,
    "by dimension": simulation_speed.by_dimension,
    "many ridges": simulation_speed.many_ridges,
    "ledger": by_claim,
}


def measure() -> dict[str, Any]:
    """Everything, with what it was measured on: cores and versions, no names."""
    found: dict[str, Any] = {
        "measured on": {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": version("numpy")}
    }
    for name, part in PARTS.items():
        start = time.perf_counter()
        found[name] = part()
        print(f"measured {name} in {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """See the module's first lines."""
    if sys.argv[1:] != ["show"]:
        DATA.write_text(text_of(rounded(measure(), 4)), encoding="utf-8")
    data = json.loads(DATA.read_text(encoding="utf-8"))
    print(as_text(page(data)))
    return 0 if all(bar.met for bar in bars(data)) else 1


if __name__ == "__main__":
    sys.exit(main())

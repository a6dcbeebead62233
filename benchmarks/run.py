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

from benchmarks.speed import (
    one_thread,
    simulation_speed,
    solver_speed,  # one_thread first: it speaks to NumPy
    verdict_speed,
)
from benchmarks.studies.__main__ import as_text
from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.reports.measurements.experiments import text_of
from giantsteps.reports.studies.speed import DATA, bars, page

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


def four_groups() -> dict[str, Any]:
    """One point of four readout groups."""
    groups = tuple(ReadoutGroup(weight, 0.25) for weight in (1.0, -0.5, 0.3, 2.0))
    return solver_speed.single(solver_speed.worked(readout=groups), calls=10)


assert one_thread  # imported for what it does
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
    "ledger": verdict_speed.by_claim,
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


def _text(data: dict[str, Any]) -> str:
    """JSON with one line per part, numbers to four digits."""

    def short(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: short(item) for key, item in value.items()}
        if isinstance(value, list):
            return [short(item) for item in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    return text_of({name: short(part) for name, part in data.items()})


def main() -> int:
    """See the module's first lines."""
    if sys.argv[1:] != ["show"]:
        DATA.write_text(_text(measure()), encoding="utf-8")
    data = json.loads(DATA.read_text(encoding="utf-8"))
    print(as_text(page(data)))
    return 0 if all(bar.met for bar in bars(data)) else 1


if __name__ == "__main__":
    sys.exit(main())

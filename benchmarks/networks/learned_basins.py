"""Learned biases inside one basin of the limiting training energy, for the models of the calibration that have several.

    python -m benchmarks.networks.learned_basins simulate [--workers N]    measure; writes learned_basins.json
    python -m benchmarks.networks.learned_basins                           what the page of the calibration says of them

In the basin of the lowest minimum the training sets are those of `benchmarks.networks.calibration`, where each bias was
learned on the whole line; in the basin of the second lowest they are new. Where the two minima are close in energy
there are larger dimensions as well. What is stored already is not simulated again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from benchmarks.networks.calibration import seed_of
from benchmarks.networks.stored_runs import Wanted, measured, write_all
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.reports.measurements import close_basins
from giantsteps.reports.measurements.learned_basins import BASINS, DATA, ITEM, confined, runs_of, stored
from giantsteps.reports.measurements.models import Data, Samples
from giantsteps.reports.measurements.models import stored as calibrated

# Between the seeds of one stream and those of the next.
STREAM = 1000


def run(key: str, index: int, dimension: int, seeds: int) -> tuple[Samples, float]:
    """The samples of one model in one basin at one dimension, to six digits, and the processor time."""
    start = time.process_time()
    drawn = confined(key)[index]
    found = simulate(
        drawn.subject, dimension=dimension, seeds=seeds, seed=basin_seed(key, index), learned=True, basins=drawn.basins,
    )  # fmt: skip
    kept = {name: values for name, values in found.samples if not name.startswith("q1")}
    return {name: [float(f"{x:.6g}") for x in values] for name, values in kept.items()}, time.process_time() - start


def basin_seed(key: str, index: int) -> int:
    """The seed of one model's experiments: the calibration's own for the first basin."""
    return seed_of(ITEM, index) + STREAM * list(BASINS).index(key)


def measure(workers: int) -> Iterator[tuple[str, Data]]:
    """Simulate what is not stored yet; yields all data after each run."""
    wanted = [Wanted(key, i, drawn.name, runs_of(key, drawn)) for key in BASINS for i, drawn in confined(key).items()]
    return measured(stored(), wanted, run, workers)


def main() -> None:
    """See the module's first lines."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["simulate"]:
        write_all(DATA, arguments, measure)
    for paragraph in close_basins.paragraphs(calibrated(), stored()):
        print(f"{paragraph}\n")
    for table in close_basins.tables(stored()):
        print("\n".join([table.caption, *(" | ".join(row) for row in (table.columns, *table.rows)), ""]))


if __name__ == "__main__":
    main()

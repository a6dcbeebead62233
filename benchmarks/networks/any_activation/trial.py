"""Networks of any activation on trial: 24 that were drawn before anything was predicted, or measured.

python -m benchmarks.networks.any_activation.trial draw                      draw the networks; writes draw.json
python -m benchmarks.networks.any_activation.trial predict                   predict; writes predictions.json
python -m benchmarks.networks.any_activation.trial simulate [--workers N]    what networks do; writes samples.json
python -m benchmarks.networks.any_activation.trial                           judge the stored samples and print a table
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.networks.stored_runs import Wanted, measured, write_all
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.reports.measurements.models import Data, Samples
from giantsteps.reports.studies.networks.drawn import FOLDER, MEASURED, RUNS, draw, draw_text, entries
from giantsteps.reports.studies.networks.predicted import KEY, THEORIES, judge, samples, text

# Of the first network; every network has its own, or all would share their draws and their deviates.
SEED = 500


def run(key: str, index: int, dimension: int, seeds: int) -> tuple[Samples, float]:
    """The samples of one network at one dimension, to six digits, and the processor time."""
    start = time.process_time()
    found = simulate(
        entries()[index].drawn.subject, dimension=dimension, seeds=seeds, seed=SEED + index, kind="network"
    )
    digits = {name: [float(f"{x:.6g}") for x in found.values(name)] for name in MEASURED}
    return digits, time.process_time() - start


def measure(workers: int) -> Iterator[tuple[str, Data]]:
    """Simulate what is not stored yet, small networks first; yields all data after each run."""
    listed = sorted(enumerate(entries()), key=lambda one: one[1].beta * (one[1].alpha0 + one[1].alpha))
    wanted = [Wanted(KEY, index, entry.drawn.name, RUNS) for index, entry in listed]
    return measured(samples(), wanted, run, workers, smallest_first=True)


def main() -> None:
    """See the module's first lines."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["draw"]:
        (FOLDER / "draw.json").write_text(draw_text(draw()), encoding="utf-8")
    if arguments[:1] == ["predict"]:
        (FOLDER / "predictions.json").write_text(text(), encoding="utf-8")
    if arguments[:1] == ["simulate"]:
        write_all(FOLDER / "samples.json", arguments, measure)
    verdicts: Counter[tuple[str, str]] = Counter()
    for entry in entries():
        found = judge(entry, samples()[KEY][entry.drawn.name])
        print(entry.drawn.name)
        for theory in THEORIES:
            report = found.reports[theory]
            verdicts[theory, report.verdict] += 1
            cells = (f"{c.observable} {c.z:+.1f}" for c in report.comparisons if c.z is not None)
            print(f"    {theory:9s} {report.verdict:12s} {', '.join(cells)}")
    for (theory, verdict), count in sorted(verdicts.items()):
        print(f"{theory}: {count} {verdict}")


if __name__ == "__main__":
    main()

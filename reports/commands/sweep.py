"""giantsteps sweep: a family of models described in a file, by the theory, by simulation or both."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.answers.groups import tell_groups
from giantsteps.reports.answers.widths import tell_warnings
from giantsteps.reports.command_line.machine.signals import Terminated
from giantsteps.reports.command_line.options import common_options
from giantsteps.reports.command_line.problems import DONE, INTERNAL, UNDECIDED, InputProblem
from giantsteps.reports.command_line.values import parse_whole

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.sweeps.store import Store
    from giantsteps.numerics.sweeps.sweep import Sweep

_OTHER_BULK = (
    "networks are simulated beside the theory of the isotropic bulk, which is not theirs; that has bulk_model = "
    '"network" in the file'
)
HELP = """\b
Examples:
  giantsteps sweep grid.toml --out results
  giantsteps sweep grid.toml --out others --workers 8 --plot diagram.svg
  giantsteps sweep grid.toml --out results --resume
  giantsteps sweep grid.toml --out results --dask tcp://127.0.0.1:8786

\b
A sweep file:
  kind = "theory"             # theory, simulation or both
  mode = "product"            # product (default) or zip: all swept parameters advance together
  activation = "tanh(z)"
  target = "sin(z)"
  alpha = "log:0.1:10:20"     # a number, a list, "START:STOP:COUNT" or "log:START:STOP:COUNT"
  ridge = "log:0.001:10:10"
  beta = [0.5, 1, 2]
  spike = 1.0                 # or alpha0 and eta, with bulk_model = "network" (default) or "isotropic"
  bulk = 1.0
  alignment = 0.8
  readout = "1:0.5,-1:0.5"    # and bias = "0.3:0.5,-0.3:0.5" (quenched), loss = "logistic" (theory only)
  # [simulation]              # for simulation and both
  # dimension = 1000
  # seeds = 8
  # kind = "network"          # network (default with alpha0 and eta), srf (default with spike) or equivalent

Results go to the table points of DIR/results.sqlite, in chunks of whole transactions: the file is valid at any moment.
--resume goes on after an interruption, even a kill: a worker loses the chunk it was at, and nothing is repeated. The
same numbers come out, to rounding, for any number of workers. With kind both, the theory is evaluated at the ratios
realised at that dimension. --plot draws the test error: one swept parameter makes a curve, two a heat map, a short
third one panels.

Exit code 3 if a point failed or did not converge: its reason is its status, the others are there all the same. Exit
code 4 if a worker was lost for good: what was finished is kept.
"""


@click.command(help=HELP)
@click.argument("file", metavar="FILE.toml")
@click.option("--out", metavar="DIR", help="Directory of the results, new or empty unless --resume is given.")
@click.option("--workers", metavar="N", help="Worker processes on this machine (default 1).")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster instead (pip install '.[cluster]').")
@click.option("--resume", is_flag=True, help="Go on with the sweep begun in DIR.")
@click.option("--plot", metavar="FILE", help="Draw the phase diagram when all points are there (.svg, .png, .pdf).")
@common_options
def sweep(
    file: str,
    out: str | None,
    workers: str | None,
    dask: str | None,
    resume: bool,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Run the sweep; the exit code."""
    if out is None:
        raise InputProblem("--out is missing; a directory for the results is accepted, for example --out results")
    if workers is not None and dask is not None:
        raise InputProblem("--workers and --dask were both given; one of them is accepted, for example --workers 4")
    count = 1 if workers is None else parse_whole("workers", workers, 1, 1024, "4")

    from giantsteps.reports.answers.sweep_file import read_sweep

    described = read_sweep(Path(file))

    from giantsteps.numerics.sweeps.run import WorkerLostError, run
    from giantsteps.numerics.sweeps.store import Store, StoreError
    from giantsteps.numerics.sweeps.sweep import SweepError
    from giantsteps.reports.command_line.console import Progress, note, provenance
    from giantsteps.reports.command_line.machine.clusters import workers_of
    from giantsteps.reports.figures.files import save
    from giantsteps.reports.figures.sweep_plot import check_plot, draw

    if plot is not None:
        check_plot(described.sweep, Path(plot))
    tell_groups(tomllib.loads(described.text), described.sweep.groups, quiet)
    ends = _ends(described.sweep)
    tell_warnings(ends, quiet)
    simulated = described.sweep.experiment.kind if described.sweep.experiment else ""
    if described.sweep.kind == "both" and simulated == "network" and described.sweep.bulk_model != "network":
        note(f"warning: {_OTHER_BULK}", quiet)
    origin = provenance("sweep", {"file": Path(file).name})
    kept = {"suite": origin["suite"], "numpy": origin["numpy"], "description": described.text}
    again = f"giantsteps sweep {file} --out {out} --resume goes on"
    try:
        store = Store(Path(out), described.sweep, resume=resume, origin=kept)
    except SweepError as error:
        raise InputProblem(f"--out: {error}") from None
    if store.dropped:
        note(f"{store.dropped} points in damaged or incomplete chunks of the result file are computed again", quiet)
    with store:
        try:
            with (
                workers_of(count, dask) as crew,
                Progress("sweep", len(described.sweep), quiet=quiet, pace="points") as progress,
            ):
                run(
                    store,
                    executor=crew.executor,
                    window=crew.window,
                    lost=crew.lost,
                    progress=lambda done: progress.step(done=done),
                )
        except WorkerLostError:
            raise InputProblem(
                f"workers were lost (killed, out of memory or out of reach); {store.stored} of {len(described.sweep)} "
                f"points are kept, {again}",
                INTERNAL,
            ) from None
        except StoreError as error:
            raise InputProblem(f"--out: {error}; what was finished before is kept, {again}") from None
        except (KeyboardInterrupt, Terminated) as end:
            what = "killed" if isinstance(end, Terminated) else "interrupted"
            note(f"{what}; {store.stored} of {len(described.sweep)} points are kept, {again}", quiet)
            raise
        warnings = _warned(ends, store, quiet)
        problem = None if plot is None else save(partial(draw, described.sweep, store.path), Path(plot))
        code = _tell(store, Path(out), None if problem else plot, origin, warnings, as_json)
    if problem is not None:
        raise problem
    return code


def _ends(sweep: Sweep) -> list[Model]:
    """The models of the first and the last point, whose warnings speak for the sweep; none where networks are drawn."""
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.sweeps.chunk import FAILURES

    found = []
    for index in sorted({0, len(sweep) - 1}):
        try:
            subject = sweep.subject(sweep.point(index))
        except FAILURES:
            continue  # the point says why when its turn comes
        if isinstance(subject, Model):
            found.append(subject)
    return found


def _warned(ends: list[Model], store: Store, quiet: bool) -> list[str]:
    """The warnings of the models at the ends, which were given before, and that limits are far from their values."""
    from giantsteps.reports.command_line.console import note
    from giantsteps.reports.figures.sweep_plot import apart_sentence

    warnings = list(dict.fromkeys(sentence for model in ends for sentence in model.warnings))
    if apart := apart_sentence(store.sweep, store.path):
        note(f"warning: {apart}", quiet)
        warnings.append(apart)
    return warnings


def _tell(store: Store, out: Path, plot: str | None, origin: dict[str, Any], warnings: list[str], as_json: bool) -> int:
    """What has been done, for programs or for people; the exit code."""
    from giantsteps.numerics.sweeps.store import FILE
    from giantsteps.reports.command_line.console import print_json

    points, failures = store.stored, store.failures
    failed = sum(failures.values())
    if as_json:
        document: dict[str, Any] = {
            "file": str(out / FILE),
            "points": points,
            "computed": points - store.kept,
            "failed": failed,
            "reasons": failures,
            "digest": store.sweep.digest,
        }
        print_json(document | ({"plot": plot} if plot else {}) | {"warnings": warnings, "provenance": origin})
    else:
        before = f" ({store.kept} were there already)" if store.kept else ""
        print(f"{points} points{before}, {failed} failed; results in {out / FILE}")
        for reason, times in list(failures.items())[:5]:
            print(f"  {times} x {reason}")
        if plot:
            print(f"phase diagram in {plot}")
    return UNDECIDED if failed else DONE

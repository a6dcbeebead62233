"""giantsteps sweep: a family of models described in a file, by the theory, by simulation or both."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.console import Output, provenance
from giantsteps.reports.command_line.machine.signals import Terminated
from giantsteps.reports.command_line.options import common_options, name_option, option, whole
from giantsteps.reports.command_line.problems import DONE, INTERNAL, UNDECIDED, InputProblem

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.sweeps.store import Store
    from giantsteps.numerics.sweeps.sweep import Sweep

_OTHER_BULK = (
    "networks are simulated, but the theory has the isotropic bulk, which is not theirs; for their own give bulk_model "
    '= "network" in the file'
)
HELP = """\b
Examples:
  giantsteps sweep grid.toml --out results
  giantsteps sweep grid.toml --out others --workers 8 --plot diagram.svg
  giantsteps sweep grid.toml --out results --resume
  giantsteps sweep grid.toml --out results --resume --format csv
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

Results are written to the table points of DIR/results.sqlite, one transaction per chunk, so that the file is always
valid. --resume continues after an interruption or a kill: only unfinished chunks are computed. The results do not
depend on the number of workers, up to rounding. With kind both, the theory is evaluated at the ratios realised at that
dimension. --plot draws the test error: a curve for one swept parameter, a heat map for two, panels for a short third
one. --format also writes the points as DIR/results.csv, results.parquet or results.nc (netCDF: a grid with named
dimensions, the model in its attributes), with the column names of the table; CSV requires no further package.

Exit code 3 if a point failed or did not converge; its status says why, and all other points are computed. Exit code 4
if a worker could not be restarted; finished chunks are kept.
"""


@click.command(help=HELP)
@click.argument("file", metavar="FILE.toml")
@option("--out directory", "DIR", "Directory of the results, new or empty unless --resume is given.")
@option("--workers", "N", "Worker processes on this machine (default 1).", whole(1, 1024, "4"))
@option("--dask", "ADDRESS", "Scheduler of a Dask cluster instead (pip install '.[cluster]').")
@click.option("--resume", is_flag=True, help="Continue the sweep in DIR.")
@option("--plot", "FILE", "Draw the phase diagram when all points are there (.svg, .png, .pdf).")
@name_option(
    "--format", "Also write the points as csv, parquet or netcdf (pip install '.[frames]').", "csv", "parquet", "netcdf"
)
@common_options
def sweep(
    out: Output,
    file: str,
    directory: str | None,
    workers: int | None,
    dask: str | None,
    resume: bool,
    plot: str | None,
    format: str | None,
) -> int:
    """Run the sweep; the exit code."""
    if directory is None:
        raise InputProblem("--out is missing; a directory for the results is accepted, for example --out results")
    if workers is not None and dask is not None:
        raise InputProblem("--workers and --dask were both given; one of them is accepted, for example --workers 4")

    from giantsteps.reports.answers.sweep_file import read_sweep
    from giantsteps.reports.answers.sweep_results import check_format, exported

    if format is not None:
        check_format(format)
    described = read_sweep(Path(file))
    points = described.sweep

    from giantsteps.numerics.sweeps.store import FILE, Store
    from giantsteps.numerics.sweeps.sweep import SweepError
    from giantsteps.reports.figures.files import save
    from giantsteps.reports.figures.sweep_plot import apart_sentence, check_plot, draw

    if plot is not None:
        check_plot(points, Path(plot))
    origin = provenance("sweep", {"file": Path(file).name})
    kept = {"suite": origin["suite"], "numpy": origin["numpy"], "description": described.text}
    again = f"giantsteps sweep {file} --out {directory} --resume goes on"
    try:
        store = Store(Path(directory), points, resume=resume, origin=kept)
    except SweepError as error:
        raise InputProblem(f"--out: {error}") from None
    out.tell_groups(tomllib.loads(described.text), points.groups)
    ends = _ends(points)
    out.warn(ends)
    if points.kind == "both" and points.experiment and points.experiment.kind == "network" != points.bulk_model:
        out.note(f"warning: {_OTHER_BULK}")
    if store.dropped:
        out.note(f"{store.dropped} points in damaged or incomplete chunks of the result file are computed again")
    with store:
        _run(store, workers or 1, dask, out, again)
        warnings = list(dict.fromkeys(sentence for model in ends for sentence in model.warnings))
        if apart := apart_sentence(points, store.path):
            out.note(f"warning: {apart}")
            warnings.append(apart)
        problem = None if plot is None else save(partial(draw, points, store.path), Path(plot))
        drawn = None if problem else plot
        document = {
            "file": str(Path(directory) / FILE),
            "points": store.stored,
            "computed": store.stored - store.kept,
            "failed": sum(store.failures.values()),
            "reasons": store.failures,
            "digest": points.digest,
            **({"plot": drawn} if drawn else {}),
            **({"exported": str(exported(store.path, format))} if format else {}),
            "warnings": warnings,
            "provenance": origin,
        }
        out.tell(document, lambda: _text(document, store.kept))
    if problem is not None:
        raise problem
    return UNDECIDED if document["failed"] else DONE


def _run(store: Store, workers: int, dask: str | None, out: Output, again: str) -> None:
    """Compute what the store lacks. Raises InputProblem where workers or the file are lost; ``again`` is what to do."""
    from giantsteps.numerics.sweeps.run import WorkerLostError, run
    from giantsteps.numerics.sweeps.store import StoreError
    from giantsteps.reports.command_line.machine.clusters import workers_of

    total = len(store.sweep)
    try:
        with workers_of(workers, dask) as crew, out.progress("sweep", total, pace="points") as progress:
            run(
                store,
                executor=crew.executor,
                window=crew.window,
                lost=crew.lost,
                progress=lambda done: progress.step(done=done),
            )
    except WorkerLostError:
        raise InputProblem(
            f"workers were lost (killed, out of memory or unreachable); {store.stored} of {total} points are kept, "
            f"{again}",
            INTERNAL,
        ) from None
    except StoreError as error:
        raise InputProblem(f"--out: {error}; what was finished before is kept, {again}") from None
    except (KeyboardInterrupt, Terminated) as end:
        what = "killed" if isinstance(end, Terminated) else "interrupted"
        out.note(f"{what}; {store.stored} of {total} points are kept, {again}")
        raise


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


def _text(document: Mapping[str, Any], kept: int) -> str:
    """What has been done, for people."""
    before = f" ({kept} were there already)" if kept else ""
    lines = [f"{document['points']} points{before}, {document['failed']} failed; results in {document['file']}"]
    lines += [f"  {times} x {reason}" for reason, times in list(document["reasons"].items())[:5]]
    lines += [f"points in {document['exported']}"] if "exported" in document else []
    lines += [f"phase diagram in {document['plot']}"] if "plot" in document else []
    return "\n".join(lines)

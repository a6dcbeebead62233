"""Page: networks of any activation, drawn before anything was predicted, beside the paper's theory and their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.models import Data
from giantsteps.reports.measurements.network_trial import MARKS, Row, drawn_rows, numbers, stands
from giantsteps.reports.measurements.study import OURS, Study, stated
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, COUNT, JUDGED, RUNS, Trial, draw
from giantsteps.reports.studies.networks.predicted import KEY, SAMPLES, THEORIES, Judged, judge
from giantsteps.verify.checks.finite_size import FALSE_ALARM

SLUG = "any_activation"
COMMAND = "python -m benchmarks.networks any_activation simulate"


def study() -> Study | None:
    """The page; None where the measurements are not installed."""
    data = read(ANY_ACTIVATION.folder / SAMPLES)
    return page(data) if data else None


def judged_in(data: Data, trial: Trial = ANY_ACTIVATION) -> tuple[Judged, ...]:
    """Every network of the list that was measured at two dimensions or more."""
    found = data.get(KEY, {})
    listed = ((entry, found.get(entry.drawn.name, {})) for entry in draw(trial))
    measured = ((entry, {d: samples for d, samples in runs.items() if samples}) for entry, runs in listed)
    return tuple(judge(entry, runs, trial) for entry, runs in measured if len(runs) >= 2)


def page(data: Data) -> Study:
    """The page from the samples and from the predictions in the file."""
    judged = judged_in(data)
    rows = [row_of(j) for j in judged]
    text = (
        "The paper's theory assumes an odd activation and a bulk of isotropic rows of equal norm after the step. Here "
        "the map of the step and the network's own bulk hold for any activation. This page tests them on "
        f"{COUNT} networks. They were drawn with the seed {ANY_ACTIVATION.seed} before any prediction, and both "
        "theories made their predictions before any simulation. Each activation learns two targets. Batch, step, "
        "width, samples, ridge and label noise cover their ranges evenly, and no draw was rejected. (The isotropic "
        "theory uses the map for any activation; only its bulk is the paper's.)",
        runs_text(judged, data),
    )
    statements = [stands(rows, *one) for one in (("network", OURS), ("isotropic", "Result 3.3"))]
    title = "Networks of any activation on trial"
    figure = figure_of(rows, SLUG, "Test errors of networks of any activation against both theories")
    return Study(SLUG, title, text, (stated(statements), numbers(rows)), (figure,), COMMAND)


def runs_text(judged: Sequence[Judged], data: Data) -> str:
    """How many networks were measured at which dimensions, and how they are judged."""
    measured = [data[KEY][j.entry.drawn.name] for j in judged]
    listed = []
    for dimension, seeds in RUNS:
        count = sum(str(dimension) in runs for runs in measured)
        of = "" if count == len(measured) else f" ({count} networks)"
        listed += [f"{seeds} at d = {dimension}{of}"] if count else []
    return (
        f"{len(measured)} of {COUNT} networks were measured, with independent seeds: {', '.join(listed)}. Deviations "
        "from the theory at the realised ratios and the simulated width are extrapolated in 1/d by the protocol of "
        f"`giantsteps compare`; {', '.join(map(_words, JUDGED))} decide together, and a theory that is "
        f"right is REFUTED with probability {FALSE_ALARM:g} at most, for each network."
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def verdicts(judged: Sequence[Judged], theory: str) -> Counter[str]:
    """How many networks have which verdict on a theory."""
    return Counter(j.reports[theory].verdict for j in judged)


def row_of(j: Judged) -> Row:
    """One network as it stands in table and figure."""
    entry, one = j.entry, j.entry.network
    name = f"{entry.activation} / {entry.target}, alpha0 {one.alpha0:g}, eta {one.eta:g}, beta {one.beta:g}"
    return Row(name, j.reports, f", alpha {one.alpha:g}, ridge {one.ridge:g}, noise {one.noise:g}")


def figure_of(rows: Sequence[Row], slug: str, title: str) -> Figure:
    """The test errors of all networks beside both theories, where samples decide."""
    rows = [row for row in rows if all(row.test(theory).z is not None for theory in THEORIES)]
    caption = f"{len(rows)} networks drawn before they were predicted; test errors extrapolated to infinite d. {MARKS}"
    return drawn_rows(rows, slug, title, caption)

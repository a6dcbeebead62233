"""Page: networks of any activation, drawn before anything was predicted, beside the paper's theory and their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.models import Data
from giantsteps.reports.measurements.network_trial import BEYOND, MARKS, Row, drawn_rows
from giantsteps.reports.measurements.normal_deviates import deviates, look_normal, normality, spread
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, stated
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, COUNT, JUDGED, RUNS, draw
from giantsteps.reports.studies.networks.predicted import KEY, SAMPLES, THEORIES, Judged, judge
from giantsteps.verify.checks.finite_size import CONFIRMED, FALSE_ALARM, INCONCLUSIVE, REFUTED

SLUG = "any_activation"
COMMAND = "python -m benchmarks.networks any_activation simulate"


def study() -> Study | None:
    """The page; None where the measurements are not installed."""
    data = read(ANY_ACTIVATION.folder / SAMPLES)
    return page(data) if data else None


def judged_in(data: Data) -> tuple[Judged, ...]:
    """Every network of the list that was measured at two dimensions or more."""
    found = data.get(KEY, {})
    listed = ((entry, found.get(entry.drawn.name, {})) for entry in draw())
    return tuple(judge(entry, runs) for entry, runs in listed if len(runs) >= 2)


def page(data: Data) -> Study:
    """The page from the samples and from the predictions in the file."""
    judged = judged_in(data)
    text = (
        "The paper's theory takes an odd activation and a bulk whose rows after the step are isotropic and of one "
        "norm. The map of the step and the network's own bulk are built here for any activation, and this is their "
        f"trial: {COUNT} networks, drawn by the seed {ANY_ACTIVATION.seed} before anything was predicted, predicted by "
        "both theories before anything was simulated. Each activation learns two targets; batch, step, width, samples, "
        "ridge and label noise fill their ranges evenly, and no draw was rejected. (The isotropic theory has the map "
        "of any activation here: only its bulk is the paper's.)",
        _runs_text(judged, data),
    )
    statements = [_stands(judged, *one) for one in (("network", OURS), ("isotropic", "Result 3.3"))]
    title = "Networks of any activation on trial"
    return Study(SLUG, title, text, (stated(statements), _table(judged)), (_figure(judged),), COMMAND)


def _runs_text(judged: Sequence[Judged], data: Data) -> str:
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


def _stands(judged: Sequence[Judged], theory: str, source: str) -> Statement:
    """The verdicts on a theory, its deviates, and what the protocol says where it is refuted."""
    counts = verdicts(judged, theory)
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (CONFIRMED, INCONCLUSIVE, REFUTED))
    found = deviates([j.reports[theory].comparisons for j in judged])
    tests = np.array(found["test_error"])
    squares = ", ".join(f"{_words(name)} {np.sqrt(np.mean(np.square(found[name]))):.2g}" for name in JUDGED)
    beyond = sum(_row(j).largest(theory) > BEYOND for j in judged)
    refuted = [f"{_pair(j)}: {j.reports[theory].sentence}" for j in judged if j.reports[theory].verdict == REFUTED]
    return Statement(
        f"the theory of {'their own' if theory == 'network' else 'an isotropic'} bulk stands", source, not refuted,
        f"{listed}; its deviates are at most {max(abs(z) for zs in found.values() for z in zs):.1f} in size, at "
        f"{beyond} networks beyond {BEYOND:g}; root mean squares {squares} (1 +- {(2 * len(tests)) ** -0.5:.2f} for a "
        f"right theory); its test errors {'look' if look_normal(tests) else 'do not look'} standard normal (Kolmogorov "
        f"and Smirnov {normality(tests):.2g}, sum of squares {spread(tests):.2g})"
        + (f"; refuted: {'; '.join(refuted)}" if refuted and theory == "network" else ""),
    )  # fmt: skip


def _pair(j: Judged) -> str:
    return f"{j.entry.activation} / {j.entry.target}"


def _named(j: Judged) -> str:
    entry = j.entry
    return f"{_pair(j)}, alpha0 {entry.alpha0:g}, eta {entry.eta:g}, beta {entry.beta:g}"


def _row(j: Judged) -> Row:
    """All comparisons of what decides."""
    of = {theory: {c.observable: c for c in j.reports[theory].comparisons} for theory in THEORIES}
    return Row(_named(j), of)


def _shown(value: float | None, digits: str) -> str:
    return "" if value is None else format(value, digits)


def _table(judged: Sequence[Judged]) -> Table:
    rows = []
    for j in judged:
        row = _row(j)
        other, own = map(row.test, ("isotropic", "network"))
        rows.append(
            f"{row.name} | alpha {j.entry.alpha:g}, ridge {j.entry.ridge:g}, noise {j.entry.noise:g} | "
            f"{_shown(other.theory, '.4g')} | {_shown(own.theory, '.4g')} | {_shown(own.extrapolated, '.4g')} | "
            f"{_shown(own.z, '+.1f')} | {row.largest('isotropic'):.1f} | {_shown(own.smallest_detectable, '.0%')} | "
            f"{j.reports['network'].verdict} | {j.reports['isotropic'].verdict}"
        )
    return Table.of(
        "Test errors by both theories and as measured, extrapolated; the deviate of the network's own theory, the "
        "largest of the isotropic one over what decides; the relative error of a test error that would have been "
        "caught; verdicts",
        "network | readout | isotropic | own | measured | z of own | largest z of isotropic | caught | own bulk | "
        "isotropic bulk",
        rows,
    )


def _figure(judged: Sequence[Judged]) -> Figure:
    """The test errors of all networks beside both theories, where samples decide."""
    rows = [row for row in map(_row, judged) if all(row.test(theory).z is not None for theory in THEORIES)]
    title = "Test errors of networks of any activation against both theories"
    caption = f"{len(rows)} networks drawn before they were predicted; test errors extrapolated to infinite d. {MARKS}"
    return drawn_rows(rows, SLUG, title, caption)

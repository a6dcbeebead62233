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
from giantsteps.reports.measurements.study import Study, Table
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, COUNT, JUDGED, RUNS, draw
from giantsteps.reports.studies.networks.predicted import KEY, SAMPLES, THEORIES, Judged, judge
from giantsteps.verify.checks.finite_size import CONFIRMED, FALSE_ALARM, INCONCLUSIVE, REFUTED, Comparison

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
        " ".join(_counted(judged, theory) for theory in THEORIES),
        _deviates_text(judged),
        *_failures(judged),
    )
    title = "Networks of any activation on trial"
    return Study(SLUG, title, text, (_table(judged),), (_figure(judged),), COMMAND)


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


def _counted(judged: Sequence[Judged], theory: str) -> str:
    counts = verdicts(judged, theory)
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (CONFIRMED, INCONCLUSIVE, REFUTED))
    named = {"isotropic": "The isotropic bulk", "network": "The network's own bulk"}[theory]
    return f"{named}: {listed}."


def _deviates_text(judged: Sequence[Judged]) -> str:
    own, other = (deviates([j.reports[theory].comparisons for j in judged]) for theory in ("network", "isotropic"))
    tests = np.array(own["test_error"])
    looks = "look" if look_normal(tests) else "do not look"
    spreads = ", ".join(f"{_words(name)} {np.sqrt(np.mean(np.square(own[name]))):.2f}" for name in JUDGED)
    beyond = sum(_largest(j) > BEYOND for j in judged)
    return (
        f"Where a theory is right each deviate is standard normal. Those of the network's own theory have root mean "
        f"squares of {spreads} (expected 1 +- {(2 * len(tests)) ** -0.5:.2f}); its test errors {looks} standard normal "
        f"(Kolmogorov and Smirnov {normality(tests):.2g}, sum of squares {spread(tests):.2g}), and the largest of all "
        f"is {max(abs(z) for zs in own.values() for z in zs):.1f}. The isotropic theory's largest is "
        f"{max(abs(z) for zs in other.values() for z in zs):.0f}, and {beyond} networks have one above {BEYOND:g}."
    )


def _failures(judged: Sequence[Judged]) -> tuple[str, ...]:
    """What the protocol says where the network's own theory is not CONFIRMED."""
    reports = ((_pair(j), j.reports["network"]) for j in judged)
    sentences = [f"{pair}: {one.verdict}: {one.sentence}." for pair, one in reports if one.verdict != CONFIRMED]
    return (" ".join(sentences),) if sentences else ()


def _pair(j: Judged) -> str:
    return f"{j.entry.activation} / {j.entry.target}"


def _named(j: Judged) -> str:
    entry = j.entry
    return f"{_pair(j)}, alpha0 {entry.alpha0:g}, eta {entry.eta:g}, beta {entry.beta:g}"


def _largest(j: Judged) -> float:
    """The largest deviate of the isotropic theory over what decides."""
    return max(abs(c.z or 0.0) for c in j.reports["isotropic"].comparisons)


def _tests(j: Judged) -> dict[str, Comparison]:
    """The comparisons of the test error, by theory."""
    return {name: next(c for c in j.reports[name].comparisons if c.observable == "test_error") for name in THEORIES}


def _shown(value: float | None, digits: str) -> str:
    return "" if value is None else format(value, digits)


def _table(judged: Sequence[Judged]) -> Table:
    rows = []
    for j in judged:
        other, own = (_tests(j)[theory] for theory in ("isotropic", "network"))
        rows.append(
            f"{_named(j)} | alpha {j.entry.alpha:g}, ridge {j.entry.ridge:g}, noise {j.entry.noise:g} | "
            f"{_shown(other.theory, '.4g')} | {_shown(own.theory, '.4g')} | {_shown(own.extrapolated, '.4g')} | "
            f"{_shown(own.z, '+.1f')} | {_largest(j):.1f} | {_shown(own.smallest_detectable, '.0%')} | "
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
    found = ((_named(j), _tests(j)) for j in judged)
    rows = [Row(name, both) for name, both in found if all(c.z is not None for c in both.values())]
    title = "Test errors of networks of any activation against both theories"
    caption = f"{len(rows)} networks drawn before they were predicted; test errors extrapolated to infinite d. {MARKS}"
    return drawn_rows(rows, SLUG, title, caption, COMMAND)

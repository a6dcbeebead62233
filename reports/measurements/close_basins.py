"""What the page of the calibration says of learned biases with several minima of the training energy.

Where two minima are close the question is whether the theory orders them rightly and knows how far apart they are. Both
energies and their difference are measured on the same training sets at growing d and extrapolated; the difference
scatters by s/sqrt(d), and with the theory's gap that predicts how many experiments prefer the second minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from giantsteps.numerics.experiments.ridge import estimate
from giantsteps.reports.measurements.basin_shares import GAP, BasinShares, Share, scatter
from giantsteps.reports.measurements.learned_basins import CLOSE, ITEM, confined, gap_of, minima_of, shares_of
from giantsteps.reports.measurements.models import ITEMS, RUNS, Data, Drawn, Samples
from giantsteps.reports.measurements.study import OURS, Statement, Table
from giantsteps.reports.measurements.theory import judge, theory_of
from giantsteps.verify.checks.finite_size import CONFIRMED, REFUTED, Observation, compare_all

# A share of experiments in the wrong basin that the protocol would hardly see, and its standard normal quantile.
RARE, RARE_QUANTILE = 0.01, 2.326
ENERGIES = ("lowest minimum", "second minimum", "difference")


RULE = (
    "A learned bias is judged basin by basin. The limit of the training energy, as a function of the bias, may have "
    "several minima, with barriers between them. The learned bias of the limit is the lowest; at finite $d$ the "
    "energies of two minima scatter against each other by $O(d^{-1/2})$, and some training sets prefer the second. "
    "The observables are then a mixture, to which no expansion in $1/d$ applies. What the theory says at such $d$ is "
    "said per basin: the best bias between the barriers around a minimum has the order parameters of that minimum. So "
    "each experiment of the item learns its bias in the basin of the lowest minimum of the limit, a rule that knows "
    "the theory and no simulation; the energy gap to the second minimum is one observable more, which tests their "
    "order; and the basin of the second is a comparison of its own, on training sets of its own. The scatter of the "
    "gap is measured, not derived: it is a fluctuation of the free energy, of which the theory here is the mean."
)


def says(data: Data, basins: Data) -> list[Statement]:
    """What is refuted without the rule, and what the energies of close minima say; empty if not measured."""
    models = confined("lowest") if ITEM in data and basins.get("lowest") else {}
    close = [drawn for drawn in models.values() if gap_of(drawn) < CLOSE]
    return [*([_whole_line(data)] if models else []), *(_ordered(one, both_streams(basins, one)) for one in close)]


def both_streams(basins: Data, drawn: Drawn) -> dict[str, Samples]:
    """By dimension: bias, energy and gap in the basin of the lowest minimum, on the training sets of both comparisons.

    Those that were measured in the basin of the second minimum have its energy, and the gap from there.
    """
    runs = basins["lowest"].get(drawn.name, {})
    found = {d: {name: list(runs[d][name]) for name in ("bias", "energy", GAP)} for d in runs}
    for d, samples in basins.get("second", {}).get(drawn.name, {}).items():
        if d in found and len(minima_of(drawn).minima) == 2:
            found[d]["energy"] += [a + b for a, b in zip(samples["energy"], samples[GAP], strict=True)]
            found[d][GAP] += [-b for b in samples[GAP]]
    return found


def _whole_line(data: Data) -> Statement:
    """The verdicts on the same training sets where each bias was learned on the whole line."""
    item = next(item for item in ITEMS if item.key == ITEM)
    whole = [Drawn(one.name, one.subject, one.learned) for one in confined("lowest").values()]
    measured = [(one, runs) for one in whole if len(runs := data[ITEM].get(one.name, {})) == len(item.runs)]
    reports = {one.name.split(":")[0]: judge(one, runs) for one, runs in measured}
    refuted = {name: report for name, report in reports.items() if report.verdict == REFUTED}
    told = "; ".join(
        f"{name}, by {', '.join(c.observable.replace('_', ' ') for c in report.comparisons if c.verdict == REFUTED)}"
        for name, report in refuted.items()
    )
    return Statement(
        "at these d the lowest minimum of the whole line is that of the limit", OURS, not refuted,
        f"with the bias learned on the whole line the same training sets confirm "
        f"{sum(report.verdict == CONFIRMED for report in reports.values())} of the {len(reports)} models with several "
        f"minima and refute {len(refuted)}" + (f" ({told})" if told else ""),
    )  # fmt: skip


def energies(drawn: Drawn, runs: Mapping[str, Samples]) -> dict[str, list[Observation]]:
    """The energy of the lowest minimum, of the second and their difference, by dimension, beside the theory."""
    found: dict[str, list[Observation]] = {name: [] for name in ENERGIES}
    for d, samples in sorted(runs.items(), key=lambda entry: int(entry[0])):
        theory = theory_of(drawn, int(d)).values
        own, gap = samples["energy"], samples[GAP]
        for name, values, expected in (
            (ENERGIES[0], own, theory["energy"]),
            (ENERGIES[1], [a + b for a, b in zip(own, gap, strict=True)], theory["energy"] + theory[GAP]),
            (ENERGIES[2], gap, theory[GAP]),
        ):
            found[name].append(Observation(int(d), tuple(values), expected))
    return found


def _ordered(drawn: Drawn, runs: Mapping[str, Samples]) -> Statement:
    """Whether the theory orders close minima rightly and knows how far apart they are."""
    observed = energies(drawn, runs)
    lowest, second, *_ = minima_of(drawn).ranked
    report = compare_all(observed, scales=dict.fromkeys(observed, lowest.energy))
    judged = "; ".join(
        f"{c.observable} {c.extrapolated:.5f} +- {c.fit.standard_error:.1g} (theory {c.theory:.5f}, z = {c.z:+.2f})"
        for c in report.comparisons
        if c.extrapolated is not None and c.fit is not None and c.z is not None
    )
    s = scatter({int(d): samples[GAP] for d, samples in runs.items()}) or float("nan")
    gap, shares = second.energy - lowest.energy, shares_of(drawn, runs)
    assert shares is not None
    return Statement(
        f"{drawn.name.split(':')[0]}: close minima have the energies of the theory", OURS, report.verdict != REFUTED,
        f"minima at the biases {lowest.bias:.2f} and {second.bias:.2f}, {gap_of(drawn):.1%} of the energy apart; "
        f"measured in both basins of the same training sets, at d up to {max(map(int, runs))}, they extrapolate to "
        f"{judged}; all three together: {report.verdict}. The difference scatters between training sets by "
        f"$s/\\sqrt{{d}}$ with s = {s:.3f}, {s / sqrt(600) / gap:.1f} times the gap at d = 600; by gap and scatter "
        f"{counted(shares.shares)}, prefer the second minimum; below {RARE:.0%} that is from d = "
        f"{float(f'{(RARE_QUANTILE * s / gap) ** 2:.2g}'):,.0f} on",
    )  # fmt: skip


def counted(shares: tuple[Share, ...]) -> str:
    """The number of experiments that prefer another basin, over all dimensions, beside the number predicted."""
    known = [(share.experiments, share.elsewhere, share.predicted) for share in shares if share.predicted is not None]
    expected = sum(n * p for n, _, p in known)
    spread = sqrt(sum(n * p * (1.0 - p) for n, _, p in known))
    found = round(sum(n * seen for n, seen, _ in known))
    return f"{expected:.0f} +- {spread:.0f} of {sum(n for n, _, _ in known)} should, and {found} do"


def tables(basins: Data) -> tuple[Table, ...]:
    """The shares of all models with several minima, and the energies of close ones by dimension."""
    lowest = basins.get("lowest", {})
    rows, close_tables = [], []
    for drawn in confined("lowest").values() if lowest else ():
        runs = lowest.get(drawn.name, {})
        shares = shares_of(drawn, runs) if len(runs) >= len(RUNS) else None
        if shares is None:
            continue
        rows.append(_shares_row(drawn, shares))
        if gap_of(drawn) < CLOSE:
            close_tables.append(_energies_table(drawn, both_streams(basins, drawn)))
    caption = (
        "Learned biases with several minima: the share of experiments whose energy is lower in the basin of another "
        "minimum than in that of the lowest, and in brackets what the theory's gap and the measured scatter predict"
    )
    columns = ("model: activation / target", "minima at", "gap", *(f"d = {d}" for d, _ in RUNS))
    return (Table(caption, columns, tuple(rows)), *close_tables) if rows else ()


def _shares_row(drawn: Drawn, shares: BasinShares) -> tuple[str, ...]:
    by_dimension = {share.dimension: share for share in shares.shares}
    ranked = minima_of(drawn).ranked
    cells = [
        f"{s.elsewhere:.0%} ({s.predicted:.0%})" if s.predicted is not None else f"{s.elsewhere:.0%}"
        for s in (by_dimension[d] for d, _ in RUNS)
    ]
    return (drawn.name.split(":")[0], ", ".join(f"{one.bias:.2f}" for one in ranked), f"{gap_of(drawn):.1%}", *cells)


def _energies_table(drawn: Drawn, runs: Mapping[str, Samples]) -> Table:
    observed, shares = energies(drawn, runs), shares_of(drawn, runs)
    assert shares is not None
    rows = []
    for k, share in enumerate(shares.shares):
        cells = []
        for name in ENERGIES:
            one = observed[name][k]
            found = estimate(one.samples)
            cells.append(f"{found.mean:.5f} +- {found.standard_error:.1g} ({one.theory:.5f})")
        predicted = "" if share.predicted is None else f" ({share.predicted:.0%})"
        rows.append((str(share.dimension), str(share.experiments), *cells, f"{share.elsewhere:.0%}{predicted}"))
    caption = (
        f"{drawn.name.split(':')[0]}: the training energy per neuron at the best bias in each basin, with the theory "
        "at the simulated ratios in brackets, and the share of experiments that prefer the second minimum"
    )
    return Table(caption, ("d", "seeds", *ENERGIES, "prefer the second"), tuple(rows))

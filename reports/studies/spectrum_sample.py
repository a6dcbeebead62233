"""Page: the spectrum of the features (Appendix F, Figure 8), density and outlier beside one large sample."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.spectrum.axis import Axis
from giantsteps.numerics.spectrum.density import Spectrum, equations_of, spectrum
from giantsteps.numerics.spectrum.edge_fluctuations import EdgeLaw, edge_law
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import FOLDER, Measured, own_model
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated

Array = NDArray[np.float64]

SLUG, SEED, DIMENSION = "spectrum_sample", 78, 2000
THREE = (ReadoutGroup(1.0, 0.4, 1.0, 0.5), ReadoutGroup(-0.6, 0.35, 1.3, -0.3), ReadoutGroup(0.3, 0.25, 0.8, 0.1))
NETWORK = Network("tanh", "tanh", 1.5, 0.8, 0.1, alpha0=1.0, eta=6.0, noise=0.2)
# A network beside the theory of its own rows; the others are spiked random features.
CASES: dict[str, Model | Network] = {
    "tanh, alpha = 1.5, beta = 1": Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    "erf, alpha = 0.5, beta = 0.8": Model("erf", "sin", 0.5, 0.8, 0.1, spike=1.0, bulk=1.2, alignment=0.8),
    "tanh, three biased groups": Model(
        "tanh", "sin", 1.5, 0.8, 0.1, spike=1.0, alignment=0.8, readout=THREE, bulk=1.0
    ),
    "tanh network": NETWORK,
}  # fmt: skip
# How many more networks there are, and where their eigenvalues are counted; one bin more is all above, which the tail
# of the label's square hardly reaches.
NETWORKS, ENDS = 8, tuple(k / 10.0 for k in range(41))
Sample = Mapping[str, Sequence[float]]


def counts_name(k: int) -> str:
    """The key of the counts of network k = 1, 2, ...: eigenvalues below the outlier by the bins of ENDS, then above."""
    return f"tanh network {k}, counts"


LARGEST = "tanh networks, largest"


@dataclass(frozen=True)
class Networks:
    """Several networks of one setting: their eigenvalues' counts (networks, bins + 1), and their outliers."""

    counts: Array
    outliers: Measured

    @property
    def shares(self) -> tuple[Measured, ...]:
        """Of every bin the density, counts over number and width: mean and standard error over the networks."""
        density = self.counts[:, :-1] / self.counts.sum(axis=1, keepdims=True) / np.diff(ENDS)
        return tuple(Measured.of(list(column)) for column in density.T)

    def distances_from(self, found: Spectrum) -> Array:
        """The largest distance between the distribution functions at the ends of the bins, for each network."""
        below = np.cumsum(self.counts, axis=1)[:, :-1] / self.counts.sum(axis=1, keepdims=True)
        distances: Array = np.max(np.abs(below - np.interp(ENDS[1:], found.x, found.cumulative)), axis=1)
        return distances


def networks_of(sample: Sample) -> Networks:
    """The networks that are stored."""
    counts = np.array([sample[counts_name(k)] for k in range(1, NETWORKS + 1)])
    return Networks(counts, Measured.of(sample[LARGEST]))


@dataclass(frozen=True)
class Row:
    """One sample beside the theory: positive eigenvalues of the bulk, and the outliers above it, decreasing."""

    name: str
    model: Model
    found: Spectrum
    bulk: tuple[float, ...]
    outliers: tuple[float, ...]
    networks: Networks | None = None  # further ones, of a network

    @property
    def samples(self) -> int:
        """n."""
        return round(self.model.alpha * DIMENSION)

    @property
    def features(self) -> int:
        """p."""
        return round(self.model.beta * DIMENSION)

    @property
    def predicted(self) -> float:
        """The largest outlier, n E[mu0^2] + its O(1) correction for one group, at the sample's n."""
        return self.found.outliers[0].at(self.samples)

    @property
    def leading(self) -> float:
        """Its leading term alone, equation (191)."""
        return self.found.outliers[0].slope * self.samples

    @property
    def fluctuation(self) -> float:
        """The standard deviation of sum (sum_a u_a sqrt(pi_a) mu0_a(kappa_i))^2 over its mean, kappa_i independent."""
        table = profile(self.model, 1)
        means = np.sqrt(np.array(self.model.fractions))[:, None] * table.mu0
        vector = np.linalg.eigh((means * table.weights) @ means.T)[1][:, -1]
        square = (vector @ means) ** 2
        mean = float(table.weights @ square)
        return float(np.sqrt((table.weights @ square**2 - mean**2) / self.samples)) / mean

    @property
    def distance(self) -> float:
        """The largest distance between the two distribution functions, atom at zero included."""
        return self.distance_from(self.found)

    def distance_from(self, found: Spectrum) -> float:
        """The same for another theory."""
        theory = np.interp(self.bulk, found.x, found.cumulative)
        rest = self.features - len(self.outliers)
        sample = (rest - len(self.bulk) + np.arange(1, len(self.bulk) + 1)) / rest
        return float(np.max(np.abs(theory - sample)))

    @property
    def paper(self) -> Spectrum:
        """The isotropic bulk of the same spike and variance."""
        own = self.model
        return spectrum(Model(own.activation, own.target, own.alpha, own.beta, own.ridge, spike=own.spike,
                              bulk=own.bulk, alignment=own.alignment))  # fmt: skip

    @cached_property
    def edge_laws(self) -> tuple[EdgeLaw | None, EdgeLaw | None]:
        """What the extreme eigenvalues are expected to be, lower and upper; None where no law is known.

        A network's edges fluctuate with its batch as well, and tails have no square root.
        """
        if self.model.network_step is not None:
            return None, None
        axis = Axis(equations_of(self.model))
        laws = []
        for edge, upper in ((self.found.edges[0][0], False), (self.found.edges[-1][1], True)):
            known = 0.0 < edge < math.inf
            law = edge_law(axis, edge, self.samples, self.features, upper=upper) if known else None
            laws.append(law if law is not None and law.square_root else None)
        return laws[0], laws[1]


def rows_of(sample: Sample) -> tuple[Row, ...]:
    """Every sample that is there with its theory."""
    rows = []
    for name, subject in ((name, one) for name, one in CASES.items() if name in sample):
        model = own_model(subject)
        values, found = sorted(sample[name]), spectrum(model)
        top, n = found.edges[-1][1], round(model.alpha * DIMENSION)
        count = sum(outlier.at(n) > top for outlier in found.outliers if math.isfinite(top)) or 1
        outliers = tuple(values[-count:][::-1])
        further = networks_of(sample) if isinstance(subject, Network) else None
        rows.append(Row(name, model, found, tuple(values[:-count]), outliers, further))
    return tuple(rows)


def study() -> Study | None:
    """The page."""
    path = FOLDER / f"{SLUG}.json"
    return page(rows_of(json.loads(path.read_text(encoding="utf-8")))) if path.is_file() else None


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows."""
    text = (
        f"Samples at d = {DIMENSION}: the eigenvalues of $\\Phi^T \\Phi/p$ beside the limiting density, its edges "
        "(solved for, not read off) and the outlier of the mean. Largest and smallest eigenvalue have a law of their "
        "own: Tracy and Widom's at the scale $d^{-2/3}$ about an edge that moves with the sample's $\\kappa$ by "
        "$d^{-1/2}$; $z$ counts its standard deviations. Where the density ends in a tail, and for a network, whose "
        "edges move with its batch, no law is given.",
    )
    most = max(row.distance for row in rows)
    statements = (
        Statement(
            'the spectrum "matches well with numerical simulations" (Figure 8, whose setting the sources do not print)',
            "Appendix F", most < 0.02,
            f"the distribution functions of sample and theory differ by {most:.4f} at most (seen: by less than 0.02)",
        ),
        *(one for row in rows for one in (several(row, row.networks) if row.networks else (_whole(row),))),
    )  # fmt: skip
    table = Table.of(
        f"Edges and outlier at d = {DIMENSION}, one sample each",
        "features | lower edge | smallest | z | upper edge | largest of bulk | z | outlier: leading term | corrected | "
        "sample",
        (
            f"{row.name} | {row.found.edges[0][0]:.5g} | {row.bulk[0]:.5g} | {_score(row.edge_laws[0], row.bulk[0])} | "
            f"{row.found.edges[-1][1]:.5g} | {row.bulk[-1]:.5g} | {_score(row.edge_laws[1], row.bulk[-1])} | "
            f"{row.leading:.2f} | {row.predicted:.2f} | {row.outliers[0]:.2f}"
            for row in rows
        ),
    )
    tables = (stated(statements), table)
    return Study(SLUG, "The spectrum of the features", text, tables, (_figure(rows),), command(SLUG))


def _score(law: EdgeLaw | None, value: float) -> str:
    return "" if law is None else f"{law.score(value):.2f}"


def _whole(row: Row) -> Statement:
    """Whether the density holds all of the bulk, and how far the sample's outlier scatters."""
    low, high = row.found.edges[0][0], row.found.edges[-1][1]
    outside = sum(not low <= x <= high for x in row.bulk)
    return Statement(
        f"{row.name}: the outlier is as predicted", "Appendix F",
        abs(row.predicted / row.outliers[0] - 1.0) < 3.0 * row.fluctuation,
        f"{row.outliers[0]:.1f}; the leading term says {row.leading:.1f}, with the correction of order one "
        f"{row.predicted:.1f}, {abs(row.predicted / row.outliers[0] - 1.0):.1%} away, where $\\mu_0^2$ summed over so "
        f"many samples fluctuates by {row.fluctuation:.1%} (seen: within three times that); the density integrates to "
        f"1 within {max(abs(row.found.mass - 1.0), 1e-15):.0e} (with the atom at zero, {row.found.atom_at_zero:.4g}), "
        f"the distribution functions differ by {row.distance:.4f}, {outside} of {len(row.bulk)} eigenvalues of the "
        "bulk are outside its edges",
    )  # fmt: skip


def several(row: Row, networks: Networks) -> tuple[Statement, ...]:
    """What the networks say of both theories and of the outlier, error bars beside."""
    own, paper = networks.distances_from(row.found), networks.distances_from(row.paper)
    off = networks.outliers.z(row.predicted)
    return (
        Statement(
            f"{row.name}: the spectrum is that of its own rows, not of isotropic ones", OURS,
            row.distance < row.distance_from(row.paper) and bool(np.all(paper > own)),
            f"the distribution function of one differs by {row.distance:.4f} from its own theory and by "
            f"{row.distance_from(row.paper):.4f} from the isotropic one, those of {NETWORKS} more by {np.min(own):.4f} "
            f"to {np.max(own):.4f} and {np.min(paper):.4f} to {np.max(paper):.4f}; isotropic rows would end at "
            f"{row.paper.edges[-1][1]:.3g}, the largest eigenvalue of the bulk is {row.bulk[-1]:.3g}",
        ),
        Statement(
            f"{row.name}: the outlier is where the limit's spike and bulk put it", OURS, abs(off) < 3.0,
            f"{row.outliers[0]:.1f} beside {row.predicted:.1f}; the mean of {NETWORKS} more, which their batches move "
            f"by $d^{{-1/2}}$, {networks.outliers}, {off:+.1f} standard errors away (seen: within three)",
        ),
    )  # fmt: skip


def _figure(rows: Sequence[Row]) -> draw.Figure:
    """Density over the histogram of the sample's bulk, the outlier named. The axes end below the peak at zero."""
    canvas, *all_axes = draw.panels(len(rows), ylabel="density")
    peaks = []
    for axes, row in zip(all_axes, rows, strict=True):
        counts, ends = np.histogram(row.bulk, bins=60)
        heights, label, outlier = counts / (row.features * np.diff(ends)), "sample", f"outlier {row.outliers[0]:.0f}"
        if row.networks is not None:
            shares, ends, label = row.networks.shares, np.array(ENDS), f"{NETWORKS} networks"
            heights, outlier = np.array([share.mean for share in shares]), f"outliers {row.networks.outliers}"
            axes.errorbar(
                (ends[1:] + ends[:-1]) / 2.0, heights, yerr=[share.error for share in shares], color=draw.DARK,
                marker=".", ms=2.5, lw=0, elinewidth=0.9, capsize=1.5, label="_networks",
            )  # fmt: skip
        axes.stairs(heights, ends, fill=True, color="#CCCCCC", label=label)
        draw.line(axes, row.found.x, row.found.density, 0, "theory")
        axes.set(
            xlabel=r"eigenvalue of $\Phi^\top\Phi/p$", ylim=(0.0, 1.4 * np.quantile(heights, 0.9)),
            xlim=(0.0, 1.05 * max(row.bulk[-1], min(row.found.edges[-1][1], 1.1 * row.bulk[-1]))),
        )  # fmt: skip
        axes.set_title(row.name, fontsize=9)
        peaks.append(float(np.max(row.found.density)) if np.max(row.found.density) > axes.get_ylim()[1] else 0.0)
        words = f"{outlier}\npredicted {row.predicted:.0f}"
        axes.text(0.97, 0.62, words, transform=axes.transAxes, ha="right", fontsize=8.5)
        if row.networks is not None:
            draw.line(axes, row.paper.x, row.paper.density, 1, "isotropic rows", lw=1.2)
        draw.legend(axes)
    cut = ", ".join(f"{peak:.2g} ({row.name})" for peak, row in zip(peaks, rows, strict=True) if peak)
    caption = (
        f"Lines: limiting density. Histograms: one sample at d = {DIMENSION} without its outliers; for networks the "
        f"mean of {NETWORKS} with one standard error. The text gives the largest outlier and its prediction."
        + (f" The vertical axes are cut: near zero the density peaks at {cut}." if cut else "")
    )
    return draw.finished(canvas, SLUG, "Spectrum of the features", caption)

"""Page: the spectrum of the features (Appendix F, Figure 8), density and outlier beside one large sample."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from derivations.activation import activation
from numerics.model import Model
from numerics.profile import profile
from numerics.spectrum import Spectrum, spectrum
from reports.figures import Figure
from reports.studies.drawing import STYLES, finished, legend, panels
from reports.studies.experiments import FOLDER
from reports.studies.study import Study, Table

Array = NDArray[np.float64]

SLUG, SEED, DIMENSION = "spectrum_sample", 78, 2000
CASES: tuple[tuple[str, Model], ...] = (
    (
        "tanh, alpha = 1.5, beta = 1",
        Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8),
    ),
    (
        "erf, alpha = 0.5, beta = 0.8",
        Model(activation("erf"), activation("sin"), 0.5, 0.8, 0.1, spike=1.0, bulk=1.2, alignment=0.8),
    ),
)
Sample = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Row:
    """One sample beside the theory: positive eigenvalues, without the outlier and with it."""

    name: str
    model: Model
    found: Spectrum
    bulk: tuple[float, ...]
    outlier: float
    features: int

    @property
    def predicted(self) -> float:
        """The outlier n E[mu0^2] + its O(1) correction, at the sample's n."""
        return self.found.outliers[0].at(round(self.model.alpha * DIMENSION))

    @property
    def leading(self) -> float:
        """Its leading term alone, equation (191)."""
        return self.found.outliers[0].slope * round(self.model.alpha * DIMENSION)

    @property
    def fluctuation(self) -> float:
        """The standard deviation of sum mu0(kappa_i)^2 over its mean, kappa_i independent."""
        table = profile(self.model, 1)
        square = table.mu0[0] ** 2
        mean = float(table.weights @ square)
        return float(np.sqrt((table.weights @ square**2 - mean**2) / round(self.model.alpha * DIMENSION))) / mean

    @property
    def distance(self) -> float:
        """The largest distance between the two distribution functions, atom at zero included."""
        theory = self._distribution(np.array(self.bulk))
        zeros = self.features - 1 - len(self.bulk)
        sample = (zeros + np.arange(1, len(self.bulk) + 1)) / (self.features - 1)
        return float(np.max(np.abs(theory - sample)))

    def _distribution(self, x: Array) -> Array:
        density, places = self.found.density, self.found.x
        steps = 0.5 * (density[1:] + density[:-1]) * np.diff(places)
        inside = np.array(
            [any(low <= m <= high for low, high in self.found.edges) for m in 0.5 * (places[1:] + places[:-1])]
        )
        whole = np.concatenate([[0.0], np.cumsum(np.where(inside, steps, 0.0))])
        return np.asarray(self.found.atom_at_zero + np.interp(x, places, whole))


def rows_of(sample: Sample) -> tuple[Row, ...]:
    """Every sample with its theory."""
    rows = []
    for name, model in CASES:
        values = sorted(sample[name])
        rows.append(Row(name, model, spectrum(model), tuple(values[:-1]), values[-1], round(model.beta * DIMENSION)))
    return tuple(rows)


def study() -> Study | None:
    """The page."""
    path = FOLDER / f"{SLUG}.json"
    if not path.is_file():
        return None
    rows = rows_of(json.loads(path.read_text(encoding="utf-8")))
    return replace(page(rows), figures=(drawn(rows),))


def page(rows: Sequence[Row]) -> Study:
    """The page from its rows: every number in the text is computed from them."""
    text = (
        f"One sample of spiked random features at d = {DIMENSION}: the eigenvalues of $\\Phi^T \\Phi/p$ beside the "
        "limiting "
        "density, its edges (solved for, not read off) and the outlier of the mean.",
        " ".join(_sentence(row) for row in rows),
    )
    table = Table(
        f"Edges and outlier at d = {DIMENSION}, one sample",
        (
            "features",
            "lower edge",
            "smallest",
            "upper edge",
            "largest of bulk",
            "outlier: n E[mu0^2]",
            "corrected",
            "sample",
        ),
        tuple(
            (
                row.name,
                f"{row.found.edges[0][0]:.5g}",
                f"{row.bulk[0]:.5g}",
                f"{row.found.edges[-1][1]:.5g}",
                f"{row.bulk[-1]:.5g}",
                f"{row.leading:.2f}",
                f"{row.predicted:.2f}",
                f"{row.outlier:.2f}",
            )
            for row in rows
        ),
    )
    return Study(
        "spectrum-sample", "The spectrum of the features", text, (table,), (), f"python -m benchmarks.{SLUG} simulate"
    )


def _sentence(row: Row) -> str:
    low, high = row.found.edges[0][0], row.found.edges[-1][1]
    outside = sum(not low <= x <= high for x in row.bulk)
    return (
        f"{row.name}: the density integrates to 1 within {max(abs(row.found.mass - 1.0), 1e-15):.0e} (with the "
        "atom at zero, "
        f"{row.found.atom_at_zero:.4g}); the distribution functions of sample and theory differ by at most "
        f"{row.distance:.4f}; {outside} of {len(row.bulk)} eigenvalues of the bulk are outside its edges. The largest "
        f"eigenvalue is {row.outlier:.1f}; its leading term says {row.leading:.1f}, with the correction of order one "
        f"{row.predicted:.1f}, {abs(row.predicted / row.outlier - 1.0):.1%} away; $\\mu_0^2$ "
        f"summed over so many samples alone fluctuates by {row.fluctuation:.1%}."
    )


def drawn(rows: Sequence[Row]) -> Figure:
    """Density over the histogram of the sample's bulk, the outlier named."""
    canvas, all_axes = panels(len(rows), width=10.0)
    for axes, row in zip(all_axes, rows, strict=True):
        heights, ends = np.histogram(row.bulk, bins=60)
        axes.stairs(heights / (row.features * np.diff(ends)), ends, fill=True, color="#CCCCCC", label="sample")
        axes.plot(row.found.x, row.found.density, color=STYLES[0][0], lw=1.7, label="theory")
        top = float(np.quantile(heights / (row.features * np.diff(ends)), 0.98))
        axes.set(
            xlabel=r"eigenvalue of $\Phi^\top\Phi/p$", title=row.name, ylim=(0.0, 1.6 * top),
            xlim=(0.0, 1.05 * max(row.bulk[-1], min(row.found.edges[-1][1], 2.0 * row.bulk[-1]))),
        )  # fmt: skip
        axes.text(
            0.97, 0.62, f"outlier {row.outlier:.0f}\npredicted {row.predicted:.0f}", transform=axes.transAxes,
            ha="right", fontsize=8.5,
        )  # fmt: skip
        legend(axes)
    all_axes[0].set_ylabel("density")
    title = "Spectrum of the features"
    caption = (
        f"Lines: the limiting density. Histograms: one sample of spiked random features at d = {DIMENSION} without its "
        "largest eigenvalue, which is named beside its prediction."
    )
    return finished(canvas, SLUG, title, caption, f"python -m benchmarks.{SLUG}")

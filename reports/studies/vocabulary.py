"""Page: readouts that start from a vocabulary (Figure 6 of the paper), test error against alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from giantsteps.numerics.bounds.ridge import lower_bound
from giantsteps.numerics.bulk.orthogonal import orthogonal
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.orthogonal import simulated_test_errors
from giantsteps.numerics.experiments.ridge import at_sizes, predicted
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.letters.density import few_letters, solve_letters
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, Measurement
from giantsteps.reports.measurements.study import OURS, Statement, Study, Table, command, stated
from giantsteps.verify.checks.finite_size import Comparison, Observation, compare_all

SLUG = "vocabulary"
# The paper's conditions for Appendix D: perfect alignment and width d.
BASE = Model("tanh", "sin(2*z)", alpha=1.0, beta=1.0, ridge=0.1, spike=1.5, bulk=1.0, alignment=1.0)
VOCABULARIES: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("{1}", (1.0,)),
    ("{0, 1}", (0.0, 1.0)),
    ("{1, 2}", (1.0, 2.0)),
    ("{1/2, 3/2}", (0.5, 1.5)),
    ("{1/2, 1, 2}", (0.5, 1.0, 2.0)),
)
LAW, LESS_ALIGNED = ReadoutLaw("uniform", 1.7), 0.8
ALPHAS = (0.5, 1.0, 2.0, 4.0)
DIMENSIONS, SEEDS = (150, 300, 600), 48
SHOWN = 300  # the dimension whose simulations are drawn
# What is observed of either kind of rows, by how the names of its experiments begin.
OBSERVED = {"": ("test_error", "training_error"), "orthogonal ": ("test_error",)}


def with_vocabulary(letters: Sequence[float], alpha: float) -> Model:
    """Letters in equal fractions."""
    groups = tuple(ReadoutGroup(letter, 1.0 / len(letters)) for letter in letters)
    return replace(BASE, alpha=alpha, readout=groups)


def name_of(vocabulary: str, alpha: float, dimension: int) -> str:
    """The key of one experiment."""
    return f"{vocabulary}, alpha {alpha:g}, d {dimension}"


@dataclass(frozen=True)
class OrthogonalExperiment(Experiment):
    """The same with orthogonal rows, the paper's special case."""

    def run(self, seed: int) -> dict[str, list[float]]:
        """The samples, to seven digits."""
        assert isinstance(self.subject, Model)
        found = simulated_test_errors(self.subject, self.dimension, self.seeds, seed + self.stream)
        return {"test_error": [float(f"{x:.7g}") for x in found]}


EXPERIMENTS = tuple(
    kind(
        rows + name_of(vocabulary, alpha, dimension), with_vocabulary(letters, alpha), dimension, seeds,
        observables=OBSERVED[rows], stream=100 * k + j,
    )
    for kind, rows, seeds in ((Experiment, "", SEEDS), (OrthogonalExperiment, "orthogonal ", SEEDS // 2))
    for k, (vocabulary, letters) in enumerate(VOCABULARIES)
    for j, alpha in enumerate(ALPHAS)
    for dimension in DIMENSIONS
)  # fmt: skip


@cache
def theory(letters: tuple[float, ...], alpha: float, rows: str = "", dimension: int = 0) -> dict[str, float]:
    """What the theory predicts, with orthogonal rows by equation (159), in the limit; or at the ratios and fractions
    that a dimension rounds to, the cost of the means at its width kept."""
    model = with_vocabulary(letters, alpha)
    if dimension:
        sizes = Sizes.of(model, dimension)
        at = at_sizes(model, sizes)
        assert isinstance(at, Model)
        if not rows:
            return predicted(solve(at), sizes)
        bulk = partial(orthogonal, at)
        return {"test_error": at_width(solve(at, bulk=bulk), sizes.p, bulk).test_error}
    if rows:
        return {"test_error": solve(model, bulk=partial(orthogonal, model)).test_error}
    return predicted(solve(model))


@dataclass(frozen=True)
class Point:
    """One vocabulary at one alpha and kind of rows: the theory at infinite d, the comparisons of the observables with
    the simulations, and at the shown dimension and width the measurement and the theory."""

    vocabulary: str
    alpha: float
    theory: float
    comparisons: dict[str, Comparison]
    shown: Measured
    expected: float

    @property
    def refuted(self) -> bool:
        """Whether any observable is."""
        return any(c.verdict == "REFUTED" for c in self.comparisons.values())


def judged(data: Data, rows: str = "") -> list[Point]:
    """Every simulated point against the theory at its own sizes, extrapolated in 1/d."""
    found = []
    for vocabulary, letters in VOCABULARIES:
        for alpha in ALPHAS:
            limit = theory(letters, alpha, rows)
            limits = {name: limit[name] for name in OBSERVED[rows]}
            samples = {d: data[rows + name_of(vocabulary, alpha, d)] for d in DIMENSIONS}
            observed = {
                name: [
                    Observation(d, tuple(samples[d][name]), theory(letters, alpha, rows, d)[name]) for d in DIMENSIONS
                ]
                for name in limits
            }
            report = compare_all(observed, limits=limits, scales=limits, required=("test_error",))
            at = theory(letters, alpha, rows, SHOWN)["test_error"]
            by_name = {comparison.observable: comparison for comparison in report.comparisons}
            shown = Measured.of(samples[SHOWN]["test_error"])
            found.append(Point(vocabulary, alpha, limit["test_error"], by_name, shown, at))
    return found


def page(data: Data) -> Study:
    """The page from the samples."""
    found, special = judged(data), judged(data, "orthogonal ")
    sign = solve(with_vocabulary((-1.0, 1.0), 1.0)).test_error - solve(with_vocabulary((1.0,), 1.0)).test_error
    text = (
        "Section 4.4 of the paper says that more variability of the initial readout means better feature learning: "
        "each letter u of its vocabulary brings two functions along the spike, $\\mu_0(u\\kappa)$ and "
        "$\\kappa\\mu_1(u\\kappa)$. Its Figure 6 is about the special case of an orthogonal bulk, equation (159). "
        "Here the bulk is isotropic, at the paper's alignment 1 and beta = 1, and the theory has no traces of large "
        "matrices left; the special case stands beside it. For an odd student u and -u are one letter: {-1, 1} and {1} "
        f"differ by {abs(sign):.1g} in test error. Simulations at d = {min(DIMENSIONS)} to {max(DIMENSIONS)} are "
        "compared with the theory at their own sizes and extrapolated to infinite d.",
        f"A density of letters (uniform on [-{LAW.scale:g}, {LAW.scale:g}], alpha = 1) is the limit of many groups. "
        "Its functions span all that their parity allows, so that the means reproduce the mean of the target along the "
        "spike and cost nothing. At finite width the network is far from that.",
    )
    statements = (*_richness(found), _stands(found, "the theory of isotropic rows", OURS), _late(found),
                  _stands(special, "the theory of orthogonal rows, equation (159)", "Appendix D"),
                  _ordinary(found, special), *_density())  # fmt: skip
    title = "Readouts that start from a vocabulary (Figure 6)"
    return Study(SLUG, title, text, (stated(statements), _table(found)), (_figure(found, special),), command(SLUG))


def _density() -> tuple[Statement, ...]:
    """What many letters tend to, at full alignment and below, and how far a network is from it."""
    whole, less = (
        solve_letters(replace(BASE, alignment=gamma, readout=LAW)) for gamma in (BASE.alignment, LESS_ALIGNED)
    )
    few = ", ".join(f"{solution.test_error:.2g}" for solution in few_letters(whole.model))
    wide = " and ".join(f"{whole.at_width(width).test_error:.3g} at {width} neurons" for width in (300, 3000))
    return (
        Statement(
            f"a density of letters learns perfectly at alignment {BASE.alignment:g}", OURS,
            abs(whole.test_error) <= whole.error_estimate,
            f"{whole.test_error:.0e}, known to {whole.error_estimate:.0e}; Gauss rules with 1, 2, ... positive letters "
            f"have {few}; networks of the density {wide}",
        ),
        Statement(
            f"and at {LESS_ALIGNED:g}", OURS, abs(less.test_error) <= less.error_estimate, f"{less.test_error:.4g}"
        ),
    )  # fmt: skip


def _richness(found: Sequence[Point]) -> list[Statement]:
    """Whether a richer vocabulary does better than one letter, at the largest alpha simulated; and its bound."""
    alpha = max(ALPHAS)
    errors = {p.vocabulary: p.theory for p in found if p.alpha == alpha}
    bounds = {name: lower_bound(with_vocabulary(letters, alpha)) for name, letters in VOCABULARIES}
    (uniform, least), *others = errors.items()
    return [
        Statement(
            f"{name} is better than {uniform}", "Section 4.4", error < least,
            f"{error:.4f} beside {least:.4f} at alpha = {alpha:g}; no ridge is below {bounds[name]:.4f} and "
            f"{bounds[uniform]:.4f}",
        )
        for name, error in others
    ]  # fmt: skip


def _stands(points: Sequence[Point], theory: str, source: str) -> Statement:
    """A theory beside its own simulations."""
    z = [abs(c.z) for p in points for c in p.comparisons.values() if c.z is not None]
    refuted = sum(p.refuted for p in points)
    return Statement(
        f"simulations agree with {theory}", source, refuted == 0,
        f"{refuted} of {len(points)} points refuted; of {len(z)} deviates {sum(one > 2.0 for one in z)} are beyond two "
        f"standard errors, the largest is {max(z):.1f}",
    )  # fmt: skip


def _ordinary(found: Sequence[Point], special: Sequence[Point]) -> Statement:
    ratios = [own.theory / p.theory for own, p in zip(special, found, strict=True)]
    return Statement(
        "orthogonal rows stand for random ones at beta = 1", OURS, max(abs(ratio - 1.0) for ratio in ratios) < 0.05,
        f"their test errors are {min(ratios):.2f} to {max(ratios):.2f} times those of isotropic rows (seen: within 5 "
        "per cent)",
    )  # fmt: skip


def _late(found: Sequence[Point]) -> Statement:
    """How far finite width is from the limit where the functions are nearly collinear."""
    far = max(found, key=lambda p: p.expected / p.theory)
    return Statement(
        "nearly collinear letters reach the limit late: the readout pays for large means of opposite signs", OURS,
        far.expected > 1.5 * far.theory,
        f"{far.vocabulary} at alpha = {far.alpha:g} tends to {far.theory:.4f}; at d = {SHOWN} the theory is "
        f"{far.expected:.4f} and the simulation {far.shown} (seen: by more than a half)",
    )  # fmt: skip


def _table(found: Sequence[Point]) -> Table:
    rows = []
    for p in found:
        test = p.comparisons["test_error"]
        z = "-" if test.z is None else f"{test.z:+.1f}"
        extrapolated = "-" if test.extrapolated is None else f"{test.extrapolated:.4f}"
        rows.append(
            f"{p.vocabulary} | {p.alpha:g} | {p.theory:.5f} | {extrapolated} | {z} | {p.expected:.5f} | {p.shown} | "
            f"{test.verdict}"
        )
    return Table.of(
        f"Test errors by vocabulary, letters in equal parts; the last columns are at d = {SHOWN}, the term of order "
        "1/p kept in the theory",
        "vocabulary | alpha | theory | simulation, d -> infinity | z | theory at d | simulation at d | verdict",
        rows,
    )


def _figure(found: Sequence[Point], special: Sequence[Point]) -> draw.Figure:
    """Test error against alpha, rows isotropic or orthogonal: lines for infinite d, and for the simulations' width."""
    canvas, *both = draw.panels(2, size=(9.2, 4.0), share_y=True)
    alphas = [float(a) for a in np.geomspace(0.25, 8.0, 13)]
    for axes, rows, judgements in zip(both, OBSERVED, (found, special), strict=True):
        for style, (vocabulary, letters) in enumerate(VOCABULARIES):
            name = f"_theory, {vocabulary}"
            limit, shown = ([theory(letters, a, rows, d)["test_error"] for a in alphas] for d in (0, SHOWN))
            draw.line(axes, alphas, limit, style, f"{name}, infinite d", lw=1.1, alpha=0.65)
            draw.line(axes, alphas, shown, style, f"{name}, d = {SHOWN}", lw=1.9)
            own = [p for p in judgements if p.vocabulary == vocabulary]
            draw.points(axes, [p.alpha for p in own], [p.shown for p in own], style, vocabulary)
        axes.set(xscale="log", yscale="log", xlabel=r"samples per dimension $\alpha = n/d$", ylabel="test error")
        axes.set_title("orthogonal rows, equation (159)" if rows else "isotropic rows", fontsize=9)
        draw.ticks(axes, (0.25, 0.5, 1.0, 2.0, 4.0, 8.0))
        axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.4], ["0.02", "0.05", "0.1", "0.2", "0.4"])
        axes.minorticks_off()
    both[0].set_ylim(top=1.1)  # the legend above all lines
    draw.legend(both[1], ncols=2, loc="upper right")
    caption = (
        "tanh student, target sin(2z), alignment 1, beta = 1, ridge 0.1, spike 1.5, all bulk variances 1. Points: "
        f"spiked random features at d = {SHOWN}, {SEEDS} seeds ({SEEDS // 2} of orthogonal rows), one standard error. "
        "Thick lines: theory at that width. Thin lines: infinite width. The sources print neither the functions nor "
        "the numbers of their Figure 6. No network has orthogonal rows after a step."
    )
    title = "Test error against samples, by vocabulary of the initial readout"
    return draw.finished(canvas, SLUG, title, caption)


STUDY = Measurement(SLUG, 86, EXPERIMENTS, page)

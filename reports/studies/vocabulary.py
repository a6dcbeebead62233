"""Page: readouts that start from a vocabulary (Figure 6 of the paper), test error against alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import lower_bound
from giantsteps.numerics.bulk.orthogonal import orthogonal
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.orthogonal import simulated_test_errors
from giantsteps.numerics.experiments.ridge import at_sizes, predicted
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.letters.density import few_letters, solve_letters
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.figures import Figure
from giantsteps.reports.measurements.drawing import STYLES, finished, legend, panels, points
from giantsteps.reports.measurements.experiments import Data, Experiment, Measured, complete, stored
from giantsteps.reports.measurements.study import Study, Table, command
from giantsteps.verify.checks.finite_size import Comparison, Observation, compare_all

SLUG, SEED = "vocabulary", 86
# The paper's conditions for Appendix D: perfect alignment and width d.
BASE = Model(
    activation("tanh"), activation("sin(2*z)"), alpha=1.0, beta=1.0, ridge=0.1, spike=1.5, bulk=1.0, alignment=1.0
)
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


ISOTROPIC = tuple(
    Experiment(
        name_of(vocabulary, alpha, dimension),
        with_vocabulary(letters, alpha),
        dimension,
        SEEDS,
        observables=("test_error", "training_error"),
        stream=100 * k + j,
    )
    for k, (vocabulary, letters) in enumerate(VOCABULARIES)
    for j, alpha in enumerate(ALPHAS)
    for dimension in DIMENSIONS
)


ORTHOGONAL = tuple(
    OrthogonalExperiment(
        "orthogonal " + name_of(vocabulary, alpha, dimension),
        with_vocabulary(letters, alpha),
        dimension,
        SEEDS // 2,
        stream=100 * k + j,
    )
    for k, (vocabulary, letters) in enumerate(VOCABULARIES)
    for j, alpha in enumerate(ALPHAS)
    for dimension in DIMENSIONS
)
EXPERIMENTS = (*ISOTROPIC, *ORTHOGONAL)


@dataclass(frozen=True)
class Point:
    """One vocabulary at one alpha: theory at infinite d, and both observables' comparison with the simulations."""

    vocabulary: str
    alpha: float
    theory: float
    comparisons: dict[str, Comparison]
    shown: Measured
    expected: float  # the theory at the shown dimension and width
    orthogonal: Comparison  # test error with orthogonal rows, against equation (159)
    orthogonal_theory: float
    orthogonal_shown: Measured


def judged(data: Data) -> tuple[Point, ...]:
    """Every simulated point against the theory at its own sizes, extrapolated in 1/d."""
    found = []
    for vocabulary, letters in VOCABULARIES:
        for alpha in ALPHAS:
            limit = predicted(solve(with_vocabulary(letters, alpha)))
            theories = {d: _at(letters, alpha, d) for d in DIMENSIONS}
            samples = {d: data[name_of(vocabulary, alpha, d)] for d in DIMENSIONS}
            names = ("test_error", "training_error")
            report = compare_all(
                {
                    name: [Observation(d, tuple(samples[d][name]), theories[d][name]) for d in DIMENSIONS]
                    for name in names
                },
                limits={name: limit[name] for name in names},
                scales={name: limit[name] for name in names},
                required=("test_error",),
            )
            by_name = {comparison.observable: comparison for comparison in report.comparisons}
            shown = Measured.of(samples[SHOWN]["test_error"])
            special = [orthogonal_theory(letters, alpha, d) for d in (0, *DIMENSIONS)]
            prefix = "orthogonal "
            observed = [
                Observation(d, tuple(data[prefix + name_of(vocabulary, alpha, d)]["test_error"]), theory)
                for d, theory in zip(DIMENSIONS, special[1:], strict=True)
            ]
            (compared,) = compare_all({"test_error": observed}, limits={"test_error": special[0]}).comparisons
            found.append(
                Point(
                    vocabulary, alpha, limit["test_error"], by_name, shown, theories[SHOWN]["test_error"], compared,
                    special[0], Measured.of(data[f"{prefix}{name_of(vocabulary, alpha, SHOWN)}"]["test_error"]),
                )
            )  # fmt: skip
    return tuple(found)


@cache
def _at(letters: tuple[float, ...], alpha: float, dimension: int) -> dict[str, float]:
    """The theory at the ratios and fractions that a dimension rounds to, the cost of the means at its width kept."""
    model = with_vocabulary(letters, alpha)
    sizes = Sizes.rounded(dimension, alpha=alpha, beta=model.beta, fractions=model.fractions)
    at = at_sizes(model, sizes)
    assert isinstance(at, Model)
    return predicted(solve(at), sizes)


@cache
def orthogonal_theory(letters: tuple[float, ...], alpha: float, dimension: int = 0) -> float:
    """The test error with orthogonal rows, equation (159); at the sizes of a dimension where one is given."""
    model = with_vocabulary(letters, alpha)
    if dimension == 0:
        return solve(model, bulk=partial(orthogonal, model)).test_error
    sizes = Sizes.rounded(dimension, alpha=alpha, beta=model.beta, fractions=model.fractions)
    at = at_sizes(model, sizes)
    assert isinstance(at, Model)
    bulk = partial(orthogonal, at)
    return at_width(solve(at, bulk=bulk), sizes.p, bulk).test_error


def study() -> Study | None:
    """The page."""
    data = stored(SLUG)
    return page(data) if complete(data, EXPERIMENTS) else None


def page(data: Data) -> Study:
    """The page from the samples; every number in it is computed."""
    found = judged(data)
    z = np.array([abs(c.z) for p in found for c in p.comparisons.values() if c.z is not None])
    refuted = [p for p in found if any(c.verdict == "REFUTED" for c in p.comparisons.values())]
    sign = solve(with_vocabulary((-1.0, 1.0), 1.0)).test_error - solve(with_vocabulary((1.0,), 1.0)).test_error
    density, less_aligned = (
        solve_letters(replace(BASE, alpha=1.0, alignment=gamma, readout=LAW))
        for gamma in (BASE.alignment, LESS_ALIGNED)
    )
    text = (
        "Section 4.4 of the paper says that more variability of the initial readout means better feature learning: "
        "each letter u of its vocabulary brings two functions along the spike, $\\mu_0(u\\kappa)$ and "
        "$\\kappa\\mu_1(u\\kappa)$. Its Figure 6 is about the special case of an orthogonal bulk, equation (159). "
        "Here the bulk is isotropic, at the paper's alignment 1 and beta = 1, and the theory has no traces of large "
        "matrices left.",
        _richness(found),
        f"For an odd student u and -u are one letter: {{-1, 1}} and {{1}} differ by {abs(sign):.1g} in test error. The "
        "generic dimension 2k of the paper's functional basis counts them twice.",
        f"Simulations at d = {min(DIMENSIONS)} to {max(DIMENSIONS)} against the theory at their own sizes, "
        f"extrapolated to infinite d: {len(z)} deviates of test and training errors, {int(np.sum(z > 2.0))} beyond two "
        f"standard errors and the largest {z.max():.1f}; {len(refuted)} of {len(found)} points refuted. "
        + _slow(found),
        _special(found),
        f"A density of letters (uniform on [-{LAW.scale:g}, {LAW.scale:g}], alpha = 1) is the limit of many groups: "
        "the test error of Gauss rules with 1, 2, ... positive letters is "
        + ", ".join(f"{solution.test_error:.2g}" for solution in few_letters(density.model))
        + ". The functions of a density span all that their parity allows, so that the means reproduce the mean of the "
        f"target along the spike and cost nothing: the limit itself is {_rounded(density)} at alignment "
        f"{BASE.alignment:g} and {_rounded(less_aligned)} at {LESS_ALIGNED:g}. At finite width, and alignment "
        f"{BASE.alignment:g}, the network is far from that: "
        + " and ".join(f"{density.at_width(width).test_error:.3g} at {width} neurons" for width in (300, 3000))
        + ".",
    )
    return Study(
        SLUG,
        "Readouts that start from a vocabulary (Figure 6)",
        text,
        (_table(found),),
        (drawn(found),),
        command(SLUG, "simulate"),
    )


def _rounded(density: Solution) -> str:
    """The limit's test error; zero where it is within its own error estimate of it."""
    error = density.test_error
    return "zero" if abs(error) <= density.error_estimate else f"{error:.4g}"


def _richness(found: Sequence[Point]) -> str:
    """Whether a richer vocabulary did better, at the largest alpha of the simulations."""
    alpha = max(ALPHAS)
    errors = {p.vocabulary: p.theory for p in found if p.alpha == alpha}
    bounds = {name: lower_bound(with_vocabulary(letters, alpha)) for name, letters in VOCABULARIES}
    uniform = VOCABULARIES[0][0]
    worse = [name for name in errors if name != uniform and errors[name] > errors[uniform]]
    better = [name for name in errors if errors[name] < errors[uniform]]
    sentence = (
        f"At alpha = {alpha:g} the uniform readout has test error {errors[uniform]:.4f} and no ridge gets it below "
        f"{bounds[uniform]:.4f}; the others, bounds in brackets: "
        + "; ".join(f"{name} has {errors[name]:.4f} ({bounds[name]:.4f})" for name in better)
        + "."
    )
    if worse:
        sentence += (
            " But not every vocabulary helps: "
            + "; ".join(f"{name} has {errors[name]:.4f}, and a bound of {bounds[name]:.4f}" for name in worse)
            + ". Neurons that stay at their initial weights bring the function $\\kappa$ and take the others' place: "
            "the richer basis lowers the bound, not the error."
        )
    return sentence


def _special(found: Sequence[Point]) -> str:
    """The paper's special case beside its own simulations, and beside the isotropic bulk."""
    z = np.array([abs(p.orthogonal.z) for p in found if p.orthogonal.z is not None])
    refuted = sum(p.orthogonal.verdict == "REFUTED" for p in found)
    ratios = [p.orthogonal_theory / p.theory for p in found]
    apart = max(abs(ratio - 1.0) for ratio in ratios)
    conclusion = (
        "at beta = 1 orthogonal rows do not stand for random ones."
        if apart > 0.05
        else "at beta = 1 orthogonal rows stand for random ones."
    )
    return (
        "The special case itself, orthogonal rows, was simulated as well. The paper reports good agreement with "
        f"equation (159): {'not seen' if refuted else 'seen'}, {refuted} of {len(z)} test errors are refuted and the "
        f"largest deviate is {z.max():.1f}. Its test errors are {min(ratios):.2f} to {max(ratios):.2f} times those of "
        "the isotropic bulk: " + conclusion
    )


def _slow(found: Sequence[Point]) -> str:
    """How far finite width is from the limit where the functions are nearly collinear."""
    far = max(found, key=lambda p: p.expected / p.theory)
    return (
        f"The limit is reached late where letters are nearly collinear: {far.vocabulary} at alpha = {far.alpha:g} "
        f"tends to {far.theory:.4f}, and at d = {SHOWN} theory ({far.expected:.4f}) and simulation ({far.shown}) are "
        f"both about {far.expected / far.theory:.0f} times that, because the readout pays for large means "
        "of opposite signs."
    )


def _table(found: Sequence[Point]) -> Table:
    rows = []
    for p in found:
        test = p.comparisons["test_error"]
        extrapolated = "-" if test.extrapolated is None else f"{test.extrapolated:.4f}"
        rows.append(
            (
                p.vocabulary, f"{p.alpha:g}", f"{p.theory:.5f}", extrapolated,
                "-" if test.z is None else f"{test.z:+.1f}", f"{p.expected:.5f}", str(p.shown), test.verdict,
            )
        )  # fmt: skip
    return Table(
        f"Test errors by vocabulary, letters in equal parts; the last columns are at d = {SHOWN}, the term of order "
        "1/p kept in the theory",
        (
            "vocabulary",
            "alpha",
            "theory",
            "simulation, d -> infinity",
            "z",
            "theory at d",
            "simulation at d",
            "verdict",
        ),
        tuple(rows),
    )


def drawn(found: Sequence[Point]) -> Figure:
    """Test error against alpha, rows isotropic or orthogonal: lines for infinite d, and for the simulations' width."""
    canvas, both = panels(2, share_y=True)
    alphas = [float(a) for a in np.geomspace(0.25, 8.0, 13)]
    for style, (vocabulary, letters) in enumerate(VOCABULARIES):
        colour, _, dash = STYLES[style]
        own = [p for p in found if p.vocabulary == vocabulary]
        limits = (
            [solve(with_vocabulary(letters, alpha)).test_error for alpha in alphas],
            [orthogonal_theory(letters, alpha) for alpha in alphas],
        )
        finite = (
            [_at(letters, alpha, SHOWN)["test_error"] for alpha in alphas],
            [orthogonal_theory(letters, alpha, SHOWN) for alpha in alphas],
        )
        measured = ([p.shown for p in own], [p.orthogonal_shown for p in own])
        for axes, limit, shown, simulated in zip(both, limits, finite, measured, strict=True):
            name = f"theory, {vocabulary}"
            axes.plot(alphas, limit, color=colour, linestyle=dash, lw=1.1, alpha=0.65, label=f"_{name}, infinite d")
            axes.plot(alphas, shown, color=colour, linestyle=dash, lw=1.9, label=f"_{name}, d = {SHOWN}")
            points(axes, [p.alpha for p in own], simulated, style, vocabulary)
    for axes, title in zip(both, ("isotropic rows", "orthogonal rows, equation (159)"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel=r"samples per dimension $\alpha = n/d$", ylabel="test error")
        axes.set_title(title, fontsize=9)
        axes.set_xticks([0.25, 0.5, 1.0, 2.0, 4.0, 8.0], ["0.25", "0.5", "1", "2", "4", "8"])
        axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.4], ["0.02", "0.05", "0.1", "0.2", "0.4"])
        axes.minorticks_off()
    both[0].set_ylim(top=1.1)  # the legend above all lines
    legend(both[1], ncols=2, loc="upper right")
    return finished(
        canvas, SLUG, "Test error against samples, by vocabulary of the initial readout",
        "tanh student, target sin(2z), alignment 1, beta = 1, ridge 0.1, spike 1.5, all bulk variances 1. Points: "
        f"spiked random features at d = {SHOWN}, {SEEDS} seeds ({SEEDS // 2} of orthogonal rows), one standard error. "
        "Thick lines: the theory at that width; thin lines: infinite width. The sources print neither the functions "
        "nor the numbers of their Figure 6, and no network has orthogonal rows after a step.",
        "giantsteps.reports.studies.vocabulary.study()",
    )  # fmt: skip

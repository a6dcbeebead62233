"""Theory against simulation over drawn models, at two sizes each.

The deviation at infinite size is 2 M(2d) - M(d), M the mean over seeds; what is left is of order 1/d^2, less than a
quarter of what the two sizes differ by. Its standard error is exceeded by the quantile below once in 10^6 comparisons,
for Student's law with 47 degrees of freedom (the smaller of both samples): n comparisons of a profile raise a false
alarm with probability less than n/10^6, some 10^-4 in the quick profile and 10^-2 in the thorough one, whatever the
search chooses to draw next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from giantsteps.numerics.models.model import Model
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import trusted
from giantsteps.verify.properties.property import THEORY, Theory, holds, plant
from giantsteps.verify.properties.strategies import models, stepped, steps
from giantsteps.verify.properties.themes.limits import changed, moved
from giantsteps.verify.properties.themes.positivity import reordered

SEEDS, SMALL = 48, 50
# P(|t| > 5.62) = 1e-6 for 47 degrees of freedom.
QUANTILE = 5.62
LEFT_OVER = 0.25
REASON = "5.62 standard errors, passed by chance once in 10^6; a quarter of what the sizes differ by"
# Whole numbers of samples and neurons at both sizes; features that differ from the limit by a few per cent at most.
_MODELS: dict[str, Any] = {
    "alpha": steps(5, 20, "0.1"), "beta": steps(5, 20, "0.1"), "ridge": steps(2, 10, "0.1"),
    "noise": steps(0, 3, "0.1"), "spike": steps(5, 20, "0.1"), "bulk": steps(5, 15, "0.1"),
    "alignment": steps(4, 9, "0.1"),
}  # fmt: skip
_DRAWN = st.tuples(
    models(("tanh", "erf", "sin", "relu"), ("tanh", "sin", "sign"), ranges=_MODELS), st.integers(0, 10**6)
)
Case = tuple[Any, int]


def shown(case: Case, kind: str | None = None) -> str:
    """giantsteps compare of the model with the seed that it was simulated with, and with that kind of features."""
    options = commands.model_options(case[0]) | {"kind": kind}
    return commands.command("compare", **options, dimensions=f"{SMALL},{2 * SMALL}", seeds=SEEDS, seed=case[1])


def beside(theory: Theory, model: Any, seed: int, kind: str, expected: Sequence[tuple[str, float]]) -> float:
    """The least margin of what a simulation measures, by its names, beside what is expected at infinite size."""
    small, large = (
        theory.simulate(model, dimension=d, seeds=SEEDS, seed=seed, kind=kind).estimates for d in (SMALL, 2 * SMALL)
    )
    margins: list[float] = []
    for name, value in expected:
        one, two = small[name], large[name]
        left = 2.0 * two.mean - one.mean - value
        error = math.hypot(2.0 * two.standard_error, one.standard_error)
        allowed = QUANTILE * error + LEFT_OVER * abs(two.mean - one.mean) + 1e-9
        margins.append(float(1.0 - abs(left) / allowed))
    return min(margins)


@holds(
    "result-3-3.test-error", drawn=_DRAWN, reason=REASON, shown=shown, examples=2,
    planted=plant("samples and neurons change places", solve=changed(
        alpha=lambda model: 2.0 * model.beta, beta=lambda model: 0.5 * model.alpha)),
)  # fmt: skip
def errors_of_spiked_random_features(case: Case, theory: Theory) -> float:
    """Test and training error of drawn models are those of simulated spiked random features."""
    found = trusted(theory, case[0])
    expected = (("test_error", found.test_error), ("training_error", found.training_error))
    return beside(theory, case[0], case[1], "srf", expected)


@holds(
    "result-3-3.overlaps", drawn=_DRAWN, reason=REASON, shown=shown, examples=2,
    planted=plant("psi and q2 have half of their size", solve=reordered(
        lambda order: {"psi": 0.5 * order.psi, "q2": 0.5 * order.q2})),
)  # fmt: skip
def order_parameters_of_spiked_random_features(case: Case, theory: Theory) -> float:
    """m, psi and q2 of drawn models are those of simulated spiked random features."""
    order = trusted(theory, case[0]).order_parameters
    expected = (("m", float(order.m[0])), ("psi", float(order.psi[0])), ("q2", float(order.q2[0])))
    return beside(theory, case[0], case[1], "srf", expected)


@holds(
    "result-3-2.same-test-error", drawn=_DRAWN, reason=REASON, examples=2,
    shown=lambda case: shown(case, "equivalent"),
    planted=plant("the test error is three quarters", solve=moved(lambda model: -0.25)),
)  # fmt: skip
def errors_of_the_equivalent_map(case: Case, theory: Theory) -> float:
    """Test and training error of drawn models are those of the simulated equivalent map."""
    found = trusted(theory, case[0])
    expected = (("test_error", found.test_error), ("training_error", found.training_error))
    return beside(theory, case[0], case[1], "equivalent", expected)


_NETWORKS: dict[str, Any] = {
    "alpha": steps(5, 15, "0.1"), "beta": steps(5, 15, "0.1"), "ridge": steps(2, 10, "0.1"),
    "noise": steps(0, 3, "0.1"), "alpha0": steps(5, 30, "0.1"), "eta": steps(5, 20, "0.1"),
}  # fmt: skip


def _shown(case: tuple[dict[str, Any], int]) -> str:
    options = {"kind": "network", "dimension": 2 * SMALL, "seeds": SEEDS, "seed": case[1]}
    return commands.command("simulate", **(case[0] | options))


def _forgetful(**given: Any) -> Model:
    found = THEORY.step(**given)
    return replace(found.as_given(), spike=0.7 * found.spike)


@holds(
    "result-3-1.spike-strength",
    drawn=st.tuples(stepped(("tanh", "erf", "sin"), ("tanh", "sin", "sign"), ranges=_NETWORKS), st.integers(0, 10**6)),
    reason=REASON, shown=_shown, examples=2, planted=plant("three tenths of the spike are lost", step=_forgetful),
)  # fmt: skip
def steps_of_networks(case: tuple[dict[str, Any], int], theory: Theory) -> float:
    """Spike, bulk and alignment of drawn networks are those measured after a simulated step."""
    given, seed = case
    model = theory.step(**given)
    expected = [(name, float(getattr(model, name))) for name in ("spike", "bulk", "alignment")]
    return beside(theory, theory.network(**given), seed, "network", expected)

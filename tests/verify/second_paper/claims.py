"""The claims of the second paper, and one formula that a lecture prints wrongly."""

from __future__ import annotations

from dataclasses import replace

from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.protocol.claim import Domain, Kind, Range, Role, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, MINIMUM, QUADRATURE
from tests.verify.second_paper import derivations as d
from tests.verify.second_paper import numbers
from tests.verify.second_paper import symbols as s

NAME = "Ridge regression"
_RANGES = (Range(s.signal, 0.5, 2.0), Range(s.noise, 0.2, 1.0))
ANYWHERE = Domain((Range(s.ratio, 0.3, 3.0), Range(s.ridge, 0.1, 2.0), *_RANGES), (d.GAUSSIAN,))
FEW = Domain((Range(s.excess, 0.4, 4.0), *_RANGES), (d.GAUSSIAN,))
AS_MANY = Domain(_RANGES, (d.GAUSSIAN,))
LAW = ByNumbers("integrals over the law of Marchenko and Pastur", numbers.at, QUADRATURE)

# fmt: off
FIXED_POINT = claim(
    "ridge.fixed-point", "The effective ridge in closed form", Source(NAME, "Fixed point", (1,)),
    eq(s.effective, d.EFFECTIVE), ANYWHERE,
    ByDerivation(d.fixed_point), LAW,
    kind=Kind.FIXED_POINT,
)
BIAS = claim(
    "ridge.bias", "Squared bias", Source(NAME, "Errors", (2,)),
    eq(s.bias, d.BIAS), ANYWHERE,
    ByDerivation(d.errors), LAW,
    uses=("ridge.fixed-point",),
)
VARIANCE = claim(
    "ridge.variance", "Variance", Source(NAME, "Errors", (3,)),
    eq(s.variance, d.VARIANCE), ANYWHERE,
    ByDerivation(d.errors), LAW,
    uses=("ridge.fixed-point",),
)
TRAINING = claim(
    "ridge.training-error", "Training error", Source(NAME, "Errors", (4,)),
    eq(s.training, d.TRAINING), ANYWHERE,
    ByDerivation(d.errors), LAW,
    uses=("ridge.bias", "ridge.variance"),
)
RIDGELESS = claim(
    "double-descent.ridgeless", "Test error of the interpolator of least norm", Source(NAME, "Without ridge", (5,)),
    eq(s.ridgeless, s.signal * s.excess / (1 + s.excess) + s.noise * (1 + s.excess) / s.excess), FEW,
    ByDerivation(d.without_ridge), ByNumbers("l = 1e-6", numbers.small_ridge, ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT, uses=("ridge.bias", "ridge.variance"),
)
PEAK = claim(
    "double-descent.peak", "Height of the peak of double descent at a = 1", Source(NAME, "Without ridge", (6,)),
    eq(s.peak, s.noise / 2), AS_MANY,
    ByDerivation(d.at_the_peak), ByNumbers("l = 1e-8", numbers.height, ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT, uses=("ridge.variance",),
)
BEST = claim(
    "ridge.best", "The ridge of least test error", Source(NAME, "The best ridge", (7,)),
    eq(s.best_ridge, s.noise / (s.ratio * s.signal)), ANYWHERE,
    ByDerivation(d.optimum), ByNumbers("search for the minimum", numbers.minimum, MINIMUM),
    wrong={"samples for samples per dimension": s.noise / s.signal},
    uses=("ridge.bias", "ridge.variance"),
)
# fmt: on
# Without the factor 1/(1 - share) there is no double descent.
LECTURE = replace(
    VARIANCE,
    id="lecture.variance",
    title="Variance without the fluctuations of the fit",
    source=Source("Lecture", "Bias and variance", (3,)),
    role=Role.PRINTED,
    statement=eq(s.variance, s.noise * d.SHARE),
    uses=(),
    correction=VARIANCE,
)
CLAIMS = (FIXED_POINT, BIAS, VARIANCE, TRAINING, RIDGELESS, PEAK, BEST, LECTURE)

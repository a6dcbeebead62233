"""The claims of the second paper, and one formula that a lecture prints wrongly."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from onestep.verify.checks.kinds import ByDerivation, ByNumbers
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range, Role, Source
from onestep.verify.protocol.tolerances import ASYMPTOTIC, MINIMUM, QUADRATURE
from tests.verify.second_paper import derivations as d
from tests.verify.second_paper import numbers
from tests.verify.second_paper import symbols as s

NAME = "Ridge regression"
_RANGES = (Range(s.signal, 0.5, 2.0), Range(s.noise, 0.2, 1.0))
ANYWHERE = Domain((Range(s.ratio, 0.3, 3.0), Range(s.ridge, 0.1, 2.0), *_RANGES), (d.GAUSSIAN,))
FEW = Domain((Range(s.excess, 0.4, 4.0), *_RANGES), (d.GAUSSIAN,))
AS_MANY = Domain(_RANGES, (d.GAUSSIAN,))
LAW = ByNumbers("integrals over the law of Marchenko and Pastur", numbers.at, QUADRATURE)

FIXED_POINT = Claim(
    id="ridge.fixed-point",
    title="The effective ridge in closed form",
    source=Source(NAME, "Fixed point", (1,)),
    kind=Kind.FIXED_POINT,
    statement=sp.Eq(s.effective, d.EFFECTIVE),
    domain=ANYWHERE,
    checks=(ByDerivation(d.fixed_point), LAW),
)
BIAS = Claim(
    id="ridge.bias",
    title="Squared bias",
    source=Source(NAME, "Errors", (2,)),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.bias, d.BIAS),
    domain=ANYWHERE,
    checks=(ByDerivation(d.errors), LAW),
    uses=("ridge.fixed-point",),
)
VARIANCE = Claim(
    id="ridge.variance",
    title="Variance",
    source=Source(NAME, "Errors", (3,)),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.variance, d.VARIANCE),
    domain=ANYWHERE,
    checks=(ByDerivation(d.errors), LAW),
    uses=("ridge.fixed-point",),
)
TRAINING = Claim(
    id="ridge.training-error",
    title="Training error",
    source=Source(NAME, "Errors", (4,)),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.training, d.TRAINING),
    domain=ANYWHERE,
    checks=(ByDerivation(d.errors), LAW),
    uses=("ridge.bias", "ridge.variance"),
)
RIDGELESS = Claim(
    id="double-descent.ridgeless",
    title="Test error of the interpolator of least norm",
    source=Source(NAME, "Without ridge", (5,)),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.ridgeless, s.signal * s.excess / (1 + s.excess) + s.noise * (1 + s.excess) / s.excess),
    domain=FEW,
    checks=(ByDerivation(d.without_ridge), ByNumbers("l = 1e-6", numbers.small_ridge, ASYMPTOTIC)),
    uses=("ridge.bias", "ridge.variance"),
)
PEAK = Claim(
    id="double-descent.peak",
    title="Height of the peak of double descent at a = 1",
    source=Source(NAME, "Without ridge", (6,)),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.peak, s.noise / 2),
    domain=AS_MANY,
    checks=(ByDerivation(d.at_the_peak), ByNumbers("l = 1e-8", numbers.height, ASYMPTOTIC)),
    uses=("ridge.variance",),
)
BEST = Claim(
    id="ridge.best",
    title="The ridge of least test error",
    source=Source(NAME, "The best ridge", (7,)),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.best_ridge, s.noise / (s.ratio * s.signal)),
    domain=ANYWHERE,
    checks=(ByDerivation(d.optimum), ByNumbers("search for the minimum", numbers.minimum, MINIMUM)),
    uses=("ridge.bias", "ridge.variance"),
    mutants=(Mutant("samples for samples per dimension", sp.Eq(s.best_ridge, s.noise / s.signal)),),
)
# Without the factor 1/(1 - share) there is no double descent.
LECTURE = replace(
    VARIANCE,
    id="lecture.variance",
    title="Variance without the fluctuations of the fit",
    source=Source("Lecture", "Bias and variance", (3,)),
    role=Role.PRINTED,
    statement=sp.Eq(s.variance, s.noise * d.SHARE),
    uses=(),
    correction=VARIANCE,
)
CLAIMS = (FIXED_POINT, BIAS, VARIANCE, TRAINING, RIDGELESS, PEAK, BEST, LECTURE)

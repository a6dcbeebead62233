"""The claims: each formula with its source, its domain, a proof and numbers that share no code with the proof."""

from __future__ import annotations

from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.protocol.claim import Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE, ROUNDING

from . import derivations, numbers
from . import symbols as s

NAME = "arXiv 2102.08127"
SEEDED = Domain((Range("seed", 0, 1),))
SCALED = Domain((Range("seed", 0, 1), Range(s.factor, -2.0, 2.0)))
MOMENTS = Domain(
    (
        Range(s.teacher, 1.0, 2.0), Range(s.student, 1.0, 2.0), Range(s.overlap, -0.9, 0.9),
        Range(s.noise, 0.1, 1.0), Range(s.response, 0.2, 3.0),
    )
)  # fmt: skip
MANY = Domain((Range(s.ratio, 1.2, 4.0), Range(s.ridge, 0.1, 2.0)))

# fmt: off
TEST_ERROR = claim(
    "errors.test", "The test error by three second moments", Source(NAME, "Section 2"),
    eq(s.test, s.teacher - 2 * s.overlap + s.student), SEEDED,
    ByDerivation(derivations.test_error), ByNumbers("random covariances", numbers.covariances, ROUNDING),
    wrong={"m for 2 m": s.teacher - s.overlap + s.student},
)
RESCALED = claim(
    "errors.rescaled", "The best factor of a prediction is m/q", Source(NAME, "Section 2"),
    eq(s.scaled, s.teacher - s.overlap**2 / s.student + s.student * (s.factor - s.overlap / s.student) ** 2), SCALED,
    ByDerivation(derivations.rescaled), ByNumbers("random covariances", numbers.covariances, ROUNDING),
    wrong={"m for m/q": s.teacher - s.overlap**2 / s.student + s.student * (s.factor - s.overlap) ** 2},
)
ONE_MORE = claim(
    "fit.one-more-sample", "The prediction for a sample that is added to the fit", Source(NAME, "Appendix A"),
    eq(s.seen, (s.unseen + s.response * s.label) / (1 + s.response)), SEEDED,
    ByDerivation(derivations.one_more_sample), ByNumbers("two fits by linear algebra", numbers.two_fits, ROUNDING),
    wrong={"y for omega": s.label},
)
TRAINING_ERROR = claim(
    "errors.training", "The training error by the test error", Source(NAME, "Section 3"),
    eq(s.training, (s.test + s.noise) / (1 + s.response) ** 2), MOMENTS,
    ByDerivation(derivations.training_error), ByNumbers("a rule of 27 nodes", numbers.residuals, ROUNDING),
    wrong={"1 + V for its square": (s.test + s.noise) / (1 + s.response)}, uses=("errors.test", "fit.one-more-sample"),
)
RESPONSE = claim(
    "fit.response", "The ridge by the response of isotropic features", Source(NAME, "Section 3"),
    eq(s.ridge, 1 / s.response - s.ratio / (1 + s.response)), MANY,
    ByDerivation(derivations.isotropic), ByNumbers("the law of Marchenko and Pastur", numbers.response, QUADRATURE),
    kind=Kind.FIXED_POINT, wrong={"V for 1 + V": (1 - s.ratio) / s.response},
)
# fmt: on
CLAIMS = (TEST_ERROR, RESCALED, ONE_MORE, TRAINING_ERROR, RESPONSE)

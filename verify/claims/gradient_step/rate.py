"""A learning rate between sqrt(d) and d: spikes of the features one by one."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.gradient_step import intermediate_rate
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.scaling_check import ByScaling
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.gradient_step import rate as numbers

SOURCE = Source("arXiv 2310.07891", "learning rate Theta(d^s), 1/2 < s < 1")

_RATES = Domain((Range(s.eta_rate, 0.51, 0.97), Range(s.taylor_order, 1.0, 4.0)),
                ("neurons have different factors u of the spike",
                 "features are centred over samples, and E[sigma^(k)(z)] is not zero"))
_k, _s = s.taylor_order, s.eta_rate

NORM = claim(
    "wider.rate.norm", "The Taylor term of order k in the spike has a norm of order d^(1 + k (s - 1))", SOURCE,
    eq(s.taylor_rate, 1 + _k * (_s - 1)), _RATES,
    ByDerivation(intermediate_rate.norms),
    ByScaling("regression of features on powers of kappa and u", numbers.amplitude_series),
    kind=Kind.CONCENTRATION,
    wrong={"per sample": sp.Rational(1, 2) + _k * (_s - 1), "s to the power k": 1 + _s**_k - 1},
    note="Terms above the bulk and terms below it were measured: at s = 0.65 the second one is below.",
)


def _amplitude(order: int) -> Claim:
    coefficient = s.hermite_coefficients[order]
    size = sp.sqrt(sp.factorial(order)) * coefficient * s.spike_length**order
    return claim(
        f"wider.rate.amplitude-{order}", f"The amplitude of the Taylor term of order {order}", SOURCE,
        eq(s.spike_amplitude, sp.sqrt(s.alpha * s.beta) * size),
        Domain((*(Range(c, 0.3, 1.0) for c in s.hermite_coefficients), Range(s.alpha, 0.5, 2.0),
                Range(s.beta, 0.5, 2.0), Range(s.spike_length, 0.5, 2.0)),
               ("the factors u of the neurons are standard normal",)),
        ByDerivation(partial(intermediate_rate.amplitude, order)),
        ByNumbers("product rules at r = 10^-3", partial(numbers.scaled_amplitude, order), tolerances.ASYMPTOTIC,
                  points=6),
        wrong={
            "coefficient not normalised": sp.sqrt(s.alpha * s.beta) * size * sp.sqrt(sp.factorial(order + 1)),
            "ratios without the root": s.alpha * s.beta * size,
        },
        uses=("wider.rate.norm",),
    )


THRESHOLD = claim(
    "wider.rate.threshold", "The term of order k stands out of the bulk for s > 1 - 1/(2k)", SOURCE,
    eq(s.threshold_rate, 1 - 1 / (2 * _k)), _RATES,
    ByDerivation(intermediate_rate.norms),
    ByNumbers("bisection on sizes at d = 10^30", numbers.threshold, tolerances.SOLVER),
    wrong={"1/k": 1 - 1 / _k, "one order later": 1 - 1 / (2 * (_k + 1))},
    uses=("wider.rate.norm",),
    note="For k = 1 it is 1/2: below eta = Theta(sqrt d) no spike is visible and plain Gaussian equivalence stays.",
)

MARGIN = claim(
    "wider.rate.margin",
    "A Taylor term outgrows the measured edge of the bulk above its threshold, and falls behind it below", SOURCE,
    eq(s.margin_rate, sp.Rational(1, 2) + _k * (_s - 1)), _RATES,
    ByDerivation(intermediate_rate.norms),
    ByScaling("the second term over the largest value of the bulk, s = 0.55 and s = 0.95", numbers.margin_series),
    kind=Kind.CONCENTRATION,
    wrong={
        "threshold of the first term": sp.Rational(1, 2) + (_s - 1),
        "threshold of the third term": sp.Rational(1, 2) + 3 * (_s - 1),
        "a bulk of order d": _k * (_s - 1),
    },
    uses=("wider.rate.norm", "wider.rate.threshold"),
    note="The threshold of the second term is 3/4: the exponent is -0.4 at s = 0.55 and 0.4 at s = 0.95.",
)

_count = sp.ceiling(sp.Rational(1, 2) / (1 - _s)) - 1


COUNT = claim(
    "wider.rate.count", "For 1 - 1/(2 ell) < s < 1 - 1/(2 (ell + 1)) exactly ell Taylor terms exceed the bulk", SOURCE,
    eq(s.spike_count, _count), _RATES,
    ByDerivation(intermediate_rate.count),
    ByNumbers("sizes of 500 terms at d = 10^30", numbers.exponents, tolerances.ROUNDING),
    wrong={"one more": _count + 1, "1/(1 - s)": sp.ceiling(1 / (1 - _s)) - 1},
    uses=("wider.rate.threshold",),
    note="In the notation eta = d^(s - 1/2) of the source: (ell - 1)/(2 ell) < s - 1/2 < ell/(2 ell + 2).",
)

SIMULATED = claim(
    "wider.rate.spikes",
    "So many singular values of the features stand out, the k-th with He_k(kappa) as its left vector", SOURCE,
    eq(s.spike_count, _count), Domain((Range("rate", choices=("0.65", "0.79", "0.85")),), _RATES.hypotheses),
    ByNumbers("singular values of features at d = 1000", numbers.spikes, tolerances.ROUNDING, points=12,
              finite_size=True),
    kind=Kind.CONCENTRATION,
    wrong={"one more": _count + 1, "one fewer": _count - 1},
    uses=("wider.rate.count", *(f"wider.rate.carries-{k}" for k in (1, 2, 3))),
    note="One, two and three thresholds lie below the three rates. At this dimension the factors in front of the "
         "powers of d matter as well: the spike was chosen such that they are alike for all orders.",
)


def _carries(order: int, polynomial: sp.Expr, *, wrong: Wrong) -> Claim:
    return claim(
        f"wider.rate.carries-{order}", f"The polynomial carried by spike {order}", SOURCE,
        eq(s.spike_polynomial, polynomial), Domain((Range(s.kappa, -1.5, 1.5),), _RATES.hypotheses),
        ByDerivation(partial(intermediate_rate.carried, order)),
        ByNumbers("singular functions of an exponential at r = 10^-3, by a product rule",
                  partial(numbers.carried, order), tolerances.ASYMPTOTIC),
        wrong=wrong,
    )


CARRIES = (
    _carries(1, s.kappa, wrong={"its square": s.kappa**2, "a constant": sp.S.One}),
    _carries(2, s.kappa**2 - 1, wrong={"not centred": s.kappa**2, "with a linear part": s.kappa**2 + s.kappa - 1}),
    _carries(
        3, s.kappa**3 - 3 * s.kappa,
        wrong={"not orthogonal to the first": s.kappa**3, "1 for 3": s.kappa**3 - s.kappa},
    ),
)

CLAIMS: tuple[Claim, ...] = (
    NORM, *(_amplitude(k) for k in (1, 2, 3)), THRESHOLD, MARGIN, COUNT, *CARRIES, SIMULATED,
)

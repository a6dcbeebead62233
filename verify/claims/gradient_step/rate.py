"""A learning rate between sqrt(d) and d: spikes of the features one by one."""

from __future__ import annotations

from functools import partial

import sympy as sp

from onestep.derivations.gradient_step import intermediate_rate
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import NonNegative, Obligation, Vanishing
from onestep.verify.checks.kinds import ByDerivation, ByNumbers, ByObligations
from onestep.verify.checks.scaling_check import ByScaling
from onestep.verify.protocol import tolerances
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range, Source
from onestep.verify.second_route.gradient_step import rate as numbers

SOURCE = Source("arXiv 2310.07891", "learning rate Theta(d^s), 1/2 < s < 1")

_RATES = Domain(
    (Range(s.eta_rate, 0.51, 0.97), Range(s.taylor_order, 1.0, 4.0)),
    (
        "neurons have different factors u of the spike",
        "features are centred over samples, and E[sigma^(k)(z)] is not zero",
    ),
)
_k, _s = s.taylor_order, s.eta_rate

NORM = Claim(
    id="wider.rate.norm",
    title="The Taylor term of order k in the spike has a norm of order d^(1 + k (s - 1))",
    source=SOURCE,
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.taylor_rate, 1 + _k * (_s - 1), evaluate=False),
    domain=_RATES,
    checks=(
        ByDerivation(intermediate_rate.norms),
        ByScaling("regression of features on powers of kappa and u", numbers.amplitude_series),
    ),
    mutants=(
        Mutant("per sample", sp.Eq(s.taylor_rate, sp.Rational(1, 2) + _k * (_s - 1), evaluate=False)),
        Mutant("s to the power k", sp.Eq(s.taylor_rate, 1 + _s**_k - 1)),
    ),
    note="Terms above the bulk and terms below it were measured: at s = 0.65 the second one is below.",
)


def _amplitude(order: int, *mutants: Mutant) -> Claim:
    coefficient = s.hermite_coefficients[order]
    size = sp.sqrt(sp.factorial(order)) * coefficient * s.spike_length**order
    return Claim(
        id=f"wider.rate.amplitude-{order}",
        title=f"The amplitude of the Taylor term of order {order}",
        source=SOURCE,
        kind=Kind.IDENTITY,
        statement=sp.Eq(s.spike_amplitude, sp.sqrt(s.alpha * s.beta) * size, evaluate=False),
        domain=Domain(
            (
                *(Range(c, 0.3, 1.0) for c in s.hermite_coefficients),
                Range(s.alpha, 0.5, 2.0),
                Range(s.beta, 0.5, 2.0),
                Range(s.spike_length, 0.5, 2.0),
            ),
            ("the factors u of the neurons are standard normal",),
        ),
        checks=(
            ByDerivation(partial(intermediate_rate.amplitude, order)),
            ByNumbers(
                "product rules at r = 10^-3", partial(numbers.scaled_amplitude, order), tolerances.ASYMPTOTIC, points=6
            ),
        ),
        mutants=(
            Mutant(
                "coefficient not normalised",
                sp.Eq(
                    s.spike_amplitude,
                    sp.sqrt(s.alpha * s.beta) * size * sp.sqrt(sp.factorial(order + 1)),
                    evaluate=False,
                ),
            ),
            Mutant("ratios without the root", sp.Eq(s.spike_amplitude, s.alpha * s.beta * size)),
            *mutants,
        ),
        uses=("wider.rate.norm",),
    )


THRESHOLD = Claim(
    id="wider.rate.threshold",
    title="The term of order k stands out of the bulk for s > 1 - 1/(2k)",
    source=SOURCE,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.threshold_rate, 1 - 1 / (2 * _k), evaluate=False),
    domain=_RATES,
    checks=(
        ByDerivation(intermediate_rate.norms),
        ByNumbers("bisection on sizes at d = 10^30", numbers.threshold, tolerances.SOLVER),
    ),
    mutants=(
        Mutant("1/k", sp.Eq(s.threshold_rate, 1 - 1 / _k)),
        Mutant("one order later", sp.Eq(s.threshold_rate, 1 - 1 / (2 * (_k + 1)), evaluate=False)),
    ),
    uses=("wider.rate.norm",),
    note="For k = 1 it is 1/2: below eta = Theta(sqrt d) no spike is visible and plain Gaussian equivalence stays.",
)

MARGIN = Claim(
    id="wider.rate.margin",
    title="A Taylor term outgrows the measured edge of the bulk above its threshold, and falls behind it below",
    source=SOURCE,
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.margin_rate, sp.Rational(1, 2) + _k * (_s - 1), evaluate=False),
    domain=_RATES,
    checks=(
        ByDerivation(intermediate_rate.norms),
        ByScaling("the second term over the largest value of the bulk, s = 0.65 and s = 0.9", numbers.margin_series),
    ),
    mutants=(
        Mutant("threshold of the first term", sp.Eq(s.margin_rate, sp.Rational(1, 2) + (_s - 1))),
        Mutant("threshold of the third term", sp.Eq(s.margin_rate, sp.Rational(1, 2) + 3 * (_s - 1))),
        Mutant("a bulk of order d", sp.Eq(s.margin_rate, _k * (_s - 1))),
    ),
    uses=("wider.rate.norm", "wider.rate.threshold"),
    note="The threshold of the second term is 3/4: the exponent is -0.2 at s = 0.65 and 0.3 at s = 0.9.",
)

_count = sp.ceiling(sp.Rational(1, 2) / (1 - _s)) - 1


def _counting(statement: sp.Basic) -> tuple[Obligation, ...]:
    """Rates inside the first six intervals, counted one by one; and that the intervals are the right ones."""
    residual = statement.lhs - statement.rhs
    found: list[Obligation] = []
    for ell in range(1, 7):
        for inside in (sp.Rational(1, 9), sp.Rational(1, 2), sp.Rational(8, 9)):
            rate = 1 - 1 / (2 * (ell + inside))
            values = {s.spike_count: sp.Integer(intermediate_rate.visible_terms(rate)), s.eta_rate: rate}
            found.append(Vanishing(f"s = {rate}", residual.subs(values)))
    return (*(o for o in intermediate_rate.interval().obligations if isinstance(o, NonNegative | Vanishing)), *found)


COUNT = Claim(
    id="wider.rate.count",
    title="For 1 - 1/(2 ell) < s < 1 - 1/(2 (ell + 1)) exactly ell Taylor terms exceed the bulk",
    source=SOURCE,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.spike_count, _count, evaluate=False),
    domain=_RATES,
    checks=(
        ByObligations("two neighbouring thresholds bound the interval", _counting),
        ByNumbers("sizes of 500 terms at d = 10^30", numbers.exponents, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("one more", sp.Eq(s.spike_count, _count + 1, evaluate=False)),
        Mutant("1/(1 - s)", sp.Eq(s.spike_count, sp.ceiling(1 / (1 - _s)) - 1, evaluate=False)),
    ),
    uses=("wider.rate.threshold",),
    note="In the notation eta = d^(s - 1/2) of the source: (ell - 1)/(2 ell) < s - 1/2 < ell/(2 ell + 2).",
)

SIMULATED = Claim(
    id="wider.rate.spikes",
    title="So many singular values of the features stand out, the k-th with He_k(kappa) as its left vector",
    source=SOURCE,
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.spike_count, _count),
    domain=Domain((Range("rate", choices=("0.65", "0.79", "0.85")),), _RATES.hypotheses),
    checks=(ByNumbers("singular values of features at d = 1000", numbers.spikes, tolerances.ROUNDING, points=12),),
    mutants=(
        Mutant("one more", sp.Eq(s.spike_count, _count + 1)),
        Mutant("one fewer", sp.Eq(s.spike_count, _count - 1)),
    ),
    uses=("wider.rate.count", *(f"wider.rate.carries-{k}" for k in (1, 2, 3))),
    note=(
        "One, two and three thresholds lie below the three rates. At this dimension the factors in front of the powers "
        "of d matter as well: the spike was chosen such that they are alike for all orders."
    ),
)


def _carries(order: int, polynomial: sp.Expr, *mutants: Mutant) -> Claim:
    return Claim(
        id=f"wider.rate.carries-{order}",
        title=f"The polynomial carried by spike {order}",
        source=SOURCE,
        kind=Kind.IDENTITY,
        statement=sp.Eq(s.spike_polynomial, polynomial, evaluate=False),
        domain=Domain((Range(s.kappa, -1.5, 1.5),), _RATES.hypotheses),
        checks=(
            ByDerivation(partial(intermediate_rate.carried, order)),
            ByNumbers(
                "singular functions of an exponential at r = 10^-3, by a product rule",
                partial(numbers.carried, order),
                tolerances.ASYMPTOTIC,
            ),
        ),
        mutants=mutants,
    )


CARRIES = (
    _carries(
        1,
        s.kappa,
        Mutant("its square", sp.Eq(s.spike_polynomial, s.kappa**2)),
        Mutant("a constant", sp.Eq(s.spike_polynomial, sp.S.One)),
    ),
    _carries(
        2,
        s.kappa**2 - 1,
        Mutant("not centred", sp.Eq(s.spike_polynomial, s.kappa**2)),
        Mutant("with a linear part", sp.Eq(s.spike_polynomial, s.kappa**2 + s.kappa - 1)),
    ),
    _carries(
        3,
        s.kappa**3 - 3 * s.kappa,
        Mutant("not orthogonal to the first", sp.Eq(s.spike_polynomial, s.kappa**3)),
        Mutant("1 for 3", sp.Eq(s.spike_polynomial, s.kappa**3 - s.kappa)),
    ),
)

CLAIMS: tuple[Claim, ...] = (
    NORM,
    *(_amplitude(k) for k in (1, 2, 3)),
    THRESHOLD,
    MARGIN,
    COUNT,
    *CARRIES,
    SIMULATED,
)

r"""A learning rate between sqrt(d) and d: how many spikes the features have, and what each of them carries.

With eta = Theta(d^s), 1/2 < s < 1, the spike of the weights is r = rho d^(s-1), and a feature is a Taylor series in it,

    sigma(w.x + r u kappa) = sum_k (r^k/k!) u^k kappa^k sigma^(k)(w.x).

Replacing sigma^(k)(w.x) by its mean leaves, over n samples and p neurons, a matrix of rank one and of norm of order
d^(1 + k (s-1)); the bulk of the features has norm of order sqrt(d). Neurons need different factors u: for equal ones
all terms share one right singular vector, and there is a single spike that carries mu0(kappa).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import exponent_of, power_of_d
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.kernel.algebra import congruence, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.limits import limit_compose, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, in_model, lemma, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation

SOURCE = "arXiv 2310.07891, the regime eta = Theta(d^s)"
HYPOTHESES = (
    "the activation is smooth, with E[sigma^(k)(z)] not zero for the orders in question",
    "the factors u_i of the spike differ between neurons, so that the vectors u^k are independent",
)

_margin = sp.Function("e_*", real=True)
_rate = sp.Symbol("s", real=True)

_term, _bulk = sp.symbols(r"|T_k| |B|", positive=True)
STRENGTH = power_of_d(s.r, s.eta_rate - 1, "the spike of the weights, r = rho d^(s - 1)")
TERM = define(_term, s.r**s.taylor_order * sp.sqrt(s.d) * sp.sqrt(s.d), "r^k, over samples and over neurons")
EDGE = define(_bulk, sp.sqrt(s.d), "the norm of the bulk of the features")


@functools.cache
def norms() -> Derivation:
    """The exponent 1 + k (s - 1), and the rate at which it passes that of the bulk."""
    k, half = s.taylor_order, sp.Rational(1, 2)
    exponent = exponent_of(s.taylor_rate, _term, "the norm of a Taylor term", TERM, STRENGTH)
    over_bulk = exponent_of(s.margin_rate, _term / _bulk, "a Taylor term over the bulk", TERM, EDGE, STRENGTH)
    curve = define(_margin(_rate), value(over_bulk).subs(s.eta_rate, _rate), "the margin at a rate", _rate)
    passing = in_model(
        "the threshold",
        Equation(_margin(s.threshold_rate), sp.Integer(0)),
        "the rate at which term and bulk are of one order",
    )
    there = instantiate((curve,), {_rate: s.threshold_rate})
    threshold = ring((passing, there), Equation(s.threshold_rate, 1 - 1 / (2 * k)), (1 / k, -1 / k))
    below = sp.Symbol("x", positive=True)
    rate = below / (1 + below)  # any s between zero and one
    small = order((), AtLeast(half, half + k * (rate - 1)), (), ((k / (1 + below), sp.Integer(1)),))
    return Derivation(
        "Taylor terms of a feature in the spike",
        SOURCE,
        proved("r^k, times the length sqrt(d) of kappa^k over samples and of u^k over neurons.", exponent),
        proved("What is not rank one stays below the bulk sqrt(d), as r vanishes.", small),
        proved("Over the bulk, of order sqrt(d).", over_bulk),
        proved("It stands out of the bulk where its exponent exceeds one half.", threshold),
        results=(exponent, threshold, over_bulk),
        hypotheses=HYPOTHESES,
    )


_margin_of = sp.Function("e_*^k", real=True)
_order, _edge = sp.Symbol("k_0", real=True), sp.Symbol("k_*", positive=True)
_x = sp.Symbol("x", positive=True)
naturals_below = sp.Function("naturals below", nonnegative=True)
COUNTING = lemma(
    "naturals below",
    Equation(naturals_below(_x), sp.ceiling(_x) - 1),
    "definition of the ceiling: 1, 2, ... below x > 0 end with the last integer below x, which is ceil(x) - 1",
    _x,
)


@functools.cache
def count() -> Derivation:
    """As many Taylor terms exceed the bulk as natural numbers lie below 1/(2 (1 - s))."""
    over_bulk = norms().theorem_of(s.margin_rate)
    form = value(over_bulk).subs(s.taylor_order, _order)
    curve = define(_margin_of(_order), form, "the margin of the term of an order", _order)
    vanishing = in_model(
        "the order at the edge",
        Equation(_margin_of(_edge), sp.Integer(0)),
        "where a term and the bulk would be of one order of magnitude",
    )
    at_edge = rewrite((vanishing, instantiate((curve,), {_order: _edge})))
    edge = equal(isolated(_edge, at_edge), sp.Rational(1, 2) / (1 - s.eta_rate))
    falling = ring((curve, edge), Equation(_margin_of(_order), (1 - s.eta_rate) * (_edge - _order)),
                   (sp.Integer(1), s.eta_rate - 1))  # fmt: skip
    meaning = define(s.spike_count, naturals_below(_edge), "the orders whose margin is positive, those below the edge")
    result = rewrite((rewritten(meaning, instantiate((COUNTING,), {_x: _edge})), edge))
    return Derivation(
        "the number of spikes",
        SOURCE,
        *norms().steps,
        proved("The margin as a function of the order", curve),
        proved("vanishes at the edge,", edge),
        proved("and falls with the order, s being below one: it is positive for the orders below the edge.", falling),
        proved("These are counted.", meaning),
        proved("The natural numbers below a positive number.", result),
        hypotheses=HYPOTHESES,
    )


_smallness = sp.Symbol("N", positive=True)  # d^(1 - s), so that the spike is rho/N
_amplitude = sp.Symbol("A_k", real=True)
_factor = sp.Symbol("u", real=True)


@functools.cache
def amplitude(number: int) -> Derivation:
    r"""Along He_k(kappa) and He_k(u), u standard normal: A_k = sqrt(n p) r^k E sigma^(k), the terms j > k left out."""
    slopes = [sp.sqrt(sp.factorial(j)) * s.hermite_coefficients[j] for j in range(number + 3)]
    shift = s.r * _factor * s.kappa
    mean = sum((slope * shift**j / sp.factorial(j) for j, slope in enumerate(slopes)), sp.S.Zero)
    weight = hermite(number, s.kappa) * hermite(number, _factor) / sp.factorial(number)
    projected = averages_expanded(
        define(_amplitude, Expectation(mean * weight, s.kappa, _factor), "the mean feature along He_k(kappa) He_k(u)")
    )
    strength = define(s.r, s.spike_length / _smallness, "the spike, which vanishes with the dimension")
    scaled = rewritten(congruence((projected,), _amplitude * _smallness**number, _amplitude), strength)
    leading = slopes[number] * s.spike_length**number
    tends = rewrite((limit_rational((), value(scaled), leading, _smallness), scaled), True)
    root = sp.sqrt(s.alpha * s.beta)
    times_root = limit_compose((tends,), root * _hole, (_hole,))
    limit = name_limit((times_root,), s.spike_amplitude, "the limit of sqrt(alpha beta) A_k, scaled")
    return Derivation(
        f"amplitude of Taylor term {number}",
        SOURCE,
        proved(
            "The mean feature given kappa is the Taylor series with sigma^(k) replaced by its mean sqrt(k!) s_k; "
            "projected on the normalised polynomials of order k, terms below k vanish and terms above are of "
            "higher order in r.",
            projected,
        ),
        proved("What is left is of order r^k, times the lengths of kappa^k and of u^k.", limit),
        hypotheses=HYPOTHESES,
    )


def orthogonal(number: int) -> tuple[Theorem, ...]:
    """0 = E[P z^j] for P = z^k + sum a_i z^i and all j < k: what the k-th term leaves after the lower powers."""
    polynomial = _lower_powers_removed(number, s.z)
    return tuple(
        averages_expanded(
            in_model(
                f"singular vector {number}, orthogonal to power {j}",
                Equation(sp.Integer(0), Expectation(polynomial * s.z**j, s.z)),
                "the terms are of decreasing order in d, so the k-th vector is what the lower powers leave",
            )
        )
        for j in range(number)
    )


def _lower_powers_removed(number: int, variable: sp.Expr) -> sp.Expr:
    """z^k + sum a_i z^i."""
    return variable**number + sum((a * variable**i for i, a in enumerate(_lower[:number])), sp.S.Zero)


_lower = sp.symbols("a_0:6", real=True)
_hole = sp.Symbol("hole", real=True)


@functools.cache
def carried(number: int) -> Derivation:
    """The polynomial of the k-th singular vector: kappa^k orthogonalised to lower powers and constants, He_k."""
    meaning = define(s.spike_polynomial, _lower_powers_removed(number, s.kappa), "kappa^k and lower powers")
    conditions = orthogonal(number)
    found = _lower[:number]
    moments = sp.Matrix(number, number, lambda i, j: sp.diff(value(conditions[i]), found[j]))
    shares = -(sp.Matrix([[s.kappa**j for j in range(number)]]) * moments.inv())
    carries = ring((meaning, *conditions), Equation(s.spike_polynomial, hermite(number, s.kappa)), (sp.S.One, *shares))
    return Derivation(
        f"what spike {number} carries",
        SOURCE,
        *(
            proved(f"Orthogonal to the power {j} of kappa; centring features takes out constants.", condition)
            for j, condition in enumerate(conditions)
        ),
        proved("What is left of kappa^k is a Hermite polynomial.", carries),
        hypotheses=HYPOTHESES,
    )

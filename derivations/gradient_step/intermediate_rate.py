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

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.hermite_tensors import average, hermite
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq, ge
from onestep.derivations.language.exponents import DIMENSION, Order

SOURCE = "arXiv 2310.07891, the regime eta = Theta(d^s)"
HYPOTHESES = (
    "the activation is smooth, with E[sigma^(k)(z)] not zero for the orders in question",
    "the factors u_i of the spike differ between neurons, so that the vectors u^k are independent",
)

BULK = DIMENSION.root()
LENGTH = DIMENSION.root()  # a vector with one entry of order one per sample, or per neuron
SPIKE = Order(s.eta_rate - 1)  # r in d


def taylor(order: sp.Expr | int) -> Order:
    """The norm of the rank-one part of Taylor term k: r^k, a vector over samples, a vector over neurons."""
    return SPIKE.power(order) * LENGTH * LENGTH


def remainder(order: sp.Expr | int) -> Order:
    """What sigma^(k)(w.x) minus its mean leaves of Taylor term k: r^k times a matrix like the bulk."""
    return SPIKE.power(order) * BULK


@functools.cache
def norms() -> Derivation:
    """The exponent 1 + k (s - 1), and the rate at which it passes that of the bulk."""
    k = s.taylor_order
    exponent = taylor(k).exponent
    (threshold,) = sp.solve(exponent - BULK.exponent, s.eta_rate)
    over_bulk = (taylor(k) / BULK).exponent
    below = sp.Symbol("x", positive=True)
    rate = below / (1 + below)  # any s between zero and one
    bulk_gap = sp.factor((BULK / remainder(k)).exponent.subs(s.eta_rate, rate))
    return Derivation(
        "Taylor terms of a feature in the spike",
        SOURCE,
        Step(
            "r^k, times the length sqrt(d) of kappa^k over samples and of u^k over neurons.",
            eq(s.taylor_rate, exponent),
            Vanishing("k factors of the spike", exponent - 1 - k * (s.eta_rate - 1)),
        ),
        Step(
            "What is not rank one stays below the bulk sqrt(d), as r vanishes.",
            ge(BULK.exponent, remainder(k).exponent),
            NonNegative("bulk over remainder", bulk_gap, ((bulk_gap, sp.S.One),)),
        ),
        Step(
            "Over the bulk, of order sqrt(d).",
            eq(s.margin_rate, over_bulk),
            Vanishing("quotient", over_bulk - exponent + BULK.exponent),
            Vanishing("zero at the threshold", over_bulk.subs(s.eta_rate, threshold)),
        ),
        Step(
            "It stands out of the bulk where its exponent exceeds one half.",
            eq(s.threshold_rate, threshold),
            Vanishing("at the threshold", exponent.subs(s.eta_rate, threshold) - sp.Rational(1, 2)),
        ),
        results={s.taylor_rate: exponent, s.threshold_rate: sp.expand(threshold), s.margin_rate: over_bulk},
        hypotheses=HYPOTHESES,
    )


_ell = sp.Symbol("ell", positive=True)
_steps = sp.Symbol("j", nonnegative=True)
_within = sp.Symbol("x", positive=True)
INSIDE = 1 - 1 / (2 * (_ell + _within / (1 + _within)))  # any s with 1 - 1/(2 ell) < s < 1 - 1/(2 (ell + 1))


def margin(order: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """The exponent of Taylor term k over that of the bulk, minus it: positive where the term is visible."""
    return sp.factor((taylor(order) / BULK).exponent.subs(s.eta_rate, rate))


@functools.cache
def interval() -> Derivation:
    """For 1 - 1/(2 ell) < s < 1 - 1/(2 (ell+1)) the terms 1 .. ell are visible and all others are not."""
    seen = margin(_ell - _steps, INSIDE)
    unseen = -margin(_ell + 1 + _steps, INSIDE)
    return Derivation(
        "the number of spikes",
        SOURCE,
        *norms().steps,
        Step(
            "On the interval between two neighbouring thresholds, the terms up to ell stand out of the bulk.",
            ge(seen, 0),
            NonNegative("order ell - j", seen, ((seen, sp.S.One),)),
        ),
        Step(
            "The terms from ell + 1 on do not.",
            ge(unseen, 0),
            NonNegative("order ell + 1 + j", unseen, ((unseen, sp.S.One),)),
        ),
        results={},
        hypotheses=HYPOTHESES,
    )


def visible_terms(rate: sp.Expr) -> int:
    """How many of the exponents 1 + k (s - 1) exceed one half, counted one by one; ``rate`` is a rational below 1."""
    count = 0
    while (taylor(count + 1) / BULK).exponent.subs(s.eta_rate, rate) > 0:
        count += 1
    return count


def orthogonalised(order: int) -> sp.Expr:
    """kappa^k less its projections on all lower powers (and on constants): what the k-th singular vector carries.

    The k-th term is smaller than those before it by a power of d, so it shows only in what they leave.
    """
    polynomial: sp.Expr = s.kappa**order
    for lower in range(order):
        before = orthogonalised(lower)
        overlap = average(s.kappa**order * before, (s.kappa,)) / average(before**2, (s.kappa,))
        polynomial -= overlap * before
    return sp.expand(polynomial)


@functools.cache
def amplitude(order: int) -> Derivation:
    r"""Along He_k(kappa) and He_k(u), u standard normal: A_k = sqrt(n p) r^k E sigma^(k), the terms j > k left out."""
    u, spike = sp.Symbol("u", real=True), s.r
    slopes = [sp.sqrt(sp.factorial(j)) * s.hermite_coefficients[j] for j in range(order + 3)]
    mean = sum((slopes[j] * (spike * u * s.kappa) ** j / sp.factorial(j) for j in range(order + 3)), sp.S.Zero)
    weight = hermite(order, s.kappa) * hermite(order, u) / sp.factorial(order)
    projected = sp.expand(average(sp.expand(mean * weight), (s.kappa, u)))
    leading = projected.coeff(spike, order)
    limit = sp.sqrt(s.alpha * s.beta) * leading * s.spike_length**order
    return Derivation(
        f"amplitude of Taylor term {order}",
        SOURCE,
        Step(
            "The mean feature given kappa is the Taylor series with sigma^(k) replaced by its mean sqrt(k!) s_k.",
            eq(s.mu0, mean),
        ),
        Step(
            "Projected on the normalised polynomials of order k, terms below k vanish and terms above are of "
            "higher order in r.",
            eq(s.spike_amplitude, limit),
            *(Vanishing(f"order {j} in r", projected.coeff(spike, j)) for j in range(order)),
            Vanishing("order k in r", leading - slopes[order]),
        ),
        results={s.spike_amplitude: limit},
        hypotheses=HYPOTHESES,
    )


@functools.cache
def carried(order: int) -> Derivation:
    """The polynomial of the k-th singular vector: kappa^k orthogonalised to lower powers and constants, He_k."""
    found = orthogonalised(order)
    lower = [s.kappa**j for j in range(order)]
    return Derivation(
        f"what spike {order} carries",
        SOURCE,
        Step(
            "The terms are of decreasing order in d, so the k-th singular vector is what kappa^k leaves after the "
            "lower powers; centring features takes out constants.",
            eq(s.spike_polynomial, found),
            *(Vanishing(f"orthogonal to {power}", average(found * power, (s.kappa,))) for power in lower),
        ),
        Step(
            "That is a Hermite polynomial.",
            eq(found, hermite(order, s.kappa)),
            Vanishing("He_k by its recurrence", found - hermite(order, s.kappa)),
        ),
        results={s.spike_polynomial: found},
        hypotheses=HYPOTHESES,
    )

"""Targets of several directions: their Hermite tensors, the leap index, and what one giant step learns of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.gradient_step import hermite_tensors, leap_scaling
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.hermite_tensors import hermite, leap_index, z1
from giantsteps.derivations.language.derivation import Derivation, Obligation, Vanishing
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations
from giantsteps.verify.checks.scaling_check import ByScaling
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range, Role, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.gradient_step import leap as numbers

Build = Callable[[], Derivation]

MULTI_INDEX = "arXiv 2305.18270"
TENSORS = Source(MULTI_INDEX, "leap index")
THEOREMS = Source(MULTI_INDEX, "Theorems 1 and 2")
SLIDES = Source("slides", "What you learn in one step of SGD")

# ---- tensors ----


def _leap_claim(name: str, title: str, statement: sp.Equality, proof: Check, target: str) -> Claim:
    ranges = (Range("order", choices=("1", "2", "3", "4", "5", "6")),) if "{" in target else ()
    points = None if ranges else 1
    return claim(
        f"wider.leap.{name}", title, TENSORS,
        statement, Domain(ranges),
        proof,
        ByNumbers("Hermite tensors by a product rule, order by order", partial(numbers.leap_of, target),
                  tolerances.ROUNDING, points=points),
        wrong={"one order later": eq(s.leap, statement.rhs + 1), "half of it": eq(s.leap, statement.rhs / 2)},
    )


def _single_hermite(statement: sp.Basic) -> tuple[Obligation, ...]:
    return tuple(
        Vanishing(
            f"He_{k}",
            (statement.lhs - statement.rhs).subs({s.leap: leap_index(hermite(k, z1), (z1,)), s.taylor_order: k}),
        )
        for k in range(1, 7)
    )


_x1, _x2 = s.argument
_t11, _t12, _t22 = s.tensor_2

EXAMPLES = (
    _leap_claim(
        "staircase", "z1 + z1 z2 + z1 z2 z3 has leap index one", eq(s.leap, sp.S.One),
        ByDerivation(partial(hermite_tensors.example, *hermite_tensors.STAIRCASE)), "staircase",
    ),
    _leap_claim(
        "single-hermite", "He_k of one direction has leap index k: its information exponent",
        eq(s.leap, s.taylor_order), ByObligations("orders one to six, moment by moment", _single_hermite), "He_{}",
    ),
    _leap_claim(
        "product-of-four", "z1 z2 z3 z4 has leap index four", eq(s.leap, sp.Integer(4)),
        ByDerivation(partial(hermite_tensors.example, *hermite_tensors.PRODUCT)), "product of four",
    ),
)

SECOND_ORDER = claim(
    "wider.leap.second-order", "The part of order two of a target of two directions", TENSORS,
    eq(s.second_order_part, (_t11 * (_x1**2 - 1) + 2 * _t12 * _x1 * _x2 + _t22 * (_x2**2 - 1)) / 2),
    Domain(tuple(Range(q, 0.4, 1.6) for q in (*s.argument, s_bounds.b1, s_bounds.b2))),
    ByDerivation(hermite_tensors.second_order),
    ByNumbers("least squares on a product rule", numbers.second_order_part, tolerances.QUADRATURE),
    wrong={
        "products of He_2, as the slides print it":
            _t11 * (_x1**2 - 1) ** 2 + 2 * _t12 * (_x1**2 - 1) * (_x2**2 - 1) + _t22 * (_x2**2 - 1) ** 2,
        "each pair counted once": (_t11 * (_x1**2 - 1) + _t12 * _x1 * _x2 + _t22 * (_x2**2 - 1)) / 2,
    },
    note="A part of order two has degree two: half the sum over i and j of C_ij (z_i z_j - delta_ij).",
)

# ---- signal and noise of a gradient ----

_coefficients = tuple(Range(c, 0.3, 1.0) for c in s.hermite_coefficients[1:6])
_tensors = tuple(Range(t, 0.5, 1.5) for t in (*s.tensor_1, *s.tensor_2, *s.tensor_3))
_overlaps = tuple(Range(t, 0.5, 1.5) for t in s.leap_overlaps)
_tau1, _tau2 = s.leap_overlaps
_s1, _s2, _s3 = s.hermite_coefficients[1:4]
_third = s.tensor_3[0] * _tau1**2 + 2 * s.tensor_3[1] * _tau1 * _tau2 + s.tensor_3[2] * _tau2**2


def _signal_claim(leap: int, rhs: sp.Expr, *, wrong: Wrong) -> Claim:
    names = {1: "one", 2: "two", 3: "three"}
    return claim(
        f"wider.leap.signal-{names[leap]}",
        f"The mean gradient along a direction of the target, leap index {names[leap]}", THEOREMS,
        eq(s.leap_signal, rhs),
        Domain((*_coefficients, *_tensors, *_overlaps), ("labels without parts of lower order than the leap",)),
        ByDerivation(partial(leap_scaling.signal, leap)),
        ByNumbers("three-dimensional product rule at d = 10^12, or 10^8 for leap index three",
                  partial(numbers.mean_gradient, leap), tolerances.ASYMPTOTIC, finite_size=True),
        kind=Kind.LIMIT, wrong=wrong, note=f"The mean gradient itself is of order d^(-{leap - 1}/2).",
    )


SIGNALS = (
    _signal_claim(
        1, _s1 * s.tensor_1[0],
        wrong={"the other direction": _s1 * s.tensor_1[1], "second coefficient of the activation": _s2 * s.tensor_1[0]},
    ),
    _signal_claim(
        2, sp.sqrt(2) * _s2 * (_t11 * _tau1 + _t12 * _tau2),
        wrong={
            "diagonal of the tensor only": sp.sqrt(2) * _s2 * _t11 * _tau1,
            "He_2 not normalised": _s2 * (_t11 * _tau1 + _t12 * _tau2),
        },
    ),
    _signal_claim(
        3, sp.sqrt(6) / 2 * _s3 * _third,
        wrong={
            "each pair counted once": sp.sqrt(6) / 2 * _s3 * (_third - s.tensor_3[1] * _tau1 * _tau2),
            "1/(l-1)! forgotten": sp.sqrt(6) * _s3 * _third,
        },
    ),
)

NOISE = claim(
    "wider.leap.noise", "The noise of the gradient of one neuron", THEOREMS,
    eq(s.leap_noise, s.h2_star * (s.h1**2 + s.h1_check)), Domain((*_coefficients, *_tensors, *_overlaps)),
    ByDerivation(leap_scaling.noise),
    ByNumbers("product rule at d = 10^8", numbers.gradient_noise, tolerances.ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"the linear part of the slope only": s.h2_star * s.h1**2, "without the mean slope": s.h2_star * s.h1_check},
    uses=("result-3-1.hermite-sum",), note="|g - E g| is of order sqrt(d/n), whatever the leap index.",
)

# ---- exponents ----

_HYPOTHESES = (
    "E[He_l sigma] is not zero, for the leap index l of the labels",
    "parts of the labels of lower order than the leap index are subtracted before the step",
)
_EXPONENTS = Domain((Range(s.leap, 1.0, 4.0), Range(s.shortfall, 0.1, 0.9)), _HYPOTHESES)
_FAR = Domain((Range(s.leap, 1.0, 4.0), Range(s.shortfall, 1.1, 1.9)), _HYPOTHESES)
_SIGNAL_USES = ("wider.leap.signal-one", "wider.leap.signal-two", "wider.leap.signal-three")
_ONE, _TWO = (
    "Theorem 1: for n = O(d^(l - delta)), with probability at least 1 - c p exp(-c(delta) log(d)^2), every neuron has "
    "|pi_i|/|w_i| <= c polylog(d) d^(-min(1, delta)/2).",
    "Theorem 2: for n = Omega(d^l), E[He_l sigma] not zero and eta = p d^((l-1)/2), |pi_i|/|w_i| >= X_i with X_i "
    "independent and alike, E X > 0; outside the space V_l of the first tensor |pi_i| is at most c polylog(d)/sqrt(d); "
    "the pi_i span V_l.",
)


def _exponent(
    name: str,
    title: str,
    statement: sp.Equality,
    derivation: Build,
    regimes: tuple[numbers.Regime, ...] | None,
    *, wrong: Wrong,
    domain: Domain = _EXPONENTS,
    uses: tuple[str, ...] = (),
    note: str = "",
) -> Claim:
    return claim(
        f"wider.leap.{name}", title, THEOREMS,
        statement, domain,
        ByDerivation(derivation, conjecture=True),
        ByScaling("one step on one neuron", partial(numbers.scaled, regimes) if regimes else numbers.stairs),
        kind=Kind.CONCENTRATION, wrong=wrong, uses=uses, note=note,
    )


_half = sp.Rational(1, 2)

RATES = (
    _exponent(
        "signal-rate", "The mean gradient shrinks by a root of d for every order of the leap above one",
        eq(s.signal_rate, (1 - s.leap) / 2), leap_scaling.rates, numbers.ENOUGH,
        wrong={"a root for every order": -s.leap / 2, "a whole power": 1 - s.leap},
        uses=_SIGNAL_USES,
    ),
    _exponent(
        "noise-rate", "The noise of a gradient at n = d^(l - delta)", eq(s.noise_rate, (1 - s.leap + s.shortfall) / 2),
        leap_scaling.rates, numbers.ENOUGH + numbers.TOO_FEW + numbers.FAR_TOO_FEW_QUIET,
        wrong={
            "one coordinate of it": (s.shortfall - s.leap) / 2,
            "more samples, more noise": (1 + s.leap - s.shortfall) / 2,
        },
        uses=("wider.leap.noise",),
    ),
    _exponent(
        "share-below-one",
        "With too few samples a neuron keeps a vanishing share in the target's directions: d^(-delta/2)",
        eq(s.overlap_rate, -s.shortfall / 2), leap_scaling.share_below_one, numbers.TOO_FEW,
        wrong={"as random weights": -_half, "no loss": sp.S.Zero},
        uses=("wider.leap.signal-rate", "wider.leap.noise-rate"), note=_ONE,
    ),
    _exponent(
        "share-beyond-one", "Short by more than a factor of d the step does not improve on random weights",
        eq(s.overlap_rate, -_half), leap_scaling.share_beyond_one, numbers.FAR_TOO_FEW,
        wrong={"the law of small shortfalls": -s.shortfall / 2, "no loss": sp.S.Zero},
        domain=_FAR, uses=("wider.leap.signal-rate", "wider.leap.noise-rate"), note=_ONE,
    ),
    _exponent(
        "share-enough", "With n of order d^l a neuron keeps a share of order one in the target's directions",
        eq(s.overlap_rate, sp.S.Zero), leap_scaling.share_enough, numbers.ENOUGH,
        wrong={"as random weights": -_half, "half of it lost": -_half / 2},
        uses=("wider.leap.signal-rate", "wider.leap.noise-rate"), note=_TWO,
    ),
    _exponent(
        "leap-space", "What a neuron learns lies in the space of the first tensor, up to d^(-1/2)",
        eq(s.across_rate, -_half), leap_scaling.across, None,
        wrong={"as much outside": sp.S.Zero, "less outside": sp.S.NegativeOne},
        uses=("wider.leap.signal-rate", "wider.leap.noise-rate"), note=_TWO + " The simulation has leap index one.",
    ),
)

STEP = claim(
    "wider.leap.step", "The learning rate that makes the signal of order one: eta = p d^((l-1)/2)", THEOREMS,
    eq(s.step_rate, (s.leap - 1) / 2), _EXPONENTS,
    ByDerivation(leap_scaling.rates),
    wrong={"a root more": s.leap / 2, "a whole power": s.leap - 1},
    uses=("wider.leap.signal-rate",), note="For leap index one and p of order d this is the giant step eta of order d.",
)

_right = RATES[-1]
PRINTED = claim(
    "wider.leap.printed-every-direction", "Every direction of the target learned at n of order d^l, as printed", SLIDES,
    eq(s.across_rate, sp.S.Zero), _right.domain,
    *_right.checks,
    kind=Kind.CONVENTION, role=Role.PRINTED,
    wrong={"more outside": _half, "a little less outside": -_half / 2},
    uses=_right.uses,
    note="The theorems are printed for the overlap with one given direction w_k*. A direction outside the space of "
         "the first tensor, such as the second one of z1 + z1 z2, is not learned in one step; the statement is about "
         "the norm of the projection.",
)

CLAIMS: tuple[Claim, ...] = (*EXAMPLES, SECOND_ORDER, *SIGNALS, NOISE, *RATES, STEP, PRINTED)

"""The sign activation, in closed form from beginning to end (Sections 3.1 and 3.2)."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.closed_forms import sign_activation
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import NonNegative, Obligation
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.protocol.statement import claim, eq, ge, le
from giantsteps.verify.second_route.equivalence import features as numbers
from giantsteps.verify.second_route.grids import half_line

# --- the sign activation ---------------------------------------------------------------------------------------------


def _sign_first(point: Point) -> dict[str, float]:
    z, weights = half_line()
    return {s.h1.name: float(2 * weights @ z), s.h2.name: float(2 * weights.sum())}


SIGN_FIRST = claim(
    "result-3-1.sign-first-coefficient", "h1 of the sign activation", paper("Section 3.1, on (12)"),
    eq(s.h1, sp.sqrt(2 / sp.pi)), Domain(),
    ByDerivation(sign_activation.first_moments),
    ByNumbers("Gauss-Legendre panels on the half line", _sign_first, tolerances.ROUNDING, points=1),
    wrong={"the square": 2 / sp.pi, "the half line once": 1 / sp.sqrt(2 * sp.pi)},
)


def _sign_sum(point: Point) -> dict[str, float]:
    """sum_{k=2}^{2J+1} k s_k^2 for sign, with s_k integrated; and b_J as a product of ratios."""
    cut = int(str(point["cut"]))
    z, weights = half_line()
    total, previous, current = 0.0, np.ones_like(z), z  # He_k/sqrt(k!) by its recurrence
    for k in range(1, 2 * cut + 2):
        if k >= 2 and k % 2:
            total += k * float(2 * weights @ current) ** 2
        previous, current = current, (z * current - np.sqrt(k) * previous) / np.sqrt(k + 1)
    ratio = float(np.prod([(2 * j - 1) / (2 * j) for j in range(1, cut + 1)]))
    return {s.partial_sum.name: total, s.level.name: cut, s.central_ratio.name: ratio}


_sign_partial = 2 / sp.pi * ((2 * s.level + 1) * s.central_ratio - 1)

_CUTS = Domain(ranges=(Range("cut", choices=("1", "2", "5", "10", "20")),))

SIGN_SUM = claim(
    "result-3-1.sign-partial-sums", "The sums of k s_k^2 for the sign activation", paper("Section 3.1, on (12)"),
    eq(s.partial_sum, _sign_partial), _CUTS,
    ByDerivation(sign_activation.divergence),
    ByNumbers("Hermite coefficients integrated on the half line", _sign_sum, tolerances.QUADRATURE),
    wrong={
        "the linear term left in": _sign_partial + 2 / sp.pi,
        "2J for 2J + 1": 2 / sp.pi * (2 * s.level * s.central_ratio - 1),
    },
    uses=("result-3-1.hermite-sum",),
)


def _divergence_obligations(statement: sp.Basic) -> tuple[Obligation, ...]:
    """lhs - rhs of S_J >= rhs, with b_J at its lower bound 1/(2 sqrt J), has to be a sum of squares."""
    derivation = sign_activation.divergence()
    least = derivation.results[s.partial_sum].subs(s.central_ratio, 1 / (2 * sp.sqrt(s.level)))
    difference = (statement.lhs - statement.rhs).subs(s.partial_sum, least)
    return (
        *derivation.obligations,
        NonNegative("the sum minus its bound", difference, ((1 / (sp.pi * sp.sqrt(s.level)), sp.S.One),)),
    )


SIGN_DIVERGES = claim(
    "result-3-1.sign-diverges", "The sums grow like sqrt(J): for sign the step has no bulk variance",
    paper("Section 3.1, on (11) and (12)"),
    ge(s.partial_sum, 2 / sp.pi * (sp.sqrt(s.level) - 1)), _CUTS,
    ByObligations("b_J >= 1/(2 sqrt J)", _divergence_obligations),
    ByNumbers("Hermite coefficients integrated on the half line", _sign_sum, tolerances.QUADRATURE),
    wrong={
        "faster than it is": 2 / sp.pi * (2 * sp.sqrt(s.level) - 1),
        "linear in J": 2 / sp.pi * (s.level + 1),
        "bounded": le(s.partial_sum, 1),
    },
    uses=("result-3-1.sign-partial-sums",),
    note="Result 3.1 needs E[(sigma' - h1)^2] finite; spiked random features with a sign activation exist without it.",
)

# --- the sign activation ---------------------------------------------------------------------------------------------

_SIGN = Domain(ranges=(Range(s.r, -2.0, 2.0), Range(s.c, 0.5, 2.0), Range(s.kappa, -2.0, 2.0)))

_sign_mu0 = sp.erf(s.r * s.kappa / sp.sqrt(2 * s.c))

_sign_mu1 = sp.sqrt(2 / (sp.pi * s.c)) * sp.exp(-(s.r**2) * s.kappa**2 / (2 * s.c))

_SIGN_CHECKS = (
    ByDerivation(sign_activation.conditional_coefficients),
    ByNumbers("Gauss-Legendre panels on either side of the jump", numbers.sign_coefficients, tolerances.ROUNDING),
)

SIGN_MU0 = claim(
    "result-3-2.sign-mu0", "mu0 of the sign activation", paper("Section 3.2, on (15)"),
    eq(s.mu0, _sign_mu0), _SIGN,
    *_SIGN_CHECKS,
    wrong={"2 forgotten": sp.erf(s.r * s.kappa / sp.sqrt(s.c)), "printed at c = 1": _sign_mu0.subs(s.c, 1)},
)

SIGN_MU1 = claim(
    "result-3-2.sign-mu1", "mu1 of the sign activation", paper("Section 3.2, on (15)"),
    eq(s.mu1, _sign_mu1), _SIGN,
    *_SIGN_CHECKS,
    wrong={"E[z sigma], without 1/sqrt(c)": sp.sqrt(s.c) * _sign_mu1, "the derivative in kappa": s.r * _sign_mu1},
)

SIGN_MU2 = claim(
    "result-3-2.sign-mu2", "mu2 of the sign activation", paper("Section 3.2, on (15)"),
    eq(s.mu2_square, 1 - _sign_mu0**2 - s.c * _sign_mu1**2), _SIGN,
    *_SIGN_CHECKS,
    wrong={"c forgotten": 1 - _sign_mu0**2 - _sign_mu1**2, "mu1 left in": 1 - _sign_mu0**2},
    uses=("result-3-2.sign-mu0", "result-3-2.sign-mu1"),
)

CLAIMS: tuple[Claim, ...] = (
    SIGN_FIRST, SIGN_SUM, SIGN_DIVERGES, SIGN_MU0, SIGN_MU1, SIGN_MU2,
)

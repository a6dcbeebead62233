"""Why the lower bound is written with kappa mu1 and not with the derivative of mu1: for tanh the two lines differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds.tanh_tails import exponential_tails
from giantsteps.derivations.language import symbols as s
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.verify.checks.points import BySearch, Point
from giantsteps.verify.checks.proofs import ByTheorem
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.protocol.statement import claim, ge
from giantsteps.verify.protocol.tolerances import QUADRATURE

TAILS = sp.exp(2 * s.c - 2 * s.r * sp.Abs(s.kappa)) * (1 - sp.erf(sp.sqrt(2 * s.c)))


def _slope(point: Point) -> Mapping[str, float]:
    r, c, kappa = (float(point[x.name]) for x in (s.r, s.c, s.kappa))
    found = conditional_coefficients(activation("tanh(z)"), r, c, 0.0, np.array([kappa]))
    return {s.mu1.name: float(found.mu1[0])}


CLAIMS: tuple[Claim, ...] = (
    claim(
        "bounds.tanh-other-line",
        "For tanh kappa mu1 and the derivative of mu1 do not span the same line: mu1 has exponential tails",
        paper("Section 4.3"),
        ge(s.mu1, TAILS), Domain((Range(s.r, 0.3, 2.0), Range(s.c, 0.5, 2.0), Range(s.kappa, -6.0, 6.0))),
        BySearch("mu1 of tanh by quadrature", _slope, QUADRATURE, examples=200),
        ByTheorem("1/cosh^2 is not below exp(-2 |u|)", exponential_tails),
        wrong={"half of the rate": TAILS.xreplace({s.r: s.r / 2}), "eight times more": 8 * TAILS},
        note="If mu1' = -k kappa mu1, mu1 would be a multiple of exp(-k kappa^2/2), which falls below every "
             "exponential. So the span of mu0 and mu1', printed on the slides, is another one than that of mu0 and "
             "kappa mu1.",
    ),
)

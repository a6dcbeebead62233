"""The saddle point in the slides' normalisation, and what the slides print (Section 3.3, equations (18)-(20))."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import mu1, varpi, varrho
from giantsteps.derivations.saddle_point import conventions
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.saddle_point.formulas import E2, E, I_nu, S, V, b, nu, q, ratio, x
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Role, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.models import DOMAIN, GENERIC
from giantsteps.verify.solver.models import result_3_3, solver, solver_in_two_variables

SECTION = "Section 3.3"
PLAIN = Domain(interpretations=(GENERIC,))


def _slides(
    variable: sp.Symbol, name: str, title: str, unknown: sp.Symbol, right: sp.Expr, misprint: sp.Expr | None = None
) -> Claim:
    spectral = right.has(s.mode)
    proof = ByDerivation(partial(conventions.in_slides_normalisation, variable))
    return claim(
        f"result-3-3.slides.{name}", title, paper(SECTION),
        eq(unknown, right), PLAIN if spectral else DOMAIN,
        *((proof,) if spectral else (proof, solver_in_two_variables)),
        kind=Kind.FIXED_POINT,
        wrong={} if misprint is None else {"as printed on the slides": misprint},
        uses=("result-3-3.free-energy",),
    )


def _slides_claims() -> tuple[Claim, ...]:
    # The slides average over a Gaussian y of variance rho; here y = sqrt(rho) z.
    field = sp.sqrt(s.rho) * s.z
    psi_right = E2((field * mu1 * b + s.psi_paper * mu1**2) / (1 + V))
    printed_error = eq(s.q1_hat, ratio * E2(mu1**2 * (b**2 + s.rho * q - mu1**2 * s.psi_paper**2) / (1 + V) ** 2))
    return (
        _slides(
            s.zeta, "zeta-hat", "Conjugate of zeta as the slides normalise it", s.zeta_hat_slides,
            s.alpha / sp.sqrt(s.beta) * E2(s.kappa * mu1 * b / (1 + V)),
        ),
        _slides(
            s.psi_paper, "psi-hat", "Conjugate of psi as the slides normalise it: a factor 1/rho is missing there",
            s.psi_hat_slides, s.alpha / (s.rho * sp.sqrt(s.beta)) * psi_right, s.alpha / sp.sqrt(s.beta) * psi_right,
        ),
        _slides(
            s.zeta_hat_slides, "zeta", "The slides' equation for zeta", s.zeta,
            s.zeta_hat_slides * sp.sqrt(s.beta) * I_nu
            + s.beta ** sp.Rational(3, 2) * s.zeta_hat_slides * s.V1_hat * I_nu**2 / (1 - x),
        ),
        _slides(
            s.psi_hat_slides, "psi", "The slides' equation for psi, with pi carrying the norm sqrt(rho)", s.psi_paper,
            s.psi_hat_slides * sp.sqrt(s.beta) * nu(varrho * (sp.sqrt(s.rho) * varpi) ** 2 / S),
            s.psi_hat_slides * sp.sqrt(s.beta) * nu(varrho * varpi**2 / S),
        ),
        claim(
            "slides.V1-hat-with-rho", "The slides' conjugate of q1, with a factor rho",
            Source("slides", "Result 3.3", (20,)),
            eq(s.V1_hat, ratio * E(s.rho * mu1**2 / (1 + V))), DOMAIN,
            ByDerivation(partial(saddle_point.equation, s.q1)), solver, result_3_3,
            kind=Kind.FIXED_POINT, role=Role.PRINTED,
            note="The factor rho belongs to none of the conjugates; at gamma = 1 it would make them vanish.",
        ),
        claim(
            "slides.q1-hat-with-rho", "The slides' conjugate of V1, where a factor 1/rho is missing",
            Source("slides", "Result 3.3", (20,)),
            printed_error, DOMAIN,
            solver_in_two_variables,
            kind=Kind.FIXED_POINT, role=Role.PRINTED,
            note="Printed b^2 + rho q - mu1^2 psi^2; with the factor 1/rho restored it is b^2 + q - mu1^2 psi^2/rho.",
        ),
    )


CLAIMS: tuple[Claim, ...] = _slides_claims()

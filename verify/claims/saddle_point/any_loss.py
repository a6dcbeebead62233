"""Claims of Appendix C for any convex loss: envelopes, free energy, saddle point, (96)-(101), (106), (118)-(126)."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy import convex_loss, envelopes
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2, varpi, varrho
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.saddle_point.formulas import E, I_nu, S, V, e2, fit, nu, ratio, teacher, x
from giantsteps.verify.claims.saddle_point.result_3_3 import BLOCK_A, BLOCK_B, PLAIN
from giantsteps.verify.claims.saddle_point.systems import by_derivations, one_wrong, together
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, FINITE_DIFFERENCE
from giantsteps.verify.second_route.saddle_point import convex_losses as numbers
from giantsteps.verify.solver.models import any_loss_by_theorems, square_loss

APPENDIX = "Appendix C"

centre = fit + mu1 * s.psi * s.z + sp.sqrt(mu1**2 * (s.q1 - s.psi**2) + mu2**2 * s.q2) * s.xi
envelope, f, slope = (sp.Function(name, real=True)(teacher, centre, V) for name in ("envelope", "force", "force_slope"))

ARGUMENTS = (
    "y = g(gamma kappa + sqrt(rho) z) is the label, omega = mu0 m + kappa mu1 zeta + mu1 psi z + "
    "sqrt(mu1^2 (q1 - psi^2) + mu2^2 q2) xi the mean output, V = mu1^2 V1 + mu2^2 V2; noise of the labels is averaged "
    "over as z is."
)


def E3(integrand: sp.Expr) -> sp.Expr:
    """Average over kappa, the label's z and the output's xi."""
    return Expectation(integrand, s.kappa, s.z, s.xi)


# ---- envelopes ----


def _envelope_claims() -> tuple[Claim, ...]:
    force = (s_free.prox - s.field_mean) / s.V
    proof = ByDerivation(envelopes.envelope)
    check = ByNumbers("square, logistic, Huber and pseudo-Huber losses, by differences", numbers.one_envelope,
                      FINITE_DIFFERENCE)

    def rule(name: str, title: str, left: sp.Symbol, right: sp.Expr, *equations: int) -> Claim:
        return claim(
            f"convex.{name}", title, paper(APPENDIX, *equations),
            eq(left, right), numbers.ONE,
            proof, check,
            note="Differentiability of the loss is needed at the proximal point only.",
        )

    return (
        rule("proximal-point", "The proximal point balances loss and distance", s.loss_slope, -force, 118),
        rule("moreau-slope", "Slope of the Moreau envelope in its centre: the force", s_free.moreau_slope, -force, 101),
        rule(
            "moreau-response", "Slope of the Moreau envelope in its variance: half of the squared force",
            s_free.moreau_response, -(force**2) / 2,
        ),
        rule(
            "force-slope", "Slope of the force from the curvature of the loss", s_free.force_slope,
            -s_free.loss_curvature / (1 + s.V * s_free.loss_curvature),
        ),
        claim(
            "convex.regulariser-slope", "The readout is the slope of the regulariser's envelope in the force",
            paper(APPENDIX, 97),
            eq(s_free.penalty_slope, -s_free.minimum_point), Domain(),
            ByDerivation(envelopes.regulariser),
            wrong={"sign": s_free.minimum_point},
        ),
        claim(
            "convex.laplace", "At zero temperature an integral over one variable leaves the least exponent",
            paper(APPENDIX, 96),
            eq(s.zero_temperature, s.least_objective), numbers.LAPLACE,
            ByNumbers("four convex losses at B = 1e8", numbers.laplace, ASYMPTOTIC, finite_size=True),
            kind=Kind.LIMIT,
            wrong={"twice": 2 * s.least_objective},
            note="Laplace's method for a convex exponent, by numbers; for the square loss it is the proved "
                 "determinant.",
        ),
        claim(
            "convex.energetic-term", "Energetic term of a convex loss: its Moreau envelope, averaged",
            paper(APPENDIX, 100),
            eq(s.energetic_term, -ratio * E3(envelope)), numbers.AVERAGED,
            ByDerivation(convex_loss.energetic),
            uses=("convex.laplace", "result-3-3.local-field-mean", "result-3-3.local-field-variance",
                  "replicas.independent-samples"),
            note=ARGUMENTS,
        ),
        claim(
            "convex.free-energy", "Free energy of a convex loss with a ridge penalty", paper(APPENDIX, 106),
            eq(s.free_energy,
               (s.q1_hat * s.V1 - s.V1_hat * s.q1 + s.q2_hat * s.V2 - s.V2_hat * s.q2) / 2
               + s.zeta_hat * s.zeta
               + s.psi_hat * s.psi
               - nu((s.q1_hat * varrho + s.q2_hat + s.beta * s.psi_hat**2 * varrho * varpi**2) / S) / 2
               - s.beta * s.zeta_hat**2 * I_nu / (2 * (1 - x))
               + ratio * E3(envelope)),
            numbers.AVERAGED,
            ByDerivation(convex_loss.free_energy),
            uses=("convex.energetic-term", "result-3-3.trace-term", "result-3-3.entropic-term", "dropped.m-hat",
                  "result-3-2.same-test-error"),
            note=ARGUMENTS,
        ),
    )


# ---- the saddle point ----


def _saddle(variable: sp.Symbol, name: str, title: str, right: sp.Expr) -> Claim:
    unknown = s_free.m_response if variable == s.m else CONJUGATE[variable]
    return claim(
        f"convex.saddle.{name}", f"{title}, any convex loss", paper(APPENDIX),
        eq(unknown, right), numbers.AVERAGED,
        ByDerivation(partial(convex_loss.equation, variable)),
        ByNumbers("differences of the averaged envelope of square, logistic and pseudo-Huber losses",
                  partial(numbers.conjugate, unknown), FINITE_DIFFERENCE, numbers.loss_functions, points=2),
        # The response in m vanishes at the saddle point, where no multiple of it is seen.
        *(() if variable == s.m else (any_loss_by_theorems,)),
        kind=Kind.FIXED_POINT,
        uses=("convex.free-energy", "convex.moreau-slope", "convex.moreau-response", "convex.force-slope"),
        note=ARGUMENTS,
    )


_CONJUGATES = (
    _saddle(s.q1, "V1-hat", "Conjugate of q1", ratio * E3(-(mu1**2) * slope)),
    _saddle(s.q2, "V2-hat", "Conjugate of q2", ratio * E3(-(mu2**2) * slope)),
    _saddle(s.V1, "q1-hat", "Conjugate of V1", ratio * E3(mu1**2 * f**2)),
    _saddle(s.V2, "q2-hat", "Conjugate of V2", ratio * E3(mu2**2 * f**2)),
    _saddle(s.zeta, "zeta-hat", "Conjugate of zeta", ratio * E3(s.kappa * mu1 * f)),
    _saddle(s.psi, "psi-hat", "Conjugate of psi", ratio * (E3(mu1 * s.z * f) - s.psi * E3(mu1**2 * slope))),
    _saddle(s.m, "m", "Response in m, zero at the saddle point", -ratio * E3(mu0 * f)),
)

_PARTNERS = (s.q1, s.q2, s.V1, s.V2, s.zeta, s.psi, s.m)
_LEFT = {(s_free.m_response if v == s.m else CONJUGATE[v]): partial(convex_loss.equation, v) for v in _PARTNERS}
_OVERLAPS = tuple(c for c in (*BLOCK_A, *BLOCK_B) if c.statement.lhs != s.m)
_RIGHT = {
    CONJUGATE[v]: partial(convex_loss.equation, v)
    for v in (s.q1_hat, s.q2_hat, s.zeta_hat, s.psi_hat, s.V1_hat, s.V2_hat)
}


def _system_claims() -> tuple[Claim, ...]:
    return (
        claim(
            "convex.conjugates", "Saddle point of a convex loss: the conjugates", paper(APPENDIX, 119),
            together(_CONJUGATES), numbers.AVERAGED,
            by_derivations("stationarity of the free energy of a convex loss", _LEFT),
            ByNumbers("differences of the averaged envelope of square, logistic and pseudo-Huber losses",
                      numbers.conjugates, FINITE_DIFFERENCE, numbers.loss_functions, points=1),
            kind=Kind.FIXED_POINT, wrong=one_wrong(_CONJUGATES), uses=tuple(c.id for c in _CONJUGATES), note=ARGUMENTS,
        ),
        claim(
            "convex.overlaps", "Saddle point of a convex loss with a ridge penalty: the overlaps", paper(APPENDIX, 120),
            together(_OVERLAPS), PLAIN,
            by_derivations("stationarity of the free energy of a convex loss", _RIGHT),
            kind=Kind.FIXED_POINT, wrong=one_wrong(_OVERLAPS), uses=tuple(c.id for c in _OVERLAPS),
        ),
        claim(
            "convex.square-loss-solution",
            "The general equations, iterated with the proximal map of the square loss, give the ridge test error",
            paper(APPENDIX),
            eq(s.test_error, E(e2) - s.noise), numbers.ITERATED,
            ByDerivation(saddle_point.test_error),
            square_loss,
            kind=Kind.FIXED_POINT, uses=("convex.conjugates", "convex.overlaps", "result-3-3.test-error"),
        ),
    )


CLAIMS: tuple[Claim, ...] = (*_envelope_claims(), *_CONJUGATES, *_system_claims())

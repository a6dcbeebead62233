"""Claims that leave-one-out gives the same saddle point as the replicas: every equation proved from either."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2, y0, y1
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.saddle_point import leave_one_out
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.saddle_point.formulas import E, V, e2, fit, ratio
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Kind
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route.models import DOMAIN, functions_at
from giantsteps.verify.solver.models import measured, measured_with_moments, result_3_3

_solver = ByNumbers("the solver on random models", measured, SOLVER, functions_at, points=4)
_moments = ByNumbers("the solver, and integrals over the Marchenko-Pastur density", measured_with_moments, SOLVER,
                     points=4)


def _claim(
    name: str,
    title: str,
    unknown: sp.Symbol,
    right: sp.Expr,
    cavity: Callable[[], Derivation],
    replicas: Callable[[], Derivation],
    check: ByNumbers,
) -> Claim:
    return claim(
        f"leave-one-out.{name}", f"{title}: leave-one-out and replicas agree", paper("Section 3.3"),
        eq(unknown, right), DOMAIN,
        ByDerivation(cavity), ByDerivation(replicas), check, result_3_3,
        kind=Kind.FIXED_POINT,
        note="Proved twice: by leaving out a sample or a neuron, and by differentiating the replica free energy.",
    )


def _sample(partner: sp.Symbol, name: str, title: str, right: sp.Expr) -> Claim:
    unknown = CONJUGATE[partner]
    replicas = partial(saddle_point.equation, partner)
    cavity = leave_one_out.balance_of_mean if partner == s.m else leave_one_out.samples
    return _claim(name, title, unknown, right, cavity, replicas, _solver)


def _overlap(partner: sp.Symbol, name: str, title: str, right: sp.Expr) -> Claim:
    unknown = CONJUGATE[partner]
    replicas = partial(saddle_point.isotropic, partner)
    return _claim(name, title, unknown, right, leave_one_out.overlaps, replicas, _moments)


_across = s.q1_hat + s.beta * s.psi_hat**2
_along = s.q2_hat + s.beta * s.c * s.zeta_hat**2
_residual = y0 - fit

CLAIMS: tuple[Claim, ...] = (
    _sample(s.q1, "V1-hat", "Response of a sample through the bulk", ratio * E(mu1**2 / (1 + V))),
    _sample(s.q2, "V2-hat", "Response of a sample through the noise", ratio * E(mu2**2 / (1 + V))),
    _sample(s.V1, "q1-hat", "Noise of the samples on the bulk", ratio * E(mu1**2 * e2 / (1 + V) ** 2)),
    _sample(s.V2, "q2-hat", "Noise of the samples on the neurons", ratio * E(mu2**2 * e2 / (1 + V) ** 2)),
    _sample(s.zeta, "zeta-hat", "Force along the spike", ratio * E(s.kappa * mu1 * _residual / (1 + V))),
    _sample(s.psi, "psi-hat", "Force along the target's other direction", ratio * E(mu1 * y1 / (1 + V))),
    _sample(
        s.m, "m", "Balance of the readout mean", E(mu0 * (y0 - s.kappa * mu1 * s.zeta) / (1 + V)) / E(mu0**2 / (1 + V)),
    ),
    _overlap(s.zeta_hat, "zeta", "Overlap with the spike", s.beta * s.c * s.V2 * s.zeta_hat),
    _overlap(s.psi_hat, "psi", "Overlap with the target's other direction", s.beta * s.V1 * s.psi_hat),
    _overlap(
        s.V1_hat, "q1", "Size of the projected readout", _across * s.resolvent_double + _along * s.resolvent_mixed,
    ),
    _overlap(s.V2_hat, "q2", "Size of the readout", _across * s.resolvent_mixed + _along * s.resolvent_square),
)

"""The formulas of Section 3.3 as the paper states them, typed here and nowhere derived."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import g, mu0, mu1, mu2, varpi, varrho, vartau, y0, y1, y2
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s

V = mu1**2 * s.V1 + mu2**2 * s.V2
fit = mu0 * s.m + s.kappa * mu1 * s.zeta
q = mu1**2 * s.q1 + mu2**2 * s.q2
ratio = s.alpha / s.beta
S = s.ridge + s.V1_hat * varrho + s.V2_hat
teacher = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
b = teacher - fit - mu1 * s.psi_paper * s.z / sp.sqrt(s.rho)


def e2_of(mean: sp.Expr, signal: sp.Expr = mu1 * s.psi, variance: sp.Expr = q) -> sp.Expr:
    """The mean squared error at given kappa, label noise included, of an output of this mean and variance whose
    covariance with z of the label is the signal.
    """
    return y2 - 2 * y0 * mean + mean**2 - 2 * y1 * signal + variance


e2 = e2_of(fit)


def E(integrand: sp.Expr) -> sp.Expr:
    """Average over kappa."""
    return Expectation(integrand, s.kappa)


def over_z(integrand: sp.Expr) -> sp.Expr:
    """Average over z."""
    return Expectation(integrand, s.z)


def E2(integrand: sp.Expr) -> sp.Expr:
    """Average over kappa and z."""
    return Expectation(integrand, s.kappa, s.z)


def nu(integrand: sp.Expr) -> sp.Expr:
    """Integral over the law nu of Assumption 3.2."""
    return Expectation(integrand, s.mode)


I_nu = nu(varrho * vartau**2 / S)
x = s.beta * s.V1_hat * I_nu
free_energy_value = (
    (s.q1_hat * s.V1 - s.V1_hat * s.q1) / 2
    + (s.q2_hat * s.V2 - s.V2_hat * s.q2) / 2
    + s.zeta_hat * s.zeta
    + s.psi_hat * s.psi
    - nu(
        (
            s.q1_hat * varrho
            + s.q2_hat
            + s.beta * s.zeta_hat**2 * varrho * vartau**2
            + s.beta * s.psi_hat**2 * varrho * varpi**2
        )
        / S
    )
    / 2
    - s.beta**2 * s.V1_hat * s.zeta_hat**2 * I_nu**2 / (2 * (1 - x))
    + ratio * E(e2 / (2 * (1 + V)))
)

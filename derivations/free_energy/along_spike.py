"""The functions of kappa = v.x and of the spectrum that Section 3.3 is written in, and averages over them."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.features import Features

PAPER = "arXiv 2402.04980"

# The functions along the spike. They are real; mu0, mu1, mu2 are those of equation (15), y0 = E_z[y], y1 = E_z[z y] and
# y2 = E_z[y^2] + Delta the moments of the label y = g(gamma kappa + sqrt(rho) z) + sqrt(Delta) N(0, 1) at fixed kappa.
mu0, mu1, mu2, y0, y1, y2 = (sp.Function(name, real=True)(s.kappa) for name in ("mu0", "mu1", "mu2", "y0", "y1", "y2"))
g = sp.Function("g", real=True)

# The limiting law nu of Assumption 3.2 as three functions of one standard normal label u of the eigenvectors of W W^T:
# the eigenvalue varrho, and the components tau = sqrt(d) f.v and pi = sqrt(d) f.theta_perp, |theta_perp| = 1, of the
# right singular vector f. Any joint law on the real line can be written so; an integral over nu is then an expectation.
varrho = sp.Function("varrho", nonnegative=True)(s.mode)
vartau = sp.Function("vartau", real=True)(s.mode)
varpi = sp.Function("varpi", real=True)(s.mode)

# One letter and one direction, as in Section 3.3.
ONE_LETTER = Features(
    kappa=(s.kappa,),
    mu0=(mu0,),
    mu1=(mu1,),
    mu2=(mu2,),
    m=(s.m,),
    zeta=((s.zeta,),),
    psi=(s.psi,),
    q1=((s.q1,),),
    q2=(s.q2,),
    V1=((s.V1,),),
    V2=(s.V2,),
    label=(y0, y1, y2),
)
denominator = s.ridge + s.V1_hat * varrho + s.V2_hat


def over_kappa(integrand: sp.Expr) -> sp.Expr:
    """E over kappa ~ N(0, 1)."""
    return Expectation(integrand, s.kappa)


def over_modes(integrand: sp.Expr) -> sp.Expr:
    """Integral over the law nu of Assumption 3.2, as an expectation over the label of the modes."""
    return Expectation(integrand, s.mode)

r"""What a trained readout sees of a sample at given kappa_j = v_j.x: one letter or several, one direction or several.

A neuron of letter u has the equivalent feature (equations (14)-(15), with letters (32))

    phi_u = mu0_u + mu1_u (sum_j kappa_j w.v_j + w.x_perp) + mu2_u xi,

and the readout a enters through overlaps, letter by letter: m_u = 1.a_u/sqrt p, zeta_uj = a_u.W_u v_j/sqrt p,
psi_u = a_u.W_u theta_perp/sqrt p, q1_uu' between Pi W_u^T a_u/sqrt p and Pi W_u'^T a_u'/sqrt p, and q2_u = |a_u|^2/p.
V1 and V2 are the traces that stand where q1 and q2 do in what one more sample moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.language import symbols as s

Row = tuple[sp.Expr, ...]


@dataclass(frozen=True)
class Features:
    """Functions of kappa and overlaps, letter by letter, and the moments y0, y1, y2 of the label at given kappa.

    ``zeta``: a row of directions for each letter. ``q1``, ``V1``: a row of letters for each letter. ``norms``: what the
    mean gains where the rows of a letter differ in norm, k2_u = d mu0_u/dc with the overlap chi_u.
    """

    kappa: Row
    mu0: Row
    mu1: Row
    mu2: Row
    m: Row
    zeta: tuple[Row, ...]
    psi: Row
    q1: tuple[Row, ...]
    q2: Row
    V1: tuple[Row, ...]
    V2: Row
    label: tuple[sp.Expr, sp.Expr, sp.Expr]
    norms: tuple[tuple[sp.Expr, sp.Expr], ...] = ()

    @property
    def combined(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """The functions that the mean output combines, each with its overlap: mu0_u, kappa_j mu1_u, k2_u by letter."""
        found: list[tuple[sp.Expr, sp.Expr]] = []
        norms: list[tuple[tuple[sp.Expr, sp.Expr], ...]] = [(pair,) for pair in self.norms] or [()] * len(self.mu0)
        for mean, linear, m, zeta, norm in zip(self.mu0, self.mu1, self.m, self.zeta, norms, strict=True):
            along = zip(self.kappa, zeta, strict=True)
            found += [(mean, m), *((x * linear, overlap) for x, overlap in along), *norm]
        return tuple(found)

    @property
    def fit(self) -> sp.Expr:
        """yhat = sum_u (mu0_u m_u + sum_j kappa_j mu1_u zeta_uj), the mean output: what (23) takes off, and (142); and
        k2_u chi_u of each letter where there are ``norms``.
        """
        return sp.Add(*(function * overlap for function, overlap in self.combined))

    @property
    def V(self) -> sp.Expr:
        """V = sum_uu' mu1_u mu1_u' V1_uu' + sum_u mu2_u^2 V2_u: how a sample moves its own output, (21) and (154)."""
        return self._variance(self.V1, self.V2)

    @property
    def q(self) -> sp.Expr:
        """q = sum_uu' mu1_u mu1_u' q1_uu' + sum_u mu2_u^2 q2_u, the variance of a new output: (22) and (144)-(146)."""
        return self._variance(self.q1, self.q2)

    @property
    def signal(self) -> sp.Expr:
        """sum_u mu1_u psi_u, the covariance of a new output with z of the label: (128) and (143)."""
        return sp.Add(*(linear * overlap for linear, overlap in zip(self.mu1, self.psi, strict=True)))

    @property
    def e2(self) -> sp.Expr:
        """The mean squared error on a new sample, label noise included: E_z[b^2] + Delta + q - signal^2 with b of (23),
        that is y2 - 2 y0 yhat + yhat^2 - 2 y1 signal + q.
        """
        return self.e2_of(self.fit)

    @property
    def error(self) -> sp.Expr:
        """e2 - Delta, which (25) and (157) average: the squared distance from the label without its noise."""
        return self.e2 - s.noise

    @property
    def weight(self) -> sp.Expr:
        """1/(1 + V), what is left of a residual once its sample is seen, in all averages of (20) and (122)-(125)."""
        return 1 / (1 + self.V)

    def e2_of(self, fit: sp.Expr) -> sp.Expr:
        """e2 where the mean output is ``fit``, a name of it say."""
        y0, y1, y2 = self.label
        return y2 - 2 * y0 * fit + fit**2 - 2 * y1 * self.signal + self.q

    def _variance(self, pairs: Sequence[Row], own: Row) -> sp.Expr:
        """sum_uu' mu1_u mu1_u' pairs_uu' + sum_u mu2_u^2 own_u."""
        linear = ((f, g, pairs[u][w]) for u, f in enumerate(self.mu1) for w, g in enumerate(self.mu1))
        noise = (f**2 * size for f, size in zip(self.mu2, own, strict=True))
        return sp.Add(*(f * g * overlap for f, g, overlap in linear), *noise)

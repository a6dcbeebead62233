r"""What one more step on a fresh batch sees: a sample, its label and a row, at a spike r v, an alignment and a bulk.

A sample has the coordinates kappa = v.x, z along the target's part orthogonal to v, and others that are independent of
label and rows. A bulk row b of squared norm c sees w = b.x/sqrt(c), so that a neuron receives r kappa + sqrt(c) w. The
label is y = g(gamma kappa + sqrt(1 - gamma^2) z) + sqrt(Delta) e.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.gradient_step.overlapping_rows import over_own_view
from giantsteps.derivations.kernel.algebra import congruence, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear, moment
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import isolated, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import functions, g, sigma, sigma_prime
from giantsteps.derivations.several_steps import symbols as s

SOURCE = "beyond the paper: several gradient steps"
STEP = s.eta / s.beta

# What a row sees of a sample, and label noise of unit variance.
w, e = sp.symbols("w e", real=True)
SAMPLE = (s.kappa, s.z, e)
SEEN = (*SAMPLE, w)
_hole = sp.Symbol("hole", real=True)
_ONE = sp.Integer(1)

# Given kappa: the mean of sigma, mean, linear coefficient and variance of sigma'. The residual of a sample, and its
# force on a bulk row.
mu0, mu1, mu11 = functions("mu_0", "mu_1", "mu_11")
variance = sp.Function(r"V_{\sigma'}", nonnegative=True)
residual, force = functions("Y", "f")


@dataclass(frozen=True)
class Before:
    """The state before the step: ``spike`` r, ``alignment`` gamma, ``bulk`` c, and the variance of the label noise."""

    spike: sp.Expr = s.r
    alignment: sp.Expr = s.gamma
    bulk: sp.Expr = s.c
    noise: sp.Expr = s.noise

    def received(self, own: sp.Expr = w) -> sp.Expr:
        """r kappa + sqrt(c) w, what a neuron receives."""
        return self.spike * s.kappa + sp.sqrt(self.bulk) * own

    @property
    def target(self) -> sp.Expr:
        """u = theta.x."""
        return self.alignment * s.kappa + sp.sqrt(1 - self.alignment**2) * s.z

    @property
    def label(self) -> sp.Expr:
        """y of a sample."""
        return g(self.target) + sp.sqrt(self.noise) * e

    @property
    def slope(self) -> sp.Expr:
        """sigma' at what a neuron receives."""
        return sigma_prime(self.received())

    @property
    def mean(self) -> Theorem:
        """mu0(kappa), which the output of the network tends to."""
        return define(mu0(s.kappa), Expectation(sigma(self.received()), w), "the mean of sigma given kappa", s.kappa)

    @property
    def mean_slope(self) -> Theorem:
        """mu1(kappa)."""
        return define(mu1(s.kappa), Expectation(self.slope, w), "the mean of sigma' given kappa", s.kappa)

    @property
    def bend(self) -> Theorem:
        """mu11(kappa)."""
        coefficient = Expectation(w * self.slope, w) / sp.sqrt(self.bulk)
        return define(mu11(s.kappa), coefficient, "the linear coefficient of sigma' given kappa", s.kappa)

    @property
    def slope_variance(self) -> Theorem:
        """Var(sigma'|kappa)."""
        spread = Expectation((self.slope - mu1(s.kappa)) ** 2, w)
        return define(variance(s.kappa), spread, "the variance of sigma' given kappa", s.kappa)

    @property
    def residual(self) -> Theorem:
        """Y = y - mu0(kappa)."""
        return define(residual(*SAMPLE), self.label - mu0(s.kappa), "the label less the output", *SAMPLE)

    @property
    def force(self) -> Theorem:
        """Y (sigma' - mu1(kappa)), by which a sample moves a bulk row."""
        pull = residual(*SAMPLE) * (self.slope - mu1(s.kappa))
        return define(force(*SEEN), pull, "the residual times what sigma' has beyond its mean", *SEEN)

    @property
    def views(self) -> tuple[Theorem, Theorem, Theorem]:
        """Over what a row sees, sigma' - mu1 averages to zero, its product with w to sqrt(c) mu11, its square to
        Var(sigma'|kappa).
        """
        centred = self.slope - mu1(s.kappa)
        mean = rewrite(
            (linear((), Expectation(centred, w), ((_ONE, self.slope), (-mu1(s.kappa), _ONE))), self.mean_slope), True
        )
        parts = ((_ONE, w * self.slope), (-mu1(s.kappa), w))
        line = rewrite((linear((), Expectation(w * centred, w), parts), moment((), w, 1)))
        line = rewrite((line, isolated(Expectation(w * self.slope, w), self.bend)))
        square = ring((self.slope_variance,), Equation(value(self.slope_variance), variance(s.kappa)), (-_ONE,))
        return mean, line, square

    def moved(self, weight: sp.Expr, power: int = 1) -> Theorem:
        """E[weight f^power] over a sample and what the row sees, the latter taken first."""
        mean, line, square = self.views
        of_row = (self.slope - mu1(s.kappa)) ** power * (w if weight == w else _ONE)
        beside = residual(*SAMPLE) ** power * (_ONE if weight == w else weight)
        whole = average((congruence((self.force,), weight * _hole**power, _hole),), SEEN)
        named = square if power == 2 else line if weight == w else mean
        return averages_expanded(rewrite((whole, over_own_view(beside, of_row, named, SAMPLE, w))))


HERE = Before()
# The first step: no spike yet, so that v may be taken along the target, and rows of length one.
START = Before(sp.S.Zero, sp.S.One, sp.S.One)

r"""Gaussian integrals over R replicas with a replica-symmetric matrix, for symbolic R, and their R -> 0 limits.

The matrix A delta_ij - B is A 1 - B u u^T with the vector u of R ones, a perturbation of rank one: it has the
eigenvalue A on differences of replicas (R - 1 times) and A - R B on their sum. So

    ln int prod da_i exp(-(1/2) sum_ij (A delta_ij - B) a_i a_j + f sum_i a_i)
        = (R/2) ln 2 pi - ((R-1) ln A + ln(A - R B))/2 + R f^2/(2 (A - R B)),

and per replica, as R -> 0: (ln 2 pi - ln A + (B + f^2)/A)/2. Section C and F of arXiv 2402.04980 use nothing else.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.assumptions import log_gaussian, unfolded, updated_form, updated_log_det
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.calculus import logarithm
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.steps import equal, value
from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import mode_integral, repeated, sample_average

A, B, f = s.mode_curvature, s.mode_coupling, s.mode_force
R = s.replicas
_Powers = tuple[tuple[sp.Expr, int], ...]


def with_ones(own: sp.Expr, weight: sp.Expr) -> sp.Expr:
    """ln det(own 1 + weight u u^T), u the vector of R ones."""
    return updated_log_det(repeated(R, sp.log(own)), repeated(R, 1 / own), weight)


def on_ones(own: sp.Expr, weight: sp.Expr, force: sp.Expr) -> sp.Expr:
    """F.(own 1 + weight u u^T)^-1 F for F = force u."""
    one = repeated(R, force / own)
    return updated_form(repeated(R, force**2 / own), one, one, repeated(R, 1 / own), weight)


def logarithms_split(theorem: Theorem, *products: _Powers) -> Theorem:
    """``theorem`` with every logarithm on its right side that is one of a product of powers given written as a sum."""
    for term in sorted(value(theorem).atoms(sp.log), key=sp.default_sort_key):
        for powers in products:
            try:
                split = logarithm((), term.args[0], tuple((base, sp.Integer(power)) for base, power in powers))
            except Refused:
                continue
            theorem = rewrite((theorem, split))
            break
    return theorem


def slope_at_zero(counted: Theorem) -> Theorem:
    """The derivative in the number of replicas of both sides of an equation, at R = 0."""
    return instantiate((differentiate((counted,), R),), {R: sp.Integer(0)})


@functools.cache
def integral() -> Derivation:
    """The Gaussian integral for any number of replicas."""
    meaning = define(
        mode_integral(R),
        log_gaussian(with_ones(A, -B), on_ones(A, -B, f)),
        "the Gaussian integral over R replicas",
        R,
    )
    found = unfolded(meaning)
    total = A - R * B
    split = logarithms_split(found, ((A, -1), (total, 1)))
    counted = equal(split, -((R - 1) * sp.log(A) + sp.log(total)) / 2 + R * f**2 / (2 * total))
    result = rewrite((define(s.log_mode_integral, mode_integral(R), "at R replicas"), counted))
    return Derivation(
        "Gaussian integral over replicas",
        "Appendix F, (182)-(186)",
        proved(
            "The matrix A delta_ij - B is A 1 - B u u^T with the vector u of R ones, and the force is f u.", meaning
        ),
        proved("Determinant and inverse after a perturbation of rank one.", found),
        proved("It acts on differences of replicas as A, and on their sum as A - R B.", result),
        proved("Nothing is left without replicas.", instantiate((counted,), {R: sp.Integer(0)})),
        proved("The derivative at R = 0 is what the replica trick keeps.", slope_at_zero(counted)),
        results=(result,),
    )


@functools.cache
def bracket() -> Derivation:
    """Equation (143) and the energetic part of (182), for any number of replicas and any temperature."""
    beta, b, V, q = s.inverse_temperature, s.residual, s.own_overlap, s.shared_overlap
    # The fields have the inverse covariance 1/V + other u u^T; the loss adds B to it, and the force B b u.
    one = 1 / V
    other = updated_form(sp.Integer(0), one, one, repeated(R, one), q)
    own = 1 / V + beta
    meaning = define(
        sample_average(R),
        log_gaussian(with_ones(own, other), on_ones(own, other, beta * b))
        - with_ones(V, q) / 2
        - repeated(R, beta * b**2) / 2,
        "ln E exp(-(B/2) sum_i (b - h_i)^2) over fields of covariance V delta_ij + q",
        R,
    )
    found = unfolded(meaning)
    loss, total, fields = 1 + beta * V, 1 + beta * (V + R * q), V + R * q
    split = logarithms_split(
        found,
        ((loss, 1), (V, -1)),
        ((fields, 1), (V, -1)),
        ((V, 1), (total, 1), (fields, -1), (loss, -1)),
    )
    counted = equal(split, -((R - 1) * sp.log(loss) + sp.log(total)) / 2 - R * beta * b**2 / (2 * total))
    result = rewrite((define(s.log_bracket, sample_average(R), "at R replicas"), counted))
    return Derivation(
        "replicated average of one sample",
        "Appendix D, (143); Appendix F, (182)",
        proved(
            "The fields have covariance Q = V delta_ij + q and density exp(-h.Q^-1 h/2); the loss adds B to Q^-1 and a "
            "force B b on every field.",
            meaning,
        ),
        proved("Determinants and inverses after perturbations of rank one.", found),
        proved("R - 1 differences of variance V, and the sum with V + R q, on which all of (b, ..., b) falls.", result),
        proved("Nothing is left without replicas.", instantiate((counted,), {R: sp.Integer(0)})),
        proved("The derivative at R = 0 is what the replica trick keeps.", slope_at_zero(counted)),
        results=(result,),
    )

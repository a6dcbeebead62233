"""The mean of a product of two error functions of one normal variable: of two signs with a noise of its own each.

A rotation of the variable and the two noises leaves two normal variables in the signs, with a correlation.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.closed_forms.gaussian_means import NOISY, u
from giantsteps.derivations.gradient_step.signs import sign_of_noise, without_factor
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average, independent, iterated, rotate
from giantsteps.derivations.kernel.inequalities import equal_roots
from giantsteps.derivations.kernel.search.assumptions import lemma
from giantsteps.derivations.kernel.search.steps import replaced
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.derivations.language.normal_probabilities import SignProduct
from giantsteps.derivations.language.symbols import c, x, z

_h, _k, _rho, _v, _w, _t = sp.symbols("h k rho v w t", real=True)
_ONE = sp.Integer(1)

SIGN_PRODUCT = lemma(
    "product of signs",
    Equation(
        Expectation(sgn(_v + _h) * sgn(_rho * _v + sp.sqrt(1 - _rho**2) * _w + _k), _v, _w), SignProduct(_h, _k, _rho)
    ),
    "what B(h, k, rho) stands for: two standard normal variables of correlation rho",
    _h,
    _k,
    _rho,
)


def _two_signs(first: sp.Expr, second: sp.Expr) -> Theorem:
    """E[erf(first) erf(second)] = an average of two signs over z and two noises."""
    signs = [sign_of_noise(at, noise) for at, noise in ((first, _v), (second, _w))]
    one, two = (sides(sign.statement)[0].integrand for sign in signs)
    apart = independent((), Expectation(one * two, _v, _w), one, two)
    for sign in signs:
        apart = rewrite((apart, sign))
    whole = Expectation(one * two, z, _v, _w)
    return rewrite((average((apart,), (z,)), iterated((), whole, (_v, _w))), True)


@functools.cache
def mean_of_product(gap: sp.Expr) -> Theorem:
    """E[erf(u) erf(u - gap)] = B((x - gap)/n, x/n, c/n^2) with n^2 = c + 1/2."""
    product = _two_signs(u, u - gap)
    whole = sides(product.statement)[0]
    root, wide, wider = sp.sqrt(2) * sp.sqrt(c), sp.sqrt(1 + 2 * c), sp.sqrt(1 + 4 * c)
    # The first sign sees one new variable, the second that and another one; the third is seen by none.
    both = wide * wider
    matrix = (
        (root / wide, root / both, 1 / wider),
        (1 / wide, -2 * c / both, -root / wider),
        (sp.Integer(0), (1 + 2 * c) / both, -root / wider),
    )
    theorem = rewrite((product, rotate((), whole, (_v, _w, _t), matrix)))
    rho, rest = 2 * c / (1 + 2 * c), wider / (1 + 2 * c)
    at = {_h: sp.sqrt(2) * x / wide, _k: sp.sqrt(2) * (x - gap) / wide, _rho: rho}
    law = instantiate((SIGN_PRODUCT,), at)
    law = rewrite((law, equal_roots((), Equation(sp.sqrt(1 - rho**2), rest), 2)))
    theirs, ours = (sorted(sides(by.statement)[0].atoms(sgn), key=_sees_both) for by in (law, theorem))
    for there, here in zip(theirs, ours, strict=True):
        (inside,) = there.args
        theorem = replaced(theorem, here.args[0], wide * inside)
        theorem = rewrite((theorem, without_factor(wide, inside)))
    found = rewrite((theorem, law))
    narrow = equal_roots((), Equation(1 / wide, 1 / (sp.sqrt(2) * sp.sqrt(NOISY))), 2)
    same = ring((), Equation(rho, c / NOISY))
    found = rewrite((rewrite((found, same)), narrow))
    signs, mean = sides(found.statement)
    return ring((found,), Equation(mean, signs), (-_ONE,))


def _sees_both(sign: sp.Expr) -> bool:
    """Whether the second variable stands in a sign after all."""
    return bool(sp.expand(sign.args[0]).has(_w))

r"""The heat semigroup on the closed class: P_c f(x) = E f(x + sqrt(c) z), z ~ N(0, 1), by rules.

The rules, for a half line z > t or the whole line, with D = 1 - 2 a c:

- a Gaussian factor tilts the normal law: P_c[e^{az^2+bz} f](x) = A E f(N(m, v)), v = c/D, m = (x + c b)/D,
  A = D^{-1/2} exp((a x^2 + b x + c b^2/2)/D);
- powers of z by Stein's lemma, I_{k+1} = m I_k + v k I_{k-1} + v J_k + (boundary), where J_k differentiates the error
  functions and the boundary term is (c/D) t^k e^{at^2+bt} prod erf(p_i t + q_i) times the normal density at t;
- one error function or half line: E erf(p z + q) = erf((p m + q)/sqrt(1 + 2 p^2 v)), and 1_{z>t} = (1 + sign(z - t))/2;
- two of them: E[sign U_1 sign U_2] is 1 - 4 T(h_1, a_1) - 4 T(h_2, a_2), Owen's T, if they have the same centre, and
  B(h_1, h_2, rho) of ``derivations.language.normal_probabilities`` if not. Both are entire in x, and in b: complex b is
  covered.

Nothing here is trusted: ``derivations.closed_forms.heat_equation`` leaves obligations for every result.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import sympy as sp

from giantsteps.derivations.closed_forms.gaussian_class import (
    Member,
    NotInClassError,
    Shape,
    Smooth,
    add,
    erf_derivatives,
    scale,
)
from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct

x, c = symbols.x, symbols.c

# A sum of atoms (exponentials, erf, Owen's T, sign products) with coefficients polynomial in x, c, sqrt(c), 1/D.
Atoms = Mapping[sp.Expr, sp.Expr]


def semigroup(function: Member) -> sp.Expr:
    """P_c of a member of the class, as an expression in x and c. Raises NotInClassError where no rule applies.

    A piecewise function is its leftmost piece plus, for each breakpoint t, the change of piece on the half line z > t.
    """
    total: dict[sp.Expr, sp.Expr] = {}
    _accumulate(total, function.pieces[0], None)
    for t, (left, right) in zip(function.breakpoints, pairwise(function.pieces), strict=True):
        _accumulate(total, add(right, scale(left, sp.S.NegativeOne)), t)
    return _assemble(total)


def valid_below(function: Member) -> sp.Expr:
    """The largest c* such that P_c of every term exists for 0 < c < c*: 1/(2a) for the largest a, or infinity."""
    rates = [shape.quadratic for piece in function.pieces for shape in piece if shape.quadratic.is_positive]
    return 1 / (2 * max(rates)) if rates else sp.oo


def _accumulate(total: dict[sp.Expr, sp.Expr], part: Smooth, start: sp.Expr | None) -> None:
    for shape, coefficient in part.items():
        frequency = sp.im(shape.linear)
        if frequency != 0 and start is None and not shape.erfs:
            averaged = _real_pair(shape, coefficient) if frequency.is_positive else {}
        else:
            averaged = {atom: coefficient * k for atom, k in average(shape, start).items()}
        for atom, k in averaged.items():
            total[atom] = total.get(atom, sp.S.Zero) + k


def _assemble(total: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    result = []
    for atom, coefficient in total.items():
        expanded = sp.expand(coefficient)
        if expanded != 0:
            result.append(sp.factor_terms(_without_dummies(expanded)) * atom)
    return sp.Add(*result)


def _real_pair(shape: Shape, coefficient: sp.Expr) -> Atoms:
    """2 Re of the average of a term without error functions, in cosines and sines."""
    inverse = _inverse(shape.quadratic)
    growth, frequency = shape.linear.as_real_imag()
    ((_, polynomial),) = average(shape, None).items()
    real, imaginary = sp.expand(coefficient * polynomial).as_real_imag()
    exponent = shape.quadratic * x**2 + growth * x + c * (growth**2 - frequency**2) / 2
    phase = _without_dummies(frequency * (x + c * growth) * inverse)
    envelope = _amplitude(shape.quadratic, exponent)
    return {envelope * sp.cos(phase): 2 * real, envelope * sp.sin(phase): -2 * imaginary}


@lru_cache(maxsize=4096)
def average(shape: Shape, start: sp.Expr | None) -> Atoms:
    """P_c of one term on the half line z > start (on the whole line if None)."""
    if shape.degree == 0:
        return _base(shape, start)
    inverse = _inverse(shape.quadratic)
    mean, variance = (x + c * shape.linear) * inverse, c * inverse
    k = shape.degree - 1
    before = Shape(k, shape.quadratic, shape.linear, shape.erfs)
    found: dict[sp.Expr, sp.Expr] = {}

    def collect(atoms: Atoms, factor: sp.Expr) -> None:
        for atom, coefficient in atoms.items():
            found[atom] = found.get(atom, sp.S.Zero) + factor * coefficient

    collect(average(before, start), mean)
    if k:
        collect(average(Shape(k - 1, shape.quadratic, shape.linear, shape.erfs), start), k * variance)
    for differentiated, coefficient in erf_derivatives(before):
        collect(average(differentiated, start), coefficient * variance)
    if start is not None:
        collect(_boundary(before, start), inverse)
    return {atom: coefficient for atom, k_ in found.items() if (coefficient := sp.expand(k_)) != 0}


def _boundary(shape: Shape, t: sp.Expr) -> Atoms:
    """c times the value of a term at t times the density of N(x, c) there."""
    value = t**shape.degree * sp.exp(shape.quadratic * t**2 + shape.linear * t)
    value *= sp.Mul(*(sp.erf(p * t + q) for p, q in shape.erfs))
    return {sp.exp(-((x - t) ** 2) / (2 * c)): value * sp.sqrt(c) / sp.sqrt(2 * sp.pi)}


def _amplitude(quadratic: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """D^{-1/2} exp(exponent/D)."""
    denominator = _denominator(quadratic)
    return sp.exp(exponent / denominator) / sp.sqrt(denominator)


def _base(shape: Shape, start: sp.Expr | None) -> Atoms:
    """The average of exp(a z^2 + b z) times error functions, on a half line or the whole line."""
    a, b = shape.quadratic, shape.linear
    amplitude = _amplitude(a, a * x**2 + b * x + c * b**2 / 2)
    # sign(p z + q + noise): noise of variance 1/2 makes an error function, none a half line.
    signs = [(p, q, sp.S.Half) for p, q in shape.erfs]
    if start is None:
        return {amplitude * atom: k for atom, k in _signs_average(tuple(signs), a, b).items()}
    found: dict[sp.Expr, sp.Expr] = {}
    for half in (signs, [*signs, (sp.S.One, -start, sp.S.Zero)]):
        for atom, k in _signs_average(tuple(half), a, b).items():
            found[amplitude * atom] = found.get(amplitude * atom, sp.S.Zero) + k / 2
    return found


_Sign = tuple[sp.Expr, sp.Expr, sp.Expr]


def _signs_average(signs: tuple[_Sign, ...], a: sp.Expr, b: sp.Expr) -> Atoms:
    """E prod sign(U_i) under the tilted law N(m, v), U_i = p_i z + q_i + N(0, n_i)."""
    if not signs:
        return {sp.S.One: sp.S.One}
    if len(signs) == 1:
        return {_sign_average(signs[0], a, b): sp.S.One}
    if len(signs) == 2:
        return _two_signs_average(signs[0], signs[1], a, b)
    raise NotInClassError(
        "an average over three error functions or half lines at once is no bivariate normal probability"
    )


def _sign_average(sign: _Sign, a: sp.Expr, b: sp.Expr) -> sp.Expr:
    r"""erf((p m + q)/sqrt(2 (p^2 v + n))), with m = (x + c b)/D and v = c/D."""
    p, q, n = sign
    d = _denominator(a)
    return sp.erf((p * (x + c * b) + q * d) / sp.sqrt(_times(d, 2 * p**2 * c + 2 * n * d)))


def _two_signs_average(first: _Sign, second: _Sign, a: sp.Expr, b: sp.Expr) -> Atoms:
    """1 - 4 T(h1, a1) - 4 T(h2, a2) for slopes p > 0 and a common centre q/p, else B(h1, h2, rho)."""
    (p1, q1, n1), (p2, q2, n2) = first, second
    d = _denominator(a)
    h1, h2 = ((p * (x + c * b) + q * d) / sp.sqrt(_times(d, p**2 * c + n * d)) for p, q, n in (first, second))
    if sp.expand(p1 * q2 - p2 * q1) != 0:
        # the standard deviations of U_1 and U_2 are the roots of (p^2 c + n D)/D
        spread = sp.sqrt(sp.expand(p1**2 * c + n1 * d)) * sp.sqrt(sp.expand(p2**2 * c + n2 * d))
        return {SignProduct(h1, h2, p1 * p2 * c / spread): sp.S.One}
    determinant = c * (p1**2 * n2 + p2**2 * n1) + n1 * n2 * d  # D times var1 var2 - cov^2
    found: dict[sp.Expr, sp.Expr] = {sp.S.One: sp.S.One}
    for (p, _, n), h, other in ((first, h1, p2), (second, h2, p1)):
        slope = other * n * sp.sqrt(d) / (p * sp.sqrt(sp.expand(determinant)))
        atom = OwensT(h, slope)
        if atom != 0:
            found[atom] = found.get(atom, sp.S.Zero) - 4
    return found


def _denominator(quadratic: sp.Expr) -> sp.Expr:
    return sp.expand(1 - 2 * quadratic * c)


def _times(d: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.factor_terms(sp.expand(other)) if d == 1 else d * sp.expand(other)


@lru_cache(maxsize=256)
def _inverse(quadratic: sp.Expr) -> sp.Expr:
    """A stand-in for 1/D while coefficients are expanded as polynomials."""
    if quadratic == 0:
        return sp.S.One
    stand_in = sp.Dummy("D", positive=True)
    _STANDS_FOR[stand_in] = 1 / _denominator(quadratic)
    return stand_in


_STANDS_FOR: dict[sp.Symbol, sp.Expr] = {}


def _without_dummies(expression: sp.Expr) -> sp.Expr:
    return expression.xreplace({d: _STANDS_FOR[d] for d in expression.atoms(sp.Dummy) if d in _STANDS_FOR})

"""Claims of closed forms: mu0, mu1, mu2^2, h1, h2, E[(sigma' - h1)^2] of particular activations, (12) and (15).

Each formula is a theorem by what shifts, changes of scale and rotations do to Gaussian averages. The same formula is
found by the heat equation (``verify.closed_forms.proof``) and compared with quadrature, which knows of neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.closed_forms.examples import closed_form
from giantsteps.derivations.closed_forms.gaussian_class import Member, Shape, member
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.closed_forms.proof import ByClosedForm, ByHeatEquation
from giantsteps.verify.protocol.claim import Claim, Domain, Range, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE

_LINE = (Range(s.r, 0.3, 2.0), Range(s.kappa, -2.0, 2.0))
DOMAIN = Domain((*_LINE, Range(s.c, 0.3, 2.0)))
CONSTANTS = Domain()

x = s.r * s.kappa
_far = x / sp.sqrt(2 * s.c)
_bump = sp.sqrt(s.c / (2 * sp.pi)) * sp.exp(-(x**2) / (2 * s.c))


def _paper(number: int) -> Source:
    """An example of an equation of the paper that has a claim of its own."""
    return Source("arXiv 2402.04980", f"Section 3, on ({number})")


def _at(activation_: Activation, point: Point) -> Mapping[str, float]:
    r, c, kappa = (float(point[str(symbol)]) for symbol in (s.r, s.c, s.kappa))
    return _moments(activation_, r, c, kappa)


@lru_cache(maxsize=4096)
def _moments(activation_: Activation, r: float, c: float, kappa: float) -> Mapping[str, float]:
    found = conditional_coefficients(activation_, r, c, 0.0, np.array([kappa]))
    mu0, mu1, mu2 = (float(part[0]) for part in found)
    return {
        s.mu0.name: mu0,
        s.mu1.name: mu1,
        s.mu2_square.name: mu2**2,
        s.feature_square.name: mu2**2 + mu0**2 + c * mu1**2,
    }


@lru_cache(maxsize=64)
def _constants(activation_: Activation) -> Mapping[str, float]:
    found = hermite_constants(activation_)
    return {
        s.h1.name: found.h1,
        s.h2.name: found.h2,
        s.h1_check.name: found.h1_check,
        # E[He_3 sigma]/sqrt(3!), by quadrature of the product.
        s.s3.name: hermite_constants(activation(f"he3(z)*({activation_})")).mean / float(np.sqrt(6.0)),
    }


def _measure(text: Callable[[Point], str], constants: bool = False) -> Callable[[Point], Mapping[str, float]]:
    def measure(point: Point) -> Mapping[str, float]:
        return _constants(activation(text(point))) if constants else _at(activation(text(point)), point)

    return measure


def _decimal(point: Point, symbol: sp.Symbol) -> Fraction:
    return Fraction(repr(point[str(symbol)]))


def _claim(
    name: str,
    title: str,
    text: str,
    statement: sp.Equality,
    wrong: tuple[tuple[str, sp.Expr], ...],
    quantity: str = "",
    uses: tuple[str, ...] = (),
) -> Claim:
    """A claim about one activation; ``quantity`` empty: the heat equation applies to the formula itself."""
    constants = not statement.rhs.has(s.r, s.c, s.kappa)
    if quantity:
        proof: ByClosedForm | ByHeatEquation = ByClosedForm(text, quantity)
    else:
        power = 2 if statement.lhs == s.feature_square else 1
        proof = ByHeatEquation(lambda: _power(member(activation(text)), power), s.kappa, s.r)
    points = 1 if constants else None
    numbers = ByNumbers("quadrature", _measure(lambda point: text, constants), QUADRATURE, points=points)
    return claim(
        f"closed-form.{name}", title, _paper(12) if constants else _paper(15),
        statement, CONSTANTS if constants else DOMAIN,
        ByDerivation(partial(closed_form, text, statement.lhs)), proof, numbers,
        wrong=dict(wrong),
        uses=tuple(f"closed-form.{used}" for used in uses),
    )


def _power(function: Member, power: int) -> Member:
    from giantsteps.derivations.closed_forms.heat_equation import square

    return function if power == 1 else square(function)


def _root_for_bulk(formula: sp.Expr) -> tuple[str, sp.Expr]:
    return "sqrt(c) for c", formula.xreplace({s.c: sp.sqrt(s.c)})


def _shifted(formula: sp.Expr) -> tuple[str, sp.Expr]:
    return "breakpoint shifted by a tenth", formula.xreplace({s.kappa: s.kappa + sp.Rational(1, 10) / s.r})


_relu = x * (1 + sp.erf(_far)) / 2 + _bump
_relu_slope = (1 + sp.erf(_far)) / 2
_relu_square = (x**2 + s.c) * (1 + sp.erf(_far)) / 2 + x * _bump
_step = (1 + sp.erf(_far)) / 2
_abs = x * sp.erf(_far) + 2 * _bump


def _edge(t: int) -> sp.Expr:
    return (x - t) / sp.sqrt(2 * s.c)


_hardtanh = ((1 + x) * sp.erf(_edge(-1)) + (1 - x) * sp.erf(_edge(1))) / 2 + sp.sqrt(s.c / (2 * sp.pi)) * (
    sp.exp(-(_edge(-1) ** 2)) - sp.exp(-(_edge(1) ** 2))
)
_hardtanh_slope = (sp.erf(_edge(-1)) - sp.erf(_edge(1))) / 2

_erf = sp.erf(x / sp.sqrt(1 + 2 * s.c))
_erf_slope = 2 / sp.sqrt(sp.pi * (1 + 2 * s.c)) * sp.exp(-(x**2) / (1 + 2 * s.c))


def _erf_square_at(place: sp.Expr) -> sp.Expr:
    return 1 - 8 * OwensT(place / sp.sqrt(s.c + sp.Rational(1, 2)), 1 / sp.sqrt(1 + 4 * s.c))


_erf_square = _erf_square_at(x)

_sin = sp.exp(-s.c / 2) * sp.sin(x)
_sin_residual = (1 - sp.exp(-2 * s.c) * sp.cos(2 * x)) / 2 - sp.exp(-s.c) * (sp.sin(x) ** 2 + s.c * sp.cos(x) ** 2)
_gelu = x / 2 * (1 + sp.erf(x / (sp.sqrt(2) * sp.sqrt(1 + s.c)))) + s.c / sp.sqrt(2 * sp.pi * (1 + s.c)) * sp.exp(
    -(x**2) / (2 * (1 + s.c))
)
_bell = sp.exp(-(x**2) / (1 + 2 * s.c)) / sp.sqrt(1 + 2 * s.c)
_elu = (
    x * (1 + sp.erf(_far)) / 2
    + _bump
    - (1 - sp.erf(_far)) / 2
    + sp.exp(x + s.c / 2) * (1 - sp.erf((x + s.c) / sp.sqrt(2 * s.c))) / 2
)
_he3 = x**3 - 3 * (1 - s.c) * x

_noise = sp.sqrt(s.c + sp.Rational(1, 2))


def _two_erfs(shift: sp.Expr, correlation: sp.Expr) -> sp.Expr:
    """E erf(u) erf(u - shift), u = x + sqrt(c) z, if the correlation is c/(c + 1/2)."""
    return SignProduct(x / _noise, (x - shift) / _noise, correlation)


_correlation = s.c / (s.c + sp.Rational(1, 2))
_product = _two_erfs(sp.S.One, _correlation)
_root_1 = sp.sqrt(1 + 2 * s.c)
_root_two = sp.sqrt(2)
_square_kink = (
    (x**2 + s.c - 2) * (1 + sp.erf((x - _root_two) / sp.sqrt(2 * s.c)) - sp.erf((x + _root_two) / sp.sqrt(2 * s.c)))
    + sp.sqrt(2 * s.c / sp.pi) * (x + _root_two) * sp.exp(-((x - _root_two) ** 2) / (2 * s.c))
    - sp.sqrt(2 * s.c / sp.pi) * (x - _root_two) * sp.exp(-((x + _root_two) ** 2) / (2 * s.c))
)

_ONE_ACTIVATION: tuple[Claim, ...] = (
    _claim(
        "step-mu0", "mu0 of the step function", "step(z)", eq(s.mu0, _step),
        (("2 forgotten", (1 + sp.erf(x / sp.sqrt(s.c))) / 2), _root_for_bulk(_step), _shifted(_step)),
    ),
    _claim(
        "relu-mu0", "mu0 of relu", "relu(z)", eq(s.mu0, _relu),
        (("twice the bump", _relu + _bump), _root_for_bulk(_relu), _shifted(_relu)),
    ),
    _claim(
        "relu-mu1", "mu1 of relu", "relu(z)", eq(s.mu1, _relu_slope),
        (("the slope in kappa", s.r * _relu_slope), _root_for_bulk(_relu_slope)),
        quantity="mu1", uses=("relu-mu0",),
    ),
    _claim(
        "relu-second-moment", "E[sigma^2] of relu", "relu(z)", eq(s.feature_square, _relu_square),
        (("half of |x + sqrt(c) z|^2", (x**2 + s.c) / 2), _root_for_bulk(_relu_square), _shifted(_relu_square)),
    ),
    _claim(
        "abs-mu0", "mu0 of the absolute value", "Abs(z)", eq(s.mu0, _abs),
        (("one bump", _abs - _bump), _root_for_bulk(_abs), _shifted(_abs)),
    ),
    _claim(
        "hardtanh-mu0", "mu0 of hardtanh", "hardtanh(z)", eq(s.mu0, _hardtanh),
        (("a breakpoint lost", _hardtanh.xreplace({_edge(1): x})), _root_for_bulk(_hardtanh), _shifted(_hardtanh)),
    ),
    _claim(
        "hardtanh-mu1", "mu1 of hardtanh: the probability of the linear piece", "hardtanh(z)",
        eq(s.mu1, _hardtanh_slope),
        (("the sum", (sp.erf(_edge(-1)) + sp.erf(_edge(1))) / 2), _root_for_bulk(_hardtanh_slope)),
        quantity="mu1", uses=("hardtanh-mu0",),
    ),
    _claim(
        "erf-mu0", "mu0 of erf", "erf(z)", eq(s.mu0, _erf),
        (("2 forgotten", sp.erf(x / sp.sqrt(1 + s.c))), _root_for_bulk(_erf), ("the sign's", sp.erf(_far))),
    ),
    _claim(
        "erf-mu1", "mu1 of erf", "erf(z)", eq(s.mu1, _erf_slope),
        (("half the exponent", _erf_slope * sp.exp(x**2 / (2 * (1 + 2 * s.c)))), _root_for_bulk(_erf_slope)),
        quantity="mu1", uses=("erf-mu0",),
    ),
    _claim(
        "erf-second-moment", "E[sigma^2] of erf, by Owen's T function", "erf(z)", eq(s.feature_square, _erf_square),
        (("4 for 8", (1 + _erf_square) / 2), _root_for_bulk(_erf_square), ("no T", sp.Integer(1) + 0 * x)),
    ),
    _claim(
        "two-erfs-mu0",
        "mu0 of a product of two error functions with different centres, a bivariate normal probability",
        "erf(z)*erf(z - 1)", eq(s.mu0, _product),
        (("correlation c/(c + 1)", _two_erfs(sp.S.One, s.c / (s.c + 1))),
         ("averaged apart", sp.erf(x / _root_1) * sp.erf((x - 1) / _root_1)),
         ("a shift of 11/10", _two_erfs(sp.Rational(11, 10), _correlation)), _root_for_bulk(_product),
         ("twice", 2 * _product)),
    ),
    _claim(
        "two-erfs-second-moment",
        "E[sigma^2] of a sum of two error functions with different centres, a bivariate normal probability",
        "erf(z) + erf(z - 1)",
        eq(s.feature_square, _erf_square + _erf_square_at(x - 1) + 2 * _product),
        (("the product once", _erf_square + _erf_square_at(x - 1) + _product),
         ("as if the centres were one", 4 * _erf_square)),
    ),
    _claim(
        "square-kink-mu0", "mu0 of |z^2 - 2|, with kinks at square roots", "Abs(z**2 - 2)", eq(s.mu0, _square_kink),
        (("without kinks", x**2 + s.c - 2), ("kinks at 7/5", _square_kink.xreplace({_root_two: sp.Rational(7, 5)})),
         _root_for_bulk(_square_kink)),
    ),
    _claim(
        "relu-erf-h2", "h2 of relu(z) erf(z), by the even part of its square", "relu(z)*erf(z)",
        eq(s.h2, sp.Rational(1, 2) + 4 / (3 * sp.pi * sp.sqrt(5)) - 2 / sp.pi * sp.atan(1 / sp.sqrt(5))),
        (("not halved", 1 + 8 / (3 * sp.pi * sp.sqrt(5)) - 4 / sp.pi * sp.atan(1 / sp.sqrt(5))),
         ("erf(z)^2 and z^2 averaged apart", sp.Rational(1, 2) - 2 / sp.pi * sp.atan(1 / sp.sqrt(5)))),
        quantity="h2",
    ),
    _claim(
        "sin-mu0", "mu0 of sin: an eigenfunction of the heat semigroup", "sin(z)", eq(s.mu0, _sin),
        (("cos for sin", sp.exp(-s.c / 2) * sp.cos(x)), _root_for_bulk(_sin), ("exp(-c)", sp.exp(-s.c) * sp.sin(x))),
    ),
    _claim(
        "sin-mu2", "mu2^2 of sin", "sin(z)", eq(s.mu2_square, _sin_residual),
        (("mu1 left in", _sin_residual + s.c * sp.exp(-s.c) * sp.cos(x) ** 2),
         ("sin for cos", _sin_residual.xreplace({sp.cos(2 * x): sp.sin(2 * x)}))),
        quantity="mu2_squared", uses=("sin-mu0",),
    ),
    _claim(
        "gelu-mu0", "mu0 of gelu", "gelu(z)", eq(s.mu0, _gelu),
        (("as for relu", x * (1 + sp.erf(_far)) / 2 + _bump),
         ("c forgotten", x / 2 * (1 + sp.erf(x / sp.sqrt(2 * (1 + s.c))))), _root_for_bulk(_gelu)),
    ),
    _claim(
        "gaussian-mu0", "mu0 of exp(-z^2)", "exp(-z**2)", eq(s.mu0, _bell),
        (("not normalised", sp.exp(-(x**2) / (1 + 2 * s.c))), _root_for_bulk(_bell)),
    ),
    _claim(
        "elu-mu0", "mu0 of elu", "elu(z)", eq(s.mu0, _elu),
        (("the shift by c forgotten", _elu.xreplace({x + s.c: x})), _root_for_bulk(_elu), _shifted(_elu)),
    ),
    _claim(
        "he3-mu0", "mu0 of the third Hermite polynomial", "he3(z)", eq(s.mu0, _he3),
        (("unchanged", x**3 - 3 * x), ("1 + c", x**3 - 3 * (1 + s.c) * x)),
    ),
    _claim(
        "erf-h1", "h1 of erf", "erf(z)", eq(s.h1, 2 / sp.sqrt(3 * sp.pi)),
        (("of the sign", sp.sqrt(2 / sp.pi)), ("without the bulk", 2 / sp.sqrt(sp.pi))),
        quantity="h1", uses=("erf-mu1",),
    ),
    _claim(
        "erf-h2", "h2 of erf", "erf(z)", eq(s.h2, 1 - 4 / sp.pi * sp.atan(1 / sp.sqrt(5))),
        (("arctan of 1/sqrt(3)", sp.Rational(1, 3)), ("h1 squared", 4 / (3 * sp.pi))),
        quantity="h2", uses=("erf-second-moment",),
    ),
    _claim(
        "erf-h1-check", "E[(sigma' - h1)^2] of erf", "erf(z)",
        eq(s.h1_check, 4 / (sp.pi * sp.sqrt(5)) - 4 / (3 * sp.pi)),
        (("h1 not subtracted", 4 / (sp.pi * sp.sqrt(5))), ("h2 - h1^2", 1 - sp.Rational(4, 3) / sp.pi)),
        quantity="h1_check", uses=("erf-mu1",),
    ),
    _claim(
        "sign-s3", "Third Hermite coefficient of sign", "sign(z)", eq(s.s3, -1 / sp.sqrt(3 * sp.pi)),
        (("its absolute value", 1 / sp.sqrt(3 * sp.pi)), ("not orthonormal", -sp.sqrt(2 / sp.pi))),
        quantity="s_3",
    ),
    _claim(
        "erf-s3", "Third Hermite coefficient of erf", "erf(z)", eq(s.s3, -2 * sp.sqrt(2) / (9 * sp.sqrt(sp.pi))),
        (("its absolute value", 2 * sp.sqrt(2) / (9 * sp.sqrt(sp.pi))), ("of the sign", -1 / sp.sqrt(3 * sp.pi))),
        quantity="s_3", uses=("erf-mu0",),
    ),
    _claim(
        "relu-h1-check", "E[(sigma' - h1)^2] of relu", "relu(z)", eq(s.h1_check, sp.Rational(1, 4)),
        (("h1 not subtracted", sp.Rational(1, 2)), ("h1", sp.Rational(1, 2))),
        quantity="h1_check", uses=("relu-mu1",),
    ),
    _claim(
        "hardtanh-h1", "h1 of hardtanh", "hardtanh(z)", eq(s.h1, sp.erf(1 / sp.sqrt(2))),
        (("erf(1)", sp.erf(1)), ("one side", sp.erf(1 / sp.sqrt(2)) / 2)),
        quantity="h1", uses=("hardtanh-mu1",),
    ),
)


def _parameter_claim(
    name: str,
    title: str,
    family: str,
    function: Callable[[], Member],
    text: Callable[[Point], str],
    formula: sp.Expr,
    domain: Domain,
    wrong: tuple[tuple[str, sp.Expr], ...],
) -> Claim:
    """A claim about a family of activations: the proof keeps the parameter symbolic, the numbers sample it."""
    return claim(
        f"closed-form.{name}", title, _paper(15),
        eq(s.mu0, formula), domain,
        ByDerivation(partial(closed_form, family, s.mu0)), ByHeatEquation(function, s.kappa, s.r),
        ByNumbers("quadrature", _measure(text), QUADRATURE),
        wrong=dict(wrong),
    )


_leaky = _relu + s.leak * (x - _relu)
_growing_root = 1 - 2 * s.sharpness * s.c
_growing = sp.exp(s.sharpness * x**2 / _growing_root) / sp.sqrt(_growing_root)

_FAMILIES: tuple[Claim, ...] = (
    _parameter_claim(
        "leaky-relu-mu0", "mu0 of a leaky relu with any slope", "leaky_relu(z, ell)",
        lambda: Member((sp.S.Zero,), ({Shape(degree=1): s.leak}, {Shape(degree=1): sp.S.One})),
        lambda point: f"leaky_relu(z, {_decimal(point, s.leak)})", _leaky,
        Domain((*DOMAIN.ranges, Range(s.leak, 0.05, 0.9))), (("relu", _relu), _root_for_bulk(_leaky), _shifted(_leaky)),
    ),
    _parameter_claim(
        "growing-gaussian-mu0", "mu0 of exp(q z^2), which exists for c < 1/(2q)", "exp(q*z**2)",
        lambda: Member((), ({Shape(quadratic=s.sharpness): sp.S.One},)),
        lambda point: f"exp({_decimal(point, s.sharpness)}*z**2)", _growing,
        Domain((*_LINE, Range(s.c, 0.2, 0.8), Range(s.sharpness, 0.02, 0.2))),
        (("the decaying one", _growing.xreplace({s.sharpness: -s.sharpness})), _root_for_bulk(_growing)),
    ),
)

CLAIMS: tuple[Claim, ...] = (*_ONE_ACTIVATION, *_FAMILIES)

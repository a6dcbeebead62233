"""The mean of a product of two signs: special values, symmetries, derivatives, values by four routes, limits."""

from __future__ import annotations

import functools
import random

import mpmath
import pytest
import sympy as sp
from flint import acb, arb
from scipy.stats import multivariate_normal

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms.gaussian_class import member
from giantsteps.derivations.closed_forms.heat_equation import ClosedForm, closed_forms, heat_obligations
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.derivations.language.symbols import c, x
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.verify.closed_forms.proof import prove, settle_heat
from giantsteps.verify.protocol.balls import NoBallError, sign_product
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.evidence import Outcome

h, k = sp.symbols("h k", real=True)
rho = sp.Symbol("rho", real=True)
_GENERATOR = random.Random(7)
PLACES = [(_GENERATOR.uniform(-3, 3), _GENERATOR.uniform(-3, 3), _GENERATOR.uniform(-0.95, 0.95)) for _ in range(6)]


@functools.cache
def defined(a: float, b: float, r: float) -> float:
    """E[sign(X + a) sign(Y + b)] from its definition: Y given X is normal, X is integrated at 20 digits."""
    with mpmath.workdps(20):
        width = mpmath.sqrt(2 * (1 - mpmath.mpf(r) ** 2))

        def inner(s: mpmath.mpf) -> mpmath.mpf:
            return mpmath.sign(s + a) * mpmath.erf((b + r * s) / width) * mpmath.npdf(s)

        return float(mpmath.quad(inner, [-12, *sorted([-a, 0, -b, -b / r]), 12]))


def test_special_values() -> None:
    assert SignProduct(h, k, 0) == sp.erf(h / sp.sqrt(2)) * sp.erf(k / sp.sqrt(2))
    assert SignProduct(0, 0, rho) == 2 * sp.asin(rho) / sp.pi
    assert SignProduct(0, k, rho) == SignProduct(k, 0, rho) == 4 * OwensT(k, rho / sp.sqrt(1 - rho**2))
    # the identity behind the last one, by the definition
    value = float((4 * OwensT(sp.Float(0.7, 25), sp.Float(0.4 / 0.84**0.5, 25))).evalf(20))
    assert value == pytest.approx(defined(1e-30, 0.7, 0.4), abs=1e-14)


def test_symmetries() -> None:
    assert SignProduct(h, k, rho) == SignProduct(k, h, rho)
    assert SignProduct(-h, k, -rho) == -SignProduct(h, k, rho)
    assert SignProduct(-h, -k, rho) == SignProduct(h, k, rho)


@pytest.mark.parametrize(("a", "b", "r"), PLACES)
def test_four_routes_agree(a: float, b: float, r: float) -> None:
    # the definition; SymPy's evaluation; Owen's T; SciPy's bivariate normal distribution, which promises 1e-8 only.
    expected = defined(a, b, r)
    exact = SignProduct(*(sp.Float(v, 25) for v in (a, b, r)))
    assert float(exact.evalf(20)) == pytest.approx(expected, abs=1e-14)
    generic = SignProduct(h, k, rho)
    compiled = sp.lambdify((h, k, rho), 3 * generic, modules=["scipy", "numpy"])
    assert float(compiled(a, b, r)) == pytest.approx(3 * expected, abs=1e-13)
    both = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([a, b])
    phi = (1 + float(sp.erf(a / 2**0.5))) / 2, (1 + float(sp.erf(b / 2**0.5))) / 2
    assert 4 * both - 2 * sum(phi) + 1 == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("a", "b", "r"), PLACES)
def test_the_ball_contains_the_value_and_is_small(a: float, b: float, r: float) -> None:
    with precision(128):
        ball = sign_product(acb(arb(a)), acb(arb(b)), acb(arb(r)))
    assert abs(float(ball.real.mid()) - defined(a, b, r)) < 1e-14  # the reference is rounded to double precision
    assert float(ball.real.rad()) < 1e-30
    assert ball.imag == 0


def test_balls_at_two_precisions_overlap_also_for_complex_arguments() -> None:
    def value(bits: int) -> acb:
        with precision(bits):
            return sign_product(acb(1, 2) / 3, acb(2) / 7, acb(3) / 5)

    coarse, fine = value(64), value(200)
    with precision(200):
        assert coarse.contains(fine)
        # entire in h: the mean over a circle is the value at its centre, to the accuracy of the 64-point rule
        points = [sign_product(acb(1, 2) / 3 + (2 * acb.pi() * acb(0, j) / 64).exp(), acb(2) / 7, acb(3) / 5)
                  for j in range(64)]  # fmt: skip
        assert abs(complex(sum(points, acb(0)) / 64 - fine)) < 1e-25


def test_a_correlation_of_one_has_no_ball() -> None:
    for wrong in (acb(1), acb(2), acb(0, 1) / 2):
        with pytest.raises(NoBallError, match="correlation"):
            sign_product(acb(1), acb(1), wrong)


@pytest.mark.parametrize(("a", "b", "r"), PLACES[:3])
def test_derivatives_against_difference_quotients(a: float, b: float, r: float) -> None:
    # Central differences of step 1e-4: error 1e-8 of the third derivative, 1e-12 of rounding to doubles.
    step, point = 1e-4, (a, b, r)
    for i, symbol in enumerate((h, k, rho)):
        lower, upper = ([v + (side * step if j == i else 0) for j, v in enumerate(point)] for side in (-1, 1))
        derivative = float(sp.diff(SignProduct(h, k, rho), symbol).subs(dict(zip((h, k, rho), point, strict=True))))
        above, below = (defined(*place) for place in (upper, lower))
        assert derivative == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_wrong_sign_products_fail_their_proof() -> None:
    """Refuted by a limit or a correlation that is none; the claim closed-form.two-erfs-mu0 has more of them."""
    function = member(activation("erf(z)*erf(z - 1)"))
    noise, half = sp.sqrt(c + sp.Rational(1, 2)), sp.Rational(1, 2)
    domain = Domain((Range(x, -1.5, 1.5), Range(c, 0.05, 1.9)))

    def outcomes(candidate: sp.Expr) -> set[Outcome]:
        return {settle_heat(o, domain).outcome for o in heat_obligations(candidate, function)}

    right = SignProduct(x / noise, (x - 1) / noise, c / (c + half))
    assert outcomes(right) == {Outcome.SUPPORTS}
    for wrong in (
        SignProduct(x / noise, (x - sp.Rational(11, 10)) / noise, c / (c + half)),
        SignProduct(x / noise, (x - 1) / noise, c / (c - half)),  # nowhere a correlation on most of the domain
        right + x / 10**9,
    ):
        assert Outcome.REFUTES in outcomes(wrong), wrong
    # solves the heat equation, vanishes with c at every x but 0, and is not bounded near it: not refuted, not proved
    kernel = right + x * sp.exp(-(x**2) / (2 * c)) / c ** sp.Rational(3, 2)
    assert outcomes(kernel) == {Outcome.SUPPORTS, Outcome.UNDECIDED}


def test_shifted_square_root_breakpoints_fail_their_proof() -> None:
    text = "sign(z**2 - 2)*erf(z)"
    right = closed_forms(activation(text)).mu0.expression
    for near in (sp.Rational(7071, 5000), sp.Rational(141421356237, 10**11)):
        candidate = right.xreplace({sp.sqrt(2): near})
        form = ClosedForm(candidate, sp.oo, heat_obligations(candidate, member(activation(text))))
        assert prove(form, "shifted").outcome is not Outcome.SUPPORTS

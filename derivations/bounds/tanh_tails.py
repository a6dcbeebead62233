"""mu1 of tanh has exponential tails, Section 4.3: it is not below exp(2c - 2 r |kappa|) (1 - erf(sqrt(2c))).

The slope of tanh is 4 t/(1 + t)^2 >= t for t = exp(-2 |u|) <= 1, and |u| <= r |kappa| + sqrt(c) |z|.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.closed_forms.gaussian_means import exponential, mean_of_sign, tilted
from giantsteps.derivations.equivalence.conditional_coefficients import MU1
from giantsteps.derivations.gradient_step.signs import modulus, shift, square_of_sign, without_factor
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite
from giantsteps.derivations.kernel.averages import average, linear, stein
from giantsteps.derivations.kernel.inequalities import multiply
from giantsteps.derivations.kernel.search.assumptions import in_model, lemma
from giantsteps.derivations.kernel.search.steps import rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn, sigma

_x, _t = sp.symbols("x t", real=True)
_ZERO, _ONE, _TWO = sp.Integer(0), sp.Integer(1), sp.Integer(2)
_u = s.r * s.kappa + sp.sqrt(s.c) * s.z

TANGENT = lemma(
    "tangent of the exponential",
    AtLeast(sp.exp(_t), 1 + _t),
    "the exponential is convex: it is not below its tangent at zero",
    _t,
)
TANH = lemma(
    "tanh by exponentials",
    Equation(sp.tanh(_x) ** 2, ((1 - sp.exp(-2 * sp.Abs(_x))) / (1 + sp.exp(-2 * sp.Abs(_x)))) ** 2),
    "tanh(x) is (1 - exp(-2x))/(1 + exp(-2x)), and odd",
    _x,
)
DECAY = lemma(
    "decay by sign",
    Equation(sp.exp(-sp.Abs(_x)), (sp.exp(-_x) * (1 + sgn(_x)) + sp.exp(_x) * (1 - sgn(_x))) / 2),
    "exp(-|x|) is exp(-x) or exp(x), by the sign of x",
    _x,
)
TANH_ACTIVATION = in_model("tanh activation", Equation(sigma(_x), sp.tanh(_x)), "Section 4.3: sigma = tanh", _x)
FORWARD = in_model("the spike's sign", AtLeast(s.r, _ZERO), "v points along the spike of the features")


def _tangent(at: sp.Expr) -> Theorem:
    return instantiate((TANGENT,), {_t: at})


@functools.cache
def slope_bound() -> Theorem:
    """1 - tanh(x)^2 >= exp(-2 |x|)."""
    t = sp.exp(-2 * sp.Abs(_x))
    small = order((_tangent(2 * sp.Abs(_x)),), AtLeast(1 - t, _ZERO), (t,), ((2 * sp.Abs(_x) * t, _ONE),))
    goal = AtLeast(1 - sp.tanh(_x) ** 2, t)
    return order((small, TANH), goal, (t * (3 + t) / (1 + t) ** 2, -_ONE))


def _projects(x: sp.Expr, sign: sp.Expr) -> Theorem:
    """|x| - x S >= 0 for any sign S: it is |x| (sgn(x) - S)^2/2."""
    own, half = sgn(x), sp.Abs(x) / 2
    premises = (modulus(x), square_of_sign(x), square_of_sign(sign.args[0]))
    weights = (own * sign, x * sign - half, -half)
    return order(premises, AtLeast(sp.Abs(x) - x * sign, _ZERO), weights, ((half, own - sign),))


@functools.cache
def triangle() -> Theorem:
    """r |kappa| + sqrt(c) |z| >= |u|."""
    sign = sgn(_u)
    along = multiply((_projects(s.kappa, sign), FORWARD))
    across = _projects(s.z, sign)
    goal = AtLeast(s.r * sp.Abs(s.kappa) + sp.sqrt(s.c) * sp.Abs(s.z), sp.Abs(_u))
    return order((along, across, modulus(_u)), goal, (_ONE, sp.sqrt(s.c), -_ONE))


@functools.cache
def mean_decay() -> Theorem:
    """E exp(-b |z|) = exp(b^2/2) (1 - erf(b/sqrt 2)) for b = 2 sqrt(c)."""
    b = 2 * sp.sqrt(s.c)
    tilt = instantiate((tilted(mean_of_sign()),), {s.x: _ZERO, s.c: _ONE})
    by_sign = rewrite((instantiate((DECAY,), {_x: b * s.z}), without_factor(b, s.z)))
    parts = average((by_sign,), (s.z,))
    size = sp.exp(b**2 / 2)
    pieces: list[tuple[sp.Expr, sp.Expr]] = []
    known: list[Theorem] = []
    for sign in (1, -1):
        signed, plain = instantiate((tilt,), {shift: -sign * b}), exponential(-sign * b)
        pieces += [(sp.Rational(1, 2), sides(plain.statement)[0].integrand)]
        pieces += [(sign * size / 2, sides(signed.statement)[0].integrand)]
        known += [signed, plain]
    return rewritten(rewrite((parts, linear((), value(parts), tuple(pieces)))), *known)


def exponential_tails(statement: Relational) -> Theorem:
    """mu1 is not below the bound: E[1 - tanh(u)^2] >= E exp(-2 |u|) >= exp(-2 r |kappa|) E exp(-2 sqrt(c) |z|)."""
    put = instantiate((TANH_ACTIVATION,), {_x: _u})
    slope = rewrite((MU1, put))
    weighted = Expectation(s.z * sp.tanh(_u), s.z)
    slope = rewrite((slope, stein((), weighted, s.z, sp.tanh(_u))))
    steep = 1 - sp.tanh(_u) ** 2
    (inside,) = value(slope).atoms(Expectation)
    slope = rewrite((slope, linear((), inside, ((sp.sqrt(s.c), steep),))))
    far = -2 * s.r * sp.Abs(s.kappa) - 2 * sp.sqrt(s.c) * sp.Abs(s.z)
    less = -2 * sp.Abs(_u) - far
    decayed = sp.exp(far)
    above = instantiate((slope_bound(),), {_x: _u})
    below = order((_tangent(less), triangle()), AtLeast(sp.exp(-2 * sp.Abs(_u)), decayed), (decayed, 2 * decayed))
    chain = average((order((above, below), AtLeast(steep, decayed), (_ONE, _ONE)),), (s.z,))
    mean = mean_decay()
    tails = sp.exp(-2 * s.r * sp.Abs(s.kappa))
    parts = linear((), sides(chain.statement)[1], ((tails, sides(mean.statement)[0].integrand),))
    goal = AtLeast(statement.gts, statement.lts)
    return order((slope, chain, parts, mean), goal, (_ONE, _ONE, _ONE, tails))

"""mu0, mu1, mu2^2, h1, h2, E[(sigma' - h1)^2] and s_3 of particular activations, equations (12) and (15).

An activation is said by what it is, in moduli, signs, error functions and exponentials. Its averages are those of its
parts, which `gaussian_means` has, with powers of z beside them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import sympy as sp

from giantsteps.derivations.closed_forms.gaussian_means import (
    exponential,
    exponential_with_sign,
    mean_of_bell,
    mean_of_erf,
    mean_of_erf_below,
    mean_of_erf_square,
    mean_of_sign,
    mean_of_sine,
    mean_of_sine_square,
    squeeze,
    u,
    with_power,
)
from giantsteps.derivations.closed_forms.sign_products import mean_of_product
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.equivalence.conditional_coefficients import MU0, MU1, MU2, at_spike, mean_square
from giantsteps.derivations.gradient_step.assumptions import H1, H1_CHECK, H2, centred_at
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.gradient_step.signs import in_order, modulus, square_of_sign
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear
from giantsteps.derivations.kernel.inequalities import equal_roots, specialise
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expanded, reflected
from giantsteps.derivations.kernel.search.steps import rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn, sigma, sigma_prime

c, x, z = s.c, s.x, s.z
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_ROOT_TWO = sp.sqrt(2)
Function = Callable[[sp.Expr], sp.Expr]


def relu(v: sp.Expr) -> sp.Expr:
    """The positive part."""
    return (v + sp.Abs(v)) / 2


def hardtanh(v: sp.Expr) -> sp.Expr:
    """v between -1 and 1, and the nearer one of them beyond."""
    return (sp.Abs(v + 1) - sp.Abs(v - 1)) / 2


def elu(v: sp.Expr) -> sp.Expr:
    """v where it is positive, exp(v) - 1 where not."""
    return v * (1 + sgn(v)) / 2 + (sp.exp(v) - 1) * (1 - sgn(v)) / 2


# The activations by the texts that stand for them.
ACTIVATIONS: Mapping[str, Function] = {
    "sign(z)": lambda v: sgn(v),
    "step(z)": lambda v: (1 + sgn(v)) / 2,
    "relu(z)": relu,
    "leaky_relu(z, ell)": lambda v: s.leak * v + (1 - s.leak) * relu(v),
    "Abs(z)": lambda v: sp.Abs(v),
    "Abs(z**2 - 2)": lambda v: sp.Abs(v**2 - 2),
    "hardtanh(z)": hardtanh,
    "elu(z)": elu,
    "erf(z)": lambda v: sp.erf(v),
    "erf(z)*erf(z - 1)": lambda v: sp.erf(v) * sp.erf(v - 1),
    "erf(z) + erf(z - 1)": lambda v: sp.erf(v) + sp.erf(v - 1),
    "relu(z)*erf(z)": lambda v: relu(v) * sp.erf(v),
    "gelu(z)": lambda v: v * (1 + sp.erf(v / _ROOT_TWO)) / 2,
    "sin(z)": lambda v: sp.sin(v),
    "exp(-z**2)": lambda v: sp.exp(-(v**2)),
    "exp(q*z**2)": lambda v: sp.exp(s.sharpness * v**2),
    "he3(z)": lambda v: v**3 - 3 * v,
}
SLOPES: Mapping[str, Function] = {"relu(z)": lambda v: (1 + sgn(v)) / 2}
EXISTS = in_model(
    "the average exists",
    AtLeast(1 - 2 * s.sharpness * c, _ZERO),
    "E exp(q u^2) of u with variance c exists for c < 1/(2 q)",
)


def _said(name: str, text: str, function: sp.FunctionClass, term: Function) -> Theorem:
    return in_model(name, Equation(function(x), term(x)), f"{name} {text}", x)


def activation_is(text: str) -> Theorem:
    """sigma(x) = what the text stands for."""
    return _said("the activation", text, sigma, ACTIVATIONS[text])


def slope_is(text: str) -> Theorem:
    """sigma'(x): the derivative, or where there are kinks what the derivative is beside them."""
    if text in SLOPES:
        return _said("the slope of", text, sigma_prime, SLOPES[text])
    return differentiate((activation_is(text),), x)


def _kink_at(v: sp.Expr) -> Theorem:
    """|v^2 - 2| = (v^2 - 2) (1 + sgn(v - sqrt 2) - sgn(v + sqrt 2)), as the signs are in order."""
    above, below = x + _ROOT_TWO, x - _ROOT_TWO
    factors = equal_roots((), Equation(sp.Abs(x**2 - 2), sp.Abs(below) * sp.Abs(above)), 2)
    signs = rewritten(factors, modulus(below), modulus(above))
    goal = Equation(sp.Abs(x**2 - 2), (x**2 - 2) * (1 + sgn(below) - sgn(above)))
    theorem = ring((signs, in_order(below, 2 * _ROOT_TWO)), goal, (_ONE, 2 - x**2))
    return instantiate((theorem,), {x: v})


def _in_signs(term: sp.Expr) -> Theorem | None:
    """term = what it is with moduli as signs; None if it has none."""
    moduli, theorem = sorted(term.atoms(sp.Abs), key=sp.default_sort_key), None
    for call in moduli:
        by = _kink_at(u) if call == sp.Abs(u**2 - 2) else modulus(call.args[0])
        hole, now = sp.Dummy("hole", real=True), term if theorem is None else value(theorem)
        step = congruence((by,), now.xreplace({call: hole}), hole)
        theorem = step if theorem is None else rewrite((theorem, step))
    return theorem


def _worked_out(integrand: sp.Expr, *known: Theorem) -> Theorem:
    """E[integrand] = its value, by linearity, moduli as signs, and what is known of the parts."""
    whole, signs = Expectation(integrand, z), _in_signs(integrand)
    if signs is None:
        theorem = next((by for by in known if sides(by.statement)[0] == whole), None) or expanded(whole)
        assert theorem is not None
    else:
        theorem = averages_expanded(average((signs,), (z,)))
        theorem = averages_expanded(rewritten(theorem, square_of_sign(u)))
    return rewritten(theorem, *known)


def _powers(mean: Theorem) -> tuple[Theorem, ...]:
    return tuple(with_power(mean, k) for k in (2, 1, 0))


def _signs(*places: sp.Expr) -> tuple[Theorem, ...]:
    """E[z^k sgn(u + place)] for k up to two."""
    return tuple(instantiate((by,), {x: x + place}) for place in places for by in _powers(mean_of_sign()))


def _existing_bell() -> Theorem:
    """E exp(q u^2), where it exists."""
    k = sp.Symbol("k", nonnegative=True)
    return specialise((mean_of_bell(k), EXISTS), k)


# What is known of the parts of each activation, and of each square.
_PARTS: Mapping[str, Callable[[], tuple[Theorem, ...]]] = {
    **dict.fromkeys(("step(z)", "relu(z)", "Abs(z)", "leaky_relu(z, ell)", "sign(z)"), lambda: _signs(_ZERO)),
    "Abs(z**2 - 2)": lambda: _signs(_ROOT_TWO, -_ROOT_TWO),
    "hardtanh(z)": lambda: _signs(_ONE, -_ONE),
    "elu(z)": lambda: (*_signs(_ZERO), exponential(sp.sqrt(c)), exponential_with_sign()),
    "erf(z)": lambda: (mean_of_erf(),),
    "erf(z)*erf(z - 1)": lambda: (mean_of_product(_ONE),),
    "gelu(z)": lambda: _powers(mean_of_erf_below()),
    "sin(z)": lambda: (mean_of_sine(),),
    "exp(-z**2)": lambda: (instantiate((mean_of_bell(),), {squeeze: 1 + 2 * c}),),
    "exp(q*z**2)": lambda: (_existing_bell(),),
    "he3(z)": lambda: (),
}
_PARTS_OF_SQUARES: Mapping[str, Callable[[], tuple[Theorem, ...]]] = {
    "relu(z)": lambda: _signs(_ZERO),
    "erf(z)": lambda: (mean_of_erf_square(),),
    "relu(z)*erf(z)": lambda: _powers(mean_of_erf_square()),
    "erf(z) + erf(z - 1)": lambda: (
        mean_of_erf_square(), instantiate((mean_of_erf_square(),), {x: x - 1}), mean_of_product(_ONE)
    ),
    "sin(z)": lambda: (mean_of_sine_square(),),
}  # fmt: skip
# The squares whose odd part is to be dropped.
_EVEN = ("relu(z)*erf(z)",)


@functools.cache
def mean(text: str) -> Theorem:
    """E sigma(u) for u = x + sqrt(c) z."""
    return _worked_out(ACTIVATIONS[text](u), *_PARTS[text]())


@functools.cache
def second_moment(text: str) -> Theorem:
    """E sigma(u)^2."""
    return _worked_out(ACTIVATIONS[text](u) ** 2, *_PARTS_OF_SQUARES[text]())


def _with(definition: Theorem, text: str, *known: Theorem) -> Theorem:
    """A definition with the activation put in wherever it stands, rewritten by what is known."""
    calls = sorted(value(definition).atoms(sp.core.function.AppliedUndef), key=sp.default_sort_key)
    puts = [instantiate((activation_is(text),), {x: call.args[0]}) for call in calls if call.func == sigma]
    return rewritten(definition, *puts, *known)


def _at_spike(theorem: Theorem) -> Theorem:
    """At x = r kappa."""
    return instantiate((theorem,), {x: s.r * s.kappa})


def _alone(theorem: Theorem) -> Theorem:
    """At x = 0 and c = 1, where u is z."""
    return instantiate((theorem,), {x: _ZERO, c: _ONE})


_FEATURE_SQUARE = define(s.feature_square, at_spike(mean_square()), "the second moment of a feature given kappa")
_S3 = define(
    s.s3,
    Expectation(sigma(z) * hermite(3, s.z), z) / sp.sqrt(sp.factorial(3)),
    "the third orthonormal Hermite coefficient",
)


_CENTRED = centred_at(z)


def _mu0(text: str) -> Theorem:
    return _with(MU0, text, _at_spike(mean(text)))


def _mu1(text: str) -> Theorem:
    return _with(MU1, text, _at_spike(with_power(mean(text), 1)))


def _feature_square(text: str) -> Theorem:
    return _with(_FEATURE_SQUARE, text, _at_spike(second_moment(text)))


def _mu2_square(text: str) -> Theorem:
    return _with(MU2, text, _at_spike(second_moment(text)), _mu0(text), _mu1(text))


def _h1(text: str) -> Theorem:
    return _with(H1, text, _alone(with_power(mean(text), 1)))


def _h2(text: str) -> Theorem:
    return _with(H2, text, _alone(second_moment(text)), *((_odd_part(),) if text in _EVEN else ()))


@functools.cache
def _odd_part() -> Theorem:
    """E[z^2 sgn(z) erf(z)^2] = E[z |z| erf(z)^2] = 0, which is its own negative."""
    odd, hole = Expectation(z * sp.Abs(z) * sp.erf(z) ** 2, z), sp.Dummy("hole", real=True)
    turned = reflected(odd, z)
    turned = rewrite((turned, linear((), value(turned), ((-_ONE, odd.integrand),))))
    none = ring((turned,), Equation(odd, _ZERO), (sp.Rational(1, 2),))
    return rewrite((none, average((congruence((modulus(z),), z * hole * sp.erf(z) ** 2, hole),), (z,))))


def _h1_check(text: str) -> Theorem:
    """E[(sigma' - h1)^2]."""
    slope = rewrite((_CENTRED, instantiate((slope_is(text),), {x: z})))
    parts = averages_expanded(rewrite((H1_CHECK, slope)))
    bells = (_alone(instantiate((mean_of_bell(),), {squeeze: sp.Integer(k)})) for k in (3, 5))
    return rewritten(parts, square_of_sign(z), _alone(mean_of_sign()), *bells, _h1(text))


def _s3(text: str) -> Theorem:
    """E[He_3 sigma]/sqrt 6."""
    return rewritten(averages_expanded(_with(_S3, text)), *(_alone(with_power(mean(text), k)) for k in (3, 1)))


QUANTITIES: Mapping[sp.Symbol, Callable[[str], Theorem]] = {
    s.mu0: _mu0,
    s.mu1: _mu1,
    s.mu2_square: _mu2_square,
    s.feature_square: _feature_square,
    s.h1: _h1,
    s.h2: _h2,
    s.h1_check: _h1_check,
    s.s3: _s3,
}

_NAMES: Mapping[sp.Symbol, str] = {
    s.mu0: "mu0",
    s.mu1: "mu1",
    s.mu2_square: "mu2^2",
    s.feature_square: "second moment",
    s.h1: "h1",
    s.h2: "h2",
    s.h1_check: "E[(sigma' - h1)^2]",
    s.s3: "third Hermite coefficient",
}


@functools.cache
def closed_form(text: str, quantity: sp.Symbol) -> Derivation:
    """A quantity of the activation that ``text`` stands for, by its average over u = x + sqrt(c) z."""
    found = QUANTITIES[quantity](text)
    steps = [proved("The activation is said in moduli, signs, error functions and exponentials.", activation_is(text))]
    if text in _PARTS:
        steps.append(proved("Its mean over u = x + sqrt(c) z, by linearity and the means of its parts.", mean(text)))
    if quantity in (s.mu2_square, s.feature_square, s.h2):
        steps.append(proved("The mean of its square, likewise.", second_moment(text)))
    return Derivation(
        f"{_NAMES[quantity]} of {text}, in closed form",
        "Section 3, equations (12) and (15)",
        *steps,
        proved("What the quantity means, with the averages put in.", found),
    )

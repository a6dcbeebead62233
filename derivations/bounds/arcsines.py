r"""The upper bound for erf learning erf and for sign learning sign: averages of products of erf are arcsines.

They rest on what erf and sign are after Gaussian smoothing, and on

    E[erf(a kappa) erf(b kappa)] = (2/pi) arcsin(2 a b/((1 + 2 a^2)(1 + 2 b^2))^(1/2)).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.assumptions import aligned
from giantsteps.derivations.bounds.heavy_ridge import heavy_ridge
from giantsteps.derivations.closed_forms.arcsine_law import SCALES, arcsine_law
from giantsteps.derivations.free_energy.along_spike import g, mu0, over_kappa, y0
from giantsteps.derivations.free_energy.sample_energy import LABEL_MOMENTS
from giantsteps.derivations.gradient_step.signs import mean_error_function, position, square_of_sign, variance
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.search.assumptions import define, in_model, lemma
from giantsteps.derivations.kernel.search.averages import averages_expanded, over
from giantsteps.derivations.kernel.search.steps import in_order, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn

_x = sp.Symbol("x", real=True)
_s = sp.Symbol("s", nonnegative=True)
_t = sp.Symbol("t", real=True)
_hole = sp.Symbol("hole", real=True)
_ONE = sp.Integer(1)


OF_SIGN = lemma(
    "sign smoothed",
    Equation(Expectation(sgn(_t + sp.sqrt(_s) * s.z), s.z), sp.erf(_t / sp.sqrt(2 * _s))),
    "P(z > -t/sqrt s) less P(z < -t/sqrt s) for a standard normal z",
    _t,
    _s,
)

OVERLAP = define(s.target_overlap, over_kappa(y0 * mu0), "the average of y0 mu0")
NORM = define(s.student_norm, over_kappa(mu0**2), "the mean square of mu0")


def _law(first: sp.Expr, second: sp.Expr) -> Theorem:
    return instantiate((over(s.kappa, arcsine_law()),), dict(zip(SCALES, (first, second), strict=True)))


def arcsine(first: sp.Expr, second: sp.Expr, argument: sp.Expr) -> Theorem:
    """E[erf(first kappa) erf(second kappa)] = (2/pi) arcsin(argument)."""
    known = _law(first, second)
    (call,) = value(known).atoms(sp.asin)
    if call.args[0] == argument:
        return known
    same = ring((), Equation(call.args[0], argument))
    return rewrite((known, congruence((same,), sp.asin(_hole), _hole)))


def target_is(activation: sp.FunctionClass) -> Theorem:
    """g(x) = activation(x)."""
    return in_model("target", Equation(g(_x), activation(_x)), "activation and target", _x)


def target_at(target: Theorem, theorem: Theorem) -> Theorem:
    """``theorem`` with the target, wherever it stands on its right side, put for what it is."""
    calls = [call for call in in_order(value(theorem), sp.core.function.AppliedUndef) if call.func == g]
    return rewritten(theorem, *(instantiate((target,), {_x: call.args[0]}) for call in calls))


def mean_of(activation: sp.FunctionClass) -> Theorem:
    """mu0(kappa) = E_z of the activation at r kappa + sqrt(c) z."""
    return define(
        mu0,
        Expectation(activation(s.r * s.kappa + sp.sqrt(s.c) * s.z), s.z),
        "the activation's mean at given kappa, equation (15)",
        s.kappa,
    )


@functools.cache
def erf_upper() -> tuple[Theorem, ...]:
    """mu0, E[g mu0], E[mu0^2] and the upper bound for erf learning erf, gamma = 1."""
    smooth = instantiate((mean_error_function(),), {position: s.r * s.kappa, variance: s.c})
    student = rewritten(mean_of(sp.erf), smooth)
    first, _, square = (target_at(target_is(sp.erf), theorem) for theorem in aligned())
    scale = s.r / sp.sqrt(1 + 2 * s.c)
    overlap = _overlap(student, first, arcsine(_ONE, scale, 2 * scale / (sp.sqrt(3) * sp.sqrt(1 + 2 * scale**2))))
    norm = _norm(student, arcsine(scale, scale, 2 * scale**2 / (1 + 2 * scale**2)))
    size = over_kappa_of(square)
    full = rewritten(size, arcsine(_ONE, _ONE, sp.Rational(2, 3)))
    return student, overlap, norm, _bound(overlap, norm, full)


@functools.cache
def sign_upper() -> tuple[Theorem, ...]:
    """mu0, y0, E[y0 mu0], E[mu0^2] and the upper bound for sign learning sign."""
    target = target_is(sgn)
    student = rewritten(mean_of(sgn), instantiate((OF_SIGN,), {_t: s.r * s.kappa, _s: s.c}))
    here = {_t: s.gamma * s.kappa, _s: s.rho}
    first = rewritten(target_at(target, LABEL_MOMENTS[0]), instantiate((OF_SIGN,), here))
    at = s.gamma * s.kappa + sp.sqrt(s.rho) * s.z
    square = rewritten(target_at(target, LABEL_MOMENTS[2]), square_of_sign(at))
    scale, teacher = s.r / sp.sqrt(2 * s.c), s.gamma / sp.sqrt(2 * s.rho)
    apart = in_model("alignment", Equation(s.rho, 1 - s.gamma**2), "rho is what gamma^2 leaves of one")
    overlap = _overlap(student, first, _turned(teacher, scale, apart))
    norm = _norm(student, arcsine(scale, scale, s.r**2 / (s.c + s.r**2)))
    return student, first, overlap, norm, _bound(overlap, norm, over_kappa_of(square))


def _turned(teacher: sp.Expr, scale: sp.Expr, apart: Theorem) -> Theorem:
    """E[erf(teacher kappa) erf(scale kappa)], with the roots in the arcsine taken together."""
    known = _law(teacher, scale)
    (call,) = value(known).atoms(sp.asin)
    in_c = ring((), Equation(s.c * (1 + s.r**2 / s.c), s.c + s.r**2))
    in_rho = ring((apart,), Equation(s.rho * (1 + s.gamma**2 / s.rho), _ONE), (_ONE,))
    roots = [congruence((theorem,), sp.sqrt(_hole), _hole) for theorem in (in_c, in_rho)]
    (first, long), (second, _) = (sides(root.statement) for root in roots)
    whole = s.gamma * s.r
    same = ring(
        tuple(roots), Equation(call.args[0], whole / long), (-whole / (first * long), -whole / (first * second))
    )
    return rewrite((known, congruence((same,), sp.asin(_hole), _hole)))


def _overlap(student: Theorem, first: Theorem, product: Theorem) -> Theorem:
    """E[y0 mu0]."""
    both = ring((first, student), Equation(y0 * mu0, value(first) * value(student)), (mu0, value(first)))
    return rewritten(OVERLAP, average((both,), (s.kappa,)), product)


def _norm(student: Theorem, product: Theorem) -> Theorem:
    """E[mu0^2]."""
    both = ring((student,), Equation(mu0**2, value(student) ** 2), (mu0 + value(student),))
    return rewritten(NORM, average((both,), (s.kappa,)), product)


def over_kappa_of(square: Theorem) -> Theorem:
    """E[y2] in averages over kappa."""
    return averages_expanded(average((square,), (s.kappa,)), s.kappa)


def _bound(overlap: Theorem, norm: Theorem, size: Theorem) -> Theorem:
    """The limit of the error as the ridge grows."""
    bound = heavy_ridge().theorem_of(s.error_infinity)
    for name in (OVERLAP, NORM):
        bound = rewrite((bound, name), True)
    return rewritten(bound, size, overlap, norm)

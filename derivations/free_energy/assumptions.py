r"""The assumptions of the replica computation: lemmas on Gaussian integrals and rank-one matrices, and its hypotheses.

A matrix is known by its forms and its determinant: the lemmas speak of these numbers alone, so that they hold for any
number of replicas, neurons and modes.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.gradient_step.assumptions import REPEATED
from giantsteps.derivations.kernel.algebra import congruence, instantiate, order, rewrite
from giantsteps.derivations.kernel.averages import average, linear, rotate
from giantsteps.derivations.kernel.calculus import logarithm
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, lemma
from giantsteps.derivations.kernel.search.averages import expansion
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import repeated

_z = sp.Symbol("z^G", real=True)  # stands in no term that a lemma is used on: no bound variable is renamed
_S, _b = sp.symbols("S b", positive=True)
_t, _w, _L, _F, _n = sp.symbols("t w L F n", real=True)
_xy, _xu, _uy, _uu = sp.symbols("g_{xy} g_{xu} g_{uy} g_{uu}", real=True)
_own, _other, _R = sp.symbols("q_{ii} q_{ij} R", real=True)
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_hole = sp.Symbol("hole", real=True)

# The average of a product of n independent factors of one law, each of which averages to b.
product_of = sp.Function("product", positive=True)
# x.(A + w u u^T)^-1 y from the forms x.y, x.u, u.y, u.u of A^-1; and ln det(A + w u u^T) from ln det A and u.A^-1 u.
updated_form = sp.Function("updated form", real=True)
updated_log_det = sp.Function("updated ln det", real=True)
# ln of int da exp(-a.A a/2 + F.a), less (1/2) ln 2 pi for each variable, from ln det A and F.A^-1 F.
log_gaussian = sp.Function("ln Gaussian", real=True)
# The sum over i and j of R replicas of a number that each pair has.
over_replicas = sp.Function("sum over replicas", real=True)
# (1/(p R B)) ln of the integral of exp(p R B exponent) over overlaps and conjugates, at large p, small R and large B.
per_neuron = sp.Function("saddle value", real=True)
# What a quantity of the equivalent features is for the network after its gradient step.
of_network = sp.Function("of the network", real=True)


GAUSSIAN = lemma(
    "Gaussian integral",
    Equation(sp.log(Expectation(sp.exp((1 - _S) * _z**2 / 2 + _t * _z), _z)), _t**2 / (2 * _S) - sp.log(_S) / 2),
    "int exp(-S z^2/2 + t z) dz = (2 pi/S)^(1/2) exp(t^2/(2 S)), S > 0: completing the square",
    _S,
    _t,
)
PRODUCT = lemma(
    "independent factors",
    Equation(product_of(_n, _b), _b**_n),
    "the average of a product of n independent factors of one law is the n-th power of the average of one",
    _n,
    _b,
)
SHERMAN_MORRISON = lemma(
    "Sherman-Morrison",
    Equation(updated_form(_xy, _xu, _uy, _uu, _w), _xy - _w * _xu * _uy / (1 + _w * _uu)),
    "Sherman and Morrison (1950): (A + w u u^T)^-1 = A^-1 - w A^-1 u u^T A^-1/(1 + w u.A^-1 u)",
    _xy,
    _xu,
    _uy,
    _uu,
    _w,
)
DETERMINANT = lemma(
    "determinant of rank one",
    Equation(updated_log_det(_L, _uu, _w), _L + sp.log(1 + _w * _uu)),
    "matrix determinant lemma: det(A + w u u^T) = det A (1 + w u.A^-1 u)",
    _L,
    _uu,
    _w,
)
MANY_VARIABLES = lemma(
    "Gaussian integral of many variables",
    Equation(log_gaussian(_L, _F), (_F - _L) / 2),
    "int exp(-a.A a/2 + F.a) da = (2 pi)^(k/2) det(A)^(-1/2) exp(F.A^-1 F/2) in k variables, A positive definite",
    _L,
    _F,
)
LOGARITHM = lemma(
    "growth of the logarithm",
    Tends(sp.log(s.inverse_temperature) / s.inverse_temperature, sp.Integer(0), s.inverse_temperature),
    "ln B <= 2 (B^(1/2) - 1)",
)

STATIONARY = "Appendices C and D, (104)-(106), (155): overlaps and conjugates are where the free energy is stationary"
SYMMETRY = hypothesis(
    "replica symmetry",
    Equation(over_replicas(_R, _own, _other), _R * _own + _R * (_R - 1) * _other),
    "Appendix C, (91)-(92): at the saddle point a pair of replicas is known by whether it is one replica twice; "
    "expected to be exact where the problem is strictly convex",
    _R,
    _own,
    _other,
)
SADDLE = hypothesis(
    "saddle point and order of limits",
    Equation(per_neuron(_t), _t),
    "Appendix C, (90), (106): Laplace's method for overlaps and conjugates; large d, integers R continued to zero "
    "and low temperature are exchanged",
    _t,
)


EQUIVALENCE = hypothesis("Result 3.2", Equation(of_network(_t), _t), "result-3-2.same-test-error", _t)

# The meanings of the names above, and n equal terms.
_KNOWN = (PRODUCT, SHERMAN_MORRISON, DETERMINANT, MANY_VARIABLES, SYMMETRY, SADDLE, EQUIVALENCE)
OPERATIONS = {sides(theorem.statement)[0].func: theorem for theorem in _KNOWN} | {repeated: REPEATED}


def unfolded(theorem: Theorem) -> Theorem:
    """``theorem`` with what the operations of this module are for them, the inner ones first."""
    while calls := [call for call in value(theorem).atoms(sp.core.function.AppliedUndef) if call.func in OPERATIONS]:
        inner = [call for call in calls if not any(call != other and call.has(other) for other in calls)]
        call = min(inner, key=sp.default_sort_key)
        theorem = rewrite((theorem, operation_is(call)))
    return theorem


def operation_is(call: sp.Expr) -> Theorem:
    """What one operation is by its lemma."""
    known = OPERATIONS[call.func]
    names, _ = sides(known.statement)
    values = {name: given for name, given in zip(names.args, call.args, strict=True) if name != given}
    return instantiate((known,), values) if values else known


def gaussian(integral: sp.Expr, curvature: sp.Expr, force: sp.Expr, exponent: sp.Expr = _ZERO) -> Theorem:
    """ln E[f(z)] = exponent + t^2/(2 S) - ln(S)/2 for f = exp(exponent + (1 - S) z^2/2 + t z)."""
    (variable,) = integral.variables
    known = instantiate((GAUSSIAN,), {_S: curvature, _t: force})
    (found,) = sides(known.statement)[0].atoms(Expectation)
    if found.variables != (variable,):
        known = rewrite((known, rotate((), found, (variable,), ((_ONE,),))))
        (found,) = sides(known.statement)[0].atoms(Expectation)
    if found == integral:
        return known
    constant = sp.exp(exponent)
    split = linear((), integral, ((constant, found.integrand),))
    taken = congruence((split,), sp.log(_hole), _hole)
    if constant != 1:
        taken = rewrite((taken, logarithm((), value(split), ((constant, _ONE), (found, _ONE)))))
    return rewrite((taken, known))


def exponential(theorem: Theorem) -> Theorem:
    """x = exp(y) from ln x = y."""
    return congruence((theorem,), sp.exp(_hole), _hole)


def saddle_point(derivative: sp.Symbol) -> Theorem:
    """The hypothesis that a derivative of the free energy vanishes."""
    return hypothesis("stationary saddle point", Equation(derivative, _ZERO), STATIONARY)


# The readout along theta_perp and in all: coordinates of Pi W^T a/sqrt(p), a vector of d components, and of theta_perp.
READOUT, DIRECTION = (sp.Function(name, real=True)(s.mode) for name in ("U", "T"))
SIZE = define(s.q1, Expectation(READOUT**2, s.mode), "|u|^2 of u = Pi W^T a/sqrt(p), as a mean over its components")
ALONG = define(s.psi, Expectation(READOUT * DIRECTION, s.mode), "u.theta_perp, as a mean over components")
UNIT = in_model("unit direction", Equation(Expectation(DIRECTION**2, s.mode), _ONE), "|theta_perp| = 1")


@functools.cache
def cauchy_schwarz() -> Theorem:
    """q1 >= psi^2, equation (170): the mean square of u - psi theta_perp over components, |theta_perp| = 1."""
    rest = READOUT - s.psi * DIRECTION
    square = average((order((), AtLeast(rest**2, _ZERO), (), ((_ONE, rest),)),), (s.mode,))
    in_parts = expansion(sides(square.statement)[0], s.mode)
    return order(
        (square, in_parts, SIZE, ALONG, UNIT), AtLeast(s.q1, s.psi**2), (_ONE, -_ONE, _ONE, -2 * s.psi, -(s.psi**2))
    )

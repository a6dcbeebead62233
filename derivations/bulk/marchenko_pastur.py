r"""Traces of the resolvent of a bulk with isotropic rows: the Marchenko-Pastur law as equations between V1 and V2.

With rows w_i of squared norm c in d dimensions, p = beta d of them, and S = s0 + V1^ W Pi W^T with s0 = lambda + V2^,

    V2 = (1/p) tr S^-1,   V1 = (1/p) tr[W Pi W^T S^-1].

One line of the cavity argument gives both; equation (117) is the same law written as a density.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import PAPER, denominator, over_modes, varrho
from onestep.derivations.free_energy.ridge import sherman_morrison
from onestep.derivations.kernel.algebra import assume, congruence, instantiate, rewrite, ring
from onestep.derivations.kernel.averages import linear
from onestep.derivations.kernel.search import define, proved, rewritten, value
from onestep.derivations.kernel.statements import Assumption, Equation, Ground, sides
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq

ISOTROPIC = (
    "the rows of the bulk are independent of each other and isotropic, so that quadratic forms of a row in the rest "
    "concentrate"
)

shift = s.ridge + s.V2_hat


_ONE = sp.Integer(1)
_gain = 1 + s.beta * s.c * s.V1_hat * s.V2
_SQUARED_NORM, _FORM, _PER_DIMENSION = sp.symbols("|w_i|^2 w_i.W^TS_i^{-1}Ww_i (1/d)trW^TS^{-1}W", real=True)
_corner, _coupling = sp.symbols("A q", real=True)
_entry = sp.Function("(S^{-1})_{ii}", real=True)
# A diagonal entry of an inverse, by the diagonal entry A of the matrix and b.D^-1 b of the rest D and the row b.
SCHUR = assume(
    (),
    Assumption(
        Ground.LEMMA,
        "Schur complement",
        Equation(_entry(_corner, _coupling), 1 / (_corner - _coupling)),
        "inversion of a matrix in two blocks",
        frozenset({_corner, _coupling}),
    ),
)
NORM = assume((), Assumption(Ground.MODEL, "rows of the bulk", Equation(_SQUARED_NORM, s.c), "|w_i|^2 = c"))
TRACES = (
    define(s.V1, over_modes(varrho / denominator), "(1/p) tr[W Pi W^T S^-1], mode by mode"),
    define(s.V2, over_modes(1 / denominator), "(1/p) tr S^-1, mode by mode"),
)


def _trusted(name: str, left: sp.Expr, right: sp.Expr) -> Theorem:
    """What concentration of the traces and forms of an isotropic bulk says."""
    return assume((), Assumption(Ground.HYPOTHESIS, name, Equation(left, right), ISOTROPIC))


@functools.cache
def schur_complement() -> tuple[Theorem, ...]:
    """V2 by the Schur complement of one row: s0 + V1^ |w|^2 - V1^^2 w.W^T S^-1 W w, the last being c beta V1."""
    corner, coupling = shift + s.V1_hat * _SQUARED_NORM, s.V1_hat**2 * _FORM
    alike = _trusted("rows are alike", s.V2, _entry(corner, coupling))
    entry = rewrite((alike, instantiate((SCHUR,), {_corner: corner, _coupling: coupling})))
    form = _trusted("isotropic row", _FORM, s.c * _PER_DIMENSION)
    per_dimension = define(
        _PER_DIMENSION, s.beta * over_modes(varrho / denominator), "(1/d) tr[W^T S^-1 W], p modes among d dimensions"
    )
    by_trace = rewrite((rewritten(form, per_dimension), TRACES[0]), True)
    return entry, by_trace, rewritten(entry, NORM, by_trace)


@functools.cache
def trace_identity() -> Theorem:
    """(1/p) tr[S S^-1] = 1."""
    V1, V2 = TRACES
    share = over_modes(s.V1_hat * varrho / denominator)
    rest = linear((), share, ((_ONE, _ONE), (-shift, 1 / denominator)))
    scaled = linear((), share, ((s.V1_hat, varrho / denominator),))
    goal = Equation(shift * s.V2 + s.V1_hat * s.V1, _ONE)
    return ring((V2, V1, rest, scaled), goal, (shift, s.V1_hat, _ONE, -_ONE))


@functools.cache
def cavity() -> Derivation:
    """V1 in terms of V2, from the Schur complement of one row and the trace of S S^-1 = 1."""
    entry, form, inverse = schur_complement()
    trace = trace_identity()
    complement, common = 1 / value(inverse), s.V1_hat * _gain
    result = ring((inverse, trace), Equation(s.V1, s.c * s.V2 / _gain), (-complement / common, 1 / common))
    return Derivation(
        "one row against the rest",
        f"{PAPER}, Appendix C, (117)",
        proved("A diagonal entry of an inverse is one over the Schur complement of the rest.", entry),
        proved(
            "Row i is independent of the inverse S_i of the rest, so the quadratic form is (c/d) tr[W^T S^-1 W] = "
            "beta c V1.",
            form,
        ),
        proved("The entry is one over s0 + c V1^ - V1^^2 beta c V1.", inverse),
        proved("The trace of S S^-1 = 1.", trace),
        proved("Subtract: V2 times the inverse of the second relation minus the third is linear in V1.", result),
        results={s.V1: value(result)},
        hypotheses=(ISOTROPIC,),
    )


def law() -> Theorem:
    """V1 = c V2/(1 + beta c V1^ V2)."""
    theorem = cavity().theorem_of(s.V1)
    assert theorem is not None
    return theorem


def closure(V2: sp.Expr) -> sp.Expr:
    """F(V2) = 1/V2 - s0 - c V1^/(1 + beta c V1^ V2), which vanishes at V2."""
    return 1 / V2 - shift - s.c * s.V1_hat / (1 + s.beta * s.c * s.V1_hat * V2)


@functools.cache
def quadratic() -> Derivation:
    """V2 as the positive root of its quadratic equation."""
    leading, slope = s.beta * s.c * s.V1_hat * shift, shift + s.c * s.V1_hat * (1 - s.beta)
    trace, V1 = trace_identity(), law()
    closed = ring((trace, V1), Equation(1 / s.V2, 1 / s.V2 - closure(s.V2)), (-1 / s.V2, s.V1_hat / s.V2))
    polynomial = leading * s.V2**2 + slope * s.V2 - 1
    multiplied = ring((closed,), Equation(polynomial, sp.Integer(0)), (-s.V2 * _gain,))
    positive = leading * s.V2 + 1 / s.V2
    square = ring(
        (multiplied,),
        Equation(slope**2 + 4 * leading, positive**2),
        ((slope / s.V2 - leading + 1 / s.V2**2),),
    )
    hole = sp.Dummy("discriminant", nonnegative=True)
    root = congruence((square,), sp.sqrt(hole), hole)
    result = ring(
        (root, multiplied),
        Equation(s.V2, (sides(root.statement)[0] - slope) / (2 * leading)),
        (-1 / (2 * leading), 1 / (2 * leading * s.V2)),
    )
    return Derivation(
        "Marchenko-Pastur quadratic",
        f"{PAPER}, Appendix C, (117)",
        *cavity().steps,
        proved("V1 eliminated: one equation for V2.", closed),
        proved("Multiplied out it is quadratic.", multiplied),
        proved("Its discriminant is the square of what is positive for V2 > 0,", square),
        proved("whose root it is,", root),
        proved("so that V2 is the root with the plus sign.", result),
        results={s.V2: value(result)},
        hypotheses=(ISOTROPIC,),
    )


def implicit_derivative(variable: sp.Symbol) -> sp.Expr:
    """dV2/dx = -F_x/F_V2 at fixed ridge, from the closed equation F = 0."""
    F = closure(s.V2)
    return sp.factor(-sp.diff(F, variable) / sp.diff(F, s.V2))


def total_derivative(expression: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The derivative along the solution V2(V1^, V2^)."""
    return sp.diff(expression, variable) + sp.diff(expression, s.V2) * implicit_derivative(variable)


@functools.cache
def second_moments() -> Derivation:
    """(1/p) tr[Omega^j S^-2], j = 0, 1, 2: derivatives of V1 and V2 in V1^ and V2^, by implicit differentiation."""
    V1 = cavity().results[s.V1]
    M02 = sp.factor(-implicit_derivative(s.V2_hat))
    M12 = sp.factor(-implicit_derivative(s.V1_hat))
    M22 = sp.factor(-total_derivative(V1, s.V1_hat))
    on_shell = {s.ridge: sp.solve(closure(s.V2), s.ridge)[0]}
    steps = (
        *cavity().steps,
        Step(
            "S depends on V1^ and V2^ linearly, so (1/p) tr S^-2 = -dV2/dV2^, (1/p) tr[Omega S^-2] = -dV2/dV1^ and "
            "(1/p) tr[Omega S^-1 Omega S^-1] = -dV1/dV1^; V2 is differentiated implicitly.",
            eq(s.resolvent_square, M02),
            Vanishing("F stays zero along V2^", sp.diff(closure(s.V2), s.V2_hat) - M02 * sp.diff(closure(s.V2), s.V2)),
        ),
        Step(
            "The mixed moment.",
            eq(s.resolvent_mixed, M12),
            Vanishing("F stays zero along V1^", sp.diff(closure(s.V2), s.V1_hat) - M12 * sp.diff(closure(s.V2), s.V2)),
            Vanishing("it is also -dV1/dV2^", M12 + total_derivative(V1, s.V2_hat)),
        ),
        Step(
            "The moment of order two.",
            eq(s.resolvent_double, M22),
            Vanishing("(1/p) tr[S S^-2] = V2", ((shift * M02 + s.V1_hat * M12 - s.V2).subs(on_shell))),
            Vanishing("(1/p) tr[Omega S S^-2] = V1", ((shift * M12 + s.V1_hat * M22 - V1).subs(on_shell))),
        ),
    )
    return Derivation(
        "second moments of the resolvent",
        f"{PAPER}, Section 3.3, (19)",
        *steps,
        results={s.resolvent_square: M02, s.resolvent_mixed: M12, s.resolvent_double: M22, s.V1: V1},
        hypotheses=(ISOTROPIC,),
    )


@functools.cache
def spike_direction() -> Derivation:
    """s.G s = beta c V2 for s = W v: Sherman-Morrison with s.G0 s = beta V1, against the direct concentration."""
    V1 = cavity().results[s.V1]
    by_inversion = sherman_morrison(s.beta * V1)
    result = s.beta * s.c * s.V2
    steps = (
        *cavity().steps,
        Step(
            "v is independent of the bulk, so s.G0 s = (1/d) tr[W^T G0 W] = beta V1 at leading order: tau^2 "
            "averages to one, I = V1.",
            eq(s.spike_resolvent, s.beta * s.V1),
        ),
        Step(
            "Sherman-Morrison then gives beta V1/(1 - beta V1^ V1), which the Marchenko-Pastur relation turns into "
            "beta c V2: what W v, independent of W Pi, gives directly as (c/d) tr G.",
            eq(s.spike_resolvent_bulk, result),
            Vanishing("the two routes agree", by_inversion - result),
        ),
    )
    return Derivation(
        "resolvent along the spike",
        f"{PAPER}, Appendix C, (109), (115)",
        *steps,
        results={s.spike_resolvent_bulk: by_inversion, s.V1: V1},
        hypotheses=(ISOTROPIC,),
    )

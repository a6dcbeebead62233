r"""Traces of the resolvent of a bulk with isotropic rows: the Marchenko-Pastur law as equations between V1 and V2.

With rows w_i of squared norm c in d dimensions, p = beta d of them, and S = s0 + V1^ W Pi W^T with s0 = lambda + V2^,

    V2 = (1/p) tr S^-1,   V1 = (1/p) tr[W Pi W^T S^-1].

One line of the cavity argument gives both; equation (117) is the same law written as a density.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import PAPER
from onestep.derivations.free_energy.ridge import sherman_morrison
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq

ISOTROPIC = (
    "the rows of the bulk are independent of each other and isotropic, so that quadratic forms of a row in the rest "
    "concentrate"
)

shift = s.ridge + s.V2_hat


def cavity_inverse(trace_of_rest: sp.Expr) -> sp.Expr:
    """1/V2 by the Schur complement of one row: s0 + V1^ |w|^2 - V1^^2 w.W^T S^-1 W w, the last being c beta V1."""
    return shift + s.V1_hat * s.c - s.V1_hat**2 * s.c * s.beta * trace_of_rest


def trace_identity() -> sp.Expr:
    """(1/p) tr[S S^-1] - 1."""
    return shift * s.V2 + s.V1_hat * s.V1 - 1


@functools.cache
def cavity() -> Derivation:
    """V1 in terms of V2, from the Schur complement of one row and the trace of S S^-1 = 1."""
    A, D, off = sp.symbols("A D b", positive=True)
    corner = sp.Matrix([[A, off], [off, D]]).inv()[0, 0]
    inverse = cavity_inverse(s.V1)
    (result,) = sp.solve(sp.expand(s.V2 * inverse - 1 - trace_identity()), s.V1)
    steps = (
        Step(
            "A diagonal entry of an inverse is one over the Schur complement of the rest.",
            eq(sp.Symbol("(S^{-1})_{ii}"), 1 / (A - off * off / D)),
            Vanishing("in a matrix of two blocks", corner - 1 / (A - off**2 / D)),
        ),
        Step(
            "For row i the entry is s0 + c V1^ - V1^^2 w_i.W^T S_i^-1 W w_i; w_i is independent of S_i, so the "
            "quadratic form is (c/d) tr[W^T S^-1 W] = beta c V1.",
            eq(1 / s.V2, inverse),
        ),
        Step("The trace of S S^-1 = 1.", eq(shift * s.V2 + s.V1_hat * s.V1, 1)),
        Step(
            "Subtract: V2 times the second relation minus the third is linear in V1.",
            eq(s.V1, result),
            Vanishing(
                "the solution satisfies both relations", (s.V2 * inverse - 1 - trace_identity()).subs(s.V1, result)
            ),
        ),
    )
    return Derivation(
        "one row against the rest",
        f"{PAPER}, Appendix C, (117)",
        *steps,
        results={s.V1: result},
        hypotheses=(ISOTROPIC,),
    )


def closure(V2: sp.Expr) -> sp.Expr:
    """F(V2) = 1/V2 - s0 - c V1^/(1 + beta c V1^ V2), which vanishes at V2."""
    return 1 / V2 - shift - s.c * s.V1_hat / (1 + s.beta * s.c * s.V1_hat * V2)


@functools.cache
def quadratic() -> Derivation:
    """V2 as the positive root of its quadratic equation."""
    leading, linear = s.beta * s.c * s.V1_hat * shift, shift + s.c * s.V1_hat * (1 - s.beta)
    polynomial = leading * s.V2**2 + linear * s.V2 - 1
    V1_of_V2 = cavity().results[s.V1]
    root = (sp.sqrt(linear**2 + 4 * leading) - linear) / (2 * leading)
    steps = (
        *cavity().steps,
        Step(
            "Inserted in the Schur complement: one equation for V2.",
            eq(1 / s.V2, shift + s.c * s.V1_hat / (1 + s.beta * s.c * s.V1_hat * s.V2)),
            Vanishing("the Schur complement with V1 eliminated", 1 / s.V2 - cavity_inverse(V1_of_V2) - closure(s.V2)),
        ),
        Step(
            "Multiplied out it is quadratic.",
            eq(polynomial, 0),
            Vanishing("common denominator", polynomial + closure(s.V2) * s.V2 * (1 + s.beta * s.c * s.V1_hat * s.V2)),
        ),
        Step(
            "The product of the roots is -1/(beta c V1^ s0) < 0: exactly one root is positive.",
            eq(s.V2, root),
            Vanishing("the root satisfies the quadratic", polynomial.subs(s.V2, root)),
            NonNegative("beta c V1^ s0 >= 0", leading, ((leading, sp.S.One),)),
        ),
    )
    return Derivation(
        "Marchenko-Pastur quadratic",
        f"{PAPER}, Appendix C, (117)",
        *steps,
        results={s.V2: root},
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

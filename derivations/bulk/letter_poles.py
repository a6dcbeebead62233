r"""What the bulk of a network with a vocabulary needs of the batch: the resolvent of A at k points. Beyond the paper.

C (1 + Theta(x) C)^-1 is rational in the eigenvalue x of A, with theta_a = g_a (1 + u_a^2 omega x). For C
positive definite its inverse C^-1 + Theta is diagonal in one basis for all x, so that there are k simple poles x = -t_j
with t_j > 0, and an integral over the spectrum is a sum over q(t_j) = (1/d) tr (A + t_j)^-1 or f.(A + t_j)^-1 f'.
Two groups are written out: then t_1 and t_2 are the roots of a quadratic.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.blocks import IDENTITY, LETTERS, C, Theta, mixed_matrix, theta
from giantsteps.derivations.bulk.letters import NU, SOURCE, first_direction, form, second_direction, theta_at, varrho
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation

x = sp.Symbol("x", nonnegative=True)  # an eigenvalue of A
_ONE = sp.Integer(1)
start = s.row_gain
slope = tuple(start[a] * s.letter[a] ** 2 * s.row_weight for a in LETTERS)
delta = C[0, 0] * C[1, 1] - C[0, 1] ** 2

INVERTIBLE = "C is positive definite, no letter is zero, and the two poles differ"


def at(point: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Theta at x = point."""
    return {theta[a]: start[a] + slope[a] * point for a in LETTERS}


def determinant() -> sp.Expr:
    """det(1 + C Theta)."""
    return sp.expand((IDENTITY + C * Theta).det())


def lead() -> sp.Expr:
    """The coefficient of x^2 in det(1 + C Theta(x))."""
    return delta * slope[0] * slope[1]


def centres() -> tuple[sp.Expr, sp.Expr]:
    """Minus the roots that the groups have on their own: those of (C^-1 + Theta)_aa."""
    return tuple((start[a] + C[1 - a, 1 - a] / delta) / slope[a] for a in LETTERS)


def coupling_square() -> sp.Expr:
    """What couples the groups: (C^-1)_12^2 over both slopes."""
    return (C[0, 1] / delta) ** 2 / (slope[0] * slope[1])


def quadratic(point: sp.Expr) -> sp.Expr:
    """det(1 + C Theta(x)) as det C det(C^-1 + Theta(x)), the centres and the coupling in it."""
    first, second = centres()
    return lead() * ((point + first) * (point + second) - coupling_square())


# det(1 + C Theta) as a function of the eigenvalue.
_determinant = sp.Function("det(1+CTheta)", positive=True)
DETERMINANT = in_model(
    "the determinant at an eigenvalue",
    Equation(_determinant(x), determinant().subs(at(x))),
    "C is positive definite, and so is the determinant positive at every eigenvalue of A",
    x,
)
ROOTS = in_model(
    "the poles",
    Equation(_determinant(x), lead() * (x + s.pole[0]) * (x + s.pole[1])),
    "the poles are minus the roots of the determinant, with their multiplicity",
    x,
)
_distance = sp.Symbol("t_2-t_1", positive=True)
APART = define(_distance, s.pole[1] - s.pole[0], "the poles differ, and the second is the larger")


@functools.cache
def poles() -> Derivation:
    """t_1 < t_2: the roots of (t - A_1)(t - A_2) = g^2."""
    first, second = centres()
    square = (first - second) ** 2 / 4 + coupling_square()
    opened = ring((), Equation(determinant().subs(at(x)), quadratic(x)))
    factors = ring(
        (opened, DETERMINANT, ROOTS),
        Equation((x + s.pole[0]) * (x + s.pole[1]), (x + first) * (x + second) - coupling_square()),
        (1 / lead(), 1 / lead(), -1 / lead()),
    )
    at_zero, at_one = (instantiate((factors,), {x: sp.Integer(k)}) for k in (0, 1))
    total = ring((at_one, at_zero), Equation(s.pole[0] + s.pole[1], first + second), (_ONE, -_ONE))
    spread = ring(
        (APART, total, at_zero),
        Equation((_distance / 2) ** 2, square),
        ((_distance + s.pole[1] - s.pole[0]) / 4, (s.pole[0] + s.pole[1] + first + second) / 4, -_ONE),
    )
    hole = sp.Symbol("hole", nonnegative=True)
    root = congruence((spread,), sp.sqrt(hole), hole)
    found = [
        ring(
            (root, total, APART),
            Equation(s.pole[a], (first + second) / 2 + sign * sp.sqrt(square)),
            (sp.Integer(sign), _ONE / 2, -sp.Rational(sign, 2)),
        )
        for a, sign in zip(LETTERS, (-1, 1), strict=True)
    ]
    return Derivation(
        "the poles of two groups",
        SOURCE,
        proved("det(1 + C Theta) = det C det(C^-1 + Theta), quadratic in x.", opened),
        proved("The poles are minus its roots.", factors),
        proved("Their sum.", total),
        proved("Half their distance is a root: the discriminant is a sum of squares.", spread),
        *each_proved("With one sign each.", found),
        results={s.pole[a]: value(found[a]) for a in LETTERS},
        hypotheses=(INVERTIBLE,),
    )


def residue(numerator: sp.Expr, here: int) -> sp.Expr:
    """The residue of numerator/((x + t_1)(x + t_2)) at x = -t_here."""
    there = 1 - here
    return numerator.subs(x, -s.pole[here]) / (s.pole[there] - s.pole[here])


def over_poles(name: sp.Symbol, weight: sp.Expr, numerator: sp.Expr, meaning: str, *values: Theorem) -> Theorem:
    """name = int numerator/det(1 + C Theta(x)) weight, by partial fractions; ``values`` say what is at the poles."""
    point = varrho(NU)
    whole = numerator.subs(x, point) * weight / _determinant(point)
    defined = define(name, Expectation(whole, NU), meaning)
    split = rewrite((defined, instantiate((_ROOTS_UNDER,), {x: point})))
    parts = tuple((residue(numerator, j) / lead(), weight / (point + s.pole[j])) for j in LETTERS)
    apart = rewrite((split, linear((), value(split), parts)))
    for known in values:
        apart = rewrite((apart, known), True)
    return apart


_by_roots = lead() * (x + s.pole[0]) * (x + s.pole[1])
_ROOTS_UNDER = ring((ROOTS,), Equation(1 / _determinant(x), 1 / _by_roots), (-1 / (_determinant(x) * _by_roots),))


@functools.cache
def sums() -> Derivation:
    """The trace of [(1 + Theta C)^-1]_11 and a form of M_12 as sums over the poles."""
    pair = first_direction(NU) * second_direction(NU)
    at_poles = [
        (
            define(s.pole_trace[j], Expectation(1 / (varrho(NU) + s.pole[j]), NU), "(1/d) tr (A + t)^-1"),
            define(s.pole_form[j], Expectation(pair / (varrho(NU) + s.pole[j]), NU), "f.(A + t)^-1 f'"),
        )
        for j in LETTERS
    ]
    numerator = (1 + C[1, 1] * theta[1]).subs(at(x))
    reference = "(1/d) tr of entry 11 of (1 + Theta(A) C)^-1, a cofactor over the determinant"
    trace = over_poles(s.filter_trace, _ONE, numerator, reference, *(own for own, _ in at_poles))
    reference = "f.M_12(A) f', with entry 12 of C (1 + Theta C)^-1"
    mixed = over_poles(s.mixed_form, pair, C[0, 1], reference, *(of for _, of in at_poles))
    return Derivation(
        "averages over the spectrum by their poles",
        SOURCE,
        *poles().steps,
        proved(
            "Entry 11 of (1 + Theta C)^-1 is (1 + C_22 theta_2)/det, linear over quadratic: two simple poles.", trace
        ),
        proved("Entry 12 of M is C_12/det.", mixed),
        results=(trace, mixed),
        hypotheses=(INVERTIBLE,),
    )


@functools.cache
def filtered() -> Derivation:
    """tau of a group by the trace of its filter: beta (pi_1 - s_1 tau_1) = 1 - int [(1 + Theta C)^-1]_11."""
    inverse = (IDENTITY + Theta * C).inv(method="ADJ")
    share = theta[0] * mixed_matrix()[0, 0]
    shift = s.ridge + s.V2_hat_of[0]
    tau = (s.fraction[0] - (1 - s.filter_trace) / s.beta) / shift
    # pi_1 = tau_1 (s_1 + int b_1 M_11) and beta tau_1 b_1 = theta_1.
    relation = s.beta * (s.fraction[0] - shift * tau) - (1 - s.filter_trace)
    averaged = Expectation((s.row_gain[0] * form[0] - theta[0]).subs(theta_at, simultaneous=True), NU)
    steps = (
        *poles().steps,
        Step(
            "theta_1 M_11 = 1 - [(1 + Theta C)^-1]_11, and g_1 (1 + u_1^2 omega x) is theta_1: the equation of "
            "tau_1 times beta tau_1.",
            eq(s.V2_of[0], tau),
            Vanishing("theta_1 M_11", sp.together(share - 1 + inverse[0, 0])),
            Vanishing("theta_1 is g_1 times the form of a row", averaged),
            Vanishing("solved for tau_1", sp.expand(relation)),
        ),
    )
    return Derivation(
        "a group's trace by its filter", SOURCE, *steps, results={s.V2_of[0]: tau}, hypotheses=(INVERTIBLE,)
    )

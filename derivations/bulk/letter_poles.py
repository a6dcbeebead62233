r"""What the bulk of a network with a vocabulary needs of the batch: the resolvent of A at k points. Beyond the paper.

C (1 + Theta(x) C)^-1 is rational in the eigenvalue x of A, with theta_a = g_a (1 + u_a^2 omega x). For C
positive definite its inverse C^-1 + Theta is diagonal in one basis for all x, so that there are k simple poles x = -t_j
with t_j > 0, and an integral over the spectrum is a sum over q(t_j) = (1/d) tr (A + t_j)^-1 or f.(A + t_j)^-1 f'.
Two groups are written out: then t_1 and t_2 are the roots of a quadratic.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk import symbols as s
from onestep.derivations.bulk.blocks import IDENTITY, LETTERS, C, Theta, mixed_matrix, theta
from onestep.derivations.bulk.letters import NU, SOURCE, form, theta_at
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation

x = sp.Symbol("x", positive=True)
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


@functools.cache
def poles() -> Derivation:
    """t_1 < t_2: the roots of (t - A_1)(t - A_2) = g^2."""
    first, second = centres()
    half, root = (first + second) / 2, sp.sqrt((first - second) ** 2 / 4 + coupling_square())
    quadratic = lead() * ((x + first) * (x + second) - coupling_square())
    found = {s.pole[0]: half - root, s.pole[1]: half + root}
    (a_1, a_2), g2 = sp.symbols("A_1 A_2", positive=True), sp.Symbol("G", nonnegative=True)
    distance = sp.sqrt((a_1 - a_2) ** 2 / 4 + g2)
    short = ((a_1 + a_2) / 2 - distance, (a_1 + a_2) / 2 + distance)
    steps = (
        Step(
            "det(1 + C Theta) = det C det(C^-1 + Theta), quadratic in x.",
            eq(sp.Symbol(r"\det(1+C\Theta)"), quadratic),
            Vanishing("coefficient by coefficient", sp.together(determinant().subs(at(x)) - quadratic)),
        ),
        *(
            Step(
                "The discriminant is a sum of squares, so both roots are real.",
                eq(s.pole[a], found[s.pole[a]]),
                Vanishing("it is a root", sp.expand((a_1 - short[a]) * (a_2 - short[a]) - g2)),
                Vanishing(
                    "in the letters of the groups",
                    short[a].subs({a_1: first, a_2: second, g2: coupling_square()}) - found[s.pole[a]],
                ),
                NonNegative(
                    "the discriminant", (a_1 - a_2) ** 2 / 4 + g2, ((sp.Rational(1, 4), a_1 - a_2), (g2, sp.S.One))
                ),
                Vanishing(
                    "both are positive: their product is det(1 + C Theta(0)) over the leading coefficient",
                    sp.together(first * second - coupling_square() - determinant().subs(at(sp.S.Zero)) / lead()),
                ),
            )
            for a in LETTERS
        ),
    )
    return Derivation("the poles of two groups", SOURCE, *steps, results=found, hypotheses=(INVERTIBLE,))


def residue(numerator: sp.Expr, here: int) -> sp.Expr:
    """The residue of numerator/((x + t_1)(x + t_2)) at x = -t_here."""
    there = 1 - here
    return numerator.subs(x, -s.pole[here]) / (s.pole[there] - s.pole[here])


def by_poles(numerator: sp.Expr, values: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """An average of numerator/((x + t_1)(x + t_2)), numerator linear in x, over the leading coefficient."""
    return sum(residue(numerator, j) * values[j] for j in LETTERS) / lead()


def factored(numerator: sp.Expr) -> sp.Expr:
    """numerator/det(1 + C Theta) with the determinant by its poles."""
    return numerator / (lead() * (x + s.pole[0]) * (x + s.pole[1]))


@functools.cache
def sums() -> Derivation:
    """The trace of [(1 + Theta C)^-1]_11 and a form of M_12 as sums over the poles."""
    numerator = (1 + C[1, 1] * theta[1]).subs(at(x))
    trace = by_poles(numerator, s.pole_trace)
    mixed = by_poles(C[0, 1], s.pole_form)
    split = {
        "trace": factored(numerator) - sum(residue(numerator, j) / lead() / (x + s.pole[j]) for j in LETTERS),
        "form": factored(C[0, 1]) - sum(residue(C[0, 1], j) / lead() / (x + s.pole[j]) for j in LETTERS),
    }
    inverse = (IDENTITY + Theta * C).inv(method="ADJ")
    steps = (
        *poles().steps,
        Step(
            "Entry 11 of (1 + Theta C)^-1 is (1 + C_22 theta_2)/det, linear over quadratic: two simple poles.",
            eq(s.filter_trace, trace),
            Vanishing("the entry", sp.together(inverse[0, 0] - (1 + C[1, 1] * theta[1]) / determinant())),
            Vanishing("partial fractions", sp.together(split["trace"])),
        ),
        Step(
            "Entry 12 of M is C_12/det.",
            eq(s.mixed_form, mixed),
            Vanishing("the entry", sp.together(mixed_matrix()[0, 1] - C[0, 1] / determinant())),
            Vanishing("partial fractions", sp.together(split["form"])),
        ),
    )
    return Derivation(
        "averages over the spectrum by their poles",
        SOURCE,
        *steps,
        results={s.filter_trace: trace, s.mixed_form: mixed},
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

r"""The bulk after one step from overlapping rows, in a matrix that is linear in the samples. Beyond the paper.

In the notation of `derivations.gradient_step.overlapping_rows`, with R = y - F(t) and eps = eta/beta, what is left of a
row is

    b_k = sqrt(1 - o) (1 + eps M) u_k + noise,   M = (1/n0) sum R K x x^T:

of sigma'(h) - G(t) the part linear in u_k.x, sqrt(1 - o) K(t) u_k.x, turns every row by the same matrix; the rest, of
variance H - (1 - o) K^2, averages out between samples. So d Cov(b) = B = (1 - o) L P L + (eps^2/alpha0) A with
L = 1 + eps M, P = 1 - e e^T, A = (1/n0) sum R^2 (H - (1 - o) K^2) x x^T.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.network import SAMPLES
from giantsteps.derivations.gradient_step.overlapping_rows import (
    GIVEN_A_ROW,
    OTHER_ROWS,
    STEP,
    at_ratio,
    curvature,
    output,
    scatter,
)
from giantsteps.derivations.kernel.algebra import ring
from giantsteps.derivations.kernel.search.assumptions import each_proved, in_model
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g

SOURCE = "beyond the paper: initial rows that overlap"

# theta.x and e.x of a sample, independent.
u, t = s.z, sp.Symbol("t", real=True)

# Blocks of (1/d) tr of the linear matrix's inverse, and theta.(1 + g B)^-1 theta.
blocks = sp.symbols("G_{11} G_{12} G_{22}", real=True)
target_form = sp.Symbol(r"H_{\theta\theta}", positive=True)
row_target = sp.Symbol(r"\theta^\top B\theta", positive=True)

# W' averaged: alone, with u^2, with u t and with t^2. One sample's W = [[p, q], [q, 0]] and the first entry of its W'.
alone = sp.symbols("E[W'_{11}] E[W'_{12}] E[W'_{22}]", real=True)
with_uu = sp.symbols("E[W'_{11}u^2] E[W'_{12}u^2] E[W'_{22}u^2]", real=True)
with_ut = sp.symbols("E[W'_{11}ut] E[W'_{12}ut]", real=True)
with_tt = sp.Symbol("E[W'_{11}t^2]", real=True)
sample = sp.symbols("p q", real=True)
answer = sp.Symbol("W'_{11}", real=True)

residual = g(u) - output(t)
turn = residual * curvature(t)
rest = residual**2 * (scatter(t) - (1 - s.row_overlap) * curvature(t) ** 2)


def averaged(integrand: sp.Expr) -> sp.Expr:
    """E over u and t."""
    return Expectation(integrand, u, t)


def put_in(own: sp.Expr, beside: sp.Expr, G: tuple[sp.Expr, ...]) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """W' = W (1 + G W/alpha0)^-1 entry by entry, for W = [[own, beside], [beside, 0]]."""
    a, b, c = (entry / s.alpha0 for entry in G)
    determinant = 1 + a * own + 2 * b * beside + (b**2 - a * c) * beside**2
    return ((own - c * beside**2) / determinant, (beside + b * beside**2) / determinant, -a * beside**2 / determinant)


_others = sp.symbols("W'_{12} W'_{21} W'_{22}", real=True)


def acting(W: sp.Matrix, G: sp.Matrix, primed: sp.Matrix, *universal: sp.Symbol) -> tuple[Theorem, ...]:
    """W' by its entries 11, 12 and 22, from W' (1 + G W/alpha0) = W for W = [[own, beside], [beside, 0]]."""
    shrunk = sp.eye(2) + G * W / s.alpha0
    determinant = shrunk[0, 0] * shrunk[1, 1] - shrunk[0, 1] * shrunk[1, 0]
    across, acts = shrunk.adjugate() / determinant, primed * shrunk
    found = []
    for (i, j), form in zip(
        ((0, 0), (0, 1), (1, 1)), put_in(W[0, 0], W[0, 1], (G[0, 0], G[0, 1], G[1, 1])), strict=True
    ):
        row = tuple(
            in_model(
                f"a sample put in, entry {i + 1}{k + 1}",
                Equation(acts[i, k], W[i, k]),
                "Woodbury: (L + x W x^T/n0)^-1 = L^-1 - L^-1 x W' x^T L^-1/n0 with W' (1 + G W/alpha0) = W, where "
                "G/alpha0 is x^T L^-1 x/n0",
                *universal,
            )
            for k in (0, 1)
        )
        found.append(ring(row, Equation(primed[i, j], form), (across[0, j], across[1, j])))
    return tuple(found)


@functools.cache
def answers() -> tuple[Theorem, ...]:
    """W' entry by entry: above, beside and below the diagonal's first."""
    (own, beside), (a, b, c) = sample, blocks
    W, G = sp.Matrix([[own, beside], [beside, 0]]), sp.Matrix([[a, b], [b, c]])
    return acting(W, G, sp.Matrix([[answer, _others[0]], _others[1:]]))


_root = sp.sqrt(s.gain * (1 - s.row_overlap))


def trace_of(first: sp.Expr, second: sp.Expr, third: sp.Expr) -> sp.Expr:
    """[(Z + E W')^-1]_11 with Z = [[1, sqrt k], [sqrt k, -1]], k = g (1 - o)."""
    return (third - 1) / ((1 + first) * (third - 1) - (_root + second) ** 2)


def target_matrix() -> sp.Matrix:
    """Z + E[W' s s^T], s = (u, t), on (theta, 1), (theta, 2), (e, 1)."""
    return sp.Matrix(
        [
            [1 + with_uu[0], _root + with_uu[1], with_ut[0]],
            [_root + with_uu[1], with_uu[2] - 1, with_ut[1]],
            [with_ut[0], with_ut[1], 1 + with_tt],
        ]
    )


def first_of_inverse(matrix: sp.Matrix) -> sp.Expr:
    """The first entry of a symmetric three by three matrix's inverse, by cofactors."""
    m = matrix
    minor = m[1, 1] * m[2, 2] - m[1, 2] ** 2
    whole = (
        m[0, 0] * minor
        - m[0, 1] * (m[0, 1] * m[2, 2] - m[1, 2] * m[0, 2])
        + m[0, 2] * (m[0, 1] * m[1, 2] - m[1, 1] * m[0, 2])
    )
    return minor / whole


@functools.cache
def covariance() -> Derivation:
    """d Var(b.theta): the turned row, and the noise of the batch."""
    share = 1 - s.row_overlap
    moved = averaged(turn * u**2)
    square = averaged(turn**2 * u**2)
    # theta.L P L theta: along theta, and d - 2 directions across theta and e, each with the noise of n0 samples.
    across = STEP**2 * (s.d - 2) / s.n0 * square
    turned = share * ((1 + STEP * moved) ** 2 + STEP**2 * square / s.alpha0)
    noise = STEP**2 / s.alpha0 * averaged(rest * u**2)
    result = share * (1 + STEP * moved) ** 2 + STEP**2 / s.alpha0 * averaged(residual**2 * scatter(t) * u**2)
    steps = (
        Step(
            "theta.L P L theta = |P L theta|^2: along theta 1 + eps E[R K u^2]; along e nothing; in every other "
            "direction the sum of n0 independent terms.",
            eq(sp.Symbol(r"|PL\theta|^2"), turned / share),
            RationalLimit("(d - 2)/n0 is 1/alpha0", at_ratio(across), s.d, STEP**2 * square / s.alpha0),
        ),
        Step(
            "With the noise that the curvature leaves; what it takes from one it gives to the other.",
            eq(row_target, result),
            Vanishing("both parts together", sp.expand(turned + noise - result)),
        ),
    )
    return Derivation(
        "the covariance of turned rows",
        SOURCE,
        *steps,
        results={row_target: result},
        hypotheses=(OTHER_ROWS, GIVEN_A_ROW),
    )


@functools.cache
def resolvent() -> Derivation:
    """(1/d) tr (1 + g B)^-1 and theta.(1 + g B)^-1 theta by leaving one sample out."""
    A, turned = sp.symbols("A l", real=True)
    linear = sp.Matrix([[1 + A, _root * turned], [_root * turned, -1]])
    schur = linear.inv()[0, 0] - 1 / (1 + A + s.gain * (1 - s.row_overlap) * turned**2)
    x, y, z = sp.symbols("x y z", real=True)
    Z = sp.Matrix([[1 + x, _root + y], [_root + y, z - 1]])
    m = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"m_{min(i, j)}{max(i, j)}", real=True))
    trace, form = trace_of(*alone), first_of_inverse(target_matrix())
    steps = (
        Step(
            "The Schur complement of the second block: (1 + g B)^-1 is the first block of the inverse of a matrix that "
            "is linear in the samples. Its second block has no component along e.",
            eq(sp.Symbol("(1+gB)^{-1}"), sp.Symbol("[L^{-1}]_{11}")),
            Vanishing("where L and A commute", sp.together(schur)),
        ),
        *each_proved(
            "A sample, put into the inverse that has not seen it, acts by W' = W (1 + G W/alpha0)^-1, G d/n0 the "
            "limit of x^T L_-^-1 x/n0.",
            answers(),
        ),
        Step(
            "So the trace of each block is that of (Z + E W')^-1, which is the equation for G;",
            eq(s.row_trace, trace),
            Vanishing("two by two", sp.together(Z.inv()[0, 0] - (z - 1) / ((1 + x) * (z - 1) - (_root + y) ** 2))),
        ),
        Step(
            "and on theta and e, which a sample knows, W' comes with s s^T, s = (u, t).",
            eq(target_form, form),
            Vanishing("three by three", sp.together(m.inv()[0, 0] - first_of_inverse(m))),
        ),
    )
    return Derivation(
        "the resolvent of turned rows",
        SOURCE,
        *steps,
        results={answer: value(answers()[0]), s.row_trace: trace, target_form: form},
        hypotheses=(SAMPLES, OTHER_ROWS, GIVEN_A_ROW),
    )

"""Which modes count in traces of a resolvent: a bulk of three neurons on two inputs, written out."""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.kernel.algebra import ring
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.steps import equal, rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.conventions import SLIDES


def resolvent_of_modes(eigenvalue: sp.Expr) -> sp.Expr:
    """1/(lambda + V1^ x + V2^)."""
    return 1 / (s.ridge + s.V1_hat * eigenvalue + s.V2_hat)


_NEURONS, _INPUTS = range(3), range(2)
_inverse = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"(S^{{-1}})_{{{i + 1}{j + 1}}}", real=True))
_half_angle = sp.Symbol("t", real=True)


def rows_of_bulk() -> sp.Matrix:
    """W = U diag(lambda_1, lambda_2) in the basis of its right singular vectors.

    U is written for rotations that mix the first neuron with the third; the trace is cyclic, so any U does.
    """
    cosine, sine = (1 - _half_angle**2) / (1 + _half_angle**2), 2 * _half_angle / (1 + _half_angle**2)
    first, second = s.singular
    return sp.Matrix([[cosine * first, 0], [0, second], [-sine * first, 0]])


@functools.cache
def inverse_entries() -> tuple[Theorem, ...]:
    """The entries of S^-1, S = lambda + V2^ + V1^ W W^T, from S S^-1 = 1."""
    rows = rows_of_bulk()
    matrix = (s.ridge + s.V2_hat) * sp.eye(3) + s.V1_hat * rows * rows.T
    adjugate, determinant = matrix.adjugate(), sp.factor(matrix.det(method="berkowitz"))
    found = []
    for j in _NEURONS:
        column = tuple(
            in_model(
                f"inverse, entry {i + 1}{j + 1}",
                Equation((matrix[i, :] * _inverse[:, j])[0, 0], sp.Integer(int(i == j))),
                "S S^-1 = 1",
            )
            for i in _NEURONS
        )
        for i in _NEURONS:
            weights = tuple(sp.factor(adjugate[i, k]) / determinant for k in _NEURONS)
            found.append(ring(column, Equation(_inverse[i, j], weights[j]), weights))
    return tuple(found)


@functools.cache
def small_bulk() -> Derivation:
    """Traces of the resolvent of W W^T, W of size 3 x 2, and its form in Wv."""
    rows, entries = rows_of_bulk(), inverse_entries()
    gram, along = rows * rows.T, rows * sp.Matrix(s.spike_share)
    squares = [x**2 for x in s.singular]
    modes = [resolvent_of_modes(x) for x in squares]
    null, third = resolvent_of_modes(sp.S.Zero), sp.Rational(1, 3)
    V2, V1, form = (
        equal(rewritten(define(name, meaning, what), *entries), found)
        for name, meaning, what, found in (
            (s.V2, sp.trace(_inverse) / 3, "(1/p) tr S^-1, p = 3", third * (sp.Add(*modes) + null)),
            (
                s.V1,
                sp.trace(gram * _inverse) / 3,
                "(1/p) tr[W W^T S^-1], p = 3",
                third * sp.Add(*(x * mode for x, mode in zip(squares, modes, strict=True))),
            ),
            (
                s.spike_resolvent,
                (along.T * _inverse * along)[0, 0],
                "(Wv).S^-1 Wv",
                sp.Add(*(x * f**2 * mode for x, f, mode in zip(squares, s.spike_share, modes, strict=True))),
            ),
        )
    )
    return Derivation(
        "resolvent of a small bulk",
        SLIDES,
        *each_proved("An entry of the inverse, from S S^-1 = 1.", entries),
        proved(
            "W W^T has the squares of the singular values as eigenvalues, and a null mode for each neuron beyond d.", V2
        ),
        proved("The trace with W W^T, where the null mode does not count.", V1),
        proved("Wv has the component lambda_i f_i.v along the i-th left singular vector.", form),
        results=(V2, V1, form),
    )

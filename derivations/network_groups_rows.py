r"""The law of the bulk rows of one letter after a gradient step, given the batch. Beyond the paper.

A neuron whose readout starts at u/sqrt(p) moves by u times what one that starts at 1/sqrt(p) moves: b = w + u delta.
Whatever is of order k in delta gains u^k, so that a letter is a learning rate: e becomes u e in the covariance, in the
covariance with the squared norm, and in the variance of the squared norm.
"""

from __future__ import annotations

import functools

import sympy as sp

from derivations import symbols as s
from derivations.derivation import Derivation, Step, Vanishing
from derivations.network_groups import SOURCE
from derivations.network_rows import covariance, norm_covariance, norm_variance

INITIAL_OUTPUT = "the initial output of the network is O(d^(-1/2)) and does not contribute to the step"


def of_letter(expression: sp.Expr) -> sp.Expr:
    """The rate e = eta/beta of a readout of ones becomes u e."""
    return expression.subs(s.eta, s.letter[0] * s.eta)


def orders(expression: sp.Expr) -> dict[int, sp.Expr]:
    """An expression polynomial in the step, order by order."""
    opened = sp.expand(expression)
    return {k: opened.coeff(s.eta, k) * s.eta**k for k in range(5) if opened.coeff(s.eta, k) != 0}


def gained(expression: sp.Expr) -> sp.Expr:
    """Every order k in delta times u^k."""
    return sum(s.letter[0] ** k * part for k, part in orders(expression).items())


@functools.cache
def rows() -> Derivation:
    """The covariance of a row and its squared norm, letter u."""
    w, delta, w_2, delta_2 = sp.symbols("w delta w' delta'", real=True)
    u = s.letter[0]
    row, other = w + u * delta, w_2 + u * delta_2
    pair, square = sp.expand(row * other), sp.expand(row**2)
    derived = {
        s.row_form_of: covariance().results[s.row_form],
        s.norm_overlap_of: norm_covariance().results[s.norm_overlap],
        s.norm_spike_overlap_of: norm_covariance().results[s.norm_spike_overlap],
        s.norm_variance_of[0]: norm_variance().results[s.norm_variance],
    }
    reasons = {
        s.row_form_of: "The covariance has a part of order zero, the row before the step, and one of order two.",
        s.norm_overlap_of: "The covariance with 1 + 2 u w.delta + u^2 |delta|^2: orders one and three.",
        s.norm_spike_overlap_of: "The same along v~.",
        s.norm_variance_of[0]: "The variance of 2 u w.delta + u^2 |delta|^2: orders two and four.",
    }
    steps = (
        *covariance().steps,
        *norm_covariance().steps,
        *norm_variance().steps,
        Step(
            "One component of a row and its square: a polynomial in u delta.",
            sp.Eq(sp.Symbol("b"), row, evaluate=False),
            (
                Vanishing(
                    "two components",
                    pair - w * w_2 - u * (w * delta_2 + delta * w_2) - u**2 * delta * delta_2,
                ),
                Vanishing("the square", square - w**2 - 2 * u * w * delta - u**2 * delta**2),
            ),
        ),
        *(
            Step(
                reasons[symbol],
                sp.Eq(symbol, of_letter(value), evaluate=False),
                (
                    Vanishing("order by order in delta", sp.expand(of_letter(value) - gained(value))),
                    Vanishing("no other order", sp.expand(value - sum(orders(value).values()))),
                ),
            )
            for symbol, value in derived.items()
        ),
    )
    results = {symbol: of_letter(value) for symbol, value in derived.items()}
    hypotheses = tuple(dict.fromkeys((*norm_variance().hypotheses, INITIAL_OUTPUT)))
    return Derivation("the rows of one letter", SOURCE, steps, results, hypotheses)

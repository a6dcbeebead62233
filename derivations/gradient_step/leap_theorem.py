r"""What one giant step learns of a multi-index target: leap index and leap space of given targets, and preprocessing.

A neuron's gradient points into the space V_l spanned by the first non-zero Hermite tensor C_l, as a matrix of one row
per direction: its dimension is the number of singular values that are not zero. Subtracting the parts of order below k
from the labels (preprocessing) makes l the first order from k on.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import exponent_of, exponent_of_sum
from giantsteps.derivations.gradient_step.hermite_tensors import (
    SOURCE,
    counted_steps,
    hermite,
    leap_index,
    spanned,
    tensor,
    weight,
    z1,
    z2,
    z3,
    z4,
)
from giantsteps.derivations.gradient_step.leap_scaling import OVERLAP
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.language.derivation import Derivation

TWO, THREE, FOUR = (z1, z2), (z1, z2, z3), (z1, z2, z3, z4)
# name: target, its directions, and the order below which its parts are subtracted first
TARGETS: dict[str, tuple[sp.Expr, tuple[sp.Symbol, ...], int]] = {
    "staircase": (z1 + z1 * z2 + z1 * z2 * z3, THREE, 1),
    "third-hermite": (hermite(3, z1), (z1,), 1),
    "product": (z1 * z2, TWO, 1),
    "diagonal-square": (sp.expand((z1 + z2) ** 2), TWO, 1),
    "saddle": (z1**2 - z2**2, TWO, 1),
    "product-of-three-and-square": (z1 * z2 * z3 + hermite(2, z1), THREE, 1),
    "parity-of-signs": (sp.sign(z1) * sp.sign(z2), TWO, 1),
    "wave": (sp.sin(z1) * z2, TWO, 1),
    "cubic-monomial": (z1**3, (z1,), 1),
    "cubic-monomial-preprocessed": (z1**3, (z1,), 2),
    "linear-and-square": (z1 + hermite(2, z2), TWO, 1),
    "linear-and-square-preprocessed": (z1 + hermite(2, z2), TWO, 2),
    "modulus-and-linear-preprocessed": (sp.Abs(z1) + z2, TWO, 2),
    "staircase-preprocessed": (z1 + z1 * z2 + z1 * z2 * z3, THREE, 2),
}


def without_lower_parts(target: sp.Expr, variables: tuple[sp.Symbol, ...], order: int) -> sp.Expr:
    """The target less its Hermite parts of orders 1 to ``order`` - 1: what a readout of those orders cannot fit."""
    result = target
    for low in range(1, order):
        for index, entry_ in tensor(target, variables, low).items():
            result -= entry_ * weight(variables, index) / sp.Mul(*(sp.factorial(index.count(j)) for j in set(index)))
    return sp.expand(result)


@functools.cache
def tensors(name: str) -> Derivation:
    """The leap index of one of ``TARGETS`` and the dimension of its leap space."""
    given, variables, first = TARGETS[name]
    target = without_lower_parts(given, variables, first)
    order = leap_index(target, variables)
    before = f"Parts of order one to {first - 1} are subtracted. " if first > 1 else ""
    determinant, rank = spanned(target, variables)
    return Derivation(
        f"leap index and leap space of {name}",
        SOURCE,
        *counted_steps(target, variables, before),
        proved("Its singular values, by their polynomial.", determinant),
        proved("Those that are not zero are counted as X grows: the rank.", rank),
        results={s.leap: sp.Integer(order), s.learned_dimension: value(rank)},
    )


@functools.cache
def preprocessing() -> Derivation:
    """z1 + He_2(z2) at n = d^2: the share of the second direction in a neuron's gradient, without and with it."""
    linear, quadratic, noise, error = sp.symbols(r"|\pi_1| |\pi_2| |\delta| \delta_{1}", positive=True)
    raw_rate, clean_rate, second_rate = sp.symbols("e_g e_g' e_2", real=True)
    sizes = (
        define(linear, s.overlap**0, "the linear part's mean gradient, no overlap beside its direction"),
        define(quadratic, s.overlap, "that of the second part, one overlap"),
        define(noise, sp.sqrt(s.d / s.n), "what n samples leave of d coordinates of order one"),
        define(error, 1 / sp.sqrt(s.n), "the error of one estimated coefficient"),
        define(s.n, s.d**2, "as many samples as the second part needs"),
        OVERLAP,
    )
    second = exponent_of(second_rate, quadratic, "the second direction's gradient", *sizes)
    raw = exponent_of_sum(raw_rate, (linear, noise), "the gradient of the labels as they are", *sizes)
    clean = exponent_of_sum(clean_rate, (quadratic, noise, error), "the gradient after preprocessing", *sizes)
    share = define(
        s.overlap_rate,
        (1 - s.preprocessed) * (second_rate - raw_rate) + s.preprocessed * (second_rate - clean_rate),
        "the exponent of the second direction's share, without preprocessing or with it",
    )
    rate = rewritten(share, second, raw, clean)
    rate = equal(rate, sp.expand(value(rate)))
    return Derivation(
        "preprocessing of labels",
        SOURCE,
        proved("As they are, the labels' linear part decides the length of the gradient.", raw),
        proved(
            "With the linear part subtracted the second part and the noise are of the largest order; each estimated "
            "coefficient is wrong by 1/sqrt(n), a root of d less.",
            clean,
        ),
        proved("The share of the second direction is the quotient, in both cases.", rate),
        hypotheses=("no two terms of a sum cancel",),
    )

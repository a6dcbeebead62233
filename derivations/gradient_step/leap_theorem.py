r"""What one giant step learns of a multi-index target: leap index and leap space of given targets, and preprocessing.

A neuron's gradient points into the space V_l spanned by the first non-zero Hermite tensor C_l, as a matrix of one row
per direction. Its dimension is proved with an orthonormal basis B: (1 - B B^T) C_l = 0 bounds it from above, B = C_l X
from below. Subtracting the parts of order below k from the labels (preprocessing) makes l the first order from k on.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.hermite_tensors import (
    SOURCE,
    counted_steps,
    entry,
    entry_by_stein,
    hermite,
    leap_index,
    leap_space,
    tensor,
    unfolded,
    z1,
    z2,
    z3,
    z4,
)
from onestep.derivations.gradient_step.leap_scaling import OVERLAP
from onestep.derivations.gradient_step.leaves import exponent_of, exponent_of_sum
from onestep.derivations.kernel.search import define, equal, proved, rewritten, value
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq

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


def without_lower_parts(target: sp.Expr, variables: Sequence[sp.Symbol], order: int) -> sp.Expr:
    """The target less its Hermite parts of orders 1 to ``order`` - 1: what a readout of those orders cannot fit."""
    result = target
    for low in range(1, order):
        for index, entry_ in tensor(target, variables, low).items():
            weight = sp.Mul(
                *(hermite(index.count(j), v) / sp.factorial(index.count(j)) for j, v in enumerate(variables))
            )
            result -= entry_ * weight
    return sp.expand(result)


@functools.cache
def tensors(name: str) -> Derivation:
    """The leap index of one of ``TARGETS`` and the dimension of its leap space."""
    given, variables, first = TARGETS[name]
    target = without_lower_parts(given, variables, first)
    order = leap_index(target, variables)
    basis, matrix = leap_space(target, variables), unfolded(target, variables, order)
    size = basis.shape[1]
    solution = matrix.pinv() * basis
    outside = (sp.eye(len(variables)) - basis * basis.T) * matrix
    before = f"Parts of order one to {first - 1} are subtracted. " if first > 1 else ""
    steps = counted_steps if target.is_polynomial(*variables) else _listed
    return Derivation(
        f"leap index and leap space of {name}",
        SOURCE,
        *steps(target, variables, before),
        Step(
            "An orthonormal basis B of the columns of the tensor: nothing of it is outside B, and B is made of it.",
            eq(s.learned_dimension, sp.Integer(size)),
            *(Vanishing(f"orthonormal, {i}", e) for i, e in enumerate(basis.T * basis - sp.eye(size))),
            *(Vanishing(f"outside, {i}", e) for i, e in enumerate(outside)),
            *(Vanishing(f"made of columns, {i}", e) for i, e in enumerate(matrix * solution - basis)),
        ),
        results={s.leap: sp.Integer(order), s.learned_dimension: sp.Integer(size)},
    )


def _listed(target: sp.Expr, variables: Sequence[sp.Symbol], before: str) -> tuple[Step, ...]:
    """The leap index of a target that is no polynomial, entry by entry."""
    order = leap_index(target, variables)
    smooth = not target.has(sp.sign, sp.Abs)
    low = [(i, v) for k in range(1, order) for i, v in tensor(target, variables, k).items()]
    vanish = [Vanishing(f"entry {i} by the moments", v) for i, v in low]
    if smooth:
        vanish += [Vanishing(f"entry {i} by Stein's lemma", entry_by_stein(target, variables, i)) for i, _ in low]
    where, found = next((i, v) for i, v in tensor(target, variables, order).items() if v != 0)
    again = entry_by_stein(target, variables, where) if smooth else entry(target, variables, where)
    step = Step(
        f"{before}Below order {order} every tensor vanishes, and at that order the entry {where} is {found}.",
        eq(s.leap, sp.Integer(order)),
        *vanish,
        Vanishing("the entry that does not vanish", again - found),
    )
    return (step,)


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
        results={s.overlap_rate: value(rate)},
        hypotheses=("no two terms of a sum cancel",),
    )

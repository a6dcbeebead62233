r"""Hermite tensors of targets of several directions: the leap index and the space that one giant step can reach.

C_l[i1..il] = E[g(z) He_{i1..il}(z)] for independent standard normal z, with He_{i1..il} the product of one-variable
polynomials He_{n_j}(z_j), n_j the number of times that j occurs. The leap index is the order l >= 1 of the first
tensor that does not vanish; its columns, as a matrix of r rows, span the leap space. All moments are exact.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.signs import mean_cosine, modulus, moment_of_sign
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, reflected
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn, with_slopes

SOURCE = "arXiv 2305.18270, Hermite tensors of a multi-index target"
DEEPEST = 8  # orders of tensors that are looked through for the first non-zero one

z1, z2, z3, z4 = sp.symbols("z_1:5", real=True)


def hermite(order: int, variable: sp.Expr) -> sp.Expr:
    """He_k, multiplied out."""
    return sp.expand(sp.hermite_prob(order, variable))


def weight(variables: tuple[sp.Symbol, ...], index: Sequence[int]) -> sp.Expr:
    """prod_j He_{n_j}(z_j), n_j the number of times that ``index``, which counts variables from zero, has j."""
    return sp.Mul(*(hermite(index.count(j), variable) for j, variable in enumerate(variables)))


_scale = sp.Symbol("X", positive=True)
_entry = sp.Symbol("C", real=True)
_determinant, _determinant_slope, _ = with_slopes("det_C")


def meant(target: sp.Expr, variables: tuple[sp.Symbol, ...], index: Sequence[int]) -> sp.Expr:
    """One entry C_l[i1..il] as an average."""
    return Expectation(target.replace(sp.sign, sgn) * weight(variables, index), *variables)


def moments_known(theorem: Theorem) -> Theorem:
    """``theorem`` with its averages expanded, and those of signs, moduli and sines evaluated."""
    calls = sorted(value(theorem).atoms(sgn, sp.Abs), key=sp.default_sort_key)
    moduli = [modulus(call.args[0]) for call in calls if isinstance(call, sp.Abs)]
    theorem = averages_expanded(rewritten(theorem, *moduli))
    theorem = rewritten(theorem, *(moment_of_sign(order) for order in range(DEEPEST + 1)))
    while waves := sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        theorem = rewrite((theorem, _of_wave(waves[0])))
    return theorem


def _of_wave(average: sp.Expr) -> Theorem:
    """An average of sin(z) or cos(z) times a power of z: by parity, Stein's lemma, or E[cos(z)] = exp(-1/2)."""
    (z,) = average.variables
    if average == Expectation(sp.cos(z), z):
        return mean_cosine(sp.Integer(1))
    if average.integrand.xreplace({z: -z}) == -average.integrand:
        turned = averages_expanded(reflected(average, z))
        return ring((turned,), Equation(average, sp.Integer(0)), (sp.Rational(1, 2),))
    return averages_expanded(stein((), average, z, average.integrand / z))


@functools.cache
def entry(target: sp.Expr, variables: tuple[sp.Symbol, ...], index: tuple[int, ...]) -> sp.Expr:
    """One entry C_l[i1..il] = E[g prod_j He_{n_j}(z_j)], moment by moment."""
    return value(moments_known(define(_entry, meant(target, variables, index), "an entry of a Hermite tensor")))


def tensor(target: sp.Expr, variables: tuple[sp.Symbol, ...], order: int) -> dict[tuple[int, ...], sp.Expr]:
    """C_l by its entries of non-decreasing index; the tensor is symmetric."""
    indices = itertools.combinations_with_replacement(range(len(variables)), order)
    return {index: entry(target, variables, index) for index in indices}


def leap_index(target: sp.Expr, variables: tuple[sp.Symbol, ...]) -> int:
    """The order of the first non-zero tensor, from one on. Raises ValueError if none up to DEEPEST is non-zero."""
    for order in range(1, DEEPEST + 1):
        if any(one != 0 for one in tensor(target, variables, order).values()):
            return order
    raise ValueError(f"all Hermite tensors of {target} vanish up to order {DEEPEST}")


def squared_tensor(target: sp.Expr, variables: tuple[sp.Symbol, ...], order: int) -> Theorem:
    """N_k, the sum of the squared entries of C_k: zero where the tensor vanishes."""
    indices = itertools.combinations_with_replacement(range(len(variables)), order)
    name = sp.Symbol(f"N_{order}", nonnegative=True)
    squares = sum((meant(target, variables, index) ** 2 for index in indices), sp.S.Zero)
    return moments_known(define(name, squares, "the squared entries of a Hermite tensor"))


def leap_counted(target: sp.Expr, variables: tuple[sp.Symbol, ...]) -> tuple[Theorem, ...]:
    """The leap index of a target, and the squared tensors up to that order.

    1/(1 + X N) tends to one where N is zero and to zero elsewhere: the sum over m of their products over the orders 1
    to m counts the orders, from zero on, behind which no tensor is different from zero yet.
    """
    order = leap_index(target, variables)
    squares = tuple(squared_tensor(target, variables, k) for k in range(1, order + 1))

    def counted(sizes: Sequence[sp.Expr]) -> sp.Expr:
        factors = [1 / (1 + _scale * size) for size in sizes]
        return sum((sp.Mul(*factors[:m]) for m in range(order + 1)), sp.S.Zero)

    names, found = ([sides(square.statement)[which] for square in squares] for which in (0, 1))
    tends = limit_rational((), counted(found), sp.Integer(order), _scale)
    meant = concluded(Equation(counted(names), counted(found)), *squares)
    return *squares, name_limit((rewrite((tends, meant), True),), s.leap, "the order of the first non-zero tensor")


def counted_steps(target: sp.Expr, variables: tuple[sp.Symbol, ...], before: str = "") -> tuple[Step, ...]:
    """The squared tensors one by one, and the leap index that they give; ``before`` is said of the target first."""
    *squares, leap = leap_counted(target, variables)
    return (
        *(
            proved(f"{before}The squared tensor of order {k}, moment by moment.", square)
            for k, square in enumerate(squares, 1)
        ),
        proved("The orders before the first tensor that is not zero are counted: that is the leap index.", leap),
    )


def spanned(target: sp.Expr, variables: tuple[sp.Symbol, ...]) -> tuple[Theorem, ...]:
    """det(1 + X C C^T) of the first tensor C that is not zero, as a matrix of one row per direction, and C's rank.

    The slope of ln det(1 + X C C^T) in X, times X, is the sum of X g/(1 + X g) over the squared singular values g of
    C: as X grows each that is not zero counts one.
    """
    order, size = leap_index(target, variables), len(variables)
    columns = list(itertools.product(range(size), repeat=order - 1))

    def product(i: int, j: int) -> Theorem:
        rows = [[meant(target, variables, (k, *rest)) for rest in columns] for k in (i, j)]
        total = sum((one * other for one, other in zip(*rows, strict=True)), sp.S.Zero)
        return moments_known(define(sp.Symbol(f"G_{i + 1}{j + 1}", real=True), total, "an entry of C C^T"))

    pairs = itertools.combinations_with_replacement(range(size), 2)
    products = {pair: product(*pair) for pair in pairs}
    gram = sp.Matrix(size, size, lambda i, j: sides(products[min(i, j), max(i, j)].statement)[0])
    opened = sp.expand((sp.eye(size) + _scale * gram).det(method="berkowitz"))
    meaning = define(_determinant(_scale), opened, "det(1 + X C C^T)", _scale)
    found = rewritten(meaning, *products.values())
    curve = equal(found, sp.expand(value(found)))
    slope = differentiate((curve,), _scale)
    share = _scale * value(slope) / value(curve)
    named = _scale * _determinant_slope(_scale) / _determinant(_scale)
    tends = limit_rational((), share, sp.limit(share, _scale, sp.oo), _scale)
    counted = rewrite((tends, concluded(Equation(named, share), slope, curve)), True)
    reference = "the rank of the first tensor that is not zero: each singular value that is not zero counts one"
    return curve, name_limit((counted,), s.learned_dimension, reference)


STAIRCASE = (z1 + z1 * z2 + z1 * z2 * z3, (z1, z2, z3))
PRODUCT = (z1 * z2 * z3 * z4, (z1, z2, z3, z4))


@functools.cache
def example(target: sp.Expr, variables: tuple[sp.Symbol, ...]) -> Derivation:
    """The leap index of one polynomial target, by its squared Hermite tensors."""
    return Derivation(
        f"leap index of {target}",
        SOURCE,
        *counted_steps(target, variables),
        results={s.leap: sp.Integer(leap_index(target, variables))},
    )


_target, _part = sp.Function("g_2", real=True), sp.Function("P_2", real=True)
_shares = sp.symbols("b_11 b_12 b_22", real=True)


@functools.cache
def second_order() -> Derivation:
    """The part of order two of a target: its projection on z1^2 - 1, z1 z2, z2^2 - 1, from the normal equations."""
    basis, x = (hermite(2, z1), z1 * z2, hermite(2, z2)), s.argument
    polynomial = sum((b * f for b, f in zip(_shares, basis, strict=True)), sp.S.Zero)
    part = define(_part(z1, z2), polynomial, "a polynomial of order two", z1, z2)
    tensors = tuple(
        averages_expanded(define(name, Expectation(_target(z1, z2) * f, z1, z2), "the Hermite tensor of order two"))
        for name, f in zip(s.tensor_2, basis, strict=True)
    )
    normal = tuple(averages_expanded(rewritten(_uncorrelated(f, str(i)), part)) for i, f in enumerate(basis, 1))
    shares = tuple(
        ring((condition, tensor), Equation(share, name / norm), (sp.Rational(1, norm), -sp.Rational(1, norm)))
        for share, name, norm, condition, tensor in zip(_shares, s.tensor_2, (2, 1, 2), normal, tensors, strict=True)
    )
    there = instantiate((part,), dict(zip((z1, z2), x, strict=True)))
    meaning = define(s.second_order_part, _part(*x), "the part of order two of the target")
    found = rewritten(rewrite((meaning, there)), *shares)
    return Derivation(
        "the term of order two of a Hermite expansion",
        SOURCE,
        *(proved(f"Normal equation {i}.", condition) for i, condition in enumerate(normal, 1)),
        *each_proved("The tensor holds the overlaps of the target with the polynomials of order two.", shares),
        proved("Their Gram matrix is diagonal with entries 2, 1, 2.", found),
    )


def _uncorrelated(polynomial: sp.Expr, which: str) -> Theorem:
    """0 = E[(g - P) f]: what a projection leaves is uncorrelated with the polynomials it is made of."""
    rest = Expectation((_target(z1, z2) - _part(z1, z2)) * polynomial, z1, z2)
    reference = "what a projection leaves is uncorrelated with what it is made of"
    return in_model(f"normal equation {which}", Equation(sp.Integer(0), rest), reference)

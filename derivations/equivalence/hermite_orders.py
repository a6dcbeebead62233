r"""Hermite polynomials of symbolic order: orthogonality, slopes, Mehler's formula and Parseval's identity.

Everything follows from the generating function G(z, t) = exp(t z - t^2/2) = sum_k He_k(z) t^k/k!, whose identities hold
coefficient by coefficient in t:

- dG/dz = t G says He_k' = k He_{k-1};  dG/dt = (z - t) G says He_{k+1} = z He_k - k He_{k-1};
- so He_{k+1} = z He_k - He_k', and Stein's lemma E[z f] = E[f'] lowers both orders of a product by one.

For z, z' standard normal of correlation epsilon and A_{jk} = E[He_j(z) He_k(z')] that is A_{j,k+1} = epsilon j
A_{j-1,k} (epsilon = 1 is orthogonality), with A_00 = 1 and A_j0 = 0: a recursion in integers of any size, solved by
induction. The orthonormal coefficients of sigma are s_k = E[h_k sigma], h_k = He_k/sqrt(k!).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.kernel.algebra import rewrite, ring
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import isolated
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime, with_slopes

SOURCE = "Section 3.1, equation (12), and Appendix B: Hermite expansions"

z, first, second = sp.symbols("z t_1 t_2", real=True)
_across, _epsilon = sp.Symbol(r"z_\perp", real=True), s.overlap
other = _epsilon * z + sp.sqrt(1 - _epsilon**2) * _across  # z'

index = sp.Symbol("k", integer=True, nonnegative=True)  # the index of a sum
order = sp.Symbol("k_0", integer=True, nonnegative=True)  # the order at which an induction stands
distance = sp.Symbol("m_0", integer=True, positive=True)
coefficient = sp.Function("s", real=True)  # s_k of the activation, for any k


def generating(argument: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """exp(t z - t^2/2) = sum_k He_k(z) t^k/k!."""
    return sp.exp(variable * argument - variable**2 / 2)


@functools.cache
def rules() -> Derivation:
    """The three rules that proofs by induction use, on the generating function."""
    G = generating(z, first)
    density = sp.exp(-(z**2) / 2)
    pair = sp.exp(-(z**2) / 2 - _across**2 / 2)
    f = sp.Function("f")(z)
    two = generating(z, first) * generating(other, second)
    squared = -((z - first - second) ** 2) / 2 + first * second
    return Derivation(
        "Hermite polynomials of any order",
        SOURCE,
        Step(
            "dG/dz = t G: comparing coefficients of t^k/k!, He_k' = k He_{k-1}.",
            eq(sp.Symbol("He_k'"), sp.Symbol("k He_{k-1}")),
            Vanishing("slope of the generating function", sp.diff(G, z) - first * G),
        ),
        Step(
            "dG/dt = (z - t) G = z G - dG/dz: comparing coefficients, He_{k+1} = z He_k - He_k'.",
            eq(sp.Symbol("He_{k+1}"), sp.Symbol("z He_k - He_k'")),
            Vanishing("recurrence", sp.diff(G, first) - (z - first) * G),
            Vanishing("as an operator", sp.diff(G, first) - z * G + sp.diff(G, z)),
        ),
        Step(
            "Stein's lemma: the density times f has the derivative density times (f' - z f), whose integral is "
            "zero for polynomials f.",
            eq(sp.Symbol("E[z f]"), sp.Symbol("E[f']")),
            Vanishing("total derivative", sp.diff(density * f, z) - density * (sp.diff(f, z) - z * f)),
        ),
        Step(
            "For a correlated pair, E[z f(z) g(z')] = E[f' g + epsilon f g']: once more a total derivative, here "
            "with generating functions for f and g.",
            eq(sp.Symbol("E[z f g]"), sp.Symbol("E[f'g] + epsilon E[fg']")),
            Vanishing(
                "total derivative for a pair", sp.diff(pair * two, z) - pair * two * (-z + first + _epsilon * second)
            ),
        ),
        Step(
            "Completing the square once more, at epsilon = 1: E[G(z, s) G(z, t)] = exp(s t), which holds no "
            "product of different powers.",
            eq(sp.Symbol("E[GG]"), sp.exp(first * second)),
            Vanishing("exponents", -(z**2) / 2 + first * z - first**2 / 2 + second * z - second**2 / 2 - squared),
        ),
        results={},
    )


_polynomial, _polynomial_slope, _ = with_slopes("He_J")
_next = sp.Function("He_{J+1}", real=True)
_size = sp.Symbol("J!", positive=True)


@functools.cache
def slope() -> Derivation:
    """E[h_J sigma'] = (J + 1)^(1/2) s_{J+1} with h_J = He_J/(J!)^(1/2), for He_J of any order."""
    recurrence = define(
        _next(z), z * _polynomial(z) - _polynomial_slope(z), "the next Hermite polynomial: z He_J - He_J'", z
    )
    parts = stein((), Expectation(z * _polynomial(z) * sigma(z), z), z, _polynomial(z) * sigma(z))
    of_slope = isolated(Expectation(_polynomial(z) * sigma_prime(z), z), averages_expanded(parts))
    following = averages_expanded(
        rewrite(
            (
                define(
                    s.next_coefficient,
                    Expectation(_next(z) * sigma(z), z) / sp.sqrt((s.level + 1) * _size),
                    "the coefficient of order J + 1, (J + 1)! = (J + 1) J!",
                ),
                recurrence,
            )
        )
    )
    meaning = define(
        s.slope_moment, Expectation(_polynomial(z) * sigma_prime(z), z) / sp.sqrt(_size), "the coefficient of sigma'"
    )
    goal = Equation(s.slope_moment, sp.sqrt(s.level + 1) * s.next_coefficient)
    result = ring((rewrite((meaning, of_slope)), following), goal, (sp.Integer(1), -sp.sqrt(s.level + 1)))
    return Derivation(
        "the coefficients of sigma'",
        SOURCE,
        proved("The recurrence of Hermite polynomials, whatever the order.", recurrence),
        proved("By Stein's lemma E[He_J sigma'] = E[(z He_J - He_J') sigma],", of_slope),
        proved("which has the next polynomial beside sigma.", following),
        proved("So its coefficient is there, with (J + 1)! = (J + 1) J!.", result),
        hypotheses=("the activation is absolutely continuous and grows at most exponentially",),
    )


def factorials(expression: sp.Expr) -> sp.Expr:
    """k! as Gamma(k + 1), whose recurrence the checker knows."""
    return sp.sympify(expression).rewrite(sp.gamma)


def apart(formula: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """A formula for A_jk at j = low, k = high."""
    return factorials(formula.subs({s.level: low, s.other_level: high}, simultaneous=True))


def pair_induction(formula: sp.Expr, correlation: sp.Expr) -> tuple[Vanishing, ...]:
    """A formula for A_jk = E[He_j(z) He_k(z')] in J, J' by induction: A_{j,k+1} = epsilon j A_{j-1,k}, A symmetric."""
    k, m = order, distance
    return (
        Vanishing("A_00 = 1", apart(formula, sp.S.Zero, sp.S.Zero) - 1),
        Vanishing("A_m0 = 0", apart(formula, m, sp.S.Zero)),
        Vanishing("equal orders", apart(formula, k + 1, k + 1) - correlation * (k + 1) * apart(formula, k, k)),
        Vanishing(
            "different orders", apart(formula, k + 1 + m, k + 1) - correlation * (k + 1 + m) * apart(formula, k + m, k)
        ),
        Vanishing("symmetry", apart(formula, k, k + m) - apart(formula, k + m, k)),
    )


def power_induction(formula: sp.Expr, correlation: sp.Expr) -> tuple[Vanishing, ...]:
    """A formula in J for A_JJ by induction on J alone."""
    at = [factorials(formula.subs(s.level, j)) for j in (sp.S.Zero, order, order + 1)]
    return (
        Vanishing("order zero", at[0] - 1),
        Vanishing("from order k to k + 1", at[2] - correlation * (order + 1) * at[1]),
    )


def unrolled(formula: sp.Expr) -> sp.Expr:
    """A formula at N + 1, with the last term of each sum up to N + 1 written out."""
    sums = {}
    for total in formula.atoms(sp.Sum):
        _, _, high = total.limits[0]
        if high == s.series_degree:
            sums[total] = sp.Dummy("sum", real=True)
    rest = formula.xreplace(sums).subs(s.series_degree, s.series_degree + 1)
    grown = {
        dummy: total + total.function.subs(total.limits[0][0], s.series_degree + 1) for total, dummy in sums.items()
    }
    return rest.xreplace(grown)


def degree_induction(formula: sp.Expr, lowest: int, base: sp.Expr, gained: sp.Expr) -> tuple[Vanishing, ...]:
    """A formula in N by induction: its value at ``lowest``, and that it grows by ``gained`` from N to N + 1."""
    at_lowest = formula.subs(s.series_degree, lowest).doit()
    # Both sides hold the same sum up to N; a symbol in its place keeps it out of the way.
    grown = unrolled(formula) - formula
    names = {total: sp.Symbol(f"S_{i}", real=True) for i, total in enumerate(sorted(grown.atoms(sp.Sum), key=str))}
    return (
        Vanishing(f"at N = {lowest}", at_lowest - base),
        Vanishing("from N to N + 1", sp.expand(grown.xreplace(names)) - gained),
    )

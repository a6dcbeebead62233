"""Rules of Gaussian averages. Every one names the lemma that it uses; each lemma has a numerical test of its own.

An average stands for an integral that converges absolutely: linearity is said of averages that exist, and what a
derivation assumes of the growth of its functions is among its hypotheses.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from giantsteps.derivations.kernel.algebra import for_all
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Refused, Tends
from giantsteps.derivations.kernel.terms import admit, defined_where, derivative, free, nonnegative, nonzero, substitute
from giantsteps.derivations.kernel.theorem import Conclusion, Theorem, rule
from giantsteps.derivations.language.expectation import Expectation

_z, _t, _a, _b = sp.symbols("z t a b", real=True)
_f, _h, _f_prime = (sp.Function(name) for name in ("f", "h", "f'"))  # no terms: no schema is assumed as it stands


LINEAR = Assumption.lemma(
    "linearity",
    Equation(Expectation(_a * _f(_z) + _b * _h(_z), _z), _a * Expectation(_f(_z), _z) + _b * Expectation(_h(_z), _z)),
    "a Gaussian average is linear in integrands whose averages exist",
)
SAME = Assumption.lemma(
    "equal integrands",
    Equation(Expectation(_f(_z), _z), Expectation(_h(_z), _z)),
    "f = h everywhere implies E[f] = E[h]",
)
MONOTONE = Assumption.lemma(
    "monotony",
    AtLeast(Expectation(_f(_z), _z), Expectation(_h(_z), _z)),
    "f >= h everywhere implies E[f] >= E[h]",
)
INDEPENDENT = Assumption.lemma(
    "independence",
    Equation(Expectation(_f(_z) * _h(_t), _z, _t), Expectation(_f(_z), _z) * Expectation(_h(_t), _t)),
    "Fubini: functions of different variables average on their own",
)
ITERATED = Assumption.lemma(
    "iterated averages",
    Equation(Expectation(_f(_z) * _h(_t), _z, _t), Expectation(Expectation(_f(_z) * _h(_t), _z), _t)),
    "Fubini: an average over independent variables is taken one after the other",
)
MOMENTS = Assumption.lemma(
    "moments",
    Equation(Expectation(_z**4, _z), sp.Integer(3)),
    "E[z^k] = (k - 1)!! for even k and 0 for odd k",
)
STEIN = Assumption.lemma(
    "Stein",
    Equation(Expectation(_z * _f(_z), _z), Expectation(_f_prime(_z), _z)),
    "Stein's lemma: integration by parts, for f absolutely continuous of at most exponential growth",
)
ROTATION = Assumption.lemma(
    "rotation",
    Equation(Expectation(_f(_z), _z), Expectation(_f((3 * _z + 4 * _t) / 5), _z, _t)),
    "the standard normal law is invariant under orthogonal maps, and so is each of its marginals",
)

TRANSLATION = Assumption.lemma(
    "translation",
    Equation(Expectation(_f(_z), _z), Expectation(_f(_z + _a) * sp.exp(-_a * _z - _a**2 / 2), _z)),
    "a shift of the variable under the normal density (Cameron and Martin)",
)
DILATION = Assumption.lemma(
    "dilation",
    Equation(
        Expectation(_f(_z), _z),
        sp.exp(_a) * Expectation(_f(sp.exp(_a) * _z) * sp.exp((1 - sp.exp(2 * _a)) * _z**2 / 2), _z),
    ),
    "a change of scale of the variable under the normal density",
)


def _by(lemma: Assumption, statement: Equation | AtLeast, conditions: frozenset[Condition] = frozenset()) -> Conclusion:
    """A conclusion that names the lemma it is an instance of."""
    if statement.left == statement.right:
        raise Refused(f"{statement.left} = {statement.right} says nothing")
    return Conclusion(statement, frozenset({lemma}), conditions)


@rule
def average(premises: tuple[Theorem, ...], variables: tuple[sp.Symbol, ...]) -> Conclusion:
    """E[left] = E[right], or >=, of what holds for all values of the variables.

    Sound: no assumption or condition speaks of the variables.
    """
    (theorem,) = premises
    statement = theorem.statement
    if isinstance(statement, Tends):
        raise Refused("a limit does not pass under an average")
    conditions = for_all(theorem, set(variables))
    left, right = Expectation(statement.left, *variables), Expectation(statement.right, *variables)
    lemma = SAME if isinstance(statement, Equation) else MONOTONE
    return replace(_by(lemma, type(statement)(left, right), conditions), instead=True)


@rule
def linear(premises: tuple[Theorem, ...], whole: sp.Expr, parts: tuple[tuple[sp.Expr, sp.Expr], ...]) -> Conclusion:
    """E[f] = sum c E[m] over ``parts`` (c, m), if f = sum c m and no c speaks of the variables averaged over."""
    variables = _averaged(whole)
    for constant, _ in parts:
        if free(constant) & set(variables):
            raise Refused(f"{constant} is averaged over")
    conditions = _same(
        whole.integrand, sp.Add(*(c * m for c, m in parts)), variables, *(t for part in parts for t in part)
    )
    right = sp.Add(*(c * Expectation(m, *variables) for c, m in parts))
    return _by(LINEAR, Equation(whole, right), conditions)


@rule
def independent(premises: tuple[Theorem, ...], whole: sp.Expr, first: sp.Expr, second: sp.Expr) -> Conclusion:
    """E[f h] = E[f] E[h], if no variable averaged over stands in both f and h."""
    variables = _averaged(whole)
    if free(first) & free(second) & set(variables):
        raise Refused(f"{first} and {second} share a variable")
    conditions = _same(whole.integrand, first * second, variables, first, second)
    right = Expectation(first, *variables) * Expectation(second, *variables)
    return _by(INDEPENDENT, Equation(whole, right), conditions)


@rule
def iterated(premises: tuple[Theorem, ...], whole: sp.Expr, inner: tuple[sp.Symbol, ...]) -> Conclusion:
    """E[f] over all variables = E[E[f] over ``inner``] over the others.

    Sound: Fubini's theorem, for an integrable f of independent variables.
    """
    variables = _averaged(whole)
    if not inner or not set(inner) < set(variables) or len(set(inner)) != len(inner):
        raise Refused(f"{inner} are not some of the variables {variables}")
    outer = tuple(variable for variable in variables if variable not in inner)
    return _by(ITERATED, Equation(whole, Expectation(Expectation(whole.integrand, *inner), *outer)))


@rule
def moment(premises: tuple[Theorem, ...], variable: sp.Symbol, power: int) -> Conclusion:
    """E[z^k] = (k - 1)!! for even k, and 0 for odd k, by Stein's lemma k/2 times."""
    if not isinstance(power, int) or power < 1:
        raise Refused(f"{power} is no power")
    value = sp.Integer(0) if power % 2 else sp.factorial2(power - 1)
    return _by(MOMENTS, Equation(Expectation(variable**power, variable), value))


@rule
def stein(premises: tuple[Theorem, ...], whole: sp.Expr, variable: sp.Symbol, rest: sp.Expr) -> Conclusion:
    """E[z f] = E[df/dz] for the variable z and ``rest`` f."""
    variables = _averaged(whole)
    if variable not in variables:
        raise Refused(f"{variable} is not averaged over")
    conditions = _same(whole.integrand, variable * rest, variables, rest)
    return _by(STEIN, Equation(whole, Expectation(derivative(rest, variable), *variables)), conditions)


@rule
def rotate(
    premises: tuple[Theorem, ...],
    whole: sp.Expr,
    new: tuple[sp.Symbol, ...],
    matrix: tuple[tuple[sp.Expr, ...], ...],
) -> Conclusion:
    """E[f(z)] = E[f(Q z')] for a matrix Q of constants with orthonormal rows: one row for each variable averaged over.

    Sound: Q z' is standard normal. A change of names, a reflection and an exchange of variables are cases of it. The
    new variables may not be free in the average, and Q may not speak of old or new ones.
    """
    variables = _averaged(whole)
    if len(matrix) != len(variables) or any(len(row) != len(new) for row in matrix) or len(set(new)) != len(new):
        raise Refused(f"the matrix does not map {len(new)} variables to {len(variables)}")
    if free(whole) & set(new):
        raise Refused(f"{', '.join(map(str, free(whole) & set(new)))} is free in the average")
    conditions: set[Condition] = set()
    for i, row in enumerate(matrix):
        if any(free(entry) & {*variables, *new} for entry in row):
            raise Refused("the matrix speaks of variables averaged over")
        for j, other in enumerate(matrix[: i + 1]):
            product = sp.Add(*(a * b for a, b in zip(row, other, strict=True)))
            found = vanishing(product - int(i == j), (*row, *other))
            if found is None:
                raise Refused(f"rows {j} and {i} of the matrix are not orthonormal")
            conditions |= found
    images = {
        variable: sp.Add(*(entry * symbol for entry, symbol in zip(row, new, strict=True)))
        for variable, row in zip(variables, matrix, strict=True)
    }
    right = Expectation(substitute(whole.integrand, images), *new)
    return _by(ROTATION, Equation(whole, right), frozenset(conditions))


@rule
def translate(premises: tuple[Theorem, ...], whole: sp.Expr, variable: sp.Symbol, shift: sp.Expr) -> Conclusion:
    """E[f(z)] = E[f(z + a) exp(-a z - a^2/2)] for a shift a that does not speak of what is averaged over.

    Sound: the substitution z -> z + a in the integral against the density exp(-z^2/2), for any integrable f.
    """
    variables = _averaged(whole)
    if variable not in variables:
        raise Refused(f"{variable} is not averaged over")
    if free(shift) & set(variables):
        raise Refused(f"{shift} speaks of variables averaged over")
    weight = sp.exp(-shift * variable - shift**2 / 2)
    moved = substitute(whole.integrand, {variable: variable + shift}) * weight
    return _by(TRANSLATION, Equation(whole, Expectation(moved, *variables)), defined_where(admit(shift)))


@rule
def dilate(premises: tuple[Theorem, ...], whole: sp.Expr, variable: sp.Symbol, factor: sp.Expr) -> Conclusion:
    """E[f(z)] = s E[f(s z) exp((1 - s^2) z^2/2)] for a factor s > 0 that does not speak of what is averaged over.

    Sound: the substitution z -> s z in the integral against the density exp(-z^2/2), for any integrable f. What signs
    do not decide of s becomes a condition.
    """
    variables = _averaged(whole)
    if variable not in variables:
        raise Refused(f"{variable} is not averaged over")
    if free(factor) & set(variables) or nonnegative(-factor):
        raise Refused(f"{factor} speaks of variables averaged over, or is not positive")
    signs = set() if nonnegative(factor) else {Condition(factor, Demand.NONNEGATIVE)}
    signs |= set() if nonzero(factor) else {Condition(factor)}
    parts = sp.Mul.make_args(substitute(whole.integrand, {variable: factor * variable}))
    exponents = [part for part in parts if part.func is sp.exp]
    others = [part for part in parts if part.func is not sp.exp]
    exponent = sp.Add(*(call.exp for call in exponents), (1 - factor**2) * variable**2 / 2)
    right = factor * Expectation(sp.Mul(*others, sp.exp(exponent)), *variables)
    return _by(DILATION, Equation(whole, right), defined_where(admit(factor)) | signs)


def _averaged(whole: sp.Expr) -> tuple[sp.Symbol, ...]:
    if not isinstance(whole, Expectation):
        raise Refused(f"{whole} is no average")
    return tuple(whole.variables)


def _same(first: sp.Expr, second: sp.Expr, variables: tuple[sp.Symbol, ...], *parts: sp.Expr) -> frozenset[Condition]:
    """The conditions under which two integrands are equal for all values of the variables, and ``parts`` are defined:
    SymPy cancels equal factors of theirs.

    Where the first integrand is defined is no condition: an average of it stands for an integral that exists.
    """
    conditions = vanishing(first - second, (first, second))
    if conditions is not None:
        conditions = conditions.union(*(defined_where(admit(part)) for part in parts))
        # Where averages within exist is a condition of those that are concluded.
        conditions = frozenset(c for c in conditions if c.demand is not Demand.EXISTS)
        given = (vanishing(sp.Integer(0), (first,)) or frozenset()) | defined_where(first)
        conditions = frozenset(c for c in conditions if not free(c.term) & set(variables) or not _given(c, given))
    if conditions is None or any(free(condition.term) & set(variables) for condition in conditions):
        raise Refused(f"{first} and {second} are not the same integrand for all values of {variables}")
    return conditions


def _given(condition: Condition, given: frozenset[Condition]) -> bool:
    """Whether a condition is given, or a denominator vanishes nowhere but where those do that are given."""
    if condition in given:
        return True
    if condition.demand is not Demand.NONZERO or not given:
        return False
    return (vanishing(sp.Integer(0), (1 / condition.term,)) or frozenset()) <= given

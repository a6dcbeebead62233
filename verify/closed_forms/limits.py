r"""Limits c -> 0+ and growth bounds of closed forms, decided from the form of the expression alone.

With c = e^2 and every product multiplied out, a term is a constant times powers of e and x and of functions of e that
are positive at e = 0, times atoms:

- exp(u): u -> u_0 finite, or u ~ L e^{-n} with L < 0, when the term vanishes whatever its powers of e;
- erf(u): u -> u_0 finite, or u ~ L e^{-n}, when it tends to the sign of L;
- sin, cos of something finite;
- T(h, a) -> T(h_0, a_0), 0 when h ~ L e^{-n}, and +-(1 - erf(|h_0|/sqrt 2))/4 when a ~ L e^{-n};
- B(h, k, rho) -> B(h_0, k_0, rho_0), and the sign of L times erf(k_0/sqrt 2) when h ~ L e^{-n}.

erf, T and B are entire in their arguments but the last one of T and B, which is real here. Beside an infinite real part
an imaginary part that stays bounded changes no limit: |dB/dh| <= C |exp(-h^2/2)| exp(y^2) for an imaginary part y of
(k - rho h)/sqrt(2 (1 - rho^2)), which is bounded as long as rho^2 stays below 1.

Whatever is of no such form is left undecided, never passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.verify.closed_forms.class_algebra import e, products, without_erfc

x, c = symbols.x, symbols.c

_ATOMS = (sp.exp, sp.erf, OwensT, SignProduct, sp.sin, sp.cos)


class UndecidedError(ValueError):
    """The form of an expression is not one that the rules of this module cover."""


@dataclass(frozen=True)
class _Approach:
    """How a quantity behaves as e -> 0: to a finite value, or like sign * infinity."""

    value: sp.Expr
    infinite: int = 0


def limit(expression: sp.Expr) -> sp.Expr:
    """The limit of an expression as c -> 0+, all its other symbols fixed. Raises UndecidedError."""
    try:
        # as it stands if every factor has a limit, which is quick
        together = without_erfc(expression).xreplace({c: e**2})
        return sp.Add(*(_limit_of_term(_merged(term)) for term in sp.Add.make_args(together)))
    except UndecidedError:
        return sp.Add(*(_limit_of_term(term) for term in _terms(expression)))


def check_growth(expression: sp.Expr) -> None:
    """|expression| <= A exp(B x^2) for all x and all small c > 0, or UndecidedError."""
    for term in _terms(expression):
        _check_growth(term)


def check_positive(expression: sp.Expr, below: sp.Expr) -> None:
    """Radicands and denominators in c are positive, correlations below 1 for 0 < c < below, or UndecidedError."""
    t = sp.Symbol("t", positive=True)
    c_through = t if below == sp.oo else below * t / (1 + t)
    for power in expression.atoms(sp.Pow):
        if power.base.has(c) and not (power.exp.is_Integer and power.exp.is_nonnegative):
            base = power.base.xreplace({c: c_through})
            if sign_of(base) <= 0:
                raise UndecidedError(f"{power.base} is not positive for 0 < c < {below}")
    for atom in expression.atoms(SignProduct):
        if sign_of(sp.sympify(1 - atom.args[2] ** 2).xreplace({c: c_through})) <= 0:
            raise UndecidedError(f"the correlation {atom.args[2]} is not below 1 for 0 < c < {below}")


def _terms(expression: sp.Expr) -> tuple[sp.Expr, ...]:
    """The terms of the multiplied-out expression, with c = e^2 and exponentials combined."""
    return tuple(_merged(term) for term in products(without_erfc(expression).xreplace({c: e**2})))


def _merged(term: sp.Expr) -> sp.Expr:
    """The exponentials of a product as one."""
    exponentials, others = sp.sift(sp.Mul.make_args(term), lambda f: isinstance(f, sp.exp), binary=True)
    exponent = sp.Add(*(f.args[0] for f in exponentials))
    return sp.Mul(*others, sp.exp(exponent, evaluate=False)) if exponentials else term


def _limit_of_term(term: sp.Expr) -> sp.Expr:
    order, vanishing = sp.S.Zero, False
    result: sp.Expr = sp.S.One
    for factor in sp.Mul.make_args(term):
        base, exponent = _as_power(factor)
        if base == e:
            order += exponent
        elif isinstance(base, _ATOMS) and base.has(e):
            if not (exponent.is_Integer and exponent.is_positive):
                raise UndecidedError(f"a power of {base.func} that is not a positive integer")
            value = _limit_of_atom(base)
            vanishing = vanishing or value is None
            result *= sp.S.One if value is None else value**exponent
        elif base.is_Add and exponent.is_Integer and exponent.is_positive:
            result *= sp.Add(*(_value_at_zero(part) for part in base.args)) ** exponent
        else:
            result *= _continuous(factor)
    if vanishing or order > 0:
        return sp.S.Zero
    if order < 0:
        raise UndecidedError("a negative power of c that no exponential outweighs")
    return result


def _limit_of_atom(atom: sp.Expr) -> sp.Expr | None:
    """The limit of an atom; None for an exponential that vanishes faster than any power."""
    ways = [_approach(argument) for argument in atom.args]
    first = ways[0]
    if isinstance(atom, OwensT):
        if first.infinite:
            return sp.S.Zero
        if ways[1].infinite:  # T(h, +-oo) = +-(1 - erf(|h|/sqrt 2))/4
            return ways[1].infinite * (1 - sign_of(first.value) * sp.erf(first.value / sp.sqrt(2))) / 4
        return OwensT(first.value, ways[1].value)
    if isinstance(atom, SignProduct):
        return _limit_of_sign_product(atom, *ways)
    if isinstance(atom, sp.exp):
        if first.infinite > 0:
            raise UndecidedError("an exponential that grows without bound")
        return None if first.infinite else sp.exp(first.value)
    if isinstance(atom, sp.erf) and first.infinite:
        return sp.Integer(first.infinite)
    if first.infinite:
        raise UndecidedError("an oscillation that becomes infinitely fast")
    return atom.func(first.value)


def _limit_of_sign_product(atom: sp.Expr, h: _Approach, k: _Approach, rho: _Approach) -> sp.Expr:
    _check_correlation(rho)
    if not (h.infinite or k.infinite):
        return SignProduct(h.value, k.value, rho.value)
    for argument in atom.args:
        _check_bounded_imaginary_part(argument)
    signs = [sp.Integer(w.infinite) if w.infinite else sp.erf(w.value / sp.sqrt(2)) for w in (h, k)]
    return signs[0] * signs[1]


def _check_correlation(rho: _Approach) -> None:
    """The correlation tends to a number strictly between -1 and 1."""
    if rho.infinite or not (1 - rho.value**2).is_positive:
        raise UndecidedError("a correlation that is not evidently below 1 in the limit")


@lru_cache(maxsize=4096)
def _approach(argument: sp.Expr) -> _Approach:
    """The limit of an argument as e -> 0, from its terms in powers of e."""
    by_order: dict[sp.Expr, sp.Expr] = {}
    for term in products(argument):
        order, value = _order_and_value(term)
        by_order[order] = by_order.get(order, sp.S.Zero) + value
    lowest = min(by_order)
    if lowest >= 0:
        return _Approach(by_order.get(sp.S.Zero, sp.S.Zero))
    return _Approach(sp.S.Zero, sign_of(by_order[lowest]))


def _order_and_value(term: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(n, g) with term ~ g e^n."""
    order, value = sp.S.Zero, sp.S.One
    for factor in sp.Mul.make_args(term):
        base, exponent = _as_power(factor)
        if base == e:
            order += exponent
        else:
            value *= _continuous(factor)
    return order, value


def _continuous(factor: sp.Expr) -> sp.Expr:
    """The value at e = 0 of a factor that is continuous there. Raises UndecidedError for any other."""
    if not factor.has(e):
        return factor
    base, exponent = _as_power(factor)
    if exponent.has(e) or base.has(sp.Function):
        raise UndecidedError(f"{factor} is not covered by the limit rules")
    if isinstance(base, sp.Add):
        at_zero = sp.Add(*(_value_at_zero(term) for term in base.args))
    else:
        at_zero = _value_at_zero(base)
    if at_zero == 0 or not at_zero.is_number or not sp.re(at_zero).is_positive:
        raise UndecidedError(f"{base} is not a positive number at c = 0")
    return at_zero**exponent


def _value_at_zero(term: sp.Expr) -> sp.Expr:
    if not term.has(e):
        return term
    order, value = _order_and_value(term)
    if order < 0:
        raise UndecidedError(f"{term} is singular at c = 0")
    return value if order == 0 else sp.S.Zero


def _as_power(factor: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(base, exponent); an exponential is its own base."""
    return (factor, sp.S.One) if isinstance(factor, sp.exp) else factor.as_base_exp()


def sign_of(value: sp.Expr) -> int:
    """The sign that a rational function of s keeps for all s > 0. Raises UndecidedError if it is not evident."""
    over, under = sp.fraction(sp.together(value))
    return _sign_of_polynomial(over) * _sign_of_polynomial(under)


def _sign_of_polynomial(value: sp.Expr) -> int:
    value = sp.expand(value)
    if value.is_positive or value.is_negative:
        return 1 if value.is_positive else -1
    symbols_ = value.free_symbols
    if len(symbols_) == 1 and all(symbol.is_positive for symbol in symbols_):
        try:
            polynomial = sp.Poly(value, *symbols_)
        except sp.PolynomialError:  # a root of the symbol
            raise UndecidedError(f"the sign of {value} is not evident") from None
        coefficients = [_number_sign(k) for k in polynomial.all_coeffs()]
        if {1} <= set(coefficients) <= {0, 1} or {-1} <= set(coefficients) <= {0, -1}:
            return max(coefficients) or min(coefficients)
    raise UndecidedError(f"the sign of {value} is not evident")


def _number_sign(value: sp.Expr) -> int:
    if value.is_zero:
        return 0
    if value.is_positive or value.is_negative:
        return 1 if value.is_positive else -1
    raise UndecidedError(f"the sign of {value} is not evident")


def _check_growth(term: sp.Expr) -> None:
    """One term is bounded by A exp(B x^2) for small e, or UndecidedError."""
    order = sp.S.Zero
    for factor in sp.Mul.make_args(term):
        base, exponent = _as_power(factor)
        whole = exponent.is_Integer and exponent.is_positive
        if base == e:
            order += exponent
        elif not factor.has(x, e):
            continue
        elif isinstance(base, sp.exp):
            _check_exponent(base.args[0])
        elif base == x and whole:
            continue
        elif isinstance(base, sp.erf) and whole:
            _check_bounded_imaginary_part(base.args[0])
        elif isinstance(base, OwensT | SignProduct) and whole:
            _check_bounded_bivariate(base)
        elif isinstance(base, sp.sin | sp.cos) and whole:
            _check_real(base.args[0])
        elif factor.has(x):
            raise UndecidedError(f"the growth of {factor} in x is not covered")
        else:
            _continuous(factor)
    if order < 0:
        raise UndecidedError("a term with a negative power of c is not bounded by the rules")


@lru_cache(maxsize=1024)
def _check_exponent(exponent: sp.Expr) -> None:
    """exp(exponent) <= exp(B (1 + x^2)): quadratic in x, singular at c = 0 only through -K (x - t)^2/c."""
    singular: sp.Expr = sp.S.Zero
    for term in products(exponent):
        imaginary, rest = _split_imaginary(term)
        constant, power = rest.as_independent(x, as_Add=False)
        if power != 1 and not (power == x or power == x**2):
            raise UndecidedError("an exponent that is no quadratic polynomial in x")
        order, value = _order_and_value(constant)
        if imaginary or order >= 0:
            continue
        if order != -2 or sp.expand(constant * e**2).has(e):
            raise UndecidedError("an exponent with an uncovered singularity at c = 0")
        singular += value * power
    if singular == 0:
        return
    two, one, zero = (sp.Poly(singular, x).coeff_monomial(x**k) for k in (2, 1, 0))
    if not (two.is_negative and sp.expand(4 * two * zero - one**2).is_nonnegative):
        raise UndecidedError("an exponent that is not evidently bounded above as c -> 0")


@lru_cache(maxsize=1024)
def _check_bounded_imaginary_part(argument: sp.Expr) -> None:
    """|erf(u + iy)| <= 1 + (2/sqrt(pi)) |y| exp(y^2): bounded if y is, uniformly in x."""
    for term in products(argument):
        imaginary, rest = _split_imaginary(term)
        if imaginary and (rest.has(x) or _order_and_value(rest)[0] < 0):
            raise UndecidedError("an error function of an argument with an unbounded imaginary part")


def _check_bounded_bivariate(atom: sp.Expr) -> None:
    """|T(u + iy, a)| <= exp(y^2 (1 + a^2)/2)/4, and |B| <= 1 + C exp(C y^2) while rho^2 stays below 1."""
    *arguments, last = atom.args
    _check_real(last)
    if last.has(x):
        raise UndecidedError(f"a last argument of {atom.func} that depends on x")
    for argument in arguments:
        _check_bounded_imaginary_part(argument)
        if isinstance(atom, OwensT):
            _check_bounded_imaginary_part(argument * last)
    if isinstance(atom, SignProduct):
        _check_correlation(_approach(last))


def _check_real(argument: sp.Expr) -> None:
    if any(_split_imaginary(term)[0] for term in products(argument)):
        raise UndecidedError(f"{argument} is not evidently real")


def _split_imaginary(term: sp.Expr) -> tuple[bool, sp.Expr]:
    """Whether a term is imaginary, and the term without its factor i. All symbols are real."""
    if not term.has(sp.I):
        return False, term
    rest = sp.expand_mul(term / sp.I)
    if rest.has(sp.I):
        raise UndecidedError(f"{term} is neither real nor imaginary at sight")
    return True, rest

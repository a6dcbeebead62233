r"""A zero test for the functions that closed forms of Gaussian averages are made of.

The functions are sums of products of rational functions and square roots in the bulk variance c = e^2, polynomials
in x, and the atoms exp(u), erf(u), T(h, a), B(h, k, rho), sin, cos. The test brings an expression to a normal form in
which it is zero exactly if every coefficient is:

- a square root of a polynomial that is positive at e = 0 becomes a product of square roots of its irreducible factors
  (multiplied back and compared);
- sines and cosines become exponentials, the exponentials of a term are merged, equal atoms are recognised by the zero
  test on their arguments;
- the coefficient of each product of atoms is a fraction of polynomials in x, e and these roots
  (`checker.zero_as_fraction`), one in each of the real and the imaginary part.

Zero is never claimed wrongly; an expression outside the class, or atoms with relations among them, may stay open.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.verify.checks.checker import zero_as_fraction

c = symbols.c
e = sp.Symbol("e", positive=True)
# The imaginary unit, of which a coefficient is a polynomial: it vanishes with the real and the imaginary part.
_I = sp.Symbol("i", complex=True)


class OutsideClassError(ValueError):
    """An expression that this module does not cover."""


def vanishes_in_class(residual: sp.Expr) -> bool:
    """Whether the normal form of ``residual`` is zero; False decides nothing."""
    try:
        return _Reducer().vanishes(sp.sympify(residual).xreplace({c: e**2}))
    except (OutsideClassError, sp.PolynomialError):
        return False


@dataclass
class _Reducer:
    """One zero test: the atoms met so far."""

    atoms: list[tuple[sp.Expr, sp.Symbol]] = field(default_factory=list)
    exponents: list[tuple[sp.Expr, complex | None]] = field(default_factory=list)
    point: dict[sp.Symbol, sp.Expr] = field(default_factory=lambda: {_I: sp.I})

    def vanishes(self, expression: sp.Expr) -> bool:
        rational = self._without_radicals(_exponentials_only(without_erfc(expression)))
        rational = self._with_symbols_for_atoms(rational)
        coefficients: dict[tuple[int, sp.Expr], list[sp.Expr]] = {}
        for term in products(rational):
            exponent, product, coefficient = self._split(term)
            coefficients.setdefault((self._exponent_index(exponent), product), []).append(coefficient)
        return all(_is_zero(sp.Add(*terms)) for terms in coefficients.values())

    def _without_radicals(self, expression: sp.Expr) -> sp.Expr:
        found = {
            power: self._radical_power(power)
            for power in expression.atoms(sp.Pow)
            if power.exp.is_Rational and not power.exp.is_Integer and power.base.free_symbols and power.base != e
        }
        return expression.xreplace(found)

    def _radical_power(self, power: sp.Expr) -> sp.Expr:
        if power.exp.q != 2 or power.has(_I):
            raise OutsideClassError(f"the root {power} is no square root of something real")
        base = self._without_radicals(power.base)
        constant, factors = _factors(base)
        result = constant**power.exp
        for factor, multiplicity in factors:
            result *= factor ** (multiplicity * power.exp)
        return result

    def _with_symbols_for_atoms(self, expression: sp.Expr) -> sp.Expr:
        found = {a: self._atom_value(a) for a in expression.atoms(sp.erf, OwensT, SignProduct) if a.free_symbols}
        return expression.xreplace(found)

    def _atom_value(self, atom: sp.Expr) -> sp.Expr:
        """A symbol for the atom; the atom itself, a number, if its arguments are constants in disguise."""
        constants = [sp.cancel(argument) for argument in atom.args]
        return self._atom_symbol(atom) if any(k.free_symbols for k in constants) else atom.func(*constants)

    def _atom_symbol(self, atom: sp.Expr) -> sp.Expr:
        """The symbol of an equal atom met before, with the sign that oddness asks for, or a new one."""
        for known, symbol in self.atoms:
            sign = self._atom_sign(known, atom)
            if sign:
                return sign * symbol
        symbol = sp.Symbol(f"A{len(self.atoms)}", real=True)
        self.atoms.append((atom, symbol))
        return symbol

    def _atom_sign(self, known: sp.Expr, atom: sp.Expr) -> int:
        """1 if the atoms are equal, -1 if they are opposite, by the symmetries of erf, T and B; 0 if neither."""
        if known.func != atom.func:
            return 0
        if isinstance(atom, SignProduct):
            h, k, rho = atom.args
            return self._sign_product_sign(known, (h, k, rho)) or self._sign_product_sign(known, (k, h, rho))
        signs = [self._sign_between(u, v) for u, v in zip(known.args, atom.args, strict=True)]
        return signs[-1] if all(signs) else 0  # erf is odd, T even in the first argument and odd in the second

    def _sign_product_sign(self, known: sp.Expr, arguments: tuple[sp.Expr, sp.Expr, sp.Expr]) -> int:
        """B(s h, t k, s t rho) = s t B(h, k, rho) for signs s and t."""
        s, t, both = (self._sign_between(u, v) for u, v in zip(known.args, arguments, strict=True))
        return both if s * t == both else 0

    def _sign_between(self, u: sp.Expr, v: sp.Expr) -> int:
        """1 if u = v, -1 if u = -v, else 0."""
        at_u, at_v = self._value(u), self._value(v)
        if _near(at_u, at_v) and _is_zero(u - v):
            return 1
        return -1 if _near(at_u, None if at_v is None else -at_v) and _is_zero(u + v) else 0

    def _value(self, expression: sp.Expr) -> complex | None:
        """The value at one point, which only spares the symbolic comparison of what differs there; None if none."""
        for symbol in sorted(expression.free_symbols - self.point.keys(), key=str):
            self.point[symbol] = sp.Float(0.31 + 0.173 * len(self.point))
        try:
            return complex(expression.xreplace(self.point).evalf())
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return None

    def _split(self, term: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """(exponent, product of atom symbols, coefficient)."""
        symbols_ = {symbol for _, symbol in self.atoms}
        exponent, product, coefficient = sp.S.Zero, sp.S.One, sp.S.One
        for factor in sp.Mul.make_args(term):
            if isinstance(factor, sp.exp):
                exponent += factor.args[0]
            elif factor.free_symbols & symbols_:
                base, power = factor.as_base_exp()
                if base not in symbols_ or not power.is_Integer or power < 0:
                    raise OutsideClassError(f"the factor {factor}")
                product *= factor
            else:
                coefficient *= factor
        return exponent, product, coefficient

    def _exponent_index(self, exponent: sp.Expr) -> int:
        value = self._value(exponent)
        for i, (known, there) in enumerate(self.exponents):
            if known == exponent or (_near(value, there) and _is_zero(known - exponent)):
                return i
        self.exponents.append((exponent, value))
        return len(self.exponents) - 1


def _near(a: complex | None, b: complex | None) -> bool:
    """Whether two values, to about ten digits, may be those of equal expressions."""
    return a is None or b is None or not abs(a - b) > 1e-7 * (1.0 + abs(a) + abs(b))


def products(expression: sp.Expr) -> tuple[sp.Expr, ...]:
    """The terms of the multiplied-out expression; denominators and roots of sums are left alone."""
    kept = {
        power: sp.Dummy()
        for power in expression.atoms(sp.Pow)
        if power.base.is_Add and not (power.exp.is_Integer and power.exp.is_positive)
    }
    back = {dummy: power for power, dummy in kept.items()}
    multiplied = sp.expand_mul(sp.expand_multinomial(expression.xreplace(kept)))
    return tuple(term.xreplace(back) for term in sp.Add.make_args(multiplied))


def _is_zero(rational: sp.Expr) -> bool:
    """Whether a rational function of x, e, roots and i vanishes; False decides nothing."""
    by_part: list[list[sp.Expr]] = [[], []]
    for term in products(rational):
        power = int(term.as_powers_dict()[_I])
        by_part[power % 2].append((-1) ** (power // 2) * term / _I**power)
    return all(zero_as_fraction(sp.Add(*terms)) for terms in by_part)


def without_erfc(expression: sp.Expr) -> sp.Expr:
    """Complementary error functions as 1 - erf."""
    return expression.xreplace({f: 1 - sp.erf(f.args[0]) for f in expression.atoms(sp.erfc)})


def _exponentials_only(expression: sp.Expr) -> sp.Expr:
    """Sines and cosines as exponentials of imaginary arguments."""

    def circular(function: sp.Expr) -> sp.Expr:
        u = function.args[0]
        plus, minus = sp.exp(_I * u), sp.exp(-_I * u)
        return (plus + minus) / 2 if isinstance(function, sp.cos) else _I * (minus - plus) / 2

    return expression.xreplace({f: circular(f) for f in expression.atoms(sp.sin, sp.cos)} | {sp.I: _I})


def _factors(base: sp.Expr) -> tuple[sp.Expr, list[tuple[sp.Expr, int]]]:
    """A polynomial as a positive constant times factors that are positive at e = 0, or powers of e."""
    numerator, denominator = sp.fraction(sp.together(base))
    constant: sp.Expr = sp.S.One
    found: list[tuple[sp.Expr, int]] = []
    for part, sign in ((numerator, 1), (denominator, -1)):
        leading, factors = sp.factor_list(part)
        constant *= leading**sign
        for factor, multiplicity in factors:
            at_zero = factor.xreplace({e: sp.S.Zero})
            if at_zero.is_negative:
                factor, constant = sp.expand(-factor), constant * (-1) ** multiplicity
            elif factor != e and not at_zero.is_positive:
                raise OutsideClassError(f"the sign of {factor} at c = 0 is not evident")
            found.append((factor, sign * multiplicity))
    product = constant * sp.Mul(*(factor**multiplicity for factor, multiplicity in found))
    if not constant.is_positive or sp.expand(sp.numer(sp.together(product - base))) != 0:
        raise OutsideClassError(f"the radicand {base} could not be factored")
    return constant, found

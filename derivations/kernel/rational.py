"""The one normal form: a term as a fraction of polynomials in its atoms, over the rational numbers.

Atoms are symbols, applied functions, expectations, exponentials and roots. Two atoms are one if they are the same
function of arguments that are equal in their turn (congruence). A root s of order q obeys s^q = base, one of a whole
number is the product of those of its primes, and an exponential obeys exp(a + b) = exp(a) exp(b); nothing else is known
of an atom. So a term that vanishes here vanishes for all values of its atoms for which no denominator does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from math import lcm, prod
from typing import Any

import flint
import sympy as sp

from giantsteps.derivations.kernel.statements import Condition, Refused
from giantsteps.derivations.kernel.terms import admit, free, nonzero
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.points import nonzero_somewhere

# Powers are multiplied out.
_LARGEST_POWER = 256


@dataclass(frozen=True)
class _Root:
    """The real root of ``order`` of ``base``."""

    base: sp.Expr
    order: int


# Marks the denominator of a fraction.
_BELOW = sp.Dummy("below", real=True)

# A term that is neither number, sum, product nor rational power; or a root.
_Atom = Any
# A polynomial of the library FLINT in the atoms of some terms, with rational coefficients.
_Polynomial = Any


@dataclass
class _Fraction:
    """``over`` divided by the product of ``under``, factors by their numbers with their powers."""

    over: _Polynomial
    under: Counter[int] = field(default_factory=Counter)


class _Atoms:
    """The atoms of several terms, equal ones once, and the ring of polynomials in them."""

    def __init__(self, terms: Sequence[sp.Expr]) -> None:
        self.atoms: list[_Atom] = []
        self._known: dict[_Atom, int] = {}
        self._alike: dict[Any, list[int]] = {}
        self._cut = _shares(terms)
        # Terms have most of their parts in common: each is read once.
        self._collect, self.fraction = cache(self._read), cache(self._over)
        for term in terms:
            self._collect(admit(term))
        self.ring = flint.fmpq_mpoly_ctx.get([f"a{k}" for k in range(max(len(self.atoms), 1))], "lex")
        self.one, self.zero = self.ring.constant(1), self.ring.constant(0)
        self.factors: list[_Polynomial] = []  # those that stand in denominators, atoms or of leading coefficient one

    def _read(self, term: sp.Expr) -> None:
        if isinstance(term, sp.Rational):
            return
        if isinstance(term, sp.Add | sp.Mul) or _is_composite_root(term):
            for part in _parts(term):
                self._collect(part)
        elif isinstance(term, sp.Pow) and term.exp.is_Rational:
            self._collect(term.base)
            if not term.exp.is_Integer:
                self._enter(_Root(term.base, int(term.exp.q)))
        else:
            for atom, _ in self._powers(term):
                self._enter(atom)

    def _enter(self, atom: _Atom) -> None:
        if atom in self._known:
            return
        # A symbol is one with nothing else, a function with no other one.
        alike = self._alike.setdefault(_Root if isinstance(atom, _Root) else atom.func if atom.args else atom, [])
        twin = next((k for k in alike if _one(atom, self.atoms[k])), len(self.atoms))
        if twin == len(self.atoms):
            self.atoms.append(atom)
            alike.append(twin)
        self._known[atom] = twin

    def _over(self, term: sp.Expr) -> _Fraction:
        """A term over a common denominator."""
        if isinstance(term, sp.Rational):
            return _Fraction(self.ring.constant(flint.fmpq(int(term.p), int(term.q))))
        if isinstance(term, sp.Add):
            return self._sum([self.fraction(part) for part in term.args])
        if isinstance(term, sp.Mul) or _is_composite_root(term):
            return self._product([self.fraction(part) for part in _parts(term)])
        if isinstance(term, sp.Pow) and term.exp.is_Rational:
            base = term.base if term.exp.is_Integer else _Root(term.base, int(term.exp.q))
            return self._power(self.fraction(base) if term.exp.is_Integer else self._atom(base), int(term.exp.p))
        return self._product([self._power(self._atom(atom), power) for atom, power in self._powers(term)])

    def bases(self, term: sp.Expr) -> list[_Fraction]:
        """What the roots in a term are taken of, but for those within other atoms."""
        if isinstance(term, sp.Add | sp.Mul):
            return [base for part in term.args for base in self.bases(part)]
        if not isinstance(term, sp.Pow) or not term.exp.is_Rational:
            return []
        own = [] if term.exp.is_Integer or _is_composite_root(term) else [self.fraction(term.base)]
        return [*own, *self.bases(term.base)]

    def _powers(self, term: sp.Expr) -> list[tuple[sp.Expr, int]]:
        """An atom as a product of powers of atoms: exp(p a/q + b) = exp(a/n)^(n p/q) exp(b)."""
        if term.func is not sp.exp and term != sp.E:
            return [(term, 1)]
        cut = [(number, rest, self._cut.get(rest, 1)) for number, rest in _exponents(term)]
        return [(sp.exp(rest / parts), int(number * parts)) for number, rest, parts in cut]

    def _atom(self, atom: _Atom) -> _Fraction:
        return _Fraction(self.ring.gen(self._known[atom]))

    def _sum(self, parts: list[_Fraction]) -> _Fraction:
        under: Counter[int] = Counter()
        for part in parts:
            under |= part.under
        total = self.zero
        for part in parts:
            total += part.over * self.multiplied(under - part.under)
        return _Fraction(total, under)

    def _product(self, parts: list[_Fraction]) -> _Fraction:
        over, under = self.one, Counter[int]()
        for part in parts:
            over, under = over * part.over, under + part.under if part.under else under
        return _Fraction(over, under)

    def _power(self, base: _Fraction, power: int) -> _Fraction:
        if not -_LARGEST_POWER <= power <= _LARGEST_POWER:
            raise Refused(f"a power of {power} is too large to multiply out")
        if power >= 0:
            return _Fraction(base.over**power, Counter({f: k * power for f, k in base.under.items()}))
        if self.reduced(base.over) == 0:
            raise Refused("a denominator is zero")
        number, factors = self._factored(base.over)
        over = self.multiplied(base.under) ** -power / number**-power
        return _Fraction(over, Counter({factor: times * -power for factor, times in factors.items()}))

    def _factored(self, polynomial: _Polynomial) -> tuple[Any, Counter[int]]:
        """A polynomial as a number, powers of atoms and one rest of leading coefficient one."""
        terms = _terms(polynomial)
        content = [min(exponents) for exponents in zip(*terms, strict=True)]
        found = Counter({self._number(self.ring.gen(k)): power for k, power in enumerate(content) if power})
        rest = self.ring.from_dict(
            {tuple(m - c for m, c in zip(monomial, content, strict=True)): v for monomial, v in terms.items()}
        )
        number = rest.leading_coefficient()
        if not rest.is_constant():
            found[self._number(rest / number)] += 1
        return number, found

    def _number(self, factor: _Polynomial) -> int:
        if factor not in self.factors:
            self.factors.append(factor)
        return self.factors.index(factor)

    def multiplied(self, under: Counter[int]) -> _Polynomial:
        """The product of factors with their powers."""
        return prod((self.factors[factor] ** times for factor, times in under.items()), start=self.one)

    def reduced(self, polynomial: _Polynomial) -> _Polynomial:
        """``polynomial`` times a denominator of bases, with no root to its own order or more."""
        roots = [(k, atom) for k, atom in enumerate(self.atoms) if isinstance(atom, _Root)]
        for k, root in sorted(roots, key=lambda item: -_depth(item[1].base)):
            most = int(polynomial.degrees()[k]) // root.order
            if most <= 0:
                continue
            base = self.fraction(root.base)
            under = self.multiplied(base.under)
            lowered: list[dict[tuple[int, ...], Any]] = [{} for _ in range(most + 1)]
            for monomial, coefficient in _terms(polynomial).items():
                whole, left = divmod(monomial[k], root.order)
                lowered[whole][(*monomial[:k], left, *monomial[k + 1 :])] = coefficient
            polynomial = self.zero
            for whole, part in enumerate(lowered):
                polynomial += self.ring.from_dict(part) * base.over**whole * under ** (most - whole)
        return polynomial

    def written(self, polynomial: _Polynomial) -> sp.Expr:
        """A polynomial as a term again."""
        terms = [atom.base ** sp.Rational(1, atom.order) if isinstance(atom, _Root) else atom for atom in self.atoms]
        parts = _terms(polynomial).items()
        return sp.Add(*(_rational(c) * sp.Mul(*map(sp.Pow, terms, monomial)) for monomial, c in parts))

    def conditions(self, fractions: Sequence[_Fraction]) -> frozenset[Condition]:
        """Where the denominators do not vanish, as far as signs do not decide it."""
        found = set()
        for factor in {number for fraction in fractions for number in fraction.under}:
            if self.reduced(self.factors[factor]) == 0:
                raise Refused("a denominator is zero")
            if not nonzero(term := self.written(self.factors[factor])):
                found.add(Condition(term))
        return frozenset(found)


def _terms(polynomial: _Polynomial) -> dict[tuple[int, ...], Any]:
    """The coefficients of a polynomial by the powers of its atoms."""
    return {tuple(map(int, monomial)): coefficient for monomial, coefficient in polynomial.to_dict().items()}


def _rational(number: Any) -> sp.Rational:
    return sp.Rational(int(number.p), int(number.q))


def _is_composite_root(term: sp.Expr) -> bool:
    """Whether a term is a root of a positive whole number that is no power of a prime."""
    root = isinstance(term, sp.Pow) and term.exp.is_Rational and not term.exp.is_Integer
    return bool(root and term.base.is_Integer and term.base > 1 and len(sp.factorint(term.base)) > 1)


def _parts(term: sp.Expr) -> tuple[sp.Expr, ...]:
    """The parts of a sum or product; the roots of its primes for a root of a whole number."""
    if not isinstance(term, sp.Pow):
        return tuple(term.args)
    return tuple(sp.Integer(prime) ** (times * term.exp) for prime, times in sp.factorint(term.base).items())


def _exponents(term: sp.Expr) -> list[tuple[sp.Rational, sp.Expr]]:
    """The exponent of an exponential as a sum of numbers times the rest."""
    exponent = term.args[0] if term.args else sp.Integer(1)
    parts = (part.as_coeff_Mul() for part in sp.Add.make_args(sp.expand(exponent)))
    return [(number, rest) if number.is_Rational else (sp.Integer(1), number * rest) for number, rest in parts]


def _shares(terms: Sequence[sp.Expr]) -> dict[sp.Expr, int]:
    """Into how many equal parts each exponent has to be cut, for every exponential to be a whole power of one atom."""
    found: dict[sp.Expr, int] = {}
    for term in terms:
        for exponential in _exponentials(term):
            for number, rest in _exponents(exponential):
                found[rest] = lcm(found.get(rest, 1), int(number.q))
    return found


@lru_cache(maxsize=65536)
def _exponentials(term: sp.Expr) -> frozenset[sp.Expr]:
    inner: frozenset[sp.Expr] = frozenset().union(*map(_exponentials, term.args))
    return inner | {term} if isinstance(term, sp.exp) else inner


def _depth(term: sp.Expr) -> int:
    return 1 + max((_depth(part) for part in term.args), default=0)


def _one(first: _Atom, second: _Atom) -> bool:
    """Whether two atoms, both roots or of one function, have equal arguments."""
    if isinstance(first, _Root):
        return bool(first.order == second.order) and _equal(first.base, second.base)
    if len(first.args) != len(second.args) or (isinstance(first, Expectation) and first.args[1:] != second.args[1:]):
        return False
    return all(map(_equal, first.args, second.args))


@lru_cache(maxsize=32768)
def _equal(first: sp.Expr, second: sp.Expr) -> bool:
    """Whether two arguments are equal without any condition."""
    if first == second or free(first) != free(second):
        return bool(first == second)
    return vanishing(first - second, (first, second)) == frozenset()


@lru_cache(maxsize=32768)
def vanishing(
    difference: sp.Expr, sides: tuple[sp.Expr, ...], helpers: tuple[sp.Expr, ...] = ()
) -> frozenset[Condition] | None:
    """The conditions of ``sides`` if ``difference`` is identically zero as a fraction of its atoms, else None.

    The denominators of ``helpers``, which were found by somebody, may not make conditions of their own: a theorem could
    hold nowhere by them. Raises Refused if they do. ``difference`` is no witness for denominators, since SymPy
    cancels equal factors when it is written down.
    """
    if nonzero_somewhere(difference):  # most that is asked about is no zero, and one point tells so at once
        return None
    atoms = _Atoms((difference, *sides, *helpers))
    whole = atoms.fraction(difference)
    if atoms.reduced(whole.over) != 0:
        return None
    allowed = atoms.conditions([atoms.fraction(side) for side in sides])
    # Reducing a root multiplies by the denominators of what it is taken of.
    seen, inner = ([base for term in terms for base in atoms.bases(term)] for terms in (sides, helpers))
    extra = atoms.conditions([*map(atoms.fraction, helpers), *inner]) - allowed - atoms.conditions(seen)
    if extra:
        zero = ", ".join(str(c.term) for c in extra)
        raise Refused(f"a cofactor divides by {zero}, which may be zero; declare its sign, or put a name in by `named`")
    return allowed


@dataclass(frozen=True)
class Degrees:
    """Degrees of a fraction in one variable, and the leading coefficients of its denominator and its numerator."""

    over: Fraction
    under: Fraction
    leading: sp.Expr
    top: sp.Expr


@lru_cache(maxsize=8192)
def degrees(term: sp.Expr, variable: sp.Symbol) -> Degrees:
    """The degrees of a term that is rational in ``variable`` and roots of it; a term 0 has degree -1.

    Raises Refused if it is not.
    """
    atoms = _Atoms((term, variable, _BELOW))
    weights = [Fraction(0)] * atoms.ring.nvars()
    for k, atom in enumerate(atoms.atoms):
        inside, order = (atom.base, atom.order) if isinstance(atom, _Root) else (atom, 1)
        if inside == variable:
            weights[k] = Fraction(1, order)
        elif variable in inside.free_symbols:
            raise Refused("{} depends on {}, so that the term is not rational in it", inside, variable)
    whole, below = atoms.fraction(term), atoms.atoms.index(_BELOW)
    # As one polynomial: reducing a root multiplies by a denominator, which has to be the same above and below.
    both = _terms(atoms.reduced(whole.over + atoms.ring.gen(below) * atoms.multiplied(whole.under)))

    def degree(monomial: tuple[int, ...]) -> Fraction:
        return sum((w * k for w, k in zip(weights, monomial, strict=True)), Fraction(0))

    def head(place: int) -> tuple[Fraction, sp.Expr]:
        terms = {monomial: coefficient for monomial, coefficient in both.items() if monomial[below] == place}
        lead = max(map(degree, terms), default=Fraction(-1))
        kept = [0 if weight or k == below else 1 for k, weight in enumerate(weights)]
        leading = atoms.zero
        for monomial, coefficient in terms.items():
            if degree(monomial) == lead:
                term = {tuple(k * m for k, m in zip(kept, monomial, strict=True)): coefficient}
                leading += atoms.ring.from_dict(term)
        return lead, atoms.written(leading)

    (over, top), (under, leading) = head(0), head(1)
    return Degrees(over, under, leading, top)

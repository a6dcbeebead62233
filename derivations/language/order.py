"""The order in which a person writes a formula: the terms of a sum and the factors of a product.

A product: constants and parameters, order parameters with their conjugates first, sums of these, functions of kappa,
inner products, roots of sums, random variables, sums of functions, averages. A variable comes just before the first
function of it: ``z g(z)``, but ``psi mu1(kappa) z``.

A sum: terms with a plus first, and among them a number, then what has no random variable, mu0 before mu1 before mu2,
q1 before q2. A number comes last beside a size or an index, ``n_0 - 1`` and ``2 J + 1``, and where three or more powers
of one letter fall, ``x^4 - 6 x^2 + 3``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.language import notation
from giantsteps.derivations.language.expectation import Expectation

# Letters in the order of a product, Greek ones by their names; what is not listed comes after all of them.
_LETTERS = (
    "B R J N n p d k l j i alpha beta eta lambda a b C D h s",
    "r gamma rho c tau epsilon S delta theta m zeta psi Psi q V omega",
    "y Y f F g G e varrho varpi phi varphi mu M sigma nu kappa x v",
    "w z t u xi Xi Delta E",
)
_RANK = {letter: rank for rank, letter in enumerate(" ".join(_LETTERS).split())}
_RANDOM = frozenset({"kappa", "x", "v", "w", "e", "z", "t", "xi", "Xi"})
_SIZES = frozenset({"B", "R", "J", "N", "n", "n_0", "p", "d", "k", "l", "j", "i"})

# Classes of factors, in the order of a product.
_NUMBER, _PARAMETER, _SUM, _FUNCTION, _INNER, _ROOT, _VARIABLE, _BRACKET, _NAMED, _AVERAGE = range(10)
_STYLE = re.compile(
    r"\\(?:hat|tilde|check|bar|mathrm|mathsf|mathcal|mathbb|mathbf|left|right|langle|partial|frac|d?t?frac)\b"
)
_LETTER = re.compile(r"\\?([A-Za-z][a-z]+)|[A-Za-z]")

Key = tuple[int, float, tuple[int, ...], str]


@lru_cache(maxsize=32768)
def signed(term: sp.Expr, leads: bool = False) -> tuple[bool, sp.Rational, tuple[sp.Expr, ...]]:
    """Whether a term is written with a minus, its number without sign, and its factors in order.

    A factor whose terms all have a minus is turned, and where the term has a minus, an average of what has one. So is
    one other factor if the term ``leads`` and has a minus still.
    """
    number, parts = sp.Integer(1), list[sp.Expr]()
    for part in sp.Mul.make_args(term):
        if part.is_Rational:
            number *= part
        elif _is_sum(part) and all(signed(one)[0] for one in part.as_base_exp()[0].args):
            number, part = _turned(number, part)
            parts.append(part)
        else:
            parts.append(part)
    for k, part in enumerate(parts):
        if number < 0 and isinstance(part, Expectation) and signed(part.integrand)[0]:
            number, parts[k] = -number, Expectation(-part.integrand, *part.variables)
    if leads and number < 0:
        mixed = (k for k, part in enumerate(parts) if _is_sum(part) and part.as_base_exp()[1].is_odd)
        for k in (k for k in mixed if any(signed(one)[0] for one in parts[k].as_base_exp()[0].args)):
            number, parts[k] = _turned(number, parts[k])
            break
    return bool(number < 0), abs(number), tuple(_ordered(parts))


def _is_sum(part: sp.Expr) -> bool:
    base, exponent = part.as_base_exp()
    return bool(base.is_Add and exponent.is_Integer)


def _turned(number: sp.Rational, part: sp.Expr) -> tuple[sp.Rational, sp.Expr]:
    """A number and a power of a sum, the sum with the other sign."""
    base, exponent = part.as_base_exp()
    other = sp.Add(*(-one for one in base.args))
    return (-number if exponent.is_odd else number), (other if exponent == 1 else sp.Pow(other, exponent))


def _ordered(parts: list[sp.Expr]) -> list[sp.Expr]:
    ordered = sorted(parts, key=_key)
    for variable in [part for part in ordered if _of(part)[0] == _VARIABLE]:
        ordered.remove(variable)
        symbol = variable.as_base_exp()[0]
        before = (k for k, part in enumerate(ordered) if _is_function_of(part, symbol))
        places = [k for k, part in enumerate(ordered) if _key(part) > _key(variable)]
        ordered.insert(min([*before, *places[:1]], default=len(ordered)), variable)
    return ordered


def joined_roots(number: sp.Rational, factors: tuple[sp.Expr, ...]) -> tuple[sp.Rational, tuple[sp.Expr, ...]]:
    """The same product with one root for the square roots of numbers and letters that are not negative: sqrt(2/pi) for
    sqrt(2)/sqrt(pi), and x/sqrt(2 c) for sqrt(2) x/(2 sqrt(c)).
    """
    roots = [part for part in factors if part.is_Pow and abs(part.exp) == sp.S.Half and _is_plain(part.base)]
    over = sp.Mul(*(part.base for part in roots if not is_below(part)))
    under = sp.Mul(*(part.base for part in roots if is_below(part)))
    whole = over.as_coeff_Mul()[0]
    if whole != 1 and number.q % whole == 0:
        number, over, under = number * whole, over / whole, under * whole
    elif len(roots) < 2:
        return number, factors
    joined = (
        [sp.Pow(under, -sp.S.Half, evaluate=False)] if over == 1 else [sp.Pow(over / under, sp.S.Half, evaluate=False)]
    )
    return number, tuple(_ordered([part for part in factors if part not in roots] + joined))


def _is_plain(base: sp.Expr) -> bool:
    return bool(base.is_nonnegative) and (base.is_Symbol or base.is_Integer or base is sp.pi)


def is_below(factor: sp.Expr) -> bool:
    """Whether a factor is written below the line of a fraction."""
    exponent = factor.exp if factor.is_Pow else sp.S.One
    return bool(exponent.is_Rational and exponent.is_negative)


def is_average(factor: sp.Expr) -> bool:
    """Whether a factor is an average, or a sum with a sign of its own: written last, and behind a fraction."""
    return _of(factor)[0] == _AVERAGE


def terms(total: sp.Expr) -> list[sp.Expr]:
    """The terms of a sum, in order."""
    parts = sp.Add.make_args(total)
    falling = _falling(parts)
    if falling is not None and not signed(falling[0])[0]:
        return falling
    return sorted(falling or sorted(parts, key=_term_key), key=lambda term: signed(term)[0])


def _falling(parts: tuple[sp.Expr, ...]) -> list[sp.Expr] | None:
    """Three or more powers of one letter with numbers before them, the highest first; None for any other sum."""
    found: dict[int, sp.Expr] = {}
    letters = set[sp.Basic]()
    for part in parts:
        base, exponent = part.as_coeff_Mul()[1].as_base_exp()
        if base.is_Symbol and exponent.is_Integer and exponent > 0:
            letters.add(base)
            found[int(exponent)] = part
        elif part.is_Rational:
            found[0] = part
        else:
            return None
    if len(letters) != 1 or len(found) != len(parts):
        return None
    counts = max(found) == 1 and next(iter(letters)).name in _SIZES
    return [found[power] for power in sorted(found, reverse=True)] if len(parts) > 2 or counts else None


def _term_key(term: sp.Expr) -> list[Key]:
    """By the factors from the last one on, each as often as its power says, brackets only where there is nothing else;
    equal ones keep SymPy's order.
    """
    found: list[Key] = []
    above = [factor for factor in signed(term)[2] if not is_below(factor)]
    plain = [factor for factor in above if _of(factor)[0] not in (_SUM, _BRACKET)]
    if above and not plain:
        return [(_BRACKET, 0.0, (), "")]
    for factor in reversed(plain):
        exponent = factor.as_base_exp()[1]
        found += [_key(factor)] * (int(exponent) if exponent.is_Integer and exponent <= 9 else 1)
    return found


@lru_cache(maxsize=16384)
def _key(factor: sp.Expr) -> Key:
    class_, name = _of(factor)
    bare = _STYLE.sub(" ", name)
    letter = _LETTER.search(bare)
    word = letter[0].lstrip("\\") if letter else ""
    rank = float(_RANK.get(word, _RANK.get(word[:1], len(_RANK))))
    if r"\hat" in name:
        rank = _RANK["m"] - 1 + rank / len(_RANK)
    return class_, rank, tuple(int(number) for number in re.findall(r"\d+", bare)), name


def _of(factor: sp.Expr) -> tuple[int, str]:
    """The class of a factor, and the name that orders it within the class."""
    base, exponent = factor.as_base_exp()
    if factor.is_number:
        return _NUMBER, "" if factor.is_Pow else "z"
    if base.is_Add:
        if all(symbol.name in _SIZES for symbol in base.free_symbols):
            return _PARAMETER, "i"
        if abs(exponent) == sp.S.Half:
            return _ROOT, ""
        return (_BRACKET if base.has(AppliedUndef, Expectation) else _SUM), ""
    if base.is_Symbol:
        name = base.name
        if "cdot" in name or "top" in name:
            return _INNER, name
        if "(" in name:
            return _FUNCTION, name
        random = name.split("_")[0].lstrip("\\{") in _RANDOM or name.startswith(r"\mathsf{h}")
        return (_VARIABLE if random and exponent.is_Integer else _PARAMETER), name
    if isinstance(base, AppliedUndef):
        name = base.func.__name__
        return (_AVERAGE, "") if name in notation.RUNNING else (_FUNCTION, notation.function(name))
    if base.is_Mul:
        return _PARAMETER, getattr(signed(base)[2][0], "name", "")
    if base.has(Expectation) or isinstance(base, sp.Piecewise | sp.Sum | sp.Integral | sp.Derivative):
        return _AVERAGE, "E"
    return _NAMED, type(base).__name__


def _is_function_of(factor: sp.Expr, variable: sp.Symbol) -> bool:
    base = factor.as_base_exp()[0]
    if base.is_Symbol:
        return "(" in base.name and variable.name in base.name
    return isinstance(base, AppliedUndef) and variable in base.free_symbols


def sides(relations: Iterable[sp.Basic]) -> list[sp.Basic]:
    """Relations that are joined, in the order of what their left sides name."""
    return sorted(relations, key=lambda one: _term_key(one.args[0]) if one.args else [])

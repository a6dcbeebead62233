"""The trusted core: rechecks obligations with elementary algebra.

Only fractions of polynomials (`zero_as_fraction`), the linearity of expectations, expand, powsimp, radsimp and together
are used, never simplify, integrate or equals. What these cannot reduce to zero is not thereby wrong: it is refuted only
by a witness, a point of the domain at which it is visibly not zero, and stays open otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

import sympy as sp

from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.language.derivation import NonNegative, Obligation, RationalLimit, Vanishing
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.glossary import refuse_repeated_names
from giantsteps.derivations.language.points import nonzero_somewhere
from giantsteps.verify.checks.evaluate import ABSOLUTE, evaluate, evaluate_all
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.evidence import Outcome, Settled

# A residual counts as visibly non-zero when it exceeds this fraction of the sum of the sizes of its terms: rounding in
# double precision reaches 1e-12 of it, and the smallest mutants change a formula by several per cent.
VISIBLE = 1e-7
# What differs by this fraction of two sizes differs whatever the rounding: 1e-16 of terms that cancel to 1e-13.
CLEAR = 1e-3
WITNESS_ATTEMPTS = 8
# A witness has to be one on two grids: the error of a trapezoidal sum over a kink or a jump changes between them.
SAME_ON_BOTH_GRIDS = 0.3
NOT_SETTLED = "not reduced to zero, and no witness against it"

_REWRITINGS: tuple[tuple[str, Callable[[sp.Expr], sp.Expr]], ...] = (
    ("expand", sp.expand),
    ("powsimp", lambda e: sp.expand(sp.powsimp(sp.expand_log(e), force=False))),
    ("radsimp", lambda e: sp.expand(sp.radsimp(e))),
    ("common denominator", lambda e: sp.expand(sp.numer(sp.together(sp.expand_func(e))))),
    ("powers of a common numerator", lambda e: sp.expand(sp.powdenest(sp.numer(sp.together(sp.powsimp(e)))))),
    ("radicals of a common numerator", lambda e: sp.expand(sp.numer(sp.together(sp.radsimp(sp.expand(e)))))),
    ("one expectation", lambda e: _under_one_expectation(e)),
)


def _under_one_expectation(expression: sp.Expr) -> sp.Expr:
    """sum a_i E[f_i] + b as the integrand sum a_i f_i + b, on a common denominator: if that is zero, so is the sum.

    Leaves an expression alone that is not linear in its expectations or mixes their variables.
    """
    variables: set[sp.Symbol] = set()
    total: sp.Expr = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(expression)):
        averages = [f for f in sp.Mul.make_args(term) if f.has(Expectation)]
        if len(averages) > 1 or (averages and not isinstance(averages[0], Expectation)):
            return expression
        if not averages:
            total += term
            continue
        variables |= set(averages[0].variables)
        total += sp.cancel(term / averages[0]) * averages[0].integrand
    if expression.free_symbols & variables:
        return expression  # a variable may not be bound in one term and free in another
    return sp.expand(sp.numer(sp.together(total)))


@lru_cache(maxsize=8192)
def vanishes(residual: sp.Expr) -> str | None:
    """The name of the rewriting that reduced ``residual`` to zero, or None if none did."""
    cheaply = _cheaply_vanishes(residual)
    if cheaply is not None:
        return cheaply
    current = _linear(residual)
    if not current.has(Expectation) and nonzero_somewhere(current):
        return None
    for name, rewrite in _REWRITINGS:
        current = rewrite(current)
        if current == 0:
            return name
    return None


@lru_cache(maxsize=8192)
def _cheaply_vanishes(residual: sp.Expr) -> str | None:
    """The name of the cheap reduction of ``residual`` to zero, or None: fractions of polynomials, and linearity."""
    if residual == 0:
        return "identical"
    if zero_as_fraction(residual):
        return "common denominator"
    return "linearity of expectations" if zero_as_fraction(_linear(residual)) else None


def _is_real(part: sp.Expr) -> bool:
    if isinstance(part, sp.Add | sp.Mul):
        return all(map(_is_real, part.args))
    if isinstance(part, sp.Pow) and part.exp.is_Rational:
        return _is_real(part.base)
    return bool(part.is_real)


@lru_cache(maxsize=8192)
def zero_as_fraction(expression: sp.Expr) -> bool:
    """Whether an expression is zero in the kernel's normal form, a fraction of polynomials in its leaves, which are
    taken as they are written: for all values of the leaves at which it is defined. False decides nothing.
    """
    leaves: dict[sp.Expr, sp.Symbol] = {}

    def hidden(part: sp.Expr) -> sp.Expr:
        if isinstance(part, sp.Rational):
            return part
        if isinstance(part, sp.Add | sp.Mul):
            return part.func(*map(hidden, part.args))
        if isinstance(part, sp.Pow) and part.exp.is_Rational and (part.exp.is_Integer or _is_real(part.base)):
            return hidden(part.base) ** part.exp
        if isinstance(part, sp.Number) or part is sp.zoo:
            raise Refused(f"{part} is no rational number")
        sign = {"positive": True} if part.is_positive else {"real": True}
        return leaves.setdefault(part, sp.Symbol(f"leaf {len(leaves)}", **sign))

    try:
        fraction = hidden(sp.sympify(expression))
        return vanishing(fraction, (fraction,)) is not None
    except Refused:
        return False


@lru_cache(maxsize=8192)
def _linear(expression: sp.Expr) -> sp.Expr:
    """Multiplied out, every expectation by linearity."""
    return expand_expectations(sp.expand(sp.sympify(expression)))


# Residuals that were reduced to zero: no domain holds a witness against them.
_REDUCED: set[sp.Expr] = set()


def settle(obligation: Obligation, domain: Domain, growing: frozenset[sp.Symbol]) -> Settled:
    """Recheck one obligation on ``domain``.

    ``growing`` are the symbols that grow without bound together: a limit in one of them may not hold another one fixed
    by mistake.
    """
    match obligation:
        case Vanishing(says, residual):
            # A false residual is most cheaply refuted by a witness: as it stands, before it is multiplied out, and
            # multiplied out before the dearer rewritings are tried on it.
            known = residual == 0 or residual in _REDUCED
            witness = "" if known else clear_witness(residual, domain, growing)
            if not (known or witness or _cheaply_vanishes(residual)):
                witness = find_witness(residual, domain, growing)
            if witness:
                return Settled(says, Outcome.REFUTES, "a witness", witness)
            method = vanishes(residual)
            if method is not None:
                _REDUCED.add(residual)
                return Settled(says, Outcome.SUPPORTS, method)
            return Settled(says, Outcome.UNDECIDED, NOT_SETTLED)
        case RationalLimit():
            return _settle_limit(obligation, domain, growing)
        case NonNegative(says, expression, squares):
            return _settle_squares(says, expression, squares, domain)


def _settle_limit(limit: RationalLimit, domain: Domain, growing: frozenset[sp.Symbol]) -> Settled:
    says, expression, variable, value = limit.says, limit.expression, limit.variable, limit.value
    if sp.sympify(value).has(variable):
        return Settled(says, Outcome.UNDECIDED, f"the limit depends on {variable}")
    numerator, denominator = _distance_from(value, expression)
    if vanishes(numerator):
        return Settled(says, Outcome.SUPPORTS, "identical before the limit")
    others = sp.sympify(expression - value).free_symbols & growing - {variable}
    if others:
        return Settled(says, Outcome.UNDECIDED, f"{', '.join(map(str, others))} may grow with {variable}")
    over, under = numerator.as_poly(variable), denominator.as_poly(variable)
    if over is None or under is None or over.degree() < 0:
        return Settled(says, Outcome.UNDECIDED, f"not rational in {variable}")
    if not _cannot_vanish(under.LC()):
        return Settled(says, Outcome.UNDECIDED, f"the leading coefficient {under.LC()} may be zero")
    # Trim leading coefficients of the numerator that vanish identically but not literally.
    coefficients = over.all_coeffs()
    while coefficients and vanishes(coefficients[0]):
        coefficients.pop(0)
    degree = len(coefficients) - 1
    if degree < under.degree():
        return Settled(says, Outcome.SUPPORTS, f"degrees in {variable}: {degree} < {under.degree()}")
    lead = coefficients[0] / under.LC() if degree == under.degree() else coefficients[0]
    return _refute_or_leave(f"{says} (leading order)", lead, domain)


@lru_cache(maxsize=1024)
def _distance_from(value: sp.Expr, expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Numerator and denominator of ``expression`` - ``value``."""
    numerator, denominator = sp.fraction(sp.together(sp.expand(expand_expectations(expression - value))))
    return numerator, denominator


def takes_limit(obligation: Obligation) -> bool:
    """Whether an obligation is a limit of something that varies.

    What equals its limit identically is an identity that only looks like one, and supports no claim about a limit.
    """
    if not isinstance(obligation, RationalLimit) or not sp.sympify(obligation.expression).has(obligation.variable):
        return False
    return vanishes(_distance_from(obligation.value, obligation.expression)[0]) is None


def _cannot_vanish(coefficient: sp.Expr) -> bool:
    """Whether an expression is non-zero by the assumptions on its symbols, factor by factor."""
    return all(bool(factor.is_nonzero) for factor in sp.Mul.make_args(sp.factor_terms(sp.sympify(coefficient))))


def _settle_squares(
    says: str, expression: sp.Expr, squares: tuple[tuple[sp.Expr, sp.Expr], ...], domain: Domain
) -> Settled:
    for weight, base in squares:
        if not sp.sympify(weight).is_nonnegative or not sp.sympify(base).is_real:
            return Settled(says, Outcome.UNDECIDED, f"the weight {weight} or the base {base} has no decided sign")
    residual = expression - sum(weight * base**2 for weight, base in squares)
    method = vanishes(residual)
    if method is not None:
        return Settled(says, Outcome.SUPPORTS, f"sum of {len(squares)} squares, {method}")
    return _refute_or_leave(f"{says} (sum of squares)", residual, domain)


def _refute_or_leave(says: str, residual: sp.Expr, domain: Domain) -> Settled:
    witness = find_witness(residual, domain)
    if witness:
        return Settled(says, Outcome.REFUTES, "a witness", witness)
    return Settled(says, Outcome.UNDECIDED, NOT_SETTLED)


def sample(domain: Domain, generator: random.Random) -> dict[str, float | str]:
    """One point of the domain: ranges uniformly (or log-uniformly), choices uniformly."""
    return {r.name: _draw(r, generator) for r in domain.ranges}


def _draw(coordinate: Range, generator: random.Random) -> float | str:
    if coordinate.choices:
        return generator.choice(coordinate.choices)
    if coordinate.log:
        return float(coordinate.low * (coordinate.high / coordinate.low) ** generator.random())
    return generator.uniform(coordinate.low, coordinate.high)


def find_witness(residual: sp.Expr, domain: Domain, growing: frozenset[sp.Symbol] = frozenset()) -> str:
    """A point at which ``residual`` is visibly non-zero, as text; empty if none was found.

    Symbols outside the ranges of the domain get generic positive values, ``growing`` ones, which count something, whole
    numbers. Undefined functions take the domain's
    interpretations in turn; without one that covers them there is no witness. Raises GlyphError for two symbols of one
    name.
    """
    residual = _linear(residual)
    terms = sp.Add.make_args(residual)
    for point, functions in _trial_points((residual,), domain, growing):
        try:
            values = evaluate_all(terms, point, functions)
            size = sum(map(abs, values))
            visible = 0 < size < float("inf") and abs(sum(values)) > VISIBLE * size
            if not visible:
                continue
            again = sum(evaluate_all(terms, point, functions, shifted=True))
        except (TypeError, ZeroDivisionError, OverflowError, ValueError):
            continue  # this point cannot be evaluated, another may
        if abs(again - sum(values)) <= SAME_ON_BOTH_GRIDS * abs(sum(values)):
            return _told(sum(values), point, residual)
    return ""


def clear_witness(residual: sp.Expr, domain: Domain, growing: frozenset[sp.Symbol] = frozenset()) -> str:
    """What `find_witness` finds at its first point, of the residual as it stands: empty unless more than ``CLEAR`` of
    the sizes of its terms is left there, and of ``ABSOLUTE``.

    As in `clearly_differ` nothing is multiplied out. An empty answer decides nothing.
    """
    # Beside a number of 1e12 the rounding of a sum that cancels is no longer far below 1e-6.
    if any(number and not 1e-6 <= abs(number) <= 1e6 for number in residual.atoms(sp.Number)):
        return ""
    terms = sp.Add.make_args(residual)
    for point, functions in islice(_trial_points((residual,), domain, growing), 1):
        try:
            values, again = (evaluate_all(terms, point, functions, shifted=shifted) for shifted in (False, True))
        except (TypeError, ZeroDivisionError, OverflowError, ValueError):
            return ""
        gap, size = sum(values), sum(map(abs, values))
        # In a product of sums that cancel all of its one term is rounding: of numbers of order one, far below 1e-6.
        clear = CLEAR * max(size, ABSOLUTE) < abs(gap) and size < float("inf")
        if clear and abs(sum(again) - gap) <= SAME_ON_BOTH_GRIDS * abs(gap):
            return _told(gap, point, residual)
    return ""


def _told(gap: float, point: Mapping[str, float], residual: sp.Expr) -> str:
    used = {s.name for s in residual.free_symbols}
    where = ", ".join(f"{k}={v:.4g}" for k, v in point.items() if k in used)
    return f"{gap:.4g} at {where or 'every point'}"


def clearly_differ(first: sp.Expr, second: sp.Expr, domain: Domain) -> bool:
    """Whether two expressions, as they stand, differ by more than ``CLEAR`` of their terms' sizes at a point of the
    domain.

    Nothing is multiplied out, so that of two that are equal rounding would have to eat twelve digits of what is added
    up in one (terms that cancel are as large as they are, not as their sum). Where the answer is no, `find_witness` of
    their difference may still tell them apart. Raises GlyphError as it does.
    """
    terms, others = sp.Add.make_args(first), tuple(-term for term in sp.Add.make_args(second))
    for point, functions in _trial_points((first, second), domain):
        try:
            gaps = []
            for shifted in (False, True):
                values = [evaluate(term, point, functions, shifted=shifted) for term in (*terms, *others)]
                gap, size = sum(values), sum(map(abs, values))
                if not (abs(gap) > CLEAR * size and size < float("inf")):
                    break
                gaps.append(gap)
        except (TypeError, ZeroDivisionError, OverflowError, ValueError):
            continue
        if len(gaps) == 2 and abs(gaps[1] - gaps[0]) <= SAME_ON_BOTH_GRIDS * abs(gaps[0]):
            return True
    return False


def _trial_points(
    expressions: tuple[sp.Expr, ...], domain: Domain, growing: frozenset[sp.Symbol] = frozenset()
) -> Iterator[tuple[dict[str, float], Mapping[str, Callable[..., object]]]]:
    """Points of the domain with numbers for all symbols of the expressions, and the functions of each, in one order."""
    free = set().union(*(expression.free_symbols for expression in expressions))
    refuse_repeated_names(free, expressions[0])
    undefined = {f.func.__name__ for expression in expressions for f in _undefined(expression)}
    interpretations: tuple[Mapping[str, Callable[..., object]], ...] = domain.interpretations or ({},)
    generator = random.Random(20240204)
    for attempt in range(WITNESS_ATTEMPTS):
        functions = interpretations[attempt % len(interpretations)]
        if not undefined <= set(functions):
            continue
        point = {k: v for k, v in sample(domain, generator).items() if isinstance(v, float)}
        for symbol in sorted(free, key=lambda s: s.name):
            drawn = generator.uniform(0.3, 1.7)
            point.setdefault(symbol.name, float(round(_WHOLE * drawn)) if symbol in growing else drawn)
        yield point, functions


# Numbers of inputs, neurons and samples in a witness are between 6 and 34: two of them seldom are the same.
_WHOLE = 20


def _undefined(expression: sp.Expr) -> set[sp.Expr]:
    found = set(expression.atoms(sp.core.function.AppliedUndef))
    return {f for f in found if not isinstance(f, Expectation)}

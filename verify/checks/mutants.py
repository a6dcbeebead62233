"""Mutants of a statement: what a slip of the pen would make of it.

Mutants are generated from the expression tree of the right-hand side (of an equation) by one change each: the sign of
a term, a factor dropped, a square or a root lost, one symbol for its sibling (a table of the paper), eight per cent
more. At most one of each sort is taken, always in the order of the tree, so that the same statement has the same
mutants on every machine.

What numbers or simulation confirm meets generic mutants beside these, made of any right-hand side alike: five per cent
more, the smallest term dropped or its sign flipped, one ratio for the other, a function replaced by its mean. What is
smallest is judged where the claim is tested, and what is nowhere wrong on its domain is no mutant. Two rules say what
is the same statement in its kind. Orders are multiples of a tenth at the finest: five per cent more of an exponent is
no other order, and a tenth more stands in its place. A claim about one setting says a number: what leaves that number
where it is, to a tenth of five per cent, is no other number, while elsewhere it has to be caught on parameters at which
it shows. An inequality is turned round, and its bound moved past the value that comes nearest to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.checks.checker import VISIBLE, clearly_differ, find_witness, vanishes
from giantsteps.verify.checks.evaluate import Place, evaluate
from giantsteps.verify.protocol.claim import Claim, Domain, Mutant, Profile
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.statement import MORE

# What says all of a mutant: the right-hand side times MORE.
MORE_NAMED = "eight per cent more"
# Symbols that are easily taken for another one, and ratios that are easily forgotten, with what is written instead.
Siblings = Sequence[tuple[sp.Symbol, sp.Expr]]


def mutants_of(claim: Claim, siblings: Siblings) -> tuple[Mutant, ...]:
    """The claim's own mutants, then the generated ones that are not provably the same statement."""
    generated = generate(claim.statement, siblings) if isinstance(claim.statement, sp.Equality) else ()
    seen: set[sp.Basic] = {claim.statement}
    kept: list[Mutant] = []
    for mutant in (*claim.mutants, *generated):
        if mutant.statement in seen or _is_correction(claim, mutant):
            continue
        apart = _separated(claim.statement, mutant.statement, claim.domain)
        if apart or not equivalent(claim.statement, mutant.statement):
            seen.add(mutant.statement)
            kept.append(mutant)
    return tuple(kept)


def _is_correction(claim: Claim, mutant: Mutant) -> bool:
    """Whether a slip turned a misprint into what corrects it, provably: then the checks have to pass it."""
    right = claim.correction
    if right is None or _separated(right.statement, mutant.statement, claim.domain):
        return False
    return equivalent(right.statement, mutant.statement)


def _separated(first: sp.Basic, second: sp.Basic, domain: Domain) -> bool:
    """Whether a point of the domain tells two equations apart: cheaper than failing to prove them equal."""
    if not (isinstance(first, sp.Equality) and isinstance(second, sp.Equality)):
        return False
    # Each right side is evaluated as it stands, as the checks of numbers will, and most slips are seen there.
    if first.lhs == second.lhs and clearly_differ(first.rhs, second.rhs, domain):
        return True
    return bool(find_witness((first.lhs - first.rhs) - (second.lhs - second.rhs), domain))


def equivalent(first: sp.Basic, second: sp.Basic) -> bool:
    """Whether two equations are provably the same: the differences of their sides differ by an identical zero."""
    if not (isinstance(first, sp.Equality) and isinstance(second, sp.Equality)):
        return bool(first == second)
    difference = (first.lhs - first.rhs) - (second.lhs - second.rhs)
    return vanishes(difference) is not None or vanishes(_by_symmetry(difference)) is not None


def _by_symmetry(expression: sp.Expr) -> sp.Expr:
    """Expectations with the signs of their normal variables chosen in one fixed way: z and -z have one law."""

    def chosen(average: sp.Expr) -> sp.Expr:
        flips = itertools.product((1, -1), repeat=len(average.variables))
        signs = ({v: sign * v for v, sign in zip(average.variables, flip, strict=True)} for flip in flips)
        images = [average.integrand.subs(flip, simultaneous=True) for flip in signs]
        return Expectation(min(images, key=str), *average.variables)

    return expression.replace(lambda e: isinstance(e, Expectation), chosen)


def generate(statement: sp.Equality, siblings: Siblings) -> tuple[Mutant, ...]:
    """One mutant of each sort that the right-hand side admits."""
    return tuple(
        Mutant(name, sp.Eq(statement.lhs, changed, evaluate=False))
        for name, changed in _changes(statement.rhs, siblings)
        if changed != statement.rhs
    )


def _changes(expression: sp.Expr, siblings: Siblings) -> Iterator[tuple[str, sp.Expr]]:
    if expression != 0:
        yield MORE_NAMED, MORE * expression
    sorts = {
        "sign of a term": _sign_of_a_term,
        "factor dropped": _factor_dropped,
        "square lost": _square_lost,
        "root lost": _root_lost,
    }
    for name, change in sorts.items():
        for node in sp.preorder_traversal(expression):
            replacement = change(node)
            if replacement is not None:
                yield name, expression.xreplace({node: replacement})
                break
    for symbol, sibling in siblings:
        if expression.has(symbol):
            yield f"{sibling} for {symbol}", expression.subs(symbol, sibling)
            break


def _sign_of_a_term(node: sp.Basic) -> sp.Expr | None:
    if not isinstance(node, sp.Add):
        return None
    last = node.as_ordered_terms()[-1]
    return node - 2 * last


def _factor_dropped(node: sp.Basic) -> sp.Expr | None:
    if not isinstance(node, sp.Mul):
        return None
    factors = [f for f in node.as_ordered_factors() if f.free_symbols and not isinstance(f, Expectation)]
    return node / factors[0] if factors else None


def _square_lost(node: sp.Basic) -> sp.Expr | None:
    return node.base if isinstance(node, sp.Pow) and node.exp == 2 else None


def _root_lost(node: sp.Basic) -> sp.Expr | None:
    return node.base ** (2 * node.exp) if isinstance(node, sp.Pow) and abs(node.exp) == sp.Rational(1, 2) else None


# Of generic mutants the one that is nearest by a factor alone; of an exponent, what sets it apart from its neighbours.
A_LITTLE_MORE = sp.Rational(21, 20)
NEXT_ORDER = sp.Rational(1, 10)
# What changes the number of a claim about one setting by less, relative to its size, states the same number.
SAME_NUMBER = 0.005


@runtime_checkable
class Placed(Protocol):
    """A check that evaluates the right-hand side of a statement, and says where."""

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where it is evaluated."""


def generic_mutants(claim: Claim, places: Sequence[Place], paper: Paper) -> tuple[Mutant, ...]:
    """The generic mutants of an equation or inequality that is tested in ``places``: of an equation those that are
    wrong there or elsewhere on the claim's domain. A term that vanishes in all places and not on the domain is the
    smallest. Of several equations that are stated together one is changed at a time.
    """
    statement = claim.statement
    if isinstance(statement, sp.GreaterThan | sp.LessThan):
        return tuple(_of_bound(statement, places))
    if not places:
        return ()
    if isinstance(statement, sp.And) and all(isinstance(part, sp.Equality) for part in statement.args):
        return tuple(
            Mutant(f"{one.name}, equation {number}", sp.And(*rest, one.statement, evaluate=False))
            for number, part in enumerate(statement.args, 1)
            for rest in [[other for other in statement.args if other is not part]]
            for one in _of_equation(part, claim.domain, places, paper)
        )
    return _of_equation(statement, claim.domain, places, paper) if isinstance(statement, sp.Equality) else ()


def _of_equation(statement: sp.Equality, domain: Domain, places: Sequence[Place], paper: Paper) -> tuple[Mutant, ...]:
    right = sp.sympify(statement.rhs)
    one_setting = bool(domain.ranges) and all(len(each.choices) == 1 for each in domain.ranges)

    def wrong(other: sp.Expr) -> bool:
        size = change(right, other, places)
        if size is None or one_setting:
            return size is not None and size >= SAME_NUMBER
        return size > 0.0 or bool(find_witness(other - right, domain))

    candidates = [("five per cent more", A_LITTLE_MORE * right)]
    if all(place.exponent for place in places):
        candidates = [("a tenth more", right + NEXT_ORDER)]
    dropped = [(right.xreplace({whole: whole - term}), whole, term) for whole, term in _terms(right)]
    visible = [found for found in dropped if wrong(found[0])]
    if visible:
        other, whole, term = min(visible, key=lambda found: change(right, found[0], places) or 0.0)
        candidates.append(("the smallest term dropped", other))
        candidates.append(("sign of the smallest term", right.xreplace({whole: whole - 2 * term})))
    for written, meant in paper.exchanged:
        if right.has(written) and right.has(meant):
            candidates.append((f"{written} for {meant}", right.subs(meant, written)))
    means = (right.xreplace({function: mean}) for function, mean in _means(right, paper.averaged))
    averaged = next(filter(wrong, means), None)
    if averaged is not None:
        candidates.append(("a function replaced by its mean", averaged))
    kept = {other: name for name, other in reversed(candidates) if wrong(other)}
    return tuple(Mutant(name, sp.Eq(statement.lhs, other, evaluate=False)) for other, name in reversed(kept.items()))


def _of_bound(statement: sp.GreaterThan | sp.LessThan, places: Sequence[Place]) -> Iterator[Mutant]:
    """An inequality the other way round, and with its bound, the right-hand side, moved towards the left one: five per
    cent past it where the two are nearest to each other, relative to their size.
    """
    slacks = []
    for place in places:
        try:
            left, right = (evaluate(side, place.values, place.functions) for side in (statement.lhs, statement.rhs))
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            continue
        size = max(abs(left), abs(right))
        if 0.0 < size < float("inf"):
            slacks.append((abs(left - right) / size, left - right, size))
    if not slacks:
        return
    if max(slacks)[0] > VISIBLE:
        other = sp.LessThan if isinstance(statement, sp.GreaterThan) else sp.GreaterThan
        yield Mutant("the other way round", other(statement.lhs, statement.rhs, evaluate=False))
    _, gap, size = min(slacks)
    past = size / 20 if isinstance(statement, sp.GreaterThan) else -size / 20
    moved = statement.rhs + sp.Float(gap + past)
    yield Mutant("the bound five per cent past the nearest value", statement.func(statement.lhs, moved, evaluate=False))


def change(right: sp.Expr, other: sp.Expr, places: Sequence[Place]) -> float | None:
    """The mean change of a right-hand side, relative to its size; 0 where it is nowhere visible, None where there is no
    number.
    """
    found = []
    for place in places:
        try:
            old, new = (evaluate(side, place.values, place.functions) for side in (right, other))
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return None
        found.append(abs(new - old) / max(abs(new), abs(old)) if new != old else 0.0)
    mean = sum(found) / len(found)
    return None if not mean < float("inf") else mean if max(found) > VISIBLE else 0.0


def _terms(node: sp.Basic) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """The outermost sums with their terms; those of a sum under an expectation stand for the expectation."""
    if not isinstance(node, sp.Add):
        for argument in node.args:
            yield from _terms(argument)
        return
    for term in node.as_ordered_terms():
        averages = [f for f in sp.Mul.make_args(term) if isinstance(f, Expectation) and isinstance(f.integrand, sp.Add)]
        if averages:
            yield from _terms(averages[0])
        else:
            yield node, term


def _means(right: sp.Expr, variables: frozenset[sp.Symbol]) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """The functions of some normal variables, in the order of the tree, with their means."""
    for node in sp.preorder_traversal(right):
        bound = sorted(node.free_symbols & variables, key=str) if isinstance(node, AppliedUndef) else []
        if bound and not isinstance(node, Expectation):
            yield node, Expectation(node, *bound)

"""Slips made everywhere at once: in what a derivation states, in its theorems and in the claim. The kernel makes none.

A theorem whose statement was changed is no theorem, however well the claim's statement agrees with it; and no proof of
it is left when an assumption is omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.kernel.statements import Assumption, Equation, Ground, Refused, sides
from giantsteps.derivations.kernel.theorem import Theorem, nodes, replay
from giantsteps.derivations.language.derivation import Derivation, Step
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, states
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.claims.saddle_point.systems import ByDerivations
from giantsteps.verify.protocol.claim import Claim

# What is written in place of X, and what X is then: another factor and a term more, another sign, a term or factor
# that is missing.
Slip = tuple[sp.Expr, Callable[[sp.Expr], sp.Expr]]


def slips(right: sp.Expr) -> tuple[Slip, ...]:
    factor, term = sp.Rational(27, 25), sp.Rational(1, 13)
    first: Slip = factor * right + term, lambda x: (x - term) / factor
    second: Slip = -right - term, lambda x: -x - term
    if not isinstance(right, sp.Add | sp.Mul):
        return first, second, (2 * right + 1, lambda x: (x - 1) / 2)
    part, rest = right.args[0], right.func(*right.args[1:])
    return first, second, (rest, lambda x: x * part if isinstance(right, sp.Mul) else x + part)


def made(claim: Claim) -> tuple[Theorem, ...]:
    """What the kernel makes of a claim's statement by any of its checks."""
    found = (check.theorems(claim) for check in claim.checks if hasattr(check, "theorems"))
    return next((theorems for theorems in found if theorems), ())


@cache
def theorems() -> dict[str, tuple[Claim, tuple[Theorem, ...]]]:
    """All claims that rest on theorems, with these."""
    found = {claim.id: (claim, made(claim)) for claim in all_claims()}
    return {name: pair for name, pair in found.items() if pair[1]}


def written(relation: Relational, left: sp.Expr, right: sp.Expr) -> Relational:
    return relation.func(left, right, evaluate=False)


def forged(derivation: Derivation, symbol: sp.Basic, wrong: sp.Expr, theorem_too: bool) -> Derivation:
    """A derivation with another result for a symbol, and if asked with another theorem for it."""
    theorem, steps = derivation.known_theorem_of(symbol), derivation.steps
    if theorem_too and theorem is not None:
        other = replace(theorem, statement=Equation(symbol, wrong))
        put = {id(theorem): other}
        steps = tuple(
            Step(step.reason, step.statement, *step.obligations, theorem=put.get(id(step.theorem), step.theorem))
            for step in steps
        )
    results = {**derivation.results, symbol: wrong}
    return Derivation(derivation.title, derivation.source, *steps, results=results, hypotheses=derivation.hypotheses)


def slipped(claim: Claim) -> Iterator[tuple[str, ByDerivation | ByTheorem, Claim]]:
    """A claim's checks and its statement with the same slip, for each slip in each result that the claim speaks of."""
    for check in claim.checks:
        if isinstance(check, ByDerivation):
            derivation = check.build()
            for symbol, right in derivation.results.items():
                if not claim.statement.has(symbol):
                    continue
                for k, (wrong, back) in enumerate(slips(right)):
                    left, other = (side.xreplace({symbol: back(symbol)}) for side in claim.statement.args)
                    adapted = replace(claim, statement=written(claim.statement, left, other))
                    for theorem_too in (False, True):
                        wrongly = forged(derivation, symbol, wrong, theorem_too)
                        name = f"{claim.id}: {symbol}, slip {k}{', its theorem too' * theorem_too}"
                        yield name, replace(check, build=lambda wrongly=wrongly: wrongly), adapted
        elif isinstance(check, ByDerivations):
            for part in claim.statement.args:
                alone = replace(claim, statement=part, checks=(ByDerivation(check.derivations[part.lhs]),))
                yield from slipped(alone)
        elif isinstance(check, ByTheorem):
            parts = claim.statement.args if isinstance(claim.statement, sp.And) else (claim.statement,)
            for place, part in enumerate(parts):
                for k, wrong in enumerate(wrongly_stated(part)):
                    whole = wrong if len(parts) == 1 else sp.And(*parts[:place], wrong, *parts[place + 1 :])
                    yield f"{claim.id}: part {place}, slip {k}", check, replace(claim, statement=whole)


def wrongly_stated(relation: Relational) -> list[Relational]:
    """An equation with each slip in its right side; an inequality that asks for one more."""
    if isinstance(relation, sp.Equality):
        return [written(relation, relation.lhs, wrong) for wrong, _ in slips(relation.rhs)]
    return [sp.Ge(relation.gts, relation.gts + 1, evaluate=False)]


def falsely_made(claims: list[Claim]) -> tuple[int, list[str]]:
    """How many slips were made in claims, and those of which the kernel made a theorem all the same."""
    tried, found = 0, []
    for claim in claims:
        for name, check, adapted in slipped(claim):
            tried += 1
            if check.theorems(adapted):
                found.append(name)
    return tried, found


# Claims whose derivations are made fast; the others are looked at in the thorough profile.
FAST = ("result-3-1.spike-strength", "result-3-1.alignment", "result-3-1.bulk-variance")


def test_no_consistent_slip_is_proved_in_some_claims() -> None:
    tried, found = falsely_made([claim for claim in all_claims() if claim.id in FAST])
    assert tried >= 6 * len(FAST)
    assert found == []


@pytest.mark.thorough
def test_no_consistent_slip_is_proved_in_any_claim() -> None:
    tried, found = falsely_made([claim for claim, _ in theorems().values()])
    assert tried > 3200
    assert found == []


def without(theorem: Theorem, assumed: object) -> Theorem:
    """A proof from which an assumption was removed everywhere."""
    other: dict[int, Theorem] = {}
    for node in nodes(theorem):
        premises = tuple(other[id(premise)] for premise in node.premises)
        other[id(node)] = replace(node, premises=premises, assumptions=node.assumptions - {assumed})
    return other[id(theorem)]


def survivors(claims: dict[str, tuple[Claim, tuple[Theorem, ...]]]) -> list[str]:
    """Claims with a proof that replays without one of its assumptions, another one for each claim."""
    found = []
    for k, (name, (_, proofs)) in enumerate(claims.items()):
        for theorem in proofs:
            listed = sorted(theorem.assumptions, key=lambda assumed: assumed.name)
            if not listed:
                continue
            assumed = listed[k % len(listed)]
            try:
                replay(without(theorem, assumed))
                found.append(f"{name} without {assumed.name}")
            except Refused:
                pass
    return found


@pytest.mark.thorough
def test_no_proof_survives_without_an_assumption() -> None:
    assert survivors(theorems()) == []


def empty(theorem: Theorem) -> bool:
    """Whether a theorem says that something is itself."""
    left, right = sides(theorem.statement)
    return left == right


def assuming_it(theorem: Theorem) -> list[str]:
    """The assumptions that state, up to a factor, the theorem itself."""
    goal = theorem.statement
    if not isinstance(goal, Equation):
        return [assumed.name for assumed in theorem.assumptions if assumed.statement == goal]
    return [assumed.name for assumed in theorem.assumptions if says(assumed, goal)]


def says(assumed: Assumption, goal: Equation) -> bool:
    """Whether an assumption of any kind states a theorem; the schema of a rule, which is no term, says nothing."""
    try:
        return states(replace(assumed, ground=Ground.MODEL), goal)
    except Refused:
        return False


@pytest.mark.thorough
def test_nothing_is_proved_of_itself() -> None:
    """No node of any proof says 0 = 0, and no assumption states a claim that rests on it."""
    seen: dict[int, Theorem] = {}
    said: dict[str, list[str]] = {}
    for name, (_, proofs) in theorems().items():
        for theorem in proofs:
            seen |= {id(node): node for node in nodes(theorem)}
            if listed := assuming_it(theorem):
                said[name] = listed
    assert len(seen) > 5000
    assert [node.rule for node in seen.values() if empty(node)] == []
    assert said == {}

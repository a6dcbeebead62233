"""The ways of getting evidence, each a function of the statement it is asked about."""

from __future__ import annotations

import contextlib
import math
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy as sp
from sympy.core.relational import Relational

from onestep.derivations.kernel.rational import vanishing
from onestep.derivations.kernel.search.goals import follows
from onestep.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused, Tends, sides
from onestep.derivations.kernel.theorem import Theorem, nodes, replay
from onestep.derivations.language.derivation import Derivation, Obligation, Step, Vanishing
from onestep.verify.checks.checker import sample, settle, takes_limit, vanishes
from onestep.verify.checks.digest import digest
from onestep.verify.checks.evaluate import Functions, Place, Violation, describe, relation_violation
from onestep.verify.protocol.claim import Claim, Domain, Profile
from onestep.verify.protocol.conditions import IS_A_THEOREM, on_domain
from onestep.verify.protocol.evidence import Agreement, Evidence, Leaf, Made, Outcome, Proof, Settled
from onestep.verify.protocol.paper import Paper
from onestep.verify.protocol.tolerances import Tolerance

Point = Mapping[str, float | str]
Measure = Callable[[Point], Mapping[str, float] | None]
FunctionsAt = Callable[[Point], Functions]


@dataclass(frozen=True)
class ByDerivation:
    """The statement follows from a derivation: its steps hold, and its results make the statement an identity.

    ``build`` returns the derivation. Every symbol of the statement that the derivation establishes is replaced by what
    was derived for it; the difference of the two sides must then vanish. ``conjecture``: the hypotheses neglect terms
    whose order they do not bound, so that the limits taken are those of what is left.
    """

    build: Callable[[], Derivation]
    conjecture: bool = False

    @property
    def name(self) -> str:
        return f"derivation: {self.build().title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        derivation = self.build()
        statement = claim.statement
        if not isinstance(statement, sp.Equality):
            raise TypeError(f"{claim.id}: a derivation proves an equation, not {statement}")
        derived = {s: e for s, e in derivation.results.items() if statement.has(s)}
        steps = tuple(_settled(derivation, claim.domain, paper.growing))
        theorem = concluded(derivation, statement)
        assumed: tuple[str, ...] = ()
        if not derived:
            final = Settled("the statement speaks of what was derived", Outcome.UNDECIDED, "no symbol in common")
        elif theorem is not None:
            final, assumed = on_domain((theorem,), claim.domain)
            theorem = theorem if final.outcome is Outcome.SUPPORTS else None
        else:
            residual = (statement.lhs - statement.rhs).xreplace(derived)
            final = settle(Vanishing("the statement equals what was derived", residual), claim.domain, paper.growing)
        proof = Proof(
            self.name,
            (*steps, final),
            hypotheses=(*derivation.hypotheses, *assumed),
            theorem=None if theorem is None else made(theorem),
            unmade=tuple(s.reason for s in derivation.steps if s.theorem is None) or (CONCLUDED,),
        )
        if self.conjecture or proof.outcome is not Outcome.SUPPORTS:
            return proof  # whether a limit was taken is asked of what holds, and costs more than to refute a mutant
        limit_taken = _follows_a_limit(derivation, statement.lhs) if theorem is None else _limits(theorem)
        return replace(proof, takes_limit=limit_taken)

    def theorems(self, claim: Claim) -> tuple[Theorem, ...]:
        """The statement as a theorem, if the kernel makes it."""
        assert isinstance(claim.statement, sp.Equality)
        theorem = concluded(self.build(), claim.statement)
        return () if theorem is None else (theorem,)


# The last step of every proof, where the kernel makes all others and not this one.
CONCLUDED = "The statement follows from what was derived."


def concluded(derivation: Derivation, statement: sp.Equality) -> Theorem | None:
    """The statement as a theorem of the kernel, made from those of the derivation and made again from its leaves; None
    where the derivation has not got them, or where the statement does not follow.
    """
    known = [derivation.known_theorem_of(symbol) for symbol in derivation.results if statement.has(symbol)]
    theorems = [theorem for theorem in known if theorem is not None]
    if not known or len(theorems) < len(known):
        return None
    goal = Equation(statement.lhs, statement.rhs)
    found = follows(goal, theorems)
    if found is None or any(states(leaf, goal) for leaf in found.assumptions):
        return None
    try:
        again = replay(found)
    except Refused:
        return None
    return again if again.statement == goal else None


def states(leaf: Assumption, goal: Equation) -> bool:
    """Whether an assumption says, up to algebra, what is to be proved: then nothing is proved."""
    if leaf.ground is Ground.LEMMA or not isinstance(leaf.statement, Equation):
        return False
    said, asked = (e.left - e.right for e in (leaf.statement, goal))
    if said.free_symbols != asked.free_symbols:
        return False
    return any(vanishing(said - sign * asked, (said, asked)) is not None for sign in (1, -1))


def made(*theorems: Theorem) -> Made:
    """The leaves and rules of theorems, as the ledger keeps them."""
    assumptions = frozenset().union(*(theorem.assumptions for theorem in theorems))
    leaves = sorted(map(_leaf, assumptions), key=lambda leaf: (leaf.kind, leaf.name, leaf.statement))
    rules = Counter(node.rule for theorem in theorems for node in nodes(theorem))
    return Made(tuple(leaves), tuple(sorted(rules.items())), tuple(map(digest, theorems)))


@lru_cache(maxsize=4096)
def _leaf(leaf: Assumption) -> Leaf:
    from onestep.derivations.language.rendering import latex

    left, right = map(latex, sides(leaf.statement))
    match leaf.statement:
        case Tends(variable=variable):
            statement = rf"\lim_{{{latex(variable)} \to \infty}} {left} = {right}"
        case AtLeast():
            statement = rf"{left} \geq {right}"
        case _:
            statement = f"{left} = {right}"
    return Leaf(leaf.name, leaf.ground.value, statement, leaf.reference)


def _takes_limit(obligations: tuple[Obligation, ...]) -> bool:
    return any(takes_limit(o) for o in obligations)


def _takes_a_limit(step: Step) -> bool:
    return _takes_limit(step.obligations) or (step.theorem is not None and _limits(step.theorem))


def _limits(theorem: Theorem) -> bool:
    """Whether a limit is taken in a theorem's proof."""
    return any(node.rule in ("limit_rational", "limit_exponential", "taylor") for node in nodes(theorem))


def _follows_a_limit(derivation: Derivation, side: sp.Basic) -> bool:
    """Whether all that the derivation establishes in ``side`` is stated by steps that take a limit or follow one."""
    first = next((k for k, step in enumerate(derivation.steps) if _takes_a_limit(step)), None)
    places = [_stated_at(derivation, symbol) for symbol in derivation.results if side.has(symbol)]
    return first is not None and bool(places) and all(place is not None and place >= first for place in places)


@lru_cache(maxsize=4096)
def _stated_at(derivation: Derivation, symbol: sp.Basic, behind: frozenset[sp.Basic] = frozenset()) -> int | None:
    """The last step with an obligation of its own that states ``symbol`` = its result; None if there is none.

    The step may speak of other results by name, if they are stated in their turn, and not by way of ``behind``: the
    names that are being resolved.
    """
    places = [
        k
        for k, step in enumerate(derivation.steps)
        if (step.obligations or step.theorem is not None)
        and isinstance(step.statement, sp.Equality)
        and step.statement.lhs == symbol
        and _is_result(derivation, symbol, step.statement.rhs, behind | {symbol})
    ]
    return max(places, default=None)


def _is_result(derivation: Derivation, symbol: sp.Basic, stated: sp.Expr, behind: frozenset[sp.Basic]) -> bool:
    result = derivation.results[symbol]
    if stated == result or vanishes(stated - result) is not None:
        return True
    # A name that the result speaks of as well is no abbreviation.
    named = {o: value for o, value in derivation.results.items() if stated.has(o) and not result.has(o)}
    if not named or behind & set(named):
        return False
    return (
        all(_stated_at(derivation, other, behind) is not None for other in named)
        and vanishes(stated.xreplace(named) - result) is not None
    )


@lru_cache(maxsize=256)
def _settled(derivation: Derivation, domain: Domain, growing: frozenset[sp.Symbol]) -> tuple[Settled, ...]:
    found: list[Settled] = []
    for step in derivation.steps:
        if step.theorem is not None:
            found.append(_made_again(step))
        found += [settle(obligation, domain, growing) for obligation in step.obligations]
    return tuple(found)


# How a step that is a theorem was settled.
MADE_AGAIN = "made by the kernel, and made again"


def _made_again(step: Step) -> Settled:
    assert step.theorem is not None
    try:
        replay(step.theorem)
    except Refused as refusal:
        return Settled(step.reason, Outcome.UNDECIDED, str(refusal))
    return Settled(step.reason, Outcome.SUPPORTS, MADE_AGAIN)


@dataclass(frozen=True)
class ByObligations:
    """The statement is proved by obligations computed from the statement itself."""

    title: str
    obligations: Callable[[sp.Basic], tuple[Obligation, ...]]
    hypotheses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"proof: {self.title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        obligations = self.obligations(claim.statement)
        settled = tuple(settle(o, claim.domain, paper.growing) for o in obligations)
        return Proof(self.name, settled, _takes_limit(obligations), self.hypotheses)


@dataclass(frozen=True)
class ByTheorem:
    """The statement is a theorem: the kernel makes it, and makes it again from its leaves.

    ``build`` makes the theorem of a statement, equation or inequality, and raises Refused where it does not follow; a
    conjunction is one theorem for each part.
    """

    title: str
    build: Callable[[Relational], Theorem]
    hypotheses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"theorem: {self.title}"

    def theorems(self, claim: Claim) -> tuple[Theorem, ...]:
        """The statement as a theorem, or each of its parts as one, if the kernel makes them."""
        try:
            return self._theorems(claim.statement)
        except Refused:
            return ()

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        try:
            theorems = self._theorems(claim.statement)
        except Refused as refusal:
            open_ = Settled(IS_A_THEOREM, Outcome.UNDECIDED, str(refusal))
            return Proof(self.name, (open_,), hypotheses=self.hypotheses)
        settled, assumed = on_domain(theorems, claim.domain)
        if settled.outcome is not Outcome.SUPPORTS:
            return Proof(self.name, (settled,), hypotheses=self.hypotheses)
        hypotheses = (*self.hypotheses, *assumed)
        return Proof(self.name, (settled,), any(map(_limits, theorems)), hypotheses, theorem=made(*theorems))

    def _theorems(self, statement: Relational) -> tuple[Theorem, ...]:
        parts = statement.args if isinstance(statement, sp.And) else (statement,)
        return tuple(map(self._made, parts))

    def _made(self, statement: Relational) -> Theorem:
        theorem = replay(self.build(statement))
        if theorem.statement != said(statement):
            raise Refused("the theorem states something else")
        return theorem


def said(statement: Relational) -> Equation | AtLeast:
    """A relation as the kernel says it. Raises Refused for one that it does not say."""
    match statement:
        case sp.Equality():
            return Equation(statement.lhs, statement.rhs)
        case sp.GreaterThan():
            return AtLeast(statement.lhs, statement.rhs)
        case sp.LessThan():
            return AtLeast(statement.rhs, statement.lhs)
    raise Refused(f"{statement} is neither an equation nor an inequality")


@dataclass(frozen=True)
class ByNumbers:
    """Two independent computations agree at sampled points of the domain.

    ``measure`` takes a point and returns numbers for symbols of the statement, computed from definitions by code that
    shares nothing with the derivation; the statement is evaluated with the point and these numbers. A point for which
    ``measure`` returns None lies outside the hypotheses and is not counted. ``functions`` gives the implementations of
    undefined functions at the point. ``finite_size``: of a limit, ``measure`` takes what tends to it, at finite values
    of what grows; a second formula of the limit itself does not confirm it.
    """

    title: str
    measure: Measure
    tolerance: Tolerance
    functions: FunctionsAt | None = None
    points: int | None = None
    finite_size: bool = False

    @property
    def name(self) -> str:
        return f"numbers: {self.title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        found: list[tuple[Violation, str]] = []
        asked = self.points or profile.points
        for point in self._drawn(claim, asked, profile.seed):
            violated = violation(claim.statement, point, self.measure, self.functions)
            if violated is None:
                continue
            found.append((violated, describe(point)))
            if not violated.error <= self.tolerance.value:  # a violation, or a value that is no number: enough
                break
        return replace(_agreement(self.name, found, asked, self.tolerance), finite_size=self.finite_size)

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where the statement is tested, with what was measured there."""
        points = self._drawn(claim, self.points or profile.points, profile.seed)
        found = (_measured(self.measure, self.functions, tuple(point.items())) for point in points)
        return tuple(place for place in found if place is not None)

    def _drawn(self, claim: Claim, asked: int, seed: int) -> Iterator[Point]:
        generator = random.Random(f"{claim.id.split('~')[0]}/{self.title}{f'/{seed}' if seed else ''}")
        return (sample(claim.domain, generator) for _ in range(asked))


# From so many examples on the search also climbs towards the narrowest margin: a dozen are better drawn from all over.
_TO_CLIMB = 40


@dataclass(frozen=True)
class BySearch:
    """A property that has to hold all over the domain: Hypothesis searches for a counterexample.

    The search is derived from the names of claim and check, neither from the clock nor from the code: the same one runs
    every time, for a claim and for its wrong neighbours. ``examples``: at least so many, where few of them tell.
    """

    title: str
    measure: Measure
    tolerance: Tolerance
    functions: FunctionsAt | None = None
    examples: int = 0

    @property
    def name(self) -> str:
        return f"search for a counterexample: {self.title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        return self._searched(claim, profile)

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where the search looks at the statement, with what was measured there."""
        found: list[Place] = []

        def recorded(point: Point) -> Mapping[str, float] | None:
            place = _measured(self.measure, self.functions, tuple(point.items()))
            if place is None:
                return None
            found.append(place)
            return place.values

        replace(self, measure=recorded)._searched(claim, profile)
        return tuple(found)

    def _searched(self, claim: Claim, profile: Profile) -> Evidence:
        import hypothesis  # here, since whoever asks what is claimed searches for nothing

        from onestep.verify.checks.strategies import points_of

        found: list[tuple[Violation, str]] = []
        draw, climb = hypothesis.Phase.generate, hypothesis.Phase.target
        examples = max(profile.examples, self.examples)
        phases = (draw, climb) if examples >= _TO_CLIMB else (draw,)
        seed = zlib.crc32(f"{claim.id.split('~')[0]}/{self.title}/{profile.seed}".encode())

        def property_holds(point: Point) -> None:
            violated = violation(claim.statement, point, self.measure, self.functions)
            if violated is None:
                hypothesis.reject()
            found.append((violated, describe(point)))
            if not violated.error <= self.tolerance.value:
                raise CounterExampleFound
            if climb in phases:
                hypothesis.target(violated.margin)

        search = hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=phases,
        )(hypothesis.seed(seed)(hypothesis.given(points_of(claim.domain))(property_holds)))
        with contextlib.suppress(CounterExampleFound):
            search()
        # Hypothesis draws again for a point outside the hypotheses, so all that it asked for was used.
        return _agreement(self.name, found, len(found), self.tolerance)


def _agreement(check: str, found: list[tuple[Violation, str]], asked: int, tolerance: Tolerance) -> Agreement:
    """Sum up violations point by point; one that is not a number outweighs the others."""
    broken = [(v, where) for v, where in found if not v.error < float("inf")]
    worst, worst_at = (broken or [max(found, key=lambda f: f[0].error, default=(Violation(0.0, 0.0), "no point"))])[0]
    scale = min((v.scale for v, _ in found), default=float("inf"))
    return Agreement(
        check, len(found), worst.error, tolerance.value, worst_at, tolerance.reason, asked, tolerance.value * scale
    )


class CounterExampleFound(AssertionError):
    """Raised inside a search to stop it; never leaves this module."""


def violation(statement: sp.Basic, point: Point, measure: Measure, functions: FunctionsAt | None) -> Violation | None:
    """By how much a relation, or the worst part of a conjunction, fails at a point; None outside the hypotheses."""
    place = _measured(measure, functions, tuple(point.items()))
    if place is None:
        return None
    parts = statement.args if isinstance(statement, sp.And) else (statement,)
    violations = [relation_violation(part, place) for part in parts]
    # Not a number is the worst of all; max() alone would lose it.
    return next((v for v in violations if math.isnan(v.error)), max(violations, key=lambda v: (v.error, v.margin)))


@lru_cache(maxsize=4096)
def _measured(
    measure: Measure, functions: FunctionsAt | None, coordinates: tuple[tuple[str, float | str], ...]
) -> Place | None:
    """What is measured at a point, once for a statement and all its mutants; None outside the hypotheses."""
    point = dict(coordinates)
    measured = measure(point)
    if measured is None:
        return None
    values = {k: v for k, v in point.items() if isinstance(v, float)} | dict(measured)
    return Place(values, functions(point) if functions else {})

"""Evidence from proofs: derivations, obligations, and theorems that the kernel makes and makes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.search.goals import follows
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Refused, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem, nodes
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.derivation import Derivation, Obligation, Step, Vanishing
from giantsteps.verify.checks.checker import settle, takes_limit, vanishes
from giantsteps.verify.checks.digest import digest
from giantsteps.verify.protocol.claim import Claim, Domain, Profile
from giantsteps.verify.protocol.conditions import IS_A_THEOREM, on_domain
from giantsteps.verify.protocol.evidence import Assumed, Evidence, Made, Outcome, Proof, Settled
from giantsteps.verify.protocol.paper import Paper


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
    """The statement as a theorem of the kernel, made from those of the derivation and replayed from its assumptions.

    None if the derivation has no such theorems, or if the statement does not follow.
    """
    found = sought(derivation, statement)
    return None if isinstance(found, str) else found


def sought(derivation: Derivation, statement: sp.Equality) -> Theorem | str:
    """What `concluded` finds, or why it finds none."""
    known = [derivation.known_theorem_of(symbol) for symbol in derivation.results if statement.has(symbol)]
    theorems = [theorem for theorem in known if theorem is not None]
    if not known or len(theorems) < len(known):
        return "no theorem of the derivation has a symbol of the statement on its left side"
    goal = Equation(statement.lhs, statement.rhs)
    found = follows(goal, theorems)
    if found is None:
        return "the statement does not follow from the theorems of the derivation by algebra"
    for assumed in found.assumptions:
        if states(assumed, goal):
            return f"the assumption {assumed.name!r} is the statement itself; derive it from weaker ones"
    try:
        again = established(found)
    except Refused as refused:
        return f"the kernel refuses its theorem: {refused}"
    return again if again.statement == goal else "the theorem states it in another form"


def states(assumed: Assumption, goal: Equation) -> bool:
    """Whether an assumption is, up to algebra, the statement to prove: then nothing is proved."""
    if assumed.is_lemma or not isinstance(assumed.statement, Equation):
        return False
    said, asked = (e.left - e.right for e in (assumed.statement, goal))
    if said.free_symbols != asked.free_symbols:
        return False
    return any(vanishing(said - sign * asked, (said, asked)) is not None for sign in (1, -1))


def made(*theorems: Theorem) -> Made:
    """The assumptions and rules of theorems, as the ledger keeps them."""
    assumptions = frozenset().union(*(theorem.assumptions for theorem in theorems))
    listed = sorted(map(_assumed, assumptions), key=lambda one: (one.kind, one.name, one.statement))
    rules = Counter(node.rule for theorem in theorems for node in nodes(theorem))
    return Made(tuple(listed), tuple(sorted(rules.items())), tuple(map(digest, theorems)))


@lru_cache(maxsize=4096)
def _assumed(assumption: Assumption) -> Assumed:
    from giantsteps.derivations.language.rendering import latex

    left, right = map(latex, sides(assumption.statement))
    match assumption.statement:
        case Tends(variable=variable):
            statement = rf"\lim_{{{latex(variable)} \to \infty}} {left} = {right}"
        case AtLeast():
            statement = rf"{left} \geq {right}"
        case _:
            statement = f"{left} = {right}"
    return Assumed(assumption.name, assumption.ground.value, statement, assumption.reference)


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
        established(step.theorem)
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
    """The statement is a theorem: the kernel makes it, and replays it from its assumptions.

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
        theorem = established(self.build(statement))
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

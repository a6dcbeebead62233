"""The ways of getting evidence, each a function of the statement it is asked about."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import hypothesis
import sympy as sp

from derivations.derivation import Derivation, Obligation, Vanishing
from verify.checker import sample, settle
from verify.claim import Claim, Domain, Profile
from verify.evaluate import Functions, evaluate
from verify.evidence import Agreement, Evidence, Outcome, Proof, Settled
from verify.strategies import points_of
from verify.tolerances import Tolerance

Point = Mapping[str, float | str]


@dataclass(frozen=True)
class ByDerivation:
    """The statement follows from a derivation: its steps hold, and its results make the statement an identity.

    ``build`` returns the derivation. Every symbol of the statement that the derivation establishes is replaced by what
    was derived for it; the difference of the two sides must then vanish.
    """

    build: Callable[[], Derivation]
    takes_limit: bool = False

    @property
    def name(self) -> str:
        return f"derivation: {self.build().title}"

    def run(self, claim: Claim, profile: Profile) -> Evidence:
        derivation = self.build()
        statement = claim.statement
        if not isinstance(statement, sp.Equality):
            raise TypeError(f"{claim.id}: a derivation proves an equation, not {statement}")
        derived = {s: e for s, e in derivation.results.items() if statement.has(s)}
        residual = (statement.lhs - statement.rhs).xreplace(derived)
        steps = tuple(_settled(derivation, claim.domain))
        if not derived:
            final = Settled("the statement speaks of what was derived", Outcome.UNDECIDED, "no symbol in common")
        else:
            final = settle(Vanishing("the statement equals what was derived", residual), claim.domain)
        return Proof(self.name, (*steps, final), self.takes_limit, derivation.hypotheses)


@lru_cache(maxsize=256)
def _settled(derivation: Derivation, domain: Domain) -> tuple[Settled, ...]:
    return tuple(settle(obligation, domain) for obligation in derivation.obligations)


@dataclass(frozen=True)
class ByObligations:
    """The statement is proved by obligations computed from the statement itself."""

    title: str
    obligations: Callable[[sp.Basic], tuple[Obligation, ...]]
    takes_limit: bool = False
    hypotheses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"proof: {self.title}"

    def run(self, claim: Claim, profile: Profile) -> Evidence:
        settled = tuple(settle(o, claim.domain) for o in self.obligations(claim.statement))
        return Proof(self.name, settled, self.takes_limit, self.hypotheses)


@dataclass(frozen=True)
class ByNumbers:
    """Two independent computations agree at sampled points of the domain.

    ``measure`` takes a point and returns numbers for symbols of the statement, computed from definitions by code that
    shares nothing with the derivation; the statement is evaluated with the point and these numbers. A point for which
    ``measure`` returns None lies outside the hypotheses and is not counted. ``functions`` gives the implementations of
    undefined functions at the point.
    """

    title: str
    measure: Callable[[Point], Mapping[str, float] | None]
    tolerance: Tolerance
    functions: Callable[[Point], Functions] | None = None
    points: int | None = None

    @property
    def name(self) -> str:
        return f"numbers: {self.title}"

    def run(self, claim: Claim, profile: Profile) -> Evidence:
        generator = random.Random(f"{claim.id.split('~')[0]}/{self.title}")
        worst, worst_at, counted = 0.0, "no point", 0
        for _ in range(self.points or profile.points):
            point = sample(claim.domain, generator)
            error = violation(claim.statement, point, self.measure, self.functions)
            if error is None:
                continue
            counted += 1
            if not error <= worst:  # also true for a value that is not a number
                worst, worst_at = error, describe(point)
            if worst > self.tolerance.value:
                break
        return Agreement(self.name, counted, worst, self.tolerance.value, worst_at, self.tolerance.reason)


@dataclass(frozen=True)
class BySearch:
    """A property that has to hold all over the domain: Hypothesis searches for a counterexample and shrinks it.

    Seeds are derived from the property, not from the clock: the same search runs every time.
    """

    title: str
    measure: Callable[[Point], Mapping[str, float] | None]
    tolerance: Tolerance
    functions: Callable[[Point], Functions] | None = None

    @property
    def name(self) -> str:
        return f"search for a counterexample: {self.title}"

    def run(self, claim: Claim, profile: Profile) -> Evidence:
        errors: list[tuple[float, str]] = []
        failed: list[tuple[float, str]] = []

        def property_holds(point: Point) -> None:
            error = violation(claim.statement, point, self.measure, self.functions)
            hypothesis.assume(error is not None)
            assert error is not None
            errors.append((error, describe(point)))
            if not error <= self.tolerance.value:
                failed.append(errors[-1])
                raise CounterExampleFound

        search = hypothesis.settings(
            max_examples=profile.examples,
            derandomize=True,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=(hypothesis.Phase.generate,),
        )(hypothesis.given(points_of(claim.domain))(property_holds))
        try:
            search()
        except CounterExampleFound:
            worst, worst_at = failed[-1]
        else:
            worst, worst_at = max(errors, default=(0.0, "no point"))
        return Agreement(self.name, len(errors), worst, self.tolerance.value, worst_at, self.tolerance.reason)


class CounterExampleFound(AssertionError):
    """Raised inside a search to stop it; never leaves this module."""


def violation(
    statement: sp.Basic,
    point: Point,
    measure: Callable[[Point], Mapping[str, float] | None],
    functions: Callable[[Point], Functions] | None = None,
) -> float | None:
    """By how much a relation fails at a point, relative to the size of its sides; None outside the hypotheses."""
    measured = measure(point)
    if measured is None:
        return None
    values = {k: v for k, v in point.items() if isinstance(v, float)} | dict(measured)
    implementations = functions(point) if functions else {}
    if isinstance(statement, sp.And):
        return max(_one_violation(part, values, implementations) for part in statement.args)
    return _one_violation(statement, values, implementations)


def _one_violation(relation: sp.Basic, values: Mapping[str, float], functions: Functions) -> float:
    left, right = (evaluate(side, values, functions) for side in relation.args)
    size = max(abs(left), abs(right), 1e-3)  # below 1e-3 errors are absolute: quantities here are of order one
    match relation:
        case sp.Equality():
            return abs(left - right) / size
        case sp.LessThan() | sp.StrictLessThan():
            return max(0.0, left - right) / size if left == left and right == right else float("nan")
        case sp.GreaterThan() | sp.StrictGreaterThan():
            return max(0.0, right - left) / size if left == left and right == right else float("nan")
    raise TypeError(f"not a relation: {relation}")


def describe(point: Point) -> str:
    """A point as text, four digits per number."""
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in point.items())

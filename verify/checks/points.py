"""Evidence from points of a claim's domain: two computations compared, and searches for a counterexample."""

from __future__ import annotations

import contextlib
import math
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy as sp

from giantsteps.verify.checks.checker import sample
from giantsteps.verify.checks.evaluate import Functions, Place, Violation, describe, relation_violation
from giantsteps.verify.protocol.claim import Claim, Profile
from giantsteps.verify.protocol.evidence import Agreement, Evidence
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.tolerances import Tolerance

Point = Mapping[str, float | str]
Measure = Callable[[Point], Mapping[str, float] | None]
FunctionsAt = Callable[[Point], Functions]


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


@dataclass(frozen=True)
class ByTheorem(ByNumbers):
    """The theorem, computed: the statement at the solution of the theorems that derive it, with what it determines, its
    left side, from the solver.

    ``measure`` takes the symbols that are the solver's as well.
    """

    measure: Callable[..., Mapping[str, float] | None]

    @property
    def name(self) -> str:
        return f"theorem computed: {self.title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        return ByNumbers.run(self._of(claim), claim, profile, paper)

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where the statement is tested, with what was measured there."""
        return ByNumbers.places(self._of(claim), claim, profile)

    def _of(self, claim: Claim) -> ByTheorem:
        left = frozenset(symbol.name for symbol in claim.statement.args[0].free_symbols)
        return replace(self, measure=_Kept(self.measure, left))


@dataclass(frozen=True)
class _Kept:
    """A measure of points with what is the solver's."""

    measure: Callable[..., Mapping[str, float] | None]
    kept: frozenset[str]

    def __call__(self, point: Point) -> Mapping[str, float] | None:
        return self.measure(point, self.kept)


# From so many examples on the search also climbs towards the narrowest margin: a dozen are better drawn from all over.
_TO_CLIMB = 40


@dataclass(frozen=True)
class BySearch:
    """A property that has to hold all over the domain: Hypothesis searches for a counterexample.

    The search is derived from the names of claim and check, neither from the clock nor from the code: the same one runs
    every time, for a claim and for its mutants. ``examples``: at least so many, where few of them tell.
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

        from giantsteps.verify.checks.strategies import points_of

        found: list[tuple[Violation, str]] = []
        outside = 0
        draw, climb = hypothesis.Phase.generate, hypothesis.Phase.target
        examples = max(profile.examples, self.examples)
        phases = (draw, climb) if examples >= _TO_CLIMB else (draw,)
        seed = zlib.crc32(f"{claim.id.split('~')[0]}/{self.title}/{profile.seed}".encode())

        def property_holds(point: Point) -> None:
            nonlocal outside
            violated = violation(claim.statement, point, self.measure, self.functions)
            if violated is None:
                outside += 1
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
        with contextlib.suppress(CounterExampleFound, hypothesis.errors.Unsatisfiable):
            search()
        # Hypothesis draws again for a point outside the hypotheses, and ends early where the domain has no more points,
        # or where hardly any is inside: then what was asked for was not used.
        asked = examples if outside > len(found) else len(found)
        return _agreement(self.name, found, asked, self.tolerance)


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

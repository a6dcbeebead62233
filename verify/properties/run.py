"""The search: every property on its draws, directed towards its narrowest margin; what fails is shrunk."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

from giantsteps.verify.properties.property import REFUSALS, THEORY, Property, Theory, listed
from giantsteps.verify.properties.themes import (
    averages,
    consistency,
    invariances,
    language,
    limits,
    orderings,
    positivity,
    simulation,
    state_machines,
)

THEMES = (limits, orderings, invariances, positivity, consistency, averages, language, simulation, state_machines)
PROPERTIES: tuple[Property, ...] = tuple(one for theme in THEMES for one in listed(vars(theme)))
BY_NAME = {one.name: one for one in PROPERTIES}
# How many times the examples of the quick profile: the thorough one draws some 10^5 in all.
TIMES = {"quick": 1, "ci": 4, "thorough": 44}
SEED = 0
# What is raised beside a refusal is a failure of its own: no drawn model may end in a traceback.
CRASHES = (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, AssertionError, Warning)


class Violated(AssertionError):
    """A margin below zero; never leaves this module."""


@dataclass
class Search:
    """What a search has seen: examples decided, the narrowest margin, and the last example that failed."""

    examples: int = 0
    narrowest: float = math.inf
    failing: tuple[Any, str] | None = None

    def note(self, example: Any, margin: float, crash: str = "") -> None:
        """Count an example. Raises Violated for a margin below zero."""
        self.examples += 1
        self.narrowest = min(self.narrowest, margin)
        if not margin >= 0.0:
            self.failing = example, crash or f"the margin is {margin:.3g}"
            raise Violated(self.failing[1])


@dataclass(frozen=True)
class Outcome:
    """What a search found: "holds", "fails" with the command that shows it, or "undecided" where nothing was tried."""

    name: str
    sentence: str
    claim: str
    examples: int
    narrowest_margin: float | None
    outcome: str
    counterexample: str | None = None
    trouble: str = ""


def search(
    one: Property,
    examples: int,
    seed: int = SEED,
    theory: Theory = THEORY,
    *,
    shrunk: bool = True,
) -> Outcome:
    """Try a property on so many examples, and the smallest that violates it where one does."""
    found = Search()
    phases = (Phase.generate, Phase.target, *((Phase.shrink,) if shrunk else ()))
    chosen = hypothesis.settings(
        max_examples=examples, database=None, deadline=None, derandomize=False, report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck), phases=phases, print_blob=False,
    )  # fmt: skip

    def tried(example: Any) -> None:
        try:
            margin = one.margin(example, theory)
        except REFUSALS:
            hypothesis.reject()
        except CRASHES as error:
            found.note(example, -math.inf, f"{type(error).__name__}: {error}")
            return
        if math.isfinite(margin):
            hypothesis.target(-margin)
        found.note(example, margin)

    with suppress(Violated, hypothesis.errors.Unsatisfiable):
        hypothesis.seed(seed)(chosen(hypothesis.given(one.drawn)(tried)))()
    margin = found.narrowest if math.isfinite(found.narrowest) else None
    about = one.name, one.sentence, one.claim, found.examples, margin
    if found.failing is None:
        return Outcome(*about, "holds" if found.examples else "undecided")
    example, trouble = found.failing
    return Outcome(*about, "fails", one.shown(example).replace("{seed}", str(seed)), trouble)


def run(
    names: Sequence[str],
    profile: str,
    seed: int = SEED,
    executor: Executor | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Outcome]:
    """Search these properties under a profile, in any executor; `progress` hears the name of each at its end."""
    if executor is None:
        found = []
        for name in names:
            found.append(searched(name, profile, seed))
            progress(name)
        return found
    # What takes longest begins first.
    order = sorted(names, key=lambda name: BY_NAME[name].examples)
    futures = {executor.submit(searched, name, profile, seed): name for name in order}
    for future in as_completed(futures):
        progress(futures[future])
    results = {name: future.result() for future, name in futures.items()}
    return [results[name] for name in names]


def searched(name: str, profile: str, seed: int) -> Outcome:
    """Search one property, by name: what another process can be asked for."""
    return search(BY_NAME[name], TIMES[profile] * BY_NAME[name].examples, seed)


def named(text: str) -> list[str]:
    """The names that begin so; none where none does."""
    return [name for name in BY_NAME if name.startswith(text.strip())]


def meant(text: str) -> list[str]:
    """The nearest names to one that is unknown."""
    inside = [name for name in BY_NAME if text.strip() and text.strip() in name]
    return inside[:3] or get_close_matches(text, BY_NAME, n=3, cutoff=0.3) or list(BY_NAME)[:1]

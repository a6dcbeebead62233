"""Planting errors in the derivations of a network's bulk: what the tests of one readout group and of several share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from onestep.verify.checks.simulation import BySimulation
from onestep.verify.protocol.claim import Claim


class Cached(Protocol):
    """A derivation that is built once."""

    def cache_clear(self) -> None:
        """Forget it."""


def clearing(builds: Iterable[Cached]) -> Iterator[Callable[[], None]]:
    """Yields what clears the caches of the derivations; they are cleared before and after as well."""

    def clear() -> None:
        for build in builds:
            build.cache_clear()

    clear()
    yield clear
    clear()


def without_simulation(claim: Claim) -> Claim:
    """The claim with its other checks only."""
    return replace(claim, checks=tuple(c for c in claim.checks if not isinstance(c, BySimulation)))

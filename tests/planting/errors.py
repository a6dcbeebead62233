"""Planting errors in derivations: a wrong rule goes in, and claims have to fall."""

from __future__ import annotations

import functools
import gc
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

import pytest

from giantsteps.derivations.kernel.statements import Refused
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations, ByTheorem
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.saddle_point.systems import ByDerivations
from giantsteps.verify.closed_forms.proof import ByClosedForm, ByHeatEquation
from giantsteps.verify.protocol.claim import PROFILES, Claim
from giantsteps.verify.protocol.evidence import Evidence
from giantsteps.verify.protocol.verdict import Verdict, decide

PROOFS = (ByDerivation, ByDerivations, ByObligations, ByTheorem, ByClosedForm, ByHeatEquation)
# Where what follows from a rule is kept.
_ROOMS = ("giantsteps.derivations.", "giantsteps.verify.closed_forms.")


@dataclass(frozen=True)
class Plant:
    """An error: ``wrong`` makes, of the right rule of a module, what stands in its place; the claims ``ids`` fall."""

    module: ModuleType
    rule: str
    wrong: Callable[[Any], object]
    ids: tuple[str, ...]

    @property
    def name(self) -> str:
        """Where the error is."""
        return f"{self.module.__name__.rpartition('.')[2]}.{self.rule}"


@contextmanager
def planted(module: ModuleType, rule: str, wrong: object) -> Iterator[None]:
    """``wrong`` in place of a rule, with fresh derivations before and after wherever the module is used."""
    _forget(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, rule, wrong)
        yield
    _forget(module)


_Found = TypeVar("_Found")


def apart(work: Callable[[], _Found]) -> _Found:
    """``work()`` of a copy of this process, which ends with it: what this process has built it keeps, and whatever the
    copy forgets and builds again is gone.

    Where processes cannot be copied the work is done here; so is what went wrong there, for the test to see.
    """
    if not hasattr(os, "fork"):
        return work()
    _uses(frozenset(_rooms()))
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Threads are not copied: those of a test runner wait for messages and hold nothing that the work needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        gc.freeze()  # what was there before is not searched for garbage: that would copy all of it
        try:
            message = pickle.dumps(work())
            with os.fdopen(writing, "wb") as stream:
                stream.write(message)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        message = stream.read()
    os.waitpid(child, 0)
    found: _Found = pickle.loads(message) if message else work()
    return found


def _forget(module: ModuleType) -> None:
    """Clears the caches of a module and of all that import it, directly or not."""
    modules = _rooms()
    uses = _uses(frozenset(modules))
    reached: set[str] = {module.__name__}
    while more := {name for name in modules if name not in reached and uses[name] & reached}:
        reached |= more
    for name in reached:
        for value in tuple(vars(modules[name]).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def _rooms() -> dict[str, ModuleType]:
    """The modules that are loaded where what follows from a rule is kept."""
    return {name: found for name, found in tuple(sys.modules.items()) if name.startswith(_ROOMS)}


@functools.cache
def _uses(names: frozenset[str]) -> dict[str, set[str | None]]:
    """What each of these modules has of others. Known before a process is copied it is known to the copies."""
    return {name: {_home(value) for value in vars(sys.modules[name]).values()} for name in names}


def _home(value: object) -> str | None:
    """The module that a value is, or that defines it."""
    return value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)


def proofs_of(claim: Claim) -> list[Evidence]:
    """What the proofs of a claim find."""
    return [check.run(claim, PROFILES["quick"], PAPER) for check in claim.checks if isinstance(check, PROOFS)]


def verdict_by_proof(claim: Claim) -> Verdict:
    """The verdict that the proofs of a claim earn; one that the kernel refuses to make has fallen."""
    try:
        return decide(claim.kind, proofs_of(claim))
    except Refused:
        return Verdict.REFUTED

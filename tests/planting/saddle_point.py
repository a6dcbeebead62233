"""Planting errors in the derivations of Sections 3.3 and 4.3: a wrong rule goes in, and claims have to fall."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from onestep.derivations.bounds import closed_form as bounds_closed_form
from onestep.derivations.bounds import ridge as bounds
from onestep.derivations.bulk import marchenko_pastur
from onestep.derivations.free_energy import convex_loss, dropped_terms, replicas, sample_energy
from onestep.derivations.free_energy import ridge as free_energy
from onestep.derivations.language import replica_gaussians
from onestep.derivations.saddle_point import any_law as spectral
from onestep.derivations.saddle_point import conventions as invariances
from onestep.derivations.saddle_point import equations as saddle_point
from onestep.derivations.saddle_point import leave_one_out, normalisations
from onestep.derivations.saddle_point.random_features import no_spike as random_features
from tests.planting.errors import verdict_by_proof

__all__ = ["planting", "verdict_by_proof"]

_DERIVATIONS: tuple[ModuleType, ...] = (
    sample_energy,
    free_energy,
    marchenko_pastur,
    saddle_point,
    normalisations,
    bounds,
    bounds_closed_form,
    random_features,
    invariances,
    replica_gaussians,
    replicas,
    convex_loss,
    leave_one_out,
    spectral,
    dropped_terms,
)


def clear_caches() -> None:
    """Forget every derivation that was built."""
    for module in _DERIVATIONS:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The monkeypatch of a test, with fresh derivations before and after."""
    clear_caches()
    yield monkeypatch
    monkeypatch.undo()
    clear_caches()

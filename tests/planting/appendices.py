"""Planting errors in the derivations of Appendices D and F: a wrong rule goes in, and claims have to fall."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from onestep.derivations.bulk import blocks as block_equivalent
from onestep.derivations.free_energy import ridge as free_energy
from onestep.derivations.free_energy import sample_energy
from onestep.derivations.language import replica_gaussians
from onestep.derivations.saddle_point import letters as readout_features
from onestep.derivations.saddle_point import letters as readout_groups
from onestep.derivations.saddle_point import orthogonal_bulk
from onestep.derivations.spectrum import feature_covariance
from onestep.derivations.spectrum import resolvent as spectrum
from tests.planting.errors import verdict_by_proof

__all__ = ["planting", "verdict_by_proof"]

_DERIVATIONS: tuple[ModuleType, ...] = (
    block_equivalent,
    feature_covariance,
    free_energy,
    orthogonal_bulk,
    readout_features,
    readout_groups,
    replica_gaussians,
    sample_energy,
    spectrum,
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

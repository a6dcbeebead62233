"""Planting errors in derivations: a wrong rule goes in, and claims have to fall."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from onestep.derivations.closed_forms import sign_activation
from onestep.derivations.equivalence import conditional as equivalence
from onestep.derivations.equivalence import spike_coefficients
from onestep.derivations.free_energy import readout_normalisation
from onestep.derivations.gradient_step import bulk as gradient_bulk
from onestep.derivations.gradient_step import constants as gradient_constants
from onestep.derivations.gradient_step import spike as gradient_step
from onestep.verify.checks.kinds import ByDerivation, ByObligations
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.claim import PROFILES, Claim
from onestep.verify.protocol.evidence import Proof
from onestep.verify.protocol.verdict import Verdict, decide

_DERIVATIONS: tuple[ModuleType, ...] = (
    equivalence,
    gradient_bulk,
    gradient_constants,
    gradient_step,
    readout_normalisation,
    sign_activation,
    spike_coefficients,
)


def clear_caches() -> None:
    """Forget every derivation that was built."""
    for module in _DERIVATIONS:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def verdict_by_proof(claim: Claim) -> Verdict:
    """The verdict that the proofs of a claim earn; its numbers and simulations, if any, are taken to agree."""
    proofs = [check for check in claim.checks if isinstance(check, ByDerivation | ByObligations)]
    found = [check.run(claim, PROFILES["quick"], PAPER) for check in proofs]
    if len(proofs) < len(claim.checks):  # a proof beside which independent evidence stands
        found = [replace(e, established=True) if isinstance(e, Proof) else e for e in found]
    return decide(claim.kind, found)


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> object:
    """The monkeypatch of a test, with fresh derivations before and after."""
    clear_caches()
    yield monkeypatch
    monkeypatch.undo()
    clear_caches()

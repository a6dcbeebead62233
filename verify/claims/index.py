"""All claims: one module per part of the paper, in the order of the paper."""

from __future__ import annotations

import importlib
from functools import lru_cache

from verify.protocol.claim import Claim
from verify.protocol.order import LedgerError, ordered

# One module per part of the paper, in the order of the paper.
MODULES = (
    "verify.claims.gradient_step.setting",
    "verify.claims.gradient_step.result_3_1",
    "verify.claims.equivalence.hermite_orders",
    "verify.claims.gradient_step.spike",
    "verify.claims.gradient_step.bulk",
    "verify.claims.equivalence.result_3_2",
    "verify.claims.equivalence.appendix_b",
    "verify.claims.equivalence.sign_activation",
    "verify.claims.slides.step",
    "verify.claims.saddle_point.definitions",
    "verify.claims.saddle_point.replicas",
    "verify.claims.saddle_point.result_3_3",
    "verify.claims.saddle_point.worked_value",
    "verify.claims.saddle_point.free_energy",
    "verify.claims.saddle_point.any_loss",
    "verify.claims.saddle_point.dropped_terms",
    "verify.claims.saddle_point.leave_one_out",
    "verify.claims.saddle_point.spectral_measure",
    "verify.claims.slides.saddle_point",
    "verify.claims.random_features.no_spike",
    "verify.claims.slides.features",
    "verify.claims.slides.convex",
    "verify.claims.random_features.any_loss",
    "verify.claims.slides.result",
    "verify.claims.slides.map",
    "verify.claims.slides.orders",
    "verify.claims.bounds.ridge",
    "verify.claims.bounds.any_loss",
    "verify.claims.slides.bounds",
    "verify.claims.bounds.closed_form",
    "verify.claims.letters.uniform_bias",
    "verify.claims.bounds.tanh_tails",
    "verify.claims.equivalence.closed_forms",
    "verify.claims.random_features.limits",
    "verify.claims.networks.rows",
    "verify.claims.networks.bulk",
    "verify.claims.gradient_step.overlapping_rows",
    "verify.claims.gradient_step.overlapping_bulk",
    "verify.claims.letters.free_energy",
    "verify.claims.letters.saddle_point",
    "verify.claims.letters.orthogonal",
    "verify.claims.letters.letter_density",
    "verify.claims.networks.letters",
    "verify.claims.networks.exact",
    "verify.claims.networks.readout",
    "verify.claims.letters.letter_limit",
    "verify.claims.letters.spike_directions",
    "verify.claims.spectrum.covariance",
    "verify.claims.spectrum.log_determinant",
    "verify.claims.equivalence.plain",
    "verify.claims.gradient_step.leap",
    "verify.claims.gradient_step.leap_theorem",
    "verify.claims.gradient_step.rate",
)


@lru_cache(maxsize=1)
def all_claims() -> tuple[Claim, ...]:
    """Every claim of every module, in the order of the paper. Raises LedgerError if they do not form a ledger."""
    claims = tuple(claim for module in MODULES for claim in claims_of(module))
    by_id = {claim.id: claim for claim in claims}
    if len(by_id) != len(claims):
        repeated = sorted({c.id for c in claims if sum(d.id == c.id for d in claims) > 1})
        raise LedgerError(f"two claims share an id: {', '.join(repeated)}")
    for claim in claims:
        for used in claim.uses:
            if used not in by_id:
                raise LedgerError(f"{claim.id} rests on {used}, which is no claim")
    ordered(claims)
    return claims


def claims_of(module: str) -> tuple[Claim, ...]:
    """The claims that one module states."""
    found: tuple[Claim, ...] = importlib.import_module(module).CLAIMS
    return found

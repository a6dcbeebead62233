"""All claims: one module per part of the paper, in the order of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import lru_cache

from verify.ledger.run import Ledger, run
from verify.protocol.claim import Claim
from verify.protocol.order import collected

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
    return collected(MODULES)


def run_ledger(
    profile_name: str,
    ids: Iterable[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Ledger:
    """Run the ledger, or the claims ``ids`` with all they rest on. Raises LedgerError for an unknown id."""
    return run(MODULES, profile_name, ids, executor, progress)

"""All claims: one module per part of the paper, in the order of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import lru_cache

from onestep.verify.ledger.run import Ledger, run
from onestep.verify.protocol.claim import Claim
from onestep.verify.protocol.order import collected

# One module per part of the paper, in the order of the paper.
MODULES = (
    "onestep.verify.claims.gradient_step.setting",
    "onestep.verify.claims.gradient_step.result_3_1",
    "onestep.verify.claims.equivalence.hermite_orders",
    "onestep.verify.claims.gradient_step.spike",
    "onestep.verify.claims.gradient_step.bulk",
    "onestep.verify.claims.equivalence.result_3_2",
    "onestep.verify.claims.equivalence.appendix_b",
    "onestep.verify.claims.equivalence.sign_activation",
    "onestep.verify.claims.slides.step",
    "onestep.verify.claims.saddle_point.definitions",
    "onestep.verify.claims.saddle_point.replicas",
    "onestep.verify.claims.saddle_point.result_3_3",
    "onestep.verify.claims.saddle_point.worked_value",
    "onestep.verify.claims.saddle_point.free_energy",
    "onestep.verify.claims.saddle_point.any_loss",
    "onestep.verify.claims.saddle_point.dropped_terms",
    "onestep.verify.claims.saddle_point.leave_one_out",
    "onestep.verify.claims.saddle_point.spectral_measure",
    "onestep.verify.claims.slides.saddle_point",
    "onestep.verify.claims.random_features.no_spike",
    "onestep.verify.claims.slides.features",
    "onestep.verify.claims.slides.convex",
    "onestep.verify.claims.random_features.any_loss",
    "onestep.verify.claims.slides.result",
    "onestep.verify.claims.slides.map",
    "onestep.verify.claims.slides.orders",
    "onestep.verify.claims.bounds.ridge",
    "onestep.verify.claims.bounds.any_loss",
    "onestep.verify.claims.slides.bounds",
    "onestep.verify.claims.bounds.closed_form",
    "onestep.verify.claims.letters.uniform_bias",
    "onestep.verify.claims.bounds.tanh_tails",
    "onestep.verify.claims.equivalence.closed_forms",
    "onestep.verify.claims.random_features.limits",
    "onestep.verify.claims.networks.rows",
    "onestep.verify.claims.networks.bulk",
    "onestep.verify.claims.gradient_step.overlapping_rows",
    "onestep.verify.claims.gradient_step.overlapping_bulk",
    "onestep.verify.claims.letters.free_energy",
    "onestep.verify.claims.letters.saddle_point",
    "onestep.verify.claims.letters.orthogonal",
    "onestep.verify.claims.letters.letter_density",
    "onestep.verify.claims.networks.letters",
    "onestep.verify.claims.networks.exact",
    "onestep.verify.claims.networks.readout",
    "onestep.verify.claims.letters.letter_limit",
    "onestep.verify.claims.letters.spike_directions",
    "onestep.verify.claims.spectrum.covariance",
    "onestep.verify.claims.spectrum.log_determinant",
    "onestep.verify.claims.equivalence.plain",
    "onestep.verify.claims.gradient_step.leap",
    "onestep.verify.claims.gradient_step.leap_theorem",
    "onestep.verify.claims.gradient_step.rate",
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

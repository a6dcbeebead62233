"""The claims on a network's bulk with a vocabulary: verdicts and mutants.

The simulations run with the ledger; here one of them does, and the other checks of every claim.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.index import all_claims, examine
from giantsteps.verify.claims.networks import exact as network_groups_exact
from giantsteps.verify.claims.networks import letters as network_groups
from giantsteps.verify.claims.networks import readout as network_groups_saddle
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Kind
from giantsteps.verify.protocol.verdict import Verdict
from tests.planting.errors import without_simulation

CLAIMS = (*network_groups.CLAIMS, *network_groups_exact.CLAIMS, *network_groups_saddle.CLAIMS)
BY_ID = {claim.id.removeprefix("beyond.groups."): claim for claim in CLAIMS}
# One claim for every derivation and sort of check.
FAST = (
    "norm-along-spike",
    "V1-mixed",
    "log-determinant",
    "overlap-own",
    "norms-own",
    "q1",
    "network-norm",
    "isotropic-target",
    "equal-letters",
    "pole-2",
    "pole-form",
    "V2-by-filter",
    "third-function",
    "readout-mean",
    "norm-overlap",
    "training-error",
    "floor",
)


def test_the_ledger_has_them_under_one_prefix() -> None:
    assert {claim.id for claim in CLAIMS} <= {claim.id for claim in all_claims()}
    assert all(claim.id.startswith("beyond.groups.") for claim in CLAIMS)


def test_every_limit_is_measured_at_finite_size() -> None:
    limits = [claim for claim in CLAIMS if claim.kind is Kind.LIMIT]
    assert [c.id for c in limits if not any(isinstance(check, BySimulation) for check in c.checks)] == []


def assert_verdict_and_mutants(name: str) -> None:
    """Without simulations: the verdict that the other checks earn, and at least two mutants, all refuted."""
    claim = BY_ID[name]
    verdict, evidence, mutants, _ = examine(without_simulation(claim), "quick")
    # A second formula of a limit confirms nothing.
    expected = {Verdict.INCONCLUSIVE} if claim.kind is Kind.LIMIT else {Verdict.PROVED, Verdict.DERIVED}
    assert verdict in expected, [e.summary for e in evidence]
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []


@pytest.mark.parametrize("name", FAST)
def test_verdict_and_mutants(name: str) -> None:
    assert_verdict_and_mutants(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in BY_ID if name not in FAST])
def test_verdict_and_mutants_of_their_siblings(name: str) -> None:
    assert_verdict_and_mutants(name)


def test_a_simulation_confirms() -> None:
    # Seeded: the protocol's false-alarm rate is 1e-3, met once when the seeds were chosen.
    claim = BY_ID["V2-by-filter"]
    (check,) = (c for c in claim.checks if isinstance(c, BySimulation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome == "supports"


# What simulation alone confirms, and has to refute four of five wrong neighbours, five per cent more among them.
ALONE = (
    "norm-along-target", "norm-along-spike", "norm-variance", "overlap-norm-own", "overlap-norm-mixed", "norms-mixed",
    "q1", "q2", "network-spike", "network-spike-norm", "readout-mean", "test-error", "training-error",
)  # fmt: skip


def assert_confirmed_alone(name: str) -> None:
    # Seeded: the protocol's false-alarm rate is 1e-3, met once when the seeds were chosen.
    claim = BY_ID[name]
    simulated = tuple(c for c in claim.checks if isinstance(c, BySimulation))
    assert examine(replace(claim, checks=simulated), "quick").verdict is Verdict.CONFIRMED


def test_drawn_rows_alone_confirm_and_refute_enough() -> None:
    assert_confirmed_alone("norms-own")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALONE)
def test_simulation_alone_confirms_and_refutes_enough(name: str) -> None:
    assert_confirmed_alone(name)

"""Appendix D: a spike left in an orthogonal bulk is refuted by exact algebra."""

from __future__ import annotations

from giantsteps.verify.claims.letters import free_energy as appendix_d
from giantsteps.verify.claims.letters import orthogonal as appendix_d_orthogonal
from giantsteps.verify.claims.letters import saddle_point as appendix_d_saddle
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Role
from giantsteps.verify.protocol.evidence import FiniteSize, Outcome
from giantsteps.verify.second_route.saddle_point.orthogonal.two_letters import exact

ALL = (*appendix_d.CLAIMS, *appendix_d_saddle.CLAIMS, *appendix_d_orthogonal.CLAIMS)


def test_leaving_the_spike_in_an_orthogonal_bulk_is_refuted() -> None:
    readings = [claim for claim in ALL if claim.role is Role.READING]
    assert len(readings) == 2
    for claim in readings:
        checks = [check for check in claim.checks if check is exact]
        assert len(checks) == 1  # the exact algebra of one finite bulk is enough, no simulation needed
        assert checks[0].run(claim, PROFILES["quick"], PAPER).outcome is Outcome.REFUTES


def test_the_simulation_of_two_letters_sees_less_than_its_nearest_wrong_neighbour() -> None:
    (claim,) = (claim for claim in appendix_d.CLAIMS if claim.id == "appendix-d.simulated-test-error")
    (check,) = claim.checks
    found = check.run(claim, PROFILES["quick"], PAPER)
    assert isinstance(found, FiniteSize)
    assert found.outcome is Outcome.SUPPORTS
    # Eight per cent more is the nearest: it has to be caught in 95 of 100 draws, not in this one.
    assert found.smallest_detectable < 0.08

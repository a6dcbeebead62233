"""The simulations of a network's own bulk: what each refutes alone, without a proof or the solver beside it.

A mutant that a simulation misses is a term of the theory that real networks never tested.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from onestep.derivations.bulk import symbols as s
from onestep.verify.checks.mutants import mutants_of
from onestep.verify.checks.simulation import BySimulation
from onestep.verify.claims.networks import bulk, rows
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.claim import PROFILES, Claim, Mutant
from onestep.verify.second_route.equivalence import twins
from onestep.verify.second_route.gradient_step.real import Drawn, batch_controls, steadied
from onestep.verify.second_route.grids import SMOOTH
from onestep.verify.second_route.networks import draws

NORMS = (rows.NORM_VARIANCE, rows.NORM_TARGET, rows.NORM_SPIKE)
ROWS = (rows.ROW_COVARIANCE, rows.GAUSSIAN_VARIANCE, rows.GAUSSIAN_SPIKE)


def assert_alone(claim: Claim) -> None:
    # Seeded: a right claim is refuted with a probability of 1e-3, met once when the seeds were chosen.
    (check,) = (c for c in claim.checks if isinstance(c, BySimulation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome == "supports"
    mutants = mutants_of(claim, PAPER.siblings)
    found = {m.name: check.run(claim.mutated(m), PROFILES["quick"], PAPER).outcome for m in mutants}
    assert [name for name, outcome in found.items() if outcome != "refutes"] == []


@pytest.mark.parametrize("claim", NORMS, ids=lambda claim: claim.id)
def test_every_term_of_h_and_of_the_norms_variance_alone(claim: Claim) -> None:
    assert_alone(claim)


@pytest.mark.thorough
@pytest.mark.parametrize("claim", ROWS, ids=lambda claim: claim.id)
def test_rows_alone(claim: Claim) -> None:
    assert_alone(claim)


@pytest.mark.thorough
@pytest.mark.parametrize("claim", bulk.OVERLAPS, ids=lambda claim: claim.id)
def test_a_fifth_of_every_overlap_alone(claim: Claim) -> None:
    (check,) = (c for c in claim.checks if isinstance(c, BySimulation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome == "supports"
    (less,) = (m for m in claim.mutants if m.name == "a fifth less")
    assert check.run(claim.mutated(less), PROFILES["quick"], PAPER).outcome == "refutes"


@pytest.mark.thorough
def test_real_networks_measure_the_overlap_of_spike_and_target() -> None:
    """Zero, the isotropic value, half of it and the other sign are refuted by networks, without drawn rows."""
    claim = next(c for c in bulk.OVERLAPS if c.id == "beyond.overlap-spike-target")
    *_, name = twins.spike_and_target(s.overlap_vp, PROFILES["ci"])
    check = BySimulation("networks alone", lambda q, profile: {name: twins.spike_and_target(q, profile)[name]})
    assert isinstance(claim.statement, sp.Equality)
    right = claim.statement.rhs
    for factor, outcome in ((1, "supports"), (0, "refutes"), (sp.Rational(1, 2), "refutes"), (-1, "refutes")):
        wrong = Mutant("scaled", sp.Eq(claim.statement.lhs, factor * right, evaluate=False))
        assert check.run(claim.mutated(wrong), PROFILES["ci"], PAPER).outcome == outcome


def test_statistics_are_polynomials_in_the_rate() -> None:
    for step in draws.ROW_MODELS.values():
        found, _ = draws.row_statistics(step, 20, 3, False)
        assert found == pytest.approx(draws.draw(step, 20, 3).covariances(), rel=1e-9)


def test_covariances_by_their_definition() -> None:
    generator = np.random.default_rng(5)
    drawn, batch = generator.standard_normal((7, 3)), np.array([0.3, -1.0, 0.5])
    drawn -= drawn.mean(axis=0)
    columns = np.stack([drawn[:, 0], drawn @ batch, np.sum(drawn**2, axis=1)])
    expected = 3 * np.cov(columns)  # over p - 1, as here
    found = Drawn(drawn, np.zeros(3), batch).covariances()
    assert found == pytest.approx((expected[0, 0], expected[0, 2], expected[1, 2], expected[2, 2]), rel=1e-12)


def test_controls_of_a_batch_have_mean_zero() -> None:
    """Over 1500 batches each mean lies within 4 standard errors: six of them fail together once in 2600 seeds."""
    generator = np.random.default_rng(11)
    found = []
    for _ in range(1500):
        x = generator.standard_normal((6, 4))
        found.append(batch_controls(x, SMOOTH["shifted sin"].value(x[:, 0]), SMOOTH["shifted sin"]))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(mean) < 4 * error)
    # Loose controls would pass: five per cent too much shows.
    assert np.all(error < 0.1)


def test_what_is_linear_in_controls_is_taken_off_without_bias() -> None:
    generator = np.random.default_rng(7)
    controls = generator.standard_normal((200, 3))
    noise = 1e-3 * generator.standard_normal(200)
    found = steadied(2.0 + controls @ np.array([1.0, -2.0, 0.5]) + noise, controls)
    assert found == pytest.approx(np.full(200, 2.0), abs=6e-3)
    # A sample has no part in its own coefficients: the value of one moves that one alone, or its half's partners.
    samples = 2.0 + noise
    moved = samples.copy()
    moved[0] += 1.0
    difference = steadied(moved, controls) - steadied(samples, controls)
    assert difference[0] == pytest.approx(1.0)
    assert difference[2::2] == pytest.approx(0.0)

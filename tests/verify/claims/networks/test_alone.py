"""The simulations of a network's own bulk: what networks refute without drawn rows, and controls of mean zero."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks import bulk
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Mutant
from giantsteps.verify.second_route.equivalence import twins
from giantsteps.verify.second_route.gradient_step.real import Drawn, batch_controls, steadied
from giantsteps.verify.second_route.grids import SMOOTH
from giantsteps.verify.second_route.networks import draws


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


def test_what_is_linear_in_controls_is_taken_off() -> None:
    generator = np.random.default_rng(7)
    controls = generator.standard_normal((18, 3))
    samples = 2.0 + controls @ np.array([1.0, -2.0, 0.5]) + 1e-3 * generator.standard_normal(18)
    found = steadied(samples, controls)
    # Mean and error are intercept and error of the ordinary regression, written out by its normal equations.
    design = np.column_stack([np.ones(18), controls])
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ samples
    variance = float(np.sum((samples - design @ fitted) ** 2)) / (18 - 4)
    assert len(found) == 15
    # Rounding: sums of a few dozen terms with condition numbers of order ten.
    assert found.mean() == pytest.approx(fitted[0], rel=1e-12)
    assert found.var(ddof=1) / 15 == pytest.approx(variance * inverse[0, 0], rel=1e-9)
    # Whatever the coefficients, and where the controls tell nothing apart.
    assert steadied(samples + controls @ np.array([3.0, 0.0, -5.0]), controls) == pytest.approx(found, abs=1e-12)
    assert steadied(np.arange(4.0), np.zeros((4, 1))).mean() == pytest.approx(2.0)
    plain = steadied(samples, np.zeros((18, 0)))
    assert (plain.mean(), plain.var()) == pytest.approx((samples.mean(), samples.var()))
    with pytest.raises(ValueError, match="18 samples leave no scatter beside 17 controls: 19 are needed"):
        steadied(samples, np.ones((18, 17)))


def test_fitted_controls_leave_the_false_alarm_rate_where_it_is() -> None:
    """Eighteen samples and six controls, at a level of one per cent: 3000 right means are refuted 30 times, by a
    binomial deviation of 5.4; four of them, so that one seed in 16,000 fails. With the seventeen degrees of freedom of
    samples without controls, and residuals that forget what was fitted, they are refuted 277 times.
    """
    from scipy.special import stdtrit

    generator = np.random.default_rng(13)
    critical, hits = float(stdtrit(11, 0.995)), 0
    for _ in range(3000):
        controls = generator.standard_normal((18, 6))
        found = steadied(controls @ np.arange(6.0) + generator.standard_normal(18), controls)
        hits += abs(found.mean()) > critical * found.std(ddof=1) / 12**0.5
    assert abs(hits - 30) < 4 * 5.4

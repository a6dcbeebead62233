"""Simulated evidence: the protocol meets the statement, and its mutants meet the same data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from derivations.symbols import alpha0, h1_star, h2_star
from tests.toy import LIMIT, claim, norm
from verify.claim import PROFILES, Profile
from verify.evidence import Outcome
from verify.ledger import examine
from verify.simulation_check import BySimulation, Measured
from verify.verdict import Verdict

QUICK = PROFILES["quick"]
VALUES = {alpha0.name: 2.0, h1_star.name: 0.7, h2_star.name: 1.0}
TRUTH = 0.7**2 + 0.5


def noisy(profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """The truth with an O(1/d) bias and O(1/sqrt d) noise: what a simulation looks like. One fixed stream."""
    rng = np.random.default_rng(7)
    return {
        "model": tuple(
            Measured(d, tuple(TRUTH + 3 / d + 0.2 / np.sqrt(d) * rng.standard_normal(8)), VALUES)
            for d in profile.dimensions
        )
    }


def test_a_right_prediction_is_supported_and_says_what_it_would_have_caught() -> None:
    evidence = BySimulation("toy", noisy).run(claim(), QUICK)
    assert evidence.outcome is Outcome.SUPPORTS
    assert 0 < evidence.smallest_detectable < 0.08


def test_every_mutant_is_refuted_by_the_simulation_alone() -> None:
    verdict, _, mutants = examine(claim(checks=(BySimulation("toy", noisy),)), "quick")
    assert verdict is Verdict.CONFIRMED
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_no_experiment_decides_nothing() -> None:
    evidence = BySimulation("toy", lambda profile: {}).run(claim(), QUICK)
    assert evidence.outcome is Outcome.UNDECIDED


def test_the_prediction_is_the_right_hand_side() -> None:
    shifted = claim(statement=sp.Eq(norm, LIMIT + sp.Rational(1, 10)))
    assert BySimulation("toy", noisy).run(shifted, QUICK).outcome is Outcome.REFUTES

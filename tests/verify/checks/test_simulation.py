"""Simulated evidence: the protocol meets the statement, and its mutants meet the same data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.language.symbols import alpha0, h1_star, h2_star
from giantsteps.verify.checks.simulation import BySimulation, Measured, column
from giantsteps.verify.claims.index import all_claims, examine
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Profile
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.toy import LIMIT, claim, norm

QUICK = PROFILES["quick"]
VALUES = {alpha0.name: 2.0, h1_star.name: 0.7, h2_star.name: 1.0}
TRUTH = 0.7**2 + 0.5


def noisy(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """The truth with an O(1/d) bias and O(1/sqrt d) noise: what a simulation looks like. One fixed stream."""
    column(quantity, norm)
    rng = np.random.default_rng(7)
    return {
        "model": tuple(
            Measured(d, tuple(TRUTH + 3 / d + 0.2 / np.sqrt(d) * rng.standard_normal(8)), VALUES)
            for d in profile.dimensions
        )
    }


def test_a_right_prediction_is_supported_and_says_what_it_would_have_caught() -> None:
    evidence = BySimulation("toy", noisy).run(claim(), QUICK, PAPER)
    assert evidence.outcome is Outcome.SUPPORTS
    assert 0 < evidence.smallest_detectable < 0.08


def test_every_mutant_is_refuted_by_the_simulation_alone() -> None:
    verdict, _, mutants, _ = examine(claim(checks=(BySimulation("toy", noisy),)), "quick")
    assert verdict is Verdict.CONFIRMED
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_no_experiment_decides_nothing() -> None:
    evidence = BySimulation("toy", lambda quantity, profile: {}).run(claim(), QUICK, PAPER)
    assert evidence.outcome is Outcome.UNDECIDED


def test_the_prediction_is_the_right_hand_side() -> None:
    shifted = claim(statement=sp.Eq(norm, LIMIT + sp.Rational(1, 10)))
    assert BySimulation("toy", noisy).run(shifted, QUICK, PAPER).outcome is Outcome.REFUTES


def test_an_experiment_is_asked_for_the_left_hand_side_and_refuses_what_it_does_not_measure() -> None:
    other = claim(statement=sp.Eq(h1_star, LIMIT))
    with pytest.raises(ValueError, match=r"asked for .*, but this experiment measures"):
        BySimulation("toy", noisy).run(other, QUICK, PAPER)


# Every simulation of the ledger, asked at no dimensions: it measures nothing, and refuses a quantity not its own.
NOTHING = replace(QUICK, dimensions=(), seeds=0)
SIMULATIONS = [
    (claim_.id, claim_.statement, check)
    for claim_ in all_claims()
    for check in claim_.checks
    if isinstance(check, BySimulation)
]


@pytest.mark.parametrize(("id_", "statement", "check"), SIMULATIONS, ids=[f"{i}" for i, _, _ in SIMULATIONS])
def test_what_a_simulation_measures_is_the_left_hand_side(id_: str, statement: sp.Eq, check: BySimulation) -> None:
    assert all(not measured for measured in check.experiment(statement.lhs, NOTHING).values())
    with pytest.raises(ValueError, match="this experiment measures"):
        check.experiment(sp.Symbol("something else"), NOTHING)

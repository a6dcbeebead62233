"""Holm's procedure over all simulations of a ledger, and what it says of the committed one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from giantsteps.verify.checks.finite_size import FALSE_ALARM, deviates
from giantsteps.verify.ledger.family import FAMILY, probability, rejected, simulations

LEDGER = Path(__file__).resolve().parent.parent.parent.parent / "reports" / "ledger.json"
# Verdicts on what a source says, or on another convention: there a simulation is to refute.
REFUTING = ("REFUTED", "CONVENTION")


def test_the_worst_of_several_models_is_as_improbable_as_one() -> None:
    for models in (1, 2, 5):
        threshold = deviates(1.0, 1e9, FALSE_ALARM / models)[2]
        # At its threshold each test has the rate that is stated, however many models it decides together.
        assert probability(-threshold, threshold) == pytest.approx(FALSE_ALARM, rel=1e-6)
        assert probability(0.1, threshold) == pytest.approx(min(1.0, 0.92034 * models), rel=1e-4)


def test_holms_steps_by_hand() -> None:
    # 0.05/4, then 0.05/3, and 0.03 > 0.05/2 stops it: 0.04 is not asked.
    assert rejected((0.03, 0.012, 0.04, 0.016), 0.05) == (False, True, False, True)
    # Bonferroni's first step fails: none is rejected, though 0.02 would pass the second.
    assert rejected((0.02, 0.02), 0.03) == (False, False)
    assert rejected(()) == ()


def test_the_family_keeps_its_rate() -> None:
    """146 right statements, 4000 times: rejected in a share below FAMILY, by five binomial deviations at most above."""
    drawn = np.random.default_rng(2).uniform(size=(4000, 146)).min(axis=1)
    alarms = np.mean([any(rejected((float(least), *[0.5] * 145))) for least in drawn])
    assert FAMILY - 0.02 < alarms < FAMILY + 5 * np.sqrt(FAMILY / 4000)


def test_no_claim_that_holds_is_rejected_in_the_committed_ledger() -> None:
    found = simulations(json.loads(LEDGER.read_text(encoding="utf-8")))
    decisions = rejected([p for _, _, p in found])
    assert len(found) > 100
    assert [id_ for (id_, verdict, _), no in zip(found, decisions, strict=True) if no and verdict not in REFUTING] == []
    # What a simulation alone refutes is rejected by the family, too.
    refuted = [no for (_, verdict, p), no in zip(found, decisions, strict=True) if verdict in REFUTING and p < 1e-3]
    assert refuted
    assert all(refuted)

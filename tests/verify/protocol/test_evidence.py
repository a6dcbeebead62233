"""What evidence says of itself, beside what it decides."""

from __future__ import annotations

import pytest

from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.evidence import (
    Agreement,
    Assumed,
    Certificate,
    Evidence,
    FiniteSize,
    Made,
    Outcome,
    Proof,
    Settled,
)
from giantsteps.verify.protocol.tolerances import Tolerance

SUPPORTS, REFUTES, UNDECIDED = Outcome
INF, NAN = float("inf"), float("nan")


def settled(says: str, outcome: Outcome) -> Settled:
    return Settled(says, outcome, f"how {says}", f"where {says}")


def agreement(points: int, worst: float, asked: int) -> Agreement:
    return Agreement("numbers", points, worst, 1e-3, "there", "why", asked, 0.2)


FINE, OPEN, WRONG, ALSO = settled("a", SUPPORTS), settled("b", UNDECIDED), settled("c", REFUTES), settled("d", SUPPORTS)


@pytest.mark.parametrize(
    ("evidence", "outcome", "summary"),
    [
        (Proof("p", ()), UNDECIDED, "no obligations, hence no proof"),
        (Proof("p", (FINE,)), SUPPORTS, "1 obligation discharged"),
        (Proof("p", (FINE, ALSO)), SUPPORTS, "2 obligations discharged"),
        (Proof("p", (FINE, OPEN, ALSO)), UNDECIDED, "open: b (how b)"),
        (Proof("p", (FINE, OPEN, WRONG)), REFUTES, "fails: c; witness where c"),
        (agreement(9, 2e-4, 10), SUPPORTS, "holds at 9 points to 1e-03"),
        # Four in five of the points have to be usable, and so many are enough.
        (agreement(8, 1e-3, 10), SUPPORTS, "holds at 8 points to 1e-03"),
        (agreement(7, 2e-4, 10), UNDECIDED, "7 of 10 points could be used, the last there"),
        (agreement(0, 0.0, 0), UNDECIDED, "0 of 0 points could be used, the last there"),
        (agreement(12, INF, 10), UNDECIDED, "12 of 12 points could be used, the last there"),
        (agreement(9, NAN, 10), UNDECIDED, "9 of 10 points could be used, the last there"),
        (agreement(2, 2e-3, 10), REFUTES, "violated by 0.002 (allowed 1e-03) at there"),
        (Certificate("c", 3, 2e-8, 1e-7), SUPPORTS, "3 points, none wider than 1e-07"),
        (Certificate("c", 3, 1e-7, 1e-7), SUPPORTS, "3 points, none wider than 1e-07"),
        (Certificate("c", 3, 2e-7, 1e-7), UNDECIDED, ""),
        (Certificate("c", 0, 0.0, 1e-7), UNDECIDED, ""),
        (Certificate("c", 3, 2e-8, 1e-7, "there"), REFUTES, "there"),
        (FiniteSize("s", 9, -2.5, 3.29, 0.05, UNDECIDED, "a sentence"), UNDECIDED, "a sentence"),
    ],
)
def test_each_piece_decides_and_says_why_by_its_own_numbers(evidence: Evidence, outcome: Outcome, summary: str) -> None:
    assert evidence.outcome is outcome
    assert summary in evidence.summary


def test_the_steps_that_no_rule_made_are_those_that_are_named_or_all() -> None:
    assert Proof("p", (FINE, ALSO, FINE)).without_rule == ("a", "d")
    assert Proof("p", (FINE, ALSO), unmade=("d",)).without_rule == ("d",)
    assert Proof("p", (FINE, ALSO), theorem=Made((), ()), unmade=("d",)).without_rule == ()


@pytest.mark.parametrize(
    ("kind", "reference", "claim"),
    [
        ("hypothesis", "replicas.ansatz", "replicas.ansatz"),
        ("hypothesis", "", ""),
        ("hypothesis", "the problem is strictly convex", ""),
        ("lemma", "replicas.ansatz", ""),
        ("definition", "what it means", ""),
        ("model", "Section 2", ""),
    ],
)
def test_an_assumption_names_the_claim_of_a_hypothesis(kind: str, reference: str, claim: str) -> None:
    assert Assumed("a name", kind, "x = 1", reference).claim == claim


def test_every_tolerance_is_small_and_says_why() -> None:
    found = {name: value for name, value in vars(tolerances).items() if isinstance(value, Tolerance)}
    assert len(found) >= 8
    for name, one in found.items():
        # What is taken at a large parameter is known to that, all else to a root of double precision at least.
        assert 0.0 < one.value <= (2e-3 if name == "ASYMPTOTIC" else 1e-5), name
        assert len(one.reason.split()) >= 8, name


@pytest.mark.parametrize(("points", "said"), [(1, "overlap at 1 point,"), (2, "overlap at 2 points,")])
def test_points_are_counted_in_words_that_agree(points: int, said: str) -> None:
    found = Certificate("toy", points, 1e-20, 1e-12)
    assert said in found.summary

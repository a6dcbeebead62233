"""What evidence says of itself, beside what it decides."""

from __future__ import annotations

import pytest

from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.evidence import Certificate, Leaf
from giantsteps.verify.protocol.tolerances import Tolerance


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
def test_a_leaf_names_the_claim_that_carries_a_hypothesis(kind: str, reference: str, claim: str) -> None:
    assert Leaf("a name", kind, "x = 1", reference).claim == claim


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

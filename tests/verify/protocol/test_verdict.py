"""Verdicts are computed: every combination of kind and evidence that matters."""

from __future__ import annotations

from itertools import product

import pytest

from onestep.verify.protocol.claim import Kind
from onestep.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof, Settled
from onestep.verify.protocol.verdict import Verdict, decide, weakest

PROVED_STEP = Settled("", Outcome.SUPPORTS, "expand")
OPEN_STEP = Settled("", Outcome.UNDECIDED, "")
WRONG_STEP = Settled("", Outcome.REFUTES, "", "r=1")

PROOF = Proof("", (PROVED_STEP,))
LIMIT_PROOF = Proof("", (PROVED_STEP,), takes_limit=True)
CERTIFICATE = Certificate("", 3, 1e-30, 1e-20)
AGREEMENT = Agreement("", 5, 1e-13, 1e-11, "", "")
SIMULATION = FiniteSize("", 3, 0.4, 3.3, 0.02, Outcome.SUPPORTS, "")

STATIC = (Kind.DEFINITION, Kind.IDENTITY, Kind.INEQUALITY, Kind.FIXED_POINT)
ASYMPTOTIC = (Kind.LIMIT, Kind.CONCENTRATION)


@pytest.mark.parametrize("kind", Kind)
def test_no_evidence_is_no_pass(kind: Kind) -> None:
    assert decide(kind, []) is Verdict.UNTESTED


@pytest.mark.parametrize(
    "empty",
    [
        Proof("", ()),
        Proof("", (PROVED_STEP, OPEN_STEP)),
        Certificate("", 0, 0.0, 1.0),
        Certificate("", 3, 1e-3, 1e-20),
        Agreement("", 0, 0.0, 1e-11, "", ""),
        Agreement("", 3, float("nan"), 1e-11, "", ""),
        FiniteSize("", 0, 0.0, 3.3, 0.02, Outcome.UNDECIDED, ""),
    ],
)
@pytest.mark.parametrize("kind", Kind)
def test_undecided_evidence_is_inconclusive(kind: Kind, empty: Evidence) -> None:
    assert decide(kind, [empty]) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("kind", STATIC)
def test_evidence_for_identities(kind: Kind) -> None:
    assert decide(kind, [PROOF]) is Verdict.PROVED
    assert decide(kind, [CERTIFICATE]) is Verdict.CERTIFIED
    assert decide(kind, [AGREEMENT]) is Verdict.CONFIRMED
    assert decide(kind, [SIMULATION, AGREEMENT, CERTIFICATE, PROOF]) is Verdict.PROVED


@pytest.mark.parametrize("kind", ASYMPTOTIC)
def test_a_limit_needs_a_proof_that_takes_it(kind: Kind) -> None:
    assert decide(kind, [PROOF]) is Verdict.INCONCLUSIVE
    assert decide(kind, [CERTIFICATE]) is Verdict.INCONCLUSIVE
    assert decide(kind, [LIMIT_PROOF]) is Verdict.PROVED
    assert decide(kind, [SIMULATION]) is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("kind", "wrong"),
    list(
        product(
            Kind,
            [
                Proof("", (PROVED_STEP, WRONG_STEP)),
                Certificate("", 3, 1e-30, 1e-20, excluded_at="c=1"),
                Agreement("", 5, 1e-3, 1e-11, "", ""),
                FiniteSize("", 3, 9.0, 3.3, 0.02, Outcome.REFUTES, ""),
            ],
        )
    ),
)
def test_one_refutation_outweighs_any_support(kind: Kind, wrong: Evidence) -> None:
    assert decide(kind, [LIMIT_PROOF, CERTIFICATE, AGREEMENT, wrong]) is Verdict.REFUTED


def test_the_weakest_link() -> None:
    assert weakest([Verdict.PROVED, Verdict.CONFIRMED, Verdict.CERTIFIED]) is Verdict.CONFIRMED
    assert weakest([Verdict.PROVED, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE

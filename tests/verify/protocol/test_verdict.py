"""Verdicts are computed: every combination of kind and evidence that matters."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from onestep.verify.protocol.claim import Kind
from onestep.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Made, Outcome, Proof, Settled
from onestep.verify.protocol.verdict import Verdict, decide, weakest

PROVED_STEP = Settled("", Outcome.SUPPORTS, "expand")
OPEN_STEP = Settled("", Outcome.UNDECIDED, "")
WRONG_STEP = Settled("", Outcome.REFUTES, "", "r=1")

PROOF = Proof("", (PROVED_STEP,), theorem=Made((), ()))
LIMIT_PROOF = replace(PROOF, takes_limit=True)
DERIVATION = Proof("", (PROVED_STEP,))
LIMIT_DERIVATION = replace(DERIVATION, takes_limit=True)
CERTIFICATE = Certificate("", 3, 1e-30, 1e-20)
AGREEMENT = Agreement("", 5, 1e-13, 1e-11, "", "")
MEASUREMENT = replace(AGREEMENT, finite_size=True)
UNDECIDED = Agreement("", 0, 0.0, 1e-11, "", "")
SIMULATION = FiniteSize("", 3, 0.4, 3.3, 0.02, Outcome.SUPPORTS, "")

STATIC = (Kind.DEFINITION, Kind.IDENTITY, Kind.INEQUALITY, Kind.FIXED_POINT, Kind.CONVENTION)
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


@pytest.mark.parametrize("kind", STATIC)
@pytest.mark.parametrize("number", [AGREEMENT, MEASUREMENT, SIMULATION])
def test_a_derivation_without_a_theorem_is_derived_beside_a_number_alone(kind: Kind, number: Evidence) -> None:
    assert decide(kind, [DERIVATION]) is Verdict.INCONCLUSIVE
    assert decide(kind, [DERIVATION, DERIVATION]) is Verdict.INCONCLUSIVE  # two of them are not a number
    assert decide(kind, [DERIVATION, number]) is Verdict.DERIVED
    assert decide(kind, [DERIVATION, number, UNDECIDED]) is Verdict.INCONCLUSIVE
    assert decide(kind, [PROOF, number, UNDECIDED]) is Verdict.PROVED
    assert decide(kind, [DERIVATION, CERTIFICATE]) is Verdict.CERTIFIED


@pytest.mark.parametrize("kind", ASYMPTOTIC)
def test_a_second_formula_confirms_no_limit(kind: Kind) -> None:
    assert decide(kind, [AGREEMENT]) is Verdict.INCONCLUSIVE
    assert decide(kind, [DERIVATION, AGREEMENT]) is Verdict.INCONCLUSIVE
    assert decide(kind, [LIMIT_DERIVATION, AGREEMENT]) is Verdict.INCONCLUSIVE
    assert decide(kind, [LIMIT_DERIVATION]) is Verdict.INCONCLUSIVE
    for measured in (MEASUREMENT, SIMULATION):
        assert decide(kind, [measured, AGREEMENT]) is Verdict.CONFIRMED
        assert decide(kind, [DERIVATION, measured]) is Verdict.CONFIRMED  # the derivation takes no limit
        assert decide(kind, [LIMIT_DERIVATION, measured]) is Verdict.DERIVED
        assert decide(kind, [LIMIT_PROOF, measured]) is Verdict.PROVED


def test_what_a_derivation_lacks_is_named() -> None:
    step = "an exchange of limits"
    assert replace(DERIVATION, unmade=(step,)).without_rule == (step,)
    assert Proof("", (replace(PROVED_STEP, says=step),)).without_rule == (step,)  # all, without a list
    assert replace(PROOF, unmade=(step,)).without_rule == ()


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
    refuted = Verdict.CONVENTION if kind is Kind.CONVENTION else Verdict.REFUTED
    assert decide(kind, [LIMIT_PROOF, CERTIFICATE, AGREEMENT, wrong]) is refuted


def test_a_convention_that_holds_in_ours_too_earns_what_any_claim_does() -> None:
    assert decide(Kind.CONVENTION, [PROOF]) is Verdict.PROVED
    assert decide(Kind.CONVENTION, [UNDECIDED]) is Verdict.INCONCLUSIVE


def test_the_weakest_link() -> None:
    assert weakest([Verdict.PROVED, Verdict.CONFIRMED, Verdict.CERTIFIED]) is Verdict.CONFIRMED
    assert weakest([Verdict.PROVED, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE
    assert weakest([Verdict.PROVED, Verdict.DERIVED, Verdict.CERTIFIED]) is Verdict.DERIVED
    assert weakest([Verdict.DERIVED, Verdict.CONFIRMED]) is Verdict.CONFIRMED

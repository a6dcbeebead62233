"""Verdicts are computed: every combination of kind and evidence that matters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product

import pytest

from giantsteps.verify.protocol.claim import Kind
from giantsteps.verify.protocol.evidence import (
    Agreement,
    Certificate,
    Evidence,
    FiniteSize,
    Made,
    Outcome,
    Proof,
    Settled,
)
from giantsteps.verify.protocol.verdict import Verdict, decide, weakest

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
FEW = Agreement("", 3, 1e-13, 1e-11, "", "", asked=5)
WRONG = Agreement("", 5, 1e-3, 1e-11, "", "")
SIMULATION = FiniteSize("", 3, 0.4, 3.3, 0.02, Outcome.SUPPORTS, "")

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


# What each piece is worth on its own for a claim that says something of a limit, and for one that does not.
WORTH: dict[str, tuple[Evidence, Verdict | None, Verdict | None]] = {
    "theorem": (PROOF, None, Verdict.PROVED),
    "theorem that takes the limit": (LIMIT_PROOF, Verdict.PROVED, Verdict.PROVED),
    "derivation": (DERIVATION, None, None),
    "derivation of the limit": (LIMIT_DERIVATION, None, None),
    "certificate": (CERTIFICATE, None, Verdict.CERTIFIED),
    "agreement": (AGREEMENT, None, Verdict.CONFIRMED),
    "measurement": (MEASUREMENT, Verdict.CONFIRMED, Verdict.CONFIRMED),
    "simulation": (SIMULATION, Verdict.CONFIRMED, Verdict.CONFIRMED),
    "undecided": (UNDECIDED, None, None),
    "three points of five": (FEW, None, None),
    "open proof": (Proof("", (PROVED_STEP, OPEN_STEP), theorem=Made((), ())), None, None),
    "wide certificate": (Certificate("", 3, 1e-3, 1e-20), None, None),
    "wrong": (WRONG, None, None),
}
OPEN = {"undecided", "three points of five", "open proof", "wide certificate"}


def earned(kind: Kind, names: tuple[str, ...]) -> Verdict:
    """The cautions one after the other, as a person reads them."""
    worth = {name: WORTH[name][1 if kind in ASYMPTOTIC else 2] for name in names}
    if "wrong" in names:
        return Verdict.CONVENTION if kind is Kind.CONVENTION else Verdict.REFUTED
    if Verdict.PROVED in worth.values():
        return Verdict.PROVED
    if Verdict.CERTIFIED in worth.values():
        return Verdict.CERTIFIED
    if Verdict.CONFIRMED not in worth.values() or OPEN & set(names):
        return Verdict.INCONCLUSIVE
    routes = {"derivation of the limit"} | (set() if kind in ASYMPTOTIC else {"derivation"})
    return Verdict.DERIVED if routes & set(names) else Verdict.CONFIRMED


@pytest.mark.parametrize("kind", Kind)
def test_any_three_pieces_in_any_order_earn_what_the_cautions_say(kind: Kind) -> None:
    wrong = []
    for count in (1, 2, 3):
        for names in combinations_with_replacement(WORTH, count):
            expected = earned(kind, names)
            found = {decide(kind, [WORTH[name][0] for name in order]) for order in permutations(names)}
            wrong += [(names, expected, found)] if found != {expected} else []
    assert wrong == []


def test_every_verdict_is_weaker_than_those_before_it() -> None:
    for stronger, weaker in combinations_with_replacement(Verdict, 2):
        assert weakest([stronger, weaker]) is weakest([weaker, stronger]) is weaker

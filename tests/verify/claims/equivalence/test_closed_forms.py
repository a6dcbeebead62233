"""The claims of closed forms: verdicts, and wrong signs planted in the rules that have to turn them REFUTED."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from onestep.derivations.closed_forms import heat_equation as closed_form
from onestep.derivations.closed_forms import semigroup as gaussian
from onestep.derivations.language.derivation import Vanishing
from onestep.verify.claims.equivalence.closed_forms import CLAIMS
from onestep.verify.claims.index import examine
from onestep.verify.closed_forms import proof as closed_form_proof
from onestep.verify.protocol.claim import Claim
from onestep.verify.protocol.verdict import Verdict

BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture
def fresh() -> Iterator[Callable[[], None]]:
    """Clears every cache of derived formulas, before and after a planted mistake."""

    def clear() -> None:
        gaussian.average.cache_clear()
        closed_form.closed_forms.cache_clear()
        closed_form_proof._established.cache_clear()
        closed_form_proof._settled.cache_clear()

    clear()
    yield clear
    clear()


def test_there_are_enough_claims_with_names_of_their_own() -> None:
    assert len(CLAIMS) >= 12
    assert len(BY_ID) == len(CLAIMS)
    assert all(used in BY_ID for claim in CLAIMS for used in claim.uses)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_proved_and_its_mutants_are_refuted(claim: Claim) -> None:
    verdict, evidence, mutants = examine(claim, "quick")
    assert verdict is Verdict.PROVED, [e.summary for e in evidence]
    assert len(evidence) == 2  # a proof and a number that knows nothing of it
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []


def _verdict(id_: str) -> Verdict:
    return examine(BY_ID[id_], "quick")[0]


def test_a_wrong_sign_in_the_boundary_rule_refutes(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    right = gaussian._boundary
    monkeypatch.setattr(gaussian, "_boundary", lambda shape, t: {atom: -k for atom, k in right(shape, t).items()})
    fresh()
    assert _verdict("closed-form.relu-mu1") is Verdict.REFUTED
    assert _verdict("closed-form.hardtanh-mu1") is Verdict.REFUTED


def test_a_wrong_sign_in_the_rule_of_the_error_function_refutes(
    fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = gaussian._sign_average
    monkeypatch.setattr(gaussian, "_sign_average", lambda sign, a, b: -right(sign, a, b))
    fresh()
    assert _verdict("closed-form.erf-h1") is Verdict.REFUTED
    assert _verdict("closed-form.erf-mu1") is Verdict.REFUTED


def test_a_wrong_sign_in_the_heat_equation_refutes(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    right = closed_form.heat_obligations

    def planted(candidate, function):  # type: ignore[no-untyped-def]
        reversed_ = closed_form.sp.diff(candidate, closed_form.c) + closed_form.sp.diff(candidate, closed_form.x, 2) / 2
        return (Vanishing("the heat equation, wrong sign", reversed_), *right(candidate, function)[1:])

    monkeypatch.setattr(closed_form_proof, "heat_obligations", planted)
    fresh()
    assert _verdict("closed-form.relu-mu0") is Verdict.REFUTED
    assert _verdict("closed-form.sin-mu0") is Verdict.REFUTED

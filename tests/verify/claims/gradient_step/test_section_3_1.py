"""Section 2, Section 3.1 and Appendix A: right derivations prove every claim, a wrong sign in one refutes its
claims.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.free_energy import readout_normalisation
from onestep.derivations.gradient_step import bulk as gradient_bulk
from onestep.derivations.gradient_step import constants as gradient_constants
from onestep.derivations.gradient_step import spike as gradient_step
from onestep.derivations.language import symbols as s
from onestep.verify.claims.gradient_step import bulk as appendix_a_bulk
from onestep.verify.claims.gradient_step import result_3_1 as section_3_1
from onestep.verify.claims.gradient_step import setting as section_2
from onestep.verify.claims.gradient_step import spike as appendix_a
from onestep.verify.claims.index import examine
from onestep.verify.claims.slides import step as slides_step
from onestep.verify.protocol.claim import Claim, Role
from onestep.verify.protocol.verdict import Verdict
from tests.planting.errors import planting, verdict_by_proof

__all__ = ["planting"]

ALL = (*section_2.CLAIMS, *section_3_1.CLAIMS, *appendix_a.CLAIMS, *appendix_a_bulk.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.id)
def test_every_claim_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


@pytest.mark.parametrize("claim", slides_step.CLAIMS, ids=lambda claim: claim.id)
def test_every_misprint_of_the_slides_is_refuted(claim: Claim) -> None:
    assert claim.role is Role.PRINTED
    assert verdict_by_proof(claim) is Verdict.REFUTED


def test_every_claim_names_equations_and_wrong_neighbours() -> None:
    assert all("(" in str(claim.source) and claim.mutants for claim in ALL)
    assert len(BY_ID) == len(ALL)


def test_the_hypotheses_that_the_spike_is_said_to_rest_on_are_those_of_its_derivation() -> None:
    assert gradient_step.spike().hypotheses == gradient_step.OF_THE_SPIKE
    assert gradient_step.spike(s.noise).hypotheses == gradient_step.OF_THE_SPIKE


def differences(count: sp.Expr, equal: sp.Expr, different: sp.Expr) -> sp.Expr:
    """A wrong sign: pairs of different samples counted negatively."""
    return (equal - (count - 1) * different) / count


def correlated_squares(freedom: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """A wrong sign in the second moment of chi-square."""
    return freedom, 3 * freedom - freedom * (freedom - 1)


def uphill(expression: sp.Expr, variable: sp.Symbol, order: int = 1) -> sp.Expr:
    """A wrong sign in every derivative."""
    return -sp.Integer(1) * _differentiate(expression, variable, order)


def wrong_stein(integrand: sp.Expr, variable: sp.Symbol, *others: sp.Symbol) -> sp.Expr:
    """E[z f] = -E[f'], a wrong sign in Stein's lemma."""
    return -_stein_step(integrand, variable, *others)


def other_side() -> sp.Expr:
    """A wrong sign in w.x."""
    return -_along_w()


_differentiate = gradient_step.differentiate
_stein_step = gradient_constants.stein_step
_along_w = gradient_bulk.along_w


def shorter_readout() -> tuple[sp.Expr, sp.Expr]:
    """The readout of equation (4) taken for sqrt(p) times shorter, not longer, than the slides'."""
    slides, ours = _objectives()
    return slides, ours.subs(s.ridge, s.ridge / s.p**2)


_objectives = readout_normalisation.rescaled_objectives

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (
        gradient_step,
        "differentiate",
        uphill,
        ("section-2.gradient-step", "result-3-1.split", "result-3-1.spike-strength"),
    ),
    (
        gradient_step,
        "mean_over_pairs",
        differences,
        ("result-3-1.spike-norm-exact", "result-3-1.spike-norm", "result-3-1.spike-strength", "result-3-1.alignment"),
    ),
    (gradient_step, "chi_square_moments", correlated_squares, ("result-3-1.spike-concentration",)),
    (gradient_bulk, "mean_over_pairs", differences, ("result-3-1.row-correction-exact",)),
    (gradient_bulk, "stein_step", wrong_stein, ("result-3-1.mean-correction-along-target",)),
    (gradient_bulk, "along_w", other_side, ("result-3-1.mean-correction-across-target",)),
    (gradient_constants, "stein_step", wrong_stein, ("result-3-1.first-coefficient",)),
    (readout_normalisation, "rescaled_objectives", shorter_readout, ("section-2.ridge-of-the-slides",)),
)


@pytest.mark.parametrize(
    ("module", "rule", "wrong", "ids"), PLANTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_sign_in_a_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], ids: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    assert {i: verdict_by_proof(BY_ID[i]) for i in ids} == dict.fromkeys(ids, Verdict.REFUTED)


@pytest.mark.parametrize(
    "id_", ["result-3-1.spike-norm-exact", "result-3-1.row-correction-exact", "section-2.initial-output"]
)
def test_every_mutant_is_refuted_by_all_checks_together(id_: str) -> None:
    verdict, _, mutants = examine(BY_ID[id_], "quick")
    assert verdict is Verdict.PROVED
    assert len(mutants) >= 2
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}

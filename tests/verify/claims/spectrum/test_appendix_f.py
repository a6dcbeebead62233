"""Appendix F: right derivations prove every claim, a wrong sign in one refutes its claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import sympy as sp

from onestep.derivations.free_energy.along_spike import V_of_kappa, mu0, mu1, over_kappa
from onestep.derivations.language import replica_gaussians
from onestep.derivations.language import symbols as s
from onestep.derivations.spectrum import resolvent as spectrum
from onestep.verify.claims.index import examine
from onestep.verify.claims.spectrum import covariance as appendix_f
from onestep.verify.protocol.claim import Claim, Kind
from onestep.verify.protocol.verdict import Verdict
from tests.planting.appendices import planting, verdict_by_proof

__all__ = ["planting"]

ALL = appendix_f.CLAIMS
BY_ID = {claim.id: claim for claim in ALL}
PROVABLE = [claim for claim in ALL if claim.kind is not Kind.DEFINITION]


@pytest.mark.parametrize("claim", PROVABLE, ids=lambda claim: claim.id)
def test_every_claim_but_definitions_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


def test_every_equation_is_covered_once() -> None:
    covered = Counter(n for claim in ALL for n in claim.source.equations)
    assert covered == Counter(range(173, 192))


# An identity, an inequality, a fixed point with numbers, and a conclusion that is zero.
@pytest.mark.parametrize(
    "id_", ["appendix-f.population", "appendix-f.schur", "appendix-f.V1-hat", "appendix-f.zeta-vanishes"]
)
def test_every_mutant_is_refuted(id_: str) -> None:
    verdict, _, mutants = examine(BY_ID[id_], "quick")
    assert verdict is Verdict.PROVED
    assert len(mutants) >= 2
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def wrong_trace(R: sp.Symbol, V: sp.Expr, q: sp.Expr, V_hat: sp.Expr, q_hat: sp.Expr) -> sp.Expr:
    """A wrong sign of V^ on the diagonal."""
    return -(R * (V + q) * (q_hat + V_hat) + R * (R - 1) * q * q_hat) / 2


def wrong_eigenvalues() -> tuple[sp.Expr, sp.Expr]:
    """A wrong sign on the sum of the replicas."""
    return s.mode_curvature, s.mode_curvature + s.replicas * s.mode_coupling


def wrong_bracket() -> sp.Expr:
    """A wrong sign of the squared residual."""
    return _log_bracket() + s.replicas * s.residual**2 * s.inverse_temperature / (
        1 + s.inverse_temperature * (s.own_overlap + s.replicas * s.shared_overlap)
    )


_log_bracket = replica_gaussians.log_bracket

PLANTS: tuple[tuple[object, str, Callable[..., object], tuple[str, ...]], ...] = (
    (
        spectrum,
        "replicated_trace",
        wrong_trace,
        ("appendix-f.free-entropy", "appendix-f.V1-hat", "appendix-f.stieltjes"),
    ),
    (replica_gaussians, "eigenvalues", wrong_eigenvalues, ("appendix-f.replicated-mode", "appendix-f.free-entropy")),
    (spectrum, "log_bracket", wrong_bracket, ("appendix-f.free-entropy", "appendix-f.m")),
    (
        spectrum,
        "sherman_morrison",
        lambda x: x - s.V1_hat * x**2 / (1 - s.V1_hat * x),
        ("appendix-f.free-entropy", "appendix-f.zeta"),
    ),
    (
        spectrum,
        "projection_square",
        lambda: over_kappa((s.kappa * mu1 + spectrum.projection * mu0) ** 2 / (1 + V_of_kappa)),
        ("appendix-f.zeta-vanishes",),
    ),
)


@pytest.mark.parametrize(
    ("module", "rule", "wrong", "ids"), PLANTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_sign_in_a_rule_refutes_its_claims(
    planting: pytest.MonkeyPatch, module: object, rule: str, wrong: Callable[..., object], ids: tuple[str, ...]
) -> None:
    planting.setattr(module, rule, wrong)
    assert {i: verdict_by_proof(BY_ID[i]) for i in ids} == dict.fromkeys(ids, Verdict.REFUTED)

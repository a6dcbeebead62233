"""Results 3.1 to 3.3 on the first page of the report: which claims state them, and what stands between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from giantsteps.reports.page.views import ClaimView


@dataclass(frozen=True)
class Result:
    """One result of the paper: its title, and its formulas as (what they are, the claims that state them)."""

    title: str
    formulas: tuple[tuple[str, tuple[str, ...]], ...]


def _saddle(*names: str) -> tuple[str, ...]:
    return tuple(f"result-3-3.{name}" for name in names)


RESULTS: tuple[Result, ...] = (
    Result(
        "Result 3.1: one gradient step makes a spike",
        (
            (
                "A step of rate eta d on n0 = alpha0 d samples turns the rows into a spike of strength r along v with "
                "v.theta = gamma, and a bulk of variance c; h1 and h^\\star_1 are the first Hermite coefficients of "
                "student and target, h^\\star_2 is the second moment of the target:",
                (
                    "result-3-1.spike-strength",
                    "result-3-1.alignment",
                    "result-3-1.bulk-variance",
                    "result-3-1.check-constant",
                ),
            ),
        ),
    ),
    Result(
        "Result 3.2: given the projection on the spike, features are noisy and linear",
        (
            (
                "Given kappa = v.x, the features of the ridge readout can be replaced by a mean, a linear part and "
                "independent noise, without changing its test error:",
                (
                    "definitions.equivalent-features",
                    "definitions.mu0",
                    "definitions.mu1",
                    "definitions.mu2",
                    "result-3-2.same-test-error",
                ),
            ),
        ),
    ),
    Result(
        "Result 3.3: the errors follow from a few numbers",
        (
            (
                "With y0, y1 and y2 the averages of y, z y and y^2 over z for the label "
                "$y=g(\\gamma\\kappa+\\sqrt{\\rho}\\,z)$ with its noise, the errors are averages over kappa alone:",
                _saddle("test-error", "training-error"),
            ),
            (
                "The order parameters of the readout solve, for isotropic rows,",
                _saddle(
                    "saddle.m",
                    "isotropic.zeta",
                    "isotropic.psi",
                    "isotropic.q1",
                    "isotropic.q2",
                    "marchenko-pastur-V1",
                    "marchenko-pastur-V2",
                ),
            ),
            (
                "with the traces of the resolvent",
                _saddle("resolvent-square", "resolvent-mixed", "resolvent-double"),
            ),
            (
                "and their conjugates",
                _saddle(
                    "saddle.zeta-hat",
                    "saddle.psi-hat",
                    "saddle.V1-hat",
                    "saddle.V2-hat",
                    "saddle.q1-hat",
                    "saddle.q2-hat",
                ),
            ),
        ),
    ),
)

# The claims that state them.
IDS = frozenset(id_ for result in RESULTS for _, ids in result.formulas for id_ in ids)


def stated(views: Sequence[ClaimView]) -> list[tuple[Result, list[tuple[str, list[ClaimView]]]]]:
    """Each result of which a claim is among these, with what they are and the claims that are there."""
    by_id = {view.entry.claim.id: view for view in views}
    return [
        (result, [(words, [by_id[i] for i in ids if i in by_id]) for words, ids in result.formulas])
        for result in RESULTS
        if any(i in by_id for _, ids in result.formulas for i in ids)
    ]

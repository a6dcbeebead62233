"""Results 3.1 to 3.3: which claims state them, and what stands between."""

from __future__ import annotations

from giantsteps.reports.page.pages import Result


def _of(part: str, names: str) -> tuple[str, ...]:
    """The claims of a part of the theory, named in one line."""
    return tuple(f"{part}.{name}" for name in names.split())


_BY_STEP = (
    "A step of rate eta d on n0 = alpha0 d samples turns the rows into a spike of strength r along v with "
    "v.theta = gamma, and a bulk of variance c; h1 and h^\\star_1 are the first Hermite coefficients of student and "
    "target, h^\\star_2 is the second moment of the target:"
)
_GIVEN_PROJECTION = (
    "Given kappa = v.x, the features of the ridge readout can be replaced by a mean, a linear part and independent "
    "noise, without changing its test error:"
)
_ERRORS = (
    "With y0, y1 and y2 the averages of y, z y and y^2 over z for the label "
    "$y=g(\\gamma\\kappa+\\sqrt{\\rho}\\,z)$ with its noise, the errors are averages over kappa alone:"
)
_ORDER = "saddle.m isotropic.zeta isotropic.psi isotropic.q1 isotropic.q2 marchenko-pastur-V1 marchenko-pastur-V2"
_HATS = "saddle.zeta-hat saddle.psi-hat saddle.V1-hat saddle.V2-hat saddle.q1-hat saddle.q2-hat"
RESULTS: tuple[Result, ...] = (
    Result(
        "Result 3.1: one gradient step makes a spike",
        {_BY_STEP: _of("result-3-1", "spike-strength alignment bulk-variance check-constant")},
    ),
    Result(
        "Result 3.2: given the projection on the spike, features are noisy and linear",
        {
            _GIVEN_PROJECTION: (
                *_of("definitions", "equivalent-features mu0 mu1 mu2"), "result-3-2.same-test-error",
            )
        },
    ),
    Result(
        "Result 3.3: the errors follow from a few numbers",
        {
            _ERRORS: _of("result-3-3", "test-error training-error"),
            "The order parameters of the readout solve, for isotropic rows,": _of("result-3-3", _ORDER),
            "with the traces of the resolvent": _of("result-3-3", "resolvent-square resolvent-mixed resolvent-double"),
            "and their conjugates": _of("result-3-3", _HATS),
        },
    ),
)  # fmt: skip

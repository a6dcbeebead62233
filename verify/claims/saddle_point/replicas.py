"""Claims of Appendix C before any loss is chosen: Gibbs measure, replicas, symmetric matrices, fields, (74)-(95)."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.free_energy import replicas
from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, FINITE_DIFFERENCE, QUADRATURE, ROUNDING
from giantsteps.verify.second_route import replicas as replica_numbers
from giantsteps.verify.second_route.models import GENERIC

APPENDIX = "Appendix C"
R, B = s.replicas, s.inverse_temperature
log_partition = replicas.log_partition
SEED = Range("seed", 0.0, 1e6)

# ---- the Gibbs measure and the replica identity ----

test_function = sum(h * s.minimum_point**k for k, h in enumerate(s.test_coefficients))
_RISK = Domain((Range(s.mode_curvature, 0.3, 3.0), Range(s.minimum_point, -1.5, 1.5), SEED))


def _gibbs_claims() -> tuple[Claim, ...]:
    return (
        claim(
            "replicas.gibbs-average",
            "At zero temperature the Gibbs average of a function is its value at the minimum of the risk",
            paper(APPENDIX, 74),
            eq(s.gibbs_average, test_function), _RISK,
            ByDerivation(replicas.gibbs),
            ByNumbers("a convex risk that is not quadratic, at B = 1e6", replica_numbers.gibbs, ASYMPTOTIC,
                      finite_size=True),
            kind=Kind.LIMIT,
            note="Proved for a quadratic risk, as that of ridge regression, and test functions of degree four.",
        ),
        claim(
            "replicas.identity", "The average of ln Z is the derivative of E Z^R at R = 0", paper(APPENDIX, 76),
            eq(s.mean_log, Expectation(log_partition(s.z), s.z)),
            Domain((Range(s.scale, 0.5, 1.5),), (), (replica_numbers.LOGS,)),
            ByDerivation(replicas.trick),
            ByNumbers("moments of order +-1e-5 of one law of Z", replica_numbers.log_average, FINITE_DIFFERENCE,
                      lambda point: {"L": lambda z: float(point[s.scale.name]) * replica_numbers.LOGS["L"](z)}),
            wrong={"the annealed average": sp.log(Expectation(sp.exp(log_partition(s.z)), s.z))},
        ),
        claim(
            "replicas.independent-samples", "The replicated partition function has one factor per sample",
            paper(APPENDIX, 83),
            eq(s.replicated_average, s.sample_bracket**s.n), Domain((SEED, Range(B, 0.3, 2.0))),
            ByDerivation(replicas.samples),
            ByNumbers("all triples of samples, two replicas", replica_numbers.triples, ROUNDING),
            wrong={"one factor per dimension": s.sample_bracket**s.d},
        ),
    )


# ---- one sample ----


def _sample_claims() -> tuple[Claim, ...]:
    one = Domain((SEED,), (), (GENERIC,))
    return (
        claim(
            "replicas.output", "The output on a sample: mean along the spike plus a local field",
            paper(APPENDIX, 84, 88),
            eq(s.output, mu0 * s.m + s.kappa * mu1 * s.zeta + s.local_field), one,
            ByDerivation(replicas.output),
            ByNumbers("random readouts and inputs", replica_numbers.readouts, ROUNDING, lambda _: GENERIC),
            uses=("definitions.equivalent-features", "definitions.replica-overlaps", "definitions.local-field"),
        ),
        claim(
            "replicas.field-covariance", "Replicas meet in their overlaps only: covariance of two local fields",
            paper(APPENDIX, 89),
            eq(s.field_covariance, mu1**2 * s.overlap_pair[0] + mu2**2 * s.overlap_pair[1]), one,
            ByDerivation(replicas.covariance),
            ByNumbers("random readouts and bulks", replica_numbers.readouts, ROUNDING, lambda _: GENERIC),
            uses=("definitions.local-field",),
        ),
        claim(
            "replicas.label-covariance", "Covariance of a local field with the label's variable", paper(APPENDIX),
            eq(s.label_field_covariance, mu1 * s.psi_pair), one,
            ByDerivation(replicas.covariance),
            ByNumbers("random readouts and bulks", replica_numbers.readouts, ROUNDING, lambda _: GENERIC),
            uses=("definitions.local-field",),
        ),
    )


# ---- matrices of R replicas ----

_MATRIX = Domain((Range(s.own_overlap, 0.3, 2.0), Range(s.shared_overlap, 0.2, 2.0), Range("count", 2.0, 7.0)))


def _matrix_claims() -> tuple[Claim, ...]:
    own, shared = s.own_overlap, s.shared_overlap
    proof = ByDerivation(replicas.symmetric)
    dense = ByNumbers("dense matrices of two to six replicas", replica_numbers.matrix, QUADRATURE)
    return (
        claim(
            "replicas.inverse", "Inverse of a replica-symmetric matrix, entry between two replicas, any number of them",
            paper(APPENDIX, 91),
            eq(s.inverse_other, -shared / (own * (own + R * shared))), _MATRIX,
            proof, dense,
        ),
        claim(
            "replicas.inverse-diagonal", "Inverse of a replica-symmetric matrix, diagonal entry", paper(APPENDIX),
            eq(s.inverse_same, (own + (R - 1) * shared) / (own * (own + R * shared))), _MATRIX,
            proof, dense,
        ),
        claim(
            "replicas.determinant", "Determinant of a replica-symmetric matrix, any number of replicas",
            paper(APPENDIX),
            eq(s.log_det, (R - 1) * sp.log(own) + sp.log(own + R * shared)), _MATRIX,
            proof, dense,
        ),
        claim(
            "replicas.determinant-at-zero", "What the logarithm of the determinant leaves as R -> 0", paper(APPENDIX),
            eq(s.log_det_slope, sp.log(own) + shared / own), _MATRIX,
            proof,
            uses=("replicas.determinant",),
        ),
        claim(
            "replicas.variance", "V is what the overlap of a replica with itself exceeds the overlap of two by",
            paper(APPENDIX, 93),
            eq(s.difference_eigenvalue, s.own_square - shared), _MATRIX,
            proof, dense,
        ),
        claim(
            "replicas.conjugate-form", "The conjugates act on replicas through the squares and the square of the sum",
            paper(APPENDIX, 92),
            eq(s.conjugate_form, -s.V2_hat * s.replica_squares / 2 + s.q2_hat * s.replica_sum**2 / 2),
            Domain((SEED, Range("count", 2.0, 7.0), Range(s.V2_hat, 0.2, 2.0), Range(s.q2_hat, 0.2, 2.0))),
            ByDerivation(replicas.conjugates), ByNumbers("matrices written out", replica_numbers.form, ROUNDING),
        ),
    )


# ---- one mode of the readout ----


def _mode_claims() -> tuple[Claim, ...]:
    S, k, f, field = s.mode_curvature, s.mode_noise, s.mode_signal, s.mode_field
    a = s.replica_weight
    objective = (s.ridge + s.V2_hat) * a**2 / 2 - a * (f + sp.sqrt(s.q2_hat) * field)
    return (
        claim(
            "replicas.decoupling", "A Gaussian field decouples replicas", paper(APPENDIX),
            eq(s.replica_coupling, sp.exp(s.q2_hat * s.replica_sum**2 / 2)),
            Domain((Range(s.q2_hat, 0.1, 1.0), Range(s.replica_sum, -2.0, 2.0))),
            ByDerivation(replicas.decoupling), ByNumbers("the trapezoidal rule", replica_numbers.coupling, QUADRATURE),
        ),
        claim(
            "replicas.entropic-mode",
            "Entropic term in one mode: coupled replicas at R -> 0 are one replica in a random field",
            paper(APPENDIX, 94),
            eq(s.entropic_log, Expectation((f + sp.sqrt(k) * field) ** 2 / (2 * S) - sp.log(S) / 2, field)),
            Domain((Range(S, 0.8, 2.0), Range(k, 0.005, 0.02), Range(f, -1.5, 1.5))),
            ByDerivation(replicas.entropic_limit),
            ByNumbers("dense matrices of one to twelve replicas, extrapolated", replica_numbers.entropic, QUADRATURE),
            uses=("replicas.decoupling", "replicas.conjugate-form", "replicas.determinant-at-zero"),
        ),
        claim(
            "replicas.rescaling", "At low temperature the exponent is B times an objective that does not depend on B",
            paper(APPENDIX, 95),
            eq(s.replica_exponent, -B * objective), Domain((Range(B, 1.0, 50.0, log=True),)),
            ByDerivation(replicas.rescaling),
            uses=("replicas.entropic-mode",),
        ),
    )


# ---- the coefficients (78)-(80) ----


def _coefficient_claims() -> tuple[Claim, ...]:
    domain = Domain((Range("activation", choices=("tanh(z)", "sin(z + 1)", "tanh(z - 1/2)")), Range(s.r, 0.3, 2.0),
                     Range(s.c, 0.6, 1.5), Range(s.kappa, -2.0, 2.0)),
                    (), ({"sigma": np.tanh},))
    value = sigma(s.r * s.kappa + sp.sqrt(s.c) * s.z)
    check = ByNumbers("the coefficients of the solver", replica_numbers.coefficients, QUADRATURE,
                      lambda point: {"sigma": compile_numpy(activation(str(point["activation"])).expression)})

    def coefficient(name: str, title: str, statement: sp.Equality, number: int) -> Claim:
        return claim(
            f"definitions.{name}", title, paper(APPENDIX, number),
            statement, domain,
            check,
            kind=Kind.DEFINITION, note="A definition. The check shows that the solver computes it.",
        )

    return (
        coefficient("mu0", "mean of a feature given kappa", eq(s.mu0, Expectation(value, s.z)), 78),
        coefficient(
            "mu1", "linear coefficient given kappa", eq(s.mu1, Expectation(s.z * value, s.z) / sp.sqrt(s.c)), 79,
        ),
        coefficient(
            "mu2", "residual variance given kappa",
            eq(s.mu2_square, Expectation(value**2, s.z) - s.mu0**2 - s.c * s.mu1**2), 80,
        ),
    )


CLAIMS: tuple[Claim, ...] = (
    *_coefficient_claims(), *_gibbs_claims(), *_sample_claims(), *_matrix_claims(), *_mode_claims(),
)

"""Claims of Appendix C, square loss: the replica-symmetric free energy, term by term (equations (83)-(117))."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.free_energy import ridge as free_energy
from giantsteps.derivations.free_energy import sample_energy
from giantsteps.derivations.free_energy.along_spike import mu1, mu2, varpi, varrho
from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.saddle_point.formulas import I_nu, S, V, e2, free_energy_value, nu, x
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE, ROUNDING
from giantsteps.verify.second_route import given_bulk as law_numbers
from giantsteps.verify.second_route.models import GENERIC, density_integrals
from giantsteps.verify.solver.models import objective

SECTION = "Section 3.3"
APPENDIX = "Appendix C"
PLAIN = Domain(interpretations=(GENERIC,))


def _free_energy_claims() -> tuple[Claim, ...]:
    minimiser = s.field_mean + s.V / (1 + s.V) * (s.residual - s.field_mean)
    return (
        claim(
            "result-3-3.moreau-minimiser", "Where the square loss is least against a local field of variance V",
            paper(APPENDIX, 121),
            eq(s.local_field, minimiser),
            Domain((Range(s.V, 0.1, 5.0, log=True), Range(s.field_mean, -2.0, 2.0), Range(s.residual, -2.0, 2.0))),
            ByDerivation(sample_energy.square_loss),
            ByNumbers("bisection on the slope of the objective", _minimise, ROUNDING),
        ),
        claim(
            "result-3-3.moreau-envelope", "Moreau envelope of the square loss", paper(APPENDIX),
            eq(s.moreau, (s.residual - s.field_mean) ** 2 / (2 * (1 + s.V))),
            Domain((Range(s.V, 0.1, 5.0, log=True), Range(s.field_mean, -2.0, 2.0), Range(s.residual, -2.0, 2.0))),
            ByDerivation(sample_energy.square_loss),
            ByNumbers("bisection on the slope of the objective", _minimise, ROUNDING),
            uses=("result-3-3.moreau-minimiser",),
        ),
        claim(
            "result-3-3.local-field-variance",
            "V(kappa), the part of the local field's variance that replicas do not share", paper(APPENDIX, 102),
            eq(s.V, V), PLAIN,
            ByDerivation(sample_energy.local_fields),
        ),
        claim(
            "result-3-3.local-field-mean",
            "The part of the local field that replicas share, jointly Gaussian with the label", paper(APPENDIX, 128),
            eq(s.field_mean, mu1 * s.psi * s.z + sp.sqrt(mu1**2 * s.q1 + mu2**2 * s.q2 - mu1**2 * s.psi**2) * s.xi),
            Domain((Range(s.psi, 0.1, 0.4), Range(s.q1, 0.5, 1.0), Range(s.kappa, -1.0, 1.0)), (), (GENERIC,)),
            ByDerivation(sample_energy.local_fields),
        ),
        claim(
            "result-3-3.energetic-term", "Energy of one sample averaged over everything but kappa", paper(APPENDIX),
            eq(s.moreau, e2 / (2 * (1 + V))), Domain((Range(s.kappa, -1.5, 1.5),), (), (GENERIC,)),
            ByDerivation(sample_energy.energetic),
            uses=("result-3-3.moreau-envelope", "result-3-3.local-field-variance", "result-3-3.local-field-mean",
                  "replicas.output", "replicas.field-covariance", "replicas.label-covariance",
                  "replicas.independent-samples"),
        ),
        claim(
            "result-3-3.trace-term", "Trace term at zero replicas and zero temperature", paper(APPENDIX, 103),
            eq(s.trace_term,
               (s.V1_hat * s.q1 - s.q1_hat * s.V1 + s.V2_hat * s.q2 - s.q2_hat * s.V2) / 2
               - s.zeta_hat * s.zeta
               - s.psi_hat * s.psi),
            PLAIN,
            ByDerivation(free_energy.trace),
            kind=Kind.LIMIT,
        ),
        claim(
            "result-3-3.sherman-morrison", "The spike direction in the resolvent, by a perturbation of rank one",
            paper(APPENDIX, 107, 108, 109),
            eq(s.spike_resolvent_bulk,
               s.spike_resolvent + s.V1_hat * s.spike_resolvent**2 / (1 - s.V1_hat * s.spike_resolvent)),
            Domain((*_MATRICES, Range(s.V1_hat, 0.1, 3.0, log=True))),
            ByDerivation(free_energy.spike_inversion), ByNumbers("random matrices", _random_matrix, QUADRATURE),
        ),
        claim(
            "result-3-3.entropic-term", "Entropic term of the ridge penalty", paper(APPENDIX, 98, 110, 114),
            eq(s.entropic_term,
               nu((s.q1_hat * varrho + s.q2_hat + s.beta * s.psi_hat**2 * varrho * varpi**2) / S) / 2
               + s.beta * s.zeta_hat**2 * I_nu / (2 * (1 - x))),
            law_numbers.CONJUGATES,
            ByDerivation(free_energy.entropic), law_numbers.dense,
            uses=("result-3-3.sherman-morrison", "replicas.entropic-mode", "replicas.rescaling", "dropped.cross-term",
                  "dropped.target-at-spike", "dropped.noise-at-spike"),
        ),
        claim(
            "result-3-3.free-energy", "Replica-symmetric free energy, for any limiting law of the bulk",
            paper(APPENDIX, 116),
            eq(s.free_energy, free_energy_value), law_numbers.MODELS,
            ByDerivation(free_energy.assembled), objective,
            uses=("result-3-3.energetic-term", "result-3-3.trace-term", "result-3-3.entropic-term", "replicas.identity",
                  "dropped.m-hat", "result-3-2.same-test-error"),
            note="The limit under the replica hypotheses: that finite networks tend to it is not proved.",
        ),
    )


def _minimise(point: Point) -> Mapping[str, float]:
    """Minimum over h of (h - omega)^2/(2V) + (b - h)^2/2, by bisection on its increasing slope."""
    variance, omega, target = (float(point[symbol.name]) for symbol in (s.V, s.field_mean, s.residual))
    low, high = min(omega, target), max(omega, target)
    for _ in range(200):
        middle = (low + high) / 2
        if (middle - omega) / variance + (middle - target) < 0:
            low = middle
        else:
            high = middle
    h = (low + high) / 2
    return {s.local_field.name: h, s.moreau.name: (h - omega) ** 2 / (2 * variance) + (target - h) ** 2 / 2}


_MATRICES = (Range("rows", 5.0, 40.0), Range("columns", 5.0, 40.0), Range("seed", 0.0, 1e6))


def _random_matrix(point: Point) -> Mapping[str, float]:
    """s.G s and s.G0 s of one Gaussian matrix and one unit vector, by solving linear systems."""
    generator = np.random.default_rng(int(float(point["seed"])))
    p, d = int(float(point["rows"])), int(float(point["columns"]))
    W = generator.normal(size=(p, d)) / np.sqrt(d)
    v = generator.normal(size=d)
    v /= np.linalg.norm(v)
    spike = W @ v
    conjugate = float(point[s.V1_hat.name])
    bulk = W @ W.T
    with_spike = 0.3 * np.eye(p) + conjugate * bulk
    without = with_spike - conjugate * np.outer(spike, spike)
    return {
        s.spike_resolvent.name: float(spike @ np.linalg.solve(with_spike, spike)),
        s.spike_resolvent_bulk.name: float(spike @ np.linalg.solve(without, spike)),
    }


_LAW = (
    Range(s.beta, 0.3, 3.0, log=True),
    Range(s.c, 0.5, 2.0),
    Range(s.ridge, 0.05, 5.0, log=True),
    Range(s.V1_hat, 0.1, 5.0, log=True),
    Range(s.V2_hat, 0.1, 5.0, log=True),
)


def _marchenko_pastur(point: Point) -> Mapping[str, float]:
    beta, c, ridge, first, second = (float(point[symbol.name]) for symbol in (s.beta, s.c, s.ridge, s.V1_hat, s.V2_hat))
    return density_integrals(beta, c, ridge + second, first)


density = ByNumbers("integrals over the Marchenko-Pastur density", _marchenko_pastur, QUADRATURE)


def _law_claims() -> tuple[Claim, ...]:
    shift = s.ridge + s.V2_hat
    slope = shift + s.c * s.V1_hat * (1 - s.beta)
    leading = s.beta * s.c * s.V1_hat * shift
    regular = 1 - s.beta * s.V1_hat**2 * s.V1**2
    law = Domain(_LAW)
    return (
        claim(
            "result-3-3.marchenko-pastur-V1", "V1 from V2 for isotropic rows", paper(APPENDIX),
            eq(s.V1, s.c * s.V2 / (1 + s.beta * s.c * s.V1_hat * s.V2)), law,
            ByDerivation(marchenko_pastur.cavity), density,
            kind=Kind.FIXED_POINT,
            note="An identity between limits: that the traces of one finite bulk tend to them is assumed, not proved.",
        ),
        claim(
            "result-3-3.marchenko-pastur-V2", "V2 as the positive root of its quadratic equation", paper(APPENDIX, 117),
            eq(s.V2, (-slope + sp.sqrt(slope**2 + 4 * leading)) / (2 * leading)), law,
            ByDerivation(marchenko_pastur.quadratic), density,
            kind=Kind.FIXED_POINT, uses=("result-3-3.marchenko-pastur-V1",),
            note="An identity between limits: that the traces of one finite bulk tend to them is assumed, not proved.",
        ),
        claim(
            "result-3-3.resolvent-square", "Trace of the squared resolvent", paper(SECTION),
            eq(s.resolvent_square, s.V2**2 / regular), law,
            ByDerivation(marchenko_pastur.second_moments), density,
            uses=("result-3-3.marchenko-pastur-V1",),
        ),
        claim(
            "result-3-3.resolvent-mixed", "Trace of the bulk covariance with the squared resolvent", paper(SECTION),
            eq(s.resolvent_mixed, s.V1**2 / (s.c * regular)), law,
            ByDerivation(marchenko_pastur.second_moments), density,
            uses=("result-3-3.marchenko-pastur-V1",),
        ),
        claim(
            "result-3-3.resolvent-double", "Trace of the bulk covariance twice with the resolvent", paper(SECTION),
            eq(s.resolvent_double, s.V1**2 * (s.beta + s.V1**2 / (s.c**2 * s.V2**2 * regular))), law,
            ByDerivation(marchenko_pastur.second_moments), density,
            uses=("result-3-3.marchenko-pastur-V1",),
        ),
        claim(
            "result-3-3.spike-resolvent", "The resolvent along the spike: the slides' form is beta c V2",
            paper(APPENDIX),
            eq(s.spike_resolvent_bulk, s.beta * s.c * s.V2), law,
            ByDerivation(marchenko_pastur.spike_direction),
            uses=("result-3-3.sherman-morrison", "result-3-3.marchenko-pastur-V1"),
            note="An identity between limits: that the traces of one finite bulk tend to them is assumed, not proved.",
        ),
    )


CLAIMS: tuple[Claim, ...] = (*_free_energy_claims(), *_law_claims())

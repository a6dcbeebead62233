"""Claims of Appendix F: the spectrum of the feature covariance (equations (173)-(191))."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.free_energy import replica_gaussians
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2, varrho, vartau
from giantsteps.derivations.free_energy.along_spike import over_kappa as E
from giantsteps.derivations.kernel.algebra import order
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.spectrum import feature_covariance
from giantsteps.derivations.spectrum import resolvent as spectrum
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, said
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import fit, nu, q, ratio
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import FINITE_DIFFERENCE, ROUNDING, SOLVER
from giantsteps.verify.second_route import spectra
from giantsteps.verify.second_route.models import DOMAIN, GENERIC, functions_at
from giantsteps.verify.second_route.replicas import readouts as readouts_at
from giantsteps.verify.second_route.spectra import V, z
from giantsteps.verify.solver.models import measured, result_3_3
from giantsteps.verify.solver.spectrum import beside, schur_numbers

APPENDIX = "Appendix F"

S = -z + s.V1_hat * varrho + s.V2_hat


def _numbered(
    name: str,
    title: str,
    statement: sp.Equality,
    checks: tuple[Check, ...],
    *numbers: int,
    wrong: sp.Expr,
    other: sp.Expr | None = None,
    section: str = APPENDIX,
    kind: Kind | None = None,
    domain: Domain = spectra.SEEDED,
    uses: tuple[str, ...] = (),
    note: str = "",
) -> Claim:
    also = {} if other is None else {"another wrong version": other}
    return claim(
        f"appendix-f.{name}", title, paper(section, *numbers), statement, domain, *checks,
        kind=kind, wrong={"wrong version": wrong, **also}, uses=uses, note=note,
    )


def _setup_claims() -> tuple[Claim, ...]:
    mean = (mu0 + s.kappa * mu1 * s.spike_overlap) * (mu0 + s.kappa * mu1 * s.other_overlap)
    covariance = E(mean) + E(mu1**2) * s.projected_product + E(mu2**2) * s.replica_delta
    features = ByNumbers("nine random features of seven neurons", spectra.finite_features, FINITE_DIFFERENCE)
    readouts = ByNumbers("two random readouts of eight neurons", readouts_at, ROUNDING, lambda _: GENERIC)
    total = s.mode_curvature - s.replicas * s.mode_coupling
    integral = -((s.replicas - 1) * sp.log(s.mode_curvature) + sp.log(total)) / 2 + s.replicas * s.mode_force**2 / (
        2 * total
    )
    return (
        _numbered(
            "population", "Population covariance of the equivalent features", eq(s.population, covariance),
            (ByNumbers("sums in three dimensions", spectra.population, ROUNDING, lambda _: GENERIC),
             ByDerivation(feature_covariance.population)),
            173,
            wrong=covariance - E(mu0**2) + E(mu0) ** 2,
        ),
        claim(
            "appendix-f.stieltjes-transform", "Stieltjes transform of the empirical covariance Phi^T Phi/p",
            paper(APPENDIX, 174), eq(s.stieltjes, s.trace_resolvent), Domain(),
            kind=Kind.DEFINITION,
            note="A definition. With Phi^T Phi/n the argument is rescaled by alpha/beta.",
        ),
        _numbered(
            "log-partition", "The resolvent's trace as the slope of a Gaussian integral",
            eq(s.log_partition_slope, s.trace_resolvent), (features, ByDerivation(feature_covariance.log_partition)),
            175,
            wrong=s.trace_resolvent / 2, uses=("appendix-f.stieltjes-transform",),
        ),
        _numbered(
            "weight", "The Gaussian weight of a readout",
            eq(s.gibbs_exponent, z * s.readout_norm / 2 - s.readout_energy / 2),
            (features, ByDerivation(feature_covariance.log_partition)), 176,
            wrong=z * s.readout_norm / 2 - s.readout_energy,
        ),
        _numbered(
            "replica-identity", "The average of ln Z from the moments of Z", eq(s.moment_slope, s.mean_log),
            (ByNumbers("laws of five values", spectra.moments, FINITE_DIFFERENCE),
             ByDerivation(feature_covariance.replica_identity)),
            177,
            wrong=2 * s.mean_log,
            note="For a law of finitely many values; that the continuation from integers R is the right one is the "
                 "replica hypothesis.",
        ),
        _numbered(
            "independent-samples", "Moments of Z: one factor for each independent sample",
            eq(s.replicated_weight, s.sample_average**s.n),
            (ByNumbers("four samples of three values", spectra.samples, ROUNDING),
             ByDerivation(feature_covariance.independent_samples)),
            178,
            wrong=s.sample_average ** (s.n + 1),
            note="At fixed readouts, under the integral over them with the weight exp(z sum |a_i|^2/2).",
        ),
        _numbered(
            "output", "Output of one replica: mean, spike, local field",
            eq(s.letter_output, mu0 * s.m + s.kappa * mu1 * s.zeta + s.letter_field),
            (readouts, ByDerivation(feature_covariance.outputs)), 179,
            wrong=mu0 * s.m + mu1 * s.zeta + s.letter_field,
        ),
        _numbered(
            "local-fields", "Covariance of the local fields of two replicas",
            eq(s.field_covariance, mu1**2 * s.q1 + mu2**2 * s.q2), (readouts, ByDerivation(feature_covariance.outputs)),
            180, 181,
            wrong=mu1 * s.q1 + mu2 * s.q2, uses=("appendix-f.output",),
        ),
        _numbered(
            "replicated-mode", "Gaussian integral over the replicas of one mode", eq(s.log_mode_integral, integral),
            (ByNumbers("one to four replicas, by linear algebra", spectra.few_replicas, ROUNDING),
             ByDerivation(replica_gaussians.integral)),
            182,
            wrong=integral - sp.log(s.mode_curvature) / 2, domain=spectra.MODES,
            uses=("appendix-f.independent-samples", "appendix-d.replicated-sample"),
            note="The action of E Z^R: this integral for every mode, one sample's average for every sample, and the "
                 "trace term. For symbolic R.",
        ),
        claim(
            "appendix-f.replica-symmetry", "Replica-symmetric overlaps and conjugates", paper(APPENDIX, 183, 184, 185),
            eq(s.replica_overlap, s.own_overlap * s.replica_delta + s.shared_overlap),
            Domain(hypotheses=("the replica-symmetric ansatz",)),
            kind=Kind.DEFINITION, note="An ansatz, assumed.",
        ),
    )


I_nu = nu(varrho * vartau**2 / S)
resolvent = s.beta * I_nu / (1 - s.beta * s.V1_hat * I_nu)


def _stationary_claims() -> tuple[Claim, ...]:
    phi = (
        (s.V1_hat * s.V1 + s.V1_hat * s.q1 - s.q1_hat * s.V1) / 2
        + (s.V2_hat * s.V2 + s.V2_hat * s.q2 - s.q2_hat * s.V2) / 2
        - s.zeta_hat * s.zeta
        - nu(sp.log(S)) / 2
        + nu((s.q1_hat * varrho + s.q2_hat) / S) / 2
        + s.zeta_hat**2 * resolvent / 2
        - ratio / 2 * E(sp.log(1 + V) + (q + fit**2) / (1 + V))
    )
    numbered = partial(_numbered, kind=Kind.FIXED_POINT, domain=spectra.PLAIN, uses=("appendix-f.free-entropy",))

    def stationary(variable: sp.Symbol) -> ByDerivation:
        return ByDerivation(partial(spectrum.equation, variable))

    solver = ByNumbers("the ridge solver at lambda = -z", measured, SOLVER, functions_at, points=6)
    mixed = E(mu0 * s.kappa * mu1 / (1 + V))
    slope = E(s.kappa * mu1 * fit / (1 + V))
    gain, own_slope = ratio * s.spike_resolvent_bulk, E(s.kappa**2 * mu1**2 / (1 + V))
    return (
        numbered(
            "free-entropy", "Replica-symmetric free entropy, determinants included", eq(s.free_entropy, phi),
            (ByDerivation(spectrum.free_entropy),), 186,
            wrong=phi + nu(sp.log(S)), kind=Kind.IDENTITY,
            uses=("appendix-f.replicated-mode", "appendix-f.local-fields", "appendix-f.replica-symmetry",
                  "result-3-3.sherman-morrison"),
            note="Up to a constant. The spike's part is zeta^^2 s.G s/2 with s.G s by Sherman-Morrison.",
        ),
        numbered(
            "m", "Stationarity in m", eq(s.m, -s.zeta * mixed / E(mu0**2 / (1 + V))), (stationary(s.m),), 187,
            wrong=-s.zeta * mixed,
        ),
        numbered(
            "zeta-hat", "Stationarity in zeta", eq(s.zeta_hat, -ratio * slope), (stationary(s.zeta),),
            section="Appendix F, of the group (187)",
            wrong=ratio * slope,
            # So that V < 1: with a wrong sign 1 - V must not vanish along kappa, or no witness can be averaged.
            domain=replace(
                spectra.PLAIN, ranges=(*spectra.PLAIN.ranges, Range(s.V1, 0.05, 0.2), Range(s.V2, 0.05, 0.2))
            ),
        ),
        numbered(
            "zeta", "Stationarity in the conjugate of zeta", eq(s.zeta, s.zeta_hat * resolvent),
            (stationary(s.zeta_hat),),
            section="Appendix F, of the group (187)", wrong=s.zeta_hat * s.beta * I_nu,
        ),
        numbered(
            "combined", "zeta in terms of m, its conjugate eliminated",
            eq(s.zeta, -gain * s.m * mixed / (1 + gain * own_slope)), (ByDerivation(spectrum.combined),), 188,
            wrong=-gain * s.m * mixed / (1 - gain * own_slope), uses=("appendix-f.zeta", "appendix-f.zeta-hat"),
        ),
        claim(
            "appendix-f.schur", "What m leaves of the coefficient of zeta is not negative: Cauchy-Schwarz",
            paper("Appendix F, of the group (188)"), ge(s.schur, 0), DOMAIN,
            ByTheorem("an average of squares", _schur),
            ByNumbers("averages at the solver's saddle point", schur_numbers, SOLVER),
            wrong={"at least one half": sp.Rational(1, 2), "never positive": le(s.schur, 0)},
        ),
        numbered(
            "zeta-vanishes", "There is no overlap with the spike without a target", eq(s.zeta, sp.S.Zero),
            (ByDerivation(spectrum.vanishing_overlaps),),
            section="Appendix F, of the group (188)", wrong=sp.S.One, other=gain,
            uses=("appendix-f.combined", "appendix-f.schur", "appendix-f.m"),
        ),
        numbered(
            "m-vanishes", "There is no mean readout without a target", eq(s.m, sp.S.Zero),
            (ByDerivation(spectrum.vanishing_overlaps),),
            section="Appendix F, of the group (188)", wrong=s.beta, other=-mixed, uses=("appendix-f.zeta-vanishes",),
        ),
        numbered(
            "sizes-vanish", "What replicas share vanishes with m and zeta", eq(s.q2, sp.S.Zero),
            (ByDerivation(spectrum.no_sizes),),
            section="Appendix F, of the group (189)", wrong=s.V2, other=s.q2_hat,
            uses=("appendix-f.zeta-vanishes", "appendix-f.m-vanishes"),
        ),
        numbered(
            "V1-hat", "Conjugate of q1", eq(s.V1_hat, ratio * E(mu1**2 / (1 + V))),
            (solver, result_3_3, stationary(s.q1)), 189,
            wrong=ratio * E(mu1**2) / (1 + s.V1), domain=DOMAIN,
        ),
        numbered(
            "V2-hat", "Conjugate of q2", eq(s.V2_hat, ratio * E(mu2**2 / (1 + V))),
            (solver, result_3_3, stationary(s.q2)),
            section="Appendix F, of the group (189)", wrong=ratio * E(mu1**2 / (1 + V)), domain=DOMAIN,
        ),
        numbered(
            "V1", "Trace of the bulk with the resolvent", eq(s.V1, nu(varrho / S)), (stationary(s.q1_hat),),
            section="Appendix F, of the group (189)", wrong=nu(varrho) * nu(1 / S),
        ),
        numbered(
            "V2", "Trace of the resolvent", eq(s.V2, nu(1 / S)), (stationary(s.q2_hat),),
            section="Appendix F, of the group (189)", wrong=nu(varrho / S),
        ),
        numbered(
            "stieltjes", "The Stieltjes transform is V2 at lambda = -z", eq(s.stieltjes, s.V2),
            (ByDerivation(spectrum.stieltjes),
             BySimulation("resolvents of simulated features", spectra.resolvents(beside))), 190,
            wrong=s.V1, domain=spectra.PLAIN,
            uses=("appendix-f.free-entropy", "appendix-f.sizes-vanish", "appendix-f.log-partition"),
        ),
        numbered(
            "outlier", "Spike eigenvalue of the population covariance, leading order",
            eq(s.spike_eigenvalue_rate, E(mu0**2)),
            (ByDerivation(feature_covariance.outlier),
             BySimulation("population covariances of sampled bulks", spectra.OUTLIERS)),
            191,
            wrong=E(mu0) ** 2, uses=("appendix-f.population",), kind=Kind.LIMIT,
            note="Where E[mu0^2] > 0. The correction is O(1/p); the eigenvalue of Phi^T Phi/p is alpha/beta times as "
                 "large.",
        ),
    )


def _schur(statement: Relational) -> Theorem:
    """The inequality as a theorem."""
    _, bound = spectrum.schur()
    return order((bound,), said(statement), (sp.Integer(1),))


CLAIMS: tuple[Claim, ...] = (*_setup_claims(), *_stationary_claims())

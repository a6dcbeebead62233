"""The covariance of the features, as a Gaussian integral over readouts: Appendix F, (173)-(181) and (191)."""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2, over_kappa
from onestep.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES
from onestep.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.spectrum import symbols as s

SOURCE = f"{PAPER}, Appendix F"


HYPOTHESES = (*REPLICA_HYPOTHESES[:2], "large d and small R limits are exchanged")


z = s.stieltjes_argument


@functools.cache
def population() -> Derivation:
    """Equation (173): E[phi_k phi_l] of the equivalent map, entry by entry."""
    x, noises = sp.symbols("x_1 x_2", real=True), sp.symbols("xi_k xi_l", real=True)
    rows = {k: sp.symbols(f"w_{k}1 w_{k}2", real=True) for k in "kl"}
    same = s.replica_delta

    def feature(k: str, overlap: sp.Expr, noise: sp.Expr) -> sp.Expr:
        return mu0 + mu1 * (s.kappa * overlap + sum(w * t for w, t in zip(rows[k], x, strict=True))) + mu2 * noise

    # delta_kl: one noise variable for a neuron with itself, two for two neurons; E[xi_k xi_l] = delta_kl.
    product = sp.expand(feature("k", s.spike_overlap, noises[0]) * feature("l", s.other_overlap, noises[1]))
    given = expand_expectations(Expectation(product, *x, *noises))
    cross = expand_expectations(Expectation(product.coeff(noises[0]).coeff(noises[1]), *x))
    inner = sum(a * b for a, b in zip(rows["k"], rows["l"], strict=True))
    mean = (mu0 + s.kappa * mu1 * s.spike_overlap) * (mu0 + s.kappa * mu1 * s.other_overlap)
    conditional = mean + mu1**2 * s.projected_product + mu2**2 * same
    result = over_kappa(conditional)
    steps = (
        Step(
            "A feature of the equivalent map: mu0 + mu1 (kappa w.v + w.x_perp) + mu2 xi, with x_perp and xi Gaussian.",
            eq(s.feature_value, feature("k", s.spike_overlap, noises[0])),
        ),
        Step(
            "Averaged over x_perp and xi at fixed kappa: means multiply, x_perp adds mu1^2 w_k.Pi w_l, and the noise "
            "of a neuron with itself mu2^2. Two components of x_perp are shown.",
            eq(sp.Symbol(r"\mathbb{E}[\varphi_k\varphi_l|\kappa]"), conditional),
            Vanishing("two neurons", sp.expand(given - mean - mu1**2 * inner)),
            Vanishing("the noise of one neuron", cross - mu2**2),
        ),
        Step(
            "Averaged over kappa, term by term.",
            eq(s.population, result),
            Vanishing(
                "five averages",
                result
                - over_kappa(mu0**2)
                - (s.spike_overlap + s.other_overlap) * over_kappa(s.kappa * mu0 * mu1)
                - s.spike_overlap * s.other_overlap * over_kappa(s.kappa**2 * mu1**2)
                - s.projected_product * over_kappa(mu1**2)
                - same * over_kappa(mu2**2),
            ),
        ),
    )
    return Derivation("population covariance", f"{SOURCE}, (173)", *steps, results={s.population: result})


@functools.cache
def log_partition() -> Derivation:
    """Equations (174)-(176): the resolvent's trace as the derivative of a Gaussian integral, mode by mode."""
    eigenvalue = sp.Symbol("s_k", nonnegative=True)
    integral_of_mode = sp.sqrt(2 * sp.pi / (eigenvalue - z))
    slope = 2 * sp.diff(sp.log(integral_of_mode), z)
    a = sp.symbols("a_1 a_2", real=True)
    features = sp.Matrix(2, 2, sp.symbols("phi_11 phi_12 phi_21 phi_22", real=True))
    readout = sp.Matrix(a)
    energy = sum((features.row(k) * readout)[0] ** 2 for k in range(2)) / s.p
    form = (readout.T * (features.T * features / s.p) * readout)[0]
    exponent = z * s.readout_norm / 2 - s.readout_energy / 2
    steps = (
        Step(
            "sum over samples of (a.phi)^2/p is a.S a with S = Phi^T Phi/p. Two samples and two neurons are shown.",
            eq(s.readout_energy, s.readout_form),
            Vanishing("the quadratic form", sp.expand(energy - form)),
        ),
        Step(
            "So the weight exp(z|a|^2/2 - sum (a.phi)^2/(2p)) is Gaussian, with inverse covariance S - z, positive "
            "for z below the spectrum.",
            eq(s.gibbs_exponent, exponent.subs(s.readout_energy, s.readout_form)),
            Vanishing(
                "minus half the form of S - z",
                exponent.subs({s.readout_norm: (readout.T * readout)[0], s.readout_energy: energy})
                + (readout.T * (features.T * features / s.p - z * sp.eye(2)) * readout)[0] / 2,
            ),
        ),
        Step(
            "In a mode of eigenvalue s the integral is sqrt(2 pi/(s - z)); twice the derivative of its logarithm is "
            "1/(s - z).",
            eq(s.log_partition_slope, s.trace_resolvent),
            Vanishing("one mode", sp.simplify(slope) - 1 / (eigenvalue - z)),
        ),
    )
    return Derivation(
        "resolvent as a Gaussian integral",
        f"{SOURCE}, (174)-(176)",
        *steps,
        results={
            s.log_partition_slope: s.trace_resolvent,
            s.gibbs_exponent: exponent.subs(s.readout_energy, s.readout_form),
            s.readout_energy: s.readout_form,
        },
    )


@functools.cache
def replica_identity() -> Derivation:
    """Equation (177): E ln Z is the slope of ln E Z^R at R = 0, for a law of finitely many values."""
    R = s.replicas
    weight = sp.Symbol("w", positive=True)
    first, second = sp.symbols("Z_1 Z_2", positive=True)
    moments = weight * first**R + (1 - weight) * second**R
    slope = sp.diff(sp.log(moments), R).subs(R, 0)
    result = sp.expand(slope)
    steps = (
        Step(
            "For a law of two values, with any weights: ln E Z^R vanishes at R = 0 and its slope is the average of ln "
            "Z. More values add terms.",
            eq(s.moment_slope, result),
            Vanishing("zero replicas", sp.log(sp.expand(moments.subs(R, 0)))),
            Vanishing("E Z^0 = 1", moments.subs(R, 0) - 1),
        ),
        Step(
            "So the slope is E ln Z.",
            eq(s.moment_slope, s.mean_log),
            Vanishing("the slope", result - weight * sp.log(first) - (1 - weight) * sp.log(second)),
        ),
    )
    return Derivation(
        "replica identity of the spectrum",
        f"{SOURCE}, (177)",
        *steps,
        results={s.moment_slope: s.mean_log},
        hypotheses=HYPOTHESES[:1],
    )


@functools.cache
def independent_samples() -> Derivation:
    """Equation (178): at fixed readouts the average over n independent samples is the n-th power of one sample's."""
    weight, values = sp.Symbol("w", positive=True), sp.symbols("F_1 F_2", positive=True)
    earlier = sp.Symbol(r"F_{n-1}", positive=True)
    one = weight * values[0] + (1 - weight) * values[1]
    # A new sample whose factor has two values, beside all earlier ones, of which it is independent.
    together = weight * earlier * values[0] + (1 - weight) * earlier * values[1]
    result = s.sample_average**s.n
    steps = (
        Step(
            "Z^R is an integral over R readouts, under which the average over the samples passes. Given the readouts "
            "each further sample multiplies the average by one sample's; a factor of two values is shown.",
            eq(s.replicated_weight, result),
            Vanishing("one more sample, one more factor", sp.expand(together - earlier * one)),
            Vanishing("no sample", result.subs(s.n, 0) - 1),
        ),
    )
    return Derivation("independent samples", f"{SOURCE}, (178)", *steps, results={s.replicated_weight: result})


@functools.cache
def outputs() -> Derivation:
    """Equations (179)-(181): the output of one replica, and the covariance of the local fields of two."""
    x, noises = sp.symbols("x_1 x_2", real=True), sp.symbols("xi_1 xi_2", real=True)
    vectors = {i: sp.symbols(f"A^{i}_1 A^{i}_2", real=True) for i in (1, 2)}  # Pi W^T a_i/sqrt p
    weights = {i: sp.symbols(f"a^{i}_1 a^{i}_2", real=True) for i in (1, 2)}  # a_i/sqrt p

    def field(i: int) -> sp.Expr:
        return sum(mu1 * vectors[i][k] * x[k] + mu2 * weights[i][k] * noises[k] for k in (0, 1))

    a = sp.symbols("a_1 a_2", real=True)
    along, fields = sp.symbols("s_1 s_2", real=True), sp.symbols("f_1 f_2", real=True)
    total = sum(a[k] * (mu0 + s.kappa * mu1 * along[k] + fields[k]) for k in (0, 1)) / sp.sqrt(s.p)
    overlaps = [sum(a[k] * w[k] for k in (0, 1)) / sp.sqrt(s.p) for w in ((1, 1), along, fields)]
    output = mu0 * s.m + s.kappa * mu1 * s.zeta + s.letter_field
    collected = output.subs({s.m: overlaps[0], s.zeta: overlaps[1], s.letter_field: overlaps[2]})
    first, second = (sum(v[1][k] * v[2][k] for k in (0, 1)) for v in (vectors, weights))
    covariance = expand_expectations(Expectation(sp.expand(field(1) * field(2)), *x, *noises))
    result = mu1**2 * s.q1 + mu2**2 * s.q2
    steps = (
        Step(
            "Given kappa a replica's output is mu0 m_i + kappa mu1 zeta_i plus h_i = mu1 a_i.W x_perp/sqrt p + mu2 "
            "a_i.xi/sqrt p.",
            eq(s.letter_output, output),
            Vanishing("neurons collected; two are shown", sp.expand(total - collected)),
        ),
        Step(
            "Wick's rule: E[h_i h_j] = mu1^2 q1_ij + mu2^2 q2_ij, overlaps of equation (181). Two components are "
            "shown.",
            eq(s.field_covariance, result),
            Vanishing("covariance of two replicas", sp.expand(covariance - mu1**2 * first - mu2**2 * second)),
        ),
    )
    return Derivation(
        "local fields without target",
        f"{SOURCE}, (179)-(181)",
        *steps,
        results={s.field_covariance: result, s.letter_output: output},
    )


@functools.cache
def outlier() -> Derivation:
    """Equation (191): the largest eigenvalue of the population covariance over p, squeezed between two bounds."""
    mean_square = over_kappa(mu0**2)
    a, b, c, e, t = sp.symbols("a b c e t", positive=True)
    # p = t^2; Sigma = a 1 1^T + b (1 s^T + s 1^T) + rest, |s|^2 <= e, |rest| <= c.
    upper = (a * t**2 + 2 * b * e * t + c) / t**2
    lower = (a * t**2 - 2 * b * e * t) / t**2
    steps = (
        Step(
            "Sigma = E[mu0^2] 1 1^T + E[kappa mu0 mu1](1 s^T + s 1^T) + rest, where |s| = |Wv| and the rest, E[kappa^2 "
            "mu1^2] s s^T + E[mu1^2] W Pi W^T + E[mu2^2], have norms that stay bounded; 1 1^T has norm p.",
            eq(
                s.population,
                over_kappa((mu0 + s.kappa * mu1 * s.spike_overlap) * (mu0 + s.kappa * mu1 * s.other_overlap)),
            ),
        ),
        Step(
            "From above by the norms of the three parts, from below by the vector of ones: with p = t^2 both bounds "
            "over p tend to E[mu0^2].",
            eq(s.spike_eigenvalue_rate, mean_square),
            RationalLimit("the upper bound", upper, t, a),
            RationalLimit("the lower bound", lower, t, a),
            NonNegative("the bounds are in order", upper - lower, ((4 * b * e / t + c / t**2, sp.S.One),)),
        ),
    )
    return Derivation(
        "spike eigenvalue",
        f"{SOURCE}, (191)",
        *steps,
        results={s.spike_eigenvalue_rate: mean_square},
        hypotheses=("the norms of W and of W v stay bounded as p grows",),
    )

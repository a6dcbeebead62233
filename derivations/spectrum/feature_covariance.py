"""The covariance of the features, as a Gaussian integral over readouts: Appendix F, (173)-(181) and (191)."""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, PAPER, mu0, mu1, mu2, over_kappa, over_modes
from giantsteps.derivations.free_energy.assumptions import gaussian
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.replicas import log_partition as log_of_draw
from giantsteps.derivations.free_energy.replicas import moment, of_samples, one_replica
from giantsteps.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.calculus import slope
from giantsteps.derivations.kernel.limits import limit_rational, name_limit, squeeze
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expansion
from giantsteps.derivations.kernel.search.steps import by_ring
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sample_exponent, sample_exponent_slope
from giantsteps.derivations.spectrum import symbols as s

SOURCE = f"{PAPER}, Appendix F"


HYPOTHESES = (*REPLICA_HYPOTHESES[:2], "large d and small R limits are exchanged")


z = s.stieltjes_argument
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)


def noise_beside(noise: sp.Symbol, own: sp.Symbol) -> sp.Expr:
    """The noise of neuron l beside that of neuron k: the same for one neuron, delta_kl = 1, independent for two."""
    same = s.replica_delta
    return same * noise + sp.sqrt(1 - same**2) * own


def feature(overlap: sp.Expr, rest: sp.Expr, noise: sp.Expr) -> sp.Expr:
    """A feature of the equivalent map: mu0 + mu1 (kappa w.v + w.x_perp) + mu2 xi."""
    return mu0 + mu1 * (s.kappa * overlap + rest) + mu2 * noise


@functools.cache
def population() -> Derivation:
    """Equation (173): E[phi_k phi_l] of the equivalent map, entry by entry."""
    x, noises = sp.symbols("x_1 x_2", real=True), sp.symbols("xi_k xi_l", real=True)
    rows = {k: sp.symbols(f"w_{k}1 w_{k}2", real=True) for k in "kl"}
    rests = {k: sp.Add(*(w * t for w, t in zip(rows[k], x, strict=True))) for k in "kl"}
    first = feature(s.spike_overlap, rests["k"], noises[0])
    second = feature(s.other_overlap, rests["l"], noise_beside(*noises))
    product = define(
        s.projected_product,
        sp.Add(*(a * b for a, b in zip(rows["k"], rows["l"], strict=True))),
        "the inner product of two rows orthogonal to v; two components are shown",
    )
    given = expansion(Expectation(first * second, *x, *noises))
    averaged = average((given,), (s.kappa,))
    meaning = define(s.population, sides(averaged.statement)[0], "E[phi_k phi_l], over kappa and then all else")
    terms = averages_expanded(rewrite((meaning, averaged)), s.kappa)
    mean = (mu0 + s.kappa * mu1 * s.spike_overlap) * (mu0 + s.kappa * mu1 * s.other_overlap)
    of_mean = expansion(over_kappa(mean), s.kappa)
    closed = over_kappa(mean) + over_kappa(mu1**2) * s.projected_product + over_kappa(mu2**2) * s.replica_delta
    result = ring((terms, product, of_mean), Equation(s.population, closed), (_ONE, -over_kappa(mu1**2), -_ONE))
    return Derivation(
        "population covariance",
        f"{SOURCE}, (173)",
        proved("Two components of x_perp are shown.", product),
        proved("Two features of the equivalent map: mu0 + mu1 (kappa w.v + w.x_perp) + mu2 xi.", meaning),
        proved(
            "At fixed kappa means multiply, x_perp adds mu1^2 w_k.Pi w_l, and the noise of a neuron with itself mu2^2.",
            given,
        ),
        proved("Averaged over kappa, term by term.", terms),
        proved("Collected.", result),
    )


_eigenvalue = sp.Function("eigenvalue", nonnegative=True)(s.mode)
_log_partition, _rate = sp.symbols("L L'", real=True)


def curvature_of_mode() -> sp.Expr:
    """What a readout of one mode has for the inverse of its variance."""
    return _eigenvalue - z


@functools.cache
def log_partition() -> Derivation:
    """Equations (174)-(176): the resolvent's trace as the derivative of a Gaussian integral, mode by mode."""
    a, features = sp.symbols("a_1 a_2", real=True), sp.symbols("phi_11 phi_12 phi_21 phi_22", real=True)
    samples = (features[:2], features[2:])
    outputs_of = [sp.Add(*(weight * phi for weight, phi in zip(a, row, strict=True))) for row in samples]
    energy = define(
        s.readout_energy,
        sp.Add(*(output**2 for output in outputs_of)) / s.p,
        "sum over samples of (a.phi)^2/p; two samples and two neurons are shown",
    )
    entries = sp.Add(*(a[k] * a[j] * sp.Add(*(row[k] * row[j] for row in samples)) for k in (0, 1) for j in (0, 1)))
    form = define(s.readout_form, entries / s.p, "a.S a with S = Phi^T Phi/p")
    same = ring((energy, form), Equation(s.readout_form, s.readout_energy), (-_ONE, _ONE))
    exponent = define(
        s.gibbs_exponent, -(s.readout_form - z * s.readout_norm) / 2, "minus half of a.(S - z) a = a.S a - z |a|^2"
    )
    weight = rewrite((exponent, same))
    integral = one_replica(curvature_of_mode(), _ZERO)
    meaning = define(
        _log_partition, over_modes(sp.log(integral)), "(1/p) ln Z, mode by mode of S, less (1/2) ln 2 pi for each"
    )
    known = averages_expanded(rewrite((meaning, gaussian(integral, curvature_of_mode(), _ZERO))), s.mode)
    rate = slope((known,), z, _rate, "the derivative of (1/p) ln Z in z")
    twice = define(s.log_partition_slope, 2 * _rate, "twice the derivative of (1/p) ln Z in z")
    trace = define(s.trace_resolvent, over_modes(1 / (_eigenvalue - z)), "(1/p) tr (S - z)^-1, mode by mode")
    found = averages_expanded(rewrite((twice, rate)), s.mode)
    result = rewrite((found, averages_expanded(trace, s.mode)), True)
    return Derivation(
        "resolvent as a Gaussian integral",
        f"{SOURCE}, (174)-(176)",
        proved("sum over samples of (a.phi)^2/p is a.S a with S = Phi^T Phi/p.", same),
        proved(
            "So the weight exp(z|a|^2/2 - sum (a.phi)^2/(2p)) is Gaussian, with inverse covariance S - z, positive for "
            "z below the spectrum.",
            weight,
        ),
        proved("In a mode of eigenvalue s the integral is sqrt(2 pi/(s - z));", known),
        proved("twice the derivative of its logarithm is 1/(s - z).", result),
        results=(result, weight),
    )


@functools.cache
def replica_identity() -> Derivation:
    """Equation (177): E ln Z is the slope of ln E Z^R at R = 0."""
    R = s.replicas
    meaning = define(sample_exponent(R), sp.log(moment(R)), "ln E Z^R as a function of R", R)
    none = instantiate((meaning,), {R: _ZERO})
    name = define(s.moment_slope, sample_exponent_slope(_ZERO), "the slope of ln E Z^R at R = 0")
    mean = define(s.mean_log, Expectation(log_of_draw(s.z), s.z), "the average of ln Z over the data")
    result = rewrite((rewrite((name, slope_at_zero(meaning))), mean), True)
    return Derivation(
        "replica identity of the spectrum",
        f"{SOURCE}, (177)",
        proved("Z^R = exp(R ln Z), averaged over any law of Z.", meaning),
        proved("ln E Z^R vanishes at R = 0.", none),
        proved("Its slope there is the average of ln Z.", result),
        hypotheses=HYPOTHESES[:1],
    )


@functools.cache
def independent_samples() -> Derivation:
    """Equation (178): at fixed readouts the average over n independent samples is the n-th power of one sample's."""
    meaning, result = of_samples(
        s.replicated_weight,
        s.sample_average,
        "the average, at fixed readouts, of a product over n independent samples of factors of one law",
    )
    return Derivation(
        "independent samples",
        f"{SOURCE}, (178)",
        proved("Z^R is an integral over R readouts, under which the average over the samples passes.", meaning),
        proved("Given the readouts each further sample multiplies the average by one sample's.", result),
    )


# What a neuron has of a replica, by a label of the neurons: its weight, its row along the spike, its local field.
_neuron = sp.Symbol("k", real=True)
_weight, _along, _field = (sp.Function(name, real=True)(_neuron) for name in ("a_k", "s_k", "f_k"))


def over_neurons(integrand: sp.Expr) -> sp.Expr:
    """The sum over p neurons, over sqrt p, as an average over a label of the neurons."""
    return sp.sqrt(s.p) * Expectation(integrand, _neuron)


def local_field(vector: tuple[sp.Symbol, ...], weights: tuple[sp.Symbol, ...], *normals: sp.Symbol) -> sp.Expr:
    """mu1 (Pi W^T a/sqrt p).x + mu2 (a/sqrt p).xi, two components of each."""
    x, noises = normals[:2], normals[2:]
    return sp.Add(*(mu1 * vector[k] * x[k] + mu2 * weights[k] * noises[k] for k in (0, 1)))


@functools.cache
def outputs() -> Derivation:
    """Equations (179)-(181): the output of one replica, and the covariance of the local fields of two."""
    names = (
        define(s.m, over_neurons(_weight), "the sum of the weights over sqrt p"),
        define(s.zeta, over_neurons(_weight * _along), "a.W v/sqrt p"),
        define(s.letter_field, over_neurons(_weight * _field), "the sum of the local fields"),
    )
    feature_of_neuron = mu0 + s.kappa * mu1 * _along + _field
    whole = define(s.letter_output, over_neurons(_weight * feature_of_neuron), "sum over neurons of weight and feature")
    terms = averages_expanded(whole, _neuron)
    collected = by_ring(Equation(s.letter_output, ONE_LETTER.fit + s.letter_field), terms, *names)
    normals = sp.symbols("x_1 x_2 xi_1 xi_2", real=True)
    vectors = {i: sp.symbols(f"A^{i}_1 A^{i}_2", real=True) for i in (1, 2)}  # Pi W^T a_i/sqrt p
    weights = {i: sp.symbols(f"a^{i}_1 a^{i}_2", real=True) for i in (1, 2)}  # a_i/sqrt p
    q1, q2 = (
        define(name, sp.Add(*(v[1][k] * v[2][k] for k in (0, 1))), f"the product of {of} of two replicas")
        for name, v, of in ((s.q1, vectors, "Pi W^T a/sqrt p"), (s.q2, weights, "a/sqrt p"))
    )
    fields = [local_field(vectors[i], weights[i], *normals) for i in (1, 2)]
    meaning = define(s.field_covariance, Expectation(fields[0] * fields[1], *normals), "E[h_i h_j] at given kappa")
    covariance = averages_expanded(meaning)
    result = by_ring(Equation(s.field_covariance, ONE_LETTER.q), covariance, q1, q2)
    return Derivation(
        "local fields without target",
        f"{SOURCE}, (179)-(181)",
        proved("The output is a sum over neurons.", whole),
        *(proved(f"What ${sp.latex(sides(name.statement)[0])}$ collects.", name) for name in names),
        proved(
            "Given kappa a replica's output is mu0 m_i + kappa mu1 zeta_i plus h_i = mu1 a_i.W x_perp/sqrt p + mu2 "
            "a_i.xi/sqrt p.",
            collected,
        ),
        proved("The overlaps of equation (181); two components are shown.", q1),
        proved("That of the weights.", q2),
        proved("Wick's rule: E[h_i h_j] = mu1^2 q1_ij + mu2^2 q2_ij.", result),
        results=(result, collected),
    )


BOUNDED = "the norms of W and of W v stay bounded as p grows"
_root = sp.Symbol("t", positive=True)  # sqrt p
_largest = sp.Function("largest eigenvalue over p", real=True)(_root)
_length, _norm = sp.symbols("e c", positive=True)


def _bounded(name: str, left: sp.Expr, right: sp.Expr) -> Theorem:
    return hypothesis(name, AtLeast(left, right), BOUNDED, _root)


@functools.cache
def outlier() -> Derivation:
    """Equation (191): the largest eigenvalue of the population covariance over p, squeezed between two bounds."""
    mean_square, cross = over_kappa(mu0**2), sp.Abs(over_kappa(s.kappa * mu0 * mu1))
    # p = t^2; Sigma = a 1 1^T + b (1 s^T + s 1^T) + rest, |s| <= e, |rest| <= c.
    upper = (mean_square * _root**2 + 2 * cross * _length * _root + _norm) / _root**2
    lower = (mean_square * _root**2 - 2 * cross * _length * _root) / _root**2
    above, below = (
        _bounded("norms of three parts", upper, _largest),
        _bounded("on the constant vector", _largest, lower),
    )
    bounds = [limit_rational((), bound, mean_square, _root) for bound in (upper, lower)]
    between = squeeze((above, below, *bounds))
    result = name_limit((between,), s.spike_eigenvalue_rate, "the limit of the largest eigenvalue over p")
    return Derivation(
        "spike eigenvalue",
        f"{SOURCE}, (191)",
        proved(
            "Sigma = E[mu0^2] 1 1^T + E[kappa mu0 mu1](1 s^T + s 1^T) + rest, where |s| = |Wv| and the rest, E[kappa^2 "
            "mu1^2] s s^T + E[mu1^2] W Pi W^T + E[mu2^2], have norms that stay bounded; 1 1^T has norm p. From above "
            "by the norms of the three parts,",
            above,
        ),
        proved("from below by the vector of ones.", below),
        proved("With p = t^2 both bounds over p tend to E[mu0^2],", bounds[0]),
        proved("and what is between them.", result),
        hypotheses=(BOUNDED,),
    )

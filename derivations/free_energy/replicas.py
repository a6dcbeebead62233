r"""The replica computation of Appendix C, equations (74)-(95): from the Gibbs measure to one replica in a random field.

Readouts a are drawn with weight exp(-B risk); at B -> infinity only the minimum is left. E ln Z comes from the
moments E Z^R of R replicas. Averaged over a sample, replicas meet only in their overlaps; with the replica-symmetric
ansatz the sums over replicas are polynomials in R, and a Gaussian field decouples the replicas again.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, PAPER, mu0, mu1, mu2
from giantsteps.derivations.free_energy.assumptions import (
    exponential,
    gaussian,
    product_of,
    unfolded,
    updated_form,
    updated_log_det,
)
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.calculus import logarithm
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import by_ring, equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import (
    field_integral,
    field_integral_slope,
    log_det_of,
    log_det_of_slope,
    partition_moment,
    partition_moment_slope,
    repeated,
)

R, B = s.replicas, s.inverse_temperature
APPENDIX = f"{PAPER}, Appendix C"
log_partition = sp.Function("L", real=True)  # ln Z of one draw of the data, a function of one normal label z


@functools.cache
def gibbs() -> Derivation:
    """Equation (74): for a quadratic risk, a quartic test function averages to its value at the minimum."""
    a, S, z = s.minimum_point, s.mode_curvature, s.z
    drawn = define(
        s.replica_weight,
        a + z / sp.sqrt(B * S),
        "a normal variable around a^ of variance 1/(B S), with z standard normal",
    )
    exponent = B * S * (s.replica_weight - a) ** 2 / 2
    density = by_ring(Equation(exponent, z**2 / 2), drawn)
    test = sum(h * value(drawn) ** k for k, h in enumerate(s.test_coefficients))
    average = define(s.gibbs_at, Expectation(test, z), "the average of a polynomial of degree four under exp(-B risk)")
    exact = averages_expanded(average)
    tends = rewrite((limit_of(value(exact), B), exact), True)
    limit = name_limit((tends,), s.gibbs_average, "the Gibbs average as the temperature vanishes")
    return Derivation(
        "Gibbs average at zero temperature",
        f"{APPENDIX}, (74)",
        proved(
            "In a mode where the risk has curvature S and its minimum at a^ it exceeds its minimum by S (a - a^)^2/2, "
            "so exp(-B risk) is a normal law around a^ of variance 1/(B S), B the inverse temperature.",
            density,
        ),
        proved("The average of a test function under this law.", average),
        proved("Averaged with E[z^2] = 1 and E[z^4] = 3, every correction carries 1/B.", exact),
        proved("As the temperature vanishes the value at the minimum is left.", limit),
    )


def moment(power: sp.Expr) -> sp.Expr:
    """E Z^power, the average over the data standing for any law as an average over a normal label."""
    return Expectation(sp.exp(power * log_partition(s.z)), s.z)


@functools.cache
def trick() -> Derivation:
    """Equation (76): E ln Z is the derivative of E Z^R at R = 0."""
    meaning = define(partition_moment(R), moment(R), "E Z^R as a function of R", R)
    slope = differentiate((meaning,), R)
    name = define(s.mean_log, partition_moment_slope(sp.Integer(0)), "(d/dR) E Z^R at R = 0: the replica trick")
    result = rewrite((name, slope_at_zero(meaning)))
    return Derivation(
        "replica identity",
        f"{APPENDIX}, (76)",
        proved("Z^R = exp(R ln Z), averaged over the data.", meaning),
        proved("It is differentiated under the average.", slope),
        proved(
            "E Z^0 = 1 for no replicas, so that ln E Z^R has the same derivative.",
            instantiate((meaning,), {R: sp.Integer(0)}),
        ),
        proved("At R = 0 the average of ln Z is left.", result),
        hypotheses=("differentiation in the number of replicas under the average over the data",),
    )


def of_samples(whole: sp.Symbol, one: sp.Symbol, reference: str) -> tuple[Theorem, Theorem]:
    """What ``whole`` is, an average over n independent samples, and that it is the n-th power of ``one`` sample's."""
    meaning = define(whole, product_of(s.n, one), reference)
    return meaning, unfolded(meaning)


@functools.cache
def samples() -> Derivation:
    """Equation (83): n independent samples, each with its R losses, average to the power n of one bracket."""
    meaning, result = of_samples(
        s.replicated_average,
        s.sample_bracket,
        "the average of a product over n independent samples of factors of one law",
    )
    return Derivation(
        "replicated partition function",
        f"{APPENDIX}, (83)",
        proved(
            "Z^R is an integral over R readouts, and exp(-B sum of all losses) a product over samples of one factor "
            "each, R losses in it.",
            meaning,
        ),
        proved("Samples are independent with one law: the average of the product is the product of averages.", result),
        hypotheses=("the samples are independent and identically distributed",),
    )


def _two(name: str) -> tuple[sp.Symbol, ...]:
    return tuple(sp.symbols(f"{name}_1 {name}_2", real=True))


# Two neurons and two inputs, with every entry a symbol: sums over both show what sums over any number do.
WEIGHTS, OTHER, NOISE = _two("a"), _two("a'"), _two(r"\xi")
ROWS = (_two("w_1"), _two("w_2"))


def dot(first: tuple[sp.Expr, ...], second: tuple[sp.Expr, ...]) -> sp.Expr:
    """Inner product of two vectors written out."""
    return sum((x * y for x, y in zip(first, second, strict=True)), sp.S.Zero)


def projected_output(a: tuple[sp.Expr, ...], across: tuple[sp.Expr, ...]) -> sp.Expr:
    """h = mu1 a.W x_perp/sqrt p + mu2 a.xi/sqrt p, equation (86)."""
    linear = sum((weight * dot(row, across) for weight, row in zip(a, ROWS, strict=True)), sp.S.Zero)
    return (mu1 * linear + mu2 * dot(a, NOISE)) / sp.sqrt(s.p)


@functools.cache
def output() -> Derivation:
    """Equations (77), (84)-(88): the output on one sample from m, zeta and the local field."""
    v, across = _two("v"), _two(r"x^\perp")
    x = tuple(s.kappa * a + b for a, b in zip(v, across, strict=True))
    features = tuple(mu0 + mu1 * dot(row, x) + mu2 * xi for row, xi in zip(ROWS, NOISE, strict=True))
    total = define(s.output, dot(WEIGHTS, features) / sp.sqrt(s.p), "the readout of the equivalent features")
    m = define(s.m, sum(WEIGHTS) / sp.sqrt(s.p), "overlap of the readout with the constant vector")
    along = tuple(dot(row, v) for row in ROWS)
    zeta = define(s.zeta, dot(WEIGHTS, along) / sp.sqrt(s.p), "overlap of the readout with W v")
    field = define(s.local_field, projected_output(WEIGHTS, across), "what x_perp and xi give")
    split = by_ring(Equation(s.output, ONE_LETTER.fit + s.local_field), total, m, zeta, field)
    return Derivation(
        "output on one sample",
        f"{APPENDIX}, (77), (84)-(88)",
        proved("x = kappa v + x_perp, so a bulk row receives kappa w.v + w.x_perp, equation (77).", total),
        proved("m is what multiplies the mean of a feature, the sum of the readout over sqrt(p).", m),
        proved("zeta is what multiplies kappa mu1, the readout's overlap with W v.", zeta),
        proved("The local field is what x_perp and xi give.", field),
        proved(
            "The constant part of a feature sums to mu0 m, the part along the spike to kappa mu1 zeta; the rest is the "
            "local field.",
            split,
        ),
        results=(total, m, zeta, field),
    )


@functools.cache
def covariance() -> Derivation:
    """Equation (89): covariance of the local fields of two replicas, and of one with the label's variable.

    Inputs in orthonormal coordinates of which one is v: x_perp has the others, the first of them along theta_perp.
    """
    normals = _two("g")  # the coordinates of x_perp; rows of W are shown by what they have in these
    variables = (*normals, *NOISE)

    def back(a: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
        """Pi W^T a."""
        return tuple(sum((a[k] * ROWS[k][i] for k in (0, 1)), sp.S.Zero) for i in (0, 1))

    first, second = projected_output(WEIGHTS, normals), projected_output(OTHER, normals)
    q1 = define(s.overlap_pair[0], dot(back(WEIGHTS), back(OTHER)) / s.p, "overlap through the rows across v")
    q2 = define(s.overlap_pair[1], dot(WEIGHTS, OTHER) / s.p, "overlap of two readouts")
    psi = define(s.psi_pair, back(WEIGHTS)[0] / sp.sqrt(s.p), "overlap with theta_perp through the rows")
    fields = averages_expanded(
        define(s.field_covariance, Expectation(first * second, *variables), "covariance of two replicas' fields")
    )
    label = averages_expanded(
        define(
            s.label_field_covariance,
            Expectation(first * normals[0], *variables),
            "covariance of a field with the coordinate along theta_perp",
        )
    )
    of_pair = replace(ONE_LETTER, q1=((s.overlap_pair[0],),), q2=(s.overlap_pair[1],)).q
    meet = by_ring(Equation(s.field_covariance, of_pair), fields, q1, q2)
    return Derivation(
        "covariance of local fields",
        f"{APPENDIX}, (89)",
        proved(
            "Standard normal inputs have one law in all orthonormal coordinates. With v along one of them x_perp has "
            "the others, g, and theta_perp is the first of these; xi is independent of g. Two coordinates across v and "
            "two neurons are shown. Given kappa all fields are jointly Gaussian.",
            fields,
        ),
        proved("q1 is the overlap of the readouts of two replicas, a and a', through the rows across v.", q1),
        proved("q2 is their overlap through the noise.", q2),
        proved("psi is the readout's overlap with theta_perp through the rows.", psi),
        proved("Averaged over g and xi only the overlaps of the replicas are left.", meet),
        proved("The label depends on kappa and on theta_perp.x.", label),
        results=(fields, label, q1, q2, psi),
    )


_entry, _conjugate = (sp.Function(name, real=True) for name in ("Q", "q^"))
_delta = sp.Symbol("delta", real=True)


def entry(delta: sp.Expr) -> sp.Expr:
    """V delta_ij + q: an entry of a matrix that does not tell replicas apart."""
    return s.own_overlap * delta + s.shared_overlap


@functools.cache
def symmetric() -> Derivation:
    """Equations (91), (93): inverse, determinant and their replica limit of V delta_ij + q, R a symbol."""
    own, shared = s.own_overlap, s.shared_overlap
    one, all_ = 1 / own, repeated(R, 1 / own)  # e_i.u and u.u over the diagonal
    same = unfolded(
        define(s.inverse_same, updated_form(1 / own, one, one, all_, shared), "diagonal entry of (V 1 + q u u^T)^-1")
    )
    other = unfolded(
        define(
            s.inverse_other,
            updated_form(sp.Integer(0), one, one, all_, shared),
            "another entry of (V 1 + q u u^T)^-1, u the vector of R ones",
        )
    )
    of_count = define(
        log_det_of(R),
        updated_log_det(repeated(R, sp.log(own)), all_, shared),
        "ln det(V 1 + q u u^T) for R replicas",
        R,
    )
    counted = unfolded(of_count)
    added = logarithm((), own + R * shared, ((own, sp.Integer(1)), (1 + shared * R / own, sp.Integer(1))))
    written = by_ring(Equation(log_det_of(R), (R - 1) * sp.log(own) + sp.log(own + R * shared)), counted, added)
    determinant = rewrite((define(s.log_det, log_det_of(R), "ln det of the matrix of R replicas"), written))
    slope_name = define(s.log_det_slope, log_det_of_slope(sp.Integer(0)), "the derivative of ln det in R at R = 0")
    slope = rewrite((slope_name, slope_at_zero(written)))
    entries = define(_entry(_delta), entry(_delta), "an entry, delta = 1 on the diagonal and 0 elsewhere", _delta)
    diagonal, beside = (instantiate((entries,), {_delta: sp.Integer(k)}) for k in (1, 0))
    row = define(
        s.difference_eigenvalue,
        _entry(sp.Integer(1)) - _entry(sp.Integer(0)),
        "what a row of the matrix makes of a difference of two replicas",
    )
    difference = rewritten(row, diagonal, beside)
    square = rewritten(define(s.own_square, _entry(sp.Integer(1)), "overlap of a replica with itself"), diagonal)
    return Derivation(
        "replica-symmetric matrices",
        f"{APPENDIX}, (91)-(93)",
        proved(
            "All replicas alike: q_ij = V delta_ij + q is V 1 + q u u^T with the vector u of ones, a perturbation of "
            "rank one; e_i.u/V = 1/V and u.u/V = R/V for any number of replicas.",
            other,
        ),
        proved("On the diagonal of the inverse.", same),
        proved("On a difference of two replicas the matrix acts as V.", difference),
        proved("The overlap of a replica with itself.", square),
        proved("The determinant of V 1, and what the rank one adds.", counted),
        proved("On a difference of two replicas the matrix acts as V, on the sum of all as V + R q.", determinant),
        proved("The logarithm vanishes at R = 0; its derivative is what the replica trick keeps.", slope),
        results=(same, other, determinant, slope, difference, square),
    )


def conjugate_entry(V_hat: sp.Expr, q_hat: sp.Expr, delta: sp.Expr) -> sp.Expr:
    """-V^ delta_ij + q^."""
    return q_hat - V_hat * delta


def form_of(V_hat: sp.Expr, q_hat: sp.Expr, squares: sp.Expr, total: sp.Expr) -> sp.Expr:
    """(1/2) sum over i, j of q^_ij a_i a_j: a replica with itself meets the sum of squares, two of them the rest
    of the square of the sum.
    """
    own, other = (conjugate_entry(V_hat, q_hat, sp.Integer(k)) for k in (1, 0))
    return (own * squares + other * (total**2 - squares)) / 2


@functools.cache
def conjugates() -> Derivation:
    """Equation (92): the form of the conjugates in the replicas, from q^_ij = -V^ delta_ij + q^."""
    q, V, total, squares = s.q2_hat, s.V2_hat, s.replica_sum, s.replica_squares
    entries = define(
        _conjugate(_delta), conjugate_entry(V, q, _delta), "a conjugate, delta = 1 for one replica", _delta
    )
    own, other = (instantiate((entries,), {_delta: sp.Integer(k)}) for k in (1, 0))
    meaning = define(
        s.conjugate_form,
        (_conjugate(sp.Integer(1)) * squares + _conjugate(sp.Integer(0)) * (total**2 - squares)) / 2,
        "(1/2) sum over i, j of q^_ij a_i a_j",
    )
    inserted = rewritten(meaning, own, other)
    result = equal(inserted, sp.expand(value(inserted)))
    return Derivation(
        "form of the conjugates",
        f"{APPENDIX}, (92)",
        proved(
            "Diagonal entries q^ - V^ meet the squares, the others q^ the products of different replicas, which are "
            "the square of the sum less the squares.",
            meaning,
        ),
        proved("So V^ meets the squares alone, and q^ the square of the sum.", result),
    )


def field_force(coupling: sp.Expr, on: sp.Expr) -> sp.Expr:
    """sqrt(coupling) times the field, or what it acts on: a Gaussian force on all replicas."""
    return sp.sqrt(coupling) * on


@functools.cache
def decoupling() -> Derivation:
    """Equation (94), Hubbard-Stratonovich: a Gaussian field instead of the square of a sum over replicas."""
    q, total, field = s.q2_hat, s.replica_sum, s.mode_field
    average = Expectation(sp.exp(field_force(q, total) * field), field)
    meaning = define(s.replica_coupling, average, "the average over the field of what it does to all replicas")
    result = rewrite((meaning, exponential(gaussian(average, sp.Integer(1), field_force(q, total)))))
    return Derivation(
        "a field that decouples replicas",
        f"{APPENDIX}, (94)",
        proved("One standard normal field Xi acts on all replicas.", meaning),
        proved("The Gaussian integral: the square in Xi is completed.", result),
    )


def one_replica(curvature: sp.Expr, force: sp.Expr) -> sp.Expr:
    """(2 pi)^(-1/2) int da exp(-S a^2/2 + force a), as an average over a standard normal variable."""
    a = s.replica_weight
    return Expectation(sp.exp((1 - curvature) * a**2 / 2 + force * a), a)


@functools.cache
def entropic_limit() -> Derivation:
    """Equation (94): in one mode, the replica limit of the coupled integral is the average of a decoupled one."""
    S, k, f, field = s.mode_curvature, s.mode_noise, s.mode_signal, s.mode_field
    force = f + field_force(k, field)
    meaning = define(
        field_integral(R),
        Expectation(product_of(R, one_replica(S, force)), field),
        "R replicas, each integrated alone in the field that couples them",
        R,
    )
    name = define(s.entropic_log, field_integral_slope(sp.Integer(0)), "what the replica limit keeps of one mode")
    powers = unfolded(meaning)
    slope = slope_at_zero(powers)
    averaged = rewrite((rewrite((name, slope)), gaussian(one_replica(S, force), S, force)))
    result = averages_expanded(averaged)
    return Derivation(
        "entropic term in one mode",
        f"{APPENDIX}, (94)",
        *decoupling().steps,
        proved("With the field each replica is integrated alone: one integral to the power R.", powers),
        proved("Its derivative at R = 0 is the average of its logarithm,", slope),
        proved("which is that of a Gaussian integral.", averaged),
        proved("Averaged over the field.", result),
    )


# The conjugates of one mode as they are scaled with the temperature.
_V, _q = sp.symbols("V^ q^", nonnegative=True)
_force = sp.Symbol("f^", real=True)
_exponent = sp.Function("exponent", real=True)


@functools.cache
def rescaling() -> Derivation:
    """Equation (95): V^ -> B V^, q^ -> B^2 q^, forces -> B forces make the exponent B times an objective."""
    a, field = s.replica_weight, s.mode_field
    of_conjugates = define(
        _exponent(_V, _q, _force),
        -B * s.ridge * a**2 / 2 - _V * a**2 / 2 + a * (_force + sp.sqrt(_q) * field),
        "the exponent of one replica in the field, as a function of the conjugates",
        _V,
        _q,
        _force,
    )
    scaled = {_V: B * s.V2_hat, _q: B**2 * s.q2_hat, _force: B * s.mode_signal}
    name = define(
        s.replica_exponent, _exponent(*scaled.values()), "the exponent at conjugates that grow with B: B, B^2, B"
    )
    result = rewrite((name, instantiate((of_conjugates,), scaled)))
    objective = (s.ridge + s.V2_hat) * a**2 / 2 - a * (s.mode_signal + sp.sqrt(s.q2_hat) * field)
    return Derivation(
        "rescaling with the temperature",
        f"{APPENDIX}, (95)",
        proved("The exponent of one replica in the field.", of_conjugates),
        proved("At low temperature replicas differ by 1/B; the conjugates are rescaled.", result),
        proved("Every term of the exponent carries B.", equal(result, -B * objective)),
        results=(result,),
    )

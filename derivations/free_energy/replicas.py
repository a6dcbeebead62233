r"""The replica computation of Appendix C, equations (74)-(95): from the Gibbs measure to one replica in a random field.

Readouts a are drawn with weight exp(-B risk); at B -> infinity only the minimum is left. E ln Z comes from the
moments E Z^R of R replicas. Averaged over a sample, replicas meet only in their overlaps; with the replica-symmetric
ansatz the sums over replicas are polynomials in R, and a Gaussian field decouples the replicas again.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2
from onestep.derivations.language import replica_gaussians
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations

R, B = s.replicas, s.inverse_temperature
APPENDIX = f"{PAPER}, Appendix C"
log_partition = sp.Function("L", real=True)  # ln Z of one draw of the data, a function of one normal label z


@functools.cache
def gibbs() -> Derivation:
    """Equation (74): for a quadratic risk, a quartic test function averages to its value at the minimum."""
    a, S, z = s.minimum_point, s.mode_curvature, s.z
    point = a + z / sp.sqrt(B * S)
    test = sum(h * s.replica_weight**k for k, h in enumerate(s.test_coefficients))
    average = expand_expectations(Expectation(sp.expand(test.subs(s.replica_weight, point)), z))
    limit = test.subs(s.replica_weight, a)
    exponent = B * S * (s.replica_weight - a) ** 2 / 2
    steps = (
        Step(
            "In a mode where the risk has curvature S and its minimum at a^ it exceeds its minimum by S (a - a^)^2/2, "
            "so exp(-B risk) is a normal law around a^ of variance 1/(B S), B the inverse temperature.",
            eq(s.replica_weight, point),
            Vanishing("the exponent is -z^2/2", exponent.subs(s.replica_weight, point) - z**2 / 2),
        ),
        Step(
            "Averaged with E[z^2] = 1 and E[z^4] = 3, every correction carries 1/B.",
            eq(sp.Symbol(r"\langle h\rangle_B"), average),
        ),
        Step(
            "As the temperature vanishes the value at the minimum is left.",
            eq(s.gibbs_average, limit),
            RationalLimit("B to infinity leaves the value at the minimum", average, B, limit),
        ),
    )
    return Derivation(
        "Gibbs average at zero temperature", f"{APPENDIX}, (74)", *steps, results={s.gibbs_average: limit}
    )


def moment(power: sp.Expr) -> sp.Expr:
    """E Z^power, the average over the data standing for any law as an average over a normal label."""
    return Expectation(sp.exp(power * log_partition(s.z)), s.z)


@functools.cache
def trick() -> Derivation:
    """Equation (76): E ln Z is the derivative of E Z^R at R = 0."""
    result = sp.diff(moment(R), R).subs(R, 0)
    steps = (
        Step(
            "Z^R = exp(R ln Z) is differentiated under the average.",
            eq(sp.Symbol(r"\partial_R\mathbb{E}Z^R"), sp.diff(moment(R), R)),
            Vanishing("no replicas, E Z^0 = 1", moment(R).subs(R, 0) - 1),
        ),
        Step(
            "At R = 0 the average of ln Z is left; ln E Z^R has the same derivative.",
            eq(s.mean_log, result),
            Vanishing("the derivative of ln E Z^R at R = 0", sp.diff(sp.log(moment(R)), R).subs(R, 0) - result),
        ),
    )
    return Derivation(
        "replica identity",
        f"{APPENDIX}, (76)",
        *steps,
        results={s.mean_log: result},
        hypotheses=("differentiation in the number of replicas under the average over the data",),
    )


@functools.cache
def samples() -> Derivation:
    """Equation (83): n independent samples, each with its R losses, average to the power n of one bracket."""
    P, first, second = sp.symbols("P f_1 f_2", positive=True)
    bracket = P * first + (1 - P) * second
    checks = []
    for n in (2, 3, 4):
        total = sum(sp.binomial(n, k) * P**k * (1 - P) ** (n - k) * first**k * second ** (n - k) for k in range(n + 1))
        checks.append(Vanishing(f"{n} samples of two possible values", total - bracket**n))
    step = Step(
        "Z^R is an integral over R readouts, and exp(-B sum of all losses) a product over samples of one factor each; "
        "samples are independent with one law, so the average of the product is the product of the averages.",
        eq(s.replicated_average, s.sample_bracket**s.n),
        *checks,
    )
    return Derivation(
        "replicated partition function",
        f"{APPENDIX}, (83)",
        step,
        results={s.replicated_average: s.sample_bracket**s.n},
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
    total = dot(WEIGHTS, features) / sp.sqrt(s.p)
    m = sum(WEIGHTS) / sp.sqrt(s.p)
    zeta = sum((a * dot(row, v) for a, row in zip(WEIGHTS, ROWS, strict=True)), sp.S.Zero) / sp.sqrt(s.p)
    field = projected_output(WEIGHTS, across)
    # The functions of kappa as letters, so that kappa is left only where x shows it.
    letters = dict(zip((mu0, mu1, mu2), sp.symbols("M_0 M_1 M_2", real=True), strict=True))
    named = sp.expand(total.xreplace(letters))
    without_mean = named.subs(letters[mu0], 0)
    steps = (
        Step(
            "x = kappa v + x_perp, so a bulk row receives kappa w.v + w.x_perp, equation (77).",
            eq(s.output, total),
            *(
                Vanishing(f"row {k + 1}", sp.expand(dot(row, x)) - s.kappa * dot(row, v) - dot(row, across))
                for k, row in enumerate(ROWS)
            ),
        ),
        Step(
            "m is what multiplies the mean of a feature, the sum of the readout over sqrt(p).",
            eq(s.m, m),
            Vanishing("the output's slope in mu0", sp.diff(named, letters[mu0]) - m),
        ),
        Step(
            "zeta is what multiplies kappa mu1, the readout's overlap with W v.",
            eq(s.zeta, zeta),
            Vanishing("the output's slope in kappa", sp.diff(without_mean, s.kappa) - letters[mu1] * zeta),
        ),
        Step(
            "The local field is what x_perp and xi give: the output at mu0 = 0 and kappa = 0 outside the functions.",
            eq(s.local_field, field),
            Vanishing("the rest of the output", without_mean.subs(s.kappa, 0) - field.xreplace(letters)),
        ),
        Step(
            "The constant part of a feature sums to mu0 m, the part along the spike to kappa mu1 zeta; the rest is the "
            "local field.",
            eq(s.output, mu0 * s.m + s.kappa * mu1 * s.zeta + s.local_field),
            Vanishing("entry by entry", total - mu0 * m - s.kappa * mu1 * zeta - field),
        ),
    )
    return Derivation(
        "output on one sample",
        f"{APPENDIX}, (77), (84)-(88)",
        *steps,
        results={s.output: total, s.m: m, s.zeta: zeta, s.local_field: field},
    )


@functools.cache
def covariance() -> Derivation:
    """Equation (89): covariance of the local fields of two replicas, and of one with the label's variable.

    Inputs in orthonormal coordinates of which one is v: x_perp has the others, the first of them along theta_perp.
    """
    normals = _two("g")  # the coordinates of x_perp; rows of W are shown by what they have in these
    variables = (*normals, *NOISE)

    def average(expression: sp.Expr) -> sp.Expr:
        return expand_expectations(Expectation(sp.expand(expression), *variables))

    def back(a: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
        """Pi W^T a."""
        return tuple(sum((a[k] * ROWS[k][i] for k in (0, 1)), sp.S.Zero) for i in (0, 1))

    first, second = projected_output(WEIGHTS, normals), projected_output(OTHER, normals)
    q1, q2 = dot(back(WEIGHTS), back(OTHER)) / s.p, dot(WEIGHTS, OTHER) / s.p
    psi = back(WEIGHTS)[0] / sp.sqrt(s.p)
    fields, with_label = average(first * second), average(first * normals[0])
    linear = [sum((a[k] * dot(ROWS[k], normals) for k in (0, 1)), sp.S.Zero) for a in (WEIGHTS, OTHER)]
    steps = (
        Step(
            "Standard normal inputs have one law in all orthonormal coordinates. With v along one of them x_perp has "
            "the others, g, and theta_perp is the first of these; xi is independent of g. Two coordinates across v and "
            "two neurons are shown. Given kappa all fields are jointly Gaussian.",
            eq(s.local_field, first),
        ),
        Step(
            "q1 is the overlap of the readouts of two replicas, a and a', through the rows across v.",
            eq(s.overlap_pair[0], q1),
            Vanishing("E[(a.W x_perp)(a'.W x_perp)]/p", average(linear[0] * linear[1]) / s.p - q1),
        ),
        Step(
            "q2 is their overlap through the noise.",
            eq(s.overlap_pair[1], q2),
            Vanishing("E[(a.xi)(a'.xi)]/p", average(dot(WEIGHTS, NOISE) * dot(OTHER, NOISE)) / s.p - q2),
        ),
        Step(
            "psi is the readout's overlap with theta_perp through the rows.",
            eq(s.psi_pair, psi),
            Vanishing("E[(a.W x_perp)(theta_perp.x)]/sqrt p", average(linear[0] * normals[0]) / sp.sqrt(s.p) - psi),
        ),
        Step(
            "Averaged over g and xi only the overlaps of the replicas are left.",
            eq(s.field_covariance, mu1**2 * s.overlap_pair[0] + mu2**2 * s.overlap_pair[1]),
            Vanishing("entry by entry", fields - mu1**2 * q1 - mu2**2 * q2),
        ),
        Step(
            "The label depends on kappa and on theta_perp.x.",
            eq(s.label_field_covariance, mu1 * s.psi_pair),
            Vanishing("covariance with the label's variable", with_label - mu1 * psi),
        ),
    )
    return Derivation(
        "covariance of local fields",
        f"{APPENDIX}, (89)",
        *steps,
        results={
            s.field_covariance: fields,
            s.label_field_covariance: with_label,
            s.overlap_pair[0]: q1,
            s.overlap_pair[1]: q2,
            s.psi_pair: psi,
        },
    )


def inverse_entries(own: sp.Expr, shared: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Diagonal and other entries of the inverse of own delta_ij + shared, for R replicas."""
    other = -shared / (own * (own + R * shared))
    return 1 / own + other, other


def log_determinant(own: sp.Expr, shared: sp.Expr) -> sp.Expr:
    """ln det(own delta_ij + shared): own on R - 1 differences, own + R shared on the sum."""
    return (R - 1) * sp.log(own) + sp.log(own + R * shared)


@functools.cache
def symmetric() -> Derivation:
    """Equations (91), (93): inverse, determinant and their replica limit of V delta_ij + q, R a symbol."""
    own, shared = s.own_overlap, s.shared_overlap
    same, other = inverse_entries(own, shared)
    determinant = log_determinant(own, shared)
    slope = sp.diff(determinant, R).subs(R, 0)
    explicit = tuple(
        Vanishing(
            f"the determinant for R = {n}",
            sp.expand((own * sp.eye(n) + shared * sp.ones(n, n)).det()) - own ** (n - 1) * (own + n * shared),
        )
        for n in (1, 2, 3, 4)
    )
    steps = (
        Step(
            "All replicas alike: q_ij = V delta_ij + q. The inverse has the same form; multiplied with the matrix it "
            "gives one on the diagonal and zero elsewhere, for any number of replicas.",
            eq(s.inverse_other, other),
            Vanishing("diagonal entry of the product", (own + shared) * same + (R - 1) * shared * other - 1),
            Vanishing("other entry of the product", (own + shared) * other + shared * same + (R - 2) * shared * other),
        ),
        Step(
            "On the diagonal of the inverse.",
            eq(s.inverse_same, same),
            Vanishing("diagonal entry of the product", (own + shared) * same + (R - 1) * shared * other - 1),
            Vanishing("one replica alone", same.subs(R, 1) - 1 / (own + shared)),
        ),
        Step(
            "On a difference of two replicas the matrix acts as V.",
            eq(s.difference_eigenvalue, own),
            Vanishing("a difference of two replicas", (own + shared) - shared - own),
        ),
        Step(
            "The overlap of a replica with itself.",
            eq(s.own_square, own + shared),
            Vanishing("trace of the matrix", R * (own + shared) - ((R - 1) * own + (own + R * shared))),
        ),
        Step(
            "On a difference of two replicas the matrix acts as V, on the sum of all as V + R q.",
            eq(s.log_det, determinant),
            Vanishing("a difference of two replicas", (own + shared) - shared - own),
            Vanishing("the sum of all", (own + shared) + (R - 1) * shared - (own + R * shared)),
            *explicit,
        ),
        Step(
            "The logarithm vanishes at R = 0; its derivative is what the replica trick keeps.",
            eq(s.log_det_slope, slope),
            Vanishing("zero replicas", determinant.subs(R, 0)),
            Vanishing("ln V of one replica, and q/V", slope - sp.log(own) - shared / own),
        ),
    )
    return Derivation(
        "replica-symmetric matrices",
        f"{APPENDIX}, (91)-(93)",
        *steps,
        results={
            s.inverse_same: same,
            s.inverse_other: other,
            s.log_det: determinant,
            s.log_det_slope: slope,
            s.difference_eigenvalue: own,
            s.own_square: own + shared,
        },
    )


@functools.cache
def conjugates() -> Derivation:
    """Equation (92): the form of the conjugates in the replicas, from q^_ij = -V^ delta_ij + q^."""
    q, V, total, squares = s.q2_hat, s.V2_hat, s.replica_sum, s.replica_squares
    result = ((q - V) * squares + q * (total**2 - squares)) / 2
    checks = []
    for n in (2, 3):
        a = sp.symbols(f"a_1:{n + 1}", real=True)
        form = sum((q - (V if i == j else 0)) * a[i] * a[j] for i in range(n) for j in range(n)) / 2
        checks.append(
            Vanishing(f"written out for R = {n}", form - result.subs({total: sum(a), squares: sum(x**2 for x in a)}))
        )
    step = Step(
        "Diagonal entries q^ - V^ meet the squares, the others q^ the products of different replicas, which are the "
        "square of the sum less the squares.",
        eq(s.conjugate_form, result),
        *checks,
    )
    return Derivation("form of the conjugates", f"{APPENDIX}, (92)", step, results={s.conjugate_form: result})


def field_average(coupling: sp.Expr, total: sp.Expr) -> sp.Expr:
    """E_Xi exp(sqrt(coupling) Xi total): completing the square in the exponent of the normal law."""
    return sp.exp(coupling * total**2 / 2)


@functools.cache
def decoupling() -> Derivation:
    """Equation (94), Hubbard-Stratonovich: a Gaussian field instead of the square of a sum over replicas."""
    q, total, field = s.q2_hat, s.replica_sum, s.mode_field
    result = field_average(q, total)
    completed = -(field**2) / 2 + sp.sqrt(q) * field * total
    step = Step(
        "Completing the square in Xi: what is left after the shift of Xi, which an integral over the line does not "
        "see.",
        eq(s.replica_coupling, result),
        Vanishing("the exponent", completed - (sp.log(result) - (field - sp.sqrt(q) * total) ** 2 / 2)),
    )
    return Derivation(
        "a field that decouples replicas", f"{APPENDIX}, (94)", step, results={s.replica_coupling: result}
    )


@functools.cache
def entropic_limit() -> Derivation:
    """Equation (94): in one mode, the replica limit of the coupled integral is the average of a decoupled one."""
    S, k, f, field = s.mode_curvature, s.mode_noise, s.mode_signal, s.mode_field
    names = {replica_gaussians.A: S, replica_gaussians.B: k, replica_gaussians.f: f}
    coupled = replica_gaussians.at_zero(replica_gaussians.log_integral()).subs(names, simultaneous=True)
    one = (f + sp.sqrt(k) * field) ** 2 / (2 * S) - sp.log(S) / 2
    averaged = expand_expectations(Expectation(sp.expand(one), field))
    steps = (
        *replica_gaussians.integral().steps,
        *decoupling().steps,
        Step(
            "With the field each replica is integrated alone: one integral to the power R, whose derivative at R = 0 "
            "is the average of its logarithm.",
            eq(s.entropic_log, averaged),
            Vanishing("the coupled replicas give the same", sp.expand(coupled) - averaged),
        ),
    )
    return Derivation(
        "entropic term in one mode", f"{APPENDIX}, (94)", *steps, results={s.entropic_log: sp.expand(coupled)}
    )


@functools.cache
def rescaling() -> Derivation:
    """Equation (95): V^ -> B V^, q^ -> B^2 q^, forces -> B forces make the exponent B times an objective."""
    a, field = s.replica_weight, s.mode_field
    exponent = -B * s.ridge * a**2 / 2 - s.V2_hat * a**2 / 2 + a * (s.mode_signal + sp.sqrt(s.q2_hat) * field)
    scaling = {s.V2_hat: B * s.V2_hat, s.q2_hat: B**2 * s.q2_hat, s.mode_signal: B * s.mode_signal}
    result = sp.powdenest(exponent.subs(scaling, simultaneous=True), force=False)
    objective = (s.ridge + s.V2_hat) * a**2 / 2 - a * (s.mode_signal + sp.sqrt(s.q2_hat) * field)
    step = Step(
        "At low temperature replicas differ by 1/B; with the conjugates rescaled every term of the exponent carries B.",
        eq(s.replica_exponent, -B * objective),
        Vanishing("term by term", result + B * objective),
    )
    return Derivation("rescaling with the temperature", f"{APPENDIX}, (95)", step, results={s.replica_exponent: result})

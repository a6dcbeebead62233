r"""The energy of one sample: Moreau envelope of the square loss, replicated local fields, and their average.

Equations (86)-(93), (96)-(97), (100)-(102), (118), (121) and (128): given kappa the output of a replica is Gaussian,
and the square loss against it can be minimised and averaged in closed form.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, PAPER, g, mu1, mu2, over_kappa, y0, y1, y2
from giantsteps.derivations.free_energy.assumptions import gaussian, product_of, unfolded
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.stationarity import SAME_ON_BOTH_MAPS
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import iterated, linear
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expanded, expansion
from giantsteps.derivations.kernel.search.goals import concluded, limit_of
from giantsteps.derivations.kernel.search.steps import equal, in_order, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import proximal_objective, proximal_slope, sample_exponent

REPLICA_HYPOTHESES = (
    "the replica trick: E ln Z is the derivative of E Z^R at R = 0, continued from integers R",
    "the replica-symmetric ansatz; the problem is strictly convex, for which it is expected to be exact",
    "large d, small R and low temperature limits are exchanged",
)


LABEL_NOISE = sp.Symbol("e", real=True)
LEAST = "the local field of least energy is where the energy is stationary"
fitted = sp.Function("fitted", real=True)
_target, _field = sp.symbols("b omega", real=True)
_variance = sp.Symbol("V_0", nonnegative=True)
_point = sp.Symbol("h", real=True)
_fluctuation = sp.Symbol("w", real=True)
_hole = sp.Symbol("hole", real=True)
_beside = sp.symbols("w x", real=True)


def loss_of_replica(gap: sp.Expr, variance: sp.Expr, B: sp.Expr = s.inverse_temperature) -> sp.Expr:
    """E exp(-B (gap - h)^2/2) for the square loss and a field h of variance V/B, what one replica makes of a sample."""
    return Expectation(sp.exp(-B * (gap - sp.sqrt(variance / B) * _fluctuation) ** 2 / 2), _fluctuation)


def log_of_replica(gap: sp.Expr, variance: sp.Expr, B: sp.Expr = s.inverse_temperature) -> Theorem:
    """ln E exp(-B (gap - h)^2/2) = -B gap^2/(2 (1 + V)) - ln(1 + V)/2."""
    average = loss_of_replica(gap, variance, B)
    force = sp.sqrt(B * variance) * gap
    known = gaussian(average, 1 + variance, force, -B * gap**2 / 2)
    return equal(known, -B / (2 * (1 + variance)) * gap**2 - sp.log(1 + variance) / 2)


@functools.cache
def square_loss() -> Derivation:
    """Equations (96)-(97), (101), (118), (121): minimiser and Moreau envelope of the square loss."""
    h, V, B = s.local_field, s.V, s.inverse_temperature
    objective = define(
        proximal_objective(_point),
        (_point - s.field_mean) ** 2 / (2 * V) + (s.residual - _point) ** 2 / 2,
        "the energy of one sample as a function of its local field",
        _point,
    )
    at_point = instantiate((differentiate((objective,), _point),), {_point: h})
    stationary = in_model("proximal point", Equation(proximal_slope(h), sp.Integer(0)), LEAST)
    minimiser = isolated(h, rewrite((stationary, at_point)))
    least = equal(minimiser, sp.factor(value(minimiser)))
    meaning = define(s.moreau, proximal_objective(h), "the least energy of the sample")
    at_least = rewritten(meaning, instantiate((objective,), {_point: h}), least)
    envelope = equal(at_least, sp.factor(value(at_least)))
    curvature = (1 + V) / V
    bound = order(
        (objective,),
        AtLeast(proximal_objective(_point), value(envelope)),
        (sp.Integer(1),),
        ((curvature / 2, _point - value(least)),),
    )
    thermal = log_of_replica(s.residual - s.field_mean, V)
    per_temperature = congruence((thermal,), -_hole / B, _hole)
    cold = rewrite(
        (limit_of(sp.expand(value(per_temperature)), B), equal(per_temperature, sp.expand(value(per_temperature)))),
        True,
    )
    return Derivation(
        "Moreau envelope of the square loss",
        f"{PAPER}, Appendix C, (96)-(101), (121)",
        proved(
            "On one sample the output is mu0 m + kappa mu1 zeta plus a local field h, Gaussian around omega with "
            "variance V/B at inverse temperature B; the loss is (b - h)^2/2 with b = y - mu0 m - kappa mu1 zeta.",
            objective,
        ),
        proved(
            "The objective is quadratic in h and convex; its stationary point is the minimiser of equation (121).",
            least,
        ),
        proved("Inserting it gives the Moreau envelope of the square loss.", envelope),
        proved("The objective exceeds it by a square, so that the stationary point is the minimum.", bound),
        proved(
            "At inverse temperature B the integral over h is Gaussian: exp(-B M) times (1 + V)^(-1/2), with h = omega "
            "+ (V/B)^(1/2) w.",
            thermal,
        ),
        proved("The determinant drops out at zero temperature.", cold),
        results=(least, envelope),
    )


def fitted_at(target: sp.Expr, field: sp.Expr, variance: sp.Expr) -> Theorem:
    """fitted(b, omega, V) = (omega + V b)/(1 + V): the least of (h - omega)^2/(2 V) + (b - h)^2/2, V times whose slope
    vanishes there.
    """
    h = fitted(_target, _field, _variance)
    at_rest = Equation(h - _field, _variance * (_target - h))
    values = {_target: target, _field: field, _variance: variance}
    return instantiate((isolated(h, in_model("proximal point of any sample", at_rest, LEAST, *values)),), values)


def beyond_label(excess: sp.Expr) -> sp.Expr:
    """The variance of what of omega does not carry z: q(kappa) with q1 - psi^2 for q1."""
    return replace(ONE_LETTER, q1=((excess,),)).q


def shared_field(excess: sp.Expr) -> sp.Expr:
    """omega of equation (101), with z the label's variable, xi an independent one, and q1 - psi^2 under its name."""
    return ONE_LETTER.signal * s.z + sp.sqrt(beyond_label(excess)) * s.xi


def beside_label(first: sp.Symbol, second: sp.Symbol) -> sp.Expr:
    """What all replicas have of the local field, and the label has not."""
    return mu1 * sp.sqrt(s.q1 - s.psi**2) * first + mu2 * sp.sqrt(s.q2) * second


@functools.cache
def local_fields() -> Derivation:
    r"""Equations (86)-(93), (102), (128): the replicated local fields as explicit Gaussian variables.

    Given kappa, h_i = mu1 a_i.W x_perp/sqrt p + mu2 a_i.xi/sqrt p has covariance mu1^2 q1_ij + mu2^2 q2_ij.
    """
    normals = sp.symbols("omega_1 omega_2 u_1 u_2 v_1 v_2", real=True)
    w1, w2, u1, u2, v1, v2 = normals
    variables = (s.z, *normals)
    common = ONE_LETTER.signal * s.z + beside_label(w1, w2)

    def replica(u: sp.Symbol, v: sp.Symbol) -> sp.Expr:
        return common + mu1 * sp.sqrt(s.V1) * u + mu2 * sp.sqrt(s.V2) * v

    def average(name: sp.Symbol, of: sp.Expr, meaning: str) -> Theorem:
        return averages_expanded(define(name, Expectation(of, *variables), meaning))

    first, second = replica(u1, v1), replica(u2, v2)
    own = average(s.own_covariance, first**2, "the variance of one replica's field")
    pair = average(s.field_covariance, first * second, "the covariance of two replicas' fields")
    label_pair = average(s.label_field_covariance, s.z * first, "the covariance of a field with the label's variable")
    more = define(s.V, s.own_covariance - s.field_covariance, "what one replica has more than two share")
    beyond = rewritten(more, own, pair)
    variance = equal(beyond, sp.expand(value(beyond)))
    spread = sp.sqrt(beyond_label(s.q1 - s.psi**2))
    xi = define(s.xi, beside_label(w1, w2) / spread, "the part of omega that does not carry z, over its deviation")
    unit = averages_expanded(define(s.xi_variance, Expectation(value(xi) ** 2, w1, w2), "the variance of xi"))
    omega = define(s.field_mean, common, "what all replicas share")
    return Derivation(
        "replicated local fields",
        f"{PAPER}, Appendix C, (86)-(93), (128)",
        proved(
            "Replica symmetry gives all replicas one common part, which carries the label's z, and independent parts: "
            "a_i.W x_perp/sqrt p = psi z + sqrt(q1 - psi^2) omega_1 + sqrt(V1) u_i and a_i.xi/sqrt p = sqrt(q2) "
            "omega_2 + sqrt(V2) v_i. The variance of one replica,",
            own,
        ),
        proved("and the covariance of two, equation (89): mu1^2 q1 + mu2^2 q2.", pair),
        proved("What one replica has more than two share.", variance),
        proved("The covariance with the label's Gaussian variable z is mu1 psi, equation (128).", label_pair),
        proved("The common part is omega of equation (101).", omega),
        proved("What of it does not carry z is one Gaussian variable xi,", xi),
        proved("of unit variance.", equal(unit, sp.cancel(value(unit)))),
        results=(variance, omega, xi),
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )


# The target at given kappa, and the label: with noise e ~ N(0, 1) of variance Delta.
TEACHER = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
LABEL = TEACHER + sp.sqrt(s.noise) * LABEL_NOISE
# The moments of the label at given kappa.
LABEL_MOMENTS = (
    define(y0, Expectation(TEACHER, s.z), "the mean label given kappa", s.kappa),
    define(y1, Expectation(s.z * TEACHER, s.z), "the label's linear part given kappa", s.kappa),
    define(y2, Expectation(TEACHER**2, s.z) + s.noise, "the label's mean square given kappa", s.kappa),
)
EXCESS = define(s.excess, s.q1 - s.psi**2, "what q1 has beyond the label's direction, by Cauchy-Schwarz")


def label_moments(meanings: tuple[Theorem, ...] = LABEL_MOMENTS) -> tuple[Theorem, ...]:
    """Averages of the target at given kappa in terms of y0, y1, y2, which are defined by them."""
    return tuple(isolated(average, name) for name in meanings for average in in_order(value(name), Expectation))


def over_label(integrand: sp.Expr) -> Theorem:
    """E over kappa and z of a polynomial in the target: by y0, y1 and y2, in averages over kappa."""
    nested = iterated((), Expectation(integrand, s.kappa, s.z), (s.z,))
    opened = expanded(Expectation(integrand, s.z))
    by_label = rewritten(rewritten(nested, *() if opened is None else (opened,)), *label_moments())
    return averages_expanded(by_label, s.kappa)


@dataclass(frozen=True)
class Fields:
    """The output on one sample at given kappa: its mean, what replicas share of the rest, what one has of its own.

    ``squared`` is the square of the error averaged over z, the variables of ``shared`` and the label noise, which the
    ``names`` make of it.
    """

    mean: sp.Expr
    shared: sp.Expr
    normals: tuple[sp.Symbol, ...]
    variance: sp.Expr
    squared: sp.Expr
    names: tuple[Theorem, ...] = ()
    kappa: tuple[sp.Symbol, ...] = (s.kappa,)
    teacher: sp.Expr = TEACHER
    moments: tuple[Theorem, ...] = LABEL_MOMENTS

    def mean_square(self, noisy: bool = False) -> Theorem:
        """The mean squared distance from the label at given kappa, with its noise or without."""
        gap = self.teacher - self.mean - self.shared + (sp.sqrt(s.noise) * LABEL_NOISE if noisy else 0)
        average = Expectation(gap**2, s.z, *self.normals, *((LABEL_NOISE,) if noisy else ()))
        opened = expansion(average)
        right = self.squared - (0 if noisy else s.noise)
        return concluded(Equation(average, right), rewritten(opened, *label_moments(self.moments)), *self.names)


ONE_SPIKE = Fields(ONE_LETTER.fit, shared_field(s.excess), (s.xi,), ONE_LETTER.V, ONE_LETTER.e2, (EXCESS,))
# The same for values of q1 and psi without assumptions on them: terms without z are independent in rows and noise.
EQUIVALENT = replace(ONE_SPIKE, shared=ONE_LETTER.signal * s.z + beside_label(*_beside), normals=_beside, names=())
_equivalent_error, _equivalent_training = sp.symbols(r"\varepsilon_{gG} \varepsilon_{tG}", real=True)


@functools.cache
def averaged_log(fields: Fields) -> Theorem:
    """The average of the logarithm of what one replica makes of a sample, at fixed kappa."""
    B, more = s.inverse_temperature, 1 + fields.variance
    gap = LABEL - fields.mean - fields.shared
    logarithm = value(log_of_replica(gap, fields.variance))
    average = Expectation(logarithm, s.z, *fields.normals, LABEL_NOISE)
    split = linear((), average, ((-B / (2 * more), gap**2), (-sp.log(more) / 2, sp.Integer(1))))
    wanted = -B * fields.squared / (2 * more) - sp.log(more) / 2
    return concluded(Equation(average, wanted), rewritten(averages_expanded(split), *label_moments()), *fields.names)


def sample_limit(
    over: tuple[sp.Symbol, ...], name: sp.Symbol, meaning: str, fields: Fields = ONE_SPIKE
) -> tuple[Theorem, ...]:
    """name = the limit of -(1/(R B)) ln E prod_i exp(-B loss_i), over z, xi, the noise and the variables of ``over``.

    With the theorems on the way: of R replicas, of their derivative at R = 0, at low temperature.
    """
    R, B, more = s.replicas, s.inverse_temperature, 1 + fields.variance
    gap = LABEL - fields.mean - fields.shared
    inner = (s.z, *fields.normals, LABEL_NOISE)
    bracket = Expectation(product_of(R, loss_of_replica(gap, fields.variance)), *inner)
    outer = Expectation(bracket, *over) if over else bracket
    powers = unfolded(define(sample_exponent(R), sp.log(outer), "ln of the average over one sample of R replicas", R))
    slope = slope_at_zero(powers)
    known = log_of_replica(gap, fields.variance)
    cost, determinant = fields.squared / (2 * more), sp.log(more)
    exact = rewrite((rewrite((slope, known)), averaged_log(fields)))
    if over:
        exact = rewrite((exact, linear((), value(exact), ((-B, cost), (sp.Rational(-1, 2), determinant)))))
        cost, determinant = Expectation(cost, *over), Expectation(determinant, *over)
    per_temperature = equal(congruence((exact,), -_hole / B, _hole), cost + determinant / (2 * B))
    limit = limit_rational((), value(per_temperature), cost, B)
    return powers, slope, exact, name_limit((rewrite((limit, per_temperature), True),), name, meaning)


@functools.cache
def energetic() -> Derivation:
    """Equations (100)-(101): the average of the Moreau envelope over z, xi and the label noise, at fixed kappa."""
    powers, slope, exact, limit = sample_limit((), s.moreau, "the cost of one sample per replica, at zero temperature")
    return Derivation(
        "energetic term",
        f"{PAPER}, Appendix C, (100)-(102)",
        *local_fields().steps,
        proved(
            "Given the part omega that all replicas share, and z, each replica averages the loss of one sample over a "
            "field of variance V/B around omega; b - omega is the error of the mean output omega + mu0 m + kappa mu1 "
            "zeta. R replicas are one to the power R.",
            powers,
        ),
        proved("The derivative at R = 0 is the average of the logarithm of one.", slope),
        proved(
            "Each is a Gaussian integral. The square of b - omega averaged over z, xi and the label noise is e2(kappa);"
            " only the averages y0, y1, y2 of the label enter.",
            exact,
        ),
        proved("At zero temperature the determinant drops out: e2/(2(1+V)).", limit),
        hypotheses=REPLICA_HYPOTHESES,
    )


def error_on_new(fields: Fields, result: str = "Result 3.2") -> tuple[Step, ...]:
    """The error on a new input: of the network and of its equivalent, at given kappa, and over kappa."""
    squared = fields.mean_square()
    distance, _ = sides(squared.statement)
    same = hypothesis(result, Equation(s.test_error, _equivalent_error), SAME_ON_BOTH_MAPS)
    meaning = define(_equivalent_error, Expectation(distance, *fields.kappa), "that of the equivalent features")
    return (
        proved("The network errs as its Gaussian equivalent does.", same),
        proved("A new input has no thermal response: given kappa its output is the part that replicas share.", meaning),
        proved("Its squared distance from the label without noise: only y0, y1 and y2 of the label enter.", squared),
        proved("The test error is e2, of which the label noise is not counted.", rewritten(same, meaning, squared)),
    )


def error_on_training(fields: Fields) -> tuple[Step, ...]:
    """The training error, by the residual that the minimiser of one sample's energy leaves."""
    target, weight = LABEL - fields.mean, 1 / (1 + fields.variance)
    left = target - fitted(target, fields.shared, fields.variance)
    fits = fitted_at(target, fields.shared, fields.variance)
    shrinks = ring((fits,), Equation(left, (target - fields.shared) * weight), (sp.Integer(-1),))
    residual = Expectation(left**2, s.z, *fields.normals, LABEL_NOISE)
    same = hypothesis("Result 3.2", Equation(s.training_error, _equivalent_training), SAME_ON_BOTH_MAPS)
    meaning = define(_equivalent_training, over_kappa(residual), "mean squared residual of the equivalent features")
    shorter = rewritten(same, meaning, shrinks)
    (square,) = (average for average in value(shorter).atoms(Expectation) if average.variables != (s.kappa,))
    split = linear((), square, ((weight**2, (target - fields.shared) ** 2),))
    return (
        proved("On a training sample the fitted output minimises the sample's energy,", fits),
        proved("so that every residual is that of the output without the sample, over 1 + V.", shrinks),
        proved("The network's residuals are those of its Gaussian equivalent.", same),
        proved("Its training error.", meaning),
        proved("Averaged over z, the fields and label noise: e2/(1 + V)^2.",
               rewritten(shorter, split, fields.mean_square(noisy=True))),
    )  # fmt: skip

r"""Plain Gaussian equivalence: what it matches to second order, and what it misses after a giant step.

sigma(w.x) ~ mu0 + mu1 w.x + mu* xi has the mean and variance of a feature, its covariance with the input, and the
covariance of two features up to the square of their overlap. It is the conditional map at r = 0. After a step
eta = Theta(d) the rows are w + r v: their overlaps are of order one, the map stays linear in the input, and a readout
on it learns gamma h1* of the target along the spike and nothing beyond the best linear fit.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.equivalence.conditional_coefficients import at_spike, linear_of, mean_square, mu0_of
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, mu0, mu1, mu2, over_kappa
from giantsteps.derivations.free_energy.assumptions import cauchy_schwarz
from giantsteps.derivations.free_energy.sample_energy import EQUIVALENT
from giantsteps.derivations.gradient_step.assumptions import H1, H2
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, order, rewrite
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded, limit_of
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.inequalities import ONE_READOUT
from giantsteps.derivations.language.named_functions import sigma, with_partials, with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.equations import at_saddle, equation, isotropic
from giantsteps.derivations.saddle_point.random_features.no_spike import ALIGNMENT, target_moments

SOURCE = "arXiv 2402.04980, Section 3.2 without spike"
DEGREE = 3
ODD = "the activation is odd and the target centred"
k1, k2 = s.mu1_constant, s.mu2_constant


@functools.cache
def input_covariance() -> Derivation:
    """Cov[phi_k, theta.x] = h1 epsilon, exactly: the covariance of the linear part alone."""
    meaning = define(
        s.input_covariance,
        Expectation(sigma(s.z) * (s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * s.xi), s.z, s.xi),
        "covariance of a feature and theta.x",
    )
    exact = averages_expanded(meaning)
    result = concluded(Equation(s.input_covariance, s.h1 * s.overlap), exact, H1)
    return Derivation(
        "a feature and a direction of the input",
        SOURCE,
        proved("theta.x is epsilon z plus an independent part,", meaning),
        proved("which averages to zero.", exact),
        proved("The linear part has the same covariance.", result),
    )


_covariance, _covariance_slope, _ = with_slopes("Cov")
_at_size = sp.Symbol("d (Cov - mu_1^2 epsilon)", real=True)


@functools.cache
def covariance_gap() -> Derivation:
    """d (Cov[phi_k, phi_l] - mu1^2 epsilon) at overlap epsilon = tau/sqrt(d): what the equivalent map leaves out."""
    series = s.hermite_coefficients[1 : DEGREE + 1]
    eps = sp.Symbol("epsilon_0", real=True)
    first, second = sp.symbols("z_1 z_2", real=True)

    def feature(argument: sp.Expr) -> sp.Expr:
        terms = (c * hermite(k, argument) / sp.sqrt(sp.factorial(k)) for k, c in enumerate(series, start=1))
        return sp.Add(*terms)

    other = eps * first + sp.sqrt(1 - eps**2) * second
    meaning = define(
        _covariance(eps),
        Expectation(feature(first) * feature(other), first, second),
        "covariance of two features whose neurons overlap by epsilon",
        eps,
    )
    powers = sum((c**2 * eps**k for k, c in enumerate(series, start=1)), sp.S.Zero)
    curve = concluded(Equation(_covariance(eps), powers), averages_expanded(meaning))
    at_zero = instantiate((differentiate((curve,), eps),), {eps: sp.S.Zero})
    small = s.scaled_overlap / sp.sqrt(s.d)
    here = instantiate((curve,), {eps: small})
    left_out = define(
        _at_size,
        s.d * (_covariance(small) - _covariance_slope(sp.S.Zero) * small),
        "d times the covariance less that of the equivalent map, which has its slope",
    )
    exact = rewritten(left_out, here, at_zero)
    form = sp.expand(value(exact))
    limit = name_limit((rewrite((limit_of(form, s.d), equal(exact, form)), True),), s.covariance_gap, "its limit")
    return Derivation(
        "two features of a plain random-feature map",
        SOURCE,
        proved("The covariance of two features, as a function of the overlap of their neurons.", meaning),
        proved("It is a power series in the overlap with the squared Hermite coefficients.", curve),
        proved("Its slope is mu1^2, that of the equivalent map.", at_zero),
        proved("Overlaps are of order d^(-1/2).", exact),
        proved("What is left out is of order 1/d.", limit),
        hypotheses=(f"the activation is a polynomial of degree {DEGREE}",),
    )


_r, _c = sp.Symbol("r_0", real=True), sp.Symbol("c_0", positive=True)
_left = with_partials("mu_2^2", 2)


@functools.cache
def without_spike() -> Derivation:
    """The conditional map at r = 0, c = 1: its residual variance is mu*^2 = E sigma^2 - mu0^2 - mu1^2."""

    def at(expression: sp.Expr) -> sp.Expr:
        return at_spike(expression).xreplace({s.r: _r, s.c: _c})

    linear = at(linear_of())
    meaning = define(
        _left(_r, _c),
        at(mean_square()) - at(mu0_of()) ** 2 - _c * linear**2,
        "what mean and linear coefficient given kappa leave of the second moment",
        _r,
        _c,
    )
    here = instantiate((meaning,), {_r: sp.S.Zero, _c: sp.S.One})
    square = define(s.mu2_square, _left(sp.S.Zero, sp.S.One), "at r = 0, c = 1")
    mean = define(s.mu0_constant, Expectation(sigma(s.z), s.z), "the mean of the activation")
    names = (H2, mean, H1)
    result = concluded(Equation(s.mu2_square, s.h2 - s.mu0_constant**2 - s.h1**2), square, here, *names)
    return Derivation(
        "the conditional map without spike",
        SOURCE,
        proved("The residual variance given kappa, as a function of spike and bulk variance.", meaning),
        proved("At r = 0, c = 1 a neuron receives z alone.", here),
        *each_proved("A constant of Section 3.1.", names),
        proved("The coefficients are those of Section 3.1, and do not depend on kappa.", result),
    )


# ---- after a giant step ----


PLAIN_MAP = tuple(
    in_model(f"plain map, {name}", Equation(name, form), why, s.kappa)
    for name, form, why in (
        (mu0, k1 * s.r * s.kappa, "mu1 (w + r v).x is linear in kappa"),
        (mu1, k1, "what the features have of the input does not depend on kappa"),
        (mu2, k2, "the noise of the features does not depend on kappa"),
    )
)


def on_plain_map(theorem: Theorem) -> Theorem:
    """``theorem`` with the functions of the plain map on its right side, and averages of the target worked out."""
    return rewritten(averages_expanded(rewritten(theorem, *PLAIN_MAP), s.kappa), *target_moments())


@functools.cache
def at_solution() -> tuple[Theorem, Theorem, Theorem]:
    """m, the force along the spike, which vanishes, and zeta with it."""
    of_zeta = isotropic(s.zeta_hat).theorem_of(s.zeta)
    learned, pulled = on_plain_map(at_saddle(s.m)), on_plain_map(at_saddle(s.zeta))
    force = concluded(Equation(s.zeta_hat, sp.Integer(0)), pulled, learned)
    return learned, force, rewrite((of_zeta, force))


@functools.cache
def after_step() -> Derivation:
    """Ridge on mu1 (w + r v).x + mu* xi: the spike's linear part is learned at no cost, nothing else along it."""
    learned, force, zeta = at_solution()
    fit = ONE_LETTER.fit
    meaning = define(s.gaussian_mean, Expectation(s.kappa * fit, s.kappa), "the coefficient of kappa in the output")
    total = concluded(Equation(s.gaussian_mean, s.gamma * s.h1_star), on_plain_map(meaning), learned)
    distance = EQUIVALENT.mean_square()
    mean = over_kappa(sides(distance.statement)[0])
    missed = define(s.gaussian_error, mean, "mean squared error of the features on a noiseless new input")
    known = on_plain_map(rewrite((missed, distance)))
    form = s.h2_star - s.gamma**2 * s.h1_star**2 - 2 * k1 * sp.sqrt(s.rho) * s.h1_star * s.psi
    error = concluded(Equation(s.gaussian_error, form + k1**2 * s.q1 + k2**2 * s.q2), known, learned, zeta)
    return Derivation(
        "plain Gaussian equivalence after a giant step",
        SOURCE,
        proved("m is not penalised at leading order: its equation fixes it.", learned),
        proved("No force along the spike is left,", force),
        proved("and zeta vanishes.", zeta),
        proved("The coefficient of kappa in the output is that of the target's linear part along the spike.", total),
        proved("The error of the plain map on a new input.", missed),
        proved("What remains is plain random features for the target without its linear part along the spike.", error),
        results=(total, error),
        hypotheses=(ODD, *equation(s.zeta).hypotheses),
    )


@functools.cache
def floor() -> Derivation:
    """The error of the plain map after a step is never below that of the best linear fit, h2* - h1*^2."""
    error = after_step().theorem_of(s.gaussian_error)
    bound = order(
        (error, cauchy_schwarz(), ALIGNMENT),
        AtLeast(s.gaussian_error, s.h2_star - s.h1_star**2),
        (sp.Integer(1), k1**2, -(s.h1_star**2)),
        ((sp.Integer(1), sp.sqrt(s.rho) * s.h1_star - k1 * s.psi), (s.q2, k2)),
    )
    return Derivation(
        "floor of plain Gaussian equivalence after a giant step",
        SOURCE,
        *after_step().steps,
        proved("q1 >= psi^2 by Cauchy-Schwarz;", cauchy_schwarz()),
        proved("error less floor is a sum of squares.", bound),
        hypotheses=(*after_step().hypotheses, ONE_READOUT),
    )

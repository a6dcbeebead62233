r"""The limit of many letters, Section 4.4 and the end of Appendix D: what the means of the readout do along the spike.

Each letter u brings :math:`\mu_0^u(\kappa)`, a neuron acting on the one-dimensional input kappa with the weight u. The
means m_u choose a combination of them: ridge regression with one-dimensional random features, whose kernel is an
average over the letters. At infinite width the penalty on the means is gone; at width p it is sum_u m_u^2/t_u with
t_u = (alpha/beta) p tau_u.

A density of letters, Section 4.4 and the end of Appendix D: the means leave nothing of y0, and what then is left.

With y = r kappa + sqrt(c - 1) z' and g = P_1 sigma, the mean of a letter u whose bulk is c_u = 1 + u^2 (c - 1) is

    mu0_u(kappa) = E_z' g(u y).

Suppose f/(1 + V), of the parity of sigma, is orthogonal to mu0_u for all u of a law whose support has a point of
accumulation. Then F(u) = E[f mu0_u/(1 + V)] = int K(y) g(uy) dy is analytic in a strip around the real line, where
|g(x + iy)| <= exp(y^2/2) P_1|sigma|(x) and K has the tails of a normal density of variance 2 r^2 + c - 1 at most (by
Cauchy-Schwarz, for f in L2; r^2 + c - 1 for a bounded f): F = 0 throughout.

- Its Taylor coefficients are E[He_n sigma]/n! int K(y) y^n dy: they vanish (`taylor`).
- With G = g less its Taylor polynomial of degree N, |g| <= A (1 + |x|)^N, the same integral is therefore zero, and its
  Mellin transform in u factors, F^(s) = 2 G^(s) K^(1 - s) on -N - 1 < Re s < -N (`mellin`). If sigma is no
  polynomial, G^ is analytic and not zero, its zeros are isolated, and K^ = 0: K = 0 on y > 0, and by parity everywhere.
- K is f phi/(1 + V) smoothed by a normal density of variance c - 1 > 0 (or scaled, at c = 1), which loses nothing:
  f = 0.

So the closure of what the means span is all of that parity, in L2 with the weight 1/(1 + V), where they are fitted.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.blocks import LETTERS
from onestep.derivations.equivalence.hermite_features import DEGREE, average, hermite, polynomial
from onestep.derivations.free_energy.along_spike import over_kappa, y0, y1, y2
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.letter_energy import (
    mu1_of,
    mu2_of,
    prediction,
    q_of_kappa,
    signal,
    squared_residual,
)

SOURCE = "arXiv 2402.04980, Section 4.4"

letter = sp.Symbol("u", real=True)
places = sp.symbols("kappa_1 kappa_2", real=True)
kernel = sp.Symbol("k_{12}", real=True)

# Two letters at two places: mu0_u(kappa_i), penalties, weights and targets of the regression.
functions = sp.Matrix(2, 2, sp.symbols("f_11 f_12 f_21 f_22", real=True))  # row: place, column: letter
penalties = sp.symbols("t_1 t_2", positive=True)
weights = sp.symbols("w_1 w_2", positive=True)
targets = sp.symbols("y_1 y_2", real=True)
fitted = sp.Symbol("M_1", real=True)


def arcsine(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """(2/pi) asin of the normalised overlap of two places, for an erf student and letters u ~ N(0, 1)."""
    width = 1 + 2 * s.c
    top = 2 * s.r**2 * first * second
    return 2 / sp.pi * sp.asin(top / sp.sqrt((width + 2 * s.r**2 * first**2) * (width + 2 * s.r**2 * second**2)))


@functools.cache
def kernel_of_erf() -> Derivation:
    """E over normal letters of mu0_u(kappa_1) mu0_u(kappa_2) for an erf student: the arc-sine kernel."""
    x, y = places
    slope = s.r / sp.sqrt(1 + 2 * s.c)
    b, q = slope * x, sp.Rational(1, 2) + slope**2 * y**2
    antiderivative = -sp.exp(-q * letter**2) * sp.erf(b * letter) / (2 * q)
    remaining = b / (q * sp.sqrt(sp.pi)) * sp.exp(-(q + b**2) * letter**2)
    derivative = 2 * slope / sp.sqrt(sp.pi) * b / (q * sp.sqrt(sp.pi)) / sp.sqrt(2 * (q + b**2))
    result = arcsine(x, y)
    X = sp.sin(sp.pi * result / 2)
    rest = (1 + 2 * s.c) * (1 + 2 * s.c + 2 * s.r**2 * x**2 + 2 * s.r**2 * y**2)
    rest /= (1 + 2 * s.c + 2 * s.r**2 * x**2) * (1 + 2 * s.c + 2 * s.r**2 * y**2)
    steps = (
        Step(
            "For an erf student mu0_u(kappa) = erf(r u kappa/sqrt(1 + 2c)). The slope of the kernel in kappa_2 is an "
            "average of u erf(b u) exp(-(q - 1/2) u^2), which has an antiderivative up to a Gaussian.",
            eq(sp.Symbol("d"), antiderivative),
            Vanishing(
                "its derivative",
                sp.expand(
                    (sp.diff(antiderivative, letter) + remaining) * sp.exp(q * letter**2) - letter * sp.erf(b * letter)
                ),
            ),
        ),
        Step(
            "The antiderivative vanishes at both ends, and the average of exp(-(q + b^2 - 1/2) u^2) over u is "
            "1/sqrt(2(q + b^2)).",
            eq(sp.Symbol("k'"), derivative),
        ),
        Step(
            "The arc-sine has that slope: with X the argument of asin, 1 - X^2 is a ratio of three factors.",
            eq(1 - sp.Symbol("X") ** 2, rest),
            Vanishing("1 - X^2", 1 - X**2 - rest),
            Vanishing(
                "squares of both slopes", sp.together((2 / sp.pi) ** 2 * sp.diff(X, y) ** 2 / rest - derivative**2)
            ),
        ),
        Step(
            "Both slopes have the sign of kappa_1, and both sides vanish at kappa_2 = 0.",
            eq(kernel, result),
            Vanishing("at kappa_2 = 0", result.subs(y, 0)),
            Vanishing(
                "their ratio at kappa_2 = 0 is one", sp.simplify((sp.diff(result, y) / derivative).subs(y, 0)) - 1
            ),
        ),
    )
    return Derivation("arc-sine kernel of many letters", SOURCE, *steps, results={kernel: result})


def kernel_matrix() -> sp.Matrix:
    """K_ij = sum_u t_u mu0_u(kappa_i) mu0_u(kappa_j)."""
    return functions * sp.diag(*penalties) * functions.T


@functools.cache
def kernel_ridge() -> Derivation:
    """The means' part of the prediction is kernel ridge regression with the kernel of the letters."""
    W, T, y = sp.diag(*weights), sp.diag(*penalties), sp.Matrix(targets)
    gram = functions.T * W * functions + T.inv()
    m = gram.inv() * functions.T * W * y
    direct = functions * m
    K = kernel_matrix()
    system = K * W + sp.eye(2)
    result = sp.together((K * W * system.inv() * y)[0])
    steps = (
        Step(
            "At width p the means minimise sum_i w_i (y_i - M_i)^2 + sum_u m_u^2/t_u, with M_i = sum_u mu0_u(kappa_i) "
            "m_u, weights of the rule over 1 + V, y what the other functions leave of the target, and t_u = "
            "(alpha/beta) p tau_u. Two places and two letters are written out.",
            eq(sp.Symbol("M"), sp.Symbol("F m")),
            *(
                Vanishing(f"stationarity in m_{u + 1}", sp.together((functions.T * W * (direct - y) + T.inv() * m)[u]))
                for u in (0, 1)
            ),
        ),
        Step(
            "With K = F T F^T, F T (F^T W (y - M)) = M reads M = K W (y - M): kernel ridge regression.",
            eq(fitted, result),
            Vanishing("both ways to M", sp.together(direct[0] - result)),
        ),
    )
    return Derivation("means as kernel ridge regression", SOURCE, *steps, results={fitted: result})


coefficients = tuple(sp.Symbol(rf"[u^{n}]\mu_0^u(\kappa)", real=True) for n in range(DEGREE + 1))
_other = sp.Symbol("z_1", real=True)
_along = sp.Symbol("y", positive=True)
_argument = sp.Symbol("x", positive=True)
exponent = sp.Symbol("s", real=True)

# Mellin transforms: of F in the letter, of g, and of the weight K at 1 - s and, for mutants, at s.
of_letters, of_activation, of_weight, of_weight_at_s = sp.symbols(
    r"\hat{F}(s) \hat{g}(s) \hat{K}(1-s) \hat{K}(s)", real=True
)

# Averages over kappa of what the limit leaves: y2 - y0^2 without label noise, y1 sum mu1 psi, and sum mu1 mu1 Q + sum
# mu2^2 q2.
unexplained = sp.Symbol(r"\langle y_2-y_0^2\rangle", nonnegative=True)
met = sp.Symbol(r"\langle y_1\sum\mu_1\psi\rangle", real=True)
fluctuation = sp.Symbol(r"\langle\sum\mu_1\mu_1Q+\sum\mu_2^2q_2\rangle", nonnegative=True)

SMOOTH_MEANS = (
    "sigma grows no faster than a power and is no polynomial; its letters have a law whose support has a point of "
    "accumulation, and variances c_u = 1 + u^2 (c - 1)"
)
YHAT = "yhat = y0 up to what parity forbids: the closure of what the means span, argued and not checked here"
MELLIN = (
    "an analytic function that is not zero has isolated zeros, and an integrable function whose Mellin transform is "
    "zero on a line is zero"
)


@functools.cache
def taylor(order: int) -> Derivation:
    """The coefficient of u^order in the mean of a letter: E[He_n sigma]/n! times E_z (r kappa + sqrt(c - 1) z)^n."""
    variance = 1 + letter**2 * (s.c - 1)
    mean = sp.expand(average(polynomial(letter * s.r * s.kappa + sp.sqrt(variance) * s.z), s.z))
    smoothed = average(polynomial(letter * (s.r * s.kappa + sp.sqrt(s.c - 1) * _other) + s.z), s.z, _other)
    moments = {name: average(hermite(k, s.z) * polynomial(s.z), s.z) for k, name in enumerate(s.hermite_moments)}
    power = average((s.r * s.kappa + sp.sqrt(s.c - 1) * _other) ** order, _other)
    result = mean.coeff(letter, order)
    steps = (
        Step(
            "sqrt(c_u) z has the law of u sqrt(c - 1) z' + z: a letter's mean is that of one function of u times a "
            "normal variable y.",
            eq(sp.Symbol(r"\mu_0^u(\kappa)"), sp.Symbol("E g(u y)")),
            Vanishing("the variances add", variance - (letter * sp.sqrt(s.c - 1)) ** 2 - 1),
            Vanishing("both averages, moment by moment", sp.expand(mean - smoothed)),
        ),
        Step(
            "The n-th derivative of P_1 sigma at 0 is E[He_n sigma].",
            eq(coefficients[order], result),
            Vanishing(
                f"order {order}", sp.expand(result - moments[s.hermite_moments[order]] / sp.factorial(order) * power)
            ),
            *(
                Vanishing(
                    f"derivative {k}",
                    sp.expand(sp.diff(average(polynomial(s.x + s.z), s.z), s.x, k).subs(s.x, 0) - value),
                )
                for k, value in enumerate(moments.values())
            ),
        ),
    )
    return Derivation(
        f"order {order} of a letter's mean",
        SOURCE,
        *steps,
        results={**moments, coefficients[order]: result},
        hypotheses=(
            f"the activation is a polynomial of degree {DEGREE}; others are limits of polynomials in mean square",
        ),
    )


@functools.cache
def mellin() -> Derivation:
    """The Mellin transform in the letter of F(u) = 2 int_0^oo K(y) g(u y) dy is a product."""
    x, y, u = _argument, _along, sp.Symbol("u", positive=True)
    result = 2 * of_activation * of_weight
    steps = (
        Step(
            "At fixed y the letter enters as x = u y; the order of the integrals is exchanged where both converge "
            "absolutely.",
            eq(of_letters, result),
            Vanishing(
                "u^(s-1) du is y^(-s) x^(s-1) dx", (x / y) ** (exponent - 1) / y - x ** (exponent - 1) * y**-exponent
            ),
            Vanishing("dx = y du", sp.diff(u * y, u) - y),
            Vanishing("y^(-s) is y^((1-s)-1)", y ** ((1 - exponent) - 1) - y**-exponent),
        ),
    )
    return Derivation(
        "Mellin transform in the letter",
        SOURCE,
        *steps,
        results={of_letters: result},
        hypotheses=(SMOOTH_MEANS, MELLIN),
    )


@functools.cache
def test_error() -> Derivation:
    """e2 where yhat = y0, averaged; two letters are written out."""
    gap = y0 - prediction
    left = y2 - y0**2 - 2 * y1 * signal + q_of_kappa
    named = {
        unexplained: over_kappa(y2 - y0**2) - s.noise,
        met: over_kappa(y1 * signal),
        fluctuation: over_kappa(q_of_kappa),
    }
    result = over_kappa(left) - s.noise
    by_letters = sum(s.psi_of[a] * over_kappa(y1 * mu1_of[a]) for a in LETTERS)
    by_norms = sum(s.q2_of[a] * over_kappa(mu2_of[a] ** 2) for a in LETTERS) + sum(
        s.q1_of[a][b] * over_kappa(mu1_of[a] * mu1_of[b]) for a in LETTERS for b in LETTERS
    )
    steps = (
        Step(
            "The squared residual at given kappa is the square of what the means leave of y0, and a rest that does not "
            "know them. The means cost nothing at leading order; where they leave nothing, yhat = y0, the forces of "
            "zeta vanish with y0 - yhat. The label noise is not counted.",
            eq(s.test_error, result),
            Vanishing("e2 less the square", sp.expand(squared_residual - gap**2 - left)),
        ),
        Step(
            "What kappa does not tell of the label",
            eq(unexplained, named[unexplained]),
            Vanishing("nothing at gamma = 1", named[unexplained].subs(y2, y0**2 + s.noise).doit()),
        ),
        Step(
            "is met by the readout's overlap with theta_perp,",
            eq(met, named[met]),
            Vanishing("letter by letter", expand_expectations(named[met] - by_letters)),
        ),
        Step(
            "and the readout's own fluctuation is added.",
            eq(fluctuation, named[fluctuation]),
            Vanishing("overlap by overlap", expand_expectations(named[fluctuation] - by_norms)),
        ),
    )
    return Derivation(
        "test error of a density of letters",
        SOURCE,
        *steps,
        results={s.test_error: result, **named},
        hypotheses=(SMOOTH_MEANS, YHAT, "the limit of many letters is taken after that of infinite width"),
    )

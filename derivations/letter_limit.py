r"""A density of letters, Section 4.4 and the end of Appendix D: the means leave nothing of y0, and what then is left.

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

from derivations.bulk.blocks import LETTERS
from derivations.equivalence.hermite_features import DEGREE, average, hermite, polynomial
from derivations.free_energy.along_spike import over_kappa, y0, y1, y2
from derivations.language import symbols as s
from derivations.language.derivation import Derivation, Step, Vanishing
from derivations.language.expectation import expand_expectations
from derivations.letter_density import SOURCE, letter
from derivations.readout_groups import mu1_of, mu2_of, prediction, q_of_kappa, signal, squared_residual

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
            sp.Eq(sp.Symbol(r"\mu_0^u(\kappa)"), sp.Symbol("E g(u y)"), evaluate=False),
            (
                Vanishing("the variances add", variance - (letter * sp.sqrt(s.c - 1)) ** 2 - 1),
                Vanishing("both averages, moment by moment", sp.expand(mean - smoothed)),
            ),
        ),
        Step(
            "The n-th derivative of P_1 sigma at 0 is E[He_n sigma].",
            sp.Eq(coefficients[order], result, evaluate=False),
            (
                Vanishing(
                    f"order {order}",
                    sp.expand(result - moments[s.hermite_moments[order]] / sp.factorial(order) * power),
                ),
                *(
                    Vanishing(
                        f"derivative {k}",
                        sp.expand(sp.diff(average(polynomial(s.x + s.z), s.z), s.x, k).subs(s.x, 0) - value),
                    )
                    for k, value in enumerate(moments.values())
                ),
            ),
        ),
    )
    return Derivation(
        f"order {order} of a letter's mean",
        SOURCE,
        steps,
        {**moments, coefficients[order]: result},
        (f"the activation is a polynomial of degree {DEGREE}; others are limits of polynomials in mean square",),
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
            sp.Eq(of_letters, result, evaluate=False),
            (
                Vanishing(
                    "u^(s-1) du is y^(-s) x^(s-1) dx",
                    (x / y) ** (exponent - 1) / y - x ** (exponent - 1) * y**-exponent,
                ),
                Vanishing("dx = y du", sp.diff(u * y, u) - y),
                Vanishing("y^(-s) is y^((1-s)-1)", y ** ((1 - exponent) - 1) - y**-exponent),
            ),
        ),
    )
    return Derivation("Mellin transform in the letter", SOURCE, steps, {of_letters: result}, (SMOOTH_MEANS, MELLIN))


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
            sp.Eq(s.test_error, result, evaluate=False),
            (Vanishing("e2 less the square", sp.expand(squared_residual - gap**2 - left)),),
        ),
        Step(
            "What kappa does not tell of the label",
            sp.Eq(unexplained, named[unexplained], evaluate=False),
            (Vanishing("nothing at gamma = 1", named[unexplained].subs(y2, y0**2 + s.noise).doit()),),
        ),
        Step(
            "is met by the readout's overlap with theta_perp,",
            sp.Eq(met, named[met], evaluate=False),
            (Vanishing("letter by letter", expand_expectations(named[met] - by_letters)),),
        ),
        Step(
            "and the readout's own fluctuation is added.",
            sp.Eq(fluctuation, named[fluctuation], evaluate=False),
            (Vanishing("overlap by overlap", expand_expectations(named[fluctuation] - by_norms)),),
        ),
    )
    return Derivation(
        "test error of a density of letters",
        SOURCE,
        steps,
        {s.test_error: result, **named},
        (SMOOTH_MEANS, YHAT, "the limit of many letters is taken after that of infinite width"),
    )

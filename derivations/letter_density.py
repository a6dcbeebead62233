r"""The limit of many letters, Section 4.4 and the end of Appendix D: what the means of the readout do along the spike.

Each letter u brings :math:`\mu_0^u(\kappa)`, a neuron acting on the one-dimensional input kappa with the weight u. The
means m_u choose a combination of them: ridge regression with one-dimensional random features, whose kernel is an
average over the letters. At infinite width the penalty on the means is gone; at width p it is sum_u m_u^2/t_u with
t_u = (alpha/beta) p tau_u.
"""

from __future__ import annotations

import functools

import sympy as sp

from derivations.language import symbols as s
from derivations.language.derivation import Derivation, Step, Vanishing

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
            sp.Eq(sp.Symbol("d"), antiderivative, evaluate=False),
            (
                Vanishing(
                    "its derivative",
                    sp.expand(
                        (sp.diff(antiderivative, letter) + remaining) * sp.exp(q * letter**2)
                        - letter * sp.erf(b * letter)
                    ),
                ),
            ),
        ),
        Step(
            "The antiderivative vanishes at both ends, and the average of exp(-(q + b^2 - 1/2) u^2) over u is "
            "1/sqrt(2(q + b^2)).",
            sp.Eq(sp.Symbol("k'"), derivative, evaluate=False),
        ),
        Step(
            "The arc-sine has that slope: with X the argument of asin, 1 - X^2 is a ratio of three factors.",
            sp.Eq(1 - sp.Symbol("X") ** 2, rest, evaluate=False),
            (
                Vanishing("1 - X^2", 1 - X**2 - rest),
                Vanishing(
                    "squares of both slopes",
                    sp.together((2 / sp.pi) ** 2 * sp.diff(X, y) ** 2 / rest - derivative**2),
                ),
            ),
        ),
        Step(
            "Both slopes have the sign of kappa_1, and both sides vanish at kappa_2 = 0.",
            sp.Eq(kernel, result, evaluate=False),
            (
                Vanishing("at kappa_2 = 0", result.subs(y, 0)),
                Vanishing(
                    "their ratio at kappa_2 = 0 is one",
                    sp.simplify((sp.diff(result, y) / derivative).subs(y, 0)) - 1,
                ),
            ),
        ),
    )
    return Derivation("arc-sine kernel of many letters", SOURCE, steps, {kernel: result})


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
            sp.Eq(sp.Symbol("M"), sp.Symbol("F m"), evaluate=False),
            tuple(
                Vanishing(
                    f"stationarity in m_{u + 1}",
                    sp.together((functions.T * W * (direct - y) + T.inv() * m)[u]),
                )
                for u in (0, 1)
            ),
        ),
        Step(
            "With K = F T F^T, F T (F^T W (y - M)) = M reads M = K W (y - M): kernel ridge regression.",
            sp.Eq(fitted, result, evaluate=False),
            (Vanishing("both ways to M", sp.together(direct[0] - result)),),
        ),
    )
    return Derivation("means as kernel ridge regression", SOURCE, steps, {fitted: result})

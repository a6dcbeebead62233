"""The saddle point with very many letters, in functions along the spike instead of matrices over the letters.

With letters u_a of weight pi_a, k of them, and nodes kappa_i of weight w_i, the block equivalent of
`numerics.bulk.equivalent` enters the errors only through functions of kappa. With tau_a = pi_a s_a,
rho_i = (alpha/beta) w_i/(1 + V_i), the kernel P_ij = beta sum_a c_a tau_a mu1_a(kappa_i) mu1_a(kappa_j), X = (1 + rho
P)^-1 and M = mu1 X rho mu1^T,

    T(kappa_i, kappa_j) = sum_ab mu1_a(kappa_i) T_ab mu1_b(kappa_j) = (P X)_ij/beta,
    V_i = T(kappa_i, kappa_i) + sum_a tau_a mu2_a(kappa_i)^2,     1/s_a = ridge + sum_i rho_i mu2_a^2 + c_a M_aa,

n + k unknowns where the matrices T_ab, C_ab have k^2/2 each. A neuron of a letter answers to a direction kappa_i of the
conjugates with B_ai = c_a (mu1 X)_ai^2 + mu2_a^2 and G = (1/s^2 - beta c c' M^2 pi)^-1 B, so that the quadratic part
of the error, sum_ab mu1_a mu1_b Q_ab + sum_a mu2_a^2 q2_a, solves the linear equation

    quadratic = S (fixed + quadratic) + signal,     S_ij = (alpha/beta) (B^T pi G + beta T^2)_ij w_j/(1 + V_j)^2.

What is left of y0, deviation = y0 - yhat, is given from outside: zero in the limit of many letters
(`numerics.saddle_point.letters.density`), kernel ridge regression at a finite width (`held_means`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.saddle_point.equations import MOST_ITERATIONS
from giantsteps.numerics.saddle_point.ridgeless import Regime

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LetterTable:
    """Letters (k,): fractions pi and bulks c. Nodes (n,): kappa and weights. mu0, mu1, mu2_squared (k, n); y0, y1,
    spread = E_z[y^2] - y0^2 - y1^2 without noise (n,). All O(1) in d."""

    fractions: Array
    bulks: Array
    kappa: Array
    weights: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    y0: Array
    y1: Array
    spread: Array


@dataclass(frozen=True)
class Ratios:
    """alpha, beta and noise of a model, with the scale on which it is solved."""

    alpha: float
    beta: float
    noise: float
    regime: Regime

    @property
    def samples(self) -> float:
        """alpha/beta."""
        return self.alpha / self.beta


@dataclass(frozen=True)
class Response:
    """The nonlinear part solved.

    scaled_tau: s (k,); V, inverse = 1/(unit + V) (n,); across: T(kappa_i, kappa_j) (n, n); seen: mu1 X (k, n);
    answers: G (k, n); slope: S (n, n). residual: max of |x - F(x)|/(1 + |x|) over s and V.
    """

    scaled_tau: Array
    V: Array
    inverse: Array
    across: Array
    seen: Array
    answers: Array
    slope: Array
    residual: float
    converged: bool


@dataclass(frozen=True, eq=False)
class LetterLevel:
    """The limit on one pair of rules: letters u (k,), the table over them, the response, deviation y0 - yhat (n,)."""

    letters: Array
    table: LetterTable
    ratios: Ratios
    response: Response
    deviation: Array
    test_error: float
    training_error: float
    psi: Array
    unresolved: float
    rounding: float


@dataclass(frozen=True)
class _Evaluated:
    inverse: Array
    rho: Array
    across: Array
    seen: Array
    mixed: Array
    answered: Array
    tau_image: Array
    V_image: Array


def _evaluate(table: LetterTable, ratios: Ratios, s: Array, V: Array) -> _Evaluated:
    inverse = 1.0 / (ratios.regime.unit + V)
    rho = ratios.samples * table.weights * inverse
    tau = table.fractions * s
    kernel = ratios.beta * (table.mu1.T * (table.bulks * tau)) @ table.mu1
    solved = np.linalg.inv(np.eye(len(V)) + rho[:, None] * kernel)
    seen = table.mu1 @ solved
    mixed = (seen * rho) @ table.mu1.T
    across = kernel @ solved / ratios.beta
    return _Evaluated(
        inverse=inverse,
        rho=rho,
        across=0.5 * (across + across.T),
        seen=seen,
        mixed=mixed,
        answered=table.bulks[:, None] * seen**2 + table.mu2_squared,
        tau_image=1.0 / (ratios.regime.ridge + table.mu2_squared @ rho + table.bulks * np.diag(mixed)),
        V_image=np.diag(across) + tau @ table.mu2_squared,
    )


def respond(table: LetterTable, ratios: Ratios) -> Response:
    """Solve for s and V by Newton's method from above, where F is increasing and concave
    (`numerics.saddle_point.equations`)."""
    letters = len(table.fractions)
    s = np.full(letters, 1.0 / (ratios.regime.ridge or 1.0))
    V = (table.fractions * s) @ (table.bulks[:, None] * table.mu1**2 + table.mu2_squared)
    above, previous, converged = (s, V), math.inf, False
    for _ in range(MOST_ITERATIONS):
        now = _evaluate(table, ratios, s, V)
        gap = np.concatenate([s - now.tau_image, V - now.V_image])
        size = float(np.max(np.abs(gap) / np.concatenate([s, V])))
        # Newton's method has converged when the gap is at rounding, or stops shrinking near it.
        converged = size < 1e-15 or (size < 1e-12 and size >= previous)
        if converged or not math.isfinite(size):
            break
        previous = size
        moved = np.concatenate([s, V]) - np.linalg.solve(_jacobian(table, ratios, now), gap)
        if moved.min() > 0.0:
            s, V = moved[:letters], moved[letters:]
        else:
            above = (10.0 * above[0], 10.0 * above[1])
            s, V = above
    return _response(table, ratios, s, V, converged)


def _jacobian(table: LetterTable, ratios: Ratios, now: _Evaluated) -> Array:
    """1 - dF/d(s, V)."""
    letters, nodes = table.mu1.shape
    pi, c, slope = table.fractions, table.bulks, now.rho * now.inverse
    square = now.tau_image[:, None] ** 2
    jacobian = np.eye(letters + nodes)
    jacobian[:letters, :letters] -= square * ratios.beta * np.outer(c, c * pi) * now.mixed**2
    jacobian[:letters, letters:] -= square * now.answered * slope
    jacobian[letters:, :letters] -= now.answered.T * pi
    jacobian[letters:, letters:] -= ratios.beta * now.across**2 * slope
    return jacobian


def _response(table: LetterTable, ratios: Ratios, s: Array, V: Array, converged: bool) -> Response:
    now = _evaluate(table, ratios, s, V)
    pi, c = table.fractions, table.bulks
    system = np.diag(1.0 / s**2) - ratios.beta * np.outer(c, c * pi) * now.mixed**2
    answers = np.asarray(np.linalg.solve(system, now.answered), dtype=np.float64)
    kernel = (now.answered.T * pi) @ answers + ratios.beta * now.across**2
    gap = np.concatenate([(s - now.tau_image) / (1.0 + s), (V - now.V_image) / (1.0 + V)])
    return Response(
        scaled_tau=s,
        V=V,
        inverse=now.inverse,
        across=now.across,
        seen=now.seen,
        answers=answers,
        slope=kernel * (now.rho * now.inverse),
        residual=float(np.max(np.abs(gap))),
        converged=converged,
    )


@dataclass(frozen=True)
class Errors:
    """Test and training error; psi (k,); condition of the linear equation for the errors."""

    test_error: float
    training_error: float
    psi: Array
    condition: float


def errors(table: LetterTable, ratios: Ratios, response: Response, deviation: Array, width: float = math.inf) -> Errors:
    """Both errors where y0 - yhat = deviation (n,); at a finite `width` with the cost of the means (`held_means`)."""
    pulled = table.weights * response.inverse
    forces, psi_forces = pulled * deviation, pulled * table.y1
    along_spike = table.mu1 @ (forces * table.kappa)
    heard = response.seen @ psi_forces
    across = response.across @ psi_forces
    fixed = deviation**2 + table.spread + ratios.noise + table.y1 * (table.y1 - 2.0 * ratios.alpha * across)
    pressure = ratios.beta * table.bulks * (along_spike**2 + heard**2)
    if math.isfinite(width):
        pressure = pressure + width * (table.mu0 @ forces) ** 2
    signal = ratios.samples**2 * ((table.fractions * pressure) @ response.answers + (ratios.beta * across) ** 2)
    matrix = np.eye(len(fixed)) - response.slope
    inverse = np.linalg.inv(matrix)
    error = fixed + inverse @ (response.slope @ fixed + signal)
    tau = table.fractions * response.scaled_tau
    condition = float((np.abs(inverse) @ response.V / response.V).max())
    return Errors(
        test_error=float(table.weights @ error) - ratios.noise,
        training_error=ratios.regime.unit**2 * float((pulled * response.inverse) @ error),
        psi=ratios.alpha * table.bulks * tau * heard,
        condition=condition,
    )


def held_means(table: LetterTable, ratios: Ratios, response: Response, width: float) -> tuple[Array, Array, Array]:
    """(y0 - yhat, m, zeta) at a finite width p: kernel ridge regression of y0 along the spike.

    yhat = sum_a mu0_a m_a + kappa sum_a mu1_a zeta_a with m_a = t_a E[mu0_a (y0 - yhat)/(1+V)], t_a = (alpha/beta) p
    tau_a, and zeta_a = alpha c_a tau_a E[kappa mu1_a (y0 - yhat)/(1+V)]: with the kernel k of these functions,
    deviation = (1 + k w/(1+V))^-1 y0.
    """
    tau = table.fractions * response.scaled_tau
    given, along = ratios.samples * width * tau, table.kappa * table.mu1
    held = ratios.alpha * table.bulks * tau
    kernel = (table.mu0.T * given) @ table.mu0 + (along.T * held) @ along
    root = np.sqrt(table.weights * response.inverse)
    system = np.eye(len(root)) + root[:, None] * kernel * root
    scaled = np.linalg.solve(system, root * table.y0)
    # Nodes of vanishing weight have a deviation of their own all the same.
    deviation = np.where(root > 0.0, scaled / np.where(root > 0.0, root, 1.0), table.y0)
    forces = root * scaled
    return deviation, given * (table.mu0 @ forces), held * (along @ forces)

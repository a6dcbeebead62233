r"""The energy of one sample: Moreau envelope of the square loss, replicated local fields, and their average.

Equations (86)-(93), (96)-(97), (100)-(102), (118), (121) and (128): given kappa the output of a replica is Gaussian,
and the square loss against it can be minimised and averaged in closed form.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import (
    PAPER,
    V_of_kappa,
    g,
    mu1,
    mu2,
    prediction,
    squared_residual,
    y0,
    y1,
    y2,
)
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations

REPLICA_HYPOTHESES = (
    "the replica trick: E ln Z is the derivative of E Z^R at R = 0, continued from integers R",
    "the replica-symmetric ansatz; the problem is strictly convex, for which it is expected to be exact",
    "large d, small R and low temperature limits are exchanged",
)


def moreau_minimiser() -> sp.Expr:
    """Solve for the h at which (h - omega)^2/(2V) + (b - h)^2/2 is stationary."""
    (solution,) = sp.solve(sp.diff(moreau_objective(), s.local_field), s.local_field)
    return sp.factor(solution)


def moreau_objective() -> sp.Expr:
    """Energy of one sample at local field h: thermal fluctuations of variance V around omega, and the square loss."""
    h = s.local_field
    return (h - s.field_mean) ** 2 / (2 * s.V) + (s.residual - h) ** 2 / 2


def moreau_envelope() -> sp.Expr:
    """The minimum over h of the objective, by substitution of the minimiser."""
    return sp.factor(moreau_objective().subs(s.local_field, moreau_minimiser()))


def gaussian_integral(curvature: sp.Expr) -> sp.Expr:
    """int dh exp(-curvature h^2/2) = sqrt(2 pi/curvature)."""
    return sp.sqrt(2 * sp.pi / curvature)


@functools.cache
def square_loss() -> Derivation:
    """Equations (96)-(97), (101), (118), (121): minimiser and Moreau envelope of the square loss."""
    h, V, B = s.local_field, s.V, s.inverse_temperature
    objective, minimiser, envelope = moreau_objective(), moreau_minimiser(), moreau_envelope()
    curvature = (1 + V) / V
    # (B/(2 pi V))^(1/2) int dh exp(-B objective) = prefactor exp(-B envelope)
    prefactor = sp.sqrt(B / (2 * sp.pi * V)) * gaussian_integral(B * curvature)
    steps = (
        Step(
            "On one sample the output is mu0 m + kappa mu1 zeta plus a local field h, Gaussian around omega with "
            "variance V/B at inverse temperature B; the loss is (b - h)^2/2 with b = y - mu0 m - kappa mu1 zeta.",
            eq(s.moreau, sp.Function("inf_h")(objective)),
        ),
        Step(
            "The objective is quadratic in h and convex; its stationary point is the minimiser of equation (121).",
            eq(h, minimiser),
            Vanishing("the derivative vanishes at the minimiser", sp.diff(objective, h).subs(h, minimiser)),
            NonNegative(
                "the objective exceeds the envelope by a square, so the stationary point is the minimum",
                objective - envelope,
                ((curvature / 2, h - minimiser),),
            ),
        ),
        Step(
            "Inserting it gives the Moreau envelope of the square loss.",
            eq(s.moreau, envelope),
            Vanishing("the envelope is the objective at the minimiser", objective.subs(h, minimiser) - envelope),
        ),
        Step(
            "At inverse temperature B the integral over h is Gaussian: it is exp(-B M) times (1 + V)^(-1/2).",
            eq(sp.Symbol("Z_h"), sp.exp(-B * s.moreau) / sp.sqrt(1 + V)),
            Vanishing("the prefactor is (1 + V)^(-1/2)", prefactor**2 * (1 + V) - 1),
        ),
        Step(
            "So -ln(Z_h)/B = M + ln(1 + V)/(2B), and the determinant drops out at zero temperature.",
            eq(sp.Symbol("-ln(Z_h)/B"), s.moreau + sp.log(1 + V) / (2 * B)),
            RationalLimit("B -> infinity leaves M", s.moreau + sp.log(1 + V) / (2 * B), B, s.moreau),
        ),
    )
    return Derivation(
        "Moreau envelope of the square loss",
        f"{PAPER}, Appendix C, (96)-(101), (121)",
        *steps,
        results={h: minimiser, s.moreau: envelope},
    )


def local_field_mean() -> sp.Expr:
    """The Gaussian variable omega of equation (101), with z the label's and xi an independent standard normal."""
    return mu1 * s.psi * s.z + sp.sqrt(mu1**2 * (s.q1 - s.psi**2) + mu2**2 * s.q2) * s.xi


@functools.cache
def local_fields() -> Derivation:
    r"""Equations (86)-(93), (102), (128): the replicated local fields as explicit Gaussian variables.

    Given kappa, h_i = mu1 a_i.W x_perp/sqrt p + mu2 a_i.xi/sqrt p has covariance mu1^2 q1_ij + mu2^2 q2_ij.
    """
    normals = sp.symbols("omega_1 omega_2 u_1 u_2 v_1 v_2", real=True)
    w1, w2, u1, u2, v1, v2 = normals
    variables = (s.z, *normals)
    common = mu1 * (s.psi * s.z + sp.sqrt(s.q1 - s.psi**2) * w1) + mu2 * sp.sqrt(s.q2) * w2

    def replica(u: sp.Symbol, v: sp.Symbol) -> sp.Expr:
        return common + mu1 * sp.sqrt(s.V1) * u + mu2 * sp.sqrt(s.V2) * v

    def average(expression: sp.Expr) -> sp.Expr:
        return expand_expectations(Expectation(sp.expand(expression), *variables))

    q = mu1**2 * s.q1 + mu2**2 * s.q2
    first, second = replica(u1, v1), replica(u2, v2)
    own = sp.expand(average(first**2) - average(first * second))
    omega = local_field_mean()
    steps = (
        Step(
            "Replica symmetry gives all replicas one common part, which carries the label's z, and independent parts: "
            "a_i.W x_perp/sqrt p = psi z + sqrt(q1 - psi^2) omega_1 + sqrt(V1) u_i and a_i.xi/sqrt p = sqrt(q2) "
            "omega_2 + sqrt(V2) v_i.",
            eq(s.local_field, first),
        ),
        Step(
            "Their covariance is the one of equation (89): V(kappa) delta_ij + mu1^2 q1 + mu2^2 q2.",
            eq(sp.Symbol("E[h_i h_j]"), q),
            Vanishing("two different replicas have covariance mu1^2 q1 + mu2^2 q2", average(first * second) - q),
        ),
        Step(
            "What one replica has more than two share.",
            eq(s.V, own),
            Vanishing("one replica has V(kappa) more", q + own - average(first**2)),
        ),
        Step(
            "The covariance with the label's Gaussian variable z is mu1 psi, equation (128).",
            eq(sp.Symbol("E[z h_i]"), mu1 * s.psi),
            Vanishing("covariance with z", average(s.z * first) - mu1 * s.psi),
        ),
        Step(
            "The common part is omega of equation (101): the same variance and the same covariance with z.",
            eq(s.field_mean, omega),
            Vanishing("variance of omega", expand_expectations(Expectation(sp.expand(omega**2), s.z, s.xi)) - q),
            Vanishing(
                "covariance of omega with z",
                expand_expectations(Expectation(sp.expand(s.z * omega), s.z, s.xi)) - mu1 * s.psi,
            ),
        ),
    )
    return Derivation(
        "replicated local fields",
        f"{PAPER}, Appendix C, (86)-(93), (128)",
        *steps,
        results={s.V: own, s.field_mean: omega},
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )


def label() -> sp.Expr:
    """The label at given kappa: g(gamma kappa + sqrt(rho) z) + sqrt(Delta) e with e ~ N(0, 1)."""
    return g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z) + sp.sqrt(s.noise) * LABEL_NOISE


LABEL_NOISE = sp.Symbol("e", real=True)


def name_label_moments(expression: sp.Expr) -> sp.Expr:
    """Write y0, y1, y2 for the averages over z that define them."""
    teacher = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
    return sp.expand(
        expression.subs(
            {
                Expectation(teacher**2, s.z): y2 - s.noise,
                Expectation(s.z * teacher, s.z): y1,
                Expectation(teacher, s.z): y0,
            }
        )
    )


@functools.cache
def energetic() -> Derivation:
    """Equations (100)-(101): the average of the Moreau envelope over z, xi and the label noise, at fixed kappa."""
    gap = label() - prediction - local_field_mean()
    averaged = name_label_moments(expand_expectations(Expectation(sp.expand(gap**2), s.z, s.xi, LABEL_NOISE)))
    average_envelope = (
        moreau_envelope().subs(s.residual - s.field_mean, sp.sqrt(squared_residual)).subs(s.V, V_of_kappa)
    )
    e2 = sp.Symbol("e_2", real=True)
    steps = (
        Step(
            "At the minimum the sample costs (b - omega)^2/(2(1+V)); b - omega is the error of the mean output "
            "omega + mu0 m + kappa mu1 zeta.",
            eq(s.residual - s.field_mean, gap),
        ),
        Step(
            "Its square averaged over z, xi and the label noise is e2(kappa); only the averages y0, y1, y2 of the "
            "label enter.",
            eq(e2, averaged),
            Vanishing("the average is e2 of the theory", averaged - squared_residual),
        ),
        Step(
            "The energetic term is the average over kappa of e2/(2(1+V)), times alpha/beta samples per neuron.",
            eq(s.moreau, average_envelope),
            Vanishing("the envelope is linear in the square", 2 * (1 + V_of_kappa) * average_envelope - averaged),
        ),
    )
    return Derivation(
        "energetic term",
        f"{PAPER}, Appendix C, (100)-(102)",
        *local_fields().steps,
        *square_loss().steps,
        *steps,
        results={s.moreau: average_envelope},
        hypotheses=REPLICA_HYPOTHESES,
    )

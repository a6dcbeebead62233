r"""The saddle point once more, without replicas: leaving out one sample, then one neuron.

The readout satisfies lambda a = (1/sqrt p) sum_mu phi_mu r_mu with residuals r_mu = y_mu - f(x_mu). Compared with the
readout that has not seen sample mu,

    r_mu = (y_mu - f_without(x_mu))/(1 + V(kappa_mu)),

and given kappa the output without mu is Gaussian in the sample's own variables. Averaged over samples the sum has a
constant part, a part along W v and W theta_perp, a part proportional to a, and noise: a linear equation for a with
S = lambda + V1^ W Pi W^T + V2^. Nothing of the free energy is used.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.marchenko_pastur import cavity, quadratic, second_moments
from onestep.derivations.free_energy.along_spike import (
    PAPER,
    V_of_kappa,
    mu0,
    mu1,
    mu2,
    over_kappa,
    prediction,
    squared_residual,
    y0,
    y1,
)
from onestep.derivations.free_energy.sample_energy import LABEL_NOISE, label, name_label_moments
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations

SOURCE = f"{PAPER}, Section 3.3, by leave-one-out"
HYPOTHESES = (
    "a sample's quadratic form in the resolvent of the others concentrates",
    "the readout without a sample is independent of it, and its overlaps are those of the full readout",
    "sums over samples concentrate; what is left of the noise is Gaussian",
)
ratio = s.alpha / s.beta
# Components of a sample orthogonal to v: along theta_perp it is z, along another unit direction e it is w.
ELSEWHERE, ROW_NOISE = sp.symbols("w x", real=True)
OVERLAP, WEIGHT = sp.symbols("o a_k", real=True)  # (Pi W^T a).e/sqrt p and a_k/sqrt p
rest_1, rest_2 = sp.symbols("n_1 n_2", nonnegative=True)  # what is left of q1 - psi^2 and of q2


def residual_with(cavity_residual: sp.Expr, response: sp.Expr) -> sp.Expr:
    """Solve r = y - f_without - V r: seeing the sample moves its own output by V r."""
    r = sp.Symbol("r_mu", real=True)
    (solution,) = sp.solve(cavity_residual - response * r - r, r)
    return solution


def averaged(expression: sp.Expr) -> sp.Expr:
    """The average over a sample's own variables at given kappa."""
    variables = (s.z, ELSEWHERE, ROW_NOISE, s.xi, s.mode_field, LABEL_NOISE)
    return name_label_moments(expand_expectations(Expectation(sp.expand(expression), *variables)))


def cavity_gap() -> sp.Expr:
    """y - f_without: the output is Gaussian in z, in the component w, in one neuron's noise x and in all the rest."""
    field = mu1 * (s.psi * s.z + OVERLAP * ELSEWHERE + sp.sqrt(rest_1) * s.xi)
    field += mu2 * (WEIGHT * ROW_NOISE + sp.sqrt(rest_2) * s.mode_field)
    return label() - prediction - field


def full_sizes(expression: sp.Expr) -> sp.Expr:
    """The remainders written with the overlaps: q1 = psi^2 + o^2 + n_1, q2 = a_k^2 + n_2."""
    return sp.expand(expression.subs({rest_1: s.q1 - s.psi**2 - OVERLAP**2, rest_2: s.q2 - WEIGHT**2}))


@functools.cache
def samples() -> Derivation:
    """The conjugates and m: one sample left out."""
    gap = cavity_gap()
    shrink = residual_with(sp.S.One, V_of_kappa)  # 1/(1+V)
    mean = full_sizes(averaged(gap))
    along_target, elsewhere, own = (full_sizes(averaged(x * gap)) for x in (s.z, ELSEWHERE, ROW_NOISE))
    square = full_sizes(averaged(gap**2))
    r = sp.Symbol("r_mu", real=True)
    results = {
        s.V1_hat: -ratio * over_kappa(sp.diff(mu1 * elsewhere * shrink, OVERLAP)),
        s.V2_hat: -ratio * over_kappa(sp.diff(mu2 * own * shrink, WEIGHT)),
        s.zeta_hat: ratio * over_kappa(s.kappa * mu1 * mean * shrink),
        s.psi_hat: ratio * over_kappa(sp.expand(mu1 * (along_target + mu1 * s.psi)) * shrink),
        s.q1_hat: ratio * over_kappa(mu1**2 * square * shrink**2),
        s.q2_hat: ratio * over_kappa(mu2**2 * square * shrink**2),
    }
    steps = (
        Step(
            "A sample that is added moves its own output by V times its residual, V = phi.G phi/p with G the resolvent "
            "of the others: so its residual is what it would have been, over 1 + V.",
            eq(r, residual_with(sp.Symbol("y-f_without", real=True), s.V)),
            Vanishing("r + V r is the residual without the sample", shrink + V_of_kappa * shrink - 1),
        ),
        Step(
            "The fluctuating part of phi has covariance mu1^2 W Pi W^T + mu2^2, so V(kappa) = mu1^2 V1 + mu2^2 V2; the "
            "constant part and the one along W v add O(1/p).",
            eq(s.V, V_of_kappa),
        ),
        Step(
            "Given kappa the output without the sample is Gaussian: averages of the residual with the constant, with "
            "theta_perp.x, with any other direction orthogonal to v, and with the noise of one neuron.",
            eq(sp.Symbol("E[r]"), mean * shrink),
            Vanishing("along theta_perp: the label pulls, psi holds back", along_target - y1 + mu1 * s.psi),
            Vanishing("along any other direction only the readout itself", elsewhere + mu1 * OVERLAP),
            Vanishing("on the noise of a neuron only its own weight", own + mu2 * WEIGHT),
            Vanishing("the squared residual is e2", square - squared_residual),
        ),
        Step(
            "In lambda a = (1/sqrt p) sum phi r the parts proportional to a go to the left: V1^ W Pi W^T a + V2^ a.",
            eq(s.V1_hat, results[s.V1_hat]),
            Vanishing("mu1 in output and force", results[s.V1_hat] - ratio * over_kappa(mu1**2 * shrink)),
        ),
        Step(
            "On the noise of the neurons.",
            eq(s.V2_hat, results[s.V2_hat]),
            Vanishing("mu2 in output and force", results[s.V2_hat] - ratio * over_kappa(mu2**2 * shrink)),
        ),
        Step(
            "The force along W v.",
            eq(s.zeta_hat, results[s.zeta_hat]),
            Vanishing("the mean residual at given kappa", mean - (y0 - mu0 * s.m - s.kappa * mu1 * s.zeta)),
        ),
        Step(
            "The force along W theta_perp; what psi holds back is part of V1^ W Pi W^T a already.",
            eq(s.psi_hat, results[s.psi_hat]),
            Vanishing("the pull of the label", results[s.psi_hat] - ratio * over_kappa(mu1 * y1 * shrink)),
        ),
        Step(
            "The noise has the covariance q1^ W Pi W^T + q2^.",
            eq(s.q1_hat, results[s.q1_hat]),
            Vanishing(
                "the squared residual, shrunk",
                results[s.q1_hat] - ratio * over_kappa(mu1**2 * squared_residual * shrink**2),
            ),
        ),
        Step(
            "Its part from the neurons' noise.",
            eq(s.q2_hat, results[s.q2_hat]),
            Vanishing(
                "the squared residual, shrunk",
                results[s.q2_hat] - ratio * over_kappa(mu2**2 * squared_residual * shrink**2),
            ),
        ),
    )
    return Derivation("one sample left out", SOURCE, *steps, results=results, hypotheses=HYPOTHESES)


@functools.cache
def balance_of_mean() -> Derivation:
    """m: the force along the constant vector has to vanish."""
    shrink = residual_with(sp.S.One, V_of_kappa)
    mean = full_sizes(averaged(cavity_gap()))
    balance = expand_expectations(over_kappa(sp.expand(mu0 * mean) * shrink))
    at_rest = balance.subs(s.m, 0)
    m = at_rest / (at_rest - balance.subs(s.m, 1))
    step = Step(
        "A force along the constant vector would make m of order sqrt p; so its average vanishes, which fixes m.",
        eq(s.m, m),
        Vanishing("the balance at m", expand_expectations(balance).subs(s.m, m)),
    )
    return Derivation(
        "balance of the readout mean", SOURCE, *samples().steps, step, results={s.m: m}, hypotheses=HYPOTHESES
    )


@functools.cache
def responses() -> Derivation:
    """V1 and V2: one neuron left out (the Schur complement of its row)."""
    one, two = cavity(), quadratic()
    return Derivation(
        "one neuron left out",
        SOURCE,
        *two.steps,
        results={s.V1: one.results[s.V1], s.V2: two.results[s.V2]},
        hypotheses=two.hypotheses,
    )


def trace_of(kernel_1: sp.Expr, kernel_2: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(1/p) tr[Omega S^-1 K S^-1] and (1/p) tr[S^-1 K S^-1] for K = kernel_1 Omega + kernel_2."""
    return (
        kernel_1 * s.resolvent_double + kernel_2 * s.resolvent_mixed,
        kernel_1 * s.resolvent_mixed + kernel_2 * s.resolvent_square,
    )


@functools.cache
def overlaps() -> Derivation:
    """zeta, psi, q1, q2 from S a = sqrt p (zeta^ W v + psi^ W theta_perp) + noise, isotropic rows."""
    zeta = s.zeta_hat * (s.beta * s.c * s.V2)
    psi = s.psi_hat * (s.beta * s.V1)
    # W v is independent of W Pi with entries of variance c/d, and W theta_perp enters as Omega does: p times the square
    # of the force is beta c and beta Omega.
    q1, q2 = trace_of(s.q1_hat + s.beta * s.psi_hat**2, s.q2_hat + s.beta * s.c * s.zeta_hat**2)
    law = second_moments()
    steps = (
        *responses().steps,
        Step(
            "W v has p independent entries of variance c/d and is independent of Omega = W Pi W^T: zeta = zeta^ "
            "(Wv).S^-1 Wv.",
            eq(s.zeta, zeta),
            Vanishing("p entries of variance c/d", s.beta * s.d * (s.c / s.d) * s.V2 - s.beta * s.c * s.V2),
        ),
        Step(
            "theta_perp is one of d - 1 equivalent directions: (W theta_perp).S^-1 W theta_perp = (1/d) tr[Omega "
            "S^-1].",
            eq(s.psi, psi),
            Vanishing("(1/d) tr is beta times (1/p) tr", s.beta * s.d * s.V1 / s.d - s.beta * s.V1),
        ),
        *law.steps,
        Step(
            "The squares of a: noise, and the two forces, as traces with the resolvent on both sides.",
            eq(s.q2, q2),
            Vanishing(
                    "noise, theta_perp and v one by one",
                    q2
                    - (s.q1_hat * s.resolvent_mixed + s.q2_hat * s.resolvent_square)
                    - s.psi_hat**2 * s.beta * s.resolvent_mixed
                    - s.zeta_hat**2 * s.beta * s.c * s.resolvent_square,
                ),
        ),
        Step(
            "With W Pi W^T between.",
            eq(s.q1, q1),
            Vanishing(
                    "noise, theta_perp and v one by one",
                    q1
                    - (s.q1_hat * s.resolvent_double + s.q2_hat * s.resolvent_mixed)
                    - s.psi_hat**2 * s.beta * s.resolvent_double
                    - s.zeta_hat**2 * s.beta * s.c * s.resolvent_mixed,
                ),
        ),
    )  # fmt: skip
    return Derivation(
        "overlaps of the readout",
        SOURCE,
        *steps,
        results={s.zeta: zeta, s.psi: psi, s.q1: q1, s.q2: q2},
        hypotheses=(*HYPOTHESES, *law.hypotheses),
    )

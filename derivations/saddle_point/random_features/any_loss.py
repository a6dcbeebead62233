r"""Plain random features with any convex loss: the general saddle point (119)-(120) at r = 0 is that of the slides.

Without a spike mu0 = 0 (odd activation), mu1 = kappa_1 and mu2 = kappa_* are constants, v is a direction like any
other, and the order parameters become zeta = gamma M, psi = sqrt(rho) M, Q1 = q1 + zeta^2. Both systems then average
functions of one Gaussian pair: theta.x of variance one and the output f, of variance Q = kappa_1^2 Q1 + kappa_*^2 q2
and covariance kappa_1 M with it. Written with theta.x first, f = kappa_1 M z + sqrt(Q - kappa_1^2 M^2) xi, the
equations are the same term by term, with alpha_p = alpha/beta, gamma_p = 1/beta.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import sympy as sp

from onestep.derivations.free_energy import convex_loss
from onestep.derivations.free_energy.along_spike import V_of_kappa, mu0, mu1, mu2
from onestep.derivations.free_energy.convex_loss import force_of, force_slope_of
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import g
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.random_features import convex as convex_features
from onestep.derivations.saddle_point.random_features.convex import eta, eta_prime, k1, k2, label, omega_1
from onestep.derivations.saddle_point.random_features.square_loss import cosine, sine

SOURCE = "Appendix C, (119)-(120) at r = 0, and the slides' saddle point of random features"
ODD = "the activation is odd, so that mu0 = 0 without a spike"

# theta.x is z; the output's other part is xi.
SPREAD = sp.sqrt(s.output_square) * sine
OUTPUT = s.output_overlap * s.z + SPREAD * s.xi
AT = (g(s.z), OUTPUT, s.V)
force, force_slope = force_of(*AT), force_slope_of(*AT)

DICTIONARY = {s.alpha_p: s.alpha / s.beta, s.gamma_p: 1 / s.beta}
NAMES = {s.output_overlap: k1 * s.M, s.output_square: k1**2 * s.Q1 + k2**2 * s.q2, s.V: k1**2 * s.V1 + k2**2 * s.V2}


def over_pair(integrand: sp.Expr) -> sp.Expr:
    """E over theta.x and the output's other part, split by linearity."""
    return expand_expectations(Expectation(sp.expand(integrand), s.z, s.xi))


# ---- the slides' side ----

# (xi, z) of the slides' equations rotated so that theta.x comes first; the sign of the other part is free.
_TURNED = {s.xi: cosine * s.z + sine * s.xi, s.z: sine * s.z - cosine * s.xi}
_field, _label = sp.symbols("f_0 y_0", real=True)


def slides_side() -> dict[sp.Expr, sp.Expr]:
    """V_s^, V_w^, q_s^, q_w^, m_s^ as averages of the force and its slope over (theta.x, f)."""
    found = {}
    for name, value in convex_features.energetic().results.items():
        found[name] = value.replace(lambda e: isinstance(e, Expectation), _turned).subs(s.label_variance, sine**2)
    return found


def _turned(average: sp.Expr) -> sp.Expr:
    y, f = sp.Wild("y"), sp.Wild("f")
    # eta = f + V force, eta' = 1 + V force'.
    inner = average.integrand.xreplace({label: _label})
    inner = inner.replace(eta(y, f), f + s.V * force_of(y, f, s.V))
    inner = inner.replace(eta_prime(y, f), 1 + s.V * force_slope_of(y, f, s.V))
    inner = sp.expand(inner.subs(omega_1, _field))
    inner = inner.subs(s.xi, _field / sp.sqrt(s.output_square))
    turned = inner.subs(s.z, _TURNED[s.z]).subs({_label: g(s.z), _field: OUTPUT}, simultaneous=True)
    return _without_xi(sp.expand(turned))


def _without_xi(integrand: sp.Expr) -> sp.Expr:
    """E of terms in which xi stands outside the force at most once: Stein's lemma, E[xi F] = E[dF/dxi]."""
    total: sp.Expr = sp.S.Zero
    for term in sp.Add.make_args(integrand):
        outside, inside = term.as_independent(force_of, force_slope_of, as_Add=False)
        if outside.has(s.xi):
            if inside != force:
                raise ValueError(f"Stein's lemma is written for the force itself, not for {inside}")
            outside, inside = sp.cancel(outside / s.xi) * SPREAD, force_slope
        total += outside * inside
    return over_pair(total)


# ---- our side ----

# kappa and the label's z rotated so that theta.x = gamma kappa + sqrt(rho) z comes first.
ACROSS = sp.Symbol("x_0", real=True)
ROTATED = {s.kappa: s.gamma * s.z - sp.sqrt(s.rho) * ACROSS, s.z: sp.sqrt(s.rho) * s.z + s.gamma * ACROSS}


VARIABLES = (s.q1, s.q2, s.V1, s.V2, s.psi)


def _general(variable: sp.Symbol) -> Mapping[sp.Basic, sp.Expr]:
    return convex_loss.equation(variable).results


def our_side() -> dict[sp.Expr, sp.Expr]:
    """V1^, V2^, q1^, q2^ and psi^ of the general system without a spike, over the same pair."""
    found: dict[sp.Expr, sp.Expr] = {}
    for variable in (*VARIABLES, s.zeta):
        ((unknown, value),) = _general(variable).items()

        def plain(average: sp.Expr) -> sp.Expr:
            y, f, V = sp.Wild("y"), sp.Wild("f"), sp.Wild("V")
            inner = average.integrand.replace(force_of(y, f, V), force).replace(force_slope_of(y, f, V), force_slope)
            outside = inner.xreplace({mu0: sp.S.Zero, mu1: k1, mu2: k2})
            # Outside the force kappa and z are rotated; inside, the force has its arguments already.
            names = {force: sp.Symbol("F_0"), force_slope: sp.Symbol("F_1")}
            turned = sp.expand(outside.xreplace(names).subs(ROTATED, simultaneous=True))
            averaged = turned.coeff(ACROSS, 0)  # what is orthogonal to theta.x and f averages to zero
            return over_pair(averaged.subs({symbol: function for function, symbol in names.items()}))

        found[unknown] = sp.expand(value).replace(lambda e: isinstance(e, Expectation), plain)
    return found


def with_test_force(expression: sp.Expr) -> sp.Expr:
    """Averages for the target g(u) = u and the force y f^2 + y - f^3 without a spike, moment by moment.

    Polynomials stand for any force: the two ways of averaging have to agree on all their moments up to order six.
    """
    found = expression.xreplace({mu0: sp.S.Zero, mu1: k1, mu2: k2}).replace(g, lambda u: u)
    found = found.replace(force_of, lambda y, f, V: y * f**2 + y - f**3)
    found = found.replace(force_slope_of, lambda y, f, V: 2 * y * f - 3 * f**2)
    return sp.expand(expand_expectations(found))


# ---- the dictionary ----


def _at_no_spike(expression: sp.Expr) -> sp.Expr:
    return expression.subs({s.psi: sp.sqrt(s.rho) * s.M, s.zeta: s.gamma * s.M})


# The conjugates of the slides in ours.
HATS = {
    s.V_s_hat: s.beta * s.V1_hat,
    s.V_w_hat: s.V2_hat,
    s.q_s_hat: s.beta * s.q1_hat,
    s.q_w_hat: s.q2_hat,
    s.m_s_hat: s.beta * s.M_hat,
}


def both_sides() -> tuple[dict[sp.Basic, sp.Expr], sp.Expr]:
    """The conjugates of both systems in the letters alpha and beta; and that of zeta, which has no twin."""
    theirs = {name: value.subs(DICTIONARY) for name, value in slides_side().items()}
    ours = {name: _at_no_spike(value) for name, value in our_side().items()}
    results: dict[sp.Basic, sp.Expr] = {
        name: expand_expectations(value.subs(NAMES)) for name, value in {**theirs, **ours}.items()
    }
    results[s.M_hat] = expand_expectations(sp.expand(results.pop(s.psi_hat) / sp.sqrt(s.rho)))
    zeta_hat = results.pop(s.zeta_hat)
    return results, zeta_hat


def output_without_spike() -> tuple[sp.Expr, sp.Expr]:
    """The output's mean given kappa and z less kappa_1 M theta.x, and the variance of the rest."""
    prediction = convex_loss.centre.xreplace({mu0: sp.S.Zero, mu1: k1, mu2: k2}).subs(s.xi, 0)
    along = _at_no_spike(prediction) - k1 * s.M * (s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
    spread = (k1**2 * (s.q1 - s.psi**2) + k2**2 * s.q2).subs(s.q1, s.Q1 - s.zeta**2)
    return along, _at_no_spike(spread).subs(s.rho, 1 - s.gamma**2)


@functools.cache
def dictionary() -> Derivation:
    """The conjugates of both systems, in the letters alpha, beta of ours, as averages over one pair."""
    results, zeta_hat = both_sides()
    along, rest = output_without_spike()
    general = {unknown: value for variable in VARIABLES for unknown, value in _general(variable).items()}
    general[s.M_hat] = general.pop(s.psi_hat) / sp.sqrt(s.rho)
    slopes = k1 * s.M * s.V1_hat
    turned = s.gamma * ROTATED[s.kappa] + sp.sqrt(s.rho) * ROTATED[s.z] - s.z
    steps = (
        Step(
            "Without a spike the output's mean given kappa and z is kappa_1 M theta.x.",
            eq(sp.Symbol(r"\omega"), OUTPUT),
            Vanishing("its part along theta", along),
                Vanishing("V", V_of_kappa.xreplace({mu1: k1, mu2: k2}) - NAMES[s.V]),
                Vanishing("the variance of the rest", rest - (k1**2 * s.Q1 + k2**2 * s.q2 - k1**2 * s.M**2)),
        ),
        Step(
            "The slides' variables xi and z, rotated so that theta.x comes first: f = sqrt(Q) xi.",
            eq(sp.Symbol("f"), OUTPUT),
            Vanishing("a rotation", cosine**2 + sine**2 - 1),
                Vanishing("theta.x", cosine * _TURNED[s.xi] + sine * _TURNED[s.z] - s.z),
                Vanishing(
                    "the output along theta.x", sp.sqrt(s.output_square) * cosine - OUTPUT.coeff(s.z)
                ),
                Vanishing("the rest", OUTPUT.coeff(s.xi) ** 2 - (s.output_square - s.output_overlap**2)),
        ),
        Step(
            "zeta and psi are one overlap: the conjugate of zeta lacks the term with the force's slope, as its "
            "resolvent holds the spike.",
            eq(s.zeta_hat, zeta_hat),
            Vanishing(
                    "zeta^/gamma is M^ less M V1^",
                    expand_expectations(
                        sp.expand(k1 * zeta_hat / s.gamma - k1 * results[s.M_hat]
                        + slopes.subs(s.V1_hat, results[s.V1_hat]))
                    ),
                ),
        ),
        *(
            Step(
                f"${sp.latex(name)}$ of the general system: kappa and z rotated so that theta.x comes first; what is "
                "orthogonal to it and to the output averages to zero.",
                eq(name, results[name]),
                Vanishing("a rotation", turned.subs(s.rho, 1 - s.gamma**2)),
                    Vanishing(
                        "the same moments with a polynomial force",
                        sp.expand(
                            with_test_force(_at_no_spike(value.subs(s.q1, s.Q1 - s.zeta**2)))
                            - with_test_force(results[name])
                        ).subs(s.rho, 1 - s.gamma**2),
                    ),
            )
            for name, value in general.items()
        ),
        *(
            Step(
                f"${sp.latex(name)}$ and ${sp.latex(ours_)}$ are the same average.",
                eq(name, results[name]),
                Vanishing("same average", results[name] - ours_.subs(results)),
            )
            for name, ours_ in HATS.items()
        ),
    )  # fmt: skip
    return Derivation(
        "random features with any convex loss",
        SOURCE,
        *steps,
        results=results,
        hypotheses=(*convex_features.HYPOTHESES, *convex_loss.equation(s.q1).hypotheses, ODD),
    )

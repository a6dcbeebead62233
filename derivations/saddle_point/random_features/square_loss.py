r"""Plain random features with the square loss: the saddle point for any loss becomes that of Section 3.3 at r = 0.

The general equations are those of `derivations.saddle_point.random_features.convex`; here their averages are taken at
the loss (y - x)^2/2, where the proximal map is (f + V y)/(1 + V), and compared with
`derivations.saddle_point.random_features.no_spike`.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import varrho
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import g
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.random_features import convex as convex_features
from onestep.derivations.saddle_point.random_features import no_spike as random_features
from onestep.derivations.saddle_point.random_features.convex import (
    HYPOTHESES,
    SOURCE,
    energetic,
    eta,
    eta_prime,
    k1,
    k2,
    label,
    omega_0,
    over_spectrum,
    resolvent,
    traces,
)


def mean_of(integrand: sp.Expr) -> sp.Expr:
    """E over z and xi, moment by moment."""
    return expand_expectations(Expectation(sp.expand(integrand), s.z, s.xi))


_label = sp.Symbol("y_0", real=True)
_noise = sp.Symbol("w_0", real=True)  # standard normal noise of the labels
cosine = s.output_overlap / sp.sqrt(s.output_square)
sine = sp.sqrt(1 - s.output_overlap**2 / s.output_square)  # sqrt(V0) at Var theta.x = 1
# (xi, z) rotated such that theta.x is the first variable: z stands for theta.x and xi for what is orthogonal to it.
ROTATED = {s.xi: cosine * s.z - sine * s.xi, s.z: sine * s.z + cosine * s.xi}


def at_square_loss(expression: sp.Expr) -> sp.Expr:
    """The averages of an expression at the loss (y - x)^2/2 and labels g(theta.x) + noise, with the target's moments.

    The proximal map is (f + V y)/(1 + V); a pair of standard normal variables has the law of the rotated one.
    """
    moments = {Expectation(g(s.z) ** 2, s.z): s.h2_star, Expectation(s.z * g(s.z), s.z): s.h1_star}

    def average(found: sp.Expr) -> sp.Expr:
        y, f = sp.Wild("y"), sp.Wild("f")
        inner = found.integrand.xreplace({label: _label})
        inner = inner.replace(eta(y, f), (f + s.V * y) / (1 + s.V)).replace(eta_prime(y, f), 1 / (1 + s.V))
        turned = inner.subs(s.label_variance, sine**2).subs(ROTATED, simultaneous=True)
        turned = sp.expand(turned.subs(_label, g(s.z) + sp.sqrt(s.noise) * _noise))
        return expand_expectations(Expectation(turned, s.z, s.xi, _noise)).subs(moments)

    averaged = sp.sympify(expression).replace(lambda e: isinstance(e, Expectation), average)
    return averaged.subs(s.label_variance, sine**2)


# Ours in the letters of the slides, in their conjugates too.
SLIDES = {s.alpha_p: s.alpha / s.beta, s.gamma_p: 1 / s.beta}
TO_OURS = {
    s.V_s_hat: s.beta * s.V1_hat,
    s.V_w_hat: s.V2_hat,
    s.q_s_hat: s.beta * s.q1_hat,
    s.q_w_hat: s.q2_hat,
    s.m_s_hat: s.beta * s.M_hat,
    **SLIDES,
}
_OWN_SHIFT = s.ridge + s.V2_hat
_CURVATURE = _OWN_SHIFT + s.beta * s.V1_hat * varrho  # eigenvalue of W W^T is beta varrho


def _output() -> sp.Expr:
    """The pair with theta.x = z first: f = M z + sqrt(Q - M^2) xi. Var theta.x = 1."""
    return s.output_overlap * s.z + sp.sqrt(s.output_square - s.output_overlap**2) * s.xi


def _mean_square() -> sp.Expr:
    """E (y - f)^2; labels may carry noise of their own."""
    moments = {Expectation(g(s.z) ** 2, s.z): s.h2_star, Expectation(s.z * g(s.z), s.z): s.h1_star}
    fitted = expand_expectations(Expectation(sp.expand((g(s.z) - _output()) ** 2), s.z, s.xi)).subs(moments)
    return fitted + s.noise


def _conjugates_by_hand() -> dict[sp.Symbol, sp.Expr]:
    """Written down for comparison; what counts is the general equations at the square loss."""
    each, shared, mean_square = s.alpha_p / s.gamma_p * k1**2, s.alpha_p * k2**2, _mean_square()
    return {
        s.V_s_hat: each / (1 + s.V),
        s.V_w_hat: shared / (1 + s.V),
        s.q_s_hat: each * mean_square / (1 + s.V) ** 2,
        s.q_w_hat: shared * mean_square / (1 + s.V) ** 2,
        s.m_s_hat: s.alpha_p / s.gamma_p * k1 * s.h1_star / (1 + s.V),
    }


def _own_traces() -> dict[sp.Symbol, sp.Expr]:
    """With the conjugates in the same dictionary, S is one matrix and (1/p) tr runs over p modes."""
    S = _CURVATURE
    return {
        s.V1: over_spectrum(s.beta * varrho / S) / s.beta,
        s.V2: over_spectrum(1 / S) / s.beta + (1 - 1 / s.beta) / _OWN_SHIFT,
        s.resolvent_square: over_spectrum(1 / S**2) / s.beta + (1 - 1 / s.beta) / _OWN_SHIFT**2,
        s.resolvent_mixed: over_spectrum(s.beta * varrho / S**2) / s.beta,
        s.resolvent_double: over_spectrum((s.beta * varrho / S) ** 2) / s.beta,
    }


def _translated(hats: dict[sp.Symbol, sp.Expr]) -> dict[sp.Basic, sp.Expr]:
    """All order parameters of either system in the letters of Section 3.3."""
    ours, own_traces = random_features.plain().results, _own_traces()
    names = {
        s.output_overlap: k1 * s.M,
        s.output_square: k1**2 * s.Q1 + k2**2 * s.q2,
        s.V: k1**2 * s.V1 + k2**2 * s.V2,
    }
    results: dict[sp.Basic, sp.Expr] = {name: value.subs(SLIDES).subs(names) for name, value in hats.items()}
    results |= {name: trace.subs(TO_OURS) for name, trace in traces().items()}
    results |= {name: ours[name] for name in (s.V1_hat, s.V2_hat, s.q1_hat, s.q2_hat, s.M_hat)}
    results |= {name: own_traces[name] for name in (s.V1, s.V2)}
    return results | {name: ours[name].subs(own_traces) for name in (s.M, s.Q1, s.q2)}


def _pair_steps() -> tuple[Step, ...]:
    """The proximal map, and what label and output are together."""
    # Square loss: eta = (f + V y)/(1 + V), so eta - f = V (y - f)/(1 + V) and eta' = 1/(1 + V).
    y, f, x = sp.symbols("y f x", real=True)
    minimiser = (f + s.V * y) / (1 + s.V)
    objective = (x - f) ** 2 / (2 * s.V) + (y - x) ** 2 / 2
    output, mean_square = _output(), _mean_square()
    return (
        Step(
            "The proximal map of the square loss.",
            eq(eta(y, f), minimiser),
            Vanishing("the objective is stationary there", sp.diff(objective, x).subs(x, minimiser)),
            Vanishing("eta - f", minimiser - f - s.V * (y - f) / (1 + s.V)),
        ),
        Step(
            "The pair (theta.x, f) has variances 1 and Q and covariance M in either way of writing it.",
            eq(sp.Symbol("f"), output),
            Vanishing("the variance of f", mean_of(output**2) - s.output_square),
            Vanishing("the covariance", mean_of(s.z * output) - s.output_overlap),
        ),
        Step(
            "E (y - f)^2 = h2* + Delta - 2 M h1* + Q, and E d y/d(theta.x) = h1* by Stein's lemma.",
            eq(sp.Symbol("e"), mean_square),
            Vanishing(
                "the error",
                mean_square - (s.h2_star + s.noise - 2 * s.output_overlap * s.h1_star + s.output_square),
            ),
        ),
        Step(
            "The variables xi and z of the general equations, rotated so that theta.x comes first.",
            eq(omega_0 + sp.sqrt(s.label_variance) * s.z, s.z),
            Vanishing("theta.x", cosine * ROTATED[s.xi] + sine * ROTATED[s.z] - s.z),
            Vanishing("a rotation", cosine**2 + sine**2 - 1),
            Vanishing(
                "it keeps the output's variance",
                mean_of((sp.sqrt(s.output_square) * ROTATED[s.xi]) ** 2) - s.output_square,
            ),
        ),
    )


def _trace_steps(results: dict[sp.Basic, sp.Expr]) -> tuple[Step, ...]:
    """The traces over the modes, and the one entropic term whose derivatives in the conjugates are the overlaps."""
    own_traces = _own_traces()
    own_term = (s.q1_hat + s.beta * s.M_hat**2) * own_traces[s.V1] + s.q2_hat * own_traces[s.V2]
    term = convex_features.entropic_trace().subs(TO_OURS)
    by_term = {
        s.V_s: sp.diff(term, s.q1_hat),
        s.V_w: sp.diff(term, s.q2_hat),
        s.q_s: -sp.diff(term, s.V1_hat),
        s.q_w: -sp.diff(term, s.V2_hat),
        s.m_s: sp.diff(term, s.M_hat) / 2,
        s.Q1: -sp.diff(own_term, s.V1_hat),
        s.q2: -sp.diff(own_term, s.V2_hat),
        s.M: sp.diff(own_term, s.M_hat) / 2,
    }
    one = _OWN_SHIFT * own_traces[s.V2] + s.V1_hat * own_traces[s.V1] - 1
    return (
        Step(
            "The traces of Section 3.3 over the modes of W W^T, d with eigenvalue beta varrho and p - d null ones.",
            eq(s.V1, results[s.V1]),
            Vanishing("tr S S^-1 = p", one),
        ),
        Step(
            "Over all modes.",
            eq(s.V2, results[s.V2]),
            Vanishing("tr S S^-1 = p", one),
            Vanishing("the slope in the ridge", sp.diff(results[s.V2], s.ridge) + own_traces[s.resolvent_square]),
        ),
        Step(
            "With the conjugates in one dictionary the two free energies have one entropic term.",
            eq(sp.Symbol("S"), _CURVATURE),
            Vanishing("one matrix", resolvent.subs(TO_OURS) - _CURVATURE),
            Vanishing("one term", term - own_term),
        ),
        *(
            Step(
                f"${sp.latex(name)}$ is a derivative of that term.",
                eq(name, results[name]),
                Vanishing("the derivative in its conjugate", results[name] - value),
            )
            for name, value in by_term.items()
        ),
    )


@functools.cache
def square_loss() -> Derivation:
    """The square loss (1/2)(y - x)^2 in the letters of Section 3.3: the saddle point of plain random features at r = 0.

    F = sqrt(d) W, so Omega = W W^T/beta; alpha_p = alpha/beta, gamma_p = 1/beta.
    """
    by_hand = _conjugates_by_hand()
    hats = {name: at_square_loss(value) for name, value in energetic().results.items() if name in by_hand}
    results = _translated(hats)
    steps = (
        *random_features.plain().steps,
        *_pair_steps(),
        *(
            Step(
                f"The general equation for ${sp.latex(name)}$ at the square loss.",
                eq(name, results[name]),
                Vanishing(f"{name} by hand", hats[name] - value),
            )
            for name, value in by_hand.items()
        ),
        *_trace_steps(results),
    )
    return Derivation(
        "square loss of random features",
        SOURCE,
        *steps,
        results=results,
        hypotheses=HYPOTHESES,
    )

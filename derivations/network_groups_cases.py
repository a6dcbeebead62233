r"""The bulk of a network with a vocabulary where it is known: isotropic rows, and letters that do not differ."""

from __future__ import annotations

import functools

import sympy as sp

from derivations import network_groups
from derivations import symbols as s
from derivations.block_equivalent import LETTERS, C, Theta, mixed_matrix, theta, theta_of_tau, traces_of, vanishing
from derivations.derivation import Derivation, Step, Vanishing
from derivations.expectation import Expectation
from derivations.network_groups import NU, ROWS_OF_GROUPS, SOURCE, gain_of_tau, theta_at, varrho


@functools.cache
def isotropic() -> Derivation:
    """A = E[y^2]: B_a = c_a, and the overlaps are those of Appendix D once the spike is out."""
    t = (s.beta * traces_of()).applyfunc(sp.factor)
    extra = network_groups.woodbury(t, C)
    spike = (t + t * extra * t).applyfunc(sp.factor)
    constant = (
        Expectation(t[0, 1].subs(theta_at, simultaneous=True), NU)
        .subs({s.letter[a] ** 2 * s.row_weight * varrho(NU): s.c_of[a] - 1 for a in LETTERS})
        .subs(gain_of_tau)
    )
    base = traces_of()[0, 1].subs(theta_of_tau)
    # theta_perp does not meet v in an isotropic bulk.
    across = (
        network_groups.without_spike().results[s.vector_overlap].subs(dict.fromkeys((*s.left_forms, *s.right_forms), 0))
    )
    named = {s.spike_overlap_of: s.beta * s.c_of[0] * s.V2_of[0], s.target_overlap_mixed: s.beta * s.V1_of[0][1]}
    steps = (
        Step(
            "With A a multiple of one t does not depend on x: T = t/beta is that of Appendix D.",
            sp.Eq(s.target_overlap_mixed, named[s.target_overlap_mixed], evaluate=False),
            (
                Vanishing("T_12 of Appendix D", sp.together(constant / s.beta - base)),
                Vanishing("theta_perp does not meet v: nothing is added", across - s.vector_form),
            ),
        ),
        Step(
            "The spike taken out of t leaves Theta: v is independent of the rest of the bulk.",
            sp.Eq(s.spike_overlap_of, named[s.spike_overlap_of], evaluate=False),
            (
                *vanishing("t + t C (1 - t C)^-1 t = Theta", spike - Theta),
                Vanishing("Theta of Appendix D", theta[0].subs(theta_of_tau) - named[s.spike_overlap_of]),
            ),
        ),
    )
    return Derivation("isotropic rows in groups", SOURCE, steps, named, (ROWS_OF_GROUPS,))


@functools.cache
def equal_groups() -> Derivation:
    """Groups that do not differ are one: tau summed satisfies the equation of one group."""
    same = dict.fromkeys(C, s.V1_hat) | dict.fromkeys(s.letter, sp.S.One)
    # g_a = beta pi_a tau, and g C of both groups together is the gain of one group.
    same |= {s.row_gain[a]: s.fraction[a] * s.gain / s.V1_hat for a in LETTERS}
    whole = {s.fraction[1]: 1 - s.fraction[0]}
    one = 1 + s.row_weight * varrho(NU)
    gain = s.gain
    entry = mixed_matrix()[0, 0].subs(theta_at, simultaneous=True).subs(same, simultaneous=True).subs(whole)
    filtered = Expectation(1 / (1 + gain * one), NU)
    result = 1 / (s.ridge + s.V2_hat + s.V1_hat * (1 - filtered) / gain)
    steps = (
        *network_groups.traces().steps,
        Step(
            "With C_ab = C, equal letters and tau_a = pi_a tau every entry of M is C/(1 + g B), g = beta C tau.",
            sp.Eq(s.mixed[0][0], s.V1_hat / (1 + gain * one), evaluate=False),
            (Vanishing("entry 11 of M", entry * (1 + gain * one) - s.V1_hat),),
        ),
        Step(
            "B C/(1 + g B) is (C/g) (1 - 1/(1 + g B)): the equation of one group.",
            sp.Eq(s.V2, result, evaluate=False),
            (
                Vanishing(
                    "the average",
                    Expectation(one * s.V1_hat / (1 + gain * one), NU) - s.V1_hat * (1 - filtered) / gain,
                ),
            ),
        ),
    )
    return Derivation("equal groups of a network", SOURCE, steps, {s.V2: result}, (ROWS_OF_GROUPS,))

"""The formulas for a network's own bulk as they stand, iterated on the verifier's own grid.

They share nothing with the solver's parametrisation: q and V2 are found by bisection of their equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array, hermite_numbers, interpretation


@dataclass(frozen=True)
class Step:
    """A network's step: rate e = eta/beta; `noise` is the variance of the label noise."""

    student: str
    target: str
    alpha0: float
    rate: float
    beta: float
    noise: float = 0.0

    def at(self, d: int) -> Step:
        """The step with the ratios that n0 and p, which are integers, have at dimension d."""
        return replace(self, alpha0=round(self.alpha0 * d) / d, beta=round(self.beta * d) / d)

    def times(self, u: float) -> Step:
        """The step of the neurons of letter u: their rate is u times that of a readout of ones."""
        return replace(self, rate=self.rate * u)


def functions_for(step: Step) -> Functions:
    """Implementations of sigma, g and their derivatives."""
    return interpretation(step.student, step.target)


@dataclass(frozen=True)
class OwnLaw:
    """omega, weights of v~ and w3 in h, v_c, h.v~ and |v~|, from averages on a fixed grid."""

    weight: float
    linear: float
    cubic: float
    variance: float
    spike: float
    size: float


def average(values: Array) -> float:
    """E over z on the grid."""
    return float(WEIGHT @ values)


def own_law(step: Step) -> OwnLaw:
    """The law of the rows as the theory states it."""
    numbers_, alpha0 = hermite_numbers(step.student, step.target), step.alpha0
    centred = SMOOTH[step.student].prime(LINE) - numbers_[s.h1.name]
    y, e = SMOOTH[step.target].value(LINE), step.rate
    second, check = average(LINE**2 * centred), average(centred**2)
    square, fourth = average(y**2), average(y**4)
    first, cube = average(LINE * y), average(LINE * y**3)
    linear, cubic = 2 * e * second, e**3 * average(centred**3) / alpha0**2
    size2 = first**2 + square / alpha0
    variance = (
        4 * e**2 * (square / alpha0 * (average(LINE**2 * centred**2) - second**2) + second**2 * size2)
        + e**4 * (fourth * (average(centred**4) - check**2) / alpha0**3 + 2 * square**2 * check**2 / alpha0**2)
    )  # fmt: skip
    spike = linear * size2 + cubic * (first * cube + fourth / alpha0)
    return OwnLaw(e**2 * check / alpha0, linear, cubic, variance, spike, math.sqrt(size2))


def batch_forms(target: str, alpha0: float, t: float) -> dict[str, float]:
    """q by bisection (its equation has one root) and the forms of Q at shift t; keys are glyphs."""
    y = SMOOTH[target].value(LINE)

    def gap(q: float) -> float:
        return q * (t + average(y**2 / (1 + y**2 * q / alpha0))) - 1.0

    low, high = 0.0, 1.0 / t
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    q = 0.5 * (low + high)
    shrunk = 1 / (1 + y**2 * q / alpha0)
    along = 1 / (t + average(y**2 * LINE**2 * shrunk))
    first, cube = average(LINE * y * shrunk), average(LINE * y**3 * shrunk)
    own = q / alpha0
    return {
        s.batch_trace.name: q,
        s.leverage.name: own,
        s.batch_shift.name: t,
        s.batch_target.name: along,
        s.batch_mixed.name: along * first,
        s.batch_cube.name: along * cube,
        s.batch_pair.name: along * first * cube + own * average(y**4 * shrunk),
        "vv": along * first**2 + own * average(y**2 * shrunk),
        "33": along * cube**2 + own * average(y**6 * shrunk),
    }


@lru_cache(maxsize=256)
def equivalent(step: Step, conjugate: float, shift: float) -> dict[str, float]:
    """tau by bisection of its equation as it stands, and all that the claims on V2, V1 and K need; keys are glyphs."""
    law, alpha0, beta = own_law(step), step.alpha0, step.beta

    def traces(V2: float) -> tuple[float, float]:
        gain = conjugate * beta * V2
        q = batch_forms(step.target, alpha0, (1 + gain) / (gain * law.weight))[s.batch_trace.name]
        return gain, q / (gain * law.weight)

    low, high = 0.0, 1.0 / shift
    for _ in range(60):
        middle = 0.5 * (low + high)
        gain, trace = traces(middle)
        above = middle * (shift + conjugate * (1 - trace) / gain) > 1.0
        low, high = (low, middle) if above else (middle, high)
    V2 = 0.5 * (low + high)
    gain, trace = traces(V2)
    forms = batch_forms(step.target, alpha0, (1 + gain) / (gain * law.weight))
    scale = gain * law.weight
    tt, tv, t3 = (forms[x.name] / scale for x in (s.batch_target, s.batch_mixed, s.batch_cube))
    vv, v3, w33 = forms["vv"] / scale, forms[s.batch_pair.name] / scale, forms["33"] / scale
    first = average(LINE * SMOOTH[step.target].value(LINE))
    gamma = first / law.size
    root = math.sqrt(1 - gamma**2)
    hv = (law.linear * vv + law.cubic * v3) / law.size
    ht = law.linear * tv + law.cubic * t3
    Hvv, Htv = vv / law.size**2, tv / law.size
    return {
        s.V2.name: V2,
        s.V1.name: (1 - shift * V2) / conjugate,
        s.gain.name: gain,
        s.row_trace.name: trace,
        s.norm_variance.name: law.variance,
        s.row_vv.name: Hvv,
        s.row_vp.name: (Htv - gamma * Hvv) / root,
        s.row_pp.name: (tt - 2 * gamma * Htv + gamma**2 * Hvv) / root**2,
        s.row_vh.name: hv,
        s.row_ph.name: (ht - gamma * hv) / root,
        s.row_hh.name: law.linear**2 * vv + 2 * law.linear * law.cubic * v3 + law.cubic**2 * w33,
        s.V1_hat.name: conjugate,
        s.V2_hat.name: 0.4 * shift,
        s.ridge.name: 0.6 * shift,
        s.alpha0.name: alpha0,
        s.beta.name: beta,
    }

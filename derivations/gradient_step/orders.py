r"""Orders, shapes and signs behind formulas of the slides: which power of d, how many entries, which sign.

The step of one neuron is (eta/sqrt p) a_k times a batch mean. With eta = Theta(d^s), p = Theta(d) and readout entries
p^(-omega), the spike strength is of order d^(s - 1/2 - omega): one at s = 1, omega = 1/2.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.leap_scaling import SIGNAL, root_d
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.exponents import DIMENSION, ONE, Order

SLIDES = "slides"
_WIDTH = DIMENSION  # p = Theta(d)
BATCH_MEAN = ONE  # |mean of y x| is of order one where n0 = Theta(d)


def spike(rate: sp.Expr, readout: sp.Expr, extra: Order = ONE) -> Order:
    """r: eta = d^rate, the network's 1/sqrt(p), readout entries p^(-readout), and what else multiplies the step."""
    return Order(rate) / _WIDTH.root() / _WIDTH.power(readout) * BATCH_MEAN * extra


@functools.cache
def giant_step() -> Derivation:
    """eta = Theta(d): the spike strength for a readout of entries p^(-omega), and the alignment."""
    strength = spike(sp.S.One, s.readout_rate)
    overlap, length = ONE, BATCH_MEAN  # theta.v~ -> h1*, |v~| -> sqrt(h1*^2 + h2*/alpha0)
    alignment = overlap / length
    return Derivation(
        "orders of a giant step",
        SLIDES,
        Step(
            "The step is eta/sqrt(p) times the readout times a batch mean of order one.",
            eq(s.spike_rate, strength.exponent),
            Vanishing("three factors", strength.exponent - (1 - sp.Rational(1, 2) - s.readout_rate)),
        ),
        Step(
            "The alignment is a quotient of two numbers of order one, a cosine.",
            eq(s.alignment_rate, alignment.exponent),
            Vanishing("overlap over length", alignment.exponent - overlap.exponent + length.exponent),
        ),
        results={s.spike_rate: strength.exponent, s.alignment_rate: alignment.exponent},
        hypotheses=("the batch has n0 = Theta(d) samples and the width is p = Theta(d)",),
    )


@functools.cache
def conventions() -> Derivation:
    """The rate at which a step multiplied by sqrt(p) gives the same spike as one that is not."""
    ours, theirs = spike(s.eta_rate, sp.S.Half), spike(s.eta_rate_rescaled, sp.S.Half, _WIDTH.root())
    (rate,) = sp.solve(ours.exponent - theirs.exponent, s.eta_rate)
    return Derivation(
        "two conventions for the learning rate",
        SLIDES,
        Step(
            "Both steps have a spike of the same order where the rates differ by one half.",
            eq(s.eta_rate, rate),
            Vanishing("same order", ours.exponent.subs(s.eta_rate, rate) - theirs.exponent),
        ),
        results={s.eta_rate: rate},
        hypotheses=("p = Theta(d)", "the readout has entries +-1/sqrt(p)"),
    )


@functools.cache
def shapes() -> Derivation:
    """u has one entry per neuron; the block-structured resolvent has one row per neuron."""
    entry = sp.S.One  # all neurons move alike where the readout is uniform
    entries = s.p / entry**2  # |u|^2 = p
    rows = sum(s.block_sizes, sp.S.Zero)
    ones = [sp.ones(k, 1) for k in (2, 3, 1)]
    pattern = sp.Matrix.vstack(*ones)
    return Derivation(
        "shapes",
        SLIDES,
        Step(
            "|u|^2 = p with entries one: p entries, one for each neuron.",
            eq(s.spike_entries, entries),
            Vanishing("squared length", entries * entry**2 - s.p),
        ),
        Step(
            "Blocks of p_j rows on top of each other; written out for 2, 3 and 1 rows.",
            eq(s.pattern_rows, rows),
            Vanishing("2 + 3 + 1", rows.subs(dict(zip(s.block_sizes, (2, 3, 1), strict=True))) - pattern.rows),
        ),
        results={s.spike_entries: entries, s.pattern_rows: rows},
    )


@functools.cache
def signed_overlap() -> Derivation:
    """After a step so long that the initial direction is negligible, w is parallel to a g: its cosine is odd in a."""
    a, along, across = sp.symbols("a_0 g_1 g_2", positive=True)

    def cosine(readout: sp.Expr) -> sp.Expr:
        return readout * along / sp.sqrt(readout**2 * (along**2 + across**2))

    mean = (cosine(a) + cosine(-a)) / 2
    modulus = sp.sqrt(cosine(a) ** 2)
    return Derivation(
        "sign of an overlap",
        SLIDES,
        Step(
            "The readout has either sign with probability one half; the cosine of a g with a direction is odd in "
            "a, its modulus even.",
            eq(s.signed_overlap, sp.S.Zero),
            Vanishing("two signs", mean),
            Vanishing("the modulus does not depend on a", modulus - along / sp.sqrt(along**2 + across**2)),
        ),
        results={s.signed_overlap: sp.S.Zero},
        hypotheses=("the step is so long that the neuron's initial direction is negligible",),
    )


@functools.cache
def independent_noise() -> Derivation:
    """Cov[phi_k, phi_l] less its linear part, at overlap tau/sqrt(d): sum_{m >= 2} s_m^2 epsilon^m -> 0."""
    epsilon = s.scaled_overlap / root_d
    rest = sum((c**2 * epsilon**m for m, c in enumerate(s.hermite_coefficients) if m >= 2), sp.S.Zero)
    return Derivation(
        "noise of equivalent features",
        SLIDES,
        Step(
            "By Mehler's formula what the linear part leaves is a power series in the overlap from order two on.",
            eq(s.shared_noise, sp.S.Zero),
            RationalLimit("two neurons share no noise", sp.expand(rest), root_d, sp.S.Zero),
        ),
        results={s.shared_noise: sp.S.Zero},
        hypotheses=("the activation is a polynomial of degree 6; other ones by hermite.covariance-series",),
    )


@functools.cache
def kernel() -> Derivation:
    """The mean of p independent products deviates by p^(-1/2) from its limit."""
    single, count = sp.symbols("v_0 p_0", positive=True)
    variance = count * single / count**2
    rate = Order(sp.S.NegativeOne).root()
    return Derivation(
        "kernel of many neurons",
        SLIDES,
        Step(
            "Variances of independent neurons add: Var/p, whose root is the deviation.",
            eq(s.kernel_rate, rate.exponent),
            Vanishing("variance of a mean", variance - single / count),
            Vanishing("root", 2 * rate.exponent + 1),
        ),
        results={s.kernel_rate: rate.exponent},
        hypotheses=("rows are independent and the products have a finite variance",),
    )


@functools.cache
def unit_sphere() -> Derivation:
    """Coordinates of a uniform point of the unit sphere have variance 1/d: d equal ones that sum to one."""
    each = 1 / s.d
    return Derivation(
        "inputs on the unit sphere",
        SLIDES,
        Step(
            "By symmetry the d coordinates have one variance, along any direction, and they sum to |x|^2 = 1.",
            eq(s.spike_projection_variance, each),
            Vanishing("the sum of d variances", s.d * each - 1),
        ),
        results={s.spike_projection_variance: each},
    )


@functools.cache
def long_rows() -> Derivation:
    """Inputs of variance 1/d, rows and directions of norm sqrt(d): the step that moves a row by its own length."""
    length = DIMENSION.root()
    signal = SIGNAL / length  # the gradient carries one input, sqrt(d) smaller than with variance one
    step = length / signal
    return Derivation(
        "a step on long rows",
        SLIDES,
        Step(
            "Products w.x are of order one as before; the gradient's factor x is sqrt(d) smaller, the row sqrt(d) "
            "longer: the step has to be d times that for inputs of variance one.",
            eq(s.step_rate, step.exponent),
            Vanishing("d times as long", step.exponent - (ONE / SIGNAL).exponent - 1),
        ),
        results={s.step_rate: step.exponent},
    )

r"""Orders, shapes and signs behind formulas of the slides: which power of d, how many entries, which sign.

The step of one neuron is (eta/sqrt p) a_k times a batch mean. With eta = Theta(d^s), p = Theta(d) and readout entries
p^(-omega), the spike strength is of order d^(s - 1/2 - omega): one at s = 1, omega = 1/2.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import exponent_of, power_of_d
from giantsteps.derivations.gradient_step.leap_scaling import root_d
from giantsteps.derivations.gradient_step.spike import counted
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import repeated

SLIDES = "slides"
_strength, _other_strength, _rate, _other_rate, _readout, _mean, _cosine, _row, _step, _signal = sp.symbols(
    r"r r' \eta \eta' a |\tilde{v}| \gamma |w| \Delta |\pi|", positive=True
)

WIDTH = define(s.p, s.d, "the width is p = Theta(d)")
BATCH_MEAN = power_of_d(_mean, sp.S.Zero, "|mean of y x| is of order one where n0 = Theta(d)")


def spike_size(name: sp.Symbol, rate: sp.Expr, extra: sp.Expr = sp.S.One) -> Theorem:
    """r: the rate, the network's 1/sqrt(p), the readout, a batch mean, and what else multiplies the step."""
    return define(name, rate / sp.sqrt(s.p) * _readout * _mean * extra, "the size of the spike")


def readout_size(exponent: sp.Expr) -> Theorem:
    """Readout entries p^(-exponent)."""
    return define(_readout, s.p ** (-exponent), "an entry of the readout")


@functools.cache
def giant_step() -> Derivation:
    """eta = Theta(d): the spike strength for a readout of entries p^(-omega), and the alignment."""
    rate = define(_rate, s.d, "a giant step, eta = Theta(d)")
    along = sp.Symbol(r"\theta\cdot\tilde{v}", positive=True)
    strength = exponent_of(
        s.spike_rate, _strength, "the spike",
        spike_size(_strength, _rate), rate, BATCH_MEAN, readout_size(s.readout_rate), WIDTH,
    )  # fmt: skip
    alignment = exponent_of(
        s.alignment_rate,
        _cosine,
        "the alignment",
        define(_cosine, along / _mean, "a cosine: overlap over length"),
        power_of_d(along, sp.S.Zero, "theta.v~ -> h1*"),
        BATCH_MEAN,
    )
    return Derivation(
        "orders of a giant step",
        SLIDES,
        proved("The step is eta/sqrt(p) times the readout times a batch mean of order one.", strength),
        proved("The alignment is a quotient of two numbers of order one, a cosine.", alignment),
        results=(strength, alignment),
        hypotheses=("the batch has n0 = Theta(d) samples and the width is p = Theta(d)",),
    )


@functools.cache
def conventions() -> Derivation:
    """The rate at which a step multiplied by sqrt(p) gives the same spike as one that is not."""
    own, other = sp.symbols(r"e_{r} e_{r'}", real=True)
    common = (BATCH_MEAN, readout_size(sp.S.Half), WIDTH)
    ours = exponent_of(
        own, _strength, "our spike",
        spike_size(_strength, _rate), power_of_d(_rate, s.eta_rate, "our learning rate"), *common,
    )  # fmt: skip
    theirs = exponent_of(
        other, _other_strength, "the spike of a step multiplied by sqrt(p)",
        spike_size(_other_strength, _other_rate, sp.sqrt(s.p)),
        power_of_d(_other_rate, s.eta_rate_rescaled, "their learning rate"), *common,
    )  # fmt: skip
    alike = in_model("one spike", Equation(own, other), "both conventions describe one step")
    rate = ring(
        (alike, ours, theirs),
        Equation(s.eta_rate, s.eta_rate_rescaled + sp.Rational(1, 2)),
        (sp.Integer(1), sp.Integer(-1), sp.Integer(1)),
    )
    return Derivation(
        "two conventions for the learning rate",
        SLIDES,
        proved("The spike of a step,", ours),
        proved("and of one that is multiplied by sqrt(p).", theirs),
        proved("Both steps have a spike of the same order where the rates differ by one half.", rate),
        hypotheses=("p = Theta(d)", "the readout has entries +-1/sqrt(p)"),
    )


@functools.cache
def shapes() -> Derivation:
    """u has one entry per neuron; the block-structured resolvent has one row per neuron."""
    entry = sp.Symbol("u_k", positive=True)
    alike = define(entry, sp.S.One, "all neurons move alike where the readout is uniform")
    length = in_model("|u|^2 = p", Equation(s.p, repeated(s.spike_entries, entry**2)), "u = 1_p, equation (13)")
    counted_ = rewritten(counted(length), alike)
    entries = ring((counted_,), Equation(s.spike_entries, s.p), (sp.Integer(-1),))
    rows = counted(
        define(
            s.pattern_rows,
            sum((repeated(size, sp.S.One) for size in s.block_sizes), sp.S.Zero),
            "one row for each neuron of each block",
        )
    )
    return Derivation(
        "shapes",
        SLIDES,
        proved("|u|^2 = p with entries one: p entries, one for each neuron.", entries),
        proved("Blocks of p_j rows on top of each other.", rows),
        results=(entries, rows),
    )


@functools.cache
def signed_overlap() -> Derivation:
    """After a step so long that the initial direction is negligible, w is parallel to a g: its cosine is odd in a."""
    a, along, across = sp.symbols("a_0 g_1 g_2", positive=True)
    readout = sp.Symbol("a", real=True)
    cosine = sp.Function("cos_a", real=True)
    meaning = define(
        cosine(readout),
        readout * along / sp.sqrt(readout**2 * (along**2 + across**2)),
        "the cosine of a g with a direction",
        readout,
    )
    mean = define(s.signed_overlap, (cosine(a) + cosine(-a)) / 2, "either sign of the readout with probability 1/2")
    signs = [instantiate((meaning,), {readout: sign * a}) for sign in (1, -1)]
    return Derivation(
        "sign of an overlap",
        SLIDES,
        proved("The cosine of a g with a direction is odd in a.", meaning),
        proved(
            "The readout has either sign with probability one half: the two cosines cancel.",
            equal(rewritten(mean, *signs), sp.Integer(0)),
        ),
        results={s.signed_overlap: sp.S.Zero},
        hypotheses=("the step is so long that the neuron's initial direction is negligible",),
    )


@functools.cache
def independent_noise() -> Derivation:
    """Cov[phi_k, phi_l] less its linear part, at overlap tau/sqrt(d): sum_{m >= 2} s_m^2 epsilon^m -> 0."""
    rest = sp.Function("C_2", real=True)
    powers = sum((c**2 * s.overlap**m for m, c in enumerate(s.hermite_coefficients) if m >= 2), sp.S.Zero)
    mehler = hypothesis(
        "covariance beyond the linear part", Equation(rest(s.overlap), powers), "hermite.covariance-series", s.overlap
    )
    small = instantiate((mehler,), {s.overlap: s.scaled_overlap / root_d})
    tends = rewrite((limit_rational((), value(small), sp.Integer(0), root_d), small), True)
    limit = name_limit((tends,), s.shared_noise, "the covariance of the noise of two features")
    return Derivation(
        "noise of equivalent features",
        SLIDES,
        proved("By Mehler's formula what the linear part leaves is a power series from order two on.", mehler),
        proved("At an overlap of order d^(-1/2) two neurons share no noise.", limit),
        hypotheses=("the activation is a polynomial of degree 6; other ones by hermite.covariance-series",),
    )


@functools.cache
def kernel() -> Derivation:
    """The mean of p independent products deviates by p^(-1/2) from its limit."""
    single, variance = sp.symbols("v_0 v_p", positive=True)
    of_mean = counted(define(variance, repeated(s.p, single) / s.p**2, "the variance of a mean of independent terms"))
    rate = exponent_of(
        s.kernel_rate,
        sp.sqrt(variance),
        "the deviation of the mean",
        of_mean,
        power_of_d(single, sp.S.Zero, "one product has a finite variance"),
        WIDTH,
    )
    return Derivation(
        "kernel of many neurons",
        SLIDES,
        proved("Variances of independent neurons add: the variance of a mean is that of one product over p.", of_mean),
        proved("Its root is the deviation; p is of order d.", rate),
        hypotheses=("rows are independent and the products have a finite variance",),
    )


@functools.cache
def unit_sphere() -> Derivation:
    """Coordinates of a uniform point of the unit sphere have variance 1/d: d equal ones that sum to one."""
    assumed = in_model(
        "inputs on the unit sphere",
        Equation(sp.Integer(1), repeated(s.d, s.spike_projection_variance)),
        "|x|^2 = 1 is the sum of d coordinates of one law",
    )
    summed = counted(assumed)
    each = ring((summed,), Equation(s.spike_projection_variance, 1 / s.d), (-1 / s.d,))
    return Derivation(
        "inputs on the unit sphere",
        SLIDES,
        proved(
            "By symmetry the d coordinates have one variance, along any direction, and they sum to |x|^2 = 1.", summed
        ),
        proved("So each has a share of 1/d.", each),
    )


@functools.cache
def long_rows() -> Derivation:
    """Inputs of variance 1/d, rows and directions of norm sqrt(d): the step that moves a row by its own length."""
    usual = sp.Symbol(r"|\pi_0|", positive=True)
    step = exponent_of(
        s.step_rate,
        _step,
        "the step",
        define(_step, _row / _signal, "the step that moves a row by its own length"),
        define(_row, sp.sqrt(s.d), "the length of a row"),
        define(_signal, usual / sp.sqrt(s.d), "the gradient carries one input, sqrt(d) smaller than usual"),
        define(usual, s.overlap ** (s.leap - 1), "the usual mean gradient, one overlap for all but one factor"),
        define(s.overlap, 1 / sp.sqrt(s.d), "the overlap of a neuron with a direction of the target"),
    )
    return Derivation(
        "a step on long rows",
        SLIDES,
        proved(
            "Products w.x are of order one as before; the gradient's factor x is sqrt(d) smaller, the row sqrt(d) "
            "longer: the step has to be d times that for inputs of variance one.",
            step,
        ),
    )

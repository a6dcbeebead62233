"""Orders in d, shapes, signs and squares that the slides print or leave open, each by a derivation and by numbers."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.gradient_step import orders as slides_orders
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.scaling_check import ByScaling
from giantsteps.verify.claims.bounds import ridge as section_4_3
from giantsteps.verify.claims.slides.printed import as_printed, convention, named, printed
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.gradient_step import orders as numbers

STEP_FRAME, LEARN_FRAME = "One step of GD", "What one step learns"

# ---- the orders of a giant step ----

_half = sp.Rational(1, 2)
_by_orders = ByDerivation(slides_orders.giant_step)
_by_steps = ByScaling("one gradient step, tanh learns tanh, readouts 1 and 1/sqrt(p)", numbers.steps)

SPIKE_ORDER = claim(
    "result-3-1.spike-order", "A giant step on a readout of entries p^(-omega) has a spike of order d^(1/2 - omega)",
    paper("Section 3.1, on (8) and (9)"),
    eq(s.spike_rate, _half - s.readout_rate), Domain((Range(s.readout_rate, 0.0, 1.0),)),
    _by_orders, _by_steps,
    kind=Kind.CONCENTRATION,
    wrong={"the network's 1/sqrt(p) forgotten": 1 - s.readout_rate, "the readout twice": _half - 2 * s.readout_rate},
    note="Of order one for a = 1/sqrt(p), of order sqrt(d) for a = 1.",
)
ALIGNMENT_ORDER = claim(
    "result-3-1.alignment-order", "The alignment does not grow with the dimension", paper("Section 3.1, on (10)"),
    eq(s.alignment_rate, sp.S.Zero), Domain((Range(s.readout_rate, 0.0, 1.0),)),
    _by_orders, _by_steps,
    kind=Kind.CONCENTRATION,
    wrong={"as for random weights": -_half, "slowly": sp.Rational(1, 4)},
    uses=("result-3-1.alignment",),
)
_STEP = (
    SPIKE_ORDER,
    convention(
        SPIKE_ORDER, "spike-of-ones", "A spike of order one from a readout of ones", "Mapping to spiked features",
        eq(s.spike_rate, sp.S.Zero),
        wrong={"vanishing": -_half, "of order d": sp.S.One},
        note="With a = 1_p and the network's 1/sqrt(p) a step eta of order d has a spike of order sqrt(d).",
    ),
    ALIGNMENT_ORDER,
    convention(
        ALIGNMENT_ORDER, "gamma-of-order-d", "n, p and gamma of order d", "Mapping to spiked features",
        eq(s.alignment_rate, sp.S.One),
        wrong={"of order sqrt(d)": _half, "vanishing": -_half},
        note="Meant is the learning rate; gamma is the alignment, a cosine.",
    ),
)

# ---- two conventions for the learning rate ----

CONVENTION = claim(
    "wider.rate.conventions", "A step multiplied by sqrt(p) has the same spike at a rate smaller by one half",
    Source("arXiv 2310.07891", "learning rate Theta(d^s), 1/2 < s < 1"),
    eq(s.eta_rate, s.eta_rate_rescaled + _half), Domain((Range("seed"), Range(s.eta_rate_rescaled, 0.0, 0.5))),
    ByDerivation(slides_orders.conventions),
    ByNumbers("lengths of real steps, by bisection in the rate", numbers.rescaled, tolerances.SOLVER),
    wrong={"by one": s.eta_rate_rescaled + 1, "the other way": s.eta_rate_rescaled - _half},
    note="So plain equivalence holds up to eta = Theta(sqrt d), which is Theta(1) where the step carries sqrt(p).",
)
_RATE = (
    CONVENTION,
    convention(
        CONVENTION, "one-convention", "eta of order one harmless, eta of order d sufficient, in one convention",
        STEP_FRAME, eq(s.eta_rate, s.eta_rate_rescaled),
        wrong={"by one": s.eta_rate_rescaled + 1, "the other way": s.eta_rate_rescaled - _half},
        note="The first rate is that of a step multiplied by sqrt(p), the second that of one that is not: between "
             "sqrt(d) and d lie the spikes one by one.",
    ),
)

# ---- shapes ----

_seeded = Domain((Range("seed"),))
_by_arrays = ByNumbers("arrays of a real step and of blocks", numbers.shapes, tolerances.ROUNDING)
_rows = sum(s.block_sizes, sp.S.Zero)
ENTRIES = claim(
    "result-3-1.spike-entries", "The neurons' factor of the spike has one entry per neuron",
    paper("Section 3.1, on (7)"),
    eq(s.spike_entries, s.p), _seeded,
    ByDerivation(slides_orders.shapes), _by_arrays,
    wrong={"one per weight": s.p * s.d, "its length": sp.sqrt(s.p)},
    note="u lies on the sphere of radius sqrt(p) in p dimensions, and the spike is the outer product r u v^T.",
)
ROWS = claim(
    "finite-alphabet.pattern-rows", "The block-structured resolvent has one row per neuron",
    Source("slides", "Main ideas"),
    eq(s.pattern_rows, _rows), _seeded,
    ByDerivation(slides_orders.shapes), _by_arrays,
    wrong={"a block short": _rows - s.block_sizes[2], "twice a block": _rows + s.block_sizes[0]},
    note="C and D have a pattern of K x K blocks, K the number of letters, and are of size p x p.",
)
_SHAPES = (
    ENTRIES,
    printed(
        ENTRIES, "spike-entries", "The neurons' factor of the spike in the space of inputs", "Spiked random features",
        eq(s.spike_entries, s.d),
        wrong={"one per weight": s.p * s.d, "its length": sp.sqrt(s.p)},
        note="u has p entries and v has d; r u v is printed for the outer product r u v^T.",
    ),
    ROWS,
    convention(
        ROWS, "pattern-rows", "The matrices of the block-structured resolvent as K x K", "Main ideas",
        eq(s.pattern_rows, s.letter_count),
        wrong={"squared": s.letter_count**2, "one block": s.block_sizes[0]},
        note="Their blocks are printed as p_j x p_l: K x K is the pattern of blocks.",
    ),
)

# ---- the sign of an overlap ----

SIGNED = claim(
    "wider.leap.signed-overlap",
    "The overlap of a neuron with a direction of the target averages to zero over the sign of its readout",
    Source("arXiv 2305.18270", "Theorems 1 and 2"),
    eq(s.signed_overlap, sp.S.Zero), _seeded,
    ByDerivation(slides_orders.signed_overlap),
    ByNumbers("one step on a product of two directions, relu", numbers.signs, tolerances.ROUNDING),
    wrong={"positive": s.overlap_modulus, "half of it": s.overlap_modulus / 2},
    note="A lower bound with positive mean can hold for the modulus, or for the norm of a projection, only.",
)
_SIGN = (
    SIGNED,
    printed(
        SIGNED, "overlap-without-modulus", "A lower bound of positive mean on the overlap itself", LEARN_FRAME,
        eq(s.signed_overlap, s.overlap_modulus),
        wrong={"negative": -s.overlap_modulus, "half of it": s.overlap_modulus / 2},
        note="With a readout of either sign the overlap is negative for half of the neurons; the projection's norm is "
             "meant.",
    ),
)

# ---- the noise of equivalent features, and the kernel ----

NOISE = claim(
    "random-features.independent-noise", "The noise of two equivalent features is independent",
    paper("Section 3.2, on (14) at r = 0"),
    eq(s.shared_noise, sp.S.Zero),
    Domain((*(Range(c, 0.3, 1.0) for c in s.hermite_coefficients), Range(s.scaled_overlap, 0.5, 1.5))),
    ByDerivation(slides_orders.independent_noise),
    ByNumbers("product rule at d = 10^8", numbers.pair_noise, tolerances.ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"all of it shared": s.mu2_constant**2, "the linear part shared": s.mu1_constant**2},
    uses=("hermite.covariance-series",),
)
_NOISE = (
    NOISE,
    convention(
        NOISE, "one-noise-for-all", "One noise z_i per sample in the equivalent problem", "Gaussian equivalence",
        eq(s.shared_noise, s.mu2_constant**2),
        wrong={"half of it": s.mu2_constant**2 / 2, "not squared": s.mu2_constant},
        note="z_i is the label noise of the first frame, a number; the features need a vector of p independent ones.",
    ),
)

KERNEL = claim(
    "random-features.kernel", "The kernel of p random neurons deviates by p^(-1/2) from that of infinitely many",
    Source("slides", "Initialisation"),
    eq(s.kernel_rate, -_half), Domain(),
    ByDerivation(slides_orders.kernel), ByScaling("two inputs, sine, rows of Gaussian weights", numbers.kernels),
    kind=Kind.CONCENTRATION,
    wrong={"1/p": sp.S.NegativeOne, "no convergence": sp.S.Zero},
)
_KERNEL = (KERNEL, as_printed(KERNEL, "kernel", "The kernel that random features approximate", "Initialisation"))

# ---- the bound is a squared distance ----

_distance = named(section_4_3.CLAIMS, "bounds.distance")
DISTANCE = printed(
    _distance, "distance-not-squared", "The lower bound as the distance of the target from a span",
    "Bounds on the risk", eq(sp.sqrt(s_bounds.distance), _distance.statement.rhs),
    wrong={
        "to the fourth": eq(s_bounds.distance**2, _distance.statement.rhs),
        "half the square": eq(2 * s_bounds.distance, _distance.statement.rhs),
    },
    note="A mean squared error is bounded by the squared distance in L2.",
)

# ---- inputs on the unit sphere, and long rows ----

SPHERE = claim(
    "section-2.unit-sphere", "On the unit sphere v.x has variance 1/d", paper("Section 2"),
    eq(s.spike_projection_variance, 1 / s.d), Domain((Range("inputs", choices=("5", "9", "21", "51")),)),
    ByDerivation(slides_orders.unit_sphere),
    ByNumbers("the density of one coordinate, Gauss-Legendre", numbers.on_sphere, tolerances.ROUNDING),
    wrong={"its root": 1 / sp.sqrt(s.d), "squared": 1 / s.d**2},
    note="Coefficients as averages over N(0, 1) need the sphere of radius sqrt(d).",
)

LONG_ROWS = claim(
    "wider.leap.step-of-long-rows",
    "With inputs of variance 1/d and rows of norm sqrt(d) the step is eta = p d^((l+1)/2)",
    Source("arXiv 2305.18270", "Theorems 1 and 2"),
    eq(s.step_rate, (s.leap + 1) / 2), Domain((Range(s.leap, 1.0, 4.0),)),
    ByDerivation(slides_orders.long_rows), ByScaling("one step on one neuron, leap one and two", numbers.needed_steps),
    kind=Kind.CONCENTRATION,
    wrong={"a root more": s.leap / 2, "a whole power": s.leap + 1},
    uses=("wider.leap.signal-rate", "wider.leap.step"),
)
_SCALES = (
    SPHERE,
    convention(
        SPHERE, "unit-sphere", "Inputs uniform on the unit sphere, with coefficients for standard normal arguments",
        "Limitations of random features", eq(s.spike_projection_variance, sp.S.One),
        wrong={"its root": 1 / sp.sqrt(s.d), "squared": 1 / s.d**2},
        note="The series in He_k(w.x) with E over N(0, 1) belongs to the sphere of radius sqrt(d).",
    ),
    LONG_ROWS,
    convention(
        LONG_ROWS, "step-of-long-rows",
        "eta = p d^((l-1)/2) beside directions of norm sqrt(d) and inputs of variance 1/d", LEARN_FRAME,
        eq(s.step_rate, (s.leap - 1) / 2),
        wrong={"a root more": s.leap / 2, "a whole power": s.leap - 1},
        note="That is the step for inputs of variance one and rows of unit norm; here it is d times longer.",
    ),
)

CLAIMS: tuple[Claim, ...] = (*_SCALES, *_STEP, *_RATE, *_SHAPES, *_SIGN, *_NOISE, *_KERNEL, DISTANCE)

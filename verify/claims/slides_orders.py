"""Orders in d, shapes, signs and squares that the slides print or leave open, each by a derivation and by numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from derivations import slides_orders
from derivations import symbols as s
from verify import tolerances
from verify.checks import ByDerivation, ByNumbers, Point
from verify.claim import Claim, Domain, Kind, Mutant, Profile, Range, Source
from verify.claims import leap_numbers, section_4_3
from verify.claims.brute_force import Array, average, grid
from verify.claims.places import paper
from verify.claims.printed import as_printed, named, printed
from verify.scaling_check import ByScaling, Scaled
from verify.simulation_check import column

he = np.polynomial.hermite_e
STEP_FRAME, LEARN_FRAME = "One step of GD", "What one step learns"

# ---- the orders of a giant step ----

# Dimensions, and draws per seed of the profile; at d = 80 corrections of order 1/d still bias the slope by 0.01.
_SIZES = ((120, 10), (200, 6), (340, 4))


def _step(rng: np.random.Generator, d: int, n0: int, p: int, readout: float) -> tuple[Array, Array]:
    """The displacement of all neurons per unit of learning rate, tanh learning tanh, and the target's direction."""
    rows = rng.standard_normal((p, d))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    theta = rng.standard_normal(d)
    theta /= np.linalg.norm(theta)
    x = rng.standard_normal((n0, d))
    received = x @ rows.T
    a = np.full(p, readout)
    rest = np.tanh(x @ theta) - np.tanh(received) @ a / math.sqrt(p)
    slope = 1 - np.tanh(received) ** 2
    return a[:, None] * ((rest[:, None] * slope).T @ x) / (n0 * math.sqrt(p)), theta


@lru_cache(maxsize=512)
def giant_step(rate: float, d: int, seed: int) -> tuple[float, float]:
    """r and |gamma| after a step eta = d with readout entries p^(-rate), p = d and n0 = 4 d."""
    key = (round(10 * rate), d, seed)
    rng = np.random.default_rng(np.random.SeedSequence(71, spawn_key=key))
    moved, theta = _step(rng, d, 4 * d, d, d**-rate)
    # All neurons have the same readout, so that the spike is the mean row: r v = mean of the displacements.
    mean = d * moved.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return length, abs(float(mean @ theta)) / length


def steps(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Spike strengths or alignments for two readouts."""
    which = column(quantity, s.spike_rate, s.alignment_rate)
    return {
        f"readout p^-{rate:g}": Scaled(
            tuple(d for d, _ in _SIZES),
            tuple(tuple(giant_step(rate, d, k)[which] for k in range(draws * profile.seeds)) for d, draws in _SIZES),
            {s.readout_rate.name: rate},
        )
        for rate in (0.0, 0.5)
    }


_half = sp.Rational(1, 2)
_by_orders = ByDerivation(slides_orders.giant_step)
_by_steps = ByScaling("one gradient step, tanh learns tanh, readouts 1 and 1/sqrt(p)", steps)

SPIKE_ORDER = Claim(
    id="result-3-1.spike-order",
    title="A giant step on a readout of entries p^(-omega) has a spike of order d^(1/2 - omega)",
    source=paper("Section 3.1, on (8) and (9)"),
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.spike_rate, _half - s.readout_rate),
    domain=Domain((Range(s.readout_rate, 0.0, 1.0),)),
    checks=(_by_orders, _by_steps),
    mutants=(
        Mutant("the network's 1/sqrt(p) forgotten", sp.Eq(s.spike_rate, 1 - s.readout_rate)),
        Mutant("the readout twice", sp.Eq(s.spike_rate, _half - 2 * s.readout_rate)),
    ),
    note="Of order one for a = 1/sqrt(p), of order sqrt(d) for a = 1.",
)
ALIGNMENT_ORDER = Claim(
    id="result-3-1.alignment-order",
    title="The alignment does not grow with the dimension",
    source=paper("Section 3.1, on (10)"),
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.alignment_rate, sp.S.Zero),
    domain=Domain((Range(s.readout_rate, 0.0, 1.0),)),
    checks=(_by_orders, _by_steps),
    mutants=(
        Mutant("as for random weights", sp.Eq(s.alignment_rate, -_half)),
        Mutant("slowly", sp.Eq(s.alignment_rate, sp.Rational(1, 4))),
    ),
    uses=("result-3-1.alignment",),
)
_STEP = (
    SPIKE_ORDER,
    printed(
        SPIKE_ORDER,
        "spike-of-ones",
        "A spike of order one from a readout of ones",
        "Mapping to spiked features",
        sp.Eq(s.spike_rate, sp.S.Zero),
        Mutant("vanishing", sp.Eq(s.spike_rate, -_half)),
        Mutant("of order d", sp.Eq(s.spike_rate, sp.S.One)),
        note="With a = 1_p and the network's 1/sqrt(p) a step eta of order d has a spike of order sqrt(d).",
    ),
    ALIGNMENT_ORDER,
    printed(
        ALIGNMENT_ORDER,
        "gamma-of-order-d",
        "n, p and gamma of order d",
        "Mapping to spiked features",
        sp.Eq(s.alignment_rate, sp.S.One),
        Mutant("of order sqrt(d)", sp.Eq(s.alignment_rate, _half)),
        Mutant("vanishing", sp.Eq(s.alignment_rate, -_half)),
        note="Meant is the learning rate; gamma is the alignment, a cosine.",
    ),
)

# ---- two conventions for the learning rate ----


def _rescaled(point: Point) -> dict[str, float]:
    """Real steps at p = d = 40: the rate s' at which the step times sqrt(p) is as long as the plain one at rate s."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    d, rate = 40, float(point[s.eta_rate_rescaled.name]) + 0.5
    moved, _ = _step(rng, d, 2 * d, d, d**-0.5)
    plain = d**rate * np.linalg.norm(moved)
    low, high = -2.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.sqrt(d) * d**middle * np.linalg.norm(moved) < plain else (low, middle)
    return {s.eta_rate.name: rate, s.eta_rate_rescaled.name: low}


CONVENTION = Claim(
    id="wider.rate.conventions",
    title="A step multiplied by sqrt(p) has the same spike at a rate smaller by one half",
    source=Source("arXiv 2310.07891", "learning rate Theta(d^s), 1/2 < s < 1"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.eta_rate, s.eta_rate_rescaled + _half),
    domain=Domain((Range("seed"), Range(s.eta_rate_rescaled, 0.0, 0.5))),
    checks=(
        ByDerivation(slides_orders.conventions),
        ByNumbers("lengths of real steps, by bisection in the rate", _rescaled, tolerances.SOLVER),
    ),
    mutants=(
        Mutant("by one", sp.Eq(s.eta_rate, s.eta_rate_rescaled + 1)),
        Mutant("the other way", sp.Eq(s.eta_rate, s.eta_rate_rescaled - _half)),
    ),
    note="So plain equivalence holds up to eta = Theta(sqrt d), which is Theta(1) where the step carries sqrt(p).",
)
_RATE = (
    CONVENTION,
    printed(
        CONVENTION,
        "one-convention",
        "eta of order one harmless, eta of order d sufficient, in one convention",
        STEP_FRAME,
        sp.Eq(s.eta_rate, s.eta_rate_rescaled),
        Mutant("by one", sp.Eq(s.eta_rate, s.eta_rate_rescaled + 1)),
        Mutant("the other way", sp.Eq(s.eta_rate, s.eta_rate_rescaled - _half)),
        note="The first rate is that of a step multiplied by sqrt(p), the second that of one that is not: between "
        "sqrt(d) and d lie the spikes one by one.",
    ),
)

# ---- shapes ----


def _shapes(point: Point) -> dict[str, float]:
    """The left singular vector of a real step, and a block-structured resolvent built block by block."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    p, d = 7, 4
    moved, _ = _step(rng, d, 9, p, p**-0.5)
    left, _, _ = np.linalg.svd(moved)
    sizes = [int(k) for k in rng.integers(1, 6, size=3)]
    letters = rng.standard_normal((3, 3))
    pattern = np.block([[letters[i, j] * np.ones((a, b)) for j, b in enumerate(sizes)] for i, a in enumerate(sizes)])
    return {
        s.spike_entries.name: float(len(left[:, 0])),
        s.p.name: p,
        s.d.name: d,
        s.pattern_rows.name: float(pattern.shape[0]),
        s.letter_count.name: 3.0,
        **{name.name: float(size) for name, size in zip(s.block_sizes, sizes, strict=True)},
    }


_seeded = Domain((Range("seed"),))
_by_arrays = ByNumbers("arrays of a real step and of blocks", _shapes, tolerances.ROUNDING)
_rows = sum(s.block_sizes, sp.S.Zero)
ENTRIES = Claim(
    id="result-3-1.spike-entries",
    title="The neurons' factor of the spike has one entry per neuron",
    source=paper("Section 3.1, on (7)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.spike_entries, s.p),
    domain=_seeded,
    checks=(ByDerivation(slides_orders.shapes), _by_arrays),
    mutants=(
        Mutant("one per weight", sp.Eq(s.spike_entries, s.p * s.d)),
        Mutant("its length", sp.Eq(s.spike_entries, sp.sqrt(s.p))),
    ),
    note="u lies on the sphere of radius sqrt(p) in p dimensions, and the spike is the outer product r u v^T.",
)
ROWS = Claim(
    id="finite-alphabet.pattern-rows",
    title="The block-structured resolvent has one row per neuron",
    source=Source("slides", "Main ideas"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.pattern_rows, _rows),
    domain=_seeded,
    checks=(ByDerivation(slides_orders.shapes), _by_arrays),
    mutants=(
        Mutant("a block short", sp.Eq(s.pattern_rows, _rows - s.block_sizes[2])),
        Mutant("twice a block", sp.Eq(s.pattern_rows, _rows + s.block_sizes[0])),
    ),
    note="C and D have a pattern of K x K blocks, K the number of letters, and are of size p x p.",
)
_SHAPES = (
    ENTRIES,
    printed(
        ENTRIES,
        "spike-entries",
        "The neurons' factor of the spike in the space of inputs",
        "Spiked random features",
        sp.Eq(s.spike_entries, s.d),
        Mutant("one per weight", sp.Eq(s.spike_entries, s.p * s.d)),
        Mutant("its length", sp.Eq(s.spike_entries, sp.sqrt(s.p))),
        note="u has p entries and v has d; r u v is printed for the outer product r u v^T.",
    ),
    ROWS,
    printed(
        ROWS,
        "pattern-rows",
        "The matrices of the block-structured resolvent as K x K",
        "Main ideas",
        sp.Eq(s.pattern_rows, s.letter_count),
        Mutant("squared", sp.Eq(s.pattern_rows, s.letter_count**2)),
        Mutant("one block", sp.Eq(s.pattern_rows, s.block_sizes[0])),
        note="Their blocks are printed as p_j x p_l: K x K is the pattern of blocks.",
    ),
)

# ---- the sign of an overlap ----


def _signs(point: Point) -> dict[str, float]:
    """Cosines of one neuron's displacement with a target direction for both signs of its readout."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    d, n = 12, 60
    x, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = x[:, 0] * x[:, 1]
    gradient = (y * (x @ w / np.linalg.norm(w) > 0)) @ x / n
    cosines = [float(a * gradient[0] / np.linalg.norm(a * gradient)) for a in (0.6, -0.6)]
    return {s.signed_overlap.name: sum(cosines) / 2, s.overlap_modulus.name: abs(cosines[0])}


SIGNED = Claim(
    id="wider.leap.signed-overlap",
    title="The overlap of a neuron with a direction of the target averages to zero over the sign of its readout",
    source=Source("arXiv 2305.18270", "Theorems 1 and 2"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.signed_overlap, sp.S.Zero),
    domain=_seeded,
    checks=(
        ByDerivation(slides_orders.signed_overlap),
        ByNumbers("one step on a product of two directions, relu", _signs, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("positive", sp.Eq(s.signed_overlap, s.overlap_modulus)),
        Mutant("half of it", sp.Eq(s.signed_overlap, s.overlap_modulus / 2)),
    ),
    note="A lower bound with positive mean can hold for the modulus, or for the norm of a projection, only.",
)
_SIGN = (
    SIGNED,
    printed(
        SIGNED,
        "overlap-without-modulus",
        "A lower bound of positive mean on the overlap itself",
        LEARN_FRAME,
        sp.Eq(s.signed_overlap, s.overlap_modulus),
        Mutant("negative", sp.Eq(s.signed_overlap, -s.overlap_modulus)),
        Mutant("half of it", sp.Eq(s.signed_overlap, s.overlap_modulus / 2)),
        note="With a readout of either sign the overlap is negative for half of the neurons; the projection's norm is "
        "meant.",
    ),
)

# ---- the noise of equivalent features, and the kernel ----


def _pair_noise(point: Point) -> dict[str, float]:
    """Cov[phi_k, phi_l] - mu1^2 epsilon at overlap tau/sqrt(d), d = 10^8, by a product rule; and mu*^2."""
    weights = [float(point[c.name]) / math.sqrt(math.factorial(m)) for m, c in enumerate(s.hermite_coefficients)]
    points, density = grid(2)
    epsilon = float(point[s.scaled_overlap.name]) / 1e4
    other = epsilon * points[:, 0] + math.sqrt(1 - epsilon**2) * points[:, 1]
    one, two = he.hermeval(points[:, 0], weights), he.hermeval(other, weights)
    mean, slope = average(lambda z: he.hermeval(z, weights)), average(lambda z: z * he.hermeval(z, weights))
    left = average(lambda z: (he.hermeval(z, weights) - mean - slope * z) ** 2)
    return {
        s.shared_noise.name: float(density @ (one * two)) - mean**2 - slope**2 * epsilon,
        s.mu1_constant.name: slope,
        s.mu2_constant.name: math.sqrt(left),
    }


NOISE = Claim(
    id="random-features.independent-noise",
    title="The noise of two equivalent features is independent",
    source=paper("Section 3.2, on (14) at r = 0"),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.shared_noise, sp.S.Zero),
    domain=Domain((*(Range(c, 0.3, 1.0) for c in s.hermite_coefficients), Range(s.scaled_overlap, 0.5, 1.5))),
    checks=(
        ByDerivation(slides_orders.independent_noise),
        ByNumbers("product rule at d = 10^8", _pair_noise, tolerances.ASYMPTOTIC),
    ),
    mutants=(
        Mutant("all of it shared", sp.Eq(s.shared_noise, s.mu2_constant**2)),
        Mutant("the linear part shared", sp.Eq(s.shared_noise, s.mu1_constant**2)),
    ),
    uses=("hermite.covariance-series",),
)
_NOISE = (
    NOISE,
    printed(
        NOISE,
        "one-noise-for-all",
        "One noise z_i per sample in the equivalent problem",
        "Gaussian equivalence",
        sp.Eq(s.shared_noise, s.mu2_constant**2),
        Mutant("half of it", sp.Eq(s.shared_noise, s.mu2_constant**2 / 2)),
        Mutant("not squared", sp.Eq(s.shared_noise, s.mu2_constant)),
        note="z_i is the label noise of the first frame, a number; the features need a vector of p independent ones.",
    ),
)


@lru_cache(maxsize=4)
def _kernel_limit() -> tuple[Array, float]:
    """Two inputs of norm sqrt(10) in ten dimensions, and E sin(w.x) sin(w.x') for w ~ N(0, 1/10)."""
    x = np.zeros((2, 10))
    x[0, 0], x[1, 0], x[1, 1] = math.sqrt(10.0), math.sqrt(10.0) * 0.6, math.sqrt(10.0) * 0.8
    points, density = grid(2)
    other = 0.6 * points[:, 0] + 0.8 * points[:, 1]
    return x, float(density @ (np.sin(points[:, 0]) * np.sin(other)))


def kernels(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Deviations of the empirical kernel at several widths: root mean squares over 40 draws, to have few tiny ones."""
    column(quantity, s.kernel_rate)
    x, limit = _kernel_limit()
    widths = (100, 400, 1600)
    samples = []
    for p in widths:
        rng = np.random.default_rng(np.random.SeedSequence(72, spawn_key=(p,)))
        rows = rng.standard_normal((4 * profile.seeds, 40, p, 2)) / math.sqrt(10.0)  # what the two inputs' plane sees
        features = np.sin(rows @ x[:, :2].T)
        deviation = np.mean(features[..., 0] * features[..., 1], axis=2) - limit
        samples.append(tuple(float(v) for v in np.sqrt(np.mean(deviation**2, axis=1))))
    return {"sine": Scaled(widths, tuple(samples), {})}


KERNEL = Claim(
    id="random-features.kernel",
    title="The kernel of p random neurons deviates by p^(-1/2) from that of infinitely many",
    source=Source("slides", "Initialisation"),
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.kernel_rate, -_half),
    domain=Domain(),
    checks=(ByDerivation(slides_orders.kernel), ByScaling("two inputs, sine, rows of Gaussian weights", kernels)),
    mutants=(
        Mutant("1/p", sp.Eq(s.kernel_rate, sp.S.NegativeOne)),
        Mutant("no convergence", sp.Eq(s.kernel_rate, sp.S.Zero)),
    ),
)
_KERNEL = (KERNEL, as_printed(KERNEL, "kernel", "The kernel that random features approximate", "Initialisation"))

# ---- the bound is a squared distance ----

_distance = named(section_4_3.CLAIMS, "bounds.distance")
DISTANCE = printed(
    _distance,
    "distance-not-squared",
    "The lower bound as the distance of the target from a span",
    "Bounds on the risk",
    sp.Eq(sp.sqrt(s.distance), _distance.statement.rhs, evaluate=False),
    Mutant("to the fourth", sp.Eq(s.distance**2, _distance.statement.rhs, evaluate=False)),
    Mutant("half the square", sp.Eq(2 * s.distance, _distance.statement.rhs, evaluate=False)),
    note="A mean squared error is bounded by the squared distance in L2.",
)

# ---- inputs on the unit sphere, and long rows ----


def _on_sphere(point: Point) -> dict[str, float]:
    """Var(v.x) for x uniform on the unit sphere: the density of one coordinate is (1 - t^2)^((d-3)/2)."""
    d = int(str(point["inputs"]))
    node, weight = np.polynomial.legendre.leggauss(60)  # the density is a polynomial for odd d
    density = weight * (1 - node**2) ** ((d - 3) // 2)
    return {s.spike_projection_variance.name: float(density @ node**2 / density.sum()), s.d.name: float(d)}


SPHERE = Claim(
    id="section-2.unit-sphere",
    title="On the unit sphere v.x has variance 1/d",
    source=paper("Section 2"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.spike_projection_variance, 1 / s.d),
    domain=Domain((Range("inputs", choices=("5", "9", "21", "51")),)),
    checks=(
        ByDerivation(slides_orders.unit_sphere),
        ByNumbers("the density of one coordinate, Gauss-Legendre", _on_sphere, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("its root", sp.Eq(s.spike_projection_variance, 1 / sp.sqrt(s.d))),
        Mutant("squared", sp.Eq(s.spike_projection_variance, 1 / s.d**2)),
    ),
    note="Coefficients as averages over N(0, 1) need the sphere of radius sqrt(d).",
)


def _needed_steps(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """eta/p that moves a row of norm sqrt(d) by its length, inputs of variance 1/d: sqrt(d)/(signal/sqrt(d))."""
    column(quantity, s.step_rate)
    signals = leap_numbers.scaled(leap_numbers.ENOUGH, s.signal_rate, profile)
    return {
        name: Scaled(
            series.dimensions,
            tuple(tuple(d / v for v in values) for d, values in zip(series.dimensions, series.samples, strict=True)),
            series.values,
        )
        for name, series in signals.items()
    }


LONG_ROWS = Claim(
    id="wider.leap.step-of-long-rows",
    title="With inputs of variance 1/d and rows of norm sqrt(d) the step is eta = p d^((l+1)/2)",
    source=Source("arXiv 2305.18270", "Theorems 1 and 2"),
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.step_rate, (s.leap + 1) / 2),
    domain=Domain((Range(s.leap, 1.0, 4.0),)),
    checks=(
        ByDerivation(slides_orders.long_rows),
        ByScaling("one step on one neuron, leap one and two", _needed_steps),
    ),
    mutants=(
        Mutant("a root more", sp.Eq(s.step_rate, s.leap / 2)),
        Mutant("a whole power", sp.Eq(s.step_rate, s.leap + 1)),
    ),
    uses=("wider.leap.signal-rate", "wider.leap.step"),
)
_SCALES = (
    SPHERE,
    printed(
        SPHERE,
        "unit-sphere",
        "Inputs uniform on the unit sphere, with coefficients for standard normal arguments",
        "Limitations of random features",
        sp.Eq(s.spike_projection_variance, sp.S.One),
        Mutant("its root", sp.Eq(s.spike_projection_variance, 1 / sp.sqrt(s.d))),
        Mutant("squared", sp.Eq(s.spike_projection_variance, 1 / s.d**2)),
        note="The series in He_k(w.x) with E over N(0, 1) belongs to the sphere of radius sqrt(d).",
    ),
    LONG_ROWS,
    printed(
        LONG_ROWS,
        "step-of-long-rows",
        "eta = p d^((l-1)/2) beside directions of norm sqrt(d) and inputs of variance 1/d",
        LEARN_FRAME,
        sp.Eq(s.step_rate, (s.leap - 1) / 2),
        Mutant("a root more", sp.Eq(s.step_rate, s.leap / 2)),
        Mutant("a whole power", sp.Eq(s.step_rate, s.leap - 1)),
        note="That is the step for inputs of variance one and rows of unit norm; here it is d times longer.",
    ),
)

CLAIMS: tuple[Claim, ...] = (*_SCALES, *_STEP, *_RATE, *_SHAPES, *_SIGN, *_NOISE, *_KERNEL, DISTANCE)

"""What the slides print about inputs, the split of a step, the map along the spike, and its limits."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.closed_forms import sign_activation as sign_derivations
from giantsteps.derivations.equivalence import hermite_features
from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_check, sigma_prime
from giantsteps.derivations.saddle_point import conventions as slides_conventions
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.claims.equivalence import appendix_b, sign_activation
from giantsteps.verify.claims.saddle_point import result_3_3 as section_3_3
from giantsteps.verify.claims.slides.printed import convention, named, printed
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Range, Role, Source
from giantsteps.verify.protocol.statement import claim, eq, ge, le
from giantsteps.verify.second_route import grids
from giantsteps.verify.second_route.equivalence.features import sign_coefficients
from giantsteps.verify.second_route.gradient_step.steps import functions_at, numbers_at

STEP_FRAME, MAP_FRAME, RESULT_FRAME = "Mapping to spiked features", "Conditional GEP", "Spiked random features"


# ---- inputs ----


def _projection(point: Point) -> dict[str, float]:
    """Var(v.x) for a random unit v in R^2 by a product rule."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    v = generator.standard_normal(2)
    points, weights = grids.grid(2)
    variance = float(point["d"]) ** -float(str(point["power"]))
    projected = np.sqrt(variance) * points @ (v / np.linalg.norm(v))
    return {
        s.spike_projection_variance.name: float(weights @ projected**2),
        s_saddle.coordinate_variance.name: variance,
        s.d.name: float(point["d"]),
    }


INPUT_SCALE = claim(
    "section-2.input-scale", "v.x has the variance of one coordinate of the input", paper("Section 2"),
    eq(s.spike_projection_variance, s_saddle.coordinate_variance),
    Domain((Range("seed"), Range(s.d, choices=("2", "5", "17", "50")), Range("power", choices=("0", "1")))),
    ByDerivation(slides_conventions.input_scale),
    ByNumbers("a random direction in the plane", _projection, tolerances.ROUNDING),
    wrong={"per coordinate": s_saddle.coordinate_variance / s.d},
    note="kappa = v.x is standard normal, as every average over kappa needs, for coordinates of variance one.",
)
PRINTED_INPUTS = convention(
    INPUT_SCALE, "input-scale", "A standard normal kappa from inputs of variance 1/d", "Setting",
    eq(s.spike_projection_variance, s.d * s_saddle.coordinate_variance),
    wrong={"root": sp.sqrt(s.d) * s_saddle.coordinate_variance},
    note="x ~ N(0, 1/d) and |v| = 1 give kappa variance 1/d; for kappa ~ N(0, 1), |v| would be sqrt(d).",
)


# ---- the split of the step ----


def _spike_coordinate(point: Point) -> dict[str, float]:
    """One entry of v~: the step of a neuron averaged over what it receives, divided by its spike factor."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    batch = 5
    label, coordinate, received = (float(v) for v in generator.standard_normal(3))
    student = grids.SMOOTH[str(point["activation"])]
    slope = grids.average(student.prime)
    step = slope * label * coordinate / batch
    return {
        s.v_coordinate.name: step / grids.average(lambda z: z * student.value(z)),
        s.y.name: label,
        s.input_coordinate.name: coordinate,
        s.preactivation.name: received,
        s.h1.name: grids.average(lambda z: z * student.value(z)),
        s.n0.name: batch,
    }


SPIKE_COORDINATE = claim(
    "result-3-1.spike-coordinate", "The input's factor of the spike", paper("Appendix A.1", 35),
    eq(s.v_coordinate, s.y * s.input_coordinate / s.n0),
    Domain((Range("seed"), Range("activation", choices=grids.ODD)), (), grids.INTERPRETATIONS),
    ByDerivation(gradient_step.split),
    ByNumbers("the step averaged over the neuron's input", _spike_coordinate, tolerances.ROUNDING, functions_at),
    wrong={"not averaged over the batch": s.y * s.input_coordinate},
    uses=("result-3-1.split",),
)
PRINTED_COORDINATE = printed(
    SPIKE_COORDINATE, "spike-coordinate", "The input's factor of the spike with sigma - h1 of every neuron", STEP_FRAME,
    eq(s.v_coordinate, (sigma(s.preactivation) - s.h1) * s.y * s.input_coordinate / s.n0),
    wrong={"sigma'": sigma_check(s.preactivation) * s.y * s.input_coordinate / s.n0},
    note="sigma(W x) has p entries and cannot multiply into R^d; the deviation of sigma' belongs to the bulk.",
)


# ---- the constant of the bulk variance ----


CHECK_CONSTANT = claim(
    "result-3-1.check-constant", "The constant of the bulk variance is the variance of sigma'", paper("Section 3.1"),
    eq(s.h1_check, Expectation(sigma_prime(s.z) ** 2, s.z) - s.h1**2),
    Domain((Range("activation", choices=grids.ODD),), (), grids.INTERPRETATIONS),
    ByDerivation(slides_conventions.check_constant),
    ByNumbers("E(sigma' - h1)^2, trapezoidal sums", numbers_at, tolerances.ROUNDING, functions_at),
)
PRINTED_CONSTANT = printed(
    CHECK_CONSTANT, "check-constant", "The constant of the bulk variance with z sigma in place of sigma'", RESULT_FRAME,
    eq(s.h1_check, Expectation((s.z * sigma(s.z) - s.h1) ** 2, s.z)),
    note="sigma' and z sigma have one mean, h1, but not one variance.",
)

# ---- the map along the spike ----

PRINTED_NO_OVERLAP = convention(
    named(section_3_3.CLAIMS, "result-3-3.isotropic.zeta"), "no-overlap",
    "The map without kappa mu1 w.v predicts no overlap with the spike", MAP_FRAME, eq(s.zeta, sp.S.Zero),
    wrong={"opposite sign": -s.beta * s.c * s.V2 * s.zeta_hat, "without beta": s.c * s.V2 * s.zeta_hat},
    note="The test error that the slides print contains zeta, which this map leaves no room for.",
)


def _split(point: Point) -> dict[str, float]:
    """What x - kappa v keeps along v, for random x, v, theta; gamma = v.theta."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    x, v, theta = generator.standard_normal((3, 4))
    v, theta = v / np.linalg.norm(v), theta / np.linalg.norm(theta)
    kappa = float(v @ x)
    return {
        s_saddle.component_along_spike.name: float(v @ (x - kappa * v)),
        s.kappa.name: kappa,
        s.gamma.name: float(v @ theta),
    }


SPLIT = claim(
    "result-3-2.split", "What x - kappa v keeps along v: nothing", paper("Appendix B", 60),
    eq(s_saddle.component_along_spike, sp.S.Zero), Domain((Range("seed"),)),
    ByDerivation(slides_conventions.split_along_spike), ByNumbers("random vectors in R^4", _split, tolerances.ROUNDING),
    wrong={"all of it": s.kappa, "the share of theta": s.gamma * s.kappa},
)
PRINTED_SPLIT = printed(
    SPLIT, "split-along-target", "x split along the target with the projection on the spike", MAP_FRAME,
    eq(s_saddle.component_along_spike, (1 - s.gamma) * s.kappa),
    note="kappa theta with kappa = v.x leaves (1 - gamma) kappa along v: the rest is orthogonal to neither.",
)
PRINTED_UNIT_ROWS = convention(
    appendix_b.VARIANCE, "unit-rows", "The variance of a feature with the rows before the step", MAP_FRAME,
    eq(s.feature_variance, s.mu1**2 + s.mu2_square),
    note="mu1 multiplies w.x of the bulk row after the step, of variance c, not of the unit row before it.",
)

_UNIT = Domain((Range(s.r, 1.0, 1.0), Range(s.c, 1.0, 1.0), Range(s.kappa, -2.0, 2.0)))


def _sign_at_one(name: str, title: str, statement: sp.Equality, right: Claim, note: str = "") -> Claim:
    return claim(
        f"slides.{name}", title, Source("slides", MAP_FRAME, right.source.equations),
        statement, _UNIT,
        ByDerivation(slides_conventions.sign_at_one),
        ByNumbers("Gauss-Legendre panels on either side of the jump", sign_coefficients, tolerances.ROUNDING),
        role=Role.PRINTED,
        wrong={"argument doubled": statement.xreplace({s.kappa: 2 * s.kappa})},
        note=note,
    )


_erf, _bell = sp.erf(s.kappa / sp.sqrt(2)), sp.sqrt(2 / sp.pi) * sp.exp(-(s.kappa**2) / 2)
_UNIT_NOTE = "Right at r = c = 1, which the slides do not say."
_SIGN = (
    _sign_at_one("sign-mu0", "mu0 of the sign activation", eq(s.mu0, _erf), sign_activation.SIGN_MU0, _UNIT_NOTE),
    _sign_at_one("sign-mu1", "mu1 of the sign activation", eq(s.mu1, _bell), sign_activation.SIGN_MU1, _UNIT_NOTE),
    printed(
        sign_activation.SIGN_MU2, "sign-mu2", "mu2 of the sign activation, without its root and without c", MAP_FRAME,
        eq(sp.sqrt(s.mu2_square), 1 - s.mu0**2 - s.mu1**2),
        wrong={"mu0 not squared": 1 - s.mu0 - s.mu1**2},
        note="The right-hand side is mu2^2, at c = 1.",
    ),
)


# ---- the limit of a strong spike ----


def _sign_variance(point: Point) -> dict[str, float]:
    values = sign_coefficients(point)
    return {s.feature_variance.name: float(point[s.c.name]) * values[s.mu1.name] ** 2 + values[s.mu2_square.name]}


_STRONG = Domain((Range(s.r, 0.3, 6.0), Range(s.c, 0.5, 2.0), Range(s.kappa, 0.3, 2.0)))
STRONG_SPIKE = claim(
    "result-3-2.strong-spike", "A strong spike silences the noise of a saturating neuron", paper("Section 4.4"),
    ge(2 * s.c / (s.r * s.kappa) ** 2, s.feature_variance), _STRONG,
    ByTheorem("Chebyshev's inequality", sign_derivations.strong_spike),
    ByNumbers("sign, panels on either side of the jump", _sign_variance, tolerances.ROUNDING),
    wrong={
        "the fourth power": ge(s.c / (4 * (s.r * s.kappa) ** 2), s.feature_variance),
        "it never vanishes": le(2 * s.c / (s.r * s.kappa) ** 2, s.feature_variance),
    },
    uses=("result-3-2.sign-mu0", "result-3-2.conditional-variance"),
    note="Then every letter of one sign carries the same function sign(u kappa): a rich basis needs a finite spike.",
)
PRINTED_LIMIT = convention(
    appendix_b.VARIANCE, "single-neuron-limit", "Features without noise in the limit of a large ridge",
    "A note on initialisation", eq(s.feature_variance, sp.S.Zero),
    wrong={"no noise": s.c * s.mu1**2, "noise only": s.mu2_square},
    note="The ridge does not enter the map: it silences the readout's response to the noise, not the noise.",
)


# ---- targets of several variables ----


def _two_variables(point: Point) -> dict[str, float]:
    """A random quadratic polynomial of two variables: its value somewhere and its Hermite tensors by a product rule."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    q, where = generator.standard_normal(6), generator.standard_normal(2)
    points, weights = grids.grid(2)

    def target(x: np.ndarray) -> np.ndarray:
        a, b = x[..., 0], x[..., 1]
        return np.asarray(q[0] + q[1] * a + q[2] * b + q[3] * a**2 + q[4] * a * b + q[5] * b**2)

    a, b, values = points[:, 0], points[:, 1], target(points)
    tensors = zip((s_map.tensor_0, *s.tensor_1, *s.tensor_2), (1 + 0 * a, a, b, a**2 - 1, a * b, b**2 - 1), strict=True)
    return {
        **{name.name: float(weights @ (weight * values)) for name, weight in tensors},
        **{name.name: float(value) for name, value in zip(s.argument, where, strict=True)},
        s_map.target_value.name: float(target(where)),
    }


x1, x2 = s.argument
_linear = s_map.tensor_0 + s.tensor_1[0] * x1 + s.tensor_1[1] * x2
_h2 = (x1**2 - 1, x2**2 - 1)
_second = (s.tensor_2[0] * _h2[0] + 2 * s.tensor_2[1] * x1 * x2 + s.tensor_2[2] * _h2[1]) / 2
SECOND_ORDER = claim(
    "multi-index.second-order", "A target of two variables to second order in Hermite tensors",
    Source("slides", "What one step learns"),
    eq(s_map.target_value, _linear + _second), Domain((Range("seed"),)),
    ByDerivation(hermite_features.second_order),
    ByNumbers("random quadratic polynomials", _two_variables, tolerances.ROUNDING),
    wrong={"without 1/2": _linear + 2 * _second},
)
PRINTED_SECOND_ORDER = printed(
    SECOND_ORDER, "second-order", "The second-order term as products of second Hermite polynomials",
    "What one step learns",
    eq(s_map.target_value,
       _linear + s.tensor_2[0] * _h2[0] ** 2 + 2 * s.tensor_2[1] * _h2[0] * _h2[1] + s.tensor_2[2] * _h2[1] ** 2),
    note="The second-order tensor is z_i z_j - delta_ij, of degree two, with weight 1/2; printed is degree four.",
)

CLAIMS: tuple[Claim, ...] = (
    INPUT_SCALE, PRINTED_INPUTS, SPIKE_COORDINATE, PRINTED_COORDINATE, CHECK_CONSTANT, PRINTED_CONSTANT,
    PRINTED_NO_OVERLAP, SPLIT, PRINTED_SPLIT, PRINTED_UNIT_ROWS, *_SIGN, STRONG_SPIKE, PRINTED_LIMIT, SECOND_ORDER,
    PRINTED_SECOND_ORDER,
)

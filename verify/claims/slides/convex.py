"""What the slides print about random features with a convex loss, and what holds; kappa_1, kappa_* are mu1, mu2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g as target
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import convex as convex_features
from giantsteps.derivations.saddle_point.random_features import convex_errors
from giantsteps.derivations.saddle_point.random_features import square_loss as convex_square_loss
from giantsteps.derivations.saddle_point.random_features.convex import label, omega_1, over_labels, prox, prox_slope
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.random_features import no_spike as random_features
from giantsteps.verify.claims.slides.printed import as_printed, convention, printed
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.protocol.tolerances import FINITE_DIFFERENCE, ROUNDING
from giantsteps.verify.second_route.models import model_at
from giantsteps.verify.second_route.saddle_point import convex_losses as numbers
from giantsteps.verify.solver.models import beside, solved
from giantsteps.verify.solver.random_features import slides_at, slides_by_theorems

FRAME = "Saddle point of random features"
k1, k2 = s.mu1_constant, s.mu2_constant
each, shared = s.alpha_p / s.gamma_p * k1**2, s.alpha_p * k2**2
z, g, slope = (s.ridge + s.V_w_hat) / s.V_s_hat, s.spectral_stieltjes, s.spectral_slope
force, shift = s.m_s_hat**2 + s.q_s_hat, s.ridge + s.V_w_hat
cross = -z * g + z**2 * slope  # the last bracket of the slides


def _conjugate(name: str, title: str, unknown: sp.Symbol, right: sp.Expr) -> Claim:
    return claim(
        f"convex-features.{name}", title, Source("slides", FRAME),
        eq(unknown, right), numbers.CONJUGATE_DOMAIN,
        ByDerivation(convex_features.energetic),
        ByNumbers("differences of the averaged Moreau envelope, three losses", numbers.feature_conjugates,
                  FINITE_DIFFERENCE, numbers.feature_functions, points=4),
        kind=Kind.FIXED_POINT,
    )


def _overlap(name: str, title: str, unknown: sp.Symbol, right: sp.Expr, *, wrong: Wrong | None = None) -> Claim:
    return claim(
        f"convex-features.{name}", title, Source("slides", FRAME),
        eq(unknown, right), numbers.MATRIX_DOMAIN,
        ByDerivation(convex_features.entropic), ByNumbers("traces of dense matrices", numbers.overlaps, ROUNDING),
        kind=Kind.FIXED_POINT, wrong=wrong,
    )


_response = over_labels((1 - prox_slope) / s.V)
_printed_response = over_labels(prox_slope / s.V)
_square = over_labels((prox - omega_1) ** 2 / s.V**2)
# The derivative of Z(y, omega) in omega is Z times (nu - omega)/V0, and nu = omega_0 + sqrt(V0) z.
_score = over_labels(s.z * (prox - omega_1) / s.V) / sp.sqrt(s.label_variance)

V_S_HAT = _conjugate("V-s-hat", "Conjugate of q_s, any convex loss", s.V_s_hat, each * _response)
V_W_HAT = _conjugate("V-w-hat", "Conjugate of q_w, any convex loss", s.V_w_hat, shared * _response)
Q_S_HAT = _conjugate("q-s-hat", "Conjugate of V_s, any convex loss", s.q_s_hat, each * _square)
Q_W_HAT = _conjugate("q-w-hat", "Conjugate of V_w, any convex loss", s.q_w_hat, shared * _square)
M_S_HAT = _conjugate("m-s-hat", "Conjugate of m_s, any convex loss", s.m_s_hat, s.alpha_p / s.gamma_p * k1 * _score)

V_S = _overlap("V-s", "Response of the projected readout", s.V_s, (1 - z * g) / s.V_s_hat)
M_S = _overlap("m-s", "Overlap with the target", s.m_s, s.m_s_hat / s.V_s_hat * (1 - z * g))
Q_S = _overlap(
    "q-s", "Size of the projected readout", s.q_s,
    force / s.V_s_hat**2 * (1 - 2 * z * g + z**2 * slope) - s.q_w_hat / (shift * s.V_s_hat) * cross,
)
V_W = _overlap("V-w", "Response of the readout", s.V_w, s.gamma_p / shift * (1 / s.gamma_p - 1 + z * g))
Q_W = _overlap(
    "q-w", "Size of the readout", s.q_w,
    s.gamma_p * s.q_w_hat / shift**2 * (1 / s.gamma_p - 1 + z**2 * slope)
    - s.gamma_p * force / (shift * s.V_s_hat) * cross,
)

_PRINTED = (
    printed(
        V_S_HAT, "convex.V-s-hat", "Conjugate of q_s with the derivative of the proximal map itself", FRAME,
        eq(s.V_s_hat, each * _printed_response),
        note="The conjugate is what the loss pulls, (1 - d eta/d omega)/V; the square loss shows it: alpha/(1 + V).",
    ),
    printed(
        V_W_HAT, "convex.V-w-hat", "Conjugate of q_w with the derivative of the proximal map itself", FRAME,
        eq(s.V_w_hat, shared * _printed_response),
        note="As in the conjugate of q_s.",
    ),
    as_printed(Q_S_HAT, "convex.q-s-hat", "Conjugate of V_s", FRAME),
    as_printed(Q_W_HAT, "convex.q-w-hat", "Conjugate of V_w", FRAME),
    as_printed(M_S_HAT, "convex.m-s-hat", "Conjugate of m_s", FRAME),
    as_printed(V_S, "convex.V-s", "Response of the projected readout", FRAME),
    as_printed(M_S, "convex.m-s", "Overlap with the target", FRAME),
    printed(
        Q_S, "convex.q-s", "Size of the projected readout, a square lost", FRAME,
        eq(s.q_s, force / s.V_s_hat * (1 - 2 * z * g + z**2 * slope) - s.q_w_hat / (shift * s.V_s_hat) * cross),
        note="Two resolvents carry two factors 1/V_s^.",
    ),
    as_printed(V_W, "convex.V-w", "Response of the readout", FRAME,
               note="With z = (lambda + V_w^)/V_s^, which the slides leave undefined, and the law of F^T F/p."),
    convention(
        V_W, "convex.V-w-wide-spectrum", "Response of the readout, with the spectrum of the matrix that is named",
        FRAME, eq(s.V_w, s.gamma_p / shift * (1 / s.gamma_p - 1 + z * s.wide_stieltjes)),
        note="1/gamma - 1 counts the p - d null modes: the law is that of the d x d matrix, not of W W^T.",
    ),
    printed(
        Q_W, "convex.q-w", "Size of the readout, with a sign and a factor lost", FRAME,
        eq(s.q_w,
           s.gamma_p * s.q_w_hat / shift**2 * (1 / s.gamma_p - 1 + z**2 * slope) + force / (shift * s.V_s_hat) * cross),
        note="-zg + z^2 g' is negative: the printed term would make a square shrink with the signal.",
    ),
)


_BOTH = Domain(random_features.NO_SPIKE.ranges, (), numbers.MATRIX_DOMAIN.interpretations)


def _dictionary(name: str, title: str, left: sp.Symbol, right: sp.Expr) -> Claim:
    return claim(
        f"convex-features.square-loss.{name}", f"Square loss: {title}", Source("slides", FRAME),
        eq(left, right), _BOTH,
        ByDerivation(convex_square_loss.square_loss),
        slides_by_theorems,
        wrong={"twice": 2 * right, "the square": right**2},
        uses=("no-spike.test-error",
              *(f"convex-features.{x}" for x in ("V-s-hat", "V-w-hat", "q-s-hat", "q-w-hat", "m-s-hat"))),
    )


_SQUARE_LOSS = (
    _dictionary("V-s-hat", "the conjugate of q_s is beta V1^ of the system at r = 0", s.V_s_hat, s.beta * s.V1_hat),
    _dictionary("V-w-hat", "the conjugate of q_w is V2^", s.V_w_hat, s.V2_hat),
    _dictionary("q-s-hat", "the conjugate of V_s is beta q1^", s.q_s_hat, s.beta * s.q1_hat),
    _dictionary("q-w-hat", "the conjugate of V_w is q2^", s.q_w_hat, s.q2_hat),
    _dictionary("m-s-hat", "the conjugate of m_s is beta M^", s.m_s_hat, s.beta * s.M_hat),
    _dictionary("V-s", "V_s is V1", s.V_s, s.V1),
    _dictionary("V-w", "V_w is V2", s.V_w, s.V2),
    _dictionary("m-s", "m_s is M", s.m_s, s.M),
    _dictionary("q-s", "q_s is Q1", s.q_s, s.Q1),
    _dictionary("q-w", "q_w is q2", s.q_w, s.q2),
)


# ---- errors, on the solver at r = 0 ----


def _quiet(point: Point) -> Model:
    return model_at({**point, s.r.name: 0.0, s.noise.name: 0.0})


def _errors(point: Point) -> Mapping[str, float] | None:
    """The solver's errors without a spike and without noise."""
    solution = solved(_quiet(point))
    if not solution.converged:
        return None
    model, (size,) = solution.model, solution.order_parameters.q2
    objective = solution.training_error / 2 + model.ridge * size * model.beta / (2 * model.alpha)
    return {s.test_error.name: solution.test_error, s.training_objective.name: objective}


def _slides(point: Point) -> Mapping[str, float]:
    found = slides_at({**point, s.noise.name: 0.0})
    return {**found, s.label_variance.name: 1 - found[s.output_overlap.name] ** 2 / found[s.output_square.name]}


def _square_functions(point: Point) -> Mapping[str, Callable[..., Any]]:
    V = _slides(point)[s.V.name]
    return {
        "g": compile_numpy(_quiet(point).target.expression),
        "eta": lambda y, omega: (omega + V * y) / (1 + V),
        "loss": lambda y, x: (y - x) ** 2 / 2,
    }


_ERROR_DOMAIN = Domain(random_features.NO_SPIKE.ranges, random_features.NO_SPIKE.hypotheses,
                       ({**numbers.CONJUGATE_DOMAIN.interpretations[0], **numbers.MATRIX_DOMAIN.interpretations[0],
                         "loss": lambda y, x: (y - x) ** 2},))
_on_solver = beside("the slides' equations at the square loss, compiled, against the solver at r = 0", _errors, _slides,
                    _square_functions)

TEST_ERROR = claim(
    "convex-features.test-error", "Test error as an average over target and output", Source("slides", FRAME),
    eq(s.test_error, Expectation((target(s.z) - convex_errors.pair_output) ** 2, s.z, s.xi)), _ERROR_DOMAIN,
    ByDerivation(convex_errors.test_error), _on_solver,
    kind=Kind.FIXED_POINT,
    wrong={"half": Expectation((target(s.z) - s.output_overlap * s.z) ** 2, s.z)},
    uses=("no-spike.test-error",),
)

TRAINING = claim(
    "convex-features.training-objective", "Training objective per sample, any convex loss", Source("slides", FRAME),
    eq(s.training_objective, s.ridge / (2 * s.alpha_p) * s.q_w + over_labels(convex_errors.loss(label, prox))),
    _ERROR_DOMAIN,
    ByDerivation(convex_errors.training), _on_solver,
    kind=Kind.FIXED_POINT,
    uses=("convex-features.q-w", "convex-features.q-s", "convex-features.q-s-hat", "convex-features.q-w-hat"),
    note="The penalty beside the sum of the losses is lambda |a|^2/2.",
)

_PRINTED_ERRORS = (
    as_printed(TEST_ERROR, "convex.test-error", "Test error as an average over target and output", FRAME),
    as_printed(TRAINING, "convex.training", "Training objective per sample", FRAME),
)

CLAIMS: tuple[Claim, ...] = (
    TEST_ERROR, TRAINING, *_PRINTED_ERRORS, V_S_HAT, V_W_HAT, Q_S_HAT, Q_W_HAT, M_S_HAT, V_S, M_S, Q_S, V_W, Q_W,
    *_PRINTED, *_SQUARE_LOSS,
)

"""Appendix A.1 to A.3: the split of the gradient step, its spike at finite size, and the limit."""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, sigma_prime
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq, without
from giantsteps.verify.second_route.gradient_step import steps
from giantsteps.verify.second_route.grids import INTERPRETATIONS, ODD, ODD_ENTIRE, TARGETS_ENTIRE

STEP = s.eta / s.beta


_SMALL_NOISY = Domain(ranges=(Range("activation", choices=ODD_ENTIRE), Range("target", choices=TARGETS_ENTIRE),
                              Range("sizes", choices=steps.SIZES_WITH_NOISE), Range(s.noise, 0.1, 1.0)),
                      interpretations=INTERPRETATIONS)

_batches = ByNumbers("v~ of every batch of a Gauss-Hermite product grid", steps.spike_moments, tolerances.QUADRATURE,
                     functions=steps.functions_at)

_noisy_batches = ByNumbers("v~ of every noisy batch of a product grid", steps.spike_moments, tolerances.QUADRATURE,
                           functions=steps.functions_at)

# --- the split (33)-(38) ---------------------------------------------------------------------------------------------

_bulk_entry = s.eta * s.d / (s.n0 * s.p) * s.y * (sigma_prime(s.preactivation) - s.h1) * s.input_coordinate


def _split_entry(point: Point) -> dict[str, float]:
    """A random sample and weight: what is left of the step when u~ v~ is taken off, as numbers."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    batch, inputs, width = 5, 4, 6
    received, label, coordinate = (float(v) for v in generator.standard_normal(3))
    numbers, functions = steps.numbers_at(point), steps.functions_at(point)
    eta = float(point[s.eta.name])
    slope = float(functions["sigma_prime"](received))
    step = eta * inputs / (batch * np.sqrt(width)) / np.sqrt(width) * label * slope * coordinate
    spike_entry = eta * inputs / width * numbers[s.h1.name]
    return {
        **numbers,
        s.bulk_step.name: step - spike_entry * label * coordinate / batch,
        s.n0.name: batch,
        s.d.name: inputs,
        s.p.name: width,
        s.y.name: label,
        s.preactivation.name: received,
        s.input_coordinate.name: coordinate,
        s.beta.name: width / inputs,
        s.spike_factor.name: spike_entry,
    }


_SPLIT = Domain(ranges=(Range("seed"), Range("activation", choices=ODD), Range(s.eta, 0.5, 3.0)),
                interpretations=INTERPRETATIONS)

SPLIT = claim(
    "result-3-1.split", "The step is a rank-one matrix plus the bulk correction", paper("Appendix A.1", 33, 36),
    eq(s.bulk_step, _bulk_entry), _SPLIT,
    ByDerivation(gradient_step.split),
    ByNumbers("the step minus u~ v~, entry by entry", _split_entry, tolerances.ROUNDING, functions=steps.functions_at),
    wrong={
        "sigma - h1, as on the slides": _bulk_entry.replace(sigma_prime, sigma),
        "the mean left in": without(_bulk_entry, s.h1),
        "a factor h1, as on the slides": s.h1 * _bulk_entry,
    },
    uses=("section-2.gradient-step", "section-2.output-is-negligible"),
)

SPIKE_FACTOR = claim(
    "result-3-1.spike-factor", "The neuron's factor of the spike", paper("Appendix A.2", 34, 38),
    eq(s.spike_factor, STEP * s.h1), _SPLIT,
    ByDerivation(gradient_step.split),
    ByNumbers("eta d h1 a0/sqrt(p) at 6 neurons and 4 inputs", _split_entry, tolerances.ROUNDING),
    wrong={"wider is stronger, as on the slides": s.eta * s.beta * s.h1, "h2 for h1": STEP * s.h2},
    uses=("result-3-1.split",),
)

# --- the spike direction (39)-(45) -----------------------------------------------------------------------------------

_g2z2 = Expectation(g(s.z) ** 2 * s.z**2, s.z)

_v_exact = (1 - 1 / s.n0) * s.h1_star**2 + ((s.d - 1) * s.h2_star + _g2z2) / s.n0

V_SQUARE = claim(
    "result-3-1.spike-norm-exact", "E|v~|^2 at finite batch and dimension", paper("Appendix A.2", 39, 40, 41),
    eq(s.v_square_mean, _v_exact), steps.SMALL,
    ByDerivation(gradient_step.moments_of_v),
    _batches,
    wrong={
        "square lost": _v_exact.subs(s.h1_star**2, s.h1_star),
        "d squares instead of d - 1": _v_exact + s.h2_star / s.n0,
        "all pairs of samples different": _v_exact + s.h1_star**2 / s.n0,
    },
)

_noisy = _v_exact + s.noise * s.d / s.n0

V_SQUARE_NOISY = claim(
    "result-3-1.spike-norm-exact-noisy", "E|v~|^2 with label noise",
    paper("Appendix A.2, with label noise, on (39), (40) and (41)"),
    eq(s.v_square_mean, _noisy), _SMALL_NOISY,
    ByDerivation(partial(gradient_step.moments_of_v, s.noise)),
    _noisy_batches,
    wrong={"noise seen along theta only": _v_exact + s.noise / s.n0, "noise not averaged": _v_exact + s.noise},
    uses=("result-3-1.spike-norm-exact",),
)

V_LIMIT = claim(
    "result-3-1.spike-norm", "The limit of |v~|^2", paper("Appendix A.2", 42),
    eq(s.v_square, s.h1_star**2 + s.h2_star / s.alpha0), steps.ABSTRACT,
    ByDerivation(gradient_step.moments_of_v), BySimulation("v~ of random batches, two models", steps.PIECES),
    kind=Kind.LIMIT,
    wrong={
        "square lost, as on the slides": s.h1_star + s.h2_star / s.alpha0,
        "ratio inverted": s.h1_star**2 + s.h2_star * s.alpha0,
    },
    uses=("result-3-1.spike-norm-exact", "result-3-1.spike-concentration"),
)

V_OVERLAP = claim(
    "result-3-1.overlap-mean", "The mean of theta.v~", paper("Appendix A.3", 44),
    eq(s.v_overlap_mean, s.h1_star), steps.SMALL,
    ByDerivation(gradient_step.moments_of_v),
    _batches,
    wrong={"divided by the norm of E v~": sp.S.One},
)

_variance = (_g2z2 - s.h1_star**2) / s.n0

V_OVERLAP_VARIANCE = claim(
    "result-3-1.overlap-variance", "The variance of theta.v~", paper("Appendix A.3, on (44)"),
    eq(s.v_overlap_variance, _variance), steps.SMALL,
    ByDerivation(gradient_step.moments_of_v),
    _batches,
    wrong={"second moment for variance": _g2z2 / s.n0},
    note="It is O(1/d), an obligation of the derivation: theta.v~ concentrates.",
)

V_OVERLAP_VARIANCE_NOISY = claim(
    "result-3-1.overlap-variance-noisy", "The variance of theta.v~ with label noise",
    paper("Appendix A.3, with label noise, on (44)"),
    eq(s.v_overlap_variance, _variance + s.noise / s.n0), _SMALL_NOISY,
    ByDerivation(partial(gradient_step.moments_of_v, s.noise)),
    _noisy_batches,
    wrong={"noise averages out": _variance, "noise along all of x": _variance + s.noise * s.d / s.n0},
    uses=("result-3-1.overlap-variance",),
    note="It is O(1/d), an obligation of the derivation: theta.v~ concentrates.",
)

_g4 = Expectation(g(s.z) ** 4, s.z)


def _chi_variance(second: sp.Expr, fourth: sp.Expr) -> sp.Expr:
    """Var |v~_perp|^2 for labels with these moments."""
    return ((s.d**2 - 1) * (fourth + (s.n0 - 1) * second**2) / s.n0**3
            - (s.d - 1) ** 2 * second**2 / s.n0**2)


_noise_free, _with_noise = (s.h2_star, _g4), (s.h2_star + s.noise, _g4 + 6 * s.noise * s.h2_star + 3 * s.noise**2)

V_CONCENTRATION = claim(
    "result-3-1.spike-concentration", "The variance of |v~|^2 across theta", paper("Appendix A.2, on (39) and (42)"),
    eq(s.v_perp_variance, _chi_variance(*_noise_free)), steps.SMALL,
    ByDerivation(gradient_step.concentration_of_v),
    _batches,
    wrong={
        "d - 1 for d + 1 in the chi-square": _chi_variance(*_noise_free).subs(s.d**2 - 1, (s.d - 1) ** 2),
        "labels of equal size": _chi_variance(s.h2_star, s.h2_star**2),
    },
    note="Its limit at n0 = alpha0 d is zero, with a rate 1/d: both are obligations of the derivation.",
)

V_CONCENTRATION_NOISY = claim(
    "result-3-1.spike-concentration-noisy", "The variance of |v~|^2 across theta with label noise",
    paper("Appendix A.2, with label noise, on (39) and (42)"),
    eq(s.v_perp_variance, _chi_variance(*_with_noise)), _SMALL_NOISY,
    ByDerivation(partial(gradient_step.concentration_of_v, s.noise)),
    _noisy_batches,
    wrong={
        "noise averages out": _chi_variance(*_noise_free),
        "the fourth moment without noise": _chi_variance(s.h2_star + s.noise, _g4),
    },
    uses=("result-3-1.spike-concentration",),
    note="Its limit at n0 = alpha0 d is zero, with a rate 1/d: both are obligations of the derivation.",
)

CLAIMS: tuple[Claim, ...] = (
    SPLIT, SPIKE_FACTOR, V_SQUARE, V_SQUARE_NOISY, V_LIMIT, V_OVERLAP, V_OVERLAP_VARIANCE, V_OVERLAP_VARIANCE_NOISY,
    V_CONCENTRATION, V_CONCENTRATION_NOISY,
)

"""Section 2: the network, its gradient step, its initial output, and the normalisations of the ridge readout."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.free_energy import readout_normalisation
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.sources import ARXIV, paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route import grids
from giantsteps.verify.second_route.gradient_step.steps import PIECES, functions_at

# Equation (3): the gradient. The derivative is taken in the complex plane, f'(w) = Im f(w + ih)/h, exact to rounding.


def _one_gradient_entry(point: Point) -> dict[str, float]:
    """The step of one weight from one sample, by a complex step of size 1e-30 in the loss of a small network."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    neurons, inputs, batch = 3, 4, 5
    w, a = generator.standard_normal((neurons, inputs)), generator.standard_normal(neurons)
    x, y = generator.standard_normal(inputs), float(generator.standard_normal())
    eta = float(point["eta"])

    def loss(entry: complex) -> complex:
        rows = w.astype(complex)
        rows[1, 2] = entry
        return complex((y - a @ np.tanh(rows @ x) / np.sqrt(neurons)) ** 2)

    slope = loss(w[1, 2] + 1e-30j).imag / 1e-30
    output = float(a @ np.tanh(w @ x) / np.sqrt(neurons))
    return {
        s.weight_step.name: -eta * inputs / (2 * batch) * slope,
        s.d.name: inputs,
        s.p.name: neurons,
        s.n0.name: batch,
        s.n.name: 3 * batch,
        s.readout_weight.name: a[1],
        s.y.name: y,
        s.output.name: output,
        s.preactivation.name: float(w[1] @ x),
        s.input_coordinate.name: x[2],
    }


_step = (
    s.eta
    * s.d
    / (s.n0 * sp.sqrt(s.p))
    * s.readout_weight
    * (s.y - s.output)
    * sigma_prime(s.preactivation)
    * s.input_coordinate
)

GRADIENT = claim(
    "section-2.gradient-step", "What one sample adds to a first-layer weight", paper("Section 2", 1, 2, 3),
    eq(s.weight_step, _step), Domain((Range("seed"), Range(s.eta, 0.5, 3.0)), (), grids.INTERPRETATIONS),
    ByDerivation(gradient_step.gradient),
    ByNumbers("complex-step derivative of the squared loss of a network with 3 neurons and 4 inputs",
              _one_gradient_entry, tolerances.ROUNDING, functions=lambda point: grids.interpretation("tanh", "sin")),
    wrong={
        "uphill": -_step,
        "n for n0, as on the slides": _step.xreplace({s.n0: s.n}),
        "sigma for sigma'": _step.replace(sigma_prime, sigma),
        "the 1/2 of the loss forgotten": 2 * _step,
    },
    note="The step of the batch is the sum over its n0 samples; the learning rate of the paper is eta d.",
)


# The initial output: p neurons in the plane, whose angles are summed over an equidistant grid (exact for smooth
# periodic functions), and the modulus of x over its chi law.


@lru_cache(maxsize=64)
def _initial_output(activation: str, neurons: int) -> tuple[float, float]:
    """Averages over x and over the angles of p neurons in the plane: (<f^2>, <f^2 |x|^2>)."""
    angles = 2 * np.pi * (np.arange(128) + 0.5) / 128
    radii, weights = grids.half_line(24)
    weights = weights * radii * np.sqrt(2 * np.pi)  # |x| in the plane has density R exp(-R^2/2)
    single = grids.SMOOTH[activation].value(np.multiply.outer(radii, np.cos(angles)))
    total = single
    for _ in range(neurons - 1):
        total = (total[..., None] + single.reshape(len(radii), *([1] * (total.ndim - 1)), len(angles))).reshape(
            len(radii), -1
        )
    square = np.mean((total / neurons) ** 2, axis=1)
    return float(weights @ square), float(weights @ (square * radii**2))


def _initial_square(point: Point) -> dict[str, float]:
    activation, neurons = str(point["activation"]), int(str(point["neurons"]))
    return {
        **grids.hermite_numbers(activation, "sin"),
        s.initial_output_square.name: _initial_output(activation, neurons)[0],
        s.p.name: neurons,
    }


INITIAL_OUTPUT = claim(
    "section-2.initial-output", "The initial output has mean square h2/p", paper("Section 2, on (3)"),
    eq(s.initial_output_square, s.h2 / s.p),
    Domain(ranges=(Range("activation", choices=grids.ODD), Range("neurons", choices=("1", "2"))),
           interpretations=grids.INTERPRETATIONS),
    ByDerivation(gradient_step.initial_output),
    ByNumbers("1 or 2 neurons in the plane, all their angles on a grid", _initial_square, tolerances.QUADRATURE),
    wrong={
        "readout of ones, as on the slides": s.h2,
        "two powers of the width": s.h2 / s.p**2,
        "a coherent sum": s.h1**2 / s.p,
    },
    note="With a = 1/sqrt(p) the output is O(d^{-1/2}); with a = 1, as printed on the slides, it would be of order "
         "one.",
)


def _force(point: Point) -> dict[str, float]:
    """E|(1/n0) sum f x|^2 for 2 neurons in the plane: equal samples on the grid of angles, different ones from E[f
    x].
    """
    activation, batch = str(point["activation"]), int(str(point["batch"]))
    neurons = 2
    _, same = _initial_output(activation, neurons)
    points, weights = grids.grid(2)
    angles = 2 * np.pi * np.arange(16) / 16
    different = 0.0
    for angle in angles:  # the first neuron along the first axis, the second at every angle
        second = points @ np.array([np.cos(angle), np.sin(angle)])
        f = (grids.SMOOTH[activation].value(points[:, 0]) + grids.SMOOTH[activation].value(second)) / neurons
        different += float(np.sum((weights * f @ points) ** 2)) / len(angles)
    return {
        **grids.hermite_numbers(activation, "sin"),
        s.output_force.name: same / batch + (1 - 1 / batch) * different,
        s.n0.name: batch,
        s.p.name: neurons,
        s.d.name: 2,
    }


_z2_sigma2 = Expectation(s.z**2 * sigma(s.z) ** 2, s.z)
_force_formula = (1 - 1 / s.n0) * s.h1**2 / s.p + ((s.d - 1) * s.h2 + _z2_sigma2) / (s.n0 * s.p)

OUTPUT_FORCE = claim(
    "section-2.output-in-the-step", "The initial output's share of the step, exactly",
    paper("Section 2 and Appendix A.1, on (3) and (33)"),
    eq(s.output_force, _force_formula),
    Domain(ranges=(Range("activation", choices=("sin", "cubic")), Range("batch", choices=("1", "2", "5"))),
           interpretations=grids.INTERPRETATIONS),
    ByDerivation(gradient_step.output_force),
    ByNumbers("2 neurons in the plane, all their angles on a grid", _force, tolerances.QUADRATURE,
              functions=functions_at),
    wrong={
        "the mean force dropped": _force_formula - (1 - 1 / s.n0) * s.h1**2 / s.p,
        "all n0^2 pairs different": _force_formula + s.h1**2 / (s.n0 * s.p),
        "d squares instead of d - 1": _force_formula + s.h2 / (s.n0 * s.p),
    },
    uses=("section-2.initial-output",),
    note="At fixed ratios it vanishes like 1/d, an obligation of the derivation: the residual of the step may be "
         "taken to be y.",
)

OUTPUT_VANISHES = claim(
    "section-2.output-is-negligible", "The initial output drops out of the step",
    paper("Section 2 and Appendix A.1, on (3) and (33)"),
    eq(s.output_force_rate, (s.h1**2 + s.h2 / s.alpha0) / s.beta), Domain(interpretations=grids.INTERPRETATIONS),
    ByDerivation(gradient_step.output_force), BySimulation("random first layers and batches, two models", PIECES),
    kind=Kind.LIMIT,
    wrong={"it does not vanish": s.d * s.h1**2, "only the mean force": s.h1**2 / s.beta},
    uses=("section-2.output-in-the-step",),
    note="d times the mean square of the output's share has a finite limit, so the share vanishes like d^{-1/2}.",
)


# Equation (4): the ridge readout in three normalisations.


@lru_cache(maxsize=64)
def _readouts(seed: float, size: int) -> dict[str, float]:
    """Minimise the slides' objective by a generic least-squares solver and read off the penalty that gives the
    same fit.
    """
    generator = np.random.default_rng(int(1e6 * seed))
    samples, neurons, slides = 7, size, 0.3 + seed
    features, labels = generator.standard_normal((samples, neurons)), generator.standard_normal(samples)
    # min (1/2n)|y - phi a|^2 + lambda |a|^2 as a plain least-squares problem with stacked rows
    stacked = np.vstack([features / np.sqrt(2 * samples), np.sqrt(slides) * np.eye(neurons)])
    target = np.concatenate([labels / np.sqrt(2 * samples), np.zeros(neurons)])
    a = np.linalg.lstsq(stacked, target, rcond=None)[0]
    # The readout of equation (4) with the same predictions is sqrt(p) a; stationarity gives its penalty by projection.
    scaled = np.sqrt(neurons) * a
    pull = features.T @ (labels - features @ a) / np.sqrt(neurons)
    penalty = float(pull @ scaled / (scaled @ scaled))
    return {
        s.ridge.name: penalty,
        s_free.slides_ridge.name: slides,
        s.n.name: samples,
        s.p.name: neurons,
        s.alpha.name: samples / 2,
        s.beta.name: neurons / 2,
    }


SLIDES_RIDGE = claim(
    "section-2.ridge-of-the-slides", "The slides' penalty in the normalisation of equation (4)",
    Source("slides and " + ARXIV, "Section 2, on (4)"),
    eq(s.ridge, 2 * s_free.slides_ridge * s.n / s.p),
    Domain(ranges=(Range("seed"), Range("neurons", choices=("2", "3", "5", "11")))),
    ByDerivation(readout_normalisation.slides_penalty),
    ByNumbers("least squares with stacked rows in the slides' normalisation, 7 samples",
              lambda point: _readouts(float(point["seed"]), int(str(point["neurons"]))), tolerances.ROUNDING),
    wrong={
        "taken for equal": s_free.slides_ridge,
        "the 2 forgotten": s_free.slides_ridge * s.n / s.p,
        "samples and width exchanged": 2 * s_free.slides_ridge * s.p / s.n,
    },
)

SLIDES_RIDGE_RATIO = claim(
    "section-2.ridge-of-the-slides-in-ratios", "The slides' penalty at fixed ratios",
    Source("slides and " + ARXIV, "Section 2, on (4)"),
    eq(s.ridge, 2 * s_free.slides_ridge * s.alpha / s.beta), SLIDES_RIDGE.domain,
    ByDerivation(readout_normalisation.slides_penalty_in_ratios),
    ByNumbers("least squares with stacked rows in the slides' normalisation, 7 samples",
              lambda point: _readouts(float(point["seed"]), int(str(point["neurons"]))), tolerances.ROUNDING),
    wrong={"taken for equal": s_free.slides_ridge, "ratio inverted": 2 * s_free.slides_ridge * s.beta / s.alpha},
    uses=("section-2.ridge-of-the-slides",),
)


def _normal_equation(point: Point) -> dict[str, float]:
    """A two-feature, three-sample readout found by least squares, and the entries of its normal equation."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    features, labels, penalty = (
        generator.standard_normal((3, 2)),
        generator.standard_normal(3),
        0.2 + float(point["seed"]),
    )
    stacked = np.vstack([features / np.sqrt(2), np.sqrt(penalty) * np.eye(2)])
    a = np.linalg.lstsq(stacked, np.concatenate([labels, np.zeros(2)]), rcond=None)[0]
    gram = features.T @ features
    return {
        s.readout_weight.name: a[0],
        s_free.readout_other.name: a[1],
        s_free.gram_own.name: gram[0, 0],
        s_free.gram_cross.name: gram[0, 1],
        s_free.label_overlap.name: float(features[:, 0] @ labels),
        s.ridge.name: penalty,
        s.p.name: 2,
    }


_left = s_free.label_overlap / sp.sqrt(s.p) - s_free.gram_cross / s.p * s_free.readout_other
_normal = _left / (s.ridge + s_free.gram_own / s.p)

NORMAL_EQUATION = claim(
    "section-2.normal-equation", "The ridge readout solves (Phi^T Phi/p + lambda) a = Phi^T y/sqrt(p)",
    paper("Section 2", 4),
    eq(s.readout_weight, _normal), Domain(ranges=(Range("seed"),)),
    ByDerivation(readout_normalisation.normal_equation),
    ByNumbers("least squares with stacked rows, 2 neurons and 3 samples", _normal_equation, tolerances.ROUNDING),
    wrong={
        "no 1/p in the Gram matrix": _normal.xreplace({s_free.gram_own: s.p * s_free.gram_own}),
        "ridge counted twice": _normal.xreplace({s.ridge: 2 * s.ridge}),
    },
    note="One row of the normal equation, solved for its weight; a common factor 1/2 of loss and penalty would change "
         "nothing.",
)

CLAIMS: tuple[Claim, ...] = (
    GRADIENT, INITIAL_OUTPUT, OUTPUT_FORCE, OUTPUT_VANISHES, NORMAL_EQUATION, SLIDES_RIDGE, SLIDES_RIDGE_RATIO,
)

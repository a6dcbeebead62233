"""Numbers for the claims on networks with any activation: averages, the second route's and the solver's."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_law import BulkLaw, network_law
from giantsteps.numerics.bulk.resolvent import blocks, forms
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.any_activation import readout
from giantsteps.verify.second_route.any_activation.rows import CURVES, Block, Rows, Slope, Z, equivalent, mean, rows
from giantsteps.verify.second_route.grids import grid
from giantsteps.verify.second_route.models import solved
from giantsteps.verify.second_route.networks import numbers as networks
from giantsteps.verify.second_route.networks.formulas import Step
from giantsteps.verify.second_route.networks.numbers import by_solver, network_values, step_at
from giantsteps.verify.second_route.values import by_glyph

# The same functions for the solver, as text.
TEXTS = {
    "relu": "relu(z)",
    "gelu": "gelu(z)",
    "softplus": "softplus(z)",
    "tanh": "tanh(z)",
    "sin": "sin(z)",
    "shifted tanh": "tanh(z + 7/10)",
    "shifted sin": "sin(z + 7/10)",
    "leaning tanh": "tanh(z) + (z**2 - 1)/5",
    "quadratic": "3/10 + z + z**2/2",
}


def function(name: str) -> Activation:
    """The solver's form of a curve."""
    return activation(TEXTS[name])


def functions_of(step: Step) -> Functions:
    """Implementations of sigma and g."""
    return {"sigma": CURVES[step.student].value, "g": CURVES[step.target].value}


@lru_cache(maxsize=64)
def averages(step: Step) -> dict[str, float]:
    """The averages over label and activation by the verifier's sums; keys are glyphs."""
    slope, law = Slope(step.student), rows(step)
    at = law.samples
    h0, h1, h2 = slope.h
    found: dict[sp.Symbol, float] = {
        s.mean_output: h0,
        s.h1: h1,
        s.h2: mean(CURVES[step.student].value(Z) ** 2),
        s.curvature: h2,
        s.eta: step.rate * step.beta,
        s.alpha0: step.alpha0,
        s.beta: step.beta,
        s.turn: law.nu,
        s.row_weight: law.omega,
        **{symbol: slope.average(*powers) for powers, symbol in s.slope_moment.items()},
        **{symbol: float(at.mean(at.y**k)) for k, symbol in enumerate(s.label_moment)},
        **{symbol: float(at.mean(at.u * at.y**k)) for k, symbol in enumerate(s.label_slope)},
        **{symbol: float(at.mean(at.u**2 * at.y**k)) for k, symbol in enumerate(s.label_curve)},
    }
    found[s.h1_check] = found[s.slope_moment[0, 2]] + h2**2
    return by_glyph(found)


def law_of(step: Step) -> BulkLaw:
    """The solver's law of the rows."""
    eta = step.rate * step.beta
    return network_law(function(step.student), function(step.target), step.alpha0, eta, step.beta, step.noise)


def solver_law(point: Point) -> dict[str, float]:
    """Spike, alignment, bulk and the law of the rows by the solver's averages and its forms at g = 0."""
    step = step_at(point)
    law = law_of(step)
    model = Model.from_gradient_step(
        function(step.student), function(step.target), alpha=1.0, beta=step.beta, ridge=1.0, alpha0=step.alpha0,
        eta=step.rate * step.beta, bulk_model="isotropic",
    )  # fmt: skip
    over = law.labels.over(0.0, 0.0)[:, 0]
    found = forms(law, 0.0, blocks(law, 0.0, float(over[0]), float(over[1])), over)
    first = np.asarray(law.labels.first)
    added, pulled = (np.array([first @ f, *f]) for f in (law.added, law.pulled))
    on_h = found.resolvent @ added + found.bridge @ pulled
    v = np.array([law.direction[0], law.direction[1], 0.0, 0.0])
    return averages(step) | {
        s.r.name: model.spike,
        s.gamma.name: model.alignment,
        s.c.name: model.bulk,
        s.row_form.name: float(found.filled[0, 0]),
        s.norm_overlap.name: float(on_h[0]),
        s.norm_spike_overlap.name: float(v @ on_h) / law.direction[1],
        s.norm_variance.name: law.norm_variance,
    }


def block_values(step: Step, gain: float) -> dict[str, float]:
    """The blocks of the resolvent at a gain by the verifier's iteration; keys are glyphs."""
    law = rows(step)
    G = Block(law, gain).G.real
    root = math.sqrt(gain)
    a, b, k = float(G[0, 0]), float(G[0, 1]) / root, float(G[1, 1])
    linear = 2 * gain * law.nu * b / step.alpha0
    square = gain / step.alpha0 * (law.omega * a + law.nu**2 / step.alpha0 * (a * k + gain * b * b))
    found = {
        s.gain: gain, s.row_trace: a, s.bridge_trace: b, s.rest_trace: k, s.place_linear: linear,
        s.place_square: square,
    }  # fmt: skip
    return averages(step) | by_glyph(found)


def solver_blocks(point: Point) -> dict[str, float]:
    """The blocks where the solver finds them; the places b1 and b2 of the averages on the right are its own, too."""
    step = step_at(point)
    law, C, shift = law_of(step), float(point[s.V1_hat.name]), float(point["shift"])
    network = NetworkBulk(shift, step.beta, law)
    at = network.at(np.array([C, 0.0]))
    x, b1, b2 = (float(q) for q in at.solution)
    over = law.labels.over(b1, b2)[:, 0]
    found = blocks(law, C * x, float(over[0]), float(over[1]))
    form = forms(law, C * x, found, over)
    values = {
        s.gain: C * x, s.row_trace: found.trace, s.bridge_trace: found.bridge, s.rest_trace: found.rest,
        s.place_linear: b1, s.place_square: b2, s.target_form: form.resolvent[0, 0],
        s.target_bridge: form.bridge[0, 0],
    }  # fmt: skip
    return averages(step) | by_glyph(values)


def point_functions(point: Point) -> Functions:
    """Implementations of sigma and g at a point."""
    return functions_of(step_at(point))


@lru_cache(maxsize=256)
def equivalent_values(step: Step, conjugate: float, shift: float) -> dict[str, float]:
    """What the claims on V2, V1 and K need, by the verifier's iteration; keys are glyphs."""
    law = rows(step)
    return _resolvent_values(law, conjugate, shift, equivalent(law, conjugate, shift).tau)


def _resolvent_values(law: Rows, conjugate: float, shift: float, tau: float) -> dict[str, float]:
    gain = conjugate * law.step.beta * tau
    block = Block(law, gain)
    H = block.forms().forms.real
    found = {
        s.V2: tau, s.V1: (1 - shift * tau) / conjugate, s.gain: gain, s.row_trace: float(block.G[0, 0].real),
        s.norm_variance: law.variance, s.row_vv: H[0, 0], s.row_vp: H[0, 1], s.row_pp: H[1, 1], s.row_vh: H[0, 2],
        s.row_ph: H[1, 2], s.row_hh: H[2, 2], s.V1_hat: conjugate, s.V2_hat: 0.4 * shift, s.ridge: 0.6 * shift,
        s.alpha0: law.step.alpha0, s.beta: law.step.beta,
    }  # fmt: skip
    return by_glyph(found)


def solver_bulk(point: Point) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent, the right-hand sides by the verifier's iteration."""
    step = step_at(point)
    conjugate, shift = float(point[s.V1_hat.name]), float(point["shift"])
    return equivalent_values(step, conjugate, shift) | by_solver(law_of(step), step.beta, conjugate, shift)


# --- exact averages over small batches -------------------------------------------------------------------------------

SMALL = {"two samples in two dimensions": (2, 2), "one in three": (1, 3), "one in four": (1, 4)}


def small_batch(point: Point) -> dict[str, float]:
    """|w_Y|^2 and |b|^2 for a row across the target, averaged over all inputs of a small batch by a product rule."""
    n0, d = SMALL[str(point["batch"])]
    step = step_at(point)
    h0, h1, _ = Slope(step.student).h
    places, weights = grid(n0 * d)
    x = places.reshape(-1, n0, d)
    y = CURVES[step.target].value(x[:, :, 0]) - h0
    slope = CURVES[step.student].prime(x[:, :, 1]) - h1
    batch = np.einsum("am,ami->ai", y, x) / n0
    row = np.eye(d)[1] + step.rate / n0 * np.einsum("am,ami->ai", y * slope, x)
    return averages(step) | {
        s.n0.name: n0,
        s.d.name: d,
        s.batch_norm.name: float(weights @ np.sum(batch**2, axis=1)),
        s.row_norm.name: float(weights @ np.sum(row**2, axis=1)),
    }


# --- readouts --------------------------------------------------------------------------------------------------------

model_at = partial(networks.model_at, read=function)
solved_functions = partial(networks.solved_functions, read=function)


def solved_network(point: Point) -> dict[str, float] | None:
    """The solver's errors and m beside the order parameters of the second route; None where that did not rest."""
    try:
        found = readout.solve(step_at(point), float(point[s.alpha.name]), float(point[s.ridge.name]))
    except ArithmeticError:
        return None
    solution = solved(model_at(point))
    if not solution.converged:
        return None
    order = {
        s.zeta: found.zeta, s.psi: found.psi, s.chi: found.chi, s.q1: found.q1, s.q2: found.q2, s.V1: found.T,
        s.V2: found.tau,
    }  # fmt: skip
    values = network_values(solution) | by_glyph(order)
    return values | {s.noise.name: 0.0}

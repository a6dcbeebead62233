"""The solver's laws of the rows, equivalents and saddle points of networks with a bulk of their own, at the points of
claims, and beside them the theorems'.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.overlapping_bulk import target_form
from giantsteps.numerics.bulk.equivalent import IsotropicGroups, pack, unpack
from giantsteps.numerics.bulk.network import NetworkBulk, signal_vectors
from giantsteps.numerics.bulk.network_groups import NetworkGroups
from giantsteps.numerics.bulk.network_law import BulkLaw, groups_law, network_law, step_laws
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.bulk.resolvent import Forms, Frame, blocks, forms
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import ByTheorem, Point
from giantsteps.verify.compiled import network as compiled
from giantsteps.verify.second_route.any_activation import letters
from giantsteps.verify.second_route.equivalence.twins import Limits, Setting
from giantsteps.verify.second_route.gradient_step.real import BULK_COLUMNS
from giantsteps.verify.second_route.grids import LINE, WEIGHT, distance_from_span, hermite_numbers
from giantsteps.verify.second_route.models import functions_of
from giantsteps.verify.second_route.networks import overlapping_bulk, overlapping_draws
from giantsteps.verify.second_route.networks.step import Step, conjugates_at, step_at
from giantsteps.verify.second_route.values import LETTERS, by_glyph, by_letter, by_pair, symmetric_at, value
from giantsteps.verify.solver.models import beside, numbers, solved


def law_of(step: Step) -> BulkLaw:
    """The solver's law of the rows."""
    made = step.compiled
    return network_law(made.activation, made.target, made.alpha0, made.eta, made.beta, made.noise)


def solver_bulk(point: Point) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent."""
    step = step_at(point)
    return by_solver(law_of(step), step.beta, *conjugates_at(point))


def by_solver(law: BulkLaw, beta: float, conjugate: float, shift: float) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent of a law of rows; keys are glyphs."""
    at = NetworkBulk(shift, beta, law).at(np.array([conjugate, 0.0]))
    (V1, V2), K = at.values, at.overlap
    entries = (V2, V1, *(K[i, j] for i, j in ((0, 0), (0, 2), (2, 2), (0, 1), (1, 2), (1, 1))))
    return by_glyph(dict(zip(BULK_COLUMNS, entries, strict=True)))


def network_values(solution: Solution) -> dict[str, float]:
    """A network's solution as values of the symbols of the theory, with the isotropic predictions beside it."""
    model = solution.model
    plain = solved(Model(model.activation, model.target, alpha=model.alpha, beta=model.beta, ridge=model.ridge,
                         noise=model.noise, spike=model.spike, bulk=model.bulk, alignment=model.alignment))  # fmt: skip
    return numbers(solution) | {
        s.chi.name: float(solution.order_parameters.chi[0]),
        s.error_isotropic.name: plain.test_error,
        s.training_isotropic.name: plain.training_error,
        s.m_isotropic.name: float(plain.order_parameters.m[0]),
    }


def model_at(point: Point) -> Model:
    """The network of a point, as a model."""
    made = step_at(point).compiled
    return Network(
        made.activation, made.target, alpha=float(point[s.alpha.name]), beta=made.beta,
        ridge=float(point[s.ridge.name]), alpha0=made.alpha0, eta=made.eta, noise=made.noise,
    ).model("network")  # fmt: skip


def solved_network(point: Point) -> dict[str, float] | None:
    """Order parameters and errors of the network of a point; None where the solver did not converge."""
    solution = solved(model_at(point))
    return network_values(solution) if solution.converged else None


@lru_cache(maxsize=64)
def _by_theorems(model: Model) -> Mapping[str, float]:
    return compiled.solved(model)[0].values


def computed_functions(point: Point) -> Functions:
    """The functions along the spike of a point's network, by the law of its rows, and its target."""
    return functions_of(model_at(point), compiled.functions_of)


def of_networks(what: str) -> ByTheorem:
    """The theorems on a network's readout, computed, beside the solver."""
    title = f"{what}, compiled, against the solver"
    return beside(title, solved_network, lambda point: _by_theorems(model_at(point)), computed_functions)


def floor_numbers(point: Point) -> dict[str, float] | None:
    """The test error of a network with many samples and neurons, and the distance of y0 from the three functions."""
    solution = solved(model_at(point))
    if not solution.converged:
        return None
    at = {name: functions_of(solution.model)[name](LINE) for name in ("mu0", "mu1", "k2", "y0")}
    distance = distance_from_span((at["mu0"], LINE * at["mu1"], at["k2"]), at["y0"])
    return {s.test_error.name: solution.test_error, s.distance_third.name: distance}


def solved_large_batch(point: Point) -> dict[str, float] | None:
    """Order parameters of the network of a point, with the Hermite numbers beside them."""
    found = solved_network(point)
    if found is None:
        return None
    eta = float(point["rate"]) * float(point[s.beta.name])
    return found | hermite_numbers(str(point["activation"]), str(point["target"])) | {s.eta.name: eta}


# ---- twins ----


def learned(solution: Solution) -> tuple[float, float]:
    """E[f u] and E[f (u^3 - 3 u)]/6 of a model without the third function, u = gamma kappa + sqrt(1 - gamma^2) z.

    f = yhat(kappa) + mu1(kappa) psi z: averages over both on a grid, from what f is.
    """
    functions, order, gamma = functions_of(solution.model), solution.order_parameters, solution.model.alignment
    line, weight = LINE[::4], 4.0 * WEIGHT[::4]
    mu1 = functions["mu1"](line)
    yhat = functions["mu0"](line) * order.m[0] + line * mu1 * order.zeta[0]
    f = yhat[:, None] + np.outer(mu1 * order.psi[0], line)
    u = gamma * line[:, None] + math.sqrt(1.0 - gamma**2) * line
    return float(weight @ (f * u) @ weight), float(weight @ (f * (u**3 - 3 * u)) @ weight) / 6


@lru_cache(maxsize=64)
def limits(setting: Setting, d: int) -> Limits:
    """The twin's limits, and all that statements on the network need, at the ratios that sizes have."""
    own, even = (solved(setting.at(d).model(law)) for law in ("network", "isotropic"))
    twin = np.array([even.test_error, even.training_error, even.order_parameters.m[0], *learned(even)])
    values = network_values(own) | {s.cubic_isotropic.name: float(twin[-1])}
    return twin, values, functions_of(own.model)


# ---- any activation ----


TARGET = np.array([1.0, 0.0, 0.0, 0.0])


def _forms(rows: BulkLaw, gain: float, over: NDArray[np.float64], vectors: NDArray[np.float64]) -> Forms:
    """The forms of some vectors on (theta, n_1, n_2, n_3) from averages over labels."""
    frame = Frame.of(vectors)
    return forms(rows, gain, frame, (frame.sums @ over).tolist())


def solver_blocks(point: Point) -> dict[str, float]:
    """The blocks where the solver finds them."""
    step = step_at(point)
    rows, (C, shift) = law_of(step), conjugates_at(point)
    x, b1, b2 = (float(q) for q in NetworkBulk(shift, step.beta, rows).at(np.array([C, 0.0])).solution)
    over = rows.labels.over(b1, b2)[:, 0]
    found = blocks(rows, C * x, float(over[0]), float(over[1]))
    form = _forms(rows, C * x, over, np.array([TARGET, TARGET]))
    return by_glyph({
        s.gain: C * x, s.row_trace: found.trace, s.bridge_trace: found.bridge, s.rest_trace: found.rest,
        s.place_linear: b1, s.place_square: b2, s.target_form: form.resolvent(0, 0),
        s.target_bridge: form.bridge(0),
    })  # fmt: skip


def any_law(point: Point) -> dict[str, float]:
    """Spike, alignment, bulk and the law of the rows by the solver's averages and its forms at g = 0."""
    step = step_at(point)
    rows, model = law_of(step), model_at({**point, s.alpha.name: 1.0, s.ridge.name: 1.0})
    v, _, *of_h = signal_vectors(rows)
    found = _forms(rows, 0.0, rows.labels.over(0.0, 0.0)[:, 0], np.array([TARGET, v, *of_h]))
    on_target, on_v = (found.resolvent(k, 2) + found.bridge(k) for k in (0, 1))
    return {
        s.r.name: model.spike,
        s.gamma.name: model.alignment,
        s.c.name: model.bulk,
        s.row_form.name: float(found.filled(0, 0)),
        s.norm_overlap.name: float(on_target),
        s.norm_spike_overlap.name: float(on_v) / rows.direction[1],
        s.norm_variance.name: rows.norm_variance,
    }


def odd_law(point: Point) -> dict[str, float]:
    """The same, for Gaussian initial rows too."""
    step, found = step_at(point), any_law(point)
    made = step.compiled
    gaussian = network_law(made.activation, made.target, made.alpha0, made.eta, made.beta, 0.0, gaussian_rows=True)
    along, norm = gaussian.independent[0], gaussian.independent[2]
    return found | {
        s.norm_variance_gaussian.name: found[s.norm_variance.name] + norm**2,
        s.spike_overlap_gaussian.name: found[s.norm_spike_overlap.name] + along * norm / law_of(step).direction[1],
    }


def any_letters(point: Point) -> dict[str, float]:
    """T and tau of two letters by the solver, the matrix of the rows by the iteration."""
    pair = letters.pair_at(point)
    step, made = pair.step, pair.step.compiled
    groups = tuple(ReadoutGroup(*group) for group in zip(pair.letters, pair.fractions, strict=True))
    model = Network(
        made.activation, made.target, alpha=1.0, beta=step.beta, ridge=1.0, alpha0=step.alpha0, eta=made.eta,
        readout=groups,
    ).model("network")  # fmt: skip
    network = NetworkGroups(pair.ridge, step.beta, groups_law(step_laws(model), model.fractions))
    at = network.at(pack(pair.C, np.array(pair.diagonal)))
    T, tau = unpack(at.values)
    _, whole, scale = network.forms(pair.C[None], at.tau[None], at.gamma, at.d_gamma[:1])
    along = (scale[0, :, None] * whole[0, 0, 0, :2, :2] * scale[0]).real
    found = by_letter({s.V2_of: tau}) | by_pair({s.V1_of: T, s.target_forms_of: along})
    return letters.values_of(pair) | by_glyph(found)


# ---- overlapping rows ----


def _network_of(start: Step) -> Network:
    made = start.compiled
    return Network(
        made.activation, made.target, alpha=1.0, beta=start.beta, ridge=0.1, alpha0=start.alpha0, eta=made.eta,
        noise=start.noise, overlap=start.overlap,
    )  # fmt: skip


def overlapping_map(point: Point) -> dict[str, float]:
    """r, c and gamma by the solver's map; the right-hand sides by the verifier's own functions."""
    start = step_at(point)
    found = stepped(_network_of(start))
    measured = {s.r.name: found.spike, s.c.name: found.bulk, s.gamma.name: found.alignment}
    return overlapping_draws.values_of(start, start.alpha0, start.beta) | measured


def turned_rows(point: Point) -> dict[str, float]:
    """The solver's G and theta.(1 + g B)^-1 theta at some (C, D); averages of W' at that G on the verifier's grid."""
    start = overlapping_bulk.start_at(point)
    equivalent = TurnedEquivalent(0.1, start.beta, turned_bulk(_network_of(start)))
    at = equivalent.blocks(np.array([0.8, 0.4]))
    gain, a, b, c = map(float, at)
    _, averages = overlapping_bulk.averages(start, gain, start.alpha0, np.array([[a, b], [b, c]]))
    found = {s.gain.name: gain, s.row_trace.name: a, target_form.name: float(equivalent.forms(at)[0, 0])}
    return overlapping_bulk.values_of(start, start.alpha0) | averages | found


# ---- letters over isotropic rows ----


def block_values(point: Point) -> dict[str, float]:
    """The equivalent of Appendix D for two letters at random conjugates."""
    C = symmetric_at(point, s.V1_hat_of)
    bulks, D = (np.array([value(point, x) for x in of]) for of in (s.c_of, s.V2_hat_of))
    share, beta = value(point, s.fraction[0]), value(point, s.beta)
    equivalent = IsotropicGroups(value(point, s.ridge), beta, bulks, np.array([share, 1 - share]))
    overlap, tau = unpack(equivalent.at(pack(C, D)).values)
    M = C @ np.linalg.inv(np.eye(2) + np.diag(beta * bulks * tau) @ C)
    return by_glyph({s.fraction[1]: 1 - share} | by_letter({s.V2_of: tau}) | by_pair({s.V1_of: overlap, s.mixed: M}))


def one_letter(point: Point) -> dict[str, float]:
    """Two groups that do not differ, in that equivalent: the sum of its blocks and of its traces."""
    same = {x.name: value(point, s.c) for x in s.c_of}
    same |= {s.V1_hat_of[a][b].name: value(point, s.V1_hat) for a in LETTERS for b in LETTERS}
    same |= {x.name: value(point, s.V2_hat) for x in s.V2_hat_of}
    found = block_values({**point, **same})
    total = found[s.V1_of[0][0].name] + 2 * found[s.V1_of[0][1].name] + found[s.V1_of[1][1].name]
    return {s.V1.name: total, s.V2.name: sum(found[x.name] for x in s.V2_of)}

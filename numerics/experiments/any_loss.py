"""Finite-size experiments with another loss, or with a bias that is learned along with the readout.

As `numerics.experiments.ridge`, on the same draws, with the readout of `numerics.experiments.convex_readout`.
Measured are

    test_error, training_error  the loss per sample on new labels (noise included) and on the training set; for the
                        square loss the mean squared error, on the noiseless target, and the mean squared residual
    mean_squared_error  on the noiseless target, and for targets in {-1, 1}
    classification_error  the share of test samples with sign f(x) != g
    energy              (sum of losses + (ridge/2) |a|^2)/p at its minimum
    bias                where it is learned: the bias, the same for all neurons, at which the minimum over readouts is
                        least on this training set, searched on a grid and refined in every dip
    energy_gap          where basins are given: how much lower the least energy is at home than in the other basin, or
                        in each of several, energy_gap[0], ...; negative: this training set prefers another basin
    m, zeta, psi, q1, q2   as in `numerics.experiments.ridge`

Labels of margin losses are the sign of the target plus noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from giantsteps.numerics.bounds.learned_bias import Basins, learned_bias, scan_reach, with_bias
from giantsteps.numerics.experiments import convex_readout, readout
from giantsteps.numerics.experiments.bias_search import Fitted, best_bias
from giantsteps.numerics.experiments.ensembles import Array, FeatureMap, Sizes, block_rows
from giantsteps.numerics.experiments.measure import Row, fresh_outputs, order_parameters
from giantsteps.numerics.experiments.ridge import Job, Prediction, draw, natural_scales, predicted, samples_of
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.gradient_step import INSTEAD
from giantsteps.numerics.models.losses import SQUARE, ClippedLoss, Loss
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex
from giantsteps.numerics.saddle_point.any_loss.sample_averages import has_signs
from giantsteps.numerics.saddle_point.ridge import solve as solve_ridge

# The bias is refined to this share of the scan, far below what it scatters between training sets (d^-1/2 or so).
_BIAS_TOLERANCE = 1e-5
# In another basin only the energy is asked for, which is stationary there: this is 1e-5 of what it varies by.
_ENERGY_TOLERANCE = 1e-3

# Energies of the theory closer than this share are mirror images: their biases are known to the root of rounding.
_ROUNDING = 1e-10

_WHOLE_LINE = (-np.inf, np.inf)


def check_learned(features: Model | Network, kind: str) -> None:
    """A bias is learned at a positive ridge, and searched on the scale of the arguments of sigma: raises
    SimulationError where either is missing, and for the equivalent map.
    """
    if kind == "equivalent":
        raise SimulationError("a learned bias is simulated for kinds srf and network, not for the equivalent map")
    if features.ridge == 0.0:
        raise SimulationError("a learned bias needs a positive ridge, for example ridge = 1e-3")
    if isinstance(features, Network):
        try:
            features.model("isotropic")
        except ModelError as error:
            reason = str(error).removesuffix(f"; {INSTEAD}")
            raise SimulationError(
                "a learned bias requires the network's spiked random features, which do not exist here: "
                f"{reason}; give biases, for example 0.3:1, or use another activation, for example tanh(z)"
            ) from None


def predict_loss(model: Model, *, learned: bool, basins: Basins | None, sizes: Sizes | None) -> Prediction:
    """The theory beside `experiment`, as `numerics.experiments.simulate.predict`."""
    if not learned:
        return _predicted(model, None, sizes)
    found = learned_bias(model)
    if basins is None:
        own = _predicted(found.model, found.bias, sizes)
        return replace(own, converged=own.converged and not found.at_edge)
    homes = [found.lowest_in(interval) for interval in (basins.home, *basins.others)]
    biases = [minimum.bias for minimum in homes if minimum is not None]
    missing = found.at_edge or len(biases) < len(homes)
    own, *others = (_predicted(with_bias(model, bias), bias, sizes) for bias in biases or [found.bias])
    names = gap_names(len(basins.others))
    gaps = {name: _gap(other, own) for name, other in zip(names, others, strict=False)}
    converged = not missing and own.converged and all(other.converged for other in others)
    return Prediction(own.values | gaps, own.scales | dict.fromkeys(gaps, own.scales["energy"]), converged)


def _gap(other: Prediction, own: Prediction) -> float:
    """How far one energy is above another; mirror images, equal up to rounding, are zero apart."""
    gap = other.values["energy"] - own.values["energy"]
    return gap if abs(gap) > _ROUNDING * own.values["energy"] else 0.0


def _predicted(model: Model, learned: float | None, sizes: Sizes | None) -> Prediction:
    """The prediction for a model whose bias, if it was learned, is given beside it."""
    bias = {} if learned is None else {"bias": learned}
    if model.loss == SQUARE:
        solution = solve_ridge(model)
        found_at = solution if sizes is None else solution.at_width(sizes.p)
    else:
        solution = found_at = solve_convex(model, width=None if sizes is None else sizes.p)
    order, width = found_at.order_parameters, np.inf if sizes is None else sizes.p
    values = predicted(found_at)
    if model.loss == SQUARE and learned is None:
        return Prediction(values, natural_scales(solution), solution.converged)
    energy = found_at.energy
    if energy is None:
        norm = float(np.sum(order.q2 + order.m**2 / (width * np.array(model.fractions))))
        energy = 0.5 * (model.alpha / model.beta * found_at.training_error + model.ridge * norm)
    beside = {"mean_squared_error": found_at.mean_squared_error, "classification_error": found_at.classification_error}
    values |= {name: value for name, value in beside.items() if value is not None} | {"energy": energy} | bias
    return Prediction(values, _scales(model, values, solution), solution.converged)


def _scales(model: Model, values: dict[str, float], solution: Solution) -> dict[str, float]:
    scales = natural_scales(solution)
    scales |= {name: abs(value) for name, value in values.items() if name not in scales}
    if "bias" in values:
        # A bias is an argument of the activation: its natural scale is that argument's standard deviation.
        scales |= {"bias": scan_reach(with_bias(model, -values["bias"])) / 4.0}
    return scales


def experiment(task: Job) -> tuple[Row]:
    """One seed: draw the map, fit the readout (and the bias), measure."""
    sizes, loss, model = task.sizes, task.model.loss, task.model
    weights, batch, inputs, noise, test = task.streams
    drawn = draw(task, weights, batch)
    target = compile_numpy(model.target.expression)
    x = task.inputs.draw(inputs, sizes.n, sizes.d)
    place = x @ drawn.theta
    y = np.asarray(target(place)) + np.sqrt(model.noise) * noise.standard_normal(sizes.n)
    y = y if isinstance(loss, ClippedLoss) else np.sign(y)
    row: dict[str, float] = {}
    if task.learned:
        sigma, own = compile_numpy(model.activation.expression), np.repeat(np.array(model.biases), sizes.groups)
        matrix, h = drawn.weights, x @ drawn.weights.T + own

        @cache
        def fit_at(b: float) -> Fitted:
            return _fit(np.asarray(sigma(h + b)), y, loss, model.ridge)

        home = _WHOLE_LINE if task.basins is None else task.basins.home
        reach = scan_reach(model.model("isotropic") if isinstance(model, Network) else model)
        bias, fitted = best_bias(fit_at, reach, home, _BIAS_TOLERANCE)
        others = () if task.basins is None else task.basins.others
        for name, other in zip(gap_names(len(others)), others, strict=True):
            row[name] = best_bias(fit_at, reach, other, _ENERGY_TOLERANCE)[1].energy - fitted.energy
        drawn = replace(drawn, features=lambda new: np.asarray(sigma(new @ matrix.T + (own + bias))))
        row["bias"] = bias
    else:
        fitted = _fit(_in_blocks(drawn, x), y, loss, model.ridge)
    labels_noise = np.sqrt(model.noise) * test.standard_normal(samples_of(sizes, task.inputs))
    outputs = fresh_outputs(drawn, fitted.a[:, None], len(labels_noise), test, task.inputs)
    row |= _tested(outputs, target, loss, labels_noise, has_signs(model.target))
    training = 2.0 * fitted.training if loss == SQUARE else fitted.training
    row |= {"training_error": training, "energy": fitted.energy}
    return ((*row.items(), *order_parameters(drawn, fitted.a, sizes)),)


def _in_blocks(drawn: FeatureMap, x: Array) -> Array:
    rows = block_rows(max(drawn.weights.shape))
    return np.concatenate([drawn.features(x[start : start + rows]) for start in range(0, len(x), rows)])


def _fit(phi: Array, y: Array, loss: Loss, ridge: float) -> Fitted:
    n, p = phi.shape
    if loss == SQUARE:
        found = readout.fit(iter([(phi, y)]), n, p, (ridge,))
        a, training = found.a[:, 0], 0.5 * float(found.training_error[0])
        return Fitted(a, training, (n * training + 0.5 * ridge * float(a @ a)) / p)
    convex = convex_readout.fit(phi, y, loss, ridge)
    return Fitted(convex.a, float(np.mean(loss.value(y, convex.outputs))), convex.energy / p)


def gap_names(count: int) -> tuple[str, ...]:
    """The names of the energies of so many other basins above that at home."""
    return ("energy_gap",) if count == 1 else tuple(f"energy_gap[{k}]" for k in range(count))


def _tested(
    outputs: Iterator[tuple[Array, Array]],
    target: Callable[[Array], Array],
    loss: Loss,
    labels_noise: Array,
    signs: bool,
) -> dict[str, float]:
    """The errors of a readout on a test set of theta.x and outputs (`numerics.experiments.measure.fresh_outputs`)."""
    samples, start = len(labels_noise), 0
    squares, losses, wrong = 0.0, 0.0, 0.0
    for place, columns in outputs:
        f, g = columns[:, 0], np.asarray(target(place))
        y = g + labels_noise[start : start + len(g)]
        start += len(g)
        squares += float(np.sum((g - f) ** 2))
        losses += float(np.sum(loss.value(y if isinstance(loss, ClippedLoss) else np.sign(y), f)))
        wrong += float(np.sum(np.sign(f) != g))
    if loss == SQUARE:
        return {"test_error": squares / samples}
    errors = {"test_error": losses / samples, "mean_squared_error": squares / samples}
    return errors | ({"classification_error": wrong / samples} if signs else {})

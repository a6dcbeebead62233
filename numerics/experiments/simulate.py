"""Finite-size experiments of any model, and the predictions of the theory: by loss, readout and learned bias."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds.learned_bias import Basins
from giantsteps.numerics.experiments.any_loss import check_learned, experiment, predict_loss
from giantsteps.numerics.experiments.arrays import Arrays
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.ridge import (
    OF_LETTERS,
    Prediction,
    Simulation,
    checked,
    drawn_as,
    simulate_ridges,
    simulated,
)
from giantsteps.numerics.models.given import instance_of, model_of, square_only, subject_of, whole_number, within_reach
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.numerics.saddle_point.letters.density import solve_letters


@accepts(
    model=subject_of,
    dimension=whole_number("dimension", 400),
    seeds=whole_number("seeds", 8),
    seed=whole_number("seed", 0, least=0),
    inputs=instance_of(Inputs, 'Inputs("rademacher")'),
)
@within_reach
def simulate(
    model: Model | Network,
    *,
    dimension: int,
    seeds: int,
    seed: int = 0,
    kind: str | None = None,
    learned: bool = False,
    basins: Basins | None = None,
    inputs: Inputs = GAUSSIAN,
    array: str = "numpy",
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
) -> Simulation:
    """Independent experiments at dimension d: mean and standard error of errors and order parameters.

    model: the problem: a Model, or a Network.
    dimension: the input dimension d. There are n = alpha d samples and p = beta d neurons, rounded.
    seeds: the number of independent experiments.
    seed: the seed of all of them.
    kind: "srf" (spiked random features) or "equivalent" (the conditionally Gaussian map) for a Model, or a Network
        through Result 3.1; "network" for a Network, or a Model of a gradient step. By default a Network and a Model
        with a network's own bulk are simulated as networks, any other Model as spiked random features.
    learned: whether each experiment learns a bias beside the readout, added to those that the model has.
    basins: of a learned bias: its field `home` is the interval of biases in which each experiment looks; by default the
        whole line.
    inputs: the law of the inputs; by default Gaussian.
    array: the library of the matrix products: "numpy", or with the square loss and given biases "torch", "cupy" or
        "array_api_strict" through array-api-compat (extra `arrays`). The draws are NumPy's; on the processor results
        agree to 1e-9 relative. PyTorch computes on its CUDA device where there is one. All in double precision.
    progress: called with (done, seeds).
    executor: runs seeds in parallel (any concurrent.futures.Executor; give its processes one BLAS thread each).

    Raises ModelError for a dimension, seeds or seed that is no whole number. Raises SimulationError for an unknown
    kind, no seeds, sizes that round to zero, a step or readout that does not exist, and inputs of another law for the
    equivalent map; for an array library that is unknown or missing, and for one other than NumPy if the loss is not
    square or a bias is learned; at ridge = 0 with another loss or a learned bias; for a learned bias of the equivalent
    map or of a network without spiked random features; and for a loss that `numerics.experiments.convex_readout` has no
    solver for.

    >>> run = giantsteps.simulate(model, dimension=200, seeds=4)
    >>> run.test_error
    Estimate(mean=0.12..., standard_error=0.00...)
    """
    model, kind = drawn_as(model, kind)
    arrays = Arrays(array)
    if isinstance(model, Model) and model.law is not None:
        if kind != "srf" or learned or not inputs.gaussian:
            raise SimulationError(
                "a density of readout weights is simulated for kind srf, Gaussian inputs and no learned bias: give "
                "groups instead, for example (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))"
            )
        square_only(model, "a density of readout weights")
    if model.loss.name == "square" and not learned:
        runs = simulate_ridges(
            model, (model.ridge,), dimension=dimension, seeds=seeds, seed=seed, kind=kind, inputs=inputs,
            arrays=arrays, progress=progress, executor=executor,
        )  # fmt: skip
        return runs[0]
    if not arrays.numpy:
        raise SimulationError(
            f"array {array!r} requires the square loss and given biases: use array 'numpy' for another loss or a "
            "learned bias"
        )
    features = checked(model, kind, seeds)
    if learned:
        check_learned(features, kind)
    return simulated(
        experiment, features, dimension=dimension, seeds=seeds, seed=seed, kind=kind, inputs=inputs,
        progress=progress, executor=executor, learned=learned, basins=basins,
    )[0]  # fmt: skip


@accepts(model=model_of)
@within_reach
def predict(
    model: Model, *, learned: bool = False, basins: Basins | None = None, sizes: Sizes | None = None
) -> Prediction:
    """The theory beside `simulate`, with the known term of order 1/p where sizes are given.

    With `basins` of a learned bias: that of the lowest minimum at home; not converged where a basin has none. Raises
    ModelError as `numerics.saddle_point.solve.solve` and `numerics.bounds.learned_bias.learned_bias`.
    """
    if model.law is not None:
        return predict_letters(model, sizes)
    return predict_loss(model, learned=learned, basins=basins, sizes=sizes)


def predict_letters(model: Model, sizes: Sizes | None) -> Prediction:
    """The theory of a density of letters, at the width of the sizes where they are given.

    An error is relative to itself, zeta and psi to |psi| by letter, added up.
    """
    solution = solve_letters(model)
    assert solution.letters is not None, "the limit of many letters has its rules"
    size = float(np.sum(np.abs(solution.letters.psi)))
    scales = {"test_error": solution.test_error, "training_error": solution.training_error, "zeta": size, "psi": size}
    found = solution if sizes is None else solution.at_width(sizes.p)
    order = found.order_parameters
    values = (found.test_error, found.training_error, float(order.zeta[0]), float(order.psi[0]))
    return Prediction(dict(zip(OF_LETTERS, values, strict=True)), scales, solution.converged)

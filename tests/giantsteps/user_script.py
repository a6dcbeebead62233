"""A user's script: all that is learned once, with the types that a type checker in strict mode sees.

`make types` checks it beside the suite, and a test runs it.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from numpy.typing import NDArray

import giantsteps
from giantsteps import Model, Network, ReadoutGroup, ReadoutLaw, bounds, certify, compare, simulate, solve, solve_batch


def worked(loss: str = "square") -> Model:
    """A tanh student that learns sin along a spike."""
    return Model("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8, loss=loss)


def learning_curve(model: Model, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """The test error at each number of samples per dimension."""
    return solve_batch(model, alpha=alphas).test_error


def numbers() -> dict[str, float]:
    """The test error of the worked model and of its neighbours, by each function that predicts one."""
    model = worked()
    sigma: giantsteps.Activation = giantsteps.activation("erf(z/2)")
    letters = [ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5)]
    stepped = Model.from_gradient_step(
        "tanh", "sin", alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=3, readout=letters, bulk_model="isotropic"
    )
    network = Network(sigma, "sin", alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=3)
    kappa, s = sp.symbols("kappa s", positive=True)
    equations = {kappa: 0.1 + kappa / 2 * giantsteps.Expectation(s / (s + kappa), s)}
    found: giantsteps.EquationsSolution = giantsteps.solve_equations(equations, laws={s: giantsteps.Law.uniform(0, 2)})
    return {
        "theory": solve(model).test_error,
        "at width 500": solve(model).at_width(500).test_error,
        "own activation": solve(model.changed(activation=sigma)).test_error,
        "huber loss": solve(worked("huber:1")).test_error,
        "letters": solve(model.changed(readout=letters)).test_error,
        "density": solve(model.changed(readout=ReadoutLaw("normal", 0.8))).test_error,
        "step": solve(stepped).test_error,
        "own bulk": solve(network.model("network")).test_error,
        "largest spike": float(giantsteps.spectrum(model).edges[-1][1]),
        "best ridge": bounds(model).best_ridge().test_error,
        "simulated": simulate(network, dimension=30, seeds=2, inputs=giantsteps.Inputs("uniform")).test_error.mean,
        "compared": compare(model, dimensions=(10, 20), seeds=2).limit["test_error"],
        "effective ridge": found[kappa],
        "samples": float(learning_curve(model, np.linspace(1.0, 3.0, 5))[-1]),
    }


def texts() -> list[str]:
    """Digits, certified digits, a claim, and the sentence for a model that does not exist."""
    model = worked()
    found = [str(solve(model, digits=20).to_dict()["test_error"]), certify(model).texts()["test_error"]]
    found += [claim.title for claim in giantsteps.claims("result-3-1.bulk-variance")]
    try:
        Model("tanh", "sin", alpha=-1, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8)
    except giantsteps.ModelError as error:
        found.append(str(error))
    return [*found, giantsteps.__version__]


if __name__ == "__main__":
    for name, value in numbers().items():
        print(f"{name:<15} {value:.6g}")
    print(*texts(), sep="\n")

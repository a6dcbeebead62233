"""Every public function in threads at once gives what it gives alone, and leaves the precision as it was."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy

import giantsteps

ROOT, NORMAL = sympy.symbols("x t", real=True)
AVERAGE = giantsteps.Expectation(1 / (ROOT + NORMAL**2), NORMAL)
STEP = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}


def _model(**changes: Any) -> giantsteps.Model:
    given = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8} | changes
    return giantsteps.Model("tanh", "sin", **given)


def _digits(digits: int, model: giantsteps.Model) -> str:
    return mpmath.nstr(giantsteps.solve(model, digits=digits).test_error, digits)


def _own() -> giantsteps.Model:
    return giantsteps.Model.from_gradient_step("erf", "tanh", **STEP)


# Each has parameters of its own: what one has kept does not spare another the work.
CALLS: dict[str, Callable[[], object]] = {
    "activation": lambda: repr(giantsteps.activation("z*tanh(z/3)")),
    "bounds": lambda: giantsteps.bounds(_model(bulk=1.1)).to_dict(),
    "certify": lambda: giantsteps.certify(_model(bulk=1.2)).texts(),
    "certify network": lambda: giantsteps.certify(_own()).texts(),
    "best": lambda: giantsteps.best(_own(), over="eta").to_dict(),
    "certify_branch": lambda: giantsteps.certify_branch(_model(bulk=1.3), "alpha", 1.5, 1.501).to_dict(),
    "claims": lambda: [claim.id for claim in giantsteps.claims("result-3-1")],
    "compare": lambda: giantsteps.compare(_model(bulk=1.4), dimensions=(10, 20), seeds=2).to_dict(),
    "digits": lambda: _digits(25, _model(bulk=1.5)),
    "more digits": lambda: _digits(60, _model(bulk=1.6)),
    "digits network": lambda: _digits(20, _own()),
    "measure": lambda: giantsteps.measure(np.eye(9) + 1.0, model=_model(bulk=1.65)).to_dict(),
    "simulate": lambda: giantsteps.simulate(_model(bulk=1.7), dimension=20, seeds=2).to_dict(),
    "solve": lambda: giantsteps.solve(_own().changed(ridge=0.2)).to_dict(),
    "solve_batch": lambda: giantsteps.solve_batch(_model(bulk=1.8), ridge=[0.1, 1.0]).to_dict(),
    "solve_equations": lambda: repr(giantsteps.solve_equations({ROOT: AVERAGE})),
    "spectrum": lambda: giantsteps.spectrum(_model(bulk=1.9)).to_dict()["edges"],
    "sweep_results": lambda: giantsteps.sweep_results("results").to_xarray().to_dict(),
}
THREADS = 8


def test_every_public_function_is_called() -> None:
    functions = {name for name in giantsteps.__all__ if callable(getattr(giantsteps, name)) and name[0].islower()}
    assert {name.split()[0] for name in CALLS} - {"digits", "more"} == functions


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_threads_give_what_one_thread_gives(seed: int, in_swept_folder: None) -> None:
    alone = {name: call() for name, call in CALLS.items()}
    asked = random.Random(seed).sample([*CALLS, *CALLS], 2 * len(CALLS))
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda name: CALLS[name](), asked))
    for name, one in zip(asked, found, strict=True):
        assert one == alone[name], name
    assert (mpmath.mp.prec, flint.ctx.prec) == (53, 53)

"""The array library of an experiment's heavy part: NumPy, or another one through array-api-compat.

Random numbers are always NumPy's, drawn on the processor. Weights, inputs and labels are moved to the library; products
with the weights, activations, gradient steps, Gram matrix, its Cholesky factor and the outputs on the test set are
computed there; readouts and errors are moved back. PyTorch uses its CUDA device where there is one. All numbers are
doubles. Another order of summation changes rounding only: on the processor results agree to 1e-9 relative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from giantsteps.derivations.expressions.tree import Expression
from giantsteps.numerics.gaussian.evaluate import Array as Array
from giantsteps.numerics.gaussian.evaluate import build, compile_numpy
from giantsteps.numerics.models.network import SimulationError

# The library of each name. array_api_strict is the standard's reference implementation, on NumPy: it has no erf.
_MODULES = {
    "numpy": "numpy",
    "torch": "array_api_compat.torch",
    "cupy": "array_api_compat.cupy",
    "array_api_strict": "array_api_strict",
}
NAMES = tuple(_MODULES)


@dataclass(frozen=True)
class Arrays:
    """An array library by its name; the default is NumPy. Raises SimulationError for an unknown or missing one."""

    name: str = "numpy"

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise SimulationError(f"array {self.name!r} is not known: one of {', '.join(NAMES)}, for example torch")
        _ = self.library

    @property
    def numpy(self) -> bool:
        """Whether the library is NumPy: nothing is moved, and the same bits as ever are computed."""
        return self.name == "numpy"

    @property
    def library(self) -> Any:
        """The namespace of the array API standard."""
        try:
            return import_module(_MODULES[self.name])
        except ImportError as error:
            raise SimulationError(
                f"array {self.name!r} needs {error.name}, which is not installed: pip install 'giantsteps[arrays]' "
                f"{self.name}"
            ) from None

    @cached_property
    def _device(self) -> str | None:
        return "cuda" if self.name == "torch" and import_module("torch").cuda.is_available() else None

    def put(self, x: Any) -> Any:
        """An array of the library, on its device."""
        return x if self.numpy else self.library.asarray(x, dtype=self.library.float64, device=self._device)

    def get(self, x: Any) -> Array:
        """The NumPy array of an array of the library."""
        if self.name in ("torch", "cupy"):
            x = import_module("array_api_compat").to_device(x, "cpu")
        return np.asarray(x)

    def function(self, expr: Expression) -> Callable[[Any], Any]:
        """The values of a formula in z, as `numerics.gaussian.evaluate.compile_numpy` has them.

        On the processor where the library lacks a function, and where doubles give no finite number.
        """
        on_processor = compile_numpy(expr)
        if self.numpy:
            return on_processor
        try:
            inner = build(expr, self.library)
        except AttributeError:
            return lambda x: self.put(on_processor(self.get(x)))

        def evaluate(x: Any) -> Any:
            with np.errstate(all="ignore"):
                values = inner(x)
            finite = bool(self.library.all(self.library.isfinite(values)))
            return values if finite else self.put(on_processor(self.get(x)))

        return evaluate

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What the library raises for a matrix that is not positive definite."""
        return np.linalg.LinAlgError, getattr(self.library.linalg, "LinAlgError", np.linalg.LinAlgError)

    def solve(self, gram: Any, rhs: Array, ridge: float) -> Array:
        """(gram + ridge)^-1 rhs by the library. Raises one of `refusals` where the matrix is not positive definite.

        The standard has no solution by a Cholesky factor: the factor is computed for that test alone.
        """
        xp = self.library
        shifted = gram + ridge * xp.eye(len(rhs), dtype=xp.float64, device=self._device)
        if not bool(xp.all(xp.isfinite(xp.linalg.cholesky(shifted)))):  # CuPy's refusal
            raise np.linalg.LinAlgError
        return self.get(xp.linalg.solve(shifted, self.put(rhs)[:, None]))[:, 0]


NUMPY = Arrays()

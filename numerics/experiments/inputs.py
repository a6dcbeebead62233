"""The law of the inputs: independent coordinates of mean 0 and variance 1, Gaussian or not.

The theory takes x ~ N(0, I_d). Along a dense direction (all coordinates of order d^-1/2) a projection of other inputs
is Gaussian in the limit; along a sparse one (an axis) it keeps the law of the coordinates. So beside the law there is
a choice of the directions, target and spike, that does not matter for Gaussian inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.parameters import ModelError

Array = NDArray[np.float64]

# The fourth moment is finite (9 times the squared variance), the sixth infinite.
DEGREES_OF_FREEDOM = 5


class InputsError(ModelError):
    """An unknown law of the inputs or unknown directions; the message lists the known ones."""


def _uniform(rng: np.random.Generator, rows: int, d: int) -> Array:
    return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), (rows, d))


def _rademacher(rng: np.random.Generator, rows: int, d: int) -> Array:
    return np.asarray(2.0 * rng.integers(0, 2, (rows, d)) - 1.0)


def _student_t(rng: np.random.Generator, rows: int, d: int) -> Array:
    x = rng.standard_t(DEGREES_OF_FREEDOM, (rows, d))
    x *= np.sqrt((DEGREES_OF_FREEDOM - 2) / DEGREES_OF_FREEDOM)
    return x


_LAWS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "gaussian": lambda rng, rows, d: rng.standard_normal((rows, d)),
    "uniform": _uniform,
    "rademacher": _rademacher,
    "student-t": _student_t,
}
LAWS = tuple(_LAWS)
DIRECTIONS = ("dense", "sparse")


@dataclass(frozen=True)
class Inputs:
    """The law of the inputs: independent coordinates of mean 0 and variance 1.

    law: gaussian, uniform, rademacher or student-t (5 degrees of freedom).
    directions: dense (target and spike are random directions) or sparse (they are axes).

    Raises InputsError for a name that is not known.

    >>> giantsteps.simulate(trained, dimension=100, seeds=2, inputs=giantsteps.Inputs("rademacher")).test_error
    Estimate(mean=0.1..., standard_error=0.0...)
    """

    law: str = "gaussian"
    directions: str = "dense"

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise InputsError(f"law {self.law!r} is not known: one of {', '.join(LAWS)}, for example uniform")
        if self.directions not in DIRECTIONS:
            raise InputsError(f"directions {self.directions!r} are not known: dense or sparse, for example dense")

    @property
    def gaussian(self) -> bool:
        """Whether the law is invariant under rotations, as the theory has it."""
        return self.law == "gaussian"

    @property
    def on_axes(self) -> bool:
        """Whether target and spike may be put on the first axes: asked for, or the same by rotation."""
        return self.gaussian or self.directions == "sparse"

    def draw(self, rng: np.random.Generator, rows: int, d: int) -> Array:
        """Independent inputs, shape (rows, d): mean 0, variance 1 in every coordinate."""
        return _LAWS[self.law](rng, rows, d)

    def frame(self, rng: np.random.Generator, d: int, count: int) -> Array:
        """`count` orthonormal directions as rows, shape (count, d): the first axes, or uniformly random ones."""
        if self.on_axes:
            return np.eye(count, d)
        columns = np.linalg.qr(rng.standard_normal((d, count)))[0]
        return np.ascontiguousarray(columns.T)


GAUSSIAN = Inputs()

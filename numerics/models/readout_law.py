"""Initial readouts of a density of letters: the law of u, its rules, and draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.parameters import POSITIVE, ModelError, ReadoutGroup, checked_number

Array = NDArray[np.float64]

LAWS = ("normal", "uniform")
# Letters beyond this many standard deviations of a normal law have less weight than rounding.
FARTHEST = 9.0


@dataclass(frozen=True)
class ReadoutLaw:
    """A density of initial readouts u, in the limit of many values.

    name: "normal", N(0, scale^2), or "uniform", on [-scale, scale].
    scale: > 0.

    Raises ModelError for another name or scale.

    >>> giantsteps.solve(model.changed(readout=giantsteps.ReadoutLaw("normal", 0.8))).test_error
    0.12760...
    """

    name: str = "normal"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise ModelError(f"a readout law {self.name!r} is not known: {' or '.join(LAWS)}, for example normal")
        object.__setattr__(self, "scale", checked_number("scale", self.scale, *POSITIVE))

    def __str__(self) -> str:
        return f"{self.name}:{self.scale:g}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {"law": self.name, "scale": self.scale}

    @property
    def farthest(self) -> float:
        """The farthest letter that a rule has."""
        return self.scale * (FARTHEST if self.name == "normal" else 1.0)

    def groups(self, count: int, folded: bool = False) -> tuple[ReadoutGroup, ...]:
        """`count` groups: nodes u and weights pi of a Gauss rule, or the positive half of a rule of twice as many."""
        nodes_in_all = 2 * count if folded else count
        if self.name == "uniform":
            nodes, weights = np.polynomial.legendre.leggauss(nodes_in_all)
        else:
            nodes, weights = np.polynomial.hermite_e.hermegauss(nodes_in_all)
        if folded:
            nodes, weights = nodes[count:], weights[count:]
        weights = weights / np.sum(weights)
        return tuple(ReadoutGroup(self.scale * float(u), float(pi)) for u, pi in zip(nodes, weights, strict=True))

    def letters(self, count: int) -> tuple[Array, Array]:
        """2 `count` letters u (both signs, in order) and weights pi of a rule that converges geometrically.

        Gauss-Legendre for the uniform law; for the normal one the trapezoidal rule, which needs no more nodes where
        the features follow u on a scale far shorter than the law's.
        """
        if self.name == "uniform":
            u, pi = np.polynomial.legendre.leggauss(2 * count)
        else:
            u = (np.arange(2 * count) + 0.5 - count) * FARTHEST / count
            pi = np.exp(-0.5 * u * u)
        return self.scale * u, np.asarray(pi / np.sum(pi))

    def draw(self, generator: np.random.Generator, count: int) -> Array:
        """`count` independent letters."""
        if self.name == "uniform":
            return np.asarray(self.scale * generator.uniform(-1.0, 1.0, count))
        return np.asarray(self.scale * generator.standard_normal(count))

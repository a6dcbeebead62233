"""Two kinds of numbers that carry exact derivatives along: divided differences, and matrices with their variations.

`Divided` is a function of one real variable known at k places: its values f_i and its divided differences

    f_ij = (f_i - f_j)/(x_i - x_j),   f_ii = f'(x_i),

closed under sums, products and quotients by (f g)_ij = f_i g_ij + f_ij g_j, so that no difference of close values is
ever formed. They are what the derivative of a matrix function needs (Daleckii and Krein): for a symmetric matrix
G = U diag(x) U^T,

    d f(G) = U [f_ij (U^T dG U)_ij] U^T.

`Varied` is a matrix with its derivatives in some directions, closed under sums and products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Divided:
    """Functions at k places: values (..., k) and divided differences (..., k, k), the leading axes numbering them."""

    values: Array
    slopes: Array

    def __add__(self, other: Divided | float) -> Divided:
        if isinstance(other, Divided):
            return Divided(self.values + other.values, self.slopes + other.slopes)
        return Divided(self.values + other, self.slopes)

    def __neg__(self) -> Divided:
        return Divided(-self.values, -self.slopes)

    def __sub__(self, other: Divided | float) -> Divided:
        return self + -other

    def __mul__(self, other: Divided | float) -> Divided:
        if isinstance(other, Divided):
            slopes = self.values[..., :, None] * other.slopes + self.slopes * other.values[..., None, :]
            return Divided(self.values * other.values, slopes)
        return Divided(self.values * other, self.slopes * other)

    def inverse(self) -> Divided:
        """1/f."""
        values = 1.0 / self.values
        return Divided(values, -values[..., :, None] * self.slopes * values[..., None, :])

    def __getitem__(self, index: int | tuple[int, ...]) -> Divided:
        return Divided(self.values[index], self.slopes[index])

    def against(self, other: Divided) -> Divided:
        """The same functions with differences taken in another variable, whose values at the places are `other`."""
        return Divided(self.values, self.slopes / other.slopes)

    def transformed(self, matrix: Array) -> Divided:
        """M F M^T for functions F on two leading axes."""
        return Divided(
            np.einsum("ai,bj,ij...->ab...", matrix, matrix, self.values),
            np.einsum("ai,bj,ij...->ab...", matrix, matrix, self.slopes),
        )


def variable(places: Array) -> Divided:
    """The variable itself at k places."""
    return Divided(places, np.ones((len(places), len(places))))


def constant(value: Array, places: int) -> Divided:
    """Numbers, one for each leading axis, as functions that do not vary."""
    shape = np.shape(value)
    spread = np.broadcast_to(np.asarray(value, dtype=float)[..., None], (*shape, places))
    return Divided(spread, np.zeros((*shape, places, places)))


def stacked(rows: list[list[Divided]]) -> Divided:
    """A matrix of functions as one, on two leading axes."""
    return Divided(
        np.array([[entry.values for entry in row] for row in rows]),
        np.array([[entry.slopes for entry in row] for row in rows]),
    )


@dataclass(frozen=True, eq=False)
class Varied:
    """A matrix (k, k) and its derivatives in e directions, (e, k, k)."""

    value: Array
    moves: Array

    # So that array @ Varied asks Varied.
    __array_ufunc__ = None

    def __add__(self, other: Varied) -> Varied:
        return Varied(self.value + other.value, self.moves + other.moves)

    def __neg__(self) -> Varied:
        return Varied(-self.value, -self.moves)

    def __sub__(self, other: Varied) -> Varied:
        return self + -other

    def __matmul__(self, other: Varied | Array) -> Varied:
        if isinstance(other, Varied):
            return Varied(self.value @ other.value, self.moves @ other.value + self.value @ other.moves)
        return Varied(self.value @ other, self.moves @ other)

    def __rmatmul__(self, other: Array) -> Varied:
        return Varied(other @ self.value, other @ self.moves)

    @property
    def T(self) -> Varied:
        """The transpose."""
        return Varied(self.value.T, np.swapaxes(self.moves, 1, 2))


def fixed(matrix: Array, directions: int) -> Varied:
    """A matrix that does not vary."""
    return Varied(matrix, np.zeros((directions, *matrix.shape)))


def matrix_functions(functions: Divided, vectors: Array, moved: Array) -> list[Varied]:
    """f(G) for every function given at the eigenvalues of G, `vectors` U, as G moves by `moved` (e, k, k)."""
    turned = vectors.T @ moved @ vectors
    found = []
    for values, slopes in zip(functions.values, functions.slopes, strict=True):
        found.append(Varied((vectors * values) @ vectors.T, vectors @ (slopes * turned) @ vectors.T))
    return found

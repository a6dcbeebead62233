"""The arguments of a batch: parameters as arrays of any shape, and the families of points that they form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.one_group.batch_equations import Array, Index

# Places of points that do not exist, and why.
Refused = tuple[Index | slice, str]
# What points of one family may differ in, and what the functions of kappa depend on beside it: of a model that was
# given, and of one that came from a gradient step.
SOLVED = ("alpha", "beta", "ridge", "noise")
_GIVEN, _STEPPED = ("spike", "bulk", "alignment"), ("beta", "noise", "alpha0", "eta")


def array_of(name: str, values: ArrayLike) -> Array:
    """A parameter as an array. Raises ModelError for what is no array of numbers."""
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name} was given what is no array of numbers: a number or an array of any shape is accepted, for example "
            f"{name}=[0.5, 1.0, 2.0]"
        ) from None


def shape_of(columns: Mapping[str, Array]) -> tuple[int, ...]:
    """That of all parameters broadcast together. Raises ModelError where there is none."""
    try:
        return np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        given = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise ModelError(
            f"the shapes of the parameters ({given}) do not broadcast together: give shapes that do, for a grid of a "
            "and b for example a[:, None] and b"
        ) from None


def point_of(columns: Mapping[str, Array], shape: tuple[int, ...], place: int | tuple[int, ...]) -> dict[str, float]:
    """The parameters at one point. Raises IndexError for slices, another number of indices and outside the grid."""
    indices = place if isinstance(place, tuple) else (place,)
    if len(indices) != len(shape) or not all(isinstance(k, int | np.integer) for k in indices):
        raise IndexError(
            f"a grid of the shape {shape} takes {len(shape)} whole numbers as indices; for parts use sel()"
        )
    return {name: float(np.broadcast_to(column, shape)[indices]) for name, column in columns.items()}


def check_model(model: Model) -> None:
    """Raises ModelError for a model that a batch does not support."""
    square_only(model, "a batch")
    if len(model.groups) != 1 or model.rank != 1:
        raise ModelError(
            "a batch requires one readout group and a spike of one direction: solve models with several groups or "
            "directions one by one"
        )


def families_of(
    model: Model, columns: Mapping[str, Array], shape: tuple[int, ...]
) -> Iterator[tuple[Model | str, Index | slice]]:
    """A model of each family with the places of its points, raveled; a sentence for points that do not exist."""
    deciding = {name: columns[name] for name in (_GIVEN if model.step is None else _STEPPED) if name in columns}
    alike = {name: float(column.ravel()[0]) for name, column in deciding.items() if column.size == 1}
    varying = {name: np.broadcast_to(column, shape).ravel() for name, column in deciding.items() if column.size != 1}
    codes = np.zeros(math.prod(shape), dtype=np.intp)
    for column in varying.values():
        inverse = np.unique(column, return_inverse=True)[1]
        codes = np.unique(codes * (1 + inverse.max(initial=0)) + inverse, return_inverse=True)[1]
    groups: list[Index | slice] = [slice(None)] * bool(len(codes))
    if varying and len(codes):
        groups = list(np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]))
    for places in groups:
        own = {name: float(column[places][0]) for name, column in varying.items()}
        try:
            yield (model.changed(**alike, **own) if deciding else model), places
        except ModelError as reason:
            yield str(reason), places

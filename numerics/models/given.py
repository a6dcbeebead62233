"""Arguments of public functions: a network in place of its model, unsupported losses, and overflow of doubles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.problem import Problem

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_EXAMPLE = 'for example Model("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8)'

# The reason where a feature has no finite square: what then reads it as noise beyond all measure would converge.
OVERFLOW = (
    "the model is out of reach of double precision: the squares of its activation overflow; use a smaller multiple "
    "of it, or a smaller spike or bulk"
)


def model_of(given: object) -> Model:
    """A model, or that of a network with its own bulk after its steps. Raises ModelError for anything else."""
    if isinstance(given, Model):
        return given
    if not isinstance(given, Network):
        raise ModelError(f"a value of type {type(given).__name__} is not accepted as a model: {_EXAMPLE}")
    if given.overlap:
        raise ModelError(
            "the theory of a network is that of rows without overlap, and this one has an overlap of "
            f"{given.overlap:g}: simulate(network), or take its network.model()"
        )
    return given.model()


def within_reach(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """The function with ModelError for an activation or target that doubles, or their rules, do not hold there.

    What overflows on the way becomes infinite or NaN, without a warning. Most of it does not converge; features whose
    squares overflow would, and are refused where they are made (OVERFLOW).
    """

    @wraps(function)
    def reaching(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except ExpressionError as overflow:
            raise ModelError(f"the model is out of reach of double precision: {overflow}") from overflow

    return reaching


def square_only(model: Problem, what: str) -> None:
    """Raises ModelError for another loss, naming the operation that requires the square one."""
    if model.loss.name != "square":
        raise ModelError(
            f"{what} is only supported for the square loss; the loss of this model is {model.loss.name}: use "
            'model.changed(loss="square")'
        )


def subject_of(given: object) -> object:
    """A model or a network, as it is. Raises ModelError for anything else."""
    return given if isinstance(given, Network) else model_of(given)


def whole_number(
    name: str, example: int, *, least: float = -math.inf, most: float = math.inf, optional: bool = False
) -> Callable[[object], int | None]:
    """A reader of whole numbers from `least` to `most`; of None too where the number is optional. Raises ModelError."""

    range_ = f" from {least} to {most}" if most < math.inf else f" >= {least}" if least > -math.inf else ""

    def read(given: object) -> int | None:
        if given is None and optional:
            return None
        try:
            number = int(given)  # type: ignore[call-overload]
        except (TypeError, ValueError, OverflowError):
            number = None
        whole = number is not None and number == given and not isinstance(given, str | bytes | bool)
        if number is None or not whole or not least <= number <= most:
            raise ModelError(
                f"{name} = {given!r} is not accepted: it has to be a whole number{range_}, for example "
                f"{name} = {example}"
            )
        return int(number)

    return read


def whole_numbers(name: str, example: str, *, least: int) -> Callable[[object], tuple[int, ...]]:
    """A reader of one or several different whole numbers, `least` or above. Raises ModelError."""
    each = whole_number(f"one of the {name}", 400, least=least)

    def read(given: object) -> tuple[int, ...]:
        numbers = tuple(map(each, given)) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        if not numbers or len(set(numbers)) < len(numbers):
            raise ModelError(
                f"{name} = {given!r} is not accepted: different whole numbers are, for example {name}={example}"
            )
        return tuple(number for number in numbers if number is not None)

    return read


def instance_of(kind: type, example: str) -> Callable[[object], object]:
    """A reader that takes values of this type only, and raises ModelError for others."""

    def read(given: object) -> object:
        if not isinstance(given, kind):
            raise ModelError(
                f"a value of type {type(given).__name__} is not accepted in place of {kind.__name__}: give for "
                f"example {example}"
            )
        return given

    return read

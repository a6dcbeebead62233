"""One thread at a time where a precision is set: the contexts of mpmath and flint belong to the whole process.

What computes to more digits than a double holds this lock from its first number to its last, and leaves both contexts
as it found them. The lock is re-entrant: one such computation may use another.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

ALONE = threading.RLock()


class PrecisionError(ArithmeticError):
    """The requested digits were not reached; the message says for which quantity."""


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def alone(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, run by one thread at a time, and by none beside a block that has set a precision."""

    @functools.wraps(function)
    def locked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with ALONE:
            return function(*args, **kwargs)

    return locked


@contextmanager
def working_digits(digits: int) -> Iterator[None]:
    """mpmath works to so many decimal digits inside the block."""
    import mpmath

    with ALONE, mpmath.workdps(digits):
        yield


@contextmanager
def working_bits(bits: int) -> Iterator[None]:
    """mpmath works to so many bits inside the block."""
    import mpmath

    with ALONE, mpmath.workprec(bits):
        yield


def rational_ball(value: Fraction | float) -> Any:
    """The rational number, or the one that a double is, as flint's arb at the precision in force."""
    from flint import arb, fmpq

    return arb(fmpq(*value.as_integer_ratio()))


def precision(bits: int) -> AbstractContextManager[None]:
    """flint works to so many bits inside the block."""
    return flint_set("prec", bits)


@contextmanager
def flint_set(name: str, value: int) -> Iterator[None]:
    """A setting of flint, which are global, inside the block; it has its own value again afterwards."""
    from flint import ctx

    with ALONE:
        before = getattr(ctx, name)
        setattr(ctx, name, value)
        try:
            yield
        finally:
            setattr(ctx, name, before)

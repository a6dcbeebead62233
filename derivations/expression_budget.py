"""A time limit on the analysis of an expression: what takes longer is refused, or left undecided, and said to be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from derivations.expression_tree import ExpressionError

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TookTooLong(ExpressionError):
    """The analysis of the expression reached its time limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Inside the block, the loops of the analysis raise TookTooLong after so many seconds (or at an earlier limit)."""
    end = time.monotonic() + seconds
    outer = _deadline.get()
    token = _deadline.set(end if outer is None else min(end, outer))
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Raises TookTooLong when the limit in force has passed."""
    end = _deadline.get()
    if end is not None and time.monotonic() > end:
        raise TookTooLong("its analysis takes too long; a shorter expression is accepted, as tanh(z) is")

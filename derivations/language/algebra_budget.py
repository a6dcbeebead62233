"""SymPy's work counted in the budget of operations: every sum and product that it builds anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import sympy as sp

from giantsteps.derivations.expressions.budget import TookTooLong, spend

# What a new sum or product costs, and each of its terms or factors, all that SymPy does in between included.
_NODE, _TERM = 300, 60


class _SpentError(BaseException):
    """No `Exception`: SymPy catches many of these, and remembers what it concluded from them."""

    def __init__(self, reason: TookTooLong) -> None:
        super().__init__(reason)
        self.reason = reason


_COUNTING: ContextVar[bool] = ContextVar("counting", default=False)
_INSTALLING = Lock()


@contextmanager
def counted_algebra() -> Iterator[None]:
    """Inside the block SymPy spends operations; TookTooLong is raised when a budget in force has none left.

    Of this thread alone: SymPy's sums and products ask for good whether those who build them are counted. Blocks may be
    nested, and count once.
    """
    _install()
    token = _COUNTING.set(True)
    try:
        yield
    except _SpentError as spent:
        raise spent.reason from None
    finally:
        _COUNTING.reset(token)


def _install() -> None:
    with _INSTALLING:
        for kind in (sp.Add, sp.Mul):
            flatten = kind.__dict__["flatten"].__func__
            if not hasattr(flatten, "counts"):
                kind.flatten = classmethod(_counted(flatten))


def _counted(flatten: Callable[..., Any]) -> Callable[..., Any]:
    def counted(kind: type[sp.Expr], parts: list[Any]) -> Any:
        if _COUNTING.get():
            try:
                spend(_NODE + _TERM * len(parts))
            except TookTooLong as reason:
                raise _SpentError(reason) from None
        return flatten(kind, parts)

    counted.counts = True  # type: ignore[attr-defined]
    return counted

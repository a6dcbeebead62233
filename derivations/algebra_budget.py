"""SymPy's work counted in the budget of operations: every sum and product that it builds anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sympy as sp

from derivations.expression_budget import TookTooLong, spend

# What a new sum or product costs, and each of its terms or factors, all that SymPy does in between included.
_NODE, _TERM = 300, 60


class _SpentError(BaseException):
    """No `Exception`: SymPy catches many of these, and remembers what it concluded from them."""

    def __init__(self, reason: TookTooLong) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def counted_algebra() -> Iterator[None]:
    """Inside the block SymPy spends operations; TookTooLong is raised when a budget in force has none left."""
    before = {kind: kind.__dict__["flatten"] for kind in (sp.Add, sp.Mul)}

    def counted(kind: type[sp.Expr], parts: list[Any]) -> Any:
        try:
            spend(_NODE + _TERM * len(parts))
        except TookTooLong as reason:
            raise _SpentError(reason) from None
        return before[sp.Add if issubclass(kind, sp.Add) else sp.Mul].__func__(kind, parts)

    for kind in before:
        kind.flatten = classmethod(counted)
    try:
        yield
    except _SpentError as spent:
        raise spent.reason from None
    finally:
        for kind, flatten in before.items():
            kind.flatten = flatten

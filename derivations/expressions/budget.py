"""A budget of counted operations for the analysis of an expression: what needs more is refused, or left undecided.

Operations are counted where the work is done and no clock is read, so that the answer does not depend on how busy the
machine is. An operation is what a processor core does in about a microsecond.
"""

from __future__ import annotations

from contextvars import ContextVar

from giantsteps.derivations.expressions.tree import ExpressionError


class TookTooLong(ExpressionError):
    """The analysis of the expression used up its operations."""


class Budget:
    """How many operations are left, here and in the budget around this one."""

    __slots__ = ("around", "left")

    def __init__(self, operations: int, around: Budget | None) -> None:
        self.left = operations
        self.around = around

    @property
    def exhausted(self) -> bool:
        """Whether more operations were asked for than there were, here or in a budget around this one."""
        return self.left < 0 or self.outer_exhausted

    @property
    def outer_exhausted(self) -> bool:
        """Whether it is a budget around this one that ended."""
        return self.around is not None and self.around.exhausted

    @property
    def available(self) -> int:
        """How many operations may still be asked for, here and in the budgets around this one."""
        left = self.left if self.around is None else min(self.left, self.around.available)
        return max(left, 0)

    def take(self, operations: int) -> bool:
        """Count operations in this budget and those around it; whether all of them had so many left."""
        self.left -= operations
        further = self.around is None or self.around.take(operations)
        return further and self.left >= 0


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


class at_most:
    """Inside the block, the loops of the analysis raise TookTooLong after so many operations (or an outer limit).

    No generator: one that an exception leaves behind unfinished would put its budget back when it is collected.
    """

    def __init__(self, operations: int) -> None:
        self._operations = operations

    def __enter__(self) -> Budget:
        self._around = _budget.get()
        budget = Budget(self._operations, self._around)
        _budget.set(budget)
        return budget

    def __exit__(self, *_: object) -> None:
        _budget.set(self._around)


def spend(operations: int) -> None:
    """Count operations; raises TookTooLong when a budget in force has none left."""
    budget = _budget.get()
    if budget is not None and not budget.take(operations):
        raise TookTooLong("its analysis takes too long; a shorter expression is accepted, as tanh(z) is")


def node_cost(bits: int = 64) -> int:
    """What one node of an expression costs in rational interval arithmetic at so many bits."""
    return 50 + bits * bits // 1000

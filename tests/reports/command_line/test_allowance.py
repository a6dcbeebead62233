"""The limit on processor time: it interrupts, it arrives where exceptions are lost, and it leaves nothing behind."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from flint import acb

from giantsteps.reports.command_line.machine.allowance import OutOfTimeError, allowance


def _busy(seconds: float = 1e9) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class _Slow:
    """Its destructor takes longer than the time allowed: the first interruption is lost in it."""

    def __del__(self) -> None:
        _busy(5.0)


def _in_a_destructor() -> None:
    _Slow()  # dies at once
    _busy()


def _in_the_garbage_collector() -> None:
    gc.callbacks.append(_collected)
    try:
        gc.collect()  # calls back twice
        _busy()
    finally:
        gc.callbacks.remove(_collected)


def _collected(phase: str, info: dict[str, int]) -> None:
    _busy(5.0)


def _in_a_compiled_library() -> None:
    acb.integral(lambda z, analytic: _busy(), 0, 1)


def _state() -> tuple[Any, Any, tuple[float, float]]:
    return signal.getsignal(signal.SIGPROF), sys.unraisablehook, signal.getitimer(signal.ITIMER_PROF)


@pytest.mark.parametrize("work", [_busy, _in_a_destructor, _in_the_garbage_collector, _in_a_compiled_library])
def test_it_arrives_unreported_and_leaves_nothing_behind(
    work: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    before, start = _state(), time.process_time()
    with pytest.raises(OutOfTimeError), allowance(0.1):
        work()
    assert time.process_time() - start < 4.0  # tenths of a second, where what is interrupted takes at least five
    assert _state() == before
    assert capsys.readouterr().err == ""


def test_nothing_is_raised_in_time_and_waiting_costs_nothing() -> None:
    """On a loaded machine a process mostly waits: its limit does not come nearer meanwhile."""
    before = _state()
    with allowance(0.2):
        time.sleep(0.5)
    assert _state() == before
    with pytest.raises(OutOfTimeError), allowance(0.0):
        pytest.fail("the block is begun")


def test_an_interruption_behind_a_long_chain_of_others_is_found() -> None:
    # Repeated interruptions of a callback hang on one another: deeper than the interpreter's stack.
    chain: Exception = ValueError("the first")
    for _ in range(2 * sys.getrecursionlimit()):
        further = ValueError("another")
        further.__context__, chain = chain, further
    with pytest.raises(ValueError, match="another"), allowance(5.0):
        raise chain
    behind: BaseException = chain
    while behind.__context__ is not None:
        behind = behind.__context__
    behind.__context__ = OutOfTimeError()
    with pytest.raises(OutOfTimeError), allowance(5.0):
        raise chain

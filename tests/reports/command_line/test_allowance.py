"""The limit on processor time: it interrupts, it arrives where exceptions are lost, and it leaves nothing behind."""

from __future__ import annotations

import gc
import signal
import sys
import time
from typing import Any

import pytest
from flint import acb

from giantsteps.reports.command_line.machine.allowance import OutOfTimeError, allowance

# Limits are tenths of a second of processor time, and what is to be interrupted takes five seconds or for ever.
SOON = 4.0


def _never_ends() -> None:
    while True:
        pass


def _state() -> tuple[Any, Any, tuple[float, float]]:
    return signal.getsignal(signal.SIGPROF), sys.unraisablehook, signal.getitimer(signal.ITIMER_PROF)


def test_nothing_is_raised_in_time_and_nothing_is_left_behind() -> None:
    before = _state()
    with allowance(5.0):
        value = sum(range(1000))
    assert value == 499500
    assert _state() == before


def test_a_loop_is_interrupted() -> None:
    before, start = _state(), time.process_time()
    with pytest.raises(OutOfTimeError), allowance(0.1):
        _never_ends()
    assert time.process_time() - start < SOON
    assert _state() == before


class _Slow:
    """Its destructor takes longer than the time allowed: the first interruption is lost in it."""

    def __del__(self) -> None:
        until = time.process_time() + 5.0
        while time.process_time() < until:
            pass


def _collected(phase: str, info: dict[str, int]) -> None:
    until = time.process_time() + 5.0
    while time.process_time() < until:
        pass


def test_an_interruption_lost_in_a_destructor_comes_again_unreported(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        _Slow()  # dies at once
        _never_ends()

    start = time.process_time()
    with pytest.raises(OutOfTimeError), allowance(0.1):
        work()
    assert time.process_time() - start < SOON
    assert capsys.readouterr().err == ""


def test_an_interruption_lost_in_the_garbage_collector_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        gc.collect()  # calls back twice
        _never_ends()

    gc.callbacks.append(_collected)
    try:
        with pytest.raises(OutOfTimeError), allowance(0.1):
            work()
    finally:
        gc.callbacks.remove(_collected)
    assert capsys.readouterr().err == ""


def test_an_integrand_of_a_compiled_library_is_interrupted() -> None:
    def integrand(z: Any, analytic: bool) -> Any:
        return _never_ends()

    start = time.process_time()
    with pytest.raises(OutOfTimeError), allowance(0.1):
        acb.integral(integrand, 0, 1)
    assert time.process_time() - start < SOON


def test_waiting_costs_nothing() -> None:
    # On a loaded machine a process mostly waits: its limit does not come nearer meanwhile.
    with allowance(0.2):
        time.sleep(0.5)


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

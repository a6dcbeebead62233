"""A hard limit on the processor time that a part of an examination may take, whatever it is doing."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Exceptions are lost in destructors, in callbacks of the garbage collector and in some callbacks of compiled libraries:
# after the limit the interruption is repeated this often.
_AGAIN = 0.25


class OutOfTimeError(BaseException):
    """The time allowed is used up. No `Exception`, so that no library in between can swallow it."""


@contextmanager
def allowance(seconds: float) -> Iterator[None]:
    """Raises OutOfTimeError inside the block after so many seconds of processor time of this process.

    Before the block where none are left: then nothing depends on how long the first thing in it takes.
    An interruption that falls where Python can only report exceptions is repeated until it arrives, without a report.
    Needs the main thread and a system with interval timers; elsewhere the loops that look at the clock themselves have
    to end on their own. Blocks must not be nested.
    """
    if seconds <= 0.0:
        raise OutOfTimeError
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if armed:
            raise OutOfTimeError

    report = sys.unraisablehook

    def unheard(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, OutOfTimeError):
            report(lost)

    before = signal.signal(signal.SIGPROF, interrupt)
    sys.unraisablehook = unheard
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3), _AGAIN)
    try:
        try:
            yield
        except _CARRIERS as error:
            if _is_ours(error):
                raise OutOfTimeError from error
            raise
        finally:
            armed = False
    finally:  # also if the alarm falls between the end of the block and the line above
        armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
        sys.unraisablehook = report


# What an interruption arrives as, where the code that it interrupted makes something else of it.
_CARRIERS = (SystemError, RuntimeError, ValueError, TypeError, AttributeError, ArithmeticError)


def _is_ours(error: BaseException) -> bool:
    """Whether an interruption is behind an exception: compiled code may turn one into a SystemError.

    Repeated interruptions hang on one another: the chain may be longer than the interpreter's stack is deep.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        if isinstance(one, OutOfTimeError):
            return True
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
    return False

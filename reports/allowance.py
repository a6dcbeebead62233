"""A hard limit on the time that a part of an examination may take, whatever it is doing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# After the limit the interruption is repeated this often, should the first one be lost in a destructor.
_AGAIN = 0.25


class OutOfTimeError(BaseException):
    """The time allowed is used up. No `Exception`, so that no library in between can swallow it."""


@contextmanager
def allowance(seconds: float) -> Iterator[None]:
    """Raises OutOfTimeError inside the block after so many seconds.

    Needs the main thread and a system with interval timers; elsewhere the loops that look at the clock themselves have
    to end on their own. Blocks must not be nested.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if armed:
            raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), _AGAIN)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)

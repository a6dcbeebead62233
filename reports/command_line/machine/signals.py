"""Ends from outside: Ctrl-C at any moment, also while modules are loaded, and a kill while workers are at work.

Standard library only: this is the first module that the command loads.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from giantsteps.reports.command_line.problems import INTERRUPTED

# An interruption that falls where Python can only report exceptions is repeated after so many seconds.
_AGAIN = 0.05
# What ends a command that has worker processes; a shell reports 128 and the signal's number.
_KILLS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class _State:
    """What the handlers need to know: whether Ctrl-C was pressed, and whether there are workers to end."""

    asked = False
    workers = False


class Terminated(BaseException):
    """The command was killed while it had worker processes, which have to end first; `code` is its exit code.

    Like KeyboardInterrupt no `Exception`: no handler of errors may swallow it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


def listen(debug: bool = False) -> None:
    """Ctrl-C ends the command at once and in silence; `interruptible` code meets a KeyboardInterrupt instead.

    A SIGINT that is ignored stays ignored. Without ``debug`` nothing that Python reports of its own accord (exceptions
    in destructors and threads) comes to the terminal.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    report = sys.unraisablehook

    def unheard(lost: sys.UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, KeyboardInterrupt):
            again = threading.Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            again.start()
        elif debug:
            report(lost)

    sys.unraisablehook = unheard
    if not debug:
        threading.excepthook = lambda _: None


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside the block a Ctrl-C raises KeyboardInterrupt, where the command `listen`s."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    try:
        signal.signal(signal.SIGINT, _interrupt)
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed: what compiled code makes of a KeyboardInterrupt may be another exception."""
    return _State.asked


@contextmanager
def terminable() -> Iterator[None]:
    """Inside the block SIGTERM and SIGHUP raise Terminated instead of ending the process; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kills = [number for number in _KILLS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in kills:
            signal.signal(number, _terminate)
        _State.workers = True
        yield
    finally:
        _State.workers = False
        for number in kills:
            signal.signal(number, signal.SIG_DFL)


def hold_back() -> None:
    """Signals wait in this thread, and in a process that it starts until the process `leave_interrupts_to_the_parent`.

    A Ctrl-C reaches every process of the terminal; a worker that is still loading modules would show a traceback.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_KILLS})


def leave_interrupts_to_the_parent() -> None:
    """In a worker: Ctrl-C is the parent's to answer; a kill ends the worker as any process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_KILLS})


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # A module that is being loaded may swallow an exception, and leaves nothing to put in order.
    if _is_loading(frame) and not _State.workers:
        os._exit(INTERRUPTED)
    _State.asked = True
    raise KeyboardInterrupt


def _is_loading(frame: FrameType | None) -> bool:
    """Whether an import is under way."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _terminate(number: int, frame: FrameType | None) -> None:
    for kill in _KILLS:  # one is enough: ending takes a moment
        signal.signal(kill, signal.SIG_IGN)
    raise Terminated(number)

"""What all tests share."""

from __future__ import annotations

import signal

from onestep.reports.command_line.machine.pace import steady

steady()  # as in every process of the command

# What a shell starts in the background ignores Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

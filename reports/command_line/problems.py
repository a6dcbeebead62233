"""What ends a command early, and with which exit code.

Exit codes are public: 0 done and verified; 1 a claim refuted, a mutant not refuted, a check failed, or drift; 2
unusable input or an option that is not built yet; 3 something inconclusive or not converged; 4 an internal error.
"""

from __future__ import annotations

DONE, FAILED, UNUSABLE, UNDECIDED, INTERNAL = range(5)
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
BROKEN_PIPE = 141  # 128 + SIGPIPE, as for any program whose reader went away


class InputProblem(Exception):
    """Unusable input, exit code 2 unless another one is given.

    The message is one sentence: what was given, what is accepted, an example.
    """

    def __init__(self, message: str, code: int = UNUSABLE) -> None:
        super().__init__(message)
        self.code = code


def not_built(what: str, instead: str = "") -> InputProblem:
    """The problem of asking for a part of the command line that does not exist yet."""
    return InputProblem(f"{what} is not built yet" + (f"; {instead}" if instead else ""))

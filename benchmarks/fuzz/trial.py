"""One trial of the campaign: a command line run in this process and held against the contract of the command line, or
a model whose certificate has to hold what doubles and more digits say.
"""

from __future__ import annotations

import io
import json
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from random import Random
from types import FrameType
from typing import TYPE_CHECKING

from benchmarks.fuzz.lines import expression

if TYPE_CHECKING:
    from giantsteps import Certificate, Solution

# Processor time after which a command line, all of which ask for little, counts as one that never ends.
LIMIT = 120
_ENDED_WELL = (0, 2, 3)


@dataclass(frozen=True)
class Ended:
    """How a command line ended: exit code, both streams, and processor time in seconds."""

    code: int
    out: str
    err: str
    seconds: float = 0.0


class _NeverEndsError(BaseException):
    """Raised inside of a command line that is past the limit."""


def run_line(words: list[str]) -> Ended:
    """Run a command line here, in an empty folder."""
    from giantsteps.reports.command_line.cli import run

    out, err, begun, code = io.StringIO(), io.StringIO(), time.process_time(), -1
    with (
        tempfile.TemporaryDirectory() as folder, chdir(folder), _limited() as stopped, redirect_stdout(out),
        redirect_stderr(err), suppress(_NeverEndsError),
    ):  # fmt: skip
        code = run(words)
    # The command line may have told the stop as an error of its own.
    return Ended(-1 if stopped else code, out.getvalue(), err.getvalue(), time.process_time() - begun)


def fault_of_line(words: list[str], ended: Ended) -> str:
    """What is wrong with how a command line ended; empty where nothing is."""
    if not words:  # the command alone shows its help, with the exit code of a misuse
        return "" if ended.code == 2 and "Usage:" in ended.err and not ended.out else "no help without a command"
    said = [one for one in ended.err.splitlines() if one.strip()]
    helped = "--help" in words or "-h" in words
    if ended.code == -1 or ended.seconds > LIMIT:
        return f"no answer after {LIMIT} s of processor time"
    refuted = ended.code == 1 and words[0] == "compare" and "REFUTED" in ended.out
    if not (ended.code in _ENDED_WELL or refuted):
        return f"exit code {ended.code}: {ended.err[-300:]}"
    if "Traceback" in ended.err + ended.out:
        return "a traceback is shown"
    if ended.code == 2 and ended.out:
        return "refused, and something stands on stdout"
    if ended.code == 2 and len([one for one in said if not one.startswith("giantsteps: warning:")]) != 1:
        return f"refused in {len(said)} lines: {ended.err[:300]}"
    if strange := [one for one in said if not one.startswith(("giantsteps: ", "Usage: "))]:
        return f"said on stderr: {strange[0][:200]}" if not helped and ended.code != 2 else ""
    if ended.code in (0, 3) and "--json" in words and not helped and "--version" not in words:
        return _fault_of_document(ended.out)
    # A sentence on stderr is an answer where there is none to print.
    told = ended.code == 2 or (ended.code == 3 and len(said) == 1)
    return "" if ended.out or told else "ended well and printed nothing"


def _fault_of_document(text: str) -> str:
    """What is wrong with a JSON document: more or less than one, or a number that is none."""
    names: list[str] = []
    try:
        document = json.loads(text, parse_constant=lambda name: names.append(name))
    except json.JSONDecodeError as error:
        return f"no JSON document: {error}"
    if names:
        return f"{names[0]} in the JSON"
    return "; ".join(_impossible(document))


def _impossible(found: object, unconverged: bool = False) -> Iterator[str]:
    """Numbers of an answer that cannot be: negative errors of prediction, converged points with a large residual."""
    if isinstance(found, dict):
        # What did not converge is printed as it stands, with all that it is made of, and said not to be an answer.
        unconverged = found.get("converged", not unconverged) is False
        for name in () if unconverged else ("test_error", "training_error", "mean_squared_error"):
            value, estimate = found.get(name), found.get("error_estimate")
            # A comparison has an estimate for each of its errors.
            left = abs(estimate) if isinstance(estimate, float) else 0.0
            if isinstance(value, float) and value < -1e-9 * (1.0 + left):
                yield f"{name} {value}"
        if found.get("converged") is True and isinstance(size := found.get("residual"), float) and size > 1e-8:
            yield f"converged with a residual of {size}"
        for name, one in found.items():
            # Extrapolated from noisy sizes to infinity a small error may come out below zero; deviates have both signs.
            if name not in ("extrapolated", "z"):
                yield from _impossible(one, unconverged)
    elif isinstance(found, list):
        for one in found:
            yield from _impossible(one, unconverged)


def fault_of_certificate(number: int) -> str | None:
    """What is wrong with the certificate of model ``number``; empty where nothing is, None where there is none to try.

    The certificate is asked for to a few and to many digits: the balls of every unknown have to meet, and the doubles
    have to lie within their own error estimate of the narrow one.
    """
    from giantsteps import ExpressionError, Model, ModelError, PrecisionError, activation, certify, solve

    random = Random(f"certificate {number}")
    try:
        model = Model(
            activation(expression(random, 2)),
            activation(expression(random, 1)),
            alpha=round(10 ** random.uniform(-1, 1), 3),
            beta=round(10 ** random.uniform(-1, 1), 3),
            ridge=round(10 ** random.uniform(-3, 1), 4),
            noise=random.choice((0.0, 0.0, 0.1, 1.0)),
            spike=round(random.uniform(-3, 3), 2),
            bulk=round(random.uniform(0.2, 3), 2),
            alignment=round(random.uniform(-1, 1), 2),
        )
        with _limited():
            rough, fine = (certify(model, digits=digits) for digits in (6, 14))
            doubles = solve(model)
    except (ExpressionError, ModelError, PrecisionError):
        return None
    except _NeverEndsError:
        return f"no certificate after {LIMIT} s of processor time: {model}"
    fault = fault_of_numbers(rough, fine, doubles)
    return f"{fault} ({model})" if fault else fault


def fault_of_numbers(rough: Certificate, fine: Certificate, doubles: Solution) -> str | None:
    """The unknowns and errors whose balls do not meet, or leave out the doubles; None where nothing is certified."""
    if not (rough.balls and fine.balls):
        return None
    found = []
    for name in ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2"):
        wide, narrow = getattr(rough.balls, name), getattr(fine.balls, name)
        if not wide.overlaps(narrow):
            found.append(f"{name}: {wide} and {narrow}")
    for name in ("test_error", "training_error"):
        ball = getattr(fine.balls, name)
        if abs(float(ball.mid()) - getattr(doubles, name)) > doubles.error_estimate + 2.0 * float(ball.rad()):
            found.append(f"{name}: {getattr(doubles, name)!r} +/- {doubles.error_estimate:.1e} and {ball}")
    return "; ".join(found)


@contextmanager
def _limited() -> Iterator[list[int]]:
    """Stops what takes more than the limit of processor time; the list has an entry where that was needed."""

    stopped: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stopped.append(number)
        raise _NeverEndsError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        yield stopped
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

"""What `giantsteps solve --certify` says of a range LOW:HIGH of one parameter: a certified branch."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.console import Output, table
from giantsteps.reports.command_line.problems import InputProblem, shown
from giantsteps.reports.command_line.request import Request
from giantsteps.reports.command_line.values import RULES, parse_number, parse_values

if TYPE_CHECKING:
    from giantsteps.numerics.certificates.ranges.branch import Branch

_STEPS = 200


@dataclass(frozen=True)
class Range:
    """A parameter from its low end to its high end."""

    name: str
    low: float
    high: float


def range_of(options: Mapping[str, Any]) -> Range | None:
    """The parameter given as LOW:HIGH; None where none is. Raises InputProblem."""
    found: list[Range] = []
    for name in RULES:
        text = options.get(name) or ""
        parts = text.split(":")
        if len(parts) != 2 or any(parse_number(part.strip()) is None for part in parts):
            continue
        low, high = (parse_values(name, part).values[0] for part in parts)
        if not low < high:
            raise InputProblem(
                f"--{name} was given {shown(text)}; a range is LOW:HIGH with LOW < HIGH, for example --{name} 1:2"
            )
        found.append(Range(name, low, high))
    if len(found) > 1:
        raise InputProblem(
            f"--certify was given ranges of {' and '.join(along.name for along in found)}; it accepts one, for example "
            "--alpha 1:2"
        )
    return found[0] if found else None


def branch(asked: Request, along: Range, digits: int | None, out: Output, seconds: float) -> Branch:
    """The certified branch of the model asked for, within so many seconds of processor time. Raises InputProblem."""
    from giantsteps.numerics.certificates.ranges.branch import certify_branch
    from giantsteps.numerics.models.model import ModelError

    if digits is not None:
        raise InputProblem(
            f"--digits {digits} was given with the range {along.low:g}:{along.high:g} of {along.name}; it takes one "
            f"point, for example --{along.name} {along.low:g}"
        )
    model = asked.model(next(asked.points()))
    end = time.process_time() + seconds
    with out.progress("certifying", _STEPS) as progress:

        def step(reached: float) -> bool:
            progress.step(done=int(_STEPS * (reached - along.low) / (along.high - along.low)))
            return time.process_time() < end

        try:
            return certify_branch(model, along.name, along.low, along.high, step=step)
        except ModelError as error:
            raise InputProblem(str(error)) from None


def branch_text(found: Branch) -> str:
    """The branch for people: a line for every piece, and how much of the range is certified."""
    rows = [
        [repr(piece.low), repr(piece.high), piece.texts().get("test_error", ""), piece.status] for piece in found.pieces
    ]
    header = [f"{found.parameter} from", "to", "test error", "status"]
    text = table(rows, header, right=frozenset({0, 1}))
    only = f", each with the only solution in its box (by {found.only_by})" if found.only_by else ""
    share = math.floor(found.certified_fraction * 1e4) / 1e4  # never more than is certified
    return f"{text}\ncertified {share:g} of the range{only}"

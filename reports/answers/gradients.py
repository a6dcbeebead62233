"""What `giantsteps solve --gradient` adds to a solution, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from giantsteps.numerics.models.documents import finite
from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.command_line.console import number
from giantsteps.reports.command_line.problems import InputProblem

if TYPE_CHECKING:
    from giantsteps.numerics.models.solution import Solution
    from giantsteps.reports.answers.solved_together import SolvedPoint
    from giantsteps.reports.command_line.request import Request


def names_of(option: str, text: str) -> tuple[str, ...]:
    """The numbers named by the option. Raises InputProblem for other names."""
    from giantsteps.numerics.saddle_point.gradient import GIVEN, OF_STEP

    names, known = tuple(text.split(",")), dict.fromkeys((*GIVEN, *OF_STEP))
    for name in names:
        if name not in known:
            raise InputProblem(
                f"{option} {text!r} is not accepted: one or several of {', '.join(known)} are, joined by commas, for "
                "example --gradient eta,ridge"
            )
    return names


def check_gradient(asked: Request) -> None:
    """Raises InputProblem for a learned bias, which moves with every number."""
    if asked.learned_bias:
        raise InputProblem("--gradient requires quenched biases, not --bias learned: use for example --bias 0.3:1")


def gradient_json(solution: Solution | SolvedPoint | str, names: tuple[str, ...], swept: bool) -> dict[str, Any]:
    """The entry "gradient": value and error_estimate by name; null at a point of a sweep that has none.

    Raises InputProblem where a single point has none, and converged.
    """
    try:
        if isinstance(solution, str) or not solution.converged:
            return {"gradient": None}
        found = cast("Solution", solution).gradient(*names)
    except ModelError as reason:
        if swept:
            return {"gradient": None}
        raise InputProblem(str(reason)) from None
    return {"gradient": finite({name: one._asdict() for name, one in found.items()}, "out of reach")}


def gradient_rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    """The derivatives for people, as names and values."""
    return [
        (f"d test_error/d {name}".replace("_", " "), f"{number(one['value'])} +- {number(one['error_estimate'], 2)}")
        for name, one in (document.get("gradient") or {}).items()
    ]

"""The value at a finite width that stands beside every limit, and the sentence where the two are far apart.

What the limit drops of order 1/p (`numerics.saddle_point.finite_width`) may be large where the data hold the means
weakly: after a small step, for functions mu0 that nearly vanish or nearly coincide.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.width_documents import apart_points, apart_sentence, at_width_json, is_apart
from giantsteps.reports.command_line.values import parse_whole

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

# As `numerics.models.solution.WIDTH`, which a start of the command line does not wait for; and the widest that is asked
# for.
WIDTH, WIDEST = 1000, 10**11


def parse_width(text: str | None) -> int:
    """The value of --width. Raises InputProblem."""
    return WIDTH if text is None else parse_whole("width", text, 1, WIDEST, "1000")


def apart_line(documents: Sequence[dict[str, Any]], width: int) -> str | None:
    """The sentence for one point or a sweep; None where all points agree."""
    if len(documents) == 1:
        return apart_sentence(documents[0])
    return apart_points(width, sum(map(is_apart, documents)), len(documents))


def shown(document: dict[str, Any], digits: int = 10) -> str:
    """The test error at the finite width for a cell of a table."""
    from giantsteps.reports.command_line.console import number

    there = document.get("at_width")
    return "-" if there is None or not isinstance(there["test_error"], float) else number(there["test_error"], digits)


def width_rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    """The errors at the finite width for people; nothing where there is no limit, the reason where they are missing."""
    from giantsteps.reports.command_line.console import number

    there = document.get("at_width")
    if there is None:
        return [("at finite width", document["why"])] if document.get("why") else []
    errors = [
        number(there[name]) if isinstance(there[name], float) else "-" for name in ("test_error", "training_error")
    ]
    return [(f"at width {there['width']}", f"test error {errors[0]}, training error {errors[1]}")]


def best_at_width(best: dict[str, Any], width: int, model: Model) -> dict[str, Any]:
    """The document of a best ridge with the errors at the finite width there."""
    from giantsteps.numerics.saddle_point.solve import solve

    ridge = best["ridge"]
    if not isinstance(ridge, float):
        return best | {"at_width": None, "why": "at infinite ridge a readout of finite width vanishes"}
    solution = solve(model.changed(ridge=ridge))
    return best | at_width_json(width, solution.converged, partial(solution.at_width, width))


def tell_warnings(models: Sequence[Model], quiet: bool) -> None:
    """The warnings of the models on stderr, each sentence once and no more than three."""
    from giantsteps.reports.command_line.console import note

    sentences = list(dict.fromkeys(sentence for model in models for sentence in model.warnings))
    for sentence in sentences[:3]:
        note(f"warning: {sentence}", quiet)
    if len(sentences) > 3:
        note(f"warning: the same in other numbers at {len(sentences) - 3} more points", quiet)

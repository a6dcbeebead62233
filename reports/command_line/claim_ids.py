"""The ids of claims as a command is given them: whole, cut short, or as an equation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from giantsteps.reports.command_line.problems import InputProblem

if TYPE_CHECKING:
    from giantsteps.verify.protocol.claim import Claim

# Ids that a message names.
MOST_MEANT = 6


def beginning_with(ids: Sequence[str], text: str) -> list[str]:
    """The id that a text is, or else all ids that begin with it; none for an empty text."""
    given = text.strip()
    return [given] if given in ids else [id_ for id_ in ids if given and id_.startswith(given)]


def find(known: Sequence[Claim], id_: str, option: str = "") -> list[Claim]:
    """The claim called ``id_``, those whose ids begin so, or those of an equation, as of "(9)" or "eq. 9".

    ``option`` names their paper in an example.

    Raises InputProblem naming those that may be meant.
    """
    ids = beginning_with([claim.id for claim in known], id_) or of_equation(known, id_)
    if ids:
        return [claim for claim in known if claim.id in ids]
    numbers_ = [number for claim in known for number in claim.source.equations]
    if numbers_ and re.fullmatch(_EQUATION, id_.strip().lower()):
        raise InputProblem(
            f"no claim is of equation {id_[:80]!a}: those of ({min(numbers_)}) to ({max(numbers_)}) have one, for "
            f'example giantsteps claims{option} "({max(numbers_) if option else 9})"'
        )
    close = meant(known, id_.strip().lower())
    if len(close) > MOST_MEANT:
        close = [*close[:MOST_MEANT], "..."]
    raise InputProblem(
        f"no claim is called {id_[:80]!a}; `giantsteps claims{option}` lists those accepted, which may be cut short, "
        f"for example {', '.join(close)}"
    )


_EQUATION = r"(?:eq(?:uation|n)?)?[.\s-]*\(?(\d{1,4})\)?"


def of_equation(known: Sequence[Claim], text: str) -> list[str]:
    """The ids of the claims that cover the equation whose number a text is, or whose source names it."""
    number = re.fullmatch(_EQUATION, text.strip().lower())
    return [claim.id for claim in known if number and f"({number[1]})" in str(claim.source)]


def meant(known: Sequence[Claim], text: str) -> list[str]:
    """The ids that a text may stand for: a part of the id, or a misspelling."""
    from difflib import get_close_matches

    ids = [claim.id for claim in known]
    part = text.replace(" ", "-")
    by_part = [id_ for id_ in ids if part and part in id_]
    return by_part or get_close_matches(part, ids, n=3, cutoff=0.4) or ids[:1]

"""Formulas as the slides print them: the claim that is right, with another statement."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from giantsteps.verify.protocol.claim import Claim, Kind, Role, Source
from giantsteps.verify.protocol.statement import Wrong, slips


def printed(
    right: Claim, name: str, title: str, frame: str, statement: sp.Basic, *, wrong: Wrong | None = None, note: str = ""
) -> Claim:
    """The checks of ``right``, which corrects it, on the statement that the slides print on ``frame``."""
    own = as_printed(right, name, title, frame, note)
    return replace(own, statement=statement, uses=(), mutants=slips(statement, wrong or {}), correction=right)


def convention(
    right: Claim, name: str, title: str, frame: str, statement: sp.Basic, *, wrong: Wrong | None = None, note: str = ""
) -> Claim:
    """The same of a statement that is another convention or reading than that of ``right``, and no misprint."""
    return replace(printed(right, name, title, frame, statement, wrong=wrong, note=note), kind=Kind.CONVENTION)


def as_printed(right: Claim, name: str, title: str, frame: str, note: str = "") -> Claim:
    """A formula that the slides print as we state it."""
    return replace(
        right,
        id=f"slides.{name}",
        title=title,
        source=Source("slides", frame, right.source.equations),
        role=Role.PRINTED,
        uses=(right.id,),
        note=note,
    )


def named(claims: tuple[Claim, ...], id_: str) -> Claim:
    """The claim of a module that is called ``id_``. Raises LookupError if there is none."""
    for claim in claims:
        if claim.id == id_:
            return claim
    raise LookupError(f"no claim is called {id_}")

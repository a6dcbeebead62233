"""The paper as data: what `--paper another_paper.paper` finds."""

from __future__ import annotations

from giantsteps.verify.protocol.paper import Chapter, Document, Paper

from . import symbols as s
from .claims import NAME

PAPER = Paper(
    name=NAME,
    about="Ridge regression on features that are correlated with those of the teacher. Its errors follow from a few "
    "numbers, whatever the covariances are.",
    equations=range(0),
    symbols=s.TABLE.entries,
    growing=frozenset({s.dimension}),
    siblings=((s.teacher, s.student), (s.noise, s.ridge)),
    modules=(f"{__package__}.claims",),
    chapters=(Chapter("errors", "Errors", ("errors",)), Chapter("fit", "One sample and the fit", ("fit",))),
    sources=(
        Document(
            NAME,
            "Learning curves of generic features maps for realistic datasets with a teacher-student model",
            "B. Loureiro, C. Gerbelot, H. Cui, S. Goldt, F. Krzakala, M. Mézard, L. Zdeborová, arXiv 2102.08127",
            had="derived here; the printed formulas were not at hand",
        ),
    ),
)

"""The second paper as data: no symbol, number, module or source of it is known to the suite."""

from __future__ import annotations

from giantsteps.verify.protocol.paper import Chapter, Document, Erratum, Formula, Paper
from tests.verify.second_paper import symbols as s

SECOND = Paper(
    name="Ridge regression",
    equations=range(1, 8),
    symbols=s.TABLE.entries,
    growing=frozenset({s.dimension, s.samples}),
    siblings=((s.noise, s.signal), (s.ratio, s.ridge)),
    modules=("tests.verify.second_paper.claims",),
    chapters=(
        Chapter("errors", "Errors of the ridge readout", ("ridge",)),
        Chapter("double-descent", "Double descent", ("double-descent",)),
        Chapter("lecture", "The lecture as printed", ("lecture",)),
    ),
    sources=(
        Document("Ridge regression", "Ridge regression in high dimensions", "a made-up paper"),
        Document(
            "Lecture",
            "Notes on ridge regression",
            "a made-up lecture",
            (Formula("Bias and variance", "the variance", ("lecture.variance", "ridge.variance")),),
        ),
    ),
    errata=(
        Erratum(
            "erratum.variance",
            "lecture.variance",
            "ridge.variance",
            "Without the factor the variance stays finite at the interpolation threshold.",
        ),
    ),
)

"""The chapters of the report: which parts of the theory stand together, in the order of the paper."""

from __future__ import annotations

from dataclasses import dataclass

from onestep.reports.page.dependencies import group_of


@dataclass(frozen=True)
class Chapter:
    """A chapter: the slug of its pages, its title, and the parts (what ids of claims begin with) that it holds."""

    slug: str
    title: str
    parts: tuple[str, ...]


CHAPTERS: tuple[Chapter, ...] = (
    Chapter("gradient-step", "The gradient step", ("section-2", "hermite", "result-3-1", "alignment")),
    Chapter("equivalence", "The equivalent map along the spike", ("result-3-2",)),
    Chapter(
        "free-energy", "Replicas and the free energy", ("definitions", "replicas", "convex", "dropped", "leave-one-out")
    ),
    Chapter(
        "saddle-point",
        "The saddle point",
        ("result-3-3", "spectral", "finite-bulk", "no-spike", "vanishing-spike", "invariance"),
    ),
    Chapter("random-features", "Random features and convex losses", ("random-features", "convex-features")),
    Chapter("bounds", "Bounds and closed forms", ("bounds", "closed-form")),
    Chapter(
        "letters",
        "Readouts of several values, spikes of several directions",
        ("appendix-d", "finite-alphabet", "letter-density", "spike-directions"),
    ),
    Chapter("spectrum", "The spectrum of the features", ("appendix-f",)),
    Chapter("network-bulk", "The network's own bulk", ("beyond",)),
    Chapter("leap", "Higher leaps and other learning rates", ("wider", "multi-index")),
    Chapter("slides", "The slides as printed", ("slides",)),
)
# Where a part is in no chapter.
OTHER = Chapter("other", "Other claims", ())


def chapter_of(claim: str) -> Chapter:
    """The chapter of a claim, by its id."""
    return next((chapter for chapter in CHAPTERS if group_of(claim) in chapter.parts), OTHER)

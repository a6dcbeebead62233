"""Pages that take too long whole: made from a part of their samples, or with what is slow made up here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from onestep.reports.measurements import calibration, close_basins, learned_basins, network_trial
from onestep.reports.measurements.experiments import as_text
from onestep.reports.measurements.models import measured, stored
from onestep.reports.measurements.study import Study
from onestep.reports.measurements.theory import judge
from onestep.reports.page.pdf import sources
from onestep.reports.page.site import CUT, FIRST, site
from onestep.reports.studies import bound_functions, spectrum_sample
from onestep.reports.text.ledger_markdown import markdown
from onestep.reports.text.public_names import described
from onestep.verify.claims.paper import PAPER
from onestep.verify.ledger.document import as_json
from tests.reports.templates import material as small
from tests.reports.templates.test_derivations import FIRST as FIRST_CLAIM
from tests.reports.templates.test_derivations import OTHER as OTHER_CLAIM
from tests.reports.templates.test_derivations import SECOND as SECOND_CLAIM
from tests.reports.templates.test_derivations import SHARED, derivation
from tests.reports.templates.test_grounds import THEOREMS, with_theorems


def spectra() -> Study:
    """The spectrum of the first sample alone."""
    sample = json.loads((spectrum_sample.FOLDER / f"{spectrum_sample.SLUG}.json").read_text(encoding="utf-8"))
    with patch.object(spectrum_sample, "CASES", spectrum_sample.CASES[:1]):
        rows = spectrum_sample.rows_of(sample)
        return replace(spectrum_sample.page(rows), figures=(spectrum_sample.drawn(rows),))


def bounds_along_the_rate() -> Study | None:
    """Two problems at few rates, with certificates made up here."""
    made = bound_functions.certify_optimum.Optimum
    certificates = made("estimated: for a reason"), made("estimated: for another")
    with (
        patch.object(bound_functions, "STEPS", bound_functions.STEPS[:2]),
        patch.object(bound_functions, "RATES", np.linspace(0.25, 12.0, 5)),
        patch.object(bound_functions, "RIDGE_RATES", (3.0,)),
        patch.object(bound_functions, "_certificates", lambda *_: certificates),
    ):
        return bound_functions.study()


def calibrated() -> Study | None:
    """The calibration of two items, as if no other had been measured."""
    data = {key: samples for key, samples in stored().items() if key in QUICK}
    found = [(item, drawn, judge(drawn, runs)) for item, drawn, runs in measured(data)]
    with (
        patch.object(learned_basins, "judged", lambda *_: found),
        patch.object(close_basins, "paragraphs", lambda *_: ("of basins",)),
        patch.object(close_basins, "tables", lambda *_: ()),
        patch.object(calibration, "_network_deviates", lambda: [0.3, -1.2, 0.9]),
    ):
        return calibration.study()


# Cheap to judge.
QUICK = ("plain", "noise")


def trial() -> str:
    """The page of the network's own bulk with the measurements of every second network."""
    with patch.object(network_trial, "POINTS", network_trial.POINTS[::2]):
        measured_ones = network_trial.network_trial()
    assert measured_ones is not None
    return site(replace(small.material(), trial=measured_ones))["network.html"]


def paper() -> str:
    """The first page and the page of a study where the figures of the paper are there."""
    drawn = replace(small.STUDIES[0].figures[0], name=FIRST)
    first = replace(small.STUDIES[0], slug="figure_1", figures=(drawn,))
    pages = site(replace(small.material(), studies=(first, small.STUDIES[1])))
    return pages["index.html"] + pages["study-figure-1.html"]


def grounds() -> str:
    """The report with theorems: what they stand on, how far to trust it, and the page of a claim of each kind."""
    pages = with_theorems()
    names = ("leaves.html", "definitions.html", "trust.html")
    return "\n".join(pages[name] for name in (*names, *map(small.claim_page, THEOREMS)))


def assumed() -> str:
    """What is assumed, where two claims share a hypothesis."""
    ledger = small.material().ledger
    shared = [replace(entry, hypotheses=("hypothesis of two",)) for entry in ledger.entries[:2]]
    entries = (*shared, *ledger.entries[2:])
    return site(replace(small.material(), ledger=replace(ledger, entries=entries)))["assumptions.html"]


def derivations() -> str:
    """Derivations that share a step, of which two do not fit a page, and what the PDF has of them."""
    long = replace(derivation(FIRST_CLAIM, SHARED), hypotheses=("words " * (CUT // 9),))
    longer = replace(derivation(SECOND_CLAIM, SHARED), hypotheses=("words " * (CUT // 9),))
    made = replace(small.material(), derivations=[long, longer, derivation(OTHER_CLAIM)])
    texts = [text for name, text in site(made).items() if name.startswith("derivations")]
    return re.sub("(?:words ?){99,}", "words", "\n".join((*texts, sources(made)["main.typ"].decode())))


def offered(number: float, *rest: int, word: str = "a word", many: Sequence[str] = (), **further: Any) -> list[float]:
    """What is offered, x^2 of equation (101) and `Offered`.

    A second paragraph, of equations (4)-(7). Raises ValueError.
    """
    raise ValueError(number, rest, word, many, further)


class Offered:
    """A class of several members, equations (102)-(103)."""

    __module__ = "onestep.made_up"

    def method(self, other: int = 3, *, word: str = "a default of more letters than are shown") -> int:
        """What a method does, with `offered`."""
        raise ValueError(other, word)

    @classmethod
    def made(cls, other: int) -> Offered:
        """What the class makes."""
        raise ValueError(other)

    @staticmethod
    def alone(other: int) -> int:
        """What needs no instance."""
        raise ValueError(other)

    @property
    def size(self) -> int:
        """What a property says."""
        raise ValueError

    def _hidden(self) -> None:
        """What no page shows."""


class Failed(ValueError):
    """An exception."""


class Alone:
    """A class of one member."""

    __module__ = "onestep.made_up"

    def method(self) -> None:
        """Nothing."""


def library() -> str:
    """The page of a library that offers a function, two classes and an exception."""
    names = [described(made.__name__, made) for made in (offered, Offered, Alone, Failed)]
    with patch("onestep.reports.page.site.public_names", lambda: names):
        return site(small.material())["library.html"]


def ledger_in_markdown() -> str:
    """The small ledger as it is committed."""
    return "\n".join(markdown(as_json(small.material().ledger), PAPER.chapters).values())


def printed_study() -> str:
    """A study as the terminal shows it."""
    return as_text(small.STUDIES[0])


STUDIES: dict[str, Callable[[], Study | None]] = {
    "spectra": spectra, "bounds along the rate": bounds_along_the_rate, "calibrated": calibrated,
}  # fmt: skip
TEXTS: dict[str, Callable[[], str]] = {
    "trial": trial,
    "the paper's figures": paper,
    "grounds": grounds,
    "assumed": assumed,
    "derivations": derivations,
    "library": library,
    "ledger": ledger_in_markdown,
    "a study in the terminal": printed_study,
}

"""Pages that take too long whole: made from a part of their samples, or with what is slow made up here."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import sympy as sp

from onestep.derivations.language.derivation import Derivation, Step
from onestep.numerics.bounds.learned_bias import BiasMinimum
from onestep.numerics.experiments.ridge import Prediction
from onestep.reports.activation import gallery as cards
from onestep.reports.activation.gallery import card as gallery_of
from onestep.reports.command_line import completion
from onestep.reports.command_line.cli import cli
from onestep.reports.figures import figures
from onestep.reports.measurements import calibration, close_basins, learned_basins, network_trial
from onestep.reports.measurements import experiments as storing
from onestep.reports.measurements import theory as theories
from onestep.reports.measurements.basin_shares import basin_shares, ended, undecided
from onestep.reports.measurements.experiments import as_text, main, measure, text_of
from onestep.reports.measurements.experiments import stored as stored_samples
from onestep.reports.measurements.models import ITEMS, measured, models_of, stored
from onestep.reports.measurements.study import Study
from onestep.reports.measurements.theory import judge
from onestep.reports.page.described import THEOREM, describe
from onestep.reports.page.pdf import sources
from onestep.reports.page.site import CUT, FIRST, site
from onestep.reports.page.sources import document
from onestep.reports.page.studies import study_of
from onestep.reports.page.views import _new_leaves
from onestep.reports.studies import bound_functions, finite_samples, spectrum_sample
from onestep.reports.studies.networks import predicted
from onestep.reports.studies.networks.drawn import draw, draw_text
from onestep.reports.studies.networks.drawn import entries as listed_entries
from onestep.reports.text.ledger_markdown import markdown
from onestep.reports.text.mathematics import mathml
from onestep.reports.text.prose import heading, prose
from onestep.reports.text.public_names import described
from onestep.reports.text.typst_markup import displayed, markup
from onestep.verify.claims.paper import PAPER
from onestep.verify.ledger.document import as_json
from tests.reports.approved.drawings import drawing
from tests.reports.approved.sayings import LEAVES
from tests.reports.measurements.test_basin_shares import FOUND
from tests.reports.page.test_described import STEPS, x
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
    found[-1] = (*found[-1][:2], undecided(found[-1][2], "it cannot be decided"))
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
    stated = as_json(small.material().ledger) | {"leaves": list(LEAVES)}
    return "\n".join((*markdown(stated, PAPER.chapters).values(), str(document("a source that is not listed"))))


def printed_study() -> str:
    """A study as the terminal shows it."""
    return as_text(small.STUDIES[0])


def gallery() -> str:
    """The gallery of four activations, the page of each, and the drawing of the first."""
    first = gallery_of("sin")
    with patch.object(cards, "drawing", lambda _: ""):
        others = [gallery_of(name) for name in ("leaky relu", "he2", "sign")]
    found = [one for one in (first, *others) if one is not None]
    files = site(replace(small.material(), gallery=[replace(one, svg="") for one in found]))
    pages = [text for name, text in files.items() if name == "gallery.html" or name.startswith("activations/")]
    return "\n".join((*pages, drawing(found[0].svg)))


def described_steps() -> str:
    """A derivation with a step of each kind, as its page has it."""
    symbol = PAPER.symbols[3].symbol
    steps = (*STEPS, Step("with letters", sp.Eq(symbol + PAPER.symbols[1].symbol, 2, evaluate=False)))
    results = {x: sp.Integer(1), symbol: x / 2}
    found = describe(Derivation("a derivation", "nowhere", *steps, results=results, hypotheses=("a", "b")))
    known: set[str] = set()
    rules = (
        f"{THEOREM} ring", f"{THEOREM} sum; hypothesis: a, b, lemma: c", f"{THEOREM} limit; lemma: c, model: d",
        f"{THEOREM} limit; lemma: c, model: d, hypothesis: a, b", "an obligation; model: d",
    )  # fmt: skip
    leaves = [_new_leaves(says, known) for says in rules]
    return "\n".join(map(repr, (*vars(found).items(), *found.steps, *leaves)))


def learning_curves() -> str:
    """The words, series and models of the learning curves, with what is solved and simulated made up here."""

    def shown(axes: Any, line: Any, model: Any, measured_at: Any, points: Any, style: Any, label: str) -> None:
        axes.plot(line, [model(float(place)).alpha for place in line], color=style[0], label=label)
        axes.plot(measured_at, points, style[1], label=repr(model(2.0)))

    def seen(model: Any, *, dimension: int, seeds: int, seed: int) -> Any:
        return SimpleNamespace(test_error=model.alpha + dimension + 10 * seeds + 100 * seed)

    told = []
    drawn_ones = (
        figures.learning_curves_by_batch, figures.learning_curves_by_spike, figures.learning_curves_by_alignment,
    )  # fmt: skip
    with patch.object(figures, "_theory_and_points", shown), patch.object(figures, "simulate", seen):
        for made in drawn_ones:
            one = made(dimension=40, seeds=2)
            told += [one.title, one.caption, one.call, drawing(one.svg), one.data]
    return "\n".join(told)


def shares() -> str:
    """What is said of experiments in one basin of two or three, and where those of the whole line ended."""
    told = []
    three = replace(FOUND, minima=(*FOUND.minima, BiasMinimum(3.0, 0.6)), barriers=(0.1, 2.0), tied=True)
    for found, rank in ((FOUND, 0), (FOUND, 1), (three, 0), (three, 2)):
        names = ("energy_gap",) if found is FOUND else ("energy_gap[0]", "energy_gap[1]")
        drawn = {d: {name: [0.1, -0.02, 0.01 * d / 100, 0.05 * k] for k, name in enumerate(names)} for d in (100, 400)}
        biases: dict[int, Any] = {d: one | {"bias": [-1.0, 0.1, 1.2, 2.9]} for d, one in drawn.items()}
        theory = {d: {name: 0.02 + 0.01 * k for k, name in enumerate(names)} for d in drawn}
        one = basin_shares(found, found.basins(rank), biases, theory)
        told += [str(one.to_dict()), str(one.objection), ended(found, [-2.0, -1.5, 0.2, 2.5]).sentence]
    return "\n".join(told)


def completions() -> str:
    """The scripts of the three shells, and what follows some words."""
    out = io.StringIO()
    for shell in completion.SHELLS:
        for words in ("onestep s", "onestep solve --al", "onestep simulate --kind n", "onestep verify --profile "):
            last = words.rpartition(" ")[2] if shell == "fish" else str(words.count(" "))
            asked = {completion.VARIABLE: f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": last}
            with patch.dict("os.environ", asked), contextlib.redirect_stdout(out):
                print(shell, words, completion.answer(cli))
    return "\n".join((*(completion.script(shell, cli) for shell in completion.SHELLS), out.getvalue()))


# Formulas with every construction that the pages and the PDF have, and prose with what is set in it.
SET = (
    r"\frac{a_{1}^{2}}{\sqrt{b+\frac{1}{c}}}", r"\hat{\psi}+\check{h}_{1}+\tilde{v}+\bar{x}+\overset{!}{=}",
    r"\begin{cases} 1 & x<0 \\ 2\quad & y \end{cases}", r"\sum_{k=2}^{N}\int_{0}^{1} k\,\mathrm{d}x",
    r"\left|\mathrm{Var}[x|y]\right|\le\mathbf{9}", r"\lim_{n\to\infty}\max_{i} x_{i}\;\text{where } \# \$",
    r"\left(\frac{\partial f}{\partial x}\right)^{\star}", r"\underset{x}{\operatorname{argmin}}\ \binom{n}{k}",
)  # fmt: skip
SAID = (
    "psi^ and V1^ of w.theta, a_i^2 <= 3 -> mu_perp^(k) and f^(n+1)", "int dnu^ (1 + h1)^-1 of q_ab^ and m^_k",
    "sqrt(2) and sqrt x of `code` in $\\frac{1}{2}$: sum_k delta_{ij} +- 2^10", "E[(z - h1)^2] != rho~ v~ h1v h2v x_12",
)  # fmt: skip


def typeset() -> str:
    """Formulas as pages and as the PDF have them, and prose."""
    told = [text for latex in SET for text in (mathml(latex, block=True), displayed(mathml(latex, block=True)))]
    return "\n".join(
        (*told, *(text for said in SAID for text in (str(prose(said)), str(heading(said)), markup(prose(said)))))
    )


def energies() -> str:
    """What the page of the calibration says of close minima, from its samples."""
    basins = learned_basins.stored()
    listed = close_basins.paragraphs({learned_basins.ITEM: stored()[learned_basins.ITEM]}, basins)
    tables = ((table.caption, table.columns, *table.rows) for table in close_basins.tables(basins))
    return "\n".join((*listed, *(str(row) for table in tables for row in table)))


# The studies that were measured.
MEASURED = (
    "networks.practitioner", "networks.initial_overlap", "networks.learning_rate", "networks.second_step", "threshold",
    "other_inputs", "paper.samples", "width", "vocabulary", "finite_samples",
)  # fmt: skip


def experiments() -> str:
    """Every experiment whose samples are stored, and what one of each kind measures of small networks."""
    told: list[str] = []
    kinds: dict[tuple[Any, ...], Any] = {}
    for name in MEASURED:
        module = import_module(f"onestep.reports.studies.{name}")
        for one in module.EXPERIMENTS:
            told.append(f"{module.SLUG} {module.SEED} {one!r} {one.subject.readout}")
            kind = type(one), type(one.subject), one.inputs, getattr(one, "target", None), bool(one.stream)
            kinds.setdefault(kind, replace(one, dimension=20, seeds=2))
    return "\n".join((*told, *(f"{one.name}: {one.run(3)}" for one in kinds.values())))


# The studies that take little where nothing is drawn.
MOVED = (
    "studies.finite_samples", "studies.threshold", "studies.other_inputs", "studies.networks.second_step",
    "studies.networks.initial_overlap",
)  # fmt: skip


def moved(name: str) -> str:
    """What a study says of other samples: each experiment's are multiplied by a number of its own from 0.7 to 1.3."""
    module = import_module(f"onestep.reports.{name}")

    def other(*asked: Any) -> Any:
        return {
            key: {
                observed: [one * (1.0 + 0.3 * np.sin(17 * k)) for one in values] for observed, values in found.items()
            }
            for k, (key, found) in enumerate(stored_samples(*asked).items())
        }

    with contextlib.ExitStack() as stack:
        for place in (storing, module):
            if hasattr(place, "stored"):
                stack.enter_context(patch.object(place, "stored", other))
        stack.enter_context(patch.object(module, "drawn", lambda *_: None))
        found = study_of(name)
    assert found is not None
    return as_text(found)


def measuring() -> str:
    """What is stored where some is stored already and some no longer wanted, and what a study says that is run."""
    first, second, third = (replace(one, dimension=10, seeds=2) for one in finite_samples.EXPERIMENTS[::15])
    before = {"unwanted": {"test_error": [1.0, 2.0]}, second.name: {"test_error": [0.25, 0.5, 1.0]}}
    before[third.name] = {"test_error": [0.125]}
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
        path = Path(folder) / "slug.json"
        path.write_text(text_of(before), encoding="utf-8")
        measure("slug", (first, second, third), 5, path.parent)
        found = path.read_text(encoding="utf-8")
        for page in (small.STUDIES[0], None):
            with patch("sys.argv", ["benchmarks"]):
                main("slug", (first,), 5, lambda page=page: page)  # type: ignore[misc]
    return "\n".join((found, re.sub(r"\d+\.\d s$", "(seconds)", out.getvalue(), flags=re.MULTILINE)))


def predictions() -> str:
    """The files of predictions, from predictions that are made up here."""

    def made(drawn: Any, dimension: int, theory: str = "") -> Prediction:
        numbers = {name: (dimension + k + len(theory)) / 7e3 for k, name in enumerate(("test_error", "m"))}
        return Prediction(numbers, {name: 2 * value for name, value in numbers.items()}, dimension < 400)

    listed, slow = listed_entries()[:2], replace(ITEMS[0], slow=True)
    with patch.object(predicted, "at_dimension", made), patch.object(predicted, "entries", lambda: listed):
        told = predicted.text()
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(theories, "ITEMS", (slow, replace(ITEMS[1], slow=False))),
        patch.object(theories, "computed", lambda drawn, d: replace(made(drawn, d), converged=True)),
        patch.object(theories, "SLOW_THEORY", Path(folder) / "theory.json"),
    ):
        theories.write_theory()
        return told + theories.SLOW_THEORY.read_text(encoding="utf-8")


def drawn_models() -> str:
    """The models that were drawn for the items whose rule rejects none, and the networks of any activation."""
    kept = [item for item in ITEMS if item.key != learned_basins.ITEM]
    told = [f"{item.key} {item.runs} {one.name} {one.kind}" for item in kept for one in models_of(item.key)]
    return "\n".join((*told, draw_text(draw()[:5]), text_of({"one": {"error": [0.5, 1.0]}, "two": {}})))


STUDIES: dict[str, Callable[[], Study | None]] = {
    "spectra": spectra, "bounds along the rate": bounds_along_the_rate, "calibrated": calibrated,
}  # fmt: skip
TEXTS: dict[str, Callable[[], str]] = {
    "trial": trial, "the paper's figures": paper, "grounds": grounds, "assumed": assumed, "derivations": derivations,
    "library": library, "ledger": ledger_in_markdown, "a study in the terminal": printed_study,
    "learning curves": learning_curves, "gallery": gallery, "described": described_steps, "shares": shares,
    "completions": completions, "typeset": typeset, "energies": energies, "drawn models": drawn_models,
    "experiments": experiments, "measuring": measuring, "predictions": predictions,
    **{f"{name}, moved": partial(moved, name) for name in MOVED},
}  # fmt: skip

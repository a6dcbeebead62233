"""A page for each claim: what it states, how that is known, what would have been caught, what it rests on and who uses
it; and what a script looks up: an index for the search, the meanings of symbols.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from onestep.derivations.language.glossary import Entry as Symbol
from onestep.derivations.language.rendering import latex
from onestep.reports.page.views import ClaimView
from onestep.reports.text.mathematics import mathml
from onestep.reports.text.prose import prose
from onestep.verify.ledger.document import statement_latex
from onestep.verify.ledger.run import Entry
from onestep.verify.protocol.verdict import Verdict

FOLDER = "claim"


def address(id_: str) -> str:
    """The permanent address of a claim, from the first page of the report."""
    return f"{FOLDER}/{id_}.html"


@dataclass(frozen=True)
class Around:
    """What stands around a claim: who uses it, which claims make its weakest link, its TeX and its symbols."""

    used_by: tuple[str, ...]
    culprits: tuple[str, ...]
    tex: str
    symbols: tuple[tuple[Markup, str, str], ...]


def surroundings(entries: Sequence[Entry], glossary: Sequence[Symbol]) -> dict[str, Around]:
    """Around each claim, by its id. Raises MathError."""
    known = {entry.claim.id: entry for entry in entries}
    used_by: dict[str, list[str]] = {id_: [] for id_ in known}
    for entry in entries:
        for used in entry.claim.uses:
            used_by.get(used, []).append(entry.claim.id)
    return {
        entry.claim.id: Around(
            tuple(used_by[entry.claim.id]),
            culprits(entry, known),
            statement_latex(entry.claim),
            tuple(_explained(entry, glossary)),
        )
        for entry in entries
    }


def culprits(entry: Entry, known: Mapping[str, Entry]) -> tuple[str, ...]:
    """The claims beneath one, itself left out, whose verdict is its weakest link: none where it is its own."""
    if entry.weakest is entry.verdict:
        return ()
    beneath: dict[str, None] = {}
    pending = list(entry.claim.uses)
    while pending:
        id_ = pending.pop()
        if id_ in known and id_ not in beneath:
            beneath[id_] = None
            pending += known[id_].claim.uses
    return tuple(i for i in known if i in beneath and known[i].verdict is entry.weakest and not known[i].by_fiat)


def _explained(entry: Entry, glossary: Sequence[Symbol]) -> Iterable[tuple[Markup, str, str]]:
    """The symbols of a statement in the order of the table: glyph, meaning, scaling in d."""
    used = entry.claim.statement.free_symbols
    return ((glyph(row), row.meaning, row.scaling) for row in glossary if row.symbol in used)


def glyph(row: Symbol) -> Markup:
    """A symbol as MathML. Raises MathError."""
    return Markup(mathml(latex(row.symbol)))


# What a script looks up


def search_script(views: Sequence[ClaimView], around: Mapping[str, Around]) -> str:
    """The index of the search: of each claim its page, title, verdict, formula, and words to be found by."""
    rows = [
        {
            "at": address(view.entry.claim.id),
            "id": view.entry.claim.id,
            "verdict": view.entry.verdict.value,
            "words": _words(view, around[view.entry.claim.id]),
        }
        for view in views
    ]
    return f"const CLAIMS = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def _words(view: ClaimView, around: Around) -> str:
    """Title, source, formula as TeX and as it is shown, and the meanings of symbols, in small letters."""
    shown = re.sub(r"<[^>]*>", "", str(view.statement))
    claim = view.entry.claim
    meanings = " ".join(meaning for _, meaning, _ in around.symbols)
    return folded(f"{claim.id} {claim.title} {view.source} {view.entry.verdict.value} {shown} {around.tex} {meanings}")


def folded(text: str) -> str:
    r"""Text as the search compares it: small letters, without what only sets a formula (\zeta_{1} is zeta1)."""
    return " ".join(re.sub(r"\\(?:left|right|operatorname|mathrm)\b|[\\{}_$^]", "", text.lower()).split())


def symbols_script(glossary: Sequence[Symbol]) -> str:
    """The meanings of symbols by their MathML: letters that several chapters use have several."""
    found: dict[str, list[str]] = {}
    for row in glossary:
        inner = re.sub(r"^<math[^>]*>|</math>$", "", str(glyph(row)))
        meaning = re.sub(r"<[^>]*>", "", str(prose(row.meaning)))
        scaling = "" if row.scaling in ("", "O(1)") else f" ({row.scaling})"
        if meaning + scaling not in found.setdefault(inner, []):
            found[inner].append(meaning + scaling)
    return f"const SYMBOLS = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n"


def counts_by_verdict(views: Sequence[ClaimView]) -> list[tuple[str, int]]:
    """How many claims have each verdict, those that none has left out."""
    verdicts = [view.entry.verdict for view in views]
    return [(verdict.value, verdicts.count(verdict)) for verdict in Verdict if verdict in verdicts]

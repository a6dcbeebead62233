"""A page for each claim: what it states, how that is known, what would have been caught, what it rests on and who uses
it; and the meanings of symbols, which a script looks up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from giantsteps.derivations.language.glossary import Entry as Symbol
from giantsteps.derivations.language.rendering import latex
from giantsteps.reports.text.mathematics import mathml
from giantsteps.reports.text.prose import prose
from giantsteps.verify.ledger.document import statement_latex
from giantsteps.verify.ledger.run import Entry
from giantsteps.verify.protocol.evidence import OF_A_THEOREM, Evidence, Proof

FOLDER = "claim"


def address(id_: str) -> str:
    """The permanent address of a claim, from the first page of the report."""
    return f"{FOLDER}/{id_}.html"


@dataclass(frozen=True)
class Said:
    """Sentences of a claim: those said on its page, and how many stand on the pages of other claims."""

    here: tuple[str, ...]
    elsewhere: tuple[tuple[str, int], ...]


# A reference to another page takes as much room as a sentence of so many letters.
_REFERENCE = 100


def said_once(
    sentences: Mapping[str, Sequence[str]], common: Callable[[str], bool] = lambda _: True
) -> dict[str, Said]:
    """What each claim says, and where the rest stands: with the first claim that says it, unless that takes longer.

    Sentences that are not ``common`` are said wherever they hold.
    """
    first: dict[str, str] = {}
    found = {}
    for id_, own in sentences.items():
        places: dict[str, list[str]] = {}
        for sentence in own:
            places.setdefault(first.setdefault(sentence, id_) if common(sentence) else id_, []).append(sentence)
        far = {place: listed for place, listed in places.items() if place != id_ and sum(map(len, listed)) > _REFERENCE}
        moved = {sentence for listed in far.values() for sentence in listed}
        here = tuple(sentence for sentence in own if sentence not in moved)
        found[id_] = Said(here, tuple((place, len(listed)) for place, listed in far.items()))
    return found


@dataclass(frozen=True)
class Around:
    """What stands around a claim: who uses it, its TeX and its symbols.

    ``assumed`` and ``unmade`` are what it assumes and the steps that no rule made; a page says what none before it
    says.
    """

    used_by: tuple[str, ...]
    tex: str
    symbols: tuple[tuple[Markup, str, str], ...]
    assumed: Said
    unmade: Said


def surroundings(entries: Sequence[Entry], glossary: Sequence[Symbol]) -> dict[str, Around]:
    """Around each claim, by its id. Raises MathError."""
    known = {entry.claim.id: entry for entry in entries}
    used_by: dict[str, list[str]] = {id_: [] for id_ in known}
    for entry in entries:
        for used in entry.claim.uses:
            used_by.get(used, []).append(entry.claim.id)
    # Sentences that all understand are said where they hold; the conditions of theorems are long formulas.
    assumed = said_once({e.claim.id: e.hypotheses for e in entries}, lambda one: one.endswith(OF_A_THEOREM))
    unmade = said_once({e.claim.id: without_rule(e.evidence) for e in entries})
    return {
        entry.claim.id: Around(
            tuple(used_by[entry.claim.id]),
            statement_latex(entry.claim),
            tuple(_explained(entry, glossary)),
            assumed[entry.claim.id],
            unmade[entry.claim.id],
        )
        for entry in entries
    }


def without_rule(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The steps of proofs that no rule of the kernel made, where it made no theorem of the claim."""
    proofs = [e for e in evidence if isinstance(e, Proof)]
    steps = dict.fromkeys(step for proof in proofs for step in proof.without_rule)
    return () if any(proof.theorem for proof in proofs) else tuple(steps)


def _explained(entry: Entry, glossary: Sequence[Symbol]) -> Iterable[tuple[Markup, str, str]]:
    """The symbols of a statement in the order of the table: glyph, meaning, scaling in d."""
    used = entry.claim.statement.free_symbols
    return ((glyph(row), row.meaning, row.scaling) for row in glossary if row.symbol in used)


def glyph(row: Symbol) -> Markup:
    """A symbol as MathML. Raises MathError."""
    return Markup(mathml(latex(row.symbol)))


# What a script looks up


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

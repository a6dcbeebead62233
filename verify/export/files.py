"""The files of an export: what all begin with, the lemmas in parts, the slips that Rocq has to refuse, and what it is
asked of the theorems of each chapter.

A part requires those that its proofs name, so that several can be compiled side by side. Where the proof of a lemma
fails, the lemma is taken from an axiom ``unproved``, which whatever rests on it lists among its assumptions. Rocq says
whose each proof is before it, so that one which takes too long is known.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from giantsteps.verify.export.rocq import Exported, Lemma, quantified

# Files written by hand, the library of Rocq that each requires, and what it shows.
GAUSSIAN, CERTIFICATE, BY_HAND = "Gaussian", "Certificate", Path(__file__).parent
OPTIONAL = {
    GAUSSIAN: ("Coquelicot.Coquelicot", "the laws of averages, from integrals"),
    CERTIFICATE: ("Interval.Tactic", "E[z tanh z] over [-8, 8], to 1e-8"),
}
BASE, PART, SLIPS, ASKED, UNPROVED = "Base", "Lemmas", "Slips", "Asked", "unproved"
# What Rocq says before a proof, and of one that took too long.
AT, LATE = "at", "late"
# Characters of a part.
_SIZE = 300_000
# Theorems of one question.
_TOGETHER = 20
_BEGIN = "Require Import Reals Lra Lia FunctionalExtensionality.\n"
_SCOPE = 'Open Scope R_scope.\nSet Warnings "-all".\n'


@dataclass(frozen=True)
class File:
    """A file: its module, its text, the modules that it requires, and the theorems of each question in it."""

    module: str
    text: str
    requires: tuple[str, ...] = ()
    asked: tuple[tuple[str, ...], ...] = ()


def files(export: Exported, available: Container[str] = ()) -> tuple[File, ...]:
    """All files, those that others require first; averages are defined if the file that does so is available."""
    parts = {f"{PART}_{k:03d}": lemmas for k, lemmas in enumerate(_parts(export), start=1)}
    homes: dict[str, list[str]] = {}
    for module, lemmas in parts.items():
        for name in dict.fromkeys(axiom for lemma in lemmas for axiom in lemma.axioms):
            homes.setdefault(name, []).append(module)
    home = {lemma.name: module for module, lemmas in parts.items() for lemma in lemmas}
    says = {name: axiom for lemma in export.lemmas for name, axiom in lemma.axioms.items()}
    shared = "".join(f"Axiom {name} : {says[name]}.\n" for name, modules in homes.items() if len(modules) > 1)
    grounds = GAUSSIAN if GAUSSIAN in available else "Laws"
    averages = "" if GAUSSIAN in available else "Declare Module Averages : LAWS.\nExport Averages.\n"
    texts = {m: (BY_HAND / f"{m}.v").read_text(encoding="utf-8") for m in ("Laws", *OPTIONAL)}
    found = [File(m, text, ("Laws",) if m == GAUSSIAN else ()) for m, text in texts.items()]
    found += [File("Averages", f"Require Export {grounds}.\n{averages}", (grounds,))]
    found += [File(BASE, f"{export.opening}\nAxiom {UNPROVED} : forall P : Prop, P.\n{shared}", ("Averages",))]
    for module, lemmas in parts.items():
        own = "".join(f"Axiom {name} : {says[name]}.\n" for name, modules in homes.items() if modules == [module])
        needs = (BASE, *sorted({home[name] for lemma in lemmas for name in lemma.premises} - {module}))
        found.append(File(module, _begun(needs) + own + "".join(map(proved, lemmas)), needs))
        slips = "".join(perturbed(lemma) for lemma in lemmas if not lemma.assumed)
        found.append(File(module.replace(PART, SLIPS), _begun((*needs, module)) + slips, (*needs, module)))
    chapters: dict[str, list[str]] = {}
    for theorem in export.theorems:
        chapters.setdefault(chapter(theorem), []).append(theorem)
    for k, theorems in enumerate(chapters.values(), start=1):
        needs = (BASE, *sorted({home[export.theorems[theorem]] for theorem in theorems}))
        asked = (_together(n, [export.theorems[t] for t in names]) for n, names in enumerate(_groups(theorems)))
        found.append(File(f"{ASKED}_{k:03d}", _begun(needs) + "".join(asked), needs, tuple(_groups(theorems))))
    return tuple(found)


def chapter(theorem: str) -> str:
    """The chapter of the theory that a theorem is of, by its name."""
    return theorem.partition(".")[0]


def _groups(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Theorems that Rocq is asked about at once: for each question it walks through its own real numbers."""
    return [tuple(names[k : k + _TOGETHER]) for k in range(0, len(names), _TOGETHER)]


def _together(number: int, lemmas: Iterable[str]) -> str:
    said = "".join(f"let _ := {lemma} in " for lemma in lemmas)
    return f"Definition asked_{number} : True := {said}I.\nPrint Assumptions asked_{number}.\n"


def _parts(export: Exported) -> Iterator[list[Lemma]]:
    """The lemmas in parts: what several chapters rest on, those of each, which no other one names, and what is named by
    no theorem.
    """
    resting: dict[str, set[str]] = {}
    for theorem, name in export.theorems.items():
        resting.setdefault(name, set()).add(chapter(theorem))
    for lemma in reversed(export.lemmas):
        for premise in lemma.premises:
            resting.setdefault(premise, set()).update(resting.get(lemma.name, ()))
    shared, alone = list[Lemma](), list[Lemma]()
    chapters: dict[str, list[Lemma]] = {}
    for lemma in export.lemmas:
        of = resting.get(lemma.name, set())
        (chapters.setdefault(min(of), []) if len(of) == 1 else shared if of else alone).append(lemma)
    for lemmas in (shared, *chapters.values(), alone):
        part, size = list[Lemma](), 0
        for lemma in lemmas:
            length = len(lemma.type) + len(lemma.script)
            if part and size + length > _SIZE:
                yield part
                part, size = [], 0
            part.append(lemma)
            size += length
        if part:
            yield part


def _begun(requires: Iterable[str]) -> str:
    return _BEGIN + "".join(f"Require Import {module}.\n" for module in requires) + _SCOPE


def proved(lemma: Lemma) -> str:
    """A lemma as it stands in a file."""
    proof = f"first [ solve [ {lemma.script} ] | {_unproved(lemma.name)} ]. Qed."
    return f"Lemma {lemma.name} : {lemma.type}.\n{_at(lemma.name)}{proof}\n"


def perturbed(lemma: Lemma) -> str:
    """A copy of a lemma with 27/25 X + 1/13 for its right side, and the demand that its proof fail."""
    if lemma.says.startswith("Tends"):
        left, right = lemma.says[: -len(_last(lemma.says))], _last(lemma.says)
    else:
        left, relation, right = lemma.says.partition(" = " if " = " in lemma.says else " >= ")
        left += relation
    kind = quantified(lemma.symbols, (*lemma.hypotheses, f"{left}((27 / 25) * {right} + (1 / 13))"))
    return f"Goal {kind}.\n{_at(lemma.name)}Fail solve [ {lemma.script} ]. Abort.\n"


def given_up(text: str, name: str) -> str:
    """A file in which Rocq is not asked for the proof of one lemma, or of its slip, that takes too long."""
    before, at, rest = text.partition(_at(name))
    proof, end, after = rest.partition("\n")
    given = "Abort." if proof.endswith("Abort.") else f"{_unproved(name)}. Qed."
    return f'{before}{at}idtac "{LATE} {name}". {given}{end}{after}'


def _at(name: str) -> str:
    return f'Proof. idtac "{AT} {name}". '


def _unproved(name: str) -> str:
    return f'idtac "{UNPROVED} {name}"; exact ({UNPROVED} _)'


def _last(text: str) -> str:
    """The last word, or what stands in the last brackets."""
    depth, at = 0, len(text)
    while at and (depth or text[at - 1] != " "):
        at -= 1
        depth += {")": 1, "(": -1}.get(text[at], 0)
    return text[at:]

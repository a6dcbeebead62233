"""The files of an export: what all begin with, the lemmas in parts, the slips that Rocq has to refuse, and what it is
asked of the theorems.

A part requires those that its proofs name, so that several can be compiled side by side. Where the proof of a lemma
fails, the lemma is taken from an axiom ``unproved``, which whatever rests on it lists among its assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onestep.verify.export.rocq import Exported, Lemma, quantified

BASE, PART, SLIPS, ASKED, UNPROVED = "Base", "Lemmas", "Slips", "Asked", "unproved"
# Characters of a part.
_SIZE = 300_000
# Theorems of one question.
_TOGETHER = 20
_BEGIN = "Require Import Reals Lra Lia FunctionalExtensionality.\n"
_SCOPE = 'Open Scope R_scope.\nSet Warnings "-all".\n'


@dataclass(frozen=True)
class File:
    """A file: its module, its text and the modules that it requires."""

    module: str
    text: str
    requires: tuple[str, ...] = ()


def files(export: Exported) -> tuple[File, ...]:
    """All files, those that others require first."""
    parts = {f"{PART}_{k:03d}": lemmas for k, lemmas in enumerate(_parts(export), start=1)}
    homes: dict[str, list[str]] = {}
    for module, lemmas in parts.items():
        for name in dict.fromkeys(axiom for lemma in lemmas for axiom in lemma.axioms):
            homes.setdefault(name, []).append(module)
    home = {lemma.name: module for module, lemmas in parts.items() for lemma in lemmas}
    says = {name: axiom for lemma in export.lemmas for name, axiom in lemma.axioms.items()}
    shared = "".join(f"Axiom {name} : {says[name]}.\n" for name, modules in homes.items() if len(modules) > 1)
    found = [File(BASE, f"{export.opening}\nAxiom {UNPROVED} : forall P : Prop, P.\n{shared}")]
    for module, lemmas in parts.items():
        own = "".join(f"Axiom {name} : {says[name]}.\n" for name, modules in homes.items() if modules == [module])
        needs = (BASE, *sorted({home[name] for lemma in lemmas for name in lemma.premises} - {module}))
        found.append(File(module, _begun(needs) + own + "".join(map(proved, lemmas)), needs))
        slips = "".join(perturbed(lemma) for lemma in lemmas if not lemma.assumed)
        found.append(File(module.replace(PART, SLIPS), _begun((*needs, module)) + slips, (*needs, module)))
    needs = (BASE, *parts)
    asked = (_together(k, [export.theorems[n] for n in names]) for k, names in enumerate(groups(export.theorems)))
    return (*found, File(ASKED, _begun(needs) + "".join(asked), needs))


def groups(theorems: Iterable[str]) -> list[tuple[str, ...]]:
    """Theorems that Rocq is asked about at once: for each question it walks through its own real numbers."""
    names = tuple(theorems)
    return [names[k : k + _TOGETHER] for k in range(0, len(names), _TOGETHER)]


def _together(number: int, lemmas: Iterable[str]) -> str:
    said = "".join(f"let _ := {lemma} in " for lemma in lemmas)
    return f"Definition asked_{number} : True := {said}I.\nPrint Assumptions asked_{number}.\n"


def _parts(export: Exported) -> Iterator[list[Lemma]]:
    """The lemmas in parts: what several chapters rest on, those of each, which no other one names, and what is named by
    no theorem.
    """
    resting: dict[str, set[str]] = {}
    for theorem, name in export.theorems.items():
        resting.setdefault(name, set()).add(theorem.partition(".")[0])
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
    told = f'idtac "{UNPROVED} {lemma.name}"; exact ({UNPROVED} _)'
    return f"Lemma {lemma.name} : {lemma.type}.\nProof. first [ solve [ {lemma.script} ] | {told} ]. Qed.\n"


def perturbed(lemma: Lemma) -> str:
    """A copy of a lemma with 27/25 X + 1/13 for its right side, and the demand that its proof fail."""
    if lemma.says.startswith("Tends"):
        left, right = lemma.says[: -len(_last(lemma.says))], _last(lemma.says)
    else:
        left, relation, right = lemma.says.partition(" = " if " = " in lemma.says else " >= ")
        left += relation
    kind = quantified(lemma.symbols, (*lemma.hypotheses, f"{left}((27 / 25) * {right} + (1 / 13))"))
    return f"Goal {kind}.\nProof. Fail solve [ {lemma.script} ]. Abort.\n"


def _last(text: str) -> str:
    """The last word, or what stands in the last brackets."""
    depth, at = 0, len(text)
    while at and (depth or text[at - 1] != " "):
        at -= 1
        depth += {")": 1, "(": -1}.get(text[at], 0)
    return text[at:]

"""The files of an export: what all begin with, the lemmas in parts, and the slips that Rocq has to refuse.

A part requires those that its proofs name, so that several can be compiled side by side. Where the proof of a lemma
fails, the lemma is taken from an axiom ``unproved``, which whatever rests on it lists among its assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from onestep.verify.export.rocq import Exported, Lemma, quantified

BASE, PART, SLIPS, UNPROVED = "Base", "Lemmas", "Slips", "unproved"
# Characters of a part.
_SIZE = 300_000
_BEGIN = "Require Import Reals Lra Lia FunctionalExtensionality.\n"
_SCOPE = 'Open Scope R_scope.\nSet Warnings "-all".\n'


@dataclass(frozen=True)
class File:
    """A file: its module, its text, the modules that it requires, and the theorems that it asks of, in order."""

    module: str
    text: str
    requires: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()


def files(export: Exported) -> tuple[File, ...]:
    """All files, those that others require first."""
    base = f"{export.opening}\nAxiom {UNPROVED} : forall P : Prop, P.\n"
    found, home = [File(BASE, base)], dict[str, str]()
    asked: dict[str, list[str]] = {}
    for theorem, lemma in export.theorems.items():
        asked.setdefault(lemma, []).append(theorem)
    for k, lemmas in enumerate(_parts(export.lemmas), start=1):
        module = f"{PART}_{k:03d}"
        bodies, theorems, requires = [], list[str](), {BASE: None}
        for lemma in lemmas:
            new = {name: axiom for name, axiom in lemma.axioms.items() if name not in home}
            home |= dict.fromkeys((*new, lemma.name), module)
            requires |= dict.fromkeys(home[name] for name in (*lemma.axioms, *lemma.premises) if home[name] != module)
            bodies += [*(f"Axiom {name} : {axiom}.\n" for name, axiom in new.items()), proved(lemma)]
            theorems += asked.get(lemma.name, ())
        questions = [f"Print Assumptions {export.theorems[name]}.\n" for name in theorems]
        needs = tuple(sorted(requires))
        found.append(File(module, _begun(needs) + "".join(bodies + questions), needs, tuple(theorems)))
        slips = "".join(perturbed(lemma) for lemma in lemmas if not lemma.assumed)
        also = (*needs, module)
        found.append(File(f"{SLIPS}_{k:03d}", _begun(also) + slips, also))
    return tuple(found)


def _parts(lemmas: Iterable[Lemma]) -> Iterator[list[Lemma]]:
    part, size = list[Lemma](), 0
    for lemma in lemmas:
        length = len(lemma.type) + len(lemma.script)
        if part and size + length > _SIZE:
            yield part
            part, size = [], 0
        part.append(lemma)
        size += length
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

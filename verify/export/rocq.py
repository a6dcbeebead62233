"""Theorems of the kernel as a file of Rocq: one lemma for each node, an axiom for each leaf and for what is no algebra.

Every symbol of which an assumption speaks is a parameter; the others are quantified over, each lemma on its own.
Declared signs of parameters are axioms, those of quantified symbols hypotheses, and so are the denominators and roots
that a theorem is stated under.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from onestep.derivations.kernel.statements import Assumption, Ground, sides
from onestep.derivations.kernel.terms import free
from onestep.derivations.kernel.theorem import Theorem, nodes
from onestep.verify.export.preamble import PREAMBLE
from onestep.verify.export.proofs import Premise, prover
from onestep.verify.export.terms import Names, condition_text, named, sign_text, slug, stated, statement_text


@dataclass(frozen=True)
class Lemma:
    """One node: its name in the file, the symbols it is stated for, its hypotheses, what it says and how it follows.

    ``axiom`` is the name of the axiom that it rests on itself, with the text of it; None where Rocq proves it.
    """

    name: str
    node: Theorem
    symbols: tuple[str, ...]
    hypotheses: tuple[str, ...]
    says: str
    proof: str
    axiom: tuple[str, str] | None = None

    @property
    def type(self) -> str:
        """What is stated, in full."""
        return quantified(self.symbols, (*self.hypotheses, self.says))

    @property
    def text(self) -> str:
        """The lemma as it stands in the file."""
        axiom = f"Axiom {self.axiom[0]} : {self.axiom[1]}.\n" if self.axiom else ""
        return f"{axiom}Lemma {self.name} : {self.type}.\nProof. {self.script}. Qed.\n"

    @property
    def script(self) -> str:
        """The tactic that proves it."""
        begins = f"intros {' '.join(self.symbols)}; " if self.symbols else ""
        return f"{begins}intros; {self.proof}"


@dataclass(frozen=True)
class Exported:
    """A file of Rocq: its opening, its lemmas in order, and for each theorem by name the lemma and axioms expected."""

    names: Names
    opening: str
    lemmas: tuple[Lemma, ...]
    theorems: Mapping[str, str]
    expected: Mapping[str, frozenset[str]]

    @property
    def text(self) -> str:
        """The whole file."""
        asked = (f"(* theorem: {name} *)\nPrint Assumptions {lemma}.\n" for name, lemma in self.theorems.items())
        return "\n".join([self.opening, *(lemma.text for lemma in self.lemmas), *asked])


def quantified(symbols: Iterable[str], parts: Iterable[str]) -> str:
    """forall symbols, each part but the last implies the rest."""
    names = " ".join(symbols)
    body = " -> ".join(f"({part})" if "forall" in part else part for part in parts)
    return f"forall {names} : R, {body}" if names else body


def exported(theorems: Mapping[str, Theorem]) -> Exported:
    """The file of named theorems; a node that several of them share stands there once."""
    every: dict[int, Theorem] = {id(node): node for theorem in theorems.values() for node in nodes(theorem)}
    names = named(term for node in every.values() for term in _terms(node))
    leaves = _leaves(every.values())
    lemmas: dict[int, Lemma] = {}
    stated_for: dict[int, tuple[sp.Symbol, ...]] = {}
    for number, (key, node) in enumerate(every.items(), 1):
        stated_for[key] = _symbols(node, tuple(stated_for[id(p)] for p in node.premises))
        lemmas[key] = _lemma(f"n{number}", node, names, leaves, lemmas, stated_for)
    return Exported(
        names,
        PREAMBLE + "\n" + _parameters(every.values(), names) + _axioms(leaves, names),
        tuple(lemmas.values()),
        {name: lemmas[id(theorem)].name for name, theorem in theorems.items()},
        {name: _expected(theorem, leaves, lemmas) for name, theorem in theorems.items()},
    )


def perturbed(lemma: Lemma) -> str:
    """A copy of a lemma with 27/25 X + 1/13 for its right side, and the demand that its proof fail."""
    left, relation, right = lemma.says.partition(" = ")
    if not relation:
        left, relation, right = lemma.says.partition(" >= ")
    wrong = f"{left}{relation}((27 / 25) * {right} + (1 / 13))"
    if lemma.says.startswith("Tends"):
        raise ValueError(f"{lemma.name} is a limit")
    kind = quantified(lemma.symbols, (*lemma.hypotheses, wrong))
    return f"Goal {kind}.\nProof. Fail ({lemma.script}). Abort.\n"


def _terms(node: Theorem) -> list[sp.Basic]:
    """All terms of a node: what it says, its conditions, its arguments and its leaves."""
    conditions = [condition.term for condition in stated(node.conditions)]
    leaves = [t for leaf in node.arguments if isinstance(leaf, Assumption) for t in sides(leaf.statement)]
    variable = getattr(node.statement, "variable", None)
    return [*sides(node.statement), *conditions, *leaves, *_inner(node.arguments), *([variable] if variable else [])]


def _inner(argument: Any) -> list[sp.Basic]:
    """The terms among the arguments of a rule."""
    if isinstance(argument, sp.Basic):
        return [argument]
    if isinstance(argument, Mapping):
        return [term for pair in argument.items() for term in _inner(pair)]
    return [term for part in argument for term in _inner(part)] if isinstance(argument, tuple | list) else []


def _symbols(node: Theorem, premises: tuple[tuple[sp.Symbol, ...], ...]) -> tuple[sp.Symbol, ...]:
    """The symbols that a lemma is stated for: all that it or its proof speaks of, but those assumed something of."""
    spoken = {s for side in sides(node.statement) for s in free(side)}
    spoken |= {s for condition in stated(node.conditions) for s in free(condition.term)}
    spoken |= {s for symbols in premises for s in symbols}
    if variable := getattr(node.statement, "variable", None):
        spoken.add(variable)
    if node.rule == "instantiate":
        spoken |= {s for value in node.arguments[0].values() for s in free(value)}
    if node.rule in ("ring", "order"):
        spoken |= {s for term in _inner(node.arguments[1:]) for s in free(term)}
    return tuple(sorted(spoken - node.fixed, key=lambda s: (str(s), sp.default_sort_key(s))))


def _lemma(
    name: str,
    node: Theorem,
    names: Names,
    leaves: Mapping[Assumption, str],
    known: Mapping[int, Lemma],
    stated_for: Mapping[int, tuple[sp.Symbol, ...]],
) -> Lemma:
    symbols = stated_for[id(node)]
    written = tuple(names.symbols[s] for s in symbols)
    signs = [sign for s in symbols if (sign := sign_text(s, names.symbols[s])) is not None]
    hypotheses = (*signs, *(condition_text(c, names) for c in stated(node.conditions)))
    lemma = Lemma(name, node, written, hypotheses, statement_text(node.statement, names), "")
    if node.rule == "assume":
        (leaf,) = node.arguments
        return replace(lemma, proof=f"apply {leaves[leaf]}; sign")
    prove = prover(node)
    if prove is not None:
        premises = tuple(Premise(p, known[id(p)].name, stated_for[id(p)]) for p in node.premises)
        return replace(lemma, proof=prove(node, premises, names))
    # The axiom has its premises in full, for all that they are stated for.
    axiom = f"{node.rule}_{name}"
    before = [known[id(p)] for p in node.premises]
    says = quantified(written, (*hypotheses, *(f"({p.type})" for p in before), lemma.says))
    # Premises may say the same: each is given in its place.
    given = [*written, *("ltac:(sign)" for _ in hypotheses), *(p.name for p in before)]
    return replace(lemma, proof=f"exact ({' '.join([axiom, *given])})", axiom=(axiom, says))


def _leaves(every: Iterable[Theorem]) -> dict[Assumption, str]:
    """A name for each leaf that a proof begins with."""
    found: dict[Assumption, str] = {}
    for node in every:
        if node.rule == "assume":
            (leaf,) = node.arguments
            found.setdefault(leaf, f"{leaf.ground.value}_{len(found) + 1}_{slug(leaf.name)}")
    return found


def _axioms(leaves: Mapping[Assumption, str], names: Names) -> str:
    lines = []
    for leaf, name in leaves.items():
        spoken = {s for side in sides(leaf.statement) for s in free(side)}
        variables = spoken if leaf.ground is Ground.LEMMA else spoken & leaf.universal
        order = sorted(variables, key=lambda s: (str(s), sp.default_sort_key(s)))
        written = [names.symbols[s] for s in order]
        signs = [sign for s in order if (sign := sign_text(s, names.symbols[s])) is not None]
        lines.append(f"Axiom {name} : {quantified(written, (*signs, statement_text(leaf.statement, names)))}.")
    return "\n".join(lines) + "\n"


def _parameters(every: Iterable[Theorem], names: Names) -> str:
    """The functions, and the symbols of which an assumption speaks with the signs that they are declared to have."""
    every = tuple(every)
    fixed = frozenset().union(*(node.fixed for node in every))
    arities = {
        call.func: len(call.args)
        for node in every
        for term in _terms(node)
        for call in term.atoms(sp.core.function.AppliedUndef)
    }
    lines = [f"Parameter {name} : {'R -> ' * arities[head]}R." for head, name in names.functions.items()]
    for symbol, name in names.symbols.items():
        if symbol in fixed:
            lines.append(f"Parameter {name} : R.")
            if (sign := sign_text(symbol, name)) is not None:
                lines += [f"Axiom sign_{name} : {sign}.", f"#[global] Hint Resolve sign_{name} : signs."]
    return "\n".join(lines) + "\n"


def _expected(theorem: Theorem, leaves: Mapping[Assumption, str], lemmas: Mapping[int, Lemma]) -> frozenset[str]:
    """The axioms that a theorem rests on, but those of signs, averages and real numbers."""
    found = set()
    for node in nodes(theorem):
        if node.rule == "assume":
            found.add(leaves[node.arguments[0]])
        elif (axiom := lemmas[id(node)].axiom) is not None:
            found.add(axiom[0])
    return frozenset(found)

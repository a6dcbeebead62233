"""Theorems of the kernel as lemmas of Rocq, one for each, an axiom for each assumption and each step beyond algebra.

Every symbol of which an assumption speaks is a parameter; the others are quantified over, each lemma on its own.
Declared signs of parameters are axioms, those of quantified symbols hypotheses, and so are the denominators and roots
that a theorem is stated under. What is defined by way of the variable of a limit is a function of it. Where a limit has
been taken, conditions on its variable hold from some value of it on. A theorem that has several proofs stands there by
the first of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from giantsteps.derivations.kernel.statements import Assumption, Condition, Tends, sides
from giantsteps.derivations.kernel.terms import free
from giantsteps.derivations.kernel.theorem import Theorem, nodes
from giantsteps.derivations.kernel.vacuity.conditions import beside_existence
from giantsteps.verify.export.moving import limit_variables, moving
from giantsteps.verify.export.preamble import PREAMBLE
from giantsteps.verify.export.tactics.equalities import Premise, Writer, by_laws, chained, plain, posed
from giantsteps.verify.export.tactics.rules import BY_LEMMA, prover
from giantsteps.verify.export.terms import (
    Named,
    Names,
    Scope,
    Table,
    condition_text,
    in_order,
    named_in,
    nested,
    sign_text,
    slug,
    stated,
    statement_text,
    text,
)

# Whatever a name is given to, if it is the limit.
_LIMIT = sp.Dummy("limit", real=True)


@dataclass(frozen=True)
class Lemma:
    """One theorem: its name in the file, the inferences that it stands for, the symbols it is stated for, its
    hypotheses, what it says and how it follows.

    ``axioms`` are those that it rests on itself, by name, and not by way of premises; ``assumed`` says that it is one.
    """

    name: str
    steps: tuple[Theorem, ...]
    symbols: tuple[str, ...]
    hypotheses: tuple[str, ...]
    says: str
    proof: str = ""
    premises: tuple[str, ...] = ()
    axioms: Mapping[str, str] = field(default_factory=dict)
    assumed: bool = False

    @property
    def node(self) -> Theorem:
        """The theorem."""
        return self.steps[-1]

    @property
    def type(self) -> str:
        """What is stated, in full."""
        return quantified(self.symbols, (*self.hypotheses, self.says))

    @property
    def script(self) -> str:
        """The tactic that proves it."""
        begins = f"intros {' '.join(self.symbols)}; " if self.symbols else ""
        return f"{begins}intros; {self.proof}"


@dataclass(frozen=True)
class Exported:
    """The opening of all files, lemmas in order, and for each theorem by name the lemma and the axioms expected."""

    names: Mapping[str, Any]
    moving: Mapping[str, int]
    opening: str
    lemmas: tuple[Lemma, ...]
    theorems: Mapping[str, str]
    expected: Mapping[str, frozenset[str]]


def quantified(symbols: Iterable[str], parts: Iterable[str]) -> str:
    """forall symbols, each part but the last implies the rest."""
    names = " ".join(symbols)
    body = " -> ".join(f"({part})" if "forall" in part else part for part in parts)
    return f"forall {names} : R, {body}" if names else body


@dataclass(frozen=True)
class _Exporter:
    """What has been written so far: a lemma for each theorem, and a name for each axiom by what it says."""

    table: Table = field(default_factory=Table)
    parameters: dict[str, tuple[Named, Names]] = field(default_factory=dict)
    lemmas: dict[Any, Lemma] = field(default_factory=dict)
    symbols: dict[str, tuple[sp.Symbol, ...]] = field(default_factory=dict)
    limits: dict[str, frozenset[sp.Symbol]] = field(default_factory=dict)
    axioms: dict[str, str] = field(default_factory=dict)
    resting: dict[str, frozenset[str]] = field(default_factory=dict)

    def theorem(self, theorem: Theorem) -> dict[int, Lemma]:
        """A lemma for each node of a proof."""
        depends = moving(theorem)
        variables = limit_variables(theorem)
        uses = Counter(id(p) for node in nodes(theorem) for p in node.premises)
        passed = {id(p) for node in nodes(theorem) if plain(node) and plain(p := node.premises[0]) and uses[id(p)] == 1}
        found: dict[int, Lemma] = {}
        views: dict[frozenset[sp.Symbol], Names] = {}
        for node in nodes(theorem):
            if id(node) in passed:
                continue
            here = {what: of for what, of in depends.items() if isinstance(what, tuple) or what in node.fixed}
            names = views.setdefault(frozenset(here), Names(self.table, here))
            spoken = tuple((w, here[w]) for term in _terms(node) for w in named_in(term) if w in here)
            over = frozenset(s for term in _terms(node) for s in names.spoken(term) if s in variables & node.fixed)
            key = (node.statement, node.assumptions, beside_existence(node.conditions), spoken, over)
            if key not in self.lemmas:
                steps = [node]
                while id(steps[0].premises[0] if steps[0].premises else 0) in passed:
                    steps.insert(0, steps[0].premises[0])
                self.lemmas[key] = self._lemma(steps, found, names, variables)
                for term in (term for step in steps for term in _terms(step)):
                    self._declare(term, node, names, variables)
            found[id(node)] = self.lemmas[key]
        return found

    def _lemma(
        self, steps: Sequence[Theorem], found: Mapping[int, Lemma], names: Names, variables: frozenset[sp.Symbol]
    ) -> Lemma:
        node = steps[-1]
        premises = steps[0].premises if len(steps) == 1 else (steps[0].premises[0], *(s.premises[1] for s in steps))
        before = tuple(found[id(p)] for p in premises)
        name = f"n{len(self.lemmas) + 1}"
        taken = frozenset().union(*(self.limits[p.name] for p in before))
        if isinstance(node.statement, Tends):
            taken |= {node.statement.variable}
        bound = {node.statement.variable} if isinstance(node.statement, Tends) else set()
        bound |= {node.arguments[0]} if node.rule == "limit_order" else set()
        said = {s for side in sides(node.statement) for s in names.spoken(side)} - bound
        said |= {s for c in stated(node.conditions) for s in names.spoken(c.term) - taken}
        said |= {s for p in before for s in self.symbols[p.name]} - bound
        if node.rule in ("ring", "order", "instantiate"):
            values = node.arguments[0].values() if node.rule == "instantiate" else node.arguments[1:]
            said |= {s for term in _inner(tuple(values)) for s in names.spoken(term)}
        symbols = _ordered(s for s in said if s in variables or s not in node.fixed)
        self.symbols[name], self.limits[name] = symbols, taken
        written = tuple(names.of(s) for s in symbols)
        hypotheses = (*_signs(symbols, names), *(_condition(c, names, taken) for c in stated(node.conditions)))
        said_of = tuple(p.name for p in before)
        lemma = Lemma(name, tuple(steps), written, hypotheses, statement_text(node.statement, names), "", said_of)
        given = tuple(
            Premise(p, q.name, self.symbols[q.name], len(q.hypotheses)) for p, q in zip(premises, before, strict=True)
        )
        made = self._proved(lemma, given, before, names, variables)
        if node.rule == "slope":  # what has the slope is told by the definition of its name
            before, made = (), replace(made, premises=())
        self.resting[name] = frozenset(made.axioms).union(*(self.resting[p.name] for p in before))
        return made

    def _proved(
        self,
        lemma: Lemma,
        premises: tuple[Premise, ...],
        before: tuple[Lemma, ...],
        names: Names,
        variables: frozenset[sp.Symbol],
    ) -> Lemma:
        node = lemma.node
        given = ["ltac:(sign)"] * len(lemma.hypotheses)
        if node.rule == "assume":
            (assumed,) = node.arguments
            name = self._axiom(f"{assumed.ground.value}_{slug(assumed.name)}", lemma.type)
            return replace(lemma, proof=_exact(name, *lemma.symbols, *given), axioms={name: lemma.type}, assumed=True)
        if node.rule == "name_limit":
            return self._named(lemma, premises[0], names, variables)
        prove = prover(node)
        if prove is not None:
            axioms: dict[str, str] = {}
            writer = self._writer(lemma, names, variables, axioms)
            several = len(lemma.steps) > 1
            proof = chained(lemma.steps, premises, writer) if several else prove(node, premises, writer)
            return replace(lemma, proof="; ".join([*posed(node, writer), proof]), axioms=axioms)
        says = quantified(lemma.symbols, (*lemma.hypotheses, *(f"({p.type})" for p in before), lemma.says))
        kind = "lemma_" if node.rule in BY_LEMMA else "rule_"
        name = self._axiom(f"{kind}{node.rule}", says)
        # Premises may say the same: each is given in its place.
        proof = _exact(name, *lemma.symbols, *given, *(p.name for p in before))
        return replace(lemma, proof=proof, axioms={name: says}, assumed=True)

    def _named(self, lemma: Lemma, premise: Premise, names: Names, variables: frozenset[sp.Symbol]) -> Lemma:
        """The definition of a name by a limit, whatever that is, and its value."""
        node = lemma.node
        (meaning,) = (a for a in node.assumptions if a.defines and a.name == str(node.arguments[0]))
        limit = meaning.statement
        assert isinstance(limit, Tends)
        self._declare(limit.expression, node, names, variables)
        tends = statement_text(Tends(limit.expression, _LIMIT, limit.variable), names, {_LIMIT: "v__"})
        named = text(node.arguments[0], names)
        symbols = [s for s in lemma.symbols if s in re.findall(r"\w+", f"{tends} {named}")]
        says = f"forall v__ : R, {tends} -> {named} = v__"
        axiom = quantified(symbols, (says,)) if symbols else says
        name = self._axiom(f"definition_{slug(meaning.name)}", axiom)
        return replace(lemma, proof=f"apply {name}; exact {premise.at(names)}", axioms={name: axiom})

    def _writer(self, lemma: Lemma, names: Names, variables: frozenset[sp.Symbol], axioms: dict[str, str]) -> Writer:
        """What the proof of a lemma is written with; what it assumes on the way joins the axioms."""

        def granted(name: str, says: str, spoken: frozenset[sp.Symbol], bound: tuple[str, ...], outer: Scope) -> str:
            symbols = _ordered(s for s in spoken if names.of(s) in lemma.symbols)
            asked = [
                condition_text(c, names) for c in stated(lemma.node.conditions) if names.spoken(c.term) <= set(symbols)
            ]
            hypotheses = [h for h in (*_signs(symbols, names), *asked) if h in lemma.hypotheses]
            around = _ordered(outer)
            type_ = quantified([*map(names.of, (*symbols, *around)), *bound], [*hypotheses, says])
            name = self._axiom(name, type_)
            axioms[name] = type_
            given = [*map(names.of, symbols), *(outer[v] for v in around)]
            # What is bound comes before the hypotheses.
            given += ["_"] * len(bound) + ["ltac:(sign)"] * len(hypotheses)
            return f"({' '.join((name, *given))})" if given else name

        def exists(integrand: sp.Expr, over: tuple[sp.Symbol, ...], outer: Scope) -> str:
            if free(integrand).intersection(over) == {over[0]} and len(over) > 1:
                return f"(Exists_drop _ {exists(integrand, over[:-1], outer)})"
            if (known := by_laws(integrand, over)) is not None:
                return known
            says = f"Exists (fun {names.of(over[0])} => {nested(integrand, over[1:], names)})"
            around = {v: of for v, of in outer.items() if v in free(integrand)}
            return granted("exists", says, names.spoken(integrand) - set(over) - outer.keys(), (), around)

        def assumed(kind: str, says: str, terms: tuple[sp.Expr, ...], bound: tuple[str, ...]) -> str:
            for term in terms:
                self._declare(term, lemma.node, names, variables)
            return granted(kind, says, frozenset().union(*map(names.spoken, terms)), bound, {})

        def slope(function: Named, rate: Named) -> str:
            over = names.moving.get(function, ())
            moved = " ".join(map(names.of, over))
            heads = (f"({names.of(head)} {moved})" if over else names.of(head) for head in (function, rate))
            first, second = heads
            type_ = quantified([*map(names.of, over), "x__"], [f"Slope {first} x__ ({second} x__)"])
            name = self._axiom(f"slope_{slug(str(function[0]))}", type_)
            axioms[name] = type_
            for head in (function, rate):
                self.parameters.setdefault(names.of(head), (head, names))
            return f"({' '.join((name, *map(names.of, over)))})" if over else name

        return Writer(names, exists, assumed, slope)

    def _declare(self, term: sp.Basic, node: Theorem, names: Names, variables: frozenset[sp.Symbol]) -> None:
        """The functions of a term, and the symbols in it that the assumptions of a theorem fix, are parameters."""
        for what in named_in(term):
            if isinstance(what, tuple) or (what in node.fixed and what not in variables):
                self.parameters.setdefault(names.of(what), (what, names))

    def declared(self) -> str:
        """The parameters, with the signs that they are declared to have."""
        lines = []
        for name, (what, names) in self.parameters.items():
            over = names.moving.get(what, ())
            places = len(over) + (what[1] if isinstance(what, tuple) else 0)
            lines.append(f"Parameter {name} : {'R -> ' * places}R.")
            example = what[0](*sp.symbols(f"x:{what[1]}", real=True)) if isinstance(what, tuple) else what
            arguments = [f"x{k}" for k in range(places)]
            if (sign := sign_text(example, f"({' '.join((name, *arguments))})" if arguments else name)) is not None:
                asked = [s for v, x in zip(over, arguments, strict=False) if (s := sign_text(v, x)) is not None]
                lines += [f"Axiom sign_{name} : {quantified(arguments, (*asked, sign))}."]
                lines += [f"#[global] Hint Resolve sign_{name} : signs."]
        return "\n".join(lines) + "\n"

    def _axiom(self, name: str, says: str) -> str:
        """A name for an axiom, one for all that say the same."""
        return self.axioms.setdefault(says, f"{name}_{len(self.axioms) + 1}")


def exported(theorems: Mapping[str, Theorem]) -> Exported:
    """The lemmas of named theorems; what several of them share stands there once."""
    exporter = _Exporter()
    last: dict[str, Lemma] = {}
    expected: dict[str, frozenset[str]] = {}
    for name, theorem in theorems.items():
        found = exporter.theorem(theorem)
        last[name] = found[id(theorem)]
        expected[name] = exporter.resting[last[name].name]
    return Exported(
        {name: what for (what, _), name in exporter.table.names.items()},
        {name: len(over) for (_, over), name in exporter.table.names.items() if over},
        PREAMBLE + _roots(exporter.lemmas.values()) + "\n" + exporter.declared(),
        tuple(exporter.lemmas.values()),
        {name: lemma.name for name, lemma in last.items()},
        expected,
    )


def _roots(lemmas: Iterable[Lemma]) -> str:
    """The roots of whole numbers that are no primes, by those of their primes."""
    numbers = {int(n) for lemma in lemmas for n in re.findall(r"\(sqrt (\d+)\)", f"{lemma.type} {lemma.script}")}
    lines = []
    for number in sorted(n for n in numbers if n > 1 and not sp.isprime(n)):
        primes = [p for p, times in sp.factorint(number).items() for _ in range(times)]
        product = " * ".join(f"sqrt {p}" for p in primes)
        rest = [sp.prod(primes[k:]) for k in range(len(primes))]
        steps = "".join(
            f"replace {rest[k]} with ({p} * {rest[k + 1]}) by lra; rewrite (split_root {p} {rest[k + 1]}) by lra. "
            for k, p in enumerate(primes[:-1])
        )
        lines += [f"Lemma root_{number} : sqrt {number} = {product}.", f"Proof. {steps}ring. Qed."]
        lines += [f"#[global] Hint Rewrite root_{number} : roots."]
    return "\n".join(lines) + "\n"


def _exact(name: str, *given: str) -> str:
    return f"exact ({' '.join((name, *given))})" if given else f"exact {name}"


def _ordered(symbols: Iterable[sp.Symbol]) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(symbols, key=lambda s: (str(s), in_order(s))))


def _signs(symbols: Iterable[sp.Symbol], names: Names) -> list[str]:
    """The signs that symbols are declared to have."""
    return [sign for s in symbols if (sign := sign_text(s, names.of(s))) is not None]


def _condition(condition: Condition, names: Names, taken: frozenset[sp.Symbol]) -> str:
    """A condition; of the variable of a limit that was taken it holds from some value on."""
    said = condition_text(condition, names)
    for variable in _ordered(names.spoken(condition.term) & taken):
        said = f"eventually (fun {names.of(variable)} => {said})"
    return said


def _terms(node: Theorem) -> list[sp.Basic]:
    """All terms of a node: its statement, its conditions, its arguments and its assumptions."""
    conditions = [condition.term for condition in stated(node.conditions)]
    assumed = [t for one in node.arguments if isinstance(one, Assumption) for t in sides(one.statement)]
    variable = getattr(node.statement, "variable", None)
    return [*sides(node.statement), *conditions, *assumed, *_inner(node.arguments), *([variable] if variable else [])]


def _inner(argument: Any) -> list[sp.Basic]:
    """The terms among the arguments of a rule."""
    if isinstance(argument, sp.Basic):
        return [argument]
    if isinstance(argument, Mapping):
        return [term for pair in argument.items() for term in _inner(pair)]
    return [term for part in argument for term in _inner(part)] if isinstance(argument, tuple | list) else []

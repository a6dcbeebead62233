"""Theorems of the kernel as a file of Rocq: one lemma for each, an axiom for each leaf and for what is no algebra.

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

from onestep.derivations.kernel.statements import Assumption, Condition, Ground, Tends, sides
from onestep.derivations.kernel.terms import free
from onestep.derivations.kernel.theorem import Theorem, nodes
from onestep.verify.checks.digest import digests
from onestep.verify.export.moving import limit_variables, moving
from onestep.verify.export.preamble import PREAMBLE
from onestep.verify.export.proofs import Premise, Writer, chained, plain, posed, prover
from onestep.verify.export.terms import (
    Named,
    Names,
    Scope,
    Table,
    condition_text,
    named_in,
    nested,
    sign_text,
    slug,
    stated,
    statement_text,
)

# Whatever a name is given to, if it is the limit.
_LIMIT = sp.Dummy("limit", real=True)
# What begins the name of an axiom for a lemma that Rocq is not asked to prove.
OPEN = "open_"
# The same of all lemmas that follow from an axiom alone.
TAKEN = ("definition_", "model_", "lemma_", "hypothesis_", "rule_", OPEN)
# Rules that conclude what a lemma of the kernel's list of leaves says of their terms.
LEAVES = ("stein", "rotate", "iterated", "differentiate", "limit_average", "average_limit", "taylor")


@dataclass(frozen=True)
class Lemma:
    """One theorem: its name in the file, the inferences that it stands for, the symbols it is stated for, its
    hypotheses, what it says and how it follows.

    ``axioms`` are those that it rests on itself, by name, and not by way of premises.
    """

    name: str
    steps: tuple[Theorem, ...]
    symbols: tuple[str, ...]
    hypotheses: tuple[str, ...]
    says: str
    proof: str = ""
    axioms: Mapping[str, str] = field(default_factory=dict)

    @property
    def node(self) -> Theorem:
        """The theorem."""
        return self.steps[-1]

    @property
    def type(self) -> str:
        """What is stated, in full."""
        return quantified(self.symbols, (*self.hypotheses, self.says))

    @property
    def text(self) -> str:
        """The lemma as it stands in the file."""
        return f"Lemma {self.name} : {self.type}.\nProof. {self.script}. Qed.\n"

    @property
    def script(self) -> str:
        """The tactic that proves it."""
        begins = f"intros {' '.join(self.symbols)}; " if self.symbols else ""
        return f"{begins}intros; {self.proof}"


@dataclass(frozen=True)
class Exported:
    """A file of Rocq: its opening, its lemmas in order, and for each theorem by name the lemma and axioms expected."""

    names: Mapping[str, Any]
    moving: Mapping[str, int]
    opening: str
    lemmas: tuple[Lemma, ...]
    theorems: Mapping[str, str]
    expected: Mapping[str, frozenset[str]]
    digests: Mapping[str, str]

    @property
    def text(self) -> str:
        """The whole file."""
        return "\n".join([self.opening, *self.bodies, *self.questions])

    @property
    def by_axiom(self) -> dict[str, int]:
        """How many theorems each rule concludes that Rocq takes from it as an axiom."""
        taken = [axiom.split("_")[:-1] for lemma in self.lemmas for axiom in lemma.axioms]
        return dict(sorted(Counter("_".join(w) for w in taken if w[0] in ("lemma", "rule", "open")).items()))

    def slips(self, module: str) -> str:
        """A copy of each lemma that Rocq proves with a slip in what it says; its proof has to fail."""
        begun = (
            f"Require Import Reals Lra Lia FunctionalExtensionality.\nRequire Import {module}.\nOpen Scope R_scope.\n"
        )
        proved = [lemma for lemma in self.lemmas if not any(a.startswith(TAKEN) for a in lemma.axioms)]
        return begun + "".join(map(perturbed, proved))

    @property
    def bodies(self) -> list[str]:
        """The text of each lemma, with the axioms that it is the first to rest on."""
        said: dict[str, str] = {}
        found = []
        for lemma in self.lemmas:
            new = {name: axiom for name, axiom in lemma.axioms.items() if name not in said}
            said |= new
            found.append("".join(f"Axiom {name} : {axiom}.\n" for name, axiom in new.items()) + lemma.text)
        return found

    @property
    def questions(self) -> list[str]:
        """What Rocq is asked of each theorem."""
        return [f"(* theorem: {name} *)\nPrint Assumptions {lemma}.\n" for name, lemma in self.theorems.items()]


def quantified(symbols: Iterable[str], parts: Iterable[str]) -> str:
    """forall symbols, each part but the last implies the rest."""
    names = " ".join(symbols)
    body = " -> ".join(f"({part})" if "forall" in part else part for part in parts)
    return f"forall {names} : R, {body}" if names else body


@dataclass(frozen=True)
class _Exporter:
    """What has been written so far: a lemma for each theorem, and a name for each axiom by what it says.

    ``open`` has the digests of theorems that Rocq is not asked to prove.
    """

    open: frozenset[str] = frozenset()
    table: Table = field(default_factory=Table)
    parameters: dict[str, tuple[Named, Names]] = field(default_factory=dict)
    lemmas: dict[Any, Lemma] = field(default_factory=dict)
    symbols: dict[str, tuple[sp.Symbol, ...]] = field(default_factory=dict)
    limits: dict[str, frozenset[sp.Symbol]] = field(default_factory=dict)
    axioms: dict[str, str] = field(default_factory=dict)
    resting: dict[str, frozenset[str]] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)

    def theorem(self, theorem: Theorem) -> dict[int, Lemma]:
        """A lemma for each node of a proof."""
        depends = moving(theorem)
        variables = limit_variables(theorem)
        self.digests.update(digests(theorem))
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
            key = (node.statement, node.assumptions, node.conditions, spoken, over)
            if key not in self.lemmas:
                steps = [node]
                while id(steps[0].premises[0] if steps[0].premises else 0) in passed:
                    steps.insert(0, steps[0].premises[0])
                self.lemmas[key] = self._lemma(steps, found, names, variables)
                for step in steps:
                    self._declare(step, names, variables)
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
        lemma = Lemma(name, tuple(steps), written, hypotheses, statement_text(node.statement, names))
        given = tuple(
            Premise(p, q.name, self.symbols[q.name], len(q.hypotheses)) for p, q in zip(premises, before, strict=True)
        )
        made = self._proved(lemma, given, before, names, self.digests[id(node)] in self.open)
        self.resting[name] = frozenset(made.axioms).union(*(self.resting[p.name] for p in before))
        return made

    def _proved(
        self, lemma: Lemma, premises: tuple[Premise, ...], before: tuple[Lemma, ...], names: Names, open_: bool
    ) -> Lemma:
        node = lemma.node
        given = ["ltac:(sign)"] * len(lemma.hypotheses)
        if node.rule == "assume":
            (leaf,) = node.arguments
            name = self._axiom(f"{leaf.ground.value}_{slug(leaf.name)}", lemma.type)
            return replace(lemma, proof=_exact(name, *lemma.symbols, *given), axioms={name: lemma.type})
        if node.rule == "name_limit":
            return self._named(lemma, premises[0], names)
        prove = prover(node)
        if prove is not None and not open_:
            axioms: dict[str, str] = {}

            def exists(integrand: sp.Expr, over: tuple[sp.Symbol, ...], outer: Scope) -> str:
                new, proof = self._exists(integrand, over, outer, lemma, names)
                axioms.update(new)
                return proof

            writer = Writer(names, exists)
            several = len(lemma.steps) > 1
            proof = chained(lemma.steps, premises, writer) if several else prove(node, premises, writer)
            return replace(lemma, proof="; ".join([*posed(node, writer), proof]), axioms=axioms)
        says = quantified(lemma.symbols, (*lemma.hypotheses, *(f"({p.type})" for p in before), lemma.says))
        kind = OPEN if open_ else "lemma_" if node.rule in LEAVES else "rule_"
        name = self._axiom(f"{kind}{node.rule}", says)
        # Premises may say the same: each is given in its place.
        proof = _exact(name, *lemma.symbols, *given, *(p.name for p in before))
        return replace(lemma, proof=proof, axioms={name: says})

    def _named(self, lemma: Lemma, premise: Premise, names: Names) -> Lemma:
        """The definition of a name by a limit, whatever that is, and its value."""
        node = lemma.node
        (leaf,) = (a for a in node.assumptions if a.ground is Ground.DEFINITION and a.name == str(node.arguments[0]))
        assert isinstance(leaf.statement, Tends)
        tends = statement_text(
            Tends(leaf.statement.expression, _LIMIT, leaf.statement.variable), names, {_LIMIT: "v__"}
        )
        symbols = [s for s in lemma.symbols if s in re.findall(r"\w+", f"{tends} {names.of(node.arguments[0])}")]
        says = f"forall v__ : R, {tends} -> {names.of(node.arguments[0])} = v__"
        axiom = quantified(symbols, (says,)) if symbols else says
        name = self._axiom(f"definition_{slug(leaf.name)}", axiom)
        return replace(lemma, proof=f"apply {name}; exact {premise.at(names)}", axioms={name: axiom})

    def _exists(
        self, integrand: sp.Expr, over: tuple[sp.Symbol, ...], outer: Scope, lemma: Lemma, names: Names
    ) -> tuple[dict[str, str], str]:
        """The axiom that an average exists, where the laws of averages do not say it, and the proof by it."""
        variable = over[0]
        if variable not in free(integrand):
            return {}, "(Exists_const _)"
        if len(over) > 1 and not free(integrand) & set(over[1:]):
            found, proof = self._exists(integrand, over[:-1], outer, lemma, names)
            return found, f"(Exists_drop _ {proof})"
        base, power = integrand.as_base_exp()
        if base == variable and power.is_Integer and power > 0:
            return {}, "Exists_id" if power == 1 else f"(Exists_power {power})"
        spoken = names.spoken(integrand) - set(over) - outer.keys()
        symbols = _ordered(s for s in spoken if names.of(s) in lemma.symbols)
        around = _ordered(v for v in outer if v in free(integrand))
        asked = [
            condition_text(c, names) for c in stated(lemma.node.conditions) if names.spoken(c.term) <= set(symbols)
        ]
        hypotheses = [h for h in (*_signs(symbols, names), *asked) if h in lemma.hypotheses]
        says = f"Exists (fun {names.of(variable)} => {nested(integrand, over[1:], names)})"
        type_ = quantified([*map(names.of, (*symbols, *around))], [*hypotheses, says])
        name = self._axiom("exists", type_)
        given = [*map(names.of, symbols), *(outer[v] for v in around), *["ltac:(sign)"] * len(hypotheses)]
        return {name: type_}, f"({' '.join((name, *given))})" if given else name

    def _declare(self, node: Theorem, names: Names, variables: frozenset[sp.Symbol]) -> None:
        """The functions of a theorem, and the symbols of which its assumptions speak, are parameters."""
        for term in _terms(node):
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


def exported(theorems: Mapping[str, Theorem], open_: frozenset[str] = frozenset()) -> Exported:
    """The file of named theorems; what several of them share stands there once.

    ``open_`` has the digests of theorems that Rocq is not asked to prove: each is an axiom of its own.
    """
    exporter = _Exporter(open_)
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
        {lemma.name: exporter.digests[id(lemma.node)] for lemma in exporter.lemmas.values()},
    )


def _roots(lemmas: Iterable[Lemma]) -> str:
    """The roots of whole numbers that are no primes, by those of their primes."""
    numbers = {int(n) for lemma in lemmas for n in re.findall(r"\(sqrt (\d+)\)", lemma.text)}
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


def perturbed(lemma: Lemma) -> str:
    """A copy of a lemma with 27/25 X + 1/13 for its right side, and the demand that its proof fail."""
    if lemma.says.startswith("Tends"):
        left, right = lemma.says[: -len(_last(lemma.says))], _last(lemma.says)
    else:
        left, relation, right = lemma.says.partition(" = " if " = " in lemma.says else " >= ")
        left += relation
    kind = quantified(lemma.symbols, (*lemma.hypotheses, f"{left}((27 / 25) * {right} + (1 / 13))"))
    return f"Goal {kind}.\nProof. Fail solve [{lemma.script}]. Abort.\n"


def _last(text: str) -> str:
    """The last word, or what stands in the last brackets."""
    depth, at = 0, len(text)
    while at and (depth or text[at - 1] != " "):
        at -= 1
        depth += {")": 1, "(": -1}.get(text[at], 0)
    return text[at:]


def _exact(name: str, *given: str) -> str:
    return f"exact ({' '.join((name, *given))})" if given else f"exact {name}"


def _ordered(symbols: Iterable[sp.Symbol]) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(symbols, key=lambda s: (str(s), sp.default_sort_key(s))))


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

"""One tactic for each inference of the kernel: what Rocq is told of how a conclusion follows from its premises.

Nothing here is trusted. A tactic that is wrong makes `coqc` refuse the lemma. Names with two underscores are those of
the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import sympy as sp

from giantsteps.derivations.kernel.algebra import replace
from giantsteps.derivations.kernel.statements import AtLeast, Demand, Equation, Statement, Tends, sides
from giantsteps.derivations.kernel.terms import free, substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.export.tactics.agreement import Change, Known, agree, moves, nothing, settled
from giantsteps.verify.export.terms import Named, Names, Scope, in_order, nested, stated, text


@dataclass(frozen=True)
class Premise:
    """A theorem that is proved earlier in the file: its lemma, the symbols that this is stated for, and the number of
    its hypotheses.
    """

    theorem: Theorem
    lemma: str
    symbols: tuple[sp.Symbol, ...]
    hypotheses: int

    def at(self, names: Names, scope: Scope | None = None) -> str:
        """The lemma with terms for its symbols, and what it asks of them."""
        given = [text(symbol, names, scope) for symbol in self.symbols] + ["ltac:(sign)"] * self.hypotheses
        return f"({' '.join((self.lemma, *given))})" if given else self.lemma


@dataclass(frozen=True)
class Writer:
    """The names of a proof, and those of its assumptions.

    ``exists(integrand, variable, outer)`` is the proof that the integrand, with names for the outer variables, has an
    average over the variable; ``assumed(kind, says, terms, bound)`` the statement of an assumption on terms for all
    values of the bound names; ``slope(function, rate)`` the proof that one function is the slope of another.
    """

    names: Names
    exists: Callable[[sp.Expr, tuple[sp.Symbol, ...], Scope], str]
    assumed: Callable[[str, str, tuple[sp.Expr, ...], tuple[str, ...]], str]
    slope: Callable[[Named, Named], str]


Prover = Callable[[Theorem, tuple[Premise, ...], Writer], str]


def moved(statement: Statement, change: Change, names: Names, left: Scope, known: Known, proof: str) -> str:
    """From the proof of what holds in the scope ``left`` to its changed form."""
    first, second = (agree(side, change, names, left, {}, known, f"{k}_") for k, side in enumerate(sides(statement)))
    if isinstance(statement, Tends):
        inner = {k: v for k, v in left.items() if statement.variable not in free(k)}
        along = agree(statement.expression, change, names, inner, {}, known, "0_")
        first = f"gather; intros {names.of(statement.variable)}; intros; cbv beta in *; {along}"
        return f"refine (tends_same _ _ _ _ {proof} _ _); [{first} | {second}]"
    law = "eq_sides" if isinstance(statement, Equation) else "ge_sides"
    if first == second == "reflexivity":
        return f"exact {proof}"
    if first == "reflexivity" and isinstance(statement, Equation):
        return f"refine (eq_trans {proof} _); {second}"
    return f"refine ({law} _ _ _ _ {proof} _ _); [{first} | {second}]"


def _carried(node: Theorem, steps: Sequence[tuple[Change, Known]], names: Names) -> list[str]:
    """What a theorem demands not to vanish, once more with equals put for equals: algebra may have cancelled it."""
    tactics = []
    for j, condition in enumerate(stated(node.conditions)):
        now = condition.term
        if condition.demand is not Demand.NONZERO:
            continue
        for k, (change, known) in enumerate(steps):
            if change(now) != now and change(now) != 0:
                label, path = f"D__{j}_{k}", f"c{j}_{k}_"
                said = f"{text(now, names)} = {text(change(now), names)}"
                proof = agree(now, change, names, {}, {}, known, path)
                now = change(now)
                kept = f"assert (C__{j}_{k} : {text(now, names)} <> 0) by (rewrite <- {label}; assumption)"
                tactics.append(f"try (assert ({label} : {said}) by ({proof}); {kept}; clear {label})")
    return tactics


def plain(node: Theorem) -> bool:
    """Whether a theorem comes of another by putting equals for atoms on the right side of an equation."""
    if node.rule != "rewrite" or not isinstance(node.statement, Equation):
        return False
    old, _ = _direction(node)
    atom = isinstance(old, sp.Function | sp.Symbol)
    return atom and not any(sides(theorem.statement)[0].has(old) for theorem in (node, node.premises[0]))


def _direction(node: Theorem) -> tuple[sp.Expr, sp.Expr]:
    old, new = sides(node.premises[1].statement)
    return (new, old) if node.arguments and node.arguments[0] else (old, new)


def _put(node: Theorem, by: Premise, names: Names) -> tuple[Change, Known]:
    """What a rewriting does to a term, and how it is known."""
    old, new = _direction(node)
    backwards = bool(node.arguments and node.arguments[0])

    def known(term: sp.Expr, scope: Scope) -> str | None:
        if term != old:
            return None
        return f"(eq_sym {by.at(names, scope)})" if backwards else by.at(names, scope)

    return lambda term: replace(term, old, new)[0], known


def rewritten(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    first, by = premises
    change, known = _put(node, by, writer.names)
    proof = moved(first.theorem.statement, change, writer.names, {}, known, first.at(writer.names))
    carried = [] if isinstance(node.statement, Tends) else _carried(node, [(change, known)], writer.names)
    return "; ".join([*carried, proof])


def chained(steps: Sequence[Theorem], premises: tuple[Premise, ...], writer: Writer) -> str:
    """Several plain rewritings, one after the other, and algebra at the end."""
    first, *others = premises
    names = writer.names
    tactics, terms = [], [sides(steps[-1].statement)[1]]
    for k, (step, by) in enumerate(zip(steps, others, strict=True)):
        before = sides(step.premises[0].statement)[1]
        change, known = _put(step, by, names)
        tactics += moves(before, change, names, {}, {}, known, f"{k}_")
        terms.append(_direction(step)[1])
    last = settled(terms[1:] + terms[:1], names, {})
    carried = _carried(steps[-1], [_put(step, by, names) for step, by in zip(steps, others, strict=True)], names)
    return "; ".join([*carried, f"refine (eq_trans {first.at(names)} _)", "cbv beta", *tactics, last])


def instantiated(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    (premise,) = premises
    names = writer.names
    values: Mapping[sp.Symbol, sp.Expr] = node.arguments[0]
    scope = {symbol: text(value, names) for symbol, value in values.items()}
    change = partial(substitute, values=values)
    return moved(premise.theorem.statement, change, names, scope, nothing, premise.at(names, scope))


def posed(node: Theorem, writer: Writer) -> list[str]:
    """That averages exist whose sign a proof may ask for: those of which a logarithm or a power is taken, and those
    which stand for symbols.
    """
    said = [side for theorem in (node, *node.premises) for side in sides(theorem.statement)]
    asked = [(average, outer) for side in said for average, outer in _signed(side, ())]
    if node.rule == "instantiate":
        averages = {average for value in node.arguments[0].values() for average in value.atoms(Expectation)}
        asked += [(average, ()) for average in sorted(averages, key=in_order)]
    found = []
    for average, around in dict.fromkeys(asked):
        for k in range(len(average.variables)):
            before = (*around, *average.variables[:k])
            outer = {variable: f"z__{n}" for n, variable in enumerate(before) if variable in free(average.integrand)}
            proof = writer.exists(average.integrand, average.variables[k:], outer)
            found.append(
                f"pose proof (fun {' '.join(outer.values())} : R => {proof})" if outer else f"pose proof {proof}"
            )
    return list(dict.fromkeys(found))


def _signed(term: sp.Expr, outer: tuple[sp.Symbol, ...]) -> Iterator[tuple[sp.Expr, tuple[sp.Symbol, ...]]]:
    """The averages in a term of which a logarithm or a power is taken, and the variables bound around them."""
    inside = (*outer, *term.variables) if isinstance(term, Expectation) else outer
    for part in term.args:
        power = isinstance(term, sp.Pow) and not term.exp.is_Integer
        if isinstance(part, Expectation) and (term.func is sp.log or power):
            yield from _within(part, outer)
        yield from _signed(part, inside)


def _within(average: sp.Expr, outer: tuple[sp.Symbol, ...]) -> Iterator[tuple[sp.Expr, tuple[sp.Symbol, ...]]]:
    """An average, and the one that it is the average of."""
    yield average, outer
    if isinstance(average.integrand, Expectation):
        yield from _within(average.integrand, (*outer, *average.variables))


def congruent(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    (premise,) = premises
    context, hole = node.arguments
    names = writer.names
    proofs = [
        agree(context, partial(substitute, values={hole: side}), names, {hole: text(side, names)}, {}, nothing, f"{k}_")
        for k, side in enumerate(sides(premise.theorem.statement))
    ]
    lifted = f"(f_equal (fun hole__ => {text(context, names, {hole: 'hole__'})}) {premise.at(names)})"
    return f"refine (eq_sides _ _ _ _ {lifted} _ _); cbv beta; [{proofs[0]} | {proofs[1]}]"


def by_ring(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    names = writer.names
    cofactors = node.arguments[1] if len(node.arguments) > 1 else ()
    used = [side for premise in premises for side in sides(premise.theorem.statement)]
    last = settled([*used, *cofactors, *sides(node.statement)], names, {})
    if not premises:
        return last
    (first, *_), (left, _) = premises, sides(node.statement)
    if cofactors == (1,) and text(left, names) == text(sides(first.theorem.statement)[0], names):
        return f"refine (eq_trans {first.at(names)} _); {last}"
    proof = "from_nil"
    for cofactor, premise in reversed(list(zip(cofactors, premises, strict=True))):
        proof = f"(from_cons {text(cofactor, names)} _ _ _ {premise.at(names)} {proof})"
    return f"refine (from _ _ _ {proof} _); {last}"


def by_order(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    names = writer.names
    rest = node.arguments[1:]
    multipliers, squares = rest[0] if rest else (), rest[1] if len(rest) > 1 else ()
    proofs = []
    for c, premise in zip(multipliers, premises, strict=True):
        law = "eq_term" if isinstance(premise.theorem.statement, Equation) else "ge_term"
        sign = "" if law == "eq_term" else " ltac:(sign)"
        proofs.append(f"({law} {text(c, names)} _ _{sign} {premise.at(names)})")
    proofs += [f"(square_term {text(w, names)} {text(b, names)} ltac:(sign))" for w, b in squares]
    proof = "(Rle_refl 0)"
    for why in reversed(proofs):
        proof = f"(Rplus_le_le_0_compat _ _ {why} {proof})"
    used = [side for premise in premises for side in sides(premise.theorem.statement)]
    helpers = [*multipliers, *(term for square in squares for term in square)]
    last = settled([*used, *helpers, *sides(node.statement)], names, {})
    return f"refine (ge_sum _ _ _ _ {proof}); {last}"


def averaged(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    (premise,) = premises
    (variables,) = node.arguments
    names = writer.names
    both = sides(premise.theorem.statement)
    scope = {variable: f"z__{k}" for k, variable in enumerate(variables)}
    proof = premise.at(names, scope)
    for k, variable in reversed(list(enumerate(variables))):
        law = "E_ext _ _"
        if isinstance(node.statement, AtLeast):
            outer = {v: scope[v] for v in variables[:k]}
            there = " ".join(writer.exists(side, variables[k:], outer) for side in both)
            law = f"E_at_least _ _ {there}"
        proof = f"({law} (fun {scope[variable]} => {proof}))"
    drops = " | ".join(_drops(side, variables) for side in both)
    law = "eq_sides" if isinstance(node.statement, Equation) else "ge_sides"
    full = [nested(side, variables, names) for side in both]
    return f"refine ({law} {full[0]} _ {full[1]} _ {proof} _ _); [{drops}]"


def _drops(integrand: sp.Expr, variables: tuple[sp.Symbol, ...]) -> str:
    """The average over each variable is that over the ones which the integrand speaks of."""
    if set(variables) <= free(integrand):
        return "reflexivity"
    steps = [f"apply {'E_ext' if v in free(integrand) else 'E_drop'}; intro" for v in variables]
    return "; ".join([*steps, "reflexivity"])


def expanded(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    whole, parts = node.arguments
    names = writer.names
    variables = whole.variables

    def total(inner: tuple[sp.Symbol, ...], scope: Scope) -> str:
        said = "0"
        for c, m in reversed(parts):
            said = f"({text(c, names, scope)} * {nested(m, inner, names, scope)} + {said})"
        return said

    def expand(inner: tuple[sp.Symbol, ...], scope: Mapping[sp.Basic, str]) -> str:
        if not inner:
            return settled([whole.integrand, *(c * m for c, m in parts)], names, scope)
        name = f"z__{len(scope)}"
        below = {**scope, inner[0]: name}
        proof = "sum_nil"
        for _, m in reversed(parts):
            proof = f"(sum_cons _ _ _ _ {writer.exists(m, inner, scope)} {proof})"
        middle = f"(fun {name} => {total(inner[1:], below)})"
        step = f"refine (eq_trans (E_ext _ {middle} (fun {name} => _)) (proj2 {proof}))"
        return f"{step}; {expand(inner[1:], below)}"

    tactics = []
    for k, m in enumerate(dict.fromkeys(m for _, m in parts)):
        if not set(variables) <= free(m):
            said = f"{nested(m, variables, names)} = {text(Expectation(m, *variables), names)}"
            tactics.append(f"assert (Q__{k} : {said}) by ({_drops(m, variables)}); try put Q__{k}; clear Q__{k}")
    last = "; ".join(["cbv beta", *tactics, "same"])
    return f"transitivity {total(variables, {})}; [{expand(variables, {})} | {last}]"


def factorised(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    whole, first, second = node.arguments
    names = writer.names

    def split(inner: tuple[sp.Symbol, ...], scope: Mapping[sp.Basic, str]) -> str:
        if not inner:
            return "same"
        name = f"z__{len(scope)}"
        below = {**scope, inner[0]: name}
        pair = " * ".join(text(Expectation(f, *inner[1:]), names, below) for f in (first, second))
        law = "E_left" if inner[0] in free(first) else "E_scale"
        step = f"apply E_ext; intro {name}; {split(inner[1:], below)}"
        if inner[0] not in free(first) | free(second):
            return f"apply E_drop; intro {name}; {split(inner[1:], below)}"
        return f"transitivity (E (fun {name} => {pair})); [{step} | exact ({law} _ (fun {name} => _))]"

    product = " * ".join(text(Expectation(f, *whole.variables), names) for f in (first, second))
    return f"transitivity ({product}); [{split(whole.variables, {})} | same]"


def same_order(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    return "reflexivity"


def renamed(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    whole, new, matrix = node.arguments
    left, right, images, steps = {}, {}, {}, []
    for k, (variable, row) in enumerate(zip(whole.variables, matrix, strict=True)):
        steps.append(f"apply {'E_mirror' if row[k] == -1 else 'E_ext'}; intro z__{k}")
        left[variable] = f"(- z__{k})" if row[k] == -1 else f"z__{k}"
        right[new[k]] = f"z__{k}"
        images[variable] = row[k] * new[k]
    return "; ".join(
        [*steps, agree(whole.integrand, partial(substitute, values=images), writer.names, left, right, nothing)]
    )


def of_power(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    _, power = node.arguments
    if power == 1:
        return "exact E_mean"
    steps = [f"rewrite (E_moment {k})" for k in range(power - 2, -1, -2)]
    return "; ".join([*steps, f"rewrite {'E_first' if power % 2 else 'E_zeroth'}", "simpl", "lra"])


def by_laws(integrand: sp.Expr, over: tuple[sp.Symbol, ...]) -> str | None:
    """The proof that an average exists, of constants and powers of a variable."""
    variable = over[0]
    if variable not in free(integrand):
        return "(Exists_const _)"
    base, power = integrand.as_base_exp()
    if base == variable and power.is_Integer and power > 0:
        return "Exists_id" if power == 1 else f"(Exists_power {power})"
    return None

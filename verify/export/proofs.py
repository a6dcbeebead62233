"""One tactic for each inference of the kernel: what Rocq is told of how a conclusion follows from its premises.

Nothing here is trusted. A tactic that is wrong makes `coqc` refuse the lemma.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy as sp

from onestep.derivations.kernel.statements import AtLeast, Equation, Statement, Tends, sides
from onestep.derivations.kernel.terms import free, replace, substitute
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.expectation import Expectation
from onestep.verify.export.terms import Names, Scope, nested, statement_text, text

_TRANSPORT = {Equation: "eq_equal", AtLeast: "ge_equal", Tends: "tends_equal"}


@dataclass(frozen=True)
class Premise:
    """A theorem that is proved earlier in the file: its lemma, and the symbols that this is stated for."""

    theorem: Theorem
    lemma: str
    symbols: tuple[sp.Symbol, ...]

    def at(self, names: Names, scope: Scope | None = None) -> str:
        """The lemma with terms for its symbols."""
        values = [text(symbol, names, scope) for symbol in self.symbols]
        return f"({self.lemma} {' '.join(values)})" if values else self.lemma

    def holds(self, label: str, names: Names, scope: Scope | None = None) -> str:
        """The tactic that puts it among what is known."""
        said = statement_text(self.theorem.statement, names, scope)
        return f"assert ({label} : {said}) by (apply {self.at(names, scope)}; sign)"


Prover = Callable[[Theorem, tuple[Premise, ...], Names], str]
Change = Callable[[sp.Expr], sp.Expr]
Known = Callable[[sp.Expr, Scope], str | None]


def agree(term: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str = "") -> str:
    """Proves that ``term`` in the scope ``left`` equals ``change(term)`` in the scope ``right``: its averages,
    functions and roots one by one, the rest by algebra.
    """
    if text(term, names, left) == text(change(term), names, right):
        return "reflexivity"
    if (told := known(term, left)) is not None:
        return told
    spots = [s for s in _spots(term, known, left) if text(s, names, left) != text(change(s), names, right)]
    found = []
    for k, spot in enumerate(sorted(spots, key=lambda s: -sum(1 for _ in sp.preorder_traversal(s)))):
        label = f"Q{path}{k}"
        now = text(change(spot), names, right)
        inner = known(spot, left) or _inside(spot, change, names, left, right, known, f"{path}{k}_")
        found.append((label, f"assert ({label} : {text(spot, names, left)} = {now}) by ({inner})"))
    rewrites = "".join(f"; try rewrite {label}" for label, _ in found)
    return "; ".join(["idtac", *(tactic for _, tactic in found)]) + rewrites + "; same"


def _spots(term: sp.Expr, known: Known, scope: Scope) -> list[sp.Expr]:
    """The outermost parts of a term that algebra does not look into, each once."""
    root = isinstance(term, sp.Pow) and not term.exp.is_Integer
    if known(term, scope) is not None or isinstance(term, sp.Function) or root:
        return [term]
    return list(dict.fromkeys(spot for part in term.args for spot in _spots(part, known, scope)))


def _inside(
    spot: sp.Expr, change: Change, names: Names, left: Scope, right: Scope, known: Known, path: str
) -> str:
    """The same of one average, function or root, by what stands inside it."""
    after = change(spot)
    if isinstance(spot, Expectation):
        kept = list(after.variables) if isinstance(after, Expectation) else []
        renamed = dict(zip(_kept(spot, change), kept, strict=False))
        left, right, tactics = dict(left), dict(right), []
        for k, variable in enumerate(spot.variables):
            name = f"z{path.replace('_', '')}{k}"
            tactics.append(f"apply {'E_ext' if variable in renamed else 'E_drop'}; intro {name}")
            left[variable] = name
            right[renamed.get(variable, variable)] = name
        body = after.integrand if isinstance(after, Expectation) else after
        integrand = spot.integrand

        def moved(part: sp.Expr) -> sp.Expr:
            return body if part == integrand else change(part).xreplace(renamed)

        return "; ".join([*tactics, agree(integrand, moved, names, left, right, known, path)])
    if isinstance(spot, sp.Pow):
        base = agree(spot.base, change, names, left, right, known, path)
        return f"first [same | repeat f_equal; {base} | apply root_unique; [sign | same]]"
    parts = [agree(part, change, names, left, right, known, f"{path}{k}_") for k, part in enumerate(spot.args)]
    step = "f_equal" if len(parts) == 1 else f"apply f_equal{len(parts)}"
    return f"{step}; [{' | '.join(parts)}]" if len(parts) > 1 else f"{step}; {parts[0]}"


def _kept(spot: Expectation, change: Change) -> list[sp.Symbol]:
    """The variables of an average that its changed integrand still speaks of, in order."""
    after = change(spot)
    if not isinstance(after, Expectation):
        return []
    if len(after.variables) == len(spot.variables):
        return list(spot.variables)
    return [v for v in spot.variables if v in after.variables]


def _transported(
    statement: Statement, change: Change, names: Names, left: Scope, known: Known, proof: str = "P0"
) -> str:
    """From what holds in the scope ``left`` to its changed form."""
    first, second = sides(statement)
    tactics = [agree(side, change, names, left, {}, known, f"{k}_") for k, side in enumerate((first, second))]
    law = _TRANSPORT[type(statement)]
    said = [f"{text(side, names, left)} = {text(change(side), names, {})}" for side in (first, second)]
    asserted = [f"assert ({label} : {s}) by ({t})" for label, s, t in zip("AB", said, tactics, strict=True)]
    variable = "_ " if isinstance(statement, Tends) else ""
    return "; ".join([*asserted, f"exact ({law} _ _ _ _ {variable}A B {proof})"])


def _nothing(term: sp.Expr, scope: Scope) -> str | None:
    return None


def _rewrite(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    first, by = premises
    old, new = sides(by.theorem.statement)
    backwards = bool(node.arguments and node.arguments[0])
    if backwards:
        old, new = new, old

    def known(term: sp.Expr, scope: Scope) -> str | None:
        if term != old:
            return None
        return f"{'symmetry; ' if backwards else ''}apply {by.at(names, scope)}; sign"

    moved = _transported(first.theorem.statement, lambda term: replace(term, old, new)[0], names, {}, known)
    return f"{first.holds('P0', names)}; {moved}"


def _instantiate(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    (premise,) = premises
    values: Mapping[sp.Symbol, sp.Expr] = node.arguments[0]
    scope = {symbol: text(value, names) for symbol, value in values.items()}
    moved = _transported(
        premise.theorem.statement, lambda term: substitute(term, values), names, scope, _nothing
    )
    return f"{premise.holds('P0', names, scope)}; {moved}"


def _congruence(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    (premise,) = premises
    context, hole = node.arguments
    pair = sides(premise.theorem.statement)
    tactics = [premise.holds("P0", names)]
    for label, value in zip("AB", pair, strict=True):
        scope = {hole: text(value, names)}
        proof = agree(context, partial(substitute, values={hole: value}), names, scope, {}, _nothing)
        said = f"{text(context, names, scope)} = {text(substitute(context, {hole: value}), names)}"
        tactics.append(f"assert ({label} : {said}) by ({proof})")
    mark = names.symbols[hole]
    lifted = f"(f_equal (fun {mark} => {text(context, names)}) P0)"
    return "; ".join([*tactics, f"exact (eq_equal _ _ _ _ A B {lifted})"])


def _ring(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    rest = node.arguments[1:]
    cofactors = rest[0] if rest else ()
    equations = [premise.theorem.statement for premise in premises]
    used = [
        (text(c, names), *(text(side, names) for side in sides(e)), f"P{k}")
        for k, (c, e) in enumerate(zip(cofactors, equations, strict=True))
    ]
    total, proof = "0", "eq_refl"
    for cofactor, left, right, label in reversed(used):
        total = f"({cofactor} * ({left} - {right}) + {total})"
        proof = f"(plus_zero _ _ (zero_term _ _ _ {label}) {proof})"
    held = [premise.holds(f"P{k}", names) for k, premise in enumerate(premises)]
    last = f"apply Rminus_diag_uniq; transitivity {total}; [same | exact {proof}]"
    return "; ".join([*held, last])


def _order(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    rest = node.arguments[1:]
    multipliers, squares = rest[0] if rest else (), rest[1] if len(rest) > 1 else ()
    total, proof = "0", "(Rle_refl 0)"
    terms = []
    for k, (c, premise) in enumerate(zip(multipliers, premises, strict=True)):
        statement = premise.theorem.statement
        left, right = (text(side, names) for side in sides(statement))
        law = "eq_term _ _ _" if isinstance(statement, Equation) else f"ge_term {text(c, names)} _ _ ltac:(sign)"
        terms.append((f"{text(c, names)} * ({left} - {right})", f"({law} P{k})"))
    for weight, base in squares:
        w, b = text(weight, names), text(base, names)
        terms.append((f"{w} * {b} ^ 2", f"(square_term {w} {b} ltac:(sign))"))
    for term, why in reversed(terms):
        total, proof = f"({term} + {total})", f"(Rplus_le_le_0_compat _ _ {why} {proof})"
    held = [premise.holds(f"P{k}", names) for k, premise in enumerate(premises)]
    return "; ".join([*held, f"apply (ge_sum _ _ {total}); [same | exact {proof}]"])


def _average(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    (premise,) = premises
    (variables,) = node.arguments
    law = "E_ext" if isinstance(node.statement, Equation) else "E_at_least"
    tactics = []
    for label, side in zip("AB", sides(premise.theorem.statement), strict=True):
        after = text(Expectation(side, *variables), names)
        tactics.append(f"assert ({label} : {nested(side, variables, names)} = {after}) by ({_drops(side, variables)})")
    scope = {variable: f"z{k}" for k, variable in enumerate(variables)}
    intros = "; ".join(f"apply {law}; intro {scope[variable]}" for variable in variables)
    inner = f"{intros}; apply {premise.at(names, scope)}; sign"
    relation = "=" if law == "E_ext" else ">="
    full = f" {relation} ".join(nested(side, variables, names) for side in sides(premise.theorem.statement))
    return "; ".join(
        [*tactics, f"assert (P0 : {full}) by ({inner})", f"exact ({_TRANSPORT[type(node.statement)]} _ _ _ _ A B P0)"]
    )


def _drops(integrand: sp.Expr, variables: tuple[sp.Symbol, ...]) -> str:
    """The average over each variable is that over the ones which the integrand speaks of."""
    steps = [f"apply {'E_ext' if v in free(integrand) else 'E_drop'}; intro" for v in variables]
    return "; ".join([*steps, "reflexivity"])


def _linear(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    whole, parts = node.arguments
    variables = whole.variables

    def total(inner: tuple[sp.Symbol, ...], scope: Scope) -> str:
        said = "0"
        for c, m in reversed(parts):
            said = f"({text(c, names, scope)} * {nested(m, inner, names, scope)} + {said})"
        return said

    def expand(inner: tuple[sp.Symbol, ...], scope: Mapping[sp.Basic, str]) -> str:
        if not inner:
            return "same"
        name = f"z{len(scope)}"
        below = {**scope, inner[0]: name}
        middle = f"(E (fun {name} => {total(inner[1:], below)}))"
        outer = "repeat rewrite E_cons; rewrite E_zero; reflexivity"
        return f"transitivity {middle}; [apply E_ext; intro {name}; {expand(inner[1:], below)} | {outer}]"

    tactics = []
    for k, (_, m) in enumerate(parts):
        after = text(Expectation(m, *variables), names)
        tactics.append(f"assert (Q{k} : {nested(m, variables, names)} = {after}) by ({_drops(m, variables)})")
    last = "".join(f"; try rewrite Q{k}" for k in range(len(parts))) + "; same"
    return "; ".join([*tactics, f"transitivity {total(variables, {})}; [{expand(variables, {})} | idtac{last}]"])


def _independent(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    whole, first, second = node.arguments

    def split(inner: tuple[sp.Symbol, ...], scope: Mapping[sp.Basic, str]) -> str:
        if not inner:
            return "same"
        name = f"z{len(scope)}"
        below = {**scope, inner[0]: name}
        pair = " * ".join(text(Expectation(f, *inner[1:]), names, below) for f in (first, second))
        law = "E_left" if inner[0] in free(first) else "E_right"
        step = f"apply E_ext; intro {name}; {split(inner[1:], below)}"
        outer = "reflexivity" if inner[0] not in free(first) | free(second) else f"exact ({law} _ (fun {name} => _))"
        return f"transitivity (E (fun {name} => {pair})); [{step} | {outer}]"

    product = " * ".join(text(Expectation(f, *whole.variables), names) for f in (first, second))
    return f"transitivity ({product}); [{split(whole.variables, {})} | same]"


def _renamed(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    matrix = node.arguments[2]
    steps = [f"apply {'E_mirror' if row[k] == -1 else 'E_ext'}; intro" for k, row in enumerate(matrix)]
    return "; ".join([*steps, "cbv beta", "same"])


def _moment(node: Theorem, premises: tuple[Premise, ...], names: Names) -> str:
    _, power = node.arguments
    if power == 1:
        return "exact E_mean"
    steps = [f"rewrite (E_moment {k})" for k in range(power - 2, -1, -2)]
    return "; ".join([*steps, f"rewrite {'E_first' if power % 2 else 'E_zeroth'}", "simpl", "lra"])


PROVERS: dict[str, Prover] = {
    "ring": _ring,
    "order": _order,
    "rewrite": _rewrite,
    "instantiate": _instantiate,
    "congruence": _congruence,
    "average": _average,
    "linear": _linear,
    "independent": _independent,
    "moment": _moment,
    "rotate": _renamed,
}


def prover(node: Theorem) -> Prover | None:
    """How Rocq proves a node; None where the node is an axiom of its own."""
    if node.rule == "rotate" and not _renames(node.arguments):
        return None
    return PROVERS.get(node.rule)


def _renames(arguments: tuple[Any, ...]) -> bool:
    """Whether a rotation gives variables other names and signs, and does nothing else."""
    _, new, matrix = arguments
    return len(new) == len(matrix) and all(
        abs(entry) == int(i == j) for i, row in enumerate(matrix) for j, entry in enumerate(row)
    )

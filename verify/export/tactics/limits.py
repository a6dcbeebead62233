"""How Rocq proves what the kernel's rules say of limits: by those of sums, products, roots and fractions.

What tends to something is built of what does, part by part, and then equals what is stated by algebra, as the variable
grows. Averages of what tends to something are lemmas, see `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import sympy as sp

from giantsteps.derivations.kernel.statements import Tends
from giantsteps.derivations.kernel.terms import free, substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.verify.export.tactics.agreement import agree, nothing, settled
from giantsteps.verify.export.tactics.equalities import Premise, Writer
from giantsteps.verify.export.terms import Names, text

# The proof that each hole of a term tends to something.
Parts = Mapping[sp.Symbol, str]


def composed(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """context(e) -> context(v), of e -> v in each hole."""
    context, holes = node.arguments
    names = writer.names
    variable = _variable(node)
    limits = [premise.theorem.statement for premise in premises]
    along, at = ({h: getattr(t, part) for h, t in zip(holes, limits, strict=True)} for part in ("expression", "value"))
    parts = {hole: premise.at(names) for hole, premise in zip(holes, premises, strict=True)}
    proof = tending(context, parts, names)
    first, second = (
        agree(context, partial(substitute, values=v), names, {h: text(t, names) for h, t in v.items()}, {}, nothing, p)
        for v, p in ((along, "0_"), (at, "1_"))
    )
    written = text(context, names, {hole: text(value, names) for hole, value in along.items()})
    whole = f"(fun {names.of(variable)} => {written})"
    return f"refine (tends_same {whole} _ _ _ {proof} _ _); [{grown(names.of(variable))}; {first} | {second}]"


def tending(term: sp.Expr, parts: Parts, names: Names) -> str:
    """The proof that a term tends to its value, by those of its holes."""
    if term in parts:
        return parts[term]
    if not free(term) & parts.keys():
        return f"(tends_const {text(term, names)})"
    inside = [tending(part, parts, names) for part in term.args]
    if isinstance(term, sp.Add | sp.Mul):
        law = "tends_add" if isinstance(term, sp.Add) else "tends_mul"
        proof = inside[0]
        for other in inside[1:]:
            proof = f"({law} _ _ _ _ {proof} {other})"
        return proof
    if term.func in (sp.exp, sp.log):
        return f"(tends_exp _ _ {inside[0]})" if term.func is sp.exp else f"(tends_ln _ _ {inside[0]} ltac:(sign))"
    assert isinstance(term, sp.Pow)
    if not term.exp.is_Rational or term.exp.q > 2:
        return f"(tends_power {text(term.exp, names)} _ _ {inside[0]} ltac:(sign))"
    proof = f"(tends_sqrt _ _ {inside[0]})" if term.exp.q == 2 else inside[0]
    size = abs(int(term.exp.p))
    power = proof if size == 1 else f"(tends_pow {size} _ _ {proof})"
    return power if term.exp > 0 else f"(tends_inv _ _ {power} ltac:(sign))"


def rational(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """expression -> value for a fraction: as one of polynomials in 1/variable, or in the inverse of its root."""
    expression, value, variable = node.arguments
    names = writer.names
    small = sp.Dummy("u", positive=True)
    over, under = _in_small(expression, variable, small)
    x = names.of(variable)
    root = any(power.exp.q == 2 for power in expression.atoms(sp.Pow) if power.base == variable)
    hole, law = (f"(/ (sqrt {x}))", "tends_root") if root else (f"(/ {x})", "tends_inverse")
    said = [
        f"assert ({label} : Tends (fun {x} => {text(p, names, {small: hole})}) {text(p, names, {small: '0'})}) by "
        f"(exact {tending(p, {small: law}, names)})"
        for label, p in (("N__", over), ("D__", under))
    ]
    start = text(under, names, {small: "0"})
    bottom = f"refine (unequal _ {text(under.subs(small, 0), names)} _ _); [same | sign]"
    along, at = (
        f"symmetry; apply of_quotient; [assumption | {settled([term, over, under], names, {})}]"
        for term in (expression, value)
    )
    quotient = "(tends_mul _ _ _ _ N__ (tends_inv _ _ D__ Z__))"
    steps = [
        *said,
        f"assert (Z__ : {start} <> 0) by ({bottom})",
        "pose proof (tends_nonzero _ _ D__ Z__) as F__",
        f"refine (tends_same _ _ _ _ {quotient} _ _); [{grown(x)}; {along} | {at}]",
    ]
    return "; ".join(steps)


def _in_small(term: sp.Expr, variable: sp.Symbol, small: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """A fraction of polynomials in 1/variable, or in the inverse of its root, without a power that both share."""
    order = max((int(power.exp.q) for power in term.atoms(sp.Pow) if power.base == variable), default=1)
    plain = {a: sp.Dummy(real=True) for a in term.atoms(sp.Function)} | {
        p: sp.Dummy(real=True) for p in term.atoms(sp.Pow) if not p.exp.is_Integer and p.base != variable
    }
    outer = sorted(plain, key=lambda a: -sp.count_ops(a))
    inner = term.xreplace({a: plain[a] for a in outer})
    swapped = inner.replace(
        lambda t: t == variable or (t.is_Pow and t.base == variable),
        lambda t: small ** (-order * (t.exp if t.is_Pow else 1)),
    )
    over, under = (sp.Poly(p, small) for p in sp.fraction(sp.together(swapped)))
    shared = min(min(m[0] for m in p.monoms()) for p in (over, under) if not p.is_zero)
    back = {d: a for a, d in plain.items()}
    first, second = (
        sp.Add(*(c.as_expr() * small ** (m - shared) for (m,), c in p.terms())).xreplace(back) for p in (over, under)
    )
    return first, second


def decay(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """exp(-rate variable) -> 0."""
    rate, variable = node.arguments
    names = writer.names
    last = f"[{grown(names.of(variable))}; same | reflexivity]"
    return f"refine (tends_same _ _ _ _ (tends_decay {text(rate, names)} ltac:(sign)) _ _); {last}"


def unique(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """v = w, of two limits of one term."""
    first, second = premises
    names = writer.names
    terms = [premise.theorem.statement.expression for premise in premises]  # type: ignore[union-attr]
    variable = names.of(_variable(first.theorem))
    equal = f"{grown(variable)}; {settled(terms, names, {})}"
    moved = f"(tends_same _ _ _ _ {second.at(names)} _ eq_refl)"
    return f"refine (tends_unique _ _ _ {first.at(names)} {moved}); {equal}"


def ordered(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """v >= w, of f >= g where f -> v and g -> w."""
    inequality, *limits = premises
    names = writer.names
    (variable,) = node.arguments
    proofs = _sides(inequality, limits, writer, variable)
    last = f"{grown(names.of(variable))}; exact {inequality.at(names)}"
    return f"refine (tends_order _ _ _ _ {proofs[0]} {proofs[1]} _); {last}"


def squeezed(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """f -> v, of u >= f >= l where u and l do."""
    above, below, *limits = premises
    names = writer.names
    variable = _variable(node)
    upper, _ = _sides(above, limits, writer, variable)
    _, lower = _sides(below, limits, writer, variable)
    lasts = " | ".join(f"{grown(names.of(variable))}; exact {p.at(names)}" for p in (above, below))
    return f"refine (tends_between _ _ _ _ {upper} {lower} _ _); [{lasts}]"


def _sides(inequality: Premise, limits: list[Premise], writer: Writer, variable: sp.Symbol) -> tuple[str, str]:
    """The proofs that the sides of an inequality tend to something; one that no limit is of is constant."""
    known = {limit.theorem.statement.expression: limit.at(writer.names) for limit in limits}  # type: ignore[union-attr]
    statement = inequality.theorem.statement
    left, right = (
        known.get(side, f"(tends_const {text(side, writer.names)})")
        for side in (statement.left, statement.right)  # type: ignore[union-attr]
    )
    return left, right


def grown(variable: str) -> str:
    """What holds from some value of the variable on may be used, and is to be shown from some value on."""
    return f"gather; intros {variable}; intros; cbv beta in *"


def _variable(node: Theorem) -> sp.Symbol:
    assert isinstance(node.statement, Tends)
    return node.statement.variable

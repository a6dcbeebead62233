"""How Rocq proves what the kernel's rules say of derivatives: by those of sums, products, powers and functions.

The slope of a function without a formula, and the exchange of average and slope, are assumptions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.kernel.statements import Demand, Equation
from giantsteps.derivations.kernel.terms import derivative, free
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES
from giantsteps.verify.export.tactics.agreement import settled
from giantsteps.verify.export.tactics.equalities import Premise, Writer
from giantsteps.verify.export.terms import half_power, slug, stated, text

_Y = "y__"
_LAWS = {
    sp.exp: "slope_exp _ _ _", sp.sin: "slope_sin _ _ _", sp.cos: "slope_cos _ _ _",
}  # fmt: skip


@dataclass(frozen=True)
class Differentiator:
    """Slopes at the value ``at`` of a symbol ``x``, with the names and assumptions of ``writer``."""

    writer: Writer
    x: sp.Symbol
    at: str

    def function(self, term: sp.Expr) -> str:
        """A term as a function of the symbol."""
        return f"(fun {_Y} => {text(term, self.writer.names, {self.x: _Y})})"

    def proof(self, term: sp.Expr) -> str:
        """That a term has the slope that the rules of sum, product, power and chain give."""
        if self.x not in free(term):
            return f"(slope_const {text(term, self.writer.names)} {self.at})"
        if term == self.x:
            return f"(slope_id {self.at})"
        if isinstance(term, sp.Add | sp.Mul):
            law = "slope_add" if isinstance(term, sp.Add) else "slope_mul"
            proof, *others = map(self.proof, term.args)
            for other in others:
                proof = f"({law} _ _ _ _ _ {proof} {other})"
            return proof
        if isinstance(term, sp.Pow):
            return self._power(term)
        if term.func is sp.log:
            return f"(slope_ln _ _ _ {self.proof(term.args[0])} ltac:(cbv beta; sign))"
        if term.func is sp.erf:
            density = text(sp.exp(-(term.args[0] ** 2)), self.writer.names)
            return f"(slope_erf _ _ _ {density} {self.proof(term.args[0])} ltac:(cbv beta; f_equal; same))"
        if term.func in _LAWS:
            return f"({_LAWS[term.func]} {self.proof(term.args[0])})"
        if term.func in DERIVATIVES and len(term.args) == 1:
            outer = self.writer.slope((term.func, 1), (DERIVATIVES[term.func], 1))
            return f"(slope_through _ _ _ _ _ ({outer} _) {self.proof(term.args[0])})"
        kind = "lemma_exchange" if isinstance(term, Expectation) else "lemma_chain"
        rate = derivative(term, self.x)
        says = f"Slope {self.function(term)} {self.at} {text(rate, self.writer.names)}"
        return self.writer.assumed(kind, says, (term, rate), ())

    def _power(self, term: sp.Pow) -> str:
        inside = self.proof(term.base) if self.x in free(term.base) else ""
        if not inside:
            constant = f"(slope_const (ln {text(term.base, self.writer.names)}) {self.at})"
            return f"(slope_exp _ _ _ (slope_mul _ _ _ _ _ {self.proof(term.exp)} {constant}))"
        if not term.exp.is_Rational or term.exp.q > 2:
            return f"(slope_power {text(term.exp, self.writer.names)} _ _ _ {inside} ltac:(cbv beta; sign))"
        signed = "_ _ _ {0} ltac:(cbv beta; sign)"
        patterns = f"(slope_sqrt {signed})", "(slope_pow {1} _ _ _ {0})", f"(slope_inv {signed})"
        return half_power(term.exp, inside, *patterns)


def differentiated(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """Derivatives of both sides of an equation that holds just above the value of a symbol."""
    (premise,) = premises
    (x,) = node.arguments
    names = writer.names
    equation = premise.theorem.statement
    assert isinstance(equation, Equation)
    assert isinstance(node.statement, Equation)
    slopes = Differentiator(writer, x, names.of(x))
    asked = []
    for k, condition in enumerate(c for c in stated(premise.theorem.conditions) if x in free(c.term)):
        says = f"near {names.of(x)} (fun {_Y} => {text(condition.term, names, {x: _Y})} <> 0)"
        asked.append(
            f"assert (W__{k} : {says}) by (refine (near_nonzero _ _ _ {slopes.proof(condition.term)} _); sign)"
        )
    if x.is_negative:
        asked.append(f"pose proof (near_negative {names.of(x)} ltac:(sign)) as W__")
    both = " ".join(slopes.function(side) for side in (equation.left, equation.right))
    proofs = " ".join(slopes.proof(side) for side in (equation.left, equation.right))
    before = f"meet; intros {_Y}; intros; exact {premise.at(names, {x: _Y})}"
    ends = " | ".join(
        f"counted; {settled([side, rate], names, {})}"
        for side, rate in zip((equation.left, equation.right), (node.statement.left, node.statement.right), strict=True)
    )
    whole = f"refine (eq_sides _ _ _ _ (slopes_equal {both} {names.of(x)} _ _ {proofs} _) _ _); [{before} | {ends}]"
    return "; ".join([*asked, whole])


def open_around(node: Theorem) -> bool:
    """Whether it is seen that an equation holds just above the value of a symbol: where nothing speaks of it but signs
    and what may not vanish.
    """
    (premise,) = node.premises
    (x,) = node.arguments
    return all(c.demand is Demand.NONZERO for c in stated(premise.conditions) if x in free(c.term))


def named(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """name = the slope of a quantity, which whatever it is the name stands for."""
    (premise,) = premises
    x, _, _ = node.arguments
    quantity, rate = premise.theorem.statement, node.statement
    assert isinstance(quantity, Equation)
    assert isinstance(rate, Equation)
    slopes = Differentiator(writer, x, writer.names.of(x))
    says = f"Slope {slopes.function(quantity.right)} {slopes.at} l__ -> {text(rate.left, writer.names)} = l__"
    axiom = writer.assumed(f"definition_{slug(rate.left.name)}", says, (quantity.right, rate.left), ("l__",))
    last = f"counted; {settled([quantity.right, rate.right], writer.names, {})}"
    return f"refine (eq_trans ({axiom} {slopes.proof(quantity.right)}) _); {last}"

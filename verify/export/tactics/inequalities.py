"""How Rocq proves what the kernel's rules say of order beside sums of squares: products, the largest of several, powers
that vanish, what was shown not to be negative; and the logarithm of a product.
"""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.kernel.statements import AtLeast, sides
from giantsteps.derivations.kernel.terms import substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.verify.export.tactics.agreement import nothing, settled
from giantsteps.verify.export.tactics.equalities import Premise, Writer, moved
from giantsteps.verify.export.terms import Names, text


def multiplied(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """(a - b) (c - d) >= 0, of a >= b and c >= d."""
    first, second = (premise.at(writer.names) for premise in premises)
    return f"refine (ge_sides _ _ _ _ (ge_product _ _ _ _ {first} {second}) _ eq_refl); same"


def both_ways(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """a = b, of a >= b and b >= a."""
    first, second = (premise.at(writer.names) for premise in premises)
    return f"exact (Rge_antisym _ _ {first} {second})"


def largest(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """max(terms) >= one of them, or the product of all max(terms) - term is 0."""
    return "repeat (unfold Rmax; destruct (Rle_dec _ _)); first [lra | ring | nra]"


def root_of_zero(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """base = 0, of an equation that says base^power = 0."""
    (premise,) = premises
    base, power = node.arguments
    names = writer.names
    equation = premise.theorem.statement
    assert not isinstance(equation, AtLeast)
    written = f"{text(base, names)} ^ {power}"
    last = settled([equation.left, equation.right, base], names, {})  # type: ignore[union-attr]
    zero = f"refine (from _ 0 _ (from_cons 1 _ _ _ {premise.at(names)} from_nil) _); {last}"
    return f"apply (root_of_zero {power}); assert (P__ : {written} = 0) by ({zero}); exact P__"


def equal_roots(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """a = b, of two that are not negative with a^power = b^power."""
    goal, power = node.arguments
    names = writer.names
    said = [side for premise in premises for side in sides(premise.theorem.statement)]
    proof = f"(from_cons 1 _ _ _ {premises[0].at(names)} from_nil)" if premises else "from_nil"
    known = []
    for k, side in enumerate(sides(goal)):
        powers = (f"{text(side, names)} ^ {power}", text(side**power, names))
        if powers[1] != f"({powers[0]})":
            same = settled([side, side**power], names, {}, f"p{k}_")
            known.append(f"assert (P__{k} : {' = '.join(powers)}) by ({same}); rewrite P__{k}")
    last = settled([*(side**power for side in sides(goal)), *said], names, {})
    steps = "; ".join([*known, f"refine (from _ _ _ {proof} _)", last])
    return f"apply (equal_roots {power - 1}); [sign | sign | {steps}]"


def specialised(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """A theorem with a term that was shown not to be negative for a symbol."""
    theorem, sign = premises
    (symbol,) = node.arguments
    names = writer.names
    value = sign.theorem.statement.left  # type: ignore[union-attr]
    scope = {symbol: text(value, names)}
    known = f"pose proof (Rge_le _ _ {sign.at(names)})"
    change = partial(substitute, values={symbol: value})
    return f"{known}; {moved(theorem.theorem.statement, change, names, scope, nothing, theorem.at(names, scope))}"


def logarithm(node: Theorem, premises: tuple[Premise, ...], writer: Writer) -> str:
    """log(whole) = sum k log(factor), of whole = product of factor^k."""
    whole, factors = node.arguments
    names = writer.names
    proof = "exp_0"
    for factor, power in reversed(factors):
        proof = f"(log_cons _ _ _ _ _ {_power(factor, power, names)} {proof})"
    product = [factor**power for factor, power in factors]
    left = settled([whole, *product], names, {}, "0_")
    right = settled([*(sp.log(factor) for factor, _ in factors), node.statement.right], names, {}, "1_")  # type: ignore[union-attr]
    return f"refine (log_of _ _ _ _ {proof} _ _); [{left} | {right}]"


def _power(factor: sp.Expr, power: sp.Rational, names: Names) -> str:
    """exp (power * ln factor) = what is written for factor^power."""
    said = text(factor, names)
    size = abs(int(power.p))
    if power.q > 2:
        return f"(eq_refl (exp ({text(power, names)} * ln {said})))"
    law = "log_root" if power.q == 2 else "log_power"
    inverse = "_inverse" if power < 0 else ""
    return f"({law}{inverse} {size} {said} {text(power, names)} ltac:(simpl; lra) ltac:(sign))"

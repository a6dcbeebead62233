"""Which tactic proves a theorem of each rule; what has none is an axiom of its own."""

from __future__ import annotations

from typing import Any

import sympy as sp

from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.verify.export.tactics import equalities, inequalities, limits, slopes
from giantsteps.verify.export.tactics.equalities import Prover

# Rules that conclude an instance of a lemma of the kernel.
BY_LEMMA = ("stein", "rotate", "translate", "dilate", "iterated", "limit_average", "average_limit", "taylor")

PROVERS: dict[str, Prover] = {
    "ring": equalities.by_ring,
    "order": equalities.by_order,
    "rewrite": equalities.rewritten,
    "instantiate": equalities.instantiated,
    "congruence": equalities.congruent,
    "average": equalities.averaged,
    "linear": equalities.expanded,
    "independent": equalities.factorised,
    "iterated": equalities.same_order,
    "moment": equalities.of_power,
    "rotate": equalities.renamed,
    "limit_rational": limits.rational,
    "limit_compose": limits.composed,
    "limit_exponential": limits.decay,
    "limit_unique": limits.unique,
    "limit_order": limits.ordered,
    "squeeze": limits.squeezed,
    "logarithm": inequalities.logarithm,
    "multiply": inequalities.multiplied,
    "antisymmetric": inequalities.both_ways,
    "largest": inequalities.largest,
    "root_of_zero": inequalities.root_of_zero,
    "equal_roots": inequalities.equal_roots,
    "specialise": inequalities.specialised,
    "differentiate": slopes.differentiated,
    "slope": slopes.named,
}


def prover(node: Theorem) -> Prover | None:
    """How Rocq proves a node; None where the node is an axiom of its own."""
    if node.rule == "rotate" and not _renames(node.arguments):
        return None
    if node.rule == "iterated" and not _in_order(*node.arguments):
        return None
    if node.rule == "differentiate" and not slopes.open_around(node):
        return None
    return PROVERS.get(node.rule)


def _renames(arguments: tuple[Any, ...]) -> bool:
    """Whether a rotation gives variables other names and signs, and does nothing else."""
    _, new, matrix = arguments
    return len(new) == len(matrix) and all(
        abs(entry) == int(i == j) for i, row in enumerate(matrix) for j, entry in enumerate(row)
    )


def _in_order(whole: sp.Expr, inner: tuple[sp.Symbol, ...]) -> bool:
    """Whether what is averaged over first stands innermost, in one order, already."""
    variables = whole.variables
    return tuple(variables) == (*(v for v in variables if v not in inner), *inner)

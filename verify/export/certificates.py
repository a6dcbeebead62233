"""What `field` is told beside the cofactors of a proof: how often the law s^2 = b of each root is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from onestep.derivations.language.expectation import Expectation


@dataclass(frozen=True)
class Certificate:
    """``roots``: pairs (cofactor, base), cofactor * (sqrt(base)^2 - base) summed makes up what is missing."""

    roots: tuple[tuple[sp.Expr, sp.Expr], ...] = ()


def certificate(difference: sp.Expr, used: Sequence[tuple[sp.Expr, sp.Expr, sp.Expr]]) -> Certificate:
    """The cofactors of the laws of roots in difference - sum c (l - r); none where they are not needed."""
    total = difference - sp.Add(*(c * (left - right) for c, left, right in used))
    if not _square_roots(total):
        return Certificate()
    atoms: dict[sp.Expr, sp.Symbol] = {}
    marked = _marked(total, atoms)
    roots = {name: root for root, name in atoms.items() if isinstance(root, sp.Pow)}
    back = {name: atom for atom, name in atoms.items()}
    over, under = sp.fraction(sp.together(marked))
    over, found = sp.expand(over), []
    for name, root in sorted(roots.items(), key=lambda item: -_depth(item[1])):
        law = name**2 - _marked(root.base, atoms)
        quotient, over = sp.div(over, law, name, domain=None) if over.has(name) else (sp.Integer(0), over)
        if quotient != 0:
            found.append(((quotient / under).xreplace(back), root.base))
    return Certificate(tuple(found))


def _square_roots(term: sp.Expr) -> bool:
    return any(not power.exp.is_Integer for power in term.atoms(sp.Pow))


def _marked(term: sp.Expr, atoms: dict[sp.Expr, sp.Symbol]) -> sp.Expr:
    """A term with a name for each function, average and square root that stands outside of others."""
    if isinstance(term, sp.Pow) and term.exp.is_Rational and not term.exp.is_Integer:
        root = sp.sqrt(term.base)
        if isinstance(root, sp.Pow):
            _marked(term.base, atoms)
            return atoms.setdefault(root, sp.Dummy("s")) ** int(term.exp.p)
    if isinstance(term, sp.Function | Expectation):
        return atoms.setdefault(term, sp.Dummy("f"))
    return term.func(*(_marked(part, atoms) for part in term.args)) if term.args else term


def _depth(term: sp.Expr) -> int:
    return 1 + max((_depth(part) for part in term.args), default=0)

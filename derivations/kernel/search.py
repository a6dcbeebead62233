"""Finding proofs. Nothing here is trusted: whatever it does, what comes out was made by the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.algebra import assume, congruence, differentiate, instantiate, rewrite, ring
from onestep.derivations.kernel.averages import independent, linear, moment, rotate, stein
from onestep.derivations.kernel.limits import limit_compose, limit_rational
from onestep.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused, Tends, sides
from onestep.derivations.kernel.terms import positive
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.derivation import Step, eq, ge
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.symbols import z


def in_order(term: sp.Expr, kind: Any) -> list[sp.Expr]:
    """The parts of a kind in one order, whatever the order of a set: so that a proof is the same in every process."""
    return sorted(term.atoms(kind), key=sp.default_sort_key)


def define(name: sp.Expr, meaning: sp.Expr, reference: str, *universal: sp.Symbol) -> Theorem:
    """name := meaning."""
    leaf = Assumption(Ground.DEFINITION, str(name), Equation(name, meaning), reference, frozenset(universal))
    return assume((), leaf)


def in_model(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """What the setting says, for all values of the ``universal`` symbols."""
    return assume((), Assumption(Ground.MODEL, name, statement, reference, frozenset(universal)))


def lemma(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """A lemma of the textbooks."""
    return assume((), Assumption(Ground.LEMMA, name, statement, reference, frozenset(universal)))


def hypothesis(name: str, statement: Equation | AtLeast | Tends, reference: str, *universal: sp.Symbol) -> Theorem:
    """What is taken on trust: ``reference`` is the claim that carries it, or the sentence in which it is made."""
    return assume((), Assumption(Ground.HYPOTHESIS, name, statement, reference, frozenset(universal)))


def proved(reason: str, theorem: Theorem) -> Step:
    """A step of a derivation: a theorem with its reason."""
    statement = theorem.statement
    left, right = sides(statement)
    if isinstance(statement, Tends):
        return Step(reason, eq(sp.Limit(left, statement.variable, sp.oo), right), theorem=theorem)
    return Step(reason, (ge if isinstance(statement, AtLeast) else eq)(left, right), theorem=theorem)


def value(theorem: Theorem) -> sp.Expr:
    """The right side of a theorem."""
    return sides(theorem.statement)[1]


def equal(theorem: Theorem, right: sp.Expr) -> Theorem:
    """``theorem`` with its right side written in another way, by algebra."""
    left, now = sides(theorem.statement)
    return theorem if now == right else ring((theorem,), Equation(left, right), (sp.Integer(1),))


def replaced(theorem: Theorem, old: sp.Expr, new: sp.Expr) -> Theorem:
    """``theorem`` with a term written in another way, by algebra, wherever it stands; under averages too."""
    return theorem if old == new else rewrite((theorem, ring((), Equation(old, new))))


def rewritten(theorem: Theorem, *equations: Theorem) -> Theorem:
    """``theorem`` rewritten by each equation in turn that applies to its right side."""
    return reduce(_rewritten, equations, theorem)


def _rewritten(theorem: Theorem, by: Theorem) -> Theorem:
    old, _ = sides(by.statement)
    return rewrite((theorem, by)) if sides(theorem.statement)[1].has(old) else theorem


def follows(goal: Equation, theorems: Sequence[Theorem]) -> Theorem | None:
    """``goal`` with the left side of each theorem, which may stand under averages or roots, put for its right one, and
    with averages expanded; None if algebra does not see it then.
    """
    try:
        return concluded(goal, *theorems)
    except Refused:
        return None


def concluded(goal: Equation, *theorems: Theorem) -> Theorem:
    """``goal`` as `follows` finds it. Raises Refused where it does not follow."""
    left, right = (_worked_out(side, theorems) for side in sides(goal))
    chain = [(t, sp.Integer(sign)) for t, sign in ((left, 1), (right, -1)) if t is not None]
    return ring(tuple(t for t, _ in chain), goal, tuple(sign for _, sign in chain))


def in_form(right: sp.Expr, theorem: Theorem, *equations: Theorem) -> Theorem:
    """``theorem`` with ``right`` for its right side, if algebra sees that by the equations; else rewritten by them."""
    left, _ = sides(theorem.statement)
    return follows(Equation(left, right), (theorem, *equations)) or rewritten(theorem, *equations)


def _worked_out(side: sp.Expr, theorems: Sequence[Theorem]) -> Theorem | None:
    """side = what it is by the theorems, with the averages that are left expanded; None if nothing changes it."""
    known = _put_all(None, side, theorems)
    averages = sorted((side if known is None else value(known)).atoms(Expectation), key=sp.default_sort_key)
    return _put_all(known, side, [t for a in averages if (t := _opened(a)) is not None])


def _opened(average: sp.Expr) -> Theorem | None:
    """The average expanded; None where its parts are not defined wherever the whole is."""
    try:
        return expanded(average)
    except Refused:
        return None


def _put_all(known: Theorem | None, side: sp.Expr, theorems: Sequence[Theorem]) -> Theorem | None:
    for by in theorems:
        now = side if known is None else value(known)
        if now.has(sides(by.statement)[0]):
            known = _put(known, now, by)
    return known


def _put(known: Theorem | None, now: sp.Expr, by: Theorem) -> Theorem:
    """side = ``now`` (None where they are the same) with the left side of an equation put for its right one in ``now``;
    what stands on the side itself stays, unless the place is under an average.
    """
    hole = sp.Dummy("hole", real=True)
    context = now.xreplace({sides(by.statement)[0]: hole})
    if any(average.has(hole) for average in context.atoms(Expectation)) and known is not None:
        return rewrite((known, by))
    step = congruence((by,), context, hole)
    return step if known is None else rewrite((known, step))


def by_ring(goal: Equation, *premises: Theorem) -> Theorem:
    """``goal`` from premises whose left sides are atoms.

    Each is put for its right side in turn; the cofactor is the quotient of what that changes by what is changed.
    """
    difference = goal.left - goal.right
    cofactors = []
    for premise in premises:
        old, new = sides(premise.statement)
        atom = sp.Dummy("atom", real=True)
        marked = difference.xreplace({old: atom})
        after = marked.xreplace({atom: new})
        cofactors.append(sp.cancel((marked - after) / (atom - new)).xreplace({atom: old}))
        difference = after
    return ring(tuple(premises), goal, tuple(cofactors))


@lru_cache(maxsize=4096)
def expanded(average: sp.Expr, kept: frozenset[sp.Symbol] = frozenset({z})) -> Theorem | None:
    """average = sum of constants times averages of monomials, each over its own variables; None if it is that already.

    Polynomial moments are evaluated, and an average over one variable that is not to be kept is written with z.
    """
    parts = _parts(average)
    theorem = None
    if len(parts) > 1 or parts[0] != (1, average.integrand):
        theorem = linear((), average, parts)
        if sides(theorem.statement)[0] == sides(theorem.statement)[1]:
            theorem = None
    pieces = {m: Expectation(m, *average.variables) for _, m in parts}
    for piece in pieces.values():
        if isinstance(piece, Expectation) and (known := _monomial(piece, kept)) is not None:
            theorem = known if theorem is None else _rewritten(theorem, known)
    return theorem


def _parts(average: sp.Expr) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
    found = []
    factor, integrand = average.integrand.as_independent(*average.variables, as_Add=False)
    # Arguments of functions stay as they are written.
    masks, outside_of = _denominators(integrand, average.variables)
    integrand = integrand.xreplace(outside_of)
    for kind in (Expectation, sp.core.function.AppliedUndef):
        calls = in_order(integrand.xreplace(masks), kind)
        masks |= {call: sp.Dummy("call", real=True) for call in calls}
    back = {name: call for call, name in masks.items()}
    for masked in sp.Add.make_args(sp.expand(integrand.xreplace(masks))):
        term = masked.xreplace(back)
        constant, rest = term.as_independent(*average.variables, as_Add=False)
        # What was multiplied into a denominator is taken out again.
        above, below = sp.fraction(rest)
        if below != 1:
            outside, below = sp.factor_terms(below).as_independent(*average.variables, as_Add=False)
            constant, above = constant / outside, above / below
        found.append((factor * constant, above))
    return tuple(found)


def _denominators(
    integrand: sp.Expr, variables: tuple[sp.Symbol, ...]
) -> tuple[dict[sp.Expr, sp.Expr], dict[sp.Expr, sp.Expr]]:
    """Sums in denominators whose sign is not decided, which are not multiplied out: their names, and what constants
    leave of them.
    """
    names: dict[sp.Expr, sp.Expr] = {}
    factored: dict[sp.Expr, sp.Expr] = {}
    for power in in_order(integrand, sp.Pow):
        base, exponent = power.as_base_exp()
        if base.is_Add and exponent.is_Integer and exponent < 0 and base.has(*variables) and not positive(base):
            constant, rest = sp.factor_terms(base).as_independent(*variables, as_Add=False)
            factored[power] = constant**exponent * rest**exponent
            names[rest**exponent] = sp.Dummy("below", real=True)
    return names, factored


def _monomial(average: sp.Expr, kept: frozenset[sp.Symbol]) -> Theorem | None:
    """The average of a product of factors: independence, moments, and z for the variable."""
    groups = _groups(average)
    if len(groups) > 1:
        first = groups[0]
        rest = sp.Mul(*groups[1:])
        theorem = independent((), average, first, rest)
        for piece in (first, rest):
            part = Expectation(piece, *average.variables)
            if isinstance(part, Expectation) and (known := _monomial(part, kept)) is not None:
                theorem = _rewritten(theorem, known)
        return theorem
    if len(average.variables) > 1:
        return None
    (variable,) = average.variables
    base, power = average.integrand.as_base_exp()
    if base == variable and power.is_Integer and power > 0:
        return moment((), variable, int(power))
    if variable not in kept and z not in average.free_symbols:
        return rotate((), average, (z,), ((sp.Integer(1),),))
    return None


def _groups(average: sp.Expr) -> list[sp.Expr]:
    variables = set(average.variables)
    groups: dict[frozenset[sp.Symbol], sp.Expr] = {}
    for factor in sp.Mul.make_args(average.integrand):
        used = frozenset(factor.free_symbols & variables)
        for other in [k for k in groups if k & used]:
            factor, used = factor * groups.pop(other), used | other
        groups[used] = groups.get(used, sp.Integer(1)) * factor
    return list(groups.values())


def isolated(atom: sp.Expr, theorem: Theorem) -> Theorem:
    """atom = its value by an equation that is linear in it. Raises ValueError if it is not."""
    left, right = sides(theorem.statement)
    mark = sp.Dummy("atom", real=True)
    difference = (left - right).xreplace({atom: mark})
    weight = sp.cancel(sp.diff(difference, mark))
    if weight == 0 or weight.has(mark):
        raise ValueError(f"the equation is not linear in {atom}")
    found = sp.expand(-difference.xreplace({mark: sp.Integer(0)}) / weight, deep=False)
    return ring((theorem,), Equation(atom, found), (1 / weight,))


def reflected(average: sp.Expr, *negated: sp.Symbol) -> Theorem:
    """average = the average with variables negated in its integrand."""
    names = average.variables
    signs = {v: sp.Integer(-1 if v in negated else 1) for v in names}
    return rotate((), average, names, tuple(tuple(signs[v] if v == w else sp.Integer(0) for w in names) for v in names))


def renamed(theorem: Theorem, names: Mapping[sp.Symbol, sp.Symbol]) -> Theorem:
    """``theorem`` with variables averaged over on its right side renamed, in averages over nothing else."""
    for average in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        old = average.variables
        if set(old) <= names.keys():
            new = tuple(names[v] for v in old)
            matrix = tuple(tuple(sp.Integer(int(v == w)) for w in new) for v in new)
            theorem = rewrite((theorem, rotate((), average, new, matrix)))
    return theorem


def over(variable: sp.Symbol, theorem: Theorem) -> Theorem:
    """``theorem`` on an average over one variable, with another name for that variable."""
    average, _ = sides(theorem.statement)
    return rewrite((theorem, rotate((), average, (variable,), ((sp.Integer(1),),))))


def averages_expanded(theorem: Theorem, *kept: sp.Symbol) -> Theorem:
    """``theorem`` with every average on its right side expanded; averages over variables to keep stay over these."""
    return _expanded_among(sides(theorem.statement)[1], theorem, kept)


def both_expanded(theorem: Theorem, *kept: sp.Symbol) -> Theorem:
    """``theorem`` with every average on both sides expanded."""
    return _expanded_among(sp.Tuple(*sides(theorem.statement)), theorem, kept)


def _expanded_among(place: sp.Basic, theorem: Theorem, kept: tuple[sp.Symbol, ...]) -> Theorem:
    for average in sorted(place.atoms(Expectation), key=sp.default_sort_key):
        known = expanded(average, frozenset({z, *kept}))
        if known is not None and any(side.has(average) for side in sides(theorem.statement)):
            theorem = rewrite((theorem, known))
    return theorem


def by_stein(theorem: Theorem) -> Theorem:
    """``theorem`` with its averages expanded and no factor z left beside a function of z: E[z f] = E[f']."""
    theorem = averages_expanded(theorem)
    while (found := _weighted(value(theorem))) is not None:
        theorem = averages_expanded(rewrite((theorem, stein((), *found))))
    return theorem


def _weighted(term: sp.Expr) -> tuple[sp.Expr, sp.Symbol, sp.Expr] | None:
    """An average in ``term`` of a variable times a function of it: the average, the variable and what is beside it."""
    for average in sorted(term.atoms(Expectation), key=sp.default_sort_key):
        factors = average.integrand.as_powers_dict()
        for variable in average.variables:
            rest = average.integrand / variable
            if factors.get(variable, 0) >= 1 and any(variable in f.free_symbols for f in rest.atoms(AppliedUndef)):
                return average, variable, rest
    return None


def slope_at(curve: Theorem, x: sp.Symbol, at: sp.Expr, times: int = 1) -> Theorem:
    """F'(at) = ..., or a higher derivative, of what F is as a function of x; no factors z are left in averages."""
    for _ in range(times):
        curve = differentiate((curve,), x)
    return by_stein(instantiate((curve,), {x: at}) if at != x else curve)


def named_slope(name: sp.Symbol, meaning: str, slope: Theorem) -> Theorem:
    """``name`` for a derivative at a point, and its value."""
    return rewrite((define(name, sides(slope.statement)[0], meaning), slope))


def limit_of(expression: sp.Expr, variable: sp.Symbol) -> Theorem:
    """The limit of a rational term, found by SymPy and made by the rule."""
    return limit_rational((), expression, sp.expand(sp.limit(expression, variable, sp.oo)), variable)


def limit_by_parts(exact: Theorem, limits: Mapping[sp.Expr, Theorem], variable: sp.Symbol) -> Theorem:
    """left -> its limit, for left = a polynomial in atoms that have limits.

    Its coefficients are rational in the variable, and have limits of their own.
    """
    names = {atom: sp.Dummy("a", real=True) for atom in limits}
    right = sp.expand(value(exact).xreplace(names))
    averages = [name for atom, name in names.items() if not isinstance(atom, sp.Symbol)]
    holes = {name: limits[atom] for atom, name in names.items() if right.has(name)}
    form: sp.Expr = sp.Integer(0)
    for powers, coefficient in sp.Poly(right, *averages).terms() if averages else [((), right)]:
        held, varying = sp.factor(coefficient).as_independent(variable, as_Add=False)
        if variable in varying.free_symbols:
            hole = sp.Dummy("c", real=True)
            holes[hole] = limit_of(varying, variable)
            varying = hole
        form += held * varying * sp.Mul(*(name**power for name, power in zip(averages, powers, strict=True)))
    tends = limit_compose(tuple(holes.values()), form, tuple(holes))
    return rewrite((tends, equal(exact, sides(tends.statement)[0])), True)


__all__ = [
    "Refused",
    "Tends",
    "averages_expanded",
    "by_ring",
    "congruence",
    "define",
    "equal",
    "expanded",
    "instantiate",
    "limit_of",
    "rewritten",
]

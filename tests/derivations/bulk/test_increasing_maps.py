"""Fixed points of increasing, strictly subhomogeneous maps: what the proof needs, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from giantsteps.derivations.bulk.increasing_maps import IncreasingMap, any_map, at_most_one, two_fixed_points
from giantsteps.derivations.bulk.one_solution import (
    BELOW,
    OTHER_POINT,
    RIDGE,
    fixed_point,
    gap,
    increasing_map,
)
from giantsteps.derivations.kernel.algebra import assume
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused
from giantsteps.derivations.kernel.terms import positive
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.language import symbols as s


def points(count: int) -> tuple[tuple[sp.Symbol, ...], tuple[sp.Symbol, ...]]:
    x, u = (tuple(sp.Symbol(f"{name}{i}", positive=True) for i in range(count)) for name in "xu")
    return x, u


@pytest.mark.parametrize("count", [1, 2, 3])
def test_two_fixed_points_are_one(count: int) -> None:
    x, u = points(count)
    theorems = two_fixed_points(x, u)
    assert [t.statement for t in theorems] == [Equation(a, b) for a, b in zip(x, u, strict=True)]
    for theorem in theorems:
        replay(theorem)
        assert not theorem.conditions
        assert {assumed.ground for assumed in theorem.assumptions} == {Ground.MODEL}


def taken(statement: AtLeast | Equation, *universal: sp.Symbol) -> Theorem:
    return assume((), Assumption(Ground.MODEL, "a premise", statement, "for a test", frozenset(universal)))


def with_premises(of: IncreasingMap, **changes: object) -> tuple[Theorem, ...]:
    """`at_most_one` for one component, with other premises."""
    changed = replace(of, **changes)  # type: ignore[arg-type]
    F = sp.Function("F_1", real=True)
    (x,), (u,) = points(1)
    return at_most_one(changed, (taken(Equation(F(x), x)),), (taken(Equation(F(u), u)),))


def test_the_proof_needs_all_of_its_premises() -> None:
    """Each weaker premise has a map with several fixed points that meets it."""
    of = any_map(1)
    (p,), (h,), t = of.point, of.step, of.excess
    F = sp.Function("F_1", real=True)
    nothing, unsigned = sp.Integer(0), sp.Function("gap_1", real=True)(t, p)
    assert with_premises(of)
    attacks: dict[str, dict[str, object]] = {
        "decreasing": {"increasing": (taken(AtLeast(F(p), F(p + h)), p, h),)},
        "homogeneous, F = x": {
            "subhomogeneous": (taken(AtLeast((1 + t) * F(p), F((1 + t) * p)), p, t),), "gaps": (nothing,)
        },
        "a gap that may vanish": {
            "subhomogeneous": (taken(AtLeast((1 + t) * F(p), F((1 + t) * p) + t * unsigned), p, t),),
            "gaps": (unsigned,),
        },
        "a gap that was not proved": {"gaps": (2 * of.gaps[0],)},
        "at one point only": {"subhomogeneous": (taken(of.subhomogeneous[0].statement, t),)},  # type: ignore[arg-type]
        "for one factor only": {"subhomogeneous": (taken(of.subhomogeneous[0].statement, p),)},  # type: ignore[arg-type]
    }  # fmt: skip
    for changes in attacks.values():
        with pytest.raises(Refused):
            with_premises(of, **changes)


def test_without_ridge_and_unit_the_map_is_homogeneous_and_nothing_is_proved() -> None:
    """At the interpolation threshold the gap is zero, and so it is without ridge for features that may vanish."""
    threshold = replace(BELOW, mark="_threshold", ridge=sp.Integer(0))
    assert gap(threshold, 2) == 0
    vanishing = replace(RIDGE, mark="_vanishing", ridge=sp.Integer(0))
    assert not positive(gap(vanishing, 2).xreplace({vanishing.name("F_2")(*increasing_map(RIDGE).point): s.V2}))
    for setting in (threshold, vanishing):
        with pytest.raises(Refused):
            at_most_one(increasing_map(setting), fixed_point(setting, OTHER_POINT), fixed_point(setting, (s.V1, s.V2)))

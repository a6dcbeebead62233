"""Claims that the saddle point of the square loss has one solution, and that iteration from anywhere leads to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bulk import one_solution as derived
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.increasing_maps import stated, two_fixed_points
from giantsteps.derivations.bulk.one_solution import ABOVE, BELOW, ONE_POINT, OTHER_POINT, RIDGE, Setting
from giantsteps.derivations.free_energy.along_spike import over_kappa
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.numerics.bulk.equivalent import IsotropicGroups, pack, unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.equations import nonlinear_part
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import ROUNDING, SOLVER
from giantsteps.verify.second_route.models import GENERIC, SMOOTH, model_at
from giantsteps.verify.second_route.saddle_point import one_solution as numbers
from giantsteps.verify.second_route.saddle_point import one_solution_groups as groups
from giantsteps.verify.second_route.values import nothing, value

BEYOND = Source("this suite", "beyond the paper: one solution")
INTEGRABLE = "mu1^2 and mu2^2 are integrable, and the law of the bulk's eigenvalues has a mean c > 0"
POSITIVE = "mu2 > 0: the activation is not linear along any line"

_RANGES = (
    Range("activation", choices=SMOOTH), Range("target", choices=SMOOTH), Range("law", choices=tuple(numbers.LAWS)),
    Range(s.alpha, 0.02, 4.0, log=True), Range(s.beta, 0.3, 3.0, log=True), Range(s.ridge, 0.05, 5.0, log=True),
    Range(s.noise, 0.0, 0.3), Range(s.r, 0.3, 2.5), Range(s.c, 0.6, 1.8), Range(s.gamma, -0.9, 0.9),
)
_POINT = (Range(s.V1, 0.01, 10.0, log=True), Range(s.V2, 0.01, 10.0, log=True))
_OTHER = (Range(s.V1_other, 1e-3, 100.0, log=True), Range(s.V2_other, 1e-3, 100.0, log=True))
_MORE = (Range(s.V1_more, 0.0, 10.0), Range(s.V2_more, 0.0, 10.0))
_EXCESS = (Range(s.excess, 0.01, 10.0, log=True),)


def _domain(*ranges: Range) -> Domain:
    return Domain((*_RANGES, *ranges), (INTEGRABLE,), (GENERIC,))


def _map(letter: str, index: int, at: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    return sp.Function(f"{letter}_{index}", nonnegative=True)(*at)


_FAR_BELOW = (1e-9, 1e-9)


def _newton(model: Model, ridge: float, unit: float) -> tuple[float, float]:
    """(T, tau) of the solver; its first rule is refined twice, as it would do itself."""
    solved = nonlinear_part(profile(model, 2), equivalent_of(model, ridge), model.alpha / model.beta, unit=unit)
    return (float(solved.values[0]), float(solved.values[1])) if solved.converged else (math.nan, math.nan)


def _solution(point: Point) -> Mapping[str, float]:
    """(T, tau) of a model with a ridge: the solver's for Marchenko-Pastur's law, by iteration from above for others."""
    at = numbers.setting_at(point)
    model, above = at.model, (at.model.bulk / at.ridge, 1 / at.ridge)
    found = numbers.iterated(numbers.the_map(at), above) if numbers.LAWS[at.law] else _newton(model, at.ridge, 1.0)
    return {s.V1.name: found[0], s.V2.name: found[1]}


def _two_solutions(point: Point) -> Mapping[str, float]:
    """The solution, and what the iteration from far below leads to."""
    other = numbers.iterated(numbers.the_map(numbers.setting_at(point)), _FAR_BELOW)
    return {**_solution(point), s.V1_other.name: other[0], s.V2_other.name: other[1]}


def _solutions_without_ridge(point: Point) -> Mapping[str, float]:
    """The solver's (T, tau) in the limit of a vanishing ridge, and what the iteration from far below leads to; in units
    of 1/ridge below the interpolation threshold.
    """
    model = model_at(point)
    ridge, unit = (0.0, 1.0) if model.alpha > model.beta else (1.0, 0.0)
    found = _newton(model, ridge, unit)
    other = numbers.iterated(numbers.the_map(numbers.Setting(model, ridge, unit)), _FAR_BELOW)
    return {s.V1.name: found[0], s.V2.name: found[1], s.V1_other.name: other[0], s.V2_other.name: other[1]}


_MOVED = (s.V1 + s.V1_more, s.V2 + s.V2_more)
_TIMES = (1 + s.excess) * s.V1, (1 + s.excess) * s.V2
_NAMES = {1: "T", 2: "tau"}
_MEAN = {1: s.c, 2: sp.Integer(1)}


def _increasing(index: int) -> Claim:
    now = _map("F", index, ONE_POINT)
    return claim(
        f"one-solution.increasing.{_NAMES[index]}",
        f"The map of the saddle point increases in T and tau: {_NAMES[index]}", BEYOND,
        ge(_map("F", index, _MOVED), now), _domain(*_POINT, *_MORE),
        ByTheorem("V increases, C and D fall with V, the traces with both", lambda said: derived.growth(index, said)),
        BySearch("averages on a grid, four laws of the bulk", nothing, ROUNDING, numbers.maps_at),
        wrong={
            "the other way round": ge(now, _map("F", index, _MOVED)),
            "C and D increasing": ge(_map("G", index, _MOVED), _map("G", index, ONE_POINT)),
        },
        uses=("result-3-3.saddle.V1", "result-3-3.saddle.V2", "result-3-3.saddle.V1-hat", "result-3-3.saddle.V2-hat"),
    )  # fmt: skip


def _less(letter: str, index: int, gap: sp.Expr) -> Relational:
    """t F(x) >= F(t x) + gap."""
    return ge((1 + s.excess) * _map(letter, index, ONE_POINT), _map(letter, index, _TIMES) + gap)


def _subhomogeneous(index: int) -> Claim:
    def gap(letter: str, share: sp.Expr = s.ridge) -> sp.Expr:
        return share * s.excess * _map(letter, index, ONE_POINT) ** 2 / _MEAN[index]

    return claim(
        f"one-solution.subhomogeneous.{_NAMES[index]}",
        f"The map at t times T and tau is less than t times the map, by what the ridge says: {_NAMES[index]}", BEYOND,
        _less("F", index, gap("F")), _domain(*_POINT, *_EXCESS),
        ByTheorem("V(t x) = t V(x), and the ridge is not multiplied", lambda said: derived.growth(index, said)),
        BySearch("averages on a grid, four laws of the bulk", nothing, ROUNDING, numbers.maps_at),
        wrong={
            "more than t times": ge(_map("F", index, _TIMES), (1 + s.excess) * _map("F", index, ONE_POINT)),
            "four times the gap": _less("F", index, gap("F", 4 * s.ridge)),
            "no ridge, at the threshold": _less("H", index, gap("H")),
        },
        uses=(f"one-solution.increasing.{_NAMES[index]}",),
        note="The gap keeps its size where mu1 or mu2 vanish: beside a ridge nothing is asked of them.",
    )  # fmt: skip


def _bounded(index: int) -> Claim:
    return claim(
        f"one-solution.bounded.{_NAMES[index]}", f"The map of the saddle point is bounded: {_NAMES[index]}", BEYOND,
        le(_map("F", index, ONE_POINT), _MEAN[index] / s.ridge), _domain(*_POINT),
        ByTheorem("S is at least the ridge", lambda said: derived.bound(index, said)),
        BySearch("averages on a grid, four laws of the bulk", nothing, ROUNDING, numbers.maps_at),
        wrong={
            "by half of it": _MEAN[index] / (2 * s.ridge),
            "the other way round": ge(_map("F", index, ONE_POINT), _MEAN[index] / s.ridge),
        },
        uses=("result-3-3.saddle.V1", "result-3-3.saddle.V2"),
    )  # fmt: skip


def _closer(index: int) -> Claim:
    x = ONE_POINT[index - 1]
    kept = 1 - s.ridge * x / _MEAN[index]

    def closer(letter: str, kept: sp.Expr) -> Relational:
        return le(_map(letter, index, _TIMES), (1 + s.excess * kept) * x)

    return claim(
        f"one-solution.closer.{_NAMES[index]}",
        f"A step from t times the solution leaves 1 - lambda {_NAMES[index]}/bound of t - 1", BEYOND,
        closer("F", kept), _domain(*_EXCESS),
        ByTheorem("strict subhomogeneity at the solution", lambda said: derived.contraction(index, said)),
        BySearch("averages on a grid, four laws of the bulk", _solution, SOLVER, numbers.maps_at),
        wrong={
            "four times as fast": closer("F", 1 - 4 * s.ridge * x / _MEAN[index]),
            "C and D increasing": ge(_map("G", index, _TIMES), x),
            "no step at all": ge(_map("F", index, _TIMES), (1 + s.excess) * x),
        },
        uses=(f"one-solution.subhomogeneous.{_NAMES[index]}",),
        note="F increases: all of T and tau below t times the solution come at least as close, geometrically.",
    )  # fmt: skip


def _unique(index: int) -> Claim:
    x, other = ONE_POINT[index - 1], OTHER_POINT[index - 1]
    return claim(
        f"one-solution.{_NAMES[index]}",
        f"The saddle point of the square loss has one solution, for any law of the bulk: {_NAMES[index]}", BEYOND,
        eq(other, x), _domain(),
        ByDerivation(partial(derived.derivation, RIDGE)),
        ByNumbers("Newton's method from above, iteration of the definition from below", _two_solutions, SOLVER,
                  numbers.maps_at),
        kind=Kind.FIXED_POINT,
        wrong={
            "C and D increasing": eq(_map("M", index, OTHER_POINT), x),
            "no ridge, at the threshold": eq(_map("N", index, (2 * s.V1, s.V2)), _map("N", index, ONE_POINT)),
        },
        uses=("one-solution.increasing.T", "one-solution.increasing.tau", "one-solution.subhomogeneous.T",
              "one-solution.subhomogeneous.tau", "one-solution.any-map"),
        note="Square loss, one group, lambda > 0. The proof asks for T, tau > 0, which every solution has: both are "
             "averages of what is positive where the bulk is. All else is linear. For other convex losses it is open.",
    )  # fmt: skip


def _reached(index: int) -> Claim:
    x, led = ONE_POINT[index - 1], _map("L", index, OTHER_POINT)
    return claim(
        f"one-solution.reached.{_NAMES[index]}",
        f"Iteration from anywhere leads to the solution: {_NAMES[index]}", BEYOND,
        eq(led, x), _domain(*_OTHER),
        ByNumbers("iteration of the definition from a random start, and Newton's method", _solution, SOLVER,
                  numbers.maps_at),
        kind=Kind.FIXED_POINT,
        wrong={
            "C and D increasing": eq(_map("M", index, OTHER_POINT), x),
            "no ridge, at the threshold": eq(_map("N", index, OTHER_POINT), x),
        },
        uses=(f"one-solution.{_NAMES[index]}", f"one-solution.closer.{_NAMES[index]}",
              f"one-solution.bounded.{_NAMES[index]}"),
        note="From (c, 1)/lambda, which is above F of anything, iteration decreases and stays above 0: its limit is a "
             "solution, and so there is one. From (0, 0) it increases to the same; any start is between after a step. "
             "Missing for a theorem: induction over the steps, and a rule for the limit of a bounded sequence.",
    )  # fmt: skip


def _budget() -> Claim:
    V = derived.RIDGE.response(ONE_POINT) - 1
    spent = s.alpha / s.beta * over_kappa(V / (1 + V))
    return claim(
        "one-solution.budget", "What the ridge and what the samples hold of a neuron", BEYOND,
        eq(s.ridge * s.V2, 1 - spent), _domain(),
        ByTheorem("the trace of S over S", derived.budget),
        ByNumbers("Newton's method, iteration of the definition", _solution, SOLVER, numbers.maps_at),
        kind=Kind.FIXED_POINT,
        wrong={"alpha for alpha/beta": 1 - s.beta * spent, "without 1 in 1 + V": 1 - s.alpha / s.beta},
        uses=("result-3-3.saddle.V1", "result-3-3.saddle.V2"),
        note="At lambda = 0 it asks for E[V/(1+V)] = beta/alpha: no finite V for alpha <= beta. There lambda tau tends "
             "to 1 - alpha/beta.",
    )  # fmt: skip


def _without_ridge(of: Setting, slug: str, title: str, alpha: Range, note: str) -> Claim:
    ranges = tuple(r for r in _RANGES if r.symbol not in ("law", s.alpha, s.beta))
    return claim(
        f"one-solution.without-ridge.{slug}", title, BEYOND,
        eq(s.V1_other, s.V1), Domain((*ranges, alpha, Range(s.beta, 0.8, 1.2)), (INTEGRABLE, POSITIVE), (GENERIC,)),
        ByDerivation(partial(derived.derivation, of)),
        ByNumbers("Newton's method from above, iteration of the definition from below", _solutions_without_ridge,
                  SOLVER),
        kind=Kind.FIXED_POINT,
        wrong={"twice": 2 * s.V1, "V2 instead": s.V2},
        uses=("one-solution.any-map",), note=note,
    )  # fmt: skip


_STARTS = Domain((Range("seed", 0.0, 1e6),))


def _any_map() -> Claim:
    return claim(
        "one-solution.any-map", "An increasing, strictly subhomogeneous map of the positive cone has one fixed point",
        BEYOND,
        eq(s.V1_other, s.V1), _STARTS,
        ByTheorem("the least factor by which one fixed point exceeds another", any_map),
        ByNumbers("random concave maps, iterated from above and from below", numbers.random_maps, SOLVER),
        wrong={
            "a map that is not increasing": eq(s.V1_other_rising, s.V1_rising),
            "a map that is homogeneous": eq(s.V1_other_bare, s.V1_bare),
        },
        note="Stated for two components; the same proof holds for any number. The mutants are maps that lack one of "
             "the two properties and have several fixed points.",
    )  # fmt: skip


def any_map(said: Relational) -> Theorem:
    """The equation between two fixed points of a map of which no more is known."""
    return stated(two_fixed_points(OTHER_POINT, ONE_POINT), said)


_TWO_GROUPS = Domain(
    (*(r for r in _RANGES if r.symbol not in ("law", s.alpha, s.beta, s.ridge)), Range("seed", 0.0, 1e6),
     Range(s.alpha, 0.5, 4.0, log=True), Range(s.beta, 0.3, 1.5, log=True), Range(s.ridge, 0.02, 0.5, log=True)),
    (INTEGRABLE,), (GENERIC,),
)  # fmt: skip
_LOEWNER = (
    " Missing for a theorem: the inverse of matrices reverses the Loewner order, and Schur's product with a positive "
    "one keeps it."
)


def _in_the_limit(point: Point) -> Mapping[str, float]:
    """The gaps of the solver's block equations."""
    bulks, fractions = np.array(groups.BULKS), np.array(groups.FRACTIONS)
    equivalent = IsotropicGroups(value(point, s.ridge), value(point, s.beta), bulks, fractions)

    def traces(C: groups.Array, D: groups.Array) -> groups.Pair:
        return unpack(equivalent.at(pack(C, D)).values)

    return groups.gaps(point, traces, (np.diag(bulks * fractions), fractions))


def _groups() -> tuple[Claim, ...]:
    dense = "traces of dense matrices of one bulk"
    searches = (
        BySearch(dense, groups.of_one_bulk, ROUNDING),
        BySearch("the solver's block equations", _in_the_limit, ROUNDING),
    )
    increasing = claim(
        "one-solution.groups.increasing", "With several groups the map increases in the Loewner order", BEYOND,
        ge(s.order_gap, sp.Integer(0)), _TWO_GROUPS, *searches,
        wrong={
            "entry by entry": ge(s.entry_gap, sp.Integer(0)),
            "C and D increasing": ge(s.order_gap_rising, sp.Integer(0)),
        },
        uses=("one-solution.increasing.T", "one-solution.increasing.tau"),
        note="V = mu1.T mu1 + tau.mu2^2 grows with T, the averages C of mu1 mu1^T/(1+V) fall in the Loewner order, S "
             "with them (C multiplies W W^T entry by entry), and S^-1 grows. u.T u is the trace of U W W^T U S^-1."
             + _LOEWNER,
    )
    subhomogeneous = claim(
        "one-solution.groups.subhomogeneous", "With several groups the map is strictly subhomogeneous", BEYOND,
        ge(s.scale_gap, sp.Integer(0)), _TWO_GROUPS, *searches,
        wrong={
            "four times the gap": ge(s.scale_gap_fourfold, sp.Integer(0)),
            "the other way round": ge(s.scale_gap_reversed, sp.Integer(0)),
        },
        uses=("one-solution.groups.increasing",),
        note="t C(t x) >= C(x), t D(t x) >= D(x), and t/S - 1/S' >= (t - 1) lambda S^-2 as for one group." + _LOEWNER,
    )
    one = claim(
        "one-solution.groups", "With several groups, too, the saddle point of the square loss has one solution", BEYOND,
        eq(s.V1_of_groups_other, s.V1_of_groups), _TWO_GROUPS,
        ByNumbers(f"{dense}, iterated from above and from below", groups.two_solutions, SOLVER),
        kind=Kind.FIXED_POINT,
        wrong={"C and D increasing": s.V1_of_groups_rising, "twice": 2 * s.V1_of_groups},
        uses=("one-solution.groups.increasing", "one-solution.groups.subhomogeneous"),
        note="The proof of one-solution.any-map with x <= t u in the Loewner order: the least t is attained along a "
             "vector v, v.(t U - X) v = 0, where strictness contradicts it. Every solution is positive definite."
             + _LOEWNER,
    )  # fmt: skip
    return increasing, subhomogeneous, one


CLAIMS: tuple[Claim, ...] = (
    _any_map(),
    *(make(index) for make in (_increasing, _subhomogeneous, _bounded, _closer, _unique, _reached) for index in (1, 2)),
    _budget(),
    _without_ridge(
        ABOVE, "above", "Without a ridge, more samples than neurons: one solution", Range(s.alpha, 1.5, 4.0),
        "The ridge keeps F from being homogeneous no more, the 1 in 1 + V still does: strictly where mu2 > 0.",
    ),
    _without_ridge(
        BELOW, "below", "Without a ridge, fewer samples than neurons: one solution in units of 1/lambda",
        Range(s.alpha, 0.1, 0.6),
        "lambda V1 and lambda V2. The 1 in 1 + V is lost beside V, the ridge, 1 in these units, stays. At alpha = beta "
        "both are lost, F is homogeneous, and V diverges in either unit.",
    ),
    *_groups(),
)  # fmt: skip

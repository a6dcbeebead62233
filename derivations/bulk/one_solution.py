"""The saddle point of the square loss has one solution: T and tau as the fixed point of a map F, for one group and any
law of the bulk.

    F_1(T, tau) = E[varrho/S],  F_2(T, tau) = E[1/S],   S = ridge + D + C varrho,
    C = (alpha/beta) E[mu1^2/(unit + V)],  D = (alpha/beta) E[mu2^2/(unit + V)],   V = mu1^2 T + mu2^2 tau.

C and D decrease in V, the traces decrease in C and D: F is increasing. For t = 1 + s > 1,

    t F_2(x) - F_2(t x) >= s (ridge + K) F_2(x)^2,  t F_1(x) - F_1(t x) >= s (ridge + K) F_1(x)^2/c,

with K = (alpha/beta) unit E[mu2^2/((unit + V)(unit + t V))]: F is strictly subhomogeneous. Beside a ridge (`RIDGE`) its
own share is enough. The limit of a vanishing ridge leaves one of the two: above the interpolation threshold the ridge
is 0 and the unit 1 (`ABOVE`); below it T and tau grow like 1/ridge, and in units of it the ridge is 1 and the unit 0
(`BELOW`). At the threshold both vanish: F(t x) = t F(x), and with one solution there is a ray of them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.increasing_maps import ONE, ZERO, IncreasingMap, at_most_one, stated
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, mu1, mu2, over_kappa, over_modes, varrho
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.statements import AtLeast, Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation

RATIO = s.alpha / s.beta
_p, _q = sp.symbols("p q", positive=True)
_h, _k = sp.symbols("h k", nonnegative=True)
_s = sp.Symbol("s", nonnegative=True)
_t = 1 + _s
HERE, MOVED, SCALED = (_p, _q), (_p + _h, _q + _k), (_t * _p, _t * _q)
Point = tuple[sp.Expr, sp.Expr]
TWO = sp.Integer(2)


@dataclass(frozen=True)
class Setting:
    """What stands for the ridge and for the 1 in 1 + V, and mu2; C, D, F_1 and F_2 carry the mark in their names."""

    title: str
    mark: str
    ridge: sp.Expr
    unit: sp.Expr
    mu2: sp.Expr

    def response(self, at: Point) -> sp.Expr:
        """unit + V(kappa) at (T, tau)."""
        return self.unit + replace(ONE_LETTER, mu2=(self.mu2,), V1=((at[0],),), V2=(at[1],)).V

    def name(self, letter: str) -> sp.FunctionClass:
        """C, D, F_1 or F_2 of this setting; D is positive where mu2 is."""
        sign = "positive" if letter == "D" and self.mu2.is_positive else "nonnegative"
        return sp.Function(letter + self.mark, **{sign: True})

    def eigenvalue(self, at: Point) -> sp.Expr:
        """S = ridge + D + C varrho at (T, tau)."""
        return self.ridge + self.name("D")(*at) + self.name("C")(*at) * varrho


_positive_mu2 = sp.Function("mu2", positive=True)(s.kappa)
RIDGE = Setting("with a ridge", "", s.ridge, ONE, mu2)
ABOVE = Setting("without a ridge, above the interpolation threshold", "_above", ZERO, ONE, _positive_mu2)
BELOW = Setting("without a ridge, below the interpolation threshold", "_below", ONE, ZERO, _positive_mu2)

MEAN = define(s.c, over_modes(varrho), "the mean of the law of the bulk's eigenvalues")


@functools.cache
def _conjugate(of: Setting, letter: str) -> Theorem:
    """C or D as a function of T and tau."""
    weight = {"C": mu1, "D": of.mu2}[letter] ** 2
    meaning = RATIO * over_kappa(weight / of.response(HERE))
    return define(of.name(letter)(*HERE), meaning, "a conjugate as a function of T and tau", *HERE)


@functools.cache
def _trace(of: Setting, index: int) -> Theorem:
    """F_1 or F_2: a trace of the resolvent as an average over the law of the bulk."""
    weight = {1: varrho, 2: ONE}[index]
    meaning = over_modes(weight / of.eigenvalue(HERE))
    return define(of.name(f"F_{index}")(*HERE), meaning, "a trace as a function of T and tau", *HERE)


def _at(theorem: Theorem, point: Point) -> Theorem:
    """``theorem`` at another point than `HERE`."""
    return theorem if point == HERE else instantiate((theorem,), dict(zip(HERE, point, strict=True)))


@functools.cache
def decreasing(of: Setting, letter: str) -> Theorem:
    """C(x) >= C(x + h), or the same of D, since V increases."""
    root, now, then = {"C": mu1, "D": of.mu2}[letter], of.response(HERE), of.response(MOVED)
    squares = ((_h / (now * then), mu1 * root), (_k / (now * then), of.mu2 * root))
    everywhere = order((), AtLeast(root**2 / now, root**2 / then), (), squares)
    definition = _conjugate(of, letter)
    goal = AtLeast(of.name(letter)(*HERE), of.name(letter)(*MOVED))
    averaged = average((everywhere,), (s.kappa,))
    return order((averaged, definition, _at(definition, MOVED)), goal, (RATIO, ONE, -ONE))


def bend(of: Setting, letter: str) -> sp.Expr:
    """K, what (t C(t x) - C(x))/s is, or the same of D."""
    weight = {"C": mu1, "D": of.mu2}[letter] ** 2
    return RATIO * of.unit * over_kappa(weight / (of.response(HERE) * of.response(SCALED)))


@functools.cache
def subhomogeneous_conjugate(of: Setting, letter: str) -> Theorem:
    """t C(t x) >= C(x) + s K, or the same of D: V(t x) = t V(x)."""
    weight, now, then = {"C": mu1, "D": of.mu2}[letter] ** 2, of.response(HERE), of.response(SCALED)
    pieces = [(_t, weight / then)], [(ONE, weight / now), (_s * of.unit, weight / (now * then))]
    sides = [sp.Add(*(a * f for a, f in parts)) for parts in pieces]
    averaged = average((order((), AtLeast(*sides), (), ()),), (s.kappa,))
    for side, parts in zip(sides, pieces, strict=True):
        averaged = _split(averaged, over_kappa(side), *parts)
    definition = _conjugate(of, letter)
    name = of.name(letter)
    goal = AtLeast(_t * name(*SCALED), name(*HERE) + _s * bend(of, letter))
    return order((averaged, _at(definition, SCALED), definition), goal, (RATIO, _t, -ONE))


def _split(theorem: Theorem, whole: sp.Expr, *parts: tuple[sp.Expr, sp.Expr]) -> Theorem:
    """``theorem`` with an average as the sum of constants times averages that it is."""
    parts = tuple((constant, part) for constant, part in parts if constant != 0)
    if parts == ((ONE, whole.args[0]),):
        return theorem
    return rewrite((theorem, linear((), whole, parts)))


@functools.cache
def increasing(of: Setting, index: int) -> Theorem:
    """F(x + h) >= F(x)."""
    weight, now, then = {1: varrho, 2: ONE}[index], of.eigenvalue(HERE), of.eigenvalue(MOVED)
    premises = (decreasing(of, "D"), decreasing(of, "C"))
    inverse = weight / (now * then)
    everywhere = order(premises, AtLeast(weight / then, weight / now), (inverse, inverse * varrho))
    definition, name = _trace(of, index), of.name(f"F_{index}")
    averaged = average((everywhere,), (s.mode,))
    goal = AtLeast(name(*MOVED), name(*HERE))
    return order((averaged, _at(definition, MOVED), definition), goal, (ONE, ONE, -ONE))


def floor(of: Setting) -> sp.Expr:
    """What keeps F from being homogeneous: the ridge, or K where there is none."""
    return of.ridge if of.ridge != 0 else bend(of, "D")


def gap(of: Setting, index: int) -> sp.Expr:
    """floor F_1^2/c and floor F_2^2."""
    return floor(of) * of.name(f"F_{index}")(*HERE) ** 2 / {1: s.c, 2: ONE}[index]


@functools.cache
def subhomogeneous(of: Setting, index: int) -> Theorem:
    """t F(x) >= F(t x) + s gap.

    By t/S - 1/S' >= s f/(S S') >= s f/S^2 >= s f (2 a/S - a^2) with S and S' at x and t x, f the floor, and the number
    a that makes the most of it.
    """
    weight, now, then = {1: varrho, 2: ONE}[index], of.eigenvalue(HERE), of.eigenvalue(SCALED)
    name = of.name(f"F_{index}")
    mean, f = name(*HERE) / {1: s.c, 2: ONE}[index], floor(of)
    further = {_h: _s * _p, _k: _s * _q}
    premises = (
        *(subhomogeneous_conjugate(of, letter) for letter in "DC"),
        *(instantiate((decreasing(of, letter),), further) for letter in "DC"),
    )
    inverse = weight / (now * then)
    multipliers = (inverse, inverse * varrho, _s * f * inverse / now, _s * f * inverse * varrho / now)
    # What the floor leaves of the two bends.
    squares = [(_s * f * weight, 1 / now - mean), (_s * bend(of, "C") * inverse * varrho, ONE)]
    if of.ridge != 0:
        squares.append((_s * bend(of, "D") * inverse, ONE))
    left = [(_t, weight / now)]
    right = [(ONE, weight / then), (TWO * _s * f * mean, weight / now), (-_s * f * mean**2, weight)]
    sides = [sp.Add(*(a * part for a, part in parts)) for parts in (left, right)]
    averaged = average((order(premises, AtLeast(*sides), multipliers, tuple(squares)),), (s.mode,))
    for side, parts in zip(sides, (left, right), strict=True):
        averaged = _split(averaged, over_modes(side), *parts)
    definition = _trace(of, index)
    known = [averaged, definition, _at(definition, SCALED)]
    factors = [ONE, _t - TWO * _s * f * mean, -ONE]
    if index == 1:
        known.append(MEAN)
        factors.append(_s * f * mean**2)
    goal = AtLeast(_t * name(*HERE), name(*SCALED) + _s * gap(of, index))
    return order(tuple(known), goal, tuple(factors))


@functools.cache
def bounded(index: int) -> Theorem:
    """F_1 <= c/ridge and F_2 <= 1/ridge."""
    of, weight, now = RIDGE, {1: varrho, 2: ONE}[index], RIDGE.eigenvalue(HERE)
    slack = weight / (s.ridge * now)
    squares = ((slack * of.name("D")(*HERE), ONE), (slack * of.name("C")(*HERE) * varrho, ONE))
    averaged = average((order((), AtLeast(weight / s.ridge, weight / now), (), squares),), (s.mode,))
    known, factors = [averaged, _trace(of, index)], [ONE, -ONE]
    if index == 1:
        averaged = _split(averaged, over_modes(weight / s.ridge), (1 / s.ridge, weight))
        known, factors = [averaged, _trace(of, index), MEAN], [ONE, -ONE, 1 / s.ridge]
    goal = AtLeast({1: s.c, 2: ONE}[index] / s.ridge, of.name(f"F_{index}")(*HERE))
    return order(tuple(known), goal, tuple(factors))


@functools.cache
def increasing_map(of: Setting) -> IncreasingMap:
    """F of a setting, with what makes its fixed point the only one."""
    both = (1, 2)
    return IncreasingMap(
        HERE,
        (_h, _k),
        _s,
        tuple(increasing(of, index) for index in both),
        tuple(subhomogeneous(of, index) for index in both),
        tuple(gap(of, index) for index in both),
    )


def fixed_point(of: Setting, point: tuple[sp.Symbol, sp.Symbol]) -> tuple[Theorem, Theorem]:
    """F_i(x) = x_i, the premise that a point solves the equations."""
    first, second = (
        in_model(
            f"{x} solves the saddle point",
            Equation(of.name(f"F_{i}")(*point), x),
            "the two nonlinear equations of Result 3.3",
        )
        for i, x in enumerate(point, start=1)
    )
    return first, second


ONE_POINT, OTHER_POINT = (s.V1, s.V2), (s.V1_other, s.V2_other)


@functools.cache
def one_solution(of: Setting) -> tuple[Theorem, ...]:
    """T' = T and tau' = tau for any two solutions."""
    return at_most_one(increasing_map(of), fixed_point(of, OTHER_POINT), fixed_point(of, ONE_POINT))


@functools.cache
def derivation(of: Setting) -> Derivation:
    """T' = T and tau' = tau, step by step."""
    first, second = one_solution(of)
    steps = (
        *each_proved("A conjugate falls where V grows,", (decreasing(of, letter) for letter in "CD")),
        *each_proved("and the traces fall with both: F is increasing.", (increasing(of, index) for index in (1, 2))),
        *each_proved(
            "V is t = 1 + s times as large at t x, and 1 + V at most,",
            (subhomogeneous_conjugate(of, letter) for letter in "CD"),
        ),
        *each_proved("so that F falls short of t times as much.", (subhomogeneous(of, index) for index in (1, 2))),
        proved(
            "Let t >= 1 be the least factor with (T', tau') <= t (T, tau). Were t > 1, then (T', tau') = F(T', tau') "
            "<= F(t T, t tau) < t F(T, tau) = t (T, tau), and a smaller factor would do. So (T', tau') <= (T, tau), "
            "and the other way round.",
            first,
        ),
        proved("The same of the other component.", second),
    )
    return Derivation(
        f"one solution of the saddle point {of.title}",
        "beyond the paper: one solution",
        *steps,
        results={s.V1_other: s.V1, s.V2_other: s.V2},
    )


# ---- the theorems by what they say ----


def growth(index: int, said: Relational) -> Theorem:
    """F is increasing, or strictly subhomogeneous, at (T, tau)."""
    steps = {_p: s.V1, _q: s.V2}
    return stated(
        (
            instantiate((increasing(RIDGE, index),), steps | {_h: s.V1_more, _k: s.V2_more}),
            instantiate((subhomogeneous(RIDGE, index),), steps | {_s: s.excess}),
        ),
        said,
    )


def bound(index: int, said: Relational) -> Theorem:
    """F is bounded at (T, tau)."""
    return stated((_at(bounded(index), ONE_POINT),), said)


def contraction(index: int, said: Relational) -> Theorem:
    """F(t x) <= (1 + (t - 1)(1 - ridge x_i/bound)) x_i at the solution x, for t = 1 + excess."""
    strict = instantiate((subhomogeneous(RIDGE, index),), {_p: s.V1, _q: s.V2, _s: s.excess})
    fixed = fixed_point(RIDGE, ONE_POINT)[index - 1]
    strict = rewrite((strict, fixed))
    return order((strict,), AtLeast(said.gts, said.lts), (ONE,))


def budget(said: Relational) -> Theorem:
    """ridge tau = 1 - (alpha/beta) E[V/(1+V)] at the solution: S/S is one in every mode."""
    S, V = RIDGE.eigenvalue(ONE_POINT), RIDGE.response(ONE_POINT) - ONE
    C, D = RIDGE.name("C")(*ONE_POINT), RIDGE.name("D")(*ONE_POINT)
    parts = ((s.ridge, ONE / S), (C, varrho / S), (D, ONE / S))
    whole = sp.Add(*(a * part for a, part in parts))
    one = average((ring((), Equation(whole, ONE)),), (s.mode,))
    modes = _split(one, over_modes(whole), *parts)
    conjugates = [_at(_conjugate(RIDGE, letter), ONE_POINT) for letter in "CD"]
    traces = [_at(_trace(RIDGE, index), ONE_POINT) for index in (1, 2)]
    fixed = fixed_point(RIDGE, ONE_POINT)
    samples = linear((), over_kappa(V / (1 + V)), ((s.V1, mu1**2 / (1 + V)), (s.V2, mu2**2 / (1 + V))))
    for theorem in (*traces, *fixed):
        modes = rewrite((modes, theorem), theorem in traces)
    premises = (modes, *conjugates, samples)
    return ring(premises, Equation(said.lhs, said.rhs), (ONE, -s.V1, -s.V2, RATIO))

"""For each lemma by its name: both sides at values drawn at random, computed from what the lemma speaks of.

Undefined functions of a lemma get the numbers of what they stand for: dense matrices, sums over a law, minima.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise, product
from math import prod

import numpy as np
import sympy as sp

from giantsteps.derivations.kernel.statements import Assumption, Tends, sides
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.verify.checks.evaluate import evaluate

Sides = tuple[float, float]
Numbers = Callable[[Assumption, np.random.Generator], Sides]
Given = Mapping[str, Callable[..., sp.Expr]]


def sides_at(lemma: Assumption, values: Mapping[str, float], given: Given) -> Sides:
    """Both sides with functions, by their names, put in; averages by quadrature."""
    left, right = (evaluate(_put(side, given), values) for side in sides(lemma.statement))
    return left, right


def _put(side: sp.Expr, given: Given) -> sp.Expr:
    named = {call for call in side.atoms(sp.core.function.AppliedUndef) if call.func.__name__ in given}
    for call in sorted(named, key=lambda call: call.count_ops()):
        side = side.replace(call.func, given[call.func.__name__])
    return side


def number(value: float) -> Callable[..., sp.Expr]:
    """A function that is this number, whatever its arguments."""
    return lambda *_: sp.Float(value, 17)


def averages(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """f = tanh(a x + b) with its slope and h = sin(c x + b), on Gaussian averages."""
    a, b, scale = (float(x) for x in rng.uniform(0.3, 1.2, 3))
    given = {
        "f": lambda x: sp.tanh(a * x + b),
        "f'": lambda x: a * (1 - sp.tanh(a * x + b) ** 2),
        "h": lambda x: sp.sin(scale * x + b),
    }
    names = frozenset().union(*(side.free_symbols for side in sides(lemma.statement)))
    return sides_at(lemma, {symbol.name: float(rng.uniform(0.3, 1.2)) for symbol in names}, given)


def iterated(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """The inner average at each node of a rule for the outer one."""
    a, b = (float(x) for x in rng.uniform(0.3, 1.2, 2))
    given = {"f": lambda x: sp.tanh(a * x + b), "h": lambda x: sp.sin(a * x + b)}
    left, right = (_put(side, given) for side in sides(lemma.statement))
    (t,), inner = right.variables, right.integrand
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    found = [evaluate(inner, {t.name: float(node)}) for node in nodes]
    return evaluate(left, {}), float(weights @ found / weights.sum())


def same(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """f(x) = sin 2ax, written in another way as h."""
    a = float(rng.uniform(0.3, 1.2))
    at = {"f": lambda x: sp.sin(2 * a * x) + x**2, "h": lambda x: 2 * sp.sin(a * x) * sp.cos(a * x) + x**2}
    return sides_at(lemma, {}, at)


def ordered(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """f = h + (a x)^2."""
    a = float(rng.uniform(0.3, 1.2))
    return sides_at(lemma, {}, {"f": lambda x: sp.sin(x) + (a * x) ** 2, "h": lambda x: sp.sin(x)})


def under_an_average(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """d/dy E f(x, y) by a central difference, and E df/dy."""
    left, right = sides(lemma.statement)
    (y,), at, step = left.variables, float(rng.uniform(0.3, 1.2)), 1e-4
    f = {"f": lambda x_, y_: sp.tanh(x_ * y_ + y_) * sp.cos(y_)}
    moved = [evaluate(_put(left.expr, f), {y.name: at + h}) for h in (-step, step)]
    return (moved[1] - moved[0]) / (2 * step), evaluate(_put(right, f).doit(), {y.name: at})


def far_out(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """What tends to a limit, at 1e7, and the limit; two places show that it gets closer."""
    assert isinstance(lemma.statement, Tends)
    a, at = float(rng.uniform(0.3, 1.2)), float(rng.uniform(0.3, 1.2))
    given: Given = {
        "f": lambda *x: sp.tanh(a * x[0] + (x[1] if len(x) > 1 else a)),
        "f'": lambda x: a * (1 - sp.tanh(a * x + a) ** 2),
    }
    x, limit = lemma.statement.variable, sides(lemma.statement)[1]
    values = {symbol.name: at for symbol in lemma.statement.expression.free_symbols | limit.free_symbols}
    near, far = (evaluate(_put(lemma.statement.expression, given), {**values, x.name: place}) for place in (1e3, 1e7))
    value = evaluate(_put(limit, given), values)
    assert abs(far - value) < 1e-2 * abs(near - value)
    return far, value


def gaussian(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """The curvature stays away from zero, where the integrand is wide."""
    return sides_at(lemma, {"S": float(rng.uniform(0.5, 2.0)), "t": float(rng.uniform(-1.0, 1.0))}, {})


def matrix(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix of four rows, and three vectors."""
    root = rng.standard_normal((4, 4))
    return root @ root.T + np.eye(4), rng.standard_normal((3, 4))


def rank_one(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """x.(A + w u u^T)^-1 y and its log-determinant on dense matrices."""
    A, (x, y, u) = matrix(rng)
    w, inverse = float(rng.uniform(0.1, 1.0)), np.linalg.inv(A)
    updated = A + w * np.outer(u, u)
    values = {
        "g_{xy}": x @ inverse @ y, "g_{xu}": x @ inverse @ u, "g_{uy}": u @ inverse @ y, "g_{uu}": u @ inverse @ u,
        "L": np.linalg.slogdet(A)[1], "w": w,
    }  # fmt: skip
    given = {
        "updated form": number(float(x @ np.linalg.solve(updated, y))),
        "updated ln det": number(float(np.linalg.slogdet(updated)[1])),
    }
    return sides_at(lemma, {name: float(value) for name, value in values.items()}, given)


def many_variables(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """The integral in two variables, summed on a grid."""
    (a, b, c), F = rng.uniform(0.8, 1.5, 3), rng.uniform(-0.8, 0.8, 2)
    A = np.array([[a + 1.0, b], [b, c + 1.0]])
    grid, step = np.linspace(-15.0, 15.0, 1201, retstep=True)
    first, second = np.meshgrid(grid, grid)
    exponent = -(A[0, 0] * first**2 + 2 * A[0, 1] * first * second + A[1, 1] * second**2) / 2
    integral = np.sum(np.exp(exponent + F[0] * first + F[1] * second)) * step**2 / (2 * np.pi)
    values = {"L": float(np.linalg.slogdet(A)[1]), "F": float(F @ np.linalg.solve(A, F))}
    return sides_at(lemma, values, {"ln Gaussian": number(float(np.log(integral)))})


def factors(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """All triples of a law on three points."""
    points, weights = rng.uniform(0.5, 2.0, 3), rng.dirichlet(np.ones(3))
    triples = product(zip(points, weights, strict=True), repeat=3)
    mean = float(sum(prod(x for x, _ in triple) * prod(w for _, w in triple) for triple in triples))
    return sides_at(lemma, {"n": 3.0, "b": float(points @ weights)}, {"product": number(mean)})


def terms(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """Seven terms, one after another."""
    each = float(rng.uniform(0.3, 1.2))
    return sides_at(lemma, {"n": 7.0, "a": each}, {"repeated": number(sum([each] * 7))})


def naturals(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """1, 2, ... below x, one after another."""
    x = float(rng.uniform(1.3, 9.0))
    (symbol,) = lemma.universal
    return float(sum(k < x for k in range(1, 20))), float(sides(lemma.statement)[1].subs(symbol, x))


def envelope(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """Central differences of min_h log(1 + exp(-y h)) + (h - omega)^2/(2 V); the force is (h - omega)/V."""
    y, omega, V = 1.0, float(rng.uniform(-1.0, 1.0)), float(rng.uniform(0.5, 2.0))

    def least(omega: float, V: float) -> tuple[float, float]:
        h = omega
        for _ in range(60):
            pull = -y / (1 + np.exp(y * h))
            h -= (pull + (h - omega) / V) / (1 / V + np.exp(y * h) / (1 + np.exp(y * h)) ** 2)
        return float(np.log1p(np.exp(-y * h)) + (h - omega) ** 2 / (2 * V)), h

    left, right = sides(lemma.statement)
    step, centre = 1e-4, "centre" in lemma.name
    ends = [least(omega + sign * step * centre, V + sign * step * (not centre))[0] for sign in (-1, 1)]
    force = (least(omega, V)[1] - omega) / V
    (call,) = right.atoms(sp.core.function.AppliedUndef)
    assert left.func.__name__.startswith("envelope")
    return (ends[1] - ends[0]) / (2 * step), float(right.subs(call, force))


def inverse(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """An entry and a column of a dense inverse: A, b.D^-1 b, own component y and u = y.D^-1 b of a vector."""
    S, (y, *_) = matrix(rng)
    rest, row, whole = S[1:, 1:], S[0, 1:], np.linalg.inv(S)
    values = {"A": S[0, 0], "q": row @ np.linalg.solve(rest, row), "y": y[0], "u": y[1:] @ np.linalg.solve(rest, row)}
    given = {"(S^{-1})_{ii}": number(float(whole[0, 0])), "y.S^{-1}e_i": number(float(y @ whole[:, 0]))}
    return sides_at(lemma, {name: float(value) for name, value in values.items()}, given)


def sign(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """Signs at a number below zero; an average of one by panels on both sides of its jump."""
    symbols = frozenset().union(*(side.free_symbols for side in sides(lemma.statement)))
    values = {symbol: float(rng.uniform(0.3, 1.2)) for symbol in symbols}
    values |= {symbol: -value for symbol, value in values.items() if symbol.name in ("x", "a", "t")}
    left, right = (side.xreplace(values).replace(sgn, sp.sign) for side in sides(lemma.statement))
    return _by_panels(left) if isinstance(left, Expectation) else float(left), float(right)


def _by_panels(average: Expectation) -> float:
    (variable,) = average.variables
    jumps = [float(sp.solve(call.args[0], variable)[0]) for call in average.integrand.atoms(sp.sign)]
    ends, total = [-12.0, *jumps, 12.0], 0.0
    nodes, weights = np.polynomial.legendre.leggauss(80)
    function = sp.lambdify(variable, average.integrand, ["scipy", "numpy"])
    for low, high in pairwise(ends):
        points = (high - low) / 2 * nodes + (high + low) / 2
        density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
        total += float((high - low) / 2 * weights @ (function(points) * density))
    return total


def two_signs(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """The sign of the first normal variable by panels, of the second by the error function that it averages to."""
    h, k, rho = (float(x) for x in rng.uniform(0.3, 0.8, 3))
    left, right = sides(lemma.statement)
    v, w = left.variables
    at = dict(zip(sorted(right.free_symbols, key=str), (h, k, rho), strict=True))
    first, second = sorted((call.args[0] for call in left.integrand.atoms(sgn)), key=lambda inside: inside.has(w))
    spread = sp.diff(second, w)
    given_first = sp.erf(second.xreplace({w: sp.Integer(0)}) / (sp.sqrt(2) * spread))
    average = Expectation((sp.sign(first) * given_first).xreplace(at), v)
    return _by_panels(average), float(right.xreplace({symbol: sp.Float(value, 20) for symbol, value in at.items()}))


def at_numbers(lemma: Assumption, rng: np.random.Generator) -> Sides:
    """Both sides at numbers, averages by quadrature."""
    names = frozenset().union(*(side.free_symbols for side in sides(lemma.statement)))
    return sides_at(lemma, {symbol.name: float(rng.uniform(0.3, 1.2)) for symbol in names}, {})


NUMBERS: Mapping[str, Numbers] = {
    **dict.fromkeys(("linearity", "independence", "moments", "Stein", "rotation", "translation", "dilation"), averages),
    "iterated averages": iterated,
    "equal integrands": same,
    "monotony": ordered,
    "derivative under an average": under_an_average,
    **dict.fromkeys(("dominated convergence", "Taylor's formula", "growth of the logarithm"), far_out),
    "Gaussian integral": gaussian,
    "Gaussian integral of many variables": many_variables,
    **dict.fromkeys(("Sherman-Morrison", "determinant of rank one"), rank_one),
    "independent factors": factors,
    "equal terms": terms,
    "naturals below": naturals,
    **dict.fromkeys(("envelope theorem in the centre", "envelope theorem in the variance"), envelope),
    **dict.fromkeys(("Schur complement", "column of an inverse"), inverse),
    **dict.fromkeys(
        (
            "a sign is one or minus one",
            "sign of a multiple",
            "modulus by sign",
            "signs in order",
            "decay by sign",
            "error function",
            "Chebyshev",
            "sign smoothed",
        ),
        sign,
    ),
    **dict.fromkeys(("arcsine by arctangent", "characteristic function", "tangent of the exponential"), at_numbers),
    "tanh by exponentials": at_numbers,
    "product of signs": two_signs,
}

"""Numbers for the map whose fixed point (T, tau) is, from its definition: averages over kappa on a grid, traces over
the law of the bulk, which is Marchenko-Pastur's or a few atoms; and where its iterates lead.

The solver knows the traces of Marchenko and Pastur by a quadratic equation, and uses Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.models import density_integrals, functions_of, model_at
from giantsteps.verify.second_route.values import generator_at

Array = NDArray[np.float64]
Pair = tuple[float, float]
Map = Callable[[float, float], Pair]

# Of mean 1: eigenvalues and weights. Zeros as for more neurons than inputs; eigenvalues over five powers of ten.
LAWS: Mapping[str, tuple[Pair, ...]] = {
    "Marchenko-Pastur": (),
    "one eigenvalue": ((1.0, 1.0),),
    "mostly zeros": ((0.0, 0.9), (10.0, 0.1)),
    "powers of ten": ((1e-3, 0.4), (0.1, 0.4), (9.598, 0.1), (0.0, 0.1)),
}

# Without a 1 beside it V has zeros nearer to the line than 1 + V.
LINE = normal_line(0.05)
_NODES, _WEIGHTS = LINE


@dataclass(frozen=True)
class Setting:
    """A model, what stands for its ridge and for the 1 in 1 + V, the law of its bulk, and C and D as averages of
    mu^2 (unit + V)^power.
    """

    model: Model
    ridge: float
    unit: float
    law: str = "Marchenko-Pastur"
    power: float = -1.0


@lru_cache(maxsize=256)
def _squares(model: Model) -> tuple[Array, Array]:
    # Where the features saturate a difference of moments would lose mu2, and without a 1 beside it V with it.
    _, first, second = conditional_coefficients(model.activation, model.spike, model.bulk, 0.0, _NODES)
    return first**2, second**2


def the_map(at: Setting) -> Map:
    """F of a setting."""
    first, second = _squares(at.model)
    ratio = at.model.alpha / at.model.beta

    def mapped(overlap: float, tau: float) -> Pair:
        inverse = ratio * _WEIGHTS * (at.unit + first * overlap + second * tau) ** at.power
        return _traces(at, float(first @ inverse), at.ridge + float(second @ inverse))

    return mapped


def _traces(at: Setting, conjugate: float, shift: float) -> Pair:
    bulk = at.model.bulk
    if not LAWS[at.law]:
        found = density_integrals(at.model.beta, bulk, shift, conjugate)
        return found[s.V1.name], found[s.V2.name]
    eigenvalues, weights = np.array(LAWS[at.law]).T
    shares = weights / (shift + bulk * conjugate * eigenvalues)
    return float(shares @ (bulk * eigenvalues)), float(shares.sum())


def iterated(of: Callable[..., tuple[Any, Any]], start: tuple[Any, Any], most: int = 20_000) -> tuple[Any, Any]:
    """Where x, F(x), F(F(x)), ... leads: until it moves by rounding, or for so many steps; x numbers or arrays."""
    now = start
    for _ in range(most):
        before, now = now, of(*now)
        if all(np.max(np.abs(a - b)) <= 1e-15 * np.max(np.abs(a)) for a, b in zip(now, before, strict=True)):
            break
    return now


def _functions(letter: str, limit: str, of: Map) -> dict[str, Callable[..., Any]]:
    """F_1, F_2 and L_1, L_2, the limits of their iterates, under the letters given."""

    @lru_cache(maxsize=16)  # both parts of a limit are asked for at the same place
    def end(overlap: float, tau: float) -> Pair:
        return iterated(of, (overlap, tau))

    def part(index: int) -> Callable[..., float]:
        return lambda overlap, tau: of(float(overlap), float(tau))[index]

    def led(index: int) -> Callable[..., float]:
        return lambda overlap, tau: end(float(overlap), float(tau))[index]

    parts = {f"{letter}_{i + 1}": part(i) for i in range(2)}
    return parts | {f"{limit}_{i + 1}": led(i) for i in range(2)}


def setting_at(point: Point) -> Setting:
    """The setting of a point."""
    model = model_at(point)
    return Setting(model, model.ridge, 1.0, str(point["law"]))


def maps_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    """F (its iterates L), and wrong ones: G (M) with C and D increasing, H (N) with neither ridge nor unit, at alpha =
    beta.
    """
    right = setting_at(point)
    model = right.model
    rising = replace(right, power=1.0)
    bare = replace(right, model=model.changed(alpha=model.beta), ridge=0.0, unit=0.0)
    return {
        **functions_of(model),
        **_functions("F", "L", the_map(right)),
        **_functions("G", "M", the_map(rising)),
        **_functions("H", "N", the_map(bare)),
    }


def random_maps(point: Point) -> Mapping[str, float]:
    """Fixed points of F_i = a_i + sum_j b_ij x_j^p_ij with p < 1, from below and from above.

    And two fixed points of maps that are not increasing, F = (x1/x2, 1), or homogeneous, F = (x2, x1), by iteration
    from two random starts.
    """
    generator = generator_at(point)
    shift, weights, powers = (
        generator.uniform(0.1, 1.0, 2),
        generator.uniform(0.0, 1.0, (2, 2)),
        generator.uniform(0.1, 0.8, (2, 2)),
    )
    low, high = generator.uniform(1e-6, 1e-3), generator.uniform(10.0, 1e3)

    def concave(x: float, y: float) -> tuple[float, float]:
        first, second = shift + (weights * np.array([x, y]) ** powers).sum(axis=1)
        return float(first), float(second)

    below, above = iterated(concave, (low, low)), iterated(concave, (high, high))
    start, other = generator.uniform(0.5, 2.0, 2)
    return {
        s.V1.name: above[0],
        s.V2.name: above[1],
        s.V1_other.name: below[0],
        s.V1_rising.name: iterated(lambda x, y: (x / y, 1.0), (start, 1.0))[0],
        s.V1_other_rising.name: iterated(lambda x, y: (x / y, 1.0), (other, 1.0))[0],
        s.V1_bare.name: iterated(lambda x, y: (y, x), (start, start))[0],
        s.V1_other_bare.name: iterated(lambda x, y: (y, x), (other, other))[0],
    }

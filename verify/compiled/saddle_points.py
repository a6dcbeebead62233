"""Saddle points of drawn models by the equations of theorems, in double precision: isotropic rows, one direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.verify.compiled.along import averages, kappa_rule
from giantsteps.verify.compiled.doubles import Rule
from giantsteps.verify.compiled.families import Family
from giantsteps.verify.compiled.system import Solved, System

Array = NDArray[np.float64]
# How much finer the rule along the spike is against which the error is estimated: no multiple of the other's step.
_FINER = 1.9


class Model(Protocol):
    """What a model has to say of itself: ratios, noise, functions, and by letter fraction, slope, bias and bulk."""

    @property
    def alpha(self) -> float: ...

    @property
    def beta(self) -> float: ...

    @property
    def ridge(self) -> float: ...

    @property
    def noise(self) -> float: ...

    @property
    def alignment(self) -> float: ...

    @property
    def activation(self) -> Activation: ...

    @property
    def target(self) -> Activation: ...

    @property
    def slopes(self) -> Sequence[float]: ...

    @property
    def biases(self) -> Sequence[float]: ...

    @property
    def bulks(self) -> Sequence[float]: ...

    @property
    def fractions(self) -> Sequence[float]: ...


def functions_of(model: Model) -> Mapping[str, Callable[[Array], Array]]:
    """mu0, mu1 and mu2 of each letter, and y0, y1 and y2 (with label noise) as functions of kappa."""
    across = math.sqrt((1.0 - model.alignment) * (1.0 + model.alignment))

    def student(letter: int, index: int, kappa: Array) -> Array:
        root = math.sqrt(model.bulks[letter])
        at = averages(model.activation, model.slopes[letter] * kappa + model.biases[letter], root)
        rest = np.maximum(at.square - at.mean**2 - at.slope**2, 0.0)
        return (at.mean, at.slope / root, np.sqrt(rest))[index]

    def target(index: int, kappa: Array) -> Array:
        at = averages(model.target, model.alignment * kappa, across)
        return (at.mean, at.slope, at.square + model.noise)[index]

    several = len(model.slopes) > 1
    names = {f"mu{index}{f'_{letter + 1}' if several else ''}": partial(student, letter, index)
             for letter in range(len(model.slopes)) for index in range(3)}  # fmt: skip
    return names | {f"y{index}": partial(target, index) for index in range(3)}


def given(model: Model, names: Mapping[str, Any], number: Callable[[float], Any] = float) -> dict[str, Any]:
    """What a model says of itself, by the names of a family; numbers of any type."""
    values = {names[role]: getattr(model, role) for role in ("alpha", "beta", "ridge", "noise")}
    if isinstance(names["bulk"], str):
        values[names["bulk"]] = model.bulks[0]
    else:
        values |= dict(zip((*names["bulk"], *names["fraction"]), (*model.bulks, *model.fractions), strict=True))
    return {name: number(value) for name, value in values.items()}


def solved(model: Model, family: Family) -> tuple[Solved, float]:
    """The saddle point of a model of one letter or two, one direction and isotropic rows, and an estimate of the error.

    That is the most that a value moves, beside 1 + its size, when the rule along the spike is made finer. Raises
    SolveError.
    """
    cuts: tuple[float, ...] = ()
    if abs(model.alignment) == 1.0:
        cuts = tuple(float(point.location.value) / model.alignment for point in model.target.breakpoints)
    coarse, fine = (on_rule(model, family, kappa_rule(cuts, finer)) for finer in (1.0, _FINER))
    moved = (abs(value - coarse.values[name]) / (1.0 + abs(value)) for name, value in fine.values.items())
    return fine, max(moved)


def on_rule(model: Model, family: Family, rule: Rule) -> Solved:
    """The saddle point where averages along the spike are sums on one rule. Raises SolveError."""
    tables = {name: function(rule.nodes) for name, function in functions_of(model).items()}
    functions = {name: partial(looked_up, table) for name, table in tables.items()}
    return System(family.tapes, {family.names["kappa"]: rule}, given(model, family.names), functions).solve()


def looked_up(table: Any, _: Any) -> Any:
    """A function along the spike that is known on the nodes."""
    return table

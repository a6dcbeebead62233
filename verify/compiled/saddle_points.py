"""Saddle points of drawn models by the equations of theorems, in double precision: isotropic rows, one direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.verify.compiled.along import averages, cuts_of, kappa_rule
from giantsteps.verify.compiled.doubles import Rule
from giantsteps.verify.compiled.families import Family
from giantsteps.verify.compiled.system import Solved, System

Array = NDArray[np.float64]
# How much finer the rule along the spike is against which the error is estimated: no multiple of the other's step.
_FINER = 1.9


class Features(Protocol):
    """What the functions along the spike are made of: noise, alignment, functions, slope, bias and bulk by letter."""

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


class Model(Features, Protocol):
    """What a model has to say of itself beside these: the ratios, and the fraction of each letter."""

    @property
    def alpha(self) -> float: ...

    @property
    def beta(self) -> float: ...

    @property
    def ridge(self) -> float: ...

    @property
    def fractions(self) -> Sequence[float]: ...


def functions_of(model: Features) -> Mapping[str, Callable[[Array], Array]]:
    """mu0, mu1, mu2 and k2 = d mu0/dc of each letter, and y0, y1, y2 (with label noise) as functions of kappa."""
    across = math.sqrt((1.0 - model.alignment) * (1.0 + model.alignment))

    def student(letter: int, index: int, kappa: Array) -> Array:
        root = math.sqrt(model.bulks[letter])
        at = averages(model.activation, model.slopes[letter] * kappa + model.biases[letter], root)
        rest = np.maximum(at.square - at.mean**2 - at.slope**2, 0.0)
        return (at.mean, at.slope / root, np.sqrt(rest), at.curve / (2.0 * root**2))[index]

    def target(index: int, kappa: Array) -> Array:
        at = averages(model.target, model.alignment * kappa, across)
        return (at.mean, at.slope, at.square + model.noise)[index]

    several = len(model.slopes) > 1
    names = {f"{name}{f'_{letter + 1}' if several else ''}": partial(student, letter, index)
             for letter in range(len(model.slopes))
             for index, name in enumerate(("mu0", "mu1", "mu2", "k2"))}  # fmt: skip
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
        cuts = tuple(cut / model.alignment for cut in cuts_of(model.target))
    return refined(lambda finer: on_rule(model, family, kappa_rule(cuts, finer)))


def refined(solve: Callable[[float], Solved]) -> tuple[Solved, float]:
    """What ``solve`` gives on finer rules, and the most that a value moves, beside 1 + its size."""
    coarse, fine = solve(1.0), solve(_FINER)
    return fine, max(abs(value - coarse.values[name]) / (1.0 + abs(value)) for name, value in fine.values.items())


def on_rule(model: Model, family: Family, rule: Rule) -> Solved:
    """The saddle point where averages along the spike are sums on one rule. Raises SolveError."""
    rules, known = {family.names["kappa"]: rule}, given(model, family.names)
    return System(family.tapes, rules, known, on(rule, functions_of(model))).solve()


def on(rule: Rule, functions: Mapping[str, Callable[[Array], Array]]) -> Mapping[str, Callable[[Array], Array]]:
    """Functions whose values at the nodes of a rule are computed once."""
    return {name: partial(looked_up, function(rule.nodes)) for name, function in functions.items()}


def looked_up(table: Array, nodes: Array) -> Array:
    """The values of a table, in the shape of the nodes."""
    return table.reshape(np.shape(nodes))

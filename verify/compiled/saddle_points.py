"""Saddle points by the theorems that derive them: one letter or two, isotropic rows.

The equations are what derivations conclude, read off their theorems; nothing here is typed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.kernel.search.steps import isolated
from giantsteps.derivations.kernel.statements import sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.saddle_point import equations, letters
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import isotropic
from giantsteps.verify.compiled.along import averages, kappa_rule
from giantsteps.verify.compiled.doubles import Rule
from giantsteps.verify.compiled.system import Solved, System
from giantsteps.verify.compiled.tape import Tape, written

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


def concluded(theorem: Theorem) -> tuple[sp.Symbol, sp.Expr]:
    """What an equation says of the symbol on its left."""
    left, right = sides(theorem.statement)
    assert isinstance(left, sp.Symbol)
    return left, right


def isotropic_bulk() -> tuple[Theorem, ...]:
    """V2, V1 and the second moments of the resolvent for rows of one norm."""
    square, mixed, double, *_ = marchenko_pastur.moments()
    return marchenko_pastur.quadratic().theorem_of(s.V2), marchenko_pastur.law(), square, mixed, double


@lru_cache(maxsize=1)
def one_letter() -> tuple[Tape, ...]:
    """Result 3.3 for isotropic rows, equations (18)-(25) and the training error."""
    stationary = (s.q1, s.q2, s.m, s.zeta, s.psi, s.V1, s.V2)
    overlaps = {s.zeta_hat: s.zeta, s.psi_hat: s.psi, s.V1_hat: s.q1, s.V2_hat: s.q2}
    theorems = (
        *map(equations.at_saddle, stationary),
        *isotropic_bulk(),
        *(equations.isotropic(variable).theorem_of(found) for variable, found in overlaps.items()),
        equations.test_error().theorem_of(s.test_error),
        equations.training_error().theorem_of(s.training_error),
    )
    return written(map(concluded, theorems))


@lru_cache(maxsize=1)
def two_letters() -> tuple[Tape, ...]:
    """Appendix D for isotropic rows, equations (154)-(157)."""
    pairs = {of[a][b]: None for of in (s.q1_of, s.V1_of) for a, b in PAIRS}
    alone = [of[a] for of in (s.m_of, s.zeta_of, s.psi_of, s.q2_of, s.V2_of) for a in LETTERS]
    overlaps = [of[a] for of in (s.zeta_hat_of, s.psi_hat_of, s.V2_hat_of) for a in LETTERS]
    overlaps += [s.V1_hat_of[a][b] for a, b in PAIRS]
    here = isotropic.laws_here()
    theorems = (
        *(letters.equation(x).theorem_of(letters.CONJUGATE[x]) for x in (*pairs, *alone)),
        *(isolated(s.V2_of[a], here[a]) for a in LETTERS),
        *here[len(LETTERS) :],
        *(isotropic.isotropic(x).theorem_of(letters.CONJUGATE[x]) for x in overlaps),
        letters.test_error().theorem_of(s.test_error),
    )
    return written(map(concluded, theorems))


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


def _given(model: Model) -> dict[str, float]:
    common = {s.alpha: model.alpha, s.beta: model.beta, s.ridge: model.ridge, s.noise: model.noise}
    if len(model.slopes) == 1:
        own = {s.c: model.bulks[0]}
    else:
        by_letter = ((s.c_of, model.bulks), (s.fraction, model.fractions))
        own = {of[a]: values[a] for of, values in by_letter for a in LETTERS}
    return {symbol.name: value for symbol, value in (common | own).items()}


def solved(model: Model) -> tuple[Solved, float]:
    """The saddle point of a model of one letter or two, one direction and isotropic rows, and an estimate of the error.

    That is the most that a value moves, beside 1 + its size, when the rule along the spike is made finer. Raises
    SolveError.
    """
    system = {1: one_letter, 2: two_letters}[len(model.slopes)]()
    cuts: tuple[float, ...] = ()
    if abs(model.alignment) == 1.0:
        cuts = tuple(float(point.location.value) / model.alignment for point in model.target.breakpoints)
    coarse, fine = (_on(model, system, kappa_rule(cuts, finer)) for finer in (1.0, _FINER))
    moved = (abs(value - coarse.values[name]) / (1.0 + abs(value)) for name, value in fine.values.items())
    return fine, max(moved)


def _on(model: Model, system: tuple[Tape, ...], rule: Rule) -> Solved:
    tables = {name: function(rule.nodes) for name, function in functions_of(model).items()}
    functions = {name: partial(_looked_up, table) for name, table in tables.items()}
    return System(system, {s.kappa.name: rule}, _given(model), functions).solve()


def _looked_up(table: Array, _: Array) -> Array:
    return table

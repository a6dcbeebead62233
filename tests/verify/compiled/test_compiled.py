"""Theorems that compute: the worked values, drawn models against the solver, and equations that are none."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.compiled.along import averages, evaluated
from giantsteps.verify.compiled.doubles import normal_rule
from giantsteps.verify.compiled.saddle_points import solved
from giantsteps.verify.compiled.system import SolveError, System
from giantsteps.verify.compiled.tape import CompileError, written
from giantsteps.verify.compiled.theorems import one_letter, two_letters

WORKED = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
ACTIVATIONS = ("tanh", "erf", "sin", "relu", "gelu", "sign", "tanh(z)+0.2*he(2,z)", "z**2-1", "softplus", "atan")
TARGETS = ("sin", "tanh", "sign", "relu", "he3", "Piecewise((z, z > 1/2), (0, True))")


def test_the_worked_values_by_the_theorems_alone() -> None:
    found, error = solved(WORKED, one_letter())
    # The certificate of the README's model, and the order parameters that it prints.
    assert found.values[s.test_error.name] == pytest.approx(0.1258656085337792743506, abs=1e-15)
    printed = {s.training_error: 0.04535092073, s.m: 0.9981350448, s.zeta: 0.02180761704, s.psi: 0.3604896678,
               s.q1: 0.2955368872, s.q2: 0.3093640318, s.V1: 2.19717834, s.V2: 4.070121158}  # fmt: skip
    for symbol, value in printed.items():
        assert found.values[symbol.name] == pytest.approx(value, rel=5e-10)
    assert max(error, found.residual) < 1e-14
    letters = (ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3))
    assert solved(WORKED.changed(readout=letters), two_letters())[0].values[s.test_error.name] == pytest.approx(
        0.1278618, abs=5e-8
    )


def drawn(rng: np.random.Generator, letters: int) -> Model:
    """A model of one letter or two with a spike."""
    parts = rng.uniform(-1.5, 1.5, letters), rng.uniform(0.6, 1.6, letters), rng.choice([0.0, 0.3], letters)
    groups = tuple(ReadoutGroup(float(u), 0.5, float(c), bias=float(b)) for u, c, b in zip(*parts, strict=True))
    several = {"readout": groups} if letters > 1 else {}
    return Model(
        str(rng.choice(ACTIVATIONS)), str(rng.choice(TARGETS)), alpha=10.0 ** rng.uniform(-0.7, 1.0),
        beta=10.0 ** rng.uniform(-0.5, 0.7), ridge=10.0 ** rng.uniform(-3.0, 0.7), noise=0.1,
        bulk=rng.uniform(0.5, 2.0), spike=rng.uniform(0.2, 2.0),
        alignment=float(rng.choice([rng.uniform(-1.0, 1.0), 1.0, -1.0])), **several,
    )  # fmt: skip


@pytest.mark.parametrize("letters", [1, 2])
def test_drawn_models_are_solved_as_by_the_solver(letters: int) -> None:
    rng = np.random.default_rng(40 + letters)
    apart = []
    for _ in range(40):
        model = drawn(rng, letters)
        found, error = solved(model, two_letters() if letters > 1 else one_letter())
        by_solver = solve(model)
        allowed = by_solver.error_estimate + 10.0 * (error + 1e-14) * (1.0 + by_solver.test_error)
        if not abs(found.values[s.test_error.name] - by_solver.test_error) <= allowed < 1e-8:
            apart.append((model, found.values[s.test_error.name], by_solver.test_error, allowed))
    assert apart == []


@pytest.mark.parametrize(
    "text", [*ACTIVATIONS, "clip(z, -1, 1)", "z/sqrt(1+z**2)", "where(z > 0, z, exp(z)-1)", "pi*z"]
)
def test_an_activation_and_its_averages_by_the_interpreter(text: str) -> None:
    function = activation(text)
    z = np.linspace(-3.0, 3.0, 41) + 0.01
    assert evaluated(function.expression, z) == pytest.approx(function(z), rel=1e-13, abs=1e-13)
    # E z f(a + s z) is s times the slope of E f(a + s z) in a, by a central difference.
    place, scale, h = 0.3, 0.7, 1e-4
    low, here, high = (averages(function, np.array([place + d]), scale) for d in (-h, 0.0, h))
    slope = scale * (high.mean - low.mean) / (2.0 * h)
    assert here.slope == pytest.approx(slope, rel=1e-6, abs=1e-7)
    assert here.square[0] >= here.mean[0] ** 2 + here.slope[0] ** 2 - 1e-12


x, y, a, t = sp.symbols("x y a t", positive=True)


def test_equations_of_ones_own_are_solved() -> None:
    # x = a E[1/(1 + x t^2)]: a trace; y follows from it.
    rules = {t.name: normal_rule()}
    equations = [(x, a * Expectation(1 / (1 + x * t**2), t)), (y, sp.sqrt(x) + sp.Rational(1, 2))]
    found = System(written(equations), rules, {a.name: 2.0}, {}).solve()
    value = found.values[x.name]
    rule = rules[t.name]
    assert value == pytest.approx(2.0 * float(rule.weights @ (1.0 / (1.0 + value * rule.nodes**2))), rel=1e-13)
    assert found.values[y.name] == pytest.approx(value**0.5 + 0.5, rel=1e-14)


@pytest.mark.parametrize(
    ("equations", "given", "word"),
    [
        ([(x, y + 1)], {}, "no value and no equation for y"),
        ([(x, a), (x, 2 * a)], {a: 1.0}, "determined twice: x"),
        ([(a, sp.Integer(1))], {a: 1.0}, "determined twice: a"),
        ([(x, sp.Function("f")(t))], {}, "no values for the function f"),
        ([(x, sp.Integral(t, t))], {}, "cannot be compiled: it is a Integral"),
    ],
)
def test_what_cannot_be_compiled_names_what_is_missing(equations: list, given: dict, word: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(CompileError, match=word):
        System(written(equations), {t.name: normal_rule()}, {one.name: value for one, value in given.items()}, {})


def test_equations_without_a_solution_are_an_error() -> None:
    with pytest.raises(SolveError, match="x: no solution"):
        System(written([(x, 2 * x + 1)]), {}, {}, {}).solve()

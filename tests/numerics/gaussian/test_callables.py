"""Activations as SymPy expressions and as callables: traced to a formula, or known by their values."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.special
import sympy as sp

import giantsteps
from giantsteps.derivations.expressions.parser import parse
from tests.shared.refusals import refusal

z, x, a = sp.Symbol("z"), sp.Symbol("x", real=True), sp.Symbol("a")
POINT = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
STEP = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 1.5}
PLACES = np.array([-7.3, -1.4, -0.7, 0.02, 1.3, 9.0])


class Tensor:
    """As much of a tensor as an activation needs; like PyTorch's it does not mix with NumPy's functions."""

    __array_ufunc__ = None

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.values


class StandIn:
    """A module of PyTorch, such as torch.nn.ReLU(), which takes tensors only."""

    def __init__(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self.function = function

    def __call__(self, given: Tensor) -> Tensor:
        return Tensor(self.function(given.values))


def torch_modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The modules of PyTorch if it is installed, else stand-ins, by the text of the same function."""
    try:
        import torch
    except ImportError:
        stand_in = ModuleType("torch")
        stand_in.from_numpy = Tensor  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch", stand_in)
        return {
            text: StandIn(giantsteps.activation(text)) for text in ("relu", "gelu", "elu", "hardtanh", "hardshrink")
        }
    modules = torch.nn.ReLU, torch.nn.GELU, torch.nn.ELU, torch.nn.Hardtanh, torch.nn.Hardshrink
    return {module.__name__.lower(): module() for module in modules}


def jax_silu(given: Any) -> memoryview:
    """As a function of JAX: it takes arrays and numbers only, and returns what can be read as an array."""
    if type(given) is not np.ndarray:
        raise TypeError(f"{type(given)} is not a valid JAX type")
    return memoryview(given / (1.0 + np.exp(-given)))


def branchy(given: float) -> float:
    return given if given > 0 else 0.0


def of_values(text: str) -> Callable[[Any], Any]:
    """A function of arrays that cannot be traced, with the values of a formula."""
    formula = giantsteps.activation(text)

    def untraced(given: Any) -> Any:
        assert isinstance(given, np.ndarray)
        return formula(given)

    return untraced


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (sp.tanh(x), "tanh(z)"),
        (sp.tanh, "tanh(z)"),
        (sp.Max(x, 0), "Max(0, z)"),
        (x * sp.erf(x / sp.sqrt(2)) / 2, "z*erf(sqrt(2)*z/2)/2"),
        (sp.Rational(1, 3) * z + sp.Float(0.1) * sp.sin(sp.pi * z), "z/3 + sin(pi*z)/10"),
        (sp.Float("0.1", 30) * z, f"{sp.Rational(sp.Float('0.1', 30))}*z"),
        (sp.Piecewise((x, x > 0), (0, True)), "Piecewise((z, z > 0), (0, True))"),
        (sp.Piecewise((x**3, (x > -1) & (x < 1)), (sp.sign(x), True)), "where(-1 < z < 1, z**3, sign(z))"),
        (sp.Piecewise((1, (x < -1) | (x > 1)), (0, True)), "where(z < -1, 1, where(z > 1, 1, 0))"),
        (sp.Heaviside(x) * sp.exp(-(x**2)), "exp(-z**2)*Heaviside(z)"),
    ],
)
def test_a_sympy_expression_is_converted_exactly(given: Any, text: str) -> None:
    built = giantsteps.activation(given)
    if "where" in text:  # nested in another order
        assert np.array_equal(built(PLACES), giantsteps.activation(text)(PLACES))
    else:
        assert built.expression == parse(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (a * sp.tanh(x), "a*tanh(x) has 2 symbols, exactly one is accepted: use expression.subs(a, 2)"),
        (sp.Integer(2), "2 has 0 symbols, exactly one is accepted"),
        (sp.besselj(0, x), "the function 'besselj' is unknown"),
        (1 / x, "pole"),
        (sp.Piecewise((x, x > 0)), "has no value somewhere: add a last pair (value, True)"),
        (sp.Abs(sp.Symbol("x", positive=True)), "x must be any real number: use Symbol('x', real=True)"),
    ],
)
def test_a_sympy_expression_outside_the_language_is_refused(given: Any, said: str) -> None:
    assert said in refusal(giantsteps.ExpressionError, giantsteps.activation, given)


TRACED: list[tuple[Any, str]] = [
    (np.tanh, "tanh(z)"),
    (np.sign, "sign(z)"),
    (scipy.special.erf, "erf(z)"),
    (scipy.special.expit, "sigmoid(z)"),
    (lambda x: np.maximum(x, 0), "Max(z, 0)"),
    (lambda x: x * np.tanh(np.log1p(np.exp(x))), "z*tanh(log(exp(z) + 1))"),
    (lambda x: np.logaddexp(0, x), "z + softplus(-z)"),
    (lambda x: np.where(x > 0, x, 0.1 * x), "Piecewise((z, z > 0), (z/10, True))"),
    (lambda x: x * (x >= 0), "z*Piecewise((1, z >= 0), (0, True))"),
    (lambda x: np.where((x > -1) & (x < 1), x, np.sign(x)), "where(z < 1, where(z > -1, z, sign(z)), sign(z))"),
    (lambda x: np.clip(x, -1, 1), "Min(Max(z, -1), 1)"),
    (lambda x: x / (1 + abs(x)), "z/(Abs(z) + 1)"),
    (lambda x: 0.5 * x * (1 + scipy.special.erf(x / np.sqrt(2))), "z*(erf(z/1.4142135623730951) + 1)/2"),
    (lambda x: x**3 - 3 * x, "z**3 - 3*z"),
    (lambda x: np.square(x) + np.reciprocal(2.0 + x**2), "z**2 + 1/(2 + z**2)"),
    (lambda x: np.heaviside(x, 0.5), "where(z < 0, 0, where(z > 0, 1, 1/2))"),
]


@pytest.mark.parametrize(("given", "text"), TRACED, ids=[text for _, text in TRACED])
def test_a_callable_that_numpy_can_trace_becomes_its_formula(given: Any, text: str) -> None:
    assert giantsteps.activation(given).expression == parse(text)


def test_everything_works_with_what_is_traced_or_written_in_sympy() -> None:
    by_text = giantsteps.Model("tanh", "sin", **POINT)
    model = giantsteps.Model(np.tanh, sp.sin(x), **POINT)
    assert model == by_text
    assert giantsteps.certify(model).texts() == giantsteps.certify(by_text).texts()
    assert giantsteps.solve(model, digits=20).to_dict()["test_error"].startswith("0.12586560853377927435")
    assert giantsteps.solve(model).warnings == ()


def test_a_branch_that_the_tried_numbers_do_not_take_is_not_traced() -> None:
    def far(given: float) -> float:
        return given if given < 1000 else 0.0

    assert repr(giantsteps.activation(far)).startswith("far(z) by its values")


@pytest.mark.parametrize(
    ("student", "teacher"),
    [("tanh", "sin"), ("relu", "tanh"), ("elu", "sign(z - 0.3)"), ("Max(z, 0)**2", "sin(5*z)"), ("hardtanh", "relu")],
)
def test_values_alone_give_the_numbers_of_the_formula(student: str, teacher: str) -> None:
    by_text, by_values = (student, teacher), (of_values(student), of_values(teacher))
    for build, given in ((giantsteps.Model, POINT), (giantsteps.Model.from_gradient_step, STEP)):
        model: Any = build
        expected = giantsteps.solve(model(*by_text, **given))
        found = giantsteps.solve(model(*by_values, **given))
        assert found.converged
        assert abs(found.test_error - expected.test_error) <= found.error_estimate + expected.error_estimate
        # A derivative without a formula has eleven digits.
        assert found.error_estimate < 1e-10
    ridges = [0.1, 1.0]
    batches = [giantsteps.solve_batch(giantsteps.Model(*f, **POINT), ridge=ridges) for f in (by_text, by_values)]
    assert np.allclose(batches[0].test_error, batches[1].test_error, rtol=1e-11, atol=0)
    assert batches[1].warnings == giantsteps.Model(*by_values, **POINT).warnings


def test_modules_of_pytorch_are_called_with_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, module in torch_modules(monkeypatch).items():
        found = giantsteps.solve(giantsteps.Model(module, "sin", **POINT))
        expected = giantsteps.solve(giantsteps.Model(text, "sin", **POINT))
        assert abs(found.test_error - expected.test_error) <= found.error_estimate + expected.error_estimate
        assert f"the activation is {type(module).__name__}(z) by its values, with " in found.warnings[0]


def test_functions_of_jax_and_branches_on_numbers_are_known_by_their_values() -> None:
    for given, text in ((jax_silu, "silu"), (branchy, "relu"), (lambda x: max(x, 0.25), "Max(z, 1/4)")):
        found = giantsteps.solve(giantsteps.Model(given, "sin", **POINT))
        expected = giantsteps.solve(giantsteps.Model(text, "sin", **POINT))
        assert abs(found.test_error - expected.test_error) <= found.error_estimate + expected.error_estimate


@pytest.mark.parametrize(
    ("given", "breakpoints", "said"),
    [
        (branchy, (), "branchy(z) by its values, with kink at z = 0 (detected)"),
        (branchy, 0.0, "branchy(z) by its values, with kink at z = 0 (declared)"),
        (branchy, (2,), "branchy(z) by its values, with kink at z = 0 (detected), kink at z = 2 (declared)"),
        (lambda x: float(x > 0.3), (), "function(z) by its values, with jump at z = 3/10 (detected)"),
        (of_values("softplus"), (), "untraced(z) by its values, with no breakpoint declared or detected"),
        (np.cbrt, (), "cbrt(z) by its values, with root at z = 0 (detected)"),
        (np.floor, (), "floor(z) by its values, with jump at z = 0 (detected), jump at z = -1 (detected)"),
    ],
)
def test_breakpoints_are_declared_or_detected_and_reported(given: Any, breakpoints: Any, said: str) -> None:
    built = giantsteps.activation(given, breakpoints=breakpoints)
    model = giantsteps.Model(built, "sin", **POINT)
    assert giantsteps.solve(model).warnings[0].startswith(f"the activation is {said}")
    assert giantsteps.solve(model).to_dict()["warnings"][0] == f"the activation is {built!r}"


@pytest.mark.parametrize("place", [1 / 3, math.pi / 10, 5.1234567891234, -17 / 7])
def test_kinks_and_jumps_are_located_at_any_number(place: float) -> None:
    jump = lambda x: 1.0 if x > place else -1.0  # noqa: E731
    for given, text, off in ((lambda x: max(x, place), "Max(z, {0!r})", 1e-11), (jump, "sign(z - ({0!r}))", 1e-14)):
        built = giantsteps.activation(given)
        assert [abs(found.value - place) < off for found in built.breakpoints] == [True]
        found, expected = (
            giantsteps.solve(giantsteps.Model(one, "sin", **POINT)) for one in (built, text.format(place))
        )
        assert abs(found.test_error - expected.test_error) <= found.error_estimate + expected.error_estimate


def test_the_derivative_of_values_drives_simulations_and_gradients() -> None:
    models = [giantsteps.Model.from_gradient_step(f, "tanh", **STEP) for f in ("relu", of_values("relu"))]
    errors = [giantsteps.simulate(model, dimension=60, seeds=2).test_error.mean for model in models]
    assert errors[0] == pytest.approx(errors[1], rel=1e-10)
    slopes = [giantsteps.solve(model).gradient("eta")["eta"] for model in models]
    assert abs(slopes[0].value - slopes[1].value) <= slopes[0].error_estimate + slopes[1].error_estimate


@pytest.mark.parametrize("loss", ["logistic", "hinge", "huber:1"])
def test_other_losses_take_values_and_their_sign(loss: str) -> None:
    errors = [
        giantsteps.solve(giantsteps.Model("relu", target, loss=loss, **POINT)).test_error
        for target in ("tanh", of_values("tanh"))
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_what_needs_a_formula_is_refused() -> None:
    model = giantsteps.Model(branchy, "sin", **POINT)
    for call, arguments in ((giantsteps.certify, (model,)), (giantsteps.certify_branch, (model, "ridge", 0.1, 0.2))):
        said = refusal(giantsteps.ExpressionError, call, *arguments)
        assert said == 'branchy(z) has values alone: give its formula as text or in SymPy, for example "tanh(z)"'
    assert "digits require formulas" in refusal(giantsteps.ModelError, lambda: giantsteps.solve(model, digits=30))
    step = refusal(giantsteps.ModelError, lambda: giantsteps.Model.from_gradient_step(np.cbrt, "sin", **STEP))
    assert "was not decided because sigma' is unbounded at z = 0" in step


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda x: np.random.default_rng().normal(size=np.shape(x)), "does not give what it gives at each"),
        (np.sort, "sort is no activation: at an array it does not give"),
        (lambda x: x - np.mean(x), "function is no activation: at an array it does not give"),
        (lambda x: np.asarray(x, dtype=np.float32), "it gives float32: in PyTorch use module.double()"),
        (lambda x, y: x, "missing 1 required positional argument: 'y'"),
        (lambda x: math.exp(x), "grows faster than z**16"),
        (lambda x: 1 / x, "function is not finite in double precision at z = 0"),
        (3, "a value of type int was given: a formula in z as text"),
        (lambda x: {}[x], "function is no activation: KeyError: -8.0"),
        (lambda x: exec("raise Exception('own')"), "Exception: own"),
        (of_values("tanh(z) + sin(10**9*z)/10**9"), "is not smooth between breakpoints"),
        (lambda x: np.tanh(np.float32(x + np.zeros(1)[0])).astype(float), "is not smooth between breakpoints"),
    ],
)
def test_a_callable_that_is_no_activation_is_refused(given: Any, said: str) -> None:
    assert said in refusal(giantsteps.ExpressionError, giantsteps.activation, given)


@pytest.mark.parametrize("vectorized", [False, True])
def test_functions_that_work_in_place_change_no_numbers_but_their_own(vectorized: bool) -> None:
    def in_place(given: Any) -> Any:
        given *= 2.0
        return np.tanh(given, out=given)

    places = np.linspace(-2.0, 2.0, 9)
    for _ in range(2):  # the first call must not change the places at which the second is tried
        built = giantsteps.activation(np.vectorize(lambda x: math.tanh(2.0 * x)) if vectorized else in_place)
        np.testing.assert_allclose(built(places), np.tanh(2.0 * np.linspace(-2.0, 2.0, 9)), rtol=1e-14)
        found, expected = (giantsteps.solve(giantsteps.Model(f, "sin", **POINT)) for f in (built, "tanh(2*z)"))
        assert abs(found.test_error - expected.test_error) <= found.error_estimate + expected.error_estimate
    with pytest.raises(giantsteps.ExpressionError, match="not finite"):
        giantsteps.activation(lambda x: np.where(x < 60, x, np.nan))


@pytest.mark.parametrize(
    ("given", "breakpoints"), [("relu", 0.0), (sp.tanh(x), (0.0,)), (branchy, math.inf), (branchy, ("0",))]
)
def test_breakpoints_are_numbers_and_those_of_a_formula_are_refused(given: Any, breakpoints: Any) -> None:
    said = refusal(giantsteps.ExpressionError, giantsteps.activation, given, breakpoints)
    assert said == "breakpoints are numbers between -64 and 64, of a callable alone: omit them for a formula"

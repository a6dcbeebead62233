"""The functions of PyTorch, JAX and Keras under their own names, and the table of docs/model.md that lists them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from giantsteps.derivations.expressions.named import CONSTRUCTIONS, NAMED, function_names
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.callables import activation
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from tests.shared.documents import ROOT

# Both sides of every kink, none of them on one.
PLACES = np.array([-7.3, -3.2, -2.9, -1.4, -0.7, -0.3, -0.01, 0.02, 0.4, 0.8, 1.3, 2.6, 3.4, 5.8, 6.1, 9.0])
# Rounding of some ten operations on numbers up to a hundred.
ROUNDING = 1e-13


# What the libraries document, with their defaults, in plain Python.
DOCUMENTED: dict[str, Callable[[float], float]] = {
    "hardswish": lambda x: 0.0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6,
    "hardsigmoid": lambda x: 0.0 if x <= -3 else 1.0 if x >= 3 else x / 6 + 0.5,
    "relu6": lambda x: min(max(0.0, x), 6.0),
    "selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
    "celu": lambda x: max(0.0, x) + min(0.0, math.expm1(x)),
    "celu(z, 2)": lambda x: max(0.0, x) + min(0.0, 2.0 * math.expm1(x / 2)),
    "elu(z, 3)": lambda x: x if x > 0 else 3.0 * math.expm1(x),
    "logsigmoid": lambda x: -math.log1p(math.exp(-x)),
    "hardshrink": lambda x: x if abs(x) > 0.5 else 0.0,
    "hardshrink(z, 1)": lambda x: x if abs(x) > 1.0 else 0.0,
    "softshrink": lambda x: math.copysign(max(abs(x) - 0.5, 0.0), x),
    "softshrink(z, 2)": lambda x: math.copysign(max(abs(x) - 2.0, 0.0), x),
    "tanhshrink": lambda x: x - math.tanh(x),
    "threshold(z, 1, 20)": lambda x: x if x > 1 else 20.0,
    "prelu": lambda x: x if x >= 0 else 0.25 * x,
    "prelu(z, 1/8)": lambda x: x if x >= 0 else 0.125 * x,
    "leaky_relu": lambda x: x if x >= 0 else 0.01 * x,
    "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "squareplus": lambda x: (x + math.sqrt(x * x + 4)) / 2,
    "squareplus(z, 1)": lambda x: (x + math.sqrt(x * x + 1)) / 2,
    "softplus(z, 2)": lambda x: math.log1p(math.exp(2 * x)) / 2,
    "hardtanh(z, -2, 1/2)": lambda x: min(max(x, -2.0), 0.5),
    "expm1": math.expm1,
    "log1p(z**2)": lambda x: math.log1p(x * x),
    "clip(z, -1, 1)": lambda x: min(max(x, -1.0), 1.0),
    "clamp(z, 0, 2)": lambda x: min(max(x, 0.0), 2.0),
    "where(z > 0, z, 0)": lambda x: x if x > 0 else 0.0,
    "where(-1 < z < 1, z**2, where(z >= 1, 1, -1))": lambda x: x * x if -1 < x < 1 else 1.0 if x >= 1 else -1.0,
    "sparse_plus": lambda x: 0.0 if x <= -1 else x if x >= 1 else 0.25 * (x + 1) ** 2,
    "sparse_sigmoid": lambda x: 0.0 if x <= -1 else 1.0 if x >= 1 else 0.5 * (x + 1),
}


@pytest.mark.parametrize("text", DOCUMENTED)
def test_a_function_of_a_library_is_what_the_library_documents(text: str) -> None:
    expected = np.array([DOCUMENTED[text](float(x)) for x in PLACES])
    assert np.max(np.abs(activation(text)(PLACES) - expected) / (1 + np.abs(expected))) < ROUNDING


# Names as they are written in the libraries, and the text of the same function here, defaults of the library included.
LIBRARIES = {
    "ReLU": "relu", "nn.GELU": "gelu", "torch.nn.functional.gelu": "gelu", "nn.functional.gelu": "gelu",
    "F.gelu": "gelu", "keras.activations.gelu": "gelu", "jax.nn.gelu": "gelu_tanh", "nn.gelu": "gelu_tanh",
    "jax.nn.silu": "silu",
    "LeakyReLU": "leaky_relu(z, 1/100)", "nn.LeakyReLU": "leaky_relu(z, 1/100)", "leaky_relu": "leaky_relu(z, 1/100)",
    "jax.nn.leaky_relu": "leaky_relu(z, 1/100)", "keras.layers.LeakyReLU": "leaky_relu(z, 3/10)",
    "tf.keras.activations.leaky_relu": "leaky_relu(z, 1/5)", "tf.nn.leaky_relu": "leaky_relu(z, 1/5)",
    "nn.PReLU": "prelu(z, 1/4)", "keras.layers.PReLU": "relu", "flax.linen.PReLU": "leaky_relu(z, 1/100)",
    "Tanh": "tanh", "softplus": "softplus", "Softplus(z, 2)": "softplus(z, 2)", "hardtanh": "hardtanh(z, -1, 1)",
    "jax.nn.hard_tanh": "hardtanh", "LogSigmoid": "logsigmoid", "torch.nn.Softshrink": "softshrink(z, 1/2)",
    "np.tanh(2*z)": "tanh(2*z)", "np.maximum(z, 0)": "relu", "np.where(z > 0, z, 0)": "where(z > 0, z, 0)",
    "keras.ops.gelu": "gelu_tanh", "keras.ops.leaky_relu": "leaky_relu(z, 1/5)",
    "math.pi*z": "pi*z", "jax.nn.gelu(2*z)": "gelu_tanh(2*z)", "2*scipy.special.erf(z)": "2*erf(z)",
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_name_of_a_library_means_its_function_with_its_defaults(name: str) -> None:
    assert parse(name) == parse(LIBRARIES[name])


@pytest.mark.parametrize(
    "text", ["nn.LeakyReLU(0.2)", "z + nn.Softplus(2)", "nn.Hardtanh(-2, 2)", "keras.layers.ReLU(6)"]
)
def test_a_layer_with_parameters_alone_is_refused_and_is_no_constant(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"without z makes a layer, not a value: write \w+\(z"):
        parse(text)


def _rows() -> dict[str, tuple[str, str, str, list[str]]]:
    """The table of docs/model.md: by name the call, the defaults, the formula and the other names."""
    text = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    section = text.split("## Functions by name")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")
    ]
    calls = [(c[0].strip("`"), c[1], c[2].strip("`"), [name for name in c[3].split(", ") if name]) for c in cells]
    assert len({call.split("(")[0] for call, *_ in calls}) == len(calls)
    return {row[0].split("(")[0]: row for row in calls}


ROWS = _rows()
GIVEN = {"a": "(-3/10)", "b": "(7/10)"}


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row[2]])
def test_the_formula_of_the_table_is_the_function(name: str) -> None:
    own, default, formula, _ = ROWS[name]
    # softshrink has a parameter >= 0, squareplus a square root of it
    given = GIVEN | ({"a": "(3/10)"} if name in ("softshrink", "squareplus", "hardshrink", "celu") else {})
    defaults = dict(part.split(" = ") for part in default.split(", ") if part)
    cases = [(own, given)] + ([(f"{name}(z)", defaults)] if defaults else [])
    for call, values in cases:
        places = PLACES[PLACES > 0] if name in ("log", "log1p", "sqrt") else PLACES
        found, expected = (compile_numpy(parse(_with(values, text)))(places) for text in (call, formula))
        # The logarithm for asinh(z) is of exp(-7.3) at -7.3, as a difference of numbers of size exp(2).
        bar = ROUNDING * (1e2 if name == "asinh" else 1.0)
        assert np.max(np.abs(found - expected) / (1 + np.abs(expected))) < bar


def _with(values: dict[str, str], text: str) -> str:
    return re.sub(r"\b[ab]\b", lambda letter: values[letter[0]], text)


def test_the_table_lists_every_name_once() -> None:
    others = {name: row[3] for name, row in ROWS.items()}
    assert sorted([*others, *(other for listed in others.values() for other in listed)]) == sorted(set(NAMED))
    for name, listed in others.items():
        for other in listed:
            assert NAMED[other] is NAMED[name]
    shown = {name for name in function_names().split(", ") if "he" not in name[:2] and name != "..."}
    assert shown == (set(others) - {"he"}) | set(CONSTRUCTIONS)

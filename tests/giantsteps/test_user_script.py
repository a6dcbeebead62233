"""The user's script runs, and what a type checker is told of models is what they take."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

import pytest

import giantsteps
from tests.giantsteps import user_script


def test_the_script_runs() -> None:
    found = user_script.numbers()
    assert found["theory"] == found["compared"] == pytest.approx(0.12586560853377927, rel=1e-12)
    # Most of the other numbers stand in the documents; here each is one that a network could have.
    assert all(0.0 < value < 0.5 for name, value in found.items() if name != "largest spike")
    digits, ball, *titles, refused, version = user_script.texts()
    assert digits == "0.12586560853377927435"
    assert ball.startswith("[0.125865608533779")
    assert titles[0] == "Result 3.1: the bulk variance"
    assert "alpha = -1 is not accepted" in refused
    assert version == giantsteps.__version__


@pytest.mark.parametrize("kind", [giantsteps.Model, giantsteps.Network])
def test_a_type_checker_is_told_the_parameters_that_there_are(kind: type) -> None:
    module = sys.modules[kind.__module__]
    (body,) = (node for node in ast.parse(inspect.getsource(module)).body if defines(node, kind.__name__))
    (told,) = (node for node in ast.walk(body) if defines(node, "__init__"))
    seen: dict[str, Any] = {}
    exec(compile(ast.Module([told], []), "told", "exec"), vars(module) | {"__builtins__": {}}, seen)
    # The annotations are wider, the rest is the same.
    bare = [
        [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
        for function in (seen["__init__"], kind.__init__)  # type: ignore[misc]
    ]
    assert bare[0] == bare[1]


def defines(node: ast.AST, name: str) -> bool:
    """Whether this defines a class or function of that name."""
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name

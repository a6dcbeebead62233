"""Every public name and method, called as its signature says; what a person reads of them is true."""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import re
import site
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import giantsteps
from tests.shared.documents import ROOT

NUMBERS = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1}
MODEL = giantsteps.Model("tanh", "sin", **NUMBERS, spike=1.0, bulk=1.0, alignment=0.8)
NETWORK = giantsteps.Network("tanh", "sin", **NUMBERS, alpha0=2.0, eta=1.0)
SMALL = {"dimension": 30, "seeds": 2}
EQUATIONS = {sp.Symbol("x"): sp.Integer(1)}

# An argument by its name, where it is always the same.
ARGUMENTS: dict[str, Any] = {
    **NUMBERS, **SMALL, "alpha0": 2.0, "eta": 1.0, "spike": 1.0, "bulk": 1.0, "alignment": 0.8,
    "model": MODEL, "subject": MODEL, "activation": "tanh", "target": "sin", "given": "tanh", "dimensions": (20, 30),
    "directory": "results", "parameter": "ridge", "over": "ridge", "low": 0.1, "high": 0.11, "weight": 1.0, "z": 0.5,
    "text": "tanh",
    "expression": giantsteps.activation("tanh").expression,
    "count": 4, "rows": 3, "d": 30, "W": np.eye(8), "name": "normal", "scale": 0.5,
    "equations": EQUATIONS, "ratio": 0.5, "values": [1.0, 2.0], "rule": lambda finer: (np.ones(1), np.ones(1)),
}  # fmt: skip
# The same for one call where the name alone does not say it.
OF: dict[str, dict[str, Any]] = {"Simulation.values": {"name": "test_error"}}
# What is made of functions: objects of each class whose methods are called.
MADE: dict[str, Callable[[], Any]] = {
    "Activation": lambda: giantsteps.activation("tanh"),
    "Best": lambda: giantsteps.best(MODEL, over="ridge"),
    "BatchSolution": lambda: giantsteps.solve_batch(MODEL, alpha=[1.0, 2.0]),
    "Bounds": lambda: giantsteps.bounds(MODEL),
    "Branch": lambda: giantsteps.certify_branch(MODEL, "ridge", 0.1, 0.11),
    "Certificate": lambda: giantsteps.certify(MODEL),
    "EquationsSolution": lambda: giantsteps.solve_equations(EQUATIONS),
    "Inputs": lambda: giantsteps.Inputs(),
    "Law": lambda: giantsteps.Law.normal(),
    "Measured": lambda: giantsteps.measure(np.eye(8)),
    "Model": lambda: MODEL,
    "Network": lambda: NETWORK,
    "ReadoutGroup": lambda: giantsteps.ReadoutGroup(),
    "ReadoutLaw": lambda: giantsteps.ReadoutLaw("normal", 0.5),
    "Simulation": lambda: giantsteps.simulate(MODEL, **SMALL),
    "Solution": lambda: giantsteps.solve(MODEL),
    "Spectrum": lambda: giantsteps.spectrum(MODEL),
}
# What is said not to exist.
REFUSED = {f"{name}.plot": f"a {name} has no drawing" for name in ("Best", "Certificate", "Measured")}
# Made by the functions above, not by a person.
BY_FUNCTIONS = (
    *("Activation", "BatchSolution", "Bounds", "Branch", "Certificate", "EquationsSolution", "Simulation", "Solution"),
    "Best", "Measured", "Spectrum",
)  # fmt: skip
FUNCTIONS = [name for name in giantsteps.__all__ if inspect.isfunction(getattr(giantsteps, name))]
EXCEPTIONS = [
    name for name in giantsteps.__all__
    if inspect.isclass(getattr(giantsteps, name)) and issubclass(getattr(giantsteps, name), Exception)
]  # fmt: skip
# An average is an expression of SymPy, whose methods are SymPy's.
CLASSES = sorted(set(giantsteps.__all__) - {*FUNCTIONS, *EXCEPTIONS, "Expectation"})


def called(path: str, function: Callable[..., Any]) -> Any:
    """The function called with what it requires, and again with every default spelt out."""
    given, spelt = {}, {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is not parameter.empty:
            spelt[name] = parameter.default
        elif name in ("rng", "generator"):
            given[name] = np.random.default_rng(1)
        else:
            given[name] = OF.get(path, {}).get(name, ARGUMENTS.get(name, parameter.empty))
            assert given[name] is not parameter.empty, f"{path} has the parameter {name}: give it an example here"
    function(**given)
    return function(**given, **spelt) if spelt else None


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "compare"])
def test_a_public_function_is_called_as_its_signature_says(name: str, in_swept_folder: None) -> None:
    called(name, getattr(giantsteps, name))


def test_compare_is_called_as_its_signature_says() -> None:
    called("compare", giantsteps.compare)


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in BY_FUNCTIONS])
def test_a_public_class_is_made_as_its_signature_says(name: str) -> None:
    called(name, getattr(giantsteps, name))


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_is_called_as_its_signature_says(name: str) -> None:
    made = MADE[name]()
    assert type(made) is getattr(giantsteps, name)
    for method in [attribute for attribute in dir(made) if not attribute.startswith("_")]:
        value = getattr(made, method)  # a property answers here
        if callable(value) and callable(getattr(type(made), method, None)):
            path = f"{name}.{method}"
            with expected(path):
                called(path, value)


def expected(path: str) -> AbstractContextManager[object]:
    """What a call may end in: nothing, or what is said not to exist."""
    return pytest.raises(ValueError, match=REFUSED[path]) if path in REFUSED else nullcontext()


def test_a_solution_has_its_order_parameters_by_name() -> None:
    solution = giantsteps.solve(MODEL)
    for name in ("m", "zeta", "psi", "q1", "q2", "V1", "V2", "chi"):
        assert getattr(solution, name) is getattr(solution.order_parameters, name)


def test_every_exception_that_a_docstring_names_is_public() -> None:
    for name in giantsteps.__all__:
        value = getattr(giantsteps, name)
        texts = [value.__doc__ or ""]
        if inspect.isclass(value):
            members = (inspect.getattr_static(value, one) for one in dir(value) if not one.startswith("_"))
            texts += [getattr(member, "__doc__", None) or "" for member in members]
        for text in texts:
            for sentence in re.findall(r"Raises ([^.]*)", text):
                for error in re.findall(r"\b[A-Z]\w*Error\b", sentence):
                    assert hasattr(builtins, error) or error in giantsteps.__all__, f"{name} raises {error}"
    assert all(issubclass(getattr(giantsteps, name), (ValueError, ArithmeticError)) for name in EXCEPTIONS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: giantsteps.solve(MODEL, alpha=[1, 2]), ("solve_batch(model, alpha=[1, 2])", "model.changed(alpha=")),
        (lambda: giantsteps.certify(MODEL, ridge=1), ("certify(model.changed(ridge=",)),
        (lambda: giantsteps.solve(MODEL, digts=30), ("no argument digts", "digits")),
        (lambda: giantsteps.Model("tanh", "sin", **NUMBERS), ("missing spike, bulk, alignment", "from_gradient_step")),
        (lambda: giantsteps.Model("tanh", "sin", **NUMBERS, alpha0=1, eta=2), ("alpha0", "from_gradient_step")),
    ],
)
def test_a_call_with_the_wrong_arguments_names_the_right_one(call: Callable[[], Any], words: tuple[str, ...]) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert all(word in str(caught.value) for word in words)


def test_the_library_speaks_python() -> None:
    """No sentence of the library names an option of the command line: those are said where the command line is."""
    for file in [path for room in ("numerics", "derivations") for path in (ROOT / room).rglob("*.py")]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
                assert not re.search(r"(?<![\w-])--[a-z]", node.value), f"{file}: {node.value}"


def _run(code: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *code], cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )


def test_an_import_of_the_main_module_runs_nothing(tmp_path: Path) -> None:
    done = _run(["-c", "import giantsteps.__main__; print('imported')"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "imported\n"), done.stderr


def test_a_checkout_that_is_not_installed_is_the_same_command(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in filter(Path.is_dir, map(Path, site.getsitepackages())):
        for entry in folder.iterdir():
            if "giantsteps" not in entry.name.lower() and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    command = ["-S", "-m", "giantsteps", "solve", "--activation", "tanh", "--target", "sin"]
    numbers = [text for name, value in (NUMBERS | {"spike": 1, "bulk": 1, "alignment": 0.8}).items()
               for text in (f"--{name}", str(value))]  # fmt: skip
    for further in ([], ["--json"]):
        done = _run([*command, *numbers, *further], ROOT, PYTHONPATH=f"{packages}{os.pathsep}{ROOT}")
        assert (done.returncode, done.stderr) == (0, "")
        assert "0.1258656085" in done.stdout
    shown = _run(["-S", "-m", "giantsteps", "--version"], ROOT, PYTHONPATH=f"{packages}{os.pathsep}{ROOT}")
    assert shown.stdout.strip() == f"giantsteps {giantsteps.__version__}"

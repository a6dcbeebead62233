"""The public face for notebooks: the names worth typing, each imported when it is first used; and the command line.

import giantsteps

model = giantsteps.Model(giantsteps.activation("tanh"), giantsteps.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                         spike=1.0, bulk=1.0, alignment=0.8)
giantsteps.solve(model).test_error
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

# The rooms are sub-packages of this one name: in a wheel they stand in this folder, in a checkout beside it.
_HERE = os.path.dirname(os.path.abspath(__file__))
__path__ = [_HERE] if os.path.isdir(os.path.join(_HERE, "numerics")) else [_HERE, os.path.dirname(_HERE)]

# What a type checker believes the face to be; `_HOMES` says the same to the interpreter.
if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation as Activation
    from giantsteps.derivations.expressions.tree import ExpressionError as ExpressionError
    from giantsteps.derivations.language.expectation import Expectation as Expectation
    from giantsteps.numerics.balls.arithmetic import BallError as BallError
    from giantsteps.numerics.balls.arithmetic import PrecisionError as PrecisionError
    from giantsteps.numerics.bounds.best import best as best
    from giantsteps.numerics.bounds.of_model import bounds as bounds
    from giantsteps.numerics.bounds.results import Best as Best
    from giantsteps.numerics.bounds.results import Bounds as Bounds
    from giantsteps.numerics.certificates.certify import Certificate as Certificate
    from giantsteps.numerics.certificates.certify import certify as certify
    from giantsteps.numerics.certificates.ranges.branch import Branch as Branch
    from giantsteps.numerics.certificates.ranges.branch import certify_branch as certify_branch
    from giantsteps.numerics.experiments.given_weights import Measured as Measured
    from giantsteps.numerics.experiments.given_weights import measure as measure
    from giantsteps.numerics.experiments.inputs import Inputs as Inputs
    from giantsteps.numerics.experiments.inputs import InputsError as InputsError
    from giantsteps.numerics.experiments.ridge import Simulation as Simulation
    from giantsteps.numerics.experiments.simulate import simulate as simulate
    from giantsteps.numerics.gaussian.callables import activation as activation
    from giantsteps.numerics.models.losses import LossError as LossError
    from giantsteps.numerics.models.model import Model as Model
    from giantsteps.numerics.models.network import Network as Network
    from giantsteps.numerics.models.network import SimulationError as SimulationError
    from giantsteps.numerics.models.parameters import ModelError as ModelError
    from giantsteps.numerics.models.parameters import ReadoutGroup as ReadoutGroup
    from giantsteps.numerics.models.readout_law import ReadoutLaw as ReadoutLaw
    from giantsteps.numerics.models.solution import Solution as Solution
    from giantsteps.numerics.saddle_point.one_group.batch import BatchSolution as BatchSolution
    from giantsteps.numerics.saddle_point.one_group.batch import solve_batch as solve_batch
    from giantsteps.numerics.spectrum.axis import SpectrumError as SpectrumError
    from giantsteps.numerics.spectrum.density import Spectrum as Spectrum
    from giantsteps.numerics.spectrum.density import spectrum as spectrum
    from giantsteps.reports.answers.comparison import compare as compare
    from giantsteps.reports.answers.sweep_results import sweep_results as sweep_results
    from giantsteps.verify.claims.index import claims as claims
    from giantsteps.verify.compiled.equations import EquationsSolution as EquationsSolution
    from giantsteps.verify.compiled.equations import solve_equations as solve_equations
    from giantsteps.verify.compiled.laws import Law as Law
    from giantsteps.verify.compiled.system import SolveError as SolveError
    from giantsteps.verify.compiled.tape import CompileError as CompileError
    from giantsteps.verify.digits.solve import solve as solve

    __all__: list[str]
    __version__: str

# Where each public name lives: it is imported from there when it is first used.
_HOMES = {
    name: f"giantsteps.{home}"
    for home, names in {
        "derivations.expressions.tree": "ExpressionError",
        "derivations.language.expectation": "Expectation",
        "numerics.balls.arithmetic": "BallError PrecisionError",
        "numerics.bounds.best": "best",
        "numerics.bounds.of_model": "bounds",
        "numerics.bounds.results": "Best Bounds",
        "numerics.certificates.certify": "Certificate certify",
        "numerics.certificates.ranges.branch": "Branch certify_branch",
        "numerics.experiments.given_weights": "Measured measure",
        "numerics.experiments.inputs": "Inputs InputsError",
        "numerics.experiments.ridge": "Simulation",
        "numerics.experiments.simulate": "simulate",
        "derivations.activations.activation": "Activation",
        "numerics.gaussian.callables": "activation",
        "numerics.models.losses": "LossError",
        "numerics.models.model": "Model",
        "numerics.models.network": "Network SimulationError",
        "numerics.models.parameters": "ModelError ReadoutGroup",
        "numerics.models.readout_law": "ReadoutLaw",
        "numerics.models.solution": "Solution",
        "numerics.saddle_point.one_group.batch": "BatchSolution solve_batch",
        "numerics.spectrum.axis": "SpectrumError",
        "numerics.spectrum.density": "Spectrum spectrum",
        "reports.answers.comparison": "compare",
        "reports.answers.sweep_results": "sweep_results",
        "verify.claims.index": "claims",
        "verify.compiled.equations": "EquationsSolution solve_equations",
        "verify.compiled.laws": "Law",
        "verify.compiled.system": "SolveError",
        "verify.compiled.tape": "CompileError",
        "verify.digits.solve": "solve",
    }.items()
    for name in names.split()
}


def _version() -> str:
    """The version of the installed distribution, or of the checkout that is used without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("giantsteps")
    except PackageNotFoundError:
        import tomllib

        with open(os.path.join(os.path.dirname(_HERE), "pyproject.toml"), "rb") as file:
            return str(tomllib.load(file)["project"]["version"])


if not TYPE_CHECKING:  # a checker knows the names above, and would believe in every other one here

    def __getattr__(name: str) -> Any:
        """Import a public name on first use."""
        if name == "__version__":
            return _version()
        if name == "__all__":
            return sorted(_HOMES)
        if name.startswith("_") or name not in _HOMES:
            raise AttributeError(
                f"module 'giantsteps' has no attribute {name!r}; it offers {', '.join(sorted(_HOMES))}"
            )
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(_HOMES)


def main() -> int:
    """The command line: the program `giantsteps`, or `python -m giantsteps`; the exit code."""
    from giantsteps.reports.command_line.machine import signals

    signals.listen("--debug" in sys.argv)  # before anything that takes time to load
    from giantsteps.reports.command_line.cli import main as command_line

    return command_line()

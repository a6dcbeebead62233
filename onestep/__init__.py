"""The public face for notebooks: the names worth typing, each imported when it is first used; and the command line.

import onestep

model = onestep.Model(onestep.activation("tanh"), onestep.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                      spike=1.0, bulk=1.0, alignment=0.8)
onestep.solve(model).test_error
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

# The rooms are sub-packages of this one name: in a wheel they stand in this folder, in a checkout beside it.
_HERE = os.path.dirname(os.path.abspath(__file__))
__path__ = [_HERE] if os.path.isdir(os.path.join(_HERE, "numerics")) else [_HERE, os.path.dirname(_HERE)]

# The face: `_homes` reads these imports, and a type checker believes them.
if TYPE_CHECKING:
    from onestep.numerics.bounds.of_model import bounds as bounds
    from onestep.numerics.bounds.results import Bounds as Bounds
    from onestep.numerics.certificates.certify import Certificate as Certificate
    from onestep.numerics.certificates.certify import certify as certify
    from onestep.numerics.experiments.inputs import Inputs as Inputs
    from onestep.numerics.experiments.ridge import Simulation as Simulation
    from onestep.numerics.experiments.simulate import simulate as simulate
    from onestep.numerics.gaussian.evaluate import Activation as Activation
    from onestep.numerics.gaussian.evaluate import activation as activation
    from onestep.numerics.models.model import Model as Model
    from onestep.numerics.models.network import Network as Network
    from onestep.numerics.models.parameters import ModelError as ModelError
    from onestep.numerics.models.parameters import ReadoutGroup as ReadoutGroup
    from onestep.numerics.models.readout_law import ReadoutLaw as ReadoutLaw
    from onestep.numerics.models.solution import Solution as Solution
    from onestep.numerics.saddle_point.one_group.batch import BatchSolution as BatchSolution
    from onestep.numerics.saddle_point.one_group.batch import solve_batch as solve_batch
    from onestep.numerics.saddle_point.solve import solve as solve
    from onestep.numerics.spectrum.density import Spectrum as Spectrum
    from onestep.numerics.spectrum.density import spectrum as spectrum
    from onestep.reports.answers.comparison import compare as compare
    from onestep.verify.claims.index import claims as claims


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """Where each public name lives, and what it is called there."""
    import ast

    with open(os.path.join(_HERE, "__init__.py"), encoding="utf-8") as file:
        listed = next(node for node in ast.parse(file.read()).body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in listed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("onestep")
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module 'onestep' has no attribute {name!r}; it offers {', '.join(sorted(_homes()))}")
    from importlib import import_module

    module, original = _homes()[name]
    value = getattr(import_module(module), original)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(_homes())


def main() -> int:
    """The command line: the program `onestep`, or `python -m onestep`; the exit code."""
    from onestep.reports.command_line.machine import signals

    signals.listen("--debug" in sys.argv)  # before anything that takes time to load
    from onestep.reports.command_line.cli import main as command_line

    return command_line()

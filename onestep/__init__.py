"""The public face for notebooks: the names worth typing, each imported when it is first used; and the command line.

import onestep

model = onestep.Model(onestep.activation("tanh"), onestep.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                      spike=1.0, bulk=1.0, alignment=0.8)
onestep.solve(model).test_error
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
    from onestep.derivations.expressions.parser import ExpressionError as ExpressionError
    from onestep.numerics.balls.arithmetic import PrecisionError as PrecisionError
    from onestep.numerics.bounds.of_model import bounds as bounds
    from onestep.numerics.bounds.results import Bounds as Bounds
    from onestep.numerics.certificates.certify import Certificate as Certificate
    from onestep.numerics.certificates.certify import certify as certify
    from onestep.numerics.certificates.ranges.branch import Branch as Branch
    from onestep.numerics.certificates.ranges.branch import certify_branch as certify_branch
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

    __all__: list[str]
    __version__: str

# Where each public name lives: it is imported from there when it is first used.
_HOMES = {
    "Activation": "onestep.numerics.gaussian.evaluate",
    "BatchSolution": "onestep.numerics.saddle_point.one_group.batch",
    "Bounds": "onestep.numerics.bounds.results",
    "Branch": "onestep.numerics.certificates.ranges.branch",
    "Certificate": "onestep.numerics.certificates.certify",
    "ExpressionError": "onestep.derivations.expressions.parser",
    "Inputs": "onestep.numerics.experiments.inputs",
    "Model": "onestep.numerics.models.model",
    "ModelError": "onestep.numerics.models.parameters",
    "Network": "onestep.numerics.models.network",
    "PrecisionError": "onestep.numerics.balls.arithmetic",
    "ReadoutGroup": "onestep.numerics.models.parameters",
    "ReadoutLaw": "onestep.numerics.models.readout_law",
    "Simulation": "onestep.numerics.experiments.ridge",
    "Solution": "onestep.numerics.models.solution",
    "Spectrum": "onestep.numerics.spectrum.density",
    "activation": "onestep.numerics.gaussian.evaluate",
    "bounds": "onestep.numerics.bounds.of_model",
    "certify": "onestep.numerics.certificates.certify",
    "certify_branch": "onestep.numerics.certificates.ranges.branch",
    "claims": "onestep.verify.claims.index",
    "compare": "onestep.reports.answers.comparison",
    "simulate": "onestep.numerics.experiments.simulate",
    "solve": "onestep.numerics.saddle_point.solve",
    "solve_batch": "onestep.numerics.saddle_point.one_group.batch",
    "spectrum": "onestep.numerics.spectrum.density",
}


if not TYPE_CHECKING:  # a checker knows the names above, and would believe in every other one here

    def __getattr__(name: str) -> Any:
        """Import a public name on first use."""
        if name == "__version__":
            from importlib.metadata import version

            return version("onestep")
        if name == "__all__":
            return sorted(_HOMES)
        if name.startswith("_") or name not in _HOMES:
            raise AttributeError(f"module 'onestep' has no attribute {name!r}; it offers {', '.join(sorted(_HOMES))}")
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(_HOMES)


def main() -> int:
    """The command line: the program `onestep`, or `python -m onestep`; the exit code."""
    from onestep.reports.command_line.machine import signals

    signals.listen("--debug" in sys.argv)  # before anything that takes time to load
    from onestep.reports.command_line.cli import main as command_line

    return command_line()

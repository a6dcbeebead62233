"""The public face for notebooks: the names worth typing, each imported when it is first used; and the command line.

import onestep

model = onestep.Model(onestep.activation("tanh"), onestep.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                      spike=1.0, bulk=1.0, alignment=0.8)
onestep.solve(model).test_error
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# The rooms are sub-packages of this one name: in a wheel they stand in this folder, in a checkout beside it.
_HERE = os.path.dirname(os.path.abspath(__file__))
__path__ = [_HERE] if os.path.isdir(os.path.join(_HERE, "numerics")) else [_HERE, os.path.dirname(_HERE)]

if TYPE_CHECKING:
    from onestep.derivations.activations.activation import Activation, activation
    from onestep.derivations.expressions.parser import parse
    from onestep.derivations.language.symbols import glossary
    from onestep.numerics.bounds.any_loss import best_ridge_of_loss, loss_bounds
    from onestep.numerics.bounds.learned_bias import learned_bias
    from onestep.numerics.bounds.ridge import best_eta, best_ridge, best_spike, bounds, lower_bound, upper_bound
    from onestep.numerics.certificates.certify import Certificate, certify
    from onestep.numerics.certificates.saddle_point import SolutionMp, solve_mp
    from onestep.numerics.experiments.inputs import Inputs
    from onestep.numerics.experiments.simulate import simulate
    from onestep.numerics.experiments.simulate_loss import predict, simulate_loss
    from onestep.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants, target_moments
    from onestep.numerics.models.model import Model, ModelError, ReadoutGroup
    from onestep.numerics.models.network import Network
    from onestep.numerics.models.solution import Solution
    from onestep.numerics.saddle_point.any_loss.convex import solve as solve_loss
    from onestep.numerics.saddle_point.any_loss.losses import loss_named
    from onestep.numerics.saddle_point.batch import BatchSolution, solve_batch
    from onestep.numerics.saddle_point.letters.density import ReadoutLaw, solve_density
    from onestep.numerics.saddle_point.ridge import solve
    from onestep.numerics.spectrum.density import Spectrum, spectrum
    from onestep.reports.answers.comparison import compared as compare
    from onestep.verify.claims.index import all_claims, run_ledger

__all__ = [
    "Activation",
    "BatchSolution",
    "Certificate",
    "Inputs",
    "Model",
    "ModelError",
    "Network",
    "ReadoutGroup",
    "ReadoutLaw",
    "Solution",
    "SolutionMp",
    "Spectrum",
    "activation",
    "all_claims",
    "best_eta",
    "best_ridge",
    "best_ridge_of_loss",
    "best_spike",
    "bounds",
    "certify",
    "compare",
    "conditional_coefficients",
    "glossary",
    "hermite_constants",
    "learned_bias",
    "loss_bounds",
    "loss_named",
    "lower_bound",
    "parse",
    "predict",
    "run_ledger",
    "simulate",
    "simulate_loss",
    "solve",
    "solve_batch",
    "solve_density",
    "solve_loss",
    "solve_mp",
    "spectrum",
    "target_moments",
    "upper_bound",
]

# Where each name lives, and what it is called there if not the same.
_HOMES: dict[str, tuple[str, str]] = {
    # From where NumPy is loaded, which evaluates them.
    "Activation": ("onestep.numerics.models.model", "Activation"),
    "activation": ("onestep.numerics.models.model", "function"),
    "parse": ("onestep.derivations.expressions.parser", "parse"),
    "glossary": ("onestep.derivations.language.symbols", "glossary"),
    "BatchSolution": ("onestep.numerics.saddle_point.batch", "BatchSolution"),
    "solve_batch": ("onestep.numerics.saddle_point.batch", "solve_batch"),
    "best_eta": ("onestep.numerics.bounds.ridge", "best_eta"),
    "best_ridge": ("onestep.numerics.bounds.ridge", "best_ridge"),
    "best_spike": ("onestep.numerics.bounds.ridge", "best_spike"),
    "bounds": ("onestep.numerics.bounds.ridge", "bounds"),
    "lower_bound": ("onestep.numerics.bounds.ridge", "lower_bound"),
    "upper_bound": ("onestep.numerics.bounds.ridge", "upper_bound"),
    "Certificate": ("onestep.numerics.certificates.certify", "Certificate"),
    "certify": ("onestep.numerics.certificates.certify", "certify"),
    "conditional_coefficients": ("onestep.numerics.gaussian.coefficients", "conditional_coefficients"),
    "hermite_constants": ("onestep.numerics.gaussian.coefficients", "hermite_constants"),
    "target_moments": ("onestep.numerics.gaussian.coefficients", "target_moments"),
    "solve_loss": ("onestep.numerics.saddle_point.any_loss.convex", "solve"),
    "Network": ("onestep.numerics.models.network", "Network"),
    "Inputs": ("onestep.numerics.experiments.inputs", "Inputs"),
    "learned_bias": ("onestep.numerics.bounds.learned_bias", "learned_bias"),
    "best_ridge_of_loss": ("onestep.numerics.bounds.any_loss", "best_ridge_of_loss"),
    "loss_bounds": ("onestep.numerics.bounds.any_loss", "loss_bounds"),
    "loss_named": ("onestep.numerics.saddle_point.any_loss.losses", "loss_named"),
    "Model": ("onestep.numerics.models.model", "Model"),
    "ModelError": ("onestep.numerics.models.model", "ModelError"),
    "ReadoutGroup": ("onestep.numerics.models.model", "ReadoutGroup"),
    "ReadoutLaw": ("onestep.numerics.saddle_point.letters.density", "ReadoutLaw"),
    "solve_density": ("onestep.numerics.saddle_point.letters.density", "solve_density"),
    "solve": ("onestep.numerics.saddle_point.ridge", "solve"),
    "SolutionMp": ("onestep.numerics.certificates.saddle_point", "SolutionMp"),
    "solve_mp": ("onestep.numerics.certificates.saddle_point", "solve_mp"),
    "simulate": ("onestep.numerics.experiments.simulate", "simulate"),
    "predict": ("onestep.numerics.experiments.simulate_loss", "predict"),
    "simulate_loss": ("onestep.numerics.experiments.simulate_loss", "simulate_loss"),
    "Solution": ("onestep.numerics.models.solution", "Solution"),
    "Spectrum": ("onestep.numerics.spectrum.density", "Spectrum"),
    "spectrum": ("onestep.numerics.spectrum.density", "spectrum"),
    "compare": ("onestep.reports.answers.comparison", "compared"),
    "all_claims": ("onestep.verify.claims.index", "all_claims"),
    "run_ledger": ("onestep.verify.claims.index", "run_ledger"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("onestep")
    if name not in _HOMES:
        raise AttributeError(f"module 'onestep' has no attribute {name!r}; it offers {', '.join(__all__)}")
    module, original = _HOMES[name]
    value = getattr(import_module(module), original)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def main() -> int:
    """The command line: the program `onestep`, or `python -m onestep`; the exit code."""
    from onestep.reports.command_line.machine import signals

    signals.listen("--debug" in sys.argv)  # before anything that takes time to load
    from onestep.reports.command_line.cli import main as command_line

    return command_line()

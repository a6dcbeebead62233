"""The public face for notebooks: the names worth typing, each imported when it is first used; and the command line.

import onestep

model = onestep.Model(onestep.activation("tanh"), onestep.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                      spike=1.0, bulk=1.0, alignment=0.8)
onestep.solve(model).test_error
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derivations.activations.activation import Activation, activation
    from derivations.expressions.parser import parse
    from derivations.language.symbols import glossary
    from numerics.bounds.any_loss import best_ridge_of_loss, loss_bounds
    from numerics.bounds.learned_bias import learned_bias
    from numerics.bounds.ridge import best_eta, best_ridge, best_spike, bounds, lower_bound, upper_bound
    from numerics.certificates.certify import Certificate, certify
    from numerics.certificates.saddle_point import SolutionMp, solve_mp
    from numerics.experiments.inputs import Inputs
    from numerics.experiments.simulate import simulate
    from numerics.experiments.simulate_loss import predict, simulate_loss
    from numerics.gaussian.coefficients import conditional_coefficients, hermite_constants, target_moments
    from numerics.models.model import Model, ModelError, ReadoutGroup
    from numerics.models.network import Network
    from numerics.models.solution import Solution
    from numerics.saddle_point.any_loss.convex import solve as solve_loss
    from numerics.saddle_point.any_loss.losses import loss_named
    from numerics.saddle_point.batch import BatchSolution, solve_batch
    from numerics.saddle_point.letters.density import ReadoutLaw, solve_density
    from numerics.saddle_point.ridge import solve
    from numerics.spectrum.density import Spectrum, spectrum
    from reports.answers.comparison import compared as compare
    from verify.claims.index import all_claims, run_ledger

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
    "Activation": ("numerics.models.model", "Activation"),
    "activation": ("numerics.models.model", "function"),
    "parse": ("derivations.expressions.parser", "parse"),
    "glossary": ("derivations.language.symbols", "glossary"),
    "BatchSolution": ("numerics.saddle_point.batch", "BatchSolution"),
    "solve_batch": ("numerics.saddle_point.batch", "solve_batch"),
    "best_eta": ("numerics.bounds.ridge", "best_eta"),
    "best_ridge": ("numerics.bounds.ridge", "best_ridge"),
    "best_spike": ("numerics.bounds.ridge", "best_spike"),
    "bounds": ("numerics.bounds.ridge", "bounds"),
    "lower_bound": ("numerics.bounds.ridge", "lower_bound"),
    "upper_bound": ("numerics.bounds.ridge", "upper_bound"),
    "Certificate": ("numerics.certificates.certify", "Certificate"),
    "certify": ("numerics.certificates.certify", "certify"),
    "conditional_coefficients": ("numerics.gaussian.coefficients", "conditional_coefficients"),
    "hermite_constants": ("numerics.gaussian.coefficients", "hermite_constants"),
    "target_moments": ("numerics.gaussian.coefficients", "target_moments"),
    "solve_loss": ("numerics.saddle_point.any_loss.convex", "solve"),
    "Network": ("numerics.models.network", "Network"),
    "Inputs": ("numerics.experiments.inputs", "Inputs"),
    "learned_bias": ("numerics.bounds.learned_bias", "learned_bias"),
    "best_ridge_of_loss": ("numerics.bounds.any_loss", "best_ridge_of_loss"),
    "loss_bounds": ("numerics.bounds.any_loss", "loss_bounds"),
    "loss_named": ("numerics.saddle_point.any_loss.losses", "loss_named"),
    "Model": ("numerics.models.model", "Model"),
    "ModelError": ("numerics.models.model", "ModelError"),
    "ReadoutGroup": ("numerics.models.model", "ReadoutGroup"),
    "ReadoutLaw": ("numerics.saddle_point.letters.density", "ReadoutLaw"),
    "solve_density": ("numerics.saddle_point.letters.density", "solve_density"),
    "solve": ("numerics.saddle_point.ridge", "solve"),
    "SolutionMp": ("numerics.certificates.saddle_point", "SolutionMp"),
    "solve_mp": ("numerics.certificates.saddle_point", "solve_mp"),
    "simulate": ("numerics.experiments.simulate", "simulate"),
    "predict": ("numerics.experiments.simulate_loss", "predict"),
    "simulate_loss": ("numerics.experiments.simulate_loss", "simulate_loss"),
    "Solution": ("numerics.models.solution", "Solution"),
    "Spectrum": ("numerics.spectrum.density", "Spectrum"),
    "spectrum": ("numerics.spectrum.density", "spectrum"),
    "compare": ("reports.answers.comparison", "compared"),
    "all_claims": ("verify.claims.index", "all_claims"),
    "run_ledger": ("verify.claims.index", "run_ledger"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
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
    from reports.command_line.machine import signals

    signals.listen("--debug" in sys.argv)  # before anything that takes time to load
    from reports.command_line.cli import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())

"""The public face for notebooks: the names worth typing, each imported when it is first used.

import onestep

model = onestep.Model(onestep.activation("tanh"), onestep.activation("sin"), alpha=1.5, beta=1.0, ridge=0.1,
                      spike=1.0, bulk=1.0, alignment=0.8)
onestep.solve(model).test_error
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derivations.activation import Activation, activation
    from derivations.expression import parse
    from derivations.symbols import glossary
    from numerics.bounds import best_eta, best_ridge, lower_bound, upper_bound
    from numerics.coefficients import conditional_coefficients, hermite_constants, target_moments
    from numerics.ensembles import Network
    from numerics.model import Model, ModelError, ReadoutGroup
    from numerics.ridge import solve
    from numerics.simulate import simulate
    from numerics.solution import Solution
    from verify.ledger import all_claims
    from verify.ledger import run as run_ledger

__all__ = [
    "Activation",
    "Model",
    "ModelError",
    "Network",
    "ReadoutGroup",
    "Solution",
    "activation",
    "all_claims",
    "best_eta",
    "best_ridge",
    "conditional_coefficients",
    "glossary",
    "hermite_constants",
    "lower_bound",
    "parse",
    "run_ledger",
    "simulate",
    "solve",
    "target_moments",
    "upper_bound",
]

# Where each name lives, and what it is called there if not the same.
_HOMES: dict[str, tuple[str, str]] = {
    "Activation": ("derivations.activation", "Activation"),
    "activation": ("derivations.activation", "activation"),
    "parse": ("derivations.expression", "parse"),
    "glossary": ("derivations.symbols", "glossary"),
    "best_eta": ("numerics.bounds", "best_eta"),
    "best_ridge": ("numerics.bounds", "best_ridge"),
    "lower_bound": ("numerics.bounds", "lower_bound"),
    "upper_bound": ("numerics.bounds", "upper_bound"),
    "conditional_coefficients": ("numerics.coefficients", "conditional_coefficients"),
    "hermite_constants": ("numerics.coefficients", "hermite_constants"),
    "target_moments": ("numerics.coefficients", "target_moments"),
    "Network": ("numerics.ensembles", "Network"),
    "Model": ("numerics.model", "Model"),
    "ModelError": ("numerics.model", "ModelError"),
    "ReadoutGroup": ("numerics.model", "ReadoutGroup"),
    "solve": ("numerics.ridge", "solve"),
    "simulate": ("numerics.simulate", "simulate"),
    "Solution": ("numerics.solution", "Solution"),
    "all_claims": ("verify.ledger", "all_claims"),
    "run_ledger": ("verify.ledger", "run"),
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

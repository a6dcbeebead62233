r"""Activation and target as undefined functions whose derivatives have names, and the rules that move them about.

``sigma``, ``g`` and their derivatives stay abstract: what is derived with them holds for every function that meets the
hypotheses of the derivation. The chain rule finds the names of derivatives here; parity is a rule of Gaussian averages.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy as sp
from sympy.core.function import UndefinedFunction

from giantsteps.derivations.language.expectation import Expectation

# SymPy makes the hash of a function without a formula anew from its name and its assumptions, each time that a set or a
# cache asks for it: a twentieth of the time of all proofs. Neither ever changes, and each is kept with its function, so
# that no other one comes to stand in its place in memory.
_HASHES: dict[int, tuple[Any, int]] = {}
_hash_anew = UndefinedFunction.__hash__


def _hash(function: Any) -> int:
    known = _HASHES.get(id(function))
    if known is None:
        known = _HASHES[id(function)] = function, _hash_anew(function)
    return known[1]


UndefinedFunction.__hash__ = _hash


def functions(*names: str) -> tuple[Any, ...]:
    """Undefined functions with real values, one for each name."""
    return tuple(sp.Function(name, real=True) for name in names)


# sigma_check = sigma' - E[sigma'].
sigma, sigma_prime, sigma_second, sigma_check = functions("sigma", "sigma_prime", "sigma_second", "sigma_check")
g, g_prime = functions("g", "g_prime")

# The sign of its argument, and one at zero, where nothing is averaged.
sgn = sp.Function("sgn", real=True)

# The squared loss of one sample in one weight, and its slope.
loss, loss_prime = functions("loss", "loss_prime")

# The sum of n terms whose averages are equal by symmetry, repeated(n, average of one of them) = n times that average.
repeated = sp.Function("repeated", real=True)

# What depends on the number of replicas, and its derivative in it.
partition_moment, partition_moment_slope, log_det_of, log_det_of_slope = functions(
    "E Z^R", "(E Z^R)'", "ln det", "(ln det)'"
)
field_integral, field_integral_slope, trace_exponent, trace_exponent_slope = functions(
    "E_field Z^R", "(E_field Z^R)'", "trace exponent", "(trace exponent)'"
)
prior_exponent, prior_exponent_slope, sample_exponent, sample_exponent_slope = functions(
    "prior exponent", "(prior exponent)'", "sample exponent", "(sample exponent)'"
)
mode_integral, mode_integral_slope, sample_average, sample_average_slope = functions(
    "ln Z mode", "(ln Z mode)'", "ln sample", "(ln sample)'"
)
readout_risk, readout_risk_slope = functions("readout risk", "(readout risk)'")
# What is least at a proximal point, and its slope.
proximal_objective, proximal_slope = functions("objective", "objective'")

# Any convex loss of label and output; what a sample costs at an output away from a centre; where that is least, and
# what it is there, as functions of label, centre and variance; the force (proximal point - centre)/variance.
any_loss, any_loss_slope, any_loss_curvature = functions("l", "l'", "l''")
sample_energy, proximal_point, envelope, force = functions("energy", "prox", "envelope", "force")
force_slope = sp.Function("force_slope", real=True)
# A regulariser, the energy of a weight at a force, the weight that it is least at, and what it is there.
regulariser, regulariser_slope, weight_energy, least_weight, least_weight_slope = functions(
    "r", "r'", "weight energy", "weight", "weight'"
)
weight_envelope, weight_envelope_slope = functions("weight envelope", "(weight envelope)'")


def _places(name: str, count: int) -> tuple[Any, ...]:
    head, _, index = name.partition("_")
    return functions(*(f"{head}_{{{index},{place}}}" for place in range(1, count + 1)))


# Forces that samples exert on a readout: along a direction as a function of the readout along it, on a neuron as a
# function of its weight, and along the constant vector as a function of the readout's mean.
on_overlap, on_overlap_slope = functions("overlap force", "overlap force'")
on_weight, on_weight_slope = functions("own force", "own force'")
along_ones = sp.Function("mean force", real=True)

# The free energy per neuron as a function of order parameters and conjugates, for a spike of two directions, with the
# partial derivative in each place.
directions_action = sp.Function("Psi", real=True)

# The partial derivatives of functions of several variables, one for each place.
PARTIALS: dict[Any, tuple[Any, ...]] = {
    any_loss: (sp.Function("l_y", real=True), any_loss_slope),
    any_loss_slope: (sp.Function("l'_y", real=True), any_loss_curvature),
    sample_energy: _places("energy", 4),
    proximal_point: _places("prox", 3),
    envelope: _places("envelope", 3),
    force: (sp.Function("force_y", real=True), force_slope, sp.Function("force_V", real=True)),
    weight_energy: _places("weight energy", 2),
    directions_action: _places("Psi", 15),
}

# The derivative of each named function. The centred derivative differs from sigma' by a constant.
DERIVATIVES = {
    sigma: sigma_prime,
    sigma_prime: sigma_second,
    sigma_check: sigma_second,
    g: g_prime,
    loss: loss_prime,
    partition_moment: partition_moment_slope,
    log_det_of: log_det_of_slope,
    field_integral: field_integral_slope,
    trace_exponent: trace_exponent_slope,
    prior_exponent: prior_exponent_slope,
    sample_exponent: sample_exponent_slope,
    mode_integral: mode_integral_slope,
    sample_average: sample_average_slope,
    regulariser: regulariser_slope,
    least_weight: least_weight_slope,
    weight_envelope: weight_envelope_slope,
    readout_risk: readout_risk_slope,
    proximal_objective: proximal_slope,
    on_overlap: on_overlap_slope,
    on_weight: on_weight_slope,
}


def with_slopes(name: str, count: int = 2) -> tuple[sp.FunctionClass, ...]:
    """A function of one parameter, which a derivation defines, and its first slopes, under the names F, F', F'', ..."""
    found = functions(*(name + "'" * order for order in range(count + 1)))
    DERIVATIVES.update(pairwise(found))
    return found


def with_partials(name: str, count: int) -> sp.FunctionClass:
    """A function of several parameters, which a derivation defines, with a name for the derivative in each place."""
    function = sp.Function(name, real=True)
    PARTIALS[function] = _places(name, count)
    return function


# Parity under z -> -z where sigma is odd: differentiating sigma(-z) = -sigma(z) makes sigma' even and sigma'' odd.
ODD_ACTIVATION = {sigma: -1, sigma_prime: 1, sigma_check: 1, sigma_second: -1}


def reflect(expectation: Expectation, *symbols: sp.Symbol) -> sp.Expr:
    """The average with ``symbols`` negated in its integrand, for sigma odd.

    A standard normal z and -z have one law: negating bound variables changes nothing, so an expectation that turns into
    its own negative vanishes. A free symbol may be negated too where its law is symmetric.
    """
    signs = {v: -v for v in symbols}
    integrand = expectation.integrand.subs(signs, simultaneous=True)
    return Expectation(_pull_signs(integrand), *expectation.variables)


def _pull_signs(integrand: sp.Expr) -> sp.Expr:
    def pulled(call: sp.Expr) -> sp.Expr:
        argument = call.args[0]
        if argument.could_extract_minus_sign():
            return ODD_ACTIVATION[call.func] * call.func(-argument)
        return call

    return integrand.replace(lambda e: getattr(e, "func", None) in ODD_ACTIVATION, pulled)

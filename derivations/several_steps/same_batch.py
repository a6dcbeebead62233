r"""A second step on the SAME batch: how it starts an alignment that fresh batches never start.

After the first step of rate t a sample of the batch has moved what a row sees of it: by leave-one-out the row sees
h = t rho kappa + (1 + t a) z + t b tau + (t/alpha0) Y sigma'(z), its own push last; kappa, z and tau are independent of
each other and, where the label has no first coefficient, kappa of the label. Overlaps start at t^2.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.limits import name_limit, taylor
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import named, rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime, sigma_second, with_slopes
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import SOURCE, e
from giantsteps.derivations.several_steps.first_step import MEAN_OUTPUT

LEFT_OUT = (
    "leave-one-out: after the first step a row sees a sample of its batch as it sees a fresh one, and the sample's own "
    "push beside it"
)

_u, _rate, _tau, _rho, _a, _b = sp.symbols("u t tau rho a b", real=True)
_inverse = sp.Symbol("N_e", positive=True)
_label = sp.Function("Y_1", real=True)
_Y = _label(_u, e)
_curve, _ = with_slopes("S", 1)

SECOND = define(s_bulk.label_slope[2], Expectation(_u * _Y**2, _u, e), "E[u Y^2], Y the centred label")
CURVED = define(s.slope_curve, Expectation(sigma_prime(s.z) * sigma_second(s.z), s.z), "E[sigma' sigma'']")
BLIND = in_model("no first coefficient", Equation(Expectation(_u * _Y, _u, e), sp.Integer(0)), "E[u Y] = 0")


@functools.cache
def overlap() -> Derivation:
    """r gamma/e^2 after two steps of a small rate e on one batch: E[u Y^2] E[sigma' sigma'']/alpha0."""
    seen = _rate * _rho * s.kappa + (1 + _rate * _a) * s.z + _rate * _b * _tau
    seen += _rate / s.alpha0 * _Y * sigma_prime(s.z)
    output, slope = (Expectation(f(seen), s.z, _tau) for f in (sigma, sigma_prime))
    pull = _u * (s.h1 * _Y + (_Y + s_bulk.mean_output - output) * slope)
    curve = define(_curve(_rate), Expectation(pull, _u, e, s.kappa), "what both steps pull along the target", _rate)
    known = (SECOND, CURVED, MEAN_OUTPUT, *first_coefficient().theorems)
    at_zero = (instantiate((line,), {_rate: sp.Integer(0)}) for line in (curve, differentiate((curve,), _rate)))
    opened = (averages_expanded(averages_expanded(line)) for line in at_zero)
    at_rest, turned = (rewritten(named(line, *known), BLIND) for line in opened)
    small = taylor((), _curve, 1, sp.Integer(1), _inverse)
    tends = rewrite((rewrite((small, at_rest)), turned))
    limit = name_limit((tends,), s.reused_turn, "r gamma/e^2 for a small rate e = 1/N")
    return Derivation(
        "how a reused batch starts the alignment",
        SOURCE,
        proved("The first step pulls by h1 Y, the second by what is left of the label times the new slope.", curve),
        proved("Without a first coefficient nothing is pulled at rate zero,", at_rest),
        proved("and to first order only a sample's own push, of the size of its label, is seen.", turned),
        proved("So the overlap starts at the square of the rate.", limit),
        hypotheses=(LEFT_OUT,),
    )

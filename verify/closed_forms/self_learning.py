"""Perfect learning: whether mu0 of an activation is proportional to a target at some spike, by its closed form."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.closed_forms.gaussian_class import NotInClassError, as_expression, member
from giantsteps.derivations.closed_forms.heat_equation import closed_forms
from giantsteps.derivations.language import symbols
from giantsteps.verify.closed_forms.class_algebra import vanishes_in_class
from giantsteps.verify.closed_forms.proof import prove
from giantsteps.verify.protocol.evidence import Outcome

# The best spike is known to about 1e-5, the bound being flat at its minimum: its square is guessed with such a
# denominator.
_DENOMINATOR = 64
_SOMEWHERE = sp.Rational(7, 5)


def proportional_spike(
    activation: Activation, target: Activation, spike: float, bulk: float
) -> tuple[sp.Expr, sp.Expr] | None:
    """(r^2, b), mu0(r kappa, bulk) = b g(kappa) for all kappa, r^2 rational near ``spike``^2; None if not proved."""
    squared = Fraction(spike * spike).limit_denominator(_DENOMINATOR)
    if squared <= 0:
        return None
    c = Fraction(bulk)
    try:
        form, goal = closed_forms(activation).mu0, member(target)
        if goal.breakpoints or prove(form, "mu0").outcome is not Outcome.SUPPORTS:
            return None
        r = sp.sqrt(sp.Rational(squared.numerator, squared.denominator))
        kappa = symbols.kappa
        mean = form.at(r * kappa, sp.Rational(c.numerator, c.denominator))
    except NotInClassError:
        return None
    wanted = as_expression(goal.pieces[0], kappa)
    factor = sp.cancel(mean.xreplace({kappa: _SOMEWHERE}) / wanted.xreplace({kappa: _SOMEWHERE}))
    if not vanishes_in_class(mean - factor * wanted):
        return None
    return r**2, factor

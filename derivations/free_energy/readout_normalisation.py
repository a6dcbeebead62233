r"""The ridge readout and its normalisations (Section 2, equation (4) of arXiv 2402.04980).

The paper minimises sum (y - a.phi/sqrt p)^2 + lambda |a|^2; the slides print (1/2n) sum (y - a.phi)^2 + lambda |a|^2.
The two agree for one relation between their penalties, found by asking that both objectives be stationary at the same
predictions.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.ridge import SAMPLES
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.gradient_step.spike import evaluated
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import readout_risk, repeated

# A sample by the label of its law; features of one neuron and of a second, which stands for all others.
_label = sp.Symbol("t", real=True)
_phi1, _phi2, _target = (sp.Function(name, real=True)(_label) for name in ("phi_1", "phi_2", "y"))
_weight, _residuals, _square, _ratio = sp.symbols("w S A k", real=True)
_slides, _ours = (sp.Function(name, real=True)(_residuals, _square) for name in ("L_slides", "L"))
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)


def _summed(of: sp.Expr) -> sp.Expr:
    """The sum over n samples: n times the average over their law."""
    return repeated(s.n, Expectation(of, _label))


@functools.cache
def normal_equation() -> Derivation:
    """(Phi^T Phi/p + lambda) a = Phi^T y/sqrt(p): stationarity of (4), solved for one weight beside the others."""
    predicted = (_weight * _phi1 + s.readout_other * _phi2) / sp.sqrt(s.p)
    penalty = s.ridge * (_weight**2 + s.readout_other**2)
    risk = define(
        readout_risk(_weight),
        _summed((_target - predicted) ** 2) + penalty,
        "the ridge objective as a function of one weight",
        _weight,
    )
    sums = [
        evaluated(define(name, _summed(of), meaning))
        for name, of, meaning in (
            (s.gram_own, _phi1**2, "sum of a squared feature"),
            (s.gram_cross, _phi1 * _phi2, "sum of the product of two features"),
            (s.label_overlap, _phi1 * _target, "sum of feature times label"),
        )
    ]
    slope = averages_expanded(instantiate((differentiate((evaluated(risk),), _weight),), {_weight: s.readout_weight}))
    least = in_model(
        "ridge readout",
        Equation(sides(slope.statement)[0], _ZERO),
        "Section 2, (4): the readout minimises the objective, which is convex",
    )
    row = rewrite((least, slope))
    for entry in sums:
        (average,) = value(entry).atoms(Expectation)
        row = rewrite((row, isolated(average, entry)))
    solution = isolated(s.readout_weight, row)
    return Derivation(
        "the normal equation of the ridge readout",
        "Section 2, equation (4)",
        proved("The objective; a second feature stands for all others.", risk),
        proved("The derivative in one weight, summed over the samples.", slope),
        proved("It vanishes: a row of (Phi^T Phi/p + lambda) a = Phi^T y/sqrt(p).", row),
        proved("Solved for the weight.", solution),
    )


@functools.cache
def slides_penalty() -> Derivation:
    """lambda = 2 n lambda_slides/p."""
    places = (_residuals, _square)
    of_slides = _residuals / (2 * s.n) + s.slides_ridge * _square
    of_paper = _residuals + s.ridge * (sp.sqrt(s.p) ** 2 * _square)
    slides = define(_slides, of_slides, "the slides' objective", *places)
    ours = define(_ours, of_paper, "that of (4): its readout is sqrt(p) times the slides'", *places)
    proportional = in_model(
        "one readout",
        Equation(_ours, _ratio * _slides),
        "two objectives of one minimiser for all data are proportional",
        *places,
    )

    def at(residuals: sp.Expr, square: sp.Expr) -> Theorem:
        values = {_residuals: residuals, _square: square}
        both = instantiate((proportional,), values)
        for side in (slides, ours):
            both = rewrite((both, instantiate((side,), values)))
        return both

    loss, penalty = isolated(_ratio, at(_ONE, _ZERO)), at(_ZERO, _ONE)
    result = isolated(s.ridge, rewrite((penalty, loss)))
    return Derivation(
        "the slides' ridge penalty",
        "slides, ridge readout, against equation (4)",
        proved("The slides' objective, S the sum of squared residuals and A = |a|^2.", slides),
        proved("Equation (4) at the same predictions: its readout is sqrt(p) times as long.", ours),
        proved("The two have the same minimiser if they are proportional; the residuals fix the factor,", loss),
        proved("and the penalties the ridge.", result),
    )


@functools.cache
def slides_penalty_in_ratios() -> Derivation:
    """lambda = 2 alpha lambda_slides/beta at n = alpha d, p = beta d."""
    base = slides_penalty()
    penalty = base.theorem_of(s.ridge)
    ratios = rewritten(penalty, SAMPLES, WIDTH)
    result = equal(ratios, sp.cancel(value(ratios)))
    return Derivation(
        "the slides' ridge penalty at fixed ratios",
        base.source,
        *base.steps,
        proved("At n = alpha d and p = beta d the dimension drops out.", result),
    )

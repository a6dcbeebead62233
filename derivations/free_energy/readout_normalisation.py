r"""The ridge readout and its normalisations (Section 2, equation (4) of arXiv 2402.04980).

The paper minimises sum (y - a.phi/sqrt p)^2 + lambda |a|^2; the slides print (1/2n) sum (y - a.phi)^2 + lambda |a|^2.
The two agree for one relation between their penalties, found by asking that both objectives be stationary at the same
predictions.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq

_phi1, _phi2 = sp.symbols("phi_1 phi_2", real=True)


@functools.cache
def normal_equation() -> Derivation:
    """(Phi^T Phi/p + lambda) a = Phi^T y/sqrt(p): stationarity of (4), solved for one weight beside the others."""
    predicted = (s.readout_weight * _phi1 + s.readout_other * _phi2) / sp.sqrt(s.p)
    own = sp.diff((s.y - predicted) ** 2, s.readout_weight)
    # Summed over the samples, products of features and labels become entries of Phi^T Phi and Phi^T y.
    sums = {_phi1 * _phi1: s.gram_own, _phi1 * _phi2: s.gram_cross, _phi1 * s.y: s.label_overlap}
    summed = _name_products(sp.expand(own), sums)
    gradient = summed + sp.diff(s.ridge * s.readout_weight**2, s.readout_weight)
    (solution,) = sp.solve(sp.Eq(gradient, 0), s.readout_weight)
    matrix_row = (
        (s.gram_own / s.p + s.ridge) * s.readout_weight
        + s.gram_cross / s.p * s.readout_other
        - s.label_overlap / sp.sqrt(s.p)
    )
    return Derivation(
        "the normal equation of the ridge readout",
        "Section 2, equation (4)",
        Step(
            "The derivative of one sample's squared residual in one weight; a second feature stands for all others.",
            eq(sp.Symbol(r"\partial_{a}(y-f)^{2}"), own),
        ),
        Step(
            "Summed over the samples and with the penalty's derivative, half of it is a row of (Phi^T "
            "Phi/p + lambda) a - Phi^T y/sqrt(p).",
            eq(gradient / 2, 0),
            Vanishing("a row of the normal equation", gradient / 2 - matrix_row),
        ),
        Step(
            "Solved for the weight.",
            eq(s.readout_weight, solution),
            Vanishing("the solution makes the gradient zero", gradient.subs(s.readout_weight, solution)),
        ),
        results={s.readout_weight: solution},
    )


def _name_products(expression: sp.Expr, names: dict[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace each product of two random factors, term by term, by the name of its sum over the samples."""
    total: sp.Expr = sp.S.Zero
    for term in sp.Add.make_args(expression):
        constant, random = term.as_independent(_phi1, _phi2, s.y, as_Add=False)
        total += constant * names[random]
    return total


def rescaled_objectives() -> tuple[sp.Expr, sp.Expr]:
    """The slides' objective and that of (4), at the same predictions: a of (4) is sqrt(p) times the slides' a."""
    residuals, square = sp.symbols("S A", positive=True)  # sum of squared residuals, |a|^2 of the slides
    slides = residuals / (2 * s.n) + s.slides_ridge * square
    ours = residuals + s.ridge * (sp.sqrt(s.p) ** 2 * square)
    return slides, ours


@functools.cache
def slides_penalty() -> Derivation:
    """lambda = 2 n lambda_slides/p."""
    slides, ours = rescaled_objectives()
    residuals, square = sp.symbols("S A", positive=True)
    # Proportional objectives: equal ratios of the two coefficients.
    factor = sp.diff(ours, residuals) / sp.diff(slides, residuals)
    (penalty,) = sp.solve(sp.Eq(sp.diff(ours, square), factor * sp.diff(slides, square)), s.ridge)
    return Derivation(
        "the slides' ridge penalty",
        "slides, ridge readout, against equation (4)",
        Step(
            "The slides' objective, S the sum of squared residuals and A = |a|^2.", eq(sp.Symbol("L_{slides}"), slides)
        ),
        Step("Equation (4) at the same predictions: its readout is sqrt(p) times as long.", eq(sp.Symbol("L"), ours)),
        Step(
            "The two have the same minimiser if they are proportional, which fixes the penalty.",
            eq(s.ridge, penalty),
            Vanishing("the objectives are proportional", sp.expand(ours.subs(s.ridge, penalty) - factor * slides)),
        ),
        results={s.ridge: penalty},
    )


@functools.cache
def slides_penalty_in_ratios() -> Derivation:
    """lambda = 2 alpha lambda_slides/beta at n = alpha d, p = beta d."""
    base = slides_penalty()
    penalty = base.results[s.ridge].subs({s.n: s.alpha * s.d, s.p: s.beta * s.d})
    return Derivation(
        "the slides' ridge penalty at fixed ratios",
        base.source,
        *base.steps,
        Step(
            "At n = alpha d and p = beta d the dimension drops out.",
            eq(s.ridge, penalty),
            Vanishing("no d is left", sp.diff(penalty, s.d)),
        ),
        results={s.ridge: penalty},
    )

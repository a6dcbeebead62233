"""A readout whose initial weights have a density: the limit of many letters (Section 4.4, the end of Appendix D).

A letter u of the vocabulary becomes a variable with a law, a sum over groups an average over it; each letter has its
own spike u r and bulk 1 + u^2 (c - 1), as after a gradient step. For an activation of definite parity u and -u have the
same features up to signs of a neuron, and positive letters with the weight of both do.

The means m_u are not regularised at leading order, and the functions mu0_u of the letters of a density span all
functions of kappa that parity allows (argued from the claims `letter-density.*`): mu0_u(kappa) = E_z g(u (r kappa +
sqrt(c-1) z)), g = P_1 sigma, is one function of u times a normal variable, and what is orthogonal to it for all letters
is orthogonal to every power of that variable. So

    yhat = E[y | kappa] up to what parity forbids,    zeta_u = 0,

and what is left, V, T, tau, psi and q, are averages over the law of functions that are analytic in u: rules in u and
kappa settle to rounding (`numerics.saddle_point.letters.many_letters`). Groups on the nodes of a Gauss rule come near
it, until the means of nearly collinear functions grow too large for double precision. At a finite width p the means
cost sum m_u^2/(p tau_u), which makes them kernel ridge regression along the spike (`Solution.at_width`), and
networks approach the limit slowly.

Hypotheses: |sigma| grows no faster than a power; its even part is no polynomial, or constant; its odd part is no
polynomial, or linear; not both are. Of a constant or linear part (z/2 for relu, softplus, gelu) all letters have the
same one function: its coefficient is fitted, and nothing else of that parity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.gaussian.quadrature import ROUNDING, Moments, integrand
from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import UNIFORM, Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.models.solution import Conjugates, OrderParameters, Solution
from giantsteps.numerics.saddle_point.finite_width import checked_width
from giantsteps.numerics.saddle_point.letters.many_letters import (
    LetterLevel,
    LetterTable,
    Ratios,
    Response,
    errors,
    held_means,
    respond,
)
from giantsteps.numerics.saddle_point.map_uncertainty import relative_uncertainty
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.saddle_point.ridgeless import extra_reach, regime_of

Array = NDArray[np.float64]

# The rules in u and kappa are refined until a finer one moves the test error by less than this share of 1 + it.
SETTLED = 1e-11
# Moving more than this share is not convergence.
UNSETTLED = 1e-7
# Letters of the first rule (of one sign), and the most of any.
LETTERS, MOST_LETTERS = 24, 192
MOST_REFINEMENTS = 5
# A solve by groups costs the sixth power of their number.
MOST_GROUPS = 12
# The farthest letter times sqrt(r^2 + c - 1), the scale of its argument: rules in z grow with it, and here a solution
# takes 5 to 20 seconds. Rules on panels (relu, sign) have more nodes.
MOST_SCALE, MOST_SCALE_OF_PANELS = 300.0, 100.0
# Parts of an activation that are smaller than this share of it are its rounding.
_PART = 1e-11


@dataclass(frozen=True)
class Spanned:
    """What the means of all letters can be: every function of the `free` parities, and `fixed` functions beside them.

    `fixed` has degree 0 (a constant) or 1 (kappa) where the part of that parity is a polynomial.
    """

    free: frozenset[str]
    fixed: int | None


def few_letters(model: Model, most: int = MOST_GROUPS) -> tuple[Solution, ...]:
    """The saddle points of Gauss rules with 1, 2, ..., `most` groups, up to the first that does not converge.

    They approach the limit, and means of collinear functions grow with the number of groups, until rounding decides.
    """
    found: list[Solution] = []
    for count in range(1, most + 1):
        found.append(solve(with_letters(model, count)))
        if not found[-1].converged:
            return tuple(found[:-1])
    return tuple(found)


def with_letters(model: Model, count: int) -> Model:
    """The model with `count` groups in place of its law, each of bulk 1 + u^2 (c - 1) where c > 1, else c."""
    groups = law_of(model).groups(count, folded=model.activation.parity in ("odd", "even"))
    if model.step is not None:
        return model.changed(readout=groups)
    return replace(model, readout=tuple(replace(g, bulk=bulk_of(model, g.weight)) for g in groups))


def law_of(model: Model) -> ReadoutLaw:
    """The law of the initial readout. Raises ModelError where it has groups."""
    if model.law is None:
        raise ModelError('a density of the initial readout is required: give for example ReadoutLaw("normal")')
    return model.law


def bulk_of(model: Model, letter: float) -> float:
    """The bulk variance of a letter: 1 + u^2 (c - 1) where c > 1, as after a step, else c."""
    return 1.0 + letter**2 * (model.bulk - 1.0) if model.bulk > 1.0 else model.bulk


def check_scale(model: Model, law: ReadoutLaw) -> None:
    """Raises ModelError where the farthest letters need rules beyond reach."""
    spread = math.sqrt(model.spike**2 + max(model.bulk - 1.0, 0.0))
    most = MOST_SCALE if integrand(model.activation).splits is None else MOST_SCALE_OF_PANELS
    if law.farthest * spread > most:
        largest = law.scale * most / (law.farthest * spread)
        raise ModelError(
            f"the scale of {law} is too large: at spike {model.spike:g} and bulk {model.bulk:g} scales up to "
            f"{largest:.3g} are supported, for example {law.name}:{0.5 * largest:.2g}"
        )


def solve_letters(model: Model) -> Solution:
    """The saddle point for a density of letters: zeta and psi are totals over all neurons.

    Rules in u and along the spike are refined until neither moves the test error. error_estimate: how far finer ones
    do, plus rounding (an estimate, not a bound). Raises ModelError where the hypotheses of the limit do not hold, and
    for another loss than the square one; never for lack of convergence.
    """
    law, uniform = law_of(model), replace(model, readout=UNIFORM)
    square_only(model, "a density of readout weights")
    span = spanned(uniform)
    check_scale(uniform, law)
    with np.errstate(all="ignore"):  # what goes wrong becomes NaN, and the residual with it
        best, estimate, steps = _refined(uniform, law, span)
    residual, scale = best.response.residual, 1.0 + abs(best.test_error)
    solved = best.response.converged and residual <= 1e-12
    converged = bool(solved and estimate <= UNSETTLED * scale)
    status = "converged" if converged else "not converged: "
    if not solved:
        status += f"the residual is {residual:.1e}; a larger ridge makes the problem better conditioned"
    elif not converged:
        status += f"finer rules still move the test error by {estimate:.1e}"
    return Solution(
        model=model,
        test_error=best.test_error,
        training_error=best.training_error,
        order_parameters=_totals(_zeta(uniform, best), float(np.sum(best.psi))),
        residual=residual,
        error_estimate=estimate,
        converged=converged,
        status=status,
        iterations=steps,
        widened=_at_width,
        letters=best,
    )


def _zeta(model: Model, level: LetterLevel) -> float:
    """a.W v/sqrt(p) over all neurons: nothing is left along the spike that the means have not taken."""
    forces = level.table.weights * level.response.inverse * level.deviation * level.table.kappa
    tau = level.table.fractions * level.response.scaled_tau
    return model.alpha * float((level.table.bulks * tau) @ (level.table.mu1 @ forces))


def _totals(zeta: float, psi: float) -> OrderParameters:
    """Order parameters of which there are the totals a.W v/sqrt(p) and a.W theta_perp/sqrt(p), |theta_perp| = 1."""
    none, square = np.zeros(0), np.zeros((0, 0))
    forces = Conjugates(square, none, square, none, none, none)
    return OrderParameters(none, np.array([zeta]), np.array([psi]), square, none, square, none, forces)


def _at_width(solution: Solution, width: float) -> Solution:
    """Errors and totals at finite width p, with the cost of the means kept."""
    p, level = checked_width(width), solution.letters
    assert level is not None, "the limit of many letters has its rules"
    deviation, _, zeta = held_means(level.table, level.ratios, level.response, p)
    found = errors(level.table, level.ratios, level.response, deviation, p)
    return replace(
        solution,
        width=p,
        test_error=found.test_error,
        training_error=found.training_error,
        order_parameters=_totals(float(np.sum(zeta)), float(np.sum(found.psi))),
    )


def _refined(model: Model, law: ReadoutLaw, span: Spanned) -> tuple[LetterLevel, float, int]:
    """The finest rules, what they leave, and how often they were made finer."""
    letters, refine, steps = LETTERS, 0, 1
    level = limit_on(model, law, span, letters, refine)
    while True:
        scale = 1.0 + abs(level.test_error)
        more, finer = (
            limit_on(model, law, span, 2 * letters, refine),
            limit_on(model, law, span, letters, refine + 1),
        )
        moves = [abs(other.test_error - level.test_error) for other in (more, finer)]
        enough = max(SETTLED * scale, level.rounding)
        wanting = [not move <= enough for move in moves]
        exhausted = (wanting[0] and 2 * letters >= MOST_LETTERS) or (wanting[1] and refine + 1 >= MOST_REFINEMENTS)
        if not any(wanting) or exhausted:
            break
        letters, refine, steps = letters * (1 + wanting[0]), refine + wanting[1], steps + 1
        level = limit_on(model, law, span, letters, refine) if all(wanting) else (more if wanting[0] else finer)
    best = finer if wanting[1] else more
    # What a gradient step is known to counts like rounding, as for a network's own bulk.
    growth = 1.0 + relative_uncertainty(model) / ROUNDING
    return best, sum(moves) + best.rounding * growth + best.unresolved * scale, steps


def limit_on(model: Model, law: ReadoutLaw, span: Spanned, count: int, refine: int) -> LetterLevel:
    """The limit with 2 `count` letters, or `count` of one sign where parity allows, on one rule along the spike."""
    base = _along(model, law, refine)
    u, pi = law.letters(count)
    if model.activation.parity in ("odd", "even"):
        u, pi = u[count:], 2.0 * pi[count:]
    table = letter_table(model, u, pi, base)
    regime = regime_of(base, model)
    ratios = Ratios(model.alpha, model.beta, model.noise, regime)
    response = respond(table, ratios)
    deviation = _deviation(model, span, table, response)
    found = errors(table, ratios, response, deviation)
    return LetterLevel(
        letters=u,
        table=table,
        ratios=ratios,
        response=response,
        deviation=deviation,
        test_error=found.test_error,
        training_error=found.training_error,
        psi=found.psi,
        unresolved=base.unresolved,
        rounding=ROUNDING * found.condition * (1.0 + abs(found.test_error) + model.noise),
    )


def _along(model: Model, law: ReadoutLaw, refine: int) -> Profile:
    """The rule along the spike, fit for a typical letter, with the moments of the target."""
    letter = law.scale * (2.0 if law.name == "normal" else 1.0)
    group = ReadoutGroup(letter, 1.0, bulk_of(model, letter))
    return profile(replace(model, readout=(group,)), refine, refine, extra_reach(model.ridge))


def letter_table(model: Model, letters: Array, fractions: Array, base: Profile) -> LetterTable:
    """The functions of all letters on the rule of `base`."""
    bulks = np.array([bulk_of(model, float(u)) for u in letters])
    mu0, mu1, mu2_squared = _functions(model, letters, bulks, base.kappa)
    return LetterTable(fractions, bulks, base.kappa, base.weights, mu0, mu1, mu2_squared, base.y0, base.y1, base.spread)


def _functions(model: Model, letters: Array, bulks: Array, kappa: Array) -> tuple[Array, Array, Array]:
    """mu0, mu1, mu2^2 of all letters at places kappa, (k, n) each."""
    found: list[Moments] = [
        conditional_moments_of(model.activation, model.spike * float(u), float(c), 0.0, kappa)
        for u, c in zip(letters, bulks, strict=True)
    ]
    mu1 = np.array([part.slope for part in found]) / np.sqrt(bulks)[:, None]
    return np.array([part.mean for part in found]), mu1, np.array([part.rest for part in found])


def spanned(model: Model) -> Spanned:
    """What the letters of a density span. Raises ModelError where the hypotheses of the limit do not hold."""
    growth = model.activation.growth
    if growth.rate or growth.quadratic:
        raise ModelError(
            "a density of readout weights requires an activation of at most polynomial growth; "
            f"{model.activation.expression} may grow faster: use for example tanh or relu"
        )
    if model.spike == 0.0:
        raise ModelError(
            "a density of readout weights requires a spike, and here spike = 0, where the mean features do not "
            "depend on the weight: give for example spike = 1"
        )
    sigma = compile_numpy(model.activation.expression)
    # Places on all scales that a rule can see, of no common divisor; a part counts if it does on one of them.
    x = np.outer([0.5, 2.0, 8.0, 32.0, 128.0], np.linspace(0.03, 1.0, 61) ** 1.1)
    right, left = np.asarray(sigma(x)), np.asarray(sigma(-x))
    even, odd, size = 0.5 * (right + left), 0.5 * (right - left), np.abs(right) + np.abs(left)
    largest = float(size.max())
    constant = bool(np.all(np.abs(even - even[0, 0]) <= _PART * (size + abs(even[0, 0]))))
    linear = bool(np.all(np.abs(odd - odd[-1, -1] / x[-1, -1] * x) <= _PART * (size + largest * x / x[-1, -1])))
    parts = (("even", constant, even, 0), ("odd", linear, odd, 1))
    wrong = [name for name, trivial, part, parity in parts if not trivial and _polynomial(part, x, size, parity)]
    if wrong or (constant and linear):
        partly = len(wrong) == 1 and not (constant or linear)
        of_what = f"of its {wrong[0]} part the letters" if partly else "its letters"
        raise ModelError(
            "a density of readout weights requires an activation whose even part is constant or not polynomial and "
            "whose odd part is linear or not polynomial, but not constant and linear; for "
            f"{model.activation.expression} {of_what} span finitely many functions: give groups, for example "
            "1:0.5,0.5:0.5"
        )
    free = frozenset(name for name, trivial in (("even", constant), ("odd", linear)) if not trivial)
    present = {"even": abs(even[0, 0]) > _PART * largest, "odd": abs(odd[-1, -1]) > _PART * largest}
    fixed = 0 if constant and present["even"] else 1 if linear and present["odd"] else None
    return Spanned(free, fixed)


def _polynomial(values: Array, x: Array, size: Array, parity: int) -> bool:
    """Whether a function is a polynomial of degree up to 13 on every scale of x, its rows; parity 0 even, 1 odd.

    It is a part of an activation of this size, and carries its rounding: a small part is known to no more.
    """
    basis = np.polynomial.chebyshev.chebvander(x[0] / x[0].max(), 13)[:, parity::2]
    fitted = values @ np.linalg.pinv(basis).T
    left = np.abs(fitted @ basis.T - values).max(axis=1)
    return bool(np.all(left <= _PART * size.max(axis=1)))


def _deviation(model: Model, span: Spanned, table: LetterTable, response: Response) -> Array:
    """y0 - yhat (n,): what is left of the part of y0 whose parity is not free, less its multiple of the fixed function.

    For an activation of definite parity y0 is of that parity already. V is even, since the laws are: u at kappa is -u
    at -kappa; so even and odd parts are orthogonal, and the multiple is that of E[(y0 - yhat)^2/(1 + V)] at its least.
    """
    if len(span.free) == 2 or model.activation.parity in ("odd", "even"):
        return np.zeros_like(table.y0)
    sign = 1.0 if "even" in span.free else -1.0
    opposite = conditional_moments_of(model.target, -model.alignment, model.remainder, 0.0, table.kappa).mean
    other = 0.5 * (table.y0 - sign * opposite)
    if span.fixed is not None:
        function, weights = table.kappa**span.fixed, table.weights * response.inverse
        other = other - function * float((weights * function) @ other) / float((weights * function) @ function)
    return np.asarray(other)

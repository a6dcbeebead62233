r"""The saddle-point equations (18)-(25): the free energy differentiated in each of its thirteen variables.

No equation is typed: :func:`equation` differentiates the free energy of equation (116) for any law nu and solves for
the variable that the derivative is linear in, :func:`isotropic` puts in the integrals of an isotropic bulk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import sympy as sp

from giantsteps.derivations.bulk import marchenko_pastur as bulk
from giantsteps.derivations.bulk.marchenko_pastur import ISOTROPIC
from giantsteps.derivations.free_energy.along_spike import (
    ONE_LETTER,
    PAPER,
    denominator,
    mu1,
    mu2,
    over_kappa,
    over_modes,
    varpi,
    varrho,
    vartau,
)
from giantsteps.derivations.free_energy.ridge import ENERGY, assembled
from giantsteps.derivations.free_energy.sample_energy import (
    EQUIVALENT,
    energetic,
    error_on_new,
    error_on_training,
    local_fields,
)
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.kernel.algebra import differentiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, both_expanded, expansion
from giantsteps.derivations.kernel.search.goals import concluded, follows
from giantsteps.derivations.kernel.search.steps import isolated, rewritten
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s

SELF_AVERAGING_ERRORS = "errors concentrate at their averages over the data as d grows"


def stationary(energy: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The derivative of the free energy in one variable: zero at the saddle point."""
    return sp.diff(energy, variable)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """The saddle-point equation from d Phi/d ``variable`` = 0, for any law nu."""
    title = f"stationarity in {variable}"
    return ENERGY.equation(variable, CONJUGATE[variable], title, f"{PAPER}, Section 3.3, (18)-(24)")


def at_saddle(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation from stationarity in ``variable``."""
    return equation(variable).theorem_of(CONJUGATE[variable])


Saddle = Callable[[sp.Symbol], Theorem]

# Integrals over the law nu of an isotropic bulk, for all values of the conjugates and the ridge.
_FREE = (s.V1_hat, s.V2_hat, s.ridge)
_of_spike = over_modes(varrho * vartau**2 / denominator)
_of_target = over_modes(varrho * varpi**2 / denominator)
_of_bulk, _of_ones = over_modes(varrho / denominator), over_modes(1 / denominator)


@functools.cache
def isotropic_law() -> tuple[Theorem, ...]:
    """What an isotropic bulk makes of the integrals over nu: two that do not see the directions of spike and target,
    and the Marchenko-Pastur law.
    """
    tau, pi = (
        hypothesis(f"isotropic bulk, {of}", Equation(known, _of_bulk), ISOTROPIC, *_FREE)
        for of, known in (("spike", _of_spike), ("target", _of_target))
    )
    return tau, pi, bulk.law_of_averages()


@functools.cache
def isotropic_slopes() -> tuple[Theorem, ...]:
    """The same for integrals with the resolvent squared: derivatives in V1^ and V2^, each for its left side."""
    found = []
    for theorem in isotropic_law():
        for x in (s.V1_hat, s.V2_hat):
            derivative = both_expanded(differentiate((theorem,), x), s.mode)
            (squared,) = sides(derivative.statement)[0].atoms(Expectation)
            found.append(isolated(squared, derivative))
    return tuple(found)


def traces(saddle: Saddle = at_saddle) -> tuple[Theorem, Theorem]:
    """V1 and V2 at the saddle point: the traces of the resolvent."""
    return saddle(s.q1_hat), saddle(s.q2_hat)


@functools.cache
def marchenko_pastur(saddle: Saddle = at_saddle) -> tuple[Theorem, ...]:
    """The second moments of higher order by that of the lowest, and V1 by V2: the law and its derivatives, named."""
    *_, law = isotropic_law()
    *_, along_V1, along_V2 = isotropic_slopes()
    return tuple(bulk.named(theorem, *traces(saddle)) for theorem in (along_V1, along_V2, law))


@functools.cache
def for_isotropic_rows(variable: sp.Symbol, saddle: Saddle = at_saddle) -> tuple[Theorem, Theorem]:
    """The equation from stationarity in one of zeta^, psi^, V1^, V2^ in traces of the resolvent, and solved.

    ``saddle``: the saddle-point equation from stationarity in a variable, for any law nu.
    """
    tau, pi, _ = isotropic_law()
    in_traces = bulk.named(rewritten(saddle(variable), *isotropic_slopes()[:4], tau, pi), *traces(saddle))
    across = s.q1_hat + s.beta * s.psi_hat**2
    along = s.q2_hat + s.beta * s.c * s.zeta_hat**2
    closed = {
        s.zeta: s.beta * s.c * s.V2 * s.zeta_hat,
        s.psi: s.beta * s.V1 * s.psi_hat,
        s.q1: across * s.resolvent_double + along * s.resolvent_mixed,
        s.q2: across * s.resolvent_mixed + along * s.resolvent_square,
    }
    unknown = CONJUGATE[variable]
    goal = Equation(unknown, sp.expand(closed[unknown]))
    return in_traces, follows(goal, (in_traces, *marchenko_pastur(saddle))) or in_traces


@functools.cache
def isotropic(variable: sp.Symbol) -> Derivation:
    """The saddle-point equation for isotropic rows, in the traces of the resolvent and their derivatives.

    ``variable`` is one of zeta^, psi^, V1^, V2^; the equations for V1 and V2 are the Marchenko-Pastur law itself, and
    those for the conjugates do not involve the bulk.
    """
    general = equation(variable)
    tau, pi, law = isotropic_law()
    in_traces, solution = for_isotropic_rows(variable)
    return Derivation(
        f"stationarity in {variable} for isotropic rows",
        f"{PAPER}, Section 3.3, (18)-(24)",
        *general.steps,
        proved("Isotropic rows do not tell the spike from any other direction,", tau),
        proved("nor the target.", pi),
        proved("Their spectrum is that of Marchenko and Pastur.", law),
        proved(
            f"So in the equation from ${sp.latex(variable)}$ the traces V1 and V2 and the second moments of the "
            "resolvent are left, which are minus their derivatives in the conjugates.",
            in_traces,
        ),
        proved("The law and its derivatives bring it to this form.", solution),
        hypotheses=tuple(dict.fromkeys((*general.hypotheses, ISOTROPIC))),
    )


@functools.cache
def test_error() -> Derivation:
    """Equations (25), (127)-(129): the error on a new input, from the joint Gaussian law of label and output."""
    return Derivation(
        "test error",
        f"{PAPER}, Appendix C, (127)-(129)",
        *local_fields().steps,
        *error_on_new(EQUIVALENT),
        hypotheses=(*energetic().hypotheses, SELF_AVERAGING_ERRORS),
    )


@functools.cache
def training_error() -> Derivation:
    """The training error, by the residual that the minimiser of one sample's energy leaves."""
    return Derivation(
        "training error",
        f"{PAPER}, Section 3.3",
        *energetic().steps,
        *error_on_training(EQUIVALENT),
        hypotheses=(*energetic().hypotheses, SELF_AVERAGING_ERRORS),
    )


@functools.cache
def ridge_response() -> Derivation:
    """d Phi/d lambda at the saddle point: half of |a|^2/p, by the envelope theorem."""
    base = assembled()
    rates = {x: ENERGY.partial(x) for x in (*CONJUGATE, s.ridge)}
    names = {x: sides(rate.statement)[0] for x, rate in rates.items()}
    along = [names[x] * sp.Symbol(rf"\partial_\lambda {sp.latex(x)}", real=True) for x in CONJUGATE]
    total = define(
        s.ridge_response,
        sp.Add(*along, names[s.ridge]),
        "the derivative along the saddle point, whose thirteen numbers move with the ridge",
    )
    explicit = rewritten(total, *(ENERGY.vanishing(x) for x in CONJUGATE))
    by_size = rewrite((rates[s.V2_hat], ENERGY.vanishing(s.V2_hat)))
    together = ring((rates[s.ridge], by_size), Equation(names[s.ridge], s.q2 / 2), (sp.Integer(1), sp.Integer(-1)))
    result = rewrite((explicit, together))
    return Derivation(
        "response to the ridge",
        f"{PAPER}, Appendix C, (104), (116)",
        *base.steps,
        proved("The derivative along the saddle point.", total),
        proved("There only the explicit dependence on lambda counts.", explicit),
        proved("lambda enters beside V2^, whose derivative also has -q2/2 and is zero.", together),
        proved("So the free energy grows with lambda like half the size of the readout.", result),
        hypotheses=base.hypotheses,
    )


def split(integral: sp.Expr, weights: dict[sp.Expr, sp.Expr]) -> Theorem:
    """E[f/D] = sum c E[w f/D^2] for D = sum c w: one more power of the denominator."""
    parts = tuple((constant, integral.integrand * weight) for weight, constant in weights.items())
    theorem = linear((), integral, parts)
    return averages_expanded(theorem, s.kappa, s.mode)


@functools.cache
def value() -> Derivation:
    """The stationary value: the minimum of (1/p)(1/2 sum (y - f)^2 + lambda/2 |a|^2), equation (104)."""
    base = assembled()
    energy = base.theorem_of(s.free_energy)
    half, ratio, weight = sp.Rational(1, 2), s.alpha / s.beta, ONE_LETTER.weight
    sample = over_kappa(ONE_LETTER.e2 * weight)
    empirical = ratio * over_kappa(ONE_LETTER.e2 * weight**2)
    powers = {weight: sp.Integer(1), mu1**2 * weight: s.V1, mu2**2 * weight: s.V2}
    force = s.q1_hat * s.V1 + s.q2_hat * s.V2
    of_sample = expansion(sample, s.kappa)
    of_samples = concluded(
        Equation(ratio * sample, empirical + force), split(sample, powers), at_saddle(s.V1), at_saddle(s.V2)
    )
    modes = {1 / denominator: s.ridge + s.V2_hat, varrho / denominator: s.V1_hat}
    spike = split(_of_spike, modes)
    signal = s.zeta * s.zeta_hat + s.psi * s.psi_hat
    balance = concluded(
        Equation(s.ridge * s.q2 + s.V1_hat * s.q1 + s.V2_hat * s.q2, force + signal),
        *(at_saddle(x) for x in (s.V1_hat, s.V2_hat, s.zeta_hat, s.psi_hat, s.q1_hat, s.q2_hat)),
        *(split(whole, modes) for whole in (_of_ones, _of_bulk, _of_target)),
        isolated(min(sides(spike.statement)[1].atoms(Expectation), key=sp.default_sort_key), spike),
    )
    linear_ones = {s.zeta_hat: s.zeta_hat, s.psi_hat: s.psi_hat, s.q1_hat: s.q1_hat, s.q2_hat: s.q2_hat}
    on_shell = ring(
        (averages_expanded(energy, s.mode, s.kappa), *map(at_saddle, linear_ones), of_sample),
        Equation(s.free_energy, (signal - s.V1_hat * s.q1 - s.V2_hat * s.q2 + ratio * sample) / 2),
        (sp.Integer(1), *(half * conjugate for conjugate in linear_ones), -ratio / 2),
    )
    result = ring(
        (on_shell, balance, of_samples),
        Equation(s.free_energy, (empirical + s.ridge * s.q2) / 2),
        (sp.Integer(1), -half, half),
    )
    return Derivation(
        "value of the free energy",
        f"{PAPER}, Appendix C, (104)",
        *base.steps,
        proved(
            "There the integrals over nu are half of the products with the conjugates that they are linear in.",
            on_shell,
        ),
        proved(
            "1/(1+V) = 1/(1+V)^2 + V/(1+V)^2: the energetic term is half the training error plus half of q1^ V1 + "
            "q2^ V2.",
            of_samples,
        ),
        proved(
            "The sizes of the readout by (1/p) tr[K S^-1] = (1/p) tr[S S^-1 K S^-1].",
            balance,
        ),
        proved(
            "So the free energy is the training objective per neuron: half of (alpha/beta) times the training "
            "error plus lambda |a|^2/p.",
            result,
        ),
        results={s.free_energy: sides(result.statement)[1]},
        hypotheses=base.hypotheses,
    )

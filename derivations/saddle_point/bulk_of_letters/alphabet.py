r"""A continuous alphabet over an orthogonal bulk: Appendix D, equations (161)-(164).

A letter is a function of a standard normal label, which gives it any law p(u), also one of finitely many values;
functions of the letter are functions of the label, and densities such as m(u) and zeta(u) are taken relative to p(u).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import PAPER, y0
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, reflected
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import with_partials
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters.orthogonal import (
    MOVE,
    NOISE,
    ORTHOGONAL,
    OVERLAP,
    PARTS,
    Neuron,
    across_spike,
    conjugate,
    square_of_feature,
)

# Overlap and noise of one neuron in units of their deviations, and the two Gaussian parts of its feature.
_S, _N, _x, _xi = PARTS
_energy_along, _of_label = with_partials("\\mathcal{O}_u", 4), with_partials("A_u", 3)

nu_along = sp.Function("nu", nonnegative=True)(s.kappa, s.mode)
mu0_along = sp.Function("mu0u", real=True)(s.kappa, s.mode)
mu1_along = sp.Function("mu1u", real=True)(s.kappa, s.mode)
mu2_along = sp.Function("mu2u", real=True)(s.kappa, s.mode)
V_along = sp.Function("Vk", positive=True)(s.kappa)
V_hat_along = sp.Function("Vhat", positive=True)(s.mode)
q_hat_along = sp.Function("qhat", nonnegative=True)(s.mode)
c_along = sp.Function("cu", positive=True)(s.mode)
m_along = sp.Function("mu", real=True)(s.mode)
zeta_along = sp.Function("zetau", real=True)(s.mode)
_force_along = sp.Function("e", real=True)(s.mode)
_weight_along = sp.Function("a_u", real=True)(_S, _N, s.mode)

MANY_LETTERS = (
    "sums over letters with weights pi_u converge to averages over the law of u, and the ridge cost m^2/p stays "
    "negligible"
)

LABEL = Neuron(c_along, V_hat_along, q_hat_along, _of_label, (s.mode,))


def over_alphabet(summand: sp.Expr) -> sp.Expr:
    """The average over the law of the letters that a sum with weights pi_u becomes."""
    return Expectation(summand, s.mode)


@functools.cache
def neuron_of_label() -> tuple[Theorem, Theorem, Theorem]:
    """A neuron of any letter: energy, weight and response, with the force e(u) along W v."""
    weight = LABEL.weight(OVERLAP, NOISE, s.mode) + MOVE
    along = sp.sqrt(s.p) * _force_along * OVERLAP * MOVE
    return LABEL.least(_energy_along, (s.ridge + V_hat_along) * weight**2 / 2 - along - NOISE * weight)


@functools.cache
def feature_variance() -> Theorem:
    """nu(u) as an average over a row's input and the noise of its feature."""
    return define(
        nu_along,
        Expectation(square_of_feature(c_along, mu1_along, mu2_along), _x, _xi),
        "variance of a feature of letter u given kappa",
        s.kappa,
        s.mode,
    )


_share, _size, _mean = (sp.Function(name, real=True)(s.kappa, s.mode) for name in ("V share", "q share", "mean share"))


def share(name: sp.Expr, of_neuron: sp.Expr, meaning: str) -> Theorem:
    """What one neuron of letter u has of a sum over neurons, on average."""
    return define(name, of_neuron, meaning, s.kappa, s.mode)


@functools.cache
def alphabet_response() -> tuple[Theorem, ...]:
    """V(kappa): a neuron's pull on the output through its response, averaged over the alphabet."""
    *_, moved = neuron_of_label()
    feature = square_of_feature(c_along, mu1_along, mu2_along)
    pull = share(
        _share,
        Expectation(LABEL.response * feature, _S, _N, _x, _xi),
        "what a force on a sample's output moves one neuron's share of it by",
    )
    of_letter = concluded(
        Equation(_share, nu_along / (s.ridge + V_hat_along)),
        LABEL.inserted(pull, moved),
        averages_expanded(feature_variance()),
    )
    meaning = define(V_along, over_alphabet(_share), "what a force on a sample's output moves it by", s.kappa)
    return pull, of_letter, rewrite((meaning, of_letter))


@functools.cache
def alphabet_sizes() -> tuple[Theorem, ...]:
    """q(kappa): squares of neurons, less what points along the spike."""
    _, weight, _ = neuron_of_label()
    overlap = define(zeta_along, sp.sqrt(s.p) * Expectation(LABEL.along, _S, _N), "the density of zeta", s.mode)
    by_force = rewritten(LABEL.inserted(overlap, weight), WIDTH)
    force = isolated(_force_along, equal(by_force, sp.factor(value(by_force))))
    feature = square_of_feature(c_along, mu1_along, mu2_along)
    square = share(_size, Expectation(LABEL.own**2 * feature, _S, _N, _x, _xi), "the square of one neuron's share")
    found = rewritten(LABEL.inserted(square, weight), WIDTH)
    gain = 1 / (s.ridge + V_hat_along)
    density = nu_along * (q_hat_along * gain**2 + zeta_along**2 / (s.beta * c_along))
    of_letter = concluded(Equation(_size, density), found, force, averages_expanded(feature_variance()))
    meaning = define(
        s.output_variance,
        across_spike(over_alphabet(_size), over_alphabet(mu1_along * zeta_along)),
        "variance of the output given kappa: of what the features have across the spike, and of their noise",
    )
    return overlap, force, square, of_letter, rewrite((meaning, of_letter))


@functools.cache
def alphabet_residual() -> tuple[Theorem, ...]:
    """The residual of the mean output, neuron by neuron: m(u) and zeta(u) are what weights have on average."""
    row = sp.sqrt(c_along / s.d) * _S
    weight = sp.sqrt(s.p) * _weight_along
    mean = share(
        _mean,
        Expectation(weight * (mu0_along + s.kappa * mu1_along * row), _S, _N),
        "the mean of one neuron's share of the output, by its weight and its overlap with v",
    )
    m = define(m_along, Expectation(weight, _S, _N), "the density of m", s.mode)
    zeta = define(zeta_along, Expectation(weight * row, _S, _N), "the density of zeta", s.mode)
    known = [averages_expanded(theorem, s.mode) for theorem in (mean, m, zeta)]
    of_letter = concluded(Equation(_mean, mu0_along * m_along + s.kappa * mu1_along * zeta_along), *known)
    meaning = define(s.residual, y0 - over_alphabet(_mean), "the mean label less the mean output given kappa")
    return mean, m, zeta, of_letter, rewrite((meaning, of_letter))


@functools.cache
def alphabet() -> Derivation:
    """Equations (161)-(164): every sum over letters with weights pi_u as an average over the alphabet."""
    energy, weight, moved = neuron_of_label()
    pull, of_V, V = alphabet_response()
    overlap, force, square, of_q, q = alphabet_sizes()
    mean, m, zeta, of_mean, residual = alphabet_residual()
    return Derivation(
        "continuous alphabet",
        f"{PAPER}, Appendix D, (161)-(164)",
        proved("The energy of a weight of letter u, moved by t, with a force e(u) along W v.", energy),
        proved("It is least at this weight,", weight),
        proved("which a force on the neuron moves by 1/(lambda + V^(u)).", moved),
        proved("nu_u is the variance of a feature, of its row and of its noise.", feature_variance()),
        proved("A force on a sample's output moves neurons by their features, which move the output.", pull),
        proved("A letter contributes nu_u/(lambda + V^_u).", of_V),
        proved("The sum over neurons is an average over the alphabet.", V),
        proved("zeta_u is a density times the weight of the letter in the alphabet.", overlap),
        proved("It gives the force along W v.", force),
        proved("The square of a neuron's share of the output.", square),
        proved("q_u is a density times the weight, too, the squares of zeta included.", of_q),
        proved("Averaged over the alphabet, less what points along the spike.", q),
        proved("The mean of a neuron's share of the output.", mean),
        proved("The density of m,", m),
        proved("and that of zeta,", zeta),
        proved("are what a letter contributes to the mean output.", of_mean),
        proved("The residual of the mean output.", residual),
        results=(V, q, residual),
        hypotheses=(ORTHOGONAL, MANY_LETTERS),
    )


@functools.cache
def alphabet_conjugate() -> Derivation:
    """Equation (162): V^(u) for every letter of the alphabet."""
    base = alphabet()
    cost, slope, result = conjugate(V_hat_along, nu_along, V_along)
    return Derivation(
        "conjugates of a continuous alphabet",
        base.source,
        *base.steps,
        proved("Larger weights of a letter fluctuate more by the variance of its features: what they cost.", cost),
        proved("Its slope in the size of the weights of letter u, which vanishes at the saddle point.", slope),
        proved("The conjugate of a letter, with V(kappa) of the whole alphabet.", result),
        hypotheses=base.hypotheses,
    )


_odd, _even = sp.Function("F", real=True), sp.Function("t", real=True)


@functools.cache
def no_unique_mean() -> Derivation:
    """With a symmetric alphabet and an odd mu0, any even function of the letter can be added to m(u)."""
    # An odd function of u kappa, and an even one of u.
    x = s.mode * s.kappa
    change = over_alphabet(x * _odd(x**2) * _even(s.mode**2))
    meaning = define(s.output_change, change, "mu0 of letter u times the change t(u) of m(u), over the alphabet")
    negated = reflected(change, s.mode)
    itself = rewrite((negated, linear((), value(negated), ((sp.Integer(-1), change.integrand),))))
    vanishes = rewritten(meaning, isolated(change, itself))
    return Derivation(
        "m(u) is not unique",
        f"{PAPER}, Appendix D, (161)-(162)",
        proved(
            "mu0 of letter u is an odd function of u kappa; a change t(u) of m(u), even in u, changes the mean output "
            "by the average of an odd function of u.",
            meaning,
        ),
        proved("Over a symmetric alphabet u and -u have one law, at which the integrand is its own negative,", itself),
        proved("so that the average is zero.", vanishes),
    )

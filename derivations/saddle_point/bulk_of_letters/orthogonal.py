r"""A finite vocabulary over an orthogonal bulk: Appendix D, equations (158)-(160), gamma = 1.

With W_u W_u'^T = c_u delta_uu' the traces of (155)-(156) are elementary. One thing is not: W_u Pi W_u'^T lacks
s_u s_u'^T, s_u = W_u v, and since the signal points along s this rank-one term counts at leading order, in zeta and q.

One neuron is enough: its weight A(s, h) is where the readout's energy is least, with its overlap s = w.v and the noise
h that the data put on it; a letter's sums over neurons are averages over S and N, s = sqrt(c/d) S and h = sqrt(q^) N.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.free_energy.along_spike import PAPER, over_kappa
from giantsteps.derivations.free_energy.assumptions import STATIONARY, unfolded
from giantsteps.derivations.free_energy.envelopes import stationary_at
from giantsteps.derivations.gradient_step.assumptions import WIDTH, concentrates
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import PARTIALS, repeated, with_partials, with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import mu1_of, mu2_of

SOURCE = f"{PAPER}, Appendix D, (158)-(160)"
ORTHOGONAL = "the rows of the bulk are orthogonal, with squared norm c_u, and v is spread evenly over them"

# Variance of a feature of each letter given kappa, c mu1^2 + mu2^2.
variance = tuple(s.c_of[a] * mu1_of[a] ** 2 + mu2_of[a] ** 2 for a in LETTERS)

_ZERO = sp.Integer(0)
# Overlap and noise of one neuron in units of their deviations, and the two Gaussian parts of its feature.
_S, _N, _x, _xi = PARTS = sp.symbols("S N x xi", real=True)
OVERLAP, NOISE, MOVE = sp.symbols("s h t", real=True)
_energy, _of_letter = with_partials("\\mathcal{O}", 3), with_partials("A", 2)


@dataclass(frozen=True)
class Neuron:
    """One neuron: bulk variance, curvature, noise and weight, and the arguments besides s and h that it depends on."""

    c: sp.Expr
    V_hat: sp.Expr
    q_hat: sp.Expr
    weight: sp.FunctionClass
    others: tuple[sp.Symbol, ...] = ()

    def at(self, function: sp.FunctionClass) -> sp.Expr:
        """A function of s and h at s = sqrt(c/d) S and h = sqrt(q^) N."""
        return function(*self.drawn.values(), *self.others)

    @property
    def drawn(self) -> dict[sp.Symbol, sp.Expr]:
        """s and h in units of their deviations: v is spread evenly over rows of squared norm c."""
        return {OVERLAP: sp.sqrt(self.c / s.d) * _S, NOISE: sp.sqrt(self.q_hat) * _N}

    @property
    def own(self) -> sp.Expr:
        """The weight of the neuron."""
        return self.at(self.weight)

    @property
    def along(self) -> sp.Expr:
        """sqrt(p) times what the neuron has of a.W v/sqrt(p)."""
        return self.drawn[OVERLAP] * self.own

    @property
    def response(self) -> sp.Expr:
        """How far a force on the neuron moves its weight: its entry of S^-1."""
        return self.at(PARTIALS[self.weight][1])

    def least(self, energy: sp.FunctionClass, move: sp.Expr) -> tuple[Theorem, Theorem, Theorem]:
        """The energy of a move of the weight, the weight where it is least, and its response to a force."""
        arguments = (OVERLAP, NOISE, *self.others)
        meaning = define(
            energy(MOVE, *arguments), move, "the energy of the readout, its weight moved by t", MOVE, *arguments
        )
        reference = "the readout is where its energy is least, so that no move of one weight changes it at first order"
        at_least = stationary_at(_ZERO, meaning, MOVE, "least energy", reference, *arguments)
        weight = isolated(self.weight(*arguments), at_least)
        tidy = equal(weight, sp.factor(value(weight)))
        return meaning, tidy, differentiate((tidy,), NOISE)

    def inserted(self, theorem: Theorem, *of_weight: Theorem) -> Theorem:
        """``theorem`` with what weight and response of the neuron are, averages expanded."""
        return averages_expanded(rewritten(theorem, *(instantiate((t,), self.drawn) for t in of_weight)), s.mode)


def taken_out(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """-(1/2) sum over two letters of V1^ (s.a)(s.a): W Pi W^T is W W^T less s s^T."""
    own, mixed, other = (s.V1_hat_of[a][b] for a, b in PAIRS)
    return -(own * first**2 + 2 * mixed * first * second + other * second**2) / 2


LETTER = Neuron(s.c_of[0], s.V_hat_of_letter[0], s.q_hat_of_letter[0], _of_letter)
_force = sp.Symbol("e_1", real=True)
FORCE = define(
    _force,
    s.zeta_hat_of[0] + sum(s.V1_hat_of[0][b] * s.zeta_of[b] for b in LETTERS),
    "the force along W v: the signal's, and what the direction that Pi takes out feeds back",
)


def over_letter(of_neuron: sp.Expr) -> sp.Expr:
    """The sum over the p pi_1 neurons of letter 1."""
    return repeated(s.p * s.fraction[0], of_neuron)


@functools.cache
def neuron() -> tuple[Theorem, Theorem, Theorem]:
    """A neuron of letter 1: energy, weight and response; s.a is sqrt(p) zeta_1, moved by s t."""
    along = sp.sqrt(s.p) * s.zeta_of[0] + OVERLAP * MOVE
    weight = LETTER.weight(OVERLAP, NOISE) + MOVE
    move = (s.ridge + LETTER.V_hat) * weight**2 / 2 + taken_out(along, sp.sqrt(s.p) * s.zeta_of[1])
    energy, least, _ = LETTER.least(_energy, move - sp.sqrt(s.p) * s.zeta_hat_of[0] * along - NOISE * weight)
    tidy = (sp.sqrt(s.p) * OVERLAP * _force + NOISE) / (s.ridge + LETTER.V_hat)
    named = concluded(Equation(sides(least.statement)[0], tidy), least, FORCE)
    return energy, named, differentiate((named,), NOISE)


@functools.cache
def response() -> Derivation:
    """V_u = pi_u/(lambda + V^_u)."""
    energy, weight, moved = neuron()
    meaning = define(s.V_of_letter[0], over_letter(LETTER.response) / s.p, "(1/p) tr S^-1 over the letter's neurons")
    result = LETTER.inserted(unfolded(meaning), moved)
    return Derivation(
        "response over an orthogonal bulk",
        SOURCE,
        proved(
            "Over an orthogonal bulk the energy of a neuron's weight, moved by t, is (lambda + V^_u)/2 times its "
            "square, less what Pi takes out along s = W v, less the forces along s and of the noise.",
            energy,
        ),
        proved("It is least where the weight is G (sqrt(p) s e + h), G = 1/(lambda + V^_u).", weight),
        proved("A force on a neuron moves it by G: finitely many directions that all neurons share are O(1/p).", moved),
        proved("Summed over the neurons of a letter.", result),
        hypotheses=(ORTHOGONAL,),
    )


@functools.cache
def _overlap_of_letter() -> tuple[Theorem, Theorem]:
    """zeta_1 as the sum over its neurons, and in the force along W v."""
    summed = Equation(s.zeta_of[0], over_letter(Expectation(LETTER.along, _S, _N)) / sp.sqrt(s.p))
    meaning = concentrates("overlap of a letter", summed, ORTHOGONAL)
    found = rewritten(LETTER.inserted(unfolded(meaning), neuron()[1]), WIDTH)
    return meaning, equal(found, sp.factor(value(found)))


@functools.cache
def spike() -> Derivation:
    """zeta_u with the rank-one term kept: zeta = X (zeta^ + V1^ zeta), X = diag(beta c_u V_u)."""
    base = response()
    V = base.theorem_of(s.V_of_letter[0])
    meaning, by_force = _overlap_of_letter()
    x = s.beta * s.c_of[0] * s.V_of_letter[0]
    by_response = concluded(Equation(s.zeta_of[0], x * _force), by_force, V)
    fed_back = rewritten(by_response, FORCE)
    solved = isolated(s.zeta_of[0], fed_back)
    result = equal(solved, sp.factor(value(solved)))
    return Derivation(
        "spike over an orthogonal bulk",
        SOURCE,
        *base.steps,
        proved("The overlap of the letter is a sum over its neurons, p pi_1 of them.", meaning),
        proved("s is of variance c/d: zeta is the force along W v times beta c V.", by_response),
        proved("W Pi W^T = W W^T - s s^T: what all letters have along W v acts back.", fed_back),
        proved("Solved for the letter's own overlap.", result),
        hypotheses=(ORTHOGONAL,),
    )


@functools.cache
def sizes() -> Derivation:
    """q_u: noise through the resolvent squared, signal through zeta."""
    _, by_force = _overlap_of_letter()
    force = isolated(_force, by_force)
    meaning = define(s.q2_of[0], over_letter(Expectation(LETTER.own**2, _S, _N)) / s.p, "|a|^2/p over the neurons")
    found = rewritten(LETTER.inserted(unfolded(meaning), neuron()[1]), WIDTH)
    size = s.fraction[0] * s.q_hat_of_letter[0] / (s.ridge + s.V_hat_of_letter[0]) ** 2
    size += s.zeta_of[0] ** 2 / (s.beta * s.c_of[0] * s.fraction[0])
    result = concluded(Equation(s.q2_of[0], size), found, force)
    return Derivation(
        "sizes over an orthogonal bulk",
        SOURCE,
        *spike().steps,
        proved("The square of the weights, summed over the letter's neurons.", meaning),
        proved("Signal and noise do not mix.", found),
        proved("The force in terms of zeta: it is zeta over beta c_u V_u.", force),
        proved("So the signal's part is zeta_u^2/(beta c_u pi_u).", result),
        hypotheses=(ORTHOGONAL,),
    )


_any_weight = tuple(sp.Function(f"A_{a + 1}", real=True)(_S, _N) for a in LETTERS)


def square_of_feature(c: sp.Expr, linear: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """(mu1 w.x + mu2 xi)^2 for a row of squared norm c, w.x = sqrt(c) times a standard normal variable."""
    return (linear * sp.sqrt(c) * _x + rest * _xi) ** 2


def across_spike(squares: sp.Expr, along: sp.Expr) -> sp.Expr:
    """|Pi y|^2 = |y|^2 - (v.y)^2."""
    return squares - along**2


@functools.cache
def output_variance() -> Derivation:
    """q(kappa) in the sizes and overlaps of the letters."""
    squares, along, names = [], [], []
    for a, weight in zip(LETTERS, _any_weight, strict=True):
        neurons, row = s.p * s.fraction[a], sp.sqrt(s.c_of[a] / s.d) * _S
        pull = weight**2 * square_of_feature(s.c_of[a], mu1_of[a], mu2_of[a])
        squares.append(repeated(neurons, Expectation(pull, _S, _N, _x, _xi)) / s.p)
        overlap = repeated(neurons, Expectation(row * weight, _S, _N)) / sp.sqrt(s.p)
        along.append(mu1_of[a] * overlap)
        names.append(define(s.zeta_of[a], overlap, "a.W v/sqrt(p) over the neurons"))
        size = repeated(neurons, Expectation(weight**2, _S, _N)) / s.p
        names.append(define(s.q2_of[a], size, "|a|^2/p over the neurons"))
    meaning = define(
        s.output_variance,
        across_spike(sp.Add(*squares), sp.Add(*along)),
        "variance of the output given kappa: of what the features have across the spike, and of their noise",
    )
    counted = averages_expanded(unfolded(meaning))
    known = [averages_expanded(unfolded(name)) for name in names]
    expected = sum(variance[a] * s.q2_of[a] for a in LETTERS) - sum(mu1_of[a] * s.zeta_of[a] for a in LETTERS) ** 2
    result = concluded(Equation(s.output_variance, expected), counted, *known)
    return Derivation(
        "output over an orthogonal bulk",
        SOURCE,
        *sizes().steps,
        proved(
            "Rows are orthogonal: squares of neurons add up. Of the sum of all rows, weighted, Pi takes out what it "
            "has along v.",
            meaning,
        ),
        proved("Feature and weight of a neuron are independent given the data.", counted),
        *each_proved("Its sums have names.", known),
        proved("q(kappa) is the sum of nu_u q_u less what points along the spike.", result),
        hypotheses=(ORTHOGONAL,),
    )


_weights_cost, _weights_slope, _ = with_slopes("\\mathcal{C}")
_rest = sp.Function("e2", real=True)(s.kappa)
_more = sp.Symbol("x", real=True)


def conjugate(V_hat: sp.Expr, of_feature: sp.Expr, V: sp.Expr) -> tuple[Theorem, ...]:
    """V^_u by stationarity of the free energy in the size of the weights of one letter."""
    energy = s.alpha / s.beta * over_kappa((_rest + _more * of_feature) / (2 * (1 + V)))
    meaning = define(
        _weights_cost(_more),
        energy - _more * V_hat / 2,
        "what of the free energy knows how large the weights of a letter are, which are made larger by x",
        _more,
    )
    slope = instantiate((differentiate((meaning,), _more),), {_more: _ZERO})
    stationary = hypothesis("stationary saddle point", Equation(_weights_slope(_ZERO), _ZERO), STATIONARY)
    found = isolated(V_hat, rewrite((stationary, slope)))
    whole = s.alpha / s.beta * over_kappa(of_feature / (1 + V))
    return meaning, slope, concluded(Equation(V_hat, whole), averages_expanded(found, s.kappa))


_V_of = sp.Function("V", nonnegative=True)(s.kappa)
_any_response = tuple(sp.Function(f"G_{a + 1}", nonnegative=True)(_S, _N) for a in LETTERS)


@functools.cache
def averaged() -> Derivation:
    """V(kappa) from the responses of the letters, and V^_u."""
    squares, names = [], []
    for a, moved in zip(LETTERS, _any_response, strict=True):
        pull = moved * square_of_feature(s.c_of[a], mu1_of[a], mu2_of[a])
        squares.append(s.fraction[a] * Expectation(pull, _S, _N, _x, _xi))
        trace = s.fraction[a] * Expectation(moved, _S, _N)
        names.append(define(s.V_of_letter[a], trace, "(1/p) tr S^-1 over the neurons"))
    meaning = define(_V_of, sp.Add(*squares), "what a force on a sample's output moves it by", s.kappa)
    total = sum(variance[a] * s.V_of_letter[a] for a in LETTERS)
    V = concluded(Equation(_V_of, total), averages_expanded(meaning), *names)
    cost, slope, by_V = conjugate(s.V_hat_of_letter[0], variance[0], _V_of)
    result = rewritten(by_V, V)
    return Derivation(
        "features over an orthogonal bulk",
        SOURCE,
        *response().steps,
        proved("A force on a sample's output moves neurons by their features, which move the output.", meaning),
        proved(
            "Summed over the neurons of each letter: mu1 and mu2 enter together, as the variance nu_u of a feature.", V
        ),
        proved("Larger weights of a letter fluctuate more by the variance of its features: what they cost.", cost),
        proved("Its slope vanishes at the saddle point.", slope),
        proved("The conjugate of the letter, which is c_u V1^_uu + V2^_u, since |w|^2 = c_u.", result),
        hypotheses=(ORTHOGONAL,),
    )

r"""A readout that starts from a finite vocabulary: Appendix D, equations (139)-(157).

Neurons fall into groups by the letter u of their initial readout weight; each group has its own functions
:math:`\mu_0^u, \mu_1^u, \mu_2^u` along the spike. Two letters are written out: every sum over letters shows both, and
every equation for one letter or a pair of letters reads the same with more. The label is any
y = g(gamma kappa + sqrt(rho) z) + noise; the paper's gamma = 1 is y1 = 0, and then psi = 0.

Features and outputs of a readout with a finite vocabulary: Appendix D, equations (133)-(143).

A neuron of letter u has spike r u and bulk variance c_u: everything of Section 3.2 holds for it with these two numbers.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, error_on_new
from giantsteps.derivations.free_energy.stationarity import EXCHANGE, at_rest, derivative
from giantsteps.derivations.gradient_step.bulk import bulk, cross_term, row_correction
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import by_ring, equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import (
    FIELDS,
    GRAM,
    RESOLVENT,
    ROUND,
    SOURCE,
    VOCABULARY,
    assembled,
    curvature,
    energetic,
    entropic,
    forces,
    inverse,
    mu0_of,
    mu1_of,
    mu2_of,
    of_conjugates,
    readouts,
)

_covariance = (sp.symbols("K_11 K_12", real=True), sp.symbols("K_12 K_22", real=True))

# Differentiating in the first gives the equation for the second.
CONJUGATE: dict[sp.Symbol, sp.Symbol] = (
    {s.m_of[a]: s.m_of[a] for a in LETTERS}
    | {s.zeta_of[a]: s.zeta_hat_of[a] for a in LETTERS}
    | {s.psi_of[a]: s.psi_hat_of[a] for a in LETTERS}
    | {s.q2_of[a]: s.V2_hat_of[a] for a in LETTERS}
    | {s.V2_of[a]: s.q2_hat_of[a] for a in LETTERS}
    | {s.q1_of[a][b]: s.V1_hat_of[a][b] for a, b in PAIRS}
    | {s.V1_of[a][b]: s.q1_hat_of[a][b] for a, b in PAIRS}
)
HATS = frozenset(CONJUGATE.values()) - frozenset(s.m_of)
CONJUGATE |= {unknown: variable for variable, unknown in CONJUGATE.items() if variable != unknown}


@functools.cache
def explicit_entropic() -> tuple[Theorem, ...]:
    """The entropic term in the conjugates V1^, V2^, for one given bulk: tr[K S^-1]/2p, K = q^ + p s^ s^T + p t^ t^T."""
    *_, kept = readouts()
    covariance = tuple(
        define(
            _covariance[a][b],
            of_conjugates(s.q1_hat_of, s.q2_hat_of, a, b) + sum(force[a] * force[b] for force in forces()),
            "the second moment of the forces on two neurons, without s.G t",
        )
        for a, b in PAIRS
    )
    trace = sum(_covariance[a][b] * RESOLVENT[a][b] for a, b in ROUND) / (2 * s.p)
    by_trace = concluded(Equation(s.entropic_term, trace), kept, *covariance)
    return (*covariance, rewritten(by_trace, *inverse(), *curvature()))


def entropic_slope(variable: sp.Symbol) -> Theorem:
    """The entropic term in a form that shows ``variable``: V1^, V2^ move the resolvent, the others forces and noise."""
    if variable in (*s.V2_hat_of, *(s.V1_hat_of[a][b] for a, b in PAIRS)):
        return explicit_entropic()[-1]
    return entropic().theorem_of(s.entropic_term)


@functools.cache
def double_traces() -> dict[sp.Symbol, Theorem]:
    """(1/p) tr[W Pi W^T G K G] and (1/p) tr[G K G] over blocks of one given bulk."""
    G, K = (sp.Matrix(2, 2, lambda a, b, of=of: of[a][b]) for of in (RESOLVENT, _covariance))
    product = G * K * G
    found = {
        s.double_block[a][b]: define(
            s.double_block[a][b], GRAM[a][b] * product[a, b] / s.p, "(1/p) tr[W Pi W^T G K G] over a block"
        )
        for a, b in PAIRS
    }
    return found | {
        s.double_letter[a]: define(s.double_letter[a], product[a, a] / s.p, "(1/p) tr[G K G] over a letter's neurons")
        for a in LETTERS
    }


def double_of(unknown: sp.Symbol) -> sp.Symbol | None:
    """The trace with two resolvents that an overlap is."""
    names = {s.q1_of[a][b]: s.double_block[a][b] for a, b in PAIRS} | dict(zip(s.q2_of, s.double_letter, strict=True))
    return names.get(unknown)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (155)-(156): stationarity of the free energy in one variable, the traces of one given bulk kept."""
    base, unknown = assembled(), CONJUGATE[variable]
    energy = base.theorem_of(s.free_energy)
    shown = rewritten(energy, entropic_slope(variable)) if variable in HATS else energy
    rate = derivative(shown, variable)
    solution = isolated(unknown, rewrite((rate, at_rest(rate))))
    double = double_of(unknown)
    names: tuple[Theorem, ...] = ()
    if double is not None:
        covariance = explicit_entropic()[:-1]
        names = (double_traces()[double], *covariance)
        of_traces = concluded(Equation(double, value(solution)), names[0], *inverse(), *curvature())
        solution = rewrite((solution, of_traces), True)
    return Derivation(
        f"stationarity in {variable}",
        f"{SOURCE}, (155)-(156)",
        *base.steps,
        proved("The free energy, with what knows this variable of the entropic term.", shown),
        proved(f"Its derivative in ${sp.latex(variable)}$; G = S^-1 moves by -G dS G when S moves by dS.", rate),
        proved("It vanishes at the saddle point.", at_rest(rate)),
        *each_proved("A trace with two resolvents.", names),
        proved(f"It is linear in ${sp.latex(unknown)}$.", solution),
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


@functools.cache
def test_error() -> Derivation:
    """Equation (157): the error on a new input; at gamma = 1 it is E[b^2 + q]."""
    return Derivation(
        "test error of several letters",
        f"{SOURCE}, (157)",
        *energetic().steps,
        *error_on_new(FIELDS),
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )


FEATURES_SOURCE = f"{PAPER}, Appendix D"


_received = sp.Function("w'.x", real=True)(s.z)


@functools.cache
def scaling() -> Derivation:
    """The note after equation (138): with one bulk variance the functions of a letter are mu_j(u kappa)."""
    received = define(
        _received, split_input(s.letter[0] * s.r, sp.sqrt(s.c) * s.z), "what a neuron of the letter receives", s.z
    )
    meaning = define(mu0_of[0], Expectation(sigma(_received), s.z), "the mean feature of a letter given kappa", s.kappa)
    result = rewrite((meaning, received))
    return Derivation(
        "one letter's functions",
        f"{FEATURES_SOURCE}, (136)-(138)",
        proved("A neuron of letter u has the spike r u and, here, the bulk variance c of all.", received),
        proved("Its mean feature given kappa.", meaning),
        proved("The letter enters through r u kappa only, so mu0 of a letter is mu0 at u kappa.", result),
    )


def split_input(along: sp.Expr, across: sp.Expr) -> sp.Expr:
    """w.x for x = kappa v + x_perp: kappa w.v + w.x_perp."""
    return s.kappa * along + across


@functools.cache
def output() -> Derivation:
    """Equations (139)-(140), (142): the output of a readout in the order parameters of the letters."""
    # Two neurons of letter 1 and one of letter 2: the output is a sum over neurons, so their number does not matter.
    neurons = ((0, "1"), (0, "2"), (1, "3"))
    a, along, across, noise = (
        {k: sp.Symbol(f"{name}_{{{k}}}", real=True) for _, k in neurons} for name in ("a", "s", "t", "xi")
    )
    root = sp.sqrt(s.p)
    features = {k: mu0_of[u] + mu1_of[u] * split_input(along[k], across[k]) + mu2_of[u] * noise[k] for u, k in neurons}

    def by_letter(weights: dict[str, sp.Expr]) -> list[sp.Expr]:
        return [sum(a[k] * weights[k] for u, k in neurons if u == letter) / root for letter in LETTERS]

    linear, rest = by_letter(across), by_letter(noise)
    total = define(s.letter_output, sum(a[k] * features[k] for _, k in neurons) / root, "the readout of the features")
    field = define(
        s.letter_field,
        sum(mu1_of[u] * linear[u] + mu2_of[u] * rest[u] for u in LETTERS),
        "what x_perp and xi give",
    )
    ones = by_letter(dict.fromkeys(a, sp.S.One))
    names = [
        define(m, found, "1.a/sqrt(p) over the neurons of a letter") for m, found in zip(s.m_of, ones, strict=True)
    ]
    names += [
        define(zeta, found, "a.W v/sqrt(p) over the neurons of a letter")
        for zeta, found in zip(s.zeta_of, by_letter(along), strict=True)
    ]
    result = by_ring(Equation(s.letter_output, VOCABULARY.fit + s.letter_field), total, field, *names)
    return Derivation(
        "output by letters",
        f"{FEATURES_SOURCE}, (139)-(142)",
        proved(
            "A neuron of letter u sees w.x = kappa w.v + w.x_perp. Two neurons of one letter and one of the other are "
            "shown.",
            total,
        ),
        *each_proved("Neurons collected by letter: m_u and zeta_u are sums over its neurons.", names),
        proved("The local field is what x_perp and xi give.", field),
        proved("The output is the sum over letters, in the names of the order parameters.", result),
    )


_replica, _apart, _together = sp.symbols(r"a^{(i)}_{k} \langle{a}a'\rangle \langle{aa}\rangle", real=True)


@functools.cache
def gibbs() -> Derivation:
    """Equations (147)-(148) for the square loss: given the data, replicas are independent Gaussian variables."""
    u, v = sp.symbols("u v", real=True)
    B, S, mean = s.inverse_temperature, s.curvature_entry, s.minimum_entry
    first, second = mean + u / sp.sqrt(B * S), mean + v / sp.sqrt(B * S)
    drawn = define(_replica, first, "a replica of the readout weight, with u standard normal")
    density = by_ring(Equation(B * S * (_replica - mean) ** 2 / 2, u**2 / 2), drawn)
    two = averages_expanded(define(_apart, Expectation(first * second, u, v), "the second moment of two replicas"))
    one = averages_expanded(define(_together, Expectation(first**2, u), "that of one replica with itself"))
    meaning = define(
        s.gibbs_moment, _apart + s.replica_delta * (_together - _apart), "either, delta = 1 for one replica"
    )
    found = rewritten(meaning, two, one)
    result = equal(found, sp.expand(value(found)))
    return Derivation(
        "replicas of the square loss",
        f"{FEATURES_SOURCE}, (147)-(148)",
        proved("In the basis of the Hessian the loss is S (a - a^)^2/2: a replica is a^ + u/sqrt(B S),", drawn),
        proved("since B times the loss is then u^2/2, u standard normal.", density),
        proved("Two replicas share the minimum only;", two),
        proved("a replica with itself has 1/(B S) more.", one),
        proved("Both in one formula.", meaning),
        proved("With what they are.", result),
    )


@functools.cache
def row_norm() -> Derivation:
    """The bulk variance of a letter, from that of a readout of ones (equations (36) and (133))."""
    base, once = bulk(), s.letter[0]
    limits = (row_correction().theorem_of(s.delta_square), cross_term().theorem_of(s.delta_cross))
    meaning = define(
        s.c_of[0], 1 + once**2 * s.delta_square + 2 * once * s.delta_cross, "the limit of |w + u delta|^2, with |w| = 1"
    )
    result = rewritten(meaning, *limits)
    return Derivation(
        "bulk variance of a letter",
        f"{FEATURES_SOURCE}, (133)",
        *base.steps,
        proved(
            "The step of a neuron is proportional to its initial readout weight: u times delta, that of a readout of "
            "ones.",
            meaning,
        ),
        proved("|delta|^2 is known from a readout of ones, and the cross term vanishes.", result),
        hypotheses=base.hypotheses,
    )

r"""The readout of a network with a vocabulary and biases: what stationarity and norms add. Beyond the paper.

The log-determinant of S gives T and tau as its gradient, the entropic term q1 and q2 as its slopes; a neuron's mean
depends on the norm of its row, so that every group brings a third function along the spike.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from giantsteps.derivations.bulk import network as bulk
from giantsteps.derivations.bulk.blocks import IDENTITY, LETTERS, PAIRS, C, Theta, mixed_matrix, shift, theta, traces_of
from giantsteps.derivations.bulk.letters import ROWS_OF_GROUPS, SOURCE, form, gain_of_tau, over_spectrum, traces
from giantsteps.derivations.free_energy.along_spike import over_kappa, y0, y1
from giantsteps.derivations.free_energy.stationarity import BALANCE
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, both_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import FIELDS, VOCABULARY, mu0_of, mu1_of, mu2_of

third_of = tuple(sp.Function(f"k2_{a + 1}", real=True)(s.kappa) for a in LETTERS)

# V(kappa) of Appendix D, the variance of a local field.
variance = sp.Function("Vk", positive=True)(s.kappa)

WITH_NORMS = "conditional Gaussian equivalence of the features in every group (Result 3.2), with d mu0/dc beside mu0"


@functools.cache
def log_determinant() -> Derivation:
    """(1/p) ln det S: right without a bulk, and its slopes in D and C are tau and T."""
    determinant = sp.expand((IDENTITY + C * Theta).det())
    separate = sum(
        shift[a] * s.V2_of[a] - s.fraction[a] - s.fraction[a] * sp.log(s.V2_of[a] / s.fraction[a]) for a in LETTERS
    )
    L = separate + over_spectrum(sp.log(determinant)) / s.beta
    M, t = mixed_matrix(), s.beta * traces_of()

    # Slopes of the integrand (1/beta) ln det(1 + C Theta): in tau_a through theta_a = beta tau_a b_a.
    in_tau = [
        sp.diff(sp.log(determinant), theta[a]) * sp.diff(s.row_gain[a].subs(gain_of_tau), s.V2_of[a]) * form[a] / s.beta
        - form[a] * M[a, a]
        for a in LETTERS
    ]
    in_C = [
        sp.diff(sp.log(determinant), s.V1_hat_of[a][b]) - (1 if a == b else 2) * t[a, b] for a, b in PAIRS
    ]  # fmt: skip
    empty = dict.fromkeys(C, sp.S.Zero) | {s.V2_of[a]: s.fraction[a] / shift[a] for a in LETTERS}
    at_zero = expand_expectations(L.subs(empty, simultaneous=True)) - sum(
        s.fraction[a] * sp.log(shift[a]) for a in LETTERS
    )
    steps = (
        *traces().steps,
        Step(
            "Without a bulk S is lambda + D.",
            sp.Eq(sp.Symbol(r"\frac{1}{p}\ln\det(\lambda+D)"), sum(s.fraction[a] * sp.log(shift[a]) for a in LETTERS)),
            Vanishing("the potential at C = 0", sp.expand_log(at_zero, force=True)),
        ),
        Step(
            "The slopes of (1/p) ln det S in D_a and C_ab are tau_a and T_ab, twice that off the diagonal; those of "
            "the potential are the same, because it is stationary in tau where tau solves its equation.",
            eq(s.log_det_of_rows, L),
            *(
                Vanishing(f"stationary in tau_{a + 1}: the slope of the average is the form of a row", sp.together(x))
                for a, x in enumerate(in_tau)
            ),
            *(
                Vanishing(
                    f"stationary in tau_{a + 1}: the rest",
                    sp.diff(separate, s.V2_of[a]) - shift[a] + s.fraction[a] / s.V2_of[a],
                )
                for a in LETTERS
            ),
            *(Vanishing(f"its slope in D_{a + 1}", sp.diff(separate, s.V2_hat_of[a]) - s.V2_of[a]) for a in LETTERS),
            *(
                Vanishing(f"its slope in C_{a + 1}{b + 1}", sp.together(x))
                for (a, b), x in zip(PAIRS, in_C, strict=True)
            ),
        ),
    )
    return Derivation(
        "log-determinant of a network's groups",
        SOURCE,
        *steps,
        results={s.log_det_of_rows: L},
        hypotheses=(ROWS_OF_GROUPS,),
    )


@functools.cache
def sizes() -> Derivation:
    """q2 and q1 are minus the slopes of twice the entropic term: one given bulk, one neuron per group."""
    own, mixed_gram, D = sp.symbols("o_1 o_2", positive=True), sp.Symbol("o_12", real=True), s.V2_hat_of
    S = sp.Matrix(
        [
            [s.ridge + D[0] + C[0, 0] * own[0], C[0, 1] * mixed_gram],
            [C[0, 1] * mixed_gram, s.ridge + D[1] + C[1, 1] * own[1]],
        ]
    )
    J = sp.Matrix(sp.symbols("J_1 J_2", real=True))
    readout = S.inv(method="ADJ") * J
    twice = (J.T * readout)[0]
    results = {s.q2_of[0]: -s.entropic_slope_own, s.q1_of[0][1]: -s.entropic_slope_mixed / 2}
    steps = (
        Step(
            "The readout is S^-1 J, and twice the entropic term is the average of J.S^-1 J/p: moving D_1 moves S on "
            "the neurons of group 1.",
            eq(s.q2_of[0], results[s.q2_of[0]]),
            Vanishing("the slope in D_1 is minus a_1^2", sp.together(sp.diff(twice, D[0]) + readout[0] ** 2)),
        ),
        Step(
            "Moving C_12 moves both blocks of S between the groups, by the products of their rows.",
            eq(s.q1_of[0][1], results[s.q1_of[0][1]]),
            Vanishing(
                "the slope in C_12 is minus twice a_1 a_2 w_1.w_2",
                sp.together(sp.diff(twice, C[0, 1]) + 2 * readout[0] * readout[1] * mixed_gram),
            ),
        ),
    )
    return Derivation("sizes of a readout as slopes", SOURCE, *steps, results=results, hypotheses=(ROWS_OF_GROUPS,))


def third_function() -> Derivation:
    """k2 of a group: d/dc of E sigma(r u kappa + b + sqrt(c) z)."""
    centre = s.r * s.letter[0] * s.kappa + s.bias_of[0]
    return bulk.third_function(s.third_of, centre, s.c_of[0], "what a group's mean gains from unequal norms", SOURCE)


NETWORK = replace(VOCABULARY, norms=tuple(zip(third_of, s.chi_of, strict=True)))
# yhat(kappa) by name, where its parts do not matter.
fit = sp.Function("yhat", real=True)(s.kappa)


def errors() -> Derivation:
    """Test and training error with the third functions."""
    new = replace(FIELDS, mean=NETWORK.fit, squared=NETWORK.e2)
    training = replace(FIELDS, mean=fit, variance=variance, squared=NETWORK.e2_of(fit))
    return bulk.errors(new, training, "the errors of a network with a vocabulary", SOURCE, (ROWS_OF_GROUPS, WITH_NORMS))


_cost_of_mean, _slope_of_mean, _ = with_slopes("cost of m")
_m = sp.Symbol("m_0", real=True)


@functools.cache
def readout_mean() -> Derivation:
    """m of a group: the force along its constant vector vanishes."""
    moved = replace(NETWORK, m=(_m, *NETWORK.m[1:])).e2
    cost = define(
        _cost_of_mean(_m),
        over_kappa(moved / (2 * (1 + variance))),
        "what a sample costs as a function of the mean of group 1's readout",
        _m,
    )
    slope = instantiate((differentiate((cost,), _m),), {_m: s.m_of[0]})
    stationary = hypothesis("stationary saddle point", Equation(_slope_of_mean(s.m_of[0]), sp.Integer(0)), BALANCE)
    balance = both_expanded(rewrite((stationary, slope)), s.kappa)
    result = isolated(s.m_of[0], balance)
    return Derivation(
        "the mean of one letter's readout",
        SOURCE,
        proved("The cost of a sample.", cost),
        proved("Its slope in m: a readout that is uniform on group 1 costs O(1/p), so that it vanishes.", slope),
        proved("Linear in m.", result),
        hypotheses=(ROWS_OF_GROUPS, WITH_NORMS),
    )


_spike, _target, _tied = (sp.symbols(f"{x}_1 {x}_2", real=True) for x in ("s", "t", r"\delta"))
_resolvent, _readout = sp.symbols("G_11 G_12", real=True), sp.Symbol("a_1", real=True)
_xi = sp.Symbol("xi_i", real=True)
_pull = tuple(sp.Function(f"J_{b + 1}", real=True)(s.kappa) for b in LETTERS)


@functools.cache
def pulls() -> tuple[Theorem, ...]:
    """What a sample pulls on a neuron of each group with: its feature times its residual, at given kappa."""
    gap = y0 - fit + y1 * s.z
    found = []
    for b in LETTERS:
        feature = mu0_of[b] + _tied[b] * third_of[b] + mu1_of[b] * (s.kappa * _spike[b] + _target[b] * s.z)
        meaning = define(
            _pull[b],
            Expectation((feature + mu2_of[b] * _xi) * gap, s.z, _xi),
            "the mean of a neuron's feature times the sample's residual, that of the output without the sample",
            s.kappa,
        )
        found.append(averages_expanded(meaning))
    return tuple(found)


@functools.cache
def norm_overlap() -> Derivation:
    """chi of a group: the readout's equation, a sample left out, met by delta; one neuron of each group is shown."""
    ratio = s.alpha / s.beta
    forces = [ratio * over_kappa(pull / (1 + variance)) for pull in _pull]
    readout = define(
        _readout, sum(_resolvent[b] * forces[b] for b in LETTERS), "the readout of a neuron of group 1: G times forces"
    )
    meaning = define(s.chi_of[0], _tied[0] * _readout, "a.delta/sqrt(p) over the neurons of group 1")
    rows = (
        (s.norm_row_spike, _spike, "W v"),
        (s.norm_row_target, _target, "W theta_perp"),
        (s.norm_row_norm, _tied, "delta"),
    )
    names = [
        define(row[b], _tied[0] * _resolvent[b] * vector[b], f"delta_1.G {what} over the neurons")
        for row, vector, what in rows
        for b in LETTERS
    ]
    balanced = [
        hypothesis(
            f"no force along the constant vector of group {b + 1}",
            Equation(over_kappa(mu0_of[b] * (y0 - fit) / (1 + variance)), sp.Integer(0)),
            BALANCE,
        )
        for b in LETTERS
    ]
    shares = (
        [s.kappa * mu1_of[b] * (y0 - fit) for b in LETTERS],
        [mu1_of[b] * y1 for b in LETTERS],
        [third_of[b] * (y0 - fit) for b in LETTERS],
    )
    split = []
    for b, pull in enumerate(pulls()):
        parts = (
            (sp.Integer(1), mu0_of[b] * (y0 - fit) / (1 + variance)),
            *((vector[b], share[b] / (1 + variance)) for (_, vector, _w), share in zip(rows, shares, strict=True)),
        )
        inserted = Expectation(value(pull) / (1 + variance), s.kappa)
        split.append(rewritten(linear((), inserted, parts), balanced[b]))
    inserted_all = rewritten(rewritten(meaning, readout), *pulls(), *split)
    total = ratio * sum(
        row[b] * over_kappa(share[b] / (1 + variance))
        for (row, _, _w), share in zip(rows, shares, strict=True)
        for b in LETTERS
    )
    result = concluded(Equation(s.chi_of[0], total), inserted_all, *names)
    return Derivation(
        "a readout's overlap with the norms",
        SOURCE,
        *each_proved(
            "A sample pulls on a neuron with its feature times its residual, averaged over its own variables: "
            "forces along the constant vector, W v, W theta_perp and delta, each over 1 + V.",
            pulls(),
        ),
        *each_proved("That along the constant vector vanishes.", split),
        proved("The readout is G times these forces, and noise that no delta meets.", readout),
        proved("chi is linear in them.", meaning),
        *each_proved("A form between delta and one of these vectors.", names),
        proved("So it is a sum of forms times forces.", result),
        hypotheses=(ROWS_OF_GROUPS, WITH_NORMS),
    )

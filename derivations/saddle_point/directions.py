r"""A spike of several orthonormal directions v_1, ..., v_s: the free energy and its saddle point, beyond the paper.

:math:`\varphi_i = \sigma(w_i\cdot x + \sum_j u_j\,v_j\cdot x)` with one vector u for all neurons and rows of W that
know nothing of the directions. Given kappa_j = v_j.x the equivalent features are those of Section 3.2, with functions
of all kappa_j, and theta = sum_j gamma_j v_j + sqrt(rho) theta_perp. Two directions are written out: every sum over
directions shows both, and more read the same. With one the equations are those of Section 3.3.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import second_names
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, denominator, over_modes, varrho
from giantsteps.derivations.free_energy.assumptions import per_neuron, unfolded, updated_form
from giantsteps.derivations.free_energy.ridge import trace
from giantsteps.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, Fields, error_on_new
from giantsteps.derivations.free_energy.stationarity import CONJUGATE as ONE_DIRECTION
from giantsteps.derivations.free_energy.stationarity import EXCHANGE, SAME_ON_BOTH_MAPS, vanishing_slope
from giantsteps.derivations.kernel.algebra import differentiate, rewrite
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, named, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import directions_action

SOURCE = "beyond arXiv 2402.04980: a spike of several directions"
DIRECTIONS = (0, 1)

kappa = sp.symbols("kappa_1 kappa_2", real=True)
gamma = sp.symbols("gamma_1 gamma_2", real=True)
zeta = sp.symbols(r"\zeta_{v_1} \zeta_{v_2}", real=True)
zeta_hat = sp.symbols(r"\hat{\zeta}_{v_1} \hat{\zeta}_{v_2}", real=True)
# s_j.G s_l with s_j = W v_j, G the resolvent of the bulk without the directions.
spike_gram = sp.Matrix(2, 2, sp.symbols("K_11 K_12 K_12 K_22", real=True))
# s_j.G0 s_l, with the resolvent of the whole bulk.
whole_gram = sp.Matrix(2, 2, sp.symbols("X_11 X_12 X_12 X_22", real=True))
mu0, mu1, mu2, y0, y1, y2 = (sp.Function(name, real=True)(*kappa) for name in ("mu0", "mu1", "mu2", "y0", "y1", "y2"))
g = sp.Function("g", real=True)

SEVERAL = replace(ONE_LETTER, kappa=kappa, mu0=(mu0,), mu1=(mu1,), mu2=(mu2,), zeta=(zeta,), label=(y0, y1, y2))

ORTHOGONAL = (
    "v_1, ..., v_s and theta_perp are orthonormal and independent of the rows of W, whose projections on them are then "
    "asymptotically Gaussian and independent: s_j.G s_l for j != l and s_j.G W theta_perp vanish as d grows"
)


def over_kappas(integrand: sp.Expr) -> sp.Expr:
    """E over independent kappa_1, kappa_2 ~ N(0, 1)."""
    return Expectation(integrand, *kappa)


@functools.cache
def output() -> Derivation:
    """The output of a readout given all kappa_j: one overlap with the spike per direction, and a Gaussian rest."""
    # A row and a readout component, and what is orthogonal to the directions as one Gaussian field per neuron.
    along = sp.symbols("w_{v_1} w_{v_2}", real=True)
    rest, component = sp.symbols("w_{x\\perp} a_i", real=True)
    feature = mu0 + mu1 * (sum(kappa[j] * along[j] for j in DIRECTIONS) + rest) + mu2 * s.xi
    by_direction = component * mu0 + sum(kappa[j] * mu1 * component * along[j] for j in DIRECTIONS)
    field = component * (mu1 * rest + mu2 * s.xi)
    steps = (
        Step(
            "x = sum_j kappa_j v_j + Pi x with Pi = 1 - sum_j v_j v_j^T, so that w.x = sum_j kappa_j w.v_j + w.Pi x in "
            "the equivalent feature of a neuron.",
            eq(s.feature_value, feature),
        ),
        Step(
            "Summed with the readout: m = sum_i a_i/sqrt p and one zeta_j = a.W v_j/sqrt p per direction; the rest is "
            "a Gaussian field given kappa, of covariance mu1^2 q1 + mu2^2 q2 with q1 through Pi.",
            eq(s.output, SEVERAL.fit + s.local_field),
            Vanishing("one neuron's share", sp.expand(component * feature - by_direction - field)),
        ),
    )
    return Derivation("output for a spike of several directions", SOURCE, *steps)


# A sample, given both kappa: x_perp along theta_perp is z, along what the readout has besides it w; the features have
# noise of their own, x.
_elsewhere, _noise = sp.symbols("w x", real=True)
_teacher = g(sum(gamma[j] * kappa[j] for j in DIRECTIONS) + sp.sqrt(s.rho) * s.z)
FIELDS = Fields(
    SEVERAL.fit,
    mu1 * (s.psi * s.z + sp.sqrt(s.q1 - s.psi**2) * _elsewhere) + mu2 * sp.sqrt(s.q2) * _noise,
    (_elsewhere, _noise),
    SEVERAL.V,
    SEVERAL.e2,
    kappa=kappa,
    teacher=_teacher,
    moments=(
        define(y0, Expectation(_teacher, s.z), "the mean label given kappa", *kappa),
        define(y1, Expectation(s.z * _teacher, s.z), "the label's linear part given kappa", *kappa),
        define(y2, Expectation(_teacher**2, s.z) + s.noise, "the label's mean square given kappa", *kappa),
    ),
)


def without_directions(x: int, y: int) -> sp.Expr:
    """s_x.G s_y in terms of s_j.G0 s_l, where G^-1 = G0^-1 - V1^ (s_1 s_1^T + s_2 s_2^T): one rank after the other."""

    def without_first(i: int, j: int) -> sp.Expr:
        return updated_form(*(whole_gram[k, m] for k, m in ((i, j), (i, 0), (0, j), (0, 0))), -s.V1_hat)

    return updated_form(*(without_first(k, m) for k, m in ((x, y), (x, 1), (1, y), (1, 1))), -s.V1_hat)


@functools.cache
def overlap_matrix() -> Derivation:
    """K: what all forces along the directions meet, S^T G S = X (1 - V1^ X)^-1 with X = S^T G0 S."""
    X, t = whole_gram, s.V1_hat
    determinant = (1 - t * X[0, 0]) * (1 - t * X[1, 1]) - (t * X[0, 1]) ** 2
    own = (X[0, 0] * (1 - t * X[1, 1]) + t * X[0, 1] ** 2) / determinant
    forms = ((spike_gram[0, 0], own), (spike_gram[0, 1], X[0, 1] / determinant))
    found = [
        equal(unfolded(define(name, without_directions(0, k), f"s_1.G s_{k + 1} with s_j = W v_j")), form)
        for k, (name, form) in enumerate(forms)
    ]
    apart = hypothesis("orthogonal directions", Equation(X[0, 1], sp.Integer(0)), ORTHOGONAL)
    alone, none = (rewritten(theorem, apart) for theorem in found)
    return Derivation(
        "overlap matrix of several directions",
        SOURCE,
        *(
            proved(
                "Omega = W W^T - S S^T with the columns s_j = W v_j of S: G^-1 = G0^-1 - V1^ S S^T, by "
                f"Sherman-Morrison for one direction after the other, between s_1 and s_{k + 1}.",
                theorem,
            )
            for k, theorem in zip(DIRECTIONS, found, strict=True)
        ),
        proved("The directions are orthogonal and independent of W,", apart),
        proved("so that each has what a single one would have,", equal(alone, X[0, 0] / (1 - t * X[0, 0]))),
        proved("and different directions do not meet.", none),
        results={name: value(theorem) for (name, _), theorem in zip(forms, found, strict=True)},
        hypotheses=(ORTHOGONAL,),
    )


# Differentiating in the first gives the equation for the second.
CONJUGATE = {variable: unknown for variable, unknown in ONE_DIRECTION.items() if s.zeta not in (variable, unknown)}
CONJUGATE |= {x: y for pair in zip(zeta, zeta_hat, strict=True) for x, y in (pair, pair[::-1])}
_VARIABLES = tuple(CONJUGATE)
_equivalent, _trace, _entropic, _energy = (
    sp.Function(name, real=True)(*_VARIABLES) for name in ("Phi_{vG}", "Psi_{vt}", "Psi_{vw}", "Psi_{vy}")
)


def entropic_term() -> sp.Expr:
    """Half of the forces and of the noise in the traces of an isotropic bulk: every direction has s_j.G s_j."""
    on_bulk, on_ones = over_modes(varrho / denominator), over_modes(1 / denominator)
    along = s.beta * s.c * sum(force**2 for force in zeta_hat)
    return ((s.q1_hat + s.beta * s.psi_hat**2) * on_bulk + (s.q2_hat + along) * on_ones) / 2


@functools.cache
def free_energy() -> Theorem:
    """The replica-symmetric free energy for isotropic rows and several directions, for all values of its variables."""
    squared = FIELDS.mean_square(noisy=True)
    # One product zeta_j zeta^_j per direction, the rest of the trace term as for one.
    along = s.zeta * s.zeta_hat - sum(zeta[j] * zeta_hat[j] for j in DIRECTIONS)
    cost = s.alpha / s.beta * over_kappas(sides(squared.statement)[0] / (2 * (1 + SEVERAL.V)))
    return rewritten(
        _taken("Result 3.2", directions_action(*_VARIABLES), _equivalent, SAME_ON_BOTH_MAPS),
        _replica_symmetric(),
        _taken("trace term", _trace, trace().results[s.trace_term] + along, "result-3-3.trace-term"),
        _taken("entropic term", _entropic, entropic_term(), ORTHOGONAL),
        _taken("energetic term", _energy, cost, "result-3-3.moreau-envelope"),
        squared,
    )


def _replica_symmetric() -> Theorem:
    """Phi = Psi_y - Psi_t - Psi_w, the replicated exponent at its saddle point."""
    exponent = per_neuron(_energy - _trace - _entropic)
    return unfolded(define(_equivalent, exponent, "minus (1/(p R B)) ln E Z^R of the features", *_VARIABLES))


def _taken(name: str, left: sp.Expr, right: sp.Expr, reference: str) -> Theorem:
    return hypothesis(f"{name}, several directions", Equation(left, right), reference, *_VARIABLES)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Stationarity of the free energy in one variable, solved for the variable that it is linear in."""
    unknown = CONJUGATE[variable]
    derivative = averages_expanded(differentiate((free_energy(),), variable), s.mode, *kappa)
    vanishing = vanishing_slope(free_energy(), variable)
    solution = isolated(unknown, rewrite((derivative, vanishing)))
    if variable in (s.V1_hat, s.V2_hat, s.psi_hat, *zeta_hat):
        traces = (equation(x).theorem_of(CONJUGATE[x]) for x in (s.q1_hat, s.q2_hat))
        solution = named(solution, *traces, *second_names())
        solution = equal(solution, sp.factor_terms(sp.expand(value(solution))))
    return Derivation(
        f"stationarity in {variable} for several directions",
        SOURCE,
        *output().steps,
        proved(
            "The free energy: one overlap for each direction, each of which meets the resolvent by itself, and the "
            "squared error of a sample, averaged at given kappa, over 2(1 + V).",
            free_energy(),
        ),
        proved(f"Its derivative in ${sp.latex(variable)}$.", derivative),
        proved("It vanishes at the saddle point.", vanishing),
        proved(f"It is linear in ${sp.latex(unknown)}$.", solution),
        hypotheses=(*REPLICA_HYPOTHESES, ORTHOGONAL, EXCHANGE),
    )


@functools.cache
def test_error() -> Derivation:
    """The error on a new input: E e2 less the label noise."""
    return Derivation(
        "test error for several directions",
        SOURCE,
        *output().steps,
        *error_on_new(FIELDS, "Result 3.2, several directions, errors"),
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )

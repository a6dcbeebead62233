r"""The saddle point once more, without replicas: leaving out one sample, then one neuron.

The readout satisfies lambda a = (1/sqrt p) sum_mu phi_mu r_mu with residuals r_mu = y_mu - f(x_mu). Compared with the
readout that has not seen sample mu,

    r_mu = (y_mu - f_without(x_mu))/(1 + V(kappa_mu)),

and given kappa the output without mu is Gaussian in the sample's own variables. Averaged over samples the sum has a
constant part, a part along W v and W theta_perp, a part proportional to a, and noise: a linear equation for a with
S = lambda + V1^ W Pi W^T + V2^. Nothing of the free energy is used.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import cavity, quadratic, second_moments
from giantsteps.derivations.bulk.network import SAMPLES
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, PAPER, mu0, mu1, mu2, over_kappa
from giantsteps.derivations.free_energy.sample_energy import LABEL, LABEL_NOISE, label_moments
from giantsteps.derivations.free_energy.stationarity import BALANCE
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, proved, proved_in_turn
from giantsteps.derivations.kernel.search.averages import averages_expanded, expansion
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import along_ones, on_overlap, on_weight

SOURCE = f"{PAPER}, Section 3.3, by leave-one-out"
HYPOTHESES = (
    SAMPLES,
    "the readout without a sample is independent of it, and its overlaps are those of the full readout",
    "sums over samples concentrate; what is left of the noise is Gaussian",
)
ratio = s.alpha / s.beta
# Components of a sample orthogonal to v: along theta_perp it is z, along another unit direction e it is w.
ELSEWHERE, ROW_NOISE = sp.symbols("w x", real=True)
OVERLAP, WEIGHT = sp.symbols("o a_k", real=True)  # (Pi W^T a).e/sqrt p and a_k/sqrt p
rest_1, rest_2 = sp.symbols("n_1 n_2", nonnegative=True)  # what is left of q1 - psi^2 and of q2
_VARIABLES = (s.z, ELSEWHERE, ROW_NOISE, s.xi, s.mode_field, LABEL_NOISE)

# The residual of a sample that is seen, from the one that it would have had and its response.
_seen = sp.Function("seen", real=True)
_unseen, _response = sp.Symbol("u", real=True), sp.Symbol("V", nonnegative=True)


def cavity_gap() -> sp.Expr:
    """y - f_without: the output is Gaussian in z, in the component w, in one neuron's noise x and in all the rest."""
    field = mu1 * (s.psi * s.z + OVERLAP * ELSEWHERE + sp.sqrt(rest_1) * s.xi)
    field += mu2 * (WEIGHT * ROW_NOISE + sp.sqrt(rest_2) * s.mode_field)
    return LABEL - ONE_LETTER.fit - field


@functools.cache
def shrunk() -> Theorem:
    """r = (y - f_without)/(1 + V)."""
    moved = Equation(_seen(_unseen, _response), _unseen - _response * _seen(_unseen, _response))
    of_itself = hypothesis("response of a sample", moved, SAMPLES, _unseen, _response)
    solved = isolated(_seen(_unseen, _response), of_itself)
    return instantiate((solved,), {_unseen: cavity_gap(), _response: ONE_LETTER.V})


@functools.cache
def sizes() -> tuple[Theorem, Theorem]:
    """What is left of the sizes beside the overlaps: q1 = psi^2 + o^2 + n_1, q2 = a_k^2 + n_2."""
    return (
        define(rest_1, s.q1 - s.psi**2 - OVERLAP**2, "the size of the readout along all other directions"),
        define(rest_2, s.q2 - WEIGHT**2, "the squares of all other weights"),
    )


def force(factor: sp.Expr, weight: sp.Expr, power: int = 1) -> sp.Expr:
    """alpha/beta times the average over samples of factor * E[weight r^power | kappa]."""
    r = _seen(cavity_gap(), ONE_LETTER.V)
    return ratio * over_kappa(factor * Expectation(weight * r**power, *_VARIABLES))


def averaged(theorem: Theorem) -> Theorem:
    """``theorem`` with its residuals shrunk and averaged over a sample's own variables at given kappa."""
    theorem = rewritten(theorem, shrunk())
    for inner in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        if inner.variables != (s.kappa,):
            known = expansion(inner)
            theorem = rewrite((theorem, rewritten(known, *label_moments())))
    return averages_expanded(theorem, s.kappa)


@functools.cache
def samples() -> Derivation:
    """The conjugates and m: one sample left out."""
    elsewhere = averaged(define(on_overlap(OVERLAP), force(mu1, ELSEWHERE), "force along another direction", OVERLAP))
    own = averaged(define(on_weight(WEIGHT), force(mu2, ROW_NOISE), "force on one neuron's noise", WEIGHT))
    slopes = [differentiate((theorem,), x) for theorem, x in ((elsewhere, OVERLAP), (own, WEIGHT))]
    meanings = {
        s.V1_hat: (-sides(slopes[0].statement)[0], "how the force along a direction answers to the readout along it"),
        s.V2_hat: (-sides(slopes[1].statement)[0], "how the force on a neuron answers to its own weight"),
        s.zeta_hat: (force(s.kappa * mu1, sp.Integer(1)), "the force along W v"),
        s.psi_hat: (force(mu1, s.z) + s.V1_hat * s.psi, "the force along W theta_perp beyond V1^ W Pi W^T a"),
        s.q1_hat: (force(mu1**2, sp.Integer(1), 2), "the variance of the noise, its part W Pi W^T"),
        s.q2_hat: (force(mu2**2, sp.Integer(1), 2), "the variance of the noise, the neurons' own part"),
    }
    names = {name: define(name, meaning, why) for name, (meaning, why) in meanings.items()}
    found = {name: rewritten(names[name], slope) for name, slope in zip((s.V1_hat, s.V2_hat), slopes, strict=True)}
    found |= {name: averaged(names[name]) for name in (s.zeta_hat, s.q1_hat, s.q2_hat)}
    found[s.psi_hat] = averages_expanded(averaged(rewritten(names[s.psi_hat], found[s.V1_hat])), s.kappa)
    for name in (s.q1_hat, s.q2_hat):
        found[name] = averages_expanded(rewritten(found[name], *sizes()), s.kappa)
    return Derivation(
        "one sample left out",
        SOURCE,
        proved(
            "A sample that is added moves its own output by V times its residual, V = phi.G phi/p with G the "
            "resolvent of the others and phi of covariance mu1^2 W Pi W^T + mu2^2: so its residual is what it would "
            "have been, over 1 + V(kappa). Given kappa that is Gaussian.",
            shrunk(),
        ),
        proved("Along a direction orthogonal to v and theta_perp the force answers to the readout alone,", elsewhere),
        proved("and on the noise of a neuron to its own weight.", own),
        *proved_in_turn(
            ("In lambda a = (1/sqrt p) sum phi r:", names.values()),
            ("averaged over the sample's own variables.", [found[name] for name in names]),
        ),
        results=found.values(),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def balance_of_mean() -> Derivation:
    """m: the force along the constant vector has to vanish."""
    along = define(along_ones(s.m), force(mu0, sp.Integer(1)), "the force along the constant vector", s.m)
    mean = averaged(along)
    rest = hypothesis("no force along the constant vector", Equation(along_ones(s.m), sp.Integer(0)), BALANCE)
    solution = isolated(s.m, rewrite((mean, rest)))
    return Derivation(
        "balance of the readout mean",
        SOURCE,
        *samples().steps,
        proved("The force along the constant vector.", mean),
        proved(
            "It would make m of order sqrt p; so it vanishes,",
            rest,
        ),
        proved("which fixes m.", solution),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def responses() -> Derivation:
    """V1 and V2: one neuron left out (the Schur complement of its row)."""
    one, two = cavity(), quadratic()
    return Derivation(
        "one neuron left out",
        SOURCE,
        *two.steps,
        results={s.V1: one.results[s.V1], s.V2: two.results[s.V2]},
        hypotheses=two.hypotheses,
    )


def trace_of(kernel_1: sp.Expr, kernel_2: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(1/p) tr[Omega S^-1 K S^-1] and (1/p) tr[S^-1 K S^-1] for K = kernel_1 Omega + kernel_2."""
    return (
        kernel_1 * s.resolvent_double + kernel_2 * s.resolvent_mixed,
        kernel_1 * s.resolvent_mixed + kernel_2 * s.resolvent_square,
    )


def _one_by_one(size: sp.Expr, along: sp.Expr, across: sp.Expr) -> Vanishing:
    """A size of the readout is what noise, theta_perp and v give, with the traces that Omega and one meet in it."""
    noise = s.q1_hat * along + s.q2_hat * across
    forces = s.psi_hat**2 * s.beta * along + s.zeta_hat**2 * s.beta * s.c * across
    return Vanishing("noise, theta_perp and v one by one", size - noise - forces)


@functools.cache
def overlaps() -> Derivation:
    """zeta, psi, q1, q2 from S a = sqrt p (zeta^ W v + psi^ W theta_perp) + noise, isotropic rows."""
    zeta = s.zeta_hat * (s.beta * s.c * s.V2)
    psi = s.psi_hat * (s.beta * s.V1)
    # W v is independent of W Pi with entries of variance c/d, and W theta_perp enters as Omega does: p times the square
    # of the force is beta c and beta Omega.
    q1, q2 = trace_of(s.q1_hat + s.beta * s.psi_hat**2, s.q2_hat + s.beta * s.c * s.zeta_hat**2)
    law = second_moments()
    steps = (
        *responses().steps,
        Step(
            "W v has p independent entries of variance c/d and is independent of Omega = W Pi W^T: zeta = zeta^ "
            "(Wv).S^-1 Wv.",
            eq(s.zeta, zeta),
            Vanishing("p entries of variance c/d", s.beta * s.d * (s.c / s.d) * s.V2 - s.beta * s.c * s.V2),
        ),
        Step(
            "theta_perp is one of d - 1 equivalent directions: (W theta_perp).S^-1 W theta_perp = (1/d) tr[Omega "
            "S^-1].",
            eq(s.psi, psi),
            Vanishing("(1/d) tr is beta times (1/p) tr", s.beta * s.d * s.V1 / s.d - s.beta * s.V1),
        ),
        *law.steps,
        Step(
            "The squares of a: noise, and the two forces, as traces with the resolvent on both sides.",
            eq(s.q2, q2),
            _one_by_one(q2, s.resolvent_mixed, s.resolvent_square),
        ),
        Step("With W Pi W^T between.", eq(s.q1, q1), _one_by_one(q1, s.resolvent_double, s.resolvent_mixed)),
    )
    return Derivation(
        "overlaps of the readout",
        SOURCE,
        *steps,
        results={s.zeta: zeta, s.psi: psi, s.q1: q1, s.q2: q2},
        hypotheses=(*HYPOTHESES, *law.hypotheses),
    )

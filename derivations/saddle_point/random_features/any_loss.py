r"""Plain random features with any convex loss: the general saddle point (119)-(120) at r = 0 is that of the slides.

Without a spike mu0 = 0 (odd activation), mu1 = kappa_1 and mu2 = kappa_* are constants, v is a direction like any
other, and the order parameters become zeta = gamma M, psi = sqrt(rho) M, Q1 = q1 + zeta^2. Both systems then average
functions of one Gaussian pair: theta.x of variance one and the output f, of variance Q = kappa_1^2 Q1 + kappa_*^2 q2
and covariance kappa_1 M with it. Written with theta.x first, f = kappa_1 M z + sqrt(Q - kappa_1^2 M^2) xi, the
equations are the same term by term, with alpha_p = alpha/beta, gamma_p = 1/beta.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import convex_loss
from giantsteps.derivations.kernel.algebra import congruence, rewrite, ring
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.search.assumptions import each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import rewritten, rewritten_both, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import convex, no_spike
from giantsteps.derivations.saddle_point.random_features.one_system import CONJUGATES, ratios, same_overlaps

SOURCE = "Appendix C, (119)-(120) at r = 0, and the slides' saddle point of random features"
ODD = "the activation is odd, so that mu0 = 0 without a spike"

_hole = sp.Symbol("hole", nonnegative=True)
_FIELDS = (s.kappa, s.z, s.xi)


# ---- our side ----


@functools.cache
def at_saddle(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation of a convex loss from stationarity in ``variable``, at r = 0."""
    without = rewritten(convex_loss.at_saddle(variable), *no_spike.WITHOUT_SPIKE)
    return averages_expanded(without, *_FIELDS)


@functools.cache
def forces() -> tuple[Theorem, ...]:
    """psi^ = sqrt(rho) M^ and zeta^ = gamma M^ - V1^ zeta, for any loss: both are E[df/dy dy/d(theta.x)]."""
    zeta_hat, psi_hat, V1_hat = (at_saddle(x) for x in (s.zeta, s.psi, s.q1))
    pulls = value(zeta_hat).atoms(Expectation) | value(psi_hat).atoms(Expectation)
    by_parts = []
    for pull in sorted(pulls, key=sp.default_sort_key):
        weight = next((x for x in (s.kappa, s.z) if pull.integrand.as_powers_dict().get(x, 0) == 1), None)
        if weight is not None:
            moved = stein((), pull, weight, pull.integrand / weight)
            by_parts.append(averages_expanded(moved, *_FIELDS))
    goal = Equation(s.zeta_hat, s.gamma * s.M_hat - s.V1_hat * s.zeta)
    across, _ = no_spike.forces()
    return across, concluded(goal, zeta_hat, no_spike.FORCE, psi_hat, V1_hat, *by_parts)


@functools.cache
def directions() -> tuple[Theorem, ...]:
    """zeta = gamma M, psi = sqrt(rho) M and q1 = Q1 - gamma^2 M^2, for any loss."""
    zeta, psi, overlap, _ = no_spike.overlaps(*forces(), convex_loss.at_saddle)
    return no_spike.directions(zeta, psi, overlap)


def over_pair(theorem: Theorem) -> Theorem:
    """``theorem`` with kappa and z rotated so that theta.x comes first; what is across it averages to zero."""
    theorem = rewritten(theorem, *directions(), no_spike.ALIGNMENT)
    roots = [power for power in value(theorem).atoms(sp.Pow) if power.exp == sp.Rational(1, 2)]
    for root in sorted(roots, key=sp.default_sort_key):
        if root.base != sp.expand(root.base):
            theorem = rewrite((theorem, ring((), Equation(root.base, sp.expand(root.base)))))
    for average in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        theorem = rewrite((theorem, no_spike.target_first(average)))
    return averages_expanded(theorem, *_FIELDS)


@functools.cache
def ours() -> dict[sp.Symbol, Theorem]:
    """V1^, V2^, q1^, q2^ and M^ of the general system without a spike, over theta.x and the output."""
    partners = {s.V1_hat: s.q1, s.V2_hat: s.q2, s.q1_hat: s.V1, s.q2_hat: s.V2, s.psi_hat: s.psi}
    found = {hat: over_pair(at_saddle(partner)) for hat, partner in partners.items()}
    found[s.M_hat] = rewritten(no_spike.FORCE, found.pop(s.psi_hat), no_spike.ALIGNMENT)
    return found


# ---- the slides' side ----


@functools.cache
def output() -> tuple[Theorem, Theorem]:
    """The output, theta.x first, with sqrt(Q - M^2) beside it; and the energy's arguments in our letters."""
    Q, M = s.output_square, s.output_overlap
    left = sp.sqrt(1 - M**2 / Q)
    spread = congruence((ring((), Equation(Q - M**2, Q * (1 - M**2 / Q))),), sp.sqrt(_hole), _hole)
    first = sp.sqrt(Q) * (M / sp.sqrt(Q) * s.z + left * s.xi)
    return spread, ring((spread,), Equation(first, M * s.z + sp.sqrt(Q - M**2) * s.xi), (-s.xi,))


@functools.cache
def slopes() -> tuple[Theorem, ...]:
    """dE/dQ, dE/dM and dE/dV over theta.x and the output, in our letters."""
    _, first = output()
    names = (convex.NAMES[s.output_square], convex.NAMES[s.output_overlap], convex.NAMES[s.V])
    found = []
    for theorem in convex.slopes_target_first():
        here = rewritten(convex.at_target(theorem), first)
        found.append(rewritten_both(here, *names, *same_overlaps()))
    return tuple(found)


@functools.cache
def theirs(hat: sp.Symbol) -> Theorem:
    """A conjugate of the slides over theta.x and the output, in our letters."""
    names = (convex.NAMES[s.output_square], convex.NAMES[s.output_overlap], convex.NAMES[s.V])
    solution = rewritten(convex.conjugate_by_energy(hat), *ratios(), *names, *same_overlaps())
    return rewritten(solution, *slopes())


@functools.cache
def dictionary() -> Derivation:
    """The conjugates of both systems, in the letters alpha, beta of ours, as averages over one pair."""
    found = {name: concluded(Equation(name, own), theirs(name), *ours().values()) for name, own in CONJUGATES.items()}
    return Derivation(
        "random features with any convex loss",
        SOURCE,
        *each_proved("At r = 0 the features do not see kappa.", no_spike.WITHOUT_SPIKE),
        proved("zeta^ lacks the force's slope, as its resolvent leaves the spike out.", forces()[1]),
        *each_proved("v is a direction like any other.", directions()),
        *(
            proved(
                f"${sp.latex(hat)}$ of the general system: kappa and z rotated so that theta.x comes first; what is "
                "orthogonal to it and to the output averages to zero.",
                theorem,
            )
            for hat, theorem in ours().items()
        ),
        proved("The output of the slides, theta.x first.", output()[1]),
        *each_proved("The energy of a sample differentiated in Q, M and V.", slopes()),
        *(proved(f"The slides' ${sp.latex(name)}$.", theirs(name)) for name in CONJUGATES),
        *(proved(f"${sp.latex(name)}$ is the same average.", theorem) for name, theorem in found.items()),
        results=found.values(),
        hypotheses=(*convex.HYPOTHESES, *convex_loss.equation(s.q1).hypotheses, ODD),
    )

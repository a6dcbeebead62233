r"""No spike: plain random features, and what the spiked system becomes as r -> 0.

At r = 0 the functions along the spike are constants, mu0 = 0 (odd activation), mu1 and mu2, and the features are
mu1 W x + mu2 xi: the Gaussian equivalence of plain random features. v is then a direction like any other: the readout
has one overlap M = a.W theta/sqrt(p) = gamma zeta + sqrt(rho) psi with the target and one size Q1 = q1 + zeta^2, and
the equations of the spiked system at r = 0 become those of plain random features whatever the alignment.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2
from giantsteps.derivations.free_energy.assumptions import cauchy_schwarz
from giantsteps.derivations.free_energy.sample_energy import TEACHER, over_label
from giantsteps.derivations.gradient_step.assumptions import H1_STAR, H2_STAR
from giantsteps.derivations.kernel.algebra import congruence, order, rewrite, ring
from giantsteps.derivations.kernel.averages import rotate
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.inequalities import ONE_READOUT
from giantsteps.derivations.saddle_point import equations
from giantsteps.derivations.saddle_point import symbols as s

SOURCE = f"{PAPER}, Section 4.2"
ODD = "the activation is odd and the target centred, so that mu0 = 0 and E[y0] = 0 at r = 0"

_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_hole = sp.Symbol("hole", nonnegative=True)
_across = sp.Symbol("x_0", real=True)
_sine = sp.sqrt(1 - s.gamma**2)

# mu1 and mu2 at r = 0: constants.
k1, k2 = s.mu1_constant, s.mu2_constant
V_plain = k1**2 * s.V1 + k2**2 * s.V2
ratio = s.alpha / s.beta


def _model(name: str, left: sp.Expr, right: sp.Expr, reference: str, *universal: sp.Symbol) -> Theorem:
    return in_model(name, Equation(left, right), reference, *universal)


WITHOUT_SPIKE = tuple(
    _model(f"no spike, {name}", name, constant, f"at r = 0 {why}", s.kappa)
    for name, constant, why in (
        (mu0, _ZERO, "the mean of an odd activation is zero at every kappa"),
        (mu1, k1, "what the features have of the input does not depend on kappa"),
        (mu2, k2, "the noise of the features does not depend on kappa"),
    )
)
ALIGNMENT = _model("alignment", s.rho, 1 - s.gamma**2, "rho is what gamma^2 leaves of one")
OVERLAP = define(
    s.M, s.gamma * s.zeta + sp.sqrt(s.rho) * s.psi, "a.W theta/sqrt(p), theta = gamma v + sqrt(rho) theta_perp"
)
SIZE = define(s.Q1, s.q1 + s.zeta**2, "|W^T a|^2/p: what W^T a has across v, and along it")
FORCE = define(
    s.M_hat, s.psi_hat / sp.sqrt(s.rho), "a force on the readout along W theta, by its part along W theta_perp"
)
RESPONSE = define(s.V, V_plain, "the response of the output, the same at every kappa")


def without_spike(theorem: Theorem) -> Theorem:
    """``theorem`` at r = 0, the averages on its right side expanded."""
    return averages_expanded(rewritten(theorem, *WITHOUT_SPIKE), s.kappa, s.z, s.xi)


# ---- theta.x in place of kappa and z ----


def target_first(whole: sp.Expr) -> Theorem:
    """An average over kappa, z and other variables, with theta.x in place of z and what is across it in place of kappa.

    rho has to be written 1 - gamma^2 in it.
    """
    new = tuple({s.kappa: _across}.get(v, v) for v in whole.variables)
    images = {s.kappa: s.gamma * s.z - _sine * _across, s.z: _sine * s.z + s.gamma * _across}
    matrix = tuple(tuple(images.get(v, v).coeff(symbol) for symbol in new) for v in whole.variables)
    turned = rotate((), whole, new, matrix)
    inner = {x for call in value(turned).atoms(AppliedUndef) for x in call.args if not x.atoms(AppliedUndef)}
    for argument in sorted(inner, key=sp.default_sort_key):
        simpler = sp.expand(argument)
        if simpler != argument:
            turned = rewrite((turned, ring((), Equation(argument, simpler))))
    return turned


@functools.cache
def target_moments() -> tuple[Theorem, ...]:
    """E[kappa y0] = gamma h1*, E[y1] = sqrt(rho) h1* and E[y2] = h2* + Delta: theta.x is standard normal."""
    root, found = congruence((ALIGNMENT,), sp.sqrt(_hole), _hole), []
    constants = tuple(isolated(value(name), name) for name in (H1_STAR, H2_STAR))
    for integrand in (s.kappa * TEACHER, s.z * TEACHER, TEACHER**2):
        by_kappa = rewrite((over_label(integrand), ALIGNMENT))
        by_target = rewritten(averages_expanded(target_first(sides(by_kappa.statement)[0])), *constants)
        (mean,) = value(by_kappa).atoms(Expectation)
        named = isolated(mean, ring((by_kappa, by_target), Equation(value(by_kappa), value(by_target)), (-_ONE, _ONE)))
        found.append(rewrite((named, root), True) if value(named).has(value(root)) else named)
    return tuple(found)


def isotropic(variable: sp.Symbol, saddle: equations.Saddle = equations.at_saddle) -> Theorem:
    """The equation for isotropic rows from stationarity in ``variable``."""
    return equations.for_isotropic_rows(variable, saddle)[1]


def at_saddle(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation of the ridge from stationarity in ``variable``, at r = 0."""
    return averages_expanded(rewritten(without_spike(equations.at_saddle(variable)), *target_moments()))


@functools.cache
def forces() -> tuple[Theorem, ...]:
    """psi^ = sqrt(rho) M^ and zeta^ = gamma M^ - V1^ zeta: zeta^ lacks what its resolvent holds of the spike."""
    psi_hat, zeta_hat, V1_hat = (at_saddle(x) for x in (s.psi, s.zeta, s.q1))
    across = isolated(s.psi_hat, FORCE)
    along = concluded(Equation(s.zeta_hat, s.gamma * s.M_hat - s.V1_hat * s.zeta), zeta_hat, FORCE, psi_hat, V1_hat)
    return across, along


@functools.cache
def overlaps(across: Theorem, along: Theorem, saddle: equations.Saddle = equations.at_saddle) -> tuple[Theorem, ...]:
    """zeta, psi, M and zeta^ by M^ = psi^/sqrt(rho), for isotropic rows and what the loss says of psi^ and zeta^."""
    law = marchenko_pastur.law(*equations.traces(saddle))
    of_zeta, of_psi = isotropic(s.zeta_hat, saddle), isotropic(s.psi_hat, saddle)
    gain = 1 + s.beta * s.c * s.V1_hat * s.V2
    learned = s.beta * s.V1 * s.M_hat
    zeta = ring(
        (of_zeta, along, law),
        Equation(s.zeta, s.gamma * learned),
        (1 / gain, s.beta * s.c * s.V2 / gain, -s.gamma * s.beta * s.M_hat),
    )
    psi = concluded(Equation(s.psi, sp.sqrt(s.rho) * learned), of_psi, across)
    overlap = ring((OVERLAP, zeta, psi, ALIGNMENT), Equation(s.M, learned), (_ONE, s.gamma, sp.sqrt(s.rho), learned))
    zeta_hat = ring(
        (of_zeta, zeta),
        Equation(s.zeta_hat, s.gamma * s.V1 * s.M_hat / (s.c * s.V2)),
        (-1 / (s.beta * s.c * s.V2), 1 / (s.beta * s.c * s.V2)),
    )
    return zeta, psi, overlap, zeta_hat


@functools.cache
def directions(zeta: Theorem, psi: Theorem, overlap: Theorem) -> tuple[Theorem, ...]:
    """zeta = gamma M, psi = sqrt(rho) M and q1 = Q1 - gamma^2 M^2."""
    along = ring((zeta, overlap), Equation(s.zeta, s.gamma * s.M), (_ONE, -s.gamma))
    across = ring((psi, overlap), Equation(s.psi, sp.sqrt(s.rho) * s.M), (_ONE, -sp.sqrt(s.rho)))
    size = ring((SIZE, along), Equation(s.q1, s.Q1 - s.gamma**2 * s.M**2), (sp.Integer(-1), -(s.zeta + s.gamma * s.M)))
    return along, across, size


@functools.cache
def sizes() -> tuple[Theorem, Theorem]:
    """Q1 and q2 by M^ and the conjugates: nothing in them tells v from any other direction."""
    across, along = forces()
    zeta, _, _, zeta_hat = overlaps(across, along)
    moments = marchenko_pastur.moments(*equations.traces())[:3]
    force = s.q1_hat + s.beta * s.M_hat**2
    return (
        concluded(
            Equation(s.Q1, force * s.resolvent_double + s.q2_hat * s.resolvent_mixed),
            SIZE, isotropic(s.V1_hat), zeta, zeta_hat, across, ALIGNMENT, *moments,
        ),
        concluded(
            Equation(s.q2, force * s.resolvent_mixed + s.q2_hat * s.resolvent_square),
            isotropic(s.V2_hat), zeta_hat, across, ALIGNMENT, *moments,
        ),
    )  # fmt: skip


@functools.cache
def error() -> Theorem:
    """The test error of any readout at r = 0, by its overlap with the target and its sizes."""
    base = equations.test_error().theorem_of(s.test_error)
    known = averages_expanded(rewritten(without_spike(base), *target_moments()))
    linear = s.h2_star - 2 * k1 * s.h1_star * s.M
    return concluded(Equation(s.test_error, linear + k1**2 * s.Q1 + k2**2 * s.q2), known, OVERLAP, SIZE)


@functools.cache
def plain_error() -> Derivation:
    """The test error of plain random features, explicit in the traces, M^ and V."""
    _, _, overlap, _ = overlaps(*forces())
    share = ratio * (s.test_error + s.noise) / (1 + V_plain) ** 2
    pulls = [
        concluded(Equation(hat, constant**2 * share), at_saddle(partner), error(), OVERLAP, SIZE)
        for hat, partner, constant in ((s.q1_hat, s.V1, k1), (s.q2_hat, s.V2, k2))
    ]
    affine = rewritten(error(), overlap, *sizes(), *pulls)
    gain = sp.diff(value(affine), s.test_error)
    rest = value(affine).subs(s.test_error, 0)
    result = ring((affine,), Equation(s.test_error, rest / (1 - gain)), (1 / (1 - gain),))
    return Derivation(
        "test error of plain random features",
        SOURCE,
        *reduction().steps,
        proved("The output responds alike at every kappa.", RESPONSE),
        *each_proved("The conjugates of V1 and V2 are the error over (1 + V)^2.", pulls),
        *each_proved("The sizes of the readout do not tell v from any other direction.", sizes()),
        proved("So the error is affine in itself,", affine),
        proved("and one linear equation is left.", result),
        results=(result, RESPONSE),
        hypotheses=reduction().hypotheses,
    )


@functools.cache
def reduction() -> Derivation:
    """The spiked system at r = 0: one overlap with the target, which splits in gamma and sqrt(rho)."""
    across, along = forces()
    zeta, psi, overlap, _ = overlaps(across, along)
    found = directions(zeta, psi, overlap)
    return Derivation(
        "no spike",
        SOURCE,
        *each_proved("At r = 0 the features do not see kappa.", WITHOUT_SPIKE),
        *each_proved(
            "theta.x = gamma kappa + sqrt(rho) z is standard normal: the moments of the target.", target_moments()
        ),
        proved("The readout's overlap with the target,", OVERLAP),
        proved("its size,", SIZE),
        proved("and the force along the target.", FORCE),
        proved("The conjugate of zeta lacks what the resolvent without the spike leaves out.", along),
        proved("zeta by the force: Marchenko and Pastur's law makes of c V2/(1 + beta c V1^ V2) the trace V1.", zeta),
        proved("psi by the force.", psi),
        proved("So M is beta V1 times the force, and", overlap),
        proved("zeta = gamma M: the spike's direction is learned as any other, at its share of the target.", found[0]),
        proved("psi = sqrt(rho) M.", found[1]),
        proved("What W^T a has along the spike is not in q1.", found[2]),
        proved("The test error is that of a Gaussian output of overlap M and size Q1.", error()),
        results=(*found, error()),
        hypotheses=(*equations.isotropic(s.zeta_hat).hypotheses, ODD),
    )


OF_FLOOR = (ONE_READOUT, ODD)


@functools.cache
def floor() -> Derivation:
    """Plain random features learn linear targets only: the test error is never below h2* - h1*^2."""
    other = sp.sqrt(s.rho) * s.zeta - s.gamma * s.psi
    result = order(
        (error(), cauchy_schwarz(), SIZE, OVERLAP, ALIGNMENT),
        AtLeast(s.test_error, s.h2_star - s.h1_star**2),
        (_ONE, k1**2, k1**2, -(k1**2) * (s.M + s.gamma * s.zeta + sp.sqrt(s.rho) * s.psi),
         -(k1**2) * (s.psi**2 + s.zeta**2)),
        ((_ONE, s.h1_star - k1 * s.M), (s.q2, k2), (k1**2, other)),
    )  # fmt: skip
    return Derivation(
        "floor of plain random features",
        SOURCE,
        proved("The test error of a readout.", error()),
        proved("q1 >= psi^2 by Cauchy-Schwarz,", cauchy_schwarz()),
        proved("hence Q1 >= M^2, and the error exceeds the best linear fit of the target by squares.", result),
        results=(error(),),
        hypotheses=OF_FLOOR,
    )

r"""The upper bound in closed form: activation and target erf, or both sign, equations (26), (28)-(31), (165)-(169).

Everything rests on what erf and sign are after Gaussian smoothing, and on an average of two error functions
(`closed_forms.arcsine_law`), E[mu0^2] and E[y0 mu0] being of this form.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bounds import arcsines
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.closed_forms.examples import closed_form
from giantsteps.derivations.closed_forms.gaussian_means import mean_of_erf, with_power
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.gradient_step.assumptions import H1_STAR
from giantsteps.derivations.gradient_step.bulk import bulk
from giantsteps.derivations.gradient_step.spike import spike
from giantsteps.derivations.kernel import calculus
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.limits import limit_compose, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import in_model, proved
from giantsteps.derivations.kernel.search.averages import over
from giantsteps.derivations.kernel.search.steps import rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation

_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_spike_limit = sp.Symbol(r"r_{\infty}", real=True)
_bulk_limit = sp.Symbol(r"c_{\infty}", positive=True)
_noise = sp.Symbol("z'", real=True)  # a name of its own: what is averaged over in an assumption counts among its names


@functools.cache
def same_line(name: str) -> Derivation:
    """d mu1/d kappa for erf or sign: the exponential of mu1 brings down a multiple of kappa."""
    linear = _theorem(closed_form(f"{name}(z)", s.mu1), s.mu1)
    moved = calculus.slope((linear,), s.kappa, s.mu1_slope, "d mu1/d kappa")
    return Derivation(
        f"mu1 along the spike for {name}",
        PAPER,
        proved("mu1 by its closed form.", linear),
        proved("It is a Gaussian in kappa: its slope is a multiple of kappa times itself.", moved),
    )


@functools.cache
def erf_target() -> Derivation:
    """Activation and target erf, gamma = 1: the upper bound."""
    student, overlap, norm, bound = arcsines.erf_upper()
    return Derivation(
        "upper bound for erf",
        f"{PAPER}, Section 4.3, (26), (28)",
        proved("mu0 of erf is an erf of kappa.", student),
        proved("Overlap of target and mu0, with a = 1 and b = r/sqrt(1+2c);", overlap),
        proved("norm of mu0, with a = b;", norm),
        proved("what the projection leaves.", bound),
        results=(bound, overlap, norm),
    )


def _perfect(strength: sp.Symbol, variance: sp.Symbol) -> tuple[Theorem, Theorem]:
    """That mu0 of erf is erf at a spike, and what the spike is then: both have one slope at kappa = 0."""
    student = Expectation(sp.erf(strength * s.kappa + sp.sqrt(variance) * _noise), _noise)
    assumed = in_model(
        f"perfect learning at {strength}",
        Equation(student, sp.erf(s.kappa)),
        "Section 4.3: the spike at which mu0 of erf is the target",
        s.kappa,
    )
    mean = instantiate((mean_of_erf(),), {s.x: strength * s.kappa, s.c: variance})
    learned = rewrite((assumed, over(_noise, mean)))
    slopes = instantiate((differentiate((learned,), s.kappa),), {s.kappa: _ZERO})
    root = sp.sqrt(1 + 2 * variance)
    return learned, ring((slopes,), Equation(strength, root), (sp.sqrt(sp.pi) * root / 2,))


@functools.cache
def perfect_spike() -> Derivation:
    """The spike at which mu0 of erf is erf itself, gamma = 1."""
    learned, found = _perfect(s.spike_perfect, s.c)
    return Derivation(
        "perfect learning of erf",
        f"{PAPER}, Section 4.3",
        proved("mu0 of erf is an erf of kappa; at r_0 it is the target.", learned),
        proved("So both have one slope at kappa = 0.", found),
    )


@functools.cache
def perfect_rate() -> Derivation:
    """The learning rate that makes the spike r_0, as alpha0 grows: c tends to one and r to (eta/beta) h1 h1*."""
    rate = in_model("learning rate", Equation(s.eta, s.eta_perfect), "Section 4.3: the rate that makes the spike r_0")
    strength, norm = _theorem(spike(), s.r), _theorem(bulk(), s.c)
    hole = sp.Symbol("a", nonnegative=True)
    (root,) = (power for power in value(strength).atoms(sp.Pow) if power.exp == sp.Rational(1, 2))
    inside = limit_rational((), root.base, s.h1_star**2, s.alpha0)
    tends = limit_compose((inside,), value(strength).xreplace({root: sp.sqrt(hole)}), (hole,))
    limit = name_limit((rewrite((tends, strength), True),), _spike_limit, "the spike as alpha0 grows")
    one = limit_rational((), value(norm), _ONE, s.alpha0)
    bulk_limit = name_limit((rewrite((one, norm), True),), _bulk_limit, "the bulk variance as alpha0 grows")
    learned, found = _perfect(_spike_limit, _bulk_limit)
    slope = instantiate((with_power(mean_of_erf(), 1),), {s.x: _ZERO, s.c: _ONE})
    h1_star = rewritten(arcsines.target_at(arcsines.target_is(sp.erf), H1_STAR), slope)
    limit = rewritten(limit, _theorem(closed_form("erf(z)", s.h1), s.h1), h1_star, rate)
    wanted = rewrite((found, bulk_limit))
    weight = sp.cancel(s.eta_perfect / value(limit))
    goal = Equation(s.eta_perfect, weight * value(wanted))
    result = ring((limit, wanted), goal, (-weight, weight))
    return Derivation(
        "the learning rate of perfect learning",
        f"{PAPER}, Section 4.3",
        proved("The spike of Result 3.1 as alpha0 grows, with h1 = h1* = 2/sqrt(3 pi).", limit),
        proved("The norm of the bulk tends to one.", bulk_limit),
        proved("In the limit mu0 is the target,", learned),
        proved("so that the spike is sqrt(3).", wanted),
        proved("The rate that makes this spike.", result),
        hypotheses=(*spike().hypotheses, *bulk().hypotheses),
    )


@functools.cache
def sign_target() -> Derivation:
    """Activation and target sign at any alignment: overlap, norm and upper bound as arcsines."""
    student, first, overlap, norm, bound = arcsines.sign_upper()
    return Derivation(
        "upper bound for sign",
        f"{PAPER}, Section 4.3, (26), (165)-(169)",
        proved("mu0 is an erf of kappa,", student),
        proved("and y0 another.", first),
        proved("Overlap of target and student, with a = gamma/sqrt(2(1-gamma^2)) and b = r/sqrt(2c).", overlap),
        proved("Norm of mu0, with a = b = r/sqrt(2c).", norm),
        proved("E[g^2] = 1 less the projection.", bound),
        results=(bound, overlap, norm),
    )


def _theorem(derivation: Derivation, symbol: sp.Symbol) -> Theorem:
    return derivation.theorem_of(symbol)

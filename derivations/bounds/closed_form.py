r"""The upper bound in closed form: activation and target erf, or both sign, equations (26), (28)-(31), (165)-(169).

Everything rests on two averages, obtained by differentiating in a scale a, where an exponential appears that only
rescales the Gaussian variable:

    E[erf(a kappa) erf(b kappa)],    E[mu0^2] and E[y0 mu0] being of this form.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bounds import arcsines
from onestep.derivations.bounds import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER
from onestep.derivations.kernel import calculus
from onestep.derivations.kernel.search import define, proved, value
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq

a, b, x = sp.symbols("a b x", positive=True)
HEAT = (
    "P_c sigma(x) = E sigma(x + sqrt(c) z) is the only solution of the heat equation with its initial value in the "
    "class of functions that grow slower than exp(A x^2) for every A > 0"
)


def erf_mean(position: sp.Expr, variance: sp.Expr) -> sp.Expr:
    """P_c erf at a position: the candidate that the heat equation is checked for."""
    return sp.erf(position / sp.sqrt(1 + 2 * variance))


def sign_mean(position: sp.Expr, variance: sp.Expr) -> sp.Expr:
    """P_c sign at a position, likewise."""
    return sp.erf(position / sp.sqrt(2 * variance))


def heat_residual(mean: sp.Expr) -> sp.Expr:
    """dP/dc - (1/2) d^2 P/dx^2, with c the bulk variance."""
    return sp.diff(mean, s.c) - sp.diff(mean, x, 2) / 2


def exponential_factor(scale: sp.Expr) -> sp.Expr:
    """E[f(kappa) exp(-a^2 kappa^2)] = t E[f(t kappa)]: the rescaling t = (1 + 2 a^2)^(-1/2)."""
    return 1 / sp.sqrt(1 + 2 * scale**2)


def erf_product_slope() -> sp.Expr:
    """d/da E[erf(a kappa) erf(b kappa)]: exponential factor, then Stein, then an exponential factor again."""
    t = exponential_factor(a)
    # E[kappa exp(-a^2 kappa^2) f(kappa)] = t E[t kappa f(t kappa)] = t^3 E[f'(t kappa)] with f = erf(b x), whose
    # derivative is (2b/sqrt pi) exp(-b^2 x^2)
    return 2 / sp.sqrt(sp.pi) * t**3 * (2 * b / sp.sqrt(sp.pi)) * exponential_factor(b * t)


def erf_product_mean(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """E[erf(a kappa) erf(b kappa)], from its slope in a and its zero at a = 0."""
    return 2 / sp.pi * sp.asin(2 * first * second / sp.sqrt((1 + 2 * first**2) * (1 + 2 * second**2)))


def _product_steps() -> tuple[Step, ...]:
    slope, mean = erf_product_slope(), erf_product_mean(a, b)
    claimed = sp.diff(mean, a)
    bare = sp.erf(a * x) * sp.erf(b * x)
    kernel = 2 / sp.sqrt(sp.pi) * x * sp.exp(-(a**2) * x**2) * sp.erf(b * x)
    # The slope and the derivative of the arcsine, both positive for a, b > 0, have equal squares.
    return (
        Step(
            "The derivative of E[erf(a kappa) erf(b kappa)] in a has a factor exp(-a^2 kappa^2).",
            eq(sp.Symbol("\\partial_a"), kernel),
            Vanishing("derivative of the integrand", sp.diff(bare, a) - kernel),
        ),
        Step(
            "The factor rescales kappa by t = (1 + 2 a^2)^(-1/2); Stein's lemma and a second rescaling leave an "
            "algebraic function.",
            eq(sp.Symbol("\\partial_a"), slope),
            Vanishing(
                "exp(-a^2 x^2 - x^2/2) is a Gaussian of variance t^2",
                a**2 + sp.Rational(1, 2) - 1 / (2 * exponential_factor(a) ** 2),
            ),
        ),
        Step(
            "Integrated from a = 0.",
            eq(sp.Symbol("E[\\mathrm{erf}(a\\kappa)\\mathrm{erf}(b\\kappa)]"), mean),
            Vanishing("the square of the derivative agrees", _algebraic(claimed**2 - slope**2)),
            Vanishing("both derivatives are positive: they agree at a = 0", (claimed - slope).subs(a, 0)),
            Vanishing("the average vanishes at a = 0", mean.subs(a, 0)),
        ),
    )


def _algebraic(expression: sp.Expr) -> sp.Expr:
    """The numerator of a rational function, roots of products combined."""
    return sp.numer(sp.together(sp.powsimp(sp.expand(expression))))


def _heat_step(name: str, mean: sp.Expr, initial: sp.Expr, at_zero: Vanishing | RationalLimit) -> Step:
    return Step(
        f"mu0 of {name} solves the heat equation in (c, x = r kappa) and starts from the activation at c = 0.",
        eq(sp.Symbol("\\mu_0"), mean),
        Vanishing("heat equation", heat_residual(mean)),
        at_zero,
    )


@functools.cache
def same_line(name: str) -> Derivation:
    """d mu1/d kappa for erf or sign: the exponential of mu1 brings down a multiple of kappa."""
    mean = {"erf": erf_mean, "sign": sign_mean}[name](s.r * s.kappa, s.c)
    linear = define(s.mu1, sp.diff(mean, s.kappa) / s.r, f"mu1 = (1/r) d mu0/d kappa, for the mean mu0 of {name}")
    moved = calculus.slope((linear,), s.kappa, s.mu1_slope, "d mu1/d kappa")
    return Derivation(
        f"mu1 along the spike for {name}",
        PAPER,
        proved("By Stein's lemma mu1 is the slope of mu0 along the spike, over r.", linear),
        proved("It is a Gaussian in kappa: its slope is a multiple of kappa times itself.", moved),
        results={s.mu1_slope: value(moved)},
    )


@functools.cache
def erf_target() -> Derivation:
    """Activation and target erf, gamma = 1: upper bound, and the spike and learning rate at which it vanishes."""
    mean = erf_mean(x, s.c)
    student, overlap, norm, bound = arcsines.erf_upper()
    spike = sp.Symbol("r", positive=True)
    (perfect,) = sp.solve(spike / sp.sqrt(1 + 2 * s.c) - 1, spike)
    # h1 = E[sigma'] = d/dx P_1 sigma at x = 0; at gamma = 1 (alpha0 -> infinity) c = 1 and r = (eta/beta) h1 h1*.
    h1 = sp.diff(mean, x).subs({x: 0, s.c: 1})
    (eta,) = sp.solve(s.eta / s.beta * h1**2 - perfect.subs(s.c, 1), s.eta)
    rate = s.eta / s.beta
    kappa_slope = sp.diff(mean, x).subs(x, s.r * s.kappa)
    steps = (
        _heat_step("erf", mean, sp.erf(x), Vanishing("initial value", mean.subs(s.c, 0) - sp.erf(x))),
        *_product_steps(),
        proved("mu0 of erf is an erf of kappa.", student),
        proved("Overlap of target and mu0, with a = 1 and b = r/sqrt(1+2c);", overlap),
        proved("norm of mu0, with a = b;", norm),
        proved("what the projection leaves.", bound),
        Step(
            "At r = sqrt(1+2c) nothing is left.",
            eq(sp.Symbol("\\varepsilon_\\infty(r_0)"), sp.S.Zero),
            Vanishing("the upper bound", value(bound).subs(s.r, sp.sqrt(1 + 2 * s.c))),
        ),
        Step(
            "mu0 is the target itself when r = sqrt(1+2c).",
            eq(s.spike_perfect, perfect),
            Vanishing("mu0 = erf(kappa)", mean.subs(x, perfect * s.kappa) - sp.erf(s.kappa)),
        ),
        Step(
            "At alpha0 -> infinity c = 1 and r = (eta/beta) h1^2 with h1 = 2/sqrt(3 pi): the learning rate that "
            "gives this spike.",
            eq(s.eta_perfect, eta),
            RationalLimit("c tends to one", 1 + rate**2 * s.h2 / s.alpha0 * s.h1_check, s.alpha0, sp.S.One),
            RationalLimit(
                "r^2 tends to (eta/beta)^2 h1^4",
                rate**2 * s.h1**2 * (s.h1**2 + s.h2 / s.alpha0),
                s.alpha0,
                rate**2 * s.h1**4,
            ),
            Vanishing("h1^2 = 4/(3 pi)", h1**2 - 4 / (3 * sp.pi)),
            Vanishing("the spike at this learning rate", (eta / s.beta * h1**2) ** 2 - 3),
        ),
        Step(
            "mu1 = P_c sigma' is a Gaussian in kappa, so its derivative is proportional to kappa mu1.",
            eq(sp.Symbol("\\mu_1"), kappa_slope),
            Vanishing(
                "mu1' = -2 r^2 kappa mu1/(1+2c)",
                sp.diff(kappa_slope, s.kappa) + 2 * s.r**2 * s.kappa * kappa_slope / (1 + 2 * s.c),
            ),
        ),
    )
    return Derivation(
        "upper bound for erf",
        f"{PAPER}, Section 4.3, (26), (28)",
        *steps,
        results={
            s.error_infinity: value(bound),
            s.spike_perfect: perfect,
            s.eta_perfect: eta,
            s.target_overlap: value(overlap),
            s.student_norm: value(norm),
        },
        hypotheses=(HEAT,),
    )


@functools.cache
def sign_target() -> Derivation:
    """Activation and target sign at any alignment: overlap, norm and upper bound as arcsines."""
    mean = sign_mean(x, s.c)
    rho = 1 - s.gamma**2
    student, first, overlap, norm, bound = arcsines.sign_upper()
    teacher = s.gamma / sp.sqrt(2 * rho)
    slope = sp.diff(mean, x).subs(x, s.r * s.kappa)
    root_c = sp.Symbol("sqrt(c)", positive=True)
    far = sp.Symbol("1/sqrt(c)", positive=True)
    steps = (
        Step(
            "mu0 = erf(r kappa/sqrt(2c)) solves the heat equation; its argument x/sqrt(2c) goes to infinity with "
            "the sign of x as c -> 0.",
            eq(sp.Symbol("\\mu_0"), mean.subs(x, s.r * s.kappa)),
            Vanishing("heat equation", heat_residual(mean)),
            RationalLimit(
                "the reciprocal of the argument vanishes as c -> 0",
                (1 / (x / (sp.sqrt(2) * root_c))).subs(root_c, 1 / far),
                far,
                sp.S.Zero,
            ),
        ),
        Step(
            "The target's mean at fixed kappa is the same semigroup at variance 1 - gamma^2.",
            eq(sp.Symbol("y_0"), sign_mean(s.gamma * s.kappa, rho)),
            Vanishing("its scale", sign_mean(s.gamma * s.kappa, rho) - sp.erf(teacher * s.kappa)),
        ),
        *_product_steps(),
        proved("So mu0 is an erf of kappa,", student),
        proved("and y0 another.", first),
        proved("Overlap of target and student, with a = gamma/sqrt(2(1-gamma^2)) and b = r/sqrt(2c).", overlap),
        proved("Norm of mu0, with a = b = r/sqrt(2c).", norm),
        proved("E[g^2] = 1 less the projection.", bound),
        Step(
            "mu1 is a Gaussian in kappa, so its derivative is proportional to kappa mu1.",
            eq(sp.Symbol("\\mu_1"), slope),
            Vanishing("mu1' = -r^2 kappa mu1/c", sp.diff(slope, s.kappa) + s.r**2 * s.kappa * slope / s.c),
        ),
    )
    return Derivation(
        "upper bound for sign",
        f"{PAPER}, Section 4.3, (26), (165)-(169)",
        *steps,
        results={s.error_infinity: value(bound), s.target_overlap: value(overlap), s.student_norm: value(norm)},
        hypotheses=(HEAT,),
    )

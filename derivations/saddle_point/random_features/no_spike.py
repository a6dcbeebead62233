r"""No spike: plain random features, their free energy, and how the spiked system meets it as r -> 0.

At r = 0 the functions along the spike are constants, mu0 = 0 (odd activation), mu1 and mu2, and the features are
mu1 W x + mu2 xi: the Gaussian equivalence of plain random features. Its replica computation needs no direction v; the
spiked system at r = 0 has to reduce to it whatever the alignment, which is checked equation by equation.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.function import AppliedUndef

from onestep.derivations.bulk.marchenko_pastur import second_moments
from onestep.derivations.free_energy.along_spike import PAPER, g, mu0, mu1, mu2, squared_residual, y0, y1, y2
from onestep.derivations.free_energy.sample_energy import TEACHER
from onestep.derivations.free_energy.stationarity import solve_linear
from onestep.derivations.gradient_step.leaves import H1_STAR, H2_STAR
from onestep.derivations.kernel.algebra import assume, congruence, rewrite, ring
from onestep.derivations.kernel.averages import average, iterated, rotate
from onestep.derivations.kernel.limits import limit_rational, name_limit
from onestep.derivations.kernel.search import averages_expanded, expanded, isolated, proved, rewritten, value
from onestep.derivations.kernel.statements import Assumption, Equation, Ground, sides
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq, ge
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.inequalities import for_vectors
from onestep.derivations.saddle_point import equations
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.equations import T_trace, equation, isotropic, name_traces, stationary, tau_trace

SOURCE = f"{PAPER}, Section 4.2"
ODD = "the activation is odd and the target centred, so that mu0 = 0 and E[y0] = 0 at r = 0"

# mu1 and mu2 at r = 0: constants.
k1, k2 = s.mu1_constant, s.mu2_constant
V_plain = k1**2 * s.V1 + k2**2 * s.V2
e_plain = s.h2_star + s.noise - 2 * k1 * s.h1_star * s.M + k1**2 * s.Q1 + k2**2 * s.q2
PLAIN_CONJUGATE = {
    s.M: s.M_hat,
    s.Q1: s.V1_hat,
    s.q2: s.V2_hat,
    s.V1: s.q1_hat,
    s.V2: s.q2_hat,
    s.M_hat: s.M,
    s.V1_hat: s.Q1,
    s.V2_hat: s.q2,
}


def plain_free_energy() -> sp.Expr:
    """Free energy of features mu1 W x + mu2 xi, target along theta: no spike, one overlap M = a.W theta/sqrt p."""
    trace = (s.q1_hat * s.V1 - s.V1_hat * s.Q1 + s.q2_hat * s.V2 - s.V2_hat * s.q2) / 2 + s.M * s.M_hat
    entropic = (s.q1_hat * T_trace + s.q2_hat * tau_trace + s.beta * s.M_hat**2 * T_trace) / 2
    return trace - entropic + s.alpha / (2 * s.beta) * e_plain / (1 + V_plain)


@functools.cache
def plain() -> Derivation:
    """The saddle point of plain random features, by differentiating its own free energy."""
    phi = plain_free_energy()
    solutions = {
        unknown: name_traces(solve_linear(stationary(phi, variable), unknown))
        for variable, unknown in PLAIN_CONJUGATE.items()
    }
    field = k1 * s.M * s.z + sp.sqrt(k1**2 * (s.Q1 - s.M**2) + k2**2 * s.q2) * s.xi
    error = Expectation(sp.expand((g(s.z) - field) ** 2), s.z, s.xi)
    averaged = expand_expectations(error).subs(
        {Expectation(g(s.z) ** 2, s.z): s.h2_star, Expectation(s.z * g(s.z), s.z): s.h1_star}
    )
    steps = (
        Step(
            "The output is mu1 a.W x/sqrt p + mu2 a.xi/sqrt p, Gaussian with variance mu1^2 Q1 + mu2^2 q2 and "
            "covariance mu1 M with theta.x; only E[g^2] = h2* and E[z g] = h1* of the target enter.",
            eq(s.test_error, e_plain - s.noise),
            Vanishing("the error is that of the free energy, less label noise", averaged - e_plain + s.noise),
        ),
        Step("The free energy has eight variables.", eq(s.free_energy, phi)),
        *(
            Step(
                f"Stationarity in ${sp.latex(variable)}$.",
                eq(unknown, solutions[unknown]),
                Vanishing(
                    f"stationarity in {variable}",
                    name_traces(stationary(phi, variable)).subs(unknown, solutions[unknown]),
                ),
            )
            for variable, unknown in PLAIN_CONJUGATE.items()
        ),
    )
    return Derivation("plain random features", SOURCE, *steps, results={**solutions, s.test_error: e_plain - s.noise})


def solved_error() -> sp.Expr:
    """e of plain random features in closed form: Q1 and q2 are affine in it through their forces."""
    e = sp.Symbol("e", real=True)
    results = plain().results
    forces = {
        s.q1_hat: s.alpha / s.beta * k1**2 * e / (1 + s.V) ** 2,
        s.q2_hat: s.alpha / s.beta * k2**2 * e / (1 + s.V) ** 2,
    }
    sizes = {s.Q1: results[s.Q1].subs(forces), s.q2: results[s.q2].subs(forces)}
    (solution,) = sp.solve(e - e_plain.subs(sizes).subs(s.M, s.beta * s.V1 * s.M_hat), e)
    return solution


@functools.cache
def plain_error() -> Derivation:
    """The test error of plain random features, explicit in the traces, M^ and V."""
    base = plain()
    result = solved_error() - s.noise
    affine = base.results
    step = Step(
        "Q1 and q2 are affine in the error through their conjugates: solve the one linear equation that is left.",
        eq(s.test_error, result),
        Vanishing(
            "the solution reproduces itself",
            (e_plain - solved_error())
            .subs({s.Q1: affine[s.Q1], s.q2: affine[s.q2]})
            .subs(
                {
                    s.q1_hat: s.alpha / s.beta * k1**2 * solved_error() / (1 + s.V) ** 2,
                    s.q2_hat: s.alpha / s.beta * k2**2 * solved_error() / (1 + s.V) ** 2,
                }
            )
            .subs(s.M, s.beta * s.V1 * s.M_hat),
        ),
    )
    return Derivation("test error of plain random features", SOURCE, *base.steps, step, results={s.test_error: result})


def target_moment_rules() -> dict[sp.Expr, sp.Expr]:
    """Averages of the target's moments over kappa by Stein: E[kappa y0] = gamma h1*, E[y1] = sqrt(rho) h1*."""
    return {
        Expectation(s.kappa * y0, s.kappa): s.gamma * s.h1_star,
        Expectation(y1, s.kappa): sp.sqrt(s.rho) * s.h1_star,
        Expectation(y0, s.kappa): sp.S.Zero,
        Expectation(y2, s.kappa): s.h2_star + s.noise,
    }


ALIGNMENT = assume(
    (),
    Assumption(
        Ground.MODEL, "alignment", Equation(s.rho, 1 - s.gamma**2), "rho is what gamma^2 leaves of one"
    ),
)
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_hole = sp.Symbol("hole", nonnegative=True)
_across = sp.Symbol("x_0", real=True)
_sine = sp.sqrt(1 - s.gamma**2)


def target_first(whole: sp.Expr) -> Theorem:
    """An average over kappa, z and other variables, with theta.x in place of z and what is across it in place of kappa.

    rho has to be written 1 - gamma^2 in it.
    """
    new = tuple({s.kappa: _across}.get(v, v) for v in whole.variables)
    images = {s.kappa: s.gamma * s.z - _sine * _across, s.z: _sine * s.z + s.gamma * _across}
    matrix = tuple(tuple(images.get(v, v).coeff(symbol) for symbol in new) for v in whole.variables)
    turned = rotate((), whole, new, matrix)
    for call in sorted(value(turned).atoms(AppliedUndef), key=sp.default_sort_key):
        for argument in call.args:
            simpler = sp.expand(argument)
            if simpler != argument and value(turned).has(argument):
                turned = rewrite((turned, ring((), Equation(argument, simpler))))
    return turned


def averaged_moment(integrand: sp.Expr) -> Theorem:
    """E over kappa and z of a polynomial in the target, by y0, y1 and y2, at rho = 1 - gamma^2."""
    known = equations.label_moments()
    inner = Expectation(integrand, s.z)
    by_parts = expanded(inner)
    moment = rewritten(by_parts, *known) if by_parts else next(t for t in known if sides(t.statement)[0] == inner)
    over_both = iterated((), Expectation(integrand, s.kappa, s.z), (s.z,))
    return rewrite((averages_expanded(rewrite((over_both, average((moment,), (s.kappa,)))), s.kappa), ALIGNMENT))


@functools.cache
def target_moments() -> tuple[Theorem, ...]:
    """E[kappa y0] = gamma h1*, E[y1] = sqrt(rho) h1* and E[y2] = h2* + Delta: theta.x is standard normal."""
    root, found = congruence((ALIGNMENT,), sp.sqrt(_hole), _hole), []
    constants = tuple(isolated(value(name), name) for name in (H1_STAR, H2_STAR))
    for integrand in (s.kappa * TEACHER, s.z * TEACHER, TEACHER**2):
        by_kappa = averaged_moment(integrand)
        by_target = rewritten(averages_expanded(target_first(sides(by_kappa.statement)[0])), *constants)
        (mean,) = value(by_kappa).atoms(Expectation)
        named = isolated(mean, ring((by_kappa, by_target), Equation(value(by_kappa), value(by_target)), (-_ONE, _ONE)))
        found.append(rewrite((named, root), True) if value(named).has(value(root)) else named)
    return tuple(found)


def without_spike(expression: sp.Expr) -> sp.Expr:
    """The expression at r = 0: mu0 = 0, mu1 and mu2 constant, target moments averaged."""
    constant = expression.xreplace({mu0: sp.S.Zero, mu1: k1, mu2: k2})
    return expand_expectations(constant).subs(target_moment_rules())


@functools.cache
def reduction() -> Derivation:
    """The spiked system at r = 0 is solved by plain random features: M splits in gamma and sqrt(rho)."""
    law = second_moments().results
    ratio = s.V1_hat * (1 + V_plain) / k1**2  # alpha/beta, from the equation for V1^
    M_hat = sp.cancel(plain().results[s.M_hat].subs(s.alpha, s.beta * ratio))
    M = plain().results[s.M].subs(s.M_hat, M_hat)
    Q1 = plain().results[s.Q1].subs(s.M_hat, M_hat)
    q2 = plain().results[s.q2].subs(s.M_hat, M_hat)
    zeta, psi, q1 = s.gamma * M, sp.sqrt(s.rho) * M, Q1 - s.gamma**2 * M**2
    solution = {s.zeta: zeta, s.psi: psi}

    def close(expression: sp.Expr) -> sp.Expr:
        return expression.subs(s.alpha, s.beta * ratio).subs(law).subs(s.rho, 1 - s.gamma**2)

    spiked_error = without_spike(Expectation(squared_residual, s.kappa))
    zeta_hat = without_spike(equation(s.zeta).results[s.zeta_hat]).subs(solution)
    psi_hat = without_spike(equation(s.psi).results[s.psi_hat]).subs(solution)
    forces = {s.zeta_hat: zeta_hat, s.psi_hat: psi_hat}
    combined = s.gamma**2 + s.rho - 1
    steps = (
        *plain().steps,
        Step(
            "theta.x = gamma kappa + sqrt(rho) z is standard normal; by Stein's lemma E[kappa g] = gamma E[g'] = "
            "gamma h1* and E[z g] = sqrt(rho) h1*.",
            eq(Expectation(s.kappa * y0, s.kappa), s.gamma * s.h1_star),
            Vanishing("the variance of theta.x is one", combined.subs(s.rho, 1 - s.gamma**2)),
            Vanishing(
                "differentiating g in kappa brings down gamma",
                sp.diff(g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z), s.kappa) * sp.sqrt(s.rho)
                - sp.diff(g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z), s.z) * s.gamma,
            ),
        ),
        Step(
            "zeta = gamma M: the spike's direction is learned as any other, at its share of the target.",
            eq(s.zeta, s.gamma * s.M),
            Vanishing("zeta = beta c V2 zeta^", close(isotropic(s.zeta_hat).results[s.zeta].subs(forces) - zeta)),
        ),
        Step(
            "psi = sqrt(rho) M.",
            eq(s.psi, sp.sqrt(s.rho) * s.M),
            Vanishing("psi = beta V1 psi^", close(isotropic(s.psi_hat).results[s.psi].subs(forces) - psi)),
        ),
        Step(
            "The error is the same when q1 = Q1 - gamma^2 M^2: what W^T a has along the spike is not in q1.",
            eq(s.q1, s.Q1 - s.gamma**2 * s.M**2),
            Vanishing(
                "E[e2] at r = 0",
                close(
                    spiked_error.subs(
                        {s.zeta: s.gamma * s.M, s.psi: sp.sqrt(s.rho) * s.M, s.q1: s.Q1 - s.gamma**2 * s.M**2}
                    )
                    - e_plain
                ),
            ),
            Vanishing("the equation for q1", close(isotropic(s.V1_hat).results[s.q1].subs(forces) - q1)),
            Vanishing("the equation for q2", close(isotropic(s.V2_hat).results[s.q2].subs(forces) - q2)),
        ),
    )
    return Derivation(
        "no spike",
        SOURCE,
        *steps,
        results={
            s.zeta: s.gamma * s.M,
            s.psi: sp.sqrt(s.rho) * s.M,
            s.q1: s.Q1 - s.gamma**2 * s.M**2,
            s.test_error: e_plain - s.noise,
        },
        hypotheses=(*equation(s.zeta).hypotheses, ODD),
    )


@functools.cache
def floor() -> Derivation:
    """Plain random features learn linear targets only: the test error is never below h2* - h1*^2."""
    excess = sp.Symbol("Q_1-M^2", nonnegative=True)
    gap = (e_plain - s.noise - (s.h2_star - s.h1_star**2)).subs(s.Q1, excess + s.M**2)
    step = Step(
        "Q1 >= M^2 by Cauchy-Schwarz; the error exceeds the best linear fit of the target by squares.",
        ge(s.test_error, s.h2_star - s.h1_star**2),
        NonNegative("error less floor", gap, ((sp.S.One, s.h1_star - k1 * s.M), (excess, k1), (s.q2, k2))),
        *for_vectors(),
    )
    return Derivation(
        "floor of plain random features",
        SOURCE,
        *plain().steps,
        step,
        results={s.test_error: e_plain - s.noise},
        hypotheses=(
            "Q1 = |W^T a|^2/p and M = a.W theta/sqrt(p) of the same readout, with |theta| = 1, at every dimension; a "
            "weak inequality passes to their limits",
        ),
    )


_t = sp.Symbol("1/r", positive=True)
_rm, _zeta = sp.Function("r m", real=True)(_t), sp.Function("zeta", real=True)(_t)
_CORRECTIONS = sp.symbols("A_1 B_1 D_1 F_1 H_1", real=True)


@functools.cache
def small_spike() -> tuple[Theorem, ...]:
    """r m and zeta at a small spike, as functions of 1/r: their two equations, and what solves them.

    Averages are divided by their power of r, with the corrections of order r^2 that mu0 = r mu1 kappa + O(r^3) leaves.
    """
    weight, along = k1**2 / (1 + s.V), k1 * s.gamma * s.h1_star / (1 + s.V)
    A, B, D, F, H = (
        leading + correction / _t**2
        for leading, correction in zip((weight, weight, weight, along, along), _CORRECTIONS, strict=True)
    )
    cost = s.alpha * s.c * s.V2

    def small(name: str, left: sp.Expr, right: sp.Expr, claim: str) -> Theorem:
        statement = Equation(left, right)
        return assume((), Assumption(Ground.HYPOTHESIS, f"small spike, {name}", statement, claim, frozenset({_t})))

    of_m = small("m", A * _rm + B * _zeta, F, "result-3-3.saddle.m")
    of_zeta = small("zeta", _zeta, cost * (H - B * _rm - D * _zeta), "result-3-3.saddle.zeta-hat")
    by_zeta = isolated(_rm, of_m)
    zeta = isolated(_zeta, rewrite((of_zeta, by_zeta)))
    return of_m, of_zeta, zeta, rewritten(by_zeta, zeta)


def at_no_spike(name: sp.Symbol, found: sp.Expr, theorem: Theorem, meaning: str) -> Theorem:
    """``name`` for the limit of a quantity as the spike vanishes."""
    left, right = sides(theorem.statement)
    form = sp.cancel(sp.together(right))
    known = ring((theorem,), Equation(left, form), (sp.Integer(1),))
    limit = limit_rational((), form, found, _t)
    return name_limit((rewrite((limit, known), True),), name, meaning)


@functools.cache
def vanishing_spike() -> Derivation:
    """r -> 0+ after the limit of large dimensions: m grows like 1/r and learns the spike direction at no cost."""
    of_m, of_zeta, zeta, rm = small_spike()
    m_limit = at_no_spike(s.m_no_spike, s.gamma * s.h1_star / k1, rm, "limit of r m as the spike vanishes")
    zeta_limit = at_no_spike(s.zeta_no_spike, sp.Integer(0), zeta, "limit of zeta as the spike vanishes")
    along = s.gamma * s.h1_star
    e_limit = s.h2_star + s.noise - along**2 - 2 * k1 * sp.sqrt(s.rho) * s.h1_star * s.psi + k1**2 * s.q1 + k2**2 * s.q2
    e_any = without_spike(
        Expectation(squared_residual.subs(mu0 * s.m, k1 * s.kappa * along / k1).subs(s.zeta, 0), s.kappa)
    )
    rotated = e_plain.subs({s.h1_star: sp.sqrt(s.rho) * s.h1_star, s.M: s.psi, s.Q1: s.q1}) - along**2
    steps = (
        proved(
            "mu0 = r mu1 kappa + O(r^3): with A = r^2 A', B = r B', F = r F' the equation for r m has coefficients of "
            "order one,",
            of_m,
        ),
        proved("and so has that for zeta.", of_zeta),
        proved("r m tends to gamma h1*/mu1.", m_limit),
        proved("zeta vanishes.", zeta_limit),
        Step(
            "So mu0 m tends to gamma h1* kappa, the whole linear part along the spike: m carries no ridge cost at "
            "this order.",
            eq(mu0 * s.m, along * s.kappa),
        ),
        Step(
            "The rest is plain random features for the target without that part: h1* -> sqrt(rho) h1* and h2* -> "
            "h2* - gamma^2 h1*^2.",
            eq(s.error_no_spike, e_limit - s.noise),
            Vanishing("the error at this prediction", e_any - e_limit),
            Vanishing("it is that of plain random features with another target", rotated - e_limit),
        ),
    )
    return Derivation(
        "spike to zero",
        SOURCE,
        *steps,
        results={s.m_no_spike: value(m_limit), s.zeta_no_spike: value(zeta_limit), s.error_no_spike: e_limit - s.noise},
        hypotheses=(ODD, "the limit r -> 0 is taken after d -> infinity, and exchanged with the averages over kappa"),
    )

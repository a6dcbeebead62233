r"""A finite or continuous vocabulary over an orthogonal bulk: Appendix D, equations (158)-(164), gamma = 1.

With W_u W_u'^T = c_u delta_uu' the traces of (155)-(156) are elementary. One thing is not: W_u Pi W_u'^T lacks
s_u s_u'^T, s_u = W_u v, and since the signal points along s this rank-one term counts at leading order, in zeta and q.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.blocks import LETTERS, PAIRS, C, vanishing
from onestep.derivations.free_energy.along_spike import PAPER, over_kappa, y0
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.letter_energy import V_of_kappa, mu0_of, mu1_of, mu2_of, q_of_kappa
from onestep.derivations.saddle_point.letters import equation as groups_equation
from onestep.derivations.saddle_point.letters import output

SOURCE = f"{PAPER}, Appendix D, (158)-(160)"
ORTHOGONAL = "the rows of the bulk are orthogonal, with squared norm c_u, and v is spread evenly over them"

# Variance of a feature of each letter given kappa, c mu1^2 + mu2^2.
variance = tuple(s.c_of[a] * mu1_of[a] ** 2 + mu2_of[a] ** 2 for a in LETTERS)
resolvent = tuple(1 / (s.ridge + s.V_hat_of_letter[a]) for a in LETTERS)


def spike_share(a: int) -> sp.Expr:
    """|s_a|^2 = sum over the letter's neurons of (w.v)^2: p pi_a of them, c_a/d each."""
    return s.beta * s.fraction[a] * s.c_of[a]


def without_spike(a: int, b: int) -> sp.Expr:
    """The block of W Pi W^T in units of the identity where traces are taken: c_a on the diagonal."""
    return s.c_of[a] if a == b else sp.S.Zero


@functools.cache
def response() -> Derivation:
    """V_u = pi_u/(lambda + V^_u), and V(kappa) as a sum over letters of nu_u V_u."""
    own = [s.fraction[a] * resolvent[a] for a in LETTERS]
    blocks = {s.V1_of[a][b]: without_spike(a, b) * (s.V_of_letter[a] if a == b else 1) for a, b in PAIRS}
    letters = {s.V2_of[a]: s.V_of_letter[a] for a in LETTERS}
    result = V_of_kappa.subs(blocks | letters)
    expected = sum(variance[a] * s.V_of_letter[a] for a in LETTERS)
    weight = s.alpha / s.beta * over_kappa(variance[0] / (1 + expected))
    parts = s.alpha / s.beta * s.c_of[0] * over_kappa(mu1_of[0] ** 2 / (1 + expected))
    parts += s.alpha / s.beta * over_kappa(mu2_of[0] ** 2 / (1 + expected))
    steps = (
        Step(
            "Up to k directions S is lambda + c_u V1^_uu + V2^_u on the neurons of a letter; finitely many directions "
            "are O(1/p) in a trace.",
            eq(s.V_of_letter[0], own[0]),
            Vanishing("S S^-1 = 1, traced over the letter", own[0] / resolvent[0] - s.fraction[0]),
        ),
        Step(
            "V1_uu' = c_u V_u delta_uu', so mu1 and mu2 enter together, as the variance nu_u of a feature.",
            eq(s.V, result),
            Vanishing("V(kappa) is the sum of nu_u V_u", sp.expand(result - expected)),
            Vanishing("c_u V1^_uu + V2^_u is one average", parts - weight),
        ),
    )
    results: dict[sp.Basic, sp.Expr] = {s.V_of_letter[a]: own[a] for a in LETTERS}
    return Derivation("response over an orthogonal bulk", SOURCE, *steps, results=results, hypotheses=(ORTHOGONAL,))


@functools.cache
def averaged() -> Derivation:
    """V(kappa) and V^_u from the response."""
    base = response()
    result = sum(variance[a] * s.V_of_letter[a] for a in LETTERS)
    weight = s.alpha / s.beta * over_kappa(variance[0] / (1 + result))
    # The conjugates of Section 3.3 for two letters over any bulk, from the free energy, at this V(kappa).
    general = [
        groups_equation(v).results[hat] for v, hat in ((s.q1_of[0][0], s.V1_hat_of[0][0]), (s.q2_of[0], s.V2_hat_of[0]))
    ]
    blocks = {s.V1_of[a][b]: without_spike(a, b) * (s.V_of_letter[a] if a == b else 1) for a, b in PAIRS}
    letters = {s.V2_of[a]: s.V_of_letter[a] for a in LETTERS}
    own, rest = (expand_expectations(e.subs(blocks | letters)) for e in general)
    step = Step(
        "Row w of letter u has |w|^2 = c_u, so V1^_uu and V2^_u act on it together.",
        eq(s.V_hat_of_letter[0], weight),
        Vanishing(
            "c_u V1^_uu + V2^_u with the conjugates of the free energy",
            s.c_of[0] * own + rest - expand_expectations(weight),
        ),
    )
    return Derivation(
        "features over an orthogonal bulk",
        SOURCE,
        *base.steps,
        step,
        results={s.V: result, s.V_hat_of_letter[0]: weight},
        hypotheses=(ORTHOGONAL,),
    )


def along_spike(X: sp.Matrix) -> sp.Matrix:
    """Z = s.G s by blocks, from G^-1 = G0^-1 - s C s^T blockwise: Z = X + X C Z, X = s.G0 s."""
    return ((sp.eye(2) - X * C).inv(method="ADJ") * X).applyfunc(sp.factor)


@functools.cache
def spike() -> Derivation:
    """zeta_u with the rank-one term kept: zeta = X (zeta^ + V1^ zeta), X = diag(beta c_u V_u)."""
    x = sp.symbols("x_1 x_2", positive=True)
    X = sp.diag(*x)
    Z = along_spike(X)
    hats = sp.Matrix(s.zeta_hat_of)
    zeta = Z * hats
    own = sp.Symbol("own", real=True)
    relation = own - x[0] * (hats[0] + C[0, 0] * own + C[0, 1] * s.zeta_of[1])
    solved = sp.solve(relation, own)[0]
    of_V = {x[a]: spike_share(a) * s.V_of_letter[a] / s.fraction[a] for a in LETTERS}
    result = solved.subs(of_V)
    steps = (
        *response().steps,
        Step(
            "W Pi W^T = W W^T - s s^T, so S is diagonal minus V1^ o s s^T: a perturbation of as many directions as "
            "letters.",
            eq(sp.MatrixSymbol("Z", 2, 2), Z),
            *vanishing("Z = X + X C Z", Z - X - X * C * Z),
        ),
        Step(
            "x_u = |s_u|^2/(lambda + V^_u) = beta c_u V_u.",
            eq(x[0], of_V[x[0]]),
            Vanishing(
                "with |s_u|^2 = beta pi_u c_u",
                spike_share(0) * resolvent[0] - of_V[x[0]].subs(s.V_of_letter[0], s.fraction[0] * resolvent[0]),
            ),
        ),
        Step(
            "zeta = Z zeta^ solves zeta = X (zeta^ + V1^ zeta).",
            eq(s.zeta_of[0], result),
            *(Vanishing(f"letter {a + 1}", sp.together((zeta - X * (hats + C * zeta))[a])) for a in LETTERS),
        ),
    )
    return Derivation(
        "spike over an orthogonal bulk", SOURCE, *steps, results={s.zeta_of[0]: result}, hypotheses=(ORTHOGONAL,)
    )


def overlap_of(a: int, b: int) -> sp.Expr:
    """a_a.W_a Pi W_b^T a_b/p = c_a |a_a|^2/p delta_ab - zeta_a zeta_b."""
    return without_spike(a, b) * (s.q2_of[a] if a == b else 1) - s.zeta_of[a] * s.zeta_of[b]


@functools.cache
def sizes() -> Derivation:
    """q_u and q(kappa): noise through the resolvent squared, signal through zeta."""
    e = s.zeta_of[0] / (s.beta * s.c_of[0] * s.V_of_letter[0])
    signal = spike_share(0) * e**2 * resolvent[0] ** 2
    noise = s.fraction[0] * s.q_hat_of_letter[0] * resolvent[0] ** 2
    on_shell = {s.V_of_letter[0]: s.fraction[0] * resolvent[0]}
    size = noise + s.zeta_of[0] ** 2 / (s.beta * s.c_of[0] * s.fraction[0])
    overlaps = {s.q1_of[a][b]: overlap_of(a, b) for a, b in PAIRS}
    result = q_of_kappa.subs(overlaps)
    mean = sum(mu1_of[a] * s.zeta_of[a] for a in LETTERS)
    expected = sum(variance[a] * s.q2_of[a] for a in LETTERS) - mean**2
    steps = (
        *spike().steps,
        Step(
            "The minimum is G (sqrt p s zeta^ + noise), and G s zeta^ = G0 s e with e = zeta^ + V1^ zeta = X^-1 zeta: "
            "its square over a letter is |s_u|^2 e_u^2/(lambda + V^_u)^2 = zeta_u^2/(beta c_u pi_u).",
            eq(s.q2_of[0], size),
            Vanishing(
                "the signal's part",
                sp.together((signal - s.zeta_of[0] ** 2 / (s.beta * s.c_of[0] * s.fraction[0])).subs(on_shell)),
            ),
        ),
        Step(
            "a_u.W_u Pi W_u'^T a_u'/p = c_u |a_u|^2/p delta_uu' - zeta_u zeta_u'.",
            eq(s.output_variance, result),
            Vanishing("q(kappa) is the sum of nu_u q_u less what points along the spike", sp.expand(result - expected)),
        ),
    )
    return Derivation(
        "sizes over an orthogonal bulk", SOURCE, *steps, results={s.q2_of[0]: size}, hypotheses=(ORTHOGONAL,)
    )


@functools.cache
def output_variance() -> Derivation:
    """q(kappa) in the sizes and overlaps of the letters."""
    base = sizes()
    overlaps = {s.q1_of[a][b]: overlap_of(a, b) for a, b in PAIRS}
    return Derivation(
        "output over an orthogonal bulk",
        SOURCE,
        *base.steps,
        results={s.output_variance: q_of_kappa.subs(overlaps)},
        hypotheses=(ORTHOGONAL,),
    )


# A continuous alphabet: a letter is a function of a standard normal label, which gives it any law p(u); functions of
# the letter are functions of the label, and densities such as m(u) and zeta(u) are taken relative to p(u).
nu_along = sp.Function("nu", nonnegative=True)(s.kappa, s.mode)
mu0_along = sp.Function("mu0u", real=True)(s.kappa, s.mode)
mu1_along = sp.Function("mu1u", real=True)(s.kappa, s.mode)
V_along = sp.Function("Vk", positive=True)(s.kappa)
V_hat_along = sp.Function("Vhat", positive=True)(s.mode)
q_hat_along = sp.Function("qhat", nonnegative=True)(s.mode)
c_along = sp.Function("cu", positive=True)(s.mode)
m_along = sp.Function("mu", real=True)(s.mode)
zeta_along = sp.Function("zetau", real=True)(s.mode)

MANY_LETTERS = (
    "sums over letters with weights pi_u converge to averages over the law of u, and the ridge cost m^2/p stays "
    "negligible"
)


def over_alphabet(summand: sp.Expr) -> sp.Expr:
    """The average over the law of the letters that a sum with weights pi_u becomes."""
    return Expectation(summand, s.mode)


@functools.cache
def alphabet() -> Derivation:
    """Equations (161)-(164): every sum over letters with weights pi_u as an average over the alphabet."""
    # One letter's contribution, per unit of weight; zeta_u and m_u are densities times the weight.
    per_weight = {
        s.V: variance[0] * resolvent[0],
        s.output_variance: variance[0]
        * (s.q_hat_of_letter[0] * resolvent[0] ** 2 + s.zeta_of[0] ** 2 / (s.beta * s.c_of[0])),
    }
    density = sp.Symbol("w", positive=True)
    q2_of_density = sizes().results[s.q2_of[0]].subs(s.zeta_of[0], s.fraction[0] * density)
    names = {
        s.V_hat_of_letter[0]: V_hat_along,
        s.q_hat_of_letter[0]: q_hat_along,
        s.zeta_of[0]: zeta_along,
        variance[0]: nu_along,
    }

    def continuous(expression: sp.Expr) -> sp.Expr:
        return expression.subs(names).subs(s.c_of[0], c_along)

    V = over_alphabet(continuous(per_weight[s.V]))
    q = over_alphabet(continuous(per_weight[s.output_variance])) - over_alphabet(mu1_along * zeta_along) ** 2
    mean = over_alphabet(mu0_along * m_along + s.kappa * mu1_along * zeta_along)
    # Letter 1 of the output of finitely many letters, m_u and zeta_u the weight times densities.
    total = output().results[s.letter_output]
    share = (total - total.subs({s.m_of[0]: 0, s.zeta_of[0]: 0})).subs(
        {s.m_of[0]: s.fraction[0] * m_along, s.zeta_of[0]: s.fraction[0] * zeta_along}
    )
    of_letter = {mu0_along: mu0_of[0], mu1_along: mu1_of[0]}
    steps = (
        *sizes().steps,
        Step(
            "A letter contributes pi_u nu_u/(lambda + V^_u) to V(kappa): the sum is an average over the alphabet.",
            eq(V_along, V),
            Vanishing(
                "V_u nu_u is the weight times its density",
                variance[0] * response().results[s.V_of_letter[0]] - s.fraction[0] * per_weight[s.V],
            ),
        ),
        Step(
            "m_u and zeta_u are densities times the weight; q_u is, too, the squares of zeta included.",
            eq(s.output_variance, q),
            Vanishing(
                "q_u nu_u is the weight times its density",
                sp.expand(
                    variance[0] * q2_of_density
                    - s.fraction[0] * per_weight[s.output_variance].subs(s.zeta_of[0], density)
                ),
            ),
        ),
        Step(
            "The residual of the mean output: a letter contributes its weight times the densities of m and zeta.",
            eq(s.residual, y0 - mean),
            Vanishing(
                "a letter's share of the output is the weight times its density",
                share - s.fraction[0] * mean.integrand.subs(of_letter),
            ),
        ),
    )
    return Derivation(
        "continuous alphabet",
        f"{PAPER}, Appendix D, (161)-(164)",
        *steps,
        results={V_along: V, s.output_variance: q, s.residual: y0 - mean},
        hypotheses=(ORTHOGONAL, MANY_LETTERS),
    )


@functools.cache
def alphabet_conjugate() -> Derivation:
    """Equation (162): V^(u) for every letter of the alphabet."""
    base = alphabet()
    finite = averaged().results[s.V_hat_of_letter[0]]
    V = averaged().results[s.V]
    weight = finite.replace(
        lambda e: isinstance(e, Expectation),
        lambda e: over_kappa(e.integrand.subs(V, V_along).subs(variance[0], nu_along)),
    )
    step = Step(
        "The conjugate of a letter, with the variance of its features and V(kappa) of the whole alphabet.",
        eq(V_hat_along, weight),
        Vanishing(
            "c_u V1^_uu + V2^_u, letter by letter",
            c_along * s.alpha / s.beta * over_kappa(mu1_along**2 / (1 + V_along))
            + s.alpha / s.beta * over_kappa((nu_along - c_along * mu1_along**2) / (1 + V_along))
            - weight,
        ),
    )
    return Derivation(
        "conjugates of a continuous alphabet",
        base.source,
        *averaged().steps,
        *base.steps,
        step,
        results={V_hat_along: weight},
        hypotheses=base.hypotheses,
    )


def reflected(expression: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The integrand at minus the variable: a symmetric law gives it the same average."""
    return expression.subs(variable, -variable)


@functools.cache
def no_unique_mean() -> Derivation:
    """With a symmetric alphabet and an odd mu0, any even function of the letter can be added to m(u)."""
    odd = sp.Function("F", real=True)
    even = sp.Function("t", real=True)
    x = s.mode * s.kappa
    # An odd function of u kappa, and an even one of u.
    integrand = x * odd(x**2) * even(s.mode**2)
    change = Expectation((integrand + reflected(integrand, s.mode)) / 2, s.mode)
    first, second, third, fourth = sp.symbols("f_0 f_1 t_0 t_1", real=True)
    example = x * (first + second * x**2) * (third + fourth * s.mode**2)
    steps = (
        Step(
            "mu0 of letter u is an odd function of u kappa; a change t(u) of m(u), even in u, changes the mean output "
            "by the average of an odd function of u.",
            eq(s.output_change, Expectation(integrand, s.mode)),
            Vanishing("the integrand is odd", integrand + reflected(integrand, s.mode)),
        ),
        Step(
            "Over a symmetric alphabet that is zero.",
            eq(s.output_change, change),
            Vanishing(
                "functions of first degree over a normal alphabet, moment by moment",
                expand_expectations(Expectation(sp.expand(example), s.mode)) - change,
            ),
        ),
    )
    return Derivation(
        "m(u) is not unique", f"{PAPER}, Appendix D, (161)-(162)", *steps, results={s.output_change: change}
    )

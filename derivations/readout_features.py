r"""Features and outputs of a readout with a finite vocabulary: Appendix D, equations (133)-(143).

A neuron of letter u has spike r u and bulk variance c_u: everything of Section 3.2 holds for it with these two numbers.
"""

from __future__ import annotations

import functools

import sympy as sp

from derivations.bulk.blocks import LETTERS
from derivations.equivalence.spike_coefficients import coefficients
from derivations.free_energy.along_spike import PAPER
from derivations.gradient_step.bulk import bulk
from derivations.language import symbols as s
from derivations.language.derivation import Derivation, Step, Vanishing
from derivations.readout_groups import mu0_of, mu1_of, mu2_of

SOURCE = f"{PAPER}, Appendix D"


def for_letter(expression: sp.Expr, a: int) -> sp.Expr:
    """A formula of Section 3.2 for the neurons of one letter: spike r u, bulk variance c_u."""
    return expression.subs({s.r: s.r * s.letter[a], s.c: s.c_of[a]}, simultaneous=True)


@functools.cache
def scaling() -> Derivation:
    """The note after equation (138): with one bulk variance the functions of a letter are mu_j(u kappa)."""
    base = coefficients()
    whole = base.results[s.mu0]
    of_letter = for_letter(whole, 0).subs(s.c_of[0], s.c)
    dilated = whole.subs(s.kappa, s.letter[0] * s.kappa)
    linear = for_letter(base.results[s.mu1], 0).subs(s.c_of[0], s.c)
    steps = (
        *base.steps,
        Step(
            "The letter enters through r u kappa only, so mu0 of a letter is mu0 at u kappa.",
            sp.Eq(mu0_of[0], of_letter, evaluate=False),
            (
                Vanishing("mu0 of the letter is mu0(u kappa)", of_letter - dilated),
                Vanishing(
                    "mu1 of the letter is mu1(u kappa)",
                    linear - base.results[s.mu1].subs(s.kappa, s.letter[0] * s.kappa),
                ),
            ),
        ),
    )
    return Derivation(
        "one letter's functions", f"{SOURCE}, (136)-(138)", steps, {mu0_of[0]: of_letter}, base.hypotheses
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
    total = sum(a[k] * features[k] for _, k in neurons) / root

    def by_letter(weights: dict[str, sp.Expr]) -> list[sp.Expr]:
        return [sum(a[k] * weights[k] for u, k in neurons if u == letter) / root for letter in LETTERS]

    m, zeta = by_letter(dict.fromkeys(a, sp.S.One)), by_letter(along)
    linear, rest = by_letter(across), by_letter(noise)
    field = sum(mu1_of[u] * linear[u] + mu2_of[u] * rest[u] for u in LETTERS)
    mean = sum(mu0_of[u] * m[u] + s.kappa * mu1_of[u] * zeta[u] for u in LETTERS)
    steps = (
        Step(
            "A neuron of letter u sees w.x = kappa w.v + w.x_perp.",
            sp.Eq(s.row_input, split_input(s.spike_overlap, sp.Symbol(r"{w_{k}\cdot x_{\perp}}")), evaluate=False),
        ),
        Step(
            "Neurons collected by letter: m_u = 1.a_u/sqrt p, zeta_u = a_u.W_u v/sqrt p, and the local field h of the "
            "rest. "
            "Two neurons of one letter and one of the other are shown.",
            sp.Eq(s.letter_output, mean + field, evaluate=False),
            (Vanishing("the output is the sum over letters", total - mean - field),),
        ),
    )
    named = sum(mu0_of[u] * s.m_of[u] + s.kappa * mu1_of[u] * s.zeta_of[u] for u in LETTERS) + s.letter_field
    replaced = (mean + s.letter_field).subs(dict(zip(m, s.m_of, strict=True)) | dict(zip(zeta, s.zeta_of, strict=True)))
    found = Step(
        "In the names of the order parameters.",
        sp.Eq(s.letter_output, replaced, evaluate=False),
        (Vanishing("every overlap has its name", replaced - named),),
    )
    return Derivation("output by letters", f"{SOURCE}, (139)-(142)", (*steps, found), {s.letter_output: replaced})


@functools.cache
def gibbs() -> Derivation:
    """Equations (147)-(148) for the square loss: given the data, replicas are independent Gaussian variables."""
    from derivations.language.expectation import Expectation, expand_expectations

    u, v = sp.symbols("u v", real=True)
    B, S, mean = s.inverse_temperature, s.curvature_entry, s.minimum_entry
    first, second = mean + u / sp.sqrt(B * S), mean + v / sp.sqrt(B * S)

    def average(expression: sp.Expr) -> sp.Expr:
        return expand_expectations(Expectation(sp.expand(expression), u, v))

    apart, together = average(first * second), average(first**2)
    result = apart + s.replica_delta * (together - apart)
    energy = S * (first - mean) ** 2 / 2
    steps = (
        Step(
            "In the basis of the Hessian the loss is S (a - a^)^2/2, so that a replica is a^ + u/sqrt(B S) with u "
            "standard normal.",
            sp.Eq(sp.Symbol("a^{(i)}_{k}"), first, evaluate=False),
            (Vanishing("the Gibbs weight is the density of u", B * energy - u**2 / 2),),
        ),
        Step(
            "Two replicas share the minimum only; a replica with itself has 1/(B S) more.",
            sp.Eq(s.gibbs_moment, result, evaluate=False),
            (
                Vanishing("two replicas", apart - mean**2),
                Vanishing("one replica with itself", together - mean**2 - 1 / (B * S)),
            ),
        ),
    )
    return Derivation("replicas of the square loss", f"{SOURCE}, (147)-(148)", steps, {s.gibbs_moment: result})


def letter_row(step: sp.Expr) -> sp.Expr:
    """What the gradient step adds to a row of letter u: linear in the initial readout weight u/sqrt(p)."""
    return s.letter[0] * step


@functools.cache
def row_norm() -> Derivation:
    """The bulk variance of a letter, from that of a readout of ones (equations (36) and (133))."""
    base = bulk()
    row, step = sp.symbols("w delta", real=True)
    square = sp.expand((row + letter_row(step)) ** 2)
    of_ones = {s.delta_square: base.results[s.c] - 1, s.delta_cross: sp.S.Zero}
    result = (1 + s.letter[0] ** 2 * s.delta_square + 2 * s.letter[0] * s.delta_cross).subs(of_ones)
    steps = (
        *base.steps,
        Step(
            "The step of a neuron is proportional to its initial readout weight: u times that of a readout of ones.",
            sp.Eq(sp.Symbol(r"w'_{k}"), row + letter_row(step), evaluate=False),
            (
                Vanishing(
                    "one component of the square: |w|^2 + 2 u w.delta + u^2 |delta|^2",
                    square - row**2 - 2 * s.letter[0] * row * step - s.letter[0] ** 2 * step**2,
                ),
            ),
        ),
        Step(
            "|w|^2 = 1, the cross term vanishes, and |delta|^2 is c - 1 of a readout of ones.",
            sp.Eq(s.c_of[0], result, evaluate=False),
            (
                Vanishing(
                    "a letter is a learning rate: equation (36) at u eta",
                    result - base.results[s.c].subs(s.eta, s.letter[0] * s.eta),
                ),
            ),
        ),
    )
    return Derivation("bulk variance of a letter", f"{SOURCE}, (133)", steps, {s.c_of[0]: result}, base.hypotheses)

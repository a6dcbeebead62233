"""The free energy of a readout that starts from a finite vocabulary: Appendix D, equations (139)-(147).

Two letters and one neuron of each are written out: sums over letters and neurons show two terms, and read the same with
more. What is common to replicas and what is a replica's own are made of independent normal variables, letter by letter,
so that overlaps stay free symbols in which the free energy can be differentiated.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.free_energy import symbols as e
from giantsteps.derivations.free_energy.along_spike import PAPER, y0, y1, y2
from giantsteps.derivations.free_energy.assumptions import LOGARITHM, log_gaussian, product_of, unfolded
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.ridge import DROPPED, free_energy_of, trace_of
from giantsteps.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, Fields, sample_limit, square_loss
from giantsteps.derivations.kernel.algebra import congruence, rewrite
from giantsteps.derivations.kernel.limits import limit_compose, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import rewritten
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.features import Features
from giantsteps.derivations.language.named_functions import prior_exponent
from giantsteps.derivations.saddle_point import symbols as s

SOURCE = f"{PAPER}, Appendix D"
ROUND = tuple((a, b) for a in LETTERS for b in LETTERS)  # all ordered pairs of letters

mu0_of, mu1_of, mu2_of = (tuple(sp.Function(f"mu{j}_{a + 1}", real=True)(s.kappa) for a in LETTERS) for j in range(3))


VOCABULARY = Features(
    kappa=(s.kappa,),
    mu0=mu0_of,
    mu1=mu1_of,
    mu2=mu2_of,
    m=s.m_of,
    zeta=tuple((overlap,) for overlap in s.zeta_of),
    psi=s.psi_of,
    q1=s.q1_of,
    q2=s.q2_of,
    V1=s.V1_of,
    V2=s.V2_of,
    label=(y0, y1, y2),
)

# What all replicas have of the linear fields of the letters, beyond the label's direction: of letter 1, of letter 2
# per deviation of letter 1, and of letter 2 alone; the same of what one replica has of its own, and of the noise of
# the mode.
_shared, _own, _noise = (
    (
        sp.Symbol(f"{name}_{{11}}", positive=True),
        sp.Symbol(f"{name}_{{21}}", real=True),
        sp.Symbol(f"{name}_{{22}}", nonnegative=True),
    )
    for name in ("g", "h", "k")
)
_w, _u = sp.symbols("w_1 w_2 w_3 w_4", real=True), sp.symbols("u_1 u_2 u_3 u_4", real=True)
_total = sp.Function("V", nonnegative=True)(s.kappa)


def two_normals(
    covariance: tuple[tuple[sp.Expr, ...], ...], parts: tuple[sp.Symbol, sp.Symbol, sp.Symbol]
) -> tuple[Theorem, Theorem, Theorem]:
    """The parts of two normal variables of this covariance: of the first, shared, of the second alone."""
    first, along, alone = parts
    return (
        define(first, covariance[0][0], "the variance of the first of two normal variables"),
        define(along, covariance[0][1] / first, "how much of the first is in the second"),
        define(alone, covariance[1][1] - first * along**2, "the variance of the second beside the first"),
    )


def of_letter(a: int, parts: tuple[sp.Symbol, ...], normals: tuple[sp.Symbol, ...]) -> sp.Expr:
    """One of two normal variables, made of independent ones."""
    first, along, alone = parts
    return sp.sqrt(first) * normals[0] if a == 0 else along * sp.sqrt(first) * normals[0] + sp.sqrt(alone) * normals[1]


@functools.cache
def parts_of_fields() -> tuple[Theorem, ...]:
    """The independent parts of the linear fields, by the overlaps of the letters."""
    beyond = tuple(tuple(s.q1_of[a][b] - s.psi_of[a] * s.psi_of[b] for b in LETTERS) for a in LETTERS)
    return *two_normals(beyond, _shared), *two_normals(s.V1_of, _own)


@functools.cache
def response() -> tuple[Theorem, Theorem]:
    """V(kappa) as the variance of what a replica has of its own: its meaning, and by the overlaps."""
    own = sum(mu1_of[a] * of_letter(a, _own, _u) + mu2_of[a] * sp.sqrt(s.V2_of[a]) * _u[2 + a] for a in LETTERS)
    meaning = define(_total, Expectation(own**2, *_u), "the variance of what one replica has of its own", s.kappa)
    return meaning, concluded(Equation(_total, VOCABULARY.V), averages_expanded(meaning), *_backwards(_own, s.V1_of))


def _backwards(parts: tuple[sp.Symbol, ...], covariance: tuple[tuple[sp.Expr, ...], ...]) -> tuple[Theorem, ...]:
    """The definitions of the parts, the last one first, so that covariances are left."""
    return tuple(reversed(two_normals(covariance, parts)))


# What replicas share of the field, with the label's z in the linear part of every letter.
FIELDS = Fields(
    VOCABULARY.fit,
    sum(
        mu1_of[a] * (s.psi_of[a] * s.z + of_letter(a, _shared, _w)) + mu2_of[a] * sp.sqrt(s.q2_of[a]) * _w[2 + a]
        for a in LETTERS
    ),
    _w,
    _total,
    VOCABULARY.e2,
    tuple(reversed(parts_of_fields()[:3])),
)


@functools.cache
def local_fields() -> Derivation:
    """Equations (143)-(146), (154): covariance of the local fields of two replicas, in the overlaps of the letters."""
    x, noises = sp.symbols("x_1 x_2", real=True), sp.symbols("xi_1 xi_2", real=True)
    # W_u^T a_u/sqrt(p) of replica i as a vector with two components, a_u.xi/sqrt(p) through the norm of a_u.
    vectors = {
        (i, a): sp.symbols(f"A^{{{i}}}_{{{a + 1}1}} A^{{{i}}}_{{{a + 1}2}}", real=True) for i in (1, 2) for a in LETTERS
    }
    weights = {(i, a): sp.Symbol(f"a^{{{i}}}_{a + 1}", real=True) for i in (1, 2) for a in LETTERS}

    def field(i: int) -> sp.Expr:
        linear = sum(mu1_of[a] * vectors[i, a][k] * x[k] for a in LETTERS for k in (0, 1))
        return linear + sum(mu2_of[a] * weights[i, a] * noises[a] for a in LETTERS)

    def overlap(a: int, b: int) -> sp.Expr:
        return sum(vectors[1, a][k] * vectors[2, b][k] for k in (0, 1))

    meaning = define(
        s.field_covariance, Expectation(field(1) * field(2), *x, *noises), "covariance of two replicas' fields"
    )
    names = [
        define(s.q1_of[a][b], (overlap(a, b) + overlap(b, a)) / 2, "overlap of two letters in two replicas, either way")
        for a, b in PAIRS
    ]
    names += [define(s.q2_of[a], weights[1, a] * weights[2, a], "overlap of a letter's readouts") for a in LETTERS]
    covariance = concluded(Equation(s.field_covariance, VOCABULARY.q), averages_expanded(meaning), *names)
    own, by_overlaps = response()
    of_V = rewrite((define(s.V, _total, "what one replica has of its own, at this kappa"), by_overlaps))
    return Derivation(
        "local fields of several letters",
        f"{SOURCE}, (143)-(148)",
        proved(
            "Given kappa the local field of replica i is sum_u (mu1_u a_u.W_u x_perp + mu2_u a_u.xi_u)/sqrt p, linear "
            "in the Gaussian variables x_perp and xi: one vector W_u^T a_u per letter and replica, two components "
            "shown.",
            meaning,
        ),
        *each_proved("Replicas are alike: an overlap of two letters, equation (141), either way.", names),
        proved("The covariance of two replicas is sum_uu' mu1_u mu1_u' q1_uu' + sum_u mu2_u^2 q2_u.", covariance),
        *each_proved("With q_ij = V delta_ij + q fields are made of independent normal variables.", parts_of_fields()),
        proved("What a replica has of its own, equations (147)-(148).", own),
        proved("Its variance is V(kappa), with V for q in q(kappa).", of_V),
        results=(of_V, covariance),
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )


@functools.cache
def energetic() -> Derivation:
    """Equations (153)-(154): the Moreau envelope of one sample, averaged over all but kappa."""
    powers, slope, exact, limit = sample_limit((), s.moreau, "the cost of one sample per replica", FIELDS)
    result = rewritten(limit, response()[1])
    return Derivation(
        "energetic term of several letters",
        f"{SOURCE}, (153)-(154)",
        *local_fields().steps,
        *square_loss().steps,
        proved(
            "Given the part omega that all replicas share, and z, each replica averages the loss of one sample over a "
            "field of variance V/B around omega, whose covariance with the label's z is sum_u mu1_u psi_u. R replicas "
            "are one to the power R.",
            powers,
        ),
        proved("The derivative at R = 0 is the average of the logarithm of one.", slope),
        proved("The squared error averaged over z, omega and the label noise is e2 with sums over letters.", exact),
        proved("At zero temperature the determinant drops out.", limit),
        proved("A sample costs e2/(2(1+V)).", result),
        hypotheses=REPLICA_HYPOTHESES,
    )


@functools.cache
def trace() -> Derivation:
    """The trace term of equation (151): one term for each overlap, at zero replicas and zero temperature."""
    pairs = [(s.V1_of[a][b], s.q1_of[a][b], s.V1_hat_of[a][b], s.q1_hat_of[a][b]) for a, b in ROUND]
    pairs += [(s.V2_of[a], s.q2_of[a], s.V2_hat_of[a], s.q2_hat_of[a]) for a in LETTERS]
    fixed = [(s.zeta_of[a], s.zeta_hat_of[a]) for a in LETTERS] + [(s.psi_of[a], s.psi_hat_of[a]) for a in LETTERS]
    return trace_of(
        "trace term of several letters",
        f"{SOURCE}, (151)",
        pairs,
        fixed,
        "Every overlap of a letter or a pair of letters and its conjugate are replica-symmetric matrices, scaled as V "
        "-> V/B, V^ -> B V^, q^ -> B^2 q^.",
        "For R replicas it is a polynomial in R,",
    )


# The exponent of one replica in one neuron of each letter: rows w = (W_u theta_perp, W_u x) across v, and W_u v.
_along = sp.symbols("s_1 s_2", real=True)
_target, _beside = sp.symbols("t_1 t_2", real=True), sp.symbols("w_1 w_2", real=True)
_curvature = (sp.symbols("S_11 S_12", real=True), sp.symbols("S_12 S_22", real=True))
RESOLVENT = (sp.symbols("G_11 G_12", real=True), sp.symbols("G_12 G_22", real=True))
_field = sp.symbols("Xi_1:7", real=True)
_log_readouts = sp.Function("ln Z readouts", real=True)(*_field)
_second, _hole = sp.symbols("hole' hole", real=True)
_ONE, _ZERO = sp.Integer(1), sp.Integer(0)


GRAM = (sp.symbols("Omega_11 Omega_12", real=True), sp.symbols("Omega_12 Omega_22", real=True))


@functools.cache
def grams() -> tuple[Theorem, ...]:
    """W_a Pi W_b^T between one neuron of each letter: inner products of rows across v."""
    return tuple(
        define(
            GRAM[a][b], _target[a] * _target[b] + _beside[a] * _beside[b], "inner product of two rows across the spike"
        )
        for a, b in PAIRS
    )


def of_conjugates(pairs: tuple[tuple[sp.Symbol, ...], ...], own: tuple[sp.Symbol, ...], a: int, b: int) -> sp.Expr:
    """What conjugates of q1 and q2 couple two neurons by: blocks o (W Pi W^T), and the letter's own."""
    return pairs[a][b] * GRAM[a][b] + (own[a] if a == b else 0)


def form(left: tuple[sp.Expr, ...], right: tuple[sp.Expr, ...]) -> sp.Expr:
    """x.G y."""
    return sp.Add(*(left[a] * RESOLVENT[a][b] * right[b] for a, b in ROUND))


@functools.cache
def curvature() -> tuple[Theorem, ...]:
    """S = lambda + V1^ o (W Pi W^T) + V2^, equations (149)-(150)."""
    return tuple(
        define(
            _curvature[a][b],
            (s.ridge if a == b else 0) + of_conjugates(s.V1_hat_of, s.V2_hat_of, a, b),
            "minus the curvature of the exponent in the readout, per inverse temperature",
        )
        for a, b in PAIRS
    )


@functools.cache
def inverse() -> tuple[Theorem, ...]:
    """G = S^-1, by Cramer's rule."""
    (S11, S12), (_, S22) = _curvature
    minors = {(0, 0): S22, (0, 1): -S12, (1, 1): S11}
    return tuple(
        define(RESOLVENT[a][b], minors[a, b] / (S11 * S22 - S12**2), "an entry of the inverse of S") for a, b in PAIRS
    )


def noise() -> tuple[sp.Expr, ...]:
    """Gaussian forces of covariance q^ on one neuron of each letter."""
    rows = ((_field[0], _field[1]), (_field[2], _field[3]))
    return tuple(
        sp.sqrt(s.q2_hat_of[a]) * _field[4 + a]
        + _target[a] * of_letter(a, _noise, (rows[0][0], rows[1][0]))
        + _beside[a] * of_letter(a, _noise, (rows[0][1], rows[1][1]))
        for a in LETTERS
    )


def forces() -> tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """sqrt(p) zeta^ s and sqrt(p) psi^ t."""
    hats = ((s.zeta_hat_of, _along), (s.psi_hat_of, _target))
    spike, target = (tuple(sp.sqrt(s.p) * hat[a] * row[a] for a in LETTERS) for hat, row in hats)
    return spike, target


def square_of_forces() -> sp.Expr:
    """J.G J for J = sqrt p (zeta^ s + psi^ t) + noise, with s.G t under a name of its own."""
    spike, target, fluctuation = *forces(), noise()
    both = tuple(x + y for x, y in zip(spike, target, strict=True))
    alone = form(spike, spike) + form(target, target) + 2 * s.p * e.dropped_target
    return alone + 2 * form(both, fluctuation) + form(fluctuation, fluctuation)


@functools.cache
def block_names() -> tuple[Theorem, ...]:
    """Traces and forms of one given bulk, block by block, one neuron per letter."""
    names = [
        define(s.trace_block[a][b], GRAM[a][b] * RESOLVENT[a][b] / s.p, "(1/p) tr[W Pi W^T G], block by block")
        for a, b in PAIRS
    ]
    names += [define(s.trace_letter[a], RESOLVENT[a][a] / s.p, "(1/p) tr G over the letter's neurons") for a in LETTERS]
    for block, row, meaning in ((s.spike_block, _along, "W v"), (s.target_block, _target, "W theta_perp")):
        names += [
            define(block[a][b], row[a] * RESOLVENT[a][b] * row[b], f"G between {meaning}, block by block")
            for a, b in PAIRS
        ]
    return tuple(names)


def trace_of_product(overlap: tuple[tuple[sp.Symbol, ...], ...], own: tuple[sp.Symbol, ...]) -> sp.Expr:
    """(1/p) tr[q^ G] block by block: sum_ab q1^_ab T_ab + sum_a q2^_a tau_a, T and tau traces of one given bulk."""
    return sum(overlap[a][b] * s.trace_block[a][b] for a, b in ROUND) + sum(own[a] * s.trace_letter[a] for a in LETTERS)


@functools.cache
def readouts() -> tuple[Theorem, ...]:
    """The integral over the readouts: of one replica in the field, of R of them, at R = 0, at zero temperature."""
    R, B = s.replicas, s.inverse_temperature
    one = define(
        _log_readouts,
        log_gaussian(e.prior_log_det + 2 * sp.log(B), B * square_of_forces()),
        "ln of the integral over one replica's readout in the field, of curvature B S and force B J",
        *_field,
    )
    meaning = define(
        prior_exponent(R),
        sp.log(Expectation(product_of(R, sp.exp(_log_readouts)), *_field)),
        "ln of the integral over R readouts, each alone in the field that couples them",
        R,
    )
    at_zero = slope_at_zero(unfolded(meaning))
    exact = averages_expanded(rewrite((at_zero, unfolded(one))))
    energy = e.dropped_target + trace_of_forces() / (2 * s.p)
    rest = e.prior_log_det / (2 * s.p * B)
    context = energy - _hole / s.p - _second
    vanishing = limit_rational((), rest, _ZERO, B)
    limit = limit_compose((LOGARITHM, vanishing), context, (_hole, _second))
    per_temperature = congruence((exact,), _hole / (s.p * B), _hole)
    found = concluded(
        Equation(sides(per_temperature.statement)[0], sides(limit.statement)[0]),
        per_temperature,
        *grams(),
        *_backwards(_noise, s.q1_hat_of),
    )
    named = name_limit((rewrite((limit, found), True),), s.entropic_term, "the entropic term per neuron")
    return one, meaning, at_zero, named, rewritten(named, DROPPED[e.dropped_target])


def trace_of_forces() -> sp.Expr:
    """E[J.G J] less what vanishes: p (zeta^ s).G (zeta^ s) + p (psi^ t).G (psi^ t) + tr[q^ G]."""
    coupled_ = sum(of_conjugates(s.q1_hat_of, s.q2_hat_of, a, b) * RESOLVENT[a][b] for a, b in ROUND)
    return sum((form(force, force) for force in forces()), coupled_)


@functools.cache
def entropic() -> Derivation:
    """Equations (149)-(150), (152): the ridge penalty's Gaussian integral over the readout, block by block."""
    one, meaning, at_zero, named, kept = readouts()
    spike = sum(s.zeta_hat_of[a] * s.zeta_hat_of[b] * s.spike_block[a][b] for a, b in ROUND)
    target = sum(s.psi_hat_of[a] * s.psi_hat_of[b] * s.target_block[a][b] for a, b in ROUND)
    whole = (trace_of_product(s.q1_hat_of, s.q2_hat_of) + spike + target) / 2
    result = concluded(Equation(s.entropic_term, whole), kept, *block_names())
    return Derivation(
        "entropic term of several letters",
        f"{SOURCE}, (149)-(152)",
        *each_proved("S = lambda + V1^ o (W Pi W^T) + V2^, equations (149)-(150).", curvature()),
        *each_proved("Its inverse G.", inverse()),
        proved(
            "Over the readout the exponent is -B (a.S a/2 - J.a); J is sqrt p (zeta^ s + psi^ t) plus Gaussian noise "
            "of covariance q^, with s = (W_u v) and t = (W_u theta_perp). One neuron of each letter is shown.",
            one,
        ),
        proved("The noise couples R replicas, each of which is integrated alone.", meaning),
        proved("At R = 0 the average of the logarithm of one is left.", at_zero),
        proved("At zero temperature it is E[J.G J]/2p: signal and noise do not mix.", named),
        proved("s.G t vanishes, since v and theta_perp are orthogonal and independent of the bulk.", kept),
        *each_proved("A trace or form of one given bulk.", block_names()),
        proved("Written by blocks.", result),
        hypotheses=REPLICA_HYPOTHESES,
    )


@functools.cache
def assembled() -> Derivation:
    """Equation (151): the free energy with traces of one given bulk."""
    parts = (trace(), entropic(), energetic())
    *_, limit = sample_limit((s.kappa,), e.sample_cost, "the cost of one sample per replica", FIELDS)
    cost, traced = rewritten(limit, response()[1]), trace().theorem_of(s.trace_term)
    return free_energy_of("free energy of several letters", f"{SOURCE}, (151)", parts, cost, traced)

"""The bulk of a network with two letters, odd activation, and the readout that meets it, with quenched biases.

The resolvent M(A) = (C^-1 + Theta(A))^-1, Theta_a = g_a (1 + u_a^2 omega A) and g_a = beta tau_a, is linear in the
samples of the batch, whose weight in M^-1 is W = y^2 diag(g_a u_a^2 omega). Leaving one out, as for one letter,

    G = (1/d) tr M = (C^-1 + Sigma)^-1,   Sigma = diag(g) + E[W (1 + G W/alpha0)^-1],

and all else is made of G and of forms of M on v, theta_perp and the h_a. No theorem concludes G, these forms, T, tau
and K of a real batch with two letters: they are written here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.bulk import any_activation
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.any_activation import U, Y
from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS, C, shift
from giantsteps.derivations.free_energy.along_spike import over_kappa
from giantsteps.derivations.saddle_point import network as readouts
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.compiled.along import kappa_rule
from giantsteps.verify.compiled.network import Averages, Step, over_samples, rows_of, samples
from giantsteps.verify.compiled.pairs import Pair, slope_through, slopes
from giantsteps.verify.compiled.saddle_points import functions_of, on, refined
from giantsteps.verify.compiled.system import Solved, System, values_of
from giantsteps.verify.compiled.tape import Tape, written

_G = sp.Matrix(2, 2, sp.symbols("M_{11} M_{12} M_{12} M_{22}", real=True))
_ONE = sp.eye(2)
_V, _P, _DELTA = range(3)
OVERLAP = sp.Matrix(6, 6, lambda i, j: sp.Symbol(f"K_{{{min(i, j)}{max(i, j)}}}", real=True))
FORCES = sp.Matrix(sp.symbols("f_0:6", real=True))


def _square(x: str) -> sp.Matrix:
    """A 2 x 2 matrix of names."""
    return sp.Matrix(2, 2, lambda a, b: sp.Symbol(f"{x}_{{{a + 1}{b + 1}}}", real=True))


def _inverse(matrix: sp.Matrix) -> sp.Matrix:
    return matrix.adjugate() / (matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0])


@lru_cache(maxsize=1)
def _bulk() -> tuple[Pair, ...]:
    """T, tau and K by F_xy = x.M(A) y: with the spike in the bulk (W x).S^-1 W y is C^-1 x.y - C^-1 F_xy C^-1, and a
    norm delta_b meets W x through F_xh_b g_b. Taking it out leaves F_vv^-1 - C^-1 between W v and W v.
    """
    over = Averages(lambda numerator: over_samples(numerator / (1 + s.place_linear * Y**2 + s.place_square * Y**4)))
    gains = sp.diag(*s.row_gain)
    growth = sp.diag(*(s.row_gain[a] * s.letter[a] ** 2 * s.row_weight for a in LETTERS))
    weight = Y**2 * growth
    acts = weight * (_ONE + _G * weight / s.alpha0).adjugate()
    left = (_ONE + weight * _G / s.alpha0).adjugate()
    share = _G * growth / s.alpha0
    sigma, sigma_t = _square("Sigma"), _square("Sigma^t")

    def resolved(x: sp.Matrix) -> sp.Matrix:
        """(C^-1 + x)^-1."""
        return _inverse(_ONE + C * x) * C

    found: list[Pair] = [(s.row_gain[a], s.beta * s.V2_of[a]) for a in LETTERS]
    found += [(s.place_linear, share.trace()), (s.place_square, share.det())]
    found += zip(sigma, gains + acts.applyfunc(over.mean), strict=True)
    found += [(_G[a, b], resolved(sigma)[a, b]) for a, b in PAIRS]
    filled = sigma * _G
    found.append((s.filter_trace, 1 - filled[0, 0]))
    found += [(s.V2_of[a], s.fraction[a] / (shift[a] + filled[a, a] / s.row_gain[a])) for a in LETTERS]
    traces = sigma * _inverse(_ONE + C * sigma) / s.beta
    found += [(s.V1_of[a][b], traces[a, b]) for a, b in PAIRS]

    found += zip(sigma_t, gains + (U**2 * acts).applyfunc(over.mean), strict=True)
    along = _square("M^t")
    found += zip(along, resolved(sigma_t), strict=True)
    pulled, added = any_activation.pulled_and_added()
    h = (pulled + added).subs({s.turn: 0, s.slope_moment[1, 2]: 0})
    across, spike = sp.sqrt(1 - s.gamma**2), Y / sp.sqrt(s.v_square)
    vectors = {
        "v": (sp.S.Zero, spike),
        "p": (1 / across, -s.gamma / across * spike),
        **{f"h{a + 1}": (sp.S.Zero, h.subs(s.eta, s.letter[a] * s.eta)) for a in LETTERS},
    }
    seen = {x: _square(f"x^{x}") for x in vectors}
    for x, (target, f) in vectors.items():
        found += zip(seen[x], target * _ONE + (U * f * left).applyfunc(over.mean), strict=True)
    forms: dict[tuple[str, str], sp.Matrix] = {}
    for x, y in (("v", "v"), ("v", "p"), ("p", "p"), ("v", "h1"), ("v", "h2"), ("p", "h1"), ("p", "h2"),
                 ("h1", "h1"), ("h1", "h2"), ("h2", "h2")):  # fmt: skip
        own = (vectors[x][1] * vectors[y][1] * _G * left).applyfunc(over.mean)
        forms[x, y] = _square(f"M^{{{x}{y}}}")
        found += zip(forms[x, y], seen[x].T * along * seen[y] + own / s.alpha0, strict=True)
    inverse, of_spike = _square("C^{-1}"), _square("N")
    found += zip(inverse, _inverse(C), strict=True)
    found += zip(of_spike, _inverse(forms["v", "v"]), strict=True)
    norms = [sp.Matrix(2, 2, lambda a, b, x=x: forms[x, f"h{b + 1}"][a, b] * s.row_gain[b]) for x in ("v", "p")]
    across_spike = forms["v", "p"].T * of_spike
    blocks = {
        (_V, _V): of_spike - inverse,
        (_V, _P): -of_spike * forms["v", "p"] * inverse,
        (_P, _P): inverse - inverse * (forms["p", "p"] - across_spike * forms["v", "p"]) * inverse,
        (_V, _DELTA): of_spike * norms[0],
        (_P, _DELTA): inverse * (norms[1] - across_spike * norms[0]),
        (_DELTA, _DELTA): sp.diag(*(s.row_gain[a] * s.norm_variance_of[a] for a in LETTERS))
        - gains * sp.Matrix(2, 2, lambda a, b: forms[f"h{min(a, b) + 1}", f"h{max(a, b) + 1}"][a, b]) * gains
        + norms[0].T * of_spike * norms[0],
    }
    found += [
        (OVERLAP[2 * i + a, 2 * j + b], block[a, b])
        for (i, j), block in blocks.items()
        for a in LETTERS
        for b in LETTERS
        if i < j or a <= b
    ]
    return (*over.pairs.items(), *found)


@lru_cache(maxsize=1)
def bulk() -> tuple[Tape, ...]:
    """T, tau and K at given conjugates."""
    return written(_bulk())


@lru_cache(maxsize=1)
def readout() -> tuple[Tape, ...]:
    """The saddle point of the readout, and both errors."""
    features = readouts.NETWORK
    cost = s.alpha / s.beta * over_kappa(features.e2 * features.weight) / 2
    pairs: list[Pair] = []
    sources: list[tuple[sp.Symbol, sp.Symbol, int, sp.Symbol, sp.Symbol]] = []
    for a, b in PAIRS:
        times = 2 if a == b else 1
        source = sp.Symbol(rf"\hat{{q}}_{{1,{a + 1}{b + 1}}}", real=True)
        sources.append((C[a, b], s_saddle.q1_of[a][b], times, source, s.V1_of[a][b]))
    for a in LETTERS:
        source = sp.Symbol(rf"\hat{{q}}_{{2,{a + 1}}}", real=True)
        sources.append((s.V2_hat_of[a], s_saddle.q2_of[a], 2, source, s.V2_of[a]))
    for hat, q, times, source, V in sources:
        pairs += [(hat, times * sp.diff(cost, q)), (source, -times * sp.diff(cost, V))]
    overlaps = (*s_saddle.zeta_of, *s_saddle.psi_of, *s_saddle.chi_of)
    pairs += [(f, -sp.diff(cost, x)) for f, x in zip(FORCES, overlaps, strict=True)]
    for m in s_saddle.m_of:
        slope = sp.diff(cost, m)
        pairs.append((m, -slope.subs(m, 0) / sp.diff(slope, m)))
    rows = _bulk()
    pairs += [*rows, *zip(overlaps, OVERLAP * FORCES, strict=True)]
    twice = sum(2 / sp.Integer(times) * source * V for _, _, times, source, V in sources)
    twice += (FORCES.T * OVERLAP * FORCES)[0]
    pairs += slopes(rows, *(hat for hat, *_ in sources))
    for hat, q, times, _, _ in sources:
        pairs.append((q, -times * slope_through(twice, rows, hat) / 2))
    errors = {s.test_error: features.error, s.training_error: features.e2 * features.weight**2}
    return written([*pairs, *((error, over_kappa(square)) for error, square in errors.items())])


def law(step: Step, fractions: Sequence[float], letters: Sequence[float]) -> dict[str, float]:
    """The law of the rows of two letters, each a learning rate beside that of the step, by name."""
    rows = [rows_of(replace(step, eta=step.eta * u)) for u in letters]
    by_letter = {s.letter: letters, s.fraction: fractions}
    by_letter |= {of: [own[x.name] for own in rows] for of, x in ((s.c_of, s.c), (s.norm_variance_of, s.norm_variance))}
    return {**rows_of(step), **{of[a].name: values[a] for of, values in by_letter.items() for a in LETTERS}}


def bulk_of(
    step: Step, known: Mapping[str, float], conjugates: Sequence[float], D: Sequence[float], ridge: float
) -> Mapping[str, float]:
    """T, tau and K where a readout has C (11, 12, 22) and D, and all that they depend on; ``known`` is the law."""
    rule, labels = samples(step.target, step.noise, 1.0)
    given = {**known, s.ridge.name: ridge, **{s.V2_hat_of[a].name: D[a] for a in LETTERS}}
    given |= {s.V1_hat_of[a][b].name: value for (a, b), value in zip(PAIRS, conjugates, strict=True)}
    return values_of(bulk(), {U.name: rule}, given, {"g": labels})


@dataclass(frozen=True)
class Network:
    """Two letters after a step, biases b_a added to the features, and a ridge readout; of isotropic rows, its twin.

    ``noise`` is the variance of what is added to the labels of the readout's samples, ``given`` the law of the rows.
    """

    step: Step
    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    noise: float
    alignment: float
    slopes: tuple[float, ...]
    biases: tuple[float, ...]
    bulks: tuple[float, ...]
    fractions: tuple[float, ...]
    given: Mapping[str, float]


def network(
    step: Step, fractions: tuple[float, ...], letters: tuple[float, ...], biases: tuple[float, ...],
    alpha: float, ridge: float, noise: float = 0.0,
) -> Network:  # fmt: skip
    """The network of a step of a readout of ones, and of shares, letters u_a and biases of two groups."""
    known = law(step, fractions, letters)
    spikes, bulks = tuple(u * known[s.r.name] for u in letters), tuple(known[c.name] for c in s.c_of)
    known |= {s.alpha.name: alpha, s.ridge.name: ridge, s.noise.name: noise}
    return Network(
        step, step.activation, step.target, alpha, step.beta, ridge, noise, known[s.gamma.name], spikes, biases, bulks,
        fractions, known,
    )  # fmt: skip


def solved(network: Network) -> tuple[Solved, float]:
    """The saddle point of a network of two letters, and an estimate of the error. Raises SolveError."""
    return refined(partial(_on, network))


def _on(network: Network, finer: float) -> Solved:
    kappa = kappa_rule((), finer)
    rule, labels = samples(network.target, network.step.noise, finer)
    functions = {**on(kappa, functions_of(network)), "g": labels}
    return System(readout(), {U.name: rule, s.kappa.name: kappa}, network.given, functions).solve()

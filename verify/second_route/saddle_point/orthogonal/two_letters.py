"""Numbers for two letters over the orthogonal bulk of Appendix D: exact algebra at finite size, and readouts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.saddle_point import letters
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import orthogonal
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.measure import overlaps
from giantsteps.numerics.experiments.orthogonal import orthogonal_features
from giantsteps.numerics.experiments.ridge import ridge_readouts
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.compiled.along import kappa_rule
from giantsteps.verify.compiled.pairs import concluded
from giantsteps.verify.compiled.saddle_points import functions_of
from giantsteps.verify.compiled.system import values_of
from giantsteps.verify.compiled.tape import Tape, written
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.tolerances import ROUNDING
from giantsteps.verify.second_route.models import between
from giantsteps.verify.second_route.saddle_point.letters import GENERIC_LETTERS
from giantsteps.verify.second_route.sampled import Sampled
from giantsteps.verify.second_route.values import LETTERS, by_glyph, by_letter, generator_at, value

Array = NDArray[np.float64]


# One orthogonal bulk at finite size: the algebra of the rank-one term is exact there.
GIVEN = Domain(
    (
        Range("seed", 0.0, 1e6),
        Range(s.ridge, 0.2, 2.0),
        Range(s.kappa, -1.5, 1.5),
        *(Range(x, 0.5, 1.6) for x in s.c_of),
        *(Range(x, 0.2, 1.2) for x in (s.V1_hat_of[0][0], s.V1_hat_of[1][1], *s.V2_hat_of, *s.zeta_hat_of)),
        Range(s.V1_hat_of[0][1], -0.2, 0.2),
    ),
    (),
    (GENERIC_LETTERS,),
)


def _orthogonal(point: Point) -> Mapping[str, float]:
    """Traces and overlaps of one orthogonal bulk, two groups, v spread evenly over rows; a readout without noise."""
    generator = generator_at(point)
    p, d, cut = 12, 16, 5
    group = (np.arange(p) >= cut).astype(int)
    c = np.array([value(point, x) for x in s.c_of])[group]
    basis = np.linalg.qr(generator.normal(size=(d, d)))[0]
    W = np.sqrt(c)[:, None] * basis[:p]
    v = basis.sum(axis=0) / np.sqrt(d)
    spike = W @ v
    C = np.array([[value(point, s.V1_hat_of[a][e]) for e in LETTERS] for a in LETTERS])
    shift = value(point, s.ridge) + np.array([value(point, x) for x in s.V2_hat_of])
    bulk = W @ W.T - np.outer(spike, spike)
    S = np.diag(shift[group]) + C[np.ix_(group, group)] * bulk
    hats = np.array([value(point, x) for x in s.zeta_hat_of])[group]
    a = np.sqrt(p) * np.linalg.solve(S, spike * hats)
    values: dict[sp.Symbol, float] = {s.beta: p / d}
    covariance = 0.0
    mu = [[GENERIC_LETTERS[f"mu{j}_{e + 1}"](value(point, s.kappa)) for j in range(3)] for e in LETTERS]
    for e in LETTERS:
        part = group == e
        share = part.mean()
        V_hat = shift[e] - value(point, s.ridge) + C[e, e] * value(point, s.c_of[e])
        values |= {
            s.fraction[e]: share,
            s.V_hat_of_letter[e]: V_hat,
            s.V_of_letter[e]: share / (value(point, s.ridge) + V_hat),
            s.q_hat_of_letter[e]: 0.0,
            s.zeta_of[e]: a[part] @ spike[part] / np.sqrt(p),
            s.q2_of[e]: a[part] @ a[part] / p,
        }
        for f in LETTERS:
            covariance += mu[e][1] * mu[f][1] * float(a[part] @ bulk[np.ix_(part, group == f)] @ a[group == f]) / p
        covariance += mu[e][2] ** 2 * float(a[part] @ a[part]) / p
    values[s.output_variance] = covariance
    values[s_map.row_product] = float(W[1] @ W[2 if point_is_even(point) else 1])
    values[s.replica_delta] = 0.0 if point_is_even(point) else 1.0
    return by_glyph(values)


def point_is_even(point: Point) -> bool:
    """Two different rows, or one row twice."""
    return int(value(point, "seed")) % 2 == 0


exact = ByNumbers("one orthogonal bulk of twelve rows", _orthogonal, ROUNDING, lambda _: GENERIC_LETTERS)


# A model with two letters at gamma = 1, whose zeta is large; the smallest term of its test error is a twentieth of it.
_ALPHA, _BETA, _RIDGE = 2.5, 0.8, 0.1
MODEL = between(
    "tanh(z + 4/5)",
    "3*z*exp(-z**2/3) + cos(z)/2",
    alpha=_ALPHA,
    beta=_BETA,
    ridge=_RIDGE,
    spike=1.0,
    bulk=1.0,
    alignment=1.0,
).changed(readout=(ReadoutGroup(1.2, 0.5, 1.2), ReadoutGroup(-1.2, 0.5, 1.5)))


def _of_other(expression: sp.Expr) -> sp.Expr:
    """What is said of the first letter, of the second."""
    own = (s.c_of, s.fraction, s.V_of_letter, s.V_hat_of_letter, s.q_hat_of_letter, s.zeta_of, s.zeta_hat_of, s.q2_of)
    diagonal = tuple(s.V1_hat_of[a][a] for a in LETTERS)
    return expression.xreplace({of[a]: of[1 - a] for of in (*own, diagonal) for a in LETTERS})


@lru_cache(maxsize=1)
def _equations() -> tuple[Tape, ...]:
    """Stationarity of Appendix D and the theorems of an orthogonal bulk, joined by what such a bulk makes of traces.

    The latter are seven equations that no theorem concludes.
    """
    of_energy = {x: None for of in (s.q1_of, s.V1_of) for x in (of[0][0], of[0][1], of[1][1])}
    of_energy |= dict.fromkeys(of[a] for of in (s.q2_of, s.V2_of, s.m_of, s.zeta_of) for a in LETTERS)
    pairs = [concluded(letters.equation(x).theorem_of(letters.CONJUGATE[x])) for x in of_energy]
    for derivation, name in (
        (orthogonal.response, s.V_of_letter[0]), (orthogonal.spike, s.zeta_of[0]), (orthogonal.sizes, s.q2_of[0]),
    ):  # fmt: skip
        first = concluded(derivation().theorem_of(name))
        pairs += [first, (_of_other(first[0]), _of_other(first[1]))]
    for a in LETTERS:
        c = s.c_of[a]
        pairs += [
            (s.V_hat_of_letter[a], c * s.V1_hat_of[a][a] + s.V2_hat_of[a]),
            (s.q_hat_of_letter[a], c * s.q1_hat_of[a][a] + s.q2_hat_of[a]),
            (s.V1_of[a][a], c * s.V_of_letter[a]),
            (s.V2_of[a], s.V_of_letter[a]),
            (s.q1_of[a][a], c * s.q2_of[a] - s.zeta_of[a] ** 2),
        ]
    return written([*pairs, (s.V1_of[0][1], sp.Integer(0)), (s.q1_of[0][1], -s.zeta_of[0] * s.zeta_of[1])])


@lru_cache(maxsize=1)
def _solved() -> Mapping[str, float]:
    given = {s.alpha: _ALPHA, s.beta: _BETA, s.ridge: _RIDGE, s.noise: 0.0, **dict.fromkeys(s.psi_of, 0.0)}
    named = by_glyph(given | by_letter({s.fraction: MODEL.fractions, s.c_of: MODEL.bulks}))
    return values_of(_equations(), {s.kappa.name: kappa_rule()}, named, functions_of(MODEL))


def _experiment(model: Model, dimension: int, seed: int) -> tuple[float, float]:
    """zeta of the first letter and the test error of one readout over an orthogonal bulk."""
    weights, *streams = map(np.random.default_rng, np.random.SeedSequence((158, dimension, seed)).spawn(4))
    sizes = Sizes.rounded(dimension, alpha=_ALPHA, beta=_BETA, fractions=model.fractions)
    drawn = orthogonal_features(model, sizes, weights)
    readout, errors = ridge_readouts(drawn, model, sizes, (_RIDGE,), streams)
    return float(overlaps(drawn, readout.a[:, 0]).zeta[0]), errors[0]


# At a quarter of the profile's dimensions with many seeds.
SIMULATED = Sampled(
    (s.zeta_of[0], s.test_error), {"letters 1.2 and -1.2, gamma = 1": MODEL}, _experiment,
    lambda model, d: (_solved(), functions_of(model)), draws=32, share=4,
)  # fmt: skip

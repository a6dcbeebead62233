"""Numbers for the block equivalent of Appendix D: resolvents of sampled matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.sampled import Beside, Sampled
from giantsteps.verify.second_route.values import LETTERS

_BULK_RANGES = (
    Range(s.beta, 0.4, 2.5, log=True),
    Range(s.ridge, 0.1, 3.0, log=True),
    Range(s.fraction[0], 0.25, 0.75),
    *(Range(x, 0.5, 1.6) for x in s.c_of),
    *(Range(x, 0.2, 1.5) for x in (s.V1_hat_of[0][0], s.V1_hat_of[1][1], *s.V2_hat_of)),
    Range(s.V1_hat_of[0][1], -0.19, 0.19),
)


BLOCK_DOMAIN = Domain(_BULK_RANGES)


_NAMES = (
    s.beta, s.ridge, s.fraction[0], *s.c_of, s.V1_hat_of[0][0], s.V1_hat_of[0][1], s.V1_hat_of[1][1], *s.V2_hat_of
)  # fmt: skip
_SAMPLED = {
    "wide": dict(zip(_NAMES, (1.5, 0.4, 0.4, 0.8, 1.4, 1.2, -0.5, 0.6, 0.2, 0.5), strict=True)),
    "narrow": dict(zip(_NAMES, (0.6, 0.2, 0.5, 1.2, 0.7, 0.9, 0.6, 1.5, 0.3, 0.1), strict=True)),
}


def _resolvent(name: str, dimension: int, seed: int) -> tuple[float, ...]:
    values = {x.name: number for x, number in _SAMPLED[name].items()}
    p = round(values[s.beta.name] * dimension)
    group = (np.arange(p) >= round(values[s.fraction[0].name] * p)).astype(int)
    C = np.array([[values[s.V1_hat_of[a][b].name] for b in LETTERS] for a in LETTERS])
    shift = values[s.ridge.name] + np.array([values[x.name] for x in s.V2_hat_of])
    norms = np.sqrt([values[x.name] for x in s.c_of])
    rows = np.random.default_rng((2402, dimension, seed)).normal(size=(p, dimension))
    rows *= (norms[group] / np.linalg.norm(rows, axis=1))[:, None]
    inverse = np.linalg.inv(np.diag(shift[group]) + C[np.ix_(group, group)] * (rows @ rows.T))
    return (float(np.trace(inverse[group == 0][:, group == 0])) / p,)


def resolvents(values_at: Callable[[Point], Mapping[str, float]]) -> Sampled[str]:
    """(1/p) tr of the resolvent over the first group's neurons, of sampled bulks; beside it the numbers at a point."""

    def beside(name: str, d: int) -> Beside:
        values = {x.name: number for x, number in _SAMPLED[name].items()}
        p = round(values[s.beta.name] * d)
        at = values | {s.fraction[0].name: round(values[s.fraction[0].name] * p) / p, s.beta.name: p / d}
        return {**at, **values_at(at)}, {}

    return Sampled((s.V2_of[0],), {name: name for name in _SAMPLED}, _resolvent, beside, draws=1)

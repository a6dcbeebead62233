"""Claims on the limit of many letters: the one-dimensional random-feature model of Section 4.4."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import many_letters as letter_density
from giantsteps.derivations.saddle_point.many_letters import (
    fitted,
    functions,
    kernel,
    penalties,
    places,
    targets,
    weights,
)
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.protocol.statement import claim, eq, without
from giantsteps.verify.protocol.tolerances import ROUNDING
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.values import value

SECTION = "Section 4.4"


def averaged_letters(point: Point) -> Mapping[str, float]:
    """E over u ~ N(0, 1) of two mean features of an erf student, both averaged from their definition by sums."""
    from scipy.special import erf

    r, c, x, y = (value(point, name) for name in (s.r, s.c, *places))
    (u, letters), (z, density) = normal_line(1 / 32), normal_line(1 / 16)

    def mean(kappa: float) -> np.ndarray:
        return np.asarray(erf(r * kappa * u[:, None] + np.sqrt(c) * z) @ density)

    return {kernel.name: float(letters @ (mean(x) * mean(y)))}


_RANDOM = (*functions, *penalties, *weights, *targets)
REGRESSION = Domain(
    tuple(Range(symbol, 0.2, 1.5) if symbol.is_positive else Range(symbol, -1.5, 1.5) for symbol in _RANDOM)
)


def regression(point: Point) -> Mapping[str, float]:
    """The prediction at the first place from the means, by least squares on stacked rows."""
    F = np.array([[value(point, functions[i, u]) for u in (0, 1)] for i in (0, 1)])
    t, w, y = (np.array([value(point, symbol) for symbol in names]) for names in (penalties, weights, targets))
    rows = np.vstack([np.sqrt(w)[:, None] * F, np.diag(1.0 / np.sqrt(t))])
    m = np.linalg.lstsq(rows, np.concatenate([np.sqrt(w) * y, np.zeros(2)]), rcond=None)[0]
    return {fitted.name: float((F @ m)[0])}


def _fit(K: sp.Matrix) -> sp.Expr:
    """The first entry of K W (K W + 1)^-1 y, by Cramer's rule."""
    (a, b), (c, d) = K.tolist()
    v, w = weights
    first, second = sp.expand(a * v) + 1, sp.expand(d * w) + 1
    onto_first = v * targets[0] * (w * (-b) * c + a * second)
    onto_second = w * targets[1] * (v * a * (-b) + b * first)
    return (onto_first + onto_second) / sp.expand(first * second - b * c * v * w)


_first, _second = places
_width = 1 + 2 * s.c
_arcsine = (
    2
    / sp.pi
    * sp.asin(
        2 * s.r**2 * _first * _second / sp.sqrt((_width + 2 * s.r**2 * _first**2) * (_width + 2 * s.r**2 * _second**2))
    )
)

CLAIMS: tuple[Claim, ...] = (
    claim(
        "letter-density.arcsine-kernel",
        "Normal letters and an erf student: the one-dimensional kernel along the spike", paper(SECTION),
        eq(kernel, _arcsine),
        Domain((Range(s.r, 0.3, 2.5), Range(s.c, 0.5, 2.0), *(Range(x, -2.0, 2.0) for x in places))),
        ByDerivation(letter_density.kernel_of_erf),
        ByNumbers("sums over letters and over z", averaged_letters, ROUNDING),
        wrong={"the bulk forgotten": without(_arcsine, s.c), "half of it": _arcsine / 2},
        uses=("appendix-d.letter-scaling",),
        note="k = E_u mu0_u(kappa_1) mu0_u(kappa_2), one bulk variance c for all letters: what random features of the "
             "one-dimensional input kappa have as their kernel.",
    ),
    claim(
        "letter-density.kernel-ridge", "At finite width the means are kernel ridge regression along the spike",
        paper(SECTION),
        eq(fitted, _fit(letter_density.kernel_matrix())), REGRESSION,
        ByDerivation(letter_density.kernel_ridge), ByNumbers("least squares for the means", regression, ROUNDING),
        wrong={
            "letters not weighted by their penalties": _fit(functions * functions.T),
            "a unit added to the kernel": _fit(letter_density.kernel_matrix().T + sp.eye(2)),
        },
        note="t_u = (alpha/beta) p tau_u: as p grows the penalty vanishes and the means fit what their functions span.",
    ),
)

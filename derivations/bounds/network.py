r"""No network gets below the distance of the target from what its readout can combine. Beyond the paper.

At given kappa the output of a network has a mean in the span of mu0, kappa mu1 and k2 = d mu0/dc, of every letter of
its vocabulary, and a Gaussian rest: the error is never below the squared distance of y0 from that span.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bulk import network as one_letter
from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.bulk.network_rows import SOURCE
from giantsteps.derivations.free_energy.along_spike import over_kappa, y0, y1, y2
from giantsteps.derivations.free_energy.assumptions import DIRECTION, READOUT, UNIT
from giantsteps.derivations.free_energy.sample_energy import TEACHER, label_moments
from giantsteps.derivations.kernel.algebra import instantiate, order
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import expansion
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.features import Features
from giantsteps.derivations.language.inequalities import ONE_READOUT
from giantsteps.derivations.saddle_point import network as letters

_ONE, _ZERO = sp.Integer(1), sp.Integer(0)


@dataclass(frozen=True)
class Readout:
    """A network's readout, the distance from the span of what its mean output combines, and what its errors are."""

    features: Features
    distance: sp.Symbol
    errors: Callable[[], Derivation]


ONE_LETTER = Readout(one_letter.NETWORK, s_bulk.distance_third, one_letter.errors)
VOCABULARY = Readout(letters.NETWORK, s_bulk.distance_groups, letters.errors)


def never_nearer(readout: Readout) -> Theorem:
    """What the distance means: no combination of the functions is nearer to y0."""
    functions, overlaps = zip(*readout.features.combined, strict=True)
    free = sp.symbols(f"b_1:{len(functions) + 1}", real=True)
    combination = sp.Add(*(b * f for b, f in zip(free, functions, strict=True)))
    assumed = in_model(
        "distance from a span",
        AtLeast(over_kappa((y0 - combination) ** 2), readout.distance),
        "the infimum over all coefficients of the mean square of the error",
        *free,
    )
    return instantiate((assumed,), dict(zip(free, overlaps, strict=True)))


def _mean_square(base: sp.Expr, variable: sp.Symbol) -> tuple[Theorem, Theorem]:
    """E[base^2] >= 0, and what it is opened."""
    square = average((order((), AtLeast(base**2, _ZERO), (), ((_ONE, base),)),), (variable,))
    opened = expansion(sides(square.statement)[0], variable)
    return square, opened


@functools.cache
def label_is_wider() -> Theorem:
    """y2 - Delta - y0^2 - y1^2 >= 0 at every kappa: the mean square of what of the label is not linear in z."""
    square, opened = _mean_square(TEACHER - y0 - y1 * s.z, s.z)
    known = rewritten(opened, *label_moments())
    return order((square, known), AtLeast(y2 - s.noise - y0**2 - y1**2, _ZERO), (_ONE, -_ONE))


def readouts_are_wider(features: Features) -> Theorem:
    """sum_ab mu1_a mu1_b (q1_ab - psi_a psi_b) >= 0 at every kappa: a mean square over components across theta_perp."""
    linear, q1, psi = features.mu1, features.q1, features.psi
    many = len(linear)
    parts = (READOUT,) if many == 1 else tuple(sp.Function(f"U_{a + 1}", real=True)(s.mode) for a in range(many))
    rest = sp.Add(*(f * (u - p * DIRECTION) for f, u, p in zip(linear, parts, psi, strict=True)))
    square, opened = _mean_square(rest, s.mode)
    pairs = [(a, b) for a in range(many) for b in range(many)]
    meanings = {q1[a][b]: parts[a] * parts[b] for a, b in pairs}
    meanings |= {p: u * DIRECTION for p, u in zip(psi, parts, strict=True)}
    names = [
        define(name, Expectation(product, s.mode), "a product of Pi W^T a/sqrt(p), a mean over components")
        for name, product in meanings.items()
    ]
    known = rewritten(opened, UNIT, *(isolated(value(name), name) for name in names))
    total = sp.Add(*(linear[a] * linear[b] * (q1[a][b] - psi[a] * psi[b]) for a, b in pairs))
    return order((square, known), AtLeast(total, _ZERO), (_ONE, -_ONE))


@functools.cache
def floor(readout: Readout) -> Derivation:
    """The test error of a network is never below the distance of y0 from the span."""
    network, features = readout.errors(), readout.features
    error = network.theorem_of(s.test_error)
    (integrand,) = (mean.integrand for mean in value(error).atoms(Expectation))
    fit = (y0 - features.fit) ** 2
    wider, readouts = label_is_wider(), readouts_are_wider(features)
    squares = ((_ONE, y1 - features.signal), *zip(features.q2, features.mu2, strict=True))
    at_kappa = order((wider, readouts), AtLeast(integrand, fit), (_ONE, _ONE), tuple(squares))
    everywhere, nearest = average((at_kappa,), (s.kappa,)), never_nearer(readout)
    result = order((error, everywhere, nearest), AtLeast(s.test_error, readout.distance), (_ONE, _ONE, _ONE))
    return Derivation(
        "no network below the distance from its span",
        SOURCE,
        proved("The test error.", error),
        proved("What of the label is not linear in z has a mean square.", wider),
        proved("So has what of the readouts lies across theta_perp: q1 >= psi^2 for one letter.", readouts),
        proved("At every kappa the error is the square of y0 less the mean output, and squares.", at_kappa),
        proved("Averaged over kappa.", everywhere),
        proved("The distance is an infimum over the coefficients, of which those of the readout are some.", nearest),
        proved("Together.", result),
        hypotheses=(*network.hypotheses, ONE_READOUT),
    )

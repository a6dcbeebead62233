"""Claims for a spike of several directions, beyond the paper: its saddle point, and what a simulation says of it."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import directions
from giantsteps.derivations.saddle_point.directions import DIRECTIONS, kappa, mu0, mu1, mu2, y0, y1, y2, zeta, zeta_hat
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.protocol.claim import Claim, Kind, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.protocol.tolerances import ROUNDING
from giantsteps.verify.second_route.saddle_point import directions as numbers
from giantsteps.verify.second_route.saddle_point.simulations import simulated as readouts
from giantsteps.verify.solver.models import beside_functions, solver_of_directions, two_directions

SOURCE = Source("this suite", "a spike of several directions")
NOTE = "Written for two directions; every sum over directions shows both. With one this is Section 3.3."

# The formulas, typed here and nowhere derived.
fit = mu0 * s.m + kappa[0] * mu1 * zeta[0] + kappa[1] * mu1 * zeta[1]
V = mu1**2 * s.V1 + mu2**2 * s.V2
e2 = y2 - 2 * y0 * fit + fit**2 - 2 * y1 * mu1 * s.psi + mu1**2 * s.q1 + mu2**2 * s.q2
ratio = s.alpha / s.beta
squares = zeta_hat[0] ** 2 + zeta_hat[1] ** 2


def E(integrand: sp.Expr) -> sp.Expr:
    """Average over both kappa."""
    return Expectation(integrand, *kappa)


simulated = BySimulation("ridge on features with a spike of two directions",
                         partial(readouts, dict(tuple(numbers.MODELS.items())[:2]), beside_functions, 34, 3))


def _claim(
    variable: sp.Symbol,
    name: str,
    title: str,
    right: sp.Expr,
    *, wrong: Wrong,
) -> Claim:
    return claim(
        f"spike-directions.{name}", title, SOURCE,
        eq(directions.CONJUGATE[variable], right), numbers.DOMAIN,
        ByDerivation(partial(directions.equation, variable)), two_directions, solver_of_directions,
        kind=Kind.FIXED_POINT, wrong=wrong, uses=("spike-directions.overlap-matrix",), note=NOTE,
    )


def _zeta(j: int) -> tuple[Claim, Claim]:
    other = DIRECTIONS[1 - j]
    force = ratio * E(kappa[j] * mu1 * (y0 - fit) / (1 + V))
    return (
        _claim(
            zeta[j], f"zeta-hat-{j + 1}", f"Force along direction {j + 1} of the spike", force,
            wrong={
                "the other direction": ratio * E(kappa[other] * mu1 * (y0 - fit) / (1 + V)),
                "the other overlap forgotten": without(force, zeta[other]),
            },
        ),
        _claim(
            zeta_hat[j], f"zeta-{j + 1}",
            f"Overlap with direction {j + 1} of the spike: each direction answers to its own force",
            s.beta * s.c * s.V2 * zeta_hat[j],
            wrong={
                "the other direction's force": s.beta * s.c * s.V2 * zeta_hat[other],
                "the response across the spike": s.beta * s.V1 * zeta_hat[j],
            },
        ),
    )


def _size(along: sp.Expr, across: sp.Expr, forces: sp.Expr) -> sp.Expr:
    """A square of the readout from what drives it along the spike, with the squares of its forces, and across it."""
    return along * (s.q2_hat + s.beta * s.c * forces) + across * (s.q1_hat + s.beta * s.psi_hat**2)


CLAIMS: tuple[Claim, ...] = (
    claim(
        "spike-directions.overlap-matrix", "Resolvent between directions of the spike, one given bulk", SOURCE,
        eq(directions.spike_gram[0, 1],
           directions.whole_gram[0, 1]
           / (
               (1 - s.V1_hat * directions.whole_gram[0, 0]) * (1 - s.V1_hat * directions.whole_gram[1, 1])
               - (s.V1_hat * directions.whole_gram[0, 1]) ** 2
           )),
        numbers.GIVEN_BULK,
        ByDerivation(directions.overlap_matrix),
        ByNumbers("both resolvents of a random matrix, inverted", numbers.given_bulk, ROUNDING),
        wrong={
            "each direction by itself": directions.whole_gram[0, 1]
            / ((1 - s.V1_hat * directions.whole_gram[0, 0]) * (1 - s.V1_hat * directions.whole_gram[1, 1])),
            "the directions not removed": directions.whole_gram[0, 1],
        },
        uses=("result-3-3.spike-resolvent",),
        note="X_jl = s_j.G0 s_l -> 0 for j != l as d grows, for orthonormal directions independent of the bulk: then "
             "each direction has s.G s = beta c V2, what a single one has.",
    ),
    *_zeta(0), *_zeta(1),
    _claim(
        s.m, "m", "Mean of the readout beside several overlaps",
        E(mu0 * (y0 - kappa[0] * mu1 * zeta[0] - kappa[1] * mu1 * zeta[1]) / (1 + V)) / E(mu0**2 / (1 + V)),
        wrong={"one direction only": E(mu0 * (y0 - kappa[0] * mu1 * zeta[0]) / (1 + V)) / E(mu0**2 / (1 + V))},
    ),
    _claim(
        s.psi_hat, "psi", "Overlap with the target outside the spike", s.beta * s.V1 * s.psi_hat,
        wrong={"the response along the spike": s.beta * s.c * s.V2 * s.psi_hat},
    ),
    _claim(
        s.q1, "V1-hat", "Conjugate of q1, averaged over all kappa", ratio * E(mu1**2 / (1 + V)),
        wrong={"the other coefficient": ratio * E(mu2**2 / (1 + V))},
    ),
    _claim(
        s.V2_hat, "q2", "Size of the readout: the forces of all directions add up in squares",
        _size(s.resolvent_square, s.resolvent_mixed, squares),
        wrong={
            "one direction only": _size(s.resolvent_square, s.resolvent_mixed, zeta_hat[0] ** 2),
            "the square of the sum": _size(s.resolvent_square, s.resolvent_mixed, (zeta_hat[0] + zeta_hat[1]) ** 2),
        },
    ),
    _claim(
        s.V1_hat, "q1", "Size of the readout seen through the bulk",
        _size(s.resolvent_mixed, s.resolvent_double, squares),
        wrong={"one direction only": _size(s.resolvent_mixed, s.resolvent_double, zeta_hat[1] ** 2)},
    ),
    claim(
        "spike-directions.test-error", "Test error for a spike of several directions", SOURCE,
        eq(s.test_error, E(e2) - s.noise), numbers.DOMAIN,
        ByDerivation(directions.test_error), two_directions, solver_of_directions, simulated,
        kind=Kind.FIXED_POINT,
        wrong={
            "one direction of the spike forgotten": E(without(e2, zeta[1])) - s.noise,
            "the label noise counted": E(e2),
        },
        uses=("spike-directions.zeta-1", "spike-directions.zeta-2", "spike-directions.m", "spike-directions.psi",
              "spike-directions.q1", "spike-directions.q2"),
        note=NOTE,
    ),
)

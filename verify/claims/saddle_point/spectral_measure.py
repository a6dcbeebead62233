"""Claims that (18)-(24) are solved for a bulk given by atoms, checked on dense matrices of one finite bulk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.saddle_point import any_law as spectral
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.bulk.given_bulk import of_matrix
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route.models import GENERIC, model_at
from giantsteps.verify.solver.models import numbers

DOMAIN = Domain((Range("activation", choices=("tanh(z)", "erf(z)", "z/sqrt(1 + z**2) + 1/4")),
                 Range("target", choices=("sin(z)", "tanh(z)")), Range("rows", 8.0, 40.0), Range("columns", 8.0, 40.0),
                 Range("seed", 0.0, 1e6), Range(s.alpha, 0.5, 3.0), Range(s.ridge, 0.05, 2.0, log=True),
                 Range(s.noise, 0.0, 0.3), Range(s.r, 0.3, 2.0), Range(s.c, 0.6, 1.5), Range(s.gamma, -0.9, 0.9)),
                ("one fixed bulk, any spectrum", "the overlap (Wv).G W theta_perp is dropped, equation (111)"),
                (GENERIC,))


@lru_cache(maxsize=256)
def _solved(model: Model, p: int, d: int, seed: int) -> Mapping[str, float] | None:
    """The solver on the atoms of one W; traces and forms with dense inverses of that W."""
    generator = np.random.default_rng(seed)
    # Neither isotropic nor of equal norms: columns and rows of different sizes.
    W = generator.standard_normal((p, d)) * generator.uniform(0.3, 1.7, d) * generator.uniform(0.5, 1.5, (p, 1))
    W *= np.sqrt(model.bulk / d)
    v, theta = np.linalg.qr(generator.standard_normal((d, 2)))[0].T
    solution = solve(model, bulk=of_matrix(W, v, theta).at_ridge)
    if not solution.converged:
        return None
    values = numbers(solution)
    gram, spike, target = W @ W.T, W @ v, W @ theta
    shift = values[s.ridge.name] + values[s.V2_hat.name]
    G0 = np.linalg.inv(shift * np.eye(p) + values[s.V1_hat.name] * gram)
    omega = gram - np.outer(spike, spike)
    G = np.linalg.inv(shift * np.eye(p) + values[s.V1_hat.name] * omega)
    dense = {
        s.trace_bulk: np.trace(gram @ G0) / p,
        s.trace_one: np.trace(G0) / p,
        s.resolvent_square: np.trace(G0 @ G0) / p,
        s.resolvent_mixed: np.trace(gram @ G0 @ G0) / p,
        s.resolvent_double: np.trace(gram @ G0 @ gram @ G0) / p,
        s.spike_resolvent_bulk: spike @ G @ spike,
        s.spike_square_resolvent: spike @ G @ G @ spike,
        s.spike_bulk_resolvent: spike @ G @ omega @ G @ spike,
        s.target_resolvent: target @ G0 @ target,
        s.target_square_resolvent: target @ G0 @ G0 @ target,
        s.target_bulk_resolvent: target @ G0 @ gram @ G0 @ target,
    }
    return {**values, **{name.name: float(x) for name, x in dense.items()}}


def _dense(point: Point) -> Mapping[str, float] | None:
    p, d = int(float(point["rows"])), int(float(point["columns"]))
    return _solved(model_at({**point, s.beta.name: p / d}), p, d, int(float(point["seed"])))


def _claim(name: str, title: str, unknown: sp.Symbol, right: sp.Expr, rests_on: str) -> Claim:
    return claim(
        f"spectral.{name}", f"{title}, for one bulk given by its eigenvalues and projections", paper("Section 3.3"),
        eq(unknown, right), DOMAIN,
        ByDerivation(spectral.finite_bulk),
        ByNumbers("the solver on atoms against dense inverses of one W", _dense, SOLVER, points=4),
        kind=Kind.FIXED_POINT,
        wrong={"twice": 2 * right},
        uses=(f"result-3-3.saddle.{rests_on}", "spectral.spike-integral"),
    )


def _size(through_bulk: sp.Expr, plain: sp.Expr, target: sp.Expr, spike: sp.Expr) -> sp.Expr:
    """A square of the readout: what the four conjugates add to it, each with its resolvent."""
    return s.q1_hat * through_bulk + s.q2_hat * plain + s.psi_hat**2 * target + s.zeta_hat**2 * spike


CLAIMS: tuple[Claim, ...] = (
    _claim("V1", "Response of the projected readout", s.V1, s.trace_bulk, "V1"),
    _claim("V2", "Response of the readout", s.V2, s.trace_one, "V2"),
    _claim("zeta", "Overlap with the spike", s.zeta, s.zeta_hat * s.spike_resolvent_bulk, "zeta"),
    _claim("psi", "Overlap with the target's other direction", s.psi, s.psi_hat * s.target_resolvent, "psi"),
    _claim(
        "q1", "Size of the projected readout", s.q1,
        _size(s.resolvent_double, s.resolvent_mixed, s.target_bulk_resolvent, s.spike_bulk_resolvent), "q1",
    ),
    _claim(
        "q2", "Size of the readout", s.q2,
        _size(s.resolvent_mixed, s.resolvent_square, s.target_square_resolvent, s.spike_square_resolvent), "q2",
    ),
)

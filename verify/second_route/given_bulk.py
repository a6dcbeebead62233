"""Statements that integrate over nu, on bulks whose law nu is known atom by atom: dense matrices and definitions.

A few modes (varrho, tau, pi) are drawn. An integral over nu in a statement is then the mean over the modes. On the
other side stand matrices that hold every mode k times, rotated by random orthogonal matrices, with G the inverse that
contains the spike: there the readout a = G J and its sizes and overlaps are computed from their definitions.
theta_perp changes its sign from copy to copy, so that it meets the spike nowhere. What one direction changes in a trace
is then exactly proportional to 1/k, and two values of k extrapolate it away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.free_energy.along_spike import varpi, varrho, vartau
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.protocol.claim import Claim, Domain, Profile, Range
from giantsteps.verify.protocol.evidence import Evidence
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.tolerances import QUADRATURE
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.models import GENERIC, RANGES

MODES = 4
_ATOMS = tuple(
    (sp.Symbol(f"varrho_{i}", nonnegative=True), sp.Symbol(f"tau_{i}", real=True), sp.Symbol(f"pi_{i}", real=True))
    for i in range(MODES)
)
_SEED = Range("seed", 0.0, 1e6)
CONJUGATES = Domain(
    (
        _SEED,
        Range("copies", 1.0, 3.99),
        Range(s.beta, 0.5, 2.0),
        Range(s.ridge, 0.1, 3.0, log=True),
        *(Range(x, 0.2, 2.0) for x in (s.V1_hat, s.V2_hat, s.q1_hat, s.q2_hat)),
        *(Range(x, -1.5, 1.5) for x in (s.zeta_hat, s.psi_hat)),
    ),
    (),
    (GENERIC,),
)
MODELS = Domain((_SEED, *RANGES), (), (GENERIC,))


def over_atoms(statement: sp.Basic) -> sp.Basic:
    """Every integral over nu as the mean over the modes."""

    def mean(average: sp.Expr) -> sp.Expr:
        terms = [average.integrand.xreplace(dict(zip((varrho, vartau, varpi), a, strict=True))) for a in _ATOMS]
        return sp.Add(*terms) / MODES

    return statement.func(
        *(side.replace(lambda e: isinstance(e, Expectation) and e.has(s.mode), mean) for side in statement.args),
        evaluate=False,
    )


@dataclass(frozen=True)
class OnAtoms:
    """A check by numbers with integrals over nu written out over the modes."""

    numbers: ByNumbers

    @property
    def name(self) -> str:
        return self.numbers.name

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        return self.numbers.run(replace(claim, statement=over_atoms(claim.statement), mutants=()), profile, paper)


@lru_cache(maxsize=512)
def modes_at(seed: int, beta: float) -> tuple[Array, Array, Array]:
    """varrho, tau, pi of the modes; what v and theta_perp have along them is no longer than a unit vector."""
    generator = np.random.default_rng(seed)
    rho = generator.uniform(0.2, 2.5, MODES)
    tau, pi = (x / np.sqrt(max(1.0, beta * np.mean(x**2))) for x in generator.standard_normal((2, MODES)))
    return rho, tau, pi


def atoms(modes: tuple[Array, Array, Array]) -> dict[str, float]:
    return {
        symbol.name: float(value)
        for symbols, values in zip(_ATOMS, zip(*modes, strict=True), strict=True)
        for symbol, value in zip(symbols, values, strict=True)
    }


def _readout(point: Point, copies: int) -> dict[sp.Symbol, float]:
    """zeta, psi, q1, q2, V1, V2 and the entropic term of one dense bulk with 2 ``copies`` of every mode, from a = G J.

    J = sqrt(p)(zeta^ s + psi^ t) + (q1^ Omega + q2^)^(1/2) N(0, 1), averaged exactly; s = W v, t = W theta_perp.
    """
    at = {x: float(point[x.name]) for x in (s.beta, s.ridge, s.V1_hat, s.V2_hat, s.q1_hat, s.q2_hat)}
    zeta_hat, psi_hat = float(point[s.zeta_hat.name]), float(point[s.psi_hat.name])
    rho, tau, pi = modes_at(int(float(point["seed"])), at[s.beta])
    p = 2 * copies * MODES
    generator = np.random.default_rng([int(float(point["seed"])), copies])
    left, right = (np.linalg.qr(generator.standard_normal((p, p)))[0] for _ in range(2))
    # The p directions on which W does not vanish; d = p/beta need not be written out.
    d = p / at[s.beta]
    W = left @ np.diag(np.sqrt(np.tile(rho, 2 * copies))) @ right.T
    signs = np.repeat(np.tile([1.0, -1.0], copies), MODES)
    spike = W @ right @ np.tile(tau, 2 * copies) / np.sqrt(d)
    target = W @ right @ (signs * np.tile(pi, 2 * copies)) / np.sqrt(d)
    omega = W @ W.T - np.outer(spike, spike)
    G = np.linalg.inv(at[s.V1_hat] * omega + (at[s.ridge] + at[s.V2_hat]) * np.eye(p))
    force = zeta_hat * spike + psi_hat * target  # mean of J over sqrt(p)
    noise = at[s.q1_hat] * omega + at[s.q2_hat] * np.eye(p)
    mean, spread = G @ force, G @ noise @ G
    return {
        s.zeta: float(spike @ mean),
        s.psi: float(target @ mean),
        s.q1: float(mean @ omega @ mean + np.trace(omega @ spread) / p),
        s.q2: float(mean @ mean + np.trace(spread) / p),
        s.V1: float(np.trace(omega @ G) / p),
        s.V2: float(np.trace(G) / p),
        s.entropic_term: float(force @ G @ force + np.trace(noise @ G) / p) / 2,
    }


def _dense(point: Point) -> Mapping[str, float]:
    k = int(float(point["copies"]))
    one, two = _readout(point, k), _readout(point, 2 * k)
    values = {x.name: 2 * two[x] - one[x] for x in one}
    return {**atoms(modes_at(int(float(point["seed"])), float(point[s.beta.name]))), **values}


dense = OnAtoms(ByNumbers("a readout on dense matrices, by its definitions", _dense, QUADRATURE, points=12))

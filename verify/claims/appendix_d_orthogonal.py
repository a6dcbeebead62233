"""Claims of Appendix D over an orthogonal bulk, finite and continuous vocabularies (equations (158)-(164), gamma = 1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from derivations import orthogonal_bulk
from derivations import symbols as s
from derivations.along_spike import y0
from derivations.expectation import Expectation
from derivations.orthogonal_bulk import (
    V_along,
    V_hat_along,
    c_along,
    m_along,
    mu0_along,
    mu1_along,
    nu_along,
    q_hat_along,
    zeta_along,
)
from derivations.readout_groups import mu0_of, mu1_of, mu2_of
from verify.checks import ByDerivation, ByNumbers
from verify.claim import Claim, Domain, Kind, Mutant, Profile, Range, Role
from verify.claims.places import paper
from verify.claims.readout_numbers import GENERIC_LETTERS, LETTERS, Point, value
from verify.evaluate import Functions
from verify.simulation_check import BySimulation, Measured
from verify.tolerances import ROUNDING

APPENDIX = "Appendix D"
GROUP = "Appendix D, of the group (159)-(160)"
Array = NDArray[np.float64]

nu = tuple(s.c_of[a] * mu1_of[a] ** 2 + mu2_of[a] ** 2 for a in LETTERS)
V = nu[0] * s.V_of_letter[0] + nu[1] * s.V_of_letter[1]
linear = mu1_of[0] * s.zeta_of[0] + mu1_of[1] * s.zeta_of[1]
b = y0 - sum(mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] for a in LETTERS)
sizes = nu[0] * s.q2_of[0] + nu[1] * s.q2_of[1]
ratio = s.alpha / s.beta
own = s.beta * s.c_of[0] * s.V_of_letter[0]
AS_PRINTED = "As the equations of the special case are reconstructed: without the directions that Pi takes out of the bulk."


def E(integrand: sp.Expr) -> sp.Expr:
    """Average over kappa."""
    return Expectation(integrand, s.kappa)


def U(integrand: sp.Expr) -> sp.Expr:
    """Average over the alphabet."""
    return Expectation(integrand, s.mode)


def eq(left: sp.Expr, right: sp.Expr) -> sp.Equality:
    """An equation, left as it is typed."""
    return sp.Eq(left, right, evaluate=False)


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
    """Traces and overlaps of one orthogonal bulk with two groups, v spread evenly over the rows; no noise in the readout."""
    generator = np.random.default_rng(int(value(point, "seed")))
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
    values[s.row_product] = float(W[1] @ W[2 if point_is_even(point) else 1])
    values[s.replica_delta] = 0.0 if point_is_even(point) else 1.0
    return {symbol.name: float(number) for symbol, number in values.items()}


def point_is_even(point: Point) -> bool:
    """Two different rows, or one row twice."""
    return int(value(point, "seed")) % 2 == 0


def _functions(point: Point) -> Functions:
    return GENERIC_LETTERS


exact = ByNumbers("one orthogonal bulk of twelve rows", _orthogonal, ROUNDING, _functions)

# A model with two letters at gamma = 1, whose zeta is large.
_LETTERS, _BULKS, _ALPHA, _BETA, _RIDGE = np.array([1.2, -1.2]), np.array([1.2, 1.5]), 2.5, 0.8, 0.3
_LINE = np.arange(-12.0, 12.0 + 1 / 64, 1 / 32)
_WEIGHT = np.exp(-(_LINE**2) / 2) / np.sqrt(2 * np.pi) / 32


def _student(x: Array) -> Array:
    return np.tanh(x + 0.8)


def _target(kappa: Array) -> Array:
    return 3 * kappa * np.exp(-(kappa**2) / 3) + np.cos(kappa) / 2


def _along(kappa: Array) -> tuple[Array, Array, Array]:
    """mu0, mu1 and mu2^2 of the two letters, by trapezoidal sums; each of shape (2, len(kappa))."""
    argument = _LETTERS[:, None, None] * kappa[None, :, None] + np.sqrt(_BULKS)[:, None, None] * _LINE
    values = _student(argument)
    mean, along = values @ _WEIGHT, (values * _LINE) @ _WEIGHT / np.sqrt(_BULKS)[:, None]
    return mean, along, values**2 @ _WEIGHT - mean**2 - _BULKS[:, None] * along**2


def _model_functions() -> Functions:
    return {f"mu{j}_{a + 1}": _function(j, a) for j in range(3) for a in LETTERS} | {"y0": _target}


def _function(j: int, a: int):  # type: ignore[no-untyped-def]
    def call(kappa: Array) -> Array:
        found = _table(np.asarray(kappa, dtype=float).tobytes())[j][a]
        return np.sqrt(np.maximum(found, 0.0)) if j == 2 else found  # rounding where the features saturate

    return call


@lru_cache(maxsize=8)
def _table(raw: bytes) -> tuple[Array, Array, Array]:
    return _along(np.frombuffer(raw))


@lru_cache(maxsize=8)
def _solved(share: float) -> Mapping[str, float]:
    """The saddle point by iteration and elimination, signal directions kept."""
    mean, along, square = _table(_LINE.tobytes())
    fractions = np.array([share, 1 - share])
    variance = _BULKS[:, None] * along**2 + square
    response = fractions / _RIDGE
    for _ in range(4000):
        weight = _WEIGHT / (1 + response @ variance)
        moved = fractions / (_RIDGE + _ALPHA / _BETA * variance @ weight)
        if np.max(np.abs(moved - response)) < 1e-15:
            break
        response = moved
    conjugate = _ALPHA / _BETA * (along * weight) @ along.T
    own_ = _BETA * np.diag(_BULKS * response)
    overlap = np.linalg.inv(np.linalg.inv(own_) - conjugate)
    features = np.vstack([mean, _LINE * along])
    gram, right = (features * weight) @ features.T, (features * weight) @ _target(_LINE)
    system = np.vstack([gram[:2], np.hstack([np.zeros((2, 2)), np.eye(2)]) + _ALPHA / _BETA * overlap @ gram[2:]])
    m, zeta = np.split(np.linalg.solve(system, np.concatenate([right[:2], _ALPHA / _BETA * overlap @ right[2:]])), 2)
    error = _target(_LINE) - np.concatenate([m, zeta]) @ features
    force = _ALPHA / _BETA * (_LINE * along * weight) @ error
    q, mixed = np.zeros(2), zeta @ along
    for _ in range(4000):
        loss = (error**2 + q @ variance - mixed**2) * weight**2 / _WEIGHT
        hats = _ALPHA / _BETA * variance @ loss
        moved = hats * response**2 / fractions + zeta**2 / (_BETA * _BULKS * fractions)
        if np.max(np.abs(moved - q)) < 1e-15:
            break
        q = moved
    values: dict[sp.Symbol, float] = {s.alpha: _ALPHA, s.beta: _BETA, s.ridge: _RIDGE, s.noise: 0.0}
    for a in LETTERS:
        values |= {
            s.fraction[a]: fractions[a],
            s.c_of[a]: _BULKS[a],
            s.V_of_letter[a]: response[a],
            s.m_of[a]: m[a],
            s.zeta_of[a]: zeta[a],
            s.zeta_hat_of[a]: force[a],
            s.q2_of[a]: q[a],
        }
        for e in LETTERS:
            values[s.V1_hat_of[a][e]] = conjugate[a, e]
    return {symbol.name: float(number) for symbol, number in values.items()}


@lru_cache(maxsize=64)
def _experiment(dimension: int, seed: int) -> tuple[float, float, float]:
    """zeta of the first letter, its |a|^2/p less m^2, and the test error of one readout over an orthogonal bulk."""
    generator = np.random.default_rng((158, dimension, seed))
    p = round(_BETA * dimension)
    group = (np.arange(p) >= p // 2).astype(int)
    rows = np.linalg.qr(generator.normal(size=(dimension, p)))[0].T * np.where(generator.random(p) < 0.5, -1, 1)[:, None]
    W = np.sqrt(_BULKS)[group][:, None] * rows
    first = W.copy()
    first[:, 0] += _LETTERS[group]
    x = generator.normal(size=(round(_ALPHA * dimension), dimension))
    features = _student(x @ first.T) / np.sqrt(p)
    a = np.linalg.solve(features.T @ features + _RIDGE * np.eye(p), features.T @ _target(x[:, 0]))
    fresh = generator.normal(size=(4 * dimension, dimension))
    error = np.mean((_target(fresh[:, 0]) - _student(fresh @ first.T) @ a / np.sqrt(p)) ** 2)
    part = group == 0
    return float(a[part] @ W[part, 0] / np.sqrt(p)), float(a[part] @ a[part] / p), float(error)


def _simulated(which: int):  # type: ignore[no-untyped-def]
    def run(profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
        runs = [
            Measured(
                d, tuple(_experiment(d, seed)[which] for seed in range(4 * profile.seeds)), _solved(0.5), _model_functions()
            )
            for d in profile.dimensions
        ]
        return {"letters 1.2 and -1.2, gamma = 1": tuple(runs)}

    return run


def _saddle_claims() -> tuple[Claim, ...]:
    V_u = s.fraction[0] / (s.ridge + s.V_hat_of_letter[0])
    zeta = own * (s.zeta_hat_of[0] + s.V1_hat_of[0][1] * s.zeta_of[1]) / (1 - own * s.V1_hat_of[0][0])
    size = s.fraction[0] * s.q_hat_of_letter[0] / (s.ridge + s.V_hat_of_letter[0]) ** 2 + s.zeta_of[0] ** 2 / (
        s.beta * s.c_of[0] * s.fraction[0]
    )
    q = sizes - linear**2
    without = eq(s.zeta_of[0], own * s.zeta_hat_of[0])

    def claim(
        name: str, title: str, statement: sp.Equality, checks: tuple[object, ...], *numbers: int, uses: str = "appendix-d.orthogonal",
        mutants: tuple[Mutant, ...] = (), kind: Kind = Kind.FIXED_POINT, role: Role = Role.OURS, note: str = "",
    ) -> Claim:  # fmt: skip
        return Claim(
            id=f"appendix-d.orthogonal{name}", title=title, source=paper(APPENDIX if numbers else GROUP, *numbers), kind=kind,
            statement=statement, domain=GIVEN, checks=checks, uses=(uses,) if name else (), mutants=mutants, role=role, note=note,
        )  # type: ignore[arg-type]  # fmt: skip

    return (
        claim(
            "", "An orthogonal bulk", eq(s.row_product, s.c_of[0] * s.replica_delta), (exact,), 158, kind=Kind.DEFINITION,
            mutants=(Mutant("unit rows", eq(s.row_product, s.replica_delta)),),
            note="A special case, assumed: it holds by fiat. The check says that the bulk of the numbers below is of this kind.",
        ),
        claim(".V", "Response of a letter over an orthogonal bulk", eq(s.V_of_letter[0], V_u), (exact, ByDerivation(orthogonal_bulk.response)),
              mutants=(Mutant("the share forgotten", eq(s.V_of_letter[0], 1 / (s.ridge + s.V_hat_of_letter[0]))),)),
        claim(
            ".V-hat", "Conjugate of a letter's response over an orthogonal bulk", eq(s.V_hat_of_letter[0], ratio * E(nu[0] / (1 + V))),
            (ByDerivation(orthogonal_bulk.averaged),), uses="appendix-d.orthogonal.V",
            mutants=(Mutant("c forgotten", eq(s.V_hat_of_letter[0], ratio * E((mu1_of[0] ** 2 + mu2_of[0] ** 2) / (1 + V)))),),
        ),
        claim(
            ".zeta", "Overlap with the spike over an orthogonal bulk: the letters feed back", eq(s.zeta_of[0], zeta),
            (exact, ByDerivation(orthogonal_bulk.spike)), 159, uses="appendix-d.orthogonal.V", mutants=(Mutant("no feedback", without),),
            note="zeta_u = beta c_u V_u (zeta^_u + sum_u' V1^_uu' zeta_u'), solved for letter 1: W Pi W^T lacks the direction W v, along which the "
            "signal lies.",
        ),
        claim(
            ".q", "Size of a letter's readout over an orthogonal bulk", eq(s.q2_of[0], size),
            (exact, ByDerivation(orthogonal_bulk.sizes)), 160, uses="appendix-d.orthogonal.zeta",
            mutants=(Mutant("the signal forgotten", eq(s.q2_of[0], size - s.zeta_of[0] ** 2 / (s.beta * s.c_of[0] * s.fraction[0]))),),
        ),
        claim(
            ".output-variance", "Variance of the output over an orthogonal bulk", eq(s.output_variance, q),
            (exact, ByDerivation(orthogonal_bulk.output_variance)), uses="appendix-d.orthogonal.q",
            mutants=(Mutant("the spike's share left in", eq(s.output_variance, sizes)),),
        ),
        claim(
            ".zeta-simulated", "Overlap with the spike of readouts over an orthogonal bulk", eq(s.zeta_of[0], zeta),
            (BySimulation("ridge readouts over an orthogonal bulk", _simulated(0)),), kind=Kind.CONCENTRATION, uses="appendix-d.orthogonal.zeta",
            mutants=(Mutant("no feedback", without),),
        ),
        claim(
            ".test-error-simulated", "Test error of readouts over an orthogonal bulk", eq(s.test_error, E(b**2 + q)),
            (BySimulation("ridge readouts over an orthogonal bulk", _simulated(2)),), kind=Kind.CONCENTRATION,
            uses="appendix-d.orthogonal.output-variance",
            mutants=(Mutant("the output's variance forgotten", eq(s.test_error, E(b**2))),),
        ),
        claim(
            ".zeta-without-feedback", "Overlap with the spike over an orthogonal bulk, without feedback", without,
            (exact, BySimulation("ridge readouts over an orthogonal bulk", _simulated(0))), uses="appendix-d.orthogonal.V",
            role=Role.PRINTED, note=AS_PRINTED,
        ),
        claim(
            ".output-variance-without-feedback", "Variance of the output over an orthogonal bulk, the spike's share left in",
            eq(s.output_variance, sizes), (exact,), uses="appendix-d.orthogonal.V", role=Role.PRINTED, note=AS_PRINTED,
        ),
    )  # fmt: skip


ALPHABET = Domain(
    (Range(s.kappa, -1.5, 1.5),),
    (),
    (
        {
            **GENERIC_LETTERS,
            "nu": lambda x, u: 0.5 + 0.3 * np.tanh(x * u) ** 2,
            "mu0u": lambda x, u: np.tanh(x * u) + 0.2 * x,
            "mu1u": lambda x, u: 0.3 + np.exp(-0.3 * (x * u) ** 2),
            "Vk": lambda x: 1.2 + 0.3 * np.cos(x),
            "Vhat": lambda u: 0.8 + 0.2 * np.sin(u),
            "qhat": lambda u: 0.4 + 0.1 * np.cos(u),
            "cu": lambda u: 1.0 + 0.4 * np.tanh(u) ** 2,
            "mu": lambda u: 0.7 - 0.2 * np.sin(u),
            "zetau": lambda u: 0.3 + 0.1 * np.cos(u),
            "F": lambda t: 1 / (1 + t),
            "t": lambda t: np.exp(-0.2 * t),
        },
    ),
)


def _alphabet_claims() -> tuple[Claim, ...]:
    gain = 1 / (s.ridge + V_hat_along)
    spread = ByDerivation(orthogonal_bulk.alphabet)
    q = U(nu_along * (q_hat_along * gain**2 + zeta_along**2 / (s.beta * c_along))) - U(mu1_along * zeta_along) ** 2
    mean = U(mu0_along * m_along + s.kappa * mu1_along * zeta_along)
    odd, even = sp.Function("F", real=True), sp.Function("t", real=True)
    note = "The letter is a function of a standard normal label, of any law; m(u) and zeta(u) are densities relative to it."

    def claim(name: str, title: str, statement: sp.Equality, check: ByDerivation, uses: str, *numbers: int, wrong: sp.Expr) -> Claim:
        return Claim(
            id=f"appendix-d.alphabet.{name}", title=title, source=paper(APPENDIX, *numbers), kind=Kind.FIXED_POINT, statement=statement,
            domain=ALPHABET, checks=(check,), uses=(uses,), mutants=(Mutant("wrong version", eq(statement.lhs, wrong)),), note=note,
        )  # fmt: skip

    added = s.mode * s.kappa * odd((s.mode * s.kappa) ** 2)
    return (
        claim("V", "V(kappa) of a continuous alphabet", eq(V_along, U(nu_along * gain)), spread, "appendix-d.orthogonal.V", 161,
              wrong=U(nu_along) * U(gain)),
        claim(
            "V-hat", "Conjugate of every letter's response", eq(V_hat_along, ratio * E(nu_along / (1 + V_along))),
            ByDerivation(orthogonal_bulk.alphabet_conjugate), "appendix-d.orthogonal.V-hat", 162, wrong=ratio * E(nu_along) / (1 + V_along),
        ),
        claim("residual", "Residual of a continuous alphabet", eq(s.residual, y0 - mean), spread, "appendix-d.output", 163,
              wrong=y0 - U(mu0_along * m_along + mu1_along * zeta_along)),
        claim(
            "output-variance", "Variance of the output for a continuous alphabet", eq(s.output_variance, q), spread,
            "appendix-d.orthogonal.output-variance", 164, wrong=q + U(mu1_along * zeta_along) ** 2,
        ),
        Claim(
            id="appendix-d.alphabet.mean-not-unique",
            title="m(u) is not unique: even functions of the letter may be added where mu0 is odd",
            source=paper(APPENDIX),
            kind=Kind.IDENTITY,
            statement=eq(s.output_change, sp.S.Zero),
            domain=ALPHABET,
            checks=(ByDerivation(orthogonal_bulk.no_unique_mean),),
            mutants=(
                Mutant("an odd function added", eq(s.output_change, U(added * s.mode * even(s.mode**2)))),
                Mutant("an even mu0", eq(s.output_change, U(odd((s.mode * s.kappa) ** 2) * even(s.mode**2)))),
            ),
            note="The equation for m(u) is of the first kind; only the output that m(u) makes is determined.",
        ),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (*_saddle_claims(), *_alphabet_claims())

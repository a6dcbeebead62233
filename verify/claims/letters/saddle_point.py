"""Claims of Appendix D: saddle point for a finite vocabulary (equations (155)-(157)) and its block equivalent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import sympy as sp

from giantsteps.derivations.bulk import blocks as block_equivalent
from giantsteps.derivations.free_energy.along_spike import y0, y1
from giantsteps.derivations.saddle_point import letters as readout_groups
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import isotropic as isotropic_rows
from giantsteps.derivations.saddle_point.letter_energy import mu0_of, mu1_of, mu2_of
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import E, e2_of
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.protocol.tolerances import FINITE_DIFFERENCE, ROUNDING, SOLVER
from giantsteps.verify.second_route.networks.blocks import BLOCK_DOMAIN, resolvents
from giantsteps.verify.second_route.saddle_point import letters as two_letters
from giantsteps.verify.second_route.values import LETTERS, PAIRS
from giantsteps.verify.solver.models import appendix_d, measured_letters
from giantsteps.verify.solver.networks import block_values, one_letter

CONJUGATES = "Appendix D, of the group (155)"
OVERLAPS = "Appendix D, of the group (156)"
LETTER_NOTE = "Written for two letters; every sum over letters shows both. The paper's gamma = 1 is y1 = 0, psi = 0."

# The formulas as the paper states them, with sums over letters, typed here and nowhere derived.
fit = sum(mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] for a in LETTERS)


def _quadratic(across: Sequence[Sequence[sp.Symbol]], along: Sequence[sp.Symbol]) -> sp.Expr:
    return (
        mu1_of[0] ** 2 * across[0][0]
        + 2 * mu1_of[0] * mu1_of[1] * across[0][1]
        + mu1_of[1] ** 2 * across[1][1]
        + mu2_of[0] ** 2 * along[0]
        + mu2_of[1] ** 2 * along[1]
    )


V, q = _quadratic(s.V1_of, s.V2_of), _quadratic(s.q1_of, s.q2_of)
signal = mu1_of[0] * s.psi_of[0] + mu1_of[1] * s.psi_of[1]
e2 = e2_of(fit, signal, q)
ratio = s.alpha / s.beta


solver = ByNumbers("the leave-one-out solver on random models with two letters", measured_letters, SOLVER,
                   two_letters.functions_at, points=6)
bulk = ByNumbers("one given bulk, the entropic term differentiated by differences", two_letters.given_bulk,
                 FINITE_DIFFERENCE)


def _claim(
    name: str,
    title: str,
    statement: sp.Equality,
    checks: tuple[ByDerivation | ByNumbers | BySimulation, ...],
    section: str,
    *numbers: int,
    domain: Domain = two_letters.DOMAIN,
    uses: tuple[str, ...] = ("appendix-d.free-energy",),
    wrong: Wrong | None = None,
    kind: Kind = Kind.FIXED_POINT,
    note: str = LETTER_NOTE,
) -> Claim:
    return claim(
        f"appendix-d.{name}", title, paper(section, *numbers), statement, domain, *checks,
        kind=kind, wrong=wrong, uses=uses, note=note,
    )


def _conjugate(
    variable: sp.Symbol, name: str, title: str, right: sp.Expr, *numbers: int, wrong: sp.Expr | None = None
) -> Claim:
    statement = eq(readout_groups.CONJUGATE[variable], right)
    proof = ByDerivation(partial(readout_groups.equation, variable))
    mutants = None if wrong is None else {"one letter for the other": wrong}
    section = "Appendix D" if numbers else CONJUGATES
    checks = (solver, proof, appendix_d)
    return _claim(f"saddle.{name}", title, statement, checks, section, *numbers, wrong=mutants)


def _conjugate_claims() -> tuple[Claim, ...]:
    squared = (1 + V) ** 2
    others = y0 - mu0_of[1] * s.m_of[1] - s.kappa * sum(mu1_of[a] * s.zeta_of[a] for a in LETTERS)
    return (
        _conjugate(
            s.q1_of[0][1], "V1-hat", "Conjugate of the overlap of two letters",
            ratio * E(mu1_of[0] * mu1_of[1] / (1 + V)), 155,
            wrong=ratio * E(mu1_of[0] ** 2 / (1 + V)),
        ),
        _conjugate(
            s.q2_of[0], "V2-hat", "Conjugate of the size of one letter's readout", ratio * E(mu2_of[0] ** 2 / (1 + V)),
            wrong=ratio * E(mu2_of[1] ** 2 / (1 + V)),
        ),
        _conjugate(
            s.V1_of[0][1], "q1-hat", "Conjugate of the response of two letters",
            ratio * E(mu1_of[0] * mu1_of[1] * e2 / squared),
        ),
        _conjugate(
            s.V2_of[0], "q2-hat", "Conjugate of the response of one letter", ratio * E(mu2_of[0] ** 2 * e2 / squared),
        ),
        _conjugate(
            s.zeta_of[0], "zeta-hat", "Conjugate of one letter's overlap with the spike",
            ratio * E(s.kappa * mu1_of[0] * (y0 - fit) / (1 + V)),
        ),
        _conjugate(
            s.psi_of[0], "psi-hat", "Conjugate of one letter's overlap with the target's other direction",
            ratio * E(mu1_of[0] * y1 / (1 + V)),
        ),
        _conjugate(
            s.m_of[0], "m", "One letter's readout mean: the residual is orthogonal to each mean feature",
            E(mu0_of[0] * others / (1 + V)) / E(mu0_of[0] ** 2 / (1 + V)),
        ),
    )


def _overlap(variable: sp.Symbol, name: str, title: str, right: sp.Expr, *numbers: int, wrong: sp.Expr) -> Claim:
    statement = eq(readout_groups.CONJUGATE[variable], right)
    proof = ByDerivation(partial(readout_groups.equation, variable))
    section = "Appendix D" if numbers else OVERLAPS
    return _claim(
        f"saddle.{name}", title, statement, (proof, bulk), section, *numbers,
        domain=two_letters.GIVEN_BULK, wrong={"another trace": wrong},
    )


def _overlap_claims() -> tuple[Claim, ...]:
    zeta = s.spike_block[0][0] * s.zeta_hat_of[0] + s.spike_block[0][1] * s.zeta_hat_of[1]
    psi = s.target_block[0][0] * s.psi_hat_of[0] + s.target_block[0][1] * s.psi_hat_of[1]
    return (
        _overlap(
            s.V1_hat_of[0][1], "q1", "Overlap of two letters, a trace of one given bulk", s.double_block[0][1], 156,
            wrong=s.double_block[0][0],
        ),
        _overlap(
            s.V2_hat_of[0], "q2", "Size of one letter's readout, a trace of one given bulk", s.double_letter[0],
            wrong=s.trace_letter[0],
        ),
        _overlap(
            s.q1_hat_of[0][1], "V1", "Response of two letters, a trace of one given bulk", s.trace_block[0][1],
            wrong=s.double_block[0][1],
        ),
        _overlap(
            s.q2_hat_of[0], "V2", "Response of one letter, a trace of one given bulk", s.trace_letter[0],
            wrong=s.trace_letter[1],
        ),
        _overlap(
            s.zeta_hat_of[0], "zeta", "One letter's overlap with the spike: the letters mix in a given bulk", zeta,
            wrong=s.spike_block[0][0] * s.zeta_hat_of[0],
        ),
        _overlap(
            s.psi_hat_of[0], "psi", "One letter's overlap with the target's other direction", psi,
            wrong=s.target_block[0][0] * s.psi_hat_of[0],
        ),
    )


block_numbers = ByNumbers("the k-group equivalent of the solver at random conjugates", block_values, SOLVER)


def _block_claims() -> tuple[Claim, ...]:
    one, two = (s.beta * s.c_of[a] * s.V2_of[a] for a in LETTERS)
    C11, C12, C22 = (s.V1_hat_of[a][b] for a, b in PAIRS)
    determinant = (1 + one * C11) * (1 + two * C22) - one * two * C12**2
    shift = s.ridge + s.V2_hat_of[0]
    tau = s.fraction[0] / (shift + s.c_of[0] * s.mixed[0][0])
    cavity = ByDerivation(block_equivalent.cavity)
    blocks = ByDerivation(block_equivalent.block_traces)
    entries = ByDerivation(block_equivalent.mixed_entries)
    note = (
        "The traces that the paper's equations keep, without large matrices; Theta = diag(beta c_a V2_a), "
        "M = V1^ (1 + Theta V1^)^-1."
    )

    def entry(name: str, title: str, statement: sp.Equality, check: ByDerivation, wrong: Wrong | None = None) -> Claim:
        return _claim(
            f"block.{name}", title, statement, (check, block_numbers), "Appendix D",
            domain=BLOCK_DOMAIN, uses=() if name == "tau" else ("appendix-d.block.tau",), wrong=wrong, note=note,
        )

    return (
        entry(
            "tau", "Trace of the resolvent over one letter's neurons", eq(s.V2_of[0], tau), cavity,
            wrong={"the entry of C for that of M": s.fraction[0] / (shift + s.c_of[0] * C11)},
        ),
        entry(
            "mixed-own", "Diagonal entry of C (1 + Theta C)^-1",
            eq(s.mixed[0][0], (C11 + two * (C11 * C22 - C12**2)) / determinant), entries,
        ),
        entry("mixed-other", "Off-diagonal entry of C (1 + Theta C)^-1", eq(s.mixed[0][1], C12 / determinant), entries),
        entry(
            "T-own", "Block trace of one letter", eq(s.V1_of[0][0], s.c_of[0] * s.V2_of[0] * (1 - one * s.mixed[0][0])),
            blocks,
        ),
        entry(
            "T-other", "Block trace between two letters",
            eq(s.V1_of[0][1], -s.beta * s.c_of[0] * s.c_of[1] * s.V2_of[0] * s.V2_of[1] * s.mixed[0][1]), blocks,
        ),
        _claim(
            "block.simulated", "Trace of the resolvent over one letter's neurons, of sampled matrices",
            eq(s.V2_of[0], tau),
            (BySimulation("resolvents of random bulks with two groups", resolvents(block_values)),),
            "Appendix D",
            domain=BLOCK_DOMAIN, uses=("appendix-d.block.tau",), kind=Kind.CONCENTRATION, note=note,
        ),
    )


def _isotropic_claims() -> tuple[Claim, ...]:
    own = s.beta * s.c_of[0] * s.V2_of[0]
    theta = sp.diag(*(s.beta * s.c_of[a] * s.V2_of[a] for a in LETTERS))
    M = sp.Matrix(2, 2, lambda a, b: s.mixed[a][b])
    T = sp.Matrix(2, 2, lambda a, b: s.V1_of[a][b])
    X = sp.Matrix(2, 2, lambda a, b: s.q1_hat_of[a][b] + s.beta * s.psi_hat_of[a] * s.psi_hat_of[b])
    N = sp.eye(2) - M * theta
    along = s.q2_hat_of[0] + s.beta * s.c_of[0] * s.zeta_hat_of[0] ** 2 + s.c_of[0] * (N * X * N.T)[0, 0]
    other = s.beta * s.c_of[0] * s.c_of[1] * s.mixed[0][1] ** 2 * s.q2_of[1]
    q2 = (along + other) / (s.fraction[0] / s.V2_of[0] ** 2 - s.beta * s.c_of[0] ** 2 * s.mixed[0][0] ** 2)
    q1 = s.beta * (T * X * T)[0, 1] + sum(N[e, 0] * s.c_of[e] * s.q2_of[e] * N[e, 1] for e in LETTERS)
    uses = ("appendix-d.free-energy", "appendix-d.block.tau", "appendix-d.block.T-own", "appendix-d.block.T-other")
    note = "Fully asymptotic form of (156) for isotropic rows, any beta. " + LETTER_NOTE

    def entry(variable: sp.Symbol, name: str, title: str, right: sp.Expr, *wrong: sp.Expr) -> Claim:
        unknown = readout_groups.CONJUGATE[variable]
        proof = ByDerivation(partial(isotropic_rows.isotropic, variable))
        return _claim(
            f"isotropic.{name}", title, eq(unknown, right), (proof, solver, appendix_d), OVERLAPS,
            uses=uses, wrong={f"wrong version {k + 1}": other for k, other in enumerate(wrong)}, note=note,
        )

    return (
        entry(s.zeta_hat_of[0], "zeta", "One letter's overlap with the spike, isotropic rows", own * s.zeta_hat_of[0]),
        entry(
            s.psi_hat_of[0], "psi", "One letter's overlap with the target's other direction, isotropic rows",
            s.beta * (s.V1_of[0][0] * s.psi_hat_of[0] + s.V1_of[0][1] * s.psi_hat_of[1]),
            s.beta * s.V1_of[0][0] * s.psi_hat_of[0],
        ),
        entry(s.V2_hat_of[0], "q2", "Size of one letter's readout, isotropic rows", q2, without(q2, s.q2_of[1])),
        entry(s.V1_hat_of[0][1], "q1", "Overlap of two letters, isotropic rows", q1, (T * X * T)[0, 1] * s.beta),
    )


def _other_claims() -> tuple[Claim, ...]:
    ranges = (Range(s.beta, 0.4, 2.5, log=True), Range(s.ridge, 0.1, 3.0, log=True), Range(s.fraction[0], 0.2, 0.8))
    one = Domain((*ranges, Range(s.c, 0.5, 1.6), Range(s.V1_hat, 0.2, 2.0), Range(s.V2_hat, 0.2, 2.0)))
    return (
        _claim(
            "test-error", "Test error for several letters", eq(s.test_error, E(e2) - s.noise),
            (ByDerivation(readout_groups.test_error), solver, appendix_d), "Appendix D", 157,
            wrong={
                "the size of one letter forgotten": E(e2 - mu2_of[0] ** 2 * s.q2_of[0]) - s.noise,
                "the mixed overlap counted once": E(e2 - mu1_of[0] * mu1_of[1] * s.q1_of[0][1]) - s.noise,
            },
            uses=("appendix-d.local-fields",),
            note="At gamma = 1 this is E[b^2 + q]: there y1 = 0 and y2 = y0^2 + Delta. " + LETTER_NOTE,
        ),
        _claim(
            "equal-letters", "Letters that do not differ are one letter",
            eq(s.V1, s.c * s.V2 / (1 + s.beta * s.c * s.V1_hat * s.V2)),
            (ByDerivation(block_equivalent.equal_groups),
             ByNumbers("the k-group equivalent at equal groups", one_letter, ROUNDING)),
            "Appendix D",
            domain=one, uses=("appendix-d.block.tau",),
            note="The block equivalent of equal groups is the Marchenko-Pastur law of one group.",
        ),
    )


CLAIMS: tuple[Claim, ...] = (
    *_conjugate_claims(), *_overlap_claims(), *_block_claims(), *_isotropic_claims(), *_other_claims(),
)

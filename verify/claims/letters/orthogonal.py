"""Claims of Appendix D over an orthogonal bulk, finite and continuous vocabularies (equations (158)-(164))."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.free_energy.along_spike import y0
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import alphabet, orthogonal
from giantsteps.derivations.saddle_point.bulk_of_letters.alphabet import (
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
from giantsteps.derivations.saddle_point.letter_energy import mu0_of, mu1_of, mu2_of
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import E
from giantsteps.verify.claims.saddle_point.formulas import nu as over_alphabet
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range, Role, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.saddle_point.letters import GENERIC_LETTERS
from giantsteps.verify.second_route.saddle_point.orthogonal import alphabet as of_alphabet
from giantsteps.verify.second_route.saddle_point.orthogonal.two_letters import GIVEN, SIMULATED, exact
from giantsteps.verify.second_route.values import LETTERS

APPENDIX = "Appendix D"
GROUP = "Appendix D, of the group (159)-(160)"

nu = tuple(s.c_of[a] * mu1_of[a] ** 2 + mu2_of[a] ** 2 for a in LETTERS)
V = nu[0] * s.V_of_letter[0] + nu[1] * s.V_of_letter[1]
linear = mu1_of[0] * s.zeta_of[0] + mu1_of[1] * s.zeta_of[1]
b = y0 - sum(mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] for a in LETTERS)
sizes = nu[0] * s.q2_of[0] + nu[1] * s.q2_of[1]
ratio = s.alpha / s.beta
own = s.beta * s.c_of[0] * s.V_of_letter[0]
A_READING = Source("this suite", "a reading of Appendix D, of the group (159)-(160)")
NOT_PRINTED = (
    "No source prints it: how the equations of the special case might be taken, without the directions that Pi takes "
    "out of the bulk."
)


def _saddle_claim(
    name: str,
    title: str,
    statement: sp.Equality,
    checks: tuple[Check, ...],
    *numbers: int,
    uses: str = "appendix-d.orthogonal",
    wrong: Wrong | None = None,
    kind: Kind = Kind.FIXED_POINT,
    role: Role = Role.OURS,
    note: str = "",
) -> Claim:
    source = A_READING if role is Role.READING else paper(APPENDIX if numbers else GROUP, *numbers)
    return claim(
        f"appendix-d.orthogonal{name}", title, source, statement, GIVEN,
        *checks,
        kind=kind, role=role, wrong=wrong, uses=(uses,) if name else (), note=note,
    )


def _saddle_claims() -> tuple[Claim, ...]:
    V_u = s.fraction[0] / (s.ridge + s.V_hat_of_letter[0])
    zeta = own * (s.zeta_hat_of[0] + s.V1_hat_of[0][1] * s.zeta_of[1]) / (1 - own * s.V1_hat_of[0][0])
    size = s.fraction[0] * s.q_hat_of_letter[0] / (s.ridge + s.V_hat_of_letter[0]) ** 2 + s.zeta_of[0] ** 2 / (
        s.beta * s.c_of[0] * s.fraction[0]
    )
    q = sizes - linear**2
    without = eq(s.zeta_of[0], own * s.zeta_hat_of[0])

    return (
        _saddle_claim(
            "", "An orthogonal bulk", eq(s_map.row_product, s.c_of[0] * s.replica_delta), (exact,), 158,
            wrong={"unit rows": s.replica_delta},
            kind=Kind.DEFINITION,
            note="A special case, assumed. The check shows that the bulk of the numbers below is of "
                 "this kind.",
        ),
        _saddle_claim(
            ".V", "Response of a letter over an orthogonal bulk", eq(s.V_of_letter[0], V_u),
            (exact, ByDerivation(orthogonal.response)),
            wrong={"the share forgotten": 1 / (s.ridge + s.V_hat_of_letter[0])},
        ),
        _saddle_claim(
            ".V-hat", "Conjugate of a letter's response over an orthogonal bulk",
            eq(s.V_hat_of_letter[0], ratio * E(nu[0] / (1 + V))), (ByDerivation(orthogonal.averaged),),
            wrong={"c forgotten": ratio * E((mu1_of[0] ** 2 + mu2_of[0] ** 2) / (1 + V))},
            uses="appendix-d.orthogonal.V",
        ),
        _saddle_claim(
            ".zeta", "Overlap with the spike over an orthogonal bulk: the letters feed back", eq(s.zeta_of[0], zeta),
            (exact, ByDerivation(orthogonal.spike)), 159,
            wrong={"no feedback": without},
            uses="appendix-d.orthogonal.V",
            note="zeta_u = beta c_u V_u (zeta^_u + sum_u' V1^_uu' zeta_u'), solved for letter 1: W Pi W^T lacks the "
                 "direction W v, along which the signal lies.",
        ),
        _saddle_claim(
            ".q", "Size of a letter's readout over an orthogonal bulk", eq(s.q2_of[0], size),
            (exact, ByDerivation(orthogonal.sizes)), 160,
            wrong={"the signal forgotten": size - s.zeta_of[0] ** 2 / (s.beta * s.c_of[0] * s.fraction[0])},
            uses="appendix-d.orthogonal.zeta",
        ),
        _saddle_claim(
            ".output-variance", "Variance of the output over an orthogonal bulk", eq(s.output_variance, q),
            (exact, ByDerivation(orthogonal.output_variance)),
            wrong={"the spike's share left in": sizes},
            uses="appendix-d.orthogonal.q",
        ),
        _saddle_claim(
            ".test-error-simulated", "Test error of readouts over an orthogonal bulk", eq(s.test_error, E(b**2 + q)),
            (BySimulation("ridge readouts over an orthogonal bulk", SIMULATED),),
            wrong={"the output's variance forgotten": E(b**2)},
            kind=Kind.CONCENTRATION, uses="appendix-d.orthogonal.output-variance",
        ),
        _saddle_claim(
            ".zeta-without-feedback", "Overlap with the spike over an orthogonal bulk, without feedback", without,
            (exact, BySimulation("ridge readouts over an orthogonal bulk", SIMULATED)),
            uses="appendix-d.orthogonal.V", role=Role.READING, note=NOT_PRINTED,
        ),
        _saddle_claim(
            ".output-variance-without-feedback",
            "Variance of the output over an orthogonal bulk, the spike's share left in", eq(s.output_variance, sizes),
            (exact,),
            uses="appendix-d.orthogonal.V", role=Role.READING, note=NOT_PRINTED,
        ),
    )


ALPHABET = Domain((Range(s.kappa, -1.5, 1.5),), (),
                  ({
                       **GENERIC_LETTERS,
                       "nu": lambda x, u: 0.5 + 0.3 * np.tanh(x * u) ** 2,
                       "mu0u": lambda x, u: np.tanh(x * u) + 0.2 * x,
                       "mu1u": lambda x, u: 0.3 + np.exp(-0.3 * (x * u) ** 2),
                       "Vk": lambda x: 0.6 + 0.2 * np.cos(x),
                       "Vhat": lambda u: 0.8 + 0.2 * np.sin(u),
                       "qhat": lambda u: 0.4 + 0.1 * np.cos(u),
                       "cu": lambda u: 1.0 + 0.4 * np.tanh(u) ** 2,
                       "mu": lambda u: 0.7 - 0.2 * np.sin(u),
                       "zetau": lambda u: 0.3 + 0.1 * np.cos(u),
                       "F": lambda t: 1 / (1 + t),
                       "t": lambda t: np.exp(-0.2 * t),
                   },))


_AS_MANY_LETTERS = (
    "The simulated network has as many letters as neurons. The functions on the right-hand side are those of the "
    "saddle point, solved on grids by a route of its own, which keeps the cost m^2/p that the equations neglect."
)


_gain = 1 / (s.ridge + V_hat_along)
_squares = over_alphabet(nu_along * (q_hat_along * _gain**2 + zeta_along**2 / (s.beta * c_along)))
_V_ALONG = eq(V_along, over_alphabet(nu_along * _gain))
_V_HAT_ALONG = eq(V_hat_along, ratio * E(nu_along / (1 + V_along)))
_RESIDUAL = eq(s.residual, y0 - over_alphabet(mu0_along * m_along + s.kappa * mu1_along * zeta_along))
_VARIANCE = eq(s.output_variance, _squares - over_alphabet(mu1_along * zeta_along) ** 2)


def _alphabet_claims() -> tuple[Claim, ...]:
    spread = ByDerivation(alphabet.alphabet)
    odd, even = sp.Function("F", real=True), sp.Function("t", real=True)
    note = "The letter is a function of a standard normal label; m(u) and zeta(u) are densities relative to its law."

    def entry(
        name: str, title: str, statement: sp.Equality, check: ByDerivation, uses: str, *numbers: int, wrong: sp.Expr
    ) -> Claim:
        return claim(
            f"appendix-d.alphabet.{name}", title, paper(APPENDIX, *numbers), statement, ALPHABET, check,
            kind=Kind.FIXED_POINT, wrong={"wrong version": wrong}, uses=(uses,), note=note,
        )

    added = s.mode * s.kappa * odd((s.mode * s.kappa) ** 2)
    return (
        entry(
            "V", "V(kappa) of a continuous alphabet", _V_ALONG, spread,
            "appendix-d.orthogonal.V", 161,
            wrong=over_alphabet(nu_along) * over_alphabet(_gain),
        ),
        entry(
            "V-hat", "Conjugate of every letter's response", _V_HAT_ALONG, ByDerivation(alphabet.alphabet_conjugate),
            "appendix-d.orthogonal.V-hat", 162,
            wrong=ratio * E(nu_along) / (1 + V_along),
        ),
        entry(
            "residual", "Residual of a continuous alphabet", _RESIDUAL, spread, "appendix-d.output", 163,
            wrong=y0 - over_alphabet(mu0_along * m_along + mu1_along * zeta_along),
        ),
        entry(
            "output-variance", "Variance of the output for a continuous alphabet", _VARIANCE, spread,
            "appendix-d.orthogonal.output-variance", 164,
            wrong=_squares,
        ),
        claim(
            "appendix-d.alphabet.mean-not-unique",
            "m(u) is not unique: even functions of the letter may be added where mu0 is odd", paper(APPENDIX),
            eq(s.output_change, sp.S.Zero), ALPHABET, ByDerivation(alphabet.no_unique_mean),
            wrong={
                "an odd function added": over_alphabet(added * s.mode * even(s.mode**2)),
                "an even mu0": over_alphabet(odd((s.mode * s.kappa) ** 2) * even(s.mode**2)),
            },
            note="The equation for m(u) is of the first kind; only the output that m(u) makes is determined.",
        ),
    )


def _measured(name: str, title: str, statement: sp.Equality, wrong: Wrong) -> Claim:
    return claim(
        f"appendix-d.alphabet.{name}-simulated", f"{title}, of simulated readouts", paper(APPENDIX),
        statement, ALPHABET,
        BySimulation("readouts whose neurons have a letter each", of_alphabet.simulated),
        kind=Kind.CONCENTRATION, wrong=wrong, uses=(f"appendix-d.alphabet.{name}",), note=_AS_MANY_LETTERS,
    )


_MEASURED = (
    _measured(
        "V", "V(kappa) of a continuous alphabet", _V_ALONG,
        {
            "averaged apart": over_alphabet(nu_along) * over_alphabet(_gain),
            "one conjugate for all letters": over_alphabet(nu_along) / (s.ridge + over_alphabet(V_hat_along)),
        },
    ),
    _measured(
        "V-hat", "Conjugate of every letter's response", _V_HAT_ALONG,
        {"averaged apart": ratio * E(nu_along) / (1 + E(V_along)), "without the response": ratio * E(nu_along)},
    ),
    _measured(
        "residual", "Residual of a continuous alphabet", _RESIDUAL,
        {
            "kappa forgotten": y0 - over_alphabet(mu0_along * m_along + mu1_along * zeta_along),
            "the spike forgotten": y0 - over_alphabet(mu0_along * m_along),
        },
    ),
    _measured(
        "output-variance", "Variance of the output for a continuous alphabet", _VARIANCE,
        {
            "the spike's share left in": _squares,
            "the signal forgotten":
                over_alphabet(nu_along * q_hat_along * _gain**2) - over_alphabet(mu1_along * zeta_along) ** 2,
        },
    ),
)

CLAIMS: tuple[Claim, ...] = (*_saddle_claims(), *_alphabet_claims(), *_MEASURED)

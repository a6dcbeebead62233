"""Claims of Section 3.3: the saddle point of the ridge readout and its errors (equations (17)-(25), (122)-(129))."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy import convex_loss
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2, varpi, varrho, vartau, y0, y1
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.saddle_point import conventions
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import E2, E, I_nu, S, V, b, e2, fit, nu, ratio, x
from giantsteps.verify.claims.saddle_point.systems import by_derivations, one_wrong, together
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route import given_bulk as law_numbers
from giantsteps.verify.second_route.models import DOMAIN, GENERIC, functions_at
from giantsteps.verify.second_route.saddle_point.simulations import MODELS, simulated
from giantsteps.verify.solver.models import (
    beside_functions,
    measured,
    measured_with_moments,
    result_3_3,
    solver,
    solver_in_two_variables,
)

SECTION = "Section 3.3"
APPENDIX = "Appendix C"
PLAIN = Domain(interpretations=(GENERIC,))


def _simulated(*models: str) -> BySimulation:
    """The check that a statement predicts an order parameter, on the models named (all by default)."""
    chosen = {name: MODELS[name] for name in models or MODELS}
    return BySimulation("ridge on spiked random features", partial(simulated, chosen, beside_functions, 33, 3))


def _saddle(
    variable: sp.Symbol,
    name: str,
    title: str,
    right: sp.Expr,
    *numbers: int,
    wrong: Wrong | None = None,
    simulations: tuple[BySimulation, ...] = (),
) -> Claim:
    """The equation from stationarity in ``variable``; those for conjugates and m are checked on the solver too."""
    unknown = CONJUGATE[variable]
    proof = ByDerivation(partial(saddle_point.equation, variable))
    general = ByDerivation(partial(convex_loss.square_loss, variable))
    spectral = right.has(s.mode)
    checks: tuple[Check, ...] = (proof, law_numbers.dense) if spectral else (
        proof, general, solver, result_3_3, *simulations
    )
    return claim(
        f"result-3-3.saddle.{name}", title, paper(SECTION, *numbers),
        eq(unknown, right), law_numbers.CONJUGATES if spectral else DOMAIN,
        *checks,
        kind=Kind.FIXED_POINT, wrong=wrong, uses=("result-3-3.free-energy",),
    )


def _saddle_claims() -> tuple[Claim, ...]:
    pi_part = s.beta * s.psi_hat**2 * varrho * varpi**2
    tau_part = s.beta * s.zeta_hat**2
    return (
        _saddle(
            s.q1, "V1-hat", "Conjugate of q1", ratio * E(mu1**2 / (1 + V)), 122,
            wrong={"as on the slides: rho": ratio * E(s.rho * mu1**2 / (1 + V))},
        ),
        _saddle(
            s.q2, "V2-hat", "Conjugate of q2", ratio * E(mu2**2 / (1 + V)),
            wrong={"as on the slides: rho": ratio * E(s.rho * mu2**2 / (1 + V))},
        ),
        _saddle(s.V1, "q1-hat", "Conjugate of V1", ratio * E(mu1**2 * e2 / (1 + V) ** 2), 123),
        _saddle(s.V2, "q2-hat", "Conjugate of V2", ratio * E(mu2**2 * e2 / (1 + V) ** 2)),
        _saddle(s.zeta, "zeta-hat", "Conjugate of zeta", ratio * E(s.kappa * mu1 * (y0 - fit) / (1 + V)), 124),
        _saddle(s.psi, "psi-hat", "Conjugate of psi", ratio * E(mu1 * y1 / (1 + V))),
        _saddle(
            s.m, "m", "The readout mean", E(mu0 * (y0 - s.kappa * mu1 * s.zeta) / (1 + V)) / E(mu0**2 / (1 + V)), 125,
            simulations=(_simulated(),),
        ),
        _saddle(s.q1_hat, "V1", "Response of the projected readout", nu(varrho / S), 126),
        _saddle(s.q2_hat, "V2", "Response of the readout", nu(1 / S)),
        _saddle(s.zeta_hat, "zeta", "Overlap with the spike", s.beta * s.zeta_hat * I_nu / (1 - x)),
        _saddle(
            s.psi_hat, "psi", "Overlap with the target's other direction",
            s.beta * s.psi_hat * nu(varrho * varpi**2 / S),
        ),
        _saddle(
            s.V1_hat, "q1", "Size of the projected readout, for any law of the bulk",
            nu(varrho * (s.q1_hat * varrho + s.q2_hat + tau_part * varrho * vartau**2 + pi_part) / S**2)
            - s.beta * tau_part * I_nu**2 / (1 - x) ** 2
            - tau_part * nu(vartau**2 * varrho**2 / S**2) * ((1 - x) ** 2 - 1) / (1 - x) ** 2,
        ),
        _saddle(
            s.V2_hat, "q2", "Size of the readout, for any law of the bulk",
            nu((s.q1_hat * varrho + s.q2_hat + tau_part * varrho * vartau**2 + pi_part) / S**2)
            - tau_part * nu(vartau**2 * varrho / S**2) * (1 - 1 / (1 - x) ** 2),
        ),
    )


def _isotropic(variable: sp.Symbol, name: str, title: str, right: sp.Expr, *simulations: BySimulation) -> Claim:
    return claim(
        f"result-3-3.isotropic.{name}", title, paper(SECTION),
        eq(CONJUGATE[variable], right), DOMAIN,
        ByDerivation(partial(saddle_point.isotropic, variable)),
        ByNumbers("the leave-one-out solver, and integrals over the Marchenko-Pastur density", measured_with_moments,
                  SOLVER),
        result_3_3, *simulations,
        kind=Kind.FIXED_POINT,
        uses=("result-3-3.free-energy", "result-3-3.spike-resolvent", "result-3-3.resolvent-square",
              "result-3-3.resolvent-mixed", "result-3-3.resolvent-double"),
    )


def _isotropic_claims() -> tuple[Claim, ...]:
    across = s.q1_hat + s.beta * s.psi_hat**2
    along = s.q2_hat + s.beta * s.c * s.zeta_hat**2
    return (
        _isotropic(s.zeta_hat, "zeta", "Overlap with the spike, isotropic rows", s.beta * s.c * s.V2 * s.zeta_hat),
        _isotropic(
            s.psi_hat, "psi", "Overlap with the target's other direction, isotropic rows", s.beta * s.V1 * s.psi_hat,
            _simulated("tanh learns sin"),
        ),
        _isotropic(
            s.V1_hat, "q1", "Size of the projected readout, isotropic rows",
            across * s.resolvent_double + along * s.resolvent_mixed, _simulated("tanh learns sin"),
        ),
        _isotropic(
            s.V2_hat, "q2", "Size of the readout, isotropic rows",
            across * s.resolvent_mixed + along * s.resolvent_square, _simulated(),
        ),
    )


def _error_claims() -> tuple[Claim, ...]:
    quadratic = mu1**2 * s.q1 + mu2**2 * s.q2 - mu1**2 * s.psi_paper**2 / s.rho
    return (
        claim(
            "result-3-3.test-error", "Test error as an average over the spike", paper(APPENDIX, 127, 129),
            eq(s.test_error, E(e2) - s.noise), DOMAIN,
            ByDerivation(saddle_point.test_error), solver, result_3_3, _simulated(),
            kind=Kind.FIXED_POINT, uses=("result-3-3.local-field-mean",),
            note="An identity between limits; that errors of finite networks tend to it is confirmed by simulation.",
        ),
        claim(
            "result-3-3.test-error-as-printed", "Test error as an average over kappa and z", paper(SECTION, 25),
            eq(s.test_error, E2(b**2 + quadratic)), DOMAIN,
            ByDerivation(conventions.test_error_of_the_paper), solver_in_two_variables,
            kind=Kind.FIXED_POINT, uses=("result-3-3.test-error",),
        ),
        claim(
            "result-3-3.training-error", "Training error", paper(SECTION),
            eq(s.training_error, E(e2 / (1 + V) ** 2)), DOMAIN,
            ByDerivation(saddle_point.training_error), solver, result_3_3, _simulated(),
            kind=Kind.FIXED_POINT, uses=("result-3-3.moreau-minimiser",),
            note="An identity between limits; that errors of finite networks tend to it is confirmed by simulation.",
        ),
        claim(
            "result-3-3.ridge-response", "Derivative of the free energy in the ridge penalty", paper(APPENDIX),
            eq(s.ridge_response, s.q2 / 2), DOMAIN,
            ByDerivation(saddle_point.ridge_response),
            wrong={"q1 for q2": s.q1 / 2},
            uses=("result-3-3.free-energy",),
        ),
        claim(
            "result-3-3.value", "The stationary value is the training objective per neuron", paper(APPENDIX, 104),
            eq(s.free_energy, ratio * E(e2 / (1 + V) ** 2) / 2 + s.ridge * s.q2 / 2), DOMAIN,
            ByDerivation(saddle_point.value),
            ByNumbers("the free energy at the solver's saddle point", _stationary_value, SOLVER, functions_at),
            uses=("result-3-3.free-energy", "result-3-3.training-error"),
        ),
    )


def _stationary_value(point: Point) -> Mapping[str, float] | None:
    """The isotropic free energy, all of its terms, at the solver's thirteen numbers."""
    values = measured(point)
    if values is None:
        return None
    signal = s.beta * s.psi_hat**2 * s.V1 + s.beta * s.c * s.zeta_hat**2 * s.V2
    phi = (
        (s.q1_hat * s.V1 - s.V1_hat * s.q1) / 2
        + (s.q2_hat * s.V2 - s.V2_hat * s.q2) / 2
        + s.zeta_hat * s.zeta
        + s.psi_hat * s.psi
        - (s.q1_hat * s.V1 + s.q2_hat * s.V2 + signal) / 2
        + ratio * E(e2 / (1 + V)) / 2
    )
    return {**values, s.free_energy.name: evaluate(phi, values, functions_at(point))}


_SADDLE = {c.statement.lhs: c for c in _saddle_claims()}


def _block(*unknowns: sp.Symbol) -> tuple[Claim, ...]:
    return tuple(_SADDLE[unknown] for unknown in unknowns)


# The three groups of equations that Result 3.3 prints under a number each.
BLOCK_A = _block(s.V1, s.V2, s.m, s.zeta, s.psi)
BLOCK_B = _block(s.q1, s.q2)
BLOCK_C = _block(s.V1_hat, s.V2_hat, s.q1_hat, s.q2_hat, s.zeta_hat, s.psi_hat)
_BY_UNKNOWN = {unknown: partial(saddle_point.equation, variable) for variable, unknown in CONJUGATE.items()}


def _result(name: str, title: str, number: int, block: tuple[Claim, ...]) -> Claim:
    return claim(
        f"result-3-3.{name}", title, paper(SECTION, number),
        together(block), PLAIN,
        by_derivations("stationarity of the free energy, equation by equation", _BY_UNKNOWN),
        kind=Kind.FIXED_POINT, wrong=one_wrong(block), uses=tuple(c.id for c in block),
        note="Conjugates as in the free energy: those of zeta and psi are the slides' divided by sqrt(beta).",
    )


_RESULT = (
    _result("overlaps", "Saddle point, square loss: responses and overlaps with fixed vectors", 18, BLOCK_A),
    _result("sizes", "Saddle point, square loss: sizes of the readout", 19, BLOCK_B),
    _result("conjugates", "Saddle point, square loss: the conjugates", 20, BLOCK_C),
)

CLAIMS: tuple[Claim, ...] = (*_SADDLE.values(), *_RESULT, *_isotropic_claims(), *_error_claims())

"""Beyond the paper: the algebra of a network's bulk with a vocabulary.

What follows from the equivalent of `network_groups`: the spike taken out, the cases that are known already, and the
sums over poles, by which the resolvent of the batch is needed at one point per letter only.
"""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.bulk import letter_poles as network_groups_poles
from giantsteps.derivations.bulk import letters as network_groups
from giantsteps.derivations.bulk import letters as network_groups_cases
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks.letters import BEYOND
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq, without
from giantsteps.verify.second_route.networks import exact
from giantsteps.verify.second_route.networks import letter_numbers as numbers
from giantsteps.verify.second_route.networks import letter_steps as steps
from giantsteps.verify.second_route.values import LETTERS
from giantsteps.verify.solver.networks import block_values

_C11, _C12, _C22 = s.V1_hat_of[0][0], s.V1_hat_of[0][1], s.V1_hat_of[1][1]
_det = _C11 * _C22 - _C12**2
_CONJUGATES = (Range(_C11, 0.4, 1.5), Range(_C22, 0.4, 1.5), Range(_C12, 0.1, 0.38))

# --- the spike taken out ---------------------------------------------------------------------------------------------

_R11, _R12, _R22 = s.spike_forms[0][0], s.spike_forms[0][1], s.spike_forms[1][1]
# 1 - R C and its determinant; C (1 - R C)^-1 written out.
_left = 1 - (_R11 * _C11 + 2 * _R12 * _C12 + _R22 * _C22) + _det * (_R11 * _R22 - _R12**2)
_E11, _E12, _E22 = _C11 - _det * _R22, _C12 + _det * _R12, _C22 - _det * _R11
_added = (
    s.left_forms[0] * (_E11 * s.right_forms[0] + _E12 * s.right_forms[1])
    + s.left_forms[1] * (_E12 * s.right_forms[0] + _E22 * s.right_forms[1])
) / _left
WITHOUT_SPIKE = claim(
    "beyond.groups.without-spike", "The spike taken out of the bulk of two letters", BEYOND,
    eq(s.vector_overlap, s.vector_form + _added),
    Domain(ranges=(*_CONJUGATES, *(Range(D, 0.8, 2.0) for D in s.V2_hat_of), Range("rows", 6.0, 16.0),
                   Range("columns", 6.0, 16.0), Range("seed", 0.0, 1e6))),
    ByDerivation(network_groups.without_spike),
    ByNumbers("two dense inverses of one set of rows", exact.given_rows, tolerances.ROUNDING),
    wrong={
        "the spike left in the bulk": s.vector_form,
        "to first order": s.vector_form + without(_added * _left, _R11, _R12, _R22),
    },
    note="y and y' stand for any two of W_a v, W_a theta_perp and delta_a.",
)


def _on_networks(id_: str, title: str, overlap: sp.Symbol, vectors: str) -> Claim:
    """One overlap on the rows of real networks: forms by the equivalent, the spike taken out of them."""
    return claim(
        f"beyond.groups.{id_}", title, BEYOND,
        eq(overlap, s.vector_form + _added), Domain(hypotheses=(network_groups.ROWS_OF_GROUPS,)),
        ByDerivation(partial(network_groups.without_spike, overlap, vectors)),
        BySimulation("rows of real networks with two letters", steps.real_networks(overlap)),
        kind=Kind.LIMIT,
        wrong={
            "the spike left in the bulk": s.vector_form,
            "the spike of one letter alone": s.vector_form + without(_added, _C12, _C22),
        },
        uses=("beyond.groups.without-spike", "beyond.groups.overlap-own", "beyond.groups.overlap-mixed",
              "beyond.groups.overlap-norm-own", "beyond.groups.overlap-norm-mixed", "beyond.groups.norms-own",
              "beyond.groups.norms-mixed", "beyond.groups.norm-along-spike", "beyond.groups.norm-variance"),
        note="y and y' are the two vectors that the overlap is of; their forms are those of the equivalent.",
    )


ON_NETWORKS = (
    _on_networks(
        "network-spike", "The overlap of the spike direction, one letter, on real networks", s.spike_overlap_of,
        "v twice",
    ),
    _on_networks(
        "network-spike-norm", "The overlap of spike and norms, one letter, on real networks",
        s_saddle.norm_row_spike[0], "v and the norms",
    ),
    _on_networks(
        "network-norm", "The overlap of the norms, one letter, on real networks", s_saddle.norm_row_norm[0],
        "the norms twice",
    ),
)

# --- what is known already -------------------------------------------------------------------------------------------

_ISOTROPIC = Domain(ranges=(Range(s.beta, 0.4, 2.5, log=True), Range(s.ridge, 0.1, 2.0, log=True),
                            Range(s.fraction[0], 0.25, 0.75), *(Range(c, 1.1, 1.9) for c in s.c_of), *_CONJUGATES,
                            *(Range(D, 0.2, 1.5) for D in s.V2_hat_of)))
_APPENDIX_D = ByNumbers("the solver's equivalent of Appendix D against a constant spectrum",
                        partial(exact.isotropic, block_values), tolerances.SOLVER, points=6)
KNOWN = (
    claim(
        "beyond.groups.isotropic-spike", "With an isotropic bulk the spike's overlaps are those of Appendix D", BEYOND,
        eq(s.spike_overlap_of, s.beta * s.c_of[0] * s.V2_of[0]), _ISOTROPIC,
        ByDerivation(network_groups_cases.isotropic), _APPENDIX_D,
        wrong={"rows as before the step": s.beta * s.V2_of[0], "the target's": s.beta * s.V1_of[0][0]},
        uses=("beyond.groups.overlap-own", "beyond.groups.without-spike"),
    ),
    claim(
        "beyond.groups.isotropic-target", "With an isotropic bulk the target's overlaps are those of Appendix D",
        BEYOND,
        eq(s.target_overlap_mixed, s.beta * s.V1_of[0][1]), _ISOTROPIC,
        ByDerivation(network_groups_cases.isotropic), _APPENDIX_D,
        wrong={"letters do not mix": sp.S.Zero, "without beta": s.V1_of[0][1]},
        uses=("beyond.groups.overlap-mixed", "beyond.groups.without-spike"),
    ),
    claim(
        "beyond.groups.equal-letters", "Letters that do not differ are one letter", BEYOND,
        eq(s.V2,
           1 / (
               s.ridge + s.V2_hat
               + s.V1_hat
               * (1 - Expectation(1 / (1 + s.gain * (1 + s.row_weight * network_groups.varrho(s.spectrum_mode))),
                                  s.spectrum_mode))
               / s.gain
           )),
        Domain(ranges=(Range(s.beta, 0.4, 2.5, log=True), Range(s.ridge, 0.1, 2.0, log=True),
                       Range(s.fraction[0], 0.25, 0.75), Range(s.row_weight, 0.2, 1.5, log=True),
                       Range(s.V1_hat, 0.3, 1.5), Range(s.V2_hat, 0.2, 1.5)),
               interpretations=(numbers.SPECTRAL,)),
        ByDerivation(network_groups_cases.equal_groups),
        ByNumbers("two groups that do not differ, iterated", exact.equal_letters, tolerances.SOLVER,
                  functions=lambda _: numbers.SPECTRAL, points=6),
        wrong={
            "without the trace of the filter": 1 / (s.ridge + s.V2_hat + s.V1_hat / s.gain),
            "the ridge forgotten": 1 / (s.V2_hat + s.V1_hat / s.gain),
        },
        uses=("beyond.groups.V2", "beyond.V2"), note="The equation of one letter, beyond.V2.",
    ),
)

# --- sums over poles -------------------------------------------------------------------------------------------------

_slopes = tuple(gain * u**2 * s.row_weight for gain, u in zip(s.row_gain, s.letter, strict=True))
_centres = tuple((s.row_gain[a] + (_C22, _C11)[a] / _det) / _slopes[a] for a in LETTERS)
_half, _between = (_centres[0] + _centres[1]) / 2, (_centres[0] - _centres[1]) ** 2 / 4
_coupling = _C12**2 / (_det**2 * _slopes[0] * _slopes[1])
_lead = _det * _slopes[0] * _slopes[1]
_BATCHES = Domain(ranges=(Range("target", choices=("tanh", "sin")), Range("columns", 8.0, 24.0),
                          Range("samples", 8.0, 48.0), Range("seed", 0.0, 1e6), Range(s.letter[0], 0.6, 1.5),
                          Range(s.letter[1], -1.2, -0.4), Range(s.row_weight, 0.3, 1.5),
                          *(Range(gain, 0.3, 1.5) for gain in s.row_gain), *_CONJUGATES),
                  hypotheses=(network_groups_poles.INVERTIBLE,))
_FINITE = ByNumbers("one finite batch, dense matrices of both letters", exact.finite_batch, tolerances.QUADRATURE)


def _pole(number: int, sign: int) -> Claim:
    right = _half + sign * sp.sqrt(_between + _coupling)
    return claim(
        f"beyond.groups.pole-{number}", f"Where the resolvent of the batch is needed, point {number} of two", BEYOND,
        eq(s.pole[number - 1], right), _BATCHES,
        ByDerivation(network_groups_poles.poles), _FINITE,
        wrong={
            "the letters on their own": without(right, _C12),
            "the other root": _half - sign * sp.sqrt(_between + _coupling),
        },
        uses=("beyond.groups.V2",),
    )


def _numerator(t: sp.Symbol) -> sp.Expr:
    """1 + C_22 theta_2 at the eigenvalue -t."""
    return 1 + _C22 * (s.row_gain[1] - _slopes[1] * t)


_apart = _lead * (s.pole[1] - s.pole[0])
_trace = (_numerator(s.pole[0]) * s.pole_trace[0] - _numerator(s.pole[1]) * s.pole_trace[1]) / _apart
_forms = _C12 * (s.pole_form[0] - s.pole_form[1]) / _apart
POLES = (
    _pole(1, -1),
    _pole(2, 1),
    claim(
        "beyond.groups.pole-trace", "The trace of a letter's filter needs q at two points", BEYOND,
        eq(s.filter_trace, _trace), _BATCHES,
        ByDerivation(network_groups_poles.sums), _FINITE,
        wrong={
            "one point for both": _trace.xreplace({s.pole_trace[1]: s.pole_trace[0]}),
            "the other letter's slope": _trace.xreplace({_C22: _C11}),
        },
        uses=("beyond.groups.pole-1", "beyond.groups.pole-2"),
    ),
    claim(
        "beyond.groups.pole-form", "A form of two letters needs the batch's resolvent at two points", BEYOND,
        eq(s.mixed_form, _forms), _BATCHES,
        ByDerivation(network_groups_poles.sums), _FINITE,
        wrong={"a sum": _C12 * (s.pole_form[0] + s.pole_form[1]) / _apart, "letters do not mix": sp.S.Zero},
        uses=("beyond.groups.pole-1", "beyond.groups.pole-2"),
    ),
    claim(
        "beyond.groups.V2-by-filter", "The trace over the neurons of a letter by its filter, on real networks", BEYOND,
        eq(s.V2_of[0], (s.fraction[0] - (1 - s.filter_trace) / s.beta) / (s.ridge + s.V2_hat_of[0])),
        Domain(hypotheses=_BATCHES.hypotheses),
        ByDerivation(network_groups_poles.filtered),
        BySimulation("rows of real networks with two letters", steps.real_networks(s.V2_of[0])),
        kind=Kind.LIMIT,
        wrong={
            "rows as before the step": (
                s.fraction[0] - (1 - (1 + _C22 * s.row_gain[1]) / (
                    1 + _C11 * s.row_gain[0] + _C22 * s.row_gain[1] + _det * s.row_gain[0] * s.row_gain[1]
                )) / s.beta) / (s.ridge + s.V2_hat_of[0]),
            "without beta": (s.fraction[0] - (1 - s.filter_trace)) / (s.ridge + s.V2_hat_of[0]),
        },
        uses=("beyond.groups.V2", "beyond.groups.pole-trace", "beyond.batch-trace"),
        note="The trace of the filter is that of beyond.groups.pole-trace with q of beyond.batch-trace.",
    ),
)

CLAIMS: tuple[Claim, ...] = (WITHOUT_SPIKE, *ON_NETWORKS, *KNOWN, *POLES)

"""Beyond the paper: the readout of a network whose initial readout has a vocabulary, with quenched biases.

The bulk's equivalent and its hypotheses are in `network_groups`, its algebra in `network_groups_exact`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from giantsteps.derivations.bounds.network import VOCABULARY
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.letters import ROWS_OF_GROUPS
from giantsteps.derivations.free_energy.along_spike import y0, y1
from giantsteps.derivations.language import inequalities
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.derivations.saddle_point import network as network_groups_readout
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.derivations.saddle_point.letter_energy import mu0_of, mu1_of
from giantsteps.verify.checks.points import ByNumbers, BySearch
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.letters.saddle_point import fit, q, signal
from giantsteps.verify.claims.networks.bulk import above_span
from giantsteps.verify.claims.networks.letters import BEYOND
from giantsteps.verify.claims.saddle_point.formulas import E as over_kappa
from giantsteps.verify.claims.saddle_point.formulas import e2_of
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq, ge, without
from giantsteps.verify.second_route.grids import INTERPRETATIONS, interpretation
from giantsteps.verify.second_route.networks import letter_networks as networks
from giantsteps.verify.second_route.saddle_point.letters import GENERIC_LETTERS
from giantsteps.verify.second_route.values import LETTERS

_argument = s.r * s.letter[0] * s.kappa + s_saddle.bias_of[0] + sp.sqrt(s.c_of[0]) * s.z
THIRD = claim(
    "beyond.groups.third-function", "The function of kappa that a letter's norms bring", BEYOND,
    eq(s_saddle.third_of, Expectation((s.z**2 - 1) * sigma(_argument), s.z) / (2 * s.c_of[0])),
    Domain(ranges=(Range("activation", choices=("tanh", "sin", "erf")), Range(s.r, 0.5, 2.0),
                   Range(s.letter[0], -1.3, -0.4), Range(s_saddle.bias_of[0], 0.2, 1.2), Range(s.c_of[0], 0.7, 2.5),
                   Range(s.kappa, 0.3, 2.0)),
           interpretations=INTERPRETATIONS),
    ByDerivation(network_groups_readout.third_function),
    ByNumbers("central differences of mu0 in c",
              partial(networks.third_at, c=s.c_of[0], third=s_saddle.third_of), tolerances.FINITE_DIFFERENCE,
              functions=lambda point: interpretation(str(point["activation"]), "sin")),
    wrong={
        "without the -1": Expectation(s.z**2 * sigma(_argument), s.z) / (2 * s.c_of[0]),
        "without the bias": Expectation((s.z**2 - 1) * sigma(_argument - s_saddle.bias_of[0]), s.z) / (2 * s.c_of[0]),
    },
    uses=("beyond.third-function", "appendix-d.mu0"),
)

_k2 = tuple(sp.Function(f"k2_{a + 1}", real=True)(s.kappa) for a in LETTERS)
_yhat, _V = sp.Function("yhat", real=True)(s.kappa), sp.Function("Vk", positive=True)(s.kappa)
_fit = fit + sum(_k2[a] * s_saddle.chi_of[a] for a in LETTERS)
_e2, _e2_short = (e2_of(mean, signal, q) for mean in (_fit, _yhat))
_GENERIC = {**GENERIC_LETTERS, "k2_1": GENERIC_LETTERS["mu0_2"], "k2_2": GENERIC_LETTERS["mu1_2"],
            "yhat": GENERIC_LETTERS["mu0_1"], "Vk": GENERIC_LETTERS["mu1_1"]}
_NETWORKS = Domain(ranges=(Range("network", choices=tuple(networks.NETWORKS)),), interpretations=(_GENERIC,))
_USES = tuple(
    f"beyond.groups.{name}"
    for name in (
        "third-function", "V2", "V1-own", "V1-mixed", "overlap-own", "overlap-mixed", "overlap-norm-own",
        "overlap-norm-mixed", "norms-own", "norms-mixed", "without-spike", "q1", "q2",
    )
) + ("appendix-d.local-field-variance",)


def _readout(
    id_: str,
    title: str,
    left: sp.Symbol,
    right: sp.Expr,
    build: Callable[[], Derivation],
    *, wrong: Wrong,
    note: str = "",
    uses: tuple[str, ...] = (),
) -> Claim:
    return claim(
        f"beyond.groups.{id_}", title, BEYOND,
        eq(left, right), _NETWORKS,
        ByDerivation(build),
        ByNumbers("the maps iterated as they stand", lambda point: networks.values_of(networks.network_at(point)),
                  tolerances.SOLVER, lambda point: networks.functions_of(networks.network_at(point)), points=2),
        BySimulation("readouts of real networks with two letters and a bias", networks.readouts),
        kind=Kind.LIMIT, wrong=wrong, uses=(*_USES, *uses), note=note,
    )


_no_norms = dict.fromkeys(s_saddle.chi_of, sp.S.Zero)
_pulls = (
    [s.kappa * mu1_of[b] * (y0 - _yhat) for b in LETTERS],
    [mu1_of[b] * y1 for b in LETTERS],
    [_k2[b] * (y0 - _yhat) for b in LETTERS],
)
_chi = s.alpha / s.beta * sum(
    row[b] * over_kappa(pull[b] / (1 + _V))
    for row, pull in zip(
        (s_saddle.norm_row_spike, s_saddle.norm_row_target, s_saddle.norm_row_norm), _pulls, strict=True
    )
    for b in LETTERS
)
_without_m = y0 - without(_fit, s_saddle.m_of[0])
_ONLY_SIMULATED = (
    "Only the simulation is an independent check: the number solves the maps of the saddle point, or evaluates the "
    "errors at their solution, and uses this relation. Measured as the difference from a twin with the isotropic bulk "
    "of Appendix D on the same draws, whose limit has claims of its own. The difference is a few per cent of the "
    "whole; five per cent of the whole is detected by the limit of the twin. The twin has the network's rows without "
    "their measured covariance, so that it does not depend on the theory's covariance."
)
READOUTS = (
    _readout(
        "readout-mean", "The mean of one letter's readout", s_saddle.m_of[0],
        over_kappa(mu0_of[0] * _without_m / (1 + _V)) / over_kappa(mu0_of[0] ** 2 / (1 + _V)),
        network_groups_readout.readout_mean,
        wrong={
            "the isotropic bulk of the paper": s.m_isotropic,
            "without the third functions":
                over_kappa(mu0_of[0] * _without_m.subs(_no_norms) / (1 + _V)) / over_kappa(mu0_of[0] ** 2 / (1 + _V)),
        },
        note=_ONLY_SIMULATED,
    ),
    _readout(
        "norm-overlap", "One letter's readout overlaps with the fluctuations of its rows' norms",
        s_saddle.chi_of[0], _chi, network_groups_readout.norm_overlap,
        wrong={
            "equal norms, as in the paper": sp.S.Zero,
            "the other letter forgotten":
                without(_chi, s_saddle.norm_row_spike[1], s_saddle.norm_row_target[1], s_saddle.norm_row_norm[1]),
        },
        note="The number solves the maps of the saddle point, of which this relation is one: the agreement holds by "
             "construction and is no evidence for networks. The evidence is the derivation and the simulation. On "
             "networks the terms of the other letter are at most a thousandth of the overlap, and the simulation "
             "measures the letter's own term to a fifth. It cannot refute four of the mutants at any affordable "
             "size. The terms of the other letter are measured on drawn rows, where they are large.",
        uses=("beyond.groups.readout-mean",),
    ),
    _readout(
        "test-error", "The test error of a network with a vocabulary and biases",
        s.test_error, over_kappa(_e2) - s.noise, network_groups_readout.errors,
        wrong={
            "the isotropic bulk of the paper": s.error_isotropic,
            "without the third functions": over_kappa(_e2.subs(_no_norms)) - s.noise,
        },
        note=_ONLY_SIMULATED,
    ),
    _readout(
        "training-error", "The training error of a network with a vocabulary and biases", s.training_error,
        over_kappa(_e2_short / (1 + _V) ** 2), network_groups_readout.errors,
        wrong={"the isotropic bulk of the paper": s.training_isotropic, "the test error": over_kappa(_e2_short)},
        note=f"{_ONLY_SIMULATED} The smallest term is two per cent of the error, five standard errors of the "
             "measurement, and some draws miss it. More networks would not help: the fit in 1/d has a bias of half a "
             "standard error, and larger networks are not affordable.",
    ),
)


FLOOR = claim(
    "beyond.groups.floor", "No network with a vocabulary gets below the distance to three functions per letter", BEYOND,
    ge(s.test_error, s.distance_groups), Domain(ranges=(Range("network", choices=tuple(networks.WELL_FED)),)),
    BySearch("the saddle point with many samples and neurons", networks.floor_numbers, tolerances.SOLVER),
    ByTheorem("an infimum and a sum of squares", partial(above_span, VOCABULARY),
              hypotheses=(ROWS_OF_GROUPS, network_groups_readout.WITH_NORMS, inequalities.ONE_READOUT)),
    wrong={
        # The networks of the search stay above nine times the distance.
        "ten times more": 10 * s.distance_groups,
        "root for square": sp.sqrt(s.distance_groups),
    },
    uses=("beyond.groups.test-error",),
)

CLAIMS: tuple[Claim, ...] = (THIRD, *READOUTS, FLOOR)

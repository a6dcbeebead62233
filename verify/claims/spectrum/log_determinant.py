"""The log-determinant of the features, from which eigenvalues are counted: Appendix F, and a network's own rows."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import mu0
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g
from giantsteps.derivations.spectrum import log_determinant as spectrum_log_determinant
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks.rows import BEYOND
from giantsteps.verify.claims.saddle_point.formulas import V
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route import spectra as numbers
from giantsteps.verify.second_route.models import GENERIC, RANGES, functions_at, problem
from giantsteps.verify.solver.networks import computed_functions
from giantsteps.verify.solver.spectrum import beside, isotropic, of_network

_log = sp.log(1 + V)
# The formulas as they are claimed, typed here and nowhere derived.
_shared = (
    -sp.log(s.V2) + (s.ridge + s.V2_hat) * s.V2 - 1 - s.V1_hat * s.V1 - s.V2_hat * s.V2
    + s.alpha / s.beta * Expectation(_log, s.kappa)
)
_rows = sp.log(1 + s.beta * s.c * s.V1_hat * s.V2) / s.beta
_labels = s.alpha0 * Expectation(sp.log(1 + g(s.z) ** 2 * s.leverage), s.z)
_own = (-sp.log(s.row_trace) + (1 + s.gain) * s.row_trace - 1 + _labels) / s.beta
_COUNT = (
    "The slope in lambda is V2, the Stieltjes transform at -lambda. Continued to lambda = -x - i0 the imaginary part "
    "is -pi times the share of eigenvalues below x: it is counted without integrating the density."
)

ISOTROPIC = claim(
    "appendix-f.log-determinant",
    "The log-determinant of the features, and with it the share of eigenvalues below a point",
    paper("Appendix F, from the group (189)"),
    eq(s.features_log_det, _shared + _rows), Domain(ranges=RANGES, interpretations=(GENERIC,)),
    ByDerivation(spectrum_log_determinant.isotropic),
    ByNumbers("the solver's Stieltjes transform, integrated", isotropic, SOLVER, functions_at, points=4),
    BySimulation("eigenvalues of spiked features", partial(numbers.sampled, numbers.MODELS, beside, 2)),
    kind=Kind.FIXED_POINT,
    wrong={
        "without the rows": _shared,
        "products of V and its conjugate added": _shared + _rows + 2 * s.V1 * s.V1_hat,
        "V squared": _shared + _rows + s.alpha / s.beta * Expectation(_log, s.kappa),
    },
    uses=("appendix-f.stieltjes",), note=_COUNT,
)

_NETWORKS = Domain(ranges=(*problem(("tanh", "erf"), ("tanh", "sin"), (0.5, 3.0), (0.5, 2.0), (0.02, 1.0), (0.0, 0.0)),
                           Range(s.alpha0, 0.5, 20.0, log=True), Range("rate", 1.0, 6.0)),
                   interpretations=({**GENERIC, "k2": GENERIC["mu0"]},))

NETWORK = claim(
    "beyond.spectrum", "The log-determinant of a network's features: its spectrum, rows of covariance 1 + omega A",
    BEYOND,
    eq(s.features_log_det, _shared + _own), _NETWORKS,
    ByDerivation(spectrum_log_determinant.network),
    ByNumbers("the solver's Stieltjes transform, integrated", of_network, SOLVER, computed_functions, points=4),
    BySimulation("eigenvalues of real networks' features", partial(numbers.sampled, numbers.NETWORKS, beside, 5)),
    kind=Kind.LIMIT,
    wrong={
        "the isotropic bulk of the paper": _shared + _rows,
        "without the labels": _shared + _own - _labels / s.beta,
        "the mean left in": _shared + _own + Expectation(mu0**2, s.kappa),
    },
    uses=("beyond.V2", "beyond.V1", "beyond.batch-trace"),
    note=_COUNT + " Spike and norms change the features by finite rank, which no share of eigenvalues feels.",
)

CLAIMS: tuple[Claim, ...] = (ISOTROPIC, NETWORK)

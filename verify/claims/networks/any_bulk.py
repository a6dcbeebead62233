"""Beyond the paper: the readout of a network with any activation. The equations are those of an odd one; rows differ.

A conjecture, built by leave-one-out arguments and tested on real networks: what simulation earns is CONFIRMED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import sympy as sp

from giantsteps.derivations.bulk import network as network_bulk
from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks import bulk as odd
from giantsteps.verify.claims.networks.any_rows import ANY, STEPS
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.second_route.any_activation import draws
from giantsteps.verify.second_route.equivalence import twins
from giantsteps.verify.second_route.networks.one_letter_rows import DRAWN_ROWS
from giantsteps.verify.solver.networks import limits, of_networks

_ROWS = Domain(ranges=STEPS.ranges, hypotheses=(network_bulk.ROWS,), interpretations=STEPS.interpretations)
_BOTH = tuple(draws.BULK_MODELS)[:2]
# Small in most real networks: measured on one of few neurons, in which they are large, and to a few per cent on rows
# that are drawn by a law.
_BESIDE_THE_DIAGONAL = {"beyond.overlap-spike-target", "beyond.overlap-target-norm", "beyond.overlap-spike-norm"}
_TURNED = (
    "On a real network whose rows are much turned by their step the simulation sees a fifth of it; smaller errors are "
    "seen on rows of a law under which it is large."
)


def _of_any(claim: Claim, words: str, domain: Domain, **others: Any) -> Claim:
    """The same statement for any activation; ``words`` of the title say so."""
    id_ = claim.id.replace("beyond.", "beyond.any-")
    return replace(claim, id=id_, title=f"{claim.title}{words}", source=ANY, domain=domain, **others)


def _derived(claim: Claim) -> tuple[ByDerivation, ...]:
    return tuple(check for check in claim.checks if isinstance(check, ByDerivation))


def _rows(claim: Claim) -> Claim:
    """The same derivation, with the rows of networks with any activation."""
    assert isinstance(claim.statement, sp.Equality)
    simulated: tuple[BySimulation, ...]
    if claim.id in _BESIDE_THE_DIAGONAL:
        real = BySimulation("rows of a real network, much turned", draws.bulks(draws.TURNED))
        simulated, note = (BySimulation(odd.DRAWN, DRAWN_ROWS), real), _TURNED
    else:
        one, note = odd.of_rows(claim.statement.lhs, draws.bulks(*_BOTH), len(_BOTH))
        simulated = (one,)
    return _of_any(
        claim, ", any activation", _ROWS, checks=(*_derived(claim), odd.EQUIVALENT, *simulated), note=note,
        uses=("beyond.any-row-covariance", "beyond.any-trace", "beyond.any-target"),
    )  # fmt: skip


TAU, WIDTH = _rows(odd.TAU), _rows(odd.WIDTH)
OVERLAPS = tuple(_rows(claim) for claim in odd.OVERLAPS)

_READOUTS = Domain(
    ranges=(Range("activation", choices=("relu", "softplus", "shifted tanh", "leaning tanh")),
            Range("target", choices=("tanh", "sin")), Range(s.alpha, 0.5, 3.0, log=True),
            Range(s.beta, 0.5, 2.0, log=True), Range(s.ridge, 0.05, 1.0, log=True),
            Range(s.alpha0, 1.0, 20.0, log=True), Range("rate", 0.5, 6.0)),
    interpretations=odd.TEST_ERROR.domain.interpretations,
)  # fmt: skip
def _beside_twins(settings: Mapping[str, twins.Setting], words: str) -> BySimulation:
    return BySimulation(
        f"real networks beside their isotropic twins, {words}", partial(twins.beside_twins, settings, limits)
    )


_TWO = _beside_twins(twins.ANY_NETWORKS, "two models")
_OFF_CENTRE = _beside_twins(twins.OFF_CENTRE, "two models with a mean")
_THREE = _beside_twins(twins.ANY_NETWORKS | twins.SMALL_BATCH, "three models")


def _error(claim: Claim, simulated: BySimulation) -> Claim:
    return _of_any(
        claim, " with any activation", _READOUTS,
        checks=(simulated, *_derived(claim), of_networks("the readout of a network with any activation")),
        uses=("beyond.third-function", TAU.id, WIDTH.id, *(c.id for c in OVERLAPS), "result-3-3.test-error",
              "result-3-3.training-error"),
    )  # fmt: skip


TEST_ERROR = _error(odd.TEST_ERROR, _TWO)
TRAINING_ERROR = _error(odd.TRAINING_ERROR, _THREE)
MEAN = _error(odd.MEAN, _OFF_CENTRE)

CLAIMS: tuple[Claim, ...] = (TAU, WIDTH, *OVERLAPS, MEAN, TEST_ERROR, TRAINING_ERROR)

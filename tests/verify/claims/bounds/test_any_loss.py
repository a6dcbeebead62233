"""The claims on bounds of any convex loss: derivations hold, wrong neighbours do not, numbers agree."""

from __future__ import annotations

from giantsteps.derivations.bounds import any_loss as loss_bounds
from giantsteps.derivations.bounds import symbols
from giantsteps.verify.checks.checker import settle
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Domain
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.second_route import losses as numbers


def test_every_obligation_of_the_derivations_holds() -> None:
    derivation = loss_bounds.heavy_ridge()
    settled = [settle(obligation, Domain(), PAPER.growing) for obligation in derivation.obligations]
    assert settled
    assert {found.outcome for found in settled} == {Outcome.SUPPORTS}


def test_the_regimes_make_each_bound_tight() -> None:
    """Where a bound is tight an error of eight per cent in it shows."""
    point = {"model": "tanh learns sin", "loss": "square"}
    many, few = (numbers.one_ridge(point | {"regime": name}) for name in ("many samples", "few samples"))
    assert many is not None
    assert few is not None
    least, means, loss = (s.name for s in (symbols.least_loss, symbols.least_loss_means, symbols.test_loss))
    assert many[least] < many[loss] < 1.08 * many[least]
    assert few[means] / 1.08 < few[loss] < 1.08 * few[means]

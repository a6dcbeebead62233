"""What bounds say of themselves: every part of their estimates, and every limit from both sides."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds import any_loss, infinite_ridge, ridge
from giantsteps.numerics.bounds.any_loss import LeastLoss
from giantsteps.numerics.bounds.results import Bounds, Minimum
from giantsteps.numerics.models.model import Model

# E[g^2] of the tables below: limits are shares of it.
SQUARE = 1e-3
MODEL = Model(activation("tanh"), activation("sin"), 1.5, 0.8, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
NETWORK: Any = SimpleNamespace(loss=SimpleNamespace(name="square"), network_step=1)
PLAIN: Any = SimpleNamespace(loss=SimpleNamespace(name="square"), network_step=None)


def close(number: Any, relative: float) -> Any:
    """Equal to a relative error: these numbers are as small as they like."""
    return pytest.approx(number, rel=relative, abs=0.0)


def table(unresolved: float = 0.0, exhausted: bool = False) -> Any:
    one = np.ones(1)
    return SimpleNamespace(
        weights=one, y0=0.0 * one, y1=0.0 * one, spread=SQUARE * one, unresolved=unresolved, exhausted=exhausted
    )


def bounds_of(
    patch: pytest.MonkeyPatch, uppers: list[float], lowers: list[float], tables: dict[int, Any] | None = None,
    model: Any = PLAIN, uncertain: float = 0.0,
) -> Bounds:  # fmt: skip
    """The bounds whose values on the rules one after another are these; the last stay what they are."""

    def value(values: list[float]) -> Any:
        return lambda model, refine: values[min(refine, len(values) - 1)] if model in (PLAIN, NETWORK) else model

    patch.setattr(ridge, "square_only", lambda *_: None)
    patch.setattr(ridge, "_upper", value(uppers))
    patch.setattr(ridge, "_lower", value(lowers))
    patch.setattr(ridge, "profile", lambda model, refine: (tables or {}).get(refine, table()))
    patch.setattr(ridge, "relative_uncertainty", lambda model: uncertain)
    return ridge.bounds.__wrapped__(model)


def test_a_rule_is_doubled_until_both_bounds_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    # A hundred-billionth of E[g^2] is what they may move by.
    near, far = 0.9e-11 * SQUARE, 1.1e-11 * SQUARE
    for uppers, lowers, refine, moved in (
        ([2e-4, 2e-4], [1e-4, 1e-4], 1, 0.0),
        ([2e-4, 2e-4 + near], [1e-4, 1e-4 + near], 1, near),
        ([2e-4, 2e-4 + far], [1e-4, 1e-4], 2, 0.0),
        ([2e-4, 2e-4], [1e-4, 1e-4 - far], 2, 0.0),
        ([2e-4, 1e-4, 3e-4], [1e-4, 1e-4, 1e-4, 5e-5], 4, 0.0),
    ):
        found = bounds_of(monkeypatch, uppers, lowers)
        assert (found.refine, found.upper, found.lower) == (refine, uppers[-1], lowers[-1])
        # And rounding, 1e-15 of E[g^2]; differences of doubles of 1e-4 have rounding of their own.
        assert found.error_estimate == close(moved + 1e-15 * SQUARE, 1e-6)
        assert found.converged
    # No rule after the sixth, and what that one moved by is no convergence.
    found = bounds_of(monkeypatch, [2e-4 + 1e-6 * k for k in range(9)], [1e-4] * 9)
    assert (found.refine, found.converged) == (6, False)
    assert found.error_estimate == pytest.approx(1e-6, rel=1e-6)


def test_what_inner_integrals_leave_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [2e-4], [1e-4]
    found = bounds_of(monkeypatch, *held, {1: table(0.9e-11)})
    assert (found.refine, found.error_estimate) == (1, close(0.9e-11 * SQUARE, 1e-3))
    found = bounds_of(monkeypatch, *held, {1: table(1.1e-11)})
    assert (found.refine, found.error_estimate) == (2, close(1e-15 * SQUARE, 1e-6))
    # What no finer rule mends, and where there is none.
    for last in (table(1.0), table(0.5, exhausted=True), table(1.1e-11, exhausted=True)):
        found = bounds_of(monkeypatch, *held, {1: last})
        assert (found.refine, found.error_estimate) == (1, close(last.unresolved * SQUARE, 1e-3))
        assert found.converged is (last.unresolved < 1e-7)


def test_estimates_are_limited_beside_the_square_of_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    for share, converged in ((0.99e-7, True), (1.01e-7, False)):
        found = bounds_of(monkeypatch, [2e-4], [1e-4], {1: table(share, exhausted=True)})
        assert found.converged is converged


def test_errors_of_a_step_are_in_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [2e-4], [1e-4]
    # One for each of spike, bulk and alignment: small ones, and those of a network.
    for model, uncertain in ((PLAIN, 1e-13), (NETWORK, 1e-13), (NETWORK, 1e-9)):
        found = bounds_of(monkeypatch, *held, model=model, uncertain=uncertain)
        assert found.error_estimate == close((3.0 * uncertain + 1e-15) * SQUARE, 1e-9)
    # Larger ones are looked at: here each neighbour is its own bound, both of them, and the larger move counts.
    monkeypatch.setattr(ridge, "neighbours", lambda model: iter([2.5e-4, 1.2e-4]))
    found = bounds_of(monkeypatch, *held, uncertain=1e-9)
    assert found.error_estimate == pytest.approx(1.5e-4 + 0.8e-4, rel=1e-9)


def test_a_best_ridge_is_confirmed_by_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    at, fine = Minimum(0.3, 0.5), Bounds(0.1, 0.9, 1e-12, True, 1)
    for error, converged, of, holds in (
        (0.5, True, fine, True),
        (0.5 + 1.49e-7, True, fine, True),
        (0.5 - 1.51e-7, True, fine, False),
        (0.5, False, fine, False),
        (0.5, True, Bounds(0.1, 0.9, 1e-12, False, 1), False),
    ):
        solution = SimpleNamespace(test_error=error, converged=converged, error_estimate=3e-9)
        monkeypatch.setattr(ridge, "solve", lambda model, solution=solution: solution)
        found = ridge._confirmed(MODEL, at, of)
        assert found == (holds, close(3e-9 + abs(error - 0.5), 1e-9))
    assert ridge._confirmed(MODEL, Minimum(math.inf, 0.9), fine) == (True, 1e-12)


@pytest.mark.parametrize(("slope", "bend", "twist"), [(1.0, 1e6, 0.0), (1.0, 2e5, 3e10), (1.0, 2e5, -6e9)])
def test_a_minimum_far_out_is_that_of_the_cubic(slope: float, bend: float, twist: float) -> None:
    limit, far = 0.7, 1e4

    def at(e: float) -> float:
        return limit - slope * e + bend * e**2 + twist * e**3

    (found,) = ridge._beyond(slope, limit, far, lambda log_ridge: at(math.exp(-log_ridge)))
    e = 1.0 / found.at
    # Flat there to second order, curved upwards; differences of numbers of order one times ridge^2 lose half of all.
    assert -slope + 2.0 * bend * e + 3.0 * twist * e * e == pytest.approx(0.0, abs=1e-4)
    assert 2.0 * bend + 6.0 * twist * e > 0.0
    assert found.error == pytest.approx(at(e), abs=1e-14)


@pytest.mark.parametrize(("slope", "bend"), [(0.0, 1e6), (1.0, -1e6), (1.0, 0.4e4), (-1.0, 1e6)])
def test_without_a_minimum_far_out_there_is_none(slope: float, bend: float) -> None:
    # No slope, bent downwards, a minimum that is nearer than `far`, or none at a positive ridge.
    def at(e: float) -> float:
        return -slope * e + bend * e**2

    assert ridge._beyond(slope, 0.0, 1e4, lambda log_ridge: at(math.exp(-log_ridge))) == ()


def test_the_scan_reaches_as_far_as_the_features_ask_for() -> None:
    one = np.ones(1)

    def scanned(mu1: float, rest: float, bulk: float = 1.0, alpha: float = 1.0, beta: float = 1.0) -> Any:
        model: Any = SimpleNamespace(bulks=(bulk,), alpha=alpha, beta=beta)
        given: Any = SimpleNamespace(mu1=mu1 * one[None], mu2_squared=rest * one[None], weights=one)
        return ridge._scanned(model, given)

    usual = close((1e-6, 1e6), 1e-9)
    assert scanned(1.0, 0.0) == usual
    assert scanned(30.0, 0.0) == close((1e-6, 1e9), 1e-9)
    assert scanned(0.0, 900.0) == close((1e-6, 1e9), 1e-9)
    assert scanned(30.0, 0.0, bulk=1e-6) == close((1e-10, 1e6), 1e-9)
    assert scanned(0.0, 0.02) == close((1e-8, 1e6), 1e-9)
    # As many samples as there are a dimension, or a neuron, where they are more than one.
    assert scanned(1.0, 0.0, alpha=500.0) == close((1e-6, 1e9), 1e-9)
    assert scanned(1.0, 0.0, alpha=5.0, beta=0.01) == close((1e-6, 1e9), 1e-9)
    assert scanned(1.0, 0.0, alpha=0.01, beta=100.0) == usual


def test_forces_count_where_they_are_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.array([2.0, 1.0])
    unseen = SimpleNamespace(at=lambda zero: SimpleNamespace(overlap=np.diag([3.0, 5.0])))
    monkeypatch.setattr(infinite_ridge, "equivalent_of", lambda *_: unseen)

    def slope(fine: list[float], coarse: list[float]) -> float:
        rules: Any = {"fine": (np.array(fine), sizes), "coarse": (np.array(coarse), sizes)}
        given, coarser = (SimpleNamespace(features=(1, 2)) for _ in rules)
        monkeypatch.setattr(infinite_ridge, "forces", lambda of: rules["fine" if of is given else "coarse"])
        return infinite_ridge.slope_at_infinity(MODEL, given, coarser)  # type: ignore[arg-type]

    ratio = 2.0 * 1.5 / 0.8
    assert slope([0.5, -0.1], [0.5, -0.1]) == pytest.approx(ratio * (3.0 * 0.25 + 5.0 * 0.01))
    # As large as what another rule gives differently, or as rounding of the terms that it is the sum of.
    assert slope([0.5, -0.1], [0.5, 0.01]) == pytest.approx(ratio * 3.0 * 0.25)
    assert slope([0.5, -0.1], [0.5, -0.01]) == pytest.approx(ratio * (3.0 * 0.25 + 5.0 * 0.01))
    assert slope([1.9e-13, -0.9e-13], [1.9e-13, -0.9e-13]) == 0.0
    assert slope([2.1e-13, 0.0], [2.1e-13, 0.0]) == close(ratio * 3.0 * 2.1e-13**2, 1e-9)
    assert slope([0.0, 1.1e-13], [0.0, 1.1e-13]) == close(ratio * 5.0 * 1.1e-13**2, 1e-9)


def test_a_mean_at_the_rounding_of_its_activation_fits_nothing() -> None:
    one, y = np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])
    for slopes, rest in ((1.0, 0.0), (0.0, 1.0)):
        given: Any = SimpleNamespace(
            weights=0.25 * one, mu0=1e-18 * one[None], mu1=slopes * one[None], mu2_squared=rest * one[None]
        )
        assert infinite_ridge.left_over(given, given.mu0, y) == pytest.approx(0.5 * y, rel=1e-12)
    given.mu0 = 1e-3 * one[None]
    assert infinite_ridge.left_over(given, given.mu0, y) == pytest.approx(0.5 * (y - 2.5), rel=1e-9)


def losses(patch: pytest.MonkeyPatch, loss: str, uncertain: float = 0.0, **changes: Any) -> Bounds:
    """Bounds whose least losses are 0.25 over all and 0.5 over the means, but for the changes."""
    least = {True: LeastLoss(0.25, (1.0,), False, 1e-9, True), False: LeastLoss(0.5, (1.0,), False, 2e-9, True)}
    if "wide" in changes:
        least[True] = changes["wide"]
    if "narrow" in changes:
        least[False] = changes["narrow"]
    patch.setattr(any_loss, "least_loss", lambda model, across: least[across])
    patch.setattr(any_loss, "square_bounds", lambda model: SimpleNamespace(lower=0.01))
    patch.setattr(any_loss, "_error", lambda *_: 0.125)
    patch.setattr(any_loss, "relative_uncertainty", lambda model: uncertain)
    return any_loss.loss_bounds.__wrapped__(MODEL.changed(loss=loss, noise=0.1))


def test_bounds_of_a_loss_have_every_part_of_their_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = losses(monkeypatch, "huber:1")
    # Nothing is below the least loss less its estimate; infinite ridge reaches what was found.
    assert (found.lower, found.upper, found.converged) == (close(0.25 - 1e-9, 1e-15), 0.5, True)
    assert found.error_estimate == close(3e-9, 1e-9)
    # Errors of the step's averages: three times what they are, beside the loss and one.
    found = losses(monkeypatch, "huber:1", uncertain=1e-13)
    assert found.error_estimate - 3e-9 == close(3e-13 * 1.5, 1e-3)
    # (y - f)^2/2 with the noise of the label is half of the error and the noise.
    found = losses(monkeypatch, "square")
    assert (found.lower, found.upper) == pytest.approx((0.4 - 2e-9, 0.9), rel=1e-12)
    assert found.error_estimate == close(6e-9, 1e-9)
    tiny = LeastLoss(0.04, (1.0,), False, 1e-9, True)
    assert losses(monkeypatch, "square", wide=tiny).lower == 0.0
    # The smaller span lies in the larger one.
    assert losses(monkeypatch, "huber:1", wide=LeastLoss(0.5 + 1e-12, (1.0,), False, 0.0, True)).lower == 0.5
    # Either may be what does not converge.
    for name in ("wide", "narrow"):
        assert not losses(monkeypatch, "huber:1", **{name: LeastLoss(0.3, (1.0,), False, 1e-9, False)}).converged


@pytest.mark.parametrize("uncertain", [0.9e-12, 1.1e-12, 1e-7])
def test_errors_of_a_step_count_by_themselves_for_any_loss_on_a_network(
    uncertain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A network has no neighbours of another spike or bulk, and small errors need none: one share for each of three.
    asked: list[int] = []

    def neighbours(model: Any) -> list[Any]:
        asked.append(1)
        return []

    monkeypatch.setattr(any_loss, "relative_uncertainty", lambda model: uncertain)
    monkeypatch.setattr(any_loss, "neighbours", neighbours)
    least: Any = SimpleNamespace(value=0.5)
    for model, counted in ((NETWORK, True), (PLAIN, uncertain < 1e-12)):
        asked.clear()
        found = any_loss._moved_by_the_map(model, least, least)
        assert found == (close(3.0 * uncertain * 1.5, 1e-12) if counted else 0.0)
        assert asked == ([] if counted else [1])

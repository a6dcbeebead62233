"""When a dip of the test error is certain, estimated or none: by enclosures and solutions of a known parabola."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.certificates.minima import certified_minima
from giantsteps.numerics.certificates.minima.certified_minima import Dip, _best, certified_dip

PLACE = 2.5
# The bracket reaches a thousandth to both sides: there the parabola is DEPTH above its bottom.
DEPTH = 1e-6


def parabola(x: float) -> float:
    return 0.3 + DEPTH * ((x / PLACE - 1.0) / 1e-3) ** 2


@dataclass
class Asked:
    """A dip at a place, where test errors are known to `radius` and estimated to `estimate`, refused from `refused`."""

    patch: pytest.MonkeyPatch
    radius: float = 1e-15
    estimate: float = 1e-12
    refused: float = math.inf
    error: Callable[[float], float] = parabola
    converged: bool = True

    def __call__(self, at: float) -> Dip:
        def certify(x: float) -> Any:
            if x >= self.refused:
                return SimpleNamespace(balls=None, status="not certified: out of reach")
            return SimpleNamespace(
                balls=SimpleNamespace(test_error=arb(self.error(x), self.radius)), status="certified"
            )

        def solve(x: float) -> Any:
            return SimpleNamespace(test_error=self.error(x), error_estimate=self.estimate, converged=self.converged)

        self.patch.setattr(certified_minima, "certify", certify)
        self.patch.setattr(certified_minima, "solve", solve)
        model: Any = float  # what is certified and solved above is the place itself
        return certified_dip(model, at)


def test_a_dip_is_certain_at_the_bottom_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    at = Asked(monkeypatch)
    found = at(PLACE)
    assert (found.certified, found.bracketed, found.status) == (True, True, "certified")
    assert found.bracket == pytest.approx((PLACE * 0.999, PLACE * 1.001), rel=1e-12)
    # Half a bracket away one end is as low as the middle; the parabola upside down has a top there.
    for off in (0.9994, 1.0006):
        found = at(PLACE * off)
        assert (found.certified, found.bracketed) == (False, False)
        assert "not certainly larger" in found.status
    for error in (lambda x: -parabola(x), lambda x: x, lambda x: -x, lambda x: 0.3):
        assert not Asked(monkeypatch, error=error)(PLACE).bracketed


@pytest.mark.parametrize(("radius", "certain"), [(0.4 * DEPTH, True), (0.6 * DEPTH, False)])
def test_enclosures_have_to_lie_apart(radius: float, certain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Asked(monkeypatch, radius=radius)(PLACE).certified is certain


@pytest.mark.parametrize(
    ("estimate", "converged", "bracketed"), [(0.4 * DEPTH, True, True), (0.6 * DEPTH, True, False), (0.0, False, False)]
)
@pytest.mark.parametrize("refused", [0.0, PLACE, PLACE * 1.0005])
def test_where_a_certificate_is_refused_estimates_have_to_lie_apart(
    refused: float, estimate: float, converged: bool, bracketed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Asked(monkeypatch, estimate=estimate, refused=refused, converged=converged)(PLACE)
    assert (found.certified, found.bracketed, found.status) == (False, bracketed, "estimated: out of reach")
    assert not Asked(monkeypatch, refused=refused)(PLACE * 1.0006).bracketed


@pytest.mark.parametrize("at", [0.0, -1.0, math.inf, math.nan])
def test_an_end_of_the_scan_has_no_bracket(at: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Asked(monkeypatch)(at)
    assert (found.certified, found.bracketed) == (False, False)
    assert "end of the scan" in found.status


@pytest.mark.parametrize(("bottoms", "at_end"), [((3.0, 7.0), False), ((20.0, 0.001), True)])
def test_the_best_place_of_each_bound_and_its_error(bottoms: tuple[float, float], at_end: bool) -> None:
    # Where no path can be enclosed the places are those of parabolas, beside the ends of the range.
    def refused() -> Any:
        raise BallError("no path")

    def at(x: float) -> Any:
        upper, lower = (0.5 + 0.01 * (x - bottom) ** 2 for bottom in bottoms)
        return SimpleNamespace(upper=upper, lower=lower)

    found = _best(at, refused, 10.0, 21)
    for best, place in zip((found.upper, found.lower), bottoms, strict=True):
        inside = min(max(place, best.tried[0]), 10.0)
        assert best.at == pytest.approx(inside, abs=1e-4)
        assert best.bound == pytest.approx(0.5 + 0.01 * (inside - place) ** 2, abs=1e-9)
        assert "no path" in best.certificate.status
        assert best.tried[1] == 10.0
    assert (found.upper.at_edge, found.lower.at_edge) == (at_end, False)

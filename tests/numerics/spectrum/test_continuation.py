"""Where continuation begins, which neighbours it begins at, and when Newton's method has settled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum import axis
from giantsteps.numerics.spectrum.axis import Axis, continued
from giantsteps.numerics.spectrum.point import Equations, Solution, line_of

OUTSIDE, INSIDE = np.array([0.3 + 0.0j, 0.5 + 0.0j]), np.array([0.3 + 0.2j, 0.5 + 0.1j])


def solution(x: complex, values: Any) -> Solution:
    return Solution(x, values, np.ones(2, dtype=complex), 0.4)


@pytest.mark.parametrize(("z", "height"), [(-3.0 + 4.0j, 7e3), (0.0 + 1e-9j, 2e3), (1e4 + 0.0j, 1.0002e7)])
def test_continuation_begins_far_above_both_z_and_the_eigenvalues(
    z: complex, height: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[complex] = []
    monkeypatch.setattr(axis, "mean_eigenvalue", lambda equations: 2.0)
    monkeypatch.setattr(axis, "accepted", lambda equations, start, at: solution(at, INSIDE))
    equations: Any = SimpleNamespace(far=lambda at: (asked.append(at), INSIDE)[1])
    assert continued(equations, z).z == z
    assert asked == [pytest.approx(complex(z.real, height), rel=1e-6)]


def line(places: dict[float, Any]) -> Axis:
    found = Axis(SimpleNamespace(groups=1))  # type: ignore[arg-type]
    found._places = sorted(places)
    found._found = [solution(x, places[x]) for x in found._places]
    return found


@pytest.mark.parametrize(
    ("x", "asked"), [(1.0, [2.0]), (-0.5, [-1.0]), (3.0, [2.0, 5.0]), (4.9, [5.0, 2.0]), (-7.0, [-1.0]), (9.0, [5.0])]
)
def test_neighbours_are_those_on_the_same_side_of_zero(
    x: float, asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The nearer of both first, by their ratio: a power law has no way through zero.
    known, tried = line({-1.0: OUTSIDE, 2.0: OUTSIDE, 5.0: OUTSIDE}), []
    monkeypatch.setattr(axis, "_followed", lambda found, at: tried.append(found.z) or found.values)
    monkeypatch.setattr(axis, "accepted", lambda *_: None)
    place = int(np.searchsorted(known._places, x))
    assert known._beside(place, x) is None
    assert tried == asked


@pytest.mark.parametrize("begun", [INSIDE, OUTSIDE])
@pytest.mark.parametrize("found", [INSIDE, OUTSIDE])
def test_a_neighbour_across_an_edge_is_no_start(begun: Any, found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axis, "accepted", lambda equations, start, at: solution(at, found))
    taken = line({2.0: begun})._beside(1, 3.0)
    assert (taken is not None) is (begun is found)


def steps(sizes: list[float], moved: tuple[int, ...] = ()) -> tuple[int, Solution | None]:
    """How many steps of such sizes Newton's method makes, where the panels move after some of them, and what it has."""
    made: list[float] = []

    def evaluate(table: Any, x: Any, z: complex) -> tuple[Any, Any]:
        made.append(sizes[len(made)])
        return np.array([made[-1] + 0j, 0j]), np.eye(2, dtype=complex)

    def chosen(x: Any) -> Any:
        return np.array([sum(len(made) >= k for k in moved)])

    equations: Any = SimpleNamespace(
        line=SimpleNamespace(chosen=chosen, table=lambda panels: None), multiplicity=1.0, evaluate=evaluate,
        along_z=lambda x, z: np.zeros(2, dtype=complex), below=lambda *_: 0.5,
    )  # fmt: skip
    found = Equations._solve(equations, np.array([1.0 + 0.0j, 0.5 + 0.0j]), 1.0 + 1.0j)
    return len(made), found


@pytest.mark.parametrize(
    ("sizes", "moved", "made"),
    [
        # At rounding, or small and as large as half of the one before; a step that still falls is followed.
        ([1e-5, 1e-8, 0.9e-13], (), 3), ([1e-5, 1e-10, 0.6e-10], (), 3), ([1e-5, 1e-10, 0.4e-10, 0.9e-13], (), 4),
        ([1e-5, 1e-7, 0.9e-7, 1.1e-9, 1.05e-9, 0.9e-13], (), 6), ([1e-5, 0.9e-9, 0.9e-13], (), 3),
        # On new panels of a solution one step that is small is enough, whichever panels would be next.
        ([1e-5, 0.9e-13, 0.9e-9], (2,), 3), ([1e-5, 0.9e-13, 1.1e-9, 0.9e-13], (2,), 4),
        ([1e-5, 0.9e-13, 0.9e-9], (2, 3), 3), ([1e-3, 0.9e-9, 0.9e-13], (1,), 3),
    ],
)  # fmt: skip
def test_newtons_method_ends_at_rounding(sizes: list[float], moved: tuple[int, ...], made: int) -> None:
    count, found = steps(sizes, moved)
    assert count == made
    assert found is not None


def test_newtons_method_that_circles_finds_nothing() -> None:
    assert steps([1e-6] * 60) == (40, None)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("weights", [(0.1, 3.0, -0.5), (-3.0, 0.1, 0.1)])
def test_panels_are_those_of_the_narrowest_group(order: tuple[int, ...], weights: tuple[float, ...]) -> None:
    # mu1 of a group varies on the scale sqrt(c)/|u r|, here 0.06 for the weight of size 3, whatever its place and sign.
    groups = [ReadoutGroup(weight, 1.0 / 3.0, 0.2) for weight in weights]
    model = Model(
        "sign(z)", "sin(z)", 1.5, 0.8, 0.1, spike=2.5, bulk=0.2, alignment=0.8, readout=[groups[k] for k in order]
    )
    widest = float(line_of(model)._roots_width.max())
    assert widest <= np.sqrt(0.2) / 7.5 * (1.0 + 1e-12)
    assert widest > 0.9 * np.sqrt(0.2) / 7.5

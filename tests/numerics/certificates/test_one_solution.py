"""The solver's own map of (T, tau), for any number of groups: increasing, strictly subhomogeneous, and its iterates
lead to the one solution from above and from below.

Order means: T' - T positive semidefinite and tau' - tau not negative in any entry (for one group: of numbers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, pack, unpack
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.equations import nonlinear_part
from giantsteps.numerics.saddle_point.profile import Profile, profile

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

# Of the size of F: its rounding, some 1e-15 for the averages and their traces, times 100.
ROUNDING = 1e-13


@dataclass(frozen=True)
class System:
    """The tables of a model that the solver works with, and a generator for points of the cone."""

    model: Model
    table: Profile
    equivalent: DeterministicEquivalent
    generator: np.random.Generator

    def mapped(self, values: Array, power: float = -1.0) -> Array:
        """F; with another power than -1 of 1 + V a map whose C and D increase."""
        ratio = self.model.alpha / self.model.beta
        response = 1.0 + values @ self.table.multiplied_features
        return self.equivalent.at(ratio * (self.table.weighted_features @ response**power)).values

    def point(self) -> Array:
        """A random (T, tau), T of any rank, over eight powers of ten."""
        groups = self.equivalent.groups
        root = self.generator.standard_normal((groups, self.generator.integers(1, groups + 1)))
        root *= np.exp(self.generator.uniform(-4.0, 4.0))
        return pack(root @ root.T, np.exp(self.generator.uniform(-4.0, 4.0, groups)))


def least(values: Array) -> float:
    """The least eigenvalue of the T part and entry of the tau part: not negative in the cone."""
    overlap, tau = unpack(values)
    return float(min(np.linalg.eigvalsh(overlap)[0], tau.min()))


def below(smaller: Array, larger: Array) -> bool:
    """Whether smaller <= larger, but for rounding."""
    return least(larger - smaller) >= -ROUNDING * float(np.abs(larger).max())


_decimal = st.floats(0.0, 1.0, width=16)


@st.composite
def systems(draw: st.DrawFn, least_ridge: float = 1e-3, groups: int = 3) -> System:
    """Smooth and kinked students, one to three groups of different spikes, bulks and fractions."""
    count = draw(st.integers(1, groups))
    shares = [1.0 + draw(_decimal) for _ in range(count)]
    readout = tuple(
        ReadoutGroup(2.0 * draw(_decimal) - 1.0, share / sum(shares), 0.5 + draw(_decimal)) for share in shares
    )
    model = Model(
        draw(st.sampled_from(["erf", "sign", "relu", "z"])), "sin",
        alpha=0.05 + 4.0 * draw(_decimal), beta=0.2 + 3.0 * draw(_decimal),
        ridge=least_ridge + draw(_decimal), spike=3.0 * draw(_decimal), bulk=1.0, alignment=0.5, readout=readout,
    )  # fmt: skip
    generator = np.random.default_rng(draw(st.integers(0, 2**16)))
    return System(model, profile(model), equivalent_of(model, model.ridge), generator)


searched = settings(max_examples=15, derandomize=True, database=None, deadline=None)


@given(systems())
@searched
def test_the_map_is_increasing(system: System) -> None:
    for _ in range(3):
        here, more = system.point(), system.point()
        assert below(system.mapped(here), system.mapped(here + more))


@given(systems())
@searched
def test_the_map_is_strictly_subhomogeneous(system: System) -> None:
    """t F(x) - F(t x) >= (t - 1) ridge (T diag(1/(c pi)) T, tau^2/pi): for one group what the ledger proves."""
    model = system.model
    bulks, fractions = np.array(model.bulks), np.array(model.fractions)
    for _ in range(3):
        here, factor = system.point(), 1.0 + np.exp(system.generator.uniform(-3.0, 3.0))
        now, then = system.mapped(here), system.mapped(factor * here)
        overlap, tau = unpack(now)
        gap = (
            (factor - 1.0)
            * model.ridge
            * pack(overlap @ np.diag(1 / (bulks * fractions)) @ overlap, tau**2 / fractions)
        )
        assert below(then + gap, factor * now)


@given(systems(least_ridge=0.05))
@searched
def test_iteration_from_above_and_from_below_leads_to_newtons_solution(system: System) -> None:
    above = system.equivalent.largest()
    for start in (above, 1e-6 * above):
        values = start
        for _ in range(5000):
            before, values = values, system.mapped(values)
            assert below(*((values, before) if start is above else (before, values)))
            if np.abs(values - before).max() <= 1e-14 * np.abs(values).max():
                break
        solved = nonlinear_part(system.table, system.equivalent, system.model.alpha / system.model.beta)
        assert solved.converged
        # The last step was 1e-14, and what is left a few hundred such steps at most.
        assert values == pytest.approx(solved.values, rel=1e-11, abs=1e-11 * np.abs(values).max())


def worked(*readout: ReadoutGroup) -> System:
    model = Model("erf", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8, readout=readout)
    return System(model, profile(model), equivalent_of(model, 0.1), np.random.default_rng(5))


TWO = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5, 1.3))


@pytest.mark.parametrize("readout", [(ReadoutGroup(),), TWO], ids=["one group", "two groups"])
def test_the_properties_can_fail(readout: tuple[ReadoutGroup, ...]) -> None:
    """With C and D increasing in V the map is not increasing; without ridge it is nearly homogeneous far out."""
    system = worked(*readout)
    here, more = system.point(), system.point()
    assert not below(system.mapped(here, 1.0), system.mapped(here + more, 1.0))
    far = 1e6 * here
    bare = System(system.model, system.table, equivalent_of(system.model, 1e-30), system.generator)
    with_ridge, without = (2.0 * s.mapped(far) - s.mapped(2.0 * far) for s in (system, bare))
    assert least(with_ridge / np.abs(system.mapped(far)).max()) > 1e-4
    assert least(without / np.abs(bare.mapped(far)).max()) < 1e-4


def test_entry_by_entry_the_map_of_two_groups_is_not_increasing() -> None:
    """The order that it keeps is Loewner's: entries off the diagonal of T are negative, and fall."""
    system = worked(*TWO)
    here = pack(np.eye(2), np.ones(2))
    more = pack(np.ones((2, 2)), np.zeros(2))
    moved = system.mapped(here + more) - system.mapped(here)
    assert least(moved) >= -ROUNDING
    assert moved.min() < -1e-3

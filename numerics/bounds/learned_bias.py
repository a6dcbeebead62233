"""A learned bias: uniform over the neurons, and chosen like the readout to minimise the regularised training loss.

In the limit the minimum over readouts at a given bias is the free energy per neuron, so the learned bias minimises

    E(b) = (alpha/beta) E l(y, prox) + (ridge/2) sum_a q2_a        (l = (y - h)^2/2 for the square loss)

over b added to the biases of all groups. E need not be convex in b: every local minimum is found on a scan of the line
and refined, and the lowest is the learned bias.

Between two neighbouring minima lies a barrier, the highest E between them; the barriers divide the line into basins.
At finite d the energies of two basins scatter against each other by O(d^-1/2), so where the gap of E is smaller than
that, training sets differ in which basin is lowest. Inside each basin the least energy and its bias self-average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from giantsteps.derivations.expressions.budget import at_most
from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds.ridge import local_minima, polished_minima
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.level import solve_on
from giantsteps.numerics.saddle_point.profile import profile

# Half the length of the scan, in standard deviations of the argument of the activation, and its points.
_REACH = 4.0
_POINTS = 65
# Energies closer than this share are rounding apart: minima of equal depth, as mirror images are.
_EQUAL = 1e-10
# What the averages of all biases may take: a minute, where most models take a second.
_MOST_OPERATIONS = 60_000_000

# Between two barriers of the training free energy; the outermost reach to infinity.
Interval = tuple[float, float]


@dataclass(frozen=True)
class BiasMinimum:
    """A local minimum of the training free energy over the bias."""

    bias: float
    energy: float


@dataclass(frozen=True)
class Basins:
    """The basin in which a bias is learned, and the others, by bias: intervals of the bias that cover the line."""

    home: Interval
    others: tuple[Interval, ...]


@dataclass(frozen=True)
class LearnedBias:
    """The learned bias and the model that has it.

    minima: all local minima inside the scan, by bias. barriers: where E is highest between neighbouring minima. tied:
    another minimum is as deep (a mirror image; the positive bias is named). at_edge: E is still lower at the end of the
    scan, `reach` away from zero, than at every minimum.
    """

    bias: float
    energy: float
    model: Model
    minima: tuple[BiasMinimum, ...]
    tied: bool
    at_edge: bool
    reach: float
    barriers: tuple[float, ...] = ()

    @property
    def ranked(self) -> tuple[BiasMinimum, ...]:
        """The minima, the learned bias first and the others by energy; empty where no minimum is the lowest."""
        own = [minimum for minimum in self.minima if minimum.bias == self.bias]
        rest = [minimum for minimum in self.minima if minimum.bias != self.bias]
        return (*own, *sorted(rest, key=lambda minimum: minimum.energy)) if own else ()

    def basins(self, rank: int = 0) -> Basins:
        """The basins, at home in that of `ranked[rank]`. Raises IndexError where there is none of that rank."""
        ends = (-math.inf, *self.barriers, math.inf)
        found = list(pairwise(ends))
        home = found.pop(self.minima.index(self.ranked[rank]))
        return Basins(home, tuple(found))

    def lowest_in(self, interval: Interval) -> BiasMinimum | None:
        """The lowest of the minima inside an interval; None where it has none."""
        inside = [minimum for minimum in self.minima if interval[0] < minimum.bias < interval[1]]
        return min(inside, key=lambda minimum: minimum.energy, default=None)


def with_bias(model: Model, bias: float) -> Model:
    """The model with a number added to the biases of all groups."""
    groups = tuple(replace(group, bias=group.bias + bias) for group in model.groups)
    return replace(model, readout=groups)


def training_energy(model: Model) -> float:
    """E, the minimum over readouts of (sum of losses + (ridge/2) |a|^2)/p in the limit."""
    if model.loss.name == "square":
        level = solve_on(profile(model, 1), model)
        q2 = float(np.sum(level.state.q[-len(model.groups) :]))
        return 0.5 * (model.alpha / model.beta * level.training_error + model.ridge * q2)
    from giantsteps.numerics.saddle_point.any_loss.convex import solve

    energy = solve(model).energy
    assert energy is not None, "a convex readout has its minimum"
    return energy


def scan_reach(model: Model) -> float:
    """Half the length of the scan: beyond it a bias has no more than a tail of the argument to act on."""
    deviations = [math.hypot(*spike, math.sqrt(c)) for spike, c in zip(model.spikes, model.bulks, strict=True)]
    return _REACH * max(deviations) + max(abs(bias) for bias in model.biases)


@accepts(model=model_of)
@lru_cache(maxsize=256)
@within_reach
def learned_bias(model: Model, points: int = _POINTS) -> LearnedBias:
    """The bias of least training free energy.

    Raises ModelError at ridge = 0, and where the averages of so many biases take too long: with a kink, and a bulk of a
    million.
    """
    if model.ridge == 0.0:
        raise ModelError("a learned bias needs a positive ridge, for example ridge = 1e-3")
    with at_most(_MOST_OPERATIONS) as budget:
        try:
            return _learned(model, points)
        except ModelError:
            if not budget.exhausted or budget.outer_exhausted:
                raise
    raise ModelError(
        "the search for a learned bias takes too long here, where the argument of the activation reaches "
        f"{scan_reach(model):.3g}; give a bias, for example readout=(ReadoutGroup(1.0, 1.0, bias=0.3),), or use a "
        "smaller spike and bulk"
    )


def _learned(model: Model, points: int) -> LearnedBias:
    reach = scan_reach(model)
    # An even number of steps keeps zero on the scan, where symmetric models have a stationary point.
    grid = [float(b) for b in np.linspace(-reach, reach, points + (points + 1) % 2)]

    def energy(bias: float) -> float:
        return training_energy(with_bias(model, bias))

    minima = tuple(BiasMinimum(dip.at, dip.error) for dip in polished_minima(energy, grid, noise=1e-13))
    ends = [BiasMinimum(b, energy(b)) for b in (grid[-1], grid[0])]
    lowest = min(minimum.energy for minimum in (*minima, *ends))
    close = [minimum for minimum in (*minima, *ends) if minimum.energy <= lowest + _EQUAL * (1.0 + abs(lowest))]
    if not close:
        raise ModelError(f"the model is out of reach of double precision: its training energy is {lowest}")
    best = max((m for m in close if m in minima), key=lambda m: m.bias, default=close[0])
    return LearnedBias(
        bias=best.bias,
        energy=best.energy,
        model=with_bias(model, best.bias),
        minima=minima,
        tied=len(close) > 1,
        at_edge=best not in minima,
        reach=reach,
        barriers=tuple(_barrier(energy, left.bias, right.bias, grid) for left, right in pairwise(minima)),
    )


def _barrier(energy: Callable[[float], float], left: float, right: float, grid: Sequence[float]) -> float:
    """Where the energy is highest between two minima, to the accuracy of the search."""
    inner = [left, *(b for b in grid if left < b < right), right]
    tops = local_minima(lambda b: -energy(b), inner)
    return min(tops, key=lambda top: top.error).at if tops else 0.5 * (left + right)

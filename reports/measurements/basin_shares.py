"""How many experiments with a learned bias prefer another basin of the limiting training energy, and how many should.

Let D be the energy of another basin above that at home on one training set. In the limit D is the gap of the minima of
the training free energy; at finite d it scatters by s/sqrt(d), and an experiment is lowest at home where D > 0. So a
right theory predicts the share of the others, Phi(-gap sqrt(d)/s), with the scatter s from the experiments themselves.
Of several other basins the shares are added, a bound that is sharp where they are small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantsteps.numerics.bounds.learned_bias import Basins, LearnedBias
from giantsteps.verify.checks.finite_size import INCONCLUSIVE, Report

# A share of experiments that does not move a mean by what the protocol sees.
FEW = 0.01
# Nearer to a barrier than this share of the reach, an experiment's bias is where its energy was cut off.
_AT_BARRIER = 1e-3
GAP = "energy_gap"

# observable -> samples, or value of the theory
Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Share:
    """At one dimension: the experiments, the share of them that is lowest in another basin and what it should be (None
    where one experiment a dimension shows no scatter), and the share that has no minimum at home."""

    dimension: int
    experiments: int
    elsewhere: float
    predicted: float | None
    cut_off: float


@dataclass(frozen=True)
class BasinShares:
    """The minima of the limit, the basin that the experiments are measured in, and the shares by dimension."""

    found: LearnedBias
    basins: Basins
    shares: tuple[Share, ...]

    @property
    def bias(self) -> float:
        """The bias of the minimum at home."""
        home = self.found.lowest_in(self.basins.home)
        return self.found.bias if home is None else home.bias

    @property
    def sentence(self) -> str:
        """What was compared, and what became of it without the restriction to a basin."""
        dimensions = ", ".join(str(share.dimension) for share in self.shares)
        seen = ", ".join(f"{share.elsewhere:.0%}" for share in self.shares)
        known = [f"{share.predicted:.0%}" for share in self.shares if share.predicted is not None]
        expected = (
            f"the theory's gap and the measured scatter predict {', '.join(known)}"
            if len(known) == len(self.shares)
            else "one seed a dimension shows no scatter of the energies, so no share is predicted"
        )
        return (
            f"The limit of the training energy has minima at the biases {_places(self.found)}. Theory and experiments "
            f"are compared in the basin of {self.bias:.3g}, {_between(self.basins.home)}. On the whole line {seen} of "
            f"the experiments at d = {dimensions} have their lowest energy elsewhere; {expected}."
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return {
            "minima": [{"bias": one.bias, "energy": one.energy} for one in self.found.minima],
            "barriers": list(self.found.barriers),
            "compared": self.bias,
            "shares": [
                {"dimension": s.dimension, "elsewhere": s.elsewhere, "cut_off": s.cut_off}
                | ({} if s.predicted is None else {"predicted": s.predicted})
                for s in self.shares
            ],
            "sentence": self.sentence,
        }

    @property
    def objection(self) -> str | None:
        """Why the comparison at home decides nothing; None where it does."""
        if max(share.cut_off for share in self.shares) <= FEW:
            return None
        cut = ", ".join(f"{share.cut_off:.0%} at d = {share.dimension}" for share in self.shares)
        return (
            f"{cut} of the experiments have no minimum of the energy in the basin of {self.bias:.3g}, only a lowest "
            "point at its barrier: larger dimensions are needed"
        )


def ended(found: LearnedBias, biases: Sequence[float]) -> tuple[float, ...]:
    """In which basins experiments that learned their bias on the whole line ended: a share for each minimum."""
    counts = np.bincount(np.searchsorted(found.barriers, biases), minlength=len(found.minima))
    return tuple(float(count) / len(biases) for count in counts)


def ended_sentence(found: LearnedBias, shares: Sequence[float]) -> str:
    """What a mean over these experiments is a mean of."""
    listed = ", ".join(f"{share:.0%}" for share in shares)
    large = "they divide between the lowest, which are equally deep" if found.tied else "all end in the lowest"
    return (
        f"The limit of the training energy has minima at the biases {_places(found)}; in their basins {listed} of "
        f"these experiments ended. At large dimension {large}; giantsteps compare measures in one basin."
    )


def _places(found: LearnedBias) -> str:
    return " and ".join(f"{one.bias:.3g} (energy {one.energy:.4g})" for one in found.minima)


def _between(interval: tuple[float, float]) -> str:
    # A barrier is found to the root of rounding.
    low, high = (round(end, 6) + 0.0 for end in interval)
    if not np.isfinite(low):
        return f"biases below {high:.3g}"
    return f"biases above {low:.3g}" if not np.isfinite(high) else f"biases from {low:.3g} to {high:.3g}"


def basin_shares(
    found: LearnedBias, basins: Basins, samples: Mapping[int, Samples], theory: Mapping[int, Mapping[str, float]]
) -> BasinShares:
    """The shares by dimension from samples of the gaps and biases, beside the theory's gaps at each dimension."""
    dimensions = sorted(samples)
    names = [name for name in samples[dimensions[0]] if name.split("[")[0] == GAP]
    scatters = {name: scatter({d: samples[d][name] for d in dimensions}) for name in names}
    shares = []
    for d in dimensions:
        gaps = np.array([samples[d][name] for name in names])
        biases = np.asarray(samples[d]["bias"])
        tails = [tail(theory[d][name], scatters[name], d) for name in names]
        known = [t for t in tails if t is not None]
        walls = [b for b in basins.home if np.isfinite(b)]
        near = np.array([np.abs(biases - wall) < _AT_BARRIER * found.reach for wall in walls])
        shares.append(
            Share(
                dimension=d,
                experiments=gaps.shape[1],
                elsewhere=float(np.mean((gaps < 0.0).any(axis=0))),
                predicted=min(1.0, sum(known)) if len(known) == len(tails) else None,
                cut_off=float(np.mean(near.any(axis=0))),
            )
        )
    return BasinShares(found, basins, tuple(shares))


def scatter(samples: Mapping[int, Sequence[float]]) -> float | None:
    """s of a variance s^2/d, pooled within dimensions; None for one sample a dimension."""
    freedom = sum(len(values) - 1 for values in samples.values())
    if freedom == 0:
        return None
    squares = sum(d * float(np.sum((np.asarray(v) - np.mean(v)) ** 2)) for d, v in samples.items())
    return float(np.sqrt(squares / freedom))


def tail(gap: float, scatter: float | None, dimension: int) -> float | None:
    """The probability that a gap with Gaussian scatter s/sqrt(d) is negative."""
    from scipy.special import ndtr

    return None if not scatter else float(ndtr(-gap * np.sqrt(dimension) / scatter))


def undecided(report: Report, objection: str | None) -> Report:
    """The same numbers without deviates and verdicts where there is an objection to comparing them."""
    if objection is None:
        return report
    comparisons = tuple(
        replace(c, verdict=INCONCLUSIVE, sentence=f"{c.observable}: {objection}", z=None, smallest_detectable=None)
        for c in report.comparisons
    )
    return Report(comparisons, INCONCLUSIVE, objection)

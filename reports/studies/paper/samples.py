"""The networks that were simulated for the paper's figures: one experiment for each point or row of points."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.experiments import FOLDER as SAMPLES
from giantsteps.reports.measurements.experiments import Data, Experiment, complete, stored
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.functions import AlongDirection, MeanNeuron
from giantsteps.reports.studies.vocabulary import VOCABULARIES

SLUG, SEED = "figures", 91
FOLDER = SAMPLES.parent / "pages"


def names(places: tuple[float, ...]) -> tuple[str, ...]:
    """The observables of a function along a direction."""
    return tuple(f"{place:g}" for place in places)


def _learned() -> tuple[Experiment, ...]:
    return tuple(
        AlongDirection(
            f"figure 1, alpha0 {alpha0:g}", at.SINE.network(alpha0, at.LEARNING_ALPHA), at.DIMENSION, at.SEEDS,
            observables=names(at.PLACES), stream=10 + k, places=at.PLACES,
        )
        for k, alpha0 in enumerate(at.BATCHES)
    )  # fmt: skip


def _curves() -> tuple[Experiment, ...]:
    return tuple(
        Experiment(
            f"figure 2, {panel.student}/{panel.target}, alpha0 {alpha0:g}, alpha {alpha:g}",
            panel.network(alpha0, alpha), at.DIMENSION, at.SEEDS, stream=100 + k,
        )
        for k, (panel, alpha0, alpha) in enumerate(product(at.PANELS, at.BATCHES, at.RATIOS))
    )  # fmt: skip


def bound_network(which: str) -> Network:
    """The network whose readout comes near the function that realises one of the bounds."""
    alpha, ridge = at.BOUND_READOUTS[which]
    rate = at.SINE.rate_of(at.BOUND_SPIKE, at.BOUND_BATCH)
    return replace(at.SINE.network(at.BOUND_BATCH, alpha, eta=rate), ridge=ridge)


def _bounds() -> tuple[Experiment, ...]:
    return tuple(
        AlongDirection(
            f"figure 3, {which}, alpha {alpha:g}, ridge {ridge:g}", bound_network(which), at.DIMENSION, at.SEEDS,
            observables=names(at.PLACES), stream=20 + k, places=at.PLACES, target=False,
        )
        for k, (which, (alpha, ridge)) in enumerate(at.BOUND_READOUTS.items())
    )  # fmt: skip


def spiked_network(spike: float, alignment: float, alpha: float) -> Network:
    """The network with this spike and alignment after its step: rate and batch are chosen for them."""
    if spike == 0.0:
        return at.SINE.network(0.0, alpha, eta=0.0)
    batch = at.SINE.batch_of(alignment)
    return at.SINE.network(batch, alpha, eta=at.SINE.rate_of(spike, batch))


PAIRS = (
    *((spike, at.SPIKE_ALIGNMENT) for spike in at.SPIKES),
    *((at.ALIGNED_SPIKE, alignment) for alignment in at.ALIGNMENTS),
)


def _spiked() -> tuple[Experiment, ...]:
    return tuple(
        Experiment(
            f"figure 4, r {spike:g}, gamma {alignment:g}, alpha {alpha:g}", spiked_network(spike, alignment, alpha),
            at.DIMENSION, at.SEEDS, stream=300 + k,
        )
        for k, ((spike, alignment), alpha) in enumerate(product(PAIRS, at.RATIOS))
    )  # fmt: skip


def wide_network(width: float, alpha: float, scaled: bool) -> Network:
    """The network of one width, at the printed rate or at a rate in proportion to its width."""
    eta = at.SINE.eta * (width if scaled else 1.0)
    return at.SINE.network(at.WIDTH_BATCH, alpha, beta=width, eta=eta)


def _widths() -> tuple[Experiment, ...]:
    return tuple(
        Experiment(
            f"figure 5, {'scaled' if scaled else 'fixed'}, beta {width:g}, alpha {alpha:g}",
            wide_network(width, alpha, scaled), at.DIMENSION, at.SEEDS, stream=400 + k,
        )
        for k, (scaled, width, alpha) in enumerate(product((False, True), at.WIDTHS, at.RATIOS))
    )  # fmt: skip


def pool_network(spike: float) -> Network:
    """A network of this spike after a large batch."""
    return at.SINE.network(at.BOUND_BATCH, 1.0, eta=at.SINE.rate_of(spike, at.BOUND_BATCH))


def _pool() -> tuple[Experiment, ...]:
    observed = tuple(f"{name} at {place:g}" for name in ("mu0", "kappa mu1") for place in at.PLACES)
    return tuple(
        MeanNeuron(
            f"figure 7, r {spike:g}", pool_network(spike), at.DIMENSION, at.SEEDS, observables=observed,
            stream=30 + k, places=at.PLACES,
        )
        for k, spike in enumerate(at.POOL_SPIKES)
    )  # fmt: skip


def lettered_network(letters: tuple[float, ...], alpha: float) -> Network:
    """The network whose readout starts from these letters in equal parts."""
    groups = tuple(ReadoutGroup(letter, 1.0 / len(letters)) for letter in letters)
    return replace(at.LETTERED.network(at.LETTER_BATCH, alpha), readout=groups)


def lettered_name(vocabulary: str, alpha: float, dimension: int) -> str:
    """The key of one experiment of Figure 6."""
    return f"figure 6, {vocabulary}, alpha {alpha:g}, d {dimension}"


def _letters() -> tuple[Experiment, ...]:
    cases = product(VOCABULARIES, at.LETTER_ALPHAS, at.LETTER_DIMENSIONS)
    late = Experiment(
        lettered_name(at.LATE, at.LATE_ALPHA, at.LATE_DIMENSION),
        lettered_network(dict(VOCABULARIES)[at.LATE], at.LATE_ALPHA), at.LATE_DIMENSION, at.LATE_SEEDS, stream=600,
    )  # fmt: skip
    return late, *(
        Experiment(
            lettered_name(vocabulary, alpha, dimension), lettered_network(letters, alpha), dimension, at.LETTER_SEEDS,
            stream=500 + k,
        )
        for k, ((vocabulary, letters), alpha, dimension) in enumerate(cases)
    )  # fmt: skip


EXPERIMENTS = (*_learned(), *_bounds(), *_pool(), *_curves(), *_spiked(), *_widths(), *_letters())


def samples() -> Data | None:
    """The stored samples; None where they are not installed or not all measured."""
    data = stored(SLUG, FOLDER)
    return data if complete(data, EXPERIMENTS) else None

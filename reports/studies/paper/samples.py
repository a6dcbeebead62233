"""The networks that were simulated for the paper's figures: one experiment for each point or row of points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product

from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.experiments import Data, Experiment, Measurement
from giantsteps.reports.measurements.study import Statement, Study, command, stated
from giantsteps.reports.studies.paper import settings as at
from giantsteps.reports.studies.paper.curves import Curve
from giantsteps.reports.studies.paper.functions import AlongDirection, MeanNeuron
from giantsteps.reports.studies.paper.series import Plotted, plotted
from giantsteps.reports.studies.vocabulary import VOCABULARIES

_PLACES = tuple(f"{place:g}" for place in at.PLACES)


def _along(name: str, network: Network, stream: int, target: bool) -> Experiment:
    return AlongDirection(
        name, network, at.DIMENSION, at.SEEDS, observables=_PLACES, stream=stream, places=at.PLACES, target=target
    )


# Figure 1, by the batch.
LEARNED = {
    alpha0: _along(f"figure 1, alpha0 {alpha0:g}", at.SINE.network(alpha0, at.LEARNING_ALPHA), 10 + k, True)
    for k, alpha0 in enumerate(at.BATCHES)
}


def bound_network(which: str) -> Network:
    """The network whose readout comes near the function that realises one of the bounds."""
    alpha, ridge = at.BOUND_READOUTS[which]
    rate = at.SINE.rate_of(at.BOUND_SPIKE, at.BOUND_BATCH)
    return replace(at.SINE.network(at.BOUND_BATCH, alpha, eta=rate), ridge=ridge)


# Figure 3, by the bound.
BOUNDS = {
    which: _along(f"figure 3, {which}, alpha {alpha:g}, ridge {ridge:g}", bound_network(which), 20 + k, False)
    for k, (which, (alpha, ridge)) in enumerate(at.BOUND_READOUTS.items())
}
# Figure 7, by the spike: networks after a large batch.
POOL = {
    spike: MeanNeuron(
        f"figure 7, r {spike:g}",
        at.SINE.network(at.BOUND_BATCH, 1.0, eta=at.SINE.rate_of(spike, at.BOUND_BATCH)),
        at.DIMENSION, at.SEEDS, observables=tuple(f"{name} at {t}" for name in ("mu0", "kappa mu1") for t in _PLACES),
        stream=30 + k, places=at.PLACES,
    )
    for k, spike in enumerate(at.POOL_SPIKES)
}  # fmt: skip


def _curve(where: str, name: str, networks: Iterable[Network], stream: int) -> Curve:
    """A learning curve by RATIOS of networks; `stream` is that of the first."""
    experiments = (
        Experiment(f"{where}, alpha {one.alpha:g}", one, at.DIMENSION, at.SEEDS, stream=stream + k)
        for k, one in enumerate(networks)
    )
    return Curve(name, tuple(experiments))


def _by_batch(panel: at.Setting, alpha0: float, stream: int) -> Curve:
    networks = (panel.network(alpha0, alpha) for alpha in at.RATIOS)
    where = f"figure 2, {panel.name}, alpha0 {alpha0:g}"
    return _curve(where, f"alpha0 = {alpha0:g}", networks, stream)


def _spiked(spike: float, alignment: float, name: str, stream: int) -> Curve:
    """Networks with this spike and alignment after their step: rate and batch are chosen for them."""
    batch = at.SINE.batch_of(alignment) if spike else 0.0
    rate = at.SINE.rate_of(spike, batch) if spike else 0.0
    networks = (at.SINE.network(batch, alpha, eta=rate) for alpha in at.RATIOS)
    return _curve(f"figure 4, r {spike:g}, gamma {alignment:g}", name, networks, stream)


def _wide(width: float, scaled: bool, stream: int) -> Curve:
    """Networks of one width, at the printed rate or at a rate in proportion to their width."""
    eta = at.SINE.eta * (width if scaled else 1.0)
    networks = (at.SINE.network(at.WIDTH_BATCH, alpha, beta=width, eta=eta) for alpha in at.RATIOS)
    where = f"figure 5, {'scaled' if scaled else 'fixed'}, beta {width:g}"
    return _curve(where, f"beta = {width:g}", networks, stream)


_STEP = len(at.RATIOS)
# The curves of Figure 2 by panel, of Figure 4 by spike and by alignment, of Figure 5 at fixed and at scaled rates.
BY_BATCH = {
    panel.name: [
        _by_batch(panel, alpha0, 100 + _STEP * (len(at.BATCHES) * i + k)) for k, alpha0 in enumerate(at.BATCHES)
    ]
    for i, panel in enumerate(at.PANELS)
}
BY_SPIKE = [_spiked(r, at.SPIKE_ALIGNMENT, f"r = {r:g}", 300 + _STEP * k) for k, r in enumerate(at.SPIKES)]
BY_ALIGNMENT = [
    _spiked(at.ALIGNED_SPIKE, gamma, f"gamma = {gamma:g}", 300 + _STEP * k)
    for k, gamma in enumerate(at.ALIGNMENTS, len(at.SPIKES))
]
BY_WIDTH = {
    scaled: [_wide(width, scaled, 400 + _STEP * (len(at.WIDTHS) * scaled + k)) for k, width in enumerate(at.WIDTHS)]
    for scaled in (False, True)
}


def lettered_network(letters: tuple[float, ...], alpha: float) -> Network:
    """The network whose readout starts from these letters in equal parts."""
    groups = tuple(ReadoutGroup(letter, 1.0 / len(letters)) for letter in letters)
    return replace(at.LETTERED.network(at.LETTER_BATCH, alpha), readout=groups)


def lettered_name(vocabulary: str, alpha: float, dimension: int) -> str:
    """The key of one experiment of Figure 6."""
    return f"figure 6, {vocabulary}, alpha {alpha:g}, d {dimension}"


def _lettered(vocabulary: str, alpha: float, dimension: int, seeds: int, stream: int) -> Experiment:
    network = lettered_network(dict(VOCABULARIES)[vocabulary], alpha)
    return Experiment(lettered_name(vocabulary, alpha, dimension), network, dimension, seeds, stream=stream)


_CASES = product(dict(VOCABULARIES), at.LETTER_ALPHAS, at.LETTER_DIMENSIONS)
EXPERIMENTS = (
    *LEARNED.values(), *BOUNDS.values(), *POOL.values(),
    *(one for curves in (*BY_BATCH.values(), BY_SPIKE, BY_ALIGNMENT, *BY_WIDTH.values()) for curve in curves
      for one in curve.experiments),
    _lettered(at.LATE, at.LATE_ALPHA, at.LATE_DIMENSION, at.LATE_SEEDS, 600),
    *(_lettered(*case, at.LETTER_SEEDS, 500 + k) for k, case in enumerate(_CASES)),
)  # fmt: skip


def pictured(
    number: int,
    title: str,
    figure: Callable[[Data], Figure],
    says: Callable[[Plotted], Sequence[Statement]],
    settings: str | Callable[[Data], str],
) -> Measurement:
    """A figure of the paper as a study of these samples: its settings, and what the text says of it, decided on what it
    plots."""

    def page(data: Data) -> Study:
        drawn = figure(data)
        statements = says(plotted(drawn))
        text = (
            settings if isinstance(settings, str) else settings(data),
            "What the text says of it is decided on the plotted data: "
            f"{sum(one.seen for one in statements)} of {len(statements)} statements are seen. How much is agreement, "
            "or sizable, the sources do not say.",
        )
        slug, head = f"figure_{number}", f"Figure {number}: {title}"
        return Study(slug, head, text, (stated(statements),), (drawn,), command("figures"))

    return Measurement("figures", 91, EXPERIMENTS, page)

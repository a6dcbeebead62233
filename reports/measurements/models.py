"""The models of the calibration: drawn once by a seeded generator, item by item.

An item is one extension of the theory (finite vocabulary, bias, another loss, ...). Its models are drawn, not chosen:
activation, target, ratios and the rest come from `numpy.random.default_rng([DRAW, item])`, and a draw is rejected only
by a rule that is stated with the item and that knows the theory but no simulation.

`python -m benchmarks.networks calibration simulate` measures; the samples lie beside that program and come with the
sources. `reports.measurements.theory` judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import Basins, learned_bias
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.ridge import at_sizes
from giantsteps.numerics.models.losses import LOGISTIC, loss_named
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network

DATA = Path(__file__).parent.parent.parent / "benchmarks" / "networks" / "calibration.json"
DRAW = 2402
MODELS = 6
RUNS = ((150, 32), (300, 16), (600, 8))
# For an item some of whose measurements scatter too much to decide: so many times the seeds of RUNS, at every dimension
# of every model of the item.
SOME, MORE = 4, 12

# item -> model -> dimension -> observable -> samples
Samples = dict[str, list[float]]
Data = dict[str, dict[str, dict[str, Samples]]]

_STUDENTS = ("tanh", "erf", "relu", "sin", "softplus", "hardtanh", "sign", "gelu")
_ODD = ("tanh", "erf", "sin", "atan", "hardtanh", "z/sqrt(1 + z**2)")
_TARGETS = ("tanh", "sin", "sign", "relu", "hardtanh", "sin(2*z)", "tanh(2*z - 1)", "he2", "z + he(3, z)/4")
_LABELS = ("sign", "sign(z - 1/2)", "sign(z + 1)", "sign(z**3 - 2*z)", "sign(z**2 - 1)", "tanh(2*z - 1)")
_SHIFTED = ("sin(z + 1/2)", "tanh(z - 1)", "relu", "z + z**2/3", "softplus", "sign(z - 1/2)", "hardtanh(z + 1)")


@dataclass(frozen=True)
class Drawn:
    """One model to simulate: what it is called, and the arguments of `numerics.experiments.simulate.simulate`."""

    name: str
    subject: Model | Network
    learned: bool = False
    # Of a learned bias: the rank by energy of the minimum in whose basin it is learned; None: on the whole line.
    rank: int | None = None

    @property
    def basins(self) -> Basins | None:
        """The basins of the limiting training energy, at home in that of `rank`; None on the whole line."""
        if self.rank is None or not isinstance(self.subject, Model):
            return None
        return learned_bias(self.subject).basins(self.rank)

    @property
    def kind(self) -> str:
        """srf, or network for a real gradient step."""
        return "network" if isinstance(self.subject, Network) else "srf"

    def theory(self, sizes: Sizes | None = None) -> Model:
        """The theory's model, at realised ratios where sizes are given; a network's own bulk for a network."""
        subject = self.subject if sizes is None else at_sizes(self.subject, sizes)
        return subject.model("network") if isinstance(subject, Network) else subject

    def sizes(self, dimension: int) -> Sizes:
        """The sizes of an experiment at dimension d."""
        return Sizes.of(self.subject, dimension)


@dataclass(frozen=True)
class Item:
    """One extension: its key, what it is, and how one candidate is drawn (None: rejected by the item's rule).

    `times` multiplies the seeds of RUNS; `slow`: its theory takes long enough to be stored beside the samples.
    """

    key: str
    title: str
    draw: Callable[[np.random.Generator], Drawn | None]
    rule: str = ""
    times: int = 1
    slow: bool = False

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The dimensions and the seeds at each."""
        return tuple((dimension, self.times * seeds) for dimension, seeds in RUNS)


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


def _flat(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{rng.uniform(low, high):.3g}")


def _pick(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def _ratios(rng: np.random.Generator) -> dict[str, Any]:
    return {"alpha": _log(rng, 0.5, 3.0), "beta": _log(rng, 0.5, 2.0), "ridge": _log(rng, 0.03, 1.0)}


def _spiked(rng: np.random.Generator) -> dict[str, Any]:
    values = _ratios(rng) | {"spike": _flat(rng, 0.5, 2.0), "bulk": _flat(rng, 0.7, 1.5)}
    return values | {"alignment": _flat(rng, 0.3, 1.0)}


def _named(student: str, target: str, values: Mapping[str, object], more: str = "") -> str:
    listed = ", ".join(f"{name} {value:g}" for name, value in values.items() if isinstance(value, float))
    return f"{student} / {target}: {listed}{more}"


def _srf(
    rng: np.random.Generator,
    students: tuple[str, ...] = _STUDENTS,
    targets: tuple[str, ...] = _TARGETS,
    loss: str = "square",
    learned: bool = False,
    **changes: float,
) -> Drawn:
    student, target = _pick(rng, students), _pick(rng, targets)
    values = _spiked(rng) | changes
    model = Model(activation(student), activation(target), loss=loss_named(loss), **values)
    more = f", {loss}" if loss != "square" else ""
    return Drawn(_named(student, target, values, more), model, learned)


def _with_groups(drawn: Drawn, groups: tuple[ReadoutGroup, ...], text: str, **changes: Any) -> Drawn:
    return Drawn(f"{drawn.name}, {text}", replace(drawn.subject, readout=groups, **changes))


def _vocabulary(rng: np.random.Generator) -> Drawn:
    drawn = _srf(rng)
    count = int(rng.integers(2, 4))
    shares = rng.uniform(0.5, 1.5, count)
    shares /= shares.sum()
    groups = tuple(
        ReadoutGroup(_flat(rng, -1.5, 1.5), float(share), _flat(rng, 0.7, 1.5)) for share in shares
    )  # fmt: skip
    text = "groups " + ", ".join(f"{g.weight:g}:{g.fraction:.3f}:{g.bulk:g}" for g in groups)
    return _with_groups(drawn, groups, text)


def _biased(rng: np.random.Generator) -> Drawn:
    return _with_groups(_srf(rng), *_two_biases(rng))


def _two_biases(rng: np.random.Generator) -> tuple[tuple[ReadoutGroup, ...], str]:
    """Two groups that differ in their bias, and what they are called."""
    share = _flat(rng, 0.3, 0.7)
    groups = tuple(ReadoutGroup(1.0, f, None, _flat(rng, -1.5, 1.5)) for f in (share, 1.0 - share))
    return groups, "biases " + ", ".join(f"{g.bias:g}:{g.fraction:g}" for g in groups)


# Below this relative gap two minima of the training energy trade places between training sets.
_CLEAR = 0.02


def _learning(rng: np.random.Generator) -> Drawn | None:
    drawn = _srf(rng, targets=_SHIFTED, learned=True, noise=_flat(rng, 0.0, 0.2))
    assert isinstance(drawn.subject, Model)
    found = learned_bias(drawn.subject)
    energies = sorted(minimum.energy for minimum in found.minima)
    clear = len(energies) < 2 or energies[1] >= (1.0 + _CLEAR) * energies[0]
    return drawn if energies and clear and not found.at_edge and not found.tied else None


def _noisy(rng: np.random.Generator) -> Drawn:
    student, target = _pick(rng, _ODD), _pick(rng, ("tanh", "sin", "sign", "hardtanh", "z + he(3, z)/4"))
    values = _ratios(rng) | {"alpha0": _log(rng, 1.0, 10.0), "eta": _log(rng, 1.0, 5.0), "noise": _flat(rng, 0.1, 0.6)}
    return Drawn(_named(student, target, values), Network(activation(student), activation(target), **values))


def _stepped(rng: np.random.Generator, targets: tuple[str, ...], groups: tuple[ReadoutGroup, ...], text: str) -> Drawn:
    """A network that takes its step from the given groups."""
    student, target = _pick(rng, _ODD), _pick(rng, targets)
    values = _ratios(rng) | {"alpha0": _log(rng, 1.0, 6.0), "eta": _log(rng, 1.0, 10.0)}
    network = Network(activation(student), activation(target), **values, readout=groups)
    return Drawn(_named(student, target, values, f", {text}"), network)


def _network_vocabulary(rng: np.random.Generator) -> Drawn:
    shares = rng.uniform(0.5, 1.5, int(rng.integers(2, 4)))
    groups = tuple(ReadoutGroup(_flat(rng, -1.5, 1.5), float(share)) for share in shares / shares.sum())
    text = "groups " + ", ".join(f"{g.weight:g}:{g.fraction:.3f}" for g in groups)
    return _stepped(rng, ("tanh", "sin", "sign", "hardtanh", "sin(2*z)", "z + he(3, z)/4"), groups, text)


def _network_biases(rng: np.random.Generator) -> Drawn:
    return _stepped(rng, ("tanh", "sin", "sign", "relu", "hardtanh", "tanh(2*z - 1)"), *_two_biases(rng))


def _margin(loss: str) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        drawn = _srf(rng, targets=_LABELS, loss=loss)
        noise = _flat(rng, 0.0, 0.5)
        model = drawn.subject
        # Label noise requires targets in {-1, 1}.
        if rng.random() < 0.5 and isinstance(model, Model) and "sign" in drawn.name.split(":")[0].split("/")[1]:
            return Drawn(f"{drawn.name}, noise {noise:g}", model.changed(noise=noise))
        return drawn

    return draw


def _residual(loss: str) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        named = f"huber:{_log(rng, 0.3, 2.0):g}" if loss == "huber" else loss
        return _srf(rng, loss=named, noise=_flat(rng, 0.0, 0.4))

    return draw


def _rank_two(rng: np.random.Generator) -> Drawn:
    drawn = _srf(rng, alignment=_flat(rng, 0.3, 0.8))
    second, share = _flat(rng, -0.55, 0.55), _flat(rng, 0.3, 0.7)
    groups = tuple(
        ReadoutGroup(_flat(rng, 0.5, 1.5), f, _flat(rng, 0.7, 1.5), 0.0, (_flat(rng, -1.5, 1.5),))
        for f in (share, 1.0 - share)
    )
    text = f"second alignment {second:g}, groups "
    text += ", ".join(f"{g.weight:g}/{g.further_weights[0]:g}:{g.fraction:g}:{g.bulk:g}" for g in groups)
    return _with_groups(drawn, groups, text, further_alignments=(second,))


def _gaussian_rows(rng: np.random.Generator) -> Drawn:
    drawn = _srf(rng)
    assert isinstance(drawn.subject, Model)
    return _with_groups(drawn, drawn.subject.groups, "Gaussian rows", gaussian_rows=True)


ITEMS = (
    Item("ridge", "Ridge readout, uniform", _srf, times=SOME),
    Item("vocabulary", "Finite vocabulary, two or three groups", _vocabulary),
    Item("quenched", "Quenched bias, two values", _biased, times=MORE),
    Item(
        "learned", "Learned bias", _learning,
        f"targets without a parity; the lowest minimum of the training energy inside the scan, and {_CLEAR:.0%} below "
        "the next", times=SOME,
    ),
    Item("noise", "Label noise in both steps: the network and its own bulk", _noisy, times=SOME),
    Item("logistic", "Logistic loss", _margin("logistic"), slow=True),
    Item("hinge", "Hinge loss", _margin("hinge"), slow=True),
    Item("huber", "Huber loss", _residual("huber"), slow=True),
    Item("absolute", "Absolute loss", _residual("absolute"), slow=True),
    Item("rank-two", "Spike of two directions, two groups", _rank_two, slow=True),
    Item("plain", "Plain random features, r = 0", lambda rng: _srf(rng, spike=0.0), times=SOME),
    Item("gaussian-rows", "Gaussian rows", _gaussian_rows, times=SOME),
    # Appended later: an item's draws depend on its place.
    Item("network-vocabulary", "A network after a step of two or three groups", _network_vocabulary, times=SOME),
    Item("network-biases", "A network with two biases after its step", _network_biases, times=SOME),
)  # fmt: skip


# One model at one large dimension: logistic regression on the signs of a smooth student's target.
LANDMARK = Drawn(
    "tanh / sign, logistic loss",
    Model(
        activation("tanh"), activation("sign"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8,
        loss=LOGISTIC,
    ),
)  # fmt: skip
LANDMARK_RUN = (1000, 12)


@cache
def models_of(key: str) -> tuple[Drawn, ...]:
    """The models of an item: the first MODELS draws that its rule accepts, no pair of activation and target twice."""
    number = [item.key for item in ITEMS].index(key)
    rng = np.random.default_rng([DRAW, number])
    found: dict[str, Drawn] = {}
    while len(found) < MODELS:
        candidate = ITEMS[number].draw(rng)
        if candidate is not None:
            found.setdefault(candidate.name.split(":")[0], candidate)
    return tuple(found.values())


def measured(data: Data) -> Iterator[tuple[Item, Drawn, dict[str, Samples]]]:
    """Every drawn model that has samples at all dimensions."""
    for item in ITEMS:
        for drawn in models_of(item.key) if item.key in data else ():
            runs = data[item.key].get(drawn.name, {})
            if len(runs) == len(RUNS):
                yield item, drawn, runs

"""What the paper's figures are drawn for: settings as the sources print them, or chosen where they do not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.studies.vocabulary import ALPHAS

DIMENSION, SEEDS = 300, 8


@dataclass(frozen=True)
class Setting:
    """What is fixed in a panel: student, target, rate of the step, ridge; and the one batch that is printed for it."""

    student: str
    target: str
    eta: float
    ridge: float
    printed: str

    def network(self, alpha0: float, alpha: float, beta: float = 1.0, eta: float | None = None) -> Network:
        """The network that takes the step on alpha0 d samples, at ratios that are whole numbers at DIMENSION."""
        student, target = activation(self.student), activation(self.target)
        ratio, batch = (round(x * DIMENSION) / DIMENSION for x in (alpha, alpha0))
        return Network(
            student, target, ratio, beta, self.ridge, alpha0=batch, eta=self.eta if eta is None else eta
        )  # fmt: skip

    @property
    def aligned(self) -> Model:
        """Its spiked random features at width 1 after a step on an infinite batch, along the target."""
        student, target = activation(self.student), activation(self.target)
        spike = self.eta * hermite_constants(student).h1 * abs(hermite_constants(target).h1)
        return Model(student, target, 1.0, 1.0, self.ridge, spike=spike, bulk=1.0, alignment=1.0)

    @property
    def best_linear(self) -> float:
        """The least error of a linear predictor, h2 - h1^2 of an odd target: what no kernel method gets below."""
        constants = hermite_constants(activation(self.target))
        return constants.h2 - constants.h1**2

    def batch_of(self, alignment: float) -> float:
        """The alpha0 after which gamma = h1*/sqrt(h1*^2 + h2*/alpha0) (equation (9)), whole at DIMENSION."""
        constants = hermite_constants(activation(self.target))
        found = constants.h2 / constants.h1**2 * alignment**2 / (1.0 - alignment**2)
        return round(found * DIMENSION) / DIMENSION

    def rate_of(self, spike: float, alpha0: float) -> float:
        """The eta after which r = eta h1 sqrt(h1*^2 + h2*/alpha0) (equation (9)) at width 1."""
        constants = hermite_constants(activation(self.target))
        h1 = hermite_constants(activation(self.student)).h1
        return spike / (h1 * math.sqrt(constants.h1**2 + constants.h2 / alpha0))

    @property
    def name(self) -> str:
        """Student and target."""
        return f"{self.student}/{self.target}"

    @property
    def title(self) -> str:
        """Over a panel."""
        return rf"{self.student} learns {self.target}, $\tilde\eta = {self.eta:g}$, $\lambda = {self.ridge:g}$"

    def __str__(self) -> str:
        return f"{self.student} learns {self.target}, eta = {self.eta:g}, ridge {self.ridge:g}"


SINE = Setting("tanh", "sin", 3.0, 0.1, "printed with alpha0 = 20")
PANELS = (
    SINE,
    Setting("tanh", "tanh", 1.0, 0.01, "printed with alpha0 = 0.5, and on the slides"),
    Setting("tanh", "sign", 3.0, 0.1, "printed on the slides"),
)
# The batches of Figures 1 and 2: both that are printed, and two beside them.
BATCHES = (0.0, 0.5, 2.0, 20.0)
RATIOS = tuple(round(a * DIMENSION) / DIMENSION for a in np.geomspace(0.3, 5.0, 6))
# Figure 1: the amount of data for the readout; the places at which networks are read.
LEARNING_ALPHA, PLACES = 4.0, tuple(float(x) for x in np.linspace(-3.0, 3.0, 13))
# Figure 3: as the slides print it, r = 0.9 and c = gamma = 1, which a large batch comes near; the readout of a network
# at a huge ridge and at a small one beside many samples realise the two bounds.
BOUND_SPIKE, BOUND_BATCH = 0.9, 50.0
# For the mean to be free the ridge has to be far below n = alpha d, for all else to be suppressed far above alpha.
BOUND_READOUTS = {"upper": (1.0, 10.0), "lower": (8.0, 0.1)}  # alpha and ridge
# Figure 4.
SPIKES, SPIKE_ALIGNMENT = (0.0, 0.5, 1.0, 2.0), 0.9
ALIGNMENTS, ALIGNED_SPIKE = (0.5, 0.8, 0.95), 1.5
# Figure 5.
WIDTHS, WIDTH_BATCH = (0.25, 1.0, 4.0), 20.0
# Figure 7.
POOL_SPIKES = (0.5, 1.0, 2.0, 4.0)
# Figure 6: the functions, letters and amounts of data of the page on vocabularies, whose alignment 1 and variance 1 a
# large batch comes near: 0.97, and 1.04 for the letter 1. The rate makes its spike, r = 1.5.
LETTERED = Setting("tanh", "sin(2*z)", 8.85, 0.1, "not printed")
LETTER_BATCH, LETTER_ALPHAS = 100.0, ALPHAS
# Networks of several letters come late to their limit: two dimensions are extrapolated, with seeds enough for an error
# of some four per cent there, and a third shows how fast the vocabulary that is furthest from its limit comes to it.
LETTER_DIMENSIONS, LETTER_SEEDS = (DIMENSION // 2, DIMENSION), 16
LATE, LATE_ALPHA, LATE_DIMENSION, LATE_SEEDS = "{1, 2}", 2.0, 2 * DIMENSION, 8

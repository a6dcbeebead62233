"""A network's step by the names of its functions, and what the theorems on it compute, at the points of claims too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled import network
from giantsteps.verify.second_route.grids import interpretation

# Functions whose names are no text that says what they are.
TEXTS = {
    "cubic": "z - z**3/6",
    "shifted tanh": "tanh(z + 7/10)",
    "shifted sin": "sin(z + 7/10)",
    "leaning tanh": "tanh(z) + (z**2 - 1)/5",
    "quadratic": "3/10 + z + z**2/2",
}


def named(name: str) -> Activation:
    """The function of a name."""
    return activation(TEXTS.get(name, name))


@dataclass(frozen=True)
class Step:
    """A network's step: rate e = eta/beta; `noise` is the variance of the label noise, `overlap` that of rows before
    the step.
    """

    student: str
    target: str
    alpha0: float
    rate: float
    beta: float
    noise: float = 0.0
    overlap: float = 0.0

    def at(self, d: int) -> Step:
        """The step with the ratios that n0 and p, which are integers, have at dimension d."""
        return replace(self, alpha0=round(self.alpha0 * d) / d, beta=round(self.beta * d) / d)

    def times(self, u: float) -> Step:
        """The step of the neurons of letter u: their rate is u times that of a readout of ones."""
        return replace(self, rate=self.rate * u)

    @property
    def compiled(self) -> network.Step:
        """The step that the theorems are computed for, as if rows did not overlap."""
        return network.Step(
            named(self.student), named(self.target), self.alpha0, self.rate * self.beta, self.beta, self.noise
        )


def law(step: Step) -> Mapping[str, float]:
    """Averages over label and activation, spike, bulk and the law of the rows; keys are glyphs."""
    return network.rows_of(step.compiled)


def blocks(step: Step, gain: float) -> Mapping[str, float]:
    """The blocks of the resolvent at a gain, and its forms along the target; keys are glyphs."""
    return network.blocks_of(step.compiled, gain)


def equivalent(step: Step, conjugate: float, shift: float) -> Mapping[str, float]:
    """V2, V1 and K where a readout has C and lambda + D, and all that they are made of; keys are glyphs."""
    return network.bulk_of(step.compiled, conjugate, shift)


def batch_forms(target: str, alpha0: float, shift: float) -> Mapping[str, float]:
    """(1/d) tr Q, l and the forms of Q = (A + t)^-1 for a batch of labels without a mean; keys are glyphs."""
    return network.batch_of(named(target), alpha0, shift)


def step_at(point: Point) -> Step:
    """The step of a point of the domain."""
    names = (s.alpha0.name, "rate", s.beta.name, s.noise.name, s.row_overlap.name)
    values = (float(point.get(name, 0.0)) for name in names)
    return Step(str(point["activation"]), str(point["target"]), *values)


def conjugates_at(point: Point) -> tuple[float, float]:
    """C, and the ridge and D together."""
    return float(point[s.V1_hat.name]), float(point["shift"])


def law_at(point: Point) -> Mapping[str, float]:
    """The law of the rows by the theorems."""
    return law(step_at(point))


def hermite_law_at(point: Point) -> Mapping[str, float]:
    """The same for an odd activation, in Hermite numbers."""
    rows = law_at(point)
    named = {s.h1_star: s.label_slope[1], s.h2_star: s.label_moment[2]}
    return {**rows, **{x.name: rows[of.name] for x, of in named.items()}}


def bulk_at(point: Point) -> Mapping[str, float]:
    """V2, V1 and K by the theorems, and what they are made of."""
    return equivalent(step_at(point), *conjugates_at(point))


def functions_at(point: Point) -> Functions:
    """Implementations of sigma, g and their derivatives at a point."""
    return interpretation(str(point["activation"]), str(point["target"]))

"""The common part of a model and a network: target, sample ratio, and readout."""

from __future__ import annotations

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.models.losses import Loss
from giantsteps.numerics.models.parameters import UNIFORM, ModelError, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw


class Problem:
    """A target learned by a readout on features; `Model` and `Network` say what the features are."""

    activation: Activation
    target: Activation
    alpha: float
    beta: float
    ridge: float
    noise: float
    gaussian_rows: bool
    readout: tuple[ReadoutGroup, ...] | ReadoutLaw
    loss: Loss

    @property
    def law(self) -> ReadoutLaw | None:
        """The law of the initial readout where it has a density; None where it has groups."""
        return self.readout if isinstance(self.readout, ReadoutLaw) else None

    @property
    def groups(self) -> tuple[ReadoutGroup, ...]:
        """The groups of the initial readout. Raises ModelError where it has a density."""
        if isinstance(self.readout, ReadoutLaw):
            raise ModelError(
                f"readout groups are required, but the initial readout has a density, {self.readout}: give for example "
                "(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))"
            )
        return self.readout

    @property
    def fractions(self) -> tuple[float, ...]:
        """pi_a of each group."""
        return tuple(group.fraction for group in self.groups)

    @property
    def biases(self) -> tuple[float, ...]:
        """b_a of each group."""
        return tuple(group.bias for group in self.groups)

    def described(self, but: tuple[str, ...] = ()) -> str:
        """The problem in a line: the functions, and the numbers that differ from their defaults.

        `but` names numbers that play no part.
        """
        names = ["alpha", "beta", "ridge", *(["noise"] if self.noise else [])]
        parts = [f"{name}={getattr(self, name):g}" for name in names if name not in but]
        parts += [step.described()] if (step := getattr(self, "step", None)) is not None else []
        if (alignments := getattr(self, "alignments", None)) is not None:
            alignment = "/".join(f"{value:g}" for value in alignments)
            parts += [f"{name}={getattr(self, name):g}" for name in ("spike", "bulk")] + [f"alignment={alignment}"]
        if self.law is not None:
            parts.append(f"readout {self.law}")
        elif self.readout != UNIFORM:
            parts.append(f"{len(self.groups)} readout group{'s' if len(self.groups) > 1 else ''}")
        if getattr(self, "bulk_model", "isotropic") == "network":
            parts.append("network's own bulk")
        parts += ["gaussian rows"] if self.gaussian_rows else []
        parts += [f"{self.loss.name} loss"] if self.loss.name != "square" else []
        return f"{self.activation} learns {self.target}, " + ", ".join(parts)

"""What a command was asked: the options of a model, read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.problems import InputProblem, not_built
from giantsteps.reports.command_line.values import Values, grid, parse_number

if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.numerics.models.model import Model, ReadoutGroup
    from giantsteps.numerics.models.network import Network
    from giantsteps.numerics.models.readout_law import ReadoutLaw

NO_BEST_BIAS = "the training free energy still falls at the end of the scan: no finite bias is best inside it"


@dataclass(frozen=True)
class Request:
    """A model, or a sweep of models, as asked for on the command line; checked, but nothing computed yet.

    ``values`` holds every number given, in command-line order, of a ``schedule`` of several steps the first.
    """

    activation: Activation
    target: Activation
    values: Mapping[str, Values]
    groups: tuple[ReadoutGroup, ...]
    bulk_model: str = "isotropic"
    loss: str = "square"
    learned_bias: bool = False
    further_alignments: tuple[float, ...] = ()
    gaussian_rows: bool = False
    law: ReadoutLaw | None = None
    schedule: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    same_batch: bool = False

    @property
    def swept(self) -> tuple[str, ...]:
        """The names of the swept parameters, in command-line order."""
        return tuple(name for name, value in self.values.items() if value.swept)

    @property
    def parameters(self) -> dict[str, object]:
        """The model as given, for the provenance."""
        from giantsteps.derivations.expressions.tree import to_text

        given: dict[str, object] = {
            "activation": to_text(self.activation.expression),
            "target": to_text(self.target.expression),
        }
        for name, value in self.values.items():
            given[name] = list(value.values) if value.swept else value.values[0]
        given |= {name: list(numbers) for name, numbers in self.schedule.items()}
        given |= {"same_batch": True} if self.same_batch else {}
        if self.groups:
            given["readout"] = [group.to_dict() for group in self.groups]
        if self.law is not None:
            given["readout"] = self.law.to_dict()
        if self.further_alignments:
            given["alignment"] = [*self.values["alignment"].values, *self.further_alignments]
        if self.has_step:
            given["bulk_model"] = self.bulk_model
        if self.gaussian_rows:
            given["rows"] = "gaussian"
        if self.loss != "square":
            given["loss"] = self.loss
        if self.learned_bias:
            given["bias"] = "learned"
        return given

    @property
    def has_step(self) -> bool:
        """Whether the model is given as a network and its gradient step."""
        return "alpha0" in self.values

    def points(self) -> Iterator[dict[str, float]]:
        """Every point of the sweep (one, if nothing is swept)."""
        return grid(self.values)

    @property
    def _fitted(self) -> dict[str, Any]:
        """Loss and readout."""
        readout = self.law or self.groups
        return {"loss": self.loss} | ({"readout": readout} if readout else {})

    @property
    def _steps(self) -> dict[str, Any]:
        """What the points do not say of several gradient steps."""
        return dict(self.schedule) | ({"same_batch": True} if self.same_batch else {})

    def model_without_bias(self, point: Mapping[str, float]) -> Model:
        """The model at one point before its bias is learned. Raises InputProblem where it does not exist."""
        return replace(self, learned_bias=False).model(point)

    def without_best_bias(self, point: Mapping[str, float]) -> bool:
        """Whether the bias to learn at one point is only the last one that was tried."""
        if not self.learned_bias:
            return False
        from giantsteps.numerics.bounds.learned_bias import learned_bias

        return learned_bias(self.model_without_bias(point)).at_edge

    def model(self, point: Mapping[str, float]) -> Model:
        """The model at one point, its bias learned if asked for. Raises InputProblem where it does not exist."""
        from giantsteps.numerics.models.model import Model, ModelError

        try:
            given: dict[str, Any] = dict(point) | self._fitted
            if self.further_alignments:
                given["further_alignments"] = self.further_alignments
            if self.gaussian_rows:
                given["gaussian_rows"] = True
            if self.has_step:
                given |= self._steps | {"bulk_model": self.bulk_model}
                model = Model.from_gradient_step(self.activation, self.target, **given)
            else:
                # Where every group brings a bulk of its own, that of the model plays no part.
                model = Model(self.activation, self.target, **({"bulk": 1.0} | given))
            if self.learned_bias:
                from giantsteps.numerics.bounds.learned_bias import learned_bias

                model = learned_bias(model).model
            return model
        except ModelError as error:
            raise self._problem(error, point) from None

    def _problem(self, error: Exception, point: Mapping[str, float]) -> InputProblem:
        where = f"at {', '.join(f'{k} = {point[k]:g}' for k in self.swept)}: " if self.swept else ""
        return InputProblem(f"{where}{error}")

    def models(self) -> list[tuple[dict[str, float], Model]]:
        """All points with their models: nothing is run before all of them are known to exist.

        Points that differ in independent numbers only are made from the first of them.
        """
        from giantsteps.numerics.models.model import ModelError

        found: list[tuple[dict[str, float], Model]] = []
        made: dict[tuple[float, ...], Model] = {}
        independent = () if self.learned_bias else self.model(next(self.points())).independent
        alone = [name for name in self.swept if name in independent]
        deciding = [name for name in self.swept if name not in independent]
        for point in self.points():
            others = tuple([point[name] for name in deciding])
            try:
                if others in made:
                    model = made[others].changed(**{name: point[name] for name in alone})
                else:
                    model = made[others] = self.model(point)
            except ModelError as error:
                raise self._problem(error, point) from None
            found.append((point, model))
        return found

    def network(self, point: Mapping[str, float]) -> Network:
        """The network and its gradient step at one point. Raises InputProblem where none was given."""
        from giantsteps.numerics.models.network import Network, SimulationError

        if not self.has_step:
            raise InputProblem(
                "--kind network simulates a gradient step and was given --spike, --bulk, --alignment; --alpha0 and "
                "--eta are accepted, for example --alpha0 2 --eta 3"
            )
        given: dict[str, Any] = dict(point) | {"gaussian_rows": self.gaussian_rows} | self._fitted | self._steps
        try:
            return Network(self.activation, self.target, **given)
        except SimulationError as error:
            raise InputProblem(str(error)) from None


# Letters of a size at which squares and cubes of parameters stay inside double precision.
_SMALLEST, _LARGEST = 1e-6, 1e6


def law_of(text: str) -> ReadoutLaw:
    """The law that --readout names, as normal, normal:SCALE, uniform or uniform:SCALE. Raises InputProblem."""
    from giantsteps.numerics.models.readout_law import LAWS, ReadoutLaw

    name, _, scale = (part.strip() for part in text.partition(":"))
    value = parse_number(scale) if ":" in text else 1.0
    if name not in LAWS or value is None or not _SMALLEST <= value <= _LARGEST:
        raise InputProblem(
            f"--readout was given {text[:60]!a}; a density is normal:SCALE (standard deviation) or uniform:SCALE (half "
            "width), SCALE from 1e-6 to 1e6 and 1 where it is left away, for example --readout normal:0.8"
        )
    return ReadoutLaw(name, value)


def check_request(asked: Request) -> None:
    """What goes with a density. Raises InputProblem."""
    if "steps" in asked.values and max(asked.values["steps"].values) > 1:
        raise InputProblem(
            "a density of --readout is only supported for one gradient step over the isotropic bulk: use --steps 1 "
            "--bulk-model isotropic"
        )
    if asked.bulk_model == "network":
        raise InputProblem(
            "a density of --readout was given beside the network's own bulk, which takes groups; use --bulk-model "
            'isotropic, or for example --readout "1:0.5,2:0.5"'
        )
    several = bool(asked.further_alignments) or any(group.further_weights for group in asked.groups)
    beside = [
        option
        for option, given in (
            ("--loss", asked.loss != "square"),
            ("--spike or --alignment of several directions", several),
            ("--bias", asked.learned_bias or bool(asked.groups)),
            ("--rows", asked.gaussian_rows),
        )
        if given
    ]
    if beside:
        raise not_built(
            f"{beside[0]} beside a density of --readout",
            'a vocabulary of groups takes more, for example --readout "1:0.5,2:0.5"',
        )

"""What a command was asked: the options of a model, read, checked beside each other, and made a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.problems import InputProblem, not_built, shown
from giantsteps.reports.command_line.values import (
    MOST_GROUPS,
    RULES,
    Values,
    check_size,
    components,
    grid,
    law_of,
    parse_bias,
    parse_readout,
    parse_schedule,
    parse_values,
)

if TYPE_CHECKING:
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.numerics.models.model import Model, ReadoutGroup
    from giantsteps.numerics.models.network import Network
    from giantsteps.numerics.models.readout_law import ReadoutLaw

DIRECT = ("spike", "bulk", "alignment")
STEP = ("alpha0", "eta")
# Further options of a gradient step that a sweep may vary.
OF_STEP = (*STEP, "steps")
REQUIRED = ("alpha", "beta", "ridge")

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

    def only(self, command: str) -> tuple[dict[str, float], Model]:
        """The one point and its model, for a command that accepts no sweep. Raises InputProblem."""
        if self.swept:
            raise InputProblem(
                f"--{self.swept[0]} was given a sweep; giantsteps {command} accepts one model, for example "
                f"--{self.swept[0]} 1"
            )
        (found,) = self.models()
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


def check_request(asked: Request) -> None:
    """What goes with a density. Raises InputProblem."""
    if "steps" in asked.values and max(asked.values["steps"].values) > 1:
        raise InputProblem(
            "a density of --readout is only supported for one gradient step over the isotropic bulk: use --steps 1 "
            "--bulk-model isotropic"
        )
    if asked.bulk_model == "network":
        raise InputProblem(
            "--readout was given a density, but the network's own bulk requires groups; use --bulk-model "
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
            f"{beside[0]} with a density of --readout",
            'give readout groups instead, for example --readout "1:0.5,2:0.5"',
        )


def request(options: Mapping[str, Any], *, any_law: bool = False, kind: str | None = None) -> Request:
    """Check the model options as click delivers them (in command-line order). Raises InputProblem.

    any_law: the command takes a density in place of --readout. kind: what is simulated; where no bulk model is given,
    a gradient step has the network's own bulk unless spiked random features or their equivalent map are simulated.
    """
    _check_names(options)
    if (options.get("readout") or "").lstrip().startswith(("normal", "uniform")):
        return _with_law(options, any_law, kind)
    options, further_alignments, spike = without_components(options)
    schedule = {name: parse_schedule(name, options[name]) for name in STEP if "/" in (options.get(name) or "")}
    options |= {name: repr(numbers[0]) for name, numbers in schedule.items()}
    values = {
        name: parse_values(name, options[name]) for name in options if name in RULES and options[name] is not None
    }
    learned = (options.get("bias") or "").strip() == "learned"
    groups = groups_of(options.get("readout"), None if learned else options.get("bias"), spike)
    _check_presence(options, values, own_bulk=bool(groups) and all(group.bulk is not None for group in groups))
    check_size(values)
    same_batch = bool(options.get("same_batch"))
    stepped = "alpha0" in values and kind in (None, "network") and not same_batch
    bulk_model = options.get("bulk_model") or ("network" if stepped else "isotropic")
    if bulk_model == "network" and "alpha0" not in values:
        raise InputProblem(
            "--bulk-model network was given with --spike, --bulk, --alignment; the network's own bulk follows from its "
            "gradient step, for example --alpha0 2 --eta 3"
        )
    return Request(
        expression_of("activation", options["activation"]),
        expression_of("target", options["target"]),
        values,
        groups,
        bulk_model,
        options.get("loss", "square"),
        learned,
        further_alignments,
        options.get("rows", "unit") == "gaussian",
        schedule=schedule,
        same_batch=same_batch,
    )


def _with_law(options: Mapping[str, Any], any_law: bool, kind: str | None) -> Request:
    """The request of a density: that of the uniform readout, with the law beside it."""
    if not any_law:
        raise not_built(
            "--readout with a density for this command",
            "giantsteps solve, simulate and compare take one; groups are accepted, for example --readout "
            '"1:0.5,-1:0.5"',
        )
    law = law_of(options["readout"])
    asked = replace(request({**options, "readout": None}, kind=kind), law=law)
    check_request(asked)
    return asked


def expression_of(name: str, text: str) -> Activation:
    """The activation or target that an option names. Raises InputProblem."""
    from giantsteps.derivations.activations.activation import activation
    from giantsteps.derivations.expressions.tree import ExpressionError

    try:
        return activation(text)
    except ExpressionError as error:
        raise InputProblem(f"--{name}: {error}" if name else str(error)) from None


def _check_presence(options: Mapping[str, Any], values: Mapping[str, Values], own_bulk: bool) -> None:
    missing = [name for name in ("activation", "target") if options.get(name) is None]
    missing += [name for name in REQUIRED if name not in values]
    if missing:
        raise InputProblem(
            f"missing: {', '.join('--' + name for name in missing)}; a model needs --activation, --target, --alpha, "
            "--beta and --ridge, for example --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 "
            "--spike 1 --bulk 1 --alignment 0.8"
        )
    direct = [name for name in DIRECT if name in values]
    step = [name for name in OF_STEP if name in values] + (["same-batch"] if options.get("same_batch") else [])
    if direct and step:
        raise InputProblem(
            f"--{direct[0]} and --{step[0]} were both given; accepted are either --spike, --bulk and --alignment or "
            "--alpha0 and --eta, for example --spike 1 --bulk 1 --alignment 0.8"
        )
    if not direct and not step:
        raise InputProblem(
            "neither the spike nor the gradient step was given; accepted are --spike, --bulk and --alignment, for "
            "example --spike 1 --bulk 1 --alignment 0.8, or --alpha0 and --eta, for example --alpha0 2 --eta 3"
        )
    wanted: Sequence[str] = DIRECT if direct else STEP
    if own_bulk:  # every group brings its own
        wanted = [name for name in wanted if name != "bulk"]
    absent = [name for name in wanted if name not in values]
    if absent:
        raise InputProblem(
            f"missing: {', '.join('--' + name for name in absent)} together with --{(direct or step)[0]}, for example "
            f"{'--spike 1 --bulk 1 --alignment 0.8' if direct else '--alpha0 2 --eta 3'}"
        )


def _check_names(options: Mapping[str, Any]) -> None:
    bulk_model, loss = options.get("bulk_model"), options.get("loss", "square")
    if bulk_model not in (None, "isotropic", "network"):
        raise InputProblem(
            f"--bulk-model was given {shown(str(bulk_model))}; accepted are isotropic and network, for example "
            "--bulk-model isotropic"
        )
    if loss == "square":
        return
    from giantsteps.numerics.models.losses import LossError, loss_named

    try:
        loss_named(loss)
    except LossError:
        raise InputProblem(
            f"--loss was given {loss[:60]!a}; accepted are square, logistic, hinge, absolute and huber:DELTA with a "
            "number DELTA > 0, for example --loss huber:1"
        ) from None


def groups_of(text: str | None, bias: str | None, spike: tuple[float, ...] = ()) -> tuple[ReadoutGroup, ...]:
    """The groups of --readout times those of --bias; empty where the readout is uniform and has no bias.

    A spike of several components multiplies the one weight of each group, and is in the groups' weights then.
    """
    groups = () if text is None else parse_readout(text)
    if spike:
        groups = _times_spike(groups, spike)
    if bias is None:
        return groups
    if any(group.bias for group in groups):
        raise InputProblem(
            "--bias was given, but --readout already has biases; give one of the two, for example "
            '--readout "1:0.5,-1:0.5" --bias "0.3:0.5,-0.3:0.5"'
        )
    from giantsteps.numerics.models.model import UNIFORM

    product = tuple(
        replace(group, fraction=group.fraction * fraction, bias=value)
        for group in (groups or UNIFORM)
        for value, fraction in parse_bias(bias)
    )
    if len(product) > MOST_GROUPS:
        raise InputProblem(
            f"--readout and --bias make {len(product)} groups together; accepted are at most {MOST_GROUPS}, for "
            'example --bias "0.3:0.5,-0.3:0.5"'
        )
    return product


def without_components(
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[float, ...], tuple[float, ...]]:
    """The options with one number for a spike of several directions, the further alignments, and the spike's vector.

    Components are joined by "/": --alignment 0.6/0.5 leaves 0.6 and gives (0.5,); --spike 1.5/1 leaves 1 and gives
    (1.5, 1). Both are empty for a spike of one direction. Raises InputProblem.
    """
    alignment, spike = (components(name, options.get(name)) for name in ("alignment", "spike"))
    left = dict(options)
    if alignment:
        left["alignment"] = repr(alignment[0])
    if spike:
        left["spike"] = "1"
    return left, alignment[1:], spike


def _times_spike(groups: tuple[ReadoutGroup, ...], spike: tuple[float, ...]) -> tuple[ReadoutGroup, ...]:
    from giantsteps.numerics.models.model import UNIFORM

    if any(group.further_weights for group in groups):
        raise InputProblem(
            "--spike and --readout were both given components; accepted are components in one of the two, for example "
            '--spike 1 --readout "1.5/1:0.5,1.5/-1:0.5"'
        )
    return tuple(
        replace(group, weight=group.weight * spike[0], further_weights=tuple(group.weight * r for r in spike[1:]))
        for group in groups or UNIFORM
    )

"""The one command that shows a counterexample, written so that a shell takes it as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from giantsteps.numerics.models.model import Model, ReadoutGroup

_NUMBERS = ("alpha", "beta", "ridge", "noise")


def command(verb: str, *words: str, **options: Any) -> str:
    """giantsteps VERB WORDS --name value ...; an option whose value is None is omitted, one that is True a flag."""
    parts = ["giantsteps", verb, *words]
    for name, value in options.items():
        if value is not None:
            parts += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return shlex.join(parts)


def model_options(model: Model, **swept: Any) -> dict[str, str | None]:
    """A model as the options of the command line; `swept` gives the text of an option in place of the model's own."""
    numbers: dict[str, Any] = {name: getattr(model, name) for name in _NUMBERS}
    if model.step is None:
        numbers |= {"spike": model.spike, "bulk": model.bulk, "alignment": "/".join(map(repr, model.alignments))}
    else:
        numbers |= model.step.only._asdict()
    options: dict[str, Any] = {"activation": str(model.activation), "target": str(model.target)}
    options |= {name: value for name, value in numbers.items() if name != "noise" or value != 0.0}
    options["readout"] = str(model.law) if model.law else _readout(model.groups)
    options["bulk_model"] = None if model.step is None else model.bulk_model
    options["rows"] = "gaussian" if model.gaussian_rows else None
    options["loss"] = None if model.loss.name == "square" else model.loss.name
    return options | swept


def _readout(groups: tuple[ReadoutGroup, ...]) -> str | None:
    if groups == (ReadoutGroup(),):
        return None
    return ",".join(_group(group) for group in groups)


def _group(group: ReadoutGroup) -> str:
    weight = "/".join(map(repr, group.weights))
    text = f"{weight}:{group.fraction!r}:{'' if group.bulk is None else repr(group.bulk)}:{group.bias!r}"
    return text.removesuffix(":0.0").removesuffix(":")


def solve(model: Model, **swept: Any) -> str:
    """giantsteps solve of a model."""
    return command("solve", **model_options(model, **swept))


def bounds(model: Model) -> str:
    """giantsteps bounds of a model, whose ridge is looked for."""
    return command("bounds", **model_options(model))


def swept(model: Model, name: str, *values: float) -> str:
    """giantsteps solve of a model at several values of one parameter."""
    return solve(model, **{name: ",".join(map(repr, values))})


def stepped(arguments: Mapping[str, Any], **swept: Any) -> str:
    """giantsteps solve of a network before its step."""
    given = dict(arguments) | swept
    return command("solve", **given, **({} if "bulk_model" in given else {"bulk_model": "isotropic"}))


def activation(text: str, **more: Any) -> str:
    """giantsteps activation of an expression."""
    return command("activation", text, **more)

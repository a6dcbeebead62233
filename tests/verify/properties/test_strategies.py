"""What the strategies reach, and that the command of a drawn model is read as that model."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import FUNCTIONS
from giantsteps.numerics.models.model import Model
from giantsteps.reports.command_line.request import request
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.strategies import (
    any_activations,
    expressions,
    functions_of,
    readouts,
    stepped,
    tame,
    wide,
)


def drawn(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, generated alone."""
    found: list[Any] = []
    settled = settings(
        max_examples=count, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    seed(1)(settled(given(strategy)(lambda example: found.append(example))))()
    return found


def test_expressions_reach_most_of_the_language_and_are_read_back() -> None:
    kinds = {"Number", "Constant", "Variable", "Sum", "Product", "Power", "Quotient", "Maximum", "Minimum", "Piecewise"}
    trees = [*drawn(expressions(2), 250), *drawn(expressions(), 60)]
    # tan is not finite on the line. Each function stands in one tree of a hundred or two: a few of nineteen may lack.
    assert len((set(FUNCTIONS) | kinds) - {"tan"} - set().union(*map(functions_of, trees))) <= 4
    for tree in trees[-60:]:
        assert parse(str(tree), limited=False) == tree


def test_activations_have_jumps_kinks_and_parities() -> None:
    found = [activation(text) for text in drawn(any_activations(2), 120)]
    assert {function.parity for function in found} == {"odd", "even", "neither"}
    assert {point.jump for function in found for point in function.breakpoints} == {True, False}


def test_models_reach_both_ends_of_every_range_and_readouts_have_groups_of_all_kinds() -> None:
    ranges = {"alpha": (0.05, 20.0), "beta": (0.05, 20.0), "ridge": (1e-10, 1e5), "noise": (0.0, 4.0),
              "spike": (-2.0, 2.0), "bulk": (0.3, 2.5), "alignment": (-0.9, 0.9)}  # fmt: skip
    models = drawn(wide(), 150)
    for name, (low, high) in ranges.items():
        values = [getattr(model, name) for model in models]
        assert min(values) <= low < high <= max(values), name
    groups = [group for readout in drawn(readouts(), 60) for group in readout]
    assert {group.bulk is None for group in groups} == {group.bias == 0.0 for group in groups} == {True, False}
    assert min(group.weight for group in groups) < 0.0 < max(group.weight for group in groups)


def _as_read(command: str) -> Model:
    words = shlex.split(command)
    options = {word[2:].replace("-", "_"): value for word, value in zip(words[2::2], words[3::2], strict=True)}
    defaults: dict[str, Any] = {"bulk_model": "isotropic", "rows": "unit", "loss": "square"}
    ((_, model),) = request(defaults | options).models()
    return model


@pytest.mark.parametrize(
    ("strategy", "model"),
    [(wide(), lambda one: one), (tame(readout=readouts()), lambda one: one),
     (stepped(), lambda step: Model.from_gradient_step(**step)),
     (stepped(bulk_model="network"), lambda step: Model.from_gradient_step(**step))],
    ids=["wide", "groups", "steps", "networks"],
)  # fmt: skip
def test_the_command_of_a_model_is_read_as_that_model(
    strategy: SearchStrategy[Any], model: Callable[[Any], Model]
) -> None:
    for one in drawn(strategy, 20):
        expected = model(one)
        assert _as_read(commands.solve(expected)) == expected


def test_what_is_swept_stands_in_place_of_the_models_own() -> None:
    model = Model("tanh", "sin", 1.25, 2.25, 0.375, 0.5, spike=-1.5, bulk=0.75, alignment=0.625)
    words = shlex.split(commands.swept(model, "ridge", 0.1, 0.25))
    assert words[words.index("--ridge") + 1] == "0.1,0.25"
    assert shlex.split(commands.bounds(model)) == ["giantsteps", "bounds", *shlex.split(commands.solve(model))[2:]]
    step = {"activation": "tanh", "eta": 2.0}
    assert commands.stepped(step, eta="1,2") == "giantsteps solve --activation tanh --eta 1,2 --bulk-model isotropic"
    assert commands.activation("z + 1", bulk=2.0) == "giantsteps activation 'z + 1' --bulk 2.0"

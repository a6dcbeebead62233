"""No property compares a number with itself, and the command that it prints shows the simulation that was run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from giantsteps.verify.properties.property import THEORY, listed
from giantsteps.verify.properties.themes import simulation
from tests.verify.properties.disturbed import disturbed, examples
from tests.verify.properties.margins import SEARCHED, compared


@pytest.mark.parametrize("name", SEARCHED)
def test_no_side_is_compared_with_itself(name: str) -> None:
    pairs = compared(name)
    assert not pairs or any(one != other for one, other in pairs)


@pytest.mark.parametrize("one", listed(vars(simulation)), ids=lambda one: one.name)
def test_the_command_shows_the_simulation_that_was_run(one: Any) -> None:
    asked: list[dict[str, Any]] = []
    right: Callable[..., Any] = disturbed().simulate

    def simulate(model: Any, **given: Any) -> Any:
        asked.append(given)
        return right(model, **given)

    (case,) = examples(one.drawn, 1)
    one.margin(case, replace(THEORY, simulate=simulate))
    words = shlex.split(one.shown(case))
    shown = {"kind": "srf"} | dict(zip([word[2:] for word in words[2::2]], words[3::2], strict=True))
    assert {given["kind"] for given in asked} == {shown["kind"]}
    assert {(str(given["seeds"]), str(given["seed"])) for given in asked} == {(shown["seeds"], shown["seed"])}
    sizes = [given["dimension"] for given in asked]
    assert sizes == [50, 100]
    assert shown.get("dimensions", "50,100") == "50,100"
    assert shown.get("dimension", "100") == "100"

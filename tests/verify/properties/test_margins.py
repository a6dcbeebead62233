"""What each property compares, by which routes and with what allowed, is what it was; and no side is its own other."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from onestep.verify.properties.property import THEORY, listed
from onestep.verify.properties.themes import simulation
from tests.reports.approved.comparison import differences
from tests.verify.properties.disturbed import disturbed, examples
from tests.verify.properties.margins import SEARCHED, kept, lines_of

_NEAR = re.compile(r"near\(([^,]*), ([^,]*),")


@pytest.mark.parametrize("name", SEARCHED)
def test_it_compares_what_it_did(name: str) -> None:
    # Six digits are printed, of numbers that are moved by a fifth: another processor may round the last.
    assert differences("\n".join(kept()[name]), "\n".join(lines_of(name))) == []


def test_all_of_them_are_kept_and_no_other() -> None:
    assert list(kept()) == SEARCHED


@pytest.mark.parametrize("name", SEARCHED)
def test_no_side_is_compared_with_itself(name: str) -> None:
    pairs = [pair for line in kept()[name] for pair in _NEAR.findall(line)]
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

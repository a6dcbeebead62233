"""The reference in docs/api/ is what docstrings and help say; every argument has its words, every example runs."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

import giantsteps
from giantsteps.reports.command_line.cli import COMMANDS
from giantsteps.reports.text.api_pages import PLACE, SETTING, api_pages
from giantsteps.reports.text.public_names import public_names

NAMES = [one for one in public_names() if one.kind != "exception"]


def test_the_committed_reference_is_generated_from_the_source() -> None:
    for name, text in api_pages().items():
        assert (PLACE / name).read_text(encoding="utf-8") == text, f"docs/api/{name} is old: make documents"


@pytest.mark.parametrize("name", [one.name for one in NAMES])
def test_every_argument_of_a_public_name_is_described(name: str) -> None:
    (one,) = (one for one in NAMES if one.name == name)
    shown = [argument.name for argument in one.arguments]
    assert shown == [known for known in inspect.signature(getattr(giantsteps, name)).parameters if known[0] != "_"]
    assert all(argument.meaning.endswith(".") for argument in one.arguments)


@pytest.mark.parametrize("name", [one.name for one in NAMES])
def test_the_examples_of_the_reference_give_what_they_say(name: str, in_swept_folder: None) -> None:
    given: dict[str, object] = {}
    exec(SETTING, given)
    (one,) = (one for one in NAMES if one.name == name)
    assert one.example
    said: list[str] = []
    for example in (one.example, *(member.example for member in one.members)):
        test = doctest.DocTestParser().get_doctest(example, dict(given), name, None, 0)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert said == []


def test_every_command_and_option_is_in_the_reference() -> None:
    page = api_pages()["commands.md"]
    assert re.findall(r"^## giantsteps (\w+)$", page, re.MULTILINE) == list(COMMANDS)
    assert "| `--ridge NUMBER` | ridge penalty of the readout (0: the limit from above). | solve, simulate, " in page
    assert "| `--json` | One JSON document on stdout and nothing else. | all |" in page


def test_a_table_escapes_what_would_break_it() -> None:
    page = api_pages()["functions.md"]
    assert r"| `digits` | `int \| None` | `None` | omit for double precision." in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}

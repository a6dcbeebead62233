"""The public names as pages show them follow from the objects: calls and docstrings."""

from __future__ import annotations

import re

import pytest

import giantsteps
from giantsteps.reports.text.public_names import described, public_names


def test_every_public_name_stands_with_its_call_and_words() -> None:
    found = {one.name: one for one in public_names()}
    assert sorted(found) == sorted(giantsteps.__all__)
    assert [found[name].kind for name in ("solve", "Model", "ModelError")] == ["function", "class", "exception"]
    assert found["solve"].call == "solve(model: Model, *, digits: int | None = None)"
    assert found["Model"].call.startswith("Model(\n    activation: Activation,\n")
    assert found["ModelError"].call == ""
    members = {one.name: one.call for one in found["Solution"].members}
    assert members["Solution.to_frame"] == "Solution.to_frame()"  # inherited, and its own all the same
    made = {one.name: one.call for one in found["Model"].members}["Model.from_gradient_step"]
    assert made.startswith("Model.from_gradient_step(\n    activation: ")
    called = [one.call for name in found.values() for one in (name, *name.members)]
    assert not any(re.search(r"\b(cls|self)\b", call) for call in called)  # Python gives it, not who calls
    assert not any(one.name.split(".")[-1].startswith("_") for name in found.values() for one in name.members)


def test_a_name_without_words_is_refused() -> None:
    def silent(x: int) -> int:
        return x

    class Inherits(list):  # type: ignore[type-arg]
        pass

    for given in (silent, Inherits):
        with pytest.raises(ValueError, match="has no docstring"):
            described("name", given)


def test_a_docstring_is_read_as_paragraphs_arguments_and_examples() -> None:
    def scaled(x: int, by: float, shift: float = 0.0) -> float:
        """The value by x + shift.

        With a formula:

            by x
                + shift

        x: a number: any.
        by, shift: two
            numbers.

        other: no argument.

        >>> 2 * 3
        6
        """
        return by * x + shift

    found = described("scaled", scaled)
    assert found.text == ("The value by x + shift.", "With a formula:", "by x\n    + shift", "other: no argument.")
    assert [(one.name, one.default, one.meaning) for one in found.arguments] == [
        ("x", None, "a number: any."),
        ("by", None, "two numbers."),
        ("shift", "0.0", "two numbers."),
    ]
    assert found.example == ">>> 2 * 3\n6"

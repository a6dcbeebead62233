"""A sweep solved together prints what its points print one by one, and stays one valid JSON document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from giantsteps.reports.command_line.cli import run
from giantsteps.reports.command_line.console import print_json_listing

SWEEP = ["solve", "--activation", "tanh", "--target", "sign", "--beta", "1", "--bulk", "1.2", "--alignment", "0.8"]


def _document(capfd: pytest.CaptureFixture[str], *more: str, code: int = 0) -> dict[str, Any]:
    assert run([*SWEEP, *more, "--json"]) == code
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def _same(one: Any, other: Any) -> bool:
    """The same keys in the same order, the same text, and numbers up to the error of the quadrature."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == (pytest.approx(other, rel=1e-9, abs=1e-10) if isinstance(one, float) else other)


def test_points_solved_together_are_printed_like_single_ones(capfd: pytest.CaptureFixture[str]) -> None:
    swept = _document(capfd, "--alpha", "0.5:5:10", "--ridge", "0.1", "--spike", "1,2")
    assert [list(entry["parameters"].values()) for entry in swept["results"][:3]] == [
        [1.0, 1.2, 0.8, 0.5, 0.1, 1.0],
        [1.0, 1.2, 0.8, 0.5, 0.1, 2.0],
        [1.0, 1.2, 0.8, 1.0, 0.1, 1.0],
    ]
    for entry in swept["results"]:
        point = entry.pop("parameters")
        alone = _document(capfd, "--alpha", repr(point["alpha"]), "--ridge", "0.1", "--spike", repr(point["spike"]))
        del alone["provenance"]
        # Errors and residuals are at rounding, and differ.
        for document in (entry, alone):
            assert document.pop("residual") <= 1e-12
            assert document.pop("error_estimate") <= 1e-10
        assert _same(entry, alone)


def test_what_a_batch_cannot_take_is_solved_alone(capfd: pytest.CaptureFixture[str]) -> None:
    swept = _document(capfd, "--alpha", "2", "--ridge", "0,0.000000001,0.1,0.2,0.3,0.4,0.5,1,2,5,10", "--spike", "0.3")
    assert [entry["converged"] for entry in swept["results"]] == [True] * 11
    errors = [entry["test_error"] for entry in swept["results"]]
    # Without ridge: the limit from above, linear in the ridge with a slope of the order of ten here.
    assert errors[0] == pytest.approx(errors[1], abs=1e-6)
    assert len(set(errors)) == 11


def test_a_listing_is_the_document_it_stands_for(capfd: pytest.CaptureFixture[str]) -> None:
    document = {
        "sweep": {"alpha": [1.0, 2.0]},
        "results": [{"x": 1.5, "status": "größer"}, {"x": None}],
        "origin": {"a": 1},
    }
    print_json_listing(document | {"results": iter(document["results"])}, "results")
    printed = capfd.readouterr().out
    assert json.loads(printed) == document
    assert '    {"x": 1.5, "status": "größer"},\n' in printed

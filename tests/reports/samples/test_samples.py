"""Samples of what commands print; after a change that is meant: `python -m tests.reports.samples`."""

from __future__ import annotations

import pytest

from giantsteps.verify.claims.index import all_claims
from tests.reports.samples.comparison import differences
from tests.reports.samples.files import MADE, read
from tests.shared.command_line import MOST_CALLS, counted_calls

CASES = [(name, line) for name in MADE for line in read(name)]


@pytest.mark.parametrize(("name", "line"), CASES)
def test_command_prints_its_sample(name: str, line: str) -> None:
    if line.startswith(("giantsteps claims", "giantsteps verify")):
        all_claims()  # built once: a refusal does not wait for them twice
    with counted_calls() as calls:
        printed = MADE[name]()[line]()
    assert differences(read(name)[line], printed) == []
    first, *lines = printed.split("\n")
    if first == "exit code 2" and not line.endswith("taken.svg"):  # which is refused after the work
        assert (len(lines), lines[0][:12]) == (1, "giantsteps: ")
        assert len(lines[0]) < 700
        assert calls.count < MOST_CALLS


def test_every_command_has_a_sample() -> None:
    for name, made in MADE.items():
        assert list(read(name)) == list(made()), name


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ("error 0.1235 of 12 at 1.2e-15", True),  # the last place, and rounding
        ("error 0.1236 of 12 at 3e-16", False),
        ("error 0.1234 of 13 at 3e-16", False),
        ("error -0.1234 of 12 at 3e-16", False),
        ("error 0.1234 of 12 at 3e-3", False),
        ("error 0.1234 of 12, at 3e-16", False),
        ("error 0.1234 of 12 at 3e-16\nmore", False),
        ("error 0.12340000001 of 12 at 3e-16", True),
        ("error 0.12360000001 of 12 at 3e-16", False),
        ("error 0.12336 of 12 at 3e-16", False),  # printed with more digits
        ("error 0.123 of 12 at 3e-16", False),  # with fewer
        ("error 0.1234 of 12 at 0", True),
        ("error 0.1234 of 12 at -1.5e-34", True),
        ("error 0.1234 of 12 at 1", False),
        ("error 0.1234 of 12 at 3e-09", False),
    ],
)
def test_what_counts_as_a_difference(found: str, same: bool) -> None:
    assert (differences("error 0.1234 of 12 at 3e-16", found) == []) == same

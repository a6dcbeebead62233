"""What commands print of results that are made up here: each case of it, without the minutes of a real run."""

from __future__ import annotations

import json
import math

import pytest

from giantsteps.reports.command_line.console import estimate_text, note, number, pace_text, print_json
from giantsteps.reports.commands.errata import errata_text
from giantsteps.reports.commands.solve import learned_text
from giantsteps.reports.commands.verify import outcome_document, properties_table
from giantsteps.verify.ledger.errata import ErratumReport
from giantsteps.verify.properties.run import Outcome
from giantsteps.verify.protocol.verdict import Verdict

OUTCOMES = (
    Outcome("limits.one", "sentence 1", "claim 1", 11, 0.0123456, "holds"),
    Outcome("limits.two", "sentence 2", "claim 2", 22, None, "undecided"),
    Outcome("orders.three", "sentence 3", "claim 3", 33, -4.56e-7, "fails", "giantsteps solve --alpha 3", "trouble 3"),
)


def test_properties_show_margins_the_counterexample_and_a_count() -> None:
    lines = properties_table(OUTCOMES).splitlines()
    rows = [line.split() for line in lines[1:4]]
    assert [row[:4] for row in rows] == [
        ["limits.one", "holds", "11", "0.012"],
        ["limits.two", "undecided", "22", "-"],
        ["orders.three", "fails", "33", "-4.6e-07"],
    ]
    assert "  giantsteps solve --alpha 3" in lines
    assert lines[-1] == "1 of 3 properties hold on 66 examples"
    assert outcome_document(OUTCOMES[2]) == {
        "name": "orders.three", "claim": "claim 3", "examples": 33, "narrowest_margin": -4.56e-7, "outcome": "fails",
        "counterexample": "giantsteps solve --alpha 3",
    }  # fmt: skip


def _erratum(k: int, verdict: Verdict) -> ErratumReport:
    said = (f"{word} {k}" for word in ("title", "source", "printed claim"))
    return ErratumReport(
        f"erratum.{k}", *said, verdict, f"printed {k}", f"corrected claim {k}", f"corrected {k}", Verdict.PROVED,
        f"extrapolates to 1.{k} +- 0.1, theory 2.{k}", f"consequence {k}", f"conversion {k}",
    )  # fmt: skip


def test_errata_show_both_forms_and_count_conventions_apart() -> None:
    text = errata_text((_erratum(1, Verdict.REFUTED),), (_erratum(2, Verdict.CONVENTION),))
    for k in (1, 2):
        for word in ("printed", "corrected", "corrected claim", "consequence", "conversion"):
            assert f"{word} {k}" in text
    assert "corrected claim 1: PROVED" in text
    assert text.splitlines()[-1].startswith("1 ")
    assert "1 of another convention or reading" in text.splitlines()[-1]


def test_learned_bias_lists_its_minima_and_says_when_two_tie() -> None:
    minima = [{"bias": 0.25, "energy": 0.5}, {"bias": -0.25, "energy": 0.5}]
    found = {"bias": 0.25, "energy": 0.5, "minima": minima, "tied": True, "at_edge": False}
    text = learned_text(found)
    assert "0.25 (energy 0.5), -0.25 (energy 0.5)" in text
    assert "mirror image" in text
    assert "mirror image" not in learned_text(found | {"tied": False})


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1 / 3, 0.0123, "0.333 +- 0.012"),
        (1 / 3, 0.0996, "0.333 +- 0.100"),
        (1234.5, 67.8, "1234 +- 68"),
        (0.5, 0.0, "0.5"),
        (0.5, math.nan, "0.5 +- ?"),
        (math.inf, 1.0, "infinite +- ?"),
        (0.5, 2e-7, "0.50000000 +- 0.00000020"),
    ],
)
def test_an_estimate_has_the_digits_that_its_error_allows(value: float, error: float, shown: str) -> None:
    assert estimate_text(value, error) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "-"), (math.nan, "-"), (math.inf, "infinite"), (1 / 3, "0.3333333333"), (0.0, "0")]
)
def test_numbers_in_words(value: float | None, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("done", "seconds", "total", "shown"),
    [
        (0, 1.0, 5, ""),
        (1, 3.0, 5, "0.33 points/s, 15 s left"),
        (30, 3.0, 6666, "10 points/s, 11 min 7 s left"),
        (123456, 10.0, 10**9, "12,346 points/s, 22 h 30 min left"),
    ],
)
def test_the_pace_of_work(done: int, seconds: float, total: int, shown: str) -> None:
    assert pace_text(done, seconds, total, "points") == shown


def test_json_has_no_nan_and_no_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"é": math.nan, "list": [math.inf, 1 / 3, {"inside": -math.inf}]})
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    infinite = {"infinite": True, "reason": "it diverges"}
    assert found == {"é": None, "list": [infinite, 1 / 3, {"inside": infinite}]}


def test_a_note_goes_to_stderr_and_can_be_silenced(capsys: pytest.CaptureFixture[str]) -> None:
    note("a remark", quiet=False)
    note("nothing", quiet=True)
    assert capsys.readouterr() == ("", "giantsteps: a remark\n")

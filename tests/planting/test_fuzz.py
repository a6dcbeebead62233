"""The campaign of random command lines and certificates: that none has a fault, and that a planted fault is seen."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from benchmarks.fuzz import campaign, trial
from benchmarks.fuzz.lines import line
from benchmarks.fuzz.trial import Ended, fault_of_certificate, fault_of_line, run_line
from giantsteps import Solution, solve
from giantsteps.numerics.models.model import Model
from tests.shared.command_line import WORKED

FEW, MANY, FEW_MODELS, MANY_MODELS = 40, 2000, 3, 300


def faults(lines: range, models: range) -> list[tuple[int, str]]:
    ended = [(n, fault_of_line(line(n), run_line(line(n)))) for n in lines]
    ended += [(n, fault_of_certificate(n) or "") for n in models]
    return [(n, fault) for n, fault in ended if fault]


def test_no_random_line_breaks_the_contract_and_no_certificate_leaves_out_a_digit() -> None:
    assert faults(range(FEW), range(FEW_MODELS)) == []


@pytest.mark.thorough
def test_no_line_and_no_certificate_of_many_do() -> None:
    assert faults(range(FEW, MANY), range(FEW_MODELS, MANY_MODELS)) == []


def test_a_line_is_the_same_every_time_and_all_kinds_are_drawn() -> None:
    drawn = [line(n) for n in range(600)]
    assert drawn == [line(n) for n in range(600)]
    commands = Counter(words[0] for words in drawn if words)
    assert {"solve", "bounds", "spectrum", "simulate", "compare", "activation", "claims", "errata"} <= commands.keys()
    assert not {"report", "verify"} & commands.keys()
    # Some of the lines are answered and some are refused: neither alone would say much.
    assert len({tuple(words) for words in drawn}) > 550


GOOD = json.dumps({"test_error": 0.1, "converged": True, "residual": 1e-16})
SOLVE = ["solve", "--json"]


@pytest.mark.parametrize(
    ("words", "ended", "said"),
    [
        (SOLVE, Ended(4, "", "giantsteps: internal error, please report it\n"), "exit code 4"),
        (SOLVE, Ended(1, GOOD, ""), "exit code 1"),
        (["compare"], Ended(1, "CONFIRMED", ""), "exit code 1"),
        (["solve"], Ended(1, "REFUTED by q2", ""), "exit code 1"),
        (SOLVE, Ended(-1, "", ""), "no answer"),
        (SOLVE, Ended(0, GOOD, "", trial.LIMIT + 1.0), "no answer"),
        (SOLVE, Ended(2, "", "giantsteps: no\nTraceback (most recent call last):\n"), "traceback"),
        (SOLVE, Ended(2, "{}", "giantsteps: no\n"), "stands on stdout"),
        (SOLVE, Ended(2, "", "giantsteps: no\ngiantsteps: and no again\n"), "refused in 2 lines"),
        (SOLVE, Ended(2, "", ""), "refused in 0 lines"),
        (SOLVE, Ended(0, GOOD, "model.py:7: RuntimeWarning: divide by zero\n"), "said on stderr"),
        (SOLVE, Ended(0, GOOD + GOOD, ""), "no JSON document"),
        (SOLVE, Ended(0, "", ""), "no JSON document"),
        (SOLVE, Ended(3, '{"test_error": NaN}', ""), "NaN"),
        (SOLVE, Ended(0, '{"results": [{"test_error": -0.5}]}', ""), "test_error -0.5"),
        (SOLVE, Ended(0, '{"results": [{"test_error": -0.5, "converged": true}]}', ""), "test_error -0.5"),
        (SOLVE, Ended(0, '{"test_error": -0.5, "error_estimate": {"test_error": 0.1}}', ""), "test_error -0.5"),
        (SOLVE, Ended(3, '{"converged": false, "of": [{"test_error": -0.5, "converged": true}]}', ""), "-0.5"),
        (SOLVE, Ended(0, '{"converged": true, "best": {"at": [{"test_error": -0.5}]}}', ""), "test_error -0.5"),
        (SOLVE, Ended(0, '{"converged": true, "residual": 1e-3}', ""), "residual of 0.001"),
        (["solve"], Ended(0, "", ""), "printed nothing"),
        (["solve"], Ended(3, "", ""), "printed nothing"),
        (["solve"], Ended(0, "", "giantsteps: so\n"), "printed nothing"),
        (SOLVE, Ended(3, "", "giantsteps: out of reach\n"), "no JSON document"),
        ([], Ended(2, "", "giantsteps: no\n"), "no help"),
    ],
)
def test_a_fault_is_seen(words: list[str], ended: Ended, said: str) -> None:
    assert said in fault_of_line(words, ended)
    assert fault_of_line(SOLVE, Ended(0, GOOD, "giantsteps: warning: so\n")) == ""
    # A comparison may refute; what did not converge may be anything.
    assert fault_of_line(["compare"], Ended(1, "REFUTED by q2", "")) == ""
    assert fault_of_line(SOLVE, Ended(3, '{"results": [{"test_error": -1.0, "converged": false}]}', "")) == ""
    assert fault_of_line(SOLVE, Ended(3, '{"converged": false, "best": {"at": [{"test_error": -1.0}]}}', "")) == ""
    assert fault_of_line(["solve"], Ended(3, "", "giantsteps: out of reach\n")) == ""
    # A deviate of the test error is below zero as often as above.
    assert fault_of_line(SOLVE, Ended(0, '{"z": {"test_error": -1.07}}', "")) == ""


def test_a_line_is_run_as_it_would_be_in_a_shell() -> None:
    before = os.getcwd()
    ended = run_line(["solve", *WORKED, "--json"])
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out)["test_error"] == pytest.approx(0.1258656085, abs=1e-10)
    assert run_line(["solve", *WORKED, "--ridge"]).code == 2
    assert os.getcwd() == before


def test_a_line_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LIMIT", 0.05)
    ended = run_line(["activation", "gelu(tanh(3*z))*softplus(z)", "--time-limit", "30"])
    assert "no answer" in fault_of_line(["activation"], ended)


def test_doubles_that_are_off_by_more_than_they_say_are_no_part_of_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number = next(n for n in range(20) if fault_of_certificate(n) == "")

    def off(model: Model) -> Solution:
        found = solve(model)
        return dataclasses.replace(found, test_error=found.test_error + 3.0 * found.error_estimate + 1e-13)

    monkeypatch.setattr("giantsteps.solve", off, raising=False)
    assert "test_error" in (fault_of_certificate(number) or "")


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fuzz.json"
    ran = []

    def block(kind: str, number: int) -> dict[str, object]:
        ran.append((kind, number))
        return {"kind": kind, "block": number, "counts": {"2": campaign.BLOCK}, "faults": []}

    class Here:
        """Runs at once what a pool would run elsewhere."""

        def __enter__(self) -> Here:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def submit(self, _: object, kind: str, number: int) -> dict[str, object]:
            return block(kind, number)

    monkeypatch.setattr(campaign, "pool", lambda workers: Here())
    monkeypatch.setattr(campaign, "as_completed", lambda futures: [_Result(one) for one in futures])
    for known in campaign.run({"lines": 200, "certificates": 100}, 1, []):
        campaign.write(known, path)
    assert ran == [("lines", 0), ("lines", 1), ("certificates", 0)]
    ran.clear()
    list(campaign.run({"lines": 300, "certificates": 100}, 1, campaign.stored(path)))
    assert ran == [("lines", 2)]
    assert "200 lines (2: 200), 0 with a fault" in campaign.table(campaign.stored(path))


class _Result:
    def __init__(self, value: dict[str, object]) -> None:
        self.value = value

    def result(self) -> dict[str, object]:
        return self.value


FAULTS = {301: "a traceback", 307: "too long"}


def test_a_block_of_lines_counts_its_hundred_and_keeps_every_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "line", lambda number: [f"word {number}"])
    monkeypatch.setattr(campaign, "run_line", lambda words: Ended((0, 0, 2)[int(words[0].split()[1]) % 3], "", ""))
    monkeypatch.setattr(campaign, "fault_of_line", lambda words, ended: FAULTS.get(int(words[0].split()[1]), ""))
    assert campaign.lines(3) == {
        "kind": "lines",
        "block": 3,
        "counts": {"0": 67, "2": 33},
        "faults": [{"number": n, "words": [f"word {n}"], "fault": fault} for n, fault in FAULTS.items()],
    }


def test_a_block_of_certificates_tells_none_from_contained_and_from_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "fault_of_certificate", lambda n: None if n % 4 == 0 else FAULTS.get(n, ""))
    assert campaign.certificates(3) == {
        "kind": "certificates",
        "block": 3,
        "counts": {"none": 25, "contained": 73, "fault": 2},
        "faults": [{"number": n, "fault": fault} for n, fault in FAULTS.items()],
    }


def test_the_last_block_is_run_though_it_is_not_asked_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Pool:
        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def submit(self, _: object, kind: str, block: int) -> _Result:
            asked.append((kind, block))
            return _Result({"kind": kind, "block": block})

    monkeypatch.setattr(campaign, "pool", lambda workers: Pool())
    monkeypatch.setattr(campaign, "as_completed", list)
    # A block of the one kind is none of the other.
    list(campaign.run({"lines": 101, "certificates": 99}, 1, [{"kind": "lines", "block": 0}]))
    assert asked == [("lines", 1), ("certificates", 0)]


def test_what_is_stored_is_ordered_summed_and_decides_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fuzz.json"
    good = {"kind": "certificates", "block": 1, "counts": {"contained": 90, "none": 10}, "faults": []}
    told = [{"number": 7, "words": ["solve"], "fault": "one"}, {"number": 9, "words": [], "fault": "two"}]
    bad = {"kind": "lines", "block": 0, "counts": {"0": 40, "2": 60}, "faults": told}
    more = {"kind": "lines", "block": 10, "counts": {"0": 100}, "faults": []}
    next_one = {"kind": "lines", "block": 2, "counts": {"2": 100}, "faults": []}
    campaign.write([more, next_one, good], path)
    assert campaign.stored(path) == [good, next_one, more]
    monkeypatch.setattr(campaign, "DATA", path)
    monkeypatch.setattr(campaign, "stored", lambda: [good, bad, more])
    assert campaign.main(["show"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "200 lines (0: 140, 2: 60), 2 with a fault",
        "  7: ['solve'] one",
        "  9: [] two",
        "100 certificates (contained: 90, none: 10), 0 with a fault",
    ]
    wanted = []

    def run(asked: dict[str, int], workers: int, known: list[dict[str, object]]) -> list[list[dict[str, object]]]:
        wanted.append((asked, workers, len(known)))
        return [[good]]

    monkeypatch.setattr(campaign, "run", run)
    monkeypatch.setattr(campaign, "write", lambda blocks: None)
    assert campaign.main(["--lines", "5", "--certificates", "7", "--workers", "3"]) == 0
    assert campaign.main(["--again"]) == 0
    assert wanted == [({"lines": 5, "certificates": 7}, 3, 3), ({"lines": 100_000, "certificates": 10_000}, 2, 0)]


UNKNOWNS = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2")


def certified(**moved: arb) -> Any:
    """A certificate of balls of radius 0.01 about 1, but for those that are given."""
    return SimpleNamespace(balls=SimpleNamespace(**(dict.fromkeys(UNKNOWNS, arb(1, 0.01)) | moved)))


def in_doubles(estimate: float = 0.0, **moved: float) -> Any:
    return SimpleNamespace(**({"test_error": 1.0, "training_error": 1.0} | moved), error_estimate=estimate)


@pytest.mark.parametrize("name", UNKNOWNS)
def test_balls_that_do_not_meet_are_told_by_name_whichever_they_are(name: str) -> None:
    doubles = in_doubles(9.0)
    for rough, fine in ((certified(**{name: arb(2, 0.01)}), certified()), (certified(), certified(**{name: arb(2)}))):
        assert trial._not_contained(rough, fine, doubles).startswith(f"{name}: ")
    assert trial._not_contained(certified(), certified(), doubles) == ""
    assert trial._not_contained(SimpleNamespace(balls=None), certified(), doubles) is None
    assert trial._not_contained(certified(), SimpleNamespace(balls=None), doubles) is None


@pytest.mark.parametrize("name", UNKNOWNS[:2])
def test_doubles_may_leave_the_narrow_ball_by_their_estimate_on_either_side(name: str) -> None:
    wide, narrow = certified(), certified(**{name: arb(1, 1e-9)})
    for off in (0.005, -0.005):
        assert trial._not_contained(wide, narrow, in_doubles(0.006, **{name: 1.0 + off})) == ""
        assert trial._not_contained(wide, narrow, in_doubles(0.004, **{name: 1.0 + off})).startswith(f"{name}: ")

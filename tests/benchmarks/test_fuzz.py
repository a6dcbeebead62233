"""The campaign of random command lines and certificates: that a few have no fault, and that a fault is seen."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import giantsteps
from benchmarks.fuzz import trial
from benchmarks.fuzz.lines import line
from benchmarks.fuzz.trial import Ended, fault_of_certificate, fault_of_line, fault_of_numbers, run_line
from tests.shared.command_line import WORKED


def faults(lines: range, models: range) -> list[tuple[int, str]]:
    ended = [(n, fault_of_line(line(n), run_line(line(n)))) for n in lines]
    ended += [(n, fault_of_certificate(n) or "") for n in models]
    return [(n, fault) for n, fault in ended if fault]


def test_no_random_line_breaks_the_contract_and_no_certificate_leaves_out_a_digit() -> None:
    assert faults(range(20), range(2)) == []
    assert [line(n) for n in range(100)] == [line(n) for n in range(100)]


@pytest.mark.thorough
def test_no_line_and_no_certificate_of_many_do() -> None:
    assert faults(range(20, 2000), range(2, 300)) == []


GOOD = json.dumps({"test_error": 0.1, "converged": True, "residual": 1e-16})
SOLVE = ["solve", "--json"]


@pytest.mark.parametrize(
    ("words", "ended", "said"),
    [
        (SOLVE, Ended(4, "", "giantsteps: internal error, please report it\n"), "exit code 4"),
        (["compare"], Ended(1, "CONFIRMED", ""), "exit code 1"),
        (["compare"], Ended(1, "REFUTED by q2", ""), ""),
        (SOLVE, Ended(0, GOOD, "", trial.LIMIT + 1.0), "no answer"),
        (SOLVE, Ended(2, "", "giantsteps: no\nTraceback (most recent call last):\n"), "traceback"),
        (SOLVE, Ended(2, "{}", "giantsteps: no\n"), "stands on stdout"),
        (SOLVE, Ended(2, "", "giantsteps: no\ngiantsteps: and no again\n"), "refused in 2 lines"),
        (SOLVE, Ended(2, "", ""), "refused in 0 lines"),
        (SOLVE, Ended(0, GOOD, "giantsteps: warning: so\n"), ""),
        (SOLVE, Ended(0, GOOD, "model.py:7: RuntimeWarning: divide by zero\n"), "said on stderr"),
        (SOLVE, Ended(0, GOOD + GOOD, ""), "no JSON document"),
        (SOLVE, Ended(3, '{"test_error": NaN}', ""), "NaN"),
        (SOLVE, Ended(0, '{"results": [{"test_error": -0.5}]}', ""), "test_error -0.5"),
        (SOLVE, Ended(3, '{"results": [{"test_error": -1.0, "converged": false}]}', ""), ""),
        (SOLVE, Ended(3, '{"converged": false, "of": [{"test_error": -0.5, "converged": true}]}', ""), "-0.5"),
        # A deviate of the test error is below zero as often as above.
        (SOLVE, Ended(0, '{"z": {"test_error": -1.07}}', ""), ""),
        (SOLVE, Ended(0, '{"converged": true, "residual": 1e-3}', ""), "residual of 0.001"),
        (["solve"], Ended(0, "", "giantsteps: so\n"), "printed nothing"),
        (["solve"], Ended(3, "", "giantsteps: out of reach\n"), ""),
        ([], Ended(2, "", "giantsteps: no\n"), "no help"),
    ],
)  # fmt: skip
def test_a_fault_is_seen_and_what_is_right_is_none(words: list[str], ended: Ended, said: str) -> None:
    fault = fault_of_line(words, ended)
    assert said in fault if said else fault == ""


def test_a_line_is_run_as_it_would_be_in_a_shell() -> None:
    ended = run_line(["solve", *WORKED, "--json"])
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out)["test_error"] == pytest.approx(0.1258656085, abs=1e-10)
    assert run_line(["solve", *WORKED, "--ridge"]).code == 2


def test_balls_that_do_not_meet_and_doubles_outside_their_estimate_are_told() -> None:
    model = giantsteps.Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
    near, far = (giantsteps.certify(one, digits=6) for one in (model, model.changed(alpha=1.6)))
    doubles = giantsteps.solve(model)
    assert fault_of_numbers(near, near, doubles) == ""
    assert all(f"{name}: " in (fault_of_numbers(near, far, doubles) or "") for name in ("test_error", "m", "q2", "V1"))
    for name in ("test_error", "training_error"):
        off = replace(doubles, **{name: getattr(doubles, name) + 1e-3})
        assert (fault_of_numbers(near, near, off) or "").startswith(f"{name}: ")

"""The command line: what it prints, how it ends, and how it meets bad input."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reports.cli import COMMANDS, run

ROOT = Path(__file__).resolve().parent.parent

SPIKED = ["--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--spike", "1", "--bulk", "1", "--alignment", "0.8"]
WORKED = ["--activation", "tanh(z)", "--target", "sin(z)", *SPIKED]
STEPPED = [
    "--activation",
    "tanh",
    "--target",
    "sign",
    "--alpha",
    "0.5",
    "--beta",
    "1",
    "--ridge",
    "0.1",
    "--alpha0",
    "2",
    "--eta",
    "3",
]

BUILT = list(COMMANDS)


def outcome(capfd: pytest.CaptureFixture[str], args: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line, run in this process."""
    capfd.readouterr()
    code = run(args)
    out, err = capfd.readouterr()
    return code, out, err


def document(capfd: pytest.CaptureFixture[str], args: Sequence[str], code: int = 0) -> dict[str, Any]:
    """The JSON document of a command that ends with ``code``: stdout is that document and nothing else."""
    ended, out, err = outcome(capfd, [*args, "--json"])
    assert (ended, err) == (code, "")
    # Strict JSON: NaN and Infinity are not part of it.
    parsed: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    return parsed


def replaced(name: str, value: str, base: Sequence[str] = WORKED) -> list[str]:
    """The base arguments with the value of one option changed (or the option added)."""
    args = list(base)
    if f"--{name}" in args:
        args[args.index(f"--{name}") + 1] = value
        return args
    return [*args, f"--{name}", value]


def in_subprocess(args: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a script would run it."""
    return subprocess.run(
        [sys.executable, "-m", "reports.cli", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )


# --- solve


def test_solve_gives_the_worked_model(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *WORKED])
    # Worked values of an independent implementation of the fixed point, to the digits that it printed.
    assert found["test_error"] == pytest.approx(0.1258656085, abs=5e-11)
    assert found["training_error"] == pytest.approx(0.04535, abs=5e-6)
    expected = {
        "m": 0.99814,
        "zeta": 0.02181,
        "psi": 0.36049,
        "q1": 0.29554,
        "q2": 0.30936,
        "V1": 2.19718,
        "V2": 4.07012,
    }
    order = found["order_parameters"]
    assert list(order) == ["m", "zeta", "psi", "q1", "q2", "V1", "V2"]
    for name, value in expected.items():
        entry = order[name][0][0] if name in ("q1", "V1") else order[name][0]
        assert entry == pytest.approx(value, abs=6e-6), name  # half a unit of the last printed digit
    assert found["residual"] <= 1e-12
    assert found["converged"] is True
    assert (found["spike"], found["bulk"], found["alignment"]) == (1.0, 1.0, 0.8)
    assert found["provenance"]["parameters"]["activation"] == "tanh(z)"


def test_solve_maps_the_gradient_step(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *STEPPED])
    # The worked values of tanh and sign after a step with alpha0 = 2, eta = 3: an independent quadrature split at the
    # jump.
    assert found["test_error"] == pytest.approx(0.657570, abs=1e-6)
    assert found["spike"] == pytest.approx(1.937271, abs=5e-7)
    assert found["bulk"] == pytest.approx(1.438857, abs=5e-7)
    assert found["alignment"] == pytest.approx(0.748398, abs=5e-7)


def test_numbers_are_in_shortest_round_trip_form(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capfd, ["solve", *WORKED, "--json"])
    parsed = json.loads(out)
    assert repr(parsed["test_error"]) in out


def test_solve_prints_for_people_what_it_prints_for_programs(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["solve", *WORKED])
    assert (code, err) == (0, "")
    assert "0.1258656085" in out  # the worked value, ten digits
    assert "converged" in out
    assert "\x1b" not in out


def test_a_sweep_is_a_product_in_command_line_order(capfd: pytest.CaptureFixture[str]) -> None:
    args = [
        "solve",
        "--target",
        "sin",
        "--ridge",
        "0.1,1",
        "--activation",
        "tanh",
        "--beta",
        "1",
        "--alpha",
        "0.5:1.5:3",
    ]
    found = document(capfd, [*args, "--spike", "1", "--bulk", "1", "--alignment", "0.8"])
    assert found["sweep"] == {"ridge": [0.1, 1.0], "alpha": [0.5, 1.0, 1.5]}
    assert list(found["sweep"]) == ["ridge", "alpha"]
    points = [(r["parameters"]["ridge"], r["parameters"]["alpha"]) for r in found["results"]]
    # The last one on the command line is the fastest.
    assert points == [(0.1, 0.5), (0.1, 1.0), (0.1, 1.5), (1.0, 0.5), (1.0, 1.0), (1.0, 1.5)]
    assert found["results"][2]["test_error"] == document(capfd, ["solve", *WORKED])["test_error"]


def test_sweep_forms(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("alpha", "log:0.1:10:3")])
    assert found["sweep"]["alpha"] == [0.1, pytest.approx(1.0, rel=1e-15), 10.0]
    found = document(capfd, ["solve", *replaced("spike", "-1:1:3")])
    assert found["sweep"]["spike"] == [-1.0, 0.0, 1.0]
    # Decimal steps are taken exactly: 0.1 + 0.4/2 is 0.3 and not its neighbour.
    found = document(capfd, ["solve", *replaced("ridge", "0.1:0.5:5")])
    assert found["sweep"]["ridge"] == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_readout_of_two_groups(capfd: pytest.CaptureFixture[str]) -> None:
    without_bulk = [a for k, a in enumerate(WORKED) if "--bulk" not in (a, WORKED[k - 1])]
    groups = [*without_bulk, "--readout", "1:0.5:1,-0.5:0.5:1.3"]
    found = document(capfd, ["solve", *groups])
    # Worked value of an independent implementation for u = (1, -1/2), c = (1, 1.3), half of the neurons each.
    assert found["test_error"] == pytest.approx(0.1278618, abs=5e-8)
    assert found["bulk"] == [1.0, 1.3]
    assert [len(row) for row in found["order_parameters"]["q1"]] == [2, 2]


@pytest.mark.parametrize(
    "text", ["", "1", "1:0.5", "1:0.5,x:0.5", "1:nan,1:0.5", "1:0.5:0,1:0.5", "1:-1,1:2", "1:0.1:1:1:1,1:0.9"]
)
def test_a_bad_readout_is_refused(capfd: pytest.CaptureFixture[str], text: str) -> None:
    refused(capfd, ["solve", *WORKED, "--readout", text], "--readout", "for example")


def test_every_point_is_printed_when_one_does_not_converge(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    import numerics.ridge
    from numerics.model import Model
    from numerics.solution import Solution

    honest = numerics.ridge.solve

    def failing(model: Model) -> Solution:
        solution = honest(model)
        if model.alpha != 1.0:
            return solution
        return replace(
            solution,
            converged=False,
            status="not converged: a test says so",
            test_error=float("inf"),
            residual=float("nan"),
        )

    monkeypatch.setattr(numerics.ridge, "solve", failing)
    found = document(capfd, ["solve", *replaced("alpha", "0.5,1,1.5")], code=3)
    assert [r["converged"] for r in found["results"]] == [True, False, True]
    failed = found["results"][1]
    assert failed["test_error"] == {"infinite": True, "reason": "not converged: a test says so"}
    assert failed["residual"] is None
    code, out, _ = outcome(capfd, ["solve", *replaced("alpha", "0.5,1,1.5")])
    assert code == 3
    assert out.count("converged") == 3


def test_a_point_without_a_solution_does_not_stop_a_sweep(capfd: pytest.CaptureFixture[str]) -> None:
    # At ridge = 0 the test error diverges where alpha = beta, and only there.
    args = ["solve", *replaced("ridge", "0", replaced("alpha", "0.5,1,2"))]
    found = document(capfd, args, code=3)["results"]
    assert [r["converged"] for r in found] == [True, False, True]
    assert found[1]["test_error"] is None
    assert "diverges" in found[1]["status"]
    code, out, err = outcome(capfd, args)
    assert (code, err) == (3, "")
    assert len(out.splitlines()) == 4  # a header and every point
    refused(capfd, ["solve", *replaced("ridge", "0", replaced("alpha", "1"))], "ridge = 0")


def test_an_expression_may_begin_with_minus(capfd: pytest.CaptureFixture[str]) -> None:
    # -tanh is tanh with the readout's sign changed: the same errors (both m and mu0 flip).
    flipped = document(capfd, ["solve", *replaced("activation", "-tanh(z)")])
    assert flipped["test_error"] == pytest.approx(document(capfd, ["solve", *WORKED])["test_error"], rel=1e-12)


def test_negative_numbers_are_values_not_options(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("alignment", "-0.8", replaced("spike", "-1"))])
    # kappa -> -kappa maps (r, gamma) to (-r, -gamma): the same problem.
    assert found["test_error"] == pytest.approx(0.1258656085, abs=5e-11)


def test_the_same_command_prints_the_same_bytes(capfd: pytest.CaptureFixture[str]) -> None:
    assert outcome(capfd, ["solve", *WORKED, "--json"]) == outcome(capfd, ["solve", *WORKED, "--json"])


# --- bad input

BAD_EXPRESSIONS = {
    "unknown name": "tanh(q)",
    "unknown function": "frobnicate(z)",
    "code": '__import__("os").system("touch planted")',
    "attribute": "z.real",
    "pole": "tan(z)",
    "not integrable": "exp(z**2)",
    "logarithm": "log(z)",
    "reciprocal": "1/z",
    "empty": "",
    "blank": "   ",
    "parentheses": "(" * 10_000 + "z" + ")" * 10_000,
    "nan": "nan",
    "not closed": "tanh(z",
    "lambda": "lambda z: z",
    "huge power": "z**9999999",
    "tower": "9**9**9**9",
}

BAD_NUMBERS = {
    "negative ridge": ("ridge", "-0.1"),
    "alignment beyond one": ("alignment", "1.5"),
    "alignment below minus one": ("alignment", "-1.5"),
    "nan ridge": ("ridge", "nan"),
    "nan spike": ("spike", "NaN"),
    "infinite spike": ("spike", "inf"),
    "overflowing spike": ("spike", "1e999"),
    "zero alpha": ("alpha", "0"),
    "negative beta": ("beta", "-1"),
    "zero bulk": ("bulk", "0"),
    "negative noise": ("noise", "-1"),
    "a word": ("alpha", "many"),
    "nothing": ("alpha", ""),
    "underscores": ("alpha", "1_000"),
    "code": ("alpha", "__import__('os')"),
    "count of zero": ("alpha", "1:2:0"),
    "fractional count": ("alpha", "1:2:2.5"),
    "too many points": ("alpha", "1:2:999999999"),
    "two colons missing": ("alpha", "1:2"),
    "log through zero": ("spike", "log:-1:1:5"),
    "range that leaves": ("alignment", "0:2:5"),
    "list with a hole": ("alpha", "1,,2"),
    "nan in a list": ("alpha", "1,nan"),
    "nan in a range": ("alpha", "nan:1:3"),
    "huge exponent": ("alpha", "1e-99999999999"),
}


def refused(capfd: pytest.CaptureFixture[str], args: Sequence[str], *words: str) -> str:
    """The one sentence with which a command line is refused: exit code 2, nothing on stdout, within 2 seconds."""
    # Processor time, not wall time: what else the machine is doing is not this command's doing.
    started = time.process_time()
    code, out, err = outcome(capfd, args)
    assert time.process_time() - started < 2.0
    assert (code, out) == (2, "")
    assert err.startswith("onestep: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert len(err) < 700
    for word in words:
        assert word in err
    return err


@pytest.mark.parametrize("name", BAD_EXPRESSIONS)
@pytest.mark.parametrize("option", ["activation", "target"])
def test_bad_expressions_are_refused_in_one_sentence(
    capfd: pytest.CaptureFixture[str], option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(capfd, ["solve", *replaced(option, BAD_EXPRESSIONS[name])], f"--{option}: ")
    assert list(tmp_path.iterdir()) == []  # nothing was executed


@pytest.mark.parametrize("name", BAD_EXPRESSIONS)
def test_the_activation_command_refuses_them_too(capfd: pytest.CaptureFixture[str], name: str) -> None:
    refused(capfd, ["activation", BAD_EXPRESSIONS[name]])


@pytest.mark.parametrize("name", BAD_NUMBERS)
def test_bad_numbers_are_refused_in_one_sentence(capfd: pytest.CaptureFixture[str], name: str) -> None:
    option, text = BAD_NUMBERS[name]
    refused(capfd, ["solve", *replaced(option, text)], f"--{option}", "for example")


@pytest.mark.parametrize("option", ["alpha0", "eta"])
@pytest.mark.parametrize("text", ["-1", "nan"])
def test_bad_gradient_steps_are_refused(capfd: pytest.CaptureFixture[str], option: str, text: str) -> None:
    refused(capfd, ["solve", *replaced(option, text, STEPPED)], f"--{option}", "for example")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["solve"], ("--activation", "for example")),
        (
            ["solve", "--activation", "tanh", "--target", "sin", "--alpha", "1", "--beta", "1", "--ridge", "1"],
            ("--spike", "--alpha0"),
        ),
        (["solve", *WORKED, "--alpha0", "2"], ("--spike", "--alpha0")),
        (["solve", *STEPPED[:-2]], ("--eta",)),
        (["solve", *WORKED, "--kind", "srf"], ("--kind",)),
        (["solve", *WORKED, "surplus"], ("surplus",)),
        (["frobnicate"], ("'frobnicate'", "solve")),
        (["--frobnicate"], ("--frobnicate",)),
        (["solve", *WORKED, "--loss", "cubic"], ("--loss", "square")),
        (["solve", *WORKED, "--bulk-model", "cubic"], ("--bulk-model", "isotropic")),
        (["solve", *WORKED, "--bulk-model", "network"], ("--alpha0", "--eta")),
        (["simulate", *WORKED, "--dimension", "1.5"], ("--dimension", "for example")),
        (["simulate", *WORKED, "--dimension", "400", "--seeds", "0"], ("--seeds", "for example")),
        (["simulate", *WORKED, "--kind", "cubic"], ("--kind", "srf")),
        (["simulate", *WORKED, "--kind", "network"], ("--alpha0", "--eta")),
        (["simulate", *WORKED, "--seed", "-1"], ("--seed", "for example")),
        (["simulate", *replaced("alpha", "0.01"), "--dimension", "10"], ("dimension",)),
        (["compare", *WORKED, "--dimensions", "400,x"], ("--dimensions", "for example")),
        (["compare", *WORKED, "--dimensions", "400,400"], ("--dimensions", "for example")),
        (["bounds", *WORKED, "--optimise-eta"], ("--optimise-eta", "--alpha0")),
        (["activation"], ("EXPR",)),
        (["activation", "tanh", "--digits", "0"], ("--digits", "for example")),
        (["activation", "tanh", "--spike", "1,2"], ("--spike", "for example")),
        (["claims", "no-such-claim"], ("no-such-claim", "onestep claims")),
        (["verify", "no-such-claim"], ("no-such-claim", "onestep claims")),
        (["verify", "--profile", "slow"], ("--profile", "quick", "for example")),
        (["report", "--profile", "slow"], ("--profile", "quick", "for example")),
        (["report", "--out", "pyproject.toml"], ("--out", "for example")),
    ],
)
def test_other_misuse_is_refused_in_one_sentence(
    capfd: pytest.CaptureFixture[str], args: list[str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    refused(capfd, args, *words)


@pytest.mark.parametrize(
    "args",
    [
        ["bounds", *WORKED, "--loss", "logistic"],
        ["report", "--pdf"],
    ],
)
def test_what_is_not_built_yet_says_so(capfd: pytest.CaptureFixture[str], args: list[str]) -> None:
    refused(capfd, args, "not built yet")


def test_the_map_that_does_not_exist_offers_the_direct_options(capfd: pytest.CaptureFixture[str]) -> None:
    # relu is not centred: Result 3.1 does not apply to it.
    refused(capfd, ["solve", *replaced("activation", "relu", STEPPED)], "E[sigma]", "--spike")
    # sign jumps: E[(sigma' - h1)^2] is infinite.
    refused(capfd, ["solve", *replaced("activation", "sign", STEPPED)], "--spike", "--bulk", "--alignment")


# --- help, exit codes, streams


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_leads_with_examples(capfd: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = outcome(capfd, [name, "--help"] if name else ["--help"])
    assert (code, err) == (0, "")
    assert out.index("Examples:") < out.index("Options:")
    assert "onestep" in out.split("Examples:")[1].splitlines()[1]


def test_help_answers_at_once() -> None:
    # Processor time of the fastest of five, so that what else the machine does is not counted; 0.2 s is the promise.
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert in_subprocess(["--help"]).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.2


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["--version"])
    assert (code, err) == (0, "")
    assert out.startswith("onestep ")


def test_an_internal_error_is_one_sentence_and_a_traceback_only_with_debug(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import numerics.ridge

    def broken(model: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(numerics.ridge, "solve", broken)
    code, out, err = outcome(capfd, ["solve", *WORKED])
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "planted" in err
    code, _, err = outcome(capfd, ["solve", *WORKED, "--debug"])
    assert code == 4
    assert "Traceback" in err


def test_the_exit_codes_of_a_ledger(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import reports.commands.verify as command
    from verify.ledger import Ledger

    class Ended(Ledger):
        code = 0

        @property
        def exit_code(self) -> int:
            return self.code

    monkeypatch.setattr(command, "run_ledger", lambda profile, ids, quiet: Ended(profile, ()))
    for code in (0, 1, 3):
        monkeypatch.setattr(Ended, "code", code)
        assert outcome(capfd, ["verify"])[0] == code
        assert outcome(capfd, ["verify", "--json"])[0] == code


def test_an_interruption_is_quiet() -> None:
    # The simulation takes a minute; the signal is sent once the command has begun.
    words = ["simulate", *WORKED, "--dimension", "500", "--seeds", "500"]
    script = f"import sys\nfrom reports.cli import run\nprint('begun', flush=True)\nsys.exit(run({words}))"
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_broken_pipe_is_quiet() -> None:
    words = " ".join(map(repr, replaced("alpha", "0.5:3:2000")))
    script = f"{sys.executable} -m reports.cli solve {words} --json | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.split("{", 1)[1].strip() == "141"


def test_pipes_and_no_color_get_no_escape_sequences() -> None:
    done = in_subprocess(["claims"], NO_COLOR="1")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    from reports import console

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in console.verdict_text("PROVED")
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.verdict_text("PROVED") == "PROVED"


# --- simulate, compare, bounds


def test_simulate_gives_means_and_standard_errors(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["simulate", *WORKED, "--dimension", "60", "--seeds", "3"])
    assert (found["dimension"], found["seeds"]) == (60, 3)
    for name in ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2"):
        assert set(found[name]) == {"mean", "standard_error"}
        assert found[name]["standard_error"] > 0.0
    again = document(capfd, ["simulate", *WORKED, "--dimension", "60", "--seeds", "3"])
    assert again == found


def test_one_seed_has_no_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["simulate", *WORKED, "--dimension", "40", "--seeds", "1"])
    assert found["test_error"]["standard_error"]["infinite"] is True
    assert "seed" in found["test_error"]["standard_error"]["reason"]


def test_compare_confirms_the_theory_and_says_what_it_would_have_caught(capfd: pytest.CaptureFixture[str]) -> None:
    # A fixed seed: a right theory is refuted with probability 1e-3 at most (the protocol's false-alarm rate), met
    # once here.
    args = ["compare", *WORKED, "--dimensions", "100,200,400", "--seeds", "12"]
    found = document(capfd, args)
    assert found["verdict"] == "CONFIRMED"
    assert [s["dimension"] for s in found["simulation"]] == [100, 200, 400]
    assert set(found["z"]) == set(found["theory"]) == set(found["smallest_detectable"]) == set(found["extrapolated"])
    assert found["theory"]["test_error"] == pytest.approx(0.1258656085, abs=5e-11)
    code, out, err = outcome(capfd, args)
    assert (code, err) == (0, "")
    assert "CONFIRMED" in out


def test_compare_is_inconclusive_where_it_cannot_decide(capfd: pytest.CaptureFixture[str]) -> None:
    # One dimension allows no extrapolation.
    found = document(capfd, ["compare", *WORKED, "--dimensions", "60", "--seeds", "2"], code=3)
    assert found["verdict"] == "INCONCLUSIVE"
    assert found["extrapolated"]["test_error"]["mean"] is None


def test_bounds_enclose_the_best_ridge(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *WORKED])
    assert found["lower"] <= found["best_ridge"]["test_error"] <= found["upper"]
    assert found["best_eta"] is None
    best = document(capfd, ["solve", *replaced("ridge", repr(found["best_ridge"]["ridge"]))])
    # The bounds command solves on one fixed rule, solve refines it: they agree to the quadrature's 1e-11, with margin.
    assert best["test_error"] == pytest.approx(found["best_ridge"]["test_error"], rel=1e-9)


def test_an_infinite_best_ridge_is_spelled_out(capfd: pytest.CaptureFixture[str]) -> None:
    # An even activation and an odd target at alignment 0: the features only add noise, so every finite ridge hurts.
    args = [
        "--activation",
        "z**2-1",
        "--target",
        "sin",
        "--alpha",
        "1",
        "--beta",
        "1",
        "--ridge",
        "1",
        "--spike",
        "0",
        "--bulk",
        "1",
        "--alignment",
        "0",
    ]
    found = document(capfd, ["bounds", *args])
    assert found["best_ridge"]["ridge"]["infinite"] is True
    assert found["best_ridge"]["ridge"]["reason"]


# --- claims, errata, activation


def test_claims_lists_statements_without_running_anything(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["claims"])
    assert len(found["claims"]) >= 40  # the least that the main text of the paper asks for
    assert sum(found["summary"].values()) == len(found["claims"])
    ids = {claim["id"] for claim in found["claims"]}
    for claim in found["claims"]:
        assert {
            "id",
            "source",
            "equations",
            "kind",
            "statement",
            "uses",
            "verdict",
            "weakest",
            "evidence",
            "mutants",
        } <= set(claim)
        assert set(claim["uses"]) <= ids
        assert claim["statement"]


def test_one_claim_is_shown_whole(capfd: pytest.CaptureFixture[str]) -> None:
    id_ = document(capfd, ["claims"])["claims"][0]["id"]
    assert [claim["id"] for claim in document(capfd, ["claims", id_])["claims"]] == [id_]
    code, out, _ = outcome(capfd, ["claims", id_])
    assert code == 0
    assert out.startswith(id_)
    assert "verdict" in out


def test_a_changed_statement_loses_its_recorded_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    import reports.ledger_files
    from reports.commands.claims import with_verdicts
    from tests.toy import claim as toy_claim
    from verify.ledger import statement_latex

    claim = toy_claim()
    entry = {"id": claim.id, "verdict": "PROVED", "weakest": "PROVED", "evidence": [], "mutants": [], "hypotheses": []}
    for statement, verdict in ((statement_latex(claim), "PROVED"), ("x = y", "UNTESTED")):
        ledger = {"claims": [entry | {"statement": statement}]}
        monkeypatch.setattr(reports.ledger_files, "committed", lambda ledger=ledger: ledger)
        assert with_verdicts([claim])[0]["verdict"] == verdict


def test_errata_has_printed_and_corrected_forms(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import verify.errata

    # two of them: the command checks what it prints, and all of them are checked in test_errata
    monkeypatch.setattr(verify.errata, "ERRATA", verify.errata.ERRATA[:2])
    found = document(capfd, ["errata"])["errata"]
    assert len(found) == 2
    for erratum in found:
        assert {"id", "source", "printed", "corrected", "witness", "consequence"} <= set(erratum)
        assert erratum["printed"] != erratum["corrected"]
        assert all(erratum.values())
    code, out, _ = outcome(capfd, ["errata"])
    assert code == 0
    assert out.rstrip().endswith("2 misprints")


@pytest.mark.parametrize("text", ["tanh", "-tanh(z)", "-z"])
def test_activation_takes_an_expression_that_begins_with_minus(capfd: pytest.CaptureFixture[str], text: str) -> None:
    found = document(capfd, ["activation", text])
    assert found["parity"] == "odd"
    assert {
        "expression",
        "breakpoints",
        "growth",
        "analytic_strip",
        "coefficients",
        "information_exponent",
        "closed_forms",
        "proof",
        "bounds",
    } <= set(found)


def test_activation_reads_options_on_either_side(capfd: pytest.CaptureFixture[str]) -> None:
    before = document(capfd, ["activation", "--spike", "-2", "-tanh(z)"])
    after = document(capfd, ["activation", "-tanh(z)", "--spike=-2"])
    assert before == after


def test_other_losses_and_biases(capfd: pytest.CaptureFixture[str]) -> None:
    signs = replaced("target", "sign")
    found = document(capfd, ["solve", *signs, "--loss", "logistic"])
    assert found["loss"] == "logistic"
    assert {"mean_squared_error", "classification_error"} <= set(found)
    # Two equal halves are one group: the fit of yhat does not depend on how neurons are counted.
    split = document(capfd, ["solve", *WORKED, "--bias", "0.3:0.5,0.3:0.5"])
    whole = document(capfd, ["solve", *WORKED, "--bias", "0.3:1"])
    assert split["test_error"] == pytest.approx(whole["test_error"], abs=1e-10)
    learned = document(capfd, ["solve", *replaced("target", "he2"), "--bias", "learned"])["learned_bias"]
    assert learned["bias"] == max(minimum["bias"] for minimum in learned["minima"])
    refused(capfd, ["solve", *WORKED, "--bias", "0.3:2"], "--bias", "for example")
    refused(capfd, ["solve", *WORKED, "--readout", "1:1:1:0.2", "--bias", "0.3:1"], "--bias", "--readout")


def test_the_spectrum_beside_a_sample(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "spectrum.svg"
    found = document(capfd, ["spectrum", *WORKED, "--simulate", "60", "--plot", str(figure)])
    assert found["mass"] == pytest.approx(1.0, abs=1e-6)
    assert len(found["x"]) == len(found["density"])
    assert len(found["simulation"]["eigenvalues"]) == 60  # p = beta d
    assert figure.read_text().startswith("<?xml")
    refused(capfd, ["spectrum", *replaced("alpha", "1,2")], "--alpha")


@pytest.mark.parametrize(
    "change",
    [
        {"--ridge": "1e155"}, {"--ridge": "1e-200"}, {"--alpha": "1e300"}, {"--bulk": "1e300"}, {"--beta": "1e200"},
        {"--bulk": "1e-300"}, {"--spike": "1e60"}, {"--spike": "1e50", "--bulk": "1e50"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["solve", "bounds"])
def test_parameters_beyond_double_precision_are_refused(
    capfd: pytest.CaptureFixture[str], command: str, change: dict[str, str]
) -> None:
    args = list(WORKED)
    for name, value in change.items():
        args[args.index(name) + 1] = value
    code, out, err = outcome(capfd, [command, *args])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("alpha0", "eta"), [("1e-300", "3"), ("1e300", "1e200"), ("1e-50", "1e50")])
def test_steps_beyond_double_precision_are_refused(capfd: pytest.CaptureFixture[str], alpha0: str, eta: str) -> None:
    args = [*STEPPED[: STEPPED.index("--alpha0")], "--alpha0", alpha0, "--eta", eta]
    code, out, err = outcome(capfd, ["solve", *args])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_an_alignment_just_beyond_one_is_shown_whole(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capfd, ["solve", *WORKED[:-1], "1.0000000001"])
    assert code == 2
    assert "--alignment 1.0000000001 is not accepted" in err


def test_bounds_that_are_not_resolved_end_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    args = [*WORKED]
    args[args.index("--target") + 1] = "exp(-sin(100*z)**2*10**8)"
    code, out, _ = outcome(capfd, ["bounds", *args, "--json"])
    assert code == 3
    assert json.loads(out)["converged"] is False


def test_bounds_give_their_error(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *WORKED])
    assert found["converged"] is True
    # The goal of the refinement, 1e-11 of E[g^2] < 1.
    assert found["error_estimate"] <= 1e-11

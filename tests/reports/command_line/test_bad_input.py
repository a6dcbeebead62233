"""Bad input on the command line: one sentence, exit code 2, nothing executed, after little work."""

from __future__ import annotations

from pathlib import Path

import pytest

from giantsteps.verify.claims.index import all_claims
from tests.shared.command_line import ROOT, STEPPED, WORKED, outcome, refused, replaced

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
        (["verify", "--seed", " 3"], ("--seed", "' 3'", "for example")),
        (["verify", "--seed", "3\n"], ("--seed", "for example")),
        (["simulate", *replaced("alpha", "0.01"), "--dimension", "10"], ("dimension",)),
        (["compare", *WORKED, "--dimensions", "400,x"], ("--dimensions", "for example")),
        (["compare", *WORKED, "--dimensions", "400,400"], ("--dimensions", "for example")),
        (["bounds", *WORKED, "--optimise-eta"], ("--optimise-eta", "--alpha0")),
        (["activation"], ("EXPR",)),
        (["activation", "tanh", "--digits", "0"], ("--digits", "for example")),
        (["activation", "tanh", "--spike", "1,2"], ("--spike", "for example")),
        (["claims", "no-such-claim"], ("no-such-claim", "giantsteps claims")),
        (["verify", "no-such-claim"], ("no-such-claim", "giantsteps claims")),
        (["verify", "--profile", "slow"], ("--profile", "quick", "for example")),
        (["report", "--profile", "slow"], ("--profile", "quick", "for example")),
        (["report", "--out", "pyproject.toml"], ("--out", "for example")),
    ],
)
def test_other_misuse_is_refused_in_one_sentence(
    capfd: pytest.CaptureFixture[str], args: list[str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    if args[0] in ("claims", "verify"):
        all_claims()  # built once: a refusal does not wait for them twice
    refused(capfd, args, *words)


def test_what_is_not_built_yet_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    refused(capfd, ["bounds", *WORKED, "--loss", "logistic", "--bias", "learned"], "not built yet")


def test_what_does_not_exist_is_not_offered(capfd: pytest.CaptureFixture[str]) -> None:
    refused(capfd, ["report", "--word"], "no option '--word'")
    assert "--word" not in outcome(capfd, ["report", "--help"])[1].lower()


def test_the_map_that_does_not_exist_offers_the_direct_options(capfd: pytest.CaptureFixture[str]) -> None:
    # sign jumps: E[(sigma' - h1)^2] is infinite.
    refused(capfd, ["solve", *replaced("activation", "sign", STEPPED)], "--spike", "--bulk", "--alignment")


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

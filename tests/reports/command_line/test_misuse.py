"""Command lines that cannot be meant: one sentence each, with what was given, what is accepted, an example."""

from __future__ import annotations

import json

import pytest

from giantsteps.reports.command_line.cli import COMMANDS, cli
from giantsteps.reports.command_line.misuse import OTHER_NAMES, examples_in, options_of
from giantsteps.verify.claims.index import all_claims
from tests.shared.command_line import STEPPED, WORKED, outcome, refused, replaced

RANK_TWO = replaced("alignment", "0.5/0.5", replaced("spike", "1/1"))

# The command line, and words that its sentence has to have.
BAD: list[tuple[list[str], tuple[str, ...]]] = [
    # misspelt, or called something else elsewhere
    (["slove", *WORKED], ("'slove'", "solve")),
    (["solve", *WORKED, "--aplha", "2"], ("'--aplha'", "perhaps --alpha")),
    (["solve", *WORKED, "--learning-rate", "3"], ("it is called --eta here",)),
    (["solve", *WORKED, "--lambda", "3"], ("it is called --ridge here",)),
    (["solve", *WORKED, "--n0", "300"], ("it is called --alpha0 here, n0/d",)),
    (["solve", *WORKED, "--act", "tanh"], ("perhaps --activation is meant",)),
    (["bounds", *STEPPED, "--opt"], ("perhaps --optimise-eta",)),
    (["solve", *WORKED, "--zz"], ("accepted are --activation",)),
    (["bounds", *STEPPED, "--optimize-eta"], ("perhaps --optimise-eta",)),
    (["solve", *WORKED, "--frobnicate"], ("accepted are --activation",)),
    (["-x"], ("'-x'", "giantsteps --help")),
    (["solve", *replaced("activation", "tahn")], ("'tahn'", "tan or tanh is meant", "for example")),
    (["solve", *replaced("target", "2*ReLU(z)")], ("'ReLU'", "perhaps relu is meant")),
    (["solve", *replaced("target", "tanh(x)")], ("'x'", "the variable is z")),
    # known to another command
    (["compare", *WORKED, "--inputs", "uniform"], ("giantsteps simulate takes it",)),
    (["solve", *WORKED, "--kind", "srf"], ("giantsteps simulate, compare and spectrum take it",)),
    (["--json", "solve", *WORKED], ("--json stands before the command", "for example giantsteps solve")),
    # values missing or too many
    (["solve", *WORKED, "--ridge"], ("--ridge was given no value", "for example --ridge 0.1")),
    (["solve", "--activation"], ("--activation was given no value", "giantsteps solve --help")),
    (["solve", "--target", *WORKED], ("--target was given no value, but is followed by --activation",)),
    (["solve", *WORKED, "--ridge", "--json"], ("--ridge was given no value, but is followed by --json", "--ridge 0.1")),
    (["simulate", *WORKED, "--seeds", "--seed=3"], ("--seeds was given no value, but is followed by --seed",)),
    (["activation", "tanh", "--spike", "--bulk", "2"], ("--spike was given no value",)),
    (["solve", *WORKED, "--json=yes"], ("--json was given a value and takes none",)),
    (["solve", *WORKED, "--digits", "many"], ("--digits was given 'many'", "for example --digits 50")),
    (["activation"], ("EXPR", "for example giantsteps activation tanh")),
    (["activation", "tanh(z)", "+1"], ("in quotes", "for example giantsteps activation")),
    (["claims", "a", "b"], ("(b)", "for example giantsteps claims")),
    (["sweep"], ("FILE.toml", "for example giantsteps sweep grid.toml --out results")),
    (["errata", "a", "b"], ("(b)", "for example giantsteps errata")),
    (["errata", "surplus"], ("'surplus'", "for example erratum.")),
    # out of range
    (["solve", *WORKED, "--loss", "huber"], ("'huber'", "DELTA > 0", "for example --loss huber:1")),
    (["solve", *WORKED, "--loss", "huber:-1"], ("'huber:-1'", "DELTA > 0", "for example --loss huber:1")),
    (["solve", *WORKED, "--digits", "5"], ("--digits was given '5'", "for example --digits 50")),
    (["solve", *WORKED, "--bias", "0.3"], ("--bias was given '0.3'", "for example")),
    (["simulate", *WORKED, "--dimension", "1e3"], ("'1e3'", "for example --dimension 400")),
    (["simulate", *STEPPED, "--kind", "network", "--gradient-steps", "0"], ("'0'", "for example --gradient-steps 2")),
    (["simulate", *STEPPED, "--kind", "network", "--initial-overlap", "1"], ("'1'", "for example")),
    (["simulate", *WORKED, "--inputs", "cauchy"], ("'cauchy'", "student-t", "for example --inputs uniform")),
    (["simulate", *WORKED, "--directions", "x"], ("'x'", "for example --directions sparse")),
    (["compare", *WORKED, "--dimensions", ""], ("--dimensions was given ''", "for example")),
    (["spectrum", *WORKED, "--simulate", "1000000"], ("'1000000'", "for example --simulate 1000")),
    (["spectrum", *WORKED, "--plot", "s.jpg"], ("'s.jpg'", ".svg")),
    (["solve", *replaced("alignment", "0.9/0.9", RANK_TWO)], ("1.27279", "for example")),
    (["solve", *replaced("spike", "1/1/1/1", RANK_TWO)], ("--spike was given '1/1/1/1'", "at most 3")),
    # contradictions
    (["report", "--check", "--pdf"], ("--check and --pdf", "for example giantsteps report --check")),
    (["report", "--check", "--out", "x"], ("--check and --out", "for example giantsteps report --check")),
    (["sweep", "grid.toml", "--out", "x", "--workers", "2", "--dask", "tcp://x:1"], ("--workers and --dask",)),
    (["solve", *STEPPED, "--bulk", "2"], ("--bulk and --alpha0", "for example")),
    (["solve", *WORKED, "--certify", "--loss", "hinge"], ("--certify was given with --loss hinge", "for example")),
    (["solve", *replaced("alpha", "1,2"), "--certify"], ("--certify was given with a sweep", "for example")),
    (["solve", *replaced("spike", "1/1")], ("1 and 2 components", "for example")),
    (["simulate", *WORKED, "--kind", "equivalent", "--inputs", "uniform"], ("--kind equivalent", "for example")),
    (
        ["simulate", *STEPPED, "--kind", "srf", "--initial-overlap", "0.1"],
        ("--initial-overlap was given with --kind srf", "for example"),
    ),
    (["simulate", *STEPPED, "--kind", "network", "--readout", "1:0.5:2,-1:0.5"], ("bulk", '--readout "1:0.5,-1:0.5"')),
    (["simulate", *STEPPED, "--kind", "network", "--readout", "0:1"], ("no gradient step", "for example 1:0.5,0:0.5")),
    (["simulate", *STEPPED, "--kind", "equivalent", "--bias", "learned"], ("learned bias", "kinds srf and network")),
    (["bounds", *STEPPED, "--optimise-eta", "--bias", "learned"], ("--optimise-eta with --bias", "for example")),
    (["spectrum", *RANK_TWO], ("one direction", "for example")),
]


@pytest.mark.parametrize(("args", "words"), BAD, ids=[" ".join(args[:1] + args[-2:])[:60] for args, _ in BAD])
def test_what_cannot_be_meant_is_refused(
    capfd: pytest.CaptureFixture[str], args: list[str], words: tuple[str, ...]
) -> None:
    refused(capfd, args, *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("esult-3-1", ("result-3-1.spike-strength", "...")),
        ("resutl-3-1.spilt", ("result-3-1.split",)),
        ("spike norm exact", ("result-3-1.spike-norm-exact",)),
    ],
)
def test_a_claim_is_found_by_what_one_remembers(
    capfd: pytest.CaptureFixture[str], text: str, words: tuple[str, ...]
) -> None:
    all_claims()  # built once: a refusal does not wait for them twice
    refused(capfd, ["claims", text], *words)


@pytest.mark.parametrize("text", ["(9)", "9", "eq. (9)", "Equation 9"])
def test_an_equation_finds_every_claim_whose_source_names_it(capfd: pytest.CaptureFixture[str], text: str) -> None:
    all_claims()
    code, out, _ = outcome(capfd, ["claims", text, "--json"])
    found = {claim["id"] for claim in json.loads(out)["claims"]}
    assert code == 0
    assert found == {
        "result-3-1.spike-strength", "result-3-1.spike-strength-noisy", "result-3-1.spike-order",
        "slides.spike-strength",
    }  # fmt: skip


def test_an_expression_may_look_like_an_option(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capfd, ["solve", *replaced("target", "--z"), "--json"])
    assert (code, json.loads(out)["converged"]) == (0, True)


def test_a_misuse_has_no_traceback_even_with_debug(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["solve", *WORKED, "--frobnicate", "--debug"])
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_other_names_lead_to_options_that_exist() -> None:
    options = {name: set(options_of(cli.named(name))) for name in COMMANDS}
    known = set().union(*options.values())
    assert set(OTHER_NAMES.values()) <= known
    assert not {f"--{name}" for name in OTHER_NAMES} & known


def test_examples_of_a_help_text() -> None:
    text = "\b\nExamples:\n  giantsteps a --b \\\n      --c\n  giantsteps d\n\nWords about giantsteps a.\n"
    assert examples_in(text) == ["giantsteps a --b --c", "giantsteps d"]


def test_compare_says_what_would_decide(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capfd, ["compare", *WORKED, "--dimensions", "60", "--seeds", "2"])
    assert code == 3
    assert "one dimension, d = 60, gives no extrapolation" in out.splitlines()[-1]
    assert "for example --dimensions" in out.splitlines()[-1]
    code, out, _ = outcome(capfd, ["compare", *WORKED, "--dimensions", "40,60", "--seeds", "4"])
    assert code == 3
    assert "about --seeds " in out.splitlines()[-1]

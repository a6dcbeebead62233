"""Sentences of the library in the words of the command line, which reads the options that they give."""

from __future__ import annotations

import re
import shlex

import pytest

from giantsteps.reports.command_line.in_options import in_options
from giantsteps.reports.command_line.options import parse_readout
from tests.shared.command_line import STEPPED, WORKED, outcome, refused, replaced


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("give spike=1, bulk=1, alignment=0.8; or not", "give --spike 1 --bulk 1 --alignment 0.8; or not"),
        ('the isotropic bulk, bulk_model="isotropic"', "the isotropic bulk, --bulk-model isotropic"),
        ("for example alignment=0.6, further_alignments=(0.5,)", "for example --alignment 0.6/0.5"),
        ("use gaussian_rows=False, or stop", "use --rows unit, or stop"),
        ("resume=True to go on", "--resume to go on"),
        ("alpha = 1.5 stays, and so does TMPDIR=/var/tmp", "alpha = 1.5 stays, and so does TMPDIR=/var/tmp"),
        (
            "use readout=(ReadoutGroup(1.0, 0.5, bias=0.3), ReadoutGroup(-1.0, 0.5, 2.0, bias=-0.3))",
            'use --readout "1:0.5::0.3,-1:0.5:2:-0.3"',
        ),
        (
            "readout=(ReadoutGroup(1.5, 0.5, further_weights=(1,)), ReadoutGroup(1.5, 0.5, further_weights=(-1,)))",
            '--readout "1.5/1:0.5,1.5/-1:0.5"',
        ),
    ],
)
def test_an_argument_is_shown_as_an_option(said: str, shown: str) -> None:
    assert in_options(said) == shown
    for text in re.findall(r'--readout "([^"]*)"', shown):
        assert len(parse_readout(text)) == 2


def test_what_a_refusal_gives_as_an_example_is_accepted(capfd: pytest.CaptureFixture[str]) -> None:
    stepped = replaced("activation", "sign", STEPPED)
    _, _, err = outcome(capfd, ["solve", *stepped])
    example = shlex.split(err.split("for example ")[-1])
    assert example[::2] == ["--spike", "--bulk", "--alignment"]
    kept = stepped[: stepped.index("--alpha0")]
    assert outcome(capfd, ["solve", *kept, *example])[0] == 0


def test_a_refusal_of_the_library_names_options(capfd: pytest.CaptureFixture[str]) -> None:
    noisy = [*replaced("target", "tanh"), "--noise", "0.1", "--loss", "logistic"]
    refused(capfd, ["solve", *noisy], "omit the noise", "--target sign")
    refused(capfd, ["spectrum", *replaced("alignment", "0.5/0.5", replaced("spike", "1/1", WORKED))], "one direction")

"""giantsteps solve --certify and --digits: one point and a range, what is said, exit codes."""

from __future__ import annotations

import pytest

from tests.shared.command_line import WORKED, document, outcome, refused, replaced

SIGN = replaced("activation", "sign")


def test_certificate_and_digits_agree(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *SIGN, "--certify", "--digits", "30"])
    certificate, digits = found["certificate"], found["any_precision"]
    assert certificate["status"] == "certified"
    assert certificate["digits"] >= 20
    assert certificate["only_solution_by"] == "one-solution.T"
    assert 0.0 < certificate["contraction"] < 1.0
    for name in ("V1", "V2"):
        low, high = map(float, certificate["box"][name])
        assert low < float(digits[name]) < high
    # [mid +/- rad]: the first fifteen digits are those of both other computations.
    middle = certificate["test_error"].strip("[]").split(" +/- ")[0]
    assert middle.startswith(digits["test_error"][:17])
    assert float(middle) == pytest.approx(found["test_error"], rel=1e-13)
    assert set(certificate["enclosures"]) >= {"m", "zeta", "psi", "q1", "q2", "training_error"}


def test_what_is_not_reached_is_exit_code_3_and_what_is_not_supported_is_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    args = replaced("ridge", "0", SIGN)
    found = document(capfd, ["solve", *args, "--certify"], code=3)["certificate"]
    assert found["status"].startswith("not certified: certificates need a positive ridge")
    assert (found["box"], found["test_error"]) == (None, None)
    assert "digits require ridge > 0: omit --digits 20" in refused(capfd, ["solve", *args, "--digits", "20"])
    # Without a spike the absolute value has no linear part, mu1 = 0: certified, but not to many digits.
    flat = ["solve", *replaced("activation", "abs", replaced("spike", "0", SIGN)), "--certify", "--digits", "20"]
    found = document(capfd, flat, code=3)
    assert found["certificate"]["status"].startswith("certified")
    assert found["any_precision"]["status"].startswith("not reached: digits require an activation with a part")


def test_solution_digits_and_certificate_are_one_table(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capfd, ["solve", *WORKED, "--certify", "--digits", "20"])
    assert code == 0
    names = ("test error, 20 digits", "training error, 20 digits", "status", "box of V1", "certificate")
    lines = [line for line in out.splitlines() if line.startswith(names)]
    assert len(lines) == len(names)
    width = len("training error, 20 digits") + 2  # the widest name and two spaces
    assert all(line[:width].endswith("  ") and line[width] != " " for line in lines)


def test_a_range_is_a_certified_branch(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("alpha", "1.5:1.52", SIGN), "--certify"])
    assert (found["parameter"], found["certified_fraction"]) == ("alpha", 1.0)
    assert found["only_solution_by"] == "one-solution.T"
    assert found["provenance"]["parameters"]["alpha"] == [1.5, 1.52]
    pieces = found["branch"]
    assert (pieces[0]["interval"][0], pieces[-1]["interval"][1]) == (1.5, 1.52)
    for piece in pieces:
        assert piece["test_error"].startswith("[0.20")
        assert set(piece["box"]) == {"V1", "V2"}
    code, out, _ = outcome(capfd, ["solve", *replaced("ridge", "0.1:0.101", SIGN), "--certify"])
    assert code == 0
    for words in ("ridge from", "+/-", "certified 1 of the range", "(by one-solution.T)"):
        assert words in out


@pytest.mark.parametrize(
    ("more", "status"),
    [
        (["--ridge", "0:0.1"], "positive ridge"),
        # The first interval is tried or not, by how fast the clock ticks; the second is not.
        (["--alpha", "0.5:2", "--time-limit", "1e-9"], "budget"),
    ],
)
def test_what_is_uncertain_of_a_range_is_exit_code_3(
    more: list[str], status: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found = document(capfd, ["solve", *SIGN, "--certify", *more], code=3)
    assert (found["certified_fraction"], found["only_solution_by"]) == (0.0, None)
    assert all(status in piece["status"] for piece in found["branch"])

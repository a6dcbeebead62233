"""giantsteps simulate and giantsteps compare: means, standard errors, verdicts and what they would have caught."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from giantsteps.reports.answers import comparison
from giantsteps.reports.commands import compare as commands
from tests.shared.command_line import WORKED, document, outcome


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
    for given, reason, example in (
        (("60",), "one dimension, d = 60, gives no extrapolation in 1/d", "--dimensions 60,120,240 --seeds 8"),
        (("40,60", "--seeds", "1"), "one experiment at a dimension shows no scatter", "--dimensions 40,60 --seeds 8"),
        (("40,41",), "only what exceeds", "--dimensions 400,800,1600 --seeds 8"),
    ):
        code, out, err = outcome(capfd, ["compare", *WORKED, "--dimensions", *given])
        assert (code, err) == (3, "")
        assert out.splitlines()[-1].startswith("INCONCLUSIVE: ")
        assert reason in out.splitlines()[-1]
        assert example in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("CONFIRMED", "INCONCLUSIVE", "REFUTED"), 1),
        (("REFUTED", "CONFIRMED", "INCONCLUSIVE"), 1),
        (("CONFIRMED", "INCONCLUSIVE", "CONFIRMED"), 3),
        (("CONFIRMED", "CONFIRMED", "CONFIRMED"), 0),
    ],
)
def test_of_several_points_one_that_is_refuted_decides_the_exit_code(
    verdicts: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said = iter(verdicts)

    def found(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(report=SimpleNamespace(verdict=next(said)))

    monkeypatch.setattr(comparison, "compare", found)
    monkeypatch.setattr(commands, "comparison_text", lambda one: one.report.verdict)
    spiked = [word for word in WORKED if word != "--alpha"]
    spiked.remove(WORKED[WORKED.index("--alpha") + 1])
    answer = outcome(capfd, ["compare", *spiked, "--alpha", "1,2,3", "--dimensions", "40,60", "--seeds", "2"])
    assert answer == (code, "".join(f"alpha = {k + 1}\n{word}\n" for k, word in enumerate(verdicts)), "")

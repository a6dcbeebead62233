"""giantsteps activation and giantsteps spectrum: options and expressions with a minus, the density beside a sample."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.shared.command_line import WORKED, document, outcome, refused, replaced


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


def test_the_time_limit_is_counted_from_the_start_of_the_command(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that ran other commands before has used far more than the limit already.
    used = time.process_time
    monkeypatch.setattr(time, "process_time", lambda: used() + 1e4)
    assert document(capfd, ["activation", "he3(z)"])["complete"]


def test_the_spectrum_beside_a_sample(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "spectrum.svg"
    found = document(capfd, ["spectrum", *WORKED, "--simulate", "60", "--plot", str(figure)])
    assert found["mass"] == pytest.approx(1.0, abs=1e-6)
    assert len(found["x"]) == len(found["density"])
    assert len(found["simulation"]["eigenvalues"]) == 60  # p = beta d
    assert figure.read_text().startswith("<?xml")
    refused(capfd, ["spectrum", *replaced("alpha", "1,2")], "--alpha")


def test_the_formulas_of_an_activation_as_latex(capfd: pytest.CaptureFixture[str]) -> None:
    code, text, _ = outcome(capfd, ["activation", "sin", "--latex", "--digits", "12", "--orders", "3", "--quiet"])
    assert code == 0
    found = document(capfd, ["activation", "sin", "--digits", "12", "--orders", "3"])
    assert text.startswith("\\begin{align*}\n  \\sigma(z) &= \\sin")
    assert text.rstrip().endswith("\\end{align*}")
    assert text.count("{") == text.count("}")
    # E[z sin z] = e^(-1/2), and the closed forms are those of the document.
    assert "h_1 = \\mathbb{E}[z\\,\\sigma(z)] &= 0.606530659713 \\pm 3.67 \\cdot 10^{-13}" in text
    assert "+/-" not in text
    for formula in found["closed_forms"]["latex"].values():
        assert f"&= {formula}" in text
    code, _, said = outcome(capfd, ["activation", "sin", "--latex", "--json"])
    assert code == 2
    assert "--latex and --json" in said

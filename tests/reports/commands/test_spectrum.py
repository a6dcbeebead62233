"""giantsteps spectrum and giantsteps activation: the density beside a sample, options with a minus, LaTeX."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.reports.commands import spectrum
from tests.shared.command_line import WORKED, document, outcome

STEPPED = [
    "--activation", "tanh", "--target", "sign", "--alpha", "1.5", "--beta", "1", "--alpha0", "1", "--eta", "5",
    "--simulate", "60",
]  # fmt: skip
LEAST = ["--activation", "tanh", "--alpha", "1.5", "--beta", "1", "--spike", "1", "--bulk", "1"]


def test_a_network_beside_its_own_sample(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "network.svg"
    found = document(capfd, ["spectrum", *STEPPED, "--plot", str(figure)])
    assert found["mass"] == pytest.approx(1.0, abs=1e-6)
    assert found["cumulative"][-1] == pytest.approx(1.0, abs=1e-8)
    assert len(found["x"]) == len(found["density"])
    assert found["provenance"]["parameters"]["kind"] == "network"
    assert len(found["simulation"]["eigenvalues"]) == 60  # p = beta d
    assert figure.read_text().startswith("<?xml")


def test_the_histogram_of_a_sample_weighs_what_of_it_is_drawn() -> None:
    theory = giantsteps.spectrum(giantsteps.Model("tanh", "sin", 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8))
    (low, high), *_ = theory.edges
    sample = np.concatenate([np.zeros(30), np.linspace(low, high, 60), [70.0 * high] * 10])
    heights, ends, _ = spectrum.draw(theory, sample).axes[0].patches[0].get_data()  # type: ignore[attr-defined]
    # Beside a density that leaves out the atom at zero and the outliers: 60 of 100.
    assert heights @ np.diff(ends) == pytest.approx(0.6, rel=1e-12)  # rounding


def test_a_network_beside_the_isotropic_theory_and_the_other_way(capfd: pytest.CaptureFixture[str]) -> None:
    isotropic, network, features = (
        document(capfd, ["spectrum", *STEPPED, *more])
        for more in (
            ["--bulk-model", "isotropic", "--kind", "network"],
            [],
            ["--bulk-model", "network", "--kind", "srf"],
        )
    )
    # The same network under two theories, and other features under one of them.
    assert isotropic["simulation"]["eigenvalues"] == network["simulation"]["eigenvalues"]
    assert isotropic["edges"] != network["edges"] == features["edges"]
    assert features["simulation"]["eigenvalues"] != network["simulation"]["eigenvalues"]


def test_gaussian_rows_share_the_support(capfd: pytest.CaptureFixture[str]) -> None:
    plain, rows = (document(capfd, ["spectrum", *LEAST, *more]) for more in ([], ["--rows", "gaussian"]))
    assert plain["edges"] == rows["edges"]
    assert plain["outliers"][0]["per_sample"] == rows["outliers"][0]["per_sample"]
    assert plain["outliers"][0]["correction"] < rows["outliers"][0]["correction"]


def test_what_does_not_converge_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["spectrum", *LEAST, "--activation", "z**9", "--spike", "3"], code=3)
    assert (found["converged"], found["status"][:13]) == (False, "not converged")


def test_what_plays_no_part_is_not_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    whole, least, other = (
        document(capfd, ["spectrum", *args, "--simulate", "60"])
        for args in (WORKED, LEAST, [*LEAST, "--target", "sign", "--noise", "3", "--ridge", "7", "--loss", "hinge"])
    )
    for found in (least, other):
        for name in ("edges", "density", "mass", "cumulative"):
            assert found[name] == whole[name]
        # The rule along the spike is cut where a target breaks: the same integral to rounding.
        for outlier, same in zip(found["outliers"], whole["outliers"], strict=True):
            assert outlier == pytest.approx(same, rel=1e-10)
    # What was not given is not said to have been; the sample is one of the same features.
    names = {"activation", "alpha", "beta", "spike", "bulk", "simulate", "kind", "seed"}
    assert set(least["provenance"]["parameters"]) == names
    assert other["provenance"]["parameters"]["ridge"] == 7.0
    predicted = whole["simulation"]["predicted_outliers"]
    assert least["simulation"]["predicted_outliers"] == pytest.approx(predicted, rel=1e-10)


@pytest.mark.parametrize("name", ["activation", "alpha", "beta", "spike", "bulk"])
def test_what_plays_a_part_is_asked_for(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    place = LEAST.index(f"--{name}")
    code, out, err = outcome(capfd, ["spectrum", *LEAST[:place], *LEAST[place + 2 :]])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"missing: --{name};" in err or (name == "spike" and "missing: --spike" in err)


@pytest.mark.parametrize(("at", "beyond"), [(54.0, False), (56.0, True)])
def test_an_outlier_lies_where_less_than_half_an_eigenvalue_is_expected(at: float, beyond: bool) -> None:
    # Of ten eigenvalues half of one lies above 55 = 10 + 90/2, with a tenth between 10 and 100.
    found: Any = SimpleNamespace(
        edges=((0.5, math.inf),), outliers=(SimpleNamespace(at=lambda samples: at),), detached=(), atom_at_zero=0.0,
        cumulative=np.array([0.0, 0.9, 1.0]), x=np.array([1.0, 10.0, 100.0]),
    )  # fmt: skip
    model: Any = SimpleNamespace(alpha=1.0)
    sample = spectrum.sample_json(found, model, np.arange(1.0, 11.0), 10)
    assert sample["predicted_outliers"] == ([at] if beyond else [])
    assert sample["outliers"] == ([10.0] if beyond else [])


def test_a_tail_without_end_hides_no_outlier(capfd: pytest.CaptureFixture[str]) -> None:
    # 15 n + 828 at n = 100, beside a tail of which half an eigenvalue of 200 lies beyond some 900.
    args = ["spectrum", "--activation", "he3", "--alpha", "0.5", "--beta", "1", "--spike", "1", "--bulk", "1"]
    sample = document(capfd, [*args, "--simulate", "200"])["simulation"]
    assert sample["predicted_outliers"] == [pytest.approx(2328.0)]
    assert sample["outliers"] == [max(sample["eigenvalues"])]
    assert sample["largest_of_bulk"] == sorted(sample["eigenvalues"])[-2]


def test_an_activation_may_begin_with_a_minus_and_options_stand_on_either_side(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = document(capfd, ["activation", "--spike", "-2", "-tanh(z)"])
    assert before == document(capfd, ["activation", "-tanh(z)", "--spike=-2"])
    keys = {"expression", "parity", "breakpoints", "growth", "analytic_strip", "coefficients", "information_exponent"}
    assert keys | {"closed_forms", "proof", "bounds"} <= set(before)
    assert (before["parity"], before["complete"]) == ("odd", True)


def test_the_formulas_of_an_activation_as_latex(capfd: pytest.CaptureFixture[str]) -> None:
    args = ["activation", "sin", "--digits", "12", "--orders", "3"]
    code, text, _ = outcome(capfd, [*args, "--latex", "--quiet"])
    assert code == 0
    assert text.startswith("\\begin{align*}\n  \\sigma(z) &= \\sin")
    assert text.rstrip().endswith("\\end{align*}")
    assert text.count("{") == text.count("}")
    # E[z sin z] = e^(-1/2), and the closed forms are those of the document.
    assert "h_1 = \\mathbb{E}[z\\,\\sigma(z)] &= 0.606530659713 \\pm 3.67 \\cdot 10^{-13}" in text
    assert "+/-" not in text
    for formula in document(capfd, args)["closed_forms"]["latex"].values():
        assert f"&= {formula}" in text

"""giantsteps spectrum: networks, Gaussian rows, samples of either, and non-convergence with its exit code."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.reports.command_line.cli import run
from giantsteps.reports.commands import spectrum

STEPPED = [
    "--activation", "tanh", "--target", "sign", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--alpha0", "1",
    "--eta", "5",
]  # fmt: skip
DIRECT = [
    "--activation", "tanh", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--spike", "1",
    "--bulk", "1", "--alignment", "0.8",
]  # fmt: skip


def _run(capfd: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str, str]:
    code = run(["spectrum", *arguments, "--quiet"])
    out, err = capfd.readouterr()
    return code, out, err


def _afresh(capfd: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    """A density computed under a test's own limits, which no other test may meet in the store."""
    from giantsteps.numerics.spectrum import density

    density.spectrum.cache_clear()  # type: ignore[attr-defined]
    try:
        return _run(capfd, [*DIRECT, *more])
    finally:
        density.spectrum.cache_clear()  # type: ignore[attr-defined]


def test_a_network_beside_its_own_sample(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "network.svg"
    arguments = [*STEPPED, "--bulk-model", "network", "--simulate", "100", "--plot", str(figure), "--json"]
    code, out, _ = _run(capfd, arguments)
    found = json.loads(out)
    assert code == 0
    assert found["mass"] == pytest.approx(1.0, abs=1e-6)
    assert found["cumulative"][-1] == pytest.approx(1.0, abs=1e-8)
    assert found["provenance"]["parameters"]["kind"] == "network"
    assert len(found["simulation"]["eigenvalues"]) == 100
    assert figure.read_text().startswith("<?xml")


def test_the_histogram_of_a_sample_weighs_what_of_it_is_drawn() -> None:
    x = np.linspace(0.5, 2.0, 9)
    theory: Any = SimpleNamespace(x=x, density=0.4 + 0.0 * x, cumulative=x / 2.0, edges=((0.5, 2.0),))
    sample = np.concatenate([np.zeros(30), np.linspace(0.5, 2.0, 60), [7.0] * 10])
    heights, ends, _ = spectrum.draw(theory, sample).axes[0].patches[0].get_data()  # type: ignore[attr-defined]
    # Beside a density that leaves out the atom at zero and the outliers: 60 of 100.
    assert heights @ np.diff(ends) == pytest.approx(0.6, rel=1e-12)  # rounding


def test_a_network_beside_the_isotropic_theory_and_the_other_way(capfd: pytest.CaptureFixture[str]) -> None:
    drawn = {}
    for name, more in {
        "isotropic": ["--bulk-model", "isotropic", "--kind", "network"],
        "network": [],
        "features": ["--bulk-model", "network", "--kind", "srf"],
    }.items():
        code, out, _ = _run(capfd, [*STEPPED, *more, "--simulate", "60", "--json"])
        assert code == 0
        drawn[name] = json.loads(out)
    # The same network under two theories, and other features under one of them.
    assert drawn["isotropic"]["simulation"]["eigenvalues"] == drawn["network"]["simulation"]["eigenvalues"]
    assert drawn["isotropic"]["edges"] != drawn["network"]["edges"]
    assert drawn["features"]["edges"] == drawn["network"]["edges"]
    assert drawn["features"]["simulation"]["eigenvalues"] != drawn["network"]["simulation"]["eigenvalues"]


def test_gaussian_rows_share_the_support(capfd: pytest.CaptureFixture[str]) -> None:
    plain, rows = (json.loads(_run(capfd, [*DIRECT, *more, "--json"])[1]) for more in ([], ["--rows", "gaussian"]))
    assert plain["edges"] == rows["edges"]
    assert plain["outliers"][0]["per_sample"] == rows["outliers"][0]["per_sample"]
    assert plain["outliers"][0]["correction"] < rows["outliers"][0]["correction"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            [*STEPPED, "--bulk-model", "network", "--readout", "1:0.5,-1:0.5"],
            ("one readout group", "--bulk-model isotropic"),
        ),
        ([*DIRECT, "--kind", "network", "--simulate", "60"], ("--alpha0", "for example")),
        ([*DIRECT, "--kind", "equivalent", "--simulate", "60"], ("'equivalent'", "srf, network", "for example")),
    ],
)
def test_what_is_refused(arguments: list[str], words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = _run(capfd, arguments)
    assert code == 2
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_what_does_not_converge_says_so(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from giantsteps.numerics.spectrum import density as spectrum

    # Two panels are not enough for any density.
    monkeypatch.setattr(spectrum, "_MOST_PANELS", 0)
    monkeypatch.setattr(spectrum, "_FIRST_PANELS", 1)
    monkeypatch.setattr(spectrum, "_NODES", 3)
    code, out, _ = _afresh(capfd)
    assert code == 3
    assert "not converged" in out


def test_what_continuation_does_not_reach_says_so(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from giantsteps.numerics.spectrum import axis as spectrum_axis

    monkeypatch.setattr(spectrum_axis, "_MOST_CONTINUATIONS", 0)
    code, _, err = _afresh(capfd)
    assert code == 3
    assert "out of reach" in err
    # A document says so as well, with what was asked.
    code, out, err = _afresh(capfd, "--json")
    document = json.loads(out)
    assert (code, document["converged"]) == (3, False)
    assert document["status"] in err
    assert document["provenance"]["parameters"]["activation"] == "tanh(z)"


def test_what_plays_no_part_is_not_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    short = [word for name in ("--activation", "--alpha", "--beta", "--spike", "--bulk")
             for word in DIRECT[DIRECT.index(name) : DIRECT.index(name) + 2]]  # fmt: skip
    whole, least, other = (
        json.loads(_run(capfd, [*arguments, "--simulate", "60", "--json"])[1])
        for arguments in (DIRECT, short, [*short, "--target", "sign", "--noise", "3", "--ridge", "7"])
    )
    for found in (least, other):
        for name in ("edges", "density", "mass", "cumulative"):
            assert found[name] == whole[name]
        # The rule along the spike is cut where a target breaks: the same integral to rounding.
        for outlier, same in zip(found["outliers"], whole["outliers"], strict=True):
            assert outlier == pytest.approx(same, rel=1e-10)
    # What was not given is not said to have been; the sample is one of the same features.
    assert set(least["provenance"]["parameters"]) == {
        "activation", "alpha", "beta", "spike", "bulk", "simulate", "kind", "seed",
    }  # fmt: skip
    assert other["provenance"]["parameters"]["ridge"] == 7.0
    predicted = whole["simulation"]["predicted_outliers"]
    assert least["simulation"]["predicted_outliers"] == pytest.approx(predicted, rel=1e-10)
    # A step on labels needs to know them, and no ridge.
    stepped = [word for word in STEPPED if word not in ("--ridge", "0.1")]
    fitted, plain = (json.loads(_run(capfd, [*arguments, "--json"])[1]) for arguments in (STEPPED, stepped))
    assert fitted["density"] == plain["density"]


@pytest.mark.parametrize("name", ["activation", "alpha", "beta", "spike", "bulk"])
def test_what_plays_a_part_is_asked_for(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    place = DIRECT.index(f"--{name}")
    code, out, err = _run(capfd, [*DIRECT[:place], *DIRECT[place + 2 :]])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"--{name}" in err
    assert "--ridge" not in err
    code, _, err = _run(capfd, [word for word in STEPPED if word not in ("--target", "sign")])
    assert code == 2
    assert "missing: --target;" in err


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
    arguments = ["--activation", "he3", "--alpha", "0.5", "--beta", "1", "--spike", "1", "--bulk", "1"]
    sample = json.loads(_run(capfd, [*arguments, "--simulate", "200", "--json"])[1])["simulation"]
    assert sample["predicted_outliers"] == [pytest.approx(2328.0)]
    assert sample["outliers"] == [max(sample["eigenvalues"])]
    assert sample["largest_of_bulk"] == sorted(sample["eigenvalues"])[-2]

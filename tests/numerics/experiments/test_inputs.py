"""Inputs that are not Gaussian, rows that overlap, further gradient steps: what is drawn, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, norm, t, uniform

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes, overlapping_rows, unit_rows
from giantsteps.numerics.experiments.inputs import GAUSSIAN, LAWS, Inputs
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.reports.command_line.cli import run

TANH, SIN = activation("tanh"), activation("sin")
MODEL = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
NETWORK = Network(TANH, SIN, alpha=1.5, beta=0.5, ridge=0.1, alpha0=2.0, eta=3.0, noise=0.1)
SIZES = Sizes.rounded(40, alpha=1.5, beta=0.5, alpha0=2.0, fractions=(1.0,))


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_those_of_scipy(law: str) -> None:
    """Independent coordinates of variance one: a right law fails with probability 1e-4."""
    laws = {"gaussian": norm(), "uniform": uniform(-(3**0.5), 12**0.5), "student-t": t(5, scale=0.6**0.5)}
    x = Inputs(law).draw(np.random.default_rng(1), 200, 250)
    assert x.shape == (200, 250)
    if law == "rademacher":
        assert set(x.ravel()) == {-1.0, 1.0}
        assert abs(x.mean()) < 5 / x.size**0.5
    else:
        assert kstest(x.ravel(), laws[law].cdf).pvalue > 1e-4


def test_frames_are_axes_or_random_directions() -> None:
    rng = np.random.default_rng(0)
    assert np.array_equal(GAUSSIAN.frame(rng, 5, 2), np.eye(2, 5))
    assert np.array_equal(Inputs("uniform", "sparse").frame(rng, 5, 2), np.eye(2, 5))
    dense = Inputs("uniform").frame(rng, 500, 2)
    assert dense @ dense.T == pytest.approx(np.eye(2), abs=1e-14)
    # Coordinates of size d^-1/2: the largest of 1000 normal ones is under 5.5 with probability 1 - 4e-5.
    assert np.abs(dense).max() < 5.5 / 500**0.5


def test_a_rademacher_axis_makes_the_target_linear() -> None:
    """sin(x_1) = sin(1) x_1 for x_1 = +-1: a linear student learns it, which it cannot along a dense direction."""
    linear = replace(MODEL, activation=activation("z"), alpha=6.0, beta=2.0, ridge=1e-6, alignment=1.0)
    errors = {
        directions: simulate(linear, dimension=60, seeds=2, inputs=Inputs("rademacher", directions)).test_error.mean
        for directions in ("sparse", "dense")
    }
    assert errors["sparse"] < 1e-9
    assert errors["dense"] > 0.05  # E sin^2 - (E z sin)^2 = (1 - e^-2)/2 - e^-1 = 0.064 at least, in the limit


def test_overlapping_rows_have_their_overlap() -> None:
    rows = overlapping_rows(np.random.default_rng(0), 300, 200, 0.3)
    assert np.sum(rows**2, axis=1) == pytest.approx(np.ones(300), rel=1e-14)
    gram = (rows @ rows.T)[np.triu_indices(300, 1)]
    # The mean of w_i.w_j - 0.3 is 0.7 |sum u|^2/p^2 less the diagonal: of size 0.7/(p sqrt(d)) = 1.7e-4; five of it.
    assert abs(gram.mean() - 0.3) < 0.7 * 5 * 2**0.5 / (300 * 199**0.5)
    # Single pairs scatter by 0.7/sqrt(d - 1) = 0.0496; 44,850 of them, so within 2 per cent.
    assert gram.std() == pytest.approx(0.7 / 199**0.5, rel=0.02)
    # They share one direction exactly: after it is taken away the rows are no longer alike.
    values = np.linalg.eigvalsh(rows.T @ rows)
    assert values[-1] == pytest.approx(0.3 * 300, rel=0.05)
    assert np.array_equal(
        overlapping_rows(np.random.default_rng(3), 7, 5, 0.0), unit_rows(np.random.default_rng(3), 7, 5)
    )


@pytest.mark.parametrize(
    "changes", [{"overlap": 1.0}, {"overlap": -0.1}, {"overlap": 0.1, "gaussian_rows": True}, {"steps": 0}]
)
def test_impossible_networks_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SimulationError):
        replace(NETWORK, **changes)


MODEL_OPTIONS = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --dimension 20 --seeds 1"
SPIKED = f"{MODEL_OPTIONS} --spike 1 --bulk 1 --alignment 0.8"
STEPPED = f"{MODEL_OPTIONS} --alpha0 2 --eta 2 --kind network"


@pytest.mark.parametrize(
    "text",
    [
        "--inputs cauchy", "--inputs uniform --kind equivalent", "--directions up", "--initial-overlap 1",
        "--initial-overlap nan", "--initial-overlap 0.1", "--steps 0", "--steps 2",
    ],
)  # fmt: skip
def test_bad_options_are_one_sentence(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    bad = text.split()
    assert run(["simulate", *SPIKED.split(), *bad]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert bad[0] in err
    assert "for example" in err


def test_the_provenance_says_what_was_left(capfd: pytest.CaptureFixture[str]) -> None:
    import json

    options = "--inputs uniform --directions sparse --initial-overlap 0.2 --steps 2 --json"
    assert run(["simulate", *STEPPED.split(), *options.split()]) == 0
    parameters = json.loads(capfd.readouterr().out)["provenance"]["parameters"]
    expected = {"inputs": "uniform", "directions": "sparse", "initial_overlap": 0.2, "steps": 2}
    assert {name: parameters[name] for name in expected} == expected
    assert run(["simulate", *STEPPED.split(), "--json"]) == 0
    plain = json.loads(capfd.readouterr().out)
    assert plain["provenance"]["parameters"]["initial_overlap"] == 0.0

"""Models, networks and documents of several gradient steps: schedules, what they change, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantsteps import Model, ModelError, Network, ReadoutGroup, ReadoutLaw, certify, solve, solve_batch
from giantsteps.numerics.certificates.ranges.branch import certify_branch
from giantsteps.numerics.models.gradient_step import GradientStep
from giantsteps.numerics.models.network import SimulationError
from giantsteps.numerics.models.parameters import EXACT
from giantsteps.reports.command_line.cli import run
from tests.shared.refusals import refusal

GIVEN: dict[str, Any] = {
    "activation": "tanh", "target": "sin", "alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0,
    "steps": 2, "bulk_model": "isotropic",
}  # fmt: skip
OPTIONS = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"


def model(**more: Any) -> Model:
    return Model.from_gradient_step(**(GIVEN | more))


def test_the_error_on_the_isotropic_bulk_after_two_and_three_steps() -> None:
    assert solve(model()).test_error == pytest.approx(0.064416, abs=1e-6)
    three = solve(model(steps=3))
    assert (three.test_error, three.training_error) == pytest.approx((0.03467416, 0.01606927), abs=6e-9)
    assert 0.0 < three.error_estimate < 1e-9


def test_a_schedule_of_one_number_is_that_number() -> None:
    assert model(eta=(3.0, 3), alpha0=[2.0, 2.0]) == model()
    assert GradientStep(2, (3, 3), 2) == GradientStep(2.0, 3.0, 2)
    assert GradientStep((1, 2), 3, 2).schedule == ((1.0, 3.0), (2.0, 3.0))


@pytest.mark.parametrize(
    ("alpha0", "eta", "steps", "moved"), [
        (2.0, (3.0, 0.0, 0.0), 3, 0), (2.0, (0.0, 0.0, 3.0), 3, 2), ((0.0, 2.0), 3.0, 2, 1), (2.0, 0.0, 4, 4),
        (0.0, 3.0, 2, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("bulk_model", ["isotropic", "network"])
def test_steps_of_size_zero_leave_the_model_of_the_others(
    alpha0: Any, eta: Any, steps: int, moved: int, bulk_model: str
) -> None:
    one = model(eta=3.0 if moved < steps else 0.0, steps=1, bulk_model=bulk_model)
    padded = model(alpha0=alpha0, eta=eta, steps=steps, bulk_model=bulk_model)
    assert padded.states == ((0.0, 0.0, 1.0),) * moved + ((one.spike, one.alignment, one.bulk),) * (steps - moved)
    assert solve(padded).test_error == solve(one).test_error
    assert padded.warnings == one.warnings


def test_changes_map_through_all_steps_again() -> None:
    three = model(eta=(3.0, 2.0, 1.0), steps=3)
    assert three.changed(noise=0.2) == model(eta=(3.0, 2.0, 1.0), steps=3, noise=0.2)
    assert three.changed(ridge=0.2).states == three.states
    assert three.changed(eta=1.0, steps=2) == model(eta=1.0)
    given = three.as_given()
    assert (given.step, given.states, given.spike, given.uncertainty) == (None, (), three.spike, three.uncertainty)
    assert three.uncertainty != EXACT
    assert given.changed(beta=2.0).bulk == three.bulk
    with pytest.raises(ModelError, match="follow from its gradient step"):
        replace(three, spike=1.0)


def test_a_batch_of_models_has_the_numbers_of_each() -> None:
    etas = np.array([1.0, 2.5])
    found = solve_batch(model(steps=3), eta=etas, alpha=1.5, beta=1.0, ridge=0.1, noise=0.0)
    assert found.test_error == pytest.approx([solve(model(steps=3, eta=eta)).test_error for eta in etas], abs=1e-10)
    assert found.fixed["steps"] == 3.0


def test_networks_have_the_same_schedule() -> None:
    network = Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=(2.0, 1.0), eta=(3.0, 0.5), steps=2)
    assert network.model("isotropic") == model(alpha0=(2.0, 1.0), eta=(3.0, 0.5))
    assert "alpha0=2/1, eta=3/0.5, steps=2" in repr(network)
    assert "alpha0=2/1, eta=3/0.5, steps=2" in repr(network.model("isotropic"))


def test_unstable_steps_are_said_with_their_factor() -> None:
    (unstable, isotropic) = model(activation="relu", target="tanh", eta=12.0, steps=3).warnings
    assert "gradient step 2 is unstable: its eta/beta = 12 is above 2" in unstable
    assert "multiplies it by 7.869" in unstable
    assert "isotropic bulk is off" in isotropic
    assert not any("unstable" in one for one in model(activation="relu", target="tanh", eta=(12.0, 1.0)).warnings)


HALVES = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"readout": HALVES}, "more than one readout group"), ({"readout": ReadoutLaw()}, "a density"),
        ({"readout": (ReadoutGroup(1.0, 1.0, bias=0.3),)}, "a bias"), ({"readout": (ReadoutGroup(2.0),)}, "than ones"),
        ({"readout": (ReadoutGroup(1.0, bulk=2.0),)}, "than ones"), ({"eta": (1.0, 2.0, 3.0)}, "eta has 3 values"),
        ({"alpha0": (1.0,)}, "alpha0 has 1 values"), ({"steps": 0}, "steps = 0"), ({"steps": True}, "steps = True"),
        ({"eta": (1.0, -1.0)}, "eta = -1"), ({"same_batch": True, "steps": 3}, "two steps"),
        ({"same_batch": "yes"}, "True or False"), ({"activation": "exp(z**2/5)"}, "out of reach"),
        ({"activation": "sign"}, "sigma jumps"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_in_a_sentence(more: dict[str, Any], words: str) -> None:
    assert words in refusal(ModelError, lambda: model(**more))


def test_answers_that_need_one_step_say_so() -> None:
    several = model()
    given = several.as_given()
    told = f"give that state, spike={given.spike!r}, bulk={given.bulk!r}, alignment={given.alignment!r}"
    assert told in refusal(ModelError, lambda: solve(several, digits=20))
    assert float(solve(given, digits=20).test_error) == pytest.approx(solve(several).test_error, rel=1e-12)
    assert certify(several).status == "certified"
    assert certify_branch(several, "alpha", 1.5, 1.5001).certified_fraction == 1.0
    (piece,) = certify_branch(several, "eta", 1.0, 1.1).pieces
    assert "only supported along alpha, ridge" in piece.status
    network = Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=1.0, steps=2, overlap=0.1)
    assert "rows that overlap" in refusal(ModelError, network.model)
    assert "eta has 3 values" in refusal(SimulationError, lambda: replace(network, eta=(1.0, 2.0, 3.0)))


def test_documents_have_every_step(capfd: pytest.CaptureFixture[str]) -> None:
    words = f"solve {OPTIONS} --alpha0 2/4 --eta 3/1 --steps 2 --bulk-model isotropic --json"
    assert run(words.split()) == 0
    document = json.loads(capfd.readouterr().out)
    expected = model(alpha0=(2.0, 4.0), eta=(3.0, 1.0))
    assert document["steps"] == [dict(zip(("spike", "alignment", "bulk"), one, strict=True)) for one in expected.states]
    assert [document[name] for name in ("spike", "alignment", "bulk")] == list(document["steps"][-1].values())
    asked = document["provenance"]["parameters"]
    assert (asked["alpha0"], asked["eta"], asked["steps"]) == ([2.0, 4.0], [3.0, 1.0], 2)
    assert run(f"solve {OPTIONS} --alpha0 2 --eta 3 --json".split()) == 0
    assert len(json.loads(capfd.readouterr().out)["steps"]) == 1
    assert run(f"solve {OPTIONS} --spike 1 --bulk 1 --alignment 0.8 --json".split()) == 0
    assert "steps" not in json.loads(capfd.readouterr().out)


def test_steps_are_an_axis_of_a_sweep(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(f"solve {OPTIONS} --alpha0 2 --eta 3 --steps 1,2,3 --bulk-model isotropic --json --quiet".split()) == 0
    results = json.loads(capfd.readouterr().out)["results"]
    assert [len(one["steps"]) for one in results] == [1, 2, 3]
    file = tmp_path / "grid.toml"
    lines = [*(f"{name} = {GIVEN[name]!r}" for name in GIVEN if name not in ("eta", "steps")), "steps = [2, 3]"]
    file.write_text("\n".join([*lines, "eta = 3"]).replace("'", '"'), encoding="utf-8")
    assert run(["sweep", str(file), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    file.write_text("\n".join([*lines[:-1], "steps = 2", 'eta = "3/1"']).replace("'", '"'), encoding="utf-8")
    assert run(["sweep", str(file), "--out", str(tmp_path / "schedule"), "--quiet", "--json"]) == 0
    capfd.readouterr()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--spike 1 --bulk 1 --alignment 0.8 --steps 2", "--spike and --steps were both given"),
        ("--spike 1 --bulk 1 --alignment 0.8 --same-batch", "--spike and --same-batch were both given"),
        ("--alpha0 2 --eta 3 --steps 1.5", "a whole number from 1 to 1000"),
        ("--alpha0 2 --eta 3/1 --steps 3", "for example --eta 2/1 --steps 2"),
        ("--alpha0 2 --eta 3/x --steps 2", "one number for each gradient step"),
        (f"--alpha0 2 --eta {'2/' * 2000}2", "eta has 2001 values and there is 1 gradient step"),
        ("--alpha0 2 --eta 3 --steps 2 --same-batch --bulk-model network", "--bulk-model isotropic"),
        ("--alpha0 2 --eta 3 --gradient-steps 2", "it is called --steps here"),
        ("--alpha0 2 --eta 3 --steps 2 --bulk-model isotropic --bias 0.3:1", "use --steps 1"),
    ],
)
def test_bad_options_are_one_sentence(options: str, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(f"solve {OPTIONS} {options}".split()) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err

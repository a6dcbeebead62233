"""giantsteps solve: worked values, what the library says of the same model, sweeps, points that do not converge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from giantsteps import Model, ReadoutGroup, ReadoutLaw
from giantsteps.numerics.saddle_point.solve import solve
from tests.shared.command_line import PRINTED, STEPPED, WORKED, document, outcome, replaced

GIVEN: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
GROUPS = tuple(ReadoutGroup(u, 0.25, None, b) for u in (1.0, -0.7) for b in (0.4, -0.4))
PAIRS = (ReadoutGroup(1.0, 0.5, None, 0.3), ReadoutGroup(-0.7, 0.5, None, -0.3))
PLANE = (ReadoutGroup(1.5, 0.5, further_weights=(1.0,)), ReadoutGroup(1.5, 0.5, further_weights=(-1.0,)))
UNSOLVED = replaced("target", "exp(-sin(100*z)**2*10**8)")
ENDLESS = [*replaced("target", "he(2, z)", replaced("activation", "softplus")), "--bias", "learned"]


def test_solve_gives_the_worked_model(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *WORKED])
    # Worked values of an independent implementation of the fixed point, to the digits that it printed.
    assert found["test_error"] == pytest.approx(0.1258656085, abs=5e-11)
    assert found["training_error"] == pytest.approx(0.04535, abs=5e-6)
    order = found["order_parameters"]
    assert list(order) == list(PRINTED)
    for name, value in PRINTED.items():
        entry = order[name][0][0] if name in ("q1", "V1") else order[name][0]
        assert entry == pytest.approx(value, abs=6e-6), name  # half a unit of the last printed digit
    assert found["residual"] <= 1e-12
    assert found["warnings"] == []


@pytest.mark.parametrize(
    ("args", "values"),
    [
        # After a step with alpha0 = 2, eta = 3: an independent quadrature split at the jump.
        ([*STEPPED, "--bulk-model", "isotropic"],
         {"test_error": 0.657570, "spike": 1.937271, "bulk": 1.438857, "alignment": 0.748398}),
        # An independent implementation for u = (1, -1/2), c = (1, 1.3), half of the neurons each.
        ([*WORKED, "--readout", "1:0.5:1,-0.5:0.5:1.3"], {"test_error": 0.1278618}),
        ([*WORKED, "--alignment", "0.6/0.5", "--bulk", "1.1", "--readout", "1.5/1:0.5,1.5/-1:0.5"],
         {"test_error": 0.16090205}),
        # kappa -> -kappa maps (r, gamma) to (-r, -gamma); -tanh changes the sign of the readout.
        ([*WORKED, "--spike", "-1", "--alignment", "-0.8"], {"test_error": 0.1258656085}),
        ([*WORKED, "--activation", "-tanh(z)"], {"test_error": 0.1258656085}),
    ],
)  # fmt: skip
def test_worked_values_of_others(args: list[str], values: dict[str, float], capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *args])
    assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        (["--readout", "normal:0.8"], {"readout": ReadoutLaw("normal", 0.8)}),
        (["--readout", "uniform:1.7", "--alpha0", "2", "--eta", "3", "--bulk-model", "isotropic"],
         {"readout": ReadoutLaw("uniform", 1.7), "alpha0": 2.0, "eta": 3.0, "bulk_model": "isotropic"}),
        (["--alpha0", "2", "--eta", "3"], {"alpha0": 2.0, "eta": 3.0, "bulk_model": "network"}),
        (["--alpha0", "2", "--eta", "3", "--readout", "1:0.5,-0.7:0.5", "--bias", "0.4:0.5,-0.4:0.5"],
         {"alpha0": 2.0, "eta": 3.0, "bulk_model": "network", "readout": GROUPS}),
        (["--alpha0", "2", "--eta", "3", "--readout", "1:0.5::0.3,-0.7:0.5::-0.3"],
         {"alpha0": 2.0, "eta": 3.0, "bulk_model": "network", "readout": PAIRS}),
        (["--alpha0", "2", "--eta", "3", "--rows", "gaussian"],
         {"alpha0": 2.0, "eta": 3.0, "bulk_model": "network", "gaussian_rows": True}),
        (["--rows", "gaussian"], {"gaussian_rows": True}),
        (["--rows", "unit"], {}),
        (["--loss", "huber:0.5", "--noise", "0.1"], {"loss": "huber:0.5", "noise": 0.1}),
        (["--alignment", "0.6/0.5", "--readout", "1.5/1:0.5,1.5/-1:0.5"],
         {"alignment": 0.6, "further_alignments": (0.5,), "readout": PLANE}),
    ],
)  # fmt: skip
def test_options_mean_what_the_library_calls_them(
    more: list[str], changes: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    """In the document; its value at a width of ten to the eleven neurons is the limit."""
    if "eta" in changes:
        args = [*WORKED[: WORKED.index("--spike")], *more]
        given = {name: value for name, value in GIVEN.items() if name in ("alpha", "beta", "ridge")}
        model = Model.from_gradient_step("tanh", "sin", **(given | changes))
    else:
        args, model = [*WORKED, *more], Model("tanh", "sin", **(GIVEN | changes))
    solution = solve(model)
    found = document(capfd, ["solve", *args, "--width", str(10**11), "--quiet"])
    assert found["test_error"] == pytest.approx(solution.test_error, rel=1e-13)
    assert found["training_error"] == pytest.approx(solution.training_error, rel=1e-13)
    assert found["order_parameters"]["psi"] == solution.to_dict()["order_parameters"]["psi"]
    assert ("isotropic" in found) is ("eta" in changes)
    # Of order 1/p, and convex losses are solved to 1e-9; with ever more letters the means cost more, and the density's
    # limit is approached like a power of p that is less than one.
    close = 1e-5 if model.law is not None else 1e-8
    assert found["at_width"]["test_error"] == pytest.approx(found["test_error"], abs=close)


def test_the_value_of_the_paper_stands_beside_that_of_networks(capfd: pytest.CaptureFixture[str]) -> None:
    default, isotropic = (document(capfd, ["solve", *STEPPED, "--activation", "erf", *more])
                          for more in ([], ["--bulk-model", "isotropic"]))  # fmt: skip
    assert default["isotropic"] == {name: isotropic[name] for name in ("test_error", "training_error")}
    assert default["test_error"] != isotropic["test_error"]
    assert isotropic["isotropic"] is None
    swept = document(capfd, ["solve", *STEPPED, "--activation", "erf", "--eta", "1,3"])["results"]
    assert swept[1]["isotropic"]["test_error"] == pytest.approx(isotropic["test_error"], rel=1e-12)


def test_a_vector_spike_multiplies_the_letters(capfd: pytest.CaptureFixture[str]) -> None:
    plane = replaced("alignment", "0.6/0.5")
    errors = [
        document(capfd, ["solve", *plane, *more])["test_error"]
        for more in (
            ["--spike", "1.5/1"],
            ["--spike", "0.5", "--readout", "3/2:1"],
            ["--spike", "1.5/1", "--readout", "1:0.5,-1:0.5"],  # an odd student: u and -u are one letter
        )
    ]
    assert errors == pytest.approx([errors[0]] * 3, abs=1e-10)


def test_a_sweep_is_a_product_in_command_line_order(capfd: pytest.CaptureFixture[str]) -> None:
    args = "solve --target sin --ridge 0.1,1 --activation tanh --beta 1 --alpha 0.5:1.5:3"
    found = document(capfd, [*args.split(), "--spike", "1", "--bulk", "1", "--alignment", "0.8"])
    assert list(found["sweep"].items()) == [("ridge", [0.1, 1.0]), ("alpha", [0.5, 1.0, 1.5])]
    points = [(r["parameters"]["ridge"], r["parameters"]["alpha"]) for r in found["results"]]
    # The last one on the command line is the fastest.
    assert points == [(0.1, 0.5), (0.1, 1.0), (0.1, 1.5), (1.0, 0.5), (1.0, 1.0), (1.0, 1.5)]
    assert found["results"][2]["test_error"] == pytest.approx(0.1258656085, abs=5e-11)


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("alpha", "log:0.1:10:3", [0.1, pytest.approx(1.0, rel=1e-15), 10.0]),
        ("spike", "-1:1:3", [-1.0, 0.0, 1.0]),
        # Decimal steps are taken exactly: 0.1 + 0.4/2 is 0.3 and not its neighbour.
        ("ridge", "0.1:0.5:5", [0.1, 0.2, 0.3, 0.4, 0.5]),
    ],
)
def test_forms_of_a_sweep(name: str, text: str, values: list[float], capfd: pytest.CaptureFixture[str]) -> None:
    assert document(capfd, ["solve", *replaced(name, text)])["sweep"][name] == values


def test_points_solved_together_are_printed_like_single_ones(capfd: pytest.CaptureFixture[str]) -> None:
    base = replaced("target", "sign")
    for entry in document(capfd, ["solve", *base, "--alpha", "0.5:5:10", "--spike", "1,2"])["results"][::7]:
        point = entry.pop("parameters")
        alone = document(capfd, ["solve", *base, "--alpha", repr(point["alpha"]), "--spike", repr(point["spike"])])
        del alone["provenance"]
        # Residuals and estimates are at rounding, and differ; numbers agree up to the error of the quadrature.
        for one in (entry, alone):
            assert one.pop("residual") <= 1e-12
            assert one.pop("error_estimate") <= 1e-10
        assert list(entry) == list(alone)
        for name in ("order_parameters", "at_width"):
            assert _flat(entry.pop(name)) == pytest.approx(_flat(alone.pop(name)), rel=1e-9, abs=1e-10)
        assert {k: pytest.approx(v, rel=1e-9) if isinstance(v, float) else v for k, v in alone.items()} == entry


def _flat(found: Any) -> list[float]:
    if isinstance(found, dict | list):
        return [x for item in (found.values() if isinstance(found, dict) else found) for x in _flat(item)]
    return [found]


def test_a_point_without_a_solution_does_not_stop_a_sweep(capfd: pytest.CaptureFixture[str]) -> None:
    # At ridge = 0 the test error diverges where alpha = beta, and only there; else it is the limit of small ridges.
    args = ["solve", *replaced("ridge", "0,1e-9", replaced("alpha", "1,2"))]
    at, _, without, small = document(capfd, args, code=3)["results"]
    assert (at["converged"], at["test_error"], "diverges" in at["status"]) == (False, None, True)
    assert without["test_error"] == pytest.approx(small["test_error"], abs=1e-6)
    code, out, err = outcome(capfd, args)
    assert (code, err, len(out.splitlines())) == (3, "", 5)  # a header and every point


def test_what_does_not_converge_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *UNSOLVED], code=3)
    assert (found["converged"], found["at_width"]) == (False, None)
    assert "did not converge" in found["why"]


def test_a_learned_bias_is_that_of_lowest_energy_at_every_point(capfd: pytest.CaptureFixture[str]) -> None:
    model = [*replaced("target", "tanh(z - 1)"), "--bias", "learned"]
    swept = document(capfd, ["solve", *replaced("ridge", "0.01,3", model)])["results"]
    for ridge, found in zip(("0.01", "3"), swept, strict=True):
        alone = document(capfd, ["solve", *replaced("ridge", ridge, model)])
        learned = alone["learned_bias"]
        assert (alone["test_error"], learned) == (found["test_error"], found["learned_bias"])
        assert learned["energy"] == pytest.approx(min(minimum["energy"] for minimum in learned["minima"]))
    assert swept[0]["learned_bias"] != swept[1]["learned_bias"]


def test_a_learned_bias_without_an_end_is_no_solution(capfd: pytest.CaptureFixture[str]) -> None:
    # The energy of softplus learning he2 falls as far as biases are tried, and so does no bias learn it best.
    found = document(capfd, ["solve", *ENDLESS], code=3)
    assert (found["converged"], found["learned_bias"]["at_edge"]) == (False, True)
    assert found["status"].startswith("not converged: the training free energy still falls at the end of the scan")
    swept = document(capfd, ["solve", *replaced("ridge", "0.1,0.2", ENDLESS)], code=3)["results"]
    assert [point["converged"] for point in swept] == [False, False]


def test_the_same_command_prints_the_same_bytes_in_shortest_form(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capfd, ["solve", *WORKED, "--json"])
    assert outcome(capfd, ["solve", *WORKED, "--json"])[1] == out
    assert repr(json.loads(out)["test_error"]) in out


def test_gradients_stand_beside_the_solution_and_in_a_sweep(capfd: pytest.CaptureFixture[str]) -> None:
    """At eta = 0 no derivative in eta exists: null in a sweep; the others are those of single points."""
    stepped = ["--activation", "tanh", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1"]
    stepped += ["--alpha0", "2", "--gradient", "eta,ridge"]
    alone = document(capfd, ["solve", *stepped, "--eta", "3"])
    assert alone["gradient"]["eta"]["value"] == pytest.approx(0.00702063652234, rel=1e-8)
    assert 0.0 < alone["gradient"]["eta"]["error_estimate"] < 1e-9
    swept = document(capfd, ["solve", *stepped, "--eta", "0,3"])["results"]
    assert [point["gradient"] for point in swept] == [None, alone["gradient"]]
    code, out, _ = outcome(capfd, ["solve", *stepped, "--eta", "3"])
    assert (code, "d test error/d eta      0.00702063652" in out) == (0, True)
    assert "d/d eta" in outcome(capfd, ["solve", *stepped, "--eta", "0,3"])[1].splitlines()[0]

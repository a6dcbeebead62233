"""giantsteps solve: the worked models, sweeps, readouts, losses, and points that do not converge."""

from __future__ import annotations

import json

import pytest

from tests.shared.command_line import PRINTED, STEPPED, WORKED, document, outcome, refused, replaced


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
    assert found["converged"] is True
    assert (found["spike"], found["bulk"], found["alignment"]) == (1.0, 1.0, 0.8)
    assert found["provenance"]["parameters"]["activation"] == "tanh(z)"


def test_solve_maps_the_gradient_step(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *STEPPED, "--bulk-model", "isotropic"])
    # The worked values of tanh and sign after a step with alpha0 = 2, eta = 3: an independent quadrature split at the
    # jump.
    assert found["test_error"] == pytest.approx(0.657570, abs=1e-6)
    assert found["spike"] == pytest.approx(1.937271, abs=5e-7)
    assert found["bulk"] == pytest.approx(1.438857, abs=5e-7)
    assert found["alignment"] == pytest.approx(0.748398, abs=5e-7)


def test_numbers_are_in_shortest_round_trip_form(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capfd, ["solve", *WORKED, "--json"])
    parsed = json.loads(out)
    assert repr(parsed["test_error"]) in out


def test_solve_prints_for_people_what_it_prints_for_programs(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["solve", *WORKED])
    assert (code, err) == (0, "")
    assert "0.1258656085" in out  # the worked value, ten digits
    assert "converged" in out
    assert "\x1b" not in out


def test_a_sweep_is_a_product_in_command_line_order(capfd: pytest.CaptureFixture[str]) -> None:
    args = "solve --target sin --ridge 0.1,1 --activation tanh --beta 1 --alpha 0.5:1.5:3"
    found = document(capfd, [*args.split(), "--spike", "1", "--bulk", "1", "--alignment", "0.8"])
    assert found["sweep"] == {"ridge": [0.1, 1.0], "alpha": [0.5, 1.0, 1.5]}
    assert list(found["sweep"]) == ["ridge", "alpha"]
    points = [(r["parameters"]["ridge"], r["parameters"]["alpha"]) for r in found["results"]]
    # The last one on the command line is the fastest.
    assert points == [(0.1, 0.5), (0.1, 1.0), (0.1, 1.5), (1.0, 0.5), (1.0, 1.0), (1.0, 1.5)]
    assert found["results"][2]["test_error"] == document(capfd, ["solve", *WORKED])["test_error"]


def test_sweep_forms(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("alpha", "log:0.1:10:3")])
    assert found["sweep"]["alpha"] == [0.1, pytest.approx(1.0, rel=1e-15), 10.0]
    found = document(capfd, ["solve", *replaced("spike", "-1:1:3")])
    assert found["sweep"]["spike"] == [-1.0, 0.0, 1.0]
    # Decimal steps are taken exactly: 0.1 + 0.4/2 is 0.3 and not its neighbour.
    found = document(capfd, ["solve", *replaced("ridge", "0.1:0.5:5")])
    assert found["sweep"]["ridge"] == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_readout_of_two_groups(capfd: pytest.CaptureFixture[str]) -> None:
    without_bulk = [a for k, a in enumerate(WORKED) if "--bulk" not in (a, WORKED[k - 1])]
    groups = [*without_bulk, "--readout", "1:0.5:1,-0.5:0.5:1.3"]
    found = document(capfd, ["solve", *groups])
    # Worked value of an independent implementation for u = (1, -1/2), c = (1, 1.3), half of the neurons each.
    assert found["test_error"] == pytest.approx(0.1278618, abs=5e-8)
    assert found["bulk"] == [1.0, 1.3]
    assert [len(row) for row in found["order_parameters"]["q1"]] == [2, 2]


@pytest.mark.parametrize(
    "text", ["", "1", "1:0.5", "1:0.5,x:0.5", "1:nan,1:0.5", "1:0.5:0,1:0.5", "1:-1,1:2", "1:0.1:1:1:1,1:0.9"]
)
def test_a_bad_readout_is_refused(capfd: pytest.CaptureFixture[str], text: str) -> None:
    refused(capfd, ["solve", *WORKED, "--readout", text], "--readout", "for example")


def test_every_point_is_printed_when_one_does_not_converge(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    import giantsteps.numerics.saddle_point.solve
    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.models.solution import Solution

    honest = giantsteps.numerics.saddle_point.ridge.solve

    def failing(model: Model) -> Solution:
        solution = honest(model)
        if model.alpha != 1.0:
            return solution
        return replace(
            solution,
            converged=False,
            status="not converged: a test says so",
            test_error=float("inf"),
            residual=float("nan"),
        )

    monkeypatch.setattr(giantsteps.numerics.saddle_point.solve, "solve", failing)
    found = document(capfd, ["solve", *replaced("alpha", "0.5,1,1.5")], code=3)
    assert [r["converged"] for r in found["results"]] == [True, False, True]
    failed = found["results"][1]
    assert failed["test_error"] == {"infinite": True, "reason": "not converged: a test says so"}
    assert failed["residual"] is None
    code, out, _ = outcome(capfd, ["solve", *replaced("alpha", "0.5,1,1.5")])
    assert code == 3
    assert out.count("converged") == 3


def test_a_point_without_a_solution_does_not_stop_a_sweep(capfd: pytest.CaptureFixture[str]) -> None:
    # At ridge = 0 the test error diverges where alpha = beta, and only there.
    args = ["solve", *replaced("ridge", "0", replaced("alpha", "0.5,1,2"))]
    found = document(capfd, args, code=3)["results"]
    assert [r["converged"] for r in found] == [True, False, True]
    assert found[1]["test_error"] is None
    assert "diverges" in found[1]["status"]
    code, out, err = outcome(capfd, args)
    assert (code, err) == (3, "")
    assert len(out.splitlines()) == 4  # a header and every point
    refused(capfd, ["solve", *replaced("ridge", "0", replaced("alpha", "1"))], "ridge = 0")


def test_an_expression_may_begin_with_minus(capfd: pytest.CaptureFixture[str]) -> None:
    # -tanh is tanh with the readout's sign changed: the same errors (both m and mu0 flip).
    flipped = document(capfd, ["solve", *replaced("activation", "-tanh(z)")])
    assert flipped["test_error"] == pytest.approx(document(capfd, ["solve", *WORKED])["test_error"], rel=1e-12)


def test_negative_numbers_are_values_not_options(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("alignment", "-0.8", replaced("spike", "-1"))])
    # kappa -> -kappa maps (r, gamma) to (-r, -gamma): the same problem.
    assert found["test_error"] == pytest.approx(0.1258656085, abs=5e-11)


def test_the_same_command_prints_the_same_bytes(capfd: pytest.CaptureFixture[str]) -> None:
    assert outcome(capfd, ["solve", *WORKED, "--json"]) == outcome(capfd, ["solve", *WORKED, "--json"])


def test_other_losses_and_biases(capfd: pytest.CaptureFixture[str]) -> None:
    signs = replaced("target", "sign")
    found = document(capfd, ["solve", *signs, "--loss", "logistic"])
    assert found["loss"] == "logistic"
    assert {"mean_squared_error", "classification_error"} <= set(found)
    # Two equal halves are one group: the fit of yhat does not depend on how neurons are counted.
    split = document(capfd, ["solve", *WORKED, "--bias", "0.3:0.5,0.3:0.5"])
    whole = document(capfd, ["solve", *WORKED, "--bias", "0.3:1"])
    assert split["test_error"] == pytest.approx(whole["test_error"], abs=1e-10)
    learned = document(capfd, ["solve", *replaced("target", "he2"), "--bias", "learned"])["learned_bias"]
    assert learned["bias"] == max(minimum["bias"] for minimum in learned["minima"])
    refused(capfd, ["solve", *WORKED, "--bias", "0.3:2"], "--bias", "for example")
    refused(capfd, ["solve", *WORKED, "--readout", "1:1:1:0.2", "--bias", "0.3:1"], "--bias", "--readout")


def test_a_learned_bias_without_an_end_is_no_solution(capfd: pytest.CaptureFixture[str]) -> None:
    # The energy of softplus learning he2 falls as far as biases are tried, and so does no bias learn it best.
    given = [
        "solve", "--activation", "softplus", "--target", "he(2, z)", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1",
        "--spike", "1", "--bulk", "1", "--alignment", "0.8", "--bias", "learned",
    ]  # fmt: skip
    code, out, _ = outcome(capfd, given)
    sentence = "not converged: the training free energy still falls at the end of the scan: no finite bias is best"
    assert code == 3
    assert sentence in out
    code, out, _ = outcome(capfd, [*given, "--json"])
    found = json.loads(out)
    assert (code, found["converged"], found["learned_bias"]["at_edge"]) == (3, False, True)
    assert found["status"].startswith(sentence)
    code, out, _ = outcome(capfd, [*[x if x != "0.1" else "0.1,0.2" for x in given], "--json"])
    assert (code, [point["converged"] for point in json.loads(out)["results"]]) == (3, [False, False])

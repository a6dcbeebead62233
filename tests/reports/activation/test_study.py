"""The page of one activation: JSON, certified digits, closed forms, learning and warnings; adversarial functions."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import mpmath
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.reports.activation.page import study_text
from giantsteps.reports.activation.study import examine


def page(text: str, **options: Any) -> dict[str, Any]:
    """The JSON document, after a round trip that refuses NaN and infinity."""
    document = examine(activation(text), **options).as_dict()
    found: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False))
    return found


def number(entry: dict[str, Any]) -> mpmath.mpf:
    """The midpoint of a printed ball."""
    return mpmath.mpf(entry["ball"].strip("[").split(" ")[0]) if entry["ball"] != "0" else mpmath.mpf(0)


def test_erf_learns_itself_perfectly() -> None:
    document = page("erf(z)", bulk=1.0)
    # mu0 = erf(r kappa/sqrt(1 + 2c)): equal to erf at r = sqrt(3) for c = 1, by the closed form.
    assert document["learning"]["best_spike"] == pytest.approx(math.sqrt(3), abs=1e-5)
    assert document["learning"]["perfect"] is True
    assert "r^2 = 3" in document["learning"]["perfect_because"]
    assert document["proof"]["status"] == "proved"
    assert document["information_exponent"] == 1
    assert document["parity"] == "odd"
    assert document["warnings"] == []


def test_sign_has_an_infinite_constant_and_says_what_follows() -> None:
    document = page("sign(z)")
    assert document["coefficients"]["h1_check"]["infinite"] is True
    assert any("Result 3.1 does not apply" in warning for warning in document["warnings"])
    assert document["coefficients"]["h1"]["closed_form"] == "sqrt(2)/sqrt(pi)"
    assert document["coefficients"]["h1"]["proof"] == "proved"
    assert document["breakpoints"] == ["jump at z = 0"]


def test_a_kink_close_to_zero() -> None:
    # Max(z - t, 0): h1 = P(z > t) = erfc(t/sqrt 2)/2.
    document = page("Max(z - 1/10**9, 0)")
    with mpmath.workdps(40):
        expected = mpmath.erfc(mpmath.mpf(10) ** -9 / mpmath.sqrt(2)) / 2
        assert abs(number(document["coefficients"]["h1"]) - expected) < mpmath.mpf(10) ** -29


def test_growth_that_leaves_a_second_moment_or_none() -> None:
    finite = page("exp(z**2/5)", spike=0.0)
    # E exp(2 z^2/5) = (1 - 4/5)^{-1/2} = sqrt(5)
    assert finite["coefficients"]["h2"]["closed_form"] == "sqrt(5)"
    assert finite["bounds"]["upper"] is not None
    assert page("exp(z**2/5)", spike=1.0)["bounds"]["upper"] is None  # r^2 + c = 2 >= 5/4
    infinite = page("exp(z**2/3)")
    assert infinite["coefficients"]["h2"]["infinite"] is True
    assert any("E[sigma^2] is infinite" in warning for warning in infinite["warnings"])
    with pytest.raises(ExpressionError, match="infinite"):
        activation("exp(z**2)")


def test_the_page_says_each_number_of_the_document_under_its_name() -> None:
    document = examine(activation("relu(z)"), activation("sin(z)"), orders=4, spike=0.8, bulk=1.2).as_dict()
    said = dict(re.findall(r"^  (\S.*?) {2,}(\S.*)$", study_text(document), flags=re.MULTILINE))
    coefficients, learning = document["coefficients"], document["learning"]
    named = {"h1 = E[z sigma]": "h1", "h2 = E[sigma^2]": "h2", "E[(sigma' - h1)^2]": "h1_check"}
    entries = {name: coefficients[key] for name, key in named.items()}
    entries |= {f"s_{one['order']}": one for one in coefficients["hermite"]}
    for name, entry in entries.items():
        assert said[name].split(" = ")[0] == entry["ball"]
        assert entry["ball"] == "0" or said[name].endswith(f" = {entry['closed_form']}  ({entry['proof']})")
    forms = {"mu0(x, c)": "mu0", "mu1(x, c)": "mu1", "E[sigma^2](x, c)": "second_moment"}
    assert {name: said[name] for name in forms} == {name: document["closed_forms"][key] for name, key in forms.items()}
    square = learning["target_square"]
    for name, value in (("upper bound", document["bounds"]["upper"]), ("lower bound", document["bounds"]["lower"])):
        assert said[name].startswith(f"{value:.7g} ({100 * value / square:.3g} %)")
    # E[sin^2], by hand, to the digits printed.
    assert float(said["E[g^2]"].split()[0]) == pytest.approx((1.0 - math.exp(-2.0)) / 2.0, rel=1e-6)
    assert said["best spike"].startswith(f"r = {learning['best_spike']:.6g}")
    assert f"upper bound {learning['upper_at_best_spike']:.7g} " in said["best spike"]
    assert "Learning g(z) = sin(z) at r = 0.8, c = 1.2, alignment 1" in study_text(document)
    assert (said["parity"], said["growth"]) == (document["parity"], document["growth"])


def test_a_target_without_a_linear_part_is_not_found_by_one_step() -> None:
    text = study_text(examine(activation("tanh(z)"), activation("he3(z)")).as_dict())
    assert "no: E[z g] = 0, and the alignment is 0" in text
    assert "yes: h1 is not zero" in text
    assert "yes: E[z g] is not zero" in study_text(examine(activation("tanh(z)"), activation("sin(z)")).as_dict())


def test_the_page_tells_the_limit_on_the_time_from_that_on_the_operations() -> None:
    sigma = activation("tanh(z)")
    late, worked = examine(sigma, seconds=0.0), examine(sigma, operations=0)
    assert late.out_of_time == tuple(dict.fromkeys(late.out_of_time))
    assert set(late.out_of_time) <= set(late.unfinished)
    assert "bounds" in late.out_of_time
    assert worked.unfinished
    assert worked.out_of_time == ()
    texts = [study_text(one.as_dict()) for one in (late, worked)]
    assert ["a larger --time-limit helps" in text for text in texts] == [True, False]
    assert ["limit on the processor time was reached" in text for text in texts] == [True, False]
    assert ["which --time-limit does not move" in text for text in texts] == [False, True]

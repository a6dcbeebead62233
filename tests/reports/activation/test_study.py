"""The page of one activation: JSON, certified digits, closed forms, learning and warnings; adversarial functions."""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
from typing import Any

import mpmath
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms.heat_equation import closed_forms
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.balls.coefficients import Certified
from giantsteps.reports.activation.formulas import Constant, Formulas
from giantsteps.reports.activation.page import _number
from giantsteps.reports.activation.study import examine, study, study_text
from giantsteps.reports.command_line.machine.allowance import OutOfTimeError


def page(text: str, **options: Any) -> dict[str, Any]:
    """The JSON document, after a round trip that refuses NaN and infinity."""
    document = study(activation(text), **options)
    found: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False))
    return found


def number(entry: dict[str, Any]) -> mpmath.mpf:
    """The midpoint of a printed ball."""
    return mpmath.mpf(entry["ball"].strip("[").split(" ")[0]) if entry["ball"] != "0" else mpmath.mpf(0)


def test_the_document_has_the_keys_of_the_contract() -> None:
    document = page("erf(z)")
    assert {
        "expression", "parity", "breakpoints", "growth", "analytic_strip", "coefficients", "information_exponent",
        "closed_forms", "proof", "bounds", "spike_emerges", "warnings",
    } <= set(document)  # fmt: skip
    assert {"h1", "h2", "h1_check", "hermite"} <= set(document["coefficients"])
    assert {"ball", "digits", "closed_form", "proof"} <= set(document["coefficients"]["h1"])
    assert {"mu0", "mu1", "second_moment"} <= set(document["closed_forms"])
    assert {"status", "obligations"} <= set(document["proof"])


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


def test_erf_at_another_bulk() -> None:
    assert "r^2 = 5/2" in page("erf(z)", bulk=0.75)["learning"]["perfect_because"]  # 1 + 2c


def test_sign_has_an_infinite_constant_and_says_what_follows() -> None:
    document = page("sign(z)")
    assert document["coefficients"]["h1_check"]["infinite"] is True
    assert any("Result 3.1 does not apply" in warning for warning in document["warnings"])
    assert document["coefficients"]["h1"]["closed_form"] == "sqrt(2)/sqrt(pi)"
    assert document["coefficients"]["h1"]["proof"] == "proved"
    assert document["breakpoints"] == ["jump at z = 0"]


def test_tanh_has_no_closed_form_and_thirty_certain_digits() -> None:
    document = page("tanh(z)")
    assert document["closed_forms"] is None
    assert "tanh(z)" in document["why"]
    assert document["proof"]["status"] == "inconclusive"
    # E[sech^2 z] by Stein's lemma, with mpmath's own quadrature at 40 digits: another integrand, another algorithm.
    with mpmath.workdps(40):
        expected = mpmath.quad(lambda z: mpmath.sech(z) ** 2 * mpmath.npdf(z), [-14, -4, 0, 4, 14])
        assert abs(number(document["coefficients"]["h1"]) - expected) < mpmath.mpf(10) ** -29
    assert document["coefficients"]["h1"]["digits"] == 30


def test_a_symmetric_activation_gives_no_spike() -> None:
    document = page("z*erf(z)")
    assert document["parity"] == "even"
    assert document["coefficients"]["h1"]["ball"] == "0"
    assert document["spike_emerges"] is False
    assert document["information_exponent"] == 2
    assert any("no spike" in warning for warning in document["warnings"])
    assert any("not odd" in warning for warning in document["warnings"])


def test_the_information_exponent_of_a_high_hermite_polynomial() -> None:
    assert page("he12(z)")["information_exponent"] == 12


def test_a_coefficient_far_below_the_precision_is_not_called_zero() -> None:
    # h1 = 200 exp(-20000) for sin(200 z): the ball of the integral holds zero, the proved closed form does not.
    document = page("sin(200*z)")
    with mpmath.workdps(40):
        expected = 200 * mpmath.exp(-20000)
        assert abs(number(document["coefficients"]["h1"]) / expected - 1) < mpmath.mpf(10) ** -28
    assert document["spike_emerges"] is True


def test_a_narrow_spike_far_out() -> None:
    # E[z exp(-(z-8)^2 10^6)] in closed form by hand: a Gaussian of variance v = 1/(2 10^6) at 8 times the density.
    document = page("exp(-(z-8)**2*10**6)")
    with mpmath.workdps(40):
        v = mpmath.mpf(1) / (2 * 10**6)
        expected = mpmath.sqrt(v / (1 + v)) * mpmath.exp(-mpmath.mpf(64) / (2 * (1 + v))) * 8 / (1 + v)
        assert abs(number(document["coefficients"]["h1"]) / expected - 1) < mpmath.mpf(10) ** -28


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


@pytest.mark.parametrize(("text", "bulk", "end"), [("exp(z**2/8)", 0.5, 1.5), ("z*exp(z**2/20)", 2.0, 3.0)])
def test_the_best_spike_is_looked_for_wherever_the_second_moment_is_finite(text: str, bulk: float, end: float) -> None:
    # E exp(2 q (r kappa + sqrt(c) z)^2) is finite for r^2 < 1/(4q) - c = end, and a tenth of the way is left free.
    document = page(text, target=activation("sin"), spike=0.2, bulk=bulk)
    learning = document["learning"]
    assert learning["upper_at_best_spike"] is not None
    assert learning["largest_spike"] == pytest.approx(0.9 * math.sqrt(end), rel=1e-12)
    assert f"no: the upper bound stays positive up to r = {0.9 * math.sqrt(end):.4g}" in study_text(document)


def test_the_digits_asked_for_are_printed() -> None:
    document = page("erf(z)", digits=60)
    with mpmath.workdps(80):
        assert abs(number(document["coefficients"]["h1"]) - 2 / mpmath.sqrt(3 * mpmath.pi)) < mpmath.mpf(10) ** -59
    assert document["coefficients"]["h1"]["digits"] == 60


def test_another_target() -> None:
    document = page("erf(z)", target=activation("sin(z)"))
    assert document["target"] == "sin(z)"
    assert document["bounds"]["lower"] <= document["bounds"]["upper"]
    assert document["learning"]["perfect"] is False


def test_the_page_for_people() -> None:
    text = study_text(study(activation("relu(z)")))
    assert "h1 = E[z sigma]" in text
    assert "proved" in text
    assert "Warnings" in text
    assert "nan" not in text.lower().split()


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


def test_data_and_document_agree() -> None:
    found = examine(activation("hardtanh(z)"))
    assert found.as_dict()["spike_emerges"] is found.spike_emerges is True
    assert found.h1.closed_form == "erf(sqrt(2)/2)"


def test_tanh_is_examined_fast() -> None:
    # The command has 3 s in all; a fresh process has the interpreter and the imports in it. Processor time, so that
    # what else the machine does is left out.
    code = (
        "from giantsteps import activation; from giantsteps.reports.activation.study import study; "
        "study(activation('tanh(z)'))"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3.0


def test_an_interruption_keeps_the_balls_and_the_closed_forms_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Formulas.constant

    def until_the_third(formulas: Formulas, name: str, certified: Certified) -> Constant | None:
        if name == "s_3" and formulas.forms is not None:
            raise OutOfTimeError
        return whole(formulas, name, certified)

    monkeypatch.setattr(Formulas, "constant", until_the_third)
    found = examine(activation("relu(z)"), seconds=60.0)
    assert found.unfinished == ("Hermite coefficients",)
    assert all(s.certified.ball is not None for s in found.hermite)
    assert [s.closed_form is not None for s in found.hermite] == [True] * 3 + [False] * 6


def test_closed_forms_hold_where_the_narrowest_of_them_does() -> None:
    forms = closed_forms(activation("exp(z**2/5)"))
    for names, below in ((("mu0",), "5/2"), (("mu0", "second_moment"), "5/4"), (("second_moment", "mu0"), "5/4")):
        found = Formulas(forms, {name: getattr(forms, name) for name in names}, (), "proved")
        assert found.as_dict()["closed_forms"]["holds_for"] == f"0 < c < {below}"


def test_more_orders_on_request() -> None:
    found = examine(activation("relu(z)"), orders=14)
    assert len(found.hermite) == 15
    # s_14 = (-1)^{k/2 + 1} (k - 3)!!/sqrt(2 pi k!) at k = 14, from relu'' = delta by parts
    with mpmath.workdps(40):
        expected = mpmath.fac2(11) / mpmath.sqrt(2 * mpmath.pi * mpmath.factorial(14))
        assert abs(number(found.as_dict()["coefficients"]["hermite"][14]) - expected) < mpmath.mpf(10) ** -29
    assert len(examine(activation("relu(z)"), orders=0).hermite) == 2  # at least to the first that is not zero


def test_tiny_means_are_told_as_numbers() -> None:
    # E[erf(z - 40) + 1] = erfc(40/sqrt 3) = 5.8e-234, and E[sigma''] = sqrt(2) s_2 with s_2 = 2.9e-231: no zeros.
    (said, *_) = page("erf(z - 40) + 1")["warnings"]
    assert "E[sigma] = 5.80491e-234" in said
    assert "E[sigma''] = 4.13180e-231" in said
    (said, *_) = page("z**2 - 1")["warnings"]
    assert "E[sigma] = 0," in said
    assert "E[sigma''] = 2.00000," in said


def test_a_target_without_a_linear_part_is_not_found_by_one_step() -> None:
    text = study_text(study(activation("tanh(z)"), activation("he3(z)")))
    assert "no: E[z g] = 0, and the alignment is 0" in text
    assert "yes: h1 is not zero" in text
    assert "yes: E[z g] is not zero" in study_text(study(activation("tanh(z)"), activation("sin(z)")))


def test_a_bound_far_above_the_range_of_floats() -> None:
    # 2000 (z + 1): the constant of the growth bound is exp(2000), beyond double precision.
    document = page("exp(3*(z + 200))")
    assert "exp(3 |z|)" in document["growth"]
    assert "e+260" in document["growth"]
    assert "overflows double precision" in document["bounds"]["why"]
    assert str(activation("sinh(1000*(z - 1))").growth).count("e+868") == 1


def test_a_shifted_narrow_peak_has_its_slope_certified() -> None:
    document = page("1/cosh(1000*(z - 2))")
    with mpmath.workdps(40):
        ends = [2 + s * mpmath.mpf(k) / 1000 for s in (-1, 1) for k in (100, 30, 10, 3, 1)]
        ends = sorted([*ends, mpmath.mpf(2)])

        def slope(z: mpmath.mpf) -> mpmath.mpf:
            return 1000 * mpmath.sech(1000 * (z - 2)) * mpmath.tanh(1000 * (z - 2))

        square = mpmath.quad(lambda z: slope(z) ** 2 * mpmath.npdf(z), ends)
        mean = mpmath.quad(lambda z: z * mpmath.sech(1000 * (z - 2)) * mpmath.npdf(z), ends)
        found = number(document["coefficients"]["h1_check"])
        # sech^2 beyond 100 widths is below 1e-80 and sech below 1e-43; the rule reaches 1e-28 on these panels
        assert abs(found / (square - mean**2) - 1) < mpmath.mpf(10) ** -25


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


@pytest.mark.parametrize(
    ("ball", "closed", "said"),
    [
        ("0.5", None, "0.5"),
        ("0.5", "0.5", "0.5"),
        ("[0.33 +/- 4e-3]", "1/3", "[0.33 +/- 4e-3] = 1/3  (proved)"),
        ("0", "exp(-4)*sin(3) - exp(-4)*sin(3)", "0  (proved)"),
        ("[1.0 +/- 1e-2]", "x" * 240, f"[1.0 +/- 1e-2] = {'x' * 240}  (proved)"),
        ("[1 +/- 1e-2]", "x" * 241, "[1 +/- 1e-2] = a closed form of 241 letters, which --json writes out  (proved)"),
    ],
)
def test_a_number_stands_beside_a_closed_form_that_a_person_reads(ball: str, closed: str | None, said: str) -> None:
    assert _number({"ball": ball, "closed_form": closed, "proof": "proved"}) == said

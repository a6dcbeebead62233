"""Results in a notebook: tables, frames and drawings of what a user gets back."""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import giantsteps
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, target_moments

ALPHAS, RIDGES = np.geomspace(0.2, 5.0, 9), np.array([0.01, 0.1, 1.0])


@cache
def model() -> giantsteps.Model:
    return giantsteps.Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)  # type: ignore[arg-type]


@cache
def results() -> dict[str, Any]:
    """One of each kind."""
    halves = (giantsteps.ReadoutGroup(1.0, 0.5), giantsteps.ReadoutGroup(-0.5, 0.5))
    return {
        "solution": giantsteps.solve(model()),
        "groups": giantsteps.solve(model().changed(readout=halves)),
        "law": giantsteps.solve(model().changed(readout=giantsteps.ReadoutLaw("normal", 0.8))),
        "digits": giantsteps.solve(model(), digits=20),
        "batch": giantsteps.solve_batch(model(), alpha=ALPHAS),
        "grid": giantsteps.solve_batch(model(), ridge=RIDGES[:, None], alpha=ALPHAS),
        "bounds": giantsteps.bounds(model()),
        "spectrum": giantsteps.spectrum(model()),
        "simulation": giantsteps.simulate(model(), dimension=20, seeds=3),
        "certificate": giantsteps.certify(model()),
        "comparison": giantsteps.compare(model(), dimensions=(10, 20, 40), seeds=3),
    }


DRAWN = ("solution", "groups", "batch", "grid", "bounds", "spectrum", "simulation", "comparison")
KINDS = (*DRAWN, "law", "digits", "certificate")


class Table(HTMLParser):
    """The cells of a table by row, and whether its tags are balanced."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_table_of_its_numbers(kind: str) -> None:
    result = results()[kind]
    table = Table(result._repr_html_())
    assert table.open == []
    columns = result._columns()
    names = [row[0] for row in table.rows] if len(next(iter(columns.values()))) == 1 else table.rows[0]
    assert names == list(columns)
    assert len({len(column) for column in columns.values()}) == 1


def test_the_numbers_of_the_table_are_those_of_the_result() -> None:
    rows = dict(Table(results()["solution"]._repr_html_()).rows)
    assert rows["test_error"] == "0.12586561"
    groups = dict(Table(results()["groups"]._repr_html_()).rows)
    assert float(groups["m[1]"]) == pytest.approx(results()["groups"].order_parameters.m[1], rel=1e-7)  # printed digits
    assert {"q1[0,1]", "zeta[0]"} <= set(groups)
    # A grid has its parameters beside its numbers, in the order of its points, and says what is left out.
    first, *points, last = Table(results()["grid"]._repr_html_()).rows
    assert first[:3] == ["alpha", "ridge", "test_error"]
    assert [row[1] for row in points] == ["0.01"] * 9 + ["0.1"] * 3
    assert last == ["15 more rows: to_frame() has all"]
    assert "<script>" not in giantsteps.simulate(model(), dimension=10, seeds=1)._repr_html_()


def test_a_certificate_shows_its_balls_or_says_why_it_has_none() -> None:
    rows = dict(Table(results()["certificate"]._repr_html_()).rows)
    assert rows["status"] == "certified"
    assert rows["test_error"] == results()["certificate"].texts(20)["test_error"]
    without = giantsteps.certify(model().changed(spike=0.0, ridge=0.0))
    assert not without.certified
    assert Table(without._repr_html_()).rows == [["status", without.status]]


def test_a_solution_is_a_formula() -> None:
    assert results()["solution"]._repr_latex_() == r"$\varepsilon_g = 0.125866,\quad \varepsilon_t = 0.0453509$"


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_frame"), ("matplotlib", "plot")])
@pytest.mark.parametrize("kind", ["solution", "comparison"])
def test_a_package_that_is_missing_is_named_in_a_sentence(
    package: str, method: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{method}\(\) needs {package}.*pip install") as caught:
        getattr(results()[kind], method)()
    assert caught.value.name == package


def drawn(which: str, **choices: Any) -> Any:
    return results()[which].plot(Figure().subplots(), **choices)


ALONG = (r"projection on the spike $\kappa$", "value", ("learned along the spike", "mean of the target there"))
# Under, beside and in each drawing: what is across, what is up, the words of the legend.
WORDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "solution": ALONG,
    "groups": ALONG,
    "batch": ("alpha", "test error", ()),
    "grid": ("alpha", "test error", ("ridge = 0.01", "ridge = 0.1", "ridge = 1")),
    "bounds": (r"ridge $\lambda$", "test error", ("upper bound", "lower bound", "minima at a ridge")),
    "spectrum": ("eigenvalue", "density", ()),
    "simulation": ("", "error", ()),
    "comparison": ("1/d", "test error", ("theory at the realised ratios", "limit", "fitted", "simulation")),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_each_result_is_drawn_with_a_title_and_named_coordinates(kind: str) -> None:
    axes = drawn(kind)
    title = axes.get_title().replace("\n", " ")
    fixed = ("beta=1", "ridge=0.1", "spike=1", "bulk=1", "alignment=0.8")
    free = {"grid": ("ridge=0.1",), "bounds": ("ridge=0.1",), "spectrum": ("ridge=0.1",)}.get(kind, ())
    assert "tanh(z) learns sin(z)" in title
    assert [number for number in fixed if number not in title] == [*free]
    across, up, legend = WORDS[kind]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (across, up)
    shown = [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []
    assert [text.rpartition(" bound ")[0] + " bound" if " bound " in text else text for text in shown] == [*legend]
    assert axes.lines or axes.collections


def test_curves_or_a_map_as_asked_for() -> None:
    curves, heat = drawn("grid"), drawn("grid", kind="map", quantity="m")
    assert [line.get_ydata().tolist() for line in curves.lines] == results()["grid"].test_error.tolist()
    assert [text.get_text() for text in curves.get_legend().get_texts()] == ["ridge = 0.01", "ridge = 0.1", "ridge = 1"]
    assert curves.get_xscale() == "log"
    assert heat.collections[0].get_array().ravel().tolist() == results()["grid"].m.ravel().tolist()
    assert (heat.get_xlabel(), heat.get_ylabel(), heat.get_yscale()) == ("alpha", "ridge", "log")
    assert (drawn("batch").get_xlabel(), len(drawn("batch").lines)) == ("alpha", 1)


@pytest.mark.parametrize("weights", [(1.0,), (1.0, -0.5)])
def test_the_drawn_function_is_what_the_solution_learned(weights: tuple[float, ...]) -> None:
    # With many neurons and more samples a readout learns the best combination of mu0 and kappa mu1 of its groups under
    # the normal law.
    groups = tuple(giantsteps.ReadoutGroup(weight, 1.0 / len(weights)) for weight in weights)
    many = model().changed(alpha=1e6, beta=1e4, ridge=1e-4, readout=groups)
    line = giantsteps.solve(many).plot(Figure().subplots()).lines[0]
    kappa, learned = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    moments = [conditional_coefficients(many.activation, weight, 1.0, 0.0, kappa) for weight in weights]
    functions = np.concatenate([[mu0, kappa * mu1] for mu0, mu1, _ in moments]).T
    root = np.exp(-(kappa**2) / 4.0)
    target = target_moments(many.target, 0.8, kappa)[0]
    best = functions @ np.linalg.lstsq(functions * root[:, None], target * root, rcond=None)[0]
    # What the noise of the features costs is 1/beta off, and the rule here ends at four deviations.
    assert np.max(np.abs(learned - best) * root) < 3e-3 * np.max(np.abs(best))


def test_the_drawing_of_a_network_has_the_part_that_its_norms_carry() -> None:
    # chi dmu0/dc, by a difference in c.
    solution = giantsteps.solve(
        giantsteps.Model.from_gradient_step("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=5.0)
    )
    axes = Figure().subplots()
    solution.plot(axes)
    kappa, learned = axes.lines[0].get_data()
    made, order, step = solution.model, solution.order_parameters, 1e-4
    at = [
        conditional_coefficients(made.activation, made.spike, made.bulk + change, 0.0, kappa)
        for change in (-step, 0.0, step)
    ]
    plain = order.m[0] * at[1][0] + float(np.ravel(order.zeta)[0]) * kappa * at[1][1]
    slope = (at[2][0] - at[0][0]) / (2.0 * step)
    assert np.max(np.abs(order.chi[0] * slope)) > 1e-3
    assert learned == pytest.approx(plain + order.chi[0] * slope, abs=1e-6)  # the difference quotient, step^2


@pytest.mark.parametrize(
    ("which", "choices", "says"),
    [
        ("law", {}, "spike of one direction"),
        ("batch", {"quantity": "error"}, "test_error, training_error"),
        ("batch", {"kind": "map"}, "two swept parameters"),
        ("comparison", {"observable": "loss"}, "test_error"),
        ("grid", {"kind": "bars"}, '"curves"'),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(which: str, choices: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        drawn(which, **choices)


def test_too_many_curves_become_a_map() -> None:
    many = giantsteps.solve_batch(model(), ridge=np.geomspace(0.01, 1.0, 9)[:, None], alpha=ALPHAS)
    assert many.plot(Figure().subplots()).get_ylabel() == "ridge"
    with pytest.raises(ValueError, match='kind="map"'):
        many.plot(Figure().subplots(), kind="curves")
    with pytest.raises(ValueError, match="shape"):
        giantsteps.solve_batch(model()).plot(Figure().subplots())

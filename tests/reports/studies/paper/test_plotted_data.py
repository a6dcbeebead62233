"""What the paper's figures plot, read back from their data, beside what `solve`, `bounds` and `simulate` answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Canvas

import giantsteps
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements import drawing
from giantsteps.reports.measurements.experiments import Data, Measured, complete
from giantsteps.reports.studies.paper import after_step, along_spike, letters, spikes
from giantsteps.reports.studies.paper.output import along_spike as along_spike_of
from giantsteps.reports.studies.paper.output import along_target
from giantsteps.reports.studies.paper.samples import EXPERIMENTS, SEED, samples
from giantsteps.reports.studies.paper.series import Plotted, plotted
from giantsteps.reports.studies.paper.settings import SINE as SINE_PANEL
from giantsteps.reports.studies.vocabulary import VOCABULARIES

FIGURES: dict[int, Callable[[Data], Figure]] = {
    1: after_step.figure_1,
    2: after_step.figure_2,
    3: along_spike.figure_3,
    4: spikes.figure_4,
    5: spikes.figure_5,
    # The cheap vocabulary, and one of two letters.
    6: partial(letters.figure_6, vocabularies=(VOCABULARIES[0], VOCABULARIES[2])),
    7: along_spike.figure_7,
}
# The same solver at the same models, written with ten digits.
SAME = {"rel": 1e-8}
TANH, SINE = giantsteps.activation("tanh"), giantsteps.activation("sin")


def data() -> Data:
    """The stored samples, all of them."""
    found = samples()
    assert found is not None
    assert complete(found, EXPERIMENTS)
    return found


@cache
def drawn(number: int) -> tuple[Figure, Any]:
    """A figure, without its text, and the canvas that it was drawn on."""
    canvases = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "svg_of", lambda canvas, *rest: canvases.append(canvas) or "")
        figure = FIGURES[number](data())
    return figure, canvases[0]


def test_the_caption_of_smaller_networks_says_so() -> None:
    caption = after_step.simulated_figure_2((0.5,), dimension=30, seeds=2).caption
    assert "networks that took the step at d = 30, mean over 2 with" in caption
    assert "at d = 300, mean over 8 with" in drawn(2)[0].caption


def shown(number: int) -> Plotted:
    """Its series."""
    return plotted(drawn(number)[0])


def stepped(alpha: float, beta: float = 1.0, ridge: float = 0.1, target: str = "sin", **given: Any) -> giantsteps.Model:
    goal = giantsteps.activation(target)
    return giantsteps.Model.from_gradient_step(TANH, goal, alpha=alpha, beta=beta, ridge=ridge, **given)


# What a panel is drawn for, typed again: of every figure the panel, and of a value in the label the model.
PANELS: dict[tuple[int, int], Callable[[float, float, str], giantsteps.Model]] = {
    (2, 1): lambda alpha0, alpha, bulk: stepped(alpha, alpha0=alpha0, eta=3.0, bulk_model=bulk),
    (2, 3): lambda a0, a, bulk: stepped(a, ridge=0.01, target="tanh", alpha0=a0, eta=1.0, bulk_model=bulk),
    (2, 5): lambda a0, a, bulk: stepped(a, target="sign", alpha0=a0, eta=3.0, bulk_model=bulk),
    (5, 1): lambda beta, alpha, bulk: stepped(alpha, beta, alpha0=20.0, eta=3.0, bulk_model=bulk),
    (5, 2): lambda beta, alpha, bulk: stepped(alpha, beta, alpha0=20.0, eta=3.0 * beta, bulk_model=bulk),
}


@pytest.mark.parametrize("where", PANELS)
def test_the_lines_are_both_theories_of_what_their_label_says(where: tuple[int, int]) -> None:
    figure, panel = where
    seen = 0
    for (place, name), series in shown(figure).items():
        found = re.fullmatch(r"(isotropic|own) theory, \w+ = ([\d.]+)", name)
        if place != panel or not found:
            continue
        bulk, steps = ("isotropic", 15) if found[1] == "isotropic" else ("network", 9)
        for alpha, error in list(zip(series.x, series.y, strict=True))[1::steps]:
            assert error == pytest.approx(
                giantsteps.solve(PANELS[where](float(found[2]), alpha, bulk)).test_error, **SAME
            )
            seen += 1
    assert seen >= 12


def test_the_lines_of_a_spike_have_it_and_its_alignment() -> None:
    found = shown(4)
    pairs = [(1, f"r = {r:g}", r, 0.9) for r in (0.0, 0.5, 2.0)] + [
        (2, f"gamma = {gamma:g}", 1.5, gamma) for gamma in (0.5, 0.95)
    ]
    for panel, name, spike, alignment in pairs:
        series = found[panel, f"isotropic theory, {name}"]
        # The batch is a whole number of samples at the dimension of the networks: alignment to a few in a thousand.
        curves = [curve for curve in _curves() if curve.name == name]
        model = curves[0].first.model("isotropic")
        assert (model.spike, model.alignment) == pytest.approx((spike, alignment if spike else 0.0), abs=3e-3)
        mapped = {"spike": model.spike, "bulk": model.bulk, "alignment": model.alignment}
        given = giantsteps.Model(TANH, SINE, series.x[9], 1.0, 0.1, **mapped)
        assert series.y[9] == pytest.approx(giantsteps.solve(given).test_error, **SAME)
    for gamma in (0.0, 1.0):
        series = found[2, rf"$\gamma = {gamma:g}$"]
        model = giantsteps.Model(TANH, SINE, series.x[20], 1.0, 0.1, spike=1.5, bulk=1.0, alignment=gamma)
        assert series.y[20] == pytest.approx(giantsteps.solve(model).test_error, **SAME)


def _curves() -> list[Any]:
    return [
        *(spikes.spiked_curve(r, 0.9, "", f"r = {r:g}") for r in (0.0, 0.5, 2.0)),
        *(spikes.spiked_curve(1.5, gamma, "", f"gamma = {gamma:g}") for gamma in (0.5, 0.95)),
    ]


def test_the_points_are_the_stored_networks_of_their_label() -> None:
    stored = data()
    for panel, case in ((1, "tanh/sin"), (3, "tanh/tanh"), (5, "tanh/sign")):
        for alpha0 in (0.0, 0.5, 2.0, 20.0):
            points = shown(2)[panel, f"networks, alpha0 = {alpha0:g}"]
            for alpha, mean, error in zip(points.x, points.y, points.error, strict=True):
                values = Measured.of(stored[f"figure 2, {case}, alpha0 {alpha0:g}, alpha {alpha:g}"]["test_error"])
                assert (mean, error) == pytest.approx((values.mean, values.error), **SAME)


def test_an_experiment_is_of_what_its_name_says_and_gives_its_stored_samples_again() -> None:
    stored = data()
    for experiment in EXPERIMENTS:
        for name in ("alpha0", "alpha", "beta", "ridge"):
            found = re.search(rf"\b{name} ([\d.]+)", experiment.name)
            assert not found or getattr(experiment.subject, name) == pytest.approx(float(found[1]), rel=1e-5)
    for name in ("figure 1, alpha0 0.5", "figure 2, tanh/sin, alpha0 0.5, alpha 0.526667", "figure 7, r 0.5"):
        (experiment,) = (one for one in EXPERIMENTS if one.name == name)
        again = replace(experiment, seeds=1).run(SEED)
        # Written with seven digits; a matrix product may sum in another order.
        for observable, (value,) in again.items():
            assert stored[name][observable][0] == pytest.approx(value, rel=1e-5, abs=1e-6)
    figure_2 = next(one for one in EXPERIMENTS if one.name == "figure 2, tanh/sin, alpha0 0.5, alpha 0.526667")
    network = giantsteps.Network(TANH, SINE, 158 / 300, 1.0, 0.1, alpha0=0.5, eta=3.0)
    run = giantsteps.simulate(network, dimension=300, seeds=1, seed=SEED + figure_2.stream)
    assert stored[figure_2.name]["test_error"][0] == pytest.approx(run.test_error.mean, rel=1e-5)


def test_the_functions_of_figure_3_lie_at_the_distances_that_bounds_gives() -> None:
    found = shown(3)
    target = found[1, "target"]
    weight = np.exp(-(target.x**2) / 2.0)
    bounds = giantsteps.bounds(giantsteps.Model(TANH, SINE, 1.0, 1.0, 1.0, spike=0.9, bulk=1.0, alignment=1.0))
    names = (r"upper bound: $b\,\mu_0$", r"lower bound: $b_1\mu_0 + b_2\kappa\mu_1$")
    for name, bound in zip(names, (bounds.upper, bounds.lower), strict=True):
        distance = float(weight @ (found[1, name].y - target.y) ** 2 / weight.sum())
        # The drawing ends at four standard deviations: 6e-5 of the weight, and functions differ by up to 2.4 there.
        assert distance == pytest.approx(bound, abs=4e-4)


def test_the_pool_of_figure_7_is_the_average_over_the_bulk() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    for spike in (0.5, 1.0, 2.0, 4.0):
        line, slope = (shown(7)[panel, f"$r = {spike:g}$"] for panel in (1, 2))
        values = np.tanh(spike * line.x[:, None] + nodes)
        assert np.max(np.abs(line.y - values @ weights)) < 1e-7
        assert np.max(np.abs(slope.y - slope.x * (values @ (nodes * weights)))) < 1e-7


def test_the_first_figure_shows_the_slope_and_the_sign_of_the_function() -> None:
    found = shown(1)
    for alpha0 in (0.0, 0.5, 2.0, 20.0):
        model = stepped(4.0, alpha0=alpha0, eta=3.0, bulk_model="isotropic")
        order = giantsteps.solve(model).order_parameters
        line = found[1, f"isotropic theory, alpha0 = {alpha0:g}"]
        # E[output theta.x] by sampling the equivalent map: m mu0 + (zeta kappa + psi u) mu1, averaged by hand.
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        weights = weights / weights.sum()
        values = np.tanh(model.spike * nodes[:, None] + np.sqrt(model.bulk) * nodes)
        mu0, mu1 = values @ weights, values @ (weights * nodes) / np.sqrt(model.bulk)
        g, zeta = model.alignment, float(order.zeta[0])
        slope = g * float(weights @ (nodes * (order.m[0] * mu0 + zeta * nodes * mu1)))
        slope += np.sqrt(1.0 - g**2) * float(order.psi[0]) * float(weights @ mu1)
        # The plotted line ends at three standard deviations; beyond it goes on as a constant or a line.
        far = np.linspace(-6.0, 6.0, 2401)
        beyond = line.y[-1] + (np.abs(far) - 3.0) * (line.y[-1] - line.y[-2]) / 0.05
        ends = np.where(np.abs(far) <= 3.0, line.at(far), np.sign(far) * beyond)
        normal = np.exp(-(far**2) / 2.0)
        assert float(normal @ (ends * far) / normal.sum()) == pytest.approx(slope, abs=2e-3)


@pytest.mark.parametrize("number", FIGURES)
def test_ticks_and_labels_are_complete(number: int) -> None:
    figure, canvas = drawn(number)
    canvas.draw_without_rendering()
    for axes in canvas.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert sum(bool(label.get_text()) for label in labels) >= 2
    assert any(axes.get_legend() is not None for axes in canvas.axes)
    # Every series has a name of its own in the data.
    assert not re.search(r'"line \d+"', figure.data)


RATIO, ALONG = r"samples per dimension $\alpha = n/d$", r"projection on the spike $\kappa = v\cdot x$"
BESIDE = ("networks, and their own theory", RATIO, "less isotropic theory, %")
# Over and beside each panel, typed again: title, x, y; test errors are over a logarithmic scale of alpha.
WORDS: dict[int, list[tuple[str, str, str]]] = {
    1: [("", r"along the target $\theta\cdot x$", "mean output of the network")],
    2: [
        *((r"tanh learns sin, $\tilde\eta = 3$, $\lambda = 0.1$", RATIO, "test error"), BESIDE),
        *((r"tanh learns tanh, $\tilde\eta = 1$, $\lambda = 0.01$", RATIO, "test error"), BESIDE),
        *((r"tanh learns sign, $\tilde\eta = 3$, $\lambda = 0.1$", RATIO, "test error"), BESIDE),
    ],
    3: [("", ALONG, "value")],
    4: [(r"by spike, $\gamma = 0.9$", RATIO, "test error"), ("by alignment, $r = 1.5$", RATIO, "test error")],
    5: [(r"$\tilde\eta = 3$", RATIO, "test error"), (r"$\tilde\eta = 3\,\beta$", RATIO, "test error")],
    6: [("", RATIO, "test error"), ("", RATIO, "less isotropic theory, %")],
    7: [(rf"${name}(\kappa)$", ALONG.partition(" =")[0] + "$", "value") for name in (r"\mu_0", r"\kappa\,\mu_1")],
}
DASHES = {"isotropic theory": "-", "own": "--", "orthogonal": ":"}


def value_of(label: str) -> str:
    """What tells a curve from the others: the number behind "=", or the letters."""
    found = re.search(r"(?<== )(?:\\infty|[\d.]+)|\{.*\}|upper|lower", label.replace("$", ""))
    return found[0] if found else ""


@pytest.mark.parametrize("number", FIGURES)
def test_titles_and_labels_say_what_is_plotted_and_the_legend_which_curve_is_which(number: int) -> None:
    _, canvas = drawn(number)
    assert [(one.get_title(), one.get_xlabel(), one.get_ylabel()) for one in canvas.axes] == WORDS[number]
    for axes in canvas.axes:
        assert axes.get_xscale() == ("log" if axes.get_xlabel() == RATIO else "linear")
        named = [(str(one.get_label()).lstrip("_"), one.get_color(), one.get_linestyle()) for one in axes.get_lines()]
        named = [one for one in named if one[0] != "nolegend_"]
        marks = [(str(one.get_label()).lstrip("_"), one.lines[0].get_color(), "") for one in axes.containers]
        # One colour for each curve: its lines, and the networks that it is of.
        of_colour: dict[str, set[str]] = {}
        for label, colour, _ in (*named, *marks):
            if colour not in ("#333333", "black"):
                of_colour.setdefault(colour, set()).add(value_of(label))
        for label, _, dash in named:
            assert dash == next((style for words, style in DASHES.items() if label.startswith(words)), dash)
        if number != 3:  # where a colour is a bound, with the networks that realise it
            assert all(len(values) == 1 for values in of_colour.values())
        legend = axes.get_legend()
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True) if legend else ():
            given = handle.get_color()  # of bars a list of one
            colour = to_hex(given if isinstance(given, str) else np.ravel(given))
            drawn_so = {to_hex(one).lower() for label, one, _ in (*named, *marks) if label == text.get_text()}
            if drawn_so:
                assert colour.lower() in drawn_so
            else:
                assert of_colour[colour.upper()] == {value_of(text.get_text())}


def test_the_dashed_line_is_the_best_linear_predictor() -> None:
    # E[g^2] - E[z g]^2 of a sine and of the sign, by hand.
    sine, sign = (1.0 - np.exp(-2.0)) / 2.0 - np.exp(-1.0), 1.0 - 2.0 / np.pi
    for number, panel, level in ((2, 1, sine), (2, 5, sign), (4, 2, sine), (5, 1, sine), (5, 2, sine)):
        line = shown(number)[panel, "best linear predictor"]
        assert list(line.y) == pytest.approx([level, level], **SAME)


def test_a_figure_is_the_same_bytes_every_time() -> None:
    first = along_spike.figure_7(data())
    assert along_spike.figure_7(data()) == first
    assert "<svg" in first.svg


def test_the_output_along_the_target_is_that_along_the_spike_at_alignment_one() -> None:
    infinite = SINE_PANEL.model(np.inf).changed(alpha=4.0)
    x = np.linspace(-1.0, 1.0, 5)
    assert along_target(infinite, x) == pytest.approx(along_spike_of(infinite, x), rel=1e-12)
    # The same function as `Solution.plot` draws.
    line = giantsteps.solve(infinite).plot(Canvas().subplots()).lines[0]
    assert along_target(infinite, x) == pytest.approx(
        np.interp(x, line.get_xdata(), line.get_ydata()), abs=1e-3
    )  # straight between points 0.04 apart


def test_the_output_along_the_spike_has_a_term_for_rows_that_differ_in_norm() -> None:
    """m mu0 + zeta kappa mu1 + chi dmu0/dc by a quadrature of its own, the last by a difference of averages in c."""
    model = stepped(1.5, alpha0=2.0, eta=3.0, bulk_model="network")
    order, kappa = giantsteps.solve(model).order_parameters, np.array([-1.5, -0.2, 0.0, 0.7, 2.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)

    def mu0(c: float) -> Any:
        inside = model.spike * kappa[:, None] + np.sqrt(c) * nodes
        return np.tanh(inside) @ weights / np.sqrt(2 * np.pi)

    inside = model.spike * kappa[:, None] + np.sqrt(model.bulk) * nodes
    mu1 = (np.tanh(inside) * nodes) @ weights / np.sqrt(2 * np.pi * model.bulk)
    assert abs(model.bulk - 1.0) > 0.1
    m, zeta, chi = (float(np.sum(value)) for value in (order.m, order.zeta, order.chi))
    h = 1e-4
    slope = (mu0(model.bulk + h) - mu0(model.bulk - h)) / (2 * h)
    expected = m * mu0(model.bulk) + zeta * kappa * mu1 + chi * slope
    # Eighty nodes are right to 1e-9 here, and the difference to h^2; the term is one of 1e-3.
    assert along_spike_of(model, kappa) == pytest.approx(expected, abs=1e-8)
    assert np.abs(chi * slope).max() > 1e-3

"""What the figures plot, read back from their axes, beside what `solve`, `bounds` and `simulate` answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.numerics.experiments.ridge import simulate_ridges
from giantsteps.reports.figures import figures
from giantsteps.reports.figures.canvas import Figure

TANH, SINE = giantsteps.activation("tanh"), giantsteps.activation("sin")
SMALL: dict[str, Any] = {"dimension": 40, "seeds": 2, "seed": 7}
# The same solver at the same models: what differs is the order of a few roundings.
SAME: dict[str, float] = {"rel": 1e-9}


def axes_of(monkeypatch: pytest.MonkeyPatch, draw: Callable[..., Figure], **given: Any) -> Any:
    """The axes of a figure, which becomes no text: that takes longer than its curves."""
    canvases: list[Any] = []
    monkeypatch.setattr(figures, "svg_of", lambda canvas, *rest: canvases.append(canvas) or "")
    draw(**given)
    (axes,) = canvases[0].axes
    return axes


def spiked(alpha: float, ridge: float = 0.1, spike: float = 1.5, alignment: float = 0.9) -> giantsteps.Model:
    return giantsteps.Model(
        TANH, SINE, alpha=alpha, beta=1.0, ridge=ridge, spike=spike, bulk=1.0, alignment=alignment
    )  # fmt: skip


def stepped(alpha0: float, alpha: float) -> giantsteps.Model:
    return giantsteps.Model.from_gradient_step(
        TANH, SINE, alpha=alpha, beta=1.0, ridge=0.1, alpha0=alpha0, eta=2.0, bulk_model="isotropic"
    )


CURVES: dict[str, tuple[Callable[..., Figure], dict[str, Callable[[float], giantsteps.Model]]]] = {
    "batch": (
        partial(figures.learning_curves_by_batch, (0.5, 8.0)),
        {r"$\alpha_0 = 0.5$": partial(stepped, 0.5), r"$\alpha_0 = 8$": partial(stepped, 8.0)},
    ),
    "spike": (
        partial(figures.learning_curves_by_spike, (0.0, 2.0)),
        {"$r = 0$": lambda alpha: spiked(alpha, spike=0.0), "$r = 2$": lambda alpha: spiked(alpha, spike=2.0)},
    ),
    "alignment": (
        partial(figures.learning_curves_by_alignment, (0.5, 1.0)),
        {
            r"$\gamma = 0.5$": lambda alpha: spiked(alpha, alignment=0.5),
            r"$\gamma = 1$": lambda alpha: spiked(alpha, alignment=1.0),
        },
    ),
    "ridge": (
        partial(figures.bounds_over_the_ridge, (0.5, 2.0)),
        {
            r"$\alpha = 0.5$": lambda ridge: spiked(0.5, ridge, spike=1.0),
            r"$\alpha = 2$": lambda ridge: spiked(2.0, ridge, spike=1.0),
        },
    ),
}


RATIO = r"samples per dimension $\alpha = n/d$"
ACROSS = {"batch": RATIO, "spike": RATIO, "alignment": RATIO, "ridge": r"ridge $\lambda$"}


@pytest.mark.parametrize("name", CURVES)
def test_lines_are_the_theory_and_points_the_simulation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, models = CURVES[name]
    axes = axes_of(monkeypatch, draw, **SMALL)
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == (ACROSS[name], "test error", "log")
    assert [container.get_label() for container in axes.containers] == list(models)
    for container in axes.containers:
        model, points = models[container.get_label()], container.lines[0]
        (line,) = [
            one
            for one in axes.get_lines()
            if one.get_color() == points.get_color() and len(one.get_xdata()) > 20
        ]  # fmt: skip
        for x, y in list(zip(*line.get_data(), strict=True))[::10]:
            assert y == pytest.approx(giantsteps.solve(model(float(x))).test_error, **SAME)
        (bars,) = container.lines[2]
        shown = list(zip(*points.get_data(), bars.get_segments(), strict=True))
        if name == "ridge":  # runs that share their draws
            runs = simulate_ridges(model(1.0), [float(x) for x, _, _ in shown], **SMALL)
        else:
            runs = [giantsteps.simulate(model(float(x)), **SMALL) for x, _, _ in shown]
        for (_, y, ((_, low), (_, high))), run in zip(shown, runs, strict=True):
            found = run.test_error
            assert (y, high - y, y - low) == pytest.approx(
                (found.mean, found.standard_error, found.standard_error), **SAME
            )


def level(axes: Any, label: str) -> Any:
    """The line with this label."""
    (line,) = [one for one in axes.get_lines() if one.get_label() == label]
    return line


def test_the_bounds_over_the_ridge_are_those_of_its_models(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = axes_of(monkeypatch, figures.bounds_over_the_ridge, alphas=(1.0,), **SMALL)
    found = giantsteps.bounds(spiked(1.0, spike=1.0))
    assert found.lower < found.upper
    for label, value in (("upper bound", found.upper), ("lower bound", found.lower)):
        assert list(level(axes, label).get_ydata()) == pytest.approx([value, value], **SAME)


def test_the_bounds_over_the_spike_hold_the_best_ridge_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = axes_of(monkeypatch, figures.bounds_over_the_spike, alpha=0.7, alignment=0.6, largest=2.1, points=5)
    assert axes.get_xlabel().startswith("spike strength $r$")
    assert axes.get_ylabel() == "test error"
    spikes = level(axes, "upper bound").get_xdata()
    assert list(spikes) == pytest.approx([0.1, 0.6, 1.1, 1.6, 2.1])
    upper, lower, best = (level(axes, name) for name in ("upper bound", "lower bound", r"best ridge, $\alpha = 0.7$"))
    for k, r in enumerate(spikes):
        found = giantsteps.bounds(spiked(0.7, spike=float(r), alignment=0.6))
        assert upper.get_ydata()[k] == pytest.approx(found.upper, **SAME)
        assert lower.get_ydata()[k] == pytest.approx(found.lower, **SAME)
    for r, least in zip(*best.get_data(), strict=True):
        # No ridge of a scan does better, and one of them comes close: the scan is as fine as a parabola needs.
        errors = [
            giantsteps.solve(spiked(0.7, ridge, spike=float(r), alignment=0.6)).test_error
            for ridge in np.geomspace(1e-4, 1e3, 71)
        ]
        assert least <= min(errors) * (1 + 1e-9)
        assert least == pytest.approx(min(errors), rel=2e-3)


def test_the_functions_along_the_spike_are_averages_over_the_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = axes_of(monkeypatch, figures.functions_along_the_spike, student="relu", spike=0.7, bulk=1.3)
    assert (axes.get_xlabel(), axes.get_ylabel()) == (r"projection on the spike $\kappa = v\cdot x$", "value")
    # Gauss-Hermite on ReLU: 200 nodes leave a hundredth of a kink.
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    kappa = level(axes, r"$\mu_0$").get_xdata()
    value = np.maximum(0.7 * kappa[:, None] + np.sqrt(1.3) * nodes, 0.0)
    mu0, mu1, square = value @ weights, value * nodes @ weights / np.sqrt(1.3), value**2 @ weights
    for label, expected in (
        (r"$\mu_0$", mu0),
        (r"$\kappa\,\mu_1$", kappa * mu1),
        (r"$\mu_2$", np.sqrt(square - mu0**2 - 1.3 * mu1**2)),
        ("target", np.sin(kappa)),
    ):
        assert np.max(np.abs(level(axes, label).get_ydata() - expected)) < 0.02

"""A gallery of activations: for each the document of `giantsteps activation`, and what one step learns of five targets.

The documents are examined once (`python -m benchmarks.pages.gallery`), stored, and drawn when the report is built.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.reports.activation.curves import curves, draw
from giantsteps.reports.activation.latex import defined, rows
from giantsteps.reports.activation.learning import NEGLIGIBLE, bounds_at, with_best_spike
from giantsteps.reports.activation.study import examine
from giantsteps.reports.figures.files import own_style
from giantsteps.reports.figures.svg import svg_of

Array = NDArray[np.float64]
Document = dict[str, Any]

STORED = Path(__file__).parent.parent.parent / "benchmarks" / "pages" / "gallery.json"
DIGITS, ORDERS = 20, 6
# The names of the language, and what stands for a name of two words there.
ACTIVATIONS: dict[str, str] = {
    name: name
    for name in (
        "tanh", "erf", "sin", "atan", "softsign", "asinh", "hardtanh", "sign", "sigmoid", "relu",
        "gelu", "silu", "mish", "softplus", "abs", "cos", "he2", "he3",
    )
} | {"leaky relu": "leaky_relu(z, 1/10)", "bump": "z*exp(-z**2/2)"}  # fmt: skip
# All with E[z g] not zero: a step points the weights at them.
TARGETS = ("tanh", "sin", "sign", "sin(2*z)", "z**3")
# A best spike below this stands where the search ended on its way to zero: a spike of 1e-3 changes a bound by some 1e-6
# of it (its square).
VANISHING = 1e-3


def examined(name: str) -> Document:
    """What is stored of one activation: its document at spike and bulk 1, and the learning of every target."""
    student = activation(ACTIVATIONS[name])
    document = examine(student, digits=DIGITS, orders=ORDERS).as_dict()
    goals = {}
    for target in TARGETS:
        goal = activation(target)
        found = with_best_spike(bounds_at(student, goal, 1.0, 1.0), student, goal, 1.0)
        goals[target] = found.as_dict() | {"doublings": found.doublings}
    # One digit more than the bounds are good for and than what is shown of them.
    return json.loads(json.dumps(rounded(document | {"targets": goals}, 8)))  # type: ignore[no-any-return]


def rounded(value: Any, digits: int) -> Any:
    """A document with its doubles to so many digits."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    return [rounded(one, digits) for one in value] if isinstance(value, list) else value


@cache
def stored() -> dict[str, Document]:
    """The documents; none where they are not installed."""
    found: dict[str, Document] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {}
    return found


@dataclass(frozen=True)
class Goal:
    """One target: E[g^2], and as shares of it the bounds at r = 1 and the upper bound at the best spike."""

    target: str
    square: float
    lower: float | None
    upper: float | None
    best_spike: float | None
    at_best: float | None
    largest_spike: float

    @property
    def spike(self) -> str:
        """The best spike, as the page says it."""
        if self.best_spike is None:
            return "any"
        if self.best_spike < VANISHING:
            return "towards 0"
        return f"{self.best_spike:.4g}" + (" or more" if self.best_spike == self.largest_spike else "")


def percent(share: float | None) -> str:
    """A share with two digits; double precision knows nothing of the smallest ones."""
    if share is None:
        return ""
    if share <= NEGLIGIBLE:
        return "0"
    return f"{100.0 * share:.0f} %" if share >= 0.0995 else f"{100.0 * share:.2g} %"


@dataclass(frozen=True)
class Card:
    """One activation on the page: its document, its formulas as LaTeX, its drawing, a small one for the list."""

    name: str
    expression: str
    document: Document
    formula: str
    formulas: tuple[tuple[str, str], ...]
    goals: tuple[Goal, ...]
    svg: str
    spark: str

    @property
    def slug(self) -> str:
        """For the address of its page."""
        return self.name.replace(" ", "-")

    def number(self, key: str) -> float:
        """h1 or h2 as a double."""
        text = str(self.document["coefficients"][key]["ball"])
        return float(text.strip("[").split(" ")[0])

    @property
    def spike_emerges(self) -> bool:
        """Whether h1 is certainly not zero."""
        return bool(self.document["spike_emerges"])


@own_style()
def card(name: str) -> Card | None:
    """The card of one activation, a unit of parallel work; None where nothing is stored of it."""
    document = stored().get(name)
    if document is None:
        return None
    student = activation(ACTIVATIONS[name])
    return Card(
        name,
        str(student),
        document,
        defined(student),
        tuple(rows(document)),
        tuple(_goal(target, found) for target, found in document["targets"].items()),
        drawing(name),
        spark(compile_numpy(student.expression)(_LINE)),
    )


def _goal(target: str, found: Document) -> Goal:
    learning, bounds = found["learning"], found["bounds"]
    square = learning["target_square"] or float("nan")

    def share(value: float | None) -> float | None:
        return None if value is None else value / square

    return Goal(
        target, square, share(bounds["lower"]), share(bounds["upper"]), learning["best_spike"],
        share(learning["upper_at_best_spike"]), learning["largest_spike"],
    )  # fmt: skip


def drawing(name: str) -> str:
    """The figure of `giantsteps activation --plot`: the functions along the spike, and the sine that they learn."""
    student, document = activation(ACTIVATIONS[name]), stored()[name]
    found = document["targets"]["sin"]
    if found["bounds"]["upper"] is None:
        return ""
    shown = curves(student, activation("sin"), document["spike"], document["bulk"], found["doublings"])
    canvas = draw(shown, str(student))
    about = f"The functions of {name} along the spike, and the projections of a sine on them"
    return svg_of(canvas, "activation_" + name.replace(" ", "_"), about)


_LINE = np.linspace(-3.0, 3.0, 61)
_WIDTH, _HEIGHT = 96, 36


def spark(values: Array) -> str:
    """A graph as a small SVG element: the function on [-3, 3], at one scale a card, zero as a line."""
    low, high = min(float(np.min(values)), 0.0), max(float(np.max(values)), 0.0)
    across = (_LINE - _LINE[0]) / (_LINE[-1] - _LINE[0]) * (_WIDTH - 4) + 2.0

    def height(y: Array) -> Array:
        return np.asarray(_HEIGHT - 3.0 - (y - low) / (high - low) * (_HEIGHT - 6.0))

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, height(values), strict=True))
    zero = float(height(np.zeros(1))[0])
    return (
        f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true"><path d="M2 {zero:.1f}H{_WIDTH - 2}"/>'
        f'<polyline points="{points}"/></svg>'
    )

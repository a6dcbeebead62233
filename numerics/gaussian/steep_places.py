"""The places where saturating functions have steps and peaks, found from the arguments of those functions.

exp(-10^8 (z - 1/3)^2) vanishes at every node of every rule that does not know of 1/3, so that no comparison of rules
notices it; its argument -10^8 (z - 1/3)^2 is smooth on the scale of the line and shows the place. How fast a function
oscillates is read off its sines in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.expressions.tree import Call, Expression, Number, Power, Product, Quotient, walk
from giantsteps.numerics.gaussian.evaluate import compile_numpy

Array = NDArray[np.float64]

# Between these arguments a function is neither 0 nor constant to 1e-17 of its range.
_ACTIVE = {
    "exp": (-40.0, 1e300),
    "erf": (-6.0, 6.0),
    "erfc": (-6.0, 27.0),
    "tanh": (-20.0, 20.0),
    "sigmoid": (-40.0, 40.0),
    "softplus": (-40.0, 40.0),
}
# A Legendre rule of sixteen nodes resolves these functions where their argument varies by no more than this.
_VARIATION = 8.0
_SHORTEST = 1e-11
_MOST_PANELS = 1_000
_SAMPLES = np.array([0.0, 0.11, 0.31, 0.5, 0.69, 0.89, 1.0])
# Where the arguments of sin and cos are looked at: most of a standard Gaussian's weight.
_LINE = np.linspace(-4.0, 4.0, 65)


class SteepPlaces(NamedTuple):
    """Ends of the panels that resolve every saturating function, the shortest panel, and whether all were found."""

    edges: tuple[float, ...]
    narrowest: float
    complete: bool


def steep_places(expression: Expression, edges: Array) -> SteepPlaces:
    """Bisect the panels between `edges` until the argument of each saturating function varies by at most 8 on each.

    Panels on which the function is saturated are left alone. `edges` of the result holds the new ends only.
    """
    found: set[float] = set()
    narrowest, complete = float(np.min(np.diff(edges))), True
    calls = {node for node in walk(expression) if isinstance(node, Call) and node.name in _ACTIVE}
    for call in sorted(calls, key=str):
        values, (low, high) = compile_numpy(call.argument), _ACTIVE[call.name]
        pending = np.stack([edges[:-1], edges[1:]], axis=1)
        with np.errstate(all="ignore"):
            while len(pending):
                width = pending[:, 1:] - pending[:, :1]
                sampled = values(pending[:, :1] + width * _SAMPLES)
                least, most = sampled.min(axis=1), sampled.max(axis=1)
                vary = most - least
                # Between the samples the argument may go beyond them, by less than they differ.
                active = (most + vary > low) & (least - vary < high)
                steep = pending[active & (vary > _VARIATION)]
                long = steep[:, 1] - steep[:, 0] > _SHORTEST
                complete = complete and bool(np.all(long)) and len(found) < _MOST_PANELS
                steep = steep[long]
                if len(found) >= _MOST_PANELS or not len(steep):
                    break
                middle = 0.5 * (steep[:, 0] + steep[:, 1])
                narrowest = min(narrowest, 0.5 * float(np.min(steep[:, 1] - steep[:, 0])))
                found.update(float(x) for x in (*steep.ravel(), *middle))
                pending = np.concatenate(
                    [np.stack([steep[:, 0], middle], axis=1), np.stack([middle, steep[:, 1]], axis=1)]
                )
    return SteepPlaces(tuple(sorted(found)), narrowest, complete)


def frequency(expression: Expression) -> float:
    """How fast an expression oscillates: the steepest argument of sin and cos in it, added up over factors.

    Two trapezoidal rules may mistake one fast oscillation for the same slow one, or for its mirror image, and agree to
    the last digit: only the expression shows it. The harmonics that another function makes of it are left out, and
    arguments whose slope grows are looked at on [-4, 4]: there rules that are compared have to show it.
    """
    match expression:
        case Call(("sin" | "cos"), argument):
            with np.errstate(all="ignore"):
                slopes = np.abs(np.diff(compile_numpy(argument)(_LINE))) / (_LINE[1] - _LINE[0])
            return float(np.max(slopes))
        case Product(factors):
            return sum(frequency(factor) for factor in factors)
        case Quotient(above, below):
            return frequency(above) + frequency(below)
        case Power(base, Number(exponent)):
            return max(1.0, abs(float(exponent))) * frequency(base)
    return max((frequency(child) for child in expression.children()), default=0.0)

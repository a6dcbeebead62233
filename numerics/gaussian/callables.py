"""Activations as people have them: text, SymPy, and callables, by the formula that tracing finds or by their values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from giantsteps.derivations.activations.activation import Activation, Breakpoint, Growth, checked
from giantsteps.derivations.activations.activation import activation as of_text
from giantsteps.derivations.activations.locations import Location
from giantsteps.derivations.activations.panels import Panel
from giantsteps.derivations.expressions.parser import from_sympy, is_sympy
from giantsteps.derivations.expressions.tree import ExpressionError, Sampled, Z, number
from giantsteps.numerics.gaussian.evaluate import Array, compile_numpy
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER
from giantsteps.numerics.gaussian.smooth_panels import MOST_SPLITS, distinct, smooth_panels
from giantsteps.numerics.gaussian.tracing import FAILURES, traced

# Where a callable is tried: simple numbers, where kinks are likely, and others; how far rounding puts its formula off.
_TRIED, _SAME = np.concatenate([np.arange(-8.0, 8.5, 0.5), 64.0 * np.sin(np.arange(1.0, 200.0)) ** 5]), 1e-11
# Breakpoints are looked for on panels whose nodes lie 0.03 apart, and whose ends are no likely places of kinks: a kink
# is inside a panel, where bisection ends in panels shorter than this. Then the wide panels of the quadrature do.
_NARROW, _WIDE, _SHORTEST = np.arange(-64.37, 64.5, 0.25), np.arange(-64.0, 65.0, 4.0), 1e-8
# How much of the size there a jump is at least, how far off a kink and a jump may be, and where sides are looked at.
_LEAST_JUMP, _OFF, _BESIDE = 1e-6, (1e-12, 1e-15), 1e-3
# Panels that are bisected together: there are places for some eighteen breakpoints at a time.
_TOGETHER, _MOST_ROUNDS, _LARGEST_DEGREE, _MOST_LISTED = 16, 8, 16, 8
_MOST_PLACES = 2_000  # a step in every tenth has 1280; rounding of single precision has many more


@dataclass(eq=False)
class Values:
    """Doubles of a callable; `rounding` is relative to their size, and the panels between `splits` resolve it."""

    function: Callable[[Array], Array]
    rounding: float = 0.0
    splits: tuple[float, ...] = ()

    def __call__(self, x: Array) -> Array:
        return self.function(np.ravel(x)).reshape(np.shape(x))

    @cached_property
    def slope(self) -> Values:
        """f' by interpolation of f on the panels, halved; its rounding is what halving them moved it by."""
        edges, places = distinct([2.0 * _WIDE, _WIDE, np.array(self.splits)]), np.linspace(-4.001, 4.003, 401)
        coarse, fine = _slope(self, edges), _slope(self, np.union1d(edges, 0.5 * (edges[1:] + edges[:-1])))
        size, off = np.linalg.norm(fine(places)), np.linalg.norm(coarse(places) - fine(places))
        return Values(fine, float(off / size) if size else 0.0)


def _slope(values: Values, edges: Array) -> Callable[[Array], Array]:
    pieces = [np.polynomial.Chebyshev.interpolate(values, PANEL_ORDER - 1, ends).deriv() for ends in pairwise(edges)]

    def slope(x: Array) -> Array:
        panel, found = np.clip(np.searchsorted(edges, x) - 1, 0, len(pieces) - 1), np.empty_like(x)
        for k in np.unique(panel):
            found[panel == k] = pieces[k](x[panel == k])
        return found

    return slope


@dataclass(frozen=True)
class ByValues(Activation):
    """An activation known by `values` in double precision, with breakpoints declared or detected."""

    values: Values
    cuts: tuple[Breakpoint, ...]
    declared: tuple[float, ...]

    breakpoints = property(lambda self: self.cuts)
    panels = property(lambda self: (Panel(None, None, self.expression),))
    derivative_growth = property(lambda self: self.growth)
    parity, strip, polynomial_parts = "undecided", None, (None, None)

    def __repr__(self) -> str:
        near = sorted(self.cuts, key=lambda cut: abs(cut.value))
        listed = [f"{cut} ({'declared' if cut.value in self.declared else 'detected'})" for cut in near[:_MOST_LISTED]]
        listed += [f"and {len(near) - _MOST_LISTED} more"] * (len(near) > _MOST_LISTED)
        return f"{self} by its values, with {', '.join(listed) or 'no breakpoint declared or detected'}"

    def view(self, values: Values) -> tuple[Any, ...]:
        """The fields of the quadrature's `Integrand` of the function or its derivative, on the panels of bisection."""
        places, rough = tuple(cut.value for cut in self.cuts), any(cut.root for cut in self.cuts)
        known = values, places, self.values.splits, np.inf, float(self.growth.degree), 0.0, 0.0, rough
        return *known, False, 0.0, values.rounding

    @cached_property
    def growth(self) -> Growth:
        """The power of |x| by which the values at |x| = 64 outgrow those at 8, 16 and 32."""
        *near, far = np.abs(self.values(np.outer([8.0, 16.0, 32.0, 64.0], [-1.0, 1.0]))).max(axis=1)
        power = max(0, int(np.ceil(np.log2(max(far, 1e-3) / max(*near, 1e-3)) - 1e-6)))
        if power > _LARGEST_DEGREE:
            raise ExpressionError(f"{self} grows faster than z**{_LARGEST_DEGREE}, which requires its formula as text")
        return Growth(Fraction(float(max(*near, far))), Fraction(power))


def activation(given: Any, breakpoints: Sequence[float] | float = ()) -> Activation:
    """The activation that is given as text, as a SymPy expression, or as a function of numbers.

    given: a formula in z, or the name of a function of docs/model.md, as it is or as in PyTorch, JAX and Keras; a SymPy
        expression in one symbol; or a callable: your own, or of NumPy, SciPy, PyTorch or JAX. One that NumPy's
        protocols can trace becomes its formula; of others, values in double precision alone are used.
    breakpoints: where it jumps or has a kink, between -64 and 64. Others are looked for.

    Raises ExpressionError, in one sentence, for text outside the language, for a function that is not real and finite
    on the whole line (or not decidably so), where E|sigma(z)| is infinite under a standard Gaussian, and for a
    callable that gives no doubles, or grows faster than z**16 without a formula.

    >>> sigma = giantsteps.activation("z*exp(-z**2/2)")
    >>> sigma.parity, float(sigma(1.0))
    ('odd', 0.60653...)
    >>> giantsteps.activation(lambda x: np.maximum(x, 0))
    activation('Max(z, 0)')
    """
    places, own = np.ravel(breakpoints), callable(given) and not isinstance(given, Activation) and not is_sympy(given)
    if len(places) and not (own and places.dtype.kind in "iuf" and np.all(np.abs(places) < -_WIDE[0])):
        raise ExpressionError(
            "breakpoints are numbers between -64 and 64, of a callable alone: omit them for a formula"
        )
    if own:
        return _of_callable(given, tuple(sorted(map(float, places))))
    return checked(from_sympy(given), str(given)) if is_sympy(given) else of_text(given)


def noted(activation: Activation, target: Activation) -> tuple[str, ...]:
    """What has to be known of functions without a formula: one sentence each."""
    named = {"activation": activation, "target": target}
    return tuple(f"the {name} is {one!r}" for name, one in named.items() if isinstance(one, ByValues))


def _of_callable(function: Callable[[Any], Any], declared: tuple[float, ...]) -> Activation:
    name = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "function")
    with np.errstate(all="ignore"):
        values, formula = Values(_evaluator(function, name)), traced(function)
        found = values(_TRIED)
        if len(bad := _TRIED[~np.isfinite(found)]):
            raise ExpressionError(f"{name} is not finite in double precision at z = {bad[0]:.6g}")
        if formula and np.all(np.abs(compile_numpy(formula)(_TRIED) - found) <= _SAME * (1.0 + np.abs(found))):
            return checked(formula, name)
        node = Sampled(name, values, Z)
        read = ByValues(node, values, _detected(node, declared), declared)
        _ = read.growth
    return read


def _evaluator(function: Callable[[Any], Any], name: str) -> Callable[[Array], Array]:
    """The callable on arrays (n,): as a whole, as a tensor where PyTorch is loaded, or number by number."""
    attempts: list[Callable[[Array], Any]] = [function, np.vectorize(function, otypes=[np.float64])]
    if torch := sys.modules.get("torch"):
        attempts.insert(1, lambda x: function(torch.from_numpy(x)).detach().numpy())
    for attempt in attempts:
        try:
            whole = np.array(attempt(_TRIED.copy()))  # copies: a function may work in place, or in a buffer of its own
            apart = np.ravel([np.array(attempt(x)) for x in _TRIED[::16, None].copy()])
        except FAILURES as error:
            reason = f"{type(error).__name__}: {error}"
            continue
        reason = "at an array it does not give what it gives at each of its numbers"
        if whole.dtype.kind not in "biu" and whole.dtype != np.float64:
            reason = f"it gives {whole.dtype}: in PyTorch use module.double(), in JAX switch jax_enable_x64 on"
        elif whole.shape == _TRIED.shape and np.array_equal(apart, whole[::16], equal_nan=True):
            return lambda x: np.array(attempt(x.copy()), dtype=np.float64) if x.size else x
        break
    raise ExpressionError(f"{name} is no activation: {reason}")


def _detected(node: Sampled, declared: tuple[float, ...]) -> tuple[Breakpoint, ...]:
    """The declared breakpoints and those that bisection of panels meets; a root is met again once it is known."""
    values, splits, roots = node.values, list[float](), set[float]()
    places = {x: _breakpoint(values, x, x)[1] for x in declared}
    for _ in range(_MOST_ROUNDS):
        edges = distinct([_NARROW, np.array([*places])])
        splits = _bisected(values, edges)
        edges = distinct([edges, np.array(splits)])
        short = np.flatnonzero(np.diff(edges) < _SHORTEST * np.maximum(1.0, np.abs(edges[1:])))
        groups = np.split(short, np.flatnonzero(np.diff(short) > 1) + 1) if len(short) else []
        spans = [(float(edges[k[0]]), float(edges[k[-1] + 1])) for k in groups]
        roots = {x for x in places for low, high in spans if low <= x <= high}
        met = [span for span in spans if not any(span[0] <= x <= span[1] for x in roots)]
        if not met:
            break
        if len(places) + len(met) > _MOST_PLACES:
            raise ExpressionError(
                f"{node} has more than {_MOST_PLACES} breakpoints, which requires its formula as text"
            )
        places |= dict(_breakpoint(values, *span) for span in met)
    known = {*places, *splits}
    values.splits = tuple(sorted(known | {*_bisected(values, distinct([_WIDE, np.array([*known])]))}))
    located = ((x, Location(number(Fraction(repr(x))))) for x in sorted(places))
    return tuple(Breakpoint(place, places[x], True, x in roots, node, node) for x, place in located)


def _bisected(values: Values, edges: Array, together: int = _TOGETHER) -> list[float]:
    """The splits of all panels; where there are too many for panels together, one panel is bisected at a time."""
    found = list[float]()
    for part in (edges[k : k + together + 1] for k in range(0, len(edges) - 1, together)):
        splits = smooth_panels(values, part, (), PANEL_ORDER).splits
        if len(splits) >= MOST_SPLITS and together == 1:
            raise ExpressionError(
                f"the function is not smooth between breakpoints near z = {part[0]:.3g}: it is random, of single "
                "precision, too steep, or has a root there; give its formula as text"
            )
        found += _bisected(values, part, 1) if len(splits) >= MOST_SPLITS else splits
    return found


def _breakpoint(values: Values, low: float, high: float) -> tuple[float, bool]:
    """Where between two places the function leaves its left side for its right one, and whether it jumps there."""
    low, high = low - 1e-14 * max(1.0, abs(low)), high + 1e-14 * max(1.0, abs(high))
    sides = [
        np.polynomial.Chebyshev.interpolate(values, 6, ends) for ends in ([low - _BESIDE, low], [high, high + _BESIDE])
    ]
    while low < (middle := 0.5 * (low + high)) < high:
        left, right = (abs(values(np.array([middle]))[0] - side(middle)) for side in sides)
        low, high = (middle, high) if left <= right else (low, middle)
    left, right = values(np.array([low, high]))
    jump = bool(abs(right - left) > _LEAST_JUMP * (1.0 + abs(left) + abs(right)))
    near = (round(high, n) for n in range(16))
    return next((x for x in near if abs(x - high) <= _OFF[jump] * max(1.0, abs(high))), high), jump

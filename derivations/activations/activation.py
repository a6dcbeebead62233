"""An activation or target as data: parity, breakpoints, growth and analyticity, read off the expression tree.

Everything stated is decided by exact or interval arithmetic on rationals, or said to be undecided.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

from giantsteps.derivations.activations.growth import GrowsTooFast, Growth, exp_upper, growth
from giantsteps.derivations.activations.intervals import Interval, Undecided, enclose, point
from giantsteps.derivations.activations.locations import Location, difference_sign, order
from giantsteps.derivations.activations.panels import JUMP, ROOT, Panel, panels
from giantsteps.derivations.activations.strip_growth import HalfWidth, strip_growth, strip_half_width
from giantsteps.derivations.expressions.algebra import add, multiply, negate, substitute, subtract
from giantsteps.derivations.expressions.budget import TookTooLong, at_most
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.normal_form import TooComplex, as_polynomial, normal
from giantsteps.derivations.expressions.parser import meant_by_constant, parse
from giantsteps.derivations.expressions.tree import Expression, ExpressionError, Number, Z, depends_on_z, number, walk

# The most operations that one question about an expression may take: some seconds.
_MOST_OPERATIONS = 4_000_000
_STRIPS = [Fraction(n) / 64 for n in (256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 4, 2, 1)]

Answer = TypeVar("Answer")
Parts = tuple[list[Fraction] | None, list[Fraction] | None]

__all__ = ["Activation", "Breakpoint", "Growth", "Panel", "activation", "integrable_square"]


@dataclass(frozen=True)
class Breakpoint:
    """A place where the expression changes from one analytic branch to another.

    jump: the one-sided limits differ.  kink: the one-sided derivatives differ (or could not be shown equal).
    root: a square root or fractional power vanishes there, so the derivative may be unbounded.
    """

    location: Location
    jump: bool
    kink: bool
    root: bool
    left: Expression
    right: Expression

    @property
    def value(self) -> float:
        """The place in double precision."""
        return self.location.value

    def enclosure(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational bounds of the place, no further apart than 2**-bits."""
        return self.location.enclosure(bits)

    def __str__(self) -> str:
        what = "jump" if self.jump else "root" if self.root else "kink" if self.kink else "smooth join"
        return f"{what} at z = {self.location}"


@dataclass(frozen=True)
class Activation:
    """A function of one real variable, real and finite on the whole line, with E|sigma(z)| finite under N(0, 1).

    expression: the tree of the formula.

    Build it with `activation(text)`, or with `Activation.checked(expression)`; the plain constructor checks lazily.
    Call it with a number or an array.

    >>> relu = giantsteps.activation("relu")
    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    expression: Expression

    # How an expression is evaluated at a number or an array: `numerics.gaussian.evaluate` puts NumPy's interpreter
    # here.
    _interpreter: ClassVar[list[Callable[[Expression, Any], Any]]] = []

    def __call__(self, z: Any) -> Any:
        """sigma(z) in double precision: a float at a number, an array of the same shape at an array."""
        return self.evaluate(z)

    def evaluate(self, z: Any) -> Any:
        """sigma(z) in double precision, as a call of sigma. Raises ExpressionError where the value is not finite."""
        if not self._interpreter:
            raise ExpressionError("to evaluate an activation at a point import giantsteps first")
        return self._interpreter[0](self.expression, z)

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"activation({str(self.expression)!r})"

    @classmethod
    def checked(cls, expression: Expression) -> Activation:
        """The activation, after the checks of domain and integrability.

        Raises ExpressionError where the expression is not real and finite, or that cannot be decided.
        """
        built = cls(expression)
        if 2 * built.growth.quadratic >= 1:
            which = "is infinite" if built.growth.sharp else "could not be shown to be finite"
            raise ExpressionError(
                f"E|sigma(z)| of {expression} under a standard Gaussian {which}: it grows like "
                f"exp({built.growth.quadratic} z**2), and less than exp(z**2/2) is accepted, as in exp(z**2/10)"
            )
        return built

    @functools.cached_property
    def panels(self) -> tuple[Panel, ...]:
        """The open intervals between breakpoints, left to right, each with its analytic branch."""
        return tuple(panels(self.expression))

    @functools.cached_property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """The breakpoints, sorted; of endlessly many, as those of sign(sin(z)), the ones with |z| < 64, and where the
        others begin what is known to be a jump.
        """
        return tuple(
            _breakpoint(before, after)
            for before, after in pairwise(self.panels)
            if not (before.endless or after.endless) or jump_sign(before, after)
        )

    @functools.cached_property
    def growth(self) -> Growth:
        """|sigma(x)| <= A (1+|x|)^k exp(a|x| + q x^2) on the whole line."""
        return self._growth_of(tuple(panel.branch for panel in self.panels))

    @functools.cached_property
    def derivative_growth(self) -> Growth:
        """The same bound for the derivative away from the breakpoints.

        Raises GrowsTooFast where the derivative is unbounded at a breakpoint (a root) or no bound is found.
        """
        slopes = tuple(derivative(panel.branch) for panel in self.panels)
        try:
            ruled = self._growth_of(slopes)
        except GrowsTooFast:
            bound = self._cauchy_bound()
            if bound is None:
                raise
            return bound
        # sinh(u)/cosh(u)^2 is bounded factor by factor, far too generously
        if (ruled.quadratic, ruled.rate) > (max(Fraction(0), self.growth.quadratic), self.growth.rate):
            bound = self._cauchy_bound()
            if bound is not None and (bound.quadratic, bound.rate) < (ruled.quadratic, ruled.rate):
                return bound
        return ruled

    def _cauchy_bound(self) -> Growth | None:
        """|sigma'(x)| <= max |sigma| on the circle of radius d around x, over d; d inside the strip."""
        if self.strip is None:
            return None
        radius = Fraction(1) if isinstance(self.strip, float) else min(Fraction(1), self.strip / 2)
        bound = strip_growth(self.panels[0].branch, radius)
        if bound is None:
            return None
        quadratic = max(Fraction(0), bound.quadratic)
        factor = exp_upper(bound.rate * radius + quadratic * radius**2) * (1 + radius) ** math.ceil(bound.degree)
        return Growth(bound.constant * factor / radius, bound.degree, bound.rate + 2 * quadratic * radius, quadratic)

    def _growth_of(self, branches: tuple[Expression, ...]) -> Growth:
        bounds = [growth(b, panel_interval(p)) for b, p in zip(branches, self.panels, strict=True)]
        return functools.reduce(Growth.either, bounds)

    @functools.cached_property
    def parity(self) -> str:
        """odd, even, neither or undecided (the zero function is even)."""
        return _answered(lambda: _parity(self), "undecided")

    @functools.cached_property
    def polynomial_parts(self) -> Parts:
        """The even part (sigma(z) + sigma(-z))/2 and the odd part (sigma(z) - sigma(-z))/2: coefficients c_0, c_1, ...

        Almost everywhere; None for a part that is no polynomial with rational coefficients, or not known to be one. The
        odd part of relu is z/2, the even part of the sigmoid 1/2.
        """
        undecided: Parts = (None, None)
        return _answered(lambda: (_polynomial_part(self, 1), _polynomial_part(self, -1)), undecided)

    @functools.cached_property
    def strip(self) -> HalfWidth:
        """Half width of a strip around the real line where sigma is analytic: a lower bound, math.inf when entire.

        None where there are breakpoints, or where it is undecided (then there are none).
        """
        if len(self.panels) > 1:
            return None
        return _answered(self._decided_strip, None)

    def _decided_strip(self) -> HalfWidth:
        branch = self.panels[0].branch
        ruled = strip_half_width(branch)
        if ruled is not None:
            return ruled
        # a strip on which a growth bound is found is a strip of analyticity
        return next((h for h in _STRIPS if strip_growth(branch, h) is not None), None)

    @property
    def jumps(self) -> tuple[Breakpoint, ...]:
        """The breakpoints where sigma jumps: there sigma' has a Dirac part."""
        return tuple(b for b in self.breakpoints if b.jump)


def _answered(question: Callable[[], Answer], undecided: Answer) -> Answer:
    """The answer to one question about an expression, or `undecided` where it takes too many operations.

    Where an outer budget ends first, nothing is decided, and nothing may be remembered: TookTooLong is raised.
    """
    with at_most(_MOST_OPERATIONS) as budget:
        try:
            return question()
        except TookTooLong:
            if budget.outer_exhausted:
                raise
            return undecided


def panel_interval(panel: Panel, bits: int = 64) -> Interval:
    """A closed interval with rational ends around the panel."""
    low = -math.inf if panel.left is None else panel.left.place.enclosure(bits)[0]
    high = math.inf if panel.right is None else panel.right.place.enclosure(bits)[1]
    return Interval(low, high, panel.left is None, panel.right is None)


def activation(text: str | Activation) -> Activation:
    """The activation written as `text`; one that is built already is returned as it is.

    Raises ExpressionError as the public function of this name (`numerics.gaussian.callables`).
    """
    if isinstance(text, Activation):
        return text
    if not isinstance(text, str):
        accepted = (
            'a formula in z as text, a SymPy expression or a function is accepted, for example "tanh(z)" or np.tanh'
        )
        raise ExpressionError(f"a value of type {type(text).__name__} was given: {accepted}")
    return _read(text)


@functools.lru_cache(maxsize=256)
def _read(text: str) -> Activation:
    expression = parse(text)
    meant = "" if depends_on_z(expression) else meant_by_constant(text)
    if meant:
        raise ExpressionError(
            f"{_short(text)!a} does not depend on z; did you mean {meant}? A constant is written as a number, as 1/2 is"
        )
    return checked(expression, text)


def checked(expression: Expression, text: str) -> Activation:
    """The activation of a tree that was given as `text`. Raises ExpressionError as `activation`."""
    try:
        with at_most(_MOST_OPERATIONS):
            built = Activation.checked(expression)
            _ = built.breakpoints
            return built
    except (Undecided, GrowsTooFast, TooComplex, TookTooLong) as reason:
        raise ExpressionError(f"{_short(str(expression))} is not accepted: {reason}") from None
    except RecursionError:
        raise ExpressionError(f"{_short(text)} is not accepted: its operations are nested too deeply") from None


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def integrable_square(function: Activation, spike: float, bulk: float) -> bool:
    """Whether E[sigma(u kappa + sqrt(c) z)^2] is finite, kappa and z standard Gaussian, u = spike, c = bulk.

    The argument has variance v = u^2 + c (a bias changes nothing), and sigma^2 is integrable when 4 q v < 1 for the
    growth exp(q x^2).  Raises ExpressionError where the bound reaches 1 but is not known to be attained.
    """
    variance = Fraction(spike) ** 2 + Fraction(bulk)
    bound = function.growth
    if 4 * bound.quadratic * variance < 1:
        return True
    if bound.sharp:
        return False
    raise ExpressionError(
        f"whether the second moment of {function} is finite for an argument of variance {float(variance):.6g} "
        f"could not be decided: the growth bound is exp({bound.quadratic} z**2)"
    )


def _kinds(before: Panel, after: Panel) -> frozenset[str]:
    """What is responsible for the cut between two panels; a root that ends there may be known to its side alone."""
    assert before.right is not None
    assert after.left is not None
    return before.right.kinds | after.left.kinds


def jump_sign(before: Panel, after: Panel) -> int | None:
    """The sign of how far sigma jumps down between two panels, 0 only where it is known not to, None when undecided."""
    assert after.left is not None
    if JUMP not in _kinds(before, after):
        return 0
    return difference_sign(subtract(before.branch, after.branch), after.left.place)


def _breakpoint(before: Panel, after: Panel) -> Breakpoint:
    assert after.left is not None
    place, gap = after.left.place, jump_sign(before, after)
    if gap is None:
        raise Undecided(f"whether the function jumps at z = {place} could not be decided")
    root = ROOT in _kinds(before, after)
    slopes = subtract(derivative(before.branch), derivative(after.branch))
    kink = root or difference_sign(slopes, place) != 0
    return Breakpoint(place, gap != 0, kink, root, before.branch, after.branch)


def _parity(function: Activation) -> str:
    mirrored = _mirror_sign(function)
    if mirrored is not None:
        return {1: "even", -1: "odd"}[mirrored]
    even_refuted = odd_refuted = False
    for x in _witnesses(function):
        try:
            here, there = (enclose(function.expression, point(y), 128) for y in (x, -x))
        except Undecided:
            continue
        even_refuted |= here.low > there.high or here.high < there.low
        odd_refuted |= here.low > -there.low or here.high < -there.high
        if even_refuted and odd_refuted:
            return "neither"
    return "undecided"


def _witnesses(function: Activation) -> list[Fraction]:
    values = {Fraction(1), Fraction(2), Fraction(1, 2), Fraction(7, 3), Fraction(1, 1000), Fraction(5)}
    values |= {abs(n.value) for n in walk(function.expression) if isinstance(n, Number) and 0 < abs(n.value) < 100}
    values |= {abs(panel.sample()) for panel in function.panels} - {Fraction(0)}
    # Between a breakpoint and the mirror image of another, on both sides of zero another branch holds.
    ends = sorted({abs(panel.right.place.enclosure(64)[0]) for panel in function.panels if panel.right is not None})
    values |= {(a + b) / 2 for a, b in pairwise(ends)}
    return sorted(values)


def _polynomial_part(function: Activation, sign: int) -> list[Fraction] | None:
    mirrored = multiply(number(sign), substitute(function.expression, negate(Z)))
    return as_polynomial(multiply(number(Fraction(1, 2)), add(function.expression, mirrored)))


def _mirror_sign(function: Activation) -> int | None:
    """1 or -1 when every branch is proved to be the mirror image of the opposite one, or its negative."""
    parts = function.panels
    ends = [panel.right.place for panel in parts[:-1] if panel.right is not None]
    try:
        for place, opposite in zip(ends, reversed(ends), strict=True):
            if not _mirrored_places(place, opposite):
                return None
        forms = [normal(panel.branch) for panel in parts]
        mirrored = [normal(substitute(panel.branch, negate(Z))) for panel in reversed(parts)]
    except (Undecided, TooComplex):
        return None
    if all(a.same_as(b) for a, b in zip(forms, mirrored, strict=True)):
        return 1
    if all(a.same_as(b.scaled(Fraction(-1))) for a, b in zip(forms, mirrored, strict=True)):
        return -1
    return None


def _mirrored_places(place: Location, opposite: Location) -> bool:
    if opposite.exact is not None:
        image = Location(negate(opposite.exact))
    else:
        assert opposite.function is not None
        image = Location(None, substitute(opposite.function, negate(Z)), -opposite.high, -opposite.low)
    return order(place, image) == 0

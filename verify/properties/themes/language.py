"""The language that activations are written in: text, values, slopes, facts and averages of any expression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from hypothesis import strategies as st

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.expressions.algebra import add, multiply, substitute
from giantsteps.derivations.expressions.exact import working_digits
from giantsteps.derivations.expressions.tree import Expression, ExpressionError, Number, number
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import ESTIMATES, decided, is_so, near
from giantsteps.verify.properties.property import THEORY, Theory, altered, holds, plant
from giantsteps.verify.properties.strategies import Z, any_activations, expressions, steps

places = steps(-40, 40, "0.1")
Case = tuple[Expression, float]
_POINTS = np.linspace(0.0137, 6.0, 97)
# Fifty digits are exact beside doubles.
_DIGITS = 50


def shown(case: Any) -> str:
    """giantsteps activation of the expression."""
    return commands.activation(str(case[0] if isinstance(case, tuple) else case))


def precisely(theory: Theory, tree: Expression, x: float) -> Any:
    """The value in fifty digits; what overflows or has none says nothing."""
    with working_digits(_DIGITS):
        value = theory.precisely(tree, mpmath.mpf(x))
    decided(bool(mpmath.isfinite(value)) and abs(value) < 1e150)
    return value


@holds(
    "definitions.mu0", drawn=expressions(), reason="exact", shown=shown, examples=60,
    planted=plant("a sum loses its last term", parse=lambda text, **more: THEORY.parse(
        text.rpartition(" + ")[0] or text, **more)),
)  # fmt: skip
def text_and_back(tree: Expression, theory: Theory) -> float:
    """The text of any expression is read as that expression."""
    return is_so(theory.parse(str(tree), limited=False) == tree)


@holds(
    "definitions.mu0", drawn=st.text(alphabet="z0123456789+-*/().,<>= taherfpiMxPcwsTrue", max_size=40), reason="exact",
    shown=shown, examples=60,
    planted=plant("text is read as a number", parse=lambda text, **more: THEORY.parse(str(float(text or "0")), **more)),
)  # fmt: skip
def any_text_is_read_or_refused(text: str, theory: Theory) -> float:
    """No text ends in anything but an expression or a refusal."""
    try:
        theory.parse(text)
    except ExpressionError:
        return 1.0
    return 1.0


@holds(
    "definitions.mu0", drawn=st.tuples(expressions(), places), shown=shown, examples=60,
    reason="some hundred roundings, each as large as what a change of the argument by 1e-16 or a jump nearby makes",
    planted=plant("doubles are single", evaluate=lambda tree, x: np.float64(np.float32(THEORY.evaluate(tree, x)))),
)  # fmt: skip
def doubles_and_digits(case: Case, theory: Theory) -> float:
    """The value in doubles is that in fifty digits."""
    tree, x = case
    exact = precisely(theory, tree, x)
    near_by = [precisely(theory, tree, x + shift) for shift in (-1e-9, 1e-9)]
    spread = max(abs(float(one - exact)) for one in near_by)
    decided(spread < 1e-3 * (1.0 + abs(float(exact))))
    # Sums cancel: what the largest part of the tree is, is rounded.
    size = 1.0 + max(abs(float(_value(theory, part, x))) for part in _parts(tree))
    decided(math.isfinite(size))
    return near(float(theory.evaluate(tree, np.array([x]))[0]), float(exact), 1e-12 * size * (1.0 + size) + spread)


def _parts(tree: Expression) -> list[Expression]:
    found, pending = [], [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += node.children()
    return found


def _value(theory: Theory, part: Expression, x: float) -> float:
    try:
        with working_digits(_DIGITS):
            return float(theory.precisely(part, mpmath.mpf(x)))
    except (ExpressionError, OverflowError, ZeroDivisionError):
        return math.inf


@holds(
    "result-3-2.slope-of-mu0", drawn=st.tuples(expressions(), places), shown=shown, examples=40,
    reason="central differences of step 1e-12 in fifty digits, which agree with those of step 1e-9 to 1e-9",
    planted=plant("the slope is that of the negative", derivative=lambda tree: multiply(
        number(-1), THEORY.derivative(tree))),
)  # fmt: skip
def slopes_and_differences(case: Case, theory: Theory) -> float:
    """The derivative is what difference quotients tend to, away from kinks."""
    tree, place = case
    x, slope = place + 0.0123, theory.derivative(tree)

    def quotient(size: str) -> Any:
        h = mpmath.mpf(size)
        return (theory.precisely(tree, x + h) - theory.precisely(tree, x - h)) / (2 * h)

    with working_digits(_DIGITS):
        x = mpmath.mpf(x)
        near_by, far, found = quotient("1e-12"), quotient("1e-9"), theory.precisely(slope, x)
        decided(all(map(mpmath.isfinite, (near_by, far, found))) and abs(near_by - far) < 1e-9 * (1 + abs(near_by)))
        return near(float((found - near_by) / (1 + abs(near_by))), 0.0, 1e-9)


@holds(
    "result-3-2.strong-spike", drawn=st.tuples(expressions(), places), shown=shown, examples=40,
    reason="fifty digits",
    planted=plant("the argument is squared", precisely=lambda tree, x: THEORY.precisely(tree, x * x)),
)  # fmt: skip
def substitution_is_composition(case: Case, theory: Theory) -> float:
    """f(a z + b) at z is f at a z + b."""
    tree, x = case
    inner = add(multiply(number(2), Z), number(-1))
    composed, inside = precisely(theory, substitute(tree, inner), x), precisely(theory, tree, 2 * x - 1)
    return near(float((composed - inside) / (1 + abs(inside))), 0.0, 1e-12)


@holds(
    "result-3-1.zero-curvature", drawn=expressions(), shown=shown, examples=40, reason="rounding of values up to 1e9",
    planted=plant("z^2 - 1 is added after the parity was read", evaluate=lambda tree, x: THEORY.evaluate(tree, x)
                  + np.asarray(x) ** 2 + np.asarray(x)),
)  # fmt: skip
def parity_is_true(tree: Expression, theory: Theory) -> float:
    """What is said to be odd, even or neither is so, and breakpoints are in order."""
    function = theory.analysed(tree)
    right, left = (np.asarray(theory.evaluate(tree, side * _POINTS)) for side in (1.0, -1.0))
    scale = 1.0 + float(np.max(np.abs(right)) + np.max(np.abs(left)))
    decided(math.isfinite(scale) and scale < 1e9)
    if [point.value for point in function.breakpoints] != sorted(point.value for point in function.breakpoints):
        return -1.0
    if function.parity == "undecided":  # which says nothing
        return 1.0
    if function.parity == "neither":
        refuted = all(np.max(np.abs(left - sign * right)) > 1e-9 * scale for sign in (1.0, -1.0))
        return is_so(refuted or not any(_mirrored(theory, tree, function, sign) for sign in (1, -1)))
    sign = 1.0 if function.parity == "even" else -1.0
    return near(left, sign * right, 1e-9 * scale)


def _mirrored(theory: Theory, tree: Expression, function: Activation, sign: int) -> bool:
    """Whether f(-x) = sign f(x) in forty of fifty digits: on a grid, beyond all breakpoints and between the mirror
    images of two, and at the numbers of the text, where narrow peaks are."""
    ends = sorted({abs(float(point.value)) for point in function.breakpoints})
    between = [(a + b) / 2.0 for a, b in pairwise(ends)]
    numbers = [abs(float(part.value)) for part in _parts(tree) if isinstance(part, Number)]
    with working_digits(_DIGITS):
        for x in map(mpmath.mpf, [*_POINTS[::8], *between, *(end + 1.0 for end in ends), *numbers]):
            try:
                here, there = (theory.precisely(tree, place) for place in (x, -x))
            except (ExpressionError, OverflowError, ZeroDivisionError):
                continue
            off, size = abs(there - sign * here), abs(here) + abs(there)
            if mpmath.isfinite(size) and off > mpmath.mpf("1e-40") * size:
                return False
    return True


def _compared(values: Mapping[str, float], errors: Mapping[str, float], balls: Any) -> float:
    """The least margin of values, each within ten times its estimate and the radius of its ball."""
    margins = []
    for name, value in values.items():
        ball = getattr(balls, name)
        if ball.ball is None or not math.isfinite(errors[name]) or not math.isfinite(ball.value):
            continue
        allowed = ESTIMATES * errors[name] + ball.radius + 1e-13 * (1.0 + abs(ball.value))
        margins.append(near(value, ball.value, allowed))
    decided(bool(margins))
    return min(margins)


@holds(
    "result-3-1.check-constant", drawn=any_activations(), shown=shown, examples=8,
    reason="the radius of the ball, and ten times the estimate in doubles",
    planted=altered("h1 is a millionth too large", "constants", h1=lambda found, _: found.h1 * (1 + 1e-6) + 1e-6),
)  # fmt: skip
def averages_and_balls(text: str, theory: Theory) -> float:
    """Mean, h1, h2, E[sigma''] and E[(sigma' - h1)^2] in doubles lie in their balls, up to their estimates."""
    sigma = activation(text)
    found = theory.constants(sigma)
    names = ("mean", "h1", "h2", "curvature", "h1_check")
    values = {name: getattr(found, name) for name in names if math.isfinite(getattr(found, name))}
    balls = theory.hermite_balls(sigma, bits=60, operations=300_000)
    return _compared(values, found.errors._asdict(), balls)

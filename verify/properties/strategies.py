"""What properties are tried on: numbers, activations and targets, models, networks, expressions of the whole language.

Numbers are decimals of few digits on a grid whose middle is simple, so that a shrunk example is one that a person would
type.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.algebra import add, call, divide, maximum, minimum, multiply, piecewise, power
from giantsteps.derivations.expressions.named import NAMED
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import (
    ALWAYS,
    Call,
    Comparison,
    Expression,
    ExpressionError,
    Number,
    Variable,
    number,
)
from giantsteps.numerics.models.model import UNIFORM, Model, ModelError, ReadoutGroup

Z = Variable()
ODD = ("tanh", "erf", "sin", "arctan", "z/sqrt(1+z**2)", "asinh", "tanh(2*z)")
SMOOTH = (*ODD, "softplus", "gelu", "tanh(z)+1/4", "cos(z)+z/2", "sigmoid(3*z)", "exp(-z**2)+z/3", "silu")
KINKED = ("relu", "hardtanh", "leaky_relu(z,1/10)", "Abs(z-1/2)", "elu", "Max(z-1/2,-1)")
JUMPING = ("sign", "step(z-1/3)", "sign(z)+z/2")
ANY = (*SMOOTH, *KINKED, *JUMPING)
POLYNOMIAL = ("z", "he2", "he3", "z**3/6-z/2")
LABELS = ("sign", "sign(z-1/3)")
# Features without a spike of measure: their averages need no more than a student along the spike has.
STUDENTS, TARGETS = (*ANY, *POLYNOMIAL[2:]), (*ANY, *POLYNOMIAL)


def powers(low: int, high: int) -> SearchStrategy[float]:
    """Numbers from 10^low to 10^high, even in the logarithm, sixteen a decade with three digits."""
    return st.integers(16 * low, 16 * high).map(lambda k: float(f"{10.0 ** (k / 16):.3g}"))


def steps(low: int, high: int, size: str) -> SearchStrategy[float]:
    """The multiples low, ..., high of a decimal."""
    return st.integers(low, high).map(lambda k: float(k * Fraction(size)))


def signed(size: SearchStrategy[float]) -> SearchStrategy[float]:
    """A number of either sign."""
    return st.tuples(size, st.booleans()).map(lambda pair: -pair[0] if pair[1] else pair[0])


alignments = steps(-20, 20, "0.05")
spikes = steps(-60, 60, "0.05")
bulks = steps(2, 60, "0.05")
noises = st.one_of(st.just(0.0), powers(-3, 1))
# What the ridge readout promises to solve, and what is well conditioned, where differences of errors mean something.
WIDE: dict[str, SearchStrategy[float]] = {
    "alpha": powers(-2, 2), "beta": powers(-2, 2), "ridge": powers(-12, 6), "noise": noises, "spike": spikes,
    "bulk": bulks, "alignment": alignments,
}  # fmt: skip
TAME: dict[str, SearchStrategy[float]] = {
    "alpha": steps(6, 80, "0.05"), "beta": steps(6, 60, "0.05"), "ridge": powers(-2, 1), "noise": steps(0, 10, "0.05"),
    "spike": signed(steps(6, 50, "0.05")), "bulk": steps(10, 40, "0.05"), "alignment": steps(-18, 18, "0.05"),
}  # fmt: skip
STEPS: dict[str, SearchStrategy[float]] = {
    "alpha": steps(6, 80, "0.05"), "beta": steps(6, 60, "0.05"), "ridge": powers(-2, 1), "noise": steps(0, 10, "0.05"),
    "alpha0": powers(-1, 2), "eta": steps(1, 60, "0.05"),
}  # fmt: skip


@st.composite
def readouts(draw: DrawFn, most: int = 3, biases: bool = True) -> tuple[ReadoutGroup, ...]:
    """Groups of different weights, fractions, bulks and biases."""
    count = draw(st.integers(2, most))
    shares = [draw(st.integers(1, 4)) for _ in range(count)]
    groups = [
        ReadoutGroup(
            draw(steps(-30, 30, "0.05")), share / sum(shares), draw(st.one_of(st.none(), steps(10, 40, "0.05"))),
            draw(steps(-10, 10, "0.1")) if biases else 0.0,
        )
        for share in shares
    ]  # fmt: skip
    return tuple(groups)


@st.composite
def models(
    draw: DrawFn,
    /,
    activations: tuple[str, ...] | SearchStrategy[Any] = STUDENTS,
    targets: tuple[str, ...] | SearchStrategy[Any] = TARGETS,
    readout: SearchStrategy[tuple[ReadoutGroup, ...]] | None = None,
    ranges: dict[str, SearchStrategy[float]] = WIDE,
    **fixed: Any,
) -> Model:
    """Models by spike, bulk and alignment, of any size of readout; `fixed` gives a parameter or its strategy."""
    functions = {
        name: draw(st.sampled_from(given) if isinstance(given, tuple) else given)
        for name, given in (("activation", activations), ("target", targets))
    }
    values = {name: _drawn(draw, fixed.get(name, given)) for name, given in ranges.items()}
    more = {name: _drawn(draw, given) for name, given in fixed.items() if name not in ranges}
    try:
        return Model(**functions, **values, **more, readout=UNIFORM if readout is None else draw(readout))
    except (ModelError, ExpressionError):  # a second moment that is infinite, an alignment outside of the ball
        hypothesis.reject()


def _drawn(draw: DrawFn, given: Any) -> Any:
    return draw(given) if isinstance(given, SearchStrategy) else given


@st.composite
def stepped(
    draw: DrawFn,
    /,
    activations: tuple[str, ...] = ODD,
    targets: tuple[str, ...] = ODD,
    ranges: dict[str, SearchStrategy[float]] = STEPS,
    **fixed: Any,
) -> dict[str, Any]:
    """Networks before their step, as the arguments of `Model.from_gradient_step`."""
    values: dict[str, Any] = {
        "activation": draw(st.sampled_from(activations)),
        "target": draw(st.sampled_from(targets)),
    }
    values |= {name: _drawn(draw, fixed.get(name, given)) for name, given in ranges.items()}
    return values | {name: _drawn(draw, given) for name, given in fixed.items() if name not in ranges}


def wide(**fixed: Any) -> SearchStrategy[Model]:
    """Any functions and all that the solver promises."""
    return models(**fixed)


def tame(**fixed: Any) -> SearchStrategy[Model]:
    """Smooth functions and well conditioned models: where rates and derivatives can be read off."""
    return models(**({"activations": SMOOTH, "targets": SMOOTH, "ranges": TAME} | fixed))


def odd(**fixed: Any) -> SearchStrategy[Model]:
    """Odd smooth functions and well conditioned models."""
    return tame(**({"activations": ODD, "targets": ODD} | fixed))


# ---- expressions ----

_CONSTANTS = st.one_of(
    st.fractions(-9, 9, max_denominator=9).map(Number), st.sampled_from([parse("pi"), parse("e"), number(0), number(1)])
)
# Named functions of one argument; those of the tree that are real and finite on the whole line.
_PARTIAL = ("log", "sqrt", "tan")
_TOTAL = sorted(name for name, named in NAMED.items() if named.least == 1 and name not in _PARTIAL)
_SIDES = ("<", "<=", ">", ">=")


def _grown(inner: SearchStrategy[Expression]) -> SearchStrategy[Expression]:
    def named(name: str, argument: Expression) -> Expression:
        return NAMED[name].build(argument)

    return st.one_of(
        st.builds(add, inner, inner),
        st.builds(add, inner, inner, inner, inner),
        st.builds(multiply, inner, inner),
        st.builds(lambda a, b: divide(a, add(power(b, number(2)), number(1))), inner, inner),
        *(st.builds(named, st.sampled_from(part), inner) for part in (_TOTAL[::3], _TOTAL[1::3], _TOTAL[2::3])),
        st.builds(lambda k, a: NAMED["he"].build(number(k), a), st.integers(0, 6), inner),
        st.builds(maximum, inner, inner),
        st.builds(minimum, inner, inner, inner),
        st.builds(lambda a, k: power(a, number(k)), inner, st.integers(1, 5)),
        st.builds(lambda a: call("sqrt", add(power(a, number(2)), number(1))), inner),
        st.builds(lambda a: call("log", add(power(a, number(2)), number(2))), inner),
        st.builds(
            lambda a, b, x, side: piecewise((a, (Comparison(Z, side, x),)), (b, ALWAYS)),
            inner, inner, st.integers(-3, 3).map(number), st.sampled_from(_SIDES),
        ),
    )  # fmt: skip


def expressions(most: int = 6) -> SearchStrategy[Expression]:
    """Trees of the whole language: constants, arithmetic, every function that is real on the line, pieces."""
    leaves = st.one_of(st.just(Z), st.just(Z), _CONSTANTS)
    return st.recursive(leaves, _grown, max_leaves=most).filter(lambda tree: len(str(tree)) <= 300)


def functions_of(tree: Expression) -> set[str]:
    """The names of the tree's functions and of its kinds of nodes."""
    pending, found = [tree], set()
    while pending:
        node = pending.pop()
        found.add(node.name if isinstance(node, Call) else type(node).__name__)
        pending += node.children()
    return found


def any_activations(most: int = 4) -> SearchStrategy[str]:
    """Texts of activations from the whole language, those that are accepted."""

    def accepted(text: str) -> bool:
        try:
            return activation(text).expression is not None
        except ExpressionError:
            return False

    return expressions(most).map(str).filter(accepted)

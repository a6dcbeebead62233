"""Changes that leave the answer invariant: scales, signs, reflections, names, order and number of equal groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import error_of, near, trusted
from giantsteps.verify.properties.property import THEORY, Plant, Property, Theory, altered, holds, plant, plant_in_step
from giantsteps.verify.properties.strategies import (
    ANY,
    ODD,
    TAME,
    models,
    noises,
    odd,
    powers,
    readouts,
    signed,
    stepped,
    steps,
    tame,
    wide,
)
from giantsteps.verify.properties.themes.limits import changed, moved
from giantsteps.verify.properties.themes.orderings import bounded, room
from giantsteps.verify.protocol.tolerances import SOLVER

SAME = "ten times the estimates of both errors; order parameters are solved to 1e-12, with condition numbers up to 1e4"
# Of no power of two: a scale that is one leaves every rounding where it was.
scales = signed(st.sampled_from((3.0, 0.7, 0.2, 5.0, 11.0)))


def same(one: Solution, other: Solution) -> float:
    """The margin of both errors of one solution being those of another."""
    found = [one.test_error, one.training_error]
    return near(found, [other.test_error, other.training_error], error_of(one, other))


def overlaps(solution: Solution, *names: str) -> list[float]:
    """Some order parameters, raveled."""
    return [float(x) for name in names for x in np.ravel(getattr(solution.order_parameters, name))]


def times(factor: float, text: Any) -> str:
    """factor times an expression, exactly."""
    return f"({factor!r})*({text})"


def of_argument(text: Any, argument: str) -> str:
    """An expression at another argument, through the tree."""
    from giantsteps.derivations.expressions.algebra import substitute
    from giantsteps.derivations.expressions.parser import parse

    return str(substitute(parse(str(text)), parse(argument)))


def _other(model: Model, **fields: Any) -> Model:
    """The model with other fields; functions are given as text."""
    return replace(model, **fields)


def _unchanged(
    name: str, claim: str, sentence: str, drawn: SearchStrategy[Any], other: Callable[..., Model], planted: Plant,
    *, before: Callable[..., Model] = lambda model, *_: model, scale: Callable[..., float] = lambda *_: 1.0,
    slack: float = 0.0, examples: int = 20, reason: str = SAME,
) -> Property:  # fmt: skip
    """Both errors of a model, times a scale, are those of another one made of it and of what is drawn beside it.

    `slack` is what the test error may move beside its estimates, as a share of itself.
    """

    def margin(case: Any, theory: Theory) -> float:
        given = case if isinstance(case, tuple) else (case,)
        one, two = trusted(theory, before(*given)), trusted(theory, other(*given))
        size = scale(*given[1:])
        allowed = max(size, 1.0) * error_of(one, two) + slack * one.test_error
        return near([size * one.test_error, size * one.training_error], [two.test_error, two.training_error], allowed)

    return Property(
        f"invariances.{name}", sentence, claim, drawn, margin, reason, planted,
        lambda case: commands.solve(other(*case) if isinstance(case, tuple) else other(case)), examples,
    )  # fmt: skip


# ---- scales ----


def _louder(model: Model, scale: float) -> Model:
    return _other(model, activation=times(scale, model.activation), ridge=scale**2 * model.ridge)


def _bigger(model: Model, scale: float) -> Model:
    return _other(model, target=times(scale, model.target), noise=scale**2 * model.noise)


scale_of_the_activation = _unchanged(
    "scale-of-the-activation", "invariance.activation",
    "sigma -> s sigma with ridge -> s^2 ridge leaves both errors alone.",
    st.tuples(wide(ridge=powers(-6, 4)), scales), _louder,
    plant("a millionth of the ridge is added at any scale", solve=changed(
        ridge=lambda model: model.ridge + 1e-3 * min(model.ridge, 1.0))),
)  # fmt: skip
scale_of_the_target = _unchanged(
    "scale-of-the-target", "invariance.target", "g -> s g with noise -> s^2 noise multiplies both errors by s^2.",
    st.tuples(wide(noise=noises), scales), _bigger, scale=lambda factor: factor**2,
    planted=plant("a hundredth of the root of the noise is added", solve=moved(lambda model: 0.01 * model.noise**0.5)),
)  # fmt: skip
scale_of_the_argument = _unchanged(
    "scale-of-the-argument", "invariance.bulk", "sigma(s z) with spike/s and bulk/s^2 has the errors of sigma(z).",
    st.tuples(wide(), scales),
    lambda model, scale: _other(model, activation=of_argument(model.activation, f"({scale!r})*z"),
                                spike=model.spike / scale, bulk=model.bulk / scale**2),
    plant("a hundredth is added to the bulk", solve=changed(bulk=lambda model: model.bulk + 0.01)),
)  # fmt: skip


@holds(
    "invariance.target", drawn=st.tuples(tame(), scales), reason=SAME,
    shown=lambda case: commands.bounds(_bigger(*case)),
    planted=altered("a thousandth is added to the lower bound", "bounds", lower=lambda found, _: found.lower + 1e-3),
)  # fmt: skip
def bounds_have_the_scale_of_the_target(case: tuple[Model, float], theory: Theory) -> float:
    """Both bounds of s g are s^2 times those of g."""
    one, other = bounded(theory, case[0]), bounded(theory, _bigger(*case))
    square = case[1] ** 2
    allowed = max(square, 1.0) * (room(one) + room(other))
    return near([square * one.lower, square * one.upper], [other.lower, other.upper], allowed)


# ---- signs and reflections ----


@holds(
    "invariance.activation", drawn=wide(), reason=SAME,
    shown=lambda model: commands.solve(_louder(model, -1.0)),
    planted=altered("m is taken without its sign", "solve", order_parameters=lambda found, _: replace(
        found.order_parameters, m=np.abs(found.order_parameters.m))),
)  # fmt: skip
def sign_of_the_activation(model: Model, theory: Theory) -> float:
    """-sigma has the errors of sigma, and the opposite m and zeta and psi."""
    one, other = trusted(theory, model), trusted(theory, _louder(model, -1.0))
    names = ("m", "zeta", "psi")
    opposite = near(overlaps(one, *names), [-x for x in overlaps(other, *names)], _of_overlaps(one, other, *names))
    return min(same(one, other), opposite)


def _of_overlaps(one: Solution, other: Solution, *names: str) -> float:
    """What order parameters may differ by: the errors where double precision limits them, beside their size."""
    size = 1.0 + max(map(abs, overlaps(one, *names)))
    return size * (SOLVER.value + 1e4 * error_of(one, other))


direction_of_the_spike = _unchanged(
    "direction-of-the-spike", "result-3-1.spike-coordinate",
    "v -> -v, that is (spike, alignment) -> -(spike, alignment), leaves both errors alone.",
    wide(), lambda model: model.changed(spike=-model.spike, alignment=-model.alignment),
    plant("the spike counts by its size", solve=changed(spike=lambda model: abs(model.spike))),
)  # fmt: skip
reflected_target = _unchanged(
    "reflected-target", "result-3-2.target-across-spike", "g(-z) with -alignment is g(z) with alignment.",
    wide(), lambda model: _other(model, target=of_argument(model.target, "-z"), alignment=-model.alignment),
    plant("a tenth of the alignment is lost where it is negative", solve=changed(
        alignment=lambda model: model.alignment if model.alignment > 0 else 0.9 * model.alignment)),
)  # fmt: skip
sign_of_the_spike_of_odd_features = _unchanged(
    "sign-of-the-spike-of-odd-features", "result-3-1.spike-coordinate",
    "For odd features spike and -spike have the same errors: a readout changes the signs.",
    models(ODD, ANY), lambda model: model.changed(spike=-model.spike),
    plant("a negative spike is a tenth stronger", solve=changed(
        spike=lambda model: model.spike * (1.0 if model.spike > 0 else 1.1))),
)  # fmt: skip


def _with_constant(model: Model) -> Model:
    """A second group of constant features, whose m is not regularised."""
    return _other(model, spike=1.0, readout=(ReadoutGroup(model.spike, 0.5), ReadoutGroup(0.0, 0.5, bias=1.0)))


constant_of_the_target = _unchanged(
    "constant-of-the-target", "random-features.mu-star",
    "Where constant features are among the letters, a target and that target plus a constant have the same errors.",
    tame(alignment=steps(-18, 18, "0.05")), lambda model: _other(_with_constant(model), target=f"({model.target})+1/2"),
    plant("a constant of the target is noise", solve=moved(
        lambda model: 0.1 * THEORY.constants(model.target).mean ** 2)),
    before=_with_constant,
)  # fmt: skip


# ---- names ----

_TWO_WAYS = {
    "tanh": "(exp(2*z)-1)/(exp(2*z)+1)", "relu": "(z+abs(z))/2", "hardtanh": "(abs(z+1)-abs(z-1))/2",
    "sigmoid(3*z)": "(1+tanh(3*z/2))/2", "sign": "2*step(z)-1", "cos(z)+z/2": "z/2+1-2*sin(z/2)**2",
    "softplus": "z/2+log(2*cosh(z/2))", "erf": "1-erfc(z)", "Max(z-1/2,-1)": "Piecewise((-1,z<-1/2),(z-1/2,True))",
    "z**3/6-z/2": "he3/6",
}  # fmt: skip
_WRITTEN: dict[str, str] = {}


def _otherwise(model: Model) -> Model:
    if not _WRITTEN:
        from giantsteps.derivations.activations.activation import activation

        _WRITTEN.update({str(activation(one)): other for one, other in _TWO_WAYS.items()})
    return _other(model, activation=_WRITTEN[str(model.activation)])


an_activation_in_other_words = _unchanged(
    "an-activation-in-other-words", "definitions.mu0", "Two expressions of one function have the same errors.",
    models(st.sampled_from(tuple(_TWO_WAYS)), ODD, ranges=TAME), _otherwise,
    plant("a long expression costs a hundredth", solve=moved(lambda model: 0.01 * (len(str(model.activation)) > 14))),
)  # fmt: skip


# ---- groups ----


def _of_weights(one: float, two: float) -> Callable[[Model, float], Model]:
    """The model with two groups of these weights, the first one of a share that is drawn."""
    return lambda model, share: _other(model, readout=(ReadoutGroup(one, share), ReadoutGroup(two, 1.0 - share)))


# The Gram matrix of equal functions is singular, and solved in the least-squares sense.
equal_groups_are_one = _unchanged(
    "equal-groups-are-one", "appendix-d.equal-letters",
    "Two groups of equal weight, whatever their fractions, are one.",
    st.tuples(tame(activations=ANY), steps(1, 19, "0.05")), _of_weights(1.0, 1.0),
    plant("a group counts once beside its fraction", solve=changed(
        ridge=lambda model: model.ridge * (1 + 0.01 * (len(model.groups) - 1)))),
    slack=SOLVER.value,
)  # fmt: skip
letters_of_both_signs = _unchanged(
    "letters-of-both-signs", "appendix-d.letter-scaling",
    "For odd features letters of both signs are one group: a readout changes the signs.",
    st.tuples(odd(), steps(1, 19, "0.05")), _of_weights(1.0, -1.0),
    plant("letters of opposite sign are a little apart", solve=changed(
        ridge=lambda model: model.ridge * (1 + 0.01 * (model.groups[-1].weight < 0)))),
    slack=SOLVER.value,
)  # fmt: skip


@holds(
    "appendix-d.equivalent-map", drawn=tame(readout=readouts()), reason=SAME,
    shown=lambda model: commands.solve(_reversed(model)),
    planted=plant("the first group has a hundredth more ridge", solve=changed(
        ridge=lambda model: model.ridge * (1 + 0.01 * model.groups[0].fraction))),
)  # fmt: skip
def order_of_the_groups(model: Model, theory: Theory) -> float:
    """Groups in another order have the same errors, and their order parameters in that order."""
    one, other = trusted(theory, model), trusted(theory, _reversed(model))
    responses = near(overlaps(one, "V2"), overlaps(other, "V2")[::-1], _of_overlaps(one, other, "V2"))
    return min(same(one, other), responses)


def _reversed(model: Model) -> Model:
    return replace(model, readout=model.groups[::-1])


weight_of_a_single_letter = _unchanged(
    "weight-of-a-single-letter", "appendix-d.row-norm",
    "One letter u with spike r is the uniform readout with spike u r.",
    st.tuples(tame(activations=ANY), steps(1, 30, "0.1")),
    lambda model, weight: _other(model, readout=(ReadoutGroup(weight),)),
    plant("a weight counts by its root", solve=changed(spike=lambda model: model.spike * math.copysign(
        abs(model.groups[0].weight) ** -0.5, model.groups[0].weight))),
    before=lambda model, weight: model.changed(spike=model.spike * weight),
)  # fmt: skip


# ---- directions ----


def _in_a_plane(model: Model, second: float, angle: float) -> Model:
    letter = ReadoutGroup(math.cos(angle), further_weights=(math.sin(angle),))
    return _other(model, readout=(letter,), further_alignments=(second,))


one_letter_in_a_plane = _unchanged(
    "one-letter-in-a-plane", "spike-directions.test-error",
    "A spike of two directions with one letter (cos t, sin t) is one along that direction.",
    st.tuples(tame(alignment=steps(-12, 12, "0.05")), steps(-12, 12, "0.05"), steps(0, 15, "0.1")), _in_a_plane,
    plant("the second alignment is lost", solve=lambda model: THEORY.solve(
        model if model.rank == 1 else model.changed(further_alignments=(0.9 * model.further_alignments[0],)))),
    before=lambda model, second, angle: model.changed(
        alignment=model.alignment * math.cos(angle) + second * math.sin(angle)),
    examples=6, reason="the rule in two dimensions moves the error by less than its estimate; ten times both estimates",
)  # fmt: skip


# ---- the step ----


@holds(
    "result-3-1.spike-order", drawn=st.tuples(stepped((*ODD, "relu"), (*ODD, "sign")), scales), reason="rounding",
    shown=lambda case: commands.stepped(_wider(*case)),
    planted=plant_in_step("the width enters by its root", lambda given: {"eta": given["eta"] * given["beta"] ** 0.5}),
)  # fmt: skip
def rate_and_width_in_one_ratio(case: tuple[dict[str, Any], float], theory: Theory) -> float:
    """Spike, bulk and alignment know learning rate and width by their ratio."""
    return _same_step(theory.step(**case[0]), theory.step(**_wider(*case)))


def _wider(given: dict[str, Any], scale: float) -> dict[str, Any]:
    return given | {name: abs(scale) * given[name] for name in ("eta", "beta")}


def _same_step(one: Model, other: Model) -> float:
    first, second = ([abs(m.spike), m.bulk, abs(m.alignment)] for m in (one, other))
    return near(first, second, 1e-11 * (1.0 + max(second)))


@holds(
    "result-3-1.spike-strength-noisy", drawn=st.tuples(stepped(targets=(*ODD, "sign")), scales), reason="rounding",
    shown=lambda case: commands.stepped(_rescaled(*case)),
    planted=plant_in_step("the noise enters by its root", lambda given: {"noise": given["noise"] ** 0.5 + 0.1}),
)  # fmt: skip
def rate_beside_the_size_of_the_target(case: tuple[dict[str, Any], float], theory: Theory) -> float:
    """A target s times as large, noise s^2 times, at 1/s of the rate leads to the same features."""
    return _same_step(theory.step(**case[0]), theory.step(**_rescaled(*case)))


def _rescaled(given: dict[str, Any], scale: float) -> dict[str, Any]:
    new = {"target": times(abs(scale), given["target"]), "eta": given["eta"] / abs(scale)}
    return given | new | {"noise": scale**2 * given["noise"]}


def _bounds_without(name: str, drawn: Any) -> Property:
    """Both bounds do not know a parameter."""

    def margin(case: tuple[Model, float], theory: Theory) -> float:
        one, other = bounded(theory, case[0]), bounded(theory, case[0].changed(**{name: case[1]}))
        return near([one.lower, one.upper], [other.lower, other.upper], room(one) + room(other))

    return Property(
        f"invariances.bounds-without-{name}", f"Neither bound knows {name}.", "bounds.sandwich",
        st.tuples(wide(), drawn), margin, "ten times the estimates of both",
        altered(f"a little of {name} is left", "bounds", upper=lambda b, model: b.upper + 1e-6 * getattr(model, name)),
        lambda case: commands.bounds(case[0].changed(**{name: case[1]})), 12,
    )  # fmt: skip


bounds_without_alpha = _bounds_without("alpha", powers(-2, 2))
bounds_without_beta = _bounds_without("beta", powers(-2, 2))
bounds_without_noise = _bounds_without("noise", noises)
bounds_without_ridge = _bounds_without("ridge", powers(-6, 6))

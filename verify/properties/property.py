"""A property: a sentence that holds for everything that can be drawn, by which margin it does, and when it fails.

A margin is 1 where nothing is off and 0 where the property only just holds; below 0 it is violated. What is looked at
comes in as `Theory`, the functions on trial, so that a property can be tried on a theory with an error planted in it:
there it has to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy
from numpy.typing import ArrayLike

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import Expression, ExpressionError
from giantsteps.numerics.balls.arithmetic import BallError, PrecisionError
from giantsteps.numerics.balls.coefficients import hermite_balls
from giantsteps.numerics.bounds.of_model import bounds
from giantsteps.numerics.bounds.results import Bounds
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.gaussian.coefficients import (
    Coefficients,
    HermiteConstants,
    TargetMoments,
    conditional_coefficients,
    hermite_constants,
    target_moments,
)
from giantsteps.numerics.gaussian.evaluate import compile_numpy, evaluate_mpmath
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex
from giantsteps.numerics.saddle_point.one_group.batch import BatchSolution, solve_batch
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.numerics.spectrum.density import Spectrum, SpectrumError, atom_at_zero, spectrum, stieltjes
from giantsteps.numerics.sweeps.store import Store
from giantsteps.verify.digits.solve import solve as solve_digits
from giantsteps.verify.ledger.drift import drift


def _changed(model: Model, values: Mapping[str, Any]) -> Model:
    return model.changed(**values)


# The paper's theory: its bulk is isotropic.
_STEP = partial(Model.from_gradient_step, bulk_model="isotropic")


@dataclass(frozen=True)
class Theory:
    """The functions on trial, by default those of this suite; a planted error replaces one."""

    solve: Callable[[Model], Solution] = solve
    batch: Callable[..., BatchSolution] = solve_batch
    convex: Callable[[Model], Solution] = solve_convex
    digits: Callable[..., Solution] = solve_digits
    certify: Callable[..., Any] = certify
    bounds: Callable[[Model], Bounds] = bounds
    spectrum: Callable[[Model], Spectrum] = spectrum
    stieltjes: Callable[[Model, complex], complex] = stieltjes
    atom: Callable[[Model], float] = atom_at_zero
    coefficients: Callable[..., Coefficients] = conditional_coefficients
    moments: Callable[..., TargetMoments] = target_moments
    constants: Callable[[Activation], HermiteConstants] = hermite_constants
    step: Callable[..., Model] = _STEP
    changed: Callable[[Model, Mapping[str, Any]], Model] = _changed
    simulate: Callable[..., Any] = simulate
    network: Callable[..., Network] = Network
    parse: Callable[..., Expression] = parse
    derivative: Callable[[Expression], Expression] = derivative
    evaluate: Callable[[Expression, ArrayLike], Any] = lambda tree, x: compile_numpy(tree)(x)
    precisely: Callable[..., Any] = evaluate_mpmath
    analysed: Callable[[Expression], Activation] = Activation.checked
    hermite_balls: Callable[..., Any] = hermite_balls
    store: Callable[..., Store] = Store
    drift: Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]] = drift


THEORY = Theory()
# Errors of numbers that do not exist or are not supported: such a draw is discarded.
REFUSALS = (ModelError, ExpressionError, SpectrumError, PrecisionError, BallError)


@dataclass(frozen=True)
class Plant:
    """What is wrong in a planted theory, in words, and that theory."""

    text: str
    theory: Theory


def plant(text: str, **functions: Callable[..., Any]) -> Plant:
    """The theory with these functions in place of its own."""
    return Plant(text, replace(THEORY, **functions))


def altered(text: str, function: str, **fields: Callable[..., Any]) -> Plant:
    """The theory in which what one function returns has other values of these fields, each made of what it returned and
    of what it was asked."""

    def answer(*given: Any, **more: Any) -> Any:
        found = getattr(THEORY, function)(*given, **more)
        values = {name: value(found, *given) for name, value in fields.items()}
        return found._replace(**values) if hasattr(found, "_replace") else replace(found, **values)

    return plant(text, **{function: answer})


def plant_in_step(text: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Plant:
    """The theory with what `changed` makes of the parameters of a gradient step in place of these."""
    return plant(text, step=lambda **given: THEORY.step(**(given | changed(given))))


@dataclass(frozen=True)
class Property:
    """One property.

    sentence: what holds. claim: the id of the ledger that it serves. drawn: what it is tried on. margin: how far it is
    from failing. reason: why what it allows is as large as it is. shown: the command that shows a counterexample, in
    which {seed} stands for that of the search. examples: how many the quick profile draws.
    """

    name: str
    sentence: str
    claim: str
    drawn: SearchStrategy[Any]
    margin: Callable[[Any, Theory], float]
    reason: str
    plant: Plant
    shown: Callable[[Any], str]
    examples: int


def holds(
    claim: str,
    *,
    drawn: SearchStrategy[Any],
    reason: str,
    planted: Plant,
    shown: Callable[[Any], str],
    examples: int = 20,
) -> Callable[[Callable[[Any, Theory], float]], Property]:
    """A function of (what is drawn, theory) as the property that its docstring states, with the name that it has."""

    def made(margin: Callable[[Any, Theory], float]) -> Property:
        name = f"{margin.__module__.rpartition('.')[2]}.{margin.__name__}".replace("_", "-")
        sentence = " ".join((margin.__doc__ or "").split())
        return Property(name, sentence, claim, drawn, margin, reason, planted, shown, examples)

    return made


def listed(names: Mapping[str, Any]) -> tuple[Property, ...]:
    """The properties among the names of a module, in their order."""
    return tuple(found for found in names.values() if isinstance(found, Property))

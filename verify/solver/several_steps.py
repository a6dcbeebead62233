"""The solver's states of networks after several gradient steps, at the points of claims."""

from __future__ import annotations

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.numerics.gradient_steps.recursion import Step, states
from giantsteps.numerics.gradient_steps.same_batch import same_batch
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.networks.step import named, step_at
from giantsteps.verify.second_route.several_steps.averages import State, averages, by_state
from giantsteps.verify.second_route.several_steps.draws import blind_averages


def after_steps(point: Point) -> dict[str, float]:
    """The state after some equal steps, beside the averages that the last of them takes; keys are glyphs."""
    step, made = step_at(point), step_at(point).compiled
    taken = (Step(made.alpha0, made.eta),) * int(str(point["steps"]))
    *_, before, last = (
        State(x.state.spike, x.state.alignment, x.state.bulk)
        for x in states(made.activation, made.target, taken, made.beta, made.noise)
    )
    return averages(step, before) | by_state(last)


# A label of the size of one and no first coefficient, as on real networks, and a rate that stands for zero.
_BLIND, _RATE = "cos(z) + sin(2*z) - 2*exp(-3/2)*sin(z)", 1e-4


def reused_batch(point: Point) -> dict[str, float]:
    """r gamma/e^2 after two small steps on one batch, beside averages over label and slope; keys are glyphs."""
    student, alpha0 = str(point["activation"]), float(point[s.alpha0.name])
    made, target, taken = named(student), activation(_BLIND), (Step(alpha0, _RATE),) * 2
    first = states(made, target, taken[:1], 1.0)[0]
    last = same_batch(made, target, taken, 1.0, 0.0, (first.state, first.errors))[-1].state
    return blind_averages(student, alpha0) | {s.reused_turn.name: last.spike * last.alignment / _RATE**2}

"""The solver's states of networks after several gradient steps, at the points of claims."""

from __future__ import annotations

from giantsteps.numerics.gradient_steps.recursion import Step, states
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.networks.step import step_at
from giantsteps.verify.second_route.several_steps.averages import State, averages, by_state


def after_steps(point: Point) -> dict[str, float]:
    """The state after some equal steps, beside the averages that the last of them takes; keys are glyphs."""
    step, made = step_at(point), step_at(point).compiled
    taken = (Step(made.alpha0, made.eta),) * int(str(point["steps"]))
    *_, before, last = (
        State(x.state.spike, x.state.alignment, x.state.bulk)
        for x in states(made.activation, made.target, taken, made.beta, made.noise)
    )
    return averages(step, before) | by_state(last)

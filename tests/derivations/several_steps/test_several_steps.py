"""Several gradient steps: what the derivations establish, against values found by other routes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import sympy as sp
from scipy.special import lambertw

from giantsteps.derivations.gradient_step import bulk as gradient_bulk
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.kernel.statements import Ground
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.several_steps import (
    descent,
    erf_flow,
    first_step,
    fresh_batch,
    long_spikes,
    same_batch,
    slope_given_spike,
)
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.several_steps.averages import State, averages

# Settings with the states (r, gamma, c) after one, two, ... steps of alpha0, rate and noise, by the recursion with its
# quadrature doubled, in code of another hand; ten digits each.
WORKED = {
    Step("tanh", "sin", 2.0, 3.0, 1.0): (
        (1.3886927386, 0.7936506445, 1.1897320046),
        (1.5021072554, 0.9186501375, 1.3700241685),
        (1.5802059082, 0.9663905123, 1.3833181025),
    ),
}
# Four digits, of more settings.
ROUGHLY = {
    Step("tanh", "tanh", 2.0, 1.0, 1.0): {2: (0.6397, 0.9185, 0.9648), 4: (0.8584, 0.9779, 0.8324)},
    Step("softplus", "tanh", 1.0, 2.0, 1.0): {2: (1.5990, 0.4141, 0.3917)},
    Step("shifted tanh", "tanh", 4.0, 4.0, 1.0): {2: (1.6639, 0.9459, 2.3952), 4: (1.9160, 0.9856, 2.6778)},
}


def state_after(step: Step, state: State) -> State:
    """What the theorems conclude of r, gamma and c, at averages by sums over grids."""
    values = averages(step, state)
    results = {**fresh_batch.spike().results, **fresh_batch.bulk().results}
    found = (results[x] for x in (s.r_next, s.gamma_next, s.c_next))
    return State(*(float(e.subs({x: values[x.name] for x in e.free_symbols})) for e in found))


def path(step: Step, steps: int) -> list[State]:
    states = [State()]
    for _ in range(steps):
        states.append(state_after(step, states[-1]))
    return states[1:]


@pytest.mark.parametrize("step", WORKED, ids=str)
def test_the_theorems_give_the_worked_states(step: Step) -> None:
    for found, expected in zip(path(step, len(WORKED[step])), WORKED[step], strict=True):
        # printed to ten digits
        assert (found.r, found.gamma, found.c) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("step", ROUGHLY, ids=str)
def test_the_theorems_give_the_states_of_more_settings(step: Step) -> None:
    states = path(step, max(ROUGHLY[step]))
    for k, expected in ROUGHLY[step].items():
        assert (states[k - 1].r, states[k - 1].gamma, states[k - 1].c) == pytest.approx(expected, abs=6e-5)


def test_the_first_step_of_an_odd_activation_is_result_3_1() -> None:
    first, spike = first_step.odd().results, gradient_step.spike(s.noise).results
    assert sp.simplify(first[s.square_next] - spike[s.r] ** 2) == 0
    assert sp.simplify(first[s.overlap_next] - spike[s.r] * spike[s.gamma]) == 0
    assert sp.simplify(first[s.c_next] - gradient_bulk.bulk(s.noise).results[s.c]) == 0


def test_the_batch_adds_to_squares_and_nothing_to_the_overlap() -> None:
    results = {**fresh_batch.spike().results, **fresh_batch.bulk().results, **fresh_batch.both().results}
    assert not results[s.overlap_next].has(s.alpha0)
    noise = {x: sp.expand(results[x]).coeff(1 / s.alpha0) * (s.beta / s.eta) ** 2 for x in results}
    assert noise[s.square_next] == s.spike_noise
    assert noise[s.c_next] == s.row_noise
    assert noise[s.layer_next] == s.whole_noise


def test_one_pass_is_the_limit_of_the_recursion() -> None:
    results, drifts = {**fresh_batch.spike().results, **fresh_batch.bulk().results}, descent.one_pass().results
    for drift, after, before in (
        (s.spike_drift, s.square_next, s.r**2),
        (s.overlap_drift, s.overlap_next, s.r * s.gamma),
        (s.bulk_drift, s.c_next, s.c),
    ):
        change = (results[after].subs(s.eta, s.small_rate * s.beta * s.alpha0) - before) / s.alpha0
        assert sp.simplify(sp.limit(sp.expand(change), s.alpha0, 0) - drifts[drift]) == 0


def test_a_perfect_fit_stays_where_it_is() -> None:
    assert dict(descent.perfect_fit().results) == {s.square_next: s.r**2, s.c_next: s.c}


@pytest.mark.parametrize(
    ("right", "left", "alpha0", "critical"),
    [
        (1, 0, sp.Integer(2), sp.Integer(2)),  # relu: 4 alpha0/(alpha0 + 2)
        (1, 0, sp.Integer(6), sp.Integer(3)),
        (1, 1, sp.Integer(3), sp.Rational(3, 2)),  # linear: 2 alpha0/(alpha0 + 1)
    ],
)
def test_the_rate_of_the_blow_up(right: int, left: int, alpha0: sp.Rational, critical: sp.Rational) -> None:
    at = {s.slope_right: right, s.slope_left: left, s.alpha0: alpha0}
    assert long_spikes.critical_rate().results[s.critical_rate].subs(at) == critical
    assert long_spikes.growth().results[s.growth_square].subs({**at, s.eta: critical * s.beta}) == 1


@pytest.mark.parametrize(
    ("rate", "alpha0", "square"), [(12, 2, 61), (3, 1, sp.Rational(19, 4)), (3, 2, sp.Rational(5, 2))]
)
def test_the_growth_of_a_relu_student(rate: int, alpha0: int, square: sp.Rational) -> None:
    # By hand: (1 - e/2)^2 + e^2/(2 alpha0); a recursion in code of another hand grows by sqrt(5/2) in the last case.
    at = {s.slope_right: 1, s.slope_left: 0, s.alpha0: alpha0, s.eta: rate * s.beta}
    assert long_spikes.growth().results[s.growth_square].subs(at) == square


def test_where_the_flow_of_an_erf_student_ends() -> None:
    c = float(lambertw(6).real) / 6.0
    (right,) = erf_flow.end().results.values()
    # c and its logarithm in double precision
    assert float(right.subs(s.bulk_end, c)) == pytest.approx(math.log(c), abs=1e-14)


BUILDERS: dict[Callable[[], Derivation], set[str]] = {
    slope_given_spike.decomposition: set(),
    fresh_batch.spike: {"|rho'| concentrates"},
    fresh_batch.bulk: set(),
    fresh_batch.both: set(),
    first_step.any_activation: set(),
    first_step.odd: set(),
    descent.descent: set(),
    descent.perfect_fit: set(),
    descent.one_pass: set(),
    descent.start_of_the_alignment: set(),
    long_spikes.growth: set(),
    erf_flow.tie: set(),
    erf_flow.end: {"conserved", "perfect fit"},
    same_batch.overlap: set(),
}


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_results_are_theorems_and_name_what_they_take_on_trust(build: Callable[[], Derivation]) -> None:
    derivation = build()
    made = [derivation.theorem_of(symbol) for symbol in derivation.results]
    trusted = {one.name for theorem in made for one in theorem.assumptions if one.ground is Ground.HYPOTHESIS}
    assert trusted == BUILDERS[build]
    assert derivation.hypotheses

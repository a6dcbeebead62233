"""Orderings: the bounds for every loss, training error below test error, and monotone dependences."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from giantsteps.numerics.bounds.results import Bounds
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import ESTIMATES, FLOOR, at_most, decided, error_of, trusted
from giantsteps.verify.properties.property import THEORY, Property, Theory, altered, holds, plant, plant_in_step
from giantsteps.verify.properties.strategies import (
    ANY,
    LABELS,
    ODD,
    TAME,
    any_activations,
    models,
    powers,
    readouts,
    spikes,
    stepped,
    steps,
    tame,
    wide,
)
from giantsteps.verify.properties.themes.limits import changed, moved
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER

EXACT = "an exact inequality: ten times the estimates of both sides"
Case = tuple[Model, float]
# The numbers of a solution beside its errors have no estimate of their own: the residual is under 1e-12, and
# condition numbers of tame models are under 1e3.
ORDER = 1e-9


def room(found: Bounds) -> float:
    """What bounds may be off by."""
    return ESTIMATES * found.error_estimate + FLOOR * (1.0 + abs(found.upper))


def bounded(theory: Theory, model: Model) -> Bounds:
    """The bounds of a model that settled; others say nothing."""
    found = theory.bounds(model)
    decided(found.converged)
    return found


def swept(name: str) -> Callable[[Case], str]:
    """giantsteps solve at the model's own value and at the drawn one."""
    return lambda case: commands.swept(case[0], name, getattr(case[0], name), case[1])


# ---- the bounds ----

_EXCHANGED = altered("both bounds change places", "bounds", lower=lambda b, _: b.upper, upper=lambda b, _: b.lower)


@holds(
    "bounds.cauchy-schwarz", drawn=wide(readout=readouts()), reason=EXACT, shown=commands.bounds,
    planted=_EXCHANGED,
)  # fmt: skip
def bounds_in_order(model: Model, theory: Theory) -> float:
    """0 <= lower bound <= upper bound <= E[g^2], for any readout."""
    found = bounded(theory, model)
    square = theory.constants(model.target)
    allowed = room(found) + 10 * square.errors.h2
    return min(
        at_most(0.0, found.lower, allowed, square.h2),
        at_most(found.lower, found.upper, allowed, square.h2),
        at_most(found.upper, square.h2, allowed, square.h2),
    )


@holds(
    "bounds.lower-any-alignment", drawn=wide(), reason=EXACT, shown=commands.solve, examples=40,
    planted=altered("the lower bound is a twentieth of the upper too high", "bounds",
                    lower=lambda found, _: found.lower + 0.05 * found.upper),
)  # fmt: skip
def above_the_lower_bound(model: Model, theory: Theory) -> float:
    """No ridge, number of samples or width gets below the lower bound."""
    found, solution = bounded(theory, model), trusted(theory, model)
    return at_most(
        found.lower, solution.test_error, room(found) + error_of(solution), found.upper + solution.test_error
    )


@holds(
    "appendix-d.test-error", drawn=tame(readout=readouts()), reason=EXACT, shown=commands.solve,
    planted=plant("the test error is a third", solve=moved(lambda model: -2 / 3)),
)  # fmt: skip
def above_the_lower_bound_of_groups(model: Model, theory: Theory) -> float:
    """With groups nothing gets below the distance to all their functions."""
    return above_the_lower_bound.margin(model, theory)


@holds(
    "bounds.sandwich", drawn=wide(ridge=1.0), reason=EXACT, shown=commands.bounds, examples=6,
    planted=altered("the upper bound is a tenth too low", "bounds", upper=lambda found, _: 0.9 * found.upper),
)  # fmt: skip
def best_ridge_between_the_bounds(model: Model, theory: Theory) -> float:
    """The best test error over the ridge lies between the bounds."""
    found = bounded(theory, model)
    best = found.best_ridge()
    decided(best.converged)
    allowed = room(found) + ESTIMATES * best.error_estimate
    scale = found.upper if found.upper > 1e-12 else 1.0
    return min(
        at_most(found.lower, best.test_error, allowed, scale), at_most(best.test_error, found.upper, allowed, scale)
    )


@holds(
    "bounds.sandwich", drawn=tame(), reason=EXACT, shown=commands.bounds, examples=6,
    planted=plant("away from a ridge of 1 the error is smaller", solve=moved(
        lambda model: -0.3 * abs(math.log10(model.ridge)))),
)  # fmt: skip
def best_ridge_is_the_best(model: Model, theory: Theory) -> float:
    """No ridge does better than the best one."""
    best, solution = bounded(theory, model).best_ridge(), trusted(theory, model)
    decided(best.converged)
    allowed = ESTIMATES * best.error_estimate + error_of(solution)
    return at_most(best.test_error, solution.test_error, allowed, solution.test_error)


@holds(
    "bounds.lower-over-rate", drawn=st.tuples(tame(activations=ANY), spikes), reason=EXACT,
    shown=lambda case: commands.bounds(_with_group(*case)),
    planted=altered("a second group costs a tenth", "bounds",
                    lower=lambda found, model: found.lower + 0.1 * (len(model.groups) - 1)),
)  # fmt: skip
def more_letters_lower_both_bounds(case: Case, theory: Theory) -> float:
    """A second group of neurons lowers both bounds, or leaves them."""
    one, two = bounded(theory, case[0]), bounded(theory, _with_group(*case))
    allowed, scale = room(one) + room(two), one.upper if one.upper > 1e-12 else 1.0
    return min(at_most(two.lower, one.lower, allowed, scale), at_most(two.upper, one.upper, allowed, scale))


def _with_group(model: Model, weight: float) -> Model:
    return replace(model, readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(weight, 0.5)))


@holds(
    "beyond.floor", drawn=stepped(), reason=EXACT, shown=lambda given: commands.stepped(given, bulk_model="network"),
    planted=plant("the network's floor is that at twice the step", step=lambda **given: THEORY.step(
        **(given | ({"eta": given["eta"] + 2.0} if given.get("bulk_model") == "network" else {})))),
)  # fmt: skip
def the_floor_of_a_network_is_lower(given: dict[str, Any], theory: Theory) -> float:
    """The norms of a network's rows are one function more to learn with: its lower bound is not above the isotropic."""
    network, isotropic = (
        bounded(theory, theory.step(**given, bulk_model=kind)) for kind in ("network", "isotropic")
    )  # fmt: skip
    return at_most(network.lower, isotropic.lower, room(network) + room(isotropic), max(isotropic.lower, 1e-12))


@holds(
    "no-spike.floor", drawn=wide(spike=0.0), reason=EXACT, shown=commands.solve,
    planted=plant("a spike of 3 stays", solve=changed(spike=lambda model: 3.0, alignment=lambda model: 1.0)),
)  # fmt: skip
def only_the_linear_part_without_a_spike(model: Model, theory: Theory) -> float:
    """Without a spike no more than the mean and the linear part of the target is learned."""
    target, solution = theory.constants(model.target), trusted(theory, model)
    floor = target.h2 - target.mean**2 - target.h1**2
    return at_most(floor, solution.test_error, error_of(solution) + 10 * target.errors.h2 + FLOOR, target.h2)


# ---- other losses ----

_LOSS = {"ranges": TAME, "ridge": powers(-1, 1)}


def _of_loss(loss: str, targets: tuple[str, ...]) -> Property:
    """E l of the trained readout is not below the lower bound of that loss."""
    name = f"orderings.above-the-lower-bound-{loss.partition(':')[0]}"
    drawn: SearchStrategy[Model] = models(("tanh", "erf", "sin", "relu"), targets, loss=loss, **_LOSS)  # type: ignore[arg-type]
    return Property(
        name, f"No ridge, number of samples or width gets the {loss} loss below its lower bound.",
        "bounds.any-loss.lower", drawn, _above_the_bound, CONVEX_SOLVER.reason,
        plant("the test loss is a third", solve=moved(lambda model: -2 / 3)), commands.solve, 2,
    )  # fmt: skip


def _above_the_bound(model: Model, theory: Theory) -> float:
    found, solution = bounded(theory, model), trusted(theory, model)
    allowed = CONVEX_SOLVER.value * (1.0 + found.upper)
    return at_most(found.lower, solution.test_error, allowed, found.upper)


logistic = _of_loss("logistic", LABELS)
hinge = _of_loss("hinge", LABELS)
huber = _of_loss("huber:1", ("tanh", "sin", *LABELS))
absolute = _of_loss("absolute", LABELS)


@holds(
    "bounds.any-loss.heavy-ridge",
    drawn=models(("tanh", "erf"), LABELS, loss="huber:1", ranges=TAME, ridge=powers(5, 7)),
    reason="corrections like the inverse of the ridge, beside features of size one: 1e3 times it", examples=2,
    shown=commands.solve, planted=plant("the test loss is a tenth too high", solve=moved(lambda model: 0.1)),
)  # fmt: skip
def heavy_ridge_of_a_loss(model: Model, theory: Theory) -> float:
    """As the ridge grows the test loss tends to the upper bound of that loss."""
    found, solution = bounded(theory, model), trusted(theory, model)
    allowed = (1e3 / model.ridge + CONVEX_SOLVER.value) * (1.0 + found.upper)
    return 1.0 - abs(solution.test_error - found.upper) / allowed


@holds(
    "bounds.any-loss.upper",
    drawn=models(("tanh", "erf", "relu"), ("tanh", "sin", *LABELS), loss="huber:1", ranges=TAME),
    reason=CONVEX_SOLVER.reason, shown=commands.bounds, examples=2,
    planted=_EXCHANGED,
)  # fmt: skip
def bounds_of_a_loss_in_order(model: Model, theory: Theory) -> float:
    """0 <= lower bound <= upper bound, for Huber's loss."""
    found = bounded(theory, model)
    allowed = CONVEX_SOLVER.value * (1.0 + found.upper)
    return min(at_most(0.0, found.lower, allowed), at_most(found.lower, found.upper, allowed, found.upper))


# ---- training and test ----


@holds(
    "result-3-3.training-error", drawn=wide(), reason=EXACT, shown=commands.solve, examples=40,
    planted=altered("the label noise is not in the training error's allowance", "solve",
                    training_error=lambda found, _: found.training_error + 0.1 + found.test_error),
)  # fmt: skip
def training_below_test(model: Model, theory: Theory) -> float:
    """The training error is at most the test error plus the label noise."""
    found = trusted(theory, model)
    larger = found.test_error + model.noise
    return at_most(found.training_error, larger, error_of(found) + FLOOR * larger, larger)


@holds(
    "result-3-3.value", drawn=wide(), reason=EXACT, shown=commands.solve,
    planted=altered("q2 is that of a tenth of the ridge", "solve", order_parameters=lambda _, model: THEORY.solve(
        model.changed(ridge=model.ridge / 10)).order_parameters),
)  # fmt: skip
def no_worse_than_the_mean_alone(model: Model, theory: Theory) -> float:
    """The minimum (alpha/beta) E_train + ridge q2 is at most (alpha/beta) (upper bound + noise), that of m alone."""
    found, bound = trusted(theory, model), bounded(theory, model)
    share = model.alpha / model.beta
    minimum = share * found.training_error + model.ridge * float(found.order_parameters.q2[0])
    mean_alone = share * (bound.upper + model.noise)
    return at_most(minimum, mean_alone, share * (error_of(found) + room(bound)) + ORDER * mean_alone, mean_alone)


# ---- what grows and what falls ----

_TWO_RIDGES = st.tuples(wide(readout=st.sampled_from([(ReadoutGroup(),)])), powers(-12, 6))


def _in_order(case: Case, name: str, theory: Theory) -> tuple[Any, Any]:
    model, other = case
    values = sorted((getattr(model, name), other))
    first, second = (trusted(theory, model.changed(**{name: value})) for value in values)
    return first, second


@holds(
    "one-solution.increasing.tau", drawn=_TWO_RIDGES, reason="solved to 1e-12, with condition numbers up to 1e3",
    shown=swept("ridge"), planted=plant("1/ridge for ridge", solve=changed(ridge=lambda model: 1.0 / model.ridge)),
)  # fmt: skip
def responses_fall_with_the_ridge(case: Case, theory: Theory) -> float:
    """V1 and V2 fall as the ridge grows."""
    return _responses_fall(case, "ridge", theory)


def _responses_fall(case: Case, name: str, theory: Theory) -> float:
    less, more = (one.order_parameters for one in _in_order(case, name, theory))
    pairs = ((float(more.V1[0, 0]), float(less.V1[0, 0])), (float(more.V2[0]), float(less.V2[0])))
    return min(at_most(small, large, ORDER * large, large) for small, large in pairs)


@holds(
    "result-3-3.ridge-response", drawn=st.tuples(tame(), powers(-2, 1)), reason=EXACT, shown=swept("ridge"),
    planted=plant("1/ridge for ridge", solve=changed(ridge=lambda model: 1.0 / model.ridge)),
)  # fmt: skip
def training_error_grows_with_the_ridge(case: Case, theory: Theory) -> float:
    """The training error grows with the ridge, and q2 falls."""
    weak, heavy = _in_order(case, "ridge", theory)
    q2 = [float(one.order_parameters.q2[0]) for one in (weak, heavy)]
    train = at_most(weak.training_error, heavy.training_error, error_of(weak, heavy), heavy.training_error)
    return min(train, at_most(q2[1], q2[0], ORDER * (1.0 + q2[0]), q2[0]))


@holds(
    "leave-one-out.V2-hat", drawn=st.tuples(tame(), steps(6, 80, "0.05")),
    reason="solved to 1e-12, with condition numbers up to 1e3",
    shown=swept("alpha"), planted=plant("1/alpha for alpha", solve=changed(alpha=lambda model: 1.0 / model.alpha)),
)  # fmt: skip
def responses_fall_with_samples(case: Case, theory: Theory) -> float:
    """V1 and V2 fall as samples are added."""
    return _responses_fall(case, "alpha", theory)


@holds(
    "result-3-3.value", drawn=st.tuples(tame(), steps(6, 80, "0.05")), reason=EXACT, shown=swept("alpha"),
    planted=altered("the training error is that of the sum", "solve",
                    training_error=lambda found, model: found.training_error / model.alpha**2),
)  # fmt: skip
def minimum_grows_with_samples(case: Case, theory: Theory) -> float:
    """The minimum alpha E_train + beta ridge q2, a sum over samples, grows as samples are added."""
    few, many = (
        one.model.alpha * one.training_error + case[0].beta * case[0].ridge * float(one.order_parameters.q2[0])
        for one in _in_order(case, "alpha", theory)
    )
    return at_most(few, many, ORDER * (1.0 + many), many)


@holds(
    "result-3-3.test-error", drawn=st.tuples(wide(noise=steps(0, 20, "0.1")), steps(0, 20, "0.1")), reason=EXACT,
    shown=swept("noise"), planted=plant("noise is taken for signal", solve=moved(lambda model: -0.2 * model.noise)),
)  # fmt: skip
def noise_does_not_help(case: Case, theory: Theory) -> float:
    """The test error and the training error grow with the label noise."""
    quiet, loud = _in_order(case, "noise", theory)
    allowed, scale = error_of(quiet, loud), loud.test_error + loud.training_error
    return min(
        at_most(quiet.test_error, loud.test_error, allowed, scale),
        at_most(quiet.training_error, loud.training_error, allowed, scale),
    )


_BATCHES = st.tuples(stepped((*ODD, "relu", "softplus"), (*ODD, "sign", "relu")), powers(-2, 3))


def _batches(case: tuple[dict[str, Any], float], theory: Theory) -> tuple[Model, Model]:
    small, large = sorted((case[0]["alpha0"], case[1]))
    return theory.step(**(case[0] | {"alpha0": small})), theory.step(**(case[0] | {"alpha0": large}))


_BATCH_INVERTED = plant_in_step("the batch enters by its inverse", lambda given: {"alpha0": 1.0 / given["alpha0"]})


def _shown_batches(case: tuple[dict[str, Any], float]) -> str:
    return commands.stepped(case[0], alpha0=f"{case[0]['alpha0']},{case[1]}")


@holds(
    "alignment.increasing", drawn=_BATCHES, reason="rounding", shown=_shown_batches, planted=_BATCH_INVERTED,
)  # fmt: skip
def alignment_grows_with_the_batch(case: tuple[dict[str, Any], float], theory: Theory) -> float:
    """The alignment grows with the number of samples of the step, up to 1."""
    small, large = (abs(model.alignment) for model in _batches(case, theory))
    return min(at_most(small, large, FLOOR), at_most(large, 1.0, FLOOR))


@holds(
    "result-3-1.spike-strength", drawn=_BATCHES, reason="rounding", shown=_shown_batches, planted=_BATCH_INVERTED,
)  # fmt: skip
def spike_falls_with_the_batch(case: tuple[dict[str, Any], float], theory: Theory) -> float:
    """The spike falls with the number of samples of the step: fluctuations of the mean sample only lengthen it."""
    small, large = (abs(model.spike) for model in _batches(case, theory))
    return at_most(large, small, 1e-12 * small, small) if small > 0.0 else 1.0


@holds(
    "result-3-1.bulk-variance", drawn=st.tuples(stepped(), steps(1, 120, "0.05")), reason="rounding",
    shown=lambda case: commands.stepped(case[0], eta=f"{case[0]['eta']},{case[1]}"),
    planted=plant_in_step("the rate enters by its inverse", lambda given: {"eta": 1.0 / given["eta"]}),
)  # fmt: skip
def step_grows_with_the_rate(case: tuple[dict[str, Any], float], theory: Theory) -> float:
    """Spike and bulk grow with the learning rate, and the alignment does not know it."""
    low, high = sorted((case[0]["eta"], case[1]))
    slow, fast = (theory.step(**(case[0] | {"eta": eta})) for eta in (low, high))
    return min(
        at_most(slow.spike, fast.spike, 1e-12 * fast.spike, fast.spike),
        at_most(slow.bulk, fast.bulk, 1e-12 * fast.bulk, fast.bulk),
        1.0 - abs(slow.alignment - fast.alignment) / FLOOR,
    )


@holds(
    "result-3-1.alignment-bound", drawn=stepped(alpha0=powers(-2, 3), targets=(*ODD, "sign", "z", "he3")),
    reason="rounding", shown=commands.stepped,
    planted=plant_in_step("the batch is a fifth larger", lambda given: {"alpha0": 1.2 * given["alpha0"]}),
)  # fmt: skip
def alignment_of_a_linear_target_is_largest(given: dict[str, Any], theory: Theory) -> float:
    """gamma^2 <= alpha0/(1 + alpha0), which a linear target without noise reaches."""
    alpha0 = given["alpha0"]
    return at_most(theory.step(**given).alignment ** 2, alpha0 / (1.0 + alpha0), FLOOR)


@holds(
    "result-3-1.hermite-sum", drawn=any_activations(), reason="ten times the estimates of all averages; rounding",
    shown=commands.activation,
    planted=altered("E[(sigma' - h1)^2] loses a third", "constants",
                    h1_check=lambda found, _: 2 / 3 * found.h1_check, h2=lambda found, _: 0.5 * found.h2),
)  # fmt: skip
def bessel(text: str, theory: Theory) -> float:
    """mean^2 + h1^2 + E[sigma'']^2/2 <= h2, and E[sigma'']^2 <= E[(sigma' - h1)^2]: Bessel's inequalities."""
    from giantsteps.derivations.activations.activation import activation

    found = theory.constants(activation(text))
    off = 10 * sum(found.errors) * (1.0 + abs(found.mean) + abs(found.h1) + abs(found.curvature)) + FLOOR * found.h2
    decided(bool(np.isfinite(off)) and off < 0.1 * found.h2)
    first = at_most(found.mean**2 + found.h1**2 + found.curvature**2 / 2, found.h2, off, found.h2)
    if math.isinf(found.h1_check) or found.h1_check == 0.0:
        return first
    return min(first, at_most(found.curvature**2, found.h1_check, off, found.h1_check))

"""Two ways to one number: batches, digits, certificates, derivatives, the saddle point summed again, the step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import ESTIMATES, decided, error_of, near, trusted
from giantsteps.verify.properties.property import THEORY, Plant, Property, Theory, altered, holds, plant
from giantsteps.verify.properties.strategies import (
    SMOOTH,
    TAME,
    models,
    odd,
    powers,
    readouts,
    stepped,
    steps,
    tame,
    wide,
)
from giantsteps.verify.properties.themes.limits import moved
from giantsteps.verify.properties.themes.positivity import reordered
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER, SOLVER
from giantsteps.verify.second_route.grids import LINE, WEIGHT

Array = NDArray[np.float64]
BOTH = "ten times the estimates of both"

# ---- batches, digits, certificates ----

_RIDGES = st.lists(powers(-8, 4), min_size=2, max_size=4)


@holds(
    "one-solution.T", drawn=st.tuples(wide(), _RIDGES), reason=BOTH + "; batches refine their rules on their own",
    shown=lambda case: commands.swept(case[0], "ridge", *case[1]),
    planted=altered("points change places", "batch", test_error=lambda found, _: np.roll(found.test_error, 1)),
)  # fmt: skip
def a_batch_is_its_points(case: tuple[Model, Sequence[float]], theory: Theory) -> float:
    """A batch over ridges is its points, solved one by one."""
    model, ridges = case
    batch = theory.batch(model, ridge=list(ridges))
    margins = []
    for k, ridge in enumerate(ridges):
        one = theory.solve(model.changed(ridge=ridge))
        if one.converged and batch.converged[k]:
            allowed = error_of(one) + ESTIMATES * float(batch.error_estimate[k])
            together = [batch.test_error[k], batch.training_error[k]]
            margins.append(near(together, [one.test_error, one.training_error], allowed))
    decided(bool(margins))
    return min(margins)


@holds(
    "one-solution.tau", drawn=tame(activations=SMOOTH, targets=SMOOTH, ridge=powers(-6, 2)), examples=2,
    reason="ten times the estimate in doubles, beside which thirty digits are exact",
    shown=lambda model: commands.solve(model, digits=30),
    planted=plant("doubles are off by a ten-millionth", solve=moved(lambda model: 1e-7)),
)  # fmt: skip
def digits_agree_with_doubles(model: Model, theory: Theory) -> float:
    """Thirty digits and double precision agree within the estimate of the latter."""
    one, many = trusted(theory, model), theory.digits(model, digits=30)
    decided(many.converged)
    return near(float(many.test_error), one.test_error, error_of(one))


@holds(
    "result-3-3.worked-test-error", drawn=odd(ridge=powers(-1, 1)), examples=1,
    reason="the radius of the ball, and ten times the estimate in doubles",
    shown=lambda model: commands.solve(model, certify=True),
    planted=plant("doubles are off by a ten-millionth", solve=moved(lambda model: 1e-7)),
)  # fmt: skip
def a_certificate_holds_the_double(model: Model, theory: Theory) -> float:
    """The certified ball of the test error holds what double precision says, up to its estimate."""
    one, certificate = trusted(theory, model), theory.certify(model, digits=5)
    decided(certificate.certified)
    ball = certificate.balls.test_error
    return near(float(ball.mid()), one.test_error, float(ball.rad()) + error_of(one))


@holds(
    "result-3-3.test-error", drawn=wide(), reason="the estimate is wrong where the error is ten times as large",
    shown=commands.solve, examples=12,
    planted=plant("a rule is never refined, and off by a millionth", solve=moved(lambda model: 1e-6)),
)  # fmt: skip
def an_estimate_is_honest(model: Model, theory: Theory) -> float:
    """On finer rules the test error moves by no more than ten times its estimate."""
    from giantsteps.numerics.saddle_point.ridge import solve as refined

    one, finer = trusted(theory, model), refined(model, refine=2)
    decided(finer.converged)
    return near(one.test_error, finer.test_error, error_of(one))


@holds(
    "convex.square-loss-solution", drawn=odd(), reason=CONVEX_SOLVER.reason, shown=commands.solve, examples=4,
    planted=plant("half of the ridge", convex=lambda model: THEORY.convex(model.changed(ridge=model.ridge / 2))),
)  # fmt: skip
def square_as_a_convex_loss(model: Model, theory: Theory) -> float:
    """The solver for convex losses, on the square one, agrees with that of the ridge readout."""
    one, other = trusted(theory, model), theory.convex(model)
    decided(other.converged)
    error = other.mean_squared_error if other.mean_squared_error is not None else other.test_error
    return near(error, one.test_error, CONVEX_SOLVER.value * (1.0 + one.test_error))


# ---- derivatives ----


def slope(function: Callable[[float], float], at: float, step: float) -> tuple[float, float]:
    """The derivative by five points, and how far that of step 2 `step` is from it."""
    near_by, far = (function(at + step) - function(at - step)), (function(at + 2 * step) - function(at - 2 * step))
    value, coarse = (8 * near_by - far) / (12 * step), far / (4 * step)
    return value, abs(value - coarse)


@holds(
    "result-3-3.ridge-response", drawn=tame(), shown=commands.solve,
    reason="five points a hundredth apart; the fourth order of what three leave; 1e-9 of rounding over the step",
    planted=plant("q2 has another power", solve=reordered(lambda order: {"q2": order.q2**1.02})),
)  # fmt: skip
def energy_in_the_ridge(model: Model, theory: Theory) -> float:
    """(alpha/beta) E_train + ridge q2 is a minimum whose slope in the ridge is q2."""

    def minimum(ridge: float) -> float:
        found = trusted(theory, model.changed(ridge=ridge))
        return model.alpha / model.beta * found.training_error + ridge * float(found.order_parameters.q2[0])

    q2 = float(trusted(theory, model).order_parameters.q2[0])
    found, rest = slope(minimum, model.ridge, 0.01 * model.ridge)
    return near(found, q2, 0.01 * rest + 1e-7 * q2 + 1e-11 / model.ridge)


@holds(
    "convex.energetic-term",
    drawn=models(("tanh", "erf"), ("sign", "sin"), ranges=TAME, loss="huber:1", ridge=powers(-1, 1)),
    reason="five points two hundredths apart, each within the solver's 1e-8", shown=commands.solve, examples=2,
    planted=plant("q2 is a tenth too large", solve=reordered(lambda order: {"q2": 1.1 * order.q2})),
)  # fmt: skip
def energy_of_a_loss_in_the_ridge(model: Model, theory: Theory) -> float:
    """For Huber's loss the slope of the energy in the ridge is q2/2."""

    def energy(ridge: float) -> float:
        found = trusted(theory, model.changed(ridge=ridge)).energy
        assert found is not None
        return found

    q2 = float(trusted(theory, model).order_parameters.q2[0])
    found, rest = slope(energy, model.ridge, 0.02 * model.ridge)
    return near(found, 0.5 * q2, 0.1 * rest + 1e-5 * q2 + 1e-7 / model.ridge)


@holds(
    "result-3-3.test-error", drawn=st.tuples(wide(noise=0.0), powers(-2, 1)), reason=BOTH,
    shown=lambda case: commands.swept(case[0], "noise", 0.0, case[1], 2 * case[1]),
    planted=plant("noise squared is added", solve=moved(lambda model: 0.01 * model.noise**2)),
)  # fmt: skip
def errors_are_affine_in_the_noise(case: tuple[Model, float], theory: Theory) -> float:
    """Test and training error are affine in the variance of the label noise."""
    none, one, two = (trusted(theory, case[0].changed(noise=k * case[1])) for k in range(3))
    middle = [(none.test_error + two.test_error) / 2, (none.training_error + two.training_error) / 2]
    return near(middle, [one.test_error, one.training_error], error_of(none, one, two))


# ---- the saddle point, summed again ----


class Sums:
    """A solution beside averages over kappa on a plain grid: the functions of the model, V and what is left over."""

    def __init__(self, found: Solution, theory: Theory) -> None:
        model, order = found.model, found.order_parameters
        self.model, self.order, self.found = model, order, found
        self.mu0, self.mu1, self.mu2 = theory.coefficients(model.activation, model.spike, model.bulk, 0.0, LINE)
        self.y0, self.y1, self.y2 = theory.moments(model.target, model.alignment, LINE)
        V1, V2 = float(order.V1[0, 0]), float(order.V2[0])
        self.weight = WEIGHT / (1.0 + self.mu1**2 * V1 + self.mu2**2 * V2)
        self.learned = self.mu0 * order.m[0] + LINE * self.mu1 * order.zeta[0]
        self.left = self.y0 - self.learned
        self.ratio = model.alpha / model.beta

    @property
    def squared(self) -> Array:
        """E[(y - f)^2 | kappa], label noise included."""
        q1, q2, psi = self.order.q1[0, 0], self.order.q2[0], self.order.psi[0]
        own = self.y2 + self.model.noise - 2 * self.y0 * self.learned + self.learned**2
        return np.asarray(own - 2 * self.y1 * self.mu1 * psi + self.mu1**2 * q1 + self.mu2**2 * q2)


def _summed(claim: str, sentence: str, name: str, both: Callable[[Sums], tuple[Any, Any]], planted: Plant) -> Property:
    """An equation of the saddle point, whose average is summed on a grid of its own."""

    def margin(model: Model, theory: Theory) -> float:
        found = trusted(theory, model)
        left, right = both(Sums(found, theory))
        return near(left, right, SOLVER.value * (1.0 + float(np.max(np.abs(right)))) + 10 * error_of(found))

    return Property(f"consistency.{name}", sentence, claim, tame(), margin, SOLVER.reason, planted, commands.solve, 16)


conjugates = _summed(
    "result-3-3.saddle.V1-hat", "C = (alpha/beta) E[mu1^2/(1+V)] and D = (alpha/beta) E[mu2^2/(1+V)].", "conjugates",
    lambda s: ([s.order.conjugates.C[0, 0], s.order.conjugates.D[0]],
               [s.ratio * s.weight @ s.mu1**2, s.ratio * s.weight @ s.mu2**2]),
    plant("V2 is a hundredth too large", solve=reordered(lambda order: {"V2": 1.01 * order.V2})),
)  # fmt: skip
mean = _summed(
    "result-3-3.saddle.m", "E[mu0 (y0 - yhat)/(1+V)] = 0.", "mean",
    lambda s: (s.weight @ (s.mu0 * s.left), 0.0),
    plant("m is a hundredth too large and shifted", solve=reordered(lambda order: {"m": 1.01 * order.m + 0.01})),
)  # fmt: skip
overlap = _summed(
    "result-3-3.saddle.zeta", "zeta = alpha c V2 E[kappa mu1 (y0 - yhat)/(1+V)].", "overlap",
    lambda s: (s.order.zeta[0], s.model.alpha * s.model.bulk * s.order.V2[0] * s.weight @ (LINE * s.mu1 * s.left)),
    plant("zeta is a hundredth too large and shifted", solve=reordered(
        lambda order: {"zeta": 1.01 * order.zeta + 0.01})),
)  # fmt: skip
across = _summed(
    "result-3-3.saddle.psi", "psi = alpha V1 E[mu1 y1/(1+V)].", "across",
    lambda s: (s.order.psi[0], s.model.alpha * s.order.V1[0, 0] * s.weight @ (s.mu1 * s.y1)),
    plant("psi has the wrong sign and is shifted", solve=reordered(lambda order: {"psi": 0.01 - order.psi})),
)  # fmt: skip
test_error = _summed(
    "result-3-3.test-error", "The test error is the average of what the readout leaves, less the label noise.",
    "test-error", lambda s: (s.found.test_error, WEIGHT @ s.squared - s.model.noise),
    plant("the noise stays in the test error", solve=moved(lambda model: model.noise + 1e-4)),
)  # fmt: skip
training_error = _summed(
    "result-3-3.training-error", "The training error is the average of what the readout leaves, over (1+V)^2.",
    "training-error", lambda s: (s.found.training_error, (s.weight**2 / WEIGHT) @ s.squared),
    altered("1 + V enters once", "solve", training_error=lambda found, _: found.training_error**0.5),
)  # fmt: skip
sizes = _summed(
    "result-3-3.saddle.q2-hat", "D^ = (alpha/beta) E[mu2^2 e2/(1+V)^2], e2 what the readout leaves at kappa.", "sizes",
    lambda s: (s.order.conjugates.D_hat[0], s.ratio * (s.weight**2 / WEIGHT) @ (s.mu2**2 * s.squared)),
    plant("q2 is a hundredth too large and shifted", solve=reordered(lambda order: {"q2": 1.01 * order.q2 + 0.01})),
)  # fmt: skip


@holds(
    "result-3-3.marchenko-pastur-V1", drawn=wide(), reason=SOLVER.reason, shown=commands.solve,
    planted=plant("the width enters by its inverse", solve=reordered(lambda order: {"V1": order.V1 * 1.01})),
)  # fmt: skip
def traces_of_marchenko_and_pastur(model: Model, theory: Theory) -> float:
    """V1 = c V2/(1 + c beta C V2), and ridge V2 + D V2 + C V1 = 1."""
    order = trusted(theory, model).order_parameters
    V1, V2 = float(order.V1[0, 0]), float(order.V2[0])
    C, D = float(order.conjugates.C[0, 0]), float(order.conjugates.D[0])
    expected = model.bulk * V2 / (1.0 + model.bulk * model.beta * C * V2)
    return min(near(V1, expected, SOLVER.value * expected), near((model.ridge + D) * V2 + C * V1, 1.0, SOLVER.value))


@holds(
    "appendix-d.block.tau", drawn=tame(readout=readouts()), reason=SOLVER.reason, shown=commands.solve,
    planted=plant("fractions are forgotten", solve=reordered(lambda order: {"V2": order.V2 / order.V2.sum()})),
)  # fmt: skip
def traces_of_groups(model: Model, theory: Theory) -> float:
    """(ridge + D_a) V2_a + (C V1)_aa = pi_a: the trace of S S^-1 over each group."""
    order = trusted(theory, model).order_parameters
    traces = (model.ridge + order.conjugates.D) * order.V2 + np.diag(order.conjugates.C @ order.V1)
    return near(traces, model.fractions, SOLVER.value)


_STEPPED = stepped(bulk_model="network", alpha0=powers(-1, 1), eta=steps(1, 60, "0.05"))


@holds(
    "beyond.V1", drawn=_STEPPED, reason=SOLVER.reason, shown=commands.stepped, examples=12,
    planted=altered("V1 is that of the isotropic bulk", "solve", order_parameters=lambda found, model: replace(
        found.order_parameters,
        V1=THEORY.solve(model.changed(bulk_model="isotropic")).order_parameters.V1 * 1.001)),
)  # fmt: skip
def traces_of_a_network(given: dict[str, Any], theory: Theory) -> float:
    """For a network's own bulk too (ridge + D) V2 + C V1 = 1."""
    order = trusted(theory, theory.step(**given)).order_parameters
    C, D = float(order.conjugates.C[0, 0]), float(order.conjugates.D[0])
    return near((given["ridge"] + D) * float(order.V2[0]) + C * float(order.V1[0, 0]), 1.0, SOLVER.value)


# ---- the spectrum ----


def _spectrum(case: tuple[Model, Any]) -> str:
    return commands.command("spectrum", **commands.model_options(case[0]))


@holds(
    "appendix-f.V2", drawn=st.tuples(tame(), st.none()), reason="both are solved to 1e-10", shown=_spectrum,
    planted=plant("a spectrum of half the bulk", stieltjes=lambda model, z: THEORY.stieltjes(
        model.changed(bulk=model.bulk / 2), z)),
)  # fmt: skip
def response_and_spectrum(case: tuple[Model, None], theory: Theory) -> float:
    """V2 is the transform of the spectrum at minus the ridge."""
    V2 = float(trusted(theory, case[0]).order_parameters.V2[0])
    return near(theory.stieltjes(case[0], complex(-case[0].ridge, 0.0)), V2, SOLVER.value * (1.0 + V2))


@holds(
    "appendix-f.stieltjes", drawn=st.tuples(tame(), powers(4, 6)), shown=_spectrum,
    reason="the next order is the mean square of the eigenvalues over z^2: at most 1e4 for features of size one",
    planted=plant("a spectrum of twice the bulk", stieltjes=lambda model, z: THEORY.stieltjes(
        model.changed(bulk=2.0 * model.bulk, spike=model.spike + 1.0), z)),
)  # fmt: skip
def mean_eigenvalue(case: tuple[Model, float], theory: Theory) -> float:
    """Far out -z (1 + z g) tends to the mean eigenvalue (alpha/beta) E[sigma^2], outlier left out."""
    model, size = case
    z = complex(0.0, size * (1.0 + model.alpha / model.beta) * (1.0 + model.spike**2 + model.bulk))
    _, mu1, mu2 = theory.coefficients(model.activation, model.spike, model.bulk, 0.0, LINE)
    expected = model.alpha / model.beta * float(WEIGHT @ (model.bulk * mu1**2 + mu2**2))
    found = -z * (1.0 + z * theory.stieltjes(model, z))
    return near(found, expected, 1e4 * expected / size + abs(z) * 1e-10)

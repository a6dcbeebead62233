"""The result of a solver: order parameters, errors, and error estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.documents import (
    ORDER_PARAMETERS,
    WIDTH,
    at_width_json,
    finite,
    point_document,
    with_warnings,
)
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.notebook import Shown, entries

if TYPE_CHECKING:
    from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent
    from giantsteps.numerics.saddle_point.letters.many_letters import LetterLevel

Array = NDArray[np.float64]


def _none() -> Array:
    return np.zeros(0)


class Derivative(NamedTuple):
    """A derivative of the test error in one number of a model, and how far it may be off (an estimate)."""

    value: float
    error_estimate: float


@dataclass(frozen=True, eq=False)
class Conjugates:
    """The conjugate variables, all O(1) in d: matrices (k, k), vectors (k,).

    C, D multiply W W^T and 1 in S (the paper's V1^, V2^); C_hat, D_hat drive q1 and q2 (its q1^, q2^); zeta_force and
    psi_force are E[kappa mu1 (y0 - yhat)/(1+V)] and E[mu1 y1/(1+V)], the paper's zeta^ and psi^ up to alpha/beta.
    chi_force = E[dmu0/dc (y0 - yhat)/(1+V)], without entries where rows have equal norms.
    """

    C: Array
    D: Array
    C_hat: Array
    D_hat: Array
    zeta_force: Array
    psi_force: Array
    chi_force: Array = field(default_factory=_none)


@dataclass(frozen=True, repr=False, eq=False)
class Overlaps:
    """The seven order parameters of equation (17), of one problem or of a grid of them."""

    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array


@dataclass(frozen=True, eq=False)
class OrderParameters(Overlaps):
    """The order parameters of equation (17) by group, all O(1) in d: vectors (k,), matrices (k, k).

    m = 1_a.a/sqrt p, zeta = a_a.W v/sqrt p, psi = a_a.W theta_perp/sqrt p with |theta_perp| = 1, q1 the overlaps of
    Pi W^T a_a over p, q2 = |a_a|^2/p, V1 = T_ab = (1/p) tr[P_a W W^T P_b S^-1], V2 = tau_a = (1/p) tr_a S^-1.
    chi = sum_i a_i (|w_i|^2 - c)/sqrt p, without entries where rows have equal norms. For a spike of s > 1 directions
    zeta and its force are (k, s), zeta_aj = a_a.W v_j/sqrt p, and Pi removes every v_j.
    """

    conjugates: Conjugates
    chi: Array = field(default_factory=_none)


@dataclass(frozen=True, repr=False, eq=False)
class Solution(Shown):
    """The saddle point of a model, with the loss and the readout that it has.

    model: the problem.
    test_error: E(g - f)^2 on new inputs, label noise excluded, equation (25); with another loss E l(y, omega) on new
        labels.
    training_error: the mean squared residual of the n labels; with another loss E l(y, prox).
    order_parameters: m, zeta, psi, q1, q2, V1, V2 (and chi) by group, equation (17).
    residual: max over all unknowns of |x - F(x)|/(1 + |x|).
    error_estimate: how far the test error may be off, an estimate and no bound: what a finer rule along the spike moved
        it by, the error of the integrals across it, rounding times the condition of the equations, and what the errors
        of the averages in a gradient step do to it (`numerics.saddle_point.map_uncertainty`).
    converged: whether it is a solution; do not use its numbers otherwise.
    status: "converged", or what to do.
    iterations: of the solver.
    refine: how often the rule along the spike was refined.
    bulk: the equivalent that it was solved with, where that was not the model's own.
    map_error: the part of the estimate that comes from the averages of a gradient step.
    width: None for the limit, else the finite width.
    widened: the function behind `at_width`.
    differentiated: the function behind `gradient`.
    mean_squared_error: with another loss: E(g - omega)^2.
    classification_error: with another loss, for targets in {-1, 1}: P(sign omega != g).
    energy: with another loss: (alpha/beta) E l(y, prox) + (ridge/2) sum_a q2_a, the minimum over p.
    parameter_error: with another loss: how far all numbers, beside 1 + their size, moved on the last finer rule.
    letters: for a density of readout weights the finest rules, with psi by letter; zeta and psi are totals over all
        neurons there, and the other order parameters have no entries.
    digits: None for double precision; else all numbers are of mpmath, and error_estimate is what a coarser rule says.

    >>> solution = giantsteps.solve(model)
    >>> solution.m, solution.at_width(1000).test_error
    (array([0.99813...]), 0.12606...)
    """

    model: Model
    test_error: float
    training_error: float
    order_parameters: OrderParameters
    residual: float
    error_estimate: float
    converged: bool
    status: str
    iterations: int
    refine: int = 0
    bulk: Callable[[float], DeterministicEquivalent] | None = field(default=None, repr=False)
    map_error: float = 0.0
    width: float | None = None
    widened: Callable[[Solution, float], Solution] | None = field(default=None, repr=False)
    differentiated: Callable[[Solution, tuple[str, ...]], dict[str, Derivative]] | None = field(
        default=None, repr=False
    )
    mean_squared_error: float | None = None
    classification_error: float | None = None
    energy: float | None = None
    parameter_error: float | None = None
    letters: LetterLevel | None = field(default=None, repr=False)
    digits: int | None = None

    @property
    def m(self) -> Array:
        """The readout's mean of each group, times sqrt p: as `order_parameters.m`."""
        return self.order_parameters.m

    @property
    def zeta(self) -> Array:
        """The overlap with the spike of each group: as `order_parameters.zeta`."""
        return self.order_parameters.zeta

    @property
    def psi(self) -> Array:
        """The overlap with the target across the spike of each group: as `order_parameters.psi`."""
        return self.order_parameters.psi

    @property
    def q1(self) -> Array:
        """The overlaps of W^T a across the spike, (k, k): as `order_parameters.q1`."""
        return self.order_parameters.q1

    @property
    def q2(self) -> Array:
        """|a|^2/p of each group: as `order_parameters.q2`."""
        return self.order_parameters.q2

    @property
    def V1(self) -> Array:
        """The response along the bulk, (k, k): as `order_parameters.V1`."""
        return self.order_parameters.V1

    @property
    def V2(self) -> Array:
        """The response of each group: as `order_parameters.V2`."""
        return self.order_parameters.V2

    @property
    def chi(self) -> Array:
        """What rows of unequal norm add, without entries where norms are equal: as `order_parameters.chi`."""
        return self.order_parameters.chi

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before these numbers are used: the model's warnings."""
        return self.model.warnings

    def at_width(self, width: float = WIDTH) -> Solution:
        """The same at a finite width of p neurons, with what the limit drops at order 1/p
        (`numerics.saddle_point.finite_width`).

        Computed when asked for. Raises ModelError for a width below one, and for more than double precision.
        """
        if self.widened is None:
            raise ModelError("a finite width is only supported in double precision: use solve(model).at_width(1000)")
        return self.widened(self, width)

    def gradient(self, *names: str) -> dict[str, Derivative]:
        """d test_error/d(a number of the model) by name, with error estimates: `gradient("eta", "ridge")`.

        By implicit differentiation of the saddle point, through the gradient steps too
        (`numerics.saddle_point.gradient`). Raises ModelError for what has no derivative.

        names: numbers of the model; without names all that have a derivative.
        """
        if self.differentiated is None:
            raise ModelError("a gradient is supported in double precision: use solve(model).gradient()")
        return self.differentiated(self, names)

    def to_dict(self, width: int = WIDTH) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line; beside a limit stand the errors at the width.

        One of a loss has its name, the other errors, the energy and the error of the order parameters as well; one to
        many digits has its numbers as text.
        """
        if self.digits is not None:
            return self._digits_to_dict(self.digits)
        model, order = self.model, self.order_parameters
        names = ("test_error", "training_error", "residual", "error_estimate")
        numbers = {name: float(getattr(self, name)) for name in names}
        # Of a density the totals over all neurons.
        parameters = {name: np.asarray(getattr(order, name), dtype=float).tolist() for name in ORDER_PARAMETERS}
        if model.law is not None:
            parameters = {name: parameters[name][0] for name in ("zeta", "psi")}
        if order.chi.size:
            # Rows of unequal norm: the readout's overlap with them is one order parameter more.
            parameters["chi"] = order.chi.tolist()
        document = point_document(model, numbers, parameters, bool(self.converged), self.status)
        if self.energy is not None:
            document["loss"] = model.loss.name
            others = ("mean_squared_error", "classification_error", "energy", "parameter_error")
            document |= {name: getattr(self, name) for name in others if getattr(self, name) is not None}
        document = dict(finite(document, self.status))
        if self.width is not None:
            return document | {"width": self.width, "warnings": list(model.warnings)}
        document |= at_width_json(width, bool(self.converged), partial(self.at_width, width))
        return with_warnings(document, model)

    def _digits_to_dict(self, digits: int) -> dict[str, Any]:
        """A solution to many digits: its numbers as text."""
        from mpmath import mp

        def text(value: Any) -> Any:
            return [text(one) for one in value] if isinstance(value, list) else mp.nstr(value, digits)

        order = self.order_parameters
        numbers = {"test_error": self.test_error, "training_error": self.training_error}
        for name in (*ORDER_PARAMETERS, *(["chi"] if order.chi.size else [])):
            of = getattr(order, name)
            numbers[name] = of.item() if of.size == 1 else of.tolist()
        return {
            "status": self.status,
            "digits": digits,
            **{name: text(value) for name, value in numbers.items()},
            "residual": mp.nstr(self.residual, 2),
            "check": mp.nstr(self.error_estimate, 2),
        }

    def _columns(self) -> dict[str, list[Any]]:
        order = self.order_parameters
        numbers = {name: float(getattr(self, name)) for name in ("test_error", "training_error")}
        for name in ORDER_PARAMETERS:
            numbers |= entries(name, getattr(order, name))
        numbers |= {name: float(getattr(self, name)) for name in ("residual", "error_estimate")}
        return {name: [value] for name, value in numbers.items()} | {"status": [self.status]}

    def _title(self) -> str:
        return self.model.described()

    def _repr_latex_(self) -> str:
        """Both errors as a formula, in the letters of the paper."""
        errors = rf"\varepsilon_g = {float(self.test_error):.6g},\quad \varepsilon_t = {float(self.training_error):.6g}"
        return f"${errors}$" if self.converged else r"$\text{not converged}$"

    def __repr__(self) -> str:
        errors = f"test_error={float(self.test_error):.10g}, training_error={float(self.training_error):.10g}"
        return f"Solution({errors}, {self.status})"

"""A readout whose initial weights have a density: the limit of many groups (the end of Appendix D).

A letter u of the vocabulary becomes a variable with a law, a sum over groups an average over it. A Gauss rule turns the
law into groups, each with its own spike u r and bulk 1 + u^2 (c - 1), as after a gradient step; the number of groups
grows until the test error settles. For an activation of definite parity u and -u have the same features up to signs of
a neuron, and positive letters with the weight of both do.

The functions mu0_u of neighbouring letters are nearly collinear. In the limit of infinite width that costs nothing:
m_u is not determined letter by letter, but yhat is, and the m of least sum m_u^2/tau_u is taken. If the mu0_u span all
functions of kappa that their parity allows, the means alone reproduce E[y|kappa] and the error tends to `floor`. At a
finite width p the cost sum m_u^2/(p tau_u) decides how near it gets (`numerics.finite_width`), which is why networks
approach this limit slowly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from numerics.finite_width import at_width
from numerics.model import Model, ModelError, ReadoutGroup
from numerics.profile import profile
from numerics.ridge import solve, solve_on
from numerics.solution import Solution

# The number of groups grows until one more moves the test error by less than this share of 1 + test error.
SETTLED = 1e-5
# A solve costs the sixth power of the number of groups.
MOST_GROUPS = 12
LAWS = ("normal", "uniform")
# Doublings of the rule along the spike for the floor, whose integrands are those of the solution.
_REFINE = 2


@dataclass(frozen=True)
class ReadoutLaw:
    """The law of u: "normal" N(0, scale^2), or "uniform" on [-scale, scale]; scale > 0."""

    name: str = "normal"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise ModelError(f"a readout law {self.name!r} is not known: {' or '.join(LAWS)}, for example normal")
        if not (math.isfinite(self.scale) and self.scale > 0.0):
            raise ModelError(f"scale = {self.scale} of a readout law is not accepted: a number > 0 is, for example 1")

    def groups(self, count: int, folded: bool = False) -> tuple[ReadoutGroup, ...]:
        """`count` groups: nodes u and weights pi of a Gauss rule, or the positive half of a rule of twice as many."""
        nodes_in_all = 2 * count if folded else count
        if self.name == "uniform":
            nodes, weights = np.polynomial.legendre.leggauss(nodes_in_all)
        else:
            nodes, weights = np.polynomial.hermite_e.hermegauss(nodes_in_all)
        if folded:
            nodes, weights = nodes[count:], weights[count:]
        weights = weights / np.sum(weights)
        return tuple(ReadoutGroup(self.scale * float(u), float(pi)) for u, pi in zip(nodes, weights, strict=True))

    def draw(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """`count` independent letters."""
        if self.name == "uniform":
            return self.scale * generator.uniform(-1.0, 1.0, count)
        return self.scale * generator.standard_normal(count)


@dataclass(frozen=True)
class DensitySolution:
    """What a density of letters leads to, at infinite width.

    solution: of the finest rule that converged; errors: (groups, test error) on the way there; error_estimate: the
    last move. floor: the test error if the means reproduced E[y|kappa] as far as its parity allows, below which no
    number of letters gets. converged: the moves fell under SETTLED of 1 + test error.
    """

    solution: Solution
    errors: tuple[tuple[int, float], ...]
    error_estimate: float
    floor: float
    converged: bool

    @property
    def test_error(self) -> float:
        """The test error of the finest rule."""
        return self.solution.test_error

    def at_width(self, width: int) -> float:
        """The test error at finite width p, with the cost of the means kept."""
        return at_width(self.solution, width).test_error


def with_letters(model: Model, law: ReadoutLaw, count: int) -> Model:
    """The model with `count` groups in place of the law, each of bulk 1 + u^2 (c - 1) where c > 1, else of the bulk c.

    Raises ModelError for a spike of several directions or a network's own bulk.
    """
    if model.rank > 1 or model.unequal_norms:
        raise ModelError("a density of readout weights is built for a spike of one direction and the isotropic bulk")
    groups = law.groups(count, folded=model.activation.parity in ("odd", "even"))
    if model.bulk > 1.0:
        groups = tuple(replace(group, bulk=1.0 + group.weight**2 * (model.bulk - 1.0)) for group in groups)
    return replace(model, groups=groups)


def solve_density(model: Model, law: ReadoutLaw, *, most: int = MOST_GROUPS) -> DensitySolution:
    """The saddle point for a density of letters; the model's own groups are ignored.

    Stops where the test error settles, at `most` groups, or where rounding does: means of collinear functions grow
    until their solution no longer converges. Never raises for lack of convergence.
    """
    finest = solve(with_letters(model, law, 1))
    errors, moves = [(1, finest.test_error)], [math.inf]
    for count in range(2, most + 1):
        solution = solve(with_letters(model, law, count))
        if not solution.converged:
            break
        moves.append(abs(solution.test_error - finest.test_error))
        errors.append((count, solution.test_error))
        finest = solution
        if max(moves[-2:]) <= SETTLED * (1.0 + finest.test_error):
            break
    settled = max(moves[-2:]) <= SETTLED * (1.0 + finest.test_error)
    table = profile(finest.model, _REFINE)
    floor = solve_on(replace(table, y0=np.zeros_like(table.y0)), finest.model).test_error
    return DensitySolution(finest, tuple(errors), moves[-1], floor, settled and finest.converged)

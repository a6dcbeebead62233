"""The ridge readout of a network whose rows overlap, after one step: solved on two grids, the coarser for the error."""

from __future__ import annotations

from dataclasses import replace

from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import COARSE_STEP, LEAST, equivalent_model, turned_bulk
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.level import QUADRATURE_LIMIT
from giantsteps.numerics.saddle_point.ridge import solve

# A coarser grid, no multiple of the first, tells how far the result is from the limit of fine ones.
_COARSER = 1.27


def solve_overlapping(network: Network) -> Solution:
    """The ridge readout of such a network after one step, its bulk as it is but for the norms of its rows."""
    model = equivalent_model(network)

    def on(step: float) -> Solution:
        law = turned_bulk(network, step)
        return solve(model, bulk=lambda ridge: TurnedEquivalent(ridge, network.beta, law))

    found, coarser = on(COARSE_STEP), on(_COARSER * COARSE_STEP)
    # What is moved from a coarser grid to this one, and the nodes that both leave out.
    scale = 1.0 + abs(found.test_error)
    left = abs(coarser.test_error - found.test_error) + LEAST * scale
    if found.converged and not left <= QUADRATURE_LIMIT * scale:
        found = replace(
            found,
            converged=False,
            status=f"not converged: a finer grid over the batch's averages may move the test error by {left:.1e}; use "
            "a smoother activation or target, for example tanh and sin",
        )
    return replace(found, error_estimate=found.error_estimate + left, map_error=found.map_error + left)

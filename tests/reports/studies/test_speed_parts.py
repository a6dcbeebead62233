"""What is timed runs: the parts of a benchmark at the least size."""

from __future__ import annotations

from benchmarks.run import four_groups
from benchmarks.speed import solver_speed


def test_the_parts_of_the_solver_run_and_converge() -> None:
    assert four_groups()["residual"] < 1e-12
    for found in solver_speed.convex(calls=1).values():
        assert found["converged"] == found["points"]
    for entry in (*solver_speed.by_groups(), *solver_speed.by_nodes()):
        assert entry["residual"] < 1e-12

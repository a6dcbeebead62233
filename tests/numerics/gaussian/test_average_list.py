"""Every place that takes an average in double precision, and how its error is known.

The list is complete: a call of a primitive that takes averages, anywhere in `numerics` or `reports`, has to stand here
with one of the ways below, and what stands here has to exist.
"""

from __future__ import annotations

import ast
from pathlib import Path

# What makes an average: moments across the spike, rules along it, tables of both, and bare quadrature rules.
PRIMITIVES = {
    "conditional_moments", "conditional_moments_of", "known_moments_of", "settled_moments", "across_rule",
    "aligned_moments", "conditional_coefficients", "target_moments", "moments_on_line", "hermite_constants",
    "spike_rule", "tensor_rule", "profile", "solve_on", "gauss_legendre", "leggauss", "hermegauss", "density",
    "second_moment", "square_gap",
}  # fmt: skip

REFINED = "refined until it settles; what a finer rule moves, and rounding, are in the estimate that comes with it"
REFUSED = "refined until it settles; refused in one sentence where it does not"
PASSED = "a rule or a table for the functions of this list that refine it"
CHECKED = "checked by an identity that the averages fulfil, whose error is reported"
DRAWN = "drawn or searched with: no printed digit beyond those of a drawing or a grid depends on it"
OPEN = "one rule, neither refined nor checked in the call itself; compared with other solvers by tests"

AVERAGES: dict[str, dict[str, str]] = {
    "numerics/saddle_point/one_group/batch.py": {"_Levels": REFINED},
    "numerics/bounds/ridge.py": {"bounds": REFINED, "_upper": PASSED, "_lower": PASSED, "best_ridge": PASSED},
    "numerics/gaussian/coefficients.py": {
        "hermite_constants": REFINED, "_derivative_variance": REFINED,
        "conditional_moments_of": REFUSED, "_known_moments": PASSED,
        "conditional_coefficients": REFUSED, "target_moments": REFUSED, "aligned_moments": REFUSED,
    },
    "numerics/saddle_point/any_loss/convex.py": {"_solve": REFINED, "_system": PASSED, "_mean_squared_error": REFINED},
    "numerics/experiments/ensembles.py": {"equivalent_map": REFUSED},
    "numerics/saddle_point/any_loss/clipped_lines.py": {
        "clipped_loss": PASSED, "_long_line": PASSED, "_short_line": PASSED,
    },
    "numerics/saddle_point/any_loss/envelope.py": {"_General": PASSED},
    "numerics/saddle_point/any_loss/classification.py": {"_mean_output": PASSED},
    "numerics/models/even_part.py": {"even_part_warning": DRAWN, "strength": DRAWN},
    "numerics/saddle_point/finite_width.py": {"_refined": REFINED},
    "numerics/bounds/learned_bias.py": {"training_energy": OPEN},
    "numerics/bounds/loss_panels.py": {
        "panels_of": PASSED, "_series": PASSED, "_edges_in_z": PASSED, "_resolved": PASSED, "_along_panels": PASSED,
        "_across_panels": PASSED,
    },
    "numerics/experiments/measure.py": {"exact_test_error": REFUSED},
    "numerics/models/readout_law.py": {"ReadoutLaw": REFINED},
    "numerics/models/gradient_step.py": {"gradient_step": REFINED, "even_part": REFINED},
    "numerics/bulk/network_constants.py": {"slope_constants": REFUSED, "_fine_rule": PASSED},
    "numerics/certificates/network/labels.py": {"_base": REFUSED},
    "numerics/certificates/network/spread_labels.py": {"_weights": REFUSED},
    "reports/studies/paper/settings.py": {"Setting": DRAWN},
    "reports/studies/paper/output.py": {"_mean_output": DRAWN},
    "reports/studies/paper/functions.py": {"the module itself": DRAWN},
    "reports/studies/paper/after_step.py": {"figure_1": DRAWN},
    "reports/studies/paper/along_spike.py": {"figure_3": DRAWN, "figure_7": DRAWN},
    "reports/figures/results.py": {"_solution": DRAWN},
    "numerics/bounds/noisy_loss.py": {"_bell": PASSED},
    "numerics/spectrum/outliers.py": {"_second_order": REFUSED},
    "numerics/bulk/overlapping_rows.py": {
        "_averages": REFUSED, "_stepped_on": REFINED, "_labels": PASSED, "turned_bulk": REFINED,
    },
    "numerics/saddle_point/profile.py": {"_rule": PASSED, "_moments_at": PASSED, "_mismatch": CHECKED},
    "numerics/gaussian/nodes.py": {"composite": PASSED, "even_steps": PASSED},
    "numerics/gaussian/quadrature.py": {"second_moment": PASSED, "square_gap": CHECKED},
    "numerics/gaussian/smooth_panels.py": {"gauss_legendre": PASSED, "smooth_panels": PASSED},
    "numerics/gaussian/spike_rule.py": {"spike_rule": PASSED},
    "numerics/saddle_point/letters/density.py": {
        "_along": REFINED, "_functions": REFUSED, "_deviation": REFUSED,
    },
    "numerics/saddle_point/ridge.py": {"_solve": REFINED, "_moved_by_the_map": REFINED},
    "numerics/saddle_point/any_loss/sample_averages.py": {"SignLabel": PASSED},
    "numerics/saddle_point/any_loss/sample_panels.py": {"_gauss": PASSED},
    "numerics/gaussian/settled_moments.py": {"_at": REFINED, "_rounding": REFINED, "_jumps": REFINED},
    "numerics/spectrum/density.py": {
        "spectrum": CHECKED, "_integrated": CHECKED, "_at_end": CHECKED, "_unbounded": DRAWN,
    },
    "numerics/spectrum/edges.py": {"edge_law": CHECKED},
    "numerics/spectrum/network.py": {"label_line": CHECKED},
    "numerics/spectrum/panels.py": {"legendre_series": PASSED, "Panels": PASSED},
    "numerics/spectrum/point.py": {"line_of": CHECKED},
    "numerics/bounds/spike_scan.py": {"upper_bound_of_spike": DRAWN},
    "numerics/bounds/split_panels.py": {"Panels": PASSED},
    "numerics/gaussian/tensor_rule.py": {"tensor_rule": PASSED},
    "reports/activation/curves.py": {"curves": DRAWN},
    "reports/activation/learning.py": {"_lost_in_rounding": REFUSED, "_resolved": CHECKED, "bounds_at": REFUSED},
    "reports/figures/figures.py": {"functions_along_the_spike": DRAWN},
    "reports/studies/other_inputs.py": {"own_map": REFINED},
    "reports/studies/networks/practitioner.py": {"ridge_of": DRAWN},
    "reports/studies/spectrum_sample.py": {"Row": DRAWN},
    "reports/studies/width.py": {"_kernel": REFINED, "kernel_limit": REFUSED},
}  # fmt: skip
# In ball arithmetic or any precision, with errors of their own.
OTHER_ARITHMETIC = ("_mp.py", "balls.py")
OTHER_FLOORS = ("numerics/balls/",)


def calls_in(source: str) -> set[str]:
    """The outermost function, or the class, around each call of a primitive."""
    found: set[str] = set()

    def visit(node: ast.AST, owner: str) -> None:
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        owner = node.name if named and not owner else owner  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in PRIMITIVES:
                found.add(owner or "the module itself")
        for child in ast.iter_child_nodes(node):
            visit(child, owner)

    visit(ast.parse(source), "")
    return found


def taken() -> dict[str, set[str]]:
    """What the source has: file -> places."""
    root = Path(__file__).parent.parent.parents[1]
    files = [file for folder in ("numerics", "reports") for file in sorted((root / folder).rglob("*.py"))]
    found = {
        file.relative_to(root).as_posix(): calls_in(file.read_text())
        for file in files
        if not file.name.endswith(OTHER_ARITHMETIC) and not file.relative_to(root).as_posix().startswith(OTHER_FLOORS)
    }
    return {file: places for file, places in found.items() if places}


def test_every_average_is_listed_with_the_way_its_error_is_known() -> None:
    assert taken() == {file: set(places) for file, places in AVERAGES.items()}


def test_open_averages_do_not_become_more() -> None:
    # A width's correction and a scan of biases: shrink this, never add to it.
    left = {(file, name) for file, places in AVERAGES.items() for name, way in places.items() if way == OPEN}
    assert left <= {
        ("numerics/saddle_point/finite_width.py", "at_width"),
        ("numerics/bounds/learned_bias.py", "training_energy"),
    }


def test_a_new_average_is_noticed() -> None:
    assert calls_in("def f(m):\n    def g():\n        return profile(m, 1).weights\n    return g()\n") == {"f"}
    assert calls_in("x = numerics.gaussian.smooth_panels.gauss_legendre(3)\n") == {"the module itself"}

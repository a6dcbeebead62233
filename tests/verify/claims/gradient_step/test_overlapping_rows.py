"""Initial rows that overlap: the functions of the numbers by hand, and the derivation without overlap."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import bulk, spike
from giantsteps.derivations.gradient_step import overlapping_rows as rows
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.verify.second_route.networks.overlapping_draws import functions_for


def test_the_functions_by_hand() -> None:
    # E sin(a t + b z) = sin(a t) exp(-b^2/2), and the like for its derivatives.
    overlap, t = 0.3, np.array([-1.0, 0.4, 2.0])
    found = functions_for("sin", "tanh", overlap)
    shrunk, at = np.exp(-0.35), np.sqrt(0.3) * t
    np.testing.assert_allclose(found["F_0"](t), shrunk * np.sin(at), atol=1e-13)
    np.testing.assert_allclose(found["G_0"](t), shrunk * np.cos(at), atol=1e-13)
    np.testing.assert_allclose(found["K_0"](t), -shrunk * np.sin(at), atol=1e-13)
    square = 0.5 * (1.0 + np.exp(-1.4) * np.cos(2.0 * at))
    np.testing.assert_allclose(found["H_0"](t), square - (shrunk * np.cos(at)) ** 2, atol=1e-13)


def without_overlap(result: sp.Expr) -> sp.Expr:
    """At o = 0 and for sigma odd a neuron sees F = K = 0, G = h1 and H = h1_check."""
    seen = {rows.output: sp.S.Zero, rows.curvature: sp.S.Zero, rows.slope: s.h1, rows.scatter: s.h1_check}
    for function, value in seen.items():
        result = result.replace(function, lambda _, value=value: value)
    return sp.expand(expand_expectations(result).subs(s.row_overlap, 0))


def test_without_overlap_it_is_result_3_1_with_label_noise() -> None:
    noisy = {s.h2_star: s.h2_star + s.noise}
    strength = spike.spike().results[s.r].subs(noisy)
    assert without_overlap(rows.spike_of_step().results[s.r] ** 2) == sp.expand(strength**2)
    assert without_overlap(rows.bulk_of_step().results[s.c]) == sp.expand(bulk.bulk().results[s.c].subs(noisy))

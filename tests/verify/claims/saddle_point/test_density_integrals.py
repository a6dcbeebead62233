"""Integrals over the density of the bulk keep an exact identity."""

from __future__ import annotations

import pytest

from giantsteps.derivations.language import symbols as s
from giantsteps.verify.second_route.models import density_integrals


@pytest.mark.parametrize("beta", [0.4, 0.999, 1.001, 2.5])
def test_integrals_over_the_density_keep_the_trace_identity_next_to_beta_one(beta: float) -> None:
    # (1/p) tr[S S^-1] = 1 with S = shift + conjugate W W^T: exact, so only rounding of 540 terms is left.
    found = density_integrals(beta, 1.7, 0.3, 1.2)
    assert 0.3 * found[s.V2.name] + 1.2 * found[s.V1.name] == pytest.approx(1.0, abs=1e-13)

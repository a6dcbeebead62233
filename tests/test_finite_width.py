"""The term of order 1/p: it vanishes in the limit. That it is right before, `test_simulate` shows on a weak spike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from derivations.activation import activation
from numerics.finite_width import at_width
from numerics.model import Model, ReadoutGroup
from numerics.ridge import solve
from numerics.simulate import predicted

TANH, SIN = (activation(n) for n in ("tanh", "sin"))
WORKED = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
TWO_GROUPS = replace(WORKED, groups=(ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3)))


@pytest.mark.parametrize("model", [WORKED, TWO_GROUPS], ids=["worked", "groups"])
def test_finite_width_tends_to_the_limit(model: Model) -> None:
    limit = solve(model)
    wide = predicted(at_width(limit, 10**14))
    # Terms of order 1/p are gone at p = 1e14; what is left is quadrature, doubled once (errors below 1e-9).
    assert wide == pytest.approx(predicted(limit), abs=1e-8)
    near, far = predicted(at_width(limit, 10**4)), predicted(at_width(limit, 10**5))
    for name, value in predicted(limit).items():
        # Order 1/p: ten times wider, ten times closer, up to terms of order 1/p^2 that nearly collinear groups make
        # large.
        assert abs(far[name] - value) < 0.15 * abs(near[name] - value) + 1e-6

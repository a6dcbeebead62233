"""The tabulated upper bound against the bound of the full model, and the best spike against a closed form."""

from __future__ import annotations

import math

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import upper_bound
from giantsteps.numerics.bounds.spike_scan import best_spike_at_alignment_one, upper_bound_of_spike
from giantsteps.numerics.models.model import Model


@pytest.mark.parametrize("text", ["tanh(z)", "relu(z)", "sign(z)", "Max(z, 0)*sin(z)", "1/cosh(100*z)"])
@pytest.mark.parametrize("bulk", [1.0, 0.3])
def test_the_table_gives_the_bound_of_the_model(text: str, bulk: float) -> None:
    sigma = activation(text)
    bound = upper_bound_of_spike(sigma, sigma, bulk, 6.0, 2)
    for spike in (0.3, 1.7, 5.0):
        model = Model(sigma, sigma, alpha=1.0, beta=1.0, ridge=1.0, spike=spike, bulk=bulk, alignment=1.0)
        # Interpolation leaves 1e-12 of mu0, which enters squared; the jump of sign leaves 1e-13 on either rule.
        assert bound(spike) == pytest.approx(upper_bound(model, 2), abs=1e-12)


def test_erf_finds_the_spike_at_which_it_learns_itself() -> None:
    # mu0 = erf(r kappa/sqrt(1 + 2c)): the target at r = sqrt(1 + 2c).
    spike, bound = best_spike_at_alignment_one(activation("erf(z)"), activation("erf(z)"), 0.75, 6.0)
    assert spike == pytest.approx(math.sqrt(2.5), abs=1e-6)  # the golden section ends at 1e-7
    assert bound < 1e-13


def test_what_overflows_is_refused() -> None:
    # sigma^2 has to fit into double precision at x = 6 times the reach of kappa, about 300 for this rate
    with pytest.raises(ValueError, match=r"overflow|no finite double-precision value"):
        upper_bound_of_spike(activation("exp(6*z)"), activation("exp(6*z)"), 1.0, 6.0)

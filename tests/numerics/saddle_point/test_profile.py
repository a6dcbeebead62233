"""The tables along the spike: folding at kappa = 0, caching by value, packing of features."""

from __future__ import annotations

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import lower_bound, upper_bound
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve

# A bias too small to change any number in double precision, but a bias: it keeps the whole line.
UNFOLDED = (ReadoutGroup(bias=1e-300),)
WORKED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.05, "spike": 1.3, "bulk": 0.9, "alignment": 1.0, "noise": 0.2}


def _model(student: str, target: str, **values: object) -> Model:
    return Model(activation(student), activation(target), **(WORKED | values))  # type: ignore[arg-type]


@pytest.mark.parametrize("student", ["tanh", "sign", "cos(z)", "Abs(z)"])
@pytest.mark.parametrize("target", ["sin", "relu", "sign(z - 1/2)", "he(2, z)"])
@pytest.mark.parametrize("alignment", [0.0, 0.7, 1.0])
def test_half_the_line_is_enough_for_definite_parity(student: str, target: str, alignment: float) -> None:
    folded = _model(student, target, alignment=alignment)
    whole = _model(student, target, alignment=alignment, readout=UNFOLDED)
    assert profile(folded).kappa[0] >= 0.0
    assert profile(whole).kappa[0] < 0.0
    one, other = solve(folded), solve(whole)
    # Both are converged to 1e-11 by their own estimate; on equal rules they differ by rounding only.
    assert one.test_error == pytest.approx(other.test_error, rel=2e-11)
    assert one.training_error == pytest.approx(other.training_error, rel=2e-11)
    for name in ("m", "zeta", "psi"):
        expected = getattr(other.order_parameters, name)
        assert getattr(one.order_parameters, name) == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert upper_bound(folded) == pytest.approx(upper_bound(whole), rel=1e-11)
    assert lower_bound(folded) == pytest.approx(lower_bound(whole), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("frequency", [31, 63])
def test_the_rule_along_the_spike_follows_an_oscillation_of_an_entire_function(frequency: int) -> None:
    table = profile(_model("tanh", f"sin({frequency}*z)"))
    assert table.weights @ table.y0**2 == pytest.approx(0.5, rel=1e-12)
    assert table.unresolved == 0.0


def test_what_the_rule_along_the_spike_steps_over_in_the_target_is_noticed() -> None:
    # Harmonics are not seen in the expression; the student, which is looked at after the target, is resolved.
    assert profile(_model("tanh", "sin(3*sin(60*z))")).unresolved > 1e-3

"""Activations drawn for tests of averages: steps, peaks, kinks, jumps and oscillations of slopes up to 1e4."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

# u = k (z - a): what saturates, peaks, bends, jumps or oscillates over a width of 1/k.
_SHAPES = (
    "tanh({u})", "erf({u})", "atan({u})", "sigmoid({u})", "exp(-({u})**2)", "1/(1+({u})**2)", "({u})/sqrt(1+({u})**2)",
    "relu({u})/{k}", "hardtanh({u})", "abs({u})/{k}", "softplus({u})/{k}", "leaky_relu({u},1/10)/{k}", "sign({u})",
    "softsign({u})", "sin({u})", "gelu({u})/{k}", "sin(z)*tanh({u})", "elu({u},1)/{k}",
)  # fmt: skip
_SMOOTH = ("0", "z", "tanh(z)", "z**3/6-z/2", "cos(z)", "exp(z/2)", "z**2/10")


@st.composite
def steep_activations(draw: st.DrawFn) -> str:
    """The text of an activation: a smooth part and one or two steep ones, of slopes from 1 to 1e4."""
    text = draw(st.sampled_from(_SMOOTH))
    for _ in range(draw(st.integers(1, 2))):
        k = round(10.0 ** draw(st.floats(0.0, 4.0)), 3)
        place = draw(st.sampled_from(("0", "1/3", "-1", "7/5", "-12/7", "3")))
        size = draw(st.sampled_from(("1", "1/10", "1/100", "-3")))
        shape = draw(st.sampled_from(_SHAPES)).format(u=f"{k}*(z-({place}))", k=k)
        text += f"+({size})*({shape})"
    return text


def arguments() -> SearchStrategy[tuple[float, float]]:
    """(shift, standard deviation) of the Gaussian argument of an activation at a place along the spike."""
    return st.tuples(st.floats(-4.0, 4.0), st.floats(-2.0, 1.0).map(lambda x: 10.0**x))

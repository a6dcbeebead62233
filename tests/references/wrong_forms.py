"""The activations that the suite promises closed forms of; wrong ones, which their proof has to refuse."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.closed_forms.heat_equation import x
from giantsteps.derivations.language.symbols import c

PROMISED = (
    "sign(z)", "step(z)", "relu(z)", "leaky_relu(z, 1/10)", "hardtanh(z)", "Abs(z)", "erf(z)", "gelu(z)", "sin(z)",
    "cos(z)", "z**3 - 2*z", "he3(z)", "he5(z)", "exp(-z**2)", "elu(z)",
)  # fmt: skip


def wrong_forms(form: sp.Expr) -> dict[str, sp.Expr]:
    """sqrt(c) for c, a factor 2, sin for cos and back, a shifted breakpoint, the sign of a term."""
    swap = {f: (sp.cos if isinstance(f, sp.sin) else sp.sin)(f.args[0]) for f in form.atoms(sp.sin, sp.cos)}
    return {
        "sqrt(c) for c": form.xreplace({c: sp.sqrt(c)}),
        "a factor 2": 2 * form,
        "sin for cos": form.xreplace(swap),
        "shifted breakpoint": form.xreplace({x: x + sp.Rational(1, 10)}),
        "one term's sign": form - 2 * form.args[-1] if form.is_Add else -form,
    }

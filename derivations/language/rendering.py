"""SymPy to LaTeX in the notation of the paper: one printer for the ledger, the report and the command line."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
from sympy.printing.latex import LatexPrinter

# Undefined functions that stand for objects with a name of their own.
_FUNCTION_NAMES = {
    "mu0": r"\mu_0",
    "mu1": r"\mu_1",
    "mu2": r"\mu_2",
    "sigma": r"\sigma",
    "g": "g",
    "y0": "y_0",
    "y1": "y_1",
    "y2": "y_2",
    "varrho": r"\varrho",
    "vartau": r"\tau",
    "varpi": r"\pi",
    "sigma_prime": r"\sigma'",
    "sigma_second": r"\sigma''",
    "sigma_check": r"\check\sigma'",
    "g_prime": "g'",
    "nu": r"\nu",
    "L": r"\ln Z",
    "mu0u": r"\mu_0",
    "mu1u": r"\mu_1",
    "Vk": "V",
    "Vhat": r"\hat V",
    "qhat": r"\hat q",
    "cu": "c",
    "mu": "m",
    "zetau": r"\zeta",
    "mu0_1": r"\mu_{0,1}",
    "mu0_2": r"\mu_{0,2}",
    "mu1_1": r"\mu_{1,1}",
    "mu1_2": r"\mu_{1,2}",
    "mu2_1": r"\mu_{2,1}",
    "mu2_2": r"\mu_{2,2}",
    **{
        f"{f}_{side}": f"{f}^{mark}"
        for f in ("F_1", "F_2", "C", "D")
        for side, mark in (("above", "+"), ("below", "-"))
    },
}


# Functions of label, mean output and variance, whose arguments are pages long: shown with the names of their arguments.
_ABBREVIATED = {
    "envelope": r"\mathcal{M}(y, \omega, V)",
    "force": r"f(y, \omega, V)",
    "force_slope": r"\partial_\omega f(y, \omega, V)",
}

# Symbols that the paper writes as another one: their names tell them apart, what is printed does not.
_SYMBOL_NAMES = {
    "B_fit": "B",
    r"\ell_{\mathrm{out}}": r"\ell",
}

# A glyph with one of these is LaTeX already; SymPy would take its carets and underscores apart.
_VERBATIM = frozenset("\\{}[]()|/ '")


class _Printer(LatexPrinter):
    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        if expr.name in _SYMBOL_NAMES:
            return _SYMBOL_NAMES[expr.name]
        if _VERBATIM & set(expr.name):
            return str(expr.name)
        return str(super()._print_Symbol(expr, style))

    def _print_Function(self, expr: sp.Function, exp: str | None = None) -> str:
        short = _ABBREVIATED.get(expr.func.__name__)
        if short is not None:
            return short if exp is None else rf"\left({short}\right)^{{{exp}}}"
        name = _FUNCTION_NAMES.get(expr.func.__name__)
        if name is None:
            return str(super()._print_Function(expr, exp))
        arguments = ", ".join(self._print(a) for a in expr.args)
        power = f"^{{{exp}}}" if exp is not None else ""
        return rf"{name}{power}({arguments})"


@lru_cache(maxsize=16384)
def latex(expression: sp.Basic) -> str:
    """LaTeX of an expression or a relation; printed once, shown in several places of a report."""
    return str(_Printer({"order": None, "ln_notation": True, "inv_trig_style": "full"}).doprint(expression))

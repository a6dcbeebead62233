r"""Owen's T function as a SymPy function.

.. math:: T(h, a) = \frac{1}{2\pi} \int_0^a \frac{e^{-h^2 (1+s^2)/2}}{1+s^2}\, ds

It is what Gaussian averages of products of two error functions are made of: for z ~ N(m, v),
E[erf(pz)^2] = 1 - 8 T(h, a) with h = p m/sqrt(p^2 v + 1/2) and a = 1/sqrt(1 + 4 p^2 v).
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.printer import Printer


class OwensT(sp.Function):
    r"""T(h, a), even in h, odd in a, with |T| <= arctan|a|/(2 pi) <= 1/4 for real arguments.

    Evaluated where elementary: T(0, a) = arctan(a)/(2 pi), T(h, 0) = 0 and T(h, 1) = (1 - erf(h/sqrt 2)^2)/8. Numbers
    a > 1 are brought below 1 by T(h, a) + T(a h, 1/a) = (1 - erf(h/sqrt 2) erf(a h/sqrt 2))/4.
    """

    nargs = 2

    @classmethod
    def eval(cls, h: sp.Expr, a: sp.Expr) -> sp.Expr | None:
        """The elementary special values and the symmetries; None elsewhere."""
        if a.is_zero:
            return sp.S.Zero
        if h.is_zero:
            return sp.atan(a) / (2 * sp.pi)
        if a == 1:
            return (1 - sp.erf(h / sp.sqrt(2)) ** 2) / 8
        if a.could_extract_minus_sign():
            return -cls(h, -a)
        if h.could_extract_minus_sign():
            return cls(-h, a)
        if a.is_number and a.is_real and (a - 1).is_positive:
            return (1 - sp.erf(h / sp.sqrt(2)) * sp.erf(a * h / sp.sqrt(2))) / 4 - cls(a * h, 1 / a)
        return None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        r"""dT/dh = -exp(-h^2/2) erf(a h/sqrt 2)/(2 sqrt(2 pi)),  dT/da = exp(-h^2 (1+a^2)/2)/(2 pi (1+a^2))."""
        h, a = self.args
        if argindex == 1:
            return -sp.exp(-(h**2) / 2) * sp.erf(a * h / sp.sqrt(2)) / (2 * sp.sqrt(2 * sp.pi))
        if argindex == 2:
            return sp.exp(-(h**2) * (1 + a**2) / 2) / (2 * sp.pi * (1 + a**2))
        raise sp.core.function.ArgumentIndexError(self, argindex)

    def _eval_is_real(self) -> bool | None:
        return True if all(argument.is_real for argument in self.args) else None

    def _eval_evalf(self, prec: int) -> sp.Expr | None:
        # The substitution s = tan(t) would be exact too; this integrand is smooth already.
        import mpmath

        h, a = (argument.evalf(sp.core.evalf.prec_to_dps(prec) + 5) for argument in self.args)
        if not (h.is_Float or h.is_Integer) or not (a.is_Float or a.is_Integer):
            return None
        with mpmath.workprec(prec + 20):
            hm, am = mpmath.mpf(str(h)), mpmath.mpf(str(a))
            value = mpmath.quad(lambda s: mpmath.exp(-(hm**2) * (1 + s * s) / 2) / (1 + s * s), [0, am])
            return sp.Float(value / (2 * mpmath.pi), precision=prec)

    def _latex(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        power = kwargs.get("exp")
        inner = ", ".join(printer._print(argument) for argument in self.args)
        body = rf"T\left({inner}\right)"
        return body if power is None else rf"{body}^{{{power}}}"

    def _scipycode(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        # SciPy calls this function owens_t; the name is imported by the printer when code is generated.
        name = printer._module_format("scipy.special.owens_t")
        return f"{name}({', '.join(printer._print(argument) for argument in self.args)})"

    _numpycode = _scipycode  # the name under which SymPy's SciPy printer looks it up

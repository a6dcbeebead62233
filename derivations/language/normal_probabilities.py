r"""Owen's T function and the mean of a product of two signs as SymPy functions: products of two error functions average
to them.

.. math:: T(h, a) = \frac{1}{2\pi} \int_0^a \frac{e^{-h^2 (1+s^2)/2}}{1+s^2}\, ds

For z ~ N(m, v), E[erf(pz)^2] = 1 - 8 T(h, a) with h = p m/sqrt(p^2 v + 1/2) and a = 1/sqrt(1 + 4 p^2 v).

.. math:: B(h, k, \rho) = E[\mathrm{sign}(X + h)\, \mathrm{sign}(Y + k)], \qquad X, Y \sim N(0, 1),\ E[XY] = \rho

An error function is the mean of a sign, erf(u/sqrt 2) = E sign(X + u), so that for z ~ N(m, v)

.. math:: E[\mathrm{erf}(p_1 z + q_1)\, \mathrm{erf}(p_2 z + q_2)]
          = B\Big(\frac{p_1 m + q_1}{s_1}, \frac{p_2 m + q_2}{s_2}, \frac{p_1 p_2 v}{s_1 s_2}\Big),
          \qquad s_i^2 = p_i^2 v + \tfrac12 .

B = 4 Phi_2(h, k; rho) - 2 Phi(h) - 2 Phi(k) + 1 in terms of the bivariate normal distribution function, and by Owen's T

.. math:: B = 1 - 4 T\Big(h, \frac{k - \rho h}{h\sqrt{1 - \rho^2}}\Big) - 4 T\Big(k, \frac{h - \rho k}{k\sqrt{1 -
          \rho^2}}\Big) - 2 \cdot 1_{hk < 0}.

The terms of that formula jump where h or k vanishes, B is entire in h and k: therefore a function of its own.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.printer import Printer

from giantsteps.derivations.expressions.exact import working_bits


class _Lettered(sp.Function):
    """A function of real numbers that is written with one letter."""

    letter = ""

    def _latex(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        power = kwargs.get("exp")
        inner = ", ".join(printer._print(argument) for argument in self.args)
        body = rf"{self.letter}\left({inner}\right)"
        return body if power is None else rf"{body}^{{{power}}}"


class OwensT(_Lettered):
    r"""T(h, a), even in h, odd in a, with |T| <= arctan|a|/(2 pi) <= 1/4 for real arguments.

    Evaluated where elementary: T(0, a) = arctan(a)/(2 pi), T(h, 0) = 0 and T(h, 1) = (1 - erf(h/sqrt 2)^2)/8. Numbers
    a > 1 are brought below 1 by T(h, a) + T(a h, 1/a) = (1 - erf(h/sqrt 2) erf(a h/sqrt 2))/4.
    """

    nargs = 2
    letter = "T"

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
        with working_bits(prec + 20):
            hm, am = mpmath.mpf(str(h)), mpmath.mpf(str(a))
            value = mpmath.quad(lambda s: mpmath.exp(-(hm**2) * (1 + s * s) / 2) / (1 + s * s), [0, am])
            return sp.Float(value / (2 * mpmath.pi), precision=prec)

    def _scipycode(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        # SciPy calls this function owens_t; the name is imported by the printer when code is generated.
        name = printer._module_format("scipy.special.owens_t")
        return f"{name}({', '.join(printer._print(argument) for argument in self.args)})"

    _numpycode = _scipycode  # the name under which SymPy's SciPy printer looks it up


class SignProduct(_Lettered):
    r"""B(h, k, rho) for -1 < rho < 1: symmetric in h and k, B(-h, k, -rho) = -B(h, k, rho), |B| <= 1 for real h, k.

    Evaluated where simpler: B(h, k, 0) = erf(h/sqrt 2) erf(k/sqrt 2), B(0, k, rho) = 4 T(k, rho/sqrt(1 - rho^2)) and
    B(0, 0, rho) = (2/pi) arcsin(rho).
    """

    nargs = 3
    letter = "B"

    @classmethod
    def eval(cls, h: sp.Expr, k: sp.Expr, rho: sp.Expr) -> sp.Expr | None:
        """The simpler special values and the symmetries; None elsewhere."""
        if rho.is_zero:
            return sp.erf(h / sp.sqrt(2)) * sp.erf(k / sp.sqrt(2))
        if h.is_zero and k.is_zero:
            return 2 * sp.asin(rho) / sp.pi
        if h.is_zero or k.is_zero:
            return 4 * OwensT(k if h.is_zero else h, rho / sp.sqrt(1 - rho**2))
        if h.could_extract_minus_sign():
            return -cls(-h, k, -rho)
        if k.could_extract_minus_sign():
            return -cls(h, -k, -rho)
        if sp.default_sort_key(k) < sp.default_sort_key(h):
            return cls(k, h, rho)
        return None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        r"""dB/dh = sqrt(2/pi) exp(-h^2/2) erf((k - rho h)/sqrt(2 (1 - rho^2))), likewise in k, and

        dB/drho = (2/pi) exp(-(h^2 - 2 rho h k + k^2)/(2 (1 - rho^2)))/sqrt(1 - rho^2): four times the joint density.
        """
        h, k, rho = self.args
        rest = 1 - rho**2
        if argindex in (1, 2):
            own, other = (h, k) if argindex == 1 else (k, h)
            return sp.sqrt(2 / sp.pi) * sp.exp(-(own**2) / 2) * sp.erf((other - rho * own) / sp.sqrt(2 * rest))
        if argindex == 3:
            exponent = -(h**2 - 2 * rho * h * k + k**2) / (2 * rest)
            return 2 * sp.exp(exponent) / (sp.pi * sp.sqrt(rest))
        raise sp.core.function.ArgumentIndexError(self, argindex)

    def _eval_is_real(self) -> bool | None:
        return True if all(argument.is_real for argument in self.args) else None

    def _eval_rewrite_as_OwensT(self, h: sp.Expr, k: sp.Expr, rho: sp.Expr, **kwargs: Any) -> sp.Expr:
        root = sp.sqrt(1 - rho**2)
        first, second = OwensT(h, (k - rho * h) / (h * root)), OwensT(k, (h - rho * k) / (k * root))
        return 1 - 4 * first - 4 * second - 2 * sp.Piecewise((1, h * k < 0), (0, True))

    def _eval_evalf(self, prec: int) -> sp.Expr | None:
        import mpmath

        digits = sp.core.evalf.prec_to_dps(prec) + 5
        values = [argument.evalf(digits) for argument in self.args]
        if not all(value.is_Float or value.is_Integer for value in values):
            return None
        with working_bits(prec + 20):
            h, k, rho = (mpmath.mpf(str(value)) for value in values)

            def joint(angle: Any) -> Any:  # the derivative in rho, at rho = sin(angle)
                sine, cosine = mpmath.sin(angle), mpmath.cos(angle)
                return mpmath.exp(-(h * h - 2 * sine * h * k + k * k) / (2 * cosine**2))

            apart = mpmath.erf(h / mpmath.sqrt(2)) * mpmath.erf(k / mpmath.sqrt(2))
            value = apart + 2 / mpmath.pi * mpmath.quad(joint, [0, mpmath.asin(rho)])
            return sp.Float(value, precision=prec)

    def _scipycode(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        return f"({printer._print(self.rewrite(OwensT))})"  # generic points only: the terms jump where h k = 0

    _numpycode = _scipycode  # the name under which SymPy's SciPy printer looks it up

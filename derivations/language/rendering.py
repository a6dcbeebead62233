"""SymPy to LaTeX in the notation of the paper: one printer for the ledger, the report and the command line.

What is written first is decided in `order`, how functions are called in `notation`.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

from giantsteps.derivations.language import notation, order


class _Printer(LatexPrinter):
    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        return notation.symbol(expr.name) or str(super()._print_Symbol(expr, style))

    def _print_Function(self, expr: sp.Function, exp: str | None = None) -> str:
        if not isinstance(expr, AppliedUndef):
            return str(super()._print_Function(expr, exp))
        name = expr.func.__name__
        if name in notation.ABBREVIATED:
            return _power(notation.ABBREVIATED[name], exp, loose=True)
        if name in notation.OPERATORS:
            body = [self._print(argument) for argument in expr.args]
            if name in ("repeated", "product"):
                body[1] = self._factor(expr.args[1], last=True)
            # Equal terms, as many as a product says: of no index that a reader could follow.
            many = name == "repeated" and expr.args[0].is_Mul
            written = " ".join(body) if many else notation.OPERATORS[name](*body)
            return _power(written, exp, loose=name in notation.RUNNING or written.endswith(")"))
        written = notation.function(name)
        arguments = f"({', '.join(self._print(argument) for argument in expr.args)})"
        if exp is not None and ("^" in written or r"\frac" in written):
            return _power(written + arguments, exp, loose=True)
        return _power(written, exp) + arguments

    def _print_And(self, expr: sp.And) -> str:
        return r" \wedge ".join(self._print(part) for part in order.sides(expr.args))

    def _print_Add(self, expr: sp.Add, **kwargs: object) -> str:
        first, *others = order.terms(expr)
        text = self._print_Mul(first)
        for term in others:
            negative, number, factors = order.signed(term)
            text += f" {'-' if negative else '+'} {self._product(number, factors)}"
        return text

    def _print_Rational(self, expr: sp.Rational) -> str:
        return self._print_Mul(expr)

    def _print_Mul(self, expr: sp.Expr) -> str:
        negative, number, factors = order.signed(expr, True)
        return ("-" if negative else "") + self._product(number, factors)

    def _product(self, number: sp.Rational, factors: tuple[sp.Expr, ...]) -> str:
        """A number above zero times factors in order, those with negative powers below a line.

        Behind the line stand averages, sums, and what has lines of its own, where what is below it is simple.
        """
        number, factors = order.joined_roots(number, factors)
        above = [part for part in factors if not order.is_below(part)]
        below = [1 / part for part in factors if order.is_below(part)]
        simple = (below or number.q != 1) and not any(part.is_Add or self._is_tall(part) for part in below)
        behind = [part for part in above if simple and self._is_tall(part)]
        over = self._row(number.p, [part for part in above if part not in behind])
        under = self._row(number.q, below)
        front = [] if under == "1" and over == "1" and behind else [over]
        front = [rf"\frac{{{over}}}{{{under}}}"] if under != "1" else front
        return " ".join(front + [self._factor(part, last=part is behind[-1]) for part in behind])

    def _is_tall(self, part: sp.Expr) -> bool:
        return order.is_average(part) or r"\frac" in self._print(part)

    def _row(self, number: int, parts: list[sp.Expr]) -> str:
        if len(parts) == 1 and number == 1:
            return str(self._print(parts[0]))
        found = [self._factor(part, last=part is parts[-1]) for part in parts]
        row = [str(number)] if number != 1 or not parts else []
        for text in found:
            row += [r"\cdot"] if row and row[-1][-1].isdigit() and text[:1].isdigit() else []
            row.append(text)
        return " ".join(row)

    def _factor(self, part: sp.Expr, *, last: bool) -> str:
        """A factor, in brackets where it is a sum, or ends with one and is not the last."""
        name = part.func.__name__ if isinstance(part, AppliedUndef) else ""
        loose = (name in notation.RUNNING and not last) or (part.is_Symbol and notation.is_sum(part.name))
        text = self._print(part)
        if loose or self._needs_mul_brackets(part, last=last) or text.startswith("-"):
            return rf"\left({text}\right)"
        return str(text)


def _power(written: str, exponent: str | None, *, loose: bool = False) -> str:
    if exponent is None:
        return written
    return rf"\left({written}\right)^{{{exponent}}}" if loose else f"{written}^{{{exponent}}}"


@lru_cache(maxsize=16384)
def latex(expression: sp.Basic) -> str:
    """LaTeX of an expression or a relation; printed once, shown in several places of a report."""
    settings = {"ln_notation": True, "inv_trig_style": "full", "fold_frac_powers": True}
    return str(_Printer(settings).doprint(expression))

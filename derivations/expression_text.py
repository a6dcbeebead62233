"""Canonical text of an expression tree: `parse(to_text(tree))` is the same tree."""

from __future__ import annotations

from derivations.expression_tree import (
    Call,
    Condition,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Number,
    Piecewise,
    Power,
    Product,
    Quotient,
    Sum,
    Variable,
)

# Binding strength of the outermost operator; a child is parenthesised where it binds less than its place demands.
_SUM, _PRODUCT, _FACTOR, _POWER, _ATOM = range(5)


def to_text(expr: Expression) -> str:
    """The tree as text in the language that `parse` reads."""
    return _render(expr)[0]


def _at(expr: Expression, strength: int) -> str:
    text, binding = _render(expr)
    return text if binding >= strength else f"({text})"


def _render(expr: Expression) -> tuple[str, int]:
    match expr:
        case Number(value):
            text = str(value)
            return text, _ATOM if text.isdigit() else _PRODUCT if value > 0 else _SUM
        case Constant(name):
            return name, _ATOM
        case Variable():
            return "z", _ATOM
        case Sum(terms):
            text = _at(terms[0], _SUM)
            for term in terms[1:]:
                part = _at(term, _PRODUCT) if not isinstance(term, Number | Product) else _render(term)[0]
                text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
            return text, _SUM
        case Product(factors):
            return _render_product(factors)
        case Power(base, exponent):
            return f"{_at(base, _ATOM)}**{_at(exponent, _ATOM)}", _POWER
        case Quotient(numerator, denominator):
            return f"{_at(numerator, _PRODUCT)}/{_at(denominator, _POWER)}", _PRODUCT
        case Call(name, argument):
            return f"{name}({to_text(argument)})", _ATOM
        case Maximum(args) | Minimum(args):
            name = "Max" if isinstance(expr, Maximum) else "Min"
            return f"{name}({', '.join(map(to_text, args))})", _ATOM
        case Piecewise(pieces):
            inner = ", ".join(f"({to_text(value)}, {_condition_text(condition)})" for value, condition in pieces)
            return f"Piecewise({inner})", _ATOM
    raise TypeError(f"not an expression node: {expr!r}")


def _render_product(factors: tuple[Expression, ...]) -> tuple[str, int]:
    above, below, rest = 1, 1, factors
    if isinstance(factors[0], Number):
        above, below, rest = factors[0].value.numerator, factors[0].value.denominator, factors[1:]
    sign = "-" if above < 0 else ""
    if below == 1 and len(rest) == 1 and isinstance(rest[0], Quotient) and isinstance(rest[0].numerator, Number):
        return f"{sign}{abs(above)}/{_at(rest[0].denominator, _POWER)}", _SUM if sign else _PRODUCT
    text = "*".join(_at(factor, _FACTOR) for factor in rest)
    if abs(above) != 1:
        text = f"{abs(above)}*{text}"
    if below != 1:
        text = f"{text}/{below}"
    return sign + text, _SUM if sign else _PRODUCT


def _condition_text(condition: Condition) -> str:
    parts = condition.comparisons()
    if not parts:
        return "True"
    text = to_text(parts[0].left)
    for part in parts:
        text += f" {part.op} {to_text(part.right)}"
    return text

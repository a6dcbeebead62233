"""What a text means: drawn texts with their values by Python's own rational arithmetic, beside the trees' values."""

from __future__ import annotations

import ast
import random
from fractions import Fraction

import pytest
import sympy as sp

from giantsteps.derivations.expressions.named import NAMED
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.derivations.language.sympy_expression import to_sympy
from tests.shared.refusals import refusal

PLACES = [Fraction(0), Fraction(7, 3), Fraction(-5, 4)]
FUNCTIONS = {
    "Max": max,
    "Min": min,
    "Abs": abs,
    "relu": lambda x: max(x, Fraction(0)),
    "hardtanh": lambda x: min(max(x, Fraction(-1)), Fraction(1)),
    "sign": lambda x: Fraction((x > 0) - (x < 0)),
    "step": lambda x: Fraction(1 + (x > 0) - (x < 0), 2),
    "leaky_relu": lambda x: x if x > 0 else x / 100,
    "Piecewise": lambda first, other: first[0] if first[1] else other[0],
}


class Exactly(ast.NodeTransformer):
    """Numbers as they are written, one tenth for 0.1."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bool):
            return node
        return ast.parse(f"Fraction({repr(node.value)!r})", mode="eval").body


def by_python(text: str, z: Fraction) -> Fraction:
    """The value that Python reads in a text, by rational arithmetic."""
    tree = ast.parse(text, mode="eval")
    code = compile(ast.fix_missing_locations(Exactly().visit(tree)), "text", "eval")
    return Fraction(eval(code, FUNCTIONS | {"Fraction": Fraction, "z": z}))


def drawn(rng: random.Random, depth: int) -> str:
    """A text as a person types it, its parts put together without regard to how they bind."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["z", "z", str(rng.randrange(999)), "0.25", "12.5e-3", "1e15", ".5", "3e-290", "1_000"])
    a, b, c = (drawn(rng, depth - 1) for _ in range(3))
    name, sign = (
        rng.choice(["Abs", "relu", "hardtanh", "sign", "step", "leaky_relu"]),
        rng.choice(["<", "<=", ">", ">="]),
    )
    return rng.choice([
        f"{a} + {b}", f"{a} - {b} - {c}", f"{a}-{b}+{c}", f"-{a}", f"+{a}*{b}", f"{a}*{b}", f"({a})", f"({a})*({b})",
        f"{a}/{rng.randrange(1, 9)}", f"{a}/2.5*{b}", f"({a})**{rng.randrange(4)}", f"z**{rng.randrange(6)}", "-z**2",
        f"{name}({a})", f"Max({a}, {b}, {c})", f"Min({a}, {b})", f"Piecewise(({a}, z {sign} {b}), ({c}, True))",
    ])  # fmt: skip


@pytest.mark.parametrize(("depth", "texts"), [(1, 200), (2, 200), (3, 100)])
def test_a_drawn_text_means_what_python_reads_in_it(depth: int, texts: int) -> None:
    rng = random.Random(20265 + depth)
    read, wrong = 0, []
    for text in (drawn(rng, depth) for _ in range(texts)):
        try:
            tree = parse(text)
        except ExpressionError:
            continue  # a text or a number that is too long
        read += 1
        for z in PLACES:
            found = to_sympy(tree, sp.Rational(z.numerator, z.denominator))
            wrong += [(text, z)] if found != sp.Rational(*by_python(text, z).as_integer_ratio()) else []
    assert wrong == []
    assert read > 0.9 * texts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8/2/2*3/z", Fraction(3)),
        ("2 - 3*z + 4*z**2 - 5*z**3", Fraction(-28)),
        ("-z**2", Fraction(-4)),
        ("-(-z - 1) - (1 - z - (2 - z))", Fraction(4)),
        ("z**2**3", Fraction(256)),
        ("z**-2", Fraction(1, 4)),
        ("1.e1 + .5e-1 + 0.25E+1 + 1_000", Fraction(1012550, 1000)),
    ],
)
def test_signs_powers_and_exponents_bind_as_in_python(text: str, value: Fraction) -> None:
    assert to_sympy(parse(text), sp.Integer(2)) == sp.Rational(value.numerator, value.denominator)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_no_function_takes_a_keyword_or_a_list(name: str) -> None:
    for arguments in ("z=1", "z, slope=1", "*z", "**z", "z, *z", "z, **z"):
        refusal(ExpressionError, parse, f"{name}({arguments})")

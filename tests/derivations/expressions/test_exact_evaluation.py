"""What a text means: drawn texts with their values by Python's own rational arithmetic, beside the trees' values."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.named import NAMED
from giantsteps.derivations.expressions.parser import parse
from giantsteps.derivations.expressions.tree import ExpressionError
from tests.shared.refusals import refusal

Value = Callable[[Fraction], Fraction]
PLACES = [Fraction(0), Fraction(7, 3), Fraction(-5, 4)]
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Text:
    """A text and what it means, written down together: neither is read off the other."""

    text: str
    value: Value


def drawn(rng: random.Random, depth: int) -> Text:
    """A sum of one to seven terms with signs, as a person types it; a division only by what is positive."""
    first, *others = [product(rng, depth) for _ in range(rng.choice([1, 2, 4, 5, 7] if depth < 2 else [1, 2, 4]))]
    sign = rng.choice(["", "", "-", "+"])
    text, parts = sign + first.text, [(sign == "-", first.value)]
    for term in others:
        minus = rng.random() < 0.5
        space = rng.choice(["", " "])
        text += f"{space}{'-' if minus else '+'}{space}{term.text}"
        parts.append((minus, term.value))
    return Text(text, lambda z: sum(((-f(z) if minus else f(z)) for minus, f in parts), Fraction(0)))


def product(rng: random.Random, depth: int) -> Text:
    """Factors and quotients from left to right."""
    found = factor(rng, depth)
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        found = times(found, factor(rng, depth)) if rng.random() < 0.6 else over(found, number(rng, positive=True))
    return found


def times(a: Text, b: Text) -> Text:
    return Text(f"{a.text}*{b.text}", lambda z: a.value(z) * b.value(z))


def over(a: Text, b: Text) -> Text:
    return Text(f"{a.text}/{b.text}", lambda z: a.value(z) / b.value(z))


def number(rng: random.Random, positive: bool = False) -> Text:
    """A whole number or a decimal with or without an exponent, large and small ones too."""
    digits, after = rng.randrange(1 if positive else 0, 10**4), rng.choice(["", "", "5", "025", "000"])
    power = rng.choice([None, None, None, 0, 2, -3, -12, 15, rng.choice([-290, 290])])
    exponent = "" if power is None else f"{rng.choice('eE')}{'+' if power > 0 and rng.random() < 0.5 else ''}{power}"
    text = (f"{digits}.{after}" if after or (exponent and rng.random() < 0.5) else f"{digits}") + exponent
    value = (digits + (Fraction(int(after), 10 ** len(after)) if after else 0)) * Fraction(10) ** (power or 0)
    return Text(text, lambda _: value)


def factor(rng: random.Random, depth: int) -> Text:
    """A number, z, a power, a bracket or a function that is rational on the rationals."""
    kind = rng.choice(["number", "z", "power"] if depth == 0 else ["number", "z", "power", "bracket", "call", "pieces"])
    if kind == "number":
        return number(rng)
    if kind == "z":
        return Text("z", lambda z: z)
    if kind == "power":
        k = rng.choice([0, 1, 2, 3, 5])
        return Text(f"z**{k}", lambda z: z**k)
    inner = drawn(rng, depth - 1)
    if kind == "bracket":
        k = rng.choice([1, 1, 2, 3])
        return Text(f"({inner.text})" + (f"**{k}" if k > 1 else ""), lambda z: inner.value(z) ** k)
    other = drawn(rng, depth - 1)
    if kind == "call":
        return call(rng.choice(["Max", "Min", "Abs", "relu", "hardtanh", "sign", "step", "leaky_relu"]), inner, other)
    sign, zero = rng.choice(list(COMPARE)), drawn(rng, depth - 1)
    return Text(
        f"Piecewise(({inner.text}, z {sign} {zero.text}), ({other.text}, True))",
        lambda z: inner.value(z) if COMPARE[sign](z, zero.value(z)) else other.value(z),
    )


def call(name: str, a: Text, b: Text) -> Text:
    one = Fraction(1)
    of_one: dict[str, Value] = {
        "Abs": lambda x: abs(x),
        "relu": lambda x: x if x > 0 else 0 * one,
        "hardtanh": lambda x: one if x > 1 else -one if x < -1 else x,
        "sign": lambda x: one if x > 0 else -one if x < 0 else 0 * one,
        "step": lambda x: one if x > 0 else 0 * one if x < 0 else one / 2,
        "leaky_relu": lambda x: x if x > 0 else x / 100,
    }
    if name in of_one:
        return Text(f"{name}({a.text})", lambda z: of_one[name](a.value(z)))
    larger = name == "Max"
    return Text(
        f"{name}({a.text}, {b.text})", lambda z: a.value(z) if (a.value(z) > b.value(z)) == larger else b.value(z)
    )


def exact(node: tree.Expression, z: Fraction) -> Fraction:
    """The value of a tree at a rational place, node by node."""
    match node:
        case tree.Number(value):
            return value
        case tree.Variable():
            return z
        case tree.Sum(terms):
            return sum((exact(term, z) for term in terms), Fraction(0))
        case tree.Product(factors):
            found = Fraction(1)
            for one in factors:
                found *= exact(one, z)
            return found
        case tree.Power(base, tree.Number(k)):
            return Fraction(exact(base, z) ** int(k))
        case tree.Quotient(above, below):
            return exact(above, z) / exact(below, z)
        case tree.Maximum(args):
            return max(exact(one, z) for one in args)
        case tree.Minimum(args):
            return min(exact(one, z) for one in args)
        case tree.Call("Abs", inner):
            return abs(exact(inner, z))
        case tree.Call("sign" | "Heaviside" as name, inner):
            x = exact(inner, z)
            sign = Fraction((x > 0) - (x < 0))
            return sign if name == "sign" else (1 + sign) / 2
        case tree.Piecewise(pieces):
            return next(exact(value, z) for value, condition in pieces if holds(condition, z))
    raise AssertionError(f"{node} is not rational")


def holds(condition: tree.Condition, z: Fraction) -> bool:
    return all(COMPARE[one.op](exact(one.left, z), exact(one.right, z)) for one in condition)


@pytest.mark.parametrize(("depth", "texts"), [(0, 300), (1, 150), (2, 60)])
def test_a_drawn_text_means_what_python_reads_in_it(depth: int, texts: int) -> None:
    rng = random.Random(20265 + depth)
    read, wrong = 0, []
    for _ in range(texts):
        one = drawn(rng, depth)
        try:
            found = parse(one.text)
        except ExpressionError:
            continue  # a text or a number that is too long
        read += 1
        wrong += [(one.text, z) for z in PLACES if exact(found, z) != one.value(z)]
    assert wrong == []
    # Numbers of 290 digits multiply to ones that are too long: a third of the texts has to be read all the same.
    assert read > texts / 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - 2 + 3 - 4 + 5 - z", Fraction(1)),
        ("-z - z - z - z + 1", Fraction(-7)),
        ("8/2/2*3/z", Fraction(3)),
        ("2 - 3*z + 4*z**2 - 5*z**3", Fraction(-28)),
        ("-z**2", Fraction(-4)),
        ("(-z)**2", Fraction(4)),
        ("-(-z - 1) - (1 - z - (2 - z))", Fraction(4)),
        ("z**2**3", Fraction(256)),
        ("z**-2", None),  # not finite at zero: a tree all the same
        ("1e-300*z*1e300", Fraction(2)),
        ("1.e1 + .5e-1 + 0.25E+1 + 1_000", Fraction(1012550, 1000)),
    ],
)
def test_signs_powers_and_exponents_bind_as_in_python(text: str, value: Fraction | None) -> None:
    assert exact(parse(text), Fraction(2)) == (Fraction(1, 4) if value is None else value)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_no_function_takes_a_keyword_or_a_list(name: str) -> None:
    for arguments in ("z=1", "z, slope=1", "*z", "**z", "z, *z", "z, **z"):
        refusal(ExpressionError, parse, f"{name}({arguments})")

"""Piecewise activations built from facts known before: parity, joins, double zeros, growth of one far piece."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.evaluate import compile_numpy

Polynomial = tuple[Fraction, ...]
"""Coefficients, the constant first."""


def text_of(p: Polynomial, mirrored: bool = False) -> str:
    """A polynomial in z, or in -z."""
    z = "(-z)" if mirrored else "z"
    return "(" + " + ".join(f"({c})*{z}**{k}" for k, c in enumerate(p)) + ")"


def value(p: Polynomial, at: Fraction, slope: bool = False) -> Fraction:
    terms = [k * c * at ** (k - 1) for k, c in enumerate(p) if k] if slope else [c * at**k for k, c in enumerate(p)]
    return sum(terms, Fraction(0))


def drawn(rng: random.Random, degree: int) -> Polynomial:
    return (
        *(Fraction(rng.randrange(-9, 10), rng.randrange(1, 4)) for _ in range(degree)),
        Fraction(rng.randrange(1, 5)),
    )


def symmetric(inner: Polynomial, outer: Polynomial, places: tuple[Fraction, Fraction], sign: str) -> str:
    """inner up to the right place, outer beyond; to the left the mirror image, or its negative, from the left place."""
    left, right = places
    return (
        f"Piecewise(({sign}{text_of(outer, True)}, z < {left}), ({sign}{text_of(inner, True)}, z < 0), "
        f"({text_of(inner)}, z < {right}), ({text_of(outer)}, True))"
    )


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("sign", "parity"), [("-", "odd"), ("", "even")])
def test_the_parity_of_a_mirrored_piecewise_function(number: int, sign: str, parity: str) -> None:
    rng = random.Random(100 + number)
    inner, outer = drawn(rng, 2), drawn(rng, 3)
    at = Fraction(rng.randrange(1, 30), 7)
    assert activation(symmetric(inner, outer, (-at, at), sign)).parity == parity
    # One place or one coefficient of one side moved: neither, be it ever so little.
    moved = at + Fraction(1, rng.choice([50, 1000]))
    assert activation(symmetric(inner, outer, (-at, moved), sign)).parity == "neither"
    assert activation(symmetric(inner, outer, (-moved, at), sign)).parity == "neither"
    other = (*outer[:-1], outer[-1] + Fraction(1, 1000))
    lopsided = symmetric(inner, outer, (-at, at), sign).replace(f"{text_of(outer)}, True", f"{text_of(other)}, True")
    assert activation(lopsided).parity == "neither"


def test_a_cut_without_its_mirror_image_is_seen_between_the_two() -> None:
    # Odd but on 1 < |z| < 2, where no number of the text lies.
    assert activation("Piecewise((-1, z < -1), (z, z < 2), (1, True))").parity == "neither"
    assert activation("Piecewise((1, z < -3), (0, z < 4), (1, True))").parity == "neither"
    # Branches that mirror each other at a place that does not.
    assert activation("Piecewise((z, z < 1), (-z, True))").parity == "neither"
    assert activation("Piecewise((z, z < 1), (z + 0*z, z < 3), (z, True))").parity == "odd"


@pytest.mark.parametrize(
    ("text", "parity"),
    [
        ("(exp(2*z)-1)/(exp(2*z)+1)", "odd"),
        ("exp(z)*(cosh(z)-sinh(z))*z", "odd"),
        ("exp(log(1+z**2)/2+z)*exp(-z)", "even"),
        ("sin(3*z)-3*sin(z)+4*sin(z)**3+z", "odd"),
        ("cos(2*z)-1+2*sin(z)**2+z**2", "even"),
    ],
)
def test_a_parity_that_is_hard_to_see_is_undecided_or_right(text: str, parity: str) -> None:
    assert activation(text).parity in (parity, "undecided")


@pytest.mark.parametrize("number", range(8))
def test_joins_are_what_the_values_and_slopes_beside_them_say(number: int) -> None:
    rng = random.Random(200 + number)
    places = sorted(rng.sample([Fraction(k, 4) for k in range(-12, 13)], 3))
    pieces = [drawn(rng, 2)]
    for place in places:
        # A jump, a kink, a join in value and slope, or none at all: the next piece is the last with one more term.
        size, power = Fraction(rng.choice([-2, 1, 3])), rng.randrange(4)
        step = [size * math.comb(power, k) * (-place) ** (power - k) for k in range(power + 1)]
        last = (*pieces[-1], *([Fraction(0)] * 4))
        pieces.append(tuple(last[k] + (step[k] if k <= power else 0) for k in range(max(4, len(pieces[-1])))))
    text = ", ".join(f"({text_of(p)}, z < {place})" for p, place in zip(pieces, places, strict=False))
    found = activation(f"Piecewise({text}, ({text_of(pieces[-1])}, True))")
    assert [Fraction(point.value) for point in found.breakpoints] == places
    for point, place, before, after in zip(found.breakpoints, places, pieces, pieces[1:], strict=False):
        jump = value(before, place) != value(after, place)
        assert point.jump == jump
        assert jump or point.kink == (value(before, place, slope=True) != value(after, place, slope=True))


# Zeros of even order are no sign changes: nothing breaks there; of odd order all does.
@pytest.mark.parametrize("place", ["1", "sqrt(2)", "-1/3", "log(3)"])
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Abs((z-@)**2*(z-5))", ["kink"]),
        ("Abs((z-@)*(z-5))", ["kink", "kink"]),
        ("sign((z-@)**2*(z-5))", ["jump"]),
        ("sign((z-@)**4)", []),
        ("sign((z-@)**3)", ["jump"]),
        ("Max((z-@)**2, 0)", []),
        ("relu((z-@)**2*(5-z))", ["kink"]),
        ("Piecewise((z, (z-@)**2*(z-5) > 0), (z**2, True))", ["jump"]),
        ("Abs(z-@)**3", ["smooth join"]),
        ("(z-@)*Abs(z-@)", ["smooth join"]),
    ],
)
def test_what_vanishes_twice_does_not_break(text: str, kinds: list[str], place: str) -> None:
    found = activation(text.replace("@", f"({place})"))
    assert [str(point).partition(" at ")[0] for point in found.breakpoints] == kinds


@pytest.mark.parametrize(
    ("far", "kind", "rate", "degree"),
    [
        ("z", "polynomial", 0, 1),
        ("z**4", "polynomial", 0, 4),
        ("exp(z/3)", "exponential", Fraction(1, 3), 0),
        ("z**2*exp(z/2)", "exponential", Fraction(1, 2), 2),
        ("exp(z**2/7)", "gaussian", 0, 0),
    ],
)
@pytest.mark.parametrize("side", ["left", "right", "middle"])
def test_growth_is_that_of_the_piece_that_grows_most(
    far: str, kind: str, rate: Fraction, degree: int, side: str
) -> None:
    """The far piece on the right, mirrored on the left, or between two bounded ones, where it does not count."""
    texts = {
        "right": f"Piecewise((0, z < 3), ({far}, True))",
        "left": f"Piecewise(({far.replace('z', '(-z)')}, z < -3), (0, True))",
        "middle": f"Piecewise((tanh(z), z < -3), ({far}, z < 3), (sin(z), True))",
    }
    found = activation(texts[side]).growth
    if side != "middle":
        assert (found.kind, found.rate, found.degree) == (kind, rate, degree)
    places = np.array([-40.0, -8.0, -3.1, 2.9, 3.1, 8.0, 40.0])
    sizes = np.abs(compile_numpy(activation(texts[side]).expression)(places))
    for z, f in zip(places, sizes, strict=True):
        exponent = float(found.rate) * abs(z) + float(found.quadratic) * z * z
        # 1e-9: rounding of the logarithm
        allowed = math.log(float(found.constant)) + float(found.degree) * math.log1p(abs(z)) + exponent + 1e-9
        assert f == 0.0 or math.log(f) <= allowed

"""What a gradient step sees, on balls: its labels, and the law of the rows that it makes of them."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any, NamedTuple

from flint import arb, arb_mat

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.exact import PrecisionError, rational_ball
from giantsteps.verify.compiled.along_balls import normal_rule, on_line
from giantsteps.verify.compiled.balls import Ball, BallRule, Balls, Vector, geometric, refined
from giantsteps.verify.compiled.families import kept

# h and v_c have powers of a label up to the fourth, the forms of h in the resolvent u^2 Y^6 and its two labels below.
_POWER, _SLOPES = 8, 4
_BLOCK, _MOST = 64, 3_000_000
_LOG10 = math.log(10.0)


class Step(NamedTuple):
    """A gradient step of neurons that all have one readout weight."""

    alpha0: float
    eta: float
    beta: float
    weight: float


class Seen(NamedTuple):
    """A rule for the labels of a step, and the functions E[u | label] and E[u^2 | label] on it."""

    rule: BallRule
    tilts: dict[str, Any]


def table(values: Vector, _: Vector) -> Vector:
    """A function that is known on the nodes."""
    return values


def seen(target: Activation, noise: float, digits: float, share: float) -> Seen:
    """Labels g(u) + sqrt(noise) e: on the nodes of u, or with noise on one grid in the label that all u share.

    Raises PrecisionError where there would be too many nodes.
    """
    u, weights, _ = normal_rule(target, 1.3 * digits, (0.6 if target.breakpoints else 0.35) * share, _POWER)
    labels = on_line(target, u)
    if noise == 0.0:
        return Seen(BallRule(labels, weights), _tilts(u, [x * x for x in u]))
    # The density exp(-(y - label)^2/(2 noise)) at y = k h is a power of one number for each label.
    variance, nats = rational_ball(noise), _LOG10 * 1.3 * (digits + 6.0)
    width = math.sqrt(noise)
    h = rational_ball(0.7 * share * width * math.pi * math.sqrt(2.0 / nats))
    away = math.sqrt(2.0 * nats) * width
    ends = (float(min(labels, key=float)) - away, float(max(labels, key=float)) + away)
    first, last = (round(end / float(h)) for end in ends)
    if len(u) * (last - first) > _MOST:
        raise PrecisionError(f"{math.ceil(digits)} digits need too many labels: use fewer, or noise 0")
    sums = arb_mat(3, last - first + 1)
    for begin in range(0, len(u), _BLOCK):
        powers, left = [], []
        for x, weight, label in zip(*(of[begin : begin + _BLOCK] for of in (u, weights, labels)), strict=True):
            q = (h * label / variance).exp()
            powers.append(geometric(q**first, q, last - first + 1))
            mass = weight * (-label * label / (2 * variance)).exp()
            left.append([mass, mass * x, mass * x * x])
        sums += arb_mat(left).transpose() * arb_mat(powers)
    places = [(h * k).mid() for k in range(first, last + 1)]
    unit = h / (2 * arb.pi() * variance).sqrt()
    mass = [(sums[0, k] * unit * (-y * y / (2 * variance)).exp()).mid() for k, y in enumerate(places)]
    tilted = ([(sums[power, k] / sums[0, k]).mid() for k in range(len(places))] for power in (1, 2))
    return Seen(BallRule(places, mass), _tilts(*tilted))


def _tilts(first: list[Ball], second: list[Ball]) -> dict[str, Any]:
    return {"tilt1": partial(table, Vector(first)), "tilt2": partial(table, Vector(second))}


@lru_cache(maxsize=8)
def law(
    sigma: Activation, target: Activation, noise: float, step: Step, digits: float, share: float, bits: int
) -> tuple[dict[str, Ball], Seen]:
    """The law of the rows by name, with what the step is given; and the labels. The precision in force is `bits`."""
    names, labels = kept("network law").names, seen(target, noise, digits, share)
    z = normal_rule(sigma, 1.3 * digits, 0.8 * share, _SLOPES)
    functions = labels.tilts | {
        "sigma": partial(table, Vector(on_line(sigma, z.nodes))),
        "sigma_prime": partial(table, Vector(on_line(sigma, z.nodes, differentiated=True))),
    }
    known = {names[role]: rational_ball(getattr(step, role)) for role in ("alpha0", "eta", "beta", "weight")}
    known[names["eta"]] *= known[names["weight"]]  # a rate of their own
    numbers = Balls({names["z"]: z, names["label"]: labels.rule})
    return known | refined(kept("network law").tapes, numbers, known, functions, {}, bits).values, labels

"""The saddle point of the ridge readout to any number of digits: the equations that the theorems conclude, on balls.

One letter or two, isotropic rows, one direction, a positive ridge. Averages along the spike are sums by the trapezoidal
rule, or on panels between jumps of a target at alignment +-1. A coarser rule judges their error, which is an
estimate; `numerics.certificates` encloses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from flint import arb, ctx

from giantsteps.derivations.expressions.exact import PrecisionError, alone, precision
from giantsteps.verify.compiled.along_balls import averages, grid, panels, place, reach
from giantsteps.verify.compiled.balls import Ball, BallRule, Balls, Vector, ball, refined
from giantsteps.verify.compiled.families import Family, kept
from giantsteps.verify.compiled.saddle_points import Model, given

# Rounding, and what a difference such as mu2^2 loses.
_GUARD = 12
# How much coarser the rule is that judges: not half as fine, which would mistake the same oscillations for constants.
_COARSER = 1.5
_PROBE_BITS = 64
_ROLES = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2")
_LOG2, _LOG10 = math.log(2.0), math.log(10.0)


class Digits(NamedTuple):
    """Values by what they are: "test_error", "m", ...; one number, or a list by letter (of lists, by pair)."""

    values: dict[str, Any]
    residual: Ball
    error_estimate: Ball
    steps: int


@alone
def solve_digits(model: Model, digits: int, start: Mapping[str, Any]) -> Digits:
    """The saddle point, every double of the model the binary rational that it is; `start`: values in double precision.

    error_estimate: the largest change, relative to 1 + size, of errors and order parameters under a coarser rule, to
    the power that both rules differ by, since rules converge geometrically; and what rounding leaves. Raises
    PrecisionError where the digits are not reached.
    """
    problem = _Problem(model, kept("one letter" if len(model.slopes) == 1 else "two letters"), start)
    bits = math.ceil((digits + _GUARD + max(0.0, -math.log10(model.ridge))) * math.log2(10.0))
    wanted = _LOG10 * (digits + 4)
    fine = 1.0 if problem.jumps else 2.0 * math.pi * problem.height() / wanted
    error = rounding = arb(1)
    while bits < 20.0 * digits + 400.0 and fine > 1e-3:
        with precision(bits):
            found, coarse = (problem.on_rule(fine * share, digits / share, bits) for share in (1.0, _COARSER))
            error, rounding = _moved(found, coarse), found.error_estimate
            estimate = error ** arb(_COARSER) + rounding
            if estimate < arb(10) ** -digits:
                return found._replace(error_estimate=estimate.mid())
        if rounding < arb(10) ** -(digits + 2):
            # The error falls like exp(-2 pi a/h): the step for the digits wanted follows from what this one gave.
            fine *= min(0.85, max(0.2, -0.9 * _COARSER * float(error.log()) / wanted))
        else:
            bits += 32 + max(0, math.ceil(float(rounding.log()) / _LOG2 + digits * math.log2(10.0)))
    raise PrecisionError(
        f"{digits} digits were not reached: a coarser rule still moves the error by {float(error):.1e}, rounding by "
        f"{float(rounding):.1e}"
    )


class _Problem:
    """A model with the equations of its family, and where to begin."""

    def __init__(self, model: Model, family: Family, start: Mapping[str, Any]) -> None:
        self.model, self.family = model, family
        self.start = dict(pair for role, value in start.items() for pair in _pairs(family.names[role], value))
        self.jumps = abs(model.alignment) == 1.0 and bool(model.target.breakpoints)
        self.width = math.hypot(max(1.0, *map(abs, model.slopes)), math.sqrt(max(model.bulks)))

    def height(self) -> float:
        """Half the width of the strip around the spike where what is averaged is analytic, from rules of few digits.

        The trapezoidal rule of step h errs like exp(-2 pi a/h). Raises PrecisionError where it does not settle.
        """
        before = None
        with precision(_PROBE_BITS):
            for step in (0.8 / 1.5**n for n in range(20)):
                values = self.on_rule(step, 16, _PROBE_BITS).values
                error = float(values["test_error"])
                if before is not None:
                    moved = abs(error - before) / (1.0 + abs(error))
                    if moved < 1e-9:
                        return 1.5 * step * -math.log(max(moved, 1e-17)) / (2.0 * math.pi)
                before = error
        raise PrecisionError("the functions along the spike vary too fast for a rule of any precision")

    def on_rule(self, fine: float, digits: float, bits: int) -> Digits:
        """With a step of `fine` along the spike, or panels of an order for these digits over it; error_estimate: what
        rounding leaves.
        """
        model, names = self.model, self.family.names
        far = reach((model.activation, model.target), self.width, bits)
        if self.jumps:
            cuts = [place(point.location) / ball(model.alignment) for point in model.target.breakpoints]
            rule = panels(cuts, math.ceil((0.7 * digits + 12.0) / fine), far)
        else:
            rule = grid(fine, far)
        tables = functions_on(model, rule, digits + 8.0)
        tapes, known = self.family.tapes, given(model, names, ball)
        for name in _silent(names, tables):
            # No mean and no spike: what does not count is zero.
            tapes, known = tuple(tape for tape in tapes if tape.symbol != name), known | {name: arb(0)}
        functions = {name: partial(_known, table) for name, table in tables.items()}
        found = refined(tapes, Balls({names["kappa"]: rule}), known, functions, self.start, bits)
        values = {role: _value(found.values | known, names[role]) for role in _ROLES}
        return Digits(values, found.residual, found.residual + found.rounding, found.steps)


def functions_on(model: Model, rule: BallRule, digits: float) -> dict[str, Vector]:
    """mu0, mu1 and mu2 of each letter, and y0, y1 and y2 (with label noise), on the nodes of a rule."""
    gamma, several = ball(model.alignment), len(model.slopes) > 1
    found: dict[str, Vector] = {}
    letters = zip(model.slopes, model.biases, model.bulks, strict=True)
    for letter, (slope, bias, bulk) in enumerate(letters, start=1):
        root, suffix = ball(bulk).sqrt(), f"_{letter}" if several else ""
        at = averages(model.activation, ball(slope), ball(bias), root, rule, digits)
        rest = [q - a * a - b * b for q, a, b in zip(at.square, at.mean, at.first, strict=True)]
        found[f"mu0{suffix}"] = Vector(at.mean)
        found[f"mu1{suffix}"] = Vector([(b / root).mid() for b in at.first])
        # Rounding leaves a little below zero where nothing is left.
        found[f"mu2{suffix}"] = Vector([(x.sqrt() if x > 0 else arb(0)).mid() for x in rest])
    at = averages(model.target, gamma, arb(0), (1 - gamma * gamma).sqrt(), rule, digits)
    noise = ball(model.noise)
    return found | {"y0": Vector(at.mean), "y1": Vector(at.first), "y2": Vector([(q + noise).mid() for q in at.square])}


def _silent(names: Mapping[str, Any], tables: Mapping[str, Vector]) -> Iterator[str]:
    """The means of letters whose features have none. Raises PrecisionError where no feature knows the bulk."""
    means = [names["m"]] if isinstance(names["m"], str) else names["m"]
    for letter, name in enumerate(means, start=1):
        suffix = f"_{letter}" if len(means) > 1 else ""
        size, slope, rest = (max(map(abs, tables[f"mu{k}{suffix}"].values), key=float) for k in range(3))
        least = (size + slope + rest) * arb(2) ** -(ctx.prec // 2)
        if not slope > least:
            raise PrecisionError(
                "digits require an activation with a part that is linear in the bulk (mu1 is 0 all along the spike, or "
                "too small to be told from it), for example tanh(z)"
            )
        if not size > least:
            yield name


def _known(table: Vector, _: Vector) -> Vector:
    return table


def _pairs(named: Any, value: Any) -> list[tuple[str, float]]:
    if isinstance(named, str):
        return [(named, float(value))]
    return [pair for one, part in zip(named, value, strict=True) for pair in _pairs(one, part)]


def _value(values: Mapping[str, Ball], named: Any) -> Any:
    return values[named] if isinstance(named, str) else [_value(values, one) for one in named]


def _flat(value: Any) -> list[Ball]:
    return [x for one in value for x in _flat(one)] if isinstance(value, list) else [value]


def _moved(found: Digits, coarse: Digits) -> Ball:
    pairs = zip(_flat(list(found.values.values())), _flat(list(coarse.values.values())), strict=True)
    return max((abs(x - y) / (1 + abs(x)) for x, y in pairs), key=float).mid()

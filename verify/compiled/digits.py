"""The saddle point of the ridge readout to any number of digits: the equations that the theorems conclude, on balls.

One letter or two over isotropic rows, one over a network's own bulk; one direction and a positive ridge. Averages
along the spike are sums by the trapezoidal rule, or on panels between jumps of a target at alignment +-1. Coarser rules
judge their error, which is an estimate; `numerics.certificates` encloses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from flint import arb, ctx

from giantsteps.derivations.expressions.exact import PrecisionError, alone, precision, rational_ball
from giantsteps.verify.compiled import labels
from giantsteps.verify.compiled.along_balls import averages, cuts_of, grid, panels, reach
from giantsteps.verify.compiled.balls import Astray, Ball, BallRule, Balls, Vector, refined
from giantsteps.verify.compiled.families import kept
from giantsteps.verify.compiled.saddle_points import Model, given

# Rounding, and what a difference such as mu2^2 loses.
_GUARD = 12
# How much coarser the rules are that judge, each than the one before: not half as fine, which would mistake the same
# oscillations for constants. The estimate is ten times what they leave, since two rules may agree by chance.
_COARSER, _CAUTION = 1.5, 10
_PROBE_BITS, _FINEST_PROBE = 64, 1e-3
# A step, in units of the scale on which the means of features vary, that leaves nothing to be resolved.
_RESOLVED = 0.05
_FEWEST = 0.2  # where the share of the first rules is below this, coarseness does not explain what goes wrong
_ROLES = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2")
_LOG2, _LOG10 = math.log(2.0), math.log(10.0)


class Digits(NamedTuple):
    """Values by what they are: "test_error", "m", ...; one number, or a list by letter (of lists, by pair)."""

    values: dict[str, Any]
    residual: Ball
    error_estimate: Ball
    steps: int


class Fineness(NamedTuple):
    """Of all rules: the step along the spike, the digits that the sums across it have, and how much coarser than these
    the other rules are.
    """

    step: float
    digits: float
    share: float


@alone
def solve_digits(model: Model, digits: int, start: Mapping[str, Any], step: labels.Step | None = None) -> Digits:
    """The saddle point, every double of the model the binary rational that it is.

    `start`: values in double precision; `step`: with the bulk of a network after this step, else isotropic rows.
    error_estimate: what two coarser rules leave, relative to 1 + size, of errors and order parameters, since rules
    converge geometrically; and what rounding leaves. Raises PrecisionError where the digits are not reached.
    """
    problem = _Problem(model, step, start)
    bits = math.ceil((digits + _GUARD) * math.log2(10.0)) + problem.lost
    wanted = _LOG10 * (digits + 4)
    widest = 1.0 if problem.jumps else 2.0 * math.pi * problem.height() / wanted
    share, error, rounding = 1.0, arb(1), arb(1)
    while bits < 20.0 * digits + 400.0 and share > 1e-2:
        with precision(bits):
            rules = (Fineness(widest * share * by, digits / by, share * by) for by in (1.0, _COARSER, _COARSER**2))
            try:
                found, coarse = (problem.solved(next(rules), bits) for _ in range(2))
            except Astray:
                if share < _FEWEST:
                    raise
                share *= 0.6  # the solution on so coarse a rule is far from the start
                continue
            moved, rounding = _moved(found, coarse), found.error_estimate
            error = max(moved, key=float)
            if _CAUTION * error ** arb(_COARSER) + rounding < arb(10) ** -digits:
                before = _moved(coarse, problem.solved(next(rules), bits))
                estimate = _CAUTION * _left(moved, before) + rounding
                if estimate < arb(10) ** -digits:
                    return found._replace(error_estimate=estimate.mid())
        if rounding < arb(10) ** -(digits + 2):
            # The error falls like exp(-2 pi a/h): the step for the digits wanted follows from what this one gave.
            share *= min(0.85, max(0.2, -0.9 * _COARSER * float(error.log()) / wanted))
        else:
            bits += 32 + max(0, math.ceil(float(rounding.log()) / _LOG2 + digits * math.log2(10.0)))
    raise PrecisionError(
        f"{digits} digits were not reached: a coarser rule still moves the error by {float(error):.1e}, rounding by "
        f"{float(rounding):.1e}"
    )


@dataclass(frozen=True)
class _Map:
    """Slopes and bulks by letter, and the alignment."""

    slopes: list[Ball]
    bulks: list[Ball]
    alignment: Ball


class _Problem:
    """A model with the equations of its family, and where to begin."""

    def __init__(self, model: Model, step: labels.Step | None, start: Mapping[str, Any]) -> None:
        self.model, self.step = model, step
        letters = "one letter" if len(model.slopes) == 1 else "two letters"
        self.family = kept(letters if step is None else "network")
        self.start = dict(pair for role, value in start.items() for pair in _pairs(self.family.names[role], value))
        self.jumps = step is None and abs(model.alignment) == 1.0 and bool(model.target.breakpoints)
        # Bits that a small ridge costs: what is left of V beside it.
        self.lost = math.ceil(max(0.0, -math.log2(model.ridge)))
        self.steepness = max(1.0, *map(abs, model.slopes)) / min(1.0, math.sqrt(min(model.bulks)))
        self.width = math.hypot(max(1.0, *map(abs, model.slopes)), math.sqrt(max(model.bulks)))

    def height(self) -> float:
        """Half the width of the strip around the spike where what is averaged is analytic, from rules of few digits.

        The trapezoidal rule of step h errs like exp(-2 pi a/h). Raises PrecisionError where it does not settle.
        """
        before, step = None, 0.8 * _COARSER
        bits = _PROBE_BITS + self.lost
        with precision(bits):
            while step > _FINEST_PROBE:
                step /= _COARSER
                try:
                    error = float(self.solved(Fineness(step, 14, 1.0), bits).values["test_error"])
                except Astray:
                    if step * self.steepness < _RESOLVED:
                        raise
                    before = None  # the solution on so coarse a rule is far from the start
                    continue
                if before is not None:
                    moved = abs(error - before) / (1.0 + abs(error))
                    if moved < 1e-9:
                        return _COARSER * step * -math.log(max(moved, 1e-17)) / (2.0 * math.pi)
                before = error
        raise PrecisionError("the functions along the spike vary too fast for a rule of any precision")

    def solved(self, fine: Fineness, bits: int) -> Digits:
        """On rules of this fineness; error_estimate: what rounding leaves."""
        model, names = self.model, self.family.names
        far = reach((model.activation, model.target), self.width, bits)
        if self.jumps:
            cuts = [cut / rational_ball(model.alignment) for cut in cuts_of(model.target)]
            rule = panels(cuts, fine.digits, fine.step, far)
        else:
            rule = grid(fine.step, far)
        rules, functions = {names["kappa"]: rule}, dict[str, Any]()
        if self.step is None:
            at = _Map(
                [rational_ball(x) for x in model.slopes],
                [rational_ball(x) for x in model.bulks],
                rational_ball(model.alignment),
            )
            known = given(model, names, rational_ball)
        else:
            law, seen = labels.law(
                model.activation, model.target, model.noise, self.step, fine.digits, fine.share, bits
            )
            found_by = kept("network law").names
            slope, bulk, alignment = (law[found_by[role]] for role in ("slope", "bulk", "alignment"))
            at = _Map([slope], [bulk], alignment)
            known = law | {names[role]: rational_ball(getattr(model, role)) for role in ("alpha", "ridge", "noise")}
            rules[names["label"]] = seen.rule
            functions |= seen.tilts
        tables = _functions(model, at, rule, fine.digits + 8.0)
        tapes = self.family.tapes
        for name in _silent(names, tables, rule.weights):
            # No mean and no spike: what does not count is zero.
            tapes, known = tuple(tape for tape in tapes if tape.symbol != name), known | {name: arb(0)}
        functions |= {name: partial(labels.table, values) for name, values in tables.items()}
        found = refined(tapes, Balls(rules), known, functions, self.start, bits)
        roles = _ROLES if self.step is None else (*_ROLES, "chi")
        values = {role: _value(found.values | known, names[role]) for role in roles}
        return Digits(values, found.residual, found.rounding, found.steps)


def _functions(model: Model, at: _Map, rule: BallRule, digits: float) -> dict[str, Vector]:
    """mu0, mu1, mu2 and k2 of each letter, and y0, y1 and y2 (with label noise), on the nodes of a rule."""
    found: dict[str, Vector] = {}
    for letter, (slope, bias, bulk) in enumerate(zip(at.slopes, model.biases, at.bulks, strict=True), start=1):
        root, suffix = bulk.sqrt(), f"_{letter}" if len(at.slopes) > 1 else ""
        of = averages(model.activation, slope, rational_ball(bias), root, rule, digits)
        rest = [q - a * a - b * b for q, a, b in zip(of.square, of.mean, of.first, strict=True)]
        found[f"mu0{suffix}"] = Vector(of.mean)
        found[f"mu1{suffix}"] = Vector([(b / root).mid() for b in of.first])
        # Rounding leaves a little below zero where nothing is left.
        found[f"mu2{suffix}"] = Vector([(x.sqrt() if x > 0 else arb(0)).mid() for x in rest])
        found[f"k2{suffix}"] = Vector([((q - a) / (2 * bulk)).mid() for q, a in zip(of.second, of.mean, strict=True)])
    gamma, noise = at.alignment, rational_ball(model.noise)
    of = averages(model.target, gamma, arb(0), (1 - gamma * gamma).sqrt(), rule, digits)
    return found | {"y0": Vector(of.mean), "y1": Vector(of.first), "y2": Vector([(q + noise).mid() for q in of.square])}


def _silent(names: Mapping[str, Any], tables: Mapping[str, Vector], weights: list[Ball]) -> Iterator[str]:
    """The means of letters whose features have none. Raises PrecisionError where no feature knows the bulk."""
    means = [names["m"]] if isinstance(names["m"], str) else names["m"]
    for letter, name in enumerate(means, start=1):
        suffix = f"_{letter}" if len(means) > 1 else ""
        of = ([abs(x) * w for x, w in zip(tables[f"mu{k}{suffix}"].values, weights, strict=True)] for k in range(3))
        size, slope, rest = (max(values, key=float) for values in of)
        least = (size + slope + rest) * arb(2) ** -(ctx.prec // 2)
        if not slope > least:
            raise PrecisionError(
                "digits require an activation with a part that is linear in the bulk (mu1 is 0 all along the spike, or "
                "too small to be told from it), for example tanh(z)"
            )
        if not size > least:
            yield name


def _pairs(named: Any, value: Any) -> list[tuple[str, float]]:
    if isinstance(named, str):
        return [(named, float(value))]
    return [pair for one, part in zip(named, value, strict=True) for pair in _pairs(one, part)]


def _value(values: Mapping[str, Ball], named: Any) -> Any:
    return values[named] if isinstance(named, str) else [_value(values, one) for one in named]


def _flat(value: Any) -> list[Ball]:
    return [x for one in value for x in _flat(one)] if isinstance(value, list) else [value]


def _moved(found: Digits, coarse: Digits) -> list[Ball]:
    """By how much each value moves, relative to 1 + its size."""
    pairs = zip(_flat(list(found.values.values())), _flat(list(coarse.values.values())), strict=True)
    return [(abs(x - y) / (1 + abs(x))).mid() for x, y in pairs]


def _left(moved: list[Ball], before: list[Ball]) -> Ball:
    """What is left of values that moved by so much under a coarser rule, and by so much more under a still coarser one.

    With an error K q^(1/h) in each: K = 1 and two rules, or K and q by all three.
    """
    power = arb(_COARSER)
    with_one = max(moved, key=float) ** power
    shrunk = (a * (a / b).min(arb(1)) ** power for a, b in zip(moved, before, strict=True) if a > 0 and b > 0)
    return max((with_one, *shrunk), key=float).mid()

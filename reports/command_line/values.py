"""What one option may be: numbers and sweeps (0.5, START:STOP:COUNT, log:START:STOP:COUNT, a,b,c), readouts, biases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from giantsteps.reports.command_line.problems import InputProblem, not_built, shown

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import ReadoutGroup
    from giantsteps.numerics.models.readout_law import ReadoutLaw

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
LONGEST = 4000  # characters of one option
MOST_POINTS = 100_000
# A vocabulary is finite and small: the cost of a solve grows like the sixth power of its size.
MOST_GROUPS = 12
# Directions of the spike: a rule in three dimensions has a hundred thousand nodes.
MOST_COMPONENTS = 3
LARGEST_DIMENSION, MOST_SEEDS = 100_000, 100_000  # of experiments


@dataclass(frozen=True)
class Rule:
    """The range of one parameter: a bound, the words for it and an example."""

    least: float
    accepted: str
    example: str
    strict: bool = False
    most: float = math.inf
    whole: bool = False

    def allows(self, value: float) -> bool:
        """Whether ``value`` lies in the range."""
        inside = (value > self.least if self.strict else value >= self.least) and value <= self.most
        return inside and (not self.whole or float(value).is_integer())


POSITIVE = Rule(0.0, "a number > 0", "1.5", strict=True)
NOT_NEGATIVE = Rule(0.0, "a number >= 0", "0.1")

RULES: Mapping[str, Rule] = {
    "alpha": POSITIVE,
    "beta": POSITIVE,
    "ridge": NOT_NEGATIVE,
    "noise": NOT_NEGATIVE,
    "spike": Rule(-math.inf, "a real number", "1"),
    "bulk": POSITIVE,
    "alignment": Rule(-1.0, "a number from -1 to 1", "0.8", most=1.0),
    "alpha0": NOT_NEGATIVE,
    "eta": NOT_NEGATIVE,
    "steps": Rule(1.0, "a whole number from 1 to 1000", "2", most=1000.0, whole=True),
}


@dataclass(frozen=True)
class Values:
    """What one option stands for: its values, and whether it was written as a sweep."""

    values: tuple[float, ...]
    swept: bool


def parse_values(name: str, text: str) -> Values:
    """The values of ``--name text``. Raises InputProblem naming what was given, what is accepted and an example."""
    rule = RULES[name]
    given = text.strip()
    if len(given) > LONGEST:
        raise InputProblem(
            f"--{name} was given {len(given)} characters, at most {LONGEST} are accepted, for example --{name} "
            f"{rule.example}"
        )
    if "/" in given and all(_NUMBER.fullmatch(part) for part in given.split("/")):
        if name in ("spike", "alignment"):
            raise not_built(
                f"a spike of several components (--{name} {shown(given)})",
                f"give one number, for example --{name} {rule.example}",
            )
        raise InputProblem(
            f"--{name} was given {shown(given)}; a fraction is written as a decimal number, for example --{name} "
            f"{rule.example}"
        )
    if ":" in given:
        values, swept = _range(name, given, rule), True
    elif "," in given:
        values, swept = tuple(_number(name, part, given, rule) for part in given.split(",")), True
    else:
        values, swept = (_number(name, given, given, rule),), False
    for value in values:
        if not rule.allows(value):
            where = f" (in {shown(given)})" if swept else ""
            raise InputProblem(
                f"--{name} {_exactly(value)}{where} is not accepted: {name} has to be {rule.accepted}, for example "
                f"--{name} {rule.example}"
            )
    return Values(tuple(map(int, values)) if rule.whole else values, swept)


def parse_schedule(name: str, text: str) -> tuple[float, ...]:
    """The numbers of "2/1/0.5", one per gradient step. Raises InputProblem."""
    parts = [part.strip() for part in text.split("/")]
    if any(parse_number(part) is None for part in parts):
        raise InputProblem(
            f"--{name} was given {shown(text)}; accepted is one number, or one number for each gradient step joined by "
            f"/ (no sweep), for example --{name} 2/1 --steps 2"
        )
    return tuple(parse_values(name, part).values[0] for part in parts)


def _exactly(value: float) -> str:
    """The number in six digits, or in all of them where six would make it another one."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def parse_number(text: str) -> float | None:
    """A finite number written in ASCII digits; None for anything else (words, nan, inf, 1_000, 1e999)."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def _number(name: str, text: str, given: str, rule: Rule) -> float:
    stripped = text.strip()
    value = parse_number(stripped)
    if value is None:
        raise InputProblem(
            f"--{name} was given {shown(given)}, where {shown(stripped)} is not a finite number; accepted are "
            f"{rule.accepted}, a sweep START:STOP:COUNT or log:START:STOP:COUNT, or a list a,b,c, for example --{name} "
            f"{rule.example}"
        )
    return value


def _range(name: str, given: str, rule: Rule) -> tuple[float, ...]:
    parts = given.split(":")
    logarithmic = parts[0].strip() == "log"
    parts = parts[1:] if logarithmic else parts
    if len(parts) != 3 or not re.fullmatch(r"[0-9]+", parts[2].strip()) or not parts[2].strip().strip("0"):
        raise InputProblem(
            f"--{name} was given {shown(given)}; a sweep is START:STOP:COUNT or log:START:STOP:COUNT with a whole "
            f"COUNT >= 1, for example --{name} log:0.1:10:20"
        )
    start, stop = (_number(name, part, given, rule) for part in parts[:2])
    digits = parts[2].strip().lstrip("0")
    count = int(digits) if len(digits) < 10 else MOST_POINTS + 1
    if count > MOST_POINTS:
        raise InputProblem(
            f"--{name} was given {shown(given)}: at most {MOST_POINTS} points are accepted, for example --{name} "
            f"log:0.1:10:20"
        )
    if logarithmic and not (start > 0.0 and stop > 0.0):
        raise InputProblem(
            f"--{name} was given {shown(given)}: log needs both ends > 0, for example --{name} log:0.1:10:20"
        )
    if count == 1:
        return (start,)
    if logarithmic:
        inner = [start * (stop / start) ** (k / (count - 1)) for k in range(1, count - 1)]
    else:
        # Exact between the decimals as written, so that 0.1:0.5:5 passes through 0.3 and not 0.30000000000000004.
        low, high = Fraction(repr(start)), Fraction(repr(stop))
        inner = [float(low + (high - low) * k / (count - 1)) for k in range(1, count - 1)]
    return (start, *inner, stop)


def grid(values: Mapping[str, Values]) -> Iterator[dict[str, float]]:
    """All points of the product, in the order of ``values``, the last one fastest."""
    for point in product(*(v.values for v in values.values())):
        yield dict(zip(values, point, strict=True))


def check_size(values: Mapping[str, Values]) -> None:
    """Raises InputProblem where the product of the sweeps is too large to run."""
    count = math.prod(len(v.values) for v in values.values())
    if count > MOST_POINTS:
        raise InputProblem(
            f"the sweeps make {count} points, at most {MOST_POINTS} are accepted, for example --alpha log:0.1:10:20"
        )


def parse_whole(name: str, text: str, least: int, most: int, example: str) -> int:
    """A whole number of an option. Raises InputProblem."""
    if not re.fullmatch(r"\+?[0-9]{1,12}", text) or not least <= int(text) <= most:
        raise InputProblem(
            f"--{name} was given {shown(text)}; a whole number from {least} to {most} is accepted, for example "
            f"--{name} {example}"
        )
    return int(text)


def parse_wholes(name: str, text: str, least: int, most: int, example: str) -> tuple[int, ...]:
    """Whole numbers separated by commas. Raises InputProblem."""
    parts: Sequence[str] = text.split(",")
    if not all(re.fullmatch(r"\+?[0-9]{1,12}", part.strip()) and least <= int(part) <= most for part in parts):
        raise InputProblem(
            f"--{name} was given {shown(text)}; whole numbers from {least} to {most} separated by commas are "
            f"accepted, for example --{name} {example}"
        )
    return tuple(int(part) for part in parts)


def components(name: str, text: str | None) -> tuple[float, ...]:
    """The numbers joined by "/"; none where there is no "/"."""
    if text is None or "/" not in text:
        return ()
    numbers = [parse_number(part.strip()) for part in text.split("/")]
    found = tuple(number for number in numbers if number is not None)
    if len(found) < len(numbers) or len(found) > MOST_COMPONENTS:
        raise InputProblem(
            f"--{name} was given {shown(text)}; the components of a spike of several directions are at most "
            f"{MOST_COMPONENTS} numbers joined by /, and are no sweep, for example --{name} 0.6/0.5"
        )
    return found


def parse_bias(text: str) -> tuple[tuple[float, float], ...]:
    """The pairs of "bias:fraction,...", fractions normalised to add up to 1. Raises InputProblem."""
    accepted = (
        "learned, or bias:fraction separated by commas, fractions that add up to 1, for example "
        '--bias "0.3:0.5,-0.3:0.5"'
    )
    given, pairs = f"--bias was given {shown(text)}", []
    for part in text.split(",")[: MOST_GROUPS + 1]:
        numbers = [parse_number(field.strip()) for field in part.split(":")]
        found = [number for number in numbers if number is not None]
        if len(numbers) != 2 or len(found) != 2 or not 0.0 < found[1] <= 1.0:
            raise InputProblem(f"{given}; accepted is {accepted}")
        pairs.append((found[0], found[1]))
    total = _whole([fraction for _, fraction in pairs], given, accepted)
    return tuple((value, fraction / total) for value, fraction in pairs)


def parse_readout(text: str) -> tuple[ReadoutGroup, ...]:
    """The groups of "u:fraction[:bulk[:bias]],...", an empty bulk being not given. Raises InputProblem."""
    from giantsteps.numerics.models.model import ReadoutGroup

    accepted = (
        "u:fraction[:bulk[:bias]] for each group, separated by commas, fractions that add up to 1, the bulk may be "
        'empty before a bias, u one number or components joined by /, for example --readout "1:0.5,-1:0.5"'
    )
    given, groups = f"--readout was given {shown(text)}", []
    for part in text.split(",")[: MOST_GROUPS + 1]:
        fields = [field.strip() for field in part.split(":")]
        further = components("readout", fields[0])[1:]
        fields[0] = fields[0].split("/")[0].strip()
        left_empty = len(fields) == 4 and not fields[2]
        if left_empty:
            fields[2] = "1"
        numbers = [parse_number(field) for field in fields]
        if not 2 <= len(fields) <= 4 or any(number is None for number in numbers):
            raise InputProblem(f"{given}; accepted is {accepted}")
        found = [number for number in numbers if number is not None]
        weight, fraction = found[:2]
        bulk = found[2] if len(found) > 2 and not left_empty else None
        bias = found[3] if len(found) > 3 else 0.0
        if not 0.0 < fraction <= 1.0 or (bulk is not None and bulk <= 0.0):
            raise InputProblem(
                f"{given}, where a fraction is not in (0, 1] or a bulk is not positive; accepted is {accepted}"
            )
        groups.append(ReadoutGroup(weight, fraction, bulk, bias, further))
    if len(groups) > MOST_GROUPS:
        raise InputProblem(f"--readout was given more than {MOST_GROUPS} groups; accepted is {accepted}")
    _whole([group.fraction for group in groups], given, accepted)
    return tuple(groups)


def _whole(fractions: Sequence[float], given: str, accepted: str) -> float:
    """The sum of the fractions, one up to rounding. Raises InputProblem where it is not."""
    total = sum(fractions)
    if abs(total - 1.0) > 1e-9:
        raise InputProblem(f"{given}, whose fractions add up to {total:g}; accepted is {accepted}")
    return total


# Letters of a size at which squares and cubes of parameters stay inside double precision.
_SMALLEST, _LARGEST = 1e-6, 1e6


def law_of(text: str) -> ReadoutLaw:
    """The law that --readout names, as normal, normal:SCALE, uniform or uniform:SCALE. Raises InputProblem."""
    from giantsteps.numerics.models.readout_law import LAWS, ReadoutLaw

    name, _, scale = (part.strip() for part in text.partition(":"))
    value = parse_number(scale) if ":" in text else 1.0
    if name not in LAWS or value is None or not _SMALLEST <= value <= _LARGEST:
        raise InputProblem(
            f"--readout was given {text[:60]!a}; a density is normal:SCALE (standard deviation) or uniform:SCALE "
            "(half-width), with SCALE from 1e-6 to 1e6 (default 1), for example --readout normal:0.8"
        )
    return ReadoutLaw(name, value)

"""Two texts compared as a reader would: words, signs and whole numbers exactly, decimals to their last digit.

A printed decimal may differ by one unit of its last place, for another processor rounds otherwise, and where all digits
of a double are printed by 1e-7 of it, for the place of a minimum is known to the root of a rounding; what is smaller
than 1e-9 is the rounding error of something and may have any size below that, nothing too.
"""

from __future__ import annotations

import re
from itertools import zip_longest

_DECIMAL = re.compile(r"(?<![\w.])-?(?:\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?![\w.]*\w)")
_ROUNDING, _RELATIVE = 1e-9, 1e-7
_NOTHING = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?e-(?:[1-9]\d+)(?![\w.]*\w)")
_AT_MOST = 3


def differences(kept: str, found: str) -> list[str]:
    """The first lines in which two texts differ, each as it was kept and as it is."""
    told: list[str] = []
    pairs = zip_longest(kept.splitlines(), found.splitlines())
    for number, (one, other) in enumerate(pairs, 1):
        if one is None or other is None or not _same(one, other):
            told.append(f"line {number}\n  kept: {_short(one, other)}\n  found:    {_short(other, one)}")
        if len(told) == _AT_MOST:
            break
    return told


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    one, other = _NOTHING.sub("0", one), _NOTHING.sub("0", other)
    if _DECIMAL.sub("#", one) != _DECIMAL.sub("#", other):
        return False
    return all(map(_close, _DECIMAL.findall(one), _DECIMAL.findall(other)))


def _close(one: str, other: str) -> bool:
    """Whether two decimals are one number: trailing zeros may be omitted, other digits may not."""
    a, b = float(one), float(other)
    allowed = max(1.001 * min(_unit(one), _unit(other)), _RELATIVE * abs(a))
    return abs(a - b) <= allowed or max(abs(a), abs(b)) < _ROUNDING


def _unit(decimal: str) -> float:
    """One unit of the last place of a decimal."""
    mantissa, _, exponent = decimal.partition("e")
    places = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - places))


def _short(line: str | None, other: str | None) -> str:
    """A line from a little before where it leaves the other one."""
    if line is None:
        return "(nothing)"
    pairs = enumerate(zip_longest(line, other or ""))
    start = max(0, next((place for place, (a, b) in pairs if a != b), 0) - 40)
    return line[start : start + 160]

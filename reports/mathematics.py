"""LaTeX to MathML, for a page that needs no script."""

from __future__ import annotations

import re
from functools import lru_cache


class MathError(ValueError):
    """A formula that cannot be shown: the converter left LaTeX in its output."""


@lru_cache(maxsize=8192)
def mathml(latex: str, *, block: bool = False) -> str:
    """One formula as a MathML element. Raises MathError where anything is left unconverted."""
    from latex2mathml import exceptions
    from latex2mathml.converter import convert

    refusals = tuple(e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        converted = str(convert(_prepared(latex), display="block" if block else "inline"))
    except refusals as error:
        raise MathError(f"the formula {latex} cannot be converted: {type(error).__name__}") from None
    if "\\" in converted:
        left = re.findall(r"\\[A-Za-z]*", converted)
        raise MathError(f"the commands {', '.join(sorted(set(left)))} of the formula {latex} have no MathML")
    return _short(converted)


# What a page does not need: the name space, the default display, rows of one element, signs as numbers.
_NEEDLESS = re.compile(r' xmlns="[^"]*"| display="inline"')
_ROW_OF_ONE = re.compile(r"<mrow>(<m([ion])>[^<]*</m\2>)</mrow>")
_NUMBERED = re.compile(r"&#x([0-9A-Fa-f]+);")


def _short(converted: str) -> str:
    """The same element in fewer bytes."""

    def sign(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return found[0] if character in "<>&" else character

    return _NUMBERED.sub(sign, _ROW_OF_ONE.sub(r"\1", _NEEDLESS.sub("", converted)))


def _prepared(latex: str) -> str:
    """The same formula without what the converter takes literally, and with bars that open and close."""
    # Thin spaces around operators come from the printer, not from the formula.
    plain = latex.replace(r"\;", " ").replace(r"\,", " ").replace(r"\!", "")
    pieces = re.split(r"(?<!\\)(?<!left)(?<!right)\|", plain)
    if len(pieces) % 2 == 0:
        return plain  # an odd number of bars: "evaluated at", not absolute values
    bars = (r"\left|", r"\right|")
    return pieces[0] + "".join(bars[k % 2] + piece for k, piece in enumerate(pieces[1:]))

"""What each property puts beside what, on a theory in which nothing holds: lines of text, kept in margins.txt.

`python -m tests.verify.properties.margins` writes them anew, after a change of a property that is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onestep.verify.properties import margins
from onestep.verify.properties.property import REFUSALS, Property
from onestep.verify.properties.run import BY_NAME, THEMES
from tests.verify.properties.disturbed import disturbed, examples

KEPT = Path(__file__).with_name("margins.txt")
DRAWN = 3
_COMPARED = ("near", "at_most")


@contextmanager
def told(to: list[str]) -> Iterator[None]:
    """What is compared and what would be left out is told; nothing is left out."""

    def telling(name: str) -> Any:
        right = getattr(margins, name)

        def compare(*given: Any) -> float:
            to.append(f"{name}({', '.join(map(_number, given))})")
            return float(right(*given))

        return compare

    def least(*given: Any, **more: Any) -> Any:
        values = list(given[0]) if len(given) == 1 else list(given)
        if not more and all(isinstance(value, float) for value in values):
            to.append(f"min({', '.join(f'{value:.6g}' for value in values)})")
        return min(values, **more)

    with pytest.MonkeyPatch.context() as patch:
        for theme in THEMES:
            for name in _COMPARED:
                if hasattr(theme, name):
                    patch.setattr(theme, name, telling(name))
            patch.setattr(theme, "min", least, raising=False)
        patch.setattr(margins.hypothesis, "reject", lambda: to.append("undecided"))
        yield


def _number(value: Any) -> str:
    """A number, or of several their sum with weights; six digits, and no imaginary part that is rounding."""
    flat = np.ravel(np.asarray(value, dtype=complex))
    found = complex(np.sum(flat * np.sqrt(np.arange(1.0, flat.size + 1.0))))
    return f"{found.real:.6g}" + (f" {found.imag:+.6g}i" if abs(found.imag) > 1e-12 * abs(found) else "")


def lines_of(name: str) -> list[str]:
    """The claim that a property serves, what it draws, and what it compares on some of its draws."""
    one = BY_NAME[name]
    assert isinstance(one, Property)
    found = [f"{name}: {one.claim}, {one.examples} examples, plant: {one.plant.text}"]
    for example in examples(one.drawn, DRAWN):
        said: list[str] = []
        with told(said):
            try:
                margin = f"{one.margin(example, disturbed()):.6g}"
            except (*REFUSALS, ArithmeticError, ValueError, AssertionError) as error:
                margin = type(error).__name__
        found += [f"  {one.shown(example)}", f"    {'; '.join(said)} -> {margin}"]
    return found


@cache
def kept() -> dict[str, list[str]]:
    """The lines of each property as they were."""
    blocks: dict[str, list[str]] = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            name = line.partition(":")[0]
            blocks[name] = []
        blocks[name].append(line)
    return blocks


SEARCHED = [name for name, one in BY_NAME.items() if isinstance(one, Property)]

if __name__ == "__main__":
    KEPT.write_text("\n".join(line for name in SEARCHED for line in lines_of(name)) + "\n", encoding="utf-8")

"""The pairs of numbers that a property compares, on a theory in which nothing holds."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from giantsteps.verify.properties import margins
from giantsteps.verify.properties.property import REFUSALS, Property
from giantsteps.verify.properties.run import BY_NAME, THEMES
from tests.verify.properties.disturbed import disturbed, examples

DRAWN = 3
SEARCHED = [name for name, one in BY_NAME.items() if isinstance(one, Property)]


def compared(name: str) -> list[tuple[str, str]]:
    """Both sides of every `near` of a property on some of its draws, as text."""
    one, found = BY_NAME[name], []
    assert isinstance(one, Property)

    def near(left: Any, right: Any, *more: Any) -> float:
        found.append((_text(left), _text(right)))
        return float(margins.near(left, right, *more))

    with pytest.MonkeyPatch.context() as patch:
        for theme in THEMES:
            if hasattr(theme, "near"):
                patch.setattr(theme, "near", near)
        patch.setattr(margins.hypothesis, "reject", lambda: None)
        for example in examples(one.drawn, DRAWN):
            with contextlib.suppress(*REFUSALS, ArithmeticError, ValueError, AssertionError):
                one.margin(example, disturbed())
    return found


def _text(value: Any) -> str:
    """Six digits of a number, or of a weighted sum of several."""
    flat = np.ravel(np.asarray(value, dtype=complex))
    return f"{complex(np.sum(flat * np.sqrt(np.arange(1.0, flat.size + 1.0)))):.6g}"

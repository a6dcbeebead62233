"""How bad input is refused: by one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refusal(error: type[Exception], call: Callable[..., Any], *arguments: Any, longest: int = 400) -> str:
    """The sentence with which a call is refused: one line, not too long to read, and no traceback."""
    with pytest.raises(error) as caught:
        call(*arguments)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert "Traceback" not in message
    assert len(message) < longest
    return message

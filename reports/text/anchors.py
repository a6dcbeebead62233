"""Anchors inside the page."""

from __future__ import annotations

import re


def anchor(text: str) -> str:
    """An id for the page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

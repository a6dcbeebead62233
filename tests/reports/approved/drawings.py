"""Drawings as text that a slip changes and another processor's rounding does not."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def drawing(svg: str) -> str:
    """A drawing as text: its label, its letters and marks, and of all that is drawn, in its order, tag, style and how
    far its coordinates reach.
    """
    definitions = re.compile(r"<defs>.*?</defs>", re.DOTALL)
    label = re.search(r'aria-label="([^"]*)"', svg)
    drawn = [_drawn(found) for found in re.findall(r"<(?:svg|path|use|text|g)[^>]*>", definitions.sub("", svg))]
    return "\n".join((label.group(1) if label else "", digest("".join(definitions.findall(svg))), *drawn))


def _drawn(tag: str) -> str:
    """One path or mark: numbers of paths move with rounding, so that they are added up, and signs as well."""
    shape = re.sub(r'(?:id|href|clip-path)="[^"]*"', "", tag)
    styles = re.findall(r'[\w-]+="[^"]*[a-z#][^"]*"', re.sub(r'd="[^"]*"', "", shape))
    places = " ".join(re.findall(r'(?:d|x|y|transform)="([^"]*)"', shape))
    numbers = [float(number) for number in _NUMBER.findall(places)]
    weighed = sum((1 + 0.1 * (k % 7)) * number for k, number in enumerate(numbers))
    return f"{tag[1:4].strip()} {len(numbers)} {weighed:.3e} {digest(' '.join(styles))}"


def digest(text: str) -> str:
    """A few letters that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@contextlib.contextmanager
def heat_maps() -> Iterator[list[str]]:
    """The heat maps that are drawn inside, which a drawing holds as images: where they lie, values and colours."""
    told: list[str] = []

    def remembered(draw: Callable[..., Any]) -> Callable[..., Any]:
        def told_of(*given: Any, **options: Any) -> Any:
            image = draw(*given, **options)
            edges = image.get_coordinates().reshape(-1, 2).T if isinstance(image, QuadMesh) else [image.get_extent()]
            rows = (*edges, np.ma.filled(image.get_array(), np.nan).ravel(), image.get_clim())
            told.append(f"{type(image.norm).__name__} {image.get_cmap().name} {getattr(image, 'origin', '')}")
            told.extend(" ".join(f"{value:.6g}" for value in row) for row in rows)
            return image

        return told_of

    with (
        patch.object(Axes, "pcolormesh", remembered(Axes.pcolormesh)),
        patch.object(Axes, "imshow", remembered(Axes.imshow)),
    ):
        yield told

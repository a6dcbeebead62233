"""Files that are written in one piece: an interrupted run leaves the old ones, never half of the new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def placed() -> Iterator[Callable[[Path], Path]]:
    """Gives where to write a file beside its place; all take their places when the block ends, none where it fails."""
    partials: list[tuple[Path, Path]] = []

    def beside(path: Path) -> Path:
        # Two processes may write the same file: each has a partial one of its own.
        partials.append((path.with_name(f"{path.name}.{os.getpid()}.partial"), path))
        return partials[-1][0]

    try:
        yield beside
        while partials:
            partials[-1][0].replace(partials[-1][1])
            partials.pop()
    finally:  # what is left was not put in place
        for partial, _ in partials:
            partial.unlink(missing_ok=True)

"""A slip of the pen in the source, and the test that catches it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slip:
    """``wrong`` in place of ``right``, which stands once in ``file``; the fast test ``caught_by`` then fails."""

    file: str
    right: str
    wrong: str
    caught_by: str

    @property
    def name(self) -> str:
        """Where it is and what it says."""
        return f"{self.file}: {' '.join(self.wrong.split())[:60]}"

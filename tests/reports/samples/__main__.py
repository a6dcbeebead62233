"""Write the samples anew: `python -m tests.reports.samples`. Then read `git diff` line by line."""

from __future__ import annotations

from tests.reports.samples.comparison import differences
from tests.reports.samples.files import MADE, read, write


def main() -> None:
    """Write both files; a sample that differs by rounding alone stays as it is."""
    for name, made in MADE.items():
        before, now = read(name), {line: text() for line, text in made().items()}
        write(name, {n: before[n] if n in before and not differences(before[n], t) else t for n, t in now.items()})


if __name__ == "__main__":
    main()

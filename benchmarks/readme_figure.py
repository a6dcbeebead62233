"""Draw the figure of the README again: `python -m benchmarks.readme_figure` writes docs/learning_curves.svg."""

from __future__ import annotations

from pathlib import Path

from giantsteps.reports.figures.canvas import standalone
from giantsteps.reports.figures.figures import learning_curves_by_batch
from giantsteps.reports.figures.files import own_style

PLACE = Path(__file__).resolve().parent.parent / "docs" / "learning_curves.svg"


@own_style()
def main() -> None:
    """Draw and write the figure."""
    PLACE.write_text(standalone(learning_curves_by_batch()), encoding="utf-8")


if __name__ == "__main__":
    main()

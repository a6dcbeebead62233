"""Draw the figure of the README again: `python -m benchmarks.readme_figure` writes docs/learning_curves.svg."""

from __future__ import annotations

from pathlib import Path

from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import stored
from giantsteps.reports.studies.paper.curves import THEORIES, key, learning
from giantsteps.reports.studies.paper.samples import BY_BATCH
from giantsteps.reports.studies.paper.settings import SINE

PLACE = Path(__file__).resolve().parent.parent / "docs" / "learning_curves.svg"


@own_style()
def main() -> None:
    """Draw and write the figure: a panel of Figure 2."""
    canvas, axes = draw.panels()
    curves = BY_BATCH[SINE.name]
    key(axes, curves, learning(axes, curves, stored("figures")))
    draw.style_key(canvas, THEORIES)
    caption = f"{SINE}. Points: networks. Lines: theory of the isotropic bulk (solid), of the network's own (dashed)."
    figure = draw.finished(canvas, "learning_curves", "Learning curves for several batch sizes", caption)
    PLACE.write_text(draw.standalone(figure), encoding="utf-8")


if __name__ == "__main__":
    main()

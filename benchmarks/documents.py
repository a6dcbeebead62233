"""Make again what the documents show: the figure of the README, the pictures of the tutorial, the reference (docs/api).

`python -m benchmarks.documents`, or `make documents`.
"""

from __future__ import annotations

import os
import re
from contextlib import chdir
from pathlib import Path

from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.files import own_style
from giantsteps.reports.measurements.experiments import stored
from giantsteps.reports.studies.paper.curves import THEORIES, key, learning
from giantsteps.reports.studies.paper.samples import BY_BATCH
from giantsteps.reports.studies.paper.settings import SINE
from giantsteps.reports.text import api_pages

DOCS = Path(__file__).resolve().parent.parent / "docs"


@own_style()
def learning_curves() -> None:
    """The figure of the README, a panel of Figure 2."""
    canvas, axes = draw.panels()
    curves = BY_BATCH[SINE.name]
    key(axes, curves, learning(axes, curves, stored("figures")))
    draw.style_key(canvas, THEORIES)
    caption = f"{SINE}. Points: networks. Lines: theory of the isotropic bulk (solid), of the network's own (dashed)."
    figure = draw.finished(canvas, "learning_curves", "Learning curves for several batch sizes", caption)
    (DOCS / "learning_curves.svg").write_text(draw.standalone(figure), encoding="utf-8")


def python_session(text: str) -> str:
    """The Python of a page: its fenced blocks, one session from top to bottom."""
    return "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


@own_style()
def tutorial() -> None:
    """Run the tutorial in docs/figures/, where it saves its pictures."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "figure.figsize": (5.2, 3.4)})
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with chdir(DOCS / "figures"):
        exec(python_session((DOCS / "tutorial.md").read_text(encoding="utf-8")), {})


if __name__ == "__main__":
    learning_curves()
    tutorial()
    api_pages.main()

"""Networks of any activation on trial: 24 that were drawn before anything was predicted, or measured.

python -m benchmarks.networks.any_activation draw        draw the networks; writes draw.json
python -m benchmarks.networks.any_activation predict     what both theories say of them; writes predictions.json
"""

from __future__ import annotations

import sys

from onestep.reports.studies.networks.drawn import FOLDER, draw, draw_text
from onestep.reports.studies.networks.predicted import text


def main() -> None:
    """See the module's first lines."""
    if sys.argv[1:] == ["draw"]:
        (FOLDER / "draw.json").write_text(draw_text(draw()), encoding="utf-8")
    if sys.argv[1:] == ["predict"]:
        (FOLDER / "predictions.json").write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()

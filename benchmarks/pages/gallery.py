"""The gallery of activations, examined once: `python -m benchmarks.pages.gallery` writes what is not in gallery.json.

`python -m benchmarks.pages.gallery again` examines all of them again.
"""

from __future__ import annotations

import sys

from giantsteps.reports.activation.gallery import ACTIVATIONS, STORED, examined, stored
from giantsteps.reports.measurements.experiments import text_of

if __name__ == "__main__":
    known = {} if sys.argv[1:] == ["again"] else stored()
    found = {}
    for name in ACTIVATIONS:
        found[name] = known.get(name) or examined(name)
        STORED.write_text(text_of(found | {key: known[key] for key in known if key not in found}), encoding="utf-8")
        print(name, flush=True)

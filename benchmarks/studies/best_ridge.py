"""The best ridges of seeded random models: the page `reports.studies.best_ridge`.

python -m benchmarks.studies.best_ridge simulate    scan all models again (about a minute and a half) and store the
answers python -m benchmarks.studies.best_ridge             print the page from the stored scan
"""

from __future__ import annotations

import sys

from giantsteps.reports.studies.best_ridge import store, study

if __name__ == "__main__":
    if sys.argv[1:] == ["simulate"]:
        store()
    page = study()
    print("\n\n".join(page.text) if page else "the scan is not stored yet: add `simulate`")

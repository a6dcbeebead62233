"""Where one gradient step helps, certified: `reports.studies.networks.step_helps`.

python -m benchmarks.pages.step_helps certify    rows that are not in step_helps.json yet (some ten minutes of one core)
python -m benchmarks.pages.step_helps            print the page from the stored rows
"""

from __future__ import annotations

import sys
import time

from benchmarks.entries import stored, write
from giantsteps.numerics.certificates.ranges.plane import rows_of_signs
from giantsteps.reports.measurements.experiments import as_text
from giantsteps.reports.studies.networks.step_helps import BATCHES, ROWS, STORED, grid, models, row_text, study

# Rows that are made together.
_HIGH = 20


def certify() -> None:
    """All rows that are missing, stored as they come."""
    entries = stored(STORED)
    for alpha0 in BATCHES:
        for first in range(0, ROWS, _HIGH):
            wanted = range(first, min(first + _HIGH, ROWS))
            known = {entry["row"] for entry in entries if entry["alpha0"] == alpha0}
            if known.issuperset(wanted):
                continue
            start = time.process_time()
            rows = rows_of_signs(models(alpha0), grid(), slice(wanted.start, wanted.stop))
            entries = [one for one in entries if one["alpha0"] != alpha0 or one["row"] not in wanted]
            entries += [
                {"alpha0": alpha0, "row": k, "signs": row_text(row)} for k, row in zip(wanted, rows, strict=True)
            ]
            write(STORED, sorted(entries, key=lambda one: (one["alpha0"], one["row"])))
            print(f"alpha0 {alpha0:g}, rows to {wanted.stop}: {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["certify"]:
        certify()
    found = study()
    print(as_text(found) if found else "not all rows are there yet: add `certify`")

"""The studies of the report: `python -m benchmarks.studies SLUG simulate` measures what is not stored of one yet.

`python -m benchmarks.studies SLUG` prints its page from the stored samples.
"""

from __future__ import annotations

import sys

from benchmarks.studies import even_part
from benchmarks.studies.spectrum_sample import store
from giantsteps.reports.built_in.studies import STUDIES
from giantsteps.reports.measurements.experiments import Measurement
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.page.studies import found_at
from giantsteps.reports.studies import best_ridge, spectrum_sample


def as_text(study: Study) -> str:
    """A page as plain text: paragraphs and tables."""
    lines = [study.title, ""]
    for paragraph in study.text:
        lines += [paragraph, ""]
    for table in study.tables:
        widths = [max(len(row[k]) for row in (table.columns, *table.rows)) for k in range(len(table.columns))]
        lines += [table.caption]
        for row in (table.columns, *table.rows):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        lines.append("")
    return "\n".join(lines)


SCANS = {
    best_ridge.SLUG: (best_ridge.store, [best_ridge.study]),
    spectrum_sample.SLUG: (store, [spectrum_sample.study]),
}


def main(slug: str, *words: str) -> None:
    """Measure, if asked to, and print the pages made of these samples."""
    known = (*map(found_at, STUDIES), even_part.STUDY)
    measured = [one for one in known if isinstance(one, Measurement) and one.slug == slug]
    measure, pages = SCANS.get(slug) or (measured[0].measure, [one.study for one in measured])
    if words == ("simulate",):
        measure()
    for page in (study() for study in pages):
        print(as_text(page) if page else "not all is measured yet: add `simulate`")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The page on vocabularies: complete from its samples, and silent where they are missing."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.reports.measurements.experiments import Data, complete, stored
from giantsteps.reports.studies import vocabulary
from giantsteps.reports.studies.paper.series import plotted
from giantsteps.reports.studies.vocabulary import ALPHAS, EXPERIMENTS, VOCABULARIES


def test_the_page_is_made_from_the_samples() -> None:
    data = stored(vocabulary.SLUG)
    assert complete(data, EXPERIMENTS)
    study = vocabulary.page(data)
    (table,) = study.tables
    assert len(table.rows) == len(VOCABULARIES) * len(ALPHAS)
    assert not any("REFUTED" in row for row in table.rows)
    assert "0 of 20 points refuted" in " ".join(study.text)
    (figure,) = study.figures
    assert figure.svg.startswith("<svg")
    # Both bulks stand there, each beside its own samples: read back from what is plotted.
    drawn = plotted(figure)
    for panel, prefix in ((1, ""), (2, "orthogonal ")):
        for name, _ in VOCABULARIES:
            at = vocabulary.name_of(name, 1.0, vocabulary.SHOWN)
            own = np.mean(data[prefix + at]["test_error"])
            assert drawn[panel, name].at(np.array([1.0]))[0] == pytest.approx(own, rel=1e-8)
    letters = dict(VOCABULARIES)["{1, 2}"]
    line = drawn[2, "theory, {1, 2}, infinite d"]
    assert line.y[4] == pytest.approx(vocabulary.orthogonal_theory(letters, float(line.x[4])), rel=1e-8)


def test_a_wrong_theory_would_be_seen() -> None:
    data = stored(vocabulary.SLUG)
    # A tenth more in every sample: points with large errors refute, and the page says how many.
    wrong: Data = {name: {o: [1.1 * x for x in xs] for o, xs in samples.items()} for name, samples in data.items()}
    points = vocabulary.judged(wrong)
    refuted = [p for p in points if any(c.verdict == "REFUTED" for c in p.comparisons.values())]
    assert len(refuted) > len(points) / 2


def test_the_deviates_look_standard_normal() -> None:
    points = vocabulary.judged(stored(vocabulary.SLUG))
    z = np.array([p.comparisons["test_error"].z or 0.0 for p in points])
    # 20 independent deviates: their mean square is within 0.35 to 2.1 of one with probability 0.999.
    assert 0.3 < float(np.mean(z**2)) < 2.3


def test_without_samples_there_is_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "stored", lambda slug: {})
    assert vocabulary.study() is None

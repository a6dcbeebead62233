"""The trial of networks of any activation: its verdicts, and that the page follows from the samples."""

from __future__ import annotations

import copy

import pytest

from giantsteps.reports.measurements.models import Data
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.studies.networks.any_activation import deviates, judged_in, page, verdicts
from giantsteps.reports.studies.networks.drawn import COUNT, JUDGED, MEASURED, RUNS, entries
from giantsteps.reports.studies.networks.predicted import KEY, Judged, samples
from giantsteps.reports.text.prose import prose
from giantsteps.verify.checks.finite_size import CONFIRMED, INCONCLUSIVE, REFUTED

DATA = samples()


@pytest.fixture(scope="module")
def judged() -> tuple[Judged, ...]:
    return judged_in(DATA)


def shown(study: Study) -> str:
    for text in (*study.text, *(cell for table in study.tables for row in table.rows for cell in row)):
        assert "nan" not in text
        prose(text)
    return " ".join(study.text)


def test_every_network_is_measured_as_it_was_planned() -> None:
    # The smallest dimensions first, with all the seeds of the plan; the largest networks may lack the largest.
    plan = {str(dimension): seeds for dimension, seeds in RUNS}
    for entry in entries():
        runs = DATA[KEY][entry.drawn.name]
        assert list(runs) == list(plan)[: len(runs)]
        assert len(runs) >= 2
        for dimension, found in runs.items():
            assert {name: len(values) for name, values in found.items()} == dict.fromkeys(MEASURED, plan[dimension])


def test_the_network_s_own_bulk_stands_and_the_isotropic_one_falls(judged: tuple[Judged, ...]) -> None:
    assert len(judged) == COUNT
    own, other = (verdicts(judged, theory) for theory in ("network", "isotropic"))
    # A right theory would be refuted in one of 24 networks with probability 2.4 % at most.
    assert own[REFUTED] == 0
    assert own[INCONCLUSIVE] <= COUNT // 4
    assert other[REFUTED] >= 8
    assert own[CONFIRMED] > other[CONFIRMED]


def test_no_deviate_of_the_network_s_own_theory_is_out_of_reach(judged: tuple[Judged, ...]) -> None:
    # 24 networks of 5 observables: |z| > 4.2 is met by chance in 0.3 % of such trials.
    assert max(abs(z) for found in deviates(judged, "network").values() for z in found) < 4.2


@pytest.mark.parametrize("name", ["test_error", "m"])
def test_the_page_follows_from_the_samples(name: str) -> None:
    usual = shown(page(judged_in(DATA), DATA))
    assert f"The network's own bulk: {verdicts(judged_in(DATA), 'network')[CONFIRMED]} CONFIRMED" in usual
    wrong: Data = copy.deepcopy(DATA)
    right = next(j for j in judged_in(DATA) if j.reports["network"].verdict == CONFIRMED)
    entry = right.entry
    # Off by three times what is tolerated, at every dimension.
    tolerated = next(c.tolerance for c in right.reports["network"].comparisons if c.observable == name)
    assert tolerated is not None
    for runs in wrong[KEY][entry.drawn.name].values():
        runs[name] = [x + 3.0 * tolerated for x in runs[name]]
    found = judged_in(wrong)
    assert verdicts(found, "network")[REFUTED] == 1
    assert f"{entry.activation} / {entry.target}: REFUTED" in shown(page(found, wrong))


def test_the_page_is_about_what_was_measured(judged: tuple[Judged, ...]) -> None:
    study = page(judged, DATA)
    assert len(study.tables[0].rows) == COUNT
    assert study.command.split()[2] == "benchmarks.networks.any_activation.trial"
    assert all(len(j.reports["network"].comparisons) == len(JUDGED) for j in judged)

"""The list of the studies: every module on it is there and has a study."""

from __future__ import annotations

from importlib import import_module

import pytest

from onestep.reports.page.studies import STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_of_the_report_is_where_the_list_says(name: str) -> None:
    assert callable(import_module(f"onestep.reports.{name}").study)

"""Packages that an extra brings are those of the distribution, and each is named with the smallest that does."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from giantsteps.reports.command_line.extras import DISTRIBUTIONS, extra_of, missing
from tests.shared.command_line import refused

EXTRAS = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
# What is imported, beside the names of the distributions themselves.
IMPORTED = {"dask": "distributed"}


@pytest.mark.parametrize(
    ("package", "extra"),
    [("hypothesis", "verify"), ("pytest", "verify"), ("jinja2", "report"), ("markupsafe", "report"),
     ("matplotlib", "report"), ("distributed", "cluster"), ("typst", "pdf"), ("pandas", "frames"),
     ("numpy", None), ("ruff", None), ("nothing", None)],
)  # fmt: skip
def test_each_package_has_its_extra(package: str, extra: str | None) -> None:
    assert extra_of(package) == extra
    sentence = missing(ModuleNotFoundError(name=f"{package}.part"))
    assert sentence is None if extra is None else f"'.[{extra}]'" in str(sentence)


def test_a_document_without_typst_is_refused_before_minutes_of_work(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    refused(capfd, ["report", "--pdf", "--out", str(tmp_path / "report")], "'.[pdf]'")
    assert not list(tmp_path.rglob("*.*"))


def test_what_the_extras_list_is_known() -> None:
    for extra in ("verify", "report", "cluster"):
        for requirement in EXTRAS[extra]:
            name = requirement.partition(">")[0].partition("[")[0]
            found = extra_of(IMPORTED.get(name, name))
            assert found is not None
            assert len(EXTRAS[found]) <= len(EXTRAS[extra])
    assert set(DISTRIBUTIONS.values()) <= {"dask", "jinja2"}

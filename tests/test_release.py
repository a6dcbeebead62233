"""What a release consists of says the same everywhere."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_citation_archive_and_recipe_have_the_version_of_the_package() -> None:
    version = PROJECT["project"]["version"]
    assert f"\nversion: {version}\n" in _text("CITATION.cff")
    assert json.loads(_text(".zenodo.json"))["version"] == version
    assert f"  version: {version}\n" in _text("recipe/meta.yaml")


def test_the_recipe_requires_what_the_package_requires() -> None:
    """Same libraries, same ranges, for the build and for the run."""
    project = PROJECT["project"]
    wanted = [f"python{project['requires-python']}", *PROJECT["build-system"]["requires"], *project["dependencies"]]
    listed = re.findall(r"^    - ([\w-]+ \S+)$", _text("recipe/meta.yaml").partition("requirements:")[2], re.MULTILINE)
    assert {one.replace(" ", "") for one in listed} == set(wanted)


def test_the_changelog_has_notes_on_this_version() -> None:
    """A development version has them under Unreleased."""
    version = PROJECT["project"]["version"]
    heading = "## Unreleased" if ".dev" in version else f"## {version} "
    assert heading in _text("CHANGELOG.md")

"""Packages that only some commands need: the distribution itself says which extra brings each."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

# What is imported under another name than its distribution has, or comes with one that an extra asks for.
DISTRIBUTIONS = {"distributed": "dask", "markupsafe": "jinja2"}


def extra_of(package: str) -> str | None:
    """The smallest extra that brings a package by the name that is imported; None where none does."""
    wanted = DISTRIBUTIONS.get(package, package)
    try:
        asked = requires("giantsteps") or []
    except PackageNotFoundError:  # a checkout that was not installed
        return None
    extras: dict[str, list[str]] = {}
    for requirement in asked:
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", requirement)
        if extra:
            extras.setdefault(extra[1], []).append(re.split(r"[^A-Za-z0-9_-]", requirement, maxsplit=1)[0].lower())
    bringing = [extra for extra, names in extras.items() if wanted in names and extra != "dev"]
    return min(bringing, key=lambda extra: len(extras[extra]), default=None)


def missing(error: ModuleNotFoundError) -> str | None:
    """The sentence for a package that an extra brings and that is not installed; None for any other module."""
    package = (error.name or "").partition(".")[0]
    extra = extra_of(package)
    if extra is None:
        return None
    return f"this needs {package}, which is not installed; in a checkout: pip install '.[{extra}]'"

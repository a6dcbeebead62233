"""Packages that only some commands need: which extra of the distribution brings each."""

from __future__ import annotations

# Packages by the name that is imported.
EXTRAS = {
    "hypothesis": "verify",
    "pytest": "verify",
    "jinja2": "report",
    "latex2mathml": "report",
    "markupsafe": "report",
    "matplotlib": "report",
    "distributed": "cluster",
}


def missing(error: ModuleNotFoundError) -> str | None:
    """The sentence for a package that an extra brings and that is not installed; None for any other module."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return f"this needs {package}, which is not installed; it comes with an extra: pip install 'onestep[{extra}]'"

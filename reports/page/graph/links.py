"""Links between the pages: names that stand elsewhere, and addresses that do not name the page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from posixpath import dirname


class SiteError(ValueError):
    """Pages that do not hang together: a link that leads nowhere, or a page that is too large."""


def root(file: str) -> str:
    """The way from a page to the folder of the first one."""
    return "../" * file.count("/")


def way(file: str, place: str) -> str:
    """The way from a page to another one, both named from the folder of the first page."""
    folder = f"{dirname(file)}/"
    return place.removeprefix(folder) if place.startswith(folder) else root(file) + place


_ID = re.compile(r'(?<=\sid=")[^"]+(?=")')
_LINK = re.compile(r'(?<=\shref=")#([^"]+)(?=")')


def places_of(pages: Mapping[str, str]) -> dict[str, str]:
    """The page of every name that is defined on one page only: drawings name their parts for themselves."""
    found: dict[str, str] = {}
    twice = set()
    for file, html in pages.items():
        for name in _ID.findall(html):
            twice |= {name} if found.setdefault(name, file) != file else set()
    return {name: file for name, file in found.items() if name not in twice}


def linked_page(file: str, html: str, places: Mapping[str, str]) -> str:
    """The page with each link to a name that stands elsewhere led there. Raises SiteError where it stands nowhere."""
    here = set(_ID.findall(html))

    def led(found: re.Match[str]) -> str:
        name = found[1]
        if name in here:
            return f"#{name}"
        if name not in places:
            raise SiteError(f"{file} links to {name}, which is on no page, or on several")
        # A claim is all that stands on its page.
        return way(file, places[name]) + ("" if name.startswith("claim-") else f"#{name}")

    return _LINK.sub(led, html)


def places_script(places: Mapping[str, str]) -> str:
    """Where claims, derivations, misprints, figures and studies stand, for addresses that do not name the page."""
    found: dict[str, list[str]] = {}
    for name, file in places.items():
        if name.startswith(("claim-", "derivation-", "erratum-", "convention-", "reading-", "figure-", "study-")):
            found.setdefault(file, []).append(name)
    return f"const PLACES = {json.dumps(found, separators=(',', ':'))};\n"

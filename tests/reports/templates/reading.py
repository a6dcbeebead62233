"""What a reader finds on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from xml.etree.ElementTree import Element

import html5lib


def read(html: str, part: str = ".//main") -> Element:
    """What stands in <main> of a page, or in another part of it."""
    whole: Element = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    for one in whole.iter():
        one.tag = one.tag.rpartition("}")[2] if isinstance(one.tag, str) else "comment"  # drawings and formulas
    found = whole.find(part)
    assert found is not None
    return found


def words(element: Element | None) -> str:
    """What a reader reads there, blanks as one."""
    assert element is not None
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def of_class(element: Element, tag: str, name: str) -> list[Element]:
    """The elements of this tag and class."""
    return [one for one in element.iter(tag) if name in (one.get("class") or "").split()]


def badges(element: Element) -> list[str]:
    """The verdicts that stand there, which have to be in their own colours."""
    found = of_class(element, "span", "badge")
    assert all(words(one) in (one.get("class") or "").split() for one in found if words(one).isupper())
    return [words(one) for one in found]


def links(element: Element, at: str) -> list[str]:
    """Where the links of a part of the page ``at`` lead, from the folder of the first page."""
    found = (one.get("href") or "" for one in element.iter("a") if one.get("href"))
    return [normpath(join(dirname(at), link)) for link in found]


def facts(element: Element) -> Iterator[tuple[str, Element]]:
    """The terms of the lists of an element with what is said of each."""
    for listed in element.iter("dl"):
        terms = list(listed)
        assert [one.tag for one in terms] == ["dt", "dd"] * (len(terms) // 2)
        for term, said in zip(terms[::2], terms[1::2], strict=True):
            yield words(term), said


def cells(row: Element) -> list[str]:
    """The cells of a row of a table."""
    return [words(cell) for cell in row if cell.tag in ("td", "th")]

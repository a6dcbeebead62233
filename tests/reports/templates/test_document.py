"""The report as one document says of each claim, misprint, figure and symbol what the pages say of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from giantsteps.reports.page.pdf import sources
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.paper import chapter_of
from tests.reports.templates.material import NUMBER, ROWS, given_of, material

MARKS = {"printed": " #note[as printed]", "reading": " #note[a reading]"}


@cache
def text() -> str:
    """What typst is given."""
    return sources(material())["main.typ"].decode()


def part(title: str) -> str:
    """What stands under a heading of the first level."""
    found = re.split(r"^= (.*)\n", text(), flags=re.MULTILINE)
    return found[found.index(title) + 1]


def chapters(title: str) -> dict[str, str]:
    """The parts of it by their headings."""
    found = re.split(r'^== #?"?(.*?)"?;?\n', part(title), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_claim_stands_in_its_chapter_with_verdict_and_weakest_link() -> None:
    for title, table in chapters("Claims and verdicts").items():
        rows = [row for row in ROWS if chapter_of(row.id, PAPER.chapters).title == title]
        expected = []
        for row in rows:
            n, plain = NUMBER[row.id], row.kind == "DEFINITION"
            weaker = f' #note[given #"{given_of(row)}";]' if row.culprits else ""
            mark = MARKS.get(row.role, "") + (" #note[by definition]" if plain else weaker)
            tried = 0 if plain else 3
            expected += [
                f'[#"Title {n}"; #id("{row.id}")],', f'[#verdict("{row.verdict}"){mark}],',
                f"[{tried - (row.verdict == 'INCONCLUSIVE')}/{tried}],",
            ]  # fmt: skip
        assert rows
        assert [line.strip() for line in table.splitlines() if line.startswith("  [")] == expected


def test_the_counts_stand_under_their_verdicts() -> None:
    tables = chapters("What was verified")
    titles = {source.name: source.title for source in PAPER.sources}
    for title, names in (
        ("The claims by source", [titles[row.document] for row in ROWS]),
        ("The claims by kind", [row.kind.replace("_", " ").lower() for row in ROWS]),
    ):
        heads = re.findall(r'verdict\("(\w+)"\)', tables[title])
        found = {}
        for line in re.findall(r"^  (\[.*\]),$", tables[title], flags=re.MULTILINE):
            name, *numbers, total = re.findall(r"\[([^]]*)\]", line)
            found[name] = Counter({verdict: int(n) for verdict, n in zip(heads, numbers, strict=True) if n})
            assert found[name].total() == int(total)
        found.pop("all", None)
        expected: dict[str, Counter[str]] = {}
        for name, row in zip(names, ROWS, strict=True):
            expected.setdefault(name, Counter())[row.verdict] += 1
        assert found == expected
    tried = 3 * sum(row.kind != "DEFINITION" for row in ROWS)
    assert f"{tried} mutants of the formulas, of which they refuted {tried - 1}." in text()

"""What a person sees is as it was approved; after a change that is meant: `python -m tests.reports.approved`."""

from __future__ import annotations

import pytest

from tests.reports.approved.comparison import differences
from tests.reports.approved.drawings import drawing
from tests.reports.approved.files import read
from tests.reports.approved.material import FAMILIES, SLOW

CASES = [
    pytest.param(family, name, marks=pytest.mark.thorough) if name in SLOW else (family, name)
    for family in FAMILIES
    for name in read(family)  # what there is to approve is made in the tests
]  # fmt: skip


@pytest.mark.parametrize(("family", "name"), CASES)
def test_it_is_as_it_was_approved(family: str, name: str) -> None:
    found = FAMILIES[family]()[name]()
    assert differences(read(family)[name], found) == []


def test_nothing_is_approved_that_is_no_longer_there() -> None:
    for family, texts in FAMILIES.items():
        assert list(read(family)) == list(texts()), family


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ("error 0.1235 of 12 at 1.2e-15", True),  # the last place, and rounding
        ("error 0.1236 of 12 at 3e-16", False),
        ("error 0.1234 of 13 at 3e-16", False),
        ("error -0.1234 of 12 at 3e-16", False),
        ("error 0.1234 of 12 at 3e-3", False),
        ("error 0.1234 of 12, at 3e-16", False),
        ("error 0.1234 of 12 at 3e-16\nmore", False),
        ("error 0.12340000001 of 12 at 3e-16", True),
        ("error 0.12360000001 of 12 at 3e-16", False),
    ],
)
def test_what_counts_as_a_difference(found: str, same: bool) -> None:
    assert (differences("error 0.1234 of 12 at 3e-16", found) == []) == same


def test_a_drawing_is_known_by_its_order_styles_and_reach() -> None:
    first, second = ('<path d="M0 0l1.5 2" style="stroke:#0072B2"/>', '<path d="M0 1l1.5 1" style="stroke:#D55E00"/>')
    one = f'<svg aria-label="a">{first}{second}</svg>'
    for other in (
        one.replace("1.5 2", "1.5 3"), one.replace("0072B2", "D55E00"), one.replace('"a"', '"b"'),
        one.replace("l1.5 2", "l1.5 2l1 1"), one.replace("M0 1l1.5 1", "M0 1.2l1.5 .8"),
        f'<svg aria-label="a">{second}{first}</svg>',
    ):  # fmt: skip
        assert drawing(other) != drawing(one)

"""Each slip of the table still has its place and its test; and, in a copy of the tree, the test catches it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchmarks.mutants.trial import ROOT, copied, failing, replaced, trial
from tests.planting.slip import Slip
from tests.planting.slips_of_claims import OF_CLAIMS
from tests.planting.slips_of_numbers import OF_NUMBERS
from tests.planting.slips_of_pages import OF_PAGES

SLIPS = (*OF_CLAIMS, *OF_NUMBERS, *OF_PAGES)

# Of processor time, for one test: an import of everything and the slowest fast test, ten times over.
SECONDS = 120


@cache
def text_of(file: str) -> str:
    """A source file."""
    return (ROOT / file).read_text(encoding="utf-8")


@cache
def names_in(file: str) -> frozenset[str]:
    """The tests that a file defines."""
    return frozenset(node.name for node in ast.parse(text_of(file)).body if isinstance(node, ast.FunctionDef))


def test_every_slip_has_its_place_and_a_test_that_is_there() -> None:
    rotten = []
    for slip in SLIPS:
        file, _, test = slip.caught_by.partition("::")
        if text_of(slip.file).count(slip.right) != 1:
            rotten.append(f"{slip.file} does not say once: {slip.right}")
        if test.partition("[")[0] not in names_in(file):
            rotten.append(f"{file} has no {test}")
    assert rotten == []
    assert len({(slip.file, slip.right, slip.wrong) for slip in SLIPS}) == len(SLIPS)
    assert len(SLIPS) >= 60


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tree, in which all tests of the table pass."""
    with copied(tmp_path_factory.mktemp("slips")) as root:
        assert failing(root, sorted({slip.caught_by for slip in SLIPS}), len(SLIPS) * SECONDS) == []
        yield root


@pytest.mark.thorough
@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_is_caught(copy: Path, slip: Slip) -> None:
    with replaced(copy, slip.file, text_of(slip.file).replace(slip.right, slip.wrong).encode()):
        assert trial(copy, [slip.caught_by], SECONDS).killed

"""Markdown and notebooks as pages: formulas, links between documents, outputs of cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from giantsteps.reports.text.documents import Document, documents

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# A notebook\n", "\n", "It draws $x^2$."]},
        {
            "cell_type": "code",
            "source": ["print(1 < 2)"],
            "outputs": [
                {"output_type": "stream", "text": ["True\n"]},
                {"output_type": "display_data", "data": {"image/svg+xml": ["<svg><title>A &amp; B</title></svg>"]}},
                {"output_type": "execute_result", "data": {"text/plain": ["<Model>"], "text/html": ["<b>Model</b>"]}},
            ],
        },
    ]
}


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Document]:
    texts = {
        "pyproject.toml": "",
        "README.md": "# Home\n\nSee [the theory](docs/deep/theory.md#a-part), `examples/one.ipynb`, [a file](Makefile) "
        "and [a place](https://example.org).\n\n![A drawing](docs/drawing.svg)\n",
        "docs/deep/theory.md": "# The theory\n\nFirst: $x$. Second.\n\n## A part\n\nThe error is $q_1 - \\psi^2$, "
        "costs `$5` and\n\n$$\\sum_k a_k$$\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[home](../../README.md)\n",
        "docs/drawing.svg": "<svg></svg>",
        "examples/one.ipynb": json.dumps(NOTEBOOK),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {one.file: one for one in documents(tmp_path)}


def test_links_between_documents_lead_to_their_pages(found: dict[str, Document]) -> None:
    home = found["README.html"].body
    assert '<a href="docs/deep/theory.html#a-part">the theory</a>' in home
    assert '<a href="examples/one.html"><code>examples/one.ipynb</code></a>' in home
    assert '<a href="https://example.org">a place</a>' in home
    assert "a file" in home
    assert "Makefile" not in home  # no page to lead to
    assert '<a href="../../README.html">home</a>' in found["docs/deep/theory.html"].body
    assert found["README.html"].drawings == {"docs/drawing.svg": "<svg></svg>"}


def test_dollars_are_formulas_but_not_in_code(found: dict[str, Document]) -> None:
    page = found["docs/deep/theory.html"]
    assert "<msub><mi>q</mi><mn>1</mn></msub>" in page.body
    assert '<math display="block">' in page.body
    assert "<code>$5</code>" in page.body
    assert '<div class="scroll"><table>' in page.body
    assert (page.title, page.first) == ("The theory", "First: $x$.")
    assert [(one.title, one.anchor) for one in page.sections] == [("The theory", ""), ("A part", "a-part")]
    assert 'id="a-part"' in page.body


def test_a_notebook_shows_what_its_cells_printed_and_drew(found: dict[str, Document]) -> None:
    page = found["examples/one.html"]
    assert page.title == "A notebook"
    assert '<pre class="code"><code>print(1 &lt; 2)</code></pre>' in page.body
    assert '<pre class="output"><code>True</code></pre>' in page.body
    assert '<img class="plate" alt="A &amp; B" src="data:image/svg+xml;base64,' in page.body
    assert '<pre class="output"><code>&lt;Model&gt;</code></pre>' in page.body


def test_an_installation_without_sources_has_no_documents(tmp_path: Path) -> None:
    assert documents(tmp_path) == []

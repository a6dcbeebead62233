"""The documentation of the checkout as pages: Markdown with formulas as MathML, and notebooks with their outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from giantsteps.reports.text.ledger_files import HERE
from giantsteps.reports.text.mathematics import mathml, within_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Of the checkout, in the order of the site.
_PATTERNS = ("README.md", "docs/**/*.md", "examples/README.md", "examples/*.ipynb", "CONTRIBUTING.md", "CHANGELOG.md")
_ADDRESS = re.compile(r"https?://")


@dataclass(frozen=True)
class Section:
    """A heading of a document with the text below it; ``anchor`` is empty for the title."""

    title: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Document:
    """A document as a page: its file in the site, its text as HTML, and its sections; the first one is the title."""

    file: str
    body: Markup
    sections: tuple[Section, ...]
    # Drawings that it shows, {file in the site: content}.
    drawings: Mapping[str, str]

    @property
    def title(self) -> str:
        """The heading of the page."""
        return self.sections[0].title

    @property
    def first(self) -> str:
        """The first sentence below the title."""
        return re.split(r"(?<=[.?])\s", self.sections[0].text, maxsplit=1)[0].rstrip(":")


def documents(root: Path = HERE.parent) -> list[Document]:
    """Every document below ``root``; none where the package is installed without its sources. Raises MathError."""
    if not (root / "pyproject.toml").is_file():
        return []
    found = [path.relative_to(root).as_posix() for pattern in _PATTERNS for path in sorted(root.glob(pattern))]
    return [_document(root, file, frozenset(found)) for file in found]


def page_of(file: str) -> str:
    """The page of a document: docs/model.md stands at docs/model.html."""
    return re.sub(r"\.(md|ipynb)$", ".html", file)


def _document(root: Path, file: str, known: frozenset[str]) -> Document:
    text = (root / file).read_text(encoding="utf-8")
    reader = _reader()
    tokens: list[Token] = []
    for part in _cells(text) if file.endswith(".ipynb") else [text]:
        tokens += reader.parse(part) if isinstance(part, str) else [part]
    drawings: dict[str, str] = {}
    _link(tokens, file, known, root, drawings)
    body = Markup(reader.renderer.render(tokens, reader.options, {}))
    return Document(page_of(file), body, tuple(_sections(tokens, file)), drawings)


def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    reader = MarkdownIt("commonmark").enable("table")
    reader.use(anchors_plugin, max_level=4)
    reader.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,
        renderer=lambda tex, given: mathml(tex.strip(), block=True) if given["display_mode"] else within_text(tex),
    )
    reader.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>\n')
    reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return reader


def _link(tokens: Iterable[Token], file: str, known: frozenset[str], root: Path, drawings: dict[str, str]) -> None:
    """Lead links between documents to their pages; a link to a file without a page becomes its words."""
    for token in tokens:
        children = token.children or []
        unlinked = False
        for child in children:
            if child.type == "link_open":
                target, _, part = str(child.attrs["href"]).partition("#")
                place = normpath(join(dirname(file), target)) if target else file
                unlinked = place not in known and not _ADDRESS.match(target)
                if unlinked:
                    child.type = "text"
                elif not _ADDRESS.match(target):
                    child.attrs["href"] = page_of(target) + (f"#{part}" if part else "")
            elif child.type == "link_close" and unlinked:
                child.type, unlinked = "text", False
            elif child.type == "image":
                source = normpath(join(dirname(file), str(child.attrs["src"])))
                drawings[source] = (root / source).read_text(encoding="utf-8")
            elif child.type == "code_inline" and normpath(join(dirname(file), child.content)) in known:
                child.type = "html_inline"
                child.content = f'<a href="{page_of(child.content)}"><code>{escape(child.content)}</code></a>'


def _sections(tokens: Sequence[Token], file: str) -> Iterable[Section]:
    """The headings with the text below each, in plain words."""
    title, anchor, words = file, "", list[str]()
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open" and before.tag in ("h1", "h2", "h3"):
            if title != file or words:
                yield Section(title, anchor, " ".join(words))
            title, words = _plain(token), []
            anchor = "" if before.tag == "h1" else str(before.attrs.get("id", ""))
        elif token.type == "inline":
            words.append(_plain(token))
    yield Section(title, anchor, " ".join(words))


def _plain(token: Token) -> str:
    """The words of a token; a formula stays between dollar signs."""
    shown = {"softbreak": " ", "math_inline": "${}$"}
    pieces = (shown.get(one.type, "{}").format(re.sub("<[^>]*>", "", one.content)) for one in token.children or [])
    return "".join(pieces).strip()


def _cells(text: str) -> Iterable[str | Token]:
    """The cells of a notebook: Markdown as it is, code and outputs as blocks of HTML."""
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif cell["cell_type"] == "code":
            yield _block(Markup('<pre class="code"><code>{}</code></pre>\n').format(source))
            for output in cell.get("outputs", ()):
                yield _block(_output(output))


def _block(html: Markup) -> Token:
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=str(html))


def _output(output: Mapping[str, Any]) -> Markup:
    """What a cell printed or drew; a drawing is an image of its own, so that ids in it are its own."""
    data = output.get("data", {})
    if svg := "".join(data.get("image/svg+xml", ())):
        from base64 import b64encode

        name = re.search(r"<title>(.*?)</title>|aria-label=\"([^\"]*)\"", svg)
        said = (name[1] or name[2]) if name else "The drawing that this cell makes"
        address = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
        return Markup('<p><img class="plate" alt="{}" src="{}"></p>\n').format(Markup(said), address)
    text = "".join(output.get("text") or data.get("text/plain", ()))
    return Markup('<pre class="output"><code>{}</code></pre>\n').format(text.rstrip("\n"))

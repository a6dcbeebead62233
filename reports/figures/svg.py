"""Figures as SVG elements of a page, in few bytes: what matplotlib writes, without what a reader cannot see.

A hundredth of a point is the unit of length: on a screen of 96 dots an inch that is 0.013 of a dot.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, fromstring, tostring
from zlib import crc32

from giantsteps.reports.figures.files import own_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Scale of the figures on the page: letters of 9 points are as large as its small print.
_POINTS_PER_REM = 11.2
# What matplotlib says in a rule for all elements of the document, which on a page would be all drawings of the page.
_JOINED = {"stroke-linejoin": "round"}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# What a group may say once for all that it holds: these are inherited, as opacity and clip-path are not.
_INHERITED = frozenset(
    {
        *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-linejoin", "stroke-linecap"),
        *("stroke-dasharray", "stroke-dashoffset", "stroke-miterlimit"),
    }
)


def svg_of(canvas: Canvas, name: str, description: str) -> str:
    """The figure as an SVG element for a page: same input, same bytes; ids carry the figure's name; no clock."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    surface: Any = FigureCanvasSVG(canvas)  # what it prints with has no types
    with own_style(name):
        _laid_out(canvas)
        surface.print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return lean(buffer.getvalue(), name, description)


def _laid_out(canvas: Canvas) -> None:
    """Places the panels of a figure for good, at the 72 dots an inch of an SVG file: `savefig` would draw all of it
    once more, for nothing but that.
    """
    if (engine := canvas.get_layout_engine()) is not None:
        dots, canvas.dpi = canvas.dpi, 72.0
        engine.execute(canvas)
        canvas.dpi = dots
        canvas.set_layout_engine("none")


def lean(written: str, name: str, description: str) -> str:
    """A drawing as matplotlib writes it, as an element of a page: letters of one size whatever the figure's width.

    Ids are per document in HTML, where two figures may not share them: they begin with four signs made from ``name``.
    """
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", written[written.index("<svg") :], flags=re.DOTALL)
    root = fromstring(re.sub(r' xmlns(?::xlink)?="[^"]*"', "", text).replace("xlink:href", "href"))
    _renamed(root, _prefix(name))
    points = float(root.attrib["viewBox"].split()[2])
    shown = {"role": "img", "aria-label": description, "style": f"max-width:{points / _POINTS_PER_REM:.1f}rem"}
    root.attrib = {**shown, "viewBox": root.attrib["viewBox"], **_JOINED}
    for element in root.iter():
        _shortened(element)
    painted = {f"#{element.get('id')}": _style(element) for element in root.iter() if "id" in element.attrib}
    for element in root.iter("use"):
        if (own := _style(element)) and own <= painted[element.attrib["href"]]:
            del element.attrib["style"]  # what is drawn says the same
    _gathered(root)
    return tostring(root, encoding="unicode").replace(" />", "/>")


def _style(element: Element) -> set[str]:
    return set(filter(None, element.get("style", "").split(";")))


def _prefix(name: str) -> str:
    """A letter and three signs that hold 19 bits of a sum of the name: 300 figures share none with even odds."""
    rest, signs = crc32(name.encode()), ""
    for _ in range(3):
        rest, digit = divmod(rest, 36)
        signs += _DIGITS[digit]
    return "ghijklmnopqrstuvwxyz"[rest % 20] + signs


_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")
_REFERRING = ("href", "clip-path", "style")


def _renamed(root: Element, prefix: str) -> None:
    """Give what is referred to a short name, and take away all other names."""
    used = {id_ for element in root.iter() for key in _REFERRING for id_ in _REFERENCE.findall(element.get(key, ""))}
    short: dict[str, str] = {}
    for element in root.iter():
        if (id_ := element.attrib.pop("id", "")) in used:
            element.attrib = {"id": short.setdefault(id_, f"{prefix}{len(short)}"), **element.attrib}
    for element in root.iter():
        for key in _REFERRING:
            if key in element.attrib:
                element.set(key, _REFERENCE.sub(lambda found: short[found[0]], element.attrib[key]))


def _shortened(element: Element) -> None:
    """Numbers to a hundredth of a point, paths by their steps, no white space between elements."""
    element.text = element.tail = None
    if element.tag == "use" and (moved := re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))):
        del element.attrib["transform"]
        for key, value in zip("xy", moved.groups(), strict=True):
            if (number := _number(float(value), 1)) != "0":  # in hundredths of the size of the letters
                element.set(key, number)
    for key, value in element.attrib.items():
        if key == "d":
            element.set(key, steps(value, 0 if "transform" in element.attrib else 2))
        elif key == "style":
            plain = re.sub(r"([:;])\s+", r"\1", value.strip())
            element.set(key, re.sub(r"#(.)\1(.)\2(.)\3(?![0-9a-f])", r"#\1\2\3", plain))
        elif key in ("x", "y", "width", "height"):
            element.set(key, _number(float(value), 2))
        elif key == "transform":
            element.set(key, re.sub(r"(?<=translate\()[^)]+", _rounded, value))


def _rounded(numbers: re.Match[str]) -> str:
    return " ".join(_number(float(number), 2) for number in numbers[0].split())


def _number(value: float, digits: int) -> str:
    """A number in few signs."""
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = re.sub(r"^(-?)0\.", r"\1.", text)
    return "0" if text in ("-0", "-", "") else text


_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")


def steps(path: str, digits: int) -> str:
    """The same path by its steps from point to point, each coordinate rounded to ``digits`` places once.

    Raises ValueError for a command that matplotlib does not write.
    """
    at = start = (0.0, 0.0)
    pieces: list[str] = []
    before = ""
    # A step of more than one segment would begin each where the one before ended.
    length = {"M": 2, "L": 2, "Q": 4, "C": 6}
    for command, numbers in _COMMAND.findall(path):
        if command in "zZ":
            pieces.append("z")
            at, before = start, "z"
            continue
        if len(numbers.split()) != length.get(command):
            raise ValueError(f"a path with the command {command}{numbers}: {path[:60]}")
        points = list(_points(numbers, digits))
        moved = [value for x, y in points for value in (x - at[0], y - at[1])]
        at = points[-1]
        start = at if command == "M" else start
        sign, numbers_of = command.lower() if pieces else command, [_number(value, digits) for value in moved]
        if sign == "l" and "0" in numbers_of:
            sign, numbers_of = ("v", numbers_of[1:]) if numbers_of[0] == "0" else ("h", numbers_of[:1])
        pieces.append(_joined("" if sign == before and sign != "m" else sign, numbers_of))
        before = sign
    return "".join(pieces)


def _points(numbers: str, digits: int) -> Iterator[tuple[float, float]]:
    values = [round(float(number), digits) for number in numbers.split()]
    return zip(values[::2], values[1::2], strict=True)


def _joined(command: str, numbers: Sequence[str]) -> str:
    """Numbers with a space only where a sign of one does not part it from the one before."""
    text = command
    for position, number in enumerate(numbers):
        text += number if number[0] == "-" or (position == 0 and command) else f" {number}"
    return text


def _gathered(element: Element) -> None:
    """Groups without attributes dissolved, empty ones and what is not painted left out, common styles said once."""
    found: list[Element] = []
    for child in element:
        _gathered(child)
        painted = child.tag != "path" or child.get("style") != "fill:none"
        if child.tag in ("g", "defs") and not child.attrib:
            found += list(child) if child.tag == "g" else [child] * (len(child) > 0)
        elif painted and (child.tag != "g" or len(child)):
            found.append(child)
    element[:] = found
    styles = {child.get("style", "") for child in element}
    if element.tag == "g" and len(element) > 1 and len(styles) == 1 and "style" not in element.attrib:
        names = {part.split(":")[0] for part in _style(element[0])}
        if names and names <= _INHERITED:
            element.set("style", styles.pop())
            for child in element:
                del child.attrib["style"]

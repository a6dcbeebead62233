"""Long formulas in lines: a MathML element no wider than a line of the page, cut where a reader would cut it.

What is written twice and long gets a name, a number in a circle, and is stated once below. What is still too wide is
cut at its outermost sums and equations, then between factors; what stands in a bracket, a fraction or a root is cut
within it. Widths are estimates from the characters, in em of the formula's own font, and on the large side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

# The text column of the page, 62 rem, holds some 56 em of formulas; a line begins indented and ends with a sign.
LINE = 50.0
# A repeated part is worth a name where it is long and the formula takes several lines.
NAMED, LONG = 14.0, 2 * LINE
NAMES = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
INDENT = 2.0

_CONNECTIVES = frozenset("∧∨⇒⇔;,")
_RELATIONS = frozenset("=≤≥<>≠≈→∼≡∈")
_SUMS = frozenset("+-−±∓")
_OPENING, _CLOSING = frozenset("([{⟨⌊⌈"), frozenset(")]}⟩⌋⌉")
# Names of operators that carry their scripts above and below.
LIMITS = frozenset({"lim", "inf", "sup", "min", "max"})
PRIMES = frozenset("\u2032\u2033\u2034\u2057")
# A script is set at 0.71 of the size of what carries it.
_SCRIPT = 0.71
ROWS = frozenset({"math", "mrow", "mstyle", "mtd", "msqrt", "mpadded"})


def in_lines(formula: Element) -> Element:
    """The formula, cut into lines where it is wider than one; the same element where it is not."""
    if width(formula) <= LINE:
        return formula
    named = _named(formula) if width(formula) > LONG else []
    rows = [list(formula), *([_name(k), _sign("="), *part] for k, part in enumerate(named))]
    found = [lines([_fitted(e, LINE - INDENT) for e in row]) for row in rows]
    if len(found) == 1 and len(found[0]) == 1:
        formula[:] = found[0][0].items
        return formula
    formula[:] = [_table([line for block in found for line in block])]
    return formula


def width(element: Element, seen: dict[Element, float] | None = None) -> float:
    """How wide an element is set, in em; ``seen`` is given the width of every element within it."""
    found = _set([width(child, seen) for child in element], element)
    if seen is not None:
        seen[element] = found
    return found


def _set(parts: Sequence[float], element: Element) -> float:
    """The same from the widths of what the element holds."""
    match element.tag:
        case "mo":
            return _width_of_sign(element.text or "")
        case "mi" | "mn" | "mtext":
            return _width_of_text(element.text or "")
        case "mspace":
            return float((element.get("width") or "0em").removesuffix("em"))
        case "mfrac":
            return max(parts, default=0.0) + 0.3
        case "msqrt" | "mroot":
            return sum(parts) + 1.0
        case "msub" | "msup":
            return parts[0] + _SCRIPT * sum(parts[1:])
        case "msubsup":
            return parts[0] + _SCRIPT * max(parts[1:])
        case "munder" | "mover" | "munderover":
            return max(parts[0], *(_SCRIPT * part for part in parts[1:]))
        case "mtable":
            return max(parts, default=0.0)
        case "mtr":
            return sum(parts) + 0.8 * max(len(parts) - 1, 0)
    return sum(parts)


# Few texts stand in many formulas, and each is measured again for every row that it may end.
@lru_cache(maxsize=4096)
def _width_of_text(text: str) -> float:
    return sum(_letter(sign) for sign in text)


@lru_cache(maxsize=4096)
def _width_of_sign(text: str) -> float:
    if text in _SUMS | _RELATIONS | _CONNECTIVES | {"×"}:
        return 1.45
    if text in _OPENING | _CLOSING | {"|"}:
        return 0.75
    return _width_of_text(text) + (0.3 if text not in ("", "\u2061") else 0.0)


def _letter(sign: str) -> float:
    return 0.4 if sign in " .,'′|" else 1.0 if sign.isupper() or ord(sign) > 0x2100 else 0.64


# Lines


@dataclass(frozen=True)
class Line:
    """One line: its elements, and whether it goes on from the line above."""

    items: list[Element]
    goes_on: bool


def lines(items: Sequence[Element], limit: float = LINE) -> list[Line]:
    """A row of elements cut into lines of at most `limit`, wherever a cut is allowed.

    Equations joined by a connective begin on lines of their own; within one, lines are filled, cut before a relation
    or a sign of a sum, and between factors only where a single summand is too wide.
    """
    found: list[Line] = []
    for equation in _pieces(items, _CONNECTIVES, after=True):
        filled: list[list[Element]] = [[]]
        used = 0.0
        for piece in _fine_pieces(equation, limit):
            room, widths = limit if len(filled) == 1 else limit - INDENT, [width(item) for item in piece]
            if filled[-1] and used + sum(widths) > room:
                filled.append([] if piece[0].tag == "mo" else [_sign("×")])
                used = _wide(filled[-1])
            filled[-1] += piece
            used = sum(widths, used)
        found += [Line(row, number > 0) for number, row in enumerate(filled) if row]
    return found


def _fine_pieces(items: Sequence[Element], limit: float) -> Iterator[list[Element]]:
    """Summands and sides of equations, in factors where wider than a line, or than what a short left side leaves."""
    pieces = _pieces(items, _RELATIONS | _SUMS)
    left = _wide(pieces[0])
    for number, piece in enumerate(pieces):
        if _wide(piece) <= limit - (left if number == 1 and left <= NAMED else INDENT):
            yield piece
        else:
            yield from _factors(piece)


def _pieces(items: Sequence[Element], signs: frozenset[str], *, after: bool = False) -> list[list[Element]]:
    """The row cut before (or after) each of these signs that stands between operands, outside of brackets."""
    found: list[list[Element]] = [[]]
    for item, depth, operand_before in scanned(items):
        here = item.tag == "mo" and (item.text or "") in signs and depth == 0 and operand_before
        if here and not after and found[-1]:
            found.append([])
        found[-1].append(item)
        if here and after:
            found.append([])
    return [piece for piece in found if piece]


def _factors(items: Sequence[Element]) -> list[list[Element]]:
    """A summand cut before each fraction, and between brackets; a function stays with its argument."""
    found: list[list[Element]] = [[]]
    previous: Element | None = None
    for item, depth, operand_before in scanned(items):
        whole = previous is not None and (_bracketed(previous) or previous.tag in ("mfrac", "msqrt"))
        starts = item.tag in ("mfrac", "msqrt", "msub", "msup", "msubsup", "mi", "mrow")
        if depth == 0 and operand_before and found[-1] and starts and (whole or item.tag == "mfrac"):
            found.append([])
        found[-1].append(item)
        previous = item
    return found


def scanned(items: Sequence[Element]) -> Iterator[tuple[Element, int, bool]]:
    """Each element with the depth of brackets around it, and whether what stands before it is an operand."""
    depth, operand = 0, False
    for item in items:
        # The power of a bracket may hang on its closing sign alone.
        last = item[0] if item.tag in ("msup", "msub", "msubsup") else item
        text = last.text or "" if last.tag == "mo" else ""
        closes = bool(text) and text in _CLOSING
        depth = max(depth - closes, 0)
        yield item, depth, operand
        depth += bool(text) and text in _OPENING
        operand = item.tag != "mo" or closes or text == "!"


def _bracketed(item: Element) -> bool:
    """Whether an element is a bracket, or a power of one."""
    base = item[0] if item.tag in ("msup", "msub", "msubsup") else item
    return base.tag == "mrow" and len(base) > 1 and base[0].tag == "mo" and (base[0].text or "") in _OPENING | {"|"}


def _wide(items: Sequence[Element]) -> float:
    return sum(width(item) for item in items)


def _fitted(element: Element, limit: float) -> Element:
    """The element with whatever it holds cut into lines of at most `limit`."""
    if width(element) <= limit or element.tag in ("mo", "mi", "mn", "mtext", "mspace", "mtable"):
        return element
    if element.tag in ROWS:
        first = 1 if _bracketed(element) else 0
        last = len(element) - first
        inner = [_fitted(child, limit - 2 * first) for child in element[first:last]]
        found = lines(inner, limit - 2 * first)
        for sign in (element[0], element[-1]) if first and len(found) > 1 else ():
            sign.attrib.pop("stretchy", None)
        body = found[0].items if len(found) == 1 else [_table(found)]
        element[:] = [*element[:first], *body, *element[last:]]
        return element
    element[:] = [_fitted(child, limit) for child in element]
    return element


def _table(found: Sequence[Line]) -> Element:
    table = Element("mtable", {"class": "lines", "displaystyle": "true"})
    for line in found:
        cell = SubElement(SubElement(table, "mtr"), "mtd")
        cell[:] = [*([Element("mspace", {"width": f"{INDENT:g}em"})] if line.goes_on else []), *line.items]
    return table


def _sign(text: str) -> Element:
    sign = Element("mo")
    sign.text = text
    return sign


# Names for what is repeated


def _named(formula: Element) -> list[list[Element]]:
    """Give names to the long parts that a formula repeats, the largest first; what each name stands for, in order."""
    parts: list[list[Element]] = []
    rows = [formula]
    while len(parts) < len(NAMES):
        candidates = [part for row in rows for part in _nameable(row)]
        # Letters first: they are quicker to compare than structure, and most parts stand once.
        letters = Counter(read := ["".join(part.itertext()) for part in candidates])
        twice = [part for part, text in zip(candidates, read, strict=True) if letters[text] > 1]
        counted = Counter(tostring(part) for part in twice)
        worth = {text: (count - 1) * len(text) for text, count in counted.items() if count > 1}
        if not worth:
            break
        best = max(worth, key=lambda text: (worth[text], text))
        part = next(part for part in twice if tostring(part) == best)
        for row in rows:
            _replace(row, best, _name(len(parts)))
        definition = Element("mrow")
        definition[:] = list(part)[1:-1] if _round(part) else list(part)
        rows.append(definition)
        parts.append([])
    return [list(row) for row in rows[1:]]


def _nameable(row: Element) -> Iterator[Element]:
    widths: dict[Element, float] = {}
    width(row, widths)
    rows = (part for part in row.iter("mrow") if part is not row and widths[part] > NAMED)
    return (part for part in rows if _round(part) or not _bracketed(part))


def _round(part: Element) -> bool:
    return _bracketed(part) and part[0].text == "(" and part[-1].text == ")"


def _replace(row: Element, text: bytes, name: Element) -> None:
    letters = "".join(fromstring(text).itertext())
    for parent in list(row.iter()):
        for number, child in enumerate(list(parent)):
            if child.tag == "mrow" and "".join(child.itertext()) == letters and tostring(child) == text:
                parent[number] = name


def _name(number: int) -> Element:
    name = Element("mi")
    name.text = NAMES[number]
    return name

"""The graph of dependencies between the parts of the theory, drawn as SVG: layers from left to right, no crossing lines
through boxes.

A part stands one layer to the right of the last part it rests on; lines over several layers get a place of their own
in each layer between, and within the layers the places are ordered by the mean position of their neighbours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from giantsteps.reports.page.graph.dependencies import Group

BOX_WIDTH, BOX_HEIGHT = 136, 42
COLUMN, ROW, BEND = 206, 56, 16
SWEEPS = 24


@dataclass(frozen=True)
class Layout:
    """Where each part stands, and the places through which each line passes: (layer, height) in boxes."""

    places: Mapping[str, tuple[int, float]]
    routes: Mapping[tuple[str, str], tuple[tuple[int, float], ...]]
    loose: tuple[str, ...]


def layers(names: Sequence[str], links: Collection[tuple[str, str]]) -> dict[str, int]:
    """The layer of each part: the length of the longest chain beneath it.

    Parts can rest on each other although claims cannot; a link that would close a circle is then passed over.
    """
    found: dict[str, int] = {}
    below = {name: [source for source, target in links if target == name] for name in names}

    def visit(name: str, path: tuple[str, ...]) -> int:
        if name not in found:
            deeper = [visit(source, (*path, name)) for source in below[name] if source not in (*path, name)]
            found[name] = 1 + max(deeper, default=-1)
        return found[name]

    for name in names:
        visit(name, ())
    return found


def layout(names: Sequence[str], links: Collection[tuple[str, str]]) -> Layout:
    """Places for all parts that are linked, and routes for the links."""
    linked = [name for name in names if any(name in link for link in links)]
    level = layers(linked, links)
    columns: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for name in linked:
        columns[level[name]].append(name)
    chains: dict[tuple[str, str], tuple[str, ...]] = {}
    for number, (source, target) in enumerate(links):
        first, last = level[source], level[target]
        between = [f"{number} {column}" for column in range(first + 1, last)]
        for column, place in enumerate(between, first + 1):
            columns[column].append(place)
        chains[source, target] = (source, *between, target)
    neighbours: dict[str, list[str]] = {}
    for chain in chains.values():
        for one, other in pairwise(chain):
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
    height = _heights(columns, neighbours)
    column_of = {place: number for number, column in enumerate(columns) for place in column}
    return Layout(
        {name: (level[name], height[name]) for name in linked},
        {link: tuple((column_of[place], height[place]) for place in chain) for link, chain in chains.items()},
        tuple(name for name in names if name not in linked),
    )


def _heights(columns: list[list[str]], neighbours: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Order the columns by the mean height of the neighbours, sweeping to and fro; each column is centred."""
    tallest = max((_size(column) for column in columns), default=0.0)
    height: dict[str, float] = {}

    def settle(column: Sequence[str]) -> None:
        top = (tallest - _size(column)) / 2
        for place in column:
            height[place] = top + _room(place) / 2
            top += _room(place)

    for column in columns:
        settle(column)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 else columns[::-1]:
            wanted = {p: sum(height[n] for n in neighbours[p]) / len(neighbours[p]) for p in column}
            column.sort(key=lambda place: (wanted[place], height[place]))
            settle(column)
    return height


def _room(place: str) -> float:
    """The rows that a place takes: a line passing through needs less than a box."""
    return 0.4 if " " in place else 1.0


def _size(column: Sequence[str]) -> float:
    return sum(_room(place) for place in column)


def svg(groups: Sequence[Group], links: Mapping[tuple[str, str], int]) -> str:
    """The graph as an SVG element: each box a link to the first claim of its part, coloured by its weakest verdict."""
    drawn = layout([group.name for group in groups], links)
    by_name = {group.name: group for group in groups}
    wide = 1 + max((column for column, _ in drawn.places.values()), default=-1)
    tall = max((y for route in drawn.routes.values() for _, y in route), default=0.0) + 0.5 if drawn.places else 0.0
    per_row = max(wide, 4)
    loose_rows = -(-len(drawn.loose) // per_row)
    width = (per_row - 1) * COLUMN + BOX_WIDTH + 4
    height = round(tall * ROW + loose_rows * ROW + (14 if drawn.loose else 0))
    label = "Which parts of the theory rest on which: " + "; ".join(
        f"{target} on {source} ({count})" for (source, target), count in links.items()
    )
    lines = [
        f'<svg class="graph" role="group" aria-label="{escape(label, quote=True)}" viewBox="0 0 {width} {height}" '
        'xmlns="http://www.w3.org/2000/svg">'
    ]
    lines += [_line(*link, links[link], route) for link, route in drawn.routes.items()]
    lines += [_box(by_name[name], 2 + column * COLUMN, y * ROW) for name, (column, y) in drawn.places.items()]
    for number, name in enumerate(drawn.loose):
        row, column = divmod(number, per_row)
        lines.append(_box(by_name[name], 2 + column * COLUMN, tall * ROW + 14 + (row + 0.5) * ROW))
    return "\n".join([*lines, "</svg>"])


def _line(source: str, target: str, count: int, route: Sequence[tuple[int, float]]) -> str:
    """A smooth line: level through each place on the way."""
    middle = BOX_WIDTH / 2
    points = [(2 + column * COLUMN + middle, y * ROW) for column, y in route]
    x, y = points[0]
    x += middle
    path = [f"M{x:g} {y:.1f}"]
    for number, (to_x, to_y) in enumerate(points[1:], 1):
        enters = to_x - middle
        half = (x + enters) / 2
        path.append(f"C{half:g} {y:.1f} {half:g} {to_y:.1f} {enters:g} {to_y:.1f}")
        if number < len(points) - 1:
            path.append(f"H{to_x + middle:g}")
        x, y = to_x + middle, to_y
    thickness = min(1.0 + 0.35 * count, 4.5)
    title = f"{target} rests on {source}: {count} link{'s' * (count != 1)}"
    return f'<path d="{"".join(path)}" stroke-width="{thickness:g}"><title>{escape(title)}</title></path>'


def _box(group: Group, x: float, y: float) -> str:
    top = y - BOX_HEIGHT / 2
    counts = ", ".join(f"{count} {verdict}" for verdict, count in group.verdicts)
    target = "claim-" + _anchor(group.first)
    return (
        f'<a href="#{target}" class="{group.weakest or "none"}"><title>{escape(f"{group.name}: {counts}")}</title>'
        f'<rect x="{x:g}" y="{top:.1f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/><text x="{x + 9:g}" '
        f'y="{y - 3:.1f}">{escape(group.name)}</text><text class="small" x="{x + 9:g}" y="{y + 13:.1f}">{group.claims} '
        f"claim{'s' * (group.claims != 1)}</text></a>"
    )


def _anchor(text: str) -> str:
    from giantsteps.reports.text.anchors import anchor

    return anchor(text)

"""Figures in few bytes paint what matplotlib wrote: every path with its place, its colours and its clip, in order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from giantsteps.reports.figures import canvas as draw
from giantsteps.reports.figures.svg import lean, steps, svg_of

# What the rule of matplotlib for all elements, or nothing, leaves a painted path with.
PLAIN = {"stroke-linejoin": "round", "fill": "#000000"}


def drawing() -> str:
    """What matplotlib writes of a panel with lines, markers, bars of error, a box, letters and formulas."""
    canvas, axes = draw.panels()
    axes.errorbar([1.0, 2.0, 3.0], [3.0, 4.0, 3.5], yerr=0.2, marker="o", lw=0, elinewidth=1.2, capsize=2.5, label="a")
    axes.plot(np.linspace(1.0, 3.0, 40), np.sin(np.linspace(0.0, 3.0, 40)), "--", label=r"$\alpha_0 = \sqrt{2}$")
    axes.fill_between([1.0, 2.0], [0.5, 0.6], [1.0, 2.0], hatch="/", alpha=0.3)
    draw.legend(axes, fontsize=9)
    written = io.StringIO()
    canvas.savefig(written, format="svg")
    return written.getvalue()


def walked(path: str) -> list[tuple[float, float]]:
    """Every point of a path, absolute: commands in small letters go on from the point reached."""
    found: list[tuple[float, float]] = []
    at = start = (0.0, 0.0)
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest)]
        if command in "zZ":
            at = start
            continue
        if command == "h":
            numbers = [value for step in numbers for value in (step, 0.0)]
        elif command == "v":
            numbers = [value for step in numbers for value in (0.0, step)]
        each = {"q": 4, "c": 6}.get(command.lower(), 2)
        for k in range(0, len(numbers), each):
            points = list(zip(numbers[k : k + each : 2], numbers[k + 1 : k + each : 2], strict=True))
            if command.islower():
                points = [(at[0] + x, at[1] + y) for x, y in points]
            found += points
            at = points[-1]
        start = at if command in "mM" else start
    return found


def painted(element: Element, ids: dict[str, Element], *, around: dict[str, str]) -> Iterator[tuple[object, ...]]:
    """What an element paints, flat: the points of each path within its own axes, moves and turns, looks."""
    told = dict(part.split(":", 1) for part in element.get("style", "").replace(" ", "").split(";") if part)
    told = {key: re.sub(r"#(.)(.)(.)$", r"#\1\1\2\2\3\3", value) for key, value in told.items()}
    own = {key: element.attrib[key] for key in ("clip-path", "transform", "stroke-linejoin") if key in element.attrib}
    if element.tag == "use" and "transform" not in own:
        own["transform"] = f"translate({element.get('x', '0')} {element.get('y', '0')})"
    moves = " ".join(filter(None, (around.get("transform"), own.pop("transform", ""))))
    looks = around | own | told | ({"transform": moves} if moves else {})
    if element.tag == "path":
        if looks.get("fill") != "none" or "stroke" in looks:
            yield walked(element.attrib["d"]), looks
    elif element.tag == "use":
        yield from painted(ids[element.attrib["href"][1:]], ids, around=looks)
    elif element.tag != "defs":
        for child in element:
            yield from painted(child, ids, around=looks)


def flat(text: str) -> list[tuple[object, ...]]:
    root = fromstring(text)
    ids = {one.attrib["id"]: one for one in root.iter() if "id" in one.attrib}
    root.attrib.pop("style", None)
    return list(painted(root, ids, around=dict(PLAIN)))


def test_the_same_is_painted_in_half_the_bytes() -> None:
    written = drawing()
    plain = re.sub(r' xmlns(?::xlink)?="[^"]*"|<metadata>.*?</metadata>', "", written, flags=re.DOTALL)
    before = flat(plain[plain.index("<svg") :].replace("xlink:href", "href"))
    text = lean(written, "a drawing", "what it shows, x < 2")
    after = flat(text)
    assert len(text) < len(written) / 2
    assert 'aria-label="what it shows, x &lt; 2"' in text
    assert len(before) == len(after) > 50
    for (first, seen), (second, shown) in zip(before, after, strict=True):
        assert isinstance(seen, dict)
        assert isinstance(shown, dict)
        # Rounded once, to a hundredth: half of it, and letters are whole numbers already.
        assert np.allclose(first, second, rtol=0, atol=0.00501)
        moved = [[float(n) for n in re.findall(r"-?\d*\.?\d+", one.pop("transform", ""))] for one in (seen, shown)]
        # Letters move by hundredths of their size, to a tenth of that; all else to a hundredth of a point.
        assert np.allclose(*moved, rtol=0, atol=0.0501)
        assert ("clip-path" in seen) == ("clip-path" in shown)
        assert {key: value for key, value in seen.items() if key not in ("clip-path", "fill")} == {
            key: value for key, value in shown.items() if key not in ("clip-path", "fill")
        }
        assert seen["fill"] == shown["fill"] or seen["fill"].startswith("url(")


def test_letters_are_of_one_size_whatever_the_shape_of_the_figure() -> None:
    sizes = []
    for size in ((6.6, 4.1), (9.6, 4.1), (6.6, 7.2)):
        shown = fromstring(svg_of(draw.panels(size=size)[0], "a", "b")).attrib
        across = float(shown["style"].removeprefix("max-width:").removesuffix("rem"))
        sizes.append(float(shown["viewBox"].split()[2]) / across)
    assert sizes == pytest.approx([11.2] * 3, rel=2e-3)  # points a rem; the width is written with a tenth of one


def test_a_long_path_does_not_drift() -> None:
    points = np.cumsum(np.random.default_rng(1).uniform(-1.0, 1.0, (400, 2)), axis=0)
    path = " ".join(f"{'ML'[k > 0]} {x:.6f} {y:.6f}" for k, (x, y) in enumerate(points)) + " z"
    assert np.max(np.abs(np.array(walked(steps(path, 2))) - points)) < 0.00501  # each is rounded by itself
    assert len(steps(path, 2)) < len(path) / 2


@pytest.mark.parametrize("path", ["M 0 0 A 1 1 0 0 1 2 2", "M 0 0 L 1 1 2 2", "l 1 1"])
def test_a_path_that_is_not_understood_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="a path with the command"):
        steps(path, 2)

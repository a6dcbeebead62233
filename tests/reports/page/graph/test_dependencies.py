"""What rests on what: parts, links, what stands beneath a headline, and the graph of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from giantsteps.reports.page.graph import dependencies, drawing
from tests.shared.report_page import chained_ledger


def test_the_graph_has_every_part_once_and_links_run_to_the_right() -> None:
    groups, links = dependencies.groups(chained_ledger()), dependencies.links(chained_ledger())
    drawn = drawing.layout([group.name for group in groups], links)
    assert {name: column for name, (column, _) in drawn.places.items()} == {"ground": 0, "bounds": 1, "top": 2}
    assert drawn.loose == ("alone",)
    for (source, _), route in drawn.routes.items():
        assert [column for column, _ in route] == list(range(drawn.places[source][0], route[-1][0] + 1))
    root = ElementTree.fromstring(drawing.svg(groups, links))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("ground") == texts.count("alone") == 1
    # A circle of parts, which claims without a circle can form, is drawn all the same.
    circle = [("a", "b"), ("b", "a")]
    assert sorted(drawing.layers(["a", "b"], circle).values()) == [0, 1]
    assert drawing.layout(["a", "b"], circle).places.keys() == {"a", "b"}

"""What rests on what: parts, links, what stands beneath a headline, and the graph of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from giantsteps.reports.page.graph import dependencies, drawing
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared.report_page import chained_ledger


def test_parts_are_as_weak_as_their_own_formulas_and_links_are_counted() -> None:
    found = {group.name: (group.claims, group.weakest) for group in dependencies.groups(chained_ledger())}
    # The refuted form in "bounds" is one that a source prints: it does not make the part weak.
    assert found == {
        "ground": (2, "CONFIRMED"),
        "bounds": (2, "PROVED"),
        "top": (1, "CONFIRMED"),
        "alone": (1, "PROVED"),
    }
    counted = dependencies.links(chained_ledger())
    assert counted == {("ground", "bounds"): 2, ("bounds", "top"): 1, ("ground", "top"): 2}


def test_beneath_a_result_everything_stands_once_and_the_weakest_link_is_named() -> None:
    bound, error = dependencies.headlines(chained_ledger())
    assert (bound.tree.entry.claim.id, bound.beneath, bound.weakest) == ("bounds.one", 1, "PROVED")
    assert (error.tree.entry.claim.id, error.beneath) == ("top.test-error", 3)
    assert (error.weakest, error.weakest_claims) == ("CONFIRMED", ("ground.two",))
    assert [child.entry.claim.id for child in error.tree.children] == ["bounds.one", "ground.two", "ground.one"]


def test_every_headline_of_the_ledger_reaches_all_it_rests_on() -> None:
    # Counted another way: the closure of `uses`, by repeated union instead of by walking down.
    closed = {claim.id: set(claim.uses) for claim in all_claims()}
    for _ in closed:
        wider = {id_: uses.union(*(closed[used] for used in uses)) for id_, uses in closed.items()}
        if wider == closed:
            break
        closed = wider
    ledger = Ledger("quick", tuple(Entry(c, Verdict.PROVED, (), (), Verdict.PROVED, ()) for c in all_claims()))
    found = dependencies.headlines(ledger)
    ids = {headline.tree.entry.claim.id for headline in found}
    assert {"result-3-3.test-error", "result-3-3.training-error"} <= ids
    for headline in found:
        assert headline.beneath == len(closed[headline.tree.entry.claim.id])


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

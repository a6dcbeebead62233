"""The dependencies of each result: parts of the theory as groups of claims, and trees beneath the headline results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.paper import part_of
from giantsteps.verify.protocol.verdict import Verdict, weakest


@dataclass(frozen=True)
class Group:
    """The claims whose ids begin alike: one part of the theory."""

    name: str
    first: str
    claims: int
    verdicts: tuple[tuple[str, int], ...]
    weakest: str


@dataclass(frozen=True)
class Node:
    """A claim in the tree beneath a result; ``repeated`` where what is beneath it stands further up on the page."""

    entry: Entry
    children: tuple[Node, ...]
    repeated: bool


@dataclass(frozen=True)
class Headline:
    """A result, the number of claims beneath it, and those of them that are as weak as its weakest link."""

    tree: Node
    beneath: int
    weakest_claims: tuple[str, ...]


def groups(ledger: Ledger) -> tuple[Group, ...]:
    """The parts in the order of the ledger.

    A part is as weak as the weakest of its own formulas: what a source misprints is refuted on purpose, and definitions
    have nothing to test, so neither counts.
    """
    members: dict[str, list[Entry]] = {}
    for entry in ledger.entries:
        members.setdefault(part_of(entry.claim.id), []).append(entry)
    return tuple(_group(name, entries) for name, entries in members.items())


def _group(name: str, entries: list[Entry]) -> Group:
    counted = Counter(entry.verdict for entry in entries)
    ours = [e.weakest for e in entries if e.claim.role is Role.OURS and not e.by_fiat]
    return Group(
        name,
        entries[0].claim.id,
        len(entries),
        tuple((verdict.value, counted[verdict]) for verdict in Verdict if counted[verdict]),
        weakest(ours).value if ours else "",
    )


def links(ledger: Ledger) -> Counter[tuple[str, str]]:
    """How often claims of a second part rest on claims of a first, for all pairs of which they do."""
    known = {entry.claim.id for entry in ledger.entries}
    return Counter(
        (part_of(used), part_of(entry.claim.id))
        for entry in ledger.entries
        for used in entry.claim.uses
        if used in known and part_of(used) != part_of(entry.claim.id)
    )


def headlines(ledger: Ledger, is_headline: Callable[[Entry], bool]) -> tuple[Headline, ...]:
    """The headline results with what is beneath each, in the order of the ledger."""
    entries = {entry.claim.id: entry for entry in ledger.entries}
    # What stands beneath a claim is written out once on the page: results have most of it in common.
    shown: set[str] = set()
    return tuple(_headline(entry, entries, shown) for entry in ledger.entries if is_headline(entry))


def _headline(entry: Entry, entries: Mapping[str, Entry], shown: set[str]) -> Headline:
    beneath, pending = {entry.claim.id}, [entry.claim.id]
    while pending:
        new = {id_ for id_ in entries[pending.pop()].claim.uses if id_ in entries} - beneath
        beneath |= new
        pending.extend(new)
    culprits = [i for i in entries if i in beneath and entries[i].verdict is entry.weakest and not entries[i].by_fiat]
    return Headline(_tree(entry, entries, shown), len(beneath) - 1, tuple(culprits))


def _tree(entry: Entry, entries: Mapping[str, Entry], shown: set[str]) -> Node:
    repeated = entry.claim.id in shown
    shown.add(entry.claim.id)
    used = () if repeated else [entries[id_] for id_ in entry.claim.uses if id_ in entries]
    children = tuple(_tree(below, entries, shown) for below in used)
    return Node(entry, children, repeated and bool(entry.claim.uses))

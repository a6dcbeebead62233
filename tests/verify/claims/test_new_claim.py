"""A newcomer adds a claim: the example of CONTRIBUTING.md, put into the three files as it is printed there."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import claim_json
from giantsteps.verify.ledger.run import examine
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def blocks() -> list[str]:
    """The symbol, the derivation and the claim that "Adding a claim" prints."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Adding a claim")[1].split("\n## ")[0]
    return [textwrap.dedent(found) for found in re.findall(r"```python\n(.*?)```", section, re.DOTALL)]


def with_block(path: str, block: str, **new: Any) -> ModuleType:
    """A module of this suite with a block at its end, which sees the modules of `new` in place of the old ones."""
    module = ModuleType(f"giantsteps.{path}".replace("/", "."))
    # Classes and caches look their module up by name; the copy is nobody else's.
    exec((ROOT / f"{path}.py").read_text(encoding="utf-8"), module.__dict__)
    module.__dict__.update(new)
    exec(block, module.__dict__)
    return module


@pytest.fixture(scope="module")
def new_claim() -> Claim:
    symbol, derivation, statement = blocks()
    symbols = with_block("derivations/equivalence/symbols", symbol)
    derived = with_block("derivations/equivalence/equivalent_map", derivation, s=symbols)
    stated = with_block("verify/claims/equivalence/appendix_b", statement, s=symbols, equivalence=derived)
    (added,) = (x for x in vars(stated).values() if isinstance(x, Claim) and x not in stated.CLAIMS)
    return added


def test_the_claim_is_proved_and_its_mutants_are_refuted(new_claim: Claim) -> None:
    verdict, evidence, mutants, _ = examine(new_claim, "quick", PAPER)
    assert verdict is Verdict.PROVED
    assert [e.outcome.value for e in evidence] == ["supports", "supports"]
    assert {m.name for m in mutants} > {"gamma for 2 gamma", "gamma^2 for gamma", "eight per cent more"}
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}


def test_each_of_its_checks_refutes_the_mutants_alone(new_claim: Claim) -> None:
    for check in new_claim.checks:
        alone = Claim(**(vars(new_claim) | {"checks": (check,)}))
        assert {m.verdict for m in examine(alone, "quick", PAPER)[2]} == {Verdict.REFUTED}, check.name


def test_its_line_of_the_ledger_is_what_it_states(new_claim: Claim) -> None:
    line = claim_json(new_claim)
    assert line["id"] == "result-3-2.spike-to-target"
    assert line["statement"] == r"|v-\theta|^{2} = 2 - 2 \gamma"

"""The builder of claims: what is wrong stands beside the statement and shares its left side."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.verify.protocol.claim import Domain, Kind, Mutant, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, ge, le

_x, _y = sp.symbols("x y", positive=True)
_SOURCE = Source("a note", "1")


def _stated(statement: sp.Basic, wrong: Wrong) -> tuple[Mutant, ...]:
    return claim("part.name", "A title", _SOURCE, statement, Domain(), wrong=wrong).mutants


@pytest.mark.parametrize("relation", [eq, ge, le])
def test_a_wrong_right_hand_side_keeps_the_left_one_and_the_relation(relation) -> None:  # type: ignore[no-untyped-def]
    assert _stated(relation(_x, _y), {"twice": 2 * _y, "nothing": 0}) == (
        Mutant("twice", relation(_x, 2 * _y)), Mutant("nothing", relation(_x, sp.S.Zero))
    )  # fmt: skip


def test_a_wrong_statement_stands_as_it_is() -> None:
    assert _stated(eq(_x, _y), {"the other way round": ge(_y, _x)}) == (Mutant("the other way round", ge(_y, _x)),)
    both = sp.And(ge(_x, _y), le(_x, 2), evaluate=False)
    assert _stated(both, {"one of two": ge(_x, _y)}) == (Mutant("one of two", ge(_x, _y)),)


def test_statements_that_sympy_can_decide_are_left_as_they_are_typed() -> None:
    (wrong,) = _stated(eq(_x, _x), {"one more": _x + 1})
    assert isinstance(wrong.statement, sp.Equality)
    assert wrong.statement.args == (_x, _x + 1)


def test_a_term_is_no_mutant_of_a_statement_without_sides() -> None:
    with pytest.raises(TypeError, match="give the whole wrong statement"):
        _stated(sp.And(ge(_x, _y), le(_x, 2), evaluate=False), {"a term": _x})


def test_a_mutant_is_another_statement() -> None:
    with pytest.raises(ValueError, match="'the same' is the claim itself"):
        _stated(eq(_x, 2 * (1 - _y)), {"another": 1 - _y, "the same": 2 - 2 * _y})


def test_an_inequality_is_one_without_being_told() -> None:
    statements = eq(_x, _y), le(_x, _y), ge(_x, _y), sp.Lt(_x, _y), sp.Gt(_x, _y)
    kinds = [claim("a.b", "A title", _SOURCE, statement, Domain()).kind for statement in statements]
    assert kinds == [Kind.IDENTITY, *[Kind.INEQUALITY] * 4]
    assert claim("a.b", "A title", _SOURCE, le(_x, _y), Domain(), kind=Kind.LIMIT).kind is Kind.LIMIT

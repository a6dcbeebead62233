"""The proofs in Rocq: what is written says what the kernel says, and Rocq accepts nothing that was changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import sympy as sp

from onestep.derivations.gradient_step import spike
from onestep.derivations.kernel.algebra import order, ring
from onestep.derivations.kernel.search import by_ring, define, expanded
from onestep.derivations.kernel.statements import AtLeast, Equation
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.expectation import Expectation
from onestep.verify.export.read_back import Unread, conclusions, read_statement
from onestep.verify.export.rocq import Exported, exported, perturbed
from onestep.verify.export.second_kernel import (
    EXPECTED,
    MISSING,
    Differs,
    assumptions,
    check,
    compare,
    installed,
    write,
)

_x, _y, _z, _t = sp.symbols("x y z t", real=True)
_p = sp.Symbol("p", positive=True)
_f = sp.Function("f", real=True)


def small() -> dict[str, Theorem]:
    """Algebra with a denominator and roots, an inequality, and an average by linearity, independence and moments."""
    named = define(_x, (_y**2 - 1) / (_p + 1), "a quotient")
    average = expanded(Expectation((_f(_z) + 2 * _t**2) * _z, _z, _t))
    assert average is not None
    return {
        "quotient": by_ring(Equation(_x * (_p + 1), (_y - 1) * (_y + 1)), named),
        "roots": ring((), Equation((sp.sqrt(_p) + _y) * (sp.sqrt(_p) - _y), _p - _y**2)),
        "square": order((), AtLeast(_y**2 + _p, 2 * _y * sp.sqrt(_p)), (), ((sp.Integer(1), _y - sp.sqrt(_p)),)),
        "average": average,
    }


def theorems() -> dict[str, Theorem]:
    """Those small ones, and all of one derivation of the theory."""
    built = spike.gradient()
    return small() | {f"gradient_{k}": theorem for k, theorem in enumerate(built.theorems)}


@pytest.fixture(scope="module")
def export() -> Exported:
    return exported(theorems())


def meanings(export: Exported) -> dict[str, object]:
    """What each identifier of a file stands for."""
    return {name: what for table in (export.names.symbols, export.names.functions) for what, name in table.items()}


def test_what_is_written_is_read_back_as_the_node_that_it_is_of(export: Exported) -> None:
    said = conclusions(export.text)
    assert set(said) == {lemma.name for lemma in export.lemmas}
    for lemma in export.lemmas:
        assert read_statement(said[lemma.name], meanings(export)) == lemma.node.statement


@pytest.mark.parametrize("wrong", ["x = (y", "x = y y", "x < y", "x = unknown", "x = y $ 2"])
def test_what_no_export_writes_is_not_read(wrong: str) -> None:
    with pytest.raises(Unread):
        read_statement(wrong, {"x": _x, "y": _y})


def test_a_slip_of_the_text_is_read_as_another_statement(export: Exported) -> None:
    lemma = next(lemma for lemma in export.lemmas if lemma.node.rule == "ring")
    assert read_statement(f"{lemma.says} + 1", meanings(export)) != lemma.node.statement


def test_different_symbols_have_different_names() -> None:
    pair = (sp.Symbol("a", real=True), sp.Symbol("a", positive=True))
    named = exported({"pair": ring((), Equation(pair[0] * (pair[1] + 1), pair[0] * pair[1] + pair[0]))}).names.symbols
    assert len({named[symbol] for symbol in pair}) == 2


def test_denominators_and_signs_are_hypotheses() -> None:
    (lemma,) = exported({"fraction": ring((), Equation(_y**2 / _x - _p, (_y**2 - _p * _x) / _x))}).lemmas
    assert set(lemma.hypotheses) == {"0 < p", "x <> 0"}


def test_axioms_are_those_that_a_theorem_rests_on(export: Exported) -> None:
    assert export.expected["average"] == frozenset()  # moments follow from the laws of averages
    (leaf,) = export.expected["quotient"]
    assert leaf.startswith("definition_")
    assert f"Axiom {leaf} : x = " in export.text


SAID = """Axioms:
E : (R -> R) -> R
leaf_1 : forall x : R,
         f x = 1
sign_p : 0 < p
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop, nat
Closed under the global context
"""


def test_a_difference_of_the_axioms_is_told() -> None:
    first, second = assumptions(SAID)
    assert first >= {"leaf_1", "sign_p"}
    assert second == frozenset()
    compare({"a": first}, {"a": frozenset({"leaf_1"})})
    for expected in (frozenset(), frozenset({"leaf_1", "leaf_2"})):
        with pytest.raises(Differs, match="a rests on"):
            compare({"a": first}, {"a": expected})


needs_rocq = pytest.mark.skipif(not installed(), reason=MISSING)


@needs_rocq
@pytest.mark.thorough
def test_rocq_accepts_the_lemmas_and_lists_their_axioms(export: Exported, tmp_path: Path) -> None:
    write(export, tmp_path)
    found = check(tmp_path)
    assert set(found) == set(export.theorems)
    (tmp_path / EXPECTED).write_text('{"square": ["definition_9_of_nothing"]}', encoding="utf-8")
    with pytest.raises(Differs, match="square rests on"):
        check(tmp_path)


@needs_rocq
@pytest.mark.thorough
def test_rocq_refuses_each_lemma_of_algebra_with_a_slip(export: Exported, tmp_path: Path) -> None:
    # The lemma stands behind its copy, which may use what the lemma uses.
    changed = [lemma for lemma in export.lemmas if lemma.node.rule in ("ring", "order", "linear", "moment")]
    assert len(changed) >= 5
    file = tmp_path / "Slips.v"
    lemmas = [perturbed(lemma) + lemma.text if lemma in changed else lemma.text for lemma in export.lemmas]
    file.write_text("\n".join([export.opening, *lemmas]), encoding="utf-8")
    done = subprocess.run(["coqc", "-q", file.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # `Fail` is an error where a copy is accepted

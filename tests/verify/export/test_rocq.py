"""The proofs in Rocq: what is written says what the kernel says, and Rocq accepts nothing that was changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sympy as sp

from onestep.derivations.gradient_step import spike
from onestep.derivations.kernel.algebra import congruence, order, rewrite, ring
from onestep.derivations.kernel.limits import limit_rational, name_limit
from onestep.derivations.kernel.search import by_ring, define, expanded
from onestep.derivations.kernel.statements import AtLeast, Equation
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.expectation import Expectation
from onestep.verify.checks.digest import digest
from onestep.verify.export.read_back import Unread, conclusions, read_statement
from onestep.verify.export.rocq import Exported, exported
from onestep.verify.export.second_kernel import (
    EXPECTED,
    MISSING,
    SLIPS,
    Differs,
    assumptions,
    check,
    check_slips,
    compare,
    expected,
    installed,
    replayed,
    write,
)

_x, _y, _z, _t = sp.symbols("x y z t", real=True)
_p, _d = sp.symbols("p d", positive=True)
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


def test_what_is_written_is_read_back_as_the_node_that_it_is_of(export: Exported) -> None:
    said = conclusions(export.text)
    assert set(said) == {lemma.name for lemma in export.lemmas}
    for lemma in export.lemmas:
        assert read_statement(said[lemma.name], export.names, export.moving) == lemma.node.statement


@pytest.mark.parametrize("wrong", ["x = (y", "x = y y", "x < y", "x = unknown", "x = y $ 2"])
def test_what_no_export_writes_is_not_read(wrong: str) -> None:
    with pytest.raises(Unread):
        read_statement(wrong, {"x": _x, "y": _y})


def test_a_slip_of_the_text_is_read_as_another_statement(export: Exported) -> None:
    lemma = next(lemma for lemma in export.lemmas if lemma.node.rule == "ring")
    assert read_statement(f"{lemma.says} + 1", export.names, export.moving) != lemma.node.statement


def test_different_symbols_have_different_names() -> None:
    pair = (sp.Symbol("a", real=True), sp.Symbol("a", positive=True))
    named = exported({"pair": ring((), Equation(pair[0] * (pair[1] + 1), pair[0] * pair[1] + pair[0]))}).names
    assert set(pair) <= set(named.values())


def test_what_two_theorems_share_stands_there_once() -> None:
    # Made twice, as by the derivations of two claims.
    first, second = (exported({"a": small()["average"]}), exported({"a": small()["average"], "b": small()["average"]}))
    assert second.theorems["a"] == second.theorems["b"]
    assert len(first.lemmas) == len(second.lemmas)


def test_what_is_defined_by_the_variable_of_a_limit_is_a_function_of_it() -> None:
    size = sp.Symbol("n_0", positive=True)
    defined = define(size, 3 * _d, "grows")
    ratio = rewrite((limit_rational((), (3 * _d + 1) / _d, sp.Integer(3), _d), equal_in(defined)), True)
    lemma = exported({"ratio": ratio}).lemmas[-1]
    assert lemma.says == "Tends (fun d => ((/ d) * (1 + (n_0 d)))) 3"
    assert "d" not in lemma.symbols


def equal_in(definition: Theorem) -> Theorem:
    """1 + name = 1 + meaning."""
    hole = sp.Symbol("hole", real=True)
    return congruence((definition,), hole + 1, hole)


def test_a_name_for_a_limit_is_whatever_the_limit_is() -> None:
    limit = limit_rational((), 1 / _d + 2, sp.Integer(2), _d)
    (axiom,) = exported({"named": name_limit((limit,), _x, "the limit")}).lemmas[-1].axioms.values()
    assert axiom == "forall v__ : R, Tends (fun d => (2 + (/ d))) v__ -> x = v__"


def test_averages_of_what_is_unknown_are_said_to_exist(export: Exported) -> None:
    said = {axiom for lemma in export.lemmas for axiom in lemma.axioms.values() if axiom.startswith("Exists")}
    assert "Exists (fun z => (z * (f z)))" in said
    assert "Exists (fun z => z)" not in said  # powers have averages by the laws


def test_a_lemma_that_rocq_is_not_asked_to_prove_is_an_axiom_of_that_name(export: Exported) -> None:
    square = small()["square"]
    made = exported({"square": square}, frozenset({digest(square)}))
    assert made.by_axiom == {"open_order": 1}
    (axiom,) = made.expected["square"]
    assert replayed({"square": frozenset({axiom})}, {"square": ["0"]}) == {}
    assert replayed({"square": frozenset({"leaf_1"})}, {"square": ["0"]}) == {"square": ["0"]}


def test_denominators_and_signs_are_hypotheses() -> None:
    (lemma,) = exported({"fraction": ring((), Equation(_y**2 / _x - _p, (_y**2 - _p * _x) / _x))}).lemmas
    assert set(lemma.hypotheses) == {"0 < p", "x <> 0"}


def test_axioms_are_those_that_a_theorem_rests_on(export: Exported) -> None:
    assert all(axiom.startswith("exists") for axiom in export.expected["average"])  # moments follow from the laws
    (leaf,) = export.expected["quotient"]
    assert leaf.startswith("definition_")
    assert f"Axiom {leaf} : " in export.text


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
    for other in (frozenset(), frozenset({"leaf_1", "leaf_2"})):
        with pytest.raises(Differs, match="a rests on"):
            compare({"a": first}, {"a": other})


needs_rocq = pytest.mark.skipif(not installed(), reason=MISSING)


@needs_rocq
def test_rocq_accepts_lemmas_and_refuses_them_with_a_slip(tmp_path: Path) -> None:
    made = exported(small())
    write(made, {name: (theorem,) for name, theorem in small().items()}, tmp_path)
    found = check(tmp_path)
    assert set(found) == set(made.theorems)
    check_slips(tmp_path)
    slips = (tmp_path / f"{SLIPS}.v").read_text(encoding="utf-8")
    assert slips.count("Fail") >= 5
    # A copy that says what the lemma says is accepted, so that the demand that it fail is an error.
    lemma = made.lemmas[-1]
    right = f"Goal {lemma.type}.\nProof. Fail solve [{lemma.script}]. Abort.\n"
    (tmp_path / f"{SLIPS}.v").write_text(slips + right, encoding="utf-8")
    with pytest.raises(Differs, match="coqc refuses the file"):
        check_slips(tmp_path)
    wrong = expected(tmp_path) | {"axioms": {"quotient": ["definition_9_of_nothing"]}}
    (tmp_path / EXPECTED).write_text(json.dumps(wrong), encoding="utf-8")
    with pytest.raises(Differs, match="quotient rests on"):
        check(tmp_path)


@needs_rocq
@pytest.mark.thorough
def test_rocq_accepts_a_derivation_with_limits(export: Exported, tmp_path: Path) -> None:
    write(export, {}, tmp_path)
    assert set(check(tmp_path)) == set(export.theorems)

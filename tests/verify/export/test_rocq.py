"""The proofs in Rocq: what is written says what the kernel says, and Rocq accepts nothing that was changed."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.gradient_step import spike
from giantsteps.derivations.kernel import inequalities, limits
from giantsteps.derivations.kernel.algebra import assume, congruence, differentiate, order, rewrite, ring
from giantsteps.derivations.kernel.calculus import logarithm, slope
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.averages import expanded
from giantsteps.derivations.kernel.search.steps import by_ring
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground
from giantsteps.derivations.kernel.theorem import RULES, Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.numerics.balls.coefficients import hermite_balls
from giantsteps.verify.export.files import (
    ASKED,
    BY_HAND,
    CERTIFICATE,
    GAUSSIAN,
    OPTIONAL,
    SLIPS,
    UNPROVED,
    chapter,
    files,
)
from giantsteps.verify.export.preamble import LAW_AXIOMS
from giantsteps.verify.export.rocq import Exported, exported
from giantsteps.verify.export.second_kernel import (
    EXPECTED,
    MISSING,
    Checked,
    Differs,
    assumptions,
    check,
    compare,
    compile_all,
    expected,
    installed,
    replayed,
    write,
)
from giantsteps.verify.export.tactics.rules import BY_LEMMA, PROVERS
from giantsteps.verify.export.terms import in_order
from tests.verify.export.read_back import Unread, conclusions, read_statement

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


def text(export: Exported) -> str:
    """All that is written."""
    return "".join(file.text for file in files(export))


def test_what_is_written_is_read_back_as_the_node_that_it_is_of(export: Exported) -> None:
    said = conclusions(text(export))
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


def test_symbols_that_share_a_name_stand_in_one_order() -> None:
    one, other = sp.Symbol("n", real=True), sp.Symbol("n", positive=True)
    assert sp.default_sort_key(one) == sp.default_sort_key(other)
    assert in_order(one) != in_order(other)
    assert len({in_order(term) for term in (_f(one), _f(other), -_f(one))}) == 3


@pytest.mark.parametrize("taken", ["I", "True", "E", "sqrt"])
def test_a_symbol_has_no_name_that_rocq_needs(taken: str) -> None:
    symbol = sp.Symbol(taken, real=True)
    names = exported({"named": ring((), Equation((symbol + 1) ** 2, symbol**2 + 2 * symbol + 1))}).names
    assert symbol in names.values()
    assert taken not in names


def test_what_two_theorems_share_stands_there_once() -> None:
    # Made twice, as by the derivations of two claims.
    first, second = (exported({"a": small()["average"]}), exported({"a": small()["average"], "b": small()["average"]}))
    assert second.theorems["a"] == second.theorems["b"]
    assert len(first.lemmas) == len(second.lemmas)


def test_what_is_defined_by_the_variable_of_a_limit_is_a_function_of_it() -> None:
    size = sp.Symbol("n_0", positive=True)
    defined = define(size, 3 * _d, "grows")
    ratio = rewrite((limits.limit_rational((), (3 * _d + 1) / _d, sp.Integer(3), _d), equal_in(defined)), True)
    lemma = exported({"ratio": ratio}).lemmas[-1]
    assert lemma.says == "Tends (fun d => ((/ d) * (1 + (n_0 d)))) 3"
    assert "d" not in lemma.symbols


def equal_in(definition: Theorem) -> Theorem:
    """1 + name = 1 + meaning."""
    hole = sp.Symbol("hole", real=True)
    return congruence((definition,), hole + 1, hole)


def test_a_name_for_a_limit_is_whatever_the_limit_is() -> None:
    limit = limits.limit_rational((), 1 / _d + 2, sp.Integer(2), _d)
    (axiom,) = exported({"named": limits.name_limit((limit,), _x, "the limit")}).lemmas[-1].axioms.values()
    assert axiom == "forall v__ : R, Tends (fun d => (2 + (/ d))) v__ -> x = v__"


def test_a_name_for_a_limit_is_a_function_of_the_variable_of_another_one() -> None:
    other = sp.Symbol("e", positive=True)
    named = limits.name_limit(
        (limits.limit_rational((), _y / _d + other / (other + 1), other / (other + 1), _d),), _x, "the limit"
    )
    moved = rewrite((limits.limit_rational((), other / (other + 1), sp.Integer(1), other), named), True)
    made = exported({"twice": moved})
    assert made.lemmas[-1].says == "Tends (fun e => (x e)) 1"
    (axiom,) = made.expected["twice"]
    assert re.search(rf"Axiom {axiom} : forall e : R, .* \(x e\) = v__", text(made))


def test_what_only_the_definition_of_a_limit_speaks_of_is_declared() -> None:
    # The limit is 0, and so is what is named by it, whatever y is.
    limit = limits.limit_rational((), _y / _d, sp.Integer(0), _d)
    made = exported({"named": limits.name_limit((limit,), _x, "the limit")})
    assert "Parameter y : R." in made.opening


def test_averages_of_what_is_unknown_are_said_to_exist(export: Exported) -> None:
    said = {axiom for lemma in export.lemmas for axiom in lemma.axioms.values() if axiom.startswith("Exists")}
    assert "Exists (fun z => (z * (f z)))" in said
    assert "Exists (fun z => z)" not in said  # powers have averages by the laws


def test_what_rests_on_a_lemma_that_rocq_does_not_prove_is_not_replayed() -> None:
    digests = {"square": ["0"], "pair": ["1", "2"]}
    asked = ("square", "pair 0", "pair 1")
    assert replayed(Checked(asked, frozenset(), frozenset({"square", "pair 0"})), digests) == {"square": ["0"]}
    assert replayed(Checked(asked, frozenset(), frozenset({"pair 0", "pair 1"})), digests) == {"pair": ["1", "2"]}
    compare({("square",): frozenset({UNPROVED})}, {"square": ["leaf_1"]})  # it may rest on less, too


def test_of_each_chapter_rocq_is_asked_on_its_own() -> None:
    made = small()
    written = files(exported({f"{of}.{name}": made[name] for of in ("one", "two") for name in ("roots", "square")}))
    asked = [file for file in written if file.module.startswith(ASKED)]
    assert [{chapter(name) for names in file.asked for name in names} for file in asked] == [{"one"}, {"two"}]
    assert {name for file in asked for names in file.asked for name in names} == {
        f"{of}.{name}" for of in ("one", "two") for name in ("roots", "square")
    }


def test_denominators_and_signs_are_hypotheses() -> None:
    (lemma,) = exported({"fraction": ring((), Equation(_y**2 / _x - _p, (_y**2 - _p * _x) / _x))}).lemmas
    assert set(lemma.hypotheses) == {"0 < p", "x <> 0"}


def test_a_root_is_of_what_is_not_negative() -> None:
    # At zero, too: what is asked of the second kernel is all that ours concludes.
    root = sp.sqrt(_x)
    (lemma,) = exported({"root": ring((), Equation((root + _y) * (root - _y), _x - _y**2))}).lemmas
    assert set(lemma.hypotheses) == {"0 <= x"}


def test_axioms_are_those_that_a_theorem_rests_on(export: Exported) -> None:
    assert all(axiom.startswith("exists") for axiom in export.expected["average"])  # moments follow from the laws
    (axiom,) = export.expected["quotient"]
    assert axiom.startswith("definition_")
    assert f"Axiom {axiom} : " in text(export)


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
    compare({("a", "b"): first}, {"a": ["leaf_1"], "b": []})
    for other in ([], ["leaf_1", "leaf_2"]):
        with pytest.raises(Differs, match="a, b: rests on"):
            compare({("a", "b"): first}, {"a": other, "b": []})


def test_a_law_of_averages_is_no_axiom_where_it_is_proved() -> None:
    compare({("a",): frozenset({"E_add"})}, {"a": []})
    with pytest.raises(Differs, match="E_add"):
        compare({("a",): frozenset({"E_add"})}, {"a": []}, laws=())
    written = {file.module: file for file in files(exported(small()), {GAUSSIAN})}
    assert written["Averages"].requires == (GAUSSIAN,)
    assert "Declare" not in written["Averages"].text  # it declares what is assumed


def rules() -> dict[str, Theorem]:
    """A theorem by each rule of limits, derivatives and order that Rocq is told how to prove."""
    u, v = sp.symbols("u v", real=True)
    q, least = sp.symbols("q r", positive=True)
    weight = sp.Symbol("w", nonnegative=True)
    square = (_x + 1 / _d) ** 2
    rational = limits.limit_rational((), (_y * _d + sp.sqrt(_d)) / (_p * _d + 1), _y / _p, _d)
    three = limits.limit_rational((), (3 * _d**2 + _x) / (_d**2 + _d), sp.Integer(3), _d)
    upper, between, lower = (limits.limit_rational((), 3 + k / _d, sp.Integer(3), _d) for k in (2, 1, -1))
    above, below = (
        order((), AtLeast(3 + 2 / _d, 3 + 1 / _d), (), ((1 / _d, sp.Integer(1)),)),
        order((), AtLeast(3 + 1 / _d, 3 - 1 / _d), (), ((2 / _d, sp.Integer(1)),)),
    )
    apart = order((), AtLeast(_x**2 + 1 + 1 / _d, 2 * _x), (), ((sp.Integer(1), _x - 1), (1 / _d, sp.Integer(1))))
    parabola = order((), AtLeast(_x**2 + 1, 2 * _x), (), ((sp.Integer(1), _x - 1),))
    both = [order((), AtLeast(*pair)) for pair in itertools.permutations(((_x + 1) ** 2, _x**2 + 2 * _x + 1))]
    smooth = sigma(_x * _y) / (_p + _x**2) + sp.log(1 + _x**2) * sp.exp(_x)
    smooth += sp.sin(_x) * sp.cos(_x) + sp.erf(_x * sp.sqrt(2) / 2)
    mean, root = Expectation(sigma(_x * _z), _z), sp.sqrt(_p + q / least)
    quantity = define(sp.Symbol("Q", real=True), sp.sqrt(least) / (1 + least) + Expectation(sigma(least * _z), _z), "Q")
    zero = assume((), Assumption(Ground.MODEL, "twins", Equation((_x - _y) ** 2, sp.Integer(0)), "as given"))
    squared = expanded(Expectation((_z + _t) ** 2, _z, _t))
    assert squared is not None
    return {
        "two variables": squared,
        "root of the variable": rational,
        "compose": limits.limit_compose((three, rational), sp.sqrt(u) * sp.exp(v) + sp.log(u) / u**2, (u, v)),
        "exponential": limits.limit_exponential((), _p, _d),
        "unique": limits.limit_unique(
            tuple(limits.limit_rational((), square, value, _d) for value in (_x**2, _x * (_x + 1) - _x))
        ),
        "order": limits.limit_order((apart, limits.limit_rational((), _x**2 + 1 + 1 / _d, _x**2 + 1, _d)), _d),
        "squeeze": limits.squeeze((above, below, upper, lower)),
        "between": between,
        "logarithm": logarithm(
            (), _p * q**2 / sp.sqrt(least), ((_p, sp.Integer(1)), (q, sp.Integer(2)), (least, -sp.Rational(1, 2)))
        ),
        "one function": order(
            (), AtLeast(_f(_x * (1 + _y)) ** 2 + 1, 2 * _f(_x + _x * _y)), (), ((sp.Integer(1), _f(_x + _x * _y) - 1),)
        ),
        "a largest weight": order((), AtLeast(sp.Max(_p, _y) * _x**2, sp.Integer(0)), (), ((sp.Max(_p, _y), _x),)),
        "multiply": inequalities.multiply((parabola, above)),
        "antisymmetric": inequalities.antisymmetric(tuple(both)),
        "largest": inequalities.largest((), (_x, _y, _p), 1),
        "one of them": inequalities.largest((), (_x, _y)),
        "root of zero": inequalities.root_of_zero((zero,), _x - _y, 2),
        "equal roots": inequalities.equal_roots(
            (), Equation(sp.sqrt(1 - (_p / (_p + q)) ** 2), sp.sqrt(q * (2 * _p + q)) / (_p + q)), 2
        ),
        "equal roots of a premise": inequalities.equal_roots(
            (assume((), Assumption(Ground.MODEL, "cubes", Equation(_p**3, q**3), "as given")),), Equation(_p, q), 3
        ),
        "specialise": inequalities.specialise(
            (
                order((), AtLeast(weight + 1, sp.Integer(1)), (), ((weight, sp.Integer(1)),)),
                order((), AtLeast(_x**2 + 1 - 2 * _x, sp.Integer(0)), (), ((sp.Integer(1), _x - 1),)),
            ),
            weight,
        ),
        "differentiate": differentiate((ring((), Equation((smooth + 1) ** 2, smooth**2 + 2 * smooth + 1)),), _x),
        "exchange": differentiate((ring((), Equation((mean + _y) ** 2, mean**2 + 2 * _y * mean + _y**2)),), _x),
        "where it is open": differentiate(
            (ring((), Equation((_x**2 - 1) / (_x - _y), _x**2 / (_x - _y) - 1 / (_x - _y))),), _x
        ),
        "slope": slope((quantity,), least, sp.Symbol("Q'", real=True), "dQ/dr"),
        "exponentials": ring(
            (),
            Equation(
                sp.exp(_x - _y / 2) * (sp.exp(_y / 2) + 1), sp.exp(_x) + sp.exp(_x) / sp.exp(_y) ** sp.Rational(1, 2)
            ),
        ),
        "roots below": ring((), Equation((_y + _x / root) ** 2, _y**2 + 2 * _x * _y / root + _x**2 / root**2)),
    }


@pytest.fixture(scope="module")
def by_rules() -> Exported:
    return exported({f"rules.{name}": theorem for name, theorem in rules().items()})


def test_each_rule_but_those_of_lemmas_has_a_proof(by_rules: Exported) -> None:
    assert set(RULES) - set(PROVERS) <= {*BY_LEMMA, "assume", "name_limit", "same_slope"}
    assert {lemma.node.rule for lemma in by_rules.lemmas} >= set(PROVERS) - {
        "rewrite", "instantiate", "congruence", "average", "linear", "independent", "iterated", "moment", "rotate"
    }  # fmt: skip
    assert [lemma.node.rule for lemma in by_rules.lemmas if lemma.assumed] == ["assume"] * 3


def test_the_existence_of_a_derivative_is_an_assumption(by_rules: Exported) -> None:
    said = {"_".join(axiom.split("_")[:-1]) for axiom in by_rules.expected["rules.exchange"]}
    assert said == {"lemma_exchange"}
    assert any(axiom.startswith("slope_sigma") for axiom in by_rules.expected["rules.differentiate"])
    assert any(axiom.startswith("definition_Q_prime") for axiom in by_rules.expected["rules.slope"])


needs_rocq = pytest.mark.skipif(not installed(), reason=MISSING)


def has(module: str) -> bool:
    """Whether Rocq is installed with the library that a file requires."""
    command = ["coqtop", "-q", "-batch", "-load-vernac-object", OPTIONAL[module][0]]
    return installed() and subprocess.run(command, check=False, capture_output=True).returncode == 0


def needs(module: str) -> pytest.MarkDecorator:
    """Skips where Rocq lacks that library."""
    return pytest.mark.skipif(not has(module), reason=f"Rocq has no {OPTIONAL[module][0]}")


def compiled(directory: Path, requires: dict[str, tuple[str, ...]], module: str, right: str, wrong: str) -> list[str]:
    """The files compiled, one of them after a change."""
    for name in requires:
        text = (BY_HAND / f"{name}.v").read_text(encoding="utf-8")
        assert name != module or text.count(right) == 1
        (directory / f"{name}.v").write_text(text.replace(right, wrong) if name == module else text, encoding="utf-8")
    return compile_all(directory, requires)


@needs(GAUSSIAN)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("E (fun _ => 1) = 1.", "E (fun _ => 1) = 2."),
        ("INR (S k) * E", "INR k * E"),
        ("E_add : forall f g, Exists f -> Exists g -> E", "E_add : forall f g, Exists f -> E"),
    ],
)
def test_integrals_prove_no_other_law(right: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(Differs, match="refuses"):
        compiled(tmp_path, {"Laws": (), GAUSSIAN: ("Laws",)}, "Laws", right, wrong)


CENTRE = "6057055096 / 10 ^ 10"


def test_the_certificate_agrees_with_the_balls_of_the_suite() -> None:
    said = (BY_HAND / f"{CERTIFICATE}.v").read_text(encoding="utf-8")
    assert f"- {CENTRE}) <= / 10 ^ 8." in said
    certified = hermite_balls(activation("tanh")).h1
    outside = 2e-14  # |z tanh z| <= |z|: what [-8, 8] leaves out is at most 2 phi(8) = 1.01e-14
    rounding = 1e-15  # of doubles between 0.5 and 1, three times
    assert abs(certified.value - 0.6057055096) + certified.radius + outside + rounding <= 1e-8


@needs(CERTIFICATE)
@pytest.mark.thorough  # interval arithmetic takes seconds of processor time
def test_a_certificate_of_a_wrong_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Differs, match="refuses"):
        compiled(tmp_path, {CERTIFICATE: ()}, CERTIFICATE, CENTRE, "6057055296 / 10 ^ 10")


@needs_rocq
def test_rocq_accepts_lemmas_and_refuses_them_with_a_slip(tmp_path: Path) -> None:
    # Beside the small ones a quotient whose proof is none: what rests on it is not proved either, all others are.
    named = define(_t, (_z**2 - 1) / (_d + 1), "another quotient")
    wrong = by_ring(Equation(_t * (_d + 1), (_z - 1) * (_z + 1)), named)
    of_small = {f"small.{name}": theorem for name, theorem in {**small(), "wrong": wrong}.items()}
    made, found = exported(of_small), {name: (theorem,) for name, theorem in of_small.items()}
    stuck = next(lemma for lemma in made.lemmas if lemma.node is named)
    lemmas = tuple(replace(lemma, proof="ring") if lemma is stuck else lemma for lemma in made.lemmas)
    write(replace(made, lemmas=lemmas), found, tmp_path)
    chapters: list[Checked] = []
    checked = check(tmp_path, keep=chapters.append)
    assert checked.refused == (stuck.name,)
    assert checked.late == ()
    assert UNPROVED in checked.axioms
    assert checked.theorems == set(made.theorems) - {"small.wrong"}
    assert [of.theorems for of in chapters] == [checked.theorems]
    assert bool(checked.axioms.intersection(LAW_AXIOMS)) != has(GAUSSIAN)
    looked_at = {path.stem for path in tmp_path.glob("*.checked")}
    assert {f"{ASKED}_001", "Base", "Lemmas_001", "Laws", "Averages"} == looked_at - {GAUSSIAN}
    slips = tmp_path / f"{SLIPS}_001.v"
    begun, *rest = re.split(r"(?=^Goal )", slips.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len([slip for slip in rest if "Fail" in slip]) >= 5
    # A copy that says what the lemma says is accepted, so that the demand that it fail is an error.
    lemma = made.lemmas[-1]
    right = f"Goal {lemma.type}.\nProof. Fail solve [{lemma.script}]. Abort.\n"
    slips.write_text(begun + right, encoding="utf-8")
    with pytest.raises(Differs, match="refuses"):
        check(tmp_path)
    asked = expected(tmp_path)
    asked["axioms"]["small.quotient"] = ["definition_9_of_nothing"]
    (tmp_path / EXPECTED).write_text(json.dumps(asked), encoding="utf-8")
    with pytest.raises(Differs, match="rests on"):
        check(tmp_path)


@needs_rocq
@pytest.mark.thorough  # `make kernel` asks Rocq for every proof of the ledger
def test_rocq_proves_what_each_rule_concludes(by_rules: Exported, tmp_path: Path) -> None:
    write(by_rules, {}, tmp_path)
    lemmas = {module: needs for module, needs in expected(tmp_path)["files"].items() if not module.startswith(SLIPS)}
    assert set(compile_all(tmp_path, lemmas)) == set(lemmas)
    assert compile_all(tmp_path, lemmas) == []  # nothing has changed
    said = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.out"))
    assert [lemma.node.rule for lemma in by_rules.lemmas if f"{UNPROVED} {lemma.name}\n" in said] == []
    (names,) = expected(tmp_path)["asked"].values()
    told = assumptions((tmp_path / f"{ASKED}_001.out").read_text(encoding="utf-8"))
    compare(dict(zip(map(tuple, names), told, strict=True)), by_rules.expected)

"""The analysis counts operations: no clock decides what is found, and no tree is too deep for it."""

from __future__ import annotations

import itertools
import json
import pickle
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest
import sympy as sp

from giantsteps.derivations.activations import activation as activations
from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.closed_forms import heat_equation as closed_form
from giantsteps.derivations.expressions.budget import TookTooLong, at_most, spend
from giantsteps.derivations.expressions.parser import DEEPEST_TREE, Expression, ExpressionError, parse
from giantsteps.derivations.expressions.tree import Call, Quotient, Z, depth, walk
from giantsteps.derivations.language.algebra_budget import counted_algebra
from giantsteps.reports.activation.study import examine
from tests.shared.command_line import refused

WORKED = ["--alpha", "1.5", "--beta", "1", "--ridge", "0.1"]


# ---- budgets --------------------------------------------------------------------------------------------------------


def test_an_inner_budget_ends_alone_and_counts_against_the_outer_one() -> None:
    with at_most(100) as outer:
        with pytest.raises(TookTooLong), at_most(10) as inner:
            spend(11)
        assert (inner.exhausted, inner.outer_exhausted, outer.exhausted) == (True, False, False)
        assert outer.left == 89
        with pytest.raises(TookTooLong), at_most(1000) as inner:
            spend(90)
        assert inner.outer_exhausted
    spend(10**9)  # no budget in force


def test_what_an_outer_budget_leaves_undecided_is_not_remembered() -> None:
    fresh = Activation(parse("sin(z)*z**3 + 1/(7 + z**4)"))
    with at_most(100), pytest.raises(TookTooLong):
        _ = fresh.parity
    assert fresh.parity == "even"


def test_the_algebra_of_sympy_is_counted_inside_the_block_only() -> None:
    x, y = sp.symbols("x y")
    with pytest.raises(TookTooLong), at_most(1_000_000), counted_algebra():
        sp.expand((x + y + 1) ** 60)
    with at_most(1_000_000) as budget:
        sp.expand((sp.Dummy() + 1) ** 3)
    assert budget.left == 1_000_000
    with at_most(1_000_000) as budget, counted_algebra():
        assert sp.expand((x + 1) * (x - 1)) == x**2 - 1
    assert 0 < budget.left < 1_000_000


# ---- determinism ----------------------------------------------------------------------------------------------------

# Examined to the end within the limit: where the limit binds, what caches hold costs nothing and counts vary.
TEXTS = ("softplus(z) - log(2)", "hardtanh")


def _document(text: str) -> str:
    activations._read.cache_clear()
    closed_form.closed_forms.cache_clear()
    return json.dumps(examine(activation(text)).as_dict(), sort_keys=True)


@pytest.mark.parametrize("text", TEXTS)
def test_a_clock_that_jumps_changes_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _document(text)
    wild = (t * 1e4 for t in itertools.count())
    monkeypatch.setattr(time, "monotonic", lambda: next(wild))
    monkeypatch.setattr(time, "perf_counter", lambda: next(wild))
    monkeypatch.setattr(time, "time", lambda: next(wild))
    assert _document(text) == expected


@pytest.mark.parametrize("operations", [1_000, 30_000, 300_000])
@pytest.mark.parametrize("text", ["tanh", "relu", "mish(mish(z))", "log(2+cos(exp(z)))"])
def test_h1_and_s_1_are_one_number_however_little_is_done(text: str, operations: int) -> None:
    found = examine(activation(text), operations=operations)
    document = found.as_dict()["coefficients"]
    (first,) = (entry for entry in document["hermite"] if entry["order"] == 1)
    assert {key: first[key] for key in document["h1"]} == document["h1"]
    assert ("h1" in found.undecided) == ("s_1" in found.undecided)


def test_softplus_without_its_value_at_zero_gets_its_digits() -> None:
    found = examine(activation("softplus(z) - log(2)"))
    assert found.complete
    assert found.h2.digits == 30


# ---- deep trees -----------------------------------------------------------------------------------------------------


def _chain(length: int) -> Expression:
    tree: Expression = Z
    for _ in range(length):
        tree = Quotient(Call("sin", tree), Z)
    return tree


def test_trees_of_any_depth_are_compared_hashed_and_walked() -> None:
    first, second, other = _chain(5000), _chain(5000), _chain(5001)
    assert first == second
    assert hash(first) == hash(second)
    assert first != other
    assert len({first, second, other}) == 2
    assert depth(first) == 10_001
    assert sum(1 for _ in walk(first)) == 15_001


def test_a_tree_keeps_its_value_in_another_process() -> None:
    tree = parse("Piecewise((tanh(z), 0 < z <= 1), (erf(2*z), True))")
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert parse("Piecewise((tanh(z), 0 < z < 1), (erf(2*z), True))") != tree


@pytest.mark.parametrize("text", ["z" + "/z" * 400, "z" + "/sin(z)" * 120])
def test_a_chain_that_is_too_deep_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ExpressionError, match=f"more than {DEEPEST_TREE} operations"):
        activation(text)


@pytest.mark.parametrize(
    "inner", ["sin({})", "hardtanh({})", "({})/(2 + z**2)", "sigmoid({})", "-({})*z/9", "Max({}, z)"]
)
def test_the_deepest_trees_are_examined_or_refused(inner: str) -> None:
    text = "z"
    while len(inner.format(text)) <= 1000 and text.count("(") < 48:
        text = inner.format(text)
    try:
        found = examine(activation(text), operations=300_000)
    except ExpressionError:
        return
    assert json.dumps(found.as_dict(), allow_nan=False)


# ---- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("short", "long"),
    [("cos(z) + he3", "cos(z) + he(3, z)"), ("2*tanh", "2*tanh(z)"), ("relu - gelu/2", "relu(z) - gelu(z)/2")],
)
def test_a_name_inside_a_formula_means_what_it_means_alone(short: str, long: str) -> None:
    assert parse(short) == parse(long)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("elu(0.5)", "elu(z, 0.5)"),
        ("leaky_relu(0.1)", "leaky_relu(z, 0.1)"),
        ("swish(1/2)", "swish(z, 1/2)"),
        ("tanh(1)", "tanh(z)"),
        ("he(3, 2)", "he(3, z)"),
        ("Max(1, 0)", "Max(z, 0)"),
    ],
)
def test_a_function_of_numbers_alone_is_refused(text: str, meant: str, capfd: pytest.CaptureFixture[str]) -> None:
    refused(capfd, ["activation", text], f"did you mean {meant}?")


@pytest.mark.parametrize(("text", "near"), [("tahn", "tanh"), ("ReLU(z)", "relu"), ("2*sofplus(z)", "softplus")])
def test_an_unknown_name_is_answered_with_the_nearest(text: str, near: str, capfd: pytest.CaptureFixture[str]) -> None:
    refused(capfd, ["activation", text], near)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("jax.nn.gelu", "write gelu_tanh"),  # whose default is that one
        ("keras.activations.leaky_relu", "write leaky_relu(z, 1/5)"),
        ("gelu(z, approximate='tanh')", "gelu_tanh(z)"),
        ("torch.nn.SiLU()", "write silu"),
        ("nn.ReLU", "write relu"),
        ("np.tanh(z)", "write tanh"),
        ("logistic", "sigmoid"),
        ("ln(1 + z**2)", "log"),
    ],
)
def test_a_name_of_a_library_is_answered_with_the_same_function(
    text: str, written: str, capfd: pytest.CaptureFixture[str]
) -> None:
    refused(capfd, ["activation", text], written)


def test_a_name_like_no_other_is_answered_with_where_the_list_is(capfd: pytest.CaptureFixture[str]) -> None:
    refused(capfd, ["activation", "frobnicate(z)"], "docs/model.md")


# ---- what has no answer ---------------------------------------------------------------------------------------------


def test_no_spike_is_best_where_the_bound_does_not_depend_on_it() -> None:
    for text in ("he3", "he(5, z)", "z"):
        learning = examine(activation(text)).learning
        assert learning.best_spike is None
        assert learning.best_upper is not None
    assert examine(activation("erf(z)")).learning.best_spike == pytest.approx(3**0.5, abs=1e-5)


@pytest.mark.parametrize("target", ["exp(z**2/3)", "z*exp(z**2/3)", "exp(z**2/4) - 1"])
@pytest.mark.parametrize("command", ["solve", "bounds", "spectrum"])
def test_a_gradient_step_towards_an_infinite_second_moment_is_refused(
    command: str, target: str, capfd: pytest.CaptureFixture[str]
) -> None:
    step: list[Any] = ["--alpha0", "2", "--eta", "1"]
    refused(capfd, [command, "--activation", "tanh", "--target", target, *WORKED, *step], "infinite")


def test_a_gradient_step_of_an_activation_without_a_second_moment_is_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    student = ["--activation", "exp(z**2/4) - exp(-z**2/4)", "--target", "tanh"]
    refused(capfd, ["solve", *student, *WORKED, "--alpha0", "2", "--eta", "1"], "infinite")


def _spent(nested: int) -> int:
    """What building one polynomial costs inside so many nested blocks."""
    with at_most(10**9) as budget, ExitStack() as blocks:
        for _ in range(nested):
            blocks.enter_context(counted_algebra())
        x = sp.Dummy()  # what SymPy has built before it remembers
        sum((x**k * k for k in range(1, 6)), sp.Integer(0))
        return 10**9 - budget.left


def test_nested_blocks_count_algebra_once_and_none_counts_nothing() -> None:
    assert _spent(1) == _spent(2) == _spent(3) > 0
    assert _spent(0) == 0


def test_blocks_that_overlap_in_two_threads_leave_no_counting_behind() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with counted_algebra():
            entered.set()
            leave.wait(10.0)

    thread = threading.Thread(target=other)
    _spent(1)
    with counted_algebra():
        thread.start()
        entered.wait(10.0)
        flatten = sp.Add.__dict__["flatten"].__func__
    assert _spent(0) == 0  # the other thread still counts, and only its own
    leave.set()
    thread.join()
    assert sp.Add.__dict__["flatten"].__func__ is flatten
    assert _spent(0) == 0

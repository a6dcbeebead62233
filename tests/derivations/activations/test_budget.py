"""The analysis counts operations: no clock decides what is found, and no tree is too deep for it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.derivations.expressions.budget import TookTooLong, at_most, spend
from giantsteps.derivations.expressions.parser import DEEPEST_TREE, parse
from giantsteps.derivations.expressions.tree import Call, Expression, ExpressionError, Quotient, Z, depth, walk
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


@pytest.mark.parametrize("operations", [1_000, 30_000, 300_000])
@pytest.mark.parametrize("text", ["tanh", "relu", "mish(mish(z))", "log(2+cos(exp(z)))"])
def test_h1_and_s_1_are_one_number_however_little_is_done(text: str, operations: int) -> None:
    found = examine(activation(text), operations=operations)
    document = found.as_dict()["coefficients"]
    (first,) = (entry for entry in document["hermite"] if entry["order"] == 1)
    assert {key: first[key] for key in document["h1"]} == document["h1"]
    assert ("h1" in found.undecided) == ("s_1" in found.undecided)


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


# ---- names ----------------------------------------------------------------------------------------------------------


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

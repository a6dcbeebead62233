"""A derivation as the page shows it: each step with its own obligations, formula and rule."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.algebra import ring
from giantsteps.derivations.kernel.search.assumptions import proved
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing
from giantsteps.derivations.language.rendering import latex
from giantsteps.reports.page.described import describe

x, n = sp.Symbol("x", real=True), sp.Symbol("n", positive=True)
STEPS = (
    Step("expand", sp.Eq((x + 1) ** 2, x**2 + 2 * x + 1), Vanishing("the first", (x + 1) ** 2 - x**2 - 2 * x - 1)),
    proved("a rule makes it", ring((), Equation(x * (x + 1), x**2 + x))),
    Step("nothing is owed", sp.Eq(x, x, evaluate=False)),
    Step("two are owed", sp.Ge(x**2, 0, evaluate=False), Vanishing("the second", x - x),
         NonNegative("the third", x**2, ((sp.Integer(1), x),))),
    Step("the limit", sp.Eq(x, 1), RationalLimit("the fourth", (n + 1) / n, n, sp.Integer(1))),
)  # fmt: skip
OWED = (("the first",), (), (), ("the second", "the third"), ("the fourth",))


def test_each_step_is_shown_with_its_own_obligations() -> None:
    found = describe(Derivation("a derivation", "nowhere", *STEPS, results={x: sp.Integer(1)}), ())
    assert [step.reason for step in found.steps] == [step.reason for step in STEPS]
    assert [step.formula for step in found.steps] == [latex(step.statement) for step in STEPS]
    for shown, owed, step in zip(found.steps, OWED, STEPS, strict=True):
        says = [text for text, _ in shown.obligations]
        # A step that a rule made is shown with the rule, and owes nothing else.
        assert says[len(says) - len(owed) :] == list(owed)
        assert [text.startswith("theorem by the rule ring") for text in says[: len(says) - len(owed)]] == (
            [True] if step.theorem is not None else []
        )
    ways = [way for step in found.steps for _, way in step.obligations]
    assert ways == [
        "reduces to zero",
        "made by the kernel",
        "reduces to zero",
        "sum of 1 squares with weights >= 0",
        "limit of a rational function as n grows",
    ]

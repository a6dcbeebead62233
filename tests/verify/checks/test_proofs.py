"""Ways of getting evidence: what each must notice, and what it must not count."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from giantsteps.derivations.kernel.algebra import order, ring
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.steps import by_ring
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Refused, sides
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq, ge, le
from giantsteps.derivations.language.symbols import alpha0, d, h1_star, h2_star
from giantsteps.verify.checks.points import ByNumbers, BySearch
from giantsteps.verify.checks.proofs import CONCLUDED, ByDerivation, ByObligations, ByTheorem, concluded, said, states
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Claim, Domain, Kind, Range
from giantsteps.verify.protocol.evidence import Agreement, Evidence, Outcome, Proof
from giantsteps.verify.protocol.verdict import Verdict, decide
from tests.derivations.kernel.test_falsehoods import fixed_by_a_hypothesis
from tests.shared.toy import EXACT, LIMIT, TOLERANCE, by_obligations, claim, derivation, measure, norm

QUICK = PROFILES["quick"]


def run(check: ByDerivation | ByNumbers | ByObligations | BySearch | ByTheorem, **changes: object) -> Evidence:
    return check.run(claim(**changes), QUICK, PAPER)


def test_a_wrong_step_refutes_a_right_conclusion() -> None:
    wrong_step = Step("a slip", sp.Eq(norm, LIMIT), Vanishing("a slip", h1_star - 2 * h1_star))
    slipped = Derivation("with a slip", "toy", wrong_step, results={norm: LIMIT})
    assert run(ByDerivation(lambda: slipped)).outcome is Outcome.REFUTES


def test_a_derivation_of_something_else_proves_nothing() -> None:
    other = Derivation("of something else", "toy", results={sp.Symbol("unrelated"): sp.S.One})
    assert run(ByDerivation(lambda: other)).outcome is Outcome.UNDECIDED


def test_an_assumption_equal_to_the_claim_is_recognised_in_any_form() -> None:
    a, b = sp.symbols("a b", real=True)

    def assumed(left: sp.Expr, right: sp.Expr, ground: Ground = Ground.MODEL) -> Assumption:
        return Assumption(ground, "for a test", Equation(left, right), "none")

    goal = Equation(a, b)
    zero = sp.Integer(0)
    for left, right in ((a, b), (b, a), (a - b, zero), (zero, b - a), (-a, -b)):
        assert states(assumed(left, right), goal), (left, right)
        assert not states(assumed(left, right, Ground.LEMMA), goal)
    for left, right in ((a, -b), (a + b, zero), (zero, a + b), (a, 2 * b), (a, b + sp.Symbol("c")), (a, zero)):
        assert not states(assumed(left, right), goal), (left, right)


def derived_limit(*steps: Step) -> Evidence:
    return run(ByDerivation(lambda: Derivation("a limit", "toy", *steps, results={norm: LIMIT})))


MEASURED = run(ByNumbers("large d", measure, TOLERANCE, finite_size=True))
AT_D = RationalLimit("the limit", EXACT, d, LIMIT)
SQUARE = sp.Symbol("A", positive=True)
TAKEN = Step("the limit, under another name", sp.Eq(SQUARE, LIMIT), AT_D)
# Limits in form only: of what does not hold d, and of what holds it and equals its limit at every d.
CONSTANT = RationalLimit("no limit", LIMIT, d, LIMIT)
SAME_AT_EVERY_D = RationalLimit("no limit either", LIMIT * (d + 1) ** 2 / (d**2 + 2 * d + 1), d, LIMIT)
STATED = Step("what it is about", sp.Eq(norm, LIMIT), Vanishing("the same", LIMIT - h1_star**2 - h2_star / alpha0))


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        ((Step("at once", sp.Eq(norm, LIMIT), AT_D),), True),
        ((TAKEN, STATED), True),
        ((STATED,), False),
        ((STATED, TAKEN), False),  # a limit of something else, afterwards
        ((TAKEN, Step("without an obligation", sp.Eq(norm, LIMIT))), False),
        ((Step("of a constant", sp.Eq(norm, LIMIT), CONSTANT),), False),
        ((Step("of an identity", sp.Eq(norm, LIMIT), SAME_AT_EVERY_D),), False),
    ],
)
def test_a_proof_takes_a_limit_where_a_step_does_before_the_result(steps: tuple[Step, ...], taken: bool) -> None:
    evidence = derived_limit(*steps)
    assert isinstance(evidence, Proof)
    assert evidence.outcome is Outcome.SUPPORTS
    assert evidence.takes_limit is taken
    assert decide(Kind.CONCENTRATION, [evidence]) is Verdict.INCONCLUSIVE  # no rule of the kernel made it
    assert decide(Kind.CONCENTRATION, [evidence, MEASURED]) is (Verdict.DERIVED if taken else Verdict.CONFIRMED)


PART = sp.Symbol("B", positive=True)
HALF = Step("a part", sp.Eq(PART, LIMIT / 2), Vanishing("half", 2 * (LIMIT / 2) - LIMIT))
BY_NAME = Step("by its part", sp.Eq(norm, 2 * PART), Vanishing("twice half", LIMIT - 2 * (LIMIT / 2)))
IN_CIRCLES = Step("the other way round", sp.Eq(PART, norm / 2), Vanishing("half of the whole", norm - 2 * (norm / 2)))


@pytest.mark.parametrize(
    ("steps", "stated"),
    [
        ((HALF, BY_NAME), True),
        ((BY_NAME,), False),  # the part is stated nowhere
        ((IN_CIRCLES, BY_NAME), False),
        ((HALF, Step("by its part", sp.Eq(norm, 3 * PART), *BY_NAME.obligations)), False),
    ],
)
def test_a_step_may_speak_of_results_that_other_steps_state(steps: tuple[Step, ...], stated: bool) -> None:
    named = Derivation("by name", "toy", TAKEN, *steps, results={norm: LIMIT, PART: LIMIT / 2})
    evidence = run(ByDerivation(lambda: named))
    assert isinstance(evidence, Proof)
    assert evidence.outcome is Outcome.SUPPORTS
    assert evidence.takes_limit is stated


def test_the_limit_of_a_conjecture_proves_nothing() -> None:
    evidence = run(ByDerivation(derivation, conjecture=True))
    assert decide(Kind.LIMIT, [evidence, MEASURED]) is Verdict.CONFIRMED
    assert decide(Kind.LIMIT, [run(ByDerivation(derivation)), MEASURED]) is Verdict.PROVED
    assert decide(Kind.LIMIT, [run(ByDerivation(by_obligations)), MEASURED]) is Verdict.DERIVED


HALVED = by_ring(Equation(PART, LIMIT / 2), define(PART, LIMIT / 2, "a part"))
WHOLE = by_ring(Equation(norm, LIMIT), define(norm, 2 * PART, "the whole"), HALVED)


@pytest.mark.parametrize(
    ("steps", "lacks"),
    [
        ((proved("a part", HALVED), proved("the whole", WHOLE)), ()),
        ((proved("a part", HALVED), STATED), ("what it is about",)),
        ((proved("a part", HALVED), Step("said without a check", eq(norm, LIMIT)), STATED),
         ("said without a check", "what it is about")),
        ((proved("a part", HALVED),), (CONCLUDED,)),
    ],
)  # fmt: skip
def test_the_steps_that_no_rule_made_are_named(steps: tuple[Step, ...], lacks: tuple[str, ...]) -> None:
    evidence = run(ByDerivation(lambda: Derivation("in steps", "toy", *steps, results={norm: LIMIT})))
    assert isinstance(evidence, Proof)
    assert evidence.outcome is Outcome.SUPPORTS
    assert evidence.without_rule == lacks
    assert (evidence.theorem is not None) is (lacks == ())
    assert decide(Kind.IDENTITY, [evidence]) is (Verdict.INCONCLUSIVE if lacks else Verdict.PROVED)
    assert decide(Kind.IDENTITY, [evidence, MEASURED]) is (Verdict.DERIVED if lacks else Verdict.PROVED)


def test_numbers_without_points_decide_nothing() -> None:
    never = ByNumbers("outside the hypotheses", lambda point: None, TOLERANCE)
    assert run(never).outcome is Outcome.UNDECIDED


def test_a_search_climbs_towards_the_narrowest_margin() -> None:
    # It fails within 0.01 of one point of the unit square: 200 blind examples meet that with probability 6 %; the
    # search is seeded.
    x, y = sp.symbols("x y", real=True)
    distance = (x - sp.Rational(618, 1000)) ** 2 + (y - sp.Rational(377, 1000)) ** 2
    square = Domain(ranges=(Range(x, 0.0, 1.0), Range(y, 0.0, 1.0)))
    for statement in (le(-distance, -sp.Rational(1, 10**4)), ge(distance, sp.Rational(1, 10**4))):
        narrow = claim(kind=Kind.INEQUALITY, statement=statement, domain=square)
        evidence = BySearch("narrow", lambda point: {}, TOLERANCE).run(narrow, PROFILES["thorough"], PAPER)
        assert evidence.outcome is Outcome.REFUTES


def test_a_search_draws_again_for_a_point_outside_the_hypotheses() -> None:
    x = sp.Symbol("x", real=True)
    above = claim(kind=Kind.INEQUALITY, statement=le(-x, 0), domain=Domain(ranges=(Range(x, -1.0, 1.0),)))
    search = BySearch("above zero", lambda point: {} if float(point["x"]) >= 0.0 else None, TOLERANCE)
    evidence = search.run(above, QUICK, PAPER)
    assert isinstance(evidence, Agreement)
    assert (evidence.outcome, evidence.points) == (Outcome.SUPPORTS, QUICK.examples)
    assert len(search.places(above, QUICK)) == QUICK.examples
    few = replace(search, examples=5)
    for examples in (20, 30):  # what a check asks for is the least: a thorough profile asks for more
        assert few.run(above, replace(QUICK, examples=examples), PAPER).points == examples  # type: ignore[union-attr]


@pytest.mark.parametrize("inside", [2.0, 1.0 - 1e-9])
def test_a_search_that_finds_hardly_a_point_inside_the_hypotheses_decides_nothing(inside: float) -> None:
    x = sp.Symbol("x", real=True)
    above = claim(kind=Kind.INEQUALITY, statement=le(-x, 0), domain=Domain(ranges=(Range(x, -1.0, 1.0),)))
    evidence = BySearch("nearly never", lambda point: {} if float(point["x"]) >= inside else None, TOLERANCE).run(
        above, QUICK, PAPER
    )
    assert isinstance(evidence, Agreement)
    assert evidence.points < QUICK.examples
    assert (evidence.asked, evidence.outcome) == (QUICK.examples, Outcome.UNDECIDED)


def test_inequalities_are_one_sided() -> None:
    def with_statement(statement: sp.Basic) -> Claim:
        return claim(kind=Kind.INEQUALITY, statement=statement)

    numbers = ByNumbers("both sides", measure, TOLERANCE)
    assert numbers.run(with_statement(sp.Le(norm, LIMIT + 1)), QUICK, PAPER).outcome is Outcome.SUPPORTS
    assert numbers.run(with_statement(sp.Ge(norm, LIMIT + 1)), QUICK, PAPER).outcome is Outcome.REFUTES


def test_conjunctions_need_every_part() -> None:
    both = sp.And(sp.Ge(norm, h1_star**2), sp.Le(norm, h2_star / 1000))
    assert ByNumbers("both", measure, TOLERANCE).run(claim(statement=both), QUICK, PAPER).outcome is Outcome.REFUTES


def of_a_square(relation: sp.core.relational.Relational) -> Theorem:
    """Of two terms whose difference is h1*^2, the first is not smaller."""
    return order((), AtLeast(relation.gts, relation.lts), (), ((sp.Integer(1), h1_star),))


def test_a_theorem_is_made_of_the_statement() -> None:
    square = ByTheorem("a square", of_a_square)
    at_least = {"kind": Kind.INEQUALITY, "statement": sp.Ge(alpha0 + h1_star**2, alpha0, evaluate=False)}
    evidence = run(square, **at_least)
    assert isinstance(evidence, Proof)
    assert evidence.outcome is Outcome.SUPPORTS
    assert evidence.theorem is not None
    refused = run(square, **at_least | {"statement": le(alpha0 + h1_star**2, alpha0)})
    assert refused.outcome is Outcome.UNDECIDED
    other = order((), AtLeast(h1_star**2, sp.Integer(0)), (), ((sp.Integer(1), h1_star),))
    assert run(ByTheorem("of something else", lambda _: other), **at_least).outcome is Outcome.UNDECIDED


def anything(goal: Equation | AtLeast) -> Theorem:
    """By 0 = 1, where something is held constant that has to move: rules make it, and it speaks of nothing."""
    nothing = fixed_by_a_hypothesis()
    assert {*sides(nothing.statement)} == {0, 1}
    left, right = sides(nothing.statement)
    factor = (sides(goal)[0] - sides(goal)[1]) / (left - right)
    if isinstance(goal, Equation):
        return ring((nothing,), goal, (factor,))
    return order((nothing,), goal, (factor,))


def test_what_speaks_of_nothing_proves_nothing() -> None:
    for goal in (Equation(norm, 7 * LIMIT), AtLeast(h1_star, h1_star + 1)):
        vacuous = anything(goal)
        assert replay(vacuous).statement == goal
        with pytest.raises(Refused, match="constant"):
            established(vacuous)
    wrong = Derivation("of anything", "toy", proved("it follows", anything(Equation(norm, 7 * LIMIT))))
    statement = eq(norm, 7 * LIMIT)
    assert concluded(wrong, statement) is None
    for check in (ByTheorem("of anything", lambda goal: anything(said(goal))), ByDerivation(lambda: wrong)):
        evidence = run(check, statement=statement)
        assert isinstance(evidence, Proof)
        assert evidence.outcome is Outcome.UNDECIDED
        assert evidence.theorem is None


def test_of_a_proof_the_whole_and_each_part_are_asked_what_they_speak_of() -> None:
    part = fixed_by_a_hypothesis()
    whole = ring((part,), Equation(norm, LIMIT), ((norm - LIMIT) / (part.statement.left - part.statement.right),))  # type: ignore[union-attr]
    steps = (proved("a part", part), proved("the whole", whole), proved("beside it", HALVED))
    in_steps = run(ByDerivation(lambda: Derivation("in parts", "toy", *steps, results={norm: LIMIT})))
    assert isinstance(in_steps, Proof)
    made = {settled.says: settled.outcome for settled in in_steps.obligations}
    assert (made["a part"], made["the whole"]) == (Outcome.UNDECIDED, Outcome.UNDECIDED)
    assert made["beside it"] is Outcome.SUPPORTS
    alone = run(ByDerivation(lambda: Derivation("alone", "toy", steps[0], steps[2], results={norm: LIMIT})))
    assert isinstance(alone, Proof)
    assert {settled.says: settled.outcome for settled in alone.obligations}["a part"] is Outcome.UNDECIDED
    forged = replace(HALVED, statement=Equation(PART, LIMIT / 3))
    over = replace(WHOLE, premises=(*WHOLE.premises, forged))
    slipped = (proved("a forged part", forged), proved("over it", over))
    evidence = run(ByDerivation(lambda: Derivation("forged", "toy", *slipped, results={norm: LIMIT})))
    assert isinstance(evidence, Proof)
    assert {s.says: s.outcome for s in evidence.obligations}["a forged part"] is Outcome.UNDECIDED

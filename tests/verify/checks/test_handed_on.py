"""What checks hand on to the protocols and to their evidence: each field where it belongs, of every model and size."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from hypothesis import HealthCheck, Phase, given, seed, settings

from giantsteps.derivations.kernel.theorem import nodes
from giantsteps.verify.checks import finite_size, proofs, scaling_check
from giantsteps.verify.checks import points as at_points
from giantsteps.verify.checks.evaluate import Place, evaluate_all, relation_violation
from giantsteps.verify.checks.finite_size import Comparison, Fit, Observation, combine, compare, compare_all, fit_line
from giantsteps.verify.checks.points import ByNumbers, Point, _agreement
from giantsteps.verify.checks.proofs import ByTheorem, made
from giantsteps.verify.checks.scaling_check import ByScaling, Scaled
from giantsteps.verify.checks.simulation import BySimulation, Measured
from giantsteps.verify.checks.strategies import coordinate_of
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Range
from giantsteps.verify.protocol.conditions import IS_A_THEOREM
from giantsteps.verify.protocol.evidence import FiniteSize, Outcome, Proof, Settled
from giantsteps.verify.protocol.tolerances import Tolerance
from tests.shared.toy import claim, derivation, norm

QUICK = PROFILES["quick"]

# ---- the protocol of finite sizes ----


def observed(dimension: int, mean: float, theory: float, fluctuation: int = 1, seed_of: int = 1) -> Observation:
    drawn = random.Random(1000 * seed_of + dimension)
    samples = tuple(mean + drawn.gauss(0.0, 0.2) / dimension ** (fluctuation / 2) for _ in range(8))
    return Observation(dimension, samples, theory, fluctuation)


SIZES = (observed(400, 1.0, 1.02), observed(100, 1.01, 1.04), observed(200, 1.0, 1.03))


def test_the_theory_is_that_of_the_largest_dimension_and_the_scale_its_size_unless_they_are_given() -> None:
    found = compare("x", SIZES)
    assert (found.theory, found.scale, found.samples, found.dimensions) == (1.02, 1.02, 24, (100, 200, 400))
    other = compare("x", SIZES, limit=-3.0, scale=0.5)
    assert (other.theory, other.scale) == (-3.0, 0.5)
    assert compare("x", SIZES, limit=-3.0).scale == 3.0
    assert found.fit is not None
    assert found.extrapolated == pytest.approx(1.02 + found.fit.intercept)
    assert other.smallest_detectable == pytest.approx((found.smallest_detectable or 0.0) * 1.02 / 0.5)
    # What refutes is a limit on Student's t, which is wider than that on the normal deviate.
    assert found.tolerance is not None
    assert found.tolerance > 1.01 * (found.critical_z or 0.0) * found.fit.standard_error


@pytest.mark.parametrize("fluctuation", [1, 2])
def test_the_line_knows_how_its_observable_fluctuates(fluctuation: int) -> None:
    sizes = [observed(d, 1.0, 1.0, fluctuation) for d in (100, 200, 400)]
    expected, other = (
        fit_line([s.dimension for s in sizes], [s.samples for s in sizes], [1.0] * 3, k)
        for k in (fluctuation, 3 - fluctuation)
    )
    assert compare("x", sizes).fit == expected != other


def judged(name: str, intercept: float = 0.0, fits: float = 0.5, error: float = 1e-3) -> Comparison:
    """A comparison before it is decided; twenty degrees of freedom."""
    fit = Fit(intercept, 0.0, error, 20, fits, True)
    return Comparison(name, 8, (100, 200), "", "", theory=1.0, extrapolated=1.0, scale=1.0, fit=fit)


def test_each_of_several_is_decided_at_its_share_of_both_levels() -> None:
    # A line that fits with a probability between half the level and the level fits where two are decided together.
    between = judged("x", fits=0.75 * finite_size.FIT_LEVEL)
    assert combine([between]).verdict == "INCONCLUSIVE"
    assert combine([between, judged("y")]).verdict == "CONFIRMED"
    # So does a deviation between the limits of the whole level and of half of it.
    limits = [finite_size.deviates(0.0, 20, finite_size.FALSE_ALARM / k)[1] for k in (1, 2)]
    far = judged("x", intercept=1e-3 * sum(limits) / 2)
    assert combine([far]).verdict == "REFUTED"
    assert combine([far, judged("y")]).verdict == "CONFIRMED"
    assert combine([far, judged("y")], level=2 * finite_size.FALSE_ALARM).verdict == "REFUTED"
    assert combine([between, judged("y")], fit_level=2 * finite_size.FIT_LEVEL).verdict == "INCONCLUSIVE"


def bent(line: float, curve: float, error: float = 1e-2, fits: float | None = None) -> Comparison:
    """A line that does not fit, with its intercept and that of the fit with a second term; error 1e-3 of the line."""
    return replace(judged("x", line, fits=1e-9), bent=Fit(curve, 0.0, error, 20, fits, True))


def test_a_second_term_confirms_and_refutes_only_what_the_line_refutes_too() -> None:
    far, near = 0.1, 0.001  # a hundred and one errors of the line, ten and a tenth of one of the other
    for line, curve, verdict in (
        (near, near, "CONFIRMED"), (far, near, "CONFIRMED"), (far, far, "REFUTED"), (near, far, "INCONCLUSIVE"),
    ):  # fmt: skip
        assert combine([bent(line, curve)]).verdict == "INCONCLUSIVE"  # a line alone
        found = combine([bent(line, curve)], curved=True)
        assert found.verdict == verdict
        assert found.comparisons[0].extrapolated == 1.0 + curve
        assert found.comparisons[0].tolerance == pytest.approx(0.01 * finite_size.deviates(0, 20, 1e-3)[1])
    # Its larger error counts in what would have been caught, it has to fit where that can be told, and where the line
    # fits nobody asks for it.
    assert combine([bent(near, near, error=0.1)], curved=True).verdict == "INCONCLUSIVE"
    assert combine([bent(near, near, fits=1e-9)], curved=True).verdict == "INCONCLUSIVE"
    assert combine([replace(judged("x"), bent=Fit(far, 0.0, 1e-3, 20, None, True))], curved=True).verdict == "CONFIRMED"
    # The line's own limit is that of the share of the level: 4.1 errors at half of it, 3.8 at the whole.
    between = [1e-3 * sum(finite_size.deviates(0.0, 20, finite_size.FALSE_ALARM / k)[1] for k in (1, 2)) / 2, far]
    assert combine([bent(*between)], curved=True).verdict == "REFUTED"
    assert combine([bent(*between), judged("y")], curved=True).verdict == "INCONCLUSIVE"


def test_what_is_required_has_to_be_confirmed_and_nothing_else() -> None:
    noisy = judged("noisy", error=1.0)
    assert combine([judged("x"), noisy]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), noisy], required=["x"]).verdict == "CONFIRMED"
    assert combine([judged("x"), noisy], required=["noisy"]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), noisy], required=["z"]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), replace(noisy, samples=30)]).samples == 30


def test_all_options_reach_both_halves_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(finite_size, "compare", lambda name, sizes, **more: seen.append((name, sizes, more)) or name)
    monkeypatch.setattr(finite_size, "combine", lambda found, **more: (found, more))
    options: dict[str, Any] = {"required": ["b"], "level": 0.2, "fit_level": 0.3, "curved": True}
    found = compare_all({"a": SIZES, "b": SIZES[:1]}, limits={"a": 1.0}, scales={"b": 2.0}, **options)
    assert found == (["a", "b"], options)  # type: ignore[comparison-overlap]
    assert seen == [("a", SIZES, {"limit": 1.0, "scale": None}), ("b", SIZES[:1], {"limit": None, "scale": 2.0})]


# ---- simulation and scaling as evidence ----

U, F = sp.Symbol("u", real=True), sp.Function("f")
STATEMENT = sp.Eq(norm, U + F(U))


def functions_of(shift: float) -> Mapping[str, Any]:
    return {"f": lambda u: 0.0 * u + shift}


def models(*_: object) -> Mapping[str, tuple[Measured, ...]]:
    """Two models, one above its prediction and one further below it; the second one is the noisier one."""
    sizes: dict[str, tuple[Measured, ...]] = {}
    for k, (name, off, fluctuation) in enumerate((("above", 0.003, 1), ("below", -0.02, 2))):
        sizes[name] = tuple(
            Measured(one.dimension, one.samples, {"u": 0.5 + k}, functions_of(0.5), fluctuation)
            for one in (observed(d, 1.0 + k + off, 0.0, fluctuation, k) for d in (100, 200, 400))
        )  # fmt: skip
    return sizes


def test_of_several_models_the_worst_deviate_and_the_bluntest_comparison_are_kept() -> None:
    check = BySimulation("toy", models)
    found = check.run(claim(statement=STATEMENT), QUICK, PAPER)
    report = compare_all({
        name: [Observation(m.dimension, m.samples, m.values["u"] + 0.5, m.fluctuation) for m in sizes]
        for name, sizes in models().items()
    })  # fmt: skip
    above, below = report.comparisons
    assert above.z is not None
    assert below.z is not None
    assert abs(below.z) > abs(above.z) > 0.0 > below.z
    assert above.smallest_detectable is not None
    assert below.smallest_detectable is not None
    assert above.smallest_detectable > below.smallest_detectable
    assert found == FiniteSize(
        "simulation: toy", 24, below.z, below.critical_z or 0.0, above.smallest_detectable,
        proofs.Outcome(found.outcome), report.sentence,
    )  # fmt: skip
    assert found.outcome is {"CONFIRMED": Outcome.SUPPORTS, "REFUTED": Outcome.REFUTES}[report.verdict]
    places = check.places(claim(statement=STATEMENT), QUICK)
    assert [place.values["u"] for place in places] == [0.5] * 3 + [1.5] * 3
    assert all(place.functions["f"](1.0) == 0.5 and not place.exponent for place in places)


def test_a_scaling_is_of_its_worst_model_and_knows_its_functions() -> None:
    def series(*_: object) -> Mapping[str, Scaled]:
        found = {}
        for name, power, count in (("up", 1.01, 9), ("down", 0.9, 5)):
            drawn = random.Random(name)
            samples = tuple(tuple(d**power * drawn.lognormvariate(0, 0.02) for _ in range(count)) for d in (64, 256))
            found[name] = Scaled((64, 256), samples, {"u": 0.4}, functions_of(0.6))
        return found

    check = ByScaling("toy", series)
    found = check.run(claim(statement=STATEMENT), QUICK, PAPER)
    report = scaling_check.scaling.compare_all(
        [scaling_check.scaling.Series(name, m.dimensions, m.samples, 1.0) for name, m in series().items()]
    )
    up, down = report.comparisons
    assert abs(down.z) > abs(up.z)
    assert down.smallest_detectable > up.smallest_detectable
    assert isinstance(found, FiniteSize)
    assert (found.z, found.threshold, found.experiments) == (down.z, down.critical_z, 9)
    assert found.smallest_detectable == down.smallest_detectable
    places = check.places(claim(statement=STATEMENT), QUICK)
    assert [(place.values, place.functions["f"](1.0), place.exponent) for place in places] == [
        ({"u": 0.4}, 0.6, True)
    ] * 2


# ---- numbers ----

TOLERANCE = Tolerance(0.1, "so")


def test_a_check_with_points_of_its_own_takes_so_many_and_a_mutant_meets_the_same_ones() -> None:
    seen: list[Point] = []

    def measured(point: Point) -> Mapping[str, float]:
        seen.append(dict(point))
        return {"N": 1.0}

    stated = claim(statement=sp.Eq(norm, 1))
    drawn: dict[Any, list[Point]] = {}
    for points, given_seed in ((None, 0), (5, 0), (5, 3)):
        check = ByNumbers("drawn", measured, TOLERANCE, points=points, finite_size=points is None)
        for name, one in (("own", stated), ("mutant", replace(stated, id=f"{stated.id}~a sign"))):
            at_points._measured.cache_clear()
            seen.clear()
            found = check.run(one, replace(QUICK, seed=given_seed), PAPER)
            drawn[points, given_seed, name] = list(seen)
            assert (found.points, found.asked) == ((points or QUICK.points),) * 2  # type: ignore[union-attr]
            assert found.finite_size == (points is None)  # type: ignore[union-attr]
        places = check.places(stated, replace(QUICK, seed=given_seed))
        assert [{k: v for k, v in place.values.items() if k != "N"} for place in places] == list(seen)
        assert drawn[points, given_seed, "own"] == drawn[points, given_seed, "mutant"]
    assert drawn[5, 0, "own"] == drawn[None, 0, "own"][:5] != drawn[5, 3, "own"]
    at_points._measured.cache_clear()
    ByNumbers("another", measured, TOLERANCE, points=5).run(stated, QUICK, PAPER)
    assert seen[-5:] != drawn[5, 0, "own"]


def test_an_agreement_is_of_its_worst_point_and_as_blunt_as_its_sharpest_point() -> None:
    errors = ((0.01, 3.0), (0.05, 2.0), (0.02, 7.0))
    found = [(at_points.Violation(error, scale), f"at {error}") for error, scale in errors]
    agreement = _agreement("numbers", found, 4, TOLERANCE)
    assert (agreement.points, agreement.asked, agreement.worst, agreement.worst_at) == (3, 4, 0.05, "at 0.05")
    assert (agreement.tolerance, agreement.reason) == (0.1, "so")
    assert agreement.smallest_detectable == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("left", "right", "scale"),
    [(2.0, 2.5, 1.0), (1e-5, -2e-5, 50.0), (0.0, 1e-4, 10.0), (0.0, 0.0, float("inf")), (1e-3, 0.0, 1.0)],
)
def test_sides_below_a_thousandth_are_measured_against_it(left: float, right: float, scale: float) -> None:
    found = relation_violation(sp.Eq(U, norm, evaluate=False), Place({"u": left, "N": right}))
    assert found.scale == pytest.approx(scale)
    assert found.error == pytest.approx(abs(left - right) / max(abs(left), abs(right), 1e-3))


def test_an_average_within_an_average_is_on_the_shifted_grid_as_well() -> None:
    from giantsteps.derivations.language.expectation import Expectation

    z, w = sp.symbols("z w", real=True)
    # A jump between two points of the grid lies elsewhere among those of the shifted one.
    jump = sp.Heaviside(w - sp.Rational(1, 100))
    nested, outer = Expectation(Expectation(jump, w) + z**2, z), Expectation(jump, w)
    plain, shifted = (evaluate_all((nested, outer), {}, shifted=one) for one in (False, True))
    assert abs(plain[1] - shifted[1]) > 1e-3
    for averages in (plain, shifted):
        assert averages[0] == pytest.approx(averages[1] + 1.0, abs=1e-12)


# ---- theorems ----


def test_a_theorem_assumes_what_its_domain_leaves_open_and_takes_a_limit_where_any_part_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    holds = Settled(IS_A_THEOREM, Outcome.SUPPORTS, "")
    monkeypatch.setattr(proofs, "on_domain", lambda theorems, domain: (holds, ("assumed",)))
    monkeypatch.setattr(proofs, "made", lambda *theorems: theorems)
    monkeypatch.setattr(proofs, "_limits", lambda theorem: theorem == "a limit")
    monkeypatch.setattr(ByTheorem, "_made", lambda self, part: "a limit" if part.rhs == 1 else "another")
    both = sp.And(sp.Eq(norm, 1, evaluate=False), sp.Eq(norm, 2, evaluate=False), evaluate=False)
    for statement, limit in ((both, True), (sp.Eq(norm, 1), True), (sp.Eq(norm, 2), False)):
        found = ByTheorem("toy", lambda _: None, ("said",)).run(claim(statement=statement), QUICK, PAPER)  # type: ignore[arg-type, return-value]
        assert isinstance(found, Proof)
        assert (found.check, found.obligations, found.takes_limit) == ("theorem: toy", (holds,), limit)
        assert found.hypotheses == ("said", "assumed")
        assert len(found.theorem) == (2 if statement is both else 1)  # type: ignore[arg-type]


def test_what_is_made_of_several_theorems_is_of_each() -> None:
    whole = derivation().steps[0].theorem
    assert whole is not None
    part = next(iter(nodes(whole)))
    one, other, both = made(whole), made(part), made(whole, part)
    assert both.digests == (*one.digests, *other.digests)
    assert len(set(both.digests)) == 2
    assert dict(both.rules)[part.rule] == dict(one.rules)[part.rule] + 1
    assert set(both.assumptions) == set(one.assumptions) | set(other.assumptions)


# ---- what a search draws ----


def drawn_from(coordinate: Range) -> list[Any]:
    found: list[Any] = []
    many = settings(
        max_examples=40, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    seed(1)(many(given(coordinate_of(coordinate))(lambda one: found.append(one))))()
    return found


def test_a_search_draws_every_choice_and_numbers_even_in_what_the_range_says() -> None:
    assert set(drawn_from(Range("name", choices=tuple("abcde")))) == set("abcde")
    for log, middle in ((True, 1.0), (False, 5000.0)):
        found = drawn_from(Range("x", 1e-4, 1e4, log=log))
        assert 1e-4 <= min(found) < max(found) <= 1e4 * (1 + 1e-12)
        # Of 40 draws a share of under a fifth is four deviations off; drawn the other way it is none.
        assert 1 / 5 < sum(one < middle for one in found) / len(found) < 4 / 5


def test_each_of_several_scalings_is_decided_at_its_share_of_both_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    right = scaling_check.scaling.compare

    def compared(series: Any, **levels: float) -> Any:
        seen.append(levels)
        return right(series, **levels)

    monkeypatch.setattr(scaling_check.scaling, "compare", compared)
    three = [scaling_check.scaling.Series(name, (64,), ((1.0,),), 1.0) for name in "abc"]
    scaling_check.scaling.compare_all(three, level=0.3, fit_level=0.6)
    assert seen == [{"level": pytest.approx(0.1), "fit_level": pytest.approx(0.2)}] * 3

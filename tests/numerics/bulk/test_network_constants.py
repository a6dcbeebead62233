"""How far averages behind a network's law may be off: what the estimates are made of, and when rules are refined."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import Activation, activation
from giantsteps.numerics.bulk import network, network_constants
from giantsteps.numerics.bulk import network_law as network_law_module
from giantsteps.numerics.bulk.network_constants import (
    Labels,
    _apart,
    _blurred,
    _slope_averages,
    labels,
    labels_from,
    row_sizes,
    slope_constants,
)
from giantsteps.numerics.bulk.network_law import groups_law, network_law
from giantsteps.numerics.bulk.resolvent import Rows, steepest
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.quadrature import ROUNDING, slope_integrand

SIN = activation("sin")


@pytest.mark.parametrize(("student", "both"), [("tanh", False), ("relu", True)])
def test_an_error_of_the_line_counts_in_units_of_what_is_left(
    student: str, both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def error(h1: float, curvature: float) -> float:
        def known(of: Activation, refine: int = 0) -> Any:
            found = hermite_constants(of, refine)
            return replace(found, errors=found.errors._replace(h1=h1, curvature=curvature))

        monkeypatch.setattr(network_constants, "hermite_constants", known)
        return float(slope_constants.__wrapped__(activation(student)).error)

    size = math.sqrt(slope_constants(activation(student)).square)
    least = error(0.0, 0.0)
    assert ROUNDING <= least < 1e-12
    # A ten-thousandth of h1 is added to s, and a little more where s is small.
    assert error(1e-9, 0.0) == pytest.approx(1e-9 / size, rel=1e-3)
    assert error(1e-9, 3e-9) == pytest.approx((4e-9 if both else 1e-9) / size, rel=1e-3)


def test_what_is_rounding_has_a_ten_thousandth_of_the_line_as_its_size() -> None:
    # sigma' = 1 + z: s = 0 to rounding, and |s| counts as 1e-4 (1 + |z|).
    found, sizes = _slope_averages(slope_integrand(activation("z + z**2/2")), (1.0, 1.0), 0)
    moment = [1.0, math.sqrt(2.0 / math.pi), 1.0, 2.0 * math.sqrt(2.0 / math.pi), 3.0, 8.0 * math.sqrt(2.0 / math.pi)]

    def mean(power: int, far: int) -> float:
        """E[|z|^far (1e-4 (1 + |z|))^power]."""
        return 1e-4**power * sum(math.comb(power, k) * moment[far + k] for k in range(power + 1))

    expected = [mean(2, 0), mean(1, 2), mean(2, 2), mean(3, 0), mean(4, 0), mean(1, 3), mean(2, 1), mean(3, 1)]
    # Panels of a smooth s do not end on the kink of |z|.
    assert sizes.tolist() == pytest.approx(expected, rel=1e-3, abs=0.0)
    assert np.max(np.abs(found) / sizes) < 1e-10


def rule(scales: dict[int, float] | None = None, far: float = 0.1) -> Labels:
    """Labels -1, 1/2 and a hundred, of which rows of the table are off."""
    known = labels_from(np.array([-1.0, 0.5, 100.0]), np.array([[0.5, 0.4, far], [-0.3, 0.2, far], [0.3, 0.9, far]]))
    table = known.table.copy()
    for row, scale in (scales or {}).items():
        table[row] *= scale
    return replace(known, table=table)


def settled(
    monkeypatch: pytest.MonkeyPatch, rules: list[Labels], largest: float = 0.01, first: float = 0.0, noise: float = 0.0
) -> tuple[int, float, list[Any]]:
    """Which of the rules is the one of `labels`, its error, and what they were asked for."""
    asked: list[Any] = []
    rules = [replace(one, table=one.table.copy()) for one in rules]

    def made(target: Activation, noise: float, largest: float, centre: float, refine: int) -> Labels:
        asked.append((noise, largest, centre))
        return rules[refine]

    monkeypatch.setattr(network_constants, "_labels", made)
    network_constants._plainly_apart.cache_clear()
    found = labels.__wrapped__(SIN, noise, largest, 0.25, first)
    network_constants._plainly_apart.cache_clear()
    return next(k for k, one in enumerate(rules) if one.table is found.table), float(found.error), asked


@pytest.mark.parametrize("row", [1, 3, 12, 13])
def test_the_error_of_labels_is_the_power_of_what_a_finer_rule_moved(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = rule(far=0.0)
    for moved in (1e-9, 4e-9):
        level, error, _ = settled(monkeypatch, [rule({row: 1.0 + moved}, far=0.0), fine], largest=1e-9)
        assert level == 1
        # Relative to the average and a thousandth of the largest of its size: all are of order one here.
        assert error == pytest.approx(moved**1.5 + ROUNDING, rel=0.1, abs=0.0)
    assert settled(monkeypatch, [fine, fine])[1] == ROUNDING


def test_rules_are_refined_until_both_ways_to_look_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    # A weight of the label 100 is not seen beside D = 1 + 0.01 Y^2 of a hundred, and rows of few labels plainly.
    plain = [rule(far=1e-9 + 1e-12), rule(far=1e-9), rule(far=1e-9)]
    assert settled(monkeypatch, plain, largest=50.0)[0] == 2
    # And one beside a zero of D, at Y = -1 for b1 = 2 b2 = 2, is seen there alone.
    there = labels_from(np.array([-1.0, 0.5]), np.array([[1e-9, 1.0], [0.0, 0.5], [1e-9, 1.0]]))
    off = labels_from(np.array([-1.0, 0.5]), np.array([[1.01e-9, 1.0], [0.0, 0.5], [1e-9, 1.0]]))
    assert settled(monkeypatch, [off, there, there], largest=1.0, first=1.9999)[0] == 2
    assert settled(monkeypatch, [off, there, there], largest=1.0, first=0.0)[0] == 1
    # E[u Y] is no average over D, and counts too.
    fine = rule()
    tilted = replace(fine, first=fine.first * np.array([1.0 + 1e-6, 1.0, 1.0]))
    assert settled(monkeypatch, [tilted, fine, fine])[0] == 2


@pytest.mark.parametrize(
    ("first", "noise", "sharpness"), [(0.0, 0.3, 0.5), (1.2, 0.3, 4 * 0.25 / (2 - 1.44)), (1.2, 0.0, 0.0)]
)
def test_poles_are_as_far_off_as_their_denominator_says(
    first: float, noise: float, sharpness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, asked = settled(monkeypatch, [rule(), rule()], 0.5, first, noise)
    # 1/sharpness is the square of their height: that of the zeros of 1 + b1 Y + b2 Y^2.
    if sharpness and first:
        assert 1.0 / sharpness == pytest.approx(np.roots([0.5, first, 1.0])[0].imag ** 2, rel=1e-12)
    for one in asked:
        assert one == (noise, pytest.approx(sharpness, rel=1e-12), 0.25)


@pytest.mark.parametrize(("student", "noise"), [("relu", 0.3), ("tanh(z + 1)", 0.0), ("erf(30*z)", 0.0)])
def test_both_kinds_of_averages_count_in_the_error_of_a_law(student: str, noise: float) -> None:
    law = network_law(activation(student), activation("sign"), 2.0, 3.0, 1.0, noise)
    assert law.labels.error > 0.0
    assert law.error == slope_constants(activation(student)).error + law.labels.error


def test_the_worst_group_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    stepped, given = SimpleNamespace(step=1), SimpleNamespace(step=None)
    for errors in ((1e-9, 1e-12), (1e-12, 1e-9)):
        laws = [SimpleNamespace(error=error) for error in errors]
        monkeypatch.setattr(network, "step_laws", lambda model, laws=laws: laws)
        assert network.law_error(stepped) == 1e-9  # type: ignore[arg-type]
        assert network.law_error(given) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_groups_share_the_labels_of_the_longest_step(order: tuple[int, int]) -> None:
    # A weight of minus two turns further than one of one, whatever its sign.
    laws = [
        network_law(activation("relu"), SIN, 2.0, 3.0, 1.0, 0.0, weight=weight, centre=0.0) for weight in (1.0, -2.0)
    ]
    found = groups_law(tuple(laws[k] for k in order), (0.5, 0.5))
    assert found.labels is laws[1].labels
    assert found.direction == laws[1].direction
    assert found.turn.tolist() == [laws[k].turn for k in order]


def test_rows_that_vanish_by_symmetry_are_apart_by_shares_of_their_size() -> None:
    # Of a size of one, and where no size is known of the largest average, a thousandth is what nothing can vanish from.
    def apart(coarse: list[float], fine: list[float], sizes: list[float]) -> float:
        return network_constants._apart(*map(np.array, (coarse, fine, sizes)))

    assert apart([1e-12, 0.0], [0.0, 0.0], [1.0, 1.0]) == pytest.approx(1e-9, rel=1e-12, abs=0.0)
    assert apart([1e-12, 2.0], [0.0, 2.0], [0.0, 0.0]) == pytest.approx(5e-10, rel=1e-12, abs=0.0)
    assert apart([4.0 + 4e-9, 0.0], [4.0, 0.0], [4.0, 4.0]) == pytest.approx(1e-9 / 1.001, rel=1e-6, abs=0.0)


@pytest.mark.parametrize(("b1", "b2"), [(0.0, 0.0), (0.4, 0.7), (-0.3, 1.0)])
def test_rows_with_u_have_sizes_by_cauchy(b1: float, b2: float) -> None:
    found = labels(activation("tanh(z + 0.3) + 0.2*z**2"), 0.0, 1.0)
    rows, y = found.over(b1, b2)[:, 0], found.nodes
    sizes, shrunk = row_sizes(rows, b1, b2), 1.0 / (1.0 + y * (b1 + b2 * y))
    one, along = (found.table[k] / y @ shrunk for k in (0, 12))
    # |E[u Y^(k + 1)/D]|^2 <= E[u^2 Y^2/D] E[Y^2k/D], and |E[u^2 Y/D]|^2 <= E[u^2/D] E[u^2 Y^2/D].
    assert sizes[8:12] == pytest.approx([math.sqrt(rows[13] * rows[k]) for k in (1, 3, 5, 7)], rel=1e-12)
    assert sizes[12] == pytest.approx(math.sqrt(along * rows[13]), rel=1e-9)
    even = np.array([one, *rows[1:8:2]])
    assert sizes[0:8:2] == pytest.approx(np.sqrt(even[1:] * even[:-1]), rel=1e-9)


def test_how_far_two_rules_are_apart_knows_no_unit() -> None:
    coarse, fine = np.array([1.0, -2.0, 1e-9]), np.array([1.1, -2.0, 2e-9])
    # 0.1 of 1.1 and a thousandth of the largest, which stands in for the size of what is about zero.
    expected = 0.1 / (1.1 + 2e-3)
    for unit in (1.0, 1e-8, 1e8):
        assert _apart(unit * coarse, unit * fine, np.zeros(3)) == pytest.approx(expected, rel=1e-12)
    assert _apart(np.zeros(2), np.zeros(2), np.zeros(2)) == 0.0


@pytest.mark.parametrize(
    ("target", "moment"),
    [
        # E[z^(3 k)], E[exp(k z/2)], and E[(z + 1)^k] by the binomial theorem.
        ("z**3", lambda k: 0.0 if k % 2 else float(math.prod(range(1, 3 * k, 2)))),
        ("exp(z/2)", lambda k: math.exp(k * k / 8.0)), ("exp(z)", lambda k: math.exp(k * k / 2.0)),
        ("z + 1", lambda k: float(sum(math.comb(k, 2 * n) * math.prod(range(1, 2 * n, 2)) for n in range(k // 2 + 1)))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("noise", [0.0, 0.25, 4.0])
def test_labels_that_grow_are_followed_far_enough(target: str, moment: Callable[[int], float], noise: float) -> None:
    # The eighth power of a label grows faster than it does: E[(g + s e)^k] = sum of C(k, 2 n) (2 n - 1)!! s^2n E[g^m],
    # m = k - 2 n. What e is followed to is a number of deviations, whether s is below one or above.
    found = labels(activation(target), noise, 0.3)
    for k in range(9):
        terms = (
            math.comb(k, n) * math.prod(range(1, n, 2)) * noise ** (n / 2) * moment(k - n) for n in range(0, k + 1, 2)
        )
        size = max(found.moments[2 * (k // 2)], found.moments[min(2 * ((k + 1) // 2), 8)])
        assert found.moments[k] == pytest.approx(sum(terms), rel=1e-10, abs=1e-10 * size), k


@pytest.mark.parametrize("noise", [0.2, 1.5])
def test_a_rule_is_planned_for_the_labels_that_it_is_a_rule_for(noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where b1 and b2 lead to is found on a coarse rule, and is that of the fine one: with the same noise and centre.
    asked: list[tuple[float, ...]] = []
    plain = labels

    def watched(target: Activation, *given: float) -> Labels:
        asked.append(given)
        return plain(target, *given)

    monkeypatch.setattr(network_law_module, "labels", watched)
    given: Any = activation("relu"), activation("sin(z + 1/2)"), 1.3, 6.0, 0.9, noise
    law = network_law.__wrapped__(*given, False, -1.5)
    ((width, b2, centre, b1),) = asked
    assert width == noise
    assert centre == pytest.approx(-1.5 / math.sqrt(2.0 * math.pi), rel=1e-12)
    assert isinstance(law.labels, Labels)
    # A share of 3e-3 is asked for on either.
    there = steepest(Rows(1.3, law.omega, law.turn), law.labels)
    assert (b1, b2) == pytest.approx(there, rel=1e-2)
    other = steepest(Rows(1.3, law.omega, law.turn), plain(given[1], noise, b2, 0.0, b1))
    assert abs(other[0] / b1 - 1.0) > 0.05


@pytest.mark.parametrize(("alpha0", "noise"), [(0.25, 0.3), (5.0, 0.3), (0.25, 0.0), (5.0, 0.0)])
def test_labels_are_fine_enough_for_every_resolvent_and_hardly_finer(
    alpha0: float, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Up to l = omega/alpha0; without noise in steps of a quarter of an octave, so that similar steps share a rule.
    asked: list[float] = []

    def recorded(target: Activation, noise: float, largest: float, centre: float = 0.0, first: float = 0.0) -> Labels:
        assert (target, centre, first) == (SIN, 0.1, 0.0)
        asked.append(largest)
        return labels(target, noise, largest, centre, first)

    monkeypatch.setattr(network_law_module, "labels", recorded)
    for omega in (1.3, 1.301, 0.0):
        network_law_module._labels_for(SIN, noise, 0.1, alpha0, omega, 0.0)
    if noise:
        assert asked == [1.3 / alpha0, 1.301 / alpha0, 0.0]
    else:
        assert asked[0] == asked[1]
        assert 1.301 / alpha0 <= asked[0] <= 2**0.25 * 1.3 / alpha0
        assert asked[2] == 0.0


def test_a_rule_of_labels_is_about_zero_and_without_a_slope_unless_it_is_said() -> None:
    found = labels(SIN, 0.2, 0.5)
    for name in ("nodes", "table", "moments"):
        assert np.array_equal(getattr(found, name), getattr(labels(SIN, 0.2, 0.5, 0.0, 0.0), name))
    assert found.mean == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("frequency", [9, 40])
def test_the_first_rule_along_u_is_fine_enough_for_the_eighth_power(frequency: int) -> None:
    # E sin^2k(w z) = C(2 k, k)/4^k up to exp(-2 w^2): a rule for the label alone would alias the overtones.
    found = network_constants.coarse_labels(activation(f"sin({frequency}*z)"), 0.0, 0.5, 0.0)
    expected = [math.comb(2 * k, k) / 4.0**k for k in range(5)]
    assert found.moments[::2].tolist() == pytest.approx(expected, rel=1e-12)
    assert np.abs(found.moments[1::2]).max() < 1e-13


def test_agreement_counts_in_sizes_over_the_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    # Labels +-1 and, once in 10^12, +-100: at b2 = 1e6 averages over D are a millionth of what they are without it, and
    # E[Y/D] = 0 has the size of E[1/D]. Without D the eighth power of the rare labels hides what is off.
    y, rare = np.array([-100.0, -1.0, 1.0, 100.0]), 1e-12
    one = np.array([0.5 * rare, 0.5, 0.5, 0.5 * rare])
    fine = labels_from(y, np.array([one, 0.0 * one, one]))
    table = fine.table.copy()
    table[0, 1] += 4e-12
    level, error, _ = settled(monkeypatch, [replace(fine, table=table), fine], largest=1e6)
    assert level == 1
    # A thousandth of the largest average over D, 1e-6: E[Y^8/D] of the rare labels and of all others, 2e-6.
    assert error == pytest.approx((4e-12 * 1e-6 / (1e-3 * 2e-6)) ** 1.5 + ROUNDING, rel=0.02, abs=0.0)


def test_labels_blurred_row_by_row_are_those_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    # Steps of 0.1 and a reach of 90 of them: noises that share many places or one, one that begins right behind
    # another, two around one place, and one far away. `_labels` keeps rules, and would give the table's twice.
    y = 0.1 * np.array([0.0, 0.3, 7.0, 187.0, 368.0, 550.0, 550.0, -4000.0])
    moments = np.array([np.arange(1.0, 9.0), np.cos(np.arange(8.0)), y * y])
    found = []
    for longest in (10**9, 0):
        monkeypatch.setattr(network_constants, "_LONG_ROW", longest)
        found.append(_blurred(y, moments, 1.0, 0.1, 0.0))
    (nodes, table), (same, rows) = found
    assert np.array_equal(nodes, same)
    # 181 places each, less those that 7 shares with 0, and the one that 187 shares with 7.
    assert len(nodes) == 181 + 7 + 180 + 3 * 181
    assert rows == pytest.approx(table, rel=1e-12, abs=1e-300)  # the same sums
    # A Gaussian of width 1 around every y: the trapezoidal rule of step 0.1 is exact to rounding, and beyond 9 nothing.
    for power, moment in enumerate((moments.sum(axis=1), moments @ y, moments @ (y * y + 1.0))):
        assert rows @ nodes**power == pytest.approx(moment, rel=1e-12)

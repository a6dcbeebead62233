"""Hermite tensors: exact moments against product rules, leap indices, leap spaces; the calculus of exponents."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import hermite_tensors as tensors
from giantsteps.derivations.gradient_step import intermediate_rate, leap_scaling
from giantsteps.derivations.gradient_step.hermite_tensors import entry, leap_index, spanned, tensor, z1, z2, z3, z4
from giantsteps.derivations.kernel.algebra import assume, differentiate
from giantsteps.derivations.kernel.limits import limit_compose, limit_rational
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Assumption, Equation, Ground, Refused
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.verify.second_route.gradient_step import leap as leap_numbers
from giantsteps.verify.second_route.grids import grid

TWO = (z1, z2)


def numerical(target: sp.Expr, index: tuple[int, ...]) -> float:
    """An entry by a product Gauss-Hermite rule, straight from its definition."""
    points, weights = grid(2)
    values = sp.lambdify(TWO, target, "numpy")(points[:, 0], points[:, 1])
    he = np.polynomial.hermite_e
    for j in range(2):
        values = values * he.hermeval(points[:, j], [0.0] * index.count(j) + [1.0])
    return float(weights @ values)


SMOOTH = (z1**3 * z2 + z2**2 - 2, sp.sin(z1) * z2, sp.cos(z1) * z2**2)


@pytest.mark.parametrize("target", SMOOTH, ids=str)
def test_tensors_of_smooth_targets_agree_with_a_product_rule(target: sp.Expr) -> None:
    for order in range(4):
        for index, exact in tensor(target, TWO, order).items():
            # 60 nodes per direction integrate these entire functions to rounding, a few thousand terms of order one.
            assert float(exact) == pytest.approx(numerical(target, index), abs=1e-10)


def test_signs_and_absolute_values() -> None:
    # E|z| = sqrt(2/pi), E|z|^3 = 2 sqrt(2/pi), E[z sign z] = E|z|: half-line integrals.
    found = [entry(target, (z1,), ()) for target in (sp.Abs(z1), sp.Abs(z1) ** 3, z1 * sp.sign(z1), sp.sign(z1))]
    assert [sp.simplify(one / sp.sqrt(2 / sp.pi)) for one in found] == [1, 2, 1, 0]
    assert leap_index(sp.sign(z1) * sp.sign(z2), TWO) == 2


@pytest.mark.parametrize(
    ("target", "variables", "leap"),
    [
        (z1 + z1 * z2 + z1 * z2 * z3, (z1, z2, z3), 1),  # the worked examples of the theory
        (z1 * z2 * z3 * z4, (z1, z2, z3, z4), 4),
        *((tensors.hermite(k, z1), (z1,), k) for k in range(1, 7)),
        (z1**2, (z1,), 2),  # constants do not count
        (z1**3, (z1,), 1),  # He_3 + 3 z
        (sp.cos(z1) + z1 * z2, TWO, 2),  # even in z1
    ],
    ids=str,
)
def test_leap_indices(target: sp.Expr, variables: tuple[sp.Symbol, ...], leap: int) -> None:
    assert leap_index(target, variables) == leap


def test_a_constant_has_no_leap_index() -> None:
    with pytest.raises(ValueError, match="vanish up to order"):
        leap_index(sp.Integer(3), (z1,))


def test_leap_spaces() -> None:
    assert value(spanned(*tensors.STAIRCASE)[1]) == 1
    # He_2 along (2, 1)/sqrt 5: a tensor of rank one.
    along = (2 * z1 + z2) / sp.sqrt(5)
    assert value(spanned(sp.expand(along**2 - 1), TWO)[1]) == 1


def test_the_rank_counts_the_singular_values() -> None:
    target, variables = z1 * z2 * z3 + 2 * z1**2 * z2 - 2 * z2, (z1, z2, z3)
    entries = tensor(target, variables, 3)
    unfolded = [[float(entries[tuple(sorted((i, j, k)))]) for j in range(3) for k in range(3)] for i in range(3)]
    values = np.linalg.svd(np.array(unfolded), compute_uv=False)
    determinant, rank = spanned(target, variables)
    assert value(rank) == np.sum(values > 1e-12) == 3  # rounding of a 3 x 9 decomposition
    polynomial = sp.lambdify(sp.Symbol("X", positive=True), value(determinant))
    assert polynomial(0.7) == pytest.approx(np.prod(1 + 0.7 * values**2), rel=1e-12)
    replay(rank)


def test_leap_index_and_tensor_norm_do_not_depend_on_the_basis() -> None:
    c, q = sp.Rational(3, 5), sp.Rational(4, 5)  # a rotation with rational entries
    target = z1**2 * z2 - z2
    rotated = sp.expand(target.subs({z1: c * z1 - q * z2, z2: q * z1 + c * z2}, simultaneous=True))
    assert leap_index(rotated, TWO) == leap_index(target, TWO) == 3

    def square(polynomial: sp.Expr) -> sp.Expr:
        entries = tensor(polynomial, TWO, 3)
        return sum(entries[tuple(sorted(i))] ** 2 for i in itertools.product(range(2), repeat=3))

    assert square(rotated) == square(target)


# ---- orders ----


def test_visible_terms_are_counted() -> None:
    """Rates inside the first six intervals between thresholds, and the exponents of the terms one by one."""
    s = intermediate_rate.s
    counted, margin = intermediate_rate.count().results[s.spike_count], intermediate_rate.norms().results[s.margin_rate]
    for ell, inside in itertools.product(range(1, 7), (sp.Rational(1, 9), sp.Rational(1, 2), sp.Rational(8, 9))):
        rate = {s.eta_rate: 1 - 1 / (2 * (ell + inside))}
        visible = [k for k in range(1, 20) if margin.subs(rate).subs(s.taylor_order, k) > 0]
        assert counted.subs(rate) == len(visible) == ell


def test_nothing_is_known_of_a_ceiling_but_its_argument() -> None:
    x, d = sp.Symbol("x", real=True), sp.Symbol("d", positive=True)
    assumed = Assumption(Ground.LEMMA, "ceiling", Equation(sp.ceiling(x), x), "false", frozenset({x}))
    with pytest.raises(Refused):
        differentiate((assume((), assumed),), x)
    with pytest.raises(Refused):
        limit_compose((limit_rational((), 1 / d, sp.Integer(0), d),), sp.ceiling(x), (x,))


def test_orders_agree_with_sizes_at_a_large_dimension() -> None:
    """max(d^a, d^b)/max(d^c, d^e) at d = 10^200 against the exponent found by the calculus."""
    log_d = 200 * math.log(10)
    s = leap_scaling.s
    for leap, delta in ((1, 0.3), (2, 0.7), (3, 1.4)):
        share = leap_scaling.share_below_one() if delta < 1 else leap_scaling.share_beyond_one()
        signal, n = -(leap - 1) / 2, leap - delta
        within, whole = max(signal, -n / 2), max(signal, (1 - n) / 2)
        exponent = share.results[s.overlap_rate].subs({s.shortfall: delta, s.leap: leap})
        assert float(exponent) * log_d == pytest.approx((within - whole) * log_d, rel=1e-12)


# ---- the law that the simulation of one step draws from ----


def full_step(d: int, n: int, rng: np.random.Generator) -> tuple[float, float]:
    """|pi| and |g - pi| of one neuron from all coordinates of all samples, overlaps tau/sqrt(d)."""
    tau = np.array([1.5, -1.0]) / math.sqrt(d)
    w = np.zeros(d)
    w[:2] = tau
    w[2] = math.sqrt(1 - tau @ tau)
    x = rng.standard_normal((n, d))
    g = (x[:, 0] + x[:, 0] * x[:, 1]) * (1 - np.tanh(x @ w) ** 2) @ x / n
    return float(np.hypot(g[0], g[1])), float(np.linalg.norm(g[2:]))


def test_the_reduced_step_has_the_law_of_the_full_one() -> None:
    d, n, runs = 30, 60, 800
    rng = np.random.default_rng(8)
    full = np.log([full_step(d, n, rng) for _ in range(runs)])
    name = next(iter(leap_numbers.PROBLEMS))
    drawn = [leap_numbers.one_step(name, (1.5, -1.0), d, n, k) for k in range(runs)]
    reduced = np.log([(math.hypot(a, b), rest) for a, b, rest, _ in drawn])
    for moment in (np.mean, np.std):
        gap = moment(full, axis=0) - moment(reduced, axis=0)
        # Standard error of the difference of two means; of two standard deviations it is smaller by sqrt 2 for normal
        # logarithms, up to their kurtosis. Five of them: false alarm below 1e-5 in all.
        assert np.all(np.abs(gap) < 5 * np.std(full, axis=0) * math.sqrt(2 / runs))

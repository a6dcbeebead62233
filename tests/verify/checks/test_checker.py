"""The trusted core: what it may discharge, what it has to refute, what it has to leave open."""

from __future__ import annotations

import re

import pytest
import sympy as sp

from giantsteps.derivations.language.derivation import NonNegative, RationalLimit, Vanishing
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import V1, alpha, c, d, kappa, n0, r
from giantsteps.verify.checks.checker import clear_witness, clearly_differ, find_witness, settle, vanishes
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.evidence import Outcome

mu0 = sp.Function("mu0")(kappa)
DOMAIN = Domain(ranges=(Range(c, 0.5, 2.0), Range(r, 0.1, 3.0)))
WITH_MU0 = Domain(interpretations=({"mu0": lambda k: k / (1 + k**2)},))


@pytest.mark.parametrize(
    "zero",
    [
        (r + c) ** 2 - r**2 - 2 * r * c - c**2,
        1 / (1 + c) - 1 + c / (1 + c),
        sp.sqrt(c) * sp.sqrt(2) / sp.sqrt(2 * c) - 1,
        sp.exp(r) * sp.exp(-r) - 1,
        1 / (1 + sp.sqrt(c)) - (1 - sp.sqrt(c)) / (1 - c),
        Expectation(alpha * mu0**2 + mu0, kappa) - alpha * Expectation(mu0**2, kappa) - Expectation(mu0, kappa),
        Expectation(1 / (1 + V1 * mu0**2), kappa) + V1 * Expectation(mu0**2 / (1 + V1 * mu0**2), kappa) - 1,
        Expectation(kappa**4, kappa) - 3,
    ],
)
def test_identities_are_discharged(zero: sp.Expr) -> None:
    assert settle(Vanishing("", zero), WITH_MU0, PAPER.growing).outcome is Outcome.SUPPORTS


@pytest.mark.parametrize(
    "wrong",
    [
        (r + c) ** 2 - r**2 - r * c - c**2,
        sp.sqrt(c) - c,
        sp.Float("1e-3") * r,
        Expectation(alpha * mu0**2, kappa) - Expectation(mu0**2, kappa),
        Expectation(kappa * mu0, kappa),
    ],
)
def test_wrong_identities_are_refuted_with_a_witness(wrong: sp.Expr) -> None:
    settled = settle(Vanishing("", wrong), WITH_MU0, PAPER.growing)
    assert settled.outcome is Outcome.REFUTES
    assert settled.witness


def test_a_witness_counts_inputs_and_samples_in_whole_numbers() -> None:
    wrong = d * r / n0 - c
    for residual in (wrong, wrong / 10**9):  # the second is too small to be clear as it stands
        settled = settle(Vanishing("", residual), DOMAIN, PAPER.growing)
        values = dict(re.findall(r"(\w+)=([\d.]+)", settled.witness))
        assert values.keys() >= {"d", "n_0"}
        assert values["d"].isdigit()
        assert values["n_0"].isdigit()


def test_what_cannot_be_decided_stays_open() -> None:
    # Two undefined functions without an interpretation: neither reducible nor evaluable.
    f, g = sp.Function("f")(kappa), sp.Function("g")(kappa)
    assert settle(Vanishing("", f - g), Domain(), PAPER.growing).outcome is Outcome.UNDECIDED


def test_a_true_identity_beyond_the_rewritings_is_open_not_refuted() -> None:
    # sin^2 + cos^2 - 1 needs a trigonometric rule that the checker does not have.
    residual = sp.sin(r) ** 2 + sp.cos(r) ** 2 - 1
    assert vanishes(residual) is None
    assert settle(Vanishing("", residual), DOMAIN, PAPER.growing).outcome is Outcome.UNDECIDED


HIDDEN = sp.sqrt(1 + c) * sp.sqrt(1 + 2 * c) - sp.sqrt(1 + 3 * c + 2 * c**2)


@pytest.mark.parametrize(
    ("expression", "value", "outcome"),
    [
        ((n0 - 1) / n0 * c + r / n0, c, Outcome.SUPPORTS),
        ((n0 - 1) / n0 * c + r / n0, r, Outcome.REFUTES),
        (c * n0, c, Outcome.REFUTES),
        (sp.sqrt(n0) / n0, sp.S.Zero, Outcome.UNDECIDED),
        # A leading coefficient that is zero, which only roots put together show.
        ((HIDDEN * n0**2 + n0) / (n0**2 + 1), sp.S.Zero, Outcome.SUPPORTS),
        ((HIDDEN * n0**3 + n0**2) / (n0**2 + 1), sp.S.Zero, Outcome.REFUTES),
    ],
)
def test_limits_of_rational_functions(expression: sp.Expr, value: sp.Expr, outcome: Outcome) -> None:
    assert settle(RationalLimit("", expression, n0, value), DOMAIN, PAPER.growing).outcome is outcome


def test_a_limit_may_not_depend_on_its_variable() -> None:
    assert settle(RationalLimit("", n0, n0, n0), DOMAIN, PAPER.growing).outcome is Outcome.UNDECIDED


def test_sums_of_squares() -> None:
    square = NonNegative("", c * r**2 + 2 * c * r + c, ((c, r + 1),))
    assert settle(square, DOMAIN, PAPER.growing).outcome is Outcome.SUPPORTS
    wrong = NonNegative("", c * r**2 + c * r + c, ((c, r + 1),))
    assert settle(wrong, DOMAIN, PAPER.growing).outcome is Outcome.REFUTES
    negative_weight = NonNegative("", -c * r**2, ((-c, r),))
    assert settle(negative_weight, DOMAIN, PAPER.growing).outcome is Outcome.UNDECIDED


def test_an_expectation_is_not_confused_with_its_free_variable() -> None:
    # kappa is averaged in one term and free in the other: not zero, although the integrands cancel.
    residual = Expectation(mu0, kappa) - mu0
    assert settle(Vanishing("", residual), WITH_MU0, PAPER.growing).outcome is Outcome.REFUTES


def test_a_witness_lies_in_the_domain() -> None:
    # Zero on the domain c > 0, r > 0 only if Abs is dropped: no witness may be found outside.
    assert find_witness(sp.Abs(r) - r, DOMAIN) == ""


def test_what_clearly_differs_is_seen_as_it_stands() -> None:
    average = Expectation(mu0**2 * kappa**2, kappa)
    assert clearly_differ(average, 2 * average, WITH_MU0)
    assert clearly_differ(c + r, c - r, DOMAIN)
    # One formula in two forms; one that differs by less, which is for a witness; one of a function that is not known.
    assert not clearly_differ((c + r) ** 2, c**2 + 2 * c * r + r**2, DOMAIN)
    assert not clearly_differ(c, c * (1 + sp.Rational(1, 10**4)), DOMAIN)
    assert not clearly_differ(average, 2 * average, DOMAIN)
    # Terms that cancel: what rounding leaves of them is no difference.
    assert not clearly_differ((c + r) ** 2 - c**2 - 2 * c * r - r**2, sp.S.Zero, DOMAIN)
    assert not clearly_differ(sp.sin(r) ** 2 + sp.cos(r) ** 2 - 1, sp.S.Zero, DOMAIN)
    root = sp.sqrt(r**2 + 10**16)
    assert not clearly_differ(root - 10**8, r**2 / (root + 10**8), DOMAIN)
    # The trapezoidal sum over a jump is 1/2 + 0.4/64 on one grid and exact on the other: not what the average is.
    assert not clearly_differ(Expectation(sp.Heaviside(kappa, 1), kappa), sp.Rational(1, 2), DOMAIN)


def test_a_clear_witness_is_told_as_any_other_and_rounding_is_none() -> None:
    for wrong in ((c + r) ** 2 - c**2 - r**2, sp.sin(r) - r, c * (1 + sp.Rational(1, 100)) - c):
        assert clear_witness(wrong, DOMAIN) == find_witness(wrong, DOMAIN) != ""
    root = sp.sqrt(r**2 + 10**16)
    rounded = (root - 10**8) - r**2 / (root + 10**8)
    for zero in ((c + r) ** 2 - c**2 - 2 * c * r - r**2, sp.sin(r) ** 2 + sp.cos(r) ** 2 - 1, rounded):
        assert clear_witness(zero, DOMAIN) == ""
        # One term, which is all rounding.
        assert clear_witness(c * zero, DOMAIN) == clear_witness(sp.exp(r) * zero, DOMAIN) == ""
    # What differs by less, and what has no value there, are left to others.
    small = sp.sin(r) ** 2 + sp.cos(r) ** 2 - 1 - sp.Rational(1, 10**4)
    assert clear_witness(small, DOMAIN) == ""
    assert find_witness(small, DOMAIN)
    assert clear_witness(c - mu0, DOMAIN) == ""


def test_rounding_beside_a_large_number_refutes_nothing() -> None:
    zero = 10**12 * c * r * ((c + r) ** 2 - c**2 - 2 * c * r - r**2)
    assert settle(Vanishing("says", zero), DOMAIN, frozenset()).outcome is Outcome.SUPPORTS

"""The lemmas of the replica computation against numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.free_energy import leaves
from giantsteps.derivations.kernel.statements import Tends, sides

# Double precision of sums of a few terms, and of quadrature with nodes enough for a smooth integrand.
ROUNDING = 1e-12


def said(lemma: object, **values: float) -> float:
    """The right side of a lemma at values of its symbols, by name."""
    statement = lemma.statement
    _, right = sides(statement)
    return float(right.xreplace({symbol: sp.Float(values[symbol.name]) for symbol in right.free_symbols}))


def matrix() -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix of four rows, and three vectors."""
    generator = np.random.default_rng(1)
    root = generator.standard_normal((4, 4))
    return root @ root.T + np.eye(4), generator.standard_normal((3, 4))


@pytest.mark.parametrize(("curvature", "force"), [(0.4, 0.3), (1.0, -1.2), (2.7, 2.0)])
def test_gaussian_integral(curvature: float, force: float) -> None:
    z, step = np.linspace(-40.0, 40.0, 20001, retstep=True)
    integral = np.sum(np.exp(-curvature * z**2 / 2 + force * z)) * step / np.sqrt(2 * np.pi)
    assert np.log(integral) == pytest.approx(said(leaves.GAUSSIAN, S=curvature, t=force), rel=ROUNDING)


def test_independent_factors() -> None:
    law = {0.5: 0.2, 2.0: 0.5, 3.0: 0.3}
    mean = sum(value * weight for value, weight in law.items())
    triples = sum(a * b * c * u * v * w for a, u in law.items() for b, v in law.items() for c, w in law.items())
    assert triples == pytest.approx(said(leaves.PRODUCT, n=3.0, b=mean), rel=ROUNDING)


@pytest.mark.parametrize("weight", [-0.1, 0.7])
def test_updates_of_rank_one(weight: float) -> None:
    A, (x, y, u) = matrix()
    inverse, updated = np.linalg.inv(A), A + weight * np.outer(u, u)
    forms = {"g_{xy}": x @ inverse @ y, "g_{xu}": x @ inverse @ u, "g_{uy}": u @ inverse @ y, "g_{uu}": u @ inverse @ u}
    found = x @ np.linalg.solve(updated, y)
    assert found == pytest.approx(said(leaves.SHERMAN_MORRISON, w=weight, **forms), rel=ROUNDING)
    known = said(leaves.DETERMINANT, L=np.linalg.slogdet(A)[1], w=weight, **forms)
    assert np.linalg.slogdet(updated)[1] == pytest.approx(known, rel=ROUNDING)


def test_gaussian_integral_of_many_variables() -> None:
    A, F = np.array([[1.3, 0.4], [0.4, 0.9]]), np.array([0.5, -0.8])
    a, step = np.linspace(-15.0, 15.0, 1201, retstep=True)
    first, second = np.meshgrid(a, a)
    exponent = -(A[0, 0] * first**2 + 2 * A[0, 1] * first * second + A[1, 1] * second**2) / 2
    integral = np.sum(np.exp(exponent + F[0] * first + F[1] * second)) * step**2 / (2 * np.pi)
    known = said(leaves.MANY_VARIABLES, L=np.linalg.slogdet(A)[1], F=F @ np.linalg.solve(A, F))
    assert np.log(integral) == pytest.approx(known, rel=ROUNDING)


def test_the_logarithm_grows_slower() -> None:
    statement = leaves.LOGARITHM.statement
    assert isinstance(statement, Tends)
    values = [float(statement.expression.subs(statement.variable, sp.Integer(10) ** k)) for k in (2, 4, 8, 16)]
    # ln B <= 2 (B^(1/2) - 1), so that the quotient is below 2 B^(-1/2).
    assert all(value < 2 * 10 ** (-k / 2) for value, k in zip(values, (2, 4, 8, 16), strict=True))

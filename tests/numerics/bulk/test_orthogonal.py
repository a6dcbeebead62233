"""Orthogonal rows, Appendix D.3: the equivalent against a sample and finite differences, test errors against it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.equivalent import pack, unpack
from giantsteps.numerics.bulk.orthogonal import OrthogonalGroups, orthogonal
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.orthogonal import orthogonal_features, simulated_test_errors
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve

TWO = OrthogonalGroups(0.3, 0.8, (0.9, 1.4), (0.4, 0.6))
AT = pack(np.array([[0.7, 0.2], [0.2, 0.5]]), np.array([0.3, 0.1]))
MODEL = Model(
    activation("tanh"), activation("sin(2*z)"), alpha=2.0, beta=0.8, ridge=0.1, spike=1.5, alignment=0.7, noise=0.05,
    readout=(ReadoutGroup(0.5, 0.5, 0.9), ReadoutGroup(-1.2, 0.5, 1.4)), bulk=1.0,
)  # fmt: skip


def test_against_one_sample() -> None:
    d, p = 300, 240
    rng = np.random.default_rng(0)
    rows = np.linalg.qr(rng.standard_normal((d, p)))[0].T
    index = (np.arange(p) >= 96).astype(int)
    c = np.array([0.9, 1.4])
    W = np.sqrt(c[index])[:, None] * rows
    C, D = unpack(AT)
    whole = np.diag(0.3 + D[index]) + C[np.ix_(index, index)] * (W @ W.T)
    blocks = [(index == a).astype(float) for a in (0, 1)]
    point = TWO.at(AT)
    T, tau = unpack(point.values)
    for a in (0, 1):
        # The whole bulk is diagonal: its traces are those of the equivalent exactly.
        inverse = blocks[a] / np.diag(whole)
        assert inverse.sum() / p == pytest.approx(tau[a], rel=1e-12)
        assert T[a, a] == pytest.approx(c[a] * tau[a], rel=1e-12)
        # Averaged over all directions v, s_a.G0 s_a is the overlap along theta_perp.
        assert np.sum(inverse[:, None] * W**2) / d == pytest.approx(point.overlap[2 + a, 2 + a], rel=1e-12)
    # Removing v from the bulk turns X = s.G0 s into (X^-1 - C)^-1, exactly, for any v.
    S = np.array([W[:, 0] * block for block in blocks])
    X = S @ np.linalg.solve(whole, S.T)
    removed = S @ np.linalg.solve(whole - C[np.ix_(index, index)] * np.outer(W[:, 0], W[:, 0]), S.T)
    assert removed == pytest.approx(np.linalg.inv(np.linalg.inv(X) - C), rel=1e-9)
    theta = point.overlap[2:, 2:]
    assert point.overlap[:2, :2] == pytest.approx(np.linalg.inv(np.linalg.inv(theta) - C), rel=1e-12)
    assert point.overlap[0, 0] > 1.1 * theta[0, 0]


def test_simulated_features_agree() -> None:
    bulk = partial(orthogonal, MODEL)
    theory = at_width(solve(MODEL, bulk=bulk), 160, bulk).test_error
    found = simulated_test_errors(MODEL, 200, 16, seed=3)
    mean, error = float(np.mean(found)), float(np.std(found, ddof=1)) / 4.0
    # Five standard errors (15 degrees of freedom: a false alarm in 6000), and 2/d for corrections that are not kept.
    assert abs(mean - theory) < 5.0 * error + 0.01 * theory


def test_rows_are_orthogonal_and_carry_the_spike() -> None:
    sizes = Sizes.rounded(50, alpha=1.0, beta=0.8, fractions=MODEL.fractions)
    drawn = orthogonal_features(MODEL, sizes, np.random.default_rng(1))
    W = drawn.weights - drawn.spikes @ drawn.directions
    gram = W @ W.T
    assert gram == pytest.approx(np.diag(np.repeat([0.9, 1.4], 20)), abs=1e-12)
    assert drawn.theta @ drawn.directions[0] == pytest.approx(0.7, abs=1e-14)


def test_what_is_refused() -> None:
    for model, ridge in ((MODEL.changed(beta=1.2), 0.1), (MODEL, 0.0)):
        with pytest.raises(ModelError, match="orthogonal rows need"):
            orthogonal(model, ridge)

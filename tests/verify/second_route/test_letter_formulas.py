"""The verifier's own formulas for a vocabulary: known cases, dense matrices, and the solver, which shares no code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve as solve_by_numerics
from giantsteps.verify.second_route.networks.letter_formulas import MASS, NODES, Bulk, Groups, RealBatch, network_groups
from giantsteps.verify.second_route.networks.letter_networks import NETWORKS
from giantsteps.verify.second_route.networks.letter_numbers import LAW, SPECTRAL
from giantsteps.verify.second_route.networks.step import Step, batch_forms, equivalent
from giantsteps.verify.second_route.saddle_point.network_readout import Vocabulary, along, solve

STEP = Step("tanh", "tanh", 2.0, 4.0, 0.8)
# A letter may be zero.
LETTERS = np.array([1.1, 0.0, -0.7])
FRACTIONS = np.array([0.3, 0.3, 0.4])
COUPLINGS = np.array([[1.0, 0.3, -0.5], [0.3, 0.8, 0.1], [-0.5, 0.1, 0.9]])
SHIFT = np.array([0.5, 0.7, 0.4])


def three_groups() -> Groups:
    """Three letters on a spectrum of no particular shape; two of the h_a coincide."""
    places = np.eye(4)
    return Groups(1.2, FRACTIONS, LETTERS, 0.9, LAW, places[:2], places[[2, 3, 2]], np.array([2.0, 1.5, 2.0]))


def test_three_groups_satisfy_the_equations_as_they_stand() -> None:
    groups = three_groups()
    at = Bulk(groups).at(COUPLINGS, SHIFT)
    forms = 1 + LETTERS[:, None] ** 2 * groups.weight * SPECTRAL["varrho"](NODES)
    theta = groups.beta * at.tau[:, None] * forms
    filtered = np.linalg.inv(np.eye(3) + np.einsum("ax,ab->xab", theta, COUPLINGS))  # (1 + Theta C)^-1 at every node
    mixed = COUPLINGS @ filtered
    tau = FRACTIONS / (SHIFT + np.einsum("x,ax,xaa->a", MASS, forms, mixed))
    T = np.einsum("x,xab,bx->ab", MASS, filtered, theta) / groups.beta
    # Fixed points are iterated to 1e-13.
    np.testing.assert_allclose(at.tau, tau, rtol=1e-11)
    np.testing.assert_allclose(at.T, T, rtol=1e-10, atol=1e-12)
    h = [SPECTRAL["h_1"](NODES), SPECTRAL["h_2"](NODES), SPECTRAL["h_1"](NODES)]
    norms = -np.einsum("x,ax,xab,bx->ab", MASS, h, mixed, h) * groups.beta**2 * np.outer(at.tau, at.tau)
    norms += np.diag(groups.beta * at.tau * groups.norm_variances)
    np.testing.assert_allclose(at.with_spike[6:, 6:], norms, rtol=1e-10, atol=1e-12)
    along_spike = np.einsum("x,x,xab,bx->ab", MASS, SPECTRAL["f_1"](NODES), filtered, h) * groups.beta * at.tau
    np.testing.assert_allclose(at.with_spike[:3, 6:], along_spike, rtol=1e-10, atol=1e-12)
    # (1/p) tr[S S^-1] = 1.
    assert SHIFT @ at.tau + np.sum(COUPLINGS * at.T) == pytest.approx(1.0, rel=1e-11)


def test_three_groups_against_a_dense_resolvent() -> None:
    groups, d = three_groups(), 600
    at = Bulk(groups).at(COUPLINGS, SHIFT)
    from scipy.special import ndtri

    rng = np.random.default_rng(11)
    group = np.repeat(np.arange(3), np.round(FRACTIONS * groups.beta * d).astype(int))
    spectrum = SPECTRAL["varrho"](ndtri((np.arange(d) + 0.5) / d))
    rows = rng.standard_normal((len(group), d))
    rows *= np.sqrt((1 + LETTERS[group, None] ** 2 * groups.weight * spectrum) / d)
    S = np.diag(SHIFT[group]) + COUPLINGS[np.ix_(group, group)] * (rows @ rows.T)
    inverse = np.linalg.inv(S)
    tau = [np.trace(inverse[np.ix_(group == a, group == a)]) / len(group) for a in range(3)]
    T = [[np.sum((rows @ rows.T * inverse)[np.ix_(group == a, group == b)]) for b in range(3)] for a in range(3)]
    # One draw: traces vary by some 1/d between draws and shift by as much, 1e-3 here; measured spread 4e-4.
    np.testing.assert_allclose(at.tau, tau, atol=3e-3)
    np.testing.assert_allclose(at.T, np.array(T) / len(group), atol=3e-3)


def test_the_batch_s_law_is_that_of_the_theorems() -> None:
    batch, t = RealBatch("tanh", 2.0), 0.8
    forms = batch_forms("tanh", 2.0, t)
    found = batch.forms(1 / t) / t
    assert batch.trace(1 / t) / t == pytest.approx(forms[s.batch_trace.name], rel=1e-11)
    wanted = [forms[x.name] for x in (s.batch_target, s.batch_mixed, s.batch_cube, s.batch_pair)]
    np.testing.assert_allclose([found[0, 0], found[0, 1], found[0, 2], found[1, 2]], wanted, rtol=1e-10)


def test_one_group_is_the_uniform_readout() -> None:
    known = equivalent(STEP, 0.8, 0.5)
    at = Bulk(network_groups(STEP, (1.0,), (1.0,))).at(np.array([[0.8]]), np.array([0.5]))
    unit, gain = STEP.beta * at.tau[0], known[s.gain.name]
    assert at.tau[0] == pytest.approx(known[s.V2.name], rel=1e-10)
    assert at.T[0, 0] == pytest.approx(known[s.V1.name], rel=1e-10)
    vv, vh = known[s.row_vv.name], known[s.row_vh.name]
    assert at.overlap[0, 0] == pytest.approx(unit * (1 - vv) / (gain * vv), rel=1e-10)
    assert at.overlap[0, 2] == pytest.approx(unit * vh / vv, rel=1e-9)


def by_numerics(network: Vocabulary, bulk_model: str = "network") -> Model:
    """The solver's model of a network without label noise: the solver has noise in the labels of both steps."""
    step = network.step
    return Model.from_gradient_step(
        activation(step.student),
        activation(step.target),
        alpha=network.alpha,
        beta=step.beta,
        ridge=network.ridge,
        alpha0=step.alpha0,
        eta=step.rate * step.beta,
        readout=tuple(
            ReadoutGroup(u, share, bias=b)
            for u, share, b in zip(network.letters, network.fractions, network.biases, strict=True)
        ),
        bulk_model=bulk_model,
    )


THREE = Vocabulary(Step("tanh", "sin", 3.0, 3.0, 0.9), (0.3, 0.3, 0.4), (1.0, 0.0, -0.6), (0.2, 0.5, -0.4), 2.0, 0.1)


@pytest.mark.parametrize("network", [*NETWORKS.values(), THREE], ids=[*NETWORKS, "three letters"])
def test_plain_iteration_and_the_solver_agree(network: Vocabulary) -> None:
    found, wanted = solve(replace(network, noise=0.0)), solve_by_numerics(by_numerics(network))
    assert wanted.converged
    # Without differences both are known to 1e-12; a letter that is zero has no norms to overlap with.
    np.testing.assert_allclose(found.m, wanted.order_parameters.m, rtol=1e-10)
    np.testing.assert_allclose(found.chi, wanted.order_parameters.chi, rtol=1e-8, atol=1e-14)
    # q by differences over 2e-3 of the smallest eigenvalue of C: 1e-8 with three letters.
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-7)
    assert found.training_error == pytest.approx(wanted.training_error, rel=1e-7)


@pytest.mark.parametrize("network", [n for n in NETWORKS.values() if n.noise > 0], ids=lambda n: n.step.student)
def test_label_noise_of_the_readout_and_the_solver_agree(network: Vocabulary) -> None:
    """With an isotropic bulk the law of the rows is given, and the noise the readout's alone."""
    found = solve(network, isotropic=True)
    wanted = solve_by_numerics(replace(by_numerics(network, "isotropic").as_given(), noise=network.noise))
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-7)
    assert found.training_error == pytest.approx(wanted.training_error, rel=1e-7)
    np.testing.assert_allclose(found.m, wanted.order_parameters.m, rtol=1e-10)


def test_the_third_function_is_the_slope_of_the_first_in_the_bulk() -> None:
    network = NETWORKS["erf student, tanh target"]
    at, third = along(network)
    # erf(x + sqrt(c) z) averages to erf(x/sqrt(1 + 2 c)); its slope in c at c of the first letter.
    from scipy.special import erf

    from giantsteps.verify.second_route.saddle_point.network_readout import spike_and_alignment

    c = network_groups(network.step, network.fractions, network.letters).bulks[0]
    spike, _ = spike_and_alignment(network.step)
    x = spike * network.letters[0] * NODES + network.biases[0]
    inner = x / np.sqrt(1 + 2 * c)
    np.testing.assert_allclose(at.mu0[0], erf(inner), atol=1e-9)
    np.testing.assert_allclose(third[0], -2 / np.sqrt(np.pi) * np.exp(-(inner**2)) * inner / (1 + 2 * c), atol=1e-9)

"""What an experiment puts beside its theory: differences of maps, ratios of whole sizes, limits, solvers' numbers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.language import symbols as s_language
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.compiled import network_letters
from giantsteps.verify.protocol.claim import PROFILES, Profile
from giantsteps.verify.second_route.any_activation import draws as any_draws
from giantsteps.verify.second_route.equivalence import both_maps
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks import (
    blocks,
    draws,
    letter_networks,
    numbers,
    one_letter_rows,
    overlapping_draws,
)
from giantsteps.verify.second_route.networks.letter_networks import Vocabulary
from giantsteps.verify.second_route.networks.step import Step, equivalent
from giantsteps.verify.second_route.networks.step import law as law_of

STEP = Step("tanh", "sin", 1.5, 2.0, 0.8)
ANY = Step("softplus", "shifted sin", 1.5, 2.0, 0.8)
SMALL = Profile("small", points=1, examples=1, dimensions=(40, 80), seeds=1)


def test_what_two_maps_are_measured_by() -> None:
    """Every map of a draw in its own place, and of the differences of two the right mean put back."""
    name, wrong = "erf student, tanh target", ("mu2 2 % larger", "mu1 a quarter of the way to a constant")
    drawn = both_maps.draw(name, 20, 3)
    maps = (both_maps.spiked, *(both_maps.MAPS[key] for key in ("", *wrong)))
    found = both_maps.measured(name, 20, 3, wrong)
    for measured, features in zip(found, maps, strict=True):
        assert measured == both_maps.readout(drawn, features(drawn), traces=True)
        mean, variance = features(drawn).tested(a_of(drawn, features(drawn).training))
        assert measured[0] == pytest.approx(np.mean((drawn.labels[40:] - mean) ** 2 + variance), rel=1e-9)
    assert len({measured[0] for measured in found}) == 4


def a_of(drawn: both_maps.Draw, features: Array) -> Array:
    """The readout over sqrt(p)."""
    n, p = features.shape
    return np.asarray(np.linalg.solve(
        features.T @ features / p + drawn.pair.ridge * np.eye(p), features.T @ drawn.labels[:n] / p
    ))  # fmt: skip


@pytest.mark.parametrize("quantity", both_maps.QUANTITIES, ids=str)
def test_the_difference_of_two_maps_with_the_mean_of_one(quantity: Any) -> None:
    name, wrong = "erf student, tanh target", ("mu2 2 % larger", "mu1 a quarter of the way to a constant")
    at, profile = both_maps.QUANTITIES.index(quantity), dataclasses.replace(SMALL, dimensions=(32,))
    (sizes,) = both_maps.both_maps((name,), wrong, both_maps.FEW, 2, quantity, profile).values()
    assert [(size.dimension, size.fluctuation) for size in sizes] == [(16, 2)]
    tried = both_maps.TRIED[name]
    found = np.array([both_maps.measured(name, 16, seed, tried) for seed in profile.draws(both_maps.FEW[0])])[:, :, at]
    means = dict(zip(("spiked", "", *tried), found.mean(axis=0), strict=True))
    assert sizes[0].samples == pytest.approx(found[:, 0] - found[:, 1] + means[""], rel=1e-9)
    expected = {both_maps.of_map(quantity, key).name: means[key] for key in ("", *wrong)}
    assert sizes[0].values == pytest.approx(expected, rel=1e-12)
    assert len(set(means.values())) == 6 or at == 3


def test_every_experiment_is_beside_its_theory_at_the_ratios_of_its_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """At d = 11, where alpha0 = 1.5 is 16 samples and beta = 0.8 nine neurons; a rate is kept, and so eta is not."""
    asked: list[Any] = []
    profile = dataclasses.replace(SMALL, dimensions=(44,))

    def theory(*given: Any) -> dict[str, float]:
        asked.append(given)
        return {}

    quantity = real.BULK_COLUMNS[3]
    controls = np.random.default_rng(1).standard_normal((16, 3))

    def resolvent(step: Step, d: int, C: float, shift: float, seed: int) -> tuple[dict[str, float], Array]:
        assert (step, d, C, shift) == (STEP, 11, 0.4, 0.6)
        return {quantity.name: float(seed)}, controls[seed]

    draws.bulk_of_rows({"one": (STEP, 0.4, 0.6)}, resolvent, theory, quantity, profile)
    monkeypatch.setattr(any_draws, "law", theory)
    monkeypatch.setattr(any_draws, "ROW_MODELS", {"one": ANY})
    monkeypatch.setattr(any_draws, "row_statistics", lambda step, d, seed: (np.arange(7.0) + seed, np.cos(2.0**seed)))
    monkeypatch.setattr(any_draws, "steadied", lambda samples, controls: samples + controls)
    (sizes,) = any_draws.row_experiment(s.c, profile).values()
    assert sizes[0].samples == tuple(2.0 + seed + np.cos(2.0**seed) for seed in profile.draws(32))
    monkeypatch.setattr(any_draws, "blocks", theory)
    monkeypatch.setattr(any_draws, "batch_blocks", lambda *given: (0.0,) * 5)
    monkeypatch.setattr(any_draws, "BATCHES", {"one": STEP, "two": ANY})
    monkeypatch.setattr(any_draws, "GAINS", {"one": 0.3, "two": 0.2})
    any_draws.batch_experiment(s.row_trace, dataclasses.replace(SMALL, dimensions=(22,)))
    monkeypatch.setattr(draws, "batch_forms", theory)
    monkeypatch.setattr(draws, "BATCH_MODELS", {"one": ("sin", 0.7)})
    draws.batch_experiment(s.batch_trace, dataclasses.replace(SMALL, dimensions=(11,)))
    there = {"alpha0": 16 / 11, "beta": 9 / 11}
    step, other = (dataclasses.replace(each, **there) for each in (STEP, ANY))
    assert asked == [(step, 0.4, 0.6), (other,), (step, 0.3), (other, 0.2), ("sin", 8 / 11, draws.SHIFT)]
    assert (step.rate, other.rate) == (2.0, 2.0)
    found = draws.ratios(STEP, 11)
    assert [found[x.name] for x in (s.alpha0, s.beta, s.eta)] == [16 / 11, 9 / 11, 2.0 * 9 / 11]
    start = overlapping_draws.Start("tanh", "sin", 1.5, 0.8, 2.0, 0.4, 0.1)
    monkeypatch.setattr(overlapping_draws, "STARTS", {"one": start})
    (size,) = overlapping_draws.step_experiment(s.gamma, dataclasses.replace(SMALL, dimensions=(22,)))["one"]
    names = (s.alpha0, s.beta, s.eta, s.row_overlap, s.noise)
    assert [size.values[x.name] for x in names] == [16 / 11, 9 / 11, 2.0 * 9 / 11, 0.4, 0.1]
    assert size.samples == tuple(overlapping_draws.measured_step(start, 11, seed)[1] for seed in profile.draws(4))


# --- numbers beside them


def limit(network: Vocabulary, isotropic: bool = False) -> dict[str, float]:
    """A saddle point whose numbers are all different."""
    draw = np.random.default_rng([int(100 * network.alpha), int(100 * network.ridge), isotropic]).standard_normal
    return {x.name: float(draw()) for x in (*letter_networks._READOUTS, *network_letters.OVERLAP)}


def test_a_network_of_letters_is_beside_its_own_limit_and_the_isotropic_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letter_networks, "solve", limit)
    network, K = letter_networks.NETWORKS["tanh student, tanh target"], network_letters.OVERLAP
    own, even, found = limit(network), limit(network, isotropic=True), letter_networks.values_of(network)
    assert {name: found[name] for name in own} == own
    expected = {
        s.error_isotropic: even[s.test_error.name], s.training_isotropic: even[s.training_error.name],
        s.m_isotropic: even[s_saddle.m_of[0].name], s.noise: network.noise,
    }  # fmt: skip
    for a in (0, 1):
        # The norms of the first letter against the spike, the target and the norms of either.
        rows = (s_saddle.norm_row_spike, s_saddle.norm_row_target, s_saddle.norm_row_norm)
        expected |= {row[a]: own[K[4, 2 * i + a].name] for i, row in enumerate(rows)}
    assert len(set(expected.values())) == len(expected)
    assert {symbol: found[symbol.name] for symbol in expected} == expected
    for _, networks, paired in letter_networks._READOUTS.values():
        assert set(networks) <= set(letter_networks.NETWORKS)
        assert paired == (networks != letter_networks._READOUTS[s_saddle.chi_of[0]][1])


@pytest.mark.parametrize("quantity", letter_networks._READOUTS, ids=str)
def test_of_a_twin_of_letters_its_own_limit_is_put_back(quantity: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of known numbers: of a network and of its twin, all different."""
    at = list(letter_networks._READOUTS).index(quantity)
    _, networks, paired = letter_networks._READOUTS[quantity]
    own = letter_networks.Drawn(0.5, 1.5, 2.5, 3.5)
    even = letter_networks.Drawn(0.25, 0.375, 0.4375, 0.46875)
    monkeypatch.setattr(letter_networks, "solve", limit)
    monkeypatch.setattr(letter_networks, "drawn", lambda network, d, seed: own)
    monkeypatch.setattr(letter_networks, "twin", lambda network, d, seed: even)
    found = letter_networks.readouts(quantity, dataclasses.replace(SMALL, dimensions=(200, 400, 800)))
    assert set(found) == set(networks)
    for model, sizes in found.items():
        network = letter_networks.NETWORKS[model]
        limits = limit(network, isotropic=True)
        expected = (0.5, 1.5, 2.5, 3.5)[at] - ((0.25, 0.375, 0.4375)[at] - limits[quantity.name] if paired else 0.0)
        assert [(size.dimension, len(size.samples)) for size in sizes] == list(
            zip((50, 100, 200), networks[model], strict=True)
        )
        assert all(sample == pytest.approx(expected, rel=1e-12) for size in sizes for sample in size.samples)


def test_a_network_far_from_its_limit_is_measured_at_large_sizes_but_for_the_quick_profile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("drawn", "twin"):
        monkeypatch.setattr(letter_networks, name, lambda network, d, seed: letter_networks.Drawn(0.5, 1.5, 2.5, 3.5))
    monkeypatch.setattr(letter_networks, "solve", limit)
    (near,), (far,) = letter_networks._READOUTS[s_saddle.m_of[0]][1], letter_networks._AT_LARGE
    for profile, models in ((PROFILES["quick"], {near: 4}), (PROFILES["ci"], {near: 4, far: 2})):
        found = letter_networks.readouts(s_saddle.m_of[0], profile)
        assert {name: [size.dimension for size in sizes] for name, sizes in found.items()} == {
            name: [d // share for d in profile.dimensions] for name, share in models.items()
        }


@pytest.mark.parametrize("name", one_letter_rows.LAWS)
def test_forms_of_drawn_rows_by_their_definitions(name: str) -> None:
    law, d = one_letter_rows.LAWS[name], 11
    at, found = one_letter_rows.spectrum(law, d), one_letter_rows.formulas(law, d)
    beta, V2 = round(law.beta * d) / d, found[s.V2.name]
    assert (found[s.beta.name], found[s.gain.name]) == (beta, pytest.approx(law.conjugate * beta * V2, rel=1e-12))
    inverse = np.linalg.inv(np.eye(d) + found[s.gain.name] * np.diag(at.forms))
    # Neurons are p, modes are d: V2 (D + C tr[B (1 + g B)^-1]/d) = 1.
    bulk = float(np.trace(np.diag(at.forms) @ inverse)) / d
    assert V2 * (law.shift + law.conjugate * bulk) == pytest.approx(1.0, rel=1e-12)
    v, perp, tie = at.v, at.perp, at.tie
    expected = {
        s.row_vv: v @ inverse @ v, s.row_vp: v @ inverse @ perp, s.row_pp: perp @ inverse @ perp,
        s.row_vh: v @ inverse @ tie, s.row_ph: perp @ inverse @ tie, s.row_hh: tie @ inverse @ tie,
        s.row_trace: np.trace(inverse) / d, s.norm_variance: law.norm_variance, s.V1_hat: law.conjugate,
    }  # fmt: skip
    assert {x: found[x.name] for x in expected} == pytest.approx(expected, rel=1e-10)
    assert found[s.V2_hat.name] + found[s.ridge.name] == pytest.approx(law.shift)
    assert (v @ v, perp @ perp, v @ perp) == pytest.approx((1.0, 1.0, 0.0), abs=1e-12)


def test_numbers_of_the_solver_stand_in_their_places() -> None:
    step, C, shift = STEP, 0.5, 0.7
    found = numbers.by_solver(numbers.law_of(step), step.beta, C, shift)
    # V1 = (1 - D V2)/C, and overlaps of a positive matrix.
    assert found[s.V1.name] == pytest.approx((1 - shift * found[s.V2.name]) / C, rel=1e-9)
    K = np.array([[found[x.name] for x in row] for row in (
        (s.overlap_vv, s.overlap_vp, s.overlap_vd), (s.overlap_vp, s.overlap_pp, s.overlap_pd),
        (s.overlap_vd, s.overlap_pd, s.overlap_dd),
    )])  # fmt: skip
    assert np.linalg.eigvalsh(K)[0] > 0.0
    expected = equivalent(step, C, shift)
    assert (found[s.V1.name], found[s.V2.name]) == pytest.approx((expected[s.V1.name], expected[s.V2.name]), rel=1e-9)


def test_a_sines_third_function() -> None:
    point = {"activation": "sin", "target": "sin", s.kappa.name: 0.7, s.r.name: 1.3, s.c.name: 1.1}
    # d/dc of exp(-c/2) sin(r kappa), by differences of 1e-5: 1e-10 and rounding over 1e-5.
    expected = -0.5 * math.exp(-0.55) * math.sin(0.91)
    assert numbers.third_at(point)[s.third.name] == pytest.approx(expected, rel=1e-8)


def test_a_resolvent_of_letters_is_its_definition() -> None:
    values = {x.name: number for x, number in blocks._SAMPLED["wide"].items()}
    d, p = 11, 16
    unit = np.random.default_rng((2402, d, 4)).normal(size=(p, d))
    first = np.arange(p) < 6  # 0.4 of 16 is 6.4
    unit *= np.where(first, math.sqrt(0.8), math.sqrt(1.4))[:, None] / np.linalg.norm(unit, axis=1)[:, None]
    C = np.where(first[:, None] & first, 1.2, np.where(first[:, None] | first, -0.5, 0.6))
    S = C * (unit @ unit.T) + np.diag(np.where(first, 0.4 + 0.2, 0.4 + 0.5))
    expected = np.trace(np.linalg.inv(S)[:6, :6]) / p
    assert blocks._resolvent_samples("wide", d, range(4, 5)) == pytest.approx((expected,), rel=1e-10)
    sizes = blocks.resolvents(s.V2_of[0], dataclasses.replace(SMALL, dimensions=(22,)))["wide"]
    realised = values | {s.beta.name: p / d, s.fraction[0].name: 6 / p}
    assert {x: sizes[0].values[x] for x in realised} == realised
    assert sizes[0].values[s.V2_of[0].name] == blocks.block_values(realised)[s.V2_of[0].name]
    # M = C (1 + Theta C)^-1 with Theta_a = beta c_a tau_a.
    found = blocks.block_values(values)
    theta = [1.5 * c * found[tau.name] for c, tau in zip((0.8, 1.4), s.V2_of, strict=True)]
    conjugates = np.array([[1.2, -0.5], [-0.5, 0.6]])
    mixed = conjugates @ np.linalg.inv(np.eye(2) + np.diag(theta) @ conjugates)
    assert found[s_language.mixed[0][1].name] == pytest.approx(mixed[0, 1], rel=1e-10)
    assert found[s_language.mixed[1][1].name] == pytest.approx(mixed[1, 1], rel=1e-10)


def test_gaussian_rows_have_values_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Step] = []

    def theory(step: Step) -> dict[str, float]:
        asked.append(step)
        return {s.norm_variance.name: 0.25, s.norm_spike_overlap.name: 0.75}

    monkeypatch.setattr(draws, "law", theory)
    monkeypatch.setattr(draws, "ROW_MODELS", {"one": STEP})
    monkeypatch.setattr(draws, "row_statistics", lambda step, d, seed, gaussian: (np.arange(4.0) + seed, gaussian))
    monkeypatch.setattr(draws, "steadied", lambda samples, controls: samples + 0.5 * controls)
    profile = dataclasses.replace(SMALL, dimensions=(44,))
    quantities = (s.row_form, s.norm_overlap, s.norm_spike_overlap, s.norm_variance)
    for quantity, at, gaussian in (
        *((quantity, at, False) for at, quantity in enumerate(quantities)),
        (s.spike_overlap_gaussian, 2, True), (s.norm_variance_gaussian, 3, True),
    ):  # fmt: skip
        (size,) = draws.row_experiment(quantity, profile)["one"]
        assert size.samples == tuple(at + seed + 0.5 * gaussian for seed in profile.draws(32))
        own = {s.norm_variance.name: 0.25, s.norm_spike_overlap.name: 0.75} if gaussian else {}
        assert size.values == draws.ratios(STEP, 11) | own
    assert asked == [STEP.at(11)] * 2


def test_averages_given_what_a_shared_direction_says_of_a_sine() -> None:
    """E cos(m + s z) = exp(-s^2/2) cos m, and cos^2 by twice the argument: m = sqrt(overlap) t, s^2 = 1 - overlap."""
    t, overlap = np.array([-0.8, 0.3, 1.9]), 0.3
    found = overlapping_draws.shared_functions("sin", overlap)
    m, square = math.sqrt(overlap) * t, 1.0 - overlap
    expected = {
        "F_0": math.exp(-square / 2) * np.sin(m), "G_0": math.exp(-square / 2) * np.cos(m),
        "K_0": -math.exp(-square / 2) * np.sin(m),
        "H_0": (1 + math.exp(-2 * square) * np.cos(2 * m)) / 2 - math.exp(-square) * np.cos(m) ** 2,
    }  # fmt: skip
    for name, values in expected.items():
        assert found[name](t) == pytest.approx(values, abs=1e-12)


def test_averages_of_any_activation_are_sums_over_a_grid() -> None:
    """Of a softplus and a shifted sine, by a rule of their own; labels Y = y - h0, s = sigma' - h1 - h2 z."""
    found = law_of(ANY)
    z, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    value, prime, y = np.logaddexp(0.0, z), 1 / (1 + np.exp(-z)), np.sin(z + 0.7)
    h0, h1, h2 = w @ value, w @ prime, w @ (z * prime)
    rest, Y = prime - h1 - h2 * z, y - h0
    expected = {
        s.mean_output: h0, s.h1: h1, s.curvature: h2, s.eta: 2.0 * 0.8, s.alpha0: 1.5, s.beta: 0.8, s.turn: 2.0 * h2,
        s.row_weight: 4.0 / 1.5 * (w @ rest**2),
        **{symbol: w @ (z**j * rest**k) for (j, k), symbol in s.slope_moment.items()},
        **{
            symbol: w @ (z**u * Y**k)
            for u, symbols in enumerate((s.label_moment, s.label_slope, s.label_curve))
            for k, symbol in enumerate(symbols) if k
        },
    }  # fmt: skip
    # Poles of the slope at distance pi, 80 nodes: 1e-9 and better.
    assert {x: found[x.name] for x in expected} == pytest.approx(expected, rel=1e-7, abs=1e-8)

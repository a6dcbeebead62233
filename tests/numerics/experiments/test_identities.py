"""What holds exactly of one small experiment: its energy, its learned bias, its labels, its blocks, its key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import Basins, scan_reach, with_bias
from giantsteps.numerics.experiments import any_loss, convex_readout, letters, measure, orthogonal, readout, ridge
from giantsteps.numerics.experiments.ensembles import Sizes, gradient_step
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.measure import Row
from giantsteps.numerics.experiments.simulate import predict, simulate
from giantsteps.numerics.models.losses import HINGE, LOGISTIC, SQUARE, Loss, huber
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex
from giantsteps.numerics.saddle_point.letters.density import bulk_of, law_of, solve_letters
from giantsteps.numerics.saddle_point.ridge import solve

# Groups of different fractions, spikes, bulks and biases; labels with noise; n = 1.75 d, p = 1.5 d.
GROUPS = (ReadoutGroup(1.0, 0.25, 1.0, 0.4), ReadoutGroup(-0.5, 0.75, 1.3, -0.6))
MODEL = Model(
    activation("softplus"), activation("sin(z + 1/2)"), alpha=1.75, beta=1.5, ridge=0.3, noise=0.2, spike=1.0,
    bulk=1.0, alignment=0.8, readout=GROUPS,
)  # fmt: skip
SIGNS = replace(MODEL, target=activation("sign"))
NETWORK = Network(
    activation("softplus"), activation("sin"), alpha=1.75, beta=1.5, ridge=0.3, alpha0=1.25, eta=2.0, noise=0.2,
    readout=(ReadoutGroup(1.0, 0.25, bias=0.4), ReadoutGroup(-0.5, 0.75, bias=-0.6)),
)  # fmt: skip
LETTERS = Model(
    activation("tanh"), activation("sin"), alpha=1.75, beta=1.5, ridge=0.3, noise=0.2, alignment=0.8, spike=1.0,
    bulk=1.3, readout=ReadoutLaw("uniform", 1.5),
)  # fmt: skip
SIZES = Sizes.rounded(16, alpha=1.75, beta=1.5, alpha0=1.25, fractions=(0.25, 0.75))


def task(model: Model | Network, kind: str = "srf", learned: bool = False) -> any_loss._Task:
    return any_loss._Task(model, SIZES, kind, 3, 1, learned, None, GAUSSIAN)


def energy(values: dict[str, float], loss: Loss, width: float) -> float:
    """(sum of losses + (ridge/2) |a|^2)/p from what else is measured: |a|^2/p = sum_a q2_a + m_a^2/p_a."""
    norm = sum(values[f"q2[{a}]"] + values[f"m[{a}]"] ** 2 / (width * GROUPS[a].fraction) for a in (0, 1))
    share = 0.5 if loss == SQUARE else 1.0
    return share * MODEL.alpha / MODEL.beta * values["training_error"] + 0.5 * MODEL.ridge * norm


@pytest.mark.parametrize("loss", [SQUARE, HINGE, LOGISTIC, huber(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("subject", [SIGNS, NETWORK], ids=["srf", "network"])
def test_the_energy_of_an_experiment_is_its_losses_and_its_readout(subject: Model | Network, loss: Loss) -> None:
    kind = "network" if subject is NETWORK else "srf"
    row = dict(any_loss._experiment(task(replace(subject, loss=loss), kind)))
    # Of one readout, whether it is the best or not: equal to rounding.
    assert row["energy"] == pytest.approx(energy(row, loss, SIZES.p), rel=1e-12)
    # The network's target takes other values than signs.
    signs = kind == "srf" and loss != SQUARE
    assert ("classification_error" in row, "mean_squared_error" in row) == (signs, loss != SQUARE)


@pytest.mark.parametrize("loss", [SQUARE, huber(0.5)], ids=lambda loss: loss.name)
def test_a_learned_bias_is_the_same_bias_given(loss: Loss) -> None:
    """The model with that bias added to its own makes the same experiment, on the training set and on the test set."""
    found = dict(any_loss._experiment(task(MODEL.changed(loss=loss), learned=True)))
    given = tuple(replace(group, bias=group.bias + found["bias"]) for group in GROUPS)
    fixed = replace(MODEL, readout=given, loss=loss)
    expected = dict(any_loss._experiment(task(fixed)))
    bias = found.pop("bias")
    assert abs(bias) > 1e-2
    # Rounding, of problems of condition 10^3; another loss's energy is known to 1e-7, its readout to the root of that.
    error = 1e-9 if loss == SQUARE else 1e-3
    assert found == pytest.approx(expected, rel=error, abs=error)
    if loss == SQUARE:
        job = ridge._Job(fixed, (MODEL.ridge,), SIZES, "srf", 3, 1)
        plain = dict(ridge._experiment(job)[0])
        # The test set is another one.
        del plain["test_error"]
        assert {name: found[name] for name in plain} == pytest.approx(plain, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("sizes", [None, SIZES], ids=["limit", "width"])
@pytest.mark.parametrize("loss", [HINGE, huber(0.5)], ids=lambda loss: loss.name)
def test_a_prediction_is_the_solution_at_its_width(loss: Loss, sizes: Sizes | None) -> None:
    model = SIGNS.changed(loss=loss)
    found, solution = predict(model, sizes=sizes), solve_convex(model, width=None if sizes is None else sizes.p)
    for name in ("test_error", "training_error", "mean_squared_error", "classification_error"):
        assert found.values[name] == getattr(solution, name)
    for name in ("m", "zeta", "psi", "q2"):
        assert [found.values[f"{name}[{a}]"] for a in (0, 1)] == list(getattr(solution.order_parameters, name))
    # The energy is stationary at the saddle point, which is solved to 1e-10 or better.
    width = np.inf if sizes is None else sizes.p
    assert found.values["energy"] == pytest.approx(energy(found.values, loss, width), rel=1e-6)
    assert set(found.scales) == set(found.values)
    assert min(found.scales.values()) > 0.0


@pytest.mark.parametrize("sizes", [None, SIZES], ids=["limit", "width"])
def test_a_prediction_with_a_learned_bias_is_that_of_the_ridge_readout(sizes: Sizes | None) -> None:
    found, solution = any_loss._predicted(MODEL, 0.2, sizes), solve(MODEL)
    there = solution if sizes is None else solution.at_width(sizes.p)
    assert ridge.predicted(solution, sizes).items() <= found.values.items()
    assert (found.values["test_error"], found.values["training_error"]) == (there.test_error, there.training_error)
    width = np.inf if sizes is None else sizes.p
    assert found.values["energy"] == pytest.approx(energy(found.values, SQUARE, width), rel=1e-9)
    assert found.values["bias"] == 0.2
    assert set(found.scales) == set(found.values)
    # A scan reaches over four standard deviations of the arguments of sigma, whatever bias was learned.
    for bias in (0.2, 3.0):
        shifted = any_loss._predicted(with_bias(MODEL, bias), bias, sizes)
        assert shifted.scales["bias"] == pytest.approx(scan_reach(MODEL) / 4.0)


@pytest.mark.parametrize("subject", [SIGNS, NETWORK], ids=["srf", "network"])
def test_a_bias_is_searched_at_home_and_in_every_other_basin(
    subject: Model | Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, ...]] = []

    def best(fit: Any, reach: float, interval: tuple[float, float], share: float) -> tuple[float, Any]:
        asked.append((reach, *interval, share))
        return interval[0], fit(interval[0])

    monkeypatch.setattr(any_loss, "best_bias", best)
    basins = Basins((0.1, 0.2), ((0.3, 0.4), (0.5, 0.6)))
    kind = "network" if subject is NETWORK else "srf"
    row = dict(any_loss._experiment(replace(task(subject, kind, learned=True), basins=basins)))
    reach = scan_reach(subject.model("isotropic") if isinstance(subject, Network) else subject)
    ends = (basins.home, *basins.others)
    # Of the other basins the energy alone is asked for.
    assert asked == [(reach, *end, share) for end, share in zip(ends, (1e-5, 1e-3, 1e-3), strict=True)]
    found = {}
    for bias in (0.1, 0.3, 0.5):
        groups = tuple(replace(group, bias=group.bias + bias) for group in subject.groups)
        given = task(replace(subject, readout=groups), kind)
        found[bias] = dict(any_loss._experiment(given))["energy"]
    gaps = (row["bias"], row["energy"], row["energy_gap[0]"], row["energy_gap[1]"])
    assert gaps == pytest.approx((0.1, found[0.1], found[0.3] - found[0.1], found[0.5] - found[0.1]), rel=1e-9)


@pytest.mark.parametrize("loss", [SQUARE, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("subject", [SIGNS, NETWORK], ids=["srf", "network"])
def test_a_simulation_is_of_the_model_at_its_whole_sizes(subject: Model | Network, loss: Loss) -> None:
    """Of d = 17: 30 samples, 26 neurons, of which 6.5 and 19.5 are in the groups, and 21 samples of the step."""
    kind = "network" if subject is NETWORK else "srf"
    asked = replace(subject, loss=loss, ridge=0.4)
    found = simulate(asked, dimension=17, seeds=1, kind=kind)
    groups = tuple(replace(group, fraction=count / 26) for group, count in zip(asked.groups, (7, 19), strict=True))
    step = {"alpha0": 21 / 17} if isinstance(asked, Network) else {}
    expected: Model | Network = replace(asked, alpha=30 / 17, beta=26 / 17, readout=groups, **step)
    assert found.model == (expected if isinstance(expected, Network) else expected.as_given())
    assert (found.sizes.n, found.sizes.p, found.sizes.n0, found.sizes.groups) == (30, 26, 21 if step else 0, (7, 19))


def test_who_is_tested_on_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """The equivalent map is integrated, others are sampled: twice max(n, d), or six times where inputs scatter more."""
    uniform = Inputs("uniform")
    sizes = [replace(SIZES, n=n) for n in (28, 5)]
    assert [ridge.samples_of(size, inputs) for size in sizes for inputs in (GAUSSIAN, uniform)] == [56, 168, 32, 96]
    asked: list[tuple[int, Inputs]] = []

    def sampled(drawn: Any, target: Any, a: Any, samples: int, rng: Any, inputs: Inputs) -> Any:
        asked.append((samples, inputs))
        return np.zeros(1)

    monkeypatch.setattr(ridge, "sampled_test_error", sampled)
    for kind, inputs in (("srf", GAUSSIAN), ("srf", uniform), ("equivalent", GAUSSIAN)):
        found = dict(ridge._experiment(ridge._Job(MODEL, (0.3,), SIZES, kind, 3, 1, inputs))[0])
        assert (found["test_error"] > 0.0) == (kind == "equivalent")
    assert asked == [(56, GAUSSIAN), (168, uniform)]


def test_a_prediction_of_letters_is_the_solution_at_its_width() -> None:
    model = replace(LETTERS, ridge=0.31)
    solution = solve_letters(model)
    assert solution.letters is not None
    for sizes, there in ((None, solution), (SIZES, solution.at_width(SIZES.p))):
        found, order = predict(model, sizes=sizes), there.order_parameters
        assert tuple(found.values.values()) == (there.test_error, there.training_error, order.zeta[0], order.psi[0])
        assert tuple(found.values) == letters.OBSERVABLES
        size = sum(map(abs, solution.letters.psi))
        assert found.scales == pytest.approx(
            {"test_error": solution.test_error, "training_error": solution.training_error, "zeta": size, "psi": size}
        )


def test_letters_have_their_own_spikes_and_norms() -> None:
    sizes = Sizes.rounded(16, alpha=1.75, beta=1.5, fractions=(1.0,))
    drawn = letters.draw(LETTERS, law_of(LETTERS), sizes, np.random.default_rng(4))
    u = law_of(LETTERS).draw(np.random.default_rng(4), sizes.p)
    assert np.ptp(np.abs(u)) > 0.5
    assert np.ptp([bulk_of(LETTERS, float(x)) for x in u]) > 0.1
    assert drawn.spikes[:, 0] == pytest.approx(LETTERS.spike * u)
    rows = drawn.weights - drawn.spikes * drawn.direction
    assert np.sum(rows**2, axis=1) == pytest.approx([bulk_of(LETTERS, float(x)) for x in u])
    assert (drawn.alignment, drawn.theta @ drawn.theta) == pytest.approx((LETTERS.alignment, 1.0))


def test_orthogonal_rows_have_their_norms_spikes_and_biases() -> None:
    model = replace(MODEL, beta=0.75)
    sizes = Sizes.rounded(16, alpha=1.75, beta=0.75, fractions=model.fractions)
    drawn = orthogonal.orthogonal_features(model, sizes, np.random.default_rng(4))
    counts = np.array(sizes.groups)
    assert counts.tolist() == [3, 9]
    rows = drawn.weights - drawn.spikes * drawn.direction
    assert rows @ rows.T == pytest.approx(np.diag(np.repeat([1.0, 1.3], counts)), abs=1e-14)
    assert drawn.spikes[:, 0] == pytest.approx(np.repeat([1.0, -0.5], counts))
    x = np.random.default_rng(5).standard_normal((7, 16))
    arguments = x @ drawn.weights.T + np.repeat([0.4, -0.6], counts)
    assert drawn.features(x) == pytest.approx(np.logaddexp(0.0, arguments), abs=1e-13)


# --- labels: what a noise of one adds, a noise of four adds twice


def _ridge(model: Any) -> Row:
    return ridge._experiment(ridge._Job(model, (0.3,), SIZES, "srf", 3, 1))[0]


def _any_loss(model: Any) -> Row:
    return any_loss._experiment(task(model.changed(loss=huber(0.5))))


def _letters(model: Any) -> Row:
    drawn = replace(LETTERS, noise=model.noise)
    return letters._experiment(letters._Job(drawn, replace(SIZES, groups=(SIZES.p,)), 3, 1))


def _orthogonal(model: Any) -> list[float]:
    return orthogonal.simulated_test_errors(replace(model, beta=0.75), 16, 1, 3)


RUNS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "ridge": (ridge, _ridge),
    "letters": (letters, _letters),
    "orthogonal": (orthogonal, _orthogonal),
    "any loss": (any_loss, _any_loss),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_noise_of_labels_grows_like_its_root(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, run = RUNS[name]
    seen: list[list[np.ndarray]] = []
    if name == "any loss":
        fit, tested = any_loss._fit, any_loss._tested
        monkeypatch.setattr(any_loss, "_fit", lambda phi, y, *rest: (seen[-1].append(y), fit(phi, y, *rest))[1])
        monkeypatch.setattr(
            any_loss, "_tested", lambda out, g, loss, e, signs: (seen[-1].append(e), tested(out, g, loss, e, signs))[1]
        )
    else:

        def kept(blocks: Any, *rest: Any) -> readout.Readout:
            pairs = list(blocks)
            seen[-1].append(np.concatenate([labels for _, labels in pairs]))
            return readout.fit(iter(pairs), *rest)

        monkeypatch.setattr(module, "fit", kept)
    for noise in (0.0, 1.0, 4.0):
        seen.append([])
        run(replace(MODEL, noise=noise))
    assert len(seen[0]) == (2 if name == "any loss" else 1)
    for none, one, four in zip(*seen, strict=True):
        assert four - none == pytest.approx(2.0 * (one - none), abs=1e-12)
        # Of 28 draws or more: between half and twice the standard deviation, 5 standard errors and more.
        assert 0.5 < np.std(one - none) < 2.0


def test_the_step_of_a_network_is_linear_in_the_noise_of_its_labels() -> None:
    weights, theta = np.random.default_rng(1).standard_normal((9, 6)) / 2.5, np.eye(6)[0]
    u = np.repeat([1.0, -0.5], (4, 5))

    def change(noise: float, rows: int = 4) -> np.ndarray:
        given = replace(NETWORK, noise=noise)
        moved, direction = gradient_step(given, weights, theta, 11, GAUSSIAN, np.random.default_rng(2), rows, u)
        return np.vstack([moved, direction])

    assert change(4.0) - change(0.0) == pytest.approx(2.0 * (change(1.0) - change(0.0)), abs=1e-12)
    assert change(1.0) == pytest.approx(change(1.0, 100), abs=1e-12)


# --- blocks


@pytest.mark.parametrize("name", RUNS)
def test_the_size_of_a_block_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, run = RUNS[name]
    whole = run(MODEL)
    # Noise of labels and coordinates of the test set by block; drawn in one order, whatever the blocks.
    orders = {"orthogonal": (measure,)}.get(name, (module, measure))
    for part in orders:
        monkeypatch.setattr(part, "block_rows", lambda width: 5)
    pieces = run(MODEL)
    # Rounding, of problems of condition 10^3.
    for piece, value in zip(pieces, whole, strict=True):
        numbers, expected = (x if name == "orthogonal" else x[1] for x in (piece, value))
        assert numbers == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_errors_over_two_blocks_are_those_of_their_definitions() -> None:
    place, f, e = np.random.default_rng(6).standard_normal((3, 9))
    g, y = np.tanh(place), np.tanh(place) + e
    blocks = [(place[:5], f[:5, None]), (place[5:], f[5:, None])]
    assert any(np.sign(g) != np.sign(y))
    clipped = any_loss._tested(iter(blocks), np.tanh, huber(0.5), e, False)
    size = np.abs(y - f)
    assert clipped["test_error"] == pytest.approx(np.mean(np.where(size < 0.5, size**2 / 2, 0.5 * size - 0.125)))
    assert clipped["mean_squared_error"] == pytest.approx(np.mean((g - f) ** 2))
    assert set(clipped) == {"test_error", "mean_squared_error"}
    y = np.sign(np.sign(place) + 2.0 * e)
    found = any_loss._tested(iter(blocks), np.sign, HINGE, 2.0 * e, True)
    assert found["test_error"] == pytest.approx(np.mean(np.maximum(0.0, 1.0 - y * f)))
    assert found["classification_error"] == pytest.approx(np.mean(np.sign(f) != np.sign(place)))
    assert any_loss._tested(iter(blocks), np.sign, SQUARE, e, True) == pytest.approx(
        {"test_error": np.mean((np.sign(place) - f) ** 2)}
    )


def test_margin_losses_are_fitted_to_the_signs_of_noisy_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    fit = convex_readout.fit
    monkeypatch.setattr(convex_readout, "fit", lambda phi, y, *rest: (seen.append(y), fit(phi, y, *rest))[1])
    for noise, loss in ((4.0, huber(0.5)), (4.0, HINGE), (0.0, HINGE)):
        any_loss._experiment(task(replace(SIGNS, noise=noise, loss=loss)))
    assert np.array_equal(seen[1], np.sign(seen[0]))
    assert not np.array_equal(seen[1], seen[2])


# --- the key under which a result is kept


CHANGES: dict[str, dict[str, Any]] = {
    "ridge": {"ridge": 0.4}, "noise": {"noise": 0.5}, "alpha": {"alpha": 1.25}, "beta": {"beta": 1.0},
    "alignment": {"alignment": 0.5}, "target": {"target": activation("tanh")},
    "activation": {"activation": activation("tanh")},
    "bias": {"readout": (GROUPS[0], replace(GROUPS[1], bias=0.1))},
    "bulk": {"readout": (GROUPS[0], replace(GROUPS[1], bulk=0.7))},
    "fraction": {"readout": (replace(GROUPS[0], fraction=0.5), replace(GROUPS[1], fraction=0.5))},
}  # fmt: skip


@pytest.mark.parametrize("changed", CHANGES)
def test_another_model_is_another_experiment(changed: str) -> None:
    base, other = (simulate(model, dimension=16, seeds=1) for model in (MODEL, replace(MODEL, **CHANGES[changed])))
    assert base.training_error != other.training_error
    assert base.test_error != other.test_error
    # Remembered are the numbers; whose they are is said anew.
    assert other.model == replace(MODEL, **CHANGES[changed]).as_given()


@pytest.mark.parametrize(
    "given", [{"seed": 1}, {"kind": "equivalent"}, {"inputs": Inputs("rademacher")}, {"dimension": 20}], ids=str
)
@pytest.mark.parametrize("loss", [SQUARE, HINGE], ids=lambda loss: loss.name)
def test_another_draw_is_another_experiment(given: dict[str, Any], loss: Loss) -> None:
    asked = {"dimension": 16, "seeds": 2}
    model = SIGNS.changed(loss=loss)
    base, other = (simulate(model, **asked), simulate(model, **(asked | given)))
    for name, values in base.samples:
        assert len({*values, *other.values(name)}) == 4 or "classification" in name


# --- what is said of a simulation


def test_scales_are_their_definitions() -> None:
    q1 = np.array([[0.25, 0.1], [0.1, 0.64]])
    order = SimpleNamespace(
        m=np.array([0.1, -3.0]), zeta=np.array([1.2, -0.3]), psi=np.array([0.7, 0.9]), q1=q1,
        q2=np.array([0.16, 0.49]), chi=np.array([0.01, -2.0]),
    )  # fmt: skip
    solution: Any = SimpleNamespace(
        order_parameters=order, test_error=0.3, training_error=0.2, model=SimpleNamespace(bulks=(1.5, 2.0))
    )
    values = {
        "test_error": 0.3, "training_error": 0.2, "m[0]": 0.1, "m[1]": -3.0, "zeta[0]": 1.2, "zeta[1]": -0.3,
        "psi[0]": 0.7, "psi[1]": 0.9, "q1[0,0]": 0.25, "q1[0,1]": 0.1, "q1[1,1]": 0.64, "q2[0]": 0.16, "q2[1]": 0.49,
        "chi[0]": 0.01, "chi[1]": -2.0,
    }  # fmt: skip
    assert ridge.predicted(solution) == pytest.approx(values)
    first, second = np.hypot(0.5, 1.2), np.hypot(0.8, 0.3)
    scales = {
        "test_error": 0.3, "training_error": 0.2, "m[0]": 0.4, "m[1]": 3.0, "zeta[0]": first, "zeta[1]": second,
        "psi[0]": first, "psi[1]": second, "q1[0,0]": 0.25, "q1[0,1]": 0.4, "q1[1,1]": 0.64, "q2[0]": 0.16,
        "q2[1]": 0.49, "chi[0]": 0.6, "chi[1]": 2.0,
    }  # fmt: skip
    assert ridge.natural_scales(solution) == pytest.approx(scales)


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("failing", [None, 0, 1, 2])
@pytest.mark.parametrize("found", [3, 2])
def test_a_basin_without_its_minimum_has_not_converged(
    edge: bool, failing: int | None, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    intervals = ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0))
    minima = {interval: SimpleNamespace(bias=interval[0] + 0.5) for interval in intervals[:found]}
    bias = SimpleNamespace(at_edge=edge, lowest_in=minima.get, bias=0.5, model=with_bias(MODEL, 0.5))

    def predicted(model: Model, learned: float, sizes: Any) -> ridge.Prediction:
        assert model == with_bias(MODEL, learned)
        place = int(learned)
        values = {"bias": learned, "energy": (2.0, 5.0, 2.0 + 1e-11)[place]}
        return ridge.Prediction(values, {"bias": 1.0, "energy": 0.25 + place}, place != failing)

    monkeypatch.setattr(any_loss, "learned_bias", lambda model: bias)
    monkeypatch.setattr(any_loss, "_predicted", predicted)
    basins = SimpleNamespace(home=intervals[0], others=intervals[1:])
    got = any_loss.predict_loss(MODEL, learned=True, basins=basins, sizes=None)  # type: ignore[arg-type]
    assert got.converged == (not edge and found == 3 and failing is None)
    second = {"energy_gap[1]": 0.0} if found == 3 else {}
    assert got.values == {"bias": 0.5, "energy": 2.0, "energy_gap[0]": 3.0} | second
    assert got.scales == {"bias": 1.0} | dict.fromkeys([*got.values][1:], 0.25)
    whole = any_loss.predict_loss(MODEL, learned=True, basins=None, sizes=None)
    assert whole.converged == (not edge and failing != 0)

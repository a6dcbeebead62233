"""The pages about finite samples, broken assumptions, rates, width and threshold: they compute, and follow the data."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.results import Minimum
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import equivalent_model, stepped, turned_bulk
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import FOLDER, complete, stored, text_of
from giantsteps.reports.measurements.study import Study
from giantsteps.reports.studies import bound_functions, finite_samples, other_inputs, spectrum_sample, threshold, width
from giantsteps.reports.studies.networks import initial_overlap, second_step
from giantsteps.reports.text.prose import prose

MEASURED = (
    "finite_samples", "networks.initial_overlap", "networks.second_step", "networks.learning_rate", "width",
    "threshold", "other_inputs",
)  # fmt: skip
NETWORK = Network(activation("tanh"), activation("tanh"), 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0, noise=0.1)


def shown(study: Study) -> str:
    """All text of a page; every cell and paragraph has to be showable."""
    cells = [cell for table in study.tables for row in (table.columns, *table.rows) for cell in row]
    for text in (*study.text, *cells, *(figure.caption for figure in study.figures)):
        assert "nan" not in text
        prose(text)
    return " ".join(study.text)


@pytest.mark.parametrize("name", MEASURED)
def test_every_experiment_is_stored(name: str) -> None:
    module = import_module(f"giantsteps.reports.studies.{name}")
    data = stored(module.SLUG)
    assert complete(data, module.EXPERIMENTS)
    assert len({experiment.name for experiment in module.EXPERIMENTS}) == len(module.EXPERIMENTS)
    assert len(text_of(data)) < 300_000


@pytest.mark.thorough
@pytest.mark.parametrize("name", MEASURED)
def test_every_page_is_made_with_its_figure(name: str) -> None:
    study = import_module(f"giantsteps.reports.studies.{name}").study()
    assert study is not None
    shown(study)
    assert len(study.figures) == 1
    assert "<svg" in study.figures[0].svg


def test_finite_samples_follow_the_data() -> None:
    rows = finite_samples.rows_of(stored("finite_samples"))
    text = shown(finite_samples.page(rows))
    doubled = [
        replace(row, measured=replace(row.measured, mean=2.0 * row.measured.mean)) if k == 0 else row
        for k, row in enumerate(rows)
    ]
    assert shown(finite_samples.page(doubled)) != text
    assert len(rows) == 32


def test_the_overlap_page_says_which_map_holds() -> None:
    rows = initial_overlap.rows_of(stored("initial_overlap"))
    text = shown(initial_overlap.page(rows))
    assert "It holds at all 42 comparisons" in text
    # Measurements that follow Result 3.1 instead: then that map holds and the other one fails.
    other = [replace(row, measured=row.printed) for row in rows]
    swapped = shown(initial_overlap.page(other))
    assert "It fails at" in swapped
    assert "in the test error nowhere" in swapped


@pytest.mark.parametrize("overlap", [0.1, 0.6])
def test_the_share_of_the_bulk_along_the_common_direction(overlap: float) -> None:
    network = replace(dict(initial_overlap.CASES)["erf/sign"], overlap=overlap)
    # From the resolvent instead of the moments: e.(1 + g B)^-1 e = 1 - g e.B e + O(g^2).
    law = turned_bulk(network)
    equivalent = TurnedEquivalent(0.1, network.beta, law)
    blocks = equivalent.blocks(np.array([1e-6, 0.4]))
    expected = (1.0 - equivalent.forms(blocks)[1, 1]) / blocks[0]
    assert initial_overlap.share_along(network) * law.bulk == pytest.approx(expected, rel=1e-5)  # g is 2e-6


def test_deviations_become_normal_deviates() -> None:
    # Student's 97.5 % quantile at 10 degrees of freedom, tabulated to four digits, beside the normal one.
    assert initial_overlap.normal_deviate(-2.2281, 10) == pytest.approx(-1.9600, abs=1e-4)
    assert initial_overlap.normal_deviate(4.0, 73) < 3.85


def test_the_map_with_overlap_is_result_3_1_without() -> None:
    after, model = stepped(NETWORK), NETWORK.model("isotropic")
    # 1e-12 is the accuracy of the trapezoidal rule in t; sums of 361 terms.
    assert (after.spike, after.bulk, after.alignment) == pytest.approx(
        (model.spike, model.bulk, model.alignment), 1e-11
    )
    assert after.common == pytest.approx(0.0, abs=1e-12)
    # The network's own bulk with rows of equal norm, by the code for rows without overlap; 1e-8 is the coarser rule.
    own = network_law(model.activation, model.target, NETWORK.alpha0, NETWORK.eta, NETWORK.beta, NETWORK.noise)
    law = replace(own, pulled=(0.0, 0.0, 0.0), added=(0.0, 0.0, 0.0), norm_variance=0.0)
    expected = solve(replace(model, gaussian_rows=True), bulk=lambda ridge: NetworkBulk(ridge, NETWORK.beta, law))
    assert solve_overlapping(NETWORK).test_error == pytest.approx(expected.test_error, rel=1e-7)


def test_its_overlaps_have_the_right_derivatives() -> None:
    # Without label noise: it multiplies the nodes of the batch by fifty and enters through them alone.
    network = replace(NETWORK, overlap=0.4, noise=0.0)
    equivalent = TurnedEquivalent(0.1, network.beta, turned_bulk(network))
    at, step = np.array([0.7, 0.4]), 1e-6
    slopes = equivalent.at(at).overlap_jacobian()
    for k in range(2):
        move = step * np.eye(2)[k]
        change = (equivalent.at(at + move).overlap - equivalent.at(at - move).overlap) / (2.0 * step)
        assert slopes[k] == pytest.approx(change, abs=1e-8)  # central differences: 1e-16/1e-6 and 1e-12
        values = (equivalent.at(at + move).values - equivalent.at(at - move).values) / (2.0 * step)
        assert equivalent.at(at).jacobian[:, k] == pytest.approx(values, abs=1e-8)
    isotropic = solve(equivalent_model(network)).test_error
    assert solve_overlapping(network).test_error > 1.1 * isotropic  # the turned rows cost


def test_the_second_step_page_follows_the_data() -> None:
    rows = second_step.rows_of(stored("second_step"))
    text = shown(second_step.page(rows))
    turned = [
        replace(
            row, errors=(row.errors[1], row.errors[0]), difference=replace(row.difference, mean=-row.difference.mean)
        )
        for row in rows
    ]
    assert "it raises it" in text
    assert shown(second_step.page(turned)) != text
    assert sum(row.z < -3.0 for row in rows) > sum(row.z > 3.0 for row in rows)


def test_the_kernel_limit_is_that_of_the_saddle_point() -> None:
    for alpha in (0.3, 1.0, 5.0):
        model = width.KERNEL.changed(alpha=alpha, noise=0.2)
        # The approach is O(1/beta).
        assert width.kernel_limit(model) == pytest.approx(solve(model.changed(beta=1e6)).test_error, rel=1e-5)


def test_the_width_page_follows_the_scan() -> None:
    data, problem = stored("width"), width.PROBLEMS[0]
    falling = tuple(1.0 / (k + 1.0) for k in range(len(width.SCAN)))
    rising = falling[::-1]
    law = shown(width.page(data, [width.Curve(problem, falling, falling)]))
    broken = shown(width.page(data, [width.Curve(problem, rising, rising)]))
    assert "The statement holds throughout." in law
    assert "not even a tendency" in broken
    assert width.rises((1.0, 0.9, 0.95, 0.9)) == [1]


def test_the_threshold_page_judges_the_exponent() -> None:
    exact = threshold.Divergence(
        "exact",
        tuple(ridge**-0.5 for ridge in threshold.RIDGES),
        tuple(1.0 / gap for gap in threshold.GAPS),
        tuple(2.0 / gap for gap in threshold.GAPS),
        "refused",
    )
    assert exact.fitted == pytest.approx(0.5, rel=1e-12)
    assert exact.approach == pytest.approx((1.0, 1.0), rel=1e-12)
    text = shown(threshold.page(stored("threshold"), [exact]))
    assert "1/2 within 0.005 for exact" in text
    other = replace(exact, at_threshold=tuple(ridge**-0.6 for ridge in threshold.RIDGES))
    assert "None of them is 1/2 yet" in shown(threshold.page(stored("threshold"), [other]))


def test_the_page_of_other_inputs_follows_the_data() -> None:
    data = stored("other_inputs")
    rows, mapped = other_inputs.rows_of(data), other_inputs.mapped_of(data)
    assert "none of 12 comparisons is beyond" in shown(other_inputs.page(rows, mapped))
    # The sparse measurements under dense names: universality has to fail, and the page to say so.
    sparse = {(row.case, row.inputs.law): row.comparison for row in rows if row.inputs.directions == "sparse"}
    swapped = [replace(row, comparison=sparse.get((row.case, row.inputs.law), row.comparison)) for row in rows]
    assert "12 of 12 comparisons are beyond 3.5 standard errors (the largest" in shown(
        other_inputs.page(swapped, mapped)
    )
    wrong = [replace(one, own=one.usual) for one in mapped]
    assert "does not hold everywhere" in shown(other_inputs.page(rows, wrong))


def test_other_inputs_keep_the_map_with_their_own_constants() -> None:
    network = replace(NETWORK, target=activation("sin"))
    usual, own = network.model("isotropic"), other_inputs.own_map(network, "rademacher")
    # g(+-1) = +-sin(1): both constants by hand.
    first = np.sin(1.0)
    length = np.sqrt(first**2 + (first**2 + 0.1) / network.alpha0)
    assert own[1] == pytest.approx(first / length, rel=1e-14)
    assert own[0] / usual.spike == pytest.approx(length / (usual.spike / (2.0 * 0.6057)), rel=1e-3)


def test_the_bounds_page_follows_the_scan() -> None:
    rates = len(bound_functions.RATES)
    inside = bound_functions.Optimum(
        "erf/erf", (0.1,) * rates, (0.3,) * rates, Minimum(4.0, 0.1), Minimum(4.0, 0.3), (0.2,) * 6
    )
    assert "outside the bounds at 0 of 6" in shown(bound_functions.page([inside]))
    assert "outside the bounds at 1 of 6" in shown(
        bound_functions.page([replace(inside, over_ridge=(0.31, *(0.2,) * 5))])
    )
    # At that rate mu0 is erf itself but for a batch of 1e6 d samples instead of infinitely many.
    model = replace(bound_functions.STEPS[0][1], eta=bound_functions.perfect_rate(1.0)).model("isotropic")
    assert bounds(model).upper < 1e-6


def _stretch(row: spectrum_sample.Row) -> float:
    """How far one standard deviation of a batch's own (1/n0) sum y^2 moves the distribution of a network's bulk.

    It moves c - 1 by its own share, the eigenvalues by that of c, and the distribution by x rho(x) times as much.
    """
    step = row.model.network_step
    if step is None:
        return 0.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    squares = np.tanh(nodes) ** 2
    assert row.model.target.expression == activation("tanh").expression
    mean, fourth = (float(weights @ values / weights.sum()) for values in (squares, squares**2))
    share = (fourth / mean**2 - 1.0) ** 0.5 / (step.alpha0 * spectrum_sample.DIMENSION) ** 0.5
    growth = np.max(np.asarray(row.found.x) * np.asarray(row.found.density))
    return float(share * (row.model.bulk - 1.0) / row.model.bulk * growth)


@pytest.mark.thorough
def test_the_spectrum_page_follows_the_sample() -> None:
    sample = json.loads((FOLDER / "spectrum_sample.json").read_text(encoding="utf-8"))
    rows = spectrum_sample.rows_of(sample)
    shown(spectrum_sample.page(rows))
    for row in rows:
        # Kolmogorov's distance of eigenvalues, which repel each other, is of order 1/p; 0.01 is 20/p.
        assert row.distance < 0.01 + 4.0 * _stretch(row)
        if row.model.network_step is not None:
            # The batch moves a network's spike by d^(-1/2) as well; isotropic rows are further off.
            assert row.distance_from(row.paper) > 2.0 * row.distance
            continue
        # Four standard deviations of the leading term.
        assert abs(row.outliers[0] / row.predicted - 1.0) < 4.0 * row.fluctuation
        for law, value in zip(row.edge_laws, (row.bulk[0], row.bulk[-1]), strict=True):
            # Tracy and Widom's upper tail beyond four standard deviations: 3e-4 of all samples, a normal one 6e-5.
            assert law is None or abs(law.score(value)) < 4.0
    assert all(
        None not in row.edge_laws for row in rows if row.model.alpha > row.model.beta and row.model.network_step is None
    )
    stretched = replace(rows[0], bulk=tuple(1.1 * x for x in rows[0].bulk))
    assert stretched.distance > 0.02
    assert shown(spectrum_sample.page([stretched])) != shown(spectrum_sample.page(rows[:1]))

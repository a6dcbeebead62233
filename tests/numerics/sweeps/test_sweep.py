"""Sweeps: what a description means, how chunks are solved and kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.sweeps.chunk import solve_chunk
from giantsteps.numerics.sweeps.run import WorkerLostError, run
from giantsteps.numerics.sweeps.store import FILE, LOCK, Store, StoreError
from giantsteps.numerics.sweeps.sweep import Experiment, Sweep, SweepError
from giantsteps.reports.answers.sweep_file import read_sweep, sweep_of
from giantsteps.reports.command_line.problems import InputProblem
from tests.shared.sweeping import WORKED, Scripted, axes, rows, runs_of_chunks, small, stored, theory, written


def test_a_product_runs_through_its_points_in_order_the_last_fastest() -> None:
    swept = {"alpha": (0.5, 1.0), "ridge": (0.1, 1.0, 10.0), "beta": (1.0, 2.0)}
    sweep = theory(swept)
    expected = list(product(*swept.values()))
    found = [sweep.point(k) for k in range(len(sweep))]
    assert [tuple(point[name] for name in swept) for point in found] == expected
    assert all(point["alignment"] == 0.8 for point in found)
    with pytest.raises(IndexError):
        sweep.point(len(expected))


def test_a_zip_advances_together() -> None:
    sweep = theory({"alpha": (0.5, 1.0, 2.0), "ridge": (0.1, 1.0, 10.0)}, mode="zip")
    points = [sweep.point(k) for k in range(len(sweep))]
    assert [(point["alpha"], point["ridge"]) for point in points] == [(0.5, 0.1), (1.0, 1.0), (2.0, 10.0)]
    with pytest.raises(SweepError, match="alpha has 2, ridge has 3"):
        theory({"alpha": (0.5, 1.0), "ridge": (0.1, 1.0, 10.0)}, mode="zip")


def test_points_are_enumerated_lazily() -> None:
    # 10^8 points: listing them would take minutes and gigabytes.
    many = tuple(1.0 + k / 1e4 for k in range(10_000))
    sweep = theory({"alpha": many, "ridge": many})
    assert len(sweep) == 10**8
    assert sweep.point(10**8 - 1)["alpha"] == many[-1]
    assert sweep.point(12_345)["ridge"] == many[2345]
    with pytest.raises(SweepError, match="at most 100000000"):
        theory({"alpha": many, "ridge": many, "beta": (1.0, 2.0)})


def test_the_digest_tells_sweeps_apart_and_not_their_spelling(tmp_path: Path) -> None:
    same = "# a remark\n" + WORKED.replace("beta = 1\n", "beta   =  1.0\n")
    other = WORKED.replace("0.8", "0.7")
    digests = []
    for text in (WORKED, same, other):
        digests.append(read_sweep(written(tmp_path, text)).sweep.digest)
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]
    # Were it another one, directories that were begun could not be gone on with.
    assert digests[0] == "c80e7ac2436c7ed042d50039931416c30b1f5c004e671d9d49d1271076c392ce"
    one = read_sweep(written(tmp_path, WORKED)).sweep
    for changes in ({"rows": "gaussian"}, {"width": 50}, {"width": 2000}):
        assert replace(one, **changes).digest not in digests


def test_a_file_gives_ranges_lists_and_numbers(tmp_path: Path) -> None:
    text = WORKED.replace("beta = 1\n", "beta = [0.5, 1, 2]\n") + "[simulation]\ndimension = 100\nseeds = 2\n"
    sweep = read_sweep(written(tmp_path, 'kind = "both"\n' + text)).sweep
    values = {axis.name: axis.values for axis in sweep.axes}
    assert values["alpha"] == (0.5, 1.0, 1.5, 2.0)
    # The middle of three points between 0.01 and 1 in the logarithm is 0.1.
    assert values["ridge"] == (0.01, pytest.approx(0.1, rel=1e-15), 1.0)
    assert values["beta"] == (0.5, 1.0, 2.0)
    assert [axis.name for axis in sweep.swept] == ["alpha", "ridge", "beta"]
    assert sweep.experiment == Experiment(100, 2)
    groups = sweep_of({**dict.fromkeys(("alpha", "beta", "ridge", "spike", "alignment"), 1),
                       "activation": "tanh", "target": "sin", "readout": "1:0.5:1,-1:0.5:2"}).groups  # fmt: skip
    assert groups == (ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-1.0, 0.5, 2.0))
    # Each letter with each bias.
    both = read_sweep(written(tmp_path, 'readout = "1:0.5,-1:0.5"\nbias = "0.3:0.5,-0.3:0.5"\n' + WORKED)).sweep.groups
    assert [(g.weight, g.bias) for g in both] == [(1.0, 0.3), (1.0, -0.3), (-1.0, 0.3), (-1.0, -0.3)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("alpha =", "alfa ="), ("alfa", "not known", "alpha")),
        (('"0.5:2:4"', '"0.5:2"'), ("alpha", "START:STOP:COUNT", 'alpha = "log:0.1:10:20"')),
        (('"0.5:2:4"', "-1"), ("alpha -1", "> 0", "alpha = 1.5")),
        (('"0.5:2:4"', "nan"), ("alpha", "finite")),
        (('"0.5:2:4"', "true"), ("alpha", "True", "alpha = 1.5")),
        (('"0.5:2:4"', "[]"), ("alpha", "empty")),
        (('"0.5:2:4"', '[1, "2"]'), ("alpha", "'2'")),
        (('"tanh(z)"', '"tanh(y)"'), ("activation", "y")),
        (('"tanh(z)"', "3"), ("activation", "3", "text")),
        (('activation = "tanh(z)"\n', ""), ("activation", "missing")),
        (("beta = 1\n", ""), ("missing: beta;",)),
        (("spike = 1.0\n", ""), ("missing: spike;",)),
        (("bulk = 1.0\n", ""), ("missing: bulk;",)),
        (("spike = 1.0\nbulk = 1.0\nalignment = 0.8\n", "eta = 1.0\n"), ("missing: alpha0;",)),
        (("spike = 1.0\n", "eta = 1.0\n"), ("bulk and eta", "both given")),
        (("alignment = 0.8\n", "alignment = 1.8\n"), ("alignment", "-1 to 1")),
        (("beta = 1\n", 'beta = 1\nkind = "theories"\n'), ("kind", "theories", "both")),
        (("beta = 1\n", 'beta = 1\nmode = "zip"\n'), ("alpha has 4, ridge has 3",)),
        (("beta = 1\n", 'beta = 1\nkind = "both"\n'), ("needs a table [simulation]",)),
        (("0.8\n", "0.8\n[simulation]\ndimension = 100\nseeds = 2\n"), ("no table [simulation]",)),
        (("0.8\n", "0.8\n[simulation]\ndimension = 1.5\nseeds = 2\n"), ("dimension", "1.5", "whole number")),
        (("0.8\n", "0.8\n[simulation]\ndimension = 100\n"), ("seeds", "nothing")),
        (("0.8\n", "0.8\n[simulation]\ndimension = 9\nseeds = 2\ncolour = 1\n"), ("colour", "[simulation]")),
        (("beta = 1\n", 'beta = 1\nloss = "hing"\n'), ("loss", "hing", "square", "huber:1")),
        (("beta = 1\n", 'beta = 1\nkind = "simulation"\nloss = "hinge"\n'), ("loss", "hinge", 'kind = "theory"')),
        (("beta = 1\n", 'beta = 1\nbias = "learned"\n'), ("bias", "learned", "quenched", "bias = ")),
        (("beta = 1\n", 'beta = 1\nbias = "1:0.5"\n'), ("bias", "add up to 0.5")),
        (("beta = 1\n", 'beta = 1\nbulk_model = "network"\n'), ("alpha0", "eta")),
        (("beta = 1\n", "beta = = 1\n"), ("TOML", "line 5")),
        (("beta = 1\n", "beta = " + "[" * 20_000 + "\n"), ("nests too deeply", "beta = [0.5, 1, 2]")),
    ],
)
def test_a_bad_description_is_refused_in_one_sentence(
    tmp_path: Path, change: tuple[str, str], words: tuple[str, ...]
) -> None:
    assert change[0] in WORKED
    path = written(tmp_path, WORKED.replace(*change, 1))
    with pytest.raises(InputProblem) as caught:
        read_sweep(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    assert "--" not in sentence
    for word in words:
        assert word in sentence


# --- chunks


def test_a_failed_point_keeps_its_reason_and_spoils_no_neighbour() -> None:
    # Without ridge the test error diverges at the interpolation threshold alpha = beta = 1, and only there.
    sweep = theory({"alpha": (0.5, 1.0, 2.0), "ridge": (0.0, 0.1)})
    found = rows(sweep)
    assert [row["converged"] for row in found] == [1, 1, 0, 1, 1, 1]
    assert "interpolation threshold" in found[2]["status"]
    assert found[2]["test_error"] is None
    # Below the threshold V diverges like 1/ridge; a database holds infinity, and the point is a good one.
    assert found[0]["V2"] == math.inf
    # A step that does not exist for this activation fails at every point with alpha0 > 0, and not at alpha0 = 0.
    fixed = {"beta": 1.0, "ridge": 0.1, "alpha": 1.0, "eta": 1.0}
    stepped = Sweep("sign(z)", "sin(z)", axes({"alpha0": (0.0, 1.0)}, fixed))
    found = rows(stepped)
    assert [row["converged"] for row in found] == [1, 0]
    assert "jumps" in found[1]["status"]
    assert (found[0]["spike"], found[0]["bulk"], found[1]["spike"]) == (0.0, 1.0, None)


def test_a_simulation_shares_its_draws_over_ridges() -> None:
    experiment = Experiment(40, 3, seed=5)
    sweep = theory({"alpha": (0.5, 0.51, 1.5), "ridge": (0.1, 1.0)}, kind="both", experiment=experiment)
    found = rows(sweep)
    model = Model(activation("tanh(z)"), activation("sin(z)"), **sweep.point(3))
    single = simulate(model, dimension=40, seeds=3, seed=5)
    # The same draws and the same readout, solved beside another ridge: equal to rounding. (The test set is not the
    # same: it is spread along the mean readout of all ridges.)
    assert found[3]["simulated_training_error"] == pytest.approx(single.training_error.mean, rel=1e-10)
    assert found[3]["simulated_q2_standard_error"] == pytest.approx(single.estimates["q2"].standard_error, rel=1e-8)
    # 0.51 times 40 is 20.4: the theory stands at the ratio realised, 20/40.
    assert [(row["n"], row["p"]) for row in found] == [(20, 40)] * 4 + [(60, 40)] * 2
    assert found[2]["test_error"] == found[0]["test_error"]


def test_features_given_by_their_step_are_shown_with_what_it_makes_of_them() -> None:
    fixed = {"beta": 1.0, "ridge": 0.1, "alpha": 1.0, "alpha0": 2.0}
    sweep = theory({"eta": (0.0, 2.0)}, fixed=fixed, kind="simulation", experiment=Experiment(30, 1))
    for row, eta in zip(rows(sweep), (0.0, 2.0), strict=True):
        model = Model.from_gradient_step(
            activation("tanh(z)"), activation("sin(z)"), eta=eta, bulk_model="isotropic", **fixed
        )
        assert (row["spike"], row["bulk"], row["alignment"]) == (model.spike, model.bulk, model.alignment)
        # No step is made of a batch that is not drawn.
        assert (row["n"], row["p"], row["n0"], row["status"]) == (30, 30, 0, "simulated")


def test_an_experiment_that_cannot_be_run_is_a_failed_point() -> None:
    # alpha = 0.01 at d = 30 leaves no sample.
    sweep = theory({"alpha": (0.01, 1.0)}, kind="simulation", experiment=Experiment(30, 1))
    found = rows(sweep)
    assert [row["converged"] for row in found] == [0, 1]
    assert "samples" in found[0]["status"]
    assert found[1]["status"] == "simulated"
    # One seed shows no spread.
    assert found[1]["simulated_test_error_standard_error"] is None


# --- the store


def test_a_chunk_is_in_the_file_whole_or_not_at_all(tmp_path: Path) -> None:
    sweep = small()
    with Store(tmp_path / "out", sweep, resume=False, origin={"suite": "1"}) as store:
        chunks = list(store.pending())
        assert chunks == [(0, 0, 16), (1, 16, 32), (2, 32, 48)]
        good = solve_chunk(sweep, 0, 16)
        store.add(0, good)

        def broken() -> Iterator[Any]:
            yield from solve_chunk(sweep, 16, 20)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.add(1, broken())  # type: ignore[arg-type]
        assert store.stored == 16
        assert [number for number, _, _ in store.pending()] == [1, 2]
        with pytest.raises(StoreError, match="another process"):
            store.add(0, good)
        # A worker that gives back too little, too much or something else is found out.
        for wrong in (good[:-1], [*good[1:], good[0]], good, solve_chunk(sweep, 32, 47)):
            with pytest.raises(StoreError):
                store.add(2, wrong)
        assert store.stored == 16
        # The file can be read while the sweep is under way.
        assert stored(tmp_path / "out") == good


def test_a_resumed_sweep_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    sweep = small()
    with Store(tmp_path / "whole", sweep, resume=False, origin={}) as store:
        assert run(store) == 48
    with Store(tmp_path / "parts", sweep, resume=False, origin={"suite": "1"}) as store:
        store.add(1, solve_chunk(sweep, 16, 32))
    seen: list[int] = []
    with (
        Store(tmp_path / "parts", sweep, resume=True, origin={"suite": "2"}) as store,
        ThreadPoolExecutor(2) as executor,
    ):
        assert store.kept == 16
        assert run(store, executor=executor, window=2, progress=seen.append) == 32
    # Bit for bit: chunks are cut the same way, whoever computes them.
    assert stored(tmp_path / "parts") == stored(tmp_path / "whole")
    assert runs_of_chunks(tmp_path / "parts") == [(0, 2), (1, 1), (2, 2)]
    assert stored(tmp_path / "parts", "runs") == [(1, "1"), (2, "2")]
    assert seen == [16, 32, 48]


def test_a_directory_is_not_shared_and_not_mixed_up(tmp_path: Path) -> None:
    sweep = small()

    def opened(other: Sweep = sweep, resume: bool = True, name: str = "out") -> Store:
        return Store(tmp_path / name, other, resume=resume, origin={})

    with opened(), pytest.raises(SweepError, match="another sweep is writing"):
        opened()
    with pytest.raises(SweepError, match="is not empty"):
        opened(resume=False)
    with pytest.raises(SweepError, match="different sweep"):
        opened(theory({"alpha": (0.5, 1.0)}))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("precious")
    with pytest.raises(SweepError, match="holds other files"):
        opened(name="notes")
    # Nor with the lock of a sweep that came no further.
    (tmp_path / "notes" / LOCK).touch()
    with pytest.raises(SweepError, match="holds other files"):
        opened(name="notes")
    assert (tmp_path / "notes" / "a.txt").read_text() == "precious"
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / FILE).write_text("this is not a database, and long enough to show it" * 10)
    # A refusal lets go of the directory, also while its error is kept.
    with pytest.raises(SweepError, match="cannot be used") as kept:
        opened(name="junk")
    with pytest.raises(SweepError, match="cannot be used"):
        opened(name="junk")
    assert kept.value is not None
    # A kill before anything was written leaves an empty file: there is nothing to lose, and the sweep begins.
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / FILE).touch()
    with opened(name="early") as store:
        assert store.kept == 0


def test_what_was_not_begun_is_called_off_when_one_task_fails(tmp_path: Path) -> None:
    executor = Scripted({1: ZeroDivisionError("a defect"), 2: "waits", 3: "waits"})
    with Store(tmp_path / "out", small(), resume=False, origin={}) as store:
        with pytest.raises(ZeroDivisionError, match="a defect"):
            run(store, executor=executor, window=3)
        assert store.stored == 0
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_what_was_finished_is_kept_when_a_worker_dies(tmp_path: Path) -> None:
    sweep = small()
    with Store(tmp_path / "out", sweep, resume=False, origin={}) as store:
        with pytest.raises(WorkerLostError):
            run(store, executor=Scripted({2: BrokenProcessPool("a worker died"), 4: "refused"}), window=3)
        assert [number for number, _, _ in store.pending()] == [1]
        assert store.stored == 32
        assert run(store) == 16
        assert store.stored == 48

"""Files of weights: what is written is read, and nothing in a file is executed."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantsteps.reports.answers.weights_file import read_array
from giantsteps.reports.command_line.problems import InputProblem
from tests.shared.command_line import document

EXAMPLE = np.linspace(-1.0, 1.0, 12).reshape(3, 4)


def tensor(kind: str = "Float", size: Sequence[int] = (3, 4), stride: Sequence[int] = (4, 1), offset: int = 0) -> str:
    """The pickle of a tensor in a storage of twelve numbers, in letters: torch.save writes the same in bytes."""
    shapes = "".join("(" + "".join(f"I{n}\n" for n in numbers) + "t" for numbers in (size, stride))
    storage = f"(S'storage'\nctorch\n{kind}Storage\nS'0'\nS'cpu'\nI12\ntQ"
    return f"ctorch._utils\n_rebuild_tensor_v2\n({storage}I{offset}\n{shapes}I00\n{ORDERED}tR"


ORDERED = "ccollections\nOrderedDict\n(tR"


def archive(path: Path, text: str | bytes, storage: bytes = b"", order: str = "little") -> str:
    """What torch.save of torch 2 writes around its pickle."""
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {"data.pkl": text, "byteorder": order, "data/0": storage, "version": "3\n"}.items():
            file.writestr(f"archive/{name}", data)
    return str(path)


@pytest.mark.parametrize("order", ["little", "big"])
def test_a_state_dict_is_read_as_the_same_arrays_in_npz(tmp_path: Path, order: str) -> None:
    tensors = {"weight": tensor(), "turned": tensor("Float", (2, 3), (1, 4), 1), "bias": tensor("Float", (4,), (1,))}
    state = ORDERED + "".join(f"S'{name}'\n{one}s" for name, one in tensors.items()) + "(dS'_metadata'\nI1\nsb"
    floats = EXAMPLE.astype(f"{'<' if order == 'little' else '>'}f4")
    path = archive(tmp_path / "a.pt", f"(dS'model'\n{state}sS'epoch'\nI3\ns.", floats.tobytes(), order)
    np.savez(tmp_path / "a.npz", weight=floats, turned=floats[:, 1:3].T, bias=floats[0])
    for name, key in (("weight", "model.weight"), ("turned", "model.turned")):
        np.testing.assert_array_equal(read_array(path, key, 2), read_array(f"{tmp_path}/a.npz::{name}", None, 2))
    np.testing.assert_array_equal(read_array(path, None, 1), read_array(f"{tmp_path}/a.npz", None, 1))
    halves = (EXAMPLE.astype("<f4").view("<u4") >> 16).astype(f"{floats.dtype.byteorder}u2")
    path = archive(tmp_path / "b.pt", f"{tensor('BFloat16')}.", halves.tobytes(), order)
    np.testing.assert_allclose(read_array(path, None, 2), EXAMPLE, rtol=2.0**-7)  # truncated to eight bits


class Called:
    """Calls a function when it is unpickled."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


EVIL: dict[str, str | bytes] = {
    "os.system": pickle.dumps({"weight": Called(os.system, "touch planted")}, protocol=2),
    "builtins.eval": pickle.dumps(Called(eval, "open('planted', 'w')"), protocol=4),
    "posix.popen": "(S'touch planted'\niposix\npopen\n.",  # the old instruction INST
    "pathlib": pickle.dumps(Path("planted"), protocol=2),
    "torch.load": "ctorch\nload\n(S'planted'\ntR.",
    "torch._utils._rebuild_parameter": "ctorch._utils\n_rebuild_parameter\n(tR.",
}


@pytest.mark.parametrize("name", EVIL)
def test_a_pickle_of_anything_else_is_refused_and_nothing_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputProblem, match="pickle asks for") as refused:
        read_array(archive(tmp_path / "a.pt", EVIL[name]), None, 2)
    assert name.replace("os.", "posix.") in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]


@pytest.mark.parametrize("shape", [((3, 4), (4, 1), 1), ((3, 4), (-4, 1), 11), ((99, 99), (0, 0), 0)])
def test_a_tensor_beyond_its_storage_is_refused(tmp_path: Path, shape: Any) -> None:
    with pytest.raises(InputProblem, match="beyond its storage"):
        read_array(archive(tmp_path / "a.pt", f"{tensor('Float', *shape)}.", bytes(48)), None, 2)


def test_a_small_file_that_grows_without_end_is_answered(tmp_path: Path) -> None:
    doubled = "".join(f"(dp{n}\nS'a'\ng{n - 1}\nsS'b'\ng{n - 1}\ns0" for n in range(1, 40))
    path = archive(
        tmp_path / "a.pt", f"(dp0\nS'w'\n{tensor('Float')}s0{doubled}g39\n.", EXAMPLE.astype("<f4").tobytes()
    )
    np.testing.assert_allclose(read_array(path, None, 2), EXAMPLE, rtol=1e-6)
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("W.npy", "w") as entry:
        for _ in range(1100):
            entry.write(bytes(1 << 20))
    with pytest.raises(InputProblem, match="unpacked it is larger by more than 1 GiB"):
        read_array(str(tmp_path / "b.npz"), None, 2)


def test_an_array_is_chosen_by_name_and_a_bad_file_is_one_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=EXAMPLE, b=2.0 * EXAMPLE, c=EXAMPLE[0])
    np.save(tmp_path / "object.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "text.npz").write_text("no weights", encoding="utf-8")
    np.testing.assert_array_equal(read_array(f"{tmp_path}/two.npz", "b", 2), 2.0 * EXAMPLE)
    for name, said in (
        ("two.npz", "2 arrays where one matrix is wanted; accepted are 'a', 'b'"), ("two.npz::x", "no matrix 'x'"),
        ("none.npz", "No such file"), (".", "cannot be read"), ("object.npy", "no file of arrays"),
        ("text.npz", "no file of arrays"),
    ):  # fmt: skip
        with pytest.raises(InputProblem, match=said):
            read_array(f"{tmp_path}/{name}", None, 2)


def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "whole.npz", a=np.arange(400.0).reshape(20, 20))
    whole, rng = (tmp_path / "whole.npz").read_bytes(), np.random.default_rng(3)
    refused = 0
    for _ in range(200):
        damaged = np.frombuffer(whole, np.uint8).copy()
        damaged[rng.integers(len(whole), size=3)] = rng.integers(256, size=3)
        (tmp_path / "damaged.npz").write_bytes(damaged.tobytes())
        try:
            read_array(f"{tmp_path}/damaged.npz", None, 2)
        except InputProblem:
            refused += 1
    assert refused > 100


def test_the_command_measures_a_file_beside_the_theory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(1).standard_normal((40, 80)) / 80**0.5
    np.savez(tmp_path / "net.npz", W=rows + np.eye(80)[0], W0=rows, theta=np.eye(80)[0])
    file = f"{tmp_path}/net.npz"
    line = ["weights", file, "--key", "W", "--before", f"{file}::W0", "--theta", file, "--rows", "gaussian", "--json"]
    found = document(capfd, [*line, *["--spike", "1", "--bulk", "1", "--alignment", "1"]])
    measures = found["measures"]
    assert measures["spike"]["theory"] == measures["rank"]["measured"] == 1.0
    assert max(abs(one["difference"] or 0.0) for one in measures.values()) < 3.0  # one seed
    assert found["provenance"]["parameters"]["beta"] == 0.5

"""Arrays of a file of weights: .npy, .npz, or a state_dict as torch.save writes it. Nothing in it is executed.

A state_dict is a zip archive of a pickle and of raw storages. All that the pickle may call is `_Reader.find_class`'s.
"""

from __future__ import annotations

import io
import lzma
import math
import pickle
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.reports.command_line.problems import InputProblem, shown

# The types of storages; a bfloat16 is the upper half of a float32.
_TYPES = {"Double": "f8", "Float": "f4", "Half": "f2", "BFloat16": "u2", "Long": "i8", "Int": "i4", "Byte": "u1"}
# How many bytes compression may save: an archive of zeros takes a thousand times its size in memory.
_MOST_GROWN = 1 << 30
# What readers raise for a damaged file.
_DAMAGED = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, RuntimeError, TypeError, ValueError),
    *(lzma.LZMAError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def read_array(given: str, key: str | None, dimensions: int) -> NDArray[Any]:
    """The array of so many dimensions in FILE, of the name `key`, or in FILE::NAME. Raises InputProblem."""
    name, _, own = given.partition("::")
    arrays = {known: value for known, value in _arrays(name).items() if value.ndim == dimensions}
    wanted, kind = own or key, {1: "vector", 2: "matrix"}[dimensions]
    if wanted is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if wanted in arrays:
        return arrays[wanted]
    what = f"{len(arrays)} arrays where one {kind} is wanted" if wanted is None else f"no {kind} {shown(wanted)}"
    listed = ", ".join(shown(known, 40) for known in list(arrays)[:8]) or "none"
    raise InputProblem(f"{shown(name)} has {what}; accepted are {listed}, as --key NAME or FILE::NAME, like net.npz::W")


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a file by name."""
    try:
        with Path(name).open("rb") as file:
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as archive:
                    if sum(one.file_size - one.compress_size for one in archive.infolist()) > _MOST_GROWN:
                        raise pickle.UnpicklingError("unpacked it is larger by more than 1 GiB")
                    for entry in archive.namelist():
                        if entry.endswith("/data.pkl"):
                            return dict(_named(_Reader(archive, entry).load(), "", set()))
            file.seek(0)
            found = np.load(file, allow_pickle=False)
            return {"array": found} if isinstance(found, np.ndarray) else dict(found)
    except OSError as error:
        why = f"cannot be read ({error.strerror or 'damaged'})"
    except pickle.UnpicklingError as error:
        why = f"is not read: {error}"
    except _DAMAGED:
        why = "is damaged, or is no file of arrays"
    raise InputProblem(
        f"{shown(name)} {why}; accepted are .npy, .npz and what torch.save(model.state_dict(), FILE) writes, for "
        "example weights.npz"
    )


def _named(value: object, path: str, seen: set[int]) -> list[tuple[str, NDArray[Any]]]:
    """The arrays of a state_dict, or of a checkpoint that holds some; a dictionary that occurs twice is listed once."""
    if isinstance(value, np.ndarray):
        return [(path or "array", value)]
    inner = value.items() if isinstance(value, dict) and id(value) not in seen else ()
    seen.add(id(value))
    return [found for key, one in inner for found in _named(one, f"{path}.{key}" if path else str(key), seen)]


class _Entries(dict[Any, Any]):
    """In place of OrderedDict; the attributes of a state_dict are forgotten."""

    def __setstate__(self, _: object) -> None: ...


class _Reader(pickle.Unpickler):
    """A pickle of tensors in an archive; raises UnpicklingError for any other name than theirs, before it is called."""

    def __init__(self, archive: zipfile.ZipFile, entry: str) -> None:
        super().__init__(io.BytesIO(archive.read(entry)))
        self._archive, self._folder = archive, entry.removesuffix("data.pkl")
        order = f"{self._folder}byteorder"
        self._big = order in archive.namelist() and archive.read(order) == b"big"

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return _Entries
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return self._tensor
        if module == "torch" and name.removesuffix("Storage") in _TYPES:
            return name.removesuffix("Storage")
        raise pickle.UnpicklingError(f"its pickle asks for {shown(f'{module}.{name}')}")

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        _, kind, key, _, count = pid
        numbers = np.dtype(_TYPES[kind]).newbyteorder(">" if self._big else "<")
        found = np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), numbers, count)
        return (found.astype("u4") << 16).view("f4") if kind == "BFloat16" else found

    def _tensor(self, storage: NDArray[Any], offset: int, size: Any, stride: Any, *_: object) -> NDArray[Any]:
        last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        if min(offset, *size, *stride, 0) < 0 or max(last + 1, math.prod(size)) > len(storage):
            raise pickle.UnpicklingError("it has a tensor beyond its storage")
        steps = tuple(s * storage.itemsize for s in stride)
        return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()

"""What units of work made, kept in build/kept until something that they rest on changes.

A report that was interrupted goes on where it stopped, and one of the same mathematics runs nothing again. The name of
a unit's folder is a digest of all that its result can depend on: the source of whole rooms, stored samples, the
versions of Python and of every package. Only `giantsteps report` uses what is kept: `giantsteps verify` and the drift
check run all.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import shutil
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import ParamSpec, TypeVar

from giantsteps.reports.command_line.machine.whole_files import placed

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")

_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Kept:
    """Where the results of units with the same ground are kept; None where nothing is.

    ``edited`` tells whether the ground was written to since the folder was named: what it makes then is not kept.
    """

    folder: Path | None
    edited: Callable[[], bool] | None = None

    @property
    def count(self) -> int:
        """How many results are there."""
        return 0 if self.folder is None else len(list(self.folder.glob("*.pickle")))

    def unit(
        self, name: str, function: Callable[Arguments, Made], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Made:
        """What ``function`` made of these arguments for the unit of this name, from its file or made now.

        The name stands for the arguments: units that differ in them have names that differ. A file that is damaged is
        made again.
        """
        path = None if self.folder is None else self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.pickle"
        if path is not None and (content := _whole(path)) is not None:
            # This project's own file, as much trusted as the code beside it.
            found: Made = pickle.loads(content)
            return found
        found = function(*args, **kwargs)
        if path is not None and not (self.edited and self.edited()):
            content = pickle.dumps(found)
            # What cannot be kept, on a full disk say, or while another run clears the folder, is made again next time.
            with suppress(OSError), placed() as beside:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside(path).write_bytes(hashlib.sha256(content).digest() + content)
        return found


def _whole(path: Path) -> bytes | None:
    """What was written, None where there is nothing or not all of it."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def ground(root: Path, parts: Iterable[str], but: Container[Path] = ()) -> str:
    """A digest of every file of source and every stored sample below these parts of a tree ``but`` some, and of what
    runs them.
    """
    found = hashlib.sha256(f"{platform.python_version()} {platform.platform()} {platform.processor()}".encode())
    installed = {f"{d.metadata['Name']} {d.version}" for d in distributions()}
    for line in sorted(installed):
        found.update(line.encode())
    for file in _files(root, parts, but):
        found.update(file.relative_to(root).as_posix().encode())
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _files(root: Path, parts: Iterable[str], but: Container[Path]) -> Iterator[Path]:
    for part in parts:
        path = root / part
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".py", ".json"))
        yield from (file for file in files if file not in but)


def kept_at(folder: Path, root: Path, parts: tuple[str, ...], but: frozenset[Path] = frozenset()) -> Kept:
    """What is kept in a folder of units that rest on these parts of a tree."""
    begun = time.time_ns()
    return Kept(folder / ground(root, parts, but), partial(_edited, begun, root, parts, but))


def _edited(begun: int, root: Path, parts: tuple[str, ...], but: frozenset[Path]) -> bool:
    """Whether a file was written since then: quicker to ask than what it holds."""
    return any(file.stat().st_mtime_ns >= begun for file in _files(root, parts, but))


def forget(folder: Path, but: Iterable[Kept] = ()) -> None:
    """Remove what is kept there, ``but`` what these hold."""
    names = {kept.folder.name for kept in but if kept.folder is not None}
    for other in folder.glob("*"):
        if other.is_dir() and other.name not in names:
            shutil.rmtree(other, ignore_errors=True)

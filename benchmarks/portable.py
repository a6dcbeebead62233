"""The fast tests as another machine would run them: `make portable`.

Each run takes a copy of the source to a path with spaces, installs it there, and runs the
fast tests in random order on an emulated older processor, without HOME, in a narrow terminal and the C locale; where
root runs it, as a user without privileges. Options: names of `PROCESSORS` (default: all), or of the ends of the ranges
in pyproject.toml: `oldest` (the first release of each library that is accepted) and `newest` (what the index has).
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

# What NumPy, OpenBLAS and the C library may use: the instructions of an older processor.
PROCESSORS = {
    "nehalem": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX,-AVX512F,-FMA4,-BMI2",
    },
    "haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
}
ENDS = ("oldest", "newest")
ROOT = Path(__file__).parents[1]
NOBODY = 65534
# What of the caller's environment an installation from a package index needs.
_KEPT = ("PATH", "PIP_CERT", "PIP_DEFAULT_TIMEOUT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "SSL_CERT_FILE", "CI")


def copied(place: Path) -> Path:
    """The tracked files and those that git does not ignore, in a folder below this one."""
    listed = ("git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, capture_output=True, check=True).stdout.decode().split("\0")
    source = place / "odd path" / "a clone"
    for name in names:
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    return source


def constraints(end: str) -> str:
    """The text of constraints.txt for one end of the ranges: the lower bounds of pyproject.toml, or nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    found = (re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", one) for one in listed if end == "oldest")
    return "".join(sorted({f"{one[1]}=={one[2]}\n" for one in found if one}))


def environment(place: Path, processor: str) -> dict[str, str]:
    """The variables of a user who has little: no HOME, sixty columns, the C locale, an older processor."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    temporary = place / "tmp"
    temporary.mkdir(exist_ok=True)
    emulated = {} if processor in ENDS else PROCESSORS[processor]
    return kept | emulated | {"TMPDIR": str(temporary), "COLUMNS": "60", "LC_ALL": "C"}


def other_user() -> tuple[dict[str, Any], str]:
    """Options of `subprocess.run` for a user without privileges, and a Python that this user may run.

    Only root can change user; without such a Python too the tests stay with the user who asked.
    """
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    usable = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    for python in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3") if os.geteuid() == 0 else ():
        try:
            found = subprocess.run((python, "-c", usable), cwd="/", env={}, check=False, **who)  # type: ignore[call-overload]
        except OSError:  # there is none, or its folder is closed to others
            continue
        if found.returncode == 0:
            return who, python
    return {}, sys.executable


def run(place: Path, processor: str, seed: int) -> int:
    """Install and test there; the exit code of the tests."""
    source, asked = copied(place), environment(place, processor)
    if processor in ENDS:
        (source / "constraints.txt").write_text(constraints(processor), encoding="utf-8")
    who, python = other_user()
    for path in (place, *place.rglob("*")) if who else ():
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    order = f"--random-order --random-order-seed={seed}"
    print(f"portable: {processor}, {'another user' if who else 'this user'}, {source}, {order}", flush=True)
    command = ("make", "test", f"PYTHON={python}", f"PYTEST_OPTIONS={order}")
    return subprocess.run(command, cwd=source, env=asked, check=False, **who).returncode


def main(names: list[str]) -> int:
    """Run on these processors, or on all; 1 if one fails."""
    failed = []
    for name in names or list(PROCESSORS):
        with tempfile.TemporaryDirectory(prefix="portable ") as folder:
            if run(Path(folder), name, random.SystemRandom().randrange(10**6)) != 0:
                failed.append(name)
    print(f"portable: {len(failed)} of {len(names or PROCESSORS)} runs failed {' '.join(failed)}".rstrip())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

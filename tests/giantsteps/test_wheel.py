"""The wheel: one package, `giantsteps`, that needs none of the extras to solve and stands beside foreign packages."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
# What the distribution depends on, and what these bring along; everything else is an extra.
NEEDED = (
    *("sympy", "mpmath", "numpy", "numpy.libs", "scipy", "scipy.libs", "click"),
    *("flint", "python_flint", "python_flint.libs"),
)
ROOMS = ("derivations", "numerics", "verify", "reports")
SOLVE = """
import sys
import verify
import giantsteps

assert verify.FOREIGN
model = giantsteps.Model("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8)
print(repr(giantsteps.solve(model).test_error))
print(sorted(name for name in sys.modules if name.partition(".")[0] in {"numerics", "derivations", "reports"}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built with the build backend that is installed."""
    made = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(made)], cwd=ROOT, check=True, capture_output=True, timeout=120)
    (found,) = made.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as site-packages of an empty environment: the wheel, what it needs, and a foreign package `verify`."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    installed = Path(sysconfig.get_path("purelib"))
    for name in NEEDED:
        for found in [installed / name, *installed.glob(f"{name}-*.dist-info")]:
            if found.exists():
                (site / found.name).symlink_to(found)
    (site / "verify").mkdir()
    (site / "verify" / "__init__.py").write_text("FOREIGN = True\n", encoding="utf-8")
    return site


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds nothing but the standard library and this folder."""
    start = f"import runpy, sys; sys.path.append({str(site)!r}); "
    code = f"{start}sys.argv[0] = 'giantsteps'; runpy.run_module('giantsteps', run_name='__main__')"
    given = ["-c", code, *arguments] if arguments else ["-c", start + SOLVE]
    return subprocess.run(
        [sys.executable, "-I", "-S", *given], cwd=site, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_wheel_installs_one_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"giantsteps"}
    beside = {"__init__.py", "__main__.py", "py.typed", "reports/ledger.json", "reports/templates/layout.html"}
    assert {f"giantsteps/{name}" for name in beside} <= set(names)
    here = {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert {f"giantsteps/{name}" for name in here} <= set(names)


def test_a_wheel_beside_a_foreign_package_solves_the_worked_value(place: Path) -> None:
    done = python(place)
    assert done.stderr == ""
    value, loaded = done.stdout.splitlines()
    assert float(value) == pytest.approx(0.12586560853377427, rel=1e-12)  # certified, see docs/limits.md
    assert loaded == "[]"


def test_the_commands_of_the_wheel_name_the_extra_they_miss(place: Path) -> None:
    worked = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8"
    solved = python(place, "solve", *worked.split())
    assert (solved.returncode, solved.stderr) == (0, "")
    assert "0.1258656085" in solved.stdout
    verified = python(place, "verify", "--properties", "limits.narrow")
    assert verified.returncode == 2
    assert verified.stderr == (
        "giantsteps: this needs hypothesis, which is not installed; in a checkout: pip install '.[verify]'\n"
    )
    drawn = python(place, "activation", "tanh", "--plot", "tanh.svg")
    assert drawn.returncode == 2
    assert "pip install '.[report]'" in drawn.stderr

"""What CONTRIBUTING.md says of files and commands; its house is in test_layering, its example in test_new_claim."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

from tests.shared.source import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = set(re.findall(r"`([^`\n]+)`", TEXT))
# Runs a command line, then prints file and function of every call, in the order of first calls.
FIRST_CALLS = """
import json, os, sys
import giantsteps
seen = {}
def note(frame, event, arg):
    if event == "call":
        seen.setdefault((os.path.relpath(frame.f_code.co_filename), frame.f_code.co_qualname))
sys.setprofile(note)
giantsteps.main()
sys.setprofile(None)
print(json.dumps(list(seen)), file=sys.stderr)
"""


def test_every_file_it_names_exists() -> None:
    named = {name for name in QUOTED if re.fullmatch(r"[a-z_./*0-9]+/[a-z_.*0-9]*", name)}
    assert len(named) > 40
    assert [name for name in sorted(named) if not name.startswith("build/") and not any(ROOT.glob(name))] == []


def test_every_target_of_make_exists() -> None:
    targets = {name.split()[1] for name in QUOTED if name.startswith("make ")}
    assert targets
    assert targets <= set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_a_model_goes_through_solve_as_drawn() -> None:
    section = TEXT.split("## The way of a model")[1]
    (command,) = re.findall(r"`giantsteps (solve --[^`]+)`", section)
    drawn = [tuple(line.split()[:2]) for line in section.split("```text\n")[1].split("```")[0].splitlines()]
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALLS, *shlex.split(command)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    calls = [tuple(call) for call in json.loads(done.stderr.splitlines()[-1])]
    assert [call for call in calls if call in drawn] == drawn

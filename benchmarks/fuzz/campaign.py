"""Command lines and certificates that nobody chose, held against the contract of the command line: `make fuzz`, or

    python -m benchmarks.fuzz.campaign [--lines 100000] [--certificates 10000] [--workers 2]
    python -m benchmarks.fuzz.campaign show                  print what is stored

What it finds is stored in fuzz.json after every block of a hundred, and it goes on where it stopped; `--again` begins
anew. Trial n is the same one in every run. What is stored speaks of the code that it was run on, version by version.
"""

from __future__ import annotations

import resource
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import as_completed
from pathlib import Path

from benchmarks.campaign import Entry, main
from benchmarks.fuzz.lines import line
from benchmarks.fuzz.trial import fault_of_certificate, fault_of_line, run_line
from giantsteps.reports.command_line.machine.workers import pool

DATA = Path(__file__).resolve().parent / "fuzz.json"
BLOCK = 100
# Memory that a trial may ask for: what does not fit has to be refused, not to bring the machine down.
MEMORY = 4 * 2**30


def _line(number: int) -> tuple[str, Entry]:
    """How a command line ended, by its exit code, with its words and what is wrong."""
    ended = run_line(words := line(number))
    return str(ended.code), {"words": words, "fault": fault_of_line(words, ended)}


def _certificate(number: int) -> tuple[str, Entry]:
    """Whether the certificate of a model contains what it has to, if there is one, and what is wrong."""
    fault = fault_of_certificate(number)
    return "none" if fault is None else "fault" if fault else "contained", {"fault": fault or ""}


KINDS = {"lines": _line, "certificates": _certificate}


def block_of(kind: str, block: int) -> Entry:
    """A block of trials: how many ended how, and those with a fault."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    found = [(number, *KINDS[kind](number)) for number in range(BLOCK * block, BLOCK * (block + 1))]
    counts = Counter(outcome for _, outcome, _ in found)
    faults = [{"number": number, **entry} for number, _, entry in found if entry["fault"]]
    return {"kind": kind, "block": block, "counts": counts, "faults": faults}


def run(asked: Namespace, entries: list[Entry]) -> Iterator[list[Entry]]:
    """Try what is not known yet; yields all blocks after each one."""
    done = {(one["kind"], one["block"]) for one in entries}
    wanted = {(kind, n) for kind in KINDS for n in range(-(-vars(asked)[kind] // BLOCK))}
    with pool(workers=asked.workers) as executor:
        for future in as_completed([executor.submit(block_of, *one) for one in sorted(wanted - done)]):
            entries = sorted([*entries, future.result()], key=lambda one: (one["kind"], one["block"]))
            yield entries


def told(entries: list[Entry]) -> tuple[str, bool]:
    """How many trials of each kind ended how, and every fault; good where there is none."""
    rows = []
    for kind in KINDS:
        blocks = [one for one in entries if one["kind"] == kind]
        counts = sum((Counter(one["counts"]) for one in blocks), Counter[str]())
        said = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))
        faults = [fault for one in blocks for fault in one["faults"]]
        rows.append(f"{counts.total()} {kind} ({said}), {len(faults)} with a fault")
        rows += [f"  {fault['number']}: {fault.get('words', '')} {fault['fault']}" for fault in faults]
    return "\n".join(rows), not any(one["faults"] for one in entries)


if __name__ == "__main__":
    options: dict[str, tuple[int | str, str]] = {
        "lines": (100_000, "command lines in all"),
        "certificates": (10_000, "models in all"),
        "workers": (2, "processes side by side"),
    }
    sys.exit(main(DATA, run, told, options))

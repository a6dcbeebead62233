"""Command lines and certificates that nobody chose, held against the contract of the command line: `make fuzz`, or

    python -m benchmarks.fuzz.campaign [--lines 100000] [--certificates 10000] [--workers 2]
    python -m benchmarks.fuzz.campaign show                  print what is stored

What it finds is stored in fuzz.json after every block of a hundred, and it goes on where it stopped; `--again` begins
anew. Trial n is the same one in every run. What is stored speaks of the code that it was run on, version by version.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator
from concurrent.futures import as_completed
from pathlib import Path

from benchmarks.entries import Entry as Block
from benchmarks.entries import stored as entries_of
from benchmarks.entries import write as write_entries
from benchmarks.fuzz.lines import line
from benchmarks.fuzz.trial import fault_of_certificate, fault_of_line, run_line
from giantsteps.reports.command_line.machine.workers import pool

DATA = Path(__file__).resolve().parent / "fuzz.json"
BLOCK = 100
# Memory that a trial may ask for: what does not fit has to be refused, not to bring the machine down.
MEMORY = 4 * 2**30


def lines(block: int) -> Block:
    """The lines of a block: how many ended with each code, and those with a fault."""
    codes: dict[str, int] = {}
    faults = []
    for number in range(BLOCK * block, BLOCK * (block + 1)):
        ended = run_line(words := line(number))
        codes[str(ended.code)] = codes.get(str(ended.code), 0) + 1
        if fault := fault_of_line(words, ended):
            faults.append({"number": number, "words": words, "fault": fault})
    return {"kind": "lines", "block": block, "counts": codes, "faults": faults}


def certificates(block: int) -> Block:
    """The certificates of a block: how many contain what they have to, how many models have none, and the faults."""
    counts: dict[str, int] = {}
    faults = []
    for number in range(BLOCK * block, BLOCK * (block + 1)):
        fault = fault_of_certificate(number)
        outcome = "none" if fault is None else "fault" if fault else "contained"
        counts[outcome] = counts.get(outcome, 0) + 1
        if fault:
            faults.append({"number": number, "fault": fault})
    return {"kind": "certificates", "block": block, "counts": counts, "faults": faults}


_KINDS = {"lines": lines, "certificates": certificates}


def run(wanted: dict[str, int], workers: int, known: list[Block]) -> Iterator[list[Block]]:
    """Try what is not known yet; yields all blocks after each one."""
    done = {(one["kind"], one["block"]) for one in known}
    missing = [(kind, n) for kind, most in wanted.items() for n in range(-(-most // BLOCK)) if (kind, n) not in done]
    found = list(known)
    with pool(workers=workers) as executor:
        waiting = [executor.submit(_within_memory, kind, block) for kind, block in missing]
        for future in as_completed(waiting):
            found.append(future.result())
            yield found


def _within_memory(kind: str, block: int) -> Block:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return _KINDS[kind](block)


def stored(path: Path = DATA) -> list[Block]:
    """The blocks that were run."""
    return entries_of(path)


def write(blocks: list[Block], path: Path = DATA) -> None:
    """One line a block, in order."""
    write_entries(path, sorted(blocks, key=lambda one: (one["kind"], one["block"])))


def table(blocks: list[Block]) -> str:
    """How many trials of each kind ended how, and every fault."""
    rows = []
    for kind in _KINDS:
        of_kind = [one for one in blocks if one["kind"] == kind]
        counts: dict[str, int] = {}
        for one in of_kind:
            for name, count in one["counts"].items():
                counts[name] = counts.get(name, 0) + count
        said = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))
        faults = [fault for one in of_kind for fault in one["faults"]]
        rows.append(f"{sum(counts.values())} {kind} ({said}), {len(faults)} with a fault")
        rows += [f"  {fault['number']}: {fault.get('words', '')} {fault['fault']}" for fault in faults]
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    """Measure or show; 1 where something has a fault."""
    parser = argparse.ArgumentParser(description="Command lines and certificates that nobody chose.")
    parser.add_argument("what", nargs="?", choices=["measure", "show"], default="measure")
    parser.add_argument("--lines", type=int, default=100_000, help="command lines in all (default 100000)")
    parser.add_argument("--certificates", type=int, default=10_000, help="models in all (default 10000)")
    parser.add_argument("--workers", type=int, default=2, help="processes side by side (default 2)")
    parser.add_argument("--again", action="store_true", help="begin anew")
    given = parser.parse_args(arguments)
    blocks = [] if given.again else stored()
    if given.what == "measure":
        wanted = {"lines": given.lines, "certificates": given.certificates}
        for found in run(wanted, given.workers, blocks):
            write(blocks := found)
    print(table(blocks))
    return int(any(one["faults"] for one in blocks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

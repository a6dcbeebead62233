"""Approve what a person sees as it is now: `python -m tests.reports.approved [FAMILY ...]`, after reading it.

Prints what differs from what was approved before, and keeps the new texts.
"""

from __future__ import annotations

import sys

from onestep.reports.command_line.machine.pace import steady
from tests.reports.approved.comparison import differences
from tests.reports.approved.files import read, write
from tests.reports.approved.material import FAMILIES


def main(families: list[str]) -> None:
    """Approve these families, or all."""
    steady()
    for family in families or list(FAMILIES):
        before, now = read(family), {name: made() for name, made in FAMILIES[family]().items()}
        for name, text in now.items():
            for told in differences(before.get(name, ""), text) if before.get(name) != text else ():
                print(f"{family}, {name}: {told}")
        # What differs by rounding alone stays as it was.
        kept = {n: before[n] if n in before and not differences(before[n], text) else text for n, text in now.items()}
        write(family, kept)


if __name__ == "__main__":
    main(sys.argv[1:])

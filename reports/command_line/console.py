"""What a command prints: JSON documents, compact tables, verdicts in colour, and progress.

Data goes to stdout; progress and notes go to stderr. Colour and progress are for terminals only.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model, ReadoutGroup
    from giantsteps.reports.command_line.request import Request

_TOLD = 6  # groups that are told one by one
PATIENCE = 2.0  # seconds without a sign of life that a person at a terminal is asked to bear

_COLOURS = {
    "PROVED": "32;1",
    "CERTIFIED": "32",
    "DERIVED": "36;1",
    "CONFIRMED": "36",
    "CONVENTION": "35",
    "UNTESTED": "33",
    "INCONCLUSIVE": "33;1",
    "REFUTED": "31;1",
}


@cache
def suite_version() -> str:
    """The version of this suite."""
    return str(import_module("giantsteps").__version__)


def provenance(command: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where a number comes from: versions and the parameters of the command; no clock, no host."""
    from importlib.metadata import version

    return {
        "suite": suite_version(),
        "numpy": version("numpy"),
        "command": command,
        "parameters": dict(parameters),
    }


def print_json(document: Mapping[str, Any]) -> None:
    """One JSON document and nothing else: floats in shortest round-trip form, never NaN or Infinity."""
    from giantsteps.numerics.models.documents import finite

    print(json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False))


def print_json_listing(document: Mapping[str, Any], listed: str) -> None:
    """`print_json` of a document with one long list: a line per item, written as it is made; the items are finite."""
    from giantsteps.numerics.models.documents import finite

    # Items are trees of plain data, made for this listing: to look for circles takes a third of the time.
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
    for position, (key, value) in enumerate(document.items()):
        sys.stdout.write(f"{',' if position else '{'}\n  {json.dumps(key)}: ")
        if key != listed:
            sys.stdout.write(encode(finite(value)))
            continue
        for place, item in enumerate(value):
            sys.stdout.write(f"{',' if place else '['}\n    {encode(item)}")
        sys.stdout.write("\n  ]")
    print("\n}")


@dataclass(frozen=True)
class Output:
    """How a command answers: one JSON document or text for people on stdout, remarks and progress on stderr."""

    as_json: bool = False
    quiet: bool = False

    def note(self, sentence: str) -> None:
        """A remark for people, unless they asked for quiet."""
        note(sentence, self.quiet)

    def progress(self, title: str, total: int, pace: str = "") -> Progress:
        """The `Progress` of so many pieces of work."""
        return Progress(title, total, quiet=self.quiet, pace=pace)

    def warn(self, models: Sequence[Model]) -> None:
        """The warnings of the models, each sentence once and no more than three."""
        sentences = list(dict.fromkeys(sentence for model in models for sentence in model.warnings))
        for sentence in sentences[:3]:
            self.note(f"warning: {sentence}")
        if len(sentences) > 3:
            self.note(f"warning: the same in other numbers at {len(sentences) - 3} more points")

    def tell_groups(self, options: Mapping[str, Any], groups: Sequence[ReadoutGroup]) -> None:
        """Which groups --readout and --bias make together where both are lists: their product."""
        if not options.get("readout") or options.get("bias") in (None, "learned"):
            return
        told = [
            f"u {'/'.join(f'{u:g}' for u in g.weights)}, bias {g.bias:g} ({g.fraction:.3g})" for g in groups[:_TOLD]
        ]
        more = [f"{len(groups) - _TOLD} more"] if len(groups) > _TOLD else []
        self.note(
            f"{len(groups)} groups: {'; '.join([*told, *more])}. --readout and --bias make the product of the two "
            'lists; to pair them, use --readout "u:fraction::bias,..."'
        )

    def tell(self, document: Mapping[str, Any] | Callable[[], Mapping[str, Any]], text: Callable[[], str]) -> None:
        """The answer, as it was asked for."""
        if self.as_json:
            print_json(document() if callable(document) else document)
        else:
            print(text())

    def tell_points(
        self, command: str, asked: Request, documents: Iterable[Mapping[str, Any]], text: Callable[[], str],
        *, given: Mapping[str, Any] = MappingProxyType({}), lines: bool = False,
    ) -> None:  # fmt: skip
        """The answer at every point: the document of one, or {"sweep", "results"}, a line each where ``lines`` says so.

        ``given`` are parameters beside those of the model.
        """
        if not self.as_json:
            print(text())
            return
        origin = {"provenance": provenance(command, asked.parameters | dict(given))}
        if not asked.swept:
            print_json({**next(iter(documents)), **origin})
            return
        swept = {name: list(value.values) for name, value in asked.values.items() if value.swept}
        listed = ({"parameters": point, **one} for point, one in zip(asked.points(), documents, strict=True))
        if lines:
            print_json_listing({"sweep": swept, "results": listed, **origin}, "results")
        else:
            print_json({"sweep": swept, "results": list(listed), **origin})


def coloured() -> bool:
    """Whether stdout is a terminal that wants colour."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def verdict_text(verdict: str) -> str:
    """A verdict, in its colour on a terminal."""
    code = _COLOURS.get(verdict)
    return f"\x1b[{code}m{verdict}\x1b[0m" if code and coloured() else verdict


def visible_length(text: str) -> int:
    """The number of columns a text takes, escape sequences not counted."""
    import re

    return len(re.sub(r"\x1b\[[0-9;]*m", "", text))


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), *, right: frozenset[int] = frozenset()) -> str:
    """Aligned columns, two spaces apart; the columns in ``right`` are flushed right. No trailing blanks."""
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    widths = [max(visible_length(line[k]) for line in lines) for k in range(len(lines[0]))] if lines else []

    def cell(text: str, column: int) -> str:
        blank = " " * (widths[column] - visible_length(text))
        return blank + text if column in right else text + blank

    return "\n".join("  ".join(cell(text, k) for k, text in enumerate(line)).rstrip() for line in lines)


def number(value: float | None, digits: int = 10) -> str:
    """A number for people: ``digits`` significant ones."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.{digits}g}"


def estimate_text(mean: float, error: float) -> str:
    """A mean with its standard error: 0.1243 +- 0.0012, two digits of the error."""
    if not math.isfinite(error) or error <= 0.0 or not math.isfinite(mean):
        return number(mean, 6) + ("" if error == 0.0 else " +- ?")
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{places}f} +- {error:.{places}f}"


def note(sentence: str, quiet: bool) -> None:
    """A remark for people, on stderr, unless they asked for quiet."""
    if not quiet:
        print(f"giantsteps: {sentence}", file=sys.stderr, flush=True)


def pace_text(done: int, seconds: float, remaining: int, what: str) -> str:
    """Rate and remaining time: 1,230 points/s, 2 min 5 s left; empty before anything is done."""
    if done <= 0 or seconds <= 0.0:
        return ""
    rate = done / seconds
    shown = f"{rate:,.0f}" if rate >= 10.0 else f"{rate:.2g}"
    minutes, left = divmod(round(remaining / rate), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (left, "s")]
    text = " ".join(f"{value} {unit}" for value, unit in parts[:2] if value) if hours else ""
    text = text or " ".join(f"{value} {unit}" for value, unit in parts[1:] if value or unit == "s")
    return f"{shown} {what}/s, {text} left"


class Chapters:
    """Without a terminal: one plain line on stderr for each chapter whose claims have all been checked."""

    def __init__(self, modules: Sequence[str], quiet: bool) -> None:
        """`modules` are those of the claims, `...CHAPTER.MODULE`."""
        self._silent = quiet or sys.stderr.isatty()
        self._left = Counter(map(self._chapter, modules))
        self._all = len(self._left)

    def arrived(self, module: str) -> None:
        """The claims of one more module are checked."""
        chapter = self._chapter(module)
        self._left[chapter] -= 1
        if not self._left[chapter]:
            done = sum(not left for left in self._left.values())
            note(f"{chapter.replace('_', ' ')} checked, {done} of {self._all} chapters", self._silent)

    @staticmethod
    def _chapter(module: str) -> str:
        return module.split(".")[-2:][0]


class Progress:
    """Work done out of a total, shown on stderr once it has lasted ``PATIENCE`` seconds, on a terminal only."""

    def __init__(self, title: str, total: int, *, quiet: bool = False, pace: str = "") -> None:
        """With `pace`, a plural such as "points", rate and remaining time are shown too."""
        self.title, self.total, self.done = title, max(total, 1), 0
        self.pace = pace
        self._first: tuple[float, int] | None = None
        self.label = ""
        self._wanted = sys.stderr.isatty() and not quiet and os.environ.get("TERM") != "dumb"
        self._bar: Any = None
        self._update: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Progress:
        if self._wanted:
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer:
            self._timer.cancel()
        with self._lock:
            self._wanted = False
            if self._bar:
                self._bar.stop()

    def step(self, label: str = "", done: int | None = None) -> None:
        """One more piece is done (or ``done`` pieces in all); ``label`` names it."""
        self.done = self.done + 1 if done is None else done
        self.label = label or self.label
        if self.pace:
            now = time.monotonic()
            # What was there before the first report, in a sweep that goes on, took no time now.
            self._first = self._first or (now, self.done)
            self.label = pace_text(self.done - self._first[1], now - self._first[0], self.total - self.done, self.pace)
        if self._update:
            self._update()

    def _show(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bar
        except ModuleNotFoundError:  # it comes with the extra `report`; without it a command works in silence
            return

        with self._lock:
            if not self._wanted:
                return
            # A command of one piece knows nothing of how much is left; one with a pace says it in its label.
            left = [TimeRemainingColumn(), TextColumn("left")] if self.total > 1 and not self.pace else []
            bar = Bar(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                *left,
                console=Console(stderr=True),
                transient=True,
            )
            task = bar.add_task(self.title, total=self.total, completed=self.done)

            def update() -> None:
                text = f"{self.title}: {self.label}" if self.label else self.title
                bar.update(task, completed=self.done, description=text)

            bar.start()
            self._bar, self._update = bar, update
            update()

"""What commands say of results that are made up here: each branch of it, without the minutes of the real run."""

from __future__ import annotations

import contextlib
import io
import math
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from onestep.reports.activation import curves, page
from onestep.reports.answers.branches import branch_text
from onestep.reports.command_line.cli import run
from onestep.reports.command_line.console import (
    Progress,
    estimate_text,
    note,
    number,
    pace_text,
    print_json,
    table,
    verdict_text,
)
from onestep.reports.commands.bounds import why_not
from onestep.reports.commands.claims import claim_text, claims_table, leaves_text
from onestep.reports.commands.errata import errata_text
from onestep.reports.commands.report import shown
from onestep.reports.commands.solve import learned_text
from onestep.reports.commands.verify import ledger_table, outcome_document, properties_table
from onestep.reports.page.build import Built, telling
from onestep.verify.ledger.document import as_json
from onestep.verify.ledger.errata import ErratumReport
from onestep.verify.ledger.run import Ledger
from onestep.verify.properties.run import Outcome
from onestep.verify.protocol.verdict import Verdict
from tests.reports.answers.test_optima import CERTIFIED
from tests.reports.templates import material as small

# What a document says of the installation that made it.
VERSION = re.compile(r'(?<=": ")\d+(?:\.\d+)+[^"]*(?=")')
FOUND = (
    Outcome("limits.one", "sentence 1", "claim 1", 11, 0.0123456, "holds"),
    Outcome("limits.two", "sentence 2", "claim 2", 22, None, "undecided"),
    Outcome("orders.three", "sentence 3", "claim 3", 33, -4.56e-7, "fails", "onestep solve --alpha 3", "trouble 3"),
)


def _erratum(k: int) -> ErratumReport:
    verdicts = (Verdict.REFUTED, Verdict.PROVED) if k % 2 else (Verdict.CONVENTION, Verdict.DERIVED)
    words = [f"{word} {k}" for word in ("title", "source", "printed claim")]
    said = f"printed {k}", f"corrected claim {k}", f"corrected {k}"
    return ErratumReport(
        f"erratum.{k}", *words, verdicts[0], *said, verdicts[1],
        f"{f'witness {k} ' * 20}extrapolates to 1.{k} +- 0.1, theory 2.{k}, z = 10", f"consequence {k}",
    )


def _leaf(kind: str, k: int, claims: int) -> dict[str, Any]:
    return {
        "kind": kind, "names": [f"name {k}", f"other name {k}"], "statements": [f"statement {k}"], "claim": None,
        "references": [f"reference {k}a", f"reference {k}b"],
        "claims": ["slides.kernel", "bounds.lower", "definitions.mu0"][:claims],
        "test": f"test_{k}" if claims > 1 else None,
    }  # fmt: skip


LEAVES = (
    _leaf("hypothesis", 1, 2), _leaf("lemma", 2, 1), {**_leaf("lemma", 3, 3), "claim": "a claim of its own"},
    _leaf("model", 4, 1), _leaf("definition", 5, 0),
)  # fmt: skip


ERRATA = (_erratum(1), _erratum(3)), (_erratum(2),)


def claims() -> str:
    """The small report's claims: the table, then each."""
    documents = as_json(small.material().ledger)["claims"]
    return "\n\n".join((claims_table(documents), *map(claim_text, documents)))


def _on_terminal(say: Callable[[], str]) -> str:
    with patch("sys.stdout.isatty", return_value=True, create=True), patch.dict("os.environ", {"TERM": "xterm"}):
        return say()


def colours() -> str:
    """Verdicts in their colours, and how wide a coloured cell is taken to be."""
    rows = [[verdict_text(verdict.value), "1"] for verdict in Verdict]
    return table(rows, ["verdict", "count"], right=frozenset({1}))


def paces() -> str:
    """How fast and how long still, for each size of rate and time."""
    cases = [(0, 1.0, 5), (5, 0.0, 5), (1, 3.0, 5), (7, 2.0, 100), (40, 4.0, 9), (30, 3.0, 6666), (123456, 10.0, 10**9)]
    return "\n".join(f"{case}: {pace_text(*case, 'points')}" for case in cases)


def figures_in_words() -> str:
    """Numbers and estimates, with what has none."""
    values = (None, math.nan, math.inf, -math.inf, 0.0, 1 / 3, 12345678901.0, -2e-9)
    pairs = [
        (1 / 3, 0.0123),
        (1 / 3, 0.0996),
        (1234.5, 67.8),
        (0.5, 0.0),
        (0.5, math.nan),
        (math.inf, 1.0),
        (0.5, 2e-7),
    ]
    return "\n".join([number(v) + " " + number(v, 3) for v in values] + [estimate_text(*pair) for pair in pairs])


def _learned(minima: Sequence[float], tied: bool, at_edge: bool) -> str:
    listed = [{"bias": bias, "energy": bias**2 + 1 / 3} for bias in minima]
    return learned_text({"bias": 1 / 7, "energy": 0.5, "minima": listed, "tied": tied, "at_edge": at_edge})


def learned() -> str:
    """A learned bias with two minima, with none, and what is said beside it."""
    return "\n".join((_learned((1 / 7, -1 / 7), True, False), _learned((), False, True)))


def reasons() -> str:
    """Why bounds did not converge."""
    good, loose = {"bounds_converged": True, "error_estimate": 1e-12}, {"bounds_converged": False}
    hinge, known, unknown = {"loss": "hinge"}, {"error_estimate": 0.0123}, {"error_estimate": None}
    cases = ([loose | known], [good, loose | unknown], [loose | hinge | known], [loose | hinge | unknown], [good])
    return "\n".join(map(why_not, cases))


def written() -> str:
    """The files of a report."""
    names = (
        "index.html",
        "claim/a.html",
        "style.css",
        "find.js",
        "data/a.csv",
        "ledger.json.xz",
        "onestep.pdf",
        "README.md",
    )
    return "\n".join(shown([Path(name) for name in names]))


# Escape sequences, the turning sign and the bar; and both clocks.
_MOVES, _CLOCK = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\u2800-\u28ff━╺╸]"), re.compile(r"[-\d]+:[-\d]+:[-\d]+")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _interrupted(counts: Sequence[int], quiet: bool) -> str:
    class Kept:
        def __init__(self, count: int) -> None:
            self.count = count

    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.suppress(KeyboardInterrupt):
        kept: list[Any] = [Kept(count) for count in counts]
        with telling(*kept, quiet=quiet):
            raise KeyboardInterrupt
    return err.getvalue()


def remarks() -> str:
    """What goes to stderr: notes, and what is kept of interrupted work."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        note("a remark", quiet=False)
        note("nothing", quiet=True)
    kept = [_interrupted(counts, quiet=False) for counts in ((0, 0), (1, 0), (2, 3))]
    return "".join((err.getvalue(), *kept, _interrupted((2,), quiet=True)))


def progress(total: int, pace: str, done: int) -> str:
    """What a terminal shows of work under way: each line once, without colours, the clock and what moves."""
    screen = _Terminal()
    terminal = patch.dict("os.environ", {"TERM": "xterm", "COLUMNS": "120"})
    with contextlib.redirect_stderr(screen), terminal, Progress("title", total, pace=pace) as bar:
        bar.step("label", done=done)
        bar._show()
        bar.step("other label", done=done)
    lines = re.split(r"[\r\n]", _MOVES.sub("", screen.getvalue()))
    return "\n".join(dict.fromkeys(" ".join(_CLOCK.sub("(clock)", line).split()) for line in lines))


def _built(profile: str, directory: Path, **given: Any) -> Built:
    """What the report is asked for, on stderr, in place of the report."""
    told = given | {"keep": given["keep"] is not None}
    print("build", profile, directory, told, file=sys.stderr)
    ledger = small.material().ledger
    return Built(
        ledger, as_json(ledger), tuple(directory / name for name in ("index.html", "a.html", "ledger.json.xz"))
    )


def _searched(wanted: Sequence[str], profile: str, seed: int, *_: Any) -> tuple[Outcome, ...]:
    """How the properties are searched, on stderr, in place of searching them."""
    print("search", profile, seed, file=sys.stderr)
    return FOUND


def _ledger(*asked: Any) -> Ledger:
    """How the ledger is asked for, on stderr, in place of running it."""
    print("run", *asked, file=sys.stderr)
    return small.material().ledger


# The lines that are run on the small report, as if it were the ledger of the paper and had been committed.
LINES = (
    "claims", "claims slides.kernel", "claims section-2", "claims section-2 --json", "claims gradient", "claims 103",
    "claims --leaves", "claims --leaves --json", "claims --leaves slides", "verify", "verify --quiet",
    "verify --seed 7 section-2 slides.kernel", "verify --json --profile ci", "report", "report --pdf --quiet",
    "report --json --fresh --out other/inner", "report --check --profile ci", "report --check",
    "report --check --json --profile ci",
    "errata",
    "errata --quiet",
    "errata --json",
    "verify --properties",
    "verify --properties limits --seed 3 --json --profile ci",
)  # fmt: skip


def on_small(line: str) -> str:
    """What a command prints of the small report, and how it ends."""
    ledger = small.material().ledger
    committed = as_json(ledger) | {"leaves": list(LEAVES)}
    committed["claims"][0] |= {"title": "another title"}
    in_place = {
        "onestep.verify.claims.index.all_claims": lambda: tuple(entry.claim for entry in ledger.entries),
        "onestep.reports.commands.verify.run_ledger": _ledger,
        "onestep.reports.page.build.build": _built,
        "onestep.verify.properties.run.run": _searched,
        "onestep.verify.ledger.errata.examine_errata": lambda *asked: print("examine", asked[1], file=sys.stderr),
        "onestep.verify.ledger.errata.errata": lambda *_: ERRATA[0],
        "onestep.verify.ledger.errata.conventions": lambda *_: ERRATA[1],
        "onestep.reports.command_line.machine.workers.pool": contextlib.nullcontext,
        "onestep.reports.command_line.machine.kept.forget": lambda *_: print("forgotten", file=sys.stderr),
        "onestep.reports.text.ledger_files.committed": lambda: committed,
        "onestep.reports.text.ledger_markdown.markdown_drift": lambda *_: ["the pages differ"],
    }
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        for name, made in in_place.items():
            stack.enter_context(patch(name, made))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(contextlib.chdir(stack.enter_context(tempfile.TemporaryDirectory())))
        code = run(shlex.split(line))
    return "\n".join((f"exit code {code}", VERSION.sub("(version)", out.getvalue()), err.getvalue()))


class _Piece:
    low, high, status = 1 / 3, 0.5, "certified"

    def texts(self) -> dict[str, str]:
        return {"test_error": "[0.1 +/- 0.2]"}


def branches() -> str:
    """A certified branch, whole or in part, with what makes its solution the only one."""

    class Found:
        parameter, pieces = "alpha", (_Piece(), _Piece())

        def __init__(self, fraction: float, only_by: str) -> None:
            self.certified_fraction, self.only_by = fraction, only_by

    return "\n".join(branch_text(Found(*case)) for case in ((1.0, ""), (2 / 3, "words"), (0.0, "")))


def documents() -> str:
    """A document with letters beyond ASCII and numbers that JSON does not have."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_json({"é": math.nan, "list": [math.inf, 1 / 3, {"inside": -math.inf}], "none": None})
    return out.getvalue()


def titles() -> str:
    """Names of activations over a drawing, which end in dots where they are long."""
    return "\n".join(curves._short("z" * letters) for letters in (1, 40, 41, 99))


def an_activation() -> str:
    """What the page of an activation says in each case: where it is analytic, what is known of a spike and open."""
    places = [f"kink at z = {k}" for k in range(-20, 21)]
    known = {"parity": "odd", "growth": "bounded"}
    properties = [
        page._properties(known | {"breakpoints": listed, "analytic_strip": strip})
        for listed, strip in (([], None), ([], 1 / 3), ([], {"infinite": True}), (places[:2], None), (places, None))
    ]
    balls = ({"ball": "0", "digits": 0}, {"ball": None, "digits": 0}, {"ball": "[0.1 +/- 1]", "digits": 0})
    sure = [page._sure(ball, nonzero, "h1", "r = 0") for ball in balls for nonzero in (None, True, False)]
    errors = [page._error(value, 0.5) for value in (0.0, 1e-18, 1e-6, 0.123456789, 0.5)]
    learning = {"target_square": 0.5, "largest_spike": 8.0, "upper_at_best_spike": 0.01, "perfect_because": None}
    best = [page._best({"learning": learning | {"best_spike": spike}}) for spike in (None, 1 / 3, 8.0)]
    cases = ({"perfect": False}, {"perfect": True}, {"perfect": True, "perfect_because": "so"}, {"target_square": 0.0})
    perfect = [page._perfect(learning | case) for case in cases]
    open_ = [page._open(*lists) for lists in (([], [], []), (["a", "b"], ["a"], ["b", "c"]), ([], [], ["c"]))]
    return "\n".join((*properties, *sure, *errors, *best, *perfect, *open_))


def with_optima(line: str) -> str:
    """What `onestep bounds` says of the best rate and the best spike, which are made up here."""
    best = {
        "eta": 1.25, "test_error": 0.25, "certified": False, "bracket": None, "status": "estimated: so",
        "estimated_bracket": [0.5, 2.0], "upper_bound": CERTIFIED, "lower_bound": CERTIFIED | {"one_minimum": False},
    }  # fmt: skip
    spike = {
        f"{which}_bound": CERTIFIED
        | {"spike": 10 / 3, "bound": bound, "bracket": [bound, 5 * bound], "tried": [bound / 7, 9.0]}
        for which, bound in (("upper", 1 / 3), ("lower", 2 / 7))
    }

    class Rate:
        converged = False

    err, out = io.StringIO(), io.StringIO()
    with (
        patch("onestep.reports.answers.optima.best_eta_json", lambda *_: (Rate, best)),
        patch("onestep.reports.answers.optima.best_spike_json", lambda *_: spike),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(shlex.split(line))
    return "\n".join((f"exit code {code}", VERSION.sub("(version)", out.getvalue()), err.getvalue()))


_MODEL = "bounds --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"
OPTIMA = (
    f"{_MODEL} --alpha0 2 --eta 3 --optimise-eta",
    f"{_MODEL} --alpha0 2 --eta 3 --optimise-eta --json",
    f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8,1 --optimise-spike",
    f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8 --optimise-spike --json",
)


def sayings() -> dict[str, Callable[[], str]]:
    """Each by what it speaks of."""
    return {
        "verify": lambda: ledger_table(small.material().ledger),
        "claims": claims,
        "leaves": lambda: leaves_text(LEAVES),
        "properties": lambda: "\n".join((properties_table(FOUND), *(str(outcome_document(one)) for one in FOUND))),
        "errata": lambda: "\n\n".join(
            (errata_text(*ERRATA), errata_text((), ERRATA[1]), errata_text(ERRATA[0][:1], ()))
        ),
        "colours": lambda: "\n".join((colours(), _on_terminal(colours))),
        "paces": paces,
        "figures in words": figures_in_words,
        "learned bias": learned,
        "reasons": reasons,
        "titles": titles,
        "branches": branches,
        "documents": documents,
        "an activation": an_activation,
        **{line: partial(with_optima, line) for line in OPTIMA},
        "files written": written,
        "remarks": remarks,
        "progress": partial(progress, 4, "", 2),
        "progress of one": partial(progress, 1, "", 0),
        "progress with a pace": partial(progress, 100, "points", 40),
        **{f"onestep {line}, of the small report": partial(on_small, line) for line in LINES},
    }

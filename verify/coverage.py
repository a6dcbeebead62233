"""Which numbered equations of the paper the ledger covers, and by which claims of its own.

Every number has a home: the one claim that states the equation, or what replaces it. Other claims of ours may list the
number too, because they prove a part of it, a limit or an example; they are its companions. A number with one claim of
ours is at home there; where several list it, ``HOMES`` names the home, and what ``HOMES`` does not name is ambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verify.claim import Claim, Role

FIRST, LAST = 1, 191

# Of several claims that list a number, the one that states the equation of that number.
HOMES: Mapping[int, str] = {
    2: "section-2.gradient-step",
    3: "section-2.gradient-step",
    4: "section-2.normal-equation",
    5: "result-3-2.same-test-error",
    6: "result-3-2.same-test-error",
    7: "result-3-1.spike-strength",
    9: "result-3-1.spike-strength",
    10: "result-3-1.alignment",
    11: "result-3-1.bulk-variance",
    12: "result-3-1.hermite-sum",
    13: "result-3-2.same-test-error",
    14: "result-3-2.equivalent-mean",
    15: "result-3-2.mu1-by-stein",
    16: "result-3-2.same-test-error",
    25: "result-3-3.test-error-as-printed",
    26: "bounds.upper",
    27: "bounds.lower",
    33: "result-3-1.split",
    34: "result-3-1.spike-factor",
    35: "result-3-1.spike-coordinate",
    36: "result-3-1.split",
    38: "result-3-1.spike-factor",
    39: "result-3-1.spike-norm-exact",
    40: "result-3-1.spike-norm-exact",
    41: "result-3-1.spike-norm-exact",
    42: "result-3-1.spike-norm",
    44: "result-3-1.overlap-mean",
    51: "result-3-1.mean-correction-along-target",
    54: "result-3-1.cross-term",
    55: "result-3-1.zero-weighted-mean",
    60: "result-3-2.split",
    61: "result-3-2.conditional-mean",
    62: "result-3-2.conditional-mean",
    63: "result-3-2.covariance-to-first-order",
    66: "result-3-2.residual-variance",
    67: "result-3-2.conditional-variance",
    68: "result-3-2.mean-to-first-order",
    71: "result-3-2.mean-to-first-order",
    72: "result-3-2.dropped-term-vanishes",
    73: "result-3-2.means-match",
}


@dataclass(frozen=True)
class Coverage:
    """One number: its home among the claims of ours, its companions, and the printed claims about it."""

    number: int
    home: str | None
    companions: tuple[str, ...]
    printed: tuple[str, ...]

    @property
    def status(self) -> str:
        """``covered``, ``ambiguous`` (several claims and no home) or ``missing``."""
        if self.home:
            return "covered"
        return "ambiguous" if self.companions else "missing"


@dataclass(frozen=True)
class Summary:
    """The numbers that no claim of ours covers, and those that several cover without one being the home."""

    covered: int
    missing: tuple[int, ...]
    ambiguous: Mapping[int, tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """One line for the reader."""
        total = LAST - FIRST + 1
        parts = [f"{self.covered} of {total} numbered equations at home in one claim"]
        if self.missing:
            parts.append(f"missing {_ranges(self.missing)}")
        if self.ambiguous:
            parts.append(f"several claims and no home for {_ranges(tuple(self.ambiguous))}")
        return "; ".join(parts)


def coverage(claims: Iterable[Claim]) -> tuple[Coverage, ...]:
    """Equation by equation, (1) to (191): who covers it."""
    ours: dict[int, list[str]] = {}
    printed: dict[int, list[str]] = {}
    for claim in claims:
        for number in claim.source.equations:
            (ours if claim.role is Role.OURS else printed).setdefault(number, []).append(claim.id)
    return tuple(_of(n, ours.get(n, []), printed.get(n, [])) for n in range(FIRST, LAST + 1))


def _of(number: int, ours: list[str], printed: list[str]) -> Coverage:
    home = ours[0] if len(ours) == 1 else HOMES.get(number)
    if home not in ours:
        home = None
    return Coverage(number, home, tuple(id_ for id_ in ours if id_ != home), tuple(printed))


def summary(claims: Iterable[Claim]) -> Summary:
    """What is missing or ambiguous at this moment."""
    rows = coverage(claims)
    return Summary(
        covered=sum(row.status == "covered" for row in rows),
        missing=tuple(row.number for row in rows if row.status == "missing"),
        ambiguous={row.number: row.companions for row in rows if row.status == "ambiguous"},
    )


def strays(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Homes that name no claim which lists their number, and numbers that the paper does not have."""
    claims = tuple(claims)
    listed = {(n, c.id) for c in claims if c.role is Role.OURS for n in c.source.equations}
    misplaced = [home for home in HOMES.items() if home not in listed]
    wrong = [f"({number}) is not at home in {id_}, which does not list it" for number, id_ in misplaced]
    beyond = [f"{c.id} lists ({n})" for c in claims for n in c.source.equations if not FIRST <= n <= LAST]
    return (*wrong, *beyond)


def _ranges(numbers: tuple[int, ...]) -> str:
    """(3), (7)-(9)."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(f"({run[0]})" if len(run) == 1 else f"({run[0]})-({run[-1]})" for run in runs)

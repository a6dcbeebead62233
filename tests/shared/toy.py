"""A small claim with a proof and a number, for tests of the verifier itself: E|vt|^2 -> h1*^2 + h2*/alpha0."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
import sympy as sp

from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import proved
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import equal
from giantsteps.derivations.language.derivation import Derivation, RationalLimit, Step
from giantsteps.derivations.language.symbols import alpha0, d, h1_star, h2_star
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.tolerances import Tolerance

norm = sp.Symbol("N", positive=True)
EXACT = (1 - 1 / (alpha0 * d)) * h1_star**2 + ((d - 1) * h2_star + 3) / (alpha0 * d)
LIMIT = h1_star**2 + h2_star / alpha0

DOMAIN = Domain(ranges=(Range(alpha0, 0.5, 4.0), Range(h1_star, 0.2, 0.9), Range(h2_star, 0.9, 2.0)))
TOLERANCE = Tolerance(1e-3, "the exact form at d = 1e5 differs from its limit by O(1e-5)")


@cache
def derivation() -> Derivation:
    tends = equal(name_limit((limit_of(EXACT, d),), norm, "the limit of the squared norm"), LIMIT)
    return Derivation("a toy limit", "toy", proved("leading order in d", tends), results={norm: LIMIT})


@cache
def by_obligations() -> Derivation:
    """The same, with an obligation for the checker in place of a theorem."""
    step = Step("leading order in d", sp.Eq(norm, LIMIT), RationalLimit("the limit", EXACT, d, LIMIT))
    return Derivation("a toy limit by obligations", "toy", step, results={norm: LIMIT})


def measure(point: Point) -> Mapping[str, float]:
    values = {k: v for k, v in point.items() if isinstance(v, float)}
    dimension, n0 = 1e5, 1e5 * values["alpha_0"]
    mean_square = values[h1_star.name] ** 2
    return {"N": (1 - 1 / n0) * mean_square + ((dimension - 1) * values[h2_star.name] + 3) / n0}


def claim(**changes: object) -> Claim:
    fields: dict[str, object] = {
        "id": "toy.limit",
        "title": "a toy",
        "source": Source("toy", "nowhere", (1,)),
        "kind": Kind.LIMIT,
        "statement": sp.Eq(norm, LIMIT),
        "domain": DOMAIN,
        "checks": (ByDerivation(derivation), ByNumbers("large d", measure, TOLERANCE, finite_size=True)),
    }
    return Claim(**(fields | changes))  # type: ignore[arg-type]


def stating(monkeypatch: pytest.MonkeyPatch, **modules: Sequence[Claim]) -> Paper:
    """A paper with these modules, each a module of Python that states its claims."""
    for name, claims in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(CLAIMS=claims))  # type: ignore[arg-type]
    return replace(PAPER, modules=tuple(modules))

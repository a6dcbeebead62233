"""The equations of families of models, read off the theorems that conclude them; nothing here is typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.kernel.search.steps import isolated, value
from giantsteps.derivations.kernel.statements import sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.saddle_point import equations, letters, network
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import isotropic
from giantsteps.derivations.saddle_point.letter_energy import VOCABULARY
from giantsteps.verify.compiled.families import Family
from giantsteps.verify.compiled.tape import written

_COMMON = {
    "alpha": s.alpha, "beta": s.beta, "ridge": s.ridge, "noise": s.noise, "kappa": s.kappa,
    "test_error": s.test_error, "training_error": s.training_error,
}  # fmt: skip
_ONE = {
    "bulk": s.c, "m": s.m, "zeta": s.zeta, "psi": s.psi, "q1": s.q1, "q2": s.q2, "V1": s.V1, "V2": s.V2,
}  # fmt: skip
_SEVERAL = {
    "bulk": s.c_of, "fraction": s.fraction, "m": s.m_of, "zeta": s.zeta_of, "psi": s.psi_of, "q1": s.q1_of,
    "q2": s.q2_of, "V1": s.V1_of, "V2": s.V2_of,
}  # fmt: skip


def _named(symbol: Any) -> Any:
    return symbol.name if isinstance(symbol, sp.Symbol) else [_named(one) for one in symbol]


def _family(equations: Iterable[tuple[sp.Symbol, sp.Expr]], names: Mapping[str, Any]) -> Family:
    return Family(written(equations), {role: _named(symbol) for role, symbol in {**_COMMON, **names}.items()})


def _concluded(theorem: Theorem) -> tuple[sp.Symbol, sp.Expr]:
    left, right = sides(theorem.statement)
    assert isinstance(left, sp.Symbol)
    return left, right


@lru_cache(maxsize=1)
def one_letter() -> Family:
    """Result 3.3 for isotropic rows, equations (18)-(25) and the training error."""
    stationary = (s.q1, s.q2, s.m, s.zeta, s.psi, s.V1, s.V2)
    overlaps = {s.zeta_hat: s.zeta, s.psi_hat: s.psi, s.V1_hat: s.q1, s.V2_hat: s.q2}
    square, mixed, double, *_ = marchenko_pastur.moments()
    theorems = (
        *map(equations.at_saddle, stationary),
        *(marchenko_pastur.quadratic().theorem_of(s.V2), marchenko_pastur.law(), square, mixed, double),
        *(equations.isotropic(variable).theorem_of(found) for variable, found in overlaps.items()),
        equations.test_error().theorem_of(s.test_error),
        equations.training_error().theorem_of(s.training_error),
    )
    return _family(map(_concluded, theorems), _ONE)


@lru_cache(maxsize=1)
def two_letters() -> Family:
    """Appendix D for isotropic rows, equations (154)-(157)."""
    pairs = {of[a][b]: None for of in (s.q1_of, s.V1_of) for a, b in PAIRS}
    alone = [of[a] for of in (s.m_of, s.zeta_of, s.psi_of, s.q2_of, s.V2_of) for a in LETTERS]
    overlaps = [of[a] for of in (s.zeta_hat_of, s.psi_hat_of, s.V2_hat_of) for a in LETTERS]
    overlaps += [s.V1_hat_of[a][b] for a, b in PAIRS]
    here = isotropic.laws_here()
    theorems = (
        *(letters.equation(x).theorem_of(letters.CONJUGATE[x]) for x in (*pairs, *alone)),
        *(isolated(s.V2_of[a], here[a]) for a in LETTERS),
        *here[len(LETTERS) :],
        *(isotropic.isotropic(x).theorem_of(letters.CONJUGATE[x]) for x in overlaps),
        letters.test_error().theorem_of(s.test_error),
    )
    # That of a network, without its third functions: what it calls yhat and V are those of a vocabulary.
    training = value(network.errors().theorem_of(s.training_error)).xreplace(
        {network.fit: VOCABULARY.fit, network.variance: VOCABULARY.V}
    )
    return _family([*map(_concluded, theorems), (s.training_error, training)], _SEVERAL)


FAMILIES: dict[str, Callable[[], Family]] = {"one letter": one_letter, "two letters": two_letters}


def document() -> str:
    """What `theorems.json` holds."""
    return json.dumps({name: made().document() for name, made in FAMILIES.items()}, indent=None, sort_keys=True) + "\n"

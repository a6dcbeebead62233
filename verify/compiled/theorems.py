"""The equations of families of models, read off the theorems that conclude them; `network` says what it adds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.bulk import symbols as rows
from giantsteps.derivations.bulk.any_activation import U
from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS
from giantsteps.derivations.kernel.search.steps import isolated, value
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g
from giantsteps.derivations.saddle_point import equations, letters, network
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import isotropic
from giantsteps.derivations.saddle_point.letter_energy import VOCABULARY
from giantsteps.verify.compiled import network as compiled_network
from giantsteps.verify.compiled.families import KEPT, Family
from giantsteps.verify.compiled.pairs import Pair, concluded
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


def _family(pairs: Iterable[Pair], names: Mapping[str, Any]) -> Family:
    return Family(written(pairs), {role: _named(symbol) for role, symbol in {**_COMMON, **names}.items()})


def isotropic_bulk() -> tuple[Theorem, ...]:
    """V2, V1 and the second moments of the resolvent for rows of one norm."""
    square, mixed, double, *_ = marchenko_pastur.moments()
    return marchenko_pastur.quadratic().theorem_of(s.V2), marchenko_pastur.law(), square, mixed, double


@lru_cache(maxsize=1)
def one_letter() -> Family:
    """Result 3.3 for isotropic rows, equations (18)-(25) and the training error."""
    stationary = (s.q1, s.q2, s.m, s.zeta, s.psi, s.V1, s.V2)
    overlaps = {s.zeta_hat: s.zeta, s.psi_hat: s.psi, s.V1_hat: s.q1, s.V2_hat: s.q2}
    theorems = (
        *map(equations.at_saddle, stationary),
        *isotropic_bulk(),
        *(equations.isotropic(variable).theorem_of(found) for variable, found in overlaps.items()),
        equations.test_error().theorem_of(s.test_error),
        equations.training_error().theorem_of(s.training_error),
    )
    return _family(map(concluded, theorems), _ONE)


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
    return _family([*map(concluded, theorems), (s.training_error, training)], _SEVERAL)


_WEIGHT, _LABEL = sp.Symbol("readout weight", real=True), sp.Symbol("label", real=True)
# E[u^j] of the samples with one label.
_TILTS = {U**j: sp.Function(f"tilt{j}", real=True)(_LABEL) for j in (2, 1)}


def _by_label(pairs: Iterable[Pair]) -> list[Pair]:
    """Averages over u as averages over the label, first over all samples that have it: u stands as u^j f(label)."""

    def averaged(mean: Expectation) -> sp.Expr:
        return Expectation(mean.integrand.xreplace({g(U): _LABEL}).xreplace(_TILTS), _LABEL)

    found = [(x, f.replace(lambda e: isinstance(e, Expectation) and e.variables == (U,), averaged)) for x, f in pairs]
    bases = {power.base for _, f in found for power in f.atoms(sp.Pow)}
    assert not bases & set(_TILTS.values())
    return found


@lru_cache(maxsize=1)
def network_law() -> Family:
    """The law of a network's rows after its step: all neurons have one readout weight, and so a rate of its own."""
    pairs = dict(_by_label(compiled_network.law_pairs()))
    pairs[rows.mean_output] *= _WEIGHT
    names = {
        "alpha0": rows.alpha0, "eta": s.eta, "beta": s.beta, "weight": _WEIGHT, "label": _LABEL, "z": s.z, "slope": s.r,
        "bulk": s.c, "alignment": s.gamma,
    }  # fmt: skip
    return Family(written(pairs.items()), {role: symbol.name for role, symbol in names.items()})


@lru_cache(maxsize=1)
def network_readout() -> Family:
    """The readout on a network's own bulk, given the law of its rows."""
    names = _ONE | {"chi": rows.chi, "b1": rows.place_linear, "b2": rows.place_square, "label": _LABEL}
    return _family(_by_label(compiled_network.readout_pairs()), names)


FAMILIES: dict[str, Callable[[], Family]] = {
    "one letter": one_letter, "two letters": two_letters, "network law": network_law, "network": network_readout,
}  # fmt: skip


def document() -> str:
    """What `theorems.json` holds."""
    families = (f'"{name}": {json.dumps(made().document(), separators=(",", ":"))}' for name, made in FAMILIES.items())
    return "{\n" + ",\n".join(families) + "\n}\n"


def theorem_drift() -> list[str]:
    """In a sentence, whether `theorems.json` is not what the theorems conclude."""
    same = KEPT.is_file() and KEPT.read_text(encoding="utf-8") == document()
    return [] if same else [f"{KEPT.name} is not what the theorems conclude: make theorems writes it anew"]


if __name__ == "__main__":
    KEPT.write_text(document(), encoding="utf-8")

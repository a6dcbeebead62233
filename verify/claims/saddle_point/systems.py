"""Several equations under one number: each is proved from its own derivation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.protocol.claim import Claim, Profile
from giantsteps.verify.protocol.evidence import Made, Proof
from giantsteps.verify.protocol.paper import Paper
from giantsteps.verify.protocol.statement import MORE, Wrong, eq


def together(claims: tuple[Claim, ...]) -> sp.Basic:
    """The statements of several claims as one."""
    return sp.And(*(c.statement for c in claims), evaluate=False)


@dataclass(frozen=True)
class ByDerivations:
    """Each equation of a conjunction follows from the derivation of its left-hand side, as `ByDerivation` has it."""

    title: str
    derivations: Mapping[sp.Symbol, Callable[[], Derivation]]

    @property
    def name(self) -> str:
        return f"proof: {self.title}"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Proof:
        parts = sorted(claim.statement.args, key=lambda equation: str(equation.lhs))
        found = [
            ByDerivation(self.derivations[part.lhs]).run(replace(claim, statement=part), profile, paper)
            for part in parts
        ]
        proofs = [proof for proof in found if isinstance(proof, Proof)]
        made = [proof.theorem for proof in proofs if proof.theorem is not None]
        return Proof(
            self.name,
            tuple(dict.fromkeys(settled for proof in proofs for settled in proof.obligations)),
            takes_limit=all(proof.takes_limit for proof in proofs),
            hypotheses=tuple(dict.fromkeys(h for proof in proofs for h in proof.hypotheses)),
            theorem=_together(made) if len(made) == len(parts) else None,
            unmade=tuple(dict.fromkeys(step for proof in proofs for step in proof.without_rule)),
        )


    def theorems(self, claim: Claim) -> tuple[Theorem, ...]:
        """Each equation as a theorem; none where the kernel does not make all of them."""
        parts = sorted(claim.statement.args, key=lambda equation: str(equation.lhs))
        found = [ByDerivation(self.derivations[p.lhs]).theorems(replace(claim, statement=p)) for p in parts]
        return tuple(theorem for theorems in found for theorem in theorems) if all(found) else ()


def _together(made: list[Made]) -> Made:
    """The assumptions and rules of several theorems."""
    rules: Counter[str] = Counter()
    for theorem in made:
        rules.update(dict(theorem.rules))
    listed = tuple(sorted({assumed for theorem in made for assumed in theorem.assumptions}, key=str))
    return Made(listed, tuple(sorted(rules.items())), tuple(digest for theorem in made for digest in theorem.digests))


def by_derivations(title: str, derivations: Mapping[sp.Symbol, Callable[[], Derivation]]) -> ByDerivations:
    """Each equation of a conjunction by the derivation of its left-hand side."""
    return ByDerivations(title, derivations)


def one_wrong(claims: tuple[Claim, ...]) -> Wrong:
    """One wrong equation among right ones: eight per cent more in one, the sign of another."""
    parts = [c.statement for c in claims]
    first, last = parts[0], parts[-1]
    more = eq(first.lhs, MORE * first.rhs)
    sign = eq(last.lhs, -last.rhs)
    return {
        f"eight per cent more in {first.lhs}": sp.And(more, *parts[1:], evaluate=False),
        f"the sign of {last.lhs}": sp.And(*parts[:-1], sign, evaluate=False),
    }

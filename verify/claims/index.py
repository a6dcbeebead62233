"""The claims of this paper, and their ledger."""

from __future__ import annotations

from functools import lru_cache

from giantsteps.derivations.expressions.exact import alone
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.run import Examined
from giantsteps.verify.ledger.run import examine as examine_claim
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.order import collected


@lru_cache(maxsize=1)
def all_claims() -> tuple[Claim, ...]:
    """Every claim of every module, in the order of the paper. Raises LedgerError if they do not form a ledger."""
    return collected(PAPER.modules)


@alone
def claims(beginning: str = "") -> tuple[Claim, ...]:
    """The claims whose ids begin so, in the order of the paper.

    beginning: the beginning of the ids; by default all claims. No id begins so: an empty tuple.

    >>> [claim.id for claim in giantsteps.claims("result-3-1.alignment")][:2]
    ['result-3-1.alignment', 'result-3-1.alignment-noisy']
    """
    return tuple(claim for claim in all_claims() if claim.id.startswith(beginning))


def examine(claim: Claim, profile_name: str, seed: int = 0) -> Examined:
    """Run the checks of one claim, then each of them on each of its mutants."""
    return examine_claim(claim, profile_name, PAPER, seed)

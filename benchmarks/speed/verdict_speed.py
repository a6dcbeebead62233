"""What the quick ledger costs a claim: every so many claims with all their checks and mutants, in one process."""

from __future__ import annotations

import time

from giantsteps.verify.claims.index import all_claims, examine


def by_claim(every: int = 12) -> dict[str, float]:
    """Processor seconds of building all claims, and per claim of a sample: the derivations that it needs are built in
    it, and shared among fewer claims than in the whole ledger.
    """
    start = time.process_time()
    claims = all_claims()
    built = time.process_time()
    sample = claims[5::every]
    mutants = sum(len(examine(claim, "quick")[2]) for claim in sample)
    seconds = time.process_time() - built
    return {
        "claims": len(sample),
        "mutants": mutants,
        "seconds_to_build_all": built - start,
        "seconds_per_claim": seconds / len(sample),
    }

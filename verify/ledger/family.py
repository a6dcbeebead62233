"""The false-alarm rate over a whole ledger: all its tests of finite-size measurements, decided together.

Each test refutes a right statement with probability FALSE_ALARM. Over a family of N of them Holm's procedure keeps the
chance that any right statement is rejected below FAMILY, whatever their correlations: with the probabilities in
ascending order p_1 <= p_2 <= ..., the k-th is rejected while p_k <= FAMILY/(N - k + 1), and none after the first that
is not (Holm, Scand. J. Statist. 6, 1979).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from giantsteps.verify.checks.finite_size import FALSE_ALARM

# The probability that any of the right statements of a ledger is rejected.
FAMILY = 0.05


def probability(z: float, threshold: float) -> float:
    """That a right statement is as far off as ``z``, the worst of several models decided together.

    A threshold beyond that of one model says how many there are: each is decided at FALSE_ALARM/N (Bonferroni). That of
    a slope is farther out by what corrections to scaling may move it: up to the threshold the probability is then too
    large; beyond, where the test refutes by itself, it may be too small.
    """
    from scipy.special import ndtr

    tail, level = (2.0 * float(ndtr(-abs(x))) for x in (z, threshold))
    return min(1.0, tail * FALSE_ALARM / level)


def rejected(probabilities: Sequence[float], level: float = FAMILY) -> tuple[bool, ...]:
    """Which of several tests Holm's procedure rejects at ``level``, in the order given."""
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    found = [False] * len(order)
    for rank, index in enumerate(order):
        if probabilities[index] > level / (len(order) - rank):
            break
        found[index] = True
    return tuple(found)


def simulations(document: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Of a ledger as JSON: the id of a claim, its verdict and the probability of its deviate, for every test that
    decided something.
    """
    return [
        (claim["id"], claim["verdict"], probability(evidence["z"], evidence["threshold"]))
        for claim in document["claims"]
        for evidence in claim["evidence"]
        if evidence["type"] == "FiniteSize" and evidence["threshold"] > 0.0
    ]

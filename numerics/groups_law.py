"""The law of a network's bulk rows in several groups that took steps of different lengths on one batch.

The averages over A that the equivalent of `numerics.network_groups` needs, as functions of g with their divided
differences: for vectors x, y among v, theta_perp and n

    f_xy(g) = x.A (1 + g A)^-1 y,    int nu(dx) x/(1 + g x),    nu the spectral law of A = (1/n0) sum y^2 x x^T,

all rational in averages over 1 + y^2 l at the number l >= 0 with 1/g = 1/(alpha0 l) - E[y^2/(1 + y^2 l)].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from derivations.activations.activation import Activation
from numerics.derivative_algebra import Divided, stacked, variable
from numerics.network_bulk import BulkLaw, IsotropicLabels, network_law
from numerics.network_constants import DividedAverages, Labels

Array = NDArray[np.float64]

_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class GroupsLaw:
    """The law of the bulk rows of k groups, every entry O(1) in d; arrays of shape (k,) but `vectors` and `own`.

    B_a = base_a + gain_a A. `vectors` (3, 3): v, theta_perp and n in coordinates on (theta, n_y, n_y3), `gram` (3, 3)
    their scalar products. spike_part h_a.v, across_part eta_a, norm_variance v_a; own (k, 2): the parts of a row along
    v and of its squared norm that are independent of everything else.
    """

    base: Array
    gain: Array
    fractions: Array
    batch_ratio: float
    labels: Labels | IsotropicLabels
    vectors: Array
    gram: Array
    spike_part: Array
    across_part: Array
    norm_variance: Array
    own: Array

    @property
    def bulks(self) -> Array:
        """c_a = (1/d) tr B_a."""
        return self.base + self.gain * self.labels.square

    def functions(self, places: Array) -> Divided:
        """m_vv, m_vt, m_vn, m_tt, m_tn, m_nn and int nu(dx) x/(1 + g x) at the g given, (7, k), in this order."""
        averages, leverage, rest, argument = self._resolvent(places)
        forms, left = self._forms(averages, leverage, rest, argument)
        share = left.inverse()
        by_v = [forms[0, x] * share for x in range(3)]
        crossed = [forms[x, y] + argument * forms[0, x] * by_v[y] for x, y in ((1, 1), (1, 2), (2, 2))]
        return stacked([[*by_v, *crossed, averages.square * rest]])[0].against(argument)

    def trace(self, places: Array) -> Divided:
        """int nu(dx) x/(1 + g x) alone, (1, k)."""
        averages, _, rest, argument = self._resolvent(places)
        return stacked([[averages.square * rest]])[0].against(argument)

    def _resolvent(self, places: Array) -> tuple[DividedAverages, Divided, Divided, Divided]:
        """The averages, l, (1/d) tr (1 + g A)^-1 and g as functions of l, at the g given."""
        solved = self._leverages(places)
        averages, leverage = self.labels.divided(solved), variable(solved)
        rest = -(leverage * averages.square * self.batch_ratio) + 1.0
        # The same number without a difference, for long steps: alpha0 l/g.
        positive = np.where(places > 0.0, places, 1.0)
        rest = Divided(np.where(places > 0.0, self.batch_ratio * solved / positive, 1.0), rest.slopes)
        return averages, leverage, rest, leverage * rest.inverse() * self.batch_ratio

    def _leverages(self, places: Array) -> Array:
        """l >= 0 with alpha0 l (1 + g E_l[y^2]) = g, shape (k,), by Newton's method from below.

        The left side is increasing and concave in l, so that the iterates increase to the root.
        """
        ratio, bound = self.batch_ratio, self.labels.square
        # l E_l[y^2] is at most l E[y^2], and at most 1.
        found = np.maximum(places / (ratio * (1.0 + places * bound)), places * (1.0 - ratio) / ratio)
        previous = math.inf
        for _ in range(_MOST_STEPS):
            square, slope = self.labels.squares_at(found)
            value = ratio * found * (1.0 + places * square) - places
            step = value / (ratio * (1.0 + places * (square + found * slope)))
            found = found - step
            size = float(np.max(np.abs(step) / np.where(found > 0.0, found, 1.0)))
            if size < 4e-16 or (size < 1e-12 and size >= previous):
                break
            previous = size
        return found

    def _forms(
        self, averages: DividedAverages, leverage: Divided, rest: Divided, argument: Divided
    ) -> tuple[Divided, Divided]:
        """x.A (1 + g A)^-1 y for x, y in (v, theta_perp, n), shape (3, 3, k), and v.(1 + g A)^-1 v, shape (k,)."""
        ratio, tilted, mixed = 1.0 / self.batch_ratio, averages.tilted, averages.mixed
        height = (argument * tilted + 1.0).inverse()
        first = [height * rest * mixed[f] * ratio for f in (0, 1)]

        def second(f: int, g: int) -> Divided:
            own = averages.pair_square[f, g] * ratio + averages.square * averages.pair[f, g]
            return rest * (own - height * leverage * mixed[f] * mixed[g]) * ratio

        rows = [
            [height * tilted, *first],
            [first[0], second(0, 0), second(0, 1)],
            [first[1], second(1, 0), second(1, 1)],
        ]
        # v has no part along n_y3. v.(1 + g A)^-1 v = 1 - g v.A (1 + g A)^-1 v, here as a sum of squares.
        on_theta, on_first = self.vectors[0, 0], self.vectors[0, 1]
        crossed = -(leverage * mixed[0] * on_first) + on_theta
        left = height * crossed * crossed + rest * averages.pair[0, 0] * (ratio * on_first**2)
        return stacked(rows).transformed(self.vectors), left


def groups_law(laws: tuple[BulkLaw, ...], fractions: tuple[float, ...]) -> GroupsLaw:
    """The law of groups that took steps of different lengths on one batch, each with the law of its own step."""
    if all(isinstance(law.labels, IsotropicLabels) for law in laws):
        base, gain, largest = np.array([law.bulk for law in laws]), np.zeros(len(laws)), laws[0]
    else:
        base, gain = np.ones(len(laws)), np.array([law.omega for law in laws])
        # The rule for the labels that is fine enough for the longest step.
        largest = laws[int(np.argmax(gain))]
    rule = largest.labels
    products = np.zeros((3, 3))
    products[0, 0], products[1:, 1:] = 1.0, rule.pair / largest.batch_ratio
    v = np.array(largest.direction)
    cubic = np.array([0.0, 0.0, 1.0])
    if isinstance(rule, Labels):
        cubic[0] = rule.first[1]
    across = cubic - (cubic @ products @ v) * v
    vectors = np.array([v, largest.perpendicular, across])
    correlations = np.array([law.correlation for law in laws])
    return GroupsLaw(
        base=base,
        gain=gain,
        fractions=np.array(fractions),
        batch_ratio=largest.batch_ratio,
        labels=rule,
        vectors=vectors,
        gram=vectors @ products @ vectors.T,
        spike_part=correlations @ products @ v,
        across_part=correlations[:, 2],
        norm_variance=np.array([law.norm_variance for law in laws]),
        own=np.array([(law.independent[0], law.independent[2]) for law in laws]),
    )


@lru_cache(maxsize=256)
def stepped_groups_law(
    activation: Activation,
    target: Activation,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float,
    weights: tuple[float, ...],
    fractions: tuple[float, ...],
    gaussian_rows: bool = False,
) -> GroupsLaw:
    """The law after one step from the readout weights u_a. Raises ModelError as `numerics.network_bulk.network_law`."""
    steps = [eta * weight for weight in weights]
    laws = tuple(network_law(activation, target, alpha0, step, beta, noise, gaussian_rows) for step in steps)
    return groups_law(laws, fractions)

"""The theorem on what one giant step learns at n = Theta(d^(l - delta)), and its objects for given targets."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.gradient_step import leap_scaling, leap_theorem
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.derivation import Obligation, Vanishing
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations
from giantsteps.verify.checks.scaling_check import ByScaling
from giantsteps.verify.claims.gradient_step import leap as wider_leap
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.gradient_step import leap as leap_numbers
from giantsteps.verify.second_route.gradient_step import leap_theorem as numbers

# ---- the exponent of the share, all regimes in one formula ----

HYPOTHESES = (
    "the labels are g(x.w_1*, .., x.w_r*) with Hermite tensors that vanish for orders 1 to l - 1 and not at l",
    "the l-th Hermite coefficient of the activation is not zero, and its slope has finite moments",
    "n = Theta(d^(l - delta)) fresh samples with standard normal inputs, delta >= 0",
    "the readout has entries of order 1/sqrt(p) of either sign, and eta = p d^((l-1)/2)",
)


def _ordered(expression: sp.Expr) -> sp.Expr:
    """Minima and maxima of two expressions whose difference has a decided sign."""

    def smaller(a: sp.Expr, b: sp.Expr) -> bool | None:
        gap = sp.factor(sp.together(a - b))
        return True if gap.is_nonpositive else False if gap.is_nonnegative else None

    def minimum(a: sp.Expr, b: sp.Expr) -> sp.Expr:
        below = smaller(a, b)
        return sp.Min(a, b) if below is None else a if below else b

    def maximum(a: sp.Expr, b: sp.Expr) -> sp.Expr:
        below = smaller(a, b)
        return sp.Max(a, b) if below is None else b if below else a

    return expression.replace(sp.Min, minimum).replace(sp.Max, maximum)


def _three_regimes(statement: sp.Basic) -> tuple[Obligation, ...]:
    """The statement at delta = 0, at delta = x/(1 + x) and at delta = 1 + x, x > 0, against what was derived."""
    x = sp.Symbol("x", positive=True)
    found: list[Obligation] = []
    for says, build, shortfall in (
        ("delta = 0", leap_scaling.share_enough, sp.S.Zero),
        ("0 < delta < 1", leap_scaling.share_below_one, x / (1 + x)),
        ("delta > 1", leap_scaling.share_beyond_one, 1 + x),
    ):
        derived = build().results[s.overlap_rate].subs(s.shortfall, shortfall)
        printed = _ordered(statement.rhs.subs(s.shortfall, shortfall))
        found.append(Vanishing(says, sp.together(derived - printed)))
    return tuple(found)


THEOREM = claim(
    "wider.leap.theorem",
    "What one giant step learns at n = Theta(d^(l - delta)): a share d^(-min(1, delta)/2) of each neuron",
    wider_leap.THEOREMS, eq(s.overlap_rate, -sp.Min(1, s.shortfall) / 2),
    Domain((Range(s.shortfall, 0.05, 2.0),), HYPOTHESES),
    ByObligations("orders of signal and noise in three regimes", _three_regimes),
    ByScaling("one step on one neuron, leap one and two, enough samples, too few, far too few",
              partial(leap_numbers.scaled, leap_numbers.ENOUGH + leap_numbers.TOO_FEW + leap_numbers.FAR_TOO_FEW)),
    kind=Kind.CONCENTRATION,
    wrong={
        "no saturation": -s.shortfall / 2,
        "without the root": -sp.Min(1, s.shortfall),
        "as random weights": -sp.Rational(1, 2),
    },
    uses=("wider.leap.signal-rate", "wider.leap.noise-rate", "wider.leap.share-below-one",
          "wider.leap.share-beyond-one", "wider.leap.share-enough", "wider.leap.step"),
    note="Confirmed for leap index one and two. Not proved here: the limit itself, the probability 1 - exp(-c log^2 "
         "d), the powers of log d, and that the bound holds for all neurons at once; orders at leap index three and "
         "above rest on the signal of order three and on the calculus of exponents.",
)

SPAN = claim(
    "wider.leap.span",
    "With n of order d^l the gradients of many neurons span as many directions as the first tensor has rank",
    wider_leap.THEOREMS, eq(s.learned_dimension, s.tensor_rank),
    Domain((Range("target", choices=tuple(numbers.SPANS)), Range("draw", choices=("0", "1", "2", "3"))), HYPOTHESES),
    ByNumbers("32 relu neurons on one batch, leap one and two", numbers.spans, tolerances.ROUNDING, points=12,
              finite_size=True),
    kind=Kind.CONCENTRATION,
    wrong={"every direction": s.target_directions, "one direction": sp.S.One, "one more": s.tensor_rank + 1},
    uses=("wider.leap.theorem", "wider.leap.leap-space"),
    note="Counted are singular values of the neurons' parts in the target's directions above 0.4 of the largest. That "
         "neurons of random directions span the space is confirmed, not proved.",
)

PREPROCESSING = claim(
    "wider.leap.preprocessing",
    "z1 + He_2(z2): the second direction is learned at n = d^2 only if the linear part is subtracted first",
    wider_leap.THEOREMS, eq(s.overlap_rate, (s.preprocessed - 1) / 2),
    Domain((Range(s.preprocessed, 0.0, 1.0),), HYPOTHESES[1:]),
    ByDerivation(leap_theorem.preprocessing, conjecture=True),
    ByScaling("one relu neuron, linear part fitted on the same samples", numbers.preprocessing),
    kind=Kind.CONCENTRATION, wrong={"no need for it": sp.S.Zero, "no use of it": -sp.Rational(1, 2)},
    uses=("wider.leap.theorem",), note="Without it the leap index is one, and the step is towards z1 alone.",
)

# ---- the objects of given targets ----


def _objects(name: str) -> tuple[Claim, Claim]:
    given, variables, first = leap_theorem.TARGETS[name]
    before = f", parts of order below {first} subtracted" if first > 1 else ""
    shown = f"{sp.sstr(given)} of {len(variables)} direction{'s' if len(variables) > 1 else ''}{before}"

    def number_of(kind: str, title: str, unknown: sp.Symbol, number: int, *, wrong: Wrong) -> Claim:
        return claim(
            f"wider.leap.{kind}.{name}", f"{title}: {shown}", wider_leap.TENSORS, eq(unknown, sp.Integer(number)),
            Domain(), ByDerivation(partial(leap_theorem.tensors, name)),
            ByNumbers("tensors by a product rule, rank by singular values", partial(numbers.objects, name),
                      tolerances.ROUNDING, points=1),
            wrong={"one more": number + 1, **wrong},
        )

    leap, size = EXPECTED[name]
    return (
        number_of("index", "Leap index", s.leap, leap, wrong={"twice": sp.Integer(2 * leap)}),
        number_of(
            "space", "Dimension of the leap space", s.learned_dimension, size,
            wrong={"two more": sp.Integer(size + 2)},
        ),
    )


# Leap index and dimension of the leap space, as one reads them off the targets.
EXPECTED = {
    "staircase": (1, 1),
    "third-hermite": (3, 1),
    "product": (2, 2),
    "diagonal-square": (2, 1),
    "saddle": (2, 2),
    "product-of-three-and-square": (2, 1),
    "parity-of-signs": (2, 2),
    "wave": (2, 2),
    "cubic-monomial": (1, 1),
    "cubic-monomial-preprocessed": (3, 1),
    "linear-and-square": (1, 1),
    "linear-and-square-preprocessed": (2, 1),
    "modulus-and-linear-preprocessed": (2, 1),
    "staircase-preprocessed": (2, 2),
}

CLAIMS: tuple[Claim, ...] = (
    *(each for name in EXPECTED for each in _objects(name)), THEOREM, SPAN, PREPROCESSING,
)

r"""Plain random features with the square loss: the saddle point for any loss becomes that of Section 3.3 at r = 0.

The general equations are those of `derivations.saddle_point.random_features.convex`, with noise on the labels; at the
loss (y - x)^2/2 the proximal point is (f + V y)/(1 + V), and only E g^2 and E[z g] of the target are left. They are
compared with the ridge's own equations at r = 0, `derivations.saddle_point.random_features.no_spike`.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.envelopes import PLACES, proximal
from giantsteps.derivations.free_energy.sample_energy import LABEL_NOISE
from giantsteps.derivations.gradient_step.assumptions import H1_STAR, H2_STAR
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.search.assumptions import each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, in_order, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import any_loss
from giantsteps.derivations.saddle_point import equations
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import convex, no_spike
from giantsteps.derivations.saddle_point.random_features.convex import HYPOTHESES, SOURCE
from giantsteps.derivations.saddle_point.random_features.one_system import (
    CONJUGATES,
    OVERLAPS,
    in_modes_of_F,
    ratios,
    same_conjugates,
    same_overlaps,
)

_label, _output = sp.symbols("y h", real=True)
LABEL_NOISE_TERM = sp.sqrt(s.noise) * LABEL_NOISE
SQUARE = in_model(
    "square loss",
    Equation(any_loss(_label, _output), (_label - _output) ** 2 / 2),
    "Section 2: half of the squared difference of label and output",
    _label,
    _output,
)


@functools.cache
def forces() -> tuple[Theorem, Theorem, Theorem]:
    """The proximal point of the square loss, the force (y - f)/(1 + V) and its slope -1/(1 + V)."""
    stationary, _, by_prox = proximal()
    y, centre, _ = PLACES
    prox = sides(by_prox.statement)[1].atoms(sp.core.function.AppliedUndef).pop()
    slope = instantiate((differentiate((SQUARE,), _output),), {_label: y, _output: prox})
    point = isolated(prox, rewrite((stationary, slope)))
    pull = rewrite((by_prox, point))
    pull = equal(pull, sp.factor(value(pull)))
    response = differentiate((pull,), centre)
    return point, pull, equal(response, sp.factor(value(response)))


def at_square_loss(theorem: Theorem) -> Theorem:
    """``theorem`` with the force of the square loss and its slope, and the moments of the target."""
    *_, pull, response = forces()
    for known in (pull, response):
        for call in in_order(value(theorem), sides(known.statement)[0].func):
            theorem = rewrite((theorem, instantiate((known,), dict(zip(PLACES, call.args, strict=True)))))
    constants = (isolated(value(name), name) for name in (H1_STAR, H2_STAR))
    return rewritten(averages_expanded(theorem), *constants)


@functools.cache
def slopes() -> tuple[Theorem, ...]:
    """dE/dQ, dE/dM and dE/dV of the square loss with noise on the labels, at the overlaps."""
    found = (at_square_loss(convex.at_target(theorem)) for theorem in convex.slopes_target_first(LABEL_NOISE_TERM))
    return tuple(equal(theorem, sp.factor(value(theorem))) for theorem in found)


@functools.cache
def conjugates() -> tuple[Theorem, ...]:
    """The conjugates of the slides at the square loss, by V, Q and M."""
    found = (convex.conjugate_by_energy(hat) for hat in CONJUGATES)
    return tuple(rewritten(theorem, *slopes(), *ratios()) for theorem in found)


@functools.cache
def ours() -> tuple[Theorem, ...]:
    """V1^, V2^, q1^, q2^ and M^ of the ridge at r = 0, by V1, V2, Q1, q2 and M."""
    more = 1 + no_spike.V_plain
    error = s.h2_star + s.noise - 2 * no_spike.k1 * s.h1_star * s.M + no_spike.k1**2 * s.Q1 + no_spike.k2**2 * s.q2
    sizes = [
        concluded(
            Equation(hat, no_spike.ratio * constant**2 * error / more**2),
            no_spike.at_saddle(partner),
            no_spike.OVERLAP,
            no_spike.SIZE,
        )
        for hat, partner, constant in ((s.q1_hat, s.V1, no_spike.k1), (s.q2_hat, s.V2, no_spike.k2))
    ]
    overlap = concluded(
        Equation(s.M_hat, no_spike.ratio * no_spike.k1 * s.h1_star / more), no_spike.FORCE, no_spike.at_saddle(s.psi)
    )
    return no_spike.at_saddle(s.q1), no_spike.at_saddle(s.q2), *sizes, overlap


@functools.cache
def overlaps() -> tuple[Theorem, ...]:
    """The overlaps of the slides as traces over modes of F^T F/p, with our conjugates."""
    partner = {name: hat for hat, name in convex.PARTNERS.items()}
    found = (convex.stationary(partner[name], name)[1] for name in OVERLAPS)
    return tuple(rewritten(convex.in_resolvents(theorem), *same_conjugates(), *ratios()) for theorem in found)


@functools.cache
def our_overlaps() -> tuple[Theorem, ...]:
    """V1, V2, M, Q1 and q2 at r = 0 as traces over modes of F^T F/p."""
    V1, V2 = map(in_modes_of_F, equations.traces())
    Q1, q2 = map(in_modes_of_F, no_spike.sizes())
    _, _, overlap, _ = no_spike.overlaps(*no_spike.forces())
    return V1, V2, rewrite((overlap, V1)), Q1, q2


@functools.cache
def square_loss() -> Derivation:
    """The square loss (1/2)(y - x)^2 in the letters of Section 3.3: the saddle point of plain random features."""
    hats = {
        name: concluded(Equation(name, ours_), theirs, convex.NAMES[s.V], convex.NAMES[s.output_square],
                        convex.NAMES[s.output_overlap], *same_overlaps(), *ours())
        for (name, ours_), theirs in zip(CONJUGATES.items(), conjugates(), strict=True)
    }  # fmt: skip
    found = {
        name: concluded(Equation(name, ours_), theirs, own)
        for (name, ours_), theirs, own in zip(OVERLAPS.items(), overlaps(), our_overlaps(), strict=True)
    }
    results = hats | found
    return Derivation(
        "square loss of random features",
        SOURCE,
        *each_proved("n/p and d/p.", ratios()),
        *each_proved("The proximal point of the square loss, the force and its slope.", forces()),
        *each_proved("The energy of a sample with noise on its label, differentiated in Q, M, V.", slopes()),
        *each_proved("A conjugate of the slides at the square loss.", conjugates()),
        *each_proved("A conjugate of the ridge at r = 0.", ours()),
        *(
            proved(f"${sp.latex(name)}$: at the same overlaps the two are the same.", theorem)
            for name, theorem in hats.items()
        ),
        *each_proved("An overlap of the slides, over the modes of F.", overlaps()),
        *each_proved("An overlap at r = 0, over the modes of F.", our_overlaps()),
        *(
            proved(f"${sp.latex(name)}$: with the same conjugates the two are the same.", theorem)
            for name, theorem in found.items()
        ),
        results=results.values(),
        hypotheses=(*HYPOTHESES, *no_spike.reduction().hypotheses),
    )

r"""Envelopes: equations (96)-(97), (101) and (118) of Appendix C.

The Moreau envelope M(y, omega, V) = inf_h (h - omega)^2/(2V) + l(y, h) of a convex loss has

    dM/domega = -f,   dM/dV = -f^2/2,   df/domega = -l''/(1 + V l''),   f = (h - omega)/V

with the proximal point h, where the energy is stationary. A regulariser has an envelope of the same kind.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.search.steps import named as within
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import named_functions as named
from giantsteps.derivations.language.derivation import Derivation

APPENDIX = f"{PAPER}, Appendix C"
envelope_of, force_of = named.envelope, named.force

_ZERO, _ONE = sp.Integer(0), sp.Integer(1)
_y, _centre, _h, _J, _weight = sp.symbols("y omega h J a", real=True)
_V = sp.Symbol("V", positive=True)
PLACES = (_y, _centre, _V)
_prox = named.proximal_point(*PLACES)


def stationary_at(
    place: sp.Expr, energy: Theorem, variable: sp.Symbol, name: str, reference: str, *universal: sp.Symbol
) -> Theorem:
    """The slope of an energy is zero at ``place``, which the model makes the minimum."""
    slope = instantiate((differentiate((energy,), variable),), {variable: place})
    return rewrite((in_model(name, Equation(sides(slope.statement)[0], _ZERO), reference, *universal), slope))


@functools.cache
def proximal() -> tuple[Theorem, ...]:
    """The energy of a sample, its stationarity at the proximal point, the envelope and the force, at any label, centre
    and variance.
    """
    energy = define(
        named.sample_energy(*PLACES, _h),
        (_h - _centre) ** 2 / (2 * _V) + named.any_loss(_y, _h),
        "what a sample costs at the output h",
        *PLACES,
        _h,
    )
    stationary = stationary_at(
        _prox, energy, _h, "proximal point of a convex loss",
        "the proximal point is where the energy of the sample is stationary, which is its minimum", *PLACES,
    )  # fmt: skip
    at_prox = instantiate((energy,), {_h: _prox})
    least_energy = define(
        envelope_of(*PLACES), sides(at_prox.statement)[0], "the least energy, the Moreau envelope", *PLACES
    )
    force = define(force_of(*PLACES), (_prox - _centre) / _V, "the force on the field", *PLACES)
    return stationary, rewrite((least_energy, at_prox)), force


def envelope_slopes() -> tuple[Theorem, Theorem]:
    """dM/domega = -f and dM/dV = -f^2/2: what the proximal point moves by has the stationary slope as a factor."""
    stationary, least_energy, force = proximal()
    found = []
    for variable in (_centre, _V):
        slope = differentiate((least_energy,), variable)
        left, right = sides(slope.statement)
        moved = named.PARTIALS[named.proximal_point][PLACES.index(variable)](*PLACES)
        without = ring(
            (slope, stationary),
            Equation(left, sp.expand(right - moved * sides(stationary.statement)[0])),
            (_ONE, moved),
        )
        inserted = rewritten(without, isolated(_prox, force))
        found.append(equal(inserted, sp.expand(sp.cancel(value(inserted)))))
    return found[0], found[1]


@functools.cache
def force_slope_theorem() -> Theorem:
    """df/domega = -l''/(1 + V l''), l'' at the proximal point: stationarity differentiated."""
    stationary, _, force = proximal()
    implicit = differentiate((stationary,), _centre)
    moved = named.PARTIALS[named.proximal_point][1](*PLACES)
    slope = differentiate((force,), _centre)
    return rewritten(slope, isolated(moved, implicit))


@functools.cache
def envelope() -> Derivation:
    """Equations (101), (118): derivatives of the Moreau envelope, by the envelope theorem."""
    stationary, least_energy, force = proximal()
    at = {_y: s.y, _centre: s.field_mean, _V: s.V}
    h = define(s.prox, _prox.xreplace(at), "the proximal point of one sample")
    curvature = define(
        s.loss_curvature, named.any_loss_curvature(s.y, _prox.xreplace(at)), "the curvature of the loss there"
    )

    def of(name: sp.Symbol, theorem: Theorem, meaning: str) -> Theorem:
        known = instantiate((theorem,), at)
        return within(rewrite((define(name, sides(known.statement)[0], meaning), known)), curvature, h)

    raw_centre, raw_variance = (
        rewritten(slope, force) if value(slope).has(force_of) else slope for slope in envelope_slopes()
    )
    slope = isolated(named.any_loss_slope(_y, _prox), stationary)
    loss_slope = of(s.loss_slope, slope, "the slope of the loss at the proximal point")
    in_centre = of(s.moreau_slope, raw_centre, "the derivative of the envelope in its centre")
    in_variance = of(s.moreau_response, raw_variance, "the derivative of the envelope in its variance")
    of_force = of(s.force_slope, force_slope_theorem(), "the derivative of the force in the centre")
    of_force = equal(of_force, sp.factor(value(of_force)))
    return Derivation(
        "Moreau envelope of a convex loss",
        f"{APPENDIX}, (101), (118)",
        proved(
            "The proximal point h_omega minimises (h - omega)^2/(2V) + l(h): (h - omega)/V + l'(h) = 0. The force on "
            "the field is f = (h_omega - omega)/V.",
            loss_slope,
        ),
        proved("The envelope is the energy there.", least_energy),
        proved(
            "By the chain rule the envelope changes through omega itself and through the proximal point; the second "
            "part has the slope of the objective as a factor and drops out: -f in omega.",
            in_centre,
        ),
        proved("In V it is -f^2/2: half of a Hamilton-Jacobi equation, dM/dV = -(dM/domega)^2/2.", in_variance),
        proved(
            "Stationarity differentiated in omega: h' (1 + V l'') = 1, so f' = (h' - 1)/V lies between -1/V and 0.",
            of_force,
        ),
        proved(
            "-f' >= 0.",
            order(
                (of_force,),
                AtLeast(-s.force_slope, _ZERO),
                (-_ONE,),
                ((-value(of_force), _ONE),),
            ),
        ),
        results=(in_centre, in_variance, of_force, loss_slope),
        hypotheses=("the loss is convex and twice differentiable in the output",),
    )


@functools.cache
def regulariser() -> Derivation:
    """Equations (96)-(97): the envelope of a convex regulariser, and the readout as its slope in the force."""
    S = s.V2_hat
    at = named.least_weight(_J)
    energy = define(
        named.weight_energy(_weight, _J),
        s.ridge * named.regulariser(_weight) + S * _weight**2 / 2 - _J * _weight,
        "what a weight costs at a force J",
        _weight,
        _J,
    )
    stationary = stationary_at(
        at, energy, _weight, "least weight",
        "the readout's weight is where its energy is stationary, which is its minimum", _J,
    )  # fmt: skip
    at_least = instantiate((energy,), {_weight: at})
    meaning = define(named.weight_envelope(_J), sides(at_least.statement)[0], "the least energy", _J)
    change = differentiate((rewrite((meaning, at_least)),), _J)
    left, right = sides(change.statement)
    moved = named.least_weight_slope(_J)
    without = ring(
        (change, stationary), Equation(left, sp.expand(right - moved * sides(stationary.statement)[0])), (_ONE, moved)
    )
    here = instantiate((without,), {_J: s.mode_signal})
    point = define(s.minimum_point, named.least_weight(s.mode_signal), "the weight at the force J")
    name = define(s.penalty_slope, sides(here.statement)[0], "the derivative of the envelope in the force")
    result = rewrite((rewrite((name, here)), point), True)
    return Derivation(
        "envelope of a regulariser",
        f"{APPENDIX}, (96)-(97)",
        proved("At the minimum lambda r'(a) + S a = J.", stationary),
        proved(
            "So by the chain rule the envelope changes with J as its explicit term does: minus the minimiser.", result
        ),
        hypotheses=("the regulariser is convex and differentiable",),
    )

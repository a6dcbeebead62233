r"""The resolvent of the two matrices of one batch that rows with any activation know. Beyond the paper.

Rows b = P w + noise (`derivations.bulk.any_activation`) have d Cov(b) = B = P^2 + omega A, P = 1 + nu M and A of one
batch, and H = (1 + g B)^-1 is the first block of the inverse of [[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]], which is
linear in the samples.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk import symbols as s
from onestep.derivations.bulk.any_activation import SOURCE, U, Y
from onestep.derivations.bulk.network import SAMPLES
from onestep.derivations.kernel.algebra import differentiate, instantiate, rewrite
from onestep.derivations.kernel.search import define, named_slope, proved, value
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import g, with_slopes


def over(numerator: sp.Expr) -> sp.Expr:
    """E[numerator/D] of a numerator in Y and u: Y = g(z) - h0, u = z and D = 1 + b1 Y + b2 Y^2."""
    label = g(s.z) - s.mean_output
    denominator = 1 + s.place_linear * label + s.place_square * label**2
    return Expectation(numerator.subs({Y: label, U: s.z}, simultaneous=True) / denominator, s.z)


_determinant, _, _determinant_curve = with_slopes("D_Y")
_y = sp.Symbol("Y_0", real=True)


def blocks_and_weight(label: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    """G, the traces of the blocks of [[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]]^-1, and the weight W that a sample
    of this label has in that matrix.
    """
    root = sp.sqrt(s.gain)
    own, beside = s.gain * s.row_weight * label**2, root * s.turn * label
    G = sp.Matrix([[s.row_trace, root * s.bridge_trace], [root * s.bridge_trace, -s.rest_trace]])
    return G, sp.Matrix([[own, beside], [beside, 0]])


@functools.cache
def places() -> Derivation:
    """b1 and b2: where the averages over samples are taken."""
    G, W = blocks_and_weight(_y)
    left_out = sp.eye(2) + G * W / s.alpha0
    determinant = left_out[0, 0] * left_out[1, 1] - left_out[0, 1] * left_out[1, 0]
    meaning = define(_determinant(_y), determinant, "D(Y) = det(1 + G W/alpha0), by which a sample's forms shrink", _y)
    origin = {_y: sp.S.Zero}
    slope = differentiate((meaning,), _y)
    curve = instantiate((differentiate((slope,), _y),), origin)
    linear = named_slope(s.place_linear, "the coefficient of Y in D(Y)", instantiate((slope,), origin))
    half = define(s.place_square, _determinant_curve(sp.S.Zero) / 2, "the coefficient of Y^2 in D(Y)")
    square = rewrite((half, curve))
    return Derivation(
        "where averages over one batch are taken",
        SOURCE,
        proved(
            "[[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]] is linear in the samples, and the first block of its "
            "inverse is H = (1 + g B)^-1. Leaving one sample of weight W out multiplies by (1 + G W/alpha0)^-1, whose "
            "determinant is D(Y).",
            meaning,
        ),
        proved("The coefficient of Y,", linear),
        proved("and that of Y^2.", square),
        results={s.place_linear: value(linear), s.place_square: value(square)},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def blocks() -> Derivation:
    """b = (1/d) tr H P and k = 1 - g (1/d) tr P H P from a = (1/d) tr H."""
    return _resolvent("blocks of the resolvent of two matrices of one batch", s.bridge_trace, s.rest_trace)


@functools.cache
def trace() -> Derivation:
    """a = (1/d) tr H from the places b1 and b2."""
    return _resolvent("the resolvent of two matrices of one batch", s.row_trace)


def _resolvent(title: str, *established: sp.Symbol) -> Derivation:
    """The blocks of the resolvent, of which some are named."""
    gain, nu, alpha0 = s.gain, s.turn, s.alpha0
    a, b, k, root = s.row_trace, s.bridge_trace, s.rest_trace, sp.sqrt(s.gain)
    G, W = blocks_and_weight(Y)
    D = (sp.eye(2) + G * W / alpha0).det()
    put_in = sp.Matrix(
        [
            [gain * (s.row_weight + k * nu**2 / alpha0) * Y**2, root * (nu * Y + gain * b * nu**2 * Y**2 / alpha0)],
            [root * (nu * Y + gain * b * nu**2 * Y**2 / alpha0), -gain * a * nu**2 * Y**2 / alpha0],
        ]
    )
    left_out = put_in * (sp.eye(2) + G * W / alpha0) - D * W
    # With S1 and S2 for the averages of Y/D and Y^2/D: x = 1 + nu S1, y = g omega S2, t = g nu^2 S2/alpha0.
    x, y, t = sp.symbols("x y t", positive=True)
    whole = sp.Matrix([[1 + y + k * t, root * (x + b * t)], [root * (x + b * t), -(1 + a * t)]])
    product = (G * whole - sp.eye(2)).subs({b: x * a, k: (1 + y) * a}, simultaneous=True)
    product = product.subs(y, 1 / (a * (1 + t * a)) - 1 - gain * x**2)
    first, second = over(Y), over(Y**2)
    scale = 1 + gain * (s.row_weight * second + (1 + nu * first) ** 2)
    bend = gain * nu**2 / alpha0 * second
    level = sp.Symbol("M", positive=True)
    root_of = 2 / (level + sp.sqrt(level**2 + 4 * t * level))
    found = {
        s.bridge_trace: (1 + nu * first) * s.row_trace,
        s.rest_trace: (1 + gain * s.row_weight * second) * s.row_trace,
        s.row_trace: root_of.subs({level: scale, t: bend}, simultaneous=True),
    }
    return Derivation(
        title,
        SOURCE,
        Step(
            "W (1 + G W/alpha0)^-1, averaged over samples, is added to the part without samples, and G is its inverse: "
            "b = (1 + nu S1) a, k = (1 + g omega S2) a, a M (1 + t a) = 1.",
            eq(s.bridge_trace, found[s.bridge_trace]),
            *(Vanishing("W (1 + G W/alpha0)^-1", sp.expand(entry)) for entry in left_out),
            *(Vanishing("G times its inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The other block.",
            eq(s.rest_trace, found[s.rest_trace]),
            *(Vanishing("G times its inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The positive root.",
            eq(s.row_trace, found[s.row_trace]),
            Vanishing("it solves its equation", root_of * level * (1 + t * root_of) - 1),
        ),
        results={symbol: value for symbol, value in found.items() if symbol in established},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def target_forms() -> Derivation:
    """theta.H theta and theta.H P theta: the blocks with u^2 in the averages."""
    gain, nu, alpha0, a, b, k = s.gain, s.turn, s.alpha0, s.row_trace, s.bridge_trace, s.rest_trace
    first, second = over(Y * U**2), over(Y**2 * U**2)
    x, y, t = sp.symbols("x y t", positive=True)
    root = sp.sqrt(gain)
    inverse = sp.Matrix([[1 + y + k * t, root * (x + b * t)], [root * (x + b * t), -(1 + a * t)]])
    whole = (1 + y + k * t) * (1 + a * t) + gain * (x + b * t) ** 2
    forms = ((1 + a * t) / whole, (x + b * t) / whole)
    product = inverse * sp.Matrix([forms[0], root * forms[1]]) - sp.Matrix([1, 0])
    named = {x: 1 + nu * first, y: gain * s.row_weight * second, t: gain * nu**2 / alpha0 * second}
    target, bridge = (form.subs(named, simultaneous=True) for form in forms)
    return Derivation(
        "the resolvent of two matrices of one batch along the target",
        SOURCE,
        Step(
            "theta has the component u on a sample: its blocks are those of the traces with u^2 in the averages.",
            eq(s.target_form, target),
            *(Vanishing("the first column of the inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The second block is H P.",
            eq(s.target_bridge, bridge),
            *(Vanishing("the first column of the inverse", sp.together(entry)) for entry in product),
        ),
        results={s.target_form: target, s.target_bridge: bridge},
        hypotheses=(SAMPLES,),
    )

r"""The resolvent of the two matrices of one batch that rows with any activation know. Beyond the paper.

Rows b = P w + noise (`derivations.bulk.any_activation`) have d Cov(b) = B = P^2 + omega A, P = 1 + nu M and A of one
batch, and H = (1 + g B)^-1 is the first block of the inverse of [[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]], which is
linear in the samples.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.any_activation import SOURCE, U, Y
from giantsteps.derivations.bulk.network import SAMPLES
from giantsteps.derivations.bulk.overlapping_bulk import acting
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.steps import named, named_slope, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, with_slopes


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
    first = named_slope(s.place_linear, "the coefficient of Y in D(Y)", instantiate((slope,), origin))
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
        proved("The coefficient of Y,", first),
        proved("and that of Y^2.", square),
        results=(first, square),
        hypotheses=(SAMPLES,),
    )


_seen = g(s.z) - s.mean_output
_first, _second = sp.symbols("S_1 S_2", real=True)
_bend = s.gain * s.turn**2 / s.alpha0
_hole, _radicand = sp.Symbol("hole", real=True), sp.Symbol("discriminant", nonnegative=True)


@functools.cache
def answer() -> tuple[Theorem, ...]:
    """What a sample of label Y acts by when it is put in."""
    G, W = blocks_and_weight(_y)
    return acting(W, G, sp.Matrix(2, 2, lambda i, j: sp.Function(f"W'_{{{i + 1}{j + 1}}}", real=True)(_y)), _y)


def means(weight: sp.Expr = sp.S.One) -> tuple[Expectation, ...]:
    """E[w W'] over samples, entry by entry, for a weight w of u."""
    return tuple(Expectation(weight.subs(U, s.z) * value(entry).xreplace({_y: _seen}), s.z) for entry in answer())


@functools.cache
def averaged(weight: sp.Expr = sp.S.One) -> tuple[tuple[Theorem, ...], tuple[Theorem, ...]]:
    """S1 = E[w Y/D] and S2 = E[w Y^2/D], and E[w W'] by them."""
    found = tuple(places().theorem_of(b) for b in (s.place_linear, s.place_square))
    names = tuple(
        define(name, over(weight * Y**power), f"E[w Y^{power}/D]") for name, power in ((_first, 1), (_second, 2))
    )
    opened = tuple(rewritten(name, *found) for name in names)
    one, two = (value(name).integrand for name in opened)
    root = sp.sqrt(s.gain)
    parts: tuple[tuple[tuple[sp.Expr, sp.Expr], ...], ...] = (
        ((s.gain * s.row_weight + s.rest_trace * _bend, two),),
        ((root * s.turn, one), (root * s.bridge_trace * _bend, two)),
        ((-s.row_trace * _bend, two),),
    )
    split = tuple(linear((), mean, terms) for mean, terms in zip(means(weight), parts, strict=True))
    return names, tuple(named(theorem, *opened) for theorem in split)


def linear_matrix(weight: sp.Expr = sp.S.One) -> sp.Matrix:
    """[[1, sqrt(g)], [sqrt(g), -1]] + E[w W'], which the blocks invert."""
    own, across, below = means(weight)
    beside = sp.sqrt(s.gain) + across
    return sp.Matrix([[1 + own, beside], [beside, below - 1]])


def inverts(product: sp.Matrix, i: int, j: int, weight: sp.Expr = sp.S.One) -> Theorem:
    """An entry of the product of blocks and linear matrix, which is that of one, with S1 and S2 in it."""
    one = Equation(product[i, j], sp.Integer(int(i == j)))
    theorem = hypothesis(f"samples left out, entry {i + 1}{j + 1}", one, SAMPLES)
    for mean in averaged(weight)[1]:
        if product[i, j].has(sides(mean.statement)[0]):
            theorem = rewrite((theorem, mean))
    return theorem


_slant, _own = 1 + s.turn * _first, 1 + s.gain * s.row_weight * _second


@functools.cache
def relations() -> tuple[Theorem, ...]:
    """Three entries of the blocks times what they invert, and from these b and k by a."""
    G, _ = blocks_and_weight(_y)
    corner, beside, below = (inverts(G * linear_matrix(), i, j) for i, j in ((0, 0), (0, 1), (1, 1)))
    bridge = ring((beside,), Equation(s.bridge_trace, _slant * s.row_trace), (-1 / sp.sqrt(s.gain),))
    rest = ring((below, corner), Equation(s.rest_trace, _own * s.row_trace), (sp.S.One, -sp.S.One))
    return corner, beside, below, bridge, rest


@functools.cache
def blocks() -> Derivation:
    """b = (1/d) tr H P and k = 1 - g (1/d) tr P H P from a = (1/d) tr H."""
    names, averages = averaged()
    corner, beside, below, *found = relations()
    bridge, rest = (rewritten(theorem, *names) for theorem in found)
    return Derivation(
        "blocks of the resolvent of two matrices of one batch",
        SOURCE,
        *each_proved("A sample acts by W' = W (1 + G W/alpha0)^-1,", answer()),
        *each_proved("which, averaged over samples,", averages),
        *each_proved(
            "is added to the part without samples, and G is the inverse of both together.", (corner, beside, below)
        ),
        proved("b = (1 + nu S1) a.", bridge),
        proved("k = (1 + g omega S2) a.", rest),
        results=(bridge, rest),
        hypotheses=(SAMPLES,),
    )


_level, _curl = sp.Symbol("M", positive=True), sp.Symbol("t", nonnegative=True)


@functools.cache
def trace() -> Derivation:
    """a = (1/d) tr H from the places b1 and b2: the positive root of a M (1 + t a) = 1."""
    names, _ = averaged()
    corner, *_, bridge, rest = relations()
    a, scale = s.row_trace, _own + s.gain * _slant**2
    level = define(_level, scale, "1 + g (omega S2 + (1 + nu S1)^2)")
    curl = define(_curl, _bend * _second, "g nu^2 S2/alpha0")
    alone = rewrite((rewrite((corner, bridge)), rest))
    closed = ring(
        (alone, level, curl),
        Equation(a * _level * (1 + _curl * a), sp.Integer(1)),
        (sp.S.One, a * (1 + _curl * a), a**2 * scale),
    )
    sum_of_roots = 2 * _curl * _level * a + _level
    square = ring((closed,), Equation(_level**2 + 4 * _curl * _level, sum_of_roots**2), (-4 * _curl * _level,))
    root = congruence((square,), sp.sqrt(_radicand), _radicand)
    left, right = sides(root.statement)
    found = ring(
        (root, closed),
        Equation(a, 2 / (_level + left)),
        (2 / ((_level + left) * (_level + right)), 1 / (_level * (1 + _curl * a))),
    )
    result = rewritten(found, level, curl, *names)
    return Derivation(
        "the resolvent of two matrices of one batch",
        SOURCE,
        *blocks().steps,
        proved("With b and k by a, one equation for a is left.", closed),
        proved("Its discriminant is a square,", square),
        proved("and a the positive root.", result),
        hypotheses=(SAMPLES,),
    )


@functools.cache
def target_forms() -> Derivation:
    """theta.H theta and theta.H P theta: the blocks with u^2 in the averages."""
    root, weight = sp.sqrt(s.gain), U**2
    column = linear_matrix(weight) * sp.Matrix([s.target_form, root * s.target_bridge])
    names, averages = averaged(weight)
    upper, lower = (inverts(column, i, 0, weight) for i in (0, 1))
    corner = _own + s.rest_trace * _bend * _second
    beside = _slant + s.bridge_trace * _bend * _second
    below = 1 + s.row_trace * _bend * _second
    whole = corner * below + s.gain * beside**2
    form = ring((upper, lower), Equation(s.target_form, below / whole), (below / whole, root * beside / whole))
    bridge = ring((upper, lower), Equation(s.target_bridge, beside / whole), (beside / whole, -corner / (root * whole)))
    found = [rewritten(theorem, *names) for theorem in (form, bridge)]
    return Derivation(
        "the resolvent of two matrices of one batch along the target",
        SOURCE,
        *each_proved("theta has the component u on a sample, so that u^2 stands in the averages.", averages),
        proved("The first column of the inverse,", upper),
        proved("in both blocks.", lower),
        proved("theta.H theta.", found[0]),
        proved("The second block is H P.", found[1]),
        results=found,
        hypotheses=(SAMPLES,),
    )


Pairs = tuple[tuple[sp.Symbol, ...], ...]

_C, _T, _seen_by, _left = s.V1_hat_of, s.V1_of, s.rows_seen, sp.symbols("N_11 N_21", real=True)
_seen_along = s.target_seen


def _first_column(own: sp.Expr, across: sp.Expr, seen: Pairs) -> tuple[Theorem, ...]:
    """The first columns of the four blocks of [[C, 1], [1, -Phi]]^-1 = [[R, N^T], [N, .]], entry by entry; those of R
    are given.
    """
    zero = sp.S.Zero
    entries = (
        (own - seen[0][0] * _left[0] - seen[0][1] * _left[1], zero),
        (across - seen[0][1] * _left[0] - seen[1][1] * _left[1], zero),
        (_left[0] + _C[0][0] * own + _C[0][1] * across, sp.S.One),
        (_left[1] + _C[0][1] * own + _C[1][1] * across, zero),
    )
    return tuple(
        hypothesis(f"samples and rows left out, entry {k}", Equation(*sides_), SAMPLES)
        for k, sides_ in enumerate(entries, start=1)
    )


def _eliminated(
    found: tuple[Theorem, ...], symbols: tuple[sp.Symbol, sp.Symbol], seen: Pairs, scale: sp.Expr
) -> dict[sp.Symbol, Theorem]:
    """The first row of R/scale, R = (1 + Phi C)^-1 Phi."""
    C, Phi = sp.Matrix(_C), sp.Matrix(seen)
    A = sp.eye(2) + Phi * C
    whole = scale * A.det()
    rows = ((A[1, 1] / whole, -A[0, 1] / whole), (-A[1, 0] / whole, A[0, 0] / whole))

    def solved(symbol: sp.Symbol, row: tuple[sp.Expr, sp.Expr]) -> Theorem:
        by_rest = [row[0] * Phi[0, b] + row[1] * Phi[1, b] for b in (0, 1)]
        return ring(found, Equation(symbol, row[0] * Phi[0, 0] + row[1] * Phi[0, 1]), (*row, *by_rest))

    return {symbol: solved(symbol, row) for symbol, row in zip(symbols, rows, strict=True)}


@functools.cache
def target_forms_of_letters() -> Derivation:
    """(W theta).S^-1 W theta of two letters with any activation from the matrix by which their rows act along theta."""
    symbols = s.target_forms_of[0][0], s.target_forms_of[0][1]
    found = _first_column(*symbols, _seen_along)
    forms = _eliminated(found, symbols, _seen_along, sp.S.One)
    return Derivation(
        "two letters of one batch along the target",
        SOURCE,
        *each_proved(
            "theta has the component u on a sample, so that u^2 stands in the averages: what the last two blocks "
            "do to the first is another matrix Phi along theta.",
            found,
        ),
        *each_proved("Elimination.", forms.values()),
        results={symbol: value(theorem) for symbol, theorem in forms.items()},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def letters_of_one_batch() -> Derivation:
    """T of two letters with any activation from the matrix Phi by which their rows act."""
    found = _first_column(s.beta * _T[0][0], s.beta * _T[0][1], _seen_by)
    first, second, third, fourth = found
    traces = _eliminated(found, (_T[0][0], _T[0][1]), _seen_by, s.beta)
    return Derivation(
        "two letters of one batch",
        SOURCE,
        *each_proved(
            "[[C, 1, 0], [1, -omega A, P], [0, P, 1]] of both letters, P = 1 + nu M, is linear in the samples. "
            "Leaving samples out, what its last two blocks do to the first is one matrix Phi over the letters.",
            (first, second, third, fourth),
        ),
        *each_proved("Elimination.", traces.values()),
        results=traces.values(),
        hypotheses=(SAMPLES,),
    )


@functools.cache
def letter_trace() -> Derivation:
    """tau of one letter from T."""
    shift, met = s.ridge + s.V2_hat_of[0], _C[0][0] * _T[0][0] + _C[0][1] * _T[0][1]
    diagonal = Equation(s.fraction[0], shift * s.V2_of[0] + met)
    meaning = "S is ridge + D and C o (W W^T)"
    block = in_model("(1/p) tr S S^-1 over the first letter", diagonal, meaning)
    rest = ring((block,), Equation(s.V2_of[0], (s.fraction[0] - met) / shift), (-1 / shift,))
    return Derivation(
        "the readout's resolvent times its inverse",
        SOURCE,
        proved("S is ridge + D and C o (W W^T); S S^-1 = 1 on the neurons of a letter.", block),
        proved("Solved for tau.", rest),
    )

r"""A readout that starts from letters over isotropic rows: equations (155)-(156) without large matrices.

Forces along v and theta_perp act on isotropic rows as noise does, along (X, Y) with X = q1^ + beta psi^ psi^T and Y =
q2^ + beta c zeta^^2: q1 and q2, traces with two resolvents, are minus the slopes of T and tau when their arguments C
and D are moved by t along (X, Y). One row against the rest gives T and tau at every t.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.blocks import LETTERS, PAIRS, Place, blocks_by_mixed, mixed_solved, traces_by_mixed
from giantsteps.derivations.bulk.marchenko_pastur import ISOTROPIC
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, proved
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, rewritten_both, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import SOURCE
from giantsteps.derivations.saddle_point.letters import CONJUGATE, double_of, equation

_ZERO = sp.Integer(0)


def isotropic_traces() -> dict[sp.Symbol, sp.Expr]:
    """The forms of one given bulk for isotropic rows: v and theta_perp see beta c tau and beta T."""
    spike = {s.spike_block[a][b]: s.beta * s.c_of[a] * s.V2_of[a] if a == b else sp.S.Zero for a, b in PAIRS}
    return spike | {s.target_block[a][b]: s.beta * s.V1_of[a][b] for a, b in PAIRS}


def isotropic_law(name: sp.Symbol, found: sp.Expr) -> Theorem:
    """The hypothesis that a form or trace of one given bulk is what it is for isotropic rows."""
    return hypothesis(f"isotropic rows, {name}", Equation(name, found), ISOTROPIC)


# Traces of a bulk whose conjugates are moved by t along (X, Y), and M = C (1 + Theta C)^-1 there.
_moved = sp.Symbol("t", real=True)
_tau = tuple(with_slopes(f"tau_{a + 1}") for a in LETTERS)
_mixed, _block = (
    {(a, b): with_slopes(f"{name}_{{{a + 1}{b + 1}}}") for a, b in PAIRS} for name in ("\\mathsf{M}", "T")
)
_X = (sp.symbols("X_11 X_12", real=True), sp.symbols("X_12 X_22", real=True))
_Y = sp.symbols("Y_1 Y_2", real=True)


def _line() -> Place:
    """The conjugates moved by t along (X, Y), and the names of the traces there."""
    return Place(
        sp.ImmutableMatrix(2, 2, lambda a, b: s.V1_hat_of[a][b] + _moved * _X[a][b]),
        tuple(s.ridge + s.V2_hat_of[a] + _moved * _Y[a] for a in LETTERS),
        sp.ImmutableMatrix(2, 2, lambda a, b: _block[min(a, b), max(a, b)][0](_moved)),
        tuple(_tau[a][0](_moved) for a in LETTERS),
        sp.ImmutableMatrix(2, 2, lambda a, b: _mixed[min(a, b), max(a, b)][0](_moved)),
        (_moved,),
    )


@functools.cache
def moving_bulk() -> tuple[Theorem, ...]:
    """tau, M and T along the line of conjugates, by the block equivalent: for each letter, and twice each pair."""
    at = _line()
    theta = tuple(s.beta * s.c_of[a] * at.tau[a] for a in LETTERS)
    minor = at.C[0, 0] * at.C[1, 1] - at.C[0, 1] ** 2
    determinant = 1 + theta[0] * at.C[0, 0] + theta[1] * at.C[1, 1] + theta[0] * theta[1] * minor
    laws = []
    for a, found in zip(LETTERS, traces_by_mixed(at), strict=True):
        whole = at.shift[a] + s.c_of[a] * at.M[a, a]
        laws.append(ring((found,), Equation(at.tau[a] * whole, s.fraction[a]), (whole,)))
    for (a, b), entry, block in zip(PAIRS, mixed_solved(at), blocks_by_mixed(at), strict=True):
        own = theta[1 - a] * minor if a == b else 0
        laws += (equal(entry, (at.C[a, b] + own) / determinant), block)
    return tuple(laws)


def _trace(conjugate: sp.Symbol, at_zero: sp.Expr) -> Theorem:
    """What an order parameter is at the saddle point, a trace of one given bulk, for isotropic rows."""
    found = equation(conjugate).theorem_of(CONJUGATE[conjugate])
    assert isinstance(value(found), sp.Symbol)
    return rewrite((found, isotropic_law(value(found), at_zero)))


@functools.cache
def names() -> tuple[Theorem, ...]:
    """The traces at the conjugates themselves: of letters, entries of M, blocks."""
    return (
        *(_trace(s.q2_hat_of[a], _tau[a][0](_ZERO)) for a in LETTERS),
        *(define(s.mixed[a][b], _mixed[a, b][0](_ZERO), "an entry of M") for a, b in PAIRS),
        *(_trace(s.q1_hat_of[a][b], _block[a, b][0](_ZERO)) for a, b in PAIRS),
    )


@functools.cache
def direction() -> tuple[Theorem, ...]:
    """(X, Y): noise and force between two letters across v, and on one along it."""
    across = {(a, b): s.q1_hat_of[a][b] + s.beta * s.psi_hat_of[a] * s.psi_hat_of[b] for a, b in PAIRS}
    along = tuple(s.q2_hat_of[a] + s.beta * s.c_of[a] * s.zeta_hat_of[a] ** 2 for a in LETTERS)
    return (
        *(define(_X[a][b], found, "noise and force along theta_perp, two letters") for (a, b), found in across.items()),
        *(define(_Y[a], along[a], "noise and force along v, one letter") for a in LETTERS),
    )


def _slopes_at_zero() -> list[Theorem]:
    """The laws differentiated along the line, at the conjugates themselves."""
    return [instantiate((differentiate((law,), _moved),), {_moved: sp.S.Zero}) for law in moving_bulk()]


@functools.cache
def mixed_moves() -> dict[tuple[int, int], Theorem]:
    """dM = (1 - M Theta) X (1 - Theta M) - M dTheta M."""
    M = sp.Matrix(2, 2, lambda a, b: _mixed[min(a, b), max(a, b)][0](sp.S.Zero))
    theta, rate = (sp.diag(*(s.beta * s.c_of[a] * _tau[a][k](sp.S.Zero) for a in LETTERS)) for k in (0, 1))
    X = sp.Matrix(2, 2, lambda a, b: _X[a][b])
    moved = (sp.eye(2) - M * theta) * X * (sp.eye(2) - theta * M) - M * rate * M
    here = [instantiate((law,), {_moved: sp.S.Zero}) for law in moving_bulk()[2::2]]
    found = dict(zip(PAIRS, _slopes_at_zero()[2::2], strict=True))
    return {(a, b): concluded(Equation(_mixed[a, b][1](sp.S.Zero), moved[a, b]), found[a, b], *here) for a, b in PAIRS}


def _moves_by(name: sp.Symbol) -> Theorem:
    """The hypothesis that a trace with two resolvents is minus the slope of one along (X, Y)."""
    for a in LETTERS:
        if name == s.double_letter[a]:
            return isotropic_law(name, -_tau[a][1](sp.S.Zero))
    ((a, b),) = (pair for pair in PAIRS if s.double_block[pair[0]][pair[1]] == name)
    return isotropic_law(name, -_block[a, b][1](sp.S.Zero))


@functools.cache
def _overlaps() -> tuple[Theorem, ...]:
    """q2 of both letters as minus slopes, and the slopes by them."""
    found = []
    for a in LETTERS:
        general = equation(s.V2_hat_of[a]).theorem_of(s.q2_of[a])
        found.append(rewrite((general, _moves_by(s.double_letter[a]))))
    return tuple(found)


@functools.cache
def at_line() -> tuple[Theorem, ...]:
    """What stands on the line at the conjugates themselves, under its names: tau, M, T, and slopes of tau by q2."""
    here = [isolated(value(name), name) for name in names()]
    return (*here, *(isolated(_tau[a][1](_ZERO), _overlaps()[a]) for a in LETTERS))


@functools.cache
def laws_here() -> tuple[Theorem, ...]:
    """The laws of `moving_bulk` at the conjugates themselves, in the names of the traces there."""
    here = (instantiate((law,), {_moved: _ZERO}) for law in moving_bulk())
    return tuple(rewritten_both(law, *at_line()) for law in here)


@functools.cache
def isotropic_size(a: int) -> Theorem:
    """q2 of a letter: pi/tau moves as s + c M."""
    shift = isolated(s.ridge, laws_here()[a])
    moved = rewritten_both(_slopes_at_zero()[a], mixed_moves()[a, a], *at_line(), shift)
    return isolated(s.q2_of[a], moved)


@functools.cache
def isotropic_overlap(a: int, b: int) -> Theorem:
    """q1 of two letters: beta T X T, and what the sizes move."""
    general = equation(s.V1_hat_of[a][b]).theorem_of(s.q1_of[a][b])
    slope = _slopes_at_zero()[3 + 2 * PAIRS.index((a, b))]
    return rewritten(general, _moves_by(s.double_block[a][b]), slope, mixed_moves()[a, b], *at_line())


def overlap_form(a: int, b: int) -> sp.Expr:
    """beta T X T + N^T diag(c q2) N with N = 1 - M Theta, at a pair of letters."""
    T, M, X = (sp.Matrix(2, 2, lambda e, f, of=of: of[e][f]) for of in (s.V1_of, s.mixed, _X))
    N = sp.eye(2) - M * sp.diag(*(s.beta * s.c_of[e] * s.V2_of[e] for e in LETTERS))
    sizes = sp.diag(*(s.c_of[e] * s.q2_of[e] for e in LETTERS))
    return (s.beta * T * X * T + N.T * sizes * N)[a, b]


@functools.cache
def isotropic(variable: sp.Symbol) -> Derivation:
    """The equations for zeta and psi, and those for q1 and q2 through the derivative of the block equivalent.

    ``variable`` is zeta^, psi^, V1^ or V2^ of a letter or pair.
    """
    base, unknown = equation(variable), CONJUGATE[variable]
    general = base.theorem_of(unknown)
    laws: tuple[Theorem, ...]
    if double_of(unknown) is None:
        laws = tuple(isotropic_law(name, found) for name, found in isotropic_traces().items())
        result = rewritten(general, *laws)
    elif unknown in s.q2_of:
        laws = (*moving_bulk(), *names(), *direction(), *_overlaps())
        result = rewritten(isotropic_size(s.q2_of.index(unknown)), *direction())
    else:
        ((a, b),) = (pair for pair in PAIRS if s.q1_of[pair[0]][pair[1]] == unknown)
        laws = (*moving_bulk(), *names(), *direction(), *_overlaps())
        found = isotropic_overlap(a, b)
        blocks = [instantiate((law,), {_moved: _ZERO}) for law in moving_bulk()[3::2]]
        named = [rewritten(name, block, *at_line()) for name, block in zip(names()[-3:], blocks, strict=True)]
        result = rewritten(concluded(Equation(unknown, overlap_form(a, b)), found, *named), *direction())
    return Derivation(
        f"stationarity in {variable} for isotropic rows",
        f"{SOURCE}, (155)-(156)",
        *base.steps,
        *each_proved("For isotropic rows v and theta_perp are independent of the bulk.", laws),
        proved("Moving (C, D) along (X, Y) moves (T, tau) by minus (q1, q2).", result),
        hypotheses=(*base.hypotheses, ISOTROPIC),
    )

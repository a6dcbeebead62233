r"""Traces of the resolvent of a bulk with isotropic rows: the Marchenko-Pastur law as equations between V1 and V2.

With rows w_i of squared norm c in d dimensions, p = beta d of them, and S = s0 + V1^ W Pi W^T with s0 = lambda + V2^,

    V2 = (1/p) tr S^-1,   V1 = (1/p) tr[W Pi W^T S^-1].

One line of the cavity argument gives both; equation (117) is the same law written as a density.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import PAPER, denominator, over_modes, varrho
from giantsteps.derivations.free_energy.ridge import spike_inversion
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, lemma, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, both_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation

ISOTROPIC = (
    "the rows of the bulk are independent of each other and isotropic, each in its group where there are several, so "
    "that quadratic forms of a row in the rest concentrate"
)

shift = s.ridge + s.V2_hat


_ONE = sp.Integer(1)
_gain = 1 + s.beta * s.c * s.V1_hat * s.V2
# Statements about the bulk hold for all conjugates and every ridge.
_FREE = (s.V1_hat, s.V2_hat, s.ridge)
_SQUARED_NORM, _size = sp.symbols("|w_i|^2 |w|^2", real=True)
# The quadratic form of the matrix of the rest in a row of its own squared norm; the trace of that matrix per dimension.
_form = sp.Function("w.W^TS_i^{-1}Ww", real=True)
_PER_DIMENSION = sp.Function("(1/d)trW^TS^{-1}W", real=True)(*_FREE)
_ones, _bulk = over_modes(1 / denominator), over_modes(varrho / denominator)
corner_entry, coupling_form = sp.symbols("A q", real=True)
inverse_entry = sp.Function("(S^{-1})_{ii}", real=True)
# A diagonal entry of an inverse, by the diagonal entry A of the matrix and b.D^-1 b of the rest D and the row b, times
# the Schur complement, which is positive where the matrix is.
SCHUR = lemma(
    "Schur complement",
    Equation(inverse_entry(corner_entry, coupling_form) * (corner_entry - coupling_form), _ONE),
    "inversion of a matrix in two blocks",
    corner_entry,
    coupling_form,
)
NORM = in_model("rows of the bulk", Equation(_SQUARED_NORM, s.c), "|w_i|^2 = c")
TRACES = (
    define(s.V1, _bulk, "(1/p) tr[W Pi W^T S^-1], mode by mode"),
    define(s.V2, _ones, "(1/p) tr S^-1, mode by mode"),
)


@functools.cache
def second_names() -> tuple[Theorem, ...]:
    """The second moments of the resolvent, mode by mode; written as averages are expanded."""
    meant = (
        define(s.resolvent_square, over_modes(1 / denominator**2), "(1/p) tr S^-2 over the modes of the bulk"),
        define(
            s.resolvent_mixed, over_modes(varrho / denominator**2), "(1/p) tr[W Pi W^T S^-2] over the modes of the bulk"
        ),
        define(
            s.resolvent_double, over_modes(varrho**2 / denominator**2), "(1/p) tr[(W Pi W^T S^-1)^2] over the modes"
        ),
    )
    return tuple(averages_expanded(name, s.mode) for name in meant)


def _trusted(name: str, left: sp.Expr, right: sp.Expr, *universal: sp.Symbol) -> Theorem:
    """What concentration of the traces and forms of an isotropic bulk says."""
    return hypothesis(name, Equation(left, right), ISOTROPIC, *_FREE, *universal)


@functools.cache
def schur_complement() -> tuple[Theorem, ...]:
    """(1/p) tr S^-1 by the Schur complement of one row: s0 + V1^ |w|^2 - V1^^2 w.W^T S^-1 W w.

    The last of these is V1^^2 c beta (1/p) tr[W Pi W^T S^-1].
    """
    corner, coupling = shift + s.V1_hat * _SQUARED_NORM, s.V1_hat**2 * _form(_SQUARED_NORM, *_FREE)
    alike = _trusted("rows are alike", _ones, inverse_entry(corner, coupling))
    entry = rewrite((instantiate((SCHUR,), {corner_entry: corner, coupling_form: coupling}), alike), True)
    form = _trusted("isotropic row", _form(_size, *_FREE), _size * _PER_DIMENSION, _size)
    per_dimension = define(_PER_DIMENSION, s.beta * _bulk, "(1/d) tr[W^T S^-1 W], p modes among d dimensions", *_FREE)
    by_trace = rewritten(instantiate((form,), {_size: _SQUARED_NORM}), per_dimension)
    return entry, by_trace, rewrite((rewrite((entry, by_trace)), NORM))


@functools.cache
def trace_identity() -> Theorem:
    """(1/p) tr[S S^-1] = 1."""
    share = over_modes(s.V1_hat * varrho / denominator)
    rest = linear((), share, ((_ONE, _ONE), (-shift, 1 / denominator)))
    scaled = linear((), share, ((s.V1_hat, varrho / denominator),))
    return ring((rest, scaled), Equation(shift * _ones + s.V1_hat * _bulk, _ONE), (_ONE, -_ONE))


@functools.cache
def law_of_averages() -> Theorem:
    """The law for all conjugates and every ridge, in averages over the modes."""
    *_, inverse = schur_complement()
    gain = 1 + s.beta * s.c * s.V1_hat * _ones
    common = s.V1_hat * gain
    return ring((inverse, trace_identity()), Equation(_bulk, s.c * _ones / gain), (-1 / common, 1 / common))


def named(theorem: Theorem, *traces: Theorem) -> Theorem:
    """``theorem`` with the traces under their names, which ``traces`` says what they are."""
    for name in (*(traces or TRACES), *second_names()):
        if any(side.has(value(name)) for side in sides(theorem.statement)):
            theorem = rewrite((theorem, name), True)
    return theorem


@functools.cache
def cavity() -> Derivation:
    """V1 in terms of V2, from the Schur complement of one row and the trace of S S^-1 = 1."""
    entry, form, inverse = schur_complement()
    result = law()
    return Derivation(
        "one row against the rest",
        f"{PAPER}, Appendix C, (117)",
        proved("A diagonal entry of an inverse times the Schur complement of the rest is one.", entry),
        proved(
            "Row i is independent of the inverse S_i of the rest, so the quadratic form is (c/d) tr[W^T S^-1 W] = "
            "beta c V1.",
            form,
        ),
        proved("The complement is s0 + c V1^ - V1^^2 beta c V1.", named(inverse)),
        proved("The trace of S S^-1 = 1.", named(trace_identity())),
        proved("Subtract: V2 times the inverse of the second relation minus the third is linear in V1.", result),
        hypotheses=(ISOTROPIC,),
    )


@functools.cache
def law(*traces: Theorem) -> Theorem:
    """V1 = c V2/(1 + beta c V1^ V2)."""
    return named(law_of_averages(), *traces)


@functools.cache
def quadratic() -> Derivation:
    """V2 as the positive root of its quadratic equation."""
    leading, slope = s.beta * s.c * s.V1_hat * shift, shift + s.c * s.V1_hat * (1 - s.beta)
    trace, V1 = named(trace_identity()), law()
    closed = ring((trace, V1), Equation(1 / s.V2, shift + s.c * s.V1_hat / _gain), (-1 / s.V2, s.V1_hat / s.V2))
    polynomial = leading * s.V2**2 + slope * s.V2 - 1
    multiplied = ring((closed,), Equation(polynomial, sp.Integer(0)), (-s.V2 * _gain,))
    positive = leading * s.V2 + 1 / s.V2
    square = ring(
        (multiplied,),
        Equation(slope**2 + 4 * leading, positive**2),
        ((slope / s.V2 - leading + 1 / s.V2**2),),
    )
    hole = sp.Dummy("discriminant", nonnegative=True)
    root = congruence((square,), sp.sqrt(hole), hole)
    result = ring(
        (root, multiplied),
        Equation(s.V2, (sides(root.statement)[0] - slope) / (2 * leading)),
        (-1 / (2 * leading), 1 / (2 * leading * s.V2)),
    )
    return Derivation(
        "Marchenko-Pastur quadratic",
        f"{PAPER}, Appendix C, (117)",
        *cavity().steps,
        proved("V1 eliminated: one equation for V2.", closed),
        proved("Multiplied out it is quadratic.", multiplied),
        proved("Its discriminant is the square of what is positive for V2 > 0,", square),
        proved("whose root it is,", root),
        proved("so that V2 is the root with the plus sign.", result),
        hypotheses=(ISOTROPIC,),
    )


def slope(theorem: Theorem, x: sp.Symbol, *traces: Theorem) -> Theorem:
    """The derivative in V1^ or V2^ of what holds for all of them, with the moments of the resolvent named."""
    return named(both_expanded(differentiate((theorem,), x), s.mode), *traces)


@functools.cache
def moments(*traces: Theorem) -> tuple[Theorem, ...]:
    """(1/p) tr[Omega^j S^-2], j = 0, 1, 2, by V1 and V2; and what is said of them by the derivatives of the trace of
    S S^-1 in V2^ and V1^ and that of the law in V2^.
    """
    trace, V1 = named(trace_identity(), *traces), law(*traces)
    along_V2, along_V1 = (slope(trace_identity(), x, *traces) for x in (s.V2_hat, s.V1_hat))
    of_law = isolated(s.resolvent_mixed, slope(law_of_averages(), s.V2_hat, *traces))
    regular = 1 - s.beta * s.V1_hat**2 * s.V1**2
    stiffness = shift + s.V1_hat * s.c / _gain**2
    by_law = ring(
        (trace, V1),
        Equation(stiffness * s.V2, regular),
        (_ONE, s.beta * s.V1_hat**2 * s.V1 - s.V1_hat / _gain),
    )
    lowest = concluded(Equation(stiffness * s.resolvent_square, s.V2), isolated(s.ridge, along_V2), of_law)
    square = ring(
        (lowest, by_law),
        Equation(s.resolvent_square, s.V2**2 / regular),
        (1 / stiffness, -s.V2 / (stiffness * regular)),
    )
    mixed = ring(
        (of_law, square, V1),
        Equation(s.resolvent_mixed, s.V1**2 / (s.c * regular)),
        (_ONE, s.c / _gain**2, -(s.V1 + s.c * s.V2 / _gain) / (s.c * regular)),
    )
    highest = s.V1**2 * (s.beta + s.V1**2 / (s.c**2 * s.V2**2 * regular))
    # What is left once the mixed moment and s0 are put in vanishes by the law.
    left_over = (s.V1 - (1 - s.V1_hat * s.V1) * s.V1**2 / (s.c * s.V2 * regular)) / s.V1_hat - highest
    double = ring(
        (isolated(s.resolvent_double, along_V1), mixed, trace, V1),
        Equation(s.resolvent_double, highest),
        (
            _ONE,
            -shift / s.V1_hat,
            -(s.V1**2) / (s.c * regular * s.V1_hat * s.V2),
            sp.cancel(left_over / (s.V1 - s.c * s.V2 / _gain)),
        ),
    )
    return square, mixed, double, along_V2, along_V1, of_law


@functools.cache
def second_moments() -> Derivation:
    """(1/p) tr[Omega^j S^-2], j = 0, 1, 2: minus the derivatives of the two traces in V1^ and V2^."""
    square, mixed, double, along_V2, along_V1, of_law = moments()
    return Derivation(
        "second moments of the resolvent",
        f"{PAPER}, Section 3.3, (19)",
        *cavity().steps,
        proved(
            "S depends on V1^ and V2^ linearly, so (1/p) tr S^-2 = -dV2/dV2^, (1/p) tr[Omega S^-2] = -dV2/dV1^ and "
            "(1/p) tr[Omega S^-1 Omega S^-1] = -dV1/dV1^. The derivative of the trace of S S^-1 in V2^,",
            along_V2,
        ),
        proved("in V1^,", along_V1),
        proved("and that of the law in V2^.", of_law),
        proved("The lowest moment.", square),
        proved("The mixed moment.", mixed),
        proved("The moment of order two.", double),
        results=(square, mixed, double, law()),
        hypotheses=(ISOTROPIC,),
    )


@functools.cache
def spike_direction() -> Derivation:
    """s.G s = beta c V2 for s = W v: Sherman-Morrison with s.G0 s = beta V1, against the direct concentration."""
    concentrates = _trusted("isotropic bulk, spike direction", s.spike_resolvent, s.beta * _bulk)
    direct = rewrite((concentrates, TRACES[0]), True)
    inversion = spike_inversion().theorem_of(s.spike_resolvent_bulk)
    over = s.beta * _gain / (1 - s.beta * s.V1_hat * s.V1)
    result = ring(
        (rewritten(inversion, direct), law()), Equation(s.spike_resolvent_bulk, s.beta * s.c * s.V2), (_ONE, over)
    )
    return Derivation(
        "resolvent along the spike",
        f"{PAPER}, Appendix C, (109), (115)",
        *cavity().steps,
        proved(
            "v is independent of the bulk, so s.G0 s = (1/d) tr[W^T G0 W] = beta V1 at leading order: tau^2 "
            "averages to one, I = V1.",
            direct,
        ),
        proved("The spike direction is taken out by Sherman-Morrison.", inversion),
        proved(
            "That gives beta V1/(1 - beta V1^ V1), which the Marchenko-Pastur relation turns into beta c V2: what W v, "
            "independent of W Pi, gives directly as (c/d) tr G.",
            result,
        ),
        results=(result, law()),
        hypotheses=(ISOTROPIC,),
    )

r"""The resolvent of a bulk whose rows fall into groups: its traces without large matrices (Appendix D).

The readout meets the bulk through S = lambda + D + C o (W W^T), with C acting on blocks, D on groups, and rows w_i of
squared norm c_a in group a, p pi_a of them. With Theta = diag(beta c_a tau_a),

    tau_a = (1/p) tr_a S^{-1} = pi_a/(lambda + D_a + c_a M_aa),   M = C (1 + Theta C)^{-1},
    T = (1/p) tr[P_a W W^T P_b S^{-1}] = (1/beta) Theta (1 + C Theta)^{-1} = (Theta - Theta M Theta)/beta.

One row against the rest (leave-one-out) gives all of it. Two groups are written out; C is ``V1_hat_of``, D is
``V2_hat_of``, T is ``V1_of`` and tau is ``V2_of`` of the symbols.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import ISOTROPIC, SCHUR, corner_entry, coupling_form, inverse_entry
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.gradient_step.assumptions import repeated_is
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, in_model, lemma, proved
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import by_ring, equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation, Vanishing
from giantsteps.derivations.language.named_functions import repeated, with_partials

SOURCE = f"{PAPER}, Appendix D"
LETTERS = (0, 1)
PAIRS = ((0, 0), (0, 1), (1, 1))

C = sp.Matrix(2, 2, lambda a, b: s.V1_hat_of[a][b])
T = sp.Matrix(2, 2, lambda a, b: s.V1_of[a][b])
M = sp.Matrix(2, 2, lambda a, b: s.mixed[a][b])
IDENTITY = sp.eye(2)
shift = tuple(s.ridge + s.V2_hat_of[a] for a in LETTERS)
theta = sp.symbols("Theta_1 Theta_2", positive=True)
Theta = sp.diag(*theta)


@dataclass(frozen=True)
class Place:
    """Conjugates of a bulk, C and the diagonal lambda + D, and what its traces are called there.

    ``moved`` is the symbol that conjugates and traces are functions of, for all of whose values a theorem holds; none
    where they stand for themselves.
    """

    C: sp.ImmutableMatrix
    shift: tuple[sp.Expr, ...]
    T: sp.ImmutableMatrix
    tau: tuple[sp.Expr, ...]
    M: sp.ImmutableMatrix
    moved: tuple[sp.Symbol, ...] = ()

    def called(self, name: str) -> sp.Expr:
        """A fresh name for something at these conjugates."""
        return sp.Function(f"{name} moved", real=True)(*self.moved) if self.moved else sp.Symbol(name, real=True)

    def solved(self, formula: sp.Expr) -> sp.Expr:
        """A formula in C and Theta at these conjugates."""
        gains = {theta[a]: s.beta * s.c_of[a] * self.tau[a] for a in LETTERS}
        return formula.xreplace(gains | {s.V1_hat_of[a][b]: self.C[a, b] for a, b in PAIRS})


HERE = Place(C.as_immutable(), shift, T.as_immutable(), tuple(s.V2_of), M.as_immutable())


def block_relation(block_traces: sp.Matrix) -> sp.Matrix:
    """beta (T - what one row adds to it), which vanishes: beta T = Theta - beta T C Theta."""
    return s.beta * block_traces - Theta + s.beta * block_traces * C * Theta


def entries(matrix: sp.Matrix) -> list[tuple[str, sp.Expr]]:
    """The entries of a 2 x 2 matrix with their places."""
    return [(f"entry {a + 1}{b + 1}", matrix[a, b]) for a in LETTERS for b in LETTERS]


def vanishing(says: str, matrix: sp.Matrix) -> tuple[Vanishing, ...]:
    """One obligation per entry of a matrix that is zero."""
    return tuple(Vanishing(f"{says}, {place}", entry) for place, entry in entries(matrix))


@functools.cache
def mixed_matrix() -> sp.Matrix:
    """M = C (1 + Theta C)^{-1} in C and Theta."""
    return (C * (IDENTITY + Theta * C).inv(method="ADJ")).applyfunc(sp.factor)


@functools.cache
def traces_of() -> sp.Matrix:
    """T = Theta (1 + C Theta)^{-1}/beta in C and Theta: the solution of the relation between blocks."""
    return (Theta * (IDENTITY + C * Theta).inv(method="ADJ") / s.beta).applyfunc(sp.factor)


# What a row meets, w.W_b^T S_i^-1 W_b' w with the row left out, as functions of its squared norm.
# Along moved conjugates they have slopes, as a resolvent has.
_FORMS = tuple(f"w.Q_{{{a + 1}{b + 1}}}w" for a, b in PAIRS)
_fixed_forms = tuple(sp.Function(name, real=True) for name in _FORMS)
_moved_forms = tuple(with_partials(f"{name} moved", 2) for name in _FORMS)
SQUARES = sp.symbols("|w_1|^2 |w_2|^2", real=True)
_own, _met, _size = sp.symbols("y u |w|^2", real=True)
_column = sp.Function("y.S^{-1}e_i", real=True)
# A diagonal entry of an inverse as a quotient; the form of its column in a vector y of own component y_i, by
# u = y.D^-1 b, D the rest of the matrix and b its row.
_quotient = 1 / (corner_entry - coupling_form)
ENTRY = ring((SCHUR,), Equation(inverse_entry(corner_entry, coupling_form), _quotient), (_quotient,))
COLUMN = lemma(
    "column of an inverse",
    Equation(_column(corner_entry, coupling_form, _own, _met), (_own - _met) / (corner_entry - coupling_form)),
    "inversion of a matrix in two blocks",
    corner_entry,
    coupling_form,
    _own,
    _met,
)


def _form(at: Place, b: int, e: int, size: sp.Expr) -> sp.Expr:
    """w.W_b^T S_i^-1 W_e w for a row w of squared norm ``size``."""
    return (_moved_forms if at.moved else _fixed_forms)[b + e](size, *at.moved)


def form(at: Place, a: int, b: int, e: int) -> sp.Expr:
    """w.W_b^T S_i^-1 W_e w for a row w of group a."""
    return _form(at, b, e, SQUARES[a])


def taken_off(at: Place, a: int) -> sp.Expr:
    """What the rest takes off the diagonal of S at a row of group a: sum_bb' C_ab w.W_b^T S_i^-1 W_b' w C_b'a."""
    return sum(at.C[a, b] * form(at, a, b, e) * at.C[e, a] for b in LETTERS for e in LETTERS)


def met_by(at: Place, a: int, b: int) -> sp.Expr:
    """w.W_b^T S_i^-1 sum_e C_ae W_e w: what a row of group a meets of itself in group b by way of the rest."""
    return sum(form(at, a, b, e) * at.C[e, a] for e in LETTERS)


def corner(at: Place, a: int) -> sp.Expr:
    """The diagonal entry of S at a row of group a."""
    return at.shift[a] + at.C[a, a] * SQUARES[a]


@functools.cache
def isotropic_rows(at: Place = HERE) -> tuple[Theorem, ...]:
    """|w|^2 = c_a, and w.W_b^T S_i^-1 W_b' w = (c_a/d) tr[W_b^T S^-1 W_b'], in a bulk of independent isotropic rows."""
    norms = [in_model(f"rows of group {a + 1}", Equation(SQUARES[a], s.c_of[a]), "|w_i|^2 = c_a") for a in LETTERS]
    forms = [
        hypothesis(
            f"isotropic row, block {b + 1}{e + 1}{', conjugates moved' if at.moved else ''}",
            Equation(_form(at, b, e, _size), _size * s.beta * at.T[b, e]),
            ISOTROPIC,
            _size,
            *at.moved,
        )
        for b, e in PAIRS
    ]
    at_rows = [instantiate((of,), {_size: SQUARES[a]}) for of in forms for a in LETTERS]
    return *at_rows, *norms


def _summed(at: Place, a: int, trace: sp.Expr, name: sp.Expr, meaning: str) -> Theorem:
    """``trace``, which means 1/p times a sum over the rows of group a, as that of one row."""
    whole = define(trace, repeated(s.p * s.fraction[a], name) / s.p, meaning, *at.moved)
    return rewrite((whole, repeated_is(repeated(s.p * s.fraction[a], name))))


@functools.cache
def entry_of_group(a: int, at: Place = HERE) -> tuple[Theorem, Theorem]:
    """tau_a by one row of the group against the rest, and with its forms by T."""
    name, ends = at.called(f"g_{a + 1}"), (corner(at, a), taken_off(at, a))
    row = define(name, inverse_entry(*ends), "the entry of S^-1 at a row of the group", *at.moved)
    schur = instantiate((ENTRY,), {corner_entry: ends[0], coupling_form: ends[1]})
    counted = _summed(at, a, at.tau[a], name, "(1/p) tr S^-1 over the rows of the group")
    exact = rewritten(counted, row, schur)
    return exact, rewritten(exact, *isotropic_rows(at))


@functools.cache
def trace_of_block(a: int, b: int, at: Place = HERE) -> Theorem:
    """T_ab = (1/p) tr[P_a W W^T P_b S^-1] by one row of group a against the rest, in T and tau."""
    name = at.called(f"t_{{{a + 1}{b + 1}}}")
    own = SQUARES[a] if a == b else sp.Integer(0)
    ends = {corner_entry: corner(at, a), coupling_form: taken_off(at, a), _own: own, _met: met_by(at, a, b)}
    row = define(name, _column(*ends.values()), "w_i.W_b^T S^-1 e_i at a row of the group", *at.moved)
    counted = _summed(at, a, at.T[a, b], name, "(1/p) tr[W_b^T S^-1 W_a]")
    found = rewritten(counted, row, instantiate((COLUMN,), ends), *isotropic_rows(at))
    _, entry = entry_of_group(a, at)
    share = value(found) / value(entry)
    return ring((found, entry), Equation(at.T[a, b], sp.cancel(share) * at.tau[a]), (sp.Integer(1), -share))


@functools.cache
def solved_blocks(at: Place = HERE) -> tuple[Theorem, ...]:
    """T = Theta (1 + C Theta)^-1/beta, block by block, from the three relations that are linear in it."""
    relations = [trace_of_block(a, b, at) for a, b in PAIRS]
    # T_11 stands in the first one alone, and its factor there may vanish where C is moved: that stays on record.
    relations[0] = isolated(at.T[0, 0], relations[0])
    names = {at.T[a, b]: s.V1_of[a][b] for a, b in PAIRS}
    differences = (sides(r.statement)[0] - value(r) for r in relations)
    system = sp.Matrix([difference.xreplace(names) for difference in differences]).jacobian(list(names.values()))
    # As `inv` has it, without its search for a zero of the determinant: the multipliers prove themselves.
    inverse = (system.adjugate() / system.det(method="berkowitz")).applyfunc(sp.factor)
    return tuple(
        ring(
            tuple(relations),
            Equation(at.T[a, b], at.solved(traces_of()[a, b])),
            tuple(inverse[k, j] for j in range(len(PAIRS))),
        )
        for k, (a, b) in enumerate(PAIRS)
    )


@functools.cache
def mixed_by_meaning(at: Place = HERE) -> tuple[Theorem, ...]:
    """M = C - beta C T C, what a row of unit norm meets: less than C by what the other rows return."""
    rest = at.C - s.beta * at.C * at.T * at.C
    reference = "what a row meets, C less what the other rows return"
    return tuple(define(at.M[a, b], rest[a, b], reference, *at.moved) for a, b in PAIRS)


@functools.cache
def mixed_solved(at: Place = HERE) -> tuple[Theorem, ...]:
    """M = C (1 + Theta C)^-1."""
    return tuple(
        concluded(Equation(at.M[a, b], at.solved(mixed_matrix()[a, b])), meaning, *solved_blocks(at))
        for (a, b), meaning in zip(PAIRS, mixed_by_meaning(at), strict=True)
    )


@functools.cache
def traces_by_mixed(at: Place = HERE) -> tuple[Theorem, ...]:
    """tau_a = pi_a/(lambda + D_a + c_a M_aa)."""
    means = dict(zip(PAIRS, mixed_by_meaning(at), strict=True))
    found = []
    for a in LETTERS:
        _, entry = entry_of_group(a, at)
        whole = at.shift[a] + s.c_of[a] * at.M[a, a]
        weight = s.c_of[a] * value(entry) / whole
        found.append(ring((entry, means[a, a]), Equation(at.tau[a], s.fraction[a] / whole), (sp.Integer(1), weight)))
    return tuple(found)


@functools.cache
def blocks_by_mixed(at: Place = HERE) -> tuple[Theorem, ...]:
    """T = (Theta - Theta M Theta)/beta."""
    gains = sp.diag(*(s.beta * s.c_of[a] * at.tau[a] for a in LETTERS))
    T_of_M = (gains - gains * at.M * gains) / s.beta
    known = (*solved_blocks(at), *mixed_solved(at))
    return tuple(by_ring_of(Equation(at.T[a, b], sp.expand(T_of_M[a, b])), known) for a, b in PAIRS)


@functools.cache
def cavity() -> Derivation:
    """tau in terms of M, and M in terms of C and Theta."""
    tau = traces_by_mixed()
    return Derivation(
        "one row of a group against the rest",
        SOURCE,
        *each_proved(
            "A diagonal entry of an inverse is one over the Schur complement of the rest.",
            (entry_of_group(a)[0] for a in LETTERS),
        ),
        proved(
            "Row i of group a meets the rest through sum_b C_ab W_b w_i; w_i is independent of the rest and isotropic "
            "with variance c_a/d, so the quadratic form is c_a beta sum_bb' C_ab T_bb' C_b'a.",
            entry_of_group(0)[1],
        ),
        *each_proved(
            "The same row in T: w_i.W_b^T (S^-1)_bi = -(S^-1)_ii c_a beta sum_b' T_bb' C_b'a for b other than its "
            "own row, plus c_a (S^-1)_ii from itself. Summed over the rows of a group: beta T = Theta - beta T C "
            "Theta.",
            (trace_of_block(a, b) for a, b in PAIRS),
        ),
        *each_proved("Three relations, linear in T: T = Theta (1 + C Theta)^-1/beta.", solved_blocks()),
        *each_proved("In the Schur complement of a row stands M = C - beta C T C.", mixed_by_meaning()),
        *each_proved("The rows of a group are alike: tau_a = pi_a (S^-1)_ii.", tau),
        results={s.V2_of[a]: value(tau[a]) for a in LETTERS},
        hypotheses=(ISOTROPIC,),
    )


@functools.cache
def block_traces() -> Derivation:
    """T in terms of tau and M."""
    steps = (
        proved(f"Block {a + 1}{b + 1} of T in terms of M.", t)
        for (a, b), t in zip(PAIRS, blocks_by_mixed(), strict=True)
    )
    results = {sides(t.statement)[0]: value(t) for t in blocks_by_mixed()}
    return Derivation(
        "blocks of the resolvent", SOURCE, *cavity().steps, *steps, results=results, hypotheses=(ISOTROPIC,)
    )


def by_ring_of(goal: Equation, theorems: tuple[Theorem, ...]) -> Theorem:
    """A goal that is linear in the left sides of theorems, each put for its right side."""
    used = [t for t in theorems if (goal.left - goal.right).has(sides(t.statement)[0])]
    return by_ring(goal, *used)


@functools.cache
def mixed_entries() -> Derivation:
    """The entries of M in C and tau."""
    steps = (
        proved(f"Entry {a + 1}{b + 1} of M, by Cramer's rule.", t)
        for (a, b), t in zip(PAIRS, mixed_solved(), strict=True)
    )
    results = {sides(t.statement)[0]: value(t) for t in mixed_solved()}
    return Derivation(
        "the matrix C (1 + Theta C)^-1", SOURCE, *cavity().steps, *steps, results=results,
        hypotheses=(ISOTROPIC,),
    )  # fmt: skip


@functools.cache
def equal_groups() -> Derivation:
    """Groups that do not differ are one group: tau summed and T summed satisfy the equations of one group."""
    same = {s.c_of[a]: s.c for a in LETTERS} | dict.fromkeys(C, s.V1_hat)
    alike = [
        in_model(f"equal groups: {of}", Equation(of, one), "groups that do not differ") for of, one in same.items()
    ]
    whole = define(s.V2, sum(s.V2_of), "(1/p) tr S^-1 over the rows of all groups")
    total = define(s.V1, sum(T), "(1/p) tr[W W^T S^-1] over all blocks")
    of_all = isolated(s.V2_of[1], whole)
    M_one = rewritten(mixed_solved()[0], *alike, of_all)
    M_one = equal(M_one, sp.factor(value(M_one)))
    T_one = rewritten(total, *solved_blocks())
    T_one = rewritten(T_one, *alike, of_all)
    T_one = equal(T_one, sp.factor(value(T_one)))
    return Derivation(
        "equal groups",
        SOURCE,
        *cavity().steps,
        proved(
            "With C_ab = C and c_a = c every entry of M is C/(1 + beta c C tau), tau summed over the groups.", M_one
        ),
        proved("T summed over the blocks: that of one group.", T_one),
        results=(T_one, M_one),
        hypotheses=(ISOTROPIC,),
    )

"""Beyond the paper: two letters of one batch, any activation: a matrix turns their rows, and another adds noise.

What the rows of both do is one matrix Phi over the letters, which is not diagonal; the equations for it are iterated by
the second route, and its entries stand in the statements. Along the target it is another matrix, with u^2 in the
averages. The overlaps K, the spike out of the bulk, follow from such forms by `beyond.groups.without-spike`.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk import two_batch_matrices
from giantsteps.derivations.bulk.network import SAMPLES
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks.any_rows import ANY
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.any_activation import letters
from giantsteps.verify.solver.networks import any_letters

_C, _Phi, _T = s.V1_hat_of, s.rows_seen, s.V1_of
_PAIRS_OF_LETTERS = Domain(
    ranges=(Range("activation", choices=("softplus", "leaning tanh", "shifted tanh", "relu")),
            Range("target", choices=("tanh", "shifted sin", "sin")), Range(s.alpha0, 0.7, 10.0, log=True),
            Range("rate", 1.0, 6.0), Range(s.beta, 0.4, 3.0, log=True), Range(s.letter[0], 0.7, 1.5),
            Range(s.letter[1], -1.2, 0.5), Range(s.fraction[0], 0.3, 0.7), Range(_C[0][0], 0.5, 2.0),
            Range(_C[1][1], 0.5, 2.0), Range(_C[0][1], 0.2, 0.45), Range(s.V2_hat_of[0], 0.1, 0.8),
            Range(s.V2_hat_of[1], 0.1, 0.8), Range(s.ridge, 0.1, 0.8)),
    hypotheses=(SAMPLES,),
)  # fmt: skip
_det = _Phi[0][0] * _Phi[1][1] - _Phi[0][1] ** 2
_whole = (
    1 + _C[0][0] * _Phi[0][0] + 2 * _C[0][1] * _Phi[0][1] + _C[1][1] * _Phi[1][1]
    + (_C[0][0] * _C[1][1] - _C[0][1] ** 2) * _det
)  # fmt: skip
_own, _across = (_Phi[0][0] + _C[1][1] * _det) / _whole / s.beta, (_Phi[0][1] - _C[0][1] * _det) / _whole / s.beta
_each = {_Phi[0][1]: sp.S.Zero}
_ROWS = BySimulation("rows of real networks with two letters, two models", letters.TRACES)
_BATCHES = BySimulation("covariances of both letters' rows on real batches, two models", letters.TARGET_FORMS)


def _trace(
    id_: str, title: str, left: sp.Symbol, right: sp.Expr,
    build: Callable[[], Derivation] = two_batch_matrices.letters_of_one_batch,
    *, wrong: Wrong, uses: tuple[str, ...] = (), simulated: BySimulation = _ROWS,
) -> Claim:
    return claim(
        f"beyond.any-letters.{id_}", title, ANY,
        eq(left, right), _PAIRS_OF_LETTERS,
        ByDerivation(build),
        ByNumbers("the solver's pencil beside another one, iterated", any_letters, tolerances.SOLVER, points=4),
        simulated,
        kind=Kind.LIMIT, wrong=wrong, uses=("beyond.any-row-covariance", *uses),
    )


V1_OWN = _trace(
    "V1-own", "The trace of W W^T against the readout's resolvent, one letter, any activation", _T[0][0], _own,
    wrong={"letters do not mix": _Phi[0][0] / (1 + _C[0][0] * _Phi[0][0]) / s.beta,
           "each letter's rows act on their own": _own.subs(_each)},
)
V1_MIXED = _trace(
    "V1-mixed", "The trace of W W^T against the readout's resolvent, two letters, any activation", _T[0][1], _across,
    wrong={"letters do not mix": sp.S.Zero, "each letter's rows act on their own": _across.subs(_each)},
)
V2 = _trace(
    "V2", "The trace of the readout's resolvent over the neurons of a letter, any activation", s.V2_of[0],
    (s.fraction[0] - _C[0][0] * _T[0][0] - _C[0][1] * _T[0][1]) / (s.ridge + s.V2_hat_of[0]),
    two_batch_matrices.letter_trace,
    wrong={"letters do not mix": (s.fraction[0] - _C[0][0] * _T[0][0]) / (s.ridge + s.V2_hat_of[0]),
           "without features": s.fraction[0] / (s.ridge + s.V2_hat_of[0])},
    uses=("beyond.any-letters.V1-own", "beyond.any-letters.V1-mixed"),
)

_along = {_Phi[a][b]: s.target_seen[a][b] for a, b in ((0, 0), (0, 1), (1, 1))}
_R_own, _R_across = ((s.beta * x).subs(_along) for x in (_own, _across))
FORMS_OWN = _trace(
    "target-own", "The overlap of the bulk rows along the target, one letter, any activation", s.target_forms_of[0][0],
    _R_own, two_batch_matrices.target_forms_of_letters,
    wrong={"letters do not mix": s.target_seen[0][0] / (1 + _C[0][0] * s.target_seen[0][0]),
           "no direction stands out": s.beta * _own},
    uses=("beyond.any-letters.V2",), simulated=_BATCHES,
)
FORMS_MIXED = _trace(
    "target-mixed", "The overlap of the bulk rows along the target, two letters, any activation",
    s.target_forms_of[0][1], _R_across, two_batch_matrices.target_forms_of_letters,
    wrong={"letters do not mix": sp.S.Zero, "no direction stands out": s.beta * _across},
    uses=("beyond.any-letters.V2",), simulated=_BATCHES,
)

CLAIMS: tuple[Claim, ...] = (V1_OWN, V1_MIXED, V2, FORMS_OWN, FORMS_MIXED)

"""Random features with any convex loss: the general saddle point at r = 0 is that of the slides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import any_loss as any_loss_features
from giantsteps.derivations.saddle_point.random_features import square_loss as convex_square_loss
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.solver.random_features import CASES, any_loss_by_theorems

SECTION = "Appendix C, (119)-(120) at r = 0"

_DOMAIN = Domain((Range("case", choices=tuple(CASES)),), (any_loss_features.ODD,),
                 ({
                      "g": np.tanh,
                      "force": lambda y, f, V: (y - f) / (1 + V + 0.1 * f**2),
                      "force_slope": lambda y, f, V: -1 / (1.3 + V + np.cos(f) ** 2),
                      "varrho": lambda u: 1.2 + np.tanh(u),
                  },))

def _same(name: str, title: str, left: sp.Symbol, right: sp.Expr, build: Callable[[], Derivation]) -> Claim:
    return claim(
        f"convex-features.any-loss.{name}", f"Any convex loss: {title}", paper(SECTION),
        eq(left, right), _DOMAIN,
        ByDerivation(build), any_loss_by_theorems,
        kind=Kind.FIXED_POINT,
        wrong={"twice": 2 * right, "the square": right**2},
        uses=("convex.conjugates", *(f"convex-features.{x}-hat" for x in ("V-s", "V-w", "q-s", "q-w", "m-s"))),
    )


# The traces of the resolvent know nothing of the loss: their dictionary is that of the square loss.
_TRACES = convex_square_loss.square_loss

CLAIMS: tuple[Claim, ...] = (
    *(
        _same(name, title, left, right, any_loss_features.dictionary)
        for name, title, left, right in (
            ("V-s-hat", "the conjugate of q_s is beta V1^ of the system at r = 0", s.V_s_hat, s.beta * s.V1_hat),
            ("V-w-hat", "the conjugate of q_w is V2^", s.V_w_hat, s.V2_hat),
            ("q-s-hat", "the conjugate of V_s is beta q1^", s.q_s_hat, s.beta * s.q1_hat),
            ("q-w-hat", "the conjugate of V_w is q2^", s.q_w_hat, s.q2_hat),
            ("m-s-hat", "the conjugate of m_s is beta M^", s.m_s_hat, s.beta * s.M_hat),
        )
    ),
    *(
        _same(name, title, left, right, _TRACES)
        for name, title, left, right in (
            ("V-s", "V_s is V1", s.V_s, s.V1),
            ("V-w", "V_w is V2", s.V_w, s.V2),
            ("m-s", "m_s is M", s.m_s, s.M),
            ("q-s", "q_s is Q1", s.q_s, s.Q1),
            ("q-w", "q_w is q2", s.q_w, s.q2),
        )
    ),
)

"""Definitions of Sections 3.3 and 4.4 and of Appendices C and E, so that every equation number has a claim."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.free_energy.along_spike import g, mu0, mu1, mu2
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.claims.saddle_point.formulas import E, I_nu, V, b
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind
from giantsteps.verify.protocol.statement import claim, eq

FIAT = "A definition; there is nothing to test."


def word(latex: str) -> sp.Symbol:
    """An object that is only named: a vector product, an integral."""
    return sp.Symbol(latex, real=True)


def _define(
    name: str, title: str, section: str, numbers: tuple[int, ...], *equations: sp.Equality, note: str = ""
) -> Claim:
    statement = equations[0] if len(equations) == 1 else sp.And(*equations, evaluate=False)
    return claim(
        f"definitions.{name}", title, paper(section, *numbers),
        statement, Domain(),
        kind=Kind.DEFINITION, note=f"{FIAT} {note}".strip(),
    )


_root = sp.sqrt(s.p)
_w_v, _w_theta = word(r"{\hat{a}^\top Wv}"), word(r"{\hat{a}^\top W\theta_\perp}")
_risk = word(r"\hat{\mathcal{R}}(a)")
_one, _other = r"a^{(i)}", r"a^{(j)}"

CLAIMS: tuple[Claim, ...] = (
    _define("summary-statistics", "The five numbers that describe the readout", "Section 3.3", (17,),
            eq(s.m, word(r"{\mathbf{1}^\top\hat{a}}") / _root), eq(s.zeta, _w_v / _root), eq(s.psi, _w_theta / _root),
            eq(s.q1, word(r"{\hat{a}^\top W\Pi^\perp W^\top\hat{a}}") / s.p),
            eq(s.q2, word(r"{\hat{a}^\top\hat{a}}") / s.p),
            note="theta_perp is the unit vector along Pi theta; the paper's psi carries the norm sqrt(rho) of Pi "
                 "theta."),
    _define("V", "Variance of the output that is not shared", "Section 3.3", (21,), eq(word(r"{V(\kappa)}"), V)),
    _define("q", "Variance of the output at given kappa", "Section 3.3", (22,),
            eq(s.output_variance, mu1**2 * s.q1 + mu2**2 * s.q2)),
    _define("b", "What the output leaves of the target at given kappa and z", "Section 3.3", (23,), eq(s.residual, b),
            note="In the paper's psi, with a standard normal z."),
    _define("I", "The spike's integral over the law of the bulk", "Section 3.3", (24,), eq(s.spike_integral, I_nu)),
    _define("vector-map", "Equivalent map for a readout that does not start uniform: one spike component per neuron",
            "Section 4.4", (32,),
            eq(word(r"{\varphi_k(x)}"),
               word(r"{\mu_0(u_k\kappa)}")
               + word(r"{\mu_1(u_k\kappa)}") * word("{w_k\\cdot x}")
               + word(r"{\mu_2(u_k\kappa)}") * word(r"\xi_k")),
            note="That the map has the same errors is a result; the claims of Appendix D are about it."),
    _define("partition-function", "Partition function of the Gibbs measure over readouts", "Appendix C", (75,),
            eq(word("Z"), word(r"{\int da\,e^{-B\hat{\mathcal{R}}(a)}}"))),
    _define("equivalent-features", "One feature of the equivalent map, its argument split along and across the spike",
            "Appendix C", (77,),
            eq(word(r"\varphi_k"),
               mu0 + s.kappa * mu1 * word("{w_k\\cdot v}") + mu1 * word(r"{w_k\cdot x^\perp}") + mu2 * word(r"\xi_k"))),
    _define("risk", "The empirical risk with a convex loss and a convex regulariser", "Appendix C", (82,),
            eq(_risk,
               word(r"{\sum_\mu\ell(y^\mu,a^\top\varphi(x^\mu)/\sqrt{p})}") + s.ridge * word(r"{\mathsf{r}(a)}")),
            note="Square loss and ridge: half of the square, and half of the squared norm."),
    _define("replica-overlaps",
            "The overlaps of the replicas with the constant vector, the spike, the target and each other", "Appendix C",
            (85,), eq(word("m_i"), word(rf"{{\mathbf{{1}}^\top {_one}}}") / _root),
            eq(word(r"\zeta_i"), word(rf"{{{_one}\cdot Wv}}") / _root),
            eq(s_free.psi_pair, word(rf"{{{_one}\cdot W\theta_\perp}}") / _root),
            eq(s_free.overlap_pair[0], word(rf"{{{_one}\cdot W\Pi^\perp W^\top {_other}}}") / s.p),
            eq(s_free.overlap_pair[1], word(rf"{{{_one}\cdot {_other}}}") / s.p)),
    _define("local-field", "Local field: what the output of a replica has across the spike", "Appendix C", (86,),
            eq(word(r"\mathsf{h}_i"),
               (mu1 * word(rf"{{{_one}\cdot Wx^\perp}}") + mu2 * word(rf"{{{_one}\cdot\xi}}")) / _root)),
    _define("across-spike", "An input along and across the spike", "Appendix C", (87,),
            eq(s.kappa, word("{v\\cdot x}")), eq(word(r"{x^\perp}"), word("x") - s.kappa * word("v"))),
    _define("replica-action",
            "The exponent of the replicated partition function per neuron: trace, entropic and energetic terms",
            "Appendix C", (90,),
            eq(word(r"{\lim\frac{1}{pR}\ln\mathbb{E}Z^R}"), s.trace_term + s.entropic_term + s.energetic_term),
            note="Extremal over all overlaps and their conjugates; the claims about the three terms say what they "
                 "are."),
    _define("uniform-bias", "A first layer with one bias for all neurons", "Appendix C", (130,),
            eq(word(r"{f(x)}"), word(r"{\sum_k a_k\,\sigma(F_k\cdot x+\mathsf{b})}") / _root)),
    _define("inner-product", "Inner product of functions along the spike", "Appendix E", (166,),
            eq(word(r"{\langle\mu_0,g\rangle}"), E(mu0 * g(s.kappa)))),
)

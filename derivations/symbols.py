"""Every symbol of the theory once: name, glyph, meaning, sign, and scaling in the input dimension d.

The names follow the paper (arXiv 2402.04980). ``h2`` and ``h2_star`` are second moments, not Hermite coefficients;
``eta`` is the rescaled learning rate, the learning rate of equation (3) divided by d.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Entry:
    """One row of the glossary."""

    symbol: sp.Symbol
    meaning: str
    scaling: str


_entries: list[Entry] = []


def _define(glyph: str, meaning: str, scaling: str = "O(1)", **assumptions: bool) -> sp.Symbol:
    symbol = sp.Symbol(glyph, **(assumptions or {"real": True}))
    _entries.append(Entry(symbol, meaning, scaling))
    return symbol


# Sizes. They are real symbols, not integers, so that limits of rational functions can be taken.
d = _define("d", "input dimension", "d", positive=True)
p = _define("p", "width, the number of neurons", "Theta(d)", positive=True)
n = _define("n", "number of samples that the readout is trained on", "Theta(d)", positive=True)
n0 = _define("n_0", "number of samples of the gradient step", "Theta(d)", positive=True)

# Fixed ratios and controls.
alpha0 = _define("alpha_0", "n0/d, samples of the gradient step per dimension", positive=True)
alpha = _define("alpha", "n/d, samples of the readout per dimension", positive=True)
beta = _define("beta", "p/d, width per dimension", positive=True)
eta = _define("eta", "rescaled learning rate of the gradient step", positive=True)
ridge = _define("lambda", "ridge penalty of the readout", positive=True)
noise = _define("Delta", "variance of the label noise", nonnegative=True)

# Scalars of activation and target.
h1 = _define("h_1", "E[z sigma(z)], first Hermite coefficient of the activation", real=True)
h2 = _define("h_2", "E[sigma(z)^2], second moment of the activation", positive=True)
h1_check = _define(r"\check{h}_1", "E[(sigma'(z) - h1)^2], what the linear part of sigma' leaves", nonnegative=True)
h1_star = _define(r"h^\star_1", "E[z g(z)], first Hermite coefficient of the target", real=True)
h2_star = _define(r"h^\star_2", "E[g(z)^2], second moment of the target", positive=True)

# The spiked random features.
r = _define("r", "spike strength", real=True)
gamma = _define("gamma", "alignment v.theta of spike and target", real=True)
rho = _define("rho", "1 - gamma^2", nonnegative=True)
c = _define("c", "bulk variance, the squared norm of a bulk row", positive=True)

# Gaussian variables.
kappa = _define("kappa", "projection v.x of the input on the spike, standard normal", real=True)
z = _define("z", "a standard normal variable", real=True)
y = _define("y", "label of a sample", real=True)

# Order parameters and their conjugates (the hats of the paper, in the normalisation of the free energy).
m = _define("m", "1.a/sqrt(p), readout mean", real=True)
zeta = _define("zeta", "a.Wv/sqrt(p), overlap with the spike direction", real=True)
psi = _define("psi", "a.W theta_perp/sqrt(p) with |theta_perp| = 1", real=True)
q1 = _define("q_1", "|Pi W^T a|^2/p", nonnegative=True)
q2 = _define("q_2", "|a|^2/p", nonnegative=True)
V1 = _define("V_1", "(1/p) tr[W Pi W^T S^-1]", positive=True)
V2 = _define("V_2", "(1/p) tr S^-1", positive=True)
V1_hat = _define(r"\hat{V}_1", "conjugate of q1", positive=True)
V2_hat = _define(r"\hat{V}_2", "conjugate of q2", positive=True)
q1_hat = _define(r"\hat{q}_1", "conjugate of V1", nonnegative=True)
q2_hat = _define(r"\hat{q}_2", "conjugate of V2", nonnegative=True)
zeta_hat = _define(r"\hat{\zeta}", "conjugate of zeta", real=True)
psi_hat = _define(r"\hat{\psi}", "conjugate of psi", real=True)

test_error = _define(r"\varepsilon_g", "test error", nonnegative=True)
training_error = _define(r"\varepsilon_t", "training error", nonnegative=True)

glossary: tuple[Entry, ...] = tuple(_entries)

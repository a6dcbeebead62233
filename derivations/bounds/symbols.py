"""Bounds over the ridge: symbols of Section 4.3, Appendix E and of any loss."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The replica computation of the ridge readout (Section 3.3 and Appendix C) and its limits (Section 4.3, Appendix E).
m_infinity = _define(r"m_\infty", "limit of m as the ridge penalty grows")
error_infinity = _define(r"\varepsilon_\infty", "limit of the test error as the ridge penalty grows", nonnegative=True)
b1 = _define("b_1", "coefficient of mu0 in an approximation of the target")
b2 = _define("b_2", "coefficient of kappa mu1 in an approximation of the target")
b3 = _define("b_3", "coefficient of mu1 z in an approximation of the target")
distance = _define(r"\mathrm{dist}^2", "squared distance of the target from a span", nonnegative=True)

# The ridge readout at finite size (Section 2).
spike_perfect = _define(
    "r_0", "spike at which mu0 is proportional to the target and the upper bound vanishes", positive=True
)
eta_perfect = _define(r"\eta_0", "learning rate that makes the spike r_0", positive=True)
target_overlap = _define(r"\langle g,\mu_0\rangle", "E[y0 mu0], overlap of the target with mu0")
student_norm = _define(r"|\mu_0|^2", "E[mu0^2]", nonnegative=True)
best_error_rate = _define(
    r"\inf_{\lambda,\eta}\varepsilon_g",
    "infimum of the test error over ridge and learning rate, gamma = c = 1",
    nonnegative=True,
)
best_upper = _define(
    r"\inf_r\,\mathrm{dist}^2(g,\langle\mu_0\rangle)", "least upper bound over the spike", nonnegative=True
)
best_lower = _define(
    r"\inf_r\,\mathrm{dist}^2(g,\langle\mu_0,\kappa\mu_1\rangle)", "least lower bound over the spike", nonnegative=True
)

# Bounds for any convex loss.
test_loss = _define(r"\mathcal{L}", "loss per new sample of the trained readout, label noise included")
least_loss = _define(
    r"\inf_{f\in\mathrm{span}}\mathcal{L}(f)", "least loss of a combination of mu0, kappa mu1 and mu1 z, without noise"
)
least_loss_means = _define(r"\inf_{b}\mathcal{L}(b\mu_0)", "least loss of a multiple of mu0, without noise")
best_loss = _define(r"\inf_\lambda\mathcal{L}", "infimum of the test loss over the ridge")
loss_infinity = _define(r"\mathcal{L}_\infty", "test loss as the ridge grows")
output_spread = _define(r"s_\omega", "standard deviation of the output at given kappa and z", nonnegative=True)


TABLE: tuple[Entry, ...] = _TABLE.entries
mu1_slope = _define(r"\mu_1^{\prime}(\kappa)", "how mu1 moves along the spike, d mu1/d kappa")

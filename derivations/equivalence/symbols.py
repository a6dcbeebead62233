"""The conditional map: symbols of Section 3.2 and Appendix B, closed forms and Hermite series."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)
from giantsteps.derivations.language.symbols import hermite_coefficients

_TABLE = Glossary()
_define = _TABLE.define

# Conditional features (Section 3.2 and Appendix B).
mu0_slope = _define(r"\mu_{0}'(\kappa)", "derivative of mu0 in kappa")
mu1_bias_slope = _define(r"\partial_{b}\mu_{1}", "derivative of mu1 in a bias added to r kappa, E sigma''")
mu2_bias_slope = _define(r"\partial_{b}\mu_{2}^{2}", "derivative of mu2^2 in a bias added to r kappa")
mu0_bulk_slope = _define(r"\partial_{c}\mu_{0}", "derivative of mu0 in the bulk variance c")
row_product = _define(r"{w_k\cdot w_l}", "inner product of two bulk rows", "d^(-1/2)")
feature_mean = _define(r"\mathbb{E}[\varphi_{k}|\kappa]", "mean of a feature given kappa")
feature_mean_slope = _define(r"\partial_{s}\mathbb{E}[\varphi_{k}|\kappa]", "its derivative in w_k.v at w_k.v = 0")
feature_mean_curvature = _define(
    r"\partial_{s}^{2}\mathbb{E}[\varphi_{k}|\kappa]", "its second derivative in w_k.v at w_k.v = 0"
)
covariance_slope = _define(
    r"\partial_{\epsilon}\mathrm{Cov}", "derivative of the covariance of two features in their overlap, at zero overlap"
)
covariance_curvature = _define(r"\partial_{\epsilon}^{2}\mathrm{Cov}", "its second derivative")
equivalent_covariance = _define(
    r"\mathrm{Cov}_{\mathrm{cG}}", "covariance of two features of the equivalent map given kappa", "d^(-1/2)"
)
linear_fit_error = _define(
    r"\mathbb{E}(\sigma-A-Bz)^{2}", "error of a linear fit A + B z of a feature given kappa", nonnegative=True
)
spike_row_norm = _define(r"\langle|Wv|^{2}\rangle", "mean of |Wv|^2 over bulk rows uniform on the sphere")
hadamard_variance = _define(
    r"\mathrm{Var}_{\circ}", "variance of a.((Wv) o (W x_perp))/sqrt(p), a term that is dropped", "1/d"
)
fit_constant = _define("A", "constant of a linear fit of a feature")
fit_slope = _define("B_fit", "slope of a linear fit of a feature")
mean_gap = _define(
    r"d\,\delta\mathbb{E}[\varphi_{k}|\kappa]",
    "limit of d times the difference of the conditional means of the two maps",
)
hadamard_rate = _define(r"d\,\mathrm{Var}_{\circ}", "limit of d times the variance of the dropped term")
correlation = _define(r"\varrho_{kl}", "correlation epsilon/c of what two neurons receive given kappa", "d^(-1/2)")
equivalent_error = _define(
    r"\varepsilon_{g}^{\mathrm{cG}}", "test error of the ridge readout on the equivalent map", nonnegative=True
)
equivalent_mean = _define(r"m^{\mathrm{cG}}", "m of the ridge readout on the equivalent map")
equivalent_overlap = _define(r"\zeta^{\mathrm{cG}}", "zeta of the ridge readout on the equivalent map")
equivalent_bulk_trace = _define(r"V_1^{\mathrm{cG}}", "(1/p) tr[W W^T R], R the resolvent of the equivalent map")
equivalent_trace = _define(r"V_2^{\mathrm{cG}}", "(1/p) tr R, R the resolvent of the equivalent map")
fit_along_spike = _define(
    r"\langle(\kappa^2-1)/(1+V)\rangle", "mean of (kappa^2 - 1)(1 - h_i), h_i the i-th diagonal entry of the hat matrix"
)
equivalent_fit_along_spike = _define(
    r"\langle(\kappa^2-1)/(1+V)\rangle^{\mathrm{cG}}", "the same for the readout on the equivalent map"
)

# Closed forms of particular activations.
feature_square = _define(
    r"\mathbb{E}[\sigma^2]", "E[sigma(r kappa + sqrt(c) z)^2], second moment given kappa", nonnegative=True
)
leak = _define("ell", "slope of a leaky relu below zero", positive=True)
sharpness = _define("q", "exponent of a Gaussian factor exp(-q z^2) or exp(q z^2)", positive=True)
s3 = hermite_coefficients[3]

# Plain random features and what the slides add to the paper.
linear_coefficient = _define(r"b_\star", "slope of the best linear fit of the target")
tensor_0 = _define(r"\mu^{(0)}", "mean of a target of two variables")
target_value = _define("g(x_1,x_2)", "a target of two variables")

# Hermite series of symbolic order.
other_level = _define("J'", "order of a second Hermite polynomial", nonnegative=True)
hermite_pair = _define(r"\langle\mathrm{He}_{J}\mathrm{He}_{J'}\rangle", "E[He_J(z) He_J'(z)]")
hermite_pair_apart = _define(
    r"\langle\mathrm{He}_{J}(z)\mathrm{He}_{J'}(z')\rangle", "E[He_J(z) He_J'(z')], z and z' of correlation epsilon"
)
series_degree = _define("N", "degree at which a Hermite series is cut", integer=True, nonnegative=True)
series_tail = _define(r"\mathbb{E}(\sigma-P_N\sigma)^{2}", "what a Hermite series of degree N leaves of sigma")
slope_tail = _define(
    r"\mathbb{E}(\sigma'-P_{N-1}\sigma')^{2}", "what the Hermite series of sigma' of degree N - 1 leaves of it"
)
slope_moment = _define(r"s'_{J}", "E[He_J(z) sigma'(z)]/sqrt(J!), orthonormal Hermite coefficient of sigma'")
next_coefficient = _define(r"s_{J+1}", "orthonormal Hermite coefficient of order J + 1 of the activation")


TABLE: tuple[Entry, ...] = _TABLE.entries

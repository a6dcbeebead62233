"""The saddle point: symbols of Section 3.3, Appendix D, random features and the conventions of the slides."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The replica computation of the ridge readout (Section 3.3 and Appendix C) and its limits (Section 4.3, Appendix E).
spike_integral = _define("I", "int dnu varrho tau^2/(lambda + V1^ varrho + V2^)", positive=True)
ridge_response = _define(r"\partial_\lambda\Phi", "derivative of the free energy in the ridge penalty")
zeta_hat_slides = _define(r"\hat{\zeta}_{\mathrm{sl}}", "conjugate of zeta in the normalisation of the slides")
psi_hat_slides = _define(r"\hat{\psi}_{\mathrm{sl}}", "conjugate of psi in the normalisation of the slides")
psi_paper = _define(r"\psi_\rho", "a.W Pi theta/sqrt(p), which carries the norm sqrt(rho) of Pi theta")
M = _define("M", "a.W theta/sqrt(p), overlap of the readout with the target in plain random features")
M_hat = _define(r"\hat{M}", "conjugate of M")
Q1 = _define("Q_1", "|W^T a|^2/p", nonnegative=True)
error_rescaled = _define(r"\varepsilon_g'", "test error of the rescaled problem", nonnegative=True)

# The ridge readout at finite size (Section 2).
error_no_spike = _define(
    r"\varepsilon_{r\to0}", "limit of the test error as the spike vanishes, after d -> infinity", nonnegative=True
)
m_no_spike = _define(r"\lim r m", "limit of r m as the spike vanishes")
zeta_no_spike = _define(r"\lim\zeta", "limit of zeta as the spike vanishes")
gamma_more = _define(r"\gamma'", "alignment at a larger alpha0")

# A readout that starts from a finite vocabulary (Appendix D). Two letters stand for any number: the equations for a
# letter or a pair of letters have sums over letters that two of them show in full.
m_of = _TABLE.by_letter("m_{}", "1.a/sqrt(p) over the neurons")
zeta_of = _TABLE.by_letter(r"\zeta_{}", "a.Wv/sqrt(p) over the neurons")
psi_of = _TABLE.by_letter(r"\psi_{}", "a.W theta_perp/sqrt(p) over the neurons")
q2_of = _TABLE.by_letter("q^{{2}}_{{{}}}", "|a|^2/p over the neurons", nonnegative=True)
zeta_hat_of = _TABLE.by_letter(r"\hat{{\zeta}}_{}", "conjugate of zeta")
psi_hat_of = _TABLE.by_letter(r"\hat{{\psi}}_{}", "conjugate of psi")
q2_hat_of = _TABLE.by_letter(r"\hat{{q}}^{{2}}_{{{}}}", "conjugate of V2", nonnegative=True)
q1_of = _TABLE.by_pair("q^{{1}}_{{{}}}", "(1/p) (Pi W^T a).(Pi W^T a)")
q1_hat_of = _TABLE.by_pair(r"\hat{{q}}^{{1}}_{{{}}}", "conjugate of V1")
trace_block = _TABLE.by_pair("T_{{{}}}", "(1/p) tr[W Pi W^T G] over a block of one given bulk")
trace_letter = _TABLE.by_letter(r"\tau_{{u_{}}}", "(1/p) tr G over the neurons of one given bulk", positive=True)
spike_block = _TABLE.by_pair(r"Z_{{{}}}", "(Wv).G Wv over a block of one given bulk")
target_block = _TABLE.by_pair(r"P_{{{}}}", "(W theta_perp).G W theta_perp over a block of one given bulk")
double_block = _TABLE.by_pair(
    r"{{\frac{{1}}{{p}}\mathrm{{tr}}[\Omega GKG]_{{{}}}}}", "(1/p) tr[W Pi W^T G K G] over a block of one given bulk"
)
double_letter = _TABLE.by_letter(
    r"{{\frac{{1}}{{p}}\mathrm{{tr}}[GKG]_{{{}}}}}",
    "(1/p) tr[G K G] over the neurons of one given bulk",
    nonnegative=True,
)
V_of_letter = _TABLE.by_letter("V_{{u_{}}}", "(1/p) tr S^-1 over the neurons, orthogonal bulk", positive=True)
V_hat_of_letter = _TABLE.by_letter(r"\hat{{V}}_{{u_{}}}", "V2^ + c V1^ of a letter, orthogonal bulk", positive=True)
q_hat_of_letter = _TABLE.by_letter(r"\hat{{q}}_{{u_{}}}", "q2^ + c q1^ of a letter, orthogonal bulk", nonnegative=True)
output_variance = _define("q(\\kappa)", "variance of the output at given kappa that replicas share", nonnegative=True)

# Features and overlaps of a finite vocabulary (Appendix D).
first_layer_entry = _define(r"F_{k\ell}", "an entry of the first layer W + r u v^T", "d^(-1/2)")
bulk_entry = _define(r"w_{k\ell}", "an entry of the bulk W", "d^(-1/2)")
direction_entry = _define(r"v_{\ell}", "an entry of the spike direction v", "d^(-1/2)")
row_input = _define(r"{w_{k}\cdot x}", "inner product of a bulk row with the input")
block_form = _define(r"{\frac{1}{p}a\cdot\hat{\mathbf{V}}a}", "quadratic form of the block matrix of conjugates")
gibbs_moment = _define(r"\langle a^{(i)}_{k}a^{(j)}_{k}\rangle", "second moment of two replicas given the data")
minimum_entry = _define(r"\hat{a}_{k}", "readout weight at the minimum, in the basis of the Hessian")
curvature_entry = _define("S_{k}", "eigenvalue of the Hessian", positive=True)
output_change = _define(
    r"\delta\hat{y}(\kappa)", "change of the mean output when a function of the letter is added to m"
)

# Beyond the paper: plain Gaussian equivalence, several directions, other rates of the learning rate.
input_covariance = _define(
    r"\mathrm{Cov}[\varphi_k,\theta\cdot x]", "covariance of a feature and a direction of the input", "d^(-1/2)"
)
gaussian_error = _define(
    r"\varepsilon_g^{\mathrm{G}}", "test error of ridge on mu0 + mu1 F x + mu* xi, plain equivalence", nonnegative=True
)
gaussian_mean = _define(r"m_{\mathrm{G}}", "what plain equivalence learns along the spike: mu1 (r m + zeta)")

# The saddle point of plain random features for a convex loss, in the letters of the slides; kappa_1 and kappa_star of
# the slides are mu1_constant and mu2_constant.
alpha_p = _define(r"\alpha_p", "n/p, samples per neuron", positive=True)
gamma_p = _define(r"\gamma_p", "d/p, inputs per neuron", positive=True)
V_s = _define("V_s", "(1/d) tr[Omega S^-1], Omega = F F^T/p", positive=True)
V_w = _define("V_w", "(1/p) tr S^-1", positive=True)
q_s = _define("q_s", "|F^T a|^2/(d p)", nonnegative=True)
q_w = _define("q_w", "|a|^2/p", nonnegative=True)
m_s = _define("m_s", "theta.F^T a/(d sqrt p)")
V_s_hat = _define(r"\hat{V}_s", "conjugate of q_s", positive=True)
V_w_hat = _define(r"\hat{V}_w", "conjugate of q_w", positive=True)
q_s_hat = _define(r"\hat{q}_s", "conjugate of V_s", nonnegative=True)
q_w_hat = _define(r"\hat{q}_w", "conjugate of V_w", nonnegative=True)
m_s_hat = _define(r"\hat{m}_s", "conjugate of m_s")
spectral_stieltjes = _define(r"g_\mu(-z)", "(1/d) tr(F^T F/p + z)^-1, z = (lambda + V_w^)/V_s^", positive=True)
spectral_slope = _define(r"g_\mu'(-z)", "(1/d) tr(F^T F/p + z)^-2", positive=True)
wide_stieltjes = _define(r"g_{FF^T}(-z)", "(1/p) tr(F F^T/p + z)^-1, over the p x p matrix", positive=True)
output_square = _define("Q", "variance of the output of random features at the saddle point", positive=True)
output_overlap = _define(r"\mathsf{M}", "covariance of that output with theta.x")
label_variance = _define("V^0", "variance of theta.x given the output", positive=True)
training_objective = _define(r"\hat{R}_n", "(1/n) (sum of losses + lambda |a|^2/2) at its minimum")

# What the slides leave to conventions: the scale of inputs, a small bulk written out, the map's limits.
coordinate_variance = _define("s_x^2", "variance of one coordinate of an input", nonnegative=True)
component_along_spike = _define(r"{v\cdot x_\perp}", "component along v of what is left of x")
readout_spike = _define(r"{a\cdot Wv}", "readout dot W v, |v| = 1", "sqrt(p)")
singular = tuple(_define(rf"\lambda_{i}", f"singular value {i} of a bulk of rank two", positive=True) for i in (1, 2))
spike_share = tuple(_define(rf"{{f_{i}\cdot v}}", f"component of v along right singular vector {i}") for i in (1, 2))

# The replica computation for any convex loss (Appendix C), its dropped terms, and a bulk given by atoms.
zero_temperature = _define(
    r"-\lim\frac{1}{B}\ln\int e^{-B\mathcal{O}}", "Laplace limit of an integral over one variable"
)
least_objective = _define(r"\inf\mathcal{O}", "least value of a convex objective of one variable")
rate_cross = _define(r"e_{\mathbf{1}\cdot s}", "exponent of d in (1/sqrt p) 1.G Wv at m^ = zeta^ = 1")
rate_m_hat = _define(r"e_{\hat{m}}", "exponent of d in m^ = sqrt(p) m/(1.G 1) at m = 1")
rate_psi_spike = _define(r"e_{\hat{\psi}}", "exponent of d in ((Wv).G0 W theta_perp)^2")
rate_q_spike = _define(r"e_{\hat{q}}", "exponent of d in (1/p) (Wv).G0 (W W^T + 1) G0 Wv")
rate_zeta_spike = _define(r"e_{\hat{\zeta}}", "exponent of d in ((Wv).G0 Wv)^2")
target_resolvent = _define(r"t^\top G_0 t", "(W theta_perp).G0 W theta_perp", positive=True)
target_square_resolvent = _define(r"t^\top G_0^2 t", "(W theta_perp).G0^2 W theta_perp", positive=True)
spike_square_resolvent = _define(r"s^\top G^2 s", "(Wv).G^2 Wv", positive=True)
target_bulk_resolvent = _define(r"t^\top G_0WW^\top G_0t", "(W theta_perp).G0 W W^T G0 W theta_perp", positive=True)
spike_bulk_resolvent = _define(r"s^\top G\Omega Gs", "(Wv).G Omega G Wv, Omega = W Pi W^T", positive=True)
trace_bulk = _define(r"\frac{1}{p}\mathrm{tr}\,WW^\top G_0", "trace of one given bulk", positive=True)
trace_one = _define(r"\frac{1}{p}\mathrm{tr}\,G_0", "trace of one given bulk", positive=True)
uniform_bias = _define(r"\mathsf{b}", "bias of every neuron")

# The network's own bulk with a vocabulary (beyond the paper): one law of rows for each of two letters.
bias_of = _TABLE.by_letter(r"\mathsf{{b}}_{}", "bias added to the features after the step")
log_det_of_rows = _define(r"{\frac{1}{p}\ln\det S}", "log-determinant of the readout's S with the spike in the bulk")
norm_row_spike = _TABLE.by_letter(r"K^{{\delta v}}_{{1{}}}", "delta_1.G Wv over the neurons, the spike out of the bulk")
norm_row_target = _TABLE.by_letter(r"K^{{\delta\perp}}_{{1{}}}", "delta_1.G W theta_perp over the neurons")
norm_row_norm = _TABLE.by_letter(r"K^{{\delta\delta}}_{{1{}}}", "delta_1.G delta over the neurons")
entropic_slope_own = _define(r"\partial_{D_1}2\Psi_w", "derivative of twice the entropic term in V2^ of letter 1")
entropic_slope_mixed = _define(r"\partial_{C_{12}}2\Psi_w", "derivative of twice the entropic term in V1^ of 1 and 2")
third_of = _define(r"k_{2,1}(\kappa)", "d mu0/dc of letter 1, what its mean gains from unequal norms")
chi_of = _TABLE.by_letter(r"\chi_{}", "a.delta/sqrt(p) over the neurons")


TABLE: tuple[Entry, ...] = _TABLE.entries

"""The gradient step: symbols of Section 2, Section 3.1, Appendix A and what goes beyond them."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The gradient step (Section 2, Section 3.1 and Appendix A).
preactivation = _define("h", "w_k.x, what one neuron receives from a sample")
input_coordinate = _define(r"x_{\ell}", "one coordinate of a sample")
weight_step = _define(r"\Delta w_{k\ell}", "what one sample adds to one first-layer weight", "1/d")
spike_factor = _define(r"\tilde{u}", "one entry of the spike factor u~ = (eta d/sqrt p) h1 a0")
v_coordinate = _define(r"\tilde{v}_{\ell}", "what one sample adds to one coordinate of v~ = (1/n0) sum y x", "1/d")
bulk_step = _define(r"\Delta_{k\ell}", "what one sample adds to one entry of the bulk correction", "1/d")
initial_output_square = _define(
    r"\langle f^{2}\rangle", "mean square of the initial output over rows and inputs", "1/d"
)
output_force = _define(
    r"\langle|\tilde{v}_f|^{2}\rangle", "mean square of (1/n0) sum f x, the output's share of v~", "1/d"
)
v_square_mean = _define(r"\langle|\tilde{v}|^{2}\rangle", "E|v~|^2 at finite n0 and d")
v_overlap_mean = _define(r"\langle\theta\cdot\tilde{v}\rangle", "E[theta.v~]")
v_overlap_variance = _define(r"\mathrm{Var}(\theta\cdot\tilde{v})", "variance of theta.v~", "1/d")
v_perp_variance = _define(
    r"\mathrm{Var}|\tilde{v}_{\perp}|^{2}", "variance of the squared norm of v~ orthogonal to theta", "1/d"
)
v_norm = _define(r"|\tilde{v}|", "limit of |v~|", positive=True)
v_overlap = _define(r"\theta\cdot\tilde{v}", "limit of theta.v~")
delta_square_mean = _define(
    r"\langle|\delta|^{2}\rangle", "E|delta|^2 of one row of the bulk correction, at finite n0 and d"
)
delta_variance = _define(r"\mathrm{Var}|\delta_{\perp}|^{2}", "variance of |delta|^2 orthogonal to theta and w", "1/d")

# The replica computation of the ridge readout (Section 3.3 and Appendix C) and its limits (Section 4.3, Appendix E).
gamma_square_growth = _define(r"\partial_{\alpha_0}\gamma^{2}", "derivative of the squared alignment in alpha0")
linear_floor = _define(
    r"\mathbb{E}(g-h_{1}^{\star}z)^{2}", "error of the best linear fit of the target", nonnegative=True
)

# The ridge readout at finite size (Section 2).
output_force_rate = _define(
    r"d\langle|\tilde{v}_f|^{2}\rangle", "limit of d times the mean square of the output's share of v~"
)

# Beyond the paper: plain Gaussian equivalence, several directions, other rates of the learning rate.
leap = _define(r"\ell", "order of the first non-zero Hermite tensor of the target", positive=True)
tensor_3 = tuple(
    _define(rf"\mu^{{(3)}}_{{{ijk}}}", f"E[He_ijk(z) g], ijk = {ijk}, third Hermite tensor of a target")
    for ijk in (111, 112, 122, 222)
)
second_order_part = _define(r"P_2g", "part of order two of a target of two variables")
leap_overlaps = tuple(
    _define(rf"\tau_{i}", f"sqrt(d) w.w_{i}*, scaled overlap of a neuron with direction {i}") for i in (1, 2)
)
leap_signal = _define(r"\lim d^{\frac{\ell-1}{2}}\pi_1", "limit of the scaled mean gradient along the first direction")
leap_noise = _define(
    r"\lim\frac{n}{d}\mathbb{E}|\delta|^{2}", "limit of n/d times the mean square noise of a gradient", nonnegative=True
)
shortfall = _define(r"\delta", "how far n = d^(ell - delta) falls short of d^ell", positive=True)
signal_rate = _define(r"e_{\mathrm{signal}}", "exponent of d in the mean gradient along the target's directions")
noise_rate = _define(r"e_{\mathrm{noise}}", "exponent of d in the noise of a gradient")
step_rate = _define(r"e_{\eta/p}", "exponent of d in eta/p that makes the signal of order one")
overlap_rate = _define(r"e_{\pi/w}", "exponent of d in the share of a neuron within the target's directions")
across_rate = _define(r"e_{\perp/\pi}", "exponent of d in the part of pi outside the leap space, over pi")
eta_rate = _define(r"\mathsf{s}", "exponent of d in the learning rate, eta = Theta(d^s)", positive=True)
taylor_order = _define("k", "order of a Taylor term of a feature in the spike", positive=True)
taylor_rate = _define(r"e_k", "exponent of d in the norm of the Taylor term of order k")
threshold_rate = _define(r"\mathsf{s}_k", "rate of the learning rate beyond which the term of order k is visible")
spike_count = _define(r"\#_{\mathrm{spikes}}", "number of Taylor terms above the bulk of the features", positive=True)
spike_polynomial = _define(r"P_k(\kappa)", "what the k-th singular vector of centred features carries")
spike_length = _define(r"\bar{\rho}", "limit of d^(1-s) r, the scaled spike", positive=True)
spike_amplitude = _define(r"\lim d^{-e_k}A_k", "limit of the scaled amplitude of a Taylor term")

# Conventions of the slides and of several directions.
readout_rate = _define(
    r"\omega", "exponent of 1/p in the entries of the initial readout, a = p^(-omega)", positive=True
)
spike_rate = _define(r"e_{r}", "exponent of d in the spike strength")
alignment_rate = _define(r"e_{\gamma}", "exponent of d in the alignment of spike and target")
spike_entries = _define(r"\dim u", "number of entries of the neurons' factor of the spike", "Theta(d)", positive=True)
eta_rate_rescaled = _define(
    r"\mathsf{s}'", "exponent of d in the learning rate where the step is multiplied by sqrt(p)", positive=True
)
signed_overlap = _define(
    r"\mathbb{E}_{a}\cos(w,w^{\star})", "mean over the sign of the readout of the cosine of neuron and direction"
)
block_sizes = tuple(
    _define(f"p_{j}", f"number of neurons with letter {j}", "Theta(d)", positive=True) for j in (1, 2, 3)
)
pattern_rows = _define(r"\dim M", "number of rows of the block-structured resolvent", "Theta(d)", positive=True)
learned_dimension = _define(r"\dim V_\ell", "dimension of the space that neurons reach in one step", positive=True)
tensor_rank = _define(
    r"\mathrm{rank}\,C_\ell",
    "rank of the first non-zero Hermite tensor as a matrix of one row per direction",
    positive=True,
)
target_directions = _define(r"r_\star", "number of directions that the target depends on", positive=True)
preprocessed = _define(
    r"\mathsf{P}", "one where parts of lower order were subtracted from the labels, zero else", nonnegative=True
)
margin_rate = _define(r"e_k-e_{\mathrm{bulk}}", "exponent of d in Taylor term k over the largest value of the bulk")
kernel_rate = _define("e_K", "exponent of p in the deviation of the empirical kernel of p neurons")
shared_noise = _define(
    r"\mathrm{Cov}[\mu_\star\xi_k,\mu_\star\xi_l]", "covariance of the noise of two equivalent features"
)

# Initial rows that overlap.
mean_step_square = _define(
    r"|\tilde{V}|^{2}", "limit of the squared length of (1/n0) sum (y - F) G x, the step of the mean row", positive=True
)


TABLE: tuple[Entry, ...] = _TABLE.entries

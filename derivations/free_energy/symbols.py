"""Replicas and the free energy: symbols of Appendix C for the ridge readout and for any loss."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The gradient step (Section 2, Section 3.1 and Appendix A).
slides_ridge = _define(
    r"\lambda_{\mathrm{slides}}", "ridge penalty where the loss is (1/2n) sum + lambda |a|^2", positive=True
)

# The ridge readout at finite size (Section 2).
readout_other = _define("a'", "another readout weight", "d^(-1/2)")
gram_own = _define(r"{(\Phi^{T}\Phi)_{kk}}", "sum over samples of a squared feature", "d", positive=True)
gram_cross = _define(r"{(\Phi^{T}\Phi)_{kl}}", "sum over samples of the product of two features", "d")
label_overlap = _define(r"{(\Phi^{T}y)_{k}}", "sum over samples of feature times label", "d")

# The terms that Appendix C drops, per neuron.
dropped_cross = _define(r"\Psi_{1s}", "cross term of constant vector and spike in the entropic term", "d^(-1/2)")
dropped_target = _define(r"\Psi_{\theta s}", "the target's force at the spike in the entropic term", "1/d")
dropped_noise = _define(r"\Psi_{\Xi s}", "the noise's share of the spike's correction in the entropic term", "1/d")
dropped_m_hat = _define(r"\Psi_{\hat{m}}", "what the conjugate of m adds to trace and entropic term", "d^(-1/2)")
modes_term = _define(r"\Psi_{\nu}", "the entropic term without the spike, per neuron")
spike_term = _define(r"\Psi_{s}", "what the force along the spike adds to the entropic term, per neuron")
prior_log_det = _define(r"\ln\det G^{-1}", "logarithm of the determinant of the readout's curvature")

# One sample: variance of a field, variance of xi, mean square of what the shared field leaves.
own_covariance = _define(r"\mathbb{E}[\mathsf{h}_i^2|\kappa]", "variance of the local field of one replica")
xi_variance = _define(r"\mathbb{E}\xi^2", "variance of the part of omega that does not carry z, normalised")
loss_cost = _define(r"\mathcal{M}_{\ell}", "cost of one sample with a convex loss, averaged over everything")
sample_cost = _define(r"\mathcal{M}_\kappa", "cost of one sample, averaged over everything")

# The replica computation for any convex loss (Appendix C), its dropped terms, and a bulk given by atoms.
gibbs_at = _define(r"\langle h\rangle_B", "Gibbs average of a test function at inverse temperature B")
gibbs_average = _define(r"\lim_{B\to\infty}\langle h\rangle_B", "Gibbs average of a test function at zero temperature")
minimum_point = _define(r"\hat{a}", "where the risk is least")
test_coefficients = tuple(_define(f"h_{{({k})}}", f"coefficient of a^{k} in a test function") for k in range(5))
sample_bracket = _define(r"\langle e^{-B\sum_i\ell_i}\rangle", "one sample's replicated average", positive=True)
replicated_average = _define(
    r"\mathbb{E}\,e^{-B\sum_{i\mu}\ell}", "the replicated average over all samples", positive=True
)
overlap_pair = tuple(_define(rf"q^{{({k})}}_{{ij}}", f"overlap of two replicas, part {k}") for k in (1, 2))
psi_pair = _define(r"\psi_i", "overlap of one replica with the target's other direction")
label_field_covariance = _define(
    r"\mathbb{E}[\mathsf{h}_i z|\kappa]", "covariance of a local field and the label's variable"
)
inverse_same = _define(r"(Q^{-1})_{ii}", "diagonal entry of the inverse of V^0 1 + q^0 11^T")
inverse_other = _define(r"(Q^{-1})_{i\neq j}", "other entry of the inverse of V^0 1 + q^0 11^T")
log_det = _define(r"\ln\det Q", "logarithm of the determinant of V^0 1 + q^0 11^T for R replicas")
log_det_slope = _define(r"\partial_R|_{R=0}\ln\det Q", "its derivative at zero replicas")
difference_eigenvalue = _define(r"\mathrm{eig}_{i-j}Q", "eigenvalue of the overlap matrix on a difference of replicas")
own_square = _define(r"\mathsf{r}", "overlap of a replica with itself", positive=True)
replica_sum = _define(r"{\textstyle\sum_i a^{(i)}}", "sum of one weight over replicas")
replica_squares = _define(
    r"{\textstyle\sum_i (a^{(i)})^2}", "sum of squares of one weight over replicas", nonnegative=True
)
conjugate_form = _define(
    r"{\textstyle\frac{1}{2}\sum_{ij}\hat{q}_{ij}a^{(i)}a^{(j)}}", "form of the conjugates in the replicas"
)
replica_coupling = _define(
    r"\mathbb{E}_\Xi\,e^{\sqrt{\hat{q}}\,\Xi\sum_i a^{(i)}}",
    "average over the field that decouples replicas",
    positive=True,
)
mode_signal = _define(r"f_j", "deterministic force on the readout in one mode")
mode_noise = _define(r"k_j", "variance q1^ varrho + q2^ of the force on the readout in one mode", nonnegative=True)
entropic_log = _define(r"\psi_w", "replica limit of the entropic term in one mode, at finite temperature")
replica_exponent = _define(r"\mathcal{E}_B", "exponent of the entropic term in one mode at inverse temperature B")
replica_weight = _define("a_j", "a readout weight in one mode, of one replica")
moreau_slope = _define(r"\partial_\omega\mathcal{M}", "derivative of the Moreau envelope in its centre")
moreau_response = _define(r"\partial_V\mathcal{M}", "derivative of the Moreau envelope in its variance")
force_slope = _define(r"\partial_\omega f", "derivative of the force f = (prox - omega)/V")
penalty_slope = _define(
    r"\partial_J\mathcal{M}_{\mathsf{r}}", "derivative of the envelope of the regulariser in the force"
)
prox = _define(r"\mathsf{h}_\omega", "proximal point: argmin over h of (h - omega)^2/(2V) + l(h)")
loss_curvature = _define(r"\ell''", "second derivative of the loss at the proximal point", nonnegative=True)
m_hat = _define(r"\hat{m}", "conjugate of m", "d^(-1/2)")
ones_resolvent = _define(
    r"\frac{1}{p}\mathbf{1}^\top G\mathbf{1}", "(1/p) 1.G 1 with G = (lambda + V1^ W Pi W^T + V2^)^-1", positive=True
)
m_hat_response = _define(r"\partial_{\hat{m}}\Phi", "derivative of the free energy in m^, zero at the saddle point")
m_response = _define(r"\partial_m\Phi", "derivative of the free energy in m, zero at the saddle point")


TABLE: tuple[Entry, ...] = _TABLE.entries

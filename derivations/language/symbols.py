"""Every symbol of the theory once: name, glyph, meaning, sign, and scaling in the input dimension d.

The names follow the paper (arXiv 2402.04980). ``h2`` and ``h2_star`` are second moments, not Hermite coefficients;
``eta`` is the rescaled learning rate, the learning rate of equation (3) divided by d.
"""

from __future__ import annotations

import sympy as sp

from onestep.derivations.language.glossary import Entry, Glossary

_TABLE = Glossary()
_define = _TABLE.define

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
x = _define("x", "argument r kappa of the heat semigroup, mu0 = (P_c sigma)(x)", real=True)

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

# The gradient step (Section 2, Section 3.1 and Appendix A).
output = _define("f", "output of the network on a sample")
preactivation = _define("h", "w_k.x, what one neuron receives from a sample")
readout_weight = _define("a", "readout weight of one neuron before the step", "d^(-1/2)")
input_coordinate = _define(r"x_{\ell}", "one coordinate of a sample")
weight_step = _define(r"\Delta w_{k\ell}", "what one sample adds to one first-layer weight", "1/d")
spike_factor = _define(r"\tilde{u}", "one entry of the spike factor u~ = (eta d/sqrt p) h1 a0")
v_coordinate = _define(r"\tilde{v}_{\ell}", "what one sample adds to one coordinate of v~ = (1/n0) sum y x", "1/d")
bulk_step = _define(r"\Delta_{k\ell}", "what one sample adds to one entry of the bulk correction", "1/d")
overlap = _define(
    "epsilon", "overlap w.theta of a neuron with the target, or of two neurons with each other", "d^(-1/2)"
)
initial_output_square = _define(
    r"\langle f^{2}\rangle", "mean square of the initial output over rows and inputs", "1/d"
)
output_force = _define(
    r"\langle|\tilde{v}_f|^{2}\rangle", "mean square of (1/n0) sum f x, the output's share of v~", "1/d"
)
v_square_mean = _define(r"\langle|\tilde{v}|^{2}\rangle", "E|v~|^2 at finite n0 and d")
v_square = _define(r"|\tilde{v}|^{2}", "limit of |v~|^2", positive=True)
v_overlap_mean = _define(r"\langle\theta\cdot\tilde{v}\rangle", "E[theta.v~]")
v_overlap_variance = _define(r"\mathrm{Var}(\theta\cdot\tilde{v})", "variance of theta.v~", "1/d")
v_perp_variance = _define(
    r"\mathrm{Var}|\tilde{v}_{\perp}|^{2}", "variance of the squared norm of v~ orthogonal to theta", "1/d"
)
delta_square_mean = _define(
    r"\langle|\delta|^{2}\rangle", "E|delta|^2 of one row of the bulk correction, at finite n0 and d"
)
delta_square = _define(r"|\delta|^{2}", "limit of |delta|^2", nonnegative=True)
delta_cross = _define(r"{w\cdot\delta}", "limit of w.delta")
delta_variance = _define(r"\mathrm{Var}|\delta_{\perp}|^{2}", "variance of |delta|^2 orthogonal to theta and w", "1/d")
slides_ridge = _define(
    r"\lambda_{\mathrm{slides}}", "ridge penalty where the loss is (1/2n) sum + lambda |a|^2", positive=True
)

# The replica computation of the ridge readout (Section 3.3 and Appendix C) and its limits (Section 4.3, Appendix E).
inverse_temperature = _define("B", "inverse temperature of the Gibbs measure over readouts", positive=True)
replicas = _define("R", "number of replicas, continued to zero", real=True)
xi = _define("xi", "a standard normal variable, independent of z", real=True)
mode = _define("u", "a standard normal variable that labels an eigenvector of W W^T", real=True)
local_field = _define(r"\mathsf{h}", "Gaussian part of the output of one replica on one sample", real=True)
field_mean = _define("omega", "mean of the local field over thermal fluctuations", real=True)
residual = _define("b", "label minus mu0 m - kappa mu1 zeta: what the local field has to fit", real=True)
V = _define("V", "V(kappa) = mu1^2 V1 + mu2^2 V2, variance of the local field at one temperature", positive=True)
moreau = _define(r"\mathcal{M}", "Moreau envelope of the square loss", nonnegative=True)
spike_resolvent = _define(r"s^\top G_0 s", "(Wv).G0 Wv with G0 = (lambda + V1^ W W^T + V2^)^-1", positive=True)
spike_resolvent_bulk = _define(r"s^\top G s", "(Wv).G Wv with G = (lambda + V1^ W Pi W^T + V2^)^-1", positive=True)
spike_integral = _define("I", "int dnu varrho tau^2/(lambda + V1^ varrho + V2^)", positive=True)
free_energy = _define(r"\Phi", "min over a of (1/p)(1/2 sum (y - f)^2 + lambda/2 |a|^2), in the limit")
trace_term = _define(r"\Psi_t", "trace term of the replica-symmetric action, per neuron")
entropic_term = _define(r"\Psi_w", "entropic term of the replica-symmetric action, per neuron")
ridge_response = _define(r"\partial_\lambda\Phi", "derivative of the free energy in the ridge penalty")
zeta_hat_slides = _define(r"\hat{\zeta}_{\mathrm{sl}}", "conjugate of zeta in the normalisation of the slides")
psi_hat_slides = _define(r"\hat{\psi}_{\mathrm{sl}}", "conjugate of psi in the normalisation of the slides")
psi_paper = _define(r"\psi_\rho", "a.W Pi theta/sqrt(p), which carries the norm sqrt(rho) of Pi theta")
resolvent_square = _define("M_{02}", "(1/p) tr S^-2", positive=True)
resolvent_mixed = _define("M_{12}", "(1/p) tr[W Pi W^T S^-2]", positive=True)
resolvent_double = _define("M_{22}", "(1/p) tr[(W Pi W^T S^-1)^2]", positive=True)
m_infinity = _define(r"m_\infty", "limit of m as the ridge penalty grows")
error_infinity = _define(r"\varepsilon_\infty", "limit of the test error as the ridge penalty grows", nonnegative=True)
best_error = _define(r"\inf_\lambda\varepsilon_g", "infimum of the test error over the ridge penalty", nonnegative=True)
b1 = _define("b_1", "coefficient of mu0 in an approximation of the target")
b2 = _define("b_2", "coefficient of kappa mu1 in an approximation of the target")
b3 = _define("b_3", "coefficient of mu1 z in an approximation of the target")
distance = _define(r"\mathrm{dist}^2", "squared distance of the target from a span", nonnegative=True)
M = _define("M", "a.W theta/sqrt(p), overlap of the readout with the target in plain random features")
M_hat = _define(r"\hat{M}", "conjugate of M")
Q1 = _define("Q_1", "|W^T a|^2/p", nonnegative=True)
scale = _define("s", "a factor by which activation, target or spike is rescaled", positive=True)
error_rescaled = _define(r"\varepsilon_g'", "test error of the rescaled problem", nonnegative=True)

gamma_square_growth = _define(r"\partial_{\alpha_0}\gamma^{2}", "derivative of the squared alignment in alpha0")
linear_floor = _define(
    r"\mathbb{E}(g-h_{1}^{\star}z)^{2}", "error of the best linear fit of the target", nonnegative=True
)
hermite_coefficients = tuple(
    _define(f"s_{k}", f"E[He_{k}(z) sigma(z)]/sqrt({k}!), orthonormal Hermite coefficient of the activation")
    for k in range(7)
)
partial_sum = _define(r"S_{J}", "sum over k = 2 .. 2J + 1 of k s_k^2")
level = _define("J", "where a sum over Hermite coefficients is cut", positive=True)
central_ratio = _define("b_{J}", "(2J - 1)!!/(2J)!!", positive=True)

# Conditional features (Section 3.2 and Appendix B).
mu0 = _define(r"\mu_{0}(\kappa)", "E sigma(r kappa + sqrt(c) z), mean feature given kappa")
mu1 = _define(r"\mu_{1}(\kappa)", "E[z sigma(r kappa + sqrt(c) z)]/sqrt(c), linear coefficient given kappa")
mu2_square = _define(
    r"\mu_{2}(\kappa)^{2}", "E[sigma^2] - mu0^2 - c mu1^2, residual variance given kappa", nonnegative=True
)
mu0_slope = _define(r"\mu_{0}'(\kappa)", "derivative of mu0 in kappa")
mu1_bias_slope = _define(r"\partial_{b}\mu_{1}", "derivative of mu1 in a bias added to r kappa, E sigma''")
mu2_bias_slope = _define(r"\partial_{b}\mu_{2}^{2}", "derivative of mu2^2 in a bias added to r kappa")
mu0_bulk_slope = _define(r"\partial_{c}\mu_{0}", "derivative of mu0 in the bulk variance c")
spike_overlap = _define(r"s_{k}", "w_k.v, overlap of a bulk row with the spike direction", "d^(-1/2)")
other_overlap = _define(r"s_{l}", "w_l.v, overlap of another bulk row with the spike direction", "d^(-1/2)")
row_product = _define(r"{w_k\cdot w_l}", "inner product of two bulk rows", "d^(-1/2)")
projected_product = _define(r"{w_k\cdot\Pi w_l}", "inner product of two bulk rows orthogonal to v", "d^(-1/2)")
feature_mean = _define(r"\mathbb{E}[\varphi_{k}|\kappa]", "mean of a feature given kappa")
feature_mean_slope = _define(r"\partial_{s}\mathbb{E}[\varphi_{k}|\kappa]", "its derivative in w_k.v at w_k.v = 0")
feature_mean_curvature = _define(
    r"\partial_{s}^{2}\mathbb{E}[\varphi_{k}|\kappa]", "its second derivative in w_k.v at w_k.v = 0"
)
covariance_slope = _define(
    r"\partial_{\epsilon}\mathrm{Cov}", "derivative of the covariance of two features in their overlap, at zero overlap"
)
covariance_curvature = _define(r"\partial_{\epsilon}^{2}\mathrm{Cov}", "its second derivative")
feature_variance = _define(r"\mathrm{Var}[\varphi_{k}|\kappa]", "variance of a feature given kappa", nonnegative=True)
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
scaled_overlap = _define("tau", "sqrt(d) times an overlap of order d^(-1/2)")
mean_gap = _define(
    r"d\,\delta\mathbb{E}[\varphi_{k}|\kappa]",
    "limit of d times the difference of the conditional means of the two maps",
)
covariance_gap = _define(
    r"d\,\delta\mathrm{Cov}", "limit of d times the difference of the conditional covariances of the two maps"
)
hadamard_rate = _define(r"d\,\mathrm{Var}_{\circ}", "limit of d times the variance of the dropped term")
correlation = _define(r"\varrho_{kl}", "correlation epsilon/c of what two neurons receive given kappa", "d^(-1/2)")
pair_covariance = _define(
    r"\mathrm{Cov}[\varphi_{k},\varphi_{l}|\kappa]", "covariance of two features given kappa", "d^(-1/2)"
)
equivalent_error = _define(
    r"\varepsilon_{g}^{\mathrm{cG}}", "test error of the ridge readout on the equivalent map", nonnegative=True
)

# The ridge readout at finite size (Section 2).
output_force_rate = _define(
    r"d\langle|\tilde{v}_f|^{2}\rangle", "limit of d times the mean square of the output's share of v~"
)
readout_other = _define("a'", "another readout weight", "d^(-1/2)")
gram_own = _define(r"{(\Phi^{T}\Phi)_{kk}}", "sum over samples of a squared feature", "d", positive=True)
gram_cross = _define(r"{(\Phi^{T}\Phi)_{kl}}", "sum over samples of the product of two features", "d")
label_overlap = _define(r"{(\Phi^{T}y)_{k}}", "sum over samples of feature times label", "d")

spike_perfect = _define(
    "r_0", "spike at which mu0 is proportional to the target and the upper bound vanishes", positive=True
)
eta_perfect = _define(r"\eta_0", "learning rate that makes the spike r_0", positive=True)
target_overlap = _define(r"\langle g,\mu_0\rangle", "E[y0 mu0], overlap of the target with mu0")
student_norm = _define(r"|\mu_0|^2", "E[mu0^2]", nonnegative=True)
excess = _define(r"q_1-\psi^2", "what Cauchy-Schwarz leaves between q1 and psi^2", nonnegative=True)

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
mu1_constant = _define(r"\mu_1", "mu1 where it does not depend on kappa: no spike", positive=True)
mu2_constant = _define(r"\mu_2", "mu2 where it does not depend on kappa: no spike", nonnegative=True)
error_no_spike = _define(
    r"\varepsilon_{r\to0}", "limit of the test error as the spike vanishes, after d -> infinity", nonnegative=True
)
m_no_spike = _define(r"\lim r m", "limit of r m as the spike vanishes")
zeta_no_spike = _define(r"\lim\zeta", "limit of zeta as the spike vanishes")

gamma_more = _define(r"\gamma'", "alignment at a larger alpha0", real=True)

# Closed forms of particular activations.
feature_square = _define(
    r"\mathbb{E}[\sigma^2]", "E[sigma(r kappa + sqrt(c) z)^2], second moment given kappa", nonnegative=True
)
leak = _define("ell", "slope of a leaky relu below zero", positive=True)
sharpness = _define("q", "exponent of a Gaussian factor exp(-q z^2) or exp(q z^2)", positive=True)
s3 = hermite_coefficients[3]


def _by_letter(glyph: str, meaning: str, **assumptions: bool) -> tuple[sp.Symbol, sp.Symbol]:
    """One symbol for each of two letters of the vocabulary; ``{}`` in the glyph takes the letter."""
    first, second = (_define(glyph.format(a), f"{meaning}, letter {a}", "O(1)", **assumptions) for a in (1, 2))
    return first, second


def _by_pair(
    glyph: str, meaning: str, positive: bool = True
) -> tuple[tuple[sp.Symbol, sp.Symbol], tuple[sp.Symbol, sp.Symbol]]:
    """One symbol for each pair of two letters, symmetric; with ``positive`` the diagonal ones are."""
    own, other = ({"positive": True} if positive else {"real": True}), {"real": True}
    first = _define(glyph.format(11), f"{meaning}, letter 1", "O(1)", **own)
    mixed = _define(glyph.format(12), f"{meaning}, letters 1 and 2", "O(1)", **other)
    second = _define(glyph.format(22), f"{meaning}, letter 2", "O(1)", **own)
    return (first, mixed), (mixed, second)


# A readout that starts from a finite vocabulary (Appendix D). Two letters stand for any number: the equations for a
# letter or a pair of letters have sums over letters that two of them show in full.
letter = _by_letter("u_{}", "letter: initial readout weight times sqrt(p), factor of the spike r")
fraction = _by_letter(r"\pi_{}", "share of the neurons", positive=True)
c_of = _by_letter("c_{}", "bulk variance of the neurons", positive=True)
m_of = _by_letter("m_{}", "1.a/sqrt(p) over the neurons")
zeta_of = _by_letter(r"\zeta_{}", "a.Wv/sqrt(p) over the neurons")
psi_of = _by_letter(r"\psi_{}", "a.W theta_perp/sqrt(p) over the neurons")
q2_of = _by_letter("q^{{2}}_{{{}}}", "|a|^2/p over the neurons", nonnegative=True)
V2_of = _by_letter("V^{{2}}_{{{}}}", "(1/p) tr S^-1 over the neurons", positive=True)
zeta_hat_of = _by_letter(r"\hat{{\zeta}}_{}", "conjugate of zeta")
psi_hat_of = _by_letter(r"\hat{{\psi}}_{}", "conjugate of psi")
q2_hat_of = _by_letter(r"\hat{{q}}^{{2}}_{{{}}}", "conjugate of V2", nonnegative=True)
V2_hat_of = _by_letter(r"\hat{{V}}^{{2}}_{{{}}}", "conjugate of q2", nonnegative=True)
q1_of = _by_pair("q^{{1}}_{{{}}}", "(1/p) (Pi W^T a).(Pi W^T a)")
V1_of = _by_pair("V^{{1}}_{{{}}}", "(1/p) tr[W Pi W^T S^-1] over a block")
q1_hat_of = _by_pair(r"\hat{{q}}^{{1}}_{{{}}}", "conjugate of V1")
V1_hat_of = _by_pair(r"\hat{{V}}^{{1}}_{{{}}}", "conjugate of q1")
mixed = _by_pair(r"\mathsf{{M}}_{{{}}}", "entry of V1^ (1 + Theta V1^)^-1, Theta = diag(beta c V2)")
trace_block = _by_pair("T_{{{}}}", "(1/p) tr[W Pi W^T G] over a block of one given bulk")
trace_letter = _by_letter(r"\tau_{{u_{}}}", "(1/p) tr G over the neurons of one given bulk", positive=True)
spike_block = _by_pair(r"Z_{{{}}}", "(Wv).G Wv over a block of one given bulk")
target_block = _by_pair(r"P_{{{}}}", "(W theta_perp).G W theta_perp over a block of one given bulk")
double_block = _by_pair(
    r"{{\frac{{1}}{{p}}\mathrm{{tr}}[\Omega GKG]_{{{}}}}}", "(1/p) tr[W Pi W^T G K G] over a block of one given bulk"
)
double_letter = _by_letter(
    r"{{\frac{{1}}{{p}}\mathrm{{tr}}[GKG]_{{{}}}}}",
    "(1/p) tr[G K G] over the neurons of one given bulk",
    nonnegative=True,
)
V_of_letter = _by_letter("V_{{u_{}}}", "(1/p) tr S^-1 over the neurons, orthogonal bulk", positive=True)
V_hat_of_letter = _by_letter(r"\hat{{V}}_{{u_{}}}", "V2^ + c V1^ of a letter, orthogonal bulk", positive=True)
q_hat_of_letter = _by_letter(r"\hat{{q}}_{{u_{}}}", "q2^ + c q1^ of a letter, orthogonal bulk", nonnegative=True)
zeta_force_of = _by_letter("e_{}", "zeta over beta c V of a letter, orthogonal bulk")
output_mean = _define(r"\hat{y}", "mean output at given kappa, sum of mu0 m + kappa mu1 zeta over the letters")
output_variance = _define("q(\\kappa)", "variance of the output at given kappa that replicas share", nonnegative=True)

# Features and overlaps of a finite vocabulary (Appendix D).
first_layer_entry = _define(r"F_{k\ell}", "an entry of the first layer W + r u v^T", "d^(-1/2)")
bulk_entry = _define(r"w_{k\ell}", "an entry of the bulk W", "d^(-1/2)")
direction_entry = _define(r"v_{\ell}", "an entry of the spike direction v", "d^(-1/2)")
feature_value = _define(r"\varphi_{k}", "one feature of an input")
row_input = _define(r"{w_{k}\cdot x}", "inner product of a bulk row with the input")
letter_output = _define(r"f(x)", "output of the readout on one input")
letter_field = _define(r"\mathsf{h}(x)", "part of the output that fluctuates given kappa")
field_covariance = _define(
    r"\mathbb{E}[\mathsf{h}_{i}\mathsf{h}_{j}|\kappa]", "covariance of the local fields of two replicas"
)
log_bracket = _define(
    r"\ln\langle e^{-B\sum_{i}\ell_{i}}\rangle", "logarithm of one sample's replicated average at fixed kappa"
)
block_form = _define(r"{\frac{1}{p}a\cdot\hat{\mathbf{V}}a}", "quadratic form of the block matrix of conjugates")
gibbs_moment = _define(r"\langle a^{(i)}_{k}a^{(j)}_{k}\rangle", "second moment of two replicas given the data")
replica_delta = _define(r"\delta_{ij}", "one for a replica with itself, zero for two replicas")
minimum_entry = _define(r"\hat{a}_{k}", "readout weight at the minimum, in the basis of the Hessian")
curvature_entry = _define("S_{k}", "eigenvalue of the Hessian", positive=True)
replica_overlap = _define("q_{ij}", "overlap of replicas i and j")
shared_overlap = _define("q^{0}", "overlap of two different replicas", nonnegative=True)
own_overlap = _define("V^{0}", "what the overlap of a replica with itself has more", positive=True)
output_change = _define(
    r"\delta\hat{y}(\kappa)", "change of the mean output when a function of the letter is added to m"
)
neuron_product = _define(r"{w_{k}\cdot w_{l}}'", "inner product of two rows of an orthogonal bulk")

# The spectrum of the feature covariance (Appendix F).
stieltjes_argument = _define(r"\mathsf{z}", "argument of the Stieltjes transform, below the spectrum", negative=True)
stieltjes = _define(r"g(\mathsf{z})", "(1/p) tr(Phi^T Phi/p - z)^-1 in the limit", positive=True)
free_entropy = _define(r"\Phi(\mathsf{z})", "(1/p) E ln Z(z), free entropy")
population = _define(r"\Sigma_{kl}", "E[phi_k phi_l], an entry of the population covariance")
spike_eigenvalue_rate = _define(
    r"{\lambda_{\mathrm{spike}}/p}", "largest eigenvalue of the population covariance over p", positive=True
)
energetic_term = _define(r"\Psi_y", "energetic term of the replica-symmetric action, per neuron")

# Plain random features and what the slides add to the paper.
mu0_constant = _define(r"\mu_0", "mu0 where it does not depend on kappa: E[sigma(z)]")
feature_value = _define(r"\sigma(x)", "the activation at the argument x")
hermite_moments = tuple(_define(rf"\mu_{{{k}}}^{{\mathrm{{He}}}}", f"E[He_{k}(z) sigma(z)]") for k in range(5))
hermite_moment = _define(r"\mu_{J}^{\mathrm{He}}", "E[He_J(z) sigma(z)], coefficient of order J")
hermite_term = _define(
    r"\langle(\mu_J\mathrm{He}_J/J!)^2\rangle", "mean square of the term of order J of a feature", nonnegative=True
)
hermite_covariance = _define(
    r"\langle\mathrm{He}_J\mathrm{He}_J'\rangle", "covariance of He_J(w.x) and He_J(w'.x)", "d^(-J/2)"
)
linear_coefficient = _define(r"b_\star", "slope of the best linear fit of the target")
kernel = _define("K", "E[sigma(w.x) sigma(w.x')], the kernel that random features approximate")
tensor_0 = _define(r"\mu^{(0)}", "mean of a target of two variables")
tensor_1 = tuple(_define(rf"\mu^{{(1)}}_{i}", f"E[z_{i} g], first Hermite tensor of a target") for i in (1, 2))
tensor_2 = tuple(
    _define(rf"\mu^{{(2)}}_{{{ij}}}", f"E[(z_i z_j - delta_ij) g], ij = {ij}, second Hermite tensor of a target")
    for ij in (11, 12, 22)
)
argument = tuple(_define(f"x_{i}", f"argument number {i} of a target of two variables") for i in (1, 2))
target_value = _define("g(x_1,x_2)", "a target of two variables")

# Beyond the paper: plain Gaussian equivalence, several directions, other rates of the learning rate.
input_covariance = _define(
    r"\mathrm{Cov}[\varphi_k,\theta\cdot x]", "covariance of a feature and a direction of the input", "d^(-1/2)"
)
gaussian_error = _define(
    r"\varepsilon_g^{\mathrm{G}}", "test error of ridge on mu0 + mu1 F x + mu* xi, plain equivalence", nonnegative=True
)
gaussian_mean = _define(r"m_{\mathrm{G}}", "what plain equivalence learns along the spike: mu1 (r m + zeta)")
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
moreau_mean = _define(r"\langle\mathcal{M}\rangle", "average of the Moreau envelope of the loss")
training_objective = _define(r"\hat{R}_n", "(1/n) (sum of losses + lambda |a|^2/2) at its minimum")

# The network's own bulk (beyond the paper).
row_weight = _define(
    r"\varpi", "weight of A = (1/n0) sum y^2 x x^T in the covariance 1 + w A of a bulk row", nonnegative=True
)
row_form = _define(
    r"\theta^\top B\theta", "d times the variance of b.theta over the bulk rows b of a network", positive=True
)
norm_overlap = _define(r"h_\theta", "d times the covariance of b.theta and |b|^2 over bulk rows b")
norm_spike_overlap = _define(r"h_{\tilde{v}}", "d times the covariance of b.v~ and |b|^2 over bulk rows b")
norm_variance = _define("v_c", "d times the variance of |b|^2 over bulk rows b", nonnegative=True)
norm_variance_gaussian = _define(r"v_c^{\mathcal{N}}", "the same for Gaussian initial rows", nonnegative=True)
spike_overlap_gaussian = _define(
    r"h_{\tilde{v}}^{\mathcal{N}}", "the same covariance with b.v~ for Gaussian initial rows"
)
row_norm_variance = _define(
    r"d\,\mathrm{Var}|w|^{2}", "d times the variance of |w|^2 for w ~ N(0, c/d)", nonnegative=True
)
batch_shift = _define(r"\mathsf{t}", "shift of the resolvent Q = (A + t)^-1", positive=True)
batch_trace = _define(r"\mathsf{q}", "(1/d) tr Q", positive=True)
leverage = _define(
    r"\ell_{\mathrm{out}}", "q/alpha0, the limit of x.Qx/n0 for a sample that Q has not seen", positive=True
)
batch_target = _define(r"\theta^\top Q\theta", "the resolvent along the target", positive=True)
batch_mixed = _define(r"\theta^\top Q\tilde{v}", "the resolvent between theta and v~")
batch_cube = _define(r"\theta^\top Qw_3", "the resolvent between theta and w3 = (1/n0) sum y^3 x")
batch_pair = _define(r"\tilde{v}^\top Qw_3", "the resolvent between v~ and w3")
gain = _define(r"\mathsf{g}", "V1^ beta V2, how strongly the readout's S weighs the bulk rows", positive=True)
row_trace = _define(r"\mathsf{p}", "(1/d) tr H with H = (1 + g B)^-1", positive=True)
row_vv = _define("H_{vv}", "v.Hv", positive=True)
row_vp = _define(r"H_{v\perp}", "v.H theta_perp")
row_pp = _define(r"H_{\perp\perp}", "theta_perp.H theta_perp", positive=True)
row_vh = _define("H_{vh}", "v.Hh")
row_ph = _define(r"H_{\perp h}", "theta_perp.Hh")
row_hh = _define("H_{hh}", "h.Hh", nonnegative=True)
overlap_vv = _define("K_{vv}", "(Wv).G Wv with G = (lambda + V1^ W Pi W^T + V2^)^-1", positive=True)
overlap_vp = _define(r"K_{v\perp}", "(Wv).G W theta_perp")
overlap_pp = _define(r"K_{\perp\perp}", "(W theta_perp).G W theta_perp", positive=True)
overlap_vd = _define(r"K_{v\delta}", "(Wv).G delta, delta the fluctuations of the rows' squared norms")
overlap_pd = _define(r"K_{\perp\delta}", "(W theta_perp).G delta")
overlap_dd = _define(r"K_{\delta\delta}", "delta.G delta", positive=True)
chi = _define("chi", "a.delta/sqrt(p), overlap of the readout with the fluctuations of the rows' squared norms")
third = _define(r"k_{2}(\kappa)", "d mu0/dc, the function of kappa that the readout gains from unequal norms")
error_isotropic = _define(
    r"\varepsilon_g^{\mathrm{iso}}", "test error by the isotropic theory of the paper", nonnegative=True
)
training_isotropic = _define(
    r"\varepsilon_t^{\mathrm{iso}}", "training error by the isotropic theory of the paper", nonnegative=True
)
distance_third = _define(
    r"\mathrm{dist}_3^2", "squared distance of y0 from the span of mu0, kappa mu1 and k2", nonnegative=True
)
m_isotropic = _define(r"m^{\mathrm{iso}}", "readout mean by the isotropic theory of the paper")

# What the slides leave to conventions: the scale of inputs, a small bulk written out, the map's limits.
coordinate_variance = _define("s_x^2", "variance of one coordinate of an input", nonnegative=True)
spike_projection_variance = _define(r"\mathrm{Var}(v\cdot x)", "variance of v.x for a unit vector v", nonnegative=True)
component_along_spike = _define(r"{v\cdot x_\perp}", "component along v of what is left of x")
readout_spike = _define(r"{a\cdot Wv}", "readout dot W v, |v| = 1", "sqrt(p)")
singular = tuple(_define(rf"\lambda_{i}", f"singular value {i} of a bulk of rank two", positive=True) for i in (1, 2))
spike_share = tuple(_define(rf"{{f_{i}\cdot v}}", f"component of v along right singular vector {i}") for i in (1, 2))
best_error_batch = _define(
    r"\inf_\lambda\varepsilon_g(\alpha_0)", "least test error over the ridge at a finite batch", nonnegative=True
)
best_error_large_batch = _define(
    r"\inf_\lambda\varepsilon_g(\infty)", "least test error over the ridge, infinite batch", nonnegative=True
)
tail = _define("P", "P(|z| > t), z standard normal", nonnegative=True)
log_partition_slope = _define(
    r"{\partial_{\mathsf{z}}\frac{2}{p}\ln Z}", "derivative of (2/p) ln Z(z) for given features", positive=True
)
trace_resolvent = _define(
    r"{\frac{1}{p}\mathrm{tr}(\hat\Sigma-\mathsf{z})^{-1}}", "trace of the resolvent of given features", positive=True
)
gibbs_exponent = _define(r"\ln w(a)", "logarithm of the Gaussian weight of a readout")
readout_norm = _define(r"|a|^{2}", "squared norm of a readout", "d", nonnegative=True)
readout_energy = _define(
    r"\textstyle\sum_{\mu}(a\cdot\varphi^{\mu})^{2}/p", "sum over samples of squared outputs", "d", nonnegative=True
)
readout_form = _define(r"a\cdot\hat\Sigma a", "quadratic form of the empirical covariance", "d", nonnegative=True)
mean_log = _define(r"\mathbb{E}\ln Z", "average of the logarithm of the partition function")
moment_slope = _define(r"\partial_{R}\ln\mathbb{E}Z^{R}|_{R=0}", "slope of the logarithm of the moments at R = 0")
replicated_weight = _define(
    r"\mathbb{E}e^{-\frac{1}{2}\sum_{i,\mu}(a_{i}\cdot\varphi^{\mu})^{2}/p}",
    "average over all samples at fixed readouts",
    positive=True,
)
log_mode_integral = _define(r"\ln Z_{R}", "Gaussian integral over R replicas of one mode, less (R/2) ln 2 pi")
mode_curvature = _define(r"\mathsf{A}", "A of a replica-symmetric matrix A delta_ij - B", positive=True)
mode_coupling = _define(r"\mathsf{B}", "B of a replica-symmetric matrix A delta_ij - B", positive=True)
mode_force = _define(r"\mathsf{f}", "force on every replica of one mode")
sample_average = _define(
    r"\mathbb{E}_{\varphi}e^{-\frac{1}{2}\sum_{i}(a_{i}\cdot\varphi)^{2}/p}", "one sample's factor", positive=True
)
schur = _define(
    r"\mathbb{E}\frac{\kappa^{2}\mu_{1}^{2}}{1+V}-(\mathbb{E}\frac{\kappa\mu_{0}\mu_{1}}{1+V})^{2}"
    r"/\mathbb{E}\frac{\mu_{0}^{2}}{1+V}",
    "what m leaves of zeta's own coefficient",
    nonnegative=True,
)

# The replica computation for any convex loss (Appendix C), its dropped terms, and a bulk given by atoms.
gibbs_average = _define(r"\lim_{B\to\infty}\langle h\rangle_B", "Gibbs average of a test function at zero temperature")
minimum_point = _define(r"\hat{a}", "where the risk is least", real=True)
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
mode_curvature = _define("S_j", "lambda + V1^ varrho + V2^ in one mode", positive=True)
mode_noise = _define(r"k_j", "variance q1^ varrho + q2^ of the force on the readout in one mode", nonnegative=True)
mode_field = _define(r"\Xi", "standard normal force on the readout", real=True)
entropic_log = _define(r"\psi_w", "replica limit of the entropic term in one mode, at finite temperature")
replica_exponent = _define(r"\mathcal{E}_B", "exponent of the entropic term in one mode at inverse temperature B")
replica_weight = _define("a_j", "a readout weight in one mode, of one replica", real=True)
zero_temperature = _define(
    r"-\lim\frac{1}{B}\ln\int e^{-B\mathcal{O}}", "Laplace limit of an integral over one variable"
)
least_objective = _define(r"\inf\mathcal{O}", "least value of a convex objective of one variable")
moreau_slope = _define(r"\partial_\omega\mathcal{M}", "derivative of the Moreau envelope in its centre")
moreau_response = _define(r"\partial_V\mathcal{M}", "derivative of the Moreau envelope in its variance")
force_slope = _define(r"\partial_\omega f", "derivative of the force f = (prox - omega)/V")
penalty_slope = _define(
    r"\partial_J\mathcal{M}_{\mathsf{r}}", "derivative of the envelope of the regulariser in the force"
)
prox = _define(r"\mathsf{h}_\omega", "proximal point: argmin over h of (h - omega)^2/(2V) + l(h)")
loss_slope = _define(r"\ell'", "derivative of the loss at the proximal point")
loss_curvature = _define(r"\ell''", "second derivative of the loss at the proximal point", nonnegative=True)
m_hat = _define(r"\hat{m}", "conjugate of m", "d^(-1/2)")
ones_resolvent = _define(
    r"\frac{1}{p}\mathbf{1}^\top G\mathbf{1}", "(1/p) 1.G 1 with G = (lambda + V1^ W Pi W^T + V2^)^-1", positive=True
)
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
best_error_bias = _define(
    r"\inf_{\lambda,\mathsf{b}}\varepsilon_g",
    "infimum of the test error over ridge and bias, gamma = 1",
    nonnegative=True,
)
best_lower_bias = _define(
    r"\inf_{\mathsf{b}}\mathrm{dist}^2",
    "least distance over the bias of g from the span of mu0 and kappa mu1",
    nonnegative=True,
)
m_response = _define(r"\partial_m\Phi", "derivative of the free energy in m, zero at the saddle point")
output_noise = _define(r"\mathrm{Var}[f|\kappa,z]", "variance of the output at given kappa and z", nonnegative=True)

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
overlap_modulus = _define(r"|\cos(w,w^{\star})|", "modulus of the cosine of neuron and direction", positive=True)
letter_count = _define(r"\#\mathcal{V}", "number of letters of the initial readout", positive=True)
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
row_overlap = _define("o", "mean overlap of two initial rows", positive=True)
mean_step_square = _define(
    r"|\tilde{V}|^{2}", "limit of the squared length of (1/n0) sum (y - F) G x, the step of the mean row", positive=True
)

# The network's own bulk with a vocabulary (beyond the paper): one law of rows for each of two letters.
spectrum_mode = _define("nu", "a standard normal variable that labels an eigenvector of A = (1/n0) sum y^2 x x^T")
bias_of = _by_letter(r"\mathsf{{b}}_{}", "bias added to the features after the step")
row_form_of = _define(r"\theta^\top B_1\theta", "d times the variance of b.theta over the bulk rows of letter 1")
norm_overlap_of = _define(r"h_{1,\theta}", "d times the covariance of b.theta and |b|^2 over the bulk rows of letter 1")
norm_spike_overlap_of = _define(r"h_{1,\tilde{v}}", "d times the covariance of b.v~ and |b|^2, letter 1")
norm_variance_of = _by_letter(r"v_{{c,{}}}", "d times the variance of |b|^2 over the bulk rows", nonnegative=True)
row_gain = _by_letter(r"\mathsf{{g}}_{}", "beta V2, how strongly rows weigh in the readout's S", positive=True)
forms_own = _define(r"R^{ff'}_{11}", "(W_1 f).S^-1 W_1 f' with the spike in the bulk, f and f' two directions")
forms_mixed = _define(r"R^{ff'}_{12}", "(W_1 f).S^-1 W_2 f' with the spike in the bulk")
form_norm_own = _define(r"R^{f\delta}_{11}", "(W_1 f).S^-1 delta_1 with the spike in the bulk")
form_norm_mixed = _define(r"R^{f\delta}_{12}", "(W_1 f).S^-1 delta_2 with the spike in the bulk")
norms_own = _define(r"R^{\delta\delta}_{11}", "delta_1.S^-1 delta_1 with the spike in the bulk")
norms_mixed = _define(r"R^{\delta\delta}_{12}", "delta_1.S^-1 delta_2 with the spike in the bulk")
log_det_of_rows = _define(r"{\frac{1}{p}\ln\det S}", "log-determinant of the readout's S with the spike in the bulk")
spike_forms = _by_pair(r"R^{{vv}}_{{{}}}", "(Wv).S^-1 Wv over a block, the spike in the bulk")
left_forms = _by_letter(r"R^{{yv}}_{}", "y.S^-1 Wv for a vector y, the spike in the bulk")
right_forms = _by_letter(r"R^{{vy'}}_{}", "(Wv).S^-1 y' for a vector y', the spike in the bulk")
vector_form = _define(r"R^{yy'}", "y.S^-1 y' for two vectors, the spike in the bulk")
vector_overlap = _define(r"K^{yy'}", "y.G y' with G = (lambda + V1^ W Pi W^T + V2^)^-1, the spike out of the bulk")
spike_overlap_of = _define(r"K^{vv}_{11}", "(W_1 v).G W_1 v, the spike out of the bulk", positive=True)
target_overlap_mixed = _define(r"K^{\perp\perp}_{12}", "(W_1 theta_perp).G W_2 theta_perp, the spike out of the bulk")
norm_row_spike = _by_letter(r"K^{{\delta v}}_{{1{}}}", "delta_1.G Wv over the neurons, the spike out of the bulk")
norm_row_target = _by_letter(r"K^{{\delta\perp}}_{{1{}}}", "delta_1.G W theta_perp over the neurons")
norm_row_norm = _by_letter(r"K^{{\delta\delta}}_{{1{}}}", "delta_1.G delta over the neurons")
entropic_slope_own = _define(r"\partial_{D_1}2\Psi_w", "derivative of twice the entropic term in V2^ of letter 1")
entropic_slope_mixed = _define(r"\partial_{C_{12}}2\Psi_w", "derivative of twice the entropic term in V1^ of 1 and 2")
pole = _by_letter(r"\mathsf{{t}}_{}", "minus a root of det(1 + V1^ Theta(x)) in x, number", positive=True)
pole_trace = _by_letter(r"\mathsf{{q}}_{}", "(1/d) tr (A + t)^-1 at the pole, number", positive=True)
pole_form = _by_letter(r"f^\top Q_{}f'", "f.(A + t)^-1 f' at the pole, number")
form_product = _define(r"f\cdot f'", "product of two directions")
filter_trace = _define(r"\mathsf{p}_{11}", "(1/d) tr of entry 11 of (1 + Theta(A) V1^)^-1")
mixed_form = _define(r"f^\top\mathsf{M}_{12}f'", "f.M_12(A) f' with M(x) = V1^ (1 + Theta(x) V1^)^-1")
third_of = _define(r"k_{2,1}(\kappa)", "d mu0/dc of letter 1, what its mean gains from unequal norms")
chi_of = _by_letter(r"\chi_{}", "a.delta/sqrt(p) over the neurons")
distance_groups = _define(
    r"\mathrm{dist}_{3k}^2",
    "squared distance of y0 from the span of mu0, kappa mu1 and k2 of all letters",
    nonnegative=True,
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

# The spectrum without an integral (Appendix F and beyond).
features_log_det = _define(
    r"\frac{1}{p}\ln\det(\tfrac{1}{p}\Phi^\top\Phi+\lambda)", "log-determinant of the features, without their outliers"
)

glossary: tuple[Entry, ...] = _TABLE.entries

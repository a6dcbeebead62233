"""Every symbol that several chapters use, once: name, glyph, meaning, sign, and scaling in the input dimension d.

What only one chapter uses stands beside it, in `derivations/CHAPTER/symbols.py`, which has these, too.

The names follow the paper (arXiv 2402.04980). ``h2`` and ``h2_star`` are second moments, not Hermite coefficients;
``eta`` is the rescaled learning rate, the learning rate of equation (3) divided by d.
"""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary

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
h1 = _define("h_1", "E[z sigma(z)], first Hermite coefficient of the activation")
h2 = _define("h_2", "E[sigma(z)^2], second moment of the activation", positive=True)
h1_check = _define(r"\check{h}_1", "E[(sigma'(z) - h1)^2], what the linear part of sigma' leaves", nonnegative=True)
h1_star = _define(r"h^\star_1", "E[z g(z)], first Hermite coefficient of the target")
h2_star = _define(r"h^\star_2", "E[g(z)^2], second moment of the target", positive=True)

# The spiked random features.
r = _define("r", "spike strength")
gamma = _define("gamma", "alignment v.theta of spike and target")
rho = _define("rho", "1 - gamma^2", nonnegative=True)
c = _define("c", "bulk variance, the squared norm of a bulk row", positive=True)
x = _define("x", "argument r kappa of the heat semigroup, mu0 = (P_c sigma)(x)")

# Gaussian variables.
kappa = _define("kappa", "projection v.x of the input on the spike, standard normal")
z = _define("z", "a standard normal variable")
y = _define("y", "label of a sample")

# Order parameters and their conjugates (the hats of the paper, in the normalisation of the free energy).
m = _define("m", "1.a/sqrt(p), readout mean")
zeta = _define("zeta", "a.Wv/sqrt(p), overlap with the spike direction")
psi = _define("psi", "a.W theta_perp/sqrt(p) with |theta_perp| = 1")
q1 = _define("q_1", "|Pi W^T a|^2/p", nonnegative=True)
q2 = _define("q_2", "|a|^2/p", nonnegative=True)
V1 = _define("V_1", "(1/p) tr[W Pi W^T S^-1]", positive=True)
V2 = _define("V_2", "(1/p) tr S^-1", positive=True)
V1_hat = _define(r"\hat{V}_1", "conjugate of q1", positive=True)
V2_hat = _define(r"\hat{V}_2", "conjugate of q2", positive=True)
q1_hat = _define(r"\hat{q}_1", "conjugate of V1", nonnegative=True)
q2_hat = _define(r"\hat{q}_2", "conjugate of V2", nonnegative=True)
zeta_hat = _define(r"\hat{\zeta}", "conjugate of zeta")
psi_hat = _define(r"\hat{\psi}", "conjugate of psi")
test_error = _define(r"\varepsilon_g", "test error", nonnegative=True)
training_error = _define(r"\varepsilon_t", "training error", nonnegative=True)

# The gradient step (Section 2, Section 3.1 and Appendix A).
output = _define("f", "output of the network on a sample")
readout_weight = _define("a", "readout weight of one neuron before the step", "d^(-1/2)")
overlap = _define(
    "epsilon", "overlap w.theta of a neuron with the target, or of two neurons with each other", "d^(-1/2)"
)
v_square = _define(r"|\tilde{v}|^{2}", "limit of |v~|^2", positive=True)
delta_square = _define(r"|\delta|^{2}", "limit of |delta|^2", nonnegative=True)
delta_cross = _define(r"{w\cdot\delta}", "limit of w.delta")

# The replica computation of the ridge readout (Section 3.3 and Appendix C) and its limits (Section 4.3, Appendix E).
inverse_temperature = _define("B", "inverse temperature of the Gibbs measure over readouts", positive=True)
replicas = _define("R", "number of replicas, continued to zero")
xi = _define("xi", "a standard normal variable, independent of z")
mode = _define("u", "a standard normal variable that labels an eigenvector of W W^T")
local_field = _define(r"\mathsf{h}", "Gaussian part of the output of one replica on one sample")
field_mean = _define("omega", "mean of the local field over thermal fluctuations")
residual = _define("b", "label minus mu0 m - kappa mu1 zeta: what the local field has to fit")
V = _define("V", "V(kappa) = mu1^2 V1 + mu2^2 V2, variance of the local field at one temperature", positive=True)
moreau = _define(r"\mathcal{M}", "Moreau envelope of the square loss", nonnegative=True)
spike_resolvent = _define(r"s^\top G_0 s", "(Wv).G0 Wv with G0 = (lambda + V1^ W W^T + V2^)^-1", positive=True)
spike_resolvent_bulk = _define(r"s^\top G s", "(Wv).G Wv with G = (lambda + V1^ W Pi W^T + V2^)^-1", positive=True)
free_energy = _define(r"\Phi", "min over a of (1/p)(1/2 sum (y - f)^2 + lambda/2 |a|^2), in the limit")
trace_term = _define(r"\Psi_t", "trace term of the replica-symmetric action, per neuron")
entropic_term = _define(r"\Psi_w", "entropic term of the replica-symmetric action, per neuron")
resolvent_square = _define("M_{02}", "(1/p) tr S^-2", positive=True)
resolvent_mixed = _define("M_{12}", "(1/p) tr[W Pi W^T S^-2]", positive=True)
resolvent_double = _define("M_{22}", "(1/p) tr[(W Pi W^T S^-1)^2]", positive=True)
best_error = _define(r"\inf_\lambda\varepsilon_g", "infimum of the test error over the ridge penalty", nonnegative=True)
scale = _define("s", "a factor by which activation, target or spike is rescaled", positive=True)
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
spike_overlap = _define(r"s_{k}", "w_k.v, overlap of a bulk row with the spike direction", "d^(-1/2)")
other_overlap = _define(r"s_{l}", "w_l.v, overlap of another bulk row with the spike direction", "d^(-1/2)")
projected_product = _define(r"{w_k\cdot\Pi w_l}", "inner product of two bulk rows orthogonal to v", "d^(-1/2)")
feature_variance = _define(r"\mathrm{Var}[\varphi_{k}|\kappa]", "variance of a feature given kappa", nonnegative=True)
scaled_overlap = _define("tau", "sqrt(d) times an overlap of order d^(-1/2)")
covariance_gap = _define(
    r"d\,\delta\mathrm{Cov}", "limit of d times the difference of the conditional covariances of the two maps"
)
pair_covariance = _define(
    r"\mathrm{Cov}[\varphi_{k},\varphi_{l}|\kappa]", "covariance of two features given kappa", "d^(-1/2)"
)

# The ridge readout at finite size (Section 2).
excess = _define(r"q_1-\psi^2", "what Cauchy-Schwarz leaves between q1 and psi^2", nonnegative=True)
mu1_constant = _define(r"\mu_1", "mu1 where it does not depend on kappa: no spike", positive=True)
mu2_constant = _define(r"\mu_2", "mu2 where it does not depend on kappa: no spike", nonnegative=True)

# A readout that starts from a finite vocabulary (Appendix D). Two letters stand for any number: the equations for a
# letter or a pair of letters have sums over letters that two of them show in full.
letter = _TABLE.by_letter("u_{}", "letter: initial readout weight times sqrt(p), factor of the spike r")
fraction = _TABLE.by_letter(r"\pi_{}", "share of the neurons", positive=True)
c_of = _TABLE.by_letter("c_{}", "bulk variance of the neurons", positive=True)
V2_of = _TABLE.by_letter("V^{{2}}_{{{}}}", "(1/p) tr S^-1 over the neurons", positive=True)
V2_hat_of = _TABLE.by_letter(r"\hat{{V}}^{{2}}_{{{}}}", "conjugate of q2", nonnegative=True)
V1_of = _TABLE.by_pair("V^{{1}}_{{{}}}", "(1/p) tr[W Pi W^T S^-1] over a block")
V1_hat_of = _TABLE.by_pair(r"\hat{{V}}^{{1}}_{{{}}}", "conjugate of q1")
mixed = _TABLE.by_pair(r"\mathsf{{M}}_{{{}}}", "entry of V1^ (1 + Theta V1^)^-1, Theta = diag(beta c V2)")

# Features and overlaps of a finite vocabulary (Appendix D).
letter_output = _define(r"f(x)", "output of the readout on one input")
letter_field = _define(r"\mathsf{h}(x)", "part of the output that fluctuates given kappa")
field_covariance = _define(
    r"\mathbb{E}[\mathsf{h}_{i}\mathsf{h}_{j}|\kappa]", "covariance of the local fields of two replicas"
)
log_bracket = _define(
    r"\ln\langle e^{-B\sum_{i}\ell_{i}}\rangle", "logarithm of one sample's replicated average at fixed kappa"
)
replica_delta = _define(r"\delta_{ij}", "one for a replica with itself, zero for two replicas")
replica_overlap = _define("q_{ij}", "overlap of replicas i and j")
shared_overlap = _define("q^{0}", "overlap of two different replicas", nonnegative=True)
own_overlap = _define("V^{0}", "what the overlap of a replica with itself has more", positive=True)

# The spectrum of the feature covariance (Appendix F).
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
tensor_1 = tuple(_define(rf"\mu^{{(1)}}_{i}", f"E[z_{i} g], first Hermite tensor of a target") for i in (1, 2))
tensor_2 = tuple(
    _define(rf"\mu^{{(2)}}_{{{ij}}}", f"E[(z_i z_j - delta_ij) g], ij = {ij}, second Hermite tensor of a target")
    for ij in (11, 12, 22)
)
argument = tuple(_define(f"x_{i}", f"argument number {i} of a target of two variables") for i in (1, 2))

# The network's own bulk (beyond the paper).
row_weight = _define(
    r"\varpi", "weight of A = (1/n0) sum y^2 x x^T in the covariance 1 + w A of a bulk row", nonnegative=True
)
leverage = _define(
    r"\ell_{\mathrm{out}}", "q/alpha0, the limit of x.Qx/n0 for a sample that Q has not seen", positive=True
)
gain = _define(r"\mathsf{g}", "V1^ beta V2, how strongly the readout's S weighs the bulk rows", positive=True)
row_trace = _define(r"\mathsf{p}", "(1/d) tr H with H = (1 + g B)^-1", positive=True)

# What the slides leave to conventions: the scale of inputs, a small bulk written out, the map's limits.
spike_projection_variance = _define(r"\mathrm{Var}(v\cdot x)", "variance of v.x for a unit vector v", nonnegative=True)
best_error_batch = _define(
    r"\inf_\lambda\varepsilon_g(\alpha_0)", "least test error over the ridge at a finite batch", nonnegative=True
)
best_error_large_batch = _define(
    r"\inf_\lambda\varepsilon_g(\infty)", "least test error over the ridge, infinite batch", nonnegative=True
)
mean_log = _define(r"\mathbb{E}\ln Z", "average of the logarithm of the partition function")
log_mode_integral = _define(r"\ln Z_{R}", "Gaussian integral over R replicas of one mode, less (R/2) ln 2 pi")
mode_curvature = _define(r"\mathsf{A}", "A of a replica-symmetric matrix A delta_ij - B", positive=True)
mode_coupling = _define(r"\mathsf{B}", "B of a replica-symmetric matrix A delta_ij - B", positive=True)
mode_force = _define(r"\mathsf{f}", "force on every replica of one mode")

# The replica computation for any convex loss (Appendix C), its dropped terms, and a bulk given by atoms.
mode_curvature = _define("S_j", "lambda + V1^ varrho + V2^ in one mode", positive=True)
mode_field = _define(r"\Xi", "standard normal force on the readout")
loss_slope = _define(r"\ell'", "derivative of the loss at the proximal point")
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

# Conventions of the slides and of several directions.
overlap_modulus = _define(r"|\cos(w,w^{\star})|", "modulus of the cosine of neuron and direction", positive=True)
letter_count = _define(r"\#\mathcal{V}", "number of letters of the initial readout", positive=True)

# Initial rows that overlap.
row_overlap = _define("o", "mean overlap of two initial rows", positive=True)

# The network's own bulk with a vocabulary (beyond the paper): one law of rows for each of two letters.
row_gain = _TABLE.by_letter(r"\mathsf{{g}}_{}", "beta V2, how strongly rows weigh in the readout's S", positive=True)

SHARED: tuple[Entry, ...] = _TABLE.entries

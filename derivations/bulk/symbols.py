"""The network's own bulk: symbols of its rows, its resolvent and its letters."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The network's own bulk (beyond the paper).
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
batch_target = _define(r"\theta^\top Q\theta", "the resolvent along the target", positive=True)
batch_mixed = _define(r"\theta^\top Q\tilde{v}", "the resolvent between theta and v~")
batch_cube = _define(r"\theta^\top Qw_3", "the resolvent between theta and w3 = (1/n0) sum y^3 x")
batch_pair = _define(r"\tilde{v}^\top Qw_3", "the resolvent between v~ and w3")
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
error_without_step = _define(
    r"\varepsilon_g^{(0)}", "test error of the same network without a step, plain random features", nonnegative=True
)
# The function that a readout learns along the target, u = theta.x: its first Hermite coefficients.
slope_learned = _define(r"\hat{f}_{1}", "E[f u], slope of the output f along u = theta.x")
cubic_learned = _define(r"\hat{f}_{3}", "E[f (u^3 - 3 u)]/6, cubic part of the output f along u = theta.x")
cubic_isotropic = _define(r"\hat{f}_{3}^{\mathrm{iso}}", "the same cubic part by the isotropic theory of the paper")

# The network's own bulk with a vocabulary (beyond the paper): one law of rows for each of two letters.
spectrum_mode = _define("nu", "a standard normal variable that labels an eigenvector of A = (1/n0) sum y^2 x x^T")
row_form_of = _define(r"\theta^\top B_1\theta", "d times the variance of b.theta over the bulk rows of letter 1")
norm_overlap_of = _define(r"h_{1,\theta}", "d times the covariance of b.theta and |b|^2 over the bulk rows of letter 1")
norm_spike_overlap_of = _define(r"h_{1,\tilde{v}}", "d times the covariance of b.v~ and |b|^2, letter 1")
norm_variance_of = _TABLE.by_letter(r"v_{{c,{}}}", "d times the variance of |b|^2 over the bulk rows", nonnegative=True)
forms_own = _define(r"R^{ff'}_{11}", "(W_1 f).S^-1 W_1 f' with the spike in the bulk, f and f' two directions")
forms_mixed = _define(r"R^{ff'}_{12}", "(W_1 f).S^-1 W_2 f' with the spike in the bulk")
form_norm_own = _define(r"R^{f\delta}_{11}", "(W_1 f).S^-1 delta_1 with the spike in the bulk")
form_norm_mixed = _define(r"R^{f\delta}_{12}", "(W_1 f).S^-1 delta_2 with the spike in the bulk")
norms_own = _define(r"R^{\delta\delta}_{11}", "delta_1.S^-1 delta_1 with the spike in the bulk")
norms_mixed = _define(r"R^{\delta\delta}_{12}", "delta_1.S^-1 delta_2 with the spike in the bulk")
spike_forms = _TABLE.by_pair(r"R^{{vv}}_{{{}}}", "(Wv).S^-1 Wv over a block, the spike in the bulk")
left_forms = _TABLE.by_letter(r"R^{{yv}}_{}", "y.S^-1 Wv for a vector y, the spike in the bulk")
right_forms = _TABLE.by_letter(r"R^{{vy'}}_{}", "(Wv).S^-1 y' for a vector y', the spike in the bulk")
vector_form = _define(r"R^{yy'}", "y.S^-1 y' for two vectors, the spike in the bulk")
vector_overlap = _define(r"K^{yy'}", "y.G y' with G = (lambda + V1^ W Pi W^T + V2^)^-1, the spike out of the bulk")
spike_overlap_of = _define(r"K^{vv}_{11}", "(W_1 v).G W_1 v, the spike out of the bulk", positive=True)
target_overlap_mixed = _define(r"K^{\perp\perp}_{12}", "(W_1 theta_perp).G W_2 theta_perp, the spike out of the bulk")
pole = _TABLE.by_letter(r"\mathsf{{t}}_{}", "minus a root of det(1 + V1^ Theta(x)) in x, number", positive=True)
pole_trace = _TABLE.by_letter(r"\mathsf{{q}}_{}", "(1/d) tr (A + t)^-1 at the pole, number", positive=True)
pole_form = _TABLE.by_letter(r"f^\top Q_{}f'", "f.(A + t)^-1 f' at the pole, number")
filter_trace = _define(r"\mathsf{p}_{11}", "(1/d) tr of entry 11 of (1 + Theta(A) V1^)^-1")
mixed_form = _define(r"f^\top\mathsf{M}_{12}f'", "f.M_12(A) f' with M(x) = V1^ (1 + Theta(x) V1^)^-1")
distance_groups = _define(
    r"\mathrm{dist}_{3k}^2",
    "squared distance of y0 from the span of mu0, kappa mu1 and k2 of all letters",
    nonnegative=True,
)

# A step with any activation (beyond the paper): Y = y - E[sigma] is what it sees, s = sigma' - h1 - E[sigma''] z.
mean_output = _define("h_0", "E[sigma(z)], the output of the network before the step")
curvature = _define(r"h_{\prime\prime}", "E[sigma''(z)] = E[z sigma'(z)]")
label_moment = tuple(_define(rf"\mu^Y_{{{k}}}", f"E[Y^{k}], Y the label that the step sees") for k in range(5))
label_slope = tuple(_define(rf"\tau^Y_{{{k}}}", f"E[u Y^{k}], u = theta.x") for k in range(5))
label_curve = tuple(_define(rf"\upsilon^Y_{{{k}}}", f"E[u^2 Y^{k}]") for k in range(3))
label = _define("Y", "the label that the step sees, y - E[sigma]")
slope_moment = {
    (j, k): _define(rf"\sigma_{{{j}{k}}}", f"E[z^{j} s^{k}], s what sigma' has beyond a line")
    for j, k in ((0, 2), (2, 1), (3, 1), (1, 2), (0, 3), (1, 3), (2, 2), (0, 4))
}
turn = _define(r"\nu_{P}", "(eta/beta) E[sigma''], rows are P w + noise with P = 1 + nu M, M = (1/n0) sum Y x x^T")
bridge_trace = _define(r"\mathsf{p}_{P}", "(1/d) tr H P with H = (1 + g B)^-1")
rest_trace = _define(r"\mathsf{k}", "1 - g (1/d) tr P H P", positive=True)
place_linear = _define(r"\mathsf{b}_{1}", "coefficient of Y in D(Y) = 1 + b1 Y + b2 Y^2")
place_square = _define(r"\mathsf{b}_{2}", "coefficient of Y^2 in D(Y) = 1 + b1 Y + b2 Y^2")
target_form = _define(r"\theta^\top H\theta", "the resolvent H along the target", positive=True)
target_bridge = _define(r"\theta^\top HP\theta", "theta.H P theta")
batch_norm = _define(r"|w_Y|^{2}_{n_0}", "average of |(1/n0) sum Y x|^2 over batches", nonnegative=True)
row_norm = _define(
    r"\mathbb{E}|b|^{2}_{n_0}", "average of |b|^2 over batches for a row across the target", nonnegative=True
)


# The map whose fixed point the saddle point is.
V1_other = _define(r"V_{1}'", "(1/p) tr[W Pi W^T S^-1] in another solution", positive=True)
V2_other = _define(r"V_{2}'", "(1/p) tr S^-1 in another solution", positive=True)
V1_more = _define(r"\Delta V_1", "what is added to V1", nonnegative=True)
V2_more = _define(r"\Delta V_2", "what is added to V2", nonnegative=True)
V1_rising = _define(r"\mathsf{x}_1", "a fixed point of a map that is not increasing", positive=True)
V1_other_rising = _define(r"\mathsf{x}_1'", "another fixed point of a map that is not increasing", positive=True)
V1_bare = _define(r"\mathsf{u}_1", "a fixed point of a homogeneous map", positive=True)
V1_other_bare = _define(r"\mathsf{u}_1'", "another fixed point of a homogeneous map", positive=True)
_LEAST = "least eigenvalue in T, and least entry in tau, two groups, over the largest entry of the larger side:"
order_gap = _define(r"\Lambda_{F(x+h)-F(x)}", f"{_LEAST} F(x + h) - F(x)")
order_gap_rising = _define(r"\Lambda_{G(x+h)-G(x)}", f"{_LEAST} the same with C and D increasing")
entry_gap = _define(r"\min_{ab}\Delta T_{ab}", "least change of an entry of T, when all entries of its argument grow")
scale_gap = _define(r"\Lambda_{tF(x)-F(tx)-g}", f"{_LEAST} t F(x) - F(t x) less (t - 1) lambda (T T_0^-1 T, tau^2/pi)")
scale_gap_fourfold = _define(r"\Lambda_{tF(x)-F(tx)-4g}", f"{_LEAST} t F(x) - F(t x) less four times as much")
scale_gap_reversed = _define(r"\Lambda_{F(tx)-tF(x)}", f"{_LEAST} F(t x) - t F(x)")
# Two letters of one batch, any activation.
rows_seen = _TABLE.by_pair(r"\Phi_{{{}}}", "entry of the matrix by which the rows of two letters act")
target_seen = _TABLE.by_pair(r"\Phi^{{\theta}}_{{{}}}", "the same matrix along the target theta")
target_forms_of = _TABLE.by_pair(r"R^{{\theta\theta}}_{{{}}}", "the limit of (W theta).S^-1 W theta, bulk rows")
V1_of_groups = _define(r"T_{12}^{\downarrow}", "T_12 of two groups by iteration from above")
V1_of_groups_other = _define(r"T_{12}^{\uparrow}", "T_12 of two groups by iteration from below")
V1_of_groups_rising = _define(r"T_{12}^{G}", "T_12 of two groups by iteration with C and D increasing")
excess = _define(r"\varsigma", "by how much a factor of V1 and V2 exceeds one", nonnegative=True)


TABLE: tuple[Entry, ...] = _TABLE.entries

"""Several gradient steps: symbols of the state after a step and of what the step averages over a fresh batch."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The state after the step.
r_next = _define("r^{+}", "spike strength after one more step", nonnegative=True)
gamma_next = _define(r"\gamma^{+}", "alignment after one more step")
c_next = _define("c^{+}", "bulk variance after one more step")
square_next = _define("(r^{+})^{2}", "squared spike strength after one more step")
overlap_next = _define(r"r^{+}\gamma^{+}", "overlap of the spike with the target after one more step")
spike_square = _define(r"\langle|\rho^{+}|^{2}\rangle", "average of the squared spike over batches, at finite n0 and d")
row_square = _define(
    r"\langle|b^{+}|^{2}\rangle", "average of the squared norm of a bulk row over batches, at finite n0 and d"
)

layer_next = _define("(r^{+})^{2}+c^{+}", "squared length of a row of the first layer after one more step")

# Averages over a fresh sample, Y = y - mu0(kappa).
along = _define(r"\langle\kappa\mu_1Y\rangle", "E[kappa mu1 Y], what the batch pulls along the spike")
across = _define(
    r"\langle z\mu_1Y\rangle", "E[z mu1 Y], what the batch pulls along the target's part orthogonal to the spike"
)
spike_noise = _define(
    r"\langle\mu_1^{2}Y^{2}\rangle", "E[mu1^2 Y^2], noise of the batch in the spike", nonnegative=True
)
stretch = _define(r"\langle\mu_{11}Y\rangle", "E[mu11 Y], by what the batch stretches a bulk row")
row_noise = _define(
    r"\langle Y^{2}\mathrm{Var}\,\sigma'\rangle",
    "E[Y^2 Var(sigma'|kappa)], noise of the batch in a bulk row",
    nonnegative=True,
)
whole_noise = _define(
    r"\langle Y^{2}\sigma'^{2}\rangle", "noise of the batch in a row of the first layer", nonnegative=True
)
spike_planar = _define(
    r"\langle\mu_1^{2}Y^{2}(\kappa^{2}+z^{2})\rangle", "E[mu1^2 Y^2 (kappa^2 + z^2)]", nonnegative=True
)
row_planar = _define(
    r"\langle Y^{2}(\sigma'-\mu_1)^{2}(\kappa^{2}+z^{2}+w^{2})\rangle",
    "E[Y^2 (sigma' - mu1)^2 (kappa^2 + z^2 + w^2)], w what the row sees",
    nonnegative=True,
)

# sigma' given kappa.
bend = _define(
    r"\mu_{11}(\kappa)", "E[w sigma'(r kappa + sqrt(c) w)]/sqrt(c), linear coefficient of sigma' given kappa"
)
mu1_slope = _define(r"\mu_{1}'(\kappa)", "derivative of mu1 in kappa")
slope_square = _define(r"\mathbb{E}[\sigma'^{2}|\kappa]", "second moment of sigma' given kappa", nonnegative=True)
slope_variance = _define(r"\mathrm{Var}[\sigma'|\kappa]", "variance of sigma' given kappa", nonnegative=True)
rest_square = _define(r"\mathbb{E}[s^{2}|\kappa]", "second moment of what sigma' has beyond a line", nonnegative=True)
rest_mean = _define(r"\mathbb{E}[s|\kappa]", "mean of what sigma' has beyond a line")
rest_line = _define(r"\mathbb{E}[ws|\kappa]", "linear coefficient of what sigma' has beyond a line")

slope_mean = _define(r"\langle\mu_1\rangle", "E[mu1], the mean of sigma' over inputs and rows")

# The loss of the best approximation, as a function of the spike and the width q = sqrt(c) of the bulk.
loss_along = _define(r"\partial_{a}\ell", "slope of the loss in the spike along v")
loss_across = _define(r"\partial_{b}\ell", "slope of the loss in the spike along theta_perp")
loss_width = _define(r"\partial_{q}\ell", "slope of the loss in q = sqrt(c)")

# A second step on the same batch.
slope_curve = _define(r"\langle\sigma'\sigma''\rangle", "E[sigma' sigma''], how a push of its own turns a row")
reused_turn = _define(r"\lim r^{+}\gamma^{+}/e^{2}", "limit of r gamma/e^2 after two small steps on one batch")

# Long spikes, many small batches, and what a flow keeps.
slope_right = _define("s_{+}", "slope of a piecewise linear activation on the right")
slope_left = _define("s_{-}", "slope of a piecewise linear activation on the left")
growth_square = _define("G^{2}", "limit of (r+/r)^2 for a long spike", nonnegative=True)
critical_rate = _define("e_{c}", "rate eta/beta beyond which a long spike grows", positive=True)
small_rate = _define(r"\epsilon", "rate per sample: eta/beta = epsilon alpha0", positive=True)
spike_drift = _define(r"\dot{r^{2}}", "limit of (r+^2 - r^2)/alpha0 for small batches")
overlap_drift = _define(r"\dot{(r\gamma)}", "limit of (r+ gamma+ - r gamma)/alpha0 for small batches")
bulk_drift = _define(r"\dot{c}", "limit of (c+ - c)/alpha0 for small batches")
flow_drift = _define(r"\partial_{t}(r^{2}+c+\frac{1}{2}\ln c)", "how fast r^2 + c + (1/2) ln c moves by gradient flow")
bulk_end = _define(
    r"c_{\infty}", "bulk variance at which the flow of an erf student of an erf target ends", positive=True
)

TABLE: tuple[Entry, ...] = _TABLE.entries

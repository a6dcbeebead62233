"""The spectrum of the features: symbols of Appendix F."""

from __future__ import annotations

from giantsteps.derivations.language.glossary import Entry, Glossary
from giantsteps.derivations.language.symbols import *  # noqa: F403  (a chapter has the shared symbols, too)

_TABLE = Glossary()
_define = _TABLE.define

# The spectrum of the feature covariance (Appendix F).
stieltjes_argument = _define(r"\mathsf{z}", "argument of the Stieltjes transform, below the spectrum", negative=True)
stieltjes = _define(r"g(\mathsf{z})", "(1/p) tr(Phi^T Phi/p - z)^-1 in the limit", positive=True)
free_entropy = _define(r"\Phi(\mathsf{z})", "(1/p) E ln Z(z), free entropy")
population = _define(r"\Sigma_{kl}", "E[phi_k phi_l], an entry of the population covariance")
spike_eigenvalue_rate = _define(
    r"{\lambda_{\mathrm{spike}}/p}", "largest eigenvalue of the population covariance over p", positive=True
)

# What the slides leave to conventions: the scale of inputs, a small bulk written out, the map's limits.
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
moment_slope = _define(r"\partial_{R}\ln\mathbb{E}Z^{R}|_{R=0}", "slope of the logarithm of the moments at R = 0")
replicated_weight = _define(
    r"\mathbb{E}e^{-\frac{1}{2}\sum_{i,\mu}(a_{i}\cdot\varphi^{\mu})^{2}/p}",
    "average over all samples at fixed readouts",
    positive=True,
)
sample_average = _define(
    r"\mathbb{E}_{\varphi}e^{-\frac{1}{2}\sum_{i}(a_{i}\cdot\varphi)^{2}/p}", "one sample's factor", positive=True
)
schur = _define(
    r"\mathbb{E}\frac{\kappa^{2}\mu_{1}^{2}}{1+V}-(\mathbb{E}\frac{\kappa\mu_{0}\mu_{1}}{1+V})^{2}"
    r"/\mathbb{E}\frac{\mu_{0}^{2}}{1+V}",
    "what m leaves of zeta's own coefficient",
    nonnegative=True,
)

# The spectrum without an integral (Appendix F and beyond).
features_log_det = _define(
    r"\frac{1}{p}\ln\det(\tfrac{1}{p}\Phi^\top\Phi+\lambda)", "log-determinant of the features, without their outliers"
)


TABLE: tuple[Entry, ...] = _TABLE.entries

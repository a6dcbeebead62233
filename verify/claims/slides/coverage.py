"""Which formulas of the slides the ledger covers: frame by frame, each formula with the claims that decide on it.

A formula that is printed as we state it or wrongly has a printed claim; one that only fixes notation is a definition
and names the claim that uses it. Nothing is listed without a claim.
"""

from __future__ import annotations

from onestep.verify.protocol.paper import DEFINITION, Formula


def _f(frame: str, says: str, *claims: str, remark: str = "") -> Formula:
    return Formula(frame, says, claims, remark)


_SETTING, _INIT, _LIMITS = "Setting", "Initialisation", "Limitations of random features"
_EQUIVALENCE, _CONVEX = "Gaussian equivalence", "Saddle point of random features"
_STEP, _LEARN = "One step of GD", "What one step learns"
_MAP, _CONDITIONAL, _RESULT = "Mapping to spiked features", "Conditional GEP", "Main result"
_EXACT, _BOUNDS, _NOTE = "Exact asymptotics", "Bounds on the risk", "A note on initialisation"
_RATE, _IDEAS = "Complementary regime", "Main ideas"

FORMULAS: tuple[Formula, ...] = (
    _f(
        _SETTING,
        "labels y = f*(x) + z with noise of variance Delta",
        "result-3-1.spike-strength-noisy",
        remark=DEFINITION,
    ),
    _f(_SETTING, "inputs of covariance 1/d", "slides.input-scale", "section-2.input-scale"),
    _f(_SETTING, "the network with 1/sqrt(p)", "section-2.gradient-step", remark=DEFINITION),
    _f(_SETTING, "empirical risk over both layers", "section-2.gradient-step", remark=DEFINITION),
    _f(_INIT, "ridge readout with 1/(2n)", "slides.same-ridge", "section-2.ridge-of-the-slides"),
    _f(_INIT, "kernel of random features as a mean over neurons", "slides.kernel", "random-features.kernel"),
    _f(
        _LIMITS,
        "error of random features is the norm of a part of the target",
        "slides.error-of-random-features",
        "random-features.many-samples",
        "no-spike.floor",
        remark="for n, p = Theta(d); other powers of d are a cited theorem that is not tested here",
    ),
    _f(_LIMITS, "inputs on the unit sphere", "slides.unit-sphere", "section-2.unit-sphere"),
    _f(_LIMITS, "target as theta.x plus a non-linear rest", "slides.linear-part", "random-features.linear-part"),
    _f(_LIMITS, "Hermite series of a feature", "slides.hermite-series", "hermite.parseval"),
    _f(_LIMITS, "terms of the series of order d^(-k/2)", "slides.order-of-terms", "random-features.hermite-covariance"),
    _f(_LIMITS, "coefficients E[He_k sigma]", "slides.hermite-series", remark=DEFINITION),
    _f(_LIMITS, "mu* with its root", "slides.mu-star", "random-features.mu-star"),
    _f(_LIMITS, "a feature as mu0 + mu1 w.x + mu* xi", "wider.gep.input-covariance", "wider.gep.covariance-gap"),
    _f(
        _EQUIVALENCE,
        "the equivalent ridge problem, noise z_i",
        "slides.one-noise-for-all",
        "random-features.independent-noise",
    ),
    _f(_EQUIVALENCE, "|R - R_G| -> 0", "wider.gep.before-step"),
    _f(
        _CONVEX,
        "conjugate of q_s",
        "slides.convex.V-s-hat",
        "convex-features.V-s-hat",
        "convex-features.any-loss.V-s-hat",
    ),
    _f(
        _CONVEX,
        "conjugate of V_s",
        "slides.convex.q-s-hat",
        "convex-features.q-s-hat",
        "convex-features.any-loss.q-s-hat",
    ),
    _f(
        _CONVEX,
        "conjugate of m_s",
        "slides.convex.m-s-hat",
        "convex-features.m-s-hat",
        "convex-features.any-loss.m-s-hat",
    ),
    _f(
        _CONVEX,
        "conjugate of q_w",
        "slides.convex.V-w-hat",
        "convex-features.V-w-hat",
        "convex-features.any-loss.V-w-hat",
    ),
    _f(
        _CONVEX,
        "conjugate of V_w",
        "slides.convex.q-w-hat",
        "convex-features.q-w-hat",
        "convex-features.any-loss.q-w-hat",
    ),
    _f(_CONVEX, "V_s", "slides.convex.V-s", "convex-features.V-s", "convex-features.any-loss.V-s"),
    _f(_CONVEX, "q_s", "slides.convex.q-s", "convex-features.q-s", "convex-features.any-loss.q-s"),
    _f(_CONVEX, "m_s", "slides.convex.m-s", "convex-features.m-s", "convex-features.any-loss.m-s"),
    _f(_CONVEX, "V_w", "slides.convex.V-w", "convex-features.V-w", "convex-features.any-loss.V-w"),
    _f(_CONVEX, "q_w", "slides.convex.q-w", "convex-features.q-w", "convex-features.any-loss.q-w"),
    _f(_CONVEX, "g_mu of the matrix W W^T", "slides.convex.V-w-wide-spectrum", "convex-features.V-w"),
    _f(_CONVEX, "proximal map eta", "convex.proximal-point", remark=DEFINITION),
    _f(_CONVEX, "density Z of a label and V0, Q, M, omega_0, omega_1", "convex-features.m-s-hat", remark=DEFINITION),
    _f(_CONVEX, "mu* without its root", "slides.mu-star-without-root", "random-features.mu-star"),
    _f(_CONVEX, "test error over a Gaussian pair", "slides.convex.test-error", "convex-features.test-error"),
    _f(_CONVEX, "training objective", "slides.convex.training", "convex-features.training-objective"),
    _f(_STEP, "the gradient step over n", "slides.step-over-n", "section-2.gradient-step"),
    _f(_STEP, "eta of order one: equivalence; of order d: more", "slides.one-convention", "wider.rate.threshold"),
    _f(_LEARN, "multi-index target, readout uniform in sign", "wider.leap.second-order", remark=DEFINITION),
    _f(
        _LEARN, "overlap of a neuron with a direction tends to zero", "wider.leap.share-below-one", "wider.leap.theorem"
    ),
    _f(
        _LEARN, "Hermite expansion of a target of several directions", "slides.second-order", "multi-index.second-order"
    ),
    _f(_LEARN, "z1 + z1 z2 + z1 z2 z3 has leap one", "wider.leap.staircase", "wider.leap.index.staircase"),
    _f(_LEARN, "He_k has leap k", "wider.leap.single-hermite"),
    _f(_LEARN, "z1 z2 z3 z4 has leap four", "wider.leap.product-of-four"),
    _f(
        _LEARN,
        "Theorem 1: share c polylog(d) d^(-min(1, delta)/2)",
        "wider.leap.theorem",
        "wider.leap.share-below-one",
        "wider.leap.share-beyond-one",
        remark="exponents are confirmed; probabilities and powers of log d are not tested",
    ),
    _f(
        _LEARN,
        "Theorem 2: overlap at least X_i",
        "slides.overlap-without-modulus",
        "wider.leap.printed-every-direction",
        "wider.leap.share-enough",
        remark="exponents are confirmed; the law of X_i is not tested",
    ),
    _f(_LEARN, "Theorem 2: eta = p d^((l-1)/2)", "wider.leap.step", "slides.step-of-long-rows"),
    _f(_LEARN, "Theorem 2: outside the leap space d^(-1/2)", "wider.leap.leap-space"),
    _f(_LEARN, "Theorem 2: the projections span the leap space", "wider.leap.span"),
    _f(_MAP, "n, p, gamma of order d", "slides.gamma-of-order-d", "result-3-1.alignment-order"),
    _f(_MAP, "step as W + u v + Delta", "slides.bulk-correction", "result-3-1.split"),
    _f(_MAP, "u = eta mu1 a", "slides.spike-factor", "result-3-1.spike-factor"),
    _f(_MAP, "v with sigma - mu1", "slides.spike-coordinate", "result-3-1.spike-coordinate"),
    _f(_MAP, "a = 1_p", "slides.readout-of-ones", "slides.spike-of-ones", "result-3-1.spike-order"),
    _f(_MAP, "W + r u v with u in d dimensions", "slides.spike-entries", "result-3-1.spike-entries"),
    _f(_MAP, "spike strength r", "slides.spike-strength", "result-3-1.spike-strength"),
    _f(_MAP, "bulk variance c", "slides.bulk-variance", "result-3-1.bulk-variance"),
    _f(_MAP, "alignment", "slides.alignment", "result-3-1.alignment"),
    _f(_MAP, "check-mu of the bulk", "slides.check-constant", "result-3-1.check-constant"),
    _f(_CONDITIONAL, "conditional equivalent map", "slides.equivalent-mean", "slides.no-overlap", "slides.unit-rows"),
    _f(_CONDITIONAL, "x = kappa theta + rest", "slides.split-along-target", "result-3-2.split"),
    _f(_CONDITIONAL, "mu0 of sign", "slides.sign-mu0"),
    _f(_CONDITIONAL, "mu1 of sign", "slides.sign-mu1"),
    _f(_CONDITIONAL, "mu2 of sign", "slides.sign-mu2", "result-3-2.sign-mu2"),
    _f(_RESULT, "test error as an average over a new input", "slides.output-without-root-p", "slides.test-error"),
    _f(_RESULT, "test error in order parameters", "slides.test-error"),
    _f(_RESULT, "m, q1, q2", "result-3-3.test-error-as-printed", remark=DEFINITION),
    _f(_RESULT, "zeta over sqrt(d p)", "slides.zeta-over-root-d", "result-3-3.spike-overlap"),
    _f(_EXACT, "V1", "slides.V1"),
    _f(_EXACT, "V2", "slides.V2"),
    _f(_EXACT, "m", "slides.m"),
    _f(_EXACT, "zeta", "slides.zeta"),
    _f(_EXACT, "psi", "slides.psi"),
    _f(_EXACT, "q1", "slides.q1"),
    _f(_EXACT, "q2", "slides.q2"),
    _f(_EXACT, "conjugate of q1, with rho", "slides.V1-hat-with-rho"),
    _f(_EXACT, "conjugate of q2, with rho", "slides.V2-hat-with-rho"),
    _f(_EXACT, "conjugate of zeta", "slides.zeta-hat"),
    _f(_EXACT, "conjugate of psi", "slides.psi-hat-without-rho"),
    _f(_EXACT, "conjugate of V1", "slides.q1-hat-with-rho"),
    _f(_EXACT, "conjugate of V2", "slides.q2-hat-with-rho"),
    _f(
        _EXACT,
        "the joint law nu",
        "slides.law-of-singular-values",
        "slides.law-without-null-modes",
        "slides.law-of-unit-projections",
    ),
    _f(
        _EXACT,
        "ratios alpha0, alpha, beta, eta~, kappa, rho, gamma",
        "result-3-2.target-across-spike",
        remark=DEFINITION,
    ),
    _f("Batch size", "level of the best linear predictor", "slides.best-linear-predictor", "result-3-1.linear-floor"),
    _f(_BOUNDS, "monotone in the batch", "slides.monotone-in-batch", "result-3-1.alignment-growth"),
    _f(_BOUNDS, "upper bound", "slides.upper-bound", "slides.upper-bound-any-batch", "bounds.upper"),
    _f(_BOUNDS, "lower bound with kappa", "slides.lower-bound", "bounds.lower"),
    _f(_BOUNDS, "lower bound without kappa", "slides.lower-bound-without-kappa", "bounds.lower"),
    _f(_BOUNDS, "distance from span(mu0, mu1')", "slides.span-with-derivative", "slides.distance-not-squared"),
    _f(_BOUNDS, "tighter by optimising over eta~", "bounds.upper-over-rate", "bounds.lower-over-rate"),
    _f(_NOTE, "the map for a finite vocabulary", "appendix-d.equivalent-map", "appendix-d.letter-scaling"),
    _f(_NOTE, "the richer basis with mu1'", "slides.span-with-derivative"),
    _f(_NOTE, "limit of large lambda, alpha0 and eta~", "slides.single-neuron-limit", "result-3-2.strong-spike"),
    _f(
        _RATE,
        "eta = Theta(d^s), 1/2 < s < 1",
        "wider.rate.norm",
        "wider.rate.margin",
        "wider.rate.count",
        "wider.rate.spikes",
        "wider.rate.conventions",
    ),
    _f(_IDEAS, "features as mu0 + mu1 W x + mu* xi, letter by letter", "slides.equivalent-mean", "slides.unit-rows"),
    _f(
        _IDEAS,
        "block-structured resolvent with K x K matrices",
        "slides.pattern-rows",
        "finite-alphabet.pattern-rows",
        "appendix-d.block.tau",
    ),
)

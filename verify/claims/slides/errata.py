"""What does not hold as our sources have it, whether an error in the conversion of the source to text could explain
that, and where they normalise, name or read something in another way than this suite: the
printed claim, the claim of ours, and what the difference changes for a reader.

Which formulas are wrong or of another convention is not decided here: see `verify.ledger.errata`.
"""

from __future__ import annotations

from giantsteps.verify.protocol.paper import Erratum


def _erratum(name: str, corrected: str, conversion: str, consequence: str) -> Erratum:
    return Erratum(f"erratum.{name}", f"slides.{name}", corrected, consequence, conversion)


def _convention(name: str, ours: str, consequence: str) -> Erratum:
    return Erratum(f"convention.{name}", f"slides.{name}", ours, consequence)


ERRATA: tuple[Erratum, ...] = (
    # The gradient step and the mapping.
    _erratum("step-over-n", "section-2.gradient-step",
             "A lost subscript would explain it.",
             "The batch average is over n0 samples; divided by n the step would depend on how much data the readout "
             "sees later."),
    _erratum("spike-factor", "result-3-1.spike-factor",
             "No: a factor is missing.",
             "A factor sqrt(p) in the spike: without it the spike is not of the order of the bulk."),
    _erratum("spike-coordinate", "result-3-1.spike-coordinate",
             "No: a factor stands there that does not belong.",
             "The spike direction is the plain average of y x. As printed, a vector over neurons stands where a "
             "number is needed."),
    _erratum("bulk-correction", "result-3-1.split",
             "A lost prime would explain it.",
             "The bulk correction is made of sigma' minus its mean; with sigma it is not even centred as the proof "
             "needs."),
    _erratum("spike-strength", "result-3-1.spike-strength",
             "In part: a lost square would explain what is under the root, but not the fraction p/d in place of d/p.",
             "Wider networks have weaker spikes, not stronger ones, and r depends on the square of h1*: predictions "
             "of the printed formula are off by factors of two and more at beta near one."),
    _erratum("alignment", "result-3-1.alignment",
             "A lost square would explain it.",
             "The alignment tends to one for large batches only with the square; as printed it stops short, or "
             "exceeds one."),
    _erratum("check-constant", "result-3-1.check-constant",
             "No: a factor z stands where sigma has its prime.",
             "The constant of the bulk is a property of sigma': it is zero for a linear activation, as it has to be."),
    _erratum("bulk-variance", "result-3-1.bulk-variance",
             "No: a factor stands there that does not belong.",
             "The bulk grows without the factor h1^2; mu0, mu1 and mu2 all take c as an argument."),
    # The map along the spike.
    _erratum("equivalent-mean", "result-3-2.equivalent-mean",
             "No: the mark of the part across the direction would have been added, not lost.",
             "The equivalent map keeps kappa mu1 w.v, of leading order for a trained readout."),
    _erratum("split-along-target", "result-3-2.split",
             "No: one direction is named in place of another.",
             "Inputs split along the spike v, not along the target: the two differ at every finite batch."),
    _erratum("sign-mu2", "result-3-2.sign-mu2",
             "A lost square on the left would explain it; c is 1 in the example.",
             "What is printed for mu2 is its square, at c = 1; used as it stands it underestimates the noise of "
             "features."),
    # Random features.
    _erratum("error-of-random-features", "random-features.many-samples",
             "One sign read as another, greater for at most, would explain it.",
             "The error is the norm of what is not learned. As printed a linear target would be the hardest."),
    _erratum("best-linear-predictor", "result-3-1.linear-floor",
             "One sign read as another, greater for at most, would explain it.",
             "The level to beat in the figures is h2* - h1*^2, not h1*^2."),
    _erratum("mu-star-without-root", "random-features.mu-star",
             "A lost square or root would explain it.",
             "The saddle point takes the root; without it the noise of features of small residual is underestimated."),
    _erratum("convex.V-s-hat", "convex-features.V-s-hat",
             "No: a term is missing, in two formulas alike.",
             "As printed a loss that is ignored (eta = omega) would constrain the readout most."),
    _erratum("convex.V-w-hat", "convex-features.V-w-hat",
             "No: a term is missing, in two formulas alike.",
             "The same slip in the conjugate of q_w: both are needed for a solver."),
    _erratum("convex.q-s", "convex-features.q-s",
             "A lost square would explain it.", "A square of the conjugate is lost; the equation has wrong units."),
    _erratum("convex.q-w", "convex-features.q-w",
             "No: a sign and a factor are missing.",
             "A sign and a factor d/p: as printed |a|^2 shrinks with the signal, and can become negative."),
    # The saddle point of Result 3.3.
    _erratum("law-of-singular-values", "finite-bulk.V1",
             "A lost square would explain it.", "The law nu is one of squared singular values."),
    _erratum("law-without-null-modes", "finite-bulk.V2",
             "No: the sum ends at the smaller of p and d.",
             "With more neurons than inputs V2 misses the share 1 - 1/beta of the null modes."),
    _erratum("V1-hat-with-rho", "result-3-3.saddle.V1-hat",
             "No: a factor stands there that does not belong, in two formulas alike.",
             "The factor rho = 1 - gamma^2 would switch the response off at perfect alignment."),
    _erratum("V2-hat-with-rho", "result-3-3.saddle.V2-hat",
             "No: a factor stands there that does not belong, in two formulas alike.", "As in the conjugate of q1."),
    _erratum("q1-hat-with-rho", "result-3-3.saddle.q1-hat",
             "No: one factor is missing in a whole group of formulas.",
             "One factor 1/rho is lost in this group of equations; with it the numerator is the mean squared error."),
    _erratum("q2-hat-with-rho", "result-3-3.saddle.q2-hat",
             "No: one factor is missing in a whole group of formulas.", "As in the conjugate of V1."),
    _erratum("psi-hat-without-rho", "result-3-3.slides.psi-hat",
             "No: one factor is missing in a whole group of formulas.",
             "The same lost factor: psi comes out rho times too small."),
    # Bounds.
    _erratum("lower-bound-without-kappa", "bounds.lower",
             "A lost letter would explain it.",
             "With mu1 for kappa mu1 and odd functions the lower bound coincides with the upper one."),
    _erratum("span-with-derivative", "bounds.distance",
             "A tilde read as a prime would explain it.",
             "The second function of the span is kappa mu1; its derivative form is right for erf and sign alone."),
    _erratum("monotone-in-batch", "result-3-1.alignment-growth",
             "No: it is a sentence.",
             "More samples for the step align the spike, but need not lower the error: a linear target is best "
             "learned without a step."),
    # Orders, shapes, signs.
    _erratum("spike-entries", "result-3-1.spike-entries",
             "One letter read as another, d for p, would explain it.",
             "u has one entry per neuron, v one per input: the spike is the outer product r u v^T."),
    _erratum("distance-not-squared", "bounds.distance",
             "A lost square would explain it.",
             "The bound is the squared distance of the target from the span."),
    # Several directions.
    _erratum("second-order", "multi-index.second-order",
             "No: products of second Hermite polynomials stand there.",
             "The second Hermite tensor couples different directions as z_i z_j: a product z_1 z_2 has leap two, not "
             "four."),
    _erratum("overlap-without-modulus", "wider.leap.signed-overlap",
             "Lost bars of a norm would explain it.",
             "Neurons with a negative readout move away from what the others move towards: the theorems bound the "
             "norm of a projection, not a signed overlap with one direction."),
)

CONVENTIONS: tuple[Erratum, ...] = (
    _convention("input-scale", "section-2.input-scale",
             "Inputs have coordinates of variance one. With variance 1/d every preactivation vanishes and all "
             "features become linear."),
    _convention("readout-of-ones", "section-2.initial-output",
             "A readout of ones makes the initial output of order one and the step sqrt(p) times larger; the theory "
             "needs ones over sqrt(p)."),
    _convention("no-overlap", "result-3-3.isotropic.zeta",
             "The order parameter zeta of the test error exists only with that term."),
    _convention("unit-rows", "result-3-2.conditional-variance",
             "mu1 multiplies the bulk row after the step, of variance c: with the row before it features lose "
             "variance."),
    _convention("single-neuron-limit", "result-3-2.conditional-variance",
             "A large ridge silences the readout's response, not the noise of the features; a strong spike does the "
             "latter, and leaves one function for all letters of one sign."),
    _convention("order-of-terms", "random-features.hermite-term",
             "Higher terms do not become small: they decorrelate between neurons, which is why they act as noise."),
    _convention("linear-part", "random-features.linear-part",
             "The part that random features learn is h1* theta.x; with coefficient one the rest is not orthogonal to "
             "it."),
    _convention("convex.V-w-wide-spectrum", "convex-features.V-w",
             "The spectrum is that of the d x d matrix: with the one named, null modes are counted twice."),
    _convention("same-ridge", "section-2.ridge-of-the-slides",
             "The ridge of the printed objective is not that of the printed saddle point: they differ by 2 n/p."),
    _convention("law-of-unit-projections", "finite-bulk.spike-resolvent",
             "Projections need a factor sqrt(d); without it zeta and psi vanish in the limit."),
    _convention("zeta-over-root-d", "result-3-3.spike-overlap",
             "With a unit spike direction zeta has no factor 1/sqrt(d); with it, it vanishes in the limit."),
    _convention("output-without-root-p", "result-3-3.spike-overlap",
             "The order parameters belong to the output a.sigma(W x)/sqrt(p); without the factor zeta would be a.W v."),
    _convention("upper-bound-any-batch", "bounds.upper-any-alignment",
             "At a finite batch the error can exceed the printed bound, by factors."),
    _convention("unit-sphere", "section-2.unit-sphere",
             "The Hermite series of a feature needs arguments of variance one: the sphere of radius sqrt(d)."),
    _convention("step-of-long-rows", "wider.leap.step-of-long-rows",
             "In units of the first frame, inputs of variance 1/d, the step of Theorem 2 has to be d times longer; "
             "the theorem is for inputs of variance one and unit rows."),
    _convention("spike-of-ones", "result-3-1.spike-order",
             "A spike of order one needs the readout ones over sqrt(p): with ones a step of order d is sqrt(d) times "
             "too long."),
    _convention("gamma-of-order-d", "result-3-1.alignment-order",
             "The learning rate is of order d; gamma is the alignment, a cosine."),
    _convention("one-noise-for-all", "random-features.independent-noise",
             "The noise of equivalent features is a vector of p independent entries; the label noise has the same "
             "letter."),
    _convention("one-convention", "wider.rate.conventions",
             "Where eta of order d is the giant step, plain equivalence holds up to eta of order sqrt(d), not of "
             "order one."),
    _convention("pattern-rows", "finite-alphabet.pattern-rows",
             "The matrices of the block-structured resolvent are p x p; K x K is their pattern of blocks."),
    Erratum(
        "reading.orthogonal-zeta",
        "appendix-d.orthogonal.zeta-without-feedback",
        "appendix-d.orthogonal.zeta",
        "W Pi W^T lacks the direction W v of the signal, which therefore feeds back on itself; without that term the "
        "overlap measured on finite networks is missed.",
    ),
    Erratum(
        "reading.orthogonal-output-variance",
        "appendix-d.orthogonal.output-variance-without-feedback",
        "appendix-d.orthogonal.output-variance",
        "The output's variance at given kappa has no share from the spike: counted there it enters the error twice.",
    ),
    Erratum(
        "convention.every-direction",
        "wider.leap.printed-every-direction",
        "wider.leap.leap-space",
        "One step learns the space of the first non-zero Hermite tensor and nothing beyond it: a direction outside it "
        "keeps the overlap of a random neuron.",
    ),
)

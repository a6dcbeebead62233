"""What the slides print about the gradient step and the equivalent map, where it differs from the derivation.

Each claim has the checks of its right counterpart and the statement of the slides, in the notation of this suite:
eta is the slides' learning rate over d, n_B is n0, mu_1 is h1.
"""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime
from giantsteps.verify.claims.equivalence import result_3_2 as section_3_2
from giantsteps.verify.claims.gradient_step import result_3_1 as section_3_1
from giantsteps.verify.claims.gradient_step import setting as section_2
from giantsteps.verify.claims.gradient_step import spike as appendix_a
from giantsteps.verify.claims.slides.printed import convention, printed
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.statement import eq

_root = sp.sqrt(s.h2_star / s.alpha0 + s.h1_star)
# E[(sigma(z) z - h1)^2], the slides' definition of the constant in c
_slides_check = Expectation(s.z**2 * sigma(s.z) ** 2, s.z) - s.h1**2

_STEP_FRAME, _RESULT_FRAME = "One gradient step", "Spiked random features"

CLAIMS: tuple[Claim, ...] = (
    printed(
        section_2.GRADIENT, "step-over-n", "The step divided by the number of readout samples", _STEP_FRAME,
        section_2.GRADIENT.statement.xreplace({s.n0: s.n}),
        wrong={"uphill": -section_2.GRADIENT.statement.rhs},
        note="The mean is over the batch of the gradient step, n0 samples, not over the n samples of the readout.",
    ),
    convention(
        section_2.INITIAL_OUTPUT, "readout-of-ones", "The initial output with a readout of ones", _STEP_FRAME,
        eq(s.initial_output_square, s.h2),
        wrong={"h1^2": s.h1**2},
        note="With a = 1_p the output is of order one and may not be dropped; the derivation has a = 1_p/sqrt(p).",
    ),
    convention(
        section_2.SLIDES_RIDGE, "same-ridge", "The penalty of the ridge objective taken for that of the saddle point",
        "Ridge readout", eq(s.ridge, s_free.slides_ridge),
        wrong={"without the 2": s_free.slides_ridge * s.n / s.p},
        note="The printed objective belongs to lambda = 2 lambda_slides n/p in the slides' own saddle point.",
    ),
    printed(
        appendix_a.SPIKE_FACTOR, "spike-factor", "The neuron's factor of the spike, a root of the width short",
        _RESULT_FRAME, eq(s.spike_factor, s.eta * s.d * s.h1 / sp.sqrt(s.p)),
        note="The gradient carries a/sqrt(p) with a = 1/sqrt(p).",
    ),
    printed(
        appendix_a.SPLIT, "bulk-correction", "The bulk correction with sigma - h1", _RESULT_FRAME,
        appendix_a.SPLIT.statement.replace(sigma_prime, sigma),
        note="The gradient holds sigma', whose mean is h1.",
    ),
    printed(
        section_3_1.SPIKE, "spike-strength", "The spike strength as printed", _RESULT_FRAME,
        eq(s.r, s.eta * s.beta * s.h1 * _root),
        wrong={"the width alone corrected": s.eta / s.beta * s.h1 * _root},
        note="A square is lost under the root, and the width stands on the wrong side: wider networks have weaker "
             "spikes.",
    ),
    printed(
        section_3_1.ALIGNMENT, "alignment", "The alignment as printed", _RESULT_FRAME, eq(s.gamma, s.h1_star / _root),
        wrong={"always one": sp.S.One},
        note="With a square lost under the root it does not tend to one as the batch grows.",
    ),
    printed(
        section_3_1.BULK, "bulk-variance", "The bulk variance as printed", _RESULT_FRAME,
        eq(s.c, 1 + s.eta**2 / s.beta**2 * s.h1**2 * s.h2_star / s.alpha0 * _slides_check),
        wrong={"rows keep their norm": sp.S.One},
        note="A factor h1^2 too many, and z sigma in place of sigma' in the constant.",
    ),
    printed(
        section_3_2.EQUIVALENT_MEAN, "equivalent-mean", "The equivalent map without kappa mu1 w.v",
        "Conditional Gaussian equivalence", eq(s_map.feature_mean, s.mu0),
        wrong={"kappa forgotten": s.mu0 + s.spike_overlap * s.mu1},
        note="Without the term there is no overlap zeta in the test error; x splits along v, not along theta.",
    ),
)

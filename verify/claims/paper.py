"""This paper as data: arXiv 2402.04980, the slides about it and the papers beside it."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.bounds import symbols as s_bounds
from onestep.derivations.bulk import symbols as s_bulk
from onestep.derivations.equivalence import symbols as s_map
from onestep.derivations.free_energy import symbols as s_free
from onestep.derivations.gradient_step import symbols as s_step
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import symbols as s_saddle
from onestep.derivations.spectrum import symbols as s_spectrum
from onestep.verify.claims.slides.coverage import FORMULAS
from onestep.verify.claims.slides.errata import CONVENTIONS, ERRATA
from onestep.verify.claims.sources import ARXIV
from onestep.verify.protocol.paper import Chapter, Document, Paper

# One module per part of the paper, in the order of the paper.
MODULES = (
    "onestep.verify.claims.gradient_step.setting",
    "onestep.verify.claims.gradient_step.result_3_1",
    "onestep.verify.claims.equivalence.hermite_orders",
    "onestep.verify.claims.gradient_step.spike",
    "onestep.verify.claims.gradient_step.bulk",
    "onestep.verify.claims.equivalence.result_3_2",
    "onestep.verify.claims.equivalence.appendix_b",
    "onestep.verify.claims.equivalence.sign_activation",
    "onestep.verify.claims.slides.step",
    "onestep.verify.claims.saddle_point.definitions",
    "onestep.verify.claims.saddle_point.replicas",
    "onestep.verify.claims.saddle_point.result_3_3",
    "onestep.verify.claims.saddle_point.worked_value",
    "onestep.verify.claims.saddle_point.free_energy",
    "onestep.verify.claims.saddle_point.any_loss",
    "onestep.verify.claims.saddle_point.dropped_terms",
    "onestep.verify.claims.saddle_point.leave_one_out",
    "onestep.verify.claims.saddle_point.spectral_measure",
    "onestep.verify.claims.saddle_point.one_solution",
    "onestep.verify.claims.slides.saddle_point",
    "onestep.verify.claims.random_features.no_spike",
    "onestep.verify.claims.slides.features",
    "onestep.verify.claims.slides.convex",
    "onestep.verify.claims.random_features.any_loss",
    "onestep.verify.claims.slides.result",
    "onestep.verify.claims.slides.map",
    "onestep.verify.claims.slides.orders",
    "onestep.verify.claims.bounds.ridge",
    "onestep.verify.claims.bounds.any_loss",
    "onestep.verify.claims.slides.bounds",
    "onestep.verify.claims.bounds.closed_form",
    "onestep.verify.claims.letters.uniform_bias",
    "onestep.verify.claims.bounds.tanh_tails",
    "onestep.verify.claims.equivalence.closed_forms",
    "onestep.verify.claims.random_features.limits",
    "onestep.verify.claims.networks.rows",
    "onestep.verify.claims.networks.bulk",
    "onestep.verify.claims.networks.headline",
    "onestep.verify.claims.networks.small_batch",
    "onestep.verify.claims.networks.any_rows",
    "onestep.verify.claims.networks.any_bulk",
    "onestep.verify.claims.networks.any_letters",
    "onestep.verify.claims.gradient_step.overlapping_rows",
    "onestep.verify.claims.gradient_step.overlapping_bulk",
    "onestep.verify.claims.letters.free_energy",
    "onestep.verify.claims.letters.saddle_point",
    "onestep.verify.claims.letters.orthogonal",
    "onestep.verify.claims.letters.letter_density",
    "onestep.verify.claims.networks.letters",
    "onestep.verify.claims.networks.exact",
    "onestep.verify.claims.networks.readout",
    "onestep.verify.claims.letters.letter_limit",
    "onestep.verify.claims.letters.spike_directions",
    "onestep.verify.claims.spectrum.covariance",
    "onestep.verify.claims.spectrum.log_determinant",
    "onestep.verify.claims.equivalence.plain",
    "onestep.verify.claims.gradient_step.leap",
    "onestep.verify.claims.gradient_step.leap_theorem",
    "onestep.verify.claims.gradient_step.rate",
)

# Parts of the theory that stand together, in the order of the paper.
CHAPTERS: tuple[Chapter, ...] = (
    Chapter("gradient-step", "The gradient step", ("section-2", "hermite", "result-3-1", "alignment")),
    Chapter("equivalence", "The equivalent map along the spike", ("result-3-2",)),
    Chapter(
        "free-energy", "Replicas and the free energy", ("definitions", "replicas", "convex", "dropped", "leave-one-out")
    ),
    Chapter(
        "saddle-point",
        "The saddle point",
        ("result-3-3", "spectral", "finite-bulk", "one-solution", "no-spike", "vanishing-spike", "invariance"),
    ),
    Chapter("random-features", "Random features and convex losses", ("random-features", "convex-features")),
    Chapter("bounds", "Bounds and closed forms", ("bounds", "closed-form")),
    Chapter(
        "letters",
        "Readouts of several values, spikes of several directions",
        ("appendix-d", "finite-alphabet", "letter-density", "spike-directions"),
    ),
    Chapter("spectrum", "The spectrum of the features", ("appendix-f",)),
    Chapter("network-bulk", "The network's own bulk", ("beyond", "headline")),
    Chapter("leap", "Higher leaps and other learning rates", ("wider", "multi-index")),
    Chapter("slides", "The slides as printed", ("slides",)),
)

SOURCES = (
    Document(
        ARXIV,
        "Asymptotics of feature learning in two-layer networks after one gradient-step",
        "H. Cui, L. Pesce, Y. Dandi, F. Krzakala, Y. M. Lu, L. Zdeborová, B. Loureiro, arXiv 2402.04980",
    ),
    Document(
        "slides",
        "Learning features with two-layer neural networks, one step at a time",
        "slides of B. Loureiro, DIMACS Workshop on Modeling Randomness in Neural Network Training, Rutgers University, "
        "June 2024",
        FORMULAS,
    ),
    Document(
        "arXiv 2305.18270",
        "How Two-Layer Neural Networks Learn, One (Giant) Step at a Time",
        "Y. Dandi, F. Krzakala, B. Loureiro, L. Pesce, L. Stephan, arXiv 2305.18270",
    ),
    Document(
        "arXiv 2310.07891",
        "A Theory of Non-Linear Feature Learning with One Gradient Step in Two-Layer Neural Networks",
        "B. Moniri, D. Lee, H. Hassani, E. Dobriban, arXiv 2310.07891",
    ),
    Document("this suite", "Beyond the sources", "formulas of this suite"),
)

# Symbols that are easily taken for each other, and ratios that are easily forgotten.
SIBLINGS: tuple[tuple[sp.Symbol, sp.Expr], ...] = (
    (s.h1, s.h2),
    (s.h1_star, s.h2_star),
    (s.q1, s.q2),
    (s.V1, s.V2),
    (s.V1_hat, s.V2_hat),
    (s.q1_hat, s.q2_hat),
    (s.beta, sp.S.One),
    (s.alpha0, sp.S.One),
    (s.c, sp.S.One),
)

PAPER = Paper(
    name=ARXIV,
    equations=range(1, 192),
    symbols=(
        *s.SHARED, *s_step.TABLE, *s_map.TABLE, *s_free.TABLE, *s_saddle.TABLE, *s_bounds.TABLE, *s_bulk.TABLE,
        *s_spectrum.TABLE,
    ),
    growing=frozenset({s.d, s.n, s.n0, s.p}),
    siblings=SIBLINGS,
    exchanged=((s.alpha, s.beta),),
    averaged=frozenset({s.kappa}),
    modules=MODULES,
    chapters=CHAPTERS,
    sources=SOURCES,
    errata=ERRATA,
    conventions=CONVENTIONS,
)

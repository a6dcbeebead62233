"""This paper as data: arXiv 2402.04980, the slides about it and the papers beside it."""

from __future__ import annotations

from pathlib import Path

import sympy as sp

from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.gradient_step import symbols as s_step
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.derivations.several_steps import symbols as s_several
from giantsteps.derivations.spectrum import symbols as s_spectrum
from giantsteps.verify.claims.slides.coverage import FORMULAS
from giantsteps.verify.claims.slides.errata import CONVENTIONS, ERRATA
from giantsteps.verify.claims.sources import ARXIV
from giantsteps.verify.protocol.paper import Chapter, Document, Paper

# One module per part of the paper, in the order of the paper.
MODULES = (
    "giantsteps.verify.claims.gradient_step.setting",
    "giantsteps.verify.claims.gradient_step.result_3_1",
    "giantsteps.verify.claims.equivalence.hermite_orders",
    "giantsteps.verify.claims.gradient_step.spike",
    "giantsteps.verify.claims.gradient_step.bulk",
    "giantsteps.verify.claims.equivalence.result_3_2",
    "giantsteps.verify.claims.equivalence.appendix_b",
    "giantsteps.verify.claims.equivalence.sign_activation",
    "giantsteps.verify.claims.slides.step",
    "giantsteps.verify.claims.saddle_point.definitions",
    "giantsteps.verify.claims.saddle_point.replicas",
    "giantsteps.verify.claims.saddle_point.result_3_3",
    "giantsteps.verify.claims.saddle_point.worked_value",
    "giantsteps.verify.claims.saddle_point.free_energy",
    "giantsteps.verify.claims.saddle_point.any_loss",
    "giantsteps.verify.claims.saddle_point.dropped_terms",
    "giantsteps.verify.claims.saddle_point.leave_one_out",
    "giantsteps.verify.claims.saddle_point.spectral_measure",
    "giantsteps.verify.claims.saddle_point.one_solution",
    "giantsteps.verify.claims.slides.saddle_point",
    "giantsteps.verify.claims.random_features.no_spike",
    "giantsteps.verify.claims.slides.features",
    "giantsteps.verify.claims.slides.convex",
    "giantsteps.verify.claims.random_features.any_loss",
    "giantsteps.verify.claims.slides.result",
    "giantsteps.verify.claims.slides.map",
    "giantsteps.verify.claims.slides.orders",
    "giantsteps.verify.claims.bounds.ridge",
    "giantsteps.verify.claims.bounds.any_loss",
    "giantsteps.verify.claims.slides.bounds",
    "giantsteps.verify.claims.bounds.closed_form",
    "giantsteps.verify.claims.letters.uniform_bias",
    "giantsteps.verify.claims.bounds.tanh_tails",
    "giantsteps.verify.claims.equivalence.closed_forms",
    "giantsteps.verify.claims.random_features.limits",
    "giantsteps.verify.claims.networks.rows",
    "giantsteps.verify.claims.networks.bulk",
    "giantsteps.verify.claims.networks.headline",
    "giantsteps.verify.claims.networks.small_batch",
    "giantsteps.verify.claims.networks.any_rows",
    "giantsteps.verify.claims.networks.any_bulk",
    "giantsteps.verify.claims.networks.any_letters",
    "giantsteps.verify.claims.gradient_step.overlapping_rows",
    "giantsteps.verify.claims.gradient_step.overlapping_bulk",
    "giantsteps.verify.claims.several_steps.step",
    "giantsteps.verify.claims.several_steps.consequences",
    "giantsteps.verify.claims.letters.free_energy",
    "giantsteps.verify.claims.letters.saddle_point",
    "giantsteps.verify.claims.letters.orthogonal",
    "giantsteps.verify.claims.letters.letter_density",
    "giantsteps.verify.claims.networks.letters",
    "giantsteps.verify.claims.networks.exact",
    "giantsteps.verify.claims.networks.readout",
    "giantsteps.verify.claims.letters.letter_limit",
    "giantsteps.verify.claims.letters.spike_directions",
    "giantsteps.verify.claims.spectrum.covariance",
    "giantsteps.verify.claims.spectrum.log_determinant",
    "giantsteps.verify.claims.equivalence.plain",
    "giantsteps.verify.claims.gradient_step.leap",
    "giantsteps.verify.claims.gradient_step.leap_theorem",
    "giantsteps.verify.claims.gradient_step.rate",
)

# Parts of the theory that stand together, in the order of the paper.
CHAPTERS: tuple[Chapter, ...] = (
    Chapter("gradient-step", "The gradient step", ("section-2", "hermite", "result-3-1", "alignment"), "Hermite sums"),
    Chapter("equivalence", "The equivalent map along the spike", ("result-3-2",), "Result 3.2"),
    Chapter(
        "free-energy",
        "Replicas and the free energy",
        ("definitions", "replicas", "convex", "dropped", "leave-one-out"),
        "steps of the free energy",
    ),
    Chapter(
        "saddle-point",
        "The saddle point",
        ("result-3-3", "spectral", "finite-bulk", "one-solution", "no-spike", "vanishing-spike", "invariance"),
    ),
    Chapter("random-features", "Random features and convex losses", ("random-features", "convex-features")),
    Chapter("bounds", "Bounds and closed forms", ("bounds", "closed-form"), "the limit of a heavy ridge"),
    Chapter(
        "letters",
        "Readouts of several values, spikes of several directions",
        ("appendix-d", "finite-alphabet", "letter-density", "spike-directions"),
        "Appendix D's definitions",
    ),
    Chapter("spectrum", "The spectrum of the features", ("appendix-f",)),
    Chapter("network-bulk", "The network's own bulk", ("beyond", "headline"), "the network's own bulk"),
    Chapter("several-steps", "Several gradient steps", ("several-steps",)),
    Chapter("leap", "Higher leaps and other learning rates", ("wider", "multi-index"), "rates of long steps"),
    Chapter("slides", "The slides as printed", ("slides",)),
)

SOURCES = (
    Document(
        ARXIV,
        "Asymptotics of feature learning in two-layer networks after one gradient-step",
        "H. Cui, L. Pesce, Y. Dandi, F. Krzakala, Y. M. Lu, L. Zdeborová, B. Loureiro, arXiv 2402.04980",
        had="reconstructed from the text of the paper; the printed formula was not available",
    ),
    Document(
        "slides",
        "Learning features with two-layer neural networks, one step at a time",
        "slides of B. Loureiro, DIMACS Workshop on Modeling Randomness in Neural Network Training, Rutgers University, "
        "June 2024",
        FORMULAS,
        "as the text of the slides has it, which a machine made from a PDF",
    ),
    Document(
        "arXiv 2305.18270",
        "How Two-Layer Neural Networks Learn, One (Giant) Step at a Time",
        "Y. Dandi, F. Krzakala, B. Loureiro, L. Pesce, L. Stephan, arXiv 2305.18270",
        had="reconstructed; the printed formula was not available",
    ),
    Document(
        "arXiv 2310.07891",
        "A Theory of Non-Linear Feature Learning with One Gradient Step in Two-Layer Neural Networks",
        "B. Moniri, D. Lee, H. Hassani, E. Dobriban, arXiv 2310.07891",
        had="reconstructed; the printed formula was not available",
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
        *s_several.TABLE, *s_spectrum.TABLE,
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
    pages="giantsteps.reports.built_in.pages",
    ledger=Path(__file__).parents[2] / "reports" / "ledger.json",
)

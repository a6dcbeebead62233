"""Wrong signs, factors and terms in the rules of derivations, each with the claims that have to fall."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from giantsteps.derivations.bounds import arcsines, heavy_ridge
from giantsteps.derivations.bounds import closed_form as bounds_closed_form
from giantsteps.derivations.bounds import leaves as bounds_leaves
from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.bulk import (
    any_activation,
    blocks,
    letter_poles,
    marchenko_pastur,
    network,
    network_rows,
    overlapping_bulk,
    two_batch_matrices,
)
from giantsteps.derivations.bulk import letters as letter_bulk
from giantsteps.derivations.closed_forms import (
    arcsine_law,
    examples,
    gaussian_means,
    heat_equation,
    semigroup,
    sign_activation,
)
from giantsteps.derivations.equivalence import conditional, hermite_features, spike_coefficients
from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.free_energy import (
    convex_loss,
    dropped_terms,
    envelopes,
    readout_normalisation,
    replica_gaussians,
    replicas,
    sample_energy,
)
from giantsteps.derivations.free_energy import ridge as free_energy
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.free_energy.along_spike import mu1
from giantsteps.derivations.free_energy.leaves import updated_form
from giantsteps.derivations.gradient_step import (
    bulk,
    constants,
    hermite_tensors,
    intermediate_rate,
    leap_scaling,
    orders,
    overlapping_rows,
    spike,
)
from giantsteps.derivations.gradient_step import symbols as s_step
from giantsteps.derivations.kernel.algebra import assume, instantiate
from giantsteps.derivations.kernel.search.leaves import define
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Assumption, Equation, Ground, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Vanishing
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import repeated, sgn, sigma
from giantsteps.derivations.saddle_point import (
    any_law,
    conventions,
    directions,
    equations,
    leave_one_out,
    letter_energy,
    letters,
)
from giantsteps.derivations.saddle_point import network as network_readout
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import isotropic, orthogonal
from giantsteps.derivations.saddle_point.random_features import (
    convex,
    no_spike,
    one_system,
    plain_equivalence,
    square_loss,
    vanishing_spike,
)
from giantsteps.derivations.spectrum import log_determinant, resolvent, small_bulk
from giantsteps.verify.closed_forms import proof
from tests.planting.errors import Plant


def _differences(count: sp.Expr, equal: sp.Expr, different: sp.Expr) -> sp.Expr:
    """Pairs of different samples counted negatively."""
    return (repeated(count, equal) - repeated(count * (count - 1), different)) / count**2


def _backwards(order: int, variable: sp.Expr) -> sp.Expr:
    """A wrong sign in the recurrence of the Hermite polynomials."""
    before, now = sp.S.Zero, sp.S.One
    for k in range(order):
        before, now = now, sp.expand(variable * now + k * before)
    return now


def _repelled(moments: tuple[Theorem, ...]) -> tuple[Theorem, ...]:
    """A wrong sign of the first moment, E[kappa y0]."""
    left, right = sides(moments[0].statement)
    return assume((), Assumption(Ground.MODEL, "wrong", Equation(left, -right), "")), *moments[1:]


def _heat_backwards(candidate: sp.Expr) -> Vanishing:
    """A wrong sign in the heat equation."""
    c, x = heat_equation.c, heat_equation.x
    return Vanishing("the heat equation, wrong sign", sp.diff(candidate, c) + sp.diff(candidate, x, 2) / 2)


# fmt: off
GRADIENT_STEP = (
    Plant(spike, "READOUT_OF_ONES", lambda right: define(s_step.readout_weight, -value(right), "a wrong sign"),
          ("result-3-1.split", "result-3-1.spike-strength")),
    Plant(spike, "over_pairs", lambda _: _differences,
          ("result-3-1.spike-norm-exact", "result-3-1.spike-norm", "result-3-1.spike-strength",
           "result-3-1.alignment", "result-3-1.spike-concentration")),
    Plant(bulk, "over_pairs", lambda _: _differences, ("result-3-1.row-correction-exact",)),
    Plant(constants, "H1", lambda right: define(s_step.h1, -value(right), "a wrong sign"),
          ("result-3-1.first-coefficient",)),
    Plant(constants, "H2_STAR", lambda right: define(s_step.h2_star, 2 * value(right), "twice the second moment"),
          ("result-3-1.linear-floor",)),
    # The readout of equation (4) taken for sqrt(p) times shorter, not longer, than the slides'.
    Plant(readout_normalisation, "rescaled_objectives",
          lambda right: lambda: (right()[0], right()[1].subs(s.ridge, s.ridge / s.p**2)),
          ("section-2.ridge-of-the-slides",)),
    Plant(leap_scaling, "hermite_given_target",
          lambda right: lambda order, overlaps: right(order, overlaps) * (-1) ** (order // 2 + order),
          ("wider.leap.signal-two", "wider.leap.signal-three")),
    Plant(leap_scaling, "samples", lambda right: lambda shortfall: right(-shortfall),
          ("wider.leap.share-below-one",)),
    Plant(leap_scaling, "exponent_of", lambda right: lambda name, size, *given: right(name, 1 / size, *given),
          ("wider.leap.signal-rate", "wider.leap.noise-rate", "wider.leap.step")),
    Plant(hermite_tensors, "hermite", lambda _: _backwards, ("wider.leap.second-order",)),
    Plant(intermediate_rate, "hermite", lambda _: _backwards, ("wider.rate.carries-2", "wider.rate.carries-3")),
    Plant(intermediate_rate, "STRENGTH", lambda right: define(s_step.r, 1 / value(right), "a spike that grows"),
          ("wider.rate.norm", "wider.rate.threshold")),
    Plant(orders, "WIDTH", lambda right: define(s_step.p, value(right) ** 2, "a width of order d^2"),
          ("result-3-1.spike-order",)),
    Plant(overlapping_rows, "residual", lambda right: lambda: right() + overlapping_rows.output(overlapping_rows._t),
          ("beyond.overlapping-rows-bulk",)),
    Plant(overlapping_rows, "length_square", lambda right: lambda *given: 2 * right(*given),
          ("beyond.overlapping-rows-spike", "beyond.overlapping-rows-bulk")),
    Plant(overlapping_bulk, "put_in", lambda right: lambda own, beside, G: right(own, beside, (-G[0], G[1], G[2])),
          ("beyond.overlapping-rows-sample",)),
)

EQUIVALENCE = (
    Plant(conditional, "ROWS", lambda right: define(s_map.row_product, -value(right), "a wrong sign"),
          ("result-3-2.projected-rows",)),
    Plant(conditional, "UNIT_TARGET", lambda right: define(s_map.gamma, value(right), "alignment for its square"),
          ("result-3-2.target-across-spike",)),
    # The variance grows by what is lost to the spike direction.
    Plant(conditional, "feature_mean_at", lambda _: lambda overlap: Expectation(
              sigma(s.kappa * (s.r + overlap) + sp.sqrt(s.c + overlap**2) * s.z), s.z),
          ("result-3-2.conditional-mean", "result-3-2.mean-to-second-order", "result-3-2.means-match")),
    Plant(spike_coefficients, "MU1", lambda right: define(s_map.mu1, -value(right), "a wrong sign"),
          ("result-3-2.mu1-by-stein", "result-3-2.slope-of-mu0")),
    Plant(spike_coefficients, "linear_of", lambda right: lambda: -right(), ("result-3-2.mu1-to-first-order",)),
    Plant(conditional, "received", lambda right: lambda variable: -right(variable),
          ("result-3-2.covariance-to-first-order", "result-3-2.covariances-match")),
    Plant(sign_activation, "sign_at", lambda _: lambda argument: assume(
              (), Assumption(Ground.MODEL, "wrong", Equation(sigma(argument), -sgn(argument)), "", frozenset({s.z}))),
          ("result-3-2.sign-mu0", "result-3-2.sign-mu1", "result-3-1.sign-first-coefficient")),
    Plant(sign_activation, "next_ratio", lambda right: lambda ratio: -right(ratio),
          ("result-3-1.sign-partial-sums", "result-3-1.sign-diverges")),
    Plant(plain_equivalence, "second_input", lambda right: lambda overlap: -right(overlap),
          ("wider.gep.input-covariance",)),
    Plant(plain_equivalence, "target_moments", lambda right: lambda: _repelled(right()),
          ("wider.gep.after-step-learned", "wider.gep.after-step-error", "wider.gep.after-step-floor")),
    Plant(hermite_features, "hermite", lambda _: _backwards, ("slides.hermite-series",)),
)

SADDLE_POINT = (
    Plant(sample_energy, "moreau_objective", lambda right: lambda: right().subs(s.residual, -s.residual),
          ("result-3-3.moreau-minimiser", "result-3-3.moreau-envelope")),
    Plant(sample_energy, "common_field", lambda right: lambda first, second: right(first, second).subs(s.psi, -s.psi),
          ("result-3-3.local-field-mean",)),
    Plant(sample_energy, "label", lambda right: lambda: -right(), ("result-3-3.energetic-term",)),
    Plant(free_energy, "along_spike", lambda _: lambda x: updated_form(x, x, x, x, s.V1_hat),
          ("result-3-3.sherman-morrison", "result-3-3.entropic-term", "result-3-3.saddle.zeta",
           "result-3-3.saddle.q1", "appendix-f.zeta")),
    Plant(free_energy, "coupled", lambda right: lambda V, q, V_hat, q_hat: right(V, -q, V_hat, q_hat),
          ("result-3-3.trace-term", "result-3-3.saddle.V1-hat", "result-3-3.isotropic.q2")),
    Plant(free_energy, "form_of", lambda right: lambda *given: 2 * right(*given),
          ("result-3-3.entropic-term", "result-3-3.free-energy")),
    Plant(free_energy, "shares", lambda right: lambda singular, target: right(singular, sp.sqrt(3) * target),
          ("result-3-3.entropic-term", "result-3-3.free-energy", "result-3-3.saddle.psi")),
    Plant(free_energy, "exponent_per_neuron", lambda right: lambda samples, cost: right(samples / 2, cost),
          ("result-3-3.free-energy", "result-3-3.saddle.V1-hat")),
    # A factor too many in what concentration says.
    Plant(marchenko_pastur, "_trusted",
          lambda right: lambda name, left, form, *free: right(name, left, 2 * form, *free),
          ("result-3-3.marchenko-pastur-V1", "result-3-3.marchenko-pastur-V2", "result-3-3.spike-resolvent")),
    Plant(marchenko_pastur, "_gain", lambda right: right + 1,
          ("result-3-3.resolvent-square", "result-3-3.resolvent-mixed", "result-3-3.resolvent-double")),
    # Each sample costs what it does at twice the response.
    Plant(sample_energy, "averaged_log",
          lambda right: lambda fields: right(replace(fields, variance=fields.variance.subs(s.V1, 2 * s.V1))),
          ("result-3-3.energetic-term", "result-3-3.saddle.V1-hat", "result-3-3.saddle.q1-hat", "result-3-3.saddle.m")),
    Plant(equations, "local_field", lambda right: lambda: right().subs(s.psi, -s.psi),
          ("result-3-3.test-error", "result-3-3.training-error")),
    Plant(conventions, "define", lambda right: lambda name, meaning, why: right(name, 2 * meaning, why),
          ("result-3-3.slides.psi-hat", "result-3-3.slides.zeta", "result-3-3.test-error-as-printed")),
    Plant(replicas, "of_ones", lambda right: lambda own: (2 / own, right(own)[1]),
          ("replicas.inverse", "replicas.inverse-diagonal")),
    Plant(replicas, "entry", lambda right: lambda delta: right(delta) + s.shared_overlap, ("replicas.variance",)),
    Plant(replicas, "conjugate_entry", lambda right: lambda V, q, delta: right(-V, q, delta),
          ("replicas.conjugate-form",)),
    Plant(replicas, "field_force", lambda right: lambda coupling, on: 2 * right(coupling, on),
          ("replicas.decoupling", "replicas.entropic-mode")),
    Plant(envelopes, "distance", lambda right: lambda *given: 2 * right(*given),
          ("convex.proximal-point", "convex.moreau-slope", "convex.moreau-response", "convex.force-slope")),
    Plant(convex_loss, "shared_field", lambda right: lambda excess: right(excess).subs(s.psi, -s.psi),
          ("convex.energetic-term", "convex.saddle.V1-hat", "convex.saddle.psi-hat", "convex.conjugates",
           "result-3-3.saddle.psi-hat")),
    Plant(leave_one_out, "cavity_gap", lambda right: lambda: right().subs(s.psi, -s.psi),
          ("leave-one-out.q1-hat", "leave-one-out.q2-hat")),
    Plant(leave_one_out, "cavity_gap", lambda right: lambda: right().subs(s.zeta, -s.zeta),
          ("leave-one-out.zeta-hat", "leave-one-out.m")),
    Plant(leave_one_out, "residual_with",
          lambda right: lambda residual, response: right(residual, response) - residual / 2,
          ("leave-one-out.V1-hat", "leave-one-out.zeta-hat", "leave-one-out.psi-hat")),
    Plant(leave_one_out, "trace_of", lambda right: lambda first, second: right(first, -second),
          ("leave-one-out.q1", "leave-one-out.q2")),
    Plant(directions, "without_directions", lambda right: lambda x, y: right(x, y).xreplace({s.V1_hat: -s.V1_hat}),
          ("spike-directions.overlap-matrix",)),
    Plant(any_law, "component", lambda right: lambda projection: 2 * right(projection),
          ("spectral.spike-integral", "spectral.psi", "spectral.q2")),
    Plant(any_law, "without_spike", lambda right: lambda form, along: right(form, -along),
          ("spectral.q1", "spectral.q2")),
    Plant(dropped_terms, "terms_with_m_hat",
          lambda _: lambda: s_free.m_hat * s.m / sp.sqrt(s.p) + s_free.m_hat**2 * s_free.ones_resolvent / 2,
          ("dropped.m-hat-equation",)),
)

BOUNDS_AND_FEATURES = (
    Plant(heavy_ridge, "y0", lambda right: 2 * right, ("bounds.m-infinity", "bounds.error-infinity")),
    Plant(equations, "ONE_LETTER", lambda right: replace(right, m=(right.m[0] + 1,)), ("bounds.error-infinity",)),
    Plant(bounds_leaves, "BASIS", lambda right: {**right, s_bounds.b2: mu1}, ("bounds.distance",)),
    Plant(arcsines, "arcsine", lambda right: lambda first, second, argument: right(2 * first, second, argument),
          ("bounds.sign-norm", "bounds.erf-upper")),
    Plant(arcsine_law, "dilate", lambda right: lambda premises, *given: right(premises, *given[:2], given[2] / 2),
          ("bounds.erf-upper", "bounds.sign-norm", "bounds.sign-overlap", "bounds.sign-upper")),
    Plant(bounds_closed_form, "mean_of_erf", lambda right: lambda: instantiate((right(),), {s.c: 2 * s.c}),
          ("bounds.erf-perfect-spike", "bounds.erf-perfect-rate")),
    # A spike of another length.
    Plant(conventions, "_unit", lambda right: lambda square: right(2 * square),
          ("section-2.input-scale", "result-3-2.split")),
    Plant(no_spike, "OVERLAP", lambda right: define(s.M, -value(right), "a wrong sign"),
          ("no-spike.zeta", "no-spike.psi", "convex-features.square-loss.m-s")),
    Plant(no_spike, "SIZE", lambda right: define(s.Q1, value(right) + s.zeta**2, "what is along v twice"),
          ("no-spike.q1", "no-spike.test-error")),
    Plant(vanishing_spike, "SMALL",
          lambda right: (*right[1:], right[0]), ("vanishing-spike.m", "vanishing-spike.test-error")),
    Plant(conventions, "rescaled",
          lambda right: lambda expression, mapping: right(expression, {**mapping, s.zeta: -s.zeta}),
          ("invariance.activation", "invariance.target", "invariance.bulk")),
    Plant(small_bulk, "resolvent_of_modes", lambda _: lambda x: 1 / (s.ridge - s.V1_hat * x + s.V2_hat),
          ("finite-bulk.V2", "finite-bulk.V1", "finite-bulk.spike-resolvent")),
    Plant(convex, "entropic_trace", lambda right: lambda: -right(),
          ("convex-features.q-s", "convex-features.q-w", "convex-features.V-s")),
    Plant(convex, "coupled", lambda right: lambda V, q, V_hat, q_hat: right(V, q, -V_hat, q_hat),
          ("convex-features.V-s-hat", "convex-features.q-s")),
    # Another variance of theta.x, another ratio and twice the loss, in the dictionary of the two systems.
    Plant(convex, "UNIT_TARGET",
          lambda right: assume((), Assumption(Ground.MODEL, "wrong", Equation(sides(right.statement)[0], sp.Integer(4)),
                                              "|theta| = 2")),
          ("convex-features.any-loss.m-s-hat",)),
    Plant(one_system, "_per_dimension", lambda right: {**right, s.gamma_p: (s.p / s.d, "the wrong way round")},
          ("convex-features.any-loss.V-s-hat", "convex-features.square-loss.V-w")),
    Plant(square_loss, "SQUARE",
          lambda right: assume((), Assumption(Ground.MODEL, "wrong", Equation(
              sides(right.statement)[0], 2 * value(right)), "twice", frozenset(value(right).free_symbols))),
          ("convex-features.square-loss.V-s-hat", "convex-features.square-loss.m-s-hat")),
)

LETTERS = (
    # A wrong sign of what the rest takes off a row.
    Plant(blocks, "taken_off", lambda right: lambda at, a: -right(at, a), ("appendix-d.block.tau",)),
    Plant(blocks, "met_by", lambda right: lambda at, a, b: -right(at, a, b), ("appendix-d.block.T-own",)),
    Plant(isotropic, "overlap_form", lambda right: lambda a, b: -right(a, b), ("appendix-d.isotropic.q1",)),
    Plant(letter_energy, "of_conjugates",
          lambda _: lambda pairs, own, a, b: pairs[a][b] * letter_energy.GRAM[a][b] - (own[a] if a == b else 0),
          ("appendix-d.saddle.q1", "appendix-d.saddle.V2", "appendix-d.saddle.zeta")),
    Plant(isotropic, "isotropic_traces", lambda right: lambda: {name: -found for name, found in right().items()},
          ("appendix-d.isotropic.zeta", "appendix-d.isotropic.psi")),
    # A wrong sign of the rank-one term.
    Plant(orthogonal, "taken_out", lambda right: lambda first, second: -right(first, second),
          ("appendix-d.orthogonal.zeta",)),
    Plant(orthogonal, "across_spike", lambda _: lambda squares, along: squares + along**2,
          ("appendix-d.orthogonal.output-variance",)),
    Plant(letters, "letter_row", lambda _: lambda step: s.letter[0] ** 2 * step, ("appendix-d.row-norm",)),
    Plant(letters, "split_input", lambda _: lambda along, across: s.kappa * along - across, ("appendix-d.output",)),
)

SPECTRUM = (
    Plant(resolvent, "coupled", lambda right: lambda V, q, V_hat, q_hat: right(V, q, -V_hat, q_hat),
          ("appendix-f.free-entropy", "appendix-f.V1-hat", "appendix-f.stieltjes")),
    # A wrong sign on the sum of the replicas.
    Plant(replica_gaussians, "coupling", lambda _: lambda: s.mode_coupling, ("appendix-f.replicated-mode",)),
    Plant(log_determinant, "potential_of_rows", lambda right: lambda: right() + s.V1_hat,
          ("appendix-f.log-determinant",)),
    Plant(resolvent, "shared_field", lambda right: lambda: 2 * right(), ("appendix-f.free-entropy",)),
    Plant(resolvent, "ONE_LETTER", lambda right: replace(right, zeta=((-s.zeta,),)),
          ("appendix-f.free-entropy", "appendix-f.m")),
    Plant(resolvent, "gain", lambda right: -right, ("appendix-f.zeta-vanishes",)),
    Plant(resolvent, "projection", lambda right: -right, ("appendix-f.zeta-vanishes",)),
)

NETWORKS = (
    # Leave-one-out, Sherman-Morrison and Stein's lemma with a wrong sign.
    Plant(network, "removed", lambda _: lambda form, weight: form / (1 - weight * form),
          ("beyond.batch-trace", "beyond.batch-pair")),
    Plant(network, "without_spike",
          lambda right: lambda both, left, right_, own: 2 * both - right(both, left, right_, own),
          ("beyond.overlap-spike", "beyond.overlap-norm")),
    Plant(network_rows, "square_of_sum", lambda right: lambda freedom: right(freedom) + freedom,
          ("beyond.gaussian-norms",)),
    Plant(network_rows, "stein_step", lambda right: lambda *given: -right(*given), ("beyond.norm-along-target",)),
    Plant(network, "stein", lambda right: lambda premises, *given: right(premises, given[0], given[1], -given[2]),
          ("beyond.third-function",)),
    # A sample that counts twice, and fields, steps and blocks of another size or sign.
    Plant(network, "WITH_THIRD", lambda right: replace(right, shared=2 * right.shared), ("beyond.floor",)),
    Plant(network_rows, "STEP", lambda right: -right, ("beyond.large-batch",)),
    Plant(any_activation, "squared_length", lambda right: lambda *given: 2 * right(*given),
          ("beyond.any-norm-exact", "beyond.any-row-exact")),
    Plant(two_batch_matrices, "blocks_and_weight", lambda right: lambda label: (-right(label)[0], right(label)[1]),
          ("beyond.any-place-linear", "beyond.any-place-square")),
    Plant(two_batch_matrices, "_seen_by",
          lambda right: ((right[0][0], -right[0][1]), (-right[0][1], right[1][1])),
          ("beyond.any-letters.V1-own", "beyond.any-letters.V1-mixed")),
    Plant(two_batch_matrices, "_seen_along",
          lambda right: ((right[0][0], -right[0][1]), (-right[0][1], right[1][1])),
          ("beyond.any-letters.target-own", "beyond.any-letters.target-mixed")),
    # A letter that enters once too often.
    Plant(letter_bulk, "of_letter", lambda _: lambda e: e.subs(s.eta, s.letter[0] ** 2 * s.eta),
          ("beyond.groups.row-covariance", "beyond.groups.norm-variance")),
    Plant(letter_bulk, "filter_matrix", lambda _: lambda: (
              (blocks.IDENTITY - blocks.Theta * blocks.C).inv(method="ADJ").applyfunc(sp.factor)),
          ("beyond.groups.overlap-norm-own", "beyond.groups.overlap-norm-mixed")),
    Plant(letter_bulk, "woodbury", lambda right: lambda along, conjugate: right(-along, conjugate),
          ("beyond.groups.without-spike",)),
    Plant(letter_poles, "residue", lambda right: lambda numerator, here: right(numerator, 1 - here),
          ("beyond.groups.pole-trace", "beyond.groups.pole-form")),
    # A forgotten cross term of the readouts.
    Plant(network_readout, "NETWORK", lambda right: replace(right, psi=(s.psi_of[0], sp.S.Zero)),
          ("beyond.groups.test-error",)),
)

CLOSED_FORMS = (
    Plant(semigroup, "_boundary", lambda right: lambda shape, t: {atom: -k for atom, k in right(shape, t).items()},
          ("closed-form.relu-mu1", "closed-form.hardtanh-mu1")),
    Plant(semigroup, "_sign_average", lambda right: lambda sign, a, b: -right(sign, a, b),
          ("closed-form.erf-h1", "closed-form.erf-mu1")),
    Plant(proof, "heat_obligations", lambda right: lambda candidate, function: (
              _heat_backwards(candidate), *right(candidate, function)[1:]),
          ("closed-form.relu-mu0", "closed-form.sin-mu0")),
    # Twice the stretch, half the shift, twice the function.
    Plant(gaussian_means, "dilate", lambda right: lambda premises, *given: right(premises, *given[:2], given[2] / 2),
          ("closed-form.gaussian-mu0", "closed-form.erf-second-moment")),
    Plant(gaussian_means, "translate", lambda right: lambda premises, *given: right(premises, *given[:2], given[2] / 2),
          ("closed-form.relu-mu0", "closed-form.elu-mu0")),
    Plant(examples, "relu", lambda right: lambda v: 2 * right(v), ("closed-form.leaky-relu-mu0",)),
)
# fmt: on

PLANTS: tuple[Plant, ...] = (
    *GRADIENT_STEP, *EQUIVALENCE, *SADDLE_POINT, *BOUNDS_AND_FEATURES, *LETTERS, *SPECTRUM, *NETWORKS, *CLOSED_FORMS
)  # fmt: skip

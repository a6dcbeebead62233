"""Errors of plain random features with a convex loss: on a new input, and the training objective at the minimum."""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.envelopes import PLACES, proximal
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import named, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import any_loss, envelope, g
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features.convex import (
    FREE_ENERGY,
    HYPOTHESES,
    LABEL_VARIANCE,
    NAMES,
    SOURCE,
    at_Q_M_V,
    energetic,
    energy_meaning,
    entropic,
    eta,
    free_energy,
    in_resolvents,
    k1,
    k2,
    label,
    omega_1,
    output_first,
    over_labels,
    prox,
    proximal_map,
)

_y, _f = sp.symbols("y_0 f_0", real=True)
loss = sp.Function("loss", real=True)
pair_output = s.output_overlap * s.z + sp.sqrt(s.output_square - s.output_overlap**2) * s.xi  # with theta.x = z
_output = sp.Function("f", real=True)
_across, _noise = sp.symbols("z_1 z_2", real=True)


@functools.cache
def test_error() -> Derivation:
    """The square loss: the error of a Gaussian output correlated with theta.x is that of plain random features."""
    # What a readout makes of the input along theta, across it, and of the noise of the features.
    normals = (s.z, _across, _noise)
    output = define(
        _output(*normals),
        k1 * (s.M * s.z + sp.sqrt(s.Q1 - s.M**2) * _across) + k2 * sp.sqrt(s.q2) * _noise,
        "the output of the features on a new input: kappa_1 times the readout's overlap with it, and noise",
        *normals,
    )

    def averaged(name: sp.Symbol, integrand: sp.Expr, meaning: str) -> Theorem:
        return averages_expanded(rewritten(define(name, Expectation(integrand, *normals), meaning), output))

    f = _output(*normals)
    found = (
        averaged(s.output_square, f**2, "the variance of the output"),
        averaged(s.output_overlap, s.z * f, "its covariance with theta.x"),
        averaged(s.test_error, (g(s.z) - f) ** 2, "mean squared error on a new input"),
    )
    moments = Expectation(g(s.z) ** 2, s.z) - 2 * s.output_overlap * Expectation(s.z * g(s.z), s.z)
    result = concluded(Equation(s.test_error, moments + s.output_square), found[2], *found[:2])
    return Derivation(
        "test error of random features",
        SOURCE,
        proved("The output, by what the readout has of a new input.", output),
        proved("Its variance.", found[0]),
        proved("With theta.x.", found[1]),
        proved("Only E g^2 and E[z g] of the target enter the error, as in that of any such Gaussian pair.", found[2]),
        proved("By its variance and covariance.", result),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def least_energy() -> tuple[Theorem, ...]:
    """E at the overlaps: the loss at the proximal map, and V/2 times the mean square of the force."""
    here = rewrite((at_Q_M_V(rewrite((energy_meaning(), output_first(envelope)))), LABEL_VARIANCE), True)
    of_loss = define(loss(_y, _f), any_loss(_y, _f), "the loss of a label and an output", _y, _f)
    by_eta, *_ = proximal_map()
    at_prox = instantiate((proximal()[1],), dict(zip(PLACES, (_y, _f, s.V), strict=True)))
    by_name = rewrite((rewrite((at_prox, by_eta), True), instantiate((of_loss,), {_f: eta(_y, _f)})), True)
    inserted = rewrite((here, instantiate((by_name,), {_y: label, _f: omega_1})))
    parts = ((sp.Integer(1), loss(label, prox)), (s.V / 2, ((prox - omega_1) / s.V) ** 2))
    return of_loss, by_name, rewrite((inserted, linear((), value(inserted), parts)))


@functools.cache
def training() -> Derivation:
    """The stationary value per sample: alpha times the mean loss plus the penalty, all else cancels."""
    whole = free_energy()[-1]
    meaning = define(s.training_objective, FREE_ENERGY / s.alpha_p, "the stationary value, per sample")
    exact = named(rewritten(meaning, whole), *NAMES.values())
    exact = in_resolvents(rewritten(exact, least_energy()[-1]))
    hats, overlaps = energetic(), entropic()
    q_s_hat, q_w_hat = (hats.theorem_of(name) for name in (s.q_s_hat, s.q_w_hat))
    known = [overlaps.theorem_of(name) for name in (s.V_s, s.V_w, s.q_s, s.q_w, s.m_s)]
    pull = over_labels(((prox - omega_1) / s.V) ** 2)
    each, shared = s.gamma_p * s.V_s / s.alpha_p, s.V_w / s.alpha_p
    work = ring(
        (NAMES[s.V], q_s_hat, q_w_hat),
        Equation(s.V * pull, each * s.q_s_hat + shared * s.q_w_hat),
        (pull, -each, -shared),
    )
    mean_loss, half = over_labels(loss(label, prox)), sp.Rational(1, 2)
    shown = value(exact) - s.V * pull / 2 + value(work) / 2
    without = ring((exact, work), Equation(s.training_objective, shown), (sp.Integer(1), half))
    goal = mean_loss + s.ridge / (2 * s.alpha_p) * s.q_w
    result = concluded(Equation(s.training_objective, goal), without, *known)
    size = overlaps.theorem_of(s.q_w)
    return Derivation(
        "training objective of random features",
        SOURCE,
        *overlaps.steps,
        *each_proved("The energy of a sample at the proximal map.", least_energy()),
        proved("The free energy per sample.", exact),
        proved("What the force does on V is what the conjugates do on V_s and V_w.", work),
        proved("Moreau's envelope is (eta - f)^2/(2V) + l; tr[K S^-1] = tr[S S^-1 K S^-1] does the rest.", result),
        results=(result, size),
        hypotheses=HYPOTHESES,
    )

r"""Plain random features with a convex loss: the saddle point in the letters of the slides, derived.

Features kappa_1 F x/sqrt d + kappa_* xi, F (p, d) with Omega = F F^T/p; the readout minimises the sum over n samples of
l(y, f) plus lambda |a|^2/2. Per neuron, with (nu, f) Gaussian, Var nu = rho, Cov = M = kappa_1 m_s and
Var f = Q = kappa_1^2 q_s + kappa_*^2 q_w, the replica-symmetric free energy is

    alpha E[Moreau_V(y, f)] + gamma/2 (q_s^ V_s - V_s^ q_s) + (q_w^ V_w - V_w^ q_w)/2 + gamma m_s^ m_s
      - (1/2p) tr[((q_s^ + m_s^^2) Omega + q_w^) (lambda + V_w^ + V_s^ Omega)^-1],

alpha = n/p, gamma = d/p, V = kappa_1^2 V_s + kappa_*^2 V_w: the traces are over p neurons, of which d carry the law mu
of the d x d matrix F^T F/p and 1 - gamma (possibly negative) are null.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.assumptions import per_neuron, unfolded
from giantsteps.derivations.free_energy.envelopes import PLACES, envelope_slopes, proximal
from giantsteps.derivations.free_energy.ridge import cold_trace, coupled, fixed_overlap
from giantsteps.derivations.free_energy.sample_energy import LABEL_NOISE
from giantsteps.derivations.free_energy.stationarity import at_rest, derivative
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear, rotate, stein
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expanded
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import in_order, isolated, named, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import (
    PARTIALS,
    envelope,
    g,
    g_prime,
    proximal_point,
    with_partials,
    with_slopes,
)
from giantsteps.derivations.language.named_functions import force as force_of
from giantsteps.derivations.language.named_functions import force_slope as force_slope_of
from giantsteps.derivations.saddle_point import symbols as s

SOURCE = "slides, saddle point of random features"
HYPOTHESES = (
    "the replica-symmetric ansatz",
    "Gaussian equivalence of plain random features",
    "differentiation under the expectation; proximal map and its derivative of moderate growth",
)

k1, k2 = s.mu1_constant, s.mu2_constant
# The free energy of random features and its terms; the eigenvalue of F^T F/p by the label of its modes.
FREE_ENERGY, _trace_term, _entropic_term = (
    sp.Symbol(name, real=True) for name in (r"\Phi_{\mathrm{RF}}", r"\Psi_{t,\mathrm{RF}}", r"\Psi_{w,\mathrm{RF}}")
)
_trace_exponent, *_ = with_slopes("trace exponent of random features")
eigenvalue = sp.Function("varrho_F", nonnegative=True)(s.mode)
eta = sp.Function("eta", real=True)  # proximal map: argmin over x of (x - omega)^2/(2V) + l(y, x)
eta_prime = sp.Function("eta_prime", real=True)  # its derivative in omega

# nu = omega_0 + sqrt(V0) z and f = omega_1: one Gaussian pair written with two independent normal variables.
omega_0 = s.output_overlap / sp.sqrt(s.output_square) * s.xi
omega_1 = sp.sqrt(s.output_square) * s.xi
label = g(omega_0 + sp.sqrt(s.label_variance) * s.z)
prox, prox_slope = eta(label, omega_1), eta_prime(label, omega_1)


def over_labels(integrand: sp.Expr) -> sp.Expr:
    """E over xi and over y with density Z(y, omega_0)."""
    return Expectation(integrand, s.xi, s.z)


def over_spectrum(integrand: sp.Expr) -> sp.Expr:
    """Integral over the law mu of F^T F/p, as an expectation over a label of its modes."""
    return Expectation(integrand, s.mode)


energy = with_partials("E", 3)  # the average energy of a sample, a function of Q, M and V
_force, _target = sp.symbols("Xi T", real=True)
_ZERO = sp.Integer(0)
OVERLAPS = {
    s.output_square: k1**2 * s.q_s + k2**2 * s.q_w,
    s.output_overlap: k1 * s.m_s,
    s.V: k1**2 * s.V_s + k2**2 * s.V_w,
}
PARTNERS = {s.V_s_hat: s.q_s, s.V_w_hat: s.q_w, s.q_s_hat: s.V_s, s.q_w_hat: s.V_w, s.m_s_hat: s.m_s}

shift = s.ridge + s.V_w_hat
resolvent = shift + s.V_s_hat * eigenvalue
ratio = shift / s.V_s_hat  # the z of the slides


def entropic_trace() -> sp.Expr:
    """(1/p) tr[((q_s^ + m_s^^2) Omega + q_w^) S^-1]: d modes with the law mu, p - d without an eigenvalue."""
    force = (s.q_s_hat + s.m_s_hat**2) * eigenvalue + s.q_w_hat
    return s.gamma_p * over_spectrum(force / resolvent) + (1 - s.gamma_p) * s.q_w_hat / shift


@functools.cache
def entropic_term() -> tuple[Theorem, Theorem]:
    """The entropic term, mode by mode: half the square of a force over the mode's curvature."""
    force = sp.sqrt(s.q_s_hat * eigenvalue + s.q_w_hat) * _force + s.m_s_hat * sp.sqrt(eigenvalue) * _target
    of_modes = Expectation(Expectation(force**2, _force, _target) / (2 * resolvent), s.mode)
    of_null = Expectation((sp.sqrt(s.q_w_hat) * _force) ** 2, _force)
    meaning = define(
        _entropic_term,
        s.gamma_p * of_modes + (1 - s.gamma_p) * of_null / (2 * shift),
        "least energy of the readout per neuron: in each of d modes a force of noise and of the target's component, in "
        "p - d null ones noise of the features alone",
    )
    squares = [expanded(average) for average in (Expectation(force**2, _force, _target), of_null)]
    found = rewritten(meaning, *(square for square in squares if square is not None))
    return meaning, concluded(Equation(_entropic_term, entropic_trace() / 2), found)


@functools.cache
def free_energy() -> tuple[Theorem, ...]:
    """The free energy by its three terms, as a function of overlaps and conjugates."""
    pairs = s.gamma_p * coupled(s.V_s, s.q_s, s.V_s_hat, s.q_s_hat), coupled(s.V_w, s.q_w, s.V_w_hat, s.q_w_hat)
    *_, trace = cold_trace((*pairs, s.gamma_p * fixed_overlap(s.m_s, s.m_s_hat)), _trace_exponent, _trace_term)
    cost = energy(*OVERLAPS.values())
    meaning = define(
        FREE_ENERGY,
        -per_neuron(_trace_term + _entropic_term - s.alpha_p * cost),
        "minus (1/(p R B)) ln E Z^R: the exponent at the saddle point",
    )
    whole = rewritten(unfolded(meaning), trace, entropic_term()[1])
    return *entropic_term(), trace, meaning, whole


@functools.cache
def stationary(variable: sp.Symbol, unknown: sp.Symbol) -> tuple[Theorem, Theorem]:
    """The slope of the free energy in ``variable``, and the value of ``unknown`` at which it vanishes."""
    rate = derivative(free_energy()[-1], variable)
    return rate, isolated(unknown, rewrite((rate, at_rest(rate))))


_Q, _V, _variance = sp.symbols("Q_0 V_0 rho_0", positive=True)
_M, _y, _f = sp.symbols("M_0 y_0 f_0", real=True)
NAMES = {name: define(name, meant, "an overlap of the output") for name, meant in OVERLAPS.items()}
LABEL_VARIANCE = define(
    s.label_variance, _variance - s.output_overlap**2 / s.output_square, "variance of theta.x given the output"
)


@functools.cache
def proximal_map() -> tuple[Theorem, ...]:
    """The proximal map at V and its derivative by name, and with them the force and its slope, at any label."""
    at = dict(zip(PLACES, (_y, _f, s.V), strict=True))
    names = (
        define(eta(_y, _f), proximal_point(_y, _f, s.V), "the proximal map at V", _y, _f),
        define(eta_prime(_y, _f), PARTIALS[proximal_point][1](_y, _f, s.V), "its derivative in the output", _y, _f),
    )
    *_, force = proximal()
    found = [instantiate((theorem,), at) for theorem in (force, differentiate((force,), PLACES[1]))]
    back = [isolated(value(name), name) for name in names]
    return *names, rewritten(found[0], back[0]), rewritten(found[1], back[1])


# V0 = rho - M^2/Q, theta.x = sqrt(rho) z and f = M z/sqrt(rho) + sqrt(Q V0/rho) xi; then rotated, f = sqrt(Q) xi.
_rest = sp.sqrt(_variance - _M**2 / _Q)
_cosine, _sine = _M / sp.sqrt(_variance * _Q), _rest / sp.sqrt(_variance)
_target_first = (g(sp.sqrt(_variance) * s.z), sp.sqrt(_Q) * (_cosine * s.z + _sine * s.xi), _V)
_output_first = (g(_M / sp.sqrt(_Q) * s.xi + _rest * s.z), sp.sqrt(_Q) * s.xi, _V)
_first, _turned = (force_of(*at) for at in (_target_first, _output_first))


@functools.cache
def energy_meaning(noise: sp.Expr = _ZERO) -> Theorem:
    """E(Q, M, V): an output of variance Q that has the covariance M with theta.x; with ``noise`` on the labels."""
    label_, output, V = _target_first
    variables = (s.z, s.xi, *sorted(noise.free_symbols & {LABEL_NOISE}, key=str))
    return define(
        energy(_Q, _M, _V),
        Expectation(envelope(label_ + noise, output, V), *variables),
        "the average least energy of a sample: theta.x and output of variances rho and Q and covariance M",
        _Q,
        _M,
        _V,
    )


def in_force(theorem: Theorem) -> Theorem:
    """``theorem`` with the slopes of the envelope, -f in the centre and -f^2/2 in V."""
    for slope_ in envelope_slopes():
        left, _ = sides(slope_.statement)
        for call in in_order(value(theorem), left.func):
            theorem = rewrite((theorem, instantiate((slope_,), dict(zip(left.args, call.args, strict=True)))))
    return theorem


def turned(integrand: sp.Expr, wanted: sp.Expr) -> Theorem:
    """The average of ``integrand``, theta.x first, as that of ``wanted``, the output first."""
    average = Expectation(integrand, s.z, s.xi)
    rotated = rotate((), average, (s.xi, s.z), ((_cosine, _sine), (_sine, -_cosine)))
    images = {s.z: _cosine * s.xi + _sine * s.z, s.xi: _sine * s.xi - _cosine * s.z}
    for before, after in ((_target_first[1], _output_first[1]), (_target_first[0].args[0], _output_first[0].args[0])):
        moved = before.xreplace(images)
        if moved != after:
            rotated = rewrite((rotated, ring((), Equation(moved, after))))
    return (
        rotated
        if value(rotated) == Expectation(wanted, s.xi, s.z)
        else rewrite((rotated, linear((), value(rotated), ((sp.Integer(1), wanted),))))
    )


def output_first(function: sp.FunctionClass) -> Theorem:
    """The average of a function of label, output and V, theta.x first, with the output first."""
    return turned(function(*_target_first), function(*_output_first))


@functools.cache
def slopes_target_first(noise: sp.Expr = _ZERO) -> tuple[Theorem, ...]:
    """dE/dQ, dE/dM and dE/dV as averages of the force, theta.x first, by Stein's lemma."""
    meaning = energy_meaning(noise)
    raw = [averages_expanded(in_force(differentiate((meaning,), x))) for x in (_Q, _M, _V)]
    label_, output, V = _target_first
    variables = value(meaning).variables
    force, slope_ = (of(label_ + noise, output, V) for of in (force_of, force_slope_of))
    by_parts = averages_expanded(stein((), Expectation(s.xi * force, *variables), s.xi, force))
    response = Expectation(slope_, *variables)
    along = Expectation(s.z * force, *variables)
    wanted = (
        -response / 2,
        _M / _variance * response - along / sp.sqrt(_variance),
        -Expectation(force**2, *variables) / 2,
    )
    return tuple(
        concluded(Equation(sides(theorem.statement)[0], right), theorem, by_parts)
        for theorem, right in zip(raw, wanted, strict=True)
    )


@functools.cache
def energy_slopes() -> tuple[Theorem, ...]:
    """The same with the output first, by a rotation: E[z' f] is the mixed derivative."""
    of_Q, of_M, of_V = slopes_target_first()
    slope_first, slope_turned = (force_slope_of(*at) for at in (_target_first, _output_first))
    along = turned(slope_first, slope_turned)
    in_Q = concluded(Equation(sides(of_Q.statement)[0], -value(along) / 2), of_Q, along)
    # E[z' f] and E[xi' f] share E[df/dy g'].
    on_z = averages_expanded(stein((), Expectation(s.z * _turned, s.xi, s.z), s.z, _turned))
    on_xi = averages_expanded(stein((), Expectation(s.xi * _turned, s.xi, s.z), s.xi, _turned))
    pull = Expectation(s.z * _turned, s.xi, s.z)
    common = Expectation(PARTIALS[force_of][0](*_output_first) * g_prime(*_output_first[0].args), s.xi, s.z)
    mixed = ring((on_z,), Equation(common, pull / _rest), (-1 / _rest,))
    moved = averages_expanded(turned(s.z * _first, (_cosine * s.xi + _sine * s.z) * _turned))
    in_M = concluded(Equation(sides(of_M.statement)[0], -pull / _rest), of_M, along, moved, on_xi, mixed)
    square = turned(_first**2, _turned**2)
    in_V = concluded(Equation(sides(of_V.statement)[0], -value(square) / 2), of_V, square)
    return in_Q, in_M, in_V


UNIT_TARGET = in_model("variance of theta.x", Equation(_variance, sp.Integer(1)), "|theta| = 1, and x is normal")


def at_Q_M_V(theorem: Theorem) -> Theorem:
    """What holds of the energy for any overlaps, at Q, M and V."""
    return instantiate((theorem,), {_Q: s.output_square, _M: s.output_overlap, _V: s.V})


def at_target(theorem: Theorem) -> Theorem:
    """A slope of the energy, theta.x first, at the overlaps Q, M and V and |theta| = 1."""
    return rewritten(at_Q_M_V(theorem), UNIT_TARGET)


def conjugate_by_energy(hat: sp.Symbol) -> Theorem:
    """A conjugate by a slope of the energy at Q, M and V."""
    return named(stationary(PARTNERS[hat], hat)[1], *NAMES.values())


@functools.cache
def at_overlaps() -> tuple[Theorem, ...]:
    """The same at the overlaps, in the proximal map at V."""
    found = []
    for theorem in energy_slopes():
        here = rewrite((at_Q_M_V(theorem), LABEL_VARIANCE), True)
        for known in proximal_map()[2:]:
            call = sides(known.statement)[0].xreplace({_y: label, _f: omega_1})
            if value(here).has(call):
                here = rewrite((here, instantiate((known,), {_y: label, _f: omega_1})))
        found.append(here)
    return tuple(found)


@functools.cache
def energetic() -> Derivation:
    """The conjugates V_s^, q_s^, m_s^, V_w^, q_w^: stationarity in q_s, V_s, m_s, q_w, V_w."""
    half, force = sp.Rational(1, 2), (prox - omega_1) / s.V
    by_square = half * over_labels((1 - prox_slope) / s.V)
    by_overlap = -over_labels(s.z * force) / sp.sqrt(s.label_variance)
    by_V = -half * over_labels(force**2)
    form = {
        s.V_s_hat: 2 * s.alpha_p / s.gamma_p * k1**2 * by_square,
        s.V_w_hat: 2 * s.alpha_p * k2**2 * by_square,
        s.q_s_hat: -2 * s.alpha_p / s.gamma_p * k1**2 * by_V,
        s.q_w_hat: -2 * s.alpha_p * k2**2 * by_V,
        s.m_s_hat: -s.alpha_p / s.gamma_p * k1 * by_overlap,
    }
    steps, found = [], {}
    for hat, partner in PARTNERS.items():
        rate, _ = stationary(partner, hat)
        found[hat] = concluded(Equation(hat, form[hat]), conjugate_by_energy(hat), *at_overlaps())
        steps.append(proved(f"The free energy differentiated in ${sp.latex(partner)}$, through Q, M and V.", rate))
        steps.append(proved("It vanishes at the saddle point.", found[hat]))
    return Derivation(
        "conjugates of random features, convex loss",
        SOURCE,
        proved("The energy of a sample, theta.x first.", energy_meaning()),
        proved("Moving Q at fixed M and rho, Stein's lemma leaves half of E d^2/df^2.", energy_slopes()[0]),
        proved("Moving M leaves the mixed derivative, which is E[z f]/sqrt(V0).", energy_slopes()[1]),
        proved("Moving V.", energy_slopes()[2]),
        *each_proved("The overlaps of the output.", NAMES.values()),
        *each_proved("The force in the proximal map.", proximal_map()),
        *each_proved("At the overlaps.", at_overlaps()),
        *steps,
        results=found.values(),
        hypotheses=HYPOTHESES,
    )


def in_resolvents(
    theorem: Theorem, of_mode: sp.Expr = eigenvalue, own: sp.Expr = shift, weight: sp.Expr = s.V_s_hat
) -> Theorem:
    """``theorem`` with every average over modes in powers of S = own + weight eigenvalue, whose eigenvalue it is."""
    S = sp.Dummy("S", positive=True)
    over_modes = [average for average in value(theorem).atoms(Expectation) if average.variables == (s.mode,)]
    for average in sorted(over_modes, key=sp.default_sort_key):
        integrand = average.integrand.xreplace({of_mode: (S - own) / weight})
        powers = sp.Poly(sp.expand(sp.cancel(sp.together(integrand))), S, 1 / S).terms()
        parts = tuple((sp.factor(c), (own + weight * of_mode) ** (up - down)) for (up, down), c in powers)
        if parts != ((1, average.integrand),):
            theorem = rewrite((theorem, linear((), average, parts)))
    return theorem


@functools.cache
def entropic() -> Derivation:
    """V_s, q_s, m_s, V_w, q_w: stationarity in the conjugates."""
    found, rates = {}, []
    for unknown, hat in PARTNERS.items():
        rate, solution = stationary(unknown, hat)
        rates.append(proved(f"The free energy differentiated in ${sp.latex(unknown)}$.", rate))
        found[hat] = in_resolvents(solution)
    transforms = {
        s.spectral_stieltjes: (over_spectrum(1 / (eigenvalue + ratio)), "(1/d) tr (F^T F/p + z)^-1, z = shift/V_s^"),
        s.spectral_slope: (over_spectrum(1 / (eigenvalue + ratio) ** 2), "minus its derivative in z"),
        # The p x p matrix F F^T/p has the same eigenvalues and p - d null ones.
        s.wide_stieltjes: (
            s.gamma_p * over_spectrum(1 / (eigenvalue + ratio)) + (1 - s.gamma_p) / ratio,
            "the same over the p x p matrix, which has the same eigenvalues and p - d null ones, or lacks them",
        ),
    }
    for name, (meaning, what) in transforms.items():
        found[name] = in_resolvents(define(name, meaning, what))
    *terms, whole = free_energy()
    return Derivation(
        "overlaps of random features, convex loss",
        SOURCE,
        *each_proved("A term of the free energy, or what it means.", terms),
        proved("The free energy in overlaps and conjugates.", whole),
        *rates,
        *(proved(f"${sp.latex(name)}$ in traces of the resolvent.", theorem) for name, theorem in found.items()),
        results=found.values(),
        hypotheses=HYPOTHESES,
    )

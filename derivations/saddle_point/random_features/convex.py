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

from onestep.derivations.free_energy.along_spike import varrho
from onestep.derivations.free_energy.leaves import per_neuron, saddle_point, unfolded
from onestep.derivations.free_energy.ridge import cold_trace, coupled, fixed_overlap
from onestep.derivations.kernel.algebra import rewrite
from onestep.derivations.kernel.averages import linear
from onestep.derivations.kernel.calculus import slope
from onestep.derivations.kernel.search import (
    averages_expanded,
    concluded,
    define,
    expanded,
    isolated,
    proved,
    rewritten,
    value,
)
from onestep.derivations.kernel.statements import Equation
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import g, with_partials
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.random_features import no_spike as random_features

SOURCE = "slides, saddle point of random features"
HYPOTHESES = (
    "the replica-symmetric ansatz",
    "Gaussian equivalence of plain random features",
    "differentiation under the expectation; proximal map and its derivative of moderate growth",
)

k1, k2 = s.mu1_constant, s.mu2_constant
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


# ---- the free energy ----

k = k1, k2
energy = with_partials("E", 3)  # the average energy of a sample, a function of Q, M and V
_force, _target = sp.symbols("Xi T", real=True)
OVERLAPS = {
    s.output_square: k1**2 * s.q_s + k2**2 * s.q_w,
    s.output_overlap: k1 * s.m_s,
    s.V: k1**2 * s.V_s + k2**2 * s.V_w,
}
PARTNERS = {s.V_s_hat: s.q_s, s.V_w_hat: s.q_w, s.q_s_hat: s.V_s, s.q_w_hat: s.V_w, s.m_s_hat: s.m_s}

shift = s.ridge + s.V_w_hat
resolvent = shift + s.V_s_hat * varrho
ratio = shift / s.V_s_hat  # the z of the slides


def products() -> sp.Expr:
    """gamma/2 (q_s^ V_s - V_s^ q_s) + (q_w^ V_w - V_w^ q_w)/2 + gamma m_s^ m_s."""
    pairs = s.gamma_p * (s.q_s_hat * s.V_s - s.V_s_hat * s.q_s) + s.q_w_hat * s.V_w - s.V_w_hat * s.q_w
    return pairs / 2 + s.gamma_p * s.m_s_hat * s.m_s


def entropic_trace() -> sp.Expr:
    """(1/p) tr[((q_s^ + m_s^^2) Omega + q_w^) S^-1]: d modes with the law mu, p - d without an eigenvalue."""
    force = (s.q_s_hat + s.m_s_hat**2) * varrho + s.q_w_hat
    return s.gamma_p * over_spectrum(force / resolvent) + (1 - s.gamma_p) * s.q_w_hat / shift


@functools.cache
def entropic_term() -> tuple[Theorem, Theorem]:
    """The entropic term, mode by mode: half the square of a force over the mode's curvature."""
    force = sp.sqrt(s.q_s_hat * varrho + s.q_w_hat) * _force + s.m_s_hat * sp.sqrt(varrho) * _target
    of_modes = Expectation(Expectation(force**2, _force, _target) / (2 * resolvent), s.mode)
    of_null = Expectation((sp.sqrt(s.q_w_hat) * _force) ** 2, _force)
    meaning = define(
        s.entropic_term,
        s.gamma_p * of_modes + (1 - s.gamma_p) * of_null / (2 * shift),
        "least energy of the readout per neuron: in each of d modes a force of noise and of the target's component, in "
        "p - d null ones noise of the features alone",
    )
    squares = [expanded(average) for average in (Expectation(force**2, _force, _target), of_null)]
    found = rewritten(meaning, *(square for square in squares if square is not None))
    return meaning, concluded(Equation(s.entropic_term, entropic_trace() / 2), found)


@functools.cache
def free_energy() -> tuple[Theorem, ...]:
    """The free energy by its three terms, as a function of overlaps and conjugates."""
    pairs = s.gamma_p * coupled(s.V_s, s.q_s, s.V_s_hat, s.q_s_hat), coupled(s.V_w, s.q_w, s.V_w_hat, s.q_w_hat)
    *_, trace = cold_trace((*pairs, s.gamma_p * fixed_overlap(s.m_s, s.m_s_hat)))
    cost = energy(*OVERLAPS.values())
    meaning = define(
        s.free_energy,
        -per_neuron(s.trace_term + s.entropic_term - s.alpha_p * cost),
        "minus (1/(p R B)) ln E Z^R: the exponent at the saddle point",
    )
    whole = rewritten(unfolded(meaning), trace, entropic_term()[1])
    return *entropic_term(), trace, meaning, whole


@functools.cache
def stationary(variable: sp.Symbol, unknown: sp.Symbol) -> tuple[Theorem, Theorem]:
    """The slope of the free energy in ``variable``, and the value of ``unknown`` at which it vanishes."""
    name = sp.Symbol(rf"\partial_{{{variable.name}}}\Phi", real=True)
    rate = slope((free_energy()[-1],), variable, name, f"the derivative of the free energy in {variable.name}")
    return rate, isolated(unknown, averages_expanded(rewrite((rate, saddle_point(name))), s.mode))


# ---- the energetic part ----


def gaussian_rotation(variable: sp.Symbol) -> dict[str, sp.Expr]:
    """d/dvariable E F(nu, f) by the chain rule and Stein's lemma: the weights of E F_nu,nu, E F_nu,f and E F_f,f."""
    target_variance = sp.Symbol("rho_0", positive=True)
    root = sp.sqrt(target_variance - s.output_overlap**2 / s.output_square)
    along, own = s.output_overlap / sp.sqrt(s.output_square), sp.sqrt(s.output_square)
    # nu = along xi + root z, f = own xi. Stein: E[xi F_nu] = along F_nu,nu + own F_nu,f and so on.
    d_along, d_root, d_own = (sp.diff(e, variable) for e in (along, root, own))
    return {"nu nu": d_along * along + d_root * root, "nu f": d_along * own + d_own * along, "f f": d_own * own}


# Partial derivatives of the Moreau envelope, by the envelope theorem: those of the objective at its minimiser.
def envelope_slopes() -> tuple[sp.Expr, sp.Expr]:
    """d/df and d/dV of (x - f)^2/(2V) + l at x = eta."""
    x, f = sp.symbols("x f", real=True)
    objective = (x - f) ** 2 / (2 * s.V) + sp.Function("l")(x)
    at = {x: prox, f: omega_1}
    return sp.diff(objective, f).subs(at), sp.diff(objective, s.V).subs(at)


# dE/dQ, dE/dM, dE/dV at the saddle point: first derivatives need no more of E than its linear part.
ENERGY_SLOPES = sp.symbols("E_Q E_M E_V", real=True)
PARTNERS = {s.V_s_hat: s.q_s, s.V_w_hat: s.q_w, s.q_s_hat: s.V_s, s.q_w_hat: s.V_w, s.m_s_hat: s.m_s}


def energy_in_overlaps() -> sp.Expr:
    """alpha E to first order in the overlaps, and the products of overlaps with their conjugates."""
    in_Q, in_M, in_V = ENERGY_SLOPES
    energy = in_Q * (k1**2 * s.q_s + k2**2 * s.q_w) + in_M * k1 * s.m_s + in_V * (k1**2 * s.V_s + k2**2 * s.V_w)
    return s.alpha_p * energy + products()


def products() -> sp.Expr:
    """gamma/2 (q_s^ V_s - V_s^ q_s) + (q_w^ V_w - V_w^ q_w)/2 + gamma m_s^ m_s."""
    pairs = s.gamma_p * (s.q_s_hat * s.V_s - s.V_s_hat * s.q_s) + s.q_w_hat * s.V_w - s.V_w_hat * s.q_w
    return pairs / 2 + s.gamma_p * s.m_s_hat * s.m_s


@functools.cache
def energetic() -> Derivation:
    """The conjugates V_s^, q_s^, m_s^, V_w^, q_w^: stationarity in q_s, V_s, m_s, q_w, V_w."""
    slope, in_V = envelope_slopes()
    square, overlap = gaussian_rotation(s.output_square), gaussian_rotation(s.output_overlap)
    second = -(prox_slope - 1) / s.V  # d/df of slope = -(eta - f)/V
    # E[d/dnu of slope] = E[z slope]/sqrt(V0), Stein's lemma in z at fixed xi.
    by_square = square["f f"] * over_labels(second)
    by_overlap = overlap["nu f"] * over_labels(s.z * slope) / sp.sqrt(s.label_variance)
    by_V = over_labels(in_V)
    results = {
        s.V_s_hat: 2 * s.alpha_p / s.gamma_p * k1**2 * by_square,
        s.V_w_hat: 2 * s.alpha_p * k2**2 * by_square,
        s.q_s_hat: -2 * s.alpha_p / s.gamma_p * k1**2 * by_V,
        s.q_w_hat: -2 * s.alpha_p * k2**2 * by_V,
        s.m_s_hat: -s.alpha_p / s.gamma_p * k1 * by_overlap,
    }
    half = sp.Rational(1, 2)
    slopes = energy_in_overlaps()
    moved = dict(zip(ENERGY_SLOPES, (by_square, by_overlap, by_V), strict=True))
    steps = (
        Step(
            "Moving Q at fixed M and rho: the chain rule and Stein's lemma leave half of E d^2/df^2.",
            eq(sp.Symbol("dE/dQ"), half * over_labels(second)),
            Vanishing("no second derivative in nu", square["nu nu"]),
            Vanishing("no mixed derivative", square["nu f"]),
            Vanishing("half of the second derivative in f", square["f f"] - half),
        ),
        Step(
            "Moving M leaves the mixed derivative.",
            eq(sp.Symbol("dE/dM"), by_overlap),
            Vanishing("no second derivative in nu", overlap["nu nu"]),
            Vanishing("the mixed derivative", overlap["nu f"] - 1),
            Vanishing("no second derivative in f", overlap["f f"]),
        ),
        Step(
            "The envelope of the loss has the derivatives of the objective at its minimiser.",
            eq(sp.Symbol("dE/dV"), by_V),
            Vanishing("in f", slope + (prox - omega_1) / s.V),
            Vanishing("in V", in_V + (prox - omega_1) ** 2 / (2 * s.V**2)),
        ),
        *(
            Step(
                f"Stationarity in ${sp.latex(partner)}$, by the chain rule through Q, M and V.",
                eq(hat, results[hat]),
                Vanishing(f"stationarity in {partner}", sp.diff(slopes, partner).subs(moved).subs(hat, results[hat])),
            )
            for hat, partner in PARTNERS.items()
        ),
    )
    return Derivation(
        "conjugates of random features, convex loss", SOURCE, *steps, results=results, hypotheses=HYPOTHESES
    )


# ---- the entropic part ----


def traces() -> dict[sp.Symbol, sp.Expr]:
    """V_s, V_w, q_s, q_w, m_s as traces: |F^T a|^2 and |a|^2 of a Gaussian readout S^-1 J."""
    force = (s.q_s_hat + s.m_s_hat**2) * varrho + s.q_w_hat
    return {
        s.V_s: over_spectrum(varrho / resolvent),
        s.V_w: s.gamma_p * over_spectrum(1 / resolvent) + (1 - s.gamma_p) / shift,
        s.q_s: over_spectrum(varrho * force / resolvent**2),
        s.q_w: s.gamma_p * over_spectrum(force / resolvent**2) + (1 - s.gamma_p) * s.q_w_hat / shift**2,
        s.m_s: s.m_s_hat * over_spectrum(varrho / resolvent),
    }


def in_resolvents(theorem: Theorem) -> Theorem:
    """``theorem`` with every average over the spectrum in powers of the resolvent: varrho = (S - shift)/V_s^."""
    S = sp.Dummy("S", positive=True)
    for average in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        integrand = average.integrand.xreplace({varrho: (S - shift) / s.V_s_hat})
        powers = sp.Poly(sp.expand(sp.cancel(sp.together(integrand))), S, 1 / S).terms()
        parts = tuple((sp.factor(c), resolvent ** (up - down)) for (up, down), c in powers)
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
        s.spectral_stieltjes: (over_spectrum(1 / (varrho + ratio)), "(1/d) tr (F^T F/p + z)^-1, z = shift/V_s^"),
        s.spectral_slope: (over_spectrum(1 / (varrho + ratio) ** 2), "minus its derivative in z"),
        # The p x p matrix F F^T/p has the same eigenvalues and p - d null ones.
        s.wide_stieltjes: (
            s.gamma_p * over_spectrum(1 / (varrho + ratio)) + (1 - s.gamma_p) / ratio,
            "the same over the p x p matrix, which has the same eigenvalues and p - d null ones, or lacks them",
        ),
    }
    for name, (meaning, what) in transforms.items():
        found[name] = in_resolvents(define(name, meaning, what))
    *terms, whole = free_energy()
    return Derivation(
        "overlaps of random features, convex loss",
        SOURCE,
        *(proved("A term of the free energy, or what it means.", term) for term in terms),
        proved("The free energy in overlaps and conjugates.", whole),
        *rates,
        *(proved(f"${sp.latex(name)}$ in traces of the resolvent.", theorem) for name, theorem in found.items()),
        results={name: value(theorem) for name, theorem in found.items()},
        hypotheses=HYPOTHESES,
    )


# ---- errors ----

loss = sp.Function("loss", real=True)
pair_output = s.output_overlap * s.z + sp.sqrt(s.output_square - s.output_overlap**2) * s.xi  # with theta.x = z


@functools.cache
def test_error() -> Derivation:
    """The square loss: the error of a Gaussian output correlated with theta.x is that of plain random features."""
    averages = {s.h2_star: Expectation(g(s.z) ** 2, s.z), s.h1_star: Expectation(s.z * g(s.z), s.z)}
    error = random_features.plain().results[s.test_error]
    results: dict[sp.Basic, sp.Expr] = {
        s.test_error: error.subs(averages),
        s.output_square: k1**2 * s.Q1 + k2**2 * s.q2,
        s.output_overlap: k1 * s.M,
    }
    # What a readout makes of the input along theta, across it, and of the noise of the features.
    across, noise = sp.symbols("z_1 z_2", real=True)
    output = k1 * (s.M * s.z + sp.sqrt(s.Q1 - s.M**2) * across) + k2 * sp.sqrt(s.q2) * noise

    def averaged(integrand: sp.Expr) -> sp.Expr:
        return expand_expectations(Expectation(sp.expand(integrand), s.z, across, noise))

    names = {s.output_square: results[s.output_square], s.output_overlap: results[s.output_overlap]}
    steps = (
        *random_features.plain().steps,
        Step(
            "The output is kappa_1 times the readout's overlap with the input, of variance Q1 and covariance M with "
            "theta.x, and kappa_* times independent noise.",
            eq(s.output_square, results[s.output_square]),
            Vanishing("the variance of f", averaged(output**2) - results[s.output_square]),
        ),
        Step(
            "With theta.x.",
            eq(s.output_overlap, results[s.output_overlap]),
            Vanishing("the covariance", averaged(s.z * output) - results[s.output_overlap]),
        ),
        Step(
            "Only E g^2 and E[z g] of the target enter the error of plain random features.",
            eq(s.test_error, results[s.test_error]),
            Vanishing("E (g - f)^2", averaged((g(s.z) - output) ** 2) - results[s.test_error]),
            Vanishing(
                "for the pair",
                expand_expectations(Expectation(sp.expand((g(s.z) - pair_output) ** 2), s.z, s.xi)).subs(names)
                - results[s.test_error],
            ),
        ),
    )
    return Derivation("test error of random features", SOURCE, *steps, results=results, hypotheses=HYPOTHESES)


@functools.cache
def training() -> Derivation:
    """The stationary value per sample: alpha times the mean loss plus the penalty, all else cancels."""
    pull = sp.Symbol("X", nonnegative=True)  # alpha E[(eta - f)^2]/V^2, which q_s^ and q_w^ are multiples of
    mean_loss = over_labels(loss(label, prox))
    hats = {s.q_s_hat: k1**2 * pull / s.gamma_p, s.q_w_hat: k2**2 * pull}
    overlaps = traces()
    V = k1**2 * s.V_s + k2**2 * s.V_w
    value = s.alpha_p * mean_loss + V * pull / 2 + products() - entropic_trace() / 2
    explicit = value.subs(overlaps).subs(hats) / s.alpha_p
    claimed = (mean_loss + s.ridge / (2 * s.alpha_p) * overlaps[s.q_w]).subs(hats)
    step = Step(
        "Moreau's envelope is (eta - f)^2/(2V) + l; tr[K S^-1] = tr[S S^-1 K S^-1] does the rest.",
        eq(s.training_objective, claimed),
        Vanishing("the stationary value per sample", explicit - claimed),
    )
    size = overlaps[s.q_w].subs(hats)
    force = (hats[s.q_s_hat] + s.m_s_hat**2) * varrho + hats[s.q_w_hat]
    again = s.gamma_p * over_spectrum(force / resolvent**2) + (1 - s.gamma_p) * hats[s.q_w_hat] / shift**2
    readout = Step(
        "The size of the readout at these conjugates.",
        eq(s.q_w, size),
        Vanishing("as a trace of resolvents", size - again),
    )
    return Derivation(
        "training objective of random features",
        SOURCE,
        *entropic().steps,
        readout,
        step,
        results={s.training_objective: explicit, s.q_w: size},
        hypotheses=HYPOTHESES,
    )

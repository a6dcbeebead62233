"""Small derivations behind conventions of the slides: the scale of inputs, the split along the spike.

Each is a few lines of algebra; they decide which of two readings of a formula on the slides is consistent with the
test error printed there.

Rescalings that leave the theory alone: of the activation, of the target, and of the bulk.

Each maps the thirteen variables so that the free energy is multiplied by a constant; saddle points are then mapped to
saddle points.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from giantsteps.derivations.closed_forms import sign_activation
from giantsteps.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2, varrho, y0, y1, y2
from giantsteps.derivations.free_energy.assumptions import STATIONARY
from giantsteps.derivations.free_energy.ridge import assembled
from giantsteps.derivations.free_energy.sample_energy import EQUIVALENT, LABEL_MOMENTS, TEACHER
from giantsteps.derivations.free_energy.stationarity import CONJUGATE, vanishing_slope
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.gradient_step.assumptions import H1_CHECK, centred_at
from giantsteps.derivations.gradient_step.spike import counted
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average, iterated
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, named_slope, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import PARTIALS, repeated, sigma_prime, with_partials, with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.equations import at_saddle, equation, test_error

SLIDES = "slides"


# Vectors by their components, as functions of a label: the average of a product is x.y over the number of components.
_X, _SPIKE, _OTHER = (sp.Function(name, real=True)(s.mode) for name in ("x", "v", "theta"))
_left_by_other = sp.Symbol(r"v\cdot(x-\kappa\theta)", real=True)
_on_axis, _off_axis = sp.symbols("v_1 v_2", real=True)
_A, _WV, _REST = (sp.Function(name, real=True)(s.mode) for name in ("a", "Wv", "Wx_\\perp"))
_at = sp.Symbol("kappa_0", real=True)
_output, *_ = with_slopes("f_a")


def _unit(square: sp.Expr) -> Theorem:
    return in_model("unit spike", Equation(square, sp.Integer(1)), "v is normalised")


@functools.cache
def input_scale() -> Derivation:
    """Var(v.x) = s_x^2 |v|^2: for unit v, kappa is standard normal when coordinates of x have variance one."""
    root = sp.sqrt(s.coordinate_variance)
    meaning = define(
        s.spike_projection_variance,
        Expectation((_on_axis * root * s.z + _off_axis * root * s.xi) ** 2, s.z, s.xi),
        "the mean square of v.x, along one axis and across it: coordinates of x are independent, of variance s_x^2",
    )
    opened, unit = averages_expanded(meaning), _unit(_on_axis**2 + _off_axis**2)
    result = ring(
        (opened, unit),
        Equation(s.spike_projection_variance, s.coordinate_variance),
        (sp.Integer(1), s.coordinate_variance),
    )
    return Derivation(
        "scale of the inputs",
        SLIDES,
        proved("Independent coordinates of variance s_x^2 give v.x the variance s_x^2 |v|^2,", opened),
        proved("and |v| = 1.", result),
    )


@functools.cache
def split_along_spike() -> Derivation:
    """x = kappa v + x_perp with kappa = v.x leaves nothing along v."""
    unit = _unit(Expectation(_SPIKE**2, s.mode))
    kappa = define(s.kappa, Expectation(_SPIKE * _X, s.mode), "v.x, as a mean over components")
    gamma = define(s.gamma, Expectation(_SPIKE * _OTHER, s.mode), "v.theta, as a mean over components")
    known = (unit, *(isolated(value(name), name) for name in (kappa, gamma)))

    def left_by(name: sp.Symbol, direction: sp.Expr) -> Theorem:
        rest = Expectation(_SPIKE * (_X - s.kappa * direction), s.mode)
        return rewritten(averages_expanded(define(name, rest, "what is left of x along v"), s.mode), *known)

    result, by_target = left_by(s.component_along_spike, _SPIKE), left_by(_left_by_other, _OTHER)
    return Derivation(
        "split of an input",
        SLIDES,
        proved("Along v, x has kappa, and kappa v takes all of it.", result),
        proved("kappa theta takes only the share gamma.", by_target),
        results=(result,),
    )


@functools.cache
def spike_overlap() -> Derivation:
    """The output's slope in kappa mu1 is a.Wv/sqrt p for a unit vector v."""
    over_neurons = repeated(s.p, Expectation(_A * (_at * _WV + _REST), s.mode))
    output = define(_output(_at), over_neurons / sp.sqrt(s.p), "a.W x/sqrt p at x = kappa v + x_perp", _at)
    summed = averages_expanded(counted(output), s.mode)
    overlap = counted(define(s.readout_spike, repeated(s.p, Expectation(_A * _WV, s.mode)), "a.Wv"))
    slope = instantiate((differentiate((summed,), _at),), {_at: sp.S.Zero})
    named = named_slope(s.zeta, "the slope of the output in kappa", slope)
    result = ring((named, overlap), Equation(s.zeta, s.readout_spike / sp.sqrt(s.p)), (sp.S.One, -1 / sp.sqrt(s.p)))
    return Derivation(
        "overlap with the spike",
        SLIDES,
        proved("a.W x/sqrt p = kappa a.Wv/sqrt p + a.W x_perp/sqrt p,", summed),
        proved("which is linear in kappa.", named),
        proved("The slope is a.Wv/sqrt p.", result),
    )


@functools.cache
def check_constant() -> Derivation:
    """E[(sigma' - h1)^2] = E[sigma'^2] - h1^2, with h1 = E[sigma']."""
    (mean,) = first_coefficient().theorems
    opened = averages_expanded(rewrite((H1_CHECK, centred_at(s.z))))
    result = rewrite((opened, mean), True)
    result = equal(result, Expectation(sigma_prime(s.z) ** 2, s.z) - s.h1**2)
    return Derivation(
        "constant of the bulk variance",
        f"{PAPER}, Section 3.1, (12)",
        proved("h1 = E[z sigma] = E[sigma'] by Stein's lemma.", mean),
        proved("Expanding the square: the variance of sigma'.", result),
    )


@functools.cache
def size(variable: sp.Symbol) -> Derivation:
    """The equation for q1 or q2 with the conjugates of the slides and pi carrying the norm sqrt(rho)."""
    base = equation(variable)
    _, *hats = slides_names()
    ours = [isolated(symbol, name) for symbol, name in zip((s.zeta_hat, s.psi_hat), hats, strict=True)]
    translated = rewritten(at_saddle(variable), *ours)
    return Derivation(
        f"{base.title}, conjugates of the slides",
        base.source,
        *base.steps,
        *each_proved("The conjugates of the slides.", hats),
        proved("The equation of the system in these.", translated),
        hypotheses=base.hypotheses,
    )


@functools.cache
def sign_at_one() -> Derivation:
    """mu0, mu1, mu2 of the sign activation at r = c = 1."""
    base = sign_activation.conditional_coefficients()
    unit = [in_model(f"{name} = 1", Equation(name, sp.Integer(1)), "the slides' convention") for name in (s.r, s.c)]
    found = [rewritten(base.theorem_of(name), *unit) for name in base.results]
    return Derivation(
        "the sign activation at r = c = 1",
        base.source,
        *base.steps,
        *each_proved("At r = c = 1.", found),
        results=found,
        hypotheses=base.hypotheses,
    )


VARIABLES = tuple(CONJUGATE)
_energy, _scaled_energy = with_partials("Phi_{0}", len(VARIABLES)), with_partials("Phi_{1}", len(VARIABLES))
_scaled_error = sp.Function("e_{1}", real=True)


@dataclass(frozen=True, eq=False)
class Rescaling:
    """What a rescaling makes of the problem's functions and constants, and of the thirteen variables; the free energy
    and the test error are multiplied by ``factor``.
    """

    title: str
    why: str
    data: Mapping[sp.Expr, sp.Expr]
    variables: Mapping[sp.Symbol, sp.Expr]
    factor: sp.Expr


def _powers(factor: sp.Expr, **powers: int) -> dict[sp.Symbol, sp.Expr]:
    """Symbols by name with powers of a factor."""
    return {getattr(s, name): factor**power * getattr(s, name) for name, power in powers.items()}


_readout = {"m": 1, "zeta": 1, "psi": 1, "q1": 2, "q2": 2}
_forces = {"zeta_hat": 1, "psi_hat": 1, "q1_hat": 2, "q2_hat": 2}
_response = {"V1": -2, "V2": -2, "V1_hat": 2, "V2_hat": 2}
ACTIVATION = Rescaling(
    "scale of the activation",
    "sigma -> s sigma multiplies mu0, mu1, mu2 by s, lambda -> s^2 lambda; the readout is divided by s",
    {mu0: s.scale * mu0, mu1: s.scale * mu1, mu2: s.scale * mu2, s.ridge: s.scale**2 * s.ridge},
    _powers(s.scale, **{name: -power for name, power in _readout.items()}, **_forces, **_response),
    sp.S.One,
)
TARGET = Rescaling(
    "scale of the target",
    "g -> s g and Delta -> s^2 Delta multiply y0 and y1 by s and y2 by s^2, and the readout by s",
    {
        y0: s.scale * y0,
        y1: s.scale * y1,
        y2: s.scale**2 * y2,
        TEACHER: s.scale * TEACHER,
        s.noise: s.scale**2 * s.noise,
    },
    _powers(s.scale, **_readout, **_forces),
    s.scale**2,
)
BULK = Rescaling(
    "scale of the bulk",
    "sigma(sqrt(c) (r kappa/sqrt(c) + z)) = sigma(r kappa + sqrt(c) z): mu0 and mu2 are the same functions, mu1 = "
    "E[z sigma]/sqrt(c) gains sqrt(c), and rows over sqrt(c) have eigenvalues varrho/c",
    {mu1: sp.sqrt(s.c) * mu1, varrho: varrho / s.c},
    _powers(sp.sqrt(s.c), zeta=-1, psi=-1, q1=-2, V1=-2, V1_hat=2, q1_hat=2, zeta_hat=1, psi_hat=1),
    sp.S.One,
)


def rescaled(expression: sp.Expr, mapping: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace everything at once."""
    return expression.xreplace(dict(mapping))


def energies(change: Rescaling) -> tuple[Theorem, Theorem]:
    """Equation (116) as a function of its thirteen variables, for the problem and for the rescaled one."""
    formula = assembled().results[s.free_energy]
    return (
        define(_energy(*VARIABLES), formula, "equation (116) as a function of its variables", *VARIABLES),
        define(_scaled_energy(*VARIABLES), rescaled(formula, change.data), change.why, *VARIABLES),
    )


def scaled_error(change: Rescaling) -> Theorem:
    """The error of the rescaled equivalent features on a new input, as a function of the variables."""
    mean, shared, error, teacher = (
        rescaled(part, change.data)
        for part in (EQUIVALENT.mean, EQUIVALENT.shared, EQUIVALENT.squared - s.noise, TEACHER)
    )
    fields = replace(EQUIVALENT, mean=mean, shared=shared, squared=error + s.noise, teacher=teacher)
    at_kappa = fields.mean_square()
    averaged = average((at_kappa,), (s.kappa,))
    whole, _ = sides(averaged.statement)
    meaning = define(_scaled_error(*VARIABLES), whole, "mean squared error of the rescaled features", *VARIABLES)
    return rewrite((meaning, averaged))


def one_stationary_point() -> Theorem:
    """The error wherever the free energy is stationary is that of the rescaled problem.

    With multipliers of which nothing is known the equation says just that: they exist wherever a slope does not vanish.
    """
    slopes = (partial(*VARIABLES) for partial in PARTIALS[_scaled_energy])
    return hypothesis(
        "error where the energy is stationary",
        Equation(
            _scaled_error(*VARIABLES),
            s.error_rescaled + sp.Add(*(w * slope for w, slope in zip(multipliers(VARIABLES), slopes, strict=True))),
        ),
        STATIONARY,
        *VARIABLES,
    )


def multipliers(at: tuple[sp.Expr, ...]) -> list[sp.Expr]:
    """One function for each slope of the free energy."""
    return [sp.Function(f"w_{k}", real=True)(*at) for k in range(len(VARIABLES))]


@functools.cache
def rescaling(change: Rescaling) -> Derivation:
    """The test error of the rescaled problem: free energy and error are multiplied by one factor."""
    energy, other = energies(change)
    values = {x: change.variables.get(x, x) for x in VARIABLES}
    there = tuple(values.values())
    both = [averages_expanded(theorem, s.kappa, s.mode) for theorem in (instantiate((other,), values), energy)]
    k = change.factor
    scales = ring(tuple(both), Equation(_scaled_energy(*there), k * _energy(*VARIABLES)), (sp.S.One, -k))
    zeros = []
    for x, slope in zip(VARIABLES, PARTIALS[_scaled_energy], strict=True):
        weight = 1 / sp.diff(values[x], x)
        moved, still = differentiate((scales,), x), vanishing_slope(energy, x)
        zeros.append(ring((moved, still), Equation(slope(*there), sp.S.Zero), (weight, k * weight)))
    known = test_error().theorem_of(s.test_error)
    errors = [averages_expanded(e, s.kappa) for e in (instantiate((scaled_error(change),), values), known)]
    error = ring(tuple(errors), Equation(_scaled_error(*there), k * s.test_error), (sp.S.One, -k))
    unique = instantiate((one_stationary_point(),), values)
    weights = tuple(-w for w in multipliers(there))
    goal = Equation(s.error_rescaled, k * s.test_error)
    result = ring((unique, error, *zeros), goal, (-sp.S.One, sp.S.One, *weights))
    return Derivation(
        change.title,
        f"{PAPER}, Section 3.3",
        proved("The free energy of the rescaled problem.", other),
        proved("In rescaled variables it is that of the problem, times a constant,", scales),
        *each_proved("so that it is stationary in the image of a variable where the other is.", zeros),
        proved("The test error is mapped with it.", error),
        proved("The error of the rescaled problem is the one where its free energy is stationary.", unique),
        proved("So they differ by that constant.", result),
        hypotheses=assembled().hypotheses,
    )


# The paper's psi, and conjugates as the slides write them: psi = a.W Pi theta/sqrt p with |Pi theta|^2 = rho (psi_rho),
# labels y ~ N(0, rho) instead of sqrt(rho) z, and conjugates of zeta and psi that are sqrt(beta) times larger.
@functools.cache
def slides_names() -> tuple[Theorem, ...]:
    """psi_rho and the slides' conjugates of zeta and psi."""
    return (
        define(s.psi_paper, sp.sqrt(s.rho) * s.psi, "a.W Pi theta/sqrt p, where |Pi theta|^2 = rho"),
        define(s.zeta_hat_slides, sp.sqrt(s.beta) * s.zeta_hat, "the slides' force along the spike"),
        define(
            s.psi_hat_slides,
            sp.sqrt(s.beta) / sp.sqrt(s.rho) * s.psi_hat,
            "the slides' force along Pi theta, of length sqrt(rho)",
        ),
    )


def in_two_variables(theorem: Theorem) -> Theorem:
    """Undo the shorthands y0, y1, y2: averages over kappa become averages over kappa and z."""
    theorem = averages_expanded(rewritten(theorem, *LABEL_MOMENTS), s.kappa)
    for outer in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        inner = [factor for factor in sp.Mul.make_args(outer.integrand) if isinstance(factor, Expectation)]
        if len(inner) == 1 and outer.variables == (s.kappa,):
            whole = Expectation(outer.integrand / inner[0] * inner[0].integrand, s.kappa, s.z)
            together, apart = iterated((), whole, (s.z,)), expanded(Expectation(whole.integrand, s.z))
            theorem = rewrite((theorem, together if apart is None else rewrite((together, apart))), True)
    return theorem


@functools.cache
def in_slides_normalisation(variable: sp.Symbol) -> Derivation:
    """Stationarity of the free energy in a variable of the slides: psi_rho, zeta, or one of their conjugates."""
    ours, partner = {
        s.zeta: (s.zeta, s.zeta_hat_slides),
        s.psi_paper: (s.psi, s.psi_hat_slides),
        s.zeta_hat_slides: (s.zeta_hat, s.zeta),
        s.psi_hat_slides: (s.psi_hat, s.psi_paper),
    }[variable]
    base, (psi_is, *hats) = equation(ours), slides_names()
    theorem = at_saddle(ours)
    for name in (psi_is, *hats):
        if sides(name.statement)[0] == partner:
            theorem = rewrite((name, theorem))
    for name, symbol in zip(hats, (s.zeta_hat, s.psi_hat), strict=True):
        theorem = rewritten(theorem, isolated(symbol, name)) if partner in (s.zeta, s.psi_paper) else theorem
    written = in_two_variables(theorem)
    return Derivation(
        f"stationarity in {variable}, normalisation of the slides",
        f"{PAPER}, Section 3.3, (18)-(20)",
        *base.steps,
        *each_proved("The slides' variables.", slides_names()),
        proved(
            "In the variables of the slides, psi_rho = sqrt(rho) psi and conjugates sqrt(beta) times larger, "
            f"stationarity in ${sp.latex(variable)}$ is linear in ${sp.latex(partner)}$, too.",
            theorem,
        ),
        proved("The moments of the label written out as averages over z.", written),
        hypotheses=base.hypotheses,
    )


@functools.cache
def test_error_of_the_paper() -> Derivation:
    """Equation (25) as an average over kappa and z, with the psi that carries sqrt(rho)."""
    base = test_error()
    ours = base.theorem_of(s.test_error)
    psi_is, *_ = slides_names()
    written = in_two_variables(rewritten(averages_expanded(ours, s.kappa), isolated(s.psi, psi_is)))
    return Derivation(
        "test error, as averaged over kappa and z",
        f"{PAPER}, Section 3.3, (25)",
        *base.steps,
        proved("The paper's psi carries the norm of Pi theta.", psi_is),
        proved("The label moments written out as averages over z, and psi in the paper's normalisation.", written),
        hypotheses=base.hypotheses,
    )

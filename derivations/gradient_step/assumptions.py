"""The assumptions of the theorems on the gradient step: definitions, the setting, and hypotheses."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.kernel.algebra import instantiate, rewrite
from giantsteps.derivations.kernel.calculus import logarithm
from giantsteps.derivations.kernel.limits import limit_compose, limit_exponential, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, lemma
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, repeated, sigma, sigma_check, sigma_prime

_x = sp.Symbol("x", real=True)
_count, _each = sp.symbols("n a", real=True)

# What the constants of activation and target mean; the paper's h2 and h2* are second moments.
H1 = define(s.h1, Expectation(s.z * sigma(s.z), s.z), "the first Hermite coefficient of the activation")
H2 = define(s.h2, Expectation(sigma(s.z) ** 2, s.z), "the second moment of the activation")
H1_STAR = define(s.h1_star, Expectation(s.z * g(s.z), s.z), "the first Hermite coefficient of the target")
H2_STAR = define(s.h2_star, Expectation(g(s.z) ** 2, s.z), "the second moment of the target")

CENTRED = define(sigma_check(_x), sigma_prime(_x) - s.h1, "the slope of the activation less its mean", _x)
H1_CHECK = define(s.h1_check, Expectation(sigma_check(s.z) ** 2, s.z), "the second moment of sigma' - h1")

# The proportional regime: at each input dimension d there are n0 samples and p neurons.
SAMPLES = define(s.n0, s.alpha0 * s.d, "the batch of the gradient step, at a fixed ratio to the dimension")
WIDTH = define(s.p, s.beta * s.d, "the width, at a fixed ratio to the dimension")

ODD = in_model("odd activation", Equation(sigma(-_x), -sigma(_x)), "Section 2: sigma(-x) = -sigma(x)", _x)

READOUT_OF_ONES = in_model("readout of ones", Equation(s.readout_weight, 1 / sp.sqrt(s.p)), "Section 2: a = 1/sqrt(p)")
OUTPUT_IS_DROPPED = hypothesis("output dropped", Equation(s.output, sp.Integer(0)), "section-2.output-is-negligible")

REPEATED = lemma(
    "equal terms",
    Equation(repeated(_count, _each), _count * _each),
    "n terms whose averages are equal by symmetry average to n times one of them",
    _count,
    _each,
)


def odd_at(argument: sp.Expr) -> Theorem:
    """sigma(-argument) = -sigma(argument)."""
    return instantiate((ODD,), {_x: argument})


def centred_at(argument: sp.Expr) -> Theorem:
    """sigma'(argument) - h1, under its name."""
    return instantiate((CENTRED,), {_x: argument})


def repeated_is(call: sp.Expr) -> Theorem:
    """repeated(n, a) = n a."""
    count, each = call.args
    return instantiate((REPEATED,), {_count: count, _each: each})


def concentrates(what: str, statement: Equation, claim: str) -> Theorem:
    """The hypothesis that a quantity whose variance vanishes is its mean in the limit; ``claim`` has the variance."""
    return hypothesis(f"{what} concentrates", statement, claim)


# Sizes as powers of the dimension, up to factors that do not grow with it: d^e is exp(e log d).
LOG_D = sp.Symbol(r"\log d", positive=True)
DIMENSION = define(s.d, sp.exp(LOG_D), "the input dimension, by its logarithm")


def power_of_d(name: sp.Symbol, exponent: sp.Expr, meaning: str) -> Theorem:
    """name := d^exponent."""
    return define(name, sp.exp(exponent * LOG_D), meaning)


def exponent_of(name: sp.Symbol, size: sp.Expr, meaning: str, *sizes: Theorem) -> Theorem:
    """``name`` for the exponent of d in a product, log Q/log d, and its value by the sizes of the factors."""
    whole = sp.Symbol(f"d^{{{name}}}", positive=True)
    product = as_power(define(whole, size, meaning), *sizes)
    return rewrite((define(name, sp.log(whole) / LOG_D, "the exponent of d, log Q/log d"), product))


def as_power(product: Theorem, *sizes: Theorem) -> Theorem:
    """Q = exp(e log d), for Q a product of sizes."""
    product = rewritten(product, *sizes, DIMENSION)
    exponent = sp.expand(sp.expand_log(sp.log(value(product)), force=True) / LOG_D)
    return equal(product, sp.exp(exponent * LOG_D))


def exponent_of_sum(name: sp.Symbol, terms: tuple[sp.Expr, ...], meaning: str, *sizes: Theorem) -> Theorem:
    """``name`` for the limit of log Q/log d of a sum Q of positive terms, and its value: the largest exponent.

    The first term is the largest: d^a + d^b = d^a (1 + d^-(a - b)), and what is beside the one vanishes, or is one.
    """
    whole = sp.Symbol(f"d^{{{name}}}", positive=True)
    named = [sp.Symbol(f"{whole}_{k}", positive=True) for k in range(len(terms))]
    powers = [as_power(define(n, term, "a term of the sum"), *sizes) for n, term in zip(named, terms, strict=True)]
    first, *others = (sp.log(value(power)) / LOG_D for power in powers)
    gaps = [sp.factor(sp.expand(first - other)) for other in others]
    factors = (sp.exp(first * LOG_D), 1 + sum((sp.exp(-gap * LOG_D) for gap in gaps), sp.S.Zero))
    size = equal(rewritten(define(whole, sp.Add(*named), meaning), *powers), factors[0] * factors[1])
    holes = sp.symbols(f"h_0:{len(gaps) + 1}", positive=True)
    vanishing = {hole: limit_exponential((), gap, LOG_D) for hole, gap in zip(holes[1:], gaps, strict=True) if gap != 0}
    beside = 1 + sum((hole if hole in vanishing else sp.S.One for hole in holes[1:]), sp.S.Zero)
    limits = {holes[0]: limit_rational((), 1 / LOG_D, sp.Integer(0), LOG_D), **vanishing}
    tends = limit_compose(tuple(limits.values()), first + holes[0] * sp.log(beside), tuple(limits))
    whole_factors = tuple((factor, sp.Integer(1)) for factor in factors)
    split = (logarithm((), sp.Mul(*factors), whole_factors),) if first != 0 else ()
    written = concluded(Equation(sides(tends.statement)[0], sp.log(whole) / LOG_D), size, *split)
    return name_limit((rewrite((tends, written)),), name, "the exponent of d, the limit of log Q/log d")

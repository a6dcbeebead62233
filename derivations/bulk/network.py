r"""The deterministic equivalent of a network's bulk rows, by leave-one-out arguments. Beyond the paper.

Two resolvents, one inside the other: Q = (A + t)^-1 of the batch matrix A = (1/n0) sum y^2 x x^T, by leaving one
sample out, and S^-1 = (s0 + V1^ W W^T)^-1 of the readout, by leaving one row out. Rows have covariance B/d with
B = 1 + omega A, so that (1 + g B)^-1 = Q/(g omega) at t = (1 + g)/(g omega).
"""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.marchenko_pastur import shift
from giantsteps.derivations.bulk.network_rows import SOURCE
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, mu0, over_kappa, y0
from giantsteps.derivations.free_energy.sample_energy import (
    ONE_SPIKE,
    Fields,
    error_on_new,
    error_on_training,
)
from giantsteps.derivations.kernel.algebra import differentiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear, stein
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import g, sigma, with_slopes

SAMPLES = "quadratic forms of a sample in a resolvent that has not seen it concentrate"
ROWS = (
    "given the batch, bulk rows are independent of each other, and quadratic forms of a row in a resolvent that has "
    "not seen it concentrate on those of its covariance"
)

_y = g(s.z)

# A matrix of two blocks: the diagonal entry of its inverse, and an entry of what the inverse makes of a vector.
_corner, _off, _rest, _entry = sp.symbols("A b D y", positive=True)
_inverse = sp.Matrix([[_corner, _off], [_off, _rest]]).inv()
OVER_SCHUR = 1 / (_corner - _off**2 / _rest)
DIAGONAL = Vanishing("in a matrix of two blocks", _inverse[0, 0] - OVER_SCHUR)
ROW = Vanishing(
    "the row in a matrix of two blocks",
    (_inverse * sp.Matrix([_entry, 1]))[0] - OVER_SCHUR * (_entry - _off / _rest),
)


def removed(form: sp.Expr, weight: sp.Expr) -> sp.Expr:
    """x.Q x in terms of the form a of the resolvent without the sample: Q^-1 = Q_-^-1 + weight x x^T."""
    return form / (1 + weight * form)


def over(numerator: sp.Expr) -> sp.Expr:
    """E[numerator/(1 + y^2 l)]."""
    return expand_expectations(Expectation(sp.expand(numerator) * removed(s.leverage, _y**2) / s.leverage, s.z))


@functools.cache
def batch() -> Derivation:
    """q = (1/d) tr Q and theta.Q theta."""
    a, weight = sp.symbols("a w", positive=True)
    # Q x = Q_- x - w Q_- x (x.Q_- x)/(1 + w x.Q_- x)
    by_inversion = a - weight * a**2 / (1 + weight * a)
    # (1/d) tr A Q = alpha0 E[y^2 x.Q x/n0], and x.Q_- x/n0 = l = q/alpha0.
    share = over(_y**2)
    trace = s.batch_trace * s.batch_shift + s.batch_trace * share - 1
    (q,) = sp.solve(trace, s.batch_trace)
    # theta.A Q theta = E[y^2 u x.Q theta]; x.Q_- theta = u theta.Q theta, the rest of x averages to zero.
    target = s.batch_target * s.batch_shift + s.batch_target * over(_y**2 * s.z**2) - 1
    (along,) = sp.solve(target, s.batch_target)
    return Derivation(
        "the resolvent of the batch matrix",
        SOURCE,
        Step(
            "Sherman-Morrison: a sample's form shrinks by 1 + y^2 l, l = x.Q_- x/n0, when the sample is put in.",
            eq(sp.Symbol(r"x^\top Qx/n_0"), removed(s.leverage, _y**2)),
            Vanishing("a - w a^2/(1 + w a)", by_inversion - removed(a, weight)),
        ),
        Step(
            "The trace of (A + t) Q = 1, with (1/d) tr A Q = alpha0 E[y^2 x.Q x/n0] and l = q/alpha0.",
            eq(s.batch_trace, q),
            Vanishing("it solves the trace identity", trace.subs(s.batch_trace, q)),
        ),
        Step(
            "theta.(A + t) Q theta = 1: without the sample x.Q theta is u theta.Q theta, and the part of x across "
            "theta averages to zero.",
            eq(s.batch_target, along),
            Vanishing("it solves the identity", target.subs(s.batch_target, along)),
        ),
        results={s.batch_trace: q, s.batch_target: along},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def batch_vectors() -> Derivation:
    """theta.Q w_f and w_f.Q w_f' for f = y and y^3."""
    own, other, a, weight = sp.symbols("f f' a w", real=True)
    mixed, cubic = (s.batch_target * over(f * s.z) for f in (_y, _y**3))
    # w_f.Q w_f' = E[f x.Q w_f'], x.Q w_f' = (u theta.Q w_f' + f' l)/(1 + y^2 l).
    pair = sp.expand(over(_y * s.z) * cubic + s.leverage * over(_y * _y**3))
    # x.Q (w_- + f' x/n0) with b = x.Q_- w_-: (b + f' a) - w a (b + f' a)/(1 + w a)
    put_in = (own + other * a) - weight * a * (own + other * a) / (1 + weight * a)
    return Derivation(
        "the batch's vectors in its resolvent",
        SOURCE,
        *batch().steps,
        Step("theta.Q w = E[f x.Q theta].", eq(s.batch_mixed, mixed)),
        Step("The same for f = y^3.", eq(s.batch_cube, cubic)),
        Step(
            "A sample's own share of w' adds f' l before it is put in.",
            eq(s.batch_pair, pair),
            Vanishing("Sherman-Morrison", put_in - (own + other * a) * removed(a, weight) / a),
        ),
        results={s.batch_mixed: mixed, s.batch_cube: cubic, s.batch_pair: pair},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def rows() -> Derivation:
    """V2 and V1 from p = (1/d) tr (1 + g B)^-1: one row against the rest."""
    eigenvalue = sp.Symbol("B", positive=True)
    alpha = sp.Symbol("A", real=True)
    lifted = 1 + s.gain * (1 + s.row_weight * alpha)
    filtered = 1 / (1 + s.gain * eigenvalue)
    t = (1 + s.gain) / (s.gain * s.row_weight)
    # (1/d) tr B (1 + g B)^-1 = (1 - p)/g
    form = (1 - s.row_trace) / s.gain
    V2 = 1 / (shift + s.V1_hat * form)
    # G = (1 + (V1^/s0) W^T W)^-1; one row: (V1^/s0) b b^T G = (V1^/s0) b b^T G_-/(1 + (V1^/s0) b.G_- b)
    ratio = s.V1_hat / shift
    inner = sp.Symbol("m", positive=True)
    gain = s.beta * ratio / (1 + ratio * inner)
    own = 1 / (shift * (1 + ratio * inner))
    return Derivation(
        "one bulk row against the rest",
        SOURCE,
        Step(
            "A diagonal entry of S^-1 is one over the Schur complement of the rest, s0 + V1^ b.G b with "
            "G = (1 + (V1^/s0) W^T W)^-1 over the other rows.",
            eq(sp.Symbol("(S^{-1})_{ii}"), own),
            DIAGONAL,
            Vanishing("1/(s0 (1 + m V1^/s0)) = 1/(s0 + V1^ m)", own - 1 / (shift + s.V1_hat * inner)),
        ),
        Step(
            "Summed over rows of covariance B/d, (V1^/s0) W^T W G is g B G with g = beta V1^ V2: G becomes "
            "(1 + g B)^-1.",
            eq(s.gain, s.beta * s.V1_hat * s.V2),
            Vanishing("g = beta V1^ times the diagonal entry", gain - s.beta * s.V1_hat * own),
        ),
        Step(
            "(1 + g B)^-1 = Q/(g omega) at t = (1 + g)/(g omega), because B = 1 + omega A.",
            eq(s.row_trace, s.batch_trace / (s.gain * s.row_weight)),
            Vanishing("1 + g (1 + omega A) = g omega (A + t)", lifted - s.gain * s.row_weight * (alpha + t)),
        ),
        Step(
            "b.G b is (1/d) tr B (1 + g B)^-1 = (1 - p)/g.",
            eq(s.V2, V2),
            Vanishing("B/(1 + g B) = (1 - 1/(1 + g B))/g", eigenvalue * filtered - (1 - filtered) / s.gain),
        ),
        results={s.V2: V2},
        hypotheses=(ROWS, SAMPLES),
    )


@functools.cache
def width() -> Derivation:
    """V1 from V2 by the trace of S S^-1 = 1."""
    identity = shift * s.V2 + s.V1_hat * s.V1 - 1
    (V1,) = sp.solve(identity, s.V1)
    return Derivation(
        "the trace of W W^T against the readout's resolvent",
        SOURCE,
        Step("The trace of S S^-1 = 1.", eq(s.V1, V1), Vanishing("it solves the identity", identity.subs(s.V1, V1))),
        results={s.V1: V1},
    )


def along_rows(direct: sp.Expr, filtered: sp.Expr) -> sp.Expr:
    """u.(1 - (1 + g B)^-1) u'/g: the overlap W u, W u' in S^-1, over beta V2."""
    return (direct - filtered) / s.gain


def without_spike(both: sp.Expr, left: sp.Expr, right: sp.Expr, own: sp.Expr) -> sp.Expr:
    """Sherman-Morrison for S - V1^ (Wv)(Wv)^T: R + g R_.v R_v./(1 - g R_vv)."""
    return both + s.gain * left * right / (1 - s.gain * own)


@functools.cache
def overlaps() -> Derivation:
    """K: the overlaps of v, theta_perp and the fluctuations of the norms in the resolvent without the spike."""
    vv, vp, pp = along_rows(sp.S.One, s.row_vv), along_rows(sp.S.Zero, s.row_vp), along_rows(sp.S.One, s.row_pp)
    # delta.S^-1 W u = sum delta_i V2 b_i.G u, whose average is beta V2 h.(1 + g B)^-1 u.
    vd, pd = s.row_vh, s.row_ph
    # (S^-1 delta)_i = V2 (delta_i - V1^ b_i.W^T S^-1 delta): the second part meets delta_i through h.
    dd = s.norm_variance - s.V1_hat * s.beta * s.V2 * s.row_hh
    dd = dd.subs(s.V1_hat, s.gain / (s.beta * s.V2))
    unit = s.beta * s.V2
    found = {
        s.overlap_vv: without_spike(vv, vv, vv, vv),
        s.overlap_vp: without_spike(vp, vv, vp, vv),
        s.overlap_pp: without_spike(pp, vp, vp, vv),
        s.overlap_vd: without_spike(vd, vv, vd, vv),
        s.overlap_pd: without_spike(pd, vp, vd, vv),
        s.overlap_dd: without_spike(dd, vd, vd, vv),
    }
    results = {symbol: unit * shape for symbol, shape in found.items()}
    a, b, c, weight = sp.symbols("a b c w", positive=True)
    # S^-1 in the plane of Wv and another vector, perturbed by -w (Wv)(Wv)^T.
    form = sp.Matrix([[a, b], [b, c]])
    perturbed = (form.inv() - weight * sp.Matrix([[1, 0], [0, 0]])).inv()
    eigenvalue = sp.Symbol("B", positive=True)
    filtered = 1 / (1 + s.gain * eigenvalue)
    return Derivation(
        "the signal overlaps of a network's bulk",
        SOURCE,
        Step(
            "S^-1 W = W G/s0 with G = (1 + (V1^/s0) W^T W)^-1, so u.W^T S^-1 W u' is beta V2 u.(1 - H) u'/g with "
            "H = (1 + g B)^-1; v and theta_perp are orthonormal.",
            eq(sp.Symbol("R_{vv}"), vv),
            Vanishing("B/(1 + g B) = (1 - H)/g", eigenvalue * filtered - along_rows(sp.S.One, filtered)),
        ),
        Step(
            "Row i of S^-1 W is V2 b_i.G with the row left out; the covariance of b_i and delta_i is h/d.",
            eq(sp.Symbol(r"R_{v\delta}"), vd),
        ),
        Step(
            "Row i of S^-1 delta is V2 times delta_i minus V1^ b_i.W^T S^-1 delta with the row left out.",
            eq(sp.Symbol(r"R_{\delta\delta}"), dd),
            ROW,
        ),
        *(
            Step("Sherman-Morrison for the spike direction that is taken out of the bulk.", eq(symbol, shape))
            for symbol, shape in results.items()
        ),
        Step(
            "The formula used, in the plane of Wv and another vector.",
            eq(sp.Symbol("G"), sp.Symbol("(S - wss^T)^{-1}")),
            Vanishing("a 2 x 2 inverse", perturbed[1, 1] - (c + weight * b**2 / (1 - weight * a))),
            Vanishing("its mixed entry", perturbed[0, 1] - (b + weight * a * b / (1 - weight * a))),
        ),
        results=results,
        hypotheses=(ROWS, SAMPLES),
    )


_in_bulk, *_ = with_slopes("mu0_c")


@functools.cache
def third_function(
    name: sp.Symbol = s.third,
    centre: sp.Expr = s.r * s.kappa,
    variance: sp.Symbol = s.c,
    title: str = "what a neuron's mean gains from its norm",
    source: str = SOURCE,
) -> Derivation:
    """k2 = d mu0/dc = E[(z^2 - 1) sigma(b + sqrt(c) z)]/(2 c) for mu0 = E sigma(b + sqrt(c) z)."""
    received = centre + sp.sqrt(variance) * s.z
    along = define(_in_bulk(variance), Expectation(sigma(received), s.z), "mu0 as a function of the variance", variance)
    slope = averages_expanded(differentiate((along,), variance))
    named = rewrite((define(name, sides(slope.statement)[0], "the derivative of mu0 in the variance"), slope))
    squared = Expectation(s.z**2 * sigma(received), s.z)
    by_parts = averages_expanded(stein((), squared, s.z, s.z * sigma(received)))
    whole = Expectation((s.z**2 - 1) * sigma(received), s.z)
    parts = linear((), whole, ((sp.Integer(1), s.z**2 * sigma(received)), (sp.Integer(-1), sigma(received))))
    weight = 1 / (2 * variance)
    result = ring((named, parts, by_parts), Equation(name, whole / (2 * variance)), (sp.Integer(1), -weight, -weight))
    return Derivation(
        title,
        source,
        proved("To first order in delta the mean of a feature at given kappa is mu0 + delta d mu0/dc.", named),
        proved("Stein's lemma turns z^2 sigma into sigma + sqrt(c) z sigma'.", result),
        hypotheses=("sigma is absolutely continuous and grows at most exponentially",),
    )


third = sp.Function("k2", real=True)(s.kappa)
# One letter with what the norms add to its mean.
NETWORK = replace(ONE_LETTER, norms=((third, s.chi),))
WITH_THIRD = replace(ONE_SPIKE, mean=NETWORK.fit, squared=NETWORK.e2)
WITH_NORMS = "conditional Gaussian equivalence of the features (Result 3.2), with d mu0/dc beside mu0"


@functools.cache
def errors(
    on_new: Fields = WITH_THIRD,
    on_training: Fields = WITH_THIRD,
    title: str = "the errors of a network",
    source: str = SOURCE,
    hypotheses: tuple[str, ...] = (ROWS, WITH_NORMS),
) -> Derivation:
    """Test and training error: the first from the output on a new input, the second from the fitted outputs."""
    new, training = error_on_new(on_new), error_on_training(on_training)
    found = [step.theorem for step in (new[-1], training[-1]) if step.theorem is not None]
    return Derivation(title, source, *new, *training, results=found, hypotheses=hypotheses)


@functools.cache
def readout_mean() -> Derivation:
    """m from E[mu0 (y0 - yhat)/(1 + V)] = 0: the sum of the readout is not penalised at this order."""
    without_m = replace(NETWORK, m=(sp.S.Zero,)).fit
    parts = (y0 - NETWORK.fit, mu0, y0 - without_m)
    condition, square, rest = (over_kappa(mu0 * part * NETWORK.weight) for part in parts)
    m = rest / square
    return Derivation(
        "the mean of a network's readout",
        SOURCE,
        Step(
            "A uniform readout costs O(1/p): its force vanishes.",
            eq(condition, 0),
            Vanishing("linear in m", expand_expectations(condition - rest + s.m * square)),
        ),
        Step("Solved for m.", eq(s.m, m)),
        results={s.m: m},
        hypotheses=(ROWS,),
    )

"""Claims of Appendix D up to the free energy: features, overlaps and replicas by letter (equations (133)-(154))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from derivations import readout_features, readout_groups, replica_gaussians
from derivations import symbols as s
from derivations.expectation import Expectation
from derivations.named_functions import sigma
from derivations.readout_groups import mu0_of, mu1_of, mu2_of
from numerics.ensembles import Sizes, equivalent_map, spiked_random_features
from numerics.simulate import simulate
from verify.checks import ByDerivation, ByNumbers
from verify.claim import Claim, Domain, Kind, Mutant, Profile, Range
from verify.claims.appendix_d_saddle import E, V, e2, eq, ratio
from verify.claims.places import paper
from verify.claims.readout_numbers import (
    DOMAIN,
    GENERIC_LETTERS,
    GIVEN_BULK,
    LETTERS,
    PAIRS,
    PLAIN,
    Point,
    functions_at,
    given_bulk,
    measured,
    model_at,
    numbers,
    solved,
    value,
)
from verify.simulation_check import BySimulation, Measured
from verify.tolerances import QUADRATURE, ROUNDING, SOLVER

APPENDIX = "Appendix D"
FIAT = "A definition: it holds by fiat. The check says that the numerics use exactly this definition."
# Activations of no parity, even up to a constant: otherwise some wrong signs would be right.
UNSYMMETRIC = Range("activation", choices=("tanh(z + 1/2)", "sin(z) + cos(z)", "erf(z) + exp(-z**2)"))
AT_KAPPA = Domain((UNSYMMETRIC, *DOMAIN.ranges[1:], Range(s.kappa, -2.0, 2.0)), (), (GENERIC_LETTERS,))
SEEDED = Domain((Range("seed", 0.0, 1e6), Range(s.kappa, -1.5, 1.5)), (), (GENERIC_LETTERS,))


def _letters(point: Point) -> Mapping[str, Callable[..., object]]:
    return GENERIC_LETTERS


def _random_features(point: Point) -> Mapping[str, float]:
    """One entry of the first layer of a random draw, with the bulk from the same draw without spike."""
    model = model_at(point)
    sizes = Sizes.rounded(6, alpha=model.alpha, beta=2.0, fractions=model.fractions)
    drawn = spiked_random_features(model, sizes, np.random.default_rng(7))
    bare = spiked_random_features(model.changed(spike=0.0), sizes, np.random.default_rng(7))
    return {
        s.first_layer_entry.name: float(drawn.weights[0, 0]),
        s.bulk_entry.name: float(bare.weights[0, 0]),
        s.direction_entry.name: float(drawn.direction[0]),
    }


def _equivalent_feature(point: Point) -> Mapping[str, float]:
    """One feature of the equivalent map with two letters at one input, and the noise it was made with."""
    model = model_at(point)
    sizes = Sizes.rounded(6, alpha=model.alpha, beta=2.0, fractions=model.fractions)
    drawn = equivalent_map(model, sizes, np.random.default_rng(7), np.random.default_rng(11))
    x = np.random.default_rng(13).normal(size=(1, sizes.d))
    x[0, 0] = value(point, s.kappa)
    noise = np.random.default_rng(11).standard_normal((1, sizes.p))
    return {
        s.feature_value.name: float(drawn.features(x)[0, 0]),
        s.row_input.name: float(drawn.weights[0] @ x[0]),
        s.xi.name: float(noise[0, 0]),
    }


def _random_readout(point: Point) -> Mapping[str, float]:
    """Output, overlaps and covariance of the local fields of two random readouts, with two letters."""
    generator = np.random.default_rng(int(value(point, "seed")))
    p, d, kappa = 9, 7, value(point, s.kappa)
    group = np.arange(p) >= 4
    W = generator.normal(size=(p, d))
    v = generator.normal(size=d)
    v /= np.linalg.norm(v)
    a, a2 = generator.normal(size=(2, p))
    noise, across = generator.normal(size=p), generator.normal(size=d)
    across -= v * (v @ across)
    mu = [np.where(group, GENERIC_LETTERS[f"mu{j}_2"](kappa), GENERIC_LETTERS[f"mu{j}_1"](kappa)) for j in range(3)]
    features = mu[0] + mu[1] * (W @ (kappa * v + across)) + mu[2] * noise
    # h is linear in x_perp and xi: its covariance between two readouts is a sum over their coefficients.
    project = np.eye(d) - np.outer(v, v)
    covariance = ((a * mu[1]) @ W @ project @ W.T @ (a2 * mu[1]) + (a * mu[2]) @ (a2 * mu[2])) / p
    field = ((a * mu[1]) @ W @ across + (a * mu[2]) @ noise) / np.sqrt(p)
    hats = {(b, c): generator.uniform(0.2, 1.0) for b, c in PAIRS}
    own = generator.uniform(0.2, 1.0, size=2)
    blocks = np.diag(np.where(group, own[1], own[0]))
    values: dict[sp.Symbol, float] = {
        s.letter_output: a @ features / np.sqrt(p),
        s.letter_field: field,
        s.field_covariance: covariance,
    }
    bulk = W @ project @ W.T
    for b in LETTERS:
        part = group == bool(b)
        values |= {
            s.m_of[b]: a[part].sum() / np.sqrt(p),
            s.zeta_of[b]: a[part] @ W[part] @ v / np.sqrt(p),
            s.q2_of[b]: a[part] @ a2[part] / p,
            s.V2_hat_of[b]: own[b],
        }
        for c in LETTERS:
            other = group == bool(c)
            values[s.V1_hat_of[b][c]] = hats[min(b, c), max(b, c)]
            blocks += hats[min(b, c), max(b, c)] * np.outer(part, other) * bulk
    for b, c in PAIRS:
        first, second = group == bool(b), group == bool(c)
        one = (a * first) @ bulk @ (a2 * second) / p
        two = (a * second) @ bulk @ (a2 * first) / p
        values[s.q1_of[b][c]] = (one + two) / 2  # only the symmetric part enters the covariance
    values[s.block_form] = a @ blocks @ a2 / p
    return {symbol.name: float(number) for symbol, number in values.items()}


REPLICAS = Domain(
    (
        Range(s.inverse_temperature, 0.3, 3.0, log=True),
        Range(s.own_overlap, 0.2, 2.0),
        Range(s.shared_overlap, 0.2, 2.0),
        Range(s.residual, -2.0, 2.0),
        Range("seed", 0.0, 1e6),
    )
)


def _few_replicas(point: Point) -> Mapping[str, float]:
    """ln of the average of exp(-(B/2) sum (b - h_i)^2) over R = 1, 2, 3 or 4 fields, by linear algebra."""
    count = 1 + int(value(point, "seed")) % 4
    B, own, shared, b = (value(point, x) for x in (s.inverse_temperature, s.own_overlap, s.shared_overlap, s.residual))
    curvature = np.eye(count) + B * (own * np.eye(count) + shared)
    target = np.full(count, b)
    quadratic = B * target @ np.linalg.solve(curvature, target)
    log = -0.5 * np.linalg.slogdet(curvature)[1] - 0.5 * quadratic
    return {s.replicas.name: float(count), s.log_bracket.name: float(log)}


def _feature_claims() -> tuple[Claim, ...]:
    received = s.r * s.letter[0] * s.kappa + sp.sqrt(s.c_of[0]) * s.z
    mean, square = Expectation(sigma(received), s.z), Expectation(sigma(received) ** 2, s.z)
    linear = Expectation(s.z * sigma(received), s.z) / sp.sqrt(s.c_of[0])
    coefficients = ByNumbers("the coefficients that the solver uses", dict, QUADRATURE, functions_at, points=6)

    def definition(name: str, title: str, statement: sp.Equality, check: ByNumbers, *numbers_: int, wrong: sp.Expr) -> Claim:
        return Claim(
            id=f"appendix-d.{name}",
            title=title,
            source=paper(APPENDIX, *numbers_),
            kind=Kind.DEFINITION,
            statement=statement,
            domain=AT_KAPPA,
            checks=(check,),
            mutants=(Mutant("wrong letter or argument", eq(statement.lhs, wrong)),),
            note=FIAT,
        )

    entry = s.bulk_entry + s.r * s.letter[0] * s.direction_entry
    feature = mu0_of[0] + mu1_of[0] * s.row_input + mu2_of[0] * s.xi
    residual = square - mean**2 - s.c_of[0] * linear**2
    return (
        definition(
            "first-layer", "Spiked random features with a vocabulary", eq(s.first_layer_entry, entry),
            ByNumbers("the first layer that is simulated", _random_features, ROUNDING), 133,
            wrong=s.bulk_entry + s.r * s.letter[1] * s.direction_entry,
        ),
        definition(
            "equivalent-map", "Conditional Gaussian equivalent: each neuron has the functions of its letter",
            eq(s.feature_value, feature), ByNumbers("the equivalent map that is simulated", _equivalent_feature, QUADRATURE, functions_at), 134, 135,
            wrong=mu0_of[1] + mu1_of[1] * s.row_input + mu2_of[1] * s.xi,
        ),
        definition("mu0", "Mean feature of a letter given kappa", eq(mu0_of[0], mean), coefficients, 136,
                   wrong=mean.subs(s.letter[0], 1)),
        definition("mu1", "Linear coefficient of a letter given kappa", eq(mu1_of[0], linear), coefficients, 137,
                   wrong=linear * sp.sqrt(s.c_of[0])),
        definition("mu2", "Residual variance of a letter given kappa", eq(mu2_of[0] ** 2, residual), coefficients, 138,
                   wrong=square - mean**2 - linear**2),
        Claim(
            id="appendix-d.letter-scaling",
            title="With one bulk variance a letter's functions are mu_j(u kappa)",
            source=paper(APPENDIX),
            kind=Kind.IDENTITY,
            statement=eq(mu0_of[0], Expectation(sigma(s.r * (s.letter[0] * s.kappa) + sp.sqrt(s.c) * s.z), s.z)),
            domain=Domain((Range(s.letter[0], 0.5, 1.5), Range(s.kappa, 0.3, 1.5)), (), (GENERIC_LETTERS,)),
            checks=(ByDerivation(readout_features.scaling),),
            uses=("appendix-d.mu0",),
            mutants=(Mutant("the letter divides", eq(mu0_of[0], Expectation(sigma(s.r * s.kappa / s.letter[0] + sp.sqrt(s.c) * s.z), s.z))),),
        ),
    )  # fmt: skip


def _overlap_claims() -> tuple[Claim, ...]:
    mean = sum(mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] for a in LETTERS)
    q = (
        mu1_of[0] ** 2 * s.q1_of[0][0]
        + 2 * mu1_of[0] * mu1_of[1] * s.q1_of[0][1]
        + mu1_of[1] ** 2 * s.q1_of[1][1]
        + mu2_of[0] ** 2 * s.q2_of[0]
        + mu2_of[1] ** 2 * s.q2_of[1]
    )
    form = (
        s.V1_hat_of[0][0] * s.q1_of[0][0]
        + 2 * s.V1_hat_of[0][1] * s.q1_of[0][1]
        + s.V1_hat_of[1][1] * s.q1_of[1][1]
        + s.V2_hat_of[0] * s.q2_of[0]
        + s.V2_hat_of[1] * s.q2_of[1]
    )
    readouts = ByNumbers("two random readouts of nine neurons", _random_readout, ROUNDING, _letters)
    B, own, shared, R, b = s.inverse_temperature, s.own_overlap, s.shared_overlap, s.replicas, s.residual
    total = 1 + B * (own + R * shared)
    bracket = -((R - 1) * sp.log(1 + B * own) + sp.log(total)) / 2 - R * B * b**2 / (2 * total)
    ansatz = "An ansatz: it holds by fiat. For the square loss it is exact given the data, see appendix-d.replicas."
    return (
        Claim(
            id="appendix-d.output",
            title="Output by letters: means, overlaps with the spike, and a local field",
            source=paper(APPENDIX, 139, 140, 142),
            kind=Kind.IDENTITY,
            statement=eq(s.letter_output, mean + s.letter_field),
            domain=SEEDED,
            checks=(readouts, ByDerivation(readout_features.output)),
            uses=("appendix-d.equivalent-map",),
            mutants=(Mutant("kappa forgotten", eq(s.letter_output, mean.subs(s.kappa, 1) + s.letter_field)),),
            note="The replicated bracket (139) averages exp of minus B times the loss of this output, one per replica.",
        ),
        Claim(
            id="appendix-d.local-fields",
            title="Covariance of the local fields of two replicas in the overlaps of the letters",
            source=paper(APPENDIX, 141, 144, 145, 146),
            kind=Kind.IDENTITY,
            statement=eq(s.field_covariance, q),
            domain=SEEDED,
            checks=(readouts, ByDerivation(readout_groups.local_fields)),
            uses=("appendix-d.output",),
            mutants=(Mutant("letters do not mix", eq(s.field_covariance, q - 2 * mu1_of[0] * mu1_of[1] * s.q1_of[0][1])),),
        ),
        Claim(
            id="appendix-d.replicated-sample",
            title="One sample averaged over R replicated local fields, square loss",
            source=paper(APPENDIX, 143),
            kind=Kind.IDENTITY,
            statement=eq(s.log_bracket, bracket),
            domain=REPLICAS,
            checks=(ByNumbers("one to four replicas, by linear algebra", _few_replicas, ROUNDING), ByDerivation(replica_gaussians.bracket)),
            uses=("appendix-d.local-fields",),
            mutants=(Mutant("no loss of rank", eq(s.log_bracket, bracket - sp.log(1 + B * own) / 2)),),
            note="V^0 and q^0 stand for V(kappa)/B and q(kappa) of equation (154), b for the label less its mean output.",
        ),
        Claim(
            id="appendix-d.replica-symmetry",
            title="Replica-symmetric overlaps and conjugates, letter by letter",
            source=paper(APPENDIX, 147, 148),
            kind=Kind.DEFINITION,
            statement=eq(s.replica_overlap, s.own_overlap * s.replica_delta + s.shared_overlap),
            domain=Domain(hypotheses=("the replica-symmetric ansatz",)),
            checks=(),
            note=ansatz,
        ),
        Claim(
            id="appendix-d.replicas",
            title="For the square loss replicas are replica-symmetric given the data",
            source=paper(APPENDIX),
            kind=Kind.IDENTITY,
            statement=eq(s.gibbs_moment, s.minimum_entry**2 + s.replica_delta / (B * s.curvature_entry)),
            domain=Domain(),
            checks=(ByDerivation(readout_features.gibbs),),
            mutants=(Mutant("the temperature forgotten", eq(s.gibbs_moment, s.minimum_entry**2 + s.replica_delta / s.curvature_entry)),),
        ),
        Claim(
            id="appendix-d.block-matrices",
            title="Conjugates as one matrix with a block per pair of letters",
            source=paper(APPENDIX, 149, 150),
            kind=Kind.DEFINITION,
            statement=eq(s.block_form, form),
            domain=SEEDED,
            checks=(readouts,),
            mutants=(Mutant("letters do not mix", eq(s.block_form, form - 2 * s.V1_hat_of[0][1] * s.q1_of[0][1])),),
            note="A definition: it holds by fiat. Its quadratic form is what multiplies the overlaps; q^ has the same blocks.",
        ),
    )  # fmt: skip


def _trained(point: Point) -> Mapping[str, float] | None:
    """The training objective per neuron at the solver's saddle point, and the entropic term of isotropic rows there."""
    found = measured(point)
    if found is None:
        return None
    v, beta, ridge = dict(found), value(point, s.beta), value(point, s.ridge)
    bulks = [value(point, x) for x in s.c_of]
    X = [[v[s.q1_hat_of[a][b].name] + beta * v[s.psi_hat_of[a].name] * v[s.psi_hat_of[b].name] for b in LETTERS] for a in LETTERS]
    entropic = sum(X[a][b] * v[s.V1_of[a][b].name] for a in LETTERS for b in LETTERS)
    for a in LETTERS:
        along = v[s.q2_hat_of[a].name] + beta * bulks[a] * v[s.zeta_hat_of[a].name] ** 2
        entropic += along * v[s.V2_of[a].name]
    size = sum(v[x.name] for x in s.q2_of)
    objective = (value(point, s.alpha) / beta * v[s.training_error.name] + ridge * size) / 2
    return {**v, s.entropic_term.name: entropic / 2, s.free_energy.name: objective}


def _free_energy_claims() -> tuple[Claim, ...]:
    conjugate = sum(
        s.q1_hat_of[a][b] * s.V1_of[a][b] - s.V1_hat_of[a][b] * s.q1_of[a][b] for a in LETTERS for b in LETTERS
    ) + sum(s.q2_hat_of[a] * s.V2_of[a] - s.V2_hat_of[a] * s.q2_of[a] for a in LETTERS)
    linear = sum(s.zeta_hat_of[a] * s.zeta_of[a] + s.psi_hat_of[a] * s.psi_of[a] for a in LETTERS)
    phi = conjugate / 2 + linear - s.entropic_term + ratio * E(e2 / (2 * (1 + V)))
    traces = sum(s.q1_hat_of[a][b] * s.trace_block[a][b] for a in LETTERS for b in LETTERS) + sum(
        s.q2_hat_of[a] * s.trace_letter[a] for a in LETTERS
    )
    directions = sum(
        s.zeta_hat_of[a] * s.zeta_hat_of[b] * s.spike_block[a][b] + s.psi_hat_of[a] * s.psi_hat_of[b] * s.target_block[a][b]
        for a in LETTERS
        for b in LETTERS
    )
    entropic = (traces + directions) / 2
    return (
        Claim(
            id="appendix-d.local-field-variance",
            title="V(kappa) for several letters",
            source=paper(APPENDIX, 154),
            kind=Kind.IDENTITY,
            statement=eq(s.V, V),
            domain=PLAIN,
            checks=(ByDerivation(readout_groups.local_fields),),
            uses=("appendix-d.local-fields", "appendix-d.replica-symmetry"),
            mutants=(Mutant("letters do not mix", eq(s.V, V - 2 * mu1_of[0] * mu1_of[1] * s.V1_of[0][1])),),
            note="q(kappa) reads the same with q in place of V.",
        ),
        Claim(
            id="appendix-d.energetic-term",
            title="Moreau envelope of one sample for several letters, averaged over all but kappa",
            source=paper(APPENDIX, 153),
            kind=Kind.IDENTITY,
            statement=eq(s.moreau, e2 / (2 * (1 + V))),
            domain=Domain((Range(s.kappa, -1.5, 1.5),), (), (GENERIC_LETTERS,)),
            checks=(ByDerivation(readout_groups.energetic),),
            uses=("appendix-d.local-field-variance", "result-3-3.moreau-envelope"),
            mutants=(Mutant("the fluctuations forgotten", eq(s.moreau, e2 / 2)),),
            note="The local field sqrt(q) x of the paper is averaged over here; e2 is its mean squared distance from the label.",
        ),
        Claim(
            id="appendix-d.entropic-term",
            title="Entropic term for several letters, traces of one given bulk kept",
            source=paper(APPENDIX, 152),
            kind=Kind.IDENTITY,
            statement=eq(s.entropic_term, entropic),
            domain=GIVEN_BULK,
            checks=(_entropic_numbers, ByDerivation(readout_groups.entropic)),
            uses=("appendix-d.block-matrices",),
            mutants=(
                Mutant("letters do not mix in the bulk", eq(s.entropic_term, entropic - s.q1_hat_of[0][1] * s.trace_block[0][1])),
                Mutant("the spike forgotten", eq(s.entropic_term, traces / 2)),
            ),
            note="For any alignment: at the paper's gamma = 1 the conjugates of psi vanish.",
        ),
        Claim(
            id="appendix-d.free-energy",
            title="Replica-symmetric free energy for several letters",
            source=paper(APPENDIX, 151),
            kind=Kind.IDENTITY,
            statement=eq(s.free_energy, phi),
            domain=DOMAIN,
            checks=(
                ByNumbers("the training objective at the solver's saddle point", _trained, SOLVER, functions_at, points=6),
                ByDerivation(readout_groups.assembled),
            ),
            uses=("appendix-d.energetic-term", "appendix-d.entropic-term", "appendix-d.replica-symmetry"),
            mutants=(
                Mutant("the mixed overlap counted once", eq(s.free_energy, phi + s.V1_hat_of[0][1] * s.q1_of[0][1] / 2)),
                Mutant("the sign of the entropic term", eq(s.free_energy, phi + 2 * s.entropic_term)),
            ),
        ),
        Claim(
            id="appendix-d.simulated-test-error",
            title="Test error of spiked random features with two letters",
            source=paper(APPENDIX),
            kind=Kind.CONCENTRATION,
            statement=eq(s.test_error, E(e2) - s.noise),
            domain=DOMAIN,
            checks=(BySimulation("ridge readouts of features with two letters", _simulated),),
            uses=("appendix-d.test-error",),
        ),
    )  # fmt: skip


_entropic_numbers = ByNumbers("one given bulk, as one matrix", given_bulk, ROUNDING)

_SIMULATED: dict[str, Point] = {
    "tanh for sin, letters 1.2 and -0.3": {
        "activation": "z/sqrt(1 + z**2) + 1/4", "target": "sin(z)", s.alpha.name: 1.5, s.beta.name: 0.8, s.ridge.name: 0.3, s.noise.name: 0.1,
        s.gamma.name: 0.8, s.r.name: 1.0, s.letter[0].name: 1.2, s.letter[1].name: -0.3, s.c_of[0].name: 1.2, s.c_of[1].name: 0.9,
        s.fraction[0].name: 0.4,
    },
}  # fmt: skip


@lru_cache(maxsize=8)
def _simulated_models(dimensions: tuple[int, ...], seeds: int) -> Mapping[str, tuple[Measured, ...]]:
    found = {}
    for name, point in _SIMULATED.items():
        runs = []
        for dimension in dimensions:
            run = simulate(model_at(point), dimension=dimension, seeds=seeds)
            model = run.model
            at = dict(point) | {
                s.alpha.name: model.alpha,
                s.beta.name: model.beta,
                s.fraction[0].name: model.groups[0].fraction,
            }
            values = {k: v for k, v in at.items() if isinstance(v, float)}
            runs.append(Measured(dimension, run.values("test_error"), values | numbers(solved(model_at(at))), functions_at(at)))
        found[name] = tuple(runs)
    return found


def _simulated(profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    return _simulated_models(profile.dimensions, profile.seeds)


CLAIMS: tuple[Claim, ...] = (
    *_feature_claims(),
    *_overlap_claims(),
    *_free_energy_claims(),
)

"""Claims of Appendix D up to the free energy: features, overlaps and replicas by letter (equations (133)-(154))."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.free_energy import replica_gaussians
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.derivations.saddle_point import letters as readout_features
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import assembled, energetic, local_fields, mu0_of, mu1_of, mu2_of
from giantsteps.derivations.saddle_point.letter_energy import entropic as letter_energy_entropic
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.letters.saddle_point import V, e2, fit, q, ratio
from giantsteps.verify.claims.saddle_point.formulas import E
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE, ROUNDING, SOLVER
from giantsteps.verify.second_route import replicas
from giantsteps.verify.second_route.saddle_point import letters as numbers
from giantsteps.verify.second_route.saddle_point.simulations import simulated
from giantsteps.verify.second_route.values import LETTERS, nothing
from giantsteps.verify.solver.models import beside_functions, trained

APPENDIX = "Appendix D"
FIAT = "A definition. The check shows that the numerics use exactly this definition."


def _feature_claims() -> tuple[Claim, ...]:
    received = s.r * s.letter[0] * s.kappa + sp.sqrt(s.c_of[0]) * s.z
    mean, square = Expectation(sigma(received), s.z), Expectation(sigma(received) ** 2, s.z)
    linear = Expectation(s.z * sigma(received), s.z) / sp.sqrt(s.c_of[0])
    coefficients = ByNumbers("the coefficients that the solver uses", nothing, QUADRATURE, numbers.functions_at, 6)

    def definition(
        name: str, title: str, statement: sp.Equality, check: ByNumbers, *numbers_: int, wrong: sp.Expr
    ) -> Claim:
        return claim(
            f"appendix-d.{name}", title, paper(APPENDIX, *numbers_),
            statement, replicas.AT_KAPPA,
            check,
            kind=Kind.DEFINITION,
            wrong={"wrong letter or argument": eq(statement.lhs, wrong)},
            note=FIAT,
        )

    entry = s.bulk_entry + s.r * s.letter[0] * s.direction_entry
    feature = mu0_of[0] + mu1_of[0] * s.row_input + mu2_of[0] * s.xi
    residual = square - mean**2 - s.c_of[0] * linear**2
    return (
        definition(
            "first-layer", "Spiked random features with a vocabulary", eq(s.first_layer_entry, entry),
            ByNumbers("the first layer that is simulated", replicas.random_features, ROUNDING), 133,
            wrong=s.bulk_entry + s.r * s.letter[1] * s.direction_entry,
        ),
        definition(
            "equivalent-map", "Conditional Gaussian equivalent: each neuron has the functions of its letter",
            eq(s.feature_value, feature),
            ByNumbers("the equivalent map that is simulated", replicas.equivalent_feature, QUADRATURE,
                      numbers.functions_at), 134, 135,
            wrong=mu0_of[1] + mu1_of[1] * s.row_input + mu2_of[1] * s.xi,
        ),
        definition(
            "mu0", "Mean feature of a letter given kappa", eq(mu0_of[0], mean), coefficients, 136,
            wrong=mean.xreplace({s.letter[0]: sp.S.One}),
        ),
        definition(
            "mu1", "Linear coefficient of a letter given kappa", eq(mu1_of[0], linear), coefficients, 137,
            wrong=linear * sp.sqrt(s.c_of[0]),
        ),
        definition(
            "mu2", "Residual variance of a letter given kappa", eq(mu2_of[0] ** 2, residual), coefficients, 138,
            wrong=square - mean**2 - linear**2,
        ),
        claim(
            "appendix-d.row-norm", "Bulk variance of a letter after one gradient step", paper(APPENDIX),
            eq(s.c_of[0], 1 + (s.letter[0] * s.eta / s.beta) ** 2 * s.h2_star / s.alpha0 * s.h1_check), Domain(),
            ByDerivation(readout_features.row_norm),
            kind=Kind.LIMIT,
            wrong={"the letter once": 1 + s.letter[0] * (s.eta / s.beta) ** 2 * s.h2_star / s.alpha0 * s.h1_check},
            uses=("result-3-1.bulk-variance", "appendix-d.first-layer"),
            note="The readout starts at u/sqrt(p); for u = 1 this is equation (36).",
        ),
        claim(
            "appendix-d.letter-scaling", "With one bulk variance a letter's functions are mu_j(u kappa)",
            paper(APPENDIX),
            eq(mu0_of[0], Expectation(sigma(s.r * (s.letter[0] * s.kappa) + sp.sqrt(s.c) * s.z), s.z)),
            Domain((Range(s.letter[0], 0.5, 1.5), Range(s.kappa, 0.3, 1.5)), (), (numbers.GENERIC_LETTERS,)),
            ByDerivation(readout_features.scaling),
            wrong={"the letter divides": Expectation(sigma(s.r * s.kappa / s.letter[0] + sp.sqrt(s.c) * s.z), s.z)},
            uses=("appendix-d.mu0",),
        ),
    )


def _overlap_claims() -> tuple[Claim, ...]:
    mean = fit
    form = (
        s.V1_hat_of[0][0] * s.q1_of[0][0]
        + 2 * s.V1_hat_of[0][1] * s.q1_of[0][1]
        + s.V1_hat_of[1][1] * s.q1_of[1][1]
        + s.V2_hat_of[0] * s.q2_of[0]
        + s.V2_hat_of[1] * s.q2_of[1]
    )
    readouts = ByNumbers("two random readouts of nine neurons", replicas.random_readout, ROUNDING,
                         lambda _: numbers.GENERIC_LETTERS)
    B, own, shared, R, b = s.inverse_temperature, s.own_overlap, s.shared_overlap, s.replicas, s.residual
    total = 1 + B * (own + R * shared)
    bracket = -((R - 1) * sp.log(1 + B * own) + sp.log(total)) / 2 - R * B * b**2 / (2 * total)
    ansatz = "An ansatz, assumed. For the square loss it is exact given the data, see appendix-d.replicas."
    return (
        claim(
            "appendix-d.output", "Output by letters: means, overlaps with the spike, and a local field",
            paper(APPENDIX, 139, 140, 142),
            eq(s.letter_output, mean + s.letter_field), replicas.SEEDED,
            readouts, ByDerivation(readout_features.output),
            wrong={"kappa forgotten": mean.xreplace({s.kappa: sp.S.One}) + s.letter_field},
            uses=("appendix-d.equivalent-map",),
            note="The replicated bracket (139) averages exp of minus B times the loss of this output, one per replica.",
        ),
        claim(
            "appendix-d.local-fields", "Covariance of the local fields of two replicas in the overlaps of the letters",
            paper(APPENDIX, 141, 144, 145, 146),
            eq(s.field_covariance, q), replicas.SEEDED,
            readouts, ByDerivation(local_fields),
            wrong={"letters do not mix": q - 2 * mu1_of[0] * mu1_of[1] * s.q1_of[0][1]},
            uses=("appendix-d.output",),
        ),
        claim(
            "appendix-d.replicated-sample", "One sample averaged over R replicated local fields, square loss",
            paper(APPENDIX, 143),
            eq(s.log_bracket, bracket), replicas.REPLICAS,
            ByNumbers("one to four replicas, by linear algebra", replicas.few_replicas, ROUNDING),
            ByDerivation(replica_gaussians.bracket),
            wrong={"no loss of rank": bracket - sp.log(1 + B * own) / 2},
            uses=("appendix-d.local-fields",),
            note="V^0 and q^0 stand for V(kappa)/B and q(kappa) of equation (154), b for the label less its mean "
                 "output.",
        ),
        claim(
            "appendix-d.replica-symmetry", "Replica-symmetric overlaps and conjugates, letter by letter",
            paper(APPENDIX, 147, 148),
            eq(s.replica_overlap, s.own_overlap * s.replica_delta + s.shared_overlap),
            Domain(hypotheses=("the replica-symmetric ansatz",)),
            kind=Kind.DEFINITION, note=ansatz,
        ),
        claim(
            "appendix-d.replicas", "For the square loss replicas are replica-symmetric given the data", paper(APPENDIX),
            eq(s.gibbs_moment, s.minimum_entry**2 + s.replica_delta / (B * s.curvature_entry)), Domain(),
            ByDerivation(readout_features.gibbs),
            wrong={"the temperature forgotten": s.minimum_entry**2 + s.replica_delta / s.curvature_entry},
        ),
        claim(
            "appendix-d.block-matrices", "Conjugates as one matrix with a block per pair of letters",
            paper(APPENDIX, 149, 150),
            eq(s.block_form, form), replicas.SEEDED,
            readouts,
            kind=Kind.DEFINITION,
            wrong={"letters do not mix": form - 2 * s.V1_hat_of[0][1] * s.q1_of[0][1]},
            note="A definition. Its quadratic form multiplies the overlaps; q^ has the same "
                 "blocks.",
        ),
    )


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
        s.zeta_hat_of[a] * s.zeta_hat_of[b] * s.spike_block[a][b]
        + s.psi_hat_of[a] * s.psi_hat_of[b] * s.target_block[a][b]
        for a in LETTERS
        for b in LETTERS
    )
    entropic = (traces + directions) / 2
    return (
        claim(
            "appendix-d.local-field-variance", "V(kappa) for several letters", paper(APPENDIX, 154),
            eq(s.V, V), numbers.PLAIN,
            ByDerivation(local_fields),
            wrong={"letters do not mix": V - 2 * mu1_of[0] * mu1_of[1] * s.V1_of[0][1]},
            uses=("appendix-d.local-fields", "appendix-d.replica-symmetry"),
            note="q(kappa) reads the same with q in place of V.",
        ),
        claim(
            "appendix-d.energetic-term",
            "Moreau envelope of one sample for several letters, averaged over all but kappa", paper(APPENDIX, 153),
            eq(s.moreau, e2 / (2 * (1 + V))), Domain((Range(s.kappa, -1.5, 1.5),), (), (numbers.GENERIC_LETTERS,)),
            ByDerivation(energetic),
            wrong={"the fluctuations forgotten": e2 / 2},
            uses=("appendix-d.local-field-variance", "result-3-3.moreau-envelope"),
            note="The local field sqrt(q) x of the paper is averaged over here; e2 is its mean squared distance from "
                 "the label.",
        ),
        claim(
            "appendix-d.entropic-term", "Entropic term for several letters, traces of one given bulk kept",
            paper(APPENDIX, 152),
            eq(s.entropic_term, entropic), numbers.GIVEN_BULK,
            _entropic_numbers, ByDerivation(letter_energy_entropic),
            wrong={
                "letters do not mix in the bulk": entropic - s.q1_hat_of[0][1] * s.trace_block[0][1],
                "the spike forgotten": traces / 2,
            },
            uses=("appendix-d.block-matrices",),
            note="For any alignment: at the paper's gamma = 1 the conjugates of psi vanish.",
        ),
        claim(
            "appendix-d.free-energy", "Replica-symmetric free energy for several letters", paper(APPENDIX, 151),
            eq(s.free_energy, phi), numbers.DOMAIN,
            ByNumbers("the training objective at the solver's saddle point", trained, SOLVER, numbers.functions_at, 6),
            ByDerivation(assembled),
            wrong={
                "the mixed overlap counted once": phi + s.V1_hat_of[0][1] * s.q1_of[0][1] / 2,
                "the sign of the entropic term": phi + 2 * s.entropic_term,
            },
            uses=("appendix-d.energetic-term", "appendix-d.entropic-term", "appendix-d.replica-symmetry"),
        ),
        claim(
            "appendix-d.simulated-test-error", "Test error of spiked random features with two letters", paper(APPENDIX),
            eq(s.test_error, E(e2) - s.noise), numbers.DOMAIN,
            BySimulation("ridge readouts of features with two letters",
                         partial(simulated, replicas.SIMULATED, beside_functions, 0, 10)),
            kind=Kind.CONCENTRATION, uses=("appendix-d.test-error",),
        ),
    )


_entropic_numbers = ByNumbers("one given bulk, as one matrix", numbers.given_bulk, ROUNDING)

CLAIMS: tuple[Claim, ...] = (
    *_feature_claims(), *_overlap_claims(), *_free_energy_claims(),
)

"""What is computed as plain data: dictionaries, lists, numbers and text, ready for JSON.

JSON has no infinity: what is infinite is {"infinite": true, "reason": ...}, and what is not a number is null, with a
status beside it that says why. The command line prints these documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from giantsteps.numerics.models.parameters import UNIFORM
from giantsteps.numerics.models.width_documents import at_width_json, finite, with_warnings

if TYPE_CHECKING:
    from giantsteps.numerics.bounds.results import BestEta, BestRidge, BestSpike, Bounds
    from giantsteps.numerics.certificates.certify import Certificate
    from giantsteps.numerics.certificates.ranges.branch import Branch, Piece
    from giantsteps.numerics.experiments.ridge import Estimate, Simulation
    from giantsteps.numerics.models.model import Model, ReadoutGroup
    from giantsteps.numerics.models.network import Network
    from giantsteps.numerics.models.readout_law import ReadoutLaw
    from giantsteps.numerics.models.solution import Solution
    from giantsteps.numerics.saddle_point.one_group.batch import BatchSolution
    from giantsteps.numerics.spectrum.density import Spectrum

Document = dict[str, Any]

ORDER_PARAMETERS = ("m", "zeta", "psi", "q1", "q2", "V1", "V2")


def nested(value: Any) -> Any:
    """An array (or nested tuples) as nested lists of floats."""
    import numpy as np  # imported late, like the next: the command line answers --help without them

    return np.asarray(value, dtype=float).tolist()


def bulk_document(bulks: Sequence[float]) -> float | list[float]:
    """The bulk variance: one number, or one per readout group where the groups differ."""
    return bulks[0] if len(set(bulks)) == 1 else list(bulks)


def group_document(group: ReadoutGroup) -> Document:
    """One group of the initial readout; "bulk" null where the model decides it."""
    weight = list(group.weights) if group.further_weights else group.weight
    return {"weight": weight, "fraction": group.fraction, "bulk": group.bulk, "bias": group.bias}


def law_document(law: ReadoutLaw) -> Document:
    """The density of an initial readout."""
    return {"law": law.name, "scale": law.scale}


def letter_bulk_text(model: Model) -> str:
    """The bulk variance of a letter u of a density, in words: `Model.letter_bulk`."""
    return "1 + u^2 (bulk - 1)" if model.bulk > 1.0 else "bulk"


def model_document(model: Model) -> Document:
    """A model under the names of the command line's options."""
    from giantsteps.derivations.expressions.parser import to_text

    document: Document = {
        "activation": to_text(model.activation.expression),
        "target": to_text(model.target.expression),
        **{name: getattr(model, name) for name in ("alpha", "beta", "ridge", "noise")},
    }
    if model.step is not None:
        document |= {"alpha0": model.step.alpha0, "eta": model.step.eta, "bulk_model": model.bulk_model}
    document |= spiked_document(model)
    law = model.law
    document["readout"] = [group_document(group) for group in model.groups] if law is None else law_document(law)
    document["rows"] = "gaussian" if model.gaussian_rows else "unit"
    return document | {"loss": model.loss.name}


def described(model: Model | Network, but: tuple[str, ...] = ()) -> str:
    """What a model or network is, in a line: the functions, and the numbers that are not what they are by default.

    `but` names numbers that play no part.
    """
    step = getattr(model, "step", None) or model
    names = ["alpha", "beta", "ridge", *(["noise"] if model.noise else [])]
    parts = [f"{name}={getattr(model, name):g}" for name in names if name not in but]
    parts += [f"{name}={getattr(step, name):g}" for name in ("alpha0", "eta") if hasattr(step, name)]
    if (alignments := getattr(model, "alignments", None)) is not None:
        alignment = "/".join(f"{value:g}" for value in alignments)
        parts += [f"{name}={getattr(model, name):g}" for name in ("spike", "bulk")] + [f"alignment={alignment}"]
    if not isinstance(model.readout, tuple):
        parts.append(f"readout {model.readout}")
    elif model.readout != UNIFORM:
        parts.append(f"{len(model.groups)} readout group{'s' if len(model.groups) > 1 else ''}")
    if getattr(model, "bulk_model", "isotropic") == "network":
        parts.append("network's own bulk")
    parts += ["gaussian rows"] if model.gaussian_rows else []
    parts += [f"{model.loss.name} loss"] if model.loss.name != "square" else []
    return f"{model.activation} learns {model.target}, " + ", ".join(parts)


def spiked_document(model: Model) -> Document:
    """Spike, bulk and alignment: lists where groups or directions differ."""
    alignment = model.alignment if model.rank == 1 else list(model.alignments)
    if (law := model.law) is None:
        return {"spike": model.spike, "bulk": bulk_document(model.bulks), "alignment": alignment}
    readout = {"readout": law_document(law), "bulk_of_letter": letter_bulk_text(model)}
    return {"spike": model.spike, "bulk": model.bulk, "alignment": alignment} | readout


def point_document(
    model: Model,
    numbers: Mapping[str, float],
    order_parameters: Document,
    converged: bool,
    status: str,
) -> Document:
    """One solved point; `numbers` holds test_error, training_error, residual and error_estimate."""
    return {
        "test_error": numbers["test_error"],
        "training_error": numbers["training_error"],
        **spiked_document(model),
        "order_parameters": order_parameters,
        "residual": numbers["residual"],
        "error_estimate": numbers["error_estimate"],
        "converged": converged,
        "status": status,
        **({"rows": "gaussian"} if model.gaussian_rows else {}),
    }


def solution_document(solution: Solution, width: int = 1000) -> Document:
    """A solution with its warnings and its errors at a finite width, or with the width that it is at.

    One of a loss has its name, the other errors, the energy and the error of the order parameters as well.
    """
    if solution.digits is not None:
        return digits_document(solution)
    model, order = solution.model, solution.order_parameters
    names = ("test_error", "training_error", "residual", "error_estimate")
    numbers = {name: float(getattr(solution, name)) for name in names}
    # Of a density the totals over all neurons.
    parameters = {name: nested(getattr(order, name)) for name in ORDER_PARAMETERS}
    if model.law is not None:
        parameters = {name: parameters[name][0] for name in ("zeta", "psi")}
    document = point_document(model, numbers, parameters, bool(solution.converged), solution.status)
    if order.chi.size:
        # Rows of unequal norm: the readout's overlap with them is one order parameter more.
        document["order_parameters"]["chi"] = nested(order.chi)
    if solution.energy is not None:
        document["loss"] = model.loss.name
        for name in ("mean_squared_error", "classification_error", "energy", "parameter_error"):
            if getattr(solution, name) is not None:
                document[name] = getattr(solution, name)
    cleaned: Document = finite(document, solution.status)
    if solution.width is not None:
        return cleaned | {"width": solution.width, "warnings": list(model.warnings)}
    cleaned |= at_width_json(width, bool(solution.converged), partial(solution.at_width, width))
    return with_warnings(cleaned, model)


def digits_document(solution: Solution) -> Document:
    """A solution to many digits: its numbers as text."""
    from mpmath import mp

    assert solution.digits is not None, "a solution in double precision has numbers"
    order = solution.order_parameters
    numbers = {"test_error": solution.test_error, "training_error": solution.training_error}
    numbers |= {name: getattr(order, name).flat[0] for name in ORDER_PARAMETERS}
    if order.chi.size:
        numbers["chi"] = order.chi[0]
    return {
        "status": solution.status,
        "digits": solution.digits,
        **{name: mp.nstr(value, solution.digits) for name, value in numbers.items()},
        "residual": mp.nstr(solution.residual, 2),
        "check": mp.nstr(solution.error_estimate, 2),
    }


def batch_document(batch: BatchSolution) -> Document:
    """A batch: every entry a list nested as the grid is (a number for a single point)."""
    names = ("test_error", "training_error", "residual", "error_estimate")
    numbers = {name: getattr(batch, name).tolist() for name in names}
    names = (*ORDER_PARAMETERS, *(("chi",) if batch.chi.size else ()))
    numbers["order_parameters"] = {name: getattr(batch, name).tolist() for name in names}
    cleaned: Document = finite(numbers, "it exceeds the range of double precision")
    wide = batch.at_width()
    errors = {"test_error": wide.test_error.tolist(), "training_error": wide.training_error.tolist()}
    return {"shape": list(batch.shape)} | cleaned | {
        "converged": batch.converged.tolist(), "status": batch.status.tolist(),
        "at_width": {"width": wide.width, **finite(errors)}, "warnings": list(batch.warnings),
    }  # fmt: skip


def bounds_document(found: Bounds) -> Document:
    """Both bounds, in the words of `giantsteps bounds`."""
    document: Document = {"lower": found.lower, "upper": found.upper}
    if found.least is not None and found.at_infinite_ridge is not None and found.mean_squared_error is not None:
        square, limit = found.mean_squared_error
        document |= {
            "lower_reached": not found.least.at_infinity,
            "upper_reached": not found.at_infinite_ridge.at_infinity,
            "mean_squared_error": {"lower": square, "upper": limit},
        }
    if found.classification_error is not None:
        document["classification_error"] = {"upper": found.classification_error}
    document |= {"error_estimate": found.error_estimate, "converged": found.converged}
    cleaned: Document = finite(document, "out of reach of double precision")
    return cleaned


def ridge_document(
    best: BestRidge,
    reason: str = "the test error falls towards the upper bound as the ridge grows, and no ridge does better",
) -> Document:
    """The best ridge; `reason` says why it may be infinite."""
    return {
        "ridge": finite(best.ridge, reason),
        "test_error": best.test_error,
        "error_estimate": best.error_estimate,
        "at_smallest_ridge_tried": best.at_zero,
        "minima": [{"ridge": minimum.at, "test_error": minimum.error} for minimum in best.minima],
    }


def eta_document(best: BestEta) -> Document:
    """The best learning rate, with the spike, bulk and alignment that it leads to."""
    return {
        "eta": best.eta,
        "test_error": best.test_error,
        "spike": best.model.spike,
        "bulk": best.model.bulk,
        "alignment": best.model.alignment,
        "at_largest_eta_tried": best.at_edge,
        "minima": [{"eta": minimum.at, "test_error": minimum.error} for minimum in best.minima],
    }


def spike_document(best: BestSpike) -> Document:
    """The best spike of a bound."""
    return {"spike": best.spike, "bound": best.bound}


def certificate_document(certificate: Certificate) -> Document:
    """A certificate; where there is none, its status says why."""
    if not certificate.certified:
        nothing = dict.fromkeys(("box", "only_solution_by", "contraction", "test_error"))
        return {"status": certificate.status, **nothing, "digits": 0}
    texts = certificate.texts()
    names = ("test_error", "training_error", *ORDER_PARAMETERS, *(["chi"] if "chi" in texts else []))
    return {
        "status": certificate.status,
        "box": box_texts(certificate),
        "only_solution_by": certificate.only_by or None,
        "contraction": certificate.contraction,
        "test_error": texts["test_error"],
        "digits": certificate.digits,
        "enclosures": {name: texts[name] for name in names},
    }


# The sides of a box by their number: on a network's own bulk b1 and b2, too, or b2 alone where the activation is odd.
SIDES = {0: (), 2: ("V1", "V2"), 3: ("V1", "V2", "b2"), 4: ("V1", "V2", "b1", "b2")}


def box_texts(certificate: Certificate | Piece) -> dict[str, list[str]]:
    """The box of the solution, its ends as doubles rounded inwards, so that what is printed is certain."""
    return {
        name: [
            repr(math.nextafter(float(ball.lower()), math.inf)),
            repr(math.nextafter(float(ball.upper()), -math.inf)),
        ]
        for name, ball in zip(SIDES[len(certificate.box)], certificate.box, strict=True)
    }


def branch_document(branch: Branch) -> Document:
    """A certified branch, piece by piece from its low end; where a piece is not certified, its status says why."""
    pieces = []
    for piece in branch.pieces:
        texts = piece.texts()
        pieces.append({
            "interval": [piece.low, piece.high],
            "status": piece.status,
            "test_error": texts.get("test_error"),
            "training_error": texts.get("training_error"),
            "box": box_texts(piece) if piece.certified else None,
        })  # fmt: skip
    return {
        "parameter": branch.parameter,
        "branch": pieces,
        "certified_fraction": branch.certified_fraction,
        "only_solution_by": branch.only_by or None,
    }


def simulation_document(run: Simulation) -> Document:
    """One experiment: every observable's mean and standard error by its name."""
    document: Document = {"dimension": run.dimension, "seeds": run.seeds, "kind": run.kind}
    document["sizes"] = {"n": run.sizes.n, "p": run.sizes.p, "n0": run.sizes.n0}
    if run.model.gaussian_rows:
        document["rows"] = "gaussian"
    return document | {name: estimate_document(found, run.seeds) for name, found in run.estimates.items()}


def estimate_document(estimate: Estimate, seeds: int) -> Document:
    """Mean and standard error; where one is infinite, why."""
    overflow = "it exceeds the range of double precision in some of the experiments"
    spread = "one seed shows no spread; two or more give a standard error" if seeds == 1 else overflow
    return {
        "mean": finite(estimate.mean, overflow),
        "standard_error": finite(estimate.standard_error, spread),
    }


def spectrum_document(found: Spectrum) -> Document:
    """The spectrum; outliers that grow carry their slope per sample, their correction of order one, and the number of
    samples from which on they are where these say.
    """
    same = "another outlier has the same slope, and their difference grows with the root of the number of samples"
    grown = (
        {
            "per_sample": outlier.slope,
            "correction": outlier.correction,
            "from_samples": finite(least if math.isinf(least := outlier.from_samples) else math.ceil(least), same),
        }
        for outlier in found.outliers
    )
    return {
        "edges": [list(interval) for interval in found.edges],
        "atom_at_zero": found.atom_at_zero,
        "outliers": [
            *grown,
            *found.detached,
        ],
        "x": found.x.tolist(),
        "density": found.density.tolist(),
        "cumulative": found.cumulative.tolist(),
        "below_resolution": found.below_resolution,
        "mass": found.mass,
        "mass_error": found.mass_error,
        "mean_error": found.mean_error,
        "converged": found.converged,
        "status": found.status,
    }

"""giantsteps spectrum: the limiting spectrum of the feature matrix, with a sample's eigenvalues beside it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.command_line.console import Output, number, print_json, provenance, table
from giantsteps.reports.command_line.options import (
    FORMULAS,
    SEED,
    common_options,
    model_options,
    name_option,
    not_offered,
    option,
    whole,
)
from giantsteps.reports.command_line.problems import DONE, UNDECIDED, InputProblem
from giantsteps.reports.command_line.request import request
from giantsteps.reports.commands.activation import figure_file
from giantsteps.reports.figures.files import save

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.figure import Figure
    from numpy.random import Generator

    from giantsteps.numerics.models.model import Model
    from giantsteps.numerics.models.network import Network
    from giantsteps.numerics.spectrum.density import Spectrum

HELP = f"""\b
Examples:
  giantsteps spectrum --activation tanh --alpha 1.5 --beta 1 --spike 1 --bulk 1
  giantsteps spectrum --activation tanh --alpha 1.5 --beta 1 --spike 1 --bulk 1 --simulate 1000 --plot spectrum.svg
  giantsteps spectrum --activation tanh --target sign --alpha 1.5 --beta 1 --alpha0 1 --eta 5 \\
      --simulate 1000

The spectrum of Phi^T Phi/p by the theory: density, edges of the support, share of zeros, and outliers. An outlier due
to the mean of the features grows with the number n of samples, as n times its slope plus its correction. "From n = N
on": for n >= N it lies beyond the bulk, and the formula has a relative error of at most a tenth. Ridge and loss have no
effect and may be omitted; with --spike and --bulk also target, noise and alignment. With --alpha0 and --eta the rows
are the network's own, which requires one readout group; --bulk-model isotropic uses the bulk of the paper.

--simulate D draws one sample at dimension D: a network after its gradient step with --alpha0 and --eta, spiked random
features with --spike or --kind srf.

{FORMULAS}
Exit code 3 if atom and density do not add up to 1, or if the spectrum could not be computed; JSON then has only status
and converged (false).
"""


@click.command(help=HELP)
@model_options
@option("--simulate size", "D", "Also draw one sample at input dimension D.", whole(2, 8000, "1000"))
@name_option("--kind", "What is drawn: srf or network (default: by --bulk-model).", "srf", "network")
@option("--seed", "S", "Seed of the sample (default 0).", SEED, 0)
@option("--plot", "FILE", "Write the figure to a .svg, .png or .pdf file.")
@common_options
def spectrum(out: Output, size: int | None, kind: str | None, seed: int, plot: str | None, **options: Any) -> int:
    """The spectrum of one model; the exit code."""
    file = None if plot is None else figure_file(plot)
    filled = with_idle(options)
    asked = request(filled, kind=kind)
    point, model = asked.only("spectrum")
    drawn = kind or ("network" if asked.bulk_model == "network" else "srf")
    subject = asked.network(point) if drawn == "network" and size is not None else model

    from numpy.random import default_rng

    from giantsteps.numerics.models.network import SimulationError
    from giantsteps.numerics.spectrum.density import SpectrumError
    from giantsteps.numerics.spectrum.density import spectrum as spectrum_of

    idle = {name for name, value in filled.items() if options.get(name) is None and value is not None}
    given = {name: value for name, value in asked.parameters.items() if name not in idle}
    if size is not None:
        given |= {"simulate": size, "kind": drawn, "seed": seed}
    about = {"warnings": list(model.warnings), "provenance": provenance("spectrum", given)}
    with out.progress("continuing to the real axis", 1 + (size is not None)) as progress:
        try:
            found = spectrum_of(model)
            progress.step()
            sampled = None if size is None else sample(subject, size, (default_rng([seed, size, k]) for k in range(3)))
        except (ModelError, SimulationError) as error:
            raise InputProblem(str(error)) from None
        except SpectrumError as error:
            easier = "a larger bulk is easier, for example --bulk 1"
            if model.step is not None:  # which makes the bulk
                easier = "a shorter step and a bounded target are easier, for example --eta 1 --target sin"
            sentence = f"the spectrum cannot be computed here: {error}; {easier}"
            if out.as_json:
                print_json({"converged": False, "status": sentence} | about)
            raise InputProblem(sentence, UNDECIDED) from None
    out.warn([model])
    out.tell_groups(options, asked.groups)
    document = found.document()
    if sampled is not None:
        document["simulation"] = sample_json(found, model, sampled, size or 0)
    # Before anything is printed: a pipe that closes early, as that to `head`, ends the command there.
    problem = None if file is None else save(partial(draw, found, sampled), file)
    out.tell(document | about, lambda: spectrum_text(document))
    if problem is not None:
        raise problem
    return DONE if found.converged else UNDECIDED


# What plays no part.
not_offered(spectrum, "ridge", "alignment", "loss")


def with_idle(options: Mapping[str, Any]) -> dict[str, Any]:
    """The model options with a value for whatever plays no part in the spectrum and was not given.

    That is the ridge, which fits a readout to the features; and, where the spike is given and does not follow from a
    step on labels, all that says what the labels are. Raises InputProblem where something else is missing.
    """
    given = {name for name, value in options.items() if value is not None}
    stepped = bool(given & {"alpha0", "eta"})
    needed = ["activation", "alpha", "beta", *(["target", "alpha0", "eta"] if stepped else ["spike"])]
    if not stepped and "readout" not in given:
        needed.append("bulk")
    missing = [f"--{name}" for name in needed if name not in given]
    if missing:
        raise InputProblem(
            f"missing: {', '.join(missing)}; a spectrum needs --activation, --alpha, --beta and either --spike and "
            "--bulk, for example --activation tanh --alpha 1.5 --beta 1 --spike 1 --bulk 1, or --target, --alpha0 and "
            "--eta"
        )
    idle = {"ridge": "1"} if stepped else {"ridge": "1", "target": "tanh", "alignment": "1"}
    return {**options, **{name: value for name, value in idle.items() if name not in given}}


def sample(subject: Model | Network, dimension: int, streams: Iterable[Generator]) -> Any:
    """The eigenvalues of Phi^T Phi/p of one draw of a network, or of spiked random features, increasing.

    The three streams draw weights, inputs and the batch of the step.
    """
    import numpy as np
    from scipy.linalg import eigvalsh

    from giantsteps.numerics.experiments.ensembles import Sizes, block_rows, spiked_random_features, trained_network
    from giantsteps.numerics.models.network import Network

    weights, inputs, batch = streams
    sizes = Sizes.of(subject, dimension)
    if isinstance(subject, Network):
        drawn = trained_network(subject, sizes, weights, batch)
    else:
        drawn = spiked_random_features(subject, sizes, weights)
    features = np.empty((sizes.n, sizes.p))
    rows = block_rows(max(sizes.p, sizes.d))
    for first in range(0, sizes.n, rows):
        block = slice(first, min(first + rows, sizes.n))
        features[block] = drawn.features(inputs.standard_normal((block.stop - first, sizes.d)))
    small = features @ features.T if sizes.n < sizes.p else features.T @ features
    values = np.maximum(eigvalsh(small / sizes.p), 0.0)
    return np.concatenate([np.zeros(sizes.p - len(values)), values])


def sample_json(found: Spectrum, model: Model, values: Any, dimension: int) -> dict[str, Any]:
    """What of a sample is to be compared: its largest and smallest eigenvalues beside the limits'."""
    import numpy as np

    samples = round(model.alpha * dimension)
    top = found.edges[-1][1] if found.edges else 0.0
    if math.isinf(top):  # a tail without end: where half an eigenvalue of so many lies beyond
        top = float(np.interp(1.0 - 0.5 / len(values), found.cumulative, found.x))
    predicted = [outlier.at(samples) for outlier in found.outliers]
    above = sorted([x for x in (*predicted, *found.detached) if x > top], reverse=True)
    count = len(above)
    positive = values[round(found.atom_at_zero * len(values)) :]
    return {
        "dimension": dimension,
        "outliers": [float(x) for x in values[::-1][:count]],
        "predicted_outliers": above,
        "largest_of_bulk": float(values[-1 - count]),
        "smallest_of_bulk": float(positive[0]) if len(positive) else 0.0,
        "eigenvalues": [float(x) for x in values],
    }


def spectrum_text(document: dict[str, Any]) -> str:
    """The spectrum for people."""
    intervals = ", ".join(f"[{number(a)}, {number(b)}]" for a, b in document["edges"])
    rows = [("support", intervals or "none"), ("share of zeros", number(document["atom_at_zero"]))]
    for outlier in document["outliers"]:
        rows.append(("outlier", _grown(outlier) if isinstance(outlier, dict) else number(outlier, 8)))
    rows += [("mass", number(document["mass"])), ("status", document["status"])]
    sampled = document.get("simulation")
    if sampled:
        shown = {
            "sample's outliers": ", ".join(number(x, 6) for x in sampled["outliers"]) or "none",
            "predicted at its n": ", ".join(number(x, 6) for x in sampled["predicted_outliers"]) or "none",
            "sample's bulk": f"[{number(sampled['smallest_of_bulk'], 6)}, {number(sampled['largest_of_bulk'], 6)}]",
        }
        rows += list(shown.items())
    return table(rows)


# Below so many samples nobody takes a limit for a sample.
_FEW = 100


def _grown(outlier: dict[str, Any]) -> str:
    """An outlier that grows with the number of samples, and from how many on."""
    least, correction = outlier["from_samples"], outlier["correction"]
    text = f"{number(outlier['per_sample'], 8)} n {'-' if correction < 0.0 else '+'} {number(abs(correction), 8)}"
    if isinstance(least, dict):
        return f"{text}; {least['reason']}"
    return f"{text}, from n = {number(least, 3)} on" if least > _FEW else text


def draw(found: Spectrum, sampled: Any) -> Figure:
    """The density, with a histogram of the sample's bulk behind it."""
    import numpy as np

    from giantsteps.reports.figures.canvas import panels
    from giantsteps.reports.figures.results import BLUE, into

    canvas, axes = panels(size=(6.4, 3.8))
    into(found, axes)
    # The title would show parameters that do not affect a spectrum.
    axes.set(title="", xlabel="eigenvalue of ΦᵀΦ/p")
    axes.plot([], [], color=BLUE, label="theory")
    if sampled is not None:
        inside = sampled[(sampled > 1e-9) & (sampled < axes.get_xlim()[1])]
        heights, ends = np.histogram(inside, bins=60)
        density = heights / (len(sampled) * np.diff(ends))
        axes.stairs(density, ends, fill=True, color="#CCCCCC", label="sample", zorder=0)
    axes.legend(frameon=False)
    return canvas  # type: ignore[no-any-return]

"""giantsteps weights: spike, alignment, bulk, step and spectrum of given weights, beside the theory."""

from __future__ import annotations

from typing import Any

import click

from giantsteps.numerics.models.parameters import ModelError
from giantsteps.reports.command_line.console import Output, number, provenance, table
from giantsteps.reports.command_line.options import FORMULAS, common_options, model_options, not_offered, option
from giantsteps.reports.command_line.problems import DONE, UNDECIDED, InputProblem
from giantsteps.reports.command_line.request import request

HELP = f"""\b
Examples:
  giantsteps weights after.npy --before before.npy
  giantsteps weights net.npz --key W --before net.npz::W0 --theta net.npz --activation tanh --target sin \\
      --alpha0 2 --eta 3
  giantsteps weights after.npy --spike 1.4 --bulk 1.2 --alignment 0.8 --json

Measure the first-layer weights W of a network whose readout weights are equal: spike r, alignment gamma, bulk c, the
bulk and the rank of the step W - W0, and the 10th, 50th and 90th percentile of the eigenvalues of W W^T. With a model
the theory stands beside each, at beta = p/d. FILE is .npy, .npz or a PyTorch state_dict, a row a neuron; nothing in it
is executed. Errors are standard deviations, over neurons and, beside the theory, over batches of the step.

Without --theta the alignment is not measured: the step only gives the spike's direction, its top right singular vector.

{FORMULAS}
Exit code 3 if the spectrum of the weights could not be computed.
"""


@click.command(help=HELP)
@click.argument("file")
@option("--before", "FILE", "The weights W0 before the step.")
@option("--theta", "FILE", "The direction of the target, a vector of d numbers.")
@option("--key", "NAME", "The name of W, and of W0, in files of several; or write FILE::NAME.")
@model_options
@common_options
def weights(out: Output, file: str, before: str | None, theta: str | None, key: str | None, **options: Any) -> int:
    """Measure the weights of a file; the exit code."""
    from giantsteps.numerics.experiments.given_weights import measure
    from giantsteps.numerics.spectrum.axis import SpectrumError
    from giantsteps.reports.answers.weights_file import read_array

    W = read_array(file, key, 2)
    W0, direction = before and read_array(before, key, 2), theta and read_array(theta, None, 1)
    model, given = None, {}
    if any(options[name] is not None for name in ("activation", "target", "alpha0", "eta", "spike")):
        idle = {"alpha": "1", "ridge": "1", "beta": repr(W.shape[0] / W.shape[1])}
        idle |= {} if options["spike"] is None else {"activation": "tanh", "target": "tanh"}
        asked = request({name: idle.get(name) if value is None else value for name, value in options.items()})
        (_, model), given = asked.only("weights"), asked.parameters
    try:
        found = measure(W, W0, direction, model)
    except ModelError as error:
        raise InputProblem(str(error)) from None
    except SpectrumError as error:
        raise InputProblem(f"the spectrum of the weights cannot be computed: {error}", UNDECIDED) from None
    if model is not None:
        out.warn([model])
    if theta is None:
        out.note(f"without --theta the alignment is not measured; the spike's direction is that of the {found.origin}")
    out.tell(found.to_dict() | {"provenance": provenance("weights", given)}, lambda: _text(found.rows(), W.shape))
    return DONE


# What plays no part, or follows from the weights.
not_offered(weights, "alpha", "beta", "ridge", "loss", "readout", "bias")


def _text(rows: list[dict[str, Any]], shape: tuple[int, ...]) -> str:
    digits = {"measured": 5, "error": 2, "theory": 5, "difference": 2}
    lines = [[row["name"].replace("_", " "), *(number(row[name], k) for name, k in digits.items())] for row in rows]
    header = ["", "measured", "error", "theory", "difference/error"]
    return f"p = {shape[0]}, d = {shape[1]}\n{table(lines, header, right=frozenset((1, 2, 3, 4)))}"

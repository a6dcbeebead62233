"""Commands that are announced and not built yet: they say so and end with exit code 2."""

from __future__ import annotations

import click

from reports.problems import not_built


def _unbuilt(name: str, example: str, text: str, instead: str) -> click.Command:
    @click.command(
        name,
        help=f"\b\nExamples:\n  {example}\n\n{text} Not built yet.",
        context_settings={"ignore_unknown_options": True},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: tuple[str, ...]) -> None:
        raise not_built(f"onestep {name}", instead)

    return command


spectrum = _unbuilt(
    "spectrum",
    "onestep spectrum --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 "
    "--alignment 0.8",
    "The spectrum of the feature matrix.",
    "onestep solve gives the errors of the same model",
)
sweep = _unbuilt(
    "sweep",
    "onestep sweep grid.toml --out results",
    "A grid of models described in a file.",
    "a sweep on the command line is, for example onestep solve ... --alpha log:0.1:10:20",
)

"""Commands that are announced and not built yet: they say so and end with exit code 2."""

from __future__ import annotations

import click

from onestep.reports.command_line.problems import not_built


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

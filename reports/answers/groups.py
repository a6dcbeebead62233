"""What --readout and --bias make together, told before the numbers: the product of the two lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import ReadoutGroup
    from giantsteps.reports.command_line.console import Output

_SHOWN = 6


def product_sentence(options: Mapping[str, Any], groups: Sequence[ReadoutGroup]) -> str | None:
    """The groups that --readout times --bias make; None where not both lists were given.

    To pair a weight with a bias, --readout takes u:fraction:bulk:bias with the bulk left empty.
    """
    if not options.get("readout") or options.get("bias") in (None, "learned"):
        return None
    told = [f"u {'/'.join(f'{u:g}' for u in g.weights)}, bias {g.bias:g} ({g.fraction:.3g})" for g in groups[:_SHOWN]]
    more = [f"{len(groups) - _SHOWN} more"] if len(groups) > _SHOWN else []
    return (
        f"{len(groups)} groups: {'; '.join([*told, *more])}. --readout and --bias make the product of the two lists; "
        'to pair them, use --readout "u:fraction::bias,..."'
    )


def tell_groups(options: Mapping[str, Any], groups: Sequence[ReadoutGroup], out: Output) -> None:
    """Say on stderr which groups the two lists make."""
    sentence = product_sentence(options, groups)
    if sentence:
        out.note(sentence)

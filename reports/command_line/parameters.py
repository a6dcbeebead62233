"""Options that take a value: what each accepts, and the sentence for what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.command_line.values import parse_number, parse_values, parse_whole

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., object])
# What is made of the name of an option, "--seed", and its text.
Reader = Callable[[str, str], Any]


def option(
    flags: str, metavar: str, text: str, reader: Reader | None = None, default: Any = None, shell: tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """An option that takes a value; ``flags`` may have the name of its argument after a blank.

    ``reader`` makes something else of its text, or raises InputProblem; a shell suggests what is in ``shell``.
    """

    def read(_: click.Context, param: click.Parameter, value: Any) -> Any:
        return reader(param.opts[0], value) if reader is not None and isinstance(value, str) else value

    return click.option(
        *flags.split(), type=str, metavar=metavar, help=text, default=default, callback=read,
        shell_complete=suggested(*shell),
    )  # fmt: skip


def suggested(*names: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What a shell suggests: the names that begin so."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    return complete


def name_option(
    flag: str, text: str, *names: str, default: str | None = None, example: str = "", joined: str = ", "
) -> Callable[[Command], Command]:
    """An option that takes one of these names; the ``example`` is the first unless given."""

    def read(name: str, given: str) -> str:
        if given not in names:
            raise InputProblem(
                f"{name} was given {given[:60]!a}; accepted are {joined.join(names)}, for example {name} "
                f"{example or names[0]}"
            )
        return given

    return option(flag, "NAME", text, read, default, names)


def whole(least: int, most: int, example: str) -> Reader:
    """A whole number in a range."""
    return lambda name, given: parse_whole(name[2:], given, least, most, example)


def single(name: str, given: str) -> float:
    """One number of a parameter, in its range."""
    found = parse_values(name[2:], given)
    if found.swept:
        raise InputProblem(f"{name} was given {given[:60]!a}; one number is accepted here, for example {name} 1")
    return found.values[0]


def seconds(name: str, given: str) -> float:
    """Processor time."""
    found = parse_number(given)
    if found is None or found <= 0.0:
        raise InputProblem(
            f"{name} was given {given[:60]!a}; a number of seconds > 0 is accepted, for example {name} 60"
        )
    return found


SEED = whole(0, 2**31, "0")
profile_option = name_option(
    "--profile", "quick (default), ci or thorough.", "quick", "ci", "thorough", default="quick"
)

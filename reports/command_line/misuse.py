"""One sentence for a command line that click cannot read: what was given, what is accepted, an example."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from giantsteps.reports.command_line.values import RULES

# What an option is called elsewhere.
_ELSEWHERE: Mapping[str, str] = {
    "--eta": "lr learning-rate step-size",
    "--ridge": "lambda reg regularisation regularization weight-decay l2 penalty",
    "--noise": "delta",
    "--alignment": "gamma overlap cosine",
    "--alpha": "samples n",
    "--alpha0": "batch n0 batch-size",
    "--activation": "student sigma phi nonlinearity",
    "--target": "teacher label",
    "--dimension": "dim d",
    "--steps": "gradient-steps",
    "--out": "output",
    "--beta": "p neurons",
    "--bulk": "variance",
    "--seeds": "repeats replicas",
}
OTHER_NAMES = {name: option for option, names in _ELSEWHERE.items() for name in names.split()}
# What an option holds where it is no plain renaming.
RATIOS: Mapping[str, str] = {
    "--alpha": ", n/d",
    "--alpha0": ", n0/d",
    "--beta": ", p/d",
    "--eta": ", the learning rate over d",
}


def taking_values(command: click.Command) -> set[str]:
    """The options of a command that take a value."""
    return {name for p in command.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}


def check_values(command: click.Command, args: Sequence[str]) -> None:
    """Raises click.BadOptionUsage where an option that takes a value is followed by another option instead.

    click would take that for the value, since an expression may begin with a minus.
    """
    options = {*options_of(command), "--help"}
    rest, valued = iter(args), taking_values(command)
    for word in rest:
        if word == "--":
            return
        value = next(rest, "") if word in valued else ""
        if value.split("=")[0] in options:
            raise click.BadOptionUsage(word, f"{word} is followed by {value}")


def usage_sentence(
    error: click.UsageError, command: click.Command, path: str, others: Mapping[str, Sequence[str]]
) -> str:
    """The sentence for a misuse that click itself noticed in `command`, called as `path` ("giantsteps solve").

    others: the options of the other commands by their name, for an option that was given to the wrong one.
    """
    ending = f"{path} --help shows what is accepted, with examples"
    match error:
        case click.NoSuchOption():
            return unknown_option(error, options_of(command), path, others)
        case click.BadOptionUsage():
            return f"{bad_option(error, command)}; {ending}"
    sentence = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return f"{sentence[:1].lower()}{sentence[1:]}; {ending}"
    # An argument too many or too few: often a value with a space in it that the shell took apart.
    pieces = " ".join(command.collect_usage_pieces(click.Context(command)))
    shown = examples_in(command.help or "")[:1]
    example = f", for example {shown[0]}" if shown else ""
    return (
        f"{sentence[:1].lower()}{sentence[1:]}; {path} {pieces} is accepted, values with spaces or brackets in quotes"
        f"{example}"
    )


def unknown_option(
    error: click.NoSuchOption, accepted: Sequence[str], path: str, others: Mapping[str, Sequence[str]]
) -> str:
    """What is accepted in place of an unknown option: what it is called here, what is close to it, who takes it."""
    given = error.option_name[:60]
    beginning = f"{path} has no option {given!a}; "
    ending = f"; {path} --help shows what is accepted, with examples"
    other = OTHER_NAMES.get(given.lstrip("-").lower())
    close = close_to(given, accepted)
    takers = [name for name, options in others.items() if given in options]
    if other is not None and other in accepted:
        return f"{beginning}it is called {other} here{RATIOS.get(other, '')}{ending}"
    if takers:
        *first, last = takers
        named = f"{', '.join(first)} and {last} take" if first else f"{last} takes"
        return f"{beginning}giantsteps {named} it{ending}"
    if close:
        return f"{beginning}perhaps {' or '.join(close)} is meant{ending}"
    return f"{beginning}accepted are {', '.join(accepted)}{ending}"


def close_to(given: str, accepted: Sequence[str]) -> list[str]:
    """The options, at most three, that begin as the one given does, or else those with a name spelt like it."""
    from difflib import get_close_matches

    name = given.lstrip("-").lower()
    names = [option.removeprefix("--") for option in accepted]
    found = [other for other in names if len(name) > 1 and other.startswith(name)]
    return [f"--{other}" for other in (found or get_close_matches(name, names, n=2, cutoff=0.6))[:3]]


def bad_option(error: click.BadOptionUsage, command: click.Command) -> str:
    """An option without its value, or a flag with one."""
    name = error.option_name
    option = next((p for p in command.params if name in p.opts), None)
    if not isinstance(option, click.Option):
        return " ".join(error.format_message().split()).rstrip(".")
    if option.is_flag:
        return f"{name} was given a value but accepts none"
    followed = re.search(r"followed by (--[\w-]+)", error.message)
    given = f"no value, but is followed by {followed[1]}" if followed else "no value"
    rule = RULES.get(name.lstrip("-"))
    if rule:
        return f"{name} was given {given}; {rule.accepted} is accepted, for example {name} {rule.example}"
    meaning = (option.help or "").rstrip(".")
    return f"{name} was given {given}; it takes {option.metavar or 'a value'}: {meaning[:1].lower()}{meaning[1:]}"


def options_of(command: click.Command) -> list[str]:
    """The long names of the options of a command, in the order of its help."""
    return [name for p in command.params for name in p.opts if name.startswith("--")]


def examples_in(help_text: str) -> list[str]:
    """The example commands of a help text, each on one line: lines that begin with "giantsteps" and continuations."""
    found: list[str] = []
    continued = False
    for line in help_text.splitlines():
        text = line.strip()
        if continued:
            found[-1] += " " + text.rstrip("\\").strip()
        elif text.startswith("giantsteps "):
            found.append(text.rstrip("\\").strip())
        else:
            continue
        continued = text.endswith("\\")
    return found

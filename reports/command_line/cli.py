"""The one command, `giantsteps`: finds the subcommand, and turns whatever happens into an exit code.

Nothing heavy is imported before the chosen subcommand runs, so that every --help answers at once.
"""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from giantsteps.reports.command_line import completion
from giantsteps.reports.command_line.extras import missing
from giantsteps.reports.command_line.machine import signals, streams
from giantsteps.reports.command_line.machine.pace import steady
from giantsteps.reports.command_line.options import suggested
from giantsteps.reports.command_line.problems import BROKEN_PIPE, INTERNAL, INTERRUPTED, UNUSABLE, InputProblem, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Name, which is that of its module too, and one line of help: the help of the group must not import the commands.
COMMANDS: dict[str, str] = {
    "report": "regenerate the whole report: claims, derivations, studies",
    "verify": "run the ledger of claims and print the verdicts",
    "claims": "list the claims, or show one in full",
    "errata": "formulas of our sources that do not hold as printed",
    "activation": "examine an activation: coefficients, closed forms, proofs, bounds",
    "solve": "order parameters, training and test error, by the theory",
    "simulate": "a finite-size experiment: mean and standard error",
    "compare": "compare theory and simulation, with a verdict",
    "bounds": "bounds on the test error over the ridge, and the best ridge",
    "spectrum": "the spectrum of the feature matrix: density, edges, outliers",
    "weights": "measure the weights of your network beside the theory",
    "sweep": "a grid of models from a file, resumable, on one machine or a cluster",
}

EXAMPLES = """\b
Examples:
  giantsteps report
  giantsteps solve --activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1 --spike 1 --bulk 1 --alignment 0.8
  giantsteps solve --activation "erf(z)" --target "sign(z)" --alpha log:0.1:10:9 --beta 1 --ridge 0.1 --alpha0 2 --eta 3
  giantsteps verify result-3-1.spike-strength
  giantsteps activation "z*exp(-z**2/2)"
  giantsteps sweep grid.toml --out results --plot diagram.svg

Derive, compute and verify the theory of two-layer networks after one gradient step (arXiv 2402.04980).

Exit codes: 0 done and verified, 1 something refuted, 2 unusable input, 3 inconclusive or not converged, 4 a defect.
"""


def named(name: str) -> click.Command:
    """The command of a name in the table; imports its module."""
    found: click.Command = getattr(importlib.import_module(f"giantsteps.reports.commands.{name}"), name)
    return found


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order of the table, the main job first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself; imports its module."""
        return named(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with a sentence that names what is accepted."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            meant = "".join(f"; perhaps {name} is meant" for name in get_close_matches(args[0], COMMANDS, n=1))
            raise InputProblem(
                f"there is no command {shown(args[0])}{meant}; accepted are {', '.join(COMMANDS)}, for example "
                f"giantsteps solve --help"
            )
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            from giantsteps.reports.command_line.misuse import check_values

            check_values(command, rest)
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands that begin so, without importing any of them, then options."""
        from click.shell_completion import CompletionItem

        table = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return [*table, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


def print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print the version and stop."""
    if value and not ctx.resilient_parsing:
        from giantsteps.reports.command_line.console import suite_version

        click.echo(f"giantsteps {suite_version()}")
        ctx.exit(0)


def print_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Print what makes a shell complete commands and options, and stop."""
    if shell is not None and not ctx.resilient_parsing:
        click.echo(completion.script(shell, cli))
        ctx.exit(0)


@click.group(
    cls=LazyGroup, help=EXAMPLES, context_settings={"max_content_width": 120, "help_option_names": ["--help", "-h"]}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version, help="Print the version."
)
@click.option(
    "--completion",
    metavar="SHELL",
    is_eager=True,
    expose_value=False,
    callback=print_completion,
    shell_complete=suggested(*completion.SHELLS),
    help='Print the completion for bash, zsh or fish: eval "$(giantsteps --completion bash)".',
)
def cli() -> None:
    """The group; its help text is EXAMPLES."""


# A misuse or an end from outside has no traceback worth reading.
_FORESEEN = (
    KeyboardInterrupt,
    signals.Terminated,
    click.exceptions.Abort,
    click.exceptions.Exit,
    click.ClickException,
    BrokenPipeError,
)

# What the machine refuses is no defect of the suite: no space, no permission, no more files or processes.
_REFUSALS = frozenset(
    getattr(errno, name)
    for name in (
        *("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM", "EBADF"),
        *("EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENXIO", "ENODEV", "ESTALE", "ENAMETOOLONG"),
    )
    if hasattr(errno, name)
)


class Boundary:
    """The outermost boundary: an error that nobody foresaw becomes one sentence and exit code 4.

    `code` is the exit code once the block has ended; `args` is the command line, for the sentence. With ``debug`` the
    traceback is shown too.
    """

    def __init__(self, debug: bool, args: Sequence[str]) -> None:
        self.debug = debug
        self.args = args
        self.code = 0

    def __enter__(self) -> Boundary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if self.debug and not isinstance(error, _FORESEEN):
            import traceback

            traceback.print_exception(kind, error, trace)
        match error:
            case SystemExit():
                return False
            case _ if signals.interrupted():
                self.code = INTERRUPTED
            case signals.Terminated():
                self.code = error.code
            case click.exceptions.Exit():
                self.code = error.exit_code
            case KeyboardInterrupt() | click.exceptions.Abort():
                self.code = INTERRUPTED
            case BrokenPipeError():
                self.code = BROKEN_PIPE
                streams.silence(sys.stdout)
            case InputProblem():
                self.code = complain(str(error), error.code)
            case click.exceptions.NoArgsIsHelpError():
                self.code = complain(error.format_message(), UNUSABLE, bare=True)
            case click.UsageError():
                self.code = complain(usage_sentence(error, self.args), UNUSABLE)
            case click.ClickException():
                self.code = complain(error.format_message(), UNUSABLE)
            case ModuleNotFoundError() if sentence := missing(error):
                self.code = complain(sentence, UNUSABLE)
            case MemoryError():
                self.code = complain(
                    "what was asked for does not fit in memory; ask for fewer points or a smaller dimension, for "
                    "example --dimension 400",
                    UNUSABLE,
                )
            case OSError() if error.errno in _REFUSALS:
                where = f": {shown(str(error.filename), 120)}" if error.filename else ""
                self.code = complain(
                    f"the system refused to write or read ({error.strerror}{where}); free space, permissions or "
                    "another place may help, for example TMPDIR=/var/tmp giantsteps ...",
                    UNUSABLE,
                )
            case _:
                sentence = " ".join(f"{type(error).__name__}: {error}".split())
                hint = "" if self.debug else "; --debug shows where"
                self.code = complain(f"internal error, please report it: {sentence[:300]}{hint}", INTERNAL)
        return True


def usage_sentence(error: click.UsageError, args: Sequence[str]) -> str:
    """One sentence for a misuse that click itself noticed."""
    from giantsteps.reports.command_line.misuse import options_of, usage_sentence

    # click does not always say in which command it happened.
    name = next((word for word in args if not word.startswith("-")), "")
    if name not in COMMANDS:
        return usage_sentence(error, cli, "giantsteps", {})
    commands = {known: named(known) for known in COMMANDS}
    if isinstance(error, click.NoSuchOption) and args[0] == error.option_name:
        return f"{args[0]} was given before the command; options come after it, for example giantsteps {name} --help"
    others = {known: options_of(command) for known, command in commands.items() if known != name}
    return usage_sentence(error, commands[name], f"giantsteps {name}", others)


def complain(sentence: str, code: int, *, bare: bool = False) -> int:
    """Write one sentence to stderr; the code again."""
    try:
        print(sentence if bare else f"giantsteps: {sentence}", file=sys.stderr, flush=True)
    except OSError:
        streams.silence(sys.stderr)
    return code


def wants_debug(args: Sequence[str]) -> bool:
    """Whether --debug is among the options of a command line."""
    return "--debug" in (list(args)[: args.index("--")] if "--" in args else args)


def run(args: Sequence[str]) -> int:
    """Run the command line given by ``args``, or answer the shell that asks what may follow; the exit code."""
    with Boundary(wants_debug(args), list(args)) as boundary, signals.interruptible():
        try:
            if not completion.answer(cli):
                # click's own main() would answer a broken pipe and Ctrl-C in its way; the boundary does it in ours.
                with cli.make_context("giantsteps", list(args)) as context:
                    boundary.code = int(cli.invoke(context) or 0)
        finally:
            sys.stdout.flush()
    return boundary.code


def main() -> int:
    """The entry point of the distribution."""
    steady()
    args = sys.argv[1:]
    signals.listen(wants_debug(args))
    try:
        streams.prepare()
    except InputProblem as closed:
        return complain(str(closed), closed.code)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())

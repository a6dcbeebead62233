"""The names of the profiles, checked before anything heavy is imported."""

from __future__ import annotations

from giantsteps.reports.command_line.completion import named_option
from giantsteps.reports.command_line.problems import InputProblem

NAMES = ("quick", "ci", "thorough")


profile_option = named_option("--profile", "quick (default), ci or thorough.", *NAMES)


def check_profile(name: str) -> str:
    """The name again. Raises InputProblem for an unknown one."""
    if name not in NAMES:
        raise InputProblem(
            f"--profile was given {name[:60]!a}; accepted are {', '.join(NAMES)}, for example --profile quick"
        )
    return name

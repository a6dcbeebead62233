"""A sweep file: TOML with the names of the command line's options, see `numerics.sweeps.sweep`.

kind = "theory"                  # theory, simulation or both
mode = "product"                 # product (default) or zip
activation = "tanh(z)"
target = "sin(z)"
alpha = "log:0.1:10:200"         # a number, a list, "START:STOP:COUNT" or "log:START:STOP:COUNT"
ridge = [0.01, 0.1]
...
steps = 3                        # gradient steps, beside alpha0 and eta: numbers, or one per step, eta = "2/1/0.5"
same_batch = true                # two steps on one batch
readout = "1:0.5,-1:0.5"         # as --readout, --bias (quenched) and --loss; a loss other than square: theory only
bias = "0.3:0.5,-0.3:0.5"
loss = "logistic"
rows = "unit"                    # unit (default) or gaussian, as --rows
width = 1000                     # neurons of the value that stands beside each limit, as --width
[simulation]                     # for simulation and both
dimension = 1000
seeds = 8
seed = 0
kind = "srf"                     # srf (default), network or equivalent
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.command_line.values import (
    LARGEST_DIMENSION,
    MOST_SEEDS,
    RULES,
    Values,
    parse_schedule,
    parse_values,
    parse_whole,
)

if TYPE_CHECKING:
    from giantsteps.numerics.sweeps.sweep import Axis, Experiment, Sweep

LARGEST = 1_000_000  # bytes of a file
TEXTS = ("kind", "mode", "activation", "target", "readout", "bias", "bulk_model", "loss", "rows")
SIMULATION = ("dimension", "seeds", "seed", "kind")
_LIMITS = {"dimension": (2, LARGEST_DIMENSION), "seeds": (1, MOST_SEEDS), "seed": (0, 2**31)}
_EXAMPLES = {"dimension": 1000, "seeds": 8, "seed": 0}


@dataclass(frozen=True)
class SweepFile:
    """A sweep, and the text it was read from."""

    sweep: Sweep
    text: str


def read_sweep(path: Path) -> SweepFile:
    """The sweep that a file describes. Raises InputProblem: one sentence that begins with the file's name."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InputProblem(
            f"{path} cannot be read ({error.strerror}); a sweep file is accepted, for example giantsteps sweep "
            "grid.toml --out results"
        ) from None
    if len(content) > LARGEST:
        raise InputProblem(f"{path} is larger than {LARGEST} bytes; a range is short, for example alpha = '0.1:2:200'")
    try:
        text = content.decode("utf-8-sig")  # without the mark that Notepad writes at the beginning
        return SweepFile(sweep_of(tomllib.loads(text)), text)
    except UnicodeDecodeError:
        raise InputProblem(f'{path} is not text in UTF-8; a sweep file is TOML, for example kind = "theory"') from None
    except tomllib.TOMLDecodeError as error:
        raise InputProblem(f'{path} is not TOML ({error}); a line is for example alpha = "log:0.1:10:200"') from None
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        raise InputProblem(f"{path} has a number of thousands of digits; 17 are accepted, as in alpha = 1.5") from None
    except RecursionError:
        raise InputProblem(f"{path} nests too deeply; a list holds numbers, for example beta = [0.5, 1, 2]") from None
    except InputProblem as problem:
        raise InputProblem(f"{path}: {as_in_a_file(str(problem))}") from None


def sweep_of(document: Mapping[str, Any]) -> Sweep:
    """The sweep of a document as TOML delivers it. Raises InputProblem."""
    from giantsteps.numerics.models.model import UNIFORM
    from giantsteps.numerics.sweeps.sweep import Sweep, SweepError
    from giantsteps.reports.command_line.options import WIDTHS
    from giantsteps.reports.command_line.request import STEP, expression_of, groups_of

    _check_keys(document, (*TEXTS, *RULES, "width", "same_batch", "simulation"), "a sweep file")
    if not isinstance(document.get("same_batch", False), bool):
        raise InputProblem(
            f"same_batch was given {_shown(document['same_batch'])}; true or false is accepted, for example "
            "same_batch = true"
        )
    for name in TEXTS:
        if name in document and not isinstance(document[name], str):
            raise InputProblem(f'{name} was given {_shown(document[name])}, a text is accepted, like {name} = "..."')
    for name in ("activation", "target"):
        if name not in document:
            raise InputProblem(f'{name} is missing; an expression in z is accepted, for example {name} = "tanh(z)"')
        expression_of(name, document[name])
    if document.get("bias", "").strip() == "learned":
        raise InputProblem(
            'bias was given "learned", which giantsteps solve takes; accepted in a sweep are quenched biases, for '
            'example --bias "0.3:0.5,-0.3:0.5"'
        )
    texts = {name: document[name] for name in STEP if isinstance(document.get(name), str)}
    schedule = {name: numbers for name, text in texts.items() if (numbers := parse_schedule(name, text))}
    document = {**document, **{name: numbers[0] for name, numbers in schedule.items()}}
    try:
        return Sweep(
            activation=document["activation"],
            target=document["target"],
            axes=tuple(_axis(name, value) for name, value in document.items() if name in RULES),
            kind=document.get("kind", "theory"),
            mode=document.get("mode", "product"),
            groups=groups_of(document.get("readout"), document.get("bias")) or UNIFORM,
            bulk_model=document.get("bulk_model", ""),
            loss=document.get("loss", "square"),
            rows=document.get("rows", "unit"),
            width=parse_whole("width", str(document.get("width", 1000)), *WIDTHS),
            same_batch=document.get("same_batch", False),
            schedule=tuple(schedule.items()),
            experiment=_experiment(document["simulation"], _usual_kind(document)) if "simulation" in document else None,
        )
    except SweepError as error:
        raise InputProblem(str(error)) from None


def _axis(name: str, given: Any) -> Axis:
    from giantsteps.numerics.sweeps.sweep import Axis

    if isinstance(given, list):
        if not given:
            raise InputProblem(f"{name} was given an empty list; numbers are accepted, for example {name} = [0.5, 1]")
        return Axis(name, tuple(_values(name, item, "a list of numbers").values[0] for item in given))
    found = _values(name, given, "a number, a list, START:STOP:COUNT or log:START:STOP:COUNT", texts=True)
    return Axis(name, found.values, found.swept)


def _values(name: str, given: Any, accepted: str, *, texts: bool = False) -> Values:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number and not (texts and isinstance(given, str)):
        raise InputProblem(
            f"{name} was given {_shown(given)}; {accepted} is accepted, for example --{name} {RULES[name].example}"
        )
    return parse_values(name, repr(given) if number else given)


def _usual_kind(document: Mapping[str, Any]) -> str:
    """What is simulated where the table does not say: what has the bulk of the theory."""
    stepped = "alpha0" in document and document.get("bulk_model") != "isotropic"
    return "network" if stepped else "srf"


def _experiment(table: Any, usual: str) -> Experiment:
    from giantsteps.numerics.sweeps.sweep import Experiment

    if not isinstance(table, dict):
        raise InputProblem(f"simulation was given {_shown(table)}; a table [simulation] is accepted, with seeds = 8")
    _check_keys(table, SIMULATION, "[simulation]")
    for name, (least, most) in _LIMITS.items():
        value = table.get(name, 0 if name == "seed" else None)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            found = "nothing" if value is None else _shown(value)
            raise InputProblem(
                f"{name} under [simulation] was given {found}; a whole number from {least} to {most} is accepted, for "
                f"example {name} = {_EXAMPLES[name]}"
            )
    kind = table.get("kind", usual)
    return Experiment(table["dimension"], table["seeds"], table.get("seed", 0), str(kind))


def _check_keys(document: Mapping[str, Any], accepted: tuple[str, ...], where: str) -> None:
    for name in document:
        if name not in accepted:
            raise InputProblem(
                f"{_shown(name)} is not known in {where}; accepted are {', '.join(accepted)}, for example "
                + ("dimension = 1000" if accepted == SIMULATION else 'alpha = "log:0.1:10:200"')
            )


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def as_in_a_file(sentence: str) -> str:
    """A sentence about options, spelled for a file: --alpha 1.5 in an example becomes alpha = 1.5."""
    said, example, shown = sentence.partition("for example ")

    def assignment(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        plain = re.fullmatch(r"[-+0-9.eE]+|\".*\"", value)
        return f"{name} = {value}" if plain else f'{name} = "{value}"'

    said = re.sub(r"--([a-z][a-z0-9-]*)", lambda found: found[1].replace("-", "_"), said)
    return said + example + re.sub(r"--([a-z][a-z0-9-]*) (\S+)", assignment, shown)

"""The public names as pages show them: how each is called and what its docstring says, read off the objects."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import Any

from markupsafe import Markup

from giantsteps.reports.text.prose import prose

# A default that is longer than this says less than three dots.
_LONG = 28
_METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)


@dataclass(frozen=True)
class PublicName:
    """A name with its call, one line a parameter, the paragraphs of its docstring, and the public methods of a class.

    `equations` are the numbers of the paper that the docstrings cite.
    """

    name: str
    kind: str
    call: str
    text: tuple[str, ...]
    members: tuple[PublicName, ...] = field(default=())
    equations: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """What a search finds it by: its name, those of its methods, and the text, in small letters."""
        return " ".join([self.name, *self.text, *(one.words for one in self.members)]).lower()


def public_names() -> list[PublicName]:
    """The names of `giantsteps.__all__`, functions first."""
    face = import_module("giantsteps")  # it stands above all rooms and is loaded by name where it is looked at
    found = [described(name, getattr(face, name)) for name in face.__all__]
    return sorted(found, key=lambda one: (("function", "class", "exception").index(one.kind), one.name))


def described(name: str, given: Any) -> PublicName:
    """One object. Raises ValueError where it has no docstring."""
    members = tuple(_members(name, given)) if isinstance(given, type) else ()
    text = _paragraphs(name, given)
    cited = [number for part in (text, *(one.text for one in members)) for words in part for number in equations(words)]
    kind = _kind(given)
    call = "" if kind == "exception" else _call(name, given)
    return PublicName(name, kind, call, text, members, tuple(dict.fromkeys(cited)))


def _kind(given: Any) -> str:
    if isinstance(given, type):
        return "exception" if issubclass(given, Exception) else "class"
    return "property" if isinstance(given, property | cached_property) else "function"


def _members(owner: str, given: type) -> Iterator[PublicName]:
    for name in dir(given):
        raw = inspect.getattr_static(given, name)
        if name.startswith("_") or not isinstance(raw, _METHODS):
            continue
        bare = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        home = next(base for base in given.__mro__ if name in vars(base))
        if home.__module__.startswith("giantsteps."):
            kind, full = _kind(bare), f"{owner}.{name}"
            call = full if kind == "property" else _call(full, bare, bound=not isinstance(raw, staticmethod))
            yield PublicName(full, kind, call, _paragraphs(full, bare))


def _paragraphs(name: str, given: Any) -> tuple[str, ...]:
    text = inspect.getdoc(given)
    if not text or (isinstance(given, type) and not given.__doc__):
        raise ValueError(f"the public name {name} has no docstring")
    return tuple(" ".join(part.split()).replace("``", "`") for part in re.split(r"\n\s*\n", text))


def _call(name: str, given: Any, *, bound: bool = False) -> str:
    """How it is called: on one line, or where that is long with a line for each parameter."""
    parameters = [p for p in inspect.signature(given).parameters.values() if not p.name.startswith("_")][bound:]
    shown = []
    star = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        shown.append(_parameter(parameter))
    line = f"{name}({', '.join(shown)})"
    return line if len(line) <= 90 else f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + ")"


def _parameter(parameter: inspect.Parameter) -> str:
    mark = "*" * ((parameter.kind is parameter.VAR_POSITIONAL) + 2 * (parameter.kind is parameter.VAR_KEYWORD))
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = parameter.default
    if default is parameter.empty:
        return f"{mark}{parameter.name}{kind}"
    told = repr(default)
    return f"{parameter.name}{kind} = {told if len(told) <= _LONG and '<' not in told else '...'}"


# "equation (25)", "equations (4)-(7)", "test error (25)": no number of the paper is longer.
_CITED = re.compile(r"(?<![\w)])\((\d{1,3})\)(?:-\((\d{1,3})\))?")


def equations(text: str) -> list[int]:
    """The numbers of equations that a text cites, those of a range too."""
    return [number for first, last in _CITED.findall(text) for number in range(int(first), int(last or first) + 1)]


# A name of several words that runs together: known as a name without a mark.
_CLASS = re.compile(r"(?<![\w.])[A-Z][a-z]+[A-Z]\w*(?!\w)")


def linked(text: str, places: Mapping[str, str], but: str = "") -> Markup:
    """Prose in which the names that have a place lead there, all but one. Raises MathError."""

    def led(name: str) -> str:
        return f'<a href="#{places[name]}">{name}</a>' if name in places and name != but else name

    pieces = re.split(r"(<[^>]*>)", str(prose(text)))  # text and tags by turns
    for k in range(0, len(pieces), 2):
        marked = k > 0 and pieces[k - 1] == "<code>"
        pieces[k] = led(pieces[k]) if marked else _CLASS.sub(lambda found: led(found[0]), pieces[k])
    return Markup("".join(pieces))

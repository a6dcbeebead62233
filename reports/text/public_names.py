"""The public names as pages show them: how each is called and what its docstring says, read off the objects."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from textwrap import dedent
from types import FunctionType
from typing import Any

# A default that is longer than this says less than three dots.
_LONG = 28
# The first of the arguments in a docstring, "name: meaning" or "name, name: meaning" with later lines indented.
_ITEM = re.compile(r"(\w+)(?:, \w+)*: ")
_METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)


@dataclass(frozen=True)
class Argument:
    """A parameter of a call, or a field of a result: its type, its default (None: required) and what it means."""

    name: str
    type: str
    default: str | None
    meaning: str


@dataclass(frozen=True)
class PublicName:
    """A name with its call and what its docstring says: paragraphs (of several lines where they are indented formulas),
    arguments that have a line "name: meaning", and an example; of a class also the public methods.
    """

    name: str
    kind: str
    call: str
    text: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    example: str = ""
    members: tuple[PublicName, ...] = field(default=())


def public_names() -> list[PublicName]:
    """The names of `giantsteps.__all__`, functions first."""
    face = import_module("giantsteps")  # it stands above all rooms and is loaded by name where it is looked at
    found = [described(name, getattr(face, name)) for name in face.__all__]
    return sorted(found, key=lambda one: (("function", "class", "exception").index(one.kind), one.name))


def described(name: str, given: Any) -> PublicName:
    """One object. Raises ValueError where it has no docstring."""
    members = tuple(_members(name, given)) if isinstance(given, type) else ()
    text, arguments, example = _said(name, given)
    kind = _kind(given)
    call = "" if kind == "exception" else _call(name, given)
    return PublicName(name, kind, call, text, arguments, example, members)


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
            yield PublicName(full, kind, call, *_said(full, bare))


def _said(name: str, given: Any) -> tuple[tuple[str, ...], tuple[Argument, ...], str]:
    """What a docstring says: paragraphs, arguments and examples. Raises ValueError where there is none."""
    text = inspect.getdoc(given)
    if not text or (isinstance(given, type) and not given.__doc__):
        raise ValueError(f"the public name {name} has no docstring")
    known = {} if _kind(given) in ("property", "exception") else inspect.signature(given).parameters
    paragraphs: list[str] = []
    examples: list[str] = []
    meanings: dict[str, str] = {}
    for part in re.split(r"\n\s*\n", text):
        if part.lstrip().startswith(">>> "):
            examples.append(inspect.cleandoc(part))
        elif (first := _ITEM.match(part)) and first[1] in known:
            for item in re.split(r"\n(?=\S)", part):
                listed, _, meaning = item.partition(": ")
                meanings |= dict.fromkeys(listed.split(", "), _line(meaning))
        else:
            paragraphs.append(dedent(part) if part.startswith("    ") else _line(part))
    arguments = tuple(
        Argument(one.name, _type(one), _default(one), meanings[one.name])
        for one in known.values()
        if one.name in meanings
    )
    return tuple(paragraphs), arguments, "\n\n".join(examples)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


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
    kind, default = _type(parameter), _default(parameter)
    return f"{mark}{parameter.name}" + (f": {kind}" if kind else "") + (f" = {default}" if default else "")


def _type(parameter: inspect.Parameter) -> str:
    return "" if parameter.annotation is parameter.empty else str(parameter.annotation)


def _default(parameter: inspect.Parameter) -> str | None:
    if parameter.default is parameter.empty:
        return None
    told = repr(parameter.default)
    return told if len(told) <= _LONG and "<" not in told else "..."

"""What the library says of its arguments, in the words of the command line: ridge=0.1 as --ridge 0.1."""

from __future__ import annotations

import ast
import re

# Arguments of the library that are options under the same name, with hyphens.
_NAMES = (
    *("activation", "target", "alpha", "beta", "ridge", "noise", "spike", "bulk", "alignment", "alpha0", "eta"),
    *("readout", "loss", "bulk_model", "digits", "width", "dimension", "dimensions", "seeds", "seed", "kind", "resume"),
    *("gaussian_rows", "steps", "same_batch"),
)
_VALUE = r"\"[^\"]*\"|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^\s,;:)]+"
_ARGUMENT = rf"\b(?:{'|'.join(_NAMES)})=(?:{_VALUE})(?:, further_alignments=\([^()]*\))?"
_RUN = re.compile(rf"{_ARGUMENT}(?:, {_ARGUMENT})*")


def in_options(sentence: str) -> str:
    """The sentence with every argument of the library, as in `ridge=0.1, noise=1`, as an option of the command line."""
    return _RUN.sub(lambda run: " ".join(_option(found[0]) for found in re.finditer(_ARGUMENT, run[0])), sentence)


def _option(argument: str) -> str:
    name, _, value = argument.partition("=")
    option = f"--{name.replace('_', '-')}"
    first, further, rest = value.partition(", further_alignments=")
    if further:
        return f"{option} {'/'.join([first, *_numbers(ast.parse(rest, mode='eval').body)])}"
    if name == "gaussian_rows":
        return f"--rows {'gaussian' if value == 'True' else 'unit'}"
    if value == "True":
        return option
    if name == "readout":
        groups = ast.parse(value, mode="eval").body
        assert isinstance(groups, ast.Tuple)
        return f'{option} "{",".join(map(_group, groups.elts))}"'
    if name in ("alpha0", "eta") and value.startswith("("):
        return f"{option} {'/'.join(_numbers(ast.parse(value, mode='eval').body))}"
    plain = re.fullmatch(r'"([\w:.-]+)"', value)
    return f"{option} {plain[1] if plain else value}"


def _group(call: ast.expr) -> str:
    """One ReadoutGroup as u:fraction[:bulk[:bias]]."""
    assert isinstance(call, ast.Call)
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    fields = [ast.unparse(argument) for argument in call.args]
    fields[0] = "/".join([fields[0], *_numbers(named.get("further_weights"))])
    if "bias" in named:
        fields = [*fields[:2], *(fields[2:3] or [""]), ast.unparse(named["bias"])]
    return ":".join(re.sub(r"\.0\b", "", field) for field in fields)


def _numbers(given: ast.expr | None) -> list[str]:
    return [ast.unparse(number) for number in given.elts] if isinstance(given, ast.Tuple) else []

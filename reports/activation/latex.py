"""`giantsteps activation --latex`: the same document as a block of LaTeX, for a paper or a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.language.rendering import latex
from giantsteps.derivations.language.sympy_expression import to_sympy

_COEFFICIENTS = {
    "h1": r"h_1 = \mathbb{E}[z\,\sigma(z)]",
    "h2": r"h_2 = \mathbb{E}[\sigma(z)^2]",
    "h1_check": r"\check{h}_1 = \mathbb{E}[(\sigma'(z) - h_1)^2]",
}
_FORMS = {
    "mu0": r"\mathbb{E}[\sigma(x + \sqrt{c}\,z)]",
    "mu1": r"\partial_x \mathbb{E}[\sigma(x + \sqrt{c}\,z)]",
    "second_moment": r"\mathbb{E}[\sigma(x + \sqrt{c}\,z)^2]",
}


def study_latex(activation: Activation, document: Mapping[str, Any]) -> str:
    """The activation, its certified coefficients (every digit certain to one unit) and its closed forms.

    z is standard normal, x = r kappa the mean of the pre-activation along the spike and c its variance. What is not
    known is left out.
    """
    lines = [rf"  {name} &= {value}" for name, value in ((r"\sigma(z)", defined(activation)), *rows(document))]
    return "\n".join([r"\begin{align*}", " \\\\\n".join(lines), r"\end{align*}"])


def defined(activation: Activation) -> str:
    """The activation as a formula in z."""
    return str(latex(to_sympy(activation.expression, sp.Symbol("z", real=True))))


def rows(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is known of it: pairs of a name and its value, both LaTeX."""
    coefficients = document["coefficients"]
    for key, name in _COEFFICIENTS.items():
        if "ball" in coefficients[key]:
            yield name, _ball(coefficients[key]["ball"])
        elif coefficients[key].get("infinite"):
            yield name, r"\infty"
    for entry in coefficients["hermite"]:
        if "ball" in entry:
            k = entry["order"]  # of orthonormal polynomials, as the page prints them
            root = rf"/\sqrt{{{k}!}}" if k > 1 else ""
            yield rf"s_{{{k}}} = \mathbb{{E}}[\mathrm{{He}}_{{{k}}}(z)\,\sigma(z)]{root}", _ball(entry["ball"])
    forms = (document["closed_forms"] or {}).get("latex", {})
    for key, name in _FORMS.items():
        if forms.get(key):
            yield name, forms[key]


def _ball(text: str) -> str:
    """[0.5 +/- 1e-9] as 0.5 \\pm 1 \\cdot 10^{-9}."""
    found = re.fullmatch(r"\[(\S+) \+/- ([^e\]]+)(?:e([-+]?\d+))?\]", text)
    if found is None:
        return text
    middle, radius, power = found.groups()
    return rf"{middle} \pm {radius}" + (rf" \cdot 10^{{{int(power)}}}" if power else "")

"""The short page of `giantsteps activation`, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from giantsteps.reports.activation.learning import NEGLIGIBLE

_NAMES = {"h1": "h1 = E[z sigma]", "h2": "h2 = E[sigma^2]", "h1_check": "E[(sigma' - h1)^2]"}
_FORMS = {"mu0": "mu0(x, c)", "mu1": "mu1(x, c)", "second_moment": "E[sigma^2](x, c)"}
_DEFINED = {
    "OwensT(h, a)": "integral of exp(-h^2 (1 + s^2)/2)/(2 pi (1 + s^2)) over s from 0 to a",
    "SignProduct(h, k, rho)": "E[sign(X + h) sign(Y + k)], X and Y standard normal with correlation rho",
}


# Breakpoints that the page names one by one.
_MOST_LISTED = 9
# Letters of a closed form that a person reads beside a number: three lines.
_LONGEST = 240


def study_text(document: Mapping[str, Any], plot: str = "") -> str:
    """The JSON document of `giantsteps activation` as a page for people, with a plot of characters if there is one."""
    parts = [
        f"sigma(z) = {document['expression']}",
        _properties(document),
        _coefficients(document["coefficients"], document["information_exponent"]),
        _closed_forms(document),
        _learning(document),
        plot,
        _warnings(document["warnings"]),
        _open(document["unfinished"], document["out_of_time"], document["undecided"]),
    ]
    return "\n\n".join(part for part in parts if part)


def _lines(title: str, rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in rows)])


def _properties(document: Mapping[str, Any]) -> str:
    strip = document["analytic_strip"]
    if document["breakpoints"]:
        analytic = "not on the whole line"
    elif strip is None:
        analytic = "half width of the strip undecided"
    else:
        analytic = "entire" if isinstance(strip, Mapping) else f"for |Im z| < {strip:.6g}"
    return _lines(
        "Properties",
        [
            ("parity", document["parity"]),
            ("breakpoints", _listed(document["breakpoints"])),
            ("growth", document["growth"]),
            ("analytic", analytic),
        ],
    )


def _number(entry: Mapping[str, Any]) -> str:
    if "ball" not in entry:
        return f"{'infinite' if entry.get('infinite') else 'undecided'}: {entry['reason']}"
    closed = entry["closed_form"]
    if closed is None or closed == entry["ball"]:
        return str(entry["ball"])
    if entry["ball"] == "0":  # which its form hides
        return f"0  ({entry['proof']})"
    written = closed if len(closed) <= _LONGEST else f"a closed form of {len(closed)} letters, which --json writes out"
    return f"{entry['ball']} = {written}  ({entry['proof']})"


def _coefficients(coefficients: Mapping[str, Any], exponent: int | None) -> str:
    rows = [(name, _number(coefficients[key])) for key, name in _NAMES.items()]
    rows += [(f"s_{entry['order']}", _number(entry)) for entry in coefficients["hermite"]]
    rows.append(("information exponent", str(exponent) if exponent is not None else "none found"))
    return _lines("Certified coefficients (z standard normal; every digit shown is certain to one unit)", rows)


def _closed_forms(document: Mapping[str, Any]) -> str:
    closed, status = document["closed_forms"], document["proof"]["status"]
    if closed is None:
        return f"Closed forms: none, because {document.get('why', 'none was found')}"
    rows = [(name, closed[key]) for key, name in _FORMS.items() if closed[key] is not None]
    if closed["second_moment"] is not None:
        rows.append(("mu2^2(x, c)", "E[sigma^2] - mu0^2 - c mu1^2"))
    shown = " ".join(text for _, text in rows)
    rows += [(name, meaning) for name, meaning in _DEFINED.items() if name.split("(")[0] in shown]
    count = len(document["proof"]["obligations"])
    rows.append(("proof", f"{status}, {count} obligations (heat equation, limit c -> 0, growth, analyticity)"))
    rows.append(("holds for", closed["holds_for"]))
    if "compared" in document["proof"]:
        rows.append(("compared", document["proof"]["compared"]))
    if "why" in document:
        rows.append(("missing", document["why"]))
    return _lines("Closed forms (x = r kappa)", rows)


def _learning(document: Mapping[str, Any]) -> str:
    bounds, learning = document["bounds"], document["learning"]
    rows = [
        ("spike emerges", _sure(document["coefficients"]["h1"], document["spike_emerges"], "h1", "r = 0")),
        ("points at g", _sure(document["target_h1"], None, "E[z g]", "the alignment is 0")),
    ]
    square = learning["target_square"]
    if bounds["upper"] is not None:
        rows.append(("E[g^2]", f"{square:.7g}   the error of learning nothing"))
        upper, lower = _error(bounds["upper"], square), _error(bounds["lower"], square)
        rows.append(("upper bound", f"{upper}   dist^2(g, span{{mu0}}): the error at infinite ridge"))
        rows.append(("lower bound", f"{lower}   dist^2(g, span{{mu0, kappa mu1}}): for any ridge and any data"))
    if learning["upper_at_best_spike"] is not None:
        rows.append(("best spike", _best(document)))
        rows.append(("perfect", _perfect(learning)))
    at = f"r = {document['spike']:g}, c = {document['bulk']:g}, alignment 1"
    return _lines(f"Learning g(z) = {document['target']} at {at}", rows)


def _listed(places: Sequence[str]) -> str:
    """Some breakpoints from the middle outwards, and how many there are."""
    if len(places) <= _MOST_LISTED:
        return "; ".join(places) or "none"
    first = (len(places) - _MOST_LISTED) // 2
    return f"{len(places)} with |z| < 64: ...; {'; '.join(places[first : first + _MOST_LISTED])}; ..."


def _sure(entry: Mapping[str, Any], nonzero: bool | None, name: str, otherwise: str) -> str:
    """Whether a number is certainly not zero or certainly zero, as a reader wants to hear it."""
    ball = entry.get("ball")
    if ball == "0":
        return f"no: {name} = 0, and {otherwise} after a gradient step"
    certain = entry["digits"] > 0 if nonzero is None else nonzero
    return f"yes: {name} is not zero" if ball is not None and certain else f"undecided: {name} could not be told from 0"


def _error(value: float, square: float) -> str:
    """An error, and its share of E[g^2]; double precision knows nothing of the smallest."""
    if value <= NEGLIGIBLE * square:
        return "0 to double precision"
    return f"{value:.7g} ({100 * value / square:.3g} %)"


def _best(document: Mapping[str, Any]) -> str:
    learning = document["learning"]
    square, spike, bound = (learning[name] for name in ("target_square", "best_spike", "upper_at_best_spike"))
    if spike is None:
        return f"none: the upper bound is {_error(bound, square)} at every r > 0"
    edge = ", the largest tried" if spike == learning["largest_spike"] else ""
    return f"r = {spike:.6g}{edge}; upper bound {_error(bound, square)}"


def _perfect(learning: Mapping[str, Any]) -> str:
    if learning["target_square"] == 0.0:
        return "there is nothing to learn: the target is zero"
    if not learning["perfect"]:
        return f"no: the upper bound stays positive up to r = {learning['largest_spike']:.4g}"
    return f"yes: {learning['perfect_because'] or 'the upper bound vanishes there, to double precision'}"


def _warnings(warnings: list[str]) -> str:
    return "\n".join(["Warnings", *(f"  - {warning}" for warning in warnings)]) if warnings else ""


def _open(unfinished: list[str], late: list[str], undecided: list[str]) -> str:
    """What the page leaves open, and that the exit code says so."""
    worked = [name for name in unfinished if name not in late]
    said = [f"Not finished in the time allowed, a larger --time-limit helps: {', '.join(late)}"] if late else []
    if worked:
        said.append(
            f"Not finished within the limit on the count of operations, which --time-limit does not move (a shorter "
            f"activation or fewer --digits take less): {', '.join(worked)}"
        )
    rest = [name for name in undecided if name not in unfinished]
    said += [f"Undecided: {', '.join(rest)}, for the reasons above"] if rest else []
    return "\n".join([*said, "(exit code 3)"]) if said else ""

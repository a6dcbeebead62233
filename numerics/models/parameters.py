"""The parameters of a model: ranges, readout groups, and the messages for refused values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar


class ModelError(ValueError):
    """A model that does not exist or is not supported; the message says why."""


@dataclass(frozen=True)
class ReadoutGroup:
    """Neurons that share one value of the initial readout (Appendix D of arXiv 2402.04980).

    weight: u; the argument of the activation is u r kappa + bias + sqrt(bulk) z, with r the model's spike.
    fraction: pi, the share of the neurons.
    bulk: c of the group; None takes the model's, or after a gradient step that of a step u times as long
        (`Model.bulks`).
    bias: b of the group.
    further_weights: u_2, ..., u_s for a spike of s directions, where u and kappa are vectors.
    bulk_error: how far a bulk that was computed may be off, as `Model.given_uncertainty`.

    >>> halves = (giantsteps.ReadoutGroup(1.0, 0.5), giantsteps.ReadoutGroup(-0.5, 0.5))
    >>> giantsteps.solve(model.changed(readout=halves)).m
    array([2.0651..., 1.7899...])
    """

    weight: float = 1.0
    fraction: float = 1.0
    bulk: float | None = None
    bias: float = 0.0
    further_weights: tuple[float, ...] = ()
    bulk_error: float = 0.0

    @property
    def weights(self) -> tuple[float, ...]:
        """u with all its components."""
        return (self.weight, *self.further_weights)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON; "bulk" null where the model decides it."""
        weight = list(self.weights) if self.further_weights else self.weight
        return {"weight": weight, "fraction": self.fraction, "bulk": self.bulk, "bias": self.bias}


UNIFORM = (ReadoutGroup(),)


class MapErrors(NamedTuple):
    """How far spike, bulk and alignment may be off because the averages that they are made of are (an estimate)."""

    spike: float
    bulk: float
    alignment: float


EXACT = MapErrors(0.0, 0.0, 0.0)


def checked_errors(given: object) -> MapErrors:
    """The uncertainty of spike, bulk and alignment. Raises ModelError for all but three numbers >= 0."""
    if given is EXACT:
        return EXACT
    try:
        errors = MapErrors(*map(float, given)) if isinstance(given, tuple | list) else None
    except (TypeError, ValueError, OverflowError):
        errors = None
    if errors is None or not all(0.0 <= error < math.inf for error in errors):
        raise ModelError(
            f"given_uncertainty = {given!r} is not accepted: three finite numbers >= 0 are, how far spike, bulk and "
            "alignment may be off, for example given_uncertainty=(1e-9, 1e-9, 0.0)"
        )
    return errors


Range = tuple[Callable[[float], bool], str, str]
# Squares and cubes of parameters between these, and their ratios, stay inside double precision.
SMALLEST, LARGEST = 1e-50, 1e50
# Components such as 0.6 and 0.8 leave this much of 1 by rounding.
ROUNDED_NORM = 1e-15
MOST_DIRECTIONS = 3
POSITIVE: Range = (lambda x: SMALLEST <= x <= LARGEST, "a number > 0, from 1e-50 to 1e50", "1.5")
NOT_NEGATIVE: Range = (
    lambda x: x == 0.0 or SMALLEST <= x <= LARGEST, "a number >= 0, either 0 or from 1e-50 to 1e50", "0.1",
)  # fmt: skip
REAL: Range = (lambda x: abs(x) <= LARGEST, "a real number of at most 1e50 in size", "1")
_ERROR: Range = (lambda x: x >= 0.0, "a number >= 0", "1e-9")
RANGES: dict[str, Range] = {
    "alpha": POSITIVE,
    "beta": POSITIVE,
    "ridge": NOT_NEGATIVE,
    "noise": NOT_NEGATIVE,
    "spike": REAL,
    "bulk": POSITIVE,
    "alignment": (lambda x: abs(x) <= 1.0, "a number between -1 and 1", "0.8"),
}


def checked_number(name: str, value: object, accepts: Callable[[float], bool], range_: str, example: str) -> float:
    """The value as a float. Raises ModelError where it is no number or out of range."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not accepts(number):
        grid = isinstance(value, Iterable) and not isinstance(value, str) and name in RANGES
        many = f"; a grid of values is for solve_batch(model, {name}=[{example}])" if grid else ""
        raise ModelError(
            f"{name} = {value} is not accepted: it has to be {range_}, for example {name} = {example}{many}"
        )
    return number


def checked_flag(name: str, value: object) -> bool:
    """The value as True or False. Raises ModelError for anything else: every text would be true."""
    if isinstance(value, str) or value not in (True, False):
        raise ModelError(f"{name} = {value!r} is not accepted: True or False is, for example {name}=True")
    return bool(value)


def components(name: str, values: object) -> tuple[object, ...]:
    """The further components of a vector. Raises ModelError for what is no tuple."""
    if not isinstance(values, tuple | list):
        raise ModelError(f"{name} = {values!r} is not accepted: a tuple of numbers is, for example {name}=(0.5,)")
    return tuple(values)


_TWO_GROUPS = "(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))"


def refuse_other_groups(groups: object) -> None:
    """Raises ModelError for what is no sequence of readout groups."""
    if not isinstance(groups, tuple | list) or not all(isinstance(group, ReadoutGroup) for group in groups):
        raise ModelError(
            f"{groups!r} is not accepted as readout groups: a tuple of ReadoutGroup(weight, fraction) is, for example "
            f"{_TWO_GROUPS}"
        )


def checked_groups(groups: tuple[ReadoutGroup, ...]) -> tuple[ReadoutGroup, ...]:
    """The groups with numbers for parameters. Raises ModelError for one out of range and fractions without sum 1."""
    if groups is UNIFORM:
        return groups  # most models, and sweeps make a hundred thousand of them
    refuse_other_groups(groups)
    if not groups:
        raise ModelError("the readout has no groups: give at least one, for example (ReadoutGroup(1.0, 1.0),)")
    checked = []
    for group in groups:
        bulk = group.bulk
        checked.append(
            ReadoutGroup(
                weight=checked_number("weight of a readout group", group.weight, *RANGES["spike"]),
                fraction=checked_number("fraction of a readout group", group.fraction, *POSITIVE),
                bulk=None if bulk is None else checked_number("bulk of a readout group", bulk, *POSITIVE),
                bias=checked_number("bias of a readout group", group.bias, *RANGES["spike"]),
                further_weights=tuple(
                    checked_number("weight of a readout group", u, *RANGES["spike"])
                    for u in components("further_weights", group.further_weights)
                ),
                bulk_error=checked_number("bulk_error of a readout group", group.bulk_error, *_ERROR),
            )
        )
    total = sum(group.fraction for group in checked)
    if abs(total - 1.0) > 1e-9:
        raise ModelError(
            f"the fractions of the readout groups add up to {total:.12g}, not to 1, for example {_TWO_GROUPS}"
        )
    return tuple(checked)


def checked_alignments(first: float, further: tuple[float, ...]) -> tuple[float, ...]:
    """The further alignments as floats. Raises ModelError where all together have norm above 1."""
    given = components("further_alignments", further)
    checked = tuple(checked_number("alignment", value, *RANGES["alignment"]) for value in given)
    square = math.fsum(x * x for x in (first, *checked))
    if square > 1.0 + ROUNDED_NORM:
        raise ModelError(
            f"the alignments have norm {math.sqrt(square):.6g} together, and theta has norm 1: give components whose "
            "squares add up to at most 1, for example alignment=0.6, further_alignments=(0.5,)"
        )
    return checked


def check_rank(rank: int, groups: tuple[ReadoutGroup, ...] | None, unequal_norms: bool) -> None:
    """As many components in every readout weight as there are alignments, at most three; a density has one.

    groups: None for a density. Raises ModelError.
    """
    if rank > MOST_DIRECTIONS:
        raise ModelError(
            f"a spike of {rank} directions was given: at most {MOST_DIRECTIONS} are accepted, for example "
            "alignment=0.6, further_alignments=(0.5,)"
        )
    if groups is None:
        if rank > 1 or unequal_norms:
            raise ModelError(
                "a density of readout weights requires a spike of one direction and rows of equal norm: use the "
                'isotropic bulk and unit rows, bulk_model="isotropic" and gaussian_rows=False'
            )
        return
    counts = sorted({len(group.weights) for group in groups} | {rank})
    if len(counts) > 1:
        raise ModelError(
            f"alignment and readout weights have {' and '.join(map(str, counts))} components: give as many in each, "
            "for example alignment=0.6, further_alignments=(0.5,), readout=(ReadoutGroup(1.5, 0.5, "
            "further_weights=(1,)), ReadoutGroup(1.5, 0.5, further_weights=(-1,)))"
        )
    if rank > 1 and unequal_norms:
        raise ModelError("a spike of several directions requires rows of equal norm: use gaussian_rows=False")


Made = TypeVar("Made")


def naming_what_is_missing(model: type[Made]) -> type[Made]:
    """The class with a sentence for what is left out, or belongs to a gradient step."""
    made = model.__init__

    @wraps(made)
    def checked(self: Made, *args: Any, **given: Any) -> None:
        step = [name for name in ("alpha0", "eta", "steps", "same_batch") if name in given]
        missing = [name for name in ("spike", "bulk", "alignment") if name not in given]
        if step or missing:
            what = f"takes no {' and '.join(step)}" if step else f"is missing {', '.join(missing)}"
            raise TypeError(
                f"Model() {what}: it is made with spike, bulk and alignment, for example spike=1, bulk=1, "
                "alignment=0.8; a model after a gradient step is Model.from_gradient_step(..., alpha0=2, eta=3)"
            )
        made(self, *args, **given)

    setattr(model, "__init__", checked)  # noqa: B010
    return model

"""A model's numbers in balls: exact where they are given, and one of them, or a step's, wider or with a slope."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import rational_upper
from giantsteps.numerics.balls.growth_bounds import BallLine, Line
from giantsteps.numerics.certificates.functions import MovingLine, Problem
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model

Ball = Any

_RATIOS = ("alpha", "beta", "ridge", "noise")


def problem_of(model: Model) -> Problem:
    """A model on the isotropic bulk; every double is the binary rational that it is."""
    return _problem(model, _given(model))


def problem_along(model: Model, parameter: str, value: Any, bits: int) -> Problem:
    """The model with another value of one parameter, a ball or a number with a slope.

    The spike is that of the group, whose weight is a factor of it, and so is the bulk, which may be the group's own.
    After a gradient step spike, bulk and alignment are Result 3.1's, of averages known to about 2**-bits: not doubles.
    Raises BallError where these averages have no balls, and for the bulk of a model whose group has its own.
    """
    own_bulk = model.groups[0].bulk is not None
    if parameter == "bulk" and own_bulk:
        raise BallError("the bulk of the group is given, and that of the model plays no part")
    numbers = _given(model) | {parameter: rational_ball(_weight(model)) * value if parameter == "spike" else value}
    if model.step is not None and parameter not in model.independent:
        mapped = _mapped(model, numbers, bits)
        numbers |= {name: number for name, number in mapped.items() if not (own_bulk and name == "bulk")}
    return _problem(model, numbers)


def _weight(model: Model) -> Fraction:
    return Fraction(model.groups[0].weight)


def _given(model: Model) -> dict[str, Any]:
    """The doubles as fractions."""
    numbers: dict[str, Any] = {name: Fraction(getattr(model, name)) for name in _RATIOS}
    numbers |= {"spike": Fraction(model.slopes[0]), "bulk": Fraction(model.bulks[0])}
    if model.step is not None:
        numbers |= {"alpha0": Fraction(model.step.alpha0), "eta": Fraction(model.step.eta)}
    return numbers | {"alignment": Fraction(model.alignment)}


def _mapped(model: Model, numbers: dict[str, Any], bits: int) -> dict[str, Any]:
    # Imported here: most certificates are of spikes that were given.
    from giantsteps.numerics.certificates.network.labels import LabelBalls
    from giantsteps.numerics.certificates.network.rows import rows_map, slope_balls

    weight = rational_ball(_weight(model))
    slope = slope_balls(model.activation, bits)
    plain, tilted, _ = LabelBalls(model.target, weight * slope.mean, bits).moments(2)
    e = weight * _ball(numbers["eta"]) / _ball(numbers["beta"])
    second = plain[2] + _ball(numbers["noise"])
    spike, bulk, alignment = rows_map(slope, e, _ball(numbers["alpha0"]), plain[1], second, tilted[1])
    return {"spike": spike, "bulk": bulk, "alignment": alignment}


def _problem(model: Model, numbers: dict[str, Any]) -> Problem:
    alignment = numbers["alignment"]
    return Problem(
        student=model.activation,
        target=model.target,
        along=line_of(numbers["spike"], Fraction(model.biases[0]), numbers["bulk"]),
        teacher=line_of(alignment, Fraction(0), 1 - alignment * alignment),
        **{name: _ball(numbers[name]) for name in (*_RATIOS, "bulk")},
    )


def line_of(slope: Any, bias: Fraction, variance: Any) -> Line:
    """slope kappa + bias across a variance, each a fraction, a ball or a number with a slope."""
    if isinstance(slope, Fraction) and isinstance(variance, Fraction):
        return Line(slope, bias, variance)
    slopes, variances = _ball(slope), _ball(variance)
    if not value_of(variances) > 0:
        raise BallError("the variance across the spike has to be positive over the whole interval")
    scales = variances.sqrt()
    across = value_of(slopes)
    numbers = rational_upper(abs(across)), bias, Fraction(1), across, value_of(scales)
    if not (isinstance(slopes, Moving) or isinstance(scales, Moving)):
        return BallLine(*numbers)
    return MovingLine(*numbers, slope_of(slopes), slope_of(scales))


def _ball(number: Any) -> Any:
    return rational_ball(number) if isinstance(number, Fraction) else number

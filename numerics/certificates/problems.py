"""A model's numbers in balls: exact where they are given, and one of them, or a step's, wider or with a slope."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from giantsteps.numerics.balls.arithmetic import BallError, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import rational_upper
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.certificates.functions import Problem
from giantsteps.numerics.certificates.laws import Isotropic
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model

Ball = Any

_RATIOS = ("alpha", "beta", "ridge", "noise")


def problem_of(model: Model, bits: int, labels: Any = None, **moved: Any) -> Problem:
    """A model's problem, every double the binary rational that it is; `moved` has other values of parameters, balls or
    numbers with a slope.

    The spike is that of the group, whose weight is a factor of it, and so is the bulk, which may be the group's own.
    After a gradient step that moves, and on a network's own bulk, spike, bulk and alignment are Result 3.1's, of
    averages known to about 2**-bits: not doubles. labels: those of a network's law, with what they know.

    Raises BallError where these averages have no balls.
    """
    group = model.groups[0]
    weight, bulk = rational_ball(Fraction(group.weight)), Fraction(model.bulks[0])
    numbers: dict[str, Any] = {name: Fraction(getattr(model, name)) for name in (*_RATIOS, "alignment")}
    numbers |= {"spike": Fraction(model.slopes[0]), "bulk": bulk} | moved
    if "spike" in moved:
        numbers["spike"] = weight * moved["spike"]
    law: Any = None
    network = model.network_step is not None
    if model.step is not None and (network or not model.independent.issuperset(moved)):
        # Imported here: most certificates are of spikes that were given.
        from giantsteps.numerics.certificates.network.labels import LabelBalls
        from giantsteps.numerics.certificates.network.law import network_law
        from giantsteps.numerics.certificates.network.rows import rows_map, slope_balls

        alpha0, eta = (_ball(moved.get(name, Fraction(getattr(model.step.only, name)))) for name in ("alpha0", "eta"))
        e, slope = weight * eta / _ball(numbers["beta"]), slope_balls(model.activation, bits)
        noise = Fraction(model.noise) if network else Fraction(0)
        labels = labels or LabelBalls(model.target, weight * slope.mean, bits, noise)
        if network:
            law = network_law(slope, labels, e, alpha0)
            mapped = law.rows.spike, law.rows.bulk, law.rows.alignment
        else:
            plain, tilted, _ = labels.moments(2)
            mapped = rows_map(slope, e, alpha0, plain[1], plain[2] + _ball(numbers["noise"]), tilted[1])
        numbers |= dict(zip(("spike", "bulk", "alignment"), mapped, strict=True))
        if group.bulk is not None and not network:
            numbers["bulk"] = bulk
    alignment = numbers["alignment"]
    return Problem(
        student=model.activation,
        target=model.target,
        along=line_of(numbers["spike"], Fraction(model.biases[0]), numbers["bulk"]),
        teacher=line_of(alignment, Fraction(0), 1 - alignment * alignment),
        law=law or Isotropic(_ball(numbers["bulk"])),
        **{name: _ball(numbers[name]) for name in _RATIOS},
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
    moves = isinstance(slopes, Moving) or isinstance(scales, Moving)
    rates = (slope_of(slopes), slope_of(scales)) if moves else None
    return Line(rational_upper(abs(across)), bias, Fraction(1), across, value_of(scales), rates)


def _ball(number: Any) -> Any:
    return rational_ball(number) if isinstance(number, Fraction) else number

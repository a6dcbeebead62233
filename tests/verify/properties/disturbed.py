"""A theory in which nothing holds: every number that it returns is moved by what depends on all that was asked for.

Whatever a property puts beside whatever, with which tolerance and after which exclusions, then shows in its margins:
two sides that are to be two routes differ, and a side that is compared with itself does not.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping
from inspect import isroutine
from random import Random
from types import SimpleNamespace
from typing import Any

import hypothesis
import mpmath
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider
from hypothesis.strategies import SearchStrategy

from giantsteps.numerics.models.losses import ClippedLoss, ProximalLoss
from giantsteps.numerics.models.model import Model
from giantsteps.verify.properties.property import THEORY, Theory


def key(asked: Any) -> str:
    """All that an argument says, floats to ten digits: the last ones are rounded otherwise elsewhere."""
    if isinstance(asked, Moved):
        return key(asked.number)
    if isinstance(asked, bool | int | str) or asked is None:
        return repr(asked)
    if isinstance(asked, float | complex):
        return f"{complex(asked):.10g}"
    if isinstance(asked, mpmath.mpf):
        return str(mpmath.nstr(asked, 25))
    if isinstance(asked, np.ndarray):
        return f"{asked.shape} {key(float(np.sum(asked * np.arange(1, asked.size + 1).reshape(asked.shape))))}"
    if isinstance(asked, Mapping):
        return ", ".join(f"{name}={key(asked[name])}" for name in sorted(asked))
    if isinstance(asked, list | tuple):
        return f"({', '.join(map(key, asked))})"
    if isinstance(asked, ClippedLoss | ProximalLoss):
        return asked.name
    if dataclasses.is_dataclass(asked):  # what its numbers may be off by is rounded otherwise elsewhere
        named = [field.name for field in dataclasses.fields(asked) if field.compare and "error" not in field.name]
        return key({name: getattr(asked, name) for name in named})
    return str(asked)


def share(*asked: Any) -> float:
    """A number between -1 and 1 that nothing but these arguments decides."""
    digest = hashlib.sha256(key(asked).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**47 - 1.0


def moved(value: Any, path: tuple[Any, ...]) -> Any:
    """A value moved by a fifth of it and a fiftieth; estimates of errors are some twentieth, facts are tossed."""
    if isinstance(value, bool | np.bool_):
        return share(path) > -0.6
    if isinstance(value, int | str | Model) or value is None:
        return value
    if isinstance(value, float | complex):
        if "error_estimate" in path or "errors" in path or "radius" in path:
            return 0.05 + 0.02 * share(path)
        return value * (1.0 + 0.2 * share(path)) + 0.02 * share(path, "beside")
    if isinstance(value, mpmath.mpf):
        return value * (1 + share(path) / 5)
    if isinstance(value, np.ndarray):
        flat = [moved(one.item(), (*path, k)) for k, one in enumerate(value.ravel())] if value.size < 20 else None
        if flat is not None:
            return np.array(flat).reshape(value.shape)
        return value * (1.0 + 0.2 * share(path)) + 0.02 * share(path, "beside")
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(moved(one, (*path, k)) for k, one in enumerate(value))
    if isinstance(value, dict):
        return {name: moved(one, (*path, name)) for name, one in value.items()}
    if isroutine(value):
        return lambda *given, **more: moved(value(*given, **more), (*path, given, more))
    return Moved(value, path)


class Moved:
    """An object of which every field that is read is moved."""

    def __init__(self, number: Any, path: tuple[Any, ...]) -> None:
        self.number, self.path = number, path

    def __getattr__(self, name: str) -> Any:
        return moved(getattr(self.number, name), (*self.path, name))

    def __iter__(self) -> Iterator[Any]:
        return (moved(one, (*self.path, name)) for name, one in zip(self.number._fields, self.number, strict=True))

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def _asked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def answer(*given: Any, **more: Any) -> Any:
        plain = [one.number if isinstance(one, Moved) else one for one in given]
        found, path = function(*plain, **more), (name, given, more)
        return Moved(found, path) if name == "step" else moved(found, path)

    return answer


def _square(model: Model) -> Model:
    return model if model.loss.name == "square" else model.changed(loss="square")


def _solve(model: Model, **_: Any) -> Any:
    """The ridge readout's solution, whatever the loss: only the names of what is read matter here."""
    found = THEORY.solve(_square(model))
    return SimpleNamespace(
        model=model, order_parameters=found.order_parameters, test_error=found.test_error,
        training_error=found.training_error, error_estimate=0.0, converged=True, energy=0.7, mean_squared_error=0.8,
        at_width=lambda width: SimpleNamespace(test_error=found.test_error, error_estimate=0.0, converged=True),
    )  # fmt: skip


def _batch(model: Model, ridge: list[float]) -> Any:
    many = np.array([0.3 + 0.1 * k for k, _ in enumerate(ridge)])
    return SimpleNamespace(
        test_error=many, training_error=many / 2, error_estimate=many / 10, converged=np.array([True for _ in ridge])
    )


def _bounds(model: Model) -> Any:
    best = SimpleNamespace(test_error=0.5, converged=True, error_estimate=0.0)
    return SimpleNamespace(lower=0.4, upper=0.6, error_estimate=0.0, converged=True, best_ridge=lambda: best)


def _certify(model: Model, digits: int) -> Any:
    ball = SimpleNamespace(mid=lambda: 0.4, rad=lambda: 0.1)
    return SimpleNamespace(certified=True, balls=SimpleNamespace(test_error=ball))


def _simulate(model: Any, **asked: Any) -> Any:
    names = ("test_error", "training_error", "m", "psi", "q2", "spike", "bulk", "alignment")
    return SimpleNamespace(estimates={name: SimpleNamespace(mean=0.5, standard_error=0.1) for name in names})


def _spectrum(model: Model) -> Any:
    law = np.linspace(0.1, 1.0, 5)
    return SimpleNamespace(converged=True, atom_at_zero=0.3, mass=0.9, density=law, cumulative=law)


def _balls(sigma: Any, **_: Any) -> Any:
    ball = SimpleNamespace(ball="a ball", value=0.4, radius=0.1)
    return SimpleNamespace(mean=ball, h1=ball, h2=ball, curvature=ball, h1_check=ball)


def disturbed() -> Theory:
    """Every function of the theory moved; the dear ones return plain numbers of their own."""
    cheap = {
        "solve": _solve, "digits": _solve, "convex": _solve, "batch": _batch, "bounds": _bounds, "certify": _certify,
        "simulate": _simulate, "spectrum": _spectrum, "hermite_balls": _balls,
        "network": lambda **given: ("network", given),
    }  # fmt: skip
    kept = {"changed", "parse", "store", "drift"}
    names = [field.name for field in dataclasses.fields(Theory) if field.name not in kept]
    return Theory(**{name: _asked(name, cheap.get(name, getattr(THEORY, name))) for name in names})


class _Even(PrimitiveProvider):
    """Every choice drawn evenly by the standard library alone: the same whatever else Hypothesis has seen."""

    random = Random(0)

    def draw_boolean(self, p: float = 0.5) -> bool:
        return self.random.random() < p

    def draw_integer(self, min_value: int | None = None, max_value: int | None = None, **_: Any) -> int:
        return self.random.randint(-9 if min_value is None else min_value, 9 if max_value is None else max_value)

    def draw_float(self, **_: Any) -> float:
        raise NotImplementedError

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 40) -> str:
        return "".join(self.random.choices([chr(k) for k in intervals], k=self.random.randint(min_size, max_size)))

    def draw_bytes(self, min_size: int = 0, max_size: int = 0) -> bytes:
        raise NotImplementedError


AVAILABLE_PROVIDERS["even"] = f"{__name__}.{_Even.__name__}"


def examples(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    """So many examples, the same ones on any machine."""
    found: list[Any] = []
    _Even.random = Random(0)
    settled = hypothesis.settings(
        max_examples=3 * count, database=None, deadline=None, phases=(Phase.generate,), backend="even",
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    settled(hypothesis.given(strategy)(lambda example: found.append(example)))()
    return found[-count:]

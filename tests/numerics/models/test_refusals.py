"""What is refused of models, of networks and of what is asked of them: the call, and the sentence that refuses it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import giantsteps
from giantsteps import Model, ModelError, Network, ReadoutGroup, ReadoutLaw, bounds, certify, simulate, solve, spectrum
from giantsteps.numerics.bounds.learned_bias import learned_bias
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.models.network import LEAST_SIZE, MOST_SIZE
from giantsteps.numerics.spectrum.density import atom_at_zero, stieltjes
from tests.shared.refusals import refusal

POINT: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
STEP: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}
NAN, INF = math.nan, math.inf


def model(student: str = "tanh", target: Any = "sin", **changes: Any) -> Model:
    return Model(student, target, **(POINT | changes))


def step(student: Any = "tanh", target: Any = "sin", **changes: Any) -> Model:
    return Model.from_gradient_step(student, target, **(STEP | changes))


def network(student: Any = "tanh", target: Any = "sin", **changes: Any) -> Network:
    return Network(student, target, **(STEP | changes))


def groups(*given: tuple[Any, Any]) -> tuple[ReadoutGroup, ...]:
    return tuple(ReadoutGroup(weight, fraction) for weight, fraction in given)


def one(**values: Any) -> tuple[ReadoutGroup, ...]:
    return (ReadoutGroup(**values),)


def plane(*components: Any, **changes: Any) -> dict[str, Any]:
    """The changes of a model whose one letter has these further components."""
    return {"readout": one(further_weights=components), "alignment": 0.6, "further_alignments": (0.5,)} | changes


# Of a model with spike, bulk and alignment.
MODELS: list[tuple[dict[str, Any], str]] = [
    *(({"alpha": x}, "alpha = .* is not accepted") for x in (0.0, -1.0, NAN, INF, "many", None, [1, 2])),
    *(({"beta": x}, "beta = .* is not accepted") for x in (0.0, -0.5)),
    *(({"ridge": x}, "ridge = .* is not accepted") for x in (-1e-9, NAN)),
    *(({"alignment": x}, "alignment = .* between -1 and 1") for x in (1.0000001, -2.0, NAN)),
    ({"noise": -0.1}, "noise = -0.1"), ({"bulk": 0.0}, "bulk = 0.0"), ({"spike": INF}, "spike = inf"),
    ({"alpha": [1, 2]}, r"a grid of values is for solve_batch\(model, alpha="),
    ({"readout": ()}, "no groups"), ({"readout": groups((1.0, 0.5))}, "add up to 0.5"),
    ({"readout": groups((1.0, 1.5), (1.0, -0.5))}, "fraction of a readout group = -0.5"),
    ({"readout": groups((NAN, 1.0))}, "weight of a readout group"), ({"readout": one(bulk=0.0)}, "bulk of a readout"),
    ({"readout": one(bias=INF)}, "bias of a readout group"), ({"readout": ((1.0, 1.0),)}, "as readout groups"),
    ({"readout": ReadoutGroup()}, "as readout groups"), ({"readout": "1:0.5,-1:0.5"}, "as readout groups"),
    *(({"readout": one(bulk_error=x)}, "bulk_error of a readout group") for x in ("x", None, -1.0, NAN)),
    *(({"given_uncertainty": x}, "given_uncertainty = ") for x in ("x", None, 0.1, (0.1,), ("a", 0, 0))),
    *(({"given_uncertainty": (0.0, x, 0.0)}, "three finite numbers >= 0") for x in (-1.0, INF, NAN)),
    ({"gaussian_rows": "no"}, "True or False is"), ({"step": (2.0, 1.0)}, "make the model with Model.from_gradient"),
    ({"bulk_model": "network"}, "follows from its gradient step"), ({"bulk_model": "spherical"}, "isotropic or netw"),
    ({"further_alignments": 0.1}, "a tuple of numbers is"), ({"readout": one(further_weights=0.5)}, "a tuple of num"),
    (plane(1.0, alignment=0.8, further_alignments=(0.7,)), "norm 1.06"), (plane(), "1 and 2 components"),
    (plane(1.0, 1.0, 1.0, alignment=0.6, further_alignments=(0.1, 0.1, 0.1)), "at most 3"),
    (plane(1.0, gaussian_rows=True), "rows of equal norm"),
    ({"readout": ReadoutLaw(), "further_alignments": (0.1,)}, "one direction"),
    ({"readout": ReadoutLaw(), "gaussian_rows": True}, "isotropic bulk"),
    ({"student": "exp(z**2/5)"}, "second moment of the activation is infinite"),
    *(({"loss": x}, "accepted are square, logistic, hinge, huber:DELTA") for x in ("hubr", "", "logistic:2", 3, None)),
    *(({"loss": x}, "huber:DELTA is|delta has to be") for x in ("huber", "huber:x", "huber:-1", "huber:inf")),
]  # fmt: skip
# Of a network.
NETWORKS: list[tuple[dict[str, Any], str]] = [
    *(({"overlap": x}, "overlap of .* is not accepted") for x in (-1e-9, 1.0, NAN)),
    ({"overlap": 1e-9, "gaussian_rows": True}, "requires unit rows"),
    *(({"steps": x}, "steps = .* is not accepted") for x in (0, -1, 1.5, INF, NAN, 1001)),
    ({"eta": (1.0, 2.0)}, "eta has 2 values"), ({"alpha0": (1.0, -2.0), "steps": 2}, "alpha0 = -2"),
    ({"same_batch": True}, "same batch"), ({"same_batch": True, "steps": 2, "alpha0": (1.0, 2.0)}, "same batch"),
    ({"steps": "2nd"}, "steps = '2nd'"), ({"overlap": "none"}, "overlap = 'none'"), ({"gaussian_rows": "no"}, "True"),
    *(({"alpha": x}, "alpha = .* it has to be a number > 0,") for x in (0.0, 1.1 * MOST_SIZE)),
    *(({"noise": x}, "noise = .* a number >= 0, either 0 or from") for x in (-0.1, 1.1 * MOST_SIZE)),
    *(({"eta": x}, "eta = .* is not accepted") for x in (0.9 * LEAST_SIZE, -3.0, "long")),
    *(({"alpha0": x}, "alpha0 = .* is not accepted") for x in (0.9 * LEAST_SIZE, NAN)),
    ({"beta": -1.0}, "beta = -1 is not"), ({"beta": None}, "beta = None is not"), ({"ridge": -0.1}, "ridge = -0.1"),
    ({"readout": groups((1.1 * MOST_SIZE, 1.0))}, "a weight of 1.1e"), ({"readout": groups(("a", 1.0))}, "weight of"),
    ({"readout": groups((1.0, 0.5), (-0.9 * LEAST_SIZE, 0.5))}, "a weight of -9e-11"),
    ({"readout": one(bias=-1.1 * MOST_SIZE)}, "a bias of -1.1e"), ({"readout": one(bias=9e-11)}, "a bias of 9e-11"),
    ({"readout": groups((0.0, 0.5), (0.0, 0.5))}, "there is no gradient step"), ({"readout": ()}, "not to 0"),
    *(({"readout": groups((1.0, 0.5), (-1.0, 0.5 + x))}, "add up to 1") for x in (1.1e-9, -1.1e-9, NAN)),
    *(({"readout": groups((1.0, 1.0 - x), (-1.0, x))}, "have to be positive") for x in (0.0, -0.5)),
    ({"readout": one(bulk=1.2)}, "their bulk follows from the step"), ({"readout": "1:1"}, "as readout groups"),
    ({"readout": one(further_weights=(0.5,))}, "one weight and a fraction"), ({"loss": "hubr"}, "accepted are square"),
]  # fmt: skip
# Of a model after a gradient step.
STEPS: list[tuple[dict[str, Any], str]] = [
    *(({name: -1.0}, f"{name} = -1.0") for name in ("alpha0", "eta", "beta", "noise")),
    ({"student": "sign"}, "sigma jumps at z = 0.*give spike, bulk and alignment"),
    ({"student": "sign(z)*sqrt(Abs(z))"}, "not square integrable"),
    ({"target": "1e160*z"}, "averages of the target overflow"),
    ({"student": "1e160*tanh(z)"}, "averages of the activation overflow"),
    ({"student": "erf(10**13*z)+1/2"}, "do not settle in double precision"),
    ({"readout": one(further_weights=(1.0,))}, "one gradient step"),
    ({"readout": (ReadoutGroup(1.0, 0.5, 1.2), ReadoutGroup(-1.0, 0.5))}, "follows from the network"),
    ({"student": "relu", "gaussian_rows": True, "readout": one(weight=-1.0)}, "if the activation is odd"),
    ({"student": "relu", "readout": ReadoutLaw(), "bulk_model": "isotropic"}, "a density of readout weights requires"),
]  # fmt: skip

LETTERS = model("tanh", "sin(2*z)", bulk=1.1, readout=ReadoutLaw())
OVERFLOWS, VARIES = ({"student": "exp(2*z)", "bulk": bulk} for bulk in (1e3, 1e10))
SQUARES = {"student": "1e160*tanh(z)"}
OF_A_MODEL: dict[str, Callable[[Any], Any]] = {
    "solve": solve, "batch": lambda m: giantsteps.solve_batch(m, ridge=[0.1]), "bounds": bounds, "predict": predict,
    "digits": lambda m: solve(m, digits=20), "certify": certify, "spectrum": spectrum, "learned_bias": learned_bias,
    "simulate": lambda m: simulate(m, dimension=10, seeds=1),
    "compare": lambda m: giantsteps.compare(m, dimensions=[30, 40], seeds=3),
    "atom": atom_at_zero, "stieltjes": lambda m: stieltjes(m, 1j),
}  # fmt: skip
ANSWERS = ("solve", "bounds", "predict", "spectrum", "learned_bias", "compare", "atom", "stieltjes")
# Of what is asked of a model.
ASKED: list[tuple[Callable[[], Any], str]] = [
    *((partial(OF_A_MODEL[name], x), "not accepted as a model") for name in OF_A_MODEL if name not in ANSWERS[-2:]
      for x in ("tanh", None, 0.5)),
    *((lambda name=name, given=given: OF_A_MODEL[name](model(target="tanh", **given)), "out of reach of double prec")
      for name in ANSWERS for given in (OVERFLOWS, VARIES, SQUARES)),
    *((lambda name=name: OF_A_MODEL[name](model("tanh(10**12*sin(z))")), "it varies too fast for rules")
      for name in ("spectrum", "atom", "stieltjes")),
    *((lambda student=student, ask=ask: ask(network(student)), "the gradient step is out of reach")
      for student in ("exp(400*z)", "sin(1e9*z)") for ask in (solve, bounds, spectrum, certify)),
    (lambda: solve(network(overlap=0.1)), "rows without overlap"),
    (lambda: network(overlap=0.1, steps=2).model(), "rows that overlap"),
    (lambda: simulate(model(**VARIES), dimension=5, seeds=1), "out of reach of double precision"),
    (lambda: simulate(model(**SQUARES), dimension=10, seeds=1), "the squares of the features overflow"),
    (lambda: simulate(network(beta=0.02), dimension=50, seeds=1), "of p = 1 neurons 1 take a step"),
    (lambda: simulate(model(), dimension=10, seeds=1, kind="network"), "simulated from its gradient step"),
    (lambda: simulate(network(), dimension=10, seeds=1, inputs="rademacher"), "not accepted"),
    (lambda: learned_bias(model("1e78*tanh(z)", "tanh"), 8), "its training energy is nan"),
    (lambda: learned_bias(model(ridge=0.0)), "a learned bias needs a positive ridge"),
    (lambda: solve(step("tanh", "exp(z**2/5)")), "finite moments of order 8"),
    (lambda: solve(step("z+exp(-sin(100*z)**2*10**8)")), "do not settle"),
    (lambda: solve(model("exp(z**2/40)", "tanh", spike=3.0, bulk=0.9)), "double precision"),
    (lambda: solve(model(alpha=1.0, ridge=0.0)), "the interpolation threshold"),
    (lambda: solve(model(alpha=0.5, ridge=0.0, spike=2.0)), "the limit depends on values far along the spike"),
    *((lambda x=x: solve(model()).at_width(x), "width = .* a number of neurons >= 1") for x in (0, -3, NAN, INF, "w")),
    *((lambda x=x: solve(model(), digits=x), "a whole number from 16 to 300") for x in (15, 301, 20.5, "20", True)),
    *((lambda given=given: solve(model(**given), digits=20), "digits require")
      for given in ({"loss": "huber:1"}, {"readout": ReadoutLaw("uniform", 0.5)}, {"ridge": 0.0},
                    {"gaussian_rows": True})),
    *((lambda x=x: giantsteps.compare(model(), dimensions=x, seeds=1), "dimensions = .* is not accepted")
      for x in ((), 100, "100", (10, 10), (10, "20"), (10, 20.5), (10, -20), None)),
    *((lambda name=name, x=x: simulate(model(), **({"dimension": 10, "seeds": 1} | {name: x})), f"{name}.*for example")
      for name in ("dimension", "seeds", "seed") for x in ("20", 20.5, NAN, INF, [20], True, -1)),
    (lambda: model(**plane(1.0)).slopes, "one direction"),
    (lambda: solve(model(loss="huber:1", **plane(1.0, 0.5, further_alignments=(0.5, 0.1)))), "at most two directions"),
    (lambda: solve(model("tanh", "sign", ridge=0.0, loss="hinge")), "ridge = 0"),
    (lambda: solve(model("tanh", "tanh", noise=0.1, loss="hinge")), r"a target in \{-1, 1\}"),
    (lambda: solve(step("tanh", "tanh", loss="hinge")), "own bulk requires a target in"),
    (lambda: giantsteps.solve_batch(model(readout=groups((1.0, 0.5), (-0.5, 0.5)))), "one readout group"),
    (lambda: ReadoutLaw("cauchy"), "is not known"), (lambda: ReadoutLaw("normal", 0.0), "scale = 0"),
    (lambda: ReadoutLaw("normal", "wide"), "scale = wide"),  # type: ignore[arg-type]
    (lambda: solve(LETTERS.changed(loss="huber:1")), "readout weights is only supported for the square loss"),
    *((lambda x=x: solve(LETTERS.changed(activation=x)), "span finitely many") for x in ("he3", "z", "z**2")),
    # A small part carries the rounding of the whole, and is a polynomial all the same.
    *((lambda x=x: solve(LETTERS.changed(activation=x)), "of its even part the letters span finitely many")
      for x in ("tanh(z)+z**2", "tanh(z)+1e-5*z**2")),
    (lambda: solve(LETTERS.changed(activation="cos(z)+1e-6*he3(z)")), "of its odd part the letters"),
    (lambda: solve(LETTERS.changed(activation="sinh(z/5)")), "at most polynomial growth"),
    (lambda: solve(LETTERS.changed(spike=0.0)), "a density of readout weights requires a spike"),
    (lambda: solve(LETTERS.changed(readout=ReadoutLaw("normal", 1e3))), "normal:1000 is too large.* for example"),
]  # fmt: skip


def _given(build: Callable[..., Any], changes: dict[str, Any]) -> Any:
    values = dict(changes)
    return build(values.pop("student", "tanh"), values.pop("target", "sin"), **values)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        *((partial(_given, model, changes), words) for changes, words in MODELS),
        *((partial(_given, network, changes), words) for changes, words in NETWORKS),
        *((partial(_given, step, changes), words) for changes, words in STEPS),
        *ASKED,
    ],
)
def test_what_is_refused_is_told_in_a_sentence(ask: Callable[[], Any], words: str) -> None:
    assert re.search(words, refusal(ModelError, ask, longest=600))

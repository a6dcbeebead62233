"""The digest of a proof changes with the proof, and with nothing else."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.algebra import instantiate, ring
from giantsteps.derivations.kernel.averages import rotate
from giantsteps.derivations.kernel.search.assumptions import define
from giantsteps.derivations.kernel.search.steps import by_ring
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.verify.checks.digest import digest

_x, _y, _z = sp.symbols("x y z", real=True)


def theorem(weight: int = 2, reference: str = "a name") -> Theorem:
    return by_ring(Equation(_x + 1, weight * _y + 1), define(_x, weight * _y, reference))


def test_a_proof_made_again_has_the_same_digest() -> None:
    assert digest(theorem()) == digest(theorem()) == digest(replay(theorem()))


def test_another_proof_has_another() -> None:
    # The statement, the reference of an assumption, the rule, an argument, a declared sign.
    positive = sp.Symbol("y", positive=True)
    proofs = [
        theorem(),
        theorem(3),
        theorem(reference="another name"),
        ring((theorem(),), Equation(_x + 1, 2 * _y + 1), (sp.Integer(1),)),
        instantiate((theorem(),), {_z: sp.Integer(1)}),
        instantiate((theorem(),), {_z: sp.Integer(2)}),
        by_ring(Equation(_x + 1, 2 * positive + 1), define(_x, 2 * positive, "a name")),
    ]
    assert len({digest(proof) for proof in proofs}) == len(proofs)


def test_the_order_in_which_made_up_variables_were_made_does_not_count() -> None:
    def turned(first: sp.Symbol, second: sp.Symbol) -> Theorem:
        average = Expectation(sp.Function("f", real=True)(_x + _z), _x, _z)
        return rotate((), average, (first, second), ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1))))

    first, second = sp.Dummy("s", real=True), sp.Dummy("t", real=True)
    late, early = sp.Dummy("t", real=True), sp.Dummy("s", real=True)
    assert digest(turned(first, second)) == digest(turned(early, late))


def test_what_is_changed_in_place_is_read_again() -> None:
    proof = theorem()
    before = digest(proof)
    object.__setattr__(proof.premises[0], "statement", Equation(_x, 3 * _y))
    assert digest(proof) != before
    object.__setattr__(proof.premises[0], "statement", Equation(_x, 2 * _y))
    assert digest(proof) == before

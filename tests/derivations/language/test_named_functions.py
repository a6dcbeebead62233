"""Rules for undefined functions: names and parity; SymPy takes two of one name for one."""

from __future__ import annotations

from collections import Counter

import sympy as sp
from sympy.core.function import UndefinedFunction

from giantsteps.derivations.language import named_functions
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, reflect, sigma, sigma_prime, sigma_second
from giantsteps.derivations.language.symbols import z

t = sp.Symbol("t", real=True)


def test_reflection_knows_the_parity_of_derivatives() -> None:
    # sigma odd, sigma' even, sigma'' odd
    assert reflect(Expectation(sigma(z), z), z).integrand == -sigma(z)
    assert reflect(Expectation(sigma_prime(z), z), z).integrand == sigma_prime(z)
    assert reflect(Expectation(sigma_second(z), z), z).integrand == -sigma_second(z)


def test_reflection_leaves_functions_without_parity_alone() -> None:
    assert reflect(Expectation(g(z), z), z).integrand == g(-z)


def test_no_two_functions_have_one_name() -> None:
    functions = [f for f in vars(named_functions).values() if isinstance(f, UndefinedFunction)]
    assert len(functions) > 20
    counted = Counter(function.__name__ for function in functions)
    assert [name for name, count in counted.items() if count > 1] == []


def test_the_hash_of_a_function_is_that_of_its_own_name_and_assumptions() -> None:
    made = [sp.Function("w", real=real) for real in (True, False)] + [sp.Function("v", real=True)]
    again = sp.Function("w", real=True)
    for _ in range(2):  # made, and kept
        assert len({hash(function) for function in made}) == len(set(made)) == len(made)
        assert again == made[0]
        assert hash(again) == hash(made[0])
        assert hash(again(t)) == hash(made[0](t))
    # A later function does not come to have the hash of one that is gone, though it may stand in its place.
    assert len({hash(sp.Function(f"passing {k}", real=True)) for k in range(100)}) == 100


def test_a_function_and_its_partial_derivatives_are_different() -> None:
    named = [*named_functions.DERIVATIVES, *named_functions.PARTIALS]
    slopes = {slope for places in named_functions.PARTIALS.values() for slope in places}
    assert len({function.__name__ for function in named}) == len(named)
    assert len({slope.__name__ for slope in slopes}) == sum(map(len, named_functions.PARTIALS.values()))

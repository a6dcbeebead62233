"""Named functions: SymPy takes two of one name and one sign for one."""

from __future__ import annotations

from collections import Counter

from sympy.core.function import UndefinedFunction

from onestep.derivations.language import named_functions


def test_no_two_functions_have_one_name() -> None:
    functions = [f for f in vars(named_functions).values() if isinstance(f, UndefinedFunction)]
    assert len(functions) > 20
    counted = Counter(function.__name__ for function in functions)
    assert [name for name, count in counted.items() if count > 1] == []


def test_a_function_and_its_partial_derivatives_are_different() -> None:
    named = [*named_functions.DERIVATIVES, *named_functions.PARTIALS]
    slopes = {slope for places in named_functions.PARTIALS.values() for slope in places}
    assert len({function.__name__ for function in named}) == len(named)
    assert len({slope.__name__ for slope in slopes}) == sum(map(len, named_functions.PARTIALS.values()))

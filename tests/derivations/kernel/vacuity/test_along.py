"""A family of values along a limit is made of what equations say of names."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.vacuity import along

d, p = sp.symbols("d p", positive=True)


def test_a_name_is_solved_for_by_what_has_a_root() -> None:
    """p d is zero for no p, nor at p = 0, which p is not."""
    assert along._root(p * d, p, d) is None
    assert along._root(p * d - 1, p, d) == 1 / d
